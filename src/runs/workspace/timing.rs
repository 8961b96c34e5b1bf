//! How long a run took and what it used, from the `timing.json` of another tool.
//!
//! Zero, negative, text and not finite values are no measurements: they are unavailable, with a reason, and never zero.

use crate::json::Item;
use crate::runs::calendar::days_since_1970;

/// A number that was measured, or why there is none.
#[derive(Debug, Clone, PartialEq)]
pub enum Measured {
    /// The number.
    Value(f64),
    /// Why there is none.
    Unavailable(&'static str),
}

impl Measured {
    /// The number, if it was measured.
    pub fn value(&self) -> Option<f64> {
        match self {
            Self::Value(value) => Some(*value),
            Self::Unavailable(_) => None,
        }
    }
}

/// What a run took.
#[derive(Debug, Clone, PartialEq)]
pub struct Timing {
    /// Tokens of the agent.
    pub total_tokens: Measured,
    /// Wall-clock time in milliseconds.
    pub duration_ms: Measured,
    /// When the run began, in milliseconds since 1970.
    pub started_at_ms: Option<i64>,
    /// Whether the run was ended by its time limit.
    pub timed_out: bool,
    /// Whether the numbers are made up.
    pub simulated: bool,
    /// Whether two durations in the file differ by more than a twentieth and a tenth of a second.
    pub durations_differ: bool,
    /// Remarks on the run.
    pub note: Option<String>,
}

/// Reasons why a number is unavailable.
const MISSING: &str = "missing";
const NOT_POSITIVE: &str = "not_a_positive_number";
const SIMULATED: &str = "simulated";
const AGGREGATED: &str = "aggregated";

/// Keys of a duration in milliseconds.
const MILLISECONDS: [&str; 2] = ["duration_ms", "elapsed_ms"];

/// Keys of a duration in seconds.
const SECONDS: [&str; 6] = [
    "total_duration_seconds",
    "duration_seconds",
    "elapsed_seconds",
    "elapsed_s",
    "total_seconds",
    "executor_duration_seconds",
];

/// Pairs of keys of moments as numbers, with the number of milliseconds in their unit.
const MOMENTS: [(&str, &str, f64); 2] = [("start_ms", "end_ms", 1.0), ("start_ts", "end_ts", 1000.0)];

/// Milliseconds since 1970 from the year 2000 to the year 2200.
const MOMENTS_THERE_ARE: std::ops::Range<f64> = 946_684_800_000.0..7_258_118_400_000.0;

/// Pairs of keys of moments as ISO 8601 texts.
const STAMPS: [(&str, &str); 6] = [
    ("started_at", "completed_at"),
    ("started_at", "finished_at"),
    ("start_time", "end_time"),
    ("start_iso", "end_iso"),
    ("eval_start_utc", "eval_end_utc"),
    ("executor_start", "executor_end"),
];

impl Timing {
    /// No file: nothing is known.
    pub fn absent() -> Self {
        Self {
            total_tokens: Measured::Unavailable(MISSING),
            duration_ms: Measured::Unavailable(MISSING),
            started_at_ms: None,
            timed_out: false,
            simulated: false,
            durations_differ: false,
            note: None,
        }
    }

    /// Numbers that are known for several runs together only.
    pub fn aggregated() -> Self {
        Self {
            total_tokens: Measured::Unavailable(AGGREGATED),
            duration_ms: Measured::Unavailable(AGGREGATED),
            ..Self::absent()
        }
    }

    /// Reads a file.
    pub fn read(root: Item<'_, '_>) -> Self {
        let flag = |key: &str| root.get(key).and_then(Item::as_bool) == Some(true);
        let simulated = flag("simulated");
        let note = ["note", "_note", "notes"].into_iter().find_map(|key| root.get(key).and_then(Item::as_str));
        let (duration_ms, durations_differ) = duration(root);
        let known = |measured| if simulated { Measured::Unavailable(SIMULATED) } else { measured };
        Self {
            total_tokens: known(positive(root.get("total_tokens"))),
            duration_ms: known(duration_ms),
            started_at_ms: started_at_ms(root).filter(|_| !simulated),
            timed_out: flag("timed_out"),
            simulated,
            durations_differ,
            note: note.map(|note| note.into_owned()).filter(|note| !note.is_empty()),
        }
    }

    /// Fills what is missing from another file of the same run.
    pub fn or(mut self, other: &Self) -> Self {
        let missing = |measured: &Measured| *measured == Measured::Unavailable(MISSING);
        if missing(&self.total_tokens) {
            self.total_tokens = other.total_tokens.clone();
        }
        if missing(&self.duration_ms) {
            self.duration_ms = other.duration_ms.clone();
        }
        self.started_at_ms = self.started_at_ms.or(other.started_at_ms);
        self
    }
}

fn positive(value: Option<Item<'_, '_>>) -> Measured {
    let Some(value) = value.filter(|value| !value.is_null()) else { return Measured::Unavailable(MISSING) };
    match value.as_number().map(|number| number.as_f64()) {
        Some(number) if number > 0.0 && number.is_finite() => Measured::Value(number),
        _ => Measured::Unavailable(NOT_POSITIVE),
    }
}

/// The duration in milliseconds, and whether the file states another one as well.
fn duration(root: Item<'_, '_>) -> (Measured, bool) {
    let scaled = |keys: &[&str], scale: f64| -> Vec<Measured> {
        let there = keys.iter().filter_map(|key| root.get(key)).filter(|value| !value.is_null());
        there.map(|value| scale_by(positive(Some(value)), scale)).collect()
    };
    let stated = [scaled(&MILLISECONDS, 1.0), scaled(&SECONDS, 1000.0)].concat();
    let mut values = stated.iter().filter_map(Measured::value);
    if let Some(first) = values.next() {
        let differs = values.any(|other| (other - first).abs() > first.max(other) * 0.05 + 100.0);
        return (Measured::Value(first), differs);
    }
    if let Some(elapsed) = between_moments(root).filter(|elapsed| *elapsed > 0.0) {
        return (Measured::Value(elapsed), false);
    }
    let reason = if stated.is_empty() { MISSING } else { NOT_POSITIVE };
    (Measured::Unavailable(reason), false)
}

fn scale_by(measured: Measured, scale: f64) -> Measured {
    match measured {
        Measured::Value(value) => Measured::Value(value * scale),
        unavailable => unavailable,
    }
}

fn between_moments(root: Item<'_, '_>) -> Option<f64> {
    let number = |key: &str| root.get(key).and_then(Item::as_number).map(|number| number.as_f64());
    let elapsed = MOMENTS.iter().find_map(|(start, end, scale)| Some((number(end)? - number(start)?) * scale));
    elapsed.filter(|elapsed| elapsed.is_finite()).or_else(|| {
        let moment = |key: &str| root.get(key).and_then(Item::as_str).and_then(|text| milliseconds_of_stamp(&text));
        STAMPS.iter().find_map(|(start, end)| Some(moment(end)? - moment(start)?))
    })
}

/// When a run began, in milliseconds since 1970, if the object of a file says so. A number that is no moment of this
/// century, such as one that a stopwatch began at 0, is none.
pub(in crate::runs) fn started_at_ms(root: Item<'_, '_>) -> Option<i64> {
    let number = |key: &str| root.get(key).and_then(Item::as_number).map(|number| number.as_f64());
    let moment = |key: &str| root.get(key).and_then(Item::as_str).and_then(|text| milliseconds_of_stamp(&text));
    let started = MOMENTS.iter().filter_map(|(start, _, scale)| Some(number(start)? * scale));
    let mut started = started.chain(STAMPS.iter().filter_map(|(start, _)| moment(start)));
    started.find(|started| MOMENTS_THERE_ARE.contains(started)).map(|started| started as i64)
}

/// Milliseconds since 1970 of an ISO 8601 date and time; one without a zone is read as UTC.
pub fn milliseconds_of_stamp(text: &str) -> Option<f64> {
    let (date, rest) = text.trim().split_once(['T', ' '])?;
    let mut parts = date.splitn(3, '-');
    let (year, month, day) = (digits(parts.next()?)?, digits(parts.next()?)?, digits(parts.next()?)?);
    let (clock, offset_minutes) = split_zone(rest)?;
    let mut parts = clock.splitn(3, ':');
    let (hour, minute) = (digits(parts.next()?)?, digits(parts.next()?)?);
    let seconds = parts.next().map_or(Some(0.0), seconds_of)?;
    let valid = (1..=12).contains(&month)
        && (1..=days_of(year, month)).contains(&day)
        && hour < 24
        && minute < 60
        && seconds < 61.0;
    valid.then(|| {
        let minutes = (days_since_1970(year, month, day) * 24 + hour) * 60 + minute - offset_minutes;
        (minutes as f64 * 60.0 + seconds) * 1000.0
    })
}

fn digits(text: &str) -> Option<i64> {
    if text.is_empty() || text.len() > 4 || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        None
    } else {
        text.parse().ok()
    }
}

fn seconds_of(text: &str) -> Option<f64> {
    let plain = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    if plain { text.parse().ok() } else { None }
}

/// The time of day, and the offset of its zone from UTC in minutes.
fn split_zone(text: &str) -> Option<(&str, i64)> {
    if let Some(clock) = text.strip_suffix(['Z', 'z']) {
        return Some((clock, 0));
    }
    let Some(at) = text.rfind(['+', '-']) else { return Some((text, 0)) };
    let zone = text[at + 1..].replace(':', "");
    let (hours, minutes) = match zone.len() {
        2 => (digits(&zone)?, 0),
        4 if zone.is_ascii() => (digits(&zone[..2])?, digits(&zone[2..])?),
        _ => return None,
    };
    let sign = if text[at..].starts_with('-') { -1 } else { 1 };
    Some((&text[..at], sign * (hours * 60 + minutes)))
}

fn days_of(year: i64, month: i64) -> i64 {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    match month {
        2 => 28 + i64::from(leap),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::{Limits, Tape};

    fn timing(text: &str) -> Timing {
        Timing::read(Tape::read(text, Limits::SIDECAR).unwrap().root())
    }

    fn duration_ms(text: &str) -> Option<f64> {
        timing(text).duration_ms.value()
    }

    #[test]
    fn every_spelling_of_a_duration_is_read() {
        assert_eq!(duration_ms(r#"{"duration_ms": 23332, "total_duration_seconds": 23.3}"#), Some(23332.0));
        assert_eq!(duration_ms(r#"{"elapsed_ms": 5, "elapsed_s": 9}"#), Some(5.0));
        assert_eq!(duration_ms(r#"{"total_duration_seconds": 1.5}"#), Some(1500.0));
        assert_eq!(duration_ms(r#"{"total_seconds": 2}"#), Some(2000.0));
        assert_eq!(duration_ms(r#"{"start_ts": 10, "end_ts": 12.5}"#), Some(2500.0));
        // 45 s between the stamps; phases are not added up
        let stamps =
            r#"{"started_at": "2026-04-17T18:40:00Z", "completed_at": "2026-04-17T18:40:45Z", "phases": {"a": 3}}"#;
        assert_eq!(duration_ms(stamps), Some(45_000.0));
        assert_eq!(duration_ms(r#"{"phases": {"a": 3}}"#), None);
        assert_eq!(duration_ms(r#"{"start_ms": 5, "end_time": "2026-04-17T18:40:45Z"}"#), None);
    }

    #[test]
    fn the_moment_a_run_began_is_read_in_every_spelling() {
        let started = |text: &str| timing(text).started_at_ms;
        // date -u -d 2026-04-17T18:40:00Z +%s is 1776451200
        for text in [
            r#"{"started_at": "2026-04-17T18:40:00Z"}"#,
            r#"{"executor_start": "2026-04-17T20:40:00+02:00", "total_tokens": 5}"#,
            r#"{"start_ts": 1776451200, "end_ts": 1776451245}"#,
            r#"{"start_ms": 1776451200000}"#,
        ] {
            assert_eq!(started(text), Some(1_776_451_200_000), "{text}");
        }
        // a stopwatch, a word, a made-up run
        for text in [
            r#"{"start_ms": 0, "end_ms": 9}"#,
            r#"{"started_at": "yesterday"}"#,
            r#"{"started_at": "2026-04-17T18:40:00Z", "simulated": true}"#,
            "{}",
        ] {
            assert_eq!(started(text), None, "{text}");
        }
    }

    #[test]
    fn what_is_no_measurement_is_never_zero() {
        for (text, reason) in [
            (r#"{"total_tokens": 0}"#, NOT_POSITIVE),
            (r#"{"total_tokens": -3}"#, NOT_POSITIVE),
            (r#"{"total_tokens": "900"}"#, NOT_POSITIVE),
            (r#"{"total_tokens": null, "_note": "not captured"}"#, MISSING),
            (r#"{"total_tokens": 900, "simulated": true}"#, SIMULATED),
        ] {
            assert_eq!(timing(text).total_tokens, Measured::Unavailable(reason), "{text}");
        }
        assert_eq!(timing(r#"{"total_tokens": null, "_note": "not captured"}"#).note.as_deref(), Some("not captured"));
    }

    #[test]
    fn durations_that_contradict_each_other_are_noticed() {
        // 5 % of 23332 ms and 100 ms are 1,266.6 ms
        assert!(!timing(r#"{"duration_ms": 23332, "total_duration_seconds": 22.1}"#).durations_differ);
        assert!(timing(r#"{"duration_ms": 23332, "total_duration_seconds": 22.0}"#).durations_differ);
    }

    #[test]
    fn stamps_are_compared_as_moments() {
        let naive = milliseconds_of_stamp("2026-08-31T00:30:00").unwrap();
        assert_eq!(milliseconds_of_stamp("2026-08-31T00:30:00Z"), Some(naive));
        // 01:00 east of Greenwich by eight hours is 17:00 of the day before
        assert_eq!(milliseconds_of_stamp("2026-08-31T01:00:00+08:00"), Some(naive - 7.5 * 3_600_000.0));
        // date -u -d 2026-03-01T12:00:00.5Z +%s is 1772366400
        assert_eq!(milliseconds_of_stamp("2026-03-01 12:00:00.5"), Some(1_772_366_400_500.0));
        for wrong in ["", "2026", "2026-02-30T00:00:00Z", "2026-01-01T25:00:00Z", "2026-01-01T00:00:0é", "x-y-zT1:2:3"]
        {
            assert_eq!(milliseconds_of_stamp(wrong), None, "{wrong}");
        }
    }
}
