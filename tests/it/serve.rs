//! Serving the review page from a process of its own: what it says, and how it ends.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};
use std::{env, fs, thread};

use skill_lift::feedback::FeedbackFile;
use skill_lift::serve::{Site, bind};

/// Names the file of feedback to a process that is to serve.
const FEEDBACK: &str = "SKILL_LIFT_TEST_FEEDBACK";

const TOKEN: &str = "00ff";

/// The number of the signal of Ctrl-C.
const SIGINT: u32 = 2;

/// Serves, in a process that was told to; otherwise nothing.
#[test]
fn a_process_that_serves() {
    let Some(path) = env::var_os(FEEDBACK) else { return };
    let feedback = FeedbackFile::open(path.as_ref()).unwrap();
    let page = || Ok(b"<!doctype html>page".to_vec());
    let site = Site { page: &page, feedback: &feedback, token: TOKEN, policy: "default-src 'none'" };
    let code = skill_lift::cli::serve::run(&bind(0).unwrap().listener, &site);
    std::process::exit(i32::from(code != ExitCode::SUCCESS));
}

/// Starts a process that serves; its line, and its port.
fn start(feedback: &str) -> (Child, String, u16) {
    let mut child = Command::new(env::current_exe().unwrap())
        .args(["--exact", "serve::a_process_that_serves", "--nocapture", "--test-threads=1"])
        .env(FEEDBACK, feedback)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let stdout = child.stdout.take().unwrap();
    let (said, lines) = channel();
    thread::spawn(move || {
        for line in BufReader::new(stdout).lines().map_while(Result::ok) {
            // the test runner writes the name of the test before it
            if let Some(at) = line.find("serving review on ") {
                let _ = said.send(line[at..].to_owned());
            }
        }
    });
    let line = lines.recv_timeout(Duration::from_secs(30)).unwrap();
    let port = line.strip_prefix("serving review on http://127.0.0.1:").unwrap();
    let port = port.split(' ').next().unwrap().parse().unwrap();
    (child, line, port)
}

/// Sends what Ctrl-C sends, or asks for the end in another way where this process was started with that ignored, as a
/// shell does in the background: the child inherits it.
fn interrupt(child: &Child) {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| u64::from_str_radix(line.strip_prefix("SigIgn:")?.trim(), 16).ok());
    let is_ignored = mask.is_some_and(|mask| mask & (1 << (SIGINT - 1)) != 0);
    let signal = if is_ignored { "-TERM" } else { "-INT" };
    let killed = Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
}

/// The exit code, if it comes in time.
fn ended(child: &mut Child) -> Option<i32> {
    let deadline = Instant::now() + Duration::from_secs(30);
    while Instant::now() < deadline {
        if let Some(status) = child.try_wait().unwrap() {
            return status.code();
        }
        thread::sleep(Duration::from_millis(20));
    }
    child.kill().unwrap();
    None
}

#[test]
fn it_says_where_it_is_and_ends_well_at_ctrl_c() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("feedback.json");
    let (mut child, line, port) = start(path.to_str().unwrap());
    assert_eq!(
        line,
        format!("serving review on http://127.0.0.1:{port} (feedback -> {}); Ctrl-C to stop", path.display())
    );
    let ask = |request: String| {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    };
    let host = format!("127.0.0.1:{port}");
    assert!(ask(format!("GET / HTTP/1.1\r\nhost: {host}\r\n\r\n")).ends_with("\r\n\r\n<!doctype html>page"));
    let entry = r#"{"case_id":"a","variant":"with_skill","verdict":"good"}"#;
    let stored = ask(format!(
        "POST /feedback HTTP/1.1\r\nhost: {host}\r\norigin: http://{host}\r\nx-skill-lift-token: {TOKEN}\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n{entry}",
        entry.len()
    ));
    assert!(stored.starts_with("HTTP/1.1 204 No Content\r\n"), "{stored}");
    // somebody is still connected
    let _idle = TcpStream::connect(("127.0.0.1", port)).unwrap();
    interrupt(&child);
    assert_eq!(ended(&mut child), Some(0));
    let expected = "{\n  \"schema_version\": 2,\n  \"entries\": [\n    {\n      \"case_id\": \"a\",\n      \"variant\": \"with_skill\",\n      \"run_number\": 1,\n      \"verdict\": \"pass\"\n    }\n  ]\n}\n";
    assert_eq!(fs::read_to_string(&path).unwrap(), expected);
}
