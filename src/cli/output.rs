//! Where results and messages go: results to standard output or a file, everything else to standard error.

use std::fs;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;

use clap::ValueEnum;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use skill_lift_contract::write::{AtomicFile, is_stream};
use skill_lift_text::screen::visible;

use crate::suite::render::MessageStyle;

/// When colours are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Color {
    /// On a terminal that shows them.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

impl Color {
    /// Whether colours go to a stream. A choice on the command line wins over the environment, which wins over what
    /// the stream is.
    pub fn applies(self, is_terminal: bool) -> bool {
        let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        match self {
            Self::Always => true,
            Self::Never => false,
            Self::Auto if set("NO_COLOR").is_some() => false,
            Self::Auto if set("CLICOLOR_FORCE").is_some_and(|value| value != "0") => true,
            Self::Auto if set("FORCE_COLOR").is_some_and(|value| value != "0") => true,
            Self::Auto => is_terminal && set("TERM").is_none_or(|value| value != "dumb"),
        }
    }
}

/// Says `FAIL: …` on standard error, one line a problem; exit code 1.
pub fn fail(message: &str) -> ExitCode {
    for line in message.lines() {
        warn_line(&format!("FAIL: {line}"));
    }
    ExitCode::FAILURE
}

/// Writes a line to standard error, with what a terminal would obey made visible.
pub fn warn_line(line: &str) {
    // standard error may be closed; there is nobody left to tell
    let _ = writeln!(io::stderr().lock(), "{}", visible(line, false));
}

/// Begins a file that the user named. What a link leads to is written, as the user who made the link expects.
pub fn begin_file(path: &Path) -> io::Result<AtomicFile> {
    if leads_to_stream(path) {
        return AtomicFile::through(path);
    }
    let place = path.canonicalize();
    AtomicFile::create(place.as_deref().unwrap_or(path))
}

/// Whether a path leads to a device or a pipe.
pub fn leads_to_stream(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|data| is_stream(&data))
}

/// Writes a product to a file, whole or not at all, or to standard output.
///
/// A closed pipe on standard output is success.
pub fn emit(target: Option<&Path>, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), String> {
    match target {
        Some(path) => {
            let failed = |error: io::Error| format!("cannot write {}: {error}", path.display());
            let mut file = begin_file(path).map_err(failed)?;
            write(&mut file).map_err(failed)?;
            file.commit().map_err(failed)
        }
        None => {
            let mut out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
            match write(&mut out).and_then(|()| out.flush()) {
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
                other => other.map_err(|error| format!("cannot write to standard output: {error}")),
            }
        }
    }
}

/// A bar on standard error that counts what is done; hidden where nobody looks. It is shown only when there is something
/// to wait for.
pub fn progress_bar(quiet: bool, counted: &str) -> ProgressBar {
    if quiet || !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(10));
    match ProgressStyle::with_template(&format!("{{bar:30}} {{pos}}/{{len}} {counted}")) {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

/// Says that the arguments are wrong, and gives the exit code for that.
pub fn usage(message: &str) -> ExitCode {
    warn_line(&format!("error: {message}"));
    warn_line("For more information, try `--help`");
    ExitCode::from(2)
}

/// Columns of the terminal on standard output; `None` when it is none.
pub fn terminal_width() -> Option<usize> {
    let out = io::stdout();
    if !out.is_terminal() {
        return None;
    }
    let columns = rustix::termios::tcgetwinsize(&out).map(|size| usize::from(size.ws_col)).unwrap_or(0);
    Some(if columns == 0 { 80 } else { columns })
}

/// How messages on standard error look.
pub fn message_style(color: Color) -> MessageStyle {
    MessageStyle {
        width: terminal_width().unwrap_or(WIDEST_MESSAGE).clamp(40, WIDEST_MESSAGE),
        color: color.applies(io::stderr().is_terminal()),
        unicode: is_unicode(),
    }
}

/// Columns of a message; more is hard to read.
const WIDEST_MESSAGE: usize = 100;

/// Whether the environment can show more than ASCII.
pub fn is_unicode() -> bool {
    if std::env::var_os("TERM").is_some_and(|term| term == "dumb") {
        return false;
    }
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(|name| {
        let value = std::env::var(name).ok()?;
        (!value.is_empty()).then_some(value)
    });
    // without any setting most systems of today show UTF-8
    locale.is_none_or(|locale| {
        let locale = locale.to_ascii_lowercase();
        locale.contains("utf-8") || locale.contains("utf8")
    })
}
