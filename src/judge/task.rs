//! A judgement that nobody has made yet, with everything that a judge needs.

use std::borrow::Cow;
use std::fs::File;
use std::io::Read;

use serde::Serialize;
use skill_lift_contract::ContentDigest;
use skill_lift_text::python;

use super::prompt;
use crate::json::{Member, Node, Span, Value};
use crate::suite::{Case, Suite};

/// The id of a judgement. The model is part of it only when a folder of the run tree names it, so that ids of trees
/// without such folders stay as they are.
pub fn task_id(case_id: &str, model_folder: Option<&str>, variant: &str, run_number: u32, label: &str) -> String {
    let model = model_folder.map(|model| format!("{model}::")).unwrap_or_default();
    format!("{case_id}::{model}{variant}::run-{run_number}::{label}")
}

/// One line of a task file. The keys up to `review_rubric` are those of the Python reference package; they name the arm
/// and serve merging. A judge gets only `judge_prompt`, which does not.
#[derive(Debug, Serialize)]
pub struct JudgeTask<'a> {
    /// The id that a verdict names.
    pub judge_task_id: &'a str,
    /// The case.
    pub case_id: &'a str,
    /// The model, if a folder of the run tree names it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<&'a str>,
    /// The arm.
    pub variant: &'a str,
    /// The repetition.
    pub run_number: u32,
    /// The assertion with its preset expanded.
    pub assertion: Cow<'a, Node<'a>>,
    /// Where the answer stands, as the user would type it.
    pub output_path: String,
    /// The folder of the run or of the turn, as the user would type it.
    pub run_base: String,
    /// What the agent was asked.
    pub prompt: Option<&'a str>,
    /// File of the prompt, relative to the suite.
    pub prompt_ref: Option<&'a str>,
    /// What a good answer does.
    pub expected_behavior: &'a [String],
    /// What a reviewer looks at.
    pub review_rubric: &'a [String],
    /// The turns up to the judged one, for cases with turns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conversation: Option<Vec<Exchange<'a>>>,
    /// The answer, when no single file at `output_path` holds it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_text: Option<&'a str>,
    /// Stands for the id in the prompt; says nothing about the arm.
    pub blind_id: String,
    /// What to send to a judge.
    pub judge_prompt: String,
}

/// One turn of a conversation.
#[derive(Debug, Clone, Serialize)]
pub struct Exchange<'a> {
    /// Its number, from 1.
    pub turn: usize,
    /// What the user said.
    pub prompt: &'a str,
    /// What the agent said; absent for the judged answer itself and for a turn without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub assistant_output: Option<&'a str>,
}

impl JudgeTask<'_> {
    /// Fills in the blind id and the prompt. `salt` keeps ids of different suites apart.
    pub fn blinded(mut self, salt: &str, answer: &str) -> Self {
        self.blind_id = blind_id(salt, self.judge_task_id);
        self.judge_prompt = prompt::text(&self, answer);
        self
    }
}

/// Sixteen hexadecimal digits that cannot be read back.
fn blind_id(salt: &str, task_id: &str) -> String {
    let digest = ContentDigest::of(format!("{salt}\0{task_id}").as_bytes()).to_string();
    format!("judgement-{}", &digest[..16])
}

/// An assertion of a turn carries the number of the turn in its name.
pub fn named<'a>(assertion: &'a Node<'a>, name: &str) -> Cow<'a, Node<'a>> {
    let mut renamed = assertion.clone();
    if let Value::Object(members) = &mut renamed.value {
        let value = Node::synthetic(Value::String(name.to_owned().into()));
        match members.iter_mut().find(|member| member.key == "name") {
            Some(member) => member.value = value,
            None => members.push(Member { key: "name".into(), key_span: Span::default(), value }),
        }
    }
    Cow::Owned(renamed)
}

/// Largest prompt file that is read; the reader of suites refuses larger ones.
const PROMPT_BYTES: u64 = 16 << 20;

/// What a case asks: its prompt, else that of its first turn, else the text of its prompt file. `None` when there is
/// none, or the file cannot be read (files of hidden cases may be missing).
pub fn prompt_of<'a>(suite: &Suite, case: &'a Case, may_leave_folder: bool) -> Option<Cow<'a, str>> {
    if let Some(prompt) = case.prompt.as_deref().or_else(|| case.turns.first().map(|turn| turn.prompt.as_str())) {
        return Some(Cow::Borrowed(prompt));
    }
    // links may have changed since the suite was checked
    let place = suite.directory.join(case.prompt_ref.as_deref()?).canonicalize().ok()?;
    if !may_leave_folder && !place.starts_with(&suite.directory) {
        return None;
    }
    let mut bytes = Vec::new();
    let file = File::open(place).ok().filter(|file| file.metadata().is_ok_and(|data| data.is_file()))?;
    file.take(PROMPT_BYTES).read_to_end(&mut bytes).ok()?;
    Some(Cow::Owned(python::universal_newlines(&String::from_utf8_lossy(&bytes)).into_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::{Limits, parse};

    #[test]
    fn ids_name_the_model_only_when_a_folder_does() {
        assert_eq!(task_id("c", None, "with_skill", 2, "q"), "c::with_skill::run-2::q");
        assert_eq!(task_id("c", Some("m"), "with_skill", 1, "turn-1: q"), "c::m::with_skill::run-1::turn-1: q");
    }

    #[test]
    fn the_name_of_a_turn_stands_where_the_name_stood() {
        let text = |node: &Node<'_>| serde_json::to_string(node).unwrap();
        let given = parse(r#"{"name":"q","type":"judge"}"#, Limits::SUITE).unwrap();
        assert_eq!(text(&named(&given, "turn-1: q")), r#"{"name":"turn-1: q","type":"judge"}"#);
        let bare = parse(r#"{"type":"judge"}"#, Limits::SUITE).unwrap();
        assert_eq!(text(&named(&bare, "turn-2: judge")), r#"{"type":"judge","name":"turn-2: judge"}"#);
    }

    #[test]
    fn blind_ids_differ_between_tasks_and_suites() {
        let id = blind_id("sha256:1", "c::with_skill::run-1::q");
        assert_eq!(id.len(), "judgement-".len() + 16);
        assert_ne!(id, blind_id("sha256:1", "c::without_skill::run-1::q"));
        assert_ne!(id, blind_id("sha256:2", "c::with_skill::run-1::q"));
        assert!(!id.contains("skill"));
    }
}
