//! A condition on shared memory that is asked again once a lock has been taken.
//!
//! In: a branch's condition, which an earlier branch on all these paths has decided already. Out: another condition in its place,
//! if a lock was taken in between: until then another thread may have changed the answer, and the source would not ask again
//! for nothing (`if (!dev->dead) { lock(&dev->lock); if (dev->dead) …`). Memory keeps its old value, so that what is decided by
//! the same condition on several paths goes on to be.

use super::exec::Executor;
use super::guard::Guard;
use super::log::{BranchEvent, OpEvent};
use super::origin::Origin;
use super::state::{State, Status};
use crate::ir::{Body, ExprId, ExprKind};
use crate::property::Role;

/// Whether a condition asks only what the function has in variables of its own, which nobody else changes.
pub(super) fn is_about_variables(body: &Body, condition: ExprId) -> bool {
    let kind = &body.expr(condition).kind;
    if let ExprKind::Load { addr, .. } = *kind {
        // A variable without a name has what was just asked of another function.
        return match body.expr(addr).kind {
            ExprKind::AddrLocal(local) => !body.local(local).name.is_empty(),
            _ => false,
        };
    }
    let mut operands = kind.operands();
    operands.all(|operand| is_about_variables(body, operand))
}

impl Executor<'_> {
    /// What stands for a condition that is asked again on these paths.
    pub(super) fn asked_again(&mut self, state: &State, condition: Guard) -> Option<Guard> {
        if condition == Guard::TRUE || condition == Guard::FALSE {
            return None;
        }
        let guards = &mut self.arena.formula.guards;
        let opposite = guards.not(condition);
        let decided = [condition, opposite];
        if !decided.iter().any(|&way| guards.excludes(state.guard, way))
            || !self.taken_since_asked(state, decided)
            || !self.is_shared(condition)
        {
            return None;
        }
        let known = &self.arena.asked_again;
        if let Some(&known) = known.get(&condition) {
            return Some(known);
        }
        if let Some(&known) = known.get(&opposite) {
            return Some(self.arena.formula.guards.not(known));
        }
        let again = self.arena.choice();
        self.arena.asked_again.insert(condition, again);
        Some(again)
    }

    /// Whether a lock was taken since the condition was last asked on these paths.
    fn taken_since_asked(&mut self, state: &State, asked: [Guard; 2]) -> bool {
        let log = &self.execution.log;
        let guards = &mut self.arena.formula.guards;
        let same = |branch: &&BranchEvent| asked.contains(&branch.guard);
        let mut branches = log.branches.iter().rev().filter(same);
        let last = branches.find(|branch| !guards.excludes(branch.path, state.guard));
        let Some(last) = last else { return false };
        let arena = &self.arena;
        let takes = |event: &&OpEvent| {
            let machine = arena.machine_of(event.object);
            let held = |status| matches!(status, Status::At(to) if machine.role(to) == Role::Held);
            let is_lock = !machine.counts && machine.saved.is_none();
            is_lock && event.takes(Status::At(machine.initial)) && event.to.is_some_and(held)
        };
        let taken = log.ops[last.order..].iter().filter(takes);
        let taken: Vec<Guard> = taken.map(|event| event.guard).collect();
        let guards = &mut self.arena.formula.guards;
        taken
            .into_iter()
            .any(|paths| !guards.excludes(paths, state.guard))
    }

    /// Whether a condition depends on what was in memory on entry, where other threads may find it.
    fn is_shared(&self, condition: Guard) -> bool {
        let support = self.arena.formula.guards.support(condition).iter();
        let mut vars =
            support.flat_map(|&cond| self.arena.formula.vars(self.arena.formula.cond_term(cond)));
        vars.any(|var| match self.arena.origins.of(var) {
            Origin::Initial { loc, .. } => !self.arena.regions.is_local(loc.region),
            _ => false,
        })
    }
}
