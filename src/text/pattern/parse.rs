//! Reads a pattern into the syntax tree, refusing what CPython 3.11's `re` refuses.

use super::PatternError;
use super::ast::{Anchor, Flags, Item, Look, Member, RepeatKind, Sequence, UNBOUNDED, Width};
use super::bracket::unique;
use super::name::{decimal, is_identifier};
use super::token::{Reader, Token};
use crate::python::repr_str;
use std::collections::HashMap;

/// How deep groups may nest. Python's own limit is its recursion limit, at about 330 groups.
const MAX_DEPTH: usize = 200;
/// More groups than any pattern has, from where on Python calls a group reference invalid at once.
const MAX_GROUPS: u64 = 1_073_741_823;
/// `int` of a longer run of digits raises an error.
const MAX_DIGITS: usize = 4_300;

/// A pattern as parsed.
#[derive(Debug)]
pub(super) struct Parsed {
    pub(super) body: Sequence,
    /// The flags of the whole pattern.
    pub(super) flags: Flags,
    /// The widths of the groups; index 0 is the whole pattern and stays open.
    pub(super) groups: Vec<Option<Width>>,
}

/// Parses `pattern` with the flags that the caller gave.
pub(super) fn parse(pattern: &str, flags: Flags) -> Result<Parsed, PatternError> {
    let mut parser = Parser {
        reader: Reader::new(pattern)?,
        flags,
        groups: vec![None],
        names: HashMap::new(),
        look_behind_groups: None,
        pending: Vec::new(),
    };
    let body = parser.alternatives(flags.any(Flags::VERBOSE), 0)?;
    if !parser.flags.any(Flags::ASCII) {
        parser.flags |= Flags::UNICODE;
    } else if parser.flags.any(Flags::UNICODE) {
        return Err(PatternError::anywhere("ASCII and UNICODE flags are incompatible"));
    }
    if parser.reader.peek().is_some() {
        return Err(parser.reader.error("unbalanced parenthesis", 0));
    }
    if let Some(&(group, position)) = parser.pending.iter().find(|&&(group, _)| group >= parser.groups.len()) {
        return Err(PatternError::new(format!("invalid group reference {group}"), position));
    }
    Ok(Parsed { body, flags: parser.flags, groups: parser.groups })
}

pub(super) struct Parser {
    pub(super) reader: Reader,
    pub(super) flags: Flags,
    pub(super) groups: Vec<Option<Width>>,
    names: HashMap<String, usize>,
    /// Within a look-behind, the number of groups that were there when it began.
    look_behind_groups: Option<usize>,
    /// Conditional references with their positions; their groups may come later.
    pending: Vec<(usize, usize)>,
}

/// What a `(` opened.
enum Opened {
    Capturing(Option<String>),
    Plain {
        add: Flags,
        remove: Flags,
    },
    Atomic,
    Look(Look),
    Conditional(usize),
    BackReference(usize),
    /// A comment or global flags: nothing to match.
    Nothing,
}

impl Parser {
    /// `a|b|c`, up to `)` or the end.
    fn alternatives(&mut self, verbose: bool, depth: usize) -> Result<Sequence, PatternError> {
        if depth > MAX_DEPTH {
            return Err(self.reader.error("too deeply nested", 0));
        }
        let mut verbose = verbose;
        let mut branches = Vec::new();
        loop {
            branches.push(self.sequence(verbose, depth, depth == 0 && branches.is_empty())?);
            if !self.reader.take_if('|')? {
                return Ok(join_branches(branches));
            }
            if depth == 0 {
                verbose = self.flags.any(Flags::VERBOSE);
            }
        }
    }

    /// Items up to `|`, `)` or the end. Global flags may stand where `first` is set.
    fn sequence(&mut self, verbose: bool, depth: usize, first: bool) -> Result<Sequence, PatternError> {
        let mut verbose = verbose;
        let mut items = Sequence::new();
        while let Some(token) = self.reader.peek() {
            if matches!(token, Token::Plain('|' | ')')) {
                break;
            }
            self.reader.take()?;
            match token {
                Token::Plain(' ' | '\t' | '\n' | '\r' | '\u{b}' | '\u{c}') if verbose => {}
                Token::Plain('#') if verbose => self.skip_comment_line()?,
                Token::Escaped(character) => items.push(self.escape(character)?),
                Token::Plain('[') => items.push(self.class()?),
                Token::Plain(character @ ('*' | '+' | '?' | '{')) => self.quantifier(character, &mut items)?,
                Token::Plain('.') => items.push(Item::Any),
                Token::Plain('^') => items.push(Item::At(Anchor::Start)),
                Token::Plain('$') => items.push(Item::At(Anchor::End)),
                Token::Plain('(') => {
                    let flags_allowed = first && items.is_empty();
                    items.extend(self.group(verbose, depth, flags_allowed)?);
                    if flags_allowed && items.is_empty() {
                        verbose = self.flags.any(Flags::VERBOSE);
                    }
                }
                Token::Plain(character) => items.push(Item::Literal(character.into())),
            }
        }
        Ok(unwrap_plain_groups(items))
    }

    fn skip_comment_line(&mut self) -> Result<(), PatternError> {
        while let Some(token) = self.reader.take()? {
            if token == Token::Plain('\n') {
                break;
            }
        }
        Ok(())
    }

    /// A quantifier after its first character, which may turn out to be a literal `{`.
    fn quantifier(&mut self, character: char, items: &mut Sequence) -> Result<(), PatternError> {
        let after = self.reader.position();
        let bounds = match character {
            '?' => Some((0, 1)),
            '*' => Some((0, UNBOUNDED)),
            '+' => Some((1, UNBOUNDED)),
            _ => self.bounds(after)?,
        };
        let Some((min, max)) = bounds else {
            items.push(Item::Literal(character.into()));
            return Ok(());
        };
        let body = match items.last() {
            None | Some(Item::At(_)) => return Err(PatternError::new("nothing to repeat", after - 1)),
            Some(Item::Repeat { .. }) => return Err(PatternError::new("multiple repeat", after - 1)),
            Some(_) => unwrap_plain_group(items.pop()),
        };
        let kind = if self.reader.take_if('?')? {
            RepeatKind::Lazy
        } else if self.reader.take_if('+')? {
            RepeatKind::Possessive
        } else {
            RepeatKind::Greedy
        };
        items.push(Item::Repeat { min, max, kind, body });
        Ok(())
    }

    /// `{m,n}` after its brace, which is at `after - 1`; `None` when it is no quantifier.
    fn bounds(&mut self, after: usize) -> Result<Option<(u32, u32)>, PatternError> {
        if self.reader.peek_plain() == Some('}') {
            return Ok(None);
        }
        let low = self.reader.take_while(usize::MAX, |character| character.is_ascii_digit())?;
        let high = if self.reader.take_if(',')? {
            self.reader.take_while(usize::MAX, |character| character.is_ascii_digit())?
        } else {
            low.clone()
        };
        if !self.reader.take_if('}')? {
            self.reader.seek(after)?;
            return Ok(None);
        }
        let min = if low.is_empty() { 0 } else { repeat_count(&low)? };
        let max = if high.is_empty() { UNBOUNDED } else { repeat_count(&high)? };
        if max < min {
            return Err(PatternError::new("min repeat greater than max repeat", after));
        }
        Ok(Some((min, max)))
    }

    /// What a `(` opens, up to and with its `)`.
    fn group(&mut self, verbose: bool, depth: usize, flags_allowed: bool) -> Result<Option<Item>, PatternError> {
        let start = self.reader.position() - 1;
        let item = match self.opening(start, flags_allowed)? {
            Opened::Nothing => return Ok(None),
            Opened::BackReference(group) => return Ok(Some(Item::BackReference(group))),
            Opened::Conditional(group) => self.conditional(group, verbose, depth)?,
            Opened::Look(look) => self.look(look, verbose, depth)?,
            Opened::Atomic => Item::Atomic(self.alternatives(verbose, depth + 1)?),
            Opened::Plain { add, remove } => {
                let verbose = (verbose || add.any(Flags::VERBOSE)) && !remove.any(Flags::VERBOSE);
                Item::Group { index: None, add, remove, body: self.alternatives(verbose, depth + 1)? }
            }
            Opened::Capturing(name) => {
                let index = self.open_group(name)?;
                let body = self.alternatives(verbose, depth + 1)?;
                Item::Group { index: Some(index), add: Flags::NONE, remove: Flags::NONE, body }
            }
        };
        if !self.reader.take_if(')')? {
            return Err(PatternError::new("missing ), unterminated subpattern", start));
        }
        if let Item::Group { index: Some(index), body, .. } = &item {
            let width = Width::of(body, &self.groups);
            if let Some(slot) = self.groups.get_mut(*index) {
                *slot = Some(width);
            }
        }
        Ok(Some(item))
    }

    /// Reads what follows a `(` as far as it says what kind of group it is.
    fn opening(&mut self, start: usize, flags_allowed: bool) -> Result<Opened, PatternError> {
        if !self.reader.take_if('?')? {
            return Ok(Opened::Capturing(None));
        }
        let token = self.take_or_end()?;
        Ok(match token {
            Token::Plain('P') => return self.named(),
            Token::Plain(':') => Opened::Plain { add: Flags::NONE, remove: Flags::NONE },
            Token::Plain('#') => {
                self.skip_comment_group(start)?;
                Opened::Nothing
            }
            Token::Plain('=') => Opened::Look(Look { behind: false, negated: false }),
            Token::Plain('!') => Opened::Look(Look { behind: false, negated: true }),
            Token::Plain('<') => match self.take_or_end()? {
                Token::Plain('=') => Opened::Look(Look { behind: true, negated: false }),
                Token::Plain('!') => Opened::Look(Look { behind: true, negated: true }),
                other => {
                    return Err(self
                        .reader
                        .error(format!("unknown extension ?<{}", other.written()), other.length() + 2));
                }
            },
            Token::Plain('(') => Opened::Conditional(self.condition()?),
            Token::Plain('>') => Opened::Atomic,
            Token::Plain(letter) if letter == '-' || Flags::from_letter(letter).is_some() => {
                match self.inline_flags(letter)? {
                    Some((add, remove)) => Opened::Plain { add, remove },
                    None if flags_allowed => Opened::Nothing,
                    None => {
                        let reason = "global flags not at the start of the expression";
                        return Err(PatternError::new(reason, start));
                    }
                }
            }
            other => {
                return Err(self.reader.error(format!("unknown extension ?{}", other.written()), other.length() + 1));
            }
        })
    }

    fn take_or_end(&mut self) -> Result<Token, PatternError> {
        let token = self.reader.take()?;
        token.ok_or_else(|| self.reader.error("unexpected end of pattern", 0))
    }

    fn skip_comment_group(&mut self, start: usize) -> Result<(), PatternError> {
        loop {
            match self.reader.take()? {
                None => return Err(PatternError::new("missing ), unterminated comment", start)),
                Some(Token::Plain(')')) => return Ok(()),
                Some(_) => {}
            }
        }
    }

    /// `(?P<name>…` and `(?P=name)`, after the `P`.
    fn named(&mut self) -> Result<Opened, PatternError> {
        if self.reader.take_if('<')? {
            let name = self.reader.take_until('>', "group name")?;
            self.check_name(&name)?;
            return Ok(Opened::Capturing(Some(name)));
        }
        if self.reader.take_if('=')? {
            let name = self.reader.take_until(')', "group name")?;
            self.check_name(&name)?;
            let group = self.group_named(&name)?;
            if !self.is_closed(group) {
                return Err(self.reader.error("cannot refer to an open group", name.chars().count() + 1));
            }
            self.check_look_behind(group)?;
            return Ok(Opened::BackReference(group));
        }
        let other = self.take_or_end()?;
        Err(self.reader.error(format!("unknown extension ?P{}", other.written()), other.length() + 2))
    }

    fn check_name(&self, name: &str) -> Result<(), PatternError> {
        if is_identifier(name) { Ok(()) } else { Err(self.reader.bad_name(name, 1)) }
    }

    fn group_named(&self, name: &str) -> Result<usize, PatternError> {
        self.names.get(name).copied().ok_or_else(|| {
            self.reader.error(format!("unknown group name {}", repr_str(name)), name.chars().count() + 1)
        })
    }

    fn open_group(&mut self, name: Option<String>) -> Result<usize, PatternError> {
        let index = self.groups.len();
        if let Some(name) = name {
            if let Some(earlier) = self.names.get(&name) {
                let shown = repr_str(&name);
                let reason = format!("redefinition of group name {shown} as group {index}; was group {earlier}");
                return Err(self.reader.error(reason, name.chars().count() + 1));
            }
            self.names.insert(name, index);
        }
        self.groups.push(None);
        Ok(index)
    }

    pub(super) fn is_closed(&self, group: usize) -> bool {
        self.groups.get(group).is_some_and(Option::is_some)
    }

    pub(super) fn check_look_behind(&self, group: usize) -> Result<(), PatternError> {
        match self.look_behind_groups {
            Some(_) if !self.is_closed(group) => Err(self.reader.error("cannot refer to an open group", 0)),
            Some(before) if group >= before => {
                let reason = "cannot refer to group defined in the same lookbehind subpattern";
                Err(self.reader.error(reason, 0))
            }
            _ => Ok(()),
        }
    }

    /// The group of `(?(1)` or `(?(name)`, up to and with its `)`.
    fn condition(&mut self) -> Result<usize, PatternError> {
        let name = self.reader.take_until(')', "group name")?;
        let length = name.chars().count();
        let group = if is_identifier(&name) {
            self.group_named(&name)?
        } else {
            let number = decimal(&name, MAX_DIGITS).ok_or_else(|| self.reader.bad_name(&name, 1))?;
            if number == 0 {
                return Err(self.reader.error("bad group number", length + 1));
            }
            let invalid = || self.reader.error(format!("invalid group reference {number}"), length + 1);
            let group = usize::try_from(number).map_err(|_| invalid())?;
            if number >= MAX_GROUPS {
                return Err(invalid());
            }
            if !self.pending.iter().any(|&(pending, _)| pending == group) {
                self.pending.push((group, self.reader.position() - length - 1));
            }
            group
        };
        self.check_look_behind(group)?;
        Ok(group)
    }

    fn conditional(&mut self, group: usize, verbose: bool, depth: usize) -> Result<Item, PatternError> {
        if depth >= MAX_DEPTH {
            return Err(self.reader.error("too deeply nested", 0));
        }
        let yes = self.sequence(verbose, depth + 1, false)?;
        let no = if self.reader.take_if('|')? {
            let no = self.sequence(verbose, depth + 1, false)?;
            if self.reader.peek_plain() == Some('|') {
                return Err(self.reader.error("conditional backref with more than two branches", 0));
            }
            Some(no)
        } else {
            None
        };
        Ok(Item::Conditional { group, yes, no })
    }

    fn look(&mut self, look: Look, verbose: bool, depth: usize) -> Result<Item, PatternError> {
        let outer = self.look_behind_groups;
        if look.behind && outer.is_none() {
            self.look_behind_groups = Some(self.groups.len());
        }
        let body = self.alternatives(verbose, depth + 1)?;
        self.look_behind_groups = outer;
        Ok(Item::Look(look, body))
    }
}

fn repeat_count(digits: &str) -> Result<u32, PatternError> {
    if digits.len() > MAX_DIGITS {
        let reason = format!("exceeds the limit ({MAX_DIGITS} digits) for integer string conversion");
        return Err(PatternError::anywhere(reason));
    }
    match digits.parse::<u32>() {
        Ok(count) if count != UNBOUNDED => Ok(count),
        _ => Err(PatternError::anywhere("the repetition number is too large")),
    }
}

/// The body of a group that neither captures nor changes flags, or the item itself.
fn unwrap_plain_group(item: Option<Item>) -> Sequence {
    match item {
        Some(Item::Group { index: None, add: Flags::NONE, remove: Flags::NONE, body }) => body,
        item => item.into_iter().collect(),
    }
}

fn unwrap_plain_groups(items: Sequence) -> Sequence {
    items.into_iter().flat_map(|item| unwrap_plain_group(Some(item))).collect()
}

/// One sequence for several branches.
///
/// As in CPython a common beginning is moved out, and branches of single characters become a class. The latter shows
/// when case is ignored: beyond U+FFFF a class takes its members as they are written, a literal does not.
fn join_branches(mut branches: Vec<Sequence>) -> Sequence {
    if branches.len() == 1 {
        return branches.pop().unwrap_or_default();
    }
    let common = common_beginning(&branches);
    let mut joined: Sequence = Sequence::new();
    for (index, branch) in branches.iter_mut().enumerate() {
        let beginning = branch.drain(..common);
        if index == 0 {
            joined.extend(beginning);
        }
    }
    let mut members = Vec::new();
    for branch in &branches {
        match branch.as_slice() {
            [Item::Literal(code)] => members.push(Member::Literal(*code)),
            [Item::Class { negated: false, members: more }] => members.extend(more),
            _ => {
                joined.push(Item::Branch(branches));
                return joined;
            }
        }
    }
    joined.push(Item::Class { negated: false, members: unique(members) });
    joined
}

/// How many items all branches begin with.
fn common_beginning(branches: &[Sequence]) -> usize {
    let Some((first, others)) = branches.split_first() else {
        return 0;
    };
    first
        .iter()
        .enumerate()
        .take_while(|&(index, item)| {
            others.iter().all(|branch| branch.get(index).is_some_and(|other| item.same_simple(other)))
        })
        .count()
}
