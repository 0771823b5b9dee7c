//! What a body does with objects of static storage.
//!
//! In: a body. Out: the objects that it names, and whether it may change each: it writes to the object, or its address goes
//! where others may write by it.

use serde::{Deserialize, Serialize};

use super::{Body, Callee, ExprId, ExprKind, StmtKind, SymbolId, SymbolKind, SymbolName, TermKind};

/// An object that a body names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ObjectUse {
    pub name: SymbolName,
    pub changed: bool,
}

impl Body {
    /// The objects of static storage that it names, sorted.
    pub fn objects(&self) -> Vec<ObjectUse> {
        let mut changed = vec![false; self.symbols.len()];
        let roots = self.roots();
        let mut change = |at: ExprId| {
            if let Some(symbol) = roots[at.index()] {
                changed[symbol.index()] = true;
            }
        };
        for expr in &self.exprs {
            match &expr.kind {
                ExprKind::Load {
                    volatile: false, ..
                }
                | ExprKind::Member { .. }
                | ExprKind::Compare { .. } => {}
                ExprKind::Index { index, .. } => change(*index),
                kind => kind.operands().for_each(&mut change),
            }
        }
        for block in &self.blocks {
            for stmt in &block.stmts {
                match &stmt.kind {
                    StmtKind::Store { addr, value } => {
                        [*addr, *value].into_iter().for_each(&mut change)
                    }
                    StmtKind::Copy { dst, .. }
                    | StmtKind::Zero { dst, .. }
                    | StmtKind::Havoc { dst, .. } => change(*dst),
                    StmtKind::Call(call) => {
                        for arg in &call.args {
                            if let super::Arg::Scalar(value) = arg {
                                change(*value);
                            }
                        }
                        if let Callee::Indirect { function, .. } = call.callee {
                            change(function);
                        }
                    }
                    StmtKind::Expose { .. }
                    | StmtKind::Assume(_)
                    | StmtKind::Assert(_)
                    | StmtKind::ScopeBegin(_) => {}
                }
            }
            if let TermKind::Return(Some(super::Arg::Scalar(value))) = &block.term.kind {
                change(*value);
            }
        }
        let symbols = self.symbols.iter().zip(changed);
        let objects =
            symbols.filter(|(symbol, _)| matches!(symbol.kind, SymbolKind::Object { .. }));
        let mut objects: Vec<ObjectUse> = objects
            .map(|(symbol, changed)| ObjectUse {
                name: symbol.name.clone(),
                changed,
            })
            .collect();
        objects.sort_by(|a, b| a.name.cmp(&b.name));
        objects
    }

    /// For each expression the symbol within which it is an address.
    fn roots(&self) -> Vec<Option<SymbolId>> {
        let mut roots: Vec<Option<SymbolId>> = Vec::with_capacity(self.exprs.len());
        for expr in &self.exprs {
            // Operands precede their users.
            roots.push(match &expr.kind {
                ExprKind::AddrSymbol(symbol) => Some(*symbol),
                ExprKind::Member { base, .. } | ExprKind::Index { base, .. } => roots[base.index()],
                _ => None,
            });
        }
        roots
    }
}
