//! Checks that pass on an answer which denies what they look for: "I can't confirm it was saved" contains "was saved".

use std::collections::HashSet;

use skill_lift_text::python;

use super::check::Check;
use super::model::{Assertion, Case};
use super::report::Report;

/// Words that make a few words a report of something done, which a sentence around them can deny.
const STATING: [&str; 11] =
    ["was", "were", "has", "have", "had", "been", "did", "worked", "passed", "succeeded", "completed"];

/// Words that deny.
const DENYING: [&str; 8] = ["not", "never", "no", "cannot", "without", "none", "nothing", "unable"];

/// Warns about every assertion that looks for a statement without a guard against its denial in the same case.
pub(super) fn warn_statements(report: &mut Report<'_>, case: &Case) {
    let assertions: Vec<&Assertion> =
        case.assertions.iter().chain(case.turns.iter().flat_map(|turn| &turn.assertions)).collect();
    let guarded: HashSet<String> = assertions
        .iter()
        .flat_map(|assertion| match &assertion.check {
            Check::ExcludesAny { needles, .. } => needles.iter().flat_map(|needle| words(needle)).collect(),
            Check::NotRegex { pattern, .. } => words(&without_escapes(&pattern.source)),
            _ => Vec::new(),
        })
        .collect();
    for assertion in assertions {
        let (looked_for, is_pattern): (Vec<&str>, bool) = match &assertion.check {
            Check::Contains { needle, .. } => (vec![needle], false),
            Check::ContainsAny { needles, .. } | Check::ContainsAll { needles, .. } => {
                (needles.iter().map(String::as_str).collect(), false)
            }
            Check::Regex { pattern, .. } => (vec![&pattern.source], true),
            _ => continue,
        };
        let statement = |text: &&&str| {
            let words = if is_pattern { words(&without_escapes(text)) } else { words(text) };
            let is_guarded = words.iter().all(|word| guarded.contains(word));
            states(&words) && !is_guarded && (!is_pattern || is_phrase(text))
        };
        if let Some(text) = looked_for.iter().find(statement) {
            let shown = python::repr_str(text);
            let guard = words(&without_escapes(text)).join("\\s+");
            let message = format!(
                "{shown} also occurs in answers that deny it, as \"was saved\" does in \"I can't confirm it was saved\"; \
                 guard it with a not_regex, for example (?:\\bnot|n't|\\bnever|\\bcannot)\\b[^.\\n]*{guard}"
            );
            report.warn("negation-blind-needle", assertion.span, message);
        }
    }
}

/// The words of a text, case folded.
fn words(text: &str) -> Vec<String> {
    let separated = |character: char| match character {
        '\'' | '’' => '\'',
        _ if character.is_alphanumeric() => character,
        _ => ' ',
    };
    let spaced: String = text.chars().map(separated).collect();
    python::casefold(&spaced).split_whitespace().map(str::to_owned).collect()
}

/// A pattern with blanks in place of its escapes.
fn without_escapes(pattern: &str) -> String {
    let mut text = String::with_capacity(pattern.len());
    let mut characters = pattern.chars();
    while let Some(character) = characters.next() {
        if character == '\\' {
            characters.next();
            text.push(' ');
        } else {
            text.push(character);
        }
    }
    text
}

fn states(words: &[String]) -> bool {
    let denies = |word: &String| DENYING.contains(&word.as_str()) || word.ends_with("n't");
    words.len() > 1 && words.iter().any(|word| STATING.contains(&word.as_str())) && !words.iter().any(denies)
}

/// Whether a pattern is hardly more than words: what is built with more care is not second-guessed.
fn is_phrase(pattern: &str) -> bool {
    !pattern.contains(['(', '[', '{', '|', '^', '$', '?'])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_statement(text: &str) -> bool {
        states(&words(&without_escapes(text)))
    }

    #[test]
    fn statements_are_words_around_a_verb_without_a_denial() {
        for text in ["was saved", "all tests passed", r"file\s+has\s+been\s+written", "Was safe.", "it Was\nsaved"] {
            assert!(is_statement(text), "{text}");
        }
        for text in
            ["saved", "was", "Retry-After", "was not saved", "wasn't safe", "never was", "exit code 0", r"\bwas\b"]
        {
            assert!(!is_statement(text), "{text}");
        }
    }
}
