//! Checks of calls by tool and arguments: `no_write_of`, `write_ordering`.
//!
//! What a record keeps of the arguments of a call is JSON, or a summary that may leave something out. Of a summary it is
//! not known whether an argument has a value; a check that depends on such a call is undecided.

use skill_lift_text::python;

use super::tools::is_named;
use super::{StepLimit, about_attempts, matches};
use crate::grade::checks::Finding;
use crate::json::{self, Node};
use crate::runs::{Event, EventLog};
use crate::suite::check::CallShape;

/// Whether a call is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Likeness {
    Yes,
    No,
    /// Its arguments were not recorded.
    Unknown,
}

const UNKNOWN: &str = "the arguments of a call that may be meant were not recorded as JSON";

pub(super) fn no_write_of(shape: &CallShape, log: &EventLog) -> Result<Finding, StepLimit> {
    let mut is_unknown = false;
    for event in log.steps() {
        match likeness(shape, event, log)? {
            Likeness::Yes => {
                let evidence = format!("unexpected call of {}: {}", described(shape), python::repr_str(&event.text));
                return Ok(Finding::decided(false, evidence));
            }
            Likeness::Unknown => is_unknown = true,
            Likeness::No => {}
        }
    }
    if is_unknown {
        return Ok(Finding::unobserved(UNKNOWN));
    }
    Ok(about_attempts(Finding::decided(true, format!("no call of {}", described(shape))), log))
}

pub(super) fn write_ordering(first: &CallShape, then: &CallShape, log: &EventLog) -> Result<Finding, StepLimit> {
    let (first_place, then_place) = (place(first, log)?, place(then, log)?);
    let (Some(first_place), Some(then_place)) = (first_place, then_place) else {
        return Ok(Finding::unobserved(UNKNOWN));
    };
    let (shown_first, shown_then) = (described(first), described(then));
    Ok(match (first_place, then_place) {
        (None, _) => Finding::decided(false, format!("no call of {shown_first}")),
        (_, None) => Finding::decided(false, format!("no call of {shown_then}")),
        (Some(before), Some(after)) => {
            let word = if before < after { "before" } else { "not before" };
            Finding::decided(before < after, format!("{shown_first} {word} {shown_then}"))
        }
    })
}

/// The place of the first completed call that is meant, if there is one; `None` when that cannot be said.
fn place(shape: &CallShape, log: &EventLog) -> Result<Option<Option<usize>>, StepLimit> {
    for (index, event) in log.steps().enumerate().filter(|(_, event)| event.is_completed()) {
        match likeness(shape, event, log)? {
            Likeness::Yes => return Ok(Some(Some(index))),
            Likeness::Unknown => return Ok(None),
            Likeness::No => {}
        }
    }
    Ok(Some(None))
}

fn likeness(shape: &CallShape, event: &Event, log: &EventLog) -> Result<Likeness, StepLimit> {
    if let Some(tool) = &shape.tool {
        let wanted = python::casefold(tool);
        // a tool of a server is recorded as `mcp__server__tool`
        let of_server = python::casefold(&event.name).ends_with(&format!("__{wanted}"));
        if !of_server && !is_named(event, &wanted, log) {
            return Ok(Likeness::No);
        }
    }
    if shape.contains.is_empty() && shape.matches.is_empty() {
        return Ok(Likeness::Yes);
    }
    let Ok(arguments) = json::parse(&event.input, json::Limits::SIDECAR) else { return Ok(Likeness::Unknown) };
    if arguments.members().is_none() {
        return Ok(Likeness::Unknown);
    }
    let value = |key: &str| arguments.get(key).map(Node::python_str);
    for (key, part) in &shape.contains {
        if !value(key).is_some_and(|value| value.contains(part)) {
            return Ok(Likeness::No);
        }
    }
    for (key, pattern) in &shape.matches {
        let Some(value) = value(key) else { return Ok(Likeness::No) };
        if !matches(pattern, &value)? {
            return Ok(Likeness::No);
        }
    }
    Ok(Likeness::Yes)
}

fn described(shape: &CallShape) -> String {
    let contains = shape.contains.iter().map(|(key, part)| format!("{key} contains {}", python::repr_str(part)));
    let matched = shape.matches.iter().map(|(key, pattern)| format!("{key} matches /{}/", pattern.source));
    let arguments: Vec<String> = contains.chain(matched).collect();
    let tool = shape.tool.as_deref().unwrap_or("<any>");
    if arguments.is_empty() { tool.to_owned() } else { format!("{tool} ({})", arguments.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{finding, on_events, pattern};
    use super::*;
    use crate::suite::Check;

    fn shape(tool: &str) -> CallShape {
        CallShape { tool: Some(tool.to_owned()), ..CallShape::default() }
    }

    #[test]
    fn no_call_of_a_tool_is_seen_in_a_trace() {
        let check = Check::NoWriteOf { call: shape("create_note") };
        let on = |events: &[&str]| on_events(&check, events);
        assert_eq!(on(&["tool_call Read x"]), ("pass", "no call of create_note".to_owned()));
        assert_eq!(on(&["tool_call Create_Note x"]).0, "fail");
        assert_eq!(on(&["!tool_call mcp__notes__create_note x"]).0, "fail");
        assert_eq!(on(&["tool_call mcp__notes__recreate_note x"]).0, "pass");
    }

    #[test]
    fn arguments_are_known_only_from_json() {
        let call = || CallShape { matches: vec![("kind".to_owned(), pattern("."))], ..CallShape::default() };
        let check = Check::NoWriteOf { call: call() };
        let on = |input: &str| {
            let events =
                serde_json::json!([{"type": "tool_call", "name": "t", "status": "completed", "input_summary": input}]);
            finding(&check, "{}", &events.to_string()).outcome.word()
        };
        assert_eq!(on(r#"{"kind": "weekly"}"#), "fail");
        assert_eq!(on(r#"{"kind": ""}"#), "pass");
        assert_eq!(on(r#"{"other": "weekly"}"#), "pass");
        assert_eq!(on("kind=weekly"), "undecided");
    }

    #[test]
    fn the_first_calls_are_compared() {
        let check = Check::WriteOrdering { first: shape("create"), then: shape("archive") };
        let on = |events: &[&str]| on_events(&check, events);
        assert_eq!(on(&["tool_call create 1", "tool_call archive 1"]), ("pass", "create before archive".to_owned()));
        assert_eq!(on(&["tool_call archive 1", "tool_call create 1", "tool_call archive 2"]).0, "fail");
        assert_eq!(on(&["tool_call archive 1"]), ("fail", "no call of create".to_owned()));
        assert_eq!(on(&["tool_call create 1", "!tool_call archive 1"]), ("fail", "no call of archive".to_owned()));
    }
}
