//! From the syntax tree to the tree the engines work on.

use super::PatternError;
use super::ast::{Anchor, Category, Flags, Item, Look, Member, RepeatKind, UNBOUNDED, Width};
use super::fold::{Folding, cased_within, raised_into};
use super::node::{Node, Position};
use super::parse::Parsed;
use super::set::{CodeSet, ascii_category, unicode_category};

/// The end of the basic plane, up to where classes are folded member by member.
const LAST_BASIC: u32 = 0xffff;

/// Applies the flags of `parsed`.
pub(super) fn resolve(parsed: &Parsed) -> Result<Node, PatternError> {
    Resolver { groups: &parsed.groups }.sequence(&parsed.body, parsed.flags)
}

struct Resolver<'p> {
    groups: &'p [Option<Width>],
}

impl Resolver<'_> {
    fn sequence(&self, items: &[Item], flags: Flags) -> Result<Node, PatternError> {
        let mut nodes = Vec::with_capacity(items.len());
        for item in items {
            nodes.push(self.item(item, flags)?);
        }
        Ok(match nodes.pop() {
            Some(only) if nodes.is_empty() => only,
            last => {
                nodes.extend(last);
                Node::Sequence(nodes)
            }
        })
    }

    fn boxed(&self, items: &[Item], flags: Flags) -> Result<Box<Node>, PatternError> {
        self.sequence(items, flags).map(Box::new)
    }

    fn item(&self, item: &Item, flags: Flags) -> Result<Node, PatternError> {
        Ok(match item {
            Item::Literal(code) => literal(*code, flags),
            Item::NotLiteral(code) => match literal(*code, flags) {
                Node::Set(set) => Node::Set(set.complement()),
                _ => Node::Set(CodeSet::from_ranges(vec![(*code, *code)]).complement()),
            },
            Item::Any => {
                let excluded = if flags.any(Flags::DOT_ALL) { Vec::new() } else { vec![(0x0a, 0x0a)] };
                Node::Set(CodeSet::from_ranges(excluded).complement())
            }
            Item::Class { negated, members } => {
                let set = class(members, flags);
                Node::Set(if *negated { set.complement() } else { set })
            }
            Item::At(anchor) => Node::Position(position(*anchor, flags)),
            Item::Group { index, add, remove, body } => {
                let body = self.sequence(body, flags.scoped(*add, *remove))?;
                match index {
                    Some(index) => Node::Group(*index, Box::new(body)),
                    None => body,
                }
            }
            Item::Branch(branches) => {
                let branches = branches.iter().map(|branch| self.sequence(branch, flags));
                Node::Alternatives(branches.collect::<Result<_, _>>()?)
            }
            Item::Repeat { min, max, kind, body } => {
                if flags.any(Flags::TEMPLATE) {
                    let operator = match kind {
                        RepeatKind::Greedy => "MAX_REPEAT",
                        RepeatKind::Lazy => "MIN_REPEAT",
                        RepeatKind::Possessive => "POSSESSIVE_REPEAT",
                    };
                    let reason = format!("internal: unsupported template operator {operator}");
                    return Err(PatternError::anywhere(reason));
                }
                let max = (*max != UNBOUNDED).then_some(*max);
                Node::Repeat { min: *min, max, kind: *kind, body: self.boxed(body, flags)? }
            }
            Item::Look(look, body) => self.look(*look, body, flags)?,
            Item::Atomic(body) => Node::Atomic(self.boxed(body, flags)?),
            Item::BackReference(group) => Node::BackReference { group: *group, folding: folding(flags) },
            Item::Conditional { group, yes, no } => Node::Conditional {
                group: *group,
                yes: self.boxed(yes, flags)?,
                no: self.boxed(no.as_deref().unwrap_or_default(), flags)?,
            },
        })
    }

    fn look(&self, look: Look, body: &[Item], flags: Flags) -> Result<Node, PatternError> {
        let mut width = 0;
        if look.behind {
            let Width { min, max } = Width::of(body, self.groups);
            width = u32::try_from(min).map_err(|_| PatternError::anywhere("looks too much behind"))?;
            if min != max {
                return Err(PatternError::anywhere("look-behind requires fixed-width pattern"));
            }
        }
        Ok(Node::Look { look, width, body: self.boxed(body, flags)? })
    }
}

fn folding(flags: Flags) -> Option<Folding> {
    let kind = if flags.any(Flags::UNICODE) { Folding::Unicode } else { Folding::Ascii };
    flags.any(Flags::IGNORE_CASE).then_some(kind)
}

fn literal(code: u32, flags: Flags) -> Node {
    match folding(flags) {
        Some(folding) if folding.is_cased(code) => Node::Set(folding.literal(code)),
        _ => Node::Character(code),
    }
}

fn position(anchor: Anchor, flags: Flags) -> Position {
    let ascii = !flags.any(Flags::UNICODE);
    match anchor {
        Anchor::Start if flags.any(Flags::MULTI_LINE) => Position::StartOfLine,
        Anchor::End if flags.any(Flags::MULTI_LINE) => Position::EndOfLine,
        Anchor::Start | Anchor::StartOfText => Position::StartOfText,
        Anchor::End => Position::End,
        Anchor::EndOfText => Position::EndOfText,
        Anchor::WordBoundary => Position::Boundary { ascii, negated: false },
        Anchor::NotWordBoundary => Position::Boundary { ascii, negated: true },
    }
}

fn category(category: Category, flags: Flags) -> CodeSet {
    let set =
        if flags.any(Flags::UNICODE) { unicode_category(category.kind).clone() } else { ascii_category(category.kind) };
    if category.negated { set.complement() } else { set }
}

/// The members of a class that is not negated.
fn class(members: &[Member], flags: Flags) -> CodeSet {
    match folding(flags) {
        Some(folding) => folded_class(members, flags, folding),
        None => plain_class(members, flags),
    }
}

fn plain_class(members: &[Member], flags: Flags) -> CodeSet {
    let mut ranges = Vec::new();
    for member in members {
        match *member {
            Member::Literal(code) => ranges.push((code, code)),
            Member::Range(first, last) => ranges.push((first, last)),
            Member::Category(kind) => ranges.extend(category(kind, flags).ranges()),
        }
    }
    CodeSet::from_ranges(ranges)
}

/// A class where case is ignored.
///
/// CPython looks the lower case of the character up in the lower-cased members. Beyond U+FFFF it leaves the members as
/// they are written: a literal then matches as lower case only, a range also by the upper case of the character.
fn folded_class(members: &[Member], flags: Flags, folding: Folding) -> CodeSet {
    let mut lowered = Vec::new();
    let mut cased = false;
    for member in members {
        match *member {
            Member::Literal(code) if folding.lower(code) > LAST_BASIC => {
                lowered.push((code, code));
                cased = true;
            }
            Member::Literal(code) => {
                folding.push_lowered(code, &mut lowered);
                cased |= folding.is_cased(code);
            }
            Member::Range(first, last) => {
                push_folded_range(first, last.min(LAST_BASIC), folding, &mut lowered, &mut cased);
                if last > LAST_BASIC {
                    lowered.push((first, last));
                    lowered.extend(raised_into(first, last).map(|code| (code, code)));
                    cased = true;
                }
            }
            Member::Category(kind) => lowered.extend(category(kind, flags).ranges()),
        }
    }
    if cased { folding.unlowered(&CodeSet::from_ranges(lowered)) } else { plain_class(members, flags) }
}

/// Adds the lower case of every code point of a range within the basic plane.
fn push_folded_range(first: u32, last: u32, folding: Folding, lowered: &mut Vec<(u32, u32)>, cased: &mut bool) {
    if first > last {
        return;
    }
    // What has no case stays itself; capitals in the range do no harm, since no lower case is one.
    lowered.push((first, last));
    match folding {
        Folding::Ascii => {
            for code in (first..=last.min(127)).filter(|&code| folding.is_cased(code)) {
                folding.push_lowered(code, lowered);
                *cased = true;
            }
        }
        Folding::Unicode => {
            for code in cased_within(first, last) {
                folding.push_lowered(code, lowered);
                *cased = true;
            }
        }
    }
}
