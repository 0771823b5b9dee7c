//! The results of a function that returns nothing but constants.
//!
//! In: a body. Out: the constants that it may return, if they are few and it returns nothing else. Of a function that touches
//! no object nothing else is known to callers, and they ask: `-1` and `0` are all there is, so what is not `-1` is `0`.

use super::{Arg, Body, Callee, ExprId, ExprKind, LocalId, RetTy, StmtKind, TermKind, Ty};

/// As many results are told apart as a choice has that callers' conditions can be about.
const MAX_RESULTS: usize = 8;
/// Variables and casts that a constant goes through.
const MAX_DEPTH: u8 = 4;

/// The constants, sorted, as bits of the result's width; none if the function may return something else.
pub fn constant_results(body: &Body) -> Vec<u128> {
    let mut found = Vec::new();
    if !matches!(body.ret, RetTy::Scalar(Ty::Int { .. })) {
        return found;
    }
    for block in &body.blocks {
        let known = match &block.term.kind {
            TermKind::Return(Some(Arg::Scalar(value))) => {
                collect(body, *value, MAX_DEPTH, &mut found)
            }
            TermKind::Return(_) => None,
            _ => continue,
        };
        found.sort_unstable();
        found.dedup();
        if known.is_none() || found.len() > MAX_RESULTS {
            return Vec::new();
        }
    }
    found
}

/// Adds what an expression may be; `None` if that is not known.
fn collect(body: &Body, value: ExprId, depth: u8, found: &mut Vec<u128>) -> Option<()> {
    let depth = depth.checked_sub(1)?;
    let expr = body.expr(value);
    let mask = u128::MAX >> (128 - u32::from(expr.ty.bits().clamp(1, 128)));
    match &expr.kind {
        ExprKind::Const(constant) => found.push(constant & mask),
        ExprKind::Cast { arg } => {
            let from = body.expr(*arg).ty;
            let mut parts = Vec::new();
            collect(body, *arg, depth, &mut parts)?;
            found.extend(parts.into_iter().map(|part| {
                let shift = 128 - u32::from(from.bits().clamp(1, 128));
                let extended = match from.signed() {
                    true => (((part << shift) as i128) >> shift) as u128,
                    false => part,
                };
                extended & mask
            }));
        }
        ExprKind::Select { then, els, .. } => {
            collect(body, *then, depth, found)?;
            collect(body, *els, depth, found)?;
        }
        ExprKind::Load { addr, .. } => {
            let ExprKind::AddrLocal(local) = body.expr(*addr).kind else {
                return None;
            };
            for stored in stores(body, local)? {
                if body.expr(stored).ty != expr.ty {
                    return None;
                }
                collect(body, stored, depth, found)?;
            }
        }
        _ => return None,
    }
    Some(())
}

/// All that is stored in a variable, if that is done by name only: its address goes nowhere, no call leaves its result in it.
fn stores(body: &Body, local: LocalId) -> Option<Vec<ExprId>> {
    if local.0 < body.params {
        return None;
    }
    let names = |id: ExprId| body.expr(id).kind == ExprKind::AddrLocal(local);
    let mut exprs = body
        .exprs
        .iter()
        .filter(|expr| expr.kind.operands().any(names));
    if !exprs.all(|expr| matches!(expr.kind, ExprKind::Load { .. })) {
        return None;
    }
    let mut stored = Vec::new();
    for stmt in body.blocks.iter().flat_map(|block| &block.stmts) {
        let elsewhere = match &stmt.kind {
            StmtKind::Store { addr, value } => {
                if names(*addr) {
                    stored.push(*value);
                }
                names(*value)
            }
            StmtKind::Call(call) => {
                let through = match call.callee {
                    Callee::Indirect { function, .. } => names(function),
                    Callee::Direct(_) => false,
                };
                through || call.dst == Some(local) || call.args.iter().any(|arg| names(arg.expr()))
            }
            StmtKind::Copy { dst, src, .. } => names(*dst) || names(*src),
            StmtKind::Zero { dst, .. } | StmtKind::Havoc { dst, .. } => names(*dst),
            StmtKind::Expose { value, in_memory } => !in_memory && names(*value),
            StmtKind::Assume(_) | StmtKind::Assert(_) | StmtKind::ScopeBegin(_) => false,
        };
        if elsewhere {
            return None;
        }
    }
    (!stored.is_empty()).then_some(stored)
}
