//! Which dialect a file is written in, from what it holds.

use std::path::Path;

use super::container::{self, is_single_case};
use crate::json::Node;
use crate::suite::model::Dialect;

/// Keys that only a `shared-benchmark` manifest has. A file with one of them is such a manifest, however broken.
const MANIFEST_KEYS: [&str; 8] = [
    "skill_paths",
    "variants",
    "optional_variants",
    "old_skill_paths",
    "ablations",
    "datasets",
    "dataset_files",
    "jetty",
];

/// The dialect of a file that cannot be read, from its name.
pub(in crate::suite) fn expected(path: &Path) -> Dialect {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    if is_named_like_evals(&name) { Dialect::SkillCreator } else { Dialect::SharedBenchmark }
}

fn is_named_like_evals(name: &str) -> bool {
    name.starts_with("eval") || name.starts_with("trigger")
}

/// The dialect of a file. What is no suite of any dialect is left to the messages of `shared-benchmark`.
pub(in crate::suite) fn detect(root: &Node<'_>, path: &Path) -> Dialect {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    if name == "shared-benchmark.json" {
        return Dialect::SharedBenchmark;
    }
    if let Some(items) = root.items() {
        // an empty list says nothing of its form, so that its name must
        let is_suite = match items {
            [] => is_named_like_evals(&name),
            items => items.iter().any(|item| item.members().is_some()),
        };
        return if is_suite { Dialect::SkillCreator } else { Dialect::SharedBenchmark };
    }
    if is_manifest(root) {
        return Dialect::SharedBenchmark;
    }
    if let Some(evals) = root.get("evals") {
        return of_evals(root, evals.items().unwrap_or_default());
    }
    let has_list = |key: &str| root.get(key).and_then(Node::items).is_some();
    let has_prompt = |case: &Node<'_>| container::prompt(case).is_some();
    let has_cases = root.get("cases").and_then(Node::items).is_some_and(|cases| cases.iter().any(has_prompt));
    if has_cases || has_list("test_cases") || has_list("queries") || is_single_case(root) {
        Dialect::SkillCreator
    } else {
        Dialect::SharedBenchmark
    }
}

fn is_manifest(root: &Node<'_>) -> bool {
    let cases = root.get("cases").and_then(Node::items).unwrap_or_default();
    let has_version = root.get("version").is_some_and(|version| version.as_number().is_some());
    MANIFEST_KEYS.into_iter().any(|key| root.get(key).is_some())
        || cases.iter().any(|case| case.get("split").is_some())
        || has_version && (root.get("evals").is_none() || root.get("cases").is_some())
}

fn of_evals(root: &Node<'_>, evals: &[Node<'_>]) -> Dialect {
    let is_shared = root.get("common_assertions").is_some() || root.get("scoring").is_some();
    let mut ids = evals.iter().filter_map(|case| case.get("id")).peekable();
    if is_shared && (evals.is_empty() || ids.peek().is_some()) && ids.all(|id| id.as_str().is_some()) {
        return Dialect::SkillEval;
    }
    let is_forge = |case: &Node<'_>| {
        let assertions = case.get("assertions").and_then(Node::items).unwrap_or_default();
        let has_check = |assertion: &Node<'_>| assertion.get("check").is_some_and(|check| check.as_str().is_some());
        case.get("eval_id").is_some() && assertions.iter().any(has_check)
    };
    if evals.iter().any(is_forge) { Dialect::SkillForge } else { Dialect::SkillCreator }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::{Limits, parse};

    fn named(name: &str, text: &str) -> &'static str {
        detect(&parse(text, Limits::SUITE).unwrap(), Path::new(name)).name()
    }

    #[test]
    fn the_content_decides() {
        let of = |text: &str| named("evals.json", text);
        assert_eq!(of(r#"{"evals": []}"#), "skill-creator");
        assert_eq!(of(r#"{"evals": {}}"#), "skill-creator");
        assert_eq!(of(r#"{"version": "1.0", "cases": [{"task": "t"}]}"#), "skill-creator");
        assert_eq!(of(r#"{"version": 2, "evals": [{"prompt": "t"}]}"#), "skill-creator");
        assert_eq!(of(r#"[{"title": "x"}]"#), "skill-creator");
        assert_eq!(of(r#"{"id": "x", "question": "q"}"#), "skill-creator");
        assert_eq!(of(r#"{"common_assertions": [], "evals": [{"id": "a"}]}"#), "skill-eval");
        assert_eq!(of(r#"{"scoring": {}, "evals": [{"id": "a"}]}"#), "skill-eval");
        assert_eq!(of(r#"{"scoring": {}, "evals": []}"#), "skill-eval");
        assert_eq!(of(r#"{"scoring": {}, "evals": [{"id": "a"}, {"prompt": "p"}]}"#), "skill-eval");
        assert_eq!(of(r#"{"scoring": {}, "evals": [{"id": 1}]}"#), "skill-creator");
        assert_eq!(of(r#"{"scoring": {}, "evals": [{"prompt": "p"}]}"#), "skill-creator");
        let forge = r#"{"evals": [{"eval_id": 0, "assertions": [{"name": "n", "check": "c"}]}]}"#;
        assert_eq!(of(forge), "skill-forge");
        let traced = r#"{"evals": [{"eval_id": 0, "assertions": [{"text": "n", "check": {"kind": "no_writes"}}]}]}"#;
        assert_eq!(of(traced), "skill-creator");
    }

    #[test]
    fn a_manifest_stays_one_however_broken() {
        for text in [
            r#"{"version": 2, "skill_name": "s"}"#,
            r#"{"version": 1, "cases": [{"id": "c", "prompt": "p"}]}"#,
            r#"{"skill_paths": 7, "evals": []}"#,
            r#"{"cases": [{"id": "c", "split": null, "prompt": "p"}]}"#,
            r#"{"variants": ["a"], "cases": []}"#,
            r#"{"ablations": [], "cases": [{"prompt": "p"}]}"#,
            r#"{"skill_name": "s", "cases": []}"#,
            r#"{"cases": [{"id": "c"}]}"#,
            r#"{"prompt": "p"}"#,
            r#"{"requirements": []}"#,
            "{}",
            "[1]",
            "7",
        ] {
            assert_eq!(named("manifest.json", text), "shared-benchmark", "{text}");
        }
        assert_eq!(named("manifest.json", "[]"), "shared-benchmark");
        assert_eq!(named("evals-2.json", "[]"), "skill-creator");
        assert_eq!(named("shared-benchmark.json", r#"{"evals": [{"prompt": "p"}]}"#), "shared-benchmark");
    }
}
