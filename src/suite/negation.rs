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

/// Warns about every statement that is looked for without a guard against its denial.
pub(super) fn warn_statements(report: &mut Report<'_>, case: &Case) {
    check_list(report, &case.assertions);
    for turn in &case.turns {
        check_list(report, &turn.assertions);
    }
}

fn check_list(report: &mut Report<'_>, assertions: &[Assertion]) {
    let guarded: HashSet<String> = assertions
        .iter()
        .flat_map(|assertion| match &assertion.check {
            Check::ExcludesAny { needles, .. } => needles.iter().map(String::as_str).collect(),
            Check::NotRegex { pattern, .. } => vec![pattern.source.as_str()],
            _ => Vec::new(),
        })
        .flat_map(words)
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
            let words = words(text);
            let is_guarded = words.iter().all(|word| guarded.contains(word));
            states(&words) && !is_guarded && (!is_pattern || is_phrase(text))
        };
        if let Some(text) = looked_for.iter().find(statement) {
            let shown = python::repr_str(text);
            let guard = words(text).join("\\s+");
            let message = format!(
                "{shown} also occurs in answers that deny it, as \"was saved\" does in \"I can't confirm it was saved\"; \
                 guard it with a not_regex, for example (?:\\bnot|n't|\\bnever|\\bcannot)\\b[^.\\n]*{guard}"
            );
            report.warn("negation-blind-needle", assertion.span, message);
        }
    }
}

/// The words of a text or of a pattern, case folded; escapes of a pattern separate words.
fn words(text: &str) -> Vec<String> {
    let mut spaced = String::with_capacity(text.len());
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' => {
                characters.next();
                spaced.push(' ');
            }
            '\'' | '’' => spaced.push('\''),
            _ if character.is_alphanumeric() => spaced.push(character),
            _ => spaced.push(' '),
        }
    }
    python::casefold(&spaced).split_whitespace().map(str::to_owned).collect()
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
        states(&words(text))
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
