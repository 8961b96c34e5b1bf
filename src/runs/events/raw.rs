//! Raw records of an agent that stand where events should: classified by whatever they show.

use std::borrow::Cow;

use skill_lift_text::python;

use super::{Event, EventKind, EventStatus, OUTPUT_CHARACTERS, first_characters, join_filled, words};
use crate::json::{Item, Member, Node, Number, Value};

/// Objects inside a record whose fields count as the record's own, in this order.
const CONTAINERS: [&str; 7] = ["message", "delta", "data", "item", "tool_input", "input", "details"];

/// Those of them that say how a call went; what a call was given says nothing about that.
const LIFECYCLE_CONTAINERS: &[&str] = CONTAINERS.split_at(4).0;

/// Longest summary of something said, in code points.
const CONTENT_CHARACTERS: usize = 500;

const READ_TOOLS: [&str; 2] = ["read", "read_file"];
const WRITE_TOOLS: [&str; 5] = ["write", "edit", "multiedit", "notebookedit", "write_file"];

/// The event that a raw record shows.
pub(super) fn event(item: Item<'_, '_>, first_version: bool) -> Event {
    let node = item.to_node();
    let record = Record(&node);
    let kind_words = record.kind_words();
    let command = record.command();
    let path = record.text(&["path", "file", "file_path"]);
    let content = record.text(&["content", "text", "message"]);
    let mut name = record.text(&["tool", "tool_name", "toolName", "name"]);
    let status = EventStatus::read(record.lifecycle(&["status", "state"]).into(), &record.kind_name(), first_version);
    let shown = Shown { kind_words: &kind_words, command: &command, path: &path, content: &content, name: &name };
    let kind = record.classify(&shown, status);
    if kind == EventKind::Command && name.is_empty() {
        name = "bash".to_owned();
    }
    let summary = item.get("input_summary").map(words).unwrap_or_default().into_owned();
    let input = [summary, command, path.clone(), first_characters(&content, CONTENT_CHARACTERS).to_owned()]
        .into_iter()
        .find(|text| !text.is_empty())
        .unwrap_or_default();
    let output = record.text(&["output_summary", "output", "stdout", "stderr", "result"]);
    let exit_code = record.lifecycle(&["exit_code", "exitCode", "returncode"]);
    Event {
        kind,
        status,
        text: join_filled([&input, &name].into_iter().map(|part| part.as_str().into())),
        name: name.into(),
        input: input.into(),
        command: Box::default(),
        output: first_characters(&output, OUTPUT_CHARACTERS).into(),
        path: path.into(),
        exit_code: exit_code.and_then(Node::as_number).and_then(Number::as_i64),
    }
}

/// What was found in a record.
struct Shown<'s> {
    kind_words: &'s [String],
    command: &'s str,
    path: &'s str,
    content: &'s str,
    name: &'s str,
}

struct Record<'n, 'a>(&'n Node<'a>);

impl<'n, 'a> Record<'n, 'a> {
    /// The value of the first key that is there: in the record, else in one of the objects inside it.
    fn find(&self, keys: &[&str], containers: &[&str]) -> Option<&'n Node<'a>> {
        let node = self.0;
        let inside = containers.iter().filter_map(|name| node.get(name));
        std::iter::once(node).chain(inside).find_map(|object| keys.iter().find_map(|key| object.get(key)))
    }

    fn value(&self, keys: &[&str]) -> Option<&'n Node<'a>> {
        self.find(keys, &CONTAINERS)
    }

    fn lifecycle(&self, keys: &[&str]) -> Option<&'n Node<'a>> {
        self.find(keys, LIFECYCLE_CONTAINERS)
    }

    fn text(&self, keys: &[&str]) -> String {
        self.value(keys).map(|node| text_of(node).into_owned()).unwrap_or_default()
    }

    fn shows(&self, keys: &[&str]) -> bool {
        self.value(keys).is_some_and(|node| !node.is_null())
    }

    /// The command line. An object of arguments is none.
    fn command(&self) -> String {
        let command =
            self.value(&["command", "cmd"]).or_else(|| self.value(&["args"]).filter(|n| n.members().is_none()));
        command.map(|node| text_of(node).into_owned()).unwrap_or_default()
    }

    fn top_kind(&self) -> &'n str {
        self.value(&["type", "event", "name", "kind"]).and_then(Node::as_str).unwrap_or_default()
    }

    fn item_kind(&self) -> &'n str {
        let item = self.0.get("item");
        ["type", "kind", "name"].into_iter().find_map(|key| item?.get(key)?.as_str()).unwrap_or_default()
    }

    /// The name that tells a beginning from an end.
    fn kind_name(&self) -> Cow<'n, str> {
        Cow::Borrowed(if self.top_kind().is_empty() { self.item_kind() } else { self.top_kind() })
    }

    /// The words of the kind, case folded. Whole words: `thread.started` reads nothing.
    fn kind_words(&self) -> Vec<String> {
        let mut found = Vec::new();
        let mut word = String::new();
        let mut after_lower = false;
        for character in self.top_kind().chars().chain([' ']).chain(self.item_kind().chars()).chain([' ']) {
            let splits = !character.is_alphanumeric() || (after_lower && character.is_uppercase());
            if splits && !word.is_empty() {
                found.push(python::casefold(&word).into_owned());
                word.clear();
            }
            if character.is_alphanumeric() {
                word.push(character);
            }
            after_lower = character.is_lowercase();
        }
        found
    }

    /// The first of these that applies.
    fn classify(&self, shown: &Shown<'_>, status: EventStatus) -> EventKind {
        let has = |word: &str| shown.kind_words.iter().any(|known| known == word);
        let name = python::casefold(shown.name);
        let is_tool = has("tool") || self.shows(&["tool", "tool_name", "toolName", "tool_call_id"]);
        let is_agent_message = shown.kind_words.windows(2).any(|pair| pair[0] == "agent" && pair[1] == "message");
        // writing the file of a skill is not loading it
        if has("write") || has("edit") || (is_tool && WRITE_TOOLS.contains(&&*name)) {
            EventKind::FileWrite
        } else if (has("skill") && (has("load") || has("read"))) || is_skill_file(shown.path) {
            EventKind::SkillLoad
        } else if has("command") || has("exec") || !shown.command.is_empty() {
            EventKind::Command
        } else if is_tool && !READ_TOOLS.contains(&&*name) {
            EventKind::ToolCall
        } else if is_tool || has("read") {
            EventKind::FileRead
        } else if has("error") || status == EventStatus::Failed {
            EventKind::Error
        } else if self.value(&["role"]).is_some_and(Node::is_truthy) || !shown.content.is_empty() || is_agent_message {
            EventKind::Message
        } else if has("usage") || has("metric") || self.value(&["usage", "tokens"]).is_some_and(Node::is_truthy) {
            EventKind::Metric
        } else {
            EventKind::Event
        }
    }
}

fn is_skill_file(path: &str) -> bool {
    path.ends_with("SKILL.md") || path.contains("/SKILL.md")
}

/// A value as text: of an object the field that is most likely meant.
fn text_of<'n>(node: &'n Node<'_>) -> Cow<'n, str> {
    match &node.value {
        Value::Null => Cow::Borrowed(""),
        Value::String(text) => Cow::Borrowed(text),
        Value::Array(items) => items.iter().map(text_of).collect::<Vec<_>>().join(" ").into(),
        Value::Object(_) => {
            match ["command", "cmd", "content", "text", "path"].into_iter().find_map(|key| node.get(key)) {
                Some(field) => text_of(field),
                None => serde_json::to_string(&sorted(node)).unwrap_or_default().into(),
            }
        }
        Value::Bool(_) | Value::Number(_) => node.python_str().into(),
    }
}

/// The same value with the keys of all objects in order, so that equal inputs have equal texts.
fn sorted<'a>(node: &Node<'a>) -> Node<'a> {
    let value = match &node.value {
        Value::Array(items) => Value::Array(items.iter().map(sorted).collect()),
        Value::Object(members) => {
            let copy = |member: &Member<'a>| Member { value: sorted(&member.value), ..member.clone() };
            let mut members: Vec<_> = members.iter().map(copy).collect();
            members.sort_by(|a, b| a.key.cmp(&b.key));
            Value::Object(members)
        }
        other => other.clone(),
    };
    Node { span: node.span, value }
}

#[cfg(test)]
mod tests {
    use super::super::testing::events;
    use super::*;
    use EventKind::{Command, Error, FileRead, FileWrite, Message, Metric, SkillLoad, ToolCall};
    use EventStatus::{Completed, Failed, InProgress, Unknown};

    fn one(text: &str) -> Event {
        events(&format!("[{text}]")).unwrap().events.swap_remove(0)
    }

    fn seen(text: &str) -> (EventKind, EventStatus, String) {
        let event = one(text);
        (event.kind, event.status, event.text.into_string())
    }

    #[test]
    fn records_are_classified_by_what_they_show() {
        let cases = [
            (r#"{"command":"ls -l","status":"done"}"#, Command, Completed, "ls -l bash"),
            (r#"{"type":"Command","cmd":["make","test"],"state":"failed"}"#, Command, Failed, "make test bash"),
            (r#"{"type":"tool_use","name":"Bash","input":{"command":"pwd"}}"#, Command, Unknown, "pwd Bash"),
            (r#"{"type":"tool_use","name":"Read","input":{"file_path":"a.md"}}"#, FileRead, Unknown, "a.md Read"),
            (r#"{"type":"tool_use","name":"MultiEdit","input":{"file_path":"a"}}"#, FileWrite, Unknown, "a MultiEdit"),
            (r#"{"type":"toolCall","toolName":"Grep"}"#, ToolCall, Unknown, "Grep"),
            (r#"{"type":"toolCall","toolName":"grep","args":{"a":1}}"#, ToolCall, Unknown, "grep"),
            (r#"{"type":"x","tool":"read","path":"s/SKILL.md"}"#, SkillLoad, Unknown, "s/SKILL.md read"),
            (r#"{"type":"x","tool":"write","path":"s/SKILL.md"}"#, FileWrite, Unknown, "s/SKILL.md write"),
            (r#"{"type":"skill.read","name":"demo"}"#, SkillLoad, Unknown, "demo"),
            (r#"{"type":"stderr_error","text":"no"}"#, Error, Unknown, "no"),
            (r#"{"type":"agent_message","item":{"text":"hi"}}"#, Message, Unknown, "hi"),
            (r#"{"type":"turn.completed","usage":{"n":1}}"#, Metric, Unknown, ""),
            (r#"{"type":"usage"}"#, Metric, Completed, ""),
        ];
        for (text, kind, status, words) in cases {
            assert_eq!(seen(text), (kind, status, words.to_owned()), "{text}");
        }
    }

    #[test]
    fn a_record_of_codex_is_read_through_its_item() {
        let text = r#"{"type":"item.completed","item":{"type":"command_execution","command":"cat x","exit_code":1,
            "aggregated_output":"y"}}"#;
        let event = one(text);
        assert_eq!((event.kind, event.status, event.exit_code), (Command, Completed, Some(1)));
        assert_eq!(&*event.text, "cat x bash");
        assert_eq!(seen(r#"{"type":"item.started","item":{"type":"command_execution"}}"#).1, InProgress);
    }

    #[test]
    fn what_a_call_was_given_says_nothing_about_how_it_went() {
        let event = one(r#"{"type":"tool_use","name":"set","input":{"status":"completed","exit_code":0}}"#);
        assert_eq!((event.status, event.exit_code), (Unknown, None));
        let event = one(r#"{"type":"tool_use","name":"set","data":{"status":"completed","exit_code":0}}"#);
        assert_eq!((event.status, event.exit_code), (Completed, Some(0)));
    }

    #[test]
    fn objects_become_text_in_one_way() {
        assert_eq!(
            &*one(r#"{"command":{"b":1,"a":[{"d":1.5,"c":null}]}}"#).input,
            r#"{"a":[{"c":null,"d":1.5}],"b":1}"#
        );
        assert_eq!(&*one(r#"{"command":{"text":"x","cmd":["y",2,true]}}"#).input, "y 2 True");
    }

    #[test]
    fn what_shows_nothing_is_no_event() {
        for text in [
            "{}",
            r#"{"type":"thread.started"}"#,
            r#"{"type":[],"event":7,"item":"x","status":[]}"#,
            r#"{"type":null,"message":null,"input":[[]],"name":{}}"#,
            r#"{"item":{"type":{"type":1}},"details":{"details":{}}}"#,
        ] {
            assert_eq!(events(&format!("[{text}]")).unwrap().events, [], "{text}");
        }
    }
}
