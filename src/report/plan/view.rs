//! What people are told of a plan, in order, before any output form.

use super::words::{self, NOTHING};
use crate::analyze::plan::{Addition, DeltaPlan, DeviationSource, More, MovesPlan, Outlook, Plan};
use crate::report::numbers;
use crate::report::words::Tone;

/// What a text about a plan shows.
#[derive(Debug)]
pub struct PlanView {
    /// Name of the skill; empty when nobody names it.
    pub skill_name: String,
    /// `plan of a suite`.
    pub what: &'static str,
    /// `13 cases, 2 models, 5 repetitions`.
    pub size: String,
    /// The answer.
    pub answer: String,
    /// Whether it is a good one.
    pub tone: Tone,
    /// The sentences below it.
    pub sentences: Vec<String>,
    /// Tables, with the sentence below each.
    pub tables: Vec<PlanTable>,
    /// Labelled sentences.
    pub paragraphs: Vec<(&'static str, String)>,
}

/// A table of a plan; the first column holds names.
#[derive(Debug)]
pub struct PlanTable {
    /// Headings.
    pub heads: Vec<String>,
    /// As many cells in each.
    pub rows: Vec<Vec<String>>,
    /// Sentences below.
    pub notes: Vec<String>,
}

impl PlanView {
    /// The view of a plan.
    pub fn of(plan: &Plan) -> Self {
        let mut paragraphs = Vec::new();
        let tables = match &plan.outlook {
            Outlook::Deltas(outlook) => {
                // what is assumed stands with the assumptions
                let is_measured = outlook.spread.source == DeviationSource::Measured;
                paragraphs.extend(is_measured.then(|| ("Spread", words::spread(plan, outlook))));
                let by_repetitions = outlook.by_repetitions.is_ok().then(|| repetitions(plan, outlook));
                by_repetitions.into_iter().chain([one_more(plan, outlook)]).collect()
            }
            Outlook::Moves(outlook) => vec![moves(plan, outlook)],
        };
        paragraphs.extend(words::price(plan).map(|text| ("Money", text)));
        paragraphs.extend(words::left_out(plan).into_iter().map(|text| ("Cases", text)));
        let assumptions = plan.assumptions.iter().map(|assumption| words::assumption(plan, *assumption));
        paragraphs.extend(assumptions.map(|text| ("Assumes", text)));
        let needs_more = match &plan.outlook {
            Outlook::Deltas(outlook) => {
                outlook.needed.as_ref().map_or(true, |needed| needed.units > plan.ground.design.units)
            }
            Outlook::Moves(outlook) => outlook.power.map_or(true, |power| power < plan.goal.power()),
        };
        Self {
            skill_name: plan.ground.skill_name.clone(),
            what: if plan.ground.is_report { "plan from a report" } else { "plan from a suite" },
            size: words::size(&plan.ground.design),
            answer: words::answer(plan),
            tone: match (plan.is_reachable(), needs_more) {
                (false, _) => Tone::Bad,
                (true, true) => Tone::Neutral,
                (true, false) => Tone::Good,
            },
            sentences: words::sentences(plan),
            tables,
            paragraphs,
        }
    }
}

/// A column of money, where it is known.
fn with_money(plan: &Plan, mut cells: Vec<String>, money: Option<String>) -> Vec<String> {
    if plan.ground.price.is_some() {
        cells.push(money.unwrap_or_else(|| NOTHING.to_owned()));
    }
    cells
}

fn repetitions(plan: &Plan, outlook: &DeltaPlan) -> PlanTable {
    let design = &plan.ground.design;
    let target = numbers::chosen_size(&plan.target);
    let heads = [
        "Repetitions".to_owned(),
        format!("{} detect", words::units(design.unit, design.units)),
        format!("{target} needs"),
        "Runs".to_owned(),
    ];
    let rows = outlook.by_repetitions.iter().flatten().map(|row| {
        let now = if row.is_design { " (now)" } else { "" };
        let needed = row.needed.as_ref();
        let cells = vec![
            format!("{}{now}", numbers::count(row.repetitions)),
            words::detectable(&row.detectable),
            needed.map_or_else(|_| NOTHING.to_owned(), |needed| words::units(design.unit, needed.units)),
            needed.map_or_else(|_| NOTHING.to_owned(), |needed| numbers::count(needed.runs)),
        ];
        with_money(plan, cells, needed.ok().and_then(|needed| needed.dollars).map(words::dollars))
    });
    let rows = rows.collect();
    let heads = with_money(plan, heads.to_vec(), Some("Money".to_owned()));
    PlanTable { heads, rows, notes: Vec::new() }
}

fn one_more(plan: &Plan, outlook: &DeltaPlan) -> PlanTable {
    let unit = plan.ground.design.unit;
    let heads = ["One more", "Then detects", "Better by", "More runs"].map(str::to_owned);
    let row = |more: &More| {
        let what = match more.addition {
            Addition::Unit if more.count == 1 => unit.word().to_owned(),
            Addition::Unit => format!("or {} for its runs", words::units(unit, more.count)),
            Addition::Repetition => "repetition of every case".to_owned(),
        };
        let cells = vec![
            what,
            words::detectable(&more.detectable),
            more.lowers_by.map_or_else(|_| NOTHING.to_owned(), numbers::size_in_tenths),
            numbers::count(more.runs),
        ];
        with_money(plan, cells, more.dollars.map(words::dollars))
    };
    let repetitions = outlook.repetitions.iter();
    let repetitions = repetitions.flat_map(|more| std::iter::once(&more.one).chain(more.same_runs.as_ref()));
    let rows = std::iter::once(&outlook.one_unit).chain(repetitions).map(row).collect();
    let heads = with_money(plan, heads.to_vec(), Some("More money".to_owned()));
    PlanTable { heads, rows, notes: words::buys(plan, outlook) }
}

fn moves(plan: &Plan, outlook: &MovesPlan) -> PlanTable {
    let unit = plan.ground.design.unit;
    let rows = outlook.table.iter().map(|row| {
        let now = if row.is_design { " (now)" } else { "" };
        vec![
            format!("{}{now}", words::units(unit, row.units)),
            numbers::percent(&words::rational_of(row.power)),
            numbers::count(row.runs),
        ]
    });
    PlanTable {
        heads: ["Design", "Found in", "Runs"].map(str::to_owned).to_vec(),
        rows: rows.collect(),
        notes: Vec::new(),
    }
}
