//! Strict JSON: reading with byte spans and paths, exact comparison, and writing.
//!
//! In: bytes of a file that may be hostile. Out: a [`Node`] tree that borrows from those bytes, or a
//! [`Tape`] of where the values stand, for what is mostly passed through; else a [`JsonError`] that says where and why.
//! Writing lives in [`mod@write`]: two-space indentation, non-ASCII kept; [`edit`] changes members of a text in place.
//!
//! Strict means: UTF-8 only, no duplicate keys, no NaN or infinities, no lone surrogates, bounded nesting.

mod build;
mod compare;
mod difference;
pub mod edit;
mod error;
pub mod excerpt;
mod keys;
mod node;
pub mod pointer;
mod read;
mod scan;
mod tape;
mod view;
pub mod write;

pub use difference::{Difference, first_difference};
pub use error::{JsonError, JsonErrorKind};
pub use node::{Member, Node, Number, Span, Value};
pub use read::{Document, Limits, parse, parse_lines, read};
pub use tape::{Item, Tape};
pub use view::View;
