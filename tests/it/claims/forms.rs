//! One small file of each form. Every value is worked out by hand.

use serde_json::{Value, json};
use skill_lift::runs::Role;
use skill_lift::runs::claims::{
    ClaimForm, ClaimedRate, Claims, ClaimsError, NotScored, NoteCode, Unmeasured, arms, lift,
};
use skill_lift_contract::UnscoredReason;
use skill_lift_stats::rational::Rational;

use super::{claims, refused, share};

/// Case, variant and rate of every row.
fn rates(claims: &Claims) -> Vec<(String, String, Option<Rational>)> {
    let row = |row: &skill_lift::runs::claims::ClaimedRun| {
        (row.case.id.clone(), row.configuration.variant().to_owned(), row.rate.value())
    };
    claims.rows.iter().map(row).collect()
}

/// Case, variant and rate as passed of total.
type Expected = (&'static str, &'static str, Option<(u64, u64)>);

fn expect(claims: &Claims, form: ClaimForm, rows: &[Expected]) {
    assert_eq!(claims.form, form);
    let rows: Vec<_> = rows
        .iter()
        .map(|(case, variant, rate)| {
            ((*case).to_owned(), (*variant).to_owned(), rate.map(|(passed, total)| share(passed, total)))
        })
        .collect();
    assert_eq!(rates(claims), rows);
}

const WITH: &str = "with_skill";
const WITHOUT: &str = "without_skill";

fn run_record(case: &Value, configuration: &str, number: u32, passed: u32) -> Value {
    let result = json!({"pass_rate": f64::from(passed) / 4.0, "passed": passed, "failed": 4 - passed, "total": 4,
        "time_seconds": 1.5, "tokens": 0, "tool_calls": 3, "errors": 0});
    json!({"eval_id": case, "configuration": configuration, "run_number": number, "result": result})
}

#[test]
fn runs_with_results() {
    let runs: Vec<Value> = [(WITH, 1, 4), (WITH, 2, 2), (WITHOUT, 1, 1), (WITHOUT, 2, 2)]
        .iter()
        .map(|(arm, number, passed)| run_record(&json!(0), arm, *number, *passed))
        .collect();
    let file = json!({
        "metadata": {"skill_name": "<skill-name>", "skill_path": "<path/to/skill>", "executor_model": "m-1",
            "runs_per_configuration": 3},
        "runs": runs,
        "run_summary": {
            "with_skill": {"pass_rate": {"mean": 0.75, "stddev": 0.35, "min": 0.5, "max": 1.0}},
            "without_skill": {"pass_rate": {"mean": 0.5}},
            "delta": {"pass_rate": "+0.25", "tokens": "+0"},
        },
    });
    let read = claims(&file);
    let rows = [(4, WITH), (2, WITH), (1, WITHOUT), (2, WITHOUT)];
    expect(&read, ClaimForm::RunRecords, &rows.map(|(passed, arm)| ("0", arm, Some((passed, 4)))));
    assert_eq!(read.skill_name, None, "a placeholder is no name");
    assert_eq!(read.blocks.get("executor_model").map(String::as_str), Some("m-1"));
    assert_eq!((read.rows[1].repetition, read.rows[1].pointer.as_str()), (2, "/runs/1"));
    assert_eq!(read.rows[0].duration_ms, Ok(share(1500, 1)));
    assert_eq!(read.rows[0].tokens, Err(Unmeasured::Zero));
    // (4/4 + 2/4)/2 - (1/4 + 2/4)/2
    assert_eq!(lift(&read).lift(), Some(share(3, 8)));
    let deltas: Vec<_> = read.published_delta.iter().map(|delta| (&*delta.metric, &*delta.text)).collect();
    assert_eq!(deltas, [("pass_rate", "+0.25"), ("tokens", "+0")]);
    assert_eq!(read.note(NoteCode::Placeholders).unwrap().count, 2);
    assert_eq!(
        read.note(NoteCode::RunsPerConfigurationContradicted).unwrap().detail,
        "runs_per_configuration 3, found 2"
    );
    assert_eq!(read.note(NoteCode::ZeroTelemetry).unwrap().count, 4);
    // the stated mean 0.5 of the control is 3/8
    let contradicted = read.note(NoteCode::SummaryContradictsRows).unwrap();
    assert_eq!(contradicted.pointer, "/run_summary/without_skill/pass_rate/mean");
    assert_eq!((contradicted.count, contradicted.detail.as_str()), (1, "0.5 stated, rows give 0.375"));
}

#[test]
fn runs_without_any_row() {
    let file = json!({"metadata": {"runs_per_configuration": 3}, "runs": [], "run_summary": {"delta": {"pass_rate": "+0.00"}}});
    let read = claims(&file);
    expect(&read, ClaimForm::RunRecords, &[]);
    assert_eq!(read.note(NoteCode::BenchmarkEmpty).unwrap().count, 1);
    assert_eq!(lift(&read).lift(), None, "the published +0.00 is no data");
}

#[test]
fn runs_with_numbers_in_the_row() {
    let file = json!({"runs": [
        {"id": "a", "configuration": "gemini_with_skill", "pass_rate": 1.0, "assertions_passed": "8/8", "eval_score": 94.0},
        {"id": "a", "configuration": "gemini_baseline", "pass_rate": "62.5%"},
        {"id": "b", "configuration": "gemini_baseline", "pass_rate": "N/A - nothing ran"},
    ]});
    let read = claims(&file);
    let rows = [("a", WITH, Some((1, 1))), ("a", WITHOUT, Some((5, 8))), ("b", WITHOUT, None)];
    expect(&read, ClaimForm::FlatRuns, &rows);
    assert_eq!(read.rows[0].rate, ClaimedRate::Counts { passed: 8, total: 8 });
    assert_eq!(read.rows[0].model.as_deref(), Some("gemini"));
    assert_eq!(read.rows[2].rate.reasons(), [NotScored::RateUnreadable("N/A - nothing ran".to_owned())]);
    assert_eq!(read.note(NoteCode::QualityScoresIgnored).unwrap().count, 1);
    assert_eq!(read.note(NoteCode::RateUnreadable).unwrap().pointer, "/runs/2");
}

#[test]
fn runs_beside_a_summary_that_is_a_list() {
    let row = |label: &str, passed: u32| {
        let summary = json!({"passed": passed, "failed": 5 - passed, "total": 5, "pass_rate": 0.2 * f64::from(passed)});
        json!({"eval_name": "x", "configuration": format!("with_skill ({label})"), "summary": summary,
            "timing": {"total_tokens": 900, "duration_ms": 12}})
    };
    let file = json!({
        "metadata": {"iteration": 4},
        "run_summary": [{"configuration": "with_skill (iter4)", "mean_pass_rate": 0.9, "n_evals": 1}],
        "runs": [row("iter4", 4), row("iter3", 3)],
    });
    let read = claims(&file);
    expect(&read, ClaimForm::SummaryList, &[("x", WITH, Some((4, 5))), ("x", WITH, Some((3, 5)))]);
    assert_eq!(read.iteration, Some(4));
    assert_eq!(read.rows[0].tokens, Ok(share(900, 1)));
    assert_eq!(read.note(NoteCode::SummaryContradictsRows).unwrap().pointer, "/run_summary/0/mean_pass_rate");
    assert_eq!(arms(&read).len(), 2, "two labels are two arms");
}

#[test]
fn runs_with_both_arms_in_a_row() {
    let arm = |passed: Value| {
        json!({"assertion_results": [{"text": "t", "passed": true}, {"text": "u", "passed": passed}],
        "pass_rate": 0.5, "timing": {"elapsed_seconds": 2}})
    };
    let file = json!({"runs": [{"eval_id": "a", "run_index": 0, "with_skill": arm(json!(true)), "without_skill": arm(json!(false)),
        "delta_pass_rate": 0.9}]});
    let read = claims(&file);
    expect(&read, ClaimForm::PairedRuns, &[("a", WITH, Some((2, 2))), ("a", WITHOUT, Some((1, 2)))]);
    assert_eq!(read.rows[1].pointer, "/runs/0/without_skill");
    assert_eq!(read.rows[1].repetition, 1, "an index counts from 0");
    assert_eq!(read.rows[1].assertions[1].passed, Some(false));
    // the verdicts win over the stated 0.5
    assert_eq!(read.note(NoteCode::RateContradictsCounts).unwrap().pointer, "/runs/0/with_skill");
    assert_eq!(lift(&read).lift(), Some(share(1, 2)));
}

#[test]
fn lists_of_configurations() {
    for key in ["configurations", "configs"] {
        let arm = |name: &str, rate: f64| {
            json!({"name": name, "evals": [{"eval_id": 0, "eval_name": "n", "pass_rate": rate}],
            "summary": {"pass_rate": rate}})
        };
        let file =
            json!({"skill_name": "s", key: [arm(WITH, 0.667), arm(WITHOUT, 0.5)], "delta": {"pass_rate": 0.167}});
        let read = claims(&file);
        let rows = [("0", WITH, Some((667, 1000))), ("0", WITHOUT, Some((1, 2)))];
        expect(&read, ClaimForm::ConfigurationList, &rows);
        assert_eq!(read.rows[1].pointer, format!("/{key}/1/evals/0"));
        assert_eq!(read.rows[0].case.name.as_deref(), Some("n"));
        assert_eq!(read.published_delta[0].text, "0.167");
        assert_eq!(read.aggregates.len(), 2);
    }
}

#[test]
fn evals_with_an_object_for_each_arm() {
    let file = json!({"evals": [
        {"eval_id": 7, "with_skill": {"assertions_passed": 3, "assertions_total": 4}, "delta": 0.75,
            "without_skill": {"pass_rate": null, "assertions_passed": null, "assertions_total": 4}},
    ]});
    let read = claims(&file);
    expect(&read, ClaimForm::PairedEvals, &[("7", WITH, Some((3, 4))), ("7", WITHOUT, None)]);
    assert_eq!(read.rows[1].rate.reasons(), [NotScored::RateMissing], "null is not 0");
    assert_eq!(lift(&read).blocked[0].why.code(), "unscorable_arm");
}

#[test]
fn an_entry_for_each_case() {
    for key in ["results", "scenarios"] {
        let file = json!({key: {
            "A/1": {"with_skill": {"assertions_passed": "7/8", "content": 4}, "without_skill": {"assertions_passed": "N/A"}},
            "B": {"status": "not_executed"},
        }});
        let read = claims(&file);
        expect(&read, ClaimForm::CaseMap, &[("A/1", WITH, Some((7, 8))), ("A/1", WITHOUT, None)]);
        assert_eq!(read.rows[0].pointer, format!("/{key}/A~11/with_skill"));
        assert_eq!(read.note(NoteCode::NotExecuted).unwrap().detail, "B");
    }
}

#[test]
fn arms_at_top_level() {
    let arm = |passed: u32| {
        json!({"evals": [{"eval_id": 1, "pass_count": passed, "total": 10, "pass_rate": 0.1 * f64::from(passed)}],
        "overall_pass_rate": 0.1 * f64::from(passed), "total_passed": passed, "total_assertions": 10})
    };
    let read = claims(&json!({"with_skill": arm(8), "old_skill": arm(6), "delta": {"pass_rate_improvement": 0.2}}));
    expect(&read, ClaimForm::TopLevelArms, &[("1", WITH, Some((8, 10))), ("1", "old_skill", Some((6, 10)))]);
    let lift = lift(&read);
    assert_eq!((lift.control, lift.lift()), (Some(Role::OldSkill), Some(share(1, 5))));

    let totals = json!({"pass_rate": 1.0, "passed": 5, "total_assertions": 5});
    let cases = json!({"a": {"with_skill_pass_rate": 1.0, "without_skill_pass_rate": 0.75}});
    let read = claims(&json!({"with_skill": totals, "without_skill": totals, "per_eval": cases}));
    expect(&read, ClaimForm::TopLevelArms, &[("a", WITH, Some((1, 1))), ("a", WITHOUT, Some((3, 4)))]);
    assert_eq!(read.rows[1].pointer, "/per_eval/a/without_skill_pass_rate");
}

#[test]
fn one_arm_without_a_name() {
    let file = json!({"per_case": [{"id": 1, "name": "n", "assertions_total": 10, "assertions_passed": 9, "pass_rate": 0.9,
        "assertion_details": [{"assertion": "t", "passed": true}, {"assertion": "u", "passed": null}]}]});
    let read = claims(&file);
    // one verdict is true, the other one is missing evidence
    expect(&read, ClaimForm::OneArm, &[("1", WITH, Some((1, 1)))]);
    assert_eq!(read.note(NoteCode::ConfigurationAssumed).unwrap().count, 1);
    let read = claims(&json!({"results": [{"eval_id": 1, "pass_rate": "100%", "status": "completed"}]}));
    expect(&read, ClaimForm::OneArm, &[("1", WITH, Some((1, 1)))]);
}

#[test]
fn the_last_of_several_iterations() {
    let evaluations = |passed: u32| {
        json!({
            "eval-0-with_skill": {"eval_id": 0, "assertions": {"total": 8, "passed": passed, "failed": 8 - passed}},
            "eval-0-without_skill": {"pass_rate": 0.5},
        })
    };
    let file = json!({"iterations": [
        {"iteration": 1, "evaluations": evaluations(2)},
        {"iteration": 2, "evaluations": evaluations(7), "summary": {"pass_rate_with_skill_mean": 0.875, "pass_rate_delta": 0.375}},
        {"iteration": 3, "plan": "nothing ran"},
    ]});
    let read = claims(&file);
    // the second row has no id of its own: its key names the case
    expect(&read, ClaimForm::Iterations, &[("0", WITH, Some((7, 8))), ("eval-0", WITHOUT, Some((1, 2)))]);
    assert_eq!(read.iteration, Some(2));
    assert_eq!(read.note(NoteCode::EarlierIterationsLeftOut).unwrap().detail, "1");
    assert_eq!(read.published_delta[0].text, "0.375");
}

#[test]
fn means_without_rows() {
    let file = json!({"measured": true, "metadata": {"runs_per_configuration": 3}, "cases": [{"eval_id": 0}],
        "run_summary": {"with_skill": {"pass_rate": {"mean": 0.5861}}, "delta": {"pass_rate": "+0.05"}}});
    let read = claims(&file);
    expect(&read, ClaimForm::AggregateOnly, &[]);
    assert_eq!(read.aggregates[0].rate, Some(share(5861, 10_000)));
    assert!(read.notes.is_empty(), "there is no row that contradicts: {:?}", read.notes);
}

#[test]
fn a_report_of_the_reference_package() {
    let row = |variant: &str, passed: u32, more: Value| {
        let mut row = json!({"case_id": "c", "variant": variant, "run_number": 1, "missing_output": false, "objective_passed": passed,
            "objective_total": 2, "objective_pass_rate": f64::from(passed) / 2.0, "assertions": [{"name": "n", "passed": passed == 2}],
            "metadata": {"total_tokens": 700, "elapsed_ms": 20}});
        row.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        row
    };
    let file = json!({
        "manifest": "m.json", "paired_summary": {"absolute_delta": 0.5},
        "case_flags": [{"case_id": "c", "flags": ["no objective lift", "floor: fails in both arms"]}],
        "results": [
            row(WITH, 2, json!({})),
            row(WITHOUT, 2, json!({"vetoed": true, "objective_pass_rate": 0.0})),
            row(WITHOUT, 0, json!({"case_id": "d", "missing_output": true})),
            row(WITHOUT, 2, json!({"case_id": "e", "metadata": {"returncode": 1}})),
            row(WITHOUT, 2, json!({"case_id": "f", "execution_valid": true, "metadata": {"returncode": 1}})),
            row("ablation:x", 1, json!({"unscored_reasons": ["timed_out", "a-later-reason"]})),
        ],
    });
    let read = claims(&file);
    let rows = [
        ("c", WITH, Some((2, 2))),
        ("c", WITHOUT, Some((0, 1))),
        ("d", WITHOUT, None),
        ("e", WITHOUT, None),
        ("f", WITHOUT, Some((1, 1))),
        ("c", "ablation:x", None),
    ];
    expect(&read, ClaimForm::ReferenceReport, &rows);
    assert_eq!(read.rows[1].rate, ClaimedRate::Vetoed { passed: 2, total: 2 });
    assert_eq!(read.rows[2].rate.reasons(), [NotScored::Reason(UnscoredReason::MissingOutput)]);
    assert_eq!(read.rows[3].rate.reasons(), [NotScored::Reason(UnscoredReason::ExecutorError)]);
    let reasons = [NotScored::Reason(UnscoredReason::TimedOut), NotScored::Stated("a-later-reason".to_owned())];
    assert_eq!(read.rows[5].rate.reasons(), reasons);
    assert_eq!((read.rows[0].tokens.clone(), read.rows[0].duration_ms.clone()), (Ok(share(700, 1)), Ok(share(20, 1))));
    assert_eq!(read.flags.len(), 2);
    assert_eq!(lift(&read).lift(), Some(share(1, 1)));
}

#[test]
fn a_benchmark_of_an_executor_grader_workspace() {
    let run = |configuration: &str, more: Value| {
        let mut run = json!({"eval_id": "E01", "configuration": configuration, "run_number": 1, "status": "ok", "scored": true,
            "passed": 3, "failed": 1, "total": 4, "pass_rate": 0.75, "metrics": {"captured": true, "total_tokens": 6010, "duration_ms": 7425.5}});
        run.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        run
    };
    let unscored = json!({"status": "executor_timeout", "scored": false, "passed": 0, "failed": 4, "pass_rate": 0.0, "metrics": {"captured": false}});
    let file = json!({"skill_name": "s", "agent": "claude", "model": "m", "configs": [WITH, WITHOUT],
        "overall_pass_rate": {WITH: 0.75, WITHOUT: null}, "comparison": {"delta": 0.3}, "sanity_checks": {"ok": true},
        "evals": [{"eval_id": "E01"}], "runs": [run(WITH, json!({})), run(WITHOUT, unscored)]});
    let read = claims(&file);
    expect(&read, ClaimForm::SkillEval, &[("E01", WITH, Some((3, 4))), ("E01", WITHOUT, None)]);
    assert_eq!(read.rows[1].rate.reasons(), [NotScored::Reason(UnscoredReason::TimedOut)], "a limit is not a loss");
    assert_eq!(read.rows[0].duration_ms, Ok(share(14_851, 2)));
    assert_eq!(read.rows[1].tokens, Err(Unmeasured::Absent));
    assert_eq!(read.blocks.get("agent").map(String::as_str), Some("claude"));
    assert_eq!(read.published_delta[0].text, "0.3");
}

#[test]
fn a_benchmark_of_a_forge_workspace() {
    let file = json!({"skill_name": "s", "iteration": 2, "summary": {"total_evals": 1, "with_skill": {"pass_rate": 0.8333},
        "baseline": {"pass_rate": 0.5}, "improvement_ratio": 1.67},
        "per_eval": [{"eval_id": 1, "eval_name": "n", "trials": 3,
            "with_skill": {"pass_rate": 0.8333, "pass_rate_std": 0.2887, "avg_tokens": 1000.5, "avg_duration_seconds": 0},
            "baseline": {"pass_rate": 0.5, "pass_rate_std": 0.0, "avg_tokens": 0, "avg_duration_seconds": 4.0}}]});
    let read = claims(&file);
    expect(&read, ClaimForm::Forge, &[("1", WITH, Some((8333, 10_000))), ("1", WITHOUT, Some((1, 2)))]);
    assert_eq!((read.iteration, read.rows[0].runs), (Some(2), 3));
    assert_eq!(read.rows[0].tokens, Ok(share(2001, 2)));
    assert_eq!(read.rows[0].duration_ms, Err(Unmeasured::Zero));
    assert!(read.note(NoteCode::RowsAreMeans).is_some());
    assert!(read.note(NoteCode::SummaryContradictsRows).is_none(), "{:?}", read.notes);
}

#[test]
fn what_is_no_result_list_is_refused_with_what_is_missing() {
    let suite = r#"{"skill_name": "s", "evals": [{"id": 1, "prompt": "p", "expectations": ["e"]}]}"#;
    let gradings = r#"{"expectations": [{"text": "t", "passed": true}], "summary": {"passed": 1, "total": 1}}"#;
    let coverage =
        r#"{"benchmark_name": "b", "minimum_eval_count": 30, "dimensions": [{"name": "n", "min_count": 6}]}"#;
    for text in [
        suite,
        gradings,
        coverage,
        "{}",
        r#"{"runs": []}"#,
        r#"{"results": []}"#,
        r#"{"runs": [{"configuration": "with_skill"}]}"#,
    ] {
        let ClaimsError::NotResults(near) = refused(text) else {
            panic!("{text}");
        };
        assert_eq!(near.len(), 3, "{text}");
        assert!(near.iter().all(|form| !form.missing.is_empty()), "{text}");
    }
    let error = refused(r#"{"runs": [], "overall_pass_rate": 0.5}"#).to_string();
    assert!(error.contains("skill-eval (missing: `overall_pass_rate`)"), "{error}");
}
