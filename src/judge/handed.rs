//! What unknown functions are believed not to keep of what they get: the function itself frees it behind them.
//!
//! In: the escapes of an execution, its calls of unknown functions and what it frees. Out: the escapes without those that the function does not
//! believe in: in `n = ops->read(file, buffer); if (n > 9) return -1; free(buffer);` the callee keeps nothing, or what it keeps would lead to freed
//! memory. That is a belief about the same outcome of the call: `if (submit(job) < 0) free(job)` says nothing of a job that was submitted.

use crate::property::Role;
use crate::symbolic::arena::Arena;
use crate::symbolic::execution::Execution;
use crate::symbolic::guard::{Cond, Guard};
use crate::symbolic::log::{EscapeEvent, Holder, OpEvent, UnknownCall};
use crate::symbolic::origin::Origin;
use crate::symbolic::region::RegionId;
use crate::symbolic::state::Status;

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
    let mut all = Guard::FALSE;
    for (position, freed) in log.ops.iter().enumerate().skip(call.order) {
        if freed.object.loc.region != block || !ends(arena, freed) {
            continue;
        }
        let mut paths = arena.formula.guards.and(freed.guard, call.guard);
        let later = &log.unknown_calls[index + 1..];
        let later = later.iter().filter(|later| later.order <= position);
        let disturbed = log.disturbed[call.disturbed..].iter().filter(|event| {
            event.region == block && event.order <= position && event.call != freed.call
        });
        let others = later.map(|later| later.guard);
        let mut others: Vec<Guard> = others.chain(disturbed.map(|event| event.guard)).collect();
        others.sort_unstable();
        others.dedup();
        if others.len() > MAX_OTHERS {
            continue;
        }
        // What is called on the way to the free alone may take the block back.
        for other in others {
            let here = arena.formula.guards.and(paths, other);
            let outcome = with_outcome(execution, arena, (index, block), here);
            if !arena.formula.guards.implies(outcome, other) {
                paths = arena.formula.guards.and_not(paths, other);
            }
        }
        let outcome = with_outcome(execution, arena, (index, block), paths);
        all = arena.formula.guards.or(all, outcome);
    }
    all
}

fn ends(arena: &Arena<'_>, event: &OpEvent) -> bool {
    let machine = arena.machine_of(event.object);
    event.moves()
        && !event.doubtful
        && matches!(event.to, Some(Status::At(to)) if machine.role(to) == Role::Dead)
}

/// The paths that differ from these in nothing but what was answered behind the call, by callees that did not get the block.
fn with_outcome(
    execution: &Execution,
    arena: &mut Arena<'_>,
    (index, block): (usize, RegionId),
    mut paths: Guard,
) -> Guard {
    let calls = &execution.log.unknown_calls;
    let got_block: Vec<&UnknownCall> = calls[index + 1..]
        .iter()
        .filter(|later| later.reached.contains(&block))
        .collect();
    let is_free = |arena: &Arena<'_>, condition: Cond| {
        let term = arena.formula.cond_term(condition);
        arena.formula.vars(term).into_iter().all(|var| {
            let unknown = arena.formula.terms.var_term(var);
            let told = |later: &&&UnknownCall| (later.terms..later.made).contains(&unknown.index());
            matches!(arena.origins.of(var), Origin::Call { .. })
                && unknown.index() >= calls[index].made
                && !got_block.iter().any(|later| told(&later))
        })
    };
    for condition in arena.formula.guards.support(paths).to_vec() {
        if is_free(arena, condition) {
            paths = arena.formula.guards.for_either(paths, condition);
        }
    }
    paths
}
