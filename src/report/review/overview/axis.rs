//! An axis of percentage points with round ticks.

use serde::Serialize;

use super::percent_of;

/// Distances between ticks that are tried, in percentage points.
const STEPS: [f64; 5] = [5.0, 10.0, 20.0, 25.0, 50.0];
/// Ticks that an axis has at most.
const MOST_TICKS: usize = 7;

/// A tick of an axis.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Tick {
    /// Its place.
    pub(super) x: String,
    pub(super) label: String,
    pub(super) is_zero: bool,
}

/// An axis from one number to another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Axis {
    from: f64,
    to: f64,
    step: f64,
}

impl Axis {
    /// The axis of differences of rates: zero and all values lie on it; the smallest round distance that needs few ticks.
    pub(super) fn of_points(values: impl Iterator<Item = f64>) -> Self {
        let (low, high) = values
            .map(|value| value * 100.0)
            .filter(|value| value.is_finite())
            .fold((0f64, 0f64), |(low, high), value| (low.min(value), high.max(value)));
        let around = |step: f64| Self { from: (low / step).floor() * step, to: (high / step).ceil() * step, step };
        let fits = |axis: &Self| axis.ticks_number() <= MOST_TICKS;
        let mut axis = STEPS.into_iter().map(around).find(fits).unwrap_or_else(|| around(50.0));
        if axis.from == axis.to {
            (axis.from, axis.to) = (-axis.step, axis.step);
        }
        axis
    }

    /// The axis of a case: from −100 to +100.
    pub(super) fn whole() -> Self {
        Self { from: -100.0, to: 100.0, step: 50.0 }
    }

    fn ticks_number(&self) -> usize {
        ((self.to - self.from) / self.step).round() as usize + 1
    }

    /// The place of a difference of rates.
    pub(super) fn place(&self, value: f64) -> String {
        percent_of((value * 100.0 - self.from) / (self.to - self.from))
    }

    pub(super) fn ticks(&self) -> Vec<Tick> {
        (0..self.ticks_number())
            .map(|tick| {
                let value = self.from + tick as f64 * self.step;
                let label = match value {
                    0.0 => "0".to_owned(),
                    value if value < 0.0 => format!("\u{2212}{}", -value),
                    value => format!("+{value}"),
                };
                Tick { x: self.place(value / 100.0), label, is_zero: value == 0.0 }
            })
            .collect()
    }
}

/// Round numbers around a range, for an axis of another quantity.
pub(super) fn round_ticks(low: f64, high: f64) -> Vec<f64> {
    let (low, high) = (low.min(0.0), high.max(0.0));
    let width = (high - low).max(f64::MIN_POSITIVE);
    let magnitude = 10f64.powf((width / 5.0).log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .map(|unit| unit * magnitude)
        .find(|step| width / step <= 5.0)
        .unwrap_or(10.0 * magnitude);
    let (first, last) = ((low / step).floor() as i64, (high / step).ceil() as i64);
    (first..=last).map(|tick| tick as f64 * step).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(values: &[f64]) -> Vec<String> {
        Axis::of_points(values.iter().copied()).ticks().into_iter().map(|tick| tick.label).collect()
    }

    #[test]
    fn ticks_are_round_and_few() {
        assert_eq!(labels(&[-0.02, 0.327]), ["\u{2212}10", "0", "+10", "+20", "+30", "+40"]);
        assert_eq!(labels(&[0.12, 0.28]), ["0", "+5", "+10", "+15", "+20", "+25", "+30"]);
        assert_eq!(labels(&[-1.0, 1.0]), ["\u{2212}100", "\u{2212}50", "0", "+50", "+100"]);
        assert_eq!(labels(&[]), ["\u{2212}5", "0", "+5"]);
        // 25 points would make eight ticks
        assert_eq!(labels(&[f64::NAN, -0.6, 0.8]), labels(&[-1.0, 1.0]));
    }

    #[test]
    fn places_are_in_percent() {
        let axis = Axis::of_points([-0.02, 0.327].into_iter());
        assert_eq!(axis.place(0.0), "20.00%");
        assert_eq!(axis.place(0.215), "63.00%");
        assert_eq!(Axis::whole().place(-0.5), "25.00%");
        assert_eq!(Axis::whole().place(7.0), "100.00%");
    }

    #[test]
    fn other_quantities_have_round_ticks_too() {
        assert_eq!(round_ticks(0.0, 0.031), [0.0, 0.01, 0.02, 0.03, 0.04]);
        assert_eq!(round_ticks(-120.0, 2_890.0), [-1000.0, 0.0, 1000.0, 2000.0, 3000.0]);
        assert_eq!(round_ticks(0.0, 0.0).len(), 1);
    }
}
