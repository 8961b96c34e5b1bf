//! What an assertion states, whatever it is spelt like, and how it is compiled into a check.

use skill_lift_text::view::Comparison;

use super::remark::{Remark, cut};
use crate::json::Span;
use crate::suite::check::{Check, TextMatching, WrittenPattern};
use crate::suite::environment::Patterns;
use crate::suite::files::safe_relative;
use crate::suite::model::AssertionType;

/// What a machine can decide.
#[derive(Debug)]
pub(super) enum Rule {
    Contains(String),
    ContainsAny(Vec<String>),
    ContainsAll(Vec<String>),
    NotContains(String),
    ExcludesAny {
        needles: Vec<String>,
        ignore_case: bool,
    },
    Regex(String),
    /// Ignores case unless the assertion says otherwise.
    RegexIncludes(String),
    NotRegex {
        source: String,
        ignore_case: bool,
    },
    StartsWith(String),
    EndsWith(String),
    LineCountGe(u64),
    ValidJson,
    JsonKeyExists(String),
    FileExists(String),
    ContainsInFile {
        file: String,
        needle: String,
    },
}

/// What rules are compiled with.
pub(super) struct Compiler<'c> {
    pub(super) patterns: &'c Patterns,
    /// What the assertion says about case, if it says something.
    pub(super) case_sensitive: Option<bool>,
    /// Where the assertion stands.
    pub(super) span: Span,
}

impl Compiler<'_> {
    /// The type and the check of a rule; remarks on its operands.
    ///
    /// # Errors
    /// What is wrong with an operand.
    pub(super) fn compile(&self, rule: Rule, remarks: &mut Vec<Remark>) -> Result<(AssertionType, Check), Remark> {
        use AssertionType as T;
        Ok(match rule {
            Rule::Contains(needle) => {
                (T::Contains, Check::Contains { needle: self.needle(needle, remarks)?, matching: self.folded() })
            }
            Rule::ContainsAny(needles) => {
                let needles = self.needles(needles, remarks)?;
                (T::ContainsAny, Check::ContainsAny { needles, matching: self.folded() })
            }
            Rule::ContainsAll(needles) => {
                let needles = self.needles(needles, remarks)?;
                (T::ContainsAll, Check::ContainsAll { needles, matching: self.folded() })
            }
            Rule::NotContains(needle) => {
                let needles = vec![self.needle(needle, remarks)?];
                (T::NotContains, Check::ExcludesAny { needles, matching: self.folded() })
            }
            Rule::ExcludesAny { needles, ignore_case } => {
                let needles = self.needles(needles, remarks)?;
                (T::ExcludesAny, Check::ExcludesAny { needles, matching: self.matching(ignore_case) })
            }
            Rule::Regex(source) => (T::Regex, self.regex(source, false)?),
            Rule::RegexIncludes(source) => (T::Regex, self.regex(source, true)?),
            Rule::NotRegex { source, ignore_case } => {
                let pattern = self.pattern(source, ignore_case)?;
                (T::NotRegex, Check::NotRegex { pattern, comparison: Comparison::Exact })
            }
            Rule::StartsWith(needle) => {
                (T::StartsWith, Check::StartsWith { needle: self.needle(needle, remarks)?, matching: self.folded() })
            }
            Rule::EndsWith(needle) => {
                (T::EndsWith, Check::EndsWith { needle: self.needle(needle, remarks)?, matching: self.folded() })
            }
            Rule::LineCountGe(min) => (T::LineCountGe, Check::LineCountGe { min }),
            Rule::ValidJson => (T::ValidJson, Check::ValidJson),
            Rule::JsonKeyExists(key) => (T::JsonKeyExists, Check::JsonKeyExists { key: self.filled(key)? }),
            Rule::FileExists(path) => (T::FileExists, Check::FileExists { path: self.output_path(&path)? }),
            Rule::ContainsInFile { file, needle } => {
                let path = self.output_path(&file)?;
                let needle = self.needle(needle, remarks)?;
                (T::ContainsInFile, Check::ContainsInFile { path, needle, matching: self.folded() })
            }
        })
    }

    /// A pattern with the case rule of the assertion.
    pub(super) fn pattern(&self, source: String, ignore_case: bool) -> Result<WrittenPattern, Remark> {
        let source = self.filled(source)?;
        let ignore_case = self.case_sensitive.map_or(ignore_case, |sensitive| !sensitive);
        match self.patterns.parse(&source, ignore_case) {
            Ok(pattern) => Ok(WrittenPattern { source, pattern }),
            Err(problem) => {
                let message = format!("the pattern `{}` cannot be read: {problem}", cut(&source));
                Err(Remark::error("invalid_regex", self.span, message, "write a pattern in the syntax of Python's re"))
            }
        }
    }

    fn regex(&self, source: String, ignore_case: bool) -> Result<Check, Remark> {
        Ok(Check::Regex { pattern: self.pattern(source, ignore_case)?, comparison: Comparison::Exact })
    }

    fn folded(&self) -> TextMatching {
        self.matching(true)
    }

    fn matching(&self, ignore_case: bool) -> TextMatching {
        let ignore_case = self.case_sensitive.map_or(ignore_case, |sensitive| !sensitive);
        TextMatching { ignore_case, comparison: Comparison::Exact }
    }

    fn needles(&self, needles: Vec<String>, remarks: &mut Vec<Remark>) -> Result<Vec<String>, Remark> {
        if needles.is_empty() {
            return Err(self.blank("the list of operands is empty"));
        }
        needles.into_iter().map(|needle| self.needle(needle, remarks)).collect()
    }

    fn needle(&self, needle: String, remarks: &mut Vec<Remark>) -> Result<String, Remark> {
        let needle = self.filled(needle)?;
        if needle.chars().count() == 1 {
            let message = format!("the operand `{needle}` is a single character, which most answers have");
            let help = "look for a longer text that only a right answer has";
            remarks.push(Remark::warning("degenerate_needle", self.span, message, help));
        }
        Ok(needle)
    }

    fn filled(&self, operand: String) -> Result<String, Remark> {
        if operand.trim().is_empty() { Err(self.blank("an operand is blank")) } else { Ok(operand) }
    }

    fn blank(&self, message: &str) -> Remark {
        let help = "write the text that is looked for, or take the assertion out";
        Remark::error("blank_operand", self.span, message.to_owned(), help)
    }

    /// A path below the outputs of whatever run is graded. Real suites name the arm with the skill in it; taken
    /// literally, the other arm would be graded on files that are not its own.
    fn output_path(&self, path: &str) -> Result<String, Remark> {
        let escapes = || {
            let message = format!("the path `{}` leads out of the outputs of the run", cut(path));
            let help = "write a path relative to the folder `outputs` of the run";
            Remark::error("path_escapes_root", self.span, message, help)
        };
        let filled = self.filled(path.to_owned())?;
        let safe = safe_relative(&filled).ok_or_else(escapes)?;
        let mut parts = safe.split('/');
        let inner = match (parts.next(), parts.next()) {
            (Some("outputs"), Some(_)) => safe.split_once('/').map(|(_, inner)| inner),
            (Some(_), Some("outputs")) => safe.splitn(3, '/').nth(2),
            _ => None,
        };
        Ok(format!("outputs/{}", inner.unwrap_or(&safe)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compile(rule: Rule) -> Result<(AssertionType, Check), &'static str> {
        let patterns = Patterns::default();
        let compiler = Compiler { patterns: &patterns, case_sensitive: None, span: Span::default() };
        compiler.compile(rule, &mut Vec::new()).map_err(|remark| remark.rule)
    }

    #[test]
    fn paths_are_those_of_the_run_that_is_graded() {
        let path = |written: &str| match compile(Rule::FileExists(written.to_owned())) {
            Ok((_, Check::FileExists { path })) => Ok(path),
            Ok(other) => panic!("{other:?}"),
            Err(rule) => Err(rule),
        };
        let ok = |path: &str| Ok(path.to_owned());
        assert_eq!(path("a/b.md"), ok("outputs/a/b.md"));
        assert_eq!(path("outputs/a.md"), ok("outputs/a.md"));
        assert_eq!(path("with_skill/outputs/a.md"), ok("outputs/a.md"));
        assert_eq!(path("./old_skill//outputs/d/a.md"), ok("outputs/d/a.md"));
        assert_eq!(path("outputs"), ok("outputs/outputs"));
        for outside in ["../a", "/etc/passwd", "a/../../b", "with_skill/outputs/../../x"] {
            assert_eq!(path(outside), Err("path_escapes_root"), "{outside}");
        }
        assert_eq!(path(" "), Err("blank_operand"));
    }

    #[test]
    fn operands_are_checked() {
        assert_eq!(compile(Rule::Contains(" \t".to_owned())).unwrap_err(), "blank_operand");
        assert_eq!(compile(Rule::ContainsAny(Vec::new())).unwrap_err(), "blank_operand");
        assert_eq!(compile(Rule::Regex("(".to_owned())).unwrap_err(), "invalid_regex");
        assert_eq!(compile(Rule::JsonKeyExists(String::new())).unwrap_err(), "blank_operand");
        let patterns = Patterns::default();
        let compiler = Compiler { patterns: &patterns, case_sensitive: Some(true), span: Span::default() };
        let mut remarks = Vec::new();
        let (_, check) = compiler.compile(Rule::Contains("A".to_owned()), &mut remarks).unwrap();
        assert!(matches!(check, Check::Contains { matching, .. } if !matching.ignore_case));
        assert_eq!(remarks[0].rule, "degenerate_needle");
    }
}
