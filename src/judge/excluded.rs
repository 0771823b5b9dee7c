//! Failures of callees that no call in this function can bring about.
//!
//! In: the calls of an execution, with the paths on which each meets the conditions of a failure that is told of its callee. Out: the failures for which
//! there are no such paths, for [`crate::settle::callers`].

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::ir::SymbolName;
use crate::sat::oracle::Oracle;
use crate::symbolic::execution::Execution;

/// A failure of a callee's.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct OfCallee {
    pub callee: SymbolName,
    /// The finding that tells of it, by its number among the callee's own.
    pub finding: u32,
}

/// Rounds of a loop that were left out may call with other numbers, if those are no constants; but a pointer that is not null in the rounds that were
/// executed is taken not to be null in them, either.
pub fn collect(execution: &Execution, oracle: &mut Oracle<'_>) -> Vec<OfCallee> {
    let mut met: BTreeMap<OfCallee, bool> = BTreeMap::new();
    for call in &execution.log.met_failures {
        let failure = OfCallee {
            callee: (*call.callee).clone(),
            finding: call.finding,
        };
        let known = met.entry(failure).or_default();
        let paths = match execution.cut {
            true => call.fixed,
            false => call.all,
        };
        *known = *known || oracle.possible_for_nulls(paths, &call.compared);
    }
    let excluded = met.into_iter().filter(|(_, met)| !met);
    excluded.map(|(failure, _)| failure).collect()
}
