//! The rows of a summary that may be taken at a call site, and on which paths it is not known which are.
//!
//! In: rows with their conditions, the state before the call. Out: paths on which it is open what the call does, and the objects
//! that it takes.

use super::binding::Binding;
use crate::property::{Event, Role, States, Target};
use crate::summary::{IExpr, Root, Row, Summary, SummaryObject};
use crate::symbolic::callee::CallSite;
use crate::symbolic::exec::Executor;
use crate::symbolic::guard::Guard;
use crate::symbolic::log::{Source, TakeEvent};
use crate::symbolic::origin::Origin;
use crate::symbolic::state::{MachineId, Object, State, Status};
use crate::symbolic::term::Op;

/// A row at a call site.
pub(super) struct Enabled<'s> {
    pub row: &'s Row,
    /// Its conditions.
    pub guard: Guard,
    /// Those of them that are not about memory on entry, unless that is known; no condition if the callee is not exact.
    pub certain: Guard,
    /// It is not known whether the row can be taken.
    pub doubtful: bool,
    /// The paths on which it is not known here, either, whether the row can be taken.
    pub doubt: Guard,
    /// A count decides that the callee ends the block, which is not known here ([`Row::counted`]).
    pub counted: bool,
    /// The callee is no primitive.
    pub inferred: bool,
    /// The conditions on entry, if the callee is exact ([`SummaryObject::exact`]).
    pub inputs: Option<&'s [IExpr]>,
    pub source: Option<Source>,
}

/// Notes the paths on which the callee does not make the object that it makes as a rule, as its result tells, a number. (A pointer tells itself.)
pub(super) fn made_nothing(
    exec: &mut Executor<'_>,
    state: &State,
    (object, machine): (&SummaryObject, MachineId),
    rows: &[Enabled<'_>],
) {
    if !exec.arena.watches || !object.object.root.is_output() {
        return;
    }
    let machine = exec.arena.machine_at(machine);
    let makes = |it: &&Enabled<'_>| {
        let made = matches!(it.row.to, Target::State(to) if machine.role(to) == Role::Held);
        made && it.row.from == machine.initial
    };
    let mut made = rows.iter().filter(makes).peekable();
    if !made
        .peek()
        .is_some_and(|it| it.row.outcond.iter().any(Option::is_some))
    {
        return;
    }
    let guards = &mut exec.arena.formula.guards;
    let made = guards.union(made.map(|it| it.guard));
    let nothing = guards.and_not(state.guard, made);
    if nothing != Guard::FALSE {
        exec.arena.made_nothing.push(nothing);
    }
}

/// Whether a condition tests the kind of an object by comparing a pointer with a global's address, as in
/// `device->class == &link_class`. Whoever made the object knows its kind.
pub(super) fn asks_for_kind(condition: &IExpr) -> bool {
    match condition {
        IExpr::Op {
            op: Op::Not, args, ..
        } => args.iter().all(asks_for_kind),
        IExpr::Op {
            op: Op::Eq, args, ..
        } => {
            let global = |arg: &IExpr| matches!(arg, IExpr::Address(object) if matches!(object.root, Root::Global(_)) && object.path.len() <= 1);
            let found =
                |arg: &IExpr| matches!(arg, IExpr::Value { object, .. } if !object.path.is_empty());
            args.iter().any(global) && args.iter().any(found)
        }
        _ => false,
    }
}

/// Whether the world outside the program answers so that a callee does one thing, and not the other.
pub(super) fn outside_answer(exec: &mut Executor<'_>, state: &State, site: &CallSite<'_>) -> Guard {
    let origin = Origin::Call {
        text: site.text.into(),
        answer: 0,
        outside: true,
    };
    let answer = exec.arena.call_result(state, 1, origin);
    exec.arena.formula.guard_of(answer)
}

/// Takes one row of those between which nothing but the world outside the program decides: an answer of its own for each of them but the last.
pub(super) fn choose_answers(
    exec: &mut Executor<'_>,
    state: &State,
    site: &CallSite<'_>,
    rows: &mut [Enabled<'_>],
) {
    for first in 0..rows.len() {
        let row = rows[first].row;
        let alike = |other: &Enabled<'_>| {
            other.row.answered
                && other.row.from == row.from
                && (&other.row.incond, &other.row.outcond) == (&row.incond, &row.outcond)
        };
        // A group is dealt with at its first row.
        if !row.answered || rows[..first].iter().any(alike) {
            continue;
        }
        let group: Vec<usize> = (first..rows.len()).filter(|&at| alike(&rows[at])).collect();
        let mut left = Guard::TRUE;
        for (place, &at) in group.iter().enumerate() {
            let mut chosen = left;
            if place + 1 < group.len() {
                let answer = outside_answer(exec, state, site);
                let guards = &mut exec.arena.formula.guards;
                chosen = guards.and(left, answer);
                left = guards.and_not(left, answer);
            }
            rows[at].guard = exec.arena.formula.guards.and(rows[at].guard, chosen);
        }
    }
}

/// Notes the paths on which the call's effect is unknown: they take a row that may be infeasible; two rows are
/// enabled; or a callee that releases what the function holds reports by its result that it did not.
pub(super) fn doubt(
    exec: &mut Executor<'_>,
    state: &State,
    object: Object,
    place: Guard,
    rows: &[Enabled<'_>],
) {
    let before = exec.arena.now(state, object);
    let initial = exec.arena.machine_of(object).initial;
    let guards = &mut exec.arena.formula.guards;
    let place = guards.and(place, state.guard);
    let mut unknown = Guard::FALSE;
    for (index, one) in rows.iter().enumerate() {
        let row = one.row;
        // Where the object is in the row's state, which most rows are not taken from.
        let here = guards.and(place, before.guard_of(Status::At(row.from)));
        let here = guards.and(here, one.guard);
        if here == Guard::FALSE {
            continue;
        }
        if one.doubtful {
            let doubtful = guards.and(here, one.doubt);
            unknown = guards.or(unknown, doubtful);
        }
        let moves = |enabled: &Enabled<'_>| {
            matches!(enabled.row.to, Target::State(_)) && !enabled.row.reported
        };
        let others = rows[index + 1..].iter().filter(|other| {
            let differ = row.from == other.row.from && row.to != other.row.to;
            differ && moves(one) && moves(other) && !row.excludes(other.row)
        });
        // Most rows exclude each other here, though their guards do not show it by themselves.
        let mut several = Guard::FALSE;
        for other in others {
            if !guards.excludes(here, other.guard) {
                let both = guards.and(here, other.guard);
                several = guards.or(several, both);
            }
        }
        if several != Guard::FALSE {
            unknown = guards.or(unknown, several);
            exec.execution.open.add(guards, object, several);
        }
        let gives_back = |other: &Enabled<'_>| {
            other.row.from == row.from && other.row.to == Target::State(initial)
        };
        let told = row.outcond.iter().any(Option::is_some);
        let keeps = row.from != initial && row.to == Target::State(row.from);
        if keeps && told && rows.iter().any(gives_back) {
            let kept = guards.and(here, before.touched);
            unknown = guards.or(unknown, kept);
        }
    }
    exec.execution.unknown_effect.add(unknown);
}

/// The paths on which a row restores a state from a value that comes from outside the function, where the saved state
/// is not known.
pub(super) fn unsaved(
    exec: &mut Executor<'_>,
    state: &mut State,
    summary: &Summary,
    row: &Row,
    binding: &Binding<'_, '_>,
) -> Guard {
    let mut values = Vec::new();
    for (wanted, input) in row.incond.iter().zip(&summary.inputs) {
        input.each(&mut |part| {
            if wanted.is_some() && matches!(part, IExpr::Value { .. }) {
                values.push(part.clone());
            }
        });
    }
    let mut unknown = Guard::FALSE;
    for value in values {
        let here = match binding.value(exec, state, &value) {
            Some(term) => exec.arena.comes_from_outside(term),
            None => Guard::TRUE,
        };
        unknown = exec.arena.formula.guards.or(unknown, here);
    }
    unknown
}

/// Notes the paths on which the call takes an object that is not held, even if it releases it again: the paths on
/// which the call would be a mistake if the object were held.
pub(super) fn taking(
    exec: &mut Executor<'_>,
    state: &State,
    (object, name): (Object, &str),
    place: Guard,
    rows: &[Enabled<'_>],
    (site, order): (&CallSite<'_>, usize),
) {
    let machine = exec.arena.machine_of(object);
    if machine.rule(Event::Order).is_none() {
        return;
    }
    let mut waits_for = States::default();
    let mut taken = Guard::FALSE;
    for Enabled { row, guard, .. } in rows {
        let waits = matches!(&row.to, Target::Error(Some(rule)) if machine.is_about_taking(rule));
        if waits && row.from != machine.initial && !row.doubtful {
            waits_for.insert(row.from);
            taken = exec.arena.formula.guards.or(taken, *guard);
        }
    }
    if taken == Guard::FALSE {
        return;
    }
    let unheld = exec
        .arena
        .now(state, object)
        .guard_of(Status::At(machine.initial));
    let guards = &mut exec.arena.formula.guards;
    let may = guards.and(state.guard, place);
    let may = guards.and(may, unheld);
    let guard = guards.and(taken, may);
    if guard == Guard::FALSE {
        return;
    }
    let primitive = !rows.iter().any(|enabled| enabled.inferred);
    let always = primitive || guards.implies(may, taken);
    let inside = rows
        .iter()
        .find(|enabled| enabled.row.from == machine.initial && !enabled.row.trace.is_empty());
    let event = TakeEvent {
        object,
        guard,
        waits_for,
        always,
        call: exec.execution.log.call,
        order,
        stack: site.stack.clone(),
        text: site.text.into(),
        name: name.to_string(),
        inside: inside.map_or_else(Default::default, |enabled| {
            enabled.row.trace.as_slice().into()
        }),
    };
    exec.execution.log.takes.push(event);
}
