//! The lock functions of a program: `slabs_lock()` does nothing but take a lock, `slabs_unlock()` does nothing but release it.
//!
//! In: which functions take or give back an object of a class, and do nothing else. Out: whether a function has its counterpart among
//! these. Then it is no counterpart of a third one: who calls the one of the two calls the other, and a function that releases such a lock
//! in its own body has to take it there, too, unless a caller is seen to hold it. One that is stored or handed on, as an operation of a table or a
//! callback, is none of these: its counterpart is another operation, which may do more, and there may be two (`pthread_atfork`).

use rustc_hash::FxHashMap;

use crate::judge::obligation::{HandOver, Kind};
use crate::program::{FunctionId, Program};
use crate::symbolic::class::Class;

/// The functions that do nothing but one half of a hand-over, and whether at times only: one that tries to take a lock, say.
#[derive(Default)]
pub(super) struct LockFunctions<'p> {
    by_half: FxHashMap<(Kind, &'p Class), Vec<(FunctionId, bool)>>,
}

impl<'p> LockFunctions<'p> {
    pub(super) fn add(&mut self, function: FunctionId, half: &'p HandOver) {
        if half.only {
            let functions = self.by_half.entry((half.kind, &half.class)).or_default();
            functions.push((function, half.at_times));
        }
    }

    /// Whether the function does nothing but this half for objects of the class, and another one nothing but the other half, always.
    pub(super) fn is_paired(
        &self,
        program: &Program,
        function: FunctionId,
        (kind, class): (Kind, &Class),
    ) -> bool {
        let others = self.by_half.get(&(kind.other_half(), class));
        let mut others = others.into_iter().flatten();
        self.is_one(function, kind, class)
            && others.any(|&(other, at_times)| {
                !at_times
                    && program.is_another(other, function)
                    && program.are_together(other, function)
            })
    }

    /// Whether the function does nothing but this half for objects of the class.
    pub(super) fn is_one(&self, function: FunctionId, kind: Kind, class: &Class) -> bool {
        let functions = self.by_half.get(&(kind, class)).into_iter().flatten();
        functions.copied().any(|(one, _)| one == function)
    }
}
