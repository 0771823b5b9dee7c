//! How often a function looks at the results of functions that may fail.
//!
//! In: the pointers of an execution that are null where a callee has failed, and the accesses of its log. Out: for each callee the
//! results that are compared with null and those that are followed all the same, for [`crate::settle::results`].

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::symbolic::arena::Arena;
use crate::symbolic::execution::Execution;
use crate::symbolic::origin::Origin;
use crate::symbolic::term::{Node, Term};

/// What a function does with the results of one callee.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Looked {
    pub tested: u32,
    pub untested: u32,
}

/// What a function does with the results of its callees.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Results {
    /// By the callee's name.
    pub of: BTreeMap<String, Looked>,
    /// The findings about results that are not looked at: file, line and the callee's name.
    pub unchecked: Vec<(String, u32, String)>,
}

/// Counts the results that a function compares with null, and those that it follows only.
pub fn count(execution: &Execution, arena: &Arena<'_>) -> BTreeMap<String, Looked> {
    let mut found: BTreeMap<String, Looked> = BTreeMap::new();
    for (&result, callee) in &arena.nullable {
        let callee = &callee.name;
        let followed = || {
            execution
                .log
                .uses
                .iter()
                .any(|event| event.base == Some(result))
        };
        if arena.tested.contains_key(&result) {
            found.entry(callee.clone()).or_default().tested += 1;
        } else if followed() {
            found.entry(callee.clone()).or_default().untested += 1;
        }
    }
    found
}

/// The call whose result a pointer is, as the source has it.
pub fn call_of<'a>(arena: &'a Arena<'_>, result: Term) -> Option<&'a str> {
    let Node::Var(var) = *arena.formula.terms.node(result) else {
        return None;
    };
    match arena.origins.of(var) {
        Origin::Call { text, .. } => Some(text),
        _ => None,
    }
}
