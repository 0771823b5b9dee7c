//! What is known of whether a callee's result is null.
//!
//! In: the summary, and the result. Out: notes of the result, and the state without paths that there are not.

use super::binding::Binding;
use super::memory::asks_for;
use crate::summary::{Choice, IExpr, NullResult, Root, Summary};
use crate::symbolic::exec::Executor;
use crate::symbolic::guard::Guard;
use crate::symbolic::region::Loc;
use crate::symbolic::state::State;
use crate::symbolic::term::{Node, Op, Term, Terms};

/// Nodes of the condition that a result of which nothing else is known is null only under others.
const MAX_ONLY: usize = 40;

/// The paths on which a result that is a pointer may be null, told by what is there before the call, as far as the summary says so.
#[derive(Clone, Copy, Default)]
pub(super) struct NullWhen {
    whole: Option<Guard>,
    /// For the reason that the summary gives.
    for_reason: Option<Guard>,
}

/// Evaluates what the summary says of that, before the call changes what the conditions are about.
pub(super) fn null_when(
    exec: &mut Executor<'_>,
    state: &mut State,
    summary: &Summary,
    binding: &Binding<'_, '_>,
) -> NullWhen {
    if !exec.arena.watches || !binding.site.may_return_pointer {
        return NullWhen::default();
    }
    let whens = [&summary.null_when, &summary.null_reason_when];
    let [whole, for_reason] =
        whens.map(|when| Some(binding.condition(exec, state, when.as_ref()?)));
    NullWhen { whole, for_reason }
}

/// Notes what is known of a result that is a pointer.
pub(super) fn result(
    exec: &mut Executor<'_>,
    state: &mut State,
    summary: &Summary,
    binding: &Binding<'_, '_>,
    (result, when): (Term, NullWhen),
) {
    // Of a callee that always returns null nothing is left open.
    let known = exec.arena.formula.terms.as_const(result).is_some();
    if !exec.arena.watches || !binding.site.may_return_pointer || known {
        return;
    }
    exec.arena.made_by_callee(result);
    let null_when = when.whole;
    let never = is_excluded(exec, state, null_when);
    match (summary.null_result, null_when) {
        (NullResult::Never, _) => is_never_null(exec, state, result),
        (NullResult::May | NullResult::AtTimes, Some(when)) => {
            exec.arena.null_only.push((result, when))
        }
        (NullResult::Unknown, Some(when)) => is_null_only(exec, state, result, when),
        _ => {}
    }
    let null_result = match null_when {
        Some(when) if is_unlikely(exec, state, summary, when) => NullResult::AtTimes,
        _ => summary.null_result,
    };
    match null_result {
        NullResult::May | NullResult::AtTimes if never => {
            is_never_null(exec, state, result);
            state.nonnull.insert(result);
        }
        NullResult::May | NullResult::AtTimes if returns_argument(summary) => {}
        // The arguments say that it is not for the callee's own reasons.
        NullResult::May | NullResult::AtTimes if is_excluded(exec, state, when.for_reason) => {}
        NullResult::AtTimes => {
            let known = exec.arena.null_at_times.entry(result);
            known.or_insert_with(|| binding.site.called());
        }
        NullResult::Unknown => {}
        NullResult::May => {
            // Where it is null for some arguments only, that is a question of the whole.
            let parts = match null_when {
                Some(_) => Vec::new(),
                None => nullable_parts(exec, state, summary, binding),
            };
            for pointer in [result].into_iter().chain(parts) {
                let known = exec.arena.nullable.entry(pointer);
                known.or_insert_with(|| binding.site.called());
            }
            exec.arena.locations(result);
            if let Some(&null) = exec.arena.invalid_on.get(&result) {
                let conditions = exec.arena.formula.guards.support(null).to_vec();
                exec.arena.failing_conditions.extend(conditions);
            }
        }
        NullResult::Never => {
            state.nonnull.insert(result);
        }
    }
}

/// Of a result that is one of several pointers, those that may be null: `return found ? found : malloc(size);`.
fn nullable_parts(
    exec: &mut Executor<'_>,
    state: &mut State,
    summary: &Summary,
    binding: &Binding<'_, '_>,
) -> Vec<Term> {
    let may_be_null = |value: &&IExpr| match value {
        IExpr::Unknown { choice, .. } => *choice == Choice::MayBeNull,
        _ => false,
    };
    let parts = alternatives(summary).into_iter().filter(may_be_null);
    parts
        .filter_map(|value| binding.value(exec, state, value))
        .collect()
}

/// The values that a function's result is one of.
fn alternatives(summary: &Summary) -> Vec<&IExpr> {
    let mut work: Vec<&IExpr> = summary.result.iter().collect();
    let mut found = Vec::new();
    while let Some(value) = work.pop() {
        match value {
            IExpr::Op {
                op: Op::Ite, args, ..
            } => work.extend(&args[1..]),
            _ => found.push(value),
        }
    }
    found
}

fn is_excluded(exec: &mut Executor<'_>, state: &State, when: Option<Guard>) -> bool {
    when.is_some_and(|when| exec.arena.formula.guards.excludes(state.guard, when))
}

/// Whether a result is null only where an argument is one number, a size of 0, or null, and the function has not asked for that: it takes it that
/// this is not so.
fn is_unlikely(exec: &mut Executor<'_>, state: &State, summary: &Summary, when: Guard) -> bool {
    if summary.null_result != NullResult::May || summary.is_primitive() {
        return false;
    }
    let formula = &mut exec.arena.formula;
    let mut otherwise = formula.guards.and(state.guard, when);
    for condition in formula.guards.support(when).to_vec() {
        if is_one_number(&formula.terms, formula.cond_term(condition)) {
            let equal = formula.guards.literal(condition, true);
            otherwise = formula.guards.and_not(otherwise, equal);
        }
    }
    otherwise == Guard::FALSE && !asks_for(exec, state, when)
}

/// Whether a condition says that something is one number. A test of some bits of it does not.
fn is_one_number(terms: &Terms, condition: Term) -> bool {
    let compared = terms.as_equal_to_const(condition);
    let bits = |value: Term| matches!(terms.node(value), Node::Op { op: Op::And, .. });
    compared.is_some_and(|(value, _)| !bits(value))
}

/// Whether a result is one of the arguments, or else a constant: null, an error number. Whoever knows what state the object is in need not
/// ask for it: `get_if_referenced(p)`.
pub(super) fn returns_argument(summary: &Summary) -> bool {
    let mut others = alternatives(summary);
    others.retain(|value| !matches!(value, IExpr::Const { .. }));
    let is_argument = |value: &&IExpr| match value {
        IExpr::Value { object, .. } => {
            matches!(object.root, Root::Param(_)) && object.path.is_empty()
        }
        _ => false,
    };
    !others.is_empty() && others.iter().all(is_argument)
}

/// Leaves out the paths on which a result is null, where nothing lies behind it.
pub(super) fn leave_out_null(
    exec: &mut Executor<'_>,
    result: Term,
    places: &mut Vec<(Guard, Loc)>,
) {
    let null = exec.arena.null_paths(result);
    leave_out(exec, null, places);
}

/// Leaves out paths, and places to which no others lead.
pub(super) fn leave_out(exec: &mut Executor<'_>, paths: Guard, places: &mut Vec<(Guard, Loc)>) {
    for (place, _) in places.iter_mut() {
        *place = exec.arena.formula.guards.and_not(*place, paths);
    }
    places.retain(|(place, _)| *place != Guard::FALSE);
}

/// Leaves out the paths on which a result is null without the conditions under which alone it is; not if they are many.
fn is_null_only(exec: &mut Executor<'_>, state: &mut State, result: Term, when: Guard) {
    let null = exec.arena.null_paths(result);
    let guards = &mut exec.arena.formula.guards;
    let never = guards.and_not(null, when);
    if guards.size(never) <= MAX_ONLY {
        state.leave_out(guards, never);
    }
}

/// Leaves out the paths on which a result is null that never is.
fn is_never_null(exec: &mut Executor<'_>, state: &mut State, result: Term) {
    let null = exec.arena.null_paths(result);
    let guards = &mut exec.arena.formula.guards;
    if state.leave_out(guards, null) {
        let condition = guards.as_literal(null);
        let condition = condition.map(|(condition, _)| condition);
        exec.arena.never_null.extend(condition);
    }
}
