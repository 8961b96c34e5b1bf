//! The tree both engines work on: flags applied, classes and case turned into sets of code points.

use super::fold::Folding;
use super::set::CodeSet;

/// Part of a pattern.
#[derive(Clone, Debug)]
pub(super) enum Node {
    /// Parts that match one after the other.
    Sequence(Vec<Node>),
    /// Alternatives, the first that leads to a match wins.
    Alternatives(Vec<Node>),
    /// One character.
    Character(u32),
    /// One character of a set.
    Set(CodeSet),
    /// A position.
    Position(Position),
    /// A group that captures; groups count from 1.
    Group(usize, Box<Node>),
    Repeat {
        min: u32,
        /// `None` without an upper bound.
        max: Option<u32>,
        kind: super::ast::RepeatKind,
        body: Box<Node>,
    },
    Look {
        look: super::ast::Look,
        /// The code points a look-behind goes back.
        width: u32,
        body: Box<Node>,
    },
    Atomic(Box<Node>),
    BackReference {
        group: usize,
        /// How case is ignored, if at all.
        folding: Option<Folding>,
    },
    Conditional {
        group: usize,
        yes: Box<Node>,
        no: Box<Node>,
    },
}

/// A position in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Position {
    StartOfText,
    EndOfText,
    /// The end, or before a newline that is the last character.
    End,
    /// After a newline, or the start.
    StartOfLine,
    /// Before a newline, or the end.
    EndOfLine,
    /// Between a word character and another one; neither this nor its negation is found in an empty text.
    Boundary {
        ascii: bool,
        negated: bool,
    },
}

impl Node {
    /// The sub-trees.
    pub(super) fn children(&self) -> Vec<&Self> {
        match self {
            Self::Sequence(nodes) | Self::Alternatives(nodes) => nodes.iter().collect(),
            Self::Group(_, body) | Self::Repeat { body, .. } | Self::Look { body, .. } | Self::Atomic(body) => {
                vec![body]
            }
            Self::Conditional { yes, no, .. } => vec![yes, no],
            Self::Character(_) | Self::Set(_) | Self::Position(_) | Self::BackReference { .. } => Vec::new(),
        }
    }

    /// Whether `matches` holds for the tree or any part of it.
    pub(super) fn any(&self, matches: &impl Fn(&Self) -> bool) -> bool {
        matches(self) || self.children().into_iter().any(|child| child.any(matches))
    }

    /// Whether the tree repeats, more than once, something that can match nothing.
    pub(super) fn has_empty_iterations(&self) -> bool {
        matches!(self, Self::Repeat { max, body, .. } if max.is_none_or(|max| max > 1) && body.can_be_empty())
    }

    /// Whether the tree can match nothing; look-around counts as nothing.
    fn can_be_empty(&self) -> bool {
        match self {
            Self::Character(_) | Self::Set(_) => false,
            Self::Position(_) | Self::Look { .. } | Self::BackReference { .. } => true,
            Self::Sequence(nodes) => nodes.iter().all(Self::can_be_empty),
            Self::Alternatives(nodes) => nodes.iter().any(Self::can_be_empty),
            Self::Group(_, body) | Self::Atomic(body) => body.can_be_empty(),
            Self::Repeat { min, body, .. } => *min == 0 || body.can_be_empty(),
            Self::Conditional { yes, no, .. } => yes.can_be_empty() || no.can_be_empty(),
        }
    }
}
