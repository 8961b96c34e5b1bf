//! The file of verdicts: JSON lines, an array, one object, or an object with `results`.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use skill_lift_contract::ContentDigest;
use skill_lift_text::python;

use super::rows::{RowsProblem, split_rows};
use super::spend::JudgeSpend;
use super::verdict::{self, Verdict, VerdictProblem};
use crate::json::{JsonError, Node};

/// Why a file of verdicts is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum JudgeResultsError {
    /// There is none.
    #[error("judge results file not found: {0}")]
    NotFound(String),
    /// The system says no.
    #[error("cannot read judge results {path}: {message}")]
    Unreadable {
        /// The file as the user typed it.
        path: String,
        /// What the system says.
        message: String,
    },
    /// More bytes than are read.
    #[error("judge results {path} is larger than {limit} bytes; raise --max-suite-mib to read it")]
    TooLarge {
        /// The file as the user typed it.
        path: String,
        /// The limit.
        limit: u64,
    },
    /// Bytes that are not UTF-8.
    #[error("judge results {path} is not valid UTF-8")]
    NotUtf8 {
        /// The file as the user typed it.
        path: String,
    },
    /// Not strict JSON.
    #[error("judge results line {line}: {error}")]
    Json {
        /// Line of the file, from 1.
        line: usize,
        /// What is wrong there.
        error: JsonError,
    },
    /// Something else than objects.
    #[error("judge results must contain only result objects")]
    NotObjects,
    /// One object that neither is a verdict nor holds some.
    #[error("judge results: the object has no judge_task_id, no id and no results")]
    NoResults,
    /// Two names for one row.
    #[error("judge results row {row}: conflicting judge_task_id and id")]
    ConflictingIds {
        /// Position of the row, from 1.
        row: usize,
    },
    /// A row without a name.
    #[error("judge results row {row}: missing non-empty judge_task_id")]
    MissingId {
        /// Position of the row, from 1.
        row: usize,
    },
    /// Two rows with one name.
    #[error("judge results duplicate id {} at rows {first} and {second}", python::repr_str(id))]
    Duplicate {
        /// The name.
        id: String,
        /// Position of the first row, from 1.
        first: usize,
        /// Position of the second row, from 1.
        second: usize,
    },
    /// A row that is no coherent verdict, or does not fit its assertion.
    #[error("judge results row {row} ({id}): {problem}")]
    Verdict {
        /// Position of the row, from 1.
        row: usize,
        /// Its name.
        id: String,
        /// What is wrong with it.
        problem: VerdictProblem,
    },
}

impl From<RowsProblem> for JudgeResultsError {
    fn from(problem: RowsProblem) -> Self {
        match problem {
            RowsProblem::Json { line, error } => Self::Json { line, error },
            RowsProblem::NotObjects => Self::NotObjects,
            RowsProblem::NoList => Self::NoResults,
        }
    }
}

/// A verdict as it stands in the file.
#[derive(Debug)]
pub struct StoredVerdict {
    /// What the judge said.
    pub verdict: Verdict,
    /// Why, in the judge's words.
    pub evidence: Option<String>,
    /// Whether the judging itself went wrong: then it is no verdict, and not a failed one.
    pub is_incomplete: bool,
    row: usize,
    met: AtomicBool,
}

/// The verdicts of a file, by task id.
#[derive(Debug, Default)]
pub struct Verdicts {
    by_id: HashMap<String, StoredVerdict>,
    spend: JudgeSpend,
    digest: Option<ContentDigest>,
}

impl Verdicts {
    /// Reads a file of at most `limit` bytes.
    ///
    /// # Errors
    /// A file that cannot be read, is not strict JSON, or holds a row that is no coherent verdict.
    pub fn load(path: &Path, limit: u64) -> Result<Self, JudgeResultsError> {
        let shown = || path.display().to_string();
        let unreadable = |error: io::Error| match error.kind() {
            io::ErrorKind::NotFound => JudgeResultsError::NotFound(shown()),
            _ => {
                // the system's words without the number that Rust appends
                let text = error.to_string();
                let message = text.split(" (os error").next().unwrap_or_default().to_lowercase();
                JudgeResultsError::Unreadable { path: shown(), message }
            }
        };
        let mut bytes = Vec::new();
        File::open(path)
            .map_err(unreadable)?
            .take(limit.saturating_add(1))
            .read_to_end(&mut bytes)
            .map_err(unreadable)?;
        if bytes.len() as u64 > limit {
            return Err(JudgeResultsError::TooLarge { path: shown(), limit });
        }
        let text = std::str::from_utf8(&bytes).map_err(|_| JudgeResultsError::NotUtf8 { path: shown() })?;
        let (by_id, spend) = read_rows(text)?;
        Ok(Self { by_id, spend, digest: Some(ContentDigest::of(&bytes)) })
    }

    /// The verdict for a task. From then on it counts as matched.
    pub fn find(&self, task_id: &str) -> Option<&StoredVerdict> {
        let found = self.by_id.get(task_id)?;
        found.met.store(true, Ordering::Relaxed);
        Some(found)
    }

    /// What they cost.
    pub fn spend(&self) -> &JudgeSpend {
        &self.spend
    }

    /// Number of verdicts.
    pub fn len(&self) -> usize {
        self.by_id.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.by_id.is_empty()
    }

    /// Digest of the file: `sha256:` and 64 hexadecimal digits; `None` when no file was given.
    pub fn digest(&self) -> Option<String> {
        self.digest.map(|digest| format!("sha256:{digest}"))
    }

    /// Ids that no judgement of the graded runs has, in the order of the file.
    pub fn unmatched(&self) -> Vec<&str> {
        self.in_order(|stored| !stored.met.load(Ordering::Relaxed))
    }

    /// Ids of matched rows whose judging went wrong, in the order of the file.
    pub fn incomplete(&self) -> Vec<&str> {
        self.in_order(|stored| stored.is_incomplete && stored.met.load(Ordering::Relaxed))
    }

    fn in_order(&self, keep: impl Fn(&StoredVerdict) -> bool) -> Vec<&str> {
        let mut kept: Vec<_> = self.by_id.iter().filter(|(_, stored)| keep(stored)).collect();
        kept.sort_by_key(|(_, stored)| stored.row);
        kept.into_iter().map(|(id, _)| id.as_str()).collect()
    }
}

impl StoredVerdict {
    /// What is wrong with the row of this verdict.
    pub fn problem(&self, id: &str, problem: VerdictProblem) -> JudgeResultsError {
        JudgeResultsError::Verdict { row: self.row, id: id.to_owned(), problem }
    }
}

fn read_rows(text: &str) -> Result<(HashMap<String, StoredVerdict>, JudgeSpend), JudgeResultsError> {
    let rows = split_rows(text, &["judge_task_id", "id"], &["results"])?;
    let mut by_id: HashMap<String, StoredVerdict> = HashMap::with_capacity(rows.len());
    let mut spend = JudgeSpend::default();
    for (index, node) in rows.iter().enumerate() {
        let row = index + 1;
        let id = row_id(node, row)?;
        if let Some(earlier) = by_id.get(id) {
            return Err(JudgeResultsError::Duplicate { id: id.to_owned(), first: earlier.row, second: row });
        }
        let verdict =
            verdict::read(node).map_err(|problem| JudgeResultsError::Verdict { row, id: id.to_owned(), problem })?;
        let stored = StoredVerdict {
            verdict,
            evidence: evidence(node),
            is_incomplete: is_incomplete(node),
            row,
            met: AtomicBool::new(false),
        };
        by_id.insert(id.to_owned(), stored);
        spend.add(node);
    }
    Ok((by_id, spend))
}

fn row_id<'n>(node: &'n Node<'_>, row: usize) -> Result<&'n str, JudgeResultsError> {
    let given = |key| node.get(key).filter(|node| !node.is_null());
    let (primary, legacy) = (given("judge_task_id"), given("id"));
    if let (Some(primary), Some(legacy)) = (primary, legacy)
        && primary.python_str() != legacy.python_str()
    {
        return Err(JudgeResultsError::ConflictingIds { row });
    }
    primary
        .or(legacy)
        .and_then(Node::as_str)
        .filter(|id| !python::strip(id).is_empty())
        .ok_or(JudgeResultsError::MissingId { row })
}

/// The judge's words; a text that is null does not hide the next one.
fn evidence(node: &Node<'_>) -> Option<String> {
    ["evidence", "rationale", "reasoning"]
        .into_iter()
        .filter_map(|key| node.get(key))
        .find(|value| !value.is_null())
        .map(Node::python_str)
}

/// Whether the row says that the judge did not come to a verdict: it crashed, its reply was unusable, or the judges of
/// a panel were split evenly.
fn is_incomplete(node: &Node<'_>) -> bool {
    let other_than = |key: &str, word: &str| node.get(key).and_then(Node::as_str).is_some_and(|value| value != word);
    let truthy = |key: &str| node.get(key).is_some_and(Node::is_truthy);
    let unresolved = node.get("agreement").and_then(|agreement| agreement.get("unresolved"));
    other_than("availability", "complete")
        || other_than("invocation_state", "complete")
        || ["returncode", "verdict_validation_error", "incomplete_judge_members"].into_iter().any(truthy)
        || unresolved.and_then(Node::as_bool) == Some(true)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// The verdicts of a text.
    pub fn verdicts(text: &str) -> Verdicts {
        let (by_id, spend) = read_rows(text).unwrap();
        Verdicts { by_id, spend, digest: None }
    }

    fn ids(text: &str) -> Result<Vec<String>, String> {
        let (by_id, spend) = read_rows(text).map_err(|error| error.to_string())?;
        let verdicts = Verdicts { by_id, spend, digest: None };
        Ok(verdicts.unmatched().into_iter().map(str::to_owned).collect())
    }

    fn problem(text: &str) -> String {
        ids(text).unwrap_err()
    }

    #[test]
    fn four_forms_and_the_empty_file() {
        let two = Ok(vec!["b".to_owned(), "a".to_owned()]);
        assert_eq!(ids("{\"id\":\"b\",\"passed\":true}\n\n{\"judge_task_id\":\"a\",\"passed\":true}\n"), two);
        assert_eq!(ids("\u{feff}[{\"id\":\"b\",\"passed\":true},\n {\"id\":\"a\",\"passed\":true}]"), two);
        assert_eq!(ids(r#"{"results":[{"id":"b","passed":true},{"id":"a","passed":true}]}"#), two);
        assert_eq!(ids("{\n  \"id\": \"b\",\n  \"passed\": false\n}\n"), Ok(vec!["b".to_owned()]));
        assert_eq!(ids("\u{feff} \n"), Ok(Vec::new()));
    }

    #[test]
    fn what_is_no_list_of_verdicts() {
        assert_eq!(problem("[1]"), "judge results must contain only result objects");
        assert_eq!(problem("1\n2\n"), "judge results must contain only result objects");
        assert_eq!(problem("{\"results\":{}}"), "judge results must contain only result objects");
        assert_eq!(
            problem("{\"passed\":true}"),
            "judge results: the object has no judge_task_id, no id and no results"
        );
        let broken = "{\"id\":\"a\",\"passed\":true}\nnot json\n";
        assert!(problem(broken).starts_with("judge results line 2: invalid JSON"), "{}", problem(broken));
        assert!(problem("not json").starts_with("judge results line 1: invalid JSON"));
        assert!(problem("{\n \"id\": \"a\",\n \"passed\": tru\n}").starts_with("judge results line 3: "));
        assert!(problem("{\"id\":\"a\",\"id\":\"b\",\"passed\":true}").contains("duplicate key `id`"));
        assert!(problem("{\"id\":\"a\",\"score\":NaN,\"threshold\":1}").contains("not finite"));
    }

    #[test]
    fn ids_are_given_once() {
        assert_eq!(
            problem(r#"[{"id":"a","judge_task_id":"b","passed":true}]"#),
            "judge results row 1: conflicting judge_task_id and id"
        );
        assert_eq!(problem(r#"[{"id":" ","passed":true}]"#), "judge results row 1: missing non-empty judge_task_id");
        assert_eq!(problem(r#"[{"id":5,"passed":true}]"#), "judge results row 1: missing non-empty judge_task_id");
        assert_eq!(ids(r#"[{"judge_task_id":null,"id":"a","passed":true}]"#), Ok(vec!["a".to_owned()]));
        assert_eq!(
            problem(r#"[{"id":"a","passed":true},{"id":"it's","passed":true},{"id":"it's","passed":1}]"#),
            "judge results duplicate id \"it's\" at rows 2 and 3"
        );
        assert_eq!(problem(r#"[{"id":"a","passed":1}]"#), "judge results row 1 (a): passed must be a boolean");
    }

    #[test]
    fn evidence_is_the_first_text_that_is_there() {
        let of = |text: &str| read_rows(text).unwrap().0.remove("a").unwrap().evidence;
        assert_eq!(of(r#"{"id":"a","passed":true,"rationale":"r","reasoning":"x"}"#), Some("r".to_owned()));
        assert_eq!(of(r#"{"id":"a","passed":true,"evidence":null,"reasoning":"x"}"#), Some("x".to_owned()));
        assert_eq!(of(r#"{"id":"a","passed":true}"#), None);
    }

    #[test]
    fn a_judge_that_went_wrong_gives_no_verdict() {
        let of = |fields: &str| {
            let text = format!(r#"{{"id":"a","passed":false{fields}}}"#);
            read_rows(&text).unwrap().0.remove("a").unwrap().is_incomplete
        };
        assert!(!of(""));
        assert!(!of(r#","returncode":0,"availability":"complete","agreement":{"unresolved":false}"#));
        for fields in [
            r#","returncode":1"#,
            r#","availability":"partial""#,
            r#","verdict_validation_error":"x""#,
            r#","invocation_state":"timed_out""#,
            r#","incomplete_judge_members":[{"member":"m","reason":"r"}]"#,
            r#","agreement":{"concur":1,"n":2,"unresolved":true}"#,
        ] {
            assert!(of(fields), "{fields}");
        }
    }

    #[test]
    fn a_verdict_is_matched_by_its_id() {
        let (by_id, spend) =
            read_rows(r#"[{"id":"a","passed":true},{"id":"b","passed":true,"returncode":2}]"#).unwrap();
        let verdicts = Verdicts { by_id, spend, digest: None };
        assert!(verdicts.find("c").is_none());
        assert_eq!(verdicts.unmatched(), ["a", "b"]);
        assert!(verdicts.find("b").is_some_and(|stored| stored.is_incomplete));
        assert_eq!((verdicts.unmatched(), verdicts.incomplete()), (vec!["a"], vec!["b"]));
    }
}
