//! `benchmark.md` in the form of skill-creator.

use serde_json::Value;

use crate::report::markup::escaped;

/// What stands for a number that there is not.
const NOTHING: &str = "—";

/// The page of a `benchmark.json` that was written by this program.
pub fn skill_creator_markdown(benchmark: &Value) -> String {
    let metadata = &benchmark["metadata"];
    let text = |key: &str| metadata[key].as_str().map(escaped).unwrap_or_else(|| NOTHING.to_owned());
    let empty = serde_json::Map::new();
    let summary = benchmark["run_summary"].as_object().unwrap_or(&empty);
    let mut arms = summary.iter().filter(|(name, _)| *name != "delta");
    let (a, b) = (arms.next(), arms.next());
    let label = |arm: Option<(&String, &Value)>| arm.map_or_else(|| NOTHING.to_owned(), |(name, _)| title(name));
    let evals: Vec<String> = metadata["evals_run"].as_array().into_iter().flatten().map(ToString::to_string).collect();
    let mut lines = vec![
        format!("# Skill Benchmark: {}", text("skill_name")),
        String::new(),
        format!("**Model**: {}", text("executor_model")),
        format!("**Date**: {}", text("timestamp")),
        format!("**Evals**: {} ({} runs each per configuration)", evals.join(", "), metadata["runs_per_configuration"]),
        String::new(),
        "## Summary".to_owned(),
        String::new(),
        format!("| Metric | {} | {} | Delta |", label(a), label(b)),
        "|--------|------------|---------------|-------|".to_owned(),
    ];
    let delta = |key: &str| benchmark["run_summary"]["delta"][key].as_str().map(str::to_owned);
    let row = |key: &str, show: &dyn Fn(f64, f64) -> String| {
        let of = |arm: Option<(&String, &Value)>| {
            let statistics = &arm?.1[key];
            Some(show(statistics["mean"].as_f64()?, statistics["stddev"].as_f64()?))
        };
        [a, b].map(|arm| of(arm).unwrap_or_else(|| NOTHING.to_owned()))
    };
    let mut push =
        |name: &str, [a, b]: [String; 2], delta: String| lines.push(format!("| {name} | {a} | {b} | {delta} |"));
    let nothing = || NOTHING.to_owned();
    let percent = |mean: f64, spread: f64| format!("{:.0}% ± {:.0}%", mean * 100.0, spread * 100.0);
    push("Pass Rate", row("pass_rate", &percent), delta("pass_rate").unwrap_or_else(nothing));
    let seconds = |mean: f64, spread: f64| format!("{mean:.1}s ± {spread:.1}s");
    let time = delta("time_seconds").map_or_else(nothing, |delta| format!("{delta}s"));
    push("Time", row("time_seconds", &seconds), time);
    let tokens = |mean: f64, spread: f64| format!("{mean:.0} ± {spread:.0}");
    push("Tokens", row("tokens", &tokens), delta("tokens").unwrap_or_else(nothing));
    let notes: Vec<&str> = benchmark["notes"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    if !notes.is_empty() {
        lines.extend([String::new(), "## Notes".to_owned(), String::new()]);
        lines.extend(notes.iter().map(|note| format!("- {}", escaped(note))));
    }
    lines.join("\n") + "\n"
}

/// `with_skill` as a heading: `With Skill`.
fn title(name: &str) -> String {
    let words = name.split('_').map(|word| {
        let mut letters = word.chars();
        let first = letters.next().map(|letter| letter.to_uppercase().collect::<String>()).unwrap_or_default();
        first + letters.as_str()
    });
    escaped(&words.collect::<Vec<_>>().join(" "))
}
