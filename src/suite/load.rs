//! Reads a suite file with everything it refers to, and says all that is wrong with it at once.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use skill_lift_text::python;

use super::dataset_files::dataset_texts;
use super::datasets::{Budget, Datasets, FileRows};
use super::diagnostic::{Diagnostic, Diagnostics, Level, SourceText};
use super::environment::{Environment, Patterns};
use super::files::FileLookup;
use super::model::{Case, Dialect, Split, Suite};
use super::report::Report;
use super::script::OracleTrees;
use super::{ablation, case, digest, evals, one_arm, top};
use crate::json::{self, JsonErrorKind, Limits, Node, Span};

/// How a suite is read.
#[derive(Debug, Clone)]
pub struct LoadOptions {
    /// Absent prompt and input files of hidden cases are errors.
    pub strict_holdback: bool,
    /// Files outside the folder of the suite are warnings instead of errors.
    pub allow_external_files: bool,
    /// Rules of the strict contract are errors instead of warnings.
    pub strict_contract: bool,
    /// A suite or dataset file larger than this is refused.
    pub max_bytes: u64,
    /// The part of the suite whose files enter its digest; all of it when absent.
    pub split: Option<Split>,
    /// The format of the file; found out from its content when absent.
    pub dialect: Option<Dialect>,
}

impl Default for LoadOptions {
    fn default() -> Self {
        Self {
            strict_holdback: false,
            allow_external_files: false,
            strict_contract: false,
            max_bytes: 64 << 20,
            split: None,
            dialect: None,
        }
    }
}

/// What came of reading a suite.
#[derive(Debug)]
pub struct Loaded {
    /// The suite, unless it has an error.
    pub suite: Option<Suite>,
    /// Errors and warnings.
    pub diagnostics: Diagnostics,
    /// The format that the file was read as.
    pub dialect: Dialect,
}

/// Templates may make this many cases.
const MAX_CASES: usize = 1_000_000;
/// Templates may make this many bytes of text.
const MAX_EXPANDED_BYTES: usize = 256 << 20;

/// Reads a suite and checks it.
pub fn load(path: &Path, options: &LoadOptions) -> Loaded {
    let mut diagnostics = Diagnostics::default();
    let mut dialect = options.dialect.unwrap_or_else(|| evals::expected(path));
    let mut suite = load_into(&mut diagnostics, path, options, &mut dialect);
    if let Some(suite) = &mut suite {
        one_arm::mark(&mut suite.cases, &suite.skill_paths);
    }
    if options.strict_contract {
        diagnostics.make_strict();
    }
    Loaded { suite: suite.filter(|_| !diagnostics.has_errors()), diagnostics, dialect }
}

fn refuse(diagnostics: &mut Diagnostics, rule: &'static str, message: String) {
    let (place, help, source) = (String::new(), None, None);
    diagnostics.push(Diagnostic { level: Level::Error, rule, place, message, help, source });
}

fn load_into(
    diagnostics: &mut Diagnostics,
    path: &Path,
    options: &LoadOptions,
    dialect: &mut Dialect,
) -> Option<Suite> {
    let extension = path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
    if matches!(extension.as_str(), "yaml" | "yml") {
        let message = format!("suites in YAML are not read yet, write {} as JSON", path.display());
        refuse(diagnostics, "top-level-shape", message);
        return None;
    }
    let text = match read_text(path, options.max_bytes) {
        Ok(text) => text,
        Err(message) => {
            refuse(diagnostics, "missing-file", message);
            return None;
        }
    };
    let folder = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    };
    let Some((directory, repository_root)) = roots(path, &folder) else {
        refuse(diagnostics, "missing-file", format!("cannot resolve the folder of {}", path.display()));
        return None;
    };
    let source = Arc::new(SourceText { name: path.display().to_string(), text });
    let document = json::read(&source.text, Limits::SUITE);
    let mut report = Report::new(diagnostics, Arc::clone(&source));
    if let (None, Some(root)) = (options.dialect, &document.root) {
        *dialect = evals::detect(root, path);
    }
    if *dialect != Dialect::SharedBenchmark {
        evals::refuse_json(&mut report, &document.errors);
        return evals::load(&mut report, &document.root?, path, directory, *dialect);
    }
    for error in &document.errors {
        let (rule, message) = json_problem(&error.kind, &error.path, &source.name);
        report.error(rule, error.span, message);
    }
    let root = document.root?;
    if root.members().is_none() {
        report.error("top-level-shape", root.span, format!("{} must contain a JSON object", source.name));
        return None;
    }
    let texts = dataset_texts(&mut report, &root, &directory, &folder, options);
    let file_rows: Vec<_> = texts.iter().map(|text| text.rows(&mut report)).collect();
    let top = top::read(&mut report, &root);
    top::warn_skill_paths(&mut report, &root, &repository_root);
    let environment = Environment {
        options: options.clone(),
        files: FileLookup::new(directory),
        repository_root,
        variants: top.variants,
        arms: top.arms,
        oracle_trees: OracleTrees::default(),
        patterns: Patterns::default(),
    };
    let cases = read_cases(&mut report, &environment, &root, &file_rows);
    let ablations = ablation::read(&mut report, &root);
    top::check_rest(&mut report, &root);
    if report.error_count() > 0 {
        return None;
    }
    ablation::warn_dangling(&mut report, &root, &cases);
    match digest::compute(&environment, &root, &file_rows, &cases, options.split) {
        Err(error) => {
            report.error("missing-file", Span::default(), error.to_string());
            None
        }
        Ok(digest) => Some(Suite {
            dialect: Dialect::SharedBenchmark,
            path: path.to_owned(),
            directory: environment.files.directory().to_owned(),
            program_directory: environment.files.directory().to_owned(),
            repository_root: environment.repository_root,
            version: Some(top.version),
            container: "cases",
            skill_name: top.skill_name,
            skill_paths: top.skill_paths,
            variants: environment.variants,
            cases,
            ablations,
            common_assertions: 0,
            scoring: None,
            digest,
        }),
    }
}

pub(super) fn read_text(path: &Path, max_bytes: u64) -> Result<String, String> {
    let shown = path.display();
    let unreadable = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => format!("no such file: {shown}"),
        io::ErrorKind::PermissionDenied => format!("no permission to read {shown}"),
        _ => format!("cannot read {shown}: {error}"),
    };
    let metadata = path.metadata().map_err(unreadable)?;
    if metadata.is_dir() {
        return Err(format!("{shown} is a folder, not a file"));
    }
    let too_large = || format!("{shown} is larger than {max_bytes} bytes; raise --max-suite-mib to read it");
    if metadata.len() > max_bytes {
        return Err(too_large());
    }
    let mut bytes = Vec::new();
    File::open(path).and_then(|file| file.take(max_bytes + 1).read_to_end(&mut bytes)).map_err(unreadable)?;
    if bytes.len() as u64 > max_bytes {
        return Err(too_large());
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        format!("{shown} is not valid UTF-8 (at byte {at})")
    })
}

/// The real paths of the folder of the suite and of the repository root.
fn roots(path: &Path, folder: &Path) -> Option<(PathBuf, PathBuf)> {
    let directory = folder.canonicalize().ok()?;
    let is_standard = path.file_name().is_some_and(|name| name == "shared-benchmark.json");
    let is_evals = |folder: &Path| folder.file_name().is_some_and(|name| name == "evals");
    let root = if is_standard && is_evals(folder) {
        folder.join("..").canonicalize().ok()?
    } else if is_standard && is_evals(&directory) {
        directory.parent()?.to_owned()
    } else {
        directory.clone()
    };
    Some((directory, root))
}

fn json_problem(kind: &JsonErrorKind, path: &str, file: &str) -> (&'static str, String) {
    let rule = match kind {
        JsonErrorKind::DuplicateKey(_) => "duplicate-key",
        JsonErrorKind::NotFinite => "non-finite",
        _ => "top-level-shape",
    };
    match kind {
        JsonErrorKind::Syntax(what) => (rule, format!("invalid JSON in {file}: {what} at {path}")),
        other => (rule, format!("{other} at {path}")),
    }
}

/// Reads the cases, each template expanded, checked and compiled row by row.
fn read_cases(
    report: &mut Report<'_>,
    environment: &Environment,
    root: &Node<'_>,
    file_rows: &[FileRows<'_>],
) -> Vec<Case> {
    let datasets = Datasets::read(report, root, file_rows);
    let nodes = top::cases(report, root);
    let template_of = |node: &Node<'_>| node.get("template").filter(|name| name.is_truthy()).map(Node::python_str);
    let mut total = 0_usize;
    let mut used = HashSet::new();
    for node in nodes {
        let Some(name) = template_of(node) else {
            total += 1;
            continue;
        };
        match datasets.get(&name) {
            Some(dataset) => total = total.saturating_add(dataset.len()),
            None => {
                let id = node.get("id").map_or_else(|| "None".to_owned(), Node::python_str);
                let message = format!("template references unknown or empty dataset {}", python::repr_str(&name));
                report.at(id).error("dataset", node.get("template").map_or(node.span, |name| name.span), message);
            }
        }
        used.insert(name);
    }
    datasets.warn_unused(report, &used);
    if total > MAX_CASES {
        let message = format!("the templates make {total} cases; at most {MAX_CASES} are read");
        report.error("dataset", root.span, message);
        return Vec::new();
    }
    let mut budget = Budget::new(MAX_EXPANDED_BYTES);
    let mut seen = HashSet::new();
    let mut cases = Vec::new();
    let mut index = 0;
    for node in nodes {
        let dataset = template_of(node).map(|name| datasets.get(&name));
        let Some(dataset) = dataset else {
            cases.extend(case::read(report, environment, node, index, &mut seen));
            index += 1;
            continue;
        };
        let Some(dataset) = dataset else { continue };
        dataset.warn_unfilled(report, node);
        for row in 0..dataset.len() {
            let Ok(expanded) = dataset.expand(node, row, &mut budget) else {
                let message = format!("the expanded cases take more than {MAX_EXPANDED_BYTES} bytes");
                report.error("dataset", node.span, message);
                return cases;
            };
            cases.extend(case::read(report, environment, &expanded, index, &mut seen));
            index += 1;
        }
    }
    cases
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::suite::{Check, OracleTier, Severity};

    struct Folder(tempfile::TempDir);

    impl Folder {
        fn new(files: &[(&str, &str)]) -> Self {
            let folder = Self(tempfile::tempdir().unwrap());
            for (path, text) in files {
                let path = folder.0.path().join(path);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, text).unwrap();
            }
            folder
        }

        fn load(&self, fields: &str, options: &LoadOptions) -> Loaded {
            let path = self.0.path().join("evals/shared-benchmark.json");
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            let head = r#""version": 2, "skill_name": "s", "skill_paths": ["SKILL.md"]"#;
            fs::write(&path, format!("{{{head}, {fields}}}")).unwrap();
            load(&path, options)
        }
    }

    fn case(fields: &str) -> String {
        format!(r#""cases": [{{"id": "c", "split": "tune", "prompt": "p", {fields}}}]"#)
    }

    fn lines(loaded: &Loaded, level: Level) -> Vec<String> {
        loaded.diagnostics.all().iter().filter(|found| found.level == level).map(Diagnostic::line).collect()
    }

    #[test]
    fn all_errors_are_found_in_the_order_of_the_checks() {
        let fields = r#"
            "judge": {"model": ""},
            "datasets": {"d": [{"a": 1}, {"a": null}]},
            "cases": [
                {"id": "a", "split": "tune", "prompt": "p", "reference_score": true,
                 "assertions": [{"type": "contains"}, {"type": "contains", "value": "x", "depends_on": "nobody"}]},
                {"split": "all"},
                {"id": "t", "split": "tune", "turns": [{"prompt": "p", "assertions": [{"type": "regex", "pattern": "x", "sevrity": 1}]}]}
            ],
            "ablations": [{"id": "Up", "removed_component": "r"}, {"id": "x", "removed_component": "r", "mechanism": "section"}]"#;
        let loaded = Folder::new(&[]).load(fields, &LoadOptions::default());
        assert!(loaded.suite.is_none());
        let expected = [
            "manifest.judge.model must be a non-empty string",
            "dataset 'd' row #2: key 'a' must be a string, a number or a boolean, since it is filled into text",
            "a: reference_score must be a number in [0, 1]",
            "a: assertion #0: contains needs a non-empty string operand",
            "a: assertion 'contains' depends_on unknown assertion 'nobody'",
            "case #1: missing string id",
            "case #1: split must be one of ['holdback', 'holdout', 'tune']",
            "t: turn #1 assertion #0: has unknown field(s): sevrity",
            "ablation 'Up': id must be a slug",
            "ablation x: section target missing 'heading'",
        ];
        assert_eq!(lines(&loaded, Level::Error), expected);
        let typo = loaded.diagnostics.errors().find(|error| error.rule == "unknown-assertion-field").unwrap();
        assert_eq!(typo.help.as_deref(), Some("did you mean `severity`?"));
        let (source, span) = typo.source.as_ref().unwrap();
        assert_eq!(&source.text[span.start..span.end], "\"sevrity\"");
    }

    #[test]
    fn templates_are_expanded_from_inline_rows_and_files() {
        let folder = Folder::new(&[("evals/rows.jsonl", "{\"id\": \"x\", \"who\": \"Ann\"}\n\n{\"who\": true}\n")]);
        let fields = r#""dataset_files": {"d": "rows.jsonl"}, "cases": [
            {"id": "t", "split": "tune", "template": "d", "prompt": "Greet {who}.",
             "assertions": [{"type": "contains", "value": "{who}!"}]}]"#;
        let suite = folder.load(fields, &LoadOptions::default()).suite.unwrap();
        let ids: Vec<_> = suite.cases.iter().map(|case| case.id.as_str()).collect();
        assert_eq!(ids, ["t-x", "t-2"]);
        assert_eq!(suite.cases[1].prompt.as_deref(), Some("Greet True."));
        assert_eq!(suite.cases[1].dataset.as_deref(), Some("d"));
        assert!(matches!(&suite.cases[0].assertions[0].check, Check::Contains { needle, .. } if needle == "Ann!"));
    }

    #[test]
    fn derived_values_of_assertions() {
        let fields = case(
            r#""reference_graded_score": 4, "assertions": [
                {"type": "factuality", "depends_on": "g"},
                {"type": "script", "name": "s", "command": "true", "atLeast": 0.5},
                {"type": "contains", "name": "g", "value": "x", "critical": true, "except_variants": ["without_skill"]}]"#,
        );
        let suite = Folder::new(&[]).load(&fields, &LoadOptions::default()).suite.unwrap();
        let case = &suite.cases[0];
        assert_eq!(case.reference_floor, Some(0.75));
        let [judged, script, contains] = case.assertions.as_slice() else { panic!("three assertions") };
        assert_eq!(
            (judged.label.as_str(), judged.severity, judged.oracle),
            ("factuality", Severity::Soft, OracleTier::Live)
        );
        let Check::Judgement { assertion } = &judged.check else { panic!("a judgement") };
        assert_eq!(assertion.get("threshold").unwrap().python_repr(), "4");
        assert_eq!(assertion.get("rubric").unwrap().items().unwrap().len(), 4);
        assert_eq!((script.severity, script.oracle, script.at_least), (Severity::Soft, OracleTier::Demo, Some(0.5)));
        assert_eq!(contains.severity, Severity::Critical);
        assert!(contains.variants.includes("with_skill") && !contains.variants.includes("without_skill"));
    }

    #[test]
    fn rules_of_the_strict_contract_warn_until_asked() {
        let folder = Folder::new(&[]);
        let fields = case(r#""kind": "trigger", "assertions": [{"type": "judge"}]"#);
        let loaded = folder.load(&fields, &LoadOptions::default());
        assert!(loaded.suite.is_some());
        let expected = [
            "c: a trigger case needs should_trigger",
            "c: assertion #0: qualitative assertion needs an anchored rubric or prompt",
        ];
        assert_eq!(lines(&loaded, Level::Strict), expected);
        let strict = LoadOptions { strict_contract: true, ..LoadOptions::default() };
        let loaded = folder.load(&fields, &strict);
        assert!(loaded.suite.is_none());
        assert_eq!(lines(&loaded, Level::Error), expected);
    }

    #[test]
    fn files_stay_in_the_folder_of_the_suite() {
        let folder = Folder::new(&[("out/a.txt", "a"), ("evals/in/a.txt", "a"), ("evals/b/a.txt", "b")]);
        #[cfg(unix)]
        std::os::unix::fs::symlink("../out/a.txt", folder.0.path().join("evals/link.txt")).unwrap_or_default();
        let error = |files: &str| {
            let loaded = folder.load(&case(&format!(r#""files": [{files}]"#)), &LoadOptions::default());
            loaded.diagnostics.errors().next().map(|error| error.rule)
        };
        assert_eq!(error(r#""in/a.txt""#), None);
        assert_eq!(error(r#""../out/a.txt""#), Some("external-path"));
        #[cfg(unix)]
        assert_eq!(error(r#""link.txt""#), Some("external-path"));
        assert_eq!(error(r#""in""#), Some("not-a-file"));
        assert_eq!(error(r#""nope.txt""#), Some("missing-file"));
        assert_eq!(error(r#""in/a.txt", "b/a.txt""#), Some("fixture-names"));
        let open = LoadOptions { allow_external_files: true, ..LoadOptions::default() };
        let loaded = folder.load(&case(r#""files": ["../out/a.txt"]"#), &open);
        assert_eq!(lines(&loaded, Level::Warning).len(), 2); // the path, and the skill path that does not exist
        assert!(loaded.suite.is_some());
    }

    #[test]
    fn unreadable_suites_have_one_clear_error() {
        let folder =
            Folder::new(&[("bad.json", "{"), ("list.json", "[]"), ("suite.yaml", "version: 2"), ("big.json", "{}   ")]);
        fs::write(folder.0.path().join("latin.json"), [b'"', 0xe9, b'"']).unwrap();
        let small = LoadOptions { max_bytes: 4, ..LoadOptions::default() };
        for (name, expected) in [
            ("bad.json", "invalid JSON in "),
            ("list.json", "must contain a JSON object"),
            ("suite.yaml", "suites in YAML are not read yet"),
            ("big.json", "is larger than 4 bytes; raise --max-suite-mib to read it"),
            ("latin.json", "is not valid UTF-8 (at byte 1)"),
            ("none.json", "no such file: "),
            ("", "is a folder, not a file"),
        ] {
            let loaded = load(&folder.0.path().join(name), &small);
            let found = lines(&loaded, Level::Error);
            assert!(found.len() == 1 && found[0].contains(expected), "{name}: {found:?}");
        }
    }

    #[test]
    fn the_digest_covers_files_and_the_kind_of_numbers() {
        let digest = |number: &str, text: &str| {
            let folder = Folder::new(&[("evals/p.md", text)]);
            let fields = format!(r#""cases": [{{"id": "c", "split": "tune", "prompt_ref": "p.md", "n": {number}}}]"#);
            folder.load(&fields, &LoadOptions::default()).suite.unwrap().digest
        };
        assert_eq!(digest("1", "a"), digest("1", "a"));
        assert_ne!(digest("1", "a"), digest("1.0", "a"));
        assert_ne!(digest("1", "a"), digest("1", "b"));
        // hashlib.sha256 over json.dumps(payload, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        assert_eq!(digest("1", "a"), "sha256:7e037ae6d6f9eabe8fbbec8a4524deaa11bb4074790aa62df63f615034019103");
    }
}
