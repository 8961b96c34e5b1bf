//! Iterations of the forge pipeline as its own aggregator reads them, and the configuration of a benchmark.
//!
//! In: the folder of an iteration that may be hostile. Out: [`UpstreamIteration`], the runs with the leniency of that
//! aggregator, or the file at which it stops; [`BenchmarkConfig`], what the author of a benchmark demands. The corrected
//! reading uses [`Workspace`](super::workspace::Workspace) instead.

mod config;
mod document;
mod error;
mod upstream;

pub use config::{BenchmarkConfig, ConfigError, ThresholdValues, demanded_amount, demanded_rate};
pub use error::UpstreamError;
pub use upstream::{PreviousBenchmark, PreviousNumber, UpstreamEval, UpstreamIteration, UpstreamRun};

use std::path::Path;

use super::listing::{EntryKind, Listing};

/// The number of an iteration: the digits after the first `iteration-` of a folder's name that has some.
pub fn iteration_digits(name: &str) -> Option<&str> {
    name.match_indices("iteration-").find_map(|(at, found)| {
        let rest = &name[at + found.len()..];
        let end = rest.find(|character: char| !character.is_ascii_digit()).unwrap_or(rest.len());
        (end > 0).then(|| &rest[..end])
    })
}

/// The id in the name of an eval directory: `eval-` and digits alone.
pub fn eval_digits(name: &str) -> Option<&str> {
    let digits = name.strip_prefix("eval-")?;
    (!digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())).then_some(digits)
}

/// The arm that no other tool names so.
const ARM_OF_FORGE: &str = upstream::ARMS[1];

/// Whether a folder has evals with an arm that only the forge pipeline names so: cheap, only directories are read.
pub fn has_forge_arms(path: &Path, entry_limit: usize) -> bool {
    let list = |path: &Path| {
        Listing::read(path, &|| std::fs::canonicalize(path), entry_limit).ok().flatten().unwrap_or_default()
    };
    let folders = |listing: &Listing| -> Vec<String> {
        let folders = listing.entries().iter().filter(|entry| entry.kind == EntryKind::Directory);
        folders.map(|entry| entry.name.clone()).collect()
    };
    let evals = folders(&list(path)).into_iter().filter(|name| eval_digits(name).is_some());
    let mut arms = evals.flat_map(|eval| {
        let eval = path.join(eval);
        folders(&list(&eval)).into_iter().map(move |arm| (eval.join(&arm), arm))
    });
    arms.any(|(folder, arm)| {
        let trial = arm.rsplit_once('_').filter(|(_, number)| number.bytes().all(|byte| byte.is_ascii_digit()));
        let is_trial = trial.is_some_and(|(arm, number)| !number.is_empty() && upstream::ARMS.contains(&arm));
        // with a folder for each run it is another tool's
        is_trial || arm == ARM_OF_FORGE && !folders(&list(&folder)).iter().any(|name| name.starts_with("run-"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_their_numbers() {
        assert_eq!(iteration_digits("iteration-2"), Some("2"));
        assert_eq!(iteration_digits("old-iteration-x-iteration-07b"), Some("07"));
        assert_eq!(iteration_digits("runs"), None);
        assert_eq!((eval_digits("eval-01"), eval_digits("eval-"), eval_digits("eval-1a")), (Some("01"), None, None));
    }
}
