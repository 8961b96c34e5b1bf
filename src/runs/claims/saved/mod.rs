//! A report of `benchmark` as it was saved, ours or one of the reference package: every row with its exact counts and all
//! that the verdict rests on, so that the report can be analysed once more.
//!
//! A row that contradicts itself is refused with its place: no count is guessed.

mod ablation;
mod fields;
mod independence;
mod row;
mod several;

use std::collections::{BTreeSet, HashMap};

use num_traits::Signed;
use skill_lift_stats::Thresholds;
use skill_lift_stats::rational::{self, Rational};

use super::error::ClaimsError;
use super::form::ClaimForm;
use super::model::ClaimedFlag;
use super::note::{ClaimNote, NoteCode, Notes};
use super::places::{index, items, member, members, text_of};
use super::read::{ReadOptions, with_values};
use super::{figures, published, shape, stated};
use crate::json::Item;
use crate::runs::OnDuplicate;

pub use ablation::{RegressionVerdict, SavedAblation, SavedRegression};
pub use independence::SavedIndependence;
pub use row::{SavedCase, SavedCheck, SavedCounts, SavedFailure, SavedJudgement, SavedRow, SavedSpan};
pub use several::{SavedAggregate, SavedReport, read_saved_report};

/// The most that one more passed run can be worth, as on the command line.
const MOST_PER_LIFT: u64 = 1_000_000_000;

/// A saved report.
#[derive(Debug)]
pub struct SavedBenchmark {
    /// Whose report it is: [`ClaimForm::OwnReport`] or [`ClaimForm::ReferenceReport`].
    pub form: ClaimForm,
    /// The skill under test.
    pub skill_name: Option<String>,
    /// Seconds since 1970, if the report is stamped.
    pub generated_at: Option<i64>,
    /// The arms: those of the summary in its order, then those that only rows name.
    pub variants: Vec<String>,
    /// The rows in the order of the file.
    pub rows: Vec<SavedRow>,
    /// The flags that it puts on cases, as it states them.
    pub flags: Vec<ClaimedFlag>,
    /// What it says of versions of the skill that lack a part.
    pub ablations: Vec<SavedAblation>,
    /// Whether the skill was compared with an earlier version of it.
    pub against_old_skill: bool,
    /// Error rate and smallest lift that matters, as the report was made with them.
    pub thresholds: Thresholds,
    /// Whether figures whose evidence is incomplete were withheld.
    pub strict_evidence: bool,
    /// What one more passed run was said to be worth.
    pub value_per_lift: Option<Rational>,
    /// How large a difference was said to be none.
    pub equivalence_margin: Option<Rational>,
    /// What it states of its runs beside their rows.
    pub independence: SavedIndependence,
    /// What the report says that it lacks; codes.
    pub incomplete_reasons: Vec<String>,
    /// What its verdicts add up to, if others gave them.
    pub stored: Option<StoredVerdicts>,
    /// Digest of the suite, and of the files of the runs.
    pub digests: [Option<String>; 2],
    /// The format of the suite.
    pub dialect: Option<String>,
    /// The program that made it, with its version.
    pub tool: Option<String>,
    /// The code of the verdict that it states.
    pub stated_verdict: Option<String>,
    /// What does not fit together, by code.
    pub notes: Vec<ClaimNote>,
}

/// What the stored verdicts of a report add up to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StoredVerdicts {
    /// Verdicts that are true.
    pub passed: u32,
    /// Verdicts that are false.
    pub failed: u32,
    /// Entries without a verdict.
    pub undecided: u32,
    /// Checks that were made anew: how many were compared, and how many agree.
    pub regrading: Option<(u32, u32)>,
    /// Whether the token counts of the arms are not of one scope.
    pub token_scope_differs: bool,
}

/// Reads the bytes of a report.
///
/// # Errors
/// As [`super::load`]; also a file that is no whole report of `benchmark`, and a row that cannot be counted.
pub fn read_saved(bytes: &[u8], options: &ReadOptions) -> Result<SavedBenchmark, ClaimsError> {
    with_values(bytes, options, |root, notes| saved(root, "", options, notes))
}

/// Reads one row of a report of this program as it is made. `position` is its place among the rows.
///
/// # Errors
/// As [`read_saved`].
pub fn read_saved_row(bytes: &[u8], position: usize) -> Result<SavedRow, ClaimsError> {
    let options = ReadOptions { bytes: u64::MAX, ..ReadOptions::default() };
    with_values(bytes, &options, |root, mut notes| row::read(root, index("/results", position), &mut notes))
}

/// The report at a place of a file.
fn saved(
    root: Item<'_, '_>,
    place: &str,
    options: &ReadOptions,
    mut notes: Notes,
) -> Result<SavedBenchmark, ClaimsError> {
    if !root.is_object() {
        return Err(ClaimsError::NotAnObject(root.to_node().type_name()));
    }
    let form = shape::classify(root).map_err(ClaimsError::NotResults)?;
    if !matches!(form, ClaimForm::OwnReport | ClaimForm::ReferenceReport) {
        return Err(ClaimsError::NotABenchmarkReport(form));
    }
    let missing = stated::missing_blocks(root);
    if !missing.is_empty() {
        return Err(ClaimsError::NotWhole(missing));
    }
    let list = member(place, "results");
    let mut rows = Vec::new();
    for (at, item) in root.get("results").into_iter().flat_map(items).enumerate() {
        if at >= options.rows {
            return Err(ClaimsError::TooManyRows { pointer: list, limit: options.rows });
        }
        rows.push(row::read(item, index(&list, at), &mut notes)?);
    }
    let rows = without_duplicates(rows, &list, options.on_duplicate, &mut notes)?;
    if rows.is_empty() {
        notes.add(NoteCode::BenchmarkEmpty, "", String::new);
    }
    let provenance = root.get("provenance");
    let option = |name: &str| provenance?.get("options")?.get(name);
    let paired = root.get("paired_summary");
    let digest = |key: &str| provenance.and_then(|provenance| text_of(provenance, &[key]));
    let verdict = root.get("inference").and_then(|inference| inference.get("overall")?.get("verdict"));
    Ok(SavedBenchmark {
        form,
        skill_name: published::skill_name(root),
        generated_at: root.get("generated_at").and_then(Item::as_number).and_then(|number| number.as_i64()),
        variants: variants(root, &rows),
        flags: published::flags(root),
        ablations: ablation::read(root),
        against_old_skill: paired.is_some_and(|paired| paired.get("old_skill_objective_pass_rate").is_some()),
        thresholds: thresholds(option("alpha"), option("min-lift"))?,
        strict_evidence: option("evidence").and_then(Item::as_str).as_deref() == Some("strict"),
        value_per_lift: option("value-per-lift").map(value_per_lift).transpose()?,
        equivalence_margin: option("equivalence-margin").map(equivalence_margin).transpose()?,
        independence: independence::read(root, form),
        incomplete_reasons: texts(root.get("incomplete_reasons")),
        stored: root.get("stored_verdicts").map(stored),
        digests: [digest("suite_sha256"), digest("runs_sha256")],
        dialect: digest("dialect"),
        tool: tool(root, form),
        stated_verdict: verdict.and_then(|verdict| text_of(verdict, &["code"])),
        notes: notes.finish(),
        rows,
    })
}

fn texts(list: Option<Item<'_, '_>>) -> Vec<String> {
    list.into_iter().flat_map(items).filter_map(Item::as_str).map(|text| text.into_owned()).collect()
}

fn tool(root: Item<'_, '_>, form: ClaimForm) -> Option<String> {
    let tool = root.get("tool")?;
    let (name, version) = (text_of(tool, &["name"]), text_of(tool, &["version"]));
    match (form, name, version) {
        (ClaimForm::OwnReport, Some(name), Some(version)) => Some(format!("{name} {version}")),
        (_, name, _) => name,
    }
}

/// The number of an option, which is written as it was given.
fn number(option: Item<'_, '_>) -> Option<Rational> {
    let text = option.as_str().or_else(|| option.as_number().map(|number| number.text().to_owned().into()))?;
    figures::decimal(&text).map(|(value, _)| value)
}

fn value_per_lift(option: Item<'_, '_>) -> Result<Rational, ClaimsError> {
    let is_amount = |value: &Rational| value.is_positive() && *value <= rational::rate(MOST_PER_LIFT, 1);
    number(option).filter(is_amount).ok_or_else(|| refused_option("`value-per-lift` is no amount above 0"))
}

fn equivalence_margin(option: Item<'_, '_>) -> Result<Rational, ClaimsError> {
    let is_margin = |value: &Rational| value.is_positive() && *value < rational::rate(1, 1);
    number(option)
        .filter(is_margin)
        .ok_or_else(|| refused_option("`equivalence-margin` is no number above 0 and below 1"))
}

fn refused_option(problem: &str) -> ClaimsError {
    ClaimsError::Row { pointer: "/provenance/options".to_owned(), problem: problem.to_owned() }
}

fn thresholds(alpha: Option<Item<'_, '_>>, min_lift: Option<Item<'_, '_>>) -> Result<Thresholds, ClaimsError> {
    let usual = Thresholds::default();
    let read = |option: Option<Item<'_, '_>>, usual: &Rational| match option {
        None => Some(usual.clone()),
        Some(option) => number(option),
    };
    let both = read(alpha, usual.alpha()).zip(read(min_lift, usual.min_lift()));
    both.and_then(|(alpha, min_lift)| Thresholds::new(alpha, min_lift))
        .ok_or_else(|| refused_option("`alpha` or `min-lift` is out of range"))
}

fn stored(block: Item<'_, '_>) -> StoredVerdicts {
    let count = |home: Item<'_, '_>, key: &str| {
        let count = home.get(key).and_then(figures::count).unwrap_or_default();
        u32::try_from(count).unwrap_or(u32::MAX)
    };
    let regrading = block.get("regrading").filter(|regrading| regrading.is_object());
    StoredVerdicts {
        passed: count(block, "passed"),
        failed: count(block, "failed"),
        undecided: count(block, "undecided"),
        regrading: regrading.map(|regrading| {
            let compared = count(regrading, "compared");
            (compared, count(regrading, "agreed").min(compared))
        }),
        token_scope_differs: block.get("token_scope_differs").and_then(Item::as_bool) == Some(true),
    }
}

fn variants(root: Item<'_, '_>, rows: &[SavedRow]) -> Vec<String> {
    let summary = root.get("summary").into_iter().flat_map(members).map(|(name, _)| name.into_owned());
    let mut seen = BTreeSet::new();
    let mut variants: Vec<String> = Vec::new();
    for name in summary.chain(rows.iter().map(|row| row.variant.clone())) {
        if !seen.contains(&name) {
            seen.insert(name.clone());
            variants.push(name);
        }
    }
    variants
}

/// Refuses two rows for one run, or keeps the last one.
fn without_duplicates(
    rows: Vec<SavedRow>,
    list: &str,
    on_duplicate: OnDuplicate,
    notes: &mut Notes,
) -> Result<Vec<SavedRow>, ClaimsError> {
    let mut seen = HashMap::with_capacity(rows.len());
    let mut dropped = BTreeSet::new();
    // a number that is none names no run
    for (at, row) in rows.iter().enumerate().filter(|(_, row)| row.repetition > 0) {
        let key = (row.case.id.as_str(), row.variant.as_str(), row.model.as_deref(), row.repetition);
        let Some(earlier) = seen.insert(key, at) else { continue };
        if on_duplicate == OnDuplicate::Error {
            return Err(ClaimsError::Duplicate {
                case: row.case.id.clone(),
                configuration: row.variant.clone(),
                repetition: row.repetition,
                first: index(list, earlier),
                second: index(list, at),
            });
        }
        notes.add(NoteCode::DuplicatesDropped, &index(list, earlier), || row.case.id.clone());
        dropped.insert(earlier);
    }
    drop(seen);
    Ok(rows.into_iter().enumerate().filter(|(at, _)| !dropped.contains(at)).map(|(_, row)| row).collect())
}

/// A rate from counts, as reports write it.
fn rate_of(counts: SavedCounts, vetoed: bool) -> Option<f64> {
    match counts {
        _ if vetoed => Some(0.0),
        SavedCounts { total: 0, .. } => None,
        SavedCounts { passed, total } => Some(rational::to_f64(&rational::rate(passed.into(), total.into()))),
    }
}
