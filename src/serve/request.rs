//! The head of a request: from bytes that may be anything to the few things that are looked at.

use httparse::{EMPTY_HEADER, Request, Status};

/// Bytes of a head.
pub(super) const MOST_HEAD_BYTES: usize = 16 * 1024;

/// Headers of a head.
const MOST_HEADERS: usize = 64;

/// What is known of a head.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Reading {
    /// There is more to come.
    Partial,
    /// It is no HTTP, or more of it than is read.
    Broken(&'static str),
    /// All of it, and how many bytes it has.
    Whole(Head, usize),
}

/// A header that must not be there twice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Single {
    Absent,
    One(Vec<u8>),
    Several,
}

impl Single {
    /// The value, if it is there once and is text.
    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Self::One(value) => std::str::from_utf8(value).ok().map(str::trim),
            Self::Absent | Self::Several => None,
        }
    }
}

/// How many bytes follow a head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Length {
    /// Nothing says so.
    Unstated,
    /// So many; a number that is larger than can be counted is the largest.
    Bytes(u64),
    /// It is said in two ways, in pieces, or not in digits.
    Broken,
}

/// What a request asks for.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) method: String,
    pub(super) target: String,
    pub(super) host: Single,
    pub(super) origin: Single,
    pub(super) token: Single,
    pub(super) content_type: Single,
    pub(super) length: Length,
}

/// The header that names the token.
pub(super) const TOKEN_HEADER: &str = "x-skill-lift-token";

/// Reads what has come of a request.
pub(super) fn read(bytes: &[u8]) -> Reading {
    let mut headers = [EMPTY_HEADER; MOST_HEADERS];
    let mut request = Request::new(&mut headers);
    match request.parse(bytes) {
        Ok(Status::Complete(length)) if length <= MOST_HEAD_BYTES => Reading::Whole(head(&request), length),
        Ok(Status::Partial) if bytes.len() < MOST_HEAD_BYTES => Reading::Partial,
        Ok(_) => Reading::Broken("the head of the request is too large"),
        Err(httparse::Error::TooManyHeaders) => Reading::Broken("the request has too many headers"),
        Err(_) => Reading::Broken("this is no HTTP request"),
    }
}

fn head(request: &Request<'_, '_>) -> Head {
    let single = |name: &str| {
        let mut values = request.headers.iter().filter(|header| header.name.eq_ignore_ascii_case(name));
        match (values.next(), values.next()) {
            (None, _) => Single::Absent,
            (Some(header), None) => Single::One(header.value.to_vec()),
            (Some(_), Some(_)) => Single::Several,
        }
    };
    let length = match (single("transfer-encoding"), single("content-length")) {
        (Single::Absent, Single::Absent) => Length::Unstated,
        (Single::Absent, Single::One(digits)) => count(digits.trim_ascii()),
        _ => Length::Broken,
    };
    Head {
        method: request.method.unwrap_or_default().to_owned(),
        target: request.path.unwrap_or_default().to_owned(),
        host: single("host"),
        origin: single("origin"),
        token: single(TOKEN_HEADER),
        content_type: single("content-type"),
        length,
    }
}

fn count(digits: &[u8]) -> Length {
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return Length::Broken;
    }
    let add = |sum: u64, digit: &u8| sum.saturating_mul(10).saturating_add(u64::from(digit - b'0'));
    Length::Bytes(digits.iter().fold(0, add))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(text: &str) -> Head {
        match read(text.as_bytes()) {
            Reading::Whole(head, length) => {
                assert_eq!(length, text.find("\r\n\r\n").unwrap() + 4);
                head
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_head_is_read_when_all_of_it_is_there() {
        let text = "POST /feedback HTTP/1.1\r\nHOST: 127.0.0.1:8642\r\nOrigin:  http://127.0.0.1:8642 \r\n\
                    Content-Type: application/json\r\nContent-Length: 2\r\nX-Skill-Lift-Token: t\r\n\r\n{}";
        let head = whole(text);
        assert_eq!((head.method.as_str(), head.target.as_str()), ("POST", "/feedback"));
        assert_eq!(head.host.text(), Some("127.0.0.1:8642"));
        assert_eq!(head.origin.text(), Some("http://127.0.0.1:8642"));
        assert_eq!((head.token.text(), head.length), (Some("t"), Length::Bytes(2)));
        let end = text.len() - 2;
        for cut in 0..end {
            assert_eq!(read(&text.as_bytes()[..cut]), Reading::Partial, "{cut}");
        }
    }

    #[test]
    fn lengths() {
        let of = |headers: &str| whole(&format!("POST / HTTP/1.1\r\n{headers}\r\n")).length;
        assert_eq!(of(""), Length::Unstated);
        assert_eq!(of("content-length: 007\r\n"), Length::Bytes(7));
        assert_eq!(of("content-length: 99999999999999999999999\r\n"), Length::Bytes(u64::MAX));
        for broken in [
            "content-length: -1\r\n",
            "content-length: +1\r\n",
            "content-length: 1, 1\r\n",
            "content-length:\r\n",
            "content-length: 0x10\r\n",
            "content-length: 1\r\ncontent-length: 1\r\n",
            "transfer-encoding: chunked\r\n",
            "transfer-encoding: chunked\r\ncontent-length: 5\r\n",
        ] {
            assert_eq!(of(broken), Length::Broken, "{broken}");
        }
    }

    #[test]
    fn a_header_that_is_there_twice_is_not_chosen_from() {
        let head = whole("GET / HTTP/1.1\r\nhost: a\r\nHost: b\r\n\r\n");
        assert_eq!((head.host.clone(), head.host.text()), (Single::Several, None));
        assert_eq!(whole("GET / HTTP/1.1\r\nhost: \u{e9}\r\n\r\n").host.text(), Some("\u{e9}"));
    }

    #[test]
    fn what_is_no_request() {
        let large = format!("GET / HTTP/1.1\r\nx: {}", "y".repeat(MOST_HEAD_BYTES));
        let many = format!("GET / HTTP/1.1\r\n{}\r\n", "a: b\r\n".repeat(MOST_HEADERS + 1));
        let late = format!("{large}\r\n\r\n");
        for bytes in [
            large.as_bytes(),
            many.as_bytes(),
            late.as_bytes(),
            b"\x16\x03\x01\x02\x00",
            b"GET / HTTP/9\r\n\r\n",
            b"GET / HTTP/1.1\r\na b: c\r\n\r\n",
            b"\0\0\0\0",
        ] {
            assert!(
                matches!(read(bytes), Reading::Broken(_)),
                "{:?}",
                String::from_utf8_lossy(&bytes[..bytes.len().min(40)])
            );
        }
    }
}
