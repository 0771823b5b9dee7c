//! Whether a call meets the conditions under which the callee fails, of failures that are told of the callee itself.
//!
//! In: the summary, and the state before the call. Out: for each such failure the paths on which it may come about ([`MetFailure`]).

use std::sync::Arc;

use super::binding::Binding;
use crate::summary::Summary;
use crate::symbolic::exec::Executor;
use crate::symbolic::guard::Guard;
use crate::symbolic::log::MetFailure;
use crate::symbolic::state::State;

pub(super) fn note(
    exec: &mut Executor<'_>,
    state: &mut State,
    summary: &Summary,
    binding: &Binding<'_, '_>,
) {
    for failure in &summary.fails_when {
        let null = binding.outcomes(exec, state, Guard::TRUE, &failure.pointers);
        let compared = exec.arena.compared_with_null(null);
        let pointers = exec.arena.formula.guards.and(state.guard, null);
        let all = binding.outcomes(exec, state, pointers, &failure.others);
        exec.execution.log.met_failures.push(MetFailure {
            callee: Arc::clone(binding.site.callee),
            finding: failure.finding,
            compared,
            pointers,
            all,
        });
    }
}
