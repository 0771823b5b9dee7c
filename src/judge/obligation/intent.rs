//! Whether what a function leaves to its callers looks meant.
//!
//! In: the log, the exits of an object. Out: what speaks for an obligation where nobody calls the function, and against it: that the
//! object is kept only where the function fails, or that its state cannot be restored.

use std::collections::BTreeSet;

use super::collect::half;
use super::{ByName, Intent, Kind};
use crate::ir::POINTER_BITS;
use crate::property::{Machine, Names, StateId};
use crate::sat::oracle::Oracle;
use crate::summary::convert::Converter;
use crate::summary::infer::{Exit, Exits};
use crate::summary::{Root, predicates};
use crate::symbolic::arena::Arena;
use crate::symbolic::execution::Execution;
use crate::symbolic::guard::Guard;
use crate::symbolic::log::OpEvent;
use crate::symbolic::state::{Object, Status};
use crate::symbolic::term::Term;

/// Whether the function takes an object for its callers at times and gives it back for them at others, as its arguments say.
pub(super) fn goes_both_ways(exits: &Exits, machine: &Machine) -> bool {
    let moves = exits.moves.iter().filter(|entry| !entry.reported);
    let halves = moves.filter_map(|entry| half(machine, entry.from, &entry.to));
    let halves: BTreeSet<Kind> = halves.collect();
    halves.len() == 2
}

/// Whether the function moves an object out of its initial state only by itself, not along with a lock, never
/// moves it back, and lets nobody know the state that it was in.
pub(super) fn for_good(
    execution: &Execution,
    oracle: &mut Oracle<'_>,
    object: Object,
    initial: StateId,
) -> bool {
    let initial = Status::At(initial);
    let ops = &execution.log.ops;
    let of_object = || ops.iter().filter(|event| event.object == object);
    let bare = |event: &OpEvent| {
        let mut of_call = execution.log.ops_of_call(event.call).iter();
        !event.saves && of_call.all(|other| other.object == object)
    };
    if !of_object().filter(|event| event.takes(initial)).all(bare) {
        return false;
    }
    let back = of_object().filter(|event| event.gives_back(initial));
    let back: Vec<Guard> = back.map(|event| event.guard).collect();
    !back.into_iter().any(|paths| oracle.possible(paths))
}

/// Whether the function has saved the state that an object was in when it left its initial one on these paths, and
/// has told nobody, as far as memory and a scalar result go.
pub(super) fn lost(
    execution: &Execution,
    arena: &mut Arena<'_>,
    exit: &Exit<'_>,
    object: Object,
    initial: StateId,
    paths: Guard,
) -> bool {
    let initial = Status::At(initial);
    let guards = &mut arena.formula.guards;
    let takes = execution.log.ops.iter();
    let mut takes = takes
        .filter(|event| event.object == object && event.takes(initial))
        .filter(|event| !guards.excludes(event.guard, paths))
        .peekable();
    if takes.peek().is_none() || !takes.all(|event| event.saves) {
        return false;
    }
    let known = [execution.log.state_passed_on, execution.log.lost];
    if known.into_iter().any(|told| !guards.excludes(told, paths)) {
        return false;
    }
    let regions = &arena.regions;
    let left = exit
        .state
        .memory
        .written(|region| !regions.is_local(region));
    let left = left
        .into_iter()
        .filter_map(|(loc, size, value)| value.or_else(|| arena.scalar_at(exit.state, loc, size)));
    let left: Vec<Term> = left.chain(exit.result).collect();
    !left
        .into_iter()
        .any(|value| arena.depends_on_entry_state(value))
}

/// Where the function's result says that it has failed; a pointer, too, by being null.
pub(super) fn failure(arena: &mut Arena<'_>, exit: &Exit<'_>, is_pointer: bool) -> Option<Guard> {
    let result = exit.result?;
    let mut fails = predicates::failure(arena, result)?;
    if is_pointer {
        let null = arena.formula.terms.constant(0, POINTER_BITS);
        let is_null = arena.formula.terms.eq(result, null);
        let is_null = arena.formula.guard_of(is_null);
        fails = arena.formula.guards.or(fails, is_null);
    }
    (fails != Guard::FALSE && fails != Guard::TRUE).then_some(fails)
}

/// Whether the object is kept only where the function fails, and given back where it succeeds.
pub(super) fn on_failure(
    execution: &Execution,
    oracle: &mut Oracle<'_>,
    exits: &Exits,
    initial: StateId,
    kept: Guard,
    fails: Option<Guard>,
) -> bool {
    let Some(fails) = fails else { return false };
    let succeeding = oracle.formula.guards.and_not(kept, fails);
    if oracle.possible(succeeding) {
        return false;
    }
    let mut moved = Guard::FALSE;
    for index in 0..execution.log.ops.len() {
        let event = &execution.log.ops[index];
        if event.object == exits.object && event.moves() {
            moved = oracle.formula.guards.or(moved, event.guard);
        }
    }
    let back = exits.paths(initial, initial);
    let back = oracle.formula.guards.and(back, moved);
    let back = oracle.formula.guards.and_not(back, fails);
    oracle.model(back).is_some()
}

/// Whether what is kept looks like an intent to the caller: the object hangs on the result, or the result, which tells
/// whether it is kept (`told`), tells whether a lock that was only tried for was got.
pub(super) fn intent(
    execution: &Execution,
    arena: &mut Arena<'_>,
    exit: &Exit<'_>,
    exits: &Exits,
    told: bool,
) -> Intent {
    let object = Converter::new(exit).object(arena, exits.object.loc);
    if object.is_some_and(|object| object.root == Root::Return)
        || hangs_on_result(arena, exit, exits)
    {
        return Intent::Meant;
    }
    let initial = arena.machine_of(exits.object).initial;
    if arena.is_saved(exits.object.machine) {
        return match only_moved_alone(execution, exits.object, initial) {
            true => Intent::Meant,
            false => Intent::Nothing,
        };
    }
    let untaken = exits.paths(initial, initial) != Guard::FALSE;
    match told && untaken && !released(execution, exits.object, initial) {
        true => Intent::Tried,
        false => Intent::Nothing,
    }
}

/// Whether the function gives an object back that was not given back on entry.
pub(super) fn released(execution: &Execution, object: Object, initial: StateId) -> bool {
    let initial = Status::At(initial);
    let ops = &execution.log.ops;
    ops.iter()
        .any(|event| event.object == object && event.to == Some(initial) && event.from != initial)
}

/// Whether the function moves an object out of its initial state, never back, and nothing else along
/// with it: `local_irq_disable()` before the way out.
pub(super) fn only_moved_alone(execution: &Execution, object: Object, initial: StateId) -> bool {
    let initial = Status::At(initial);
    let ops = &execution.log.ops;
    ops.iter().all(|event| {
        let along = |other: &OpEvent| other.object != object && other.stack == event.stack;
        event.object != object
            || event.to == Some(event.from)
            || event.to.is_some() && event.from == initial && !ops.iter().any(along)
    })
}

/// Whether the result points to the object.
pub(super) fn hangs_on_result(arena: &mut Arena<'_>, exit: &Exit<'_>, exits: &Exits) -> bool {
    let pointers = Converter::new(exit).pointers_to(arena, exits.object.loc);
    pointers.contains(&None)
}

/// Whether the name of a function says that it does one half for its callers.
pub(super) fn by_name(machine: &Machine, kind: Kind, name: &str) -> ByName {
    let Names {
        held,
        required,
        stored,
        ..
    } = &machine.names;
    let words = match kind {
        Kind::Held => held,
        Kind::Required => required,
    };
    match Names::say(words, name) {
        false => ByName::No,
        true if kind == Kind::Held || Names::say(stored, name) => ByName::Yes,
        true => ByName::UnlessStored,
    }
}
