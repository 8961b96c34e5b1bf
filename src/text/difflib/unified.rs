//! Unified diffs of lines, as Python's `difflib.unified_diff` writes them with an empty line terminator.

use super::{Block, Matcher, Popularity};

/// The first lines of a unified diff, and how many it has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnifiedDiff {
    /// The first lines, without line ends; none when the sequences are equal.
    pub shown: Vec<String>,
    /// The number of all lines.
    pub total: usize,
}

/// What is compared, and how the diff is written.
#[derive(Clone, Copy, Debug)]
pub struct Sides<'a> {
    /// Name of the old side, after `---`.
    pub old_name: &'a str,
    /// Lines of the old side.
    pub old: &'a [&'a str],
    /// Name of the new side, after `+++`.
    pub new_name: &'a str,
    /// Lines of the new side.
    pub new: &'a [&'a str],
}

/// The unified diff of two sides, with `context` equal lines around each change; at most `show` lines are written out.
///
/// `None` when more than `steps` comparisons would be needed.
#[must_use]
pub fn unified_diff(sides: Sides<'_>, context: usize, show: usize, steps: u32) -> Option<UnifiedDiff> {
    let Sides { old_name, old, new_name, new } = sides;
    let mut matcher = Matcher::new(old.iter(), new.iter(), Popularity::Ignored, steps);
    let blocks = matcher.blocks()?;
    let mut writer = Writer { diff: UnifiedDiff { shown: Vec::new(), total: 0 }, show };
    for hunk in hunks(&blocks, old.len(), new.len(), context) {
        let (Some(first), Some(last)) = (hunk.first(), hunk.last()) else {
            continue;
        };
        if writer.diff.total == 0 {
            writer.line("--- ", old_name);
            writer.line("+++ ", new_name);
        }
        let old_range = range(first.old.0, last.old.1);
        let new_range = range(first.new.0, last.new.1);
        writer.line("@@ ", &format!("-{old_range} +{new_range} @@"));
        for change in &hunk {
            if change.is_equal {
                writer.lines(" ", &old[change.old.0..change.old.1]);
            } else {
                writer.lines("-", &old[change.old.0..change.old.1]);
                writer.lines("+", &new[change.new.0..change.new.1]);
            }
        }
    }
    Some(writer.diff)
}

struct Writer {
    diff: UnifiedDiff,
    show: usize,
}

impl Writer {
    fn line(&mut self, mark: &str, text: &str) {
        self.diff.total += 1;
        if self.diff.shown.len() < self.show {
            self.diff.shown.push(format!("{mark}{text}"));
        }
    }

    fn lines(&mut self, mark: &str, lines: &[&str]) {
        for line in lines {
            self.line(mark, line);
        }
    }
}

/// A part of both sides, from the first line to the one after the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Change {
    is_equal: bool,
    old: (usize, usize),
    new: (usize, usize),
}

impl Change {
    /// The first `lines` lines of an equal part.
    fn head(mut self, lines: usize) -> Self {
        self.old.1 = self.old.1.min(self.old.0 + lines);
        self.new.1 = self.new.1.min(self.new.0 + lines);
        self
    }

    /// The last `lines` lines of an equal part.
    fn tail(mut self, lines: usize) -> Self {
        self.old.0 = self.old.0.max(self.old.1.saturating_sub(lines));
        self.new.0 = self.new.0.max(self.new.1.saturating_sub(lines));
        self
    }
}

/// Both sides as equal and different parts.
fn changes(blocks: &[Block], old_length: usize, new_length: usize) -> Vec<Change> {
    let end = Block { first: old_length, second: new_length, size: 0 };
    let mut changes = Vec::with_capacity(blocks.len() * 2 + 1);
    let (mut old, mut new) = (0, 0);
    for block in blocks.iter().chain([&end]) {
        if old < block.first || new < block.second {
            changes.push(Change { is_equal: false, old: (old, block.first), new: (new, block.second) });
        }
        (old, new) = (block.first + block.size, block.second + block.size);
        if block.size > 0 {
            changes.push(Change { is_equal: true, old: (block.first, old), new: (block.second, new) });
        }
    }
    changes
}

/// Groups of changes with at most `context` equal lines around them.
fn hunks(blocks: &[Block], old_length: usize, new_length: usize, context: usize) -> Vec<Vec<Change>> {
    let mut changes = changes(blocks, old_length, new_length);
    if let Some(first) = changes.first_mut().filter(|change| change.is_equal) {
        *first = first.tail(context);
    }
    if let Some(last) = changes.last_mut().filter(|change| change.is_equal) {
        *last = last.head(context);
    }
    let mut hunks = Vec::new();
    let mut hunk = Vec::new();
    for change in changes {
        if change.is_equal && change.old.1 - change.old.0 > 2 * context {
            hunk.push(change.head(context));
            hunks.push(std::mem::take(&mut hunk));
            hunk.push(change.tail(context));
        } else {
            hunk.push(change);
        }
    }
    hunks.push(hunk);
    hunks.retain(|hunk: &Vec<Change>| hunk.iter().any(|change| !change.is_equal));
    hunks
}

/// Lines as a hunk header counts them: from 1, the length only when it is not 1, the line before when it is 0.
fn range(start: usize, end: usize) -> String {
    match end - start {
        1 => format!("{}", start + 1),
        0 => format!("{start},0"),
        length => format!("{},{length}", start + 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn diff(old: &str, new: &str) -> Vec<String> {
        let (old, new): (Vec<&str>, Vec<&str>) = (old.split(' ').collect(), new.split(' ').collect());
        let sides = Sides { old_name: "a", old: &old, new_name: "b", new: &new };
        unified_diff(sides, 2, 100, 1_000_000).unwrap().shown
    }

    // The diffs were computed with difflib of CPython 3.11.7.
    #[test]
    fn hunks_have_two_lines_of_context() {
        assert_eq!(diff("1 2 3", "1 2 3"), Vec::<String>::new());
        assert_eq!(diff("1 2", "1 x"), ["--- a", "+++ b", "@@ -1,2 +1,2 @@", " 1", "-2", "+x"]);
        assert_eq!(
            diff("1 2 3 4 5 6 7 8 9", "1 x 3 4 5 6 7 9"),
            [
                "--- a",
                "+++ b",
                "@@ -1,4 +1,4 @@",
                " 1",
                "-2",
                "+x",
                " 3",
                " 4",
                "@@ -6,4 +6,3 @@",
                " 6",
                " 7",
                "-8",
                " 9"
            ]
        );
        assert_eq!(
            diff("1 2 3 4 5 6", "x 2 3 4 5 y"),
            ["--- a", "+++ b", "@@ -1,6 +1,6 @@", "-1", "+x", " 2", " 3", " 4", " 5", "-6", "+y"]
        );
    }

    #[test]
    fn ranges_of_one_and_of_no_line() {
        let sides = Sides { old_name: "a", old: &[], new_name: "b", new: &["x"] };
        let found = unified_diff(sides, 2, 100, 1_000).unwrap();
        assert_eq!(found.shown, ["--- a", "+++ b", "@@ -0,0 +1 @@", "+x"]);
        assert_eq!(diff("1 2 3 4", "1 2 4"), ["--- a", "+++ b", "@@ -1,4 +1,3 @@", " 1", " 2", "-3", " 4"]);
    }

    #[test]
    fn only_the_first_lines_are_written_out_and_all_are_counted() {
        let sides = Sides { old_name: "a", old: &["1", "2"], new_name: "b", new: &["3", "4"] };
        let found = unified_diff(sides, 2, 4, 1_000).unwrap();
        assert_eq!(
            found,
            UnifiedDiff { shown: ["--- a", "+++ b", "@@ -1,2 +1,2 @@", "-1"].map(str::to_owned).into(), total: 7 }
        );
        assert_eq!(unified_diff(sides, 2, 4, 0), None);
    }
}
