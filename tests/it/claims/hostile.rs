//! Files that are broken, contradictory or out to break the reader.

use std::fmt::Write;

use proptest::prelude::*;
use serde_json::{Value, json};
use skill_lift::json::JsonErrorKind;
use skill_lift::runs::OnDuplicate;
use skill_lift::runs::claims::{
    ChangeKind, ClaimedRate, ClaimsError, NotScored, NoteCode, ReadOptions, Unmeasured, compare, lift, load, read,
};
use skill_lift_contract::UnscoredReason;
use skill_lift_stats::rational::Rational;

use super::{claims, refused, share};

fn flat(rows: &[Value]) -> Value {
    json!({"runs": rows})
}

fn row(case: Value, configuration: &str, rate: Value) -> Value {
    json!({"eval_id": case, "configuration": configuration, "pass_rate": rate})
}

#[test]
fn broken_json_is_refused_with_its_place() {
    let place = |text: &str| match refused(text) {
        ClaimsError::Json { kind, line, column, .. } => (kind, line, column),
        other => panic!("{other}"),
    };
    assert_eq!(place("{\n \"runs\": [{\"é\": NaN}]}"), (JsonErrorKind::NotFinite, 2, 17));
    assert_eq!(place("{\"runs\": [{\"pass_rate\": 1e400}]}").0, JsonErrorKind::NotFinite);
    assert_eq!(place("{\"runs\": [], \"runs\": []}"), (JsonErrorKind::DuplicateKey("runs".to_owned()), 1, 14));
    assert_eq!(place(&"[".repeat(1_000_000)).0, JsonErrorKind::TooDeep(512));
    assert!(matches!(place("{\"runs\": [],}").0, JsonErrorKind::Syntax(_)));
    assert!(matches!(place("").0, JsonErrorKind::Syntax(_)));
    assert_eq!(read(b"{\"a\": \"\xff\"}", &ReadOptions::default()).unwrap_err(), ClaimsError::NotUtf8(7));
}

#[test]
fn other_top_levels_are_refused() {
    for (text, kind) in
        [("[]", "array"), ("null", "null"), ("3", "number"), ("\"runs\"", "string"), ("true", "boolean")]
    {
        assert_eq!(refused(text), ClaimsError::NotAnObject(kind));
    }
}

#[test]
fn a_raw_line_break_in_a_string_is_repaired_and_a_byte_order_mark_dropped() {
    let text = "\u{feff}{\"runs\": [{\"eval_id\": \"a\", \"configuration\": \"with_skill\", \"pass_rate\": 1, \"note\": \"x\ny\"}]}";
    let claims = read(text.as_bytes(), &ReadOptions::default()).unwrap();
    assert_eq!(claims.rows.len(), 1);
    assert_eq!(claims.note(NoteCode::ControlCharacterInString).unwrap().count, 1);
    // with a second fault the place of the first one is told
    let broken = text.replace("\"}]}", "\"}],}");
    assert!(matches!(refused(&broken), ClaimsError::Json { line: 1, .. }), "{}", refused(&broken));
}

#[test]
fn limits_of_bytes_and_rows_hold() {
    let file = flat(&[row(json!(1), "with_skill", json!(1)), row(json!(2), "with_skill", json!(1))]).to_string();
    let read = |bytes, rows| read(file.as_bytes(), &ReadOptions { bytes, rows, ..ReadOptions::default() });
    let length = file.len() as u64;
    assert_eq!(read(length, 2).unwrap().rows.len(), 2);
    assert_eq!(read(length - 1, 2).unwrap_err(), ClaimsError::TooLarge(length - 1));
    assert_eq!(read(length, 1).unwrap_err(), ClaimsError::TooManyRows { pointer: "/runs".to_owned(), limit: 1 });
}

#[test]
fn only_regular_files_are_read() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(load(folder.path(), &ReadOptions::default()).unwrap_err(), ClaimsError::NotAFile);
    let missing = load(&folder.path().join("none.json"), &ReadOptions::default());
    assert!(matches!(missing.unwrap_err(), ClaimsError::Unreadable(_)));
    let path = folder.path().join("any name");
    std::fs::write(&path, flat(&[row(json!(1), "with_skill", json!(1))]).to_string()).unwrap();
    assert_eq!(load(&path, &ReadOptions::default()).unwrap().rows.len(), 1);
    assert_eq!(
        load(&path, &ReadOptions { bytes: 10, ..ReadOptions::default() }).unwrap_err(),
        ClaimsError::TooLarge(10)
    );
}

fn many_rows(count: usize) -> String {
    let mut text = String::from("{\"runs\": [");
    for number in 0..count {
        let arm = if number % 2 == 0 { "skill" } else { "bare" };
        let _ = write!(text, "{{\"id\":{},\"arm\":\"{arm}\",\"pass_rate\":0.5}},", number / 2);
    }
    text.pop();
    text.push_str("]}");
    text
}

#[test]
fn a_million_rows_are_bounded_by_bytes_and_by_rows() {
    let text = many_rows(1_000_000);
    assert_eq!(refused(&text), ClaimsError::TooLarge(16 << 20));
    let options = ReadOptions { bytes: 64 << 20, rows: 1000, ..ReadOptions::default() };
    let error = read(text.as_bytes(), &options).unwrap_err();
    assert_eq!(error, ClaimsError::TooManyRows { pointer: "/runs".to_owned(), limit: 1000 });
}

#[test]
fn many_rows_are_read() {
    let claims = read(many_rows(60_000).as_bytes(), &ReadOptions::default()).unwrap();
    let lift = lift(&claims);
    assert_eq!((claims.rows.len(), lift.pairs.len(), lift.cases), (60_000, 30_000, 30_000));
    assert_eq!(lift.lift(), Some(share(0, 1)));
}

/// Counts with unrelated totals would make exact means endless; no run has that many assertions.
#[test]
fn totals_beyond_reason_are_no_counts() {
    let claims = claims(&flat(&[
        row(json!(1), "with_skill", json!("1/18446744073709551557")),
        row(json!(2), "with_skill", json!("1/10000")),
    ]));
    assert!(matches!(claims.rows[0].rate.reasons(), [NotScored::RateUnreadable(_)]));
    assert_eq!(claims.rows[1].rate, ClaimedRate::Counts { passed: 1, total: 10_000 });
}

#[test]
fn two_rows_for_one_run_are_an_error_that_names_both() {
    // the same run in two rows: 2/30 and 4/30; an id is the same as number and as text
    for (first, second) in [(json!(1), json!(1)), (json!(1), json!("1")), (json!("a"), json!("a"))] {
        let file = flat(&[
            row(first, "with_skill", json!("2/30")),
            row(json!("z"), "with_skill", json!(1)),
            row(second, "new_skill", json!("4/30")),
        ]);
        let error = refused(&file.to_string());
        let ClaimsError::Duplicate { first, second, repetition: 1, .. } = &error else {
            panic!("{error}");
        };
        assert_eq!((first.as_str(), second.as_str()), ("/runs/0", "/runs/2"));
        assert!(error.to_string().contains("/runs/0 and /runs/2"), "{error}");
        let options = ReadOptions { on_duplicate: OnDuplicate::Last, ..ReadOptions::default() };
        let claims = read(file.to_string().as_bytes(), &options).unwrap();
        let rates: Vec<_> = claims.rows.iter().map(|row| row.rate.value().unwrap()).collect();
        assert_eq!(rates, [share(1, 1), share(4, 30)], "never 3/30 of 60");
        assert_eq!(claims.note(NoteCode::DuplicatesDropped).unwrap().pointer, "/runs/0");
    }
    // repetitions, models and labels tell runs apart
    let apart = |first: Value, second: Value| {
        let mut rows = [row(json!(1), "with_skill", json!(1)), row(json!(1), "with_skill", json!(1))];
        rows[0].as_object_mut().unwrap().extend(first.as_object().unwrap().clone());
        rows[1].as_object_mut().unwrap().extend(second.as_object().unwrap().clone());
        claims(&flat(&rows)).rows.len()
    };
    assert_eq!(apart(json!({"run_number": 1}), json!({"run_number": 2})), 2);
    assert_eq!(apart(json!({"model": "a"}), json!({"model": "b"})), 2);
    assert_eq!(apart(json!({}), json!({"configuration": "with_skill (v2)"})), 2);
}

#[test]
fn ids_of_mixed_types_are_texts() {
    let claims = claims(&flat(&[
        row(json!(1), "with_skill", json!(1)),
        row(json!("1"), "without_skill", json!(0)),
        row(json!("b"), "with_skill", json!(1)),
        row(json!(true), "with_skill", json!(1)),
        row(json!(" "), "with_skill", json!(1)),
    ]));
    let ids: Vec<_> = claims.rows.iter().map(|row| row.case.id.as_str()).collect();
    assert_eq!(ids, ["1", "1", "b", "#/runs/3", "#/runs/4"]);
    assert_eq!(claims.note(NoteCode::GeneratedId).unwrap().count, 2);
    assert_eq!(lift(&claims).pairs.len(), 1);
}

/// A tool that numbers every eval 0 still names them.
#[test]
fn names_tell_cases_apart_that_share_an_id() {
    let named = |name: &str, arm: &str, rate: u32| json!({"eval_id": 0, "eval_name": name, "configuration": arm, "pass_rate": rate});
    let claims =
        claims(&flat(&[named("a", "with_skill", 1), named("b", "with_skill", 1), named("a", "without_skill", 0)]));
    let ids: Vec<_> = claims.rows.iter().map(|row| row.case.id.as_str()).collect();
    assert_eq!(ids, ["a", "b", "a"]);
    assert_eq!(claims.note(NoteCode::IdWithSeveralNames).unwrap().count, 3);
}

#[test]
fn only_booleans_are_verdicts() {
    let reasons = |verdict: Value| {
        let row = json!({"eval_id": 1, "configuration": "with_skill", "pass_rate": 1.0,
            "expectations": [{"text": "t", "passed": verdict}, {"text": "u", "passed": null}, {"passed": true}]});
        claims(&flat(&[row])).rows[0].rate.clone()
    };
    assert_eq!(reasons(json!(true)), ClaimedRate::Counts { passed: 1, total: 1 });
    for other in [json!("true"), json!(1), json!("partial"), json!({})] {
        assert_eq!(reasons(other).reasons(), [NotScored::Reason(UnscoredReason::UnreadableVerdict)]);
    }
    assert_eq!(
        reasons(Value::Null).reasons(),
        [NotScored::Reason(UnscoredReason::NoVerdicts)],
        "whatever the rate says"
    );
}

#[test]
fn rates_that_are_none_are_unscored_and_not_zero() {
    let rate = |more: Value| {
        let mut row = json!({"eval_id": 1, "configuration": "with_skill", "pass_rate": null});
        row.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        claims(&flat(&[row])).rows[0].rate.clone()
    };
    for text in [json!(1.5), json!(-0.1), json!("0.5"), json!("abc"), json!([1]), json!(100)] {
        let found = rate(json!({"pass_rate": text}));
        assert!(matches!(found.reasons(), [NotScored::RateUnreadable(_)]), "{text}: {found:?}");
    }
    assert_eq!(rate(json!({})).reasons(), [NotScored::RateMissing]);
    assert_eq!(
        rate(json!({"pass_rate": 0.0, "passed": 0, "total": 0})).reasons(),
        [NotScored::Reason(UnscoredReason::NoAssertions)]
    );
    assert!(matches!(rate(json!({"passed": 9, "total": 8})).reasons(), [NotScored::RateUnreadable(_)]));
    assert_eq!(rate(json!({"passed": true, "pass_rate": 0.25})).value(), Some(share(1, 4)), "a boolean is no count");
    assert_eq!(rate(json!({"run_number": 0, "pass_rate": 1})).reasons(), [NotScored::InvalidRunNumber("0".to_owned())]);
    assert_eq!(
        rate(json!({"run_number": "1", "pass_rate": 1})).reasons(),
        [NotScored::InvalidRunNumber("1".to_owned())]
    );
    assert_eq!(
        rate(json!({"status": "execution_error", "pass_rate": 0})).reasons(),
        [NotScored::Reason(UnscoredReason::ExecutorError)]
    );
}

#[test]
fn a_row_that_says_it_is_no_score_is_none() {
    let row = json!({"eval_id": 1, "configuration": "with_skill", "pass_rate": 1, "scored": false, "status": "odd"});
    assert_eq!(claims(&flat(&[row])).rows[0].rate.reasons(), [NotScored::Stated("odd".to_owned())]);
}

#[test]
fn counts_contradict_verdicts_only_when_both_count_the_same_assertions() {
    let notes = |total: u32| {
        let verdicts = json!([{"text": "t", "passed": true}, {"text": "u", "passed": false}]);
        let row =
            json!({"eval_id": 1, "configuration": "with_skill", "passed": 2, "total": total, "expectations": verdicts});
        claims(&flat(&[row])).note(NoteCode::SummaryContradictsEntries).map(|note| note.detail.clone())
    };
    assert_eq!(notes(2).as_deref(), Some("2/2, verdicts 1/2"));
    assert_eq!(notes(3), None, "the list may be cut");
}

/// Ten trials, token use only as a sum: no run has a share of it.
#[test]
fn token_use_that_is_only_a_sum_is_never_divided() {
    let rows: Vec<Value> = (1..=10).map(|run| json!({"id": "t", "run": run, "pass_rate": 1})).collect();
    let usage = json!({"input_tokens": 969_340, "output_tokens": 10_612});
    let claims = claims(&json!({"results": rows, "summary": {"usage": usage}}));
    assert!(claims.rows.iter().all(|row| row.tokens == Err(Unmeasured::Aggregated)));
    assert_eq!(claims.note(NoteCode::UsageAggregated).unwrap().count, 1);
    assert_eq!(claims.rows[9].repetition, 10);
}

#[test]
fn texts_of_a_file_cannot_steer_a_terminal() {
    let file =
        flat(&[row(json!("\u{1b}[2J"), "with_skill", json!(1)), row(json!("\u{1b}[2J"), "with_skill", json!(1))]);
    let error = refused(&file.to_string()).to_string();
    assert!(error.contains("\\u{1b}[2J") && !error.contains('\u{1b}'), "{error:?}");
}

/// Keys that mean something in some form.
const KEYS: [&str; 30] = [
    "runs",
    "results",
    "evals",
    "per_case",
    "per_eval",
    "iterations",
    "evaluations",
    "configurations",
    "configs",
    "scenarios",
    "with_skill",
    "without_skill",
    "old_skill",
    "skill",
    "eval-0-with_skill",
    "with_skill_pass_rate",
    "result",
    "summary",
    "run_summary",
    "delta",
    "expectations",
    "assertions",
    "passed",
    "total",
    "pass_rate",
    "eval_id",
    "run_number",
    "name",
    "configuration",
    "paired_summary",
];

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-2..12_i64).prop_map(Value::from),
        (0.0..1.2_f64).prop_map(Value::from),
        prop::sample::select(&["100%", "7/8", "9/8", "N/A", "with_skill", "baseline (x)", "<p>", ""][..])
            .prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 60, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((prop::sample::select(&KEYS[..]), inner), 0..7)
                .prop_map(|members| members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    /// Whatever a file holds: it is refused or read, every rate lies between 0 and 1, and no pair has an unscored arm.
    #[test]
    fn no_file_breaks_the_reader(members in prop::collection::vec((prop::sample::select(&KEYS[..]), any_value()), 0..6)) {
        let file: Value = members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
        let options = ReadOptions { on_duplicate: OnDuplicate::Last, ..ReadOptions::default() };
        if let Ok(claims) = read(file.to_string().as_bytes(), &options) {
            let in_range = |rate: &Rational| share(0, 1) <= *rate && *rate <= share(1, 1);
            prop_assert!(claims.rows.iter().filter_map(|row| row.rate.value()).all(|rate| in_range(&rate)));
            let pairs = lift(&claims).pairs;
            prop_assert!(pairs.iter().all(|pair| in_range(&pair.with) && in_range(&pair.without)));
            let comparison = compare(&claims, &claims);
            let changed = comparison.cells.iter().filter(|cell| !matches!(cell.kind, ChangeKind::Same | ChangeKind::StillUnscored));
            prop_assert_eq!(changed.count(), 0, "{}", file);
        }
    }
}
