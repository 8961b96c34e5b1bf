//! The mean lift over several skills, when each skill has its own true lift.
//!
//! Variance between skills by DerSimonian & Laird 1986 (*Control. Clin. Trials* 7:177), standard error by Hartung &
//! Knapp 2001 (*Stat. Med.* 20:3875) with k − 1 degrees of freedom (IntHout, Ioannidis & Borm 2014 *BMC Med. Res.
//! Methodol.* 14:25), never below the plain one, so that equal lifts give no zero width (Röver, Knapp & Friede 2015 *BMC
//! Med. Res. Methodol.* 15:99). Sums are exact, so the order of the skills changes nothing.

use crate::describe::exact_sum;
use crate::rational::{Rational, from_f64, sum, to_f64};
use crate::special::student_t_critical;
use crate::withheld::Withheld;

/// The lift of one skill.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SkillEffect {
    /// Its mean delta.
    pub lift: f64,
    /// The standard error of it, above 0; that of the padded t interval never is 0.
    pub standard_error: f64,
}

/// The mean over skills with its uncertainty.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RandomEffects {
    /// Skills.
    pub n: usize,
    /// Two-sided error rate, so the confidence is 1 − alpha.
    pub alpha: f64,
    /// Cochran's Q: the weighted squared deviations from the fixed-effect mean.
    pub q: f64,
    /// Share of Q beyond what the standard errors explain, in 0..=1 (Higgins & Thompson 2002 *Stat. Med.* 21:1539).
    pub i_squared: f64,
    /// Variance of the true lifts between skills.
    pub tau_squared: f64,
    /// The mean lift.
    pub mean: f64,
    /// The standard error from the weights alone.
    pub standard_error_plain: f64,
    /// The standard error by Hartung and Knapp.
    pub standard_error_hartung_knapp: f64,
    /// The larger one, which the limits use.
    pub standard_error: f64,
    /// Skills − 1.
    pub degrees_of_freedom: usize,
    /// The t quantile used.
    pub critical: f64,
    /// Lower limit of the mean lift, not clipped.
    pub lower: f64,
    /// Upper limit of the mean lift, not clipped.
    pub upper: f64,
}

impl RandomEffects {
    /// Standard deviation of the true lifts between skills.
    #[must_use]
    pub fn tau(&self) -> f64 {
        self.tau_squared.sqrt()
    }
}

/// The random-effects mean at the two-sided error rate `alpha` (0 < alpha < 1).
///
/// # Errors
///
/// [`Withheld::TooFewSkills`] for fewer than two skills, [`Withheld::InvalidCounts`] for a lift outside −1..=1 or a
/// standard error outside 1e-9..=1e9, which no suite can have.
pub fn random_effects(skills: &[SkillEffect], alpha: &Rational) -> Result<RandomEffects, Withheld> {
    let n = skills.len();
    if n < 2 {
        return Err(Withheld::TooFewSkills);
    }
    let possible =
        |skill: &SkillEffect| (-1.0..=1.0).contains(&skill.lift) && (1e-9..=1e9).contains(&skill.standard_error);
    if !skills.iter().all(possible) {
        return Err(Withheld::InvalidCounts);
    }
    let freedom = (n - 1) as f64;
    let variances: Vec<f64> = skills.iter().map(|skill| skill.standard_error * skill.standard_error).collect();
    let fixed = Weighted::new(skills, variances.iter().map(|variance| 1.0 / variance));
    let q = fixed.squared_deviations(skills);
    let tau_squared = ((q - freedom) / shared_weight(&fixed.weights)).max(0.0);
    let random = Weighted::new(skills, variances.iter().map(|variance| 1.0 / (variance + tau_squared)));
    let standard_error_plain = random.total.sqrt().recip();
    let standard_error_hartung_knapp = (random.squared_deviations(skills) / (freedom * random.total)).sqrt();
    let standard_error = standard_error_plain.max(standard_error_hartung_knapp);
    let alpha = to_f64(alpha);
    let critical = student_t_critical(alpha / 2.0, freedom);
    Ok(RandomEffects {
        n,
        alpha,
        q,
        i_squared: if q > freedom { (q - freedom) / q } else { 0.0 },
        tau_squared,
        mean: random.mean,
        standard_error_plain,
        standard_error_hartung_knapp,
        standard_error,
        degrees_of_freedom: n - 1,
        critical,
        lower: random.mean - critical * standard_error,
        upper: random.mean + critical * standard_error,
    })
}

/// A weighted mean of the lifts.
struct Weighted {
    weights: Vec<f64>,
    total: f64,
    mean: f64,
}

impl Weighted {
    fn new(skills: &[SkillEffect], weights: impl Iterator<Item = f64>) -> Self {
        let weights: Vec<f64> = weights.collect();
        let whole = total(weights.iter().copied());
        let products = total(skills.iter().zip(&weights).map(|(skill, weight)| weight * skill.lift));
        Self { weights, total: whole, mean: products / whole }
    }

    fn squared_deviations(&self, skills: &[SkillEffect]) -> f64 {
        let deviations = skills.iter().map(|skill| skill.lift - self.mean);
        total(deviations.zip(&self.weights).map(|(deviation, weight)| weight * (deviation * deviation)))
    }
}

/// Σw − Σw²/Σw, which is above 0 for two weights or more but lost to rounding when one outweighs the others.
fn shared_weight(weights: &[f64]) -> f64 {
    let exact: Vec<Rational> = weights.iter().filter_map(|&weight| from_f64(weight)).collect();
    let squares: Vec<Rational> = exact.iter().map(|weight| weight * weight).collect();
    let total = sum(&exact);
    to_f64(&((&total * &total - sum(&squares)) / total))
}

/// The sum of the values, exact and rounded once.
fn total(values: impl Iterator<Item = f64>) -> f64 {
    to_f64(&exact_sum(&values.collect::<Vec<_>>()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rational::rate;

    fn skill(lift: f64, standard_error: f64) -> SkillEffect {
        SkillEffect { lift, standard_error }
    }

    #[test]
    fn one_skill_is_no_family() {
        assert_eq!(random_effects(&[], &rate(1, 20)), Err(Withheld::TooFewSkills));
        assert_eq!(random_effects(&[skill(0.1, 0.1)], &rate(1, 20)), Err(Withheld::TooFewSkills));
    }

    #[test]
    fn impossible_figures_are_withheld() {
        for odd in [skill(f64::NAN, 0.1), skill(1.5, 0.1), skill(0.1, 0.0), skill(0.1, f64::INFINITY)] {
            assert_eq!(random_effects(&[skill(0.1, 0.1), odd], &rate(1, 20)), Err(Withheld::InvalidCounts));
        }
    }

    #[test]
    fn one_skill_that_outweighs_the_other_gives_numbers() {
        // Weights 10^18 and 10^−18: Q ≈ 10^−18·0.8², far below its one degree of freedom.
        let result = random_effects(&[skill(-0.4, 1e-9), skill(0.4, 1e9)], &rate(1, 20)).unwrap();
        assert!(result.tau_squared == 0.0 && (result.mean + 0.4).abs() < 1e-15, "{result:?}");
        // Two exact skills: tau² is about half of 0.8², and the mean lies in the middle.
        let result = random_effects(&[skill(-0.4, 1e-9), skill(0.4, 1e-9)], &rate(1, 20)).unwrap();
        assert!((result.tau_squared - 0.32).abs() < 1e-12 && result.mean.abs() < 1e-15);
        // Q = 0.8² against weights 10^18 and 1 is below 1 too; at 1.2² it is above: tau² = (1.44 − 1)/2.
        let result = random_effects(&[skill(-0.6, 1e-9), skill(0.6, 1.0)], &rate(1, 20)).unwrap();
        assert!((result.tau_squared - 0.22).abs() < 1e-12, "{result:?}");
    }

    #[test]
    fn two_equal_skills_have_the_plain_width() {
        // Weights 100 each: se = 1/√200, and t(0.975, 1) = 12.706…
        let result = random_effects(&[skill(0.25, 0.1), skill(0.25, 0.1)], &rate(1, 20)).unwrap();
        assert_eq!((result.q, result.tau(), result.i_squared, result.mean), (0.0, 0.0, 0.0, 0.25));
        assert!((result.standard_error - 200.0_f64.sqrt().recip()).abs() < 1e-16);
        assert!((result.upper - 0.25 - 12.706_204_736_174_7 * result.standard_error).abs() < 1e-12);
    }
}
