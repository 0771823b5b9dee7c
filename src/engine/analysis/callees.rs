//! What a function's analysis sees of the functions that it calls.
//!
//! In: the functions that are done, and the members of its own component as far as they have a result. Out: [`Callees`],
//! which the execution asks.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::Run;
use crate::ir::{Body, FunctionHolder, Image, Methods, SymbolName};
use crate::program::{CalleeRef, Function, FunctionId};
use crate::summary::Summary;
use crate::symbolic::callee::{CalleeView, Callees, INLINE_DEPTH};

/// The members of a component that have been executed, with their summaries; `None`: they could not be analysed.
pub(super) type Provisional = FxHashMap<FunctionId, Option<Arc<Summary>>>;

/// What one function's analysis may ask about the functions it calls.
pub(super) struct Caller<'r, 'a> {
    pub(super) run: &'r Run<'a>,
    pub(super) function: &'a Function,
    /// Of its component.
    pub(super) provisional: &'r Provisional,
}

impl<'a> Caller<'_, 'a> {
    /// What a name means here.
    fn resolve(&self, name: &SymbolName) -> Option<&'a CalleeRef> {
        self.in_reach(self.function, &|function| function.callee(name), 0)
    }

    /// The callee of a call in the function itself, or in a tiny function that is inlined into it.
    fn in_reach<T>(
        &self,
        function: &'a Function,
        find: &dyn Fn(&'a Function) -> Option<T>,
        depth: u8,
    ) -> Option<T> {
        find(function).or_else(|| {
            let mut callees = function.callees.iter().filter(|_| depth <= INLINE_DEPTH);
            callees.find_map(|callee| {
                let inlined = self.run.function(self.tiny(callee)?);
                self.in_reach(inlined, find, depth + 1)
            })
        })
    }

    fn tiny(&self, callee: &CalleeRef) -> Option<FunctionId> {
        self.run.interface(callee)?.inline_depth?;
        callee.function
    }
}

impl<'a> Callees for Caller<'_, 'a> {
    fn view(&self, name: &SymbolName) -> CalleeView {
        let Some(callee) = self.resolve(name) else {
            // Named through a pointer: not an edge of the call graph, so only seeds are known.
            let seed = self.run.inputs.seeds.summary(name, None);
            return seed.map_or(CalleeView::Unknown, CalleeView::from);
        };
        match (self.run.interface(callee), callee.function) {
            (Some(interface), _) => interface.view(self.run.inputs.results),
            (None, Some(id)) => match self.provisional.get(&id) {
                Some(Some(summary)) => CalleeView::from(Arc::clone(summary)),
                Some(None) => CalleeView::Lost,
                None => CalleeView::NoOp(Arc::new([])),
            },
            (None, None) => CalleeView::Unknown,
        }
    }

    fn methods(&self, holder: &FunctionHolder) -> Option<&Methods> {
        let of = |function: &'a Function| function.methods.get(holder);
        self.in_reach(self.function, &of, 0)
    }

    fn inline_body(&self, name: &SymbolName) -> Option<Arc<Body>> {
        let id = self.tiny(self.resolve(name)?)?;
        let key = self.run.function(id).body.as_ref().ok()?;
        self.run.inputs.bodies.body(*key).ok()
    }

    /// To be asked for objects that the function itself names, or one that is inlined into it: its result's key covers these.
    fn constant(&self, name: &SymbolName) -> Option<&Image> {
        self.run.inputs.program.constants.get(name)
    }

    fn is_object_type(&self, type_name: &str) -> bool {
        self.run.inputs.seeds.is_object_type(type_name)
    }
}
