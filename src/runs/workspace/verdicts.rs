//! Lists of verdicts in a file of another tool's grader.
//!
//! The lists go by several names, and a file may hold the runs of a whole case. Only JSON booleans are verdicts; what
//! stands beside the entries (counts, rates) is kept as a claim, to be checked and never to be used.

use std::borrow::Cow;

use skill_lift_text::python;

use crate::json::{Item, pointer};
use crate::suite::one_arm::OneArm;
use crate::suite::{AssertionType, Severity};

/// Keys of a list of verdicts, the first that is there counts.
const LIST_KEYS: [&str; 5] = ["expectations", "assertions", "evaluations", "assertion_results", "results"];

/// Keys of the text of an entry, the first that is there counts.
const TEXT_KEYS: [&str; 5] = ["text", "expectation", "assertion", "check", "description"];

/// Verdicts of one run that are read; more cannot be the work of a grader.
const MAX_ENTRIES: usize = 100_000;

/// Arms that one file may hold the runs of; every one of them reads the file.
const MAX_ARMS: usize = 1_000;

/// What an entry says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Passed {
    /// `true`
    Yes,
    /// `false`
    No,
    /// `null`, or nothing: the grader did not decide.
    Absent,
    /// Another value, which is never made a verdict.
    Unreadable,
}

/// The key of what our own exports say beside what their format has room for.
pub const OWN_KEY: &str = "skill_lift";

/// How an entry counts. Only our own exports say it; without it an entry is a gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EntryMark {
    /// A gate, a critical one whose failure makes the rate zero, or one that enters no rate.
    pub severity: Severity,
    /// Why only one arm of the lift can satisfy it.
    pub one_arm: Option<OneArm>,
    /// What was checked, where only one arm can satisfy it.
    pub assertion_type: Option<AssertionType>,
    /// Whether the evidence was missing: only runs that lack the same evidence are compared.
    pub is_unobserved: bool,
}

impl Default for EntryMark {
    fn default() -> Self {
        Self { severity: Severity::Gate, one_arm: None, assertion_type: None, is_unobserved: false }
    }
}

impl EntryMark {
    /// What an entry says of itself.
    pub fn of(entry: Item<'_, '_>) -> Self {
        let Some(own) = entry.get(OWN_KEY).filter(|own| own.is_object()) else { return Self::default() };
        let word = |key: &str| own.get(key).and_then(Item::as_str);
        let severity = word("severity").and_then(|word| Severity::from_word(&word)).unwrap_or(Severity::Gate);
        let is_counted = own.get("counted").and_then(Item::as_bool) != Some(false);
        Self {
            severity: if is_counted { severity } else { Severity::Soft },
            one_arm: word("one_arm").and_then(|code| OneArm::from_code(&code)),
            assertion_type: word("type").and_then(|word| AssertionType::from_word(&word)),
            is_unobserved: own.get("unobserved").and_then(Item::as_bool) == Some(true),
        }
    }

    /// Whether the entry enters the pass rate.
    pub fn counts(self) -> bool {
        self.severity != Severity::Soft
    }
}

/// What our own exports say of a run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RunMark {
    /// How hard the model was asked to think.
    pub effort: Option<String>,
}

/// One verdict as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredVerdict {
    /// The id of the assertion, if the entry has one.
    pub id: Option<String>,
    /// The name of the assertion, if the entry has one.
    pub name: Option<String>,
    /// The assertion in prose.
    pub text: Option<String>,
    /// The verdict.
    pub passed: Passed,
    /// What the grader saw.
    pub evidence: String,
    /// Where the entry stands in its file, as a JSON pointer.
    pub pointer: String,
    /// How it counts.
    pub mark: EntryMark,
}

impl StoredVerdict {
    /// What a person calls the assertion.
    pub fn label(&self) -> &str {
        let named = [&self.name, &self.text, &self.id].into_iter().flatten().find(|text| !text.is_empty());
        named.map_or("unnamed", String::as_str)
    }
}

/// Counts and a rate that a file states beside its entries.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct StatedCounts {
    /// Number of passed entries.
    pub passed: Option<u64>,
    /// Number of all entries.
    pub total: Option<u64>,
    /// The rate as it is written.
    pub rate: StatedRate,
}

/// A rate that a file states.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum StatedRate {
    /// There is none.
    #[default]
    Absent,
    /// A number between 0 and 1.
    Share(f64),
    /// Anything else.
    Invalid,
}

/// What a grader stored about one run.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct StoredGrading {
    /// The case that the file names.
    pub eval_id: Option<String>,
    /// The arm that the file names.
    pub configuration: Option<String>,
    /// Number of the run, in files of several runs.
    pub run: Option<u32>,
    /// The entries; `None` when there is no list of them.
    pub verdicts: Option<Vec<StoredVerdict>>,
    /// What is stated beside them.
    pub stated: StatedCounts,
    /// Whether the skill was loaded, if the grader says so.
    pub skill_loaded: Option<bool>,
    /// Remarks on the run.
    pub notes: Vec<String>,
    /// Characters that the run wrote, if they were counted.
    pub characters: Option<u64>,
    /// What the file says as one of our own exports.
    pub mark: Option<RunMark>,
}

/// The gradings of a document: one, or one for each run of a case.
#[derive(Debug, Clone, PartialEq)]
pub enum GradingDocument {
    /// The grading of one run.
    One(Box<StoredGrading>),
    /// Several runs of one arm.
    Runs(Vec<StoredGrading>),
    /// Several runs of each arm: the arm as it is written, with its runs.
    Arms(Vec<(String, Vec<StoredGrading>)>),
}

impl GradingDocument {
    /// Reads a document. `is_arm` says whether a key is the name of an arm.
    pub fn read(root: Item<'_, '_>, is_arm: impl Fn(&str) -> bool) -> Self {
        if verdict_list(root).is_none() {
            let head = Head::read(root);
            if let Some(runs) = root.get("runs").and_then(|runs| runs_of(runs, &head, "/runs")) {
                return Self::Runs(runs);
            }
            let members = root.members().into_iter().flatten();
            let arms: Vec<_> = members
                .filter_map(|(key, value)| {
                    let key = key.as_str()?;
                    let pointer = pointer::member("", &key);
                    let runs = if is_arm(&key) { runs_of(value, &head, &pointer) } else { None };
                    runs.map(|runs| (key.into_owned(), runs))
                })
                .collect();
            if !arms.is_empty() && arms.len() <= MAX_ARMS {
                return Self::Arms(arms);
            }
        }
        Self::One(Box::new(StoredGrading::read(root, &Head::default(), "")))
    }
}

/// What a document says of the case and the arm of all its runs.
#[derive(Default)]
struct Head {
    eval_id: Option<String>,
    configuration: Option<String>,
}

impl Head {
    fn read(item: Item<'_, '_>) -> Self {
        let named = |keys: &[&str]| keys.iter().find_map(|key| item.get(key).and_then(written)).map(Cow::into_owned);
        Self {
            eval_id: named(&["eval_id"]),
            configuration: named(&["configuration", "config", "condition", "run_type"]),
        }
    }
}

/// The runs of an array whose elements hold lists of verdicts.
fn runs_of(array: Item<'_, '_>, head: &Head, pointer: &str) -> Option<Vec<StoredGrading>> {
    let items: Vec<_> = array.items()?.collect();
    items.iter().any(|item| verdict_list(*item).is_some()).then(|| {
        let numbered = items.iter().enumerate().take(MAX_ENTRIES);
        let read = |(index, item): (usize, &Item<'_, '_>)| {
            let mut grading = StoredGrading::read(*item, head, &format!("{pointer}/{index}"));
            grading.run = run_number(*item).or_else(|| u32::try_from(index + 1).ok());
            grading
        };
        numbered.map(read).collect()
    })
}

fn run_number(item: Item<'_, '_>) -> Option<u32> {
    let whole = |key: &str| item.get(key).and_then(Item::as_number).and_then(|number| number.as_i64());
    let number = whole("run")
        .or_else(|| whole("run_number"))
        .or_else(|| whole("run_index").and_then(|index| index.checked_add(1)));
    number.and_then(|number| u32::try_from(number).ok())
}

impl StoredGrading {
    /// Whether there are more verdicts than are read.
    pub fn is_cut(&self) -> bool {
        self.verdicts.as_ref().is_some_and(|verdicts| verdicts.len() > MAX_ENTRIES)
    }

    /// `head` is that of the document, for what the run does not say itself.
    fn read(item: Item<'_, '_>, head: &Head, pointer: &str) -> Self {
        let Head { eval_id, configuration } = Head::read(item);
        let metrics = item.get("execution_metrics");
        let count = |key: &str| metrics.and_then(|metrics| metrics.get(key)).and_then(whole);
        let notes = ["note", "notes"].into_iter().filter_map(|key| item.get(key)).flat_map(texts);
        Self {
            eval_id: eval_id.or_else(|| head.eval_id.clone()),
            configuration: configuration.or_else(|| head.configuration.clone()),
            run: run_number(item),
            verdicts: verdict_list(item).map(|(key, entries)| {
                let entries = entries.enumerate().take(MAX_ENTRIES + 1);
                entries.map(|(index, entry)| verdict(entry, format!("{pointer}/{key}/{index}"))).collect()
            }),
            stated: stated(item),
            skill_loaded: item.get("skill_loaded").and_then(Item::as_bool),
            notes: notes.collect(),
            characters: match (count("output_chars"), count("transcript_chars")) {
                (None, None) => None,
                (output, transcript) => Some(output.unwrap_or(0).saturating_add(transcript.unwrap_or(0))),
            },
            mark: item
                .get(OWN_KEY)
                .filter(|own| own.is_object())
                .map(|own| RunMark { effort: own.get("effort").and_then(Item::as_str).map(Cow::into_owned) }),
        }
    }
}

/// The list of verdicts of an object: its key and its entries. A list counts when one of its elements has a text and
/// room for a verdict, or when it is empty; a number called `passed` beside a list is a count.
fn verdict_list<'t, 'a>(item: Item<'t, 'a>) -> Option<(&'static str, impl Iterator<Item = Item<'t, 'a>>)> {
    let key = LIST_KEYS.into_iter().find(|key| {
        let entries = item.get(key).and_then(Item::items);
        entries.is_some_and(|mut entries| {
            let first = entries.next();
            first.is_none_or(|first| is_verdict(first) || entries.any(is_verdict))
        })
    })?;
    Some((key, item.get(key).and_then(Item::items)?))
}

fn is_verdict(entry: Item<'_, '_>) -> bool {
    let has_text =
        TEXT_KEYS.iter().chain(&["name", "id"]).any(|key| entry.get(key).is_some_and(|text| text.as_str().is_some()));
    has_text && entry.get("passed").is_some()
}

fn verdict(entry: Item<'_, '_>, pointer: String) -> StoredVerdict {
    let text = |key: &str| entry.get(key).and_then(written).map(Cow::into_owned);
    StoredVerdict {
        id: text("id").or_else(|| text("assertion_id")),
        name: text("name"),
        text: TEXT_KEYS.iter().find_map(|key| text(key)),
        passed: match entry.get("passed") {
            None => Passed::Absent,
            Some(value) if value.is_null() => Passed::Absent,
            Some(value) => match value.as_bool() {
                Some(true) => Passed::Yes,
                Some(false) => Passed::No,
                None => Passed::Unreadable,
            },
        },
        evidence: text("evidence").or_else(|| text("reason")).unwrap_or_default(),
        pointer,
        mark: EntryMark::of(entry),
    }
}

/// A string or a number as text, without the white space around it.
fn written<'a>(value: Item<'_, 'a>) -> Option<Cow<'a, str>> {
    match value.as_str() {
        Some(text) => Some(match text {
            Cow::Borrowed(text) => Cow::Borrowed(python::strip(text)),
            Cow::Owned(text) => Cow::Owned(python::strip(&text).to_owned()),
        }),
        None => value.as_number().map(|number| Cow::Owned(number.text().to_owned())),
    }
}

fn texts<'t, 'a: 't>(value: Item<'t, 'a>) -> Vec<String> {
    match value.items() {
        Some(items) => items.filter_map(Item::as_str).map(Cow::into_owned).collect(),
        None => value.as_str().map(Cow::into_owned).into_iter().filter(|text| !text.is_empty()).collect(),
    }
}

fn whole(value: Item<'_, '_>) -> Option<u64> {
    value.as_number().and_then(|number| number.as_i64()).and_then(|number| u64::try_from(number).ok())
}

fn stated(item: Item<'_, '_>) -> StatedCounts {
    let summary = item.get("summary").filter(|summary| summary.is_object());
    let first = |keys: &[&str]| {
        let places = [summary, Some(item)].into_iter().flatten();
        places.flat_map(|place| keys.iter().filter_map(move |key| place.get(key))).next()
    };
    let passed = first(&["passed", "pass_count", "passed_count", "assertions_passed"]).and_then(whole);
    let total = first(&["total", "total_count", "assertions_total"]).and_then(whole);
    let rate = match first(&["pass_rate"]) {
        None => StatedRate::Absent,
        Some(rate) => match rate.as_number().map(|number| number.as_f64()) {
            Some(share) if (0.0..=1.0).contains(&share) => StatedRate::Share(share),
            _ => StatedRate::Invalid,
        },
    };
    StatedCounts { passed, total, rate }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::{Limits, Tape};

    fn read(text: &str) -> GradingDocument {
        let tape = Tape::read(text, Limits::SIDECAR).unwrap();
        GradingDocument::read(tape.root(), |key| key == "with_skill" || key == "without_skill")
    }

    fn one(text: &str) -> StoredGrading {
        match read(text) {
            GradingDocument::One(grading) => *grading,
            other => panic!("{other:?}"),
        }
    }

    fn passed(grading: &StoredGrading) -> Vec<Passed> {
        grading.verdicts.iter().flatten().map(|verdict| verdict.passed).collect()
    }

    #[test]
    fn every_name_of_a_list_is_read() {
        for (text, label) in [
            (r#"{"expectations": [{"text": "a", "passed": true, "evidence": "e"}]}"#, "a"),
            (r#"{"assertions": [{"expectation": "b", "passed": true, "reason": "e"}]}"#, "b"),
            (r#"{"assertions": [{"name": "c", "passed": true, "evidence": "e"}]}"#, "c"),
            (r#"{"evaluations": [{"text": " d ", "passed": true, "evidence": "e"}]}"#, "d"),
            (r#"{"assertion_results": [{"text": "f", "passed": true, "evidence": "e"}]}"#, "f"),
            (r#"{"expectations": [{"id": 7, "text": "g", "passed": true, "evidence": "e"}]}"#, "g"),
        ] {
            let grading = one(text);
            let [verdict] = grading.verdicts.as_deref().unwrap() else { panic!("{text}") };
            assert_eq!((verdict.label(), verdict.evidence.as_str(), verdict.passed), (label, "e", Passed::Yes));
        }
        assert_eq!(
            one(r#"{"expectations": [{"id": 7, "text": "g", "passed": true}]}"#).verdicts.unwrap()[0].id,
            Some("7".into())
        );
    }

    #[test]
    fn only_booleans_are_verdicts() {
        let entry = |passed: &str| format!(r#"{{"text": "t", "passed": {passed}}}"#);
        let entries: Vec<_> = ["true", "false", "null", "\"true\"", "1"].map(entry).to_vec();
        let grading = one(&format!(r#"{{"expectations": [{}, {{"text": "t"}}]}}"#, entries.join(", ")));
        use Passed::{Absent, No, Unreadable, Yes};
        assert_eq!(passed(&grading), [Yes, No, Absent, Unreadable, Unreadable, Absent]);
    }

    #[test]
    fn what_holds_no_verdict_has_no_list() {
        for text in [
            r#"{"summary": {"passed": 3, "total": 4}}"#,
            r#"{"results": [{"ratio": 0.5}]}"#,
            r#"{"assertions": ["Says yes"]}"#,
            r#"[{"text": "t", "passed": true}]"#,
            "3",
        ] {
            assert_eq!(one(text).verdicts, None, "{text}");
        }
        assert_eq!(one(r#"{"expectations": []}"#).verdicts, Some(Vec::new()));
    }

    #[test]
    fn several_runs_stand_in_one_file() {
        let runs = r#"[{"run": 1, "passed": 1, "total": 1, "expectations": [{"text": "t", "passed": true}]},
                       {"expectations": [{"text": "t", "passed": false}]}]"#;
        let GradingDocument::Runs(read_runs) =
            read(&format!(r#"{{"eval_id": 4, "condition": "with_skill", "runs": {runs}}}"#))
        else {
            panic!()
        };
        assert_eq!(read_runs.iter().map(|run| run.run).collect::<Vec<_>>(), [Some(1), Some(2)]);
        assert_eq!(read_runs[1].configuration.as_deref(), Some("with_skill"));
        assert_eq!(read_runs[1].eval_id.as_deref(), Some("4"));
        assert_eq!(read_runs[1].verdicts.as_ref().unwrap()[0].pointer, "/runs/1/expectations/0");

        let GradingDocument::Arms(arms) =
            read(&format!(r#"{{"with_skill": {runs}, "notes": {runs}, "without_skill": []}}"#))
        else {
            panic!()
        };
        let names: Vec<_> = arms.iter().map(|(name, runs)| (name.as_str(), runs.len())).collect();
        assert_eq!(names, [("with_skill", 2)]);
    }

    #[test]
    fn counts_beside_the_entries_are_claims() {
        let grading = one(r#"{"summary": {"passed": 2, "total": 9, "pass_rate": 0.222}, "expectations": []}"#);
        assert_eq!((grading.stated.passed, grading.stated.total), (Some(2), Some(9)));
        assert_eq!(grading.stated.rate, StatedRate::Share(0.222));
        assert_eq!(one(r#"{"expectations": [], "pass_rate": null}"#).stated.rate, StatedRate::Invalid);
        assert_eq!(one(r#"{"expectations": [], "pass_rate": 2.5}"#).stated.rate, StatedRate::Invalid);
        assert_eq!(
            one(r#"{"expectations": [], "pass_count": 3}"#).stated,
            StatedCounts { passed: Some(3), ..StatedCounts::default() }
        );
    }
}
