//! What the strict reader objects to, and where.

use super::Span;

/// A text that does not satisfy the strict reader.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{kind} at {path}")]
pub struct JsonError {
    /// What is wrong.
    pub kind: JsonErrorKind,
    /// Where it stands.
    pub span: Span,
    /// Path of the value that holds the place, like `$.cases[0].prompt`.
    pub path: String,
}

impl JsonError {
    pub(super) fn too_long(length: usize) -> Self {
        Self { kind: JsonErrorKind::TooLong, span: Span { start: 0, end: length }, path: "$".to_owned() }
    }
}

/// What the strict reader refuses.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum JsonErrorKind {
    /// Not JSON at all from here on.
    #[error("invalid JSON: {0}")]
    Syntax(&'static str),
    /// The bytes are not UTF-8.
    #[error("not valid UTF-8")]
    NotUtf8,
    /// An object has the same key twice.
    #[error("duplicate key `{0}`")]
    DuplicateKey(String),
    /// `NaN`, `Infinity` or a number too large for a double.
    #[error("number is not finite")]
    NotFinite,
    /// `\ud800` without its partner.
    #[error("lone surrogate in a string")]
    LoneSurrogate,
    /// A text of 4 GiB or more.
    #[error("the text has 4 GiB or more")]
    TooLong,
    /// Nested deeper than the limit.
    #[error("nested deeper than {0} levels")]
    TooDeep(usize),
}
