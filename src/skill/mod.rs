//! An Agent Skill as its author keeps it: a folder with a `SKILL.md`, which has front matter and a body.
//!
//! In: a folder that may be hostile. Out: a [`SkillPackage`], or a [`SkillError`] that names file and line and says what
//! to do. [`SkillProfile`] is how large a skill is. Knows nothing of suites.

mod front_matter;
mod headings;
mod package;
mod profile;
mod within;

pub use front_matter::FrontMatterProblem;
pub use package::{SkillError, SkillPackage, read_skill};
pub use profile::{FindingKind, ProfileFinding, ProfileLimits, ProfiledFile, ProfiledReference, SkillProfile};
