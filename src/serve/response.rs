//! What is sent back.

/// Why a request is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RefusalKind {
    /// It cannot be understood, or holds no entry.
    Malformed,
    /// It comes from somewhere else.
    Forbidden,
    /// It asks for something else.
    NotFound,
    /// Its sender took too long.
    Slow,
    /// It is too large.
    TooLarge,
    /// It is of another type.
    NotJson,
    /// The page cannot be made.
    Failed,
    /// There are too many at a time.
    Busy,
}

impl RefusalKind {
    /// The status code.
    pub(super) fn status(self) -> u16 {
        match self {
            Self::Malformed => 400,
            Self::Forbidden => 403,
            Self::NotFound => 404,
            Self::Slow => 408,
            Self::TooLarge => 413,
            Self::NotJson => 415,
            Self::Failed => 500,
            Self::Busy => 503,
        }
    }

    fn phrase(self) -> &'static str {
        match self {
            Self::Malformed => "Bad Request",
            Self::Forbidden => "Forbidden",
            Self::NotFound => "Not Found",
            Self::Slow => "Request Timeout",
            Self::TooLarge => "Content Too Large",
            Self::NotJson => "Unsupported Media Type",
            Self::Failed => "Internal Server Error",
            Self::Busy => "Service Unavailable",
        }
    }
}

/// A refusal with its reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Refusal {
    pub(super) kind: RefusalKind,
    pub(super) reason: String,
}

impl Refusal {
    pub(super) fn new(kind: RefusalKind, reason: impl Into<String>) -> Self {
        Self { kind, reason: reason.into() }
    }
}

/// What is sent back.
#[derive(Debug)]
pub(super) enum Response {
    /// The page.
    Page(Vec<u8>),
    /// An entry was stored.
    Stored,
    /// A refusal.
    Refused(Refusal),
}

impl Response {
    /// The head and the body. `policy` is that of the page, without what only a server can say.
    pub(super) fn into_parts(self, policy: &str) -> (String, Vec<u8>) {
        let (status, kind, body) = match self {
            Self::Page(body) => ("200 OK".to_owned(), Some("text/html; charset=utf-8"), body),
            Self::Stored => ("204 No Content".to_owned(), None, Vec::new()),
            Self::Refused(Refusal { kind, reason }) => {
                let body = format!("{}\n", serde_json::json!({"error": reason})).into_bytes();
                (format!("{} {}", kind.status(), kind.phrase()), Some("application/json"), body)
            }
        };
        let policy = policy.trim().trim_end_matches(';');
        let between = if policy.is_empty() { "" } else { "; " };
        let mut head = format!(
            "HTTP/1.1 {status}\r\nConnection: close\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n\
             Referrer-Policy: no-referrer\r\nCross-Origin-Resource-Policy: same-origin\r\n\
             Content-Security-Policy: {policy}{between}connect-src 'self'; frame-ancestors 'none'\r\n"
        );
        // a response without content has no length
        if let Some(kind) = kind {
            head.push_str(&format!("Content-Type: {kind}\r\nContent-Length: {}\r\n", body.len()));
        }
        head.push_str("\r\n");
        (head, body)
    }
}
