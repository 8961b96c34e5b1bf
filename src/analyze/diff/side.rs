//! One of the two results that are compared, whatever it was read from.

use std::collections::{BTreeMap, BTreeSet};

use crate::runs::Role;
use crate::runs::claims::{ClaimForm, Claims};
use crate::suite::Dialect;

/// What the rows of a side are read from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SideOrigin {
    /// A result file.
    File(ClaimForm),
    /// The stored verdicts of a workspace.
    Workspace(Dialect),
    /// A run tree that was graded.
    Tree(Dialect),
}

impl SideOrigin {
    /// The word in reports.
    pub fn kind(self) -> &'static str {
        match self {
            Self::File(_) => "file",
            Self::Workspace(_) => "workspace",
            Self::Tree(_) => "tree",
        }
    }

    /// The form of the file, or the dialect.
    pub fn format(self) -> &'static str {
        match self {
            Self::File(form) => form.word(),
            Self::Workspace(dialect) | Self::Tree(dialect) => dialect.name(),
        }
    }
}

/// What a pass rate is the rate of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RateRule {
    /// Gates and critical checks without a judge; a failed critical check makes it 0.
    Objective,
    /// Assertions that have a verdict.
    Verdicts,
    /// All assertions; one without a verdict has failed.
    OmittedFails,
}

impl RateRule {
    /// The code in reports.
    pub fn code(self) -> &'static str {
        match self {
            Self::Objective => "objective_checks",
            Self::Verdicts => "verdicts",
            Self::OmittedFails => "omitted_fails",
        }
    }

    /// The rule of a dialect.
    pub fn of_dialect(dialect: Dialect) -> Self {
        match dialect {
            Dialect::SharedBenchmark => Self::Objective,
            Dialect::SkillEval => Self::OmittedFails,
            Dialect::SkillForge | Dialect::SkillCreator => Self::Verdicts,
        }
    }

    /// The rule of a result file; reports of this program name the dialect.
    pub fn of_file(claims: &Claims) -> Self {
        let named = |dialect: Dialect| claims.blocks.get("dialect").is_some_and(|name| name == dialect.name());
        match claims.form {
            ClaimForm::OwnReport | ClaimForm::GradedRuns => {
                let dialects = [Dialect::SkillEval, Dialect::SkillForge, Dialect::SkillCreator];
                dialects.into_iter().find(|dialect| named(*dialect)).map_or(Self::Objective, Self::of_dialect)
            }
            ClaimForm::ReferenceReport => Self::Objective,
            ClaimForm::SkillEval => Self::OmittedFails,
            _ => Self::Verdicts,
        }
    }
}

/// What is known of the task and the checks of a case beside its rows; digests.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CaseText {
    /// Of the prompt.
    pub prompt: Option<String>,
    /// Of the assertions as their author wrote them.
    pub checks: Option<String>,
}

/// Why the flags of a side are not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FlagsUnknown {
    /// The file has no flags.
    NotInFile,
}

impl FlagsUnknown {
    /// The code in reports.
    pub fn code(self) -> &'static str {
        match self {
            Self::NotInFile => "no_flags_in_file",
        }
    }
}

/// One of the two results.
#[derive(Debug)]
pub struct Side {
    /// The path as the user typed it.
    pub label: String,
    /// What its rows are read from.
    pub origin: SideOrigin,
    /// What its rates are rates of.
    pub rate_rule: RateRule,
    /// Its rows, flags and conditions.
    pub claims: Claims,
    /// What is known of its cases.
    pub cases: BTreeMap<String, CaseText>,
}

impl Side {
    /// A side that was read from a file.
    pub fn of_file(label: String, claims: Claims) -> Self {
        let (origin, rate_rule) = (SideOrigin::File(claims.form), RateRule::of_file(&claims));
        Self { label, origin, rate_rule, claims, cases: BTreeMap::new() }
    }

    /// The models: those of the rows, else the one that the file states for all of them.
    pub fn models(&self) -> BTreeSet<&str> {
        let of_rows: BTreeSet<&str> = self.claims.rows.iter().filter_map(|row| row.model.as_deref()).collect();
        if !of_rows.is_empty() {
            return of_rows;
        }
        ["executor_model", "model"].into_iter().find_map(|key| self.block(key)).into_iter().collect()
    }

    /// The effort settings of the rows with and without the skill.
    pub fn efforts(&self) -> BTreeSet<&str> {
        let compared = self.claims.rows.iter().filter(|row| row.configuration.role != Role::Other);
        compared.filter_map(|row| row.effort.as_deref()).collect()
    }

    /// A condition that the side states.
    pub fn block(&self, key: &str) -> Option<&str> {
        self.claims.blocks.get(key).map(String::as_str)
    }

    /// Whether the flags of its cases are known.
    pub fn flags(&self) -> Result<(), FlagsUnknown> {
        match self.claims.form {
            ClaimForm::OwnReport | ClaimForm::ReferenceReport | ClaimForm::GradedRuns => Ok(()),
            _ => Err(FlagsUnknown::NotInFile),
        }
    }

    /// Its cases by id.
    pub fn case_ids(&self) -> BTreeSet<&str> {
        self.claims.rows.iter().map(|row| row.case.id.as_str()).collect()
    }

    /// Rows that have a rate.
    pub fn scored(&self) -> usize {
        self.claims.rows.iter().filter(|row| row.rate.is_scored()).count()
    }
}
