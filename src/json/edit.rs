//! Setting members of an object in its text: every other byte stays as its author wrote it.

use std::borrow::Cow;
use std::io;

use serde::Serialize;

use super::tape::Item;
use super::write::pretty;

/// A value that becomes a member.
#[derive(Debug, Clone)]
pub enum NewValue<'v> {
    /// In the pretty form of [`super::write`], as it stands outside of everything.
    Pretty(String),
    /// As it stands in another text.
    Written(&'v str),
}

impl NewValue<'_> {
    /// A value in the pretty form.
    ///
    /// # Errors
    /// When it is nothing that JSON can hold.
    pub fn pretty<T: Serialize + ?Sized>(value: &T) -> io::Result<Self> {
        let mut bytes = Vec::new();
        pretty(&mut bytes, value, 0)?;
        String::from_utf8(bytes).map(Self::Pretty).map_err(io::Error::other)
    }
}

/// The text of an object in which some members are set: the value of a key that is there is replaced, others are put
/// behind the last one, in the style of the object. `object` is the whole of `text`, white space around it aside.
///
/// Keys must need no escapes.
pub fn set_members(text: &str, object: Item<'_, '_>, members: &[(&str, NewValue<'_>)]) -> String {
    let style = Style::of(text, object);
    let mut out = String::with_capacity(text.len() + 64 * members.len());
    let mut copied = 0;
    let mut last_end = None;
    for (key, value) in object.members().into_iter().flatten() {
        let span = value.span();
        last_end = Some(span.end);
        if let Some((_, new)) = members.iter().find(|(name, _)| key.as_str().as_deref() == Some(*name)) {
            out.push_str(&text[copied..span.start]);
            style.value(&mut out, new);
            copied = span.end;
        }
    }
    let added = members.iter().filter(|(key, _)| object.get(key).is_none());
    match last_end {
        Some(end) => {
            out.push_str(&text[copied..end]);
            for (key, value) in added {
                out.push(',');
                style.member(&mut out, key, value);
            }
            out.push_str(&text[end..]);
        }
        None => {
            let span = object.span();
            out.push_str(&text[..span.start]);
            out.push_str(&new_object(members));
            out.push_str(&text[span.end..]);
        }
    }
    out
}

/// An object of some members, in the form of [`super::write`]. Keys must need no escapes.
pub fn new_object(members: &[(&str, NewValue<'_>)]) -> String {
    if members.is_empty() {
        return "{}".to_owned();
    }
    let mut out = "{".to_owned();
    for (index, (key, value)) in members.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        Style::OURS.member(&mut out, key, value);
    }
    out.push_str("\n}");
    out
}

/// Characters of an indentation that is taken over.
const WIDEST_INDENTATION: usize = 32;

/// How the members of an object are set apart.
struct Style<'t> {
    /// What ends a line; nothing when all members stand in one.
    line_end: &'static str,
    /// What stands before each member on its line, or between members of one line.
    before: &'t str,
    /// What stands between a key and its value.
    colon: &'static str,
}

impl<'t> Style<'t> {
    const OURS: Style<'static> = Style { line_end: "\n", before: "  ", colon: ": " };

    /// The style of the first member; of an object without one that of [`super::write`].
    fn of(text: &'t str, object: Item<'_, '_>) -> Self {
        let Some((key, value)) = object.members().and_then(|mut members| members.next()) else {
            return Self::OURS;
        };
        let gap = &text[object.span().start + 1..key.span().start];
        let is_apart = text[key.span().end..value.span().start].len() > 1;
        match gap.rsplit_once('\n') {
            Some((_, before)) => Self {
                line_end: if gap.contains("\r\n") { "\r\n" } else { "\n" },
                // whoever indents by a screen does not get a screen for each of many lines
                before: if before.len() > WIDEST_INDENTATION { "  " } else { before },
                colon: ": ",
            },
            None => {
                Self { line_end: "", before: if is_apart { " " } else { "" }, colon: if is_apart { ": " } else { ":" } }
            }
        }
    }

    fn member(&self, out: &mut String, key: &str, value: &NewValue<'_>) {
        out.push_str(self.line_end);
        out.push_str(self.before);
        out.push('"');
        out.push_str(key);
        out.push('"');
        out.push_str(self.colon);
        self.value(out, value);
    }

    /// Strings of JSON hold no line break, so that a value can be moved line by line.
    fn value(&self, out: &mut String, value: &NewValue<'_>) {
        match value {
            NewValue::Pretty(text) if self.line_end.is_empty() => out.push_str(&in_one_line(text)),
            NewValue::Pretty(text) => {
                for (index, line) in text.lines().enumerate() {
                    let inner = line.trim_start_matches(' ');
                    if index > 0 {
                        out.push_str(self.line_end);
                        out.push_str(self.before);
                        (0..(line.len() - inner.len()) / 2).for_each(|_| out.push_str(self.before));
                    }
                    out.push_str(inner);
                }
            }
            NewValue::Written(text) => out.push_str(text),
        }
    }
}

/// A pretty text without its line breaks.
fn in_one_line(text: &str) -> Cow<'_, str> {
    if !text.contains('\n') {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for line in text.lines() {
        let line = line.trim_start_matches(' ');
        if out.ends_with(',') {
            out.push(' ');
        }
        out.push_str(line);
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::json::{Limits, Tape};

    fn edited(text: &str, members: &[(&str, NewValue<'_>)]) -> String {
        let tape = Tape::read(text, Limits::SIDECAR).unwrap();
        let out = set_members(text, tape.root(), members);
        Tape::read(&out, Limits::SIDECAR).unwrap();
        out
    }

    fn value() -> NewValue<'static> {
        NewValue::pretty(&json!({"a": {"b": 1}, "c": []})).unwrap()
    }

    #[test]
    fn other_members_stay_as_they_are_written() {
        let text = "\n{\n  \"n\": 1.50, \"e\":1E2,\n  \"s\": \"\\u0041\",\n\n  \"x\" :  null \n}\n\n";
        let out = edited(text, &[("x", NewValue::Written("2.0")), ("new", value())]);
        let expected = "\n{\n  \"n\": 1.50, \"e\":1E2,\n  \"s\": \"\\u0041\",\n\n  \"x\" :  2.0,\n  \"new\": {\n    \"a\": \
                        {\n      \"b\": 1\n    },\n    \"c\": []\n  } \n}\n\n";
        assert_eq!(out, expected);
        assert_eq!(edited(text, &[]), text);
    }

    #[test]
    fn new_members_take_the_style_of_the_object() {
        let set = |text: &str| edited(text, &[("new", value())]);
        assert_eq!(set(r#"{"a":1}"#), r#"{"a":1,"new":{"a": {"b": 1}, "c": []}}"#);
        assert_eq!(set(r#"{"a": 1}"#), r#"{"a": 1, "new": {"a": {"b": 1}, "c": []}}"#);
        assert_eq!(
            set("{\r\n\t\"a\": 1\r\n}"),
            "{\r\n\t\"a\": 1,\r\n\t\"new\": {\r\n\t\t\"a\": {\r\n\t\t\t\"b\": 1\r\n\t\t},\r\n\t\t\"c\": []\r\n\t}\r\n}"
        );
        assert_eq!(set("{}\n"), "{\n  \"new\": {\n    \"a\": {\n      \"b\": 1\n    },\n    \"c\": []\n  }\n}\n");
        assert_eq!(
            edited("{ }", &[("a", NewValue::Written("1")), ("b", NewValue::Written("2"))]),
            "{\n  \"a\": 1,\n  \"b\": 2\n}"
        );
        assert_eq!(edited("{}", &[]), "{}");
        let wide = format!("{{\n{}\"a\": 1\n}}", " ".repeat(33));
        assert_eq!(
            edited(&wide, &[("b", NewValue::Written("2"))]),
            format!("{{\n{}\"a\": 1,\n  \"b\": 2\n}}", " ".repeat(33))
        );
    }

    #[test]
    fn keys_are_compared_by_what_they_mean() {
        assert_eq!(edited(r#"{"\u0061": 1}"#, &[("a", NewValue::Written("2"))]), r#"{"\u0061": 2}"#);
    }
}
