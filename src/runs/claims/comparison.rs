//! What changed between two result files: by case and arm, in the lift, in the flags, and in how they were made.

use std::collections::{BTreeMap, BTreeSet};

use num_traits::Signed;
use skill_lift_stats::rational::Rational;

use super::lifting::{Arm, ClaimedLift, lift};
use super::model::{ClaimedFlag, ClaimedRun, Claims, NotScored};

/// How an arm of a case changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ChangeKind {
    /// The rate rose.
    Improved,
    /// The rate fell.
    Regressed,
    /// The rates are equal, or their difference may come from rounding alone.
    Same,
    /// Only the later file has it.
    Appeared,
    /// Only the earlier file has it.
    Vanished,
    /// Without a rate before, with one now.
    BecameScored,
    /// With a rate before, without one now.
    BecameUnscored,
    /// Without a rate in both.
    StillUnscored,
    /// The checks are others than before, so that the rates do not compare.
    OtherChecks,
    /// The prompt is another than before, so that the rates do not compare.
    OtherPrompt,
}

impl ChangeKind {
    /// The word in reports.
    pub fn word(self) -> &'static str {
        match self {
            Self::Improved => "improved",
            Self::Regressed => "regressed",
            Self::Same => "same",
            Self::Appeared => "appeared",
            Self::Vanished => "vanished",
            Self::BecameScored => "became_scored",
            Self::BecameUnscored => "became_unscored",
            Self::StillUnscored => "still_unscored",
            Self::OtherChecks => "other_checks",
            Self::OtherPrompt => "other_prompt",
        }
    }
}

/// Rows of one arm of a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RunCounts {
    /// All of them.
    pub rows: usize,
    /// Those that have a rate.
    pub scored: usize,
}

/// Assertions of one arm of a case in both files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CheckCounts {
    /// In both.
    pub shared: usize,
    /// Only in the earlier file.
    pub removed: usize,
    /// Only in the later file.
    pub added: usize,
}

impl CheckCounts {
    /// Whether both files list assertions, so that it is known whether they are the same.
    pub fn are_listed(self) -> bool {
        self.shared + self.removed > 0 && self.shared + self.added > 0
    }

    fn of(old: Option<&Cell<'_>>, new: Option<&Cell<'_>>) -> Self {
        let has = |cell: Option<&Cell<'_>>, check: &str| cell.is_some_and(|cell| cell.checks.contains_key(check));
        let checks = |cell: Option<&Cell<'_>>| cell.map(|cell| cell.checks.len()).unwrap_or_default();
        let of_old = old.into_iter().flat_map(|cell| cell.checks.keys());
        let shared = of_old.filter(|check| has(new, check)).count();
        Self { shared, removed: checks(old) - shared, added: checks(new) - shared }
    }
}

/// One arm of a case in both files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CellChange {
    /// The case.
    pub case: String,
    /// The name of the case, in the later file first.
    pub name: Option<String>,
    /// The model; `None` also where both files have at most one, which is then compared with the other.
    pub model: Option<String>,
    /// The variant; with its label only where a file has several.
    pub variant: String,
    /// What happened.
    pub kind: ChangeKind,
    /// Mean rate in the earlier file.
    pub before: Option<Rational>,
    /// Mean rate in the later file.
    pub after: Option<Rational>,
    /// Rows of the earlier file.
    pub rows_before: RunCounts,
    /// Rows of the later file.
    pub rows_after: RunCounts,
    /// Why rows of the earlier file have no rate.
    pub unscored_before: Vec<NotScored>,
    /// Why rows of the later file have no rate.
    pub unscored_after: Vec<NotScored>,
    /// Assertions that pass more often than before.
    pub gained: Vec<String>,
    /// Assertions that pass less often than before.
    pub lost: Vec<String>,
    /// Those of them that passed in every row that graded them before.
    pub broken: Vec<String>,
    /// Assertions that had a verdict in every scored row before and have none in some now.
    pub undecided: Vec<String>,
    /// Which assertions are in which file.
    pub checks: CheckCounts,
}

impl CellChange {
    /// After minus before, where the rates compare.
    pub fn delta(&self) -> Option<Rational> {
        match self.kind {
            ChangeKind::Improved | ChangeKind::Regressed | ChangeKind::Same => {
                Some(self.after.as_ref()? - self.before.as_ref()?)
            }
            _ => None,
        }
    }
}

/// Something that has to be equal for two files to be like for like, and is not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// What it is, as in [`Claims::blocks`].
    pub key: String,
    /// In the earlier file.
    pub before: Option<String>,
    /// In the later file.
    pub after: Option<String>,
}

/// What changed between two files.
#[derive(Debug, Clone)]
pub struct Comparison {
    /// Every arm of every case of either file, by case, variant and model.
    pub cells: Vec<CellChange>,
    /// Flags that only the later file has.
    pub new_flags: Vec<ClaimedFlag>,
    /// Flags that only the earlier file has.
    pub resolved_flags: Vec<ClaimedFlag>,
    /// Where the files are not like for like.
    pub differences: Vec<Difference>,
    /// The lift of the earlier file.
    pub lift_before: ClaimedLift,
    /// The lift of the later file.
    pub lift_after: ClaimedLift,
}

impl Comparison {
    /// Cells of a kind.
    pub fn count(&self, kind: ChangeKind) -> usize {
        self.cells.iter().filter(|cell| cell.kind == kind).count()
    }

    /// Whether any arm of a case occurs in both files. Without one there is nothing to compare.
    pub fn has_common_cells(&self) -> bool {
        self.cells.iter().any(|cell| !matches!(cell.kind, ChangeKind::Appeared | ChangeKind::Vanished))
    }
}

/// Case, variant and model.
type Key<'c> = (&'c str, String, Option<&'c str>);

/// One arm of a case in one file.
#[derive(Debug, Default)]
struct Cell<'c> {
    arm: Arm<'c>,
    name: Option<&'c str>,
    /// Verdicts by assertion.
    checks: BTreeMap<&'c str, Check>,
}

/// The verdicts on one assertion in the scored rows of a cell.
#[derive(Debug, Default)]
struct Check {
    passed: usize,
    graded: usize,
    undecided: usize,
}

impl<'c> Cell<'c> {
    fn add(&mut self, row: &'c ClaimedRun) {
        self.arm.add(row);
        self.name = self.name.or(row.case.name.as_deref());
        for assertion in &row.assertions {
            let check = self.checks.entry(&assertion.text).or_default();
            // verdicts of a row that is no score say which checks there are, and nothing about them
            if row.rate.is_scored() {
                check.passed += usize::from(assertion.passed == Some(true));
                check.graded += usize::from(assertion.passed.is_some());
                check.undecided += usize::from(assertion.passed.is_none());
            }
        }
    }

    fn has_checks_of(&self, other: &Cell<'_>) -> bool {
        if self.checks.is_empty() || other.checks.is_empty() {
            return self.arm.counts_as(&other.arm);
        }
        self.checks.keys().eq(other.checks.keys())
    }
}

/// Compares an earlier file with a later one.
///
/// Cells are matched by case, variant and model. Where both files have at most one model, models are not compared cell
/// by cell: the difference stands in [`Comparison::differences`]. A label (`with_skill (iter4)`) is left out of the match
/// unless a file has several in one cell.
pub fn compare(before: &Claims, after: &Claims) -> Comparison {
    let by_model = [before, after].iter().any(|claims| models(claims).len() > 1);
    let (mut old, new) = (cells(before, by_model), cells(after, by_model));
    let mut changes = Vec::with_capacity(old.len().max(new.len()));
    for (key, cell) in &new {
        changes.push(change(key, old.remove(key).as_ref(), Some(cell)));
    }
    changes.extend(old.iter().map(|(key, cell)| change(key, Some(cell), None)));
    changes.sort_by(|a, b| (&a.case, &a.variant, &a.model).cmp(&(&b.case, &b.variant, &b.model)));
    let (lift_before, lift_after) = (lift(before), lift(after));
    let flags = |claims: &Claims| claims.flags.iter().cloned().collect::<BTreeSet<_>>();
    let (old_flags, new_flags) = (flags(before), flags(after));
    Comparison {
        cells: changes,
        new_flags: new_flags.difference(&old_flags).cloned().collect(),
        resolved_flags: old_flags.difference(&new_flags).cloned().collect(),
        differences: differences(before, after),
        lift_before,
        lift_after,
    }
}

fn models(claims: &Claims) -> BTreeSet<&str> {
    claims.rows.iter().filter_map(|row| row.model.as_deref()).collect()
}

fn cells(claims: &Claims, by_model: bool) -> BTreeMap<Key<'_>, Cell<'_>> {
    let mut labels: BTreeMap<_, BTreeSet<Option<&str>>> = BTreeMap::new();
    for row in &claims.rows {
        let key = (row.case.id.as_str(), row.configuration.variant(), model_of(row, by_model));
        labels.entry(key).or_default().insert(row.configuration.label.as_deref());
    }
    let mut cells: BTreeMap<Key<'_>, Cell<'_>> = BTreeMap::new();
    for row in &claims.rows {
        let (case, variant, model) = (row.case.id.as_str(), row.configuration.variant(), model_of(row, by_model));
        let several = labels.get(&(case, variant, model)).is_some_and(|labels| labels.len() > 1);
        let variant = match &row.configuration.label {
            Some(label) if several => format!("{variant} ({label})"),
            _ => variant.to_owned(),
        };
        cells.entry((case, variant, model)).or_default().add(row);
    }
    cells
}

fn model_of(row: &ClaimedRun, counts: bool) -> Option<&str> {
    if counts { row.model.as_deref() } else { None }
}

fn change(key: &Key<'_>, old: Option<&Cell<'_>>, new: Option<&Cell<'_>>) -> CellChange {
    let mean = |cell: Option<&Cell<'_>>| cell.and_then(|cell| cell.arm.mean());
    let reasons = |cell: Option<&Cell<'_>>| cell.map(|cell| cell.arm.reasons()).unwrap_or_default();
    let (before, after) = (mean(old), mean(new));
    let kind = match (old, new) {
        (Some(old), Some(new)) => kind(old, new, before.as_ref(), after.as_ref()),
        (None, _) => ChangeKind::Appeared,
        (Some(_), None) => ChangeKind::Vanished,
    };
    let counts = |cell: Option<&Cell<'_>>| cell.map(|cell| cell.arm.counts()).unwrap_or_default();
    let Moved { gained, lost, broken, undecided } = old.zip(new).map(|(old, new)| moved(old, new)).unwrap_or_default();
    let (case, variant, model) = key;
    CellChange {
        case: (*case).to_owned(),
        name: new.and_then(|cell| cell.name).or(old.and_then(|cell| cell.name)).map(str::to_owned),
        model: model.map(str::to_owned),
        variant: variant.clone(),
        kind,
        before,
        after,
        rows_before: counts(old),
        rows_after: counts(new),
        unscored_before: reasons(old),
        unscored_after: reasons(new),
        gained,
        lost,
        broken,
        undecided,
        checks: CheckCounts::of(old, new),
    }
}

fn kind(old: &Cell<'_>, new: &Cell<'_>, before: Option<&Rational>, after: Option<&Rational>) -> ChangeKind {
    match (before, after) {
        (None, None) => ChangeKind::StillUnscored,
        (None, Some(_)) => ChangeKind::BecameScored,
        (Some(_), None) => ChangeKind::BecameUnscored,
        (Some(_), Some(_)) if !old.has_checks_of(new) => ChangeKind::OtherChecks,
        (Some(before), Some(after)) => {
            let delta = after - before;
            if delta.abs() <= old.arm.rounding() + new.arm.rounding() {
                ChangeKind::Same
            } else if delta.is_positive() {
                ChangeKind::Improved
            } else {
                ChangeKind::Regressed
            }
        }
    }
}

/// Assertions of both cells that pass more often and less often than before.
#[derive(Default)]
struct Moved {
    gained: Vec<String>,
    lost: Vec<String>,
    broken: Vec<String>,
    undecided: Vec<String>,
}

fn moved(old: &Cell<'_>, new: &Cell<'_>) -> Moved {
    let mut moved = Moved::default();
    for (text, check) in &new.checks {
        let Some(before) = old.checks.get(text).filter(|before| before.graded > 0) else {
            continue;
        };
        if check.undecided > 0 && before.undecided == 0 {
            moved.undecided.push((*text).to_owned());
        }
        if check.graded == 0 {
            continue;
        }
        let product = |passed: usize, graded: usize| passed as u128 * graded as u128;
        match product(check.passed, before.graded).cmp(&product(before.passed, check.graded)) {
            std::cmp::Ordering::Greater => moved.gained.push((*text).to_owned()),
            std::cmp::Ordering::Less => {
                moved.lost.push((*text).to_owned());
                if before.passed == before.graded {
                    moved.broken.push((*text).to_owned());
                }
            }
            std::cmp::Ordering::Equal => {}
        }
    }
    moved
}

fn differences(before: &Claims, after: &Claims) -> Vec<Difference> {
    let mut old = before.blocks.clone();
    let mut new = after.blocks.clone();
    for (blocks, claims) in [(&mut old, before), (&mut new, after)] {
        let models = models(claims);
        if !models.is_empty() {
            blocks.insert("models".to_owned(), models.into_iter().collect::<Vec<_>>().join(", "));
        }
        if let Some(name) = &claims.skill_name {
            blocks.insert("skill_name".to_owned(), name.clone());
        }
    }
    let keys: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    let differ = keys.into_iter().filter(|key| old.get(*key) != new.get(*key));
    differ
        .map(|key| Difference { key: key.clone(), before: old.get(key).cloned(), after: new.get(key).cloned() })
        .collect()
}
