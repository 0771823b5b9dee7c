//! A pointer that a function returns and that is one of its arguments, or another block, as a number says that it is called with.
//!
//! In: the result, the conditions that the function itself tests, and the expression that the result has already. Out: the same with the numbers first by
//! which it is no argument: `resize(buffer, n, COPY)`. What else decides it may be more than callers are told.

use super::Exit;
use crate::ir::POINTER_BITS;
use crate::sat::oracle::Oracle;
use crate::summary::IExpr;
use crate::summary::convert::Converter;
use crate::summary::memory::is_over_parameters;
use crate::symbolic::guard::{Cond, Guard};
use crate::symbolic::origin::Origin;
use crate::symbolic::term::{Node, Op, Term};

/// Alternatives of one result that are looked at.
const MAX_ALTERNATIVES: u32 = 16;
/// Conditions that are asked for; each costs two questions.
const MAX_CONDITIONS: usize = 8;

/// The expression of a result, `told`, behind the numbers by which it is no argument; as it is if callers are told all of it.
pub(super) fn by_argument(
    oracle: &mut Oracle<'_>,
    converter: &mut Converter,
    exit: &Exit<'_>,
    result: Term,
    told: IExpr,
) -> IExpr {
    let watched = oracle.watches && oracle.formula.terms.width(result) == POINTER_BITS;
    if !watched || !told.is_open() {
        return told;
    }
    let paths = exit.state.guard;
    let all = oracle.formula.alternatives(result, paths, MAX_ALTERNATIVES);
    let arguments = all.iter().filter(|(_, value)| is_argument(oracle, *value));
    let arguments: Vec<Guard> = arguments.map(|&(paths, _)| paths).collect();
    let argument = oracle.formula.guards.union(arguments);
    if argument == Guard::FALSE || all.len() >= MAX_ALTERNATIVES as usize {
        return told;
    }
    let mut told = told;
    for (condition, expr) in numbers(oracle) {
        let holds = oracle.formula.guards.literal(condition, true);
        let [returned, here] =
            [argument, paths].map(|paths| oracle.formula.guards.and(paths, holds));
        if oracle.possible(returned) || !oracle.possible(here) {
            continue;
        }
        let other = oracle.formula.guards.and_not(here, argument);
        let other = oracle.formula.without_others(result, other);
        let Some(other) = converter.expr(oracle, other) else {
            continue;
        };
        told = IExpr::Op {
            op: Op::Ite,
            width: POINTER_BITS,
            args: vec![expr, other, told],
        };
    }
    told
}

fn is_argument(oracle: &Oracle<'_>, value: Term) -> bool {
    match oracle.formula.terms.node(value) {
        Node::Var(var) => matches!(oracle.origins.of(*var), Origin::Param(_)),
        _ => false,
    }
}

/// The conditions of the function's own that say that a parameter is one number.
fn numbers(oracle: &mut Oracle<'_>) -> Vec<(Cond, IExpr)> {
    let mut conditions: Vec<Cond> = oracle.own_conditions.keys().copied().collect();
    conditions.sort_unstable();
    let mut converter = Converter::of_entry();
    let mut found = Vec::new();
    for condition in conditions {
        let term = oracle.formula.cond_term(condition);
        let terms = &oracle.formula.terms;
        let compared = terms.as_equal_to_const(term);
        if compared.is_none_or(|(value, _)| terms.width(value) == POINTER_BITS) {
            continue;
        }
        let expr = converter.expr(oracle, term).filter(is_over_parameters);
        found.extend(expr.map(|expr| (condition, expr)));
        if found.len() == MAX_CONDITIONS {
            break;
        }
    }
    found
}
