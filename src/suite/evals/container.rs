//! Where the cases of a suite stand.

use std::slice;

use skill_lift_text::python;

use crate::json::Node;

/// Keys under which the task of a case may stand; the first with a text that is not blank counts.
pub(super) const PROMPT_KEYS: [&str; 5] = ["prompt", "question", "input", "task", "query"];

/// Keys of the list of cases, in the order in which they are looked for.
const LISTS: [&str; 4] = ["evals", "cases", "test_cases", "queries"];

/// The cases of a suite and where they stand.
pub(super) struct Container<'n, 'a> {
    /// The key of the list, `array`, or `single object`.
    pub(super) word: &'static str,
    pub(super) cases: &'n [Node<'a>],
}

impl Container<'_, '_> {
    /// The JSON pointer of a case.
    pub(super) fn pointer(&self, index: usize) -> String {
        match self.word {
            ARRAY => format!("/{index}"),
            SINGLE => String::new(),
            key => format!("/{key}/{index}"),
        }
    }

    /// Whether it holds one case and nothing around it.
    pub(super) fn is_single(&self) -> bool {
        self.word == SINGLE
    }
}

const ARRAY: &str = "array";
const SINGLE: &str = "single object";

/// The cases of a file, if it has a list of them or is one.
pub(super) fn find<'n, 'a>(root: &'n Node<'a>) -> Option<Container<'n, 'a>> {
    if let Some(cases) = root.items() {
        return Some(Container { word: ARRAY, cases });
    }
    let list = LISTS.into_iter().find_map(|key| Some((key, root.get(key)?.items()?)));
    match list {
        Some((word, cases)) => Some(Container { word, cases }),
        None => is_single_case(root).then(|| Container { word: SINGLE, cases: slice::from_ref(root) }),
    }
}

/// Whether an object is one case: it has a prompt, and something that says that it is a case.
pub(super) fn is_single_case(root: &Node<'_>) -> bool {
    let marks = ["id", "eval_id", "assertions", "expectations", "expected_output", "expected_behavior", "ground_truth"];
    prompt(root).is_some() && marks.into_iter().any(|key| root.get(key).is_some())
}

/// The task of a case, with the key that it stands under.
pub(super) fn prompt<'n>(case: &'n Node<'_>) -> Option<(&'static str, &'n str)> {
    PROMPT_KEYS.into_iter().find_map(|key| {
        let text = case.get(key)?.as_str()?;
        (!python::strip(text).is_empty()).then_some((key, text))
    })
}
