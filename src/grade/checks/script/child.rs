//! Runs a program with bounded time, bounded output and a clean environment, and leaves nothing of it behind.
//!
//! The program leads a process group of its own. When it has ended, or its time is over, the whole group is killed, so
//! that what it started does not outlive it. Pipes are read without blocking: a descendant that left the group and
//! keeps them open cannot hold us up.

use std::ffi::{OsStr, OsString};
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use skill_lift_text::python;

/// Variables that a program gets when they are set; `LC_*` beside them.
const PASSED: [&str; 7] = ["PATH", "HOME", "USER", "LANG", "TZ", "TERM", "TMPDIR"];

/// Says that the program runs inside of an agent, which a grader must not depend on.
const NEVER_PASSED: &str = "CLAUDECODE";

/// How long the output of descendants is waited for after a program has ended.
const LAST_OUTPUT: Duration = Duration::from_secs(1);

/// Longest pause between two looks at a program whose pipes are silent.
const LONGEST_PAUSE: Duration = Duration::from_millis(20);

/// The variables that a program gets.
#[derive(Debug)]
pub struct Environment(Vec<(OsString, OsString)>);

impl Environment {
    /// The usual variables of this process, and those that the user names.
    pub fn of_this_process(pass: &[String]) -> Self {
        Self::of(std::env::vars_os(), pass)
    }

    fn of(variables: impl Iterator<Item = (OsString, OsString)>, pass: &[String]) -> Self {
        let is_passed = |name: &OsStr| {
            name != NEVER_PASSED
                && (PASSED.iter().any(|passed| name == *passed)
                    || name.as_encoded_bytes().starts_with(b"LC_")
                    || pass.iter().any(|passed| name == passed.as_str()))
        };
        let mut passed: Vec<_> = variables.filter(|(name, _)| is_passed(name)).collect();
        // compiled helpers would change the digest of the folder that they lie in
        passed.push(("PYTHONDONTWRITEBYTECODE".into(), "1".into()));
        Self(passed)
    }
}

/// What a program gets, and how much it may use.
#[derive(Debug, Clone, Copy)]
pub struct Task<'t> {
    /// Its standard input; without it there is none.
    pub input: Option<&'t [u8]>,
    /// Seconds after which it is killed.
    pub seconds: f64,
    /// Bytes of each output that are kept, from its start and again from its end.
    pub kept_bytes: usize,
}

/// How a program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// By itself with an exit code, or by a signal, which counts as minus its number.
    Exited(i32),
    /// It was killed because its time was over.
    TimedOut,
}

/// A program that has ended, and what it wrote.
#[derive(Debug)]
pub struct Finished {
    /// How it ended.
    pub ending: Ending,
    /// Its standard output.
    pub stdout: Captured,
    /// Its standard error.
    pub stderr: Captured,
}

/// The start and the end of an output.
#[derive(Debug, Default)]
pub struct Captured {
    head: Vec<u8>,
    tail: Vec<u8>,
    total: u64,
    limit: usize,
}

impl Captured {
    fn new(limit: usize) -> Self {
        Self { limit, ..Self::default() }
    }

    fn push(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        let (head, rest) = bytes.split_at(bytes.len().min(self.limit - self.head.len()));
        self.head.extend_from_slice(head);
        self.tail.extend_from_slice(rest);
        // cut at twice the limit, so that bytes are moved once and not with every push
        if self.tail.len() / 2 > self.limit {
            self.tail.drain(..self.tail.len() - self.limit);
        }
    }

    /// Whether it is longer than what is kept of its start.
    pub fn is_cut(&self) -> bool {
        self.total > self.head.len() as u64
    }

    /// Its length in bytes.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// What is kept of its start, with line ends as `\n`.
    pub fn text(&self) -> String {
        decode(&self.head)
    }

    /// The first code points of it.
    pub fn start(&self, characters: usize) -> String {
        let mut text = self.text();
        if let Some((cut, _)) = text.char_indices().nth(characters) {
            text.truncate(cut);
        }
        text
    }

    /// What is kept of its end; a line whose start is lost is left out.
    pub fn end(&self) -> String {
        if !self.is_cut() {
            return self.text();
        }
        let is_whole = self.total == (self.head.len() + self.tail.len()) as u64;
        if is_whole {
            return decode(&[self.head.as_slice(), &self.tail].concat());
        }
        let end = decode(&self.tail);
        end.split_once('\n').map(|(_, whole)| whole.to_owned()).unwrap_or_default()
    }
}

fn decode(bytes: &[u8]) -> String {
    python::universal_newlines(&String::from_utf8_lossy(bytes)).into_owned()
}

/// Runs a program to its end.
///
/// The error says why it cannot be started or watched, without a path.
pub fn run(mut command: Command, environment: &Environment, task: Task<'_>) -> Result<Finished, String> {
    let deadline = Duration::try_from_secs_f64(task.seconds).ok().and_then(|time| Instant::now().checked_add(time));
    let stdin = if task.input.is_some() { Stdio::piped() } else { Stdio::null() };
    command.env_clear().envs(environment.0.iter().map(|(name, value)| (name, value)));
    command.process_group(0).stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped());
    let group = Group::start(&mut command)?;
    Watched::new(group, task).and_then(|watched| watched.finish(deadline)).map_err(|error| plain(&error))
}

/// What the system says, without the number that Rust appends.
fn plain(error: &io::Error) -> String {
    let text = error.to_string().to_lowercase();
    text.split_once(" (os error").map(|(words, _)| words.to_owned()).unwrap_or(text)
}

/// A child that leads a process group. Dropping it kills the group and reaps the child.
struct Group {
    child: Child,
}

/// The leaders of the groups that run.
static LEADERS: Mutex<Vec<Pid>> = Mutex::new(Vec::new());

fn leaders() -> MutexGuard<'static, Vec<Pid>> {
    // nothing can be half-changed under this lock
    LEADERS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Kills every program that runs, with what it started: the process is about to end.
///
/// From now on none can be started, and whoever watched one waits for the end of the process, so that nobody takes a
/// program that was killed here for one that failed.
pub fn end_all() {
    let leaders = leaders();
    for leader in leaders.iter() {
        let _ = kill_process_group(*leader, Signal::KILL);
    }
    std::mem::forget(leaders);
}

impl Group {
    fn start(command: &mut Command) -> Result<Self, String> {
        // held while the child is started, so that none can slip through
        let mut leaders = leaders();
        let child = command.spawn().map_err(|error| plain(&error))?;
        leaders.push(Pid::from_child(&child));
        Ok(Self { child })
    }

    /// Whether the child has ended; it is not reaped, so its number still names the group.
    fn has_ended(&self) -> io::Result<bool> {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        Ok(waitid(WaitId::Pid(Pid::from_child(&self.child)), options)?.is_some())
    }

    /// Takes the group off the list: once the child is reaped its number may name something else.
    fn forget(&self) {
        let leader = Pid::from_child(&self.child);
        leaders().retain(|other| *other != leader);
    }

    fn kill(&self) {
        // a group whose members have all ended cannot be killed, which is as good
        let _ = kill_process_group(Pid::from_child(&self.child), Signal::KILL);
    }

    /// Reaps the child, which was killed; `None` when the system keeps it, as it does during some file operations.
    fn reap(&mut self) -> Option<ExitStatus> {
        self.forget();
        let until = Instant::now() + LAST_OUTPUT;
        loop {
            match self.child.try_wait() {
                Ok(Some(status)) => return Some(status),
                Ok(None) if Instant::now() < until => thread::sleep(Duration::from_millis(1)),
                _ => return None,
            }
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // after it was reaped its number may name something else
        if !matches!(self.child.try_wait(), Ok(Some(_))) {
            self.kill();
            self.reap();
        }
    }
}

/// One output of a program, until its end.
struct Stream<R> {
    pipe: Option<R>,
    captured: Captured,
}

impl<R: Read + AsFd> Stream<R> {
    fn new(pipe: Option<R>, limit: usize) -> io::Result<Self> {
        if let Some(pipe) = &pipe {
            rustix::io::ioctl_fionbio(pipe, true)?;
        }
        Ok(Self { pipe, captured: Captured::new(limit) })
    }

    /// Takes what is there, at most one buffer of it.
    fn read(&mut self) {
        let Some(pipe) = &mut self.pipe else { return };
        let mut buffer = [0; 16 << 10];
        match pipe.read(&mut buffer) {
            Ok(0) => self.pipe = None,
            Ok(length) => self.captured.push(&buffer[..length]),
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {}
            Err(_) => self.pipe = None,
        }
    }
}

/// A program with its pipes.
struct Watched<'t> {
    group: Group,
    stdin: Option<ChildStdin>,
    input: &'t [u8],
    stdout: Stream<std::process::ChildStdout>,
    stderr: Stream<std::process::ChildStderr>,
}

impl<'t> Watched<'t> {
    fn new(mut group: Group, task: Task<'t>) -> io::Result<Self> {
        let stdin = group.child.stdin.take();
        if let Some(stdin) = &stdin {
            rustix::io::ioctl_fionbio(stdin, true)?;
        }
        let stdout = Stream::new(group.child.stdout.take(), task.kept_bytes)?;
        let stderr = Stream::new(group.child.stderr.take(), task.kept_bytes)?;
        Ok(Self { group, stdin, input: task.input.unwrap_or_default(), stdout, stderr })
    }

    fn finish(mut self, deadline: Option<Instant>) -> io::Result<Finished> {
        let mut ended: Option<Instant> = None;
        let mut pause = Duration::from_millis(1);
        loop {
            let limit =
                deadline.map_or(pause, |deadline| deadline.saturating_duration_since(Instant::now()).min(pause));
            pause = if self.exchange(limit)? { Duration::from_millis(1) } else { (pause * 2).min(LONGEST_PAUSE) };
            if ended.is_none() && self.group.has_ended()? {
                ended = Some(Instant::now());
            }
            let is_over = deadline.is_some_and(|deadline| Instant::now() >= deadline);
            match ended {
                Some(at) if self.is_silent() || is_over || at.elapsed() >= LAST_OUTPUT => break,
                None if is_over => break,
                _ => {}
            }
        }
        self.group.kill();
        self.stdin = None;
        let until = Instant::now() + LAST_OUTPUT;
        while !self.is_silent() && Instant::now() < until {
            self.exchange(LONGEST_PAUSE)?;
        }
        let status = self.group.reap();
        let ending = match (ended, status) {
            (Some(_), Some(status)) => Ending::Exited(exit_code(status)),
            _ => Ending::TimedOut,
        };
        Ok(Finished { ending, stdout: self.stdout.captured, stderr: self.stderr.captured })
    }

    /// Whether both outputs have come to their end.
    fn is_silent(&self) -> bool {
        self.stdout.pipe.is_none() && self.stderr.pipe.is_none()
    }

    /// Reads and writes what is possible; waits for it at most so long. Whether something was possible.
    fn exchange(&mut self, limit: Duration) -> io::Result<bool> {
        let ready = {
            let stdout = self.stdout.pipe.as_ref().map(|pipe| PollFd::new(pipe, PollFlags::IN));
            let stderr = self.stderr.pipe.as_ref().map(|pipe| PollFd::new(pipe, PollFlags::IN));
            let stdin = self.stdin.as_ref().map(|pipe| PollFd::new(pipe, PollFlags::OUT));
            let mut pipes: Vec<PollFd<'_>> = stdout.into_iter().chain(stderr).chain(stdin).collect();
            // no pipe is left: only the end of the program is waited for
            let timeout = Timespec { tv_sec: limit.as_secs() as _, tv_nsec: limit.subsec_nanos() as _ };
            match poll(&mut pipes, Some(&timeout)) {
                Ok(ready) => ready > 0,
                Err(rustix::io::Errno::INTR) => false,
                Err(error) => return Err(error.into()),
            }
        };
        if ready {
            self.stdout.read();
            self.stderr.read();
            self.write();
        }
        Ok(ready)
    }

    fn write(&mut self) {
        let Some(stdin) = &mut self.stdin else { return };
        match stdin.write(self.input) {
            Ok(length) => self.input = &self.input[length..],
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => return,
            // a program may leave its input unread
            Err(_) => self.input = &[],
        }
        if self.input.is_empty() {
            self.stdin = None;
        }
    }
}

fn exit_code(status: ExitStatus) -> i32 {
    status.code().or_else(|| status.signal().map(|signal| -signal)).unwrap_or(-1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(text: &str, task: Task<'_>) -> Finished {
        let mut command = Command::new("/bin/sh");
        command.arg("-c").arg(text);
        run(command, &Environment::of_this_process(&[]), task).unwrap()
    }

    const TASK: Task<'_> = Task { input: None, seconds: 30.0, kept_bytes: 1 << 20 };

    #[test]
    fn the_environment_is_clean() {
        let variables = [
            ("PATH", "/bin"),
            ("LC_ALL", "C"),
            ("LCX", "1"),
            ("SECRET", "1"),
            ("CLAUDECODE", "1"),
            ("WANTED", "2"),
            ("PYTHONDONTWRITEBYTECODE", "0"),
        ];
        let variables = variables.map(|(name, value)| (OsString::from(name), OsString::from(value)));
        let pass = ["WANTED".to_owned(), "CLAUDECODE".to_owned(), "ABSENT".to_owned()];
        let Environment(passed) = Environment::of(variables.into_iter(), &pass);
        let passed: Vec<_> = passed.iter().map(|(name, _)| name.to_str().unwrap()).collect();
        assert_eq!(passed, ["PATH", "LC_ALL", "WANTED", "PYTHONDONTWRITEBYTECODE"]);
    }

    #[test]
    fn input_is_null_or_what_was_given() {
        assert_eq!(shell("cat; echo end", TASK).stdout.text(), "end\n");
        let long = vec![b'x'; 3 << 20];
        let task = Task { input: Some(&long), ..TASK };
        assert_eq!(shell("wc -c", task).stdout.text().trim(), "3145728");
        // left unread
        let finished = shell("echo done", task);
        assert_eq!((finished.ending, finished.stdout.text().as_str()), (Ending::Exited(0), "done\n"));
    }

    #[test]
    fn endings_are_told_apart() {
        assert_eq!(shell("exit 7", TASK).ending, Ending::Exited(7));
        assert_eq!(shell("kill -KILL $$", TASK).ending, Ending::Exited(-9));
        assert_eq!(shell("exec >&- 2>&-; sleep 0.2; exit 4", TASK).ending, Ending::Exited(4));
        let finished = shell("echo a; exec sleep 50", Task { seconds: 0.3, ..TASK });
        assert_eq!((finished.ending, finished.stdout.text().as_str()), (Ending::TimedOut, "a\n"));
        let missing = run(Command::new("no-such-binary-xyz"), &Environment::of_this_process(&[]), TASK);
        assert_eq!(missing.unwrap_err(), "no such file or directory");
    }

    #[test]
    fn descendants_do_not_hold_us_up_and_do_not_outlive_the_program() {
        let started = Instant::now();
        let folder = tempfile::tempdir().unwrap();
        let mark = folder.path().join("mark");
        let text = format!("(sleep 3; echo late > '{}') & echo out; exit 5", mark.display());
        let finished = shell(&text, TASK);
        assert_eq!((finished.ending, finished.stdout.text().as_str()), (Ending::Exited(5), "out\n"));
        assert!(started.elapsed() < Duration::from_millis(2_900));
        thread::sleep(Duration::from_millis(3_500));
        assert!(!mark.exists());
    }

    #[test]
    fn a_descendant_that_left_the_group_does_not_hold_us_up() {
        let started = Instant::now();
        let finished = shell("setsid sleep 8 & echo out; sleep 50", Task { seconds: 0.5, ..TASK });
        assert_eq!((finished.ending, finished.stdout.text().as_str()), (Ending::TimedOut, "out\n"));
        assert!(started.elapsed() < Duration::from_secs(6));
    }

    #[test]
    fn start_and_end_of_an_output_are_kept() {
        let mut captured = Captured::new(4);
        captured.push(b"ab\r\ncd");
        assert_eq!((captured.is_cut(), captured.text().as_str(), captured.end().as_str()), (true, "ab\n", "ab\ncd"));
        captured.push(b"ef\ngh\n");
        captured.push(b"ij\n");
        assert_eq!((captured.total(), captured.text().as_str(), captured.end().as_str()), (15, "ab\n", "ij\n"));
        assert_eq!(captured.start(1), "a");
        let mut short = Captured::new(4);
        short.push(b"\xffb");
        assert_eq!((short.is_cut(), short.end().as_str()), (false, "\u{fffd}b"));
    }
}
