//! Whether a run directory is as its writer left it.

use std::collections::BTreeMap;

use skill_lift_contract::artifact_commit::{ArtifactCommit, ArtifactSet, FILE_NAME};

use super::directory::{FileProblem, RunDirectory};
use super::limits::Limits;
use crate::json;

/// Compares a run directory with its `artifact-commit.json`, if it has one.
pub(super) fn check(directory: &mut RunDirectory, limits: &Limits) -> ArtifactSet {
    let bytes = match directory.read(FILE_NAME, limits.sidecar_bytes) {
        Ok(bytes) => bytes,
        Err(FileProblem::Missing(_)) => return ArtifactSet::LegacyUndeclared,
        Err(_) => return ArtifactSet::InvalidCommit,
    };
    let Some(commit) = read_commit(&bytes) else {
        return ArtifactSet::InvalidCommit;
    };
    if commit.required_files.iter().any(|name| !commit.inventory_sha256.contains_key(name)) {
        return ArtifactSet::InvalidCommit;
    }
    let Ok(Some(paths)) = directory.every_file(limits.directory_entries) else {
        return ArtifactSet::Incomplete;
    };
    let mut found = BTreeMap::new();
    for path in paths.into_iter().filter(|path| path != FILE_NAME) {
        match directory.digest(&path) {
            Ok(digest) => found.insert(path, digest.to_string()),
            Err(_) => return ArtifactSet::Incomplete,
        };
    }
    if found == commit.inventory_sha256 { ArtifactSet::Complete } else { ArtifactSet::Incomplete }
}

fn read_commit(bytes: &[u8]) -> Option<ArtifactCommit> {
    let text = std::str::from_utf8(bytes).ok()?;
    json::parse(text, json::Limits::SIDECAR).ok()?;
    let commit: ArtifactCommit = serde_json::from_str(text).ok()?;
    (commit.schema_version == 1).then_some(commit)
}
