//! Blocks that count who holds them: the last one who lets go frees the block.
//!
//! In: the operations of an execution and the state at its end. Out: whether a number in a block that the function has changed decides whether the
//! block is freed. Who lets go of such a block does not know that it is gone: others may hold it.

use crate::property::Role;
use crate::sat::oracle::Oracle;
use crate::symbolic::arena::Arena;
use crate::symbolic::execution::Execution;
use crate::symbolic::guard::Guard;
use crate::symbolic::log::OpEvent;
use crate::symbolic::origin::Origin;
use crate::symbolic::state::{Object, State, Status};
use crate::symbolic::term::{Node, Op, Term, Var};

/// The operations that end an object.
pub fn ends<'e>(
    execution: &'e Execution,
    arena: &Arena<'_>,
    object: Object,
) -> impl Iterator<Item = &'e OpEvent> {
    let machine = arena.machine_of(object);
    let dead = machine
        .state_ids()
        .filter(|&state| machine.role(state) == Role::Dead);
    let dead: Vec<Status> = dead.map(Status::At).collect();
    let events = execution.log.ops.iter();
    events.filter(move |event| {
        event.object == object && event.to.is_some_and(|to| dead.contains(&to))
    })
}

/// Whether a number in a block that the function has changed decides between these paths and others.
pub fn decides(
    oracle: &mut Oracle<'_>,
    exit: &State,
    object: Object,
    (paths, others): (Guard, Guard),
) -> bool {
    if others == Guard::FALSE {
        return false;
    }
    let decide = oracle.formula.guards.support(paths).to_vec();
    decide.into_iter().any(|condition| {
        let term = oracle.formula.cond_term(condition);
        let vars = oracle.formula.vars(term);
        vars.into_iter()
            .any(|var| is_changed_in(oracle, exit, object, var))
            && {
                let guards = &mut oracle.formula.guards;
                let either = guards.for_either(paths, condition);
                !guards.excludes(either, others)
            }
    })
}

/// Whether all paths among these on which the function ends a block, and does not only find it ended, are such on which a number in the block that
/// it, or a callee, has changed decides so.
pub fn only_by_count(
    execution: &Execution,
    oracle: &mut Oracle<'_>,
    exit: &State,
    object: Object,
    paths: Guard,
) -> bool {
    let ending = ends(execution, oracle, object);
    let ending: Vec<(Guard, bool)> = ending.map(|event| (event.guard, event.counted)).collect();
    let guards = &mut oracle.formula.guards;
    let mut here = ending
        .iter()
        .filter(|(guard, _)| !guards.excludes(*guard, paths))
        .peekable();
    if here.peek().is_some() && here.all(|(_, counted)| *counted) {
        return true;
    }
    let others = oracle.formula.guards.and_not(exit.guard, paths);
    decides(oracle, exit, object, (paths, others))
}

/// Whether a number was read from a block, and one that was made from it is there when the function returns.
fn is_changed_in(oracle: &mut Oracle<'_>, exit: &State, object: Object, var: Var) -> bool {
    let Origin::Initial { loc, size } = *oracle.origins.of(var) else {
        return false;
    };
    let terms = &oracle.formula.terms;
    if terms.is_pointer(terms.var_term(var)) {
        return false;
    }
    if loc.region == object.loc.region {
        let value = oracle.scalar_at(exit, loc, size);
        return value.is_some_and(|value| {
            !oracle.is_initial(loc, size, value) && is_made_from(oracle, value, var)
        });
    }
    // What a callee has left in a block is read from a region of its own.
    let base = oracle.regions.base(loc.region);
    let left_by_callee = base.is_some_and(|base| match *oracle.formula.terms.node(base) {
        Node::Var(base) => matches!(oracle.origins.of(base), Origin::Unknown),
        _ => false,
    });
    if !left_by_callee {
        return false;
    }
    let here = |region| region == object.loc.region;
    let cells = exit.memory.written(here).into_iter();
    let mut values = cells
        .filter(|cell| cell.1 == size)
        .filter_map(|cell| cell.2);
    values.any(|value| is_made_from(oracle, value, var))
}

/// Whether a value, or one that it may be by choice, is worked out from an unknown. What is only chosen by it is not.
fn is_made_from(oracle: &mut Oracle<'_>, value: Term, var: Var) -> bool {
    let unchanged = oracle.formula.terms.var_term(var);
    let values = oracle.formula.choices(value, u32::MAX);
    values.into_iter().any(|value| {
        let choice = matches!(
            oracle.formula.terms.node(value),
            Node::Op { op: Op::Ite, .. }
        );
        !choice && value != unchanged && oracle.formula.vars(value).contains(&var)
    })
}
