//! Any number of raters, not all of whom rated every item: Krippendorff's α; and Fleiss' κ for complete ratings.

use std::collections::BTreeMap;

use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{One, Signed, ToPrimitive, Zero};

use super::{CoefficientInterval, FEWEST_ITEMS};
use crate::rational::{Rational, common_denominator, from_f64, scaled, sqrt_to_f64, to_f64};
use crate::special::student_t_critical;
use crate::withheld::Withheld;

/// Pairs of different classes in the ratings, over all kinds of items.
const PAIR_BUDGET: usize = 1_000_000;
/// Terms that the limits may take.
const TERM_BUDGET: usize = 4_000_000;
/// Most classes of a ratio scale, whose differences have no common measure but a very large one.
const MOST_RATIO_CLASSES: usize = 20;

/// How far apart two ratings are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Metric {
    /// The same or not.
    Nominal,
    /// By the number of ratings between them.
    Ordinal,
    /// By their difference.
    Interval,
    /// By their difference over their sum, for scores of at least 0.
    Ratio,
}

/// Krippendorff's α, exact, with limits by the jackknife.
#[derive(Debug, Clone, PartialEq)]
pub struct Krippendorff {
    /// Items with at least two ratings; the others say nothing about agreement.
    pub items: usize,
    /// Ratings of these items.
    pub ratings: usize,
    /// At most 1; 0 when raters differ as much as ratings of different items do.
    pub value: Rational,
    /// Limits by the jackknife over items with Student's t (Tukey 1958 *Ann. Math. Stat.* 29:614). Withheld below ten items
    /// (`too_few_units`), when the coefficient does not depend on any item (`constant_deltas`), when without some item
    /// nothing varies (`no_variation_or_no_pairs`), and beyond the exact budget.
    pub limits: Result<CoefficientInterval, Withheld>,
}

/// Krippendorff's α (Krippendorff 2011, *Computing Krippendorff's Alpha-Reliability*) of the ratings of each item, missing
/// ones left out, with limits at two-sided error rate `alpha` (0 < alpha < 1).
///
/// # Errors
///
/// [`Withheld::NoVariationOrNoPairs`] when no item has two ratings or all ratings are the same,
/// [`Withheld::InvalidCounts`] for a negative rating on a ratio scale, [`Withheld::BeyondExactBudget`] for enormous
/// numbers of different ratings.
pub fn krippendorff_alpha(items: &[Vec<Rational>], metric: Metric, alpha: f64) -> Result<Krippendorff, Withheld> {
    let ratings = Ratings::new(items);
    let distances = Distances::new(metric, &ratings.classes)?;
    let coincidences = Coincidences::new(&ratings)?;
    let value = coincidences.alpha(&distances).ok_or(Withheld::NoVariationOrNoPairs)?;
    let limits = jackknife(&ratings, &coincidences, &distances, &value, alpha);
    Ok(Krippendorff { items: ratings.items(), ratings: coincidences.ratings as usize, value, limits })
}

fn jackknife(
    ratings: &Ratings,
    coincidences: &Coincidences,
    distances: &Distances,
    value: &Rational,
    alpha: f64,
) -> Result<CoefficientInterval, Withheld> {
    let items = ratings.items();
    if items < FEWEST_ITEMS {
        return Err(Withheld::TooFewUnits);
    }
    let terms = coincidences.pairs.len() + distances.terms(ratings.classes.len());
    if terms.saturating_mul(ratings.kinds.len()) > TERM_BUDGET {
        return Err(Withheld::BeyondExactBudget);
    }
    let (mut sum, mut squares) = (Rational::zero(), Rational::zero());
    for (kind, &items) in &ratings.kinds {
        let without = coincidences.without(kind).alpha(distances).ok_or(Withheld::NoVariationOrNoPairs)?;
        // Rounded, or the common denominator would grow with every kind.
        let without = from_f64(to_f64(&without)).ok_or(Withheld::BeyondExactBudget)?;
        let weight = BigInt::from(items);
        squares += &without * &without * &weight;
        sum += without * weight;
    }
    let count = BigInt::from(items);
    let deviations = squares - &sum * &sum / &count;
    if deviations.is_zero() {
        return Err(Withheld::ConstantDeltas);
    }
    let standard_error = sqrt_to_f64(&(deviations * Rational::new(&count - 1, count)));
    let critical = student_t_critical(alpha / 2.0, (items - 1) as f64);
    Ok(CoefficientInterval::around(to_f64(value), critical * standard_error))
}

/// Fleiss' κ (Fleiss 1971 *Psychol. Bull.* 76:378): every item with the same number of ratings, by whichever raters.
///
/// # Errors
///
/// [`Withheld::TooFewUnits`] without items, [`Withheld::InvalidCounts`] when items have fewer than two or unequally many
/// ratings, [`Withheld::ExpectedAgreementIsOne`] when all ratings are the same.
pub fn fleiss_kappa(items: &[Vec<Rational>]) -> Result<Rational, Withheld> {
    let raters = items.first().ok_or(Withheld::TooFewUnits)?.len();
    if raters < 2 || items.iter().any(|ratings| ratings.len() != raters) {
        return Err(Withheld::InvalidCounts);
    }
    let ratings = Ratings::new(items);
    let (mut agreeing, mut of_class) = (BigInt::zero(), vec![0_u64; ratings.classes.len()]);
    for (kind, &items) in &ratings.kinds {
        for &(class, times) in kind {
            agreeing += BigInt::from(items) * times * (times - 1);
            of_class[class] += items * times;
        }
    }
    let all = BigInt::from(items.len()) * raters;
    let observed = Rational::new(agreeing, &all * (raters - 1));
    let squares: BigInt = of_class.into_iter().map(|ratings| BigInt::from(ratings).pow(2)).sum();
    let expected = Rational::new(squares, all.pow(2));
    if expected.is_one() {
        return Err(Withheld::ExpectedAgreementIsOne);
    }
    Ok((observed - &expected) / (Rational::one() - expected))
}

/// The ratings of one item: classes in ascending order, and how often each was given.
type Kind = Vec<(usize, u64)>;

/// Items by their ratings, so that work grows with the number of different ones.
struct Ratings {
    /// The different ratings, ascending.
    classes: Vec<Rational>,
    /// How many items have the same ratings.
    kinds: BTreeMap<Kind, u64>,
}

impl Ratings {
    fn new(items: &[Vec<Rational>]) -> Self {
        let pairable = || items.iter().filter(|ratings| ratings.len() >= 2);
        let mut classes: Vec<Rational> = pairable().flatten().cloned().collect();
        classes.sort_unstable();
        classes.dedup();
        let mut kinds: BTreeMap<Kind, u64> = BTreeMap::new();
        for ratings in pairable() {
            let mut times: BTreeMap<usize, u64> = BTreeMap::new();
            for rating in ratings {
                // Every rating is one of the classes.
                let class = classes.binary_search(rating).unwrap_or_else(|place| place);
                *times.entry(class).or_default() += 1;
            }
            *kinds.entry(times.into_iter().collect()).or_default() += 1;
        }
        Self { classes, kinds }
    }

    fn items(&self) -> usize {
        self.kinds.values().sum::<u64>() as usize
    }
}

/// Squared distances of classes, as integers on any one scale: α does not depend on it.
enum Distances {
    Equal,
    /// Places on a line.
    Line(Vec<BigInt>),
    /// Places on a line that follow from the number of ratings in each class.
    Ranks,
    Table(Vec<Vec<BigInt>>),
}

impl Distances {
    fn new(metric: Metric, classes: &[Rational]) -> Result<Self, Withheld> {
        let places = || {
            let denominator = common_denominator(classes);
            classes.iter().map(|class| scaled(class, &denominator)).collect::<Vec<BigInt>>()
        };
        Ok(match metric {
            Metric::Nominal => Self::Equal,
            Metric::Ordinal => Self::Ranks,
            Metric::Interval => Self::Line(places()),
            Metric::Ratio if classes.iter().any(Signed::is_negative) => return Err(Withheld::InvalidCounts),
            Metric::Ratio if classes.len() > MOST_RATIO_CLASSES => return Err(Withheld::BeyondExactBudget),
            Metric::Ratio => Self::ratios(&places())?,
        })
    }

    fn ratios(places: &[BigInt]) -> Result<Self, Withheld> {
        if places.iter().any(|place| place.to_u32().is_none()) {
            return Err(Withheld::BeyondExactBudget);
        }
        let ratio = |one: &BigInt, other: &BigInt| {
            if one == other { Rational::zero() } else { Rational::new(one - other, one + other).pow(2) }
        };
        let ratios: Vec<Rational> =
            places.iter().flat_map(|one| places.iter().map(move |other| ratio(one, other))).collect();
        let denominator = common_denominator(&ratios);
        let table: Vec<BigInt> = ratios.iter().map(|ratio| scaled(ratio, &denominator)).collect();
        Ok(Self::Table(table.chunks(places.len().max(1)).map(<[BigInt]>::to_vec).collect()))
    }

    /// Terms of the expected disagreement.
    fn terms(&self, classes: usize) -> usize {
        if matches!(self, Self::Table(_)) { classes * classes } else { classes }
    }
}

/// How often two different classes meet in one item, every item weighing as much as it has ratings.
struct Coincidences {
    ratings: u64,
    /// Ratings in each class.
    of_class: Vec<u64>,
    /// Meetings of a class with a higher one, times `scale`.
    pairs: BTreeMap<(usize, usize), BigInt>,
    /// A multiple of the number of ratings of every item, less one.
    scale: BigInt,
}

impl Coincidences {
    fn new(ratings: &Ratings) -> Result<Self, Withheld> {
        let pairs: usize = ratings.kinds.keys().map(|kind| kind.len() * kind.len().saturating_sub(1) / 2).sum();
        if pairs > PAIR_BUDGET {
            return Err(Withheld::BeyondExactBudget);
        }
        let mut sizes: Vec<u64> = ratings.kinds.keys().map(size).collect();
        sizes.sort_unstable();
        sizes.dedup();
        let scale = sizes.into_iter().fold(BigInt::one(), |scale, size| scale.lcm(&BigInt::from(size - 1)));
        let of_class = vec![0; ratings.classes.len()];
        let mut all = Self { ratings: 0, of_class, pairs: BTreeMap::new(), scale };
        for (kind, &items) in &ratings.kinds {
            all.ratings += size(kind) * items;
            for &(class, times) in kind {
                all.of_class[class] += times * items;
            }
            for (pair, weight) in all.meetings(kind) {
                *all.pairs.entry(pair).or_default() += weight * items;
            }
        }
        Ok(all)
    }

    fn meetings(&self, kind: &Kind) -> Vec<((usize, usize), BigInt)> {
        let weight = &self.scale / (size(kind) - 1);
        let mut meetings = Vec::new();
        for (place, &(class, times)) in kind.iter().enumerate() {
            for &(other, other_times) in &kind[place + 1..] {
                meetings.push(((class, other), &weight * times * other_times));
            }
        }
        meetings
    }

    /// The same with one item of this kind less.
    fn without(&self, kind: &Kind) -> Self {
        let mut rest = Self {
            ratings: self.ratings - size(kind),
            of_class: self.of_class.clone(),
            pairs: self.pairs.clone(),
            scale: self.scale.clone(),
        };
        for &(class, times) in kind {
            rest.of_class[class] -= times;
        }
        for (pair, weight) in self.meetings(kind) {
            *rest.pairs.entry(pair).or_default() -= weight;
        }
        rest
    }

    /// 1 − observed over expected disagreement; `None` when none is expected.
    fn alpha(&self, distances: &Distances) -> Option<Rational> {
        let (observed, expected) = match distances {
            Distances::Equal => {
                let squares: BigInt = self.of_class.iter().map(|&ratings| BigInt::from(ratings).pow(2)).sum();
                let expected = (BigInt::from(self.ratings).pow(2) - squares) / 2;
                (self.pairs.values().sum(), expected)
            }
            Distances::Line(places) => self.on_a_line(places),
            Distances::Ranks => self.on_a_line(&self.ranks()),
            Distances::Table(table) => {
                let observed = self.pairs.iter().map(|(&(one, other), weight)| &table[one][other] * weight).sum();
                let mut expected = BigInt::zero();
                for (one, row) in table.iter().enumerate() {
                    for (other, distance) in row.iter().enumerate().skip(one + 1) {
                        expected += distance * self.of_class[one] * self.of_class[other];
                    }
                }
                (observed, expected)
            }
        };
        let expected = expected * &self.scale;
        let others = BigInt::from(self.ratings) - 1;
        (!expected.is_zero()).then(|| Rational::one() - Rational::new(observed * others, expected))
    }

    /// Observed and expected disagreement of classes at these places.
    fn on_a_line(&self, places: &[BigInt]) -> (BigInt, BigInt) {
        let observed = self.pairs.iter().map(|(&(one, other), weight)| (&places[one] - &places[other]).pow(2) * weight);
        let (mut sum, mut squares) = (BigInt::zero(), BigInt::zero());
        for (place, &ratings) in places.iter().zip(&self.of_class) {
            squares += place * place * ratings;
            sum += place * ratings;
        }
        // Over all pairs the squared differences add up to this.
        (observed.sum(), squares * self.ratings - &sum * &sum)
    }

    /// Twice the mean rank of the ratings of each class.
    fn ranks(&self) -> Vec<BigInt> {
        let mut below = 0_u64;
        self.of_class
            .iter()
            .map(|&ratings| {
                let rank = BigInt::from(below) * 2 + ratings;
                below += ratings;
                rank
            })
            .collect()
    }
}

/// Ratings of an item of this kind.
fn size(kind: &Kind) -> u64 {
    kind.iter().map(|&(_, times)| times).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rational::rate;

    fn items(ratings: &[&[u64]]) -> Vec<Vec<Rational>> {
        ratings.iter().map(|item| item.iter().map(|&rating| rate(rating, 1)).collect()).collect()
    }

    #[test]
    fn what_has_no_answer_is_withheld() {
        let alpha = |items: &[Vec<Rational>], metric| krippendorff_alpha(items, metric, 0.05).err();
        let none = Some(Withheld::NoVariationOrNoPairs);
        for metric in [Metric::Nominal, Metric::Ordinal, Metric::Interval, Metric::Ratio] {
            assert_eq!(alpha(&[], metric), none);
            assert_eq!(alpha(&items(&[&[1], &[2], &[]]), metric), none);
        }
        assert_eq!(alpha(&[vec![-rate(1, 2), rate(1, 2)]], Metric::Ratio), Some(Withheld::InvalidCounts));
        let many: Vec<u64> = (0..3_000).collect();
        assert_eq!(alpha(&items(&[&many]), Metric::Interval), Some(Withheld::BeyondExactBudget));
        assert_eq!(alpha(&items(&[&many[..21]]), Metric::Ratio), Some(Withheld::BeyondExactBudget));
    }

    /// Ten items rated alike by two, nine of them 0 and one 1: without that one nothing varies. With two of them α is 1
    /// whichever item is left out.
    #[test]
    fn limits_need_a_spread() {
        let mut ratings: Vec<&[u64]> = vec![&[0, 0]; 9];
        ratings.push(&[1, 1]);
        let limits = |ratings: &[&[u64]]| krippendorff_alpha(&items(ratings), Metric::Nominal, 0.05).unwrap().limits;
        assert_eq!(limits(&ratings), Err(Withheld::NoVariationOrNoPairs));
        assert_eq!(limits(&ratings[1..]), Err(Withheld::TooFewUnits));
        ratings.push(&[1, 1]);
        assert_eq!(limits(&ratings), Err(Withheld::ConstantDeltas));
    }

    /// Eight items agreed on 0, eight on 1, four split, by two raters: α = 1 − 39·4/(20·20). The jackknife by hand: without
    /// an agreed item 1 − 37·4/(18·20), without a split one 1 − 37·3/(19·19); their squared deviations times 19/20.
    #[test]
    fn limits_by_hand() {
        let mut ratings: Vec<&[u64]> = vec![&[0, 0]; 8];
        ratings.extend([&[1, 1][..]; 8]);
        ratings.extend([&[0, 1][..]; 4]);
        let result = krippendorff_alpha(&items(&ratings), Metric::Nominal, 0.05).unwrap();
        assert_eq!((result.items, result.ratings, result.value.clone()), (20, 40, rate(244, 400)));
        let (agreed, split) = (1.0 - 148.0 / 360.0, 1.0 - 111.0 / 361.0);
        let mean = (16.0 * agreed + 4.0 * split) / 20.0;
        let deviations = 16.0 * (agreed - mean) * (agreed - mean) + 4.0 * (split - mean) * (split - mean);
        let half_width = 2.093_024_054_408_263 * (deviations * 19.0 / 20.0_f64).sqrt();
        let limits = result.limits.unwrap();
        assert!((limits.lower - (0.61 - half_width)).abs() < 1e-12, "{limits:?}");
        assert!((limits.upper - (0.61 + half_width)).abs() < 1e-12, "{limits:?}");
    }

    #[test]
    fn fleiss_needs_complete_ratings() {
        assert_eq!(fleiss_kappa(&[]), Err(Withheld::TooFewUnits));
        assert_eq!(fleiss_kappa(&items(&[&[1]])), Err(Withheld::InvalidCounts));
        assert_eq!(fleiss_kappa(&items(&[&[1, 1], &[1]])), Err(Withheld::InvalidCounts));
        assert_eq!(fleiss_kappa(&items(&[&[1, 1], &[1, 1]])), Err(Withheld::ExpectedAgreementIsOne));
    }
}
