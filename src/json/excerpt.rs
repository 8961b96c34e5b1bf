//! Some members of a large object, found in one pass through a stream.
//!
//! A report can be as large as the memory that one would want to spend on it, while a command needs a list of a few kilobytes
//! near its end. What nobody asked for is passed over: it must close what it opens, and is not judged beyond that.

use std::io::{self, Read};

use super::read::string_of;
use super::scan::{after_space, end_of_plain};

/// Bytes that are read at a time.
const CHUNK: usize = 256 * 1024;
/// The longest key that is compared with what is asked for.
const LONGEST_KEY: usize = 512;

/// Why an excerpt could not be made.
#[derive(Debug, thiserror::Error)]
pub enum ExcerptError {
    /// The source cannot be read.
    #[error(transparent)]
    Unreadable(#[from] io::Error),
    /// The text is no JSON object.
    #[error("it is no object")]
    NoObject,
    /// It ends before the object does, or brackets are missing.
    #[error("invalid JSON: {what} at byte {at}")]
    Syntax {
        /// What is wrong.
        what: &'static str,
        /// How many bytes stand before it.
        at: u64,
    },
    /// A member that is asked for is there twice.
    #[error("duplicate key `{0}`")]
    DuplicateKey(String),
    /// A member that is asked for is longer than the caller keeps.
    #[error("`{0}` is longer than what is read of it")]
    TooLong(String),
    /// A member that is asked for is not UTF-8.
    #[error("not valid UTF-8")]
    NotUtf8,
}

/// The texts of members of the object in `source`, in the order of `wanted`; `None` for one that is not there.
///
/// The texts are read no further than to where they end: give them to [`super::parse`] or [`super::Tape::read`]. Not more than
/// `longest` bytes are kept of each.
///
/// # Errors
/// When the source cannot be read, holds no object, or has a wanted member twice or in more bytes.
pub fn members_of(mut source: impl Read, wanted: &[&str], longest: usize) -> Result<Vec<Option<String>>, ExcerptError> {
    let mut excerpt = Excerpt {
        wanted,
        longest,
        found: vec![None; wanted.len()],
        place: Place::Before,
        open: Vec::new(),
        string: None,
        key: Vec::new(),
        kept: None,
        at: 0,
    };
    let mut chunk = vec![0; CHUNK];
    loop {
        match source.read(&mut chunk) {
            Ok(0) => return excerpt.finish(),
            Ok(length) => excerpt.take(&chunk[..length])?,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// Where in the outermost object the reading stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Before its brace.
    Before,
    /// Where a key must come; the brace may close in its stead when nothing came before.
    Key,
    /// Within a key.
    InKey,
    /// Between a key and its colon.
    Colon,
    /// In a value.
    Value,
    /// After its end.
    After,
}

/// Whether the next byte of the string that is open is escaped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum InString {
    Plain,
    Escape,
}

struct Excerpt<'w> {
    wanted: &'w [&'w str],
    longest: usize,
    found: Vec<Option<Vec<u8>>>,
    place: Place,
    /// The brackets that must close, the outermost first.
    open: Vec<u8>,
    string: Option<InString>,
    /// The key that is read or was read last, in quotes, as far as it can matter.
    key: Vec<u8>,
    /// The wanted member that is being read.
    kept: Option<usize>,
    /// Bytes of earlier chunks.
    at: u64,
}

/// Deepest nesting that is followed, as for what is read in full.
const DEEPEST: usize = 512;

impl Excerpt<'_> {
    fn take(&mut self, chunk: &[u8]) -> Result<(), ExcerptError> {
        let mut at = 0;
        while at < chunk.len() {
            let start = at;
            at = match self.string {
                Some(in_string) => self.in_string(in_string, chunk, at)?,
                None => self.between(chunk, at)?,
            };
            self.keep(&chunk[start..at])?;
        }
        self.at += chunk.len() as u64;
        Ok(())
    }

    /// Reads on within a string; answers how far it came.
    fn in_string(&mut self, in_string: InString, chunk: &[u8], at: usize) -> Result<usize, ExcerptError> {
        if in_string == InString::Escape {
            self.string = Some(InString::Plain);
            return Ok(at + 1);
        }
        let end = end_of_plain(chunk, at);
        match chunk.get(end) {
            None => return Ok(end),
            Some(b'"') => self.string = None,
            Some(b'\\') => self.string = Some(InString::Escape),
            Some(_) => return Err(self.syntax("control character in a string", end)),
        }
        Ok(end + 1)
    }

    /// Reads one sign, or white space, outside of strings; answers how far it came.
    fn between(&mut self, chunk: &[u8], at: usize) -> Result<usize, ExcerptError> {
        if self.place == Place::InKey {
            self.place = Place::Colon;
            self.choose()?;
        }
        let byte = chunk[at];
        let is_space = matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
        match self.place {
            _ if is_space => return Ok(after_space(chunk, at)),
            Place::Before if byte == b'{' => {
                self.open.push(byte);
                self.place = Place::Key;
            }
            Place::Before if self.is_byte_order_mark(byte, at) => {}
            Place::Before => return Err(ExcerptError::NoObject),
            Place::Key if byte == b'"' => {
                self.key.clear();
                self.string = Some(InString::Plain);
                self.place = Place::InKey;
            }
            Place::Key if byte == b'}' => self.close(byte, at)?,
            Place::Key => return Err(self.syntax("expected a key in double quotes", at)),
            Place::Colon if byte == b':' => self.place = Place::Value,
            Place::Colon => return Err(self.syntax("expected `:` after a key", at)),
            Place::After => return Err(self.syntax("unexpected text after the value", at)),
            Place::InKey | Place::Value => return self.in_value(chunk, at),
        }
        Ok(at + 1)
    }

    /// Reads on in a value, up to the next string or what ends the value.
    fn in_value(&mut self, chunk: &[u8], start: usize) -> Result<usize, ExcerptError> {
        let mut at = start;
        while let Some(byte) = chunk.get(at).copied() {
            match byte {
                b'"' => {
                    self.string = Some(InString::Plain);
                    return Ok(at + 1);
                }
                b'{' | b'[' if self.open.len() >= DEEPEST => return Err(self.syntax("nested too deep", at)),
                b'{' | b'[' => self.open.push(byte),
                b',' | b'}' | b']' if self.open.len() == 1 => {
                    if at > start {
                        // these bytes belong to the value, this one does not
                        return Ok(at);
                    }
                    self.kept = None;
                    if byte == b',' {
                        self.place = Place::Key;
                    } else {
                        self.close(byte, at)?;
                    }
                    return Ok(at + 1);
                }
                b'}' | b']' => self.close(byte, at)?,
                b' ' | b'\t' | b'\n' | b'\r' => {
                    at = after_space(chunk, at);
                    continue;
                }
                _ => {}
            }
            at += 1;
        }
        Ok(at)
    }

    fn close(&mut self, byte: u8, at: usize) -> Result<(), ExcerptError> {
        let opened = self.open.pop();
        if !matches!((opened, byte), (Some(b'{'), b'}') | (Some(b'['), b']')) {
            return Err(self.syntax("a bracket closes what another one opened", at));
        }
        if self.open.is_empty() {
            self.place = Place::After;
        }
        Ok(())
    }

    /// The key has been read: decides whether its value is kept.
    fn choose(&mut self) -> Result<(), ExcerptError> {
        // a key that is cut is longer than all that are asked for
        let Ok(written) = std::str::from_utf8(&self.key) else { return Ok(()) };
        let key = string_of(written);
        self.kept = self.wanted.iter().position(|wanted| *wanted == key);
        if let Some(found) = self.kept.map(|position| &mut self.found[position]) {
            if found.is_some() {
                return Err(ExcerptError::DuplicateKey(key.into_owned()));
            }
            *found = Some(Vec::new());
        }
        Ok(())
    }

    /// Keeps bytes that were just read, where somebody asked for them.
    fn keep(&mut self, bytes: &[u8]) -> Result<(), ExcerptError> {
        if self.place == Place::InKey {
            let room = LONGEST_KEY.saturating_sub(self.key.len());
            self.key.extend_from_slice(&bytes[..bytes.len().min(room)]);
        } else if self.place == Place::Value
            && let Some(position) = self.kept
            && let Some(found) = &mut self.found[position]
        {
            if found.len() + bytes.len() > self.longest {
                return Err(ExcerptError::TooLong(self.wanted[position].to_owned()));
            }
            found.extend_from_slice(bytes);
        }
        Ok(())
    }

    fn is_byte_order_mark(&self, byte: u8, at: usize) -> bool {
        usize::try_from(self.at).ok().and_then(|before| "\u{feff}".as_bytes().get(before + at)) == Some(&byte)
    }

    fn syntax(&self, what: &'static str, at: usize) -> ExcerptError {
        ExcerptError::Syntax { what, at: self.at + at as u64 }
    }

    fn finish(self) -> Result<Vec<Option<String>>, ExcerptError> {
        match self.place {
            Place::Before => return Err(ExcerptError::NoObject),
            Place::After => {}
            _ => return Err(self.syntax("the text ends before its object does", 0)),
        }
        // the first byte is the colon before the value
        let value = |bytes: Vec<u8>| match std::str::from_utf8(&bytes) {
            Ok(text) => Ok(text.trim_start_matches(':').trim().to_owned()),
            Err(_) => Err(ExcerptError::NotUtf8),
        };
        self.found.into_iter().map(|found| found.map(value).transpose()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::{Limits, parse};

    /// A source that gives `step` bytes at a time.
    struct Drops<'a>(&'a [u8], usize);

    impl Read for Drops<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let length = self.1.min(self.0.len()).min(buffer.len());
            let (now, later) = self.0.split_at(length);
            buffer[..length].copy_from_slice(now);
            self.0 = later;
            Ok(length)
        }
    }

    /// The members `a` and `b`, whatever the size of the pieces.
    fn excerpt(text: &str) -> Result<Vec<Option<String>>, String> {
        let results = [1, 2, 3, 7, 1000]
            .map(|step| members_of(Drops(text.as_bytes(), step), &["a", "b"], 64).map_err(|error| error.to_string()));
        assert!(results.iter().all(|result| *result == results[0]), "{text}: {results:?}");
        results[0].clone()
    }

    #[test]
    fn members_have_the_text_that_a_full_reading_gives_them() {
        let text = "\u{feff} {\"x\": [{\"a\": \"}\"}, \"\\\\\\\"]\"] , \"\\u0061\" : [1, {\"b\": \"] \u{e4}\"}] ,\n \"b\":-1.5e3}\n";
        let found = excerpt(text).unwrap();
        assert_eq!(found, [Some("[1, {\"b\": \"] \u{e4}\"}]".to_owned()), Some("-1.5e3".to_owned())]);
        let whole = parse(text, Limits::SIDECAR).unwrap();
        for (key, found) in ["a", "b"].iter().zip(&found) {
            let span = whole.get(key).unwrap().span;
            assert_eq!(found.as_deref(), Some(&text[span.start..span.end]), "{key}");
        }
    }

    #[test]
    fn members_that_are_not_there_are_none() {
        assert_eq!(excerpt("{}").unwrap(), [None, None]);
        assert_eq!(excerpt("{\"c\": {\"a\": 1}, \"b\": null}").unwrap(), [None, Some("null".to_owned())]);
        let long = format!("{{\"{}\": 1, \"a\": 2}}", "k".repeat(3 * LONGEST_KEY));
        assert_eq!(excerpt(&long).unwrap(), [Some("2".to_owned()), None]);
    }

    #[test]
    fn what_is_no_object_or_does_not_close_is_said() {
        for (text, expected) in [
            ("", "it is no object"),
            ("[1]", "it is no object"),
            ("{\"a\": 1", "invalid JSON: the text ends before its object does at byte 7"),
            ("{\"a\": [1}", "invalid JSON: a bracket closes what another one opened at byte 8"),
            ("{\"c\": \"\u{1}\"}", "invalid JSON: control character in a string at byte 7"),
            ("{a: 1}", "invalid JSON: expected a key in double quotes at byte 1"),
            ("{\"a\" 1}", "invalid JSON: expected `:` after a key at byte 5"),
            ("{} {}", "invalid JSON: unexpected text after the value at byte 3"),
            ("{\"a\": 1, \"\\u0061\": 2}", "duplicate key `a`"),
        ] {
            assert_eq!(excerpt(text).unwrap_err(), expected, "{text}");
        }
        let long = format!("{{\"a\": \"{}\"}}", "x".repeat(64));
        assert_eq!(excerpt(&long).unwrap_err(), "`a` is longer than what is read of it");
        let deep = format!("{{\"a\": {}", "[".repeat(600));
        assert_eq!(
            members_of(deep.as_bytes(), &["b"], 64).unwrap_err().to_string(),
            "invalid JSON: nested too deep at byte 517"
        );
        assert_eq!(members_of(&b"{\"a\": \"\xff\"}"[..], &["a"], 64).unwrap_err().to_string(), "not valid UTF-8");
    }
}
