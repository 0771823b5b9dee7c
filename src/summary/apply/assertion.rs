//! What a call states to be held, and what is known of that where it is made.
//!
//! In: a callee's assertions, the call site and the state before it. Out: [`AssertEvent`]s.

use super::binding::{Binding, cube};
use super::name::{self, Called};
use super::sleep;
use crate::summary::Summary;
use crate::summary::assertion::is_lock;
use crate::symbolic::class::Class;
use crate::symbolic::exec::Executor;
use crate::symbolic::guard::Guard;
use crate::symbolic::log::AssertEvent;
use crate::symbolic::state::{State, Status};

/// Notes what a call states, and what is known of that here.
pub(super) fn check(
    exec: &mut Executor<'_>,
    state: &mut State,
    summary: &Summary,
    inputs: &[Guard],
    binding: &Binding<'_, '_>,
) {
    if summary.assertions.is_empty() {
        return;
    }
    let site = binding.site;
    let inlined = sleep::inlined_conditions(exec, state.guard);
    for assertion in &summary.assertions {
        let here = cube(exec, &assertion.incond, inputs);
        let guard = exec.arena.formula.guards.and(state.guard, here);
        let address = binding.address(exec, state, &assertion.object, false);
        let places =
            address.map_or_else(Vec::new, |address| exec.arena.locations(address).to_vec());
        // One of several possible callees: it is not known which one is called.
        let [(_, loc)] = places[..] else { continue };
        if guard == Guard::FALSE {
            continue;
        }
        let called = Called {
            object: &assertion.object,
            name: &assertion.name,
            class: assertion.class.as_ref(),
        };
        name::object(exec, summary, binding, called, &places);
        let condition = exec.arena.formula.guards.and(here, inlined);
        let mut event = AssertEvent {
            loc,
            guard,
            condition,
            unheld: Vec::new(),
            held: Guard::FALSE,
            held_otherwise: Guard::FALSE,
            rule: assertion.rule.clone(),
            order: exec.execution.log.ops.len(),
            branches: exec.execution.log.branches.len(),
            stack: site.stack.clone(),
            text: site.text.into(),
            callee: site.callee.clone(),
            name: exec.arena.name_of(loc),
            inside: assertion.trace.as_slice().into(),
        };
        known_of(exec, state, &mut event);
        exec.execution.log.assertions.push(event);
    }
}

/// Which objects there are at the place, which of the class are held.
fn known_of(exec: &mut Executor<'_>, state: &State, event: &mut AssertEvent) {
    let class = exec.arena.class_of(event.loc);
    let (mut off, mut with_lock) = (Guard::FALSE, Guard::FALSE);
    for (&object, tracked) in &state.objects {
        let initial = Status::At(exec.arena.machine_of(object).initial);
        let free = tracked.guard_of(initial);
        let held = exec.arena.formula.guards.and_not(event.guard, free);
        if exec.arena.is_saved(object.machine) {
            off = exec.arena.formula.guards.or(off, held);
        }
        if !is_lock(&exec.arena, object.machine) {
            continue;
        }
        with_lock = exec.arena.formula.guards.or(with_lock, held);
        if object.loc == event.loc {
            let unheld = exec.arena.formula.guards.and(event.guard, free);
            event.unheld.push((object, unheld));
            event.held = exec.arena.formula.guards.or(event.held, held);
            continue;
        }
        // What callers hold of the same class does not matter to it.
        let entered = exec.arena.entry_state(object).guard_of(initial);
        if !exec.arena.formula.guards.excludes(held, entered) {
            let other = exec.arena.class_of(object.loc).filter(Class::is_members);
            let paths = match (&class, other) {
                (Some(class), Some(other)) if *class != other => Guard::FALSE,
                (Some(_), Some(_)) => held,
                // An object that is known by a pointer only may be the one asserted, on all paths on which it is
                // held.
                _ => event.guard,
            };
            event.held_otherwise = exec.arena.formula.guards.or(event.held_otherwise, paths);
        }
    }
    // Interrupts went off along with a lock of which nothing is known, as by `lock_task_sighand`.
    let unknown = exec.arena.formula.guards.and_not(off, with_lock);
    event.held_otherwise = exec.arena.formula.guards.or(event.held_otherwise, unknown);
}
