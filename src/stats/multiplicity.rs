//! Several hypotheses at once: adjusted p-values for the families of tests a report shows together.
//!
//! A missing p (no test was possible) is not part of the family and stays missing. Adjusted values come back in
//! input order, are at most 1 and never below the raw p; equal p-values get equal adjusted values.

/// Holm's step-down adjustment (Holm 1979, *Scand. J. Stat.* 6:65), which controls the chance of any false finding.
#[must_use]
pub fn holm(p_values: &[Option<f64>]) -> Vec<Option<f64>> {
    let order = ascending(p_values);
    let count = order.len();
    let mut adjusted = vec![None; p_values.len()];
    let mut largest = 0.0_f64;
    for (rank, &(index, p)) in order.iter().enumerate() {
        largest = largest.max(((count - rank) as f64 * p).min(1.0));
        adjusted[index] = Some(largest);
    }
    adjusted
}

/// Benjamini and Hochberg's adjustment (1995, *JRSS-B* 57:289), which controls the false discovery rate of
/// independent tests.
#[must_use]
pub fn benjamini_hochberg(p_values: &[Option<f64>]) -> Vec<Option<f64>> {
    step_up(p_values, 1.0)
}

/// Benjamini and Yekutieli's adjustment (2001, *Ann. Stat.* 29:1165), valid for overlapping groups of cases.
#[must_use]
pub fn benjamini_yekutieli(p_values: &[Option<f64>]) -> Vec<Option<f64>> {
    let count = p_values.iter().flatten().count();
    // Smallest terms first, for the last digit.
    let harmonic: f64 = (1..=count).rev().map(|rank| 1.0 / rank as f64).sum();
    step_up(p_values, harmonic)
}

/// Which hypotheses Tarone's screening rejects (1990, *Biometrics* 46:515): hypotheses whose smallest attainable p
/// cannot reach the corrected level leave the family, so they cost the others nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tarone {
    /// The divisor of alpha: the smallest k with at most k hypotheses whose floor reaches alpha / k.
    pub k: usize,
    /// Whether each hypothesis is rejected, in input order.
    pub reject: Vec<bool>,
}

/// Tarone's screening of `(p, floor)` pairs at level `alpha`.
#[must_use]
pub fn tarone(tests: &[(f64, f64)], alpha: f64) -> Tarone {
    let reachable = |k: usize| tests.iter().filter(|(_, floor)| *floor <= alpha / k as f64).count();
    let k = (1..=tests.len()).find(|&k| reachable(k) <= k).unwrap_or(1);
    let level = alpha / k as f64;
    Tarone { k, reject: tests.iter().map(|&(p, floor)| floor <= level && p <= level).collect() }
}

fn step_up(p_values: &[Option<f64>], factor: f64) -> Vec<Option<f64>> {
    let order = ascending(p_values);
    let count = order.len();
    let mut adjusted = vec![None; p_values.len()];
    let mut smallest = 1.0_f64;
    for (rank, &(index, p)) in order.iter().enumerate().rev() {
        let ratio = count as f64 / (rank + 1) as f64;
        smallest = smallest.min(ratio * factor * p);
        adjusted[index] = Some(smallest);
    }
    adjusted
}

fn ascending(p_values: &[Option<f64>]) -> Vec<(usize, f64)> {
    let mut order: Vec<(usize, f64)> =
        p_values.iter().enumerate().filter_map(|(index, p)| p.map(|p| (index, p))).collect();
    order.sort_by(|left, right| left.1.total_cmp(&right.1));
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_p_is_not_in_the_family() {
        assert_eq!(holm(&[None, Some(0.02), Some(0.5)]), vec![None, Some(0.04), Some(0.5)]);
        assert_eq!(benjamini_hochberg(&[Some(0.02), None]), vec![Some(0.02), None]);
    }
}
