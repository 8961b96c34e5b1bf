//! What the run measured: the files beside the answer merged, later ones win, and the measurements in them typed.

use std::borrow::Cow;

use crate::json::Item;

/// Names of the files; a key of a later one replaces that of an earlier one.
pub(super) const FILE_NAMES: [&str; 4] = ["metadata.json", "timing.json", "outputs/metrics.json", "metrics.json"];

/// Most pieces of evidence for a loaded skill that are kept.
pub const SKILL_EVIDENCE: usize = 5;

/// Something that a run observes or does not observe, as the telemetry of a run names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    /// Whether the skill was loaded.
    SkillInvoked,
    /// How many commands ran.
    Commands,
    /// How many tools were called.
    ToolCalls,
    /// How often a command was repeated.
    RepeatedCommandMax,
    /// How many tokens were used.
    TotalTokens,
    /// How long it took.
    ElapsedMilliseconds,
}

impl Signal {
    const ALL: [Self; 6] = [
        Self::SkillInvoked,
        Self::Commands,
        Self::ToolCalls,
        Self::RepeatedCommandMax,
        Self::TotalTokens,
        Self::ElapsedMilliseconds,
    ];

    /// The name in telemetry and in evidence.
    pub fn wire_name(self) -> &'static str {
        match self {
            Self::SkillInvoked => "skill_invoked",
            Self::Commands => "commands",
            Self::ToolCalls => "tool_calls",
            Self::RepeatedCommandMax => "repeated_command_max",
            Self::TotalTokens => "total_tokens",
            Self::ElapsedMilliseconds => "elapsed_ms",
        }
    }

    /// Whether a value is one that this signal can have.
    fn accepts(self, value: Item<'_, '_>) -> bool {
        match self {
            Self::SkillInvoked => value.as_bool().is_some(),
            _ => measured_number(value).is_some(),
        }
    }
}

/// The measurements of a run. What telemetry says counts before plain numbers, which may be zero for want of a
/// measurement.
#[derive(Debug, Default, PartialEq)]
pub struct Metrics {
    unavailable: Vec<(Signal, String)>,
    /// Whether the skill was loaded.
    pub skill_invoked: Option<bool>,
    /// What showed it; at most [`SKILL_EVIDENCE`].
    pub skill_evidence: Vec<String>,
    /// All tokens.
    pub total_tokens: Option<f64>,
    /// Wall-clock time.
    pub elapsed_seconds: Option<f64>,
    /// Commands that ran.
    pub command_count: Option<f64>,
    /// The longest run of one command.
    pub repeated_command_max: Option<f64>,
    /// Whether the run says that its trace is not complete.
    pub trace_incomplete: bool,
}

impl Metrics {
    /// Merges objects; later ones win.
    pub(super) fn merge(objects: &[Item<'_, '_>]) -> Self {
        let merged = Merged::new(objects);
        let mut unavailable = Vec::new();
        for signal in Signal::ALL {
            if let Some(Telemetry::Unavailable(reason)) = merged.telemetry(signal) {
                unavailable.push((signal, reason));
            }
        }
        let number = |signal, keys: &[&str]| {
            merged.measured(signal).and_then(measured_number).or_else(|| merged.plain_number(keys))
        };
        let invoked = merged.measured(Signal::SkillInvoked).or_else(|| merged.get("skill_invoked"));
        let evidence = merged.get("skill_invocation_evidence").and_then(Item::items).into_iter().flatten();
        let milliseconds = merged.measured(Signal::ElapsedMilliseconds).and_then(measured_number);
        let milliseconds = milliseconds.map(|milliseconds| milliseconds / 1000.0);
        let elapsed_seconds = milliseconds
            .or_else(|| merged.plain_number(&["elapsed_seconds", "duration_seconds"]))
            .or_else(|| merged.plain_number(&["elapsed_ms", "duration_ms"]).map(|plain| plain / 1000.0));
        Self {
            unavailable,
            skill_invoked: invoked.and_then(Item::as_bool),
            skill_evidence: evidence.take(SKILL_EVIDENCE).map(Item::python_str).collect(),
            total_tokens: number(Signal::TotalTokens, &["total_tokens"]),
            elapsed_seconds,
            command_count: number(Signal::Commands, &["commands", "command_count"]),
            repeated_command_max: number(Signal::RepeatedCommandMax, &["repeated_command_max"]),
            trace_incomplete: merged.get("trace_observation_complete").and_then(Item::as_bool) == Some(false),
        }
    }

    /// Why a signal was not observed, if telemetry says that it was not.
    pub fn why_unavailable(&self, signal: Signal) -> Option<&str> {
        self.unavailable.iter().find(|(known, _)| *known == signal).map(|(_, reason)| reason.as_str())
    }
}

/// What telemetry says about a signal.
enum Telemetry<'t, 'a> {
    Value(Item<'t, 'a>),
    Unavailable(String),
}

struct Merged<'s, 't, 'a> {
    objects: &'s [Item<'t, 'a>],
    /// The measurements of the telemetry, which every signal asks for.
    measurements: Option<Item<'t, 'a>>,
}

impl<'s, 't, 'a> Merged<'s, 't, 'a> {
    fn new(objects: &'s [Item<'t, 'a>]) -> Self {
        let merged = Self { objects, measurements: None };
        Self { measurements: merged.get("telemetry").and_then(|telemetry| telemetry.get("measurements")), ..merged }
    }

    fn get(&self, key: &str) -> Option<Item<'t, 'a>> {
        self.objects.iter().rev().find_map(|object| object.get(key))
    }

    /// The first key under which a measurement stands: at the top, then in `usage`.
    fn plain_number(&self, keys: &[&str]) -> Option<f64> {
        let usage = self.get("usage");
        let top = keys.iter().filter_map(|key| self.get(key));
        let nested = keys.iter().filter_map(|key| usage?.get(key));
        top.chain(nested).find_map(measured_number)
    }

    /// `None` when telemetry does not mention the signal, or calls it available without giving a value.
    fn telemetry(&self, signal: Signal) -> Option<Telemetry<'t, 'a>> {
        let name = signal.wire_name();
        let entry = self.measurements?.get(name)?;
        if !entry.is_object() {
            return None;
        }
        let availability = entry.get("availability").and_then(Item::as_str);
        if availability.as_deref() == Some("available") {
            let value = entry.get("value").filter(|value| !value.is_null())?;
            return Some(match signal.accepts(value) {
                true => Telemetry::Value(value),
                false => Telemetry::Unavailable(format!("invalid_v3_{name}")),
            });
        }
        let reason = entry.get("reason").filter(|reason| reason.is_truthy()).map(Item::python_str);
        let reason = reason.or(availability.map(Cow::into_owned)).unwrap_or_else(|| "unavailable".to_owned());
        Some(Telemetry::Unavailable(reason))
    }

    fn measured(&self, signal: Signal) -> Option<Item<'t, 'a>> {
        match self.telemetry(signal) {
            Some(Telemetry::Value(value)) => Some(value),
            _ => None,
        }
    }
}

/// A number that can be a measurement: finite and not negative.
fn measured_number(item: Item<'_, '_>) -> Option<f64> {
    item.as_number().map(|number| number.as_f64()).filter(|number| number.is_finite() && *number >= 0.0)
}

#[cfg(test)]
pub(crate) mod testing {
    //! Metrics from texts.

    use super::*;
    use crate::json;

    /// Merges objects as if they were the files, in order.
    pub(crate) fn metrics(texts: &[&str]) -> Metrics {
        let tapes: Vec<_> = texts.iter().map(|text| json::Tape::read(text, json::Limits::SIDECAR).unwrap()).collect();
        Metrics::merge(&tapes.iter().map(json::Tape::root).collect::<Vec<_>>())
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::testing::metrics;
    use super::*;
    use crate::runs::RunDirectory;

    #[test]
    fn later_files_win_key_by_key() {
        let merged = metrics(&[r#"{"total_tokens":10,"commands":3}"#, r#"{"total_tokens":60}"#]);
        assert_eq!((merged.total_tokens, merged.command_count), (Some(60.0), Some(3.0)));
        // a later value that is no measurement hides the earlier one
        assert_eq!(metrics(&[r#"{"total_tokens":10}"#, r#"{"total_tokens":null}"#]).total_tokens, None);
        assert_eq!(metrics(&[]), Metrics::default());
    }

    #[test]
    fn files_that_cannot_be_read_say_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &[u8]| std::fs::write(folder.path().join(name), text).unwrap();
        std::fs::create_dir(folder.path().join("outputs")).unwrap();
        write("metadata.json", br#"{"total_tokens":1,"commands":2}"#);
        write("timing.json", b"[]");
        write("outputs/metrics.json", br#"{"total_tokens":3,"elapsed_ms":500}"#);
        write("metrics.json", br#"{"total_tokens":NaN}"#);
        let mut directory = RunDirectory::open(folder.path().to_owned(), String::new(), None, 10).unwrap();
        let merged = directory.metrics();
        assert_eq!(
            (merged.total_tokens, merged.command_count, merged.elapsed_seconds),
            (Some(3.0), Some(2.0), Some(0.5))
        );
        assert!(Rc::ptr_eq(&merged, &directory.metrics()));
        write("metrics.json", b"\xff");
        let mut directory = RunDirectory::open(folder.path().to_owned(), String::new(), None, 10).unwrap();
        assert_eq!(directory.metrics(), merged);
    }

    #[test]
    fn numbers_that_cannot_be_measured_are_none() {
        let tokens = |value: &str| metrics(&[&format!(r#"{{"total_tokens":{value}}}"#)]).total_tokens;
        assert_eq!(tokens("0"), Some(0.0));
        assert_eq!(tokens("1.5"), Some(1.5));
        for none in ["true", "-1", "\"7\"", "null", "[7]", "{}"] {
            assert_eq!(tokens(none), None, "{none}");
        }
        assert_eq!(tokens(&"9".repeat(400)), None);
    }

    #[test]
    fn usage_is_the_second_place_to_look() {
        let nested = r#"{"total_tokens":true,"usage":{"total_tokens":40},"command_count":2,"elapsed_ms":1500}"#;
        let merged = metrics(&[nested]);
        assert_eq!(
            (merged.total_tokens, merged.command_count, merged.elapsed_seconds),
            (Some(40.0), Some(2.0), Some(1.5))
        );
        assert_eq!(metrics(&[r#"{"usage":{"input_tokens":1,"output_tokens":2}}"#]).total_tokens, None);
        assert_eq!(metrics(&[r#"{"usage":[1]}"#]).total_tokens, None);
        assert_eq!(metrics(&[r#"{"duration_seconds":5,"elapsed_ms":100}"#]).elapsed_seconds, Some(5.0));
    }

    fn with_measurement(name: &str, entry: &str, plain: &str) -> Metrics {
        metrics(&[&format!(r#"{{{plain}"telemetry":{{"measurements":{{"{name}":{entry}}}}}}}"#)])
    }

    #[test]
    fn telemetry_counts_before_plain_numbers() {
        let merged =
            with_measurement("total_tokens", r#"{"availability":"available","value":7}"#, r#""total_tokens":1,"#);
        assert_eq!((merged.total_tokens, merged.why_unavailable(Signal::TotalTokens)), (Some(7.0), None));
        let merged =
            with_measurement("elapsed_ms", r#"{"availability":"available","value":250}"#, r#""elapsed_seconds":9,"#);
        assert_eq!(merged.elapsed_seconds, Some(0.25));
        let merged = with_measurement("skill_invoked", r#"{"availability":"available","value":true}"#, "");
        assert_eq!(merged.skill_invoked, Some(true));
        let merged = with_measurement("commands", r#"{"availability":"available"}"#, r#""commands":4,"#);
        assert_eq!((merged.command_count, merged.why_unavailable(Signal::Commands)), (Some(4.0), None));
    }

    #[test]
    fn what_telemetry_calls_unavailable_has_a_reason() {
        let why = |entry: &str| {
            let merged = with_measurement("commands", entry, "");
            merged.why_unavailable(Signal::Commands).map(str::to_owned)
        };
        let reason = |text: &str| Some(text.to_owned());
        assert_eq!(why(r#"{"availability":"unavailable","reason":"missing"}"#), reason("missing"));
        assert_eq!(why(r#"{"availability":"not_applicable","reason":""}"#), reason("not_applicable"));
        assert_eq!(why(r#"{"availability":7,"reason":[1]}"#), reason("[1]"));
        assert_eq!(why("{}"), reason("unavailable"));
        assert_eq!(why(r#"{"availability":"available","value":-1}"#), reason("invalid_v3_commands"));
        assert_eq!(why(r#"{"availability":"available","value":true}"#), reason("invalid_v3_commands"));
        assert_eq!(why("null"), None);
        assert_eq!(metrics(&[r#"{"telemetry":[]}"#, r#"{"telemetry":{"measurements":1}}"#]), Metrics::default());
    }

    #[test]
    fn evidence_for_a_skill_is_a_short_list_of_texts() {
        let merged = metrics(&[r#"{"skill_invoked":1,"skill_invocation_evidence":["a",2,null,"d","e","f"]}"#]);
        assert_eq!(merged.skill_invoked, None);
        assert_eq!(merged.skill_evidence, ["a", "2", "None", "d", "e"]);
        assert_eq!(metrics(&[r#"{"skill_invocation_evidence":"a"}"#]).skill_evidence, [""; 0]);
    }
}
