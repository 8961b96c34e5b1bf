//! The JSON files beside an answer: what they say about the run, and whether the run finished.

use std::rc::Rc;

use skill_lift_contract::UnscoredReason;
use skill_lift_text::python;

use super::directory::{FileProblem, RunDirectory};
use super::limits::Limits;
use super::metrics::{FILE_NAMES, Metrics};
use super::warning::WarningCode;
use crate::json::{self, Member, Node, Span, Value};

/// Names of the files, in the order in which the first one there becomes the row's metadata.
const NAMES: [&str; 4] = ["metadata.json", "timing.json", "metrics.json", "outputs/metrics.json"];

/// How an answer starts when the runner wrote a failure instead of one.
const FAILURE_MARKERS: [&str; 7] = [
    "[CODEX FAILURE",
    "[JETTY FAILURE",
    "[CLAUDE FAILURE",
    "[VIBE FAILURE",
    "[GEMINI FAILURE",
    "[PI FAILURE",
    "[RUNNER FAILURE",
];

/// How an answer starts when the runner wrote that time ran out.
const TIMEOUT_MARKER: &str = "[TIMEOUT";

/// The raw files.
#[derive(Debug)]
pub struct Sidecars {
    files: Vec<SidecarFile>,
}

/// A name with the bytes, or why they could not be read.
type SidecarFile = (&'static str, Result<Rc<Vec<u8>>, String>);

/// The files read as JSON.
#[derive(Debug)]
pub struct ParsedSidecars<'a> {
    row: RowMetadata<'a>,
    /// Every readable object, in the order of [`NAMES`].
    objects: Vec<(&'static str, Node<'a>)>,
}

/// Where the metadata of the result row stands.
#[derive(Debug)]
enum RowMetadata<'a> {
    /// The first readable object.
    FirstObject,
    /// The first file could not be read, or there is none: what stands for it.
    Other(Node<'a>),
}

/// Whether a run finished.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Execution {
    /// Whether the answer is one, as far as the run's own records say.
    pub valid: bool,
    /// Why not.
    pub reasons: Vec<UnscoredReason>,
}

impl Sidecars {
    /// Reads the files of a run directory.
    pub(super) fn read(directory: &mut RunDirectory, limits: &Limits) -> Self {
        let mut files = Vec::new();
        for name in NAMES {
            match directory.read(name, limits.sidecar_bytes) {
                Ok(bytes) => files.push((name, Ok(bytes))),
                // a link that leads out was named when the directory was listed
                Err(FileProblem::Missing(_) | FileProblem::LeavesRun(_)) => {}
                Err(problem @ FileProblem::NotAFile(_)) => {
                    directory.warn(WarningCode::SidecarUnreadable, "", problem.to_string());
                }
                Err(problem) => {
                    directory.warn(WarningCode::SidecarUnreadable, "", problem.to_string());
                    files.push((name, Err(problem.to_string())));
                }
            }
        }
        Self { files }
    }

    /// Reads the JSON. Says in `directory` what cannot be read and what contradicts.
    pub fn parse<'a>(&'a self, directory: &mut RunDirectory) -> ParsedSidecars<'a> {
        let mut objects: Vec<(&'static str, Node<'a>)> = Vec::new();
        let mut row: Option<RowMetadata<'a>> = None;
        for (name, contents) in &self.files {
            let parsed = match contents {
                Err(problem) => Err(problem.clone()),
                Ok(bytes) => parse_file(name, bytes).inspect_err(|_| {
                    let message = "not valid JSON; what it says is not known".to_owned();
                    directory.warn(WarningCode::SidecarUnreadable, name, message);
                }),
            };
            let this = match parsed {
                Ok(node) if node.members().is_some() => {
                    objects.push((name, node));
                    RowMetadata::FirstObject
                }
                Ok(_) => RowMetadata::Other(empty_object()),
                Err(message) => RowMetadata::Other(metadata_error(message)),
            };
            row.get_or_insert(this);
        }
        let named = |name: &&str| objects.iter().find(|(known, _)| known == name).map(|(_, node)| node);
        directory.know_metrics(Metrics::merge(&FILE_NAMES.iter().filter_map(named).collect::<Vec<_>>()));
        ParsedSidecars { row: row.unwrap_or_else(|| RowMetadata::Other(empty_object())), objects }
    }
}

fn parse_file<'a>(name: &str, bytes: &'a [u8]) -> Result<Node<'a>, String> {
    let invalid = || format!("invalid JSON in {name}");
    let text = std::str::from_utf8(bytes).map_err(|_| invalid())?;
    json::parse(text, json::Limits::SIDECAR).map_err(|_| invalid())
}

fn empty_object<'a>() -> Node<'a> {
    Node::synthetic(Value::Object(Vec::new()))
}

fn metadata_error<'a>(message: String) -> Node<'a> {
    let value = Node::synthetic(Value::String(message.into()));
    Node::synthetic(Value::Object(vec![Member { key: "metadata_error".into(), key_span: Span::default(), value }]))
}

impl<'a> ParsedSidecars<'a> {
    /// The metadata of the result row: the first file that is there, as it stands; an object.
    pub fn row(&self) -> &Node<'a> {
        match &self.row {
            RowMetadata::FirstObject => &self.objects[0].1,
            RowMetadata::Other(node) => node,
        }
    }

    /// A non-empty string of the row's metadata.
    pub fn row_text(&self, key: &str) -> Option<&str> {
        self.row().get(key).and_then(Node::as_str).filter(|text| !text.is_empty())
    }

    /// The keys to which two files give different values, with the names of the files.
    pub fn conflicts(&self) -> Vec<String> {
        let mut found: Vec<String> = Vec::new();
        for (index, (name, node)) in self.objects.iter().enumerate() {
            for member in node.members().unwrap_or_default() {
                let earlier = &self.objects[..index];
                let other =
                    earlier.iter().find(|(_, o)| o.get(&member.key).is_some_and(|value| *value != member.value));
                if let Some((other, _)) = other {
                    found.push(format!("`{}` in {other} and {name}", member.key));
                }
            }
        }
        found
    }

    /// Whether the run finished: by the return code, the time-out flag, and the start of the answer.
    ///
    /// Every file counts, so that a time-out recorded only in `timing.json` is seen. A number under `timeout` is a
    /// configured limit, not a failure. The start of the answer decides only when no file says that all went well.
    pub fn execution(&self, answer: Option<&str>) -> Execution {
        let mut reasons = Vec::new();
        let mut add = |reason| {
            if !reasons.contains(&reason) {
                reasons.push(reason);
            }
        };
        let mut succeeded = false;
        for (_, node) in self.sources() {
            let timed_out = node.get("timed_out").is_some_and(Node::is_truthy)
                || node.get("timeout").and_then(Node::as_bool) == Some(true);
            let failed = node.get("returncode").is_some_and(|code| !is_success(code));
            if timed_out {
                add(UnscoredReason::TimedOut);
            } else if failed {
                add(UnscoredReason::ExecutorError);
            }
            succeeded |= node.get("returncode").is_some_and(|code| code.as_number().is_some() && is_success(code))
                && node.get("invocation_state").and_then(Node::as_str) == Some("complete");
        }
        if let Some(answer) = answer
            && !succeeded
        {
            let start = python::strip_start(answer);
            if start.starts_with(TIMEOUT_MARKER) {
                add(UnscoredReason::TimedOut);
            } else if FAILURE_MARKERS.iter().any(|marker| start.starts_with(marker)) {
                add(UnscoredReason::ExecutorError);
            }
        }
        // a run that was ended by its limit has a failing return code because of it
        if reasons.contains(&UnscoredReason::TimedOut) {
            reasons.retain(|reason| *reason == UnscoredReason::TimedOut);
        }
        Execution { valid: reasons.is_empty(), reasons }
    }

    /// Whether some file has a number under `timeout`.
    pub fn has_time_limit(&self) -> bool {
        self.objects.iter().any(|(_, node)| node.get("timeout").is_some_and(|value| value.as_number().is_some()))
    }

    fn sources(&self) -> impl Iterator<Item = (&'static str, &Node<'_>)> {
        self.objects.iter().map(|(name, node)| (*name, node))
    }
}

/// A return code that means success: zero in any spelling, `false`, or nothing recorded.
fn is_success(code: &Node<'_>) -> bool {
    match &code.value {
        Value::Null | Value::Bool(false) => true,
        Value::Number(number) => number.as_f64() == 0.0,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn execution(files: &[(&'static str, &str)], answer: &str) -> Vec<&'static str> {
        let objects =
            files.iter().map(|(name, text)| (*name, json::parse(text, json::Limits::SIDECAR).unwrap())).collect();
        let parsed = ParsedSidecars { row: RowMetadata::Other(empty_object()), objects };
        parsed.execution(Some(answer)).reasons.into_iter().map(UnscoredReason::code).collect()
    }

    #[test]
    fn return_codes_and_flags() {
        let one = |text: &'static str| execution(&[("metadata.json", text)], "fine");
        for fine in
            [r#"{"returncode":0}"#, r#"{"returncode":0.0}"#, r#"{"returncode":null}"#, r#"{"returncode":false}"#]
        {
            assert!(one(fine).is_empty(), "{fine}");
        }
        for bad in [r#"{"returncode":1}"#, r#"{"returncode":"0"}"#, r#"{"returncode":true}"#, r#"{"returncode":-9}"#] {
            assert_eq!(one(bad), ["executor_error"], "{bad}");
        }
        assert_eq!(one(r#"{"timed_out":true,"returncode":124}"#), ["timed_out"]);
        assert_eq!(one(r#"{"timed_out":1}"#), ["timed_out"]);
        assert_eq!(one(r#"{"timeout":true}"#), ["timed_out"]);
        assert!(one(r#"{"timeout":600,"timed_out":false}"#).is_empty());
    }

    #[test]
    fn a_failure_in_any_file_counts() {
        let files = [("metadata.json", r#"{"returncode":0}"#), ("timing.json", r#"{"timed_out":true}"#)];
        assert_eq!(execution(&files, "fine"), ["timed_out"]);
    }

    #[test]
    fn markers_count_only_at_the_start_and_not_against_recorded_success() {
        assert_eq!(execution(&[], " \n[CLAUDE FAILURE: x]"), ["executor_error"]);
        assert_eq!(execution(&[], "[TIMEOUT: 3 s]"), ["timed_out"]);
        assert!(execution(&[], "an answer about [TIMEOUT").is_empty());
        let success = [("metadata.json", r#"{"returncode":0,"invocation_state":"complete"}"#)];
        assert!(execution(&success, "[TIMEOUT handling] explained").is_empty());
    }
}
