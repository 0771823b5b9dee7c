//! What unknown functions are believed not to keep of what they get: the function itself frees it behind them.
//!
//! In: the escapes of an execution, its calls of unknown functions and what it frees. Out: the escapes without those that the function does not
//! believe in: in `n = ops->read(file, buffer); if (n > 9) return -1; free(buffer);` the callee keeps nothing, or what it keeps would lead to freed
//! memory. That is a belief about the same outcome of the call: `if (submit(job) < 0) free(job)` says nothing of a job that was submitted. But who has
//! not kept the block where it has succeeded does not keep it where it has failed: `if (send(data)) return ERROR; free(data); return 0;`.

use std::ops::Range;

use crate::summary::infer::Exit;
use crate::symbolic::arena::Arena;
use crate::symbolic::execution::Execution;
use crate::symbolic::guard::Guard;
use crate::symbolic::log::{EscapeEvent, Holder, UnknownCall};
use crate::symbolic::origin::Origin;
use crate::symbolic::region::RegionId;
use crate::symbolic::term::{Term, mask};

/// Paths with other calls between an unknown call and a free that are told apart; where there are more nothing is believed.
const MAX_OTHERS: usize = 16;
/// Values that the function may return that are told apart.
const MAX_RESULTS: u32 = 64;

/// The escapes of an execution, as the function believes in them.
pub(super) fn believed(
    execution: &Execution,
    arena: &mut Arena<'_>,
    (exit, returns_pointer): (&Exit<'_>, bool),
) -> Vec<EscapeEvent> {
    let mut escapes = execution.log.escapes.clone();
    for (index, call) in execution.log.unknown_calls.iter().enumerate() {
        let mut failed = None;
        let calls = &execution.log.unknown_calls[index..];
        for event in &mut escapes[call.escapes.clone()] {
            if event.to != Holder::Callee || !arena.is_owned(event.region) {
                continue;
            }
            let freed = |paths, whose| Freed {
                index,
                block: event.region,
                paths,
                whose,
            };
            let same = freed(Guard::TRUE, Whose::OfOthers).behind(execution, arena);
            event.guard = arena.formula.guards.and_not(event.guard, same);
            let failed =
                *failed.get_or_insert_with(|| failed_on(arena, (exit, returns_pointer), calls));
            if failed == Guard::FALSE || arena.formula.guards.excludes(event.guard, failed) {
                continue;
            }
            let succeeded = arena.formula.guards.and_not(exit.state.guard, failed);
            let any = freed(succeeded, Whose::OfAll).behind(execution, arena);
            let failed = arena.formula.guards.and(event.guard, failed);
            let any = arena.formula.guards.and(any, failed);
            let any = but_certain_answers(arena, any, call.result);
            event.guard = arena.formula.guards.and_not(event.guard, any);
        }
    }
    escapes
}

/// The paths through the first of some calls of unknown functions on which the function returns that it has failed: null, a negative number or an error's
/// (1 may mean that all is well), or what one of them has returned, where it is not 0.
fn failed_on(
    arena: &mut Arena<'_>,
    (exit, returns_pointer): (&Exit<'_>, bool),
    calls: &[UnknownCall],
) -> Guard {
    let Some(result) = exit.result else {
        return Guard::FALSE;
    };
    let is_answer = |value: Term| calls.iter().any(|call| call.result == Some(value));
    let paths = arena.formula.guards.and(exit.state.guard, calls[0].guard);
    let mut failed = Guard::FALSE;
    for (paths, value) in arena.formula.alternatives(result, paths, MAX_RESULTS) {
        let formula = &mut arena.formula;
        let here = match formula.terms.as_const(value) {
            Some(0) if returns_pointer => paths,
            Some(value) if value > 1 && !returns_pointer => paths,
            None if !returns_pointer && is_answer(value) => {
                let zero = formula.terms.constant(0, formula.terms.width(value));
                let zero = formula.terms.eq(value, zero);
                let zero = formula.guard_of(zero);
                formula.guards.and_not(paths, zero)
            }
            _ => Guard::FALSE,
        };
        failed = arena.formula.guards.or(failed, here);
    }
    failed
}

/// The paths but those on which the call has one certain result that says more than whether it has failed: `if (r == -EINPROGRESS) return r;`.
fn but_certain_answers(arena: &mut Arena<'_>, mut paths: Guard, answer: Option<Term>) -> Guard {
    let Some(answer) = answer else {
        return paths;
    };
    for condition in arena.formula.guards.support(paths).to_vec() {
        let terms = &arena.formula.terms;
        let compared = terms.as_equal_to_const(arena.formula.cond_term(condition));
        let says_more = compared.is_some_and(|(value, number)| {
            value == answer && number != 0 && number != mask(terms.width(value))
        });
        if says_more {
            let literal = arena.formula.guards.literal(condition, true);
            paths = arena.formula.guards.and_not(paths, literal);
        }
    }
    paths
}

/// What is freed behind a call of an unknown function.
struct Freed {
    /// The call's number.
    index: usize,
    block: RegionId,
    /// The paths on which it is looked for.
    paths: Guard,
    /// The answers on which it does not depend what becomes of the block.
    whose: Whose,
}

/// Whose answers, from a call on.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Whose {
    /// Those of callees behind the call that did not get the block.
    OfOthers,
    /// Those of the call, too, and of all callees behind it.
    OfAll,
}

impl Freed {
    /// The paths that differ from those on which the function frees the block in nothing but such answers.
    fn behind(&self, execution: &Execution, arena: &mut Arena<'_>) -> Guard {
        let log = &execution.log;
        let call = &log.unknown_calls[self.index];
        let later = &log.unknown_calls[self.index + 1..];
        let got_block = later
            .iter()
            .filter(|later| later.reached.contains(&self.block));
        let told: Vec<Range<usize>> = got_block.map(|later| later.terms..later.made).collect();
        let mut all = Guard::FALSE;
        for (position, freed) in log.ops.iter().enumerate().skip(call.order) {
            let ends = freed.moves() && freed.ends(arena.machine_of(freed.object));
            if freed.object.loc.region != self.block || freed.doubtful || !ends {
                continue;
            }
            let guards = &mut arena.formula.guards;
            let mut paths = guards.and(freed.guard, call.guard);
            paths = guards.and(paths, self.paths);
            let before = later.iter().filter(|later| later.order <= position);
            let disturbed = log.disturbed[call.disturbed..].iter().filter(|event| {
                event.region == self.block && event.order <= position && event.call != freed.call
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
                let outcome = with_outcome(arena, (call.made, &told), here);
                if !arena.formula.guards.implies(outcome, other) {
                    paths = arena.formula.guards.and_not(paths, other);
                }
            }
            let outcome = match self.whose {
                Whose::OfOthers => with_outcome(arena, (call.made, &told), paths),
                Whose::OfAll => with_outcome(arena, (call.terms, &[]), paths),
            };
            all = arena.formula.guards.or(all, outcome);
        }
        all
    }
}

/// The paths that differ from these in nothing but what was answered from the term `answers` on, by callees that did not get the block. `told`: the terms
/// that those have made up which did.
fn with_outcome(
    arena: &mut Arena<'_>,
    (answers, told): (usize, &[Range<usize>]),
    mut paths: Guard,
) -> Guard {
    for condition in arena.formula.guards.support(paths).to_vec() {
        let term = arena.formula.cond_term(condition);
        let is_free = arena.formula.vars(term).into_iter().all(|var| {
            let made = arena.formula.terms.var_term(var).index();
            matches!(arena.origins.of(var), Origin::Call { .. })
                && made >= answers
                && !told.iter().any(|terms| terms.contains(&made))
        });
        if is_free {
            paths = arena.formula.guards.for_either(paths, condition);
        }
    }
    paths
}
