//! What a history of reports shows: the series of its figures, what changed from each report to the next, the checks
//! that fail again and again, and the cases that no longer tell anything.
//!
//! In: reports one after the other, the earliest first; only the last one is kept whole. Out: a [`Trend`].

mod failures;
mod looks;
mod step;

use skill_lift_stats::Thresholds;
use skill_lift_stats::multiplicity::holm;

pub use failures::{PruneCandidate, RecurringFailure};
pub use looks::{Look, Looks};
pub use step::{CaseDelta, Change, Compared, Means, Step, VariantDelta};

use crate::analyze::diff::Side;
use crate::analyze::table::WITH_SKILL;
use crate::runs::claims::{StatedDesign, StatedReport};
use failures::{ArmFailures, Saturation};
use step::Kept;

/// A report of a history.
#[derive(Debug)]
pub struct Report {
    /// Its rows with recomputed rates; labelled with the name of its file.
    pub side: Side,
    /// Its figures as they are written.
    pub stated: StatedReport,
    /// What it states of its design.
    pub design: StatedDesign,
}

/// The figures of one report.
#[derive(Debug)]
pub struct Point {
    /// The name of the file.
    pub label: String,
    /// Seconds since 1970, where the report is stamped.
    pub generated_at: Option<i64>,
    /// Headline rate with the skill.
    pub with_skill: Option<f64>,
    /// Headline rate without it.
    pub without_skill: Option<f64>,
    /// The headline lift.
    pub lift: Option<f64>,
    /// Flags that call a case saturated.
    pub saturated_cases: usize,
    /// Cases with an entry in the list of flags.
    pub flagged_cases: usize,
    /// Median of the tokens of each arm.
    pub median_total_tokens: Vec<(String, Option<serde_json::Number>)>,
    /// What the report concludes over its cases; a code.
    pub verdict: Option<String>,
    /// Digest of the suite, where the report names it.
    pub suite_sha256: Option<String>,
    /// Rows.
    pub rows: usize,
    /// Rows that have a rate.
    pub scored_rows: usize,
}

/// What a history shows.
#[derive(Debug)]
pub struct Trend {
    /// Error rate and smallest change that matters.
    pub thresholds: Thresholds,
    /// The skill, as the last report that names one names it.
    pub skill_name: Option<String>,
    /// The reports.
    pub points: Vec<Point>,
    /// From each report to the next.
    pub steps: Vec<Step>,
    /// What the reports say together, each case counted when it is first seen.
    pub looks: Looks,
    /// Checks that failed with the skill, by how many reports they failed in and how much that matters.
    pub recurring_failures: Vec<RecurringFailure>,
    /// Checks that failed without the skill.
    pub baseline_failures: Vec<RecurringFailure>,
    /// Cases that passed everything in both arms of two or more reports, and nothing less in any.
    pub prune_candidates: Vec<PruneCandidate>,
}

/// Takes the reports of a history, the earliest first.
#[derive(Debug)]
pub struct TrendBuilder {
    thresholds: Thresholds,
    skill_name: Option<String>,
    points: Vec<Point>,
    steps: Vec<Step>,
    looks: Looks,
    with_skill: ArmFailures,
    baseline: ArmFailures,
    saturation: Saturation,
    last: Option<Kept>,
}

impl TrendBuilder {
    /// A history without reports.
    pub fn new(thresholds: Thresholds) -> Self {
        Self {
            thresholds,
            skill_name: None,
            points: Vec::new(),
            steps: Vec::new(),
            looks: Looks::default(),
            with_skill: ArmFailures::default(),
            baseline: ArmFailures::default(),
            saturation: Saturation::default(),
            last: None,
        }
    }

    /// Adds the next report.
    pub fn push(&mut self, report: Report) {
        self.points.push(point(&report));
        self.looks.add(&report);
        if let Some(name) = &report.side.claims.skill_name {
            self.skill_name = Some(name.clone());
        }
        let baseline = failures::baseline_of(&report);
        self.with_skill.add(&report.stated, Some(WITH_SKILL));
        self.baseline.add(&report.stated, baseline);
        self.saturation.add(&report.stated, baseline);
        let next = Kept::of(report);
        if let Some(last) = &self.last {
            self.steps.push(Step::between(last, &next, &self.thresholds));
        }
        self.last = Some(next);
    }

    /// What the history shows. The tests of all steps are one family for each of the two questions.
    pub fn finish(mut self) -> Trend {
        adjust(&mut self.steps, |compared| &mut compared.with_skill);
        adjust(&mut self.steps, |compared| &mut compared.lift);
        Trend {
            thresholds: self.thresholds,
            skill_name: self.skill_name,
            recurring_failures: self.with_skill.ranked(),
            baseline_failures: self.baseline.ranked(),
            prune_candidates: self.saturation.candidates(),
            points: self.points,
            steps: self.steps,
            looks: self.looks,
        }
    }
}

fn point(report: &Report) -> Point {
    let Report { side, stated, .. } = report;
    let saturated = side.claims.flags.iter().filter(|flag| flag.flag.contains("saturated"));
    Point {
        label: side.label.clone(),
        generated_at: stated.generated_at,
        with_skill: stated.with_skill,
        without_skill: stated.without_skill,
        lift: stated.lift,
        saturated_cases: saturated.count(),
        flagged_cases: stated.flagged_cases,
        median_total_tokens: stated
            .arms
            .iter()
            .map(|arm| (arm.variant.clone(), arm.median_total_tokens.clone()))
            .collect(),
        verdict: stated.verdict.clone(),
        suite_sha256: side.block("suite_sha256").map(str::to_owned),
        rows: side.claims.rows.len(),
        scored_rows: side.scored(),
    }
}

/// Adjusts the p-values of one question over all steps (Holm 1979).
fn adjust(steps: &mut [Step], question: fn(&mut Compared) -> &mut Change) {
    let mut changes: Vec<&mut Change> =
        steps.iter_mut().filter_map(|step| step.compared.as_mut().ok()).map(question).collect();
    let p_values: Vec<Option<f64>> =
        changes.iter().map(|change| change.tested.as_ref().ok().map(|tested| tested.test.p_two_sided)).collect();
    for (change, adjusted) in changes.iter_mut().zip(holm(&p_values)) {
        change.p_holm = adjusted;
    }
}
