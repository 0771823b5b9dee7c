//! Under which conditions a call of the function may sleep.
//!
//! In: the sleeping calls of a finished execution. Out: for each the conditions over entry values that hold
//! on all paths to it, and the way down to what sleeps.

use super::convert::Converter;
use super::{Cube, IExpr, Sleep, Summary, trace};
use crate::sat::oracle::Oracle;
use crate::symbolic::arena::Arena;
use crate::symbolic::execution::Execution;
use crate::symbolic::guard::Guard;
use crate::symbolic::term::Op;

/// Ways to sleep that callers learn of, at most.
const MAX_WAYS: usize = 8;
const MAX_CONDITIONS: usize = 10;

/// A condition over entry values, and whether it holds.
pub(super) type Literal = (IExpr, bool);

/// Adds to a function's summary the conditions under which it may sleep.
pub fn add(execution: &Execution, oracle: &mut Oracle<'_>, summary: &mut Summary) {
    let mut converter = Converter::of_entry();
    let mut ways: Vec<(Vec<Literal>, usize)> = Vec::new();
    for index in 0..execution.log.sleeps.len() {
        let event = &execution.log.sleeps[index];
        let (mut guard, released, condition) = (event.guard, event.released, event.condition);
        let held: Vec<Guard> = event.held.iter().map(|(_, _, held)| *held).collect();
        // What is wrong in this function is reported in it, and not again above.
        for not in held.into_iter().chain([released]) {
            guard = oracle.formula.guards.and_not(guard, not);
        }
        guard = execution.with_known_effects(&mut oracle.formula.guards, guard);
        if !callers_know(oracle, &mut converter, condition) {
            continue;
        }
        if ways.len() >= MAX_WAYS {
            break;
        }
        let conditions = conditions(oracle, &mut converter, condition, guard);
        // A way with fewer conditions covers it.
        let covered = ways
            .iter()
            .any(|(way, _)| way.iter().all(|literal| conditions.contains(literal)));
        if covered || oracle.model(guard).is_none() {
            continue;
        }
        ways.retain(|(way, _)| !conditions.iter().all(|literal| way.contains(literal)));
        ways.push((conditions, index));
    }
    for (conditions, index) in ways {
        let incond = valuation(summary, conditions);
        let there = lead_somewhere(execution, oracle, &mut converter, index);
        let columns = (0u32..).zip(&incond).zip(&summary.inputs);
        let there = columns
            .filter(|((_, wanted), _)| wanted.is_some())
            .filter(|(_, predicate)| there.contains(predicate))
            .map(|((column, _), _)| column)
            .collect();
        summary.sleeps.push(Sleep {
            incond,
            there,
            trace: trace::sleeping(&execution.log.sleeps[index]),
        });
    }
}

/// The conditions on the way to a sleeping call that say only that a pointer is valid which this function or a callee
/// dereferences.
fn lead_somewhere(
    execution: &Execution,
    arena: &mut Arena<'_>,
    converter: &mut Converter,
    event: usize,
) -> Vec<IExpr> {
    let event = &execution.log.sleeps[event];
    let mut literals = arena.formula.guards.implied_literals(event.guard);
    literals.retain(|&(condition, holds)| arena.allows_dereference(condition, holds));
    literals.extend(arena.formula.guards.implied_literals(event.there));
    let mut found = Vec::new();
    for (condition, _) in literals {
        let term = arena.formula.cond_term(condition);
        found.extend(converter.expr(arena, term));
    }
    found
}

/// These conditions over P_in, to which they are added.
pub(super) fn valuation(summary: &mut Summary, conditions: Vec<Literal>) -> Cube {
    let mut incond: Cube = Vec::new();
    for (predicate, holds) in conditions {
        let column = column(summary, predicate);
        incond.resize(incond.len().max(column + 1), None);
        incond[column] = Some(holds);
    }
    incond
}

/// Whether callers can evaluate a callee's condition for sleeping. If it depends on a value that is computed in
/// between, it may be known to be false by means that the summary does not have.
pub(super) fn callers_know(
    arena: &mut Arena<'_>,
    converter: &mut Converter,
    condition: Guard,
) -> bool {
    let mut known = Guard::TRUE;
    for (cond, holds) in arena.formula.guards.implied_literals(condition) {
        let term = arena.formula.cond_term(cond);
        if converter.expr(arena, term).is_some() {
            let literal = arena.formula.guards.literal(cond, holds);
            known = arena.formula.guards.and(known, literal);
        }
    }
    known == condition
}

/// The conditions over entry values that hold on all of these paths, a callee's own first; of many those first that say most.
pub(super) fn conditions(
    arena: &mut Arena<'_>,
    converter: &mut Converter,
    callees: Guard,
    paths: Guard,
) -> Vec<Literal> {
    let mut found = all_conditions(arena, converter, callees, paths);
    found.truncate(MAX_CONDITIONS);
    found
}

/// The same, unless they are more than are told: then what they are conditions of is not known.
pub(super) fn few_conditions(
    arena: &mut Arena<'_>,
    converter: &mut Converter,
    paths: Guard,
) -> Option<Vec<Literal>> {
    let found = all_conditions(arena, converter, Guard::TRUE, paths);
    (found.len() <= MAX_CONDITIONS).then_some(found)
}

fn all_conditions(
    arena: &mut Arena<'_>,
    converter: &mut Converter,
    callees: Guard,
    paths: Guard,
) -> Vec<Literal> {
    let mut found: Vec<Literal> = Vec::new();
    let mut literals = arena.formula.guards.implied_literals(callees);
    literals.extend(arena.formula.guards.implied_literals(paths));
    for (condition, holds) in literals {
        let term = arena.formula.cond_term(condition);
        if let Some(expr) = converter.expr(arena, term)
            && !found.contains(&(expr.clone(), holds))
        {
            found.push((expr, holds));
        }
    }
    if found.len() > MAX_CONDITIONS {
        drop_implied(&mut found);
    }
    found
}

/// Leaves out that something is not equal to constants, where it is equal to another one: the cases before this one of a `switch`.
fn drop_implied(literals: &mut Vec<Literal>) {
    let equal: Vec<IExpr> = literals
        .iter()
        .filter(|(_, holds)| *holds)
        .filter_map(|(expr, _)| Some(compared_with_constant(expr)?.clone()))
        .collect();
    literals.retain(|(expr, holds)| {
        *holds || compared_with_constant(expr).is_none_or(|value| !equal.contains(value))
    });
}

/// What a condition compares with a constant for equality.
pub(super) fn compared_with_constant(condition: &IExpr) -> Option<&IExpr> {
    let IExpr::Op {
        op: Op::Eq, args, ..
    } = condition
    else {
        return None;
    };
    match &args[..] {
        [value, IExpr::Const { .. }] | [IExpr::Const { .. }, value] => Some(value),
        _ => None,
    }
}

/// The predicate's place in P_in, added if need be.
fn column(summary: &mut Summary, predicate: IExpr) -> usize {
    let known = summary.inputs.iter().position(|known| *known == predicate);
    known.unwrap_or_else(|| {
        summary.inputs.push(predicate);
        summary.inputs.len() - 1
    })
}
