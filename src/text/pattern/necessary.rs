//! Conditions that a text has to meet for a match, which the linear engine can test.
//!
//! What only backtracking can decide is replaced by something that matches more. Where that does not match, nothing
//! does; the backtracking engine is spared the texts on which it would need the most steps.

use super::Search;
use super::ast::RepeatKind;
use super::linear::Linear;
use super::node::Node;
use super::set::CodeSet;

/// The conditions of one pattern.
#[derive(Debug)]
pub(super) struct Necessary {
    /// Matches wherever the pattern matches.
    whole: Option<Linear>,
    /// Matches somewhere in the text if the pattern does: what look-around asks for.
    parts: Vec<Linear>,
}

impl Necessary {
    /// The conditions of `node`.
    pub(super) fn of(node: &Node) -> Self {
        let mut looks = Vec::new();
        collect_looks(node, &mut looks);
        Self {
            whole: Linear::compile(&widened(node)).ok(),
            parts: looks.into_iter().filter_map(|body| Linear::compile(&widened(body)).ok()).collect(),
        }
    }

    /// Where in `text` a match can start at the earliest; `None` when there is none.
    pub(super) fn earliest(&self, text: &str) -> Option<usize> {
        if self.parts.iter().any(|part| part.search(text) == Ok(Search::NoMatch)) {
            return None;
        }
        match self.whole.as_ref().map(|whole| whole.search(text)) {
            Some(Ok(Search::Match(range))) => Some(range.start),
            Some(Ok(Search::NoMatch)) => None,
            _ => Some(0),
        }
    }
}

/// The bodies of the look-arounds that every match has to satisfy.
fn collect_looks<'n>(node: &'n Node, looks: &mut Vec<&'n Node>) {
    match node {
        Node::Look { look, body, .. } if !look.negated => {
            looks.push(body);
            collect_looks(body, looks);
        }
        Node::Sequence(nodes) => nodes.iter().for_each(|part| collect_looks(part, looks)),
        Node::Group(_, body) | Node::Atomic(body) | Node::Repeat { min: 1.., body, .. } => collect_looks(body, looks),
        _ => {}
    }
}

/// A tree without what needs backtracking that matches at least what `node` matches.
fn widened(node: &Node) -> Node {
    let all = |nodes: &[Node]| nodes.iter().map(widened).collect();
    match node {
        Node::Sequence(nodes) => Node::Sequence(all(nodes)),
        Node::Alternatives(nodes) => Node::Alternatives(all(nodes)),
        Node::Character(_) | Node::Set(_) | Node::Position(_) => node.clone(),
        Node::Group(_, body) | Node::Atomic(body) => widened(body),
        Node::Repeat { min, max, kind, body } => {
            let kind = if *kind == RepeatKind::Possessive { RepeatKind::Greedy } else { *kind };
            Node::Repeat { min: *min, max: *max, kind, body: Box::new(widened(body)) }
        }
        Node::Look { .. } => Node::Sequence(Vec::new()),
        Node::BackReference { .. } => {
            let anything = Box::new(Node::Set(CodeSet::default().complement()));
            Node::Repeat { min: 0, max: None, kind: RepeatKind::Greedy, body: anything }
        }
        Node::Conditional { yes, no, .. } => Node::Alternatives(vec![widened(yes), widened(no)]),
    }
}
