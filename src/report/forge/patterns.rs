//! What means hide, in sentences that name evals and assertions.

use skill_lift_contract::UnscoredReason;
use skill_lift_stats::rational;

use super::ForgeView;
use super::overall::amount;
use crate::analyze::forge::{
    Arm, ArmVerdict, EvalId, EvalResult, FailureCluster, ForgeRun, Outlier, Quantity, TriggerShare,
};
use crate::grade::stored::RunFlag;
use crate::report::skill_eval::format::{code, listed, plain};
use crate::report::{numbers, words};

/// Entries of a kind that are named.
pub(super) const NAMED: usize = 20;

/// The lines of the section; empty when nothing stands out.
pub(super) fn lines(view: &ForgeView<'_>) -> Vec<String> {
    let mut lines = Vec::new();
    clusters(view, &mut lines);
    undecided(view, &mut lines);
    flaky(view, &mut lines);
    let outliers: Vec<String> = view.patterns.outliers.iter().map(outlier).collect();
    kind(&mut lines, "More than twice the mean of its arm", outliers);
    trigger(view, &mut lines);
    runs(view, &mut lines);
    other_rates(view, &mut lines);
    trials(view, &mut lines);
    lines
}

fn kind(lines: &mut Vec<String>, text: &str, entries: Vec<String>) {
    if !entries.is_empty() {
        lines.push(format!("- {text}: {}", listed(&entries, NAMED)));
    }
}

/// Ids of evals as a list.
pub(super) fn ids(ids: &[EvalId]) -> String {
    let names: Vec<String> = ids.iter().map(|id| plain(&id.to_string())).collect();
    if names.len() > NAMED { listed(&names, NAMED) } else { names.join(", ") }
}

fn clusters(view: &ForgeView<'_>, lines: &mut Vec<String>) {
    let of = |failed: usize, decided: usize| match decided {
        0 => "never decided".to_owned(),
        _ => format!("{} of {}", numbers::count(failed), numbers::counted(decided, "run", "runs")),
    };
    let entry = |cluster: &FailureCluster| {
        format!(
            "- {} fails with the skill in {} ({}); without it: {}",
            code(&cluster.assertion),
            of(cluster.with_skill_failed, cluster.with_skill_decided),
            ids(&cluster.with_skill_evals),
            of(cluster.baseline_failed, cluster.baseline_decided)
        )
    };
    let failing: Vec<&FailureCluster> =
        view.patterns.clusters.iter().filter(|cluster| cluster.with_skill_failed > 0).collect();
    lines.extend(failing.iter().take(NAMED).map(|cluster| entry(cluster)));
    if failing.len() > NAMED {
        lines.push(format!("- and {} more assertions fail with the skill", failing.len() - NAMED));
    }
    let repaired = view.patterns.clusters.iter().filter(|cluster| {
        cluster.with_skill_failed == 0 && cluster.with_skill_decided > 0 && cluster.baseline_failed > 0
    });
    let repaired: Vec<String> =
        repaired.map(|cluster| format!("{} ({})", code(&cluster.assertion), ids(&cluster.baseline_evals))).collect();
    kind(lines, "Fail only without the skill", repaired);
}

fn undecided(view: &ForgeView<'_>, lines: &mut Vec<String>) {
    let entry = |run: &ForgeRun| {
        let names: Vec<String> = run.undecided.iter().map(|name| code(name)).collect();
        format!("{} ({})", plain(&run.directory), listed(&names, NAMED))
    };
    let runs = view.iteration.runs.iter().filter(|run| run.is_scored() && !run.undecided.is_empty());
    kind(lines, "Assertions without a verdict, left out of the pass rate", runs.map(entry).collect());
}

fn flaky(view: &ForgeView<'_>, lines: &mut Vec<String>) {
    let entries = view.patterns.flaky.iter().map(|flaky| {
        let trials = numbers::counted(flaky.trials, "trial", "trials");
        format!("{} {} (std {:.2} over {trials})", plain(&flaky.eval.to_string()), flaky.arm.word(), flaky.deviation)
    });
    kind(lines, "Flaky, trials of the same eval disagree", entries.collect());
}

fn outlier(outlier: &Outlier) -> String {
    let what = match outlier.quantity {
        Quantity::Tokens => "tokens ",
        Quantity::DurationMs => "",
    };
    let ends = match outlier.verdict {
        ArmVerdict::Pass => "it passes",
        ArmVerdict::Fail => "it fails",
        ArmVerdict::Undecided | ArmVerdict::Nothing => "it is not decided",
    };
    format!(
        "{} {} ({what}{} against a mean of {}; {ends})",
        plain(&outlier.eval.to_string()),
        outlier.arm.word(),
        amount(outlier.quantity, outlier.value),
        amount(outlier.quantity, outlier.mean)
    )
}

fn trigger(view: &ForgeView<'_>, lines: &mut Vec<String>) {
    match &view.patterns.trigger_accuracy {
        Ok(accuracy) => {
            let share = |share: &TriggerShare| match share.rate() {
                None => "not recorded".to_owned(),
                Some(rate) => {
                    let limits = share.interval.as_ref().map_or_else(
                        |_| String::new(),
                        |limits| {
                            let end = |value: f64| rational::from_f64(value).map(|value| numbers::percent(&value));
                            let name = words::interval_name(&view.lift.inference);
                            let (lower, upper) = (end(limits.lower), end(limits.upper));
                            format!(", {name} {} to {}", lower.unwrap_or_default(), upper.unwrap_or_default())
                        },
                    );
                    format!("{} ({} of {}{limits})", numbers::percent(&rate), share.activated, share.runs)
                }
            };
            let wrong = match accuracy.wrong.as_slice() {
                [] => String::new(),
                wrong => format!("; wrong in {}", ids(wrong)),
            };
            lines.push(format!(
                "- Trigger accuracy: activated where it should be {}; activated where it should not be {}{wrong}",
                share(&accuracy.positives),
                share(&accuracy.negatives)
            ));
        }
        Err(reason) => lines.push(format!("- Trigger accuracy: not captured ({})", reason.replace('_', " "))),
    }
}

fn runs(view: &ForgeView<'_>, lines: &mut Vec<String>) {
    let unscored = view.iteration.runs.iter().filter(|run| !run.is_scored());
    let entry = |run: &ForgeRun| {
        let reasons: Vec<String> = run.reasons.iter().map(|reason| reason_words(*reason)).collect();
        format!("{} ({})", plain(&run.directory), reasons.join(", "))
    };
    kind(lines, "Runs that do not count", unscored.map(entry).collect());
    let waived = view.iteration.runs.iter().filter(|run| !run.waived.is_empty() && run.is_scored());
    let waived = waived.map(|run| {
        let reasons: Vec<String> = run.waived.iter().map(|reason| reason_words(*reason)).collect();
        format!("{} ({})", plain(&run.directory), reasons.join(", "))
    });
    kind(lines, "Runs that count on request although they did not finish", waived.collect());
    let missing = |arm: Arm| {
        let evals = view.iteration.evals.iter().filter(|eval| eval.arm(arm).runs.is_empty());
        evals.map(|eval| eval.description.id.clone()).collect::<Vec<_>>()
    };
    for arm in Arm::ALL {
        let evals = missing(arm);
        if evals.len() == view.iteration.evals.len() && arm == Arm::Baseline {
            lines.push("- No eval has a baseline run: there is nothing to compare with".to_owned());
        } else if !evals.is_empty() {
            lines.push(format!("- Without a {} run: {}", arm.word(), ids(&evals)));
        }
    }
    let flagged = |flag: RunFlag| -> Vec<String> {
        let runs = view.iteration.runs.iter().filter(|run| run.flags.contains(&flag));
        runs.map(|run| plain(&run.directory)).collect()
    };
    for (flag, text) in [
        (RunFlag::PassRateMismatch, "The recorded pass rate contradicts the verdicts, which count"),
        (RunFlag::RecordedRateInvalid, "The recorded pass rate is missing or no rate"),
        (RunFlag::UnknownAssertions, "Verdicts on assertions that the eval does not have"),
        (RunFlag::MissingTiming, "No timing"),
        (RunFlag::UnreadableTiming, "Timing that cannot be read"),
        (RunFlag::DurationsDiffer, "Two recorded durations differ"),
    ] {
        kind(lines, text, flagged(flag));
    }
}

/// A reason why a run does not count, in words.
pub(super) fn reason_words(reason: UnscoredReason) -> String {
    match reason {
        UnscoredReason::MissingGrading => "no grading".to_owned(),
        UnscoredReason::UnreadableGrading => "grading cannot be read".to_owned(),
        UnscoredReason::MisfiledGrading => "grading of another eval or arm".to_owned(),
        UnscoredReason::NoVerdicts => "no assertion has a verdict".to_owned(),
        other => words::unscored_reason(other.code()),
    }
}

/// Strict and weighted rates, where they say something else.
fn other_rates(view: &ForgeView<'_>, lines: &mut Vec<String>) {
    for arm in Arm::ALL {
        let Some(rate) = view.iteration.macro_rate(arm) else { continue };
        let plain_rate = numbers::percent(&rate);
        let strict = view.iteration.macro_strict_rate(arm).map(|rate| numbers::percent(&rate));
        let weighted = view.iteration.macro_weighted_rate(arm).and_then(rational::from_f64);
        let mut others = Vec::new();
        if let Some(strict) = strict.filter(|strict| *strict != plain_rate) {
            others.push(format!("{strict} with undecided assertions counted as failed"));
        }
        if let Some(weighted) = weighted.map(|rate| numbers::percent(&rate)).filter(|rate| *rate != plain_rate) {
            others.push(format!("{weighted} with the weights of the assertions"));
        }
        if !others.is_empty() {
            let joined = others.join(", ");
            lines.push(format!("- Pass rate {} over all its evals is {plain_rate}; {joined}", arm.word()));
        }
    }
}

fn trials(view: &ForgeView<'_>, lines: &mut Vec<String>) {
    let evals = &view.iteration.evals;
    if let Some(requested) = view.trials_requested {
        let cells = evals.iter().flat_map(|eval| Arm::ALL.map(|arm| (eval, arm)));
        let short = cells.filter(|(eval, arm)| eval.arm(*arm).never_run(Some(requested)) > 0);
        let entry = |(eval, arm): (&EvalResult, Arm)| {
            let found = numbers::count(eval.arm(arm).runs.len());
            format!("{} {} ({found} of {requested})", plain(&eval.description.id.to_string()), arm.word())
        };
        kind(lines, "Fewer runs than the configuration asks for", short.map(entry).collect());
    }
    let unreliable: Vec<EvalId> = evals
        .iter()
        .filter(|eval| eval.with_skill.is_unreliable() || eval.baseline.is_unreliable())
        .map(|eval| eval.description.id.clone())
        .collect();
    if unreliable.is_empty() {
        return;
    }
    let text = "Fewer than 2 completed trials in an arm, so how much its runs vary is unknown";
    if unreliable.len() == evals.len() && evals.len() > 1 {
        lines.push(format!("- {text}: every eval"));
    } else {
        lines.push(format!("- {text}: {}", ids(&unreliable)));
    }
}
