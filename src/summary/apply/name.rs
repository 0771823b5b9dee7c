//! Names of a callee's objects.
//!
//! In: an object of a summary and the places where it lies in the caller. Out: what the caller's messages call it.

use super::binding::Binding;
use crate::summary::handles::RESULT;
use crate::summary::{IObj, Root, Summary, SummaryObject};
use crate::symbolic::class::Class;
use crate::symbolic::exec::Executor;
use crate::symbolic::guard::Guard;
use crate::symbolic::naming::{self, member_of};
use crate::symbolic::region::{Loc, NUMBER_BITS, RegionKind};

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
pub(super) fn object(
    exec: &mut Executor<'_>,
    summary: &Summary,
    binding: &Binding<'_, '_>,
    called: Called<'_>,
    places: &[(Guard, Loc)],
) {
    let root = called.object.root.first();
    let inside = match root {
        Root::Param(index) => summary.params.get(*index as usize).map(String::as_str),
        Root::Return => Some(RESULT),
        Root::Global(_) | Root::Exit(_) | Root::Entry(_) => None,
    };
    let name = match (root, inside, binding.root(root)) {
        // A global has one name everywhere.
        (Root::Global(_), ..) => Some(called.name.to_owned()),
        (_, Some(inside), Some(value)) => {
            let outside = exec.arena.name_of_value(value);
            let outside = match binding.first_members(root) {
                Some(first) => format!("&{}", member_of(&format!("*{outside}"), first)),
                None => outside,
            };
            naming::through_call(called.name, inside, &outside)
        }
        _ => None,
    };
    let name = name.or_else(|| number_left(exec, summary, binding, called.object));
    for &(_, loc) in places {
        let address = exec
            .arena
            .regions
            .address(&mut exec.arena.formula.terms, loc);
        if let Some(name) = &name {
            match *exec.arena.regions.kind(loc.region) {
                RegionKind::Value { of } => {
                    let arena = &mut exec.arena;
                    arena.names.variable(&arena.formula.terms, of, name);
                }
                _ => exec.arena.names.object(address, name),
            }
        }
        if let Some(class) = called.class {
            exec.arena.names.class(address, class);
        }
    }
}

/// The name of a number that a function of a library leaves where an argument leads: `ends[1]` of `pipe(ends)`.
fn number_left(
    exec: &mut Executor<'_>,
    summary: &Summary,
    binding: &Binding<'_, '_>,
    object: &IObj,
) -> Option<String> {
    let Root::Exit(place) = &object.root else {
        return None;
    };
    let outside = exec.arena.name_of_value(binding.root(&place.root)?);
    let [offset] = &place.path[..] else {
        return None;
    };
    let array = outside.strip_prefix('&').unwrap_or(&outside);
    let index = offset.constant / i64::from(NUMBER_BITS / 8);
    match summary.objects.len() {
        _ if !object.path.is_empty() => None,
        1 => outside.strip_prefix('&').map(str::to_owned),
        _ => Some(format!("{array}[{index}]")),
    }
}
