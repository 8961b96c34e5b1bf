//! The JSON files beside an answer: what they say about the run, and whether the run finished.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io;
use std::rc::Rc;

use skill_lift_contract::UnscoredReason;
use skill_lift_text::python;

use super::directory::{FileProblem, RunDirectory};
use super::limits::Limits;
use super::metrics::{FILE_NAMES, Metrics};
use super::telemetry::{RunTelemetry, TelemetryCoverage, UsedByRun};
use super::warning::WarningCode;
use super::workspace;
use crate::json::{self, Item, Member, Node, Span, Tape, Value, write};

/// Names of the files, in the order in which the first one there becomes the row's metadata.
pub(crate) const NAMES: [&str; 4] = ["metadata.json", "timing.json", "metrics.json", "outputs/metrics.json"];

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
    row: RowMetadata,
    /// Every readable object, in the order of [`NAMES`].
    objects: Vec<(&'static str, Tape<'a>)>,
}

/// What the metadata of the result row is.
#[derive(Debug)]
enum RowMetadata {
    /// The first readable object.
    FirstObject,
    /// An object without members: there is no file, or the first one holds another value.
    Empty,
    /// The first file cannot be read, and why.
    Unreadable(String),
}

/// The metadata of a result row: the first file that is there, as it stands; an object.
#[derive(Debug, Clone, Copy)]
pub enum Metadata<'m> {
    /// As the file has it.
    Object(Item<'m, 'm>),
    /// There is none.
    Empty,
    /// The file cannot be read, and why.
    Unreadable(&'m str),
}

impl<'m> Metadata<'m> {
    /// The value of a key.
    pub fn get(self, key: &str) -> Option<Item<'m, 'm>> {
        match self {
            Self::Object(object) => object.get(key),
            Self::Empty | Self::Unreadable(_) => None,
        }
    }

    /// Appends the object in the pretty form, as it would stand `depth` levels deep.
    ///
    /// # Errors
    /// Never in practice: the bytes go to memory.
    pub fn write_pretty(self, bytes: &mut Vec<u8>, depth: usize) -> io::Result<()> {
        match self {
            Self::Object(object) => object.write_pretty(bytes, depth),
            Self::Empty | Self::Unreadable(_) => write::pretty(bytes, &self.to_node(), depth),
        }
    }

    /// The object as a tree.
    pub fn to_node(self) -> Node<'m> {
        match self {
            Self::Object(object) => object.to_node(),
            Self::Empty => Node::synthetic(Value::Object(Vec::new())),
            Self::Unreadable(why) => {
                let value = Node::synthetic(Value::String(why.into()));
                let member = Member { key: "metadata_error".into(), key_span: Span::default(), value };
                Node::synthetic(Value::Object(vec![member]))
            }
        }
    }
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
                    let flag =
                        if matches!(problem, FileProblem::TooLarge { .. }) { " (--max-sidecar-mib)" } else { "" };
                    directory.warn(WarningCode::SidecarUnreadable, "", format!("{problem}{flag}"));
                    files.push((name, Err(problem.to_string())));
                }
            }
        }
        Self { files }
    }

    /// Reads the JSON. Says in `directory` what cannot be read, and lets it know what the run measured.
    pub fn parse<'a>(&'a self, directory: &mut RunDirectory) -> ParsedSidecars<'a> {
        let parsed = self.parse_alone(directory);
        directory.know_metrics(Metrics::merge(&parsed.merged()));
        parsed
    }

    /// Reads the JSON. Says in `directory` what cannot be read.
    pub(super) fn parse_alone<'a>(&'a self, directory: &mut RunDirectory) -> ParsedSidecars<'a> {
        let mut objects: Vec<(&'static str, Tape<'a>)> = Vec::new();
        let mut row = None;
        for (name, contents) in &self.files {
            let parsed = match contents {
                Err(problem) => Err(problem.clone()),
                Ok(bytes) => parse_file(name, bytes).inspect_err(|_| {
                    let message = "not valid JSON; what it says is not known".to_owned();
                    directory.warn(WarningCode::SidecarUnreadable, name, message);
                }),
            };
            let this = match parsed {
                Ok(tape) if tape.root().is_object() => {
                    objects.push((name, tape));
                    RowMetadata::FirstObject
                }
                Ok(_) => RowMetadata::Empty,
                Err(message) => RowMetadata::Unreadable(message),
            };
            row.get_or_insert(this);
        }
        ParsedSidecars { row: row.unwrap_or(RowMetadata::Empty), objects }
    }
}

fn parse_file<'a>(name: &str, bytes: &'a [u8]) -> Result<Tape<'a>, String> {
    let invalid = || format!("invalid JSON in {name}");
    let text = std::str::from_utf8(bytes).map_err(|_| invalid())?;
    Tape::read(text, json::Limits::SIDECAR).map_err(|_| invalid())
}

impl ParsedSidecars<'_> {
    /// The metadata of the result row.
    pub fn row(&self) -> Metadata<'_> {
        match &self.row {
            RowMetadata::FirstObject => Metadata::Object(self.objects[0].1.root()),
            RowMetadata::Empty => Metadata::Empty,
            RowMetadata::Unreadable(why) => Metadata::Unreadable(why),
        }
    }

    /// The objects in the order in which a later one replaces what an earlier one says.
    fn merged(&self) -> Vec<Item<'_, '_>> {
        let named = |name: &&str| self.objects.iter().find(|(known, _)| known == name).map(|(_, tape)| tape.root());
        FILE_NAMES.iter().filter_map(named).collect()
    }

    /// What the run used.
    pub(super) fn used(&self) -> RunTelemetry {
        RunTelemetry::read(&self.merged())
    }

    /// What the run used, and which kinds of telemetry it has.
    pub fn used_by_run(&self, directory: &mut RunDirectory, events_bytes: u64) -> UsedByRun {
        let coverage = TelemetryCoverage::read(&self.merged(), directory, events_bytes);
        let telemetry = self.used();
        let is_in_metadata = match (&self.row, self.objects.as_slice()) {
            (RowMetadata::FirstObject, [_]) | (_, []) => true,
            (RowMetadata::FirstObject, [(_, first), ..]) => {
                RunTelemetry::read(&[first.root()]).has_values_of(&telemetry)
            }
            (RowMetadata::Empty | RowMetadata::Unreadable(_), _) => false,
        };
        UsedByRun { telemetry, coverage, is_in_metadata }
    }

    /// When the run began, in milliseconds since 1970, if a file says so.
    pub fn started_at_ms(&self) -> Option<i64> {
        let merged = self.merged();
        // every key of a beginning has this word, and few runs have one
        let may_say = |root: &&Item<'_, '_>| memchr::memmem::find(root.text().as_bytes(), b"start").is_some();
        merged.iter().rev().filter(may_say).find_map(|root| workspace::started_at_ms(*root))
    }

    /// A non-empty string of the row's metadata.
    pub fn row_text(&self, key: &str) -> Option<Cow<'_, str>> {
        self.row().get(key).and_then(Item::as_str).filter(|text| !text.is_empty())
    }

    /// The keys to which two files give different values, with the names of the files.
    pub fn conflicts(&self) -> Vec<String> {
        let mut found: Vec<String> = Vec::new();
        if self.objects.len() < 2 {
            return found;
        }
        let mut earlier: Vec<(&str, HashMap<Cow<'_, str>, Item<'_, '_>>)> = Vec::new();
        for (index, (name, tape)) in self.objects.iter().enumerate() {
            let members = tape.root().members().into_iter().flatten();
            let members: Vec<_> = members.filter_map(|(key, value)| Some((key.as_str()?, value))).collect();
            for (key, value) in &members {
                let other = earlier.iter().find(|(_, known)| known.get(key).is_some_and(|other| other != value));
                if let Some((other, _)) = other {
                    found.push(format!("`{key}` in {other} and {name}"));
                }
            }
            if index + 1 < self.objects.len() {
                earlier.push((name, members.into_iter().collect()));
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
        for item in self.sources() {
            let timed_out = item.get("timed_out").is_some_and(Item::is_truthy)
                || item.get("timeout").and_then(Item::as_bool) == Some(true);
            let failed = item.get("returncode").is_some_and(|code| !is_success(code));
            if timed_out {
                add(UnscoredReason::TimedOut);
            } else if failed {
                add(UnscoredReason::ExecutorError);
            }
            succeeded |= item.get("returncode").is_some_and(|code| code.as_number().is_some() && is_success(code))
                && item.get("invocation_state").and_then(Item::as_str).as_deref() == Some("complete");
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
        self.sources().any(|item| item.get("timeout").is_some_and(|value| value.as_number().is_some()))
    }

    fn sources(&self) -> impl Iterator<Item = Item<'_, '_>> {
        self.objects.iter().map(|(_, tape)| tape.root())
    }
}

/// A return code that means success: zero in any spelling, `false`, or nothing recorded.
fn is_success(code: Item<'_, '_>) -> bool {
    code.is_null() || code.as_bool() == Some(false) || code.as_number().is_some_and(|number| number.as_f64() == 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn execution(files: &[(&'static str, &str)], answer: &str) -> Vec<&'static str> {
        let objects =
            files.iter().map(|(name, text)| (*name, Tape::read(text, json::Limits::SIDECAR).unwrap())).collect();
        let parsed = ParsedSidecars { row: RowMetadata::Empty, objects };
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
