//! Datasets: rows inline or in files, and the cases that a template and its rows make.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use skill_lift_text::python;

use super::diagnostic::SourceText;
use super::report::Report;
use crate::json::{Member, Node, Span, Value};

const RULE: &str = "dataset";

/// The rows of one dataset file with the offset of each line.
pub(super) struct FileRows<'t> {
    pub(super) id: String,
    pub(super) span: Span,
    pub(super) source: Arc<SourceText>,
    pub(super) rows: Vec<(usize, Node<'t>)>,
}

/// One dataset.
pub(super) struct Dataset<'n, 't> {
    id: String,
    span: Span,
    /// The text its rows stand in, if it is not the suite itself.
    source: Option<Arc<SourceText>>,
    rows: Vec<(usize, &'n Node<'t>)>,
    filled: OnceCell<Vec<Row>>,
}

/// One row, ready to be filled into a template.
struct Row {
    suffix: String,
    /// Placeholder with its braces, and what replaces it.
    cells: Vec<(String, String)>,
}

/// All datasets of a suite.
#[derive(Default)]
pub(super) struct Datasets<'n, 't> {
    list: Vec<Dataset<'n, 't>>,
    index: HashMap<String, usize>,
}

impl<'n, 't> Datasets<'n, 't> {
    /// Collects and checks the datasets of a suite.
    pub(super) fn read(report: &mut Report<'_>, root: &'n Node<'t>, files: &'n [FileRows<'t>]) -> Self {
        let mut datasets = Self::default();
        if let Some(node) = root.get("datasets").filter(|node| !node.is_null()) {
            match node.members() {
                None => report.error(RULE, node.span, "manifest.datasets must map dataset ids to lists of row objects"),
                Some(members) => {
                    for member in members {
                        let rows = member.value.items().unwrap_or_default().iter().map(|row| (0, row)).collect();
                        datasets.add(member.key.as_ref(), member.value.span, None, rows);
                    }
                }
            }
        }
        for file in files {
            let rows = file.rows.iter().map(|(offset, row)| (*offset, row)).collect();
            datasets.add(&file.id, file.span, Some(Arc::clone(&file.source)), rows);
        }
        for dataset in &datasets.list {
            dataset.check(report);
        }
        datasets
    }

    fn add(&mut self, id: &str, span: Span, source: Option<Arc<SourceText>>, rows: Vec<(usize, &'n Node<'t>)>) {
        let dataset = Dataset { id: id.to_owned(), span, source, rows, filled: OnceCell::new() };
        match self.index.get(id) {
            Some(&at) => self.list[at] = dataset,
            None => {
                self.index.insert(id.to_owned(), self.list.len());
                self.list.push(dataset);
            }
        }
    }

    /// The dataset with an id, unless it is empty.
    pub(super) fn get(&self, id: &str) -> Option<&Dataset<'n, 't>> {
        self.index.get(id).map(|&at| &self.list[at]).filter(|dataset| !dataset.rows.is_empty())
    }

    /// Warns of datasets that no case uses.
    pub(super) fn warn_unused(&self, report: &mut Report<'_>, used: &HashSet<String>) {
        for dataset in self.list.iter().filter(|dataset| !used.contains(&dataset.id)) {
            let message = format!("dataset {} is not used by any case", python::repr_str(&dataset.id));
            report.warn(RULE, dataset.span, message);
        }
    }
}

impl Dataset<'_, '_> {
    /// How many cases a template makes with it.
    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    fn check(&self, report: &mut Report<'_>) {
        let shown = python::repr_str(&self.id);
        if self.rows.is_empty() {
            report.at(format!("dataset {shown}")).error(RULE, self.span, "must be a non-empty list of row objects");
        }
        for (number, (offset, row)) in (1..).zip(&self.rows) {
            let place = format!("dataset {shown} row #{number}");
            let mut report = match &self.source {
                Some(source) => report.of(source, *offset, place),
                None => report.at(place),
            };
            let Some(cells) = row.members() else {
                report.error(RULE, row.span, "must be an object");
                continue;
            };
            for cell in cells {
                if matches!(cell.value.value, Value::Null | Value::Array(_) | Value::Object(_)) {
                    let message = format!(
                        "key {} must be a string, a number or a boolean, since it is filled into text",
                        python::repr_str(&cell.key)
                    );
                    report.error(RULE, cell.value.span, message);
                }
            }
            warn_of_order(&mut report, cells);
        }
    }

    fn filled(&self) -> &[Row] {
        self.filled.get_or_init(|| {
            let row = |(number, (_, row)): (usize, &(usize, &Node<'_>))| Row {
                suffix: row.get("id").map_or_else(|| number.to_string(), Node::python_str),
                cells: row
                    .members()
                    .unwrap_or_default()
                    .iter()
                    .map(|cell| (format!("{{{}}}", cell.key), cell.value.python_str()))
                    .collect(),
            };
            (1..).zip(&self.rows).map(row).collect()
        })
    }

    /// The case that a template and one of the rows make, counted from 0.
    ///
    /// # Errors
    /// The budget is used up.
    pub(super) fn expand<'a>(&self, case: &Node<'a>, row: usize, budget: &mut Budget) -> Result<Node<'a>, TooLarge> {
        let Some(row) = self.filled().get(row) else { return Ok(case.clone()) };
        let raw_id = case.get("id").map_or_else(|| "None".to_owned(), Node::python_str);
        let own = |key: &str| match key {
            "id" => Some(format!("{raw_id}-{}", row.suffix)),
            "dataset" => Some(self.id.clone()),
            _ => None,
        };
        let mut members = Vec::new();
        for member in case.members().unwrap_or_default().iter().filter(|member| member.key != "template") {
            let value = match own(&member.key) {
                Some(text) => Node { span: member.value.span, value: Value::String(Cow::Owned(text)) },
                None => budget.fill(&member.value, row)?,
            };
            members.push(Member { key: member.key.clone(), key_span: member.key_span, value });
        }
        for key in ["id", "dataset"] {
            if case.get(key).is_none()
                && let Some(text) = own(key)
            {
                let value = Node { span: case.span, value: Value::String(Cow::Owned(text)) };
                members.push(Member { key: Cow::Borrowed(key), key_span: case.span, value });
            }
        }
        Ok(Node { span: case.span, value: Value::Object(members) })
    }

    /// Warns of placeholders in a template's prompt that no row fills although others are.
    pub(super) fn warn_unfilled(&self, report: &mut Report<'_>, case: &Node<'_>) {
        let Some(prompt) = case.get("prompt") else { return };
        let names: HashSet<&str> = self
            .rows
            .iter()
            .flat_map(|(_, row)| row.members().unwrap_or_default())
            .map(|cell| cell.key.as_ref())
            .collect();
        let written = placeholders(prompt.as_str().unwrap_or_default());
        if !written.iter().any(|name| names.contains(name)) {
            return;
        }
        for name in written.iter().filter(|name| !names.contains(*name)) {
            let message = format!("placeholder {{{name}}} is no key of dataset {}", python::repr_str(&self.id));
            report.warn(RULE, prompt.span, message);
        }
    }
}

/// Words in braces, like `{name}`.
fn placeholders(text: &str) -> Vec<&str> {
    let is_word = |word: &str| {
        word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && word.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    text.split('{')
        .skip(1)
        .filter_map(|tail| tail.split_once('}'))
        .map(|(word, _)| word)
        .filter(|word| is_word(word))
        .collect()
}

fn warn_of_order(report: &mut Report<'_>, cells: &[Member<'_>]) {
    let has_brace = |cell: &Member<'_>| cell.value.as_str().is_some_and(|text| text.contains('{'));
    if !cells.iter().any(has_brace) {
        return;
    }
    let position: HashMap<&str, usize> = cells.iter().enumerate().map(|(at, cell)| (cell.key.as_ref(), at)).collect();
    for (index, cell) in cells.iter().enumerate() {
        let found = placeholders(cell.value.as_str().unwrap_or_default());
        if let Some(later) = found.iter().find(|name| position.get(*name).is_some_and(|at| *at > index)) {
            let message = format!("holds {{{later}}}, which a later key of the row fills in turn");
            report.warn(RULE, cell.value.span, format!("key {} {message}", python::repr_str(&cell.key)));
        }
    }
}

/// The expanded cases would take more memory than a suite may.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TooLarge;

/// How many bytes of text expansion may still make.
pub(super) struct Budget(usize);

/// What a value costs beside its text.
const NODE_COST: usize = 16;

impl Budget {
    /// A budget of so many bytes.
    pub(super) fn new(bytes: usize) -> Self {
        Self(bytes)
    }

    fn take(&mut self, bytes: usize) -> Result<(), TooLarge> {
        self.0 = self.0.checked_sub(bytes).ok_or(TooLarge)?;
        Ok(())
    }

    fn fill<'a>(&mut self, node: &Node<'a>, row: &Row) -> Result<Node<'a>, TooLarge> {
        self.take(NODE_COST)?;
        let value = match &node.value {
            Value::String(text) => Value::String(self.fill_text(text, row)?),
            Value::Array(items) => {
                Value::Array(items.iter().map(|item| self.fill(item, row)).collect::<Result<_, _>>()?)
            }
            Value::Object(members) => Value::Object(
                members
                    .iter()
                    .map(|member| {
                        let value = self.fill(&member.value, row)?;
                        Ok(Member { key: member.key.clone(), key_span: member.key_span, value })
                    })
                    .collect::<Result<_, TooLarge>>()?,
            ),
            other => other.clone(),
        };
        Ok(Node { span: node.span, value })
    }

    /// Replaces each placeholder in turn; text that one puts in is looked through for the later ones.
    fn fill_text<'a>(&mut self, text: &Cow<'a, str>, row: &Row) -> Result<Cow<'a, str>, TooLarge> {
        let mut filled = text.clone();
        if filled.contains('{') {
            self.take(row.cells.len())?;
        }
        for (placeholder, replacement) in &row.cells {
            if !filled.contains('{') {
                break;
            }
            let occurrences = filled.matches(placeholder.as_str()).count();
            if occurrences > 0 {
                let length = filled.len() - occurrences * placeholder.len();
                if length.saturating_add(occurrences.saturating_mul(replacement.len())) > self.0 {
                    return Err(TooLarge);
                }
                filled = Cow::Owned(filled.replace(placeholder.as_str(), replacement));
            }
        }
        self.take(filled.len())?;
        Ok(filled)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::{Limits, parse};
    use crate::suite::diagnostic::Diagnostics;

    fn expand(datasets: &str, case: &str, row: usize, budget: usize) -> Result<String, TooLarge> {
        let root = format!("{{\"datasets\": {datasets}}}");
        let root = parse(&root, Limits::SUITE).unwrap();
        let mut diagnostics = Diagnostics::default();
        let source = Arc::new(SourceText { name: String::new(), text: String::new() });
        let datasets = Datasets::read(&mut Report::new(&mut diagnostics, source), &root, &[]);
        let case = parse(case, Limits::SUITE).unwrap();
        let expanded = datasets.get("d").unwrap().expand(&case, row, &mut Budget::new(budget))?;
        Ok(serde_json::to_string(&expanded).unwrap())
    }

    #[test]
    fn rows_are_filled_in_the_order_of_their_keys() {
        let rows = r#"{"d": [{"a": "{b}", "b": "Z"}, {"id": 1.0, "a": true, "b": 1e20}]}"#;
        let case = r#"{"id": "c-{id}", "template": "d", "prompt": "{a} {b} {{b}}", "n": {"{a}": ["{a}", 3]}}"#;
        assert_eq!(
            expand(rows, case, 0, 10_000).unwrap(),
            r#"{"id":"c-{id}-1","prompt":"Z Z {Z}","n":{"{a}":["Z",3]},"dataset":"d"}"#
        );
        assert_eq!(
            expand(rows, case, 1, 10_000).unwrap(),
            r#"{"id":"c-{id}-1.0","prompt":"True 1e+20 {1e+20}","n":{"{a}":["True",3]},"dataset":"d"}"#
        );
    }

    #[test]
    fn doubling_rows_hit_the_budget_before_the_memory() {
        let cells: Vec<_> = (0..60).map(|i| format!("\"k{i}\": \"{{k{0}}}{{k{0}}}\"", i + 1)).collect();
        let rows = format!("{{\"d\": [{{{}}}]}}", cells.join(", "));
        assert_eq!(expand(&rows, r#"{"id": "c", "prompt": "{k0}"}"#, 0, 1 << 20), Err(TooLarge));
    }

    #[test]
    fn placeholders_are_words_in_braces() {
        assert_eq!(placeholders("a {name} {x1}{} {2} { y } {a-b} {_z"), ["name", "x1"]);
    }
}
