//! `benchmark.json` and the report of `grade`: the head first, then the spooled rows, then our own blocks.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};
use skill_lift_stats::describe;
use skill_lift_stats::rational;

use super::compat::{Pairing, Significance, significance};
use super::ordered::Ordered;
use super::spool::RowSpool;
use super::stored_json::{StoredBlock, StoredSource};
use super::{endings_json, inference_json, reliability_json, trajectory_json, words};
use crate::analyze::Analysis;
use crate::analyze::flags::CaseFlags;
use crate::analyze::lift::{PairedBlock, PairedSummary};
use crate::analyze::pairing::{Diagnostics, RoundedMeans, UnitMeans};
use crate::analyze::table::{Baseline, RunTable, WITH_SKILL};
use crate::analyze::variants::VariantSummary;
use crate::json::write::{new_line, pretty};

/// Blocks of version 0.6 of the report format that this version does not write yet.
const BLOCKS_MISSING: &[&str] = &[
    "summary.*.elapsed_ms",
    "summary.*.total_tokens",
    "summary.*.command_count",
    "summary.*.cost_usd_total",
    "summary.*.cost_usd_total_aggregate",
    "summary.*.cost_usd",
    "summary.*.telemetry_availability",
    "summary.*.median_elapsed_ms",
    "summary.*.median_total_tokens",
    "oracle_strength",
    "qualitative_by_visibility",
    "slice_summary",
    "ablation_regressions",
    "cost_summary",
];

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
struct Tool {
    name: &'static str,
    version: &'static str,
    compat: &'static str,
}

#[derive(Serialize)]
struct Stats {
    mean: Option<f64>,
    stddev: Option<f64>,
    min: Option<f64>,
    max: Option<f64>,
    median: Option<f64>,
    n: usize,
}

fn stats(values: &[f64]) -> Stats {
    let summary = describe::summary(values);
    Stats {
        mean: summary.mean,
        stddev: summary.stddev,
        min: summary.min,
        max: summary.max,
        median: summary.median,
        n: summary.n,
    }
}

#[derive(Serialize)]
struct VariantBlock {
    cases: usize,
    runs: usize,
    missing_outputs: usize,
    execution_errors: usize,
    mean_objective_pass_rate: Option<f64>,
    mean_combined_pass_rate: Option<f64>,
    mean_process_pass_rate: Option<f64>,
    mean_efficiency_pass_rate: Option<f64>,
    objective_pass_rate: Stats,
    combined_pass_rate: Stats,
    process_pass_rate: Stats,
    efficiency_pass_rate: Stats,
}

fn variant_blocks(summaries: &[VariantSummary]) -> Ordered<VariantBlock> {
    let block = |summary: &VariantSummary| VariantBlock {
        cases: summary.cases,
        runs: summary.runs,
        missing_outputs: summary.missing_outputs,
        execution_errors: summary.execution_errors,
        mean_objective_pass_rate: describe::mean(&summary.objective),
        mean_combined_pass_rate: describe::mean(&summary.combined),
        mean_process_pass_rate: describe::mean(&summary.process),
        mean_efficiency_pass_rate: describe::mean(&summary.efficiency),
        objective_pass_rate: stats(&summary.objective),
        combined_pass_rate: stats(&summary.combined),
        process_pass_rate: stats(&summary.process),
        efficiency_pass_rate: stats(&summary.efficiency),
    };
    Ordered(summaries.iter().map(|summary| (summary.variant.clone(), block(summary))).collect())
}

struct NegativeCase {
    baseline: Baseline,
    case_id: String,
    rates: RoundedMeans,
    model: Option<String>,
}

impl Serialize for NegativeCase {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("case_id", &self.case_id)?;
        map.serialize_entry("with_skill", &self.rates.with_skill)?;
        map.serialize_entry(self.baseline.variant(), &self.rates.without_skill)?;
        map.serialize_entry("delta", &(self.rates.with_skill - self.rates.without_skill))?;
        if let Some(model) = &self.model {
            map.serialize_entry("model", model)?;
        }
        map.end()
    }
}

struct Graded {
    baseline: Baseline,
    with_skill: Option<f64>,
    without_skill: Option<f64>,
    delta: Option<f64>,
    significance: Significance,
}

impl Serialize for Graded {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("with_skill_mean_score", &self.with_skill)?;
        map.serialize_entry(&format!("{}_mean_score", self.baseline.variant()), &self.without_skill)?;
        map.serialize_entry("delta", &self.delta)?;
        map.serialize_entry("significance", &self.significance)?;
        map.end()
    }
}

/// One contrast; the keys of its baseline begin with the name of the baseline's arm.
struct PairedBlockJson<'a> {
    baseline: Baseline,
    with_skill: Option<f64>,
    without_skill: Option<f64>,
    absolute_delta: Option<f64>,
    normalized_gain: Option<f64>,
    significance: Significance,
    negative_delta_cases: Vec<NegativeCase>,
    pairing: Option<Pairing<'a>>,
    graded: Option<Graded>,
    by_model: Option<Ordered<PairedBlockJson<'a>>>,
}

impl Serialize for PairedBlockJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("with_skill_objective_pass_rate", &self.with_skill)?;
        map.serialize_entry(&format!("{}_objective_pass_rate", self.baseline.variant()), &self.without_skill)?;
        map.serialize_entry("absolute_delta", &self.absolute_delta)?;
        map.serialize_entry("normalized_gain", &self.normalized_gain)?;
        map.serialize_entry("significance", &self.significance)?;
        map.serialize_entry("negative_delta_cases", &self.negative_delta_cases)?;
        if let Some(pairing) = &self.pairing {
            map.serialize_entry("pairing", pairing)?;
        }
        if let Some(graded) = &self.graded {
            map.serialize_entry("graded", graded)?;
        }
        if let Some(by_model) = &self.by_model {
            map.serialize_entry("by_model", by_model)?;
        }
        map.end()
    }
}

fn paired_block<'a>(
    table: &RunTable,
    baseline: Baseline,
    block: &PairedBlock,
    with_model: bool,
) -> PairedBlockJson<'a> {
    let negative = |unit: &UnitMeans| NegativeCase {
        baseline,
        case_id: table.case_id(unit.case).to_owned(),
        rates: unit.rounded,
        model: if with_model { table.model(unit.model).map(str::to_owned) } else { None },
    };
    PairedBlockJson {
        baseline,
        with_skill: block.with_skill,
        without_skill: block.without_skill,
        absolute_delta: block.delta(),
        normalized_gain: block.normalized_gain(),
        significance: significance(&block.significance),
        negative_delta_cases: block
            .units
            .iter()
            .filter(|unit| unit.with_skill < unit.without_skill)
            .map(negative)
            .collect(),
        pairing: None,
        graded: None,
        by_model: None,
    }
}

fn paired_summary<'a>(
    table: &RunTable,
    baseline: Baseline,
    summary: &PairedSummary,
    diagnostics: &'a Diagnostics,
) -> PairedBlockJson<'a> {
    let mut block = paired_block(table, baseline, &summary.overall, true);
    block.pairing = Some(diagnostics.into());
    let four = |value: Option<f64>| value.map(|value| rational::round_f64_half_even(value, 4));
    block.graded = summary.graded.as_ref().map(|graded| Graded {
        baseline,
        with_skill: four(graded.with_skill),
        without_skill: four(graded.without_skill),
        delta: four(graded.mean_delta),
        significance: significance(&graded.significance),
    });
    if !summary.by_model.is_empty() {
        let blocks = summary.by_model.iter();
        block.by_model = Some(Ordered(
            blocks.map(|(name, block)| (name.clone(), paired_block(table, baseline, block, false))).collect(),
        ));
    }
    block
}

#[derive(Serialize)]
struct RankedModel {
    model: String,
    lift: Option<f64>,
    with_skill: Option<f64>,
    without_skill: Option<f64>,
    significant_at_0_05: bool,
}

#[derive(Serialize)]
struct ModelAnalysis {
    #[serde(skip_serializing_if = "Option::is_none")]
    ranking: Option<Vec<RankedModel>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    lift_losers: Option<Vec<String>>,
}

fn model_analysis(summary: &PairedSummary) -> ModelAnalysis {
    if summary.by_model.is_empty() {
        return ModelAnalysis { ranking: None, lift_losers: None };
    }
    let mut ranked: Vec<(&String, &PairedBlock, Option<f64>)> =
        summary.by_model.iter().map(|(model, block)| (model, block, block.delta())).collect();
    // the largest lift first, models without one last, then by name
    let rank = |lift: &Option<f64>| lift.unwrap_or(f64::NEG_INFINITY);
    ranked.sort_by(|(a, _, x), (b, _, y)| rank(y).total_cmp(&rank(x)).then_with(|| a.cmp(b)));
    let lifts = summary.overall.delta().is_some_and(|delta| delta > 0.0);
    let losers = ranked.iter().filter(|(_, _, lift)| lifts && lift.is_some_and(|lift| lift <= 0.0));
    ModelAnalysis {
        lift_losers: Some(losers.map(|(model, ..)| (*model).clone()).collect()),
        ranking: Some(
            ranked
                .iter()
                .map(|(model, block, lift)| RankedModel {
                    model: (*model).clone(),
                    lift: *lift,
                    with_skill: block.with_skill,
                    without_skill: block.without_skill,
                    significant_at_0_05: significance(&block.significance).significant_at_0_05,
                })
                .collect(),
        ),
    }
}

#[derive(Serialize)]
struct FlaggedCase<'a> {
    case_id: &'a str,
    flags: Vec<String>,
    with_skill: f64,
    without_skill: f64,
    pairing: Pairing<'a>,
    eval_intent: crate::suite::EvalIntent,
}

fn flagged(case: &CaseFlags) -> FlaggedCase<'_> {
    FlaggedCase {
        case_id: &case.case_id,
        flags: case.flags.iter().map(words::flag_text).collect(),
        with_skill: rational::to_f64(&case.with_skill),
        without_skill: rational::to_f64(&case.without_skill),
        pairing: (&case.pairing).into(),
        eval_intent: case.eval_intent,
    }
}

/// Writes members of an object one after the other.
struct Members<'w, W> {
    writer: &'w mut W,
    first: bool,
}

impl<'w, W: Write> Members<'w, W> {
    fn open(writer: &'w mut W) -> io::Result<Self> {
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

    fn member<T: Serialize + ?Sized>(&mut self, key: &str, value: &T) -> io::Result<()> {
        self.key(key)?;
        pretty(&mut *self.writer, value, 1)
    }

    fn rows(&mut self, spool: RowSpool) -> io::Result<()> {
        self.key("results")?;
        spool.move_to(self.writer)
    }

    fn close(self) -> io::Result<()> {
        self.writer.write_all(b"\n}\n")?;
        self.writer.flush()
    }
}

/// Writes `benchmark.json`: the keys of version 0.6 in its order as far as they are built, then `inference`, `tool`
/// and `provenance`.
///
/// # Errors
/// Those of the writer and of the spool.
pub fn write_benchmark(
    writer: &mut impl Write,
    head: &ReportHead,
    analysis: &Analysis,
    rows: RowSpool,
    stored: Option<StoredSource<'_>>,
    provenance: &Provenance,
) -> io::Result<()> {
    let diagnostics = analysis.pairing.diagnostics(|_| true);
    let minimum = skill_lift_stats::minimum_cases(analysis.inference.thresholds.alpha()).unwrap_or(usize::MAX);
    let by_model = analysis.by_model.iter().map(|(model, arms)| (model.clone(), variant_blocks(arms)));
    let mut members = Members::open(writer)?;
    members.member("manifest", &head.manifest)?;
    members.member("skill_name", &head.skill_name)?;
    members.member("generated_at", &head.generated_at)?;
    members.member("population", "answer")?;
    members.member("skipped_trigger_cases", &head.skipped_trigger_cases)?;
    members.member("summary", &variant_blocks(&analysis.variants))?;
    members.member("by_model", &Ordered(by_model.collect()))?;
    let table = &analysis.table;
    members.member("paired_summary", &paired_summary(table, table.baseline, &analysis.lift, &diagnostics))?;
    if let Some(edit) = &analysis.edit {
        let diagnostics = edit.pairing.diagnostics(|_| true);
        let summary = paired_summary(table, Baseline::OldSkill, &edit.summary, &diagnostics);
        members.member("paired_edit_summary", &summary)?;
    }
    members.member("reliability", &reliability_json::block(&analysis.reliability))?;
    members.member("model_analysis", &model_analysis(&analysis.lift))?;
    members.member("trajectory_diff", &trajectory_json::block(&analysis.trajectory, table.baseline))?;
    members.member("run_endings", &endings_json::block(&analysis.endings))?;
    members.member("case_flags", &analysis.case_flags.iter().map(flagged).collect::<Vec<_>>())?;
    members.rows(rows)?;
    if let Some(source) = stored {
        members.member("stored_verdicts", &StoredBlock::of(source, WITH_SKILL, table.baseline.variant()))?;
    }
    let blocked = analysis.inference_pairing().diagnostics(|_| true).blocked;
    members
        .member("inference", &inference_json::block(&analysis.inference, Some(&analysis.sanity), blocked, minimum))?;
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
