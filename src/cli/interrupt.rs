//! Ending early: what was started is ended too, and what was half-written is removed.

use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::sync_channel;
use std::{fs, process, thread};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;
use skill_lift_contract::write::discard_unfinished;

use crate::grade::end_programs;

/// Whether the next signal only asks for an end in order.
static IN_ORDER: AtomicBool = AtomicBool::new(false);

/// Whether it came.
static STOP: AtomicBool = AtomicBool::new(false);

/// Watches for the signals with which people and systems end a program, for the rest of the process.
pub fn watch() {
    static WATCHING: Once = Once::new();
    WATCHING.call_once(|| {
        let (ready, watched) = sync_channel(1);
        // without a thread the program ends as the system ends it
        let _ = thread::Builder::new().name("signals".to_owned()).spawn(move || {
            let signals = [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|signal| !is_ignored(*signal));
            let Ok(mut signals) = Signals::new(signals) else {
                return;
            };
            let _ = ready.send(());
            for signal in signals.forever() {
                if IN_ORDER.swap(false, Ordering::Relaxed) {
                    STOP.store(true, Ordering::Relaxed);
                    continue;
                }
                end_programs();
                discard_unfinished();
                // ends the process as if nobody had watched, so that whoever started it sees why
                let _ = emulate_default_handler(signal);
                process::exit(128 + signal);
            }
        });
        // what begins next may be interrupted
        let _ = watched.recv();
    });
}

/// From now on the first signal does not end the process but sets what is returned: whoever asks for it comes to an end by
/// itself then. A second one ends it at once.
pub fn stop_in_order() -> &'static AtomicBool {
    IN_ORDER.store(true, Ordering::Relaxed);
    watch();
    &STOP
}

/// Whether the process was started with a signal ignored, as `nohup` does: then it has to go on.
fn is_ignored(signal: i32) -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask & (1 << (signal - 1)) != 0)
}
