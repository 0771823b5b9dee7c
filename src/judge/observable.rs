//! What callers can tell apart: two ways out by the conditions that they observe.
//!
//! In: the paths of two ways out, the conditions that callers see. Out: paths of both that agree on all of them, and a model of each.

use std::rc::Rc;

use crate::sat::oracle::Oracle;
use crate::summary::predicates::Predicate;
use crate::symbolic::arena::Arena;
use crate::symbolic::guard::Guard;
use crate::symbolic::model::Model;

/// The paths on which the conditions hold that these others have in common.
pub fn alike(arena: &mut Arena<'_>, paths: Guard, others: Guard, chosen: &[Predicate]) -> Guard {
    let guards = &mut arena.formula.guards;
    chosen.iter().fold(paths, |paths, predicate| {
        let holds = !guards.excludes(others, predicate.guard);
        let fails = guards.and_not(others, predicate.guard) != Guard::FALSE;
        match (holds, fails) {
            (true, false) => guards.and(paths, predicate.guard),
            (false, true) => guards.and_not(paths, predicate.guard),
            _ => paths,
        }
    })
}

/// A model of each of two ways out that agree on all that the caller can observe: what was chosen to tell
/// them apart may be too little, if a query was given up.
pub fn indistinguishable(
    oracle: &mut Oracle<'_>,
    (left, right): (Guard, Guard),
    observable: &[Predicate],
) -> Option<(Rc<Model>, Rc<Model>)> {
    let mut like = |one: Guard, other: Guard| {
        let model = oracle.model(one)?;
        let mut alike = other;
        for predicate in observable {
            let holds = model.eval_guard(&oracle.formula, predicate.guard);
            let guards = &mut oracle.formula.guards;
            alike = match holds {
                true => guards.and(alike, predicate.guard),
                false => guards.and_not(alike, predicate.guard),
            };
        }
        Some((model, oracle.model(alike)?))
    };
    if let Some(models) = like(left, right) {
        return Some(models);
    }
    let (right, left) = like(right, left)?;
    Some((left, right))
}

/// The first combination of conditions under which both are possible.
pub fn open(
    oracle: &mut Oracle<'_>,
    left: Guard,
    right: Guard,
    chosen: &[Predicate],
) -> Option<(Guard, Guard)> {
    if !oracle.possible(left) || !oracle.possible(right) {
        return None;
    }
    let Some((predicate, rest)) = chosen.split_first() else {
        return Some((left, right));
    };
    let guards = &mut oracle.formula.guards;
    let with = (
        guards.and(left, predicate.guard),
        guards.and(right, predicate.guard),
    );
    let without = (
        guards.and_not(left, predicate.guard),
        guards.and_not(right, predicate.guard),
    );
    open(oracle, with.0, with.1, rest).or_else(|| open(oracle, without.0, without.1, rest))
}
