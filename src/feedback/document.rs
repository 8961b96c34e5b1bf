//! A file of feedback as a whole: its entries, and everything else that it holds.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io::{self, Write};

use serde::ser::{Serialize, SerializeMap, Serializer};

use super::entry::{Entry, EntryProblem, KEYS, Subject};
use super::note::FeedbackNote;
use super::reviews::Reviews;
use super::run_ids::RunIds;
use crate::json::write::pretty;
use crate::json::{self, Limits, Member, Node, Value};

/// The version of the form that is written.
const SCHEMA_VERSION: i64 = 2;

/// Entries of a file, those that count for nothing included. The smallest ones fill a file of 16 MiB before.
pub(super) const MOST_ENTRIES: usize = 200_000;

/// Values of a file: each takes memory, and a file of 16 MiB may hold eight million.
const MOST_VALUES: usize = 2_000_000;

/// Keys of the document that are not passed through.
const DOCUMENT_KEYS: [&str; 3] = ["schema_version", "entries", "unparsed_entries"];

/// Keys of lists of entries.
const DOCUMENT_LISTS: [&str; 3] = ["entries", "unparsed_entries", "reviews"];

/// Why a file is no feedback.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FeedbackError {
    /// Bytes that are not UTF-8.
    #[error("not valid UTF-8")]
    NotUtf8,
    /// Not strict JSON.
    #[error("line {line}: {error}")]
    Json {
        /// Line of the file, from 1.
        line: usize,
        /// What is wrong there.
        error: json::JsonError,
    },
    /// JSON of something else.
    #[error("no feedback: an object with `entries` or `reviews` is expected")]
    NotFeedback,
    /// The form of another tool, where one of ours is asked for.
    #[error("reviews in the form of skill-creator")]
    Reviews,
    /// A form of ours, where one of another tool is asked for.
    #[error("entries in the form of skill-lift")]
    Entries,
    /// More entries than are read.
    #[error("more than {0} entries")]
    TooMany(usize),
    /// More values of any kind than are read.
    #[error("more than {0} JSON values")]
    TooManyValues(usize),
    /// A form that came after this version.
    #[error("feedback of schema version {0}; this version of skill-lift reads 2 and older")]
    TooNew(String),
}

/// The entries of a file, one for each subject, in the order in which they came.
#[derive(Debug, Clone, Default)]
pub struct Feedback {
    /// What counts.
    pub entries: Vec<Entry>,
    /// What is kept as it was read and counts for nothing: entries that are none, and those that have a later one.
    pub unparsed: Vec<Node<'static>>,
    /// Members of the document that this version does not know.
    more: Vec<Member<'static>>,
    /// Members of entries that this version does not know.
    more_of: HashMap<OwnedSubject, Vec<Member<'static>>>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct OwnedSubject {
    case_id: String,
    model: Option<String>,
    variant: String,
    run_number: u32,
    assertion: Option<String>,
}

impl From<Subject<'_>> for OwnedSubject {
    fn from(subject: Subject<'_>) -> Self {
        Self {
            case_id: subject.case_id.to_owned(),
            model: subject.model.map(str::to_owned),
            variant: subject.variant.to_owned(),
            run_number: subject.run_number,
            assertion: subject.assertion.map(str::to_owned),
        }
    }
}

impl From<Vec<Entry>> for Feedback {
    fn from(entries: Vec<Entry>) -> Self {
        Self { entries, ..Self::default() }
    }
}

impl Feedback {
    /// Reads a file of any form: of this version, of version 0.6, or the reviews of skill-creator, whose runs are those
    /// that their ids name.
    ///
    /// # Errors
    /// A file that is not strict JSON, or holds something else.
    pub fn read(bytes: &[u8]) -> Result<(Self, Vec<FeedbackNote>), FeedbackError> {
        Self::read_for(bytes, &RunIds::default())
    }

    /// As [`Feedback::read`], with the runs that reviews may be about.
    ///
    /// # Errors
    /// As [`Feedback::read`].
    pub fn read_for(bytes: &[u8], runs: &RunIds) -> Result<(Self, Vec<FeedbackNote>), FeedbackError> {
        let text = text(bytes)?;
        let root = value(text)?;
        match Form::of(&root)? {
            Form::Entries => Ok(Self::of_entries(root.into_owned())),
            Form::Reviews => Ok(Reviews::of(root.into_owned()).feedback(runs)),
            Form::Nothing => Ok((Self::default(), Vec::new())),
        }
    }

    /// Reads a file of entries, of this version or of 0.6.
    pub(super) fn read_entries(bytes: &[u8]) -> Result<(Self, Vec<FeedbackNote>), FeedbackError> {
        let root = value(text(bytes)?)?;
        match Form::of(&root)? {
            Form::Entries => Ok(Self::of_entries(root.into_owned())),
            Form::Reviews => Err(FeedbackError::Reviews),
            Form::Nothing => Ok((Self::default(), Vec::new())),
        }
    }

    fn of_entries(root: Node<'static>) -> (Self, Vec<FeedbackNote>) {
        let mut feedback = Self::default();
        let mut notes = Vec::new();
        for member in members(root) {
            match (member.key.as_ref(), member.value.value) {
                ("entries", Value::Array(items)) => {
                    notes = feedback.take(items);
                }
                // what is no list is passed through under a name of its own
                ("unparsed_entries", Value::Array(items)) => feedback.unparsed.extend(items),
                ("unparsed_entries", Value::Null) => {}
                ("unparsed_entries", value) => feedback.unparsed.push(Node::synthetic(value)),
                ("schema_version" | "entries", _) => {}
                (_, value) => {
                    feedback.more.push(Member { value: Node::synthetic(value), ..member });
                }
            }
        }
        (feedback, notes)
    }

    /// Takes the entries of a list; of those with one subject the last counts.
    fn take(&mut self, items: Vec<Node<'static>>) -> Vec<FeedbackNote> {
        let mut notes = Vec::new();
        let read: Vec<(Result<Entry, EntryProblem>, Node<'static>)> =
            items.into_iter().map(|item| (Entry::parse(&item), item)).collect();
        let mut last: HashMap<OwnedSubject, usize> = HashMap::with_capacity(read.len());
        for (at, (entry, _)) in read.iter().enumerate() {
            if let Ok(entry) = entry {
                last.insert(entry.subject().into(), at);
            }
        }
        for (at, (entry, item)) in read.into_iter().enumerate() {
            let position = at + 1;
            match entry {
                Ok(entry) => {
                    let subject = OwnedSubject::from(entry.subject());
                    if last.get(&subject) == Some(&at) {
                        let more: Vec<_> =
                            members(item).filter(|member| !KEYS.contains(&member.key.as_ref())).collect();
                        if !more.is_empty() {
                            self.more_of.insert(subject, more);
                        }
                        self.entries.push(entry);
                    } else {
                        notes.push(FeedbackNote::Superseded { position });
                        self.unparsed.push(item);
                    }
                }
                Err(problem) => {
                    notes.push(FeedbackNote::Unparsed { position, problem });
                    self.unparsed.push(item);
                }
            }
        }
        notes
    }

    /// Puts entries into a file that has none, each in the place of the one with its subject.
    pub(super) fn fill(&mut self, entries: impl IntoIterator<Item = Entry>) {
        let mut places: HashMap<OwnedSubject, usize> = HashMap::new();
        for entry in entries {
            let place = *places.entry(entry.subject().into()).or_insert(self.entries.len());
            match self.entries.get_mut(place) {
                Some(other) => *other = entry,
                None => self.entries.push(entry),
            }
        }
    }

    /// Puts an entry in the place of the one with its subject, or at the end.
    pub fn upsert(&mut self, entry: Entry) {
        self.more_of.remove(&OwnedSubject::from(entry.subject()));
        match self.entries.iter_mut().find(|other| other.subject() == entry.subject()) {
            Some(other) => *other = entry,
            None => self.entries.push(entry),
        }
    }

    /// Writes the file in the form of this version, with everything that was read.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write(&self, mut writer: impl Write) -> io::Result<()> {
        pretty(&mut writer, &Document(self), 0)?;
        writer.write_all(b"\n")
    }
}

/// How a file keeps feedback.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// `entries`, of this version or of 0.6.
    Entries,
    /// `reviews`, of skill-creator.
    Reviews,
    /// An object with nothing in it, which every form may begin with.
    Nothing,
}

impl Form {
    /// The form of a document.
    pub(super) fn of(root: &Node<'_>) -> Result<Self, FeedbackError> {
        let members = root.members().ok_or(FeedbackError::NotFeedback)?;
        let is_list = |key: &str| root.get(key).is_some_and(|value| value.items().is_some());
        match root.get("schema_version") {
            None => {}
            Some(version) => match version.as_number().filter(|number| number.is_integer()).map(|n| n.as_i64()) {
                Some(Some(known)) if known <= SCHEMA_VERSION => {}
                Some(_) => return Err(FeedbackError::TooNew(version.python_str())),
                None => return Err(FeedbackError::NotFeedback),
            },
        }
        let items = |key: &str| root.get(key).and_then(Node::items).map_or(0, <[_]>::len);
        if DOCUMENT_LISTS.into_iter().map(items).sum::<usize>() > MOST_ENTRIES {
            return Err(FeedbackError::TooMany(MOST_ENTRIES));
        }
        if is_list("entries") {
            Ok(Self::Entries)
        } else if is_list("reviews") {
            Ok(Self::Reviews)
        } else if members.is_empty() {
            Ok(Self::Nothing)
        } else {
            Err(FeedbackError::NotFeedback)
        }
    }
}

pub(super) fn text(bytes: &[u8]) -> Result<&str, FeedbackError> {
    std::str::from_utf8(bytes).map_err(|_| FeedbackError::NotUtf8)
}

/// Whether what was written can be read again.
pub(super) fn check(bytes: &[u8]) -> Result<(), FeedbackError> {
    Form::of(&value(text(bytes)?)?).map(drop)
}

/// At most so many values a text holds: one behind each comma and each opening bracket outside of strings, and one more.
fn values_at_most(text: &str) -> usize {
    let (mut values, mut in_string, mut is_escaped) = (1, false, false);
    for byte in text.bytes() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = in_string,
            b'"' => in_string = !in_string,
            b',' | b'[' | b'{' if !in_string => values += 1,
            _ => {}
        }
    }
    values
}

pub(super) fn value(text: &str) -> Result<Node<'_>, FeedbackError> {
    if values_at_most(text) > MOST_VALUES {
        return Err(FeedbackError::TooManyValues(MOST_VALUES));
    }
    json::parse(text, Limits::SUITE).map_err(|error| {
        let before = text.as_bytes().get(..error.span.start).unwrap_or_default();
        FeedbackError::Json { line: before.iter().filter(|byte| **byte == b'\n').count() + 1, error }
    })
}

pub(super) fn members(node: Node<'static>) -> impl Iterator<Item = Member<'static>> {
    let members = match node.value {
        Value::Object(members) => members,
        _ => Vec::new(),
    };
    members.into_iter()
}

/// A member that no text holds.
pub(super) fn member(key: &str, value: Value<'static>) -> Member<'static> {
    Member { key: Cow::Owned(key.to_owned()), key_span: json::Span::default(), value: Node::synthetic(value) }
}

/// The whole file.
struct Document<'f>(&'f Feedback);

impl Serialize for Document<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Feedback { entries, unparsed, more, more_of } = self.0;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("schema_version", &SCHEMA_VERSION)?;
        let of = |entry| EntryWithMore { entry, more: more_of.get(&OwnedSubject::from(Entry::subject(entry))) };
        map.serialize_entry("entries", &entries.iter().map(of).collect::<Vec<_>>())?;
        if !unparsed.is_empty() {
            map.serialize_entry("unparsed_entries", unparsed)?;
        }
        for member in more.iter().filter(|member| !DOCUMENT_KEYS.contains(&member.key.as_ref())) {
            map.serialize_entry(&member.key, &member.value)?;
        }
        map.end()
    }
}

#[derive(serde::Serialize)]
struct EntryWithMore<'f> {
    #[serde(flatten)]
    entry: &'f Entry,
    #[serde(flatten, serialize_with = "members_of")]
    more: Option<&'f Vec<Member<'static>>>,
}

fn members_of<S: Serializer>(members: &Option<&Vec<Member<'static>>>, serializer: S) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(None)?;
    for member in members.iter().copied().flatten() {
        map.serialize_entry(&member.key, &member.value)?;
    }
    map.end()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (Feedback, Vec<String>) {
        let (feedback, notes) = Feedback::read(text.as_bytes()).unwrap();
        (feedback, notes.iter().map(ToString::to_string).collect())
    }

    fn written(feedback: &Feedback) -> String {
        let mut bytes = Vec::new();
        feedback.write(&mut bytes).unwrap();
        String::from_utf8(bytes).unwrap()
    }

    fn compact(feedback: &Feedback) -> String {
        serde_json::from_str::<serde_json::Value>(&written(feedback)).unwrap().to_string()
    }

    fn entry(text: &str) -> Entry {
        Entry::parse(&json::parse(text, Limits::SUITE).unwrap()).unwrap()
    }

    #[test]
    fn a_new_file_is_indented_and_ends_with_a_line() {
        let mut feedback = Feedback::default();
        feedback.upsert(entry(r#"{"case_id":"é","variant":"with_skill","verdict":"bad"}"#));
        let expected = "{\n  \"schema_version\": 2,\n  \"entries\": [\n    {\n      \"case_id\": \"é\",\n      \"variant\": \"with_skill\",\n      \"run_number\": 1,\n      \"verdict\": \"fail\"\n    }\n  ]\n}\n";
        assert_eq!(written(&feedback), expected);
        assert_eq!(written(&Feedback::default()), "{\n  \"schema_version\": 2,\n  \"entries\": []\n}\n");
    }

    #[test]
    fn a_file_of_version_0_6_becomes_one_of_this_version() {
        let (feedback, notes) = read(
            r#"{"entries":[{"case_id":"a","variant":"with_skill","verdict":"good","note":""},{"case_id":"a","variant":"with_skill","run_number":"2","note":"x"}]}"#,
        );
        assert_eq!(notes, [""; 0]);
        assert_eq!(
            compact(&feedback),
            r#"{"schema_version":2,"entries":[{"case_id":"a","variant":"with_skill","run_number":1,"verdict":"pass"},{"case_id":"a","variant":"with_skill","run_number":2,"note":"x"}]}"#
        );
    }

    #[test]
    fn an_entry_takes_the_place_of_the_one_with_its_subject() {
        let (mut feedback, _) = read(
            r#"{"schema_version":2,"entries":[{"case_id":"a","variant":"with_skill","run_number":1,"verdict":"pass"},
               {"case_id":"b","variant":"with_skill","run_number":1,"verdict":"pass"}]}"#,
        );
        let at =
            |feedback: &Feedback| feedback.entries.iter().map(|e| (e.case_id.clone(), e.verdict)).collect::<Vec<_>>();
        feedback.upsert(entry(r#"{"case_id":"a","variant":"with_skill","verdict":"fail"}"#));
        let (pass, fail) = (Some(super::super::Opinion::Pass), Some(super::super::Opinion::Fail));
        assert_eq!(at(&feedback), [("a".to_owned(), fail), ("b".to_owned(), pass)]);
        for other in [
            r#"{"case_id":"a","variant":"without_skill","verdict":"fail"}"#,
            r#"{"case_id":"a","variant":"with_skill","model":"m","verdict":"fail"}"#,
            r#"{"case_id":"a","variant":"with_skill","assertion":"x","verdict":"fail"}"#,
            r#"{"case_id":"a","variant":"with_skill","run_number":2,"verdict":"fail"}"#,
        ] {
            let before = feedback.entries.len();
            feedback.upsert(entry(other));
            assert_eq!(feedback.entries.len(), before + 1, "{other}");
        }
    }

    #[test]
    fn nothing_that_a_file_holds_is_lost() {
        let text = r#"{"about":{"n":1.5},"schema_version":1,"entries":[{"junk":1},7,
            {"case_id":"a","variant":"with_skill","note":"first"},
            {"case_id":"a","variant":"with_skill","note":"second","reviewer":"k"}],"unparsed_entries":["old"]}"#;
        let (mut feedback, notes) = read(text);
        assert_eq!(
            notes,
            [
                "entry 1: `case_id` must be a text that is not blank",
                "entry 2: an entry must be an object, not number",
                "entry 3: a later one is about the same run; that one counts"
            ]
        );
        let first = r#"{"schema_version":2,"entries":[{"case_id":"a","variant":"with_skill","run_number":1,"note":"second","reviewer":"k"}],"unparsed_entries":[{"junk":1},7,{"case_id":"a","variant":"with_skill","note":"first"},"old"],"about":{"n":1.5}}"#;
        assert_eq!(compact(&feedback), first);
        let (again, notes) = read(&written(&feedback));
        assert_eq!((compact(&again), notes.len()), (first.to_owned(), 0));
        // what somebody else remarked on an entry goes with it
        feedback.upsert(entry(r#"{"case_id":"a","variant":"with_skill","note":"third"}"#));
        assert!(!written(&feedback).contains("reviewer"));
    }

    #[test]
    fn what_is_no_feedback() {
        let problem = |text: &str| Feedback::read(text.as_bytes()).unwrap_err().to_string();
        let expected = "no feedback: an object with `entries` or `reviews` is expected";
        for text in [
            "[]",
            "1",
            r#"{"entries":{}}"#,
            r#"{"junk":1}"#,
            r#"{"schema_version":2}"#,
            r#"{"schema_version":"2","entries":[]}"#,
        ] {
            assert_eq!(problem(text), expected, "{text}");
        }
        assert_eq!(
            problem(r#"{"schema_version":3,"entries":[]}"#),
            "feedback of schema version 3; this version of skill-lift reads 2 and older"
        );
        assert_eq!(problem("{\n\"entries\": [NaN]}"), "line 2: number is not finite at $.entries[0]");
        assert_eq!(problem(r#"{"entries":[],"entries":[]}"#), "line 1: duplicate key `entries` at $");
        assert_eq!(Feedback::read(b"\xff").unwrap_err(), FeedbackError::NotUtf8);
        assert!(problem("").starts_with("line 1: invalid JSON"));
        assert!(problem(&format!("{{\"entries\":{}", "[".repeat(5_000))).contains("nested deeper"));
        let many = format!(r#"{{"entries":[{}0],"unparsed_entries":[0]}}"#, "0,".repeat(MOST_ENTRIES - 1));
        assert_eq!(problem(&many), "more than 200000 entries");
        let values = format!(r#"{{"entries":[],"x":[{}0]}}"#, "0,".repeat(MOST_VALUES));
        assert_eq!(problem(&values), "more than 2000000 JSON values");
        // what stands in a string is no value
        assert_eq!(values_at_most(r#"{"a":"[,{\",","b":[1,2]}"#), 5);
        // the viewer of skill-creator begins with this
        assert_eq!(read("\u{feff}{}").0.entries, []);
    }
}
