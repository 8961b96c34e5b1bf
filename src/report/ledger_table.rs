//! The ledger of `cost-summary` for people: text for a terminal and Markdown, from the same rows.

use super::ledger_json::LedgerSource;
use super::markup::escaped;
use super::numbers::{count, counted};
use super::quantities::{money_sum, sum, time, tokens};
use super::terminal::{Page, Paint, Style, column, cut_middle, left, right};
use crate::analyze::telemetry::{Ledger, PopulationRule, Spend, money_buckets};

/// Headings of the columns; the first one is that of the part.
const HEADS: [&str; 4] = ["", "Runs", "Tokens", "Cost"];

/// A part of the ledger: a heading, rows of name, runs, tokens and cost, and what is said behind each.
struct Part {
    heading: &'static str,
    rows: Vec<([String; 4], String)>,
}

fn parts(ledger: &Ledger) -> Vec<Part> {
    let row = |(name, spend): &(String, Spend), note: String| {
        let cells = [name.clone(), count(spend.runs), sum(&spend.total_tokens, tokens), money_sum(&spend.money)];
        (cells, note)
    };
    let all = |groups: &[(String, Spend)]| groups.iter().map(|group| row(group, String::new())).collect();
    let some = |groups: &[(String, Spend)], positions: &[usize]| {
        positions.iter().map(|position| row(&groups[*position], String::new())).collect()
    };
    let findings = ledger.findings.iter().map(|finding| row(&ledger.by_case[finding.case], finding.flags.join(", ")));
    let mut parts = vec![Part { heading: "Arms", rows: all(&ledger.by_variant) }];
    if ledger.by_runner.len() > 1 {
        parts.push(Part { heading: "Runners", rows: all(&ledger.by_runner) });
    }
    parts.push(Part { heading: "Most expensive cases", rows: some(&ledger.by_case, &ledger.top_cases) });
    parts.push(Part { heading: "Most expensive ablations", rows: some(&ledger.by_variant, &ledger.top_ablations) });
    parts.push(Part { heading: "Paid for cases that do not tell the arms apart", rows: findings.collect() });
    parts.retain(|part| !part.rows.is_empty());
    parts
}

/// What everything cost, in sentences.
fn sentences(source: LedgerSource<'_>) -> Vec<String> {
    let LedgerSource { ledger, judge, .. } = source;
    let totals = &ledger.totals;
    let coverage = ledger.coverage;
    if coverage.runs == 0 {
        return vec!["No runs were found.".to_owned()];
    }
    let of_runs = |known: usize| {
        if known == coverage.runs { "all".to_owned() } else { format!("{} of {}", count(known), count(coverage.runs)) }
    };
    let milliseconds = |sum: u128| time(sum as f64);
    let mut lines = vec![
        format!("Cost: {}.", money_sum(&totals.money)),
        format!(
            "Tokens: {} (in {}, out {}).",
            sum(&totals.total_tokens, tokens),
            sum(&totals.input_tokens, tokens),
            sum(&totals.output_tokens, tokens)
        ),
        format!("Time, one run after the other: {}.", sum(&totals.elapsed_ms, milliseconds)),
        format!(
            "Known for {} runs: cost; for {}: tokens.",
            of_runs(coverage.with_dollars + coverage.with_other_money),
            of_runs(coverage.with_tokens)
        ),
    ];
    if let Some(judge) = judge {
        let spent = money_sum(&money_buckets(judge.calls.iter(), PopulationRule::AsStated));
        let verdicts = counted(judge.verdicts, "verdict", "verdicts");
        lines.push(format!("Judging, not part of the above: {spent} for {verdicts}."));
    }
    lines
}

/// The ledger as text; every line ends with a line break.
pub fn ledger_table(source: LedgerSource<'_>, style: Style) -> String {
    let mut page = Page::new(style);
    let runs = counted(source.ledger.coverage.runs, "run", "runs");
    let name = page.name(&source.head.skill_name);
    let title = format!("{}   what {runs} cost", page.paint(Paint::Bold, &name));
    page.line(&title);
    page.line("");
    for sentence in sentences(source) {
        let sentence = page.own(&sentence);
        page.wrapped(&sentence, "", "");
    }
    for part in parts(source.ledger) {
        page.line("");
        part_table(&mut page, &part);
    }
    page.out
}

fn part_table(page: &mut Page, part: &Part) {
    let cells: Vec<[String; 4]> = part
        .rows
        .iter()
        .map(|(cells, _)| {
            let [name, runs, tokens, cost] = cells;
            [page.name(name), runs.clone(), page.own(tokens), page.own(cost)]
        })
        .collect();
    let widths = [1, 2, 3].map(|place: usize| column(HEADS[place], cells.iter().map(|row| row[place].clone())));
    let fixed = 2 + widths.iter().map(|width| width + 2).sum::<usize>();
    let names: Vec<String> = cells.iter().map(|row| row[0].clone()).collect();
    let name_width = page.name_width(&names, part.heading, fixed);
    let line = |page: &Page, row: [&str; 4]| {
        let name = left(&cut_middle(row[0], name_width, page.style), name_width);
        let [runs, tokens, cost] = [1, 2, 3].map(|place: usize| right(row[place], widths[place - 1]));
        format!("  {name}  {runs}  {tokens}  {cost}")
    };
    let head = line(page, [part.heading, HEADS[1], HEADS[2], HEADS[3]]);
    let head = page.paint(Paint::Muted, &head);
    page.line(&head);
    for (row, (_, note)) in cells.iter().zip(&part.rows) {
        let text = line(page, [&row[0], &row[1], &row[2], &row[3]]);
        page.line(&text);
        if !note.is_empty() {
            let note = page.name(note);
            page.wrapped(&note, "      ", "      ");
        }
    }
}

/// The ledger as Markdown.
pub fn ledger_markdown(source: LedgerSource<'_>) -> String {
    let mut out = format!("# Cost summary: {}\n\n", escaped(&source.head.skill_name));
    for sentence in sentences(source) {
        out.push_str(&format!("- {sentence}\n"));
    }
    for part in parts(source.ledger) {
        let with_notes = part.rows.iter().any(|(_, note)| !note.is_empty());
        out.push_str(&format!("\n## {}\n\n", part.heading));
        let name = if part.heading == "Arms" { "Arm" } else { "Name" };
        let (head, rule) = if with_notes { (" Why |", "---|") } else { ("", "") };
        out.push_str(&format!("| {name} | Runs | Tokens | Cost |{head}\n|---|---:|---:|---:|{rule}\n"));
        for (cells, note) in &part.rows {
            let [name, runs, tokens, cost] = cells;
            out.push_str(&format!("| {} | {runs} | {tokens} | {cost} |", escaped(name)));
            if with_notes {
                out.push_str(&format!(" {} |", escaped(note)));
            }
            out.push('\n');
        }
    }
    out
}
