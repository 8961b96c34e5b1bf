//! Reading the key of blind comparisons and what judges preferred.

use std::collections::HashMap;

use skill_lift_text::python;

use super::{Label, Side, Winner};
use crate::json::{self, Node};
use crate::judge::rows::{RowsProblem, split_rows};

/// Why a key or a file of results is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ComparisonError {
    /// Bytes that are not UTF-8.
    #[error("not valid UTF-8")]
    NotUtf8,
    /// Not strict JSON.
    #[error("{0}")]
    Json(json::JsonError),
    /// No list of rows.
    #[error("{0}")]
    Rows(#[from] RowsProblem),
    /// No key.
    #[error("has no `tasks`: a key is what compare-tasks writes with --truth-out")]
    NotAKey,
    /// A row of the key that cannot be used.
    #[error("/tasks/{row}: {problem}")]
    KeyRow {
        /// Position of the row, from 0.
        row: usize,
        /// What is wrong with it.
        problem: String,
    },
    /// A result that cannot be used.
    #[error("result {row}: {problem}")]
    Result {
        /// Position of the row, from 1.
        row: usize,
        /// What is wrong with it.
        problem: String,
    },
}

/// One comparison of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ComparisonKey {
    /// Its id.
    pub id: String,
    /// The same for both orders of one pair.
    pub pair_id: String,
    /// Its case.
    pub case_id: String,
    /// The side of answer A; B is the other one.
    pub a: Side,
}

impl ComparisonKey {
    /// The side of an answer.
    pub fn side(&self, label: Label) -> Side {
        match label {
            Label::A => self.a,
            Label::B => self.a.other(),
        }
    }
}

/// Reads a key, ours or one of the reference package.
///
/// # Errors
/// What is no key, names a comparison twice, or does not say which arm is which.
pub fn read_key(bytes: &[u8]) -> Result<Vec<ComparisonKey>, ComparisonError> {
    let text = std::str::from_utf8(bytes).map_err(|_| ComparisonError::NotUtf8)?;
    let root = json::parse(text, json::Limits::SIDECAR).map_err(ComparisonError::Json)?;
    let rows = root.get("tasks").and_then(Node::items).ok_or(ComparisonError::NotAKey)?;
    let mut seen: HashMap<&str, usize> = HashMap::new();
    let mut key = Vec::with_capacity(rows.len());
    for (row, node) in rows.iter().enumerate() {
        let refuse = |problem: String| ComparisonError::KeyRow { row, problem };
        let text = |name: &str| node.get(name).and_then(Node::as_str).filter(|text| !text.trim().is_empty());
        let id = text("comparison_task_id").ok_or_else(|| refuse("missing comparison_task_id".to_owned()))?;
        if let Some(first) = seen.insert(id, row) {
            return Err(refuse(format!("names the same comparison as /tasks/{first}: {id}")));
        }
        let side = |label: &str| {
            let role = node.get(label).and_then(|side| side.get("role")?.as_str()).and_then(Side::from_word);
            role.ok_or_else(|| refuse(format!("`{label}` has no role `primary` or `baseline`")))
        };
        let (a, b) = (side("A")?, side("B")?);
        if a == b {
            return Err(refuse(format!("A and B are both {}", a.word())));
        }
        key.push(ComparisonKey {
            id: id.to_owned(),
            pair_id: text("pair_id").unwrap_or(id).to_owned(),
            case_id: text("case_id").unwrap_or_else(|| case_of(id)).to_owned(),
            a,
        });
    }
    Ok(key)
}

/// The case in the id of a comparison, for keys that do not name it.
fn case_of(id: &str) -> &str {
    let before = id.rsplit_once("::blind-").map_or(id, |(before, _)| before);
    before.rsplit_once("::run-").map_or(before, |(case, _)| case)
}

/// A preference as it stands in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnsweredRow {
    /// What it is about: the id of a comparison, else that of an eval.
    pub id: String,
    /// What was written, without space around it, in upper case.
    pub written: String,
    /// Who won, if that can be told.
    pub winner: Option<Winner>,
    /// Why, in the judge's words.
    pub reasoning: String,
}

/// Totals that a file states beside its rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ReportedTotals {
    /// Wins of A.
    pub a_wins: Option<u64>,
    /// Wins of B.
    pub b_wins: Option<u64>,
    /// Ties.
    pub ties: Option<u64>,
}

/// What a file of results says.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Results {
    /// Its rows.
    pub rows: Vec<AnsweredRow>,
    /// What it states of them.
    pub totals: ReportedTotals,
    /// Scores that are no whole numbers from 1 to 10, with the row that has them.
    pub odd_scores: Vec<String>,
}

/// Keys of an id, the first that is there counts.
const ID_KEYS: [&str; 3] = ["comparison_task_id", "id", "eval_id"];

/// Reads results: JSON lines, an array, one object, `{"results": […]}`, or the report of a comparator of the forge
/// pipeline, `{"comparisons": […], "overall": {…}}`.
///
/// # Errors
/// What is no list of results, a result without an id, two results for one comparison.
pub fn read_results(bytes: &[u8]) -> Result<Results, ComparisonError> {
    let text = std::str::from_utf8(bytes).map_err(|_| ComparisonError::NotUtf8)?;
    let rows = split_rows(text, &ID_KEYS, &["results", "comparisons"])?;
    let mut results = Results { totals: totals(text), ..Results::default() };
    let mut seen: HashMap<String, usize> = HashMap::new();
    for (index, node) in rows.iter().enumerate() {
        let row = index + 1;
        let refuse = |problem: String| ComparisonError::Result { row, problem };
        let written = |key: &str| node.get(key).filter(|value| !value.is_null());
        let of_id = |key: &str| match written(key) {
            Some(value) if key == "eval_id" && value.as_number().is_some() => Some(value.python_str()),
            Some(value) => value.as_str().map(|text| python::strip(text).to_owned()).filter(|text| !text.is_empty()),
            None => None,
        };
        let ids: Vec<String> = ID_KEYS[..2].iter().filter_map(|key| of_id(key)).collect();
        if let [first, second] = ids.as_slice()
            && first != second
        {
            return Err(refuse("conflicting comparison_task_id and id".to_owned()));
        }
        let id = ids.into_iter().next().or_else(|| of_id(ID_KEYS[2]));
        let id = id.ok_or_else(|| refuse("missing comparison_task_id".to_owned()))?;
        if let Some(first) = seen.insert(id.clone(), row) {
            return Err(refuse(format!("the same comparison as result {first}: {id}; keep one of them")));
        }
        let winner = written("winner").or_else(|| written("preference"));
        let winner = winner.map(Node::python_str).unwrap_or_default();
        results.odd_scores.extend(odd_scores(node).map(|score| format!("{id}: {score}")));
        results.rows.push(AnsweredRow {
            id,
            written: python::strip(&winner).to_uppercase(),
            winner: Winner::of(&winner),
            reasoning: written("reasoning").or_else(|| written("rationale")).map(Node::python_str).unwrap_or_default(),
        });
    }
    Ok(results)
}

fn totals(text: &str) -> ReportedTotals {
    let Ok(root) = json::parse(text, json::Limits::SIDECAR) else { return ReportedTotals::default() };
    let count = |key: &str| {
        let number = root.get("overall")?.get(key)?.as_number()?.as_i64()?;
        u64::try_from(number).ok()
    };
    ReportedTotals { a_wins: count("a_wins"), b_wins: count("b_wins"), ties: count("ties") }
}

/// Scores of a comparator that are none.
fn odd_scores<'n>(node: &'n Node<'_>) -> impl Iterator<Item = String> + 'n {
    let of_label = |label: &'static str| {
        let scores = node.get("scores").and_then(|scores| scores.get(label)).and_then(Node::members);
        scores.into_iter().flatten().map(move |member| (label, member))
    };
    of_label("A").chain(of_label("B")).filter_map(|(label, member)| {
        let score = member.value.as_number().and_then(|number| number.as_i64());
        let is_score = score.is_some_and(|score| (1..=10).contains(&score));
        (!is_score).then(|| format!("{} of {label} is no whole number from 1 to 10", member.key))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_says_which_arm_is_which() {
        let key = br#"{"generated_at": 1, "tasks": [
            {"comparison_task_id": "c::run-2::blind-with_skill-vs-without_skill",
             "A": {"role": "baseline", "variant": "without_skill", "run_number": 2},
             "B": {"role": "primary", "variant": "with_skill", "run_number": 2}}]}"#;
        let read = read_key(key).unwrap();
        assert_eq!(
            (read[0].case_id.as_str(), read[0].side(Label::A), read[0].side(Label::B)),
            ("c", Side::Baseline, Side::Primary)
        );
        assert_eq!(read_key(b"{}").unwrap_err(), ComparisonError::NotAKey);
        let both = br#"{"tasks": [{"comparison_task_id": "x", "A": {"role": "primary"}, "B": {"role": "primary"}}]}"#;
        assert_eq!(read_key(both).unwrap_err().to_string(), "/tasks/0: A and B are both primary");
    }

    #[test]
    fn results_come_in_every_form() {
        let lines = b"{\"comparison_task_id\": \"x\", \"winner\": \"tie \"}\n{\"id\": \"y\", \"winner\": \"b\", \"reasoning\": \"r\"}\n";
        let array = br#"[{"id": "x", "winner": "TIE"}, {"id": "y", "winner": "B", "reasoning": "r"}]"#;
        let object = br#"{"results": [{"id": "x", "winner": "TIE"}, {"id": "y", "winner": "B", "reasoning": "r"}]}"#;
        let expected = read_results(array).unwrap();
        assert_eq!(expected.rows[1].winner, Some(Winner::Label(Label::B)));
        for text in [lines.as_slice(), object] {
            assert_eq!(read_results(text).unwrap(), expected);
        }
        let twice = read_results(br#"[{"id": "x", "winner": "A"}, {"id": "x", "winner": "A"}]"#).unwrap_err();
        assert_eq!(twice.to_string(), "result 2: the same comparison as result 1: x; keep one of them");
    }

    #[test]
    fn the_report_of_a_comparator_is_held_against_its_rows() {
        let report = br#"{"comparisons": [{"eval_id": 3, "preference": "Tie", "scores": {"A": {"quality": 11}}}],
                          "overall": {"a_wins": 1, "b_wins": 0, "ties": 0}}"#;
        let read = read_results(report).unwrap();
        assert_eq!((read.rows[0].id.as_str(), read.rows[0].winner), ("3", Some(Winner::Tie)));
        assert_eq!(read.totals, ReportedTotals { a_wins: Some(1), b_wins: Some(0), ties: Some(0) });
        assert_eq!(read.odd_scores, ["3: quality of A is no whole number from 1 to 10"]);
    }
}
