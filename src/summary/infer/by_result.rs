//! A cell of M of whose value callers are told too little, where the result tells them more.
//!
//! In: the cell's value, and the conditions on the result that tell ways out apart. Out: the value for each answer to one of them.
//! `if (open_at(&file, path) == 0) close(file.number);`: what decides whether `open_at` stores a number are its callees' answers,
//! of which callers know nothing; but it has stored one wherever it returns 0.

use super::Exit;
use crate::ir::POINTER_BITS;
use crate::sat::oracle::Oracle;
use crate::summary::convert::Converter;
use crate::summary::predicates::Predicate;
use crate::summary::{IExpr, IObj, Offset, Root};
use crate::symbolic::guard::Guard;
use crate::symbolic::origin::Origin;
use crate::symbolic::region::{NUMBER_BITS, RegionKind};
use crate::symbolic::term::{Node, Term};

/// Alternatives of one value that are looked at.
const MAX_ALTERNATIVES: u32 = 16;

/// The value of a cell as the result tells it; `None` if no answer excludes any of its alternatives.
pub(super) fn by_result(
    oracle: &mut Oracle<'_>,
    converter: &mut Converter,
    exit: &Exit<'_>,
    candidates: &[Predicate],
    (object, value): (&IObj, Term),
) -> Option<IExpr> {
    let paths = exit.state.guard;
    let all = alternatives(oracle, value, paths).filter(|&all| all > 1)?;
    let out = matches!(object.root, Root::Param(_)) && object.path == [Offset::bytes(0)];
    let tells = out || leads_to_object(oracle, exit, value);
    if !tells && !is_set_to_constants(oracle, value, paths) {
        return None;
    }
    let mut best: Option<(usize, &Predicate, [Guard; 2])> = None;
    for candidate in candidates {
        let guards = &mut oracle.formula.guards;
        let sides = [
            guards.and(paths, candidate.guard),
            guards.and_not(paths, candidate.guard),
        ];
        if sides.contains(&Guard::FALSE) {
            continue;
        }
        let [yes, no] = sides.map(|side| alternatives(oracle, value, side));
        let (yes, no) = (yes?, no?);
        let better = best.as_ref().is_none_or(|(least, ..)| yes + no < *least);
        if yes + no < 2 * all && better {
            best = Some((yes + no, candidate, sides));
        }
    }
    let (_, candidate, sides) = best?;
    let [yes, no] = sides.map(|side| {
        let left = oracle.formula.without_others(value, side);
        let told = told_apart(oracle, converter, left, side);
        told.or_else(|| converter.expr(oracle, left))
    });
    Some(IExpr::either(candidate.expr.clone(), [yes?, no?]))
}

/// A value that is one of two on these paths by a single condition that callers know, whatever else the function has asked on the way there.
fn told_apart(
    oracle: &mut Oracle<'_>,
    converter: &mut Converter,
    value: Term,
    paths: Guard,
) -> Option<IExpr> {
    let found = oracle.formula.alternatives(value, paths, MAX_ALTERNATIVES);
    let (_, one) = *found.first()?;
    let (ones, others): (Vec<_>, Vec<_>) = found.into_iter().partition(|&(_, it)| it == one);
    let (_, other) = *others.first()?;
    if others.iter().any(|&(_, it)| it != other) {
        return None;
    }
    let guards = &mut oracle.formula.guards;
    let here = guards.union(ones.into_iter().map(|(paths, _)| paths));
    let there = guards.and_not(paths, here);
    for condition in guards.support(here).to_vec() {
        for holds in [true, false] {
            let guards = &mut oracle.formula.guards;
            let literal = guards.literal(condition, holds);
            if !guards.implies(here, literal) || !guards.excludes(there, literal) {
                continue;
            }
            let term = oracle.formula.cond_term(condition);
            let Some(told) = converter.expr(oracle, term).filter(|told| !told.is_open()) else {
                continue;
            };
            let [then, els] = match holds {
                true => [one, other],
                false => [other, one],
            };
            let arms = [converter.expr(oracle, then)?, converter.expr(oracle, els)?];
            return Some(IExpr::either(told, arms));
        }
    }
    None
}

/// How many alternatives a value has on some paths, if they are not too many.
fn alternatives(oracle: &mut Oracle<'_>, value: Term, paths: Guard) -> Option<usize> {
    let found = oracle.formula.alternatives(value, paths, MAX_ALTERNATIVES);
    (found.len() < MAX_ALTERNATIVES as usize).then_some(found.len())
}

/// Whether a value is a constant wherever it is not what it was on entry: what kind of thing lies beside it.
fn is_set_to_constants(oracle: &mut Oracle<'_>, value: Term, paths: Guard) -> bool {
    let found = oracle.formula.alternatives(value, paths, MAX_ALTERNATIVES);
    let constant = |value: Term| oracle.formula.terms.as_const(value).is_some();
    let unchanged = |value: Term| match oracle.formula.terms.node(value) {
        Node::Var(var) => matches!(oracle.origins.of(*var), Origin::Initial { .. }),
        _ => false,
    };
    let mut values = found.iter().map(|&(_, value)| value);
    values.all(|value| constant(value) || unchanged(value))
}

/// Whether a value is a pointer, or may be a number that names an object.
fn leads_to_object(oracle: &mut Oracle<'_>, exit: &Exit<'_>, value: Term) -> bool {
    match oracle.formula.terms.width(value) {
        POINTER_BITS => true,
        NUMBER_BITS => {
            let places = oracle.locations(value);
            places.iter().any(|(_, place)| {
                let named = matches!(oracle.regions.kind(place.region), RegionKind::Value { .. });
                let mut objects = exit.state.objects.keys();
                named && objects.any(|object| object.loc.region == place.region)
            })
        }
        _ => false,
    }
}
