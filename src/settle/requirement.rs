//! Assertions that something is held, in functions that leave it to their callers but have none.
//!
//! In: what all functions do with each assertion ([`crate::judge::requirement`]). Out: findings.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::finding::{ExplanationKind, Finding, Level};
use crate::ir::SymbolName;
use crate::judge::record::{Record, with_ids};
use crate::judge::requirement::Statement;
use crate::program::{FunctionId, Program};

/// Findings in functions without callers, one for each assertion that they leave to callers.
pub fn settle(program: &Program, records: &[Option<Record>]) -> Vec<(FunctionId, Finding)> {
    let mut mentioned: FxHashSet<FunctionId> = FxHashSet::default();
    for caller in program.ids() {
        let callees = program.function(caller).callees.iter();
        let others = callees.filter_map(|callee| callee.function.filter(|id| *id != caller));
        mentioned.extend(others);
    }
    let all = || with_ids(records).map(|(id, record)| (id, &record.facts.obligations));
    let met = all().flat_map(|(_, obligations)| &obligations.assertions.met);
    let met: FxHashSet<&Statement> = met.collect();
    // In a whole program a function without callers is dead code; one that a header declares may have callers
    // elsewhere.
    let is_main = |id: FunctionId| program.function(id).name.name == "main";
    let whole = program.ids().any(is_main);
    let mut left: Vec<(Level, FunctionId, &Statement, &Finding)> = Vec::new();
    for (id, obligations) in all() {
        let function = program.function(id);
        if mentioned.contains(&id) || function.stored || asks_by_name(&function.name) {
            continue;
        }
        for (statement, finding) in &obligations.assertions.left {
            let entry = is_main(id) || !whole && !function.announced;
            let certain = entry && met.contains(statement);
            let level = if certain { finding.level } else { Level::Note };
            left.push((level, id, statement, finding));
        }
    }
    // The gravest of each assertion.
    left.sort_by_key(|&(level, id, ..)| (level, id));
    let definition = |id: FunctionId| program.function(id).definition;
    let mut reported: FxHashMap<&Statement, u32> = FxHashMap::default();
    left.retain(|&(_, id, statement, _)| {
        *reported.entry(statement).or_insert(definition(id)) == definition(id)
    });
    let found = left.into_iter().map(|(level, id, _, finding)| {
        let mut finding = finding.clone();
        if level > finding.level {
            finding.explain_by(ExplanationKind::CalledElsewhere);
        }
        (id, finding)
    });
    found.collect()
}

/// Whether a function's name says that its callers must hold something: `__get`, `get_locked`.
fn asks_by_name(name: &SymbolName) -> bool {
    name.file.is_some() || name.name.starts_with('_') || name.name.contains("lock")
}
