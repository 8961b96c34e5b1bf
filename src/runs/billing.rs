//! Every run that was paid for: whatever lies below the cases of a suite, whether an arm is selected or not.
//!
//! A folder of a case is an arm when it holds a run; else its folders that hold runs are arms of the model that it is
//! named after. Grading looks at the selected arms only ([`RunIndex`]); money counts wherever it went.

use std::collections::BTreeMap;
use std::path::Path;

use rayon::prelude::*;

use super::index::{
    CaseReading, IndexOptions, Place, Reader, RunIndex, RunSlot, check_root, name_unknown_cases, refused_link,
    shown_path,
};
use super::layout_error::LayoutError;
use super::listing::{EntryKind, Listing};
use super::sidecar::Sidecars;
use super::telemetry::RunTelemetry;
use super::warning::RunWarning;

/// A run that was paid for.
#[derive(Debug)]
pub struct BilledRun {
    /// Position of its case in the list that was given.
    pub case: usize,
    /// Its arm.
    pub variant: String,
    /// What it used.
    pub telemetry: RunTelemetry,
}

/// Every run below the cases of a suite: cases as given, folders by name, repetitions by number; and what was odd.
///
/// # Errors
/// Everything that makes the identity of a run ambiguous; a directory that cannot be read.
pub fn billed_runs(
    root: &Path,
    case_ids: &[&str],
    options: IndexOptions,
) -> Result<(Vec<BilledRun>, Vec<RunWarning>), Vec<LayoutError>> {
    let mut warnings = Vec::new();
    check_root(root, &mut warnings).map_err(|error| vec![error])?;
    let reader = Reader { root, variants: &[], options };
    if let Some(listing) = reader.list("").map_err(|error| vec![error])? {
        name_unknown_cases(&listing, case_ids, &mut warnings);
    }
    let index = RunIndex::of_slots(root, &shown_path(root), Vec::new(), Vec::new(), 0, options);
    let cases: Vec<(CaseReading, Vec<BilledRun>)> =
        case_ids.par_iter().enumerate().map(|(case, id)| billed_case(&reader, &index, case, id)).collect();
    let mut runs = Vec::new();
    let mut errors = Vec::new();
    for (reading, billed) in cases {
        warnings.extend(reading.warnings);
        errors.extend(reading.errors);
        runs.extend(billed);
    }
    if errors.is_empty() { Ok((runs, warnings)) } else { Err(errors) }
}

fn billed_case(reader: &Reader<'_>, index: &RunIndex, case: usize, id: &str) -> (CaseReading, Vec<BilledRun>) {
    let mut reading = CaseReading::default();
    let mut billed = Vec::new();
    if let Err(error) = fill(reader, index, case, id, &mut reading, &mut billed) {
        reading.errors.push(error);
    }
    (reading, billed)
}

fn fill(
    reader: &Reader<'_>,
    index: &RunIndex,
    case: usize,
    id: &str,
    reading: &mut CaseReading,
    billed: &mut Vec<BilledRun>,
) -> Result<(), LayoutError> {
    let mut arms: Vec<(String, Option<String>, String, Listing)> = Vec::new();
    let Some(of_case) = reader.list(id)? else { return Ok(()) };
    for (name, listing) in folders_of(reader, id, &of_case, reading)? {
        let path = format!("{id}/{name}");
        if holds_run(&listing) {
            arms.push((name, None, path, listing));
            continue;
        }
        for (below, listing) in folders_of(reader, &path, &listing, reading)? {
            if holds_run(&listing) {
                arms.push((below.clone(), Some(name.clone()), format!("{path}/{below}"), listing));
            }
        }
    }
    // the same run twice in two layouts was paid for twice; the same number twice below one arm is an error
    let mut positions: BTreeMap<String, usize> = BTreeMap::new();
    for (variant, model, path, listing) in arms {
        let count = positions.len();
        let position = *positions.entry(variant.clone()).or_insert(count);
        let before = reading.slots.len();
        reader.fill_listed(Place { case, variant: position, model, path }, Some(listing), reading);
        for slot in reading.slots.split_off(before) {
            let telemetry = telemetry(index, &slot, reading)?;
            billed.push(BilledRun { case, variant: variant.clone(), telemetry });
        }
    }
    Ok(())
}

fn telemetry(index: &RunIndex, slot: &RunSlot, reading: &mut CaseReading) -> Result<RunTelemetry, LayoutError> {
    let mut directory = index.open(slot)?.without_digests();
    let sidecars = Sidecars::read(&mut directory, &index.options().limits);
    let telemetry = sidecars.parse_alone(&mut directory).used();
    reading.warnings.extend(directory.take_warnings());
    Ok(telemetry)
}

/// The folders of a folder, by name, with what is in them.
fn folders_of(
    reader: &Reader<'_>,
    path: &str,
    listing: &Listing,
    reading: &mut CaseReading,
) -> Result<Vec<(String, Listing)>, LayoutError> {
    reading.warnings.extend(listing.refused.iter().map(|name| refused_link(format!("{path}/{name}"))));
    let mut folders = Vec::new();
    for entry in listing.entries().iter().filter(|entry| entry.kind == EntryKind::Directory) {
        if let Some(below) = reader.list(&format!("{path}/{}", entry.name))? {
            folders.push((entry.name.clone(), below));
        }
    }
    Ok(folders)
}

/// Whether a folder holds what a run leaves behind, or folders of repetitions or turns.
fn holds_run(listing: &Listing) -> bool {
    let is = |name: &str, kind| listing.get(name).is_some_and(|entry| entry.kind == kind);
    is("output.md", EntryKind::File)
        || is("metadata.json", EntryKind::File)
        || is("outputs", EntryKind::Directory)
        || listing.entries().iter().any(|entry| {
            entry.kind == EntryKind::Directory && (entry.name.starts_with("run-") || entry.name.starts_with("turn-"))
        })
}
