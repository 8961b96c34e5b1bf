//! Whether a run without the skill got at the skill all the same, or at the suite with its answers: such a run is no
//! baseline.

use memchr::memmem;

use super::checks::is_listing;
use crate::runs::{Event, EventKind, FileProblem, RunDirectory, WarningCode};
use crate::suite::Suite;
use crate::suite::skill_paths::{SEPARATORS, SkillPaths, candidates, components};

/// The arm that must not have the skill.
const BASELINE: &str = "without_skill";

/// Name of the event file.
const EVENTS: &str = "events.json";

/// What shows that a run without the skill had it; `None` when nothing does.
pub(super) fn contamination(
    suite: &Suite,
    variant: &str,
    directory: &mut RunDirectory,
    events_bytes: u64,
) -> Option<String> {
    if variant != BASELINE {
        return None;
    }
    if directory.metrics().skill_invoked == Some(true) {
        return Some("its measurements say that the skill was loaded".to_owned());
    }
    let suite_name = suite.path.file_name().map(|name| name.to_string_lossy().into_owned());
    let secrets = Secrets::of(&suite.skill_paths, suite_name, &suite.skill_name);
    let unknown = |directory: &mut RunDirectory, problem: String| {
        let message = format!("{problem}; whether this run without the skill had it is not known");
        directory.warn(WarningCode::SidecarUnreadable, EVENTS, message);
    };
    let bytes = match directory.read(EVENTS, events_bytes) {
        Ok(bytes) => bytes,
        Err(FileProblem::Missing(_)) => return None,
        Err(problem) => {
            unknown(directory, problem.to_string());
            return None;
        }
    };
    // hardly any baseline names the skill: most files are searched and not taken apart
    if !secrets.may_be_in(&bytes) {
        return None;
    }
    let events = directory.events(events_bytes);
    let log = match events.as_ref() {
        Ok(log) => log,
        Err(problem) => {
            unknown(directory, problem.to_string());
            return None;
        }
    };
    let touched = log.events.iter().find(|event| secrets.touched_by(event))?;
    let texts = [&touched.path, &touched.input, &touched.text, &touched.name];
    let shown = texts.into_iter().find(|text| !text.is_empty()).map_or("a skill", |text| text);
    Some(format!("it got at {}", shown.chars().take(SHOWN_CHARACTERS).collect::<String>()))
}

/// Characters of an event that a warning shows.
const SHOWN_CHARACTERS: usize = 120;

/// What only a run with the skill may read: folders of the skill, and the suite.
#[derive(Debug)]
struct Secrets<'a> {
    skills: SkillPaths,
    suite_name: Option<String>,
    skill_name: &'a str,
}

impl<'a> Secrets<'a> {
    fn of(skill_paths: &[String], suite_name: Option<String>, skill_name: &'a str) -> Self {
        Self { skills: SkillPaths::of(skill_paths), suite_name, skill_name }
    }

    /// Whether bytes may name a secret: every path of the skill ends with one of these parts.
    fn may_be_in(&self, bytes: &[u8]) -> bool {
        let suite_name = self.suite_name.as_deref();
        let mut parts =
            self.skills.last_parts().chain(suite_name).chain([EventKind::SkillLoad.wire_name(), "SKILL.md"]);
        // other letters and quotes may be written as escapes
        parts.any(|part| {
            let is_plain = part.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'"' && byte != b'\\');
            !is_plain || memmem::find(bytes, part.as_bytes()).is_some()
        })
    }

    fn touched_by(&self, event: &Event) -> bool {
        let read = || {
            matches!(event.kind, EventKind::FileRead | EventKind::ToolCall | EventKind::Command)
                && !is_listing(event)
                && self.are_named_by(event)
        };
        let loaded = || event.kind == EventKind::SkillLoad && (self.is_loaded_by(event) || self.are_named_by(event));
        event.is_completed() && (read() || loaded())
    }

    /// Whether an event is about a path of the skill, or about the suite.
    fn are_named_by(&self, event: &Event) -> bool {
        if !event.path.is_empty() && event.kind != EventKind::Command {
            return self.is_path(&event.path);
        }
        [&*event.path, &*event.input, &*event.text, &*event.name].into_iter().any(|text| self.are_in(text))
    }

    /// Whether a text names such a path.
    fn are_in(&self, text: &str) -> bool {
        candidates(text).any(|part| self.is_path(part))
    }

    fn is_path(&self, path: &str) -> bool {
        let path = components(path);
        self.skills.hold(&path) || path.last().is_some_and(|last| self.suite_name.as_ref() == Some(last))
    }

    /// Whether an event that loads a skill names this one. What else a call hands to a skill is no name.
    fn is_loaded_by(&self, event: &Event) -> bool {
        let own = [&*event.name, &*event.input, &*event.text].into_iter().any(|text| self.is_named_in(text));
        // the folder of an installed skill has its name
        let path = components(&event.path);
        own || path.windows(2).any(|pair| pair[0] == self.skill_name && pair[1] == "SKILL.md")
    }

    fn is_named_in(&self, text: &str) -> bool {
        // `/pdf`, `office:pdf`
        let is_name = |part: &str| {
            let part = part.trim();
            part == self.skill_name || part.rsplit(['/', ':']).next() == Some(self.skill_name)
        };
        let is_separator = |character: char| character.is_whitespace() || SEPARATORS.contains(&character);
        let in_quotes = text.contains('"');
        !self.skill_name.is_empty()
            && (is_name(text)
                || in_quotes && text.split('"').any(is_name)
                || !in_quotes && text.split(is_separator).any(is_name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secrets(paths: &[&str]) -> Secrets<'static> {
        let paths: Vec<String> = paths.iter().map(|path| (*path).to_owned()).collect();
        Secrets::of(&paths, Some("shared-benchmark.json".to_owned()), "pdf")
    }

    #[test]
    fn the_suite_is_a_secret_like_the_skill() {
        let nested = secrets(&["./skills/pdf/SKILL.md"]);
        assert!(nested.is_path("/repo/skills/pdf/SKILL.md") && nested.is_path("evals/shared-benchmark.json"));
        assert!(!nested.is_path("my-shared-benchmark.json") && !nested.is_path("skills/excel/SKILL.md"));
        assert!(nested.are_in("bash -lc 'cat ./evals/shared-benchmark.json|head'"));
    }

    #[test]
    fn a_skill_is_named_by_a_whole_word() {
        let pdf = secrets(&[]);
        for text in ["pdf", "/pdf", "office:pdf", "Skill(pdf)", "{\"skill\": \"pdf\", \"args\": \"x\"}"] {
            assert!(pdf.is_named_in(text), "{text}");
        }
        for text in ["pdf-tools", "my-pdf", "{\"skill\": \"excel\", \"args\": \"make a pdf\"}"] {
            assert!(!pdf.is_named_in(text), "{text}");
        }
    }
}
