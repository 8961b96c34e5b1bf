//! Character classes in brackets.

use super::PatternError;
use super::ast::{Item, Member};
use super::parse::Parser;
use super::token::Token;
use std::collections::HashSet;

impl Parser {
    /// `[…]` after its bracket.
    pub(super) fn class(&mut self) -> Result<Item, PatternError> {
        let start = self.reader.position() - 1;
        let unterminated = || PatternError::new("unterminated character set", start);
        let negated = self.reader.take_if('^')?;
        let mut members: Vec<Member> = Vec::new();
        loop {
            let token = self.reader.take()?.ok_or_else(unterminated)?;
            if token == Token::Plain(']') && !members.is_empty() {
                break;
            }
            let low = self.class_member(token)?;
            if !self.reader.take_if('-')? {
                members.push(low);
                continue;
            }
            let that = self.reader.take()?.ok_or_else(unterminated)?;
            if that == Token::Plain(']') {
                members.extend([low, Member::Literal('-'.into())]);
                break;
            }
            match (low, self.class_member(that)?) {
                (Member::Literal(low), Member::Literal(high)) if low <= high => members.push(Member::Range(low, high)),
                _ => {
                    // Written escapes longer than two characters count with their first two only, as in Python.
                    let reason = format!("bad character range {}-{}", token.written(), that.written());
                    return Err(self.reader.error(reason, token.length() + 1 + that.length()));
                }
            }
        }
        Ok(match (unique(members).as_slice(), negated) {
            (&[Member::Literal(code)], false) => Item::Literal(code),
            (&[Member::Literal(code)], true) => Item::NotLiteral(code),
            (members, _) => Item::Class { negated, members: members.to_vec() },
        })
    }

    fn class_member(&mut self, token: Token) -> Result<Member, PatternError> {
        match token {
            Token::Plain(character) => Ok(Member::Literal(character.into())),
            Token::Escaped(character) => self.class_escape(character),
        }
    }
}

/// The members in order, each once.
pub(super) fn unique(members: Vec<Member>) -> Vec<Member> {
    let mut seen = HashSet::new();
    members.into_iter().filter(|&member| seen.insert(member)).collect()
}
