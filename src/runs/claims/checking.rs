//! What a benchmark claims, held against the gradings of the same tree. The gradings win; this says where they differ.

use std::collections::{BTreeMap, BTreeSet};

use num_traits::Signed;
use skill_lift_stats::rational::{self, Rational};

use super::figures::DeltaText;
use super::form::ClaimForm;
use super::lifting::lift;
use super::model::Claims;
use super::published::OWN_LIFT;

/// Metrics of published differences that are the lift.
const LIFT_METRICS: [&str; 4] = ["pass_rate", "objective_pass_rate", "pass_rate_improvement", "overall"];

/// What the gradings of a tree say.
#[derive(Debug, Clone, Copy)]
pub struct Gradings<'g> {
    /// Mean rate of the scored runs by case (id or name) and variant.
    pub rates: &'g BTreeMap<(String, String), Rational>,
    /// How many pairs of case and variant there are; a case may have several names.
    pub cells: usize,
    /// Mean lift over cases with both arms scored.
    pub lift: Option<&'g Rational>,
    /// Texts of all graded assertions.
    pub texts: &'g BTreeSet<String>,
}

/// How a benchmark and the gradings beside it contradict each other. The codes are stable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ContradictionCode {
    /// The benchmark has no rows, the tree has gradings.
    BenchmarkEmpty,
    /// No text of its assertions occurs in the gradings.
    BenchmarkOfAnotherSuite,
    /// A value differs.
    BenchmarkDisagrees,
}

impl ContradictionCode {
    /// The code in reports.
    pub fn code(self) -> &'static str {
        match self {
            Self::BenchmarkEmpty => "benchmark_empty",
            Self::BenchmarkOfAnotherSuite => "benchmark_of_another_suite",
            Self::BenchmarkDisagrees => "benchmark_disagrees",
        }
    }
}

/// A claim that the gradings contradict.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contradiction {
    /// How.
    pub code: ContradictionCode,
    /// What it is about: a case and variant, `lift`, or the published metric.
    pub subject: String,
    /// What the benchmark says.
    pub claimed: String,
    /// What the gradings say.
    pub found: String,
    /// JSON pointer of the claim; empty for the whole file.
    pub pointer: String,
}

/// Holds a benchmark against gradings.
pub fn check(claims: &Claims, gradings: &Gradings<'_>) -> Vec<Contradiction> {
    let whole = |code, subject: &str, claimed: String, found: String| Contradiction {
        code,
        subject: subject.to_owned(),
        claimed,
        found,
        pointer: String::new(),
    };
    let runs = || format!("{} graded cells", gradings.cells);
    if claims.rows.is_empty() && claims.form != ClaimForm::AggregateOnly && !gradings.rates.is_empty() {
        let mut found = vec![whole(ContradictionCode::BenchmarkEmpty, "rows", "0 rows".to_owned(), runs())];
        found.extend(published(claims, gradings));
        return found;
    }
    let mut texts = claims.rows.iter().flat_map(|row| &row.assertions).map(|assertion| &assertion.text).peekable();
    let is_foreign =
        texts.peek().is_some() && !gradings.texts.is_empty() && !texts.any(|text| gradings.texts.contains(text));
    let mut found = cells(claims, gradings);
    // people also sum verdicts up in other words: where every number fits, it is the same suite
    if is_foreign && !found.is_empty() {
        let claimed = format!("{} rows", claims.rows.len());
        return vec![whole(ContradictionCode::BenchmarkOfAnotherSuite, "assertions", claimed, runs())];
    }
    let claimed = lift(claims);
    // which checks both arms can satisfy, and what one unit is, only our own exports know: they state the lift themselves
    let states_lift = claims.published_delta.iter().any(|delta| delta.pointer == OWN_LIFT);
    if let (Some(value), Some(graded)) = (claimed.lift().filter(|_| !states_lift), gradings.lift)
        && (&value - graded).abs() > claimed.rounding()
    {
        found.push(whole(ContradictionCode::BenchmarkDisagrees, "lift", decimal(&value), decimal(graded)));
    }
    found.extend(published(claims, gradings));
    found
}

fn decimal(value: &Rational) -> String {
    rational::round_half_even(value, 6).to_string()
}

/// The mean rate of a case and variant with the rounding that is in it, and the pointer of its first row.
type Cell<'c> = (Vec<Rational>, Rational, &'c str, Option<&'c str>);

fn cells(claims: &Claims, gradings: &Gradings<'_>) -> Vec<Contradiction> {
    let mut cells: BTreeMap<(&str, &str), Cell<'_>> = BTreeMap::new();
    for row in &claims.rows {
        if let Some(rate) = row.rate.value() {
            let key = (row.case.id.as_str(), row.configuration.variant());
            let name = row.case.name.as_deref();
            let cell = cells.entry(key).or_insert_with(|| (Vec::new(), Rational::default(), &row.pointer, name));
            cell.0.push(rate);
            cell.1 = row.rate.rounding().max(std::mem::take(&mut cell.1));
        }
    }
    let contradicted = |((case, variant), (rates, rounding, pointer, name)): ((&str, &str), Cell<'_>)| {
        let graded = |case: &str| gradings.rates.get(&(case.to_owned(), variant.to_owned()));
        let found = graded(case).or_else(|| graded(name?))?;
        let claimed = rational::mean(&rates)?;
        ((&claimed - found).abs() > rounding).then(|| Contradiction {
            code: ContradictionCode::BenchmarkDisagrees,
            subject: format!("{case}, {variant}"),
            claimed: decimal(&claimed),
            found: decimal(found),
            pointer: pointer.to_owned(),
        })
    };
    cells.into_iter().filter_map(contradicted).collect()
}

/// Published lifts that are not what the gradings give when they are rounded alike.
fn published(claims: &Claims, gradings: &Gradings<'_>) -> Vec<Contradiction> {
    let Some(graded) = gradings.lift else {
        return Vec::new();
    };
    let lifts = claims.published_delta.iter().filter(|delta| LIFT_METRICS.contains(&delta.metric.as_str()));
    lifts
        .filter(|delta| DeltaText::parse(&delta.text).is_some_and(|text| !text.agrees(graded, &Rational::default())))
        .map(|delta| Contradiction {
            code: ContradictionCode::BenchmarkDisagrees,
            subject: delta.metric.clone(),
            claimed: delta.text.clone(),
            found: decimal(graded),
            pointer: delta.pointer.clone(),
        })
        .collect()
}
