//! How far raters agree: two raters on one table, or any number of them with gaps.
//!
//! Items are the units. Several ratings of one item by the same rater are not more items: average them first.

mod many_raters;
mod two_raters;

pub use self::many_raters::{Krippendorff, Metric, fleiss_kappa, krippendorff_alpha};
pub use self::two_raters::{AgreementTable, ChanceCorrected, Weights};

/// Fewest items for which large-sample limits of a coefficient are given.
const FEWEST_ITEMS: usize = 10;

/// Two-sided limits of a coefficient of agreement, the upper one cut at 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CoefficientInterval {
    /// Lower limit; may lie below −1.
    pub lower: f64,
    /// Upper limit, at most 1.
    pub upper: f64,
}

impl CoefficientInterval {
    fn around(center: f64, half_width: f64) -> Self {
        Self { lower: center - half_width, upper: (center + half_width).min(1.0) }
    }
}
