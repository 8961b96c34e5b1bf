//! Searching bytes of JSON eight at a time: indentation and strings are most of a text.

/// A one in each byte.
const ONES: u64 = u64::MAX / 0xff;

/// The first place from `at` on that is no white space.
#[inline(always)]
pub(super) fn after_space(bytes: &[u8], mut at: usize) -> usize {
    while matches!(bytes.get(at), Some(b' ' | b'\t' | b'\n' | b'\r')) {
        at += 1;
        // most of it is indentation
        if let Some(next) = bytes[at..].first_chunk() {
            let others = u64::from_le_bytes(*next) ^ (ONES * u64::from(b' '));
            at += others.trailing_zeros() as usize / 8;
        }
    }
    at
}

/// Where from `at` on a quote, a backslash or a control character stands, or the text ends.
#[inline(always)]
pub(super) fn end_of_plain(bytes: &[u8], mut at: usize) -> usize {
    while let Some(next) = bytes[at..].first_chunk() {
        match first_special(u64::from_le_bytes(*next)) {
            None => at += 8,
            Some(offset) => return at + offset,
        }
    }
    let rest = &bytes[at..];
    at + rest.iter().position(|byte| is_special(*byte)).unwrap_or(rest.len())
}

fn is_special(byte: u8) -> bool {
    matches!(byte, b'"' | b'\\' | 0..=0x1f)
}

/// Which of eight bytes, the first in the lowest ones, is a quote, a backslash or a control character.
///
/// The borrow of a subtraction can mark a byte wrongly only above one that is marked rightly (Warren, Hacker's Delight,
/// section 6-1), so that the lowest mark is right.
#[inline(always)]
fn first_special(bytes: u64) -> Option<usize> {
    const HIGH: u64 = ONES << 7;
    let zero = |bytes: u64| bytes.wrapping_sub(ONES) & !bytes;
    let quote = zero(bytes ^ (ONES * u64::from(b'"')));
    let backslash = zero(bytes ^ (ONES * u64::from(b'\\')));
    let control = bytes.wrapping_sub(ONES * 0x20) & !bytes;
    let marks = (quote | backslash | control) & HIGH;
    (marks != 0).then(|| marks.trailing_zeros() as usize / 8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_end_where_a_byte_wise_search_ends_them() {
        for byte in 0..=u8::MAX {
            for place in 0..20 {
                for filler in [0x20, 0x21, 0x23, 0x5b, 0x5d, 0x7f, 0x80, 0xa2, 0xdc, 0xff] {
                    let mut bytes = [filler; 20];
                    bytes[place] = byte;
                    let expected = bytes.iter().position(|byte| is_special(*byte)).unwrap_or(bytes.len());
                    assert_eq!(end_of_plain(&bytes, 0), expected, "{bytes:?}");
                }
            }
        }
    }

    #[test]
    fn white_space_ends_where_a_byte_wise_search_ends_it() {
        for length in 0..40 {
            for end in ["x", "", "\u{b}", "\t\r\n \n\u{a0}"] {
                let text = format!("\n{}{end}", " ".repeat(length));
                let expected = text.find(|c: char| !matches!(c, ' ' | '\t' | '\n' | '\r')).unwrap_or(text.len());
                assert_eq!(after_space(text.as_bytes(), 0), expected, "{text:?}");
            }
        }
    }
}
