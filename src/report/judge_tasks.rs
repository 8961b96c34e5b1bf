//! Task files: one JSON line for each judgement that was not supplied.

use std::borrow::Cow;
use std::io;

use crate::grade::{DeferredJudgement, GradedRun, RunView};
use crate::json::Node;
use crate::judge::JudgeTask;
use crate::judge::task::{Exchange, named};
use crate::runs::{Output, OutputPlace};
use crate::suite::{Case, Check};

/// What the lines of a run need beside the run.
pub struct TaskContext<'a> {
    /// The case.
    pub case: &'a Case,
    /// What the case asks.
    pub prompt: Option<&'a str>,
    /// Digest of the suite.
    pub suite_digest: &'a str,
    /// A path below the runs root as the user would type it.
    pub shown: &'a dyn Fn(&str) -> String,
}

/// The line of one judgement, without a line break; `None` when the judgement is not one of the case.
///
/// # Errors
/// Never in practice: the bytes go to memory.
pub fn line(
    context: &TaskContext<'_>,
    run: &GradedRun,
    view: RunView<'_>,
    judgement: &DeferredJudgement,
) -> io::Result<Option<Vec<u8>>> {
    let case = context.case;
    let assertions = match judgement.turn {
        Some(turn) => case.turns.get(turn - 1).map(|turn| turn.assertions.as_slice()),
        None => Some(case.assertions.as_slice()),
    };
    let Some(Check::Judgement { assertion }) =
        assertions.and_then(|list| list.get(judgement.position)).map(|assertion| &assertion.check)
    else {
        return Ok(None);
    };
    let judged = Judged::of(run, view, judgement.turn);
    let task = JudgeTask {
        judge_task_id: &judgement.task_id,
        case_id: &case.id,
        model: run.key.model.as_deref().filter(|_| run.has_model_folder),
        variant: &run.key.variant,
        run_number: run.key.repetition,
        assertion: written(assertion, judgement),
        output_path: (context.shown)(&judged.path),
        run_base: (context.shown)(&judged.folder),
        prompt: match judgement.turn {
            Some(turn) => Some(case.turns[turn - 1].prompt.as_str()),
            None => context.prompt,
        },
        prompt_ref: case.prompt_ref.as_deref(),
        expected_behavior: &case.expected_behavior,
        review_rubric: &case.review_rubric,
        conversation: conversation(case, view, judgement.turn),
        output_text: judged.text.filter(|_| !judged.is_one_file),
        blind_id: String::new(),
        judge_prompt: String::new(),
    };
    let task = task.blinded(context.suite_digest, judged.text.unwrap_or_default());
    serde_json::to_vec(&task).map(Some).map_err(io::Error::from)
}

fn written<'a>(assertion: &'a Node<'static>, judgement: &DeferredJudgement) -> Cow<'a, Node<'a>> {
    match judgement.turn {
        Some(_) => named(assertion, &judgement.label),
        None => Cow::Borrowed(assertion),
    }
}

/// The answer that is judged and where it stands, relative to the runs root.
struct Judged<'a> {
    text: Option<&'a str>,
    path: String,
    folder: String,
    /// Whether the file at `path` holds exactly this answer.
    is_one_file: bool,
}

impl<'a> Judged<'a> {
    fn of(run: &GradedRun, view: RunView<'a>, turn: Option<usize>) -> Self {
        let evidence = turn.and_then(|turn| Some((turn, view.turns.get(turn - 1)?)));
        let (text, output, folder, missing) = match evidence {
            None => (view.answer, view.output, run.path.clone(), None),
            Some((number, turn)) => match &turn.directory {
                Some(directory) => (turn.output.text(), &turn.output, directory.relative().to_owned(), None),
                // the folder that should be there, as the Python reference package names it
                None => (None, &turn.output, run.path.clone(), Some(format!("{}/turn-{number}", run.path))),
            },
        };
        let path = format!("{}/{}", missing.as_ref().unwrap_or(&folder), output.path());
        let is_one_file = match output {
            Output::Text { place: OutputPlace::File(_), .. } => true,
            Output::Text { place: OutputPlace::Folder, .. } => false,
            Output::Missing | Output::TooLarge { .. } => text.is_none(),
        };
        Self { text, path, folder, is_one_file }
    }
}

/// The turns up to the judged answer, which itself is left out: it stands on its own.
fn conversation<'a>(case: &'a Case, view: RunView<'a>, turn: Option<usize>) -> Option<Vec<Exchange<'a>>> {
    if case.turns.is_empty() {
        return None;
    }
    let last = turn.unwrap_or(case.turns.len());
    // without an answer of its own the run is judged by the answer to its last turn
    let judged = if turn.is_none() && view.output.text().is_some() { None } else { Some(last) };
    let exchanges =
        case.turns.iter().zip(view.turns).take(last).enumerate().map(|(index, (turn, evidence))| Exchange {
            turn: index + 1,
            prompt: &turn.prompt,
            assistant_output: evidence.output.text().filter(|_| judged != Some(index + 1)),
        });
    Some(exchanges.collect())
}
