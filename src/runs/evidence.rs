//! Everything that one run gives to its checks: answer, turns, sidecars, state of the directory.

use skill_lift_contract::artifact_commit::ArtifactSet;

use super::LayoutError;
use super::artifact_set;
use super::directory::RunDirectory;
use super::index::{AnswerRule, RunIndex, RunSlot};
use super::listing::EntryKind;
use super::output::{self, Output};
use super::sidecar::Sidecars;
use super::workspace;

/// The evidence of one run.
#[derive(Debug)]
pub struct RunEvidence {
    /// The run directory, for artifacts.
    pub directory: RunDirectory,
    /// The answer as the run directory has it.
    pub output: Output,
    /// The files beside it.
    pub sidecars: Sidecars,
    /// One entry a declared turn, in order.
    pub turns: Vec<TurnEvidence>,
    /// Whether the directory is as its writer left it.
    pub artifact_set: ArtifactSet,
}

/// The evidence of one turn of a scripted conversation.
#[derive(Debug)]
pub struct TurnEvidence {
    /// The folder of the turn; `None` when there is none, then files are looked for in the run directory.
    pub directory: Option<RunDirectory>,
    /// The answer to the turn.
    pub output: Output,
}

impl RunIndex {
    /// Reads the evidence of a run. `turns` is the number of turns that its case declares.
    ///
    /// # Errors
    /// When a directory of the run cannot be listed.
    pub fn read(&self, slot: &RunSlot, turns: usize) -> Result<RunEvidence, LayoutError> {
        let limits = &self.options().limits;
        let mut directory = self.open(slot)?;
        let output = match self.options().answers {
            AnswerRule::RunContract => output::read(&mut directory, limits),
            AnswerRule::TextsOfOutputs => workspace::answer(&mut directory, limits),
        };
        let sidecars = Sidecars::read(&mut directory, limits);
        let artifact_set = artifact_set::check(&mut directory, limits);
        let mut turn_evidence = Vec::with_capacity(turns);
        for number in 1..=turns {
            let turn = match turn_folder(&directory, number) {
                Some(name) => {
                    let mut turn = self.open_below(&directory, &name)?;
                    let output = output::read(&mut turn, limits);
                    TurnEvidence { directory: Some(turn), output }
                }
                None => TurnEvidence { directory: None, output: Output::Missing },
            };
            turn_evidence.push(turn);
        }
        Ok(RunEvidence { directory, output, sidecars, turns: turn_evidence, artifact_set })
    }
}

/// The folder of a turn: `turn-2`, also spelt `turn-02`.
pub(super) fn turn_folder(directory: &RunDirectory, number: usize) -> Option<String> {
    let listing = directory.listing()?;
    let is_turn = |name: &str| {
        name.strip_prefix("turn-")
            .filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))
            .and_then(|digits| digits.parse::<usize>().ok())
            == Some(number)
    };
    let folders = || listing.entries().iter().filter(|entry| entry.kind == EntryKind::Directory);
    let exact = format!("turn-{number}");
    folders()
        .find(|entry| entry.name == exact)
        .or_else(|| folders().find(|entry| is_turn(&entry.name)))
        .map(|entry| entry.name.clone())
}
