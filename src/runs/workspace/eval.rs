//! One eval of a workspace: what the tree says of it, its arms, and where their runs and verdicts stand.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use skill_lift_contract::ContentDigest;

use super::document;
use super::index::{EvalDirectory, Unit, join, open_directory, open_for_file};
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
        let mut directory = open_directory(&self.root, &found.path, limits)?;
        reading.read_metadata(&mut directory, &found.path, limits);
        let mut trials: BTreeMap<ArmKey, Vec<u32>> = BTreeMap::new();
        // a description in the folder of an arm, with its path
        let mut of_arm: Option<(EvalMetadata, String)> = None;
        let folders = found.listing.entries().iter().filter(|entry| layout::is_looked_into(entry));
        for entry in folders {
            let path = join(&found.path, &entry.name);
            let Some(listing) = self.list(&path)? else { continue };
            let configuration = Configuration::parse(&entry.name);
            if let Some((configuration, number)) =
                layout::trial(&entry.name).filter(|_| configuration.role == Role::Other)
            {
                trials.entry(arm_key(&configuration)).or_default().push(number);
                reading.units.push(self.trial_unit(configuration, number, &path, &listing)?);
                continue;
            }
            if configuration.role == Role::Other && !layout::holds_a_run(&listing) {
                continue;
            }
            let is_described = reading.eval.metadata.is_none() || of_arm.is_some();
            if is_described && listing.get(layout::METADATA).is_some() {
                let mut directory = open_directory(&self.root, &path, limits)?;
                reading.read_metadata(&mut directory, &path, limits);
                reading.compare_descriptions(&mut of_arm, &path);
            }
            self.read_arm(configuration, &path, &listing, &mut reading)?;
        }
        // numbered trials and one without a number: that one comes last
        for unit in reading.units.iter_mut().filter(|unit| unit.layout != Layout::Nested && unit.trial.is_none()) {
            if let Some(last) = trials.get(&arm_key(&unit.configuration)).and_then(|numbers| numbers.iter().max()) {
                unit.repetition = Some(last.saturating_add(2));
                let message = "a run without a number beside numbered trials; it is read as the last one".to_owned();
                reading.warnings.push(RunWarning { code: WarningCode::MixedLayout, path: unit.run.clone(), message });
            }
        }
        self.read_gradings_beside(found, &mut reading)?;
        reading.identify(&self.root, limits)?;
        Ok(reading)
    }

    fn read_arm(
        &self,
        configuration: Configuration,
        path: &str,
        listing: &Listing,
        reading: &mut EvalReading,
    ) -> Result<(), LayoutError> {
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
            } else if self.has_grading_in_outputs(path, listing)? {
                (Layout::InOutputs, Some(join(path, &format!("{}/{}", layout::OUTPUTS, layout::GRADING))))
            } else {
                (Layout::Flat, None)
            };
            let run = path.to_owned();
            reading.units.push(Unit { eval: 0, configuration, repetition: None, trial: None, layout, run, grading });
            return Ok(());
        }
        if has_file(listing, layout::GRADING) {
            let message =
                "verdicts beside run-* folders; the folders are read, the verdicts beside them are not".to_owned();
            reading.warnings.push(RunWarning { code: WarningCode::MixedLayout, path: path.to_owned(), message });
        }
        let mut kept: BTreeMap<u32, String> = BTreeMap::new();
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
            if let Some(first) = kept.get(&number).cloned() {
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
            }
            kept.insert(number, name);
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
        Ok(())
    }

    fn has_grading_in_outputs(&self, path: &str, listing: &Listing) -> Result<bool, LayoutError> {
        let outputs = listing.get(layout::OUTPUTS);
        let is_folder = outputs.is_some_and(|entry| entry.kind == EntryKind::Directory && !entry.is_link);
        let below = if is_folder { self.list(&join(path, layout::OUTPUTS))? } else { None };
        let grading = below.as_ref().and_then(|below| below.get(layout::GRADING));
        Ok(grading.is_some_and(|entry| entry.kind == EntryKind::File))
    }

    /// Files of verdicts in the eval's own folder: one for each arm, or one for all.
    fn read_gradings_beside(&self, found: &FoundEval, reading: &mut EvalReading) -> Result<(), LayoutError> {
        for entry in found.listing.entries().iter().filter(|entry| entry.kind == EntryKind::File) {
            if let Some(configuration) = layout::grading_of_arm(&entry.name) {
                let file = join(&found.path, &entry.name);
                self.put_grading(reading, configuration, Layout::BesideConfigurations, file, &found.path);
            }
        }
        let is_file = found.listing.get(layout::GRADING).is_some_and(|entry| entry.kind == EntryKind::File);
        if is_file && !reading.units.iter().any(|unit| self.has_verdicts(unit)) {
            for configuration in self.arms_in_file(&found.path, &mut reading.digests)? {
                let file = join(&found.path, layout::GRADING);
                self.put_grading(reading, configuration, Layout::OneFile, file, &found.path);
            }
        }
        Ok(())
    }

    fn has_verdicts(&self, unit: &Unit) -> bool {
        unit.grading.as_ref().is_some_and(|file| fs::symlink_metadata(self.root.join(file)).is_ok())
    }

    /// Gives an arm its file of verdicts. The folder of the arm may be there or not; verdicts in it are nearer to the
    /// runs than a file beside it.
    fn put_grading(
        &self,
        reading: &mut EvalReading,
        configuration: Configuration,
        layout: Layout,
        file: String,
        eval: &str,
    ) {
        let run = join(eval, &configuration.written);
        let (own, others): (Vec<Unit>, Vec<Unit>) =
            std::mem::take(&mut reading.units).into_iter().partition(|unit| unit.configuration == configuration);
        reading.units = others;
        let message = if own.iter().any(|unit| self.has_verdicts(unit)) {
            reading.units.extend(own);
            "the arm has verdicts in its own folder; this file is not read"
        } else if own.len() < 2 {
            let unit = match own.into_iter().next() {
                Some(unit) => Unit { layout, grading: Some(file), ..unit },
                None => {
                    let grading = Some(file);
                    Unit { eval: 0, configuration, repetition: None, trial: None, layout, run, grading }
                }
            };
            return reading.units.push(unit);
        } else {
            let grading = Some(file.clone());
            reading.units.push(Unit { eval: 0, configuration, repetition: None, trial: None, layout, run, grading });
            "one file of verdicts beside several runs without any; its runs are read instead of the folders"
        };
        reading.warnings.push(RunWarning { code: WarningCode::MixedLayout, path: file, message: message.to_owned() });
    }

    /// A numbered trial. Run folders in it would be repetitions of a repetition.
    fn trial_unit(
        &self,
        configuration: Configuration,
        number: u32,
        path: &str,
        listing: &Listing,
    ) -> Result<Unit, LayoutError> {
        let has_grading = listing.get(layout::GRADING).is_some_and(|entry| entry.kind == EntryKind::File);
        let grading = if has_grading {
            Some(join(path, layout::GRADING))
        } else if self.has_grading_in_outputs(path, listing)? {
            Some(join(path, &format!("{}/{}", layout::OUTPUTS, layout::GRADING)))
        } else {
            None
        };
        Ok(Unit {
            eval: 0,
            configuration,
            repetition: number.checked_add(1),
            trial: Some(number),
            layout: Layout::Trials,
            run: path.to_owned(),
            grading,
        })
    }
}

/// An arm, whichever of its names its folder has.
type ArmKey = (String, Option<String>);

fn arm_key(configuration: &Configuration) -> ArmKey {
    (configuration.variant().to_owned(), configuration.model.clone())
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
        let eval = EvalDirectory {
            name: name.to_owned(),
            path: path.to_owned(),
            metadata: None,
            eval_id: None,
            id_is_guessed: false,
            title: None,
        };
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
            let mut directory = open_for_file(root, &unit.run, layout::RUN_RECORD, limits)?;
            let Ok(bytes) = directory.read(layout::RUN_RECORD, limits.sidecar_bytes) else { continue };
            self.digests.extend(directory.take_digests());
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

    /// Holds the description that was just read in the folder of an arm against that of an earlier arm: arms that
    /// were not asked the same cannot be paired.
    fn compare_descriptions(&mut self, of_arm: &mut Option<(EvalMetadata, String)>, path: &str) {
        let Some(metadata) = self.eval.metadata.take() else { return };
        let (first, first_path) = of_arm.get_or_insert_with(|| (metadata.clone(), path.to_owned()));
        if let Some(key) = first.differs_in(&metadata) {
            let (first, second) = (join(first_path, layout::METADATA), join(path, layout::METADATA));
            self.errors.push(LayoutError::ArmsDiffer { key, first, second });
        }
        self.eval.metadata = Some(first.clone());
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
                // what lies in the arm's own folder is about all of its evals
                run: join(&arm.path, case),
                grading: Some(join(&arm.path, &entry.name)),
            });
        }
    }
    readings.into_values().collect()
}
