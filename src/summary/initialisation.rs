//! What a function initialises, and whether as recursive: `pthread_mutex_init` and what is built on it.
//!
//! In: the initialisations of a finished execution. Out: those of which only the function's callers know the object, or what it
//! is initialised as.

use super::convert::Converter;
use super::infer::Exit;
use super::{IExpr, IObj, Initialisation, Summary};
use crate::symbolic::arena::Arena;
use crate::symbolic::execution::Execution;
use crate::symbolic::guard::{Cond, Guard};
use crate::symbolic::region::Loc;

/// Initialisations that callers learn of, at most.
const MAX_INITIALISATIONS: usize = 8;

/// All that an execution does to initialise one object.
struct Whole {
    loc: Loc,
    paths: Guard,
    /// `None`: on some paths it is not known.
    recursive: Option<Guard>,
    kept_in: Vec<Loc>,
}

/// The initialisations of a finished execution, by object.
fn by_object(execution: &Execution, arena: &mut Arena<'_>) -> Vec<Whole> {
    let mut objects: Vec<Whole> = Vec::new();
    for event in &execution.log.initialised {
        let guards = &mut arena.formula.guards;
        let recursive = event.recursive.map(|there| guards.and(event.guard, there));
        let kept_in = event.kept_in.iter().map(|&(_, loc)| loc);
        match objects.iter_mut().find(|known| known.loc == event.loc) {
            Some(known) => {
                known.paths = guards.or(known.paths, event.guard);
                let both = known.recursive.zip(recursive);
                known.recursive = both.map(|(one, other)| guards.or(one, other));
                known.kept_in.extend(kept_in);
            }
            None => objects.push(Whole {
                loc: event.loc,
                paths: event.guard,
                recursive,
                kept_in: kept_in.collect(),
            }),
        }
    }
    objects
}

/// Adds to a function's summary the initialisations of which its callers know the object or the attribute.
pub fn add(execution: &Execution, arena: &mut Arena<'_>, summary: &mut Summary, exit: &Exit<'_>) {
    let mut converter = Converter::new(exit);
    for whole in by_object(execution, arena) {
        if summary.initialises.len() >= MAX_INITIALISATIONS
            || arena.regions.is_local(whole.loc.region)
        {
            continue;
        }
        let Some(object) = converter.object(arena, whole.loc) else {
            continue;
        };
        let recursive = whole.recursive.and_then(|recursive| {
            decided_by_callers(arena, &mut converter, recursive, whole.paths)
        });
        let decided = matches!(recursive, None | Some(IExpr::Const { .. }));
        let kept_in = match whole.kept_in[..] {
            [kept_in] => converter.object(arena, kept_in),
            _ => None,
        };
        // A global attribute is the same for all callers.
        let of_program = |kept_in: &IObj| matches!(kept_in.root, super::Root::Global(_));
        let settled = decided || kept_in.as_ref().is_some_and(of_program);
        // What the function has made is known by the pointers to it that callers keep.
        let made = object.root.is_output();
        if settled && !made && !converter.classes(arena, whole.loc).is_empty() {
            continue;
        }
        summary.initialises.push(Initialisation {
            name: converter.name(arena, &object, whole.loc),
            object,
            class: arena.class_of(whole.loc),
            recursive,
            kept_in,
        });
    }
}

/// The condition under which the object is recursive where it is initialised at all, over entry values.
fn decided_by_callers(
    arena: &mut Arena<'_>,
    converter: &mut Converter,
    recursive: Guard,
    paths: Guard,
) -> Option<IExpr> {
    let constant = |value| IExpr::Const { value, width: 1 };
    let guards = &mut arena.formula.guards;
    if recursive == Guard::FALSE {
        return Some(constant(0));
    }
    if guards.implies(paths, recursive) {
        return Some(constant(1));
    }
    // Whatever else decides whether it is initialised at all, such as the answers of other functions, is left open.
    let mut there = recursive;
    let mut elsewhere = guards.and_not(paths, recursive);
    let mut conditions: Vec<Cond> = guards.support(there).to_vec();
    conditions.extend_from_slice(guards.support(elsewhere));
    conditions.sort_unstable();
    conditions.dedup();
    for condition in conditions {
        let term = arena.formula.cond_term(condition);
        if converter.expr(arena, term).is_none() {
            there = arena.formula.guards.for_either(there, condition);
            elsewhere = arena.formula.guards.for_either(elsewhere, condition);
        }
    }
    let guards = &mut arena.formula.guards;
    if !guards.excludes(there, elsewhere) {
        return None;
    }
    // What holds on both sides tells nothing of which it is.
    let either = guards.or(there, elsewhere);
    let literals = guards.implied_literals(either);
    let condition = guards.restrict(there, &literals);
    let term = arena.formula.term_of(condition);
    converter.expr(arena, term)
}
