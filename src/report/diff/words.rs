//! Words for what changed.

use skill_lift_stats::rational::{self, Rational};
use skill_lift_stats::verdict::{TooFewReason, VerdictCode};
use skill_lift_stats::{Direction, Thresholds, minimum_cases};

use crate::analyze::diff::{
    Basis, Diff, GateOutcome, GateRule, Mismatch, MismatchCode, NotTested, Regression, RegressionWhy, Shift, Tested,
};
use crate::analyze::table::WITH_SKILL;
use crate::report::numbers;
use crate::report::words::{Headline, Tone, interval_name_of, unscored_reason};
use crate::runs::claims::{CellChange, ChangeKind, CheckCounts, NotScored};

/// Regressions that a message names.
const NAMED: usize = 5;

/// Checks that a message names of one case.
const NAMED_CHECKS: usize = 2;

/// Characters of a check that a message quotes.
const QUOTED: usize = 80;

/// The answer of a comparison.
pub(super) fn headline(diff: &Diff<'_>) -> Headline {
    let say = |text: &str, note: String, tone| Headline { text: text.to_owned(), note, tone };
    let Some(shift) = diff.with_skill().filter(|shift| !shift.cases.is_empty()) else {
        let of_kind = |kinds: &[ChangeKind]| {
            diff.comparison.cells.iter().any(|cell| cell.variant == WITH_SKILL && kinds.contains(&cell.kind))
        };
        let note = if of_kind(&[ChangeKind::OtherChecks, ChangeKind::OtherPrompt]) {
            "No case has the same checks and a score both times."
        } else if of_kind(&[ChangeKind::BecameScored, ChangeKind::BecameUnscored, ChangeKind::StillUnscored]) {
            "No case has a score both times."
        } else {
            "No case ran with the skill both times."
        };
        return say("Nothing with the skill can be compared.", note.to_owned(), Tone::Neutral);
    };
    let unchanged = diff.compared().all(is_unchanged);
    let whole =
        diff.comparison.cells.iter().all(|cell| matches!(cell.kind, ChangeKind::Same | ChangeKind::StillUnscored));
    let flags = diff.comparison.new_flags.is_empty() && diff.comparison.resolved_flags.is_empty();
    match &shift.tested {
        Err(_) => {
            let note = "The figures stand side by side; what changed them is not known, and nothing is tested. --assume-comparable tests them all the same.";
            say("Not like-for-like.", note.to_owned(), Tone::Neutral)
        }
        Ok(_) if unchanged && whole && flags => say("No differences.", String::new(), Tone::Neutral),
        Ok(tested) => tested_headline(tested, &diff.thresholds),
    }
}

/// What a test of the rate with the skill says.
pub(in crate::report) fn tested_headline(tested: &Tested, thresholds: &Thresholds) -> Headline {
    let say = |text: &str, note: String, tone| Headline { text: text.to_owned(), note, tone };
    let cases = |count: usize| numbers::counted(count, "case", "cases");
    let matters = numbers::size_in_points(rational::to_f64(thresholds.min_lift()));
    let (verdict, test) = (&tested.verdict, &tested.test);
    let qualified = |what: &str| {
        if verdict.size_uncertain {
            format!("But {} do not fix the size: the interval includes 0.", cases(test.n))
        } else if verdict.negligible {
            format!("The {what} is below the {matters} that matters.")
        } else {
            String::new()
        }
    };
    match verdict.code {
        VerdictCode::Helps => say("Better than before, with the skill.", qualified("gain"), Tone::Good),
        VerdictCode::Harms => say("Worse than before, with the skill.", qualified("loss"), Tone::Bad),
        VerdictCode::NoEvidence => {
            say("No change that matters.", format!("Any average change lies inside ±{matters}."), Tone::Neutral)
        }
        VerdictCode::TooFewCases | VerdictCode::NothingPaired => {
            let lead = match test.direction {
                Direction::Better => "Not proven. Results lean better than before.",
                Direction::Worse => "Not proven. Results lean worse than before.",
                Direction::Neither => "No change on average.",
            };
            let note = if verdict.reasons.contains(&TooFewReason::Structural) {
                let minimum = minimum_cases(thresholds.alpha()).unwrap_or(usize::MAX);
                format!("Fewer than {minimum} cases cannot prove a change, whatever they show.")
            } else if verdict.reasons.contains(&TooFewReason::FewCasesMoved) {
                format!("Only {} of {} changed.", test.moved, cases(test.n))
            } else {
                String::new()
            };
            say(lead, note, Tone::Neutral)
        }
    }
}

/// `With the skill 60% → 75% over 10 cases: +15.0 pp, 95% interval …, p = 0.11`.
pub(super) fn arm_sentence(variant: &str, shift: &Shift, thresholds: &Thresholds) -> Option<String> {
    let (before, after, change) = (shift.before.as_ref()?, shift.after.as_ref()?, shift.change()?);
    let rates = if before == after {
        format!("{} both times", numbers::percent(after))
    } else {
        format!("{} → {}", numbers::percent(before), numbers::percent(after))
    };
    let cases = numbers::counted(shift.cases.len(), "case", "cases");
    let sure = match &shift.tested {
        Ok(tested) if tested.test.moved == 0 => ", no case moved".to_owned(),
        Ok(tested) => format!(", {}", certainty(tested, thresholds)),
        Err(_) => String::new(),
    };
    Some(format!("{} {rates} over {cases}: change {}{sure}.", arm_phrase(variant), numbers::points(&change)))
}

fn certainty(tested: &Tested, thresholds: &Thresholds) -> String {
    let alpha = rational::to_f64(thresholds.alpha());
    // a line never ends between `p` and its value
    let p = numbers::p_text(tested.test.p_two_sided, alpha).replace(' ', "\u{a0}");
    match &tested.interval {
        Ok(interval) => {
            format!("{} {}, {p}", interval_name_of(alpha), numbers::interval(interval.lower, interval.upper))
        }
        Err(_) => format!("no interval from {}, {p}", numbers::counted(tested.test.n, "case", "cases")),
    }
}

/// `Lift +14.8 pp then, +21.5 pp now. On the 23 cases in both, the change is +6.7 pp (p = 0.11): it may be chance.`
pub(super) fn lift_sentences(diff: &Diff<'_>) -> Vec<String> {
    let lift = &diff.lift;
    let shown = |lift: Option<Rational>| lift.map_or_else(|| "not measured".to_owned(), |lift| numbers::points(&lift));
    if lift.before.lift().is_none() && lift.after.lift().is_none() {
        return Vec::new();
    }
    let mut text = format!("Lift {} then, {} now.", shown(lift.before.lift()), shown(lift.after.lift()));
    if let Some(change) = lift.common.change() {
        let cases = numbers::counted(lift.common.cases.len(), "case", "cases");
        text.push_str(&format!(" On the {cases} with both arms in both, the change is {}", numbers::points(&change)));
        text.push_str(&match &lift.common.tested {
            Ok(tested) => {
                let alpha = rational::to_f64(diff.thresholds.alpha());
                let p = numbers::p_text(tested.test.p_two_sided, alpha);
                let chance =
                    if tested.test.at_most(diff.thresholds.alpha()) { "hardly chance" } else { "it may be chance" };
                if tested.test.moved == 0 { ".".to_owned() } else { format!(" ({p}): {chance}.") }
            }
            Err(_) => ".".to_owned(),
        });
    }
    vec![text]
}

/// An arm at the beginning of a sentence.
pub(super) fn arm_phrase(variant: &str) -> String {
    match variant {
        "with_skill" => "With the skill".to_owned(),
        "without_skill" => "Without it".to_owned(),
        "old_skill" => "With the old skill".to_owned(),
        other => other.to_owned(),
    }
}

/// An arm in a column.
pub(super) fn arm_word(variant: &str) -> String {
    match variant {
        "with_skill" => "with".to_owned(),
        "without_skill" => "without".to_owned(),
        "old_skill" => "old".to_owned(),
        other => other.to_owned(),
    }
}

/// How it is known that the same was measured.
pub(super) fn basis(basis: Basis) -> &'static str {
    match basis {
        Basis::SameSuite => "Same suite.",
        Basis::SamePromptsAndChecks => "Same prompts and checks in every compared case.",
        Basis::SameChecks => "Same checks in every compared case; whether the prompts are the same is not known.",
        Basis::SameCheckNames => "Checks of the same names in every compared case; neither side says more about them.",
    }
}

/// Something that has to be equal and is not, in words.
pub(in crate::report) fn mismatch(mismatch: &Mismatch) -> String {
    let side = |value: &Option<String>, missing: &str| value.as_deref().map_or_else(|| missing.to_owned(), shortened);
    let both = |what: &str, missing: &str| {
        format!("{what}: {} then, {} now", side(&mismatch.before, missing), side(&mismatch.after, missing))
    };
    match mismatch.code {
        MismatchCode::Suite => both("another suite", "none"),
        MismatchCode::ChecksUnknown => "nothing says which checks the cases have".to_owned(),
        MismatchCode::RateRule => both("another rule of the rates", "none"),
        MismatchCode::Models => both("models", "not stated"),
        MismatchCode::Effort => both("effort", "not stated"),
        MismatchCode::Agent => both("agent", "not stated"),
        MismatchCode::GraderModel => both("model of the grader", "not stated"),
        MismatchCode::Population => both("population", "not stated"),
        MismatchCode::Control => both("the skill is compared with", "nothing"),
        MismatchCode::Option => both(&format!("--{}", mismatch.option.as_deref().unwrap_or_default()), "not set"),
    }
}

/// A digest as people compare it, another text at most so long as it fits a line.
fn shortened(text: &str) -> String {
    match text.strip_prefix("sha256:") {
        Some(digits) if digits.len() > 16 && digits.is_ascii() => format!("sha256:{}…", &digits[..16]),
        _ => quoted(text),
    }
}

/// The beginning of a text.
pub(super) fn quoted(text: &str) -> String {
    match text.char_indices().nth(QUOTED) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Whether nothing about a cell is worth a line.
pub(super) fn is_unchanged(cell: &CellChange) -> bool {
    cell.kind == ChangeKind::Same && cell.lost.is_empty() && cell.gained.is_empty() && cell.undecided.is_empty()
}

/// What happened to a cell, in a few words.
pub(super) fn what(cell: &CellChange) -> &'static str {
    match cell.kind {
        ChangeKind::Improved => "better",
        ChangeKind::Regressed => "worse",
        ChangeKind::Same if is_unchanged(cell) => "same",
        ChangeKind::Same => "same rate",
        ChangeKind::Appeared => "new",
        ChangeKind::Vanished => "gone",
        ChangeKind::BecameScored => "scored now",
        ChangeKind::BecameUnscored => "no score now",
        ChangeKind::StillUnscored => "no score",
        ChangeKind::OtherChecks => "other checks",
        ChangeKind::OtherPrompt => "other prompt",
    }
}

/// What else there is to say of a cell: labelled lists.
pub(super) fn details(cell: &CellChange) -> Vec<(&'static str, Vec<String>)> {
    let why = match cell.kind {
        ChangeKind::BecameScored => &cell.unscored_before,
        ChangeKind::BecameUnscored | ChangeKind::StillUnscored => &cell.unscored_after,
        _ => &Vec::new(),
    };
    let why: Vec<String> = why.iter().map(reason).collect();
    let CheckCounts { shared, removed, added } = cell.checks;
    let checks = if cell.kind == ChangeKind::OtherChecks && cell.checks.are_listed() {
        vec![format!("{shared} shared, {added} new, {removed} gone")]
    } else {
        Vec::new()
    };
    let named = |checks: &[String]| checks.iter().map(|check| quoted(check)).collect::<Vec<_>>();
    let why = if why.is_empty() { why } else { vec![why.join(", ")] };
    let lists = [
        ("why", why),
        ("checks", checks),
        ("lost", named(&cell.lost)),
        ("gained", named(&cell.gained)),
        ("undecided", named(&cell.undecided)),
    ];
    lists.into_iter().filter(|(_, list)| !list.is_empty()).collect()
}

fn reason(reason: &NotScored) -> String {
    match reason {
        NotScored::Reason(known) => unscored_reason(known.code()),
        NotScored::RateMissing => "no rate".to_owned(),
        NotScored::RateUnreadable(text) => format!("`{}` is no rate", quoted(text)),
        other => other.to_string(),
    }
}

/// The line that says why `--fail-on-regression` fired; `None` when it did not. One line for each thing to say.
pub fn gate_lines(rule: GateRule, outcome: &GateOutcome<'_>, thresholds: &Thresholds) -> Vec<String> {
    let rule = rule.word();
    match outcome {
        GateOutcome::Holds => Vec::new(),
        GateOutcome::Regressed(regressions) => {
            let cases = numbers::counted(regressions.len(), "case", "cases");
            let mut lines = vec![format!("regression ({rule}): {cases} with the skill")];
            lines.extend(regressions.iter().take(NAMED).map(|regression| format!("  {}", regression_text(regression))));
            if regressions.len() > NAMED {
                lines.push(format!("  and {} more", regressions.len() - NAMED));
            }
            lines
        }
        GateOutcome::Established { change, tested } => {
            let sure = certainty(tested, thresholds);
            vec![format!("regression ({rule}): with the skill {} on average, {sure}", numbers::points(change))]
        }
        GateOutcome::Undecidable(NotTested::NothingCompared) => {
            vec![format!("nothing compared ({rule}): no case with the skill has comparable rates in both")]
        }
        GateOutcome::Undecidable(NotTested::NotLikeForLike) => vec![format!(
            "nothing tested ({rule}): the results are not like-for-like; --assume-comparable tests them all the same"
        )],
    }
}

/// One line about what the gate found.
pub fn gate_summary(rule: GateRule, outcome: &GateOutcome<'_>) -> String {
    match (rule, outcome) {
        (GateRule::Established, GateOutcome::Holds) => "no regression is established".to_owned(),
        (_, GateOutcome::Holds) => "no regression".to_owned(),
        (_, GateOutcome::Regressed(_) | GateOutcome::Established { .. }) => "regression".to_owned(),
        (_, GateOutcome::Undecidable(_)) => "nothing to decide on".to_owned(),
    }
}

fn regression_text(regression: &Regression) -> String {
    let model = regression.model.as_ref().map(|model| format!(" ({model})")).unwrap_or_default();
    let what = match &regression.why {
        RegressionWhy::BrokenChecks(checks) => {
            let named: Vec<String> =
                checks.iter().take(NAMED_CHECKS).map(|check| format!("`{}`", quoted(check))).collect();
            let more = checks.len().saturating_sub(NAMED_CHECKS);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            format!("passed before, fails now: {}{more}", named.join(", "))
        }
        RegressionWhy::LowerRate { before, after } => {
            format!("{} before, {} now", numbers::percent(before), numbers::percent(after))
        }
        RegressionWhy::LostScore(reasons) => {
            format!("has no score any more: {}", reasons.iter().map(reason).collect::<Vec<_>>().join(", "))
        }
        RegressionWhy::Gone => "is gone".to_owned(),
    };
    format!("{}{model}: {what}", regression.case)
}
