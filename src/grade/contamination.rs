//! Whether a run without the skill got at the skill all the same, or at the suite with its answers: such a run is no
//! baseline.

use memchr::memmem;

use super::checks::is_listing;
use crate::runs::{Event, EventKind, RunDirectory};
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
    let secrets = secrets(suite);
    let bytes = directory.read(EVENTS, events_bytes).ok()?;
    // hardly any baseline names the skill: most files are searched and not taken apart
    let named = secrets.iter().map(String::as_str).chain([EventKind::SkillLoad.wire_name()]);
    if !named.into_iter().any(|name| memmem::find(&bytes, name.as_bytes()).is_some()) {
        return None;
    }
    let events = directory.events(events_bytes);
    let log = events.as_ref().as_ref().ok()?;
    let touched = log.events.iter().find(|event| touches(event, &secrets, &suite.skill_name))?;
    let texts = [&touched.path, &touched.input, &touched.text, &touched.name];
    let shown = texts.into_iter().find(|text| !text.is_empty()).map_or("a skill", |text| text);
    Some(format!("it got at {}", shown.chars().take(SHOWN_CHARACTERS).collect::<String>()))
}

/// Characters of an event that a warning shows.
const SHOWN_CHARACTERS: usize = 120;

/// Parts of paths that only a run with the skill may read: folders of the skill, and the suite.
fn secrets(suite: &Suite) -> Vec<String> {
    let folder = |path: &String| match path.rsplit_once('/') {
        Some((folder, _)) if path.ends_with(".md") => format!("{folder}/"),
        _ => path.clone(),
    };
    let mut secrets: Vec<String> = suite.skill_paths.iter().map(folder).filter(|path| !path.is_empty()).collect();
    secrets.extend(suite.path.file_name().map(|name| name.to_string_lossy().into_owned()));
    secrets
}

fn touches(event: &Event, secrets: &[String], skill_name: &str) -> bool {
    let texts = [&*event.path, &*event.input, &*event.text, &*event.name];
    let names = |part: &str| texts.iter().any(|text| text.contains(part));
    let read = || {
        matches!(event.kind, EventKind::FileRead | EventKind::ToolCall | EventKind::Command)
            && !is_listing(event)
            && secrets.iter().any(|secret| names(secret))
    };
    let loaded =
        || event.kind == EventKind::SkillLoad && (names(skill_name) || secrets.iter().any(|secret| names(secret)));
    event.is_completed() && (read() || loaded())
}
