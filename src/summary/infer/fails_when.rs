//! When the failures come about that are told of a function: `static int put(struct set *s) { if (!s) note(); return s->n++; }`.
//!
//! In: a finished execution, and the paths of each finding. Out: what held on entry wherever the function fails so. If it did at no call
//! ([`crate::settle::callers`]), there is no such failure.

use super::told::before_the_call;
use crate::sat::oracle::Oracle;
use crate::summary::memory::is_over_parameters;
use crate::summary::{FailsWhen, IExpr};
use crate::symbolic::execution::Execution;
use crate::symbolic::guard::Guard;

/// Conditions for one failure that are kept.
const MAX_LITERALS: usize = 8;

/// `failures`: the findings by their numbers, each with the paths on which the function fails so.
pub fn fails_when(
    execution: &Execution,
    oracle: &mut Oracle<'_>,
    failures: &[(u32, Guard)],
) -> Vec<FailsWhen> {
    let of_failure = |&(finding, paths): &(u32, Guard)| {
        let literals = oracle.formula.guards.implied_literals(paths);
        let mut known = before_the_call(oracle, &literals);
        // Rounds of a loop that were left out may fail where nothing else than arguments is as it is here.
        known.retain(|known| {
            !execution.cut || known.is_pointer && is_over_parameters(&known.condition)
        });
        known.truncate(MAX_LITERALS);
        let (pointers, others): (Vec<_>, Vec<_>) =
            known.into_iter().partition(|known| known.is_pointer);
        let literals = |known: Vec<super::told::Known>| -> Vec<(IExpr, bool)> {
            known
                .into_iter()
                .map(|known| (known.condition, known.holds))
                .collect()
        };
        let known = FailsWhen {
            finding,
            pointers: literals(pointers),
            others: literals(others),
        };
        (!known.pointers.is_empty() || !known.others.is_empty()).then_some(known)
    };
    failures.iter().filter_map(of_failure).collect()
}
