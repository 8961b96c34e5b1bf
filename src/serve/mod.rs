//! The review page over HTTP, for one person on the same machine: the page, made afresh, and feedback that comes back.
//!
//! In: a listener on the loopback interface and bytes from whoever connects to it, which may be any page of any site that
//! the person's browser shows. Out: the page for a request that names this address, an entry in a file for one that the
//! page itself sent, a refusal for everything else.
//!
//! HTTP is read with `httparse`, one request a connection: what a browser and a script need, and nothing that would keep a
//! connection alive. What a request may do is decided in `request` and `rules`, without a socket.

mod connection;
mod request;
mod response;
mod rules;
#[cfg(test)]
mod tests;

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::os::fd::AsFd;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::rand::{GetRandomFlags, getrandom};

use crate::feedback::FeedbackFile;
use connection::{Connection, Patience};
use rules::Rules;

/// The longest wait before somebody who asks for the end is heard.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Connections at a time; who comes then is told to come back.
const MOST_CONNECTIONS: usize = 64;

/// Makes the page. It is called for every visit, never twice at a time.
pub type MakePage<'s> = dyn Fn() -> Result<Vec<u8>, String> + Sync + 's;

/// What is served.
#[derive(Clone, Copy)]
pub struct Site<'s> {
    /// Makes the page.
    pub page: &'s MakePage<'s>,
    /// Where feedback goes.
    pub feedback: &'s FeedbackFile,
    /// What the page sends with every entry, and no other page knows. See [`new_token`].
    pub token: &'s str,
    /// The content security policy of the page, without `connect-src` and `frame-ancestors`.
    pub policy: &'s str,
}

/// A listener, and whether it has another port than was asked for.
#[derive(Debug)]
pub struct Bound {
    /// Listens on the loopback interface.
    pub listener: TcpListener,
    /// Whether another program has the port that was asked for.
    pub is_elsewhere: bool,
}

/// Listens on a port of the loopback interface: on a free one for 0, and where the port is taken. No other program is ended
/// for it.
///
/// # Errors
/// When no port can be had.
pub fn bind(port: u16) -> io::Result<Bound> {
    match TcpListener::bind((Ipv4Addr::LOCALHOST, port)) {
        Ok(listener) => Ok(Bound { listener, is_elsewhere: false }),
        Err(error) if error.kind() == io::ErrorKind::AddrInUse => {
            Ok(Bound { listener: TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?, is_elsewhere: true })
        }
        Err(error) => Err(error),
    }
}

/// A token that nobody can guess: 32 hexadecimal digits from the system.
///
/// # Errors
/// When the system has no randomness to give.
pub fn new_token() -> io::Result<String> {
    let mut bytes = [0_u8; 16];
    let mut filled = 0;
    while filled < bytes.len() {
        filled += getrandom(&mut bytes[filled..], GetRandomFlags::empty())?;
    }
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Serves until `stop` is set, then lets what is being stored come to its end.
///
/// # Errors
/// A listener that others than this machine reach, a token or a policy that cannot stand in a header, and a listener that
/// fails.
pub fn serve(listener: &TcpListener, site: &Site<'_>, stop: &AtomicBool) -> io::Result<()> {
    serve_with(listener, site, stop, Patience::default())
}

fn serve_with(listener: &TcpListener, site: &Site<'_>, stop: &AtomicBool, patience: Patience) -> io::Result<()> {
    let refuse = |problem: &str| Err(io::Error::new(io::ErrorKind::InvalidInput, problem));
    let SocketAddr::V4(address) = listener.local_addr()? else {
        return refuse("the page is served on 127.0.0.1 only");
    };
    if *address.ip() != Ipv4Addr::LOCALHOST {
        return refuse("the page is served on 127.0.0.1 only");
    }
    if !is_header_text(site.policy) || !is_header_text(site.token) || site.token.is_empty() {
        return refuse("the token or the policy cannot stand in a header");
    }
    let rules = Rules { port: address.port(), token: site.token };
    let making_page = Mutex::new(());
    let open = AtomicUsize::new(0);
    listener.set_nonblocking(true)?;
    thread::scope(|scope| {
        while !stop.load(Ordering::Relaxed) {
            let stream = match next(listener) {
                Ok(Some(stream)) => stream,
                Ok(None) => continue,
                // too many open files: it may pass
                Err(error) if is_passing(&error) => {
                    thread::sleep(LOOK_EVERY);
                    continue;
                }
                Err(error) => return Err(error),
            };
            let connection = Connection { stream, site, rules, making_page: &making_page, patience, stop };
            if open.fetch_add(1, Ordering::Relaxed) >= MOST_CONNECTIONS {
                open.fetch_sub(1, Ordering::Relaxed);
                connection.turn_away();
                continue;
            }
            let open = &open;
            let started = thread::Builder::new().name("visitor".to_owned()).spawn_scoped(scope, move || {
                let _leaving = Leaving(open);
                connection.answer();
            });
            if started.is_err() {
                open.fetch_sub(1, Ordering::Relaxed);
            }
        }
        Ok(())
    })
}

/// Counts a connection as closed, whatever ended it.
struct Leaving<'c>(&'c AtomicUsize);

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The next connection, if one comes soon.
fn next(listener: &TcpListener) -> io::Result<Option<std::net::TcpStream>> {
    let fd = listener.as_fd();
    let wait = Timespec { tv_sec: 0, tv_nsec: i64::from(LOOK_EVERY.subsec_nanos()) };
    match poll(&mut [PollFd::new(&fd, PollFlags::IN)], Some(&wait)) {
        Ok(0) | Err(rustix::io::Errno::INTR) => return Ok(None),
        Ok(_) => {}
        Err(error) => return Err(error.into()),
    }
    match listener.accept() {
        Ok((stream, _)) => Ok(Some(stream)),
        Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Whether the next connection may well come through: the visitor left, or the process has too much open.
fn is_passing(error: &io::Error) -> bool {
    use rustix::io::Errno;
    let passing =
        [Errno::MFILE, Errno::NFILE, Errno::NOBUFS, Errno::NOMEM, Errno::CONNABORTED, Errno::PROTO, Errno::PERM];
    error.raw_os_error().is_some_and(|code| passing.iter().any(|errno| errno.raw_os_error() == code))
}

fn is_header_text(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b' '..=b'~'))
}
