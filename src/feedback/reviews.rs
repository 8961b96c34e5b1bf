//! Feedback as skill-creator keeps it: one text a run.
//!
//! The text of a run is all that other tools read. Verdicts and what is said of single checks stand beside it under a key
//! of our own; where somebody changed the text meanwhile, the text counts.

use std::borrow::Cow;
use std::io::{self, Write};

use super::document::{Feedback, FeedbackError, Form, member, text, value};
use super::entry::{Entry, Opinion};
use super::note::FeedbackNote;
use super::run_ids::{RunIds, RunName, RunOfId};
use crate::json::write::pretty;
use crate::json::{self, Limits, Node, Value};

/// The key of ours.
const OWN_KEY: &str = "skill_lift";

/// A file of reviews. Everything in it that is not a review of a run is passed through.
#[derive(Debug, Clone)]
pub struct Reviews {
    root: Node<'static>,
}

impl Default for Reviews {
    fn default() -> Self {
        let reviews = member("reviews", Value::Array(Vec::new()));
        Self { root: Node::synthetic(Value::Object(vec![reviews, member("status", text_value(IN_PROGRESS))])) }
    }
}

/// Not every run has a review.
const IN_PROGRESS: &str = "in_progress";
/// Every run has one.
const COMPLETE: &str = "complete";

impl Reviews {
    /// Reads a file.
    ///
    /// # Errors
    /// A file that is not strict JSON, or holds no reviews.
    pub fn read(bytes: &[u8]) -> Result<Self, FeedbackError> {
        let root = value(text(bytes)?)?;
        match Form::of(&root)? {
            Form::Reviews => Ok(Self::of(root.into_owned())),
            Form::Nothing => Ok(Self::default()),
            Form::Entries => Err(FeedbackError::Entries),
        }
    }

    pub(super) fn of(root: Node<'static>) -> Self {
        Self { root }
    }

    fn items(&self) -> &[Node<'static>] {
        self.root.get("reviews").and_then(Node::items).unwrap_or_default()
    }

    /// What the reviews say about runs. Blank ones say nothing: the viewer writes them for every run that was looked at.
    pub fn feedback(&self, runs: &RunIds) -> (Feedback, Vec<FeedbackNote>) {
        let mut feedback = Feedback::default();
        let mut entries = Vec::new();
        let mut notes = Vec::new();
        for (at, review) in self.items().iter().enumerate() {
            let (Some(run_id), Some(said)) = (text_of(review, "run_id"), text_of(review, "feedback")) else {
                notes.push(FeedbackNote::NoReview { position: at + 1 });
                feedback.unparsed.push(review.clone());
                continue;
            };
            let run = match runs.run(run_id) {
                RunOfId::Run(run) => run,
                unresolved => {
                    let run_id = run_id.to_owned();
                    notes.push(match unresolved {
                        RunOfId::Ambiguous(runs) => FeedbackNote::AmbiguousRun { run_id, runs },
                        _ => FeedbackNote::UnknownRun { run_id },
                    });
                    feedback.unparsed.push(review.clone());
                    continue;
                }
            };
            entries.extend(entries_of(review, &run, said));
        }
        feedback.fill(entries);
        (feedback, notes)
    }

    /// Puts an entry into the review of its run, which it makes if there is none. The moment stays where the text does.
    pub fn upsert(&mut self, run_id: &str, entry: &Entry, timestamp: &str) {
        let Some(reviews) = list_mut(&mut self.root) else { return };
        let is_of_run = |review: &Node<'_>| text_of(review, "run_id") == Some(run_id);
        // where a run has several reviews, readers take the last one
        let at = reviews.iter().rposition(is_of_run).unwrap_or_else(|| {
            let members = [("run_id", run_id), ("feedback", ""), ("timestamp", timestamp)];
            let members = members.map(|(key, text)| member(key, text_value(text)));
            reviews.push(Node::synthetic(Value::Object(members.into())));
            reviews.len() - 1
        });
        let review = &mut reviews[at];
        let before = text_of(review, "feedback").unwrap_or_default().to_owned();
        let mut all = Feedback::from(entries_of(review, &RunName::of(entry), &before));
        all.upsert(entry.clone());
        let after = composed(&all.entries);
        if after != before {
            set(review, "feedback", text_value(&after));
            set(review, "timestamp", text_value(timestamp));
        }
        // one note and nothing else needs no key of ours
        let is_plain = matches!(all.entries.as_slice(), [Entry { note: Some(_), verdict: None, assertion: None, .. }]);
        if is_plain {
            unset(review, OWN_KEY);
        } else {
            set(review, OWN_KEY, Value::Array(all.entries.iter().map(node_of).collect()));
        }
    }

    /// Writes the file. It is complete when every run has a review.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write(&self, runs: &RunIds, mut writer: impl Write) -> io::Result<()> {
        let reviewed: std::collections::HashSet<&str> =
            self.items().iter().filter_map(|review| text_of(review, "run_id")).collect();
        let is_complete = !runs.is_empty() && runs.ids().all(|id| reviewed.contains(id));
        let mut root = self.root.clone();
        set(&mut root, "status", text_value(if is_complete { COMPLETE } else { IN_PROGRESS }));
        pretty(&mut writer, &root, 0)?;
        writer.write_all(b"\n")
    }
}

fn text_of<'n>(node: &'n Node<'_>, key: &str) -> Option<&'n str> {
    node.get(key).and_then(Node::as_str)
}

fn text_value(text: &str) -> Value<'static> {
    Value::String(Cow::Owned(text.to_owned()))
}

fn list_mut<'r>(root: &'r mut Node<'static>) -> Option<&'r mut Vec<Node<'static>>> {
    let Value::Object(members) = &mut root.value else { return None };
    let reviews = members.iter_mut().find(|member| member.key == "reviews")?;
    match &mut reviews.value.value {
        Value::Array(items) => Some(items),
        _ => None,
    }
}

fn set(object: &mut Node<'static>, key: &str, value: Value<'static>) {
    let Value::Object(members) = &mut object.value else { return };
    match members.iter_mut().find(|member| member.key == key) {
        Some(member) => member.value = Node::synthetic(value),
        None => members.push(member(key, value)),
    }
}

fn unset(object: &mut Node<'static>, key: &str) {
    if let Value::Object(members) = &mut object.value {
        members.retain(|member| member.key != key);
    }
}

/// An entry as a value, by the one way in which entries are written.
fn node_of(entry: &Entry) -> Node<'static> {
    let text = serde_json::to_string(entry).unwrap_or_default();
    json::parse(&text, Limits::SUITE).map_or_else(|_| Node::synthetic(Value::Null), Node::into_owned)
}

/// What a review says: our own entries if they make the text that stands there, else the text.
fn entries_of(review: &Node<'_>, run: &RunName, said: &str) -> Vec<Entry> {
    let own = review.get(OWN_KEY).and_then(Node::items).unwrap_or_default();
    let own: Vec<Entry> = own.iter().filter_map(|entry| Entry::parse(entry).ok()).collect();
    let of_run: Vec<Entry> = own.into_iter().filter(|entry| RunName::of(entry) == *run).collect();
    if !of_run.is_empty() && composed(&of_run) == said {
        return of_run;
    }
    let RunName { case_id, variant, model, run_number } = run.clone();
    let note = Some(said.to_owned());
    let entry = Entry { case_id, variant, run_number, model, assertion: None, note, verdict: None };
    entry.check().map(|()| vec![entry]).unwrap_or_default()
}

/// The text of a review. A blank one means that all is well, so that whatever else was decided needs words.
fn composed(entries: &[Entry]) -> String {
    let words = |entry: &Entry| match (&entry.note, entry.verdict) {
        (Some(note), _) => note.clone(),
        (None, Some(Opinion::Fail)) => "wrong".to_owned(),
        (None, Some(Opinion::Unsure)) => "hard to say".to_owned(),
        (None, Some(Opinion::Pass) | None) => String::new(),
    };
    let line = |entry: &Entry| match (&entry.assertion, words(entry)) {
        (_, words) if words.is_empty() => None,
        (Some(assertion), words) => Some(format!("{assertion}: {words}")),
        (None, words) => Some(words),
    };
    let (whole, checks): (Vec<&Entry>, Vec<&Entry>) = entries.iter().partition(|entry| entry.is_about_the_run());
    let lines: Vec<String> = whole.into_iter().chain(checks).filter_map(line).collect();
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(case: &str, run_number: u32) -> RunName {
        RunName { case_id: case.to_owned(), variant: "with_skill".to_owned(), model: None, run_number }
    }

    fn runs() -> RunIds {
        RunIds::new([(run("a", 1), "eval-0/with_skill"), (run("b", 1), "eval-1/with_skill")])
    }

    fn entry(fields: &str) -> Entry {
        let text = format!(r#"{{"case_id":"a","variant":"with_skill",{fields}}}"#);
        Entry::parse(&json::parse(&text, Limits::SUITE).unwrap()).unwrap()
    }

    fn written(reviews: &Reviews) -> serde_json::Value {
        let mut bytes = Vec::new();
        reviews.write(&runs(), &mut bytes).unwrap();
        serde_json::from_slice(&bytes).unwrap()
    }

    fn said(reviews: &Reviews) -> Vec<String> {
        let (feedback, _) = reviews.feedback(&runs());
        feedback.entries.iter().map(|entry| serde_json::to_string(entry).unwrap()).collect()
    }

    /// The shape of a file that the viewer of skill-creator left in a public repository, with more keys.
    const FILE: &str = r#"{"reviews":[
        {"run_id":"eval-0-with_skill","feedback":"数据流分析","timestamp":"2026-03-13T09:27:18.754Z","mood":"good"},
        {"run_id":"eval-9-with_skill","feedback":"gone","timestamp":"t"},{"run_id":"eval-1-with_skill","feedback":" "},
        {"feedback":"of what?"},7],"status":"complete","viewer":{"version":3}}"#;

    #[test]
    fn reviews_say_something_about_runs() {
        let (feedback, notes) = Reviews::read(FILE.as_bytes()).unwrap().feedback(&runs());
        assert_eq!(feedback.entries, [entry(r#""note":"数据流分析""#)]);
        let notes: Vec<String> = notes.iter().map(|note| format!("{} {note}", note.code())).collect();
        assert_eq!(
            notes,
            [
                "review_of_no_run review of eval-9-with_skill: there is no such run",
                "review_unreadable review 4: it has no `run_id`, or its `feedback` is no text",
                "review_unreadable review 5: it has no `run_id`, or its `feedback` is no text",
            ]
        );
        assert_eq!(feedback.unparsed.len(), 3);
        // without the runs of a report the ids themselves say which run they name
        let (feedback, _) = Feedback::read(FILE.as_bytes()).unwrap();
        let names: Vec<&str> = feedback.entries.iter().map(|entry| entry.case_id.as_str()).collect();
        assert_eq!(names, ["eval-0", "eval-9"]);
    }

    #[test]
    fn an_entry_changes_one_review_and_nothing_else() {
        let mut reviews = Reviews::read(FILE.as_bytes()).unwrap();
        let before: serde_json::Value = serde_json::from_str(FILE).unwrap();
        reviews.upsert("eval-0-with_skill", &entry(r#""note":"数据流分析""#), "2027");
        let mut expected = before.clone();
        expected["status"] = "complete".into();
        assert_eq!(written(&reviews), expected, "the same text keeps its moment");
        reviews.upsert("eval-0-with_skill", &entry(r#""note":"new""#), "2028");
        expected["reviews"][0]["feedback"] = "new".into();
        expected["reviews"][0]["timestamp"] = "2028".into();
        assert_eq!(written(&reviews), expected);
    }

    #[test]
    fn it_is_complete_only_when_every_run_has_a_review() {
        let mut reviews = Reviews::default();
        reviews.upsert("eval-0-with_skill", &entry(r#""verdict":"pass""#), "2027");
        let expected = serde_json::json!({"reviews": [{"run_id": "eval-0-with_skill", "feedback": "", "timestamp": "2027",
            "skill_lift": [{"case_id": "a", "variant": "with_skill", "run_number": 1, "verdict": "pass"}]}],
            "status": "in_progress"});
        assert_eq!(written(&reviews), expected);
        reviews.upsert("eval-1-with_skill", &Entry { case_id: "b".to_owned(), ..entry(r#""note":"x""#) }, "2028");
        assert_eq!(written(&reviews)["status"], "complete");
        let mut bytes = Vec::new();
        reviews.write(&RunIds::default(), &mut bytes).unwrap();
        assert!(String::from_utf8(bytes).unwrap().contains("in_progress"), "of no known run nothing is complete");
    }

    #[test]
    fn verdicts_and_checks_come_back() {
        let mut reviews = Reviews::default();
        let entries = [
            entry(r#""assertion":"says yes","verdict":"fail""#),
            entry(r#""verdict":"fail""#),
            entry(r#""assertion":"is short","verdict":"unsure","note":"two\nlines""#),
            entry(r#""assertion":"is kind","verdict":"pass""#),
        ];
        for entry in &entries {
            reviews.upsert("eval-0-with_skill", entry, "2027");
        }
        let file = written(&reviews);
        assert_eq!(file["reviews"][0]["feedback"], "wrong\nsays yes: wrong\nis short: two\nlines");
        let again = Reviews::read(file.to_string().as_bytes()).unwrap();
        let expected: Vec<String> = entries.iter().map(|entry| serde_json::to_string(entry).unwrap()).collect();
        assert_eq!(said(&again), expected);
        // somebody wrote another text with another tool: it counts
        let mut file = file;
        file["reviews"][0]["feedback"] = "all fine now".into();
        let other = Reviews::read(file.to_string().as_bytes()).unwrap();
        assert_eq!(said(&other), [serde_json::to_string(&entry(r#""note":"all fine now""#)).unwrap()]);
    }

    #[test]
    fn entries_of_another_run_under_the_key_of_ours_are_not_believed() {
        let file = r#"{"reviews":[{"run_id":"eval-0-with_skill","feedback":"","skill_lift":[
            {"case_id":"b","variant":"with_skill","verdict":"pass"}]}]}"#;
        assert_eq!(said(&Reviews::read(file.as_bytes()).unwrap()), [""; 0]);
    }
}
