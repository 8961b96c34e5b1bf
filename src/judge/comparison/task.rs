//! What a judge of a blind comparison gets, and the key that stays behind.

use serde::Serialize;
use serde_json::{Value, json};
use skill_lift_contract::ContentDigest;

use super::Side;

/// The id of a comparison. The model is part of it only where a report has several.
pub fn comparison_id(case: &str, model: Option<&str>, repetition: u32, primary: &str, baseline: &str) -> String {
    let model = model.map(|model| format!("{model}::")).unwrap_or_default();
    format!("{case}::{model}run-{repetition}::blind-{primary}-vs-{baseline}")
}

/// What belongs to the case and not to an answer.
#[derive(Debug, Clone, Serialize)]
pub struct Rubric<'a> {
    /// What a good answer does.
    pub expected_behavior: &'a [String],
    /// What a reviewer looks at.
    pub review_rubric: &'a [String],
}

/// One comparison, without anything that says which arm an answer comes from.
#[derive(Debug, Clone, Serialize)]
pub struct ComparisonTask<'a> {
    /// The id that a result names.
    pub comparison_task_id: String,
    /// The case.
    pub case_id: &'a str,
    /// The model, where there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<&'a str>,
    /// The repetition.
    pub run_number: u32,
    /// What the agent was asked.
    pub prompt: Option<String>,
    /// Labels of the checks that both arms can satisfy.
    pub expectations: Vec<&'a str>,
    /// What a good answer does and what to look at.
    pub rubric: Rubric<'a>,
    /// Where answer A is.
    pub output_a_path: String,
    /// Where answer B is.
    pub output_b_path: String,
    /// Digest of answer A.
    pub output_a_sha256: String,
    /// Digest of answer B.
    pub output_b_sha256: String,
    /// Thirty-two hexadecimal digits that depend on the comparison, for marks around quoted answers.
    pub blind_nonce: String,
    /// Digest of the suite, the runs, the arms and the seed.
    pub comparison_design_sha256: String,
    /// Digest of the plan of the runs, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer_design_sha256: Option<String>,
    /// The form of a result.
    pub result_schema: Value,
    /// Digest of everything above.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub comparison_task_sha256: String,
}

impl ComparisonTask<'_> {
    /// The form of a result.
    pub fn result_schema() -> Value {
        json!({"winner": "A|B|TIE", "reasoning": "string", "rubric": "object optional"})
    }

    /// The task with its own digest.
    pub fn sealed(mut self) -> Self {
        self.comparison_task_sha256 = String::new();
        self.comparison_task_sha256 = digest_of(&self);
        self
    }
}

/// An answer in the key.
#[derive(Debug, Clone, Serialize)]
pub struct Candidate<'a> {
    /// Its side.
    #[serde(serialize_with = "word")]
    pub role: Side,
    /// Its arm.
    pub variant: &'a str,
    /// Its repetition.
    pub run_number: u32,
    /// Its directory below the runs root.
    pub run_dir: &'a str,
}

fn word<S: serde::Serializer>(side: &Side, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(side.word())
}

/// What a comparison hides.
#[derive(Debug, Clone, Serialize)]
pub struct KeyRow<'a> {
    /// The id of the comparison.
    pub comparison_task_id: String,
    /// The same for both orders of one pair.
    pub pair_id: String,
    /// The case.
    pub case_id: &'a str,
    /// The model, where there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<&'a str>,
    /// The repetition.
    pub run_number: u32,
    /// The first answer.
    #[serde(rename = "A")]
    pub a: Candidate<'a>,
    /// The second answer.
    #[serde(rename = "B")]
    pub b: Candidate<'a>,
    /// Where the task says that they are.
    pub candidate_paths: Value,
    /// Digest of the task.
    pub comparison_task_sha256: String,
    /// Digest of everything above.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub comparison_truth_sha256: String,
}

impl KeyRow<'_> {
    /// The row with its own digest.
    pub fn sealed(mut self) -> Self {
        self.comparison_truth_sha256 = String::new();
        self.comparison_truth_sha256 = digest_of(&self);
        self
    }
}

/// The digest of a value as JSON on one line.
pub fn digest_of(value: &impl Serialize) -> String {
    // writing to memory cannot fail
    let bytes = serde_json::to_vec(value).unwrap_or_default();
    format!("sha256:{}", ContentDigest::of(&bytes))
}

/// The nonce of a comparison.
pub fn nonce(id: &str, design: &str) -> String {
    let mut digest = ContentDigest::of(format!("nonce\0{id}\0{design}").as_bytes()).to_string();
    digest.truncate(32);
    digest
}
