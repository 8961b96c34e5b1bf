//! What has to be written into the files of one run.

use std::path::Path;
use std::rc::Rc;

use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};
use serde::Serialize;
use skill_lift_contract::artifact_commit;
use skill_lift_contract::telemetry::{Measurement, Observation, SCHEMA_VERSION};
use skill_lift_contract::write::writer_of;

use super::TARGETS;
use super::problem::LeftAlone;
use crate::json::edit::{NewValue, new_object, set_members};
use crate::json::{self, Item, Tape};
use crate::runs::directory::{FileProblem, RunDirectory, plain_message};
use crate::runs::events;
use crate::runs::limits::Limits;
use crate::runs::listing::ListingError;
use crate::runs::metrics::{FILE_NAMES, Metrics};
use crate::runs::telemetry::{Envelope, RunTelemetry, is_current};

/// Keys that are written.
const TELEMETRY: &str = "telemetry";
const VERSION: &str = "telemetry_schema_version";
const USAGE: &str = "usage_normalized";
const COST: &str = "cost_normalized";

/// The files that a report reads of a run, as far as they are there.
#[derive(Debug)]
pub(super) struct RunFiles {
    /// In the order in which a later one replaces what an earlier one says.
    files: Vec<(&'static str, Rc<Vec<u8>>)>,
    byte_limit: u64,
    has_events: bool,
    is_committed: bool,
    /// The targets that are links.
    links: Vec<&'static str>,
    leftovers: Vec<String>,
}

/// What has to be done with a run.
#[derive(Debug)]
pub(super) enum Plan {
    /// Both files have an envelope.
    Nothing,
    /// The new texts of files, in the order in which they are written.
    Write(Vec<(&'static str, String)>),
}

type Refusal = (&'static str, LeftAlone);

impl RunFiles {
    /// Reads the files of a run directory: `path` lies below the root.
    ///
    /// A file that cannot be read is a reason to leave all of them alone: nobody knows what it says.
    pub(super) fn read(root: &Path, path: &str, limits: &Limits) -> Result<Self, Refusal> {
        let opened = RunDirectory::open(root.join(path), path.to_owned(), None, limits.directory_entries);
        let mut directory = opened.map_err(|error| {
            let why = match error {
                ListingError::TooManyEntries(limit) => LeftAlone::TooManyEntries(limit),
                ListingError::Io(error) => LeftAlone::CannotRead(plain_message(&error)),
            };
            (TARGETS[0], why)
        })?;
        let mut files = Vec::new();
        for name in FILE_NAMES {
            match directory.read(name, limits.sidecar_bytes) {
                Ok(bytes) => files.push((name, bytes)),
                Err(FileProblem::Missing(_)) => {}
                Err(problem) => return Err((name, problem.into())),
            }
        }
        let listing = directory.listing();
        let entries = || listing.into_iter().flat_map(|listing| listing.entries());
        let links = TARGETS.into_iter().filter(|name| entries().any(|entry| entry.is_link && entry.name == *name));
        let is_leftover = |name: &str| TARGETS.iter().any(|target| writer_of(name, target).is_some_and(is_gone));
        Ok(Self {
            byte_limit: limits.sidecar_bytes,
            has_events: entries().any(|entry| entry.name == events::FILE_NAME),
            is_committed: entries().any(|entry| entry.name == artifact_commit::FILE_NAME),
            links: links.collect(),
            leftovers: entries().map(|entry| entry.name.clone()).filter(|name| is_leftover(name)).collect(),
            files,
        })
    }

    /// Names of temporary files of writers that are gone.
    pub(super) fn leftovers(&self) -> &[String] {
        &self.leftovers
    }

    /// What has to be written.
    pub(super) fn plan(&self, mark_unverified: bool) -> Result<Plan, Refusal> {
        let mut texts: Vec<(&'static str, &str)> = Vec::new();
        for (name, bytes) in &self.files {
            let text =
                std::str::from_utf8(bytes).map_err(|_| (*name, LeftAlone::InvalidJson("no UTF-8".to_owned())))?;
            texts.push((name, text));
        }
        let mut tapes: Vec<(&'static str, &str, Tape<'_>)> = Vec::new();
        for (name, text) in texts {
            let tape = Tape::read(text, json::Limits::SIDECAR)
                .map_err(|error| (name, LeftAlone::InvalidJson(error.to_string())))?;
            if !tape.root().is_object() {
                return Err((name, LeftAlone::NotAnObject));
            }
            tapes.push((name, text, tape));
        }
        let files: Vec<File<'_, '_>> =
            tapes.iter().map(|(name, text, tape)| File { name, text, object: tape.root() }).collect();
        let writes = self.writes(&files, mark_unverified)?;
        if writes.is_empty() {
            return Ok(Plan::Nothing);
        }
        if let Some(link) = self.links.first() {
            return Err((link, LeftAlone::IsALink));
        }
        if self.is_committed {
            return Err((artifact_commit::FILE_NAME, LeftAlone::CommittedRun));
        }
        Ok(Plan::Write(writes))
    }

    fn writes(&self, files: &[File<'_, '_>], mark_unverified: bool) -> Result<Vec<(&'static str, String)>, Refusal> {
        let objects: Vec<Item<'_, '_>> = files.iter().map(|file| file.object).collect();
        let file = |name: &str| files.iter().find(|file| file.name == name);
        for file in files.iter().filter(|file| TARGETS.contains(&file.name)) {
            if file.object.get(TELEMETRY).is_some_and(|telemetry| !telemetry.is_null() && !is_current(telemetry)) {
                return Err((file.name, LeftAlone::UnknownTelemetry));
            }
        }
        let merged = |key: &str| objects.iter().rev().find_map(|object| object.get(key));
        let used = RunTelemetry::read(&objects);
        let telemetry = match merged(TELEMETRY).filter(|telemetry| is_current(*telemetry)) {
            Some(current) => NewValue::Written(current.text()),
            None => {
                let envelope = Envelope::of(&objects, &Metrics::merge(&objects), self.has_events);
                new_value(&if mark_unverified { envelope.unverified() } else { envelope })?
            }
        };
        // a block that says that nothing was measured must not stand beside something that was
        let tokens = [&used.input_tokens, &used.output_tokens, &used.total_tokens];
        let mut blocks = Vec::new();
        let says_nothing = |key: &str| merged(key).is_none_or(is_missing_block);
        if says_nothing(USAGE) && tokens.into_iter().all(is_missing) {
            blocks.push(USAGE);
        }
        if says_nothing(COST) && is_missing(&used.cost) {
            blocks.push(COST);
        }
        let version = SCHEMA_VERSION.to_string();
        let members_of = |object: Option<Item<'_, '_>>| -> Result<Vec<(&'static str, NewValue<'_>)>, Refusal> {
            let get = |key: &str| object.and_then(|object| object.get(key));
            let mut members = Vec::new();
            for block in blocks.iter().filter(|block| get(block).is_none()) {
                members.push((*block, new_value(&MissingBlock { source: "missing" })?));
            }
            let has_version = get(VERSION).and_then(Item::as_number).is_some_and(|number| number.text() == version);
            if !has_version {
                members.push((VERSION, NewValue::Pretty(version.clone())));
            }
            if get(TELEMETRY).is_none_or(|telemetry| telemetry.is_null()) {
                members.push((TELEMETRY, telemetry.clone()));
            }
            Ok(members)
        };
        let mut writes = Vec::new();
        for name in TARGETS {
            let text = match file(name) {
                Some(file) => {
                    let members = members_of(Some(file.object))?;
                    if members.is_empty() {
                        continue;
                    }
                    set_members(file.text, file.object, &members)
                }
                None => match first_of_row(name, files) {
                    Some(file) => set_members(file.text, file.object, &members_of(Some(file.object))?),
                    None => format!("{}\n", new_object(&members_of(None)?)),
                },
            };
            // what a report can read now it must be able to read then
            if text.len() as u64 > self.byte_limit {
                return Err((name, LeftAlone::TooLarge(self.byte_limit)));
            }
            writes.push((name, text));
        }
        Ok(writes)
    }
}

/// A file of a run that was read.
struct File<'t, 'a> {
    name: &'static str,
    text: &'a str,
    object: Item<'t, 'a>,
}

/// The file that a new one must repeat. The first file of a run is the metadata of its row in reports, which say the
/// model and the effort: a new `metadata.json` must not hide what the next file says of them. A new `metrics.json` comes
/// last and repeats nothing.
fn first_of_row<'f, 't, 'a>(name: &str, files: &'f [File<'t, 'a>]) -> Option<&'f File<'t, 'a>> {
    if name != TARGETS[0] {
        return None;
    }
    let named = |name: &str| files.iter().find(|file| file.name == name);
    named("timing.json").or_else(|| named("metrics.json"))
}

/// A block that says that nothing was measured.
#[derive(Serialize)]
struct MissingBlock {
    source: &'static str,
}

fn is_missing_block(block: Item<'_, '_>) -> bool {
    let alone = block.members().is_some_and(|members| members.count() == 1);
    alone && block.get("source").and_then(Item::as_str).as_deref() == Some("missing")
}

fn new_value<T: Serialize>(value: &T) -> Result<NewValue<'static>, Refusal> {
    NewValue::pretty(value).map_err(|error| (TARGETS[0], LeftAlone::CannotWrite(error.to_string())))
}

/// Whether a measurement could exist and is not there.
fn is_missing<T>(measurement: &Measurement<T>) -> bool {
    matches!(measurement.observation, Observation::Unavailable(_))
}

/// Whether a process is gone; one that may not be asked is not.
fn is_gone(process: u32) -> bool {
    let process = i32::try_from(process).ok().and_then(Pid::from_raw);
    process.is_none_or(|process| test_kill_process(process) == Err(Errno::SRCH))
}
