//! Checks that look at files of the run directory: `file_exists`, `json_field_equals`, `contains_in_file`.

use skill_lift_text::python;

use super::{Evidence, Finding, literal};
use crate::grade::answer::Answer;
use crate::grade::outcome::{ErrorReason, Outcome};
use crate::grade::places::{Compared, Found, shortened};
use crate::json::{self, Item, Node, Tape};
use crate::runs::FileProblem;
use crate::suite::TextMatching;

pub(super) fn file_exists(path: &str, evidence: &mut Evidence<'_, '_>) -> Finding {
    match evidence.directory.has_file(path) {
        Ok(true) => Finding::decided(true, format!("exists: {path}")),
        Ok(false) => Finding::decided(false, format!("missing file: {path}")),
        Err(problem @ FileProblem::LeavesRun(_)) => Finding::decided(false, problem.to_string()),
        Err(problem) => Finding::decided(false, format!("missing file: {path} ({problem})")),
    }
}

pub(super) fn json_field_equals(
    path: &str,
    field: &str,
    equals: &Node<'_>,
    evidence: &mut Evidence<'_, '_>,
) -> Finding {
    let failed = |why: String| Finding::decided(false, format!("json check failed: {why}"));
    let bytes = match evidence.directory.read(path, evidence.options.artifact_bytes) {
        Ok(bytes) => bytes,
        Err(problem @ FileProblem::TooLarge { .. }) => {
            let outcome = Outcome::Error(ErrorReason::ArtifactTooLarge);
            return Finding::unresolved(outcome, format!("json check unavailable: {problem}"));
        }
        Err(problem) => return failed(problem.to_string()),
    };
    let Ok(text) = std::str::from_utf8(&bytes) else {
        return failed(format!("{path} is not valid UTF-8"));
    };
    let tape = match Tape::read(text, json::Limits::SIDECAR) {
        Ok(tape) => tape,
        Err(error) => return failed(format!("{path}: {error}")),
    };
    let (found, walked) = walk(tape.root(), field);
    let compared = Compared {
        file: path.to_owned(),
        field: field.to_owned(),
        found: found.to_owned(),
        expected: shortened(&serde_json::to_string(equals).unwrap_or_default()),
        actual: walked.as_ref().ok().map(|actual| shortened(actual.text())),
    };
    let finding = match walked.map(Item::to_node) {
        Ok(actual) => Finding::decided(actual == *equals, format!("{field}={}", actual.python_repr())),
        Err(why) => failed(why),
    };
    Finding { compared: Some(Box::new(compared)), ..finding }
}

pub(super) fn contains_in_file(
    path: &str,
    needle: &str,
    matching: TextMatching,
    evidence: &mut Evidence<'_, '_>,
) -> Finding {
    let bytes = match evidence.directory.read(path, evidence.options.artifact_bytes) {
        Ok(bytes) => bytes,
        Err(problem @ FileProblem::TooLarge { .. }) => {
            let outcome = Outcome::Error(ErrorReason::ArtifactTooLarge);
            return Finding::unresolved(outcome, format!("{path} was not searched: {problem}"));
        }
        Err(problem) => return Finding::decided(false, format!("{path} cannot be searched: {problem}")),
    };
    let Ok(text) = std::str::from_utf8(&bytes) else {
        return Finding::decided(false, format!("{path} cannot be searched: it is not valid UTF-8"));
    };
    let text = python::universal_newlines(text);
    let finding = literal::contains(needle, matching, &Answer::new(&text));
    // places are those of the answer
    let evidence = format!("{path}: {}", finding.evidence);
    Finding { evidence, found: Found::default(), nearest_miss: None, ..finding }
}

/// Follows object keys separated by dots. The part of the field that is there, and its value or why there is none.
fn walk<'f, 't, 'a>(root: Item<'t, 'a>, field: &'f str) -> (&'f str, Result<Item<'t, 'a>, String>) {
    let (mut item, mut found) = (root, 0);
    for key in field.split('.') {
        let shown = python::repr_str(key);
        let why = match item.get(key) {
            Some(value) => {
                item = value;
                found += usize::from(found > 0) + key.len();
                continue;
            }
            None if item.is_object() => shown,
            None if item.items().is_some() => "list indices must be integers or slices, not str \
                                               (lists are not indexable; use structured_output)"
                .to_owned(),
            None => format!("{} has no key {shown}", item.to_node().type_name()),
        };
        return (&field[..found], Err(why));
    }
    (field, Ok(item))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_path_names_object_keys_only() {
        let text = r#"{"nest": {"a": {"b": "deep"}}, "list": [1, 2]}"#;
        let tape = Tape::read(text, json::Limits::SIDECAR).unwrap();
        let walk = |field: &'static str| {
            let (found, walked) = walk(tape.root(), field);
            (found, walked.map(Item::text))
        };
        assert_eq!(walk("nest.a.b"), ("nest.a.b", Ok("\"deep\"")));
        assert_eq!(walk("nest.z.y"), ("nest", Err("'z'".to_owned())));
        assert_eq!(walk("z"), ("", Err("'z'".to_owned())));
        assert!(walk("list.0").1.unwrap_err().starts_with("list indices must be integers or slices, not str"));
        assert_eq!(walk("nest.a.b.c"), ("nest.a.b", Err("string has no key 'c'".to_owned())));
    }
}
