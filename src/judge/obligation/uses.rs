//! What becomes of callees' obligations in a function.
//!
//! In: the operations that come from callees' summaries. Out: for each obligation of a callee whether the function discharges it,
//! passes it on to its own callers, or neither.

use std::collections::BTreeSet;

use super::collect::{Finished, needed_place};
use super::{CalleeObligation, Kind, Place, Use};
use crate::judge::explanation::another_object;
use crate::property::Target;
use crate::summary::infer::Exits;
use crate::symbolic::arena::Arena;
use crate::symbolic::execution::Execution;
use crate::symbolic::guard::Guard;
use crate::symbolic::state::Status;

/// `returned`: none for a function that never returns.
pub(super) fn uses(
    execution: &Execution,
    arena: &mut Arena<'_>,
    returned: Option<(&Finished<'_>, &[Exits])>,
) -> BTreeSet<(CalleeObligation, Use)> {
    let mut all = BTreeSet::new();
    let finished = returned.map(|(finished, _)| finished);
    for (index, event) in execution.log.ops.iter().enumerate() {
        // On paths that are cut off nothing is said of what follows.
        let left = |(_, exits): (_, &[Exits])| exits.iter().any(|exit| exit.object == event.object);
        if !returned.is_none_or(left) {
            continue;
        }
        let initial = Status::At(arena.machine_of(event.object).initial);
        let unheld = event.from == initial && event.to.is_none();
        let (kind, uses) = if event.takes(initial) {
            (Kind::Held, of_held(execution, arena, finished, index))
        } else if event.gives_back(initial) || unheld {
            (
                Kind::Required,
                of_required(execution, arena, finished, index),
            )
        } else {
            continue;
        };
        if let Some(obligation) = event.obligation(kind) {
            all.extend(uses.into_iter().map(|usage| (obligation.clone(), usage)));
        }
    }
    all
}

/// What becomes of an object that a callee leaves held.
fn of_held(
    execution: &Execution,
    arena: &mut Arena<'_>,
    finished: Option<&Finished<'_>>,
    index: usize,
) -> Vec<Use> {
    let event = &execution.log.ops[index];
    let initial = Status::At(arena.machine_of(event.object).initial);
    let mut uses = Vec::new();
    // What it took after it had given it up is its caller's again.
    let entered = arena.entry_state(event.object).guard_of(initial);
    let guards = &mut arena.formula.guards;
    let mut later = execution.log.ops[index + 1..].iter();
    let released = later.any(|later| {
        let back = later.object == event.object
            && later.to == Some(initial)
            && Some(later.from) == event.to;
        back && !guards.excludes(event.guard, later.guard)
    });
    if released || guards.excludes(event.guard, entered) {
        uses.push(Use::Discharged);
    }
    // Until when a function that never returns holds it is not seen.
    let Some(inferred) = finished.map(|finished| finished.inferred) else {
        return uses;
    };
    let rows = inferred.summary.rows.iter().zip(&inferred.row_paths);
    for (index, (row, (object, paths))) in (0..).zip(rows) {
        let held = *object == event.object
            && Status::At(row.from) == initial
            && matches!(row.to, Target::State(to) if Status::At(to) != initial);
        if held && !guards.excludes(event.guard, *paths) {
            uses.push(Use::PassedOn(Place {
                kind: Kind::Held,
                index,
            }));
        }
    }
    if uses.is_empty() && !arena.regions.is_local(event.object.loc.region) {
        uses.push(Use::Undischarged);
    }
    uses
}

/// What becomes of an object that a callee gives back without having taken it.
fn of_required(
    execution: &Execution,
    arena: &mut Arena<'_>,
    finished: Option<&Finished<'_>>,
    index: usize,
) -> Vec<Use> {
    let event = &execution.log.ops[index];
    let mut uses = Vec::new();
    let machine = arena.machine_of(event.object);
    let untouched = arena.formula.guards.and_not(event.guard, event.touched);
    let taken = another_object::taken_as_another(execution, arena, event.object, machine.initial);
    let taken = arena.formula.guards.and(untouched, taken);
    let touched = event.touched != Guard::FALSE;
    let gives_back = event.gives_back(Status::At(machine.initial));
    if gives_back && touched && has_taken(execution, arena, index) || taken != Guard::FALSE {
        uses.push(Use::Discharged);
    } else if touched {
        // It has given the object back already.
        uses.push(Use::Undischarged);
    }
    if untouched != Guard::FALSE {
        let place = finished.and_then(|finished| {
            let inferred = finished.inferred;
            needed_place(&inferred.summary, &inferred.row_paths, event.object)
        });
        match place {
            Some(place) => uses.push(Use::PassedOn(place)),
            None if !machine.counts => uses.push(Use::Unnamed),
            None => {}
        }
    }
    uses
}

/// Whether the function may have taken itself what an event gives back. What its caller holds twice it may only have given back once
/// before.
fn has_taken(execution: &Execution, arena: &mut Arena<'_>, index: usize) -> bool {
    let event = &execution.log.ops[index];
    let initial = Status::At(arena.machine_of(event.object).initial);
    let entered = arena.entry_state(event.object).guard_of(initial);
    let guards = &mut arena.formula.guards;
    let mut before = execution.log.ops[..index].iter();
    !guards.excludes(event.touched, entered)
        || before.any(|earlier| {
            earlier.object == event.object
                && earlier.takes(initial)
                && !guards.excludes(event.touched, earlier.guard)
        })
}
