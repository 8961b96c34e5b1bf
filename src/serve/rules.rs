//! What a request may do.
//!
//! Any page that the person's browser shows can send requests here. A page of another site cannot read this one, since its
//! requests carry another `Host` even where a name server says that its name is this machine; and it cannot store
//! anything, since it knows no token and its browser names it in `Origin`.

use super::request::{Head, Length};
use super::response::{Refusal, RefusalKind};

/// Bytes of an entry.
pub(super) const MOST_BODY_BYTES: u64 = 64 * 1024;

/// What requests are held against.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rules<'s> {
    pub(super) port: u16,
    pub(super) token: &'s str,
}

/// What is to be done.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Action {
    /// Send the page.
    Page,
    /// Read an entry of so many bytes, and store it.
    Store(usize),
}

impl Rules<'_> {
    /// What a request with this head may do.
    pub(super) fn action(self, head: &Head) -> Result<Action, Refusal> {
        let refuse = |kind, reason| Err(Refusal::new(kind, reason));
        let host = head.host.text().map(str::to_ascii_lowercase).filter(|host| self.is_own(host));
        let Some(host) = host else {
            return refuse(RefusalKind::Forbidden, "this address is not the one that is served");
        };
        match (head.method.as_str(), head.target.as_str()) {
            ("GET", "/") => return Ok(Action::Page),
            ("POST", "/feedback") => {}
            _ => return refuse(RefusalKind::NotFound, "there is GET / and POST /feedback"),
        }
        if head.origin.text().map(str::to_ascii_lowercase) != Some(format!("http://{host}")) {
            return refuse(RefusalKind::Forbidden, "only the page itself may store feedback");
        }
        if !head.token.text().is_some_and(|token| is_same(token, self.token)) {
            return refuse(RefusalKind::Forbidden, "the token is not that of this server: load the page again");
        }
        if !head.content_type.text().is_some_and(is_json) {
            return refuse(RefusalKind::NotJson, "feedback is sent as application/json");
        }
        match head.length {
            Length::Bytes(length) if length > MOST_BODY_BYTES => {
                refuse(RefusalKind::TooLarge, "an entry has at most 64 KiB")
            }
            Length::Bytes(length) => Ok(Action::Store(usize::try_from(length).unwrap_or_default())),
            Length::Unstated | Length::Broken => {
                refuse(RefusalKind::Malformed, "the length of the entry must be stated once, in Content-Length")
            }
        }
    }

    fn is_own(self, host: &str) -> bool {
        let port = self.port;
        let is_named = |name: &str| host == format!("{name}:{port}") || (port == 80 && host == name);
        is_named("127.0.0.1") || is_named("localhost")
    }
}

fn is_json(content_type: &str) -> bool {
    let (kind, _) = content_type.split_once(';').unwrap_or((content_type, ""));
    kind.trim().eq_ignore_ascii_case("application/json")
}

/// Compares in a time that does not tell where two texts differ.
fn is_same(given: &str, expected: &str) -> bool {
    let differing = given.bytes().zip(expected.bytes()).fold(0, |sum, (one, other)| sum | (one ^ other));
    given.len() == expected.len() && differing == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::serve::request::{Reading, read};

    const RULES: Rules<'static> = Rules { port: 8642, token: "0123abcd" };

    fn action(text: &str) -> Result<Action, u16> {
        let Reading::Whole(head, _) = read(text.as_bytes()) else { panic!("{text}") };
        RULES.action(&head).map_err(|refusal| refusal.kind.status())
    }

    /// A request that may store, with some of its lines replaced; a blank line is left out.
    fn store(changes: &[(&str, &str)]) -> Result<Action, u16> {
        let mut lines = [
            ("line", "POST /feedback HTTP/1.1"),
            ("host", "host: 127.0.0.1:8642"),
            ("origin", "origin: http://127.0.0.1:8642"),
            ("token", "x-skill-lift-token: 0123abcd"),
            ("type", "content-type: application/json"),
            ("length", "content-length: 5"),
        ];
        for (name, line) in changes {
            lines.iter_mut().find(|(other, _)| other == name).unwrap().1 = line;
        }
        let lines: Vec<&str> = lines.iter().map(|(_, line)| *line).filter(|line| !line.is_empty()).collect();
        action(&format!("{}\r\n\r\n", lines.join("\r\n")))
    }

    #[test]
    fn the_page_is_for_who_names_this_address() {
        for host in ["127.0.0.1:8642", "localhost:8642", "LocalHost:8642"] {
            assert_eq!(action(&format!("GET / HTTP/1.1\r\nhost: {host}\r\n\r\n")), Ok(Action::Page), "{host}");
        }
        for host in [
            "evil.example:8642",
            "127.0.0.1",
            "127.0.0.1:80",
            "127.0.0.1:8642.evil.example",
            "[::1]:8642",
            "",
            "0.0.0.0:8642",
        ] {
            assert_eq!(action(&format!("GET / HTTP/1.1\r\nhost: {host}\r\n\r\n")), Err(403), "{host}");
        }
        assert_eq!(action("GET / HTTP/1.0\r\n\r\n"), Err(403));
        assert_eq!(action("GET / HTTP/1.1\r\nhost: 127.0.0.1:8642\r\nhost: 127.0.0.1:8642\r\n\r\n"), Err(403));
    }

    #[test]
    fn everything_else_is_not_there() {
        for line in [
            "GET /x",
            "GET /index.html",
            "GET /feedback",
            "GET /?",
            "HEAD /",
            "POST /",
            "PUT /feedback",
            "DELETE /",
            "OPTIONS *",
            "OPTIONS /feedback",
            "GET http://127.0.0.1:8642/",
            "GET /../",
            "GET //",
            "POST /feedback/",
            "get /",
        ] {
            assert_eq!(action(&format!("{line} HTTP/1.1\r\nhost: 127.0.0.1:8642\r\n\r\n")), Err(404), "{line}");
        }
    }

    #[test]
    fn only_the_page_itself_stores() {
        assert_eq!(store(&[]), Ok(Action::Store(5)));
        assert_eq!(
            store(&[("host", "host: localhost:8642"), ("origin", "Origin: http://localhost:8642")]),
            Ok(Action::Store(5))
        );
        assert_eq!(store(&[("type", "content-type: Application/JSON; charset=utf-8")]), Ok(Action::Store(5)));
        for (name, line, status) in [
            ("host", "host: evil.example", 403),
            ("host", "", 403),
            ("origin", "", 403),
            ("origin", "origin: null", 403),
            ("origin", "origin: http://evil.example", 403),
            ("origin", "origin: https://127.0.0.1:8642", 403),
            ("origin", "origin: http://localhost:8642", 403),
            ("origin", "origin: http://127.0.0.1:8642\r\norigin: http://127.0.0.1:8642", 403),
            ("token", "", 403),
            ("token", "x-skill-lift-token: 0123abce", 403),
            ("token", "x-skill-lift-token: 0123abcd0", 403),
            ("token", "x-skill-lift-token:", 403),
            ("type", "", 415),
            ("type", "content-type: text/plain", 415),
            ("type", "content-type: application/jsonp", 415),
            ("type", "content-type: application/x-www-form-urlencoded", 415),
            ("length", "content-length: 65536", 200),
            ("length", "content-length: 65537", 413),
            ("length", "content-length: 99999999999999999999999999", 413),
            ("length", "", 400),
            ("length", "transfer-encoding: chunked", 400),
        ] {
            let done = store(&[(name, line)]);
            assert_eq!(done.map_or_else(|status| status, |_| 200), status, "{line}");
        }
    }
}
