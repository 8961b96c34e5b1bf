//! Blind comparisons: two answers to the same case under the names A and B, a key that says which arm is which, and the
//! preferences that a judge gave.
//!
//! Which arm is A is a function of a seed and the id of the comparison, so that a case that is added moves no other.

mod read;
mod task;

use skill_lift_contract::ContentDigest;

pub use read::{AnsweredRow, ComparisonError, ComparisonKey, ReportedTotals, Results, read_key, read_results};
pub use task::{Candidate, ComparisonTask, KeyRow, Rubric, comparison_id, digest_of, nonce};

/// The name of an answer in a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Label {
    /// The first one.
    A,
    /// The second one.
    B,
}

/// The arm of an answer in a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The arm that is looked at.
    Primary,
    /// What it is compared with.
    Baseline,
}

impl Side {
    /// The word in keys and reports.
    pub fn word(self) -> &'static str {
        match self {
            Self::Primary => "primary",
            Self::Baseline => "baseline",
        }
    }

    /// The side of a word.
    pub fn from_word(word: &str) -> Option<Self> {
        [Self::Primary, Self::Baseline].into_iter().find(|side| side.word() == word)
    }

    /// The other one.
    pub fn other(self) -> Self {
        match self {
            Self::Primary => Self::Baseline,
            Self::Baseline => Self::Primary,
        }
    }
}

/// Who won a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Winner {
    /// One of them.
    Label(Label),
    /// Nobody.
    Tie,
}

impl Winner {
    /// What a judge wrote, in any case and with space around it.
    pub fn of(text: &str) -> Option<Self> {
        match text.trim().to_uppercase().as_str() {
            "A" => Some(Self::Label(Label::A)),
            "B" => Some(Self::Label(Label::B)),
            "TIE" => Some(Self::Tie),
            _ => None,
        }
    }
}

/// Which arm is A: the lowest bit of the SHA-256 of the seed, a NUL and the id.
pub fn first_side(seed: i64, id: &str) -> Side {
    let digest = ContentDigest::of(format!("{seed}\0{id}").as_bytes()).to_string();
    let last_digit = digest.chars().last().and_then(|digit| digit.to_digit(16));
    if last_digit.is_some_and(|digit| digit % 2 == 1) { Side::Baseline } else { Side::Primary }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sides_depend_on_the_seed_and_the_id_alone() {
        // python3 -c "import hashlib; print(hashlib.sha256(b'42\0c::run-1::blind-with_skill-vs-without_skill').digest()[-1] & 1)"
        let cases = [(42, "c::run-1", 0), (42, "d::run-1", 1), (7, "c::run-1", 0), (42, "c::run-2", 1)];
        for (seed, run, bit) in cases {
            let expected = if bit == 0 { Side::Primary } else { Side::Baseline };
            assert_eq!(
                first_side(seed, &format!("{run}::blind-with_skill-vs-without_skill")),
                expected,
                "{seed} {run}"
            );
        }
    }

    #[test]
    fn winners_are_read_as_judges_write_them() {
        assert_eq!(Winner::of(" tie "), Some(Winner::Tie));
        assert_eq!(Winner::of("a"), Some(Winner::Label(Label::A)));
        assert_eq!(Winner::of("neither"), None);
    }
}
