//! Which assertion a stored verdict is about. Graders are models and reword what they grade, so that several keys are
//! tried, the surest first, and the key that fitted is recorded.

use std::collections::{HashMap, VecDeque};

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
    /// Both lists are equally long, and every verdict that was joined otherwise stands at its own place.
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
    let in_place = joined.iter().enumerate().all(|(at, slot)| slot.is_none_or(|(position, _)| position == at));
    if verdicts.len() == assertions.len() && in_place {
        for (at, slot) in joined.iter_mut().enumerate().filter(|(_, slot)| slot.is_none()) {
            *slot = Some((at, JoinMethod::Position));
        }
    }
    joined
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
    use crate::runs::workspace::Passed;
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
        assert_eq!(join(&reworded, &assertions), [Some((0, JoinMethod::Name)), Some((1, JoinMethod::Position))]);
        let swapped = [verdict(None, "B"), verdict(None, "something else")];
        assert_eq!(join(&swapped, &assertions), [Some((1, JoinMethod::Name)), None]);
        let longer = [verdict(None, "x"), verdict(None, "y"), verdict(None, "z")];
        assert_eq!(join(&longer, &assertions), [None, None, None]);
    }

    #[test]
    fn equal_texts_are_joined_one_to_one() {
        let assertions = [assertion(None, "same", "same"), assertion(None, "same", "same")];
        let verdicts = [verdict(None, "same"), verdict(None, "same")];
        assert_eq!(join(&verdicts, &assertions), [Some((0, JoinMethod::Name)), Some((1, JoinMethod::Name))]);
    }
}
