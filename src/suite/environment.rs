//! What the checks of a suite need to know beside the value at hand.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;

use skill_lift_text::pattern::{Pattern, PatternError};

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
    /// Patterns that were parsed.
    pub(super) patterns: Patterns,
}

/// Patterns that were parsed, so that one which stands in many cases, or in a row of a dataset, is parsed and compiled
/// once.
#[derive(Default)]
pub(super) struct Patterns {
    parsed: RefCell<HashMap<(String, bool), Arc<Pattern>>>,
}

impl Patterns {
    /// The pattern with a source.
    ///
    /// # Errors
    /// What Python refuses.
    pub(super) fn parse(&self, source: &str, ignore_case: bool) -> Result<Arc<Pattern>, PatternError> {
        let key = (source.to_owned(), ignore_case);
        if let Some(known) = self.parsed.borrow().get(&key) {
            return Ok(Arc::clone(known));
        }
        let pattern = Arc::new(Pattern::parse(source, ignore_case)?);
        self.parsed.borrow_mut().insert(key, Arc::clone(&pattern));
        Ok(pattern)
    }
}
