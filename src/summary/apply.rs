//! Summary application (paper §5.3, Figure 9).
//!
//! In: a callee's summary, the call site and the state before it. Out: the state after it, the result,
//! and events for the moves of tracked objects.
//!
//! Where several rows are enabled at once (the callee's own exits are ambiguous), an error row is
//! reported as possible, and execution goes on with the first of the others in the summary's order,
//! so that one mistake in a callee does not show in all its callers.

use std::cell::RefCell;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::convert::RESULT;
use super::{Cube, IExpr, IObj, Offset, Root, Row, Summary, SummaryObject};
use super::{assertion, initialisation};
use crate::ir::{POINTER_BITS, Ty};
use crate::property::{Event, StateId, States, Target};
use crate::symbolic::callee::{CallSite, CalleeView, Effects};
use crate::symbolic::callee_writes::Rewrite;
use crate::symbolic::class::Class;
use crate::symbolic::exec::{ArgValue, Executor};
use crate::symbolic::guard::Guard;
use crate::symbolic::log::{OpEvent, SleepEvent, Source, TakeEvent};
use crate::symbolic::memory::{Origin, Shape};
use crate::symbolic::naming;
use crate::symbolic::region::{Loc, RegionKind, SymbolicOffset};
use crate::symbolic::state::{Object, State, Status, Tracked};
use crate::symbolic::term::{Op, Term, Var};

impl From<Arc<Summary>> for CalleeView {
    fn from(summary: Arc<Summary>) -> Self {
        CalleeView::Known(summary)
    }
}

impl Effects for Summary {
    fn moves_objects(&self) -> bool {
        !self.rows.is_empty()
    }

    fn is_noop(&self) -> bool {
        self.is_noop()
    }

    fn is_primitive(&self) -> bool {
        self.is_primitive()
    }

    fn is_opaque(&self) -> bool {
        self.opaque
    }

    fn is_partial(&self) -> bool {
        self.partial
    }

    fn only_asserts(&self) -> bool {
        self.only_asserts()
    }

    fn apply(
        &self,
        exec: &mut Executor<'_>,
        state: &mut State,
        site: &CallSite<'_>,
    ) -> Option<Term> {
        apply(exec, state, self, site)
    }

    fn note_assertions(&self, exec: &mut Executor<'_>, state: &mut State, site: &CallSite<'_>) {
        note_assertions(exec, state, self, site);
    }
}

/// Applies a summary. The scalar result, if the function has one.
fn apply(
    exec: &mut Executor<'_>,
    state: &mut State,
    summary: &Summary,
    site: &CallSite<'_>,
) -> Option<Term> {
    let made = exec.arena.formula.terms.next_var();
    let mut binding = Binding::new(site);
    // Stage 1: what the summary names, in the state before the call.
    let inputs = binding.inputs(exec, state, summary);
    sleep(exec, state, summary, &inputs, site);
    assertion::check(exec, state, summary, &inputs, &binding);
    let initialised = initialisation::before(exec, state, summary, &binding);
    for unnamed in &summary.unnamed {
        if let Some(machine) = exec.arena.machine(&unnamed.machine) {
            exec.execution.moved_unnamed(
                &mut exec.arena.formula.guards,
                (&unnamed.class, machine),
                unnamed.calls,
                state.guard,
            );
        }
    }
    let mut objects: Vec<Vec<(Guard, Loc)>> = Vec::with_capacity(summary.objects.len());
    for object in &summary.objects {
        if object.object.root.is_received() {
            objects.push(Vec::new());
            continue;
        }
        let address = binding.address(exec, state, &object.object, !object.optional);
        let places =
            address.map_or_else(Vec::new, |address| exec.arena.locations(address).to_vec());
        if let Some(address) = address
            && places.len() > 1
        {
            exec.arena.classify_choice(address, &places);
        }
        name_object(exec, summary, &binding, object.into(), &places);
        let places = match address.filter(|_| !object.optional) {
            Some(address) => exec.gone_through(state, address, places),
            None => places,
        };
        objects.push(places);
    }
    let known = summary
        .result
        .as_ref()
        .and_then(|value| binding.value(exec, state, value));
    let result = site.result_width.map(|width| match known {
        Some(value) => exec.arena.resize(value, width),
        None => {
            let origin = Origin::Call {
                text: site.text.into(),
            };
            exec.arena.call_result(state, width, origin)
        }
    });
    modify(exec, state, summary, &binding, made);
    binding.result = result;
    // Stage 2: what it names in the state after the call.
    let outputs: Vec<Guard> = summary
        .outputs
        .iter()
        .map(|output| binding.condition(exec, state, output))
        .collect();
    for (index, object) in summary.objects.iter().enumerate() {
        if !object.object.root.is_received() {
            continue;
        }
        if let Some(result) = result {
            exec.arena.mark_pointer(result, 4);
        }
        let mut places = binding.locate(exec, state, &object.object);
        name_object(exec, summary, &binding, object.into(), &places);
        // Where the callee gives back what it was given, that has its own rows.
        let known = |loc: &Loc| objects.iter().flatten().any(|(_, other)| other == loc);
        places.retain(|(_, loc)| !known(loc));
        if let Some(machine) = exec.arena.machine(&object.machine) {
            assume_made_by_callee(exec, state, summary, object, machine, &places);
        }
        objects[index] = places;
    }
    initialisation::log(exec, state, summary, &binding, initialised);
    coincide(exec, state, summary, &objects);
    let order = exec.execution.log.ops.len();
    let inferred = !summary.is_primitive();
    for (index, object) in summary.objects.iter().enumerate() {
        let Some(machine) = exec.arena.machine(&object.machine) else {
            continue;
        };
        let rows: Vec<Enabled<'_>> = (0..)
            .zip(&summary.rows)
            .filter(|(_, row)| row.object as usize == index)
            .map(|(number, row)| {
                let entry = cube(exec, &row.incond, &inputs);
                let exit = cube(exec, &row.outcond, &outputs);
                let doubt = match row.doubtful && exec.arena.is_saved(machine) {
                    true => unsaved(exec, state, summary, row, &binding),
                    false => Guard::TRUE,
                };
                let mut literals = row.incond.iter().zip(&summary.inputs).zip(&inputs);
                let of_kind = literals.any(|((wanted, input), &here)| {
                    let open = here != Guard::TRUE && here != Guard::FALSE;
                    wanted.is_some() && open && asks_for_kind(input)
                });
                let doubtful = row.doubtful || of_kind && matches!(row.to, Target::Error(_));
                Enabled {
                    row,
                    guard: exec.arena.formula.guards.and(entry, exit),
                    doubtful,
                    doubt,
                    inferred,
                    inputs: object.exact.then_some(&summary.inputs[..]),
                    source: (!row.trace.is_empty()).then(|| Source {
                        callee: site.callee.clone(),
                        object: row.object,
                        row: number,
                    }),
                }
            })
            .collect();
        for &(mut guard, loc) in &objects[index] {
            // Where its pointer is null the callee does not touch it.
            if summary.objects[index].optional && !exec.arena.surely_exists(state, loc) {
                let exists = exec.arena.exists(loc);
                guard = exec.arena.formula.guards.and(guard, exists);
            }
            let object = Object { loc, machine };
            doubt(exec, state, object, guard, &rows);
            let name = exec.arena.name_of(loc);
            taking(exec, state, (object, &name), guard, &rows, (site, order));
            let paths = exec.arena.formula.guards.and(guard, state.guard);
            if summary.objects[index].open {
                exec.execution
                    .open
                    .add(&mut exec.arena.formula.guards, object, paths);
            }
            if exec.execution.log.several {
                exec.execution
                    .chosen
                    .add(&mut exec.arena.formula.guards, object, paths);
            }
            let told = (&rows[..], summary.tells_state());
            transition(exec, state, (object, &name), guard, told, site);
        }
    }
    if summary.noreturn {
        state.guard = Guard::FALSE;
    }
    result
}

/// Notes what a call states, of a function that does nothing else.
fn note_assertions(
    exec: &mut Executor<'_>,
    state: &mut State,
    summary: &Summary,
    site: &CallSite<'_>,
) {
    let binding = Binding::new(site);
    let inputs = binding.inputs(exec, state, summary);
    assertion::check(exec, state, summary, &inputs, &binding);
}

/// Notes where the call may sleep, and what is held there.
fn sleep(
    exec: &mut Executor<'_>,
    state: &State,
    summary: &Summary,
    inputs: &[Guard],
    site: &CallSite<'_>,
) {
    let inlined = inlined_conditions(exec, state.guard);
    for sleep in &summary.sleeps {
        let here = cube(exec, &sleep.incond, inputs);
        let condition = exec.arena.formula.guards.and(here, inlined);
        let guard = exec.arena.formula.guards.and(state.guard, here);
        if guard == Guard::FALSE {
            continue;
        }
        let (mut there, mut told) = (sleep.incond.clone(), sleep.incond.clone());
        for column in 0..sleep.incond.len() {
            let leads = sleep.there.contains(&(column as u32));
            let other = if leads { &mut told } else { &mut there };
            other[column] = None;
        }
        let (there, told) = (cube(exec, &there, inputs), cube(exec, &told, inputs));
        let (mut held, released) = atomic_objects(exec, state);
        // Where it depends on what has played no part so far whether it sleeps, someone else may know that
        // it does not.
        held.retain(|&(_, _, paths)| {
            let guards = &exec.arena.formula.guards;
            let decided = guards.support(paths);
            guards
                .support(told)
                .iter()
                .all(|condition| decided.contains(condition))
        });
        for (_, _, paths) in &mut held {
            *paths = exec.arena.formula.guards.and(*paths, here);
        }
        exec.execution.log.sleeps.push(SleepEvent {
            guard,
            condition,
            there,
            held,
            released,
            order: exec.execution.log.ops.len(),
            branches: exec.execution.log.branches.len(),
            stack: site.stack.clone(),
            text: site.text.into(),
            inside: sleep.trace.as_slice().into(),
        });
    }
}

/// What must hold of the values that functions which are inlined were called with for these paths to be taken:
/// conditions of a callee, as those of a summary are.
pub(super) fn inlined_conditions(exec: &mut Executor<'_>, paths: Guard) -> Guard {
    let Some((called, made)) = exec.inlining else {
        return Guard::TRUE;
    };
    let before = exec.arena.formula.guards.implied_literals(called);
    let mut literals = exec.arena.formula.guards.implied_literals(paths);
    literals.retain(|literal| {
        let vars = exec
            .arena
            .formula
            .vars(exec.arena.formula.cond_term(literal.0));
        let on_entry = |&var: &Var| {
            var < made
                || matches!(
                    exec.arena.origins.of(var),
                    Origin::Initial { .. } | Origin::Param(_)
                )
        };
        !before.contains(literal) && vars.iter().all(on_entry)
    });
    exec.arena.formula.guards.cube(&literals)
}

/// The objects that forbid to sleep, and the paths on which the function has put them into such a state; and
/// the paths on which it has put one out of it that was so on entry, or on which one is in error.
fn atomic_objects(exec: &mut Executor<'_>, state: &State) -> (Vec<(Object, Status, Guard)>, Guard) {
    let mut held = Vec::new();
    let mut released = Guard::FALSE;
    for (&object, tracked) in &state.objects {
        let machine = exec.arena.machine_of(object);
        if machine.rule(Event::Sleep).is_none() {
            continue;
        }
        let initial = Status::At(machine.initial);
        let entry = exec.arena.entry_state(object);
        for &(status, guard) in &tracked.set {
            let guards = &mut exec.arena.formula.guards;
            let here = guards.and(state.guard, guard);
            match status {
                // What was so before is the caller's.
                Status::At(_) if status != initial => {
                    let ours = guards.and(here, entry.guard_of(initial));
                    if ours != Guard::FALSE {
                        held.push((object, status, ours));
                    }
                    // One of two readers.
                    let theirs = guards.and_not(here, entry.guard_of(initial));
                    let less = guards.and_not(theirs, entry.guard_of(status));
                    released = guards.or(released, less);
                }
                Status::At(_) | Status::Error(_) => {
                    let moved = guards.and_not(here, entry.guard_of(status));
                    released = guards.or(released, moved);
                }
            }
        }
    }
    (held, released)
}

/// How a callee calls an object.
pub(super) struct Called<'s> {
    pub object: &'s IObj,
    pub name: &'s str,
    pub class: Option<&'s Class>,
}

impl<'s> From<&'s SummaryObject> for Called<'s> {
    fn from(object: &'s SummaryObject) -> Self {
        Called {
            object: &object.object,
            name: &object.name,
            class: object.class.as_ref(),
        }
    }
}

/// Names a callee's object in the caller's terms where the caller's own source does not: `dev->lock`
/// in a callee that gets `&card->dev` is `card->dev.lock` here.
pub(super) fn name_object(
    exec: &mut Executor<'_>,
    summary: &Summary,
    binding: &Binding<'_, '_>,
    called: Called<'_>,
    places: &[(Guard, Loc)],
) {
    let mut root = &called.object.root;
    while let Root::Exit(pointer) = root {
        root = &pointer.root;
    }
    let inside = match root {
        Root::Param(index) => summary.params.get(*index as usize).map(String::as_str),
        Root::Return => Some(RESULT),
        Root::Global(_) | Root::Exit(_) => None,
    };
    let name = match (root, inside, binding.root(root)) {
        // A global has one name everywhere.
        (Root::Global(_), ..) => Some(called.name.to_owned()),
        (_, Some(inside), Some(value)) => {
            let outside = exec.arena.name_of_value(value);
            naming::through_call(called.name, inside, &outside)
        }
        _ => None,
    };
    for &(_, loc) in places {
        let address = exec
            .arena
            .regions
            .address(&mut exec.arena.formula.terms, loc);
        if let Some(name) = &name {
            exec.arena.names.object(address, name);
        }
        if let Some(class) = called.class {
            exec.arena.names.class(address, class);
        }
    }
}

/// An object that the callee made and returned: its state on the callee's entry means nothing to the
/// caller, so the first row that is no error decides where it starts.
fn assume_made_by_callee(
    exec: &mut Executor<'_>,
    state: &mut State,
    summary: &Summary,
    object: &SummaryObject,
    machine: crate::symbolic::state::MachineId,
    places: &[(Guard, Loc)],
) {
    let from = summary.rows.iter().find_map(|row| {
        let same = &summary.objects[row.object as usize] == object;
        (same && matches!(row.to, Target::State(_))).then_some(row.from)
    });
    let Some(from) = from else { return };
    for &(_, loc) in places {
        let object = Object { loc, machine };
        if !state.objects.contains_key(&object) {
            exec.arena.enters_in(object, from);
        }
    }
}

/// Whether a condition asks what kind of object there is by a pointer to a global one, as in
/// `device->class == &link_class`: who made the object knows.
fn asks_for_kind(condition: &IExpr) -> bool {
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

/// Notes where two of a callee's objects are one here, and it took them for two: reached by two ways from one pointer, which
/// the caller knows to lead to the same place. Its rows do not tell what becomes of that.
fn coincide(
    exec: &mut Executor<'_>,
    state: &State,
    summary: &Summary,
    objects: &[Vec<(Guard, Loc)>],
) {
    for (index, one) in summary.objects.iter().enumerate() {
        for (other, places) in summary.objects.iter().zip(objects).skip(index + 1) {
            if (&one.machine, &one.object.root) != (&other.machine, &other.object.root) {
                continue;
            }
            for &(there, loc) in places {
                let Some(&(here, _)) = objects[index].iter().find(|(_, known)| *known == loc)
                else {
                    continue;
                };
                if let Some(machine) = exec.arena.machine(&one.machine) {
                    let both = exec.arena.formula.guards.and(here, there);
                    let paths = exec.arena.formula.guards.and(state.guard, both);
                    let object = Object { loc, machine };
                    exec.execution
                        .open
                        .add(&mut exec.arena.formula.guards, object, paths);
                }
            }
        }
    }
}

/// Notes the paths that take a row of which it is not known whether it can be taken; on which two rows can be
/// taken and it is not known which; or on which a callee that gives back what the function holds says
/// afterwards that it could not.
fn doubt(
    exec: &mut Executor<'_>,
    state: &State,
    object: Object,
    place: Guard,
    rows: &[Enabled<'_>],
) {
    let before = exec.arena.now(state, object);
    let initial = exec.arena.machine_of(object).initial;
    // Entry states, what is doubtful from there, and whether it is which of several rows it is.
    let mut doubtful: Vec<(StateId, Guard, bool)> = Vec::new();
    for (index, one) in rows.iter().enumerate() {
        let (row, guards) = (one.row, &mut exec.arena.formula.guards);
        if one.doubtful {
            doubtful.push((row.from, guards.and(one.guard, one.doubt), false));
        }
        let moves = |enabled: &Enabled<'_>| {
            matches!(enabled.row.to, Target::State(_)) && !enabled.row.reported
        };
        for other in &rows[index + 1..] {
            let differ = row.from == other.row.from && row.to != other.row.to;
            if differ && moves(one) && moves(other) {
                doubtful.push((row.from, guards.and(one.guard, other.guard), true));
            }
        }
        let gives_back = |other: &Enabled<'_>| {
            other.row.from == row.from && other.row.to == Target::State(initial)
        };
        let told = row.outcond.iter().any(Option::is_some);
        let keeps = row.from != initial && row.to == Target::State(row.from);
        if keeps && told && rows.iter().any(gives_back) {
            doubtful.push((row.from, guards.and(one.guard, before.touched), false));
        }
    }
    let guards = &mut exec.arena.formula.guards;
    let place = guards.and(place, state.guard);
    for (from, paths, several) in doubtful {
        let here = guards.and(paths, place);
        let here = guards.and(here, before.guard_of(Status::At(from)));
        exec.execution.unknown_effect = guards.or(exec.execution.unknown_effect, here);
        if several {
            exec.execution.open.add(guards, object, here);
        }
    }
}

/// The paths on which a row restores a state from a value that was not saved here: whoever saved it
/// knows that state.
fn unsaved(
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
            Some(term) => exec.arena.received(term),
            None => Guard::TRUE,
        };
        unknown = exec.arena.formula.guards.or(unknown, here);
    }
    unknown
}

/// Notes the paths on which an object that is not held is taken by the call, be it for a moment: those on
/// which the call would be a mistake if it were held.
fn taking(
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

/// A row at a call site.
struct Enabled<'s> {
    row: &'s Row,
    /// Its conditions.
    guard: Guard,
    /// It is not known whether the row can be taken.
    doubtful: bool,
    /// The paths on which a doubtful row is one here, too.
    doubt: Guard,
    /// The callee is no primitive.
    inferred: bool,
    /// The conditions on entry, if the callee is exact ([`SummaryObject::exact`]).
    inputs: Option<&'s [IExpr]>,
    source: Option<Source>,
}

/// Whether rows of one entry state lead to different states without conditions that tell when, or with some that may
/// know less than the callee's source.
fn leave_open(rows: &[&Enabled<'_>]) -> bool {
    let mut pairs =
        (0..rows.len()).flat_map(|at| rows[..at].iter().map(move |one| (*one, rows[at])));
    pairs.any(|(one, other)| one.row.to != other.row.to && !surely_apart(one, other))
}

/// Whether a condition on exit, or one on entry that is about parameters alone, keeps two rows apart: what is in memory a
/// callee in between may have changed.
fn surely_apart(one: &Enabled<'_>, other: &Enabled<'_>) -> bool {
    let Some(inputs) = one.inputs else {
        return false;
    };
    let differ =
        |one: &Option<bool>, other: &Option<bool>| one.is_some() && other.is_some() && one != other;
    let (one, other) = (one.row, other.row);
    // Two ways out that the callee's argument tells apart, where the caller does not say which it asks for.
    let undecided = one.contested || other.contested;
    let mut inputs = inputs.iter().zip(one.incond.iter().zip(&other.incond));
    let mut outputs = one.outcond.iter().zip(&other.outcond);
    !undecided && inputs.any(|(input, (one, other))| differ(one, other) && !reads_memory(input))
        || outputs.any(|(one, other)| differ(one, other))
}

fn reads_memory(condition: &IExpr) -> bool {
    let mut found = false;
    condition.each(&mut |part| {
        found |= matches!(part, IExpr::Value { object, .. } if !object.path.is_empty());
    });
    found
}

/// Moves one object along the rows that are enabled, under `place`, the guard of its being the one
/// that the callee operates on.
fn transition(
    exec: &mut Executor<'_>,
    state: &mut State,
    (object, name): (Object, &str),
    place: Guard,
    (rows, saves): (&[Enabled<'_>], bool),
    site: &CallSite<'_>,
) {
    let before = exec.arena.now(state, object);
    let text: Arc<str> = site.text.into();
    let first_event = exec.execution.log.ops.len();
    let mut after = Tracked {
        set: SmallVec::new(),
        touched: before.touched,
    };
    // What is reported of the callee's ways out may be no mistake.
    let reported = |row: &Row| row.reported && matches!(row.to, Target::State(_));
    let reported = rows.iter().any(|enabled| reported(enabled.row));
    // Combinations of conditions that the callee can end in (Figure 9, line 10).
    let mut feasible = Guard::FALSE;
    for &(status, held) in &before.set {
        let guards = &mut exec.arena.formula.guards;
        let away = guards.and_not(held, place);
        after.add(&mut exec.arena.formula, status, away);
        feasible = exec.arena.formula.guards.or(feasible, away);
        let here = exec.arena.formula.guards.and(held, place);
        if here == Guard::FALSE {
            continue;
        }
        let Status::At(from) = status else {
            // The error state stays.
            after.add(&mut exec.arena.formula, status, here);
            feasible = exec.arena.formula.guards.or(feasible, here);
            continue;
        };
        let enabled = rows.iter().filter(|enabled| enabled.row.from == from);
        if enabled.clone().next().is_none() {
            after.add(&mut exec.arena.formula, status, here);
            feasible = exec.arena.formula.guards.or(feasible, here);
            continue;
        }
        let mut left = here;
        let (moves, errors): (Vec<_>, Vec<_>) =
            enabled.partition(|enabled| matches!(enabled.row.to, Target::State(_)));
        let possible = moves.iter().chain(&errors).filter(|enabled| {
            enabled.inferred && !exec.arena.formula.guards.excludes(here, enabled.guard)
        });
        let possible: Vec<&Enabled<'_>> = possible.copied().collect();
        let open = exec.execution.log.several || reported || leave_open(&possible);
        let log = |exec: &mut Executor<'_>, enabled: &Enabled<'_>, guard: Guard| -> u32 {
            let row = enabled.row;
            let paths = exec.arena.formula.guards.and(state.guard, guard);
            let touched = exec.arena.formula.guards.and(paths, before.touched);
            let (to, rule) = match &row.to {
                Target::State(to) => (Some(Status::At(*to)), None),
                Target::Error(rule) => (None, rule.clone()),
            };
            if to.is_some_and(|to| to != status) {
                exec.arena.passes(object.loc, paths);
            }
            exec.execution.log.ops.push(OpEvent {
                object,
                guard: paths,
                touched,
                errors: Guard::FALSE,
                from: status,
                to,
                rule,
                primitive: !enabled.inferred,
                source: enabled.source.clone(),
                saves,
                open,
                contested: row.contested,
                call: exec.execution.log.call,
                stack: site.stack.clone(),
                text: text.clone(),
                name: name.to_string(),
                inside: row.trace.as_slice().into(),
            });
            exec.execution.log.ops.len() as u32 - 1
        };
        let mut failures = Vec::new();
        for enabled in errors {
            let guard = exec.arena.formula.guards.and(here, enabled.guard);
            feasible = exec.arena.formula.guards.or(feasible, guard);
            if enabled.row.reported {
                continue;
            }
            // Whether the state was made here or by the caller: two different mistakes.
            let ours = exec.arena.formula.guards.and(guard, before.touched);
            let theirs = exec.arena.formula.guards.and_not(guard, before.touched);
            for guard in [ours, theirs] {
                if guard != Guard::FALSE {
                    failures.push((log(exec, enabled, guard), guard));
                }
            }
        }
        // What the function itself has moved is given back if the callee can tell neither way.
        let ours = exec.arena.formula.guards.and(here, before.touched);
        let initial = Target::State(exec.arena.machine_of(object).initial);
        let back = moves.iter().filter(|enabled| enabled.row.to == initial);
        let in_order = back.map(|enabled| (enabled, ours));
        let in_order = in_order.chain(moves.iter().map(|enabled| (enabled, Guard::TRUE)));
        for (enabled, within) in in_order {
            let row = enabled.row;
            let guard = exec.arena.formula.guards.and(left, enabled.guard);
            let guard = exec.arena.formula.guards.and(guard, within);
            if guard == Guard::FALSE {
                continue;
            }
            feasible = exec.arena.formula.guards.or(feasible, guard);
            let to = match row.to {
                Target::State(to) if !row.reported => to,
                _ => from,
            };
            if !row.reported {
                log(exec, enabled, guard);
            }
            after.add(&mut exec.arena.formula, Status::At(to), guard);
            if row.touched {
                after.touched = exec.arena.formula.guards.or(after.touched, guard);
            }
            left = exec.arena.formula.guards.and_not(left, guard);
        }
        for (event, guard) in failures {
            let guard = exec.arena.formula.guards.and(left, guard);
            after.add(&mut exec.arena.formula, Status::Error(event), guard);
            left = exec.arena.formula.guards.and_not(left, guard);
        }
        // Conditions that the callee rules out: the path ends below, the state does not matter.
        after.add(&mut exec.arena.formula, status, left);
    }
    let errors = after.errors(&mut exec.arena.formula);
    let errors = exec.arena.formula.guards.and(state.guard, errors);
    for event in &mut exec.execution.log.ops[first_event..] {
        event.errors = errors;
    }
    state.objects.insert(object, after);
    state.guard = exec.arena.formula.guards.and(state.guard, feasible);
}

/// An element of M at a call site.
struct Write {
    places: Vec<(Guard, Loc)>,
    size: u64,
    value: Option<Term>,
}

/// Writes M: the value in terms of the entry where the summary has it, else an unknown one.
fn modify(
    exec: &mut Executor<'_>,
    state: &mut State,
    summary: &Summary,
    binding: &Binding<'_, '_>,
    made: Var,
) {
    // All values are of the state before the call, so nothing is written until all are known.
    let mut writes: Vec<Write> = Vec::new();
    for modified in &summary.modified {
        if modified.size == 0 || modified.object.root.is_received() {
            continue;
        }
        let places = binding.locate(exec, state, &modified.object);
        let value = modified.value.as_ref().filter(|_| !exec.limits.cheap);
        let value = value.and_then(|value| binding.value(exec, state, value));
        writes.push(Write {
            places,
            size: modified.size,
            value,
        });
    }
    for Write {
        places,
        size,
        value,
    } in writes
    {
        let single = places.len() == 1;
        for (guard, loc) in places {
            let guard = if single { Guard::TRUE } else { guard };
            if size > 16 {
                if single {
                    state.memory.havoc(&mut exec.arena.heap(), loc, size);
                }
                continue;
            }
            let shape = match value.map(|value| exec.arena.formula.terms.width(value)) {
                Some(bits) if exec.arena.is_whole(size, bits) => Shape { bytes: size, bits },
                _ => Shape::from(size),
            };
            let value = match value {
                Some(value) => exec.arena.resize(value, shape.bits),
                None => exec.arena.unknown(shape.bits),
            };
            let memory = state.memory.clone();
            let old = memory.read(&mut exec.arena.heap(), loc, shape);
            let new = exec.arena.formula.ite_guard(guard, value, old);
            exec.rewritten(loc, Rewrite { old, new, made });
            state.memory.write_shape(loc, new, shape);
            exec.overwritten(state, guard, loc, size);
        }
    }
}

pub(super) fn cube(exec: &mut Executor<'_>, cube: &Cube, predicates: &[Guard]) -> Guard {
    let mut guard = Guard::TRUE;
    for (wanted, &predicate) in cube.iter().zip(predicates) {
        guard = match wanted {
            None => guard,
            Some(true) => exec.arena.formula.guards.and(guard, predicate),
            Some(false) => exec.arena.formula.guards.and_not(guard, predicate),
        };
    }
    guard
}

/// Interface names bound to a call's arguments and result: [[·]]args of paper §5.1.
pub(super) struct Binding<'s, 'c> {
    pub site: &'s CallSite<'c>,
    /// The summary's unknowns, made up when first mentioned.
    unknowns: RefCell<FxHashMap<u32, Term>>,
    result: Option<Term>,
}

impl<'s, 'c> Binding<'s, 'c> {
    fn new(site: &'s CallSite<'c>) -> Self {
        Binding {
            site,
            unknowns: RefCell::default(),
            result: None,
        }
    }

    /// The conditions over entry values.
    fn inputs(&self, exec: &mut Executor<'_>, state: &mut State, summary: &Summary) -> Vec<Guard> {
        let inputs = summary.inputs.iter();
        inputs
            .map(|input| self.condition(exec, state, input))
            .collect()
    }

    /// A condition that cannot be evaluated here (a missing argument) is unknown.
    fn condition(&self, exec: &mut Executor<'_>, state: &mut State, expr: &IExpr) -> Guard {
        match self.value(exec, state, expr) {
            Some(term) if exec.arena.formula.terms.width(term) == 1 => {
                exec.arena.guard_of(state, term)
            }
            _ => exec.arena.choice(),
        }
    }

    fn root(&self, root: &Root) -> Option<Term> {
        match root {
            Root::Param(index) => match self.site.args.get(*index as usize) {
                Some(ArgValue::Scalar(value)) => Some(*value),
                _ => None,
            },
            Root::Return => self.result,
            Root::Global(_) | Root::Exit(_) => None,
        }
    }

    /// `passes`: execution goes through the pointers on the way. What is only looked at may not be there.
    pub(super) fn address(
        &self,
        exec: &mut Executor<'_>,
        state: &mut State,
        object: &IObj,
        passes: bool,
    ) -> Option<Term> {
        let pointer_at = |exec: &mut Executor<'_>, state: &mut State, address| match passes {
            true => exec.load(state, address, Ty::Ptr),
            false => exec.arena.peek(state, address, Ty::Ptr),
        };
        let mut at = match &object.root {
            Root::Global(name) => {
                let region = exec.arena.regions.region(RegionKind::Symbol(name.clone()));
                let loc = Loc {
                    region,
                    symbolic: SymbolicOffset::NONE,
                    offset: 0,
                };
                exec.arena
                    .regions
                    .address(&mut exec.arena.formula.terms, loc)
            }
            Root::Exit(pointer) => {
                let pointer = self.address(exec, state, pointer, passes)?;
                pointer_at(exec, state, pointer)
            }
            root => self.root(root)?,
        };
        at = exec.arena.resize(at, POINTER_BITS);
        let (last, before) = object.path.split_last()?;
        for offset in before {
            let address = self.offset(exec, state, at, offset)?;
            at = pointer_at(exec, state, address);
        }
        self.offset(exec, state, at, last)
    }

    fn offset(
        &self,
        exec: &mut Executor<'_>,
        state: &mut State,
        base: Term,
        offset: &Offset,
    ) -> Option<Term> {
        let mut sum = vec![(1, base)];
        for (coefficient, value) in &offset.terms {
            let value = self.value(exec, state, value)?;
            sum.push((
                u128::from(*coefficient as u64),
                exec.arena.resize(value, POINTER_BITS),
            ));
        }
        let constant = u128::from(offset.constant as u64);
        Some(
            exec.arena
                .formula
                .terms
                .linear(POINTER_BITS, constant, &sum),
        )
    }

    /// [`Self::address`] as guarded locations.
    pub(super) fn locate(
        &self,
        exec: &mut Executor<'_>,
        state: &mut State,
        object: &IObj,
    ) -> Vec<(Guard, Loc)> {
        match self.address(exec, state, object, false) {
            Some(address) => exec.arena.locations(address).to_vec(),
            None => Vec::new(),
        }
    }

    pub(super) fn value(
        &self,
        exec: &mut Executor<'_>,
        state: &mut State,
        expr: &IExpr,
    ) -> Option<Term> {
        match expr {
            IExpr::Const { value, width } => {
                Some(exec.arena.formula.terms.constant(*value, *width))
            }
            IExpr::Value {
                object,
                width,
                narrow,
                ..
            } => {
                if object.path.is_empty() {
                    let value = self.root(&object.root)?;
                    return Some(exec.arena.resize(value, *width));
                }
                let address = self.address(exec, state, object, false)?;
                let ty = match narrow {
                    true => Ty::Ptr,
                    false => Ty::Int {
                        bits: *width,
                        signed: false,
                    },
                };
                Some(exec.arena.peek(state, address, ty))
            }
            IExpr::Unknown { id, width } => {
                let mut unknowns = self.unknowns.borrow_mut();
                let origin = Origin::Call {
                    text: self.site.text.into(),
                };
                let made = || exec.arena.call_result(state, *width, origin);
                Some(*unknowns.entry(*id).or_insert_with(made))
            }
            IExpr::InState {
                object,
                machine,
                state: wanted,
            } => {
                let machine = exec.arena.machine(machine)?;
                let places = self.locate(exec, state, object);
                let [(_, loc)] = places[..] else { return None };
                let now = exec.arena.now(state, Object { loc, machine });
                Some(
                    exec.arena
                        .formula
                        .term_of(now.guard_of(Status::At(*wanted))),
                )
            }
            IExpr::Address(object) => self.address(exec, state, object, false),
            IExpr::Op { op, width, args } => {
                let mut terms: SmallVec<[Term; 3]> = SmallVec::new();
                for arg in args {
                    terms.push(self.value(exec, state, arg)?);
                }
                Some(exec.arena.formula.terms.op(*op, *width, &terms))
            }
            IExpr::Linear {
                width,
                constant,
                terms,
            } => {
                let mut sum = Vec::with_capacity(terms.len());
                for (coefficient, value) in terms {
                    sum.push((*coefficient, self.value(exec, state, value)?));
                }
                Some(exec.arena.formula.terms.linear(*width, *constant, &sum))
            }
        }
    }
}
