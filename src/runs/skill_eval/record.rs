//! One run: what the runner recorded of it, and the strict reading of its grader's answer.

use std::rc::Rc;

use skill_lift_contract::UnscoredReason;
use skill_lift_stats::rational::{self, Rational};

use super::field;
use super::status::RunStatus;
use super::verdicts::{GraderReading, GraderState, ReadingNote};
use crate::json::{self, Node};
use crate::runs::{FileProblem, Limits, RunDirectory, WarningCode};

/// Where a run stands in an iteration; what its record says of itself wins, but for the configuration and the number.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct RunPlace {
    /// The eval that the folder belongs to.
    pub eval_id: String,
    /// Its name.
    pub eval_name: String,
    /// The configuration that the folder names.
    pub configuration: String,
    /// The number that the folder names.
    pub run_number: u64,
}

/// Passed of all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counts {
    /// Assertions that hold.
    pub passed: u64,
    /// Assertions.
    pub total: u64,
}

impl Counts {
    /// The share that passed; `None` of nothing.
    pub fn rate(self) -> Option<Rational> {
        (self.total > 0).then(|| rational::rate(self.passed, self.total))
    }
}

/// One assertion as the runner recorded it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expectation {
    /// The assertion.
    pub text: String,
    /// Whether it holds; `false` also where the grader said nothing.
    pub passed: bool,
    /// Why.
    pub evidence: String,
}

/// What the executor used; never the grader.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RunMetrics {
    /// Whether the provider reported anything.
    pub captured: bool,
    /// Who reported it.
    pub provider: Option<String>,
    /// How it was measured.
    pub source: Option<String>,
    /// Tokens read, as the provider counts them.
    pub input_tokens: Option<f64>,
    /// Tokens written.
    pub output_tokens: Option<f64>,
    /// Milliseconds.
    pub duration_ms: Option<f64>,
    /// Input and output tokens.
    pub total_tokens: Option<f64>,
    /// Price in US dollars.
    pub total_cost_usd: Option<f64>,
    /// Why nothing was reported.
    pub reason: Option<String>,
}

/// Where a record was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordSource {
    /// `run.json` of the run directory.
    RunFile,
    /// Only `grading.json`: the record itself is not there, or cannot be read.
    GradingFile,
    /// The list of runs in `benchmark.json`.
    BenchmarkFile,
}

/// One run.
#[derive(Debug, Clone)]
pub struct RunRecord {
    /// Eval, configuration and number.
    pub place: RunPlace,
    /// How it ended, as recorded.
    pub status: RunStatus,
    /// Passed assertions of all, as recorded.
    pub counts: Option<Counts>,
    /// The recorded pass rate of a scored run.
    pub pass_rate: Option<f64>,
    /// The assertions as recorded; empty in short records.
    pub expectations: Vec<Expectation>,
    /// What the executor used.
    pub metrics: RunMetrics,
    /// What the runner says of the grader.
    pub grader_error: Option<String>,
    /// What the grader's answer says when nothing is guessed.
    pub reading: GraderReading,
    /// Where the record was read.
    pub source: RecordSource,
    /// Path of the run directory below the iteration; `None` without one.
    pub directory: Option<String>,
}

/// A file of a run.
enum Contents {
    Absent,
    Refused,
    Bytes(Rc<Vec<u8>>),
}

impl RunRecord {
    /// Reads one run directory. `assertions` are the texts of the suite, for records that have none.
    ///
    /// `None` when the directory holds neither a record nor verdicts: then the run is missing.
    pub fn read(
        directory: &mut RunDirectory,
        place: &RunPlace,
        assertions: &[String],
        limits: &Limits,
    ) -> Option<Self> {
        let run_file = load(directory, "run.json", limits);
        let grading_file = load(directory, "grading.json", limits);
        if matches!((&run_file, &grading_file), (Contents::Absent, Contents::Absent)) {
            return None;
        }
        let run = object(directory, "run.json", &run_file);
        let grading = object(directory, "grading.json", &grading_file);
        let mut record = match (&run, &run_file, &grading) {
            (Some(run), ..) => Self::of_directory(directory, run, place),
            (None, Contents::Absent, Some(grading)) => Self::of_grading(grading, place),
            _ => Self::unscored(place, RunStatus::Unreadable, RecordSource::GradingFile),
        };
        record.directory = Some(directory.relative().to_owned());
        if run.as_ref().is_none_or(|run| run.get("metrics").is_none()) {
            let metrics_file = load(directory, "metrics.json", limits);
            record.metrics = object(directory, "metrics.json", &metrics_file).as_ref().map(metrics).unwrap_or_default();
        }
        if record.expectations.is_empty() {
            record.expectations = grading.as_ref().map(expectations).unwrap_or_default();
        }
        record.read_answer(directory, assertions, limits);
        Some(record)
    }

    /// The record of a run in `benchmark.json`. `None` when it does not say which run it is.
    pub(super) fn of_benchmark(node: &Node<'_>) -> Option<Self> {
        let eval_id = field::text(node, "eval_id")?;
        let place = RunPlace {
            eval_name: field::text(node, "eval_name").unwrap_or_else(|| eval_id.clone()),
            eval_id,
            configuration: field::text(node, "configuration")?,
            run_number: field::count(node, "run_number").unwrap_or(1),
        };
        let mut record = Self::of_node(node, place, RecordSource::BenchmarkFile);
        record.reading = record.recorded_reading();
        Some(record)
    }

    fn of_directory(directory: &mut RunDirectory, run: &Node<'_>, place: &RunPlace) -> Self {
        let own = RunPlace {
            eval_id: field::text(run, "eval_id").unwrap_or_else(|| place.eval_id.clone()),
            eval_name: field::text(run, "eval_name").unwrap_or_else(|| place.eval_name.clone()),
            ..place.clone()
        };
        let mut record = Self::of_node(run, own, RecordSource::RunFile);
        let configuration = field::text(run, "configuration").unwrap_or_else(|| place.configuration.clone());
        let number = field::count(run, "run_number").unwrap_or(place.run_number);
        if configuration != place.configuration || number != place.run_number {
            let message =
                format!("the record says that it is run {number} of {configuration:?}; the run is not scored");
            directory.warn(WarningCode::SidecarConflict, "run.json", message);
            record.unscore(RunStatus::Misfiled);
        } else if record.status == RunStatus::Unreadable {
            let message = "the record lacks its status, or says `ok` without a rate; the run is not scored".to_owned();
            directory.warn(WarningCode::SidecarUnreadable, "run.json", message);
        }
        record
    }

    fn of_node(node: &Node<'_>, place: RunPlace, source: RecordSource) -> Self {
        let counts = counts(node);
        let in_range = |rate: &f64| (0.0..=1.0).contains(rate);
        let scored = field::boolean(node, "scored");
        let status = match (node.get("status"), scored) {
            (Some(status), _) => status.as_str().map(RunStatus::of_word),
            // older records
            (None, Some(true)) => Some(RunStatus::Ok),
            (None, _) => None,
        };
        let mut record = Self {
            place,
            status: status.unwrap_or(RunStatus::Unreadable),
            counts,
            pass_rate: field::number(node, "pass_rate").filter(in_range),
            expectations: expectations(node),
            metrics: node.get("metrics").map(metrics).unwrap_or_default(),
            grader_error: field::text(node, "grader_error"),
            reading: GraderReading::empty(GraderState::Unscored),
            source,
            directory: None,
        };
        if node.get("pass_rate").is_none() {
            // older records; a rate of null is a rate that is not there
            record.pass_rate = counts.and_then(Counts::rate).as_ref().map(rational::to_f64);
        }
        let denied = scored == Some(false);
        let has_rate = record.pass_rate.is_some() || counts.is_some_and(|counts| counts.total == 0);
        if record.status == RunStatus::Ok && (denied || !has_rate) {
            record.status = RunStatus::Unreadable;
        }
        if record.status != RunStatus::Ok {
            record.pass_rate = None;
        }
        record
    }

    /// A run of which only the verdicts are there. The same file is written when nothing was judged: then every
    /// assertion has failed and none has evidence.
    fn of_grading(grading: &Node<'_>, place: &RunPlace) -> Self {
        let expectations = expectations(grading);
        let passed = expectations.iter().filter(|expectation| expectation.passed).count() as u64;
        let judged = passed > 0 || expectations.iter().any(|expectation| !expectation.evidence.is_empty());
        let mut record = Self::unscored(place, RunStatus::Suspect, RecordSource::GradingFile);
        if judged {
            let counts = Counts { passed, total: expectations.len() as u64 };
            record.status = RunStatus::Ok;
            record.pass_rate = counts.rate().as_ref().map(rational::to_f64);
            record.counts = Some(counts);
        }
        record.expectations = expectations;
        record
    }

    fn unscored(place: &RunPlace, status: RunStatus, source: RecordSource) -> Self {
        Self {
            place: place.clone(),
            status,
            counts: None,
            pass_rate: None,
            expectations: Vec::new(),
            metrics: RunMetrics::default(),
            grader_error: None,
            reading: GraderReading::empty(GraderState::Unscored),
            source,
            directory: None,
        }
    }

    fn unscore(&mut self, status: RunStatus) {
        self.status = status;
        self.pass_rate = None;
    }

    fn read_answer(&mut self, directory: &mut RunDirectory, suite: &[String], limits: &Limits) {
        if self.status != RunStatus::Ok {
            return;
        }
        let recorded: Vec<String> = self.expectations.iter().map(|expectation| expectation.text.clone()).collect();
        let texts = if recorded.is_empty() { suite } else { &recorded };
        let agrees = self.counts.is_none_or(|counts| counts.total == texts.len() as u64);
        self.reading = match directory.read(ANSWER, limits.output_bytes) {
            _ if !agrees => self.recorded_reading(),
            Err(FileProblem::Missing(_)) => self.recorded_reading(),
            Err(problem) => {
                directory.warn(WarningCode::OutputUnreadable, ANSWER, problem.to_string());
                GraderReading::empty(GraderState::GraderIncomplete)
            }
            Ok(bytes) => {
                let text = String::from_utf8_lossy(&bytes);
                let mut reading = GraderReading::of(&text, texts);
                if std::str::from_utf8(&bytes).is_err() {
                    reading.notes.insert(ReadingNote::DecodeLossy);
                }
                reading
            }
        };
    }

    /// The reading of a run whose grader's answer was not kept: its recorded verdicts as they stand.
    fn recorded_reading(&self) -> GraderReading {
        let state = match (&self.status, self.counts) {
            (RunStatus::Ok, Some(Counts { total: 0, .. })) => GraderState::NoAssertions,
            (RunStatus::Ok, _) => GraderState::Scored,
            _ => GraderState::Unscored,
        };
        let mut reading = GraderReading::empty(state);
        if reading.state == GraderState::Scored {
            reading.notes.insert(ReadingNote::FromRecord);
        }
        reading
    }

    /// How the run counts: as recorded, but for answers of the grader from which nothing can be told.
    pub fn effective_status(&self) -> RunStatus {
        match (&self.status, &self.reading.state) {
            (RunStatus::Ok, GraderState::GraderIncomplete) => RunStatus::GraderIncomplete,
            (RunStatus::Ok, GraderState::GraderConflict) => RunStatus::GraderConflict,
            (status, _) => status.clone(),
        }
    }

    /// Why the run has no score. A run that lacks some verdicts has one: what the grader left out counts as failed.
    pub fn unscored_reason(&self) -> Option<UnscoredReason> {
        let of_case = (self.reading.state == GraderState::NoAssertions).then_some(UnscoredReason::NoAssertions);
        self.effective_status().unscored_reason().or(of_case)
    }

    /// Why the run has no score when nothing may be guessed: as [`RunRecord::unscored_reason`], and no verdict may lack.
    pub fn strict_unscored_reason(&self) -> Option<UnscoredReason> {
        self.status.unscored_reason().or_else(|| self.reading.state.unscored_reason())
    }

    /// The recorded rate of a scored run, exactly where the counts say the same.
    pub fn rate(&self) -> Option<Rational> {
        let stored = self.pass_rate?;
        let exact = self.counts.and_then(Counts::rate).filter(|rate| rational::to_f64(rate) == stored);
        exact.or_else(|| rational::from_f64(stored))
    }

    /// Passed assertions of all when nothing is guessed; `None` unless every assertion has a verdict.
    pub fn strict_rate(&self) -> Option<Rational> {
        if self.reading.state != GraderState::Scored {
            return None;
        }
        if self.reading.verdicts.is_empty() {
            return self.rate();
        }
        let passed = self.reading.verdicts.iter().flatten().filter(|verdict| verdict.passed).count() as u64;
        Counts { passed, total: self.reading.verdicts.len() as u64 }.rate()
    }
}

const ANSWER: &str = "outputs/grader_output.txt";

fn load(directory: &mut RunDirectory, name: &str, limits: &Limits) -> Contents {
    match directory.read(name, limits.sidecar_bytes) {
        Ok(bytes) => Contents::Bytes(bytes),
        Err(FileProblem::Missing(_)) => Contents::Absent,
        Err(problem) => {
            directory.warn(WarningCode::SidecarUnreadable, name, problem.to_string());
            Contents::Refused
        }
    }
}

/// The object of a file; what is none is warned about.
fn object<'a>(directory: &mut RunDirectory, name: &str, contents: &'a Contents) -> Option<Node<'a>> {
    let Contents::Bytes(bytes) = contents else {
        return None;
    };
    let read = std::str::from_utf8(bytes)
        .map_err(|_| "not valid UTF-8".to_owned())
        .and_then(|text| json::parse(text, json::Limits::SIDECAR).map_err(|error| error.to_string()));
    let message = match read {
        Ok(node) if node.members().is_some() => return Some(node),
        Ok(node) => format!("expected an object, found {}", node.type_name()),
        Err(message) => message,
    };
    directory.warn(WarningCode::SidecarUnreadable, name, message);
    None
}

fn counts(node: &Node<'_>) -> Option<Counts> {
    let (passed, total) = (field::count(node, "passed")?, field::count(node, "total")?);
    (passed <= total).then_some(Counts { passed, total })
}

fn expectations(node: &Node<'_>) -> Vec<Expectation> {
    let expectation = |item: &Node<'_>| {
        Some(Expectation {
            text: field::text(item, "text")?,
            passed: field::boolean(item, "passed") == Some(true),
            evidence: field::text(item, "evidence").unwrap_or_default(),
        })
    };
    field::items(node, "expectations").iter().filter_map(expectation).collect()
}

fn metrics(node: &Node<'_>) -> RunMetrics {
    RunMetrics {
        captured: field::boolean(node, "captured") == Some(true),
        provider: field::text(node, "provider"),
        source: field::text(node, "source"),
        input_tokens: field::number(node, "input_tokens"),
        output_tokens: field::number(node, "output_tokens"),
        duration_ms: field::number(node, "duration_ms"),
        total_tokens: field::number(node, "total_tokens"),
        total_cost_usd: field::number(node, "total_cost_usd"),
        reason: field::text(node, "reason"),
    }
}
