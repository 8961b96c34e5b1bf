//! Trees on the disk: what is changed, what is left alone, and what an interruption leaves behind.

use std::collections::BTreeMap;
use std::ops::Add;
use std::os::unix::fs::{PermissionsExt, symlink};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::*;

const SIDECAR_BYTES: u64 = 20_000;

struct Tree(TempDir);

impl Tree {
    fn new(files: &[(&str, &str)]) -> Self {
        let tree = Self(tempfile::tempdir().unwrap());
        files.iter().for_each(|(path, text)| tree.write(path, text));
        tree
    }

    fn write(&self, path: &str, text: &str) {
        let place = self.0.path().join(path);
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        fs::write(place, text).unwrap();
    }

    fn read(&self, path: &str) -> String {
        fs::read_to_string(self.0.path().join(path)).unwrap()
    }

    fn json(&self, path: &str) -> Value {
        serde_json::from_str(&self.read(path)).unwrap()
    }

    /// Every regular file with its bytes.
    fn files(&self) -> BTreeMap<String, Vec<u8>> {
        let mut files = BTreeMap::new();
        let mut folders = vec![self.0.path().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let entry = entry.unwrap();
                if entry.file_type().unwrap().is_dir() {
                    folders.push(entry.path());
                } else if entry.file_type().unwrap().is_file() {
                    let name = entry.path().strip_prefix(self.0.path()).unwrap().display().to_string();
                    files.insert(name, fs::read(entry.path()).unwrap());
                }
            }
        }
        files
    }

    fn migrate(&self, dry_run: bool) -> Migration {
        let limits = Limits { sidecar_bytes: SIDECAR_BYTES, directory_entries: 20, ..Limits::default() };
        migrate(self.0.path(), &MigrationOptions { dry_run, limits, ..MigrationOptions::default() }, &|_, _| {})
            .unwrap()
    }

    /// The changed directories without the root, and code and path of what was left alone.
    fn seen(&self, migration: &Migration) -> (Vec<String>, Vec<(&'static str, String)>) {
        let below = |path: &str| {
            let root = self.0.path().display().to_string();
            path.strip_prefix(&root).unwrap().trim_start_matches('/').to_owned()
        };
        let problems = migration.unreadable.iter().chain(&migration.refused).chain(&migration.failed);
        (
            migration.changed.iter().map(|path| below(path)).collect(),
            problems.map(|problem| (problem.why.code(), below(&problem.path))).collect(),
        )
    }
}

const RUN: &str = "c1/with_skill/metadata.json";

#[test]
fn both_files_get_the_same_envelope_and_keep_everything_else() {
    let metadata =
        "{\n  \"returncode\": 0,\n  \"usage\": {\"total_tokens\": 5, \"x\": 1.50},\n  \"cost_usd\": 0.50\n}\n";
    let tree = Tree::new(&[(RUN, metadata), ("c1/with_skill/metrics.json", r#"{"commands":2}"#)]);
    fs::set_permissions(tree.0.path().join(RUN), fs::Permissions::from_mode(0o600)).unwrap();
    let before = tree.files();
    let dry = tree.migrate(true);
    assert_eq!(tree.seen(&dry), (vec!["c1/with_skill".to_owned()], vec![]));
    assert_eq!(tree.files(), before);

    let migration = tree.migrate(false);
    assert_eq!((migration.seen, migration.unchanged, migration.changed), (1, 0, dry.changed));
    let text = tree.read(RUN);
    assert!(
        text.starts_with(&format!("{},\n  \"telemetry_schema_version\": 3,\n", metadata.trim_end_matches("\n}\n")))
    );
    let [metadata, metrics] = [RUN, "c1/with_skill/metrics.json"].map(|path| tree.json(path));
    assert_eq!(metadata["telemetry"], metrics["telemetry"]);
    assert_eq!(metadata["telemetry"]["measurements"]["total_tokens"]["value"], 5);
    assert_eq!(metadata["telemetry"]["measurements"]["commands"]["value"], 2);
    // neither block says that something is missing that is there
    assert_eq!((&metadata["cost_normalized"], &metadata["usage_normalized"]), (&Value::Null, &Value::Null));
    assert_eq!(fs::metadata(tree.0.path().join(RUN)).unwrap().permissions().mode() & 0o777, 0o600);

    let after = tree.files();
    let again = tree.migrate(false);
    assert_eq!((again.changed.len(), again.unchanged), (0, 1));
    assert_eq!(tree.files(), after);
}

#[test]
fn blocks_say_that_nothing_was_measured_only_when_that_is_so() {
    let tree = Tree::new(&[(RUN, r#"{"usage": {"total_tokens": 1}}"#), ("c2/with_skill/metrics.json", "{}")]);
    tree.migrate(false);
    let metadata = tree.json(RUN);
    assert_eq!(metadata["usage_normalized"], Value::Null);
    assert_eq!(metadata["cost_normalized"], json!({"source": "missing"}));
    let metrics = tree.json("c2/with_skill/metrics.json");
    assert_eq!(metrics["usage_normalized"], json!({"source": "missing"}));
    let keys: Vec<&String> = metrics.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["usage_normalized", "cost_normalized", "telemetry_schema_version", "telemetry"]);
    // a block of one file is not contradicted by the other one
    let block = r#"{"usage_normalized": {"cache_read_tokens": 4, "total_tokens": 9, "source": "provider_reported"}}"#;
    let tree = Tree::new(&[(RUN, block), ("c1/with_skill/metrics.json", "{}")]);
    tree.migrate(false);
    assert_eq!(tree.json("c1/with_skill/metrics.json")["usage_normalized"], Value::Null);
}

#[test]
fn a_file_that_is_not_there_is_made_and_hides_nothing() {
    // the files between the two count before the first and after the last
    let tree = Tree::new(&[
        (RUN, r#"{"total_tokens": 10, "elapsed_seconds": 5, "model": "m"}"#),
        ("c1/with_skill/timing.json", r#"{"total_tokens": 20, "elapsed_seconds": 7}"#),
        ("c2/with_skill/metrics.json", r#"{"model": "m", "total_tokens": 3}"#),
        ("c2/with_skill/timing.json", r#"{"effort": "high", "total_tokens": 2}"#),
    ]);
    tree.migrate(false);
    let metrics = tree.json("c1/with_skill/metrics.json");
    assert_eq!(metrics["telemetry"]["measurements"]["total_tokens"]["value"], 20);
    assert_eq!((&metrics["elapsed_seconds"], &metrics["model"]), (&Value::Null, &Value::Null));
    // the row of a report shows the first file: so far that was timing.json
    let metadata = tree.json("c2/with_skill/metadata.json");
    assert_eq!((&metadata["effort"], &metadata["total_tokens"]), (&json!("high"), &json!(2)));
    assert_eq!(metadata["telemetry"]["measurements"]["total_tokens"]["value"], 3);
    assert_eq!(tree.json("c2/with_skill/timing.json"), json!({"effort": "high", "total_tokens": 2}));
}

#[test]
fn an_envelope_that_is_there_is_only_copied() {
    let envelope = r#"{"schema_version":3,"measurements":{"cost":{"availability":"available","value":{"amount":"1.0","currency":"EUR"},"provenance":"provider_reported"}}}"#;
    let file = format!(r#"{{"cost_usd":9,"telemetry":{envelope}}}"#);
    let tree = Tree::new(&[(RUN, &file)]);
    tree.migrate(false);
    assert!(tree.read("c1/with_skill/metrics.json").contains(envelope));
    assert!(tree.read(RUN).contains(envelope));
    assert_eq!(tree.json(RUN)["cost_normalized"], Value::Null);
    // two that differ stay as they are: the last one is what is read
    let other = file.replace("1.0", "2.0");
    let version = |file: &str| {
        file.replace(
            "{\"cost_usd\"",
            "{\"telemetry_schema_version\":3,\"usage_normalized\":{\"source\":\"missing\"},\"cost_usd\"",
        )
    };
    let tree = Tree::new(&[(RUN, &version(&file)), ("c1/with_skill/metrics.json", &version(&other))]);
    assert_eq!(tree.migrate(false).unchanged, 1);
}

#[test]
fn what_cannot_be_read_is_left_alone_and_named() {
    let large = format!("{{\"a\":\"{}\"}}", "x".repeat(SIDECAR_BYTES as usize));
    let tree = Tree::new(&[
        ("a/broken/metadata.json", "{"),
        ("a/broken/metrics.json", "{}"),
        ("a/list/metrics.json", "[1]"),
        ("a/large/metadata.json", &large),
        ("a/nearly/metadata.json", &large[..large.len() - 20].to_owned().add("\"}")),
        ("a/timing/metadata.json", "{}"),
        ("a/timing/timing.json", "{\"a\":1,\"a\":2}"),
        ("a/folder/metadata.json/x", "x"),
        ("a/other/metadata.json", r#"{"telemetry": {"schema_version": 2}}"#),
        ("a/committed/metadata.json", "{}"),
        ("a/committed/artifact-commit.json", "{}"),
        ("a/committed/turn-1/metadata.json", "{}"),
        ("a/linked/real.json", "{}"),
        ("a/fine/metadata.json", "{\"telemetry\": null}"),
        ("outside.json", "{}"),
    ]);
    (0..21).for_each(|n| tree.write(&format!("many/{n}/metadata.json"), "{}"));
    let root = tree.0.path();
    symlink("real.json", root.join("a/linked/metadata.json")).unwrap();
    fs::create_dir(root.join("a/leaving")).unwrap();
    symlink("../../outside.json", root.join("a/leaving/metadata.json")).unwrap();
    let elsewhere = Tree::new(&[("x/metadata.json", "{}")]);
    symlink(elsewhere.0.path(), root.join("a/zz")).unwrap();
    symlink("fine", root.join("a/again")).unwrap();

    let before = tree.files();
    let migration = tree.migrate(false);
    let (changed, problems) = tree.seen(&migration);
    assert_eq!(changed, ["a/fine"]);
    let expected = [
        ("invalid_json", "a/broken/metadata.json"),
        ("not_a_file", "a/folder/metadata.json"),
        ("too_large", "a/large/metadata.json"),
        ("not_an_object", "a/list/metrics.json"),
        ("too_large", "a/nearly/metadata.json"),
        ("invalid_json", "a/timing/timing.json"),
        ("too_many_entries", "many"),
        ("committed_run", "a/committed/artifact-commit.json"),
        ("link_refused", "a/leaving/metadata.json"),
        ("is_a_link", "a/linked/metadata.json"),
        ("unknown_telemetry", "a/other/metadata.json"),
        ("link_refused", "a/zz"),
    ];
    assert_eq!(problems, expected.map(|(code, path)| (code, path.to_owned())));
    assert_eq!((migration.seen, migration.unchanged), (11, 0));
    assert_eq!(migration.unreadable.len(), 7);
    let mut after = tree.files();
    after.remove("a/fine/metrics.json").unwrap();
    after.insert("a/fine/metadata.json".to_owned(), before["a/fine/metadata.json"].clone());
    assert_eq!(after, before);
    assert_eq!(elsewhere.files().len(), 1);
}

#[test]
fn what_the_agent_made_is_no_run() {
    let tree = Tree::new(&[
        ("c/with_skill/output.md", "done"),
        ("c/with_skill/metadata.json", "{}"),
        ("c/with_skill/package/metadata.json", r#"{"title": "mine"}"#),
        ("c/without_skill/outputs/metadata.json", r#"{"title": "mine"}"#),
        ("c/without_skill/outputs/metrics.json", r#"{"total_tokens": 4}"#),
        ("c/old_skill/output.md", "x"),
        ("c/old_skill/run-2/metadata.json", "{}"),
        ("c/old_skill/run-2/turn-1/metrics.json", "{}"),
        ("metadata.json", "{}"),
    ]);
    let migration = tree.migrate(false);
    let (changed, problems) = tree.seen(&migration);
    assert_eq!(changed, ["", "c/old_skill/run-2", "c/old_skill/run-2/turn-1", "c/with_skill"]);
    assert_eq!(problems, []);
    assert_eq!(tree.read("c/with_skill/package/metadata.json"), r#"{"title": "mine"}"#);
    assert!(!tree.0.path().join("c/without_skill/metadata.json").exists());
}

#[test]
fn directories_are_named_in_the_order_of_their_components() {
    let tree = Tree::new(&[("b/metadata.json", "{}"), ("a-b/metadata.json", "{}"), ("a/b/metadata.json", "{}")]);
    let (changed, _) = tree.seen(&tree.migrate(true));
    // as version 0.6 sorts them
    assert_eq!(changed, ["a/b", "a-b", "b"]);
}

/// Whatever of the two files had got its name when a migration was killed, and whatever lay beside them: the next one
/// ends where the first would have.
#[test]
fn an_interrupted_migration_is_finished_by_the_next_one() {
    let metadata = r#"{"total_tokens": 10, "trace_observation_complete": true, "commands": 1, "model": "m"}"#;
    let metrics = r#"{"usage": {"input_tokens": 3}, "cost_usd": 0.25}"#;
    let starts = [
        vec![(RUN, metadata)],
        vec![("c1/with_skill/metrics.json", metrics)],
        vec![(RUN, metadata), ("c1/with_skill/metrics.json", metrics)],
    ];
    // the number of a process that cannot be there: numbers end below it
    let gone = "4194305";
    for start in starts {
        let finished = Tree::new(&start);
        finished.migrate(false);
        let names = [RUN, "c1/with_skill/metrics.json"];
        for written in 0..4_u8 {
            let tree = Tree::new(&start);
            for (index, name) in names.iter().enumerate() {
                if written & (1 << index) != 0 {
                    tree.write(name, &finished.read(name));
                }
            }
            tree.write(&format!("c1/with_skill/.metadata.json.{gone}-0.tmp"), "{\"half");
            tree.write(&format!("c1/with_skill/.metrics.json.{gone}-1.tmp"), "");
            // that of a writer at work is its own
            let at_work = format!("c1/with_skill/.metrics.json.{}-7.tmp", std::process::id());
            tree.write(&at_work, "");
            let before = tree.files();
            assert_eq!(tree.migrate(true).leftovers_removed, 0);
            assert_eq!(tree.files(), before);
            assert_eq!(tree.migrate(false).leftovers_removed, 2);
            fs::remove_file(tree.0.path().join(at_work)).unwrap();
            for name in names {
                assert_eq!(tree.json(name), finished.json(name), "{written} {name}");
            }
            assert_eq!(tree.files().len(), 2);
            assert_eq!(tree.migrate(false).unchanged, 1);
        }
    }
}

#[test]
fn a_root_that_is_none_is_refused() {
    let tree = Tree::new(&[("file", "")]);
    let refused = |path: &str| {
        let root = tree.0.path().join(path);
        migrate(&root, &MigrationOptions::default(), &|_, _| {}).unwrap_err().to_string()
    };
    assert!(refused("gone").starts_with("runs directory does not exist: "));
    assert!(refused("file").starts_with("not a directory: "));
}
