//! What unknown functions are believed not to keep of what they get: the function itself frees it behind them.
//!
//! In: the escapes of an execution, its calls of unknown functions and what it frees. Out: the escapes without those that the function does not
//! believe in: in `n = ops->read(file, buffer); if (n > 9) return -1; free(buffer);` the callee keeps nothing, or what it keeps would lead to freed
//! memory. That is a belief about the same outcome of the call: `if (submit(job) < 0) free(job)` says nothing of a job that was submitted.

use std::ops::Range;

use crate::symbolic::arena::Arena;
use crate::symbolic::execution::Execution;
use crate::symbolic::guard::Guard;
use crate::symbolic::log::{EscapeEvent, Holder, UnknownCall};
use crate::symbolic::origin::Origin;
use crate::symbolic::region::RegionId;

/// Paths with other calls between an unknown call and a free that are told apart; where there are more nothing is believed.
const MAX_OTHERS: usize = 16;

/// The escapes of an execution, as the function believes in them.
pub(super) fn believed(execution: &Execution, arena: &mut Arena<'_>) -> Vec<EscapeEvent> {
    let mut escapes = execution.log.escapes.clone();
    for (index, call) in execution.log.unknown_calls.iter().enumerate() {
        for event in &mut escapes[call.escapes.clone()] {
            if event.to == Holder::Callee && arena.is_owned(event.region) {
                let freed = freed_behind(execution, arena, index, event.region);
                event.guard = arena.formula.guards.and_not(event.guard, freed);
            }
        }
    }
    escapes
}

/// The paths on which the call has the outcome with which the function frees the block on others.
fn freed_behind(
    execution: &Execution,
    arena: &mut Arena<'_>,
    index: usize,
    block: RegionId,
) -> Guard {
    let log = &execution.log;
    let call = &log.unknown_calls[index];
    let later = &log.unknown_calls[index + 1..];
    let got_block = later.iter().filter(|later| later.reached.contains(&block));
    let told: Vec<Range<usize>> = got_block.map(|later| later.terms..later.made).collect();
    let mut all = Guard::FALSE;
    for (position, freed) in log.ops.iter().enumerate().skip(call.order) {
        let ends = freed.moves() && freed.ends(arena.machine_of(freed.object));
        if freed.object.loc.region != block || freed.doubtful || !ends {
            continue;
        }
        let mut paths = arena.formula.guards.and(freed.guard, call.guard);
        let before = later.iter().filter(|later| later.order <= position);
        let disturbed = log.disturbed[call.disturbed..].iter().filter(|event| {
            event.region == block && event.order <= position && event.call != freed.call
        });
        let others = before.map(|later| later.guard);
        let mut others: Vec<Guard> = others.chain(disturbed.map(|event| event.guard)).collect();
        others.sort_unstable();
        others.dedup();
        if others.len() > MAX_OTHERS {
            continue;
        }
        // What is called on the way to the free alone may take the block back.
        for other in others {
            let here = arena.formula.guards.and(paths, other);
            let outcome = with_outcome(arena, (call, &told), here);
            if !arena.formula.guards.implies(outcome, other) {
                paths = arena.formula.guards.and_not(paths, other);
            }
        }
        let outcome = with_outcome(arena, (call, &told), paths);
        all = arena.formula.guards.or(all, outcome);
    }
    all
}

/// The paths that differ from these in nothing but what was answered behind the call, by callees that did not get the block. `told`: the terms that
/// those have made up which did.
fn with_outcome(
    arena: &mut Arena<'_>,
    (call, told): (&UnknownCall, &[Range<usize>]),
    mut paths: Guard,
) -> Guard {
    for condition in arena.formula.guards.support(paths).to_vec() {
        let term = arena.formula.cond_term(condition);
        let is_free = arena.formula.vars(term).into_iter().all(|var| {
            let made = arena.formula.terms.var_term(var).index();
            matches!(arena.origins.of(var), Origin::Call { .. })
                && made >= call.made
                && !told.iter().any(|terms| terms.contains(&made))
        });
        if is_free {
            paths = arena.formula.guards.for_either(paths, condition);
        }
    }
    paths
}
