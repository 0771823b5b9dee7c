//! When the failures come about that are told of a function: `static int put(struct set *s) { if (!s) note(); return s->n++; }`.
//!
//! In: a finished execution, and the paths of each finding. Out: what held on entry wherever the function fails so. If it did at no call
//! ([`crate::settle::callers`]), there is no such failure.

use rustc_hash::FxHashSet;

use super::told::{Known, before_the_call};
use crate::ir::Body;
use crate::sat::oracle::Oracle;
use crate::summary::memory::is_over_parameters;
use crate::summary::returns::said_together;
use crate::summary::{FailsWhen, IExpr, IObj, Root};
use crate::symbolic::execution::Execution;
use crate::symbolic::guard::{Cond, Guard};

/// Conditions for one failure that are kept.
const MAX_LITERALS: usize = 8;
/// Conditions of one failure of which the solver is asked whether the failure decides them.
const MAX_ASKED: usize = 16;
/// Conditions of one failure that decide together.
const MAX_TOGETHER: usize = 5;

/// `failures`: the findings by their numbers, each with the paths on which the function fails so.
pub fn fails_when(
    body: &Body,
    execution: &Execution,
    oracle: &mut Oracle<'_>,
    failures: &[(u32, Guard)],
) -> Vec<FailsWhen> {
    if failures.is_empty() {
        return Vec::new();
    }
    let constant = body.constant_params();
    let is_constant = |object: &IObj| match object.root {
        Root::Param(index) => constant.get(index as usize).copied().unwrap_or_default(),
        _ => false,
    };
    let counted = match execution.cut {
        true => tested_in_rounds(body, execution, oracle),
        false => FxHashSet::default(),
    };
    let of_failure = |&(finding, paths): &(u32, Guard)| {
        // Rounds of a loop that were left out may fail where nothing but arguments is as it is here.
        let is_kept = |known: &Known| {
            let (condition, _) = &known.literal;
            !execution.cut
                || is_over_parameters(condition)
                    && (known.is_pointer || condition.is_made_of(is_constant))
        };
        let mut literals = oracle.formula.guards.implied_literals(paths);
        literals.retain(|(condition, _)| !counted.contains(condition));
        let mut known: Vec<Known> = before_the_call(oracle, &literals).filter(is_kept).collect();
        let support = oracle.formula.guards.support(paths).to_vec();
        let left = |condition: &Cond| {
            let mut literals = literals.iter();
            !counted.contains(condition) && literals.all(|(implied, _)| implied != condition)
        };
        let left: Vec<Cond> = support.into_iter().filter(left).collect();
        known.extend(decided(oracle, paths, &left, &is_kept));
        let mut fails = FailsWhen {
            finding,
            pointers: Vec::new(),
            others: Vec::new(),
        };
        for known in known.into_iter().take(MAX_LITERALS) {
            match known.is_pointer {
                true => fails.pointers.push(known.literal),
                false => fails.others.push(known.literal),
            }
        }
        let either = either(oracle, paths, &left, &is_kept);
        fails.others.extend(either.map(|either| (either, true)));
        (!fails.pointers.is_empty() || !fails.others.is_empty()).then_some(fails)
    };
    failures.iter().filter_map(of_failure).collect()
}

/// What some conditions, none of which compares a pointer with null, say together on these paths: `kind == 1 || kind == 2`; `None` if nothing.
fn either(
    oracle: &mut Oracle<'_>,
    paths: Guard,
    conditions: &[Cond],
    is_kept: &dyn Fn(&Known) -> bool,
) -> Option<IExpr> {
    let mut passed: Vec<(Cond, IExpr)> = Vec::new();
    for &condition in conditions {
        let known = before_the_call(oracle, &[(condition, true)]).find(is_kept);
        let known = known.filter(|known| !known.is_pointer);
        passed.extend(known.map(|known| (condition, known.literal.0)));
    }
    passed.truncate(MAX_TOGETHER);
    said_together(oracle, paths, &passed)
}

/// Those of some conditions that always have the same outcome on these paths, though only the solver knows it: `kind == 4 && wanted == kind`
/// says that `wanted` is not 3.
fn decided(
    oracle: &mut Oracle<'_>,
    paths: Guard,
    conditions: &[Cond],
    is_kept: &dyn Fn(&Known) -> bool,
) -> Vec<Known> {
    let compared = oracle.compared_with_null(paths);
    let mut found = Vec::new();
    let mut asked = 0;
    for &condition in conditions {
        let Some(known) = before_the_call(oracle, &[(condition, true)]).find(is_kept) else {
            continue;
        };
        if asked == MAX_ASKED {
            break;
        }
        asked += 1;
        for holds in [true, false] {
            let otherwise = oracle.formula.guards.literal(condition, !holds);
            let otherwise = oracle.formula.guards.and(paths, otherwise);
            if !oracle.possible_for_nulls(otherwise, &compared) {
                let literal = (known.literal.0.clone(), holds);
                found.push(Known { literal, ..known });
                break;
            }
        }
    }
    found
}

/// The conditions that a loop may ask for in another way in each round: how many rounds there are.
fn tested_in_rounds(
    body: &Body,
    execution: &Execution,
    oracle: &mut Oracle<'_>,
) -> FxHashSet<Cond> {
    let varying = body.varying_tests(|_| false);
    let branches = execution.log.branches.iter();
    let varying = branches.filter(|branch| branch.depth == 0 && varying[branch.block.index()]);
    varying
        .flat_map(|branch| oracle.formula.guards.support(branch.guard).to_vec())
        .collect()
}
