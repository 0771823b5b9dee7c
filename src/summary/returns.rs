//! The conditions under which control comes back from a function that ends the program at times.
//!
//! In: a finished execution. Out: conditions over what callers know, and what they are where control comes back.

use super::convert::Converter;
use super::infer::Exit;
use super::memory::is_over_parameters;
use super::{IExpr, sleep};
use crate::sat::oracle::Oracle;
use crate::symbolic::execution::Execution;
use crate::symbolic::guard::{Cond, Guard};
use crate::symbolic::term::Op;

/// Conditions that callers are told of.
const MAX_CONDITIONS: usize = 4;

/// The conditions over what callers know before the call, that hold wherever control comes back, and without which the program ends: over
/// parameters (`log_at(FATAL, …)`), or what lies in memory (`if (undo->type != type) die(…)`).
pub(super) fn returns_when(
    execution: &Execution,
    oracle: &mut Oracle<'_>,
    exit: &Exit<'_>,
) -> Vec<(IExpr, bool)> {
    let mut ended = Guard::FALSE;
    for event in &execution.log.ends {
        ended = oracle.formula.guards.or(ended, event.guard);
    }
    let mut found = Vec::new();
    if ended == Guard::FALSE {
        return found;
    }
    let mut converter = Converter::of_entry();
    for (condition, holds) in oracle.formula.guards.implied_literals(exit.state.guard) {
        let without = oracle.formula.guards.literal(condition, !holds);
        let term = oracle.formula.cond_term(condition);
        let guards = &mut oracle.formula.guards;
        // Of a loop that was cut it is not known where the further rounds lead. Otherwise it is enough that the program ends somewhere because of
        // this: the rest are ways on which execution has taken a pointer to be valid.
        let mut ends = guards.implies(without, ended);
        for event in execution.log.ends.iter().filter(|_| !execution.cut) {
            ends |= event.guard != Guard::FALSE && guards.implies(event.guard, without);
        }
        if found.len() < MAX_CONDITIONS
            && ends
            && let Some(expr) = converter.expr(oracle, term)
        {
            found.push((expr, holds));
        }
    }
    found.extend(contradicted(
        execution,
        oracle,
        exit,
        MAX_CONDITIONS - found.len(),
    ));
    for event in &execution.log.ends {
        if found.len() >= MAX_CONDITIONS {
            break;
        }
        let together = all_over_parameters(oracle, event.guard);
        let together = together.into_iter().reduce(both).map(|all| (all, false));
        found.extend(together);
    }
    found
}

/// What must hold of parameters for the program to end, and cannot hold where control comes back, since its numbers say so: `if (!(level & ALL)) return;
/// … if (level == FATAL) exit(1);`.
fn contradicted(
    execution: &Execution,
    oracle: &mut Oracle<'_>,
    exit: &Exit<'_>,
    most: usize,
) -> Vec<(IExpr, bool)> {
    // Of a loop that was cut it is not known where the further rounds lead.
    if execution.cut {
        return Vec::new();
    }
    let returns = exit.state.guard;
    let ends = execution.log.ends.iter();
    let needed = ends.flat_map(|event| oracle.formula.guards.implied(event.guard).to_vec());
    let mut needed: Vec<(Cond, bool)> = needed.collect();
    needed.sort_unstable();
    needed.dedup();
    let mut converter = Converter::of_entry();
    let mut found = Vec::new();
    for (condition, holds) in needed {
        if found.len() >= most {
            break;
        }
        let guards = &mut oracle.formula.guards;
        let without = guards.literal(condition, !holds);
        if guards.implies(returns, without) {
            continue;
        }
        let term = oracle.formula.cond_term(condition);
        let told = converter.expr(oracle, term).filter(is_over_parameters);
        let Some(told) = told else { continue };
        let with = oracle.formula.guards.and_not(returns, without);
        if !oracle.possible(with) {
            found.push((told, !holds));
        }
    }
    found
}

/// The conditions over parameters that these paths are; none if they hang on anything else, or on many.
pub(super) fn all_over_parameters(oracle: &mut Oracle<'_>, paths: Guard) -> Vec<IExpr> {
    let mut converter = Converter::of_entry();
    let known = sleep::callers_know(oracle, &mut converter, paths);
    let conditions = sleep::few_conditions(oracle, &mut converter, paths).filter(|_| known);
    let mut conditions = conditions.unwrap_or_default();
    if conditions.iter().any(|(expr, _)| !is_over_parameters(expr)) {
        conditions.clear();
    }
    let told = conditions.into_iter();
    told.map(|(expr, holds)| if holds { expr } else { negated(expr) })
        .collect()
}

/// What these conditions say together wherever there are some paths; `None`: nothing.
pub(super) fn said_together(
    oracle: &mut Oracle<'_>,
    paths: Guard,
    conditions: &[(Cond, IExpr)],
) -> Option<IExpr> {
    match decide(oracle, paths, conditions) {
        IExpr::Const { .. } => None,
        said => Some(said),
    }
}

/// Whether there are some paths, by the values of these conditions.
fn decide(oracle: &mut Oracle<'_>, paths: Guard, conditions: &[(Cond, IExpr)]) -> IExpr {
    let known = |holds: bool| IExpr::Const {
        value: u128::from(holds),
        width: 1,
    };
    if paths == Guard::FALSE {
        return known(false);
    }
    let Some(((condition, expr), others)) = conditions.split_first() else {
        return known(oracle.possible(paths));
    };
    let mut under = |holds| {
        let guards = &mut oracle.formula.guards;
        let literal = guards.literal(*condition, holds);
        let paths = guards.and(paths, literal);
        decide(oracle, paths, others)
    };
    let (yes, no) = (under(true), under(false));
    let op = |op, args| IExpr::Op { op, width: 1, args };
    let condition = expr.clone();
    match (&yes, &no) {
        _ if yes == no => yes,
        (IExpr::Const { value: 1, .. }, IExpr::Const { .. }) => condition,
        (IExpr::Const { .. }, IExpr::Const { .. }) => negated(condition),
        (IExpr::Const { value: 1, .. }, _) => op(Op::Or, vec![condition, no]),
        (_, IExpr::Const { value: 0, .. }) => both(condition, yes),
        _ => op(Op::Ite, vec![condition, yes, no]),
    }
}

pub(super) fn both(one: IExpr, other: IExpr) -> IExpr {
    IExpr::Op {
        op: Op::And,
        width: 1,
        args: vec![one, other],
    }
}

pub(super) fn negated(condition: IExpr) -> IExpr {
    IExpr::Op {
        op: Op::Not,
        width: 1,
        args: vec![condition],
    }
}
