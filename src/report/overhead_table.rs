//! The report of `token-overhead` for people: text for a terminal and Markdown, from the same rows.

use num_traits::Signed;
use rust_decimal::Decimal;
use skill_lift_contract::telemetry::Currency;
use skill_lift_stats::rational::{self, Rational};

use super::cost_line::cost_line;
use super::markup::escaped;
use super::numbers::{count, counted, points, whole_points};
use super::overhead_json::OverheadReport;
use super::quantities::{NOT_MEASURED, money, money_difference, sum, token_difference};
use super::terminal::{Page, Paint, Style, column, cut_middle, left, right};
use super::words;
use crate::analyze::telemetry::{ComparisonReason, OverheadPair, PairBlock, QuantityEffect, SpentWithoutLift};

/// Headings of the columns of a skill.
const SKILL_HEADS: [&str; 6] = ["Skill", "SKILL.md", "References", "Pairs", "Tokens a run", "Lift"];
/// Headings of the columns of a pair.
const PAIR_HEADS: [&str; 6] = ["Case", "Model", "Run", "Tokens", "Cost", "Lift"];
/// Pairs that are listed on a terminal.
const PAIRS_SHOWN: usize = 20;

/// Words of a text, which stand for tokens.
fn words_of(count_of_words: Option<u64>) -> String {
    count_of_words.map_or_else(|| NOT_MEASURED.to_owned(), |words| counted(words as usize, "word", "words"))
}

fn mean_lift(effect: &QuantityEffect) -> String {
    effect.ratio.numerator.as_ref().map_or_else(|| NOT_MEASURED.to_owned(), points)
}

fn skill_row(report: &OverheadReport) -> [String; 6] {
    let OverheadReport { head, profile, analysis, overhead, .. } = report;
    let tokens = &analysis.efficiency.total_tokens;
    let mean = tokens.mean_difference.as_ref().map(|mean| token_difference(rational::to_f64(mean)));
    [
        head.skill_name.clone(),
        words_of(profile.skill_tokens),
        words_of(profile.reference_tokens),
        count(overhead.pairs.len()),
        mean.unwrap_or_else(|| NOT_MEASURED.to_owned()),
        analysis.inference.overall.test.estimate.as_ref().map_or_else(|| mean_lift(tokens), points),
    ]
}

fn pair_row(report: &OverheadReport, pair: &OverheadPair) -> [String; 6] {
    let table = &report.analysis.table;
    let why = |reason: &ComparisonReason| comparison_words(reason.code());
    [
        table.case_id(pair.case).to_owned(),
        table.model(pair.model).unwrap_or_default().to_owned(),
        pair.repetition.to_string(),
        pair.plain_tokens.as_ref().map_or_else(why, |tokens| token_difference(*tokens as f64)),
        pair.plain_cost.as_ref().map_or_else(why, |cost| money_difference(cost.amount, cost.currency)),
        pair.objective.as_ref().map_or_else(why, whole_points),
    ]
}

/// Why a cell is empty, in few words.
fn comparison_words(code: &str) -> String {
    match code {
        "missing_left" | "missing_right" | "missing_objective_lift" => NOT_MEASURED,
        "not_applicable" => "does not apply",
        "currency_mismatch" => "two currencies",
        "out_of_range" => "too large",
        _ => "measured differently",
    }
    .to_owned()
}

fn block_words(reason: &PairBlock) -> String {
    match reason {
        PairBlock::Comparison(ComparisonReason::MissingLeft) => words::blocked_reason("missing_with_skill"),
        PairBlock::Comparison(ComparisonReason::MissingRight) => words::blocked_reason("missing_without_skill"),
        other => words::blocked_reason(&other.code()),
    }
}

/// What is said of a skill before its pairs.
fn sentences(report: &OverheadReport) -> Vec<String> {
    let OverheadReport { profile, analysis, overhead, .. } = report;
    let mut lines = Vec::new();
    let files = counted(profile.references.len(), "file", "files");
    lines.push(match (profile.skill_tokens, profile.reference_tokens) {
        (Some(_), Some(0)) => format!("SKILL.md has {}; there are no references.", words_of(profile.skill_tokens)),
        (Some(_), Some(_)) => format!(
            "SKILL.md has {}, the references {} in {files}.",
            words_of(profile.skill_tokens),
            words_of(profile.reference_tokens)
        ),
        (Some(_), None) => {
            format!("SKILL.md has {}; not all references could be read.", words_of(profile.skill_tokens))
        }
        (None, _) => "The skill could not be read.".to_owned(),
    });
    lines.extend(profile.findings.iter().map(|finding| format!("{}.", capital(&finding.message))));
    if overhead.pairs.is_empty() {
        lines.push("No pair of runs could be compared.".to_owned());
    } else {
        match cost_line(&analysis.efficiency) {
            Some(line) => lines.push(format!("With the skill: {line}.")),
            None => lines.push("No pair of runs says what it used.".to_owned()),
        }
        lines.extend(ratio_sentence(&analysis.efficiency.total_tokens));
        lines.push(spent_sentence(report));
    }
    if !overhead.blocked.is_empty() {
        lines.push(blocked_sentence(report));
    }
    lines
}

fn capital(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map_or_else(String::new, |first| first.to_uppercase().chain(characters).collect())
}

/// What a thousand tokens buy, where the skill costs tokens and every pair says how many.
fn ratio_sentence(effect: &QuantityEffect) -> Option<String> {
    let ratio = effect.ratio.ratio.as_ref().filter(|_| effect.is_complete())?;
    let costs = effect.ratio.denominator.as_ref().is_some_and(Rational::is_positive);
    let limits = match effect.ratio.two_sided() {
        Ok((lower, upper)) => {
            let limit = |value: f64| rational::from_f64(value).map_or_else(String::new, |value| points(&value));
            format!(" (interval {} to {})", limit(lower), limit(upper))
        }
        Err(_) => String::new(),
    };
    costs.then(|| format!("Lift for 1,000 tokens more: {}{limits}.", points(ratio)))
}

fn spent_sentence(report: &OverheadReport) -> String {
    let overhead = &report.overhead;
    let without_lift = overhead.pairs.iter().filter(|pair| pair.is_without_lift()).count();
    match overhead.spent_without_lift(&report.analysis.table) {
        SpentWithoutLift::NoPair => "Every pair that could be graded has lift.".to_owned(),
        SpentWithoutLift::Sum(spent) => format!(
            "Spent on {} without lift: {}.",
            counted(without_lift, "pair", "pairs"),
            sum(&spent, |amount: Decimal| money(amount, Currency::USD))
        ),
    }
}

fn blocked_sentence(report: &OverheadReport) -> String {
    let blocked = &report.overhead.blocked;
    let mut reasons: Vec<(String, usize)> = Vec::new();
    for pair in blocked {
        let text = block_words(&pair.reason);
        match reasons.iter_mut().find(|(known, _)| *known == text) {
            Some((_, count)) => *count += 1,
            None => reasons.push((text, 1)),
        }
    }
    let texts: Vec<String> = reasons.iter().map(|(text, number)| format!("{text} ({})", count(*number))).collect();
    format!("Not compared: {}: {}.", counted(blocked.len(), "pair", "pairs"), texts.join(", "))
}

/// The report as text; every line ends with a line break.
pub fn overhead_table(reports: &[OverheadReport], style: Style) -> String {
    let mut page = Page::new(style);
    if reports.len() > 1 {
        let rows: Vec<[String; 6]> = reports.iter().map(skill_row).collect();
        columns(&mut page, SKILL_HEADS, &rows);
        page.line("");
    }
    for (index, report) in reports.iter().enumerate() {
        if index > 0 {
            page.line("");
        }
        let name = page.name(&report.head.skill_name);
        let pairs = counted(report.overhead.pairs.len(), "pair", "pairs");
        let title = format!("{}   what the skill costs in {pairs} of runs", page.paint(Paint::Bold, &name));
        page.line(&title);
        page.line("");
        for sentence in sentences(report) {
            let sentence = page.own(&page.name(&sentence));
            page.wrapped(&sentence, "", "");
        }
        let shown = if style.all_cases { usize::MAX } else { PAIRS_SHOWN };
        let pairs = &report.overhead.pairs;
        let rows: Vec<[String; 6]> = pairs.iter().take(shown).map(|pair| pair_row(report, pair)).collect();
        if !rows.is_empty() {
            page.line("");
            columns(&mut page, PAIR_HEADS, &rows);
        }
        if pairs.len() > rows.len() {
            let more = format!("  and {} more (--all-cases lists them)", count(pairs.len() - rows.len()));
            let more = page.paint(Paint::Muted, &more);
            page.line(&more);
        }
    }
    page.out
}

/// Rows of names in the first columns and numbers in the others. A column of nothing is left out.
fn columns(page: &mut Page, heads: [&str; 6], rows: &[[String; 6]]) {
    let cells: Vec<[String; 6]> =
        rows.iter().map(|row| std::array::from_fn(|place| page.own(&page.name(&row[place])))).collect();
    let is_used = |place: usize| place == 0 || cells.iter().any(|row| !row[place].is_empty());
    let places: Vec<usize> = (1..6).filter(|place| is_used(*place)).collect();
    let width = |place: usize| column(heads[place], cells.iter().map(|row| row[place].clone()));
    let widths: Vec<(usize, usize)> = places.iter().map(|place| (*place, width(*place))).collect();
    let fixed = 2 + widths.iter().map(|(_, width)| width + 2).sum::<usize>();
    let names: Vec<String> = cells.iter().map(|row| row[0].clone()).collect();
    let name_width = page.name_width(&names, heads[0], fixed);
    let line = |page: &Page, row: &[String; 6]| {
        let mut line = format!("  {}", left(&cut_middle(&row[0], name_width, page.style), name_width));
        for (place, width) in &widths {
            let is_name = *place == 1 && heads[1] == PAIR_HEADS[1];
            let cell = if is_name { left(&row[*place], *width) } else { right(&row[*place], *width) };
            line.push_str(&format!("  {cell}"));
        }
        line
    };
    let head = line(page, &heads.map(str::to_owned));
    let head = page.paint(Paint::Muted, &head);
    page.line(&head);
    for row in &cells {
        let text = line(page, row);
        page.line(&text);
    }
}

/// The report as Markdown.
pub fn overhead_markdown(reports: &[OverheadReport]) -> String {
    let mut out = "# Token overhead\n\n".to_owned();
    let rule = |heads: [&str; 6], names: usize| {
        let cells: Vec<&str> = (0..heads.len()).map(|place| if place < names { "---" } else { "---:" }).collect();
        format!("| {} |\n|{}|\n", heads.join(" | "), cells.join("|"))
    };
    let row = |cells: &[String; 6]| {
        let cells: Vec<String> = cells.iter().map(|cell| escaped(cell)).collect();
        format!("| {} |\n", cells.join(" | "))
    };
    out.push_str(&rule(SKILL_HEADS, 1));
    reports.iter().for_each(|report| out.push_str(&row(&skill_row(report))));
    for report in reports {
        out.push_str(&format!("\n## {}\n\n", escaped(&report.head.skill_name)));
        sentences(report).iter().for_each(|sentence| out.push_str(&format!("- {}\n", escaped(sentence))));
        if !report.overhead.pairs.is_empty() {
            out.push('\n');
            out.push_str(&rule(PAIR_HEADS, 2));
            report.overhead.pairs.iter().for_each(|pair| out.push_str(&row(&pair_row(report, pair))));
        }
    }
    out
}
