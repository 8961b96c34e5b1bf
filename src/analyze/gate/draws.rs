//! Random numbers by counter: every try has its own stream, so that the number of threads changes nothing.

/// The odd number nearest to 2^64 divided by the golden ratio.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// The stream of one try: SplitMix64 (Steele, Lea & Flood 2014 *OOPSLA*), started from a seed and the number of the try.
#[derive(Debug, Clone)]
pub(super) struct Draws {
    state: u64,
}

impl Draws {
    /// The stream of a try.
    pub(super) fn of(seed: u64, number: u64) -> Self {
        Self { state: mixed(mixed(seed).wrapping_add(number.wrapping_mul(STEP))) }
    }

    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(STEP);
        mixed(self.state)
    }

    /// A number below a bound that is not 0, each with the same chance (Lemire 2019 *ACM TOMACS* 29:3).
    pub(super) fn below(&mut self, bound: u64) -> u64 {
        let product = |value: u64| u128::from(value) * u128::from(bound);
        let threshold = bound.wrapping_neg() % bound.max(1);
        loop {
            let product = product(self.next());
            // the low half of the product tells whether this number would be drawn too often
            if product as u64 >= threshold {
                return (product >> 64) as u64;
            }
        }
    }
}

fn mixed(mut value: u64) -> u64 {
    value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first numbers of SplitMix64 from state 1234567, as its authors' reference program prints them.
    #[test]
    fn the_generator_is_the_published_one() {
        let mut draws = Draws { state: 1_234_567 };
        let first: Vec<u64> = (0..5).map(|_| draws.next()).collect();
        assert_eq!(
            first,
            [
                6_457_827_717_110_365_317,
                3_203_168_211_198_807_973,
                9_817_491_932_198_370_423,
                4_593_380_528_125_082_431,
                16_408_922_859_458_223_821,
            ]
        );
    }

    #[test]
    fn numbers_stay_below_their_bound_and_reach_all_of_it() {
        let mut draws = Draws::of(1, 0);
        for bound in [1, 2, 3, 7, u64::MAX] {
            assert!((0..100).all(|_| draws.below(bound) < bound));
        }
        let mut counts = [0; 3];
        for _ in 0..3_000 {
            counts[draws.below(3) as usize] += 1;
        }
        // 1000 each with a standard deviation of 26
        assert!(counts.iter().all(|count| (900..1_100).contains(count)), "{counts:?}");
    }

    #[test]
    fn streams_differ() {
        let first = |seed, number| Draws::of(seed, number).next();
        let all = [first(1, 0), first(1, 1), first(2, 0), first(0, 0), first(0, 1)];
        let mut sorted = all;
        sorted.sort_unstable();
        assert!(sorted.windows(2).all(|pair| pair[0] != pair[1]), "{all:?}");
    }
}
