//! Words for codes: flags, verdicts, reasons. Every output takes them from here.

use skill_lift_stats::rational;
use skill_lift_stats::variance::VarianceSplit;
use skill_lift_stats::verdict::{TooFewReason, VerdictCode};

use super::numbers;
use crate::analyze::completeness::IncompleteReason;
use crate::analyze::flags::Flag;
use crate::analyze::inference::{self, Contrast, Inference, Unit};
use crate::analyze::table::Baseline;

/// The text of a flag in `case_flags`, as version 0.6 of the report format spells it.
pub fn flag_text(flag: &Flag) -> String {
    match flag {
        Flag::Saturated => "saturated/non-discriminating".to_owned(),
        Flag::Forgettable => "structurally-pass-but-forgettable".to_owned(),
        Flag::Floor => "floor: fails in both arms".to_owned(),
        Flag::NoLift => "no objective lift".to_owned(),
        Flag::WithSkillFailure => "with-skill failure".to_owned(),
        Flag::Flaky { variant } => format!("flaky repeated pass rates: {variant}"),
        Flag::CriticalFailure { variant, names } => format!("critical-failure: {variant} ({})", names.join(", ")),
        Flag::BelowReferenceFloor { names } => format!("below-reference-floor: {}", names.join(", ")),
    }
}

/// A reason for a blocked pair, in words.
pub fn blocked_reason(code: &str) -> String {
    match code {
        "missing_with_skill" => "the run with the skill is missing".to_owned(),
        "missing_without_skill" => "the run without the skill is missing".to_owned(),
        "unscorable_arm" => "a run is not scored".to_owned(),
        "missing_objective_pass_rate" => "nothing could be graded".to_owned(),
        "invalid_run_number" => "the run number is not positive".to_owned(),
        "effort_mismatch" => "the arms ran with different effort".to_owned(),
        "missing_trace_evidence" => "what the agent did in a run is not known".to_owned(),
        "incomplete_trace_evidence" => "the trace of a run is not complete".to_owned(),
        "missing_old_skill" => "the run with the old skill is missing".to_owned(),
        "asymmetric_evidence" => "a check had its evidence in one arm only".to_owned(),
        "no_shared_criteria" => "only one arm can satisfy the checks".to_owned(),
        "baseline_contaminated" => "the run without the skill had it".to_owned(),
        "assertion_count_differs" => "the arms were graded on different numbers of assertions".to_owned(),
        other => other.replace('_', " "),
    }
}

/// What is compared, in words.
pub fn contrast(baseline: Baseline) -> &'static str {
    match baseline {
        Baseline::WithoutSkill => "with the skill against without",
        Baseline::OldSkill => "with the skill against the old skill",
    }
}

/// A reason why a run is not scored, in words.
pub fn unscored_reason(code: &str) -> String {
    match code {
        "missing_output" => "no answer".to_owned(),
        "missing_run" => "no run directory".to_owned(),
        "incomplete_artifact_set" => "files missing or changed".to_owned(),
        "timed_out" => "timed out".to_owned(),
        "executor_error" => "the agent failed".to_owned(),
        "output_too_large" => "answer larger than the limit".to_owned(),
        "unsupported_assertion" => "a check that this version does not grade".to_owned(),
        "runner_error" => "the runner failed".to_owned(),
        "missing_grading" => "no verdicts".to_owned(),
        "unreadable_grading" => "unreadable verdicts".to_owned(),
        "misfiled_grading" => "verdicts of another case or arm".to_owned(),
        "no_verdicts" => "nothing decided".to_owned(),
        "grader_timeout" => "the grader timed out".to_owned(),
        "grader_failed" => "the grader failed".to_owned(),
        "grader_unparseable" => "no verdicts in the grader's answer".to_owned(),
        "grader_incomplete" => "no verdict on any assertion".to_owned(),
        "grader_conflict" => "verdicts that contradict each other".to_owned(),
        other => other.replace('_', " "),
    }
}

/// How good or bad a headline is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// Better with the skill.
    Good,
    /// Worse with the skill.
    Bad,
    /// Neither.
    Neutral,
}

/// The first words of a report, and what follows the figures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Headline {
    /// A sentence.
    pub text: String,
    /// What else must be said at once; may be empty.
    pub note: String,
    /// How good or bad it is.
    pub tone: Tone,
}

fn units(contrast: &Contrast, number: usize) -> String {
    match contrast.unit {
        Unit::Case => numbers::counted(number, "case", "cases"),
        Unit::Family => numbers::counted(number, "family", "families"),
    }
}

/// Units that a verdict names.
const WORST_NAMED: usize = 3;

/// What inference counts, several of them.
pub(super) fn unit_name(contrast: &Contrast) -> &'static str {
    match contrast.unit {
        Unit::Case => "cases",
        Unit::Family => "families",
    }
}

/// The headline of a report that withholds its figures.
pub fn withheld_headline(reasons: &[IncompleteReason]) -> Headline {
    let lacks: Vec<&str> = reasons
        .iter()
        .map(|reason| match reason {
            IncompleteReason::NothingGraded => "no run is scored",
            IncompleteReason::AnswerDesignIncomplete => "runs of the plan are missing",
            IncompleteReason::IncompletePairing => "pairs are blocked",
            IncompleteReason::GradingEvidenceIncomplete => "checks had no evidence",
            IncompleteReason::DeferredJudgements => "judgements are missing",
        })
        .collect();
    let note = format!("Figures are withheld: {}.", lacks.join(", "));
    Headline { text: "The evidence is incomplete.".to_owned(), note, tone: Tone::Neutral }
}

/// The headline of a report: the first row of the table of conditions that applies.
pub fn headline(inference: &Inference, minimum_cases: usize) -> Headline {
    let contrast = &inference.overall;
    let verdict = &contrast.verdict;
    let say = |text: &str, note: String, tone| Headline { text: text.to_owned(), note, tone };
    let alpha = alpha(inference);
    let min_lift = numbers::size_in_points(min_lift(inference));
    let k = contrast.test.n;
    if verdict.code == VerdictCode::NothingPaired {
        return say("No lift can be measured.", "No pair has both arms.".to_owned(), Tone::Neutral);
    }
    if contrast.all_pass() {
        let note = "Every case passes with and without the skill. Harder cases are needed.";
        return say("This eval cannot tell.", note.to_owned(), Tone::Neutral);
    }
    if contrast.all_fail() {
        let note = "Every case fails in both arms: they are too hard, or the checks are wrong.";
        return say("This eval cannot tell.", note.to_owned(), Tone::Neutral);
    }
    let qualified = || {
        if verdict.size_uncertain {
            format!("But {} do not fix the size: the interval includes 0.", units(contrast, k))
        } else if verdict.negligible {
            format!("The gain is below the {min_lift} that matters.")
        } else {
            String::new()
        }
    };
    if let (false, Some(margin)) = (is_shown(verdict.code), shown_equivalent(inference)) {
        let note = format!("Any average difference lies within ±{margin}.");
        return say("The skill makes no practical difference.", note, Tone::Neutral);
    }
    match verdict.code {
        VerdictCode::Helps => say("The skill helps.", qualified(), Tone::Good),
        VerdictCode::Harms => say("The skill makes results worse.", qualified(), Tone::Bad),
        VerdictCode::NoEvidence => {
            say("No lift that matters.", format!("Any average effect lies inside ±{min_lift}."), Tone::Neutral)
        }
        VerdictCode::TooFewCases | VerdictCode::NothingPaired => {
            if verdict.reasons.contains(&TooFewReason::Structural) {
                let note = format!(
                    "{} cannot reach p ≤ {alpha}, whatever {}. Add at least {}.",
                    units(contrast, k),
                    if k == 1 { "it shows" } else { "they show" },
                    minimum_cases.saturating_sub(k)
                );
                return say("Too few cases to tell.", note, Tone::Neutral);
            }
            let (text, note) = match contrast.test.direction {
                skill_lift_stats::Direction::Better => ("Not proven. Results lean better.", too_few_note(contrast)),
                skill_lift_stats::Direction::Worse => ("Not proven. Results lean worse.", too_few_note(contrast)),
                skill_lift_stats::Direction::Neither => {
                    let lift = contrast.smallest_detectable_lift.as_ref().map(|d| numbers::size_in_points(d.lift));
                    let note = lift.map(|lift| format!("A lift below {lift} could have gone unnoticed."));
                    ("No lift seen.", note.unwrap_or_default())
                }
            };
            say(text, note, Tone::Neutral)
        }
    }
}

/// Whether a verdict says that the skill changes something.
fn is_shown(code: VerdictCode) -> bool {
    matches!(code, VerdictCode::Helps | VerdictCode::Harms)
}

fn too_few_note(contrast: &Contrast) -> String {
    if contrast.verdict.reasons.contains(&TooFewReason::FewCasesMoved) {
        return format!("Only {} of {} changed.", contrast.test.moved, units(contrast, contrast.test.n));
    }
    match &contrast.interval {
        Ok(interval) => {
            format!("The lift could be anything from {}.", numbers::interval(interval.lower, interval.upper))
        }
        Err(_) => String::new(),
    }
}

fn alpha(inference: &Inference) -> f64 {
    skill_lift_stats::rational::to_f64(inference.thresholds.alpha())
}

/// The name of the interval with its confidence: `95% interval`.
pub fn interval_name(inference: &Inference) -> String {
    interval_name_of(alpha(inference))
}

/// The name of the interval at an error rate.
pub fn interval_name_of(alpha: f64) -> String {
    let confidence = 100.0 * (1.0 - alpha);
    // the error rate is given in decimals: two of them are enough for the name
    let text = format!("{confidence:.2}");
    format!("{}% interval", text.trim_end_matches('0').trim_end_matches('.'))
}

fn min_lift(inference: &Inference) -> f64 {
    skill_lift_stats::rational::to_f64(inference.thresholds.min_lift())
}

/// How strong the evidence is.
pub fn grade(inference: &Inference) -> &'static str {
    let contrast = &inference.overall;
    let verdict = &contrast.verdict;
    let structural = verdict.reasons.contains(&TooFewReason::Structural);
    if verdict.code == VerdictCode::NothingPaired || structural || contrast.all_pass() || contrast.all_fail() {
        return "Not enough evidence";
    }
    if verdict.code == VerdictCode::NoEvidence || (!is_shown(verdict.code) && shown_equivalent(inference).is_some()) {
        return "Evidence of no difference that matters";
    }
    let (p, alpha) = (contrast.test.p_two_sided, alpha(inference));
    if p <= 0.001 {
        "Very strong evidence"
    } else if p <= 0.01 {
        "Strong evidence"
    } else if p <= alpha {
        "Evidence"
    } else if p <= 2.0 * alpha {
        "Weak evidence"
    } else {
        "No clear evidence"
    }
}

/// How often a skill without effect would show such a lift: n of a round number. `None` when p is 1 or below 1 in 10,000.
pub fn odds(p: f64) -> Option<(u64, u64)> {
    let of: u64 = if p >= 1.0 {
        return None;
    } else if p >= 0.0995 {
        100
    } else if p >= 0.00995 {
        1_000
    } else if p >= 0.0001 {
        10_000
    } else {
        return None;
    };
    Some((((p * of as f64).round() as u64).max(1), of))
}

/// The sentence for the odds; empty when p is 1.
pub fn odds_text(p: f64) -> String {
    match odds(p) {
        Some((n, of)) => {
            let (n, of) = (numbers::count(n as usize), numbers::count(of as usize));
            format!("A skill without effect would show a lift this large in about {n} in {of} such evals.")
        }
        None if p >= 1.0 => String::new(),
        None => "A skill without effect would show a lift this large in fewer than 1 in 10,000 such evals.".to_owned(),
    }
}

/// The verdict in one sentence, for `verdict.text`. Says so when the missing runs could turn it round.
pub fn verdict_text(inference: &Inference, blocked: usize, minimum_cases: usize) -> String {
    let contrast = &inference.overall;
    let verdict = &contrast.verdict;
    let k = units(contrast, contrast.test.n);
    let p = contrast.test.p_two_sided;
    let alpha_value = alpha(inference);
    let p_shown = numbers::p_text(p, alpha_value);
    let estimate = contrast.test.estimate.as_ref().map(numbers::points).unwrap_or_default();
    let limits = contrast.interval.as_ref().map(|i| numbers::interval(i.lower, i.upper)).unwrap_or_default();
    let between = limits.replacen(" to ", " and ", 1);
    let min_lift = numbers::size_in_points(min_lift(inference));
    let interval_name = interval_name(inference);
    let is_reversible = inference.missingness.as_ref().is_some_and(|missing| missing.bounds.could_reverse());
    let reversal = if is_reversible { ", and the missing runs could reverse it" } else { "" };
    // a verdict that says nothing of the direction has nothing to reverse: the lift that was seen has
    let moved = contrast.test.direction != skill_lift_stats::Direction::Neither;
    let seen = if is_reversible && moved { format!(" The lift seen is {estimate}{reversal}.") } else { String::new() };
    match verdict.code {
        VerdictCode::NothingPaired => {
            format!("Nothing to compare: {} blocked.", numbers::counted(blocked, "pair is", "pairs are"))
        }
        VerdictCode::Helps | VerdictCode::Harms if verdict.size_uncertain => {
            let side = if verdict.code == VerdictCode::Helps { "better" } else { "worse" };
            format!(
                "The skill changes results, on balance for the {side} ({p_shown}), but {k} do not fix the average: \
                 between {between}{reversal}."
            )
        }
        VerdictCode::Helps | VerdictCode::Harms if verdict.negligible => {
            let what = if verdict.code == VerdictCode::Helps { "gain" } else { "loss" };
            format!(
                "A small but real {what}: {estimate} ({limits}, {interval_name}), below the {min_lift} that \
                 matters{reversal}."
            )
        }
        VerdictCode::Helps | VerdictCode::Harms => {
            let what =
                if verdict.code == VerdictCode::Helps { "The skill helps" } else { "The skill makes results worse" };
            let odds = odds_text(p);
            let text = format!("{what}: {estimate} ({limits}, {interval_name}) over {k}; {p_shown}{reversal}. {odds}");
            text.trim_end().to_owned()
        }
        VerdictCode::NoEvidence => {
            let alike = shown_equivalent(inference).map(|margin| format!(" Shown equivalent within ±{margin}."));
            let text =
                format!("No lift that matters: any average effect is between {between}, inside ±{min_lift}{reversal}.");
            text + alike.as_deref().unwrap_or_default()
        }
        VerdictCode::TooFewCases if verdict.reasons.contains(&TooFewReason::Structural) => format!(
            "Too few cases to tell: with {k} no result could reach p ≤ {alpha_value}; at least {minimum_cases} are \
             needed.{seen}"
        ),
        VerdictCode::TooFewCases if verdict.reasons.contains(&TooFewReason::FewCasesMoved) => {
            format!("Too few cases to tell: only {} of {k} changed.{seen}", contrast.test.moved)
        }
        VerdictCode::TooFewCases => format!("Too few cases to tell: the lift could be anything from {limits}.{seen}"),
    }
}

/// The margin within which the arms are shown to be alike, if the user named one and they are.
pub fn shown_equivalent(inference: &Inference) -> Option<String> {
    let equivalence = inference.companions.as_ref()?.equivalence.as_ref().ok()?;
    equivalence.equivalent.then(|| numbers::size_in_points(equivalence.margin))
}

/// The units that lost most, as a sentence.
fn worst_units(contrast: &Contrast) -> String {
    let worst = inference::worst_units(&contrast.units, WORST_NAMED);
    let names: Vec<&str> = worst.into_iter().map(|unit| unit.name.as_str()).collect();
    format!(" Worst {}: {}.", unit_name(contrast), names.join(", "))
}

/// What a margin that the user named says; `None` without one.
pub fn margin_text(inference: &Inference) -> Option<String> {
    let margin = numbers::size_in_points(rational::to_f64(inference.equivalence_margin.as_ref()?));
    let equivalence = match &inference.companions.as_ref()?.equivalence {
        Ok(equivalence) => equivalence,
        Err(_) => return Some(format!("Too few cases to say whether the arms differ by less than {margin}.")),
    };
    let limits = numbers::interval(equivalence.lower, equivalence.upper);
    let confidence = rational::from_f64(1.0 - 2.0 * alpha(inference)).map(|rate| numbers::percent(&rate));
    let limits = format!("{} interval {limits}", confidence.unwrap_or_default());
    Some(if equivalence.equivalent {
        format!("The arms are shown to be alike: any average difference lies within ±{margin} ({limits}).")
    } else if equivalence.non_inferior {
        format!("Results with the skill are shown to be not worse by {margin} or more, but not to be alike ({limits}).")
    } else {
        format!("It is not shown that the arms differ by less than {margin} ({limits}).")
    })
}

/// What to do next, for `verdict.next_step`.
pub fn next_step(inference: &Inference, minimum_cases: usize) -> String {
    let contrast = &inference.overall;
    let verdict = &contrast.verdict;
    let test = &contrast.test;
    let bound = || {
        contrast.regressed_share_upper.as_ref().map_or_else(
            |_| String::new(),
            |share| {
                let percent = skill_lift_stats::rational::from_f64(*share).map(|share| numbers::percent(&share));
                let what = unit_name(contrast);
                format!(" Up to {} of such {what} could still get worse.", percent.unwrap_or_default())
            },
        )
    };
    let moved = || {
        let unchanged = test.n - test.moved;
        let better = units(contrast, test.improved);
        format!("{better} better, {} worse, {unchanged} the same.", test.regressed)
    };
    let needed = contrast.cases_needed.map(numbers::count);
    match verdict.code {
        VerdictCode::NothingPaired => "Run both arms of the same cases, models and repetitions.".to_owned(),
        VerdictCode::Helps | VerdictCode::Harms => {
            let more = match needed {
                Some(needed) if verdict.size_uncertain => format!(" About {needed} cases would fix the average."),
                _ => String::new(),
            };
            let worst = if verdict.code == VerdictCode::Harms { worst_units(contrast) } else { bound() };
            format!("{}{worst}{more}", moved())
        }
        VerdictCode::NoEvidence => moved(),
        VerdictCode::TooFewCases if verdict.reasons.contains(&TooFewReason::Structural) => {
            format!("Add at least {}.", units(contrast, minimum_cases.saturating_sub(test.n)))
        }
        VerdictCode::TooFewCases if verdict.reasons.contains(&TooFewReason::FewCasesMoved) => format!(
            "At least {minimum_cases} must change in the same direction; add cases that fail without the skill."
        ),
        VerdictCode::TooFewCases => match needed {
            Some(needed) => {
                let lift = numbers::size_in_points(min_lift(inference));
                let noise = inference.companions.as_ref().and_then(|beside| beside.variance.as_ref().ok());
                let noise_dominates = noise.is_some_and(VarianceSplit::noise_dominates);
                let repetitions = if noise_dominates {
                    " More repetitions of these would help as well: most of the spread is noise between runs."
                } else {
                    ""
                };
                format!(
                    "{} About {needed} {} would settle a lift of {lift}.{repetitions}",
                    moved(),
                    unit_name(contrast)
                )
            }
            None => "More cases are needed.".to_owned(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odds_are_of_round_numbers() {
        assert_eq!(odds(0.5), Some((50, 100)));
        assert_eq!(odds(0.0995), Some((10, 100)));
        assert_eq!(odds(0.00293), Some((29, 10_000)));
        assert_eq!(odds(0.0312), Some((31, 1_000)));
        assert_eq!(odds(0.00005), None);
        assert_eq!(odds(1.0), None);
    }
}
