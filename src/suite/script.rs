//! `script` assertions: the command, where its files may lie, and the folders of oracles they depend on.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::assertion::span_of;
use super::check::Check;
use super::environment::Environment;
use super::files::Found;
use super::report::Report;
use super::shape;
use crate::json::{Node, Span};

const RULE: &str = "script";
const SUFFIXES: [&str; 4] = [".py", ".js", ".mjs", ".sh"];

/// An oracle folder with more entries than this is refused.
const TREE_ENTRIES: usize = 100_000;

/// Reads a `script` assertion.
pub(super) fn read(report: &mut Report<'_>, environment: &Environment, node: &Node<'_>) -> Option<Check> {
    let command = node
        .get("command")
        .and_then(|command| shape::text(command).map(|part| vec![part.to_owned()]).or_else(|| shape::texts(command)));
    let span = span_of(node, "command");
    match &command {
        None => report.error(RULE, span, "script command must be a non-empty string or list of strings"),
        Some(parts) => {
            for (index, part) in parts.iter().enumerate() {
                check_part(report, environment, part, index == 0, span);
            }
        }
    }
    let positive = |node: &Node<'_>| shape::finite(node).filter(|seconds| *seconds > 0.0);
    let timeout_seconds =
        report.optional(node, "timeout_s", RULE, positive, "timeout_s must be a positive number").unwrap_or(30.0);
    let pass_exit_code =
        report.optional(node, "pass_exit_code", RULE, shape::integer, "pass_exit_code must be an integer").unwrap_or(0);
    Some(Check::Script { command: command?, timeout_seconds, pass_exit_code, expect_output: None })
}

fn check_part(report: &mut Report<'_>, environment: &Environment, part: &str, is_first: bool, span: Span) {
    let has_suffix = SUFFIXES.iter().any(|suffix| part.ends_with(suffix));
    let found =
        if part.contains('{') || part.contains('\0') { Rc::new(Found::Missing) } else { environment.files.find(part) };
    let names_a_path = part.starts_with('/') || part.contains('/') || has_suffix;
    if names_a_path && !part.contains('{') && *found == Found::Missing {
        report.error(RULE, span, format!("script path does not exist: {part}"));
    }
    let Some(tokens) = shell_words(part) else {
        report.error(RULE, span, format!("script command part cannot be read as shell words: {part}"));
        return;
    };
    let is_interpreter = |token: &str| {
        is_first
            && token.starts_with('/')
            && !SUFFIXES.iter().any(|suffix| token.ends_with(suffix))
            && Path::new(token).is_file()
    };
    if tokens.first().is_some_and(|token| token == part && is_interpreter(token)) {
        return;
    }
    let leaves = tokens.iter().enumerate().find(|(index, token)| {
        let absolute = token.starts_with('/') && !(*index == 0 && is_interpreter(token));
        absolute || token.split('/').any(|component| component == "..")
    });
    let real_path = found.real_path();
    let outside = real_path.is_some_and(|path| !environment.files.contains(path));
    if real_path.is_some_and(|path| outside && !path.starts_with(&environment.repository_root) && !is_device(path)) {
        report.error(RULE, span, format!("script path leads out of the repository: {part}"));
        return;
    }
    if leaves.is_some() || outside {
        let shown = leaves.map_or(part, |(_, token)| token);
        let message = format!("script command leaves the folder of the suite: {shown}");
        report.strict("script-location", span, message);
    } else if let Found::File(path, _) = &*found {
        check_oracle(report, environment, part, path, span);
    }
}

fn is_device(path: &Path) -> bool {
    !path.is_file() && !path.is_dir()
}

fn check_oracle(report: &mut Report<'_>, environment: &Environment, part: &str, path: &Path, span: Span) {
    let directory = environment.files.directory();
    if path.parent() == Some(directory) {
        let message = "script oracles must live in a dedicated subdirectory so that their dependency tree is stable";
        report.error_with_help(RULE, span, message, format!("move it, for instance to `oracles/{part}`"));
        return;
    }
    let Some(root) = oracle_root(directory, path) else { return };
    let (tree, is_new) = environment.oracle_trees.tree(&root);
    let shown = root.file_name().unwrap_or_default().to_string_lossy();
    match &*tree {
        Err(problem) => report.error(RULE, span, format!("script oracle folder {shown}: {problem}")),
        Ok(files) if is_new && files.iter().any(|file| is_cache(file)) => {
            let message = format!("script oracle folder {shown} holds compiled Python files, which change its digest");
            report.warn(RULE, span, message);
        }
        Ok(_) => {}
    }
}

fn is_cache(file: &[String]) -> bool {
    file.iter().any(|part| part == "__pycache__") || file.last().is_some_and(|name| name.ends_with(".pyc"))
}

/// The folder directly below `directory` that a real path lies in.
pub(super) fn oracle_root(directory: &Path, path: &Path) -> Option<PathBuf> {
    let inner = path.strip_prefix(directory).ok()?;
    let mut components = inner.components();
    let first = components.next()?;
    components.next()?;
    Some(directory.join(first))
}

/// The files of an oracle folder as component lists, sorted; or why it cannot be used.
pub(super) type OracleTree = Result<Vec<Vec<String>>, String>;

/// Folders of oracles that were looked through, each once.
#[derive(Default)]
pub(super) struct OracleTrees(RefCell<HashMap<PathBuf, Rc<OracleTree>>>);

impl OracleTrees {
    /// The files of a folder, and whether this is the first time it is asked for.
    pub(super) fn tree(&self, root: &Path) -> (Rc<OracleTree>, bool) {
        if let Some(tree) = self.0.borrow().get(root) {
            return (Rc::clone(tree), false);
        }
        let mut files = Vec::new();
        let mut entries = 0;
        let walked = walk(root, &mut Vec::new(), &mut files, &mut entries);
        files.sort_unstable();
        let tree = Rc::new(walked.map(|()| files));
        self.0.borrow_mut().insert(root.to_owned(), Rc::clone(&tree));
        (tree, true)
    }
}

fn walk(folder: &Path, at: &mut Vec<String>, files: &mut Vec<Vec<String>>, entries: &mut usize) -> Result<(), String> {
    let unreadable = |error: std::io::Error| format!("cannot be read: {error}");
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        *entries += 1;
        let Ok(name) = entry.file_name().into_string() else { return Err("holds a name that is not UTF-8".to_owned()) };
        at.push(name);
        let kind = entry.file_type().map_err(unreadable)?;
        if kind.is_symlink() {
            return Err(format!("holds a symbolic link: {}", at.join("/")));
        }
        if *entries > TREE_ENTRIES || at.len() > 200 {
            return Err(format!("holds more than {TREE_ENTRIES} entries"));
        }
        if kind.is_dir() {
            walk(&entry.path(), at, files, entries)?;
        } else if kind.is_file() {
            files.push(at.clone());
        }
        at.pop();
    }
    Ok(())
}

/// Splits text as a POSIX shell splits words; `None` when a quote is open or a backslash ends it.
fn shell_words(text: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match character {
            ' ' | '\t' | '\r' | '\n' => words.extend(word.take()),
            '\'' => {
                let word = word.get_or_insert_default();
                loop {
                    match characters.next()? {
                        '\'' => break,
                        inner => word.push(inner),
                    }
                }
            }
            '"' => {
                let word = word.get_or_insert_default();
                loop {
                    match characters.next()? {
                        '"' => break,
                        '\\' => match characters.next()? {
                            escaped @ ('"' | '\\') => word.push(escaped),
                            other => word.extend(['\\', other]),
                        },
                        inner => word.push(inner),
                    }
                }
            }
            '\\' => word.get_or_insert_default().push(characters.next()?),
            other => word.get_or_insert_default().push(other),
        }
    }
    words.extend(word);
    Some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shell_words_follow_posix() {
        let words = |text: &str| shell_words(text).map(|words| words.join("|"));
        assert_eq!(words("python3 -c 'a b'\"c\\\"d\"").as_deref(), Some("python3|-c|a bc\"d"));
        assert_eq!(words(" a\\ b  '' "), Some("a b|".to_owned()));
        assert_eq!(words("it's"), None);
        assert_eq!(words("a\\"), None);
        assert_eq!(words("\"a"), None);
    }

    #[test]
    fn oracle_roots_are_the_first_folder() {
        let directory = Path::new("/s");
        assert_eq!(oracle_root(directory, Path::new("/s/a/b/c.py")), Some(PathBuf::from("/s/a")));
        assert_eq!(oracle_root(directory, Path::new("/s/c.py")), None);
        assert_eq!(oracle_root(directory, Path::new("/t/a/c.py")), None);
    }
}
