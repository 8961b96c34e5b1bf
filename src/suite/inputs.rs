//! The files that a case refers to: prompt, inputs and reference answer.

use std::collections::HashMap;
use std::path::Path;

use skill_lift_text::python;

use super::assertion::span_of;
use super::check::Check;
use super::environment::Environment;
use super::files::{Found, safe_relative};
use super::model::{Case, Split};
use super::report::Report;
use super::{script, shape};
use crate::json::{Node, Span};

/// A prompt file larger than this is refused.
const PROMPT_BYTES: u64 = 16 << 20;

/// Checks `prompt_ref` and `files`; returns the input files.
pub(super) fn check(
    report: &mut Report<'_>,
    environment: &Environment,
    node: &Node<'_>,
    prompt_ref: Option<&str>,
    split: Option<Split>,
) -> Vec<String> {
    let hidden = matches!(split, Some(Split::Holdout | Split::Holdback));
    let may_miss = hidden && !environment.options.strict_holdback;
    if let Some(path) = prompt_ref {
        let span = span_of(node, "prompt_ref");
        let found = check_file(report, environment, "prompt_ref", path, span, may_miss);
        if let Some(size) = found.filter(|size| *size > PROMPT_BYTES) {
            let message = format!("prompt_ref has {size} bytes; at most {PROMPT_BYTES} are read");
            report.error("not-a-file", span, message);
        }
    }
    let Some(list) = node.get("files").filter(|list| !list.is_null()) else { return Vec::new() };
    let Some(files) = shape::strings(list) else {
        report.error("files-shape", list.span, "files must be a list of strings");
        return Vec::new();
    };
    let mut names: HashMap<&str, &str> = HashMap::new();
    for (path, item) in files.iter().zip(list.items().unwrap_or_default()) {
        check_file(report, environment, "input file", path, item.span, may_miss);
        let name = path.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
        if let Some(other) = names.insert(name, path) {
            let message = format!("input files {other} and {path} have the same name, and both are put in one folder");
            report.error("fixture-names", item.span, message);
        }
    }
    files
}

/// Checks one file that a case refers to; returns its size if it is a regular file.
fn check_file(
    report: &mut Report<'_>,
    environment: &Environment,
    what: &str,
    path: &str,
    span: Span,
    may_miss: bool,
) -> Option<u64> {
    let found = environment.files.find(path);
    let outside = found.real_path().is_some_and(|real_path| !environment.files.contains(real_path));
    if *found == Found::Missing && !may_miss {
        report.error("missing-file", span, format!("{what} does not exist: {path}"));
    }
    if safe_relative(path).is_none() || outside {
        let message = format!("{what} leads out of the folder of the suite: {}", python::repr_str(path));
        if environment.options.allow_external_files && !path.is_empty() {
            report.warn("external-path", span, message);
        } else {
            let help = "move the file below the folder of the suite, or allow it with --allow-external-files";
            report.error_with_help("external-path", span, message, help);
        }
    }
    match &*found {
        Found::File(_, size) => Some(*size),
        Found::Other(_) => {
            report.error("not-a-file", span, format!("{what} is not a regular file: {path}"));
            None
        }
        Found::Missing => None,
    }
}

/// Checks the reserved fields `source`, `reference_answer` and `reference_answer_ref`.
pub(super) fn check_reference_answer(
    report: &mut Report<'_>,
    environment: &Environment,
    node: &Node<'_>,
    split: Option<Split>,
    kind: &str,
) {
    let rule = "reserved-field";
    let sources = ["production", "bug-report", "hand-written", "synthesized", "imported"];
    let known = |value: &Node<'_>| value.as_str().filter(|word| sources.contains(word)).map(|_| ());
    report.nullable(node, "source", rule, known, &format!("source must be one of {}", sources.join(", ")));
    let must = "reference_answer must be a non-empty string";
    let answer = report.nullable(node, "reference_answer", rule, shape::text, must);
    let must = "reference_answer_ref must be a non-empty string";
    let reference = report.nullable(node, "reference_answer_ref", rule, shape::text, must);
    let span = span_of(node, if reference.is_some() { "reference_answer_ref" } else { "reference_answer" });
    let hidden = matches!(split, Some(Split::Holdout | Split::Holdback));
    if answer.is_some() && reference.is_some() {
        report.error(rule, span, "sets both `reference_answer` and `reference_answer_ref`; use one");
    }
    if kind == "trigger" && (answer.is_some() || reference.is_some()) {
        report.error(rule, span, "a trigger case has no reference answer");
    }
    if hidden && answer.is_some() {
        let span = span_of(node, "reference_answer");
        report.error(rule, span, "a hidden case keeps its reference answer in a file: use `reference_answer_ref`");
    }
    if let Some(path) = reference {
        check_file(
            report,
            environment,
            "reference_answer_ref",
            path,
            span,
            hidden && !environment.options.strict_holdback,
        );
    }
}

/// Warns of input files that give an answer away.
pub(super) fn warn_answers_among_inputs(
    report: &mut Report<'_>,
    environment: &Environment,
    node: &Node<'_>,
    case: &Case,
) {
    if case.files.is_empty() {
        return;
    }
    let items = node.get("files").and_then(Node::items).unwrap_or_default();
    let checks: Vec<_> = all_checks(case).collect();
    let reference_answer = node.get("reference_answer_ref").and_then(Node::as_str);
    for (path, item) in case.files.iter().zip(items) {
        let found = environment.files.find(path);
        let Some(input) = found.real_path() else { continue };
        let is_same = |path: &str| environment.files.find(path).real_path() == Some(input);
        let is_answer = reference_answer.is_some_and(is_same)
            || checks.iter().any(|check| match check {
                Check::GoldenOutput { reference, .. } => is_same(reference),
                Check::Script { command, .. } => command.iter().any(|part| in_oracle(environment, part, input)),
                _ => false,
            });
        if is_answer {
            let message = format!("input file {path} belongs to the answer key of the case");
            report.warn("answer-file-in-inputs", item.span, message);
        }
    }
}

/// The checks of a case and of its turns.
pub(super) fn all_checks(case: &Case) -> impl Iterator<Item = &Check> {
    let of_turns = case.turns.iter().flat_map(|turn| &turn.assertions);
    case.assertions.iter().chain(of_turns).map(|assertion| &assertion.check)
}

fn in_oracle(environment: &Environment, part: &str, input: &Path) -> bool {
    if part.contains('{') {
        return false;
    }
    let Found::File(path, _) = &*environment.files.find(part) else { return false };
    script::oracle_root(environment.files.directory(), path).is_some_and(|root| input.starts_with(root))
}
