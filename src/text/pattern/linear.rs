//! The linear engine: a finite automaton for what one can do exactly, and a refusal for everything else.

use super::ast::RepeatKind;
use super::node::{Node, Position};
use super::{NeedsBacktracking, Search};
use crate::unicode::is_word;
use regex_automata::meta::Regex;
use regex_automata::util::syntax;
use regex_automata::{Anchored, Input};
use regex_syntax::hir::{Capture, Class, ClassUnicode, ClassUnicodeRange, Hir, Look, Repetition};

/// Memory an automaton may take, in bytes; the lazily built part has its own, smaller cache.
const SIZE_LIMIT: usize = 16 << 20;

/// A compiled automaton and the texts on which it is exact.
#[derive(Debug)]
pub(super) struct Linear {
    regex: Regex,
    end: EndAnchor,
    unicode_boundary: bool,
    ascii_boundary: bool,
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
    match node {
        Node::Look { .. } => Some(NeedsBacktracking::LookAround),
        Node::BackReference { .. } => Some(NeedsBacktracking::BackReference),
        Node::Conditional { .. } => Some(NeedsBacktracking::Conditional),
        Node::Atomic(_) => Some(NeedsBacktracking::Atomic),
        Node::Repeat { kind: RepeatKind::Possessive, .. } => Some(NeedsBacktracking::Possessive),
        _ => node.children().into_iter().find_map(obstacle),
    }
}

impl Linear {
    /// Compiles `node`.
    pub(super) fn compile(node: &Node) -> Result<Self, NeedsBacktracking> {
        if let Some(obstacle) = obstacle(node) {
            return Err(obstacle);
        }
        let end = end_anchor(node);
        let boundary = |wanted_ascii: bool| {
            node.any(&|part| matches!(part, Node::Position(Position::Boundary { ascii, .. }) if *ascii == wanted_ascii))
        };
        let regex = Regex::builder()
            .configure(Regex::config().nfa_size_limit(Some(SIZE_LIMIT)).onepass_size_limit(Some(SIZE_LIMIT / 16)))
            .syntax(syntax::Config::new())
            .build_from_hir(&to_hir(node, end))
            .map_err(|_| NeedsBacktracking::TooLarge)?;
        Ok(Self { regex, end, unicode_boundary: boundary(false), ascii_boundary: boundary(true) })
    }

    /// Searches `text`.
    pub(super) fn search(&self, text: &str) -> Result<Search, NeedsBacktracking> {
        let ends_with_newline = text.ends_with('\n');
        if self.end == EndAnchor::Inner && ends_with_newline {
            return Err(NeedsBacktracking::EndAnchor);
        }
        if (self.unicode_boundary && !same_boundaries(text)) || (self.ascii_boundary && !ascii_boundaries(text)) {
            return Err(NeedsBacktracking::WordBoundary);
        }
        let Some(found) = self.regex.find(text) else {
            return Ok(Search::NoMatch);
        };
        let mut range = found.range();
        if self.end == EndAnchor::Last && ends_with_newline && range.end == text.len() {
            // The newline belongs to `$`, not to the match, when group 1 took it.
            let mut captures = self.regex.create_captures();
            let input = Input::new(text).range(range.clone()).anchored(Anchored::Yes);
            self.regex.captures(input, &mut captures);
            if let Some(newline) = captures.get_group(1) {
                range.end = newline.start;
            }
        }
        Ok(Search::Match(range))
    }
}

/// Whether both sets of word characters agree on every character of `text`, and `\B` is not asked of an empty text.
fn same_boundaries(text: &str) -> bool {
    let agrees = |character: char| {
        character.is_ascii()
            || regex_syntax::try_is_word_character(character).is_ok_and(|theirs| theirs == is_word(character))
    };
    !text.is_empty() && (text.is_ascii() || text.chars().all(agrees))
}

/// ASCII boundaries are exact wherever they cannot fall into the middle of a character.
fn ascii_boundaries(text: &str) -> bool {
    !text.is_empty() && text.is_ascii()
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

fn to_hir(node: &Node, end: EndAnchor) -> Hir {
    match node {
        Node::Sequence(nodes) => Hir::concat(nodes.iter().map(|part| to_hir(part, end)).collect()),
        Node::Alternatives(nodes) => Hir::alternation(nodes.iter().map(|part| to_hir(part, end)).collect()),
        Node::Character(code) => match char::from_u32(*code) {
            Some(character) => Hir::literal(character.encode_utf8(&mut [0; 4]).as_bytes()),
            None => Hir::fail(),
        },
        Node::Set(set) => Hir::class(Class::Unicode(ClassUnicode::new(
            set.ranges().iter().flat_map(|&(first, last)| scalar_ranges(first, last)),
        ))),
        Node::Position(position) => position_hir(*position, end),
        Node::Group(_, body) => to_hir(body, end),
        Node::Repeat { min, max, kind, body } => Hir::repetition(Repetition {
            min: *min,
            max: *max,
            greedy: *kind == RepeatKind::Greedy,
            sub: Box::new(to_hir(body, end)),
        }),
        // `obstacle` has refused these; a pattern that matches nothing would be the wrong answer only after that.
        Node::Look { .. } | Node::Atomic(_) | Node::BackReference { .. } | Node::Conditional { .. } => Hir::fail(),
    }
}

fn position_hir(position: Position, end: EndAnchor) -> Hir {
    Hir::look(match position {
        Position::StartOfText => Look::Start,
        Position::EndOfText => Look::End,
        Position::StartOfLine => Look::StartLF,
        Position::EndOfLine => Look::EndLF,
        Position::Boundary { ascii: false, negated: false } => Look::WordUnicode,
        Position::Boundary { ascii: false, negated: true } => Look::WordUnicodeNegate,
        Position::Boundary { ascii: true, negated: false } => Look::WordAscii,
        Position::Boundary { ascii: true, negated: true } => Look::WordAsciiNegate,
        Position::End if end == EndAnchor::Last => {
            let newline = Hir::capture(Capture { index: 1, name: None, sub: Box::new(Hir::literal(*b"\n")) });
            let before_newline = Hir::concat(vec![newline, Hir::look(Look::End)]);
            return Hir::alternation(vec![Hir::look(Look::End), before_newline]);
        }
        Position::End => Look::End,
    })
}

/// The range without surrogates, which no text holds.
fn scalar_ranges(first: u32, last: u32) -> impl Iterator<Item = ClassUnicodeRange> {
    [(first, last.min(0xd7ff)), (first.max(0xe000), last)].into_iter().filter_map(|(first, last)| {
        let (first, last) = (char::from_u32(first)?, char::from_u32(last)?);
        (first <= last).then(|| ClassUnicodeRange::new(first, last))
    })
}
