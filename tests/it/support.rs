//! A folder of its own for each test, and the program run in it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::{Value, json};
use tempfile::TempDir;

/// A folder with a suite and runs.
pub struct Workspace {
    folder: TempDir,
}

/// What a run of the program said.
#[derive(Debug)]
pub struct Said {
    /// Exit code.
    pub code: i32,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

impl Said {
    /// Standard output as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}\n{self:#?}"))
    }

    /// The lines of standard error that begin with a word.
    pub fn lines(&self, word: &str) -> Vec<&str> {
        self.stderr.lines().filter(|line| line.starts_with(word)).collect()
    }
}

impl Workspace {
    pub fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    /// A workspace with a suite of some cases; each has the one assertion `contains "yes"`.
    pub fn with_cases(ids: &[&str]) -> Self {
        let workspace = Self::new();
        let cases: Vec<Value> = ids
            .iter()
            .map(|id| {
                let assertion = json!({"name": "says-yes", "type": "contains", "value": "yes"});
                json!({"id": id, "split": "tune", "prompt": "Do it.", "assertions": [assertion]})
            })
            .collect();
        workspace.suite(&json!({"cases": cases}));
        workspace
    }

    /// Writes the suite; name, version and skill are filled in.
    pub fn suite(&self, fields: &Value) {
        let mut suite = json!({"version": 2, "skill_name": "demo", "skill_paths": ["skills/demo/SKILL.md"]});
        for (key, value) in fields.as_object().unwrap() {
            suite[key] = value.clone();
        }
        self.write("evals/shared-benchmark.json", suite.to_string());
        self.write("skills/demo/SKILL.md", "---\nname: demo\ndescription: d\n---\n");
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    pub fn write(&self, path: &str, contents: impl AsRef<[u8]>) {
        let place = self.folder.path().join(path);
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        fs::write(place, contents).unwrap();
    }

    /// Runs the program in the folder.
    pub fn run(&self, arguments: &[&str]) -> Said {
        run_in(self.path(), arguments, &[])
    }

    /// Runs `benchmark` or another command on the suite and the folder `runs`.
    pub fn on_runs(&self, command: &str, more: &[&str]) -> Said {
        let mut arguments = vec![command, "evals/shared-benchmark.json", "--runs", "runs"];
        arguments.extend_from_slice(more);
        self.run(&arguments)
    }
}

/// Runs the program in a folder, with a clean environment and these variables.
pub fn run_in(folder: &Path, arguments: &[&str], environment: &[(&str, &str)]) -> Said {
    let Output { status, stdout, stderr } = Command::new(env!("CARGO_BIN_EXE_skill-lift"))
        .args(arguments)
        .current_dir(folder)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("LC_ALL", "C.UTF-8")
        .envs(environment.iter().copied())
        .output()
        .unwrap();
    Said {
        code: status.code().unwrap_or(-1),
        stdout: String::from_utf8(stdout).unwrap(),
        stderr: String::from_utf8_lossy(&stderr).into_owned(),
    }
}

/// A file of the repository.
pub fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// A JSON file of the repository.
pub fn conformance(name: &str) -> Value {
    let path = repository("tests/conformance").join(name);
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

/// Copies a folder with everything in it.
pub fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy_folder(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// A row of a report as version 0.6 writes it.
pub fn report_row(case: &str, variant: &str, run: usize, rate: f64) -> Value {
    json!({"case_id": case, "variant": variant, "run_number": run, "model": null, "missing_output": false,
           "execution_valid": true, "objective_pass_rate": rate, "assertions": [], "metadata": {}})
}

/// A report of version 0.6 over cases with the rates of their runs with and without the skill.
pub fn report_of(cases: &[(String, Vec<f64>, Vec<f64>)]) -> Value {
    let mut rows = Vec::new();
    for (case, with, without) in cases {
        for (variant, rates) in [("with_skill", with), ("without_skill", without)] {
            rows.extend(rates.iter().enumerate().map(|(at, rate)| report_row(case, variant, at + 1, *rate)));
        }
    }
    json!({"manifest": "m", "skill_name": "demo", "generated_at": null, "summary": {}, "paired_summary": {},
           "case_flags": [], "results": rows})
}

/// Some cases with the same rates, named after their number.
pub fn cases_of(number: usize, with: &[f64], without: &[f64], name: &str) -> Vec<(String, Vec<f64>, Vec<f64>)> {
    (0..number).map(|at| (format!("{name}{at}"), with.to_vec(), without.to_vec())).collect()
}
