//! The JSON of a plan: full precision, a reason beside every value that is withheld.

use std::io::{self, Write};

use serde::Serialize;
use skill_lift_stats::Withheld;
use skill_lift_stats::power::DetectableLift;
use skill_lift_stats::rational;

use super::words;
use crate::analyze::plan::{Addition, Assumption, DeltaPlan, More, MovesPlan, Needed, Outlook, Plan, RepetitionRow};
use crate::json::write::pretty;

/// What stands at the top of a plan.
#[derive(Debug, Clone, Copy)]
pub struct PlanHead<'p> {
    /// The suite or report as the user typed it.
    pub source: &'p str,
}

/// Writes a plan.
///
/// # Errors
/// Those of the writer.
pub fn write_plan(mut writer: &mut dyn Write, head: PlanHead<'_>, plan: &Plan) -> io::Result<()> {
    pretty(&mut writer, &Document::of(head, plan), 0)?;
    writer.write_all(b"\n")
}

#[derive(Serialize)]
struct Document<'p> {
    schema_version: u32,
    tool_version: &'static str,
    source: &'p str,
    source_kind: &'static str,
    skill_name: &'p str,
    alpha: f64,
    power: f64,
    target_lift: f64,
    design: DesignBlock,
    /// Units without which no outcome reaches alpha.
    minimum_units: usize,
    /// Whether some outcome of the design reaches alpha.
    reachable: bool,
    smallest_detectable_lift: Option<DetectableBlock>,
    cases_needed: Option<NeededBlock>,
    spread: Option<SpreadBlock>,
    by_repetitions: Option<Vec<RepetitionBlock>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    by_repetitions_reason: Option<&'static str>,
    one_more: Option<MoreBlock>,
    moves: Option<MovesBlock>,
    cost: Option<CostBlock>,
    assumptions: Vec<AssumptionBlock>,
    text: Vec<String>,
}

#[derive(Serialize)]
struct DesignBlock {
    unit: &'static str,
    n_units: usize,
    cases: usize,
    models: usize,
    repetitions_least: usize,
    repetitions_most: usize,
    pairs: usize,
    runs: usize,
    trigger_cases: usize,
    unpaired_cases: usize,
    cases_without_checks: usize,
}

#[derive(Serialize)]
struct DetectableBlock {
    value: Option<f64>,
    not_detectable: bool,
    approximate: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
}

#[derive(Serialize)]
struct NeededBlock {
    value: Option<usize>,
    runs: Option<usize>,
    usd: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
}

#[derive(Serialize)]
struct SpreadBlock {
    standard_deviation: f64,
    source: &'static str,
    /// What the deltas of units differ by beside noise; standard deviation.
    between_units: Option<f64>,
    /// What the noise of runs adds with the repetitions of the design; standard deviation.
    noise: Option<f64>,
    /// Of one run with the skill in every case and model of a unit; standard deviation.
    noise_of_one_run_with: Option<f64>,
    noise_of_one_run_without: Option<f64>,
    noise_share: Option<f64>,
    units_with_noise: usize,
    noise_is_capped: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
}

#[derive(Serialize)]
struct RepetitionBlock {
    repetitions: usize,
    is_design: bool,
    standard_deviation: f64,
    /// Runs of as many units as the design has.
    runs: usize,
    smallest_detectable_lift: DetectableBlock,
    cases_needed: NeededBlock,
}

#[derive(Serialize)]
struct MoreBlock {
    unit: AdditionBlock,
    repetition: Option<AdditionBlock>,
    /// As many units as the runs of the repetition pay for.
    units_for_the_same_runs: Option<AdditionBlock>,
    /// What the units of the design detect however often they are repeated.
    limit_of_repetitions: Option<DetectableBlock>,
    #[serde(skip_serializing_if = "Option::is_none")]
    repetition_reason: Option<&'static str>,
    lowers_more: Option<&'static str>,
    buys_more_for_the_same_runs: Option<&'static str>,
}

#[derive(Serialize)]
struct AdditionBlock {
    count: usize,
    smallest_detectable_lift: DetectableBlock,
    lowers_by: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
    runs: usize,
    usd: Option<f64>,
}

#[derive(Serialize)]
struct MovesBlock {
    better: f64,
    worse: f64,
    power: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
    first_cases: Option<usize>,
    stays_from: Option<usize>,
    power_at_first: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cases_reason: Option<&'static str>,
    table: Vec<MovesRow>,
}

#[derive(Serialize)]
struct MovesRow {
    units: usize,
    power: f64,
    runs: usize,
    is_design: bool,
}

#[derive(Serialize)]
struct CostBlock {
    currency: &'static str,
    run_with: f64,
    run_without: f64,
    runs_measured: u64,
    runs: u64,
}

#[derive(Serialize)]
struct AssumptionBlock {
    code: &'static str,
    text: String,
}

impl<'p> Document<'p> {
    fn of(head: PlanHead<'p>, plan: &'p Plan) -> Self {
        let ground = &plan.ground;
        let (design, left_out) = (&ground.design, ground.left_out);
        let deltas = match &plan.outlook {
            Outlook::Deltas(outlook) => Some(outlook),
            Outlook::Moves(_) => None,
        };
        let repetitions = deltas.map(|outlook| &outlook.by_repetitions);
        let block = |rows: &Vec<RepetitionRow>| rows.iter().map(repetition).collect();
        let assumption = |assumption| AssumptionBlock {
            code: Assumption::code(assumption),
            text: words::assumption(plan, assumption),
        };
        Self {
            schema_version: 1,
            tool_version: env!("CARGO_PKG_VERSION"),
            source: head.source,
            source_kind: if ground.is_report { "report" } else { "suite" },
            skill_name: &ground.skill_name,
            alpha: rational::to_f64(plan.goal.alpha()),
            power: plan.goal.power(),
            target_lift: rational::to_f64(&plan.target),
            design: DesignBlock {
                unit: design.unit.word(),
                n_units: design.units,
                cases: design.cases,
                models: design.models,
                repetitions_least: design.repetitions.least,
                repetitions_most: design.repetitions.most,
                pairs: design.pairs,
                runs: design.pairs.saturating_mul(2),
                trigger_cases: left_out.trigger_cases,
                unpaired_cases: left_out.unpaired_cases,
                cases_without_checks: left_out.cases_without_checks,
            },
            minimum_units: plan.minimum_units,
            reachable: plan.is_reachable(),
            smallest_detectable_lift: deltas.map(|outlook| detectable(&outlook.detectable)),
            cases_needed: deltas.map(|outlook| needed(&outlook.needed)),
            spread: deltas.map(|outlook| spread(outlook)),
            by_repetitions: repetitions.and_then(|rows| rows.as_ref().ok()).map(block),
            by_repetitions_reason: repetitions.and_then(|rows| rows.as_ref().err()).map(|reason| reason.as_str()),
            one_more: deltas.map(|outlook| one_more(outlook)),
            moves: match &plan.outlook {
                Outlook::Moves(outlook) => Some(moves(outlook)),
                Outlook::Deltas(_) => None,
            },
            cost: ground.price.map(|price| CostBlock {
                currency: "USD",
                run_with: price.with_skill,
                run_without: price.without_skill,
                runs_measured: price.measured,
                runs: price.runs,
            }),
            assumptions: plan.assumptions.iter().map(|code| assumption(*code)).collect(),
            text: std::iter::once(words::answer(plan)).chain(words::sentences(plan)).collect(),
        }
    }
}

fn reason_of<T>(value: &Result<T, Withheld>) -> Option<&'static str> {
    value.as_ref().err().map(|reason| reason.as_str())
}

fn detectable(lift: &Result<DetectableLift, Withheld>) -> DetectableBlock {
    DetectableBlock {
        value: lift.as_ref().ok().map(|lift| lift.lift),
        not_detectable: lift.as_ref().is_ok_and(|lift| lift.not_detectable),
        approximate: true,
        reason: reason_of(lift),
    }
}

fn needed(needed: &Result<Needed, Withheld>) -> NeededBlock {
    let known = needed.as_ref().ok();
    NeededBlock {
        value: known.map(|needed| needed.units),
        runs: known.map(|needed| needed.runs),
        usd: known.and_then(|needed| needed.dollars),
        reason: reason_of(needed),
    }
}

fn spread(outlook: &DeltaPlan) -> SpreadBlock {
    let spread = &outlook.spread;
    let split = spread.split.as_ref().ok();
    SpreadBlock {
        standard_deviation: spread.standard_deviation,
        source: spread.source.code(),
        between_units: split.map(|split| split.sources.between_cases),
        noise: split.map(|split| split.noise_of_deltas),
        noise_of_one_run_with: split.map(|split| split.sources.runs_with),
        noise_of_one_run_without: split.map(|split| split.sources.runs_without),
        noise_share: split.and_then(|split| split.noise_share.ok()),
        units_with_noise: split.map_or(0, |split| split.units),
        noise_is_capped: split.is_some_and(|split| split.is_capped),
        reason: reason_of(&spread.split),
    }
}

fn repetition(row: &RepetitionRow) -> RepetitionBlock {
    RepetitionBlock {
        repetitions: row.repetitions,
        is_design: row.is_design,
        standard_deviation: row.standard_deviation,
        runs: row.runs,
        smallest_detectable_lift: detectable(&row.detectable),
        cases_needed: needed(&row.needed),
    }
}

fn one_more(outlook: &DeltaPlan) -> MoreBlock {
    let block = |more: &More| AdditionBlock {
        count: more.count,
        smallest_detectable_lift: detectable(&more.detectable),
        lowers_by: more.lowers_by.ok(),
        reason: reason_of(&more.lowers_by),
        runs: more.runs,
        usd: more.dollars,
    };
    let word = |addition| match addition {
        Addition::Unit => "unit",
        Addition::Repetition => "repetition",
    };
    let repetitions = outlook.repetitions.as_ref().ok();
    MoreBlock {
        unit: block(&outlook.one_unit),
        repetition: repetitions.map(|more| block(&more.one)),
        units_for_the_same_runs: repetitions.and_then(|more| more.same_runs.as_ref()).map(block),
        limit_of_repetitions: repetitions.map(|more| detectable(&more.limit)),
        repetition_reason: reason_of(&outlook.repetitions),
        lowers_more: outlook.lowers_more().map(word),
        buys_more_for_the_same_runs: outlook.buys_more().map(word),
    }
}

fn moves(outlook: &MovesPlan) -> MovesBlock {
    let needed = outlook.needed.as_ref().ok();
    MovesBlock {
        better: rational::to_f64(&outlook.better),
        worse: rational::to_f64(&outlook.worse),
        power: outlook.power.ok(),
        reason: reason_of(&outlook.power),
        first_cases: needed.map(|plan| plan.first),
        stays_from: needed.map(|plan| plan.stays_from),
        power_at_first: needed.map(|plan| plan.power_at_first),
        cases_reason: reason_of(&outlook.needed),
        table: outlook
            .table
            .iter()
            .map(|row| MovesRow { units: row.units, power: row.power, runs: row.runs, is_design: row.is_design })
            .collect(),
    }
}
