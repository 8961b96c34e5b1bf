//! The fields of the suite as a whole.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use skill_lift_text::python;

use super::assertion::span_of;
use super::report::Report;
use super::shape;
use crate::json::{Node, Span};

const SHAPE: &str = "top-level-shape";
const KNOWN: [&str; 16] = [
    "version",
    "skill_name",
    "skill_paths",
    "variants",
    "optional_variants",
    "old_skill_paths",
    "judge",
    "datasets",
    "dataset_files",
    "cases",
    "ablations",
    "jetty",
    "harness",
    "split_policy",
    "notes",
    "description",
];

/// The arms that every suite has.
pub(super) const DEFAULT_VARIANTS: [&str; 2] = ["with_skill", "without_skill"];

/// What the fields of the suite say.
pub(super) struct Top {
    pub(super) version: u8,
    pub(super) skill_name: String,
    pub(super) skill_paths: Vec<String>,
    pub(super) variants: Vec<String>,
    /// Every name that a variant filter may use.
    pub(super) arms: HashSet<String>,
}

/// Reads the fields before datasets and cases.
pub(super) fn read(report: &mut Report<'_>, root: &Node<'_>) -> Top {
    report.near_misses(root, &KNOWN);
    let version = root.get("version").and_then(shape::count).filter(|version| matches!(version, 1 | 2));
    if version.is_none() {
        report.error("version-form", span_of(root, "version"), "manifest.version must be one of [1, 2]");
    }
    let skill_name = root.get("skill_name").and_then(shape::text);
    if skill_name.is_none() {
        let message = "manifest.skill_name is required, a non-empty string";
        report.error(SHAPE, span_of(root, "skill_name"), message);
    }
    let skill_paths = read_skill_paths(report, root);
    let declared: HashSet<String> = root
        .get("ablations")
        .and_then(Node::items)
        .unwrap_or_default()
        .iter()
        .filter_map(|ablation| Some(format!("ablation:{}", ablation.get("id")?.as_str()?)))
        .collect();
    let variants = read_variants(report, root, &declared);
    let optional = read_optional_variants(report, root);
    let old_skill_paths = root.get("old_skill_paths");
    let must = "manifest.old_skill_paths must be a list of non-empty strings";
    report.optional(root, "old_skill_paths", "old-skill-paths", shape::filled_strings, must);
    if let Some(judge) = root.get("judge").filter(|judge| !judge.is_null()) {
        check_judge(report, judge);
    }
    let mut arms = declared;
    arms.extend(variants.iter().cloned());
    arms.extend(optional);
    if old_skill_paths.is_some_and(Node::is_truthy) {
        arms.insert("old_skill".to_owned());
    }
    Top {
        version: if version == Some(1) { 1 } else { 2 },
        skill_name: skill_name.unwrap_or_default().to_owned(),
        skill_paths,
        variants,
        arms,
    }
}

fn read_skill_paths(report: &mut Report<'_>, root: &Node<'_>) -> Vec<String> {
    let Some(paths) = root.get("skill_paths").and_then(shape::strings).filter(|paths| !paths.is_empty()) else {
        let message = "manifest.skill_paths must be a non-empty list of strings";
        report.error(SHAPE, span_of(root, "skill_paths"), message);
        return Vec::new();
    };
    if paths.iter().any(String::is_empty) {
        report.error("empty-skill-path", span_of(root, "skill_paths"), "manifest.skill_paths holds an empty path");
    }
    paths
}

fn read_variants(report: &mut Report<'_>, root: &Node<'_>, ablations: &HashSet<String>) -> Vec<String> {
    let rule = "variant-names";
    let default = || DEFAULT_VARIANTS.map(str::to_owned).to_vec();
    let must = "manifest.variants must be a non-empty list of strings";
    let Some(names) = report.optional(root, "variants", rule, shape::texts, must) else { return default() };
    let span = span_of(root, "variants");
    if let Some(name) = shape::repeated(&names) {
        report.error(rule, span, format!("manifest.variants names {} twice", python::repr_str(name)));
    }
    let known = |name: &&String| {
        DEFAULT_VARIANTS.contains(&name.as_str()) || *name == "old_skill" || ablations.contains(name.as_str())
    };
    if let Some(name) = names.iter().find(|name| !known(name)) {
        let message = format!("manifest.variants names {}, which is no arm of this suite", python::repr_str(name));
        let help = "the arms are with_skill, without_skill, old_skill and ablation:<id> of a declared ablation";
        report.error_with_help(rule, span, message, help);
    }
    if names.len() != 2 || !DEFAULT_VARIANTS.iter().all(|name| names.iter().any(|written| written == name)) {
        report.strict(rule, span, "manifest.variants is not the pair with_skill and without_skill");
    }
    names
}

fn read_optional_variants(report: &mut Report<'_>, root: &Node<'_>) -> Vec<String> {
    let rule = "optional-variants";
    let Some(node) = root.get("optional_variants").filter(|node| node.is_truthy()) else { return Vec::new() };
    let must = "manifest.optional_variants must be a list of strings";
    let names = report.optional(root, "optional_variants", rule, shape::strings, must).unwrap_or_default();
    if let Some(name) = names.iter().find(|name| *name != "old_skill") {
        report.strict(rule, node.span, format!("manifest.optional_variants names {}", python::repr_str(name)));
    }
    names
}

fn check_judge(report: &mut Report<'_>, judge: &Node<'_>) {
    if judge.members().is_none() {
        report.error(SHAPE, judge.span, "manifest.judge must be an object, like {\"model\": \"...\"}");
        return;
    }
    report.near_misses(judge, &["model", "schema_enforcement", "panel", "models"]);
    report.optional(judge, "model", SHAPE, shape::text, "manifest.judge.model must be a non-empty string");
    let word = |node: &Node<'_>| node.as_str().filter(|word| matches!(*word, "report" | "strict")).map(|_| ());
    let must = "manifest.judge.schema_enforcement must be \"report\" or \"strict\"";
    report.optional(judge, "schema_enforcement", SHAPE, word, must);
    for key in ["panel", "models"] {
        let must = format!("manifest.judge.{key} must be a non-empty list of non-empty strings");
        let names = report.optional(judge, key, SHAPE, shape::texts, &must).unwrap_or_default();
        if let Some(name) = shape::repeated(&names) {
            let message = format!("manifest.judge.{key} names {} twice", python::repr_str(name));
            report.error("panel-unique", span_of(judge, key), message);
        }
    }
    if judge.get("panel").is_some() && judge.get("models").is_some() {
        let message = "manifest.judge sets both `panel` and `models`; `panel` is used";
        report.strict("panel-unique", span_of(judge, "models"), message);
    }
}

/// Checks the fields whose place in the order is after the cases.
pub(super) fn check_rest(report: &mut Report<'_>, root: &Node<'_>) {
    report.optional(root, "jetty", "jetty-shape", shape::object, "manifest.jetty must be an object");
    if let Some(harness) = root.get("harness").filter(|harness| harness.members().is_none()) {
        report.warn(SHAPE, harness.span, "manifest.harness is not an object");
    }
}

/// Warns of skill paths that are missing, outside the repository or that overlap.
pub(super) fn warn_skill_paths(report: &mut Report<'_>, root: &Node<'_>, repository_root: &Path) {
    let rule = "missing-file";
    let mut folders: Vec<(&str, PathBuf)> = Vec::new();
    for node in root.get("skill_paths").and_then(Node::items).unwrap_or_default() {
        let Some(path) = node.as_str() else { continue };
        let Ok(real_path) = repository_root.join(path).canonicalize() else {
            report.warn(rule, node.span, format!("skill path does not exist: {path}"));
            continue;
        };
        if !real_path.starts_with(repository_root) {
            report.warn("external-path", node.span, format!("skill path leads out of the repository: {path}"));
        }
        let folder = if real_path.is_dir() { Some(real_path.as_path()) } else { real_path.parent() };
        let Some(folder) = folder else { continue };
        let overlaps = |other: &Path| other.starts_with(folder) || folder.starts_with(other);
        if let Some((other, _)) = folders.iter().find(|(_, other)| overlaps(other)) {
            report.warn("external-path", node.span, format!("skill paths {other} and {path} overlap"));
        }
        folders.push((path, folder.to_owned()));
    }
}

/// Refuses a suite without the list of cases, and gives the list.
pub(super) fn cases<'n, 'a>(report: &mut Report<'_>, root: &'n Node<'a>) -> &'n [Node<'a>] {
    let must = "manifest.cases must be a list";
    let cases = report.optional(root, "cases", SHAPE, shape::items, must);
    let is_list = root.get("cases").is_none_or(|cases| cases.items().is_some());
    if is_list && cases.is_none_or(<[_]>::is_empty) {
        let span =
            root.get("cases").map_or(Span { start: root.span.start, end: root.span.start + 1 }, |node| node.span);
        report.warn(SHAPE, span, "the suite has no cases");
    }
    cases.unwrap_or_default()
}
