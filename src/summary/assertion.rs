//! What a function states to be held when it is called: `__must_hold`, `lockdep_assert_held`.
//!
//! In: a callee's assertions, the call site and the state before it; the assertions of a finished execution. Out: what is known
//! there of the object; those for the function's own callers to meet, because it has no part in how the object is held.

use super::apply::{self, Binding};
use super::convert::Converter;
use super::infer::Feasible;
use super::{Assertion, Summary, sleep, trace};
use crate::symbolic::class::Class;
use crate::symbolic::exec::Executor;
use crate::symbolic::guard::Guard;
use crate::symbolic::log::AssertEvent;
use crate::symbolic::region::Loc;
use crate::symbolic::state::{MachineId, Object, State, Status};

/// Assertions that are handed on; of what is beyond nobody is told.
const MAX_ASSERTIONS: usize = 4;
/// Pointers from a root to what callers are asked to hold.
const MAX_PATH: usize = 3;

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
    let inlined = apply::inlined_conditions(exec, state.guard);
    for assertion in &summary.assertions {
        let here = apply::cube(exec, &assertion.incond, inputs);
        let guard = exec.formula.guards.and(state.guard, here);
        let address = binding.address(exec, state, &assertion.object, false);
        let places = address.map_or_else(Vec::new, |address| exec.locations(address).to_vec());
        // Of one of several it is not known which.
        let [(_, loc)] = places[..] else { continue };
        if guard == Guard::FALSE {
            continue;
        }
        let called = apply::Called {
            object: &assertion.object,
            name: &assertion.name,
            class: assertion.class.as_ref(),
        };
        apply::name_object(exec, summary, binding, called, &places);
        let condition = exec.formula.guards.and(here, inlined);
        let mut event = AssertEvent {
            loc,
            guard,
            condition,
            unheld: Vec::new(),
            held: Guard::FALSE,
            held_otherwise: Guard::FALSE,
            rule: assertion.rule.clone(),
            order: exec.log.ops.len(),
            branches: exec.log.branches.len(),
            stack: site.stack.clone(),
            text: site.text.into(),
            callee: site.callee.clone(),
            name: exec.name_of(loc),
            inside: assertion.trace.as_slice().into(),
        };
        known_of(exec, state, &mut event);
        exec.log.assertions.push(event);
    }
}

/// Whether objects of a machine are what assertions are about.
fn is_lock(exec: &Executor<'_>, machine: MachineId) -> bool {
    let machine = exec.machine_at(machine);
    !machine.counts && !machine.bits && machine.saved.is_none()
}

/// Which objects there are at the place, which of the class are held.
fn known_of(exec: &mut Executor<'_>, state: &State, event: &mut AssertEvent) {
    let class = exec.class_of(event.loc);
    let (mut off, mut with_lock) = (Guard::FALSE, Guard::FALSE);
    for (&object, tracked) in &state.objects {
        let initial = Status::At(exec.machine_of(object).initial);
        let free = tracked.guard_of(initial);
        let held = exec.formula.guards.and_not(event.guard, free);
        if exec.is_saved(object.machine) {
            off = exec.formula.guards.or(off, held);
        }
        if !is_lock(exec, object.machine) {
            continue;
        }
        with_lock = exec.formula.guards.or(with_lock, held);
        if object.loc == event.loc {
            let unheld = exec.formula.guards.and(event.guard, free);
            event.unheld.push((object, unheld));
            event.held = exec.formula.guards.or(event.held, held);
            continue;
        }
        // What its callers hold besides is no business of it.
        let entered = exec.entry_state(object).guard_of(initial);
        if !exec.formula.guards.excludes(held, entered) {
            let other = exec.class_of(object.loc).filter(Class::is_members);
            let paths = match (&class, other) {
                (Some(class), Some(other)) if *class != other => Guard::FALSE,
                (Some(_), Some(_)) => held,
                // One of which only a pointer is known may be it wherever it is held at all.
                _ => event.guard,
            };
            event.held_otherwise = exec.formula.guards.or(event.held_otherwise, paths);
        }
    }
    // Interrupts went off along with a lock of which nothing is known, as by `lock_task_sighand`.
    let unknown = exec.formula.guards.and_not(off, with_lock);
    event.held_otherwise = exec.formula.guards.or(event.held_otherwise, unknown);
}

/// The paths on which the function operates on what lies there.
fn operated_on(exec: &mut Executor<'_>, loc: Loc) -> Guard {
    let mut paths = Guard::FALSE;
    for index in 0..exec.log.ops.len() {
        let event = &exec.log.ops[index];
        if event.object.loc == loc && is_lock(exec, event.object.machine) {
            paths = exec.formula.guards.or(paths, exec.log.ops[index].guard);
        }
    }
    paths
}

/// Whether the function takes what lies there for itself, at some time: no caller holds it then.
fn takes_itself(exec: &Executor<'_>, loc: Loc) -> bool {
    exec.log.ops.iter().any(|op| {
        let as_found = op.guard != op.touched;
        let initial = Status::At(exec.machine_of(op.object).initial);
        op.object.loc == loc && as_found && op.takes(initial)
    })
}

/// The paths on which what an assertion states is for the function's callers to see to.
pub fn for_callers(exec: &mut Executor<'_>, event: &AssertEvent) -> Guard {
    if takes_itself(exec, event.loc) {
        return Guard::FALSE;
    }
    let own = operated_on(exec, event.loc);
    let mut paths = event.guard;
    for not in [event.held, event.held_otherwise, own, exec.unknown_effect] {
        paths = exec.formula.guards.and_not(paths, not);
    }
    paths
}

/// Adds to a function's summary what it asks its callers to hold.
pub fn add(exec: &mut Executor<'_>, summary: &mut Summary, queries: &mut dyn Feasible) {
    let mut converter = Converter::of_entry();
    for index in 0..exec.log.assertions.len() {
        if summary.assertions.len() >= MAX_ASSERTIONS {
            break;
        }
        let event = exec.log.assertions[index].clone();
        if exec.regions.is_local(event.loc.region)
            || !sleep::callers_know(exec, &mut converter, event.condition)
        {
            continue;
        }
        let object = converter.object(exec, event.loc);
        let Some(object) = object.filter(|object| object.path.len() <= MAX_PATH) else {
            continue;
        };
        if summary
            .assertions
            .iter()
            .any(|known| known.object == object)
        {
            continue;
        }
        let paths = for_callers(exec, &event);
        if queries.model(exec, paths).is_none() {
            continue;
        }
        let conditions = sleep::conditions(exec, &mut converter, event.condition, paths);
        let incond = sleep::valuation(summary, conditions);
        summary.assertions.push(Assertion {
            name: converter.name(exec, &object, event.loc),
            object,
            class: exec.class_of(event.loc),
            rule: event.rule.clone(),
            incond,
            trace: trace::asserting(&event),
        });
    }
}

/// The objects at an assertion's place of which something becomes known at some time.
pub fn objects_at(exec: &Executor<'_>, event: &AssertEvent) -> Vec<Object> {
    let known = event.unheld.iter().map(|&(object, _)| object);
    let later = exec.log.ops[event.order..].iter().map(|op| op.object);
    let later = later.filter(|object| object.loc == event.loc && is_lock(exec, object.machine));
    let mut objects: Vec<Object> = known.collect();
    for object in later {
        if !objects.contains(&object) {
            objects.push(object);
        }
    }
    objects
}
