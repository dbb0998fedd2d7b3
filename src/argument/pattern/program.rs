//! The program of the backtracking matcher, and its making from the syntax tree.
//!
//! Quantifiers count with registers, so a bound of any size costs one instruction. The making keeps its
//! tasks on a stack of its own: nesting costs memory only.

use super::ast::{Anchor, Ast, Node, NodeId, Repeat, Span, UNBOUNDED, index};
use super::class::Class;
use super::prefilter::Prefilter;

/// How a run of one class meets what follows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    Greedy,
    Lazy,
    /// Greedy, and giving back can never help, since what follows fails on every member of the class.
    Possessive,
}

/// One instruction; without a jump of its own it goes on with the next. `back`: matches leftwards.
#[derive(Debug, Clone, Copy)]
pub(super) enum Inst {
    Char {
        code: u32,
        back: bool,
    },
    Literal {
        span: Span,
        back: bool,
    },
    Class {
        class: u32,
        back: bool,
    },
    /// `min` to `max` members of a class.
    Run {
        class: u32,
        min: u32,
        max: u32,
        mode: Mode,
        back: bool,
    },
    Anchor(Anchor),
    /// What the slots `slot` and `slot + 1` hold.
    Back {
        slot: u32,
        back: bool,
    },
    /// Goes on at `first`, and at `second` if that fails.
    Split {
        first: u32,
        second: u32,
    },
    Jump(u32),
    Save(u32),
    /// Forgets these slots.
    Reset(Span),
    /// Index in [`Program::loops`].
    LoopEnter(u32),
    LoopAgain(u32),
    /// A look-around whose body starts behind this; `after` is behind its `LookEnd`.
    Look {
        after: u32,
        negate: bool,
    },
    LookEnd {
        negate: bool,
    },
    Match,
}

/// A quantifier that needs a counter, or a check against empty iterations.
#[derive(Debug, Clone, Copy)]
pub(super) struct Loop {
    pub(super) min: u32,
    pub(super) max: u32,
    pub(super) greedy: bool,
    pub(super) body: u32,
    pub(super) exit: u32,
    /// Slots that each iteration forgets.
    pub(super) slots: Span,
}

#[derive(Debug)]
pub(super) struct Program {
    pub(super) insts: Vec<Inst>,
    pub(super) loops: Vec<Loop>,
    pub(super) slots: u32,
    pub(super) prefilter: Prefilter,
}

#[derive(Clone, Copy)]
enum Task {
    Node(NodeId, bool),
    Emit(Inst),
    /// The alternatives still to be made, and the last of the jumps to their common end.
    Arms {
        rest: Span,
        chain: u32,
        back: bool,
    },
    ArmEnd {
        split: u32,
        rest: Span,
        chain: u32,
        back: bool,
    },
    /// Sends the chain of jumps here.
    Close(u32),
    /// Sends the exit of this split here.
    Exit {
        split: u32,
        greedy: bool,
    },
    /// The choice behind a body that must match once: again, or on.
    Again {
        body: u32,
        greedy: bool,
    },
    LoopEnd(u32),
    LookEnd {
        look: u32,
        negate: bool,
    },
}

const NO_JUMP: u32 = u32::MAX;

struct Emitter<'a> {
    ast: &'a Ast,
    insts: Vec<Inst>,
    loops: Vec<Loop>,
    tasks: Vec<Task>,
    /// For each group, and one more, the slots of the referenced groups before it: only those have any.
    /// Empty without references.
    slots_before: Vec<u32>,
}

/// Makes the program.
pub(super) fn emit(ast: &Ast) -> Program {
    let root = ast.root;
    let size = ast.nodes.len() + 1;
    let mut emitter = Emitter {
        ast,
        insts: Vec::with_capacity(size),
        loops: Vec::new(),
        tasks: Vec::new(),
        slots_before: slots_before(ast),
    };
    emitter.tasks.push(Task::Emit(Inst::Match));
    emitter.tasks.push(Task::Node(root, false));
    while let Some(task) = emitter.tasks.pop() {
        emitter.perform(task);
    }
    let slots = emitter.slots_before.last().copied().unwrap_or(0);
    let Emitter { mut insts, loops, .. } = emitter;
    make_possessive(&mut insts, &ast.classes, &ast.literals);
    let prefilter = Prefilter::of(&insts, &loops, ast);
    Program { insts, loops, slots, prefilter }
}

fn slots_before(ast: &Ast) -> Vec<u32> {
    if !ast.has_back {
        return Vec::new();
    }
    let mut before = vec![0; ast.groups as usize + 2];
    for node in &ast.nodes {
        // Group 0, the whole match, cannot be referred to.
        if let Node::Back(group @ 1..) = node
            && let Some(own) = before.get_mut(*group as usize + 1)
        {
            *own = 2;
        }
    }
    let mut sum = 0;
    for own in &mut before {
        sum += *own;
        *own = sum;
    }
    before
}

impl Emitter<'_> {
    fn here(&self) -> u32 {
        index(self.insts.len())
    }

    fn perform(&mut self, task: Task) {
        match task {
            Task::Node(id, back) => self.node(id, back),
            Task::Emit(inst) => self.insts.push(inst),
            Task::Arms { rest, chain, back } => self.arm(rest, chain, back),
            Task::ArmEnd { split, rest, chain, back } => {
                let jump = self.here();
                self.insts.push(Inst::Jump(chain));
                self.send_second(split, jump + 1);
                self.tasks.push(Task::Arms { rest, chain: jump, back });
            }
            Task::Close(mut chain) => {
                let here = self.here();
                while let Some(Inst::Jump(target)) = self.insts.get_mut(chain as usize) {
                    chain = std::mem::replace(target, here);
                }
            }
            Task::Exit { split, greedy } => {
                let here = self.here();
                if greedy {
                    self.send_second(split, here);
                } else if let Some(Inst::Split { first, .. }) = self.insts.get_mut(split as usize) {
                    *first = here;
                }
            }
            Task::Again { body, greedy } => {
                let exit = self.here() + 1;
                let (first, second) = if greedy { (body, exit) } else { (exit, body) };
                self.insts.push(Inst::Split { first, second });
            }
            Task::LoopEnd(id) => {
                self.insts.push(Inst::LoopAgain(id));
                let here = self.here();
                if let Some(found) = self.loops.get_mut(id as usize) {
                    found.exit = here;
                }
            }
            Task::LookEnd { look, negate } => {
                self.insts.push(Inst::LookEnd { negate });
                let here = self.here();
                if let Some(Inst::Look { after, .. }) = self.insts.get_mut(look as usize) {
                    *after = here;
                }
            }
        }
    }

    fn send_second(&mut self, split: u32, target: u32) {
        if let Some(Inst::Split { second, .. }) = self.insts.get_mut(split as usize) {
            *second = target;
        }
    }

    fn arm(&mut self, rest: Span, chain: u32, back: bool) {
        let Some(arm) = rest.of(&self.ast.children).first().copied() else { return };
        let rest = Span { start: rest.start + 1, len: rest.len - 1 };
        if rest.len == 0 {
            self.tasks.push(Task::Close(chain));
        } else {
            let split = self.here();
            self.insts.push(Inst::Split { first: split + 1, second: 0 });
            self.tasks.push(Task::ArmEnd { split, rest, chain, back });
        }
        self.tasks.push(Task::Node(arm, back));
    }

    /// The first slot of a group that is referred to.
    fn pair(&self, group: u32) -> Option<u32> {
        let slots = self.slots_of(Span { start: group.checked_sub(1)?, len: 1 });
        (slots.len > 0).then_some(slots.start)
    }

    fn node(&mut self, id: NodeId, back: bool) {
        match self.ast.node(id) {
            Node::Empty => {}
            Node::Char(code) => self.insts.push(Inst::Char { code, back }),
            Node::Literal(span) => self.insts.push(Inst::Literal { span, back }),
            Node::Class(class) => self.insts.push(Inst::Class { class, back }),
            Node::Anchor(anchor) => self.insts.push(Inst::Anchor(anchor)),
            Node::Back(group) => {
                if let Some(slot) = self.pair(group) {
                    self.insts.push(Inst::Back { slot, back });
                }
            }
            Node::Capture { group, body } => {
                if let Some(slot) = self.pair(group) {
                    let (first, last) = if back { (slot + 1, slot) } else { (slot, slot + 1) };
                    self.insts.push(Inst::Save(first));
                    self.tasks.push(Task::Emit(Inst::Save(last)));
                }
                self.tasks.push(Task::Node(body, back));
            }
            Node::Look { behind, negate, body } => {
                let look = self.here();
                self.insts.push(Inst::Look { after: 0, negate });
                self.tasks.push(Task::LookEnd { look, negate });
                self.tasks.push(Task::Node(body, behind));
            }
            Node::Repeat(repeat) => {
                if let Some(repeat) = self.ast.repeats.get(repeat as usize).copied() {
                    self.repeat(repeat, back);
                }
            }
            Node::Concat(span) => {
                let children = span.of(&self.ast.children);
                let tasks = children.iter().map(|child| Task::Node(*child, back));
                if back { self.tasks.extend(tasks) } else { self.tasks.extend(tasks.rev()) }
            }
            Node::Alternatives(span) => self.arm(span, NO_JUMP, back),
        }
    }

    fn repeat(&mut self, repeat: Repeat, back: bool) {
        let Repeat { body, min, max, greedy, groups, class } = repeat;
        let here = self.here();
        if let Some(class) = class {
            let mode = if greedy { Mode::Greedy } else { Mode::Lazy };
            self.insts.push(Inst::Run { class, min, max, mode, back });
            return;
        }
        let slots = self.slots_of(groups);
        let nullable = self.ast.is_nullable(body);
        if (min, max) == (0, 1) && !(nullable && slots.len > 0) {
            self.insts.push(Inst::Split { first: here + 1, second: here + 1 });
            self.tasks.push(Task::Exit { split: here, greedy });
        } else if min <= 1 && max == UNBOUNDED && !nullable {
            if min == 0 {
                self.insts.push(Inst::Split { first: here + 1, second: here + 1 });
                self.tasks.push(Task::Exit { split: here, greedy });
                self.tasks.push(Task::Emit(Inst::Jump(here)));
            } else {
                self.tasks.push(Task::Again { body: here, greedy });
            }
            if slots.len > 0 {
                self.insts.push(Inst::Reset(slots));
            }
        } else {
            let id = index(self.loops.len());
            self.insts.push(Inst::LoopEnter(id));
            self.loops.push(Loop { min, max, greedy, body: here + 1, exit: 0, slots });
            self.tasks.push(Task::LoopEnd(id));
        }
        self.tasks.push(Task::Node(body, back));
    }

    /// The slots of the referenced groups among `groups`, which lie together.
    fn slots_of(&self, groups: Span) -> Span {
        let before = |group: u32| self.slots_before.get(group as usize).copied().unwrap_or(0);
        let start = before(groups.start + 1);
        Span { start, len: before(groups.start + 1 + groups.len) - start }
    }
}

/// Marks each greedy run that what follows it cannot want back.
fn make_possessive(insts: &mut [Inst], classes: &[Class], literals: &[u8]) {
    for at in 0..insts.len() {
        let Some(Inst::Run { class, mode: Mode::Greedy, back, .. }) = insts.get(at).copied() else {
            continue;
        };
        let Some(class) = classes.get(class as usize) else { continue };
        if refuses(insts, at + 1, class, back, classes, literals)
            && let Some(Inst::Run { mode, .. }) = insts.get_mut(at)
        {
            *mode = Mode::Possessive;
        }
    }
}

/// Whether the instruction at `at` fails wherever a member of `class` comes next (before, if `back`).
fn refuses(
    insts: &[Inst],
    mut at: usize,
    class: &Class,
    back: bool,
    classes: &[Class],
    literals: &[u8],
) -> bool {
    while let Some(Inst::Save(_)) = insts.get(at) {
        at += 1;
    }
    match insts.get(at) {
        Some(Inst::Char { code, back: b }) => *b == back && !class.has(*code),
        Some(Inst::Literal { span, back: b }) => {
            let literal = span.of(literals);
            let edge = if back {
                super::text::previous(literal, literal.len())
            } else {
                super::text::next(literal, 0)
            };
            *b == back && edge.is_some_and(|(code, _)| !class.has(code))
        }
        Some(Inst::Class { class: next, back: b } | Inst::Run { class: next, min: 1.., back: b, .. }) => {
            *b == back && classes.get(*next as usize).is_some_and(|next| class.is_disjoint(next))
        }
        Some(Inst::Anchor(Anchor::End)) => !back,
        Some(Inst::Anchor(Anchor::Start)) => back,
        Some(Inst::Match) => true,
        _ => false,
    }
}
