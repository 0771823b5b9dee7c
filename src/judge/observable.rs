//! What callers can tell apart: two ways out by the conditions that they observe.
//!
//! In: the paths of two ways out, the conditions that callers see. Out: paths of both that agree on all of them, and a model of each.

use std::rc::Rc;

use crate::summary::infer::Feasible;
use crate::summary::predicates::Predicate;
use crate::symbolic::exec::Executor;
use crate::symbolic::guard::Guard;
use crate::symbolic::model::Model;

/// The paths on which the conditions hold that these others have in common.
pub fn alike(exec: &mut Executor<'_>, paths: Guard, others: Guard, chosen: &[Predicate]) -> Guard {
    let guards = &mut exec.formula.guards;
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
    exec: &mut Executor<'_>,
    (left, right): (Guard, Guard),
    observable: &[Predicate],
    queries: &mut dyn Feasible,
) -> Option<(Rc<Model>, Rc<Model>)> {
    let mut like = |exec: &mut Executor<'_>, one: Guard, other: Guard| {
        let model = queries.model(exec, one)?;
        let mut alike = other;
        for predicate in observable {
            let holds = model.eval_guard(&exec.formula, predicate.guard);
            let guards = &mut exec.formula.guards;
            alike = match holds {
                true => guards.and(alike, predicate.guard),
                false => guards.and_not(alike, predicate.guard),
            };
        }
        Some((model, queries.model(exec, alike)?))
    };
    if let Some(models) = like(exec, left, right) {
        return Some(models);
    }
    let (right, left) = like(exec, right, left)?;
    Some((left, right))
}

/// The first combination of conditions under which both are possible.
pub fn open(
    exec: &mut Executor<'_>,
    left: Guard,
    right: Guard,
    chosen: &[Predicate],
    queries: &mut dyn Feasible,
) -> Option<(Guard, Guard)> {
    if !queries.possible(exec, left) || !queries.possible(exec, right) {
        return None;
    }
    let Some((predicate, rest)) = chosen.split_first() else {
        return Some((left, right));
    };
    let guards = &mut exec.formula.guards;
    let with = (
        guards.and(left, predicate.guard),
        guards.and(right, predicate.guard),
    );
    let without = (
        guards.and_not(left, predicate.guard),
        guards.and_not(right, predicate.guard),
    );
    open(exec, with.0, with.1, rest, queries)
        .or_else(|| open(exec, without.0, without.1, rest, queries))
}
