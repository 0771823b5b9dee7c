//! What a result tells of what the function was called with: `if (check(p) < 0) return; use(p->name);`, where `check` fails without a name.
//!
//! In: the function's exit, and the conditions on its result. Out: for some of them what held on entry wherever the function returns so. Callers that
//! know all of the result as an expression over entry values have that already.

use super::Exit;
use crate::sat::oracle::Oracle;
use crate::summary::convert::Converter;
use crate::summary::memory::is_passed;
use crate::summary::predicates::Predicate;
use crate::summary::{IExpr, ResultTells, Root};
use crate::symbolic::execution::Execution;
use crate::symbolic::guard::{Cond, Guard};
use crate::symbolic::term::{Op, mask};

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
    let Some(width) = [condition, from].iter().find_map(|(expr, _)| width(expr)) else {
        return false;
    };
    // The conditions change only where one of their constants is, and where the sign does.
    let borders = [condition, from].map(|(expr, _)| constant(expr));
    let borders = borders.into_iter().flatten().chain([0, 1 << (width - 1)]);
    let mut values = borders.flat_map(|border| {
        let beside = [border.wrapping_sub(1), border, border.wrapping_add(1)];
        beside.map(|value| value & mask(width))
    });
    let outcome = |of: &(IExpr, bool), value| holds(&of.0, value).map(|holds| holds == of.1);
    values.all(
        |value| match (outcome(from, value), outcome(condition, value)) {
            (Some(from), Some(condition)) => !from || condition,
            _ => false,
        },
    )
}

/// What a condition compares, and whether it says the contrary of the comparison.
fn comparison(condition: &IExpr) -> Option<(Op, &[IExpr; 2], bool)> {
    let IExpr::Op { op, args, .. } = condition else {
        return None;
    };
    if let (Op::Not, [inner]) = (op, args.as_slice()) {
        let (op, args, negated) = comparison(inner)?;
        return Some((op, args, !negated));
    }
    let args = args.as_slice().try_into().ok()?;
    Some((*op, args, false))
}

/// A constant that a condition compares something with.
fn constant(condition: &IExpr) -> Option<u128> {
    let (_, args, _) = comparison(condition)?;
    args.iter().find_map(|arg| match arg {
        IExpr::Const { value, .. } => Some(*value),
        _ => None,
    })
}

/// Bits of what a condition compares.
fn width(condition: &IExpr) -> Option<u16> {
    let (_, [left, _], _) = comparison(condition)?;
    Some(left.width())
}

/// Whether a condition holds where the result is this number; `None` if it is no comparison with a constant.
fn holds(condition: &IExpr, result: u128) -> Option<bool> {
    let (op, [left, right], negated) = comparison(condition)?;
    let of = |arg: &IExpr| match arg {
        IExpr::Const { value, .. } => Some(*value),
        IExpr::Value { object, .. } if object.root == Root::Return && object.path.is_empty() => {
            Some(result)
        }
        _ => None,
    };
    let (left, right, width) = (of(left)?, of(right)?, left.width());
    let signed = |value: u128| value ^ (1 << (width - 1));
    let holds = match op {
        Op::Eq => left == right,
        Op::Ult => left < right,
        Op::Slt => signed(left) < signed(right),
        _ => return None,
    };
    Some(holds != negated)
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
