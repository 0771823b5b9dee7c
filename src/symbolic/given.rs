//! Objects that functions of which nothing is known get: what those may do with them.
//!
//! In: the log of an execution, an object. Out: the paths on which such a function may give back what is held.

use super::arena::Arena;
use super::execution::Execution;
use super::guard::{Guard, Guards};
use super::log::UnknownCall;
use super::state::{Object, Status};
use crate::property::{Machine, Names};

impl Execution {
    /// The paths on which a function of which nothing is known gets the very object while it is held, before an operation or, if
    /// `failing` is none, before the function's end: there is little else than giving it back that can be done with it
    /// (`cleanup_mutex(&lock)`). Not if the function itself gives the object back after such a call, nor if the callee's name says
    /// that it takes what it gets, or leaves it alone.
    pub fn given_to_unknown(
        &self,
        arena: &mut Arena<'_>,
        object: Object,
        failing: Option<usize>,
    ) -> Guard {
        let machine = arena.machine_of(object);
        // With a block there is much else to do than to free it.
        if machine.watches_accesses() {
            return Guard::FALSE;
        }
        let initial = Status::At(machine.initial);
        let ops = &self.log.ops;
        let guards = &mut arena.formula.guards;
        let mut taken_before =
            |call: &UnknownCall| self.taken_before(guards, object, (initial, call));
        let calls = self.log.unknown_calls.iter();
        let calls = calls.filter(|call| {
            failing.is_none_or(|failing| call.order <= failing)
                && call.itself.contains(&object.loc)
                && taken_before(call)
        });
        let calls: Vec<&UnknownCall> = calls.collect();
        let mut kept_by = |call: &UnknownCall| {
            let mut later = ops[call.order..].iter();
            later.any(|event| {
                event.object == object
                    && event.gives_back(initial)
                    && !guards.excludes(event.guard, call.guard)
            })
        };
        let (alike, others): (Vec<&UnknownCall>, Vec<&UnknownCall>) =
            calls.into_iter().partition(|call| kept_by(call));
        let others = others.into_iter().filter(|call| {
            !alike.iter().any(|other| other.called() == call.called())
                && !call.takes_what_it_is_given(object, machine)
                && !Names::say(&machine.names.kept, &call.called().to_lowercase())
        });
        others.fold(Guard::FALSE, |all, call| guards.or(all, call.guard))
    }

    /// The paths on which such a function gets the very object, which the analysed one has not taken before, and says by its name that it takes it
    /// (`lock_or_die(&lock)`).
    pub fn perhaps_taken_by_unknown(&self, arena: &mut Arena<'_>, object: Object) -> Guard {
        let machine = arena.machine_of(object);
        if machine.watches_accesses() {
            return Guard::FALSE;
        }
        let initial = Status::At(machine.initial);
        let guards = &mut arena.formula.guards;
        let mut paths = Guard::FALSE;
        for call in &self.log.unknown_calls {
            if call.takes_what_it_is_given(object, machine)
                && !self.taken_before(guards, object, (initial, call))
            {
                paths = guards.or(paths, call.guard);
            }
        }
        paths
    }

    /// Whether the function takes an object before a call, on some way to it.
    fn taken_before(
        &self,
        guards: &mut Guards,
        object: Object,
        (initial, call): (Status, &UnknownCall),
    ) -> bool {
        self.log.ops[..call.order].iter().any(|event| {
            event.object == object
                && event.takes(initial)
                && !guards.excludes(event.guard, call.guard)
        })
    }
}

impl UnknownCall {
    /// Whether the function gets the very object, and its name, or that of the member through which it is called, says that it takes it.
    pub fn takes_what_it_is_given(&self, object: Object, machine: &Machine) -> bool {
        self.given.contains(&object.loc) && self.says_that_it_takes(machine)
    }

    /// Whether the name of the function, or that of the member through which it is called, says that it takes an object.
    pub fn says_that_it_takes(&self, machine: &Machine) -> bool {
        Names::say(&machine.names.held, self.called())
            && !Names::say(&machine.names.required, self.called())
    }
}
