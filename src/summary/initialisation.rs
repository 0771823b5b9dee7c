//! What a function initialises, and whether as recursive: `pthread_mutex_init` and what is built on it.
//!
//! In: a callee's initialisations, the call site and the state before it; the initialisations of a finished execution. Out: events
//! of the log; those of which only the function's callers know the object, or what it is initialised as.

use super::apply::{self, Binding};
use super::convert::Converter;
use super::infer::Exit;
use super::{IExpr, IObj, Initialisation, Summary};
use crate::symbolic::arena::Arena;
use crate::symbolic::exec::Executor;
use crate::symbolic::execution::Execution;
use crate::symbolic::guard::Guard;
use crate::symbolic::log::InitEvent;
use crate::symbolic::region::Loc;
use crate::symbolic::state::State;

/// Initialisations that are handed on; of what is beyond nobody is told.
const MAX_INITIALISATIONS: usize = 8;
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
            places: match object.root.is_received() {
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
        let places = match object.root.is_received() {
            true => binding.locate(exec, state, object),
            false => known.places,
        };
        let called = apply::Called {
            object,
            name: &initialisation.name,
            class: initialisation.class.as_ref(),
        };
        apply::name_object(exec, summary, binding, called, &places);
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

/// All that an execution does to initialise one object.
struct Whole {
    loc: Loc,
    paths: Guard,
    /// `None`: on some paths it is not known.
    recursive: Option<Guard>,
    kept_in: Vec<Loc>,
}

/// The initialisations of a finished execution, by object.
fn by_object(execution: &Execution, arena: &mut Arena<'_>) -> Vec<Whole> {
    let mut objects: Vec<Whole> = Vec::new();
    for event in &execution.log.initialised {
        let guards = &mut arena.formula.guards;
        let recursive = event.recursive.map(|there| guards.and(event.guard, there));
        let kept_in = event.kept_in.iter().map(|&(_, loc)| loc);
        match objects.iter_mut().find(|known| known.loc == event.loc) {
            Some(known) => {
                known.paths = guards.or(known.paths, event.guard);
                let both = known.recursive.zip(recursive);
                known.recursive = both.map(|(one, other)| guards.or(one, other));
                known.kept_in.extend(kept_in);
            }
            None => objects.push(Whole {
                loc: event.loc,
                paths: event.guard,
                recursive,
                kept_in: kept_in.collect(),
            }),
        }
    }
    objects
}

/// Adds to a function's summary what its callers know more of.
pub fn add(execution: &Execution, arena: &mut Arena<'_>, summary: &mut Summary, exit: &Exit<'_>) {
    let mut converter = Converter::new(exit);
    for whole in by_object(execution, arena) {
        if summary.initialises.len() >= MAX_INITIALISATIONS
            || arena.regions.is_local(whole.loc.region)
        {
            continue;
        }
        let Some(object) = converter.object(arena, whole.loc) else {
            continue;
        };
        let recursive = whole.recursive.and_then(|recursive| {
            decided_by_callers(arena, &mut converter, recursive, whole.paths)
        });
        let decided = matches!(recursive, None | Some(IExpr::Const { .. }));
        let kept_in = match whole.kept_in[..] {
            [kept_in] => converter.object(arena, kept_in),
            _ => None,
        };
        // An attribute that the program has only one of says the same to everybody.
        let of_program = |kept_in: &IObj| matches!(kept_in.root, super::Root::Global(_));
        let settled = decided || kept_in.as_ref().is_some_and(of_program);
        if settled && !converter.classes(arena, whole.loc).is_empty() {
            continue;
        }
        summary.initialises.push(Initialisation {
            name: converter.name(arena, &object, whole.loc),
            object,
            class: arena.class_of(whole.loc),
            recursive,
            kept_in,
        });
    }
}

/// The condition under which the object is recursive where it is initialised at all, over entry values.
fn decided_by_callers(
    arena: &mut Arena<'_>,
    converter: &mut Converter,
    recursive: Guard,
    paths: Guard,
) -> Option<IExpr> {
    let constant = |value| IExpr::Const { value, width: 1 };
    let guards = &mut arena.formula.guards;
    if recursive == Guard::FALSE {
        return Some(constant(0));
    }
    if guards.implies(paths, recursive) {
        return Some(constant(1));
    }
    let literals = guards.implied_literals(paths);
    let condition = guards.restrict(recursive, &literals);
    let term = arena.formula.term_of(condition);
    converter.expr(arena, term)
}
