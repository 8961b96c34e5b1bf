//! The identity of a run, and the names of its directories.

use std::borrow::Cow;

use serde::Serialize;

/// What kind of measurement a run belongs to. Runs of different populations are never compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Population {
    /// An answer to a task.
    Answer,
    /// Whether the skill was discovered.
    Trigger,
    /// A judge's work.
    Judge,
    /// Facts about files, no run.
    Static,
}

/// Identifies a run within a run tree. A tree belongs to one suite.
///
/// There is deliberately no order on keys: the order of cases and variants is that of the suite.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct RunKey {
    /// Id of the case.
    pub case_id: String,
    /// Name of the model, if the tree or the run names one.
    pub model: Option<String>,
    /// Name of the arm.
    pub variant: String,
    /// Number of the repetition; 1 and up in a well-formed tree.
    pub repetition: u32,
    /// What kind of measurement it is.
    pub population: Population,
}

/// The directory name of a model: the bytes of `%`, `/`, `\` and of control characters become `%XX`.
///
/// Ordinary names stay as they are, so that trees of other tools are read by the same rule.
pub fn model_directory(model: &str) -> Cow<'_, str> {
    let special = |c: char| matches!(c, '%' | '/' | '\\' | '\u{7f}') || c < '\u{20}';
    if !model.contains(special) {
        return Cow::Borrowed(model);
    }
    let mut name = String::with_capacity(model.len() + 8);
    for character in model.chars() {
        if special(character) {
            name.push_str(&format!("%{:02X}", u32::from(character)));
        } else {
            name.push(character);
        }
    }
    Cow::Owned(name)
}

/// The model of a directory name: what the run says if it is written like that, else the decoded name if encoding it
/// gives the same name again, else the name itself.
pub fn model_of_directory<'a>(directory: &'a str, recorded: Option<&'a str>) -> Cow<'a, str> {
    if let Some(model) = recorded
        && model_directory(model) == directory
    {
        return Cow::Borrowed(model);
    }
    match decode(directory) {
        Some(model) if model_directory(&model) == directory => Cow::Owned(model),
        _ => Cow::Borrowed(directory),
    }
}

fn decode(directory: &str) -> Option<String> {
    if !directory.contains('%') {
        return None;
    }
    let bytes = directory.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at] == b'%' {
            let digits = directory.get(at + 1..at + 3)?;
            decoded.push(u8::from_str_radix(digits, 16).ok()?);
            at += 3;
        } else {
            decoded.push(bytes[at]);
            at += 1;
        }
    }
    String::from_utf8(decoded).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinary_model_names_are_their_own_directories() {
        for name in ["claude-sonnet-4.5", "gpt 5", "模型"] {
            assert_eq!(model_directory(name), name);
            assert_eq!(model_of_directory(name, None), name);
        }
    }

    #[test]
    fn special_characters_are_encoded_and_come_back() {
        let name = "org/model%1\\x\n";
        let directory = model_directory(name);
        assert_eq!(directory, "org%2Fmodel%251%5Cx%0A");
        assert_eq!(model_of_directory(&directory, None), name);
    }

    #[test]
    fn a_name_that_only_looks_encoded_stays() {
        // "%41" decodes to "A", but "A" would not have been encoded
        assert_eq!(model_of_directory("%41", None), "%41");
        assert_eq!(model_of_directory("50%", None), "50%");
        assert_eq!(model_of_directory("a%2Fb", Some("a/b")), "a/b");
        assert_eq!(model_of_directory("a", Some("other")), "a");
    }
}
