//! The characters of a pattern, read with one token of look-ahead.

use super::PatternError;
use crate::python::repr_str;

/// A character, or a backslash and the character after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token {
    Plain(char),
    Escaped(char),
}

impl Token {
    /// The number of code points it takes in the pattern.
    pub(super) const fn length(self) -> usize {
        match self {
            Self::Plain(_) => 1,
            Self::Escaped(_) => 2,
        }
    }

    /// The character, unless it is escaped.
    pub(super) const fn plain(self) -> Option<char> {
        match self {
            Self::Plain(character) => Some(character),
            Self::Escaped(_) => None,
        }
    }

    /// Appends the token as it was written.
    pub(super) fn push_to(self, text: &mut String) {
        match self {
            Self::Plain(character) => text.push(character),
            Self::Escaped(character) => text.extend(['\\', character]),
        }
    }

    /// The token as it was written.
    pub(super) fn written(self) -> String {
        let mut text = String::new();
        self.push_to(&mut text);
        text
    }
}

/// Reads tokens; positions are code points.
#[derive(Debug)]
pub(super) struct Reader {
    characters: Vec<char>,
    /// Where the token after `next` starts.
    index: usize,
    next: Option<Token>,
}

impl Reader {
    pub(super) fn new(pattern: &str) -> Result<Self, PatternError> {
        let mut reader = Self { characters: pattern.chars().collect(), index: 0, next: None };
        reader.advance()?;
        Ok(reader)
    }

    fn advance(&mut self) -> Result<(), PatternError> {
        self.next = match (self.characters.get(self.index), self.characters.get(self.index + 1)) {
            (None, _) => None,
            (Some('\\'), None) => {
                return Err(PatternError::new("bad escape (end of pattern)", self.index));
            }
            (Some('\\'), Some(&character)) => Some(Token::Escaped(character)),
            (Some(&character), _) => Some(Token::Plain(character)),
        };
        self.index += self.next.map_or(0, Token::length);
        Ok(())
    }

    /// The token that comes next.
    pub(super) const fn peek(&self) -> Option<Token> {
        self.next
    }

    /// The character that comes next, unless it is escaped.
    pub(super) fn peek_plain(&self) -> Option<char> {
        self.next.and_then(Token::plain)
    }

    /// Takes the next token.
    pub(super) fn take(&mut self) -> Result<Option<Token>, PatternError> {
        let token = self.next;
        self.advance()?;
        Ok(token)
    }

    /// Takes the next token if it is `character`.
    pub(super) fn take_if(&mut self, character: char) -> Result<bool, PatternError> {
        let matches = self.peek_plain() == Some(character);
        if matches {
            self.advance()?;
        }
        Ok(matches)
    }

    /// Takes up to `limit` characters that `accept` accepts.
    pub(super) fn take_while(&mut self, limit: usize, accept: impl Fn(char) -> bool) -> Result<String, PatternError> {
        let mut taken = String::new();
        for _ in 0..limit {
            match self.peek_plain() {
                Some(character) if accept(character) => taken.push(character),
                _ => break,
            }
            self.advance()?;
        }
        Ok(taken)
    }

    /// Takes a non-empty name up to `terminator`, which is taken too.
    pub(super) fn take_until(&mut self, terminator: char, what: &str) -> Result<String, PatternError> {
        let mut name = String::new();
        let mut length = 0;
        loop {
            let Some(token) = self.take()? else {
                return Err(if name.is_empty() {
                    self.error(format!("missing {what}"), 0)
                } else {
                    self.error(format!("missing {terminator}, unterminated name"), length)
                });
            };
            if token == Token::Plain(terminator) {
                if name.is_empty() {
                    return Err(self.error(format!("missing {what}"), 1));
                }
                return Ok(name);
            }
            token.push_to(&mut name);
            length += token.length();
        }
    }

    /// The position of the next token.
    pub(super) fn position(&self) -> usize {
        self.index - self.next.map_or(0, Token::length)
    }

    /// Goes back to `position`.
    pub(super) fn seek(&mut self, position: usize) -> Result<(), PatternError> {
        self.index = position;
        self.advance()
    }

    /// An error `back` code points before the next token.
    pub(super) fn error(&self, reason: impl Into<String>, back: usize) -> PatternError {
        PatternError::new(reason, self.position().saturating_sub(back))
    }

    /// An error about a group name of which `after` characters more have been read.
    pub(super) fn bad_name(&self, name: &str, after: usize) -> PatternError {
        self.error(format!("bad character in group name {}", repr_str(name)), name.chars().count() + after)
    }
}
