//! The report of `aggregate` for people.

use skill_lift_stats::{Rational, Withheld, rational};

use super::aggregate_json::SkillReport;
use super::numbers::{counted, interval, points};
use super::quantities::{money, sum, tokens};
use super::terminal::{Page, Paint, Style, column, cut_middle, left, right};
use super::words;
use crate::analyze::several::{OneSkill, SeveralSkills};
use skill_lift_contract::telemetry::Currency;

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
    for sentence in [mean_sentence(&several, alpha), cost_sentence(&several)] {
        let sentence = page.own(&sentence);
        page.wrapped(&sentence, "", "");
    }
    page.line("");
    skills_table(&mut page, reports);
    page.out
}

fn mean_sentence(several: &SeveralSkills, alpha: &Rational) -> String {
    let percent = rational::to_f64(&((rational::rate(1, 1) - alpha) * rational::rate(100, 1)));
    match &several.mean {
        Ok(mean) => {
            let estimate = rational::from_f64(mean.mean).map_or_else(String::new, |mean| points(&mean));
            let spread = rational::from_f64(mean.tau()).map_or_else(String::new, |tau| points(&tau));
            let limits = interval(mean.lower.max(-1.0), mean.upper.min(1.0));
            format!(
                "Mean lift over the skills {estimate}, {percent}% interval {limits}. The lifts of skills differ by about {} \
                 (standard deviation).",
                spread.trim_start_matches('+')
            )
        }
        Err(Withheld::TooFewSkills) => {
            "No mean over skills: fewer than two of them have a lift with an interval.".to_owned()
        }
        Err(reason) => format!("No mean over skills: {}.", reason.as_str()),
    }
}

fn cost_sentence(several: &SeveralSkills) -> String {
    let totals = &several.totals;
    let of = |(currency, aggregate): (&Currency, &_)| sum(aggregate, |amount| money(amount, *currency));
    let known: Vec<String> = totals.money.by_currency.iter().map(of).collect();
    let money = match known.is_empty() {
        true => sum(&totals.money.unknown, |amount| money(amount, Currency::USD)),
        false => known.join(" + "),
    };
    format!("Cost: {money}. Tokens: {}.", sum(&totals.total_tokens, tokens))
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
