//! The mean change of something over the cases in both results, and how sure it is.

use num_bigint::BigInt;
use skill_lift_stats::interval::{PaddedT, padded_t};
use skill_lift_stats::rational::{self, Rational};
use skill_lift_stats::{SignFlip, Thresholds, Verdict, Withheld, sign_flip, verdict};

/// One case in both results.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaseShift {
    /// Its id.
    pub case: String,
    /// In the earlier result.
    pub before: Rational,
    /// In the later result.
    pub after: Rational,
}

impl CaseShift {
    /// After minus before.
    pub fn delta(&self) -> Rational {
        &self.after - &self.before
    }
}

/// Why there is no test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotTested {
    /// The results are not like for like.
    NotLikeForLike,
    /// No case can be compared.
    NothingCompared,
}

impl NotTested {
    /// The code in reports.
    pub fn code(self) -> &'static str {
        match self {
            Self::NotLikeForLike => "not_like_for_like",
            Self::NothingCompared => "nothing_compared",
        }
    }
}

/// What a test says.
#[derive(Debug)]
pub struct Tested {
    /// Exact sign-flip test over the changes of the cases.
    pub test: SignFlip,
    /// Padded t interval of the mean change.
    pub interval: Result<PaddedT, Withheld>,
    /// What may be concluded.
    pub verdict: Verdict,
}

/// How far the values of single cases reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Range {
    /// 0 to 1: a change lies between −1 and 1.
    Rate,
    /// −1 to 1: a change lies between −2 and 2.
    Lift,
}

/// The mean change over some cases.
#[derive(Debug)]
pub struct Shift {
    /// The cases, by id.
    pub cases: Vec<CaseShift>,
    /// Mean in the earlier result.
    pub before: Option<Rational>,
    /// Mean in the later result.
    pub after: Option<Rational>,
    /// Cases that rose.
    pub rose: usize,
    /// Cases that fell.
    pub fell: usize,
    /// The test, or why there is none.
    pub tested: Result<Tested, NotTested>,
}

impl Shift {
    /// The change over some cases; tested only when `allows_tests`.
    pub(super) fn of(cases: Vec<CaseShift>, range: Range, allows_tests: bool, thresholds: &Thresholds) -> Self {
        let mean = |of: fn(&CaseShift) -> &Rational| {
            rational::mean(&cases.iter().map(|case| of(case).clone()).collect::<Vec<_>>())
        };
        let tested = match (cases.is_empty(), allows_tests) {
            (true, _) => Err(NotTested::NothingCompared),
            (_, false) => Err(NotTested::NotLikeForLike),
            _ => Ok(Tested::of(&cases, range, thresholds)),
        };
        Self {
            before: mean(|case| &case.before),
            after: mean(|case| &case.after),
            rose: cases.iter().filter(|case| case.after > case.before).count(),
            fell: cases.iter().filter(|case| case.after < case.before).count(),
            cases,
            tested,
        }
    }

    /// Mean after minus mean before.
    pub fn change(&self) -> Option<Rational> {
        Some(self.after.as_ref()? - self.before.as_ref()?)
    }
}

impl Tested {
    fn of(cases: &[CaseShift], range: Range, thresholds: &Thresholds) -> Self {
        let deltas: Vec<Rational> = cases.iter().map(CaseShift::delta).collect();
        let test = sign_flip(&deltas);
        let alpha = thresholds.alpha();
        let interval = match range {
            Range::Rate => padded_t(&deltas, alpha, &test),
            // the interval is made for changes of at most 1: half of a change of lifts is one
            Range::Lift => {
                let halves: Vec<Rational> = deltas.iter().map(|delta| delta / BigInt::from(2)).collect();
                padded_t(&halves, alpha, &test).map(doubled)
            }
        };
        let verdict = verdict(&test, &interval, thresholds);
        Self { test, interval, verdict }
    }
}

fn doubled(half: PaddedT) -> PaddedT {
    PaddedT {
        pad: 2.0 * half.pad,
        center: 2.0 * half.center,
        standard_error: 2.0 * half.standard_error,
        lower_unclipped: 2.0 * half.lower_unclipped,
        upper_unclipped: 2.0 * half.upper_unclipped,
        lower: 2.0 * half.lower,
        upper: 2.0 * half.upper,
        ..half
    }
}
