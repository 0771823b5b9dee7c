//! An operation fails in a state that the function itself has put the object into (type A of paper §5.5).
//!
//! In: the operations of the log. Out: one failure for each lock; of a block or a file the first on each way, up to [`MAX_FAILURES`].
//!
//! It is wrong whatever the caller does if for the same inputs there is an error from every entry state. (The paper asks for
//! errors from every entry state alone. Its own `complex_wrapper` has one from each, on different inputs.)

use rustc_hash::FxHashMap;

use super::by_argument;
use super::explanation::{self, Failure, Left, What};
use super::findings::{About, Findings, Place, entered_as_usual, possible_unchanged};
use crate::finding::{ExplanationKind as Kind, Finding};
use crate::property::Key;
use crate::sat::oracle::Oracle;
use crate::summary::trace;
use crate::symbolic::arena::Arena;
use crate::symbolic::execution::Execution;
use crate::symbolic::guard::Guard;
use crate::symbolic::log::OpEvent;
use crate::symbolic::model::Model;
use crate::symbolic::naming::is_clear;
use crate::symbolic::state::{Object, State, Status};

/// Failures of one block or file that are told of one function.
const MAX_FAILURES: usize = 4;

impl Findings<'_> {
    /// Operations that are wrong whatever the caller does.
    pub fn failing_operations(&mut self, execution: &Execution, oracle: &mut Oracle<'_>) {
        let exit = execution.exit.as_ref();
        // The paths of the failures that are told already, by object.
        let mut told: FxHashMap<Object, Vec<Guard>> = FxHashMap::default();
        for index in 0..execution.log.ops.len() {
            let event = &execution.log.ops[index];
            let (Some(rule), object) = (event.rule.clone(), event.object) else {
                continue;
            };
            if event.touched == Guard::FALSE {
                continue;
            }
            let before = told.get(&object).map_or(&[][..], |before| before);
            // What a filter excuses may fail behind it on another way that nothing excuses.
            let most = if oracle.watches { MAX_FAILURES } else { 1 };
            if before.len() >= most {
                continue;
            }
            let before = oracle.formula.guards.union(before.iter().copied());
            let counts = oracle.machine_of(object).counts;
            if counts
                && (taken_in_rounds(execution, oracle, index)
                    || exit.is_some_and(|exit| keeps(oracle, exit, object)))
            {
                continue;
            }
            let all = from_every_entry(execution, oracle, index);
            let all = oracle.formula.guards.and_not(all, before);
            let what = What::Operation(index);
            let failure = Failure { object, what, exit };
            let left = explanation::uncovered(execution, oracle, &failure, all);
            let (paths, rests_on) =
                by_argument::without(execution, oracle, object, left.paths, index);
            let usual = entered_as_usual(oracle, object, paths);
            let model = oracle.model(usual);
            let Some(model) = model.or_else(|| oracle.model(paths)) else {
                self.cover(rule, (object, index), all, left.covered_by);
                continue;
            };
            if !possible_unchanged(execution, oracle, paths) {
                self.cover(rule, (object, index), all, vec![Kind::ChangedByCallee]);
                continue;
            }
            self.fail(object);
            told.entry(object).or_default().push(all);
            let left = Left {
                object,
                what,
                paths,
                other: None,
            };
            let readings = explanation::readings(execution, oracle, &left, self.body);
            let about = About {
                rests_on,
                operation: Some(index),
                ..About::of(object)
            };
            let finding = self.failing_operation(execution, oracle, &rule, index, (&model, paths));
            self.keep(finding, about, &readings);
        }
    }

    /// The finding for a failing operation of the log, with one way there.
    pub(super) fn failing_operation(
        &self,
        execution: &Execution,
        arena: &mut Arena<'_>,
        rule: &str,
        index: usize,
        (model, paths): (&Model, Guard),
    ) -> Option<Finding> {
        let event = &execution.log.ops[index];
        let object = event.object;
        // A variable that leads to a record names none of the locks in it.
        let variable = match arena.machine_of(object).key {
            Key::Location => None,
            Key::Region | Key::Value => {
                let guards = &mut arena.formula.guards;
                explanation::variable::of(execution, guards, (index, paths), self.body)
            }
        };
        let name = match variable {
            Some(variable) => Some(variable.to_owned()),
            None if is_clear(&event.name) => None,
            None => called_alike(execution, index),
        };
        let name = name.unwrap_or_else(|| event.name.clone());
        let state = match event.from {
            Status::At(state) => arena.machine_of(object).state_text(state).to_string(),
            Status::Error(_) => String::new(),
        };
        let place = Place::of(event.stack.first()?);
        let mut trace = trace::path(execution, arena, model, object, paths, Some(index));
        if name != event.name {
            for step in &mut trace {
                step.message = step.message.replace(&event.name, &name);
            }
        }
        self.finding(rule, place, &name, &state, trace)
    }
}

/// What the function's own source calls the object of a failing operation, if another operation of its own that has moved the
/// object calls it alike: that it is one object is then not for the analysis alone to say.
fn called_alike(execution: &Execution, index: usize) -> Option<String> {
    let (before, rest) = execution.log.ops.split_at(index);
    let failing = rest.first()?;
    let name = named_in_call(failing)?;
    let mut others = before.iter().filter(|event| event.object == failing.object);
    others
        .any(|event| event.moves() && named_in_call(event) == Some(name))
        .then(|| name.to_owned())
}

/// The object of an operation as the call's first argument has it, if the call stands in the function itself: `active->lock` in
/// `unlock(&active->lock)`.
fn named_in_call(event: &OpEvent) -> Option<&str> {
    if !event.primitive || event.stack.len() != 1 {
        return None;
    }
    let (_, arguments) = event.text.split_once('(')?;
    let first = arguments.split([',', ')']).next()?.trim();
    let name = first.strip_prefix('&')?;
    let of_lvalue = |symbol: char| symbol.is_alphanumeric() || "_->.".contains(symbol);
    name.chars().all(of_lvalue).then_some(name)
}

/// The paths to a failing operation on which the function fails from every other entry state, too; or
/// which begin in the machine's initial state, from which the function itself has moved the object. (A
/// reader that releases twice only fails if its caller was no reader, but no caller means that.)
fn from_every_entry(execution: &Execution, arena: &mut Arena<'_>, event: usize) -> Guard {
    let failing = &execution.log.ops[event];
    let (object, mut errors, touched) = (failing.object, failing.errors, failing.touched);
    let initial = Status::At(arena.machine_of(object).initial);
    let mut moved = Guard::FALSE;
    for index in 0..event {
        let earlier = &execution.log.ops[index];
        if earlier.object != object {
            continue;
        }
        let (paths, moves) = (earlier.guard, earlier.moves());
        let left_alone = earlier.to.is_none() && earlier.rule.is_none() && {
            let same_call =
                |other: &&OpEvent| other.object == object && other.stack == earlier.stack;
            let mut others = execution.log.ops.iter().filter(same_call);
            earlier.source.is_some() && !others.any(OpEvent::moves)
        };
        let guards = &mut arena.formula.guards;
        if moves {
            moved = guards.or(moved, paths);
        }
        // A callee has tried for it, to see that it is held.
        if left_alone {
            errors = guards.and_not(errors, paths);
        }
    }
    let entries = arena.entry_state(object);
    let from_initial = arena.formula.guards.and(moved, entries.guard_of(initial));
    let mut everywhere = Guard::TRUE;
    for (_, entry) in entries.set {
        let literals = arena.formula.guards.implied_literals(entry);
        let from_here = arena.formula.guards.restrict(errors, &literals);
        everywhere = arena.formula.guards.and(everywhere, from_here);
    }
    let wrong = arena.formula.guards.or(everywhere, from_initial);
    arena.formula.guards.and(touched, wrong)
}

/// Whether an operation takes what the same statement has taken before: a semaphore that is lowered in a loop counts.
fn taken_in_rounds(execution: &Execution, arena: &mut Arena<'_>, event: usize) -> bool {
    let log = &execution.log;
    let formula = &mut arena.formula;
    let failing = &log.ops[event];
    let mut before = log.ops[..event].iter();
    before.any(|other| {
        let same = other.object == failing.object && other.stack == failing.stack;
        same && other.moves() && !formula.guards.excludes(other.guard, failing.touched)
    })
}

/// Whether the function may return with an object held that was not on entry. A semaphore that it keeps
/// counts something, and is no lock.
fn keeps(arena: &mut Arena<'_>, exit: &State, object: Object) -> bool {
    let initial = Status::At(arena.machine_of(object).initial);
    let Some(tracked) = exit.objects.get(&object) else {
        return false;
    };
    let entered = arena.entry_state(object).guard_of(initial);
    let entered = arena.formula.guards.and(entered, exit.guard);
    tracked.set.iter().any(|&(status, held)| {
        let held_on = matches!(status, Status::At(_)) && status != initial;
        held_on && !arena.formula.guards.excludes(entered, held)
    })
}
