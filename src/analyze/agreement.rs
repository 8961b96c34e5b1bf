//! How far two graders of the same outputs agree: the one whose verdicts were stored, and the checks that were made anew.

use skill_lift_stats::Withheld;
use skill_lift_stats::agreement::{AgreementTable, ChanceCorrected, Weights};
use skill_lift_stats::proportion::ShareInterval;
use skill_lift_stats::rational::{self, Rational};

/// The verdicts of two graders on the same checks of the same runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TwoGraders {
    /// Both say that it holds.
    pub both_pass: u64,
    /// Only the first says so.
    pub first_only: u64,
    /// Only the second says so.
    pub second_only: u64,
    /// Both say that it does not hold.
    pub both_fail: u64,
}

/// Agreement, and what of it is more than chance. They are read together: κ is near 0 where nearly all verdicts are alike.
#[derive(Debug)]
pub struct GraderAgreement {
    /// Verdicts of both.
    pub n: u64,
    /// Share of them that agree.
    pub observed: Rational,
    /// Its limits (Wilson).
    pub observed_limits: Result<ShareInterval, Withheld>,
    /// Cohen's κ.
    pub kappa: Result<ChanceCorrected, Withheld>,
    /// Gwet's AC1.
    pub ac1: Result<ChanceCorrected, Withheld>,
    /// κ as it would be if both classes were equally frequent.
    pub pabak: Result<Rational, Withheld>,
    /// Of all verdicts that a check holds, the share to which the other grader agrees; `None` without any.
    pub positive: Option<Rational>,
    /// The same of verdicts that it does not hold.
    pub negative: Option<Rational>,
}

impl GraderAgreement {
    /// Of the verdicts of two graders, at the two-sided error rate of the limits.
    ///
    /// # Errors
    /// [`Withheld::TooFewUnits`] without verdicts.
    pub fn of(graders: &TwoGraders, alpha: &Rational) -> Result<Self, Withheld> {
        let TwoGraders { both_pass, first_only, second_only, both_fail } = *graders;
        let table = AgreementTable::new(vec![vec![both_pass, first_only], vec![second_only, both_fail]])?;
        let alpha = rational::to_f64(alpha);
        let mut specific = table.specific_agreement().into_iter();
        Ok(Self {
            n: table.n(),
            observed: table.observed(),
            observed_limits: table.observed_limits(alpha),
            kappa: table.kappa(Weights::Identity, alpha),
            ac1: table.ac1(alpha),
            pabak: table.pabak(),
            positive: specific.next().flatten(),
            negative: specific.next().flatten(),
        })
    }
}
