//! What has happened to an object since it came into the state in which an operation on it fails.
//!
//! In: the log of an execution, a failure that is an operation. Out: whether the object has certainly ended, so that nothing that callees do
//! matters; the readings by which something in between makes the failure none.

use super::{Left, What};
use crate::property::Role;
use crate::sat::oracle::Oracle;
use crate::symbolic::arena::Arena;
use crate::symbolic::execution::Execution;
use crate::symbolic::guard::Guard;
use crate::symbolic::origin::Origin;
use crate::symbolic::state::{Object, Status};
use crate::symbolic::term::Node;

/// Whether an object whose accesses are watched has certainly ended before an operation on it fails: whatever callees did to it before, and
/// do to it since, it is gone.
pub(super) fn has_ended(
    execution: &Execution,
    arena: &mut Arena<'_>,
    object: Object,
    what: What,
    paths: Guard,
) -> bool {
    let What::Operation(failing) = what else {
        return false;
    };
    let machine = arena.machine_of(object);
    let dead = match execution.log.ops[failing].from {
        Status::At(state) => machine.role(state) == Role::Dead,
        Status::Error(_) => false,
    };
    if !dead || !machine.watches_accesses() {
        return false;
    }
    let ended = came_into_state(execution, arena, (failing, paths)).checked_sub(1);
    let failed = &execution.log.ops[failing];
    ended.is_some_and(|at| {
        let event = &execution.log.ops[at];
        // Of one call that ends it twice, by two names, it is not known whether it does where they are names of one object.
        let twice = event.call == failed.call && event.stack == failed.stack;
        let told = !event.open && !event.doubtful && !twice;
        event.primitive || told && is_of_one_value(arena, object)
    })
}

/// Whether the object is an argument of the function, or what a call has returned. What was read from memory a callee may have replaced, and
/// the function may read it again.
fn is_of_one_value(arena: &Arena<'_>, object: Object) -> bool {
    let base = arena.regions.base(object.loc.region);
    base.is_some_and(|base| match *arena.formula.terms.node(base) {
        Node::Var(var) => matches!(
            arena.origins.of(var),
            Origin::Param(_) | Origin::Call { .. }
        ),
        _ => false,
    })
}

/// Whether the pointer lies in a variable that a callee has been asked to write to since the block's state was ended, and only what its
/// summary does not tell says that it has not.
pub(super) fn written_by_callee(
    execution: &Execution,
    oracle: &mut Oracle<'_>,
    left: &Left<'_>,
) -> bool {
    let What::Operation(failing) = left.what else {
        return false;
    };
    let since = came_into_state(execution, oracle, (failing, left.paths));
    let writes = execution.log.pointer_writes.iter();
    let mut writes = writes.filter(|write| {
        (since..=failing).contains(&write.order)
            && oracle
                .locations(write.old)
                .iter()
                .any(|(_, at)| at.region == left.object.loc.region)
    });
    let Some(first) = writes.next().cloned() else {
        return false;
    };
    let unknowns: Vec<_> = std::iter::once(first)
        .chain(writes.cloned())
        .map(|write| write.unknowns)
        .collect();
    let depends_on = oracle.formula.unknowns(&[left.paths]);
    depends_on
        .iter()
        .any(|var| unknowns.iter().any(|made| made.contains(var)))
}

/// Whether the block has ended only where a count in it said that nobody else held it, of which the function knows nothing.
pub(super) fn is_counted(execution: &Execution, oracle: &mut Oracle<'_>, left: &Left<'_>) -> bool {
    let What::Operation(failing) = left.what else {
        return false;
    };
    let into = into_state(execution, oracle, (failing, left.paths));
    let mut events = into.iter().map(|&at| &execution.log.ops[at]);
    !into.is_empty() && events.all(|event| event.counted)
}

/// Whether what the failure depends on was handed, since the object came into its state, to a function that may end the program where
/// it does not like it: `r = f(&block); assert_int_equal(r, 0); free(block)`, where `f` has freed the block if it fails.
pub(super) fn perhaps_ended_before(
    execution: &Execution,
    oracle: &mut Oracle<'_>,
    left: &Left<'_>,
) -> bool {
    let What::Operation(failing) = left.what else {
        return false;
    };
    let since = came_into_state(execution, oracle, (failing, left.paths));
    let calls = execution.log.may_end.iter();
    let mut calls = calls
        .filter(|call| (since..=failing).contains(&call.order))
        .peekable();
    if calls.peek().is_none() {
        return false;
    }
    let formula = &mut oracle.formula;
    let depends_on = formula.unknowns(&[left.paths]);
    calls.any(|call| {
        let mut args = call.args.iter();
        formula.guards.implies(left.paths, call.guard)
            && args.any(|&arg| formula.vars(arg).iter().any(|var| depends_on.contains(var)))
    })
}

/// The number of operations up to the one that has put the object into the state in which an operation fails on these paths.
fn came_into_state(
    execution: &Execution,
    arena: &mut Arena<'_>,
    (failing, paths): (usize, Guard),
) -> usize {
    let into = into_state(execution, arena, (failing, paths));
    into.last().map_or(0, |last| last + 1)
}

/// The operations that put the object into the state in which an operation fails, on some of these paths.
fn into_state(
    execution: &Execution,
    arena: &mut Arena<'_>,
    (failing, paths): (usize, Guard),
) -> Vec<usize> {
    let failure = &execution.log.ops[failing];
    let guards = &mut arena.formula.guards;
    let before = execution.log.ops[..failing].iter().enumerate();
    let into = before.filter(|(_, event)| {
        let moved =
            event.object == failure.object && event.moves() && event.to == Some(failure.from);
        moved && !guards.excludes(event.guard, paths)
    });
    into.map(|(index, _)| index).collect()
}
