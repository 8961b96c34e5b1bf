//! Typed access to members of objects that programs wrote: what has another type counts as absent.

use crate::json::Node;

/// A string member.
pub fn text(node: &Node<'_>, key: &str) -> Option<String> {
    node.get(key)?.as_str().map(str::to_owned)
}

/// A boolean member.
pub fn boolean(node: &Node<'_>, key: &str) -> Option<bool> {
    node.get(key)?.as_bool()
}

/// A member that is a whole number and not negative.
pub fn count(node: &Node<'_>, key: &str) -> Option<u64> {
    u64::try_from(node.get(key)?.as_number()?.as_i64()?).ok()
}

/// A finite number.
pub fn number(node: &Node<'_>, key: &str) -> Option<f64> {
    Some(node.get(key)?.as_number()?.as_f64()).filter(|value| value.is_finite())
}

/// The strings of an array member; other items are left out.
pub fn texts(node: &Node<'_>, key: &str) -> Vec<String> {
    items(node, key).iter().filter_map(|item| item.as_str().map(str::to_owned)).collect()
}

/// The items of an array member; none when it is absent.
pub fn items<'n, 'a>(node: &'n Node<'a>, key: &str) -> &'n [Node<'a>] {
    node.get(key).and_then(Node::items).unwrap_or_default()
}
