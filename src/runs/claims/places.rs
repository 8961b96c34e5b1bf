//! What stands at a place of a file.

use crate::json::Item;
pub(super) use crate::json::pointer::{index, member};

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
