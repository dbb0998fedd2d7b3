//! Where a match can start at all, judged by a program's first instructions.

use super::ast::{Anchor, Ast};
use super::class::Class;
use super::program::{Inst, Loop};
use super::text;

/// How many instructions are looked at before the answer is "anywhere".
const LOOK: usize = 64;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Prefilter {
    Anywhere,
    /// At the start of the text only.
    Start,
    /// Where one of these bytes comes next.
    Bytes([u64; 4]),
}

impl Prefilter {
    pub(super) fn of(insts: &[Inst], loops: &[Loop], ast: &Ast) -> Prefilter {
        let mut bytes = [0u64; 4];
        let mut anchored = false;
        let mut pending = [0u32; LOOK];
        let mut count = 1usize;
        for _ in 0..LOOK {
            let Some(next) = count.checked_sub(1) else { break };
            count = next;
            let Some(pc) = pending.get(count).copied() else { break };
            let mut push = |pc: u32| {
                if let Some(free) = pending.get_mut(count) {
                    *free = pc;
                    count += 1;
                }
            };
            let class =
                |class: u32| ast.classes.get(class as usize).map_or([u64::MAX; 4], Class::first_bytes);
            match insts.get(pc as usize).copied() {
                Some(Inst::Char { code, .. }) => add(&mut bytes, first_byte(code)),
                Some(Inst::Literal { span, .. }) => {
                    add(&mut bytes, span.of(&ast.literals).first().map_or([u64::MAX; 4], |b| bit(*b)));
                }
                Some(Inst::Class { class: id, .. } | Inst::Run { class: id, min: 1.., .. }) => {
                    add(&mut bytes, class(id));
                }
                Some(Inst::Run { class: id, .. }) => {
                    add(&mut bytes, class(id));
                    push(pc + 1);
                }
                Some(Inst::Anchor(Anchor::Start)) => anchored = true,
                // The body of a loop may be empty: what comes behind the loop counts too.
                Some(Inst::Anchor(_) | Inst::Save(_) | Inst::Reset(_) | Inst::LoopAgain(_)) => push(pc + 1),
                // What a look-around demands is not used: it can only make the answer too wide.
                Some(Inst::Jump(to) | Inst::Look { after: to, .. }) => push(to),
                Some(Inst::Split { first, second }) => {
                    push(first);
                    push(second);
                }
                Some(Inst::LoopEnter(id)) => match loops.get(id as usize) {
                    Some(found) => {
                        push(found.body);
                        if found.min == 0 {
                            push(found.exit);
                        }
                    }
                    None => return Prefilter::Anywhere,
                },
                Some(Inst::Back { .. } | Inst::LookEnd { .. } | Inst::Match) | None => {
                    return Prefilter::Anywhere;
                }
            }
        }
        match (count, anchored, bytes) {
            (0, true, [0, 0, 0, 0]) => Prefilter::Start,
            (0, false, bytes) => Prefilter::Bytes(bytes),
            _ => Prefilter::Anywhere,
        }
    }

    /// Whether `byte` is in `bytes`.
    #[inline]
    pub(super) fn has(bytes: &[u64; 4], byte: u8) -> bool {
        bytes.get(usize::from(byte >> 6)).is_some_and(|word| word >> (byte & 63) & 1 == 1)
    }
}

fn add(bytes: &mut [u64; 4], more: [u64; 4]) {
    for (word, other) in bytes.iter_mut().zip(more) {
        *word |= other;
    }
}

fn first_byte(code: u32) -> [u64; 4] {
    let mut sequence = Vec::with_capacity(4);
    text::push(&mut sequence, code);
    sequence.first().map_or([u64::MAX; 4], |b| bit(*b))
}

fn bit(byte: u8) -> [u64; 4] {
    let mut bytes = [0; 4];
    if let Some(word) = bytes.get_mut(usize::from(byte >> 6)) {
        *word = 1 << (byte & 63);
    }
    bytes
}
