//! Assertions that only one arm of the lift can satisfy, so that they say nothing about the other arm; and those
//! that the checks which are compared wait for.

use std::collections::HashMap;

use skill_lift_text::pattern::Pattern;

use super::check::{Check, ToolCall, ToolRelation, WrittenPattern};
use super::model::{Assertion, Case, Severity};
use super::skill_paths::SkillPaths;

/// The arms of the lift.
const ARMS: [&str; 2] = ["with_skill", "without_skill"];

/// Why only one arm of the lift can satisfy an assertion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum OneArm {
    /// Its `variants` keep it to the runs with the skill.
    OnlyWithSkill,
    /// Its `variants` keep it to the runs without the skill.
    OnlyWithoutSkill,
    /// It asks whether the skill was loaded, which a run without it cannot do.
    SkillInvoked,
    /// It asks for a command or a call that names a path of the skill.
    NamesSkill,
    /// It depends on an assertion that a run without the skill cannot satisfy, and is skipped there.
    Prerequisite,
}

impl OneArm {
    const ALL: [Self; 5] =
        [Self::OnlyWithSkill, Self::OnlyWithoutSkill, Self::SkillInvoked, Self::NamesSkill, Self::Prerequisite];

    /// The code in frames and reports.
    pub fn code(self) -> &'static str {
        match self {
            Self::OnlyWithSkill => "only_with_skill",
            Self::OnlyWithoutSkill => "only_without_skill",
            Self::SkillInvoked => "skill_invoked",
            Self::NamesSkill => "names_skill",
            Self::Prerequisite => "prerequisite",
        }
    }

    /// The reason that a code stands for.
    pub fn from_code(code: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|reason| reason.code() == code)
    }

    /// The arms that are graded on such an assertion.
    pub fn arms(self) -> &'static [&'static str] {
        match self {
            Self::OnlyWithSkill => &ARMS[..1],
            Self::OnlyWithoutSkill => &ARMS[1..],
            Self::SkillInvoked | Self::NamesSkill | Self::Prerequisite => &ARMS,
        }
    }
}

/// Finds them in all cases of a suite with a skill at `skill_paths`.
pub(super) fn mark(cases: &mut [Case], skill_paths: &[String]) {
    let skill = SkillPaths::of(skill_paths);
    for case in cases {
        let turns = case.turns.iter_mut().flat_map(|turn| &mut turn.assertions);
        for assertion in case.assertions.iter_mut().chain(turns) {
            assertion.one_arm = of(assertion, &skill);
        }
        mark_dependents(&mut case.assertions);
        mark_awaited(&mut case.assertions);
    }
}

fn of(assertion: &Assertion, skill: &SkillPaths) -> Option<OneArm> {
    match ARMS.map(|arm| assertion.variants.includes(arm)) {
        [true, false] => Some(OneArm::OnlyWithSkill),
        [false, true] => Some(OneArm::OnlyWithoutSkill),
        // in neither arm, it enters no lift
        [false, false] => None,
        [true, true] => match &assertion.check {
            Check::SkillInvoked { expected: true } => Some(OneArm::SkillInvoked),
            check => asks_for_skill(check, skill).then_some(OneArm::NamesSkill),
        },
    }
}

/// Whether a check holds only where a command or a call names a path of the skill. A run without the skill that does so
/// had it.
fn asks_for_skill(check: &Check, skill: &SkillPaths) -> bool {
    let names = |pattern: &WrittenPattern| {
        // case is told apart in paths; what a match may lack is not asked for
        let literals = Pattern::parse(&pattern.source, false).map(|pattern| pattern.literals()).unwrap_or_default();
        literals.iter().any(|text| skill.are_in(text))
    };
    match check {
        Check::CommandRan { pattern } => names(pattern),
        Check::CommandOrder { patterns } => patterns.iter().any(names),
        Check::ToolCall(ToolCall { pattern, relation, .. }) => match relation {
            ToolRelation::Count { min: 1.., .. } => pattern.as_ref().is_some_and(names),
            ToolRelation::Order(patterns) => patterns.iter().any(names),
            ToolRelation::Count { .. }
            | ToolRelation::NoCall
            | ToolRelation::Required(_)
            | ToolRelation::Exactly(_) => false,
        },
        _ => false,
    }
}

/// What depends on an assertion that a run without the skill is graded on and cannot satisfy is skipped in every such
/// run. An assertion that is kept to one arm blocks nothing in the other.
fn mark_dependents(assertions: &mut [Assertion]) {
    let mut dependents: HashMap<String, Vec<usize>> = HashMap::new();
    for (position, assertion) in assertions.iter().enumerate() {
        for target in &assertion.depends_on {
            dependents.entry(target.clone()).or_default().push(position);
        }
    }
    if dependents.is_empty() {
        return;
    }
    let never_holds = |reason| matches!(reason, Some(OneArm::SkillInvoked | OneArm::NamesSkill));
    let mut unsatisfied: Vec<usize> =
        (0..assertions.len()).filter(|position| never_holds(assertions[*position].one_arm)).collect();
    while let Some(position) = unsatisfied.pop() {
        for dependent in dependents.remove(&assertions[position].label).unwrap_or_default() {
            if assertions[dependent].one_arm.is_none() {
                assertions[dependent].one_arm = Some(OneArm::Prerequisite);
                unsatisfied.push(dependent);
            }
        }
    }
}

/// What a check that enters the lift depends on, directly or not. With equal labels the last one counts, as in grading.
fn mark_awaited(assertions: &mut [Assertion]) {
    let enters = |assertion: &Assertion| assertion.severity != Severity::Soft && assertion.one_arm.is_none();
    let mut waiting: Vec<usize> =
        (0..assertions.len()).filter(|at| enters(&assertions[*at]) && !assertions[*at].depends_on.is_empty()).collect();
    if waiting.is_empty() {
        return;
    }
    let positions: HashMap<String, usize> =
        assertions.iter().enumerate().map(|(at, assertion)| (assertion.label.clone(), at)).collect();
    while let Some(at) = waiting.pop() {
        let targets: Vec<usize> =
            assertions[at].depends_on.iter().filter_map(|target| positions.get(target)).copied().collect();
        for target in targets {
            if !std::mem::replace(&mut assertions[target].is_awaited, true) {
                waiting.push(target);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::suite::{LoadOptions, load};

    /// The reasons of the assertions of a case, by label.
    fn reasons(assertions: &str) -> Vec<(String, Option<&'static str>)> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("shared-benchmark.json");
        let suite = format!(
            r#"{{"version": 2, "skill_name": "pdf", "skill_paths": ["skills/pdf/SKILL.md"],
                 "variants": ["with_skill", "without_skill", "old_skill"],
                 "cases": [{{"id": "a", "split": "tune", "prompt": "p", "assertions": [{assertions}]}}]}}"#
        );
        fs::write(&path, suite).unwrap();
        let loaded = load(&path, &LoadOptions::default());
        let suite = loaded.suite.unwrap_or_else(|| panic!("{:?}", loaded.diagnostics));
        let assertions = &suite.cases[0].assertions;
        let reason = |assertion: &Assertion| assertion.one_arm.map(OneArm::code);
        assertions.iter().map(|assertion| (assertion.label.clone(), reason(assertion))).collect()
    }

    fn reason(assertion: &str) -> Option<&'static str> {
        let gate = r#"{"type": "contains", "value": "x", "name": "gate"}"#;
        reasons(&format!("{assertion}, {gate}"))[0].1
    }

    #[test]
    fn assertions_that_are_kept_to_one_arm_of_the_lift() {
        let scoped = |filter: &str| reason(&format!(r#"{{"type": "contains", "value": "y", {filter}}}"#));
        assert_eq!(scoped(r#""variants": ["with_skill"]"#), Some("only_with_skill"));
        assert_eq!(scoped(r#""except_variants": ["with_skill"]"#), Some("only_without_skill"));
        assert_eq!(scoped(r#""variants": ["with_skill", "old_skill"]"#), Some("only_with_skill"));
        assert_eq!(scoped(r#""except_variants": ["old_skill"]"#), None);
        assert_eq!(scoped(r#""variants": ["old_skill"]"#), None);
    }

    #[test]
    fn assertions_that_a_run_without_the_skill_cannot_satisfy() {
        assert_eq!(reason(r#"{"type": "skill_invoked"}"#), Some("skill_invoked"));
        // both arms can leave the skill alone
        assert_eq!(reason(r#"{"type": "skill_invoked", "expected": false}"#), None);
        assert_eq!(reason(r#"{"type": "skill_invoked", "variants": ["with_skill"]}"#), Some("only_with_skill"));
        let ran = |pattern: &str| reason(&format!(r#"{{"type": "command_ran", "pattern": "{pattern}"}}"#));
        assert_eq!(ran(r"python .*skills/pdf/scripts/fill\\.py"), Some("names_skill"));
        for pattern in [r"python fill\\.py", "skills/excel/a.py", "skills/pdf/a.py|pdftk"] {
            assert_eq!(ran(pattern), None, "{pattern}");
        }
        let pattern = r#""pattern": "skills/pdf/scripts/""#;
        assert_eq!(reason(&format!(r#"{{"type": "command_not_ran", {pattern}}}"#)), None);
        assert_eq!(reason(&format!(r#"{{"type": "tool_call", "tool": "Bash", {pattern}}}"#)), Some("names_skill"));
        let never = format!(r#"{{"type": "tool_call", "tool": "Bash", {pattern}, "expected_no_call": true}}"#);
        assert_eq!(reason(&never), None);
        let order = r#"{"type": "command_order", "patterns": ["ls", "skills/pdf/scripts/fill.py"]}"#;
        assert_eq!(reason(order), Some("names_skill"));
    }

    #[test]
    fn what_depends_on_the_skill_is_skipped_without_it() {
        let found = reasons(
            r#"{"type": "contains", "value": "x", "name": "later", "depends_on": "next"},
               {"type": "contains", "value": "y", "name": "next", "depends_on": ["loads", "free"]},
               {"type": "skill_invoked", "name": "loads"},
               {"type": "contains", "value": "z", "name": "free"},
               {"type": "contains", "value": "w", "name": "scoped", "variants": ["with_skill"]},
               {"type": "contains", "value": "v", "name": "unhindered", "depends_on": "scoped"}"#,
        );
        let found: Vec<(&str, Option<&str>)> = found.iter().map(|(label, reason)| (label.as_str(), *reason)).collect();
        assert_eq!(
            found,
            [
                ("later", Some("prerequisite")),
                ("next", Some("prerequisite")),
                ("loads", Some("skill_invoked")),
                ("free", None),
                ("scoped", Some("only_with_skill")),
                ("unhindered", None),
            ]
        );
    }
}
