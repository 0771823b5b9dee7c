//! What callers see of a function: its interface.
//!
//! In: its summary, or why it has none. Out: an [`Interface`]: the identity that the keys of callers' results depend on, and
//! the summary for callers that are executed. A summary that was not inferred in this run is read from the database, and none is kept
//! once the last caller is done.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use parking_lot::Mutex;

use crate::engine::analysis::{Results, StoredResult, encode, hash};
use crate::judge::record::ResultKey;
use crate::program::{Function, FunctionId};
use crate::summary::Summary;
use crate::symbolic::callee::CalleeView;

/// A summary that may be in the database only.
#[derive(Debug)]
struct Stored {
    key: Option<ResultKey>,
    /// A call moves an object of some machine.
    active: bool,
    /// It initialises one, and callers know more of that.
    initialises: bool,
    summary: Mutex<Option<Arc<Summary>>>,
}

#[derive(Debug)]
enum View {
    /// Not defined in the tree.
    External,
    /// Defined in the tree, but not analysable.
    Lost,
    /// Its results, if it has these only.
    NoOp(Arc<[u128]>),
    Summary(Stored),
}

#[derive(Debug)]
pub(super) struct Interface {
    view: View,
    /// A hash of all that callers can learn of the function: part of the keys of their results.
    pub identity: blake3::Hash,
    /// The function may be inlined, with functions that it calls, this many calls deep.
    pub inline_depth: Option<u8>,
    /// The summary is given by seed data.
    pub primitive: bool,
}

impl Interface {
    pub(super) fn external() -> Self {
        Interface {
            view: View::External,
            identity: blake3::hash(b"external"),
            inline_depth: None,
            primitive: false,
        }
    }

    pub(super) fn lost() -> Self {
        Interface {
            view: View::Lost,
            identity: blake3::hash(b"lost"),
            ..Interface::external()
        }
    }

    /// Of a function that touches no object, with its results if it has these only.
    pub(super) fn noop(results: &[u128]) -> Self {
        Interface {
            view: View::NoOp(results.into()),
            identity: hash(&[b"noop", &encode(&results)]),
            ..Interface::external()
        }
    }

    pub(super) fn primitive(summary: Arc<Summary>) -> Self {
        Interface {
            identity: identity(&summary),
            view: View::Summary(Stored {
                key: None,
                active: !summary.is_noop(),
                initialises: !summary.initialises.is_empty(),
                summary: Mutex::new(Some(summary)),
            }),
            primitive: true,
            ..Interface::external()
        }
    }

    /// Of a function with this result. `summary` may be left to be read when it is asked for.
    pub(super) fn analysed(
        result: &StoredResult,
        key: Option<ResultKey>,
        summary: Option<Arc<Summary>>,
    ) -> Self {
        if !result.outcome.has_summary() {
            return Interface::lost();
        }
        Interface {
            identity: result.identity,
            view: View::Summary(Stored {
                key,
                active: result.active,
                initialises: result.facts.recursion.hands_on(),
                summary: Mutex::new(summary),
            }),
            ..Interface::external()
        }
    }

    /// Whether a call moves an object of some machine.
    pub(super) fn is_active(&self) -> bool {
        matches!(&self.view, View::Summary(held) if held.active)
    }

    /// Whether a call initialises an object, and callers know more of that.
    pub(super) fn initialises(&self) -> bool {
        matches!(&self.view, View::Summary(held) if held.initialises)
    }

    /// Nothing but the name is known of a call, or that it does nothing.
    pub(super) fn is_plain(&self) -> bool {
        !matches!(self.view, View::Summary(_))
    }

    pub(super) fn view(&self, results: &dyn Results) -> CalleeView {
        let held = match &self.view {
            View::External => return CalleeView::Unknown,
            View::Lost => return CalleeView::Lost,
            View::NoOp(results) => return CalleeView::NoOp(Arc::clone(results)),
            View::Summary(held) => held,
        };
        let mut summary = held.summary.lock();
        if summary.is_none() {
            *summary = held.key.and_then(|key| results.summary(key)).map(Arc::new);
        }
        summary.clone().map_or(CalleeView::Lost, CalleeView::from)
    }

    /// Frees a summary that no caller will ask for again.
    fn release(&self) {
        if let View::Summary(held) = &self.view {
            held.summary.lock().take();
        }
    }
}

/// Hash of a summary.
pub(super) fn identity(summary: &Summary) -> blake3::Hash {
    hash(&[b"summary", &encode(summary)])
}

/// How many callers of each function may still ask for its summary.
#[derive(Debug)]
pub(super) struct Demand(Vec<AtomicU32>);

impl Demand {
    pub(super) fn new(functions: &[Function]) -> Self {
        let mut counts = vec![0u32; functions.len()];
        for callee in functions.iter().flat_map(|function| &function.callees) {
            if let Some(id) = callee.function {
                counts[id.index()] += 1;
            }
        }
        Demand(counts.into_iter().map(AtomicU32::new).collect())
    }

    /// To be called when `function` is done. What a function that may be inlined calls is asked for by
    /// its callers.
    pub(super) fn done<'f>(
        &self,
        id: FunctionId,
        function: &Function,
        interface: impl Fn(FunctionId) -> Option<&'f Interface>,
    ) {
        let own = interface(id);
        if self.0[id.index()].load(Ordering::Acquire) == 0
            && let Some(interface) = own
        {
            interface.release();
        }
        if own.is_none_or(|interface| interface.inline_depth.is_some()) {
            return;
        }
        for callee in function.callees.iter().filter_map(|callee| callee.function) {
            if self.0[callee.index()].fetch_sub(1, Ordering::AcqRel) == 1
                && let Some(interface) = interface(callee)
            {
                interface.release();
            }
        }
    }
}
