//! What a callee writes (M of paper §5.3).
//!
//! In: the summary's M and the state before the call. Out: the memory after it.

use super::binding::Binding;
use crate::ir::POINTER_BITS;
use crate::summary::{NullResult, Summary};
use crate::symbolic::callee_writes::Rewrite;
use crate::symbolic::exec::Executor;
use crate::symbolic::guard::Guard;
use crate::symbolic::heap::Shape;
use crate::symbolic::limits::Precision;
use crate::symbolic::region::Loc;
use crate::symbolic::state::State;
use crate::symbolic::term::{Node, Term, Var};

/// An element of M at a call site.
struct Write {
    places: Vec<(Guard, Loc)>,
    size: u64,
    value: Option<Term>,
    pointer: bool,
    null: NullResult,
}

/// Writes M: the value in terms of the entry where the summary has it, else an unknown one.
pub(super) fn modify(
    exec: &mut Executor<'_>,
    state: &mut State,
    summary: &Summary,
    binding: &Binding<'_, '_>,
    made: Var,
) {
    // All values are of the state before the call, so nothing is written until all are known.
    let mut writes: Vec<Write> = Vec::new();
    for modified in &summary.modified {
        if modified.size == 0 || modified.object.root.is_output() {
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
            size: modified.size,
            value,
            pointer: modified.pointer.0 && exec.arena.watches,
            null: modified.null,
        });
    }
    for Write {
        places,
        size,
        value,
        pointer,
        null,
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
                // A pointer is as wide as all others, whatever room it has in memory.
                None if pointer && exec.arena.is_whole(size, POINTER_BITS) => Shape {
                    bytes: size,
                    bits: POINTER_BITS,
                },
                _ => Shape::from(size),
            };
            let value = match value {
                Some(value) => exec.arena.resize(value, shape.bits),
                None => exec.arena.unknown(shape.bits),
            };
            if exec.arena.watches {
                let paths = exec.arena.formula.guards.and(state.guard, guard);
                exec.note_stored(loc, value, paths);
                exec.arena.made_by_callee(value);
                left_pointer(exec, loc, value, (null, made));
            }
            let memory = state.memory.clone();
            let old = memory.read(&mut exec.arena.heap(), loc, shape);
            let new = exec.arena.formula.ite_guard(guard, value, old);
            exec.note_callee_write(loc, Rewrite { old, new, made });
            state.memory.write_shape(loc, new, shape);
            if single && exec.arena.takes_out(loc, new) {
                exec.relink(state, loc, new, shape);
            }
            exec.release_stored_bits(state, guard, loc, size);
        }
    }
}

/// Notes what is known of a pointer that the callee leaves at a location: where the source finds it, and whether it may be null.
fn left_pointer(exec: &mut Executor<'_>, loc: Loc, value: Term, (null, made): (NullResult, Var)) {
    let terms = &exec.arena.formula.terms;
    let of_callee = matches!(*terms.node(value), Node::Var(var) if var >= made);
    if !of_callee || terms.width(value) != POINTER_BITS {
        return;
    }
    if null == NullResult::May {
        exec.arena.nullable.insert(value);
    }
    let arena = &mut exec.arena;
    let address = arena.regions.address(&mut arena.formula.terms, loc);
    arena.names.left_at(value, address);
}
