//! What a backslash means, outside and inside of `[…]`.

use super::PatternError;
use super::ast::{Anchor, Category, CategoryKind, Item, Member};
use super::name::character_named;
use super::parse::Parser;
use crate::python::repr_str;

impl Parser {
    /// An escape outside of `[…]`, after its first two characters.
    pub(super) fn escape(&mut self, character: char) -> Result<Item, PatternError> {
        if let Some(anchor) = anchor(character) {
            return Ok(Item::At(anchor));
        }
        if let Some(category) = category(character) {
            return Ok(Item::Class { negated: false, members: vec![Member::Category(category)] });
        }
        match character {
            '0' => self.zero_escape().map(Item::Literal),
            '1'..='9' => self.numbered_escape(character),
            _ => self.literal_escape(character).map(Item::Literal),
        }
    }

    /// An escape inside of `[…]`, after its first two characters.
    pub(super) fn class_escape(&mut self, character: char) -> Result<Member, PatternError> {
        if let Some(category) = category(character) {
            return Ok(Member::Category(category));
        }
        match character {
            'b' => Ok(Member::Literal(0x08)),
            '0'..='7' => {
                let mut digits = String::from(character);
                digits.push_str(&self.reader.take_while(2, is_octal)?);
                self.octal_value(&digits).map(Member::Literal)
            }
            _ => self.literal_escape(character).map(Member::Literal),
        }
    }

    /// Escapes that mean one character everywhere.
    fn literal_escape(&mut self, character: char) -> Result<u32, PatternError> {
        match character {
            'a' => Ok(0x07),
            'f' => Ok(0x0c),
            'n' => Ok(0x0a),
            'r' => Ok(0x0d),
            't' => Ok(0x09),
            'v' => Ok(0x0b),
            'x' => self.hexadecimal('x', 2),
            'u' => self.hexadecimal('u', 4),
            'U' => self.hexadecimal('U', 8),
            'N' => self.named_character(),
            _ if character.is_ascii_alphanumeric() => Err(self.bad_escape(&format!("\\{character}"))),
            _ => Ok(character.into()),
        }
    }

    fn hexadecimal(&mut self, letter: char, length: usize) -> Result<u32, PatternError> {
        let digits = self.reader.take_while(length, |character| character.is_ascii_hexdigit())?;
        let written = format!("\\{letter}{digits}");
        if digits.len() != length {
            return Err(self.reader.error(format!("incomplete escape {written}"), written.len()));
        }
        match u32::from_str_radix(&digits, 16) {
            Ok(code) if code <= u32::from(char::MAX) => Ok(code),
            _ => Err(self.bad_escape(&written)),
        }
    }

    fn named_character(&mut self) -> Result<u32, PatternError> {
        if !self.reader.take_if('{')? {
            return Err(self.reader.error("missing {", 0));
        }
        let name = self.reader.take_until('}', "character name")?;
        character_named(&name).map(u32::from).ok_or_else(|| {
            // The name, and `\N{}` round it.
            let reason = format!("undefined character name {}", repr_str(&name));
            self.reader.error(reason, name.chars().count() + 4)
        })
    }

    /// `\0` and up to two more octal digits.
    fn zero_escape(&mut self) -> Result<u32, PatternError> {
        let digits = self.reader.take_while(2, is_octal)?;
        Ok(u32::from_str_radix(&digits, 8).unwrap_or_default())
    }

    /// Three octal digits, or a reference to a group of one or two decimal digits.
    fn numbered_escape(&mut self, first: char) -> Result<Item, PatternError> {
        let mut digits = String::from(first);
        digits.push_str(&self.reader.take_while(1, |character| character.is_ascii_digit())?);
        if digits.len() == 2 && digits.chars().all(is_octal) {
            digits.push_str(&self.reader.take_while(1, is_octal)?);
            if digits.len() == 3 {
                return self.octal_value(&digits).map(Item::Literal);
            }
        }
        let group = digits.parse::<usize>().unwrap_or_default();
        if group >= self.groups.len() {
            return Err(self.reader.error(format!("invalid group reference {group}"), digits.len()));
        }
        if !self.is_closed(group) {
            return Err(self.reader.error("cannot refer to an open group", digits.len() + 1));
        }
        self.check_look_behind(group)?;
        Ok(Item::BackReference(group))
    }

    fn octal_value(&self, digits: &str) -> Result<u32, PatternError> {
        match u32::from_str_radix(digits, 8) {
            Ok(code) if code <= 0o377 => Ok(code),
            _ => {
                let reason = format!("octal escape value \\{digits} outside of range 0-0o377");
                Err(self.reader.error(reason, digits.len() + 1))
            }
        }
    }

    fn bad_escape(&self, written: &str) -> PatternError {
        self.reader.error(format!("bad escape {written}"), written.chars().count())
    }
}

fn is_octal(character: char) -> bool {
    character.is_digit(8)
}

fn anchor(character: char) -> Option<Anchor> {
    Some(match character {
        'A' => Anchor::StartOfText,
        'Z' => Anchor::EndOfText,
        'b' => Anchor::WordBoundary,
        'B' => Anchor::NotWordBoundary,
        _ => return None,
    })
}

fn category(character: char) -> Option<Category> {
    let kind = match character.to_ascii_lowercase() {
        'd' => CategoryKind::Digit,
        's' => CategoryKind::Space,
        'w' => CategoryKind::Word,
        _ => return None,
    };
    Some(Category { kind, negated: character.is_ascii_uppercase() })
}
