//! Equality of JSON values: numbers by value, booleans never equal to numbers, objects without order.

use super::{Node, Number, Value};

impl PartialEq for Node<'_> {
    fn eq(&self, other: &Self) -> bool {
        match (&self.value, &other.value) {
            (Value::Null, Value::Null) => true,
            (Value::Bool(a), Value::Bool(b)) => a == b,
            (Value::Number(a), Value::Number(b)) => a == b,
            (Value::String(a), Value::String(b)) => a == b,
            (Value::Array(a), Value::Array(b)) => a == b,
            (Value::Object(a), Value::Object(b)) => {
                a.len() == b.len() && a.iter().all(|m| other.get(&m.key).is_some_and(|value| *value == m.value))
            }
            _ => false,
        }
    }
}

impl PartialEq for Number<'_> {
    fn eq(&self, other: &Self) -> bool {
        match (self.is_integer(), other.is_integer()) {
            (true, true) => integer_digits(self.text()) == integer_digits(other.text()),
            (false, false) => self.as_f64() == other.as_f64(),
            (true, false) => integer_equals_float(self.text(), other.as_f64()),
            (false, true) => integer_equals_float(other.text(), self.as_f64()),
        }
    }
}

fn integer_digits(text: &str) -> &str {
    if text == "-0" { "0" } else { text }
}

/// Exact comparison: a float with an integral value equals only the integer with the same digits.
fn integer_equals_float(text: &str, float: f64) -> bool {
    float.fract() == 0.0 && integer_digits(text) == integer_digits(&format!("{float:.0}"))
}

#[cfg(test)]
mod tests {
    use crate::json::{Limits, parse};

    fn equal(a: &str, b: &str) -> bool {
        parse(a, Limits::SIDECAR).unwrap() == parse(b, Limits::SIDECAR).unwrap()
    }

    #[test]
    fn numbers_compare_by_value_and_never_equal_booleans() {
        assert!(equal("1", "1.0"));
        assert!(equal("-0", "0"));
        assert!(equal("-0.0", "0"));
        assert!(equal("100", "1e2"));
        assert!(!equal("1", "true"));
        // 2^53 + 1 is no double: Python compares the integer exactly, so the two differ
        assert!(!equal("9007199254740993", "9007199254740992.0"));
        assert!(equal("9007199254740992", "9007199254740992.0"));
        assert!(!equal("\"1\"", "1"));
    }

    #[test]
    fn objects_compare_without_order_and_arrays_with_it() {
        assert!(equal(r#"{"a":1,"b":[2]}"#, r#"{"b":[2.0],"a":1}"#));
        assert!(!equal(r#"{"a":1}"#, r#"{"a":1,"b":2}"#));
        assert!(!equal("[1,2]", "[2,1]"));
    }
}
