//! The `skill-lift` program.

use std::process::ExitCode;

/// Grading makes and drops many small things a run on every thread, which this allocator does in a fifth less time.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Number of the option in `mimalloc.h`, versions 2 and 3: whether the memory of an arena is committed before it is needed.
const ARENA_EAGER_COMMIT: libmimalloc_sys::mi_option_t = 4;

/// Number of the option in `mimalloc.h`, versions 2 and 3: milliseconds after which unused memory is given back.
const PURGE_DELAY: libmimalloc_sys::mi_option_t = 15;

fn main() -> ExitCode {
    for option in [ARENA_EAGER_COMMIT, PURGE_DELAY] {
        // SAFETY: the function stores a number in a table of options, at an index it checks; it may be called at any
        // time, and no other thread runs yet.
        #[expect(unsafe_code, reason = "options of the allocator that keep the memory of a run flat")]
        unsafe {
            libmimalloc_sys::mi_option_set(option, 0);
        }
    }
    skill_lift::cli::run()
}
