//! Loops that are left out: there is nothing to go through.
//!
//! In: the blocks that are executed and the branches between them, of the analysed function itself. Out: for each outermost loop a [`LoopEvent`]: the
//! paths that execute its body, and what is tested for it.
//!
//! [`LoopEvent`]: super::log::LoopEvent

use super::exec::Executor;
use super::frame::Frame;
use super::guard::Guard;
use super::unroll::{Instance, LoopId};
use crate::ir::BlockId;

impl Executor<'_> {
    /// Notes which loop a block is executed in.
    pub(super) fn come_into_loop(&mut self, frame: &Frame<'_>, instance: &Instance, paths: Guard) {
        if !self.arena.watches || !self.stack.is_empty() {
            return;
        }
        self.in_loop = frame.unrolling.outermost(instance.block);
        let Some(around) = self.in_loop else {
            return;
        };
        if instance.iterations.first() != Some(&0) {
            return;
        }
        let begins = frame.unrolling.begins(instance.block, around);
        let only_tests = begins && self.leaves(frame, instance.block, around);
        let event = self.execution.log.loops.entry(around).or_default();
        if begins {
            event.reached = self.arena.formula.guards.or(event.reached, paths);
        }
        if !only_tests {
            event.entered = self.arena.formula.guards.or(event.entered, paths);
        }
    }

    /// Notes what a branch says of a loop that it is in, or that lies behind one of its ways and that the other one goes around.
    pub(super) fn note_loop_test(
        &mut self,
        frame: &Frame<'_>,
        instance: &Instance,
        guard: Guard,
        targets: [BlockId; 2],
    ) {
        if !self.arena.watches || !self.stack.is_empty() {
            return;
        }
        let here = frame.unrolling.outermost(instance.block);
        let not = self.arena.formula.guards.not(guard);
        let ways = [
            (targets[0], targets[1], guard),
            (targets[1], targets[0], not),
        ];
        for (to, other, condition) in ways {
            match here {
                Some(around) if frame.unrolling.outermost(to) != here => {
                    let first = frame.unrolling.begins(instance.block, around)
                        && instance.iterations.first() == Some(&0);
                    let event = self.execution.log.loops.entry(around).or_default();
                    event.tests.push(condition);
                    if first {
                        event.skipped.push(condition);
                    }
                }
                Some(_) => {}
                None => {
                    let around: Vec<LoopId> = frame.unrolling.left_for(frame.body, to).collect();
                    for around in around {
                        if frame.unrolling.leads_into(frame.body, other, around) {
                            let event = self.execution.log.loops.entry(around).or_default();
                            event.skipped.push(condition);
                        }
                    }
                }
            }
        }
    }

    /// Notes that a loop whose test says that it goes on is left.
    pub(super) fn note_unfinished(&mut self, frame: &Frame<'_>, from: &Instance, paths: Guard) {
        if !self.arena.watches || !self.stack.is_empty() {
            return;
        }
        if let Some(around) = frame.unrolling.outermost(from.block) {
            let event = self.execution.log.loops.entry(around).or_default();
            event.unfinished = self.arena.formula.guards.or(event.unfinished, paths);
        }
    }

    /// Whether a block of a loop is followed by one outside it.
    fn leaves(&self, frame: &Frame<'_>, block: BlockId, around: LoopId) -> bool {
        let next = frame.body.block(block).term.successors();
        let mut next = next.into_iter();
        next.any(|next| frame.unrolling.outermost(next) != Some(around))
    }
}
