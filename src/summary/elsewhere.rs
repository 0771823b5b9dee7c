//! What others can find when a function has returned: who has kept which pointer.
//!
//! In: the exit of an execution and its escapes. Out: for each block the paths on which it is found elsewhere: where a callee has put it, at a
//! location that others know of, in a block that they find, or in the result.

use rustc_hash::FxHashMap;

use super::infer::Exit;
use crate::property::Role;
use crate::symbolic::arena::Arena;
use crate::symbolic::execution::Execution;
use crate::symbolic::guard::Guard;
use crate::symbolic::log::{EscapeEvent, Holder, OpEvent};
use crate::symbolic::region::{FrameId, RegionId};
use crate::symbolic::state::Status;

/// Blocks that hold pointers to each other are gone through so often.
const MAX_ROUNDS: usize = 4;
/// Bytes of a record that is returned.
const MAX_RESULT: u64 = 4096;

/// A block to which another one holds a pointer.
struct Held {
    holder: RegionId,
    region: RegionId,
    /// The paths on which it is put there.
    guard: Guard,
    /// Those on which somebody finds it who has copied what the holder has in it since, or has ended the holder.
    copied: Guard,
    /// Those on which the holder is gone when the function has returned.
    gone: Guard,
}

/// The paths on which others can find each block when the function has returned. `escapes`: those of the execution, or what is believed of them.
pub fn known_elsewhere(
    execution: &Execution,
    arena: &mut Arena<'_>,
    exit: &Exit<'_>,
    escapes: &[EscapeEvent],
) -> FxHashMap<RegionId, Guard> {
    let mut known: FxHashMap<RegionId, Guard> = FxHashMap::default();
    let mut held: Vec<Held> = Vec::new();
    for event in escapes {
        match event.to {
            Holder::Contents => {
                let before = held.iter_mut();
                for held in before.filter(|held| held.holder == event.region) {
                    held.copied = arena.formula.guards.or(held.copied, event.guard);
                }
                if may_lead_to_itself(execution, arena, event.region) {
                    add(arena, &mut known, event.region, event.guard);
                }
            }
            Holder::Block(place) => held.push(Held {
                holder: place.region,
                region: event.region,
                guard: event.guard,
                copied: ended_by_callee(execution, arena, place.region),
                gone: arena.ended_on(exit.state, place.region),
            }),
            Holder::Location(_) | Holder::Callee => {
                add(arena, &mut known, event.region, event.guard);
            }
        }
    }
    for (guard, region) in returned(arena, exit) {
        add(arena, &mut known, region, guard);
    }
    for _ in 0..MAX_ROUNDS {
        let mut changed = false;
        for held in &held {
            let by = known.get(&held.holder).copied().unwrap_or_default();
            let guards = &mut arena.formula.guards;
            let by = guards.and_not(by, held.gone);
            let by = guards.or(by, held.copied);
            let paths = guards.and(by, held.guard);
            changed |= add(arena, &mut known, held.region, paths);
        }
        if !changed {
            break;
        }
    }
    known
}

/// Adds paths; whether they are new.
fn add(
    arena: &mut Arena<'_>,
    known: &mut FxHashMap<RegionId, Guard>,
    region: RegionId,
    paths: Guard,
) -> bool {
    let before = known.entry(region).or_default();
    let after = arena.formula.guards.or(*before, paths);
    std::mem::replace(before, after) != after
}

/// The blocks that the result leads to.
fn returned(arena: &mut Arena<'_>, exit: &Exit<'_>) -> Vec<(Guard, RegionId)> {
    match exit.result {
        Some(result) => arena.followed(result),
        None => {
            let slot = arena.result_slot(FrameId(0));
            let memory = &exit.state.memory;
            let words = memory.scalars_within(&mut arena.heap(), slot, MAX_RESULT);
            let blocks = words.into_iter().map(|(_, value)| arena.followed(value));
            blocks.flatten().collect()
        }
    }
}

/// The paths on which a callee with a body ends the state of what is in a region: it may end that of what is found there, too, unless
/// its summary tells all that it does.
fn ended_by_callee(execution: &Execution, arena: &mut Arena<'_>, region: RegionId) -> Guard {
    let events = execution.log.ops.iter();
    let makes = |event: &OpEvent| {
        let machine = arena.machine_of(event.object);
        matches!(event.to, Some(Status::At(to)) if machine.role(to) == Role::Held)
    };
    let ended = events.filter(|event| {
        let told = event.primitive || event.alone || makes(event);
        event.object.loc.region == region && event.moves() && !told
    });
    let ended: Vec<Guard> = ended.map(|event| event.guard).collect();
    arena.formula.guards.union(ended)
}

/// Whether who is given what lies in a block may find the block by it: it holds a pointer into itself, or the callee that has made it may have put
/// one there.
pub(super) fn may_lead_to_itself(
    execution: &Execution,
    arena: &Arena<'_>,
    block: RegionId,
) -> bool {
    let mut escapes = execution.log.escapes.iter();
    arena.found_in_blocks.contains(&block)
        || escapes.any(|event| event.region == block && event.block() == Some(block))
}
