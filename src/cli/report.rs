//! `report`: what an iteration of another tool's runner shows, as Markdown or JSON; a saved report of `benchmark` in the
//! formats of CI systems.

mod forge;
mod previous;
mod saved;
mod tool;

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use skill_lift_contract::write::AtomicFile;

use super::choices::DialectChoice;
use super::output::{emit, fail, usage, warn_line};
use crate::analyze::skill_eval::{Corrected, aggregate, orient};
use crate::report::numbers;
use crate::report::skill_eval::{markdown, write_json};
use crate::runs::Limits;
use crate::runs::skill_eval::{Benchmark, Iteration};
use tool::{Tool, read_iteration};

/// Shows a saved report of benchmark, or an iteration of the executor/grader runner or of the forge pipeline, with what may
/// be concluded from it.
///
/// A report (--benchmark) is written as JUnit or CTRF for a CI system, as the job summary and the annotations of GitHub, or
/// as Markdown, to standard output or to the file of --output. It says what the table of `benchmark` says.
///
/// For the executor/grader runner the figures come from `benchmark.json`; where it is missing they are aggregated from
/// the run directories. The report goes to standard output and to `benchmark.md` in the iteration. It has two lifts: by
/// the runner's own rule, where an assertion that the grader left out failed (`lift_runner_rule` in JSON; the one that
/// `benchmark` shows), and with complete verdicts only (`lift_complete_verdicts`, which `lift` repeats).
///
/// For the forge pipeline they come from the gradings of the runs, and the report goes to standard output alone.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    skill-lift report evals/changelog/workspace/claude/iteration-1\n  \
    skill-lift report evals/changelog/workspace/claude/iteration-1 --format json --output benchmark-with-lift.json\n  \
    skill-lift report eval-workspace/iteration-2 --previous auto --thresholds benchmark-config.json\n  \
    skill-lift report eval-workspace/iteration-2 --format upstream-json\n  \
    skill-lift report --benchmark benchmark.json --format junit --out junit.xml\n  \
    skill-lift report --benchmark benchmark.json --format github --out \"$GITHUB_STEP_SUMMARY\" --append\n  \
    skill-lift report --benchmark benchmark.json --fail-on errors,negative-lift\n\n\
    Exit codes: 0 reported, whatever the results; 1 no iteration, a broken benchmark.json, an earlier iteration that \
    cannot be read, what --fail-on names, or with --benchmark nothing graded; 2 wrong arguments.")]
pub struct ReportArguments {
    /// The folder of the iteration, or one that holds iterations: then the latest is read.
    #[arg(value_name = "ITERATION_DIR", required_unless_present = "benchmark")]
    iteration: Option<PathBuf>,
    /// Write the report to this file too; with --benchmark to this file alone. Default: benchmark.md in the iteration for
    /// the Markdown of the executor/grader runner; everything else goes to standard output alone.
    #[arg(long, visible_alias = "out", value_name = "FILE")]
    output: Option<PathBuf>,
    /// What is written.
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "markdown")]
    format: Format,
    /// Which tool laid the iteration out. Default: what its files say.
    #[arg(long, value_enum, value_name = "DIALECT")]
    dialect: Option<DialectChoice>,
    /// Largest answer of a grader, and largest benchmark.json.
    #[arg(long, value_name = "MIB", default_value_t = 64)]
    max_output_mib: u64,
    /// Largest record, metrics or manifest file.
    #[arg(long, value_name = "MIB", default_value_t = 16)]
    max_sidecar_mib: u64,
    /// Say nothing but errors.
    #[arg(long)]
    quiet: bool,
    #[command(flatten)]
    saved: saved::SavedArguments,
    #[command(flatten)]
    forge: forge::ForgeArguments,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people: the sections of benchmark.md, the report of the forge pipeline, or that of benchmark.
    #[value(alias = "md")]
    Markdown,
    /// With --benchmark: JUnit XML, one test case a run.
    Junit,
    /// With --benchmark: the Common Test Report Format, one test a run.
    Ctrf,
    /// With --benchmark: the job summary of GitHub actions; annotations go to standard output.
    Github,
    /// For programs: the keys of benchmark.json and `skill_lift`, or every run, eval and finding.
    Json,
    /// The benchmark.json of the forge pipeline's own script: its numbers, not what they should be. Its timestamp is null
    /// without --generated-at.
    UpstreamJson,
}

/// Runs the command.
pub fn run(arguments: &ReportArguments) -> ExitCode {
    if let Some(path) = arguments.saved.report() {
        return saved::run(arguments, path).unwrap_or_else(|code| code);
    }
    if let Some(flag) = arguments.saved.first_given() {
        return usage(&format!("{flag} needs --benchmark"));
    }
    if matches!(arguments.format, Format::Junit | Format::Ctrf | Format::Github) {
        return usage("--format junit, ctrf and github need --benchmark");
    }
    if let Some(what) = arguments.forge.not_of_iterations() {
        return usage(&format!("--fail-on {} needs --benchmark", what.word()));
    }
    if arguments.forge.allows_empty() && !arguments.forge.is_gated() {
        return usage("--allow-empty needs --fail-on or --benchmark");
    }
    if arguments.forge.lacks_previous() {
        return usage("--fail-on regressions needs --previous");
    }
    if arguments.format == Format::UpstreamJson && arguments.forge.is_gated() {
        return usage("--fail-on does not apply to --format upstream-json: nothing is concluded from it");
    }
    let limits = Limits {
        output_bytes: Limits::mebibytes(arguments.max_output_mib),
        sidecar_bytes: Limits::mebibytes(arguments.max_sidecar_mib),
        ..Limits::default()
    };
    let tool = Tool::of(arguments.iteration(), arguments.dialect, limits);
    let not_of_forge = |flag: &str| usage(&format!("{flag} is for iterations of the forge pipeline"));
    let first_given = arguments.forge.first_given();
    let reported = match (arguments.format, tool) {
        (Format::UpstreamJson, Ok(Tool::SkillEval)) => return not_of_forge("--format upstream-json"),
        (Format::UpstreamJson, Ok(Tool::Forge(workspace))) => forge::upstream(arguments, Some(&workspace), &limits),
        // the script reads more leniently
        (Format::UpstreamJson, Ok(Tool::Unknown) | Err(_)) => forge::upstream(arguments, None, &limits),
        (_, Ok(Tool::Forge(workspace))) => forge::corrected(arguments, &workspace, &limits),
        (_, Ok(found)) => match (first_given, found) {
            (None, _) => arguments.skill_eval(&limits).map(|()| ExitCode::SUCCESS),
            (Some(flag), Tool::Unknown) => match read_iteration(arguments.iteration(), &limits) {
                Ok(_) => return not_of_forge(flag),
                Err(message) => Err(message),
            },
            (Some(flag), _) => return not_of_forge(flag),
        },
        (_, Err(message)) => Err(message),
    };
    reported.unwrap_or_else(|message| fail(&message))
}

impl ReportArguments {
    /// The folder of the iteration; the parser asks for it where no report is named.
    fn iteration(&self) -> &Path {
        self.iteration.as_deref().unwrap_or(Path::new("."))
    }

    fn skill_eval(&self, limits: &Limits) -> Result<(), String> {
        let (root, mut iteration, chosen) = read_iteration(self.iteration(), limits)?;
        if !self.quiet {
            if let Some(line) = chosen {
                warn_line(&line);
            }
            self.warn(&iteration);
        }
        let stored = iteration.benchmark.take();
        let (figures, text, turned) = match stored {
            Some(stored) => {
                let mut figures = stored.figures;
                let turned = orient(&mut figures);
                (figures, Some(stored.text), turned)
            }
            None => (aggregate(&iteration), None, false),
        };
        if turned && !self.quiet {
            warn_line(
                "WARN comparison_turned: benchmark.json compares without_skill against with_skill; shown the other way round",
            );
        }
        let corrected = Corrected::of(&iteration, &figures);
        let replaced: &[&str] = if turned { &["comparison", "sanity_checks"] } else { &[] };
        match self.format {
            Format::Markdown => self.write_markdown(&root, &figures, &corrected),
            // the others are handled before
            Format::Json | Format::UpstreamJson | Format::Junit | Format::Ctrf | Format::Github => {
                let write = |target: Option<&Path>| {
                    emit(target, |writer| write_json(writer, &figures, &corrected, text.as_deref(), replaced))
                };
                write(None)?;
                let Some(path) = &self.output else {
                    return Ok(());
                };
                write(Some(path))?;
                self.say_written(path);
                Ok(())
            }
        }
    }

    fn write_markdown(&self, root: &Path, figures: &Benchmark, corrected: &Corrected) -> Result<(), String> {
        let text = markdown(figures, corrected);
        emit(None, |writer| writer.write_all(text.as_bytes()))?;
        let path = match &self.output {
            Some(path) => {
                emit(Some(path), |writer| writer.write_all(text.as_bytes()))?;
                path.clone()
            }
            None => {
                let path = root.join("benchmark.md");
                write_within(&path, &text).map_err(|error| format!("cannot write {}: {error}", path.display()))?;
                path
            }
        };
        self.say_written(&path);
        Ok(())
    }

    fn say_written(&self, path: &Path) {
        if !self.quiet {
            warn_line(&format!("Wrote {}", path.display()));
        }
    }

    fn warn(&self, iteration: &Iteration) {
        if iteration.benchmark.is_none() {
            let runs = numbers::counted(iteration.runs.len(), "run", "runs");
            warn_line(&format!("WARN benchmark_missing: there is no benchmark.json; aggregated from {runs}"));
        }
        if !iteration.missing.is_empty() {
            let runs = numbers::counted(iteration.missing.len(), "planned run is", "planned runs are");
            warn_line(&format!("WARN missing_run: {runs} not there"));
        }
        if let [first, more @ ..] = iteration.differing().as_slice() {
            let more = if more.is_empty() { String::new() } else { format!(" and {} more", more.len()) };
            warn_line(&format!(
                "WARN benchmark_differs: the record of {} under {}, run {}{more} is not what benchmark.json has; the raw \
                 rates are those of benchmark.json",
                first.eval_id, first.configuration, first.run_number
            ));
        }
        for warning in iteration.warnings.iter().take(WARNINGS_SHOWN) {
            warn_line(&format!("WARN {}: {warning}", warning.code.code()));
        }
        if iteration.warnings.len() > WARNINGS_SHOWN {
            warn_line(&format!("WARN: … and {} more", iteration.warnings.len() - WARNINGS_SHOWN));
        }
    }
}

/// Writes a file of a folder that others made: what a link in it leads to stays as it is, and no pipe is waited for.
fn write_within(path: &Path, text: &str) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Ok(data) if !data.is_file() && !data.is_symlink() => {
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, "it is there and is no regular file"));
        }
        // what else is wrong shows when it is written
        Ok(_) | Err(_) => {}
    }
    let mut file = AtomicFile::create(path)?;
    file.write_all(text.as_bytes())?;
    file.commit()
}

/// Warnings that are shown one by one.
const WARNINGS_SHOWN: usize = 20;
