//! Whether a run without the skill got at the skill all the same, or at the suite with its answers: such a run is no
//! baseline.

use memchr::memmem;

use super::checks::is_listing;
use crate::runs::{Event, EventKind, FileProblem, RunDirectory, WarningCode};
use crate::suite::Suite;

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

/// What stands between the arguments of a command, and between the words of a call written as JSON.
const SEPARATORS: [char; 20] =
    ['"', '\'', '`', ';', '|', '&', '<', '>', '(', ')', '=', ',', ':', '{', '}', '[', ']', '$', '!', '?'];

/// What only a run with the skill may read: folders of the skill, and the suite.
#[derive(Debug)]
struct Secrets<'a> {
    skills: Vec<SkillPath>,
    suite_name: Option<String>,
    skill_name: &'a str,
}

/// A path of the skill, in its parts.
#[derive(Debug)]
struct SkillPath {
    folder: Vec<String>,
    /// The file, where the suite names one.
    file: Option<String>,
}

impl SkillPath {
    fn of(path: &str) -> Option<Self> {
        let mut folder = components(path);
        let file = if path.ends_with(".md") { folder.pop() } else { None };
        (file.is_some() || !folder.is_empty()).then_some(Self { folder, file })
    }

    /// Whether a path is that of the skill, or leads into its folder. A folder without one above it is told from other
    /// folders of that name by where it stands or by what is in it.
    fn holds(&self, path: &[String]) -> bool {
        let below = usize::from(self.file.is_some());
        match (self.folder.as_slice(), &self.file) {
            ([], Some(file)) => path == std::slice::from_ref(file),
            ([folder], Some(file)) => {
                path.len() > 1 && path[0] == *folder
                    || path.windows(2).any(|pair| pair[0] == *folder && pair[1] == *file)
            }
            ([folder], None) => path.first() == Some(folder),
            (folder, _) => path
                .windows(folder.len())
                .enumerate()
                .any(|(at, part)| part == folder && at + folder.len() + below <= path.len()),
        }
    }
}

impl<'a> Secrets<'a> {
    fn of(skill_paths: &[String], suite_name: Option<String>, skill_name: &'a str) -> Self {
        Self { skills: skill_paths.iter().filter_map(|path| SkillPath::of(path)).collect(), suite_name, skill_name }
    }

    /// Whether bytes may name a secret: every path of the skill ends with one of these parts.
    fn may_be_in(&self, bytes: &[u8]) -> bool {
        let skills = self.skills.iter().filter_map(|skill| skill.folder.last().or(skill.file.as_ref()));
        let mut parts =
            skills.chain(&self.suite_name).map(String::as_str).chain([EventKind::SkillLoad.wire_name(), "SKILL.md"]);
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

    /// Whether a text, an argument in it or what stands between its quotes is such a path.
    fn are_in(&self, text: &str) -> bool {
        let arguments = text.split(|character: char| character.is_whitespace() || SEPARATORS.contains(&character));
        let quoted = text.split(['"', '\'', '`']);
        std::iter::once(text).chain(arguments).chain(quoted).any(|part| !part.is_empty() && self.is_path(part))
    }

    fn is_path(&self, path: &str) -> bool {
        let path = components(path);
        self.skills.iter().any(|skill| skill.holds(&path))
            || path.last().is_some_and(|last| self.suite_name.as_ref() == Some(last))
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

/// The parts of a path, of whatever system, without those that lead nowhere.
fn components(path: &str) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    for part in path.trim().split(['/', '\\']) {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| last != "..") => {
                parts.pop();
            }
            _ => parts.push(part.to_owned()),
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secrets(paths: &[&str]) -> Secrets<'static> {
        let paths: Vec<String> = paths.iter().map(|path| (*path).to_owned()).collect();
        Secrets::of(&paths, Some("shared-benchmark.json".to_owned()), "pdf")
    }

    #[test]
    fn a_path_is_compared_in_whole_parts() {
        let nested = secrets(&["./skills/pdf/SKILL.md"]);
        for path in [
            "skills/pdf/SKILL.md",
            "./skills/./pdf/notes/a.md",
            "/home/me/.claude/skills/pdf/SKILL.md",
            "C:\\repo\\skills\\pdf\\SKILL.md",
            "skills/excel/../pdf/SKILL.md",
            "evals/shared-benchmark.json",
        ] {
            assert!(nested.is_path(path), "{path}");
        }
        for path in ["my-skills/pdf/notes.md", "skills/pdf-tools/SKILL.md", "skills/pdf", "my-shared-benchmark.json"] {
            assert!(!nested.is_path(path), "{path}");
        }
        let bare = secrets(&["SKILL.md"]);
        assert!(bare.is_path("SKILL.md") && bare.is_path("./SKILL.md") && !bare.is_path("skills/other/SKILL.md"));
        let shallow = secrets(&["pdf/SKILL.md"]);
        assert!(shallow.is_path("pdf/notes.md") && shallow.is_path("/repo/pdf/SKILL.md"));
        assert!(!shallow.is_path("data/pdf/invoice.txt"));
        assert!(secrets(&["skills/pdf"]).is_path("/repo/skills/pdf"));
    }

    #[test]
    fn arguments_of_commands_are_paths() {
        let nested = secrets(&["skills/pdf/SKILL.md"]);
        for command in ["cat skills/pdf/SKILL.md", "bash -lc 'cat ./skills/pdf/a.md|head'", "{\"p\":\"skills/pdf/a\"}"]
        {
            assert!(nested.are_in(command), "{command}");
        }
        assert!(!nested.are_in("cat my-skills/pdf/SKILL.md") && !nested.are_in("ls skills/pdf"));
        assert!(secrets(&["my skills/pdf/SKILL.md"]).are_in("cat 'my skills/pdf/SKILL.md'"));
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
