//! What a benchmark report states in so many words: its headline figures and the failures of its rows, as they are
//! written. [`Claims`](super::Claims) holds the same rows with their rates recomputed.

use super::figures;
use super::places::{is_list, items, members, text_of};
use super::row::report_reasons;
use super::verdicts::plain;
use crate::json::Item;

/// What a report of this program or of the reference package states.
#[derive(Debug, Clone)]
pub struct StatedReport {
    /// Seconds since 1970.
    pub generated_at: Option<i64>,
    /// Headline rate with the skill.
    pub with_skill: Option<f64>,
    /// Headline rate without it.
    pub without_skill: Option<f64>,
    /// The headline lift.
    pub lift: Option<f64>,
    /// What the report concludes over its cases, a code; reports of the reference package conclude nothing.
    pub verdict: Option<String>,
    /// The arms of the summary in its order.
    pub arms: Vec<StatedArm>,
    /// Cases that have an entry in the list of flags.
    pub flagged_cases: usize,
    /// The rows in the order of the file.
    pub rows: Vec<StatedRow>,
}

/// An arm in the summary of a report.
#[derive(Debug, Clone)]
pub struct StatedArm {
    /// Its name.
    pub variant: String,
    /// Mean rate of the objective checks over its runs.
    pub mean_objective: Option<f64>,
    /// Mean rate of objective and judged checks over its runs.
    pub mean_combined: Option<f64>,
    /// Median of the tokens of its runs, as it is written: a whole number stays one.
    pub median_total_tokens: Option<serde_json::Number>,
}

/// One row of a report.
#[derive(Debug, Clone)]
pub struct StatedRow {
    /// The case.
    pub case: String,
    /// The arm.
    pub variant: String,
    /// The stated objective rate, also of a row that is no score.
    pub rate: Option<f64>,
    /// Whether the row enters means: it has an answer, and its execution was valid.
    pub is_scorable: bool,
    /// Whether the case guards against regressions: it is meant to pass in both arms.
    pub guards_regressions: bool,
    /// Checks that failed. A check that was skipped or is undecided has not failed.
    pub failures: Vec<StatedFailure>,
}

/// A check that failed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StatedFailure {
    /// Its name.
    pub assertion: String,
    /// How the failure counts.
    pub severity: String,
}

/// The severity of a check whose row names none.
const USUAL_SEVERITY: &str = "gate";

/// Blocks of a benchmark report that are not there.
pub(super) fn missing_blocks(root: Item<'_, '_>) -> Vec<&'static str> {
    let is_object = |key: &'static str| root.get(key).is_some_and(Item::is_object);
    let blocks = [
        ("summary", is_object("summary")),
        ("paired_summary", is_object("paired_summary")),
        ("case_flags", root.get("case_flags").is_some_and(is_list)),
    ];
    blocks.into_iter().filter(|(_, is_there)| !is_there).map(|(key, _)| key).collect()
}

/// Reads what a report states.
pub(super) fn report(root: Item<'_, '_>) -> StatedReport {
    let paired = |key| number_at(root.get("paired_summary"), key);
    let overall = root.get("inference").and_then(|inference| inference.get("overall"));
    let verdict = overall.and_then(|overall| overall.get("verdict"));
    StatedReport {
        generated_at: root.get("generated_at").and_then(Item::as_number).and_then(|number| number.as_i64()),
        with_skill: paired("with_skill_objective_pass_rate"),
        without_skill: paired("without_skill_objective_pass_rate"),
        lift: paired("absolute_delta"),
        verdict: verdict.and_then(|verdict| text_of(verdict, &["code"])),
        arms: root.get("summary").into_iter().flat_map(members).map(|(name, block)| arm(&name, block)).collect(),
        flagged_cases: root.get("case_flags").into_iter().flat_map(items).count(),
        rows: root.get("results").into_iter().flat_map(items).map(row).collect(),
    }
}

fn number_at(home: Option<Item<'_, '_>>, key: &str) -> Option<f64> {
    home?.get(key)?.as_number().map(|number| number.as_f64())
}

fn arm(variant: &str, block: Item<'_, '_>) -> StatedArm {
    StatedArm {
        variant: variant.to_owned(),
        mean_objective: number_at(Some(block), "mean_objective_pass_rate"),
        mean_combined: number_at(Some(block), "mean_combined_pass_rate"),
        // a number that is no 64-bit one is no count of tokens
        median_total_tokens: block
            .get("median_total_tokens")
            .and_then(Item::as_number)
            .and_then(|number| serde_json::from_str(number.text()).ok()),
    }
}

fn row(row: Item<'_, '_>) -> StatedRow {
    let name = |key: &str| row.get(key).and_then(plain).unwrap_or_default();
    let lists = ["assertions", "qualitative_assertions"].into_iter().filter_map(|key| row.get(key));
    StatedRow {
        case: name("case_id"),
        variant: name("variant"),
        rate: number_at(Some(row), "objective_pass_rate"),
        is_scorable: report_reasons(row).is_empty(),
        guards_regressions: text_of(row, &["eval_intent"]).is_some_and(|intent| intent == "regression"),
        failures: lists.flat_map(items).filter_map(failure).collect(),
    }
}

fn failure(check: Item<'_, '_>) -> Option<StatedFailure> {
    let is = |key: &str, value: bool| check.get(key).and_then(Item::as_bool) == Some(value);
    (is("passed", false) && !is("skipped", true)).then(|| StatedFailure {
        assertion: check.get("name").map_or_else(String::new, figures::shown),
        severity: check.get("severity").map_or_else(|| USUAL_SEVERITY.to_owned(), figures::shown),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::{Limits, Tape};

    fn read(text: &str) -> StatedReport {
        report(Tape::read(text, Limits::SIDECAR).unwrap().root())
    }

    #[test]
    fn figures_are_taken_as_they_are_written() {
        let stated = read(
            r#"{"generated_at": 1760000000, "summary": {"with_skill": {"mean_objective_pass_rate": 1,
                 "mean_combined_pass_rate": 0.5, "median_total_tokens": 101}, "without_skill": {"median_total_tokens": 110.0}},
                "paired_summary": {"with_skill_objective_pass_rate": 0.75, "absolute_delta": 0.25},
                "case_flags": [{"case_id": "a", "flags": []}], "results": [],
                "inference": {"overall": {"verdict": {"code": "helps"}}}}"#,
        );
        assert_eq!(
            (stated.generated_at, stated.with_skill, stated.without_skill),
            (Some(1_760_000_000), Some(0.75), None)
        );
        assert_eq!((stated.lift, stated.verdict.as_deref(), stated.flagged_cases), (Some(0.25), Some("helps"), 1));
        let tokens: Vec<String> =
            stated.arms.iter().map(|arm| arm.median_total_tokens.as_ref().unwrap().to_string()).collect();
        assert_eq!(tokens, ["101", "110.0"]);
        assert_eq!(stated.arms[0].mean_objective, Some(1.0));
    }

    #[test]
    fn only_a_verdict_of_fail_is_a_failure() {
        let stated = read(
            r#"{"results": [{"case_id": "a", "variant": "with_skill", "missing_output": false, "execution_valid": true,
                 "objective_pass_rate": 0.5, "assertions": [{"name": "one", "passed": false, "severity": "critical"},
                 {"name": "two", "passed": true}, {"name": "three", "passed": null}, {"name": "five", "passed": false}],
                 "qualitative_assertions": [{"name": "four", "passed": false, "skipped": true}]}]}"#,
        );
        let failures: Vec<(&str, &str)> = stated.rows[0]
            .failures
            .iter()
            .map(|failure| (failure.assertion.as_str(), failure.severity.as_str()))
            .collect();
        assert_eq!(failures, [("one", "critical"), ("five", "gate")]);
    }

    #[test]
    fn rows_without_an_answer_or_with_a_broken_execution_are_no_scores() {
        let scorable = |fields: &str| {
            let text = format!(r#"{{"results": [{{"case_id": "a", "variant": "with_skill", {fields}}}]}}"#);
            read(&text).rows[0].is_scorable
        };
        assert!(scorable(r#""missing_output": false, "execution_valid": true"#));
        // as the reference reads it: what is not stated is valid
        assert!(scorable(r#""missing_output": false"#));
        assert!(!scorable(r#""missing_output": true, "execution_valid": true"#));
        assert!(!scorable(r#""missing_output": false, "execution_valid": false"#));
        assert!(!scorable(r#""execution_valid": true, "unscored_reasons": ["output_too_large"]"#));
    }
}
