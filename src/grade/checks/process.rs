//! Checks of what the agent did: skills, commands, tools.
//!
//! Without events such a check is undecided, and its row says what is missing.

mod calls;
mod commands;
mod tools;

use skill_lift_text::python;

use super::pattern::{StepLimit, matches};
use super::{Evidence, Finding};
use crate::grade::outcome::Availability;
use crate::runs::metrics::SKILL_EVIDENCE;
use crate::runs::{Event, EventKind, EventLog, Events, Metrics, Signal};
use crate::suite::Check;
use crate::suite::check::WrittenPattern;

pub(super) fn evaluate(check: &Check, evidence: &mut Evidence<'_, '_>) -> Finding {
    let Some(signal) = signal(check) else {
        return Finding::unsupported();
    };
    let metrics = evidence.directory.metrics();
    if let Some(missing) = unavailable(&metrics, signal) {
        return missing;
    }
    let events = evidence.directory.events(evidence.options.events_bytes);
    observed(check, &metrics, &events)
}

/// The measurement that says whether a check can be observed.
fn signal(check: &Check) -> Option<Signal> {
    Some(match check {
        Check::SkillInvoked { .. } => Signal::SkillInvoked,
        Check::CommandRan { .. } | Check::CommandNotRan { .. } | Check::CommandOrder { .. } => Signal::Commands,
        Check::ToolCall(_) | Check::ToolCountLe { .. } | Check::NoWriteOf { .. } | Check::WriteOrdering { .. } => {
            Signal::ToolCalls
        }
        Check::NoRepeatedCommandLoop { .. } => Signal::RepeatedCommandMax,
        _ => return None,
    })
}

/// Why a check cannot be observed, when the run's own telemetry says so. That beats a zero and also an event: what was
/// seen of an incomplete trace is not all there was.
pub(super) fn unavailable(metrics: &Metrics, signal: Signal) -> Option<Finding> {
    let reason = metrics.why_unavailable(signal)?;
    Some(Finding::unobserved(&format!("missing {} evidence ({reason})", signal.wire_name())))
}

fn observed(check: &Check, metrics: &Metrics, events: &Events) -> Finding {
    if let Check::SkillInvoked { expected } = check {
        return skill_invoked(*expected, metrics, events);
    }
    let log = match events {
        Ok(log) => log,
        Err(problem) => return Finding::unobserved(&problem.to_string()),
    };
    let finding = match check {
        Check::CommandRan { pattern } => commands::ran(pattern, log),
        Check::CommandNotRan { pattern } => commands::not_ran(pattern, log),
        Check::CommandOrder { patterns } => commands::order(patterns, log),
        Check::ToolCall(call) => tools::tool_call(call, log),
        Check::ToolCountLe { tool, max } => Ok(tools::count_le(tool.as_deref(), *max, log)),
        Check::NoWriteOf { call } => calls::no_write_of(call, log),
        Check::WriteOrdering { first, then } => calls::write_ordering(first, then, log),
        Check::NoRepeatedCommandLoop { max } => Ok(commands::no_repeated_loop(*max, metrics, log)),
        _ => Ok(Finding::unsupported()),
    };
    finding.unwrap_or_else(StepLimit::finding)
}

fn skill_invoked(expected: bool, metrics: &Metrics, events: &Events) -> Finding {
    let loads: Vec<&Event> = match events {
        Ok(log) => log.events.iter().filter(|event| loads_skill(event)).collect(),
        Err(problem) if metrics.skill_invoked.is_none() => {
            return Finding::unobserved(&format!("missing skill invocation evidence ({problem})"));
        }
        Err(_) => Vec::new(),
    };
    let invoked = !loads.is_empty() || metrics.skill_invoked == Some(true);
    let shown = loads.into_iter().map(|event| match (&*event.text, &*event.path) {
        ("", "") => "skill_load",
        ("", path) => path,
        (text, _) => text,
    });
    let reported = metrics.skill_evidence.iter().filter(|_| metrics.skill_invoked.is_some()).map(String::as_str);
    let evidence = python::repr_list(shown.chain(reported).take(SKILL_EVIDENCE));
    let (shown, wanted) = (python_bool(invoked), python_bool(expected));
    Finding::decided(invoked == expected, format!("skill_invoked={shown}; expected={wanted}; evidence={evidence}"))
}

/// Whether the agent got at a skill. A listing that names the file, and a load that failed, are no load.
pub fn loads_skill(event: &Event) -> bool {
    let names_skill = |text: &str| ["SKILL.md", "/skills/", "\\skills\\"].iter().any(|part| text.contains(part));
    let reads = || {
        matches!(event.kind, EventKind::FileRead | EventKind::ToolCall | EventKind::Command)
            && !is_listing(event)
            && (names_skill(&event.input) || names_skill(&event.name))
    };
    event.is_completed() && (event.kind == EventKind::SkillLoad || reads())
}

/// Whether a tool names files without showing what is in them.
pub fn is_listing(event: &Event) -> bool {
    const LISTING_TOOLS: [&str; 4] = ["glob", "grep_search", "list_directory", "read_many_files"];
    LISTING_TOOLS.contains(&&*python::casefold(&event.name))
}

fn python_bool(value: bool) -> &'static str {
    if value { "True" } else { "False" }
}

/// The first text that a pattern matches, with its position.
fn first_match<'t>(
    pattern: &WrittenPattern,
    texts: impl IntoIterator<Item = &'t str>,
) -> Result<Option<(usize, &'t str)>, StepLimit> {
    for (index, text) in texts.into_iter().enumerate() {
        if matches(pattern, text)? {
            return Ok(Some((index, text)));
        }
    }
    Ok(None)
}

/// Looks for each pattern behind the match of the one before. `passed` and `missing` begin the evidence.
fn in_order(patterns: &[WrittenPattern], texts: &[&str], passed: &str, missing: &str) -> Result<Finding, StepLimit> {
    let mut cursor = 0;
    let mut matched = Vec::new();
    for pattern in patterns {
        match first_match(pattern, texts[cursor..].iter().copied())? {
            Some((index, text)) => {
                matched.push(text);
                cursor += index + 1;
            }
            None => {
                let (source, matched) = (&pattern.source, python::repr_list(matched));
                let evidence = format!("{missing} /{source}/ after index {cursor}; matched={matched}");
                return Ok(Finding::decided(false, evidence));
            }
        }
    }
    Ok(Finding::decided(true, format!("{passed}: {}", python::repr_list(matched))))
}

/// A finding about what was not done. Codex writes no record of a call that was not permitted, so that its stream does
/// not show every attempt; that holds for both verdicts, or else a pair would look as if only one run was observed.
fn about_attempts(finding: Finding, log: &EventLog) -> Finding {
    if log.is_from_codex() { Finding { availability: Availability::Partial, ..finding } } else { finding }
}

#[cfg(test)]
mod testing {
    //! Evaluates one check on written events.

    use super::*;
    use crate::runs::events::testing::events;
    use crate::runs::metrics::testing::metrics;
    use skill_lift_text::pattern::Pattern;
    use std::sync::Arc;

    pub(super) fn pattern(source: &str) -> WrittenPattern {
        WrittenPattern { source: source.to_owned(), pattern: Arc::new(Pattern::parse(source, true).unwrap()) }
    }

    pub(super) fn finding(check: &Check, metrics_text: &str, events_text: &str) -> Finding {
        observed(check, &metrics(&[metrics_text]), &events(events_text))
    }

    /// State word and evidence of a check without metrics. An event is `type name input`, `!` for failed and `~` for in
    /// progress before it.
    pub(super) fn on_events(check: &Check, described: &[&str]) -> (&'static str, String) {
        let found = finding(check, "{}", &written(described));
        (found.outcome.word(), found.evidence)
    }

    pub(super) fn written(described: &[&str]) -> String {
        let events = described.iter().map(|event| {
            let status = match event.as_bytes()[0] {
                b'!' => "failed",
                b'~' => "in_progress",
                _ => "completed",
            };
            let mut words = event.trim_start_matches(['!', '~']).splitn(3, ' ');
            let mut word = || words.next().unwrap_or_default();
            let (kind, name, input) = (word(), word(), word());
            format!(r#"{{"type":"{kind}","status":"{status}","name":"{name}","input_summary":"{input}"}}"#)
        });
        format!("[{}]", events.collect::<Vec<_>>().join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::testing::{finding, on_events};
    use super::*;
    use crate::runs::EventsProblem;
    use crate::runs::metrics::testing::metrics;

    const INVOKED: Check = Check::SkillInvoked { expected: true };
    const NOT_INVOKED: Check = Check::SkillInvoked { expected: false };

    #[test]
    fn a_skill_is_loaded_by_reading_it() {
        let seen = |event: &str| on_events(&INVOKED, &[event]);
        let yes = |evidence: &str| ("pass", format!("skill_invoked=True; expected=True; evidence=['{evidence}']"));
        let no = ("fail", "skill_invoked=False; expected=True; evidence=[]".to_owned());
        assert_eq!(seen("skill_load demo"), yes("demo"));
        assert_eq!(seen("skill_load"), yes("skill_load"));
        assert_eq!(seen("file_read Read a/SKILL.md"), yes("a/SKILL.md Read"));
        assert_eq!(seen("command bash cat /x/skills/demo/notes"), yes("cat /x/skills/demo/notes bash"));
        assert_eq!(seen("!file_read Read a/SKILL.md"), no);
        assert_eq!(seen("~skill_load demo"), no);
        assert_eq!(seen("file_write Write a/SKILL.md"), no);
        assert_eq!(seen("tool_call Glob **/SKILL.md"), no);
        assert_eq!(seen("message x SKILL.md"), no);
    }

    #[test]
    fn a_metric_or_an_event_is_enough() {
        let found = finding(&INVOKED, r#"{"skill_invoked":true,"skill_invocation_evidence":["a"]}"#, "{");
        assert_eq!(found.evidence, "skill_invoked=True; expected=True; evidence=['a']");
        assert_eq!((found.outcome.word(), found.availability), ("pass", Availability::Complete));
        let load = r#"[{"type":"skill_load","status":"done","path":"p"}]"#;
        let found = finding(&NOT_INVOKED, r#"{"skill_invoked":false,"skill_invocation_evidence":["a"]}"#, load);
        assert_eq!(found.evidence, "skill_invoked=True; expected=False; evidence=['p', 'a']");
        // evidence without the metric is not shown
        let found = finding(&INVOKED, r#"{"skill_invocation_evidence":["a"]}"#, load);
        assert_eq!(found.evidence, "skill_invoked=True; expected=True; evidence=['p']");
    }

    #[test]
    fn without_evidence_a_check_is_undecided_and_says_so() {
        for check in [INVOKED, NOT_INVOKED] {
            let found = observed(&check, &Metrics::default(), &Err(EventsProblem::Missing));
            assert_eq!(found.evidence, "missing skill invocation evidence (missing events.json)");
            assert_eq!((found.outcome.word(), found.availability), ("undecided", Availability::Missing));
        }
        let found = finding(&Check::NoRepeatedCommandLoop { max: 1 }, r#"{"repeated_command_max":1}"#, "{}");
        assert_eq!(found.evidence, "events.json must contain an events list");
        assert_eq!((found.outcome.word(), found.availability), ("undecided", Availability::Missing));
    }

    #[test]
    fn telemetry_that_was_not_observed_beats_everything() {
        let text =
            r#"{"tool_calls":0,"telemetry":{"measurements":{"tool_calls":{"reason":"trace_observation_incomplete"}}}}"#;
        let found = unavailable(&metrics(&[text]), Signal::ToolCalls).unwrap();
        assert_eq!(found.evidence, "missing tool_calls evidence (trace_observation_incomplete)");
        assert_eq!((found.outcome.word(), found.availability), ("undecided", Availability::Missing));
        assert!(unavailable(&metrics(&[text]), Signal::Commands).is_none());
    }
}
