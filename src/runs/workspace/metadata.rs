//! What a tree says of its cases: `eval_metadata.json`.

use skill_lift_text::python;

use crate::json::Node;

/// The file that says what a case is, read leniently.
#[derive(Debug, Clone)]
pub struct EvalMetadata {
    /// Its id, a number or a string as text.
    pub id: Option<String>,
    /// Its name for people.
    pub name: Option<String>,
    /// What the agent was asked.
    pub prompt: Option<String>,
    /// Whether the prompt should make the agent load the skill.
    pub should_trigger: Option<bool>,
    /// The whole object; what it says of assertions is read by whoever knows them.
    pub document: Node<'static>,
}

impl EvalMetadata {
    /// Reads an object; another value says nothing.
    pub fn of(document: Node<'static>) -> Option<Self> {
        document.members()?;
        let text = |key: &str| document.get(key).and_then(text_of);
        Some(Self {
            id: text("eval_id").or_else(|| text("id")),
            name: text("eval_name").or_else(|| text("name")),
            prompt: text("prompt"),
            should_trigger: document.get("should_trigger").and_then(Node::as_bool),
            document,
        })
    }

    /// The first key, of those that say what was asked and checked, whose value is another one in another description
    /// of the same eval.
    pub(super) fn differs_in(&self, other: &Self) -> Option<&'static str> {
        if self.id != other.id {
            return Some("eval_id");
        }
        ["prompt", "assertions"].into_iter().find(|key| self.document.get(key) != other.document.get(key))
    }
}

fn text_of(node: &Node<'_>) -> Option<String> {
    let text = match node.as_str() {
        Some(text) => python::strip(text).to_owned(),
        None => node.as_number().filter(|number| number.is_integer())?.text().to_owned(),
    };
    if text.is_empty() { None } else { Some(text) }
}
