//! How the model came to its end: why it stopped, whether the model that was asked for answered, and how hard it was
//! told to think. Runners record it in the metadata of a run; older ones do not.

use crate::json::Item;

/// Longest word that is an effort setting, in code points. What is longer is something else.
const EFFORT_CHARACTERS: usize = 64;

/// The setting of a run whose runner says that it set none.
pub const DEFAULT_EFFORT: &str = "backend_default";

/// What reports call a run that recorded nothing; no setting has this name.
pub const UNRECORDED: &str = "unrecorded";

/// Why the model stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum StopClass {
    /// It was done.
    Completed,
    /// It reached the limit of its output.
    Truncated,
    /// It reached the limit of its turns.
    TurnLimit,
    /// It refused.
    Refused,
    /// Something else is recorded.
    Other,
    /// The runner could not see why.
    Unavailable,
}

impl StopClass {
    /// Every class, in the order of reports.
    pub const ALL: [Self; 6] =
        [Self::Completed, Self::Truncated, Self::TurnLimit, Self::Refused, Self::Other, Self::Unavailable];

    /// The word in metadata and reports.
    pub fn word(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Truncated => "truncated",
            Self::TurnLimit => "turn_limit",
            Self::Refused => "refused",
            Self::Other => "other",
            Self::Unavailable => "unavailable",
        }
    }

    /// The class with a word.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|class| class.word() == word)
    }

    /// Whether a limit ended the answer.
    pub fn is_cut_off(self) -> bool {
        matches!(self, Self::Truncated | Self::TurnLimit)
    }

    /// What a runner recorded, else what the reason of the provider means.
    fn of(metadata: Item<'_, '_>) -> Option<Self> {
        let recorded = metadata.get("stop_class").and_then(Item::as_str).map(|word| match &*word {
            "unobserved" => Self::Unavailable,
            word => Self::from_word(word).unwrap_or(Self::Other),
        });
        recorded.or_else(|| {
            let reason = metadata.get("stop_reason").and_then(Item::as_str)?;
            Some(match &*reason {
                "end_turn" | "stop" | "stop_sequence" => Self::Completed,
                "max_tokens" | "max_output_tokens" | "length" => Self::Truncated,
                "max_turns" | "error_max_turns" => Self::TurnLimit,
                "refusal" | "content_filter" | "content-filter" => Self::Refused,
                _ => Self::Other,
            })
        })
    }
}

/// Whether the model that was asked for answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ServedModel {
    /// It did.
    Match,
    /// Another one did.
    Mismatch,
    /// Several did, this one perhaps among them.
    Mixed,
    /// The name that was asked for says too little to tell.
    Unverifiable,
    /// No model was asked for.
    NotRequested,
    /// Something else is recorded.
    Other,
    /// The runner could not see which model answered.
    Unavailable,
}

impl ServedModel {
    /// Every result, in the order of reports.
    pub const ALL: [Self; 7] = [
        Self::Match,
        Self::Mismatch,
        Self::Mixed,
        Self::Unverifiable,
        Self::NotRequested,
        Self::Other,
        Self::Unavailable,
    ];

    /// The word in metadata and reports.
    pub fn word(self) -> &'static str {
        match self {
            Self::Match => "match",
            Self::Mismatch => "mismatch",
            Self::Mixed => "mixed",
            Self::Unverifiable => "unverifiable",
            Self::NotRequested => "not_requested",
            Self::Other => "other",
            Self::Unavailable => "unavailable",
        }
    }

    /// The result with a word.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|result| result.word() == word)
    }

    fn of(metadata: Item<'_, '_>) -> Option<Self> {
        let word = metadata.get("served_model_check").and_then(Item::as_str)?;
        Some(match &*word {
            "unobserved" => Self::Unavailable,
            "not-requested" => Self::NotRequested,
            word => Self::from_word(word).unwrap_or(Self::Other),
        })
    }
}

/// How a run ended, as far as it is recorded.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Ending {
    /// Why the model stopped.
    pub stop_class: Option<StopClass>,
    /// Whether the model that was asked for answered.
    pub served_model: Option<ServedModel>,
    /// Effort setting.
    pub effort: Option<String>,
}

impl Ending {
    /// What the metadata of a run says.
    pub fn of(metadata: Item<'_, '_>) -> Self {
        Self {
            stop_class: StopClass::of(metadata),
            served_model: ServedModel::of(metadata),
            effort: metadata.get("effort").and_then(effort),
        }
    }
}

/// An effort setting: a word, or an object whose `requested` is the word. `null` there says that none was asked for.
pub(super) fn effort(written: Item<'_, '_>) -> Option<String> {
    let word = |item: Item<'_, '_>| {
        let word = item.as_str()?;
        let is_word = !word.trim().is_empty() && word != UNRECORDED;
        let fits = is_word && word.chars().nth(EFFORT_CHARACTERS).is_none();
        fits.then(|| word.into_owned())
    };
    if !written.is_object() {
        return word(written);
    }
    let requested = written.get("requested")?;
    if requested.is_null() { Some(DEFAULT_EFFORT.to_owned()) } else { word(requested) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::{Limits, Tape};

    fn ending(metadata: &str) -> Ending {
        Ending::of(Tape::read(metadata, Limits::SIDECAR).unwrap().root())
    }

    #[test]
    fn what_a_runner_recorded_counts_before_the_reason_of_the_provider() {
        let class = |metadata: &str| ending(metadata).stop_class;
        assert_eq!(class(r#"{"stop_class":"turn_limit","stop_reason":"end_turn"}"#), Some(StopClass::TurnLimit));
        assert_eq!(class(r#"{"stop_class":null,"stop_reason":"refusal"}"#), Some(StopClass::Refused));
        for (reason, expected) in [
            ("end_turn", StopClass::Completed),
            ("max_tokens", StopClass::Truncated),
            ("length", StopClass::Truncated),
            ("max_turns", StopClass::TurnLimit),
            ("content-filter", StopClass::Refused),
            ("loop_detected", StopClass::Other),
        ] {
            assert_eq!(class(&format!(r#"{{"stop_reason":"{reason}"}}"#)), Some(expected), "{reason}");
        }
        assert_eq!(class(r#"{"stop_class":"unobserved"}"#), Some(StopClass::Unavailable));
        assert_eq!(class(r#"{"stop_class":"went fishing"}"#), Some(StopClass::Other));
        for nothing in ["{}", r#"{"stop_class":7,"stop_reason":["refusal"]}"#] {
            assert_eq!(ending(nothing), Ending::default(), "{nothing}");
        }
    }

    #[test]
    fn the_check_of_the_served_model_is_read_and_not_made() {
        let check = |word: &str| ending(&format!(r#"{{"served_model_check":"{word}"}}"#)).served_model;
        for known in ServedModel::ALL {
            assert_eq!(check(known.word()), Some(known));
        }
        assert_eq!(check("unobserved"), Some(ServedModel::Unavailable));
        assert_eq!(check("not-requested"), Some(ServedModel::NotRequested));
        assert_eq!(check("perhaps"), Some(ServedModel::Other));
        assert_eq!(ending(r#"{"model":"a","served_model":"b"}"#).served_model, None);
    }

    #[test]
    fn effort_is_a_word_or_an_object_around_it() {
        let effort = |written: &str| ending(&format!(r#"{{"effort":{written}}}"#)).effort;
        let word = |text: &str| Some(text.to_owned());
        assert_eq!(effort(r#""high""#), word("high"));
        assert_eq!(effort(r#"{"requested":"low","applied_by":"claude --effort"}"#), word("low"));
        assert_eq!(effort(r#"{"requested":null,"applied_by":"backend_default"}"#), word("backend_default"));
        assert_eq!(effort(&format!("{:?}", "ü".repeat(64))), word(&"ü".repeat(64)));
        for none in [
            &format!("{:?}", "ü".repeat(65)),
            "{}",
            "null",
            "3",
            "[]",
            r#"" ""#,
            r#"{"requested":3}"#,
            r#""unrecorded""#,
        ] {
            assert_eq!(effort(none), None, "{none}");
        }
    }
}
