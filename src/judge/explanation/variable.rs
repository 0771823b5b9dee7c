//! Whether two operations of a function are on what one of its variables leads to all the time.
//!
//! In: a failure and the function's body. Out: whether the call that ended the object's state and the one that fails both have the same
//! variable for it, which nobody assigns to in between. Then it does not matter what callees have put into the memory that the
//! variable's value was once read from.

use super::{Left, What};
use crate::finding::ExplanationKind as Kind;
use crate::ir::{Body, ExprKind, LocalId, StmtKind};
use crate::symbolic::execution::Execution;
use crate::symbolic::log::OpEvent;

/// Takes out the readings that another pointer is read from memory, where the failure's pointer is not read again.
pub(super) fn without_replacements(
    execution: &Execution,
    left: &Left<'_>,
    body: &Body,
    kinds: &mut Vec<Kind>,
) {
    let replaced = [Kind::ReplacedByCallee, Kind::ReplacedByLink];
    if kinds.iter().any(|kind| replaced.contains(kind)) && is_of_one_variable(execution, left, body)
    {
        kinds.retain(|kind| !replaced.contains(kind));
    }
}

fn is_of_one_variable(execution: &Execution, left: &Left<'_>, body: &Body) -> bool {
    let What::Operation(failing) = left.what else {
        return false;
    };
    let (before, rest) = execution.log.ops.split_at(failing);
    let mut before = before.iter();
    let ended = before.rfind(|event| event.object == left.object && event.moves());
    let (Some(ended), Some(failing)) = (ended, rest.first()) else {
        return false;
    };
    let ([from], [to]) = (&ended.stack[..], &failing.stack[..]) else {
        return false;
    };
    from.file == to.file
        && from.line < to.line
        && variables(ended).iter().any(|name| {
            variables(failing).contains(name)
                && local_of(body, name)
                    .is_some_and(|local| is_unchanged(body, local, (from.line, to.line)))
        })
}

/// The arguments of an operation's call that are plain names.
fn variables(event: &OpEvent) -> Vec<&str> {
    let Some((_, arguments)) = event.text.split_once('(') else {
        return Vec::new();
    };
    let arguments = arguments.trim_end_matches(')').split(',').map(str::trim);
    let plain = |name: &&str| {
        let mut symbols = name.chars();
        let starts = symbols
            .next()
            .is_some_and(|first| first.is_alphabetic() || first == '_');
        starts && symbols.all(|symbol| symbol.is_alphanumeric() || symbol == '_')
    };
    arguments.filter(plain).collect()
}

/// The variable of this name, if there is one and nothing but the function's own statements changes it.
fn local_of(body: &Body, name: &str) -> Option<LocalId> {
    let mut named = (0..).map(LocalId).zip(&body.locals);
    let mut named = named.by_ref().filter(|(_, local)| local.name == name);
    let (local, _) = named.next()?;
    (named.next().is_none() && !body.pointed_to().contains(&local)).then_some(local)
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
