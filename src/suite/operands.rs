//! The operands of each assertion type, checked and compiled into what is computed.

use skill_lift_text::python;
use skill_lift_text::view::{Comparison, is_stable};

use super::assertion::{Scope, span_of};
use super::check::{Check, Normalize, SimilarityMode, TextMatching, ToolCall, ToolRelation, WrittenPattern};
use super::environment::Environment;
use super::files::{Found, safe_relative};
use super::model::AssertionType;
use super::report::Report;
use super::{judge, schema, script, shape};
use crate::json::{Node, Span};

const RULE: &str = "operand";

/// Reads the operands of an assertion whose type is known. `None` when they have an error, which is reported.
pub(super) fn read(
    report: &mut Report<'_>,
    environment: &Environment,
    node: &Node<'_>,
    assertion_type: AssertionType,
    ignore_case: bool,
    scope: Scope,
) -> Option<Check> {
    use AssertionType as T;
    let mut operands = Operands { report, environment, node, assertion_type, ignore_case };
    match assertion_type {
        T::Contains => operands.contains(),
        T::ContainsAny => operands.several(|needles, matching| Check::ContainsAny { needles, matching }),
        T::ContainsAll => operands.several(|needles, matching| Check::ContainsAll { needles, matching }),
        T::ExcludesAny => operands.several(|needles, matching| Check::ExcludesAny { needles, matching }),
        T::Regex => operands.regex(|pattern, comparison| Check::Regex { pattern, comparison }),
        T::NotRegex => operands.regex(|pattern, comparison| Check::NotRegex { pattern, comparison }),
        T::FileExists => Some(Check::FileExists { path: operands.path_operand(&["path", "value"])? }),
        T::JsonFieldEquals => operands.json_field_equals(),
        T::GoldenOutput => operands.golden_output(),
        T::Similarity => operands.similarity(),
        T::StructuredOutput => operands.structured_output(),
        T::Script => script::read(operands.report, environment, node),
        T::SkillInvoked => {
            let expected = operands.boolean("expected", "skill_invoked expected must be true or false", true);
            Some(Check::SkillInvoked { expected })
        }
        T::CommandRan => Some(Check::CommandRan { pattern: operands.command_pattern()? }),
        T::CommandNotRan => Some(Check::CommandNotRan { pattern: operands.command_pattern()? }),
        T::CommandOrder => operands.command_order(),
        T::ToolCall => operands.tool_call(),
        T::ToolCountLe => {
            let tool = operands.nullable_text("tool");
            Some(Check::ToolCountLe { tool, max: operands.limit(&["max", "value"])? })
        }
        T::NoRepeatedCommandLoop => {
            Some(Check::NoRepeatedCommandLoop { max: operands.limit(&["max_repeats", "max", "value"])? })
        }
        T::TotalTokensLe => Some(Check::TotalTokensLe { max: operands.limit(&["max", "value"])? }),
        T::CommandCountLe => Some(Check::CommandCountLe { max: operands.limit(&["max", "value"])? }),
        T::ElapsedSecondsLe => {
            let node = operands.one_of(&["max", "value"])?;
            let seconds = node.and_then(shape::finite).filter(|seconds| *seconds >= 0.0);
            let max = operands.some_limit(seconds, node, "needs a finite nonnegative limit")?;
            Some(Check::ElapsedSecondsLe { max })
        }
        T::Judge | T::Rubric | T::Factuality => judge::read(operands.report, node, assertion_type, scope),
        // types of other dialects, which read their operands themselves
        _ => None,
    }
}

struct Operands<'o, 'r, 'a> {
    report: &'o mut Report<'r>,
    environment: &'o Environment,
    node: &'o Node<'a>,
    assertion_type: AssertionType,
    ignore_case: bool,
}

impl<'o, 'a> Operands<'o, '_, 'a> {
    fn error(&mut self, span: Span, message: &str) {
        self.report.error(RULE, span, message);
    }

    fn error_named(&mut self, span: Span, message: &str) {
        self.report.error(RULE, span, format!("{} {message}", self.assertion_type));
    }

    /// The operand under one of several names: `None` when two of them are used, `Some(None)` when none is.
    fn one_of(&mut self, keys: &[&str]) -> Option<Option<&'o Node<'a>>> {
        let node = self.node;
        let present: Vec<_> = keys.iter().filter_map(|key| node.member(key)).collect();
        if let [first, second, ..] = present.as_slice() {
            let message = format!("{} sets both `{}` and `{}`; use one", self.assertion_type, first.key, second.key);
            self.report.error(RULE, second.key_span, message);
            return None;
        }
        Some(present.first().map(|member| &member.value))
    }

    fn required<T>(
        &mut self,
        keys: &[&str],
        read: impl FnOnce(&'o Node<'a>) -> Option<T>,
        must: &str,
    ) -> Option<(T, Span)> {
        let operand = self.one_of(keys)?;
        let span = operand.map_or(self.node.span, |operand| operand.span);
        let value = operand.and_then(read);
        if value.is_none() {
            self.error_named(span, must);
        }
        value.map(|value| (value, span))
    }

    fn text_operand(&mut self, keys: &[&str]) -> Option<(&'o str, Span)> {
        self.required(keys, shape::text, "needs a non-empty string operand")
    }

    fn path_operand(&mut self, keys: &[&str]) -> Option<String> {
        let (path, span) = self.text_operand(keys)?;
        self.safe_path(path, span)
    }

    fn safe_path(&mut self, path: &str, span: Span) -> Option<String> {
        let safe = safe_relative(path);
        if safe.is_none() {
            let message = format!("path {} must be a safe non-empty relative path", python::repr_str(path));
            self.error_named(span, &message);
        }
        safe
    }

    /// An optional path: `None` when it is refused.
    fn optional_path(&mut self, key: &str) -> Option<Option<String>> {
        let Some(node) = self.node.get(key) else { return Some(None) };
        match node.as_str() {
            Some(path) => self.safe_path(path, node.span).map(Some),
            None => {
                self.error_named(node.span, &format!("{key} must be a safe non-empty relative path"));
                None
            }
        }
    }

    fn boolean(&mut self, key: &str, message: &str, default: bool) -> bool {
        self.report.optional(self.node, key, RULE, Node::as_bool, message).unwrap_or(default)
    }

    fn nullable_text(&mut self, key: &str) -> Option<String> {
        let message = format!("{} {key} must be a non-empty string", self.assertion_type);
        self.report.nullable(self.node, key, RULE, shape::text, &message).map(str::to_owned)
    }

    fn limit(&mut self, keys: &[&str]) -> Option<u64> {
        let node = self.one_of(keys)?;
        self.some_limit(node.and_then(shape::count), node, "needs a finite nonnegative integer limit")
    }

    fn some_limit<T>(&mut self, value: Option<T>, node: Option<&Node<'_>>, must: &str) -> Option<T> {
        if value.is_none() {
            let span = node.map_or(self.node.span, |node| node.span);
            self.report.error("limit", span, format!("{} {must}", self.assertion_type));
        }
        value
    }

    fn comparison(&mut self) -> Comparison {
        let read = |node: &Node<'_>| node.as_str().and_then(Comparison::from_wire_name);
        let message = "comparison must be 'exact' or 'rendered-v1'";
        self.report.optional(self.node, "comparison", "comparison", read, message).unwrap_or_default()
    }

    fn matching(&mut self) -> TextMatching {
        TextMatching { ignore_case: self.ignore_case, comparison: self.comparison() }
    }

    fn stays_visible(&mut self, needle: &str, span: Span, comparison: Comparison) {
        if comparison.view(needle).text.is_empty() {
            let message = format!(
                "value {} must not become empty under rendered-v1; use comparison='exact' to look for it",
                python::repr_str(needle)
            );
            self.error(span, &message);
        }
    }

    fn contains(&mut self) -> Option<Check> {
        let matching = self.matching();
        let (needle, span) = self.text_operand(&["value"])?;
        self.stays_visible(needle, span, matching.comparison);
        Some(Check::Contains { needle: needle.to_owned(), matching })
    }

    fn several(&mut self, build: impl FnOnce(Vec<String>, TextMatching) -> Check) -> Option<Check> {
        let matching = self.matching();
        let must = "needs a non-empty list of non-empty strings";
        let (needles, span) = self.required(&["values", "value"], shape::texts, must)?;
        for needle in &needles {
            self.stays_visible(needle, span, matching.comparison);
        }
        Some(build(needles, matching))
    }

    fn pattern(&mut self, source: &str, span: Span, kind: &str) -> Option<WrittenPattern> {
        match self.environment.patterns.parse(source, self.ignore_case) {
            Ok(pattern) => Some(WrittenPattern { source: source.to_owned(), pattern }),
            Err(error) => {
                let message = format!("{kind} {}: {error}", python::repr_str(source));
                self.report.error("regex", span, message);
                None
            }
        }
    }

    fn regex(&mut self, build: impl FnOnce(WrittenPattern, Comparison) -> Check) -> Option<Check> {
        let comparison = self.comparison();
        let (source, span) = self.text_operand(&["pattern", "value"])?;
        if comparison == Comparison::Rendered && !is_stable(source) {
            let message = "regex pattern must already be stable under rendered-v1; \
                 write it in NFC without zero-width characters, or use comparison='exact'";
            self.error(span, message);
        }
        Some(build(self.pattern(source, span, "invalid regex")?, comparison))
    }

    fn command_pattern(&mut self) -> Option<WrittenPattern> {
        let (source, span) = self.text_operand(&["pattern", "value"])?;
        self.pattern(source, span, "invalid command regex")
    }

    fn command_order(&mut self) -> Option<Check> {
        let must = "patterns must be a non-empty string list";
        let (sources, span) = self.required(&["patterns"], shape::texts, must)?;
        Some(Check::CommandOrder { patterns: self.patterns(&sources, span, "invalid command regex")? })
    }

    /// All patterns of a list; each that is refused is reported.
    fn patterns(&mut self, sources: &[String], span: Span, kind: &str) -> Option<Vec<WrittenPattern>> {
        let read: Vec<_> = sources.iter().map(|source| self.pattern(source, span, kind)).collect();
        read.into_iter().collect()
    }

    fn json_field_equals(&mut self) -> Option<Check> {
        let path = self.optional_path("path");
        let field = self.required(&["field"], shape::text, "needs a non-empty string field");
        let Some(equals) = self.node.get("equals") else {
            self.error_named(self.node.span, "needs an explicit equals value");
            return None;
        };
        let (path, (field, _)) = (path?.unwrap_or_else(|| "metadata.json".to_owned()), field?);
        Some(Check::JsonFieldEquals { path, field: field.to_owned(), equals: equals.clone().into_owned() })
    }

    fn golden_output(&mut self) -> Option<Check> {
        let reference = self.path_operand(&["reference", "value"]);
        if let Some(path) = &reference {
            let keys = if self.node.get("reference").is_some() { "reference" } else { "value" };
            let span = span_of(self.node, keys);
            match &*self.environment.files.find(path) {
                Found::File(real_path, _) if self.environment.files.contains(real_path) => {}
                Found::File(..) => {
                    self.error(span, &format!("golden_output reference leads out of the folder of the suite: {path}"));
                }
                _ => self.error(span, &format!("golden_output reference is not a regular file: {path}")),
            }
        }
        let artifact = self.optional_path("artifact");
        let read = |node: &Node<'_>| match node.as_str()? {
            "exact" => Some(Normalize::Exact),
            "trim" => Some(Normalize::Trim),
            "text" => Some(Normalize::Text),
            _ => None,
        };
        let message = "golden_output normalize must be exact, trim, or text";
        let normalize = self.report.optional(self.node, "normalize", RULE, read, message).unwrap_or(Normalize::Exact);
        Some(Check::GoldenOutput { reference: reference?, artifact: artifact?, normalize })
    }

    fn similarity(&mut self) -> Option<Check> {
        let matching = self.matching();
        let expected = self.required(&["expected", "value"], shape::text, "needs an expected string");
        let read = |node: &Node<'_>| match node.as_str()? {
            "ratio" => Some(SimilarityMode::Ratio),
            "embedding" => Some(SimilarityMode::Embedding),
            _ => None,
        };
        let message = "similarity mode must be ratio or embedding";
        let mode = self.report.optional(self.node, "mode", RULE, read, message).unwrap_or(SimilarityMode::Ratio);
        let message = "similarity threshold must be a number in [0, 1]";
        let unit = shape::within(0.0, 1.0);
        let threshold = self.report.optional(self.node, "threshold", RULE, unit, message).unwrap_or(0.8);
        let autojunk = self.boolean("autojunk", "similarity autojunk must be true or false", true);
        if mode == SimilarityMode::Embedding && self.node.get("autojunk").is_some() {
            self.error(span_of(self.node, "autojunk"), "similarity autojunk is only for mode ratio");
        }
        let artifact = self.optional_path("artifact")?;
        let expected = expected?.0.to_owned();
        Some(Check::Similarity { expected, artifact, threshold, mode, autojunk, matching })
    }

    fn structured_output(&mut self) -> Option<Check> {
        let path = self.optional_path("path");
        let Some(node) = self.node.get("schema").filter(|node| node.members().is_some()) else {
            let message = "structured_output needs a schema object";
            self.report.error("schema-subset", span_of(self.node, "schema"), message);
            return None;
        };
        schema::check(self.report, node);
        Some(Check::StructuredOutput { path: path?, schema: node.clone().into_owned() })
    }

    fn tool_call(&mut self) -> Option<Check> {
        let node = self.node;
        let none = self.boolean("expected_no_call", "tool_call expected_no_call must be true or false", false);
        let mut lists: Vec<(&str, Vec<String>)> = Vec::new();
        let mut selectors = if none { vec!["expected_no_call"] } else { Vec::new() };
        for key in ["required_calls", "call_set", "order"] {
            let message = format!("tool_call {key} must be a non-empty list of strings, none of them empty");
            if let Some(names) = self.report.nullable(node, key, RULE, shape::texts, &message) {
                lists.push((key, names));
                selectors.push(key);
            }
        }
        if selectors.len() > 1 {
            let message = format!(
                "tool_call sets multiple selectors {}; \
                 use exactly one of expected_no_call/required_calls/call_set/order",
                python::repr_list(selectors.iter().copied())
            );
            self.error(span_of(node, selectors[1]), &message);
        }
        let tool = self.nullable_text("tool");
        let source = self.nullable_text("pattern");
        for key in ["pattern", "tool"] {
            if let (Some((list, _)), Some(value)) = (lists.first(), node.get(key).filter(|value| !value.is_null())) {
                self.error(value.span, &format!("tool_call {key} cannot be combined with {list}"));
            }
        }
        let kind = "tool_call invalid regex";
        let pattern = source.and_then(|source| self.pattern(&source, span_of(node, "pattern"), kind));
        let (min, max) = self.call_counts();
        let relation = match lists.pop() {
            Some(("required_calls", names)) => ToolRelation::Required(names),
            Some(("call_set", names)) => ToolRelation::Exactly(names),
            Some((key, names)) => ToolRelation::Order(self.patterns(&names, span_of(node, key), kind)?),
            None if none => ToolRelation::NoCall,
            None => ToolRelation::Count { min, max },
        };
        Some(Check::ToolCall(ToolCall { tool, pattern, relation }))
    }

    fn call_counts(&mut self) -> (u64, Option<u64>) {
        let node = self.node;
        let mut count = |key: &str| {
            let message = format!("tool_call {key} must be a non-negative integer");
            self.report.optional(node, key, RULE, shape::count, &message)
        };
        let (min, max) = (count("min_count"), count("max_count"));
        let at_least = min.unwrap_or(1);
        if at_least < 1 {
            let message = "tool_call min_count must be at least 1; use expected_no_call for no call at all";
            self.error(span_of(node, "min_count"), message);
        }
        if let Some(max) = max.filter(|max| *max < at_least) {
            let message = format!("tool_call max_count {max} is below min_count {at_least}");
            self.error(span_of(node, "max_count"), &message);
        }
        (at_least, max)
    }
}
