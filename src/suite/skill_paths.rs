//! The paths of the skill under test, and whether a text names one of them.

/// What stands between the arguments of a command, and between the words of a call written as JSON.
pub const SEPARATORS: [char; 20] =
    ['"', '\'', '`', ';', '|', '&', '<', '>', '(', ')', '=', ',', ':', '{', '}', '[', ']', '$', '!', '?'];

/// The files and folders of a skill.
#[derive(Debug)]
pub struct SkillPaths(Vec<SkillPath>);

impl SkillPaths {
    /// Those that a suite names.
    pub fn of(paths: &[String]) -> Self {
        Self(paths.iter().filter_map(|path| SkillPath::of(path)).collect())
    }

    /// The last part of each that says something: every path of the skill has one of them.
    pub fn last_parts(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|skill| skill.folder.last().or(skill.file.as_ref())).map(String::as_str)
    }

    /// Whether a path, in its [`components`], is one of the skill or leads into its folder.
    pub fn hold(&self, path: &[String]) -> bool {
        self.0.iter().any(|skill| skill.holds(path))
    }

    /// Whether a text names such a path.
    pub fn are_in(&self, text: &str) -> bool {
        candidates(text).any(|part| self.hold(&components(part)))
    }
}

/// What may be a path in a text: the text, an argument in it, what stands between its quotes.
pub fn candidates(text: &str) -> impl Iterator<Item = &str> {
    let arguments = text.split(|character: char| character.is_whitespace() || SEPARATORS.contains(&character));
    let quoted = text.split(['"', '\'', '`']);
    std::iter::once(text).chain(arguments).chain(quoted).filter(|part| !part.is_empty())
}

/// A path of the skill, in its parts.
#[derive(Debug)]
struct SkillPath {
    folder: Vec<String>,
    /// The file, where the suite names one.
    file: Option<String>,
}

impl SkillPath {
    fn of(path: &str) -> Option<Self> {
        let mut folder = components(path);
        let file = if path.ends_with(".md") { folder.pop() } else { None };
        (file.is_some() || !folder.is_empty()).then_some(Self { folder, file })
    }

    /// Whether a path is that of the skill, or leads into its folder. A folder without one above it is told from other
    /// folders of that name by where it stands or by what is in it.
    fn holds(&self, path: &[String]) -> bool {
        let below = usize::from(self.file.is_some());
        match (self.folder.as_slice(), &self.file) {
            ([], Some(file)) => path == std::slice::from_ref(file),
            ([folder], Some(file)) => {
                path.len() > 1 && path[0] == *folder
                    || path.windows(2).any(|pair| pair[0] == *folder && pair[1] == *file)
            }
            ([folder], None) => path.first() == Some(folder),
            (folder, _) => path
                .windows(folder.len())
                .enumerate()
                .any(|(at, part)| part == folder && at + folder.len() + below <= path.len()),
        }
    }
}

/// The parts of a path, of whatever system, without those that lead nowhere.
pub fn components(path: &str) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    for part in path.trim().split(['/', '\\']) {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| last != "..") => {
                parts.pop();
            }
            _ => parts.push(part.to_owned()),
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn skill(path: &str) -> SkillPaths {
        SkillPaths::of(&[path.to_owned()])
    }

    fn holds(skill: &SkillPaths, path: &str) -> bool {
        skill.hold(&components(path))
    }

    #[test]
    fn a_path_is_compared_in_whole_parts() {
        let nested = skill("./skills/pdf/SKILL.md");
        for path in [
            "skills/pdf/SKILL.md",
            "./skills/./pdf/notes/a.md",
            "/home/me/.claude/skills/pdf/SKILL.md",
            "C:\\repo\\skills\\pdf\\SKILL.md",
            "skills/excel/../pdf/SKILL.md",
        ] {
            assert!(holds(&nested, path), "{path}");
        }
        for path in ["my-skills/pdf/notes.md", "skills/pdf-tools/SKILL.md", "skills/pdf", "evals/shared-benchmark.json"]
        {
            assert!(!holds(&nested, path), "{path}");
        }
        let bare = skill("SKILL.md");
        assert!(holds(&bare, "SKILL.md") && holds(&bare, "./SKILL.md") && !holds(&bare, "skills/other/SKILL.md"));
        let shallow = skill("pdf/SKILL.md");
        assert!(holds(&shallow, "pdf/notes.md") && holds(&shallow, "/repo/pdf/SKILL.md"));
        assert!(!holds(&shallow, "data/pdf/invoice.txt"));
        assert!(holds(&skill("skills/pdf"), "/repo/skills/pdf"));
    }

    #[test]
    fn arguments_of_commands_are_paths() {
        let nested = skill("skills/pdf/SKILL.md");
        for command in ["cat skills/pdf/SKILL.md", "bash -lc 'cat ./skills/pdf/a.md|head'", "{\"p\":\"skills/pdf/a\"}"]
        {
            assert!(nested.are_in(command), "{command}");
        }
        assert!(!nested.are_in("cat my-skills/pdf/SKILL.md") && !nested.are_in("ls skills/pdf"));
        assert!(skill("my skills/pdf/SKILL.md").are_in("cat 'my skills/pdf/SKILL.md'"));
    }
}
