//! Answers questions about texts, one JSON object a line, so that a test can ask Python the same.
//!
//! `{"pattern": P, "ignore_case": bool, "texts": [T, …]}` is answered with `{"refused": [reason, position]}` or with
//! `{"spans": [[linear, backtracking, chosen], …]}`, a span being `[start, end]` in code points, `null` for no match, or
//! a word for an engine that has no answer. `{"actual": A, "expected": E, "autojunk": bool}` is answered with
//! `{"ratio": R}`; `{"old": [line, …], "new": [line, …]}` with `{"diff": [line, …]}`.

use std::io::{self, BufRead, Write};

use serde_json::{Value, json};
use skill_lift_text::difflib::{self, Popularity, Sides};
use skill_lift_text::pattern::{Pattern, Search};

/// Comparisons that a question may take.
const STEPS: u32 = 2_000_000_000;

fn main() -> io::Result<()> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    for line in io::stdin().lock().lines() {
        let question: Value = serde_json::from_str(&line?)?;
        writeln!(out, "{}", answer(&question))?;
    }
    out.flush()
}

fn answer(question: &Value) -> Value {
    let text = |key: &str| question[key].as_str().unwrap_or_default();
    let lines =
        |key: &str| question[key].as_array().into_iter().flatten().filter_map(Value::as_str).collect::<Vec<_>>();
    let flag = |key: &str| question[key].as_bool().unwrap_or_default();
    if question.get("pattern").is_some() {
        return match Pattern::parse(text("pattern"), flag("ignore_case")) {
            Err(error) => json!({"refused": [error.reason, error.position]}),
            Ok(pattern) => {
                json!({"spans": lines("texts").iter().map(|text| spans(&pattern, text)).collect::<Vec<_>>()})
            }
        };
    }
    if question.get("actual").is_some() {
        let popularity = if flag("autojunk") { Popularity::Ignored } else { Popularity::Kept };
        let ratio = difflib::ratio(text("actual"), text("expected"), popularity, STEPS);
        return json!({"ratio": ratio.map(|ratio| ratio.value)});
    }
    let (old, new) = (lines("old"), lines("new"));
    let sides = Sides { old_name: "old", old: &old, new_name: "new", new: &new };
    json!({"diff": difflib::unified_diff(sides, 3, usize::MAX, STEPS).map(|diff| diff.shown)})
}

fn spans(pattern: &Pattern, text: &str) -> Value {
    let shown = |search: Search| match search {
        Search::Match(range) => json!([text[..range.start].chars().count(), text[..range.end].chars().count()]),
        Search::NoMatch => Value::Null,
        Search::BudgetExceeded => json!("budget"),
    };
    let linear = pattern.search_linear(text).map_or_else(|why| json!(why.to_string()), shown);
    json!([linear, shown(pattern.search_backtracking(text)), shown(pattern.search(text))])
}
