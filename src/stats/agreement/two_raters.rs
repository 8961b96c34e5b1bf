//! Two raters who put every item into one of the same classes.

use num_bigint::BigInt;
use num_traits::{One, Zero};

use super::{CoefficientInterval, FEWEST_ITEMS};
use crate::normal::normal_critical;
use crate::proportion::{ShareInterval, wilson};
use crate::rational::{Rational, sqrt_to_f64, to_f64};
use crate::special::student_t_critical;
use crate::withheld::Withheld;

/// How many items the first rater put in class i and the second in class j. Agreement, κ, AC1 and PABAK belong together:
/// when nearly all items are of one class κ is near 0 although the raters hardly ever differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgreementTable {
    counts: Vec<Vec<u64>>,
    /// Items per class of the first rater, then of the second.
    margins: [Vec<u64>; 2],
    n: u64,
}

/// What a disagreement counts: weights of agreement between class i and class j of q.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Weights {
    /// 1 on the diagonal, else 0: classes without an order.
    Identity,
    /// 1 − |i − j|/(q − 1) (Cohen 1968 *Psychol. Bull.* 70:213).
    Linear,
    /// 1 − (i − j)²/(q − 1)² (Fleiss & Cohen 1973 *Educ. Psychol. Meas.* 33:613).
    Quadratic,
}

/// A coefficient of agreement beyond chance, exact, with its uncertainty.
#[derive(Debug, Clone, PartialEq)]
pub struct ChanceCorrected {
    /// At most 1; 0 when agreement is that of chance.
    pub value: Rational,
    /// Its standard error; 0 when the raters agree on every item. Withheld with one item where the formula needs two.
    pub standard_error: Result<f64, Withheld>,
    /// Withheld for too few items (`too_few_units`).
    pub limits: Result<CoefficientInterval, Withheld>,
}

impl AgreementTable {
    /// Takes the counts row by row, a row per class of the first rater.
    ///
    /// # Errors
    ///
    /// [`Withheld::InvalidCounts`] for a table that is not square or overflows, [`Withheld::TooFewUnits`] without items.
    pub fn new(counts: Vec<Vec<u64>>) -> Result<Self, Withheld> {
        let classes = counts.len();
        if counts.iter().any(|row| row.len() != classes) {
            return Err(Withheld::InvalidCounts);
        }
        let total = counts.iter().flatten().try_fold(0_u64, |total, &items| total.checked_add(items));
        let n = total.ok_or(Withheld::InvalidCounts)?;
        if n == 0 {
            return Err(Withheld::TooFewUnits);
        }
        // No part of the table exceeds its whole.
        let rows = counts.iter().map(|row| row.iter().sum()).collect();
        let columns = (0..classes).map(|class| counts.iter().map(|row| row[class]).sum()).collect();
        Ok(Self { counts, margins: [rows, columns], n })
    }

    /// Items.
    #[must_use]
    pub const fn n(&self) -> u64 {
        self.n
    }

    /// Share of items on which the raters agree.
    #[must_use]
    pub fn observed(&self) -> Rational {
        Rational::new(self.agreed().into(), self.n.into())
    }

    /// Wilson's limits of that share at two-sided error rate `alpha` (0 < alpha < 1). Unlike those of the coefficients they
    /// have a width even when the raters always agree.
    ///
    /// # Errors
    ///
    /// None that a table can cause.
    pub fn observed_limits(&self, alpha: f64) -> Result<ShareInterval, Withheld> {
        wilson(self.agreed(), self.n, alpha)
    }

    /// Share of items on which raters with these margins would agree by chance.
    #[must_use]
    pub fn expected(&self) -> Rational {
        Rational::new(self.products(&|row, column| row * column), BigInt::from(self.n).pow(2))
    }

    /// κ (Cohen 1960 *Educ. Psychol. Meas.* 20:37), weighted where classes have an order, with the standard error of
    /// Fleiss, Cohen & Everitt (1969 *Psychol. Bull.* 72:323) and normal limits at two-sided error rate `alpha`
    /// (0 < alpha < 1). The limits are withheld below ten items.
    ///
    /// # Errors
    ///
    /// [`Withheld::ExpectedAgreementIsOne`] when both raters use the same single class.
    pub fn kappa(&self, weights: Weights, alpha: f64) -> Result<ChanceCorrected, Withheld> {
        let terms = WeightedTerms::new(self, weights);
        let beyond_chance = &terms.whole - &terms.expected;
        if beyond_chance.is_zero() {
            return Err(Withheld::ExpectedAgreementIsOne);
        }
        let value = Rational::new(&terms.observed - &terms.expected, beyond_chance.clone());
        let variance = terms.variance_numerator(self) / (BigInt::from(self.n) * beyond_chance.pow(4));
        let standard_error = sqrt_to_f64(&variance);
        let limits = if self.n < FEWEST_ITEMS as u64 {
            Err(Withheld::TooFewUnits)
        } else {
            Ok(CoefficientInterval::around(to_f64(&value), normal_critical(alpha / 2.0) * standard_error))
        };
        Ok(ChanceCorrected { value, standard_error: Ok(standard_error), limits })
    }

    /// κ as version 0.6 reports it: 1 where it has no meaning.
    #[must_use]
    pub fn kappa_or_one(&self) -> Rational {
        let [observed, expected] = [self.observed(), self.expected()];
        if expected.is_one() { expected } else { (observed - &expected) / (Rational::one() - expected) }
    }

    /// The standard error of the unweighted κ if the true κ is 0, for a test of that alone.
    ///
    /// # Errors
    ///
    /// [`Withheld::ExpectedAgreementIsOne`] when both raters use the same single class.
    pub fn null_standard_error(&self) -> Result<f64, Withheld> {
        let n = BigInt::from(self.n);
        let square = &n * &n;
        let expected = self.products(&|row, column| row * column);
        let beyond_chance = &square - &expected;
        if beyond_chance.is_zero() {
            return Err(Withheld::ExpectedAgreementIsOne);
        }
        let skew = self.products(&|row, column| row * column * (row + column));
        let numerator = &expected * &square + &expected * &expected - skew * &n;
        Ok(sqrt_to_f64(&Rational::new(numerator, n * beyond_chance.pow(2))))
    }

    /// The largest unweighted κ that raters with these margins could reach.
    ///
    /// # Errors
    ///
    /// [`Withheld::ExpectedAgreementIsOne`] when both raters use the same single class.
    pub fn largest_kappa(&self) -> Result<Rational, Withheld> {
        let expected = self.expected();
        if expected.is_one() {
            return Err(Withheld::ExpectedAgreementIsOne);
        }
        let most = Rational::new(self.products(&|row, column| row.min(column).clone()), self.n.into());
        Ok((most - &expected) / (Rational::one() - expected))
    }

    /// PABAK: the κ of raters who use all classes alike (Byrt, Bishop & Carlin 1993 *J. Clin. Epidemiol.* 46:423).
    ///
    /// # Errors
    ///
    /// [`Withheld::ExpectedAgreementIsOne`] when there is only one class.
    pub fn pabak(&self) -> Result<Rational, Withheld> {
        let others = self.other_classes()?;
        let chance = Rational::new(1.into(), others + 1);
        Ok((self.observed() - &chance) / (Rational::one() - chance))
    }

    /// AC1 (Gwet 2008 *Br. J. Math. Stat. Psychol.* 61:29), which rare classes do not upset, with his standard error and t
    /// limits at two-sided error rate `alpha` (0 < alpha < 1). Both are withheld for one item.
    ///
    /// # Errors
    ///
    /// [`Withheld::ExpectedAgreementIsOne`] when there is only one class.
    pub fn ac1(&self, alpha: f64) -> Result<ChanceCorrected, Withheld> {
        let others = self.other_classes()?;
        let one = Rational::one();
        let [rows, columns] = &self.margins;
        let twice: BigInt = BigInt::from(self.n) * 2;
        let share_outside: Vec<Rational> = rows
            .iter()
            .zip(columns)
            .map(|(&row, &column)| &one - Rational::new(BigInt::from(row) + column, twice.clone()))
            .collect();
        // chance agreement of an item in these two classes
        let chance_of = |first: usize, second: usize| {
            (&share_outside[first] + &share_outside[second]) / (&others * BigInt::from(2))
        };
        let chance: Rational =
            share_outside.iter().map(|outside| (&one - outside) * outside).sum::<Rational>() / &others;
        let observed = self.observed();
        let beyond_chance = &one - &chance;
        let value = (&observed - &chance) / &beyond_chance;
        // deviations of the items from their mean, linear in both kinds of agreement
        let pull = (&one - &value) * BigInt::from(2);
        let mut squares = Rational::zero();
        for (first, row) in self.counts.iter().enumerate() {
            for (second, &items) in row.iter().enumerate().filter(|(_, items)| **items > 0) {
                let agreed = if first == second { one.clone() } else { Rational::zero() };
                let deviation = agreed - &observed - &pull * (chance_of(first, second) - &chance);
                squares += &deviation * &deviation * BigInt::from(items);
            }
        }
        let pairs = BigInt::from(self.n) * BigInt::from(self.n - 1);
        if pairs.is_zero() {
            let withheld = Withheld::TooFewUnits;
            return Ok(ChanceCorrected { value, standard_error: Err(withheld), limits: Err(withheld) });
        }
        let standard_error = sqrt_to_f64(&(squares / (&beyond_chance * &beyond_chance * pairs)));
        let critical = student_t_critical(alpha / 2.0, (self.n - 1) as f64);
        let limits = CoefficientInterval::around(to_f64(&value), critical * standard_error);
        Ok(ChanceCorrected { value, standard_error: Ok(standard_error), limits: Ok(limits) })
    }

    /// Of the ratings in each class, the share on which the other rater agrees (positive and negative agreement with two
    /// classes; Cicchetti & Feinstein 1990 *J. Clin. Epidemiol.* 43:551); `None` for a class that nobody used.
    #[must_use]
    pub fn specific_agreement(&self) -> Vec<Option<Rational>> {
        let [rows, columns] = &self.margins;
        let of_class = |(class, (&row, &column)): (usize, (&u64, &u64))| {
            let ratings = BigInt::from(row) + column;
            (!ratings.is_zero()).then(|| Rational::new(BigInt::from(self.counts[class][class]) * 2, ratings))
        };
        rows.iter().zip(columns).enumerate().map(of_class).collect()
    }

    fn agreed(&self) -> u64 {
        self.counts.iter().enumerate().map(|(class, row)| row[class]).sum()
    }

    /// A sum over the classes of a figure of both margins.
    fn products(&self, figure: &dyn Fn(&BigInt, &BigInt) -> BigInt) -> BigInt {
        let [rows, columns] = &self.margins;
        rows.iter().zip(columns).map(|(&row, &column)| figure(&row.into(), &column.into())).sum()
    }

    /// Classes − 1, if there is another one.
    fn other_classes(&self) -> Result<BigInt, Withheld> {
        match self.counts.len() {
            0 | 1 => Err(Withheld::ExpectedAgreementIsOne),
            classes => Ok(BigInt::from(classes - 1)),
        }
    }
}

/// Observed and expected agreement as integers over a common `whole`.
struct WeightedTerms {
    /// Weight of cell (i, j), times that of full agreement.
    weights: Vec<Vec<BigInt>>,
    observed: BigInt,
    expected: BigInt,
    /// Full agreement: n² times its weight.
    whole: BigInt,
}

impl WeightedTerms {
    fn new(table: &AgreementTable, kind: Weights) -> Self {
        let farthest = table.counts.len() - 1;
        let full = match kind {
            Weights::Identity => BigInt::one(),
            Weights::Linear => BigInt::from(farthest),
            Weights::Quadratic => BigInt::from(farthest).pow(2),
        };
        let weight = |first: usize, second: usize| {
            let distance = BigInt::from(first.abs_diff(second));
            match kind {
                Weights::Identity if first == second => BigInt::one(),
                Weights::Identity => BigInt::zero(),
                Weights::Linear => &full - distance,
                Weights::Quadratic => &full - distance.pow(2),
            }
        };
        let classes = 0..=farthest;
        let weights: Vec<Vec<BigInt>> =
            classes.clone().map(|first| classes.clone().map(|second| weight(first, second)).collect()).collect();
        let [rows, columns] = &table.margins;
        let (mut observed, mut expected) = (BigInt::zero(), BigInt::zero());
        for (first, of_row) in weights.iter().enumerate() {
            for (second, weight) in of_row.iter().enumerate() {
                observed += weight * table.counts[first][second];
                expected += weight * rows[first] * columns[second];
            }
        }
        let n = BigInt::from(table.n);
        let whole = &n * &n * &full;
        Self { weights, observed: observed * n, expected, whole }
    }

    /// n · (whole − expected)⁴ times the variance of κ.
    fn variance_numerator(&self, table: &AgreementTable) -> Rational {
        let n = BigInt::from(table.n);
        let [rows, columns] = &table.margins;
        let classes = 0..self.weights.len();
        // weights of a class averaged over the other rater's margin, times n
        let of_row: Vec<BigInt> = classes
            .clone()
            .map(|first| classes.clone().map(|second| &self.weights[first][second] * columns[second]).sum())
            .collect();
        let of_column: Vec<BigInt> = classes
            .clone()
            .map(|second| classes.clone().map(|first| &self.weights[first][second] * rows[first]).sum())
            .collect();
        let beyond_chance = (&self.whole - &self.expected) * &n;
        let disagreement = &self.whole - &self.observed;
        let mut squares = BigInt::zero();
        for (first, row) in table.counts.iter().enumerate() {
            for (second, &items) in row.iter().enumerate().filter(|(_, items)| **items > 0) {
                let deviation = &self.weights[first][second] * &beyond_chance
                    - (&of_row[first] + &of_column[second]) * &disagreement;
                squares += &deviation * &deviation * items;
            }
        }
        let center = &self.observed * &self.expected - &self.expected * &self.whole * 2 + &self.observed * &self.whole;
        Rational::from_integer(squares * n - &center * &center)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rational::rate;

    #[test]
    fn what_is_no_table_is_withheld() {
        assert_eq!(AgreementTable::new(Vec::new()), Err(Withheld::TooFewUnits));
        assert_eq!(AgreementTable::new(vec![vec![0, 0], vec![0, 0]]), Err(Withheld::TooFewUnits));
        assert_eq!(AgreementTable::new(vec![vec![1, 2]]), Err(Withheld::InvalidCounts));
        assert_eq!(AgreementTable::new(vec![vec![u64::MAX, 1], vec![0, 0]]), Err(Withheld::InvalidCounts));
    }

    #[test]
    fn a_single_class_has_no_chance_to_differ() {
        let table = AgreementTable::new(vec![vec![12]]).unwrap();
        let reason = Withheld::ExpectedAgreementIsOne;
        for weights in [Weights::Identity, Weights::Linear, Weights::Quadratic] {
            assert_eq!(table.kappa(weights, 0.05), Err(reason));
        }
        assert_eq!((table.pabak(), table.largest_kappa()), (Err(reason), Err(reason)));
        assert_eq!((table.ac1(0.05), table.null_standard_error()), (Err(reason), Err(reason)));
        assert_eq!(table.kappa_or_one(), rate(1, 1));
    }

    /// Nine items: κ stands alone, AC1 has Student's limits.
    #[test]
    fn few_items_have_no_normal_limits() {
        let table = AgreementTable::new(vec![vec![4, 1], vec![1, 3]]).unwrap();
        let kappa = table.kappa(Weights::Identity, 0.05).unwrap();
        // (7/9 − 41/81)/(1 − 41/81)
        assert_eq!((kappa.value, kappa.limits), (rate(22, 40), Err(Withheld::TooFewUnits)));
        assert!(table.ac1(0.05).unwrap().limits.is_ok());
        assert_eq!(table.specific_agreement(), [Some(rate(8, 10)), Some(rate(6, 8))]);
    }
}
