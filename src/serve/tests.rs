//! The server over real sockets, with well-meaning and with hostile bytes.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::connection::Patience;
use super::{Bound, Site, bind, new_token, serve, serve_with};
use crate::feedback::{FeedbackFile, Opinion};

const TOKEN: &str = "0123456789abcdef";
const POLICY: &str = "default-src 'none'; img-src data:;";

/// Short enough that a test can wait for it.
const SHORT: Patience = Patience {
    request: Duration::from_millis(400),
    response: Duration::from_millis(800),
    farewell: Duration::from_millis(200),
};

struct Running<'s> {
    port: u16,
    feedback: &'s FeedbackFile,
    visits: &'s AtomicU32,
}

/// Serves a page that counts its visits while `visit` runs, then asks for the end and waits for it.
fn while_served(patience: Patience, visit: impl FnOnce(&Running<'_>)) {
    let folder = TempDir::new().unwrap();
    let feedback = FeedbackFile::open(&folder.path().join("feedback.json")).unwrap();
    let visits = AtomicU32::new(0);
    let page = || match visits.fetch_add(1, Ordering::Relaxed) {
        6 => Err("benchmark.json is gone".to_owned()),
        visit => Ok(format!("<!doctype html>visit {visit}").into_bytes()),
    };
    let site = Site { page: &page, feedback: &feedback, token: TOKEN, policy: POLICY };
    let Bound { listener, is_elsewhere } = bind(0).unwrap();
    assert!(!is_elsewhere);
    let port = listener.local_addr().unwrap().port();
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        let serving = scope.spawn(|| serve_with(&listener, &site, &stop, patience));
        let running = Running { port, feedback: &feedback, visits: &visits };
        let visited = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| visit(&running)));
        stop.store(true, Ordering::Relaxed);
        serving.join().unwrap().unwrap();
        if let Err(problem) = visited {
            std::panic::resume_unwind(problem);
        }
    });
}

impl Running<'_> {
    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        stream
    }

    /// Sends bytes and takes everything that comes back.
    fn exchange(&self, bytes: &[u8]) -> String {
        let mut stream = self.connect();
        // who is refused early may find nobody there any more
        let _ = stream.write_all(bytes);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        String::from_utf8(answer).unwrap()
    }

    fn status(&self, bytes: &[u8]) -> u16 {
        status(&self.exchange(bytes))
    }

    fn post(&self, body: &str) -> String {
        self.exchange(&self.request(body.as_bytes(), &[]))
    }

    /// A request to store, with some of its headers replaced.
    fn request(&self, body: &[u8], changes: &[(&str, &str)]) -> Vec<u8> {
        let port = self.port;
        let mut headers = [
            ("host", format!("127.0.0.1:{port}")),
            ("origin", format!("http://127.0.0.1:{port}")),
            ("x-skill-lift-token", TOKEN.to_owned()),
            ("content-type", "application/json".to_owned()),
            ("content-length", body.len().to_string()),
        ];
        for (name, value) in changes {
            headers.iter_mut().find(|(other, _)| other == name).unwrap().1 = (*value).to_owned();
        }
        let headers: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        [format!("POST /feedback HTTP/1.1\r\n{headers}\r\n").as_bytes(), body].concat()
    }

    fn page(&self) -> String {
        self.exchange(format!("GET / HTTP/1.1\r\nhost: localhost:{}\r\n\r\n", self.port).as_bytes())
    }

    fn entries(&self) -> usize {
        self.feedback.read().unwrap().0.entries.len()
    }
}

fn status(answer: &str) -> u16 {
    answer.strip_prefix("HTTP/1.1 ").and_then(|rest| rest.get(..3)?.parse().ok()).unwrap_or(0)
}

const ENTRY: &str = r#"{"case_id":"a","variant":"with_skill","verdict":"fail","note":"é"}"#;

#[test]
fn the_page_is_made_afresh_with_its_headers() {
    while_served(Patience::default(), |running| {
        let answer = running.page();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        assert_eq!(body, "<!doctype html>visit 0");
        for line in [
            "HTTP/1.1 200 OK",
            "Content-Type: text/html; charset=utf-8",
            "Content-Length: 22",
            "Content-Security-Policy: default-src 'none'; img-src data:; connect-src 'self'; frame-ancestors 'none'",
            "X-Content-Type-Options: nosniff",
            "Cache-Control: no-store",
            "Connection: close",
        ] {
            assert!(head.lines().any(|other| other == line), "{line}\n{head}");
        }
        assert!(running.page().ends_with("visit 1"));
        assert_eq!(running.status(b"GET /x HTTP/1.1\r\nhost: evil\r\n\r\n"), 403);
        let missing =
            running.exchange(format!("GET /x HTTP/1.1\r\nhost: 127.0.0.1:{}\r\n\r\n", running.port).as_bytes());
        assert_eq!(status(&missing), 404);
        assert!(
            missing.contains("Content-Security-Policy: ")
                && missing.ends_with("{\"error\":\"there is GET / and POST /feedback\"}\n")
        );
        assert_eq!(running.visits.load(Ordering::Relaxed), 2, "nobody else had the page made");
    });
}

#[test]
fn a_page_that_cannot_be_made_is_an_error_and_the_server_goes_on() {
    while_served(Patience::default(), |running| {
        let answers: Vec<String> = (0..8).map(|_| running.page()).collect();
        let statuses: Vec<u16> = answers.iter().map(|answer| status(answer)).collect();
        assert_eq!(statuses, [200, 200, 200, 200, 200, 200, 500, 200]);
        assert!(answers[6].ends_with("{\"error\":\"benchmark.json is gone\"}\n"));
    });
}

#[test]
fn an_entry_is_stored_and_a_bad_one_is_not() {
    while_served(Patience::default(), |running| {
        let stored = running.post(ENTRY);
        assert_eq!(status(&stored), 204);
        assert!(stored.ends_with("\r\n\r\n") && !stored.to_ascii_lowercase().contains("content-length"), "{stored}");
        assert_eq!(status(&running.post(ENTRY)), 204);
        let (feedback, _) = running.feedback.read().unwrap();
        assert_eq!((feedback.entries.len(), feedback.entries[0].verdict), (1, Some(Opinion::Fail)));
        let before = std::fs::read(running.feedback.path()).unwrap();
        for (body, reason) in [
            ("", "invalid JSON: the text ends where a value is expected at $"),
            ("[]", "an entry must be an object, not array"),
            (r#"{"junk":1}"#, "`case_id` must be a text that is not blank"),
            (r#"{"case_id":"a","variant":"with_skill"}"#, "an entry needs a verdict or a note"),
            (r#"{"case_id":"a","case_id":"b","variant":"with_skill","note":"x"}"#, "duplicate key `case_id` at $"),
            (
                r#"{"case_id":"a","variant":"z","note":"x"}"#,
                "`variant` must be with_skill, without_skill, old_skill or ablation:<id>",
            ),
        ] {
            let answer = running.post(body);
            assert_eq!(status(&answer), 400, "{body}");
            let said: serde_json::Value = serde_json::from_str(answer.split_once("\r\n\r\n").unwrap().1).unwrap();
            assert_eq!(said["error"], reason, "{body}");
        }
        let deep = "[".repeat(60_000);
        assert!(running.post(&deep).contains("nested deeper than 100 levels"));
        assert_eq!(running.status(&running.request(b"\xff\xfe", &[])), 400);
        assert_eq!(std::fs::read(running.feedback.path()).unwrap(), before);
    });
}

#[test]
fn other_pages_and_large_bodies_are_refused_and_hear_why() {
    while_served(Patience::default(), |running| {
        let evil: [(&str, &str); 2] = [("origin", "http://evil.example"), ("x-skill-lift-token", "0")];
        for change in evil {
            assert_eq!(running.status(&running.request(ENTRY.as_bytes(), &[change])), 403, "{change:?}");
        }
        assert_eq!(running.status(&running.request(ENTRY.as_bytes(), &[("content-type", "text/plain")])), 415);
        let large =
            serde_json::json!({"case_id": "a", "variant": "with_skill", "note": "x".repeat(64 * 1024)}).to_string();
        let answer = running.post(&large);
        assert_eq!(status(&answer), 413);
        assert!(answer.ends_with("{\"error\":\"an entry has at most 64 KiB\"}\n"), "{answer}");
        assert_eq!(running.entries(), 0);
        let note = "x".repeat(64 * 1024 - 100);
        let largest = serde_json::json!({"case_id": "a", "variant": "with_skill", "note": note}).to_string();
        assert_eq!(status(&running.post(&largest)), 204);
        // said to be short: the rest is no part of it
        let cut = running
            .request(br#"{"case_id":"b","variant":"with_skill","note":"x"}, and more"#, &[("content-length", "49")]);
        assert_eq!(running.status(&cut), 204);
        assert_eq!(running.entries(), 2);
    });
}

/// A generator that gives the same numbers everywhere (Marsaglia's xorshift).
fn numbers(mut state: u64) -> impl FnMut() -> u64 {
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    }
}

#[test]
fn no_bytes_end_it() {
    while_served(SHORT, |running| {
        let port = running.port;
        let fixed: [&[u8]; 12] = [
            b"\0",
            b"\r\n\r\n",
            b"GET",
            b"GET / HTTP/1.1\r\n",
            b"GET / HTTP/1.1\nhost: x\n\n",
            b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
            b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
            b"GET / HTTP/1.1\r\nhost: \xff\xfe\r\n\r\n",
            b"POST /feedback HTTP/1.1\r\ncontent-length: 18446744073709551616\r\n\r\n",
            b"GET / HTTP/1.1\r\n folded\r\n\r\n",
            "GET /\u{202e} HTTP/1.1\r\n\r\n".as_bytes(),
            &[b'A'; 100_000],
        ];
        for bytes in fixed {
            let code = running.status(bytes);
            assert!(
                matches!(code, 400 | 403 | 408),
                "{code} {:?}",
                String::from_utf8_lossy(&bytes[..bytes.len().min(60)])
            );
        }
        // a good request with a few bytes changed, cut or doubled
        let good = running.request(ENTRY.as_bytes(), &[]);
        let mut number = numbers(0x5eed);
        for _ in 0..300 {
            let mut bytes = good.clone();
            for _ in 0..=number() % 4 {
                let at = number() as usize % bytes.len();
                match number() % 4 {
                    0 => bytes[at] = number() as u8,
                    1 => bytes.truncate(at.max(1)),
                    2 => bytes.insert(at, number() as u8),
                    _ => bytes.extend_from_within(..at),
                }
            }
            let mut stream = running.connect();
            let _ = stream.write_all(&bytes);
            let _ = stream.shutdown(Shutdown::Write);
            let mut answer = Vec::new();
            let _ = stream.read_to_end(&mut answer);
            let answer = String::from_utf8_lossy(&answer);
            let code = status(&answer);
            assert!(matches!(code, 204 | 400 | 403 | 404 | 408 | 413 | 415), "{code} {answer}");
        }
        // whatever was stored is an entry
        let (_, notes) = running.feedback.read().unwrap();
        assert_eq!(notes.len(), 0);
        assert_eq!(running.status(format!("GET / HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\n\r\n").as_bytes()), 200);
    });
}

#[test]
fn who_is_slow_keeps_nobody_waiting_and_is_sent_away() {
    while_served(SHORT, |running| {
        let begun = Instant::now();
        let mut silent: Vec<TcpStream> = (0..8).map(|_| running.connect()).collect();
        for stream in &mut silent {
            stream.write_all(b"POST /feedback HTTP/1.1\r\nhost: ").unwrap();
        }
        // a byte at a time, which would never run into a limit of the time between two of them
        let mut trickling = running.connect();
        let port = running.port;
        thread::scope(|scope| {
            scope.spawn(move || {
                for byte in format!("GET / HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\n\r\n").bytes() {
                    if trickling.write_all(&[byte]).is_err() {
                        return;
                    }
                    thread::sleep(Duration::from_millis(50));
                }
                let mut answer = String::new();
                let _ = trickling.read_to_string(&mut answer);
                assert!(status(&answer) != 200, "{answer}");
            });
            assert_eq!(status(&running.page()), 200, "others are served meanwhile");
        });
        for mut stream in silent {
            let mut answer = String::new();
            stream.read_to_string(&mut answer).unwrap();
            assert_eq!(status(&answer), 408, "{answer}");
        }
        assert!(begun.elapsed() < Duration::from_secs(8));
        // an entry that never comes
        let mut half = running.request(ENTRY.as_bytes(), &[]);
        half.truncate(half.len() - 3);
        assert_eq!(running.status(&half), 408);
        assert_eq!(running.entries(), 0);
    });
}

#[test]
fn several_at_a_time_store_everything() {
    while_served(Patience::default(), |running| {
        thread::scope(|scope| {
            for visitor in 0..6 {
                scope.spawn(move || {
                    for run in 1..=10 {
                        let body = format!(
                            r#"{{"case_id":"c{visitor}","variant":"with_skill","run_number":{run},"verdict":"pass"}}"#
                        );
                        assert_eq!(status(&running.post(&body)), 204);
                    }
                });
            }
        });
        assert_eq!(running.entries(), 60);
    });
}

#[test]
fn too_many_at_a_time_are_told_so() {
    while_served(Patience { request: Duration::from_secs(5), ..SHORT }, |running| {
        let held: Vec<TcpStream> = (0..super::MOST_CONNECTIONS).map(|_| running.connect()).collect();
        // they are accepted one after the other
        let deadline = Instant::now() + Duration::from_secs(4);
        let mut code = running.status(b"");
        while code != 503 && Instant::now() < deadline {
            code = running.status(b"");
        }
        assert_eq!(code, 503);
        drop(held);
        thread::sleep(Duration::from_millis(700));
        assert_eq!(status(&running.page()), 200);
    });
}

#[test]
fn the_end_is_soon_even_with_an_idle_visitor() {
    let begun = Instant::now();
    let mut idle = None;
    while_served(Patience::default(), |running| idle = Some(running.connect()));
    assert!(begun.elapsed() < Duration::from_secs(3), "{:?}", begun.elapsed());
}

#[test]
fn what_is_not_served() {
    let folder = TempDir::new().unwrap();
    let feedback = FeedbackFile::open(&folder.path().join("feedback.json")).unwrap();
    let page = || Ok(Vec::new());
    let site = Site { page: &page, feedback: &feedback, token: TOKEN, policy: POLICY };
    let stop = AtomicBool::new(true);
    let problem = |listener: &TcpListener, site: &Site<'_>| serve(listener, site, &stop).unwrap_err().to_string();
    let everywhere = TcpListener::bind(("0.0.0.0", 0)).unwrap();
    assert_eq!(problem(&everywhere, &site), "the page is served on 127.0.0.1 only");
    let local = bind(0).unwrap().listener;
    for (token, policy) in [("", POLICY), ("a\r\nx: y", POLICY), (TOKEN, "a\nb"), (TOKEN, "\u{e9}")] {
        let site = Site { token, policy, ..site };
        assert_eq!(problem(&local, &site), "the token or the policy cannot stand in a header");
    }
    assert!(serve(&local, &site, &stop).is_ok(), "asked to end before it began");
    let taken = bind(local.local_addr().unwrap().port()).unwrap();
    assert!(taken.is_elsewhere, "another port, and nobody was ended for it");
    assert!(taken.listener.local_addr().unwrap().ip().is_loopback());
}

#[test]
fn tokens_differ() {
    let (one, other) = (new_token().unwrap(), new_token().unwrap());
    assert_ne!(one, other);
    assert!(one.len() == 32 && one.bytes().all(|byte| byte.is_ascii_hexdigit()), "{one}");
}
