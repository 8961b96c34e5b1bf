//! JUnit XML, as Jenkins, GitLab and GitHub actions read it.

use std::io::{self, Write};
use std::time::Duration;

use quick_junit::{NonSuccessKind, Property, Report, TestCase as XmlCase, TestCaseStatus, TestSuite, XmlString};
use skill_lift_text::screen::is_obeyed;

use super::Again;
use super::cases::{elapsed, lines, message, run_name};
use crate::analyze::test_cases::{TestCase, TestStatus};

/// What stands for a tab.
const TAB: &str = "    ";

/// Code points of an attribute; CI systems show it on one line.
const ATTRIBUTE_CHARACTERS: usize = 500;

/// Writes the rows of a report as one test suite.
///
/// # Errors
/// Those of the writer.
pub fn write_junit(writer: &mut dyn Write, again: Again<'_>, cases: &[TestCase<'_>]) -> io::Result<()> {
    let skill = again.skill_name();
    let mut suite = TestSuite::new(attribute(&format!("skill-eval:{skill}")));
    let headline = again.headline().map(|figure| figure.map_or_else(String::new, |figure| format!("{figure:.4}")));
    let baseline = format!("{}_objective_pass_rate", again.analysis.table.baseline.variant());
    let names = ["with_skill_objective_pass_rate", &baseline, "absolute_delta", "normalized_gain"];
    for (name, value) in names.into_iter().zip(headline) {
        suite.add_property(Property::new(name, value));
    }
    let mut total = Some(Duration::ZERO);
    let mut tests = Vec::with_capacity(cases.len());
    for case in cases {
        let row = case.row;
        let mut test = XmlCase::new(attribute(&run_name(row)), status(case));
        let model = row.model.as_ref().map(|model| format!(".{model}")).unwrap_or_default();
        test.set_classname(attribute(&format!("{skill}.{}{model}", row.case.id)));
        match elapsed(row) {
            Ok(milliseconds) => {
                let time = Duration::from_millis(milliseconds);
                total = total.and_then(|total| total.checked_add(time));
                test.set_time(time);
            }
            Err(reason) => {
                total = None;
                let name =
                    format!("telemetry.elapsed_ms.{}{model}.{}.run-{}", row.case.id, row.variant, row.repetition);
                suite.add_property(Property::new(attribute(&name), attribute(&reason)));
            }
        }
        if case.status == TestStatus::Reference {
            test.set_system_out(text(&lines(case).join("\n")));
        }
        tests.push(test);
    }
    match total {
        Some(total) => drop(suite.set_time(total)),
        None => drop(suite.add_property(Property::new("telemetry.elapsed_ms.aggregate", "partial"))),
    }
    suite.add_test_cases(tests);
    let mut report = Report::new(attribute(&format!("skill-eval:{skill}")));
    report.add_test_suite(suite);
    let mut xml = Vec::new();
    report.serialize(&mut xml).map_err(io::Error::other)?;
    write_suite_alone(writer, &xml)
}

/// Writes a document without the element around its suite: version 0.6 has none, and the schema of Jenkins does not know
/// its attribute `skipped`. Texts have no `<`, so that a line that begins with its tag is its tag.
fn write_suite_alone(writer: &mut dyn Write, xml: &[u8]) -> io::Result<()> {
    let around = |line: &[u8]| line.starts_with(b"<testsuites ") || line.starts_with(b"</testsuites>");
    xml.split_inclusive(|byte| *byte == b'\n').filter(|line| !around(line)).try_for_each(|line| writer.write_all(line))
}

fn status(case: &TestCase<'_>) -> TestCaseStatus {
    let mut status = match case.status {
        TestStatus::Passed => return TestCaseStatus::success(),
        TestStatus::Failed => {
            let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
            status.set_description(text(&lines(case).join("\n")));
            status
        }
        TestStatus::Reference | TestStatus::Pending(_) | TestStatus::Undecided(_) | TestStatus::Unchecked => {
            TestCaseStatus::skipped()
        }
    };
    if let Some(message) = message(case) {
        status.set_message(attribute(&message));
    }
    status
}

/// Text of an element: lines stay, everything else that XML cannot hold or a screen would obey is replaced. A tab becomes
/// blanks: the XML library drops it with the control characters.
fn text(text: &str) -> XmlString {
    XmlString::new(replaced(&text.replace("\r\n", "\n").replace('\t', TAB), |character| character == '\n'))
}

/// Text of an attribute, which is one line.
fn attribute(text: &str) -> XmlString {
    let shown = replaced(text, |_| false);
    XmlString::new(match shown.char_indices().nth(ATTRIBUTE_CHARACTERS) {
        Some((end, _)) => format!("{}…", &shown[..end]),
        None => shown,
    })
}

fn replaced(text: &str, is_kept: impl Fn(char) -> bool) -> String {
    let is_foreign = |character: char| is_obeyed(character) || matches!(character, '\u{fffe}' | '\u{ffff}');
    text.chars().map(|c| if is_foreign(c) && !is_kept(c) { '\u{fffd}' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_xml_cannot_hold_is_replaced_and_nothing_is_swallowed() {
        assert_eq!(
            text("a\0b\u{1b}[31mc\u{9b}31md\u{fffe}\u{202e}\r\n\te").as_str(),
            "a\u{fffd}b\u{fffd}[31mc\u{fffd}31md\u{fffd}\u{fffd}\n    e"
        );
        assert_eq!(attribute("a\nb\tc").as_str(), "a\u{fffd}b\u{fffd}c");
        assert_eq!(attribute(&"x".repeat(501)).chars().count(), 501);
        assert_eq!(attribute("]]>&<\"'").as_str(), "]]>&<\"'");
    }
}
