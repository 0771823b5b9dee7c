//! Objects that a callee has made.
//!
//! In: a summary's objects that the caller gets to know from the call, and where they lie. Out: which of these places a block that the callee has
//! allocated can lie in, and the state it begins in.

use super::binding::Binding;
use super::rows::Enabled;
use crate::ir::Ty;
use crate::property::{Key, Role, StateId, Target};
use crate::summary::predicates::is_of_arguments;
use crate::summary::{IExpr, Root, Row, Summary, SummaryObject, When};
use crate::symbolic::arena::Arena;
use crate::symbolic::exec::Executor;
use crate::symbolic::guard::Guard;
use crate::symbolic::origin::Origin;
use crate::symbolic::region::{Loc, NUMBER_BITS, RegionId, RegionKind};
use crate::symbolic::state::{MachineId, State};
use crate::symbolic::term::{Node, Var};

/// Whether the callee makes an object of the summary, a block that it has allocated, or has something there that is none.
pub(super) fn makes(
    arena: &Arena<'_>,
    summary: &Summary,
    object: usize,
    machine: MachineId,
) -> bool {
    let machine = arena.machine_at(machine);
    let held = |state: StateId| machine.role(state) == Role::Held;
    let rows = summary.rows.iter();
    let mut rows = rows.filter(|row| row.object as usize == object);
    let made = |row: &Row| matches!(row.to, Target::State(to) if held(to)) && !held(row.from);
    machine.key != Key::Location
        && (rows.clone().any(made) || rows.all(|row| machine.role(row.from) == Role::Free))
}

/// Reads what lies, before the call, where the callee may leave a pointer to a block that it makes: execution makes up what it reads for the
/// first time, and what was there is none that the callee has made.
pub(super) fn read_before(
    exec: &mut Executor<'_>,
    state: &mut State,
    summary: &Summary,
    binding: &Binding<'_, '_>,
) {
    if !exec.arena.watches {
        return;
    }
    for object in &summary.objects {
        if let Root::Exit(place) = &object.object.root
            && place.root != Root::Return
            && let Some(address) = binding.address(exec, state, place, false)
        {
            exec.arena.peek(state, address, Ty::Ptr);
        }
    }
}

/// On which paths a callee may make an object, by what is there on entry.
#[derive(Clone, Copy)]
pub(super) struct MadeOn {
    /// On others something else is in its place.
    pub here: Guard,
    /// On others there is none: its place holds something else on entry.
    pub at_all: Guard,
}

/// The paths on which the callee may make this object.
pub(super) fn made_on(
    exec: &mut Executor<'_>,
    state: &mut State,
    object: &SummaryObject,
    binding: &Binding<'_, '_>,
) -> MadeOn {
    let mut made_on = MadeOn {
        here: Guard::TRUE,
        at_all: Guard::TRUE,
    };
    for outcome in &object.only_if {
        let Some(here) = binding.holds(exec, state, outcome) else {
            continue;
        };
        let guards = &mut exec.arena.formula.guards;
        if guards.excludes(state.guard, here) {
            made_on.at_all = Guard::FALSE;
            return made_on;
        }
        // Where nothing else is returned the result tells whether there is an object.
        match object.or_another && is_of_arguments(&outcome.0) {
            true => made_on.here = guards.and(made_on.here, here),
            false if is_of_place(&outcome.0, &object.object.root) => {
                made_on.at_all = guards.and(made_on.at_all, here);
            }
            false => {}
        }
    }
    made_on
}

/// Whether a region, or the pointer to it, was there before the call whose first unknown this is: what it leads to is none that the callee
/// has made. What lay on entry in a place that was there, was there, too, even if it is read for the first time because of the call.
pub(super) fn was_there(arena: &Arena<'_>, region: RegionId, made: Var) -> bool {
    let Some(base) = arena.regions.base(region) else {
        // A variable of the program's, or its text.
        return true;
    };
    let Node::Var(var) = *arena.formula.terms.node(base) else {
        return false;
    };
    match *arena.origins.of(var) {
        _ if var.0 < made.0 => true,
        Origin::Initial { loc, .. } => was_there(arena, loc.region, made),
        _ => false,
    }
}

/// An object that the callee made and returned: its state on the callee's entry means nothing to the
/// caller, so the first row that is no error decides where it starts.
pub(super) fn assume_made(
    exec: &mut Executor<'_>,
    state: &mut State,
    summary: &Summary,
    object: &SummaryObject,
    machine: MachineId,
    places: &[(Guard, Loc)],
) {
    let from = summary.rows.iter().find_map(|row| {
        let same = &summary.objects[row.object as usize] == object;
        (same && matches!(row.to, Target::State(_))).then_some(row.from)
    });
    let Some(from) = from else { return };
    for &(_, loc) in places {
        let object = exec.arena.object_at(loc, machine);
        if !state.objects.contains_key(&object) {
            exec.arena.enters_in(object, from);
        }
    }
}

/// Leaves out the paths on which an operation has taken place, as the result tells, on what a negative number names: that names nothing, and the
/// system reports an error. So no number that `pipe` has given is negative, and none that `fdopen` has made a stream of.
pub(super) fn assume_named(
    exec: &mut Executor<'_>,
    state: &mut State,
    loc: Loc,
    rows: &[Enabled<'_>],
) {
    let RegionKind::Value { of } = *exec.arena.regions.kind(loc.region) else {
        return;
    };
    let told = rows.iter().filter(|enabled| {
        let row = enabled.row;
        let moves = matches!(row.to, Target::State(to) if to != row.from);
        moves && row.outcond.iter().any(Option::is_some)
    });
    let done: Vec<Guard> = told.map(|enabled| enabled.guard).collect();
    if done.is_empty() {
        return;
    }
    let formula = &mut exec.arena.formula;
    let zero = formula.terms.constant(0, NUMBER_BITS);
    let negative = formula.terms.slt(of, zero);
    let negative = formula.guard_of(negative);
    let done = formula.guards.union(done);
    let never = formula.guards.and(done, negative);
    state.leave_out(&mut formula.guards, never);
}

/// Whether a condition is over nothing but what the place holds on entry in which the pointer to the object is left.
fn is_of_place(condition: &IExpr, left: &Root) -> bool {
    let Root::Exit(place) = left else {
        return false;
    };
    let mut only = condition.is_made_of(|object| object == &**place);
    condition.each(&mut |part| {
        only &= !matches!(
            part,
            IExpr::Value {
                when: When::Exit,
                ..
            }
        );
    });
    only
}
