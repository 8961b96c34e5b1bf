//! The headings of a skill, which stand for its modules.

use skill_lift_text::python;

/// Headings that say nothing of what is below them, in lower case.
const EMPTY_WORDS: [&str; 4] = ["overview", "introduction", "example", "examples"];

/// The titles of the headings of the second level and deeper, without marks of emphasis. What stands in a fenced block of
/// code is no heading.
pub(super) fn headings(text: &str) -> impl Iterator<Item = String> {
    let mut fence: Option<Fence> = None;
    python::split_lines(text).filter_map(move |line| match (&fence, Fence::of(line)) {
        (Some(open), found) => {
            if found.is_some_and(|found| found.closes(open)) {
                fence = None;
            }
            None
        }
        (None, Some(found)) => {
            fence = Some(found);
            None
        }
        (None, None) => title(line),
    })
}

fn title(line: &str) -> Option<String> {
    let rest = line.strip_prefix("##")?.trim_start_matches('#');
    if !rest.starts_with(python::is_space) {
        return None;
    }
    let plain: String = rest.chars().filter(|character| !matches!(character, '`' | '*' | '_')).collect();
    let title = python::strip(&plain);
    let says_something = !title.is_empty() && !EMPTY_WORDS.contains(&&*python::lower(title));
    says_something.then(|| title.to_owned())
}

/// The line that begins or ends a fenced block of code (CommonMark, section "Fenced code blocks").
struct Fence {
    mark: char,
    length: usize,
    /// Whether only white space follows the marks.
    is_bare: bool,
}

impl Fence {
    fn of(line: &str) -> Option<Self> {
        let inner = line.trim_start_matches(' ');
        if line.len() - inner.len() > 3 {
            return None;
        }
        let mark = inner.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
        let rest = inner.trim_start_matches(mark);
        let length = inner.len() - rest.len();
        let is_fence = length >= 3 && !(mark == '`' && rest.contains('`'));
        is_fence.then(|| Self { mark, length, is_bare: python::strip(rest).is_empty() })
    }

    fn closes(&self, open: &Self) -> bool {
        self.mark == open.mark && self.length >= open.length && self.is_bare
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Vec<String> {
        headings(text).collect()
    }

    /// The titles are those that version 0.6 of the reference package gives.
    #[test]
    fn headings_of_the_second_level_and_deeper() {
        let text = "# One\n## Two `code`\n### *Three* _x_ \n##no space\n##\n## \n ## indented\n####\tFour\n## Overview\n## EXAMPLES\n## Examples of use\n";
        assert_eq!(of(text), ["Two code", "Three x", "Four", "Examples of use"]);
        assert_eq!(of("## a\u{2028}## b\r\n## c"), ["a", "b", "c"]);
        assert_eq!(of("## **_**"), [""; 0]);
    }

    #[test]
    fn code_has_no_headings() {
        assert_eq!(of("```sh\n## not\n```\n## yes"), ["yes"]);
        assert_eq!(of("~~~\n```\n## not\n~~~~ \n## yes"), ["yes"]);
        assert_eq!(of("````\n```\n## not\n````\n## yes"), ["yes"]);
        // words behind the marks open a block but do not close one
        assert_eq!(of("```\n``` x\n## not\n```\n## yes"), ["yes"]);
        // these open none
        assert_eq!(of("``` a `b`\n## yes"), ["yes"]);
        assert_eq!(of("    ```\n## yes"), ["yes"]);
        assert_eq!(of("``\n## yes"), ["yes"]);
        // a block that is not closed goes to the end
        assert_eq!(of("## yes\n```\n## not"), ["yes"]);
    }
}
