//! `render-viewer` and `benchmark --review`: the bytes of the page. What a browser makes of them is tested in
//! `tests/browser`.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Command, Stdio};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::support::{Workspace, copy_folder, repository, run_in};

/// A page as text, with its data.
pub struct Page(pub String);

impl Page {
    pub fn read(workspace: &Workspace, path: &str) -> Self {
        Self(fs::read_to_string(workspace.path().join(path)).unwrap())
    }

    /// The elements of a kind with what is between their tags.
    fn elements(&self, begin: &str, end: &str) -> Vec<&str> {
        self.0.split(begin).skip(1).map(|rest| rest.split_once(end).unwrap().0).collect()
    }

    pub fn island(&self, id: &str) -> Value {
        let begin = format!("<script type=\"application/json\" id=\"{id}\">");
        let [text] = self.elements(&begin, "</script>")[..] else { panic!("{id}") };
        serde_json::from_str(text).unwrap()
    }

    pub fn case(&self, id: &str) -> (Value, Value) {
        let index = self.island("sl-index");
        let case = index["cases"].as_array().unwrap().iter().find(|case| case["id"] == id).unwrap();
        let chunk = self.island(&format!("sl-c{}", case["chunk"]));
        (chunk["cases"][id].clone(), chunk["texts"].clone())
    }
}

/// Two cases, two runs an arm.
fn two_cases(answer: &str) -> Workspace {
    let workspace = Workspace::with_cases(&["first", "second"]);
    for case in ["first", "second"] {
        for run in 1..=2 {
            workspace.write(&format!("runs/{case}/with_skill/run-{run}/output.md"), answer);
            workspace.write(&format!("runs/{case}/without_skill/run-{run}/output.md"), "no");
        }
    }
    workspace
}

pub fn review(workspace: &Workspace, more: &[&str]) -> Page {
    let said = workspace.on_runs("benchmark", &["--out", "benchmark.json", "--quiet"]);
    assert_eq!(said.code, 0, "{}", said.stderr);
    let usual = ["render-viewer", "--benchmark", "benchmark.json", "--runs", "runs"];
    let suite = ["--suite", "evals/shared-benchmark.json", "--out", "pages/review.html"];
    let said = workspace.run(&[&usual[..], &suite, more].concat());
    assert_eq!((said.code, said.stdout.as_str()), (0, ""), "{}", said.stderr);
    Page::read(workspace, "pages/review.html")
}

#[test]
fn the_page_holds_what_was_asked_answered_and_checked() {
    let page = review(&two_cases("🚀 yes"), &[]);
    let index = page.island("sl-index");
    assert_eq!(index["headline"], "Too few cases to tell: +100.0\u{a0}pp");
    assert_eq!((&index["models"], &index["runs_given"]), (&json!([""]), &json!(true)));
    let first = &index["cases"][0];
    assert_eq!((&first["id"], &first["without"], &first["with"]), (&json!("first"), &json!(0.0), &json!(1.0)));
    assert_eq!((&first["pairs"], &first["ci"]), (&json!(2), &json!(null)));
    assert_eq!(first["ci_reason"], "every repetition gave the same result");
    assert_eq!(first["runs"][0], json!([0, 0, 1, "ok", 1, 1, false]));
    let (case, texts) = page.case("first");
    assert_eq!(texts[case["turns"][0].as_u64().unwrap() as usize]["text"], "Do it.");
    assert_eq!(case["checks"], json!([{"name": "says-yes", "type": "contains", "severity": "gate"}]));
    let run = &case["runs"][0];
    let answer = run["answer"][0]["text"].as_u64().unwrap();
    assert_eq!(texts[answer as usize], json!({"bytes": 8, "text": "🚀 yes"}));
    // the rocket takes two units
    assert_eq!(run["checks"][0]["spans"], json!([[answer, 3, 6]]));
    assert_eq!((&run["trace"], &run["trace_reason"]), (&json!(null), &json!("there is no events.json")));
    // equal answers stand once: the prompt, yes and no of both cases
    assert_eq!(texts.as_array().unwrap().len(), 3);
}

#[test]
fn the_page_is_the_same_everywhere() {
    let page = review(&two_cases("yes"), &[]).0;
    let (one, other) = (two_cases("yes"), two_cases("yes"));
    for (workspace, threads) in [(&one, "1"), (&other, "16")] {
        let arguments = [
            "benchmark",
            "evals/shared-benchmark.json",
            "--runs",
            "runs",
            "--out",
            "benchmark.json",
            "--review",
            "again.html",
            "--quiet",
        ];
        let said = run_in(workspace.path(), &arguments, &[("RAYON_NUM_THREADS", threads)]);
        assert_eq!(said.code, 0, "{}", said.stderr);
    }
    assert_eq!(Page::read(&one, "again.html").0, Page::read(&other, "again.html").0);
    assert_eq!(Page::read(&one, "again.html").0, page);
}

#[test]
fn the_policy_names_the_scripts_and_the_style_of_the_file() {
    let page = review(&two_cases("yes"), &[]);
    let hash = |text: &str| format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text.as_bytes())));
    let scripts = page.elements("<script>", "</script>");
    let styles = page.elements("<style>", "</style>");
    assert_eq!((scripts.len(), styles.len()), (2, 1));
    let expected = format!(
        "default-src 'none'; script-src {} {}; style-src {}; img-src data:; form-action 'none'; base-uri 'none'; \
         require-trusted-types-for 'script'; trusted-types 'none'; connect-src 'none'",
        hash(scripts[0]),
        hash(scripts[1]),
        hash(styles[0])
    );
    let policy = page.elements("http-equiv=\"Content-Security-Policy\" content=\"", "\"");
    assert_eq!(policy, [expected]);
    assert!(scripts[1].len() + scripts[0].len() + styles[0].len() < 111 << 10, "{}", scripts[1].len());
    for forbidden in [" style=", " onclick=", " onload=", "<link", "<iframe", "<object", "http://", "https://"] {
        let markup = page.0.replace(scripts[1], "").replace(styles[0], "").replace("http://www.w3.org/2000/svg", "");
        assert!(!markup.contains(forbidden), "{forbidden}");
    }
}

#[test]
fn nothing_of_others_gets_out_of_its_place() {
    let hostile = "</script><script>document.title='PWNED'</script><!-- <img src=x onerror=alert(1)> \u{2028}\u{202e}yes\
                   \u{200b}\u{1b}[31m {{ 7*7 }} \u{7f}\u{e0041}";
    let workspace = Workspace::new();
    let id = "a<img src=x onerror=alert(1)>";
    let assertion = json!({"name": format!("n</script>{hostile}"), "type": "contains", "value": "yes"});
    workspace.suite(&json!({"cases": [{
        "id": id, "split": "tune", "prompt": hostile, "domain": hostile, "tags": [hostile], "assertions": [assertion]
    }]}));
    for arm in ["with_skill", "without_skill"] {
        workspace.write(&format!("runs/{id}/{arm}/output.md"), hostile);
        workspace.write(&format!("runs/{id}/{arm}/metadata.json"), json!({"model": hostile}).to_string());
    }
    let page = review(&workspace, &[]);
    let hidden: Vec<char> = page
        .0
        .chars()
        .filter(|c| {
            c.is_control() && *c != '\n' || matches!(c, '\u{200b}' | '\u{2028}' | '\u{202a}'..='\u{202e}' | '\u{e0041}')
        })
        .collect();
    assert_eq!(hidden, [] as [char; 0]);
    // the theme, the data and the script
    let islands = page.0.matches("<script type=\"application/json\"").count();
    assert_eq!(page.0.matches("</script").count(), 2 + islands);
    assert!(!page.0.contains("<img") && !page.0.contains("<!--"), "{}", page.0);
    let (case, texts) = page.case(id);
    assert_eq!(texts[case["turns"][0].as_u64().unwrap() as usize]["text"], hostile);
    assert!(page.0.contains("{{ 7*7 }}"));
}

#[test]
fn a_page_is_kept_under_its_limit_and_says_what_was_cut() {
    let long: String = (0..40_000).map(|line| format!("line {line:06} of an answer\n")).collect();
    let workspace = two_cases(&format!("yes\n{long}"));
    let said = workspace.on_runs("benchmark", &["--out", "benchmark.json", "--quiet"]);
    assert_eq!(said.code, 0, "{}", said.stderr);
    let usual = ["render-viewer", "--benchmark", "benchmark.json", "--runs", "runs", "--out", "review.html"];
    let said = workspace.run(&[&usual[..], &["--max-output-kib", "16"]].concat());
    assert_eq!(said.code, 0, "{}", said.stderr);
    let page = Page::read(&workspace, "review.html");
    let (case, texts) = page.case("first");
    let text = &texts[case["runs"][0]["answer"][0]["text"].as_u64().unwrap() as usize];
    let shown = text["text"].as_str().unwrap();
    let [at, left_out] = [0, 1].map(|part| text["cuts"][0][part].as_u64().unwrap() as usize);
    // 12 KiB of the beginning, 4 KiB of the end, at ends of lines
    assert!(shown.len() <= 16 << 10 && shown.len() > 15 << 10, "{}", shown.len());
    assert_eq!(text["bytes"].as_u64().unwrap() as usize, shown.len() + left_out);
    assert!(shown[..at].ends_with(" of an answer\n") && shown.ends_with("line 039999 of an answer\n"));
    assert_eq!(
        said.stderr,
        "wrote review.html: 121\u{a0}kB, 2 cases, 8 runs\n".replace("121", size_shown(&said.stderr))
    );

    let too_large = workspace.run(&[&usual[..], &["--max-page-mib", "0"]].concat());
    assert_eq!(too_large.code, 2, "{}", too_large.stderr);
}

/// The figure of a size in what was said.
fn size_shown(said: &str) -> &str {
    said.split_once(": ").unwrap().1.split_once('\u{a0}').unwrap().0
}

#[test]
fn without_runs_the_page_says_so() {
    let workspace = two_cases("yes");
    workspace.on_runs("benchmark", &["--out", "benchmark.json", "--quiet"]);
    let said = workspace.run(&["render-viewer", "--benchmark", "benchmark.json", "--out", "review.html", "--quiet"]);
    assert_eq!((said.code, said.stderr.as_str()), (0, ""));
    let page = Page::read(&workspace, "review.html");
    let (case, _) = page.case("first");
    assert_eq!(page.island("sl-index")["runs_given"], json!(false));
    assert_eq!(case["runs"][0]["answer_reason"], "Answers are not in this page. Render it again with --runs.");
    assert_eq!(case["turns"], json!([]));
}

#[test]
fn the_other_iteration_stands_beside_this_one() {
    let folder = tempfile::tempdir().unwrap();
    let work = folder.path().join("work");
    let (old, new) = (two_cases("yes"), two_cases("yes"));
    new.write("runs/second/with_skill/run-1/output.md", "no");
    for (workspace, name) in [(&old, "iteration-1"), (&new, "iteration-2")] {
        let said = workspace.on_runs("benchmark", &["--out", "benchmark.json", "--quiet"]);
        assert_eq!(said.code, 0, "{}", said.stderr);
        copy_folder(workspace.path(), &work.join(name));
    }
    let arguments = [
        "render-viewer",
        "--benchmark",
        "iteration-2/benchmark.json",
        "--runs",
        "iteration-2/runs",
        "--previous-workspace",
        "iteration-1",
        "--out",
        "review.html",
        "--quiet",
    ];
    let said = run_in(&work, &arguments, &[]);
    assert_eq!(said.code, 0, "{}", said.stderr);
    let page = Page(fs::read_to_string(work.join("review.html")).unwrap());
    let index = page.island("sl-index");
    assert_eq!((&index["label"], &index["previous"]), (&json!("iteration-2"), &json!("iteration-1")));
    assert_eq!((&index["cases"][1]["queue"], &index["cases"][0]["queue"]), (&json!(6), &json!(null)));
    assert_eq!(index["cases"][1]["reasons"], json!([["bad", "Passed in iteration-1, fails now."]]));
    let (case, texts) = page.case("second");
    let before = &case["runs"][0]["previous"];
    assert_eq!((&before["status"], &before["passed"]), (&json!("ok"), &json!(1)));
    assert_eq!(texts[before["answer"][0]["text"].as_u64().unwrap() as usize]["text"], "yes");
    assert!(page.0.contains("What changed since iteration-1?"));
    assert!(page.0.contains("Lift +100.0\u{a0}pp then, +75.0\u{a0}pp now. On the 2 cases in both, the change is"));

    let missing = run_in(&work, &[&arguments[..6], &["work", "--out", "x.html"]].concat(), &[]);
    let problem = "FAIL: --previous-workspace has no benchmark.json: work\n";
    assert_eq!((missing.code, missing.stderr.as_str()), (1, problem));
}

#[test]
fn what_cannot_be_read_is_refused() {
    let workspace = two_cases("yes");
    workspace.write("broken.json", "{");
    let said = |more: &[&str]| {
        let said = workspace.run(&[&["render-viewer"], more].concat());
        (said.code, said.stderr)
    };
    let (code, text) = said(&["--benchmark", "broken.json", "--out", "x.html"]);
    assert_eq!(code, 1);
    assert!(text.starts_with("FAIL: broken.json: "), "{text}");
    let missing = (1, "FAIL: none.json: no such file or directory\n".to_owned());
    assert_eq!(said(&["--benchmark", "none.json", "--out", "x.html"]), missing);
    assert_eq!(said(&["--benchmark", "broken.json"]).0, 2);
    workspace.on_runs("benchmark", &["--out", "benchmark.json", "--quiet"]);
    let (code, text) = said(&["--benchmark", "benchmark.json", "--runs", "nowhere", "--out", "x.html"]);
    assert_eq!(code, 1);
    assert!(text.starts_with("FAIL: --runs nowhere: "), "{text}");
    assert!(!workspace.path().join("x.html").exists());
}

#[test]
fn a_report_of_the_reference_package_has_a_page() {
    let workspace = Workspace::new();
    let rows: Vec<(String, Vec<f64>, Vec<f64>)> =
        (0..8).map(|case| (format!("c{case}"), vec![1.0], vec![0.0])).collect();
    let mut report = crate::support::report_of(&rows);
    for row in report["results"].as_array_mut().unwrap() {
        let passed = u32::from(row["objective_pass_rate"] == 1.0);
        (row["objective_passed"], row["objective_total"]) = (json!(passed), json!(1));
    }
    workspace.write("benchmark.json", report.to_string());
    let said = workspace.run(&["render-viewer", "--benchmark", "benchmark.json", "--out", "review.html", "--quiet"]);
    assert_eq!(said.code, 0, "{}", said.stderr);
    let page = Page::read(&workspace, "review.html");
    assert!(page.0.contains("This report has no inference block; it was written by another tool."));
    assert_eq!(page.island("sl-index")["cases"].as_array().unwrap().len(), 8);
}

#[test]
fn the_demo_says_the_same_as_the_terminal() {
    let demo = repository("datasets/demo");
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("review.html");
    let suite = demo.join("evals/shared-benchmark.json");
    let (suite, runs) = (suite.to_str().unwrap(), demo.join("runs"));
    let arguments = ["benchmark", suite, "--runs", runs.to_str().unwrap(), "--format", "table", "--review"];
    let said = run_in(folder.path(), &[&arguments[..], &[page.to_str().unwrap()]].concat(), &[]);
    assert_eq!(said.code, 0, "{}", said.stderr);
    let html = fs::read_to_string(&page).unwrap();
    let plain = |text: &str| text.replace('\u{a0}', " ");
    let (html, terminal) = (plain(&html), plain(&said.stdout));
    for figure in ["+28.2 pp", "+5.2 to +43.6 pp", "p = 0.003", "10 better, 2 the same, 1 worse.", "Strong evidence"] {
        assert!(html.contains(figure) && terminal.contains(figure), "{figure}");
    }
}

/// Sends a request and reads the whole answer.
fn ask(address: &str, request: &str) -> String {
    let mut stream = std::net::TcpStream::connect(address).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn a_served_page_takes_feedback_and_shows_it_again() {
    let workspace = two_cases("yes");
    workspace.on_runs("benchmark", &["--out", "benchmark.json", "--quiet"]);
    let arguments = ["render-viewer", "--benchmark", "benchmark.json", "--runs", "runs", "--serve", "--port", "0"];
    let mut server = Command::new(env!("CARGO_BIN_EXE_skill-lift"))
        .args(arguments)
        .current_dir(workspace.path())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(server.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    let address = line.split_once("http://").unwrap().1.split(' ').next().unwrap().to_owned();
    assert_eq!(line, format!("serving review on http://{address} (feedback -> feedback.json); Ctrl-C to stop\n"));
    let get = format!("GET / HTTP/1.1\r\nHost: {address}\r\n\r\n");
    let served = ask(&address, &get);
    assert!(served.starts_with("HTTP/1.1 200 ") && served.contains("connect-src 'self'"), "{}", &served[..400]);
    let token = Page(served).island("sl-index")["served"]["token"].as_str().unwrap().to_owned();
    let entry =
        json!({"case_id": "first", "variant": "with_skill", "run_number": 1, "verdict": "fail", "note": "é \"x\""});
    let post = |token: &str, origin: &str| {
        let body = entry.to_string();
        let head = format!(
            "POST /feedback HTTP/1.1\r\nHost: {address}\r\nOrigin: http://{origin}\r\nContent-Type: application/json\r\n\
             x-skill-lift-token: {token}\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        ask(&address, &head).split(' ').nth(1).unwrap().to_owned()
    };
    assert_eq!(post(&token, "example.org"), "403");
    assert_eq!(post("guess", &address), "403");
    assert!(!workspace.path().join("feedback.json").exists());
    assert_eq!(post(&token, &address), "204");
    let stored: Value =
        serde_json::from_str(&fs::read_to_string(workspace.path().join("feedback.json")).unwrap()).unwrap();
    assert_eq!(stored, json!({"schema_version": 2, "entries": [entry]}));
    // read afresh at the next visit
    assert_eq!(Page(ask(&address, &get)).island("sl-index")["feedback"], json!([entry]));
    // how it ends at Ctrl-C is tested with the server
    server.kill().unwrap();
    server.wait().unwrap();
}

#[test]
fn feedback_of_the_skill_creator_keeps_its_form() {
    let root = repository("tests/conformance/workspaces/skill-forge/csv-insights/iteration-2");
    let folder = tempfile::tempdir().unwrap();
    let report = folder.path().join("benchmark.json");
    let arguments = ["benchmark", root.to_str().unwrap(), "--quiet", "--out", report.to_str().unwrap()];
    assert_eq!(run_in(folder.path(), &arguments, &[]).code, 0);
    let page = |more: &[&str]| {
        let usual = ["render-viewer", "--benchmark", "benchmark.json", "--runs", root.to_str().unwrap()];
        let said = run_in(folder.path(), &[&usual[..], &["--out", "review.html", "--quiet"], more].concat(), &[]);
        assert_eq!(said.code, 0, "{}", said.stderr);
        Page(fs::read_to_string(folder.path().join("review.html")).unwrap()).island("sl-index")
    };
    let index = page(&["--feedback-format", "skill-creator"]);
    let run = &index["cases"][0]["runs"][0];
    let id = run[7].as_str().unwrap();
    assert_eq!((&index["feedback_format"], id.contains('/')), (&json!("skill-creator"), false));
    let reviews = json!({"reviews": [{"run_id": id, "feedback": "too long", "timestamp": "2025-01-01T00:00:00Z"}],
        "status": "in_progress"});
    fs::write(folder.path().join("feedback.json"), reviews.to_string()).unwrap();
    let index = page(&[]);
    let entry = &index["feedback"][0];
    assert_eq!((&entry["case_id"], &entry["note"]), (&index["cases"][0]["id"], &json!("too long")));
    assert_eq!(index["feedback_format"], "v2");
}

#[test]
fn files_of_runs_can_stand_beside_the_page() {
    let workspace = two_cases("yes");
    workspace.write("runs/first/with_skill/run-1/outputs/page.html", "<script>alert(1)</script>");
    let page = review(&workspace, &["--split-assets", "pages/the files"]);
    let (case, _) = page.case("first");
    let link = |path: &str| {
        let files = case["runs"][0]["files"].as_array().unwrap();
        files.iter().find(|file| file["path"] == path).unwrap()["href"].as_str().unwrap().to_owned()
    };
    assert_eq!(link("output.md"), "the%20files/first/with_skill/run-1/output.md");
    assert_eq!(link("outputs/page.html"), "the%20files/first/with_skill/run-1/outputs/page.html.txt");
    let beside = workspace.path().join("pages/the files/first/with_skill/run-1");
    assert_eq!(fs::read_to_string(beside.join("output.md")).unwrap(), "yes");
    assert_eq!(fs::read_to_string(beside.join("outputs/page.html.txt")).unwrap(), "<script>alert(1)</script>");
    assert!(!beside.join("outputs/page.html").exists());
}

#[test]
fn a_command_that_failed_and_was_not_run_again_is_shown_as_failed() {
    let workspace = two_cases("yes");
    let command =
        |code: u32| json!({"type": "command", "status": "completed", "input_summary": "make", "exit_code": code});
    let events = |commands: &[Value]| json!({"schema_version": 2, "events": commands}).to_string();
    workspace.write("runs/first/with_skill/run-1/events.json", events(&[command(1)]));
    workspace.write("runs/first/with_skill/run-2/events.json", events(&[command(1), command(0)]));
    workspace.write("runs/second/with_skill/run-1/events.json", events(&[command(0)]));
    let page = review(&workspace, &[]);
    let failures = |case: &str, run: usize| -> Vec<Value> {
        let index = page.island("sl-index");
        let listed = index["cases"].as_array().unwrap().iter().find(|listed| listed["id"] == case).unwrap().clone();
        let chunk = page.island(&format!("sl-c{}", listed["chunk"]));
        let runs = chunk["cases"][case]["runs"].as_array().unwrap();
        let run = runs.iter().find(|shown| shown["arm"] == 0 && shown["rep"] == run).unwrap();
        let named = |name: &str| {
            let rows = run["telemetry"].as_array().unwrap();
            let word = |at: &Value| chunk["words"][at.as_u64().unwrap() as usize - 1] == name;
            rows.iter().find(|row| word(&row[0])).map_or(Value::Null, |row| row[2].clone())
        };
        vec![named("Failed commands"), named("Made good later"), run["trace"][0]["ok"].clone()]
    };
    assert_eq!(failures("first", 1), [json!(1.0), json!(0.0), json!(false)]);
    assert_eq!(failures("first", 2), [json!(1.0), json!(1.0), json!(false)]);
    assert_eq!(failures("second", 1), [json!(null), json!(null), json!(true)]);
}

#[test]
fn without_money_tokens_stand_across_the_plot_of_costs() {
    let workspace = two_cases("yes");
    for (arm, tokens) in [("with_skill", 1_500), ("without_skill", 1_000)] {
        workspace.write(&format!("runs/first/{arm}/run-1/metadata.json"), json!({"total_tokens": tokens}).to_string());
    }
    let page = review(&workspace, &[]).0;
    assert!(page.contains("Extra tokens per run against lift. Not shown, tokens not measured: second."));
    assert!(page.contains("<title>first: +100\u{a0}pp, +500 tokens a run</title>"));
    assert!(page.contains(">+200</text>") && !page.contains("Extra time per run"));
}

#[test]
fn what_a_judge_said_stands_beside_its_verdict() {
    let workspace = Workspace::new();
    let judged = json!({"name": "clear", "type": "judge", "rubric": ["Is it clear?"], "severity": "gate"});
    workspace.suite(&json!({"cases": [{"id": "c", "split": "tune", "prompt": "p", "assertions": [judged]}]}));
    for arm in ["with_skill", "without_skill"] {
        workspace.write(&format!("runs/c/{arm}/output.md"), "answer");
    }
    let verdicts: String = ["with_skill", "without_skill"]
        .map(|arm| {
            let id = format!("c::{arm}::run-1::clear");
            json!({"judge_task_id": id, "passed": arm == "with_skill", "evidence": "plain words"}).to_string() + "\n"
        })
        .concat();
    workspace.write("verdicts.jsonl", verdicts);
    let said = workspace.on_runs(
        "benchmark",
        &["--judge-results", "verdicts.jsonl", "--out", "benchmark.json", "--quiet", "--review", "review.html"],
    );
    assert_eq!(said.code, 0, "{}", said.stderr);
    let (case, _) = Page::read(&workspace, "review.html").case("c");
    let checks: Vec<&Value> = case["runs"].as_array().unwrap().iter().map(|run| &run["checks"][0]).collect();
    assert_eq!(checks[0]["outcome"], "pass");
    assert_eq!((&checks[0]["judge"], &checks[0]["evidence"]), (&json!({"reasoning": "plain words"}), &json!("")));
    assert_eq!(checks[1]["outcome"], "fail");
}
