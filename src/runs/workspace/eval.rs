//! One eval of a workspace: what the tree says of it, its arms, and where their runs and verdicts stand.

use std::collections::BTreeMap;
use std::path::Path;

use skill_lift_contract::ContentDigest;

use super::document;
use super::index::{EvalDirectory, Unit, join, open_directory, refused_link};
use super::layout::{self, Layout};
use super::metadata::EvalMetadata;
use super::root::{FoundEval, FoundKind, Scan};
use crate::json::Item;
use crate::runs::LayoutError;
use crate::runs::configuration::{Configuration, Role};
use crate::runs::directory::RunDirectory;
use crate::runs::index::OnDuplicate;
use crate::runs::limits::Limits;
use crate::runs::listing::{EntryKind, Listing};
use crate::runs::natural::natural_order;
use crate::runs::warning::{RunWarning, WarningCode};

impl Scan {
    /// Reads one eval whose arms stand below it.
    pub(super) fn read_eval(&self, found: &FoundEval) -> Result<EvalReading, LayoutError> {
        let limits = &self.options.limits;
        let mut reading = EvalReading::named(&found.name, &found.path);
        reading.warnings.extend(found.listing.refused.iter().map(|name| refused_link(join(&found.path, name))));
        let mut directory = open_directory(&self.root, &found.path, limits)?;
        reading.read_metadata(&mut directory, &found.path, limits);
        let mut trials: BTreeMap<String, Vec<u32>> = BTreeMap::new();
        let folders = found.listing.entries().iter().filter(|entry| layout::is_looked_into(entry));
        for entry in folders {
            let path = join(&found.path, &entry.name);
            let Some(listing) = self.list(&path)? else { continue };
            let configuration = Configuration::parse(&entry.name);
            if let Some((configuration, number)) =
                layout::trial(&entry.name).filter(|_| configuration.role == Role::Other)
            {
                trials.entry(configuration.variant().to_owned()).or_default().push(number);
                reading.units.push(trial_unit(configuration, number, &path, &listing));
                continue;
            }
            if configuration.role == Role::Other && !layout::holds_a_run(&listing) {
                continue;
            }
            if reading.eval.metadata.is_none() && listing.get(layout::METADATA).is_some() {
                let mut directory = open_directory(&self.root, &path, limits)?;
                reading.read_metadata(&mut directory, &path, limits);
            }
            self.read_arm(configuration, &path, &listing, &mut reading);
        }
        // numbered trials and one without a number: that one comes last
        for unit in reading.units.iter_mut().filter(|unit| unit.layout != Layout::Nested && unit.trial.is_none()) {
            if let Some(last) = trials.get(unit.configuration.variant()).and_then(|numbers| numbers.iter().max()) {
                unit.repetition = Some(last.saturating_add(2));
                let message = "a run without a number beside numbered trials; it is read as the last one".to_owned();
                reading.warnings.push(RunWarning { code: WarningCode::MixedLayout, path: unit.run.clone(), message });
            }
        }
        self.read_gradings_beside(found, &mut reading)?;
        reading.identify(&self.root, limits)?;
        Ok(reading)
    }

    fn read_arm(&self, configuration: Configuration, path: &str, listing: &Listing, reading: &mut EvalReading) {
        let has_file =
            |listing: &Listing, name: &str| listing.get(name).is_some_and(|entry| entry.kind == EntryKind::File);
        let mut numbers: Vec<(u32, String)> = Vec::new();
        for entry in listing.entries().iter().filter(|entry| entry.kind == EntryKind::Directory) {
            match layout::run_number(&entry.name) {
                None => {}
                Some(None) => {
                    reading.errors.push(LayoutError::RunName { name: entry.name.clone(), folder: path.to_owned() });
                }
                Some(Some(number)) => numbers.push((number, entry.name.clone())),
            }
        }
        numbers.sort_by(|a, b| a.0.cmp(&b.0).then_with(|| natural_order(&a.1, &b.1)));
        if numbers.is_empty() {
            let (layout, grading) = if has_file(listing, layout::GRADING) {
                (Layout::Flat, Some(join(path, layout::GRADING)))
            } else if self.has_grading_in_outputs(path, listing) {
                (Layout::InOutputs, Some(join(path, &format!("{}/{}", layout::OUTPUTS, layout::GRADING))))
            } else {
                (Layout::Flat, None)
            };
            let run = path.to_owned();
            reading.units.push(Unit { eval: 0, configuration, repetition: None, trial: None, layout, run, grading });
            return;
        }
        if has_file(listing, layout::GRADING) {
            let message =
                "verdicts beside run-* folders; the folders are read, the verdicts beside them are not".to_owned();
            reading.warnings.push(RunWarning { code: WarningCode::MixedLayout, path: path.to_owned(), message });
        }
        let mut kept: Vec<(u32, String)> = Vec::new();
        for (number, name) in numbers {
            let canonical = format!("run-{number}");
            let code = match number {
                0 => Some((WarningCode::RunZero, "repetitions count from 1; its pair is blocked")),
                _ if canonical != name => Some((WarningCode::PaddedRunName, "read by its number")),
                _ => None,
            };
            if let Some((code, message)) = code {
                reading.warnings.push(RunWarning { code, path: join(path, &name), message: message.to_owned() });
            }
            if let Some((_, first)) = kept.iter().find(|(known, _)| *known == number).cloned() {
                if self.options.on_duplicate == OnDuplicate::Error {
                    reading.errors.push(LayoutError::Duplicate {
                        folder: path.to_owned(),
                        number,
                        first,
                        second: name,
                    });
                    continue;
                }
                let message = format!("dropped, {name} has the same number");
                reading.warnings.push(RunWarning {
                    code: WarningCode::DuplicateDropped,
                    path: join(path, &first),
                    message,
                });
                kept.retain(|(known, _)| *known != number);
            }
            kept.push((number, name));
        }
        for (number, name) in kept {
            let run = join(path, &name);
            let grading = Some(join(&run, layout::GRADING));
            let configuration = configuration.clone();
            let layout = Layout::Nested;
            reading.units.push(Unit {
                eval: 0,
                configuration,
                repetition: Some(number),
                trial: None,
                layout,
                run,
                grading,
            });
        }
    }

    fn has_grading_in_outputs(&self, path: &str, listing: &Listing) -> bool {
        let is_folder = listing.get(layout::OUTPUTS).is_some_and(|entry| entry.kind == EntryKind::Directory);
        let below = is_folder.then(|| self.list(&join(path, layout::OUTPUTS)).ok().flatten()).flatten();
        below.is_some_and(|below| below.get(layout::GRADING).is_some_and(|entry| entry.kind == EntryKind::File))
    }

    /// Files of verdicts in the eval's own folder: one for each arm, or one for all.
    fn read_gradings_beside(&self, found: &FoundEval, reading: &mut EvalReading) -> Result<(), LayoutError> {
        for entry in found.listing.entries().iter().filter(|entry| entry.kind == EntryKind::File) {
            if let Some(configuration) = layout::grading_of_arm(&entry.name) {
                let grading = Some(join(&found.path, &entry.name));
                reading.put_grading(configuration, Layout::BesideConfigurations, grading, &found.path);
            }
        }
        let has_gradings = reading.units.iter().any(|unit| unit.grading.is_some());
        let is_file = found.listing.get(layout::GRADING).is_some_and(|entry| entry.kind == EntryKind::File);
        if is_file && !has_gradings {
            for configuration in self.arms_in_file(&found.path, &mut reading.digests)? {
                let grading = Some(join(&found.path, layout::GRADING));
                reading.put_grading(configuration, Layout::OneFile, grading, &found.path);
            }
        }
        Ok(())
    }
}

/// What is known of an eval while it is read.
pub(super) struct EvalReading {
    pub(super) eval: EvalDirectory,
    pub(super) units: Vec<Unit>,
    pub(super) errors: Vec<LayoutError>,
    pub(super) warnings: Vec<RunWarning>,
    /// Whether the id is claimed by a file or is the whole name, or is only a number in a longer name.
    pub(super) claims_id: bool,
    pub(super) digests: Vec<(String, ContentDigest)>,
}

impl EvalReading {
    fn named(name: &str, path: &str) -> Self {
        let eval =
            EvalDirectory { name: name.to_owned(), path: path.to_owned(), metadata: None, eval_id: None, title: None };
        Self {
            eval,
            units: Vec::new(),
            errors: Vec::new(),
            warnings: Vec::new(),
            claims_id: false,
            digests: Vec::new(),
        }
    }

    pub(super) fn is_nested(&self) -> bool {
        self.units.iter().any(|unit| unit.layout == Layout::Nested)
    }

    /// Reads what a folder says of the eval, if it says something.
    pub(super) fn read_metadata(&mut self, directory: &mut RunDirectory, path: &str, limits: &Limits) {
        let bytes = match directory.read(layout::METADATA, limits.sidecar_bytes) {
            Ok(bytes) => bytes,
            Err(crate::runs::FileProblem::Missing(_)) => return,
            Err(problem) => return self.warn_metadata(path, problem.to_string()),
        };
        self.digests.extend(directory.take_digests());
        match document::read(&bytes, |root| EvalMetadata::of(root.to_node().into_owned())) {
            Ok(reading) => self.eval.metadata = reading.value,
            Err(problem) => self.warn_metadata(path, problem),
        }
    }

    fn warn_metadata(&mut self, path: &str, message: String) {
        let path = join(path, layout::METADATA);
        self.warnings.push(RunWarning { code: WarningCode::SidecarUnreadable, path, message });
    }

    /// The id of the eval: of its metadata, of a record of its runs, else the number in its name.
    fn identify(&mut self, root: &Path, limits: &Limits) -> Result<(), LayoutError> {
        self.eval.eval_id = self.eval.metadata.as_ref().and_then(|metadata| metadata.id.clone());
        for unit in &self.units {
            if self.eval.eval_id.is_some() {
                break;
            }
            let mut directory = open_directory(root, &unit.run, limits)?;
            let Ok(bytes) = directory.read(layout::RUN_RECORD, limits.sidecar_bytes) else { continue };
            let text =
                |root: Item<'_, '_>, key: &str| root.get(key).and_then(Item::as_str).map(|text| text.into_owned());
            let names = document::read(&bytes, |root| (text(root, "eval_id"), text(root, "eval_name")));
            (self.eval.eval_id, self.eval.title) = names.map(|reading| reading.value).unwrap_or_default();
        }
        self.claims_id = self.eval.eval_id.is_some();
        self.take_id_from_name();
        Ok(())
    }

    /// `eval-10` says its id; `eval-10-upgrade` may.
    fn take_id_from_name(&mut self) {
        if self.eval.eval_id.is_none() {
            self.eval.eval_id = number_in_name(&self.eval.name);
            let digits = self.eval.name.strip_prefix("eval-").and_then(layout::whole_number);
            self.claims_id = digits.is_some();
        }
    }

    /// In the forge pipeline the name of the directory is the id, whatever the file in it says.
    pub(super) fn take_id_of_directory(&mut self) {
        let digits = self.eval.name.strip_prefix("eval-").and_then(layout::whole_number);
        if let Some(number) = digits {
            self.eval.eval_id = Some(number.to_string());
            self.claims_id = true;
        }
    }

    /// Gives an arm its file of verdicts; the folder of the arm may be there or not.
    fn put_grading(&mut self, configuration: Configuration, layout: Layout, grading: Option<String>, eval: &str) {
        if let Some(unit) = self.units.iter_mut().find(|unit| unit.configuration == configuration) {
            (unit.layout, unit.grading) = (layout, grading);
            return;
        }
        let run = join(eval, &configuration.written);
        self.units.push(Unit { eval: 0, configuration, repetition: None, trial: None, layout, run, grading });
    }
}

/// `10` in `eval-10` and in `eval-10-upgrade`.
fn number_in_name(name: &str) -> Option<String> {
    let digits = name.strip_prefix("eval-")?.split('-').next()?;
    layout::whole_number(digits).map(|number| number.to_string())
}

/// Evals whose files stand below the arms, joined by their names.
pub(super) fn configuration_first(found: &[FoundEval]) -> Vec<EvalReading> {
    let mut readings: BTreeMap<String, EvalReading> = BTreeMap::new();
    for arm in found {
        let FoundKind::ConfigurationFirst(configuration) = &arm.kind else { continue };
        for entry in arm.listing.entries().iter().filter(|entry| entry.kind == EntryKind::File) {
            let Some(case) = layout::case_of_grading(&entry.name) else { continue };
            let reading = readings.entry(case.to_owned()).or_insert_with(|| EvalReading::named(case, case));
            reading.take_id_from_name();
            reading.units.push(Unit {
                eval: 0,
                configuration: configuration.clone(),
                repetition: None,
                trial: None,
                layout: Layout::ConfigurationFirst,
                run: arm.path.clone(),
                grading: Some(join(&arm.path, &entry.name)),
            });
        }
    }
    readings.into_values().collect()
}

fn trial_unit(configuration: Configuration, number: u32, path: &str, listing: &Listing) -> Unit {
    let has_grading = listing.get(layout::GRADING).is_some_and(|entry| entry.kind == EntryKind::File);
    Unit {
        eval: 0,
        configuration,
        repetition: number.checked_add(1),
        trial: Some(number),
        layout: Layout::Trials,
        run: path.to_owned(),
        grading: has_grading.then(|| join(path, layout::GRADING)),
    }
}
