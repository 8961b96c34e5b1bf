//! Sections that the runner itself does not write: the paired lift, more checks, weighted scores, metrics over scored runs.

use std::collections::HashMap;

use skill_lift_contract::UnscoredReason;
use skill_lift_stats::minimum_cases;
use skill_lift_stats::rational::Rational;
use skill_lift_stats::verdict::TooFewReason;

use super::format::{difference, label, listed, metric, percent_of, plain, table};
use super::markdown::{NAMED, section};
use crate::analyze::skill_eval::{ArmContrast, Corrected, IncompleteRun, PairedLift, UnpairedCell};
use crate::report::{numbers, words};
use crate::runs::skill_eval::{GraderState, ReadingNote, RunPlace, RunStatus, arm_rank};

/// The sections, as far as there is something to say.
pub fn additions(corrected: &Corrected) -> Vec<Vec<String>> {
    let mut sections = Vec::new();
    match &corrected.headline {
        Some(contrast) => sections.push(section("Lift over paired evals", lift(contrast, corrected))),
        None if corrected.configurations.len() == 1 => sections.push(section(
            "Lift over paired evals",
            vec!["There is one configuration: nothing to compare it with.".to_owned()],
        )),
        None => {}
    }
    for contrast in &corrected.others {
        let title = format!("{} against {}", plain(&contrast.candidate), plain(&contrast.baseline));
        sections.push(section(&title, lift(contrast, corrected)));
    }
    let checks = checks(corrected);
    if !checks.is_empty() {
        sections.push(section("More checks", checks));
    }
    sections.extend(weighted(corrected));
    sections.extend(metrics(corrected));
    sections
}

/// Smallest number of evals of which an outcome could settle anything.
pub fn fewest_evals(lift: &PairedLift) -> usize {
    minimum_cases(lift.inference.thresholds.alpha()).unwrap_or(usize::MAX)
}

/// Both lifts of two configurations, or the one that both rules agree on.
fn lift(contrast: &ArmContrast, corrected: &Corrected) -> Vec<String> {
    let (candidate, baseline) = (plain(&contrast.candidate), plain(&contrast.baseline));
    let arms = format!("{candidate} against {baseline}, each eval's runs averaged first");
    if contrast.rules_agree() {
        let mut lines = vec![
            format!(
                "{arms}. The runner counts an assertion that the grader left out as failed; here the lift is the same \
                 with complete verdicts only."
            ),
            String::new(),
        ];
        lines.extend(paired_lift(contrast, &contrast.runner));
        lines.extend(left_out(contrast, &contrast.complete, corrected));
        lines.extend(rates(contrast, &contrast.runner, corrected));
        return lines;
    }
    let mut lines =
        vec![format!("{arms}. There are two lifts, because some verdicts are not complete."), String::new()];
    // that command compares with and without the skill alone
    let shown = |options: &str| match is_of_skill(contrast) {
        true => format!(" `skill-lift benchmark{options}` shows this lift."),
        false => String::new(),
    };
    lines.extend(["### By the runner's own rule".to_owned(), String::new()]);
    lines.push(format!("An assertion that the grader left out counts as failed.{}", shown("")));
    lines.push(String::new());
    lines.extend(paired_lift(contrast, &contrast.runner));
    lines.extend(left_out(contrast, &contrast.runner, corrected));
    lines.extend(rates(contrast, &contrast.runner, corrected));
    lines.extend([String::new(), "### With complete verdicts only".to_owned(), String::new()]);
    lines.push(format!(
        "Runs of which the grader left an assertion out, or contradicted itself, do not count.{}",
        shown(" --evidence strict")
    ));
    lines.push(String::new());
    lines.extend(paired_lift(contrast, &contrast.complete));
    lines.extend(left_out(contrast, &contrast.complete, corrected));
    lines.extend(rates(contrast, &contrast.complete, corrected));
    lines
}

/// Whether the arms are those with and without the skill.
fn is_of_skill(contrast: &ArmContrast) -> bool {
    arm_rank(&contrast.candidate) < 2 && arm_rank(&contrast.baseline) < 2
}

/// The headline, the lift, its interval and its test.
fn paired_lift(contrast: &ArmContrast, lift: &PairedLift) -> Vec<String> {
    let inference = &lift.inference;
    let overall = &inference.overall;
    let fewest = fewest_evals(lift);
    let headline = words::headline(inference, fewest);
    let mut lines = Vec::new();
    if is_of_skill(contrast) {
        lines.push(format!("**{}** {}", headline.text, headline.note).trim_end().to_owned());
        lines.push(String::new());
    }
    if let Some(estimate) = &overall.test.estimate {
        let evals = numbers::counted(overall.test.n, "eval", "evals");
        lines.push(format!("- Lift: {} over {evals}", numbers::points(estimate)));
        lines.push(match &overall.interval {
            Ok(interval) => {
                format!(
                    "- {}: {} (the lift of such evals may lie anywhere in it)",
                    words::interval_name(inference),
                    numbers::interval(interval.lower, interval.upper)
                )
            }
            Err(reason) => {
                format!("- {}: none ({})", words::interval_name(inference), reason.as_str().replace('_', " "))
            }
        });
        let alpha = skill_lift_stats::rational::to_f64(inference.thresholds.alpha());
        let p = overall.test.p_two_sided;
        let odds = match words::odds_text(p) {
            text if text.is_empty() => "Chance alone explains such a result just as well.".to_owned(),
            text => text,
        };
        lines.push(format!("- Chance: {} (exact paired test). {odds}", numbers::p_text(p, alpha)));
        // the headline says it already when there are too few evals for any answer
        if !overall.verdict.reasons.contains(&TooFewReason::Structural) {
            lines.push(format!("- Next: {}", words::next_step(inference, fewest)));
        }
    }
    if lift.single_runs {
        lines.push(
            "- Each of them has one scored run in each configuration: how much runs of one eval vary is unknown."
                .to_owned(),
        );
    }
    lines
}

/// The evals that a lift leaves out, each with what its runs lack.
fn left_out(contrast: &ArmContrast, lift: &PairedLift, corrected: &Corrected) -> Option<String> {
    if lift.unpaired.is_empty() {
        return None;
    }
    let entry = |id: &String| {
        let cells = corrected.checks.unpaired_cells.iter().filter(|cell| {
            cell.eval_id == *id && [&contrast.candidate, &contrast.baseline].contains(&&cell.configuration)
        });
        let why: Vec<String> =
            cells.map(|cell| format!("{}: {}", plain(&cell.configuration), reasons_of(cell))).collect();
        if why.is_empty() { plain(id) } else { format!("{} ({})", plain(id), why.join("; ")) }
    };
    let entries: Vec<String> = lift.unpaired.iter().map(entry).collect();
    Some(format!("- Left out: {}", listed(&entries, NAMED)))
}

/// The table of the rates that a lift rests on, after an empty line.
fn rates(contrast: &ArmContrast, lift: &PairedLift, corrected: &Corrected) -> Vec<String> {
    if lift.paired.is_empty() {
        return Vec::new();
    }
    let names: HashMap<&String, &String> = corrected.evals.iter().map(|eval| (&eval.id, &eval.name)).collect();
    let head = ["Eval", &plain(&contrast.candidate), &plain(&contrast.baseline), "Difference"];
    let row = |(id, (candidate, baseline)): (&String, &(Rational, Rational))| {
        vec![
            format!("{} {}", plain(id), names.get(id).map(|name| plain(name)).unwrap_or_default()),
            percent_of(Some(candidate)),
            percent_of(Some(baseline)),
            numbers::points(&(candidate - baseline)),
        ]
    };
    let mut lines = vec![String::new()];
    lines.extend(table(head.map(str::to_owned).to_vec(), lift.paired.iter().zip(&lift.rates).map(row)));
    lines
}

fn run_name(place: &RunPlace) -> String {
    format!("{}/{} run {}", plain(&place.eval_id), plain(&place.configuration), place.run_number)
}

fn checks(corrected: &Corrected) -> Vec<String> {
    let checks = &corrected.checks;
    let mut lines = Vec::new();
    let mut kind = |text: &str, entries: Vec<String>| {
        if !entries.is_empty() {
            lines.push(format!("- {text}: {}", listed(&entries, NAMED)));
        }
    };
    kind("Incomplete verdicts", checks.incomplete_verdicts.iter().map(incomplete).collect());
    let nothing = checks.no_assertions.iter();
    let nothing = nothing.map(|(id, runs)| format!("{} ({})", plain(id), numbers::counted(*runs, "run", "runs")));
    kind("Evals with nothing to check", nothing.collect());
    kind("Cells without a scored run", checks.unpaired_cells.iter().map(unpaired).collect());
    kind("Missing runs", corrected.missing.iter().map(run_name).collect());
    let suspect = corrected.runs.iter().filter(|run| run.status == RunStatus::Suspect);
    kind("Not scored, no record and nothing judged", suspect.map(|run| run_name(&run.place)).collect());
    let without = corrected.runs.iter().filter(|run| run.without_record && run.status == RunStatus::Ok);
    kind("Scored from verdicts alone, the record is missing", without.map(|run| run_name(&run.place)).collect());
    let odd = corrected.runs.iter().filter(|run| run.notes.contains(&ReadingNote::OddIds));
    kind(
        "Verdict ids not written as whole numbers, read for the lift with complete verdicts, not by the runner",
        odd.map(|run| run_name(&run.place)).collect(),
    );
    let unknown = checks.source_fixture_unknown.iter().map(|error| plain(error));
    kind("Whether the input files were changed is unknown", unknown.collect());
    lines
}

fn incomplete(run: &IncompleteRun) -> String {
    let what = match &run.state {
        GraderState::IncompleteVerdicts { missing } => {
            let ids: Vec<String> = missing.iter().map(ToString::to_string).collect();
            let ids = if ids.len() > NAMED { listed(&ids, NAMED) } else { ids.join(", ") };
            let word = if missing.len() == 1 { "assertion" } else { "assertions" };
            format!(
                "no verdict on {word} {ids}, counted as failed by the runner, left out of the lift with complete verdicts only"
            )
        }
        GraderState::GraderConflict => "verdicts contradict each other".to_owned(),
        _ => "no verdict on any assertion".to_owned(),
    };
    format!("{} ({what})", run_name(&run.place))
}

fn unpaired(cell: &UnpairedCell) -> String {
    format!("{}/{} ({})", plain(&cell.eval_id), plain(&cell.configuration), reasons_of(cell))
}

/// Why a cell has no scored run.
fn reasons_of(cell: &UnpairedCell) -> String {
    let reason = |(reason, count): (&UnscoredReason, &usize)| {
        let words = words::unscored_reason(reason.code());
        if *count > 1 { format!("{words}, {count} runs") } else { words }
    };
    let reasons: Vec<String> = cell.reasons.iter().map(reason).collect();
    reasons.join(", ")
}

fn weighted(corrected: &Corrected) -> Option<Vec<String>> {
    let mark = corrected.pass_threshold.as_ref();
    let rows: Vec<Vec<String>> = corrected
        .runs
        .iter()
        .filter_map(|run| {
            let weighted = run.weighted.as_ref()?;
            let mut cells = vec![
                plain(&run.place.eval_id),
                plain(&run.place.configuration),
                run.place.run_number.to_string(),
                percent_of(Some(&weighted.score)),
            ];
            cells.extend(weighted.meets_threshold.map(|meets| if meets { "yes" } else { "no" }.to_owned()));
            Some(cells)
        })
        .collect();
    if rows.is_empty() {
        return None;
    }
    let mut head: Vec<String> = ["Eval", "Configuration", "Run", "Score"].map(str::to_owned).to_vec();
    head.extend(mark.map(|mark| format!("Reaches {}", percent_of(Some(mark)))));
    let mut lines =
        vec!["The suite's weights applied to the scored runs. No lift above uses them.".to_owned(), String::new()];
    lines.extend(table(head, rows));
    Some(section("Weighted scores", lines))
}

fn metrics(corrected: &Corrected) -> Option<Vec<String>> {
    let has_values = |reading: &crate::analyze::skill_eval::MetricReading| {
        reading.scored.iter().any(|(_, summary)| summary.mean.is_some())
    };
    if !corrected.metrics.iter().any(has_values) {
        return None;
    }
    let mut order: Vec<&String> = corrected.configurations.iter().collect();
    order.sort_by(|a, b| arm_rank(a).cmp(&arm_rank(b)).then_with(|| a.cmp(b)));
    let mut head = vec!["Metric".to_owned()];
    head.extend(order.iter().map(|name| plain(name)));
    head.extend(corrected.headline.as_ref().map(|_| "Paired difference".to_owned()));
    let rows = corrected.metrics.iter().filter(|reading| has_values(reading)).map(|reading| {
        let mut cells = vec![label(reading.kind).to_owned()];
        let summary = |name: &&String| reading.scored.iter().find(|(other, _)| other == *name);
        cells.extend(order.iter().filter_map(summary).map(|(_, summary)| plain(&metric(reading.kind, summary))));
        if corrected.headline.is_some() {
            cells.push(reading.paired.map_or_else(
                || "n/a".to_owned(),
                |paired| {
                    let evals = numbers::counted(paired.evals, "eval", "evals");
                    format!("{} ({evals})", difference(reading.kind, Some(paired.mean_delta)))
                },
            ));
        }
        cells
    });
    let mut lines = vec![
        "Only runs with complete verdicts; the difference only over evals that have the metric in both configurations."
            .to_owned(),
        String::new(),
    ];
    lines.extend(table(head, rows));
    Some(section("Metrics over scored runs", lines))
}
