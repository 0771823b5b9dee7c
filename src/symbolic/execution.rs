//! A finished symbolic execution of one function (paper §2): what happened, and the state at its end.
//!
//! Made by [`super::exec::execute`]; nothing changes it afterwards. The terms, guards and locations that it speaks of are those of the
//! [`Arena`] that comes with it.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use indexmap::IndexSet;
use rustc_hash::{FxBuildHasher, FxHashMap};

use super::arena::Arena;
use super::callee::Answers;
use super::callee_writes::CalleeWrites;
use super::class::Class;
use super::formula::Formula;
use super::guard::{Guard, Guards};
use super::log::Log;
use super::model::{Evaluator, Model};
use super::state::{MachineId, Object, State};
use super::term::Term;
use crate::ir::{Counted, SymbolName};

#[derive(Default)]
pub struct Execution {
    pub log: Log,
    /// The state at the exit; none if control does not come back.
    pub exit: Option<State>,
    /// The scalar that the function returns.
    pub result: Option<Term>,
    /// The paths that take a row of a callee's summary of which it is not known whether it is feasible.
    pub unknown_effect: AnyOf,
    /// The paths on which it is not known how a callee, or one of its callees, has left an object.
    pub open: PathsOf,
    /// The paths on which an object was operated on by one of several possible callees, so that callers cannot rely
    /// on it.
    pub chosen: PathsOf,
    /// Classes of objects that callees have moved and that have no name here: the number of calls down to that, and
    /// the paths.
    pub unnamed: BTreeMap<(Class, MachineId), (u8, Guard)>,
    /// A callee moves objects that it has no name for, or functions that it calls do.
    pub more: bool,
    /// A callee takes pointers from a list of variable arguments, which may be found elsewhere then.
    pub keeps_listed: bool,
    /// A callee may have written more than its summary tells.
    pub writes_more: bool,
    /// What callees may have changed of what functions answer that repeat themselves ([`super::callee::Effects::repeats`]).
    pub changes_answers: Answers,
    /// What callees may have changed.
    pub(super) writes: CalleeWrites,
    /// The functions called that move some object.
    pub called: BTreeSet<SymbolName>,
    /// Those passed to functions of which nothing is known.
    pub handed_out: BTreeSet<SymbolName>,
    /// Paths were cut off at a loop's unrolling limit.
    pub cut: bool,
    /// Some loop was executed more than once: with fewer rounds the execution would be another.
    pub repeated: bool,
    /// What kind of result hangs on how often loops run, if one of them was cut off.
    pub counted: Option<Counted>,
    /// The budget that ran out, with which execution ended.
    pub exhausted: Option<String>,
    /// It was the time limit.
    pub out_of_time: bool,
    pub blocks: u64,
}

/// The paths of any of several guards. They are united when they are first asked for: a diagram of all calls of a large function together
/// costs more than all else, and a run tells as much of most paths ([`AnyOf::taken`]).
#[derive(Default)]
pub struct AnyOf {
    parts: IndexSet<Guard, FxBuildHasher>,
    union: OnceCell<Guard>,
}

impl AnyOf {
    pub fn add(&mut self, paths: Guard) {
        if paths != Guard::FALSE && self.parts.insert(paths) {
            self.union.take();
        }
    }

    pub fn paths(&self, guards: &mut Guards) -> Guard {
        let parts = self.parts.iter().copied();
        *self.union.get_or_init(|| guards.union(parts))
    }

    /// A guard whose paths a run takes, if it takes those of any.
    pub fn taken(&self, formula: &Formula, run: &Rc<Model>) -> Option<Guard> {
        let mut evaluator = Evaluator::new(Rc::clone(run));
        let mut parts = self.parts.iter().copied();
        parts.find(|&part| evaluator.eval_guard(formula, part))
    }
}

/// Paths, by the object that they are about.
#[derive(Default)]
pub struct PathsOf(FxHashMap<Object, Guard>);

impl PathsOf {
    pub fn of(&self, object: Object) -> Guard {
        self.0.get(&object).copied().unwrap_or_default()
    }

    pub fn add(&mut self, guards: &mut Guards, object: Object, paths: Guard) {
        let known = self.0.entry(object).or_default();
        *known = guards.or(*known, paths);
    }
}

impl Execution {
    /// The paths on which, among the operations before `until`, a callee left the object held, perhaps by mistake
    /// ([`crate::symbolic::log::OpEvent::contested`]).
    pub fn contested(&self, arena: &mut Arena<'_>, object: Object, until: usize) -> Guard {
        let events = self.log.ops.iter().take(until);
        let events = events.filter(|event| event.object == object && event.contested);
        events.fold(Guard::FALSE, |paths, event| {
            arena.formula.guards.or(paths, event.guard)
        })
    }

    /// A guard's paths on which all effects of callees on an object are known.
    pub fn with_known_effect(&self, arena: &mut Arena<'_>, object: Object, guard: Guard) -> Guard {
        let open = self.open.of(object);
        let known = arena.formula.guards.and_not(guard, open);
        self.with_known_effects(&mut arena.formula.guards, known)
    }

    /// A guard's paths on which no row of a callee's summary is taken of which it is not known whether it is feasible.
    pub fn with_known_effects(&self, guards: &mut Guards, guard: Guard) -> Guard {
        if guard == Guard::FALSE {
            return guard;
        }
        let unknown = self.unknown_effect.paths(guards);
        guards.and_not(guard, unknown)
    }

    /// Whether on some of these paths a callee has moved an object that it has no name for, and that may be this one.
    pub fn perhaps_moved_unnamed(
        &self,
        arena: &mut Arena<'_>,
        object: Object,
        paths: Guard,
    ) -> bool {
        let key = (arena.class_or_any(object), object.machine);
        let moved = self.unnamed.get(&key);
        moved.is_some_and(|&(_, moved)| !arena.formula.guards.excludes(paths, moved))
    }

    /// Whether on some paths, but not on others, a callee has moved some object of a machine that it has no name for.
    pub fn moves_another_unnamed(
        &self,
        arena: &mut Arena<'_>,
        machine: MachineId,
        paths: Guard,
        but: Guard,
    ) -> bool {
        let guards = &mut arena.formula.guards;
        let mut of_machine = self
            .unnamed
            .iter()
            .filter(|((_, other), _)| *other == machine);
        of_machine
            .any(|(_, &(_, moved))| !guards.excludes(paths, moved) && guards.excludes(but, moved))
    }

    /// Whether it calls no function but those that move some object.
    pub fn calls_nothing_else(&self) -> bool {
        let mut calls = self.log.calls.iter();
        self.log.unknown_calls.is_empty() && calls.all(|call| self.called.contains(&*call.callee))
    }

    /// Notes that a callee has moved objects that it has no name for.
    pub(crate) fn moved_unnamed(
        &mut self,
        guards: &mut Guards,
        (class, machine): (&Class, MachineId),
        calls: u8,
        paths: Guard,
    ) {
        let known = self.unnamed.entry((class.clone(), machine));
        let (least, known) = known.or_insert((calls, Guard::FALSE));
        *least = calls.min(*least);
        *known = guards.or(*known, paths);
    }
}
