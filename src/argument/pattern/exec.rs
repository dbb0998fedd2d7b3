//! The backtracking matcher. It follows ECMA-262 step by step, on a stack of its own, and every
//! instruction spends steps; the stack is bounded, so time and memory are.

use super::ast::{Anchor, Ast, Span, UNBOUNDED};
use super::class::{Class, is_word};
use super::meter::{Meter, Stop};
use super::prefilter::Prefilter;
use super::program::{Inst, Loop, Mode, Program};
use super::text;

/// The frames that one match may hold, of 16 bytes each.
const MAX_FRAMES: usize = 1 << 21;

/// A slot that holds no position, and "no look-around is open".
const NONE: u32 = u32::MAX;

/// What to do, or to undo, when a path fails.
#[derive(Debug, Clone, Copy)]
enum Frame {
    /// Go on there.
    Branch {
        pc: u32,
        pos: u32,
    },
    /// A greedy run may give back one more member, until `low`.
    Give {
        run: u32,
        pos: u32,
        low: u32,
    },
    /// A lazy run of `count` members may take one more.
    Take {
        run: u32,
        pos: u32,
        count: u32,
    },
    /// A lazy loop may do one more iteration.
    Iterate {
        id: u32,
        pos: u32,
    },
    Loop {
        id: u32,
        count: u32,
        start: u32,
    },
    Slot {
        slot: u32,
        old: u32,
    },
    /// The look-around at `pc` started at `pos`, inside the one at frame `outer`.
    Look {
        pc: u32,
        pos: u32,
        outer: u32,
    },
}

/// How far a loop is: iterations done before this one, and where this one started.
#[derive(Debug, Clone, Copy, Default)]
struct Progress {
    count: u32,
    start: u32,
}

enum Flow {
    Go(u32, u32),
    Fail,
}

struct Machine<'p, 't, 'm, 'b> {
    program: &'p Program,
    ast: &'p Ast,
    text: &'t [u8],
    frames: Vec<Frame>,
    slots: Vec<u32>,
    loops: Vec<Progress>,
    /// The frame of the innermost open look-around.
    look: u32,
    meter: Meter<'m, 'b>,
}

/// Whether the pattern matches anywhere in `text`, which is shorter than 4 GiB.
pub(super) fn search(program: &Program, ast: &Ast, text: &[u8], meter: Meter<'_, '_>) -> Result<bool, Stop> {
    let mut machine = Machine {
        program,
        ast,
        text,
        frames: Vec::new(),
        slots: vec![NONE; program.slots as usize],
        loops: vec![Progress::default(); program.loops.len()],
        look: NONE,
        meter,
    };
    machine.meter.tick(1 + (program.loops.len() as u64 + u64::from(program.slots)) / 64)?;
    let found = machine.search()?;
    machine.meter.settle()?;
    Ok(found)
}

fn offset(pos: usize) -> u32 {
    u32::try_from(pos).unwrap_or(NONE)
}

impl Machine<'_, '_, '_, '_> {
    fn search(&mut self) -> Result<bool, Stop> {
        match self.program.prefilter {
            Prefilter::Start => self.run(0),
            Prefilter::Bytes(bytes) => {
                let mut at = 0;
                while let Some(rest) = self.text.get(at..) {
                    let Some(skip) = rest.iter().position(|b| Prefilter::has(&bytes, *b)) else { break };
                    at += skip;
                    self.meter.tick(skip as u64 / 8)?;
                    if self.run(offset(at))? {
                        return Ok(true);
                    }
                    at = text::next(self.text, at).map_or(self.text.len(), |(_, behind)| behind);
                }
                self.meter.tick((self.text.len() - at.min(self.text.len())) as u64 / 8)?;
                Ok(false)
            }
            Prefilter::Anywhere => {
                let mut at = 0;
                loop {
                    if self.run(offset(at))? {
                        return Ok(true);
                    }
                    match text::next(self.text, at) {
                        Some((_, behind)) => at = behind,
                        None => return Ok(false),
                    }
                }
            }
        }
    }

    /// Whether the program matches from `start` on. On failure every slot is as before.
    fn run(&mut self, start: u32) -> Result<bool, Stop> {
        let (mut pc, mut pos) = (0, start);
        loop {
            self.meter.tick(1)?;
            let passed = match self.program.insts.get(pc as usize).copied() {
                Some(Inst::Char { code, back }) => match self.read(pos, back) {
                    Some((read, at)) if read == code => Some(at),
                    _ => None,
                },
                Some(Inst::Class { class, back }) => self.member(class, pos, back)?,
                Some(Inst::Literal { span, back }) => {
                    self.meter.tick(u64::from(span.len) / 64)?;
                    self.equal(span.of(&self.ast.literals), pos, back)
                }
                Some(Inst::Anchor(anchor)) => holds(anchor, self.text, pos as usize).then_some(pos),
                Some(Inst::Match) => return Ok(true),
                Some(inst) => match self.step(inst, pc, pos)? {
                    Flow::Go(next, at) => {
                        (pc, pos) = (next, at);
                        continue;
                    }
                    Flow::Fail => None,
                },
                None => None,
            };
            if let Some(at) = passed {
                (pc, pos) = (pc + 1, at);
            } else if let Flow::Go(next, at) = self.backtrack()? {
                (pc, pos) = (next, at);
            } else {
                return Ok(false);
            }
        }
    }

    /// The instructions that do more than look at the text.
    fn step(&mut self, inst: Inst, pc: u32, pos: u32) -> Result<Flow, Stop> {
        match inst {
            Inst::Run { class, min, max, mode, back } => {
                return self.start_run(pc, pos, (class, min, max), mode, back);
            }
            Inst::Back { slot, back } => return self.back(pc, pos, slot, back),
            Inst::Split { first, second } => {
                self.push(Frame::Branch { pc: second, pos })?;
                return Ok(Flow::Go(first, pos));
            }
            Inst::Jump(target) => return Ok(Flow::Go(target, pos)),
            Inst::Save(slot) => self.set_slot(slot, pos)?,
            Inst::Reset(slots) => self.reset(slots)?,
            Inst::LoopEnter(id) => return self.decide(id, 0, pos),
            Inst::LoopAgain(id) => return self.iterated(id, pos),
            Inst::Look { .. } => {
                let outer = self.look;
                self.look = super::ast::index(self.frames.len());
                self.push(Frame::Look { pc, pos, outer })?;
            }
            Inst::LookEnd { negate } => return self.end_look(pc, negate),
            Inst::Char { .. } | Inst::Class { .. } | Inst::Literal { .. } | Inst::Anchor(_) | Inst::Match => {
            }
        }
        Ok(Flow::Go(pc + 1, pos))
    }

    #[inline]
    fn read(&self, pos: u32, back: bool) -> Option<(u32, u32)> {
        let read =
            if back { text::previous(self.text, pos as usize) } else { text::next(self.text, pos as usize) };
        read.map(|(code, at)| (code, offset(at)))
    }

    /// The position behind a member of `class`, if one comes next.
    #[inline]
    fn member(&mut self, class: u32, pos: u32, back: bool) -> Result<Option<u32>, Stop> {
        let Some(class) = self.ast.classes.get(class as usize) else { return Ok(None) };
        self.meter.tick(class.cost() - 1)?;
        Ok(match self.read(pos, back) {
            Some((code, at)) if class.has(code) => Some(at),
            _ => None,
        })
    }

    /// The position behind `bytes`, if they come next.
    fn equal(&self, bytes: &[u8], pos: u32, back: bool) -> Option<u32> {
        let length = offset(bytes.len());
        if back {
            self.text.get(..pos as usize)?.ends_with(bytes).then(|| pos - length)
        } else {
            self.text.get(pos as usize..)?.starts_with(bytes).then(|| pos + length)
        }
    }

    #[inline]
    fn push(&mut self, frame: Frame) -> Result<(), Stop> {
        if self.frames.len() >= MAX_FRAMES {
            return Err(Stop::Share);
        }
        self.frames.push(frame);
        Ok(())
    }

    fn set_slot(&mut self, slot: u32, value: u32) -> Result<(), Stop> {
        if let Some(held) = self.slots.get_mut(slot as usize) {
            let old = std::mem::replace(held, value);
            if old != value {
                self.push(Frame::Slot { slot, old })?;
            }
        }
        Ok(())
    }

    fn reset(&mut self, slots: Span) -> Result<(), Stop> {
        self.meter.tick(u64::from(slots.len) / 8)?;
        (slots.start..slots.start + slots.len).try_for_each(|slot| self.set_slot(slot, NONE))
    }

    fn start_run(
        &mut self,
        pc: u32,
        pos: u32,
        run: (u32, u32, u32),
        mode: Mode,
        back: bool,
    ) -> Result<Flow, Stop> {
        let (id, min, max) = run;
        let Some(class) = self.ast.classes.get(id as usize) else { return Ok(Flow::Fail) };
        let (least, low) = self.members(class, pos, min, back)?;
        let (further, at) = match mode {
            _ if least < min => (0, low),
            Mode::Lazy => (0, low),
            Mode::Greedy | Mode::Possessive => self.members(class, low, max - min, back)?,
        };
        let count = least + further;
        self.meter.tick(u64::from(count) / 8)?;
        if count < min {
            return Ok(Flow::Fail);
        }
        match mode {
            Mode::Greedy if at != low => self.push(Frame::Give { run: pc, pos: at, low })?,
            Mode::Lazy if count < max => self.push(Frame::Take { run: pc, pos: at, count })?,
            _ => {}
        }
        Ok(Flow::Go(pc + 1, at))
    }

    /// Reads up to `most` members of `class`: how many, and the position behind them.
    fn members(&mut self, class: &Class, pos: u32, most: u32, back: bool) -> Result<(u32, u32), Stop> {
        let (mut count, mut at) = (0, pos);
        if !back {
            // The common case, byte by byte.
            let rest = self.text.get(pos as usize..).unwrap_or_default();
            let run = rest.iter().take(most as usize).take_while(|b| class.has_ascii(**b)).count();
            count = offset(run);
            at += count;
        }
        while count < most {
            match self.read(at, back) {
                Some((code, next)) if class.has(code) => at = next,
                _ => break,
            }
            count += 1;
            self.meter.tick(class.cost() / 2)?;
        }
        Ok((count, at))
    }

    fn give(&mut self, run: u32, pos: u32, low: u32) -> Result<Flow, Stop> {
        let back = matches!(self.program.insts.get(run as usize), Some(Inst::Run { back: true, .. }));
        let at = if back {
            text::next(self.text, pos as usize).map(|(_, at)| at)
        } else {
            text::step_back(self.text, pos as usize)
        };
        let Some(at) = at.map(offset) else { return Ok(Flow::Fail) };
        if at != low {
            self.push(Frame::Give { run, pos: at, low })?;
        }
        Ok(Flow::Go(run + 1, at))
    }

    fn take(&mut self, run: u32, pos: u32, count: u32) -> Result<Flow, Stop> {
        let Some(Inst::Run { class, max, back, .. }) = self.program.insts.get(run as usize).copied() else {
            return Ok(Flow::Fail);
        };
        match self.member(class, pos, back)? {
            Some(at) => {
                if count + 1 < max {
                    self.push(Frame::Take { run, pos: at, count: count + 1 })?;
                }
                Ok(Flow::Go(run + 1, at))
            }
            None => Ok(Flow::Fail),
        }
    }

    /// A back-reference; to a group that has not taken part it matches the empty text.
    fn back(&mut self, pc: u32, pos: u32, slot: u32, back: bool) -> Result<Flow, Stop> {
        let held = |slot: u32| self.slots.get(slot as usize).copied().filter(|at| *at != NONE);
        let (Some(start), Some(end)) = (held(slot), held(slot + 1)) else { return Ok(Flow::Go(pc + 1, pos)) };
        let captured = self.text.get(start as usize..end as usize).unwrap_or_default();
        self.meter.tick(captured.len() as u64 / 64)?;
        Ok(self.equal(captured, pos, back).map_or(Flow::Fail, |at| Flow::Go(pc + 1, at)))
    }

    fn loop_of(&self, id: u32) -> Option<Loop> {
        self.program.loops.get(id as usize).copied()
    }

    fn progress(&self, id: u32) -> Progress {
        self.loops.get(id as usize).copied().unwrap_or_default()
    }

    /// An iteration has ended at `pos`.
    fn iterated(&mut self, id: u32, pos: u32) -> Result<Flow, Stop> {
        let Some(found) = self.loop_of(id) else { return Ok(Flow::Fail) };
        let Progress { count, start } = self.progress(id);
        if pos == start {
            if count >= found.min {
                return Ok(Flow::Fail);
            }
            if found.slots.len == 0 {
                // Every iteration that is still due can be empty in the same way.
                return self.decide(id, found.min, pos);
            }
        }
        self.decide(id, count.saturating_add(1), pos)
    }

    /// With `count` iterations done: one more, or on.
    fn decide(&mut self, id: u32, count: u32, pos: u32) -> Result<Flow, Stop> {
        let Some(found) = self.loop_of(id) else { return Ok(Flow::Fail) };
        if count < found.min {
            self.iterate(id, &found, count, pos)
        } else if found.max != UNBOUNDED && count >= found.max {
            Ok(Flow::Go(found.exit, pos))
        } else if found.greedy {
            self.push(Frame::Branch { pc: found.exit, pos })?;
            self.iterate(id, &found, count, pos)
        } else {
            self.set_progress(id, count, pos)?;
            self.push(Frame::Iterate { id, pos })?;
            Ok(Flow::Go(found.exit, pos))
        }
    }

    fn iterate(&mut self, id: u32, found: &Loop, count: u32, pos: u32) -> Result<Flow, Stop> {
        self.set_progress(id, count, pos)?;
        self.reset(found.slots)?;
        Ok(Flow::Go(found.body, pos))
    }

    fn set_progress(&mut self, id: u32, count: u32, start: u32) -> Result<(), Stop> {
        if let Some(held) = self.loops.get_mut(id as usize) {
            let old = std::mem::replace(held, Progress { count, start });
            self.push(Frame::Loop { id, count: old.count, start: old.start })?;
        }
        Ok(())
    }

    /// The body of the innermost look-around has matched.
    fn end_look(&mut self, pc: u32, negate: bool) -> Result<Flow, Stop> {
        let height = self.look as usize;
        let Some(Frame::Look { pos, outer, .. }) = self.frames.get(height).copied() else {
            return Ok(Flow::Fail);
        };
        self.meter.tick((self.frames.len() - height) as u64 / 4)?;
        if negate {
            while self.frames.len() > height {
                if let Some(frame) = self.frames.pop() {
                    self.undo(frame);
                }
            }
            self.look = outer;
            return Ok(Flow::Fail);
        }
        // The choices of the body are gone for good; its captures stay, and so does what undoes them.
        let mut kept = height;
        for at in height..self.frames.len() {
            if let Some(frame @ (Frame::Slot { .. } | Frame::Loop { .. })) = self.frames.get(at).copied()
                && let Some(place) = self.frames.get_mut(kept)
            {
                *place = frame;
                kept += 1;
            }
        }
        self.frames.truncate(kept);
        self.look = outer;
        Ok(Flow::Go(pc + 1, pos))
    }

    fn undo(&mut self, frame: Frame) {
        match frame {
            Frame::Slot { slot, old } => {
                if let Some(held) = self.slots.get_mut(slot as usize) {
                    *held = old;
                }
            }
            Frame::Loop { id, count, start } => {
                if let Some(held) = self.loops.get_mut(id as usize) {
                    *held = Progress { count, start };
                }
            }
            _ => {}
        }
    }

    /// Goes back to the last choice.
    fn backtrack(&mut self) -> Result<Flow, Stop> {
        while let Some(frame) = self.frames.pop() {
            self.meter.tick(1)?;
            let flow = match frame {
                Frame::Branch { pc, pos } => Flow::Go(pc, pos),
                Frame::Give { run, pos, low } => self.give(run, pos, low)?,
                Frame::Take { run, pos, count } => self.take(run, pos, count)?,
                Frame::Iterate { id, pos } => match self.loop_of(id) {
                    Some(found) => {
                        let count = self.progress(id).count;
                        self.iterate(id, &found, count, pos)?
                    }
                    None => Flow::Fail,
                },
                Frame::Look { pc, pos, outer } => {
                    self.look = outer;
                    match self.program.insts.get(pc as usize) {
                        Some(Inst::Look { after, negate: true }) => Flow::Go(*after, pos),
                        _ => Flow::Fail,
                    }
                }
                undone => {
                    self.undo(undone);
                    Flow::Fail
                }
            };
            if !matches!(flow, Flow::Fail) {
                return Ok(flow);
            }
        }
        Ok(Flow::Fail)
    }
}

/// Whether `anchor` holds at `pos`.
pub(super) fn holds(anchor: Anchor, text: &[u8], pos: usize) -> bool {
    let word = |at: Option<usize>| at.and_then(|at| text.get(at)).is_some_and(|b| is_word(*b));
    match anchor {
        Anchor::Start => pos == 0,
        Anchor::End => pos == text.len(),
        Anchor::WordBoundary => word(pos.checked_sub(1)) != word(Some(pos)),
        Anchor::NotWordBoundary => word(pos.checked_sub(1)) == word(Some(pos)),
    }
}
