//! The `skill-lift` program.

use std::process::ExitCode;

fn main() -> ExitCode {
    skill_lift::cli::run()
}
