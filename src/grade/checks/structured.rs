//! `structured_output`: JSON in the answer or in a file satisfies a schema.

pub(super) mod extract;
mod schema;

use skill_lift_text::view::Comparison;

use super::{Evidence, Finding};
use crate::grade::outcome::{ErrorReason, Outcome};
use crate::json::{self, Node};
use crate::runs::FileProblem;
use extract::Place;

/// Mismatches that the evidence names.
const SHOWN_MISMATCHES: usize = 5;

pub(super) fn structured_output(
    path: Option<&str>,
    schema: &Node<'static>,
    evidence: &mut Evidence<'_, '_>,
) -> Finding {
    match path {
        None => in_answer(evidence.answer.text(Comparison::Exact), schema),
        Some(path) => match evidence.directory.read(path, evidence.options.artifact_bytes) {
            Ok(bytes) => in_file(path, &bytes, schema),
            Err(problem @ FileProblem::TooLarge { .. }) => {
                let outcome = Outcome::Error(ErrorReason::ArtifactTooLarge);
                Finding::unresolved(outcome, format!("JSON candidate unavailable: {problem}"))
            }
            Err(problem) => no_candidate(&problem.to_string()),
        },
    }
}

fn no_candidate(why: &str) -> Finding {
    Finding::decided(false, format!("no parsable JSON candidate: {why}"))
}

fn in_file(path: &str, bytes: &[u8], schema: &Node<'_>) -> Finding {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return no_candidate(&format!("{path} is not valid UTF-8"));
    };
    match json::parse(text, json::Limits::SIDECAR) {
        Ok(instance) => checked(&instance, schema, ""),
        Err(error) => no_candidate(&format!("{path}: {error}")),
    }
}

fn in_answer(answer: &str, schema: &Node<'_>) -> Finding {
    let Some(candidate) = extract::candidate(answer) else {
        return no_candidate("no JSON object found in judge output");
    };
    let span = candidate.span;
    match json::parse(&answer[span.start..span.end], json::Limits::SIDECAR) {
        Ok(instance) => {
            let note = match candidate.place {
                Place::First => String::new(),
                Place::Fence => format!(" (candidate: json fence, bytes {}..{})", span.start, span.end),
            };
            checked(&instance, schema, &note)
        }
        Err(error) => no_candidate(&format!("bytes {}..{}: {error}", span.start, span.end)),
    }
}

fn checked(instance: &Node<'_>, schema: &Node<'_>, note: &str) -> Finding {
    let mismatches = schema::mismatches(instance, schema, SHOWN_MISMATCHES);
    let passed = mismatches.is_empty();
    let evidence = if passed { "schema ok".to_owned() } else { mismatches.join("; ") };
    Finding::decided(passed, evidence + note)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMED: &str = r#"{"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}"#;

    fn found(answer: &str) -> (&'static str, String) {
        let schema = json::parse(NAMED, json::Limits::SUITE).unwrap();
        let finding = in_answer(answer, &schema);
        (finding.outcome.word(), finding.evidence)
    }

    #[test]
    fn the_first_object_of_the_answer_is_checked() {
        assert_eq!(found("Here:\n```json\n{\"name\": \"a\"}\n```\nBye"), ("pass", "schema ok".to_owned()));
        assert_eq!(found("{placeholder} {\"n\": 1}"), ("fail", "$: missing required key 'name'".to_owned()));
        let none = "no parsable JSON candidate: no JSON object found in judge output";
        assert_eq!(found("no json here"), ("fail", none.to_owned()));
    }

    #[test]
    fn a_json_fence_goes_before_an_earlier_object_and_is_named() {
        let answer = "I ran `{\"n\": 1}`.\n```json\n{\"name\": \"a\"}\n```\n";
        assert_eq!(found(answer), ("pass", "schema ok (candidate: json fence, bytes 26..39)".to_owned()));
        assert_eq!(&answer[26..39], "{\"name\": \"a\"}");
    }

    #[test]
    fn a_candidate_that_is_not_strict_json_is_named() {
        let (state, evidence) = found("x {\"name\": \"a\", \"name\": 1}");
        assert_eq!(state, "fail");
        assert_eq!(evidence, "no parsable JSON candidate: bytes 2..26: duplicate key `name` at $");
    }

    #[test]
    fn files_are_one_strict_value() {
        let schema = json::parse(r#"{"type": "array", "minItems": 2}"#, json::Limits::SUITE).unwrap();
        let finding = |bytes: &[u8]| in_file("a.json", bytes, &schema).evidence;
        assert_eq!(finding(b"[1, 2]"), "schema ok");
        assert_eq!(finding(b"[1]"), "$: 1 items < minItems 2");
        assert_eq!(finding(b"[NaN, 1]"), "no parsable JSON candidate: a.json: number is not finite at $[0]");
        assert_eq!(finding(b"\xff"), "no parsable JSON candidate: a.json is not valid UTF-8");
        let deep = "[".repeat(600) + &"]".repeat(600);
        assert!(
            finding(deep.as_bytes()).starts_with("no parsable JSON candidate: a.json: nested deeper than 512 levels")
        );
    }
}
