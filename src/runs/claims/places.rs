//! JSON pointers of the values that are read.

use crate::json::Item;

/// The pointer of a member.
pub(super) fn member(parent: &str, key: &str) -> String {
    let mut pointer = String::with_capacity(parent.len() + key.len() + 1);
    pointer.push_str(parent);
    pointer.push('/');
    for character in key.chars() {
        match character {
            '~' => pointer.push_str("~0"),
            '/' => pointer.push_str("~1"),
            _ => pointer.push(character),
        }
    }
    pointer
}

/// The pointer of an item of a list.
pub(super) fn index(parent: &str, index: usize) -> String {
    format!("{parent}/{index}")
}

/// The value of the first of some keys that is there.
pub(super) fn first<'t, 'a>(item: Item<'t, 'a>, keys: &[&str]) -> Option<Item<'t, 'a>> {
    keys.iter().find_map(|key| item.get(key))
}

/// The text of a member, unless it is blank.
pub(super) fn text_of(item: Item<'_, '_>, keys: &[&str]) -> Option<String> {
    let text = |key: &&str| Some(item.get(key)?.as_str()?.into_owned()).filter(|text| !text.trim().is_empty());
    keys.iter().find_map(text)
}

/// The items of a list, none for anything else.
pub(super) fn items<'t, 'a>(item: Item<'t, 'a>) -> impl Iterator<Item = Item<'t, 'a>> {
    item.items().into_iter().flatten()
}

/// The members of an object with their keys, none for anything else.
pub(super) fn members<'t, 'a: 't>(
    item: Item<'t, 'a>,
) -> impl Iterator<Item = (std::borrow::Cow<'a, str>, Item<'t, 'a>)> {
    item.members().into_iter().flatten().map(|(key, value)| (key.as_str().unwrap_or_default(), value))
}

/// Whether this is a list.
pub(super) fn is_list(item: Item<'_, '_>) -> bool {
    item.items().is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pointers_escape_what_the_standard_asks_for() {
        assert_eq!(member("/a", "b/c~d"), "/a/b~1c~0d");
        assert_eq!(index("", 3), "/3");
    }
}
