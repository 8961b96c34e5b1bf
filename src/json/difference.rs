//! The first place where two texts say something different.

use std::borrow::Cow;
use std::collections::HashMap;

use super::Item;
use super::pointer::{index, member};

/// A place where two values differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference<'a, 'b> {
    /// JSON pointer of the place.
    pub pointer: String,
    /// What the first text has there, as it was written; `None` if it has nothing.
    pub first: Option<&'a str>,
    /// What the second text has there; `None` if it has nothing.
    pub second: Option<&'b str>,
}

/// The first place, in the order of the first text, where two values differ as JSON: numbers by value, objects without
/// order. `pointer` is the place of the values themselves. Members of the outermost object that are called like one of
/// `except` are left out.
pub fn first_difference<'a, 'b>(
    pointer: &str,
    first: Item<'_, 'a>,
    second: Item<'_, 'b>,
    except: &[&str],
) -> Option<Difference<'a, 'b>> {
    if first.text() == second.text() {
        return None;
    }
    if first.is_object() && second.is_object() {
        return in_objects(pointer, first, second, except);
    }
    match (first.items(), second.items()) {
        (Some(mut firsts), Some(mut seconds)) => {
            for at in 0.. {
                let found = match (firsts.next(), seconds.next()) {
                    (None, None) => return None,
                    (Some(first), Some(second)) => first_difference(&index(pointer, at), first, second, &[]),
                    (first, second) => Some(one_sided(index(pointer, at), first, second)),
                };
                if found.is_some() {
                    return found;
                }
            }
            None
        }
        _ if are_equal(first, second) => None,
        _ => Some(one_sided(pointer.to_owned(), Some(first), Some(second))),
    }
}

fn one_sided<'a, 'b>(pointer: String, first: Option<Item<'_, 'a>>, second: Option<Item<'_, 'b>>) -> Difference<'a, 'b> {
    Difference { pointer, first: first.map(Item::text), second: second.map(Item::text) }
}

/// Whether two values that are not both containers are equal.
fn are_equal(first: Item<'_, '_>, second: Item<'_, '_>) -> bool {
    match (first.as_str(), second.as_str(), first.as_number(), second.as_number()) {
        (Some(first), Some(second), ..) => first == second,
        (.., Some(first), Some(second)) => first == second,
        // null, true and false are written in one way only
        _ => false,
    }
}

fn in_objects<'a, 'b>(
    pointer: &str,
    first: Item<'_, 'a>,
    second: Item<'_, 'b>,
    except: &[&str],
) -> Option<Difference<'a, 'b>> {
    let counts = |key: &Cow<'_, str>| !except.contains(&key.as_ref());
    let (firsts, seconds) = (members(first), members(second));
    let mut others: HashMap<&str, Item<'_, 'b>> = seconds.iter().map(|(key, value)| (key.as_ref(), *value)).collect();
    for (key, value) in firsts.iter().filter(|(key, _)| counts(key)) {
        let place = || member(pointer, key);
        let found = match others.remove(key.as_ref()) {
            Some(other) if value.text() == other.text() => None,
            Some(other) => first_difference(&place(), *value, other, &[]),
            None => Some(one_sided(place(), Some(*value), None)),
        };
        if found.is_some() {
            return found;
        }
    }
    let is_left = |key: &Cow<'_, str>| counts(key) && others.contains_key(key.as_ref());
    let (key, value) = seconds.iter().find(|(key, _)| is_left(key))?;
    Some(one_sided(member(pointer, key), None, Some(*value)))
}

fn members<'t, 'a>(object: Item<'t, 'a>) -> Vec<(Cow<'a, str>, Item<'t, 'a>)> {
    let members = object.members().into_iter().flatten();
    members.filter_map(|(key, value)| Some((key.as_str()?, value))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::{Limits, Tape};

    fn found(first: &str, second: &str, except: &[&str]) -> Option<(String, Option<String>, Option<String>)> {
        let (first, second) =
            (Tape::read(first, Limits::SIDECAR).unwrap(), Tape::read(second, Limits::SIDECAR).unwrap());
        first_difference("", first.root(), second.root(), except).map(|difference| {
            let Difference { pointer, first, second } = difference;
            (pointer, first.map(str::to_owned), second.map(str::to_owned))
        })
    }

    fn at(
        pointer: &str,
        first: Option<&str>,
        second: Option<&str>,
    ) -> Option<(String, Option<String>, Option<String>)> {
        Some((pointer.to_owned(), first.map(str::to_owned), second.map(str::to_owned)))
    }

    #[test]
    fn the_first_differing_place_is_named() {
        let found = |first, second| found(first, second, &[]);
        assert_eq!(found(r#"{"a":[1,{"b":2}]}"#, r#"{"a":[1,{"b":3}]}"#), at("/a/1/b", Some("2"), Some("3")));
        assert_eq!(found(r#"{"a":1,"b":2}"#, r#"{"a":1}"#), at("/b", Some("2"), None));
        assert_eq!(found(r#"{"a":1}"#, r#"{"x/y":0,"a":1}"#), at("/x~1y", None, Some("0")));
        assert_eq!(found("[1]", "[1,2]"), at("/1", None, Some("2")));
        assert_eq!(found("[1,[]]", "[1,{}]"), at("/1", Some("[]"), Some("{}")));
        assert_eq!(found("true", "1"), at("", Some("true"), Some("1")));
        assert_eq!(found("null", "\"null\""), at("", Some("null"), Some("\"null\"")));
    }

    #[test]
    fn how_a_value_is_written_makes_no_difference() {
        let found = |first, second| found(first, second, &[]);
        assert_eq!(found(r#"{"a":1.0,"b":"\u00e9"}"#, r#"{ "b":"é", "a":1 }"#), None);
        assert_eq!(found("[1,2]", "[1, 2]"), None);
        assert_eq!(found("{}", "{ }"), None);
    }

    #[test]
    fn members_can_be_left_out_at_the_top_only() {
        assert_eq!(found(r#"{"m":1,"a":{"m":1}}"#, r#"{"a":{"m":1}}"#, &["m"]), None);
        assert_eq!(found(r#"{"m":1,"a":{"m":1}}"#, r#"{"m":2,"a":{"m":2}}"#, &["m"]), at("/a/m", Some("1"), Some("2")));
    }
}
