//! The benchmark file beside stored verdicts: what it claims, and where the verdicts say something else. The verdicts
//! count; a claim is shown and never used.

use std::collections::{BTreeMap, BTreeSet};

use skill_lift_stats::rational::{self, Rational};

use super::table::RunTable;
use crate::runs::claims::{self, Claims, Contradiction, Gradings};

/// A benchmark file that was held against the verdicts of its tree.
#[derive(Debug)]
pub struct CheckedBenchmark {
    /// The file, below the root of the tree.
    pub file: String,
    /// What it claims, or why it cannot be read as a benchmark.
    pub claims: Result<Claims, String>,
    /// Where the verdicts say something else.
    pub contradictions: Vec<Contradiction>,
}

impl CheckedBenchmark {
    /// Holds claims against the graded runs of a tree.
    ///
    /// `names` are the names of each case, by position: its id, and what its tree calls it. `lift` is the mean over
    /// cases; `texts` are those of all stored verdicts.
    pub fn of(
        file: String,
        claims: Result<Claims, String>,
        table: &RunTable,
        names: &[Vec<String>],
        lift: Option<&Rational>,
        texts: &BTreeSet<String>,
    ) -> Self {
        let (rates, cells) = rates(table, names);
        let gradings = Gradings { rates: &rates, cells, lift, texts };
        let contradictions = claims.as_ref().map(|claims| claims::check(claims, &gradings)).unwrap_or_default();
        Self { file, claims, contradictions }
    }
}

/// Mean rate of the scored runs of each case and arm, under every name of the case; and how many there are.
fn rates(table: &RunTable, names: &[Vec<String>]) -> (BTreeMap<(String, String), Rational>, usize) {
    let mut runs: BTreeMap<(u32, u32), Vec<Rational>> = BTreeMap::new();
    for run in table.runs.iter().filter(|run| run.scorable) {
        if let Some(rate) = run.objective {
            runs.entry((run.order.case, run.order.variant)).or_default().push(rate.value());
        }
    }
    let cells = runs.len();
    let mut rates = BTreeMap::new();
    for ((case, variant), values) in runs {
        let Some(mean) = rational::mean(&values) else { continue };
        for name in names.get(case as usize).into_iter().flatten() {
            rates.insert((name.clone(), table.variant(variant).to_owned()), mean.clone());
        }
    }
    (rates, cells)
}
