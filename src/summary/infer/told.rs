//! What a result tells of what the function was called with: `if (check(p) < 0) return; use(p->name);`, where `check` fails without a name.
//!
//! In: the function's exit, and the conditions on its result. Out: for some of them what held on entry wherever the function returns so. Callers that
//! know all of the result as an expression over entry values have that already.

use super::Exit;
use crate::sat::oracle::Oracle;
use crate::summary::convert::Converter;
use crate::summary::memory::is_passed;
use crate::summary::predicates::Predicate;
use crate::summary::{IExpr, ResultTells};
use crate::symbolic::execution::Execution;
use crate::symbolic::guard::{Cond, Guard};
use crate::symbolic::term::Op;

/// Conditions on the result that are kept.
const MAX_TOLD: usize = 4;
/// What one of them tells.
const MAX_LITERALS: usize = 8;

/// What the function has returned, and what held then.
struct Told {
    paths: Guard,
    tells: ResultTells,
}

pub(super) fn told_by_result(
    execution: &Execution,
    oracle: &mut Oracle<'_>,
    exit: &Exit<'_>,
    candidates: &[Predicate],
) -> Vec<ResultTells> {
    let all = exit.state.guard;
    let always = oracle.formula.guards.implied_literals(all);
    let mut found: Vec<Told> = Vec::new();
    // Of two conditions that hold on the same ways of the function the weaker one is told: callers ask for `ret >= 0` more often than for `ret == 0`.
    let is_order = |candidate: &&Predicate| {
        matches!(
            &candidate.expr,
            IExpr::Op {
                op: Op::Slt | Op::Ult,
                ..
            }
        )
    };
    let (orders, others): (Vec<&Predicate>, Vec<&Predicate>) =
        candidates.iter().partition(is_order);
    for candidate in orders.into_iter().chain(others) {
        for holds in [true, false] {
            let result = candidate.guard.negated_if(!holds);
            let paths = oracle.formula.guards.and(all, result);
            if paths == Guard::FALSE || paths == all {
                continue;
            }
            let mut literals = oracle.formula.guards.implied_literals(paths);
            literals.retain(|literal| !always.contains(literal));
            let entry = over_entry(execution, oracle, &literals);
            if entry.is_empty() {
                continue;
            }
            let tells = ResultTells {
                result: (candidate.expr.clone(), holds),
                entry,
            };
            add(oracle, &mut found, Told { paths, tells });
        }
    }
    found.truncate(MAX_TOLD);
    found.into_iter().map(|told| told.tells).collect()
}

/// Adds what a result tells, unless a result that comes on more paths tells as much; and leaves out what tells no more than this one.
fn add(oracle: &mut Oracle<'_>, found: &mut Vec<Told>, new: Told) {
    let mut covers = |one: &Told, other: &Told| {
        let mut literals = other.tells.entry.iter();
        let more = oracle.formula.guards.and_not(other.paths, one.paths);
        literals.all(|literal| one.tells.entry.contains(literal))
            && follows(&one.tells.result, &other.tells.result)
            && !oracle.possible(more)
    };
    if found.iter().any(|known| covers(known, &new)) {
        return;
    }
    found.retain(|known| !covers(&new, known));
    found.push(new);
}

/// Whether a condition on the result follows from another one for whoever knows nothing else of the result: a function that returns -1 or what
/// is not negative tells more by `ret != -1` than by `ret >= 0`.
fn follows(condition: &(IExpr, bool), from: &(IExpr, bool)) -> bool {
    if condition == from {
        return true;
    }
    let (Some(mut borders), Some(others)) = (borders(&condition.0), borders(&from.0)) else {
        return false;
    };
    borders.extend(others);
    borders.push(0);
    let beside = |border: u128| [border.wrapping_sub(1), border, border.wrapping_add(1)];
    let outcome = |of: &(IExpr, bool), result| {
        let outcome = of.0.with_result(result)?;
        Some((outcome == 1) == of.1)
    };
    let mut results = borders.into_iter().flat_map(beside);
    results.all(
        |result| match (outcome(from, result), outcome(condition, result)) {
            (Some(from), Some(condition)) => !from || condition,
            _ => false,
        },
    )
}

/// The numbers at which the outcome of a condition on the result may change: the constants that it compares the result with, and where the sign
/// changes. `None` if it does anything else with the result.
fn borders(condition: &IExpr) -> Option<Vec<u128>> {
    let mut borders = Some(Vec::new());
    condition.each(&mut |part| match (part, &mut borders) {
        (IExpr::Const { value, .. }, Some(borders)) => borders.push(*value),
        (IExpr::Value { width, .. }, Some(borders)) => borders.push(1 << (width - 1)),
        (
            IExpr::Op {
                op: Op::Not | Op::Eq | Op::Ult | Op::Slt,
                ..
            },
            _,
        ) => {}
        (_, borders) => *borders = None,
    });
    borders
}

/// The conditions that callers can evaluate before the call, with their values. Rounds of a loop that were left out may take other ways: what is left
/// then is that pointers are not null, on which loops do not end.
fn over_entry(
    execution: &Execution,
    oracle: &mut Oracle<'_>,
    literals: &[(Cond, bool)],
) -> Vec<(IExpr, bool)> {
    let mut literals = literals.to_vec();
    literals.retain(|&(condition, holds)| {
        !execution.cut || !holds && compares_with_null(oracle, condition)
    });
    let known = before_the_call(oracle, &literals);
    known
        .take(MAX_LITERALS)
        .map(|known| known.literal)
        .collect()
}

/// A condition that callers can evaluate before the call.
pub(super) struct Known {
    /// The condition, and whether it holds.
    pub literal: (IExpr, bool),
    /// It compares a pointer with null.
    pub is_pointer: bool,
}

/// The conditions that callers can evaluate before the call, with their values.
pub(super) fn before_the_call(
    oracle: &mut Oracle<'_>,
    literals: &[(Cond, bool)],
) -> impl Iterator<Item = Known> {
    let mut converter = Converter::of_entry();
    literals.iter().filter_map(move |&(condition, holds)| {
        let term = oracle.formula.cond_term(condition);
        let expr = converter.expr(oracle, term)?;
        expr.is_made_of(is_passed).then(|| Known {
            literal: (expr, holds),
            is_pointer: compares_with_null(oracle, condition),
        })
    })
}

fn compares_with_null(oracle: &mut Oracle<'_>, condition: Cond) -> bool {
    let literal = oracle.formula.guards.literal(condition, true);
    !oracle.compared_with_null(literal).is_empty()
}
