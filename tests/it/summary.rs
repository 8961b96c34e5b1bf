//! The summary for people, as it looks at several widths.

use std::path::Path;

use skill_lift::analyze::{AnalysisOptions, analyze};
use skill_lift::grade::GradeOptions;
use skill_lift::judge::Verdicts;
use skill_lift::pipeline::{FrameChoice, Products, Request, RunsSource, evaluate};
use skill_lift::report::{RowArray, Style, SummaryView, render};
use skill_lift::runs::IndexOptions;
use skill_lift::suite::{LoadOptions, load};

use crate::support::{Workspace, repository};

fn summary(folder: &Path, styles: &[Style]) -> Vec<String> {
    let suite = load(&folder.join("evals/shared-benchmark.json"), &LoadOptions::default()).suite.unwrap();
    let request = Request {
        suite: &suite,
        runs: RunsSource::Tree(&folder.join("runs")),
        split: None,
        variants: suite.variants.clone(),
        index: IndexOptions::default(),
        grade: GradeOptions { for_analysis: true, ..GradeOptions::default() },
        verdicts: &Verdicts::default(),
        products: Products { frames: FrameChoice::Runs, ..Products::default() },
        progress: None,
    };
    let mut rows = RowArray::begin(std::io::sink()).unwrap();
    let evaluated = evaluate(&request, &mut rows).unwrap();
    let analysis = analyze(evaluated.frames.unwrap(), &suite.variants, &AnalysisOptions::default()).unwrap();
    let view = SummaryView::of(&suite.skill_name, &analysis, None);
    styles.iter().map(|style| render(&view, *style)).collect()
}

fn screen(width: usize) -> Style {
    Style { width: Some(width), color: false, ascii: false, all_cases: false }
}

fn columns(text: &str) -> usize {
    use unicode_width::UnicodeWidthStr;
    text.lines().map(UnicodeWidthStr::width).max().unwrap_or(0)
}

#[test]
fn the_demo_at_several_widths() {
    let styles = [
        screen(80),
        screen(120),
        screen(60),
        screen(44),
        Style { width: None, ..screen(0) },
        Style { ascii: true, ..screen(80) },
        Style { all_cases: true, ..screen(80) },
        Style { color: true, ..screen(80) },
    ];
    let texts = summary(&repository("datasets/demo"), &styles);
    insta::assert_snapshot!("demo_on_80_columns", texts[0]);
    insta::assert_snapshot!("demo_on_120_columns", texts[1]);
    insta::assert_snapshot!("demo_on_60_columns", texts[2]);
    insta::assert_snapshot!("demo_on_44_columns", texts[3]);
    insta::assert_snapshot!("demo_in_a_pipe", texts[4]);
    insta::assert_snapshot!("demo_in_ascii", texts[5]);
    insta::assert_snapshot!("demo_with_all_cases", texts[6]);
    assert!(columns(&texts[0]) <= 80);
    assert!(columns(&texts[1]) <= 100);
    assert!(texts[5].is_ascii());
    // colours add nothing but colours
    let plain: String = strip_colours(&texts[7]);
    assert_eq!(plain, texts[0]);
}

fn strip_colours(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some(start) = rest.find('\u{1b}') {
        plain.push_str(&rest[..start]);
        rest = &rest[start..];
        rest = &rest[rest.find('m').unwrap() + 1..];
    }
    plain + rest
}

/// A tree in which each named case has one run an arm: whether it passes with and without the skill.
fn outcomes(cases: &[(&str, bool, bool)]) -> Workspace {
    let workspace = Workspace::with_cases(&cases.iter().map(|(id, ..)| *id).collect::<Vec<_>>());
    for (id, with, without) in cases {
        for (arm, passes) in [("with_skill", with), ("without_skill", without)] {
            workspace.write(&format!("runs/{id}/{arm}/output.md"), if *passes { "yes" } else { "no" });
        }
    }
    workspace
}

fn first_lines(workspace: &Workspace) -> String {
    let text = summary(workspace.path(), &[screen(100)]).remove(0);
    let mut lines = text.lines().skip(2).take_while(|line| !line.is_empty());
    let headline = lines.next().unwrap().to_owned();
    let rest: Vec<&str> = lines.collect();
    format!("{headline}\n{}", rest.join("\n"))
}

#[test]
fn headlines_say_what_the_figures_allow() {
    let case = |with, without| move |id: &'static str| (id, with, without);
    let few: Vec<_> = ["a", "b", "c"].map(case(true, false)).to_vec();
    assert_eq!(
        first_lines(&outcomes(&few)),
        "Too few cases to tell.\n\
         Pass rate 0% → 100%: lift +100.0\u{a0}pp, 95% interval \u{2212}100.0 to +100.0\u{a0}pp, p = 0.25\n\
         3 cases cannot reach p ≤ 0.05, whatever they show. Add at least 3."
    );
    let same: Vec<_> = ["a", "b"].map(case(true, true)).to_vec();
    assert!(
        first_lines(&outcomes(&same))
            .starts_with("This eval cannot tell.\nPass rate 100% in both arms: lift 0\u{a0}pp")
    );
    let worse: Vec<_> = ["a", "b", "c", "d", "e", "f", "g", "h"].map(case(false, true)).to_vec();
    assert!(first_lines(&outcomes(&worse)).starts_with("The skill makes results worse.\n"));
    let mut moved: Vec<_> = ["a", "b", "c", "d", "e", "f", "g"].map(case(true, true)).to_vec();
    moved.push(("h", true, false));
    let text = first_lines(&outcomes(&moved));
    assert!(text.starts_with("Not proven. Results lean better.\n"), "{text}");
    assert!(text.ends_with("Only 1 of 8 cases changed."), "{text}");
}
