//! Files as Python's `json` reads them: what it does not accept counts as absent, what it makes of the rest decides.

use super::UpstreamError;
use crate::json::{JsonErrorKind, Limits as JsonLimits, Node, Value, parse};
use crate::runs::directory::{FileProblem, RunDirectory};
use crate::runs::workspace::position;

/// A file that was looked for.
pub(super) enum Loaded {
    /// There is none, or it is no JSON.
    Absent {
        /// Why a file that is there counts as absent.
        problem: Option<String>,
    },
    /// Its value.
    Value(Node<'static>),
}

/// Reads a file of a directory. `shown` is its path for people.
pub(super) fn load(directory: &mut RunDirectory, name: &str, shown: &str, limit: u64) -> Result<Loaded, UpstreamError> {
    let path = || shown.to_owned();
    let absent = |problem: String| Ok(Loaded::Absent { problem: Some(problem) });
    let bytes = match directory.read(name, limit) {
        Ok(bytes) => bytes,
        Err(FileProblem::Missing(_)) => return Ok(Loaded::Absent { problem: None }),
        Err(FileProblem::LeavesRun(_)) => {
            return Err(UpstreamError::Refused { path: path(), problem: "a link leads out of its folder".to_owned() });
        }
        Err(problem) => return Err(UpstreamError::Unreadable { path: path(), problem: problem.to_string() }),
    };
    let Ok(text) = std::str::from_utf8(&bytes) else {
        return Err(UpstreamError::Stops { path: path(), problem: "not valid UTF-8".to_owned() });
    };
    if text.starts_with('\u{feff}') {
        return absent("begins with a byte order mark".to_owned());
    }
    match parse(text, JsonLimits::SIDECAR) {
        Ok(value) => Ok(Loaded::Value(value.into_owned())),
        Err(error) => {
            let (line, column) = position(text, error.span.start);
            let problem = format!("line {line}, column {column}: {error}");
            match &error.kind {
                JsonErrorKind::Syntax(_) => absent(problem),
                _ => Err(UpstreamError::Refused { path: path(), problem }),
            }
        }
    }
}

/// The object of a file that its reader asks for keys; `None` when it is absent or empty.
pub(super) fn object(loaded: Loaded, shown: &str) -> Result<Option<Node<'static>>, UpstreamError> {
    match loaded {
        Loaded::Absent { .. } => Ok(None),
        Loaded::Value(value) if !value.is_truthy() => Ok(None),
        Loaded::Value(value) if value.members().is_some() => Ok(Some(value)),
        Loaded::Value(value) => Err(stops(shown, format!("it is no object ({})", value.type_name()))),
    }
}

/// The number that Python computes with: `true` is 1, a missing key the default.
pub(super) fn number(object: &Node<'_>, key: &str, shown: &str) -> Result<f64, UpstreamError> {
    let Some(value) = object.get(key) else { return Ok(0.0) };
    let number = match &value.value {
        Value::Bool(flag) => f64::from(u8::from(*flag)),
        Value::Number(number) => number.as_f64(),
        _ => return Err(stops(shown, format!("`{key}` is no number ({})", value.type_name()))),
    };
    if number.is_finite() { Ok(number) } else { Err(stops(shown, format!("`{key}` is too large"))) }
}

pub(super) fn stops(shown: &str, problem: String) -> UpstreamError {
    UpstreamError::Stops { path: shown.to_owned(), problem }
}
