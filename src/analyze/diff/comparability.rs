//! Whether two results may be compared: what has to be equal, and what of it is not.

use std::collections::BTreeSet;

use super::side::{RateRule, Side};
use crate::runs::Role;
use crate::runs::claims::{ChangeKind, ClaimForm, Comparison, Difference};

/// Options of the grading that change no rate.
const HARMLESS_OPTIONS: [&str; 14] = [
    "allow-external-files",
    "alpha",
    "dialect",
    "generated-at",
    "max-dir-entries",
    "max-evidence-chars",
    "max-suite-mib",
    "min-lift",
    "on-duplicate",
    "regrade",
    "split",
    "strict-contract",
    "strict-layout",
    "variant",
];

/// Options whose value differs with every run of the judge: only whether there is one matters.
const PRESENCE_MATTERS: &str = "judge-results";

/// What is not equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MismatchCode {
    /// The suites have other digests.
    Suite,
    /// Nothing says that the checks are the same.
    ChecksUnknown,
    /// The rates follow another rule.
    RateRule,
    /// Other models.
    Models,
    /// Other effort settings.
    Effort,
    /// Another agent.
    Agent,
    /// Verdicts of another grader model.
    GraderModel,
    /// Other runs were measured: answers, triggers.
    Population,
    /// The skill is compared with another arm.
    Control,
    /// An option of the grading that changes rates.
    Option,
}

impl MismatchCode {
    /// The code in reports.
    pub fn code(self) -> &'static str {
        match self {
            Self::Suite => "suite_sha256",
            Self::ChecksUnknown => "checks_unknown",
            Self::RateRule => "rate_rule",
            Self::Models => "models",
            Self::Effort => "effort",
            Self::Agent => "agent",
            Self::GraderModel => "grader_model",
            Self::Population => "population",
            Self::Control => "control",
            Self::Option => "option",
        }
    }
}

/// Something that has to be equal and is not, or of which one side says nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mismatch {
    /// What it is.
    pub code: MismatchCode,
    /// The option, for [`MismatchCode::Option`].
    pub option: Option<String>,
    /// In the earlier result.
    pub before: Option<String>,
    /// In the later result.
    pub after: Option<String>,
}

/// How it is known that the same was measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Basis {
    /// Both name the same digest of the suite.
    SameSuite,
    /// The prompts and the assertions of each compared case are the same.
    SamePromptsAndChecks,
    /// The assertions of each compared case are the same; of the prompts nothing is known.
    SameChecks,
    /// The names of the assertions of each compared case are the same; more is not known.
    SameCheckNames,
}

impl Basis {
    /// The code in reports.
    pub fn code(self) -> &'static str {
        match self {
            Self::SameSuite => "same_suite",
            Self::SamePromptsAndChecks => "same_prompts_and_checks",
            Self::SameChecks => "same_checks",
            Self::SameCheckNames => "same_check_names",
        }
    }
}

/// Whether two results may be compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Comparability {
    /// What is not equal; empty when the results are like for like.
    pub mismatches: Vec<Mismatch>,
    /// How it is known that the same was measured; `None` when it is not.
    pub basis: Option<Basis>,
    /// Whether the user says that the results may be compared all the same.
    pub assumed: bool,
    /// Cases that have another prompt or other checks than before: they are in no mean and no test.
    pub changed_cases: Vec<(String, ChangeKind)>,
    /// Stated differences that change no rate.
    pub others: Vec<Difference>,
}

impl Comparability {
    /// Whether nothing that has to be equal differs.
    pub fn is_like_for_like(&self) -> bool {
        self.mismatches.is_empty()
    }

    /// Whether a test may be made.
    pub fn allows_tests(&self) -> bool {
        self.assumed || self.is_like_for_like()
    }

    /// Judges two sides; the cells of `comparison` already say which cases changed.
    pub(super) fn of(old: &Side, new: &Side, comparison: &Comparison, assumed: bool) -> Self {
        let mut mismatches = Vec::new();
        let mut add = |code, option: Option<&str>, before: Option<String>, after: Option<String>| {
            mismatches.push(Mismatch { code, option: option.map(str::to_owned), before, after });
        };
        let owned = |text: Option<&str>| text.map(str::to_owned);
        let basis = basis(old, new, comparison);
        let suites = (old.block("suite_sha256"), new.block("suite_sha256"));
        match (suites, basis) {
            ((Some(before), Some(after)), _) if before != after => {
                add(MismatchCode::Suite, None, owned(Some(before)), owned(Some(after)));
            }
            (_, None) if comparison.cells.iter().any(|cell| cell.delta().is_some()) => {
                add(MismatchCode::ChecksUnknown, None, None, None);
            }
            _ => {}
        }
        if old.rate_rule != new.rate_rule {
            let code = |rule: RateRule| Some(rule.code().to_owned());
            add(MismatchCode::RateRule, None, code(old.rate_rule), code(new.rate_rule));
        }
        let lists =
            [(MismatchCode::Models, old.models(), new.models()), (MismatchCode::Effort, old.efforts(), new.efforts())];
        for (code, before, after) in lists.into_iter().filter(|(_, before, after)| before != after) {
            add(code, None, joined(&before), joined(&after));
        }
        for (code, key) in [
            (MismatchCode::Agent, "agent"),
            (MismatchCode::GraderModel, "grader_model"),
            (MismatchCode::Population, "population"),
        ] {
            // few files state these: what one of them leaves out is no difference
            if let (Some(before), Some(after)) = (old.block(key), new.block(key))
                && before != after
            {
                add(code, None, owned(Some(before)), owned(Some(after)));
            }
        }
        let controls = (comparison.lift_before.control, comparison.lift_after.control);
        if let (Some(before), Some(after)) = controls
            && before != after
        {
            let word = |role: Role| role.variant().map(str::to_owned);
            add(MismatchCode::Control, None, word(before), word(after));
        }
        let (mattering, others): (Vec<_>, Vec<_>) =
            comparison.differences.iter().cloned().partition(|difference| option_that_matters(difference).is_some());
        for difference in &mattering {
            let option = option_that_matters(difference);
            add(MismatchCode::Option, option, difference.before.clone(), difference.after.clone());
        }
        // what one side leaves out is no difference
        let stated = |difference: &Difference| difference.before.is_some() && difference.after.is_some();
        let named = |difference: &Difference| is_worth_naming(&difference.key, &mismatches);
        let others = others.into_iter().filter(|difference| stated(difference) && named(difference)).collect();
        Self { mismatches, basis, assumed, changed_cases: changed_cases(comparison), others }
    }
}

fn joined(names: &BTreeSet<&str>) -> Option<String> {
    (!names.is_empty()).then(|| names.iter().copied().collect::<Vec<_>>().join(", "))
}

fn option_that_matters(difference: &Difference) -> Option<&str> {
    let option = difference.key.strip_prefix("options.")?;
    let matters = match option {
        PRESENCE_MATTERS => difference.before.is_none() || difference.after.is_none(),
        _ => !HARMLESS_OPTIONS.contains(&option),
    };
    matters.then_some(option)
}

/// Whether a difference that changes no rate is named. What was measured always differs, and where it was read.
fn is_worth_naming(key: &str, mismatches: &[Mismatch]) -> bool {
    let is_named = |code: MismatchCode| mismatches.iter().any(|mismatch| mismatch.code == code);
    match key {
        "runs_sha256" | "manifest" => false,
        "suite_sha256" => !is_named(MismatchCode::Suite),
        "agent" => !is_named(MismatchCode::Agent),
        "grader_model" => !is_named(MismatchCode::GraderModel),
        "population" => !is_named(MismatchCode::Population),
        "models" | "model" | "executor_model" => !is_named(MismatchCode::Models),
        "dialect" => !is_named(MismatchCode::RateRule),
        _ => true,
    }
}

/// How it is known that the compared cells measure the same.
fn basis(old: &Side, new: &Side, comparison: &Comparison) -> Option<Basis> {
    if let (Some(before), Some(after)) = (old.block("suite_sha256"), new.block("suite_sha256")) {
        return (before == after).then_some(Basis::SameSuite);
    }
    let mut compared = comparison.cells.iter().filter(|cell| cell.delta().is_some()).peekable();
    compared.peek()?;
    // our reports name a check by its label: without the suite `a0` of one may be another check in the other
    let forms = [old, new].map(|side| side.claims.form);
    let has_texts = !forms.contains(&ClaimForm::OwnReport);
    let mut prompts_known = true;
    for cell in compared {
        let texts = (old.cases.get(&cell.case), new.cases.get(&cell.case));
        let both = |of: fn(&super::CaseText) -> bool| matches!(texts, (Some(a), Some(b)) if of(a) && of(b));
        let known = has_texts && cell.checks.are_listed() || both(|text| text.checks.is_some());
        if !known {
            return None;
        }
        prompts_known &= both(|text| text.prompt.is_some());
    }
    Some(match prompts_known {
        true => Basis::SamePromptsAndChecks,
        false if forms.contains(&ClaimForm::ReferenceReport) => Basis::SameCheckNames,
        false => Basis::SameChecks,
    })
}

fn changed_cases(comparison: &Comparison) -> Vec<(String, ChangeKind)> {
    let changed = comparison.cells.iter().filter(|cell| is_changed(cell.kind));
    let mut cases: Vec<_> = changed.map(|cell| (cell.case.clone(), cell.kind)).collect();
    cases.dedup_by(|a, b| a.0 == b.0);
    cases
}

/// Whether a cell measures something else than before.
pub(super) fn is_changed(kind: ChangeKind) -> bool {
    matches!(kind, ChangeKind::OtherChecks | ChangeKind::OtherPrompt)
}
