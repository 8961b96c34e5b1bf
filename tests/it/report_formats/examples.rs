//! The examples of `docs/report-formats.md` are what the program writes.

use std::fs;

use crate::support::{repository, run_in};

/// A command of the page with the lines below it.
fn examples(text: &str) -> Vec<(Vec<String>, Vec<String>)> {
    let mut examples = Vec::new();
    let mut open: Option<Vec<&str>> = None;
    for line in text.lines() {
        match &mut open {
            Some(lines) if line == "```" => {
                let command = lines.remove(0).strip_prefix("$ skill-lift ").unwrap();
                let words = command.split_whitespace().map(str::to_owned).collect();
                examples.push((words, lines.iter().map(|line| (*line).to_owned()).collect()));
                open = None;
            }
            Some(lines) => lines.push(line),
            None if line == "```console example" => open = Some(Vec::new()),
            None => {}
        }
    }
    examples
}

#[test]
fn the_page_shows_what_the_program_writes() {
    let folder = tempfile::tempdir().unwrap();
    let demo = repository("datasets/demo");
    let path = folder.path().join("benchmark.json");
    let words =
        ["benchmark", "evals/shared-benchmark.json", "--runs", "runs", "--quiet", "--out", path.to_str().unwrap()];
    assert_eq!(run_in(&demo, &words, &[]).code, 0);
    let page = fs::read_to_string(repository("docs/report-formats.md")).unwrap();
    let examples = examples(&page);
    assert!(examples.len() >= 4, "{}", examples.len());
    for (words, shown) in examples {
        let said = run_in(folder.path(), &words.iter().map(String::as_str).collect::<Vec<_>>(), &[]);
        assert_eq!(said.code, 0, "{words:?}: {said:#?}");
        // no-break spaces are spaces on the page
        let stdout = said.stdout.replace('\u{a0}', " ");
        let mut lines = stdout.lines();
        // `…` stands for lines that are left out
        let mut after_gap = false;
        for line in shown {
            if line.trim() == "…" {
                after_gap = true;
                continue;
            }
            let found = if after_gap { lines.any(|written| written == line) } else { lines.next() == Some(&line) };
            assert!(found, "{words:?}: {line}");
            after_gap = false;
        }
    }
}
