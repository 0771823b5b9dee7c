//! What lies in the blocks that a function makes and leaves to its callers: the kind of a record, its count of holders.
//!
//! In: the function's exit with the pointers that callers get. Out: members of those blocks with their values.

use super::convert::Converter;
use super::infer::Exit;
use super::memory::is_over_parameters;
use super::{IExpr, Modified, NullResult, Root, Told};
use crate::ir::POINTER_BITS;
use crate::sat::oracle::Oracle;
use crate::symbolic::guard::Guard;
use crate::symbolic::region::{Loc, SymbolicOffset};
use crate::symbolic::term::Term;

/// Members of new blocks that callers learn of.
const MAX_CONTENTS: usize = 16;

/// What lies in new blocks that the result always points to, or that a pointer leads to which the function leaves where a parameter leads: numbers and null
/// pointers, which are constants or what the function was called with, and pointers into the block itself, such as an empty list's head holds.
pub fn contents(
    oracle: &mut Oracle<'_>,
    converter: &mut Converter,
    exit: &Exit<'_>,
) -> Vec<Modified> {
    let mut contents = Vec::new();
    for handle in &*exit.handles {
        if oracle.formula.terms.width(handle.pointer) != POINTER_BITS {
            continue;
        }
        let places = oracle.locations(handle.pointer);
        let owned = places.iter().filter(|(_, loc)| oracle.is_owned(loc.region));
        let owned: Vec<(Guard, Loc)> = owned.copied().collect();
        let [(there, block)] = owned[..] else {
            continue;
        };
        let made = match &handle.root {
            Root::Return if places.len() > 1 => continue,
            Root::Return => {
                let null = oracle.null_by_choice(handle.pointer);
                oracle.formula.guards.and_not(exit.state.guard, null)
            }
            Root::Exit(left) if left.path.len() == 1 && !left.root.is_output() => {
                oracle.formula.guards.and(exit.state.guard, there)
            }
            _ => continue,
        };
        let failed = oracle.invalid_on.get(&handle.pointer).copied();
        let made = oracle
            .formula
            .guards
            .and_not(made, failed.unwrap_or_default());
        add_contents(
            oracle,
            converter,
            exit,
            (&handle.root, block, made),
            &mut contents,
        );
    }
    contents
}

/// Adds what lies in a new block on the paths on which it is made.
fn add_contents(
    oracle: &mut Oracle<'_>,
    converter: &mut Converter,
    exit: &Exit<'_>,
    (root, block, made): (&Root, Loc, Guard),
    contents: &mut Vec<Modified>,
) {
    for (loc, size, value) in exit.state.memory.written(|region| region == block.region) {
        if contents.len() == MAX_CONTENTS {
            break;
        }
        let value = value.or_else(|| oracle.scalar_at(exit.state, loc, size));
        let value = value.filter(|&term| oracle.is_whole(size, oracle.formula.terms.width(term)));
        let Some(value) = value.map(|value| oracle.formula.on_paths(value, made)) else {
            continue;
        };
        let pointer = oracle.keeps_pointer(loc, Some(value));
        let known = within(oracle, converter, value, (root, block)).or_else(|| {
            let value = converter.expr(oracle, value).filter(is_over_parameters);
            value.filter(|value| !pointer || matches!(value, IExpr::Const { value: 0, .. }))
        });
        let object = converter.object(oracle, loc);
        let object = object.filter(|object| object.root == *root && object.path.len() == 1);
        if let (Some(value), Some(object)) = (known, object) {
            contents.push(Modified {
                object,
                size,
                value: Some(value),
                pointer: Told(pointer),
                null: NullResult::default(),
                null_with: None,
                only_if: Vec::new(),
                replaced: Default::default(),
            });
        }
    }
}

/// The address of what lies in the new block, if that is what a value is.
fn within(
    oracle: &mut Oracle<'_>,
    converter: &mut Converter,
    value: Term,
    (root, block): (&Root, Loc),
) -> Option<IExpr> {
    if oracle.formula.terms.width(value) != POINTER_BITS {
        return None;
    }
    let places = oracle.locations(value);
    let [(Guard::TRUE, place)] = places[..] else {
        return None;
    };
    if place.region != block.region || place.symbolic != SymbolicOffset::NONE {
        return None;
    }
    let object = converter.object(oracle, place)?;
    (object.root == *root && object.path.len() == 1).then_some(IExpr::Address(object))
}
