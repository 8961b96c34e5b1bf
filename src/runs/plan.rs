//! The plan of an experiment: which runs were to be made. `prepare` and the runners write it as `answer-design.json`
//! before the first run, so that a run that is not there is known to be missing.

use std::collections::HashSet;
use std::path::Path;

use skill_lift_contract::ContentDigest;

use super::named_file::{NamedFileProblem, read_named, read_unlinked};
use crate::json::{Item, JsonError, JsonErrorKind, Limits, Tape};
use crate::suite::canonical_json_sha256;

/// Name of the file in the folder of the runs.
pub const FILE_NAME: &str = "answer-design.json";

/// Version of the format.
const SCHEMA_VERSION: f64 = 2.0;

/// What the digest of a plan covers.
const DIGESTED: [&str; 4] = ["schema_version", "population", "eval_contract_sha256", "identities"];

/// What may be said of a planned run.
const IDENTITY_KEYS: [&str; 10] = [
    "case_id",
    "model",
    "variant",
    "run_number",
    "run_dir",
    "task_sha256",
    "case_input_sha256",
    "instruction_sha256",
    "planned_skill_tree_hash",
    "fixture_tree_hash",
];

/// A run that was to be made.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct PlannedRun {
    /// Its case.
    pub case_id: String,
    /// The model that was asked for, if one was.
    pub model: Option<String>,
    /// Its arm.
    pub variant: String,
    /// Number of the repetition.
    pub repetition: u32,
    /// Its directory below the runs root.
    pub run_dir: String,
}

/// A plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// The runs, as the file lists them.
    pub runs: Vec<PlannedRun>,
    /// Digest of the plan.
    pub design_sha256: String,
    /// Digest of the suite that it was made for.
    pub suite_sha256: String,
}

/// Why a file is no plan.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// It cannot be read.
    #[error("{0}")]
    File(#[from] NamedFileProblem),
    /// It is larger than the limit.
    #[error("{0}; raise --max-suite-mib to read it")]
    TooLarge(NamedFileProblem),
    /// It is not strict JSON.
    #[error("{0}")]
    Json(JsonError),
    /// It is JSON of another form.
    #[error("{place}: {problem}")]
    Form {
        /// The place in the file.
        place: String,
        /// What is wrong there.
        problem: String,
    },
    /// Somebody changed it after it was made.
    #[error("$.design_sha256: the contents have the digest {found}: the plan was changed after it was made")]
    Changed {
        /// The digest of the contents.
        found: String,
    },
}

fn form(place: impl Into<String>, problem: impl Into<String>) -> PlanError {
    PlanError::Form { place: place.into(), problem: problem.into() }
}

impl Plan {
    /// Reads a file that the user named; `limit` bytes at most.
    ///
    /// # Errors
    /// A file that cannot be read, or that is no plan.
    pub fn load(path: &Path, limit: u64) -> Result<(Self, ContentDigest), PlanError> {
        Self::parse(read_named(path, limit))
    }

    /// Reads the plan that lies in the folder of the runs; `None` when there is none. A link is no plan.
    ///
    /// # Errors
    /// As [`Plan::load`].
    pub fn of_tree(root: &Path, limit: u64) -> Option<Result<(Self, ContentDigest), PlanError>> {
        match read_unlinked(&root.join(FILE_NAME), limit) {
            Err(NamedFileProblem::Missing) => None,
            contents => Some(Self::parse(contents)),
        }
    }

    fn parse(contents: Result<Vec<u8>, NamedFileProblem>) -> Result<(Self, ContentDigest), PlanError> {
        let bytes = contents.map_err(|problem| match problem {
            NamedFileProblem::TooLarge(_) => PlanError::TooLarge(problem),
            problem => PlanError::File(problem),
        })?;
        let text = std::str::from_utf8(&bytes).map_err(|_| form("$", JsonErrorKind::NotUtf8.to_string()))?;
        let tape = Tape::read(text, Limits::SUITE).map_err(PlanError::Json)?;
        Ok((Self::read(tape.root())?, ContentDigest::of(&bytes)))
    }

    fn read(root: Item<'_, '_>) -> Result<Self, PlanError> {
        if !root.is_object() {
            return Err(form("$", "a plan is an object"));
        }
        if root.get("schema_version").and_then(Item::as_number).map(|version| version.as_f64()) != Some(SCHEMA_VERSION)
        {
            return Err(form("$.schema_version", "this version reads version 2 of the format"));
        }
        if root.get("population").and_then(Item::as_str).as_deref() != Some("answer") {
            return Err(form("$.population", "only plans of the population \"answer\" are compared with runs"));
        }
        let digest = |key: &str| {
            let digest = root.get(key).and_then(Item::as_str).filter(|digest| is_digest(digest));
            let digest = digest.map(|digest| digest.into_owned());
            digest.ok_or_else(|| form(format!("$.{key}"), "must be `sha256:` with 64 hexadecimal digits"))
        };
        let (design_sha256, suite_sha256) = (digest("design_sha256")?, digest("eval_contract_sha256")?);
        let identities = root.get("identities").and_then(Item::items);
        let identities = identities.ok_or_else(|| form("$.identities", "must be a list"))?;
        let runs =
            identities.enumerate().map(|(index, item)| PlannedRun::read(item, &format!("$.identities[{index}]")));
        let runs: Vec<PlannedRun> = runs.collect::<Result<_, _>>()?;
        refuse_duplicates(&runs)?;
        let members = DIGESTED.into_iter().filter_map(|key| Some((key, root.get(key)?)));
        let found = canonical_json_sha256(members);
        if found != design_sha256 {
            return Err(PlanError::Changed { found });
        }
        Ok(Self { runs, design_sha256, suite_sha256 })
    }
}

fn is_digest(text: &str) -> bool {
    let digits = text.strip_prefix("sha256:").unwrap_or_default();
    digits.len() == 64 && digits.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'a'..=b'f'))
}

impl PlannedRun {
    fn read(item: Item<'_, '_>, place: &str) -> Result<Self, PlanError> {
        let members = item.members().ok_or_else(|| form(place, "must be an object"))?;
        for (key, _) in members {
            let key = key.as_str().unwrap_or_default();
            if !IDENTITY_KEYS.contains(&&*key) {
                return Err(form(place, format!("unknown key {key:?}")));
            }
        }
        let text = |key: &str| {
            let text =
                item.get(key).and_then(Item::as_str).filter(|text| !text.is_empty()).map(|text| text.into_owned());
            text.ok_or_else(|| form(format!("{place}.{key}"), "must be a string that is not empty"))
        };
        let (case_id, variant) = (text("case_id")?, text("variant")?);
        let model = match item.get("model") {
            None => None,
            Some(model) if model.is_null() => None,
            Some(_) => Some(text("model")?),
        };
        let number = item.get("run_number").and_then(Item::as_number).and_then(|number| number.as_i64());
        let repetition = number.and_then(|number| u32::try_from(number).ok()).filter(|number| *number > 0);
        let repetition =
            repetition.ok_or_else(|| form(format!("{place}.run_number"), "must be a whole number from 1 on"))?;
        let run_dir = text("run_dir")?.trim_start_matches("./").trim_end_matches('/').to_owned();
        Ok(Self { case_id, model, variant, repetition, run_dir })
    }
}

/// Refuses a plan in which two entries are the same run, or share a directory.
fn refuse_duplicates(runs: &[PlannedRun]) -> Result<(), PlanError> {
    let (mut keys, mut directories) = (HashSet::new(), HashSet::new());
    for (index, run) in runs.iter().enumerate() {
        let place = format!("$.identities[{index}]");
        if !keys.insert((&run.case_id, &run.model, &run.variant, run.repetition)) {
            return Err(form(place, "this run is planned twice"));
        }
        if !directories.insert(&run.run_dir) {
            return Err(form(place, format!("two runs share the directory {:?}", run.run_dir)));
        }
    }
    Ok(())
}

#[cfg(test)]
pub(crate) mod testing {
    //! Plans from texts.

    use super::*;

    /// The text of a plan with these entries and a right digest.
    pub(crate) fn plan_text(identities: &str) -> String {
        let suite = format!("sha256:{}", "0".repeat(64));
        let body = format!(
            r#""schema_version":2,"population":"answer","eval_contract_sha256":"{suite}","identities":[{identities}]"#
        );
        let text = format!("{{{body}}}");
        let tape = Tape::read(&text, Limits::SUITE).unwrap();
        let members = DIGESTED.into_iter().map(|key| (key, tape.root().get(key).unwrap()));
        let digest = canonical_json_sha256(members);
        format!(r#"{{{body},"design_sha256":"{digest}"}}"#)
    }

    /// Reads a plan as if the text were the file.
    pub(crate) fn plan(text: &str) -> Result<Plan, PlanError> {
        Plan::parse(Ok(text.as_bytes().to_vec())).map(|(plan, _)| plan)
    }
}

#[cfg(test)]
mod tests {
    use super::testing::{plan, plan_text};
    use super::*;

    const RUN: &str = r#"{"case_id":"c","model":null,"variant":"with_skill","run_number":1,"run_dir":"c/with_skill"}"#;

    fn problem(identities: &str) -> String {
        plan(&plan_text(identities)).unwrap_err().to_string()
    }

    #[test]
    fn a_plan_lists_runs() {
        let second = r#"{"case_id":"c","model":"m","variant":"without_skill","run_number":12,
            "run_dir":"./c/m/without_skill/run-12/","task_sha256":"sha256:1","case_input_sha256":"sha256:2",
            "instruction_sha256":"sha256:3","planned_skill_tree_hash":null,"fixture_tree_hash":"4"}"#;
        let plan = plan(&plan_text(&format!("{RUN},{second}"))).unwrap();
        let run = |model: Option<&str>, variant: &str, repetition, run_dir: &str| PlannedRun {
            case_id: "c".to_owned(),
            model: model.map(str::to_owned),
            variant: variant.to_owned(),
            repetition,
            run_dir: run_dir.to_owned(),
        };
        let expected = [
            run(None, "with_skill", 1, "c/with_skill"),
            run(Some("m"), "without_skill", 12, "c/m/without_skill/run-12"),
        ];
        assert_eq!(plan.runs, expected);
        assert_eq!(plan.suite_sha256, format!("sha256:{}", "0".repeat(64)));
    }

    #[test]
    fn the_digest_is_that_of_the_canonical_form() {
        // python3: json.dumps(fields, sort_keys=True, separators=(",", ":"), ensure_ascii=False), then SHA-256
        let text = plan_text(r#"{"case_id":"ü","variant":"a","run_number":1,"run_dir":"ü/a"}"#);
        assert_eq!(
            plan(&text).unwrap().design_sha256,
            "sha256:dffac46e4e7d9c494cc198e47c61ff6735d01c57fa57b6ea801ace77c2fd470e"
        );
        let changed = text.replace("\"run_number\":1", "\"run_number\":2");
        let problem = plan(&changed).unwrap_err().to_string();
        assert!(problem.ends_with("the plan was changed after it was made"), "{problem}");
    }

    #[test]
    fn entries_that_are_no_runs_are_refused_by_place() {
        let with = |from: &str, to: &str| problem(&format!("{RUN},{}", RUN.replace(from, to)));
        let place = "$.identities[1]";
        let text = "must be a string that is not empty";
        assert_eq!(with(r#""c","#, r#""","#), format!("{place}.case_id: {text}"));
        assert_eq!(with("null", "7"), format!("{place}.model: {text}"));
        assert_eq!(with(r#""variant":"with_skill","#, ""), format!("{place}.variant: {text}"));
        assert_eq!(with(r#""c/with_skill""#, "null"), format!("{place}.run_dir: {text}"));
        for number in ["0", "-1", "1.5", "true", "\"1\"", "4294967296"] {
            let problem = with(r#""run_number":1"#, &format!(r#""run_number":{number}"#));
            assert_eq!(problem, format!("{place}.run_number: must be a whole number from 1 on"), "{number}");
        }
        assert_eq!(with(r#""model""#, r#""modell""#), format!("{place}: unknown key \"modell\""));
        assert_eq!(problem("7"), "$.identities[0]: must be an object");
        assert_eq!(with("c/with", "d/with"), format!("{place}: this run is planned twice"));
        let problem = with(r#""run_number":1"#, r#""run_number":2"#);
        assert_eq!(problem, format!("{place}: two runs share the directory \"c/with_skill\""));
    }

    #[test]
    fn files_of_other_forms_are_refused_by_place() {
        let whole = plan_text(RUN);
        let problem = |text: &str| plan(text).unwrap_err().to_string();
        let with = |from: &str, to: &str| problem(&whole.replace(from, to));
        assert_eq!(problem("[]"), "$: a plan is an object");
        assert!(with(r#""schema_version":2"#, r#""schema_version":1"#).starts_with("$.schema_version: "));
        assert!(with(r#""answer""#, r#""trigger""#).starts_with("$.population: "));
        assert!(with(r#""sha256:00"#, r#""sha256:G0"#).starts_with("$.eval_contract_sha256: must be"));
        assert!(with("design_sha256", "design").starts_with("$.design_sha256: must be"));
        assert_eq!(problem(&plan_text("").replace("[]", "{}")), "$.identities: must be a list");
        assert_eq!(problem(r#"{"schema_version":2,"schema_version":2}"#), "duplicate key `schema_version` at $");
        assert!(problem("{").starts_with("invalid JSON"));
        assert!(problem(&format!("{}{}", "[".repeat(200), "]".repeat(200))).starts_with("nested deeper than 100"));
        let bytes = Plan::parse(Ok(vec![0xff])).unwrap_err().to_string();
        assert_eq!(bytes, "$: not valid UTF-8");
    }

    #[test]
    fn a_plan_in_a_tree_is_a_file_of_that_tree() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("runs");
        std::fs::create_dir(&root).unwrap();
        assert_eq!(Plan::of_tree(&root, 1 << 20), None);
        let text = plan_text(RUN);
        let outside = folder.path().join("plan.json");
        std::fs::write(&outside, &text).unwrap();
        std::os::unix::fs::symlink(&outside, root.join(FILE_NAME)).unwrap();
        let refused = Plan::of_tree(&root, 1 << 20).unwrap().unwrap_err();
        assert_eq!(refused.to_string(), "a link, which is not followed");
        // the user may name a link
        assert!(Plan::load(&root.join(FILE_NAME), 1 << 20).is_ok());
        std::fs::remove_file(root.join(FILE_NAME)).unwrap();
        std::fs::write(root.join(FILE_NAME), &text).unwrap();
        let (plan, digest) = Plan::of_tree(&root, 1 << 20).unwrap().unwrap();
        assert_eq!((plan.runs.len(), digest), (1, ContentDigest::of(text.as_bytes())));
        let too_large = Plan::of_tree(&root, 10).unwrap().unwrap_err().to_string();
        assert!(too_large.ends_with("raise --max-suite-mib to read it"), "{too_large}");
        std::fs::remove_file(root.join(FILE_NAME)).unwrap();
        std::fs::create_dir(root.join(FILE_NAME)).unwrap();
        assert_eq!(Plan::of_tree(&root, 10).unwrap().unwrap_err().to_string(), "not a regular file");
    }
}
