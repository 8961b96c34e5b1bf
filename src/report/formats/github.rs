//! The job summary of GitHub actions: the lead and the question table, then the tables of version 0.6 of the format.

use skill_lift_stats::{describe, rational};

use super::Again;
use super::document::{Document, Fold, Section, cell, code, sentence};
use super::sections::{cases, core, eyes, flags, groups, left_out, measured_how, models};
use crate::analyze::variants::VariantSummary;
use crate::report::view::SummaryView;
use crate::report::words;

/// The document of a report. `is_part` says that it follows something else in the same file.
pub fn github_summary(again: Again<'_>, is_part: bool) -> Document {
    let view = SummaryView::of_saved(again.saved, again.analysis);
    let level = if is_part { 2 } else { 1 };
    let title = format!("{} Skill eval — {}", "#".repeat(level), cell(again.skill_name()));
    let mut out = core(&format!("{title}\n\n**{}**", view.headline.text), &view);
    let [with, without, delta, _] = again.headline();
    out.push_str(&format!(
        "\n**Lift (with − without, objective):** {} − {} = **{}**\n\n{VARIANT_HEAD}",
        rate(with),
        rate(without),
        rate(delta)
    ));
    again.analysis.variants.iter().for_each(|variant| out.push_str(&variant_row(variant)));
    let folded = |section: Section| Section { fold: Fold::AtHeading, ..section };
    Document {
        core: out,
        level: level + 1,
        sections: vec![
            case_flags(again),
            negative_cases(again),
            eyes(&view),
            folded(models(&view)),
            folded(left_out(again, &view)),
            folded(cases(&view)),
            folded(groups(again)),
            folded(signs(again)),
            folded(measured_how(again, &view)),
        ],
    }
}

const VARIANT_HEAD: &str = "| variant | cases | runs | mean objective | mean combined | missing | exec errors |\n\
                            |---|---|---|---|---|---|---|\n";

/// A rate of version 0.6.
fn rate(rate: Option<f64>) -> String {
    rate.map_or_else(|| "—".to_owned(), |rate| format!("{rate:.2}"))
}

fn variant_row(variant: &VariantSummary) -> String {
    format!(
        "| {} | {} | {} | {} | {} | {} | {} |\n",
        cell(&variant.variant),
        variant.cases,
        variant.runs,
        rate(describe::mean(&variant.objective)),
        rate(describe::mean(&variant.combined)),
        variant.missing_outputs,
        variant.execution_errors
    )
}

fn case_flags(again: Again<'_>) -> Section {
    let mut section = Section::new("Case flags");
    let row = |case: &crate::analyze::flags::CaseFlags| {
        let flags: Vec<String> = case.flags.iter().map(|raised| sentence(&words::flag_text(&raised.flag))).collect();
        let (with, without) = (rational::to_f64(&case.with_skill), rational::to_f64(&case.without_skill));
        format!("- {}: {} (with={with:.2}, without={without:.2})\n", code(&case.case_id), flags.join("; "))
    };
    section.rows = again.analysis.case_flags.iter().map(row).collect();
    section
}

fn negative_cases(again: Again<'_>) -> Section {
    let mut section = Section::new("Negative-delta cases");
    let table = &again.analysis.table;
    let worse = again.analysis.lift.overall.units.iter().filter(|unit| unit.with_skill < unit.without_skill);
    section.rows = worse
        .map(|unit| {
            let model = table.model(unit.model).map(|model| format!(" ({})", cell(model))).unwrap_or_default();
            let rates = unit.rounded;
            let case = code(table.case_id(unit.case));
            format!("- {case}{model}: with={:.2} < without={:.2}\n", rates.with_skill, rates.without_skill)
        })
        .collect();
    section
}

/// The signs that something is wrong; the flags of cases stand above.
fn signs(again: Again<'_>) -> Section {
    Section { heading: "Checks of the runs", head: "", rows: Vec::new(), ..flags(again) }
}
