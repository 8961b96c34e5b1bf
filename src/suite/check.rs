//! What is computed for an assertion: operands in their final form, patterns parsed.

use std::sync::Arc;

use skill_lift_text::pattern::Pattern;
use skill_lift_text::view::Comparison;

use crate::json::Node;

/// How texts are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextMatching {
    /// Whether case is ignored.
    pub ignore_case: bool,
    /// The view of the texts that is compared.
    pub comparison: Comparison,
}

/// A regular expression with the text it was written as.
#[derive(Debug)]
pub struct WrittenPattern {
    /// As the author wrote it.
    pub source: String,
    /// Parsed, with the case rule applied; checks with the same pattern share it.
    pub pattern: Arc<Pattern>,
}

/// What is computed.
#[derive(Debug)]
pub enum Check {
    /// One text occurs in the answer.
    Contains { needle: String, matching: TextMatching },
    /// At least one text occurs in the answer.
    ContainsAny { needles: Vec<String>, matching: TextMatching },
    /// All texts occur in the answer.
    ContainsAll { needles: Vec<String>, matching: TextMatching },
    /// No text occurs in the answer.
    ExcludesAny { needles: Vec<String>, matching: TextMatching },
    /// The pattern matches somewhere in the answer.
    Regex { pattern: WrittenPattern, comparison: Comparison },
    /// The pattern matches nowhere in the answer.
    NotRegex { pattern: WrittenPattern, comparison: Comparison },
    /// A regular file exists in the run directory. The path is relative and normalised.
    FileExists { path: String },
    /// A field of a JSON file of the run directory equals a value.
    JsonFieldEquals { path: String, field: String, equals: Node<'static> },
    /// The answer (or an artifact) equals a reference file of the suite.
    GoldenOutput { reference: String, artifact: Option<String>, normalize: Normalize },
    /// The answer (or an artifact) is similar to a text.
    Similarity {
        expected: String,
        artifact: Option<String>,
        threshold: f64,
        mode: SimilarityMode,
        autojunk: bool,
        matching: TextMatching,
    },
    /// JSON in the answer (or in a file) satisfies a schema of the supported subset.
    StructuredOutput { path: Option<String>, schema: Node<'static> },
    /// A program of the suite accepts the run directory.
    Script { command: Vec<String>, timeout_seconds: f64, pass_exit_code: i64, expect_output: Option<String> },
    /// Whether the agent loaded the skill.
    SkillInvoked { expected: bool },
    /// A command matching the pattern ran.
    CommandRan { pattern: WrittenPattern },
    /// No command matching the pattern ran.
    CommandNotRan { pattern: WrittenPattern },
    /// Commands matching the patterns ran in this order.
    CommandOrder { patterns: Vec<WrittenPattern> },
    /// A statement about tool calls.
    ToolCall(ToolCall),
    /// At most `max` calls (of one tool if it is named).
    ToolCountLe { tool: Option<String>, max: u64 },
    /// No command was repeated more than `max` times.
    NoRepeatedCommandLoop { max: u64 },
    /// At most `max` tokens.
    TotalTokensLe { max: u64 },
    /// At most `max` seconds.
    ElapsedSecondsLe { max: f64 },
    /// At most `max` commands.
    CommandCountLe { max: u64 },
    /// The answer begins with a text, white space before it aside.
    StartsWith { needle: String, matching: TextMatching },
    /// The answer ends with a text, white space behind it aside.
    EndsWith { needle: String, matching: TextMatching },
    /// The answer has at least `min` lines.
    LineCountGe { min: u64 },
    /// The whole answer is one JSON value.
    ValidJson,
    /// The whole answer is JSON that has a key: keys and indices of arrays with dots between them.
    JsonKeyExists { key: String },
    /// A text occurs in a file of the run directory. The path is relative and normalised.
    ContainsInFile { path: String, needle: String, matching: TextMatching },
    /// No call is like this one.
    NoWriteOf { call: CallShape },
    /// The first call like `first` came before the first like `then`.
    WriteOrdering { first: CallShape, then: CallShape },
    /// The author does not want it checked any more, and says why.
    Retired { reason: String },
    /// A judgement that is supplied from outside; the fields after preset expansion.
    Judgement { assertion: Node<'static> },
}

impl Check {
    /// Whether it looks at the answer itself, and not at other files, at events or at what a run used.
    pub fn reads_answer(&self) -> bool {
        match self {
            Self::Contains { .. }
            | Self::ContainsAny { .. }
            | Self::ContainsAll { .. }
            | Self::ExcludesAny { .. }
            | Self::Regex { .. }
            | Self::NotRegex { .. }
            | Self::StartsWith { .. }
            | Self::EndsWith { .. }
            | Self::LineCountGe { .. }
            | Self::ValidJson
            | Self::JsonKeyExists { .. } => true,
            Self::GoldenOutput { artifact, .. } | Self::Similarity { artifact, .. } => artifact.is_none(),
            Self::StructuredOutput { path, .. } => path.is_none(),
            _ => false,
        }
    }
}

/// How a reference file and an answer are made comparable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Normalize {
    /// Not at all.
    Exact,
    /// Outer white space removed.
    Trim,
    /// White space at line ends and outer white space removed.
    Text,
}

/// How similarity is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SimilarityMode {
    /// Ratio of matching blocks.
    Ratio,
    /// Cosine of embeddings that a command computes.
    Embedding,
}

/// A statement about tool calls; at most one of the list relations is set.
#[derive(Debug)]
pub struct ToolCall {
    /// Only calls of this tool.
    pub tool: Option<String>,
    /// Only calls whose input matches.
    pub pattern: Option<WrittenPattern>,
    /// The statement.
    pub relation: ToolRelation,
}

/// The relation that a `tool_call` assertion states.
#[derive(Debug)]
pub enum ToolRelation {
    /// Between so many and so many calls.
    Count { min: u64, max: Option<u64> },
    /// No call at all.
    NoCall,
    /// All of these tools were called, others may be.
    Required(Vec<String>),
    /// Exactly this multiset of tools was called.
    Exactly(Vec<String>),
    /// Calls matching these patterns came in this order.
    Order(Vec<WrittenPattern>),
}

/// Which calls are meant. At least one of the parts says something.
#[derive(Debug, Default)]
pub struct CallShape {
    /// The tool that is called.
    pub tool: Option<String>,
    /// Arguments with a text that they hold.
    pub contains: Vec<(String, String)>,
    /// Arguments with a pattern that they match.
    pub matches: Vec<(String, WrittenPattern)>,
}
