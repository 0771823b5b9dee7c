//! Whether control may come back from a function, as far as its calls and jumps tell.
//!
//! In: a body, and what its callees' summaries say. Out: whether a `return` is reached by some way on which no call is of a function that never returns.
//! An execution that was cut off in a loop cannot tell.

use crate::ir::{BlockId, Body, Callee, StmtKind, SymbolKind, TermKind};
use crate::symbolic::callee::{CalleeView, Callees};

/// Whether some way leads from a function's beginning to a `return`.
pub fn may_return(body: &Body, callees: &dyn Callees) -> bool {
    let mut seen = vec![false; body.blocks.len()];
    let mut work = vec![BlockId(0)];
    while let Some(block) = work.pop() {
        if std::mem::replace(&mut seen[block.index()], true) || ends_in(body, callees, block) {
            continue;
        }
        let term = &body.block(block).term;
        if matches!(term.kind, TermKind::Return(_)) {
            return true;
        }
        work.extend(term.successors());
    }
    false
}

/// Whether a block calls a function that never returns.
fn ends_in(body: &Body, callees: &dyn Callees, block: BlockId) -> bool {
    body.block(block).stmts.iter().any(|stmt| {
        let StmtKind::Call(call) = &stmt.kind else {
            return false;
        };
        let Callee::Direct(symbol) = call.callee else {
            return false;
        };
        let symbol = body.symbol(symbol);
        let declared = matches!(symbol.kind, SymbolKind::Function { noreturn: true, .. });
        declared
            || match callees.view(&symbol.name) {
                CalleeView::Known(effects) => effects.is_noreturn(),
                CalleeView::Unknown | CalleeView::Lost | CalleeView::NoOp(_) => false,
            }
    })
}
