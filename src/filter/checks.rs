//! The checks of a view, one for each operation, access and assertion of the log, and what goes without saying of their objects.
//!
//! In: events of an execution's log. Out: [`Check`]s with where they are come to.

use rustc_hash::FxHashSet;

use super::machine::Operation;
use super::view::{AtExit, Check, Event, OF_OPERATION, OF_USE, Part, Position, Scope};
use crate::sat::oracle::Oracle;
use crate::symbolic::execution::Execution;
use crate::symbolic::guard::{Cond, Guard};
use crate::symbolic::log::{Asserted, AssertionEvent, OpEvent, UseEvent};
use crate::symbolic::origin::Origin;
use crate::symbolic::term::Term;

/// The pointers that objects are operated on by are not null, where nothing in the function asks for that: `free(NULL)` is allowed, and not what
/// is meant.
pub fn operated_on_what_is_there(operations: &[Operation], oracle: &mut Oracle<'_>) -> Guard {
    let mut there = Guard::TRUE;
    for operation in operations.iter().filter(|operation| operation.may_fail()) {
        let Some(base) = oracle.regions.base(operation.object.loc.region) else {
            continue;
        };
        let pointer = oracle.formula.terms.is_pointer(base);
        if pointer && !oracle.nullable.contains_key(&base) && !oracle.tested.contains_key(&base) {
            let null = oracle.null_paths(base);
            there = oracle.formula.guards.and_not(there, null);
        }
    }
    there
}

/// The conditions of some paths that the pointer to an object, or the number that names it, takes part in: those that say whether there is one.
fn about_pointer(oracle: &Oracle<'_>, paths: Guard, base: Term) -> Vec<Cond> {
    let pointer = oracle.formula.vars(base);
    let literal = |condition| oracle.formula.guards.literal(condition, true);
    let conditions = oracle.formula.guards.support(paths).iter().copied();
    let about = conditions.filter(|&condition| {
        let vars = oracle.formula.vars_of(condition);
        let compared = oracle.compared_with_null(literal(condition));
        *vars == *pointer || compared.contains(&base)
    });
    about.collect()
}

/// What an object that is lost rests on: that there is one, in a block of the function's own if its pointer lies there, and that the call
/// that made it has done so.
pub fn given(execution: &Execution, oracle: &Oracle<'_>, failure: &AtExit) -> Vec<Cond> {
    let region = failure.object.loc.region;
    let way = oracle.access_path(region).into_iter();
    let own = way.filter(|(holder, _)| *holder == region || oracle.is_owned(*holder));
    let own = own.filter_map(|(_, base)| base);
    let mut given: Vec<Cond> = own
        .flat_map(|base| about_pointer(oracle, failure.paths, base))
        .collect();
    let Some(made) = made(execution, failure) else {
        return given;
    };
    let conditions = oracle.formula.guards.support(made.guard).iter().copied();
    given.extend(conditions.filter(|&condition| {
        let vars = oracle.formula.vars_of(condition);
        let mut origins = vars.iter().map(|&var| oracle.origins.of(var));
        origins.any(|origin| matches!(origin, Origin::Call { text, .. } if **text == *made.text))
    }));
    given
}

/// The operation that has made an object which is lost.
pub fn made<'e>(execution: &'e Execution, failure: &AtExit) -> Option<&'e OpEvent> {
    let mut ops = execution.log.ops.iter();
    ops.find(|event| event.object == failure.object && event.moves())
}

pub fn of_operation(
    execution: &Execution,
    oracle: &Oracle<'_>,
    operation: Operation,
) -> Option<(Position, Part)> {
    let first = &execution.log.ops[operation.events.0];
    let pointer = oracle.regions.base(operation.object.loc.region);
    let check = Check {
        event: Event::Operation(operation.events.0),
        end: operation.events.1,
        site: first.stack.first()?.clone(),
        text: format!("{} ({})", first.text, first.name),
        fails: operation.fails,
        ends: operation.ends,
        alone: operation.fails,
        asserted: operation.asserted,
        followed: Vec::new(),
        exists: pointer.map_or_else(Vec::new, |base| {
            about_pointer(oracle, operation.fails, base)
        }),
    };
    let position = (operation.events.0, usize::MAX, OF_OPERATION);
    Some((position, Part::Check(check)))
}

pub fn of_assertion(index: usize, event: &AssertionEvent) -> Option<(Position, Part)> {
    if event.kind == Asserted::Angelic {
        return None;
    }
    let text = event.text.as_deref().unwrap_or("assertion");
    let check = Check {
        event: Event::Assertion(index),
        end: index + 1,
        site: event.stack.first()?.clone(),
        text: format!("`{text}` holds"),
        fails: event.guard,
        ends: event.guard,
        alone: event.guard,
        asserted: event.asked.clone(),
        followed: Vec::new(),
        exists: Vec::new(),
    };
    let position = (event.order, event.branches, OF_USE);
    Some((position, Part::Check(check)))
}

/// The conditions of some paths that say that a callee has failed: that is for no specification to say.
pub fn failing_callees(oracle: &Oracle<'_>, paths: Guard) -> Vec<Cond> {
    let conditions = oracle.formula.guards.support(paths).iter().copied();
    let says_so = |condition: &Cond| {
        let null = oracle.formula.guards.literal(*condition, true);
        let mut null = oracle.compared_with_null(null).into_iter();
        oracle.failing_conditions.contains(condition)
            || null.any(|pointer| oracle.nullable.contains_key(&pointer))
    };
    conditions.filter(says_so).collect()
}

pub fn of_use(
    oracle: &mut Oracle<'_>,
    index: usize,
    event: &UseEvent,
    scope: Scope<'_>,
    facts: &mut FxHashSet<Cond>,
) -> Option<(Position, Part)> {
    let mut asserted = Vec::new();
    let fails = match event.base {
        None => {
            facts.extend(failing_callees(oracle, event.null));
            event.null
        }
        Some(base) => {
            // Who tests the address tests whichever of several pointers it is.
            let tested = [base, event.address]
                .iter()
                .any(|tested| oracle.tested.contains_key(tested));
            // That a function of the program returns null at times depends on no input. Whether it is a mistake not to test its result is decided
            // for the whole program (`settle::results`).
            let may_fail = oracle.nullable.contains_key(&base)
                || !tested && oracle.null_at_times.contains_key(&base);
            if !(scope == Scope::All || may_fail || tested) {
                return None;
            }
            let null = oracle.null_paths(base);
            let null = oracle.formula.guards.as_literal(null);
            asserted.extend(null.map(|(condition, _)| condition));
            if may_fail {
                facts.extend(&asserted);
            }
            let null = oracle.null_at_start(event.address, base);
            oracle.formula.guards.and(event.guard, null)
        }
    };
    let name = match event.base {
        Some(base) => oracle.name_of_value(base),
        None => "NULL".to_owned(),
    };
    let check = Check {
        event: Event::Use(index),
        end: index + 1,
        site: event.stack.first()?.clone(),
        text: format!("`{name}` is followed"),
        fails,
        ends: fails,
        alone: fails,
        asserted,
        followed: event.followed().collect(),
        exists: Vec::new(),
    };
    let position = (event.order, event.branches, OF_USE);
    Some((position, Part::Check(check)))
}
