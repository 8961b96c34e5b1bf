//! What the arms of a report are called in a format, in the order in which its tools compare them.

use std::collections::BTreeSet;

use skill_lift_contract::ContentDigest;
use skill_lift_contract::run_key::model_directory;

use super::runs::ExportedReport;
use crate::analyze::table::{Baseline, WITH_SKILL};
use crate::runs::workspace::may_hold_evals;
use crate::runs::{Configuration, Role};

/// The files of which tools are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Those of skill-creator.
    SkillCreator,
    /// Those of the forge pipeline.
    SkillForge,
}

/// What an arm is in the comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ArmRole {
    /// It has the skill.
    Treatment,
    /// What it is compared with.
    Baseline,
    /// It is shown and not compared.
    Other,
}

/// An arm, of one model where there are several.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arm {
    /// Its role.
    pub role: ArmRole,
    /// Its model, where the report has several.
    pub model: Option<String>,
    /// Its name in the report.
    pub variant: String,
    /// The name of its folder.
    pub name: String,
}

/// Why arms cannot be named in a format.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ArmsProblem {
    /// There is no arm with the skill.
    #[error("the report has no runs of {WITH_SKILL}: there is nothing that a workspace could compare")]
    NoTreatment,
    /// The format has one folder for each arm, and runs of several models.
    #[error(
        "a workspace of the forge pipeline has room for one model, and the report has runs of {}: choose one with --model",
        if let [only] = .0.as_slice() { format!("{only} and of a model without a name") } else { .0.join(", ") }
    )]
    SeveralModels(Vec<String>),
    /// The name would be read as another arm.
    #[error("the arm {variant}{} cannot be the name of a folder that is read back as this arm", of_model(model.as_deref()))]
    Name {
        /// The arm.
        variant: String,
        /// Its model.
        model: Option<String>,
    },
}

fn of_model(model: Option<&str>) -> String {
    model.map(|model| format!(" of the model {model}")).unwrap_or_default()
}

/// The arms of a report: for each model the one with the skill, then its baseline; then all others.
///
/// # Errors
/// When the format has no name for one of them.
pub fn arms_of(report: &ExportedReport<'_>, format: Format) -> Result<Vec<Arm>, ArmsProblem> {
    let baseline = report.analysis.table.baseline;
    let tells_models = report.tells_models();
    if tells_models && format == Format::SkillForge {
        return Err(ArmsProblem::SeveralModels(report.models().into_iter().map(str::to_owned).collect()));
    }
    let mut seen = BTreeSet::new();
    let mut arms = Vec::new();
    for row in report.rows {
        let model = row.model.as_deref().filter(|_| tells_models);
        let role = role(&row.variant, baseline);
        if !seen.insert((model, row.variant.as_str())) || role == ArmRole::Other && format == Format::SkillForge {
            continue;
        }
        let name = match format {
            Format::SkillForge if role == ArmRole::Treatment => "with_skill".to_owned(),
            Format::SkillForge => "baseline".to_owned(),
            Format::SkillCreator => folder_name(&row.variant, model, baseline),
        };
        let name = match arms.iter().any(|arm: &Arm| arm.name == name) {
            // `a:b` and `a-b` are two arms
            true => format!("{name}-{}", &ContentDigest::of(row.variant.as_bytes()).to_string()[..8]),
            false => name,
        };
        let arm = Arm { role, model: model.map(str::to_owned), variant: row.variant.clone(), name };
        if !is_read_back(&arm) {
            return Err(ArmsProblem::Name { variant: arm.variant, model: arm.model });
        }
        arms.push(arm);
    }
    if !arms.iter().any(|arm| arm.role == ArmRole::Treatment) {
        return Err(ArmsProblem::NoTreatment);
    }
    let is_compared = |arm: &Arm| arm.role != ArmRole::Other;
    arms.sort_by(|a, b| {
        let key = |arm: &Arm| (!is_compared(arm), arm.model.clone(), arm.role);
        key(a).cmp(&key(b))
    });
    Ok(arms)
}

pub(super) fn role(variant: &str, baseline: Baseline) -> ArmRole {
    match variant {
        WITH_SKILL => ArmRole::Treatment,
        variant if variant == baseline.variant() => ArmRole::Baseline,
        _ => ArmRole::Other,
    }
}

/// The tools of skill-creator take the first two folders by name: the skill's arm must come first.
fn folder_name(variant: &str, model: Option<&str>, baseline: Baseline) -> String {
    let name = match (variant, baseline) {
        (WITH_SKILL, Baseline::OldSkill) => "new_skill".to_owned(),
        (WITH_SKILL | "without_skill" | "old_skill", _) => variant.to_owned(),
        (other, _) => format!("z-{}", model_directory(&other.replace(':', "-"))),
    };
    match model {
        Some(model) => format!("{}_{name}", model_directory(model)),
        None => name,
    }
}

/// Whether readers find the arm again under its folder.
fn is_read_back(arm: &Arm) -> bool {
    let read = Configuration::parse(&arm.name);
    let is_role = match arm.role {
        ArmRole::Treatment => read.role == Role::Treatment,
        ArmRole::Baseline => matches!(read.role, Role::Control | Role::OldSkill),
        ArmRole::Other => read.role == Role::Other || read.variant() == arm.variant,
    };
    let is_model = arm.role == ArmRole::Other || read.model == arm.model;
    is_role && is_model && may_hold_evals(&arm.name) && arm.name.len() <= LONGEST_NAME
}

/// Bytes of a name of a folder, with room for what is added to it.
const LONGEST_NAME: usize = 200;
