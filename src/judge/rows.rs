//! The rows of a file that judges wrote: JSON lines, an array, one object, or an object that holds a list of them.

use skill_lift_text::python;

use crate::json::{self, JsonError, Node, parse_lines};

/// Why a text is no list of rows.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RowsProblem {
    /// Not strict JSON.
    #[error("line {line}: {error}")]
    Json {
        /// Line of the file, from 1.
        line: usize,
        /// What is wrong there.
        error: JsonError,
    },
    /// Something else than objects.
    #[error("holds something else than objects")]
    NotObjects,
    /// One object that neither is a row nor holds some.
    #[error("is one object that neither is a result nor holds a list of results")]
    NoList,
}

/// The rows of a text, whatever form it has. A single object is a row if it has one of the keys of an id, else it holds a
/// list under one of the keys of a list.
pub(super) fn split_rows<'a>(
    text: &'a str,
    id_keys: &[&str],
    list_keys: &[&str],
) -> Result<Vec<Node<'a>>, RowsProblem> {
    let body = python::strip(text.strip_prefix('\u{feff}').unwrap_or(text));
    if body.is_empty() {
        return Ok(Vec::new());
    }
    let rows = if body.starts_with('[') {
        items(whole(text)?)?
    } else {
        let lines: Result<Vec<_>, _> = parse_lines(text, json::Limits::SIDECAR)
            .map(|(line, node)| node.map_err(|error| RowsProblem::Json { line, error }))
            .collect();
        match lines {
            Ok(rows) => rows,
            // one object over several lines is fine; a broken line is named where it stands
            Err(error) => match whole(text) {
                Ok(node) => vec![node],
                Err(_) if first_line_is_json(text) => return Err(error),
                Err(of_whole) => return Err(of_whole),
            },
        }
    };
    match rows.as_slice() {
        [one] if one.members().is_some() && id_keys.iter().all(|key| one.get(key).is_none()) => {
            let list = list_keys.iter().find_map(|key| one.get(key)).ok_or(RowsProblem::NoList)?;
            items(list.clone())
        }
        _ if rows.iter().all(|row| row.members().is_some()) => Ok(rows),
        _ => Err(RowsProblem::NotObjects),
    }
}

fn first_line_is_json(text: &str) -> bool {
    parse_lines(text, json::Limits::SIDECAR).next().is_some_and(|(_, node)| node.is_ok())
}

fn items(list: Node<'_>) -> Result<Vec<Node<'_>>, RowsProblem> {
    let json::Value::Array(items) = list.value else {
        return Err(RowsProblem::NotObjects);
    };
    if items.iter().all(|item| item.members().is_some()) { Ok(items) } else { Err(RowsProblem::NotObjects) }
}

fn whole(text: &str) -> Result<Node<'_>, RowsProblem> {
    json::parse(text, json::Limits::SIDECAR).map_err(|error| {
        let before = text.as_bytes().get(..error.span.start).unwrap_or_default();
        RowsProblem::Json { line: before.iter().filter(|byte| **byte == b'\n').count() + 1, error }
    })
}
