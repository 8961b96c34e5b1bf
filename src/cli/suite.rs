//! `suite`: commands that make suites.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, Subcommand};
use skill_lift_text::screen::visible;

use super::output::{emit, fail, leads_to_stream, warn_line};
use crate::json::write::pretty;
use crate::runs::Limits;
use crate::skill::read_skill;
use crate::suite::generate::{generate, path_from_file};

/// Makes suites.
#[derive(Debug, Args)]
#[command(arg_required_else_help = true)]
pub struct SuiteArguments {
    #[command(subcommand)]
    command: SuiteCommand,
}

#[derive(Debug, Subcommand)]
enum SuiteCommand {
    Generate(GenerateArguments),
}

/// Makes a starter eval set from the description of a skill, for its author to review and edit.
///
/// The set has the skill-forge format: up to 10 prompts that should trigger the skill, made from the phrases between
/// double quotes and the keywords of the description in its SKILL.md, and 10 near misses that should not.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    skill-lift suite generate skills/my-skill\n  \
    skill-lift suite generate skills/my-skill --output evals/evals.json")]
struct GenerateArguments {
    /// The folder of the skill, which holds its SKILL.md.
    #[arg(value_name = "SKILL_DIR")]
    skill: PathBuf,
    /// Write the set to this file instead of standard output. Missing folders are made.
    #[arg(short, long, alias = "out", value_name = "FILE")]
    output: Option<PathBuf>,
    /// Replace the file if it exists.
    #[arg(long, requires = "output")]
    force: bool,
    /// Largest SKILL.md.
    #[arg(long, value_name = "MIB", default_value_t = 4)]
    max_skill_mib: u64,
}

/// Runs the commands of the group.
pub fn run(arguments: &SuiteArguments) -> ExitCode {
    match &arguments.command {
        SuiteCommand::Generate(arguments) => match run_generate(arguments) {
            Ok(()) => ExitCode::SUCCESS,
            Err(message) => fail(&message),
        },
    }
}

fn run_generate(arguments: &GenerateArguments) -> Result<(), String> {
    // a device or a pipe is no place that a path could start from, and has nothing to lose
    let file = arguments.output.as_deref().filter(|path| !leads_to_stream(path));
    let skill =
        read_skill(&arguments.skill, Limits::mebibytes(arguments.max_skill_mib)).map_err(|error| error.to_string())?;
    if let Some(path) = file.filter(|path| !arguments.force && is_taken(path)) {
        return Err(format!("{} exists; --force replaces it", path.display()));
    }
    let path = match file {
        Some(file) => path_from_file(file, &arguments.skill)
            .map_err(|error| format!("cannot write {}: {error}", file.display()))?,
        None => arguments.skill.clone(),
    };
    let path = path.into_os_string().into_string().map_err(|path| {
        format!("the path {} is not valid UTF-8, which JSON cannot hold; rename the folder", path.display())
    })?;
    let (set, notices) = generate(&skill, path);
    emit(arguments.output.as_deref(), |out| {
        pretty(&mut *out, &set, 0)?;
        writeln!(out)
    })?;
    for notice in notices {
        warn_line(&format!("WARN {notice}"));
    }
    let Some(file) = file else { return Ok(()) };
    let (positives, negatives) = (set.positives(), set.negatives());
    let line = format!(
        "wrote {}: {} evals ({positives} should trigger, {negatives} should not)",
        file.display(),
        positives + negatives
    );
    emit(None, |out| writeln!(out, "{}", visible(&line, false)))
}

/// Whether something stands there that would be lost; a folder is refused by the writing.
fn is_taken(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|data| !data.is_dir())
}
