//! Files of runs that stand beside the page.

use std::path::{Component, Path};

use super::link::encoded_path;

/// Where files of runs stand, seen from the page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AssetLinks {
    /// The way from the folder of the page to that of the files, with `/` at its end.
    prefix: String,
}

/// Endings of files that a browser would run scripts of: they are kept as plain text.
const ACTIVE: [&str; 9] = ["html", "htm", "xhtml", "xht", "svg", "xml", "mht", "mhtml", "shtml"];

impl AssetLinks {
    /// The links from a page in one folder to files in another; both absolute, without links. `None` when there is no way
    /// that can be written.
    pub fn between(page_folder: &Path, files: &Path) -> Option<Self> {
        let (from, to): (Vec<_>, Vec<_>) = (page_folder.components().collect(), files.components().collect());
        let common = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
        let up = from[common..].iter().map(|_| Some("..".to_owned()));
        let down = to[common..].iter().map(|part| match part {
            Component::Normal(name) => name.to_str().map(encoded_path),
            _ => None,
        });
        let parts: Vec<String> = up.chain(down).collect::<Option<_>>()?;
        Some(Self { prefix: parts.iter().map(|part| format!("{part}/")).collect() })
    }

    /// The address of a file of a run.
    pub(super) fn to(&self, run_dir: &str, path: &str) -> String {
        format!("{}{}", self.prefix, encoded_path(&place(run_dir, path)))
    }
}

/// Where a file of a run stands below the folder of the files: nothing that a browser would run keeps its name.
pub fn place(run_dir: &str, path: &str) -> String {
    let is_active =
        path.rsplit_once('.').is_some_and(|(_, ending)| ACTIVE.contains(&ending.to_ascii_lowercase().as_str()));
    format!("{run_dir}/{path}{}", if is_active { ".txt" } else { "" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_lead_from_the_page_to_the_files() {
        let link = |page: &str, files: &str| {
            AssetLinks::between(Path::new(page), Path::new(files)).unwrap().to("c/with_skill/run-1", "a b.md")
        };
        assert_eq!(link("/w", "/w/assets"), "assets/c/with_skill/run-1/a%20b.md");
        assert_eq!(link("/w/pages", "/w/as sets"), "../as%20sets/c/with_skill/run-1/a%20b.md");
        assert_eq!(link("/w", "/w"), "c/with_skill/run-1/a%20b.md");
    }

    #[test]
    fn nothing_that_a_browser_would_run_keeps_its_name() {
        assert_eq!(place("r", "outputs/page.HTML"), "r/outputs/page.HTML.txt");
        assert_eq!(place("r", "x.svg"), "r/x.svg.txt");
        assert_eq!(place("r", "x.png"), "r/x.png");
    }
}
