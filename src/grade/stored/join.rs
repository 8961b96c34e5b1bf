//! Which assertion a stored verdict is about. Graders are models and reword what they grade, so that several keys are
//! tried, the surest first, and the key that fitted is recorded.

use std::collections::{HashMap, HashSet, VecDeque};

use skill_lift_text::python;
use unicode_normalization::UnicodeNormalization;

use crate::runs::workspace::StoredVerdict;
use crate::suite::Assertion;

/// How a verdict was joined to its assertion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum JoinMethod {
    /// Both have the same id.
    Id,
    /// Both have the same name.
    Name,
    /// Both have the same text.
    Text,
    /// The texts are the same but for case, white space, compatibility characters and a final full stop.
    NormalizedText,
    /// Both lists are equally long, every verdict that names an assertion stands at its place, and this one names none.
    Position,
}

impl JoinMethod {
    /// The word in reports.
    pub fn word(self) -> &'static str {
        match self {
            Self::Id => "id",
            Self::Name => "name",
            Self::Text => "text",
            Self::NormalizedText => "normalized_text",
            Self::Position => "position",
        }
    }
}

/// For every verdict the position of its assertion, and how it was found.
pub fn join(verdicts: &[StoredVerdict], assertions: &[Assertion]) -> Vec<Option<(usize, JoinMethod)>> {
    let mut joined = vec![None; verdicts.len()];
    if assertions.is_empty() {
        return joined;
    }
    let mut taken = vec![false; assertions.len()];
    let mut pass = |method: JoinMethod,
                    of_assertion: &dyn Fn(&Assertion) -> Vec<String>,
                    of_verdict: &dyn Fn(&StoredVerdict) -> Vec<String>| {
        if joined.iter().all(Option::is_some) {
            return;
        }
        let mut places: HashMap<String, VecDeque<usize>> = HashMap::new();
        for (position, assertion) in assertions.iter().enumerate().filter(|(position, _)| !taken[*position]) {
            for key in of_assertion(assertion) {
                places.entry(key).or_default().push_back(position);
            }
        }
        for (verdict, slot) in verdicts.iter().zip(&mut joined).filter(|(_, slot)| slot.is_none()) {
            let found = of_verdict(verdict).iter().find_map(|key| {
                let candidates = places.get_mut(key)?;
                candidates.retain(|position| !taken[*position]);
                candidates.pop_front()
            });
            if let Some(position) = found {
                taken[position] = true;
                *slot = Some((position, method));
            }
        }
    };
    let named = |verdict: &StoredVerdict| [&verdict.name, &verdict.text].into_iter().flatten().cloned().collect();
    let ids = |verdict: &StoredVerdict| verdict.id.iter().cloned().collect();
    let texts = |assertion: &Assertion| -> Vec<String> {
        assertion.text.as_deref().into_iter().chain(assertion.wordings()).map(str::to_owned).collect()
    };
    pass(JoinMethod::Id, &|assertion| assertion.id.iter().cloned().collect(), &ids);
    pass(JoinMethod::Name, &|assertion| vec![assertion.label.clone()], &named);
    pass(JoinMethod::Text, &texts, &named);
    pass(
        JoinMethod::NormalizedText,
        &|assertion| texts(assertion).iter().map(|text| normalized(text)).collect(),
        &|verdict| named(verdict).iter().map(|text: &String| normalized(text)).collect(),
    );
    // an assertion without a name goes by its text
    for (position, method) in joined.iter_mut().flatten().filter(|(_, method)| *method == JoinMethod::Name) {
        if assertions[*position].text.as_deref() == Some(&assertions[*position].label) {
            *method = JoinMethod::Text;
        }
    }
    join_by_position(verdicts, assertions, &mut joined);
    joined
}

/// Joins what names no assertion by its place. A verdict that names one and was not joined to it repeats it, and then
/// nobody knows what the places mean.
fn join_by_position(verdicts: &[StoredVerdict], assertions: &[Assertion], joined: &mut [Option<(usize, JoinMethod)>]) {
    let in_place = joined.iter().enumerate().all(|(at, slot)| slot.is_none_or(|(position, _)| position == at));
    if verdicts.len() != assertions.len() || !in_place || joined.iter().all(Option::is_some) {
        return;
    }
    let ids: HashSet<&str> = assertions.iter().filter_map(|assertion| assertion.id.as_deref()).collect();
    let texts = |assertion: &Assertion| -> Vec<String> {
        let own = [Some(assertion.label.as_str()), assertion.text.as_deref()];
        own.into_iter().flatten().chain(assertion.wordings()).map(normalized).collect()
    };
    let words: HashSet<String> = assertions.iter().flat_map(texts).collect();
    let names_one = |verdict: &StoredVerdict| {
        verdict.id.as_deref().is_some_and(|id| ids.contains(id))
            || [&verdict.name, &verdict.text].into_iter().flatten().any(|text| words.contains(&normalized(text)))
    };
    let left_over = || verdicts.iter().zip(joined.iter()).filter(|(_, slot)| slot.is_none());
    if left_over().any(|(verdict, _)| names_one(verdict)) {
        return;
    }
    for (at, slot) in joined.iter_mut().enumerate().filter(|(_, slot)| slot.is_none()) {
        // graders reword texts, but an id is another assertion's or the same
        let other_id = verdicts[at].id.is_some() && assertions[at].id.is_some();
        if !other_id {
            *slot = Some((at, JoinMethod::Position));
        }
    }
}

/// A text without what a rewriter changes unasked: NFKC, one space for any white space, case folded, no final full stop.
fn normalized(text: &str) -> String {
    let compatible: String = text.nfkc().collect();
    let words: Vec<&str> = compatible.split_whitespace().collect();
    let folded = python::casefold(&words.join(" ")).into_owned();
    folded.strip_suffix('.').map(str::to_owned).unwrap_or(folded)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runs::workspace::{EntryMark, Passed};
    use crate::suite::check::Check;
    use crate::suite::{AssertionType, OracleTier, Severity, VariantFilter};

    fn assertion(id: Option<&str>, label: &str, text: &str) -> Assertion {
        Assertion {
            assertion_type: AssertionType::Judge,
            id: id.map(str::to_owned),
            text: Some(text.to_owned()),
            weight: None,
            origin: crate::suite::model::Origin::Case,
            original_type: None,
            source: None,
            label: label.to_owned(),
            severity: Severity::Gate,
            oracle: OracleTier::Live,
            variants: VariantFilter::default(),
            depends_on: Vec::new(),
            at_least: None,
            one_arm: None,
            is_awaited: false,
            check: Check::CommandCountLe { max: 0 },
            span: crate::json::Span::default(),
        }
    }

    fn verdict(id: Option<&str>, text: &str) -> StoredVerdict {
        StoredVerdict {
            id: id.map(str::to_owned),
            name: None,
            text: Some(text.to_owned()),
            passed: Passed::Yes,
            evidence: String::new(),
            pointer: String::new(),
            mark: EntryMark::default(),
        }
    }

    #[test]
    fn the_surest_key_comes_first() {
        let assertions = [
            assertion(Some("a"), "one", "Lists it."),
            assertion(Some("b"), "two", "Saves\n it"),
            assertion(None, "three", "Ends"),
        ];
        let verdicts = [verdict(Some("b"), "Lists it."), verdict(None, "one"), verdict(None, "three")];
        assert_eq!(
            join(&verdicts, &assertions),
            [Some((1, JoinMethod::Id)), Some((0, JoinMethod::Name)), Some((2, JoinMethod::Name))]
        );
        let verdicts = [verdict(None, "ｓaves IT."), verdict(None, "Lists it.")];
        assert_eq!(join(&verdicts, &assertions), [Some((1, JoinMethod::NormalizedText)), Some((0, JoinMethod::Text))]);
    }

    #[test]
    fn position_decides_only_when_nothing_speaks_against_it() {
        let assertions = [assertion(None, "A", "A"), assertion(None, "B", "B")];
        let reworded = [verdict(None, "A"), verdict(None, "something else")];
        assert_eq!(join(&reworded, &assertions), [Some((0, JoinMethod::Text)), Some((1, JoinMethod::Position))]);
        let swapped = [verdict(None, "B"), verdict(None, "something else")];
        assert_eq!(join(&swapped, &assertions), [Some((1, JoinMethod::Text)), None]);
        // the second verdict says that it is about the first assertion, in whatever spelling
        for text in ["A", "a."] {
            let repeated = [verdict(None, "A"), verdict(None, text)];
            assert_eq!(join(&repeated, &assertions), [Some((0, JoinMethod::Text)), None]);
        }
        let longer = [verdict(None, "x"), verdict(None, "y"), verdict(None, "z")];
        assert_eq!(join(&longer, &assertions), [None, None, None]);
    }

    #[test]
    fn another_id_is_another_assertion() {
        let assertions = [assertion(Some("1"), "A", "A"), assertion(Some("2"), "B", "B")];
        let other = [verdict(Some("1"), "x"), verdict(Some("3"), "y")];
        assert_eq!(join(&other, &assertions), [Some((0, JoinMethod::Id)), None]);
        let without = [verdict(Some("1"), "x"), verdict(None, "y")];
        assert_eq!(join(&without, &assertions), [Some((0, JoinMethod::Id)), Some((1, JoinMethod::Position))]);
        // where assertions have no ids, those of the verdicts are the grader's own numbers
        let unnumbered = [assertion(None, "A", "A"), assertion(None, "B", "B")];
        assert_eq!(join(&other, &unnumbered), [Some((0, JoinMethod::Position)), Some((1, JoinMethod::Position))]);
    }

    #[test]
    fn equal_texts_are_joined_one_to_one() {
        let assertions = [assertion(None, "same", "same"), assertion(None, "same", "same")];
        let verdicts = [verdict(None, "same"), verdict(None, "same")];
        assert_eq!(join(&verdicts, &assertions), [Some((0, JoinMethod::Text)), Some((1, JoinMethod::Text))]);
    }
}
