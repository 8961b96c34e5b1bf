//! The suite as every part of the program sees it, whatever dialect it was written in.

use std::path::PathBuf;

use super::check::Check;
use super::one_arm::OneArm;
pub use super::words::{AssertionType, EvalIntent, OracleTier, Severity, Split, TypeGroup};
use crate::json::{Node, Span};

/// The formats that suites are written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// `evals/shared-benchmark.json`, version 1 or 2.
    SharedBenchmark,
    /// `evals/<skill>/evals.json` of the executor/grader runner.
    SkillEval,
    /// Eval sets and iterations of the forge pipeline.
    SkillForge,
    /// `evals/evals.json` and workspaces of the public skill creator, with everything that real files make of them.
    SkillCreator,
}

impl Dialect {
    /// The name used on the command line and in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::SharedBenchmark => "shared-benchmark",
            Self::SkillEval => "skill-eval",
            Self::SkillForge => "skill-forge",
            Self::SkillCreator => "skill-creator",
        }
    }
}

/// A validated suite: dataset rows are expanded, every check is compiled.
#[derive(Debug)]
pub struct Suite {
    /// The format of the file.
    pub dialect: Dialect,
    /// The file as the user typed it.
    pub path: PathBuf,
    /// Absolute real path of the folder of the file; fixtures and references are relative to it.
    pub directory: PathBuf,
    /// Absolute real path of the repository root; skill paths are relative to it.
    pub repository_root: PathBuf,
    /// Absolute real path of the folder that programs of the suite are run in.
    pub program_directory: PathBuf,
    /// Format version, in dialects that have one: 1 or 2.
    pub version: Option<u8>,
    /// How the cases stand in the file: the key of their list, `array`, or `single object`.
    pub container: &'static str,
    /// Name of the skill under test.
    pub skill_name: String,
    /// Files or folders of the skill, relative to the repository root.
    pub skill_paths: Vec<String>,
    /// Arms in the order of the file; the default pair when the file names none.
    pub variants: Vec<String>,
    /// Cases in the order of the file, templates expanded.
    pub cases: Vec<Case>,
    /// Altered copies of the skill that the suite declares, in the order of the file.
    pub ablations: Vec<Ablation>,
    /// How many assertions the suite declares for all of its cases; each case holds them as its own.
    pub common_assertions: usize,
    /// The weights and the threshold that the suite declares; nothing is scored by them unless a report says so.
    pub scoring: Option<Scoring>,
    /// Digest of the suite with the files it refers to: `sha256:` and 64 hexadecimal digits.
    pub digest: String,
}

impl Suite {
    /// The suite that a tree of runs implies: its cases, without a file of its own.
    pub fn of_tree(dialect: Dialect, skill_name: String, directory: PathBuf, cases: Vec<Case>) -> Self {
        Self {
            dialect,
            path: directory.clone(),
            repository_root: directory.clone(),
            program_directory: directory.clone(),
            directory,
            version: None,
            container: "tree",
            skill_name,
            skill_paths: Vec::new(),
            variants: Vec::new(),
            cases,
            ablations: Vec::new(),
            common_assertions: 0,
            scoring: None,
            digest: String::new(),
        }
    }

    /// The cases of a split; all of them without one.
    pub fn cases_of(&self, split: Option<Split>) -> impl Iterator<Item = &Case> {
        self.cases.iter().filter(move |case| split.is_none_or(|split| case.split == split))
    }
}

/// One task with its checks.
#[derive(Debug)]
pub struct Case {
    /// Unique name; also the name of its folder in a run tree. May hold single inner slashes.
    pub id: String,
    /// Name for people, if it has one beside its id.
    pub name: Option<String>,
    /// Which part of the suite it belongs to.
    pub split: Split,
    /// Free label; `trigger` cases are not answered and not graded.
    pub kind: String,
    /// Slice label.
    pub domain: Option<String>,
    /// Slice label.
    pub difficulty: Option<String>,
    /// Slice label.
    pub trigger_type: Option<String>,
    /// Slice labels that may overlap.
    pub success_goals: Vec<String>,
    /// Free tags.
    pub tags: Vec<String>,
    /// Whether the case measures a capability or guards against a regression.
    pub eval_intent: EvalIntent,
    /// Cases of one family are one unit of inference.
    pub family: Option<String>,
    /// Dataset that the case was expanded from.
    pub dataset: Option<String>,
    /// The prompt, if it stands in the suite file.
    pub prompt: Option<String>,
    /// File of the prompt, relative to the suite's folder.
    pub prompt_ref: Option<String>,
    /// Input files of the task, relative to the suite's folder.
    pub files: Vec<String>,
    /// Scripted turns; empty for single-turn cases.
    pub turns: Vec<Turn>,
    /// Checks of the final answer, in the order of the file.
    pub assertions: Vec<Assertion>,
    /// What a good answer does (for judges).
    pub expected_behavior: Vec<String>,
    /// What a reviewer looks at (for judges).
    pub review_rubric: Vec<String>,
    /// What the author expects, in prose: for people and judges, never graded by itself.
    pub expected_output: Option<String>,
    /// Whether the prompt should make the agent load the skill, if the case says so.
    pub should_trigger: Option<bool>,
    /// Score of a known-good answer in 0..=1, below which a soft score is reported; already clamped.
    pub reference_floor: Option<f64>,
    /// Where the case stands in the file (for expanded rows: its template).
    pub span: Span,
}

impl Case {
    /// A case of which nothing is known but its id.
    pub fn named(id: String) -> Self {
        Self {
            id,
            name: None,
            split: Split::Tune,
            kind: "behavior".to_owned(),
            domain: None,
            difficulty: None,
            trigger_type: None,
            success_goals: Vec::new(),
            tags: Vec::new(),
            eval_intent: EvalIntent::Capability,
            family: None,
            dataset: None,
            prompt: None,
            prompt_ref: None,
            files: Vec::new(),
            turns: Vec::new(),
            assertions: Vec::new(),
            expected_behavior: Vec::new(),
            review_rubric: Vec::new(),
            expected_output: None,
            should_trigger: None,
            reference_floor: None,
            span: Span::default(),
        }
    }

    /// Whether the case measures discovery of the skill and has no answer to grade.
    pub fn is_trigger(&self) -> bool {
        self.kind == "trigger"
    }

    /// Whether nothing says what a good answer is: such a case neither passes nor fails.
    pub fn is_ungraded(&self) -> bool {
        !self.is_trigger() && self.assertions.is_empty() && self.turns.iter().all(|turn| turn.assertions.is_empty())
    }
}

/// One turn of a scripted conversation.
#[derive(Debug)]
pub struct Turn {
    /// What the user says.
    pub prompt: String,
    /// Checks of the answer to this turn.
    pub assertions: Vec<Assertion>,
}

/// What an author wrote about one check.
#[derive(Debug)]
pub struct Assertion {
    /// The type as spelt in the file.
    pub assertion_type: AssertionType,
    /// The id that the author gave it, in dialects where assertions have one.
    pub id: Option<String>,
    /// What the author wrote in prose, in dialects where assertions are prose; stored verdicts repeat it.
    pub text: Option<String>,
    /// Its share in a weighted rate, where the dialect has weights.
    pub weight: Option<f64>,
    /// `name`, else `description`, else the type; for presets after their expansion.
    pub label: String,
    /// Severity as declared or derived; `--strict` is applied when grading.
    pub severity: Severity,
    /// How strong the evidence of a pass is; a label only.
    pub oracle: OracleTier,
    /// The arms it applies to.
    pub variants: VariantFilter,
    /// Labels of assertions of the same case that must hold first.
    pub depends_on: Vec<String>,
    /// Smallest score that passes, for scored checks.
    pub at_least: Option<f64>,
    /// Why only one arm of the lift can satisfy it, if that is so. `inference` leaves such assertions out of the lift.
    pub one_arm: Option<OneArm>,
    /// Whether a check that the lift compares waits for it: without it that check is left out.
    pub is_awaited: bool,
    /// What is computed.
    pub check: Check,
    /// Where it stands in the file (for expanded rows: in the template).
    pub span: Span,
    /// Whether it stands in the case or is one of those that the suite declares for all cases.
    pub origin: Origin,
    /// What the author called its kind, where that is not its type: `semantic`, `llm`, `check:<kind>`; `must_not` for an
    /// entry of a list of what must not be.
    pub original_type: Option<String>,
    /// The assertion as it stands in the file, in dialects that leave its shape open.
    pub source: Option<Node<'static>>,
}

/// Where an assertion is declared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// In the case.
    Case,
    /// For all cases; also when the case repeats it.
    Common,
}

/// What it takes to decide an assertion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum AssertionClass {
    /// The answer, the files and the measurements of a run.
    Deterministic,
    /// A judge.
    Judge,
    /// A judge who gives scores; never part of a pass rate.
    Score,
    /// A program of the suite.
    Script,
    /// A record of what the agent did.
    Trace,
    /// Nothing: the author retired it.
    Retired,
}

impl AssertionClass {
    /// The word in reports.
    pub fn word(self) -> &'static str {
        match self {
            Self::Deterministic => "deterministic",
            Self::Judge => "judge",
            Self::Score => "score",
            Self::Script => "script",
            Self::Trace => "trace",
            Self::Retired => "retired",
        }
    }
}

/// Keys of the texts that a record of verdicts may repeat of an assertion.
const WORDING_KEYS: [&str; 9] =
    ["text", "name", "description", "check", "criterion", "pass_if", "expectation", "requirement", "dimension"];

impl Assertion {
    /// Every text of its author that a record of verdicts may repeat, in dialects that leave its shape open.
    pub fn wordings(&self) -> impl Iterator<Item = &str> {
        let texts = |source| WORDING_KEYS.into_iter().filter_map(move |key| Node::get(source, key)?.as_str());
        let whole = self.source.as_ref().and_then(Node::as_str);
        whole.into_iter().chain(self.source.as_ref().into_iter().flat_map(texts))
    }

    /// What it takes to decide it.
    pub fn class(&self) -> AssertionClass {
        match (&self.check, self.assertion_type.group()) {
            (Check::Judgement { assertion }, _) if assertion.get("graded_dimensions").is_some_and(Node::is_truthy) => {
                AssertionClass::Score
            }
            (Check::Judgement { .. }, _) => AssertionClass::Judge,
            (Check::Script { .. }, _) => AssertionClass::Script,
            (Check::Retired { .. }, _) => AssertionClass::Retired,
            (_, TypeGroup::Process) => AssertionClass::Trace,
            _ => AssertionClass::Deterministic,
        }
    }
}

/// How a suite weighs the assertions of all cases against those of a case.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scoring {
    /// Weight of the assertions that the suite declares for all cases.
    pub common_weight: Option<f64>,
    /// Weight of the case's own assertions.
    pub own_weight: Option<f64>,
    /// Smallest score that passes, in 0..=1.
    pub pass_threshold: Option<f64>,
}

/// The arms that an assertion applies to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct VariantFilter {
    /// If given, only these.
    pub only: Option<Vec<String>>,
    /// Never these.
    pub except: Vec<String>,
}

impl VariantFilter {
    /// Whether the assertion applies to an arm.
    pub fn includes(&self, variant: &str) -> bool {
        self.only.as_ref().is_none_or(|only| only.iter().any(|name| name == variant))
            && !self.except.iter().any(|name| name == variant)
    }
}

/// An altered copy of the skill that the suite declares.
#[derive(Debug)]
pub struct Ablation {
    /// Its id; the arm is `ablation:<id>`.
    pub id: String,
}
