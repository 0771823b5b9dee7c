//! An unknown pointer or number that a function leaves in one of several cells.
//!
//! In: M with the values of its cells as callers are told them. Out: the same, so that callers do not find the unknown in two cells at once.
//! `if (flags & WRITE) file->out = fd; else file->in = fd;`: where callers are told too little of the two conditions, `fd` could
//! be in both, and who closes both would close it twice.

use rustc_hash::FxHashMap;

use super::super::{IExpr, Modified};
use super::Exit;
use crate::ir::POINTER_BITS;
use crate::symbolic::arena::Arena;
use crate::symbolic::guard::Guard;
use crate::symbolic::region::NUMBER_BITS;
use crate::symbolic::term::{Op, Term};

/// Cells whose conditions are told with that of another.
const MAX_OTHERS: usize = 2;
/// Nodes of a value with the conditions of others.
const MAX_NODES: usize = 160;

/// A cell, or the result, that unknowns are found in.
struct Holder {
    /// The unknowns, with the paths on which it is one.
    unknowns: Vec<(u32, Guard)>,
    /// As callers are told it.
    told: IExpr,
}

impl Holder {
    /// The paths on which it is this unknown, if there are any.
    fn paths(&self, id: u32) -> Option<Guard> {
        let found = self.unknowns.iter().find(|(known, _)| *known == id);
        found.map(|&(_, paths)| paths)
    }
}

/// Tells in the value of a cell that an unknown is not there where it is in a cell before. What callers cannot be told so gets another name
/// (`for (p = list; p; p = p->next) if (!strcmp(p->name, name)) p->text = new;`).
pub(super) fn tell_apart(
    arena: &mut Arena<'_>,
    exit: &Exit<'_>,
    result: &Option<IExpr>,
    (modified, values): (&mut [Modified], &[Option<Term>]),
) {
    let mut mentions: FxHashMap<u32, u32> = FxHashMap::default();
    let told = modified.iter().map(|entry| &entry.value);
    for value in told.chain([result]).flatten() {
        for (id, width) in value.unknowns() {
            if width == POINTER_BITS || width == NUMBER_BITS {
                *mentions.entry(id).or_default() += 1;
            }
        }
    }
    mentions.retain(|_, times| *times > 1);
    if mentions.is_empty() {
        return;
    }
    let mut holders: Vec<Holder> = Vec::new();
    if let (Some(value), Some(told)) = (exit.result, result) {
        holders.push(Holder {
            unknowns: unknowns_by_choice(arena, exit, value),
            told: told.clone(),
        });
    }
    for (entry, &value) in modified.iter_mut().zip(values) {
        let (Some(expr), Some(value)) = (&mut entry.value, value) else {
            continue;
        };
        if !expr.unknowns().any(|(id, _)| mentions.contains_key(&id)) {
            continue;
        }
        let holder = Holder {
            unknowns: unknowns_by_choice(arena, exit, value),
            told: expr.clone(),
        };
        for id in leave_out(arena, &holder, &holders, expr) {
            let width = arena.formula.terms.width(value);
            let another = arena.unknown(width).index() as u32;
            expr.rename(id, another);
        }
        holders.push(holder);
    }
}

/// Leaves out of a value what the holders before it are told to be. Returns the unknowns that need another name.
fn leave_out(
    arena: &mut Arena<'_>,
    holder: &Holder,
    before: &[Holder],
    value: &mut IExpr,
) -> Vec<u32> {
    let guards = &mut arena.formula.guards;
    // If nothing else is unknown, its conditions say all there is.
    let decided = |id: u32| holder.told.unknowns().all(|(other, _)| other == id);
    let own = holder.unknowns.iter().filter(|&&(id, _)| !decided(id));
    let own: Vec<(u32, Guard)> = own.copied().collect();
    let mut untold: Vec<u32> = Vec::new();
    let mut left_out = 0;
    for other in before {
        let apart = own.iter().filter(|&&(id, paths)| {
            let there = other.paths(id);
            there.is_some_and(|there| guards.excludes(there, paths))
        });
        let apart: Vec<u32> = apart.map(|&(id, _)| id).collect();
        if apart.is_empty() {
            continue;
        }
        left_out += 1;
        let told = match left_out <= MAX_OTHERS {
            true => elsewhere(value, &apart, &other.told),
            false => None,
        };
        match told {
            Some(told) => *value = told,
            None => untold.extend(apart),
        }
    }
    untold.sort_unstable();
    untold.dedup();
    // Where it may be in both at once, callers are to know it in both.
    untold.retain(|&id| {
        let paths = holder.paths(id);
        let mut others = before.iter().filter_map(|other| other.paths(id));
        others.all(|there| paths.is_some_and(|paths| guards.excludes(there, paths)))
    });
    untold
}

/// A value that is none of these unknowns where another is told to be one; `None` if that cannot be told, or at too great length.
fn elsewhere(value: &IExpr, ids: &[u32], other: &IExpr) -> Option<IExpr> {
    let when = chosen(other, ids);
    if matches!(when, IExpr::Const { .. }) {
        return None;
    }
    let instead = without(value, ids)?;
    let mut told = value.clone();
    replace(&mut told, ids, &when, &instead);
    let mut nodes = 0;
    told.each(&mut |_| nodes += 1);
    (nodes <= MAX_NODES).then_some(told)
}

fn is_made_of(value: &IExpr, ids: &[u32]) -> bool {
    value.unknowns().any(|(id, _)| ids.contains(&id))
}

/// When an expression is one of some unknowns by choice, or made of one: a condition, or a constant.
fn chosen(value: &IExpr, ids: &[u32]) -> IExpr {
    match value {
        IExpr::Op {
            op: Op::Ite, args, ..
        } => {
            let arms = [&args[1], &args[2]].map(|arm| chosen(arm, ids));
            IExpr::choice(args[0].clone(), arms)
        }
        _ => IExpr::truth(is_made_of(value, ids)),
    }
}

/// An expression that is what else it may be where it would be one of some unknowns; `None` if it is nothing else.
fn without(value: &IExpr, ids: &[u32]) -> Option<IExpr> {
    let IExpr::Op {
        op: Op::Ite, args, ..
    } = value
    else {
        return (!is_made_of(value, ids)).then(|| value.clone());
    };
    match (without(&args[1], ids), without(&args[2], ids)) {
        (Some(then), Some(els)) => Some(IExpr::either(args[0].clone(), [then, els])),
        (only, None) | (None, only) => only,
    }
}

/// Puts another value in the place of some unknowns under a condition.
fn replace(value: &mut IExpr, ids: &[u32], when: &IExpr, instead: &IExpr) {
    match value {
        IExpr::Op {
            op: Op::Ite, args, ..
        } => {
            for arm in &mut args[1..] {
                replace(arm, ids, when, instead);
            }
        }
        one if is_made_of(one, ids) => {
            *one = IExpr::either(when.clone(), [instead.clone(), one.clone()]);
        }
        _ => {}
    }
}

/// The unknown pointers or numbers that a value is on some paths each, by their names in expressions.
fn unknowns_by_choice(arena: &mut Arena<'_>, exit: &Exit<'_>, value: Term) -> Vec<(u32, Guard)> {
    if ![POINTER_BITS, NUMBER_BITS].contains(&arena.formula.terms.width(value)) {
        return Vec::new();
    }
    let mut chosen = Vec::new();
    for &(guard, loc) in &*arena.locations(value) {
        if let Some(base) = arena.regions.base(loc.region) {
            let paths = arena.formula.guards.and(exit.state.guard, guard);
            if paths != Guard::FALSE {
                chosen.push((base.index() as u32, paths));
            }
        }
    }
    chosen
}
