//! One thing that a person said: about a run, or about one check of it.

use serde::Serialize;
use skill_lift_text::python;

use crate::json::{Node, Value};

/// What a person thinks of an answer or of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Opinion {
    /// It is right.
    Pass,
    /// It is wrong.
    Fail,
    /// It is hard to say.
    Unsure,
}

impl Opinion {
    /// The word in files.
    pub fn word(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::Unsure => "unsure",
        }
    }

    /// The opinion for a word, of this version or of 0.6.
    pub fn from_word(word: &str) -> Option<Self> {
        match word {
            "pass" | "good" => Some(Self::Pass),
            "fail" | "bad" => Some(Self::Fail),
            "unsure" => Some(Self::Unsure),
            _ => None,
        }
    }
}

/// What a person said about a run, or about one check of it. Written in this order, without what is not there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Entry {
    /// The case.
    pub case_id: String,
    /// The arm: `with_skill`, `without_skill`, `old_skill` or `ablation:<id>`.
    pub variant: String,
    /// The repetition, from 1.
    pub run_number: u32,
    /// The model, where runs of several models are told apart.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The label of the check that this is about; `None` for the whole answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub assertion: Option<String>,
    /// What was remarked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// What was decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Opinion>,
}

/// What an entry is about. There is one entry for a subject: a later one takes the place of an earlier one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Subject<'e> {
    /// The case.
    pub case_id: &'e str,
    /// The model.
    pub model: Option<&'e str>,
    /// The arm.
    pub variant: &'e str,
    /// The repetition.
    pub run_number: u32,
    /// The check, or the whole answer.
    pub assertion: Option<&'e str>,
}

/// Why an object is no entry.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EntryProblem {
    /// Something else than an object.
    #[error("an entry must be an object, not {0}")]
    NotAnObject(&'static str),
    /// A text that must be there.
    #[error("`{0}` must be a text that is not blank")]
    Blank(&'static str),
    /// A text that may be left out, and is something else.
    #[error("`{key}` must be a text, not {found}")]
    NotText {
        /// The key.
        key: &'static str,
        /// The type of what is there.
        found: &'static str,
    },
    /// An arm that nobody can have feedback on.
    #[error("`variant` must be with_skill, without_skill, old_skill or ablation:<id>")]
    Variant,
    /// No repetition.
    #[error("`run_number` must be a whole number from 1 to 4294967295")]
    RunNumber,
    /// No opinion.
    #[error("`verdict` must be pass, fail or unsure")]
    Verdict,
    /// An entry that says nothing.
    #[error("an entry needs a verdict or a note")]
    NothingSaid,
}

/// The keys of an entry; others are kept where they stand.
pub(super) const KEYS: [&str; 7] = ["case_id", "variant", "run_number", "model", "assertion", "note", "verdict"];

impl Entry {
    /// Reads an entry of this version or of 0.6. Keys that it does not have are passed over.
    ///
    /// # Errors
    /// When it is not known what the entry is about, or it says nothing.
    pub fn parse(json: &Node<'_>) -> Result<Self, EntryProblem> {
        if json.members().is_none() {
            return Err(EntryProblem::NotAnObject(json.type_name()));
        }
        let entry = Self {
            case_id: name(json, "case_id")?,
            variant: name(json, "variant")?,
            run_number: run_number(json.get("run_number"))?,
            model: text(json, "model")?,
            assertion: text(json, "assertion")?,
            note: text(json, "note")?,
            verdict: match text(json, "verdict").map_err(|_| EntryProblem::Verdict)? {
                None => None,
                Some(word) => Some(Opinion::from_word(python::strip(&word)).ok_or(EntryProblem::Verdict)?),
            },
        };
        entry.check()?;
        Ok(entry)
    }

    /// Whether an entry that was not read says something about a run.
    pub(super) fn check(&self) -> Result<(), EntryProblem> {
        for (key, text) in [("case_id", &self.case_id), ("variant", &self.variant)] {
            if is_blank(text) {
                return Err(EntryProblem::Blank(key));
            }
        }
        if !is_variant(&self.variant) {
            return Err(EntryProblem::Variant);
        }
        if self.run_number == 0 {
            return Err(EntryProblem::RunNumber);
        }
        let is_noted = self.note.as_deref().is_some_and(|note| !is_blank(note));
        if self.verdict.is_none() && !is_noted { Err(EntryProblem::NothingSaid) } else { Ok(()) }
    }

    /// What it is about.
    pub fn subject(&self) -> Subject<'_> {
        Subject {
            case_id: &self.case_id,
            model: self.model.as_deref(),
            variant: &self.variant,
            run_number: self.run_number,
            assertion: self.assertion.as_deref(),
        }
    }

    /// Whether it is about a whole answer, and not about one check.
    pub fn is_about_the_run(&self) -> bool {
        self.assertion.is_none()
    }
}

fn is_blank(text: &str) -> bool {
    python::strip(text).is_empty()
}

/// The arms that are compared. Whatever else a workspace names an arm, nothing follows from feedback on it.
fn is_variant(variant: &str) -> bool {
    matches!(variant, "with_skill" | "without_skill" | "old_skill")
        || variant.strip_prefix("ablation:").is_some_and(|id| !is_blank(id))
}

/// A text that must be there, without the blanks around it.
fn name(json: &Node<'_>, key: &'static str) -> Result<String, EntryProblem> {
    let text = json.get(key).and_then(Node::as_str).map(python::strip);
    text.filter(|text| !text.is_empty()).map(str::to_owned).ok_or(EntryProblem::Blank(key))
}

/// A text that may be left out; a blank one is none.
fn text(json: &Node<'_>, key: &'static str) -> Result<Option<String>, EntryProblem> {
    let Some(value) = json.get(key).filter(|value| !value.is_null()) else { return Ok(None) };
    let text = value.as_str().ok_or_else(|| EntryProblem::NotText { key, found: value.type_name() })?;
    Ok(Some(text.to_owned()).filter(|text| !is_blank(text)))
}

fn run_number(json: Option<&Node<'_>>) -> Result<u32, EntryProblem> {
    let number = match json.map(|node| &node.value) {
        None | Some(Value::Null) => Some(1),
        Some(Value::Number(number)) => number.as_i64().and_then(|number| u32::try_from(number).ok()),
        Some(Value::String(text)) => match python::strip(text) {
            "" => Some(1),
            digits if digits.bytes().all(|byte| byte.is_ascii_digit()) => digits.parse().ok(),
            _ => None,
        },
        Some(_) => None,
    };
    number.filter(|number| *number > 0).ok_or(EntryProblem::RunNumber)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::{Limits, parse};

    fn entry(text: &str) -> Result<Entry, EntryProblem> {
        Entry::parse(&parse(text, Limits::SUITE).unwrap())
    }

    fn with(fields: &str) -> Result<Entry, EntryProblem> {
        entry(&format!(r#"{{"case_id":"a","variant":"with_skill"{fields}}}"#))
    }

    #[test]
    fn an_entry_with_everything() {
        let read = with(r#","run_number":2,"model":"m","assertion":"says yes","note":"n","verdict":"fail","x":1"#);
        let written = serde_json::to_string(&read.unwrap()).unwrap();
        assert_eq!(
            written,
            r#"{"case_id":"a","variant":"with_skill","run_number":2,"model":"m","assertion":"says yes","note":"n","verdict":"fail"}"#
        );
    }

    #[test]
    fn what_is_blank_is_absent() {
        let read = entry(
            r#"{"case_id":" a\n","variant":" old_skill ","run_number":" ","model":"","assertion":" ","note":null,"verdict":"good"}"#,
        );
        let written = serde_json::to_string(&read.unwrap()).unwrap();
        assert_eq!(written, r#"{"case_id":"a","variant":"old_skill","run_number":1,"verdict":"pass"}"#);
        // the blanks inside of a note are its author's
        assert_eq!(with(r#","note":" x ""#).unwrap().note.as_deref(), Some(" x "));
        assert_eq!(with(r#","verdict":" ","note":"x""#).unwrap().verdict, None);
    }

    #[test]
    fn verdicts_of_both_versions() {
        for (word, opinion) in [
            ("pass", Opinion::Pass),
            ("good", Opinion::Pass),
            ("fail", Opinion::Fail),
            ("bad", Opinion::Fail),
            ("unsure", Opinion::Unsure),
        ] {
            assert_eq!(with(&format!(r#","verdict":"{word}""#)).unwrap().verdict, Some(opinion), "{word}");
        }
        for value in [r#""PASS""#, r#""ok""#, "true", "1", "[]", "{}"] {
            assert_eq!(with(&format!(r#","note":"n","verdict":{value}"#)), Err(EntryProblem::Verdict), "{value}");
        }
    }

    #[test]
    fn run_numbers() {
        for (value, number) in
            [("7", 7), (r#""12""#, 12), (r#"" 3 ""#, 3), (r#""""#, 1), ("null", 1), ("4294967295", u32::MAX)]
        {
            assert_eq!(
                with(&format!(r#","verdict":"pass","run_number":{value}"#)).unwrap().run_number,
                number,
                "{value}"
            );
        }
        for value in
            ["0", "-1", "1.0", "1e0", "true", "[]", r#""0""#, r#""+1""#, r#""1.5""#, r#""٣""#, "4294967296", "1e99"]
        {
            let read = with(&format!(r#","verdict":"pass","run_number":{value}"#));
            assert_eq!(read, Err(EntryProblem::RunNumber), "{value}");
        }
    }

    #[test]
    fn what_is_no_entry() {
        assert_eq!(entry("[]"), Err(EntryProblem::NotAnObject("array")));
        assert_eq!(entry(r#"{"junk":1}"#), Err(EntryProblem::Blank("case_id")));
        assert_eq!(entry(r#"{"case_id":1,"variant":"with_skill"}"#), Err(EntryProblem::Blank("case_id")));
        assert_eq!(entry(r#"{"case_id":"a","variant":"\u3000"}"#), Err(EntryProblem::Blank("variant")));
        for variant in ["baseline", "ablation:", "ablation: ", "With_skill", "z"] {
            let text = format!(r#"{{"case_id":"a","variant":"{variant}","verdict":"pass"}}"#);
            assert_eq!(entry(&text), Err(EntryProblem::Variant), "{variant}");
        }
        assert!(entry(r#"{"case_id":"a","variant":"ablation:no-table","verdict":"pass"}"#).is_ok());
        assert_eq!(
            with(r#","model":5,"verdict":"pass""#),
            Err(EntryProblem::NotText { key: "model", found: "number" })
        );
        assert_eq!(with(""), Err(EntryProblem::NothingSaid));
        assert_eq!(with(r#","note":" \n","verdict":"""#), Err(EntryProblem::NothingSaid));
        assert_eq!(with(r#","assertion":"x""#), Err(EntryProblem::NothingSaid));
    }
}
