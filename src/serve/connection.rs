//! One connection: one request, one response, and an end in time whatever the other side does.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::request::{self, Head, MOST_HEAD_BYTES, Reading};
use super::response::{Refusal, RefusalKind, Response};
use super::rules::{Action, Rules};
use super::{LOOK_EVERY, Site};
use crate::feedback::Entry;
use crate::json::{Limits, parse};

/// How long the other side may take.
#[derive(Debug, Clone, Copy)]
pub(super) struct Patience {
    /// For a whole request.
    pub(super) request: Duration,
    /// For a whole response.
    pub(super) response: Duration,
    /// For the end, after the response.
    pub(super) farewell: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self { request: Duration::from_secs(10), response: Duration::from_secs(60), farewell: Duration::from_secs(1) }
    }
}

/// Bytes that are read and dropped after a refusal, so that the reason reaches who is still sending.
const MOST_DROPPED_BYTES: usize = 1024 * 1024;

/// Somebody who connected.
pub(super) struct Connection<'s> {
    pub(super) stream: TcpStream,
    pub(super) site: &'s Site<'s>,
    pub(super) rules: Rules<'s>,
    pub(super) making_page: &'s Mutex<()>,
    pub(super) patience: Patience,
    pub(super) stop: &'s AtomicBool,
}

impl Connection<'_> {
    /// Reads the request and answers it. Who goes away early is not missed.
    pub(super) fn answer(mut self) {
        if self.prepare().is_err() {
            return;
        }
        match self.response() {
            Ok(response) => self.send(response),
            Err(_) => drop(self.stream.shutdown(Shutdown::Both)),
        }
    }

    /// Says that there are too many at a time, without waiting.
    pub(super) fn turn_away(mut self) {
        let refusal = Refusal::new(RefusalKind::Busy, "too many connections at a time; try again");
        let (head, body) = Response::Refused(refusal).into_parts(self.site.policy);
        if self.stream.set_nonblocking(true).is_ok() {
            // who does not take it has to do without
            let _ = self.stream.write(&[head.as_bytes(), &body].concat());
        }
    }

    fn prepare(&self) -> io::Result<()> {
        self.stream.set_nonblocking(false)?;
        // so that somebody who asks for the end is heard while nothing comes
        self.stream.set_read_timeout(Some(LOOK_EVERY))?;
        self.stream.set_write_timeout(Some(LOOK_EVERY))
    }

    /// What is sent back; an error when there is nobody to send it to.
    fn response(&mut self) -> io::Result<Response> {
        let deadline = Instant::now() + self.patience.request;
        let (head, rest) = match self.head(deadline)? {
            Ok(read) => read,
            Err(refusal) => return Ok(Response::Refused(refusal)),
        };
        Ok(match self.rules.action(&head) {
            Err(refusal) => Response::Refused(refusal),
            Ok(Action::Page) => self.page(),
            Ok(Action::Store(length)) => match self.body(rest, length, deadline)? {
                Ok(body) => self.store(&body).map_or_else(Response::Refused, |()| Response::Stored),
                Err(refusal) => Response::Refused(refusal),
            },
        })
    }

    /// The head, and what came behind it.
    fn head(&mut self, deadline: Instant) -> io::Result<Result<(Head, Vec<u8>), Refusal>> {
        let mut bytes = Vec::with_capacity(2048);
        let mut piece = [0; 4096];
        loop {
            let Some(count) = self.read(&mut piece, deadline)? else {
                return Ok(Err(slow()));
            };
            bytes.extend_from_slice(&piece[..count]);
            match request::read(&bytes) {
                Reading::Whole(head, length) => return Ok(Ok((head, bytes.split_off(length)))),
                Reading::Broken(reason) => return Ok(Err(Refusal::new(RefusalKind::Malformed, reason))),
                Reading::Partial if bytes.len() > MOST_HEAD_BYTES || count == 0 => {
                    return Ok(Err(Refusal::new(RefusalKind::Malformed, "the request ends early")));
                }
                Reading::Partial => {}
            }
        }
    }

    fn body(&mut self, begun: Vec<u8>, length: usize, deadline: Instant) -> io::Result<Result<Vec<u8>, Refusal>> {
        let mut bytes = begun;
        let mut piece = [0; 8192];
        while bytes.len() < length {
            match self.read(&mut piece, deadline)? {
                None => return Ok(Err(slow())),
                Some(0) => return Ok(Err(Refusal::new(RefusalKind::Malformed, "the entry ends early"))),
                Some(count) => bytes.extend_from_slice(&piece[..count]),
            }
        }
        // one request a connection: what follows is dropped
        bytes.truncate(length);
        Ok(Ok(bytes))
    }

    /// What comes next, nothing at the end; `None` when nothing came in time.
    fn read(&mut self, piece: &mut [u8], deadline: Instant) -> io::Result<Option<usize>> {
        loop {
            if Instant::now() >= deadline {
                return Ok(None);
            }
            match self.stream.read(piece) {
                Ok(count) => return Ok(Some(count)),
                Err(error) => self.go_on_after(error)?,
            }
        }
    }

    /// Passes on what is an end.
    fn go_on_after(&self, error: io::Error) -> io::Result<()> {
        match error.kind() {
            ErrorKind::Interrupted => Ok(()),
            ErrorKind::WouldBlock | ErrorKind::TimedOut if !self.stop.load(Ordering::Relaxed) => Ok(()),
            _ => Err(error),
        }
    }

    fn page(&self) -> Response {
        // a page is large: several at a time would need several times the memory
        let _making = self.making_page.lock().unwrap_or_else(PoisonError::into_inner);
        match (self.site.page)() {
            Ok(page) => Response::Page(page),
            Err(reason) => Response::Refused(Refusal::new(RefusalKind::Failed, reason)),
        }
    }

    fn store(&self, body: &[u8]) -> Result<(), Refusal> {
        let refuse = |reason: String| Refusal::new(RefusalKind::Malformed, reason);
        let text = std::str::from_utf8(body).map_err(|_| refuse("the entry is not valid UTF-8".to_owned()))?;
        let json = parse(text, Limits::SUITE).map_err(|error| refuse(error.to_string()))?;
        let entry = Entry::parse(&json).map_err(|problem| refuse(problem.to_string()))?;
        self.site.feedback.upsert(entry).map_err(|problem| refuse(problem.to_string()))
    }

    fn send(&mut self, response: Response) {
        let (head, body) = response.into_parts(self.site.policy);
        let deadline = Instant::now() + self.patience.response;
        let sent = self.write(head.as_bytes(), deadline).and_then(|()| self.write(&body, deadline));
        if sent.is_ok() {
            self.part();
        }
    }

    fn write(&mut self, mut bytes: &[u8], deadline: Instant) -> io::Result<()> {
        while !bytes.is_empty() {
            if Instant::now() >= deadline {
                return Err(ErrorKind::TimedOut.into());
            }
            match self.stream.write(bytes) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(count) => bytes = &bytes[count..],
                Err(error) => self.go_on_after(error)?,
            }
        }
        Ok(())
    }

    /// Ends the connection so that what was sent arrives: closing it over bytes that nobody read would take it back.
    fn part(&mut self) {
        if self.stream.shutdown(Shutdown::Write).is_err() {
            return;
        }
        let deadline = Instant::now() + self.patience.farewell;
        let mut piece = [0; 16 * 1024];
        let mut dropped = 0;
        while dropped < MOST_DROPPED_BYTES {
            match self.read(&mut piece, deadline) {
                Ok(Some(count)) if count > 0 => dropped += count,
                _ => break,
            }
        }
    }
}

fn slow() -> Refusal {
    Refusal::new(RefusalKind::Slow, "the request took too long")
}
