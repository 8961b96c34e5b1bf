//! Every code that a user may meet stands in `docs/codes.md`.

use std::fs;

use crate::support::repository;

/// The files whose enums give the codes their spelling.
const SOURCES: [&str; 16] = [
    "src/analyze/completeness.rs",
    "src/analyze/gate/codes.rs",
    "src/analyze/gate/quality.rs",
    "src/analyze/telemetry/compare.rs",
    "runner-shims/contract/src/reason.rs",
    "src/runs/warning.rs",
    "src/runs/ending.rs",
    "src/runs/migrate/problem.rs",
    "src/skill/profile.rs",
    "src/grade/stored/facts.rs",
    "src/suite/one_arm.rs",
    "src/analyze/flags.rs",
    "src/analyze/sanity.rs",
    "src/runs/claims/note.rs",
    "src/runs/claims/checking.rs",
    "src/feedback/note.rs",
];

/// Names of metrics stand beside the reasons; they are no codes.
const METRICS: [&str; 2] = ["objective_pass_rate", "graded_score"];

fn codes(source: &str) -> Vec<&str> {
    let arms = source.lines().filter_map(|line| line.trim().strip_prefix("Self::")?.split_once(" => \""));
    let codes = arms.filter_map(|(_, code)| code.strip_suffix("\",").or_else(|| code.strip_suffix("\".to_owned(),")));
    codes.filter(|code| !METRICS.contains(code)).collect()
}

#[test]
fn every_code_is_documented() {
    let documented = fs::read_to_string(repository("docs/codes.md")).unwrap();
    let mut seen = 0;
    for path in SOURCES {
        let source = fs::read_to_string(repository(path)).unwrap();
        let codes = codes(&source);
        assert!(codes.len() > 2, "{path} gives no code its spelling any more");
        seen += codes.len();
        let missing: Vec<_> = codes.iter().filter(|code| !documented.contains(&format!("`{code}`"))).collect();
        assert!(missing.is_empty(), "{path}: {missing:?}");
    }
    assert!(seen > 80, "{seen}");
}
