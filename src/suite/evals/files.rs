//! The folders around a suite, and the input files that its cases declare.

use std::env;
use std::path::{Component, Path, PathBuf};

use crate::suite::model::Dialect;

/// The folders that paths of a suite may be relative to, all of them real paths.
pub(super) struct Roots {
    /// The folder of the suite.
    pub(super) suite: PathBuf,
    /// The folder of the skill: the one that holds `evals`, else that of the suite.
    pub(super) skill: PathBuf,
    /// The repository; no file outside of it belongs to the suite.
    pub(super) repository: PathBuf,
    /// Where declared files are looked for, in this order.
    bases: Vec<PathBuf>,
}

/// What came of looking for a declared file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Found {
    /// It is there; folders count.
    Here,
    /// It is nowhere.
    Missing,
    /// It is, or would be, outside of the repository.
    Outside,
    /// It is on another machine.
    Remote,
}

impl Roots {
    /// The folders of a suite in a folder, given by its real path.
    pub(super) fn new(suite: PathBuf, dialect: Dialect) -> Self {
        let is_evals = suite.file_name().is_some_and(|name| name == "evals");
        let skill = suite.parent().filter(|_| is_evals).unwrap_or(&suite).to_owned();
        if dialect == Dialect::SkillEval {
            let marked =
                suite.ancestors().find(|folder| folder.join("evals").exists() && folder.join("AGENTS.md").exists());
            let here = || env::current_dir().and_then(|here| here.canonicalize()).ok();
            let repository = match marked {
                Some(folder) => folder.to_owned(),
                // the working directory, if the suite lies in it
                None => here().filter(|here| suite.starts_with(here)).unwrap_or_else(|| suite.clone()),
            };
            let bases = vec![repository.clone(), suite.clone(), suite.join("fixtures")];
            return Self { suite, skill, repository, bases };
        }
        let repository = skill.ancestors().find(|folder| folder.join(".git").exists()).unwrap_or(&skill).to_owned();
        let bases = [&skill, &suite, &suite.join("fixtures"), &suite.join("files"), &repository];
        let bases = bases.into_iter().cloned().collect();
        Self { suite, skill, repository, bases }
    }

    /// Looks for a declared file; the first base that has it decides.
    pub(super) fn find(&self, path: &str) -> Found {
        if path.contains("://") {
            return Found::Remote;
        }
        if path.contains('\0') {
            return Found::Outside;
        }
        for base in &self.bases {
            if let Ok(place) = base.join(path).canonicalize() {
                return if place.starts_with(&self.repository) { Found::Here } else { Found::Outside };
            }
        }
        let leads_inside = |base: &PathBuf| normalised(&base.join(path)).starts_with(&self.repository);
        if self.bases.iter().any(leads_inside) { Found::Missing } else { Found::Outside }
    }
}

/// A path without `..`, links not followed.
fn normalised(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                normal.pop();
            }
            Component::CurDir => {}
            other => normal.push(other),
        }
    }
    normal
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn declared_files_are_found_where_suites_keep_them() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for path in ["repo/.git", "repo/skill/evals/fixtures/d", "repo/skill/scripts"] {
            fs::create_dir_all(root.join(path)).unwrap();
        }
        for path in
            ["secret", "repo/top.txt", "repo/skill/scripts/a.py", "repo/skill/evals/b", "repo/skill/evals/fixtures/c"]
        {
            fs::write(root.join(path), "x").unwrap();
        }
        #[cfg(unix)]
        std::os::unix::fs::symlink(root.join("secret"), root.join("repo/skill/evals/link")).unwrap();
        let roots = Roots::new(root.join("repo/skill/evals"), Dialect::SkillCreator);
        assert_eq!((&roots.skill, &roots.repository), (&root.join("repo/skill"), &root.join("repo")));
        for path in ["scripts/a.py", "evals/b", "b", "c", "d", "fixtures/c", "top.txt", "../top.txt"] {
            assert_eq!(roots.find(path), Found::Here, "{path}");
        }
        assert_eq!(roots.find("nowhere"), Found::Missing);
        assert_eq!(roots.find("https://example.org/a.txt"), Found::Remote);
        for path in ["../../secret", "../../../../../../nowhere", "/nowhere", "link"] {
            assert_eq!(roots.find(path), Found::Outside, "{path}");
        }
        let absolute = root.join("repo/top.txt");
        assert_eq!(roots.find(absolute.to_str().unwrap()), Found::Here);
    }

    #[test]
    fn the_repository_of_a_runner_has_agents_and_evals() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("evals/s/fixtures")).unwrap();
        let suite = root.join("evals/s");
        assert_eq!(Roots::new(suite.clone(), Dialect::SkillEval).repository, suite);
        fs::write(root.join("AGENTS.md"), "").unwrap();
        assert_eq!(Roots::new(suite, Dialect::SkillEval).repository, root);
    }
}
