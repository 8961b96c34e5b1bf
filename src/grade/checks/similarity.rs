//! `similarity`: the answer is similar to a text, by matching blocks or by embeddings that a command computes.

use std::borrow::Cow;
use std::process::Command;

use skill_lift_text::difflib::{self, Popularity, Ratio};
use skill_lift_text::python;
use skill_lift_text::view::{self, Comparison, View};

use super::script::child::{self, Ending, Environment, Task};
use super::structured::extract;
use super::{Evidence, Finding, golden};
use crate::grade::answer::Answer;
use crate::grade::outcome::{ErrorReason, Normalization, NormalizedText, Outcome};
use crate::grade::run::GradeOptions;
use crate::json::{self, Node};
use crate::runs::{FileProblem, WarningCode};
use crate::suite::TextMatching;
use crate::suite::check::SimilarityMode;

/// Decimals of a score.
const DECIMALS: u32 = 4;
/// Code points of the expected text that the evidence shows.
const SHOWN_CHARACTERS: usize = 60;
/// Comparisons of code points that a ratio may take.
const RATIO_STEPS: u32 = 300_000_000;
/// Seconds that a command may take to compute embeddings.
const EMBEDDING_SECONDS: f64 = 60.0;
/// Bytes of embeddings that are read.
const EMBEDDING_BYTES: usize = 16 << 20;
/// Code points of the error output of a command that the evidence shows.
const SHOWN_ERROR_CHARACTERS: usize = 500;

/// What an answer is compared with.
pub(super) struct Operand<'c> {
    pub(super) expected: &'c str,
    pub(super) artifact: Option<&'c str>,
    pub(super) autojunk: bool,
}

pub(super) fn similarity(
    operand: Operand<'_>,
    threshold: f64,
    mode: SimilarityMode,
    matching: TextMatching,
    evidence: &mut Evidence<'_, '_>,
) -> Finding {
    let text = operand.artifact.map(|path| (path, golden::artifact_text(path, evidence)));
    let mut finding = match &text {
        None => compare(&operand, threshold, mode, matching, evidence.answer, evidence.options),
        Some((_, Ok(text))) => compare(&operand, threshold, mode, matching, &Answer::new(text), evidence.options),
        Some((_, Err(problem @ FileProblem::TooLarge { .. }))) => {
            let outcome = Outcome::Error(ErrorReason::ArtifactTooLarge);
            Finding::unresolved(outcome, format!("similarity unavailable: {problem}"))
        }
        Some((path, Err(problem))) => Finding::decided(false, golden::missing("similarity artifact", path, problem)),
    };
    finding.comparison = Some(matching.comparison);
    if finding.autojunk_fired {
        let message = "similarity left out frequent characters; `autojunk: false` counts them".to_owned();
        evidence.directory.warn(WarningCode::UnstableAutojunk, "", message);
    }
    finding
}

fn compare(
    operand: &Operand<'_>,
    threshold: f64,
    mode: SimilarityMode,
    matching: TextMatching,
    answer: &Answer<'_>,
    options: &GradeOptions,
) -> Finding {
    let TextMatching { ignore_case, comparison } = matching;
    let expected_view = comparison.view(operand.expected);
    let texts = Texts {
        actual: answer.for_literals(comparison, ignore_case),
        expected: &folded(&expected_view.text, ignore_case),
    };
    let (mut finding, raw_score) = match mode {
        SimilarityMode::Embedding => (by_embedding(texts, threshold, options), None),
        SimilarityMode::Ratio => {
            let popularity = if operand.autojunk { Popularity::Ignored } else { Popularity::Kept };
            let Ratio { value, popularity_applied } = match ratio(texts, popularity, options.similarity_characters) {
                Ok(ratio) => ratio,
                Err(why) => {
                    let outcome = Outcome::Error(ErrorReason::SimilarityBudget);
                    return Finding::unresolved(outcome, format!("similarity unavailable: {why}"));
                }
            };
            let raw = || {
                let actual = answer.for_literals(Comparison::Exact, ignore_case);
                let expected = &folded(operand.expected, ignore_case);
                let raw = ratio(Texts { actual, expected }, popularity, options.similarity_characters).ok()?;
                Some(rounded(raw.value))
            };
            let changed =
                (comparison == Comparison::Rendered && answer.rendered().changed()) || expected_view.changed();
            let mut finding = by_ratio(value, threshold, operand.expected);
            finding.autojunk_fired = popularity_applied;
            (finding, if changed { raw() } else { None })
        }
    };
    let raw = raw_score.map(|score| RawResult { score, passed: score >= threshold });
    note_view(&mut finding, raw, matching, answer, &expected_view);
    finding
}

/// The two texts as they are compared.
#[derive(Clone, Copy)]
struct Texts<'t> {
    actual: &'t str,
    expected: &'t str,
}

fn folded(text: &str, ignore_case: bool) -> Cow<'_, str> {
    if ignore_case { python::casefold(text) } else { Cow::Borrowed(text) }
}

fn rounded(score: f64) -> f64 {
    python::round_half_even(score, DECIMALS)
}

/// The ratio of the texts, or why it is not computed.
fn ratio(texts: Texts<'_>, popularity: Popularity, limit: usize) -> Result<Ratio, String> {
    let longer = texts.actual.chars().count().max(texts.expected.chars().count());
    if longer > limit {
        return Err(format!("the longer text has {longer} characters, the limit is {limit}"));
    }
    match difflib::ratio(texts.actual, texts.expected, popularity, RATIO_STEPS) {
        Some(ratio) => Ok(ratio),
        None => Err(format!("the texts take more than {RATIO_STEPS} comparisons")),
    }
}

fn by_ratio(ratio: f64, threshold: f64, expected: &str) -> Finding {
    let start: String = expected.chars().take(SHOWN_CHARACTERS).collect();
    let limit = python::format_g(threshold);
    let shown = python::repr_str(&start);
    scored(ratio, threshold, format!("similarity={ratio:.4} vs threshold={limit} against expected[:60]={shown}"))
}

/// A finding whose verdict agrees with the score that is reported, not with the digits behind it.
fn scored(value: f64, threshold: f64, evidence: String) -> Finding {
    let score = rounded(value);
    Finding { score: Some(score), ..Finding::decided(score >= threshold, evidence) }
}

/// What the texts without the view give.
struct RawResult {
    score: f64,
    passed: bool,
}

/// Says what the view changed, and for a ratio whether it mattered.
fn note_view(
    finding: &mut Finding,
    raw: Option<RawResult>,
    matching: TextMatching,
    answer: &Answer<'_>,
    expected: &View<'_>,
) {
    let unchanged = matching.comparison.view("");
    let candidate = if matching.comparison == Comparison::Rendered { answer.rendered() } else { &unchanged };
    if !candidate.changed() && !expected.changed() {
        return;
    }
    let detail = view::detail([candidate, expected]);
    finding.evidence.push_str(&format!("; normalized with rendered-v1 ({detail})"));
    let verdict_changed = raw.as_ref().map(|raw| Some(raw.passed) != finding.outcome.passed());
    if let Some(changed) = verdict_changed {
        finding.evidence.push_str(if changed { "; verdict changed" } else { "; verdict unchanged" });
    }
    finding.normalization = Some(Normalization {
        verdict_changed,
        raw_score: raw.map(|raw| raw.score),
        candidate: NormalizedText::from(candidate),
        operands: Some(expected).filter(|view| view.changed()).map(NormalizedText::from).into_iter().collect(),
    });
}

fn by_embedding(texts: Texts<'_>, threshold: f64, options: &GradeOptions) -> Finding {
    let Some(command) = &options.embed_command else {
        return Finding::unobserved(
            "embedding similarity skipped; rerun grade/benchmark with --embed-cmd to call an external embedding \
             command (kept out of core grading by design)",
        );
    };
    match embedding_similarity(command, texts, EMBEDDING_SECONDS, &options.pass_environment) {
        Ok(similarity) => {
            let limit = python::format_g(threshold);
            scored(similarity, threshold, format!("embedding similarity={similarity:.4} vs threshold={limit}"))
        }
        Err(why) => Finding::unobserved(&why),
    }
}

/// Runs the command and reads the cosine of its two vectors, or says why there is none.
fn embedding_similarity(command: &str, texts: Texts<'_>, seconds: f64, pass: &[String]) -> Result<f64, String> {
    let input = serde_json::json!({ "texts": [texts.actual, texts.expected] }).to_string();
    let mut shell = Command::new("/bin/sh");
    shell.arg("-c").arg(command);
    let environment = Environment::of_this_process(pass);
    let task = Task { input: Some(input.as_bytes()), seconds, kept_bytes: EMBEDDING_BYTES };
    let finished = child::run(shell, &environment, task).map_err(|why| format!("embed command failed: {why}"))?;
    match finished.ending {
        Ending::TimedOut => return Err(format!("embed command timed out after {seconds}s")),
        Ending::Exited(0) => {}
        Ending::Exited(code) => {
            let said = finished.stderr.start(SHOWN_ERROR_CHARACTERS);
            return Err(format!("embed command exit {code}: {said}"));
        }
    }
    let output = finished.stdout.text();
    let object = extract::first_object(&output)
        .and_then(|span| json::parse(&output[span.start..span.end], json::Limits::SIDECAR).ok())
        .ok_or("embed command emitted no JSON object")?;
    let vectors = object.get("embeddings").and_then(Node::items).unwrap_or_default();
    let similarity = match vectors {
        [actual, expected] => numbers(actual).zip(numbers(expected)).and_then(|(a, b)| cosine(&a, &b)),
        _ => None,
    };
    similarity.ok_or_else(|| "embed command must return two equal-length numeric vectors under 'embeddings'".to_owned())
}

/// The items of a list of finite numbers; booleans are none.
fn numbers(list: &Node<'_>) -> Option<Vec<f64>> {
    list.items()?.iter().map(|item| Some(item.as_number()?.as_f64()).filter(|number| number.is_finite())).collect()
}

/// The cosine of the angle between two vectors, at least 0; `None` when there is none.
fn cosine(a: &[f64], b: &[f64]) -> Option<f64> {
    if a.is_empty() || a.len() != b.len() {
        return None;
    }
    let dot = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
    let lengths = dot(a, a).sqrt() * dot(b, b).sqrt();
    let cosine = if lengths == 0.0 { 0.0 } else { dot(a, b) / lengths };
    cosine.is_finite().then(|| cosine.clamp(0.0, 1.0))
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    const FOLDED: TextMatching = TextMatching { ignore_case: true, comparison: Comparison::Rendered };

    fn found(actual: &str, expected: &str, threshold: f64, options: &GradeOptions) -> Finding {
        let operand = Operand { expected, artifact: None, autojunk: true };
        compare(&operand, threshold, SimilarityMode::Ratio, FOLDED, &Answer::new(actual), options)
    }

    #[test]
    fn verdict_and_score_agree() {
        let finding = found("bcde", "ABCD", 0.75, &GradeOptions::default());
        assert_eq!(finding.evidence, "similarity=0.7500 vs threshold=0.75 against expected[:60]='ABCD'");
        assert_eq!((finding.outcome.word(), finding.score), ("pass", Some(0.75)));
        // 2/3 is below 0.6667, the score is not
        let finding = found("abx", "aby", 0.6667, &GradeOptions::default());
        assert_eq!((finding.outcome.word(), finding.score), ("pass", Some(0.6667)));
    }

    #[test]
    fn the_view_is_named_when_it_changed_something() {
        let finding = found("rate\u{200b} limit", "rate limit", 1.0, &GradeOptions::default());
        assert_eq!(
            finding.evidence,
            "similarity=1.0000 vs threshold=1 against expected[:60]='rate limit'; normalized with rendered-v1 \
             (1 U+200B ZERO WIDTH SPACE); verdict changed"
        );
        let normalization = finding.normalization.unwrap();
        assert_eq!((normalization.verdict_changed, normalization.operands.len()), (Some(true), 0));
        let finding = found("e\u{301}", "\u{e9}", 0.0, &GradeOptions::default());
        assert!(finding.evidence.ends_with("(NFC canonical normalization); verdict unchanged"), "{}", finding.evidence);
        assert_eq!(finding.score, Some(1.0));
    }

    #[test]
    fn texts_over_the_limit_are_not_compared() {
        let options = GradeOptions { similarity_characters: 3, ..GradeOptions::default() };
        let finding = found("äbcd", "a", 0.5, &options);
        assert_eq!(finding.outcome, Outcome::Error(ErrorReason::SimilarityBudget));
        assert_eq!(finding.evidence, "similarity unavailable: the longer text has 4 characters, the limit is 3");
        assert_eq!((finding.score, found("äbc", "a", 0.5, &options).outcome.word()), (None, "fail"));
    }

    fn embedded(command: &str, seconds: f64) -> Result<f64, String> {
        embedding_similarity(command, Texts { actual: "é", expected: "b" }, seconds, &[])
    }

    #[test]
    fn embeddings_come_from_a_command() {
        let similarity = embedded("echo 'log {\"embeddings\": [[1,0],[1,1]]}'", 60.0).unwrap();
        assert_eq!(format!("{similarity:.4}"), "0.7071");
        assert_eq!(embedded("echo '{\"embeddings\": [[1,0],[-1,0]]}'", 60.0), Ok(0.0));
        assert_eq!(embedded("echo '{\"embeddings\": [[0,0],[1,0]]}'", 60.0), Ok(0.0));
        // the texts arrive, and a command may leave them unread
        let echo = r#"[ "$(cat)" = '{"texts":["é","b"]}' ] && echo '{"embeddings": [[1],[1]]}'"#;
        assert_eq!(embedded(echo, 60.0), Ok(1.0));
        let vectors = "embed command must return two equal-length numeric vectors under 'embeddings'";
        for bad in ["[[1]]", "[[1],[1,2]]", "[[],[]]", "[[true],[1]]", "[[\"1\"],[1]]", "[[1e200],[1e200]]", "3"] {
            assert_eq!(embedded(&format!("echo '{{\"embeddings\": {bad}}}'"), 60.0).unwrap_err(), vectors, "{bad}");
        }
        assert_eq!(embedded("echo none", 60.0).unwrap_err(), "embed command emitted no JSON object");
        assert_eq!(embedded("echo oops >&2; exit 3", 60.0).unwrap_err(), "embed command exit 3: oops\n");
    }

    #[test]
    fn a_slow_command_is_ended() {
        let started = Instant::now();
        assert_eq!(embedded("sleep 50 & sleep 50", 0.2).unwrap_err(), "embed command timed out after 0.2s");
        assert!(started.elapsed().as_secs() < 20);
    }
}
