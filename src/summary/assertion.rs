//! What a function states to be held when it is called: `__must_hold`, `lockdep_assert_held`.
//!
//! In: the assertions of a finished execution. Out: those for the function's own callers to meet, because it has no part in how
//! the object is held.

use super::convert::Converter;
use super::{Assertion, Summary, sleep, trace};
use crate::sat::oracle::Oracle;
use crate::symbolic::arena::Arena;
use crate::symbolic::execution::Execution;
use crate::symbolic::guard::Guard;
use crate::symbolic::log::AssertEvent;
use crate::symbolic::region::Loc;
use crate::symbolic::state::{MachineId, Object, Status};

/// Assertions that callers learn of, at most.
const MAX_ASSERTIONS: usize = 4;
/// Pointers from a root to what callers are asked to hold.
const MAX_PATH: usize = 3;

/// Whether objects of a machine are what assertions are about.
pub(super) fn is_lock(arena: &Arena<'_>, machine: MachineId) -> bool {
    let machine = arena.machine_at(machine);
    !machine.counts && !machine.bits && machine.saved.is_none()
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

/// Whether the function itself takes what lies there at some time: then no caller holds it.
fn takes_itself(execution: &Execution, arena: &Arena<'_>, loc: Loc) -> bool {
    execution.log.ops.iter().any(|op| {
        let as_found = op.guard != op.touched;
        let initial = Status::At(arena.machine_of(op.object).initial);
        op.object.loc == loc && as_found && op.takes(initial)
    })
}

/// The paths on which the function's callers must meet an assertion.
pub fn for_callers(execution: &Execution, arena: &mut Arena<'_>, event: &AssertEvent) -> Guard {
    if takes_itself(execution, arena, event.loc) {
        return Guard::FALSE;
    }
    let own = operated_on(execution, arena, event.loc);
    let mut paths = event.guard;
    for not in [event.held, event.held_otherwise, own] {
        paths = arena.formula.guards.and_not(paths, not);
    }
    execution.with_known_effects(&mut arena.formula.guards, paths)
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
