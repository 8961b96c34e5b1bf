//! The report of `aggregate` for people.

use skill_lift_stats::Rational;

use super::aggregate_json::SkillReport;
use super::numbers::{counted, interval, points};
use super::several_words::{self, Spent};
use super::terminal::{Page, Paint, Style, column, cut_middle, left, right};
use super::words;
use crate::analyze::several::{OneSkill, SeveralSkills};

/// Headings of the columns behind the name.
const HEADS: [&str; 4] = ["Cases", "Lift", "Interval", "Verdict"];

/// The report as text; every line ends with a line break.
pub fn aggregate_table(reports: &[SkillReport], alpha: &Rational, style: Style) -> String {
    let skills: Vec<OneSkill<'_>> =
        reports.iter().map(|report| OneSkill { name: &report.skill_name, analysis: &report.analysis }).collect();
    let several = SeveralSkills::of(&skills, alpha);
    let mut page = Page::new(style);
    let title = page.paint(Paint::Bold, &counted(reports.len(), "skill", "skills"));
    page.line(&title);
    page.line("");
    for sentence in [several_words::mean_sentence(&several, alpha), cost_sentence(&several)] {
        let sentence = page.own(&sentence);
        page.wrapped(&sentence, "", "");
    }
    page.line("");
    skills_table(&mut page, reports);
    page.out
}

fn cost_sentence(several: &SeveralSkills) -> String {
    let Spent { money, tokens } = several_words::spent(&several.totals);
    format!("Cost: {money}. Tokens: {tokens}.")
}

fn skills_table(page: &mut Page, reports: &[SkillReport]) {
    let rows: Vec<[String; 5]> = reports
        .iter()
        .map(|report| {
            let inference = &report.analysis.inference;
            let overall = &inference.overall;
            let lift = overall.test.estimate.as_ref().map_or_else(|| "not measured".to_owned(), points);
            let limits = overall.interval.as_ref().map_or("no interval".to_owned(), |i| interval(i.lower, i.upper));
            let minimum = skill_lift_stats::minimum_cases(inference.thresholds.alpha()).unwrap_or(usize::MAX);
            let verdict = words::headline(inference, minimum).text;
            [
                page.name(&report.skill_name),
                inference.counts.cases.to_string(),
                page.own(&lift),
                page.own(&limits),
                page.own(&verdict),
            ]
        })
        .collect();
    let widths = [1, 2, 3, 4].map(|place: usize| column(HEADS[place - 1], rows.iter().map(|row| row[place].clone())));
    let fixed = 2 + widths.iter().map(|width| width + 2).sum::<usize>();
    let names: Vec<String> = rows.iter().map(|row| row[0].clone()).collect();
    let name_width = page.name_width(&names, "Skill", fixed);
    let line = |page: &Page, row: [&str; 5]| {
        format!(
            "  {}  {}  {}  {}  {}",
            left(&cut_middle(row[0], name_width, page.style), name_width),
            right(row[1], widths[0]),
            right(row[2], widths[1]),
            left(row[3], widths[2]),
            row[4]
        )
    };
    let head = line(page, ["Skill", HEADS[0], HEADS[1], HEADS[2], HEADS[3]]);
    let head = page.paint(Paint::Muted, &head);
    page.line(&head);
    for row in &rows {
        let text = line(page, [&row[0], &row[1], &row[2], &row[3], &row[4]]);
        page.line(&text);
    }
}
