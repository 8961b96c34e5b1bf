//! The sections of a Markdown report, with the words of the terminal.

use std::collections::BTreeMap;

use skill_lift_contract::BlockedReason;
use skill_lift_stats::rational;

use super::Again;
use super::document::{Fold, Section, cell, sentence};
use crate::analyze::inference::Unit;
use crate::analyze::sanity::SanityKind;
use crate::report::numbers;
use crate::report::terminal::glyph;
use crate::report::view::{CaseRow, Mark, SummaryView};
use crate::report::words;
use crate::runs::claims::ClaimForm;

/// Cases that stand open; more are folded.
const CASES_OPEN: usize = 50;
/// Blocked pairs that are listed one by one.
const PAIRS_LISTED: usize = 20;
/// What stands where nothing was measured.
const NOT_MEASURED: &str = "not measured";

/// The title, the lead and the question table; `title` is a whole line.
pub(super) fn core(title: &str, view: &SummaryView) -> String {
    let mut out = format!("{title}\n\n");
    let lead = match view.lead.split_once(": lift ").and_then(|(rates, rest)| Some((rates, rest.split_once(", ")?))) {
        Some((rates, (lift, rest))) => format!("{}: **lift {lift}**, {}.", sentence(rates), sentence(rest)),
        None if view.lead.is_empty() => String::new(),
        None => format!("{}.", sentence(&view.lead)),
    };
    for text in [lead, sentence(&view.headline.note)].iter().filter(|text| !text.is_empty()) {
        out.push_str(&format!("{text}\n"));
    }
    out.push_str("\n| Question | Answer |\n|---|---|\n");
    let answer = |label: &str| view.paragraphs.iter().find(|(known, _)| *known == label).map(|(_, text)| text.as_str());
    for (question, label, otherwise) in [
        ("How sure are we?", "Sure?", None),
        ("What does it cost?", "Cost", Some(NOT_MEASURED)),
        ("What is it worth?", "Worth", None),
        ("What needs your eyes?", "Eyes", Some("Nothing stands out. Reading two or three cases is still a good idea.")),
        ("Who decided?", "Source", None),
    ] {
        if let Some(text) = answer(label).or(otherwise) {
            out.push_str(&format!("| {question} | {} |\n", sentence(text)));
        }
    }
    if !view.notes.is_empty() {
        out.push('\n');
        view.notes.iter().for_each(|note| out.push_str(&format!("- {}\n", sentence(note))));
    }
    out
}

/// `# skill: The skill helps`, at a level.
pub(super) fn headline_title(level: usize, view: &SummaryView) -> String {
    format!("{} {}: {}", "#".repeat(level), cell(&view.skill_name), view.headline.text.trim_end_matches('.'))
}

pub(super) fn models(view: &SummaryView) -> Section {
    let mut section = Section::new("Models");
    section.head = "| Model | Without | With | Lift | Interval | p (Holm) |\n|---|--:|--:|--:|--:|--:|\n";
    let row = |row: &crate::report::view::ModelRow| {
        format!(
            "| {} | {} | {} | {} | {} | {} |\n",
            cell(&row.name),
            measured(&row.without_skill),
            measured(&row.with_skill),
            measured(&row.lift),
            row.interval,
            sentence(&row.p)
        )
    };
    section.rows = view.models.iter().map(row).collect();
    if !section.rows.is_empty() {
        section.before = format!("{}, over the models' own pairs.\n", view.interval_name);
    }
    section
}

/// A figure of the terminal; a dash says there that nothing was measured.
fn measured(text: &str) -> String {
    if text == crate::report::view::NOT_MEASURED { NOT_MEASURED.to_owned() } else { sentence(text) }
}

const CASE_HEAD: &str = "| | Case | Without | With | Lift | Why |\n|---|---|--:|--:|--:|---|\n";

fn case_row(row: &CaseRow) -> String {
    // no sign stands without a word
    let why = match row.mark {
        _ if !row.why.is_empty() => row.why.as_str(),
        Mark::Critical => "critical",
        Mark::Worse => "worse",
        Mark::Open => "open",
        Mark::Better => "better",
        Mark::Same => "no change",
    };
    format!(
        "| {} | {} | {} | {} | {} | {} |\n",
        glyph(row.mark, false),
        cell(&row.name),
        measured(&row.without_skill),
        measured(&row.with_skill),
        measured(&row.lift),
        sentence(why)
    )
}

pub(super) fn eyes(view: &SummaryView) -> Section {
    let mut section = Section::new("Needs your eyes");
    section.head = CASE_HEAD;
    section.rows = view.eyes.iter().map(case_row).collect();
    section.after = [&view.counts, &view.blocked]
        .into_iter()
        .filter(|text| !text.is_empty())
        .map(|text| format!("{}\n", sentence(text)))
        .collect();
    section
}

pub(super) fn cases(view: &SummaryView) -> Section {
    let mut section = Section::new("Cases");
    section.fold = if view.cases.len() > CASES_OPEN { Fold::BelowHeading } else { Fold::Open };
    section.head = CASE_HEAD;
    section.rows = view.cases.iter().map(case_row).collect();
    section
}

pub(super) fn groups(again: Again<'_>) -> Section {
    let inference = &again.analysis.inference;
    let alpha = rational::to_f64(inference.thresholds.alpha());
    let mut section = Section::new("Groups");
    let Some(slices) = inference.slices.as_ref().filter(|slices| !slices.slices.is_empty()) else { return section };
    section.before = "Groups are small: read them as a hint, not as a finding.\n".to_owned();
    section.head = "| Group | Cases | Without | With | Lift | p (adjusted) |\n|---|--:|--:|--:|--:|--:|\n";
    let rate = |rate: &Option<rational::Rational>| rate.as_ref().map_or(NOT_MEASURED.to_owned(), numbers::percent);
    let row = |slice: &crate::analyze::slices::SliceContrast| {
        let lift = slice.lift.estimate.as_ref().map_or(NOT_MEASURED.to_owned(), numbers::points);
        let p = slice.p_bh.map_or("not tested".to_owned(), |p| numbers::p_cell(p, alpha));
        let name = format!("{} = {}", slice.axis.key().replace('_', " "), slice.value);
        let (without, with) = (rate(&slice.lift.without_skill), rate(&slice.lift.with_skill));
        let cells = [without, with, lift, p].map(|text| sentence(&text)).join(" | ");
        format!("| {} | {} | {cells} |\n", cell(&name), numbers::count(slice.cases))
    };
    section.rows = slices.slices.iter().map(row).collect();
    section
}

pub(super) fn left_out(again: Again<'_>, view: &SummaryView) -> Section {
    let mut section = Section::new("Left out");
    let table = &again.analysis.table;
    let blocked: Vec<_> = again
        .analysis
        .inference_pairing()
        .pairs
        .iter()
        .filter_map(|pair| pair.values.as_ref().err().map(|reason| (pair, reason)))
        .collect();
    if blocked.is_empty() {
        return section;
    }
    section.before = format!("{}\n", sentence(&view.blocked));
    if blocked.len() > PAIRS_LISTED {
        let mut by_reason: BTreeMap<String, usize> = BTreeMap::new();
        for (_, reason) in &blocked {
            *by_reason.entry(BlockedReason::code(reason)).or_default() += 1;
        }
        section.head = "| Reason | Pairs |\n|---|--:|\n";
        let row = |(code, count): (&String, &usize)| {
            format!("| {} | {} |\n", sentence(&words::blocked_reason(code)), numbers::count(*count))
        };
        section.rows = by_reason.iter().map(row).collect();
        return section;
    }
    section.head = "| Case | Model | Repetition | Why |\n|---|---|--:|---|\n";
    let row = |(pair, reason): &(&crate::analyze::pairing::Pair, &BlockedReason)| {
        format!(
            "| {} | {} | {} | {} |\n",
            cell(table.case_id(pair.case)),
            table.model(pair.model).map_or("no model named".to_owned(), cell),
            pair.repetition,
            sentence(&words::blocked_reason(&reason.code()))
        )
    };
    section.rows = blocked.iter().map(row).collect();
    section
}

pub(super) fn flags(again: Again<'_>) -> Section {
    let mut section = Section::new("Flags");
    let signs = &again.analysis.sanity.signs;
    for kind in SanityKind::ALL {
        let Some(signs) = signs.get(&kind).filter(|signs| signs.count > 0) else { continue };
        let named: Vec<String> = signs.named.iter().take(3).map(|name| cell(name)).collect();
        let more = if signs.count > named.len() { "; …" } else { "" };
        section.before.push_str(&format!(
            "- {} ({}): {}{more}\n",
            kind.code().replace('_', " "),
            numbers::count(signs.count),
            named.join("; ")
        ));
    }
    section.head = "| Case | Without | With | Flags |\n|---|--:|--:|---|\n";
    let row = |case: &crate::analyze::flags::CaseFlags| {
        let flags: Vec<String> = case.flags.iter().map(|raised| sentence(&words::flag_text(&raised.flag))).collect();
        let (without, with) = (numbers::percent(&case.without_skill), numbers::percent(&case.with_skill));
        format!("| {} | {} | {} | {} |\n", cell(&case.case_id), sentence(&without), sentence(&with), flags.join("; "))
    };
    section.rows = again.analysis.case_flags.iter().map(row).collect();
    section
}

pub(super) fn measured_how(again: Again<'_>, view: &SummaryView) -> Section {
    let Again { saved, analysis } = again;
    let inference = &analysis.inference;
    let unit = match inference.overall.unit {
        Unit::Case => "cases",
        Unit::Family => "families",
    };
    let scored = analysis.table.runs.iter().filter(|run| run.scorable).count();
    let mut lines = vec![
        format!("Compared: {}; {}.", view.contrast, view.size),
        format!("Test: exact sign-flip test over {unit}. The {}: padded t.", view.interval_name),
        format!(
            "Smallest lift that matters: {}.",
            numbers::size_in_points(rational::to_f64(inference.thresholds.min_lift()))
        ),
        format!(
            "Runs: {} in the report, {} scored.",
            numbers::count(analysis.table.runs.len()),
            numbers::count(scored)
        ),
    ];
    if !analysis.table.models.is_empty() {
        lines.push(format!("Models: {}.", analysis.table.models.join(", ")));
    }
    for (what, digest) in ["Suite", "Runs"].into_iter().zip(&saved.digests) {
        if let Some(digest) = digest {
            lines.push(format!("{what}: {}", digest_text(digest)));
        }
    }
    let by = saved.tool.as_deref().unwrap_or("another tool");
    lines.push(match saved.form {
        ClaimForm::OwnReport => {
            format!("Report: {by}, its rows analysed again by skill-lift {}.", env!("CARGO_PKG_VERSION"))
        }
        _ => format!(
            "Report: written by another tool, without an inference block; its rows were analysed by skill-lift {}.",
            env!("CARGO_PKG_VERSION")
        ),
    });
    let mut section = Section::new("How this was measured");
    section.rows = lines.iter().map(|line| format!("- {}\n", sentence(line))).collect();
    section
}

fn digest_text(digest: &str) -> String {
    let hex = digest.strip_prefix("sha256:").unwrap_or(digest);
    match hex.get(..16) {
        Some(start) => format!("sha256:{start}…"),
        None => format!("sha256:{hex}"),
    }
}
