//! The review page: one file that opens without a network. The overview is finished HTML, the cases are data that a script
//! shows; every text of others is data.
//!
//! In: a saved report, analysed, and what the folders of its runs hold. Out: the bytes of the page; the same inputs give the
//! same bytes.

mod assets;
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

use std::collections::{BTreeSet, HashMap, HashSet};
use std::io;
use std::ops::Range;

use num_traits::One;
use rayon::prelude::*;

use self::budget::{CaseSize, Most, Plan};
use self::case::{CaseSource, OtherIteration};
use self::cases::{CasesOfPage, RunsByKey};
use self::index::{Facts, Index, IndexCase, Served};
use self::overview::{Changes, Overview, Sources};
use super::formats::Again;
use super::{SummaryView, numbers};
use crate::analyze::case_detail::CaseDetail;
use crate::analyze::diff::Diff;
use crate::feedback::{Entry, RunIds};
use crate::report::words;
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
    /// The report.
    pub again: Again<'a>,
    /// SHA-256 of its bytes, hexadecimal.
    pub report_sha256: &'a str,
    /// The name of the iteration.
    pub label: Option<&'a str>,
    /// What the suite says of the cases, by id.
    pub texts: &'a HashMap<String, CaseTexts>,
    /// The runs.
    pub runs: Option<&'a SavedRuns>,
    /// The folder of the runs as the user typed it.
    pub shown_runs: &'a str,
    /// The other iteration.
    pub previous: Option<PreviousSource<'a>>,
    /// Entries of `feedback.json`.
    pub feedback: &'a [Entry],
    /// What the skill creator calls the runs, where the page writes feedback in its form.
    pub run_ids: Option<&'a RunIds>,
    /// How the page is made.
    pub options: &'a ReviewOptions,
}

/// The other iteration.
pub struct PreviousSource<'a> {
    /// Its name.
    pub label: &'a str,
    /// Its report.
    pub again: Again<'a>,
    /// Its runs.
    pub runs: Option<&'a SavedRuns>,
    /// Both compared; `None` when there is nothing to compare.
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

/// Makes a page.
///
/// # Errors
/// When it cannot be kept under its limit.
pub fn render(source: &ReviewSource<'_>) -> Result<Page, PageError> {
    let Again { saved, analysis } = source.again;
    let pages = CasesOfPage::of(source.again);
    let alpha = analysis.inference.thresholds.alpha();
    let details = CaseDetail::of_cases(&analysis.table, analysis.inference_pairing(), alpha);
    let previous_label = source.previous.as_ref().map(|previous| previous.label);
    let new_failures = new_failures(source);
    let facts = Facts {
        again: source.again,
        pages: &pages,
        details: &details,
        new_failures: &new_failures,
        previous: previous_label,
        run_ids: source.run_ids,
    };
    let view = SummaryView::of_saved(saved, analysis);
    let mut cases = index::cases(&facts);
    let overview = Overview::of(&Sources {
        facts: &facts,
        view: &view,
        cases: &cases,
        changes: changes(source),
        report_sha256: source.report_sha256,
        generated_at: source.options.generated_at.as_deref(),
    });
    let shell = shell::Shell::new(source, &view, &overview, cases.len())?;
    let data = CaseSource {
        runs: source.runs,
        links: source.options.assets.as_ref(),
        texts: source.texts,
        previous: source
            .previous
            .as_ref()
            .map(|previous| OtherIteration { rows: RunsByKey::of(previous.again.saved), runs: previous.runs }),
    };
    let empty = cases::CaseOfPage::default();
    let page_of = |case: &IndexCase| pages.get(&case.id).unwrap_or(&empty);
    let most = Most { answer_kib: source.options.answer_kib, artifacts: source.options.artifacts };
    let sizes: Vec<CaseSize> = cases
        .par_iter()
        .map(|case| data.size(&case.id, page_of(case), &most, case.queue.is_some()))
        .collect::<io::Result<_>>()?;
    let index = |cases: &[IndexCase]| island::island(&index_of(source, &pages, &view, cases));
    let around = shell.bytes() + index(&cases)?.len() + RESERVED_BYTES;
    let mut room = source.options.page_bytes.saturating_sub(around);
    loop {
        let plan = budget::plan(&sizes, &most, room).map_err(|smallest| PageError::TooLarge(smallest + around))?;
        let parts = parts(&sizes, &plan);
        for (number, part) in parts.iter().enumerate() {
            cases[part.clone()].iter_mut().for_each(|case| case.chunk = number);
        }
        let islands: Vec<String> = parts
            .par_iter()
            .map(|part| {
                let cases = &cases[part.clone()];
                data.chunk(cases.iter().map(|case| (case.id.as_str(), page_of(case), plan.caps(case.queue.is_some()))))
            })
            .collect::<io::Result<_>>()?;
        let cuts = plan.words(&sizes, source.options.page_bytes, source.shown_runs);
        let html = shell.fill(index(&cases)?, islands, &cuts)?;
        // sizes of files and traces are near the truth, not the truth
        match html.len().checked_sub(source.options.page_bytes) {
            Some(over @ 1..) => room = room.saturating_sub(over),
            _ => return Ok(Page { policy: shell.rules(), html, cases: cases.len(), runs: pages.runs(), cuts }),
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
    pages: &CasesOfPage<'a>,
    view: &'a SummaryView,
    cases: &'a [IndexCase],
) -> Index<'a> {
    let options = source.options;
    Index {
        schema: 1,
        report_sha256: source.report_sha256,
        skill: &view.skill_name,
        headline: headline(view, source.again),
        label: source.label,
        previous: source.previous.as_ref().map(|previous| previous.label),
        models: pages.models.clone(),
        arms: index::arms(source.again),
        runs_given: source.runs.is_some(),
        served: options.token.as_deref().map(|token| Served { token }),
        feedback_format: if source.run_ids.is_some() { "skill-creator" } else { "v2" },
        feedback: source.feedback,
        cases,
    }
}

/// `The skill helps: +21.5 pp`, for the title of the window.
fn headline(view: &SummaryView, again: Again<'_>) -> String {
    let text = view.headline.text.trim_end_matches('.');
    match &again.analysis.inference.overall.test.estimate {
        Some(estimate) if !again.analysis.is_withheld() => format!("{text}: {}", numbers::points(estimate)),
        _ => text.to_owned(),
    }
}

/// Cases that passed whole with the skill in the other iteration and do not now.
fn new_failures(source: &ReviewSource<'_>) -> HashSet<String> {
    let Some(previous) = &source.previous else { return HashSet::new() };
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
    passes(source.again)
        .into_iter()
        .filter(|(case, passes)| !passes && before.get(case) == Some(&true))
        .map(|(case, _)| case)
        .collect()
}

fn changes<'a>(source: &ReviewSource<'a>) -> Option<Changes<'a>> {
    let previous = source.previous.as_ref()?;
    let lift = |again: Again<'_>| again.analysis.inference.overall.test.estimate.clone();
    let flags = |again: Again<'_>| -> BTreeSet<(String, String)> {
        let cases = again.analysis.case_flags.iter();
        cases
            .flat_map(|case| case.flags.iter().map(|raised| (case.case_id.clone(), words::flag_text(&raised.flag))))
            .collect()
    };
    let (before, now) = (flags(previous.again), flags(source.again));
    Some(Changes {
        label: previous.label,
        diff: previous.diff?,
        lifts: [lift(previous.again), lift(source.again)],
        flags: [now.difference(&before).cloned().collect(), before.difference(&now).cloned().collect()],
    })
}
