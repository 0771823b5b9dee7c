//! Whether a call meets the conditions under which the callee fails, of failures that are told of the callee itself.
//!
//! In: the summary, and the state before the call. Out: for each such failure the paths on which it may come about ([`MetFailure`]).

use std::sync::Arc;

use super::binding::Binding;
use crate::summary::{IExpr, Root, Summary};
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
        let constants = &binding.site.constants;
        let is_fixed = |(condition, _): &(IExpr, bool)| {
            condition.is_made_of(|object| {
                matches!(object.root, Root::Param(index) if constants.contains(&index))
                    && object.path.is_empty()
            })
        };
        let (fixed, others): (Vec<_>, Vec<_>) = failure.others.iter().cloned().partition(is_fixed);
        let fixed = binding.outcomes(exec, state, pointers, &fixed);
        let all = binding.outcomes(exec, state, fixed, &others);
        exec.execution.log.met_failures.push(MetFailure {
            callee: Arc::clone(binding.site.callee),
            finding: failure.finding,
            compared,
            fixed,
            all,
        });
    }
}
