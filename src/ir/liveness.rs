//! Whether what a variable holds is still needed.
//!
//! In: a body, a block and a variable whose address goes nowhere. Out: whether some way on from the block's beginning reads the variable
//! before it is set.

use rustc_hash::FxHashSet;

use super::{Arg, BlockId, Body, Callee, ExprId, ExprKind, LocalId, StmtKind, TermKind};

impl Body {
    /// Whether execution that begins at a block may read what the variable holds there.
    pub fn is_live(&self, at: BlockId, local: LocalId) -> bool {
        let mut seen = FxHashSet::default();
        let mut work = vec![at];
        while let Some(block) = work.pop() {
            if !seen.insert(block) {
                continue;
            }
            match self.first_use(block, local) {
                Some(Use::Reads) => return true,
                Some(Use::Sets) => {}
                None => work.extend(self.block(block).term.successors()),
            }
        }
        false
    }

    fn first_use(&self, block: BlockId, local: LocalId) -> Option<Use> {
        let block = self.block(block);
        for stmt in &block.stmts {
            let (read, set) = self.read_and_set(&stmt.kind);
            if read.into_iter().any(|value| self.reads(value, local)) {
                return Some(Use::Reads);
            }
            if set == Some(local) {
                return Some(Use::Sets);
            }
        }
        let read = match &block.term.kind {
            TermKind::Branch { cond: value, .. } | TermKind::Switch { value, .. } => Some(*value),
            TermKind::Return(value) => value.as_ref().map(Arg::expr),
            TermKind::Goto(_) | TermKind::Nondet(_) | TermKind::Unreachable => None,
        };
        read.filter(|&value| self.reads(value, local))
            .map(|_| Use::Reads)
    }

    /// For each parameter whether it keeps the value that it is called with: nothing sets it, and its address goes nowhere.
    pub fn constant_params(&self) -> Vec<bool> {
        let mut constant = vec![true; self.params as usize];
        let stmts = self.blocks.iter().flat_map(|block| &block.stmts);
        let set = stmts.filter_map(|stmt| self.read_and_set(&stmt.kind).1);
        for local in self.pointed_to().into_iter().chain(set) {
            if let Some(param) = constant.get_mut(local.index()) {
                *param = false;
            }
        }
        constant
    }

    /// The expressions that a statement evaluates, and the variable that it sets whole.
    fn read_and_set(&self, kind: &StmtKind) -> (Vec<ExprId>, Option<LocalId>) {
        match kind {
            StmtKind::Store { addr, value } => match self.expr(*addr).kind {
                ExprKind::AddrLocal(local) => (vec![*value], Some(local)),
                _ => (vec![*addr, *value], None),
            },
            StmtKind::Copy { dst, src, .. } => (vec![*dst, *src], None),
            StmtKind::Zero { dst: value, .. }
            | StmtKind::Havoc { dst: value, .. }
            | StmtKind::Expose { value, .. }
            | StmtKind::Assume(value)
            | StmtKind::Assert(value) => (vec![*value], None),
            StmtKind::Call(call) => {
                let function = match call.callee {
                    Callee::Indirect { function, .. } => Some(function),
                    Callee::Direct(_) => None,
                };
                let read = call.args.iter().map(Arg::expr).chain(function);
                (read.collect(), call.dst)
            }
            StmtKind::ScopeBegin(local) => (Vec::new(), Some(*local)),
        }
    }

    /// Whether an expression, or an address that it reads at, is made of what a variable holds, or of its address.
    pub fn reads(&self, value: ExprId, local: LocalId) -> bool {
        let mut work = vec![value];
        while let Some(id) = work.pop() {
            match self.expr(id).kind {
                ExprKind::AddrLocal(read) if read == local => return true,
                ref kind => work.extend(kind.operands()),
            }
        }
        false
    }
}

enum Use {
    Reads,
    Sets,
}
