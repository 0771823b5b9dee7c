//! How often a function loses what its callees make.
//!
//! In: the operations of an execution, and the objects that the function loses. Out: for each callee the calls that make an object which
//! somebody has to end, and those findings about lost ones on which no way through the function ends the object, for
//! [`crate::settle::lost_results`].

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::finding::Finding;
use crate::property::Event;
use crate::symbolic::arena::Arena;
use crate::symbolic::execution::Execution;
use crate::symbolic::log::OpEvent;
use crate::symbolic::state::Status;

/// What a function does with the objects that its callees make.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LostResults {
    /// The calls that make such objects, by the callee's name.
    pub made: BTreeMap<String, u32>,
    /// The findings about those that are lost.
    pub lost: Vec<LostResult>,
}

/// A finding about a callee's object that the function ends on no way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LostResult {
    pub rule: String,
    pub file: String,
    pub line: u32,
    /// The callee's name.
    pub callee: String,
}

/// The callee that makes an object which must not be lost, if the operation is a call of such a function of the program's own.
fn maker<'e>(arena: &Arena<'_>, event: &'e OpEvent) -> Option<&'e str> {
    // One that is executed in the place of its call has a frame of its own.
    let callee = match (event.stack.get(1), &event.source) {
        (Some(inner), _) => &*inner.function,
        (None, Some(source)) => source.callee.name.as_str(),
        (None, None) => return None,
    };
    let machine = arena.machine_of(event.object);
    let to = event.to?;
    let ends_badly = |status: Status| match status {
        Status::At(state) => machine.rule_in(Event::Lost, state).is_some(),
        _ => false,
    };
    (!ends_badly(event.from) && ends_badly(to)).then_some(callee)
}

/// The calls that make objects which must not be lost, by callee.
pub fn count(execution: &Execution, arena: &Arena<'_>) -> BTreeMap<String, u32> {
    let events = execution.log.ops.iter();
    let calls: BTreeSet<(&str, u32, u32)> = events
        .filter_map(|event| {
            let site = event.stack.first()?;
            Some((maker(arena, event)?, site.line, site.column))
        })
        .collect();
    let mut made = BTreeMap::new();
    for (callee, ..) in calls {
        *made.entry(callee.to_owned()).or_default() += 1;
    }
    made
}

/// The callee whose object is lost, if no way through the function ends the object. `made`: the operation that makes it.
pub fn lost(
    execution: &Execution,
    arena: &Arena<'_>,
    made: &OpEvent,
    finding: &Finding,
) -> Option<LostResult> {
    let callee = maker(arena, made)?;
    let mut events = execution.log.ops.iter();
    let is_ended = events
        .any(|event| event.object == made.object && Some(event.from) == made.to && event.moves());
    (!is_ended).then(|| LostResult {
        rule: finding.rule.clone(),
        file: finding.file.clone(),
        line: finding.line,
        callee: callee.to_owned(),
    })
}
