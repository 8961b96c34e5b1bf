//! The instructions of the backtracking engine, and how the tree becomes instructions.

use super::ast::RepeatKind;
use super::fold::Folding;
use super::node::{Node, Position};
use super::set::CodeSet;

/// One character to match.
#[derive(Clone, Copy, Debug)]
pub(super) enum Single {
    Character(u32),
    /// An index into [`Program::sets`].
    Set(usize),
}

/// The registers of a loop.
#[derive(Clone, Copy, Debug)]
pub(super) struct Loop {
    /// Iterations done.
    pub(super) count: usize,
    /// Where the latest iteration beyond the least number started: one that gets nowhere ends the loop.
    pub(super) last: usize,
    pub(super) min: u32,
    pub(super) max: Option<u32>,
    /// The instruction after the loop.
    pub(super) exit: usize,
}

/// An instruction; the next one follows unless it says otherwise. Registers are indexes.
#[derive(Clone, Debug)]
pub(super) enum Instruction {
    Match,
    Single(Single),
    /// A single character, `min` to `max` times.
    Run {
        single: Single,
        min: u32,
        max: Option<u32>,
        kind: RepeatKind,
    },
    Position(Position),
    /// Stores the position in the text.
    Save(usize),
    /// Goes on here, and at the other instruction if that fails.
    Split(usize),
    Jump(usize),
    /// Clears the registers of a loop.
    Start(Loop),
    Greedy(Loop),
    Lazy(Loop),
    /// A further iteration of a lazy loop, when leaving it has failed.
    LazyMore(Loop),
    /// Counts an iteration and goes back to the loop at the instruction.
    Again {
        count: usize,
        target: usize,
    },
    /// An iteration that is not given up once it has matched; `height` is kept for [`Instruction::PossessiveAgain`].
    Possessive {
        details: Loop,
        height: usize,
    },
    PossessiveAgain {
        count: usize,
        height: usize,
        target: usize,
    },
    /// Remembers how many alternatives there are.
    Hold(usize),
    /// Forgets the alternatives since [`Instruction::Hold`].
    Cut(usize),
    /// Starts a look-around `width` characters back.
    Look {
        height: usize,
        position: usize,
        width: u32,
    },
    /// Forgets the alternatives of the look-around and goes back to where it started.
    LookEnd {
        height: usize,
        position: usize,
    },
    /// Starts a negated look-around; goes to `exit` when it does not match.
    NotLook {
        height: usize,
        width: u32,
        exit: usize,
    },
    /// A negated look-around has matched.
    NotLookEnd(usize),
    BackReference {
        group: usize,
        folding: Option<Folding>,
    },
    /// Goes to the instruction unless the group has matched.
    UnlessGroup {
        group: usize,
        target: usize,
    },
}

/// A compiled pattern.
#[derive(Debug)]
pub(super) struct Program {
    pub(super) instructions: Vec<Instruction>,
    pub(super) sets: Vec<CodeSet>,
    pub(super) registers: usize,
    /// The characters a match can begin with, when it cannot be empty.
    pub(super) first: Option<First>,
    /// The position at which every match begins, if there is one.
    pub(super) begins_at: Option<Position>,
}

/// The characters with which matches begin.
#[derive(Debug)]
pub(super) struct First {
    characters: CodeSet,
    /// Which bytes are the first ones of such a character, as far as a byte tells.
    bytes: Box<[bool; 256]>,
}

impl First {
    fn of(characters: CodeSet) -> Self {
        let goes_beyond_ascii = characters.ranges().iter().any(|&(_, last)| last > 0x7f);
        let mut bytes = Box::new([false; 256]);
        for (byte, begins) in (0..=u8::MAX).zip(bytes.iter_mut()) {
            *begins = match byte {
                0..=0x7f => characters.contains(byte.into()),
                // bytes within a character begin none
                0x80..=0xbf => false,
                0xc0.. => goes_beyond_ascii,
            };
        }
        Self { characters, bytes }
    }

    pub(super) fn contains(&self, character: char) -> bool {
        self.characters.contains(character.into())
    }

    /// The first place from `start` on where such a character may stand; the end of the text if there is none.
    pub(super) fn earliest(&self, text: &str, start: usize) -> usize {
        let rest = text.as_bytes().get(start..).unwrap_or_default();
        start + rest.iter().position(|byte| self.bytes[usize::from(*byte)]).unwrap_or(rest.len())
    }
}

/// Register of the start of a group.
pub(super) const fn start_register(group: usize) -> usize {
    2 * (group - 1)
}

/// Register of the end of a group.
pub(super) const fn end_register(group: usize) -> usize {
    2 * (group - 1) + 1
}

impl Program {
    /// Whether a match can only begin at the start of the text.
    pub(super) fn is_anchored(&self) -> bool {
        self.begins_at == Some(Position::StartOfText)
    }

    /// Compiles `node`, which has `groups` capturing groups.
    pub(super) fn compile(node: &Node, groups: usize) -> Self {
        let mut compiler = Compiler { instructions: Vec::new(), sets: Vec::new(), registers: 2 * groups };
        compiler.node(node);
        compiler.push(Instruction::Match);
        let Compiler { instructions, sets, registers } = compiler;
        Self { instructions, sets, registers, first: first_characters(node).map(First::of), begins_at: begins_at(node) }
    }
}

struct Compiler {
    instructions: Vec<Instruction>,
    sets: Vec<CodeSet>,
    registers: usize,
}

impl Compiler {
    fn here(&self) -> usize {
        self.instructions.len()
    }

    fn push(&mut self, instruction: Instruction) -> usize {
        self.instructions.push(instruction);
        self.instructions.len() - 1
    }

    /// Replaces an instruction whose target was not known yet.
    fn patch(&mut self, index: usize, instruction: Instruction) {
        if let Some(slot) = self.instructions.get_mut(index) {
            *slot = instruction;
        }
    }

    fn register(&mut self) -> usize {
        self.registers += 1;
        self.registers - 1
    }

    fn single(&mut self, node: &Node) -> Option<Single> {
        match node {
            Node::Character(code) => Some(Single::Character(*code)),
            Node::Set(set) => {
                self.sets.push(set.clone());
                Some(Single::Set(self.sets.len() - 1))
            }
            _ => None,
        }
    }

    fn node(&mut self, node: &Node) {
        match node {
            Node::Sequence(nodes) => nodes.iter().for_each(|part| self.node(part)),
            Node::Alternatives(nodes) => self.alternatives(nodes),
            Node::Character(_) | Node::Set(_) => {
                if let Some(single) = self.single(node) {
                    self.push(Instruction::Single(single));
                }
            }
            Node::Position(position) => {
                self.push(Instruction::Position(*position));
            }
            Node::Group(group, body) => {
                self.push(Instruction::Save(start_register(*group)));
                self.node(body);
                self.push(Instruction::Save(end_register(*group)));
            }
            Node::Repeat { min, max, kind, body } => match self.single(body) {
                Some(single) => {
                    self.push(Instruction::Run { single, min: *min, max: *max, kind: *kind });
                }
                None => self.repeat(*min, *max, *kind, body),
            },
            Node::Look { look, width, body } => self.look(look.negated, *width, body),
            Node::Atomic(body) => {
                let height = self.register();
                self.push(Instruction::Hold(height));
                self.node(body);
                self.push(Instruction::Cut(height));
            }
            Node::BackReference { group, folding } => {
                self.push(Instruction::BackReference { group: *group, folding: *folding });
            }
            Node::Conditional { group, yes, no } => {
                let test = self.push(Instruction::Jump(0));
                self.node(yes);
                let leave = self.push(Instruction::Jump(0));
                let target = self.here();
                self.patch(test, Instruction::UnlessGroup { group: *group, target });
                self.node(no);
                let end = self.here();
                self.patch(leave, Instruction::Jump(end));
            }
        }
    }

    fn alternatives(&mut self, nodes: &[Node]) {
        let mut leaves = Vec::new();
        for (index, node) in nodes.iter().enumerate() {
            if index + 1 == nodes.len() {
                self.node(node);
                break;
            }
            let split = self.push(Instruction::Jump(0));
            self.node(node);
            leaves.push(self.push(Instruction::Jump(0)));
            let next = self.here();
            self.patch(split, Instruction::Split(next));
        }
        let end = self.here();
        for leave in leaves {
            self.patch(leave, Instruction::Jump(end));
        }
    }

    fn repeat(&mut self, min: u32, max: Option<u32>, kind: RepeatKind, body: &Node) {
        let mut details = Loop { count: self.register(), last: self.register(), min, max, exit: 0 };
        let height = self.register();
        self.push(Instruction::Start(details));
        let head = self.push(Instruction::Jump(0));
        let more = (kind == RepeatKind::Lazy).then(|| self.push(Instruction::Jump(0)));
        self.node(body);
        let count = details.count;
        self.push(match kind {
            RepeatKind::Possessive => Instruction::PossessiveAgain { count, height, target: head },
            RepeatKind::Greedy | RepeatKind::Lazy => Instruction::Again { count, target: head },
        });
        details.exit = self.here();
        self.patch(
            head,
            match kind {
                RepeatKind::Greedy => Instruction::Greedy(details),
                RepeatKind::Lazy => Instruction::Lazy(details),
                RepeatKind::Possessive => Instruction::Possessive { details, height },
            },
        );
        if let Some(more) = more {
            self.patch(more, Instruction::LazyMore(details));
        }
    }

    fn look(&mut self, negated: bool, width: u32, body: &Node) {
        let (height, position) = (self.register(), self.register());
        let begin = self.push(Instruction::Look { height, position, width });
        self.node(body);
        if negated {
            self.push(Instruction::NotLookEnd(height));
            let exit = self.here();
            self.patch(begin, Instruction::NotLook { height, width, exit });
        } else {
            self.push(Instruction::LookEnd { height, position });
        }
    }
}

/// The characters a match of `node` begins with; `None` when it can be empty or that is not known.
fn first_characters(node: &Node) -> Option<CodeSet> {
    match node {
        Node::Character(code) => Some(CodeSet::from_ranges(vec![(*code, *code)])),
        Node::Set(set) => Some(set.clone()),
        Node::Group(_, body) | Node::Atomic(body) => first_characters(body),
        Node::Repeat { min: 1.., body, .. } => first_characters(body),
        Node::Sequence(nodes) => {
            first_characters(nodes.iter().find(|part| !matches!(part, Node::Position(_) | Node::Look { .. }))?)
        }
        Node::Alternatives(nodes) => {
            let sets: Option<Vec<CodeSet>> = nodes.iter().map(first_characters).collect();
            sets?.into_iter().reduce(|all, set| all.union(&set))
        }
        _ => None,
    }
}

/// A position at which every match of `node` begins.
fn begins_at(node: &Node) -> Option<Position> {
    match node {
        Node::Position(position) => Some(*position),
        Node::Sequence(nodes) => nodes.first().and_then(begins_at),
        Node::Group(_, body) | Node::Atomic(body) | Node::Repeat { min: 1.., body, .. } => begins_at(body),
        Node::Alternatives(nodes) => {
            let mut positions = nodes.iter().map(begins_at);
            let first = positions.next()?;
            first.filter(|_| positions.all(|other| other == first))
        }
        _ => None,
    }
}
