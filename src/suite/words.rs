//! The words of suite files that name one of several things.

use std::fmt;

macro_rules! words {
    ($(#[$meta:meta])* $name:ident { $($(#[$variant_meta:meta])* $variant:ident => $word:literal),+ $(,)? }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name { $($(#[$variant_meta])* $variant),+ }

        impl $name {
            /// Every value, in the order of declaration.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The word used in files and reports.
            pub fn word(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }

            /// The value for a word.
            pub fn from_word(word: &str) -> Option<Self> {
                match word { $($word => Some(Self::$variant),)+ _ => None }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.word())
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.word())
            }
        }
    };
}

words! {
    /// Which part of a suite a case belongs to.
    Split {
        /// Visible while the skill is edited.
        Tune => "tune",
        /// Hidden, scored at the end of a round.
        Holdout => "holdout",
        /// Never shown before scoring; detects memorisation.
        Holdback => "holdback",
    }
}

words! {
    /// What a case is for.
    EvalIntent {
        /// Measures whether the skill adds something.
        Capability => "capability",
        /// Guards what already works.
        Regression => "regression",
    }
}

words! {
    /// How a failed assertion counts. Ordered from weakest to strongest.
    Severity {
        /// Feeds the graded score only.
        Soft => "soft",
        /// Counts in the pass rate.
        Gate => "gate",
        /// Counts in the pass rate, and its failure makes every rate of the run zero.
        Critical => "critical",
    }
}

words! {
    /// How strong the evidence of a pass is; a label without effect on scores.
    OracleTier {
        /// Deterministic check of the answer.
        Strong => "strong",
        /// A program that demonstrates the result.
        Demo => "demo",
        /// A judgement.
        Live => "live",
    }
}

words! {
    /// The assertion types. Those from [`AssertionType::NotContains`] on are of other dialects than `shared-benchmark`.
    AssertionType {
        /// One text occurs.
        Contains => "contains",
        /// At least one of several texts occurs.
        ContainsAny => "contains_any",
        /// All of several texts occur.
        ContainsAll => "contains_all",
        /// None of several texts occurs.
        ExcludesAny => "excludes_any",
        /// A regular expression matches.
        Regex => "regex",
        /// A regular expression does not match.
        NotRegex => "not_regex",
        /// A file exists in the run directory.
        FileExists => "file_exists",
        /// A field of a JSON file has a value.
        JsonFieldEquals => "json_field_equals",
        /// The answer equals a reference file.
        GoldenOutput => "golden_output",
        /// The answer is similar to a text.
        Similarity => "similarity",
        /// JSON in the answer satisfies a schema.
        StructuredOutput => "structured_output",
        /// A program of the suite accepts the run directory.
        Script => "script",
        /// The agent loaded the skill, or did not.
        SkillInvoked => "skill_invoked",
        /// A command ran.
        CommandRan => "command_ran",
        /// A command did not run.
        CommandNotRan => "command_not_ran",
        /// Commands ran in an order.
        CommandOrder => "command_order",
        /// Tools were called in a way.
        ToolCall => "tool_call",
        /// At most so many tool calls.
        ToolCountLe => "tool_count_le",
        /// No command was repeated too often.
        NoRepeatedCommandLoop => "no_repeated_command_loop",
        /// At most so many tokens.
        TotalTokensLe => "total_tokens_le",
        /// At most so many seconds.
        ElapsedSecondsLe => "elapsed_seconds_le",
        /// At most so many commands.
        CommandCountLe => "command_count_le",
        /// A judge decides by a rubric.
        Judge => "judge",
        /// A judge decides by a rubric.
        Rubric => "rubric",
        /// A judge decides whether the claims are grounded.
        Factuality => "factuality",
        /// One text does not occur.
        NotContains => "not_contains",
        /// The answer begins with a text.
        StartsWith => "starts_with",
        /// The answer ends with a text.
        EndsWith => "ends_with",
        /// At least so many lines.
        LineCountGe => "line_count_ge",
        /// The answer is JSON.
        ValidJson => "valid_json",
        /// The answer is JSON that has a key.
        JsonKeyExists => "json_key_exists",
        /// A text occurs in a file of the run.
        ContainsInFile => "contains_in_file",
        /// No call of a tool.
        NoWriteOf => "no_write_of",
        /// One call came before another.
        WriteOrdering => "write_ordering",
        /// Not checked any more.
        Retired => "retired",
    }
}

/// What an assertion type looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TypeGroup {
    /// The answer and files of the run.
    Text,
    /// What the agent did.
    Process,
    /// What it used.
    Efficiency,
    /// A judgement that is supplied from outside.
    Qualitative,
}

impl AssertionType {
    /// The types that a suite of the dialect `shared-benchmark` may use.
    pub fn of_shared_benchmark() -> &'static [Self] {
        let (known, _) = Self::ALL.split_at(Self::NotContains as usize);
        known
    }

    /// The group of the type.
    pub fn group(self) -> TypeGroup {
        use AssertionType as T;
        match self {
            T::SkillInvoked
            | T::CommandRan
            | T::CommandNotRan
            | T::CommandOrder
            | T::ToolCall
            | T::ToolCountLe
            | T::NoRepeatedCommandLoop
            | T::NoWriteOf
            | T::WriteOrdering => TypeGroup::Process,
            T::TotalTokensLe | T::ElapsedSecondsLe | T::CommandCountLe => TypeGroup::Efficiency,
            T::Judge | T::Rubric | T::Factuality => TypeGroup::Qualitative,
            _ => TypeGroup::Text,
        }
    }
}
