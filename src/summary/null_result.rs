//! Whether a function's result may be null, and whether that says that it has failed.
//!
//! In: a finished execution and its results. Out: the summary's null result, and over which arguments it is decided.

use super::convert::Converter;
use super::infer::Exit;
use super::memory::is_passed;
use super::returns::{all_over_parameters, said_together};
use super::{IExpr, NullResult, Summary};
use crate::ir::POINTER_BITS;
use crate::sat::oracle::Oracle;
use crate::symbolic::arena::Arena;
use crate::symbolic::execution::Execution;
use crate::symbolic::guard::{Cond, Guard};
use crate::symbolic::region::RegionKind;
use crate::symbolic::term::{Node, Op, Term};

/// Choices one within the other that are looked at.
const MAX_NESTED: u32 = 8;
/// Conditions over arguments that have the same outcome wherever a result is null.
const MAX_IMPLIED: usize = 32;
/// Others that decide together whether it is.
const MAX_DECIDING: usize = 6;

/// Finds out whether the result may be null.
pub(super) fn add(
    execution: &Execution,
    oracle: &mut Oracle<'_>,
    summary: &mut Summary,
    exit: &Exit<'_>,
) {
    let Some(result) = exit
        .result
        .filter(|&result| oracle.formula.terms.width(result) == POINTER_BITS)
    else {
        return;
    };
    let null = oracle.null_by_choice(result);
    let all = oracle.formula.guards.and(exit.state.guard, null);
    let mut null = all;
    // In the function itself this counts for nothing: that a size is 0 is no excuse for who does not look at the result.
    for (made, when) in oracle.null_only.clone() {
        let failed = oracle.null_paths(made);
        let guards = &mut oracle.formula.guards;
        let never = guards.and_not(failed, when);
        null = guards.and_not(null, never);
    }
    // A function that may end the program is called because the result is null, or one that a pointer names and that may be any:
    // `if (!p) (*out_of_memory)(size);`.
    let may_end = execution.log.may_end.iter().filter(|call| !call.told);
    let any = execution.log.calls_of_any(execution.log.unknowns());
    for call in may_end.map(|call| call.guard).chain(any) {
        let guards = &mut oracle.formula.guards;
        let called = guards.and(exit.state.guard, call);
        if called != Guard::FALSE && guards.implies(called, all) {
            null = guards.and_not(null, called);
        }
    }
    if !oracle.possible(null) {
        summary.null_result = NullResult::Never;
        return;
    }
    // Nothing is said where that was not found out within the budget.
    if oracle.model(null).is_none() {
        return;
    }
    // What another pointer is where a callee has failed says nothing of that: `(file = popen(pager, "w")) ? file : stdout`.
    let chosen = match oracle.has_untold_places(result) {
        true => null,
        false => {
            let chosen = oracle.chosen_null(result);
            oracle.formula.guards.and(null, chosen)
        }
    };
    let failed = failed(oracle, exit, result, (null, chosen));
    let (reason, so) = if oracle.possible(failed) {
        (NullResult::May, failed)
    } else if let Some(at_times) = null_at_times(oracle, result, null) {
        (NullResult::AtTimes, at_times)
    } else {
        // Rounds of a loop that were left out may return null otherwise.
        if !execution.cut {
            summary.null_when = over_arguments(oracle, null, 0);
        }
        return;
    };
    summary.null_result = reason;
    // Else it is what is said of all of them.
    if so != null {
        summary.null_reason_when = over_arguments(oracle, so, MAX_DECIDING);
    }
    summary.null_when = over_arguments(oracle, null, MAX_DECIDING);
}

/// Those of the paths on which a result is null that follow a callee's failure. `chosen`: the function itself says null there.
fn failed(
    oracle: &mut Oracle<'_>,
    exit: &Exit<'_>,
    result: Term,
    (null, chosen): (Guard, Guard),
) -> Guard {
    let parts = [
        failed_results(oracle, result, null),
        said_failures(oracle, chosen),
        followed_failures(oracle, exit, null),
    ];
    oracle.formula.guards.union(parts)
}

/// Those of these paths on which a result is the constant null, or what a callee has returned that returns null at times, if more than what
/// callers pass decides that.
fn null_at_times(oracle: &mut Oracle<'_>, result: Term, null: Guard) -> Option<Guard> {
    let locations = oracle.locations(result);
    let mut at_times = oracle.chosen_null(result);
    for &(chosen, loc) in &*locations {
        let base = oracle.regions.base(loc.region);
        if base.is_some_and(|base| oracle.null_at_times.contains_key(&base)) {
            at_times = oracle.formula.guards.or(at_times, chosen);
        }
    }
    let at_times = oracle.formula.guards.and(null, at_times);
    let open = oracle.possible(at_times) && all_over_parameters(oracle, null).is_empty();
    open.then_some(at_times)
}

/// The condition over what the function was called with, and what lies there, without which there are no such paths; `None`: it says nothing. `others`: of
/// how many conditions it is made that have no one outcome on these paths.
fn over_arguments(oracle: &mut Oracle<'_>, paths: Guard, others: usize) -> Option<IExpr> {
    let arena: &mut Arena<'_> = oracle;
    let mut converter = Converter::of_entry();
    let implied = arena.formula.guards.implied_literals(paths);
    let is_implied = |condition: &Cond| implied.iter().any(|(known, _)| known == condition);
    let support = arena.formula.guards.support(paths).to_vec();
    let (implied, open): (Vec<Cond>, Vec<Cond>) = support.into_iter().partition(is_implied);
    let mut passed: Vec<(Cond, IExpr)> = Vec::new();
    for (conditions, most) in [(implied, MAX_IMPLIED), (open, others)] {
        let over_arguments = conditions.into_iter().filter_map(|condition| {
            let term = arena.formula.cond_term(condition);
            let expr = converter.expr(arena, term);
            let expr = expr.filter(|expr| expr.is_made_of(is_passed))?;
            Some((condition, expr))
        });
        passed.extend(over_arguments.take(most));
    }
    said_together(oracle, paths, &passed)
}

/// Those of the paths on which the function itself says null on which it does so because a callee has failed: had that not failed, the result
/// would be another one. So that is no path on which the callee is not even called.
fn said_failures(oracle: &mut Oracle<'_>, null: Guard) -> Guard {
    let mut asked = oracle.compared_with_null(null);
    asked.retain(|pointer| oracle.nullable.contains_key(pointer));
    let mut said = Guard::FALSE;
    for pointer in asked {
        let failed = oracle.null_paths(pointer);
        let guards = &mut oracle.formula.guards;
        let mut here = guards.and(null, failed);
        if let Some((condition, value)) = guards.as_literal(failed) {
            let otherwise = guards.restrict(null, &[(condition, !value)]);
            here = guards.and_not(here, otherwise);
        }
        said = guards.or(said, here);
    }
    said
}

/// Where some call has not made what it makes as a rule, if the result is null wherever that is so: `if (posix_memalign(&p, …)) return NULL;`.
fn followed_failures(oracle: &mut Oracle<'_>, exit: &Exit<'_>, null: Guard) -> Guard {
    let mut failed = oracle.made_nothing.clone();
    failed.sort_unstable();
    failed.dedup();
    let mut followed = Guard::FALSE;
    for nothing in failed {
        let guards = &mut oracle.formula.guards;
        let here = guards.and(exit.state.guard, nothing);
        if guards.implies(here, null) {
            followed = guards.or(followed, here);
        }
    }
    followed
}

/// Those of these paths on which a pointer that is null there is what a function has returned that has failed.
fn failed_results(oracle: &mut Oracle<'_>, pointer: Term, null: Guard) -> Guard {
    let mut failed = failed_result(oracle, pointer, null, MAX_NESTED);
    let locations = oracle.locations(pointer);
    for &(chosen, loc) in &*locations {
        let RegionKind::Environment { base } = *oracle.regions.kind(loc.region) else {
            continue;
        };
        if oracle.nullable.contains_key(&base) {
            let guards = &mut oracle.formula.guards;
            let here = guards.and(null, chosen);
            failed = guards.or(failed, here);
        }
    }
    failed
}

/// Those of these paths on which a pointer is by choice what a function has returned that has failed, which may itself be a choice, of null or
/// another pointer.
fn failed_result(oracle: &mut Oracle<'_>, pointer: Term, null: Guard, depth: u32) -> Guard {
    if null == Guard::FALSE {
        return Guard::FALSE;
    }
    if oracle.nullable.contains_key(&pointer) {
        let failed = oracle.null_by_choice(pointer);
        return oracle.formula.guards.and(null, failed);
    }
    let (Node::Op { op: Op::Ite, args }, 1..) = (oracle.formula.terms.node(pointer).clone(), depth)
    else {
        return Guard::FALSE;
    };
    let chosen = oracle.formula.guard_of(args[0]);
    let guards = &mut oracle.formula.guards;
    let sides = [guards.and(null, chosen), guards.and_not(null, chosen)];
    let arms = args[1..].iter().zip(sides);
    let arms = arms.map(|(&arm, side)| failed_result(oracle, arm, side, depth - 1));
    let arms: Vec<Guard> = arms.collect();
    oracle.formula.guards.union(arms)
}

/// Whether a pointer that the function leaves in memory may be null because a callee has failed, and the function has not looked: one that
/// it has compared with null it leaves there as null on purpose.
pub fn may_be_null(oracle: &mut Oracle<'_>, exit: &Exit<'_>, pointer: Term) -> NullResult {
    let nullable = oracle.nullable.contains_key(&pointer) && !oracle.tested.contains_key(&pointer);
    if !oracle.watches || !nullable || oracle.formula.terms.width(pointer) != POINTER_BITS {
        return NullResult::Unknown;
    }
    let null = oracle.null_paths(pointer);
    let null = oracle.formula.guards.and(exit.state.guard, null);
    let failed = failed_results(oracle, pointer, null);
    match oracle.possible(failed) {
        true => NullResult::May,
        false => NullResult::Unknown,
    }
}
