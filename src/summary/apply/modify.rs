//! What a callee writes (M of paper §5.3).
//!
//! In: the summary's M and the state before the call. Out: the memory after it.

use rustc_hash::{FxHashMap, FxHashSet};

use super::binding::Binding;
use super::fill;
use super::made::was_there;
use super::memory::ends;
use crate::ir::{POINTER_BITS, Ty};
use crate::summary::{IExpr, IObj, NullResult, Replaced, Sign, Summary};
use crate::symbolic::callee::CallSite;
use crate::symbolic::callee_writes::Rewrite;
use crate::symbolic::exec::Executor;
use crate::symbolic::guard::Guard;
use crate::symbolic::heap::Shape;
use crate::symbolic::limits::Precision;
use crate::symbolic::log::PointerWrite;
use crate::symbolic::region::{FrameId, Loc, RegionId, RegionKind};
use crate::symbolic::state::State;
use crate::symbolic::term::{Node, Op, Term, Var};

/// An element of M at a call site.
struct Write {
    places: Vec<(Guard, Loc)>,
    size: u64,
    value: Option<Term>,
    pointer: bool,
    null: NullResult,
    /// The paths, of all, on which it can be the constant null, as far as the result tells.
    may_be_null: Guard,
    /// The callee reaches the place through a block that it ends.
    through_ended: bool,
}

/// Writes M: the value in terms of the entry where the summary has it, else an unknown one.
pub(super) fn modify(
    exec: &mut Executor<'_>,
    state: &mut State,
    summary: &Summary,
    binding: &Binding<'_, '_>,
    (made, result): (Var, Option<Term>),
) {
    // All values are of the state before the call, so nothing is written until all are known.
    for write in writes(exec, state, summary, (binding, result)) {
        write_back(exec, state, write, (binding, made));
    }
}

/// A pointer whose block the callee may end, or a number whose object it may, where it leaves another one then.
pub(super) struct Old {
    place: Loc,
    shape: Shape,
    /// What it leads to, with the paths on which that is gone before the call.
    blocks: Vec<(RegionId, Guard)>,
    /// What the result says if it is left.
    left_with: Option<Sign>,
}

/// The pointers and numbers that the callee may replace, as they are before the call.
pub(super) fn replaced(
    exec: &mut Executor<'_>,
    state: &mut State,
    summary: &Summary,
    binding: &Binding<'_, '_>,
) -> Vec<Old> {
    let mut found = Vec::new();
    for modified in &summary.modified {
        let left_with = match modified.replaced {
            Replaced::Unknown => continue,
            Replaced::Always => None,
            Replaced::Unless(sign) => Some(sign),
        };
        if let [(_, place)] = binding.locate(exec, state, &modified.object)[..] {
            let pointer = exec.arena.shape(Ty::Ptr);
            let shape = match modified.pointer.0 || modified.size == u64::from(POINTER_BITS / 8) {
                true => pointer,
                false => Shape::from(modified.size),
            };
            let memory = state.memory.clone();
            let old = memory.read(&mut exec.arena.heap(), place, shape);
            let blocks = exec.arena.locations(old);
            let blocks = blocks.iter().map(|(_, block)| block.region);
            let blocks = blocks.map(|block| (block, exec.arena.ended_on(state, block)));
            found.push(Old {
                place,
                shape,
                blocks: blocks.collect(),
                left_with,
            });
        }
    }
    found
}

/// Takes what the callee has ended not to be where it was any more, but something unknown: callers are not told on which paths the callee has
/// replaced it.
pub(super) fn replace(
    exec: &mut Executor<'_>,
    state: &mut State,
    replaced: &[Old],
    result: Option<Term>,
) {
    for old in replaced {
        let left = match (old.left_with, result) {
            (None, _) => Guard::FALSE,
            (Some(sign), Some(result)) => sign.of(&mut exec.arena, result),
            (Some(_), None) => Guard::TRUE,
        };
        let memory = state.memory.clone();
        let now = memory.read(&mut exec.arena.heap(), old.place, old.shape);
        let mut never = Guard::FALSE;
        for &(here, place) in &*exec.arena.locations(now) {
            let mut blocks = old.blocks.iter();
            let Some(&(block, gone_before)) = blocks.find(|(block, _)| *block == place.region)
            else {
                continue;
            };
            let gone = exec.arena.ended_on(state, block);
            let guards = &mut exec.arena.formula.guards;
            let gone = guards.and_not(gone, gone_before);
            let gone = guards.and_not(gone, left);
            let still = guards.and(gone, here);
            never = guards.or(never, still);
        }
        if never != Guard::FALSE {
            let other = exec.arena.unknown(old.shape.bits);
            let after = exec.arena.formula.ite_guard(never, other, now);
            state.memory.write_shape(old.place, after, old.shape);
        }
    }
}

/// Writes what lies in the blocks that the callee has made. `made`: the first unknown of the call.
pub(super) fn fill(
    exec: &mut Executor<'_>,
    state: &mut State,
    summary: &Summary,
    (binding, made): (&Binding<'_, '_>, Var),
) {
    if exec.limits.precision != Precision::Full {
        return;
    }
    for content in &summary.contents {
        let value = content.value.as_ref();
        let Some(value) = value.and_then(|value| binding.value(exec, state, value)) else {
            continue;
        };
        let mut places = binding.locate(exec, state, &content.object);
        places.retain(|(_, loc)| !was_there(&exec.arena, loc.region, made));
        if let [(_, loc)] = places[..] {
            let bits = exec.arena.formula.terms.width(value);
            let shape = Shape {
                bytes: content.size,
                bits,
            };
            state.memory.write_shape(loc, value, shape);
        }
    }
}

fn writes(
    exec: &mut Executor<'_>,
    state: &mut State,
    summary: &Summary,
    (binding, result): (&Binding<'_, '_>, Option<Term>),
) -> Vec<Write> {
    let mut writes: Vec<Write> = Vec::new();
    // Many cells are written under the same conditions.
    let mut excluded: FxHashMap<&(IExpr, bool), bool> = FxHashMap::default();
    for modified in &summary.modified {
        let size = fill::bounded(modified, binding.site);
        if size == 0 || modified.object.root.is_output() {
            continue;
        }
        let mut conditions = modified.only_if.iter();
        if conditions.any(|condition| {
            let excluded = excluded.entry(condition);
            *excluded.or_insert_with(|| binding.excludes(exec, state, condition))
        }) {
            continue;
        }
        let places = binding.locate(exec, state, &modified.object);
        let value = modified
            .value
            .as_ref()
            .filter(|_| exec.limits.precision == Precision::Full);
        let value = value.and_then(|value| binding.value(exec, state, value));
        if modified.pointer.0 {
            for &(_, loc) in &places {
                let arena = &mut exec.arena;
                let address = arena.regions.address(&mut arena.formula.terms, loc);
                arena.names.pointer_kept(address);
            }
        }
        writes.push(Write {
            places,
            size,
            value,
            pointer: modified.pointer.0 && exec.arena.watches,
            null: modified.null,
            may_be_null: null_by_result(exec, modified.null_with, result),
            through_ended: exec.arena.watches && through_ended(exec, summary, &modified.object),
        });
    }
    writes
}

fn write_back(
    exec: &mut Executor<'_>,
    state: &mut State,
    write: Write,
    (binding, made): (&Binding<'_, '_>, Var),
) {
    let Write {
        places,
        size,
        value,
        pointer,
        null,
        may_be_null,
        through_ended,
    } = write;
    let single = places.len() == 1;
    for (guard, loc) in places {
        let guard = if single { Guard::TRUE } else { guard };
        if size > 16 {
            let before = state.memory.clone();
            fill::overwrite(exec, state, loc, size);
            if !single {
                let mut heap = exec.arena.heap();
                state.memory = state.memory.merge(&mut heap, guard, &before);
            }
            continue;
        }
        let shape = match value.map(|value| exec.arena.formula.terms.width(value)) {
            Some(bits) if exec.arena.is_whole(size, bits) => Shape { bytes: size, bits },
            // A pointer is as wide as all others, whatever room it has in memory.
            None if pointer && exec.arena.is_whole(size, POINTER_BITS) => Shape {
                bytes: size,
                bits: POINTER_BITS,
            },
            _ => Shape::from(size),
        };
        let untold = value.is_none();
        let value = match value {
            Some(value) => exec.arena.resize(value, shape.bits),
            None => exec.arena.unknown(shape.bits),
        };
        if exec.arena.watches {
            if untold && !pointer && shape.bits < POINTER_BITS {
                exec.arena.untold_numbers.insert(value);
            }
            let paths = exec.arena.formula.guards.and(state.guard, guard);
            exec.note_stored(loc, value, paths);
            exec.arena.made_by_callee(value);
            exec.arena.lengths.insert(value);
            leave_out_null(exec, state, (value, null, guard), may_be_null);
            left_pointer(exec, (loc, value), (null, made), binding.site);
        }
        let memory = state.memory.clone();
        let old = memory.read(&mut exec.arena.heap(), loc, shape);
        let new = exec.arena.formula.ite_guard(guard, value, old);
        exec.note_callee_write(loc, Rewrite { old, new, made });
        note_pointer_write(exec, (loc, old, new), made);
        state.memory.write_shape(loc, new, shape);
        if through_ended || single && exec.arena.links_back(&state.memory, loc, new) {
            let since = exec.arena.called_at;
            exec.relink(state, guard, (loc, new, shape), since);
        }
        exec.release_stored_bits(state, guard, loc, size);
    }
}

/// The paths on which the result tells what it tells wherever a value is null; all, if it tells nothing.
fn null_by_result(exec: &mut Executor<'_>, sign: Option<Sign>, result: Option<Term>) -> Guard {
    match (sign, result) {
        (Some(sign), Some(result)) => sign.of(&mut exec.arena, result),
        _ => Guard::TRUE,
    }
}

/// Leaves out the paths on which a value that is left on some paths is null, as [`Modified::null_with`] has it, and the result says otherwise.
fn leave_out_null(
    exec: &mut Executor<'_>,
    state: &mut State,
    (value, failed, here): (Term, NullResult, Guard),
    may_be_null: Guard,
) {
    if may_be_null == Guard::TRUE {
        return;
    }
    let null = match failed {
        NullResult::May => exec.arena.null_paths(value),
        _ => exec.arena.chosen_null(value),
    };
    let guards = &mut exec.arena.formula.guards;
    let null = guards.and(null, here);
    let never = guards.and_not(null, may_be_null);
    state.leave_out(guards, never);
}

/// Notes that a variable of the function's that holds a pointer has another value behind the call on some paths.
fn note_pointer_write(exec: &mut Executor<'_>, (loc, old, new): (Loc, Term, Term), made: Var) {
    let variable = matches!(
        exec.arena.regions.kind(loc.region),
        RegionKind::Local {
            frame: FrameId(0),
            ..
        }
    );
    let terms = &exec.arena.formula.terms;
    if exec.arena.watches && variable && old != new && terms.width(old) == POINTER_BITS {
        let (unknowns, order) = (made..terms.next_var(), exec.execution.log.ops.len());
        exec.execution.log.pointer_writes.push(PointerWrite {
            old,
            unknowns,
            order,
        });
    }
}

/// Whether the callee writes to an object through a pointer in a block that it ends: what it puts there may be what takes the
/// block's place (`e->list->first = e->next; free(e)`).
fn through_ended(exec: &Executor<'_>, summary: &Summary, written: &IObj) -> bool {
    let mut objects = summary.objects.iter().enumerate();
    objects.any(|(index, object)| {
        let block = &object.object;
        let depth = block.path.len();
        let found = block.root == written.root
            && depth > 0
            && written.path.len() == depth + 1
            && block.path[..depth - 1] == written.path[..depth - 1];
        let machine = exec.arena.machine(&object.machine);
        found && machine.is_some_and(|machine| ends(exec, summary, (index, machine)))
    })
}

/// Notes what is known of a pointer that the callee leaves at a location: where the source finds it, and whether it may be null.
fn left_pointer(
    exec: &mut Executor<'_>,
    (loc, value): (Loc, Term),
    (null, made): (NullResult, Var),
    site: &CallSite<'_>,
) {
    let arena = &mut exec.arena;
    if arena.formula.terms.width(value) != POINTER_BITS {
        return;
    }
    let address = arena.regions.address(&mut arena.formula.terms, loc);
    arena.found(value, (address, Some(loc)));
    // Whichever of several pointers it is.
    let mut several = vec![value];
    let mut seen: FxHashSet<Term> = FxHashSet::default();
    while let Some(one) = several.pop() {
        match arena.formula.terms.node(one) {
            _ if !seen.insert(one) => {}
            Node::Op { op: Op::Ite, args } => several.extend(&args[1..]),
            Node::Var(var) if *var >= made => {
                arena.left_at.entry(one).or_default().push(loc);
                arena.names.left_at(one, address);
            }
            _ => {}
        }
    }
    let is_made = matches!(*arena.formula.terms.node(value), Node::Var(var) if var >= made);
    if is_made && null == NullResult::May {
        arena.nullable.entry(value).or_insert(site.called());
    }
}
