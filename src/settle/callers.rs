//! Failures that no caller brings about.
//!
//! In: for each function the failures of its callees that none of its calls can bring about ([`crate::judge::excluded`]). Out: the findings of functions
//! all of whose callers say so. Only a function that nobody can call but the tree's own functions, by its name, has no other callers.

use rustc_hash::{FxHashMap, FxHashSet};

use super::taken;
use crate::judge::record::{Disposition, Record};
use crate::program::{FunctionId, Program};

/// The findings, by their functions and numbers.
pub fn rule_out(program: &Program, records: &[Option<Record>]) -> FxHashSet<(FunctionId, u32)> {
    let taken = taken(program);
    let mut callers: FxHashMap<FunctionId, u32> = FxHashMap::default();
    let mut excluded: FxHashMap<(FunctionId, u32), u32> = FxHashMap::default();
    for id in program.ids() {
        let function = program.function(id);
        let record = records.get(id.index()).and_then(Option::as_ref);
        for callee in function.callees.iter().filter_map(|callee| callee.function) {
            *callers.entry(callee).or_default() += 1;
        }
        let record = record.filter(|record| record.disposition == Disposition::Analysed);
        for failure in record.into_iter().flat_map(|record| &record.facts.excluded) {
            let callee = function.callee(&failure.callee);
            if let Some(callee) = callee.and_then(|callee| callee.function) {
                *excluded.entry((callee, failure.finding)).or_default() += 1;
            }
        }
    }
    let by_all = excluded.into_iter().filter(|&((id, _), count)| {
        let function = program.function(id);
        function.name.file.is_some()
            && !function.stored
            && !taken.contains(&id)
            && callers.get(&id) == Some(&count)
    });
    by_all.map(|(failure, _)| failure).collect()
}
