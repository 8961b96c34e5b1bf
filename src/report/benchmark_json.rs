//! `benchmark.json` and the report of `grade`: the head first, then the spooled rows, then our own blocks.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde::Serialize;
use skill_lift_stats::rational;

use super::cost_json::CostBlock;
use super::ordered::Ordered;
use super::paired_json::{model_analysis, paired_summary};
use super::spool::RowSpool;
use super::stored_json::{StoredBlock, StoredSource};
use super::variants_json::variant_blocks;
use super::{endings_json, flags_json, inference_json, oracles_json, reliability_json, slices_json, trajectory_json};
use crate::analyze::Analysis;
use crate::analyze::table::{Baseline, WITH_SKILL};
use crate::json::write::{new_line, pretty};
use crate::judge::JudgeSpend;

/// Blocks of version 0.6 of the report format that this version does not write yet.
const BLOCKS_MISSING: &[&str] = &["ablation_regressions"];

/// What stands at the top of a report.
#[derive(Debug, Clone)]
pub struct ReportHead {
    /// The suite file as the user typed it.
    pub manifest: String,
    /// The skill under test.
    pub skill_name: String,
    /// Seconds since 1970, only when the user asked for a stamp.
    pub generated_at: Option<i64>,
    /// Trigger cases, which have no answer to grade.
    pub skipped_trigger_cases: Vec<String>,
}

/// Where a report comes from: enough to make it again.
#[derive(Debug, Clone, Serialize)]
pub struct Provenance {
    /// Version of the program.
    pub tool_version: &'static str,
    /// Format of the suite.
    pub dialect: &'static str,
    /// Digest of the suite; `None` when there was none and the tree said what its cases are.
    pub suite_sha256: Option<String>,
    /// The part of the suite that was graded, if not all of it.
    pub suite_split: Option<&'static str>,
    /// Digest of every file that was read below the runs root.
    pub runs_sha256: String,
    /// Flags that differ from their defaults, without paths.
    pub options: BTreeMap<&'static str, serde_json::Value>,
    /// Seed of the random numbers; there are none.
    pub seed: Option<u64>,
    /// Runs that were dropped because another one has the same identity.
    pub duplicates_dropped: usize,
    /// Verdicts that belong to no judgement of the graded runs.
    pub unmatched_judge_results: usize,
    /// Verdicts of judges that failed; they count as not given.
    pub incomplete_judge_results: usize,
    /// Blocks of version 0.6 that are not in the report.
    pub blocks_missing: &'static [&'static str],
}

impl Provenance {
    /// The blocks that a report of this version lacks.
    pub fn blocks_missing() -> &'static [&'static str] {
        BLOCKS_MISSING
    }
}

#[derive(Serialize)]
pub(super) struct Tool {
    name: &'static str,
    version: &'static str,
    compat: &'static str,
}

impl Default for Tool {
    fn default() -> Self {
        Self { name: "skill-lift", version: env!("CARGO_PKG_VERSION"), compat: "0.6" }
    }
}

/// Writes members of an object one after the other.
pub(super) struct Members<'w, W> {
    writer: &'w mut W,
    first: bool,
}

impl<'w, W: Write> Members<'w, W> {
    pub(super) fn open(writer: &'w mut W) -> io::Result<Self> {
        writer.write_all(b"{")?;
        Ok(Self { writer, first: true })
    }

    fn key(&mut self, key: &str) -> io::Result<()> {
        if !self.first {
            self.writer.write_all(b",")?;
        }
        self.first = false;
        new_line(self.writer, 1)?;
        write!(self.writer, "\"{key}\": ")
    }

    pub(super) fn member<T: Serialize + ?Sized>(&mut self, key: &str, value: &T) -> io::Result<()> {
        self.key(key)?;
        pretty(&mut *self.writer, value, 1)
    }

    /// A list of which every item writes itself, two levels deep.
    pub(super) fn list<T>(
        &mut self,
        key: &str,
        items: impl Iterator<Item = T>,
        write: impl Fn(T, &mut dyn Write) -> io::Result<()>,
    ) -> io::Result<()> {
        self.key(key)?;
        self.writer.write_all(b"[")?;
        let mut is_empty = true;
        for item in items {
            if !is_empty {
                self.writer.write_all(b",")?;
            }
            is_empty = false;
            new_line(self.writer, 2)?;
            write(item, self.writer)?;
        }
        if !is_empty {
            new_line(self.writer, 1)?;
        }
        self.writer.write_all(b"]")
    }

    fn rows(&mut self, spool: RowSpool) -> io::Result<()> {
        self.key("results")?;
        spool.move_to(self.writer)
    }

    pub(super) fn close(self) -> io::Result<()> {
        self.writer.write_all(b"\n}\n")?;
        self.writer.flush()
    }
}

/// What a report is made of beside its rows.
#[derive(Debug, Clone, Copy)]
pub struct Sources<'a> {
    /// Its top.
    pub head: &'a ReportHead,
    /// Everything that was computed from the runs.
    pub analysis: &'a Analysis,
    /// What is known of a tree whose verdicts were stored.
    pub stored: Option<StoredSource<'a>>,
    /// What judging cost, if verdicts were given.
    pub judge_spend: Option<&'a JudgeSpend>,
}

/// Writes `benchmark.json`: the keys of version 0.6 in its order as far as they are built, then `inference`, `tool`
/// and `provenance`.
///
/// # Errors
/// Those of the writer and of the spool.
pub fn write_benchmark(
    writer: &mut impl Write,
    sources: Sources<'_>,
    rows: RowSpool,
    provenance: &Provenance,
) -> io::Result<()> {
    let Sources { head, analysis, stored, judge_spend } = sources;
    let minimum = skill_lift_stats::minimum_cases(analysis.inference.thresholds.alpha()).unwrap_or(usize::MAX);
    let by_model = analysis.by_model.iter().map(|(model, arms)| (model.clone(), variant_blocks(analysis, arms)));
    let mut members = Members::open(writer)?;
    members.member("manifest", &head.manifest)?;
    members.member("skill_name", &head.skill_name)?;
    members.member("generated_at", &head.generated_at)?;
    members.member("population", "answer")?;
    let incomplete: Vec<&str> = analysis.incomplete_reasons.iter().map(|reason| reason.code()).collect();
    members.member("availability", if incomplete.is_empty() { "complete" } else { "partial" })?;
    members.member("incomplete_reasons", &incomplete)?;
    members.member("skipped_trigger_cases", &head.skipped_trigger_cases)?;
    members.member("summary", &variant_blocks(analysis, &analysis.variants))?;
    members.member("by_model", &Ordered(by_model.collect()))?;
    let table = &analysis.table;
    members.member("oracle_strength", &oracles_json::strength(table, &analysis.oracle_strength))?;
    members.member("qualitative_by_visibility", &oracles_json::by_visibility(&analysis.judged))?;
    let confidence = rational::to_f64(&(rational::rate(1, 1) - analysis.inference.thresholds.alpha()));
    members.member("paired_summary", &paired_summary(analysis, table.baseline, &analysis.lift, confidence))?;
    if let Some(edit) = &analysis.edit {
        let summary = paired_summary(analysis, Baseline::OldSkill, &edit.summary, confidence);
        members.member("paired_edit_summary", &summary)?;
    }
    members.member("reliability", &reliability_json::block(analysis))?;
    members.member("model_analysis", &model_analysis(analysis))?;
    members.member("slice_summary", &slices_json::summary(table, &analysis.slices, analysis.lift.overall.delta()))?;
    members.member("cost_summary", &CostBlock { cost: &analysis.cost, judge: judge_spend })?;
    members.member("trajectory_diff", &trajectory_json::block(&analysis.trajectory, table.baseline))?;
    members.member("run_endings", &endings_json::block(&analysis.endings))?;
    members.member("case_flags", &flags_json::block(&analysis.case_flags))?;
    members.rows(rows)?;
    if let Some(source) = stored {
        members.member(
            "stored_verdicts",
            &StoredBlock::of(source, WITH_SKILL, table.baseline.variant(), analysis.inference.thresholds.alpha()),
        )?;
    }
    let blocked = analysis.inference_pairing().diagnostics(|_| true).blocked;
    members.member(
        "inference",
        &inference_json::block(
            &analysis.inference,
            Some(&analysis.sanity),
            Some(&analysis.efficiency),
            blocked,
            minimum,
        ),
    )?;
    members.member("tool", &Tool { name: "skill-lift", version: provenance.tool_version, compat: "0.6" })?;
    members.member("provenance", provenance)?;
    members.close()
}

/// Writes the report of `grade` up to its rows.
///
/// # Errors
/// Those of the writer.
pub fn begin_grading(writer: &mut impl Write, head: &ReportHead) -> io::Result<()> {
    let mut members = Members::open(writer)?;
    members.member("manifest", &head.manifest)?;
    members.member("skill_name", &head.skill_name)?;
    members.member("generated_at", &head.generated_at)?;
    members.key("results")
}

/// Writes what follows the rows of the report of `grade`.
///
/// # Errors
/// Those of the writer.
pub fn end_grading(writer: &mut impl Write, judge_task_count: usize, provenance: &Provenance) -> io::Result<()> {
    let mut members = Members { writer, first: false };
    members.member("judge_task_count", &judge_task_count)?;
    members.member("provenance", provenance)?;
    members.close()
}
