//! `render-viewer`: the review page of a saved report.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use serde_json::Value;

use super::output::{emit, fail, usage, warn_line};
use crate::pipeline::{ReviewRequest, review_page};
use crate::report::numbers::counted;
use crate::report::quantities;
use crate::report::review::{AssetLinks, FeedbackShape, Page, ReviewOptions};
use crate::runs::{Limits, read_named};
use crate::suite::{LoadOptions, Suite, load};

/// Bytes of a page above which browsers get slow.
const SLOW_BYTES: usize = 50 << 20;
/// Bytes of a feedback file.
const FEEDBACK_BYTES: u64 = 16 << 20;

/// Writes the review page of a saved report: one file that opens in a browser without a network.
///
/// It begins with the verdict, says how sure it is and what it costs, lists the cases that need eyes, and shows for each
/// case both arms side by side: answers with the evidence marked, checks, traces, files. With --runs the answers stand in
/// the page; with --suite, what was asked.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    skill-lift render-viewer --benchmark benchmark.json --runs eval-runs/latest --out review.html\n  \
    skill-lift render-viewer --benchmark iteration-4/benchmark.json --runs iteration-4/runs \
--suite evals/shared-benchmark.json --previous-workspace iteration-3 --out review.html\n\n\
    Exit codes: 0 a page was written, whatever the verdict; 1 a report that cannot be read, a page that cannot be kept \
    under its limit; 2 wrong arguments.")]
pub struct RenderViewerArguments {
    /// The report, of `skill-lift benchmark` or of `skill-benchmark` 0.6.
    #[arg(long, value_name = "FILE")]
    benchmark: PathBuf,
    /// The folder of its runs. Without it the page has no answers and no traces.
    #[arg(long, value_name = "DIR")]
    runs: Option<PathBuf>,
    /// The suite, for what was asked of the agent.
    #[arg(long, value_name = "FILE")]
    suite: Option<PathBuf>,
    /// Where the page is written.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// The folder of the iteration before, which has a benchmark.json: what changed, and its answers beside these.
    #[arg(long, value_name = "DIR")]
    previous_workspace: Option<PathBuf>,
    /// The folder of feedback.json. Default: that of the report.
    #[arg(long, value_name = "DIR")]
    workspace: Option<PathBuf>,
    /// Earlier feedback to show. Default: feedback.json of the workspace, if it is there.
    #[arg(long, value_name = "FILE")]
    feedback: Option<PathBuf>,
    /// What the page writes feedback as. Default: as the tool does whose runs they are.
    #[arg(long, value_enum, value_name = "FORMAT")]
    feedback_format: Option<FeedbackFormat>,
    #[command(flatten)]
    page: PageArguments,
    /// Copy the files of the runs into this folder, and link them from the page: for runs that are too large for one file.
    /// What a browser would run keeps its text under the ending .txt.
    #[arg(long, value_name = "DIR", requires = "runs")]
    split_assets: Option<PathBuf>,
    /// When the page is made, to be shown in it; without it no time is.
    #[arg(long, value_name = "TIME")]
    generated_at: Option<String>,
    /// Largest report.
    #[arg(long, value_name = "MIB", default_value_t = 256)]
    max_report_mib: u64,
    /// Say nothing but errors.
    #[arg(long)]
    quiet: bool,
}

/// How large a page may be and what it holds.
#[derive(Debug, Args)]
pub struct PageArguments {
    /// Largest page. Answers are cut, visibly, until it fits.
    #[arg(long, value_name = "MIB", default_value_t = 24, value_parser = clap::value_parser!(u64).range(1..=256))]
    max_page_mib: u64,
    /// Longest answer: the first three quarters and the last quarter of it.
    #[arg(long, value_name = "KIB", default_value_t = 64, value_parser = clap::value_parser!(u64).range(1..=1024))]
    max_output_kib: u64,
    /// List the files of the runs, and show none.
    #[arg(long)]
    no_artifacts: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum FeedbackFormat {
    /// Schema version 2, which `error-analysis` reads.
    V2,
    /// The file of the skill creator.
    SkillCreator,
}

impl PageArguments {
    pub(super) fn options(&self, feedback_shape: FeedbackShape) -> ReviewOptions {
        ReviewOptions {
            page_bytes: (self.max_page_mib as usize) << 20,
            answer_kib: self.max_output_kib as usize,
            artifacts: !self.no_artifacts,
            feedback_shape,
            ..ReviewOptions::default()
        }
    }
}

/// Runs the command.
pub fn run(arguments: &RenderViewerArguments) -> ExitCode {
    arguments.render().err().unwrap_or(ExitCode::SUCCESS)
}

impl RenderViewerArguments {
    fn render(&self) -> Result<(), ExitCode> {
        let Some(out) = &self.out else {
            return Err(usage("render-viewer needs --out (or --serve)"));
        };
        let suite = self.suite.as_deref().map(load_suite).transpose()?;
        let feedback = self.read_feedback()?;
        let mut options = self.page.options(match self.feedback_format {
            Some(FeedbackFormat::SkillCreator) => FeedbackShape::Reviews,
            Some(FeedbackFormat::V2) | None => FeedbackShape::Entries,
        });
        options.generated_at.clone_from(&self.generated_at);
        if let Some(folder) = &self.split_assets {
            options.assets = Some(asset_links(out, folder)?);
        }
        let request = ReviewRequest {
            report: &self.benchmark,
            runs: self.runs.as_deref(),
            suite: suite.as_ref(),
            previous: self.previous_workspace.as_deref(),
            feedback: &feedback,
            report_bytes: Limits::mebibytes(self.max_report_mib),
            limits: Limits::default(),
            assets: self.split_assets.as_deref(),
            options: &options,
        };
        let page = review_page(&request).map_err(|error| fail(&error.to_string()))?;
        write_page(&page, out, self.quiet)
    }

    fn read_feedback(&self) -> Result<Vec<Value>, ExitCode> {
        let folder = self.workspace.as_deref().or(self.benchmark.parent()).unwrap_or(Path::new("."));
        let usual = folder.join("feedback.json");
        let (path, is_named) = match &self.feedback {
            Some(path) => (path, true),
            None => (&usual, false),
        };
        if !is_named && !path.is_file() {
            return Ok(Vec::new());
        }
        let refuse = |problem: String| fail(&format!("{}: {problem}", path.display()));
        let bytes = read_named(path, FEEDBACK_BYTES).map_err(|problem| refuse(problem.to_string()))?;
        let file: Value = serde_json::from_slice(&bytes).map_err(|error| refuse(error.to_string()))?;
        Ok(file.get("entries").and_then(Value::as_array).cloned().unwrap_or_default())
    }
}

/// Writes a page and says what was written. `Err` is the exit code after the problem was printed.
pub(super) fn write_page(page: &Page, out: &Path, quiet: bool) -> Result<(), ExitCode> {
    if let Some(folder) = out.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder).map_err(|error| fail(&format!("cannot make {}: {error}", folder.display())))?;
    }
    emit(Some(out), |writer| writer.write_all(&page.html)).map_err(|message| fail(&message))?;
    if quiet {
        return Ok(());
    }
    let size = quantities::size(page.html.len() as u64);
    let (cases, runs) = (counted(page.cases, "case", "cases"), counted(page.runs, "run", "runs"));
    warn_line(&format!("wrote {}: {size}, {cases}, {runs}", out.display()));
    page.cuts.iter().for_each(|cut| warn_line(cut));
    if page.html.len() > SLOW_BYTES {
        warn_line("WARN page_large: browsers get slow above 50 MiB; --max-page-mib sets the limit");
    }
    Ok(())
}

/// The way from the page to the files. `Err` is the exit code after the problem was printed.
fn asset_links(page: &Path, folder: &Path) -> Result<AssetLinks, ExitCode> {
    let parent = page.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let made = |place: &Path| {
        std::fs::create_dir_all(place)
            .and_then(|()| place.canonicalize())
            .map_err(|error| fail(&format!("cannot make {}: {error}", place.display())))
    };
    AssetLinks::between(&made(parent)?, &made(folder)?)
        .ok_or_else(|| fail(&format!("--split-assets {}: its name cannot be written in an address", folder.display())))
}

fn load_suite(path: &Path) -> Result<Suite, ExitCode> {
    let loaded = load(path, &LoadOptions::default());
    loaded.suite.ok_or_else(|| {
        fail(&format!("--suite {}: it has errors; see skill-lift validate {}", path.display(), path.display()))
    })
}
