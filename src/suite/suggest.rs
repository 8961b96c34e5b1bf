//! What a misspelt word was meant to be.

/// Letters that two words must begin with alike for the shorter one to be taken for the longer.
const STEM: usize = 5;

/// The known word within two edits of a misspelt one, unless it is too short for that to mean anything; else the one
/// that a shortened word begins, like `asserts` for `assertions`.
pub(crate) fn closest<'k>(word: &str, known: &[&'k str]) -> Option<&'k str> {
    known
        .iter()
        .filter_map(|candidate| {
            if candidate.eq_ignore_ascii_case(word) {
                return Some((0, *candidate));
            }
            let distance = distance(word, candidate);
            let length = word.chars().count().max(candidate.len());
            if distance <= 2 && distance * 3 <= length {
                return Some((distance, *candidate));
            }
            let stem = word.trim_end_matches('s');
            (stem.len() >= STEM && candidate.starts_with(stem)).then_some((3, *candidate))
        })
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Edits (insert, remove, replace, swap neighbours) between two words; more than 2 is not told apart.
fn distance(left: &str, right: &str) -> usize {
    let (left, right): (Vec<char>, Vec<char>) = (left.chars().take(100).collect(), right.chars().collect());
    if left.len().abs_diff(right.len()) > 2 {
        return usize::MAX / 4;
    }
    let mut rows: Vec<Vec<usize>> = vec![(0..=right.len()).collect()];
    for i in 1..=left.len() {
        let mut row = vec![i];
        for j in 1..=right.len() {
            let replaced = rows[i - 1][j - 1] + usize::from(left[i - 1] != right[j - 1]);
            let mut best = replaced.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && left[i - 1] == right[j - 2] && left[i - 2] == right[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            row.push(best);
        }
        rows.push(row);
    }
    rows[left.len()][right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suggestions_are_close_and_not_silly() {
        let known = ["severity", "value", "values", "id", "ci", "prompt"];
        assert_eq!(closest("sevrity", &known), Some("severity"));
        assert_eq!(closest("severtiy", &known), Some("severity"));
        assert_eq!(closest("Prompt", &known), Some("prompt"));
        assert_eq!(closest("asserts", &["assertions"]), Some("assertions"));
        assert_eq!(closest("vlaue", &known), Some("value"));
        assert_eq!(closest("is", &known), None);
        assert_eq!(closest("weight", &known), None);
    }
}
