//! The assertions of a metadata file, for trees that have no suite.

use super::collect;
use crate::json::Node;
use crate::suite::environment::Patterns;
use crate::suite::model::Assertion;

/// The assertions of an `eval_metadata.json`. Nothing is refused: what cannot be used as a check is left to a judge, and
/// what is no assertion at all is left out.
pub fn assertions_of(document: &Node<'_>) -> Vec<Assertion> {
    let patterns = Patterns::default();
    collect::assertions(document, &[], &patterns, &mut |_, _| {})
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::{Limits, parse};

    #[test]
    fn a_metadata_file_gives_what_it_has() {
        let text = r#"{"eval_id": 1, "assertions": [
            "prose", {"id": "a", "description": "d", "type": "string_contains", "value": "x"},
            {"id": "b", "description": "e", "type": "manual", "guidance": "look"}, 7, "contains ''",
            {"id": "c", "description": "f", "type": "file_exists", "path": "../../x"}, "prose"]}"#;
        let found = assertions_of(&parse(text, Limits::SUITE).unwrap());
        let read: Vec<_> = found.iter().map(|found| (found.label.as_str(), found.assertion_type.word())).collect();
        // what cannot be a check is left to a judge, what is no assertion is left out, what stands twice counts once
        let expected =
            [("prose", "judge"), ("a", "contains"), ("b", "judge"), ("contains ''", "judge"), ("c", "judge")];
        assert_eq!(read, expected);
        for none in ["[]", "{}", r#"{"assertions": "see grade.py"}"#, "7"] {
            assert!(assertions_of(&parse(none, Limits::SUITE).unwrap()).is_empty(), "{none}");
        }
    }

    #[test]
    fn labels_are_told_apart() {
        let text =
            r#"{"assertions": [{"name": "n", "text": "a"}, {"name": "n", "text": "b"}, "n (2)"], "fail": ["n"]}"#;
        let found = assertions_of(&parse(text, Limits::SUITE).unwrap());
        let labels: Vec<&str> = found.iter().map(|found| found.label.as_str()).collect();
        assert_eq!(labels, ["n", "n (3)", "n (2)", "must not: n"]);
    }
}
