//! What a stored function's callees are to it: lets one function be looked at again after a run, as
//! `cassini debug terms` does.

use std::sync::Arc;

use parking_lot::Mutex;

use super::query::{FunctionRow, Reader};
use super::{Bodies, StoreError};
use crate::ir::{Body, FunctionHolder, Image, Methods, SymbolName, constant_results};
use crate::summary::seeds::Seeds;
use crate::symbolic::callee::{CalleeView, Callees, INLINE_DEPTH};

pub struct StoredCallees<'a> {
    pub reader: Mutex<Reader>,
    pub bodies: &'a Bodies,
    pub seeds: &'a Seeds,
    /// The caller.
    pub function: u32,
    /// What callees did in the pass that checks accesses to memory is asked for.
    pub accesses: bool,
}

impl StoredCallees<'_> {
    fn resolve(&self, name: &SymbolName) -> Result<Option<FunctionRow>, StoreError> {
        self.reader.lock().callee(self.function, name)
    }

    fn stored_view(&self, name: &SymbolName) -> Result<CalleeView, StoreError> {
        let Some(row) = self.resolve(name)? else {
            let seed = self.seeds.summary(name, None);
            return Ok(seed.map_or(CalleeView::Unknown, CalleeView::from));
        };
        if self.seeds.get(&name.name).is_some() {
            let body = row.body.and_then(|key| self.bodies.get(key));
            let definition = (body.as_deref(), row.own);
            if let Some(summary) = self.seeds.in_place_of(name, definition) {
                return Ok(CalleeView::from(summary));
            }
        }
        Ok(match row.of_pass(self.accesses) {
            (Some("no-op"), _) => {
                let body = row.body.and_then(|key| self.bodies.get(key));
                let results = body.map_or_else(Vec::new, |body| constant_results(&body));
                CalleeView::NoOp(results.into())
            }
            (Some("analysed" | "analysed in part"), Some(key)) => {
                match self.reader.lock().result(key)? {
                    Some(result) => CalleeView::from(Arc::new(result.summary)),
                    None => CalleeView::Lost,
                }
            }
            _ => CalleeView::Lost,
        })
    }

    fn tiny(&self, name: &SymbolName, depth: u8) -> Option<Arc<Body>> {
        let row = self.resolve(name).ok().flatten()?;
        if !matches!(row.of_pass(self.accesses).0, Some("no-op" | "analysed")) {
            return None;
        }
        let body = self.bodies.get(row.body?)?;
        let leaves = |callee: &&SymbolName| {
            let row = self.resolve(callee).ok().flatten();
            let outcome = row.as_ref().map(|row| row.of_pass(self.accesses).0);
            // Primitives, and what stays a call of which nothing comes.
            let plain = matches!(outcome, None | Some(Some("seeded" | "no-op")));
            plain || depth > 0 && self.tiny(callee, depth - 1).is_some()
        };
        (body.is_small() && body.direct_callees().iter().all(leaves)).then_some(body)
    }
}

impl Callees for StoredCallees<'_> {
    fn view(&self, name: &SymbolName) -> CalleeView {
        self.stored_view(name).unwrap_or(CalleeView::Unknown)
    }

    /// The database tells callees, not by what they are called.
    fn methods(&self, _holder: &FunctionHolder) -> Option<&Methods> {
        None
    }

    fn inline_body(&self, name: &SymbolName) -> Option<Arc<Body>> {
        self.tiny(name, INLINE_DEPTH)
    }

    /// The database does not keep them.
    fn constant(&self, _name: &SymbolName) -> Option<&Image> {
        None
    }

    fn is_object_type(&self, type_name: &str) -> bool {
        self.seeds.is_object_type(type_name)
    }
}
