//! From the root of a file to a suite.

use std::path::{Path, PathBuf};

use skill_lift_contract::ContentDigest;

use super::files::Roots;
use super::remark::Sink;
use super::{closed, open};
use crate::json::Node;
use crate::suite::model::{Dialect, Suite};
use crate::suite::report::Report;
use crate::suite::top;

/// Reads the suite of a dialect that has no manifest.
pub(in crate::suite) fn load(
    report: &mut Report<'_>,
    root: &Node<'_>,
    path: &Path,
    directory: PathBuf,
    dialect: Dialect,
) -> Option<Suite> {
    let roots = Roots::new(directory, dialect);
    let text = report.source_text();
    let read = match dialect {
        Dialect::SkillEval => closed::read(report, root, &roots),
        _ => open::read(&mut Sink(report), root, &roots, dialect),
    }?;
    let digest = format!("sha256:{}", ContentDigest::of(text.text.as_bytes()));
    Some(Suite {
        dialect,
        path: path.to_owned(),
        directory: roots.suite,
        program_directory: roots.skill,
        repository_root: roots.repository,
        version: None,
        container: read.container,
        skill_name: read.skill_name,
        skill_paths: read.skill_paths,
        variants: top::DEFAULT_VARIANTS.map(str::to_owned).to_vec(),
        cases: read.cases,
        ablations: Vec::new(),
        common_assertions: read.common_assertions,
        scoring: read.scoring,
        digest,
    })
}
