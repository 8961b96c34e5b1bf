//! The backtracking engine: everything Python's `re` can do, within a budget of steps.
//!
//! Alternatives are kept on a stack of our own and every register that changes is noted on a trail, so that a long
//! text costs memory that is bounded, and no recursion.

use super::Search;
use super::ast::RepeatKind;
use super::fold::Folding;
use super::node::Position;
use super::program::{Instruction, Loop, Program, Single, end_register, start_register};
use crate::unicode::is_word;

/// Steps a search may take. An instruction is one; so are a few characters that a repeated class looks at.
const STEP_BUDGET: u64 = 20_000_000;
/// Characters of a run that count as one step.
const CHARACTERS_PER_STEP: u64 = 16;
/// Alternatives that may be open at once.
const MAX_ALTERNATIVES: usize = 1 << 20;
/// Changes of registers that may be noted at once.
const MAX_CHANGES: usize = 1 << 21;
/// A register that holds nothing.
const UNSET: usize = usize::MAX;

/// The budget is used up.
struct Exceeded;

/// Searches `text` for the leftmost match of `program`.
///
/// No match starts before `earliest`.
pub(super) fn search(program: &Program, text: &str, earliest: usize) -> Search {
    let mut machine = Machine::new(program, text);
    if program.is_anchored() && earliest > 0 {
        return Search::NoMatch;
    }
    let mut start = Some(earliest);
    while let Some(candidate) = start.and_then(|start| machine.next_candidate(start)) {
        match machine.match_at(candidate) {
            Ok(Some(end)) => return Search::Match(candidate..end),
            Ok(None) => {}
            Err(Exceeded) => return Search::BudgetExceeded,
        }
        start = machine.following(candidate);
    }
    Search::NoMatch
}

/// The match of `program` that starts at `start`.
pub(super) fn search_at(program: &Program, text: &str, start: usize) -> Search {
    match Machine::new(program, text).match_at(start) {
        Ok(Some(end)) => Search::Match(start..end),
        Ok(None) => Search::NoMatch,
        Err(Exceeded) => Search::BudgetExceeded,
    }
}

/// Where to go on when the current way fails.
#[derive(Clone, Copy)]
struct Alternative {
    instruction: usize,
    position: usize,
    /// Length of the trail to go back to.
    changes: usize,
    retry: Retry,
}

#[derive(Clone, Copy)]
enum Retry {
    Once,
    /// A greedy run gives back one character after the other, down to this position.
    Shorter(usize),
    /// A lazy run takes one more character, up to so many.
    Longer(Single, Option<u32>),
}

struct Machine<'p, 't> {
    program: &'p Program,
    text: &'t str,
    registers: Vec<usize>,
    alternatives: Vec<Alternative>,
    /// Registers with their earlier values.
    changes: Vec<(usize, usize)>,
    steps: u64,
}

impl<'p, 't> Machine<'p, 't> {
    fn new(program: &'p Program, text: &'t str) -> Self {
        let registers = vec![UNSET; program.registers];
        Self { program, text, registers, alternatives: Vec::new(), changes: Vec::new(), steps: 0 }
    }

    fn character_at(&self, position: usize) -> Option<char> {
        match self.text.as_bytes().get(position) {
            Some(&byte) if byte < 0x80 => Some(char::from(byte)),
            _ => self.text.get(position..)?.chars().next(),
        }
    }

    fn character_before(&self, position: usize) -> Option<char> {
        self.text.get(..position)?.chars().next_back()
    }

    /// The place after the character at a place where a match was looked for.
    fn following(&self, start: usize) -> Option<usize> {
        if self.program.is_anchored() {
            return None;
        }
        self.character_at(start).map(|character| start + character.len_utf8())
    }

    /// The first place from `start` on where a match can begin, as far as its first character and position tell.
    fn next_candidate(&self, start: usize) -> Option<usize> {
        let Program { first, begins_at, .. } = self.program;
        let skip = |place: usize| match first {
            Some(first) if !self.program.is_anchored() => first.earliest(self.text, place),
            _ => place,
        };
        let mut start = Some(skip(start));
        while let Some(place) = start {
            let character = self.character_at(place);
            let right_character =
                first.as_ref().is_none_or(|first| character.is_some_and(|character| first.contains(character)));
            if right_character && begins_at.is_none_or(|wanted| self.is_at(wanted, place)) {
                break;
            }
            start = self.following(place).map(skip);
        }
        start
    }

    fn accepts(&self, single: Single, character: char) -> bool {
        match single {
            Single::Character(code) => code == u32::from(character),
            Single::Set(index) => self.program.sets.get(index).is_some_and(|set| set.contains(character.into())),
        }
    }

    fn spend(&mut self, steps: u64) -> Result<(), Exceeded> {
        self.steps += steps;
        if self.steps > STEP_BUDGET { Err(Exceeded) } else { Ok(()) }
    }

    fn get(&self, register: usize) -> usize {
        self.registers.get(register).copied().unwrap_or(UNSET)
    }

    fn set(&mut self, register: usize, value: usize) -> Result<(), Exceeded> {
        let Some(slot) = self.registers.get_mut(register) else {
            return Ok(());
        };
        let earlier = std::mem::replace(slot, value);
        // With no alternative left there is nothing to go back to.
        if !self.alternatives.is_empty() && earlier != value {
            if self.changes.len() >= MAX_CHANGES {
                return Err(Exceeded);
            }
            self.changes.push((register, earlier));
        }
        Ok(())
    }

    fn push(&mut self, instruction: usize, position: usize, retry: Retry) -> Result<(), Exceeded> {
        if self.alternatives.len() >= MAX_ALTERNATIVES {
            return Err(Exceeded);
        }
        let changes = self.changes.len();
        self.alternatives.push(Alternative { instruction, position, changes, retry });
        Ok(())
    }

    /// Goes back to the latest alternative: its instruction and position.
    fn retreat(&mut self) -> Result<Option<(usize, usize)>, Exceeded> {
        while let Some(alternative) = self.alternatives.pop() {
            self.spend(1)?;
            while self.changes.len() > alternative.changes {
                if let Some((register, earlier)) = self.changes.pop()
                    && let Some(slot) = self.registers.get_mut(register)
                {
                    *slot = earlier;
                }
            }
            let Alternative { instruction, position, retry, .. } = alternative;
            match retry {
                Retry::Once => return Ok(Some((instruction, position))),
                Retry::Shorter(least) => {
                    if let Some(position) = self.shorten(instruction, position, least)? {
                        if position > least {
                            self.push(instruction, position, retry)?;
                        }
                        return Ok(Some((instruction, position)));
                    }
                }
                Retry::Longer(single, left) => {
                    if let Some((position, left)) = self.lengthen(instruction, position, single, left)? {
                        if left != Some(0) {
                            self.push(instruction, position, Retry::Longer(single, left))?;
                        }
                        return Ok(Some((instruction, position)));
                    }
                }
            }
        }
        Ok(None)
    }

    /// Whether the instruction can match at `position` as far as it alone tells.
    fn may_follow(&self, instruction: usize, position: usize) -> bool {
        match self.program.instructions.get(instruction) {
            Some(Instruction::Single(single)) => {
                self.character_at(position).is_some_and(|character| self.accepts(*single, character))
            }
            Some(Instruction::Position(wanted)) => self.is_at(*wanted, position),
            _ => true,
        }
    }

    /// The end of a greedy run after giving back one character, and more as long as what follows cannot match.
    fn shorten(&mut self, instruction: usize, end: usize, least: usize) -> Result<Option<usize>, Exceeded> {
        let mut position = end;
        while position > least {
            position -= self.character_before(position).map_or(position, char::len_utf8);
            if self.may_follow(instruction, position) {
                self.spend((end - position) as u64 / CHARACTERS_PER_STEP)?;
                return Ok(Some(position));
            }
        }
        self.spend((end - position) as u64 / CHARACTERS_PER_STEP)?;
        Ok(None)
    }

    /// The end of a lazy run after taking one character, and more as long as what follows cannot match; with the
    /// number of characters it may still take.
    fn lengthen(
        &mut self,
        instruction: usize,
        end: usize,
        single: Single,
        left: Option<u32>,
    ) -> Result<Option<(usize, Option<u32>)>, Exceeded> {
        let (mut position, mut left) = (end, left);
        while left != Some(0)
            && let Some(character) = self.character_at(position).filter(|&character| self.accepts(single, character))
        {
            position += character.len_utf8();
            left = left.map(|left| left - 1);
            if self.may_follow(instruction, position) {
                self.spend((position - end) as u64 / CHARACTERS_PER_STEP)?;
                return Ok(Some((position, left)));
            }
        }
        self.spend((position - end) as u64 / CHARACTERS_PER_STEP)?;
        Ok(None)
    }

    /// The end of the match that begins at `start`.
    fn match_at(&mut self, start: usize) -> Result<Option<usize>, Exceeded> {
        self.registers.fill(UNSET);
        self.alternatives.clear();
        self.changes.clear();
        let program = self.program;
        let (mut instruction, mut position) = (0, start);
        loop {
            self.spend(1)?;
            let next = match program.instructions.get(instruction) {
                None | Some(Instruction::Match) => return Ok(Some(position)),
                Some(current) => self.step(current, instruction, position)?,
            };
            match next {
                Some(next) => (instruction, position) = next,
                None => match self.retreat()? {
                    Some(next) => (instruction, position) = next,
                    None => return Ok(None),
                },
            }
        }
    }

    /// Carries out an instruction: where to go on, or `None` when it fails.
    fn step(
        &mut self,
        current: &Instruction,
        index: usize,
        position: usize,
    ) -> Result<Option<(usize, usize)>, Exceeded> {
        let next = index + 1;
        Ok(match *current {
            Instruction::Match => Some((index, position)),
            Instruction::Single(single) => self
                .character_at(position)
                .filter(|&character| self.accepts(single, character))
                .map(|character| (next, position + character.len_utf8())),
            Instruction::Run { single, min, max, kind } => self.run(single, (min, max), kind, next, position)?,
            Instruction::Position(wanted) => self.is_at(wanted, position).then_some((next, position)),
            Instruction::Save(register) => {
                self.set(register, position)?;
                Some((next, position))
            }
            Instruction::Split(other) => {
                self.push(other, position, Retry::Once)?;
                Some((next, position))
            }
            Instruction::Jump(target) => Some((target, position)),
            Instruction::Start(details) => {
                self.set(details.count, 0)?;
                self.set(details.last, UNSET)?;
                Some((next, position))
            }
            Instruction::Greedy(details) => self.greedy(details, next, position)?,
            Instruction::Lazy(details) => {
                if self.get(details.count) < details.min as usize {
                    Some((next + 1, position))
                } else {
                    self.push(next, position, Retry::Once)?;
                    Some((details.exit, position))
                }
            }
            Instruction::LazyMore(details) => {
                if self.may_iterate(details, position) {
                    self.set(details.last, position)?;
                    Some((next, position))
                } else {
                    None
                }
            }
            Instruction::Again { count, target } => {
                self.set(count, self.get(count) + 1)?;
                Some((target, position))
            }
            Instruction::Possessive { details, height } => self.possessive(details, height, next, position)?,
            Instruction::PossessiveAgain { count, height, target } => {
                self.alternatives.truncate(self.get(height));
                self.set(count, self.get(count) + 1)?;
                Some((target, position))
            }
            Instruction::Hold(height) => {
                self.set(height, self.alternatives.len())?;
                Some((next, position))
            }
            Instruction::Cut(height) => {
                self.alternatives.truncate(self.get(height));
                Some((next, position))
            }
            Instruction::Look { height, position: register, width } => {
                self.set(height, self.alternatives.len())?;
                self.set(register, position)?;
                self.back(position, width)?.map(|start| (next, start))
            }
            Instruction::LookEnd { height, position: register } => {
                self.alternatives.truncate(self.get(height));
                Some((next, self.get(register)))
            }
            Instruction::NotLook { height, width, exit } => match self.back(position, width)? {
                None => Some((exit, position)),
                Some(start) => {
                    self.set(height, self.alternatives.len())?;
                    self.push(exit, position, Retry::Once)?;
                    Some((next, start))
                }
            },
            Instruction::NotLookEnd(height) => {
                self.alternatives.truncate(self.get(height));
                None
            }
            Instruction::BackReference { group, folding } => {
                self.repeated(group, folding, position)?.map(|end| (next, end))
            }
            Instruction::UnlessGroup { group, target } => {
                let target = if self.group(group).is_some() { next } else { target };
                Some((target, position))
            }
        })
    }

    /// A repeated single character.
    fn run(
        &mut self,
        single: Single,
        (min, max): (u32, Option<u32>),
        kind: RepeatKind,
        next: usize,
        start: usize,
    ) -> Result<Option<(usize, usize)>, Exceeded> {
        let limit = if kind == RepeatKind::Lazy { Some(min) } else { max };
        let (mut count, mut position, mut least) = (0_u32, start, start);
        while limit.is_none_or(|limit| count < limit) {
            let Some(character) = self.character_at(position).filter(|&character| self.accepts(single, character))
            else {
                break;
            };
            position += character.len_utf8();
            count = count.saturating_add(1);
            if count == min {
                least = position;
            }
        }
        self.spend(u64::from(count) / CHARACTERS_PER_STEP)?;
        if count < min {
            return Ok(None);
        }
        match kind {
            RepeatKind::Greedy if position > least => self.push(next, position, Retry::Shorter(least))?,
            RepeatKind::Lazy => {
                let left = max.map(|max| max - min);
                if left != Some(0) {
                    self.push(next, position, Retry::Longer(single, left))?;
                }
            }
            RepeatKind::Greedy | RepeatKind::Possessive => {}
        }
        Ok(Some((next, position)))
    }

    /// Whether a loop that has its least number of iterations may begin another one.
    fn may_iterate(&self, details: Loop, position: usize) -> bool {
        details.max.is_none_or(|max| self.get(details.count) < max as usize) && self.get(details.last) != position
    }

    fn greedy(&mut self, details: Loop, body: usize, position: usize) -> Result<Option<(usize, usize)>, Exceeded> {
        if self.get(details.count) < details.min as usize {
            return Ok(Some((body, position)));
        }
        if !self.may_iterate(details, position) {
            return Ok(Some((details.exit, position)));
        }
        self.push(details.exit, position, Retry::Once)?;
        self.set(details.last, position)?;
        Ok(Some((body, position)))
    }

    fn possessive(
        &mut self,
        details: Loop,
        height: usize,
        body: usize,
        position: usize,
    ) -> Result<Option<(usize, usize)>, Exceeded> {
        let enough = self.get(details.count) >= details.min as usize;
        if enough && !self.may_iterate(details, position) {
            return Ok(Some((details.exit, position)));
        }
        self.set(height, self.alternatives.len())?;
        if enough {
            self.push(details.exit, position, Retry::Once)?;
            self.set(details.last, position)?;
        }
        Ok(Some((body, position)))
    }

    /// The position `width` characters before `position`.
    fn back(&mut self, position: usize, width: u32) -> Result<Option<usize>, Exceeded> {
        // A character takes a byte at least.
        if width as usize > position {
            return Ok(None);
        }
        self.spend(width.into())?;
        let mut start = position;
        for _ in 0..width {
            match self.character_before(start) {
                Some(character) => start -= character.len_utf8(),
                None => return Ok(None),
            }
        }
        Ok(Some(start))
    }

    /// Where a group has matched.
    fn group(&self, group: usize) -> Option<(usize, usize)> {
        let (start, end) = (self.get(start_register(group)), self.get(end_register(group)));
        (start != UNSET && end != UNSET && start <= end).then_some((start, end))
    }

    /// The end of another occurrence of what a group has matched, at `position`.
    fn repeated(&mut self, group: usize, folding: Option<Folding>, position: usize) -> Result<Option<usize>, Exceeded> {
        let text = self.text;
        let Some((start, end)) = self.group(group) else {
            return Ok(None);
        };
        let (Some(wanted), Some(rest)) = (text.get(start..end), text.get(position..)) else {
            return Ok(None);
        };
        self.spend(wanted.len() as u64)?;
        let Some(folding) = folding else {
            return Ok(rest.starts_with(wanted).then_some(position + wanted.len()));
        };
        let mut rest = rest.chars();
        let mut length = 0;
        for character in wanted.chars() {
            match rest.next() {
                Some(other) if folding.lower(other.into()) == folding.lower(character.into()) => {
                    length += other.len_utf8();
                }
                _ => return Ok(None),
            }
        }
        Ok(Some(position + length))
    }

    fn is_at(&self, wanted: Position, position: usize) -> bool {
        let bytes = self.text.as_bytes();
        let at_end = position == bytes.len();
        let before_newline = bytes.get(position) == Some(&b'\n');
        match wanted {
            Position::StartOfText => position == 0,
            Position::EndOfText => at_end,
            Position::End => at_end || (before_newline && position + 1 == bytes.len()),
            Position::StartOfLine => position == 0 || bytes.get(position - 1) == Some(&b'\n'),
            Position::EndOfLine => at_end || before_newline,
            Position::Boundary { ascii, negated } => {
                let is_word = |character: char| is_word(character) && (!ascii || character.is_ascii());
                // the byte before is the character before if it is ASCII
                let before = match position.checked_sub(1).map(|before| bytes[before]) {
                    None => false,
                    Some(byte) if byte.is_ascii() => is_word(char::from(byte)),
                    Some(_) => self.character_before(position).is_some_and(is_word),
                };
                let after = self.character_at(position).is_some_and(is_word);
                !bytes.is_empty() && (before != after) != negated
            }
        }
    }
}
