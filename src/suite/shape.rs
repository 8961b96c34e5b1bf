//! Readers of single values: what a field must be, as a function from a node to the value.

use std::collections::HashSet;

use crate::json::{Node, Number};

/// A non-empty string.
pub(super) fn text<'n>(node: &'n Node<'_>) -> Option<&'n str> {
    node.as_str().filter(|text| !text.is_empty())
}

/// A list of strings.
pub(super) fn strings(node: &Node<'_>) -> Option<Vec<String>> {
    node.items()?.iter().map(|item| item.as_str().map(str::to_owned)).collect()
}

/// A list of non-empty strings; may be empty.
pub(super) fn filled_strings(node: &Node<'_>) -> Option<Vec<String>> {
    node.items()?.iter().map(|item| text(item).map(str::to_owned)).collect()
}

/// A non-empty list of non-empty strings.
pub(super) fn texts(node: &Node<'_>) -> Option<Vec<String>> {
    filled_strings(node).filter(|items| !items.is_empty())
}

/// A finite number. (Booleans are none.)
pub(super) fn finite(node: &Node<'_>) -> Option<f64> {
    node.as_number().map(Number::as_f64).filter(|number| number.is_finite())
}

/// A number within closed bounds.
pub(super) fn within(low: f64, high: f64) -> impl Fn(&Node<'_>) -> Option<f64> {
    move |node| finite(node).filter(|number| (low..=high).contains(number))
}

/// A number written as an integer.
pub(super) fn integer(node: &Node<'_>) -> Option<i64> {
    node.as_number()?.as_i64()
}

/// A number written as an integer that is not negative; one too large to matter is cut.
pub(super) fn count(node: &Node<'_>) -> Option<u64> {
    let number = node.as_number().filter(|number| number.is_integer())?;
    match number.text().parse::<u64>() {
        Ok(value) => Some(value),
        Err(_) if number.text().starts_with('-') => (number.as_f64() == 0.0).then_some(0),
        Err(_) => Some(u64::MAX),
    }
}

/// An array.
pub(super) fn items<'n, 'a>(node: &'n Node<'a>) -> Option<&'n [Node<'a>]> {
    node.items()
}

/// An object.
pub(super) fn object<'n, 'a>(node: &'n Node<'a>) -> Option<&'n Node<'a>> {
    node.members().map(|_| node)
}

/// The first word that stands twice.
pub(super) fn repeated(words: &[String]) -> Option<&String> {
    let mut seen = HashSet::new();
    words.iter().find(|word| !seen.insert(word.as_str()))
}
