//! Calls that may sleep, and what is held there.
//!
//! In: a callee's ways to sleep, the state before the call. Out: [`SleepEvent`]s.

use super::binding::cube;
use crate::property::Event;
use crate::summary::Summary;
use crate::symbolic::callee::CallSite;
use crate::symbolic::exec::Executor;
use crate::symbolic::guard::Guard;
use crate::symbolic::log::SleepEvent;
use crate::symbolic::origin::Origin;
use crate::symbolic::state::{Object, State, Status};
use crate::symbolic::term::Var;

/// Notes where the call may sleep, and what is held there.
pub(super) fn note(
    exec: &mut Executor<'_>,
    state: &State,
    summary: &Summary,
    inputs: &[Guard],
    site: &CallSite<'_>,
) {
    if summary.sleeps.is_empty() {
        return;
    }
    let inlined = inlined_conditions(exec, state.guard);
    let (atomic, released) = atomic_objects(exec, state);
    for sleep in &summary.sleeps {
        let here = cube(exec, &sleep.incond, inputs);
        let condition = exec.arena.formula.guards.and(here, inlined);
        let guard = exec.arena.formula.guards.and(state.guard, here);
        if guard == Guard::FALSE {
            continue;
        }
        let (mut there, mut told) = (sleep.incond.clone(), sleep.incond.clone());
        for column in 0..sleep.incond.len() {
            let leads = sleep.there.contains(&(column as u32));
            let other = if leads { &mut told } else { &mut there };
            other[column] = None;
        }
        let (there, told) = (cube(exec, &there, inputs), cube(exec, &told, inputs));
        let mut held = atomic.clone();
        // If sleeping depends on a condition that the path has not tested, the function's callers may know that it is
        // false.
        held.retain(|&(_, _, paths)| {
            let guards = &exec.arena.formula.guards;
            let decided = guards.support(paths);
            guards
                .support(told)
                .iter()
                .all(|condition| decided.contains(condition))
        });
        for (_, _, paths) in &mut held {
            *paths = exec.arena.formula.guards.and(*paths, here);
        }
        exec.execution.log.sleeps.push(SleepEvent {
            guard,
            condition,
            there,
            held,
            released,
            order: exec.execution.log.ops.len(),
            branches: exec.execution.log.branches.len(),
            stack: site.stack.clone(),
            text: site.text.into(),
            inside: sleep.trace.as_slice().into(),
        });
    }
}

/// What must hold of the values that functions which are inlined were called with for these paths to be taken:
/// conditions of a callee, as those of a summary are.
pub(super) fn inlined_conditions(exec: &mut Executor<'_>, paths: Guard) -> Guard {
    let Some((called, made)) = exec.inlining else {
        return Guard::TRUE;
    };
    let before = exec.arena.formula.guards.implied_literals(called);
    let mut literals = exec.arena.formula.guards.implied_literals(paths);
    literals.retain(|literal| {
        let vars = exec
            .arena
            .formula
            .vars(exec.arena.formula.cond_term(literal.0));
        let on_entry = |&var: &Var| {
            var < made
                || matches!(
                    exec.arena.origins.of(var),
                    Origin::Initial { .. } | Origin::Param(_)
                )
        };
        !before.contains(literal) && vars.iter().all(on_entry)
    });
    exec.arena.formula.guards.cube(&literals)
}

/// The objects that forbid to sleep, and the paths on which the function has put them into such a state; and
/// the paths on which it has put one out of it that was so on entry, or on which one is in error.
fn atomic_objects(exec: &mut Executor<'_>, state: &State) -> (Vec<(Object, Status, Guard)>, Guard) {
    let mut held = Vec::new();
    let mut released = Guard::FALSE;
    for (&object, tracked) in &state.objects {
        let machine = exec.arena.machine_of(object);
        if machine.rule(Event::Sleep).is_none() {
            continue;
        }
        let initial = Status::At(machine.initial);
        let entry = exec.arena.entry_state(object);
        for &(status, guard) in &tracked.set {
            let guards = &mut exec.arena.formula.guards;
            let here = guards.and(state.guard, guard);
            match status {
                // What was so before is the caller's.
                Status::At(_) if status != initial => {
                    let ours = guards.and(here, entry.guard_of(initial));
                    if ours != Guard::FALSE {
                        held.push((object, status, ours));
                    }
                    // One of two readers.
                    let theirs = guards.and_not(here, entry.guard_of(initial));
                    let less = guards.and_not(theirs, entry.guard_of(status));
                    released = guards.or(released, less);
                }
                Status::At(_) | Status::Error(_) => {
                    let moved = guards.and_not(here, entry.guard_of(status));
                    released = guards.or(released, moved);
                }
            }
        }
    }
    (held, released)
}
