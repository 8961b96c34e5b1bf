//! What people are told of a comparison, in order, before any output form.

use skill_lift_stats::rational::Rational;

use super::words;
use crate::analyze::diff::{Diff, Shift};
use crate::analyze::table::WITH_SKILL;
use crate::report::numbers;
use crate::report::view::Mark;
use crate::report::words::Headline;
use crate::runs::claims::{CellChange, ChangeKind};
use crate::runs::natural_order;

/// What a text about a comparison shows.
#[derive(Debug)]
pub struct DiffView {
    /// Name of the skill; empty when no side names it.
    pub skill_name: String,
    /// The earlier result, as the user typed it.
    pub old: String,
    /// The later result, as the user typed it.
    pub new: String,
    /// `10 cases in both, 1 new, 2 gone`.
    pub size: String,
    /// The answer.
    pub headline: Headline,
    /// The figures, a sentence each.
    pub leads: Vec<String>,
    /// Labelled paragraphs.
    pub paragraphs: Vec<(&'static str, String)>,
    /// Every arm of every case, worst first.
    pub rows: Vec<DiffRow>,
    /// `with: 3 worse, 5 better, 2 the same`, an arm each.
    pub counts: Vec<String>,
    /// Labelled lists.
    pub lists: Vec<(&'static str, Vec<String>)>,
}

/// One arm of a case.
#[derive(Debug)]
pub struct DiffRow {
    /// Its mark.
    pub mark: Mark,
    /// Id and name of the case, and the model where several are compared.
    pub case: String,
    /// The arm.
    pub arm: String,
    /// Rate in the earlier result, or words.
    pub before: String,
    /// Rate in the later result, or words.
    pub after: String,
    /// The difference, where the rates compare.
    pub change: String,
    /// What happened, in words.
    pub what: &'static str,
    /// What else there is to say: why it has no score, which checks it lost, gained, or left undecided.
    pub details: Vec<(&'static str, Vec<String>)>,
    /// Whether it stands in the short list.
    pub is_short: bool,
}

impl DiffView {
    /// The view of a comparison.
    pub fn of(diff: &Diff<'_>) -> Self {
        let cells = worst_first(&diff.comparison.cells);
        let one_arm = diff.arms.len() == 1;
        let mut leads: Vec<String> = diff
            .arms
            .iter()
            .filter_map(|(variant, shift)| words::arm_sentence(variant, shift, &diff.thresholds))
            .collect();
        leads.extend(words::lift_sentences(diff));
        let name = diff.new.claims.skill_name.as_ref().or(diff.old.claims.skill_name.as_ref());
        Self {
            skill_name: name.cloned().unwrap_or_default(),
            old: diff.old.label.clone(),
            new: diff.new.label.clone(),
            size: size(diff),
            headline: words::headline(diff),
            leads,
            paragraphs: paragraphs(diff),
            rows: cells.into_iter().map(|cell| row(diff, cell, one_arm)).collect(),
            counts: diff.arms.iter().filter_map(|(variant, shift)| counts(diff, variant, shift)).collect(),
            lists: lists(diff),
        }
    }
}

fn size(diff: &Diff<'_>) -> String {
    let cases = &diff.cases;
    let mut parts = vec![format!("{} in both", numbers::counted(cases.common.len(), "case", "cases"))];
    for (list, word) in [(&cases.appeared, "new"), (&cases.vanished, "gone")] {
        if !list.is_empty() {
            parts.push(format!("{} {word}", numbers::count(list.len())));
        }
    }
    parts.join(", ")
}

fn paragraphs(diff: &Diff<'_>) -> Vec<(&'static str, String)> {
    let comparability = &diff.comparability;
    let mut paragraphs: Vec<(&'static str, String)> = Vec::new();
    let label = if comparability.assumed { "Assumed" } else { "Why" };
    for (at, mismatch) in comparability.mismatches.iter().enumerate() {
        paragraphs.push((if at == 0 { label } else { "" }, format!("{}.", words::mismatch(mismatch))));
    }
    if comparability.assumed && !comparability.mismatches.is_empty() {
        paragraphs.push(("", "Tested all the same: --assume-comparable.".to_owned()));
    }
    if let (true, Some(basis)) = (comparability.is_like_for_like(), comparability.basis) {
        paragraphs.push(("Basis", words::basis(basis).to_owned()));
    }
    let changed = comparability.changed_cases.len();
    if changed > 0 {
        let verb = if changed == 1 { "case has" } else { "cases have" };
        let text = format!(
            "{} {verb} other checks or another prompt than before: in no mean and no test.",
            numbers::count(changed)
        );
        paragraphs.push(("Changed", text));
    }
    if let Some(tested) = diff.with_skill().and_then(|shift| shift.tested.as_ref().ok()) {
        let moved = numbers::count(tested.test.moved);
        let cases = numbers::counted(tested.test.n, "case", "cases");
        paragraphs.push(("Sure?", format!("Exact test over {cases}, {moved} of which moved.")));
    }
    paragraphs
}

fn lists(diff: &Diff<'_>) -> Vec<(&'static str, Vec<String>)> {
    let paired = diff.cases_with_pairs_in_both();
    let flags = |flags: &[crate::runs::claims::ClaimedFlag]| {
        // of a case without both arms in both results it is not known whether it has the flag
        let known = flags.iter().filter(|flag| paired.contains(flag.case.as_str()));
        known.map(|flag| format!("{}: {}", flag.case, flag.flag)).collect::<Vec<_>>()
    };
    let others = diff.comparability.others.iter().map(|difference| {
        let side = |value: &Option<String>| value.as_deref().map_or_else(|| "not stated".to_owned(), words::quoted);
        format!("{}: {} then, {} now", difference.key, side(&difference.before), side(&difference.after))
    });
    let lists = [
        ("New cases", diff.cases.appeared.clone()),
        ("Gone cases", diff.cases.vanished.clone()),
        ("New flags", flags(&diff.comparison.new_flags)),
        ("Resolved flags", flags(&diff.comparison.resolved_flags)),
        ("Also different", others.collect()),
    ];
    let mut lists: Vec<_> = lists.into_iter().filter(|(_, list)| !list.is_empty()).collect();
    lists.iter_mut().for_each(|(_, list)| list.sort_by(|a, b| natural_order(a, b)));
    lists
}

fn counts(diff: &Diff<'_>, variant: &str, shift: &Shift) -> Option<String> {
    let cells = diff.comparison.cells.iter().filter(|cell| cell.variant == variant);
    let (mut worse, mut better, mut same, mut left_out) = (0, 0, 0, 0);
    for cell in cells {
        match cell.kind {
            ChangeKind::Regressed => worse += 1,
            ChangeKind::Improved => better += 1,
            ChangeKind::Same => same += 1,
            ChangeKind::Appeared | ChangeKind::Vanished => {}
            _ => left_out += 1,
        }
    }
    if worse + better + same + left_out == 0 {
        return None;
    }
    let left_out = if left_out > 0 { format!(", {left_out} not compared") } else { String::new() };
    // with several models a case has several rows
    let rows = if worse + better + same > shift.cases.len() { " (case and model)" } else { "" };
    Some(format!("{}: {better} better, {same} the same, {worse} worse{left_out}{rows}.", words::arm_phrase(variant)))
}

/// How bad a change is: what was lost with the skill first, what is the same last.
fn rank(cell: &CellChange) -> u8 {
    let is_skill = cell.variant == WITH_SKILL;
    match cell.kind {
        ChangeKind::Regressed if is_skill => 0,
        ChangeKind::BecameUnscored if is_skill => 1,
        ChangeKind::Regressed => 2,
        ChangeKind::BecameUnscored => 3,
        ChangeKind::Same if !words::is_unchanged(cell) => 4,
        ChangeKind::OtherChecks | ChangeKind::OtherPrompt => 5,
        ChangeKind::Vanished => 6,
        ChangeKind::StillUnscored => 7,
        ChangeKind::Appeared => 8,
        ChangeKind::BecameScored => 9,
        ChangeKind::Improved => 10,
        ChangeKind::Same => 11,
    }
}

fn worst_first(cells: &[CellChange]) -> Vec<&CellChange> {
    let mut ranked: Vec<_> = cells.iter().map(|cell| (rank(cell), cell.delta(), cell)).collect();
    ranked.sort_by(|(a, x, first), (b, y, second)| {
        let by_case = || natural_order(&first.case, &second.case).then_with(|| first.variant.cmp(&second.variant));
        a.cmp(b).then_with(|| x.cmp(y)).then_with(by_case)
    });
    ranked.into_iter().map(|(_, _, cell)| cell).collect()
}

fn row(diff: &Diff<'_>, cell: &CellChange, one_arm: bool) -> DiffRow {
    let is_whole_case = |kind| match kind {
        ChangeKind::Appeared => diff.cases.appeared.binary_search(&cell.case).is_ok(),
        ChangeKind::Vanished => diff.cases.vanished.binary_search(&cell.case).is_ok(),
        _ => false,
    };
    let shown = |rate: &Option<Rational>, is_there: bool| match rate {
        Some(rate) => numbers::percent(rate),
        None if is_there => "no score".to_owned(),
        None => "not run".to_owned(),
    };
    let mut case = match &cell.name {
        Some(name) if *name != cell.case => format!("{} {name}", cell.case),
        _ => cell.case.clone(),
    };
    if let Some(model) = &cell.model {
        case.push_str(&format!(" ({model})"));
    }
    DiffRow {
        mark: mark(cell),
        case,
        arm: if one_arm { String::new() } else { words::arm_word(&cell.variant) },
        before: shown(&cell.before, cell.rows_before.rows > 0),
        after: shown(&cell.after, cell.rows_after.rows > 0),
        change: cell.delta().as_ref().map(numbers::whole_points).unwrap_or_default(),
        what: words::what(cell),
        details: words::details(cell),
        // new and gone cases stand in lists of their own
        is_short: !(words::is_unchanged(cell) || is_whole_case(cell.kind)),
    }
}

fn mark(cell: &CellChange) -> Mark {
    match cell.kind {
        ChangeKind::Regressed => Mark::Worse,
        ChangeKind::Improved => Mark::Better,
        _ if words::is_unchanged(cell) => Mark::Same,
        _ => Mark::Open,
    }
}
