//! Words of commands that people paste into a shell.

use std::borrow::Cow;

/// A path as one word of a POSIX shell.
pub(super) fn quoted(path: &str) -> Cow<'_, str> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_./,:=@%+-".contains(&byte);
    // a word that begins like an option would be taken for one
    let path = if path.starts_with('-') { Cow::Owned(format!("./{path}")) } else { Cow::Borrowed(path) };
    if !path.is_empty() && path.bytes().all(is_plain) {
        return path;
    }
    Cow::Owned(format!("'{}'", path.replace('\'', "'\\''")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_a_shell_would_take_apart_is_quoted() {
        for path in ["evals/a-b_1.json", "a:b,c=d@e%f+g", "SUITE"] {
            assert_eq!(quoted(path), path);
        }
        for (path, word) in [
            ("sp ace", "'sp ace'"),
            ("it's", r"'it'\''s'"),
            ("$HOME", "'$HOME'"),
            ("~/a", "'~/a'"),
            ("übung", "'übung'"),
            ("", "''"),
            ("-x", "./-x"),
        ] {
            assert_eq!(quoted(path), word);
        }
    }
}
