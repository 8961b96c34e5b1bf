//! The Python text primitives that verdicts and evidence depend on, with CPython 3.11 as the reference.

mod case;
mod number;
mod repr;
mod space;

pub use case::{casefold, lower};
pub use number::{float_repr, format_g, round_half_even};
pub use repr::{repr_list, repr_str};
pub use space::{is_space, split_lines, strip, strip_end, strip_start, universal_newlines};
