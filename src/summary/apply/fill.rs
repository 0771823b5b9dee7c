//! What a call writes that is no single value (M of paper §5.3): the bytes that `memcpy` or `read` leaves where an argument leads.
//!
//! In: the summary, the call site and the state before the call. Out: the memory after it: a copy where it is known how many bytes there are,
//! else unknown bytes up to the end of the member that the argument is the address of.

use super::memory;
use crate::ir::POINTER_BITS;
use crate::summary::{Modified, OPEN_SIZE, Root, Summary};
use crate::symbolic::callee::CallSite;
use crate::symbolic::exec::{ArgValue, Executor};
use crate::symbolic::region::Loc;
use crate::symbolic::state::State;
use crate::symbolic::term::Term;

/// Bytes that are copied as they are, at most.
const MAX_COPIED: u64 = 1 << 16;

/// Writes what a primitive writes.
pub(super) fn fill(
    exec: &mut Executor<'_>,
    state: &mut State,
    summary: &Summary,
    site: &CallSite<'_>,
) {
    let Some(fill) = summary.fills else { return };
    let Some(to) = pointer(exec, site, fill.to) else {
        return;
    };
    let size = memory::size(summary, site);
    let size = size.and_then(|size| exec.arena.formula.terms.as_const(size));
    let size = size.and_then(|size| u64::try_from(size).ok());
    if size == Some(0) {
        return;
    }
    let from = fill.from.and_then(|from| pointer(exec, site, from));
    let (to_place, from) = (place(exec, to), from.and_then(|from| place(exec, from)));
    let copied = size.filter(|size| *size <= MAX_COPIED);
    if let (Some(to), Some(from), Some(size)) = (to_place, from, copied) {
        exec.copy_bytes(state, to, from, size);
        return;
    }
    // Of one of which nothing more is known they are unknown by now.
    if !summary.opaque {
        exec.havoc_variables_at(state, to);
    }
    let room = site.rooms.get(fill.to as usize).copied();
    let room = room.filter(|room| *room > 0).unwrap_or(OPEN_SIZE);
    let in_memory = to_place.filter(|to| !exec.arena.regions.is_local(to.region));
    if let Some(to) = in_memory {
        overwrite(exec, state, to, size.unwrap_or(room));
    }
}

/// The one place that a pointer leads to.
fn place(exec: &mut Executor<'_>, pointer: Term) -> Option<Loc> {
    match exec.arena.locations(pointer)[..] {
        [(_, place)] => Some(place),
        _ => None,
    }
}

fn pointer(exec: &Executor<'_>, site: &CallSite<'_>, param: u32) -> Option<Term> {
    let Some(&ArgValue::Scalar(value)) = site.args.get(param as usize) else {
        return None;
    };
    (exec.arena.formula.terms.width(value) == POINTER_BITS).then_some(value)
}

/// The bytes of an element of M: of one that has no end that is known, those up to the end of the member that the caller passes the address of.
pub(super) fn bounded(modified: &Modified, site: &CallSite<'_>) -> u64 {
    let room = match modified.object.root {
        Root::Param(param) if modified.object.path.len() == 1 => site.rooms.get(param as usize),
        _ => None,
    };
    let Some(&room) = room.filter(|room| **room > 0 && modified.size > OPEN_SIZE / 2) else {
        return modified.size;
    };
    let before = modified.object.path.first().map_or(0, |at| at.constant);
    room.saturating_sub(u64::try_from(before).unwrap_or(0))
}

/// Makes bytes unknown that lie in nobody's variable. Somebody may have the pointers that were there.
pub(super) fn overwrite(exec: &mut Executor<'_>, state: &mut State, loc: Loc, size: u64) {
    if exec.arena.watches {
        let pointers = state.memory.words(&exec.arena.formula.terms, loc, size);
        for (_, pointer) in pointers {
            exec.hand(state, pointer);
        }
    }
    state.memory.havoc(&mut exec.arena.heap(), loc, size);
}
