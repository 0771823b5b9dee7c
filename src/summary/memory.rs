//! What a function does with the pointers that its callers know: what it accesses, which parameters it keeps.
//!
//! In: a finished execution, and its summary up to M. Out: the summary's uses and keeps, and which of its objects others know of, too.

use std::collections::BTreeMap;

use super::convert::Converter;
use super::elsewhere::known_elsewhere;
use super::infer::{Exit, for_any_answers};
use super::predicates::{self, Predicate};
use super::{IExpr, IObj, Root, Summary, Use, sleep, trace};
use crate::ir::POINTER_BITS;
use crate::property::{Role, Target};
use crate::sat::oracle::Oracle;
use crate::symbolic::arena::Arena;
use crate::symbolic::execution::Execution;
use crate::symbolic::guard::Guard;
use crate::symbolic::log::{EscapeEvent, Holder, UseEvent};
use crate::symbolic::origin::Origin;
use crate::symbolic::region::RegionId;
use crate::symbolic::term::{Node, Term};

/// Accesses that callers learn of, at most.
const MAX_USES: usize = 16;
/// Accesses by one pointer, each under its own conditions.
const MAX_WAYS: usize = 4;
/// Pointers from a root to what is accessed.
const MAX_PATH: usize = 3;

/// Adds what is said in terms of the state before a call, to the summary up to R. `returns`: the paths on which control comes back.
pub fn add_before(
    execution: &Execution,
    oracle: &mut Oracle<'_>,
    summary: &mut Summary,
    returns: Guard,
) {
    if oracle.watches {
        add_uses(execution, oracle, summary, returns);
    }
}

/// Adds what is said in terms of the state behind a call, to the summary with its M.
pub fn add_behind(
    execution: &Execution,
    oracle: &mut Oracle<'_>,
    summary: &mut Summary,
    exit: &Exit<'_>,
) {
    if oracle.watches {
        add_keeps(execution, oracle, summary, exit);
        super::null_result::add(execution, oracle, summary, exit);
        summary.may_end = !execution.log.ends.is_empty();
        summary.returns_when = super::returns::returns_when(execution, oracle, exit);
        summary.outside = exit
            .result
            .is_some_and(|result| oracle.is_from_outside(result));
    }
}

/// Adds the accesses that are made in any case, or under conditions that callers can evaluate.
fn add_uses(execution: &Execution, oracle: &mut Oracle<'_>, summary: &mut Summary, returns: Guard) {
    let mut converter = Converter::of_entry();
    let mut seen: Vec<Term> = Vec::new();
    // What one method follows, another one need not, be it of the tree or not.
    let certain = |event: &UseEvent| !event.by_method;
    // A callee may have put another pointer there.
    let changed = |oracle: &mut Oracle<'_>, event: &UseEvent| {
        let place = event.base.and_then(|base| oracle.initial_place(base));
        place.is_some_and(|place| {
            execution.perhaps_written(oracle, (place, None), event.before, event.guard)
        })
    };
    for (index, event) in execution.log.uses.iter().enumerate() {
        let Some(base) = event.base.filter(|base| !seen.contains(base)) else {
            continue;
        };
        if !certain(event) {
            continue;
        }
        if summary.uses.len() >= MAX_USES {
            break;
        }
        seen.push(base);
        let arena: &mut Arena<'_> = oracle;
        let start = arena.regions.at_base(&arena.formula.terms, base);
        let object = converter.object(oracle, start);
        let Some(object) = object.filter(|object| object.path.len() <= MAX_PATH) else {
            continue;
        };
        let others = execution.log.uses[index..].iter();
        let all: Vec<&UseEvent> = others
            .filter(|other| other.base == Some(base) && certain(other))
            .collect();
        let mut paths = Guard::FALSE;
        for other in &all {
            paths = oracle.formula.guards.or(paths, other.guard);
        }
        let ends = |oracle: &mut Oracle<'_>, event: &UseEvent| {
            let ends = oracle.formula.guards.excludes(event.guard, returns);
            returns != Guard::FALSE && (event.ends || ends)
        };
        // All together, or else each that its own conditions tell: `if (careful) { if (p) *p = 1; } else { *p = 2; }`.
        let end = all.iter().all(|event| ends(oracle, event));
        let mut told = vec![(event, paths, false, end)];
        if !sleep::callers_know(oracle, &mut converter, paths) {
            let each = all.into_iter().take(MAX_WAYS);
            let each = each.filter_map(|event| {
                let (paths, answered) = told_by(oracle, &mut converter, event.guard)?;
                let end = ends(oracle, event);
                Some((event, paths, answered, end))
            });
            told = each.collect();
        }
        for (event, paths, answered, ends) in told {
            let changed = changed(oracle, event);
            let Some(conditions) = sleep::few_conditions(oracle, &mut converter, paths) else {
                continue;
            };
            let incond = sleep::valuation(summary, conditions);
            summary.uses.push(Use {
                object: object.clone(),
                name: oracle.name_of_value(base),
                incond,
                answered,
                changed,
                ends,
                trace: trace::accessing(event),
            });
        }
    }
}

/// These paths, if callers can tell them; or else those that they can tell and what the world outside answers, which is true then.
fn told_by(
    oracle: &mut Oracle<'_>,
    converter: &mut Converter,
    paths: Guard,
) -> Option<(Guard, bool)> {
    if sleep::callers_know(oracle, converter, paths) {
        return Some((paths, false));
    }
    let open = for_any_answers(oracle, paths, |oracle, value| oracle.is_from_outside(value));
    (open != paths && sleep::callers_know(oracle, converter, open)).then_some((open, true))
}

/// Notes which parameters the function keeps other than by storing them as M says, and on which results it does not.
fn add_keeps(
    execution: &Execution,
    oracle: &mut Oracle<'_>,
    summary: &mut Summary,
    exit: &Exit<'_>,
) {
    let arena: &mut Arena<'_> = oracle;
    let mut converter = Converter::new(exit);
    let mut known = None;
    let mut kept: BTreeMap<u32, Guard> = BTreeMap::new();
    for event in &execution.log.escapes {
        let Some(param) = param_of(arena, event.region) else {
            continue;
        };
        if event.block().is_some() {
            // A block that nobody finds keeps nothing: the function has ended it itself.
            let known = known.get_or_insert_with(|| {
                known_elsewhere(execution, arena, exit, &execution.log.escapes)
            });
            if known.get(&event.region).copied().unwrap_or_default() == Guard::FALSE {
                continue;
            }
        }
        if event.to == Holder::Contents {
            if !summary.keeps_contents.contains(&param) {
                summary.keeps_contents.push(param);
            }
            continue;
        }
        if !told_by_modified(arena, &mut converter, summary, (event, param)) {
            let paths = kept.entry(param).or_default();
            *paths = arena.formula.guards.or(*paths, event.guard);
        }
    }
    summary.keeps = kept.keys().copied().collect();
    if execution.cut {
        add_perhaps_ended(arena, summary);
    }
    if let Some(result) = exit.result
        && !is_told(summary.result.as_ref())
    {
        summary.keeps_contents.extend(roots_of(arena, result));
    }
    summary.keeps_contents.sort_unstable();
    summary.keeps_contents.dedup();
    if kept.is_empty() {
        return;
    }
    let mut of_result = predicates::outputs(execution, oracle, exit);
    of_result.retain(Predicate::is_of_result);
    for (param, paths) in kept {
        let unless = excluded_by_result(oracle, exit.state.guard, &of_result, paths);
        let unless = unless.map(|(condition, holds)| (param, condition, holds));
        summary.keeps_unless.extend(unless);
    }
}

/// A condition on the result, and a value of it, with which the function does not return on these paths; it returns with it on others.
fn excluded_by_result(
    oracle: &mut Oracle<'_>,
    returns: Guard,
    of_result: &[Predicate],
    paths: Guard,
) -> Option<(IExpr, bool)> {
    let paths = oracle.formula.guards.and(returns, paths);
    if paths == returns {
        return None;
    }
    for predicate in of_result {
        for holds in [true, false] {
            let such = predicate.guard.negated_if(!holds);
            let guards = &mut oracle.formula.guards;
            let (others, here) = (guards.and(returns, such), guards.and(paths, such));
            if others != Guard::FALSE && !oracle.possible(here) {
                return Some((predicate.expr.clone(), holds));
            }
        }
    }
    None
}

/// A function that ends blocks in a loop, of which only some rounds were executed, may end all that its parameter leads to.
fn add_perhaps_ended(arena: &Arena<'_>, summary: &mut Summary) {
    for row in &summary.rows {
        let object = &summary.objects[row.object as usize];
        let machine = arena.machine(&object.machine);
        let machine = machine.map(|machine| arena.machine_at(machine));
        let ends = machine.is_some_and(|machine| match row.to {
            Target::State(to) => machine.role(to) == Role::Dead,
            Target::Error(_) => false,
        });
        if let (true, Root::Param(param)) = (ends, &object.object.root) {
            summary.keeps_contents.push(*param);
        }
    }
}

/// Whether all of a value is known.
pub(super) fn is_told(value: Option<&IExpr>) -> bool {
    let mut told = value.is_some();
    if let Some(value) = value {
        value.each(&mut |part| told &= !matches!(part, IExpr::Unknown { .. }));
    }
    told
}

/// The parameters from which the unknowns of a value were read.
fn roots_of(arena: &Arena<'_>, value: Term) -> Vec<u32> {
    let mut roots = Vec::new();
    if arena.formula.terms.width(value) != POINTER_BITS {
        return roots;
    }
    for var in arena.formula.vars(value) {
        let Origin::Initial { loc, .. } = arena.origins.of(var) else {
            continue;
        };
        let way = arena.access_path(loc.region);
        roots.extend(
            way.iter()
                .filter_map(|(region, _)| param_of(arena, *region)),
        );
    }
    roots
}

/// The parameter that leads to a region.
pub(super) fn param_of(arena: &Arena<'_>, region: RegionId) -> Option<u32> {
    parameter(arena, arena.regions.base(region)?)
}

/// The parameter that a value is.
pub(super) fn parameter(arena: &Arena<'_>, value: Term) -> Option<u32> {
    let Node::Var(var) = *arena.formula.terms.node(value) else {
        return None;
    };
    match *arena.origins.of(var) {
        Origin::Param(index) => Some(index),
        _ => None,
    }
}

/// Whether M says that the parameter is stored there.
fn told_by_modified(
    arena: &mut Arena<'_>,
    converter: &mut Converter,
    summary: &Summary,
    (event, param): (&EscapeEvent, u32),
) -> bool {
    let Holder::Location(loc) = event.to else {
        return false;
    };
    let Some(object) = converter.object(arena, loc) else {
        return false;
    };
    let mut modified = summary.modified.iter();
    let value = modified
        .find(|modified| modified.object == object)
        .and_then(|modified| modified.value.as_ref());
    let mut found = false;
    if let Some(value) = value {
        value.each(&mut |part| {
            found |= matches!(part, IExpr::Value { object, .. }
                if object.root == Root::Param(param) && object.path.is_empty());
        });
    }
    found
}

/// Whether callers have an object's value before the call: an argument, or what lies at a known distance behind one.
pub(super) fn is_passed(object: &IObj) -> bool {
    let near = match &object.path[..] {
        [] => true,
        [offset] => offset.terms.is_empty(),
        _ => false,
    };
    near && matches!(object.root, Root::Param(_))
}

/// Whether callers can evaluate an expression by what they pass, whatever is in memory.
pub(super) fn is_over_parameters(expr: &IExpr) -> bool {
    expr.is_made_of(|object| matches!(object.root, Root::Param(_)) && object.path.is_empty())
}
