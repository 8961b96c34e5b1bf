//! Reads the files of rows that a suite names.

use std::path::Path;
use std::sync::Arc;

use skill_lift_text::python;

use super::datasets::FileRows;
use super::diagnostic::SourceText;
use super::files::safe_relative;
use super::load::{LoadOptions, read_text};
use super::report::Report;
use crate::json::{self, JsonErrorKind, Limits, Node, Span};

/// The text of a dataset file.
pub(super) struct DatasetText {
    id: String,
    span: Span,
    source: Arc<SourceText>,
}

/// Reads the files that `dataset_files` names.
pub(super) fn dataset_texts(
    report: &mut Report<'_>,
    root: &Node<'_>,
    directory: &Path,
    folder: &Path,
    options: &LoadOptions,
) -> Vec<DatasetText> {
    let rule = "dataset";
    let Some(node) = root.get("dataset_files").filter(|node| !node.is_null()) else { return Vec::new() };
    let Some(members) = node.members() else {
        report.error(rule, node.span, "dataset_files must map dataset ids to paths of JSON-lines files");
        return Vec::new();
    };
    let mut texts = Vec::new();
    for member in members {
        let (path, span) = (member.value.python_str(), member.value.span);
        let mut report = report.at(format!("dataset_files[{}]", python::repr_str(&member.key)));
        let full = folder.join(&path);
        if !full.is_file() {
            report.error("missing-file", span, format!("does not exist: {path}"));
            continue;
        }
        let is_inside = full.canonicalize().is_ok_and(|real_path| real_path.starts_with(directory));
        if safe_relative(&path).is_none() || !is_inside {
            let message = format!("leads out of the folder of the suite: {path}");
            if options.allow_external_files {
                report.warn("external-path", span, message);
            } else {
                let help = "move the file below the folder of the suite, or allow it with --allow-external-files";
                report.error_with_help("external-path", span, message, help);
            }
        }
        match read_text(&full, options.max_bytes) {
            Err(message) => report.error(rule, span, message),
            Ok(text) => {
                let source = Arc::new(SourceText { name: full.display().to_string(), text });
                texts.push(DatasetText { id: member.key.clone().into_owned(), span, source });
            }
        }
    }
    texts
}

impl DatasetText {
    /// One row a line; blank lines are skipped.
    pub(super) fn rows(&self, report: &mut Report<'_>) -> FileRows<'_> {
        let mut rows = Vec::new();
        let mut offset = if self.source.text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        for (number, line) in (1..).zip(self.source.text[offset..].split('\n')) {
            if !python::strip(line).is_empty() {
                let document = json::read(line, Limits::SUITE);
                let place = format!("{}: line {number}", self.source.name);
                let mut report = report.of(&self.source, offset, place);
                for error in &document.errors {
                    let message = match &error.kind {
                        JsonErrorKind::Syntax(what) => format!("is not valid JSON: {what}"),
                        other => format!("{other} at {}", error.path),
                    };
                    report.error("dataset", error.span, message);
                }
                rows.extend(document.root.map(|row| (offset, row)));
            }
            offset += line.len() + 1;
        }
        FileRows { id: self.id.clone(), span: self.span, source: Arc::clone(&self.source), rows }
    }
}
