//! Matching blocks of two sequences, exactly as Python's `difflib.SequenceMatcher` finds them: ratios and line diffs.
//!
//! The longest block counts, of equal ones the earliest in the first sequence, then the earliest in the second; then
//! the same left and right of it. Nothing here is a heuristic of ours, so a ratio equals Python's bit for bit, its
//! popularity rule included: that rule may be switched off, but by default the numbers must not move.

mod unified;

use std::collections::HashMap;
use std::hash::Hash;

pub use unified::{Sides, UnifiedDiff, unified_diff};

/// Second sequences of at least this length are subject to the popularity rule.
const POPULARITY_LENGTH: usize = 200;

/// What an element of the first sequence that the second lacks is numbered.
const ABSENT: u32 = u32::MAX;

/// Whether frequent elements of a long second sequence start no block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Popularity {
    /// They start none: Python's default, called `autojunk` there.
    Ignored,
    /// They start blocks like all others.
    Kept,
}

/// How similar two texts are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ratio {
    /// Twice the matched code points over all code points: 0 to 1.
    pub value: f64,
    /// Whether the popularity rule left out an element, which makes the value unstable.
    pub popularity_applied: bool,
}

/// The ratio of `actual` and `expected`, over code points; the order of the two matters.
///
/// `None` when more than `steps` comparisons would be needed.
#[must_use]
pub fn ratio(actual: &str, expected: &str, popularity: Popularity, steps: u32) -> Option<Ratio> {
    let mut matcher = Matcher::new(actual.chars(), expected.chars(), popularity, steps);
    let popularity_applied = matcher.popularity_applied;
    let total = matcher.first.len() + matcher.second.len();
    if total == 0 {
        return Some(Ratio { value: 1.0, popularity_applied });
    }
    // Equal texts match as a whole: the first longest run of indexed elements lies on the diagonal, and a block is
    // extended over everything equal around it.
    let matched = if actual == expected { total / 2 } else { matcher.blocks()?.iter().map(|block| block.size).sum() };
    Some(Ratio { value: 2.0 * matched as f64 / total as f64, popularity_applied })
}

/// A run of elements that both sequences share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Block {
    /// Where it starts in the first sequence.
    first: usize,
    /// Where it starts in the second sequence.
    second: usize,
    /// How long it is.
    size: usize,
}

/// A part of both sequences that is searched for blocks.
#[derive(Clone, Copy)]
struct Window {
    first: (usize, usize),
    second: (usize, usize),
}

/// How long the run is that ends at an element of the second sequence, and the row it was computed in.
#[derive(Clone, Copy, Default)]
struct Cell {
    row: u32,
    length: u32,
}

/// What a sequence is made of.
trait Element: Eq + Hash {
    /// The code of an ASCII character, which needs no search for its number.
    fn ascii(&self) -> Option<u8>;
}

impl Element for char {
    fn ascii(&self) -> Option<u8> {
        u8::try_from(u32::from(*self)).ok().filter(u8::is_ascii)
    }
}

impl Element for &&str {
    fn ascii(&self) -> Option<u8> {
        None
    }
}

/// A number for each different element.
struct Numbers<T> {
    ascii: [u32; 128],
    others: HashMap<T, u32>,
}

impl<T: Element> Numbers<T> {
    /// The number of an element, which is `next` if it had none.
    fn number(&mut self, element: T, next: u32) -> u32 {
        let number = match element.ascii() {
            Some(code) => &mut self.ascii[usize::from(code)],
            None => self.others.entry(element).or_insert(ABSENT),
        };
        if *number == ABSENT {
            *number = next;
        }
        *number
    }

    /// The number of an element, [`ABSENT`] if it has none.
    fn find(&self, element: &T) -> u32 {
        match element.ascii() {
            Some(code) => self.ascii[usize::from(code)],
            None => self.others.get(element).copied().unwrap_or(ABSENT),
        }
    }
}

/// Finds the blocks of two sequences whose elements were numbered.
struct Matcher {
    first: Vec<u32>,
    second: Vec<u32>,
    /// Positions in the second sequence, element by element, each ascending.
    positions: Vec<u32>,
    /// Which part of `positions` belongs to an element.
    ranges: Vec<(u32, u32)>,
    /// Where in the first sequence the elements stand that have positions, ascending.
    starts: Vec<u32>,
    popularity_applied: bool,
    cells: Vec<Cell>,
    row: u32,
    steps_left: u32,
}

impl Matcher {
    fn new<T: Element>(
        first: impl Iterator<Item = T>,
        second: impl Iterator<Item = T>,
        popularity: Popularity,
        steps: u32,
    ) -> Self {
        let mut numbers = Numbers { ascii: [ABSENT; 128], others: HashMap::new() };
        let mut counts: Vec<u32> = Vec::new();
        let second: Vec<u32> = second
            .map(|element| {
                let number = numbers.number(element, counts.len() as u32);
                match counts.get_mut(number as usize) {
                    Some(count) => *count += 1,
                    None => counts.push(1),
                }
                number
            })
            .collect();
        let first: Vec<u32> = first.map(|element| numbers.find(&element)).collect();
        let allowed = if popularity == Popularity::Ignored && second.len() >= POPULARITY_LENGTH {
            second.len() / 100 + 1
        } else {
            usize::MAX
        };
        let is_popular = |count: u32| count as usize > allowed;
        let mut ranges = Vec::with_capacity(counts.len());
        let mut end = 0;
        for &count in &counts {
            ranges.push((end, end));
            end += if is_popular(count) { 0 } else { count };
        }
        let mut positions = vec![0; end as usize];
        for (position, &number) in second.iter().enumerate() {
            if !is_popular(counts[number as usize]) {
                let range = &mut ranges[number as usize];
                positions[range.1 as usize] = position as u32;
                range.1 += 1;
            }
        }
        let popularity_applied = counts.iter().any(|&count| is_popular(count));
        let has_positions = |number: u32| ranges.get(number as usize).is_some_and(|&(start, end)| start < end);
        let starts = (0_u32..).zip(&first).filter(|&(_, &number)| has_positions(number)).map(|(at, _)| at).collect();
        let cells = vec![Cell::default(); second.len() + 1];
        Self { first, second, positions, ranges, starts, popularity_applied, cells, row: 0, steps_left: steps }
    }

    /// All blocks in order, touching ones joined; `None` when the steps are used up.
    fn blocks(&mut self) -> Option<Vec<Block>> {
        let mut found: Vec<Block> = Vec::new();
        let mut open = vec![Window { first: (0, self.first.len()), second: (0, self.second.len()) }];
        while let Some(window) = open.pop() {
            let block = self.longest(window)?;
            if block.size == 0 {
                continue;
            }
            let left = Window { first: (window.first.0, block.first), second: (window.second.0, block.second) };
            let right = Window {
                first: (block.first + block.size, window.first.1),
                second: (block.second + block.size, window.second.1),
            };
            let has_both = |part: &Window| part.first.0 < part.first.1 && part.second.0 < part.second.1;
            open.extend([left, right].into_iter().filter(has_both));
            found.push(block);
        }
        found.sort_unstable();
        let mut joined: Vec<Block> = Vec::with_capacity(found.len());
        for block in found {
            match joined.last_mut() {
                Some(last) if last.first + last.size == block.first && last.second + last.size == block.second => {
                    last.size += block.size;
                }
                _ => joined.push(block),
            }
        }
        Some(joined)
    }

    /// The longest block of a window, of size 0 when nothing matches.
    fn longest(&mut self, window: Window) -> Option<Block> {
        let Window { first: (first_start, first_end), second: (second_start, second_end) } = window;
        let mut best = Block { first: first_start, second: second_start, size: 0 };
        // a row of its own before the first one, so that no cell of an earlier window is continued
        let before_first = self.next_rows(first_end - first_start + 1)?;
        let place = |at: usize| self.starts.partition_point(|&start| (start as usize) < at);
        for index in place(first_start)..place(first_end) {
            let at = self.starts[index] as usize;
            let row = before_first + (at - first_start) as u32 + 1;
            let Some(&(start, end)) = self.ranges.get(self.first[at] as usize) else {
                continue;
            };
            let positions = &self.positions[start as usize..end as usize];
            let inside = positions.partition_point(|&position| (position as usize) < second_start)
                ..positions.partition_point(|&position| (position as usize) < second_end);
            let positions = &positions[inside];
            self.steps_left = less(self.steps_left, positions.len())?;
            let mut row_best = (0, 0);
            // from right to left, so that the cell to the left is still that of the row before
            for &position in positions.iter().rev() {
                let position = position as usize;
                let before = self.cells[position];
                let length = if before.row + 1 == row { before.length + 1 } else { 1 };
                self.cells[position + 1] = Cell { row, length };
                if length >= row_best.0 {
                    row_best = (length, position);
                }
            }
            let length = row_best.0 as usize;
            if length > best.size {
                best = Block { first: at + 1 - length, second: row_best.1 + 1 - length, size: length };
            }
        }
        self.extend(&mut best, window)?;
        Some(best)
    }

    /// Extends a block over equal neighbours, popular or not; also a block of size 0 at the start of the window.
    fn extend(&mut self, block: &mut Block, window: Window) -> Option<()> {
        let size = block.size;
        while block.first > window.first.0
            && block.second > window.second.0
            && self.first[block.first - 1] == self.second[block.second - 1]
        {
            block.first -= 1;
            block.second -= 1;
            block.size += 1;
        }
        while block.first + block.size < window.first.1
            && block.second + block.size < window.second.1
            && self.first[block.first + block.size] == self.second[block.second + block.size]
        {
            block.size += 1;
        }
        self.steps_left = less(self.steps_left, block.size - size)?;
        Some(())
    }

    /// The number of the first of so many new rows. Every row is a step, so rows cannot outgrow their type.
    fn next_rows(&mut self, count: usize) -> Option<u32> {
        self.steps_left = less(self.steps_left, count)?;
        let first = self.row + 1;
        self.row += count as u32;
        Some(first)
    }
}

fn less(left: u32, steps: usize) -> Option<u32> {
    left.checked_sub(u32::try_from(steps).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    const STEPS: u32 = 1_000_000_000;

    fn python(actual: &str, expected: &str) -> f64 {
        ratio(actual, expected, Popularity::Ignored, STEPS).unwrap().value
    }

    // All values were computed with difflib of CPython 3.11.7.
    #[test]
    fn ratios_are_those_of_python() {
        let rows = [
            ("", "", 1.0),
            ("", "a", 0.0),
            ("bcde", "abcd", 0.75),
            ("goodbye moon", "hello world", 0.260_869_565_217_391_3),
            ("aaaaaaaccddb", "aaaaaaabbb", 0.727_272_727_272_727_3),
            ("diet", "tide", 0.5),
            ("tide", "diet", 0.25),
            ("naïve 日本語 😀", "naive 日本 😀!", 0.818_181_818_181_818_2),
            ("private Thread currentThread;", "private volatile Thread currentThread;", 0.865_671_641_791_044_7),
            ("qabxcd", "abycdf", 0.666_666_666_666_666_6),
        ];
        for (actual, expected, value) in rows {
            assert_eq!(python(actual, expected).to_bits(), f64::to_bits(value), "{actual:?} and {expected:?}");
        }
    }

    #[test]
    fn popular_elements_of_a_long_second_text_start_no_block() {
        let alternating = |first: char, length: usize, end: &str| {
            let other = if first == 'a' { 'b' } else { 'a' };
            let body: String = (0..length).map(|at| if at % 2 == 0 { first } else { other }).collect();
            body + end
        };
        // one element of 200 occurs 100 times, more than 200 / 100 + 1
        let (actual, expected) = (alternating('b', 199, "x"), alternating('a', 200, ""));
        let found = ratio(&actual, &expected, Popularity::Ignored, STEPS).unwrap();
        assert_eq!(found, Ratio { value: 0.0, popularity_applied: true });
        let found = ratio(&actual, &expected, Popularity::Kept, STEPS).unwrap();
        assert_eq!(found, Ratio { value: 0.995, popularity_applied: false });
        // 199 elements are too few for the rule
        let found = ratio(&actual, &expected[..199], Popularity::Ignored, STEPS).unwrap();
        assert!(!found.popularity_applied);
        assert_eq!(found.value.to_bits(), 0.992_481_203_007_518_7_f64.to_bits());
        // equal starts match although every element is popular, equal texts as a whole
        let same = "x".repeat(200);
        assert_eq!(python(&same, &same), 1.0);
        let longer = format!("{same}y");
        assert_eq!(python(&longer, &same).to_bits(), 0.997_506_234_413_965_1_f64.to_bits());
        let moved = format!("y{same}");
        assert_eq!(python(&moved, &same), 0.0);
    }

    #[test]
    fn too_much_work_gives_no_ratio() {
        let (actual, expected) = ("ab".repeat(400), "ba".repeat(400));
        assert_eq!(ratio(&actual, &expected, Popularity::Kept, 100_000), None);
        let found = ratio(&actual, &expected, Popularity::Kept, 1_000_000).unwrap();
        assert_eq!(found.value, 0.998_75);
        // equal texts cost nothing
        assert_eq!(ratio(&actual, &actual, Popularity::Kept, 0).unwrap().value, 1.0);
    }
}
