//! `doctor`: says what a file or folder is, what was understood of it, and what to do next.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use super::choices::TextOrJson;
use super::output::{Color, emit, fail, message_style};
use crate::pipeline::doctor::{DoctorError, diagnose};
use crate::report::doctor::{write_json, write_text};
use crate::runs::Limits;
use crate::runs::workspace::WorkspaceOptions;
use crate::suite::render::print_located;

/// Says what a file or folder is: the format, what was understood, what was not, and which command comes next.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    skill-lift doctor my-skill-workspace\n  \
    skill-lift doctor evals/evals.json\n  \
    skill-lift doctor iteration-2/benchmark.json --format json\n\n\
    Exit codes: 0 it is something that can be read; 1 it is not, and why; 2 wrong arguments.")]
pub struct DoctorArguments {
    /// A suite, a workspace or iteration, or a file of results or verdicts.
    #[arg(value_name = "PATH")]
    path: PathBuf,
    /// What is printed on standard output.
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "text")]
    format: TextOrJson,
    /// When to use colours.
    #[arg(long, value_enum, value_name = "WHEN", default_value = "auto")]
    color: Color,
}

/// Runs the command.
pub fn run(arguments: &DoctorArguments) -> ExitCode {
    let options = WorkspaceOptions { limits: Limits::default(), ..WorkspaceOptions::default() };
    match diagnose(&arguments.path, options) {
        Ok(diagnosis) => {
            let write = |writer: &mut dyn Write| match arguments.format {
                TextOrJson::Text => write_text(&diagnosis, writer),
                TextOrJson::Json => write_json(&diagnosis, writer),
            };
            emit(None, write).map_or_else(|message| fail(&message), |()| ExitCode::SUCCESS)
        }
        Err(DoctorError::Refused(lines)) => {
            lines.iter().for_each(|line| {
                fail(line);
            });
            ExitCode::FAILURE
        }
        Err(DoctorError::Suite(diagnostics)) => {
            let mut stderr = io::BufWriter::new(io::stderr().lock());
            // standard error may be closed; there is nobody left to tell
            let _ =
                print_located(&diagnostics, &mut stderr, message_style(arguments.color)).and_then(|()| stderr.flush());
            ExitCode::FAILURE
        }
    }
}
