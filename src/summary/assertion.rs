//! What a function states to be held when it is called: `__must_hold`, `lockdep_assert_held`.
//!
//! In: a callee's assertions, the call site and the state before it; the assertions of a finished execution. Out: what is known
//! there of the object; those for the function's own callers to meet, because it has no part in how the object is held.

use super::apply::{self, Binding};
use super::convert::Converter;
use super::{Assertion, Summary, sleep, trace};
use crate::sat::oracle::Oracle;
use crate::symbolic::arena::Arena;
use crate::symbolic::class::Class;
use crate::symbolic::exec::Executor;
use crate::symbolic::execution::Execution;
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
        let guard = exec.arena.formula.guards.and(state.guard, here);
        let address = binding.address(exec, state, &assertion.object, false);
        let places =
            address.map_or_else(Vec::new, |address| exec.arena.locations(address).to_vec());
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

/// Whether objects of a machine are what assertions are about.
fn is_lock(arena: &Arena<'_>, machine: MachineId) -> bool {
    let machine = arena.machine_at(machine);
    !machine.counts && !machine.bits && machine.saved.is_none()
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
        // What its callers hold besides is no business of it.
        let entered = exec.arena.entry_state(object).guard_of(initial);
        if !exec.arena.formula.guards.excludes(held, entered) {
            let other = exec.arena.class_of(object.loc).filter(Class::is_members);
            let paths = match (&class, other) {
                (Some(class), Some(other)) if *class != other => Guard::FALSE,
                (Some(_), Some(_)) => held,
                // One of which only a pointer is known may be it wherever it is held at all.
                _ => event.guard,
            };
            event.held_otherwise = exec.arena.formula.guards.or(event.held_otherwise, paths);
        }
    }
    // Interrupts went off along with a lock of which nothing is known, as by `lock_task_sighand`.
    let unknown = exec.arena.formula.guards.and_not(off, with_lock);
    event.held_otherwise = exec.arena.formula.guards.or(event.held_otherwise, unknown);
}

/// The paths on which the function operates on what lies there.
fn operated_on(execution: &Execution, arena: &mut Arena<'_>, loc: Loc) -> Guard {
    let mut paths = Guard::FALSE;
    for index in 0..execution.log.ops.len() {
        let event = &execution.log.ops[index];
        if event.object.loc == loc && is_lock(arena, event.object.machine) {
            paths = arena
                .formula
                .guards
                .or(paths, execution.log.ops[index].guard);
        }
    }
    paths
}

/// Whether the function takes what lies there for itself, at some time: no caller holds it then.
fn takes_itself(execution: &Execution, arena: &Arena<'_>, loc: Loc) -> bool {
    execution.log.ops.iter().any(|op| {
        let as_found = op.guard != op.touched;
        let initial = Status::At(arena.machine_of(op.object).initial);
        op.object.loc == loc && as_found && op.takes(initial)
    })
}

/// The paths on which what an assertion states is for the function's callers to see to.
pub fn for_callers(execution: &Execution, arena: &mut Arena<'_>, event: &AssertEvent) -> Guard {
    if takes_itself(execution, arena, event.loc) {
        return Guard::FALSE;
    }
    let own = operated_on(execution, arena, event.loc);
    let mut paths = event.guard;
    for not in [
        event.held,
        event.held_otherwise,
        own,
        execution.unknown_effect,
    ] {
        paths = arena.formula.guards.and_not(paths, not);
    }
    paths
}

/// Adds to a function's summary what it asks its callers to hold.
pub fn add(execution: &Execution, oracle: &mut Oracle<'_>, summary: &mut Summary) {
    let mut converter = Converter::of_entry();
    for index in 0..execution.log.assertions.len() {
        if summary.assertions.len() >= MAX_ASSERTIONS {
            break;
        }
        let event = execution.log.assertions[index].clone();
        if oracle.regions.is_local(event.loc.region)
            || !sleep::callers_know(oracle, &mut converter, event.condition)
        {
            continue;
        }
        let object = converter.object(oracle, event.loc);
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
        let paths = for_callers(execution, oracle, &event);
        if oracle.model(paths).is_none() {
            continue;
        }
        let conditions = sleep::conditions(oracle, &mut converter, event.condition, paths);
        let incond = sleep::valuation(summary, conditions);
        summary.assertions.push(Assertion {
            name: converter.name(oracle, &object, event.loc),
            object,
            class: oracle.class_of(event.loc),
            rule: event.rule.clone(),
            incond,
            trace: trace::asserting(&event),
        });
    }
}

/// The objects at an assertion's place of which something becomes known at some time.
pub fn objects_at(execution: &Execution, arena: &Arena<'_>, event: &AssertEvent) -> Vec<Object> {
    let known = event.unheld.iter().map(|&(object, _)| object);
    let later = execution.log.ops[event.order..].iter().map(|op| op.object);
    let later = later.filter(|object| object.loc == event.loc && is_lock(arena, object.machine));
    let mut objects: Vec<Object> = known.collect();
    for object in later {
        if !objects.contains(&object) {
            objects.push(object);
        }
    }
    objects
}
