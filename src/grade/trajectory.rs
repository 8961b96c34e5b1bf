//! What the agent did on the way to its answer: counts of its steps, and the commands that it ran.

use std::collections::HashSet;

use skill_lift_contract::ContentDigest;

use super::checks::loads_skill;
use crate::runs::{EventKind, EventLog, RunDirectory};

/// Most different commands that are kept of a run: traces are of any length.
pub const COMMANDS_KEPT: usize = 256;

/// Longest command that is kept whole, in code points.
pub const COMMAND_CHARACTERS: usize = 500;

/// What is known of the way to an answer.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Trace {
    /// Nobody asked.
    #[default]
    Unread,
    /// There are no events, or none that can be read.
    Missing,
    /// There are events, and the run says that they are not all of them.
    Incomplete,
    /// The way.
    Seen(Box<Trajectory>),
}

/// The way to an answer. Only what is known to have ended well is counted.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Trajectory {
    /// Calls of tools in the widest sense: commands, reads, writes, skills, and all others.
    pub steps: u32,
    /// Commands.
    pub commands: u32,
    /// Files that were read, and skills that were loaded.
    pub file_reads: u32,
    /// Files that were written.
    pub file_writes: u32,
    /// Whether an event shows that the agent got at a skill.
    pub skill_invoked: bool,
    /// The different commands, in the order in which they were first run; of a long one the start with its length and
    /// digest, so that two of them are the same text only when they are the same command.
    pub command_texts: Vec<String>,
    /// Whether those are all of them.
    pub has_all_commands: bool,
}

impl Trace {
    /// Reads what the agent did.
    pub(super) fn of(directory: &mut RunDirectory, events_bytes: u64) -> Self {
        let events = directory.events(events_bytes);
        match events.as_ref() {
            // a list in which nothing is recognised shows no way to an answer
            Ok(log) if !log.events.is_empty() && directory.metrics().trace_incomplete => Self::Incomplete,
            Ok(log) if !log.events.is_empty() => Self::Seen(Box::new(Trajectory::of(log))),
            Ok(_) | Err(_) => Self::Missing,
        }
    }
}

impl Trajectory {
    /// Adds up the events of a run.
    pub fn of(log: &EventLog) -> Self {
        let mut trajectory = Self { has_all_commands: true, ..Self::default() };
        let mut known: HashSet<&str> = HashSet::new();
        for event in log.events.iter().filter(|event| event.is_completed()) {
            trajectory.steps += u32::from(event.kind.is_step());
            trajectory.skill_invoked = trajectory.skill_invoked || loads_skill(event);
            match event.kind {
                EventKind::Command => {
                    trajectory.commands += 1;
                    let text = event.shown_command();
                    if !text.is_empty() && !known.contains(text) {
                        if known.len() < COMMANDS_KEPT {
                            known.insert(text);
                            trajectory.command_texts.push(shortened(text));
                        } else {
                            trajectory.has_all_commands = false;
                        }
                    }
                }
                EventKind::FileRead | EventKind::SkillLoad => trajectory.file_reads += 1,
                EventKind::FileWrite => trajectory.file_writes += 1,
                EventKind::Event | EventKind::Error | EventKind::Message | EventKind::ToolCall | EventKind::Metric => {}
            }
        }
        trajectory
    }
}

/// A command; of a long one the start, its length and the first half of its digest.
fn shortened(command: &str) -> String {
    match command.char_indices().nth(COMMAND_CHARACTERS) {
        None => command.to_owned(),
        Some((end, _)) => {
            let digest = ContentDigest::of(command.as_bytes()).to_string();
            let characters = command.chars().count();
            format!("{}… [{characters} characters, sha256 {}]", &command[..end], &digest[..32])
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runs::events::testing::events;

    fn trajectory(text: &str) -> Trajectory {
        Trajectory::of(&events(text).unwrap())
    }

    fn texts(trajectory: &Trajectory) -> Vec<&str> {
        trajectory.command_texts.iter().map(String::as_str).collect()
    }

    #[test]
    fn only_what_ended_well_is_a_step() {
        let seen = trajectory(
            r#"[{"type":"command","status":"Success","input_summary":"ls"},
                {"type":"command","status":"failed","input_summary":"make"},
                {"type":"command","status":"in_progress","input_summary":"pwd"},
                {"type":"command","status":"ok","input_summary":"id"},
                {"type":"tool_call","status":"done","name":"Grep"},
                {"type":"file_read","status":"finished","path":"a"},
                {"type":"file_read","status":"completed","path":"b"},
                {"type":"skill_load","status":"complete","input_summary":"demo"},
                {"type":"file_write","status":"succeeded","path":"c"},
                {"type":"message","status":"completed"}]"#,
        );
        // 1 command + 1 tool call + 2 reads + 1 skill + 1 write; a message is no step
        assert_eq!((seen.steps, seen.commands, seen.file_reads, seen.file_writes), (6, 1, 3, 1));
        assert_eq!((texts(&seen), seen.skill_invoked, seen.has_all_commands), (vec!["ls"], true, true));
    }

    #[test]
    fn an_event_without_a_status_counts_in_the_first_version_of_the_file_only() {
        let first = trajectory(r#"{"schema_version":1,"events":[{"type":"command","command":"ls"}]}"#);
        assert_eq!((first.steps, first.commands, texts(&first)), (1, 1, vec!["ls"]));
        let second = trajectory(r#"{"schema_version":2,"events":[{"type":"command","command":"ls"}]}"#);
        assert_eq!((second.steps, second.commands, texts(&second)), (0, 0, vec![]));
    }

    #[test]
    fn a_command_is_shown_by_the_first_of_its_texts() {
        let seen = trajectory(
            r#"[{"type":"command","status":"done","input_summary":"a","command":"b","name":"bash"},
                {"type":"command","status":"done","input_summary":"","command":["make","test"],"cmd":"c"},
                {"type":"command","status":"done","cmd":"c","name":"bash"},
                {"type":"command","status":"done","name":"bash"},
                {"type":"command","status":"done"},
                {"type":"tool_use","state":"done","name":"Bash","input":{"command":"pwd"}},
                {"type":"command","status":"done","command":"a"}]"#,
        );
        assert_eq!(seen.commands, 7);
        assert_eq!(texts(&seen), ["a", "make test", "c", "bash", "pwd"]);
    }

    #[test]
    fn a_skill_is_got_at_by_reading_its_file_too() {
        let reads = r#"[{"type":"command","status":"done","input_summary":"cat skills/demo/SKILL.md"}]"#;
        assert!(trajectory(reads).skill_invoked);
        let failed = r#"[{"type":"skill_load","status":"failed","input_summary":"demo"}]"#;
        assert!(!trajectory(failed).skill_invoked);
    }

    #[test]
    fn a_trace_of_any_length_keeps_a_bounded_number_of_commands() {
        let log = |count: usize| {
            let command = |number: usize| format!(r#"{{"type":"command","status":"done","command":"c{number}"}}"#);
            let repeated = (0..count).chain(0..count).map(command).collect::<Vec<_>>().join(",");
            trajectory(&format!("[{repeated}]"))
        };
        let full = log(COMMANDS_KEPT);
        assert_eq!((full.commands, full.command_texts.len(), full.has_all_commands), (512, 256, true));
        let more = log(COMMANDS_KEPT + 1);
        assert_eq!((more.commands, more.command_texts.len(), more.has_all_commands), (514, 256, false));
    }

    #[test]
    fn a_long_command_is_told_from_another_with_the_same_start() {
        let start = "ü".repeat(COMMAND_CHARACTERS);
        assert_eq!(shortened(&start), start);
        let (one, other) = (shortened(&format!("{start}a")), shortened(&format!("{start}b")));
        // printf 'ü%.0s' {1..500} | sed 's/$/a/' | tr -d '\n' | sha256sum
        assert_eq!(one, format!("{start}… [501 characters, sha256 7d4a56db27132ddb28e7b0b3b12e0b50]"));
        assert_ne!(one, other);
    }
}
