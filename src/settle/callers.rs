//! Failures that no caller brings about.
//!
//! In: for each function the failures of its callees that none of its calls can bring about ([`crate::judge::excluded`]). Out: the findings of functions
//! all of whose callers say so. Only a function that nobody can call but the tree's own functions, by its name, has no other callers: a static one, or one
//! that is linked into programs alone.
//!
//! A static function of a header that is called nowhere, or only by others like it, is there for other configurations and programs: in this one a
//! macro or an empty function may have put null where its callers would have had a pointer.

use rustc_hash::{FxHashMap, FxHashSet};

use super::taken;
use crate::judge::record::{Disposition, Record, with_ids};
use crate::program::{Function, FunctionId, Program};
use crate::property::PointerRules;

/// The findings, by their functions and numbers.
pub fn rule_out(
    program: &Program,
    records: &[Option<Record>],
    rules: Option<&PointerRules>,
) -> FxHashSet<(FunctionId, u32)> {
    let taken = taken(program);
    // Nobody can call it but the tree's own functions, by its name.
    let is_private = |id: FunctionId, function: &Function| {
        function.closed && !function.stored && !taken.contains(&id)
    };
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
        is_private(id, program.function(id)) && callers.get(&id) == Some(&count)
    });
    let mut ruled_out: FxHashSet<(FunctionId, u32)> = by_all.map(|(failure, _)| failure).collect();
    let Some(rules) = rules else {
        return ruled_out;
    };
    let sources: FxHashSet<&str> = program.units.iter().map(|unit| &*unit.source).collect();
    let used = used(program, |id, function| {
        let own = is_private(id, function) && function.name.file.is_some();
        !own || sources.contains(&*function.file)
    });
    for (id, record) in with_ids(records).filter(|(id, _)| !used.contains(id)) {
        let findings = (0..).zip(&record.facts.findings);
        let null = findings.filter(|(_, finding)| finding.rule == rules.null);
        ruled_out.extend(null.map(|(index, _)| (id, index)));
    }
    ruled_out
}

/// The functions of which this holds, and those that they call, directly or not.
fn used(
    program: &Program,
    is_root: impl Fn(FunctionId, &Function) -> bool,
) -> FxHashSet<FunctionId> {
    let roots = program.ids();
    let mut work: Vec<FunctionId> = roots
        .filter(|&id| is_root(id, program.function(id)))
        .collect();
    let mut used: FxHashSet<FunctionId> = work.iter().copied().collect();
    while let Some(id) = work.pop() {
        let callees = program.function(id).callees.iter();
        let callees = callees.filter_map(|callee| callee.function);
        work.extend(callees.filter(|&callee| used.insert(callee)));
    }
    used
}
