//! The `skill-lift` program.

use std::process::ExitCode;

/// Grading makes and drops many small things a run on every thread, which this allocator does in about a sixth less time.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Options of the allocator, by their number in `mimalloc.h` (the same in versions 2 and 3), that keep memory flat: an
/// arena is not committed before it is needed, and what is unused for two milliseconds is given back.
const OPTIONS: [(libmimalloc_sys::mi_option_t, std::ffi::c_long); 2] = [(4, 0), (15, 2)];

fn main() -> ExitCode {
    for (option, value) in OPTIONS {
        // SAFETY: the function stores a number in a table of options, at an index it checks; it may be called at any
        // time, and no other thread runs yet.
        #[expect(unsafe_code, reason = "options of the allocator that keep the memory of a run flat")]
        unsafe {
            libmimalloc_sys::mi_option_set(option, value);
        }
    }
    skill_lift::cli::run()
}
