//! Rules over several assertions of one case.

use std::collections::{HashMap, HashSet};

use skill_lift_text::python;

use super::environment::Environment;
use super::model::{Assertion, Case, Severity, TypeGroup};
use super::report::Report;

fn is_qualitative(assertion: &Assertion) -> bool {
    assertion.assertion_type.group() == TypeGroup::Qualitative
}

/// Labels are the names of results: judged ones must differ, others should.
pub(super) fn check_labels(report: &mut Report<'_>, case: &Case) {
    let mut judged: HashSet<String> = HashSet::new();
    check_list(report, &case.assertions, "", &mut judged);
    for (number, turn) in (1..).zip(&case.turns) {
        check_list(report, &turn.assertions, &format!("turn-{number}: "), &mut judged);
    }
}

fn check_list(report: &mut Report<'_>, assertions: &[Assertion], prefix: &str, judged: &mut HashSet<String>) {
    let mut seen: HashMap<&str, bool> = HashMap::new();
    for assertion in assertions {
        let qualitative = is_qualitative(assertion);
        let shown = python::repr_str(&format!("{prefix}{}", assertion.label));
        let twin = seen.insert(&assertion.label, qualitative);
        if qualitative && !judged.insert(format!("{prefix}{}", assertion.label)) {
            let message =
                format!("two judged assertions have the label {shown}; their verdicts could not be told apart");
            report.error_with_help("judge-labels", assertion.span, message, "give each of them a `name`");
        } else if twin.is_some_and(|twin| !(twin && qualitative)) {
            let message = format!("two assertions have the label {shown}; give each of them a `name`");
            report.strict("objective-labels", assertion.span, message);
        }
    }
}

/// Every arm of a case that is answered needs an assertion that counts.
pub(super) fn check_gates(report: &mut Report<'_>, environment: &Environment, case: &Case) {
    if case.is_trigger() {
        return;
    }
    let of_turns = case.turns.iter().flat_map(|turn| &turn.assertions);
    let counting: Vec<_> =
        case.assertions.iter().chain(of_turns).filter(|assertion| assertion.severity >= Severity::Gate).collect();
    for variant in &environment.variants {
        if !counting.iter().any(|assertion| assertion.variants.includes(variant)) {
            let message = format!("no assertion of severity gate or critical applies to {}", python::repr_str(variant));
            report.strict("gate-oracle", case.span, message);
        }
    }
}
