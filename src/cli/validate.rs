//! `validate`: says everything that is wrong with a suite before anything is run.

mod problem;

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use serde::Serialize;
use skill_lift_text::python;
use skill_lift_text::screen::visible;

use super::choices::{DialectChoice, TextOrJson};
use super::output::{Color, emit, fail, message_style};

use crate::report::SuiteCounts;
use crate::runs::Limits;
use crate::suite::diagnostic::Lines;
use crate::suite::leakage::{LeakageFinding, find_leaks};
use crate::suite::render::{print_failures, print_located};
use crate::suite::{Dialect, Level, LoadOptions, Loaded, Suite, load};
use problem::Problem;

/// Checks a suite and says everything that is wrong with it.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  skill-lift validate evals/shared-benchmark.json --strict-leakage")]
pub struct ValidateArguments {
    /// The suite file, like `evals/shared-benchmark.json` or `evals/evals.json`.
    #[arg(value_name = "SUITE")]
    manifest: PathBuf,
    /// Format of the suite, if it should not be detected.
    #[arg(long, value_enum, value_name = "DIALECT")]
    dialect: Option<DialectChoice>,
    /// Refuse a shared-benchmark suite whose hidden cases lack their prompt or input files.
    #[arg(long)]
    strict_holdback: bool,
    /// Exit with 1 when a value of an assertion already stands in the prompt.
    #[arg(long)]
    strict_leakage: bool,
    /// Values with fewer characters are not looked for in prompts.
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = at_least_one)]
    leakage_min_chars: usize,
    /// Largest suite or dataset file.
    #[arg(long, value_name = "MIB", default_value_t = 64)]
    max_suite_mib: u64,
    /// Turn warnings of the strict contract into errors.
    #[arg(long)]
    strict_contract: bool,
    /// Accept files outside the folder of a shared-benchmark suite, with a warning.
    #[arg(long)]
    allow_external_files: bool,
    /// What is printed on standard output.
    #[arg(long, value_enum, default_value_t = TextOrJson::Text)]
    format: TextOrJson,
    /// When to use colours.
    #[arg(long, value_enum, value_name = "WHEN", default_value = "auto")]
    color: Color,
}

fn at_least_one(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) | Err(_) => Err("must be a whole number of at least 1".to_owned()),
        Ok(count) => Ok(count),
    }
}

#[derive(Serialize)]
struct Verdict<'v> {
    ok: bool,
    errors: Vec<Problem<'v>>,
    warnings: Vec<Problem<'v>>,
    leakage: &'v [LeakageFinding],
    counts: Counts,
    /// What is worth knowing and no problem, in dialects that have notes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<Problem<'v>>,
    /// What the suite holds, in dialects that leave the shape of assertions open.
    #[serde(skip_serializing_if = "Option::is_none")]
    suite: Option<SuiteCounts<'v>>,
}

/// Counts of a suite that could be read; of another they are not known.
#[derive(Serialize)]
struct Counts {
    cases: Option<usize>,
    ablations: Option<usize>,
}

/// Runs the command.
pub fn run(arguments: ValidateArguments) -> ExitCode {
    let options = LoadOptions {
        strict_holdback: arguments.strict_holdback,
        allow_external_files: arguments.allow_external_files,
        strict_contract: arguments.strict_contract,
        max_bytes: Limits::mebibytes(arguments.max_suite_mib),
        dialect: arguments.dialect.map(Dialect::from),
        ..LoadOptions::default()
    };
    let loaded = load(&arguments.manifest, &options);
    let leaks =
        loaded.suite.as_ref().map(|suite| find_leaks(suite, arguments.leakage_min_chars, None)).unwrap_or_default();
    let refused = loaded.suite.is_none() || arguments.strict_leakage && !leaks.is_empty();
    // standard error may be closed; there is nobody left to tell
    let _ = report(&arguments, &loaded, &leaks);
    if let Err(message) = emit(None, |out| product(out, &arguments, &loaded, &leaks, refused)) {
        return fail(&message);
    }
    if refused { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// What a person reads: on standard error.
fn report(arguments: &ValidateArguments, loaded: &Loaded, leaks: &[LeakageFinding]) -> io::Result<()> {
    let mut stderr = io::BufWriter::new(io::stderr().lock());
    let print = if loaded.dialect == Dialect::SharedBenchmark { print_failures } else { print_located };
    print(&loaded.diagnostics, &mut stderr, message_style(arguments.color))?;
    for leak in leaks {
        let line = format!(
            "WARN {}: assertion {} value {} appears in prompt (leakage; case may saturate)",
            leak.case_id,
            python::repr_str(&leak.assertion),
            python::repr_str(&leak.value)
        );
        writeln!(stderr, "{}", visible(&line, false))?;
    }
    if arguments.strict_leakage && !leaks.is_empty() {
        writeln!(stderr, "FAIL: {}", leak_count(leaks))?;
    } else if loaded.suite.as_ref().is_some_and(|suite| suite.version == Some(1)) {
        writeln!(stderr, "note: this suite is of version 1; the defaults of that version apply")?;
    }
    stderr.flush()
}

fn leak_count(leaks: &[LeakageFinding]) -> String {
    format!("{} assertion value(s) appear in the prompt of their case", leaks.len())
}

/// What a program reads: on standard output.
fn product(
    out: &mut dyn Write,
    arguments: &ValidateArguments,
    loaded: &Loaded,
    leaks: &[LeakageFinding],
    refused: bool,
) -> io::Result<()> {
    match (arguments.format, &loaded.suite) {
        (TextOrJson::Text, Some(suite)) if !refused => match open_counts(suite) {
            Some(counts) => counts.write(out, &suite.path.display().to_string()),
            None => {
                let (name, cases, ablations) =
                    (visible(&suite.skill_name, false), suite.cases.len(), suite.ablations.len());
                writeln!(out, "OK: {name} — {cases} cases, {ablations} ablations")
            }
        },
        (TextOrJson::Text, _) => Ok(()),
        (TextOrJson::Json, _) => {
            serde_json::to_writer_pretty(&mut *out, &verdict(arguments, loaded, leaks, refused))
                .map_err(io::Error::from)?;
            writeln!(out)
        }
    }
}

fn verdict<'v>(
    arguments: &ValidateArguments,
    loaded: &'v Loaded,
    leaks: &'v [LeakageFinding],
    refused: bool,
) -> Verdict<'v> {
    let (mut errors, mut warnings, mut notes) = (Vec::new(), Vec::new(), Vec::new());
    let mut lines = Lines::default();
    for found in loaded.diagnostics.all() {
        let problem = if loaded.dialect == Dialect::SharedBenchmark {
            Problem::of(found)
        } else {
            Problem::detailed(found, &mut lines)
        };
        match found.level {
            Level::Error => errors.push(problem),
            Level::Strict | Level::Warning => warnings.push(problem),
            Level::Note => notes.push(problem),
        }
    }
    if arguments.strict_leakage && !leaks.is_empty() {
        errors.push(Problem { place: "", message: leak_count(leaks), rule: "leakage", details: None });
    }
    let suite = loaded.suite.as_ref();
    let counts =
        Counts { cases: suite.map(|suite| suite.cases.len()), ablations: suite.map(|suite| suite.ablations.len()) };
    Verdict { ok: !refused, errors, warnings, leakage: leaks, counts, notes, suite: suite.and_then(open_counts) }
}

/// The counts of a suite whose assertions may have many shapes.
fn open_counts(suite: &Suite) -> Option<SuiteCounts<'_>> {
    (suite.dialect != Dialect::SharedBenchmark).then(|| SuiteCounts::of(suite))
}
