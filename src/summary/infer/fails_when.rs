//! When the failures come about that are told of a function: `static int put(struct set *s) { if (!s) note(); return s->n++; }`.
//!
//! In: a finished execution, and the paths of each finding. Out: what held on entry wherever the function fails so. If it did at no call
//! ([`crate::settle::callers`]), there is no such failure.

use rustc_hash::FxHashSet;

use super::told::{Known, before_the_call};
use crate::ir::Body;
use crate::sat::oracle::Oracle;
use crate::summary::memory::is_over_parameters;
use crate::summary::{FailsWhen, IObj, Root};
use crate::symbolic::execution::Execution;
use crate::symbolic::guard::{Cond, Guard};

/// Conditions for one failure that are kept.
const MAX_LITERALS: usize = 8;

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
        let mut literals = oracle.formula.guards.implied_literals(paths);
        literals.retain(|(condition, _)| !counted.contains(condition));
        let known = before_the_call(oracle, &literals);
        // Rounds of a loop that were left out may fail where nothing but arguments is as it is here.
        let known = known.filter(
            |Known {
                 literal,
                 is_pointer,
             }| {
                !execution.cut
                    || is_over_parameters(&literal.0)
                        && (*is_pointer || literal.0.is_made_of(is_constant))
            },
        );
        let mut fails = FailsWhen {
            finding,
            pointers: Vec::new(),
            others: Vec::new(),
        };
        for known in known.take(MAX_LITERALS) {
            match known.is_pointer {
                true => fails.pointers.push(known.literal),
                false => fails.others.push(known.literal),
            }
        }
        (!fails.pointers.is_empty() || !fails.others.is_empty()).then_some(fails)
    };
    failures.iter().filter_map(of_failure).collect()
}

/// The conditions that a loop may ask for in another way in each round: how many rounds there are.
fn tested_in_rounds(
    body: &Body,
    execution: &Execution,
    oracle: &mut Oracle<'_>,
) -> FxHashSet<Cond> {
    let varying = body.varying_tests();
    let branches = execution.log.branches.iter();
    let varying = branches.filter(|branch| branch.depth == 0 && varying[branch.block.index()]);
    varying
        .flat_map(|branch| oracle.formula.guards.support(branch.guard).to_vec())
        .collect()
}
