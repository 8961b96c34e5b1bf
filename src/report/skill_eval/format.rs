//! Numbers and names as `benchmark.md` has them.

use skill_lift_stats::rational::{self, Rational};
use skill_lift_text::screen::visible;

use crate::analyze::skill_eval::{MetricKind, MetricSummary};
use crate::report::numbers;

/// A rate in percent with one decimal, rounded half to even on the exact value; `n/a` without one. Differences of rates
/// are written alike: without a sign when positive.
pub fn percent(rate: Option<f64>) -> String {
    let Some(exact) = rate.and_then(rational::from_f64) else {
        return "n/a".to_owned();
    };
    let sign = if rate.is_some_and(f64::is_sign_negative) { "-" } else { "" };
    let shown = rational::round_half_even(&(exact * rational::rate(100, 1)), 1).abs();
    format!("{sign}{shown:.1}%")
}

/// As [`percent`], of an exact rate.
pub fn percent_of(rate: Option<&Rational>) -> String {
    percent(rate.map(rational::to_f64))
}

/// A value of a metric in its unit.
fn amount(kind: MetricKind, value: f64) -> String {
    match kind {
        MetricKind::Duration => format!("{:.1}s", rational::round_f64_half_even(value / 1000.0, 1)),
        MetricKind::Tokens => thousands(rational::round_f64_half_even(value, 0)),
        MetricKind::Cost => format!("${:.4}", rational::round_f64_half_even(value, 4)),
    }
}

/// A whole number with thousands commas.
fn thousands(value: f64) -> String {
    let digits = format!("{value:.0}");
    let (sign, digits) = digits.strip_prefix('-').map_or(("", digits.as_str()), |digits| ("-", digits));
    format!("{sign}{}", numbers::grouped(digits))
}

/// A difference of a metric, always with its sign.
pub fn difference(kind: MetricKind, value: Option<f64>) -> String {
    let Some(value) = value.filter(|value| value.is_finite()) else {
        return "n/a".to_owned();
    };
    let sign = if value.is_sign_negative() { '-' } else { '+' };
    format!("{sign}{}", amount(kind, value.abs()))
}

/// A metric of a configuration, or why there is none.
pub fn metric(kind: MetricKind, summary: &MetricSummary) -> String {
    let Some(mean) = summary.mean else {
        let reasons = &summary.reasons;
        if reasons.is_empty() {
            return "not captured (no runs)".to_owned();
        }
        let more = if reasons.len() > REASONS_SHOWN { "; ..." } else { "" };
        let shown = &reasons[..reasons.len().min(REASONS_SHOWN)];
        return format!("not captured ({}{more})", shown.join("; "));
    };
    let spread = summary.stdev.map(|stdev| format!(" ± {}", amount(kind, stdev))).unwrap_or_default();
    let part = if summary.n < summary.total { format!(" (n={}/{})", summary.n, summary.total) } else { String::new() };
    format!("{}{spread}{part}", amount(kind, mean))
}

const REASONS_SHOWN: usize = 3;

/// The name of a metric in tables.
pub fn label(kind: MetricKind) -> &'static str {
    match kind {
        MetricKind::Duration => "Execution time",
        MetricKind::Tokens => "Total tokens",
        MetricKind::Cost => "Cost (USD)",
    }
}

/// Text of others in running text or a table cell: nothing in it steers a terminal or the Markdown around it.
pub fn plain(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in visible(text, false).chars() {
        match character {
            '|' | '`' | '[' | '\\' => {
                shown.push('\\');
                shown.push(character);
            }
            '<' => shown.push_str("&lt;"),
            other => shown.push(other),
        }
    }
    shown
}

/// Text of others as code.
pub fn code(text: &str) -> String {
    let shown = visible(text, false);
    let longest = shown.split(|character| character != '`').map(str::len).max().unwrap_or(0);
    // the fence is longer than what it holds
    let fence = "`".repeat(longest + 1);
    if longest == 0 { format!("`{shown}`") } else { format!("{fence} {shown} {fence}") }
}

/// One row of a table. The cells are Markdown already.
pub fn row(cells: impl IntoIterator<Item = String>) -> String {
    format!("| {} |", cells.into_iter().collect::<Vec<_>>().join(" | "))
}

/// A table with its head.
pub fn table(head: Vec<String>, rows: impl IntoIterator<Item = Vec<String>>) -> Vec<String> {
    let rule = row(head.iter().map(|_| "---".to_owned()));
    let mut lines = vec![row(head), rule];
    lines.extend(rows.into_iter().map(row));
    lines
}

/// A number of things, at most so many of them named.
pub fn listed(names: &[String], most: usize) -> String {
    let shown = names.iter().take(most).cloned().collect::<Vec<_>>().join("; ");
    match names.len().saturating_sub(most) {
        0 => shown,
        more => format!("{shown}; and {} more", numbers::count(more)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percents_round_half_to_even_on_the_exact_value() {
        let cases = [
            (0.0625, "6.2%"),
            (0.1875, "18.8%"),
            (0.3125, "31.2%"),
            (-0.0001, "-0.0%"),
            (0.305_555, "30.6%"),
            (0.0, "0.0%"),
            (1.0, "100.0%"),
        ];
        for (rate, expected) in cases {
            assert_eq!(percent(Some(rate)), expected, "{rate}");
        }
        assert_eq!(percent(None), "n/a");
    }

    #[test]
    fn differences_have_a_sign() {
        assert_eq!(difference(MetricKind::Duration, Some(0.0)), "+0.0s");
        assert_eq!(difference(MetricKind::Tokens, Some(-1_234_567.5)), "-1,234,568");
        assert_eq!(difference(MetricKind::Cost, Some(-0.01234)), "-$0.0123");
        assert_eq!(difference(MetricKind::Cost, None), "n/a");
    }

    #[test]
    fn cells_say_why_nothing_was_captured() {
        let summary = |reasons: &[&str]| MetricSummary {
            n: 0,
            total: reasons.len(),
            mean: None,
            stdev: None,
            reasons: reasons.iter().map(|reason| (*reason).to_owned()).collect(),
        };
        assert_eq!(metric(MetricKind::Cost, &summary(&[])), "not captured (no runs)");
        assert_eq!(metric(MetricKind::Cost, &summary(&["a", "b", "c", "d"])), "not captured (a; b; c; ...)");
        // 1000.5 and 2.5 are ties: they go to the even neighbour
        let captured = MetricSummary { n: 2, total: 3, mean: Some(1000.5), stdev: Some(2.5), reasons: Vec::new() };
        assert_eq!(metric(MetricKind::Tokens, &captured), "1,000 ± 2 (n=2/3)");
    }

    #[test]
    fn text_of_others_stays_in_its_cell() {
        assert_eq!(plain("a|b\n`c` [x](y) <b> \\ \u{1b}[2J"), r"a\|b\\u{a}\`c\` \[x](y) &lt;b> \\ \\u{1b}\[2J");
        assert_eq!((code("a`b"), code("a``b`")), ("`` a`b ``".to_owned(), "``` a``b` ```".to_owned()));
    }
}
