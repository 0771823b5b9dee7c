//! Calls through members of records: which functions the tree's initialisers and assignments store there.
//!
//! In: for each unit and function the [`Method`]s that it stores. Out: for each function that calls
//! through a member the functions meant, as callees of its own.
//!
//! A member that many functions are stored in says little. Of a few, a caller means those of its own file, if there are
//! any: a driver goes through the record that it has filled itself. A call that closes a circle of calls is left
//! unknown: nearly everything would call everything, and a component that is not analysed callees first
//! knows less, not more.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use super::callgraph::components;
use super::program::{CalleeRef, Function, FunctionId, edges};
use crate::ir::{MemberName, Method, SymbolName};

/// A call through a member that more functions are stored in stays unknown.
const MAX_METHODS: usize = 3;

/// What is stored in the members of records, over the whole tree.
#[derive(Default)]
pub struct Tables {
    methods: FxHashMap<MemberName, BTreeSet<(SymbolName, Option<FunctionId>)>>,
}

impl Tables {
    /// Adds what a unit or a function stores; `meant` tells which function a name is there.
    pub fn add(&mut self, stored: &[Method], meant: &dyn Fn(&SymbolName) -> Option<FunctionId>) {
        for Method { member, function } in stored {
            let functions = self.methods.entry(member.clone()).or_default();
            functions.insert((function.clone(), meant(function)));
        }
    }

    /// All functions that are stored.
    pub fn functions(&self) -> impl Iterator<Item = FunctionId> {
        let stored = self.methods.values().flatten();
        stored.filter_map(|(_, function)| *function)
    }

    /// Makes the functions that are called through members callees of the caller.
    pub fn resolve(&self, caller: &mut Function, members: &[MemberName]) {
        for member in members {
            let Some(functions) = self.methods.get(member) else {
                continue;
            };
            if functions.len() > MAX_METHODS || functions.iter().any(|(_, id)| id.is_none()) {
                continue;
            }
            let file = caller.file.clone();
            let own =
                |(name, _): &&(SymbolName, _)| name.file.as_deref().is_some_and(|f| *f == *file);
            let functions: Vec<&(SymbolName, Option<FunctionId>)> =
                match functions.iter().any(|function| own(&function)) {
                    true => functions.iter().filter(own).collect(),
                    false => functions.iter().collect(),
                };
            let names = functions.iter().map(|(name, _)| name.clone()).collect();
            caller.methods.insert(member.clone(), names);
            for (name, function) in functions {
                if let Err(place) = caller.callees.binary_search_by(|c| c.name.cmp(name)) {
                    let callee = CalleeRef {
                        name: name.clone(),
                        function: *function,
                        called: true,
                        taken: false,
                        method: true,
                    };
                    caller.callees.insert(place, callee);
                }
            }
        }
    }
}

/// Forgets the methods that can come back to their callers.
pub fn drop_circular(functions: &mut [Function]) {
    let (_, component_of) = components(&edges(functions));
    for (caller, function) in functions.iter_mut().enumerate() {
        let circular = |callee: &CalleeRef| {
            let component = callee.function.map(|id| component_of[id.index()]);
            callee.method && component == Some(component_of[caller])
        };
        let dropped: BTreeSet<SymbolName> = function
            .callees
            .iter()
            .filter(|callee| circular(callee))
            .map(|callee| callee.name.clone())
            .collect();
        if dropped.is_empty() {
            continue;
        }
        function.callees.retain(|callee| !circular(callee));
        function
            .methods
            .retain(|_, names| !names.iter().any(|name| dropped.contains(name)));
    }
}
