//! One case in the page: what was asked, its checks, its runs.

use std::collections::{HashMap, HashSet};
use std::io;

use serde::Serialize;

use super::assets::AssetLinks;
use super::budget::{Caps, CaseSize, Most, SIZES};
use super::cases::{CaseOfPage, RunsByKey};
use super::island::island;
use super::run::{CheckKey, Extras, Previous, RunJson, RunView, answer_and_checks, keyed, status};
use super::texts::{Shown, Text, TextTable};
use super::{ReviewSource, SkillSource};
use crate::report::ordered::Ordered;
use crate::runs::SavedRuns;
use crate::runs::claims::{SavedCheck, SavedRow};
use crate::runs::saved_runs::{AnswerContent, RunContents};

/// Bytes of a prompt, of what is expected of an answer.
const PROMPT_BYTES: usize = 64 << 10;

/// What the suite says of a case, for people.
#[derive(Debug, Clone, Default)]
pub struct CaseTexts {
    /// What is asked, one text a turn.
    pub turns: Vec<String>,
    /// Input files with their sizes, where those are known.
    pub files: Vec<(String, Option<u64>)>,
    /// What a good answer does.
    pub expected: Vec<String>,
}

/// A chunk of the page: whole cases with the texts that they show.
#[derive(Serialize)]
struct Chunk {
    texts: Vec<Text>,
    /// Words that many runs share; the first has the position 1.
    words: Vec<String>,
    cases: Ordered<CaseJson>,
}

#[derive(Debug, Serialize)]
struct CaseJson {
    turns: Vec<usize>,
    files_in: Vec<InputFile>,
    expected: Vec<usize>,
    checks: Vec<CheckJson>,
    runs: Vec<RunJson>,
}

#[derive(Debug, Serialize)]
struct InputFile {
    path: String,
    bytes: Option<u64>,
}

#[derive(Debug, Serialize)]
struct CheckJson {
    name: String,
    #[serde(rename = "type")]
    assertion_type: &'static str,
    severity: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<&'static str>,
}

/// The other iteration.
struct OtherIteration<'a> {
    rows: RunsByKey<'a>,
    runs: Option<&'a SavedRuns>,
}

/// What the cases of a skill are made of.
pub(super) struct CaseSource<'a> {
    runs: Option<&'a SavedRuns>,
    links: Option<&'a AssetLinks>,
    texts: &'a HashMap<String, CaseTexts>,
    previous: Option<OtherIteration<'a>>,
}

/// A case whose runs were read.
struct ReadCase<'a> {
    texts: Option<&'a CaseTexts>,
    keys: Vec<CheckKey>,
    checks: Vec<&'a SavedCheck>,
    runs: Vec<(RunView<'a>, Option<OtherRun<'a>>)>,
}

/// The same run of the other iteration; `None` in place of the row where it has no such run.
struct OtherRun<'a> {
    row: &'a SavedRow,
    contents: Option<RunContents>,
}

impl<'a> CaseSource<'a> {
    pub(super) fn of(skill: &SkillSource<'a>, page: &'a ReviewSource<'_>) -> Self {
        Self {
            runs: skill.runs,
            links: page.options.assets.as_ref(),
            texts: page.texts,
            previous: skill
                .previous
                .as_ref()
                .map(|previous| OtherIteration { rows: RunsByKey::of(previous.again.saved), runs: previous.runs.ok() }),
        }
    }

    /// A chunk of cases as JSON.
    ///
    /// # Errors
    /// Never in practice: the bytes go to memory.
    pub(super) fn chunk<'c>(
        cases: impl Iterator<Item = (&'a Self, &'c str, &'c CaseOfPage<'c>, Caps)>,
    ) -> io::Result<String>
    where
        'c: 'a,
    {
        let mut texts = TextTable::default();
        let mut extras = Extras::default();
        let cases: Vec<_> = cases
            .map(|(source, id, case, caps)| (id.to_owned(), source.read(id, case).shown(caps, &mut texts, &mut extras)))
            .collect();
        let (texts, words) = texts.into_parts();
        island(&Chunk { texts, words, cases: Ordered(cases) })
    }

    /// How many bytes a case takes under each size of an answer: it is written once with the shortest ones, and what longer
    /// ones add is counted.
    ///
    /// # Errors
    /// Never in practice: the bytes go to memory.
    pub(super) fn size<'c>(
        &'a self,
        id: &'c str,
        case: &'c CaseOfPage<'c>,
        most: &Most,
        is_queued: bool,
    ) -> io::Result<CaseSize>
    where
        'c: 'a,
    {
        let sizes = most.answer_sizes();
        let least = sizes[SIZES - 1];
        let mut read = self.read(id, case);
        let caps = Caps { file_texts: false, images: false, ..Caps::whole(most, least) };
        let (shortest, extras) = read.measure(id, caps)?;
        let images = if most.artifacts { extras.images } else { 0 };
        let mut size = CaseSize {
            by_answer: [shortest + images; SIZES],
            file_texts: if most.artifacts { extras.file_texts } else { 0 },
            details: extras.details,
            traces: extras.traces,
            images,
            is_queued,
            ..CaseSize::default()
        };
        let mut known: HashSet<&str> = HashSet::new();
        for text in read.answers() {
            let is_new = known.insert(text);
            let bytes = |limit: usize| Shown::of(text, limit).escaped_length();
            let short = if is_new && text.len() > least { bytes(least) } else { 0 };
            let mut length = None;
            for (step, limit) in sizes.into_iter().enumerate() {
                size.longer[step] += usize::from(text.len() > limit);
                if is_new && text.len() > least {
                    // a text that is shown whole takes the same under every larger size
                    let shown = match length {
                        Some(length) if text.len() <= limit => length,
                        _ => *length.insert(bytes(limit)),
                    };
                    size.by_answer[step] += shown - short.min(shown);
                }
            }
        }
        Ok(size)
    }

    fn read<'c>(&'a self, id: &str, case: &'c CaseOfPage<'c>) -> ReadCase<'a>
    where
        'c: 'a,
    {
        let mut keys: Vec<CheckKey> = Vec::new();
        let mut checks: Vec<&SavedCheck> = Vec::new();
        let mut known: HashSet<CheckKey> = HashSet::new();
        for (key, check) in case.runs.iter().flat_map(|run| keyed(&run.row.checks)) {
            if known.insert(key.clone()) {
                keys.push(key);
                checks.push(check);
            }
        }
        let texts = self.texts.get(id);
        let turns = texts.map_or(0, |texts| texts.turns.len()).max(1);
        // a single turn has its answer in the run itself
        let turns = if turns > 1 { turns } else { 0 };
        let contents = |runs: Option<&SavedRuns>, row: &SavedRow| runs?.read(&row.run_dir, turns);
        let runs = case.runs.iter().map(|run| {
            let view = RunView {
                row: run.row,
                arm: run.arm,
                model: run.model,
                has_runs: self.runs.is_some(),
                contents: contents(self.runs, run.row),
                links: self.links,
            };
            let other = self.previous.as_ref().and_then(|previous| {
                let row = previous.rows.same(run.row)?;
                Some(OtherRun { row, contents: contents(previous.runs, row) })
            });
            (view, other)
        });
        ReadCase { texts, keys, checks, runs: runs.collect() }
    }
}

impl ReadCase<'_> {
    /// The answers that are texts.
    fn answers(&self) -> impl Iterator<Item = &str> {
        let contents = self.runs.iter().flat_map(|(view, other)| {
            view.contents.iter().chain(other.iter().filter_map(|other| other.contents.as_ref()))
        });
        contents.flat_map(|contents| &contents.answers).filter_map(|answer| match &answer.content {
            AnswerContent::Text { text, .. } => Some(text.as_str()),
            AnswerContent::Binary { .. } | AnswerContent::TooLarge => None,
        })
    }

    /// The bytes of the case alone, and those of them that can be left out.
    fn measure(&mut self, id: &str, caps: Caps) -> io::Result<(usize, Extras)> {
        let (mut texts, mut extras) = (TextTable::default(), Extras::default());
        let case = self.shown(caps, &mut texts, &mut extras);
        let (texts, words) = texts.into_parts();
        let chunk = Chunk { texts, words, cases: Ordered(vec![(id.to_owned(), case)]) };
        Ok((island(&chunk)?.len(), extras))
    }

    fn shown(&mut self, caps: Caps, texts: &mut TextTable, extras: &mut Extras) -> CaseJson {
        let prompts = self.texts.map(|said| said.turns.as_slice()).unwrap_or_default();
        let expected = self.texts.map(|said| said.expected.as_slice()).unwrap_or_default();
        let mut add = |list: &[String]| {
            list.iter().map(|text| texts.add(&Shown::of(text, PROMPT_BYTES), 0, false)).collect::<Vec<usize>>()
        };
        let (turns, expected) = (add(prompts), add(expected));
        let files_in = self.texts.map(|said| said.files.as_slice()).unwrap_or_default();
        CaseJson {
            turns,
            expected,
            files_in: files_in.iter().map(|(path, bytes)| InputFile { path: path.clone(), bytes: *bytes }).collect(),
            checks: self.keys.iter().zip(&self.checks).map(|(key, check)| CheckJson::of(key, check)).collect(),
            runs: self
                .runs
                .iter_mut()
                .map(|(view, other)| {
                    let mut run = view.shown(&self.keys, caps, texts, extras);
                    run.previous = other.as_ref().map(|other| other.to_json(&self.keys, caps, texts));
                    run
                })
                .collect(),
        }
    }
}

impl OtherRun<'_> {
    fn to_json(&self, keys: &[CheckKey], caps: Caps, texts: &mut TextTable) -> Previous {
        let (answer, checks) = answer_and_checks(self.row, self.contents.as_ref(), keys, caps, texts);
        let counts = (self.row.is_scorable() && self.row.is_rated).then_some(self.row.objective);
        Previous {
            status: status(self.row),
            passed: counts.map(|counts| counts.passed),
            total: counts.map(|counts| counts.total),
            answer,
            checks,
        }
    }
}

impl CheckJson {
    fn of((name, number): &CheckKey, check: &SavedCheck) -> Self {
        let name = if *number > 1 { format!("{name} ({number})") } else { name.clone() };
        Self {
            name,
            assertion_type: check.assertion_type.map_or("check", |known| known.word()),
            severity: check.severity.word(),
            note: check.one_arm.map(|_| "only one arm can satisfy it: not in the lift"),
        }
    }
}
