//! `benchmark.json` as the script of the forge pipeline writes it: its keys, its order, its numbers, its bytes but for the
//! moment, which is `null` when nobody names one. Two spaces of indentation, ASCII alone, no line break at the end.

use std::io::{self, Write};

use serde::Serialize;
use serde::ser::Serializer;
use serde_json::ser::Formatter;
use skill_lift_text::python::float_repr;

use crate::analyze::forge::upstream::{ArmFigures, Average, Delta, EvalFigures, UpstreamBenchmark};
use crate::json::Node;
use crate::json::write::Indented;
use crate::runs::calendar::civil;

#[derive(Serialize)]
struct Document<'a> {
    skill_name: &'a str,
    iteration: Digits<'a>,
    timestamp: Option<String>,
    summary: Summary,
    per_eval: Vec<Eval<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    comparison: Option<Comparison<'a>>,
}

#[derive(Serialize)]
struct Summary {
    total_evals: usize,
    with_skill: Figures,
    baseline: Figures,
    improvement_ratio: f64,
    token_savings_ratio: f64,
    time_savings_ratio: f64,
}

#[derive(Serialize)]
struct Eval<'a> {
    eval_id: Digits<'a>,
    eval_name: &'a Node<'static>,
    trials: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    with_skill: Option<Figures>,
    #[serde(skip_serializing_if = "Option::is_none")]
    baseline: Option<Figures>,
}

#[derive(Serialize)]
struct Figures {
    pass_rate: f64,
    pass_rate_std: f64,
    avg_tokens: WholeOrFloat,
    avg_duration_seconds: WholeOrFloat,
}

#[derive(Serialize)]
struct Comparison<'a> {
    previous_iteration: &'a Node<'static>,
    pass_rate_delta: WholeOrFloat,
    token_delta: WholeOrFloat,
    duration_delta: WholeOrFloat,
}

#[derive(Serialize)]
#[serde(untagged)]
enum WholeOrFloat {
    Whole(i64),
    Float(f64),
}

impl From<Average> for WholeOrFloat {
    fn from(average: Average) -> Self {
        match average {
            Average::Nothing => Self::Whole(0),
            Average::Mean(mean) => Self::Float(mean),
        }
    }
}

impl From<Delta> for WholeOrFloat {
    fn from(delta: Delta) -> Self {
        match delta {
            Delta::Integer(value) => Self::Whole(value),
            Delta::Float(value) => Self::Float(value),
        }
    }
}

/// A whole number of any length, as digits.
struct Digits<'a>(&'a str);

impl Serialize for Digits<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let raw = serde_json::value::RawValue::from_string(self.0.to_owned()).map_err(serde::ser::Error::custom)?;
        raw.serialize(serializer)
    }
}

impl From<&ArmFigures> for Figures {
    fn from(figures: &ArmFigures) -> Self {
        Self {
            pass_rate: figures.pass_rate,
            pass_rate_std: figures.pass_rate_std,
            avg_tokens: figures.avg_tokens.into(),
            avg_duration_seconds: figures.avg_duration_seconds.into(),
        }
    }
}

impl<'a> From<&'a EvalFigures> for Eval<'a> {
    fn from(eval: &'a EvalFigures) -> Self {
        Self {
            eval_id: Digits(&eval.eval_id),
            eval_name: &eval.eval_name,
            trials: eval.trials,
            with_skill: eval.with_skill.as_ref().map(Figures::from),
            baseline: eval.baseline.as_ref().map(Figures::from),
        }
    }
}

/// Writes the aggregate.
///
/// # Errors
/// Those of the writer.
pub fn write_upstream(
    writer: &mut dyn Write,
    skill_name: &str,
    generated_at: Option<i64>,
    benchmark: &UpstreamBenchmark,
) -> io::Result<()> {
    let document = Document {
        skill_name,
        iteration: Digits(&benchmark.iteration),
        timestamp: generated_at.map(stamp),
        summary: Summary {
            total_evals: benchmark.per_eval.len(),
            with_skill: (&benchmark.with_skill).into(),
            baseline: (&benchmark.baseline).into(),
            improvement_ratio: benchmark.improvement_ratio,
            token_savings_ratio: benchmark.token_savings_ratio,
            time_savings_ratio: benchmark.time_savings_ratio,
        },
        per_eval: benchmark.per_eval.iter().map(Eval::from).collect(),
        comparison: benchmark.comparison.as_ref().map(|comparison| Comparison {
            previous_iteration: &comparison.previous_iteration,
            pass_rate_delta: comparison.pass_rate_delta.into(),
            token_delta: comparison.token_delta.into(),
            duration_delta: comparison.duration_delta.into(),
        }),
    };
    let mut serializer = serde_json::Serializer::with_formatter(writer, PythonFormat(Indented::at_depth(0)));
    document.serialize(&mut serializer).map_err(io::Error::from)
}

/// A moment as Python writes one in UTC: `2026-03-06T12:00:00.000000+00:00`.
pub(in crate::report) fn stamp(seconds: i64) -> String {
    let (days, rest) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let (year, month, day) = civil(days);
    let (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.000000+00:00")
}

/// Python's `json.dumps(…, indent=2)`: its floats, and nothing but printable ASCII.
struct PythonFormat(Indented);

impl Formatter for PythonFormat {
    fn write_f64<W: ?Sized + Write>(&mut self, writer: &mut W, value: f64) -> io::Result<()> {
        writer.write_all(float_repr(value).as_bytes())
    }

    fn write_string_fragment<W: ?Sized + Write>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()> {
        let mut units = [0; 2];
        for character in fragment.chars() {
            if matches!(character, ' '..='~') {
                writer.write_all(&[character as u8])?;
                continue;
            }
            for unit in character.encode_utf16(&mut units) {
                write!(writer, "\\u{unit:04x}")?;
            }
        }
        Ok(())
    }

    fn begin_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.begin_array(writer)
    }

    fn end_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.end_array(writer)
    }

    fn begin_array_value<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        self.0.begin_array_value(writer, first)
    }

    fn end_array_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.end_array_value(writer)
    }

    fn begin_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.begin_object(writer)
    }

    fn end_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.end_object(writer)
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        self.0.begin_object_key(writer, first)
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.begin_object_value(writer)
    }

    fn end_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.end_object_value(writer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_written_in_utc() {
        assert_eq!(stamp(0), "1970-01-01T00:00:00.000000+00:00");
        // a leap day, and a moment before 1970
        assert_eq!(stamp(1_709_210_096), "2024-02-29T12:34:56.000000+00:00");
        assert_eq!(stamp(-1), "1969-12-31T23:59:59.000000+00:00");
    }

    #[test]
    fn strings_are_ascii_and_floats_are_pythons() {
        let mut out = Vec::new();
        let mut serializer = serde_json::Serializer::with_formatter(&mut out, PythonFormat(Indented::at_depth(0)));
        ("é\u{7f}\n\"😀", 1000.0, 1e16, 5e-5).serialize(&mut serializer).unwrap();
        // python3 -c 'import json; print(json.dumps(["é\x7f\n\"😀", 1000.0, 1e16, 5e-5], indent=2))'
        let expected = "[\n  \"\\u00e9\\u007f\\n\\\"\\ud83d\\ude00\",\n  1000.0,\n  1e+16,\n  5e-05\n]";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }
}
