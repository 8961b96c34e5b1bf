//! The linear engine: a finite automaton for what one can do exactly, and a refusal for everything else.

use super::alphabet::{Alphabet, Letters};
use super::ast::{CategoryKind, RepeatKind};
use super::node::{Node, Position};
use super::set::{ascii_category, unicode_category};
use super::{NeedsBacktracking, Search};
use regex_automata::meta::Regex;
use regex_automata::{Anchored, Input};
use regex_syntax::hir::{Capture, Class, ClassBytes, ClassBytesRange, Hir, Look, Repetition};
use std::borrow::Cow;
use std::ops::Range;

/// Memory an automaton may take, in bytes; the lazily built part has its own, smaller cache.
const SIZE_LIMIT: usize = 16 << 20;

/// A compiled automaton and the texts on which it is exact.
#[derive(Debug)]
pub(super) struct Linear {
    regex: Regex,
    alphabet: Alphabet,
    end: EndAnchor,
    has_boundaries: bool,
}

/// How `$` occurs in a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EndAnchor {
    Absent,
    /// Nothing follows any of them: a final newline may be part of the automaton's match.
    Last,
    /// Something follows: exact only where the text has no final newline.
    Inner,
}

/// Why no automaton can search for `node`, if so.
pub(super) fn obstacle(node: &Node) -> Option<NeedsBacktracking> {
    if has_boundary(node, true) && has_boundary(node, false) {
        return Some(NeedsBacktracking::WordBoundary);
    }
    obstacle_within(node)
}

fn obstacle_within(node: &Node) -> Option<NeedsBacktracking> {
    match node {
        Node::Look { .. } => Some(NeedsBacktracking::LookAround),
        Node::BackReference { .. } => Some(NeedsBacktracking::BackReference),
        Node::Conditional { .. } => Some(NeedsBacktracking::Conditional),
        Node::Atomic(_) => Some(NeedsBacktracking::Atomic),
        Node::Repeat { kind: RepeatKind::Possessive, .. } => Some(NeedsBacktracking::Possessive),
        _ => node.children().into_iter().find_map(obstacle_within),
    }
}

fn has_boundary(node: &Node, wanted_ascii: bool) -> bool {
    node.any(&|part| matches!(part, Node::Position(Position::Boundary { ascii, .. }) if *ascii == wanted_ascii))
}

impl Linear {
    /// Compiles `node`.
    pub(super) fn compile(node: &Node) -> Result<Self, NeedsBacktracking> {
        if let Some(obstacle) = obstacle(node) {
            return Err(obstacle);
        }
        let end = end_anchor(node);
        let word = if has_boundary(node, false) {
            Some(Cow::Borrowed(unicode_category(CategoryKind::Word)))
        } else {
            has_boundary(node, true).then(|| Cow::Owned(ascii_category(CategoryKind::Word)))
        };
        let lines = end == EndAnchor::Last
            || node.any(&|part| matches!(part, Node::Position(Position::StartOfLine | Position::EndOfLine)));
        let (alphabet, letters) = Alphabet::of(node, word.as_deref(), lines).ok_or(NeedsBacktracking::TooLarge)?;
        let limits = Regex::config().utf8_empty(false).nfa_size_limit(Some(SIZE_LIMIT)).dfa(false).onepass(false);
        let regex = Regex::builder()
            .configure(limits)
            .build_from_hir(&to_hir(node, end, &letters))
            .map_err(|_| NeedsBacktracking::TooLarge)?;
        Ok(Self { regex, alphabet, end, has_boundaries: word.is_some() })
    }

    /// Searches `text`.
    pub(super) fn search(&self, text: &str) -> Result<Search, NeedsBacktracking> {
        let ends_with_newline = text.ends_with('\n');
        if self.end == EndAnchor::Inner && ends_with_newline {
            return Err(NeedsBacktracking::EndAnchor);
        }
        // neither `\b` nor `\B` is found in an empty text
        if self.has_boundaries && text.is_empty() {
            return Err(NeedsBacktracking::WordBoundary);
        }
        let symbols = self.alphabet.translate(text);
        let Some(found) = self.regex.find(&symbols) else {
            return Ok(Search::NoMatch);
        };
        let mut range = found.range();
        if self.end == EndAnchor::Last && ends_with_newline && range.end == symbols.len() {
            // The newline belongs to `$`, not to the match, when group 1 took it.
            let mut captures = self.regex.create_captures();
            let input = Input::new(&symbols).range(range.clone()).anchored(Anchored::Yes);
            self.regex.captures(input, &mut captures);
            if let Some(newline) = captures.get_group(1) {
                range.end = newline.start;
            }
        }
        Ok(Search::Match(byte_range(text, range, symbols.len())))
    }
}

/// A range of characters, of which `text` has so many, as a range of bytes.
fn byte_range(text: &str, characters: Range<usize>, count: usize) -> Range<usize> {
    if count == text.len() {
        return characters;
    }
    let length = |text: &str, characters: usize| text.chars().take(characters).map(char::len_utf8).sum::<usize>();
    let start = length(text, characters.start);
    start..start + length(&text[start..], characters.len())
}

fn end_anchor(node: &Node) -> EndAnchor {
    let ends = |part: &Node| matches!(part, Node::Position(Position::End));
    if !node.any(&ends) {
        EndAnchor::Absent
    } else if only_last(node, true) {
        EndAnchor::Last
    } else {
        EndAnchor::Inner
    }
}

/// Whether every `$` of `node` has nothing after it; `last` says so of `node` itself.
fn only_last(node: &Node, last: bool) -> bool {
    match node {
        Node::Position(Position::End) => last,
        Node::Sequence(nodes) => {
            nodes.iter().enumerate().all(|(index, part)| only_last(part, last && index + 1 == nodes.len()))
        }
        Node::Repeat { max, body, .. } => only_last(body, last && max.is_some_and(|max| max <= 1)),
        _ => node.children().into_iter().all(|child| only_last(child, last)),
    }
}

fn to_hir(node: &Node, end: EndAnchor, letters: &Letters) -> Hir {
    match node {
        Node::Sequence(nodes) => Hir::concat(nodes.iter().map(|part| to_hir(part, end, letters)).collect()),
        Node::Alternatives(nodes) => Hir::alternation(nodes.iter().map(|part| to_hir(part, end, letters)).collect()),
        Node::Character(code) => one_of(letters.of(&[(*code, *code)])),
        Node::Set(set) => one_of(letters.of(set.ranges())),
        Node::Position(position) => position_hir(*position, end),
        Node::Group(_, body) => to_hir(body, end, letters),
        Node::Repeat { min, max, kind, body } => Hir::repetition(Repetition {
            min: *min,
            max: *max,
            greedy: *kind == RepeatKind::Greedy,
            sub: Box::new(to_hir(body, end, letters)),
        }),
        // `obstacle` has refused these; a pattern that matches nothing would be the wrong answer only after that.
        Node::Look { .. } | Node::Atomic(_) | Node::BackReference { .. } | Node::Conditional { .. } => Hir::fail(),
    }
}

fn one_of(bytes: &[u8]) -> Hir {
    Hir::class(Class::Bytes(ClassBytes::new(bytes.iter().map(|&byte| ClassBytesRange::new(byte, byte)))))
}

fn position_hir(position: Position, end: EndAnchor) -> Hir {
    Hir::look(match position {
        Position::StartOfText => Look::Start,
        Position::EndOfText => Look::End,
        Position::StartOfLine => Look::StartLF,
        Position::EndOfLine => Look::EndLF,
        // the alphabet makes word characters of either kind word bytes
        Position::Boundary { negated: false, .. } => Look::WordAscii,
        Position::Boundary { negated: true, .. } => Look::WordAsciiNegate,
        Position::End if end == EndAnchor::Last => {
            let newline = Hir::capture(Capture { index: 1, name: None, sub: Box::new(Hir::literal(*b"\n")) });
            let before_newline = Hir::concat(vec![newline, Hir::look(Look::End)]);
            return Hir::alternation(vec![Hir::look(Look::End), before_newline]);
        }
        Position::End => Look::End,
    })
}
