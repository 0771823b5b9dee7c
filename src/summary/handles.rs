//! The pointers that a function hands to its caller: its result, and what it leaves in memory.
//!
//! In: the state at the exit. Out: [`Handle`]s, from which objects are named that the caller has no name for before the call.

use rustc_hash::FxHashSet;

use super::convert::Converter;
use super::{IObj, Offset, Root};
use crate::ir::POINTER_BITS;
use crate::symbolic::arena::Arena;
use crate::symbolic::guard::Guard;
use crate::symbolic::origin::Origin;
use crate::symbolic::region::{Loc, NUMBER_BITS, RegionKind};
use crate::symbolic::state::State;
use crate::symbolic::term::{Node, Term};

/// What the result is called.
pub const RESULT: &str = "ret";
/// Parts of a value that are looked at for a pointer.
const MAX_PARTS: usize = 64;
/// Pointers left in memory that objects are named from.
const MAX_HANDLES: usize = 16;

/// An output pointer: the result, or a pointer that the function leaves in memory for its caller. So is a number that names an
/// object.
#[derive(Debug)]
pub struct Handle {
    pub(super) root: Root,
    pub(super) pointer: Term,
    /// As the function's source would write it, `ret` for the result.
    pub(super) name: String,
    /// Where the function leaves it; `None` for the result.
    pub(super) left: Option<Loc>,
    /// The paths on which callers find it: where the result leads to what it lies in, if it lies in that.
    pub(super) paths: Guard,
}

/// The output pointers at an exit, the result first.
pub fn handles(arena: &mut Arena<'_>, state: &State, result: Option<Term>) -> Vec<Handle> {
    let mut handles: Vec<Handle> = Vec::new();
    let numbers = numbers(arena, state);
    if let Some(result) = result
        && is_handle(arena, state, &numbers, result)
    {
        handles.push(Handle {
            root: Root::Return,
            pointer: result,
            name: RESULT.to_string(),
            left: None,
            paths: Guard::TRUE,
        });
    }
    let mut left = pointers_left(arena, state);
    let mut converter = Converter::of_entry();
    // A pointer may lie in an object that another one of them leads to.
    loop {
        let known = handles.len();
        left.retain(|&(loc, pointer)| {
            let object = converter.object(arena, loc);
            let object = object.map(|object| (object, Guard::TRUE));
            let object = object.or_else(|| match arena.watches {
                true => from_output(&handles, arena, loc),
                false => None,
            });
            if let Some((object, paths)) = object
                && handles.len() < MAX_HANDLES
            {
                handles.push(Handle {
                    root: Root::Exit(Box::new(object)),
                    pointer,
                    name: arena.name_of(loc),
                    left: Some(loc),
                    paths,
                });
                return false;
            }
            true
        });
        if handles.len() == known || !arena.watches {
            break;
        }
    }
    handles
}

/// The pointers, and numbers of objects, that the function leaves in memory, with where.
pub fn pointers_left(arena: &mut Arena<'_>, state: &State) -> Vec<(Loc, Term)> {
    let mut left = Vec::new();
    let numbers = numbers(arena, state);
    let written = state
        .memory
        .written(|region| !arena.regions.is_local(region));
    for (loc, size, value) in written {
        let value = value.or_else(|| arena.scalar_at(state, loc, size));
        let whole = |term: &Term| arena.is_whole(size, arena.formula.terms.width(*term));
        let Some(value) = value.filter(whole) else {
            continue;
        };
        if !is_handle(arena, state, &numbers, value) || arena.is_initial(loc, size, value) {
            continue;
        }
        let number = arena.formula.terms.width(value) == NUMBER_BITS;
        if number || may_point(arena, value) {
            left.push((loc, value));
        }
    }
    left
}

/// An object named from an output pointer, and the paths on which that leads to it.
pub(super) fn from_output(
    handles: &[Handle],
    arena: &mut Arena<'_>,
    loc: Loc,
) -> Option<(IObj, Guard)> {
    handles.iter().find_map(|handle| {
        let same = |to: &Loc| to.region == loc.region && to.symbolic == loc.symbolic;
        let places = arena.locations(handle.pointer);
        let &(guard, to) = places.iter().find(|(_, to)| same(to))?;
        let path = match arena.regions.kind(loc.region) {
            RegionKind::Value { .. } => Vec::new(),
            _ => vec![Offset::bytes(loc.offset.checked_sub(to.offset)?)],
        };
        let root = handle.root.clone();
        let guard = arena.formula.guards.and(guard, handle.paths);
        Some((IObj { root, path }, guard))
    })
}

/// The values that the objects which the function operates on are found by, the numbers among them.
fn numbers(arena: &Arena<'_>, state: &State) -> FxHashSet<Term> {
    let objects = state.objects.keys().filter(|_| arena.follows_values);
    objects
        .filter_map(|object| arena.regions.base(object.loc.region))
        .collect()
}

/// Whether a value may lead to something: it is as wide as a pointer, or the number of an object that the function operates on.
fn is_handle(arena: &mut Arena<'_>, state: &State, numbers: &FxHashSet<Term>, value: Term) -> bool {
    match arena.formula.terms.width(value) {
        POINTER_BITS => true,
        NUMBER_BITS if arena.follows_values => {
            // Which paths lead to which number is costly to tell.
            if !arena.formula.is_made_of_any(value, numbers) {
                return false;
            }
            let places = arena.locations(value);
            let mut objects = state.objects.keys();
            objects.any(|object| places.iter().any(|&(_, loc)| loc == object.loc))
        }
        _ => false,
    }
}

/// Whether a value may be a pointer on some paths. What comes from memory or a parameter is one if it was read as
/// one.
fn may_point(arena: &Arena<'_>, value: Term) -> bool {
    let mut seen: FxHashSet<Term> = FxHashSet::default();
    let mut work = vec![value];
    while let Some(term) = work.pop() {
        if arena.formula.terms.is_pointer(term) {
            return true;
        }
        if seen.len() > MAX_PARTS || !seen.insert(term) {
            continue;
        }
        match arena.formula.terms.node(term) {
            Node::Op { args, .. } => {
                let whole = |part: &&Term| arena.formula.terms.width(**part) == POINTER_BITS;
                work.extend(args.iter().filter(whole));
            }
            Node::Linear { terms, .. } => work.extend(terms.iter().map(|&(_, part)| part)),
            Node::Var(var) => match arena.origins.of(*var) {
                Origin::Initial { .. } | Origin::Param(_) => {}
                _ => return true,
            },
            _ => {}
        }
    }
    false
}
