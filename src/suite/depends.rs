//! The graph of prerequisites between the assertions of a case.

use std::collections::HashMap;

use skill_lift_text::python;

use super::assertion::{prerequisites, written_label};
use super::report::Report;
use crate::json::{Node, Span};

const RULE: &str = "depends-on";

/// Checks that every prerequisite names exactly one assertion of the case, and that there is no cycle.
pub(super) fn check(report: &mut Report<'_>, assertions: &[Node<'_>]) {
    let objects: Vec<_> = assertions.iter().filter(|node| node.members().is_some()).collect();
    if objects.iter().all(|node| node.get("depends_on").is_none()) {
        return;
    }
    let labels: Vec<_> = objects.iter().map(|node| written_label(node)).collect();
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for label in &labels {
        *counts.entry(label).or_default() += 1;
    }
    let mut graph = Graph::default();
    for (node, label) in objects.iter().zip(&labels) {
        let targets = prerequisites(node);
        let span = node.get("depends_on").map_or(node.span, |value| value.span);
        let subject = format!("assertion {} depends_on", python::repr_str(label));
        for target in &targets {
            let shown = python::repr_str(target);
            match counts.get(target.as_str()) {
                None => report.error(RULE, span, format!("{subject} unknown assertion {shown}")),
                Some(1) => {}
                Some(_) => {
                    let message = format!("{subject} ambiguous label {shown} (used by more than one assertion)");
                    report.error(RULE, span, message);
                }
            }
        }
        if !targets.is_empty() {
            graph.set(label, targets, span);
        }
    }
    if let Some((label, span)) = graph.cycle() {
        report.error(RULE, span, format!("depends_on cycle involving {}", python::repr_str(label)));
    }
}

/// Edges by label, in the order of declaration; of two nodes with one label the last counts.
#[derive(Default)]
struct Graph {
    nodes: Vec<(String, Vec<String>, Span)>,
    index: HashMap<String, usize>,
}

impl Graph {
    fn set(&mut self, label: &str, targets: Vec<String>, span: Span) {
        match self.index.get(label) {
            Some(&at) => self.nodes[at] = (label.to_owned(), targets, span),
            None => {
                self.index.insert(label.to_owned(), self.nodes.len());
                self.nodes.push((label.to_owned(), targets, span));
            }
        }
    }

    /// The label that the first back edge of a depth-first search leads to.
    fn cycle(&self) -> Option<(&str, Span)> {
        let mut state = vec![State::New; self.nodes.len()];
        for start in 0..self.nodes.len() {
            if state[start] != State::New {
                continue;
            }
            state[start] = State::Open;
            let mut stack = vec![(start, 0)];
            while let Some((node, edge)) = stack.pop() {
                let (_, targets, span) = &self.nodes[node];
                let Some(target) = targets.get(edge) else {
                    state[node] = State::Done;
                    continue;
                };
                stack.push((node, edge + 1));
                match self.index.get(target).map(|&next| (next, state[next])) {
                    Some((_, State::Open)) => return Some((target, *span)),
                    Some((next, State::New)) => {
                        state[next] = State::Open;
                        stack.push((next, 0));
                    }
                    _ => {}
                }
            }
        }
        None
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    New,
    Open,
    Done,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cycle(edges: &[(&str, &[&str])]) -> Option<String> {
        let mut graph = Graph::default();
        for (label, targets) in edges {
            graph.set(label, targets.iter().map(|target| (*target).to_owned()).collect(), Span::default());
        }
        graph.cycle().map(|(label, _)| label.to_owned())
    }

    #[test]
    fn cycles_are_found_and_diamonds_are_none() {
        assert_eq!(cycle(&[("a", &["a"])]), Some("a".to_owned()));
        assert_eq!(cycle(&[("a", &["b"]), ("b", &["c"]), ("c", &["b"])]), Some("b".to_owned()));
        assert_eq!(cycle(&[("a", &["b", "c"]), ("b", &["d"]), ("c", &["d"])]), None);
        let long: Vec<_> = (0..50_000).map(|i| (format!("n{i}"), [format!("n{}", i + 1)])).collect();
        let mut graph = Graph::default();
        for (label, targets) in long {
            graph.set(&label, targets.to_vec(), Span::default());
        }
        assert!(graph.cycle().is_none());
    }
}
