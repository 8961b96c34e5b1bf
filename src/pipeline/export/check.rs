//! Whether the place of an export is free.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::{ExportError, Place};
use crate::json::{Limits, parse};
use crate::runs::read_named;
use crate::runs::workspace::OWN_KEY;

/// Files of an export beside its evals.
const FILES: [&str; 2] = ["benchmark.json", "benchmark.md"];

/// Bytes of a description of an eval that are read.
const METADATA_BYTES: u64 = 16 << 20;

impl Place {
    /// Looks at the place. Links that the user named are followed.
    pub(super) fn check(out: &Path, replaces: bool) -> Result<Self, ExportError> {
        let shown = || out.display().to_string();
        let failed = |error: io::Error| ExportError::Write { path: shown(), error };
        let target = match fs::canonicalize(out) {
            Ok(place) => place,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(Self { target: out.to_owned(), is_replaced: false });
            }
            Err(error) => return Err(failed(error)),
        };
        let mut names = Vec::new();
        for entry in fs::read_dir(&target).map_err(failed)? {
            names.push(entry.map_err(failed)?.file_name().to_string_lossy().into_owned());
        }
        if names.is_empty() {
            return Ok(Self { target, is_replaced: false });
        }
        if !replaces {
            return Err(ExportError::NotEmpty(shown()));
        }
        names.sort_unstable();
        let is_stranger = |name: &&String| !FILES.contains(&name.as_str()) && !is_exported(&target.join(name));
        let has_evals = names.iter().any(|name| !FILES.contains(&name.as_str()));
        // a benchmark alone may be the report itself
        let stranger = names.iter().find(is_stranger).or_else(|| names.first().filter(|_| !has_evals));
        match stranger {
            Some(stranger) => Err(ExportError::Stranger { folder: shown(), stranger: stranger.clone() }),
            None => Ok(Self { target, is_replaced: true }),
        }
    }
}

/// Whether a folder is an eval that an export wrote.
fn is_exported(folder: &Path) -> bool {
    let is_own = |bytes: Vec<u8>| {
        let text = String::from_utf8(bytes).ok()?;
        let node = parse(&text, Limits::SIDECAR).ok()?;
        node.get(OWN_KEY).map(|own| own.members().is_some())
    };
    let is_folder = fs::symlink_metadata(folder).is_ok_and(|data| data.is_dir());
    let metadata: PathBuf = folder.join("eval_metadata.json");
    is_folder && read_named(&metadata, METADATA_BYTES).ok().and_then(is_own) == Some(true)
}
