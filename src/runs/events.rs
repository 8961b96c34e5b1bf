//! What the agent did: `events.json`, read once, every event typed.
//!
//! Events whose `type` is one of ours were written by a normaliser and are taken at their word. Others are raw records
//! of some agent; they are classified by their shape.

mod raw;

use std::borrow::Cow;
use std::collections::HashMap;
use std::rc::Rc;

use skill_lift_text::python;

use super::directory::FileProblem;
use super::telemetry::UsageCounts;
use crate::json::{self, Item, JsonErrorKind, Node, Tape};

/// Name of the file.
pub(super) const FILE_NAME: &str = "events.json";

/// Longest output that is kept of an event, in code points. No check looks at outputs; people do.
const OUTPUT_CHARACTERS: usize = 1000;

/// What kind of thing happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventKind {
    /// Something else.
    Event,
    /// A skill was loaded.
    SkillLoad,
    /// An error was reported.
    Error,
    /// Somebody said something.
    Message,
    /// A shell command.
    Command,
    /// A call of a tool that is none of the others.
    ToolCall,
    /// A file was written.
    FileWrite,
    /// A file was read.
    FileRead,
    /// A measurement.
    Metric,
}

impl EventKind {
    const ALL: [Self; 9] = [
        Self::Event,
        Self::SkillLoad,
        Self::Error,
        Self::Message,
        Self::Command,
        Self::ToolCall,
        Self::FileWrite,
        Self::FileRead,
        Self::Metric,
    ];

    /// The word in `events.json`.
    pub fn wire_name(self) -> &'static str {
        match self {
            Self::Event => "event",
            Self::SkillLoad => "skill_load",
            Self::Error => "error",
            Self::Message => "message",
            Self::Command => "command",
            Self::ToolCall => "tool_call",
            Self::FileWrite => "file_write",
            Self::FileRead => "file_read",
            Self::Metric => "metric",
        }
    }

    /// The kind with a word.
    pub fn from_wire_name(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.wire_name() == word)
    }

    /// Whether the agent acted: a call of a tool in the widest sense.
    pub fn is_step(self) -> bool {
        matches!(self, Self::Command | Self::ToolCall | Self::FileRead | Self::FileWrite | Self::SkillLoad)
    }
}

/// How far an event got.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventStatus {
    /// It ended well.
    Completed,
    /// It was started.
    InProgress,
    /// It did not succeed.
    Failed,
    /// Nothing is known; never counted as completed.
    Unknown,
}

const COMPLETED: [&str; 6] = ["completed", "complete", "succeeded", "success", "done", "finished"];
const IN_PROGRESS: [&str; 5] = ["in_progress", "started", "running", "pending", "queued"];
const FAILED: [&str; 8] = ["failed", "failure", "error", "errored", "cancelled", "canceled", "timed_out", "timeout"];

/// Kinds of records that are written when something has ended.
const TERMINAL_KINDS: [&str; 10] = [
    "result",
    "response.completed",
    "item.completed",
    "message_end",
    "turn_end",
    "agent_end",
    "tool_execution_end",
    "command_end",
    "usage",
    "metric",
];

/// Kinds of records that are written when something begins.
const START_KINDS: [&str; 4] = ["item.started", "agent_start", "tool_execution_start", "command_start"];

/// What a record says about its status.
enum WrittenStatus<'s> {
    /// Nothing.
    Absent,
    /// `null`.
    Null,
    /// A word.
    Word(Cow<'s, str>),
    /// A value that is no word.
    Other,
}

impl<'s> From<Option<Item<'_, 's>>> for WrittenStatus<'s> {
    fn from(item: Option<Item<'_, 's>>) -> Self {
        match item {
            None => Self::Absent,
            Some(item) if item.is_null() => Self::Null,
            Some(item) => item.as_str().map_or(Self::Other, Self::Word),
        }
    }
}

impl<'s> From<Option<&'s Node<'_>>> for WrittenStatus<'s> {
    fn from(node: Option<&'s Node<'_>>) -> Self {
        match node {
            None => Self::Absent,
            Some(node) if node.is_null() => Self::Null,
            Some(node) => node.as_str().map_or(Self::Other, |word| Self::Word(Cow::Borrowed(word))),
        }
    }
}

impl EventStatus {
    /// Reads a status. Without one the kind of the record may tell; the first version of the file had none and meant
    /// completed.
    fn read(status: WrittenStatus<'_>, kind: &str, first_version: bool) -> Self {
        match status {
            WrittenStatus::Word(word) => {
                let word = python::casefold(python::strip(&word));
                let is_in = |words: &[&str]| words.contains(&&*word);
                return match () {
                    () if is_in(&COMPLETED) => Self::Completed,
                    () if is_in(&IN_PROGRESS) => Self::InProgress,
                    () if is_in(&FAILED) => Self::Failed,
                    () => Self::Unknown,
                };
            }
            WrittenStatus::Other => return Self::Unknown,
            WrittenStatus::Null if !first_version => return Self::Unknown,
            WrittenStatus::Null | WrittenStatus::Absent => {}
        }
        let kind = python::casefold(python::strip(kind));
        if TERMINAL_KINDS.contains(&&*kind) {
            Self::Completed
        } else if START_KINDS.contains(&&*kind) {
            Self::InProgress
        } else if first_version {
            Self::Completed
        } else {
            Self::Unknown
        }
    }
}

/// One event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// What happened.
    pub kind: EventKind,
    /// How far it got.
    pub status: EventStatus,
    /// The tool; empty when it has no name.
    pub name: Box<str>,
    /// What patterns are matched with: what was asked for, then the name of the tool.
    pub text: Box<str>,
    /// The summary of what was asked for.
    pub input: Box<str>,
    /// The command line of a command that has no summary.
    pub command: Box<str>,
    /// The start of what came back.
    pub output: Box<str>,
    /// A file that the event is about.
    pub path: Box<str>,
    /// Exit code of a command.
    pub exit_code: Option<i64>,
}

impl Event {
    /// Whether it ended well.
    pub fn is_completed(&self) -> bool {
        self.status == EventStatus::Completed
    }

    /// What a command is shown as: the first of its summary, its command line and its name that is not empty.
    pub fn shown_command(&self) -> &str {
        [&self.input, &self.command, &self.name].into_iter().find(|text| !text.is_empty()).map_or("", |text| text)
    }

    fn read(item: Item<'_, '_>, first_version: bool) -> Self {
        match item.get("type").and_then(Item::as_str).and_then(|word| EventKind::from_wire_name(&word)) {
            Some(kind) => Self::read_normalised(kind, item, first_version),
            None => raw::event(item, first_version),
        }
    }

    fn read_normalised(kind: EventKind, item: Item<'_, '_>, first_version: bool) -> Self {
        let string = |key: &str| item.get(key).and_then(Item::as_str).unwrap_or_default();
        let output = item.get("output_summary").map(words).unwrap_or_default();
        let input = item.get("input_summary").map(words).unwrap_or_default();
        let is_bare = kind == EventKind::Command && input.is_empty();
        let mut lines = ["command", "cmd"].into_iter().filter(|_| is_bare).filter_map(|key| item.get(key)).map(words);
        Self {
            kind,
            status: EventStatus::read(item.get("status").into(), kind.wire_name(), first_version),
            name: string("name").into(),
            text: command_text(item),
            input: input.into(),
            command: lines.find(|line| !line.is_empty()).unwrap_or_default().into(),
            output: first_characters(&output, OUTPUT_CHARACTERS).into(),
            path: string("path").into(),
            exit_code: item.get("exit_code").and_then(Item::as_number).and_then(|number| number.as_i64()),
        }
    }
}

/// Everything that a normalised event says about what was asked for, and its name.
fn command_text(item: Item<'_, '_>) -> Box<str> {
    let details = item.get("details");
    let own = ["input_summary", "command", "cmd", "name"].into_iter().filter_map(|key| item.get(key));
    let nested = ["command", "cmd", "input", "args"].into_iter().filter_map(|key| details?.get(key));
    join_filled(own.chain(nested).map(words))
}

/// The parts that are not empty, a space between them, trimmed.
fn join_filled<'s>(parts: impl Iterator<Item = Cow<'s, str>>) -> Box<str> {
    let mut filled = parts.filter(|part| !part.is_empty());
    let Some(first) = filled.next() else {
        return Box::default();
    };
    let joined = filled.fold(first, |mut joined, part| {
        joined.to_mut().extend([" ", &*part]);
        joined
    });
    python::strip(&joined).into()
}

/// A string, or the items of a list with spaces between them; nothing for other values.
fn words<'s>(item: Item<'_, 's>) -> Cow<'s, str> {
    match (item.as_str(), item.items()) {
        (Some(text), _) => text,
        (_, Some(items)) => items.map(Item::python_str).collect::<Vec<_>>().join(" ").into(),
        _ => Cow::default(),
    }
}

fn first_characters(text: &str, count: usize) -> &str {
    text.char_indices().nth(count).map_or(text, |(end, _)| &text[..end])
}

/// All events of a run.
#[derive(Debug, PartialEq, Eq)]
pub struct EventLog {
    /// The agent whose stream the events were made from, case folded; empty when it is not said.
    pub source: String,
    /// The events in order, without those that show nothing ([`EventKind::Event`]): a file of millions of empty objects
    /// must not become millions of events.
    pub events: Vec<Event>,
    /// What the first answer of the model used, where an event says it: its input is what the agent asked with before it
    /// did anything.
    pub first_usage: Option<UsageCounts>,
}

impl EventLog {
    /// The events in which the agent acted, in any state.
    pub fn steps(&self) -> impl Iterator<Item = &Event> {
        self.events.iter().filter(|event| event.kind.is_step())
    }

    /// The commands, in any state.
    pub fn commands(&self) -> impl Iterator<Item = &Event> {
        self.events.iter().filter(|event| event.kind == EventKind::Command)
    }

    /// The commands that are known to have ended well.
    pub fn completed_commands(&self) -> impl Iterator<Item = &Event> {
        self.commands().filter(|event| event.is_completed())
    }

    /// The commands that failed: that did not end, or ended with another code than 0.
    pub fn failed_commands(&self) -> FailedCommands {
        let mut waiting: HashMap<&str, usize> = HashMap::new();
        let mut found = FailedCommands::default();
        for event in self.commands() {
            let command = event.shown_command();
            let failed = event.status == EventStatus::Failed || event.exit_code.is_some_and(|code| code != 0);
            if failed {
                found.failed += 1;
                *waiting.entry(command).or_default() += 1;
            } else if event.is_completed() {
                found.recovered += waiting.remove(command).unwrap_or_default();
            }
        }
        found
    }

    /// Whether the events were made from a stream of codex.
    pub fn is_from_codex(&self) -> bool {
        self.source == "codex"
    }
}

/// Commands that failed. One that failed and was never run again is no success, whatever came after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FailedCommands {
    /// How often a command failed.
    pub failed: usize,
    /// How many of these failures the same command made good later.
    pub recovered: usize,
}

/// Why there are no events.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EventsProblem {
    /// There is no file.
    #[error("missing events.json")]
    Missing,
    /// The file is larger than the limit and was not read.
    #[error("events_too_large: {0}")]
    TooLarge(FileProblem),
    /// The file is there and cannot be read.
    #[error("unreadable events.json: {0}")]
    Unreadable(FileProblem),
    /// It is not strict JSON.
    #[error("invalid JSON in events.json: {0}")]
    InvalidJson(String),
    /// It is JSON of another shape.
    #[error("events.json must contain an events list")]
    NoList,
}

/// The events of a run, or why there are none.
pub type Events = Result<EventLog, EventsProblem>;

/// Reads the contents of the file.
pub(super) fn read(contents: Result<Rc<Vec<u8>>, FileProblem>) -> Events {
    let bytes = contents.map_err(|problem| match problem {
        FileProblem::Missing(_) => EventsProblem::Missing,
        FileProblem::TooLarge { .. } => EventsProblem::TooLarge(problem),
        _ => EventsProblem::Unreadable(problem),
    })?;
    let text =
        std::str::from_utf8(&bytes).map_err(|_| EventsProblem::InvalidJson(JsonErrorKind::NotUtf8.to_string()))?;
    let tape = Tape::read(text, json::Limits::SIDECAR).map_err(|error| {
        let why = match &error.kind {
            // the kind would say once more that it is invalid JSON
            JsonErrorKind::Syntax(why) => format!("{why} at {}", error.path),
            _ => error.to_string(),
        };
        EventsProblem::InvalidJson(why)
    })?;
    let root = tape.root();
    let list = root.get("events").unwrap_or(root);
    if list.items().ok_or(EventsProblem::NoList)?.any(|item| !item.is_object()) {
        return Err(EventsProblem::NoList);
    }
    let version = root.get("schema_version").and_then(Item::as_number);
    let first_version = version.is_some_and(|version| version.as_f64() == 1.0);
    let source = root.get("source").and_then(Item::as_str).unwrap_or_default();
    let mut items = list.items().into_iter().flatten();
    let events = list.items().into_iter().flatten().map(|item| Event::read(item, first_version));
    Ok(EventLog {
        first_usage: items.find_map(usage_of_answer),
        source: python::casefold(&source).into_owned(),
        events: events.filter(|event| event.kind != EventKind::Event).collect(),
    })
}

/// When each event of a file was, in milliseconds on any clock, and how long it took, in the order of [`EventLog::events`]:
/// only people look at it. Nothing for a file that has no events.
pub(super) fn times(bytes: &[u8]) -> Vec<EventTime> {
    let tape = std::str::from_utf8(bytes).ok().and_then(|text| Tape::read(text, json::Limits::SIDECAR).ok());
    let Some(tape) = &tape else { return Vec::new() };
    let root = tape.root();
    let items = root.get("events").unwrap_or(root).items().into_iter().flatten().filter(|item| item.is_object());
    let shown = items.filter(|item| Event::read(*item, false).kind != EventKind::Event);
    let number = |item: Option<Item<'_, '_>>| {
        item.and_then(Item::as_number)
            .map(|number| number.as_f64())
            .filter(|number| number.is_finite() && *number >= 0.0)
    };
    shown
        .map(|item| {
            let stamp = item.get("timestamp");
            let text = stamp.and_then(Item::as_str);
            let parsed = text.and_then(|text| chrono::DateTime::parse_from_rfc3339(&text).ok());
            EventTime {
                at: parsed.map(|time| time.timestamp_millis() as f64).or_else(|| number(stamp)),
                took: number(item.get("duration_ms")),
            }
        })
        .collect()
}

/// Whether a file may say when its events were.
pub(super) fn may_have_times(bytes: &[u8]) -> bool {
    [&b"\"timestamp\""[..], b"\"duration_ms\""].iter().any(|key| memchr::memmem::find(bytes, key).is_some())
}

/// When an event was.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct EventTime {
    /// Milliseconds on the clock of the file, if it says so.
    pub at: Option<f64>,
    /// How many milliseconds it took, if the file says so.
    pub took: Option<f64>,
}

/// What an answer of the model used. Events of the kind `metric` add up a whole run.
fn usage_of_answer(item: Item<'_, '_>) -> Option<UsageCounts> {
    let is_metric = item.get("type").and_then(Item::as_str).as_deref() == Some("metric");
    let tokens = item.get("tokens").filter(|tokens| tokens.is_object() && !is_metric)?;
    Some(UsageCounts::read(Some(tokens))).filter(|counts| counts.input.is_some())
}

#[cfg(test)]
pub(crate) mod testing {
    //! Events from a text.

    use super::*;

    /// Reads events as if the text were the file.
    pub(crate) fn events(text: &str) -> Events {
        read(Ok(Rc::new(text.as_bytes().to_vec())))
    }
}

#[cfg(test)]
mod tests {
    use super::testing::events;
    use super::*;
    use crate::runs::RunDirectory;

    fn one(text: &str) -> Event {
        events(&format!("[{text}]")).unwrap().events.swap_remove(0)
    }

    fn problem(text: &str) -> String {
        events(text).unwrap_err().to_string()
    }

    #[test]
    fn a_normalised_event_is_taken_at_its_word() {
        let event = one(
            r#"{"type":"command","name":"bash","status":" Done ","input_summary":"make","details":{"args":["a",1,null]},
                "output_summary":"built","exit_code":2}"#,
        );
        assert_eq!((event.kind, event.status), (EventKind::Command, EventStatus::Completed));
        assert_eq!(&*event.text, "make bash a 1 None");
        assert_eq!((&*event.input, &*event.output, event.exit_code), ("make", "built", Some(2)));
        // the fields of raw records count only in raw records
        let event = one(r#"{"type":"command","state":"completed","tool_name":"bash"}"#);
        assert_eq!((event.status, &*event.name, &*event.text), (EventStatus::Unknown, "", ""));
    }

    #[test]
    fn only_known_words_are_a_status() {
        let status = |text: &str| one(&format!(r#"{{"type":"tool_call"{text}}}"#)).status;
        assert_eq!(status(r#","status":"SUCCEEDED""#), EventStatus::Completed);
        assert_eq!(status(r#","status":"queued""#), EventStatus::InProgress);
        assert_eq!(status(r#","status":"timed_out""#), EventStatus::Failed);
        for unknown in ["", r#","status":"ok""#, r#","status":null"#, r#","status":true"#, r#","status":" ""#] {
            assert_eq!(status(unknown), EventStatus::Unknown, "{unknown}");
        }
    }

    #[test]
    fn the_first_version_had_no_status() {
        let statuses = |version: &str| {
            let text = format!(
                r#"{{"schema_version":{version},"events":[{{"type":"command"}},{{"type":"command","status":null}},
                    {{"type":"command","status":"failed"}}]}}"#
            );
            events(&text).unwrap().events.iter().map(|event| event.status).collect::<Vec<_>>()
        };
        use EventStatus::{Completed, Failed, Unknown};
        assert_eq!(statuses("1"), [Completed, Completed, Failed]);
        assert_eq!(statuses("1.0"), [Completed, Completed, Failed]);
        assert_eq!(statuses("2"), [Unknown, Unknown, Failed]);
        assert_eq!(statuses("true"), [Unknown, Unknown, Failed]);
    }

    #[test]
    fn other_shapes_are_named() {
        assert_eq!(problem("{"), "invalid JSON in events.json: expected a key in double quotes at $");
        assert_eq!(problem(r#"[{"a":1,"a":2}]"#), "invalid JSON in events.json: duplicate key `a` at $[0]");
        assert!(
            problem(&"[".repeat(100_000)).starts_with("invalid JSON in events.json: nested deeper than 512 levels")
        );
        for shape in ["{}", "7", r#""events""#, r#"{"events":{}}"#, r#"{"events":[{},[]]}"#, "[1]", "[null]"] {
            assert_eq!(problem(shape), "events.json must contain an events list", "{shape}");
        }
        assert_eq!(events("[]").unwrap().events, []);
        assert_eq!(events(r#"[{},{"type":"event"}]"#).unwrap().events, []);
        let not_utf8 = read(Ok(Rc::new(vec![b'"', 0xff, b'"']))).unwrap_err();
        assert_eq!(not_utf8.to_string(), "invalid JSON in events.json: not valid UTF-8");
    }

    #[test]
    fn a_failed_command_is_made_good_by_itself_alone() {
        let failures = |text: &str| {
            let FailedCommands { failed, recovered } = events(text).unwrap().failed_commands();
            (failed, recovered)
        };
        let failed = r#"{"type":"command","status":"completed","input_summary":"make","exit_code":1}"#;
        let done = r#"{"type":"command","status":"completed","input_summary":"make","exit_code":0}"#;
        let other = r#"{"type":"command","status":"completed","input_summary":"ls","exit_code":0}"#;
        assert_eq!(failures(&format!("[{failed}]")), (1, 0));
        assert_eq!(failures(&format!("[{failed},{other}]")), (1, 0));
        assert_eq!(failures(&format!("[{failed},{done}]")), (1, 1));
        assert_eq!(failures(&format!("[{failed},{failed},{done},{failed}]")), (3, 2));
        assert_eq!(failures(&format!("[{done}]")), (0, 0));
        assert_eq!(failures(r#"[{"type":"command","status":"failed","command":"make"}]"#), (1, 0));
    }

    #[test]
    fn values_of_other_types_are_no_text() {
        let event =
            one(r#"{"type":"tool_call","status":{"a":1},"name":7,"input_summary":{"x":1},"details":["ls"],"path":[],
                "exit_code":"0","output_summary":null}"#);
        assert_eq!((&*event.name, &*event.text, &*event.path), ("", "", ""));
        assert_eq!((event.status, event.exit_code), (EventStatus::Unknown, None));
    }

    #[test]
    fn a_file_is_opened_and_typed_once() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(FILE_NAME), r#"[{"type":"command"}]"#).unwrap();
        let open = || RunDirectory::open(folder.path().to_owned(), "c1".to_owned(), None, 10).unwrap();
        let mut directory = open();
        let first = directory.events(20);
        assert_eq!(first.as_ref().as_ref().unwrap().events.len(), 1);
        assert!(Rc::ptr_eq(&first, &directory.events(20)));
        assert_eq!(
            directory.take_digests().iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(),
            ["c1/events.json"]
        );

        let too_large = open().events(19).as_ref().as_ref().unwrap_err().to_string();
        assert_eq!(too_large, "events_too_large: events.json has 20 bytes, the limit is 19 bytes");
        std::fs::remove_file(folder.path().join(FILE_NAME)).unwrap();
        assert_eq!(open().events(20).as_ref().as_ref().unwrap_err(), &EventsProblem::Missing);
        std::fs::create_dir(folder.path().join(FILE_NAME)).unwrap();
        let unreadable = open().events(20).as_ref().as_ref().unwrap_err().to_string();
        assert_eq!(unreadable, "unreadable events.json: not a regular file: events.json");
    }

    #[test]
    fn a_long_output_is_cut_between_characters() {
        let text = format!(r#"{{"type":"command","output_summary":"{}"}}"#, "ü".repeat(1200));
        assert_eq!(one(&text).output.chars().count(), 1000);
    }
}
