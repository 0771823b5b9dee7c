//! What a function does with the pointers that its callers know: what it accesses, which parameters it keeps, whether its result
//! may be null.
//!
//! In: a finished execution, and its summary up to M. Out: the summary's uses, keeps and null result, and which of its objects others
//! know of, too.

use super::convert::Converter;
use super::elsewhere::known_elsewhere;
use super::infer::{Exit, for_any_answers};
use super::{IExpr, IObj, NullResult, Root, Summary, Use, sleep, trace};
use crate::ir::POINTER_BITS;
use crate::property::{Role, Target};
use crate::sat::oracle::Oracle;
use crate::symbolic::arena::Arena;
use crate::symbolic::execution::Execution;
use crate::symbolic::guard::{Cond, Guard};
use crate::symbolic::log::{EscapeEvent, Holder, UseEvent};
use crate::symbolic::origin::Origin;
use crate::symbolic::region::{RegionId, RegionKind};
use crate::symbolic::term::{Node, Op, Term};

/// Accesses that callers learn of, at most.
const MAX_USES: usize = 16;
/// Accesses by one pointer, each under its own conditions.
const MAX_WAYS: usize = 4;
/// Conditions without which control does not come back.
const MAX_CONDITIONS: usize = 4;
/// Conditions over arguments that decide together whether a result is null.
const MAX_DECIDING: usize = 6;
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
        add_null_result(execution, oracle, summary, exit);
        summary.may_end = !execution.log.ends.is_empty();
        summary.returns_when = returns_when(execution, oracle, exit);
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
            let Some(conditions) = sleep::few_conditions(oracle, &mut converter, paths) else {
                continue;
            };
            let incond = sleep::valuation(summary, conditions);
            summary.uses.push(Use {
                object: object.clone(),
                name: oracle.name_of_value(base),
                incond,
                answered,
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

/// Notes which parameters the function keeps other than by storing them as M says.
fn add_keeps(execution: &Execution, arena: &mut Arena<'_>, summary: &mut Summary, exit: &Exit<'_>) {
    let mut converter = Converter::new(exit);
    let mut known = None;
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
        if summary.keeps.contains(&param) {
            continue;
        }
        if !told_by_modified(arena, &mut converter, summary, (event, param)) {
            summary.keeps.push(param);
        }
    }
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
    summary.keeps.sort_unstable();
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
fn param_of(arena: &Arena<'_>, region: RegionId) -> Option<u32> {
    let base = arena.regions.base(region)?;
    let Node::Var(var) = *arena.formula.terms.node(base) else {
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

/// Finds out whether the result may be null.
fn add_null_result(
    execution: &Execution,
    oracle: &mut Oracle<'_>,
    summary: &mut Summary,
    exit: &Exit<'_>,
) {
    let Some(result) = exit
        .result
        .filter(|&result| oracle.formula.terms.width(result) == POINTER_BITS)
    else {
        return;
    };
    let null = oracle.null_by_choice(result);
    let mut null = oracle.formula.guards.and(exit.state.guard, null);
    // In the function itself this counts for nothing: that a size is 0 is no excuse for who does not look at the result.
    for (made, when) in oracle.null_only.clone() {
        let failed = oracle.null_paths(made);
        let guards = &mut oracle.formula.guards;
        let never = guards.and_not(failed, when);
        null = guards.and_not(null, never);
    }
    // A function that may end the program is called because the result is null.
    for call in execution.log.may_end.iter().filter(|call| !call.told) {
        let guards = &mut oracle.formula.guards;
        let called = guards.and(exit.state.guard, call.guard);
        if called != Guard::FALSE && guards.implies(called, null) {
            null = guards.and_not(null, called);
        }
    }
    if !oracle.possible(null) {
        summary.null_result = NullResult::Never;
        return;
    }
    // Nothing is said where that was not found out within the budget.
    if oracle.model(null).is_none() {
        return;
    }
    // What another pointer is where a callee has failed says nothing of that: `(file = popen(pager, "w")) ? file : stdout`.
    let chosen = match oracle.has_untold_places(result) {
        true => null,
        false => {
            let chosen = oracle.chosen_null(result);
            oracle.formula.guards.and(null, chosen)
        }
    };
    summary.null_result = if is_failure(oracle, result, null) || says_failure(oracle, chosen) {
        NullResult::May
    } else if is_null_at_times(oracle, result, null) {
        NullResult::AtTimes
    } else {
        return;
    };
    summary.null_when = over_arguments(oracle, null);
}

/// Whether a result is the constant null on some of these paths, or what a callee has returned that returns null at times, and more than what
/// callers pass decides that.
fn is_null_at_times(oracle: &mut Oracle<'_>, result: Term, null: Guard) -> bool {
    let locations = oracle.locations(result);
    let mut at_times = oracle.chosen_null(result);
    for &(chosen, loc) in &*locations {
        let base = oracle.regions.base(loc.region);
        if base.is_some_and(|base| oracle.null_at_times.contains_key(&base)) {
            at_times = oracle.formula.guards.or(at_times, chosen);
        }
    }
    let at_times = oracle.formula.guards.and(null, at_times);
    oracle.possible(at_times) && all_over_parameters(oracle, null).is_empty()
}

/// The condition over what the function was called with, and what lies there, without which there are no such paths; `None`: it says nothing.
fn over_arguments(oracle: &mut Oracle<'_>, paths: Guard) -> Option<IExpr> {
    let arena: &mut Arena<'_> = oracle;
    let mut converter = Converter::of_entry();
    let implied = arena.formula.guards.implied_literals(paths);
    let implied: Vec<Cond> = implied
        .into_iter()
        .map(|(condition, _)| condition)
        .collect();
    let mut support = arena.formula.guards.support(paths).to_vec();
    support.sort_by_key(|condition| !implied.contains(condition));
    let mut passed = Vec::new();
    for condition in support {
        let term = arena.formula.cond_term(condition);
        let expr = converter.expr(arena, term);
        if let Some(expr) = expr.filter(|expr| expr.is_made_of(is_passed)) {
            passed.push((condition, expr));
        }
    }
    passed.truncate(MAX_DECIDING);
    match decide(oracle, paths, &passed) {
        IExpr::Const { .. } => None,
        when => Some(when),
    }
}

/// Whether there are such paths, by the values of these conditions.
fn decide(oracle: &mut Oracle<'_>, paths: Guard, conditions: &[(Cond, IExpr)]) -> IExpr {
    let known = |holds: bool| IExpr::Const {
        value: u128::from(holds),
        width: 1,
    };
    if paths == Guard::FALSE {
        return known(false);
    }
    let Some(((condition, expr), others)) = conditions.split_first() else {
        return known(oracle.possible(paths));
    };
    let mut under = |holds| {
        let guards = &mut oracle.formula.guards;
        let literal = guards.literal(*condition, holds);
        let paths = guards.and(paths, literal);
        decide(oracle, paths, others)
    };
    let (yes, no) = (under(true), under(false));
    let op = |op, args| IExpr::Op { op, width: 1, args };
    let condition = expr.clone();
    match (&yes, &no) {
        _ if yes == no => yes,
        (IExpr::Const { value: 1, .. }, IExpr::Const { .. }) => condition,
        (IExpr::Const { .. }, IExpr::Const { .. }) => negated(condition),
        (IExpr::Const { value: 1, .. }, _) => op(Op::Or, vec![condition, no]),
        (_, IExpr::Const { value: 0, .. }) => both(condition, yes),
        _ => op(Op::Ite, vec![condition, yes, no]),
    }
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

fn both(one: IExpr, other: IExpr) -> IExpr {
    IExpr::Op {
        op: Op::And,
        width: 1,
        args: vec![one, other],
    }
}

fn negated(condition: IExpr) -> IExpr {
    IExpr::Op {
        op: Op::Not,
        width: 1,
        args: vec![condition],
    }
}

/// The conditions over parameters that hold wherever control comes back, and without which the program ends (`log_at(FATAL, …)`).
fn returns_when(
    execution: &Execution,
    oracle: &mut Oracle<'_>,
    exit: &Exit<'_>,
) -> Vec<(IExpr, bool)> {
    let mut ended = Guard::FALSE;
    for event in &execution.log.ends {
        ended = oracle.formula.guards.or(ended, event.guard);
    }
    let mut found = Vec::new();
    if ended == Guard::FALSE {
        return found;
    }
    let mut converter = Converter::of_entry();
    for (condition, holds) in oracle.formula.guards.implied_literals(exit.state.guard) {
        let without = oracle.formula.guards.literal(condition, !holds);
        let term = oracle.formula.cond_term(condition);
        let guards = &mut oracle.formula.guards;
        // Of a loop that was cut it is not known where the further rounds lead. Otherwise it is enough that the program ends somewhere because of
        // this: the rest are ways on which execution has taken a pointer to be valid.
        let mut ends = guards.implies(without, ended);
        for event in execution.log.ends.iter().filter(|_| !execution.cut) {
            ends |= event.guard != Guard::FALSE && guards.implies(event.guard, without);
        }
        if found.len() < MAX_CONDITIONS
            && ends
            && let Some(expr) = converter.expr(oracle, term)
            && is_over_parameters(&expr)
        {
            found.push((expr, holds));
        }
    }
    for event in &execution.log.ends {
        if found.len() >= MAX_CONDITIONS {
            break;
        }
        let together = all_over_parameters(oracle, event.guard);
        let together = together.into_iter().reduce(both).map(|all| (all, false));
        found.extend(together);
    }
    found
}

/// The conditions over parameters that these paths are; none if they hang on anything else, or on many.
fn all_over_parameters(oracle: &mut Oracle<'_>, paths: Guard) -> Vec<IExpr> {
    let mut converter = Converter::of_entry();
    let known = sleep::callers_know(oracle, &mut converter, paths);
    let conditions = sleep::few_conditions(oracle, &mut converter, paths).filter(|_| known);
    let mut conditions = conditions.unwrap_or_default();
    if conditions.iter().any(|(expr, _)| !is_over_parameters(expr)) {
        conditions.clear();
    }
    let told = conditions.into_iter();
    told.map(|(expr, holds)| if holds { expr } else { negated(expr) })
        .collect()
}

/// Whether on some of these paths a function has failed, and on all of those the result is null: it says so.
fn says_failure(oracle: &mut Oracle<'_>, null: Guard) -> bool {
    let mut asked = oracle.compared_with_null(null);
    asked.retain(|pointer| oracle.nullable.contains_key(pointer));
    asked.into_iter().any(|pointer| {
        let failed = oracle.null_paths(pointer);
        let here = oracle.formula.guards.and(null, failed);
        oracle.possible(here)
    })
}

/// Whether a pointer, where it is null on these paths, is what a function has returned that has failed.
fn is_failure(oracle: &mut Oracle<'_>, pointer: Term, null: Guard) -> bool {
    let locations = oracle.locations(pointer);
    locations.iter().any(|&(guard, loc)| {
        let RegionKind::Environment { base } = *oracle.regions.kind(loc.region) else {
            return false;
        };
        let here = oracle.formula.guards.and(null, guard);
        oracle.nullable.contains_key(&base) && oracle.possible(here)
    })
}

/// Whether a pointer that the function leaves in memory may be null because a callee has failed, and the function has not looked: one that
/// it has compared with null it leaves there as null on purpose.
pub fn may_be_null(oracle: &mut Oracle<'_>, exit: &Exit<'_>, pointer: Term) -> NullResult {
    let nullable = oracle.nullable.contains_key(&pointer) && !oracle.tested.contains_key(&pointer);
    if !oracle.watches || !nullable || oracle.formula.terms.width(pointer) != POINTER_BITS {
        return NullResult::Unknown;
    }
    let null = oracle.null_paths(pointer);
    let null = oracle.formula.guards.and(exit.state.guard, null);
    match is_failure(oracle, pointer, null) {
        true => NullResult::May,
        false => NullResult::Unknown,
    }
}
