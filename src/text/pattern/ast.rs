//! The syntax tree of a pattern, as written: flags are not applied yet.

use std::ops::{BitAnd, BitOr, BitOrAssign, Not};

/// A set of inline flags.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Flags(u8);

impl Flags {
    pub(super) const NONE: Self = Self(0);
    pub(super) const IGNORE_CASE: Self = Self(1);
    pub(super) const MULTI_LINE: Self = Self(1 << 1);
    pub(super) const DOT_ALL: Self = Self(1 << 2);
    pub(super) const VERBOSE: Self = Self(1 << 3);
    pub(super) const ASCII: Self = Self(1 << 4);
    pub(super) const UNICODE: Self = Self(1 << 5);
    pub(super) const LOCALE: Self = Self(1 << 6);
    pub(super) const TEMPLATE: Self = Self(1 << 7);
    /// The flags that choose a character set; they exclude each other.
    pub(super) const TYPES: Self = Self(Self::ASCII.0 | Self::UNICODE.0 | Self::LOCALE.0);

    /// The flag a letter stands for.
    pub(super) const fn from_letter(letter: char) -> Option<Self> {
        Some(match letter {
            'i' => Self::IGNORE_CASE,
            'L' => Self::LOCALE,
            'm' => Self::MULTI_LINE,
            's' => Self::DOT_ALL,
            'x' => Self::VERBOSE,
            'a' => Self::ASCII,
            't' => Self::TEMPLATE,
            'u' => Self::UNICODE,
            _ => return None,
        })
    }

    /// Whether any flag of `other` is set.
    pub(super) const fn any(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// The flags inside of a group that adds and removes some.
    pub(super) fn scoped(self, add: Self, remove: Self) -> Self {
        let kept = if add.any(Self::TYPES) { self & !Self::TYPES } else { self };
        (kept | add) & !remove
    }
}

impl BitOr for Flags {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl BitOrAssign for Flags {
    fn bitor_assign(&mut self, other: Self) {
        self.0 |= other.0;
    }
}

impl BitAnd for Flags {
    type Output = Self;
    fn bitand(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

impl Not for Flags {
    type Output = Self;
    fn not(self) -> Self {
        Self(!self.0)
    }
}

/// The upper bound of a repeat without one; the largest count Python allows is one less.
pub(super) const UNBOUNDED: u32 = u32::MAX;

/// Items that match one after the other.
pub(super) type Sequence = Vec<Item>;

/// One item of a pattern. Characters are code points, since a pattern may name a lone surrogate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Item {
    Literal(u32),
    NotLiteral(u32),
    /// `.`
    Any,
    Class {
        negated: bool,
        members: Vec<Member>,
    },
    At(Anchor),
    Group {
        index: Option<usize>,
        add: Flags,
        remove: Flags,
        body: Sequence,
    },
    Branch(Vec<Sequence>),
    Repeat {
        min: u32,
        max: u32,
        kind: RepeatKind,
        body: Sequence,
    },
    Look(Look, Sequence),
    Atomic(Sequence),
    BackReference(usize),
    Conditional {
        group: usize,
        yes: Sequence,
        no: Option<Sequence>,
    },
}

/// What stands between `[` and `]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Member {
    Literal(u32),
    Range(u32, u32),
    Category(Category),
}

/// `\d`, `\s`, `\w` and their negations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Category {
    pub(super) kind: CategoryKind,
    pub(super) negated: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum CategoryKind {
    Digit,
    Space,
    Word,
}

/// A position in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Anchor {
    /// `^`
    Start,
    /// `\A`
    StartOfText,
    /// `$`
    End,
    /// `\Z`
    EndOfText,
    /// `\b`
    WordBoundary,
    /// `\B`
    NotWordBoundary,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RepeatKind {
    Greedy,
    Lazy,
    Possessive,
}

/// Direction and sense of a look-around.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Look {
    pub(super) behind: bool,
    pub(super) negated: bool,
}

impl Item {
    /// Whether both are the same item of a kind that branches can share.
    pub(super) fn same_simple(&self, other: &Self) -> bool {
        matches!(
            self,
            Self::Literal(_)
                | Self::NotLiteral(_)
                | Self::Any
                | Self::Class { .. }
                | Self::At(_)
                | Self::BackReference(_)
        ) && self == other
    }
}

/// The least and the greatest number of code points something can match.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Width {
    pub(super) min: u128,
    pub(super) max: u128,
}

impl Width {
    /// Larger than every count that matters.
    const MAX: u128 = 1 << 64;

    /// The width of `sequence`; `groups` holds the widths of the closed groups.
    pub(super) fn of(sequence: &[Item], groups: &[Option<Self>]) -> Self {
        let mut width = Self::default();
        for item in sequence {
            let item = Self::of_item(item, groups);
            width.min = width.min.saturating_add(item.min);
            width.max = width.max.saturating_add(item.max);
        }
        Self { min: width.min.min(Self::MAX), max: width.max.min(Self::MAX) }
    }

    fn of_item(item: &Item, groups: &[Option<Self>]) -> Self {
        match item {
            Item::Literal(_) | Item::NotLiteral(_) | Item::Any | Item::Class { .. } => Self { min: 1, max: 1 },
            Item::At(_) | Item::Look(..) => Self { min: 0, max: 0 },
            Item::Group { body, .. } | Item::Atomic(body) => Self::of(body, groups),
            Item::Branch(branches) => {
                branches.iter().map(|branch| Self::of(branch, groups)).reduce(Self::either).unwrap_or_default()
            }
            Item::Repeat { min, max, body, .. } => {
                let body = Self::of(body, groups);
                let most =
                    if *max == UNBOUNDED && body.max > 0 { Self::MAX } else { body.max.saturating_mul((*max).into()) };
                Self { min: body.min.saturating_mul((*min).into()), max: most }
            }
            Item::BackReference(group) => groups.get(*group).copied().flatten().unwrap_or_default(),
            Item::Conditional { yes, no, .. } => {
                let no = no.as_ref().map_or(Self::default(), |no| Self::of(no, groups));
                Self::of(yes, groups).either(no)
            }
        }
    }

    fn either(self, other: Self) -> Self {
        Self { min: self.min.min(other.min), max: self.max.max(other.max) }
    }
}
