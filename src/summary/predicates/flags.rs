//! The values that an argument has wherever a function takes some paths: a `switch` over a flag.
//!
//! In: a guard over paths up to the exit. Out: conditions over single arguments, beyond those that the guard implies one by one.

use super::is_of_arguments;
use crate::sat::oracle::Oracle;
use crate::summary::IExpr;
use crate::summary::convert::Converter;
use crate::summary::sleep::compared_with_constant;
use crate::symbolic::arena::Arena;
use crate::symbolic::guard::{Cond, Guard};
use crate::symbolic::term::Op;

/// Constants that a flag is compared with.
const MAX_VALUES: usize = 32;

/// An argument, or what is computed from arguments alone, and the conditions that compare it with one constant each.
struct Flag {
    value: IExpr,
    compared: Vec<(Cond, IExpr)>,
}

/// What holds (or does not) of each flag on all of these paths.
pub fn of_flags(oracle: &mut Oracle<'_>, paths: Guard) -> Vec<(IExpr, bool)> {
    let mut said = Vec::new();
    for flag in compared_flags(oracle, paths) {
        if (2..=MAX_VALUES).contains(&flag.compared.len()) {
            said.extend(of_flag(oracle, paths, &flag));
        }
    }
    said
}

/// The flags that the paths hang on, by what they are compared with; not where all the paths have the same outcome.
fn compared_flags(arena: &mut Arena<'_>, paths: Guard) -> Vec<Flag> {
    let mut converter = Converter::of_entry();
    let implied = arena.formula.guards.implied_literals(paths);
    let mut open = arena.formula.guards.support(paths).to_vec();
    open.retain(|condition| !implied.iter().any(|(known, _)| known == condition));
    let mut flags: Vec<Flag> = Vec::new();
    for condition in open {
        let term = arena.formula.cond_term(condition);
        let expr = converter.expr(arena, term).filter(is_of_arguments);
        let Some((value, expr)) =
            expr.and_then(|expr| Some((compared_with_constant(&expr)?.clone(), expr)))
        else {
            continue;
        };
        match flags.iter_mut().find(|flag| flag.value == value) {
            Some(flag) => flag.compared.push((condition, expr)),
            None => flags.push(Flag {
                value,
                compared: vec![(condition, expr)],
            }),
        }
    }
    flags
}

/// A flag has one value: each constant is tried by itself, then that it is none of them.
fn of_flag(oracle: &mut Oracle<'_>, paths: Guard, flag: &Flag) -> Vec<(IExpr, bool)> {
    let mut leads_here = |chosen: Option<usize>| {
        let mut here = paths;
        for (index, &(condition, _)) in flag.compared.iter().enumerate() {
            let guards = &mut oracle.formula.guards;
            let literal = guards.literal(condition, Some(index) == chosen);
            here = guards.and(here, literal);
        }
        oracle.possible(here)
    };
    let values = 0..flag.compared.len();
    let (lead, others): (Vec<usize>, Vec<usize>) = values.partition(|&at| leads_here(Some(at)));
    let expr = |at: usize| flag.compared[at].1.clone();
    if leads_here(None) {
        return others.into_iter().map(|at| (expr(at), false)).collect();
    }
    let one_of = lead.into_iter().map(expr).reduce(|one, other| IExpr::Op {
        op: Op::Or,
        width: 1,
        args: vec![one, other],
    });
    one_of.map(|one_of| (one_of, true)).into_iter().collect()
}
