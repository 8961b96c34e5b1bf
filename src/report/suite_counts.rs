//! What a suite holds, counted by what it takes to grade it.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde::Serialize;
use skill_lift_text::screen::visible;

use super::numbers::{count, counted};
use crate::suite::{AssertionClass, Dialect, Suite};

/// The counts of a suite of a dialect that leaves the shape of assertions open.
#[derive(Serialize)]
pub struct SuiteCounts<'s> {
    dialect: &'static str,
    skill_name: &'s str,
    /// How the cases stand in the file.
    container: &'static str,
    cases: usize,
    /// Without the tasks that give scores outside of every pass rate.
    assertions: usize,
    common_assertions: usize,
    /// By what it takes to decide them.
    by_class: BTreeMap<&'static str, usize>,
    /// Those that no judge decides, by type.
    by_kind: BTreeMap<&'static str, usize>,
    /// Those that a judge decides, by the kind that the author named.
    judge_types: BTreeMap<&'s str, usize>,
    ungraded_cases: usize,
    trigger: TriggerCounts,
    /// Input files that the cases declare.
    fixtures: usize,
}

/// Cases that say whether they should trigger the skill, and queries that should.
#[derive(Debug, Default, Serialize)]
struct TriggerCounts {
    should_trigger: usize,
    should_not_trigger: usize,
    unlabelled: usize,
}

impl TriggerCounts {
    fn total(&self) -> usize {
        self.should_trigger + self.should_not_trigger + self.unlabelled
    }
}

impl<'s> SuiteCounts<'s> {
    /// Counts a suite.
    pub fn of(suite: &'s Suite) -> Self {
        let mut counts = Self {
            dialect: suite.dialect.name(),
            skill_name: &suite.skill_name,
            container: suite.container,
            cases: suite.cases.len(),
            assertions: 0,
            common_assertions: suite.common_assertions,
            by_class: BTreeMap::new(),
            by_kind: BTreeMap::new(),
            judge_types: BTreeMap::new(),
            ungraded_cases: suite.cases.iter().filter(|case| case.is_ungraded()).count(),
            trigger: TriggerCounts::default(),
            fixtures: suite.cases.iter().map(|case| case.files.len()).sum(),
        };
        for assertion in suite.cases.iter().flat_map(|case| &case.assertions) {
            let class = assertion.class();
            *counts.by_class.entry(class.word()).or_default() += 1;
            // a shared benchmark counts scores in its pass rate when they have a threshold; the others never do
            let counted = class != AssertionClass::Score || suite.dialect == Dialect::SharedBenchmark;
            counts.assertions += usize::from(counted);
            match class {
                AssertionClass::Judge => {
                    let kind = assertion.original_type.as_deref().unwrap_or("text");
                    *counts.judge_types.entry(kind).or_default() += 1;
                }
                AssertionClass::Score => {}
                _ => *counts.by_kind.entry(assertion.assertion_type.word()).or_default() += 1,
            }
        }
        for case in &suite.cases {
            match case.should_trigger {
                Some(true) => counts.trigger.should_trigger += 1,
                Some(false) => counts.trigger.should_not_trigger += 1,
                None if case.is_trigger() => counts.trigger.unlabelled += 1,
                None => {}
            }
        }
        counts
    }

    fn class(&self, class: AssertionClass) -> usize {
        self.by_class.get(class.word()).copied().unwrap_or_default()
    }

    /// What a person needs to know first: what can be graded, by what, and what cannot.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write(&self, out: &mut dyn Write, path: &str) -> io::Result<()> {
        let name = visible(self.skill_name, false);
        if self.dialect == Dialect::SkillEval.name() {
            writeln!(out, "OK: {}", visible(path, false))?;
            writeln!(out, "skill_name: {name}")?;
            writeln!(out, "evals: {}", self.cases)?;
            writeln!(out, "common_assertions: {}", self.common_assertions)?;
            return writeln!(out, "fixtures: {} checked", self.fixtures);
        }
        let (cases, assertions) =
            (counted(self.cases, "case", "cases"), counted(self.assertions, "assertion", "assertions"));
        writeln!(out, "OK: {name} — {cases}, {assertions} ({})", self.dialect)?;
        let neither = if self.ungraded_cases > 0 { " (no assertion: neither passed nor failed)" } else { "" };
        writeln!(out, "ungraded: {} of {cases}{neither}", count(self.ungraded_cases))?;
        let offline = self.class(AssertionClass::Deterministic);
        writeln!(out, "graded offline: {}", counted(offline, "assertion", "assertions"))?;
        writeln!(out, "need a judge: {}", counted(self.class(AssertionClass::Judge), "assertion", "assertions"))?;
        for (class, what) in [
            (AssertionClass::Score, "scored by a judge, outside of every pass rate"),
            (AssertionClass::Script, "need --allow-scripts"),
            (AssertionClass::Trace, "need a trace"),
            (AssertionClass::Retired, "retired"),
        ] {
            if self.class(class) > 0 {
                writeln!(out, "{what}: {}", counted(self.class(class), "assertion", "assertions"))?;
            }
        }
        let TriggerCounts { should_trigger, should_not_trigger, unlabelled } = &self.trigger;
        if self.trigger.total() > 0 {
            let total = self.trigger.total();
            writeln!(
                out,
                "trigger: {total} in all, {should_trigger} should, {should_not_trigger} should not, {unlabelled} unlabelled"
            )?;
        }
        Ok(())
    }
}
