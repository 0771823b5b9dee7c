//! One activation of a body: how often its loops have run, and the names for its source positions.

use std::cell::OnceCell;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use super::guard::Guard;
use super::log::Site;
use super::region::FrameId;
use super::term::Term;
use super::unroll::Unrolling;
use crate::ir::{BlockId, Body, Change, ExprKind, GUESSED_MEMBERS, LocalId, Pos};

/// A body being executed.
pub struct Frame<'b> {
    pub id: FrameId,
    pub body: &'b Body,
    name: Arc<str>,
    files: Vec<Arc<str>>,
    pub(super) unrolling: Unrolling,
    /// Loops (by header instance) with an exit test that folded to "stay".
    pub(super) folded: FxHashSet<(BlockId, SmallVec<[u32; 4]>)>,
    /// Headers of rounds that are not begun any more: they are executed only to leave the loop.
    pub(super) leaving: FxHashSet<(BlockId, SmallVec<[u32; 4]>)>,
    /// The guard with which each loop iteration began.
    pub(super) headers: FxHashMap<(BlockId, SmallVec<[u32; 4]>), Guard>,
    /// [`Body::varying_tests`].
    pub(super) varying: OnceCell<Vec<bool>>,
    /// [`Body::changes`] of the variables whose address goes nowhere.
    pub(super) changes: OnceCell<Vec<(BlockId, LocalId, Change)>>,
    /// The number of accesses that were logged before the block being executed.
    pub(super) uses: usize,
    /// When the analysed function has last assigned each of its variables that are pointers, by their addresses.
    pub(super) assigned: FxHashMap<Term, Progress>,
    /// Paths were cut off at the limit of one of its loops.
    pub(super) cut: bool,
    /// The body names members of which no declaration is known.
    pub(super) guesses: bool,
}

/// How far execution had come: what was logged before.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Progress {
    pub uses: usize,
    pub disturbed: usize,
    /// A call has come to that.
    pub by_call: bool,
}

impl<'b> Frame<'b> {
    pub(super) fn new(id: FrameId, body: &'b Body) -> Self {
        Frame {
            id,
            body,
            name: body.name.name.as_str().into(),
            files: body.files.iter().map(|file| file.as_str().into()).collect(),
            unrolling: Unrolling::new(body),
            folded: FxHashSet::default(),
            leaving: FxHashSet::default(),
            headers: FxHashMap::default(),
            varying: OnceCell::new(),
            changes: OnceCell::new(),
            uses: 0,
            assigned: FxHashMap::default(),
            cut: false,
            guesses: body.exprs.iter().any(|expr| {
                matches!(expr.kind, ExprKind::Member { offset, .. } if GUESSED_MEMBERS.contains(&offset))
            }),
        }
    }

    pub fn site(&self, pos: Pos) -> Site {
        let file = self.files.get(usize::from(pos.file)).unwrap_or(&self.name);
        Site {
            file: file.clone(),
            line: pos.line,
            column: u32::from(pos.column),
            function: self.name.clone(),
        }
    }
}
