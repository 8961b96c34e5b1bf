//! Graded runs as polars frames, `runs`, `assertions` and `one_arm`: a projection of the graded tree, never edited.
//!
//! In: graded runs in report order. Out: [`Frames`], also as Parquet. The schema is in [`schema`], in one place.
//! Frames hold integers, text and booleans, with nulls where nothing was measured; no rate is stored. Computes nothing.

mod build;
mod key_order;
mod one_arm;
mod parquet;
pub mod schema;
mod telemetry;

pub use build::{FrameBuilder, Frames};
pub use key_order::KeyOrder;
mod trace;

pub use trace::traces;

/// A frame that cannot be built, read or written.
#[derive(Debug, thiserror::Error)]
pub enum FrameError {
    /// polars refuses.
    #[error("cannot build the table of runs: {0}")]
    Polars(#[from] polars::prelude::PolarsError),
    /// The system refuses.
    #[error("cannot write {path}: {source}")]
    Write {
        /// The file.
        path: String,
        /// What the system says.
        source: std::io::Error,
    },
}
