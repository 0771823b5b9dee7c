//! What a callee's result tells of what it was called with.
//!
//! In: the summary, and the states before and behind the call. Out: the state without paths on which the result says that something held before
//! which did not.

use super::binding::Binding;
use crate::summary::{IExpr, Summary};
use crate::symbolic::exec::Executor;
use crate::symbolic::guard::Guard;
use crate::symbolic::state::State;

/// For each result that tells something, the paths on which that held before the call.
pub(super) fn before(
    exec: &mut Executor<'_>,
    state: &mut State,
    summary: &Summary,
    binding: &Binding<'_, '_>,
) -> Vec<Guard> {
    let mut told = Vec::new();
    for tells in &summary.result_tells {
        let mut held = Guard::TRUE;
        for (condition, holds) in &tells.entry {
            let here = condition_here(exec, state, binding, (condition, *holds));
            held = exec.arena.formula.guards.and(held, here);
        }
        told.push(held);
    }
    told
}

/// Leaves out the paths on which the result tells of something that did not hold.
pub(super) fn after(
    exec: &mut Executor<'_>,
    state: &mut State,
    summary: &Summary,
    binding: &Binding<'_, '_>,
    told: &[Guard],
) {
    for (tells, &held) in summary.result_tells.iter().zip(told) {
        if held == Guard::TRUE {
            continue;
        }
        let (result, holds) = &tells.result;
        let so = condition_here(exec, state, binding, (result, *holds));
        let guards = &mut exec.arena.formula.guards;
        let not_held = guards.and_not(so, held);
        let left = guards.and_not(state.guard, not_held);
        if left != Guard::FALSE {
            state.guard = left;
        }
    }
}

fn condition_here(
    exec: &mut Executor<'_>,
    state: &mut State,
    binding: &Binding<'_, '_>,
    (condition, holds): (&IExpr, bool),
) -> Guard {
    binding.condition(exec, state, condition).negated_if(!holds)
}
