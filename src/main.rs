//! The `skill-lift` program.

use std::process::ExitCode;

/// Grading makes and drops many small things a run on every thread, which this allocator does in about a sixth less time.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The option `purge_delay` of the allocator, by its number in `mimalloc.h` (the same in versions 2 and 3).
const PURGE_DELAY: libmimalloc_sys::mi_option_t = 15;

fn main() -> ExitCode {
    // as in version 2 of the allocator: keeping all of it takes a third more memory, giving it back at once more time
    // SAFETY: the function stores a number in a table of options, at an index it checks; it may be called at any time,
    // and no other thread runs yet.
    #[expect(unsafe_code, reason = "an option of the allocator that keeps the memory of a run flat")]
    unsafe {
        libmimalloc_sys::mi_option_set(PURGE_DELAY, 10);
    }
    skill_lift::cli::run()
}
