//! The command of a `script` assertion: placeholders filled in, and whether it stays in the folder of the suite.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{self, Path, PathBuf};
use std::process::Command;

/// Endings of files that are scripts and not interpreters.
const SCRIPT_ENDINGS: [&str; 4] = [".py", ".js", ".mjs", ".sh"];

/// What the placeholders of a command stand for.
pub(super) struct Paths([(&'static str, PathBuf); 3]);

impl Paths {
    /// For a run directory and the file in it that the answer was read from.
    pub(super) fn new(run: &Path, output: &str) -> Self {
        let run = fs::canonicalize(run).or_else(|_| path::absolute(run)).unwrap_or_else(|_| run.to_owned());
        // `{output_path}` is the same whatever the file is called; `{output_file}` is the one that was read
        let (path, file) = (run.join("output.md"), run.join(output));
        Self([("{output_dir}", run), ("{output_path}", path), ("{output_file}", file)])
    }

    /// Replaces the placeholders of one element, in one pass: a path that looks like a placeholder stays.
    fn fill(&self, part: &str) -> OsString {
        let mut filled = OsString::new();
        let mut rest = part;
        let first = |rest: &str| self.0.iter().filter_map(|(name, path)| Some((rest.find(name)?, *name, path))).min();
        while let Some((at, name, path)) = first(rest) {
            filled.push(&rest[..at]);
            filled.push(path);
            rest = &rest[at + name.len()..];
        }
        filled.push(rest);
        filled
    }
}

/// The program with its arguments, to be run in the folder of the suite; `None` when the command is empty.
pub(super) fn build(command: &[String], suite: &Path, paths: &Paths) -> Option<Command> {
    let (program, arguments) = command.split_first()?;
    let program = paths.fill(program);
    let mut built = if has_slash(&program) {
        // whether a relative path is looked up before or after the change of folder depends on the system
        let mut built = Command::new(suite.join(&program));
        built.arg0(&program);
        built
    } else {
        Command::new(&program)
    };
    built.args(arguments.iter().map(|part| paths.fill(part))).current_dir(suite);
    Some(built)
}

/// The first element that names something outside the folder of the suite.
///
/// An absolute path to an interpreter at the start names none, and neither do placeholders, except that a program is
/// not run from a run directory.
pub(super) fn external_part<'c>(command: &'c [String], suite: &Path, paths: &Paths) -> Option<&'c str> {
    let is_external = |(index, part): &(usize, &'c String)| {
        if *index == 0 && is_interpreter(part) {
            return false;
        }
        if part.split_whitespace().any(leaves_folder) {
            return true;
        }
        if part.contains('{') {
            let program = paths.fill(part);
            return *index == 0 && has_slash(&program) && !is_inside(&suite.join(program), suite);
        }
        let place = suite.join(part.as_str());
        place.exists() && !is_inside(&place, suite)
    };
    command.iter().enumerate().find(is_external).map(|(_, part)| part.as_str())
}

fn has_slash(program: &OsStr) -> bool {
    program.as_encoded_bytes().contains(&b'/')
}

fn is_interpreter(program: &str) -> bool {
    program.starts_with('/')
        && !SCRIPT_ENDINGS.iter().any(|ending| program.ends_with(ending))
        && Path::new(program).is_file()
}

/// Whether a word of an element is an absolute path or climbs out of a folder, quotes around it aside.
fn leaves_folder(word: &str) -> bool {
    let word = word.trim_matches(['"', '\'']);
    word.starts_with('/') || word.split('/').any(|component| component == "..")
}

/// Whether a path leads, links resolved, into a folder given by its real path.
fn is_inside(path: &Path, folder: &Path) -> bool {
    fs::canonicalize(path).is_ok_and(|real| real.starts_with(folder))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn owned(parts: &[&str]) -> Vec<String> {
        parts.iter().map(|part| (*part).to_owned()).collect()
    }

    #[test]
    fn placeholders_are_filled_in_once() {
        let paths = Paths::new(Path::new("/nowhere/{output_path}"), "final.txt");
        assert_eq!(paths.fill("a={output_dir}"), "a=/nowhere/{output_path}");
        assert_eq!(
            paths.fill("{output_path}:{output_file}"),
            "/nowhere/{output_path}/output.md:/nowhere/{output_path}/final.txt"
        );
        assert_eq!(paths.fill("{output}"), "{output}");
    }

    #[test]
    fn programs_with_a_path_are_those_of_the_suite() {
        let paths = Paths::new(Path::new("/nowhere"), "output.md");
        let built = build(&owned(&["oracles/check.sh", "{output_dir}"]), Path::new("/suite"), &paths).unwrap();
        assert_eq!(built.get_program(), "/suite/oracles/check.sh");
        assert_eq!(built.get_args().collect::<Vec<_>>(), ["/nowhere"]);
        assert_eq!(built.get_current_dir(), Some(Path::new("/suite")));
        let built = build(&owned(&["python3 -V"]), Path::new("/suite"), &paths).unwrap();
        assert_eq!(built.get_program(), "python3 -V");
        assert!(build(&[], Path::new("/suite"), &paths).is_none());
    }

    #[test]
    fn commands_stay_in_the_folder_of_the_suite() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let (suite, run) = (root.join("suite"), root.join("run"));
        fs::create_dir_all(suite.join("oracles")).unwrap();
        fs::create_dir_all(&run).unwrap();
        fs::write(suite.join("oracles/check.py"), "").unwrap();
        fs::write(run.join("tool"), "").unwrap();
        symlink("../../run/tool", suite.join("oracles/out.py")).unwrap();
        let paths = Paths::new(&run, "output.md");
        let external = |parts: &[&str]| external_part(&owned(parts), &suite, &paths).map(str::to_owned);
        assert_eq!(external(&["python3", "oracles/check.py", "{output_dir}", "--strict"]), None);
        assert_eq!(external(&["/bin/sh", "-c", "cat {output_path}"]), None);
        for outside in [
            "../check.py",
            "/bin/none",
            "oracles/out.py",
            "cat '/etc/passwd'",
            "/opt/{output_dir}",
            "{output_dir}/../x",
        ] {
            assert_eq!(external(&["python3", outside]).as_deref(), Some(outside));
        }
        assert_eq!(external(&["{output_dir}/tool"]).as_deref(), Some("{output_dir}/tool"));
        assert_eq!(external(&["/suite/check.py"]).as_deref(), Some("/suite/check.py"));
    }
}
