//! The states of a machine's objects as one map that operations write to, and what is read from it later (ACSpec §4.4.1): a read after a
//! write is the value written if the two objects are one, else a read before it.
//!
//! In: the operations of an execution, in order. Out: for each the guard under which it fails, in terms of the states on entry and of
//! which pointers are equal.

use rustc_hash::FxHashMap;

use crate::property::{Event, Role, StateId, Target};
use crate::sat::oracle::Oracle;
use crate::symbolic::execution::Execution;
use crate::symbolic::guard::{Cond, Guard, Guards};
use crate::symbolic::log::OpEvent;
use crate::symbolic::origin::Origin;
use crate::symbolic::state::{Object, Status};
use crate::symbolic::term::Term;

/// Operations that change a state and are looked back at for one object.
const MAX_WRITES: usize = 24;

/// One operation on one object: the rows of the log that a call has for it.
#[derive(Clone, Debug)]
pub struct Operation {
    /// The events of the log, from the first to the one after the last.
    pub events: (usize, usize),
    pub object: Object,
    /// The paths that come to it.
    pub reach: Guard,
    /// The paths on which it fails. Where a callee has ended an object at times, callers cannot know: what ends it once more fails.
    pub fails: Guard,
    /// Those among them that come to an end here for certain: the callee has ended the object on these.
    pub ends: Guard,
    /// The conditions that the check itself asks for: the state on entry, and whether two pointers are equal.
    pub asserted: Vec<Cond>,
    moves: Vec<Move>,
}

/// Where an operation leads an object from a state.
#[derive(Clone, Copy, Debug)]
struct Move {
    from: StateId,
    /// `None`: it fails there.
    to: Option<StateId>,
    /// The paths on which it does, where it may lead elsewhere from the same state.
    on: Guard,
}

impl Operation {
    /// Whether it leads an object from some state to another one.
    fn writes(&self) -> bool {
        let moves = self.moves.iter();
        moves
            .filter_map(|lead| Some((lead.from, lead.to?)))
            .any(|(from, to)| from != to)
    }

    /// Whether it fails in some state.
    pub fn may_fail(&self) -> bool {
        self.fails != Guard::FALSE
    }
}

/// The operations of an execution that are asked for, and what holds of the states on entry whatever they are: equal pointers lead to one object.
pub fn operations(
    execution: &Execution,
    oracle: &mut Oracle<'_>,
    asked_for: &dyn Fn(&OpEvent) -> bool,
) -> (Vec<Operation>, Guard) {
    let ops = &execution.log.ops;
    let mut states = States::default();
    let mut operations: Vec<Operation> = Vec::new();
    for events in grouped(ops) {
        if !asked_for(&ops[events.0]) {
            continue;
        }
        let operation = states.operation(ops, events, &operations, oracle);
        operations.push(operation);
    }
    (operations, states.congruent(oracle))
}

/// Consecutive events that are rows of one call for one object.
fn grouped(ops: &[OpEvent]) -> Vec<(usize, usize)> {
    let mut groups: Vec<(usize, usize)> = Vec::new();
    for (index, event) in ops.iter().enumerate() {
        let same = |first: &OpEvent| {
            first.object == event.object
                && first.call == event.call
                && first.stack == event.stack
                && first.text == event.text
        };
        match groups.last_mut() {
            Some(group) if same(&ops[group.0]) => group.1 = index + 1,
            _ => groups.push((index, index + 1)),
        }
    }
    groups
}

/// Where an operation is taken to lead that may lead to several states.
#[derive(Clone, Copy)]
enum Leads {
    /// To the first of its moves, wherever it is reached.
    Always,
    /// Where the paths are those of a move, by that.
    OnItsPaths,
}

/// An object's state by guard.
type Tracked = Vec<(StateId, Guard)>;

#[derive(Default)]
struct States {
    /// That an object was dead on entry.
    dead: FxHashMap<Object, Guard>,
    /// Pointers that were compared, and the condition that they are equal.
    equal: Vec<(Object, Object, Guard)>,
}

impl States {
    fn operation(
        &mut self,
        ops: &[OpEvent],
        events: (usize, usize),
        before: &[Operation],
        oracle: &mut Oracle<'_>,
    ) -> Operation {
        let rows = &ops[events.0..events.1];
        let first = &rows[0];
        let object = first.object;
        let reach = rows.iter().fold(Guard::FALSE, |all, row| {
            oracle.formula.guards.or(all, row.guard)
        });
        let moves = moves(rows);
        let mut asserted = Vec::new();
        let mut wrong = |leads: Leads| {
            let state = self.state(object, (before, leads), oracle, &mut asserted);
            let wrong = state.iter().filter(|(state, _)| {
                let lead = moves.iter().find(|lead| lead.from == *state);
                lead.is_some_and(|lead| lead.to.is_none())
            });
            let guards = &mut oracle.formula.guards;
            let wrong = guards.union(wrong.map(|(_, held)| *held));
            guards.and(reach, wrong)
        };
        let fails = wrong(Leads::Always);
        let ends = match fails {
            Guard::FALSE => Guard::FALSE,
            _ => wrong(Leads::OnItsPaths),
        };
        // A block that is ended by an address within it: whatever its state is.
        let inside = oracle.machine_of(object).rule(Event::Inside);
        let inside = rows.iter().filter(|row| {
            inside.is_some() && row.from_states.is_empty() && row.rule.as_deref() == inside
        });
        let guards = &mut oracle.formula.guards;
        let inside = guards.union(inside.map(|row| row.guard));
        let fails = guards.or(fails, inside);
        let ends = guards.or(ends, inside);
        Operation {
            events,
            object,
            reach,
            fails,
            ends,
            asserted,
            moves,
        }
    }

    /// The state of an object after some operations.
    fn state(
        &mut self,
        object: Object,
        (before, leads): (&[Operation], Leads),
        oracle: &mut Oracle<'_>,
        asserted: &mut Vec<Cond>,
    ) -> Tracked {
        let mut tracked = self.on_entry(object, oracle, asserted);
        let machine = object.machine;
        let writes = before.iter();
        let writes = writes.filter(|other| other.object.machine == machine && other.writes());
        let writes: Vec<&Operation> = writes.collect();
        let skipped = writes.len().saturating_sub(MAX_WRITES);
        for write in writes.into_iter().skip(skipped) {
            let alias = self.alias(object, write.object, oracle);
            let guards = &mut oracle.formula.guards;
            let here = guards.and(write.reach, alias);
            if here == Guard::FALSE {
                continue;
            }
            if alias != Guard::TRUE {
                asserted.extend(guards.support(alias));
            }
            let mut after: Tracked = Vec::new();
            for &(state, held) in &tracked {
                let mut left = held;
                for lead in write.moves.iter().filter(|lead| lead.from == state) {
                    let on = match leads {
                        Leads::Always => here,
                        Leads::OnItsPaths => guards.and(here, lead.on),
                    };
                    let moved = guards.and(left, on);
                    left = guards.and_not(left, on);
                    add(guards, &mut after, lead.to.unwrap_or(state), moved);
                }
                add(guards, &mut after, state, left);
            }
            tracked = after;
        }
        let seen = before.iter().any(|other| other.object == object);
        if seen && is_made_by_callee(oracle, object) {
            // Where the callee has made nothing, the pointer leads to a block that was there before.
            let machine = oracle.machine_of(object);
            let none = tracked.iter().position(|entry| entry.0 == machine.initial);
            if let Some((_, paths)) = none.map(|none| tracked.remove(none)) {
                add(
                    &mut oracle.formula.guards,
                    &mut tracked,
                    machine.expected(),
                    paths,
                );
            }
        }
        asserted.sort_unstable();
        asserted.dedup();
        tracked
    }

    /// An object's state on entry. Of a block that callers have made: as usual, or gone.
    fn on_entry(
        &mut self,
        object: Object,
        oracle: &mut Oracle<'_>,
        asserted: &mut Vec<Cond>,
    ) -> Tracked {
        let machine = oracle.machine_of(object);
        let watched = machine.watches_accesses();
        let dead = machine
            .state_ids()
            .find(|&state| machine.role(state) == Role::Dead);
        let own = oracle.regions.is_local(object.loc.region)
            || oracle.regions.is_program(object.loc.region)
            || oracle.is_owned(object.loc.region)
            || base(oracle, object).is_some_and(|base| oracle.is_call_result(base))
            || is_made_by_callee(oracle, object);
        let (expected, Some(dead)) = (machine.expected(), dead) else {
            return known_on_entry(object, oracle, asserted);
        };
        if !watched || own {
            return known_on_entry(object, oracle, asserted);
        }
        let gone = *self.dead.entry(object).or_insert_with(|| {
            let origin = Origin::State {
                object,
                state: dead,
            };
            let arena = &mut **oracle;
            let term = arena.origins.fresh(&mut arena.formula.terms, 1, origin);
            arena.formula.guard_of(term)
        });
        asserted.extend(oracle.formula.guards.support(gone));
        let usual = oracle.formula.guards.not(gone);
        vec![(expected, usual), (dead, gone)]
    }

    /// Whether two objects are one.
    fn alias(&mut self, one: Object, other: Object, oracle: &mut Oracle<'_>) -> Guard {
        if one == other {
            return Guard::TRUE;
        }
        let mut made = |object: Object| {
            oracle.is_owned(object.loc.region) || is_made_by_callee(oracle, object)
        };
        let made = made(one) || made(other);
        let (Some(left), Some(right)) = (base(oracle, one), base(oracle, other)) else {
            return Guard::FALSE;
        };
        let alike = oracle.formula.terms.width(left) == oracle.formula.terms.width(right)
            && one.loc.offset == other.loc.offset
            && one.loc.symbolic == other.loc.symbolic;
        // What has just been allocated is nothing else.
        if !alike || made {
            return Guard::FALSE;
        }
        let known = self
            .equal
            .iter()
            .find(|(a, b, _)| (*a, *b) == (one, other) || (*a, *b) == (other, one));
        if let Some((_, _, guard)) = known {
            return *guard;
        }
        let equal = oracle.formula.terms.eq(left, right);
        let guard = oracle.formula.guard_of(equal);
        self.equal.push((one, other, guard));
        guard
    }

    /// Objects that are one were in one state on entry.
    fn congruent(&self, oracle: &mut Oracle<'_>) -> Guard {
        let mut all = Guard::TRUE;
        for &(one, other, equal) in &self.equal {
            let (Some(&left), Some(&right)) = (self.dead.get(&one), self.dead.get(&other)) else {
                continue;
            };
            let guards = &mut oracle.formula.guards;
            let differ = guards.not(right);
            let differ = guards.ite(left, differ, right);
            let wrong = guards.and(equal, differ);
            all = guards.and_not(all, wrong);
        }
        all
    }
}

/// Adds paths on which an object is in a state.
fn add(guards: &mut Guards, states: &mut Tracked, state: StateId, paths: Guard) {
    match states.iter_mut().find(|entry| entry.0 == state) {
        Some(entry) => entry.1 = guards.or(entry.1, paths),
        None => states.push((state, paths)),
    }
}

/// Whether a callee has made an object of the environment, and perhaps ended it: it was in its first state before there was one.
fn is_made_by_callee(oracle: &mut Oracle<'_>, object: Object) -> bool {
    let machine = oracle.machine_of(object);
    let made = (Status::At(machine.initial), Guard::TRUE);
    machine.expected() != machine.initial && oracle.entry_state(object).set[..] == [made]
}

/// The state on entry as the execution has it.
fn known_on_entry(object: Object, oracle: &mut Oracle<'_>, asserted: &mut Vec<Cond>) -> Tracked {
    let tracked = oracle.entry_state(object);
    let states = tracked
        .set
        .iter()
        .filter_map(|&(status, guard)| match status {
            Status::At(state) => Some((state, guard)),
            Status::Error(_) => None,
        });
    let states: Tracked = states.collect();
    for (_, guard) in &states {
        asserted.extend(oracle.formula.guards.support(*guard));
    }
    states
}

/// The unknown pointer that leads to an object, or the number that names it.
fn base(oracle: &Oracle<'_>, object: Object) -> Option<Term> {
    oracle.regions.base(object.loc.region)
}

/// Where the rows of one call lead. What may fail counts, even if the callee may leave the object alone, too; then what the execution has taken, the
/// rows that move it first, each on its own paths if there are several; and from states in which it did not come to the call, what the
/// summary says.
fn moves(rows: &[OpEvent]) -> Vec<Move> {
    let mut moves: Vec<Move> = Vec::new();
    let add = |moves: &mut Vec<Move>, from: StateId, to: Option<StateId>| {
        if !moves.iter().any(|known| known.from == from) {
            let on = Guard::TRUE;
            moves.push(Move { from, to, on });
        }
    };
    let is_failure = |target: &Target| matches!(target, Target::Error(Some(_)));
    for row in rows {
        let failures = row.from_states.iter();
        let failures = failures.filter(|(_, target)| is_failure(target));
        failures.for_each(|(from, _)| add(&mut moves, *from, None));
    }
    let failing = moves.len();
    let taken = rows.iter().filter_map(|row| match (row.from, row.to) {
        (Status::At(from), Some(Status::At(to))) => Some((from, Some(to), row.guard)),
        (Status::At(from), None) if row.rule.is_some() => Some((from, None, row.guard)),
        (Status::At(from), None) => Some((from, Some(from), row.guard)),
        _ => None,
    });
    let taken: Vec<_> = taken.collect();
    let (moved, left): (Vec<_>, Vec<_>) =
        taken.iter().partition(|(from, to, _)| *to != Some(*from));
    for &(from, to, on) in moved.into_iter().chain(left) {
        if moves[..failing].iter().any(|known| known.from == from) {
            continue;
        }
        // Where all rows lead to one state, it does not matter which of them is taken.
        let alike = taken.iter().all(|other| other.0 != from || other.1 == to);
        let on = if alike { Guard::TRUE } else { on };
        moves.push(Move { from, to, on });
    }
    for (from, target) in rows.iter().flat_map(|row| row.from_states.iter()) {
        match target {
            Target::State(to) => add(&mut moves, *from, Some(*to)),
            // What is recorded, and not reported, is no failure.
            Target::Error(_) => add(&mut moves, *from, Some(*from)),
        }
    }
    moves
}
