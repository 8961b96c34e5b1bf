//! From the bytes of a file to its claims.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::Arc;

use super::decode;
use super::design::{self, StatedDesign};
use super::error::ClaimsError;
use super::form::ClaimForm;
use super::model::{ClaimedRun, Claims, Unmeasured};
use super::note::{NoteCode, Notes};
use super::places::{first, index, items, member, members};
use super::published;
use super::row::{Arms, Site, benchmark_row, report_row};
use super::shape::{self, ARM_LISTS, LISTS, MAPS};
use super::stated::{self, StatedReport};
use super::verdicts::has_evidence;
use super::{figures, lifting};
use crate::json::Item;
use crate::runs::named_file::read_named;
use crate::runs::{Configuration, Limits, OnDuplicate, Role};

/// How a result file is read.
#[derive(Debug, Clone, Copy)]
pub struct ReadOptions {
    /// Bytes of the file.
    pub bytes: u64,
    /// Rows of the file: memory is bounded by these and by the bytes.
    pub rows: usize,
    /// What to do when two rows claim the same run.
    pub on_duplicate: OnDuplicate,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self { bytes: Limits::default().sidecar_bytes, rows: 200_000, on_duplicate: OnDuplicate::Error }
    }
}

/// Reads a file.
///
/// # Errors
/// A file that cannot be read, is larger than the limit, is not strict JSON or no result list, or claims a run twice.
pub fn load(path: &Path, options: &ReadOptions) -> Result<Claims, ClaimsError> {
    read(&read_named(path, options.bytes)?, options)
}

/// Reads the bytes of a file.
///
/// # Errors
/// As [`load`].
pub fn read(bytes: &[u8], options: &ReadOptions) -> Result<Claims, ClaimsError> {
    with_values(bytes, options, |root, notes| claims(root, options, notes))
}

/// What was read of a benchmark report.
#[derive(Debug)]
pub struct ReadReport {
    /// Its rows with recomputed rates; none of a file that is no report.
    pub claims: Claims,
    /// Its figures as they are written, as far as they are there.
    pub stated: StatedReport,
    /// What it states of its design; nothing of a file that is no report.
    pub design: StatedDesign,
    /// Why it is no whole report of `benchmark`, if it is none.
    pub problem: Option<ClaimsError>,
}

/// Reads the bytes of a benchmark report, ours or one of the reference package. Of any other object nothing is taken but
/// figures that stand where those of a report do.
///
/// # Errors
/// As [`load`], but not for an object that is no report; a block of inference that cannot be used.
pub fn read_report(bytes: &[u8], options: &ReadOptions) -> Result<ReadReport, ClaimsError> {
    with_values(bytes, options, |root, notes| {
        let stated = stated::report(root);
        let problem = match claims(root, options, notes) {
            Ok(claims) if matches!(claims.form, ClaimForm::OwnReport | ClaimForm::ReferenceReport) => {
                let missing = stated::missing_blocks(root);
                let problem = (!missing.is_empty()).then_some(ClaimsError::NotWhole(missing));
                return Ok(ReadReport { claims, stated, design: design::design(root)?, problem });
            }
            Ok(claims) => ClaimsError::NotABenchmarkReport(claims.form),
            Err(error @ ClaimsError::NotResults(_)) => error,
            Err(error) => return Err(error),
        };
        let claims = Claims {
            form: ClaimForm::ReferenceReport,
            skill_name: None,
            iteration: None,
            rows: Vec::new(),
            published_delta: Vec::new(),
            aggregates: Vec::new(),
            flags: Vec::new(),
            blocks: BTreeMap::new(),
            notes: Vec::new(),
        };
        Ok(ReadReport { claims, stated, design: StatedDesign::default(), problem: Some(problem) })
    })
}

/// A benchmark report as the ground of a plan.
#[derive(Debug)]
pub struct ReadDesign {
    /// Its rows with recomputed rates.
    pub claims: Claims,
    /// What it states of its design.
    pub stated: StatedDesign,
}

/// Reads the bytes of a benchmark report, ours or one of the reference package, as the ground of a plan.
///
/// # Errors
/// As [`load`]; results in another form; a block of inference that cannot be used.
pub fn read_design(bytes: &[u8], options: &ReadOptions) -> Result<ReadDesign, ClaimsError> {
    with_values(bytes, options, |root, notes| {
        let claims = claims(root, options, notes)?;
        if !matches!(claims.form, ClaimForm::OwnReport | ClaimForm::ReferenceReport) {
            return Err(ClaimsError::NotABenchmarkReport(claims.form));
        }
        Ok(ReadDesign { claims, stated: design::design(root)? })
    })
}

/// Hands on the values of a file, and what was noted so far.
pub(super) fn with_values<T>(
    bytes: &[u8],
    options: &ReadOptions,
    use_values: impl FnOnce(Item<'_, '_>, Notes) -> Result<T, ClaimsError>,
) -> Result<T, ClaimsError> {
    if bytes.len() as u64 > options.bytes {
        return Err(ClaimsError::TooLarge(options.bytes));
    }
    let text = decode::text(bytes)?;
    let mut notes = Notes::default();
    let repaired;
    let tape = match decode::values(text) {
        Ok(tape) => tape,
        Err(error) => {
            // an error that the repair does not remove is told of the text as it was
            repaired = decode::repaired(text, &error).ok_or_else(|| decode::refusal(text, error.clone()))?;
            notes.add(NoteCode::ControlCharacterInString, "", || error.path.clone());
            decode::values(&repaired).map_err(|_| decode::refusal(text, error))?
        }
    };
    use_values(tape.root(), notes)
}

/// Reads one row of a report of this program. `position` is its place among the rows.
///
/// # Errors
/// Bytes that are no strict JSON.
pub fn read_report_row(bytes: &[u8], position: usize) -> Result<ClaimedRun, ClaimsError> {
    let text = decode::text(bytes)?;
    let tape = decode::values(text).map_err(|error| decode::refusal(text, error))?;
    Ok(report_row(tape.root(), index("/results", position), &mut Arms::default(), &mut Notes::default()))
}

fn claims(root: Item<'_, '_>, options: &ReadOptions, mut notes: Notes) -> Result<Claims, ClaimsError> {
    if !root.is_object() {
        return Err(ClaimsError::NotAnObject(root.to_node().type_name()));
    }
    let form = shape::classify(root).map_err(ClaimsError::NotResults)?;
    let mut reading = Reading { rows: Vec::new(), limit: options.rows, arms: Arms::default(), notes };
    let iteration = reading.rows_of(root, form)?;
    let Reading { mut rows, notes: found, .. } = reading;
    notes = found;
    name_arms(&mut rows, &mut notes);
    tell_names_apart(&mut rows, &mut notes);
    let mut rows = without_duplicates(rows, options.on_duplicate, &mut notes)?;
    if published::states_usage(root) && rows.iter().all(|row| row.tokens.is_err()) {
        notes.add(NoteCode::UsageAggregated, "", String::new);
        rows.iter_mut().for_each(|row| row.tokens = Err(Unmeasured::Aggregated));
    }
    published::note_placeholders(root, &mut notes);
    let aggregates = published::aggregates(root);
    note_counts(root, form, &rows, &mut notes);
    lifting::note_means(&rows, &aggregates, &mut notes);
    Ok(Claims {
        form,
        skill_name: published::skill_name(root),
        iteration: iteration.or_else(|| published::iteration(root)),
        rows,
        published_delta: published::deltas(root),
        aggregates,
        flags: published::flags(root),
        blocks: published::blocks(root, form),
        notes: notes.finish(),
    })
}

/// The rows that were read so far.
struct Reading {
    rows: Vec<ClaimedRun>,
    limit: usize,
    arms: Arms,
    notes: Notes,
}

impl Reading {
    /// Reads the rows of a form; the iteration that they are of, where the form names it.
    fn rows_of(&mut self, root: Item<'_, '_>, form: ClaimForm) -> Result<Option<u64>, ClaimsError> {
        match form {
            ClaimForm::OwnReport | ClaimForm::ReferenceReport => {
                for (at, row) in root.get("results").into_iter().flat_map(items).enumerate() {
                    let pointer = index("/results", at);
                    let row = report_row(row, pointer, &mut self.arms, &mut self.notes);
                    self.push(row)?;
                }
            }
            ClaimForm::RunRecords
            | ClaimForm::FlatRuns
            | ClaimForm::SummaryList
            | ClaimForm::PairedRuns
            | ClaimForm::SkillEval => self.list(root, "runs", "", None)?,
            ClaimForm::ConfigurationList => self.configurations(root)?,
            ClaimForm::PairedEvals | ClaimForm::OneArm => self.first_list(root, form)?,
            ClaimForm::CaseMap => self.case_map(root)?,
            ClaimForm::TopLevelArms => self.top_level_arms(root)?,
            ClaimForm::Iterations => return self.last_iteration(root),
            ClaimForm::Forge => {
                self.list(root, "per_eval", "", None)?;
                self.notes.add(NoteCode::RowsAreMeans, "/per_eval", String::new);
            }
            ClaimForm::AggregateOnly | ClaimForm::GradedRuns => {}
        }
        Ok(None)
    }

    fn push(&mut self, row: ClaimedRun) -> Result<(), ClaimsError> {
        if self.rows.len() >= self.limit {
            let pointer = row.pointer.rsplit_once('/').map_or("", |(list, _)| list).to_owned();
            return Err(ClaimsError::TooManyRows { pointer, limit: self.limit });
        }
        self.rows.push(row);
        Ok(())
    }

    /// The rows of a list below a place.
    fn list(&mut self, home: Item<'_, '_>, key: &str, parent: &str, arm: Option<&str>) -> Result<(), ClaimsError> {
        let list = member(parent, key);
        for (at, row) in home.get(key).into_iter().flat_map(items).enumerate() {
            self.row(row, None, arm, &index(&list, at))?;
        }
        Ok(())
    }

    /// One entry, which is a run or holds one for each arm.
    fn row(
        &mut self,
        row: Item<'_, '_>,
        case: Option<&str>,
        arm: Option<&str>,
        pointer: &str,
    ) -> Result<(), ClaimsError> {
        let runs = first(row, &["trials"]).and_then(figures::count).and_then(|runs| u32::try_from(runs).ok());
        let site = |cell, arm: Option<String>, pointer: String| Site {
            outer: row,
            cell,
            case: case.map(str::to_owned),
            arm,
            runs: runs.unwrap_or(1).max(1),
            pointer,
        };
        if let Some(arm) = arm {
            let run =
                benchmark_row(site(row, Some(arm.to_owned()), pointer.to_owned()), &mut self.arms, &mut self.notes);
            return self.push(run);
        }
        let mut found = false;
        for (name, cell) in shape::arms(row) {
            let pointer = member(pointer, &name);
            let run = benchmark_row(site(cell, Some(name), pointer), &mut self.arms, &mut self.notes);
            self.push(run)?;
            found = true;
        }
        if !found {
            for (name, key, cell) in shape::arm_rates(row) {
                let run = benchmark_row(site(cell, Some(name), member(pointer, &key)), &mut self.arms, &mut self.notes);
                self.push(run)?;
                found = true;
            }
        }
        if found {
            return Ok(());
        }
        if row.get("status").is_some() && !has_evidence(row) {
            self.notes.add(NoteCode::NotExecuted, pointer, || case.unwrap_or_default().to_owned());
            return Ok(());
        }
        let run = benchmark_row(site(row, None, pointer.to_owned()), &mut self.arms, &mut self.notes);
        self.push(run)
    }

    /// The first list whose entries are what the form asks for.
    fn first_list(&mut self, root: Item<'_, '_>, form: ClaimForm) -> Result<(), ClaimsError> {
        let fits = |list| match form {
            ClaimForm::PairedEvals => items(list).any(|row| shape::holds_arms(row)),
            _ => items(list).any(has_evidence),
        };
        let key = LISTS.into_iter().find(|key| root.get(key).is_some_and(fits));
        key.map_or(Ok(()), |key| self.list(root, key, "", None))
    }

    fn case_map(&mut self, root: Item<'_, '_>) -> Result<(), ClaimsError> {
        let holds = |map: Item<'_, '_>| members(map).any(|(_, row)| shape::holds_arms(row));
        let Some(key) = MAPS.into_iter().find(|key| root.get(key).is_some_and(holds)) else {
            return Ok(());
        };
        let parent = member("", key);
        for (case, row) in root.get(key).into_iter().flat_map(members) {
            self.row(row, Some(&case), None, &member(&parent, &case))?;
        }
        Ok(())
    }

    fn configurations(&mut self, root: Item<'_, '_>) -> Result<(), ClaimsError> {
        let Some(key) = ARM_LISTS.into_iter().find(|key| root.get(key).is_some()) else {
            return Ok(());
        };
        let parent = member("", key);
        for (at, arm) in root.get(key).into_iter().flat_map(items).enumerate() {
            if let (Some(name), Some((key, _))) = (shape::arm_name(arm), shape::rows_of(arm)) {
                self.list(arm, key, &index(&parent, at), Some(&name))?;
            }
        }
        Ok(())
    }

    fn top_level_arms(&mut self, root: Item<'_, '_>) -> Result<(), ClaimsError> {
        for (name, arm) in shape::arms(root) {
            if let Some((key, _)) = shape::rows_of(arm) {
                self.list(arm, key, &member("", &name), Some(&name))?;
            }
        }
        // arms that have only totals stand beside an object with the rates of the cases
        if self.rows.is_empty() { self.case_map(root) } else { Ok(()) }
    }

    /// The rows of the last iteration: rows of several would mix versions of the skill in one arm.
    fn last_iteration(&mut self, root: Item<'_, '_>) -> Result<Option<u64>, ClaimsError> {
        let Some((iteration, pointer, before)) = shape::last_iteration(root) else {
            return Ok(None);
        };
        if before > 0 {
            self.notes.add(NoteCode::EarlierIterationsLeftOut, "/iterations", || before.to_string());
        }
        let parent = member(&pointer, "evaluations");
        for (key, row) in iteration.get("evaluations").into_iter().flat_map(members) {
            let pointer = member(&parent, &key);
            match case_and_arm(&key) {
                Some((case, arm)) => self.row(row, Some(case), Some(arm), &pointer)?,
                None => self.row(row, Some(&key), None, &pointer)?,
            }
        }
        Ok(first(iteration, &["iteration"]).and_then(figures::count))
    }
}

/// Takes `eval-0-with_skill` apart: the longest ending that is the name of an arm is the arm.
fn case_and_arm(key: &str) -> Option<(&str, &str)> {
    let splits = key.match_indices(['-', '_']).map(|(at, _)| (&key[..at], &key[at + 1..]));
    let is_arm = |name: &str| {
        let configuration = Configuration::parse(name);
        configuration.role != Role::Other && configuration.model.is_none()
    };
    splits.into_iter().find(|(case, arm)| !case.is_empty() && is_arm(arm))
}

/// Rows that name no arm are those with the skill, if no row names one.
fn name_arms(rows: &mut [ClaimedRun], notes: &mut Notes) {
    let assumed = rows.iter().all(|row| row.configuration.written.is_empty());
    let with_skill = Arc::new(Configuration::parse("with_skill"));
    for row in rows.iter_mut().filter(|row| row.configuration.written.is_empty()) {
        if assumed {
            notes.add(NoteCode::ConfigurationAssumed, &row.pointer, String::new);
            row.configuration = Arc::clone(&with_skill);
        } else {
            notes.add(NoteCode::RowWithoutConfiguration, &row.pointer, String::new);
        }
    }
}

/// An id that stands beside several names is no id: the names tell the cases apart.
fn tell_names_apart(rows: &mut [ClaimedRun], notes: &mut Notes) {
    let mut names: HashMap<&str, Option<&str>> = HashMap::new();
    let mut shared: Vec<String> = Vec::new();
    for row in rows.iter() {
        let Some(name) = row.case.name.as_deref() else {
            continue;
        };
        match names.entry(&row.case.id) {
            Entry::Vacant(place) => drop(place.insert(Some(name))),
            Entry::Occupied(mut place) if place.get().is_some_and(|known| known != name) => {
                place.insert(None);
                shared.push(row.case.id.clone());
            }
            Entry::Occupied(_) => {}
        }
    }
    shared.sort();
    for row in rows.iter_mut().filter(|row| shared.binary_search(&row.case.id).is_ok()) {
        notes.add(NoteCode::IdWithSeveralNames, &row.pointer, || row.case.id.clone());
        if let Some(name) = row.case.name.take() {
            row.case.id = name;
        }
    }
}

/// Refuses two rows for one run, or keeps the last one.
fn without_duplicates(
    rows: Vec<ClaimedRun>,
    on_duplicate: OnDuplicate,
    notes: &mut Notes,
) -> Result<Vec<ClaimedRun>, ClaimsError> {
    let mut dropped = Vec::new();
    let mut seen = HashMap::with_capacity(rows.len());
    for (at, row) in rows.iter().enumerate().filter(|(_, row)| row.repetition > 0) {
        let arm = (row.configuration.variant(), row.configuration.label.as_deref());
        let key = (row.case.id.as_str(), arm, row.model.as_deref(), row.repetition);
        let Some(earlier) = seen.insert(key, at) else {
            continue;
        };
        if on_duplicate == OnDuplicate::Error {
            return Err(ClaimsError::Duplicate {
                case: row.case.id.clone(),
                configuration: row.configuration.written.clone(),
                repetition: row.repetition,
                first: rows[earlier].pointer.clone(),
                second: row.pointer.clone(),
            });
        }
        dropped.push(earlier);
    }
    drop(seen);
    if dropped.is_empty() {
        return Ok(rows);
    }
    dropped.sort_unstable();
    let mut kept = Vec::with_capacity(rows.len() - dropped.len());
    for (at, row) in rows.into_iter().enumerate() {
        if dropped.binary_search(&at).is_ok() {
            notes.add(NoteCode::DuplicatesDropped, &row.pointer, || row.case.id.clone());
        } else {
            kept.push(row);
        }
    }
    Ok(kept)
}

/// Notes a file without rows, and another number of runs than it states.
fn note_counts(root: Item<'_, '_>, form: ClaimForm, rows: &[ClaimedRun], notes: &mut Notes) {
    if form == ClaimForm::AggregateOnly {
        return;
    }
    if rows.is_empty() {
        notes.add(NoteCode::BenchmarkEmpty, "", String::new);
    }
    let Some((stated, key)) = published::runs_per_configuration(root) else {
        return;
    };
    let mut cells: HashMap<(&str, &str), u64> = HashMap::new();
    for row in rows {
        *cells.entry((&row.case.id, &row.configuration.written)).or_default() += 1;
    }
    let most = cells.into_values().max().unwrap_or(0);
    if most != stated {
        notes.add(NoteCode::RunsPerConfigurationContradicted, "", || format!("{key} {stated}, found {most}"));
    }
}
