//! The review page: one file that opens without a network. The overview is finished HTML, the cases are data that a script
//! shows; every text of others is data.
//!
//! In: a saved report, analysed, and what the folders of its runs hold. Out: the bytes of the page; the same inputs give the
//! same bytes.

mod assets;
mod blocked;
mod budget;
mod case;
mod cases;
mod index;
mod island;
mod link;
mod overview;
mod run;
mod shell;
mod telemetry;
mod texts;

use std::collections::{HashMap, HashSet};
use std::io;
use std::ops::Range;

use num_traits::One;
use rayon::prelude::*;
use skill_lift_stats::rational::Rational;

use self::blocked::BlockedPairs;
use self::budget::{CaseSize, Most, Plan};
use self::case::CaseSource;
use self::cases::{CasesOfPage, Models};
use self::index::{Facts, Index, IndexCase, Served};
use self::overview::Front;
use super::formats::Again;
use crate::analyze::case_detail::CaseDetail;
use crate::analyze::diff::Diff;
use crate::analyze::several::SeveralSkills;
use crate::analyze::triggers::TriggerRates;
use crate::feedback::{Entry, RunIds};
use crate::runs::SavedRuns;

pub use assets::{AssetLinks, place as asset_place};
pub use case::CaseTexts;

/// Bytes of a part of the page that the script reads at once.
const CHUNK_BYTES: usize = 512 << 10;

/// How a page is made.
#[derive(Debug, Clone)]
pub struct ReviewOptions {
    /// Bytes of the page at most.
    pub page_bytes: usize,
    /// KiB of an answer at most.
    pub answer_kib: usize,
    /// Whether files of the runs stand in the page.
    pub artifacts: bool,
    /// Where the files of the runs stand beside the page, if they do.
    pub assets: Option<AssetLinks>,
    /// When it is made, if that is to be shown.
    pub generated_at: Option<String>,
    /// What a page that is served has to send with feedback.
    pub token: Option<String>,
}

impl Default for ReviewOptions {
    fn default() -> Self {
        Self { page_bytes: 24 << 20, answer_kib: 64, artifacts: true, assets: None, generated_at: None, token: None }
    }
}

/// What a page shows.
pub struct ReviewSource<'a> {
    /// The skill of the report, or the skills of a report of several.
    pub skills: Vec<SkillSource<'a>>,
    /// What a report of several skills says of all of them; `None` for that of one.
    pub several: Option<SeveralSource<'a>>,
    /// SHA-256 of its bytes, hexadecimal.
    pub report_sha256: &'a str,
    /// The name of the iteration.
    pub label: Option<&'a str>,
    /// What the suite says of the cases, by id.
    pub texts: &'a HashMap<String, CaseTexts>,
    /// The folder of the runs as the user typed it.
    pub shown_runs: &'a str,
    /// Entries of `feedback.json`.
    pub feedback: &'a [Entry],
    /// What the skill creator calls the runs, where the page writes feedback in its form.
    pub run_ids: Option<&'a RunIds>,
    /// How the page is made.
    pub options: &'a ReviewOptions,
}

/// One skill of a page.
pub struct SkillSource<'a> {
    /// Its report.
    pub again: Again<'a>,
    /// Its runs.
    pub runs: Option<&'a SavedRuns>,
    /// The other iteration.
    pub previous: Option<PreviousSource<'a>>,
    /// How often it was loaded by itself.
    pub triggers: Option<&'a TriggerRates>,
}

/// Several skills together.
pub struct SeveralSource<'a> {
    /// What they add up to.
    pub figures: &'a SeveralSkills,
    /// The error rate of the limits of the mean.
    pub alpha: &'a Rational,
    /// Whether the report holds a mean over the skills.
    pub holds_mean: bool,
    /// Whether the report holds what all runs cost together.
    pub holds_cost: bool,
    /// Seconds since 1970, if the report is stamped.
    pub generated_at: Option<i64>,
}

/// The other iteration.
pub struct PreviousSource<'a> {
    /// Its name.
    pub label: &'a str,
    /// Its report.
    pub again: Again<'a>,
    /// Its runs, or why there are none.
    pub runs: Result<&'a SavedRuns, &'a str>,
    /// Both compared; `None` when they have no case in common.
    pub diff: Option<&'a Diff<'a>>,
}

/// A page that was made.
#[derive(Debug)]
pub struct Page {
    /// Its bytes.
    pub html: Vec<u8>,
    /// What the browser may do with it, without what a server adds.
    pub policy: String,
    /// Cases in it.
    pub cases: usize,
    /// Runs in it.
    pub runs: usize,
    /// What was cut to stay under the limit.
    pub cuts: Vec<String>,
}

/// Why there is no page.
#[derive(Debug, thiserror::Error)]
pub enum PageError {
    /// The smallest one is above the limit.
    #[error("page would be {} MiB; raise --max-page-mib or use --split/--variant", .0.div_ceil(1 << 20))]
    TooLarge(usize),
    /// The template of the program is broken.
    #[error("the template of the page cannot be filled: {0}")]
    Template(#[from] minijinja::Error),
    /// Data cannot be written.
    #[error("cannot write the data of the page: {0}")]
    Data(#[from] io::Error),
}

/// What was worked out of a skill before its part of the page is made.
struct Ground<'a> {
    again: Again<'a>,
    pages: CasesOfPage<'a>,
    details: Vec<CaseDetail>,
    blocked: BlockedPairs<'a>,
    new_failures: HashSet<String>,
}

/// Makes a page.
///
/// # Errors
/// When it cannot be kept under its limit.
pub fn render(source: &ReviewSource<'_>) -> Result<Page, PageError> {
    let models = Models::of(source.skills.iter().map(|skill| skill.again));
    let arms = index::arms(source.skills.iter().map(|skill| skill.again.analysis.table.baseline));
    let ground: Vec<Ground<'_>> = source.skills.iter().map(|skill| Ground::of(skill, &models)).collect();
    let facts: Vec<Facts<'_>> = ground
        .iter()
        .zip(&source.skills)
        .enumerate()
        .map(|(skill, (ground, source_of))| Facts {
            skill,
            again: ground.again,
            baseline: arms[1].variant,
            pages: &ground.pages,
            details: &ground.details,
            blocked: &ground.blocked,
            new_failures: &ground.new_failures,
            previous: source_of.previous.as_ref().map(|previous| previous.label),
            run_ids: source.run_ids,
        })
        .collect();
    let mut cases: Vec<IndexCase> = facts.iter().flat_map(index::cases).collect();
    let front = Front::of(source, &facts, &cases);
    let shell = shell::Shell::new(source, &front, cases.len())?;
    let data: Vec<CaseSource<'_>> = source.skills.iter().map(|skill| CaseSource::of(skill, source)).collect();
    let empty = cases::CaseOfPage::default();
    let page_of = |case: &IndexCase| ground[case.skill].pages.get(&case.id).unwrap_or(&empty);
    let most = Most { answer_kib: source.options.answer_kib, artifacts: source.options.artifacts };
    let sizes: Vec<CaseSize> = cases
        .par_iter()
        .map(|case| data[case.skill].size(&case.id, page_of(case), &most, case.queue.is_some()))
        .collect::<io::Result<_>>()?;
    let index = |cases: &[IndexCase]| island::island(&index_of(source, &front, models.names(), &arms, cases));
    let around = shell.bytes() + index(&cases)?.len() + RESERVED_BYTES;
    let mut room = source.options.page_bytes.saturating_sub(around);
    loop {
        let plan = budget::plan(&sizes, &most, room).map_err(|smallest| PageError::TooLarge(smallest + around))?;
        let parts = parts(&sizes, &plan);
        for (number, part) in parts.iter().enumerate() {
            cases[part.clone()].iter_mut().for_each(|case| case.chunk = number);
        }
        let islands: Vec<String> =
            parts
                .par_iter()
                .map(|part| {
                    CaseSource::chunk(cases[part.clone()].iter().map(|case| {
                        (&data[case.skill], case.id.as_str(), page_of(case), plan.caps(case.queue.is_some()))
                    }))
                })
                .collect::<io::Result<_>>()?;
        let cuts = plan.words(&sizes, source.options.page_bytes, source.shown_runs);
        let html = shell.fill(index(&cases)?, islands, &cuts)?;
        // sizes of files and traces are near the truth, not the truth
        match html.len().checked_sub(source.options.page_bytes) {
            Some(over @ 1..) => room = room.saturating_sub(over),
            _ => {
                let runs = ground.iter().map(|ground| ground.pages.runs()).sum();
                return Ok(Page { policy: shell.rules(), html, cases: cases.len(), runs, cuts });
            }
        }
    }
}

impl<'a> Ground<'a> {
    fn of(skill: &SkillSource<'a>, models: &Models<'_>) -> Self {
        let analysis = skill.again.analysis;
        let alpha = analysis.inference.thresholds.alpha();
        Self {
            again: skill.again,
            pages: CasesOfPage::of(skill.again, models),
            details: CaseDetail::of_cases(&analysis.table, analysis.inference_pairing(), alpha),
            blocked: BlockedPairs::of(skill.again),
            new_failures: new_failures(skill),
        }
    }
}

/// Bytes that are kept free for the names of parts and for what was cut.
const RESERVED_BYTES: usize = 16 << 10;

/// Parts of whole cases, each closed when it is large enough.
fn parts(sizes: &[CaseSize], plan: &Plan) -> Vec<Range<usize>> {
    let mut parts = Vec::new();
    let (mut start, mut bytes) = (0, 0);
    for (at, size) in sizes.iter().enumerate() {
        bytes += plan.bytes(size);
        if bytes >= CHUNK_BYTES {
            parts.push(start..at + 1);
            (start, bytes) = (at + 1, 0);
        }
    }
    if start < sizes.len() {
        parts.push(start..sizes.len());
    }
    parts
}

fn index_of<'a>(
    source: &'a ReviewSource<'_>,
    front: &'a Front,
    models: &'a [&'a str],
    arms: &'a [index::Arm; 2],
    cases: &'a [IndexCase],
) -> Index<'a> {
    let options = source.options;
    // only the report of one skill has an iteration before it
    let previous = source.skills.first().and_then(|skill| skill.previous.as_ref());
    Index {
        schema: 1,
        report_sha256: source.report_sha256,
        skill: front.name(),
        headline: front.title(),
        label: source.label,
        previous: previous.map(|previous| previous.label),
        models,
        arms,
        runs_given: source.skills.iter().any(|skill| skill.runs.is_some()),
        served: options.token.as_deref().map(|token| Served { token }),
        feedback_format: if source.run_ids.is_some() { "skill-creator" } else { "v2" },
        feedback: source.feedback,
        cases,
    }
}

/// Cases that passed whole with the skill in the other iteration and do not now.
fn new_failures(skill: &SkillSource<'_>) -> HashSet<String> {
    let Some(previous) = &skill.previous else { return HashSet::new() };
    let passes = |again: Again<'_>| -> HashMap<String, bool> {
        let cases = again.analysis.inference.by_case.iter();
        cases
            .filter_map(|case| {
                let rate = case.rates.as_ref().map(|rates| &rates.with_skill).or(case.with_skill_alone.as_ref())?;
                Some((case.case_id.clone(), rate.is_one()))
            })
            .collect()
    };
    let before = passes(previous.again);
    passes(skill.again)
        .into_iter()
        .filter(|(case, passes)| !passes && before.get(case) == Some(&true))
        .map(|(case, _)| case)
        .collect()
}

/// A text as the beginning of a sentence.
fn capitalized(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map(|first| format!("{}{}", first.to_uppercase(), characters.as_str())).unwrap_or_default()
}
