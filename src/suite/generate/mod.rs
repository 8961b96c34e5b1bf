//! A starter eval set in the `skill-forge` format, made from what the description of a skill says.
//!
//! In: a [`SkillPackage`](crate::skill::SkillPackage). Out: an [`EvalSet`] that its author reviews and edits, and
//! [`Notice`]s about what the description lacks. The structure is that of the format's own generator; the words of the
//! prompts are ours. Nothing is random: the same skill gives the same set.

mod features;
mod keywords;
mod notice;
mod place;
mod prompts;
mod set;
mod words;

pub use notice::Notice;
pub use place::path_from_file;
pub use set::{EvalSet, generate};
