//! Does it load by itself?

use serde::Serialize;

use crate::analyze::triggers::{TriggerRates, TriggerShare};
use crate::report::quantities::NOT_MEASURED;
use crate::report::{numbers, words};

/// Agents and models that have a row.
const ROWS: usize = 20;

/// How often the skill was loaded, by agent and model.
#[derive(Debug, Serialize)]
pub(super) struct TriggerTable {
    sentence: String,
    rows: Vec<TriggerRow>,
    more: usize,
}

#[derive(Debug, Serialize)]
struct TriggerRow {
    name: String,
    should: Share,
    should_not: Share,
}

/// A share in words.
#[derive(Debug, Serialize)]
struct Share {
    rate: String,
    counts: String,
    title: String,
}

impl TriggerTable {
    pub(super) fn of(rates: &TriggerRates) -> Self {
        let interval_name = words::interval_name_of(skill_lift_stats::rational::to_f64(&rates.alpha));
        let share = |share: &TriggerShare| {
            let limits = share.limits(&rates.alpha).ok().and_then(|limits| {
                let [lower, upper] = [limits.lower, limits.upper].map(skill_lift_stats::rational::from_f64);
                Some(format!("{interval_name} {} to {}", numbers::percent(&lower?), numbers::percent(&upper?)))
            });
            let unfinished = match share.incomplete {
                0 => String::new(),
                number => format!(", {} not finished", numbers::count(number)),
            };
            Share {
                rate: share.rate().map_or_else(|| NOT_MEASURED.to_owned(), |rate| numbers::percent(&rate)),
                counts: format!(
                    "{} of {}{unfinished}",
                    numbers::count(share.loaded),
                    numbers::counted(share.complete, "run", "runs")
                ),
                title: limits.unwrap_or_else(|| "no run came to an end".to_owned()),
            }
        };
        let rows = rates.cells.iter().take(ROWS).map(|cell| TriggerRow {
            name: [cell.agent.as_deref(), cell.model.as_deref().or(Some("usual model"))]
                .into_iter()
                .flatten()
                .collect::<Vec<_>>()
                .join(", "),
            should: share(&cell.should),
            should_not: share(&cell.should_not),
        });
        let [should, should_not] = rates.queries;
        let without = rates.ablation.as_ref().map(|id| format!(" The skill lacked the part of ablation {id}."));
        Self {
            sentence: format!(
                "Runs in which the agent loaded the skill without being told to: on {} that should load it, and on {} that \
                 should not.{}",
                numbers::counted(should, "query", "queries"),
                numbers::count(should_not),
                without.unwrap_or_default()
            ),
            rows: rows.collect(),
            more: rates.cells.len().saturating_sub(ROWS),
        }
    }
}
