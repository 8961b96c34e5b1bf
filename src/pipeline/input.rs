//! What the user named: a suite with the folder of its runs, or a workspace that says itself what its cases are.

use std::collections::HashSet;
use std::path::Path;

use super::workspace::{TreeCases, cases_of_tree};
use crate::analyze::Analysis;
use crate::analyze::benchmark_file::CheckedBenchmark;
use crate::analyze::missingness::PlanOfSuite;
use crate::analyze::table::Baseline;
use crate::grade::stored::StoredTree;
use crate::runs::workspace::{Workspace, WorkspaceOptions};
use crate::runs::{LayoutError, Plan};
use crate::suite::{Dialect, Split, Suite};

/// What is graded.
pub enum Input {
    /// A suite, and a tree in which its cases and arms are folders.
    Runs(Suite),
    /// A workspace of another tool, with the suite that was named beside it or that it implies.
    Workspace {
        /// The tree.
        workspace: Box<Workspace>,
        /// Its suite.
        suite: Suite,
        /// Whether the tree implies the suite.
        implied: bool,
    },
}

impl Input {
    /// The folder that the paths of runs are relative to; `named` is the one that the user named.
    pub fn runs_root<'a>(&'a self, named: &'a Path) -> &'a Path {
        match self {
            Self::Runs(_) => named,
            Self::Workspace { workspace, .. } => workspace.root(),
        }
    }

    /// The suite, named or implied.
    pub fn suite(&self) -> &Suite {
        match self {
            Self::Runs(suite) | Self::Workspace { suite, .. } => suite,
        }
    }

    /// A plan, held against the suite.
    pub fn held_against(&self, plan: Plan) -> PlanOfSuite {
        PlanOfSuite { same_suite: self.has_suite_file().then(|| plan.suite_sha256 == self.suite().digest), plan }
    }

    /// What the skill's arm is compared with: an earlier version of the skill only in a workspace without any other
    /// baseline.
    pub fn baseline(&self, variants: &[String]) -> Baseline {
        let has = |baseline: Baseline| variants.iter().any(|variant| variant == baseline.variant());
        match self {
            Self::Workspace { .. } if !has(Baseline::WithoutSkill) && has(Baseline::OldSkill) => Baseline::OldSkill,
            Self::Workspace { .. } | Self::Runs(_) => Baseline::WithoutSkill,
        }
    }

    /// The benchmark file of a workspace, held against its verdicts. `split` is the part of the suite that was analysed.
    pub fn check_benchmark(
        &self,
        analysis: &Analysis,
        stored: &StoredTree,
        split: Option<Split>,
    ) -> Option<CheckedBenchmark> {
        let Self::Workspace { workspace, suite, implied } = self else { return None };
        let (file, claims) = workspace.benchmark_file()?;
        let cases = workspace_cases(workspace, suite, *implied, split);
        let mut names: Vec<Vec<String>> = cases.cases.iter().map(|case| vec![case.id.clone()]).collect();
        for (eval, case) in workspace.evals.iter().zip(&cases.case_of_eval) {
            if let Some(names) = case.and_then(|case| names.get_mut(case)) {
                let metadata = eval.metadata.as_ref().and_then(|metadata| metadata.name.clone());
                names.extend(eval.eval_id.iter().cloned().chain([eval.name.clone()]).chain(metadata));
            }
        }
        // the file is about all of the evals
        let is_whole = cases.case_of_eval.iter().all(Option::is_some);
        let lift = analysis.inference.overall.test.estimate.as_ref().filter(|_| is_whole);
        Some(CheckedBenchmark::of(file, claims, &analysis.table, &names, lift, &stored.texts))
    }

    /// Ids of the trigger cases that have no rows: nothing but the loading of the skill is asked of them. In a workspace
    /// they may have verdicts all the same.
    pub fn skipped_trigger_cases(&self, split: Option<Split>) -> Vec<String> {
        let measured: HashSet<&str> = match self {
            Self::Workspace { workspace, suite, implied } if workspace.has_verdicts() => {
                let cases = workspace_cases(workspace, suite, *implied, split);
                let positions = cases.case_of_eval.iter().flatten();
                positions.map(|position| cases.cases[*position].id.as_str()).collect()
            }
            Self::Workspace { .. } | Self::Runs(_) => HashSet::new(),
        };
        let triggers = self.suite().cases_of(split).filter(|case| case.is_trigger());
        triggers.map(|case| case.id.clone()).filter(|id| !measured.contains(id.as_str())).collect()
    }

    /// Whether a file of the suite was read.
    pub fn has_suite_file(&self) -> bool {
        !matches!(self, Self::Workspace { implied: true, .. })
    }

    /// A workspace alone.
    ///
    /// # Errors
    /// Those of [`Workspace::open`].
    pub fn of_workspace(path: &Path, options: WorkspaceOptions) -> Result<Self, Vec<LayoutError>> {
        let workspace = Workspace::open(path, options)?;
        let suite = implied_suite(&workspace);
        Ok(Self::Workspace { workspace: Box::new(workspace), suite, implied: true })
    }

    /// A suite with the folder of its runs, which may be a workspace.
    ///
    /// # Errors
    /// Those of [`Workspace::open`].
    pub fn of_suite(suite: Suite, runs: &Path, options: WorkspaceOptions) -> Result<Self, Vec<LayoutError>> {
        if suite.dialect == Dialect::SharedBenchmark || !Workspace::is_one(runs) {
            return Ok(Self::Runs(suite));
        }
        Ok(Self::Workspace { workspace: Box::new(Workspace::open(runs, options)?), suite, implied: false })
    }
}

/// The cases of a workspace with the evals that are theirs: those of the suite that was named, else one for each eval.
pub fn workspace_cases<'a>(
    workspace: &Workspace,
    suite: &'a Suite,
    implied: bool,
    split: Option<Split>,
) -> TreeCases<'a> {
    match implied {
        true => TreeCases::of_tree(&suite.cases),
        false => TreeCases::of_suite(workspace, suite.cases_of(split).collect()),
    }
}

fn implied_suite(workspace: &Workspace) -> Suite {
    let directory = workspace.root().canonicalize().unwrap_or_else(|_| workspace.root().to_owned());
    let name = workspace.skill_name.clone().unwrap_or_else(|| skill_name(&directory));
    Suite::of_tree(workspace.kind.into(), name, directory, cases_of_tree(workspace))
}

/// The name of the skill as the folders of a workspace have it: `<skill>-workspace/iteration-<n>`.
pub fn skill_name(directory: &Path) -> String {
    let plain = ["workspace", "evals", "results", "runs", "eval-workspace"];
    let names = directory.ancestors().filter_map(Path::file_name).map(|name| name.to_string_lossy().into_owned());
    let mut names = names.filter(|name| !name.starts_with("iteration-") && !plain.contains(&name.as_str()));
    let name = names.next().unwrap_or_else(|| "unnamed".to_owned());
    name.strip_suffix("-workspace").map(str::to_owned).unwrap_or(name)
}
