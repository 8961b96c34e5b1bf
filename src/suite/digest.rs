//! The digest of a suite: its content with the files it refers to, in a canonical form.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use sha2::{Digest, Sha256};

use super::datasets::FileRows;
use super::environment::Environment;
use super::files::{Found, safe_relative};
use super::inputs::all_checks;
use super::model::{Case, Split};
use super::{Check, script};
use crate::json::{Item, Member, Node, Value};

/// A file or folder that should be part of the digest cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("cannot read {path}: {reason}")]
pub(super) struct Unreadable {
    path: String,
    reason: String,
}

/// The digest of a suite that has no errors.
///
/// # Errors
/// A file that the suite refers to cannot be read.
pub(super) fn compute(
    environment: &Environment,
    root: &Node<'_>,
    file_rows: &[FileRows<'_>],
    cases: &[Case],
    split: Option<Split>,
) -> Result<String, Unreadable> {
    let selected = || cases.iter().filter(|case| split.is_none_or(|split| case.split == split));
    let mut canonical = Canonical::default();
    canonical.raw("{\"manifest\":");
    canonical.manifest(root, file_rows);
    canonical.raw(",\"referenced_files\":[");
    for (index, path) in referenced(environment, selected()).iter().enumerate() {
        canonical.comma(index);
        canonical.referenced_file(environment, path)?;
    }
    canonical.raw("],\"schema_version\":1,\"script_oracle_trees\":[");
    for (index, (shown, root)) in oracle_roots(environment, selected()).iter().enumerate() {
        canonical.comma(index);
        canonical.raw("{\"path\":");
        canonical.string(shown);
        canonical.raw(&format!(",\"sha256\":\"{}\"}}", tree_digest(environment, root)?));
    }
    canonical.raw("]}");
    Ok(format!("sha256:{}", canonical.finish()))
}

/// The digest of an object with these members in the canonical form: keys in order, no white space, numbers as Python
/// writes them.
pub fn canonical_json_sha256<'t, 'a>(members: impl IntoIterator<Item = (&'t str, Item<'t, 'a>)>) -> String
where
    'a: 't,
{
    let members: BTreeMap<&str, Item<'_, '_>> = members.into_iter().collect();
    let mut canonical = Canonical::default();
    canonical.raw("{");
    for (index, (key, value)) in members.into_iter().enumerate() {
        canonical.comma(index);
        canonical.string(key);
        canonical.raw(":");
        match value.items() {
            None => canonical.node(&value.to_node()),
            // a list may be long: one item at a time becomes a tree
            Some(items) => {
                canonical.raw("[");
                for (index, item) in items.enumerate() {
                    canonical.comma(index);
                    canonical.node(&item.to_node());
                }
                canonical.raw("]");
            }
        }
    }
    canonical.raw("}");
    format!("sha256:{}", canonical.finish())
}

/// Every file that the cases refer to, as written.
fn referenced<'c>(environment: &Environment, cases: impl Iterator<Item = &'c Case>) -> BTreeSet<&'c str> {
    let mut paths = BTreeSet::new();
    for case in cases {
        paths.extend(case.prompt_ref.as_deref());
        paths.extend(case.files.iter().map(String::as_str));
        for check in all_checks(case) {
            match check {
                Check::GoldenOutput { reference, .. } => {
                    paths.insert(reference);
                }
                Check::Script { command, .. } => {
                    let is_file = |part: &&String| {
                        !part.starts_with('/') && matches!(&*environment.files.find(part), Found::File(..))
                    };
                    paths.extend(command.iter().filter(is_file).map(String::as_str));
                }
                _ => {}
            }
        }
    }
    paths
}

/// The folders that script oracles depend on, by the path they are named with.
fn oracle_roots<'c>(
    environment: &Environment,
    cases: impl Iterator<Item = &'c Case>,
) -> BTreeMap<String, std::path::PathBuf> {
    let directory = environment.files.directory();
    let mut roots = BTreeMap::new();
    let commands = cases.flat_map(all_checks).filter_map(|check| match check {
        Check::Script { command, .. } => Some(command),
        _ => None,
    });
    for part in commands.flatten().filter(|part| !part.starts_with('/')) {
        let Found::File(path, _) = &*environment.files.find(part) else { continue };
        let root = match script::oracle_root(directory, path) {
            Some(root) => Some(root),
            // an oracle elsewhere in the repository: its own folder, unless that holds the suite itself
            None => path.parent().filter(|folder| !directory.starts_with(folder)).map(Path::to_owned),
        };
        if let Some(root) = root {
            roots.insert(relative_to(directory, &root), root);
        }
    }
    roots
}

/// A path as seen from a folder, with `..` where it lies outside.
fn relative_to(folder: &Path, path: &Path) -> String {
    let common = folder.components().zip(path.components()).take_while(|(a, b)| a == b).count();
    let up = folder.components().skip(common).map(|_| "..".to_owned());
    let down = path.components().skip(common).map(|part| part.as_os_str().to_string_lossy().into_owned());
    up.chain(down).collect::<Vec<_>>().join("/")
}

fn tree_digest(environment: &Environment, root: &Path) -> Result<String, Unreadable> {
    let unreadable = |reason: String| Unreadable { path: root.display().to_string(), reason };
    let (tree, _) = environment.oracle_trees.tree(root);
    let files = tree.as_ref().as_ref().map_err(|reason| unreadable(reason.clone()))?;
    let mut hash = Sha256::new();
    for file in files {
        let relative = file.join("/");
        hash.update(relative.as_bytes());
        hash.update([0]);
        update_with_file(&mut hash, &root.join(&relative)).map_err(|error| unreadable(error.to_string()))?;
    }
    Ok(hex(&hash.finalize()))
}

fn update_with_file(hash: &mut Sha256, path: &Path) -> io::Result<()> {
    struct Sink<'h>(&'h mut Sha256);
    impl Write for Sink<'_> {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.update(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    io::copy(&mut File::open(path)?, &mut Sink(hash)).map(|_| ())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Canonical JSON on its way into a digest: keys sorted, no spaces, numbers in the form that Python writes.
#[derive(Default)]
struct Canonical {
    hash: Sha256,
    buffer: Vec<u8>,
}

const BUFFER: usize = 1 << 16;

impl Canonical {
    fn raw(&mut self, text: &str) {
        self.buffer.extend_from_slice(text.as_bytes());
        if self.buffer.len() >= BUFFER {
            self.hash.update(&self.buffer);
            self.buffer.clear();
        }
    }

    fn finish(mut self) -> String {
        self.hash.update(&self.buffer);
        hex(&self.hash.finalize())
    }

    fn comma(&mut self, index: usize) {
        if index > 0 {
            self.raw(",");
        }
    }

    fn string(&mut self, text: &str) {
        self.raw("\"");
        let mut rest = text;
        while let Some(at) = rest.find(|c: char| matches!(c, '"' | '\\') || c < ' ') {
            self.raw(&rest[..at]);
            let escaped = rest[at..].chars().next().unwrap_or_default();
            match escaped {
                '"' => self.raw("\\\""),
                '\\' => self.raw("\\\\"),
                '\n' => self.raw("\\n"),
                '\r' => self.raw("\\r"),
                '\t' => self.raw("\\t"),
                '\u{8}' => self.raw("\\b"),
                '\u{c}' => self.raw("\\f"),
                other => self.raw(&format!("\\u{:04x}", u32::from(other))),
            }
            rest = &rest[at + escaped.len_utf8()..];
        }
        self.raw(rest);
        self.raw("\"");
    }

    fn node(&mut self, node: &Node<'_>) {
        match &node.value {
            Value::Null => self.raw("null"),
            Value::Bool(true) => self.raw("true"),
            Value::Bool(false) => self.raw("false"),
            Value::Number(number) => self.raw(&number.python_repr()),
            Value::String(text) => self.string(text),
            Value::Array(_) => self.list(node, Self::node),
            Value::Object(_) => self.object(node, |canonical, _, value| canonical.node(value)),
        }
    }

    fn list(&mut self, node: &Node<'_>, mut write: impl FnMut(&mut Self, &Node<'_>)) {
        let Some(items) = node.items() else { return self.node(node) };
        self.raw("[");
        for (index, item) in items.iter().enumerate() {
            self.comma(index);
            write(self, item);
        }
        self.raw("]");
    }

    fn object(&mut self, node: &Node<'_>, mut write: impl FnMut(&mut Self, &str, &Node<'_>)) {
        let Some(members) = node.members() else { return self.node(node) };
        let mut sorted: Vec<&Member<'_>> = members.iter().collect();
        sorted.sort_by(|a, b| a.key.cmp(&b.key));
        self.raw("{");
        for (index, member) in sorted.into_iter().enumerate() {
            self.comma(index);
            self.string(&member.key);
            self.raw(":");
            write(self, &member.key, &member.value);
        }
        self.raw("}");
    }

    /// The suite with its dataset files inlined and the paths of its assertions normalised.
    fn manifest(&mut self, root: &Node<'_>, file_rows: &[FileRows<'_>]) {
        let has_files = root.get("dataset_files").is_some_and(|files| !files.is_null());
        let placeholder = Node::synthetic(Value::Null);
        let mut members: BTreeMap<&str, &Node<'_>> =
            root.members().unwrap_or_default().iter().map(|member| (member.key.as_ref(), &member.value)).collect();
        members.remove("dataset_files");
        if has_files {
            members.entry("datasets").or_insert(&placeholder);
        }
        self.raw("{");
        for (index, (key, value)) in members.into_iter().enumerate() {
            self.comma(index);
            self.string(key);
            self.raw(":");
            match key {
                "datasets" if has_files => self.datasets(value, file_rows),
                "cases" => self.list(value, Self::case),
                _ => self.node(value),
            }
        }
        self.raw("}");
    }

    fn datasets(&mut self, inline: &Node<'_>, file_rows: &[FileRows<'_>]) {
        enum Rows<'r, 't> {
            Inline(&'r Node<'t>),
            File(&'r FileRows<'t>),
        }
        let members = inline.members().unwrap_or_default();
        let mut sets: BTreeMap<&str, Rows<'_, '_>> =
            members.iter().map(|member| (member.key.as_ref(), Rows::Inline(&member.value))).collect();
        sets.extend(file_rows.iter().map(|file| (file.id.as_str(), Rows::File(file))));
        self.raw("{");
        for (index, (id, rows)) in sets.into_iter().enumerate() {
            self.comma(index);
            self.string(id);
            self.raw(":");
            match rows {
                Rows::Inline(node) => self.node(node),
                Rows::File(file) => {
                    self.raw("[");
                    for (index, (_, row)) in file.rows.iter().enumerate() {
                        self.comma(index);
                        self.node(row);
                    }
                    self.raw("]");
                }
            }
        }
        self.raw("}");
    }

    fn case(&mut self, case: &Node<'_>) {
        if case.get("template").is_some_and(Node::is_truthy) {
            return self.node(case);
        }
        self.object(case, |canonical, key, value| match key {
            "assertions" => canonical.list(value, Self::assertion),
            "turns" => canonical.list(value, |canonical, turn| {
                canonical.object(turn, |canonical, key, value| match key {
                    "assertions" => canonical.list(value, Self::assertion),
                    _ => canonical.node(value),
                });
            }),
            _ => canonical.node(value),
        });
    }

    /// An assertion with its path operands normalised and under their own names.
    fn assertion(&mut self, node: &Node<'_>) {
        let paths: &[(&str, &str)] = match node.get("type").and_then(Node::as_str) {
            Some("file_exists") => &[("path", "path"), ("value", "path")],
            Some("json_field_equals" | "structured_output") => &[("path", "path")],
            Some("golden_output") => &[("reference", "reference"), ("value", "reference"), ("artifact", "artifact")],
            Some("similarity") => &[("artifact", "artifact")],
            _ => return self.node(node),
        };
        let members = node.members().unwrap_or_default().iter().map(|member| {
            let path = paths.iter().find(|(key, _)| *key == member.key);
            match (path, member.value.as_str().and_then(safe_relative)) {
                (Some((_, name)), Some(normalised)) => Member {
                    key: Cow::Borrowed(*name),
                    key_span: member.key_span,
                    value: Node { span: member.value.span, value: Value::String(Cow::Owned(normalised)) },
                },
                _ => member.clone(),
            }
        });
        self.node(&Node { span: node.span, value: Value::Object(members.collect()) });
    }

    fn referenced_file(&mut self, environment: &Environment, path: &str) -> Result<(), Unreadable> {
        let found = environment.files.find(path);
        let directory = environment.files.directory();
        let shown = match found.real_path() {
            Some(real_path) => relative_to(directory, real_path),
            None => safe_relative(path).unwrap_or_else(|| path.to_owned()),
        };
        let Found::File(real_path, _) = &*found else {
            self.raw("{\"availability\":\"missing\",\"path\":");
            self.string(&shown);
            self.raw("}");
            return Ok(());
        };
        let mut hash = Sha256::new();
        update_with_file(&mut hash, real_path)
            .map_err(|error| Unreadable { path: path.to_owned(), reason: error.to_string() })?;
        self.raw("{\"path\":");
        self.string(&shown);
        self.raw(&format!(",\"sha256\":\"{}\"}}", hex(&hash.finalize())));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::{Limits, parse};

    fn canonical(text: &str, write: impl FnOnce(&mut Canonical, &Node<'_>)) -> String {
        let mut canonical = Canonical::default();
        write(&mut canonical, &parse(text, Limits::SUITE).unwrap());
        String::from_utf8(canonical.buffer).unwrap()
    }

    #[test]
    fn canonical_form_sorts_keys_and_keeps_number_kinds() {
        let text = r#"{"b": 1.0, "a": [1, -0, 1e20, 0.00001, "é\u0001\n\"\\/"], "Z": null, "é": {}, "aa": true}"#;
        assert_eq!(
            canonical(text, |canonical, node| canonical.node(node)),
            r#"{"Z":null,"a":[1,0,1e+20,1e-05,"é\u0001\n\"\\/"],"aa":true,"b":1.0,"é":{}}"#
        );
    }

    #[test]
    fn paths_are_normalised_except_in_templates() {
        let text = r#"{"assertions": [{"type": "file_exists", "value": "./a//b"}], "id": "c"}"#;
        assert_eq!(
            canonical(text, Canonical::case),
            r#"{"assertions":[{"path":"a/b","type":"file_exists"}],"id":"c"}"#
        );
        let text = r#"{"assertions": [{"type": "file_exists", "value": "./a"}], "template": "d"}"#;
        assert_eq!(
            canonical(text, Canonical::case),
            r#"{"assertions":[{"type":"file_exists","value":"./a"}],"template":"d"}"#
        );
    }

    #[test]
    fn paths_outside_go_up() {
        assert_eq!(relative_to(Path::new("/r/evals"), Path::new("/r/tools/x")), "../tools/x");
        assert_eq!(relative_to(Path::new("/r/evals"), Path::new("/r/evals/x/y")), "x/y");
    }
}
