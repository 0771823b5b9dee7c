//! A callee has done with an object what its summary does not tell, or may have.
//!
//! In: the log of an execution, an object. Out: the paths that such an explanation covers, or whether there are any.

use crate::property::{Machine, Names, Role, StateId};
use crate::symbolic::arena::Arena;
use crate::symbolic::execution::Execution;
use crate::symbolic::guard::{Guard, Guards};
use crate::symbolic::log::{OpEvent, SleepEvent, UnknownCall};
use crate::symbolic::origin::Origin;
use crate::symbolic::region::{RegionId, RegionKind};
use crate::symbolic::state::{Object, Status};
use crate::symbolic::term::{Node, Term, Var};

/// The operation before a point that moved the object last.
fn last_move(execution: &Execution, object: Object, before: usize) -> Option<&OpEvent> {
    let ops = execution
        .log
        .ops
        .get(..before)
        .unwrap_or(&execution.log.ops);
    ops.iter()
        .rfind(|event| event.object == object && event.moves())
}

/// Whether the operation before a point that moved the object last is a callee's, which leaves it alone at
/// other times: when, its summary may not know.
pub fn kept_by_callee_at_times(
    execution: &Execution,
    arena: &Arena<'_>,
    object: Object,
    before: usize,
) -> bool {
    let Some(last) = last_move(execution, object, before) else {
        return false;
    };
    let ops = execution
        .log
        .ops
        .get(..before)
        .unwrap_or(&execution.log.ops);
    let mut of_object = ops.iter().filter(|event| event.object == object);
    let initial = Status::At(arena.machine_of(object).initial);
    let idle = |event: &OpEvent| {
        event.stack == last.stack && event.from == initial && event.to == Some(initial)
    };
    last.source.is_some() && of_object.any(idle)
}

/// Whether on some of these paths a callee leaves the object alone that gives it back on others.
pub fn perhaps_given_back_by_callee(
    execution: &Execution,
    arena: &mut Arena<'_>,
    object: Object,
    paths: Guard,
) -> bool {
    let initial = arena.machine_of(object).initial;
    let back = |from: StateId, to: StateId| from != initial && to == initial;
    let log = &execution.log;
    let formula = &mut arena.formula;
    let mut idle = log.ops.iter().filter(|event| {
        event.object == object && event.source.is_some() && event.to == Some(event.from)
    });
    idle.any(|event| {
        let mut same = log
            .ops
            .iter()
            .filter(|other| other.object == object && other.stack == event.stack);
        same.any(|other| other.moves_as(&back)) && !formula.guards.excludes(event.guard, paths)
    })
}

/// Whether on some of these paths a callee gives back another element of the table that an object is in: it may go
/// through the table, further than its summary does.
pub fn another_element_given_back(
    execution: &Execution,
    arena: &mut Arena<'_>,
    object: Object,
    paths: Guard,
) -> bool {
    let Some(class) = arena.class_of(object.loc) else {
        return false;
    };
    let initial = Status::At(arena.machine_of(object).initial);
    let elements = execution.log.ops.iter().filter(|event| {
        let other = event.object;
        let beside = other != object
            && other.machine == object.machine
            && other.loc.region == object.loc.region;
        beside && event.source.is_some() && event.gives_back(initial)
    });
    let elements: Vec<(Object, Guard)> =
        elements.map(|event| (event.object, event.guard)).collect();
    elements.into_iter().any(|(other, there)| {
        !arena.formula.guards.excludes(there, paths)
            && arena.class_of(other.loc).as_ref() == Some(&class)
    })
}

/// Whether a call that may sleep is the other way to lock what one of two locks of a record is for, after
/// another record's was taken the one way: `s->nonatomic ? mutex_lock(&s->mutex) : spin_lock(&s->lock)` for all `s`
/// of a list. They are all of one kind.
pub fn one_kind_or_the_other(execution: &Execution, object: Object, sleep: &SleepEvent) -> bool {
    let Some(taken) = last_move(execution, object, sleep.order) else {
        return false;
    };
    let ops = &execution.log.ops;
    let ways = |event: &&OpEvent| event.stack == sleep.stack && event.moves();
    let mut sleeping = ops.iter().filter(ways).map(|event| event.object.loc.region);
    sleeping.any(|record| {
        let instead =
            |event: &OpEvent| event.stack == taken.stack && event.object.loc.region == record;
        record != object.loc.region && ops.iter().any(instead)
    })
}

/// What makes it plausible that a function of which nothing is known has taken an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unknown {
    /// Anything below.
    Any,
    /// The object was found only where that function may have put it; or its name says that it takes, and what it returned decides
    /// whether the object is given back. Else that decides it alone.
    Said,
}

/// The paths on which the function gives back an object that it has not taken, but that a function of which
/// nothing is known may have taken for it.
pub fn taken_by_unknown(
    execution: &Execution,
    arena: &mut Arena<'_>,
    object: Object,
    because: Unknown,
) -> Guard {
    let machine = arena.machine_of(object);
    let initial = Status::At(machine.initial);
    let way = arena.access_path(object.loc.region);
    // What needs not be handed to anybody.
    let is_global = matches!(arena.regions.kind(object.loc.region), RegionKind::Symbol(_));
    let calls = execution.log.unknown_calls.clone();
    let mut paths = Vec::new();
    for index in 0..execution.log.ops.len() {
        let event = &execution.log.ops[index];
        let gives = match event.to {
            Some(to) => to == initial && event.from != initial,
            None => event.from == initial,
        };
        if event.object != object || !gives {
            continue;
        }
        let guard = event.guard;
        let explains = |call: &UnknownCall| {
            // The part of the way that the callee had in its hands.
            let at = way.iter().position(|step| call.reached.contains(&step.0));
            let found_later = |step: &(RegionId, Option<Term>)| {
                step.1.is_some_and(|base| base.index() >= call.terms)
            };
            let decides = || {
                let counts = because == Unknown::Any || says_that_it_takes(arena, call, machine);
                counts && decides(arena, call, guard)
            };
            let found = at.is_some_and(|at| way[..at].iter().any(found_later) || decides());
            let given = || {
                call.order <= index
                    && (call.takes_what_it_is_given(object, machine)
                        || is_global && call.says_that_it_takes(machine))
            };
            (found || left_by(call, &way) || given())
                && !arena.formula.guards.excludes(call.guard, guard)
        };
        if calls.iter().any(explains) {
            paths.push(guard);
        }
    }
    arena.formula.guards.union(paths)
}

/// The paths on which a function of which nothing is known has got an object between an operation that gives it back once more
/// and the last one that did, and says by its name that it takes what it gets (`queue_lock(&q->lock)`).
pub fn taken_again_by_unknown(
    execution: &Execution,
    arena: &mut Arena<'_>,
    object: Object,
    failing: usize,
) -> Guard {
    let machine = arena.machine_of(object);
    let initial = Status::At(machine.initial);
    let ops = &execution.log.ops;
    if ops[failing].from != initial {
        return Guard::FALSE;
    }
    let gives = |event: &OpEvent| event.object == object && event.gives_back(initial);
    let last = ops[..failing].iter().rposition(gives);
    let since = last.map_or(0, |last| last + 1);
    let calls = execution.log.unknown_calls.iter();
    let calls = calls.filter(|call| {
        (since..=failing).contains(&call.order) && call.takes_what_it_is_given(object, machine)
    });
    let paths = calls.map(|call| call.guard);
    arena.formula.guards.union(paths)
}

/// Whether the way to an object begins with what a call has left where it was asked to leave something.
fn left_by(call: &UnknownCall, way: &[(RegionId, Option<Term>)]) -> bool {
    let first = way.last().and_then(|step| step.1);
    first.is_some_and(|first| {
        (call.terms..call.made).contains(&first.index()) && call.result != Some(first)
    })
}

/// The paths on which something that leads to the object is handed to a function that is called through a
/// pointer: an operation that may do the rest, as a method that tears an object down.
pub fn given_away(execution: &Execution, arena: &mut Arena<'_>, object: Object) -> Guard {
    let way = arena.access_path(object.loc.region);
    let leads_there = |region: &RegionId| way.iter().any(|(step, _)| step == region);
    let calls = execution.log.unknown_calls.iter();
    let calls = calls.filter(|call| call.indirect && call.reached.iter().any(leads_there));
    let paths = calls.map(|call| call.guard);
    arena.formula.guards.union(paths)
}

/// The paths that keep an object without what leads to it being handed to a function that is called through a pointer, of
/// which nothing is known, and that is not called on those that give it back: it may be what gives it back. Functions that are
/// called through one member are alike (a program's callback, called for each kind of message): where the function itself
/// gives the object back after one, the other does not.
pub fn not_given_away_instead(
    execution: &Execution,
    arena: &mut Arena<'_>,
    object: Object,
    [kept, back]: [Guard; 2],
) -> Guard {
    let way = arena.access_path(object.loc.region);
    let leads_there = |region: &RegionId| way.iter().any(|(step, _)| step == region);
    let log = &execution.log;
    let guards = &mut arena.formula.guards;
    let calls = log.unknown_calls.iter();
    let calls: Vec<&UnknownCall> = calls
        .filter(|call| call.indirect && call.reached.iter().any(leads_there))
        .collect();
    let (there, elsewhere): (Vec<&UnknownCall>, Vec<&UnknownCall>) = calls
        .into_iter()
        .partition(|call| !guards.excludes(call.guard, back));
    let alike = |call: &UnknownCall| {
        call.holder.is_some() && there.iter().any(|other| other.holder == call.holder)
    };
    let mut proper = kept;
    for call in elsewhere.into_iter().filter(|call| !alike(call)) {
        proper = guards.and_not(proper, call.guard);
    }
    proper
}

/// Whether it is open how a callee leaves another object of the same kind on paths that give the object back only: the
/// function may hand over the one or the other.
pub fn another_left_open(
    execution: &Execution,
    arena: &mut Arena<'_>,
    object: Object,
    [kept, back]: [Guard; 2],
) -> bool {
    let log = &execution.log;
    let guards = &mut arena.formula.guards;
    log.ops.iter().any(|event| {
        event.open
            && event.object != object
            && event.object.machine == object.machine
            && !guards.excludes(event.guard, back)
            && guards.excludes(event.guard, kept)
    })
}

/// Whether the name of the function, or of the member through which it is called, says that it takes an object.
fn says_that_it_takes(arena: &Arena<'_>, call: &UnknownCall, machine: &Machine) -> bool {
    let Some(result) = call.result else {
        return false;
    };
    let Node::Var(var) = *arena.formula.terms.node(result) else {
        return true;
    };
    match arena.origins.of(var) {
        Origin::Call { text, .. } => {
            let called = text.split('(').next().unwrap_or_default();
            Names::say(&machine.names.held, called)
        }
        _ => true,
    }
}

/// Whether a call's result is among what decides whether paths are taken.
fn decides(arena: &Arena<'_>, call: &UnknownCall, paths: Guard) -> bool {
    let Some(result) = call.result else {
        return false;
    };
    let formula = &arena.formula;
    let conditions = formula.guards.support(paths).iter();
    let mut terms = conditions.map(|&cond| formula.cond_term(cond));
    terms.any(|term| formula.mentions(term, result))
}

/// Whether there are such paths only where a number is one thing and not another which a callee has written without its summary telling
/// it, and for which the function does not ask itself.
pub fn rests_on_untold(arena: &Arena<'_>, paths: Guard) -> bool {
    if arena.untold_numbers.is_empty() {
        return false;
    }
    let literals = arena.formula.guards.implied_literals(paths);
    literals.into_iter().any(|(condition, _)| {
        let untold = |&var: &Var| {
            arena
                .untold_numbers
                .contains(&arena.formula.terms.var_term(var))
        };
        !arena.own_conditions.contains_key(&condition)
            && arena.formula.vars_of(condition).iter().any(untold)
    })
}

/// Whether it depends on how a callee has ended what becomes of an object on these paths: its summary, if
/// it has one, may know less of that than its source.
pub fn decides_outcome(
    execution: &Execution,
    arena: &mut Arena<'_>,
    object: Object,
    paths: Guard,
) -> bool {
    let unnamed = execution.perhaps_moved_unnamed(arena, object, paths);
    let guards = &mut arena.formula.guards;
    if unnamed || !guards.excludes(paths, execution.log.lost) {
        return true;
    }
    let machine = arena.machine_of(object);
    // A block that the call has made: a constructor succeeds at times.
    let makes = |event: &OpEvent| {
        let role = |status| match status {
            Status::At(state) => Some(machine.role(state)),
            Status::Error(_) => None,
        };
        machine.watches_accesses()
            && role(event.from) == Some(Role::Free)
            && event.to.and_then(role) == Some(Role::Held)
    };
    let owned = arena.is_owned(object.loc.region);
    let guards = &mut arena.formula.guards;
    let mut events = execution.log.ops.iter().enumerate();
    events.any(|(index, event)| {
        let here = guards.and(paths, event.guard);
        event.object == object
            && event.open
            && !(owned && makes(event))
            && is_left_open(execution, guards, index, here)
    })
}

/// Whether a callee may have had another outcome than the one that an event tells of, on these of its paths. Not if what the callee
/// returned rules the others out; nor where the event is a failure, if the function goes on to ask for just that: it has code for
/// this outcome, which would be dead if the callee never had it.
fn is_left_open(execution: &Execution, guards: &mut Guards, event: usize, here: Guard) -> bool {
    let other = guards.and(here, execution.log.ops[event].others);
    if other == Guard::FALSE {
        return false;
    }
    if execution.log.ops[event].to.is_some() {
        return true;
    }
    let branches = execution.log.branches.iter();
    let mut own = branches.filter(|branch| branch.depth == 0 && branch.order > event);
    !own.any(|branch| {
        let asked = guards.and(here, branch.path);
        let ways = [
            guards.and(asked, branch.guard),
            guards.and_not(asked, branch.guard),
        ];
        ways.into_iter()
            .any(|way| way != Guard::FALSE && guards.excludes(way, other))
    })
}

/// The paths on which a callee may have ended an object's state: it does so under conditions that are not known here, as where
/// references are counted.
pub fn perhaps_ended(execution: &Execution, arena: &mut Arena<'_>, object: Object) -> Guard {
    let events = execution.log.ops.iter();
    let open = events.filter(|event| event.object == object && event.open);
    arena.formula.guards.union(open.map(|event| event.guard))
}
