//! The front matter of a `SKILL.md`: YAML between two lines `---`.

use serde::Deserialize;
use serde_saphyr::{DuplicateKeyPolicy, Error, alias_limits, budget, options};

/// Largest front matter. A description has about a thousand characters.
const MAX_BYTES: usize = 64 << 10;

/// Why front matter cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}; {advice}")]
pub struct FrontMatterProblem {
    /// Line of the file, from 1.
    pub line: u64,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub advice: &'static str,
}

/// What front matter says that somebody here reads; other keys are allowed and passed over.
#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
pub(super) struct FrontMatter {
    #[serde(default)]
    pub(super) name: Option<String>,
    #[serde(default)]
    pub(super) description: Option<String>,
}

const BEGIN: &str = "begin the file with front matter: a line `---`, `name: …`, `description: …`, a line `---`";
const CLOSE: &str = "end the front matter with a line `---`";
const SHORTEN: &str = "move what is no name, description or setting into the body";
const QUOTE: &str = "put the value between quotes, or write `description: >-` with the text indented below it";
const PLAIN: &str = "write plain keys and values, without anchors and deep nesting";

/// Splits a file into what its front matter says and its body.
pub(super) fn split(text: &str) -> Result<(FrontMatter, &str), FrontMatterProblem> {
    let problem = |line, message: &str, advice| FrontMatterProblem { line, message: message.to_owned(), advice };
    let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
    if first.trim_end() != "---" {
        return Err(problem(1, "no front matter", BEGIN));
    }
    let (header, body) = divide(rest).ok_or_else(|| problem(1, "the front matter does not end", CLOSE))?;
    if header.len() > MAX_BYTES {
        return Err(problem(1, "the front matter is larger than 64 KiB", SHORTEN));
    }
    Ok((parse(header)?, body))
}

/// The text before the first line that ends front matter, and the text after that line.
fn divide(text: &str) -> Option<(&str, &str)> {
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let end = start + line.len();
        if matches!(line.trim_end(), "---" | "...") {
            return Some((&text[..start], &text[end..]));
        }
        start = end;
    }
    None
}

fn parse(header: &str) -> Result<FrontMatter, FrontMatterProblem> {
    let options = options! {
        budget: budget! {
            max_events: 20_000,
            max_nodes: 10_000,
            max_aliases: 100,
            max_anchors: 100,
            max_recorded_anchor_events: 10_000,
            max_recorded_anchor_bytes: MAX_BYTES,
            max_depth: 32,
            flow_nesting_limit: 32,
            max_documents: 1,
            max_total_scalar_bytes: MAX_BYTES,
        },
        alias_limits: alias_limits! { max_total_replayed_events: 10_000, max_replay_stack_depth: 8 },
        duplicate_keys: DuplicateKeyPolicy::Error,
        with_snippet: false,
    };
    match serde_saphyr::from_str_with_options::<Option<FrontMatter>>(header, options) {
        Ok(Some(front)) => Ok(front),
        Ok(None) => Err(FrontMatterProblem { line: 1, message: "the front matter is empty".to_owned(), advice: BEGIN }),
        Err(error) => Err(told(&error)),
    }
}

/// A problem that the YAML reader found, in one line. The line `---` before the YAML is the first of the file.
fn told(error: &Error) -> FrontMatterProblem {
    let line = error.location().map_or(1, |location| location.line() + 1);
    let (message, advice) = match error {
        Error::DuplicateMappingKey { key, .. } => {
            let key = key.as_deref().map_or_else(|| "a key".to_owned(), |key| format!("`{key}`"));
            (format!("{key} is given twice"), "remove one of them")
        }
        Error::Unexpected { expected: "string scalar", .. } => {
            ("`name` and `description` are texts, this is a list or an object".to_owned(), QUOTE)
        }
        Error::Unexpected { expected: "mapping start", .. } => ("the front matter has no keys".to_owned(), BEGIN),
        error if is_limit(error) => ("the front matter is nested too deeply or has too many parts".to_owned(), PLAIN),
        error => (format!("the front matter is not valid YAML: {}", words(error)), QUOTE),
    };
    FrontMatterProblem { line, message, advice }
}

/// Whether a limit refused the text. Errors within what an alias stands for, and those of the parser, have no variant for it.
fn is_limit(error: &Error) -> bool {
    let words = words(error);
    ["budget", "recursion limit", "alias replay", "alias expansion"].iter().any(|limit| words.contains(limit))
}

/// The words of the YAML reader, without its positions: they count from the line after the first.
fn words(error: &Error) -> String {
    let text = error.to_string();
    text.split(" at line ").next().unwrap_or_default().lines().next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn front(header: &str) -> FrontMatter {
        parse(header).unwrap()
    }

    fn description(header: &str) -> String {
        front(header).description.unwrap()
    }

    fn refused(header: &str) -> (u64, String) {
        let problem = parse(header).unwrap_err();
        (problem.line, problem.message)
    }

    #[test]
    fn scalars_of_every_style() {
        assert_eq!(description("description: plain \"quoted\" text\n"), "plain \"quoted\" text");
        assert_eq!(description("description: \"says \\\"one\\\" or \\\"two\\\"\"\n"), "says \"one\" or \"two\"");
        assert_eq!(description("description: 'it''s \"one\"'\n"), "it's \"one\"");
        // folded: a line break is a space, an empty line a line break; what looks like a key is text (YAML 1.2, 8.1.3)
        assert_eq!(description("description: >\n  a\n  b\n\n  note: c\nname: x\n"), "a b\nnote: c\n");
        assert_eq!(description("description: >-\n  a\n  b\n"), "a b");
        assert_eq!(description("description: >+\n  a\n\nname: x\n"), "a\n\n");
        assert_eq!(description("description: |\n  a\n  b\n"), "a\nb\n");
        assert_eq!(description("description: one\n  two\n"), "one two");
        assert_eq!(description("description: 3\n"), "3");
    }

    #[test]
    fn nested_keys_and_lists_are_not_those_of_the_top() {
        let header =
            "metadata:\n  name: inner\n  description: inner\nallowed-tools:\n- Read\n- {a: [b]}\nname: outer\n";
        assert_eq!(front(header), FrontMatter { name: Some("outer".to_owned()), description: None });
        assert_eq!(front("name:\ndescription: ~\n"), FrontMatter::default());
    }

    #[test]
    fn the_line_of_a_problem_is_that_of_the_file() {
        // the first line of the file is `---`, so that the second of the YAML is the third
        let (line, message) = refused("name: a\ndescription: Use when: asked\n");
        assert_eq!((line, message.starts_with("the front matter is not valid YAML: ")), (3, true), "{message}");
        assert!(!message.contains("line"), "{message}");
        assert_eq!(refused("name: a\nname: b\n"), (3, "`name` is given twice".to_owned()));
        assert_eq!(refused("name: [a]\n").0, 2);
        assert_eq!(refused("just text\n"), (2, "the front matter has no keys".to_owned()));
        assert_eq!(refused("# a comment\n"), (1, "the front matter is empty".to_owned()));
    }

    #[test]
    fn bombs_are_refused() {
        let mut laughs = "a: &a [x,x,x,x,x,x,x,x,x]\n".to_owned();
        for (one, next) in "abcdefghi".chars().zip("bcdefghij".chars()) {
            laughs += &format!("{next}: &{next} [{}]\n", vec![format!("*{one}"); 9].join(","));
        }
        let deep = format!("x: {}a{}\n", "[".repeat(5000), "]".repeat(5000));
        let steps: String = (0..100).map(|depth| format!("{}k:\n", " ".repeat(depth))).collect();
        for header in [laughs, deep, steps] {
            assert_eq!(refused(&header).1, "the front matter is nested too deeply or has too many parts");
        }
    }

    #[test]
    fn the_lines_around_front_matter() {
        let (front, body) = split("---\r\nname: a\r\n--- \r\nbody\n---\n").unwrap();
        assert_eq!((front.name.as_deref(), body), (Some("a"), "body\n---\n"));
        let message = |text: &str| split(text).unwrap_err().message;
        assert_eq!(message(""), "no front matter");
        assert_eq!(message("# Title\n---\nname: a\n---\n"), "no front matter");
        assert_eq!(message("---\nname: a\n"), "the front matter does not end");
        assert_eq!(message("---\n---\n"), "the front matter is empty");
        let large = format!("---\nname: {}\n---\n", "a".repeat(MAX_BYTES));
        assert_eq!(message(&large), "the front matter is larger than 64 KiB");
        // dashes within a value end nothing
        assert_eq!(split("---\nname: a --- b\n---\n").unwrap().0.name.as_deref(), Some("a --- b"));
    }
}
