//! What a call initialises, and whether as recursive.
//!
//! In: a callee's initialisations, the call site and the states before and after it. Out: [`InitEvent`]s.

use super::binding::Binding;
use super::name::{self, Called};
use crate::summary::Summary;
use crate::symbolic::exec::Executor;
use crate::symbolic::guard::Guard;
use crate::symbolic::log::InitEvent;
use crate::symbolic::region::Loc;
use crate::symbolic::state::State;

/// Bytes of the number that an attribute keeps.
const KIND_SIZE: u64 = 4;

/// What the state before a call says of the callee's initialisations, in their order.
pub(super) struct Before(Vec<Known>);

struct Known {
    recursive: Option<Guard>,
    kept_in: Vec<(Guard, Loc)>,
    /// Where the object lies; none if the caller gets to know it from the call only.
    places: Vec<(Guard, Loc)>,
}

/// Evaluates what decides the callee's initialisations, in the state before the call.
pub(super) fn before(
    exec: &mut Executor<'_>,
    state: &mut State,
    summary: &Summary,
    binding: &Binding<'_, '_>,
) -> Before {
    let initialises = summary.initialises.iter();
    let known = initialises.map(|initialisation| {
        let recursive = initialisation.recursive.as_ref();
        let recursive = recursive.and_then(|value| binding.value(exec, state, value));
        let kept_in = initialisation.kept_in.as_ref();
        let kept_in = kept_in.map_or_else(Vec::new, |kept_in| binding.locate(exec, state, kept_in));
        let object = &initialisation.object;
        Known {
            recursive: recursive.map(|recursive| exec.arena.guard_of(state, recursive)),
            kept_in: unset(exec, state, kept_in),
            places: match object.root.is_output() {
                true => Vec::new(),
                false => binding.locate(exec, state, object),
            },
        }
    });
    Before(known.collect())
}

/// The places among these whose number is that on entry.
fn unset(
    exec: &mut Executor<'_>,
    state: &State,
    mut places: Vec<(Guard, Loc)>,
) -> Vec<(Guard, Loc)> {
    places.retain(|&(_, loc)| {
        let value = exec.arena.scalar_at(state, loc, KIND_SIZE);
        value.is_some_and(|value| exec.arena.is_initial(loc, KIND_SIZE, value))
    });
    places
}

/// Logs the callee's initialisations, in the state after the call.
pub(super) fn log(
    exec: &mut Executor<'_>,
    state: &mut State,
    summary: &Summary,
    binding: &Binding<'_, '_>,
    before: Before,
) {
    for (initialisation, known) in summary.initialises.iter().zip(before.0) {
        let object = &initialisation.object;
        let places = match object.root.is_output() {
            true => binding.locate(exec, state, object),
            false => known.places,
        };
        let called = Called {
            object,
            name: &initialisation.name,
            class: initialisation.class.as_ref(),
        };
        name::object(exec, summary, binding, called, &places);
        for (guard, loc) in places {
            let guard = exec.arena.formula.guards.and(state.guard, guard);
            if guard != Guard::FALSE {
                exec.execution.log.initialised.push(InitEvent {
                    loc,
                    guard,
                    recursive: known.recursive,
                    kept_in: known.kept_in.clone(),
                    stack: binding.site.stack.clone(),
                });
            }
        }
    }
}
