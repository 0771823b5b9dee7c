//! What a callee's result tells of what it was called with.
//!
//! In: the summary, and the states before and behind the call. Out: the state without paths on which the result says that something held before
//! which did not.

use super::binding::Binding;
use crate::summary::Summary;
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
    let told = summary.result_tells.iter();
    told.map(|tells| binding.outcomes(exec, state, Guard::TRUE, &tells.entry))
        .collect()
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
        let so = binding.outcome(exec, state, &tells.result);
        let guards = &mut exec.arena.formula.guards;
        let not_held = guards.and_not(so, held);
        state.leave_out(guards, not_held);
    }
}
