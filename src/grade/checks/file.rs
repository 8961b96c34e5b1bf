//! Checks that look at files of the run directory: `file_exists`, `json_field_equals`.

use skill_lift_text::python;

use super::{Evidence, Finding};
use crate::grade::outcome::{ErrorReason, Outcome};
use crate::json::{self, Node, Value};
use crate::runs::FileProblem;

pub(super) fn file_exists(path: &str, evidence: &mut Evidence<'_, '_>) -> Finding {
    match evidence.directory.has_file(path) {
        Ok(true) => Finding::decided(true, format!("exists: {path}")),
        Ok(false) => Finding::decided(false, format!("missing file: {path}")),
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
    let root = match json::parse(text, json::Limits::SIDECAR) {
        Ok(root) => root,
        Err(error) => return failed(format!("{path}: {error}")),
    };
    match walk(&root, field) {
        Ok(actual) => Finding::decided(actual == equals, format!("{field}={}", actual.python_repr())),
        Err(why) => failed(why),
    }
}

/// Follows object keys separated by dots.
fn walk<'n>(root: &'n Node<'n>, field: &str) -> Result<&'n Node<'n>, String> {
    field.split('.').try_fold(root, |node, key| match &node.value {
        Value::Object(_) => node.get(key).ok_or_else(|| python::repr_str(key)),
        Value::Array(_) => Err("list indices must be integers or slices, not str \
                                (lists are not indexable; use structured_output)"
            .to_owned()),
        _ => Err(format!("{} has no key {}", node.type_name(), python::repr_str(key))),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_path_names_object_keys_only() {
        let text = r#"{"nest": {"a": {"b": "deep"}}, "list": [1, 2]}"#;
        let root = json::parse(text, json::Limits::SIDECAR).unwrap();
        assert_eq!(walk(&root, "nest.a.b").unwrap().as_str(), Some("deep"));
        assert_eq!(walk(&root, "nest.z").unwrap_err(), "'z'");
        assert!(walk(&root, "list.0").unwrap_err().starts_with("list indices must be integers or slices, not str"));
        assert_eq!(walk(&root, "nest.a.b.c").unwrap_err(), "string has no key 'c'");
    }
}
