//! Exact means of the rows of a file: by arm, and as pairs of arms by case.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use num_traits::Signed;
use skill_lift_stats::rational::{self, Rational};

use super::comparison::RunCounts;
use super::form::ClaimForm;
use super::model::{ClaimedAggregate, ClaimedRate, ClaimedRun, Claims, NotScored, half_step};
use super::note::{NoteCode, Notes};
use crate::runs::{Configuration, Role, control_among};

/// Decimal places that a stated mean is held to: tools compute means from rates that they rounded.
const MEAN_DECIMALS: u32 = 2;

/// Labels that are kept of one arm: two are one too many.
const KEPT_LABELS: usize = 2;

/// The rows of one configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArmTotals {
    /// The arm.
    pub configuration: Configuration,
    /// Rows.
    pub rows: usize,
    /// Rows that have a rate.
    pub scored: usize,
    /// Assertions that passed in scored rows that count them.
    pub passed: u64,
    /// Assertions that were graded in those rows.
    pub total: u64,
}

/// The arms of a file by their written names, in the order in which they occur.
pub fn arms(claims: &Claims) -> Vec<ArmTotals> {
    let mut places: HashMap<&str, usize> = HashMap::new();
    let mut arms: Vec<ArmTotals> = Vec::new();
    for row in &claims.rows {
        let at = *places.entry(&row.configuration.written).or_insert_with(|| {
            let configuration = (*row.configuration).clone();
            arms.push(ArmTotals { configuration, rows: 0, scored: 0, passed: 0, total: 0 });
            arms.len() - 1
        });
        let arm = &mut arms[at];
        arm.rows += 1;
        arm.scored += usize::from(row.rate.is_scored());
        if let ClaimedRate::Counts { passed, total } | ClaimedRate::Vetoed { passed, total } = row.rate {
            arm.passed = arm.passed.saturating_add(passed);
            arm.total = arm.total.saturating_add(total);
        }
    }
    arms
}

/// The means of one case and model, both arms scored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CasePair {
    /// The case.
    pub case: String,
    /// The model.
    pub model: Option<String>,
    /// Mean over the scored repetitions with the skill.
    pub with: Rational,
    /// Mean over the scored repetitions without it.
    pub without: Rational,
    /// Whether both arms were graded on as many assertions; otherwise the pair is in no mean.
    pub comparable: bool,
    /// How far rounded rates may lie from the true ones, both arms together.
    pub rounding: Rational,
}

impl CasePair {
    /// With minus without.
    pub fn delta(&self) -> Rational {
        &self.with - &self.without
    }
}

/// Why a case is in no pair.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BlockedWhy {
    /// No row of the arm with the skill.
    MissingWithSkill,
    /// No row of the arm without it.
    MissingWithoutSkill,
    /// An arm has rows and no rate.
    UnscorableArm(Vec<NotScored>),
    /// An arm has rows with several labels, which are several versions of the skill.
    SeveralLabels,
}

impl BlockedWhy {
    /// The code in reports.
    pub fn code(&self) -> &'static str {
        match self {
            Self::MissingWithSkill => "missing_with_skill",
            Self::MissingWithoutSkill => "missing_without_skill",
            Self::UnscorableArm(_) => "unscorable_arm",
            Self::SeveralLabels => "several_labels",
        }
    }
}

/// A case and model that has rows and is in no pair.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockedCase {
    /// The case.
    pub case: String,
    /// The model.
    pub model: Option<String>,
    /// Why.
    pub why: BlockedWhy,
}

/// The lift that the rows of a file give.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimedLift {
    /// What the skill is compared with.
    pub control: Option<Role>,
    /// Pairs in the order of the file.
    pub pairs: Vec<CasePair>,
    /// Cases without a pair in the order of the file.
    pub blocked: Vec<BlockedCase>,
    /// Mean rate with the skill, over repetitions, then models, then cases of comparable pairs.
    pub with: Option<Rational>,
    /// Mean rate without the skill, likewise.
    pub without: Option<Rational>,
    /// Cases in these means.
    pub cases: usize,
}

impl ClaimedLift {
    /// With minus without.
    pub fn lift(&self) -> Option<Rational> {
        Some(self.with.as_ref()? - self.without.as_ref()?)
    }

    /// How far the lift may lie from the true one because rates were rounded.
    pub fn rounding(&self) -> Rational {
        let comparable = self.pairs.iter().filter(|pair| pair.comparable);
        comparable.map(|pair| pair.rounding.clone()).max().unwrap_or_default()
    }
}

/// Rows of one arm of a case and model.
#[derive(Debug, Default)]
pub(super) struct Arm<'c> {
    rows: usize,
    rates: Vec<Rational>,
    rounding: Rational,
    counted: u64,
    assertions: u64,
    reasons: Vec<&'c NotScored>,
    labels: Vec<Option<&'c str>>,
}

/// Reasons that are kept of one arm.
const KEPT_REASONS: usize = 8;

impl<'c> Arm<'c> {
    /// Counts a row and takes its rate.
    pub(super) fn add(&mut self, row: &'c ClaimedRun) {
        self.note(row);
        if let Some(rate) = row.rate.value() {
            self.rates.push(rate);
            self.rounding = row.rate.rounding().max(std::mem::take(&mut self.rounding));
        }
        if let ClaimedRate::Counts { total, .. } | ClaimedRate::Vetoed { total, .. } = row.rate {
            self.counted += 1;
            self.assertions = self.assertions.saturating_add(total);
        }
    }

    /// Counts a row and leaves its rate out.
    fn note(&mut self, row: &'c ClaimedRun) {
        self.rows += 1;
        let label = row.configuration.label.as_deref();
        if self.labels.len() < KEPT_LABELS && !self.labels.contains(&label) {
            self.labels.push(label);
        }
        let room = KEPT_REASONS.saturating_sub(self.reasons.len());
        self.reasons.extend(row.rate.reasons().iter().take(room));
    }

    pub(super) fn counts(&self) -> RunCounts {
        RunCounts { rows: self.rows, scored: self.rates.len() }
    }

    pub(super) fn mean(&self) -> Option<Rational> {
        rational::mean(&self.rates)
    }

    pub(super) fn rounding(&self) -> &Rational {
        &self.rounding
    }

    pub(super) fn reasons(&self) -> Vec<NotScored> {
        let mut reasons: Vec<NotScored> = self.reasons.iter().map(|reason| (*reason).clone()).collect();
        reasons.sort();
        reasons.dedup();
        reasons
    }

    /// Whether both arms were graded on as many assertions a run, as far as they count them.
    pub(super) fn counts_as(&self, other: &Arm<'_>) -> bool {
        let product = |assertions: u64, counted: u64| u128::from(assertions) * u128::from(counted);
        self.counted == 0
            || other.counted == 0
            || product(self.assertions, other.counted) == product(other.assertions, self.counted)
    }
}

/// Both arms of a case and model.
#[derive(Debug, Default)]
struct Both<'c> {
    with: Arm<'c>,
    without: Arm<'c>,
}

/// The pairs of a file and their lift.
///
/// Repetitions are averaged first, then models, then cases. Rows of other arms than the two compared are left out. In
/// reports, which pair run by run, a repetition counts only if it is scored in both arms; in the files of other tools the
/// arms need not have as many.
pub fn lift(claims: &Claims) -> ClaimedLift {
    contrast(claims, control_among(claims.rows.iter().map(|row| row.configuration.role)))
}

/// The pairs of the skill with a control that is not the usual one, and their lift; otherwise as [`lift`].
pub fn contrast(claims: &Claims, control: Option<Role>) -> ClaimedLift {
    let is_exact = matches!(claims.form, ClaimForm::OwnReport | ClaimForm::ReferenceReport | ClaimForm::GradedRuns);
    let compared =
        |row: &&ClaimedRun| row.configuration.role == Role::Treatment || Some(row.configuration.role) == control;
    let scored = claims.rows.iter().filter(|row| is_exact && row.rate.is_scored());
    let scored: HashSet<_> = scored.filter(compared).map(|row| (run(row), row.configuration.role)).collect();
    let mut places = HashMap::new();
    let mut cells: Vec<(&str, Option<&str>, Both<'_>)> = Vec::new();
    for row in claims.rows.iter().filter(compared) {
        let key = (row.case.id.as_str(), row.model.as_deref());
        let at = match places.entry(key) {
            Entry::Occupied(place) => *place.get(),
            Entry::Vacant(place) => {
                cells.push((key.0, key.1, Both::default()));
                *place.insert(cells.len() - 1)
            }
        };
        let both = &mut cells[at].2;
        let (arm, other) = match row.configuration.role {
            Role::Treatment => (&mut both.with, control),
            _ => (&mut both.without, Some(Role::Treatment)),
        };
        let has_partner = || other.is_some_and(|other| scored.contains(&(run(row), other)));
        if !is_exact || has_partner() { arm.add(row) } else { arm.note(row) }
    }
    let (mut pairs, mut blocked) = (Vec::new(), Vec::new());
    for (case, model, both) in cells {
        let (case, model) = (case.to_owned(), model.map(str::to_owned));
        match pair(&both) {
            Ok((with, without)) => {
                // a suite may check more in one arm than in the other, which its report says itself
                let comparable = is_exact || both.with.counts_as(&both.without);
                let rounding = both.with.rounding() + both.without.rounding();
                pairs.push(CasePair { case, model, with, without, comparable, rounding });
            }
            Err(why) => blocked.push(BlockedCase { case, model, why }),
        }
    }
    let (with, without, cases) = means(&pairs);
    ClaimedLift { control, pairs, blocked, with, without, cases }
}

fn pair(both: &Both<'_>) -> Result<(Rational, Rational), BlockedWhy> {
    if both.with.rows == 0 {
        return Err(BlockedWhy::MissingWithSkill);
    }
    if both.without.rows == 0 {
        return Err(BlockedWhy::MissingWithoutSkill);
    }
    if both.with.labels.len() > 1 || both.without.labels.len() > 1 {
        return Err(BlockedWhy::SeveralLabels);
    }
    both.with.mean().zip(both.without.mean()).ok_or_else(|| {
        let mut reasons = both.with.reasons();
        reasons.extend(both.without.reasons());
        // all that is scored are repetitions that the other arm does not have
        if reasons.is_empty() { BlockedWhy::MissingWithoutSkill } else { BlockedWhy::UnscorableArm(reasons) }
    })
}

/// What a run of one arm has in common with its partner.
fn run(row: &ClaimedRun) -> (&str, Option<&str>, u32) {
    (&row.case.id, row.model.as_deref(), row.repetition)
}

/// The means over cases of the means over models, and the number of cases.
fn means(pairs: &[CasePair]) -> (Option<Rational>, Option<Rational>, usize) {
    let mut by_case: HashMap<&str, usize> = HashMap::new();
    let mut cases: Vec<Vec<&CasePair>> = Vec::new();
    for pair in pairs.iter().filter(|pair| pair.comparable) {
        let at = *by_case.entry(&pair.case).or_insert_with(|| {
            cases.push(Vec::new());
            cases.len() - 1
        });
        cases[at].push(pair);
    }
    let over = |side: fn(&CasePair) -> &Rational| {
        let of_case = |models: &Vec<&CasePair>| {
            let rates: Vec<Rational> = models.iter().map(|pair| side(pair).clone()).collect();
            rational::mean(&rates)
        };
        rational::mean(&cases.iter().filter_map(of_case).collect::<Vec<_>>())
    };
    (over(|pair| &pair.with), over(|pair| &pair.without), cases.len())
}

/// All that the rows of one configuration say about a mean.
#[derive(Default)]
struct Rows<'c> {
    all: Arm<'c>,
    by_case: HashMap<&'c str, Arm<'c>>,
    passed: u64,
    total: u64,
}

impl<'c> Rows<'c> {
    fn add(&mut self, row: &'c ClaimedRun) {
        self.all.add(row);
        self.by_case.entry(&row.case.id).or_default().add(row);
        if let ClaimedRate::Counts { passed, total } = row.rate {
            self.passed = self.passed.saturating_add(passed);
            self.total = self.total.saturating_add(total);
        }
    }

    /// The mean over rows, the mean over cases, and the share of all assertions together.
    fn means(&self) -> Vec<Rational> {
        let of_cases: Vec<Rational> = self.by_case.values().filter_map(Arm::mean).collect();
        let pooled = (self.total > 0).then(|| rational::rate(self.passed, self.total));
        [self.all.mean(), rational::mean(&of_cases), pooled].into_iter().flatten().collect()
    }
}

/// Notes stated means that are neither the mean of the rows, nor of the cases, nor of all assertions together.
pub(super) fn note_means(rows: &[ClaimedRun], aggregates: &[ClaimedAggregate], notes: &mut Notes) {
    let mut arms: HashMap<&str, Rows<'_>> = HashMap::new();
    if !aggregates.is_empty() {
        for row in rows {
            arms.entry(&row.configuration.written).or_default().add(row);
        }
    }
    let found: HashMap<&str, (Vec<Rational>, Rational)> = arms
        .into_iter()
        .map(|(name, rows)| (name, (rows.means(), half_step(MEAN_DECIMALS) + rows.all.rounding())))
        .collect();
    for aggregate in aggregates {
        let name = aggregate.configuration.written.as_str();
        let (Some(stated), Some((means, allowed))) = (&aggregate.rate, found.get(name)) else {
            continue;
        };
        if let Some(mean) = means.first()
            && !means.iter().any(|mean| (mean - stated).abs() <= *allowed)
        {
            notes.add(NoteCode::SummaryContradictsRows, &aggregate.pointer, || {
                format!("{} stated, rows give {}", rational::to_f64(stated), rational::round_half_even(mean, 6))
            });
        }
    }
}
