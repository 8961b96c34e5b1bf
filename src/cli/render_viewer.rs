//! `render-viewer`: the review page of a saved report.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, ValueEnum};

use super::output::{emit, fail, usage, warn_line};
use super::serve;
use super::warnings::warn_of_feedback;
use crate::feedback::FeedbackFile;
use crate::pipeline::{FeedbackShape, ReviewRequest, Reviewed, review_page};
use crate::report::numbers::counted;
use crate::report::quantities;
use crate::report::review::{AssetLinks, Page, ReviewOptions};
use crate::runs::Limits;
use crate::runs::index::shown_path;
use crate::serve::{Site, bind, new_token};
use crate::suite::{LoadOptions, Suite, load};

/// Bytes of a page above which browsers get slow.
const SLOW_BYTES: usize = 50 << 20;
/// The file of feedback in a workspace.
const FEEDBACK: &str = "feedback.json";

/// Writes the review page of a saved report: one file that opens in a browser without a network.
///
/// It begins with the verdict, says how sure it is and what it costs, lists the cases that need eyes, and shows for each
/// case both arms side by side: answers with the evidence marked, checks, traces, files. With --runs the answers stand in
/// the page; with --suite, what was asked. The page of a report of several skills has a section for each, and the ids of
/// its cases begin with the name of their skill.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    skill-lift render-viewer --benchmark benchmark.json --runs eval-runs/latest --out review.html\n  \
    skill-lift render-viewer --benchmark benchmark.json --runs eval-runs/latest --serve\n  \
    skill-lift render-viewer --benchmark iteration-4/benchmark.json --runs iteration-4/runs \
--suite evals/shared-benchmark.json --previous-workspace iteration-3 --out review.html\n  \
    skill-lift render-viewer --benchmark skills.json --runs a/eval-runs --runs b/eval-runs --out review.html\n\n\
    Exit codes: 0 a page was written, whatever the verdict; 1 a report that cannot be read, a page that cannot be kept \
    under its limit; 2 wrong arguments.")]
pub struct RenderViewerArguments {
    /// The report, of `benchmark` or of `aggregate`, ours or one of `skill-benchmark` 0.6.
    #[arg(long, value_name = "FILE")]
    benchmark: PathBuf,
    /// The folder of its runs. Without it the page has no answers and no traces. Of a report of several skills: one folder
    /// for all, or one for each in the order of the report.
    #[arg(long, value_name = "DIR")]
    runs: Vec<PathBuf>,
    /// The suite, for what was asked of the agent; of a report of several skills the suites of them.
    #[arg(long, value_name = "FILE")]
    suite: Vec<PathBuf>,
    /// A report of `skill-trigger-matrix` or `skill-pi-trigger-eval`: how often the skill is loaded by itself.
    #[arg(long, value_name = "FILE")]
    triggers: Option<PathBuf>,
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
    /// Serve the page on this machine until Ctrl-C; what is said about the runs goes to feedback.json of the workspace.
    #[arg(long)]
    serve: bool,
    /// The port; 0 takes a free one.
    #[arg(long, value_name = "PORT", default_value_t = 8642)]
    port: u16,
    /// What the page writes feedback as. Default: as the tool does whose runs they are.
    #[arg(long, value_enum, value_name = "FORMAT")]
    feedback_format: Option<FeedbackFormat>,
    #[command(flatten)]
    page: PageArguments,
    /// Copy the files of the runs into this folder, and link them from the page: for runs that are too large for one file.
    /// What a browser would run keeps its text under the ending .txt.
    #[arg(long, value_name = "DIR", requires_all = ["runs", "out"])]
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
    pub(super) fn options(&self) -> ReviewOptions {
        ReviewOptions {
            page_bytes: (self.max_page_mib as usize) << 20,
            answer_kib: self.max_output_kib as usize,
            artifacts: !self.no_artifacts,
            ..ReviewOptions::default()
        }
    }
}

/// Runs the command.
pub fn run(arguments: &RenderViewerArguments) -> ExitCode {
    arguments.render().unwrap_or_else(|code| code)
}

impl RenderViewerArguments {
    fn render(&self) -> Result<ExitCode, ExitCode> {
        if self.out.is_none() && !self.serve {
            return Err(usage("render-viewer needs --out (or --serve)"));
        }
        let suites: Vec<Suite> = self.suite.iter().map(|path| load_suite(path)).collect::<Result<_, _>>()?;
        let suites: Vec<&Suite> = suites.iter().collect();
        let runs: Vec<&Path> = self.runs.iter().map(PathBuf::as_path).collect();
        let folder = self.workspace.as_deref().or(self.benchmark.parent()).unwrap_or(Path::new("."));
        let usual = folder.join(FEEDBACK);
        let mut options = self.page.options();
        options.generated_at.clone_from(&self.generated_at);
        if let (Some(out), Some(folder)) = (&self.out, &self.split_assets) {
            options.assets = Some(asset_links(out, folder)?);
        }
        let request = ReviewRequest {
            report: &self.benchmark,
            runs: &runs,
            suites: &suites,
            triggers: self.triggers.as_deref(),
            previous: self.previous_workspace.as_deref(),
            feedback: Some((self.feedback.as_deref().unwrap_or(&usual), self.feedback.is_some())),
            feedback_shape: self.feedback_format.map(|format| match format {
                FeedbackFormat::V2 => FeedbackShape::Entries,
                FeedbackFormat::SkillCreator => FeedbackShape::Reviews,
            }),
            report_bytes: Limits::mebibytes(self.max_report_mib),
            limits: Limits::default(),
            assets: self.split_assets.as_deref(),
            options: &options,
        };
        let reviewed = review_page(&request).map_err(|error| fail(&error.to_string()))?;
        if !self.quiet {
            let shown = shown_path(request.feedback.map_or(&usual, |(path, _)| path));
            warn_of_feedback(&shown, &reviewed.notes);
            for warning in &reviewed.warnings {
                warn_line(&format!("WARN {}: {warning}", warning.code()));
            }
        }
        if let Some(out) = &self.out {
            write_page(&reviewed.page, out, self.quiet)?;
        }
        if self.serve { self.serve(request, reviewed, &usual) } else { Ok(ExitCode::SUCCESS) }
    }

    /// Serves the page until Ctrl-C. Feedback goes to the file of the workspace.
    fn serve(&self, request: ReviewRequest<'_>, reviewed: Reviewed, place: &Path) -> Result<ExitCode, ExitCode> {
        let failed = |problem: String| fail(&problem);
        let store = match reviewed.shape {
            FeedbackShape::Entries => FeedbackFile::open(place),
            FeedbackShape::Reviews => FeedbackFile::open_reviews(place, reviewed.run_ids),
        };
        let store = store.map_err(|error| failed(error.to_string()))?;
        let cannot = |error: std::io::Error| failed(format!("cannot serve the page: {error}"));
        let token = new_token().map_err(cannot)?;
        let options = ReviewOptions { token: Some(token.clone()), assets: None, ..request.options.clone() };
        let again = ReviewRequest { options: &options, assets: None, ..request };
        // every visit reads the report and the feedback afresh
        let page = || review_page(&again).map(|made| made.page.html).map_err(|error| error.to_string());
        let bound = bind(self.port).map_err(cannot)?;
        if bound.is_elsewhere && !self.quiet {
            warn_line(&format!("WARN port_taken: another program has port {}; a free one is used", self.port));
        }
        let site = Site { page: &page, feedback: &store, token: &token, policy: &reviewed.page.policy };
        Ok(serve::run(&bound.listener, &site))
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
