//! Checks of tool calls: `tool_call`, `tool_count_le`.
//!
//! Every step of the agent is a call, also one that a normaliser knows as a command, a file access or a skill load.
//! Outputs are never matched.

use std::collections::{BTreeMap, BTreeSet};

use skill_lift_text::python;

use super::{StepLimit, about_attempts, in_order, matches};
use crate::grade::checks::Finding;
use crate::runs::{Event, EventKind, EventLog};
use crate::suite::check::{ToolCall, ToolRelation};

/// Most unexpected calls that an evidence lists.
const SHOWN_CALLS: usize = 5;

/// Names that select every command.
const SHELL_NAMES: [&str; 3] = ["bash", "shell", "command"];

pub(super) fn tool_call(call: &ToolCall, log: &EventLog) -> Result<Finding, StepLimit> {
    match &call.relation {
        ToolRelation::Count { min, max } => counted(call, *min, *max, log),
        ToolRelation::NoCall => no_call(call, log).map(|finding| about_attempts(finding, log)),
        ToolRelation::Required(names) => Ok(required(names, log)),
        ToolRelation::Exactly(names) => Ok(exactly(names, log)),
        ToolRelation::Order(patterns) => {
            let texts: Vec<&str> = selected(call.tool.as_deref(), log).collect();
            in_order(patterns, &texts, "matched tool-call order", "missing ordered tool call")
        }
    }
}

pub(super) fn count_le(tool: Option<&str>, max: u64, log: &EventLog) -> Finding {
    let wanted = tool.map(python::casefold);
    let counts = |event: &&Event| match wanted.as_deref() {
        None => true,
        Some(wanted) => is_named(event, wanted, log) || (wanted == "bash" && event.kind == EventKind::Command),
    };
    let count = completed(log).filter(counts).count() as u64;
    let tool = tool.unwrap_or("<any>");
    Finding::decided(count <= max, format!("tool_count={count}; max={max}; tool={tool}"))
}

fn counted(call: &ToolCall, min: u64, max: Option<u64>, log: &EventLog) -> Result<Finding, StepLimit> {
    let mut first = None;
    let mut count = 0;
    for text in selected(call.tool.as_deref(), log) {
        let hit = match &call.pattern {
            Some(pattern) => matches(pattern, text)?,
            None => true,
        };
        if hit {
            first.get_or_insert(text);
            count += 1;
        }
    }
    if count < min {
        let tool = call.tool.as_deref().unwrap_or("<any>");
        let pattern = call.pattern.as_ref().map_or("<any>", |pattern| &pattern.source);
        let evidence = format!("{count} matching tool call(s) < min_count {min} (tool={tool}, pattern={pattern})");
        return Ok(Finding::decided(false, evidence));
    }
    if let Some(max) = max.filter(|max| count > *max) {
        return Ok(Finding::decided(false, format!("{count} matching tool call(s) > max_count {max}")));
    }
    let first = first.map(|text| format!("; first={}", python::repr_str(text))).unwrap_or_default();
    Ok(Finding::decided(true, format!("{count} matching tool call(s){first}")))
}

/// Attempts count, in any state.
fn no_call(call: &ToolCall, log: &EventLog) -> Result<Finding, StepLimit> {
    let mut offending: BTreeSet<String> = BTreeSet::new();
    for event in log.steps() {
        let name = called_name(event);
        let offends = match (&call.pattern, &call.tool) {
            (Some(pattern), _) => matches(pattern, &name)?,
            (None, Some(tool)) => *name == python::casefold(tool) || is_named(event, &python::casefold(tool), log),
            (None, None) => true,
        };
        if offends {
            offending.insert(name);
        }
    }
    if offending.is_empty() {
        return Ok(Finding::decided(true, "no matching tool call (as required)".to_owned()));
    }
    let shown = python::repr_list(offending.iter().map(String::as_str).take(SHOWN_CALLS));
    Ok(Finding::decided(false, format!("unexpected tool call(s): {shown}")))
}

fn required(names: &[String], log: &EventLog) -> Finding {
    let is_missing = |name: &&String| {
        let wanted = python::casefold(name);
        !completed(log).any(|event| is_named(event, &wanted, log))
    };
    let missing: BTreeSet<&str> = names.iter().filter(is_missing).map(String::as_str).collect();
    if missing.is_empty() {
        return Finding::decided(true, format!("all {} required tool call(s) present", names.len()));
    }
    Finding::decided(false, format!("missing required tool call(s): {}", python::repr_list(missing)))
}

/// The same names the same number of times. Calls without a name are not counted.
fn exactly(names: &[String], log: &EventLog) -> Finding {
    let mut wanted: BTreeMap<String, usize> = BTreeMap::new();
    for name in names {
        *wanted.entry(python::casefold(name).into_owned()).or_default() += 1;
    }
    let mut unexpected: Vec<String> = Vec::new();
    for event in completed(log).filter(|event| !event.name.is_empty()) {
        let name = python::casefold(&event.name);
        // the full name first: nothing but this event can stand for it
        let names = [Some(&*name), name_on_server(event, &name, log)];
        let found = names.into_iter().flatten().find(|name| wanted.get(*name).is_some_and(|left| *left > 0));
        match found.and_then(|name| wanted.get_mut(name)) {
            Some(left) => *left -= 1,
            None => unexpected.push(name.into_owned()),
        }
    }
    let missing: Vec<&str> = wanted.iter().flat_map(|(name, left)| std::iter::repeat_n(name.as_str(), *left)).collect();
    if missing.is_empty() && unexpected.is_empty() {
        return Finding::decided(true, format!("call_set matched exactly ({} named call(s))", names.len()));
    }
    unexpected.sort_unstable();
    let missing = python::repr_list(missing);
    let unexpected = python::repr_list(unexpected.iter().map(String::as_str).take(SHOWN_CALLS));
    Finding::decided(false, format!("call_set mismatch — missing={missing}; unexpected={unexpected}"))
}

fn completed(log: &EventLog) -> impl Iterator<Item = &Event> {
    log.steps().filter(|event| event.is_completed())
}

/// What patterns are matched with, of the completed calls of a tool.
fn selected<'l>(tool: Option<&str>, log: &'l EventLog) -> impl Iterator<Item = &'l str> {
    let wanted = tool.map(|tool| python::casefold(tool).into_owned());
    completed(log)
        .filter(move |event| match wanted.as_deref() {
            None => true,
            Some(wanted) => {
                is_named(event, wanted, log) || (event.kind == EventKind::Command && SHELL_NAMES.contains(&wanted))
            }
        })
        .map(|event| &*event.text)
}

/// Whether an event has a name, which is given with case folded.
pub(super) fn is_named(event: &Event, wanted: &str, log: &EventLog) -> bool {
    let name = python::casefold(&event.name);
    *name == *wanted || name_on_server(event, &name, log) == Some(wanted)
}

/// The name of a tool without that of its server. Of codex both spellings are in use: `server.tool` and `tool`.
fn name_on_server<'n>(event: &Event, name: &'n str, log: &EventLog) -> Option<&'n str> {
    let is_qualified = log.is_from_codex() && event.kind == EventKind::ToolCall;
    name.split_once('.').filter(|_| is_qualified).map(|(_, tool)| tool)
}

/// The name of a call for the check that there is none, where also a call without a name is one.
fn called_name(event: &Event) -> String {
    match (&*event.name, event.kind) {
        ("", EventKind::Command) => "bash".to_owned(),
        ("", kind) => kind.wire_name().to_owned(),
        (name, _) => python::casefold(name).into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{finding, on_events, pattern, written};
    use super::*;
    use crate::grade::outcome::Availability;
    use crate::suite::Check;

    const CALLS: [&str; 5] =
        ["command bash ls", "file_read Read a.md", "tool_call Grep x", "!tool_call Fetch y", "~file_write Write z"];

    fn call(tool: Option<&str>, source: Option<&str>, relation: ToolRelation) -> Check {
        Check::ToolCall(ToolCall { tool: tool.map(str::to_owned), pattern: source.map(pattern), relation })
    }

    fn owned(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    fn pass(evidence: &str) -> (&'static str, String) {
        ("pass", evidence.to_owned())
    }

    fn fail(evidence: &str) -> (&'static str, String) {
        ("fail", evidence.to_owned())
    }

    #[test]
    fn completed_steps_are_counted() {
        let count = |tool, source, min, max| on_events(&call(tool, source, ToolRelation::Count { min, max }), &CALLS);
        assert_eq!(count(None, None, 3, Some(3)), pass("3 matching tool call(s); first='ls bash'"));
        assert_eq!(count(Some("READ"), Some(r"\.md"), 1, None), pass("1 matching tool call(s); first='a.md Read'"));
        assert_eq!(count(Some("Shell"), None, 1, None), pass("1 matching tool call(s); first='ls bash'"));
        let few = "0 matching tool call(s) < min_count 1 (tool=Fetch, pattern=y)";
        assert_eq!(count(Some("Fetch"), Some("y"), 1, None), fail(few));
        assert_eq!(count(None, None, 1, Some(2)), fail("3 matching tool call(s) > max_count 2"));
    }

    #[test]
    fn calls_come_in_order() {
        let order = |tool, sources: &[&str]| {
            let patterns = sources.iter().map(|source| pattern(source)).collect();
            on_events(&call(tool, None, ToolRelation::Order(patterns)), &CALLS)
        };
        assert_eq!(order(None, &["ls", "grep"]), pass("matched tool-call order: ['ls bash', 'x Grep']"));
        let missing = "missing ordered tool call /read/ after index 3; matched=['x Grep']";
        assert_eq!(order(None, &["grep", "read"]), fail(missing));
    }

    #[test]
    fn attempts_count_where_no_call_is_wanted() {
        let none = |tool, source, events: &[&str]| on_events(&call(tool, source, ToolRelation::NoCall), events);
        assert_eq!(none(None, None, &["message a b"]), pass("no matching tool call (as required)"));
        let all = "unexpected tool call(s): ['bash', 'fetch', 'grep', 'read', 'write']";
        assert_eq!(none(None, None, &CALLS), fail(all));
        assert_eq!(none(Some("FETCH"), None, &CALLS), fail("unexpected tool call(s): ['fetch']"));
        assert_eq!(none(Some("WebSearch"), None, &CALLS), pass("no matching tool call (as required)"));
        // the pattern decides alone
        assert_eq!(none(Some("grep"), Some("^W"), &CALLS), fail("unexpected tool call(s): ['write']"));
        let nameless = ["command", "~skill_load"];
        assert_eq!(none(None, None, &nameless), fail("unexpected tool call(s): ['bash', 'skill_load']"));
        assert_eq!(none(Some("Bash"), None, &nameless), fail("unexpected tool call(s): ['bash']"));
    }

    #[test]
    fn required_calls_are_whole_names() {
        let required = |names: &[&str]| on_events(&call(None, None, ToolRelation::Required(owned(names))), &CALLS);
        assert_eq!(required(&["read", "BASH", "Read"]), pass("all 3 required tool call(s) present"));
        let missing = "missing required tool call(s): ['Fetch', 'Re', 'Write']";
        assert_eq!(required(&["Write", "Grep", "Re", "Fetch", "Re"]), fail(missing));
    }

    #[test]
    fn a_call_set_is_exact() {
        let set =
            |names: &[&str], events: &[&str]| on_events(&call(None, None, ToolRelation::Exactly(owned(names))), events);
        let exact = pass("call_set matched exactly (3 named call(s))");
        assert_eq!(set(&["grep", "Bash", "Read"], &CALLS), exact);
        assert_eq!(set(&["grep", "Bash", "Read"], &[&CALLS[..], &["command"]].concat()), exact);
        let mismatch = "call_set mismatch — missing=['edit', 'edit']; unexpected=['bash', 'grep']";
        assert_eq!(set(&["Edit", "Read", "Edit"], &CALLS), fail(mismatch));
    }

    #[test]
    fn the_count_of_one_tool_or_of_all() {
        let count = |tool: Option<&str>, max| {
            on_events(&Check::ToolCountLe { tool: tool.map(str::to_owned), max }, &[&CALLS[..], &["command"]].concat())
        };
        assert_eq!(count(None, 4), pass("tool_count=4; max=4; tool=<any>"));
        assert_eq!(count(Some("Bash"), 1), fail("tool_count=2; max=1; tool=Bash"));
        assert_eq!(count(Some("shell"), 0), pass("tool_count=0; max=0; tool=shell"));
    }

    #[test]
    fn tools_of_codex_have_two_names() {
        let on = |source: &str, check: &Check| {
            let events = written(&["tool_call docs.search q", "tool_call docs.search r"]);
            let found = finding(check, "{}", &format!(r#"{{"source":"{source}","events":{events}}}"#));
            (found.outcome.word(), found.availability)
        };
        let set = |names: &[&str]| call(None, None, ToolRelation::Exactly(owned(names)));
        let complete = |word| (word, Availability::Complete);
        assert_eq!(on("codex", &set(&["search", "docs.search"])), complete("pass"));
        assert_eq!(on("codex", &set(&["search"])), complete("fail"));
        assert_eq!(on("generic", &set(&["search", "docs.search"])), complete("fail"));
        assert_eq!(on("codex", &call(None, None, ToolRelation::Required(owned(&["Search"])))), complete("pass"));
        let partial = ("fail", Availability::Partial);
        assert_eq!(on("codex", &call(Some("search"), None, ToolRelation::NoCall)), partial);
        let counted = ToolRelation::Count { min: 2, max: None };
        assert_eq!(on("codex", &call(Some("search"), None, counted)), complete("pass"));
    }
}
