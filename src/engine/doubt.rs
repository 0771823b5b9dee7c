//! Other explanations of how an object leaves a function, which a programmer would find first.
//!
//! In: the log of an execution, and an object that some exits keep and others do not. Out: the paths that
//! such an explanation covers; no finding rests on them.
//!
//! Both come from the same limit: what is reached through different pointers is taken to be different
//! (DESIGN §5). An angelic reading asks whether all would be well if two of them were one.

use crate::property::StateId;
use crate::symbolic::exec::Executor;
use crate::symbolic::guard::Guard;
use crate::symbolic::log::{OpEvent, Site};
use crate::symbolic::region::{Loc, RegionKind, SymbolicOffset};
use crate::symbolic::state::{Object, State, Status};

/// The paths on which an operation that moved the object elsewhere was applied to another object: it
/// is one thing, chosen between several, that the function operates on.
pub fn operated_on_another(exec: &mut Executor<'_>, object: Object) -> Guard {
    let moving = |event: &OpEvent| event.to.is_some_and(|to| to != event.from);
    let ops = &exec.log.ops;
    let sites: Vec<&[Site]> = ops
        .iter()
        .filter(|event| event.object == object && moving(event))
        .map(|event| event.stack.as_slice())
        .collect();
    let others: Vec<Guard> = ops
        .iter()
        .filter(|event| {
            event.object != object
                && event.object.machine == object.machine
                && moving(event)
                && sites.contains(&event.stack.as_slice())
        })
        .map(|event| event.guard)
        .collect();
    union(exec, others)
}

/// The paths on which the function gives back an object that it has not taken and that may be this
/// one: found again in another way, by a number or in a table.
pub fn given_back_as_another(exec: &mut Executor<'_>, object: Object, initial: StateId) -> Guard {
    let mut paths = Vec::new();
    for event in &exec.log.ops {
        let other = event.object;
        let releases = event.to == Some(Status::At(initial)) && event.from != Status::At(initial);
        if other == object || other.machine != object.machine || !releases {
            continue;
        }
        if may_be_one(exec, object.loc, other.loc) {
            paths.push((event.stack.clone(), other));
        }
    }
    let found: Vec<(Guard, Guard)> = exec
        .log
        .ops
        .iter()
        .filter(|event| {
            paths
                .iter()
                .any(|(stack, other)| *other == event.object && *stack == event.stack)
        })
        .map(|event| (event.guard, event.touched))
        .collect();
    let untaken = found
        .into_iter()
        .map(|(guard, touched)| exec.formula.guards.and_not(guard, touched))
        .collect();
    union(exec, untaken)
}

/// The paths on which the function gives back an object that it has not taken, after it has taken one that
/// may be this one.
pub fn taken_as_another(exec: &mut Executor<'_>, object: Object, initial: StateId) -> Guard {
    let initial = Status::At(initial);
    let takes = |event: &OpEvent| event.from == initial && event.to.is_some_and(|to| to != initial);
    let gives = |event: &OpEvent| match event.to {
        Some(to) => to == initial && event.from != initial,
        None => event.from == initial,
    };
    let mut taken: Vec<Guard> = Vec::new();
    let mut found: Vec<(Guard, Guard, usize)> = Vec::new();
    for event in &exec.log.ops {
        let other = event.object;
        if other == object && gives(event) {
            found.push((event.guard, event.touched, taken.len()));
        } else if other != object
            && other.machine == object.machine
            && takes(event)
            && may_be_one(exec, object.loc, other.loc)
        {
            taken.push(event.guard);
        }
    }
    let mut paths = Vec::new();
    for (guard, touched, before) in found {
        let untouched = exec.formula.guards.and_not(guard, touched);
        let earlier = union(exec, taken[..before].to_vec());
        paths.push(exec.formula.guards.and(untouched, earlier));
    }
    union(exec, paths)
}

/// The paths on which another object leaves the function in another state, or in error: what is amiss there
/// is that. `object` is of a machine whose states are kept beside other objects', as interrupts are with locks.
pub fn left_with_another(exec: &mut Executor<'_>, state: &State, object: Object) -> Guard {
    if !exec.is_saved(object.machine) {
        return Guard::FALSE;
    }
    let mut paths = Vec::new();
    for (&other, tracked) in &state.objects {
        if exec.is_saved(other.machine) {
            continue;
        }
        let entry = exec.entry_state(other);
        for &(status, guard) in &tracked.set {
            let moved = exec.formula.guards.and_not(guard, entry.guard_of(status));
            paths.push(moved);
        }
    }
    union(exec, paths)
}

/// Whether two locations are one for some values of the pointers and indices on the way to them.
fn may_be_one(exec: &Executor<'_>, a: Loc, b: Loc) -> bool {
    let known = |loc: Loc| loc.symbolic == SymbolicOffset::NONE;
    let unknown = |loc: Loc| {
        matches!(
            exec.regions.kind(loc.region),
            RegionKind::Environment { .. }
        )
    };
    if known(a) && known(b) {
        // Members of one record are different, and so are different members of two.
        return a.region != b.region && a.offset == b.offset && unknown(a) && unknown(b);
    }
    a.region == b.region || (unknown(a) && unknown(b))
}

fn union(exec: &mut Executor<'_>, paths: Vec<Guard>) -> Guard {
    let guards = &mut exec.formula.guards;
    paths
        .into_iter()
        .fold(Guard::FALSE, |all, path| guards.or(all, path))
}
