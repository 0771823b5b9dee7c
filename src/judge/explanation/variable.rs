//! Whether two operations of a function are on what one of its variables leads to all the time.
//!
//! In: a failure and the function's body. Out: the variable by which both the statement that ended the object's state and the one that fails
//! have the object, if nobody assigns to it in between. Then it does not matter what callees have put into the memory that the variable's
//! value was once read from.

use super::{Left, What};
use crate::finding::ExplanationKind as Kind;
use crate::ir::{Body, ExprKind, LocalId, StmtKind};
use crate::symbolic::execution::Execution;
use crate::symbolic::guard::{Guard, Guards};
use crate::symbolic::log::OpEvent;

/// Takes out the readings that a variable rules out: that the pointer is read again from memory, where another one may be; if the object was
/// certainly ended by way of the variable, what callees may have done to it before; and if no branch lies between the two operations, what decides
/// whether they are reached: one is reached only with the other.
pub(super) fn without_ruled_out(
    execution: &Execution,
    guards: &mut Guards,
    left: &Left<'_>,
    (body, kinds): (&Body, &mut Vec<Kind>),
) {
    let by_replacement =
        |kind: &Kind| matches!(kind, Kind::ReplacedByCallee | Kind::ReplacedByLink);
    let by_outcome = |kind: &Kind| *kind == Kind::CalleeOutcome;
    let by_path = |kind: &Kind| matches!(kind, Kind::FlagChanged | Kind::UnusedValue);
    let What::Operation(failing) = left.what else {
        return;
    };
    let in_question = |kind: &Kind| by_replacement(kind) || by_outcome(kind) || by_path(kind);
    if !kinds.iter().any(in_question) {
        return;
    }
    if let Some((ended, _)) = since_ended(execution, guards, (failing, left.paths), body) {
        let ops = &execution.log.ops;
        let certain = !ops[ended].open && !ops[failing].open;
        let straight = certain && !branches_between(execution, ended, failing);
        let ruled_out = |kind: &Kind| {
            by_replacement(kind) || certain && by_outcome(kind) || straight && by_path(kind)
        };
        kinds.retain(|kind| !ruled_out(kind));
    }
}

/// Whether the function itself decides something between two operations of the log.
fn branches_between(execution: &Execution, first: usize, second: usize) -> bool {
    let between = |order: usize| (first + 1..=second).contains(&order);
    let mut branches = execution.log.branches.iter();
    let mut cases = execution.log.cases.iter();
    branches.any(|branch| branch.depth == 0 && between(branch.order))
        || cases.any(|case| case.depth == 0 && between(case.order))
}

/// The variable that leads to the object of a failing operation of the log since the object was moved last.
pub fn of<'b>(
    execution: &Execution,
    guards: &mut Guards,
    failing: (usize, Guard),
    body: &'b Body,
) -> Option<&'b str> {
    since_ended(execution, guards, failing, body).map(|(_, name)| name)
}

/// The same, and the number of the operation that moved the object last on some of the failure's paths: what stands behind a loop is executed once
/// for each of its rounds.
fn since_ended<'b>(
    execution: &Execution,
    guards: &mut Guards,
    (failing, paths): (usize, Guard),
    body: &'b Body,
) -> Option<(usize, &'b str)> {
    let (before, rest) = execution.log.ops.split_at(failing);
    let failing = rest.first()?;
    let mut before = before.iter();
    let index = before.rposition(|event| {
        let moves = event.object == failing.object && event.moves();
        moves && !guards.excludes(event.guard, paths)
    })?;
    let ended = &execution.log.ops[index];
    let ([from], [to]) = (&ended.stack[..], &failing.stack[..]) else {
        return None;
    };
    let local =
        leading_to(body, ended).filter(|&local| leading_to(body, failing) == Some(local))?;
    let unassigned = from.file == to.file
        && from.line < to.line
        && !body.pointed_to().contains(&local)
        && is_unchanged(body, local, (from.line, to.line));
    let name = body.locals[local.index()].name.as_str();
    (unassigned && !name.is_empty()).then_some((index, name))
}

/// The variable in an operation's own text that leads to its object: `p` of `free(p)`, and of an access to `p->member`.
fn leading_to(body: &Body, event: &OpEvent) -> Option<LocalId> {
    let pointer = body.pointer_of(event.written?)?;
    let ExprKind::Load { addr, .. } = body.expr(pointer).kind else {
        return None;
    };
    match body.expr(addr).kind {
        ExprKind::AddrLocal(local) => Some(local),
        _ => None,
    }
}

/// Whether no statement behind the one line, down to the other, assigns to a variable.
fn is_unchanged(body: &Body, local: LocalId, (from, to): (u32, u32)) -> bool {
    let mut statements = body.blocks.iter().flat_map(|block| &block.stmts);
    !statements.any(|stmt| {
        let assigns = match &stmt.kind {
            StmtKind::Store { addr, .. } => {
                matches!(body.expr(*addr).kind, ExprKind::AddrLocal(to) if to == local)
            }
            StmtKind::Call(call) => call.dst == Some(local),
            _ => false,
        };
        assigns && (from..=to).contains(&stmt.pos.line)
    })
}
