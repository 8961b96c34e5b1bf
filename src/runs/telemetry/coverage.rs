//! Which kinds of telemetry a run has.

use super::Record;
use crate::json::View;
use crate::runs::directory::RunDirectory;
use crate::runs::events::{self, EventKind};

/// Which kinds of telemetry a run has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TelemetryCoverage {
    /// The raw trace is there.
    pub trace: bool,
    /// There is a file of events.
    pub events: bool,
    /// There is a file of metrics.
    pub metrics: bool,
    /// The number of tokens is known.
    pub tokens: bool,
    /// The commands are known.
    pub commands: bool,
    /// Whether the skill was loaded is known.
    pub skill_invocation: bool,
}

impl TelemetryCoverage {
    /// Looks at a run directory and at its merged files. Events are read only where nothing else says what is asked.
    pub(in crate::runs) fn read<'v, V: View<'v>>(
        objects: &[V],
        directory: &mut RunDirectory,
        events_bytes: u64,
    ) -> Self {
        let record = Record { objects };
        let measurements = record.get("telemetry").and_then(|telemetry| telemetry.member("measurements"));
        let measured = |name: &str| {
            let entry = measurements?.member(name).filter(|entry| entry.object())?;
            Some(entry.member("availability").and_then(|word| word.string()).as_deref() == Some("available"))
        };
        let usage = record.get("usage").filter(|usage| usage.object());
        let has_number = |key: &str| {
            let value = record.get(key).filter(|value| value.number().is_some());
            value.or_else(|| usage?.member(key).filter(|value| value.number().is_some())).is_some()
        };
        let events = directory.has_entry(events::FILE_NAME);
        let mut log = |test: fn(&events::EventLog) -> bool| {
            events && directory.events(events_bytes).as_ref().as_ref().is_ok_and(test)
        };
        let commands = measured("commands")
            .unwrap_or_else(|| has_number("commands") || has_number("command_count") || log(|_| true));
        let skill_invocation = measured("skill_invoked").unwrap_or_else(|| {
            record.get("skill_invoked").is_some_and(|value| value.boolean().is_some())
                || log(|log| log.events.iter().any(|event| event.kind == EventKind::SkillLoad))
        });
        Self {
            trace: directory.has_entry("trace.jsonl"),
            events,
            metrics: directory.has_entry("metrics.json"),
            tokens: measured("total_tokens").unwrap_or_else(|| has_number("total_tokens")),
            commands,
            skill_invocation,
        }
    }
}
