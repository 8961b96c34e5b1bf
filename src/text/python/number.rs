//! Numbers as Python writes and rounds them.

/// Python's `repr` of a float: the shortest digits that read back, `.0` when integral, `1e+16` and `1e-05` outside of
/// 1e-4 ≤ |x| < 1e16; `nan`, `inf`, `-inf`.
#[must_use]
pub fn float_repr(number: f64) -> String {
    if let Some(name) = not_finite(number) {
        return name.to_owned();
    }
    // Rust finds the least number of digits, but of two candidates at the same distance it takes the larger one where
    // Python takes the even one; with the number of digits given, both round ties to even.
    let digits = format!("{number:e}").bytes().take_while(|&byte| byte != b'e').filter(u8::is_ascii_digit).count();
    let scientific = format!("{number:.*e}", digits - 1);
    let (mantissa, exponent) = split_exponent(&scientific);
    if (-4..16).contains(&exponent) {
        let last = i32::try_from(digits).unwrap_or_default() - 1 - exponent;
        format!("{number:.*}", usize::try_from(last).unwrap_or_default().max(1))
    } else {
        join_exponent(mantissa, exponent)
    }
}

/// C's `%g` (Python's `format(x, 'g')`): six significant digits, no trailing zeros, an exponent below 1e-4 and from
/// 1e6 on.
#[must_use]
pub fn format_g(number: f64) -> String {
    if let Some(name) = not_finite(number) {
        return name.to_owned();
    }
    let scientific = format!("{number:.5e}");
    let (mantissa, exponent) = split_exponent(&scientific);
    if (-4..6).contains(&exponent) {
        let decimals = usize::try_from(5 - exponent).unwrap_or_default();
        without_trailing_zeros(&format!("{number:.decimals$}")).to_owned()
    } else {
        join_exponent(without_trailing_zeros(mantissa), exponent)
    }
}

/// Python's `round(number, decimals)`: the nearest decimal of the exact binary value, ties to even.
///
/// What is not finite comes back as it is (Python raises only without `decimals`).
#[must_use]
pub fn round_half_even(number: f64, decimals: u32) -> f64 {
    // Beyond 1,100 decimals every double is exact, and 22 is where CPython stops for large numbers.
    let decimals = decimals.min(1_100) as usize;
    if !number.is_finite() {
        return number;
    }
    format!("{number:.decimals$}").parse().unwrap_or(number)
}

fn not_finite(number: f64) -> Option<&'static str> {
    if number.is_nan() {
        Some("nan")
    } else if number.is_infinite() {
        Some(if number > 0.0 { "inf" } else { "-inf" })
    } else {
        None
    }
}

/// Splits what Rust's `{:e}` wrote into mantissa and exponent.
fn split_exponent(scientific: &str) -> (&str, i32) {
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((scientific, "0"));
    (mantissa, exponent.parse().unwrap_or_default())
}

/// Writes the exponent as C does: a sign and at least two digits.
fn join_exponent(mantissa: &str, exponent: i32) -> String {
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{mantissa}e{sign}{:02}", exponent.unsigned_abs())
}

fn without_trailing_zeros(digits: &str) -> &str {
    if digits.contains('.') { digits.trim_end_matches('0').trim_end_matches('.') } else { digits }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_are_written_as_python_writes_them() {
        let rows = [
            (0.0, "0.0"),
            (-0.0, "-0.0"),
            (1.0, "1.0"),
            (0.1, "0.1"),
            (1e15, "1000000000000000.0"),
            (9999999999999998.0, "9999999999999998.0"),
            (1e16, "1e+16"),
            (1.5e300, "1.5e+300"),
            (0.0001, "0.0001"),
            (0.00001, "1e-05"),
            (-1.25e-7, "-1.25e-07"),
            (5e-324, "5e-324"),
            // Halfway between two numbers of 17 digits.
            (-3.502_540_588_378_906_2, "-3.5025405883789062"),
            (f64::NAN, "nan"),
            (f64::NEG_INFINITY, "-inf"),
        ];
        for (number, written) in rows {
            assert_eq!(float_repr(number), written);
        }
    }

    #[test]
    fn general_format_has_six_significant_digits() {
        let rows = [
            (0.0, "0"),
            (-0.0, "-0"),
            (100000.0, "100000"),
            (999999.5, "1e+06"),
            (1234567.0, "1.23457e+06"),
            (2e6, "2e+06"),
            (0.0001, "0.0001"),
            (0.000012345678, "1.23457e-05"),
            (0.5, "0.5"),
            (12.3456789, "12.3457"),
            (f64::INFINITY, "inf"),
        ];
        for (number, written) in rows {
            assert_eq!(format_g(number), written);
        }
    }

    #[test]
    fn rounding_uses_the_exact_value_and_ties_to_even() {
        assert_eq!(round_half_even(2.5, 0), 2.0);
        assert_eq!(round_half_even(3.5, 0), 4.0);
        assert_eq!(round_half_even(0.125, 2), 0.12);
        assert_eq!(round_half_even(2.675, 2), 2.67);
        assert_eq!(round_half_even(1e22, 3), 1e22);
        assert_eq!(round_half_even(-0.4, 0).to_bits(), (-0.0_f64).to_bits());
        assert!(round_half_even(f64::NAN, 2).is_nan());
    }
}
