//! Ending early: what was started is ended too, and what was half-written is removed.

use std::thread;

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;
use skill_lift_contract::write::discard_unfinished;

use crate::grade::end_programs;

/// Watches for the signals with which people and systems end a program, for the rest of the process.
pub fn watch() {
    // a system that allows no watching ends the program as it always does
    let Ok(mut signals) = Signals::new([SIGINT, SIGTERM]) else {
        return;
    };
    let _ = thread::Builder::new().name("signals".to_owned()).spawn(move || {
        if let Some(signal) = signals.forever().next() {
            end_programs();
            discard_unfinished();
            // ends the process as if nobody had watched, so that whoever started it sees why
            let _ = emulate_default_handler(signal);
        }
    });
}
