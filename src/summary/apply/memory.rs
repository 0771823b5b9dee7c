//! What a callee accesses and keeps.
//!
//! In: the summary, the call site and the state before the call, or after it. Out: the accesses, checked; the pointers that escape.

use std::ops::Range;

use smallvec::SmallVec;

use super::binding::{Binding, cube};
use super::rows::{Enabled, outside_answer};
use crate::ir::POINTER_BITS;
use crate::property::{Event, Key, Machine, Role, Target};
use crate::summary::memory::parameter;
use crate::summary::{Fill, IObj, Root, Row, Summary, SummaryObject, Use};
use crate::symbolic::access::{Accessor, Way};
use crate::symbolic::callee::CallSite;
use crate::symbolic::exec::{ArgValue, Executor};
use crate::symbolic::guard::Guard;
use crate::symbolic::origin::Origin;
use crate::symbolic::region::{Loc, RegionKind, SymbolicOffset};
use crate::symbolic::state::{MachineId, Object, State, Status, Tracked};
use crate::symbolic::term::Term;

/// Checks what the callee accesses.
pub(super) fn check_uses(
    exec: &mut Executor<'_>,
    state: &mut State,
    summary: &Summary,
    inputs: &[Guard],
    binding: &Binding<'_, '_>,
) {
    if !exec.arena.watches {
        return;
    }
    let sized = accesses_some(exec, state, summary, binding.site);
    for access in &summary.uses {
        let here = cube(exec, &access.incond, inputs);
        let sized = match has_size(summary, access) {
            true => sized,
            false => Guard::TRUE,
        };
        let mut here = exec.arena.formula.guards.and(here, sized);
        if access.answered {
            let answer = outside_answer(exec, state, binding.site);
            here = exec.arena.formula.guards.and(here, answer);
        }
        let paths = exec.arena.formula.guards.and(state.guard, here);
        let Some(address) = binding.address(exec, state, &access.object, false) else {
            continue;
        };
        let locations = exec.arena.locations(address);
        let way = Way {
            steps: &access.trace,
            argument: access.object.argument(),
            ends: access.ends,
        };
        let accessor = Accessor::Callee(binding.site, way);
        if !access.changed {
            exec.check_access(state, (address, &locations), paths, accessor);
        }
        if here == Guard::TRUE {
            exec.dereference(state, &locations);
        }
        exec.assume_accessible(state, address, here);
    }
}

/// The argument that [`Summary::size`] means.
pub(super) fn size(summary: &Summary, site: &CallSite<'_>) -> Option<Term> {
    let size = summary.size.and_then(|param| site.args.get(param as usize));
    size.and_then(ArgValue::value)
}

/// Whether [`Summary::size`] says how many bytes an access is of. A stream that they are read from is accessed in any case, and so is a number's object.
fn has_size(summary: &Summary, access: &Use) -> bool {
    let Root::Param(param) = access.object.root else {
        return false;
    };
    let bytes = |fill: Fill| fill.to == param || fill.from == Some(param);
    !access.object.path.is_empty() && summary.fills.is_none_or(bytes)
}

/// The paths on which the callee accesses anything, as far as the function has asked for the size itself: `if (!p && n) abort(); memcpy(p, q, n);`. A size
/// that nobody has asked for is not taken to be 0.
fn accesses_some(
    exec: &mut Executor<'_>,
    state: &State,
    summary: &Summary,
    site: &CallSite<'_>,
) -> Guard {
    let Some(size) = size(summary, site) else {
        return Guard::TRUE;
    };
    let some = exec.arena.nonzero(size);
    let some = exec.arena.formula.known_guard(some);
    some.filter(|&some| asks_for(exec, state, some))
        .unwrap_or(Guard::TRUE)
}

/// Whether the function has come here by what it has asked of all these conditions.
pub(super) fn asks_for(exec: &mut Executor<'_>, state: &State, conditions: Guard) -> bool {
    let guards = &mut exec.arena.formula.guards;
    let asked = guards.support(state.guard).to_vec();
    let conditions = guards.support(conditions);
    conditions.iter().all(|condition| asked.contains(condition))
}

/// Notes which arguments the callee keeps. For each the numbers of its escapes in the log.
pub(super) fn hand_kept(
    exec: &mut Executor<'_>,
    state: &mut State,
    summary: &Summary,
    binding: &Binding<'_, '_>,
) -> Vec<(u32, Range<usize>)> {
    let args = binding.site.args;
    let mut kept = Vec::new();
    if !exec.arena.watches {
        return kept;
    }
    for &param in &summary.keeps {
        if let Some(ArgValue::Scalar(value)) = args.get(param as usize) {
            let before = exec.execution.log.escapes.len();
            exec.hand(state, *value);
            kept.push((param, before..exec.execution.log.escapes.len()));
        }
    }
    for &param in &summary.keeps_contents {
        if let Some(ArgValue::Scalar(value)) = args.get(param as usize) {
            exec.hand_contents(state, *value);
        }
    }
    disturb(exec, state, summary, binding);
    hand_overlapping(exec, state, summary, args);
    kept
}

/// Leaves out of what was handed to the callee the paths on which the result says that it has not kept it.
pub(super) fn take_back(
    exec: &mut Executor<'_>,
    state: &mut State,
    summary: &Summary,
    (binding, kept): (&Binding<'_, '_>, &[(u32, Range<usize>)]),
) {
    for (param, condition, holds) in &summary.keeps_unless {
        let mut of_param = kept.iter().filter(|(kept, _)| kept == param);
        let Some((_, escapes)) = of_param.next() else {
            continue;
        };
        let Some(back) = binding.holds(exec, state, &(condition.clone(), *holds)) else {
            continue;
        };
        for escape in &mut exec.execution.log.escapes[escapes.clone()] {
            escape.guard = exec.arena.formula.guards.and_not(escape.guard, back);
        }
    }
}

/// Notes that it is not known what the callee ends where two of its arguments lead into one block and it writes through one of them: its
/// summary takes them for two, and what it has written may decide (`put(obj, &obj->count)`).
fn hand_overlapping(exec: &mut Executor<'_>, state: &State, summary: &Summary, args: &[ArgValue]) {
    let arg_of = |root: &Root| match root {
        Root::Param(index) => match args.get(*index as usize) {
            Some(ArgValue::Scalar(value)) => Some((*index, *value)),
            _ => None,
        },
        _ => None,
    };
    let written = summary.modified.iter();
    let written = written.filter(|modified| modified.object.path.len() == 1);
    let written: Vec<(u32, Term)> = written
        .filter_map(|modified| arg_of(&modified.object.root))
        .collect();
    for (index, object) in summary.objects.iter().enumerate() {
        let Some((param, value)) = arg_of(&object.object.root) else {
            continue;
        };
        let machine = exec.arena.machine(&object.machine);
        let ended = machine.is_some_and(|machine| ends(exec, summary, (index, machine)));
        if !ended || exec.arena.formula.terms.width(value) != POINTER_BITS {
            continue;
        }
        let blocks = exec.arena.locations(value);
        let overlaps = written.iter().any(|&(other, pointer)| {
            other != param
                && exec.arena.formula.terms.width(pointer) == POINTER_BITS
                && exec.arena.locations(pointer).iter().any(|(_, loc)| {
                    let mut same = blocks.iter().map(|(_, block)| block.region);
                    same.any(|region| region == loc.region)
                })
        });
        if overlaps {
            exec.hand(state, value);
        }
    }
}

/// Notes what the callee may change in a way that M does not tell, or that depends on what it finds.
fn disturb(
    exec: &mut Executor<'_>,
    state: &mut State,
    summary: &Summary,
    binding: &Binding<'_, '_>,
) {
    let args = binding.site.args;
    let mut written = summary.modified.iter().filter(|modified| modified.size > 0);
    let of_callers = |root: &Root| matches!(root, Root::Param(_) | Root::Global(_));
    let writes = written.any(|modified| of_callers(&modified.object.root));
    let writes = writes || summary.fills.is_some();
    if summary.opaque || summary.writes_more || writes {
        exec.disturb(state, args, summary.writes_more);
    }
    for modified in &summary.modified {
        if let Root::Global(name) = &modified.object.root {
            let kind = RegionKind::Symbol(name.clone());
            let region = exec.arena.regions.region(kind);
            exec.disturb_region(state, region, (Guard::TRUE, summary.writes_more));
        }
    }
    for record in &summary.disturbs {
        for (paths, place) in binding.locate(exec, state, record) {
            exec.disturb_region(state, place.region, (paths, true));
        }
    }
}

/// What a callee has returned, or left behind a pointer, and has not made may be anything that somebody else has: nothing is known of it.
pub(super) fn leave_unknown(
    exec: &mut Executor<'_>,
    state: &mut State,
    object: Object,
    place: Guard,
) {
    let machine = exec.arena.machine_of(object);
    // What is known to be a variable, or text, is no block.
    let unknown = matches!(
        exec.arena.regions.kind(object.loc.region),
        RegionKind::Environment { .. }
    );
    if machine.key != Key::Region || !machine.watches_accesses() || !unknown {
        return;
    }
    let mut states = machine.state_ids();
    let Some(unknown) = states.find(|id| machine.role(*id) == Role::Unknown) else {
        return;
    };
    let initial = Status::At(machine.initial);
    let Some(before) = state.objects.get(&object).cloned() else {
        return;
    };
    let mut after = Tracked {
        set: SmallVec::new(),
        touched: before.touched,
    };
    for (status, held) in before.set {
        let guards = &mut exec.arena.formula.guards;
        let (away, here) = match status == initial {
            true => (guards.and_not(held, place), guards.and(held, place)),
            false => (held, Guard::FALSE),
        };
        after.add(&mut exec.arena.formula, status, away);
        after.add(&mut exec.arena.formula, Status::At(unknown), here);
    }
    state.objects.insert(object, after);
}

/// Whether the callee ends the life of an object that the caller has.
pub(super) fn ends(
    exec: &Executor<'_>,
    summary: &Summary,
    (index, machine): (usize, MachineId),
) -> bool {
    let machine = exec.arena.machine_at(machine);
    let mut rows = summary.rows.iter();
    rows.any(|row| row.object as usize == index && is_end(machine, row))
}

/// Whether a row ends the life of an object.
fn is_end(machine: &Machine, row: &Row) -> bool {
    machine.role(row.from) == Role::Held
        && matches!(row.to, Target::State(to) if machine.role(to) == Role::Dead)
}

/// The paths on which the callee ends the life of an object that the caller has.
pub(super) fn ended(exec: &mut Executor<'_>, machine: MachineId, rows: &[Enabled<'_>]) -> Guard {
    let machine = exec.arena.machine_at(machine);
    let ends = rows.iter().filter(|enabled| is_end(machine, enabled.row));
    ends.fold(Guard::FALSE, |ended, enabled| {
        exec.arena.formula.guards.or(ended, enabled.guard)
    })
}

/// Whether all that a callee does with an object that it gets, and with what is found there, is in its summary: it passes on nothing that the
/// object leads to, and moves nothing without a name.
pub(super) fn ends_alone(summary: &Summary, object: &SummaryObject) -> bool {
    let Root::Param(param) = &object.object.root else {
        return false;
    };
    let kept = summary.keeps.contains(param) || summary.keeps_contents.contains(param);
    object.alone && !kept && !summary.moves_more && !summary.partial
}

/// Reports that a block, the callee's `object`, is ended, on the paths `ended`, by an address within it that is not its first.
pub(super) fn check_start(
    exec: &mut Executor<'_>,
    state: &State,
    (binding, object): (&Binding<'_, '_>, &IObj),
    (loc, machine): (Loc, MachineId),
    ended: Guard,
) {
    // Who goes back from a place that is not known knows, it is taken, where the block begins.
    let beginning = exec.arena.beginning(loc);
    let start = beginning.unwrap_or(0);
    let inside = match loc.symbolic {
        SymbolicOffset::NONE => loc.offset != start,
        _ => loc.offset >= start,
    };
    let of = exec.arena.machine_at(machine);
    let Some(rule) = of.rule(Event::Inside).filter(|_| inside) else {
        return;
    };
    let RegionKind::Environment { base } = *exec.arena.regions.kind(loc.region) else {
        return;
    };
    // A valid pointer leads to some object, and a number of bytes behind it no other one begins.
    let argument = matches!(object.root, Root::Param(_)) && object.path.len() == 1;
    let behind = argument
        && loc.symbolic == SymbolicOffset::NONE
        && loc.offset > 0
        && exec.arena.formula.vars(base).iter().all(|var| {
            let origin = exec.arena.origins.of(*var);
            matches!(origin, Origin::Param(_) | Origin::Initial { .. })
        });
    if !behind && beginning.is_none() {
        return;
    }
    let object: Object = exec.arena.object_at(loc, machine);
    let paths = exec.arena.formula.guards.and(state.guard, ended);
    if paths != Guard::FALSE {
        let (from, accessor) = (
            Status::At(of.initial),
            Accessor::Callee(binding.site, Way::default()),
        );
        exec.log_failure(object, rule, from, (paths, paths), accessor);
    }
}

/// Notes that the caller has got the pointers to blocks that the callee has made, from its result or where it has left them.
pub(super) fn own(
    exec: &mut Executor<'_>,
    summary: &Summary,
    (index, object): (usize, &SummaryObject),
    (binding, places): (&Binding<'_, '_>, &[(Guard, Loc)]),
) {
    if !is_made_for_caller(exec, summary, (index, object)) {
        return;
    }
    let also = also_left_at(exec, binding, object);
    if !also.is_empty() {
        // Whether what lies there now is the pointer to this block is not known: it may be freed by that one.
        let params = also
            .iter()
            .map(|&argument| parameter(&exec.arena, argument));
        if let Some(params) = params.collect::<Option<Vec<u32>>>() {
            let regions = places.iter().map(|(_, loc)| (loc.region, params.clone()));
            exec.arena.left_where_parameters_lead.extend(regions);
        }
        return;
    }
    for (_, loc) in places {
        if let Some(base) = exec.arena.regions.base(loc.region)
            && let Some(machine) = exec.arena.machine(&object.machine)
        {
            let blocks = exec.arena.machine_at(machine).rule(Event::Inside).is_some();
            let made = exec.arena.owned.entry(base).or_insert(machine);
            if blocks {
                *made = machine;
            }
        }
        if let [offset] = object.object.path.as_slice()
            && offset.terms.is_empty()
        {
            exec.arena.note_beginning(*loc);
        }
    }
}

/// Notes where the callee has left the pointers to a block that it has made, once it is known which blocks are the caller's.
pub(super) fn hold(
    exec: &mut Executor<'_>,
    state: &mut State,
    summary: &Summary,
    (index, object): (usize, &SummaryObject),
    (binding, places): (&Binding<'_, '_>, &[(Guard, Loc)]),
) {
    let Some(pointer) = pointer_to(&object.object) else {
        return;
    };
    if !is_made_for_caller(exec, summary, (index, object)) {
        return;
    }
    for (guard, holder) in binding.locate(exec, state, &pointer) {
        for &(other, loc) in places {
            let Some(base) = exec.arena.regions.base(loc.region) else {
                continue;
            };
            exec.arena.left_in_memory.insert(base);
            let guards = &mut exec.arena.formula.guards;
            let both = guards.and(guard, other);
            let paths = guards.and(state.guard, both);
            exec.note_left(holder, base, paths);
        }
    }
}

/// The arguments that lead to where the callee has left pointers to what it returns.
fn also_left_at(
    exec: &Executor<'_>,
    binding: &Binding<'_, '_>,
    object: &SummaryObject,
) -> Vec<Term> {
    let arguments = object.left_at.iter();
    let arguments = arguments.filter_map(|&param| binding.site.args.get(param as usize));
    let arguments = arguments.filter_map(|argument| match argument {
        ArgValue::Scalar(value) => Some(*value),
        _ => None,
    });
    let terms = &exec.arena.formula.terms;
    arguments
        .filter(|&argument| terms.as_const(argument) != Some(0))
        .collect()
}

/// The place in memory whose pointer leads to an object; `None` if it is no place, but the callee's result.
fn pointer_to(object: &IObj) -> Option<IObj> {
    match (object.path.split_last(), &object.root) {
        (Some((_, path)), root) if !path.is_empty() => Some(IObj {
            root: root.clone(),
            path: path.to_vec(),
        }),
        (_, Root::Exit(pointer)) => Some((**pointer).clone()),
        _ => None,
    }
}

/// Whether a callee has made a block, and nobody but its caller gets to it.
fn is_made_for_caller(
    exec: &Executor<'_>,
    summary: &Summary,
    (index, object): (usize, &SummaryObject),
) -> bool {
    let Some(machine) = exec.arena.machine(&object.machine) else {
        return false;
    };
    let machine = exec.arena.machine_at(machine);
    if !machine.watches_accesses() || !object.object.root.is_output() || object.shared {
        return false;
    }
    let made = |to: &Target| matches!(to, Target::State(to) if machine.role(*to) == Role::Held);
    let mut rows = summary.rows.iter();
    rows.any(|row| row.object as usize == index && row.from == machine.initial && made(&row.to))
}

/// Whether a location is no block of the machine's, though it lies in a region that may be one: a member of a record, which a callee
/// compares the pointer with before it ends a block.
pub(super) fn is_elsewhere(exec: &Executor<'_>, loc: Loc, machine: MachineId) -> bool {
    let of_regions = exec.arena.machine_at(machine).key == Key::Region;
    let environment = matches!(
        exec.arena.regions.kind(loc.region),
        RegionKind::Environment { .. }
    );
    of_regions && environment && loc.offset > 0 && !exec.arena.is_owned(loc.region)
}

/// Whether what a callee ends is certainly another block than the one that a location lies in. It has found it by a pointer in an object that
/// leads back into the object: a list that is empty, or a record that has room of its own for what is small, which the callee knows
/// from the rest. Or it lies an unknown number of bytes from a pointer that is not known to lead to a block: where, decides which block it is.
pub(super) fn is_no_block(
    exec: &mut Executor<'_>,
    binding: &Binding<'_, '_>,
    object: &IObj,
    loc: Loc,
    machine: MachineId,
) -> bool {
    if exec.arena.machine_at(machine).key != Key::Region {
        return false;
    }
    if loc.symbolic != SymbolicOffset::NONE && !exec.arena.is_owned(loc.region) {
        return true;
    }
    let (mut root, mut found) = (&object.root, object.path.len() > 1);
    while let Root::Exit(place) | Root::Entry(place) = root {
        (root, found) = (&place.root, true);
    }
    let Some(start) = binding.root(root).filter(|_| found) else {
        return false;
    };
    let start = exec.arena.resize(start, POINTER_BITS);
    let places = exec.arena.locations(start);
    places.iter().any(|(_, place)| place.region == loc.region)
}
