//! The index of a run tree: every run that a suite expects or that is there, in report order.
//!
//! Layouts: `<case>/<variant>/`, `<case>/<variant>/run-<n>/`, and both below `<case>/<model>/`. A selected variant
//! that is not on disk still has one slot for each root, so that missing runs are named.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use rayon::prelude::*;

use super::directory::{RunDirectory, plain_message};
use super::layout_error::LayoutError;
use super::limits::Limits;
use super::listing::{Entry, EntryKind, Listing, ListingError};
use super::warning::{RunWarning, WarningCode};

/// What to do when two directories claim the same run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnDuplicate {
    /// Refuse the tree.
    #[default]
    Error,
    /// Keep the last one in reading order, with a warning.
    Last,
}

/// How a tree is read.
#[derive(Debug, Clone, Copy, Default)]
pub struct IndexOptions {
    /// What to do with duplicate runs.
    pub on_duplicate: OnDuplicate,
    /// How much is read.
    pub limits: Limits,
    /// What the answer of a run is.
    pub answers: AnswerRule,
}

/// What the answer of a run is when it has no file of that name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AnswerRule {
    /// The text files of `outputs/` with a line that names each.
    #[default]
    RunContract,
    /// The text files of `outputs/` alone, without those that are about the run: as workspaces of other tools have it.
    TextsOfOutputs,
}

/// One run of the tree, or the place where one is missing.
#[derive(Debug)]
pub struct RunSlot {
    /// Position of the case in the list that was indexed.
    pub case: usize,
    /// Position of the arm in the selection.
    pub variant: usize,
    /// The directory between case and arm, if the layout has one.
    pub model_directory: Option<String>,
    /// Number of the repetition.
    pub repetition: u32,
    /// Path below the runs root, `/` between components.
    pub path: String,
    listing: Option<Listing>,
    exists: bool,
}

impl RunSlot {
    /// A run with a directory of its own, wherever it lies below the root.
    pub(super) fn of_directory(
        case: usize,
        variant: usize,
        model_directory: Option<String>,
        repetition: u32,
        path: String,
    ) -> Self {
        Self { case, variant, model_directory, repetition, path, listing: None, exists: true }
    }

    /// The order of reports.
    pub(super) fn report_order(&self, other: &Self) -> std::cmp::Ordering {
        let key = |slot: &Self| (slot.case, slot.model_directory.clone(), slot.variant, slot.repetition);
        key(self).cmp(&key(other))
    }

    /// Whether there is a directory.
    pub fn exists(&self) -> bool {
        self.exists
    }
}

/// A run tree.
#[derive(Debug)]
pub struct RunIndex {
    root: PathBuf,
    shown_root: String,
    options: IndexOptions,
    slots: Vec<RunSlot>,
    warnings: Vec<RunWarning>,
    duplicates_dropped: usize,
}

impl RunIndex {
    /// Indexes a tree for some cases and arms. `root` is the path as the user typed it; folders of cases that are
    /// `known` to the suite but not selected are passed over in silence.
    ///
    /// # Errors
    /// Everything that makes the identity of a run ambiguous, all at once; a root that is no directory.
    pub fn build(
        root: &Path,
        case_ids: &[&str],
        known: &[&str],
        variants: &[String],
        options: IndexOptions,
    ) -> Result<Self, Vec<LayoutError>> {
        let mut warnings = Vec::new();
        check_root(root, &mut warnings).map_err(|error| vec![error])?;
        let reader = Reader { root, variants, options };
        if let Some(listing) = reader.list("").map_err(|error| vec![error])? {
            name_unknown_cases(&listing, known, &mut warnings);
        }
        let read: Vec<CaseReading> =
            case_ids.par_iter().enumerate().map(|(case, id)| reader.read_case(case, id)).collect();
        let mut slots = Vec::new();
        let mut errors = Vec::new();
        let mut duplicates_dropped = 0;
        for reading in read {
            slots.extend(reading.slots);
            warnings.extend(reading.warnings);
            errors.extend(reading.errors);
            duplicates_dropped += reading.duplicates_dropped;
        }
        if errors.is_empty() {
            let shown_root = shown_path(root);
            Ok(Self { root: root.to_owned(), shown_root, options, slots, warnings, duplicates_dropped })
        } else {
            Err(errors)
        }
    }

    /// An index of runs that were found otherwise. `slots` are in report order.
    pub(super) fn of_slots(
        root: &Path,
        shown_root: &str,
        slots: Vec<RunSlot>,
        warnings: Vec<RunWarning>,
        duplicates_dropped: usize,
        options: IndexOptions,
    ) -> Self {
        let (root, shown_root) = (root.to_owned(), shown_root.to_owned());
        Self { root, shown_root, options, slots, warnings, duplicates_dropped }
    }

    /// All runs in report order: cases as given, the tree without a model first, then models by name, arms as
    /// selected, repetitions by number.
    pub fn slots(&self) -> &[RunSlot] {
        &self.slots
    }

    /// Oddities of the layout.
    pub fn warnings(&self) -> &[RunWarning] {
        &self.warnings
    }

    /// How the tree is read.
    pub fn options(&self) -> &IndexOptions {
        &self.options
    }

    /// Directories that were dropped because another one has the same identity.
    pub fn duplicates_dropped(&self) -> usize {
        self.duplicates_dropped
    }

    /// A path below the root as the user would type it: the root as given, then the path.
    pub fn shown_path_below(&self, path: &str) -> String {
        join_shown(&self.shown_root, path)
    }

    pub(super) fn open(&self, slot: &RunSlot) -> Result<RunDirectory, LayoutError> {
        self.open_path(slot.path.clone(), slot.listing.clone())
    }

    pub(super) fn open_below(&self, directory: &RunDirectory, name: &str) -> Result<RunDirectory, LayoutError> {
        self.open_path(format!("{}/{name}", directory.relative()), None)
    }

    fn open_path(&self, path: String, listing: Option<Listing>) -> Result<RunDirectory, LayoutError> {
        RunDirectory::open(self.root.join(&path), path.clone(), listing, self.options.limits.directory_entries)
            .map_err(|error| listing_error(&path, error))
    }
}

pub(super) fn check_root(root: &Path, warnings: &mut Vec<RunWarning>) -> Result<(), LayoutError> {
    match fs::metadata(root) {
        Ok(data) if data.is_dir() => Ok(()),
        Ok(_) => Err(LayoutError::NotADirectory(root.display().to_string())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let message = format!("runs directory does not exist: {}", root.display());
            warnings.push(RunWarning { code: WarningCode::RunsMissing, path: String::new(), message });
            Ok(())
        }
        Err(error) => Err(listing_error(&root.display().to_string(), ListingError::Io(error))),
    }
}

pub(super) fn name_unknown_cases(listing: &Listing, known: &[&str], warnings: &mut Vec<RunWarning>) {
    let known: HashSet<&str> = known.iter().map(|id| id.split('/').next().unwrap_or(id)).collect();
    for entry in listing.entries().iter().filter(|entry| entry.kind == EntryKind::Directory) {
        if !known.contains(entry.name.as_str()) && !entry.name.starts_with('.') {
            let message = "no case of the suite has this id; its runs are not read".to_owned();
            warnings.push(RunWarning { code: WarningCode::UnknownCase, path: entry.name.clone(), message });
        }
    }
    for name in &listing.refused {
        warnings.push(refused_link(name.clone()));
    }
}

pub(super) fn refused_link(path: String) -> RunWarning {
    let message = "link leads out of the runs directory; it is not followed".to_owned();
    RunWarning { code: WarningCode::LinkRefused, path, message }
}

pub(super) fn listing_error(folder: &str, error: ListingError) -> LayoutError {
    let folder = if folder.is_empty() { "the runs directory".to_owned() } else { folder.to_owned() };
    match error {
        ListingError::TooManyEntries(limit) => LayoutError::TooManyEntries { folder, limit },
        ListingError::Io(error) => LayoutError::Unreadable { folder, message: plain_message(&error) },
    }
}

/// A path below a root that is shown as the user typed it.
pub fn join_shown(root: &str, path: &str) -> String {
    match root {
        "." => path.to_owned(),
        root if root.ends_with('/') => format!("{root}{path}"),
        root => format!("{root}/{path}"),
    }
}

/// A path without `.` components and doubled slashes.
pub fn shown_path(path: &Path) -> String {
    let mut shown = PathBuf::new();
    for component in path.components().filter(|component| *component != Component::CurDir) {
        shown.push(component);
    }
    if shown.as_os_str().is_empty() { ".".to_owned() } else { shown.display().to_string() }
}

pub(super) struct Reader<'a> {
    pub(super) root: &'a Path,
    pub(super) variants: &'a [String],
    pub(super) options: IndexOptions,
}

#[derive(Default)]
pub(super) struct CaseReading {
    pub(super) slots: Vec<RunSlot>,
    pub(super) warnings: Vec<RunWarning>,
    pub(super) errors: Vec<LayoutError>,
    duplicates_dropped: usize,
}

impl Reader<'_> {
    pub(super) fn list(&self, path: &str) -> Result<Option<Listing>, LayoutError> {
        let root = || fs::canonicalize(self.root);
        Listing::read(&self.root.join(path), &root, self.options.limits.directory_entries)
            .map_err(|error| listing_error(path, error))
    }

    fn is_variant(&self, name: &str) -> bool {
        self.variants.iter().any(|variant| variant == name)
    }

    fn has_variant(&self, listing: &Listing) -> bool {
        self.variants.iter().any(|variant| listing.get(variant).is_some())
    }

    fn read_case(&self, case: usize, id: &str) -> CaseReading {
        let mut reading = CaseReading::default();
        if let Err(error) = self.fill_case(case, id, &mut reading) {
            reading.errors.push(error);
        }
        reading
    }

    fn fill_case(&self, case: usize, id: &str, reading: &mut CaseReading) -> Result<(), LayoutError> {
        let mut roots: Vec<(Option<String>, String, Option<Cow<'_, Listing>>)> = Vec::new();
        let base = self.list(id)?;
        if let Some(listing) = &base {
            reading.warnings.extend(listing.refused.iter().map(|name| refused_link(format!("{id}/{name}"))));
            if self.has_variant(listing) {
                roots.push((None, id.to_owned(), Some(Cow::Borrowed(listing))));
            }
            for entry in listing.entries() {
                if entry.kind != EntryKind::Directory || self.is_variant(&entry.name) {
                    continue;
                }
                let path = format!("{id}/{}", entry.name);
                if let Some(below) = self.list(&path)?
                    && self.has_variant(&below)
                {
                    roots.push((Some(entry.name.clone()), path, Some(Cow::Owned(below))));
                }
            }
        }
        if roots.is_empty() {
            roots.push((None, id.to_owned(), None));
        }
        for (model, path, listing) in roots {
            for (variant, name) in self.variants.iter().enumerate() {
                let entry = listing.as_ref().and_then(|listing| listing.get(name));
                let slot = Place { case, variant, model: model.clone(), path: format!("{path}/{name}") };
                self.fill_variant(slot, entry, reading)?;
            }
        }
        Ok(())
    }

    fn fill_variant(&self, place: Place, entry: Option<&Entry>, reading: &mut CaseReading) -> Result<(), LayoutError> {
        let listing = match entry {
            Some(entry) if entry.kind == EntryKind::Directory => self.list(&place.path)?,
            _ => None,
        };
        self.fill_listed(place, listing, reading);
        Ok(())
    }

    /// Adds the runs of an arm, or the place of a missing one where there is no listing.
    pub(super) fn fill_listed(&self, place: Place, listing: Option<Listing>, reading: &mut CaseReading) {
        let Some(listing) = listing else {
            reading.slots.push(place.slot(1, None, None));
            return;
        };
        let runs = self.repetitions(&place.path, &listing, reading);
        if runs.is_empty() {
            reading.slots.push(place.slot(1, None, Some(listing)));
            return;
        }
        if listing.entries().iter().any(|entry| is_output(&entry.name)) {
            let message = "an answer beside run-* folders; the folders are read, the answer is not".to_owned();
            reading.warnings.push(RunWarning { code: WarningCode::MixedLayout, path: place.path.clone(), message });
        }
        for (number, name) in runs {
            reading.slots.push(place.slot(number, Some(&name), None));
        }
    }

    /// The repetitions of an arm, ascending by number.
    fn repetitions(&self, path: &str, listing: &Listing, reading: &mut CaseReading) -> Vec<(u32, String)> {
        let mut runs: Vec<(u32, String)> = Vec::new();
        for entry in listing.entries() {
            let Some(suffix) = entry.name.strip_prefix("run-") else {
                continue;
            };
            if entry.kind != EntryKind::Directory {
                continue;
            }
            let digits = !suffix.is_empty() && suffix.bytes().all(|byte| byte.is_ascii_digit());
            match suffix.parse::<u32>() {
                Ok(number) if digits => {
                    let canonical = number.to_string() == suffix;
                    let code = match number {
                        0 => Some((WarningCode::RunZero, "repetitions count from 1; its pair is blocked")),
                        _ if !canonical => Some((WarningCode::PaddedRunName, "read by its number")),
                        _ => None,
                    };
                    if let Some((code, message)) = code {
                        let path = format!("{path}/{}", entry.name);
                        reading.warnings.push(RunWarning { code, path, message: message.to_owned() });
                    }
                    runs.push((number, entry.name.clone()));
                }
                _ => reading.errors.push(LayoutError::RunName { name: entry.name.clone(), folder: path.to_owned() }),
            }
        }
        // natural order, then byte order: what "the last" means
        runs.sort();
        let mut kept: Vec<(u32, String)> = Vec::with_capacity(runs.len());
        for (number, name) in runs {
            match kept.last_mut().filter(|(last, _)| *last == number) {
                None => kept.push((number, name)),
                Some(last) => match self.options.on_duplicate {
                    OnDuplicate::Error => reading.errors.push(LayoutError::Duplicate {
                        folder: path.to_owned(),
                        number,
                        first: last.1.clone(),
                        second: name,
                    }),
                    OnDuplicate::Last => {
                        let message = format!("dropped, {name} has the same number");
                        let path = format!("{path}/{}", last.1);
                        let code = WarningCode::DuplicateDropped;
                        reading.warnings.push(RunWarning { code, path, message });
                        reading.duplicates_dropped += 1;
                        last.1 = name;
                    }
                },
            }
        }
        let mut expected = 1;
        for (number, _) in &kept {
            if *number > expected {
                let missing = if *number == expected + 1 {
                    format!("run-{expected} is not there")
                } else {
                    format!("run-{expected} to run-{} are not there", number - 1)
                };
                let code = WarningCode::GapInRepetitions;
                reading.warnings.push(RunWarning { code, path: path.to_owned(), message: missing });
            }
            expected = number.saturating_add(1);
        }
        kept
    }
}

pub(super) struct Place {
    pub(super) case: usize,
    pub(super) variant: usize,
    pub(super) model: Option<String>,
    pub(super) path: String,
}

impl Place {
    fn slot(&self, repetition: u32, name: Option<&str>, listing: Option<Listing>) -> RunSlot {
        let path = match name {
            Some(name) => format!("{}/{name}", self.path),
            None => self.path.clone(),
        };
        RunSlot {
            case: self.case,
            variant: self.variant,
            model_directory: self.model.clone(),
            repetition,
            path,
            exists: name.is_some() || listing.is_some(),
            listing,
        }
    }
}

pub(super) fn is_output(name: &str) -> bool {
    matches!(name, "output.md" | "output.txt" | "response.md" | "response.txt" | "final.md" | "final.txt" | "outputs")
}
