//! The order of evals, and which eval a folder belongs to.

use std::collections::{HashMap, HashSet};

use super::suite_glance::SuiteGlance;

/// The folder name that the runner makes of an eval's name.
fn slug(name: &str) -> String {
    let parts = name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|part| !part.is_empty());
    let slug = parts.collect::<Vec<_>>().join("-").to_ascii_lowercase();
    if slug.is_empty() { "unnamed".to_owned() } else { slug }
}

/// Folder names of the evals that were run, with their ids; a name that is taken gets a number, in suite order.
pub fn folders(suite: &SuiteGlance, selected: &[String]) -> HashMap<String, String> {
    let mut folders = HashMap::new();
    let mut taken: HashMap<String, usize> = HashMap::new();
    let selected: HashSet<&String> = selected.iter().collect();
    for eval in suite.evals.iter().filter(|eval| selected.is_empty() || selected.contains(&eval.id)) {
        let slug = slug(&eval.name);
        let number = taken.entry(slug.clone()).or_default();
        *number += 1;
        let folder = if *number == 1 { slug } else { format!("{slug}-{number}") };
        folders.entry(format!("eval-{folder}")).or_insert_with(|| eval.id.clone());
    }
    folders
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_names_that_collide() {
        let suite = SuiteGlance::read(
            r#"{"evals": [{"id": "E1", "name": "Minor release"}, {"id": "E2", "name": "Minor Release!"}, {"id": "E3", "name": "リリース"}]}"#,
        )
        .unwrap();
        let folders = folders(&suite, &[]);
        assert_eq!(folders["eval-minor-release"], "E1");
        assert_eq!(folders["eval-minor-release-2"], "E2");
        assert_eq!(folders["eval-unnamed"], "E3");
    }
}
