//! The file that a runner writes last: which files the run has, and their digests.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Name of the file in a run directory.
pub const FILE_NAME: &str = "artifact-commit.json";

/// Content of `artifact-commit.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ArtifactCommit {
    /// Always 1.
    pub schema_version: u32,
    /// Files that a reader needs.
    pub required_files: Vec<String>,
    /// Hexadecimal SHA-256 of every regular file of the run directory but this one, by relative path.
    pub inventory_sha256: BTreeMap<String, String>,
}

/// Whether a run directory is as its writer left it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArtifactSet {
    /// No marker: the directory is read as it is.
    LegacyUndeclared,
    /// The marker cannot be read, or is of another version.
    InvalidCommit,
    /// Files are missing, added or changed, or the directory holds a link.
    Incomplete,
    /// Exactly the declared files.
    Complete,
}

impl ArtifactSet {
    /// The code in reports.
    pub fn code(self) -> &'static str {
        match self {
            Self::LegacyUndeclared => "legacy_undeclared",
            Self::InvalidCommit => "invalid_commit",
            Self::Incomplete => "incomplete",
            Self::Complete => "complete",
        }
    }
}
