//! An error analysis as text for a terminal: a pure function of the analysis, the width and a few switches.

use std::collections::{BTreeMap, HashMap};

use skill_lift_stats::rational;

use crate::analyze::error_analysis::{Category, CategoryCount, ErrorAnalysis, FailingRun, Said};
use crate::analyze::table::WITH_SKILL;
use crate::feedback::{Entry, Opinion};
use crate::report::diff::table::{cut_end, listed};
use crate::report::numbers;
use crate::report::terminal::{Page, Paint, Style, column, cut_middle, left, right};
use crate::report::words;
use crate::runs::claims::{SavedCheck, SavedRow};
use crate::suite::Severity;

/// Categories that are listed unless all are asked for.
const CATEGORIES_SHOWN: usize = 15;

/// Groups of runs that are listed unless all are asked for.
const GROUPS_SHOWN: usize = 10;

/// Characters of evidence, also where nothing is cut.
const EVIDENCE_CHARACTERS: usize = 400;

/// Narrower screens have no example.
const EXAMPLE_FROM: usize = 72;

/// The widest example on a screen.
const WIDEST_EXAMPLE: usize = 24;

/// Indentation of lines below a run.
const BELOW: &str = "      ";

/// The arms with a column of their own.
const ARMS: [(&str, &str); 3] = [(WITH_SKILL, "With"), ("without_skill", "Without"), ("old_skill", "Old skill")];

/// Renders an error analysis; every line ends with a line break.
pub fn render_error_analysis(analysis: &ErrorAnalysis<'_>, style: Style) -> String {
    let mut page = Page::new(style);
    title(&mut page, analysis);
    categories(&mut page, analysis);
    runs(&mut page, &analysis.failing);
    let flags = analysis.flags.iter().map(|(flag, count)| format!("{flag}: {count}"));
    let flags: Vec<String> = flags.collect();
    if !flags.is_empty() {
        listed(&mut page, "Flags of cases", &flags);
    }
    if let Some(said) = &analysis.said {
        feedback(&mut page, said);
    }
    page.out
}

fn title(page: &mut Page, analysis: &ErrorAnalysis<'_>) {
    let name = page.name(analysis.saved.skill_name.as_deref().unwrap_or("skill"));
    let name = cut_middle(&name, page.width, page.style);
    let name = page.paint(Paint::Bold, &name);
    page.line(&name);
    let all = analysis.saved.rows.len();
    let failing = analysis.failing.len();
    let verb = if failing == 1 { "is" } else { "are" };
    let mut sentence = match (all, failing) {
        (0, _) => "The report has no runs.".to_owned(),
        (_, 0) => format!("No failing run among {}.", numbers::count(all)),
        _ => {
            let kinds = numbers::counted(analysis.categories.len(), "kind", "kinds");
            format!(
                "{} of {} {verb} failing, of {kinds}.",
                numbers::count(failing),
                numbers::counted(all, "run", "runs")
            )
        }
    };
    if analysis.undecided > 0 {
        let runs = numbers::counted(analysis.undecided, "run waits", "runs wait");
        sentence.push_str(&format!(" {runs} for a verdict."));
    }
    if analysis.unchecked > 0 {
        sentence.push_str(&format!(" In {} nothing was checked.", numbers::counted(analysis.unchecked, "run", "runs")));
    }
    page.wrapped(&sentence, "", "");
    page.line("");
}

fn categories(page: &mut Page, analysis: &ErrorAnalysis<'_>) {
    let all = &analysis.categories;
    if all.is_empty() {
        return;
    }
    let shown = if page.style.all_cases { all.len() } else { all.len().min(CATEGORIES_SHOWN) };
    let in_arm = |category: &CategoryCount<'_>, arm: &str| category.by_variant.get(arm).copied().unwrap_or_default();
    let mut heads: Vec<&str> = Vec::new();
    let mut cells: Vec<Vec<String>> = vec![Vec::new(); shown];
    let is_there = |arm: &str| analysis.saved.variants.iter().any(|variant| variant == arm);
    for (arm, head) in ARMS.into_iter().filter(|(arm, _)| is_there(arm)) {
        heads.push(head);
        cells.iter_mut().zip(all).for_each(|(cells, category)| cells.push(numbers::count(in_arm(category, arm))));
    }
    let others = |by_variant: &BTreeMap<&str, usize>| -> usize {
        by_variant.iter().filter(|(arm, _)| ARMS.iter().all(|(known, _)| known != *arm)).map(|(_, count)| count).sum()
    };
    if all.iter().any(|category| others(&category.by_variant) > 0) {
        heads.push("Other arms");
        cells
            .iter_mut()
            .zip(all)
            .for_each(|(cells, category)| cells.push(numbers::count(others(&category.by_variant))));
    }
    heads.push("Share");
    let share = |category: &CategoryCount<'_>| rational::rate(category.count() as u64, analysis.failing.len() as u64);
    cells.iter_mut().zip(all).for_each(|(cells, category)| cells.push(numbers::percent(&share(category))));
    let widths: Vec<usize> =
        heads.iter().enumerate().map(|(at, head)| column(head, cells.iter().map(|row| row[at].clone()))).collect();
    let with_example = page.style.width.is_none() || page.width >= EXAMPLE_FROM;
    let examples: Vec<String> = all[..shown]
        .iter()
        .map(|category| {
            let name = page.name(&category.example.row.case.id);
            cut_middle(&name, WIDEST_EXAMPLE, page.style)
        })
        .collect();
    let example = if with_example { 2 + column("First in", examples.iter().cloned()) } else { 0 };
    let fixed = 2 + widths.iter().map(|width| width + 2).sum::<usize>() + example;
    let names: Vec<String> = all[..shown].iter().map(|category| page.name(&category.name)).collect();
    let name_width = page.name_width(&names, "What is wrong", fixed);
    let line = |name: &str, cells: &mut dyn Iterator<Item = &str>, example: &str| {
        let cells: String = cells.zip(&widths).map(|(cell, width)| format!("  {}", right(cell, *width))).collect();
        let example = if with_example { format!("  {example}") } else { String::new() };
        format!("  {}{cells}{example}", left(name, name_width))
    };
    let head = page.paint(Paint::Muted, &line("What is wrong", &mut heads.iter().copied(), "First in"));
    page.line(&head);
    for ((name, cells), example) in names.iter().zip(&cells).zip(&examples) {
        let name = cut_middle(name, name_width, page.style);
        page.line(&line(&name, &mut cells.iter().map(String::as_str), example));
    }
    if shown < all.len() {
        let more = page.paint(Paint::Muted, &format!("  and {} more; --all lists them", all.len() - shown));
        page.line(&more);
    }
}

/// Failing runs of one case that have one category.
struct Alike<'a, 'r> {
    runs: Vec<&'a FailingRun<'r>>,
}

/// Runs in groups, the largest first; those of one size in the order of the report.
fn alike<'a, 'r>(runs: &[&'a FailingRun<'r>]) -> Vec<Alike<'a, 'r>> {
    let mut places: HashMap<(&str, String), usize> = HashMap::new();
    let mut groups: Vec<Alike<'a, 'r>> = Vec::new();
    for run in runs {
        let place = *places.entry((&run.row.case.id, run.category.to_string())).or_insert(groups.len());
        match groups.get_mut(place) {
            Some(group) => group.runs.push(run),
            None => groups.push(Alike { runs: vec![run] }),
        }
    }
    groups.sort_by_key(|group| std::cmp::Reverse(group.runs.len()));
    groups
}

/// The runs to read first: those with the skill, since what fails without it is what a skill is for.
fn runs(page: &mut Page, failing: &[FailingRun<'_>]) {
    let with: Vec<&FailingRun<'_>> = failing.iter().filter(|run| run.row.variant == WITH_SKILL).collect();
    let (heading, runs) = match with.is_empty() {
        false => ("Failing with the skill", with),
        true => ("Failing runs", failing.iter().collect()),
    };
    let groups = alike(&runs);
    if groups.is_empty() {
        return;
    }
    page.line("");
    let head = page.paint(Paint::Muted, &format!("  {heading}"));
    page.line(&head);
    let shown = if page.style.all_cases { groups.len() } else { groups.len().min(GROUPS_SHOWN) };
    for Alike { runs } in &groups[..shown] {
        let Some(first) = runs.first() else { continue };
        let number = if runs.len() > 1 { format!(", {} runs", numbers::count(runs.len())) } else { String::new() };
        let text = page.name(&format!("{}{number}: {}", first.row.case.id, first.category));
        page.wrapped(&text, "    ", BELOW);
        let evidence = reason(first).map(|evidence| format!(": {evidence}")).unwrap_or_default();
        let line = page.name(&format!("{}{evidence}", run_name(first.row)));
        let line = cut_end(&line, page.width.saturating_sub(BELOW.len()), page.style);
        let line = page.paint(Paint::Muted, &format!("{BELOW}{line}"));
        page.line(&line);
        for run in runs {
            if let Some(entry) = run.said {
                let text = page.name(&format!("{}: {}", run_name(run.row), said(entry)));
                page.wrapped(&text, BELOW, &format!("{BELOW}  "));
            }
        }
    }
    if shown < groups.len() {
        let more = page.paint(Paint::Muted, &format!("    and {} more; --all lists them", groups.len() - shown));
        page.line(&more);
    }
}

/// Which run of a case it is.
fn run_name(row: &SavedRow) -> String {
    let model = row.model.as_ref().map(|model| format!("{model}/")).unwrap_or_default();
    format!("{model}{}/run-{}", row.variant, row.repetition)
}

/// What was seen of the failure.
fn reason(run: &FailingRun<'_>) -> Option<String> {
    let is_critical = |check: &&SavedCheck| check.severity == Severity::Critical && check.passed == Some(false);
    let evidence = match run.category {
        Category::Check(check) => check.evidence.clone(),
        Category::CriticalFailure(_) => run.row.checks.iter().find(is_critical)?.evidence.clone(),
        Category::ExecutionError | Category::NotScored(_) => {
            let reasons: Vec<String> =
                run.row.unscored_reasons.iter().map(|code| words::unscored_reason(code)).collect();
            reasons.join(", ")
        }
        Category::MissingOutput | Category::Unlisted => return None,
    };
    Some(evidence.chars().take(EVIDENCE_CHARACTERS).collect()).filter(|evidence: &String| !evidence.trim().is_empty())
}

fn said(entry: &Entry) -> String {
    let verdict = match entry.verdict {
        Some(Opinion::Pass) => "a person: right",
        Some(Opinion::Fail) => "a person: wrong",
        Some(Opinion::Unsure) => "a person: hard to say",
        None => "a person",
    };
    match &entry.note {
        Some(note) => format!("{verdict}: {note}"),
        None => verdict.to_owned(),
    }
}

fn feedback(page: &mut Page, feedback: &Said<'_>) {
    page.line("");
    let entries = numbers::counted(feedback.about_runs, "entry is", "entries are");
    let mut text = format!("{entries} about runs.");
    if feedback.right_but_failing > 0 {
        text.push_str(&format!(
            " {} right by a person.",
            numbers::counted(feedback.right_but_failing, "failing run was judged", "failing runs were judged")
        ));
    }
    page.wrapped(&format!("Feedback: {text}"), "  ", "    ");
    let wrong = feedback.wrong_but_passed.iter().map(|(row, entry)| match &entry.note {
        Some(note) => format!("{} {}: {note}", row.case.id, run_name(row)),
        None => format!("{} {}", row.case.id, run_name(row)),
    });
    let wrong: Vec<String> = wrong.collect();
    if !wrong.is_empty() {
        listed(page, "Judged wrong by a person, and no check failed", &wrong);
    }
}
