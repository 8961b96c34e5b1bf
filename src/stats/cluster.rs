//! The mean over units that come in clusters of unequal size, such as the runs of cases or the cases of families.
//!
//! Every unit weighs the same here, and clusters are what is independent. Of the variances by residual sums, CR1 is the
//! customary one and CR2 the one to report: it is unbiased when units are alike, and its degrees of freedom fall when one
//! cluster holds most of the units (Cameron & Miller 2015 *J. Hum. Resour.* 50:317; Bell & McCaffrey 2002 *Surv. Methodol.*
//! 28:169; Pustejovsky & Tipton 2018 *J. Bus. Econ. Stat.* 36:672). For a mean both have a closed form, computed here on
//! rationals.

use std::collections::BTreeMap;

use num_bigint::BigInt;
use num_traits::Zero;

use crate::rational::{Rational, common_denominator, mean, scaled, sqrt_to_f64, squared_deviations, sum, to_f64};
use crate::special::student_t_critical;
use crate::withheld::Withheld;

/// The mean over all units with its uncertainty.
#[derive(Debug, Clone, PartialEq)]
pub struct ClusteredMean {
    /// Clusters with units.
    pub clusters: usize,
    /// Units in them.
    pub units: usize,
    /// Two-sided error rate, so the confidence is 1 − alpha.
    pub alpha: f64,
    /// Mean over all units, each weighing the same.
    pub mean: Rational,
    /// Mean of the cluster means, each cluster weighing the same.
    pub cluster_mean: Rational,
    /// Standard error of `cluster_mean`: the clusters are its units.
    pub cluster_mean_standard_error: f64,
    /// Standard error of `mean` without a correction for few clusters; too small.
    pub standard_error_uncorrected: f64,
    /// Corrected by clusters/(clusters − 1), with clusters − 1 degrees of freedom.
    pub cr1: ClusterInterval,
    /// Corrected by the share of every cluster, with Satterthwaite's degrees of freedom. The one to report.
    pub cr2: ClusterInterval,
}

impl ClusteredMean {
    /// Whether one cluster decides so much that its interval says little: fewer than two degrees of freedom.
    #[must_use]
    pub fn has_dominant_cluster(&self) -> bool {
        self.cr2.degrees_of_freedom < 2.0
    }
}

/// A standard error of the mean and the limits by Student's t.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClusterInterval {
    /// Standard error of the mean over units.
    pub standard_error: f64,
    /// At least 1, not always whole.
    pub degrees_of_freedom: f64,
    /// Lower limit, not clipped.
    pub lower: f64,
    /// Upper limit, not clipped.
    pub upper: f64,
}

/// The mean of the values of all `clusters` at the two-sided error rate `alpha` (0 < alpha < 1). Clusters without values
/// are left out.
///
/// # Errors
///
/// [`Withheld::TooFewClusters`] for fewer than two clusters, [`Withheld::ConstantDeltas`] when every cluster has the same
/// mean.
pub fn clustered_mean(clusters: &[Vec<Rational>], alpha: &Rational) -> Result<ClusteredMean, Withheld> {
    let filled: Vec<&Vec<Rational>> = clusters.iter().filter(|cluster| !cluster.is_empty()).collect();
    if filled.len() < 2 {
        return Err(Withheld::TooFewClusters);
    }
    let means: Vec<Rational> = filled.iter().filter_map(|cluster| mean(cluster)).collect();
    let spread = squared_deviations(&means);
    let sizes = Sizes::new(&filled);
    let uncorrected = sizes.variance(&|_| Rational::from_integer(1.into()));
    if uncorrected.is_zero() {
        return Err(Withheld::ConstantDeltas);
    }
    let count = BigInt::from(filled.len());
    let one_less: BigInt = &count - 1;
    let alpha = to_f64(alpha);
    let center = to_f64(&sizes.mean);
    let interval = |variance: &Rational, degrees_of_freedom: f64| {
        let standard_error = sqrt_to_f64(variance);
        let half_width = student_t_critical(alpha / 2.0, degrees_of_freedom) * standard_error;
        ClusterInterval { standard_error, degrees_of_freedom, lower: center - half_width, upper: center + half_width }
    };
    let corrected = &uncorrected * Rational::new(count.clone(), one_less.clone());
    Ok(ClusteredMean {
        clusters: filled.len(),
        units: sizes.units,
        alpha,
        cluster_mean: sum(&means) / &count,
        cluster_mean_standard_error: sqrt_to_f64(&(spread / (count * one_less))),
        standard_error_uncorrected: sqrt_to_f64(&uncorrected),
        cr1: interval(&corrected, (filled.len() - 1) as f64),
        cr2: interval(&sizes.variance(&|share| share.recip()), to_f64(&sizes.degrees_of_freedom())),
        mean: sizes.mean,
    })
}

/// What clusters of one size have in common, so that work grows with the number of sizes.
struct Group {
    clusters: usize,
    /// The sum of the squared residual sums of the clusters.
    squares: Rational,
}

struct Sizes {
    units: usize,
    mean: Rational,
    groups: BTreeMap<usize, Group>,
}

impl Sizes {
    fn new(clusters: &[&Vec<Rational>]) -> Self {
        let units: usize = clusters.iter().map(|cluster| cluster.len()).sum();
        let sums: Vec<Rational> = clusters.iter().map(|cluster| sum(cluster)).collect();
        let denominator = common_denominator(&sums);
        let sums: Vec<BigInt> = sums.iter().map(|sum| scaled(sum, &denominator)).collect();
        let total: BigInt = sums.iter().sum();
        let count = BigInt::from(units);
        let mut squares: BTreeMap<usize, (usize, BigInt)> = BTreeMap::new();
        for (cluster, sum) in clusters.iter().zip(&sums) {
            // denominator · units times the sum of the residuals
            let residual = sum * &count - &total * cluster.len();
            let (clusters, squares) = squares.entry(cluster.len()).or_default();
            *clusters += 1;
            *squares += &residual * &residual;
        }
        let scale = (&denominator * &count).pow(2);
        let group = |(clusters, squares)| Group { clusters, squares: Rational::new(squares, scale.clone()) };
        let groups = squares.into_iter().map(|(size, of_size)| (size, group(of_size))).collect();
        Self { units, mean: Rational::new(total, denominator * count), groups }
    }

    /// Of a cluster of this size: the share of the units that lie in other clusters.
    fn share_of_others(&self, size: usize) -> Rational {
        Rational::new((self.units - size).into(), self.units.into())
    }

    /// The sum of the squared residual sums over the squared number of units, each weighted by its share of others.
    fn variance(&self, weight: &dyn Fn(Rational) -> Rational) -> Rational {
        let weighted = self.groups.iter().map(|(&size, group)| &group.squares * weight(self.share_of_others(size)));
        weighted.sum::<Rational>() / BigInt::from(self.units).pow(2)
    }

    /// 1/(Σπ² + Σ_{g≠h} π_g²π_h²/((1 − π_g)(1 − π_h))) with π the shares of the clusters.
    fn degrees_of_freedom(&self) -> Rational {
        let (mut squares, mut terms, mut squared_terms) = (Rational::zero(), Rational::zero(), Rational::zero());
        for (&size, group) in &self.groups {
            let square = Rational::new(size.into(), self.units.into()).pow(2);
            let term = &square / self.share_of_others(size);
            let clusters = BigInt::from(group.clusters);
            squares += square * &clusters;
            squared_terms += &term * &term * &clusters;
            terms += term * clusters;
        }
        (squares + &terms * &terms - squared_terms).recip()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rational::rate;

    #[test]
    fn one_cluster_says_nothing_about_others() {
        let alpha = rate(1, 20);
        let cluster = vec![rate(1, 2), rate(1, 4)];
        assert_eq!(clustered_mean(&[], &alpha), Err(Withheld::TooFewClusters));
        assert_eq!(clustered_mean(&[cluster.clone(), Vec::new()], &alpha), Err(Withheld::TooFewClusters));
        assert_eq!(clustered_mean(&[cluster.clone(), cluster], &alpha), Err(Withheld::ConstantDeltas));
    }

    /// Two clusters of 2 and 1 units: residual sums −2/3 and 2/3, so CR0 = 2·(4/9)/9, CR1 twice that, and CR2 weighs
    /// the squares by 3 and 3/2. With two clusters the degrees of freedom are 1 whatever their sizes:
    /// 4/9 + 1/9 + 2·(4/9·3)(1/9·3/2) = 1.
    #[test]
    fn two_clusters_by_hand() {
        let result = clustered_mean(&[vec![rate(0, 1), rate(0, 1)], vec![rate(1, 1)]], &rate(1, 20)).unwrap();
        assert_eq!((result.mean.clone(), result.cluster_mean.clone()), (rate(1, 3), rate(1, 2)));
        assert_eq!(result.standard_error_uncorrected, sqrt_to_f64(&rate(8, 81)));
        assert_eq!(result.cr1.standard_error, sqrt_to_f64(&rate(16, 81)));
        assert_eq!(result.cr2.standard_error, sqrt_to_f64(&rate(2, 9)));
        assert_eq!((result.cr2.degrees_of_freedom, result.has_dominant_cluster()), (1.0, true));
    }
}
