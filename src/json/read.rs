//! The reader: one pass over the text, recursion bounded by a depth limit, positions kept.

use std::borrow::Cow;

use super::build::{Build, Container, Scalar, StringForm, TreeBuilder};
use super::error::{JsonError, JsonErrorKind};
use super::keys::{Key, Keys};
use super::scan::{after_space, end_of_plain};
use super::{Node, Span};

/// Limits of one reading.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Deepest nesting of arrays and objects that is accepted.
    pub depth: usize,
}

impl Limits {
    /// For suites, which people write.
    pub const SUITE: Limits = Limits { depth: 100 };
    /// For files of a run, which programs write.
    pub const SIDECAR: Limits = Limits { depth: 512 };
}

/// What could be read, and everything the strict reader objects to.
#[derive(Debug)]
pub struct Document<'a> {
    /// The value, unless a syntax error ended the reading.
    pub root: Option<Node<'a>>,
    /// All objections, in the order of the text. With a root they are all recoverable.
    pub errors: Vec<JsonError>,
}

/// Reads one JSON value and says everything that is wrong with it.
///
/// A byte order mark before the value is dropped. Of duplicate keys the last one counts, as in Python, so that the
/// rest of a document can still be checked.
pub fn read(text: &str, limits: Limits) -> Document<'_> {
    let (builder, errors) = build(text, limits, Objections::All, TreeBuilder::default());
    Document { root: builder.and_then(TreeBuilder::finish), errors }
}

/// Reads one JSON value into what a builder makes of it. Without a builder the text could not be read to its end.
pub(super) fn build<'a, B: Build<'a>>(
    text: &'a str,
    limits: Limits,
    objections: Objections,
    builder: B,
) -> (Option<B>, Vec<JsonError>) {
    let mut reader = Reader {
        text,
        bytes: text.as_bytes(),
        at: 0,
        limits,
        objections,
        builder,
        path: Vec::new(),
        open_keys: Vec::with_capacity(USUAL_KEYS),
        errors: Vec::new(),
    };
    if text.starts_with('\u{feff}') {
        reader.at = '\u{feff}'.len_utf8();
    }
    let complete = reader.document();
    (complete.map(|()| reader.builder), reader.errors)
}

/// The string that a text writes which is known to be one.
pub(super) fn string_of(text: &str) -> Cow<'_, str> {
    build(text, Limits::SIDECAR, Objections::FirstWithoutPath, StringBuilder(Cow::Borrowed("")))
        .0
        .map_or(Cow::Borrowed(""), |builder| builder.0)
}

/// Reads one JSON value strictly.
///
/// # Errors
/// The first objection of the strict reader.
pub fn parse(text: &str, limits: Limits) -> Result<Node<'_>, JsonError> {
    let (builder, mut errors) = build(text, limits, Objections::First, TreeBuilder::default());
    builder.and_then(TreeBuilder::finish).ok_or_else(|| errors.swap_remove(0))
}

/// Reads one JSON value a line; blank lines are skipped. Yields the 1-based line number with each value.
pub fn parse_lines(text: &str, limits: Limits) -> impl Iterator<Item = (usize, Result<Node<'_>, JsonError>)> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    text.split('\n')
        .enumerate()
        .filter(|(_, line)| !skill_lift_text::python::strip(line).is_empty())
        .map(move |(index, line)| (index + 1, parse(line, limits)))
}

/// Which objections are collected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Objections {
    /// All of them, as far as the text can be read.
    All,
    /// The first one, which ends the reading.
    First,
    /// The first one without the path to its value: knowing at every value how it is reached takes time.
    FirstWithoutPath,
}

/// A step of the path to the value that is being read. A key is decoded only when an error has to name it.
enum Step {
    Key(Span),
    Index(usize),
}

struct Reader<'a, B> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    limits: Limits,
    objections: Objections,
    builder: B,
    path: Vec<Step>,
    /// Keys of the objects that are being read, the outermost first, with their places.
    open_keys: Vec<Key<'a>>,
    errors: Vec<JsonError>,
}

/// Steps of a path that errors show.
const SHOWN_STEPS: usize = 24;

/// Keys that are open at a time in most texts.
const USUAL_KEYS: usize = 48;

/// What reads a part answers `None` when the text cannot be read on; why, is the last entry of `errors` then.
impl<'a, B: Build<'a>> Reader<'a, B> {
    fn document(&mut self) -> Option<()> {
        self.skip_space();
        self.value(0)?;
        self.skip_space();
        if self.at < self.bytes.len() { self.syntax("unexpected text after the value") } else { Some(()) }
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    #[inline(always)]
    fn skip_space(&mut self) {
        self.at = after_space(self.bytes, self.at);
    }

    /// Notes an objection; `None` when it ends the reading.
    fn note(&mut self, kind: JsonErrorKind, start: usize, end: usize) -> Option<()> {
        let mut path = String::from("$");
        // the way to a value that is nested beyond reason is of no use in full
        let (shown, more) = self.path.split_at(self.path.len().min(SHOWN_STEPS));
        for step in shown {
            match step {
                Step::Key(span) => {
                    let written = &self.text[span.start..span.end];
                    match written.trim_matches('"') {
                        key if is_plain_key(key) => {
                            path.push('.');
                            path.push_str(key);
                        }
                        _ => path.push_str(&format!("[{written}]")),
                    }
                }
                Step::Index(index) => path.push_str(&format!("[{index}]")),
            }
        }
        if !more.is_empty() {
            path.push('…');
        }
        self.errors.push(JsonError { kind, span: Span { start, end }, path });
        (self.objections == Objections::All).then_some(())
    }

    fn enter_step(&mut self, step: Step) {
        if self.objections != Objections::FirstWithoutPath {
            self.path.push(step);
        }
    }

    /// Notes what ends the reading.
    fn syntax<T>(&mut self, what: &'static str) -> Option<T> {
        let end = self.text[self.at..].chars().next().map_or(self.at, |c| self.at + c.len_utf8());
        self.note(JsonErrorKind::Syntax(what), self.at, end);
        None
    }

    fn value(&mut self, depth: usize) -> Option<()> {
        let start = self.at;
        let scalar = match self.peek() {
            None => return self.syntax("the text ends where a value is expected"),
            Some(b'{') => return self.object(depth),
            Some(b'[') => return self.array(depth),
            Some(b'"') => Scalar::String(self.string()?),
            Some(b'-' | b'0'..=b'9') => self.number()?,
            Some(_) => self.word()?,
        };
        self.builder.scalar(Span { start, end: self.at }, scalar);
        Some(())
    }

    fn enter(&mut self, depth: usize) -> Option<()> {
        if depth >= self.limits.depth {
            self.note(JsonErrorKind::TooDeep(self.limits.depth), self.at, self.at + 1);
            return None;
        }
        Some(())
    }

    fn object(&mut self, depth: usize) -> Option<()> {
        self.enter(depth)?;
        let start = self.at;
        let mark = self.builder.open(start, Container::Object);
        let first = self.open_keys.len();
        self.at += 1;
        self.skip_space();
        if self.peek() != Some(b'}') {
            self.members(depth, mark, first)?;
        }
        self.at += 1;
        let keys = self.open_keys.drain(first..);
        self.builder.close_object(mark, Span { start, end: self.at }, keys);
        Some(())
    }

    /// The members of an object up to the closing brace.
    fn members(&mut self, depth: usize, mark: usize, first: usize) -> Option<()> {
        let mut keys = Keys::default();
        loop {
            self.skip_space();
            if self.peek() != Some(b'"') {
                return self.syntax("expected a key in double quotes");
            }
            let start = self.at;
            let key = self.string()?;
            let span = Span { start, end: self.at };
            let position = keys.add(&key, &self.open_keys[first..]);
            if position.is_some() {
                self.note(JsonErrorKind::DuplicateKey(key.clone().into_owned()), span.start, span.end)?;
            }
            self.skip_space();
            if self.peek() != Some(b':') {
                return self.syntax("expected `:` after a key");
            }
            self.at += 1;
            self.skip_space();
            self.builder.key(span, StringForm::of(&key));
            self.enter_step(Step::Key(span));
            self.value(depth + 1)?;
            self.path.pop();
            match position {
                Some(index) => {
                    self.open_keys[first + index].1 = span;
                    self.builder.replace(mark, index);
                }
                None => self.open_keys.push((key, span)),
            }
            self.skip_space();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b'}') => return Some(()),
                _ => return self.syntax("expected `,` or `}` in an object"),
            }
        }
    }

    fn array(&mut self, depth: usize) -> Option<()> {
        self.enter(depth)?;
        let start = self.at;
        let mark = self.builder.open(start, Container::Array);
        self.at += 1;
        self.skip_space();
        if self.peek() != Some(b']') {
            self.items(depth)?;
        }
        self.at += 1;
        self.builder.close_array(mark, Span { start, end: self.at });
        Some(())
    }

    /// The items of an array up to the closing bracket.
    fn items(&mut self, depth: usize) -> Option<()> {
        for index in 0.. {
            self.skip_space();
            self.enter_step(Step::Index(index));
            self.value(depth + 1)?;
            self.path.pop();
            self.skip_space();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b']') => break,
                _ => return self.syntax("expected `,` or `]` in an array"),
            }
        }
        Some(())
    }

    fn word(&mut self) -> Option<Scalar<'a>> {
        let rest = &self.bytes[self.at..];
        for (word, value) in [("true", Scalar::Bool(true)), ("false", Scalar::Bool(false)), ("null", Scalar::Null)] {
            if rest.starts_with(word.as_bytes()) {
                self.at += word.len();
                return Some(value);
            }
        }
        for word in ["NaN", "Infinity"] {
            if rest.starts_with(word.as_bytes()) {
                return self.not_finite(self.at, word.len());
            }
        }
        self.syntax("expected a value")
    }

    fn not_finite(&mut self, start: usize, length: usize) -> Option<Scalar<'a>> {
        self.at = start + length;
        self.note(JsonErrorKind::NotFinite, start, self.at)?;
        Some(Scalar::Null)
    }

    fn number(&mut self) -> Option<Scalar<'a>> {
        let start = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
            if self.bytes[self.at..].starts_with(b"Infinity") {
                return self.not_finite(start, "-Infinity".len());
            }
        }
        match self.peek() {
            Some(b'0') => self.at += 1,
            Some(b'1'..=b'9') => self.digits(),
            _ => return self.syntax("expected a digit"),
        }
        let mut float = false;
        if self.peek() == Some(b'.') && self.bytes.get(self.at + 1).is_some_and(u8::is_ascii_digit) {
            float = true;
            self.at += 1;
            self.digits();
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            let sign = usize::from(matches!(self.bytes.get(self.at + 1), Some(b'+' | b'-')));
            if self.bytes.get(self.at + 1 + sign).is_some_and(u8::is_ascii_digit) {
                float = true;
                self.at += 1 + sign;
                self.digits();
            }
        }
        let text = &self.text[start..self.at];
        if float && !text.parse::<f64>().is_ok_and(f64::is_finite) {
            return self.not_finite(start, self.at - start);
        }
        Some(Scalar::Number(text))
    }

    fn digits(&mut self) {
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
    }

    /// A string. Inlined, so that the usual one, without escapes, stays in registers.
    #[inline(always)]
    fn string(&mut self) -> Option<Cow<'a, str>> {
        let start = self.at + 1;
        let end = end_of_plain(self.bytes, start);
        if self.bytes.get(end) == Some(&b'"') {
            self.at = end + 1;
            return Some(Cow::Borrowed(&self.text[start..end]));
        }
        self.string_with_escapes()
    }

    fn string_with_escapes(&mut self) -> Option<Cow<'a, str>> {
        let opening = self.at;
        let mut text = String::new();
        let mut kept = opening + 1;
        self.at = kept;
        loop {
            self.at = end_of_plain(self.bytes, self.at);
            text.push_str(&self.text[kept..self.at]);
            match self.peek() {
                None => {
                    self.at = opening;
                    return self.syntax("a string that starts here has no end");
                }
                Some(b'"') => {
                    self.at += 1;
                    return Some(Cow::Owned(text));
                }
                Some(b'\\') => {
                    text.push(self.escape()?);
                    kept = self.at;
                }
                Some(_) => return self.syntax("control character in a string; write it as an escape"),
            }
        }
    }

    fn escape(&mut self) -> Option<char> {
        let start = self.at;
        let Some(letter) = self.bytes.get(self.at + 1).copied() else {
            return self.syntax("the text ends inside an escape");
        };
        let simple = match letter {
            b'"' => '"',
            b'\\' => '\\',
            b'/' => '/',
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                self.at += 2;
                return self.unicode_escape(start);
            }
            _ => return self.syntax("unknown escape in a string"),
        };
        self.at += 2;
        Some(simple)
    }

    fn unicode_escape(&mut self, start: usize) -> Option<char> {
        let first = self.four_digits()?;
        if let Some(character) = char::from_u32(first) {
            return Some(character);
        }
        if first < 0xdc00 && self.bytes[self.at..].starts_with(b"\\u") {
            let after_first = self.at;
            self.at += 2;
            let second = self.four_digits()?;
            if (0xdc00..0xe000).contains(&second) {
                let code = 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
                if let Some(character) = char::from_u32(code) {
                    return Some(character);
                }
            }
            self.at = after_first;
        }
        self.note(JsonErrorKind::LoneSurrogate, start, self.at)?;
        Some(char::REPLACEMENT_CHARACTER)
    }

    fn four_digits(&mut self) -> Option<u32> {
        let digits = self.bytes.get(self.at..self.at + 4).filter(|digits| digits.iter().all(u8::is_ascii_hexdigit));
        let code = digits.and_then(|_| u32::from_str_radix(&self.text[self.at..self.at + 4], 16).ok());
        match code {
            Some(code) => {
                self.at += 4;
                Some(code)
            }
            None => self.syntax("expected four hexadecimal digits after `\\u`"),
        }
    }
}

/// Keeps a string.
struct StringBuilder<'a>(Cow<'a, str>);

impl<'a> Build<'a> for StringBuilder<'a> {
    fn scalar(&mut self, _: Span, scalar: Scalar<'a>) {
        if let Scalar::String(text) = scalar {
            self.0 = text;
        }
    }
}

fn is_plain_key(key: &str) -> bool {
    !key.is_empty() && key.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-'))
}

#[cfg(test)]
mod tests;
