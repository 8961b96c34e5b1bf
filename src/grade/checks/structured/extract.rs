//! Finds the JSON that an answer in prose holds, in time linear in its length.
//!
//! At each `{` or `[` from left to right one value is read; the first object counts, or the first item of a list when
//! it is an object. So parts of a broken document can be found. Reading at one place also settles every bracket that
//! the value holds outside of its strings, hence each byte is read at most twice: once as part of a string and once
//! not.

use std::collections::VecDeque;

use crate::json::{Limits, Span};

/// The JSON text that is checked, and why it is that one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Candidate {
    /// Where it stands in the answer.
    pub span: Span,
    /// What pointed at it.
    pub place: Place,
}

/// What pointed at a candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// It is the first object of the answer.
    First,
    /// It is not the first one, but it stands in a fence that is marked as JSON.
    Fence,
}

/// The JSON of an answer. A fence marked as JSON, if its whole content is JSON, goes before other objects of the
/// prose; an answer that is JSON as a whole is not searched for fences.
pub fn candidate(answer: &str) -> Option<Candidate> {
    let first = first_object(answer);
    let fenced = if whole(answer).is_some() { None } else { fenced_object(answer) };
    match fenced {
        Some(span) if Some(span) != first => Some(Candidate { span, place: Place::Fence }),
        _ => first.map(|span| Candidate { span, place: Place::First }),
    }
}

/// The first object of a text, or first item of a list that is one.
pub fn first_object(text: &str) -> Option<Span> {
    let mut scanner = Scanner::new(text);
    for (start, byte) in text.bytes().enumerate() {
        if let Some(best) = scanner.best.filter(|best| best.start <= start) {
            return best.object;
        }
        if matches!(byte, b'{' | b'[') && !scanner.is_settled(start) {
            scanner.scan(start);
        }
    }
    // an object ends after its start, so the loop has met the start of the best one
    None
}

/// The value that a text consists of, if it is a list or an object.
fn whole(text: &str) -> Option<Container> {
    let is_space = |character| matches!(character, ' ' | '\t' | '\n' | '\r');
    let start = text.len() - text.trim_start_matches(is_space).len();
    let end = text.trim_end_matches(is_space).len();
    if !matches!(text.as_bytes().get(start), Some(b'{' | b'[')) {
        return None;
    }
    Scanner::new(text).scan(start).filter(|value| value.end == end)
}

/// The object of the first fence that is marked as JSON and holds nothing else.
fn fenced_object(text: &str) -> Option<Span> {
    let mut open: Option<Fence> = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let (start, end) = (at, at + line.len());
        at = end;
        match &open {
            None => open = Fence::opened_by(line, end),
            Some(fence) if fence.is_closed_by(line) => {
                if let Some(span) = fence.object(text, start) {
                    return Some(span);
                }
                open = None;
            }
            Some(_) => {}
        }
    }
    open.and_then(|fence| fence.object(text, text.len()))
}

/// A fenced block of Markdown that was opened.
struct Fence {
    mark: char,
    length: usize,
    is_json: bool,
    /// Where its content starts.
    start: usize,
}

impl Fence {
    fn opened_by(line: &str, end: usize) -> Option<Self> {
        let line = line.trim();
        let mark = line.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
        let info = line.trim_start_matches(mark);
        let length = line.len() - info.len();
        if length < 3 || (mark == '`' && info.contains('`')) {
            return None;
        }
        let language = info.split_whitespace().next().unwrap_or_default();
        Some(Self { mark, length, is_json: language.eq_ignore_ascii_case("json"), start: end })
    }

    fn is_closed_by(&self, line: &str) -> bool {
        let line = line.trim();
        line.len() >= self.length && line.chars().all(|character| character == self.mark)
    }

    fn object(&self, text: &str, end: usize) -> Option<Span> {
        let object = whole(text.get(self.start..end)?).filter(|_| self.is_json)?.object?;
        Some(Span { start: object.start + self.start, end: object.end + self.start })
    }
}

/// A list or an object that was read to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Container {
    start: usize,
    end: usize,
    /// Itself when it is an object, its first item when that is one.
    object: Option<Span>,
}

/// A list or an object that is being read.
struct Open {
    start: usize,
    is_object: bool,
    /// Whether it is the first item of the list around it.
    is_first: bool,
    has_items: bool,
    /// The first item, if that is an object.
    first: Option<Span>,
}

struct Scanner<'t> {
    bytes: &'t [u8],
    at: usize,
    open: VecDeque<Open>,
    /// One bit a byte: brackets whose value was read, or failed, as part of another value.
    settled: Vec<u64>,
    /// The leftmost container found so far that gives an object.
    best: Option<Container>,
}

impl<'t> Scanner<'t> {
    fn new(text: &'t str) -> Self {
        Self { bytes: text.as_bytes(), at: 0, open: VecDeque::new(), settled: vec![0; text.len() / 64 + 1], best: None }
    }

    fn is_settled(&self, at: usize) -> bool {
        self.settled[at / 64] & (1 << (at % 64)) != 0
    }

    /// Reads the container that starts at a bracket; `None` when it is no JSON.
    ///
    /// All brackets met on the way are settled: what is complete was noted, what is open at an error fails there too.
    fn scan(&mut self, start: usize) -> Option<Container> {
        self.at = start;
        self.open.clear();
        loop {
            self.value()?;
            loop {
                self.skip_space();
                let container = self.open.back()?;
                match (self.peek()?, container.is_object) {
                    (b',', is_object) => {
                        self.at += 1;
                        self.skip_space();
                        if is_object {
                            self.key()?;
                        }
                        break;
                    }
                    (b'}', true) | (b']', false) => {
                        self.at += 1;
                        let closed = self.close()?;
                        if self.open.is_empty() {
                            return Some(closed).filter(|closed| closed.start == start);
                        }
                    }
                    _ => return None,
                }
            }
        }
    }

    /// Reads a value that is no container, or enters containers until one is empty or such a value was read.
    fn value(&mut self) -> Option<()> {
        loop {
            let byte = self.peek()?;
            let is_first = match self.open.back_mut() {
                Some(around) => !std::mem::replace(&mut around.has_items, true) && !around.is_object,
                None => false,
            };
            match byte {
                b'{' | b'[' => {
                    let is_object = byte == b'{';
                    self.enter(Open { start: self.at, is_object, is_first, has_items: false, first: None });
                    match self.peek()? {
                        b'}' if is_object => return Some(()),
                        b']' if !is_object => return Some(()),
                        _ if is_object => self.key()?,
                        _ => {}
                    }
                }
                b'"' => return self.string(),
                b'-' | b'0'..=b'9' => return self.number(),
                _ => return self.word(),
            }
        }
    }

    fn enter(&mut self, container: Open) {
        let start = container.start;
        self.settled[start / 64] |= 1 << (start % 64);
        // what is nested too deeply is no candidate; its inner parts may be
        if self.open.len() == Limits::SIDECAR.depth {
            self.open.pop_front();
        }
        self.open.push_back(container);
        self.at += 1;
        self.skip_space();
    }

    /// Closes the innermost container.
    fn close(&mut self) -> Option<Container> {
        let Open { start, is_object, is_first, first, .. } = self.open.pop_back()?;
        let span = Span { start, end: self.at };
        if let Some(around) = self.open.back_mut().filter(|_| is_object && is_first) {
            around.first = Some(span);
        }
        let closed = Container { start, end: self.at, object: if is_object { Some(span) } else { first } };
        if closed.object.is_some() && self.best.is_none_or(|best| start < best.start) {
            self.best = Some(closed);
        }
        Some(closed)
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    /// Reads a key and its colon.
    fn key(&mut self) -> Option<()> {
        if self.peek()? != b'"' {
            return None;
        }
        self.string()?;
        self.skip_space();
        if self.peek()? != b':' {
            return None;
        }
        self.at += 1;
        self.skip_space();
        Some(())
    }

    fn string(&mut self) -> Option<()> {
        self.at += 1;
        loop {
            match self.peek()? {
                b'"' => {
                    self.at += 1;
                    return Some(());
                }
                b'\\' => match self.bytes.get(self.at + 1)? {
                    b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => self.at += 2,
                    b'u' => {
                        let digits = self.bytes.get(self.at + 2..self.at + 6)?;
                        if !digits.iter().all(u8::is_ascii_hexdigit) {
                            return None;
                        }
                        self.at += 6;
                    }
                    _ => return None,
                },
                0..=0x1f => return None,
                _ => self.at += 1,
            }
        }
    }

    fn number(&mut self) -> Option<()> {
        if self.peek()? == b'-' {
            self.at += 1;
        }
        match self.peek()? {
            b'0' => self.at += 1,
            b'1'..=b'9' => self.digits(),
            _ => return None,
        }
        let is_digit = |at: usize| self.bytes.get(at).is_some_and(u8::is_ascii_digit);
        if self.peek() == Some(b'.') && is_digit(self.at + 1) {
            self.at += 1;
            self.digits();
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            let sign = usize::from(matches!(self.bytes.get(self.at + 1), Some(b'+' | b'-')));
            if self.bytes.get(self.at + 1 + sign).is_some_and(u8::is_ascii_digit) {
                self.at += 1 + sign;
                self.digits();
            }
        }
        Some(())
    }

    fn digits(&mut self) {
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
    }

    fn word(&mut self) -> Option<()> {
        let rest = &self.bytes[self.at..];
        let word = ["true", "false", "null"].into_iter().find(|word| rest.starts_with(word.as_bytes()))?;
        self.at += word.len();
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    fn first(text: &str) -> Option<&str> {
        first_object(text).map(|span| &text[span.start..span.end])
    }

    /// What the search means: one reading at each bracket, from scratch.
    fn by_definition(text: &str) -> Option<Span> {
        let brackets = text.bytes().enumerate().filter(|(_, byte)| matches!(byte, b'{' | b'['));
        brackets.into_iter().find_map(|(start, _)| Scanner::new(text).scan(start)?.object)
    }

    #[test]
    fn the_first_object_or_first_item_counts() {
        assert_eq!(first("no json"), None);
        assert_eq!(first("{\"a\":1} {\"b\":2}"), Some("{\"a\":1}"));
        assert_eq!(first("Use {placeholder} then {\"name\":\"q\"}"), Some("{\"name\":\"q\"}"));
        assert_eq!(first("[{\"a\":1},{\"a\":2}]"), Some("{\"a\":1}"));
        assert_eq!(first("[1,{\"z\":0}]"), Some("{\"z\":0}"));
        assert_eq!(first("[] then {}"), Some("{}"));
        assert_eq!(first("x {\"a\": {\"b\": 1}"), Some("{\"b\": 1}"));
        assert_eq!(first("{\"a\": NaN, \"b\": {\"c\": 01}} [[{\"d\": -1.5e+3}]"), Some("{\"d\": -1.5e+3}"));
        // an object in a string is found when the document around it is broken
        assert_eq!(first("{\"code\": \"{}\", }"), Some("{}"));
        assert_eq!(first("{\"code\": \"{}\"}"), Some("{\"code\": \"{}\"}"));
        assert_eq!(first("{\"a\":\"\u{7}\",\"b\":{}}"), Some("{}"));
    }

    #[test]
    fn settling_brackets_changes_nothing() {
        let pieces = ["{", "}", "[", "]", "\"", ",", ":", "\"a\":", "1", " ", "\\", "{}", "[{", "\"{", "x"];
        // a linear congruential generator: the same texts on every run
        let mut state = 12_345_u64;
        let mut next = |below: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % below
        };
        for _ in 0..20_000 {
            let text: String = (0..next(30)).map(|_| pieces[next(pieces.len())]).collect();
            assert_eq!(first_object(&text), by_definition(&text), "{text:?}");
        }
    }

    #[test]
    fn work_is_linear_and_nesting_bounded() {
        let started = Instant::now();
        let length = 2_000_000;
        assert_eq!(first(&"[".repeat(length)), None);
        assert_eq!(first(&"{\"a\":".repeat(length / 5)), None);
        assert_eq!(first(&"{\"".repeat(length / 2)), None);
        assert_eq!(first(&"[\"[\",".repeat(length / 5)), None);
        assert_eq!(first(&("[".repeat(length / 2) + &"]".repeat(length / 2))), None);
        let inner = "[".repeat(600) + "{}" + &"]".repeat(600);
        assert_eq!(first(&inner), Some("{}"));
        // quadratic work would take hours
        assert!(started.elapsed().as_secs() < 60);
        let deep = |levels: usize| "{\"a\":".repeat(levels) + "1" + &"}".repeat(levels);
        assert_eq!(first(&deep(512)).map(str::len), Some(deep(512).len()));
        assert_eq!(first(&deep(514)).map(str::len), Some(deep(512).len()));
    }

    fn picked(answer: &str) -> Option<(&str, Place)> {
        candidate(answer).map(|found| (&answer[found.span.start..found.span.end], found.place))
    }

    #[test]
    fn a_json_fence_points_at_the_candidate() {
        let bash = "```bash\necho '{}'\n```\n```json\n{\"a\": 1}\n```\n";
        assert_eq!(picked(bash), Some(("{\"a\": 1}", Place::Fence)));
        assert_eq!(picked("```json\n{\"a\": 1}\n```"), Some(("{\"a\": 1}", Place::First)));
        assert_eq!(picked("{} ~~~ JSON\n~~~ JSON\n [{\"a\": 1}] \n~~~"), Some(("{\"a\": 1}", Place::Fence)));
        // content that is not JSON as a whole, or gives no object, points at nothing
        assert_eq!(picked("{}\n```json\n{\"a\": 1} // x\n```"), Some(("{}", Place::First)));
        assert_eq!(picked("{}\n```json\n[1]\n```"), Some(("{}", Place::First)));
        // a fence inside of another one, or of a string, is none
        assert_eq!(picked("{}\n````md\n```json\n{\"a\": 1}\n```\n````"), Some(("{}", Place::First)));
        let whole = "{\"code\": \"x\"}";
        assert_eq!(picked(whole), Some((whole, Place::First)));
        assert_eq!(picked("{}\n```json\n{\"a\": 1}"), Some(("{\"a\": 1}", Place::Fence)));
    }
}
