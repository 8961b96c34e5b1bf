//! What does not fit together in a result file.

use std::collections::BTreeMap;

/// The longest text of a file that a note quotes, in characters.
const QUOTED: usize = 120;

/// What a note is about. The codes are stable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NoteCode {
    /// Texts such as `<model-name>` that a tool left in.
    Placeholders,
    /// Another number of runs is stated than there are rows.
    RunsPerConfigurationContradicted,
    /// A rate that is neither a share, a percentage nor a fraction.
    RateUnreadable,
    /// A stated rate that differs from the counts or verdicts beside it.
    RateContradictsCounts,
    /// Stated counts that differ from the verdicts beside them.
    SummaryContradictsEntries,
    /// A stated mean that differs from the mean of its rows.
    SummaryContradictsRows,
    /// Tokens or durations of 0, which were not measured.
    ZeroTelemetry,
    /// The rows name no arm: they are read as those with the skill.
    ConfigurationAssumed,
    /// A row that names no arm beside rows that do.
    RowWithoutConfiguration,
    /// A row without id and name.
    GeneratedId,
    /// One id with several names: the names tell the cases apart.
    IdWithSeveralNames,
    /// Only the last iteration is read.
    EarlierIterationsLeftOut,
    /// Each row is a mean over runs.
    RowsAreMeans,
    /// There are no rows.
    BenchmarkEmpty,
    /// An entry for a case that was not run.
    NotExecuted,
    /// Rows that were dropped because a later one claims the same run.
    DuplicatesDropped,
    /// Raw control characters in strings, read as if they were escaped.
    ControlCharacterInString,
    /// Token use is stated only as a sum over runs.
    UsageAggregated,
    /// Scores beside the rates, such as 1 to 5; they never enter a rate.
    QualityScoresIgnored,
}

impl NoteCode {
    /// The code in reports.
    pub fn code(self) -> &'static str {
        match self {
            Self::Placeholders => "placeholders",
            Self::RunsPerConfigurationContradicted => "runs_per_configuration_contradicted",
            Self::RateUnreadable => "rate_unreadable",
            Self::RateContradictsCounts => "rate_contradicts_counts",
            Self::SummaryContradictsEntries => "summary_contradicts_entries",
            Self::SummaryContradictsRows => "summary_contradicts_rows",
            Self::ZeroTelemetry => "zero_telemetry",
            Self::ConfigurationAssumed => "configuration_assumed",
            Self::RowWithoutConfiguration => "row_without_configuration",
            Self::GeneratedId => "generated_id",
            Self::IdWithSeveralNames => "id_with_several_names",
            Self::EarlierIterationsLeftOut => "earlier_iterations_left_out",
            Self::RowsAreMeans => "rows_are_means",
            Self::BenchmarkEmpty => "benchmark_empty",
            Self::NotExecuted => "not_executed",
            Self::DuplicatesDropped => "duplicates_dropped",
            Self::ControlCharacterInString => "control_character_in_string",
            Self::UsageAggregated => "usage_aggregated",
            Self::QualityScoresIgnored => "quality_scores_ignored",
        }
    }
}

/// A note: how often it holds, and the first place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimNote {
    /// What it is about.
    pub code: NoteCode,
    /// JSON pointer of the first place; empty for the whole file.
    pub pointer: String,
    /// The text there, or what was found; may hold anything.
    pub detail: String,
    /// Places.
    pub count: usize,
}

/// The notes of a file: one for each code, so that a file of a million rows has few.
#[derive(Debug, Default)]
pub(super) struct Notes(BTreeMap<NoteCode, ClaimNote>);

impl Notes {
    /// Counts a place; the first one is kept.
    pub(super) fn add(&mut self, code: NoteCode, pointer: &str, detail: impl FnOnce() -> String) {
        let first = || ClaimNote { code, pointer: pointer.to_owned(), detail: cut(&detail()), count: 0 };
        self.0.entry(code).or_insert_with(first).count += 1;
    }

    /// The notes by code.
    pub(super) fn finish(self) -> Vec<ClaimNote> {
        self.0.into_values().collect()
    }
}

/// The beginning of a text, as far as a note quotes it.
pub(super) fn cut(text: &str) -> String {
    match text.char_indices().nth(QUOTED) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
