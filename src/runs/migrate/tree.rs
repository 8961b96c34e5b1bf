//! Finding the run directories of a tree.

use std::fs;
use std::path::Path;

use skill_lift_contract::artifact_commit;

use super::TARGETS;
use super::problem::LeftAlone;
use crate::runs::directory::plain_message;
use crate::runs::index::{is_output, listing_error};
use crate::runs::layout_error::LayoutError;
use crate::runs::listing::{Entry, EntryKind, Listing, ListingError};

/// What was found below a root.
pub(super) struct Found {
    /// Run directories with one of the files; paths below the root, empty for the root itself, in the order of their
    /// components.
    pub(super) runs: Vec<String>,
    /// Folders that were not looked into and links that were not followed, by their paths.
    pub(super) problems: Vec<(String, LeftAlone)>,
}

/// Looks through a tree. Links are not followed: what lies inside of the root is found without them. Below a run only
/// its repetitions and turns are runs; everything else there is what the agent made, and an agent may well have been
/// asked to write a `metadata.json`.
///
/// # Errors
/// When the root itself cannot be listed.
pub(super) fn find(root: &Path, entry_limit: usize) -> Result<Found, LayoutError> {
    let mut found = Found { runs: Vec::new(), problems: Vec::new() };
    // a stack, since a tree may be nested as deep as its author likes; the first folder is on its top
    let mut waiting = vec![String::new()];
    while let Some(path) = waiting.pop() {
        let listing = match Listing::read(&root.join(&path), &|| fs::canonicalize(root), entry_limit) {
            Ok(listing) => listing.unwrap_or_default(),
            Err(error) if path.is_empty() => return Err(listing_error("", error)),
            Err(ListingError::TooManyEntries(limit)) => {
                found.problems.push((path, LeftAlone::TooManyEntries(limit)));
                continue;
            }
            Err(ListingError::Io(error)) => {
                found.problems.push((path, LeftAlone::CannotRead(plain_message(&error))));
                continue;
            }
        };
        // everything below is declared, with its digest
        let is_committed = listing.get(artifact_commit::FILE_NAME).is_some();
        let has_target =
            TARGETS.iter().any(|name| listing.get(name).is_some() || listing.refused.iter().any(|link| link == name));
        // the root may well have a folder `outputs` without being a run
        let is_run = listing.entries().iter().any(|entry| is_output(&entry.name)) && (has_target || !path.is_empty());
        let may_hold_runs = |name: &str| match (is_committed, is_run) {
            (true, _) => false,
            (false, true) => name.starts_with("run-") || name.starts_with("turn-"),
            (false, false) => true,
        };
        let below = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}/{name}") };
        let is_target = |name: &str| TARGETS.contains(&name);
        for name in listing.refused.iter().filter(|name| may_hold_runs(name) && !is_target(name)) {
            found.problems.push((below(name), LeftAlone::LinkRefused));
        }
        let is_folder = |entry: &&Entry| entry.kind == EntryKind::Directory && !entry.is_link;
        let folders = listing.entries().iter().rev().filter(is_folder);
        waiting.extend(folders.filter(|entry| may_hold_runs(&entry.name)).map(|entry| below(&entry.name)));
        if has_target {
            found.runs.push(path);
        }
    }
    Ok(found)
}
