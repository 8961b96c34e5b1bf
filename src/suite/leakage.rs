//! Leakage: answers of a case that already stand in its prompt, so that the case cannot tell arms apart.

use std::collections::HashMap;
use std::fs;

use serde::Serialize;
use skill_lift_text::python;
use skill_lift_text::view::{Comparison, View};

use super::check::Check;
use super::model::{Assertion, Case, Split, Suite};

/// Where the finding is explained.
const GUIDE: &str = "authoring guide: check the behaviour, not a word that the prompt already says; \
     a word echoed from the prompt passes with and without the skill";

/// One value of an assertion that stands in the prompt.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LeakageFinding {
    /// The case.
    pub case_id: String,
    /// Label of the assertion.
    pub assertion: String,
    /// Type of the assertion.
    #[serde(rename = "type")]
    pub assertion_type: String,
    /// The value without outer white space.
    pub value: String,
    /// What was found, in words.
    pub message: String,
    /// What to do about it.
    pub guide: &'static str,
    /// What the comparison view changed, if it changed anything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub normalization: Option<Normalization>,
}

/// What the comparison view changed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Normalization {
    /// Name of the view.
    pub profile: &'static str,
    /// Always true here.
    pub changed: bool,
    /// Whether the value would not have been found without the view.
    pub verdict_changed: bool,
    /// The change of the prompt.
    pub candidate: ViewChange,
    /// The change of the value, if it changed.
    pub operands: Vec<ViewChange>,
}

/// What the view changed in one text.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ViewChange {
    /// Name of the view.
    pub profile: &'static str,
    /// Whether it changed anything.
    pub changed: bool,
    /// Whether NFC changed something.
    pub canonical_normalized: bool,
    /// What was deleted.
    pub removed: Vec<Removed>,
}

/// How often a code point was deleted.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Removed {
    /// Like `U+200B`.
    pub codepoint: String,
    /// Its Unicode name.
    pub name: &'static str,
    /// How often.
    pub count: u64,
}

/// Finds values that an answer must hold (`contains`, `contains_any`, `contains_all` and their kin) and that stand in the prompt of their case.
///
/// Values with fewer than `min_chars` characters are not looked for. Case never matters. `split` limits the cases.
pub fn find_leaks(suite: &Suite, min_chars: usize, split: Option<Split>) -> Vec<LeakageFinding> {
    let mut prompts = Prompts::default();
    let mut findings = Vec::new();
    for case in suite.cases.iter().filter(|case| split.is_none_or(|split| case.split == split)) {
        if case.assertions.iter().all(|assertion| material(assertion).is_none()) {
            continue;
        }
        let Some(prompt) = prompts.of(suite, case) else { continue };
        let mut folded = HashMap::new();
        for assertion in &case.assertions {
            let Some((values, comparison)) = material(assertion) else { continue };
            let (view, text) = folded.entry(comparison.wire_name()).or_insert_with(|| {
                let view = comparison.view(&prompt);
                let text = python::casefold(&view.text).into_owned();
                (view, text)
            });
            let leaks = values.iter().filter_map(|value| leak(value, comparison, min_chars, &prompt, view, text));
            findings.extend(leaks.map(|(value, normalization)| LeakageFinding {
                case_id: case.id.clone(),
                assertion: assertion.label.clone(),
                assertion_type: assertion.assertion_type.word().to_owned(),
                message: format!("assertion value {} appears in the prompt", python::repr_str(&value)),
                value,
                guide: GUIDE,
                normalization,
            }));
        }
    }
    findings
}

/// What an assertion gives away when it stands in the prompt.
fn material(assertion: &Assertion) -> Option<(&[String], Comparison)> {
    match &assertion.check {
        Check::Contains { needle, matching }
        | Check::StartsWith { needle, matching }
        | Check::EndsWith { needle, matching }
        | Check::ContainsInFile { needle, matching, .. } => Some((std::slice::from_ref(needle), matching.comparison)),
        Check::ContainsAny { needles, matching } | Check::ContainsAll { needles, matching } => {
            Some((needles, matching.comparison))
        }
        _ => None,
    }
}

fn leak(
    value: &str,
    comparison: Comparison,
    min_chars: usize,
    prompt: &str,
    prompt_view: &View<'_>,
    folded_prompt: &str,
) -> Option<(String, Option<Normalization>)> {
    let value = python::strip(value);
    let view = comparison.view(value);
    if python::strip(&view.text).chars().count() < min_chars {
        return None;
    }
    if !folded_prompt.contains(python::casefold(&view.text).as_ref()) {
        return None;
    }
    let changed = view.changed() || prompt_view.changed();
    let normalization = changed.then(|| Normalization {
        profile: comparison.wire_name(),
        changed: true,
        verdict_changed: !python::casefold(prompt).contains(python::casefold(value).as_ref()),
        candidate: change(prompt_view, comparison),
        operands: if view.changed() { vec![change(&view, comparison)] } else { Vec::new() },
    });
    Some((value.to_owned(), normalization))
}

fn change(view: &View<'_>, comparison: Comparison) -> ViewChange {
    let removed = view.removals().map(|(removable, count)| Removed {
        codepoint: removable.code_point(),
        name: removable.name,
        count,
    });
    ViewChange {
        profile: comparison.wire_name(),
        changed: view.changed(),
        canonical_normalized: view.canonical_normalized,
        removed: removed.collect(),
    }
}

/// Prompts of cases; the last file that was read is kept, since neighbours often share it.
#[derive(Default)]
struct Prompts {
    last: Option<(String, String)>,
}

impl Prompts {
    /// The prompt in the suite, else the text of its file; `None` when there is neither.
    fn of(&mut self, suite: &Suite, case: &Case) -> Option<String> {
        if let Some(prompt) = case.prompt.as_ref().filter(|prompt| !prompt.is_empty()) {
            return Some(prompt.clone());
        }
        let path = case.prompt_ref.as_ref()?;
        if let Some((known, text)) = &self.last
            && known == path
        {
            return Some(text.clone());
        }
        let bytes = fs::read(suite.directory.join(path)).ok()?;
        let text = python::universal_newlines(&String::from_utf8_lossy(&bytes)).into_owned();
        self.last = Some((path.clone(), text.clone()));
        Some(text).filter(|text| !text.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leaks(prompt: &str, value: &str, comparison: Comparison, min_chars: usize) -> Option<Option<bool>> {
        let view = comparison.view(prompt);
        let folded = python::casefold(&view.text).into_owned();
        leak(value, comparison, min_chars, prompt, &view, &folded)
            .map(|(_, normalization)| normalization.map(|normalization| normalization.verdict_changed))
    }

    #[test]
    fn values_are_compared_as_readers_see_them() {
        assert_eq!(leaks("STRASSE", "straße", Comparison::Rendered, 4), Some(None));
        assert_eq!(leaks("say hello", "hel\u{200b}lo", Comparison::Rendered, 4), Some(Some(true)));
        assert_eq!(leaks("say hello", "hel\u{200b}lo", Comparison::Exact, 4), None);
        assert_eq!(leaks("abc", "abc", Comparison::Rendered, 4), None);
        assert_eq!(leaks("abc", " abc ", Comparison::Rendered, 3), Some(None));
        assert_eq!(leaks("a\u{2060}bcd", "bcd", Comparison::Rendered, 3), Some(Some(false)));
    }
}
