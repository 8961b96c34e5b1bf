//! `verify`: whether a report still says what its suite and its runs say.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, Parser};

use super::benchmark::Words;
use super::common::variable_name;
use super::limits::LimitArguments;
use super::output::{emit, fail, usage};
use crate::analyze::reproduction::Reproduction;
use crate::pipeline::verify::{RecordedOption, RowCheck, SavedReport, compare};
use crate::report::RowSpool;
use crate::report::reproduction::{difference_lines, verified_line};
use crate::runs::Limits;
use crate::runs::index::shown_path;
use crate::runs::named_file::read_named;

/// Options that a report decides itself: they change figures and can do no harm.
const OF_REPORT: [&str; 15] = [
    "alpha",
    "dialect",
    "equivalence-margin",
    "evidence",
    "layout",
    "min-lift",
    "on-duplicate",
    "regrade",
    "results",
    "split",
    "strict",
    "strict-contract",
    "strict-layout",
    "unobserved",
    "value-per-lift",
];

/// The same, given once for each value.
const REPEATED_OF_REPORT: [&str; 1] = ["variant"];

/// Makes a report once more, with the options that it records, and says whether it comes out the same.
///
/// It has to, byte for byte, but for `manifest`, `run_base` and `generated_at`, which say where and when it was made. If
/// it does not, the first run that differs is named, with the place in the report, both values, and the files to look at.
///
/// A report may come from anybody: it does not decide which programs run, which files outside the suite are read, what
/// they see of your environment, or how much is read. What of that it was made with has to be given again.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    skill-lift verify benchmark.json --runs eval-runs/latest\n  \
    skill-lift verify benchmark.json --runs eval-runs/latest --suite evals/shared-benchmark.json\n  \
    skill-lift verify benchmark.json --runs my-skill-workspace\n  \
    skill-lift verify benchmark.json --runs eval-runs/latest --judge-results verdicts.jsonl\n\n\
    Exit codes: 0 verified; 1 it comes out differently, or is no report that can be verified;\n\
    2 wrong arguments, or one is missing that the report was made with.")]
pub struct VerifyArguments {
    /// The report of `skill-lift benchmark`.
    #[arg(value_name = "REPORT")]
    report: PathBuf,
    /// The folder of the saved runs, or the workspace.
    #[arg(long, value_name = "DIR")]
    runs: PathBuf,
    /// The suite. Default: the one that the report names.
    #[arg(long, value_name = "SUITE")]
    suite: Option<PathBuf>,
    /// The plan of the runs that was named.
    #[arg(long, value_name = "FILE")]
    plan: Option<PathBuf>,
    /// The verdicts that were merged.
    #[arg(long, value_name = "FILE")]
    judge_results: Option<PathBuf>,
    /// Run the programs of script checks. They come with the suite: read them first.
    #[arg(long)]
    allow_scripts: bool,
    /// Let scripts and the embedding command see this environment variable; may be given several times.
    #[arg(long = "pass-env", value_name = "NAME", value_parser = variable_name)]
    pass_environment: Vec<String>,
    /// Command that computes embeddings for similarity checks of the mode `embedding`.
    #[arg(long, value_name = "COMMAND")]
    embed_cmd: Option<String>,
    /// Accept files outside the folder of a shared-benchmark suite.
    #[arg(long)]
    allow_external_files: bool,
    /// Say nothing but errors.
    #[arg(long)]
    quiet: bool,
    /// Largest report.
    #[arg(long, value_name = "MIB", default_value_t = 256, help_heading = "Limits")]
    max_report_mib: u64,
    #[command(flatten)]
    limits: LimitArguments,
}

/// Runs the command.
pub fn run(arguments: &VerifyArguments) -> ExitCode {
    match arguments.run() {
        Ok(code) | Err(code) => code,
    }
}

impl VerifyArguments {
    fn run(&self) -> Result<ExitCode, ExitCode> {
        let shown = shown_path(&self.report);
        let refuse = |problem: String| fail(&format!("{shown}: {problem}"));
        let bytes = read_named(&self.report, Limits::mebibytes(self.max_report_mib))
            .map_err(|problem| refuse(problem.to_string()))?;
        let text = String::from_utf8(bytes).map_err(|_| refuse("not valid UTF-8".to_owned()))?;
        let tape = SavedReport::tape(&text).map_err(|problem| refuse(problem.to_string()))?;
        let saved = SavedReport::of(&text, &tape).map_err(|problem| refuse(problem.to_string()))?;
        let words = self.words(&saved)?;
        let Words { benchmark } = Words::try_parse_from(words).map_err(|error| {
            let text = error.to_string();
            let reason = text.lines().next().unwrap_or_default().trim_start_matches("error: ");
            refuse(format!("was made with an option that this version does not take: {reason}"))
        })?;
        let (made, rows) = benchmark.make(|_| Ok(RowCheck::new(&saved)))?;
        let mut again = Vec::new();
        let no_rows = RowSpool::aside().map_err(|error| fail(&error.to_string()))?;
        made.write(&mut again, no_rows).map_err(|error| fail(&error.to_string()))?;
        let again = String::from_utf8(again).map_err(|error| fail(&error.to_string()))?;
        match compare(&saved, rows, &again, &made.runs_root).map_err(|error| fail(&error.to_string()))? {
            Reproduction::Same { rows } => {
                if !self.quiet {
                    let line = verified_line(&shown, &shown_path(&self.runs), rows);
                    emit(None, |writer| writeln!(writer, "{line}")).map_err(|message| fail(&message))?;
                }
                Ok(ExitCode::SUCCESS)
            }
            Reproduction::Differs(differences) => Ok(fail(&difference_lines(&shown, &differences).join("\n"))),
        }
    }

    /// The words of the command line of `benchmark` that makes the report.
    fn words(&self, saved: &SavedReport<'_, '_>) -> Result<Vec<OsString>, ExitCode> {
        let mut words = self.places(saved)?;
        words.push("--quiet".into());
        let again = self.given_again();
        let mut missing = Vec::new();
        for RecordedOption { name, values } in saved.options() {
            let is = |names: &[&str]| names.contains(&name.as_ref());
            match values.as_slice() {
                _ if again.iter().any(|(own, _)| own == name) => {
                    if !again.iter().any(|(own, given)| own == name && given.is_some()) {
                        missing.push(format!("--{name}"));
                    }
                }
                [] if is(&OF_REPORT) => words.push(format!("--{name}").into()),
                [value] if is(&OF_REPORT) => words.push(format!("--{name}={value}").into()),
                values if is(&REPEATED_OF_REPORT) => {
                    words.extend(values.iter().map(|value| format!("--{name}={value}").into()));
                }
                _ => {
                    let shown = shown_path(&self.report);
                    return Err(fail(&format!(
                        "{shown}: was made with --{name}, which this version cannot give again"
                    )));
                }
            }
        }
        if !missing.is_empty() {
            return Err(usage(&format!(
                "the report was made with {}: give the same again; a report does not decide it alone",
                missing.join(", ")
            )));
        }
        let is_recorded = |name: &str| saved.options().iter().any(|option| option.name == name);
        if let Some((name, _)) = again.iter().find(|(name, given)| given.is_some() && !is_recorded(name)) {
            return Err(usage(&format!("the report was made without --{name}: leave it out")));
        }
        words.extend(again.into_iter().filter_map(|(_, given)| given).flatten());
        Ok(words)
    }

    /// The words for the suite and the runs.
    fn places(&self, saved: &SavedReport<'_, '_>) -> Result<Vec<OsString>, ExitCode> {
        // a path that begins with a dash would be taken for an option
        let argument = |path: &PathBuf| match path.as_os_str().as_encoded_bytes().starts_with(b"-") {
            true => Path::new(".").join(path).into_os_string(),
            false => path.clone().into_os_string(),
        };
        if !self.runs.exists() {
            return Err(fail(&format!("no such folder: {}", shown_path(&self.runs))));
        }
        if !saved.has_suite() {
            return match &self.suite {
                None => Ok(vec![argument(&self.runs)]),
                Some(_) => Err(usage("the report was made of a workspace alone: leave --suite out")),
            };
        }
        let suite = match (&self.suite, saved.manifest()) {
            (Some(suite), _) => suite.clone(),
            (None, Some(manifest)) => PathBuf::from(&*manifest),
            (None, None) => return Err(usage("the report names no suite: name it with --suite")),
        };
        if !suite.exists() {
            let shown = shown_path(&suite);
            return Err(fail(&match self.suite {
                Some(_) => format!("no such file: {shown}"),
                None => format!("the suite of the report is not there: {shown}; name it with --suite"),
            }));
        }
        let mut runs = OsString::from("--runs=");
        runs.push(argument(&self.runs));
        Ok(vec![argument(&suite), runs])
    }

    /// The options that have to be given again, with their words if they were.
    fn given_again(&self) -> Vec<(&'static str, Option<Vec<OsString>>)> {
        let switch = |name: &'static str, given: bool| (name, given.then(|| vec![format!("--{name}").into()]));
        let word = |name: &'static str, value: &OsString| {
            let mut word = OsString::from(format!("--{name}="));
            word.push(value);
            word
        };
        let judge_results = self.judge_results.as_ref().map(|path| vec![word("judge-results", &path.into())]);
        let plan = self.plan.as_ref().map(|path| vec![word("plan", &path.into())]);
        let embed_cmd = self.embed_cmd.as_ref().map(|command| vec![word("embed-cmd", &command.into())]);
        let names: Vec<OsString> = self.pass_environment.iter().map(|name| word("pass-env", &name.into())).collect();
        let mut again = vec![
            ("plan", plan),
            ("judge-results", judge_results),
            ("embed-cmd", embed_cmd),
            ("pass-env", (!names.is_empty()).then_some(names)),
            switch("allow-scripts", self.allow_scripts),
            switch("allow-external-files", self.allow_external_files),
        ];
        again.extend(
            self.limits
                .options()
                .into_iter()
                .map(|(name, value)| (name, value.map(|value| vec![format!("--{name}={value}").into()]))),
        );
        again
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    /// Options of `benchmark` that say where something is or how it looks. No report records them.
    const NEVER_RECORDED: [&str; 13] = [
        "runs",
        "out",
        "generated-at",
        "color",
        "quiet",
        "format",
        "frames",
        "all-cases",
        "ascii",
        "review",
        "max-page-mib",
        "max-output-kib",
        "no-artifacts",
    ];

    #[test]
    fn every_option_of_benchmark_is_taken_from_the_report_or_given_again() {
        let limits = LimitArguments::augment_args(clap::Command::new("limits"));
        let limits: Vec<&str> = limits.get_arguments().filter_map(|argument| argument.get_long()).collect();
        let again = ["plan", "judge-results", "embed-cmd", "pass-env", "allow-scripts", "allow-external-files"];
        let known = [&OF_REPORT[..], &REPEATED_OF_REPORT, &NEVER_RECORDED, &again, &limits].concat();
        let command = Words::command();
        let options: Vec<&str> = command.get_arguments().filter_map(|argument| argument.get_long()).collect();
        let unknown: Vec<_> = options.iter().filter(|option| !known.contains(option)).collect();
        assert!(unknown.is_empty(), "decide who says {unknown:?} when a report is verified");
        let gone: Vec<_> = known.iter().filter(|option| !options.contains(option)).collect();
        assert!(gone.is_empty(), "{gone:?}");
    }
}
