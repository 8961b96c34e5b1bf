//! Python regular expressions (`re` of CPython 3.11, `str` patterns): the same syntax errors, the same matches.
//!
//! A pattern is parsed once into a tree of our own and searched by one of two engines over that tree. The linear
//! engine takes everything a finite automaton can do exactly; what it cannot do goes to the backtracking
//! one, which has a budget, and never is a guess. The user's pattern string is handed to no other crate.

mod alias;
mod alphabet;
mod ast;
mod backtrack;
mod bracket;
mod escape;
mod flags;
mod fold;
mod linear;
mod literal;
mod name;
mod necessary;
mod node;
mod parse;
mod program;
mod resolve;
mod set;
mod shelf;
#[cfg(test)]
mod tests;
mod token;

use ast::Flags;
use linear::Linear;
use necessary::Necessary;
use node::Node;
use program::Program;
use shelf::{Engines, Shelf};
use std::ops::Range;

/// A pattern that Python's `re` accepts.
///
/// Parse it once and search many texts with it, from several threads if need be; the engines are built when a search
/// first needs them.
#[derive(Debug)]
pub struct Pattern {
    source: String,
    tree: Node,
    /// The number of capturing groups.
    groups: usize,
    /// Whether a repeated part can match nothing.
    empty_iterations: bool,
    shelf: Shelf,
}

/// Why Python's `re` refuses a pattern.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}{}", position.map(|position| format!(" at position {position}")).unwrap_or_default())]
pub struct PatternError {
    /// The reason in Python's words.
    pub reason: String,
    /// Where, in code points from the start of the pattern; `None` when the whole pattern is at fault.
    pub position: Option<usize>,
}

/// What a search found out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Search {
    /// The leftmost match, in byte offsets of the text.
    ///
    /// The end is Python's, but for one case: a pattern that repeats a part which can match nothing, on a text where
    /// only the linear engine comes to an end; whether and where a match starts is exact even then.
    Match(Range<usize>),
    /// The pattern matches nowhere.
    NoMatch,
    /// The search took more steps than it may; neither a match nor the absence of one is proven.
    BudgetExceeded,
}

/// Why the linear engine cannot answer exactly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum NeedsBacktracking {
    /// `(?=…)`, `(?!…)`, `(?<=…)`, `(?<!…)`.
    #[error("look-around")]
    LookAround,
    /// `\1`, `(?P=name)`.
    #[error("back-reference")]
    BackReference,
    /// `(?(1)…|…)`.
    #[error("conditional group")]
    Conditional,
    /// `(?>…)`.
    #[error("atomic group")]
    Atomic,
    /// `a*+`, `a++`, `a?+`, `a{1,2}+`.
    #[error("possessive quantifier")]
    Possessive,
    /// `$` before the end of the pattern, on a text that ends with a newline.
    #[error("`$` before the end of the pattern on a text that ends with a newline")]
    EndAnchor,
    /// Word boundaries of Unicode and of ASCII in one pattern, or any of them on an empty text.
    #[error("word boundaries of two kinds, or on an empty text")]
    WordBoundary,
    /// The automaton would take more memory than allowed.
    #[error("automaton too large")]
    TooLarge,
}

impl Pattern {
    /// Parses `source` as `re.compile(source, re.IGNORECASE if ignore_case else 0)` does.
    ///
    /// # Errors
    ///
    /// What Python refuses, in its words; also groups nested more than 200 deep (`too deeply nested`), where Python's
    /// own limit is its recursion limit.
    pub fn parse(source: &str, ignore_case: bool) -> Result<Self, PatternError> {
        let flags = if ignore_case { Flags::IGNORE_CASE } else { Flags::NONE };
        let parsed = parse::parse(source, flags)?;
        let tree = resolve::resolve(&parsed)?;
        Ok(Self {
            source: source.to_owned(),
            empty_iterations: tree.any(&Node::has_empty_iterations),
            tree,
            groups: parsed.groups.len() - 1,
            shelf: Shelf::default(),
        })
    }

    /// The pattern as it was written.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Texts that stand in every match, in their order. Where case is ignored there are none of letters.
    #[must_use]
    pub fn literals(&self) -> Vec<String> {
        literal::literals(&self.tree)
    }

    /// Whether nothing in the pattern itself keeps the linear engine from searching with it.
    ///
    /// A text can still do so, see [`NeedsBacktracking::EndAnchor`] and [`NeedsBacktracking::WordBoundary`].
    #[must_use]
    pub fn is_linear(&self) -> bool {
        linear::obstacle(&self.tree).is_none()
    }

    /// Searches `text` for the leftmost match, as `re.search` does.
    ///
    /// Linear where that is exact, else by backtracking within a budget of 20,000,000 steps.
    #[must_use]
    pub fn search(&self, text: &str) -> Search {
        let engines = self.shelf.engines();
        match self.linear(&engines, text) {
            Err(_) => {
                let necessary = engines.necessary.get_or_init(|| Necessary::of(&self.tree));
                match necessary.earliest(text) {
                    Some(earliest) => backtrack::search(self.program(&engines), text, earliest),
                    None => Search::NoMatch,
                }
            }
            Ok(Search::Match(range)) if self.empty_iterations => {
                // when the budget does not reach so far, the end of the linear engine stands
                match backtrack::search_at(self.program(&engines), text, range.start) {
                    Search::Match(exact) => Search::Match(range.start..exact.end),
                    _ => Search::Match(range),
                }
            }
            Ok(decided) => decided,
        }
    }

    /// Searches with the linear engine only.
    ///
    /// Whether and where a match starts is exact. Where it ends is not when a repeated part can match nothing, as in
    /// `(?:.??)+`: Python's order of trying such iterations is not that of an automaton.
    ///
    /// # Errors
    ///
    /// Why the pattern, or this pattern on this text, needs the backtracking engine.
    pub fn search_linear(&self, text: &str) -> Result<Search, NeedsBacktracking> {
        self.linear(&self.shelf.engines(), text)
    }

    /// Searches with the backtracking engine only.
    #[must_use]
    pub fn search_backtracking(&self, text: &str) -> Search {
        backtrack::search(self.program(&self.shelf.engines()), text, 0)
    }

    fn linear(&self, engines: &Engines, text: &str) -> Result<Search, NeedsBacktracking> {
        match engines.linear.get_or_init(|| Linear::compile(&self.tree)) {
            Ok(linear) => linear.search(text),
            Err(obstacle) => Err(*obstacle),
        }
    }

    fn program<'e>(&self, engines: &'e Engines) -> &'e Program {
        engines.program.get_or_init(|| Program::compile(&self.tree, self.groups))
    }
}

impl PatternError {
    fn new(reason: impl Into<String>, position: usize) -> Self {
        Self { reason: reason.into(), position: Some(position) }
    }

    fn anywhere(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), position: None }
    }
}
