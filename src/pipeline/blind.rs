//! Blind comparisons of the answers of two arms: tasks for a judge, the key that stays behind, and copies of the answers
//! under names that say nothing.

use std::io;
use std::path::Path;

use serde_json::json;
use skill_lift_contract::ContentDigest;
use skill_lift_contract::write::AtomicFolder;

use super::export::{CopiedAnswer, CopyError, read_answer};
use crate::analyze::comparison::{CandidatePair, candidate_pairs};
use crate::judge::comparison::{
    Candidate, ComparisonTask, KeyRow, Rubric, Side, comparison_id, digest_of, first_side, nonce,
};
use crate::judge::task::prompt_of;
use crate::runs::Limits;
use crate::runs::claims::SavedRow;
use crate::runs::index::{join_shown, shown_path};
use crate::suite::{Case, Suite};

/// In which order answers are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Orders {
    /// Each pair once, in an order that the seed draws.
    One,
    /// Each pair twice, the second time the other way round.
    Both,
}

impl Orders {
    /// The word in keys.
    pub fn word(self) -> &'static str {
        match self {
            Self::One => "one",
            Self::Both => "both",
        }
    }
}

/// What is compared.
pub struct BlindRequest<'a> {
    /// The suite.
    pub suite: &'a Suite,
    /// Its graded runs.
    pub rows: &'a [SavedRow],
    /// The arm that is looked at.
    pub primary: &'a str,
    /// What it is compared with.
    pub baseline: &'a str,
    /// Draws the order of each pair.
    pub seed: i64,
    /// In which order answers are shown.
    pub orders: Orders,
    /// The folder that the run directories are in.
    pub runs: &'a Path,
    /// Digest of the files below it.
    pub runs_sha256: &'a str,
    /// Digest of the plan of the runs.
    pub plan_sha256: Option<String>,
    /// Where copies of the answers go.
    pub blind_folder: Option<&'a Path>,
    /// Whether prompts may lie outside the folder of the suite.
    pub allow_external_files: bool,
    /// Whether a case without a readable prompt is compared all the same.
    pub allow_missing_prompts: bool,
    /// How much is read.
    pub limits: Limits,
}

/// What a judge gets and what stays behind.
#[derive(Debug)]
pub struct BlindComparisons<'a> {
    /// The tasks.
    pub tasks: Vec<ComparisonTask<'a>>,
    /// The key, row by row.
    pub key: Vec<KeyRow<'a>>,
    /// Digest of what was compared.
    pub design: String,
    /// Pairs that are not compared.
    pub left_out: Vec<CandidatePair<'a>>,
    /// What was not copied, and why.
    pub not_copied: Vec<String>,
    /// The copies, which have not got their name yet.
    pub folder: Option<AtomicFolder>,
}

/// Why there are no comparisons.
#[derive(Debug, thiserror::Error)]
pub enum BlindError {
    /// Cases that nobody could judge.
    #[error("no prompt for {}: give its file, or compare without with --allow-missing-prompts", .0.join(", "))]
    MissingPrompts(Vec<String>),
    /// An answer is there no more.
    #[error("{0}")]
    Answer(String),
    /// The copies cannot be written.
    #[error("cannot write {path}: {error}")]
    Write {
        /// Where.
        path: String,
        /// What the system says.
        error: io::Error,
    },
}

/// Makes the comparisons. The folder of copies has to be committed by the caller.
///
/// # Errors
/// A case without a prompt, an answer that cannot be read, a folder that cannot be written.
pub fn blind_comparisons<'a>(request: &BlindRequest<'a>) -> Result<BlindComparisons<'a>, BlindError> {
    let shown = || request.blind_folder.unwrap_or(request.runs).display().to_string();
    let cannot_write = |error: io::Error| BlindError::Write { path: shown(), error };
    let (pairs, left_out): (Vec<_>, Vec<_>) = candidate_pairs(request.rows, request.primary, request.baseline)
        .into_iter()
        .partition(|pair| pair.candidates.is_ok());
    let mut models: Vec<Option<&str>> = pairs.iter().map(|pair| pair.model).collect();
    models.sort_unstable();
    models.dedup();
    let design = digest_of(&json!({
        "suite_sha256": request.suite.digest, "runs_sha256": request.runs_sha256, "primary": request.primary,
        "baseline": request.baseline, "seed": request.seed, "orders": request.orders.word(),
    }));
    let mut made = BlindComparisons {
        tasks: Vec::new(),
        key: Vec::new(),
        design,
        left_out,
        not_copied: Vec::new(),
        folder: request.blind_folder.map(AtomicFolder::create).transpose().map_err(cannot_write)?,
    };
    let mut without_prompt: Vec<String> = Vec::new();
    let mut swapped = Vec::new();
    for pair in &pairs {
        let Ok([primary, baseline]) = pair.candidates else { continue };
        let case = request.suite.cases.iter().find(|case| case.id == pair.case_id);
        let prompt = case.and_then(|case| prompt_of(request.suite, case, request.allow_external_files));
        if prompt.is_none() && !without_prompt.iter().any(|id| id == pair.case_id) {
            without_prompt.push(pair.case_id.to_owned());
        }
        let told = Told {
            pair,
            case,
            prompt: prompt.map(|prompt| prompt.into_owned()),
            model: pair.model.filter(|_| models.len() > 1),
        };
        let id = comparison_id(pair.case_id, told.model, pair.repetition, request.primary, request.baseline);
        let first = first_side(request.seed, &id);
        let shown = Shown { id: id.clone(), pair_id: id.clone(), first };
        made.add(request, &told, [primary, baseline], shown)?;
        if request.orders == Orders::Both {
            let other = Shown { id: format!("{id}::swapped"), pair_id: id, first: first.other() };
            swapped.push((told, [primary, baseline], other));
        }
    }
    if !without_prompt.is_empty() && !request.allow_missing_prompts {
        return Err(BlindError::MissingPrompts(without_prompt));
    }
    // a judge who goes through the file meets no pair twice in a row
    for (told, candidates, shown) in swapped {
        made.add(request, &told, candidates, shown)?;
    }
    Ok(made)
}

/// What is known of a pair.
struct Told<'p, 'a> {
    pair: &'p CandidatePair<'a>,
    case: Option<&'a Case>,
    prompt: Option<String>,
    model: Option<&'a str>,
}

/// How a pair is shown.
struct Shown {
    id: String,
    pair_id: String,
    /// The side of answer A.
    first: Side,
}

impl<'a> BlindComparisons<'a> {
    fn add(
        &mut self,
        request: &BlindRequest<'a>,
        told: &Told<'_, 'a>,
        [primary, baseline]: [&'a SavedRow; 2],
        shown: Shown,
    ) -> Result<(), BlindError> {
        let Shown { id, pair_id, first } = shown;
        let rows = match first {
            Side::Primary => [(Side::Primary, primary), (Side::Baseline, baseline)],
            Side::Baseline => [(Side::Baseline, baseline), (Side::Primary, primary)],
        };
        let opaque = opaque_id(&id, &self.design);
        let [a, b] = [("A", rows[0].1), ("B", rows[1].1)].map(|(label, row)| self.answer(request, &opaque, label, row));
        let ((a_path, a_digest), (b_path, b_digest)) = (a?, b?);
        let candidate = |(role, row): (Side, &'a SavedRow)| Candidate {
            role,
            variant: &row.variant,
            run_number: row.repetition,
            run_dir: &row.run_dir,
        };
        let task = ComparisonTask {
            comparison_task_id: id.clone(),
            case_id: told.pair.case_id,
            model: told.model,
            run_number: told.pair.repetition,
            prompt: told.prompt.clone(),
            expectations: told.case.map(shared_labels).unwrap_or_default(),
            rubric: Rubric {
                expected_behavior: told.case.map_or(&[], |case| &case.expected_behavior),
                review_rubric: told.case.map_or(&[], |case| &case.review_rubric),
            },
            output_a_path: a_path.clone(),
            output_b_path: b_path.clone(),
            output_a_sha256: a_digest,
            output_b_sha256: b_digest,
            blind_nonce: nonce(&id, &self.design),
            comparison_design_sha256: self.design.clone(),
            answer_design_sha256: request.plan_sha256.clone(),
            result_schema: ComparisonTask::result_schema(),
            comparison_task_sha256: String::new(),
        }
        .sealed();
        let row = KeyRow {
            comparison_task_id: id,
            pair_id,
            case_id: told.pair.case_id,
            model: told.model,
            run_number: told.pair.repetition,
            a: candidate(rows[0]),
            b: candidate(rows[1]),
            candidate_paths: json!({"A": a_path, "B": b_path}),
            comparison_task_sha256: task.comparison_task_sha256.clone(),
            comparison_truth_sha256: String::new(),
        };
        self.key.push(row.sealed());
        self.tasks.push(task);
        Ok(())
    }

    /// Where an answer is found, and its digest.
    fn answer(
        &mut self,
        request: &BlindRequest<'_>,
        opaque: &str,
        label: &str,
        row: &SavedRow,
    ) -> Result<(String, String), BlindError> {
        let target = self.folder.as_ref().map(|folder| folder.path().join(opaque).join(label));
        let arms = [request.primary.to_lowercase(), request.baseline.to_lowercase()];
        let neutral = |part: &str| neutral_name(part, &arms);
        let read = read_answer(request.runs, &row.run_dir, target.as_deref(), &request.limits, &neutral);
        let CopiedAnswer { only_file, only_source, digest, not_copied, .. } = read.map_err(|error| match error {
            CopyError::Run(problem) => BlindError::Answer(format!("{}: {problem}", row.run_dir)),
            CopyError::Write(error) => {
                BlindError::Write { path: request.blind_folder.unwrap_or(request.runs).display().to_string(), error }
            }
        })?;
        self.not_copied.extend(not_copied);
        let path = match (request.blind_folder, only_file, only_source) {
            (Some(folder), Some(file), _) => join_shown(&shown_path(folder), &format!("{opaque}/{label}/{file}")),
            (Some(folder), None, _) => join_shown(&shown_path(folder), &format!("{opaque}/{label}")),
            (None, _, Some(source)) => join_shown(&shown_path(request.runs), &format!("{}/{source}", row.run_dir)),
            (None, _, None) => join_shown(&shown_path(request.runs), &row.run_dir),
        };
        Ok((path, digest))
    }
}

/// The labels of the checks that both answers can satisfy.
fn shared_labels(case: &Case) -> Vec<&str> {
    case.assertions
        .iter()
        .filter(|assertion| assertion.one_arm.is_none())
        .map(|assertion| assertion.label.as_str())
        .collect()
}

/// The name of the folder of a comparison.
fn opaque_id(id: &str, design: &str) -> String {
    let digest = ContentDigest::of(format!("folder\0{id}\0{design}").as_bytes()).to_string();
    format!("comparison-{}", &digest[..16])
}

/// A part of a path that names no arm.
fn neutral_name(part: &str, arms: &[String; 2]) -> String {
    let folded = part.to_lowercase();
    if !arms.iter().any(|arm| folded.contains(arm.as_str())) {
        return part.to_owned();
    }
    let extension = part.rsplit_once('.').map(|(_, extension)| extension).filter(|extension| !extension.contains('_'));
    let digest = ContentDigest::of(part.as_bytes()).to_string();
    let name = format!("file-{}", &digest[..8]);
    extension.map_or_else(|| name.clone(), |extension| format!("{name}.{extension}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_name_no_arm() {
        let arms = ["with_skill".to_owned(), "without_skill".to_owned()];
        assert_eq!(neutral_name("report.md", &arms), "report.md");
        let hidden = neutral_name("With_Skill-report.md", &arms);
        assert!(hidden.starts_with("file-") && hidden.ends_with(".md"), "{hidden}");
        assert!(!neutral_name("without_skill", &arms).contains("skill"));
    }
}
