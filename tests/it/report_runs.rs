//! What a report says of the runs themselves: what the agent did in them, how they ended, and which are missing.

mod endings;
mod missing;
mod plans;
mod trajectories;

use serde_json::Value;

use crate::support::Workspace;

/// The report on the runs of a workspace.
fn report(workspace: &Workspace, more: &[&str]) -> Value {
    let said = workspace.on_runs("benchmark", more);
    assert_eq!(said.code, 0, "{}", said.stderr);
    said.json()
}

/// Writes the answer of a run: one that passes, or one that does not.
fn answer(workspace: &Workspace, run: &str, passes: bool) {
    workspace.write(&format!("runs/{run}/output.md"), if passes { "yes" } else { "no" });
}

fn keys(object: &Value) -> Vec<&str> {
    object.as_object().unwrap().keys().map(String::as_str).collect()
}
