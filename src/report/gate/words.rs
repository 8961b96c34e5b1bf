//! The words of a gate: for people who never heard of a p-value.

use num_traits::Signed;
use skill_lift_stats::rational::{self, Rational};
use skill_lift_text::screen::visible;

use crate::analyze::gate::{
    Condition, FALSE_ALARMS_ALLOWED, Gate, GateAnswer, GateNote, GateReason, QualityFinding, QualityProblem,
};
use crate::analyze::inference::Unit;
use crate::report::numbers;
use crate::report::words::{interval_name_of, odds};
use crate::runs::claims::{CostBasis, ExtraCost};

/// Cases that are named.
const NAMED: usize = 3;
/// The longest name in a sentence.
const LONGEST_NAME: usize = 60;

/// What was asked, as a question.
pub(super) fn asked(condition: &Condition) -> String {
    match condition {
        Condition::Superior { .. } => "does the skill make results better?".to_owned(),
        Condition::NonInferior(margin) => {
            format!("is it sure that results are not worse by {} or more?", numbers::chosen_size(margin))
        }
        Condition::Equivalent(margin) => {
            format!("is it sure that results differ by less than {}?", numbers::chosen_size(margin))
        }
    }
}

/// The answer in one sentence, with its figures.
pub(super) fn sentence(gate: &Gate) -> String {
    let figures = figures(gate);
    let size = || gate.condition.margin().map(numbers::chosen_size).unwrap_or_default();
    match (gate.answer, gate.reasons.first()) {
        (GateAnswer::Holds, _) => match &gate.condition {
            Condition::Superior { .. } => format!("Passed: the skill makes results better, {figures}."),
            Condition::NonInferior(_) => {
                format!("Passed: with the skill, results are not worse by {} or more, {figures}.", size())
            }
            Condition::Equivalent(_) => {
                format!("Passed: with and without the skill, results differ by less than {}, {figures}.", size())
            }
        },
        (GateAnswer::EmptyAllowed, _) => {
            "Passed: nothing was graded, and --allow-empty says that this is no failure.".to_owned()
        }
        (_, Some(reason)) => format!("Failed: {}.", reason_text(gate, *reason, &figures)),
        (_, None) => "Failed.".to_owned(),
    }
}

/// `+28.2 pp on average over 13 cases (95% interval +5.2 to +43.6 pp; p = 0.003)`.
fn figures(gate: &Gate) -> String {
    let Some(estimate) = &gate.decision.test.estimate else { return "without any figure".to_owned() };
    let test = &gate.decision.test;
    let alpha = rational::to_f64(&gate.alpha);
    let within = gate.decision.margin.as_ref().and_then(|margin| margin.as_ref().ok());
    // an answer about a margin rests on the interval that is compared with it
    let is_by_margin = !matches!(gate.condition, Condition::Superior { .. })
        || gate.reasons.first() == Some(&GateReason::NoDifference);
    let interval = match (within, &gate.lifts.interval) {
        (Some(within), _) if is_by_margin => Some((within.lower, within.upper, 2.0 * alpha)),
        (_, Ok(interval)) => Some((interval.lower, interval.upper, alpha)),
        (_, Err(_)) => None,
    };
    let p = if test.p_is_bound {
        format!("p below {}", numbers::p_number(test.p_two_sided, alpha))
    } else {
        numbers::p_text(test.p_two_sided, alpha)
    };
    let beside = match interval {
        Some((lower, upper, error)) => format!("{} {}; {p}", interval_name_of(error), numbers::interval(lower, upper)),
        None => p,
    };
    format!("{} on average over {} ({beside})", numbers::points(estimate), units(gate, test.n))
}

fn units(gate: &Gate, number: usize) -> String {
    match gate.lifts.unit {
        Unit::Case => numbers::counted(number, "case", "cases"),
        Unit::Family => numbers::counted(number, "family", "families"),
    }
}

fn many(gate: &Gate) -> &'static str {
    match gate.lifts.unit {
        Unit::Case => "cases",
        Unit::Family => "families",
    }
}

/// What keeps a report from being whole, with the first case that shows it.
fn finding(finding: &QualityFinding) -> String {
    let QualityFinding { problem, count, first_case } = finding;
    let (one, many) = match problem {
        QualityProblem::ArmMissing => ("case without a run in one arm", "cases without a run in one arm"),
        QualityProblem::RunNotScored => ("run not scored", "runs not scored"),
        QualityProblem::CheckUndecided => ("check without a verdict", "checks without a verdict"),
        QualityProblem::TimeMissing => ("run without its time", "runs without their time"),
        QualityProblem::TokensMissing => ("run without its tokens", "runs without their tokens"),
    };
    format!("{}, first {}", numbers::counted(*count, one, many), cut(&visible(first_case, false)))
}

/// Why a gate does not pass, as the rest of a sentence.
fn reason_text(gate: &Gate, reason: GateReason, figures: &str) -> String {
    let size = || gate.condition.margin().map(numbers::chosen_size).unwrap_or_default();
    let test = &gate.decision.test;
    match reason {
        GateReason::NothingGraded => "nothing was graded, so that there is nothing to decide on".to_owned(),
        GateReason::NothingPaired => {
            "there is nothing to compare, as no case was graded both with and without the skill".to_owned()
        }
        GateReason::EvidenceIncomplete => {
            let missing: Vec<String> = gate.missing_evidence.iter().map(|code| missing(code)).collect();
            let missing =
                if missing.is_empty() { "the report does not say what".to_owned() } else { missing.join(", ") };
            format!("evidence is missing ({missing})")
        }
        GateReason::QualityUnmet => {
            let findings = gate.quality.iter().flat_map(|quality| &quality.findings);
            format!("the report is not whole ({})", findings.map(finding).collect::<Vec<_>>().join("; "))
        }
        GateReason::AvailabilityUnstated => "the report does not say whether its evidence is complete".to_owned(),
        GateReason::Structural => format!(
            "{} {} too few to decide on: whatever came out, it could be chance; at least {} are needed",
            units(gate, test.n),
            if test.n == 1 { "is" } else { "are" },
            numbers::count(gate.minimum_units)
        ),
        GateReason::DesignUnfit => format!(
            "the gate is not to be trusted on these {}: among runs of one arm, where nothing differs, it claims a \
             difference in more than {FALSE_ALARMS_ALLOWED}% of tries",
            many(gate)
        ),
        GateReason::Worse => format!("the skill makes results worse, {figures}"),
        GateReason::CostAboveLimit => {
            let cost = gate.extra_cost.as_ref().and_then(ExtraCost::complete);
            let (cost, limit) =
                cost.zip(gate.max_cost.as_ref()).map(|(cost, limit)| both(cost, limit)).unwrap_or_default();
            format!("a run with the skill costs {cost} more than one without it, above the limit of {limit}")
        }
        GateReason::CostNotMeasured => {
            "nobody knows what a run with the skill costs more, as no cost was recorded in both arms".to_owned()
        }
        GateReason::CostPartlyMeasured => {
            let (measured, of) = gate.extra_cost.as_ref().map(|cost| (cost.measured, cost.of)).unwrap_or_default();
            format!(
                "nobody knows what a run with the skill costs more, as only {} of {} say what they cost",
                numbers::grouped(&measured.to_string()),
                compared(gate, of)
            )
        }
        GateReason::CostNotInDollars => "the costs are not in dollars, and the limit is".to_owned(),
        GateReason::NoDifference => format!("the skill makes no difference of {} or more, {figures}", size()),
        GateReason::FewCasesMoved => format!(
            "it is not shown that the skill makes results better, as only {} of {} changed: {figures}",
            numbers::count(test.moved),
            units(gate, test.n)
        ),
        GateReason::ChanceExplainsIt => {
            format!("it is not shown that the skill makes results better, as this could be chance: {figures}")
        }
        GateReason::BeyondMargin => {
            let margin = gate.condition.margin().map(rational::to_f64).unwrap_or_default();
            let within = gate.decision.margin.as_ref().and_then(|margin| margin.as_ref().ok());
            let could_be_worse = within.is_none_or(|within| !within.non_inferior);
            let could_be_better = matches!(gate.condition, Condition::Equivalent(_))
                && within.is_none_or(|within| within.upper >= margin);
            let how = match (could_be_better, could_be_worse) {
                (true, true) => "better or worse",
                (true, false) => "better",
                (false, _) => "worse",
            };
            format!("with the skill, results could be {how} by {} or more: {figures}", size())
        }
    }
}

/// What a report lacks, with its code.
fn missing(code: &str) -> String {
    let text = match code {
        "nothing_graded" => "no run is graded",
        "answer_design_incomplete" => "planned runs are not there",
        "incomplete_pairing" => "some pairs of runs do not count",
        "grading_evidence_incomplete" => "some checks had no evidence",
        "deferred_judgements" => "some judgements were not supplied",
        other => return cut(&visible(other, false)),
    };
    format!("{text}: {code}")
}

/// Why, in sentences: how likely chance is, how many cases changed, and what else is in the way.
pub(super) fn why(gate: &Gate) -> Vec<String> {
    let mut said = Vec::new();
    let test = &gate.decision.test;
    if test.n > 0 {
        if is_about_cost_or_evidence(gate) || gate.answer == GateAnswer::Unfit {
            said.push(format!("Seen: {}.", figures(gate)));
        }
        said.extend(chance(test.p_two_sided).filter(|_| test.n >= gate.minimum_units));
        let counts = format!(
            "{} better, {} worse, {} the same.",
            units(gate, test.improved),
            numbers::count(test.regressed),
            numbers::count(test.unchanged())
        );
        let bound = gate.lifts.regressed_share_upper.as_ref().ok().and_then(|bound| rational::from_f64(*bound));
        let bound = bound
            .map(|bound| format!(" Up to {} of such {} could still get worse.", numbers::percent(&bound), many(gate)));
        said.push(format!("{counts}{}", bound.unwrap_or_default()));
    }
    let unpaired = gate.lifts.unpaired_cases;
    if unpaired > 0 {
        let (verb, whose) = if unpaired == 1 { ("does", "it") } else { ("do", "them") };
        let number = numbers::counted(unpaired, "case", "cases");
        said.push(format!("{number} {verb} not count, as no pair of runs of {whose} does."));
    }
    for reason in gate.reasons.iter().skip(1) {
        let text = reason_text(gate, *reason, &figures(gate));
        said.push(format!("Also: {text}."));
    }
    said.extend(gate.notes.iter().filter_map(|note| note_text(gate, *note)));
    said
}

/// How often chance alone does this; nothing when it always does.
fn chance(p: f64) -> Option<String> {
    let often = match odds(p) {
        Some((n, of)) => format!("about {} in {}", numbers::count(n as usize), numbers::count(of as usize)),
        None if p >= 1.0 => return None,
        None => "fewer than 1 in 10,000".to_owned(),
    };
    Some(format!("If the skill changed nothing, a difference this large would come up in {often} such evals."))
}

fn is_about_cost_or_evidence(gate: &Gate) -> bool {
    matches!(gate.answer, GateAnswer::Cost | GateAnswer::Blocked)
}

fn note_text(gate: &Gate, note: GateNote) -> Option<String> {
    let text = match note {
        // the answer and the self-test say these themselves
        GateNote::EmptyAllowed | GateNote::SelfTestWithheld => return None,
        GateNote::SizeUncertain => format!(
            "That results change is sure, how much is not: these {} do not fix the average, which could be 0.",
            many(gate)
        ),
        GateNote::SmallLoss => "Results are worse for sure, though by less than the margin.".to_owned(),
        GateNote::PIsBound => "The p-value is an upper bound of the exact one.".to_owned(),
        GateNote::RatesRounded => "Rates were rounded to 16 digits, as their fractions are beyond reason.".to_owned(),
    };
    Some(text)
}

/// What to do now; empty if nothing is.
pub(super) fn next_step(gate: &Gate) -> String {
    let target = gate.condition.margin().map(|margin| format!(" --target-lift {}", rational::to_f64(margin)));
    let plan = format!("`skill-lift plan{}` on this report says how many it takes", target.unwrap_or_default());
    let Some(reason) = gate.reasons.first() else { return String::new() };
    match reason {
        GateReason::NothingGraded => "Run the cases and grade them, or allow this with --allow-empty.".to_owned(),
        GateReason::NothingPaired => {
            "Run every case with the skill and without it; the report lists the pairs that do not count.".to_owned()
        }
        GateReason::EvidenceIncomplete => {
            "Supply what is missing and run `skill-lift benchmark` again, or leave --evidence strict out.".to_owned()
        }
        GateReason::AvailabilityUnstated => {
            "Make the report with `skill-lift benchmark`, which says it, or leave --evidence strict out.".to_owned()
        }
        GateReason::QualityUnmet => "Run, grade and measure what is missing, or leave --quality out.".to_owned(),
        GateReason::Structural => {
            let more = gate.minimum_units.saturating_sub(gate.decision.test.n);
            format!("Add at least {}; repetitions of the same cases do not help.", units(gate, more))
        }
        GateReason::DesignUnfit => {
            "Choose a smaller --alpha; with 0.05 or less the exact test keeps its promise.".to_owned()
        }
        GateReason::Worse => worst(gate),
        GateReason::CostAboveLimit => {
            "Shorten what the skill loads or makes the agent do, or raise the limit.".to_owned()
        }
        GateReason::CostNotMeasured | GateReason::CostPartlyMeasured => {
            "Let the runner record the cost of every run, or leave --max-cost-usd out.".to_owned()
        }
        GateReason::CostNotInDollars => "Leave --max-cost-usd out, or record costs in dollars.".to_owned(),
        GateReason::NoDifference => {
            "Add cases that fail without the skill, improve the skill, or ask for --non-inferior.".to_owned()
        }
        GateReason::FewCasesMoved => {
            format!(
                "Add cases that fail without the skill: at least {} must change.",
                numbers::count(gate.minimum_units)
            )
        }
        GateReason::ChanceExplainsIt => format!("Add cases; {plan}."),
        GateReason::BeyondMargin if is_seen_beyond(gate) => {
            "The average that was seen lies beyond the margin itself: more cases will hardly change that.".to_owned()
        }
        GateReason::BeyondMargin => format!("Add cases, or repetitions if runs are noisy; {plan}."),
    }
}

/// Whether the estimate is where the condition wants no doubt that it is not.
fn is_seen_beyond(gate: &Gate) -> bool {
    let seen = gate.decision.test.estimate.as_ref().zip(gate.condition.margin());
    seen.is_some_and(|(estimate, margin)| match gate.condition {
        Condition::Equivalent(_) => estimate.abs() >= *margin,
        _ => -estimate >= *margin,
    })
}

fn worst(gate: &Gate) -> String {
    let shown = |unit: &&crate::analyze::inference::UnitRates| {
        format!("{} ({})", cut(&visible(&unit.name, false)), numbers::whole_points(&unit.delta()))
    };
    let names: Vec<String> = gate.lifts.worst(NAMED).iter().map(shown).collect();
    format!("Look first at the {} that lost most: {}.", many(gate), names.join(", "))
}

/// The figures under their usual names.
pub(super) fn other_intervals(gate: &Gate) -> Option<String> {
    let test = &gate.decision.test;
    if test.n < 2 {
        return None;
    }
    let name = interval_name_of(rational::to_f64(&gate.alpha));
    let limits =
        |found: Option<(f64, f64)>| found.map_or("none".to_owned(), |(lower, upper)| numbers::interval(lower, upper));
    let t = gate.lifts.interval_t.as_ref().ok().map(|t| (t.lower, t.upper));
    let inverted = gate.lifts.interval_sign_flip.as_ref().ok().map(|found| (found.lower_f64(), found.upper_f64()));
    let padded = gate.lifts.interval.as_ref().ok().map(|padded| (padded.lower, padded.upper));
    Some(format!(
        "{name}s: padded t {}, Student's t {}, sign-flip test {}. p is of the exact two-sided sign-flip test.",
        limits(padded),
        limits(t),
        limits(inverted)
    ))
}

/// What a run with the skill costs more, where a limit was given.
pub(super) fn cost(gate: &Gate) -> Option<String> {
    let limit = gate.max_cost.as_ref()?;
    let cost = gate.extra_cost.as_ref()?;
    let mean = cost.mean.as_ref().filter(|_| cost.other_currency.is_none())?;
    let (shown, limit) = both(&mean.abs(), limit);
    let how = if mean.is_negative() { "less" } else { "more" };
    Some(format!(
        "A run with the skill costs {shown} {how} than one without it on average ({} of {} measured); the limit is {limit} more.",
        numbers::grouped(&cost.measured.to_string()),
        compared(gate, cost.of)
    ))
}

fn compared(gate: &Gate, number: u64) -> String {
    let noun = match gate.extra_cost.as_ref().map(|cost| cost.basis) {
        Some(CostBasis::Runs) => "runs",
        _ => "pairs of runs",
    };
    format!("{} {noun}", numbers::grouped(&number.to_string()))
}

/// Two amounts of dollars with as many decimals as tell them apart.
fn both(a: &Rational, b: &Rational) -> (String, String) {
    let shown = |decimals| (usd(a, decimals), usd(b, decimals));
    let (first, second) = shown(6);
    if first == second && a != b { shown(12) } else { (first, second) }
}

fn usd(amount: &Rational, decimals: u32) -> String {
    let text = format!("{:.*}", decimals as usize, rational::round_half_even(amount, decimals));
    format!("${}", text.trim_end_matches('0').trim_end_matches('.'))
}

/// A name as it fits into a sentence.
pub(super) fn cut(name: &str) -> String {
    match name.char_indices().nth(LONGEST_NAME) {
        Some((end, _)) => format!("{}…", &name[..end]),
        None => name.to_owned(),
    }
}
