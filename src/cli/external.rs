//! Commands that other programs add: `skill-lift <name>` runs `skill-lift-<name>` from the path.

use std::ffi::OsString;
use std::io;
use std::process::{self, ExitCode};

use clap::CommandFactory;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use super::CommandLine;
use super::output::fail;

/// Runs the program for a command that is not ours.
pub fn run(words: &[OsString]) -> ExitCode {
    let Some((name, arguments)) = words.split_first() else {
        return ExitCode::from(2);
    };
    let mut program = OsString::from("skill-lift-");
    program.push(name);
    match process::Command::new(&program).args(arguments).status() {
        Ok(status) => match status.code().and_then(|code| u8::try_from(code).ok()) {
            Some(code) => ExitCode::from(code),
            None => fail(&format!("{} was ended by a signal", program.display())),
        },
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let mut unknown = clap::Error::new(ErrorKind::InvalidSubcommand).with_cmd(&CommandLine::command());
            let shown = ContextValue::String(name.display().to_string());
            unknown.insert(ContextKind::InvalidSubcommand, shown);
            // the message goes to standard error; there is nothing else to do if that is closed
            let _ = unknown.print();
            ExitCode::from(2)
        }
        Err(error) => fail(&format!("cannot start {}: {error}", program.display())),
    }
}
