//! Checks of commands: `command_ran`, `command_not_ran`, `command_order`, `no_repeated_command_loop`.

use skill_lift_text::python;

use super::{StepLimit, about_attempts, first_match, in_order};
use crate::grade::checks::Finding;
use crate::runs::{Event, EventLog, Metrics};
use crate::suite::check::WrittenPattern;

pub(super) fn ran(pattern: &WrittenPattern, log: &EventLog) -> Result<Finding, StepLimit> {
    Ok(match first_match(pattern, texts(log.completed_commands()))? {
        Some((_, command)) => Finding::decided(true, format!("matched command {}", python::repr_str(command))),
        None => Finding::decided(false, format!("no command matched /{}/", pattern.source)),
    })
}

/// A banned command that failed, or was only started, was run all the same.
pub(super) fn not_ran(pattern: &WrittenPattern, log: &EventLog) -> Result<Finding, StepLimit> {
    let finding = match first_match(pattern, texts(log.commands()))? {
        Some((_, command)) => Finding::decided(false, format!("banned command matched {}", python::repr_str(command))),
        None => Finding::decided(true, "no banned command matched".to_owned()),
    };
    Ok(about_attempts(finding, log))
}

pub(super) fn order(patterns: &[WrittenPattern], log: &EventLog) -> Result<Finding, StepLimit> {
    let commands: Vec<&str> = texts(log.completed_commands()).collect();
    in_order(patterns, &commands, "matched order", "missing ordered command")
}

pub(super) fn no_repeated_loop(max: u64, metrics: &Metrics, log: &EventLog) -> Finding {
    // a zero is what writers put where nothing was counted
    let measured = metrics.repeated_command_max.map(f64::trunc).filter(|repeats| *repeats > 0.0);
    let repeats = measured.unwrap_or_else(|| longest_repetition(log) as f64);
    Finding::decided(repeats <= max as f64, format!("repeated_command_max={repeats:.0}; max={max}"))
}

/// The longest run of the same command, whatever else happened in between; case and the amount of white space do not
/// make two commands differ.
fn longest_repetition(log: &EventLog) -> u64 {
    let (mut last, mut current, mut longest) = (String::new(), 0_u64, 0_u64);
    for command in texts(log.completed_commands()) {
        let command = folded(command);
        current = match command.is_empty() {
            true => 0,
            false if command == last => current + 1,
            false => 1,
        };
        longest = longest.max(current);
        last = command;
    }
    longest
}

fn folded(command: &str) -> String {
    let folded = python::casefold(command);
    folded.split(python::is_space).filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

fn texts<'e>(events: impl Iterator<Item = &'e Event>) -> impl Iterator<Item = &'e str> {
    events.map(|event| &*event.text)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{finding, on_events, pattern, written};
    use crate::grade::outcome::Availability;
    use crate::suite::Check;

    fn ran(source: &str) -> Check {
        Check::CommandRan { pattern: pattern(source) }
    }

    fn not_ran(source: &str) -> Check {
        Check::CommandNotRan { pattern: pattern(source) }
    }

    fn pass(evidence: &str) -> (&'static str, String) {
        ("pass", evidence.to_owned())
    }

    fn fail(evidence: &str) -> (&'static str, String) {
        ("fail", evidence.to_owned())
    }

    #[test]
    fn only_a_completed_command_ran() {
        let events = ["!command bash make test", "~command bash make test", "tool_call Bash make test"];
        assert_eq!(on_events(&ran("make"), &events), fail("no command matched /make/"));
        assert_eq!(on_events(&ran("^MAKE"), &["command bash make 'it'"]), pass(r#"matched command "make 'it' bash""#));
        // an empty command is a command
        assert_eq!(on_events(&ran("^$"), &["command"]), pass("matched command ''"));
    }

    #[test]
    fn an_attempt_is_enough_for_a_banned_command() {
        let banned = fail("banned command matched 'rm -rf / bash'");
        for event in ["command bash rm -rf /", "!command bash rm -rf /", "~command bash rm -rf /"] {
            assert_eq!(on_events(&not_ran("rm -rf"), &[event]), banned, "{event}");
        }
        assert_eq!(on_events(&not_ran("rm -rf"), &["tool_call bash rm -rf /"]), pass("no banned command matched"));
        assert_eq!(on_events(&not_ran("rm"), &[]), pass("no banned command matched"));
    }

    #[test]
    fn codex_does_not_show_every_attempt() {
        let on = |source: &str, described: &[&str]| {
            let text = format!(r#"{{"source":"{source}","events":{}}}"#, written(described));
            let found = finding(&not_ran("rm"), "{}", &text);
            (found.outcome.word(), found.availability)
        };
        assert_eq!(on("codex", &[]), ("pass", Availability::Partial));
        assert_eq!(on("Codex", &["command bash rm x"]), ("fail", Availability::Partial));
        assert_eq!(on("claude", &[]), ("pass", Availability::Complete));
    }

    #[test]
    fn patterns_are_found_one_behind_the_other() {
        let order = |sources: &[&str]| Check::CommandOrder { patterns: sources.iter().map(|s| pattern(s)).collect() };
        let events = ["command bash a", "!command bash b", "command bash c", "command bash a"];
        assert_eq!(on_events(&order(&["a", "c", "a"]), &events), pass("matched order: ['a bash', 'c bash', 'a bash']"));
        let missing = "missing ordered command /b b/ after index 2; matched=['c bash']";
        assert_eq!(on_events(&order(&["c", "b b"]), &events), fail(missing));
        assert_eq!(on_events(&order(&["c"]), &[]), fail("missing ordered command /c/ after index 0; matched=[]"));
    }

    #[test]
    fn repetitions_are_counted_over_completed_commands() {
        let check = Check::NoRepeatedCommandLoop { max: 2 };
        let events = ["command bash ls", "!command bash x", "message", "command bash  LS\u{a0}", "command bash pwd"];
        assert_eq!(on_events(&check, &events), pass("repeated_command_max=2; max=2"));
        // an empty command ends a run
        let events = ["command bash ls", "command", "command bash ls"];
        assert_eq!(on_events(&check, &events), pass("repeated_command_max=1; max=2"));
        assert_eq!(on_events(&check, &[]), pass("repeated_command_max=0; max=2"));
        let measured = |text: &str| {
            let found = finding(&check, text, &written(&["command bash ls"]));
            (found.outcome.word(), found.evidence)
        };
        assert_eq!(measured(r#"{"repeated_command_max":5}"#), fail("repeated_command_max=5; max=2"));
        assert_eq!(measured(r#"{"repeated_command_max":2.9}"#), pass("repeated_command_max=2; max=2"));
        assert_eq!(measured(r#"{"repeated_command_max":0}"#), pass("repeated_command_max=1; max=2"));
        assert_eq!(measured(r#"{"repeated_command_max":-5}"#), pass("repeated_command_max=1; max=2"));
    }
}
