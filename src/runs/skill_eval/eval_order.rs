//! The order of evals, and which eval a folder belongs to.

use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};

use super::suite_glance::SuiteGlance;

/// Orders names so that `run-2` comes before `run-10`; names that differ in nothing else go by code point.
pub fn natural(a: &str, b: &str) -> Ordering {
    let (mut left, mut right) = (a.as_bytes(), b.as_bytes());
    while let (Some(first), Some(second)) = (left.first(), right.first()) {
        if first.is_ascii_digit() && second.is_ascii_digit() {
            let (x, rest_of_left) = number(left);
            let (y, rest_of_right) = number(right);
            let order = x.len().cmp(&y.len()).then_with(|| x.cmp(y));
            if order != Ordering::Equal {
                return order;
            }
            (left, right) = (rest_of_left, rest_of_right);
        } else if first == second {
            (left, right) = (&left[1..], &right[1..]);
        } else {
            return first.cmp(second);
        }
    }
    left.len().cmp(&right.len()).then_with(|| a.cmp(b))
}

/// The digits at the begin, without zeros before them, and the rest.
fn number(text: &[u8]) -> (&[u8], &[u8]) {
    let end = text.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(text.len());
    let zeros = text[..end].iter().take_while(|byte| **byte == b'0').count();
    (&text[zeros..end], &text[end..])
}

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
    fn numbers_count_as_numbers() {
        let mut names = vec!["e10", "e2", "e02", "e1", "e", "f1", "e2b"];
        names.sort_by(|a, b| natural(a, b));
        assert_eq!(names, ["e", "e1", "e02", "e2", "e2b", "e10", "f1"]);
    }

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
