//! What the checks of a suite need to know beside the value at hand.

use std::collections::HashSet;
use std::path::PathBuf;

use super::files::FileLookup;
use super::load::LoadOptions;
use super::script::OracleTrees;

/// The surroundings of a suite.
pub(super) struct Environment {
    /// As given to the loader.
    pub(super) options: LoadOptions,
    /// Files relative to the folder of the suite.
    pub(super) files: FileLookup,
    /// Real path of the repository root.
    pub(super) repository_root: PathBuf,
    /// Arms that the suite declares.
    pub(super) variants: Vec<String>,
    /// Every name that a variant filter may use.
    pub(super) arms: HashSet<String>,
    /// Folders of script oracles that were looked through.
    pub(super) oracle_trees: OracleTrees,
}
