//! What a function does with the pointers that its callers know: what it accesses, which parameters it keeps, whether its result
//! may be null.
//!
//! In: a finished execution, and its summary up to M. Out: the summary's uses, keeps and null result, and which of its objects others
//! know of, too.

use super::convert::Converter;
use super::infer::Exit;
use super::{IExpr, NullResult, Root, Summary, Use, sleep, trace};
use crate::ir::POINTER_BITS;
use crate::property::{Role, Target};
use crate::sat::oracle::Oracle;
use crate::symbolic::arena::Arena;
use crate::symbolic::execution::Execution;
use crate::symbolic::guard::Guard;
use crate::symbolic::log::{EscapeEvent, Holder, UseEvent};
use crate::symbolic::origin::Origin;
use crate::symbolic::region::{RegionId, RegionKind};
use crate::symbolic::state::Object;
use crate::symbolic::term::{Node, Term};

/// Accesses that callers learn of, at most.
const MAX_USES: usize = 16;
/// Pointers from a root to what is accessed.
const MAX_PATH: usize = 3;

/// Adds what is said in terms of the state before a call, to the summary up to R.
pub fn add_before(
    execution: &Execution,
    oracle: &mut Oracle<'_>,
    summary: &mut Summary,
    objects: (&[Vec<Object>], &Exit<'_>),
) {
    if oracle.watches {
        add_uses(execution, oracle, summary);
        add_shared(execution, oracle, summary, objects);
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
        add_null_result(oracle, summary, exit);
        summary.may_end = !execution.log.ends.is_empty();
    }
}

/// Adds the accesses that are made in any case, or under conditions that callers can evaluate.
fn add_uses(execution: &Execution, oracle: &mut Oracle<'_>, summary: &mut Summary) {
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
        let mut paths = Guard::FALSE;
        for other in &execution.log.uses[index..] {
            if other.base == Some(base) && certain(other) {
                paths = oracle.formula.guards.or(paths, other.guard);
            }
        }
        if !sleep::callers_know(oracle, &mut converter, paths) {
            continue;
        }
        let conditions = sleep::conditions(oracle, &mut converter, Guard::TRUE, paths);
        let incond = sleep::valuation(summary, conditions);
        summary.uses.push(Use {
            object,
            name: oracle.name_of_value(base),
            incond,
            trace: trace::accessing(event),
        });
    }
}

/// Notes which parameters the function keeps other than by storing them as M says.
fn add_keeps(execution: &Execution, arena: &mut Arena<'_>, summary: &mut Summary, exit: &Exit<'_>) {
    let mut converter = Converter::new(exit);
    for event in &execution.log.escapes {
        let Some(param) = param_of(arena, event.region) else {
            continue;
        };
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
fn add_null_result(oracle: &mut Oracle<'_>, summary: &mut Summary, exit: &Exit<'_>) {
    let Some(result) = exit
        .result
        .filter(|&result| oracle.formula.terms.width(result) == POINTER_BITS)
    else {
        return;
    };
    let null = oracle.null_paths(result);
    let null = oracle.formula.guards.and(exit.state.guard, null);
    if !oracle.possible(null) {
        summary.null_result = NullResult::Never;
        return;
    }
    for (guard, loc) in oracle.locations(result).to_vec() {
        let RegionKind::Environment { base } = *oracle.regions.kind(loc.region) else {
            continue;
        };
        if !oracle.nullable.contains(&base) {
            continue;
        }
        let here = oracle.formula.guards.and(null, guard);
        if oracle.possible(here) {
            summary.null_result = NullResult::May;
        }
    }
}

/// Whether the pointer to a block goes to a callee, or to memory that others know.
fn leaves(execution: &Execution, block: RegionId) -> bool {
    let mut escapes = execution.log.escapes.iter();
    escapes.any(|event| {
        event.region == block && matches!(event.to, Holder::Callee | Holder::Location(_))
    })
}

/// Notes of which of the summary's objects others than the callers know.
fn add_shared(
    execution: &Execution,
    arena: &mut Arena<'_>,
    summary: &mut Summary,
    (objects, exit): (&[Vec<Object>], &Exit<'_>),
) {
    let converter = Converter::new(exit);
    for (known, objects) in summary.objects.iter_mut().zip(objects) {
        for object in objects {
            let region = object.loc.region;
            if !arena.is_owned(region) {
                // What a callee has made for others, too, is theirs in this function's callers, too.
                known.shared |= known.object.root.is_output();
                continue;
            }
            let left = converter.pointers_to(arena, object.loc);
            // What is returned, and found in memory, too, is not for the caller alone; what is left in memory has its name there.
            let returned = known.object.root == Root::Return;
            let elsewhere = |event: &EscapeEvent| match event.to {
                Holder::Callee => true,
                Holder::Location(loc) => returned || !left.contains(&Some(loc)),
                Holder::Region(holder) => returned && leaves(execution, holder),
                Holder::Contents => false,
            };
            let mut escapes = execution.log.escapes.iter();
            known.shared |= escapes.any(|event| event.region == region && elsewhere(event));
        }
    }
}
