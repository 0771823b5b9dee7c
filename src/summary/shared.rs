//! Which of a summary's objects others than the callers can find.
//!
//! In: a finished execution, and its summary with its M. Out: the objects that are [`SummaryObject::shared`] or
//! [`SummaryObject::found_in_blocks`], and where those that are returned are [`SummaryObject::left_at`].

use super::convert::Converter;
use super::elsewhere::may_lead_to_itself;
use super::infer::Exit;
use super::memory::param_of;
use super::{IExpr, Modified, Root, Summary, SummaryObject};
use crate::symbolic::arena::Arena;
use crate::symbolic::execution::Execution;
use crate::symbolic::log::{EscapeEvent, Holder};
use crate::symbolic::region::{Loc, RegionId};
use crate::symbolic::state::Object;

/// Notes of which of the summary's objects others than the callers know. `objects`: those of the execution that each stands for.
pub fn add(
    execution: &Execution,
    arena: &mut Arena<'_>,
    summary: &mut Summary,
    (objects, exit): (&[Vec<(Object, Loc)>], &Exit<'_>),
) {
    let converter = Converter::new(exit);
    let Summary {
        objects: all,
        modified,
        ..
    } = summary;
    for (known, objects) in all.iter_mut().zip(objects) {
        for (object, _) in objects {
            let region = object.loc.region;
            known.found_in_blocks |= is_in_blocks(execution, arena, region);
            if !arena.is_owned(region) {
                // What a callee has made for others, too, is theirs in this function's callers, too.
                match arena.left_where_parameters_lead.get(&region) {
                    Some(params) => known.left_at.extend(params),
                    None => known.shared |= known.object.root.is_output(),
                }
                continue;
            }
            let left = converter.pointers_into(arena, region);
            // What is returned, and found in memory, too, is not for the caller alone; what is left in memory has its name there.
            let returned = known.object.root == Root::Return;
            // What is left in the callers' memory, and in a block that is found elsewhere, is not for them alone, either.
            let mut places = left.iter().flatten();
            let left_there = known.object.root.is_left_in_memory()
                && places.any(|place| !arena.is_owned(place.region));
            let elsewhere = |event: &EscapeEvent| match event.to {
                Holder::Callee => true,
                Holder::Location(loc) => returned || !left.contains(&Some(loc)),
                Holder::Block(place) => (returned || left_there) && leaves(execution, place.region),
                Holder::Contents => returned && may_lead_to_itself(execution, arena, region),
            };
            let escapes = execution.log.escapes.iter();
            for event in escapes.filter(|event| event.region == region && elsewhere(event)) {
                match event.to {
                    Holder::Location(loc)
                        if returned && let Some(param) = param_of(arena, loc.region) =>
                    {
                        known.left_at.push(param);
                    }
                    _ => known.shared = true,
                }
            }
            known.shared |= !is_told(arena, modified, known, &left);
        }
        known.left_at.sort_unstable();
        known.left_at.dedup();
    }
}

/// Whether a pointer to a block lies in some block of memory.
fn is_in_blocks(execution: &Execution, arena: &Arena<'_>, region: RegionId) -> bool {
    let mut escapes = execution.log.escapes.iter();
    arena.found_in_blocks.contains(&region)
        || escapes.any(|event| event.region == region && event.block().is_some())
}

/// Whether callers see in which of several places of theirs the pointer to a block is left: each has a value that says when it is the
/// block's. Otherwise the block may be where they do not see it.
fn is_told(
    arena: &mut Arena<'_>,
    modified: &[Modified],
    known: &SummaryObject,
    left: &[Option<Loc>],
) -> bool {
    let mut places: Vec<Loc> = left.iter().flatten().copied().collect();
    places.retain(|place| !arena.is_owned(place.region));
    places.sort_unstable();
    places.dedup();
    if places.len() < 2 || !known.object.root.is_left_in_memory() {
        return true;
    }
    let mut converter = Converter::of_entry();
    places.into_iter().all(|place| {
        let object = converter.object(arena, place);
        let modified = modified
            .iter()
            .find(|one| Some(&one.object) == object.as_ref());
        let value = modified.and_then(|modified| modified.value.as_ref());
        value.is_some_and(|value| leads_to(value, &known.object.root))
    })
}

/// Whether a value is, on some paths, the address of what a root leads to.
fn leads_to(value: &IExpr, root: &Root) -> bool {
    let mut leads = false;
    value.each(&mut |part| {
        leads |= match part {
            IExpr::Address(object) | IExpr::Value { object, .. } => object.root == *root,
            _ => false,
        }
    });
    leads
}

/// Whether the pointer to a block goes to a callee, or to memory that others know.
fn leaves(execution: &Execution, block: RegionId) -> bool {
    let mut escapes = execution.log.escapes.iter();
    escapes.any(|event| {
        event.region == block && matches!(event.to, Holder::Callee | Holder::Location(_))
    })
}
