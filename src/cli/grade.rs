//! `grade`: every check of every saved run, as JSON.

use std::process::ExitCode;

use clap::Args;

use super::common::{Common, Graded, warn_if_nothing_graded};
use super::output::{emit, fail};
use crate::report::write_grading;

/// Grades saved runs and writes every check with its evidence.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  \
    skill-lift grade evals/shared-benchmark.json --runs eval-runs/latest --out grades.json\n\n\
    Exit codes: 0 graded, whatever the results; 1 refused input; 2 wrong arguments.")]
pub struct GradeArguments {
    #[command(flatten)]
    common: Common,
}

/// Runs the command.
pub fn run(arguments: GradeArguments) -> ExitCode {
    let common = &arguments.common;
    let graded = match common.grade(false) {
        Ok(graded) => graded,
        Err(code) => return code,
    };
    let Graded { evaluated, head, provenance, .. } = graded;
    if !common.quiet {
        warn_if_nothing_graded(&evaluated, common.runs());
    }
    let deferred = evaluated.deferred;
    let rows = evaluated.rows;
    match emit(common.out.as_deref(), |mut writer| write_grading(&mut writer, &head, rows, deferred, &provenance)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => fail(&message),
    }
}
