//! The declared ablations: shape and safety of each removal, as far as no skill file is needed to tell.

use std::collections::HashSet;

use skill_lift_text::python;

use super::diagnostic::Level;
use super::files::safe_relative;
use super::model::{Ablation, Case};
use super::report::Report;
use super::shape;
use crate::json::{Node, Span};

const RULE: &str = "ablation-fields";
const CLASSES: [&str; 5] = ["discovery", "runtime", "instructions", "resource", "preprocess"];
const DISCOVERY_FIELDS: [&str; 6] =
    ["name", "description", "when_to_use", "paths", "disable-model-invocation", "user-invocable"];
const FIELDS: [&str; 9] = [
    "id",
    "removed_component",
    "expected_regressions",
    "invalid_skill",
    "mechanism",
    "class",
    "target",
    "components",
    "notes",
];

/// A way to remove something from a skill.
struct Mechanism {
    name: &'static str,
    required_key: &'static str,
    classes: &'static [&'static str],
}

const MECHANISMS: [Mechanism; 8] = [
    Mechanism { name: "frontmatter_field", required_key: "field", classes: &["discovery", "runtime"] },
    Mechanism { name: "section", required_key: "heading", classes: &["instructions"] },
    Mechanism { name: "list_item", required_key: "section", classes: &["instructions"] },
    Mechanism { name: "patch", required_key: "patch", classes: &["discovery", "instructions", "runtime"] },
    Mechanism { name: "reference", required_key: "path", classes: &["resource"] },
    Mechanism { name: "script", required_key: "path", classes: &["resource"] },
    Mechanism { name: "asset", required_key: "path", classes: &["resource"] },
    Mechanism { name: "preprocess", required_key: "contains", classes: &["preprocess"] },
];

/// Reads the ablations of a suite.
pub(super) fn read(report: &mut Report<'_>, root: &Node<'_>) -> Vec<Ablation> {
    let Some(node) = root.get("ablations").filter(|node| !node.is_null()) else { return Vec::new() };
    let Some(items) = node.items() else {
        report.error("ablations-shape", node.span, "manifest.ablations must be a list");
        return Vec::new();
    };
    let skill_paths = root.get("skill_paths").and_then(shape::strings).unwrap_or_default();
    let mut seen = HashSet::new();
    let mut ablations = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let mut report = report.at(format!("ablation #{index}"));
        if item.members().is_none() {
            report.error(RULE, item.span, "must be an object");
            continue;
        }
        let id = item.get("id").filter(|id| id.is_truthy());
        let slug = id.and_then(Node::as_str).filter(|id| is_slug(id));
        match (id, slug) {
            (None, _) => report.error(RULE, item.span, "missing id"),
            (Some(id), None) => {
                let help = "lower-case letters, digits and hyphens, beginning with a letter or digit";
                report.at(format!("ablation {}", id.python_repr())).error_with_help(
                    RULE,
                    id.span,
                    "id must be a slug",
                    help,
                );
            }
            (Some(id), Some(slug)) if !seen.insert(slug) => {
                report.at(format!("ablation {slug}")).error(RULE, id.span, "id is not unique");
            }
            _ => ablations.push(Ablation { id: slug.unwrap_or_default().to_owned() }),
        }
        let place = id.map_or_else(|| format!("ablation #{index}"), |id| format!("ablation {}", id.python_str()));
        check(&mut report.at(place), item, &skill_paths);
    }
    ablations
}

/// Letters, digits and hyphens, not beginning with a hyphen.
fn is_slug(id: &str) -> bool {
    let is_inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    !id.is_empty() && !id.starts_with('-') && id.chars().all(is_inner)
}

fn check(report: &mut Report<'_>, node: &Node<'_>, skill_paths: &[String]) {
    match node.get("removed_component").filter(|component| component.is_truthy()) {
        None => report.error(RULE, node.span, "missing removed_component"),
        Some(component) if component.as_str().is_none() => {
            report.error(RULE, component.span, "removed_component must be a string");
        }
        Some(_) => {}
    }
    report.optional(node, "invalid_skill", RULE, Node::as_bool, "invalid_skill must be a boolean");
    if let Some(list) = node.get("expected_regressions").filter(|list| !list.is_null()) {
        check_expected(report, list);
    }
    report.closed(Level::Strict, RULE, node, &FIELDS, "");
    let components = node.get("components").filter(|components| components.is_truthy());
    let mechanism = node.get("mechanism").filter(|mechanism| mechanism.is_truthy());
    match (components, mechanism) {
        (Some(components), Some(_)) => {
            report.error(RULE, components.span, "declare either mechanism and target, or components, not both");
        }
        (None, None) => {}
        (None, Some(_)) => {
            check_component(report, node, skill_paths);
        }
        (Some(components), None) => match components.items() {
            None => report.error(RULE, components.span, "components must be a list of objects"),
            Some(items) => check_components(report, components.span, items, skill_paths),
        },
    }
}

fn check_components(report: &mut Report<'_>, span: Span, items: &[Node<'_>], skill_paths: &[String]) {
    let mut classes = HashSet::new();
    for item in items {
        if item.members().is_none() {
            report.error(RULE, item.span, "a component must be an object");
            continue;
        }
        report.closed(Level::Strict, RULE, item, &["mechanism", "class", "target"], "component ");
        classes.extend(check_component(report, item, skill_paths));
    }
    if classes.contains("discovery") && classes.len() > 1 {
        report.error(RULE, span, "discovery cannot be mixed with components that change the answer");
    }
}

fn check_expected(report: &mut Report<'_>, list: &Node<'_>) {
    let is_entry = |entry: &Node<'_>| {
        let names = |key| entry.get(key).is_none_or(|names| names.is_null() || shape::strings(names).is_some());
        let summary = entry.get("summary").is_none_or(|summary| summary.as_str().is_some());
        entry.as_str().is_some() || entry.members().is_some() && names("cases") && names("assertions") && summary
    };
    if !list.items().is_some_and(|items| items.iter().all(is_entry)) {
        let message = "expected_regressions must be a list of strings or objects {summary, cases, assertions}";
        report.error(RULE, list.span, message);
    }
}

/// Checks one removal and returns its class.
fn check_component(report: &mut Report<'_>, node: &Node<'_>, skill_paths: &[String]) -> Option<&'static str> {
    let span_of = |key: &str| node.get(key).map_or(node.span, |value| value.span);
    let written = node.get("mechanism");
    let Some(mechanism) =
        written.and_then(Node::as_str).and_then(|name| MECHANISMS.iter().find(|known| known.name == name))
    else {
        let shown = written.map_or_else(|| "None".to_owned(), Node::python_repr);
        let names: Vec<_> = MECHANISMS.iter().map(|known| known.name).collect();
        let help = format!("the mechanisms are {}", names.join(", "));
        report.error_with_help(RULE, span_of("mechanism"), format!("unknown mechanism {shown}"), help);
        return None;
    };
    let declared = node.get("class").filter(|class| class.is_truthy());
    let target = node.get("target");
    let field = target.and_then(|target| target.get("field")).and_then(Node::as_str).unwrap_or_default();
    let inferred = match mechanism.name {
        "frontmatter_field" if DISCOVERY_FIELDS.contains(&field) => "discovery",
        "frontmatter_field" => "runtime",
        "section" | "list_item" | "patch" => "instructions",
        "preprocess" => "preprocess",
        _ => "resource",
    };
    let class = match declared {
        None => Some(inferred),
        Some(class) => class.as_str().and_then(|class| CLASSES.into_iter().find(|known| *known == class)),
    };
    if class.is_none() {
        let shown = declared.map_or_else(String::new, Node::python_repr);
        let help = format!("the classes are {}", CLASSES.join(", "));
        report.error_with_help(RULE, span_of("class"), format!("invalid component class {shown}"), help);
    }
    if let Some(target) = target.filter(|target| target.members().is_none()) {
        report.error(RULE, target.span, "target must be an object");
        return class;
    }
    check_target(report, mechanism, target, node.span, skill_paths);
    if let (Some(class), Some(_)) = (class, declared) {
        if !mechanism.classes.contains(&class) {
            let allowed = python::repr_list(mechanism.classes.iter().copied());
            let message = format!(
                "mechanism {} is incompatible with declared class {} (allowed: {allowed})",
                python::repr_str(mechanism.name),
                python::repr_str(class)
            );
            report.error(RULE, span_of("class"), message);
        } else if mechanism.name == "frontmatter_field" && class != inferred {
            let message = format!("frontmatter_field {} is of class {inferred}, not {class}", python::repr_str(field));
            report.error(RULE, span_of("class"), message);
        }
    }
    let path = target.and_then(|target| target.get("path")).and_then(Node::as_str).unwrap_or_default();
    if mechanism.required_key == "path" && path.rsplit('/').find(|part| !matches!(*part, "" | ".")) == Some("SKILL.md")
    {
        let message = format!("{} may not target SKILL.md", mechanism.name);
        report.error_with_help(RULE, span_of("target"), message, "use frontmatter_field, section, list_item or patch");
    }
    class
}

/// The keys of a target: the root, what the mechanism needs, and what it may have.
fn target_fields(mechanism: &Mechanism) -> Vec<&'static str> {
    let optional = match mechanism.name {
        "list_item" => Some("contains"),
        "reference" => Some("remove"),
        _ => None,
    };
    ["skill_root", mechanism.required_key].into_iter().chain(optional).collect()
}

fn check_target(
    report: &mut Report<'_>,
    mechanism: &Mechanism,
    target: Option<&Node<'_>>,
    outer: Span,
    skill_paths: &[String],
) {
    let span = target.map_or(outer, |target| target.span);
    let field = |key: &str| target.and_then(|target| target.get(key));
    if let Some(target) = target {
        report.closed(Level::Strict, RULE, target, &target_fields(mechanism), "target ");
    }
    let words = ["both", "pointer", "content"];
    if let Some(remove) = field("remove").filter(|remove| !remove.as_str().is_some_and(|word| words.contains(&word))) {
        report.strict(RULE, remove.span, format!("target remove must be one of {}", words.join(", ")));
    }
    match field("skill_root").filter(|root| !root.is_null()) {
        None if skill_paths.len() != 1 => {
            let message =
                format!("component target missing skill_root (the suite has {} skill_paths)", skill_paths.len());
            report.error(RULE, span, message);
        }
        Some(root) if !root.as_str().is_some_and(|root| skill_paths.iter().any(|path| path == root)) => {
            report.error(RULE, root.span, format!("skill_root {} is not in skill_paths", root.python_repr()));
        }
        _ => {}
    }
    if !field(mechanism.required_key).is_some_and(Node::is_truthy) {
        let message = format!("{} target missing {}", mechanism.name, python::repr_str(mechanism.required_key));
        report.error(RULE, span, message);
    }
    for key in ["path", "patch"] {
        let Some(value) = field(key).filter(|value| value.is_truthy()) else { continue };
        if value.as_str().and_then(safe_relative).is_none() {
            let message = format!("unsafe path (absolute or traversal): {}", value.python_repr());
            report.error(RULE, value.span, message);
        }
    }
}

/// Warns of expected regressions that name cases or assertions which the suite does not have.
pub(super) fn warn_dangling(report: &mut Report<'_>, root: &Node<'_>, cases: &[Case]) {
    let ids: HashSet<&str> = cases.iter().map(|case| case.id.as_str()).collect();
    let labels: HashSet<&str> =
        cases.iter().flat_map(|case| &case.assertions).map(|assertion| assertion.label.as_str()).collect();
    for ablation in root.get("ablations").and_then(Node::items).unwrap_or_default() {
        let id = ablation.get("id").map(Node::python_str).unwrap_or_default();
        let mut report = report.at(format!("ablation {id}"));
        let entries = ablation.get("expected_regressions").and_then(Node::items).unwrap_or_default();
        for entry in entries {
            for (key, what, known) in [("cases", "case", &ids), ("assertions", "assertion", &labels)] {
                for name in entry.get(key).and_then(Node::items).unwrap_or_default() {
                    if let Some(text) = name.as_str().filter(|text| !known.contains(text)) {
                        let message =
                            format!("expected_regressions names an unknown {what} {}", python::repr_str(text));
                        report.warn(RULE, name.span, message);
                    }
                }
            }
        }
    }
}
