//! The automaton of the linear matcher, and its making from the syntax tree.
//!
//! It knows no captures. Runs of one class are counted; other bounded quantifiers are written out, up to a
//! limit. A look-around becomes a program of its own, which reads from where it looks: the positions where it holds are worked
//! out first, and the rest asks that table.

use std::collections::HashMap;

use super::ast::{Anchor, Ast, Node, NodeId, Repeat, Span, UNBOUNDED, index};
use super::text;

/// The states that all programs of one automaton may have together, and the tasks their making may take.
const MAX_STATES: usize = 20_000;
const MAX_TASKS: usize = 4 * MAX_STATES;

#[derive(Debug, Clone, Copy)]
pub(super) enum State {
    Char(u32),
    Class(u32),
    /// Index in [`Automaton::runs`].
    Run(u32),
    Split(u32, u32),
    Jump(u32),
    Anchor(Anchor),
    /// Passes where the look-around of this number holds, or where it does not, if `negate`.
    Look {
        look: u32,
        negate: bool,
    },
    Match,
}

/// `min` to `max` members of a class. One state, whatever its bounds: the matcher counts.
#[derive(Debug, Clone, Copy)]
pub(super) struct Run {
    pub(super) class: u32,
    pub(super) min: u32,
    pub(super) max: u32,
}

/// The states of one program, entered at the first and ended by the last.
#[derive(Debug, Default)]
pub(super) struct Automaton {
    pub(super) states: Vec<State>,
    pub(super) runs: Vec<Run>,
}

#[derive(Debug)]
pub(super) struct Nfa {
    pub(super) main: Automaton,
    /// One for each look-around; a program only asks those of higher numbers.
    pub(super) looks: Vec<LookProgram>,
    /// The steps that making it was worth. They are charged whenever it is used, so that what a check may
    /// spend does not depend on the checks before it.
    pub(super) cost: u64,
}

#[derive(Debug)]
pub(super) struct LookProgram {
    pub(super) automaton: Automaton,
    /// Whether it looks behind, so that its text is read from left to right; else from right to left.
    pub(super) behind: bool,
}

#[derive(Clone, Copy)]
enum Task {
    Node(NodeId),
    Jump(u32),
    Arms {
        rest: Span,
        chain: u32,
    },
    ArmEnd {
        split: u32,
        rest: Span,
        chain: u32,
    },
    Close(u32),
    Exit(u32),
    /// So many copies of the body that must match are still to be made, then so many that may.
    Copies {
        body: NodeId,
        must: u32,
        may: u32,
    },
    Star(NodeId),
}

const NO_JUMP: u32 = u32::MAX;

struct Maker<'a> {
    ast: &'a Ast,
    states: Vec<State>,
    runs: Vec<Run>,
    tasks: Vec<Task>,
    /// Whether the program reads from right to left.
    back: bool,
    /// The number of each look-around that was met, and those met in order.
    numbers: HashMap<NodeId, u32>,
    met: Vec<(NodeId, bool)>,
    made: usize,
    performed: usize,
}

/// Makes the automaton, unless it would be too large. Back-references have none.
pub(super) fn make(ast: &Ast) -> Option<Nfa> {
    if ast.has_back {
        return None;
    }
    let mut maker = Maker {
        ast,
        states: Vec::new(),
        runs: Vec::new(),
        tasks: Vec::new(),
        back: false,
        numbers: HashMap::new(),
        met: Vec::new(),
        made: 0,
        performed: 0,
    };
    let main = maker.program(ast.root, false)?;
    let mut looks = Vec::new();
    while let Some((body, behind)) = maker.met.get(looks.len()).copied() {
        let automaton = maker.program(body, !behind)?;
        looks.push(LookProgram { automaton, behind });
    }
    Some(Nfa { main, looks, cost: maker.performed as u64 })
}

impl Maker<'_> {
    fn program(&mut self, root: NodeId, back: bool) -> Option<Automaton> {
        self.back = back;
        self.tasks.push(Task::Node(root));
        while let Some(task) = self.tasks.pop() {
            self.performed += 1;
            if self.performed > MAX_TASKS || self.made + self.states.len() > MAX_STATES {
                return None;
            }
            self.perform(task);
        }
        self.states.push(State::Match);
        self.made += self.states.len();
        Some(Automaton { states: std::mem::take(&mut self.states), runs: std::mem::take(&mut self.runs) })
    }

    fn here(&self) -> u32 {
        index(self.states.len())
    }

    fn perform(&mut self, task: Task) {
        match task {
            Task::Node(id) => self.node(id),
            Task::Jump(target) => self.states.push(State::Jump(target)),
            Task::Arms { rest, chain } => self.arm(rest, chain),
            Task::ArmEnd { split, rest, chain } => {
                let jump = self.here();
                self.states.push(State::Jump(chain));
                self.exit(split);
                self.tasks.push(Task::Arms { rest, chain: jump });
            }
            Task::Close(mut chain) => {
                let here = self.here();
                while let Some(State::Jump(target)) = self.states.get_mut(chain as usize) {
                    chain = std::mem::replace(target, here);
                }
            }
            Task::Exit(split) => self.exit(split),
            Task::Copies { must: 0, may: 0, .. } => {}
            Task::Copies { body, must: 0, may: UNBOUNDED } => self.tasks.push(Task::Star(body)),
            Task::Copies { body, must: 0, may } => {
                let split = self.split();
                self.tasks.push(Task::Exit(split));
                self.tasks.push(Task::Copies { body, must: 0, may: may - 1 });
                self.tasks.push(Task::Node(body));
            }
            Task::Copies { body, must, may } => {
                self.tasks.push(Task::Copies { body, must: must - 1, may });
                self.tasks.push(Task::Node(body));
            }
            Task::Star(body) => {
                let split = self.split();
                self.tasks.push(Task::Exit(split));
                self.tasks.push(Task::Jump(split));
                self.tasks.push(Task::Node(body));
            }
        }
    }

    fn split(&mut self) -> u32 {
        let split = self.here();
        self.states.push(State::Split(split + 1, split + 1));
        split
    }

    /// Sends the second way of `split` here.
    fn exit(&mut self, split: u32) {
        let here = self.here();
        if let Some(State::Split(_, second)) = self.states.get_mut(split as usize) {
            *second = here;
        }
    }

    fn arm(&mut self, rest: Span, chain: u32) {
        let Some(arm) = rest.of(&self.ast.children).first().copied() else { return };
        let rest = Span { start: rest.start + 1, len: rest.len - 1 };
        if rest.len == 0 {
            self.tasks.push(Task::Close(chain));
        } else {
            let split = self.split();
            self.tasks.push(Task::ArmEnd { split, rest, chain });
        }
        self.tasks.push(Task::Node(arm));
    }

    fn node(&mut self, id: NodeId) {
        match self.ast.node(id) {
            Node::Empty | Node::Back(_) => {}
            Node::Char(code) => self.states.push(State::Char(code)),
            Node::Literal(span) => self.literal(span.of(&self.ast.literals)),
            Node::Class(class) => self.states.push(State::Class(class)),
            Node::Anchor(anchor) => self.states.push(State::Anchor(anchor)),
            Node::Capture { body, .. } => self.tasks.push(Task::Node(body)),
            Node::Look { behind, negate, body } => {
                let look = *self.numbers.entry(body).or_insert_with(|| {
                    self.met.push((body, behind));
                    index(self.met.len() - 1)
                });
                self.states.push(State::Look { look, negate });
            }
            Node::Repeat(repeat) => {
                if let Some(repeat) = self.ast.repeats.get(repeat as usize).copied() {
                    self.repeat(&repeat);
                }
            }
            Node::Concat(span) => {
                let children = span.of(&self.ast.children);
                let tasks = children.iter().map(|child| Task::Node(*child));
                if self.back { self.tasks.extend(tasks) } else { self.tasks.extend(tasks.rev()) }
            }
            Node::Alternatives(span) => self.arm(span, NO_JUMP),
        }
    }

    fn repeat(&mut self, repeat: &Repeat) {
        let Repeat { body, min, max, .. } = *repeat;
        let Some(class) = repeat.class else {
            let may = if max == UNBOUNDED { UNBOUNDED } else { max - min };
            self.tasks.push(Task::Copies { body, must: min, may });
            return;
        };
        self.states.push(State::Run(index(self.runs.len())));
        self.runs.push(Run { class, min, max });
    }

    fn literal(&mut self, literal: &[u8]) {
        let mut at = if self.back { literal.len() } else { 0 };
        while let Some((code, next)) =
            if self.back { text::previous(literal, at) } else { text::next(literal, at) }
        {
            self.states.push(State::Char(code));
            at = next;
        }
    }
}
