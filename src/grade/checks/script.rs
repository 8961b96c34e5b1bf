//! `script`: a program of the suite accepts the run directory.

pub(super) mod child;
mod command;

use std::process::Command;

use skill_lift_text::python;

use super::{Evidence, Finding};
use crate::json;
use child::{Captured, Ending, Environment, Task};
use command::Paths;

/// Code points of each output that the evidence shows.
const SHOWN_CHARACTERS: usize = 4_000;
/// The same for a program that was ended by its limit.
const SHOWN_AFTER_TIMEOUT: usize = 2_000;

pub use child::end_all as end_programs;

/// What a program must do to pass.
#[derive(Clone, Copy)]
pub(super) struct Wanted<'w> {
    /// Its exit code.
    pub(super) exit_code: i64,
    /// A text that it must write.
    pub(super) output: Option<&'w str>,
}

pub(super) fn script(
    command: &[String],
    timeout_seconds: f64,
    wanted: Wanted<'_>,
    evidence: &mut Evidence<'_, '_>,
) -> Finding {
    if !evidence.options.allow_scripts {
        return Finding::unobserved(
            "script assertion skipped; rerun grade/benchmark with --allow-scripts to execute repo-owned oracle commands",
        );
    }
    let suite = &evidence.suite.program_directory;
    let paths = Paths::new(evidence.directory.path(), evidence.output_path);
    if !evidence.options.allow_external_files
        && let Some(part) = command::external_part(command, suite, &paths)
    {
        return Finding::unobserved(&format!(
            "script assertion skipped; {} is outside the folder of the suite; rerun with --allow-external-files to \
             execute it",
            python::repr_str(part)
        ));
    }
    let Some(program) = command::build(command, suite, &paths) else {
        return Finding::unobserved("script execution failed: the command is empty");
    };
    let limits = Limits {
        seconds: timeout_seconds,
        kept_bytes: usize::try_from(evidence.options.script_output_bytes).unwrap_or(usize::MAX),
    };
    let environment = Environment::of_this_process(&evidence.options.pass_environment);
    run(program, &environment, limits, wanted).unwrap_or_else(|why| {
        // what the author wrote, not where it was looked for
        let name = command.first().map(String::as_str).unwrap_or_default();
        Finding::unobserved(&format!("script execution failed: {name}: {why}"))
    })
}

#[derive(Clone, Copy)]
struct Limits {
    seconds: f64,
    kept_bytes: usize,
}

fn run(command: Command, environment: &Environment, limits: Limits, wanted: Wanted<'_>) -> Result<Finding, String> {
    let task = Task { input: None, seconds: limits.seconds, kept_bytes: limits.kept_bytes };
    let finished = child::run(command, environment, task)?;
    let cut: String = [("stdout", &finished.stdout), ("stderr", &finished.stderr)]
        .into_iter()
        .filter(|(_, output)| output.is_cut())
        .map(|(name, output)| format!("; {name} cut, it has {} bytes", output.total()))
        .collect();
    Ok(match finished.ending {
        Ending::TimedOut => {
            let (stdout, stderr) =
                (finished.stdout.start(SHOWN_AFTER_TIMEOUT), finished.stderr.start(SHOWN_AFTER_TIMEOUT));
            let after = python::float_repr(limits.seconds);
            Finding::unobserved(&format!("script timed out after {after}s{cut}\nstdout:\n{stdout}\nstderr:\n{stderr}"))
        }
        Ending::Exited(code) => {
            let shown = |name: &str, output: &Captured| match output.start(SHOWN_CHARACTERS) {
                text if text.is_empty() => String::new(),
                text => format!("\n{name}:\n{text}"),
            };
            let (stdout, stderr) = (shown("stdout", &finished.stdout), shown("stderr", &finished.stderr));
            let evidence = format!("exit={code}{cut}{stdout}{stderr}");
            let score = last_score(&finished.stdout.end());
            let shows = |output: &Captured, text: &str| {
                output.start(usize::MAX).contains(text) || output.is_cut() && output.end().contains(text)
            };
            let missing = wanted.output.filter(|text| !shows(&finished.stdout, text) && !shows(&finished.stderr, text));
            let evidence = match missing {
                Some(text) => format!("{evidence}; missing output {}", python::repr_str(text)),
                None => evidence,
            };
            let passed = i64::from(code) == wanted.exit_code && missing.is_none();
            Finding { score, ..Finding::decided(passed, evidence) }
        }
    })
}

/// The score of the last line that states one: `{"score": 6, "max_score": 8}` is 0.75.
fn last_score(output: &str) -> Option<f64> {
    let lines: Vec<&str> = python::split_lines(output).map(python::strip).collect();
    lines.into_iter().rev().filter(|line| line.starts_with('{') && line.ends_with('}')).find_map(stated_score)
}

fn stated_score(line: &str) -> Option<f64> {
    let object = json::parse(line, json::Limits::SIDECAR).ok()?;
    let number = |key: &str| Some(object.get(key)?.as_number()?.as_f64()).filter(|number| number.is_finite());
    let score = number("score")?;
    let most = if object.get("max_score").is_some() { number("max_score").filter(|most| *most > 0.0)? } else { 1.0 };
    Some((score / most).clamp(0.0, 1.0))
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;
    use crate::grade::outcome::Availability;

    fn shell(text: &str, limits: Limits) -> Finding {
        let mut command = Command::new("/bin/sh");
        command.arg("-c").arg(text);
        run(command, &Environment::of_this_process(&[]), limits, Wanted { exit_code: 0, output: None }).unwrap()
    }

    const LIMITS: Limits = Limits { seconds: 30.0, kept_bytes: 256 << 10 };

    #[test]
    fn the_exit_code_decides_and_output_is_shown() {
        let finding = shell("exit 0", LIMITS);
        assert_eq!((finding.outcome.word(), finding.evidence.as_str(), finding.score), ("pass", "exit=0", None));
        let finding = shell("echo out; echo err >&2; exit 3", LIMITS);
        assert_eq!(
            (finding.outcome.word(), finding.evidence.as_str()),
            ("fail", "exit=3\nstdout:\nout\n\nstderr:\nerr\n")
        );
        assert_eq!(finding.availability, Availability::Complete);
        assert_eq!(shell("kill -TERM $$", LIMITS).evidence, "exit=-15");
    }

    #[test]
    fn a_wanted_text_must_be_written() {
        let state = |text: &str| {
            let mut command = Command::new("/bin/sh");
            command.arg("-c").arg(text);
            let wanted = Wanted { exit_code: 2, output: Some("ready=True") };
            let finding = run(command, &Environment::of_this_process(&[]), LIMITS, wanted).unwrap();
            (finding.outcome.word(), finding.evidence)
        };
        assert_eq!(state("echo ready=True; exit 2").0, "pass");
        assert_eq!(state("echo ready=True >&2; exit 2").0, "pass");
        assert_eq!(state("echo ready=True").0, "fail");
        assert_eq!(state("exit 2"), ("fail", "exit=2; missing output 'ready=True'".to_owned()));
    }

    #[test]
    fn long_output_is_cut_and_its_last_line_still_scores() {
        let limits = Limits { kept_bytes: 1_000, ..LIMITS };
        let finding = shell("head -c 300000 /dev/zero | tr '\\0' x; echo; echo '{\"score\": 0.5}'", limits);
        assert!(
            finding.evidence.starts_with("exit=0; stdout cut, it has 300016 bytes\nstdout:\nxxx"),
            "{}",
            finding.evidence
        );
        assert_eq!(finding.score, Some(0.5));
    }

    #[test]
    fn a_slow_program_is_ended_with_what_it_started() {
        let started = Instant::now();
        let finding = shell("echo partial; sleep 50 & sleep 50", Limits { seconds: 0.5, ..LIMITS });
        assert!(started.elapsed().as_secs() < 20);
        assert_eq!(finding.evidence, "script timed out after 0.5s\nstdout:\npartial\n\nstderr:\n");
        assert_eq!((finding.outcome.word(), finding.availability), ("undecided", Availability::Missing));
    }

    #[test]
    fn scores_are_finite_numbers_of_the_last_line_that_has_one() {
        assert_eq!(last_score("{\"score\": 0.2}\nlog\n {\"score\": 0.9} \n{\"note\": 1}\n"), Some(0.9));
        assert_eq!(last_score("{\"score\": 6, \"max_score\": 8}"), Some(0.75));
        assert_eq!(last_score("{\"score\": 9}"), Some(1.0));
        assert_eq!(last_score("{\"score\": -1}"), Some(0.0));
        for none in ["true", "\"1\"", "NaN", "1e999", "null", "1, \"max_score\": 0", "1, \"max_score\": true"] {
            assert_eq!(last_score(&format!("{{\"score\": {none}}}")), None, "{none}");
        }
        assert_eq!(last_score("{\"score\": 0.5}\n{\"score\": true}"), Some(0.5));
        assert_eq!(last_score(""), None);
    }
}
