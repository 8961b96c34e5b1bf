//! Inline flags: `(?i)`, `(?i:…)`, `(?i-s:…)`.

use super::PatternError;
use super::ast::Flags;
use super::parse::Parser;
use crate::unicode::is_word;

impl Parser {
    /// `(?flags)`, `(?flags:` or `(?flags-flags:` after its first character; `None` for global flags.
    pub(super) fn inline_flags(&mut self, first: char) -> Result<Option<(Flags, Flags)>, PatternError> {
        let mut add = Flags::NONE;
        let mut letter = first;
        while letter != '-' {
            let flag = Flags::from_letter(letter).unwrap_or_default();
            if flag == Flags::LOCALE {
                return Err(self.reader.error("bad inline flags: cannot use 'L' flag with a str pattern", 0));
            }
            add |= flag;
            if flag.any(Flags::TYPES) && (add & Flags::TYPES) != flag {
                let reason = "bad inline flags: flags 'a', 'u' and 'L' are incompatible";
                return Err(self.reader.error(reason, 0));
            }
            letter = self.next_flag("missing -, : or )", &[')', '-', ':'])?;
            if letter == ')' {
                self.flags |= add;
                return Ok(None);
            }
            if letter == ':' {
                break;
            }
        }
        if add.any(Flags::TEMPLATE) {
            return Err(self.reader.error("bad inline flags: cannot turn on global flag", 1));
        }
        let remove = if letter == '-' { self.removed_flags()? } else { Flags::NONE };
        if remove.any(Flags::TEMPLATE) {
            return Err(self.reader.error("bad inline flags: cannot turn off global flag", 1));
        }
        if add.any(remove) {
            return Err(self.reader.error("bad inline flags: flag turned on and off", 1));
        }
        Ok(Some((add, remove)))
    }

    /// The flags between `-` and `:`, which is taken too.
    fn removed_flags(&mut self) -> Result<Flags, PatternError> {
        let mut remove = Flags::NONE;
        let mut letter = self.next_flag("missing flag", &[])?;
        while letter != ':' {
            let flag = Flags::from_letter(letter).unwrap_or_default();
            if flag.any(Flags::TYPES) {
                let reason = "bad inline flags: cannot turn off flags 'a', 'u' and 'L'";
                return Err(self.reader.error(reason, 0));
            }
            remove |= flag;
            letter = self.next_flag("missing :", &[':'])?;
        }
        Ok(remove)
    }

    /// The next flag letter or one of `ends`.
    fn next_flag(&mut self, missing: &str, ends: &[char]) -> Result<char, PatternError> {
        let Some(token) = self.reader.take()? else {
            return Err(self.reader.error(missing, 0));
        };
        match token.plain() {
            Some(letter) if ends.contains(&letter) || Flags::from_letter(letter).is_some() => Ok(letter),
            Some(letter) if is_alphabetic(letter) => Err(self.reader.error("unknown flag", 1)),
            _ => Err(self.reader.error(missing, token.length())),
        }
    }
}

/// `str.isalpha`: a letter, unlike `char::is_alphabetic` neither a mark nor a number.
fn is_alphabetic(character: char) -> bool {
    is_word(character) && !character.is_numeric() && character != '_'
}
