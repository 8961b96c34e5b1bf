//! A JSON text that is read strictly but not taken apart: a flat list of where its values stand.
//!
//! Most of what the files of a run say is only passed through or compared. A list of places costs one allocation a
//! file and a few bytes a value, where a tree costs several times the text.

use std::borrow::Cow;
use std::io;
use std::vec::Drain;

use super::build::{Build, Container, Scalar, StringForm};
use super::keys::Key;
use super::read::{self, Objections};
use super::{JsonError, Limits, Node, Number, Span, Value, write};

/// A text and the places of its values.
#[derive(Debug)]
pub struct Tape<'a> {
    text: &'a str,
    entries: Vec<Entry>,
}

/// A value, or a key, which stands before its value.
#[derive(Debug, Clone, Copy)]
struct Entry {
    start: u32,
    end: u32,
    /// The entry after this one and all that is in it.
    next: u32,
    kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Null,
    Bool(bool),
    Number,
    /// A string without escapes.
    Plain,
    /// A string with escapes.
    Escaped,
    Array,
    Object,
}

impl<'a> Tape<'a> {
    /// Reads one JSON value strictly.
    ///
    /// # Errors
    /// The first objection of the strict reader; also a text of 4 GiB or more.
    pub fn read(text: &'a str, limits: Limits) -> Result<Self, JsonError> {
        if u32::try_from(text.len()).is_err() {
            return Err(JsonError::too_long(text.len()));
        }
        let builder = TapeBuilder { entries: Vec::with_capacity(text.len() / BYTES_PER_ENTRY) };
        match read::build(text, limits, Objections::FirstWithoutPath, builder) {
            (Some(TapeBuilder { entries }), errors) if errors.is_empty() => Ok(Self { text, entries }),
            // hardly any text has errors: only then it is read once more, for the paths to them
            _ => Err(read::build(text, limits, Objections::First, Nothing).1.swap_remove(0)),
        }
    }

    /// The whole value.
    pub fn root(&self) -> Item<'_, 'a> {
        Item { tape: self, at: 0 }
    }
}

/// Bytes of text for each entry in an indented file.
const BYTES_PER_ENTRY: usize = 16;

struct TapeBuilder {
    entries: Vec<Entry>,
}

/// Makes nothing of a text.
struct Nothing;

impl<'a> Build<'a> for Nothing {
    fn scalar(&mut self, _: Span, _: Scalar<'a>) {}
}

impl TapeBuilder {
    /// The texts are shorter than 4 GiB, and no value is shorter than a byte.
    fn push(&mut self, span: Span, kind: Kind) {
        let next = self.entries.len() as u32 + 1;
        self.entries.push(Entry { start: span.start as u32, end: span.end as u32, next, kind });
    }

    fn close(&mut self, mark: usize, span: Span) {
        let next = self.entries.len() as u32;
        let entry = &mut self.entries[mark];
        (entry.end, entry.next) = (span.end as u32, next);
    }
}

impl From<StringForm> for Kind {
    fn from(form: StringForm) -> Self {
        match form {
            StringForm::Plain => Self::Plain,
            StringForm::Escaped => Self::Escaped,
        }
    }
}

impl<'a> Build<'a> for TapeBuilder {
    fn scalar(&mut self, span: Span, scalar: Scalar<'a>) {
        let kind = match scalar {
            Scalar::Null => Kind::Null,
            Scalar::Bool(value) => Kind::Bool(value),
            Scalar::Number(_) => Kind::Number,
            Scalar::String(text) => StringForm::of(&text).into(),
        };
        self.push(span, kind);
    }

    fn open(&mut self, start: usize, container: Container) -> usize {
        let kind = match container {
            Container::Array => Kind::Array,
            Container::Object => Kind::Object,
        };
        self.push(Span { start, end: start }, kind);
        self.entries.len() - 1
    }

    fn key(&mut self, span: Span, form: StringForm) {
        self.push(span, form.into());
    }

    fn close_array(&mut self, mark: usize, span: Span) {
        self.close(mark, span);
    }

    fn close_object(&mut self, mark: usize, span: Span, _: Drain<'_, Key<'a>>) {
        self.close(mark, span);
    }
}

/// A value of a text.
#[derive(Debug, Clone, Copy)]
pub struct Item<'t, 'a> {
    tape: &'t Tape<'a>,
    at: u32,
}

impl<'t, 'a> Item<'t, 'a> {
    fn entry(self) -> Entry {
        self.tape.entries[self.at as usize]
    }

    /// The value as it was written.
    pub fn text(self) -> &'a str {
        let Span { start, end } = self.span();
        &self.tape.text[start..end]
    }

    /// Where the value stands in the text of the tape.
    pub fn span(self) -> Span {
        let Entry { start, end, .. } = self.entry();
        Span { start: start as usize, end: end as usize }
    }

    /// The values in a container, one behind the other; of an object its keys as well.
    fn parts(self) -> impl Iterator<Item = Item<'t, 'a>> {
        let end = self.entry().next;
        let first = (self.at + 1 < end).then_some(Item { at: self.at + 1, ..self });
        std::iter::successors(first, move |part| {
            let next = part.entry().next;
            (next < end).then_some(Item { at: next, ..*part })
        })
    }

    /// Whether this is an object.
    pub fn is_object(self) -> bool {
        self.entry().kind == Kind::Object
    }

    /// The members, if this is an object.
    pub fn members(self) -> Option<impl Iterator<Item = (Item<'t, 'a>, Item<'t, 'a>)>> {
        let mut parts = self.parts();
        self.is_object().then(|| std::iter::from_fn(move || parts.next().zip(parts.next())))
    }

    /// The items, if this is an array.
    pub fn items(self) -> Option<impl Iterator<Item = Item<'t, 'a>>> {
        (self.entry().kind == Kind::Array).then(|| self.parts())
    }

    /// The value of a key, if this is an object that has it.
    pub fn get(self, key: &str) -> Option<Item<'t, 'a>> {
        self.members()?.find(|(name, _)| name.is_string(key)).map(|(_, value)| value)
    }

    /// Whether this is a certain string.
    fn is_string(self, text: &str) -> bool {
        let Entry { start, end, kind, .. } = self.entry();
        match kind {
            // two quotes around it
            Kind::Plain => {
                (end - start) as usize == text.len() + 2
                    && self.tape.text.as_bytes()[start as usize + 1..].starts_with(text.as_bytes())
            }
            _ => self.as_str().is_some_and(|own| own == text),
        }
    }

    /// What stands between the quotes.
    fn inside(self) -> &'a str {
        let text = self.text();
        &text[1..text.len() - 1]
    }

    /// The string, if this is one.
    pub fn as_str(self) -> Option<Cow<'a, str>> {
        match self.entry().kind {
            Kind::Plain => Some(Cow::Borrowed(self.inside())),
            Kind::Escaped => Some(read::string_of(self.text())),
            _ => None,
        }
    }

    /// The boolean, if this is one.
    pub fn as_bool(self) -> Option<bool> {
        match self.entry().kind {
            Kind::Bool(value) => Some(value),
            _ => None,
        }
    }

    /// The number, if this is one.
    pub fn as_number(self) -> Option<Number<'a>> {
        (self.entry().kind == Kind::Number).then(|| Number::new(self.text()))
    }

    /// Whether this is `null`.
    pub fn is_null(self) -> bool {
        self.entry().kind == Kind::Null
    }

    /// Python's truth value: empty, zero, false and null are false.
    pub fn is_truthy(self) -> bool {
        match self.entry().kind {
            Kind::Null => false,
            Kind::Bool(value) => value,
            Kind::Number => Number::new(self.text()).as_f64() != 0.0,
            Kind::Plain | Kind::Escaped => self.text().len() > 2,
            Kind::Array | Kind::Object => self.entry().next > self.at + 1,
        }
    }

    /// Python's `str` of the value.
    pub fn python_str(self) -> String {
        match self.as_str() {
            Some(text) => text.into_owned(),
            None => self.to_node().python_repr(),
        }
    }

    /// The value as a tree.
    pub fn to_node(self) -> Node<'a> {
        // it was read once, so that it can be read again
        read::read(self.text(), Limits::SIDECAR).root.unwrap_or_else(|| Node::synthetic(Value::Null))
    }
}

/// Equal as JSON: numbers by value, objects without order.
impl PartialEq for Item<'_, '_> {
    fn eq(&self, other: &Self) -> bool {
        self.text() == other.text() || self.to_node() == other.to_node()
    }
}

impl Item<'_, '_> {
    /// Appends the value in the pretty form of [`super::write::pretty`], as it would stand `depth` levels deep. What was
    /// written in that form already is copied.
    pub fn write_pretty(self, bytes: &mut Vec<u8>, depth: usize) -> io::Result<()> {
        match self.entry().kind {
            Kind::Null | Kind::Bool(_) | Kind::Plain => {
                bytes.extend_from_slice(self.text().as_bytes());
                Ok(())
            }
            Kind::Number => write::pretty(bytes, &Number::new(self.text()), depth),
            Kind::Escaped => write::pretty(bytes, &*read::string_of(self.text()), depth),
            Kind::Array => {
                let mut parts = self.parts();
                container(bytes, b"[]", depth, |bytes| parts.next().map(|item| item.write_pretty(bytes, depth + 1)))
            }
            Kind::Object => {
                let mut parts = self.parts();
                container(bytes, b"{}", depth, |bytes| {
                    let (key, value) = parts.next().zip(parts.next())?;
                    let key = key.write_pretty(bytes, depth + 1);
                    bytes.extend_from_slice(b": ");
                    Some(key.and_then(|()| value.write_pretty(bytes, depth + 1)))
                })
            }
        }
    }
}

/// Writes parts between brackets, each on a line of its own. `part` writes the next one, if there is one.
fn container(
    bytes: &mut Vec<u8>,
    brackets: &[u8; 2],
    depth: usize,
    mut part: impl FnMut(&mut Vec<u8>) -> Option<io::Result<()>>,
) -> io::Result<()> {
    bytes.push(brackets[0]);
    let mut is_empty = true;
    loop {
        let before = bytes.len();
        if !is_empty {
            bytes.push(b',');
        }
        write::new_line(bytes, depth + 1)?;
        match part(bytes) {
            Some(written) => written?,
            None => {
                bytes.truncate(before);
                break;
            }
        }
        is_empty = false;
    }
    if !is_empty {
        write::new_line(bytes, depth)?;
    }
    bytes.push(brackets[1]);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::parse;

    const TEXT: &str =
        r#" {"a": [1, -2.5e3, [], {}], "k\u00e9y": "x\ny", "plain": "é", "t": true, "n": null, "o": {"a": {"b": 0}}} "#;

    fn root(text: &str) -> Tape<'_> {
        Tape::read(text, Limits::SIDECAR).unwrap()
    }

    #[test]
    fn values_are_found_where_they_stand() {
        let tape = root(TEXT);
        let root = tape.root();
        assert_eq!(root.get("a").unwrap().text(), "[1, -2.5e3, [], {}]");
        let items: Vec<&str> = root.get("a").unwrap().items().unwrap().map(Item::text).collect();
        assert_eq!(items, ["1", "-2.5e3", "[]", "{}"]);
        assert_eq!(root.get("kéy").unwrap().as_str().unwrap(), "x\ny");
        assert!(matches!(root.get("plain").unwrap().as_str(), Some(Cow::Borrowed("é"))));
        assert_eq!(root.get("t").unwrap().as_bool(), Some(true));
        assert!(root.get("n").unwrap().is_null());
        assert_eq!(root.get("o").unwrap().get("a").unwrap().get("b").unwrap().as_number().unwrap().as_i64(), Some(0));
        assert!(root.get("b").is_none() && root.get("a").unwrap().get("a").is_none());
        let keys: Vec<_> = root.members().unwrap().filter_map(|(key, _)| key.as_str()).collect();
        assert_eq!(keys, ["a", "kéy", "plain", "t", "n", "o"]);
    }

    #[test]
    fn a_tape_says_what_a_tree_says() {
        let texts =
            [TEXT, "[]", "{}", "0", "-0.0", "\"\"", "[[[1]],[{}]]", "{\"a\":{}}", "[false,0.0,\"x\",[0]]", "null"];
        for text in texts {
            let tape = root(text);
            let node = parse(text, Limits::SIDECAR).unwrap();
            assert_eq!(tape.root().to_node(), node, "{text}");
            assert_eq!(tape.root().python_str(), node.python_str(), "{text}");
            assert_eq!(tape.root().is_truthy(), node.is_truthy(), "{text}");
            let (mut of_tape, mut of_node) = (Vec::new(), Vec::new());
            tape.root().write_pretty(&mut of_tape, 2).unwrap();
            write::pretty(&mut of_node, &node, 2).unwrap();
            assert_eq!(String::from_utf8(of_tape), String::from_utf8(of_node));
        }
    }

    #[test]
    fn equal_values_may_be_written_differently() {
        let (one, two, three) = (root(r#"{"a":1,"b":[2]}"#), root(r#"{"b":[2.0], "a":1}"#), root(r#"{"a":1,"b":[3]}"#));
        assert!(one.root() == two.root() && one.root() != three.root());
    }

    #[test]
    fn a_tape_refuses_what_a_tree_refuses() {
        for text in ["", "{", r#"{"a":1,"a":2}"#, "[NaN]", "[1e999]", r#"["\ud800"]"#, "[1,]", "1 2", &"[".repeat(600)]
        {
            let refused = Tape::read(text, Limits::SIDECAR).unwrap_err();
            assert_eq!(refused, parse(text, Limits::SIDECAR).unwrap_err());
        }
    }
}
