//! The order in which a person lists names: digits as numbers, ties by bytes.

use std::cmp::Ordering;

/// Compares two names: `eval-2` comes before `eval-10`.
pub fn natural_order(a: &str, b: &str) -> Ordering {
    let (mut left, mut right) = (a.as_bytes(), b.as_bytes());
    loop {
        let (one, other) = match (left.first(), right.first()) {
            (Some(one), Some(other)) => (*one, *other),
            (one, other) => return one.is_some().cmp(&other.is_some()).then_with(|| a.cmp(b)),
        };
        let ordering = if one.is_ascii_digit() && other.is_ascii_digit() {
            let (number, rest) = split_digits(left);
            let (other_number, other_rest) = split_digits(right);
            (left, right) = (rest, other_rest);
            number.len().cmp(&other_number.len()).then_with(|| number.cmp(other_number))
        } else {
            (left, right) = (&left[1..], &right[1..]);
            one.cmp(&other)
        };
        if ordering.is_ne() {
            return ordering;
        }
    }
}

/// The leading digits without leading zeros, and the rest.
fn split_digits(text: &[u8]) -> (&[u8], &[u8]) {
    let end = text.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    let zeros = digits.iter().take_while(|byte| **byte == b'0').count();
    (&digits[zeros..], rest)
}

#[cfg(test)]
mod tests {
    use super::natural_order;

    #[test]
    fn digits_are_numbers_and_ties_are_broken_by_bytes() {
        let mut names = ["eval-10", "eval-2", "eval-02", "eval", "eval-2-b", "eval-2-a10", "eval-2-a9", "x"];
        names.sort_by(|a, b| natural_order(a, b));
        assert_eq!(names, ["eval", "eval-02", "eval-2", "eval-2-a9", "eval-2-a10", "eval-2-b", "eval-10", "x"]);
        let huge = format!("eval-{}", "9".repeat(400));
        assert!(natural_order("eval-10", &huge).is_lt());
    }
}
