//! Calls that state what must be held, where it is not.
//!
//! In: the assertions in a finished execution's log; what all functions say of each. Out: findings. A function that itself has
//! given the object back before, or takes it only afterwards, is wrong by itself. One that has no part in it leaves it to its callers
//! ([`crate::summary::assertion`]); where there are none it is wrong if others meet the same assertion.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::finding::{ExplanationKind as Kind, Finding, TraceStep};
use crate::judge::explanation::{self, Failure, Left, What};
use crate::judge::findings::{About, Findings, Place, possible_unchanged};
use crate::sat::oracle::Oracle;
use crate::summary::assertion;
use crate::summary::infer::Exit;
use crate::summary::trace;
use crate::symbolic::arena::Arena;
use crate::symbolic::execution::Execution;
use crate::symbolic::guard::{Guard, Guards};
use crate::symbolic::log::{AssertEvent, CallEvent, TakeEvent};
use crate::symbolic::region::Loc;
use crate::symbolic::state::{Object, Status};

/// Where an assertion stands: file, line and column.
pub type Statement = (String, u32, u32);

/// What a function does with the assertions of those that it calls.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Assertions {
    /// It holds the object where it calls.
    pub met: BTreeSet<Statement>,
    /// It leaves that to its callers: what is wrong if there are none.
    pub left: Vec<(Statement, Finding)>,
}

impl AssertEvent {
    /// The function that the call is of, be it inlined or not.
    fn called(&self) -> &str {
        let inside = self.stack.get(1);
        inside.map_or(&self.callee.name, |site| &site.function)
    }

    /// Whether it is the function's own, though a helper may make it.
    fn is_own(&self) -> bool {
        let inlined = self.stack.iter().skip(1).map(|site| &*site.function);
        let inside = self.inside.iter().map(|step| step.function.as_str());
        let mut within = inlined.chain(inside);
        within.all(|function| function.to_lowercase().contains("assert"))
    }

    /// The way down to the assertion.
    fn way(&self) -> Vec<TraceStep> {
        trace::asserting(self)
    }
}

fn statement(way: &[TraceStep]) -> Option<Statement> {
    let step = way.last()?;
    Some((step.file.clone(), step.line, step.column))
}

impl Findings<'_> {
    /// Calls that are wrong whatever the function's callers do. One for each object.
    pub fn calls_without(&mut self, execution: &Execution, oracle: &mut Oracle<'_>) {
        let exit = execution.exit.as_ref();
        for index in 0..execution.log.assertions.len() {
            let event = execution.log.assertions[index].clone();
            for object in assertion::objects_at(execution, oracle, &event) {
                if self.has_failed(object) {
                    continue;
                }
                let paths = unheld(execution, oracle, &event, object);
                let paths = oracle.formula.guards.and_not(paths, event.held_otherwise);
                let what = What::Needed;
                let failure = Failure { object, what, exit };
                let paths = explanation::uncovered(execution, oracle, &failure, paths).paths;
                let Some(model) = oracle.model(paths) else {
                    continue;
                };
                let Some(place) = event.stack.first().map(Place::of) else {
                    continue;
                };
                let mut trace = trace::path_until(
                    execution,
                    oracle,
                    &model,
                    object,
                    paths,
                    (event.order, event.branches),
                );
                trace.extend(event.way());
                let finding =
                    self.call_finding(&event.rule, place, (&event.name, event.called()), trace);
                if !possible_unchanged(execution, oracle, paths) {
                    self.explained(finding, &[Kind::ChangedByCallee]);
                    continue;
                }
                let left = Left {
                    object,
                    what,
                    paths,
                    other: None,
                };
                let readings = explanation::readings(execution, oracle, &left, self.body);
                self.keep(finding, About::of(object), &readings);
                self.fail(object);
            }
        }
    }

    /// What the function does with assertions that are not its own.
    pub fn assertions(
        &self,
        execution: &Execution,
        oracle: &mut Oracle<'_>,
        exit: &Exit<'_>,
    ) -> Assertions {
        let mut assertions = Assertions::default();
        let own: BTreeSet<Loc> = execution
            .log
            .assertions
            .iter()
            .filter(|event| event.is_own())
            .map(|event| event.loc)
            .collect();
        for index in 0..execution.log.assertions.len() {
            let event = execution.log.assertions[index].clone();
            let way = event.way();
            let (Some(stated), Some(site)) = (statement(&way), event.stack.first()) else {
                continue;
            };
            // It says itself that its callers hold it.
            if own.contains(&event.loc) {
                continue;
            }
            if oracle.model(event.held).is_some() {
                assertions.met.insert(stated);
                continue;
            }
            let paths = assertion::for_callers(execution, oracle, &event);
            let paths = oracle.formula.guards.and(paths, exit.state.guard);
            let known = assertions.left.iter().any(|(known, _)| *known == stated);
            if known || oracle.model(paths).is_none() {
                continue;
            }
            let place = Place::of(site);
            let finding = self.call_finding(&event.rule, place, (&event.name, event.called()), way);
            assertions
                .left
                .extend(finding.map(|finding| (stated, finding)));
        }
        assertions
    }
}

/// The paths on which an object is in its initial state at an assertion, and the function itself has put it there, or has it taken
/// at some time, if only within a callee: no caller holds it for that.
fn unheld(
    execution: &Execution,
    arena: &mut Arena<'_>,
    event: &AssertEvent,
    object: Object,
) -> Guard {
    let guards = &mut arena.formula.guards;
    let mut put = Guard::FALSE;
    for op in execution.log.ops[..event.order].iter() {
        if op.object == object && op.moves() {
            put = guards.or(put, op.guard);
        }
    }
    let initial = Status::At(arena.machine_of(object).initial);
    let entered = arena.entry_state(object).guard_of(initial);
    let mut own = put;
    // A function that says itself that its callers hold the object takes it again after it has given it up.
    if !event.is_own() {
        let guards = &mut arena.formula.guards;
        for take in &execution.log.takes {
            if take.object == object && always_takes(guards, &execution.log.calls, take, entered) {
                let taken = guards.and(take.guard, entered);
                own = guards.or(own, taken);
            }
        }
    }
    let mut known = event.unheld.iter().filter(|(other, _)| *other == object);
    let free = known.next().map_or(entered, |&(_, free)| free);
    let unheld = arena.formula.guards.and(event.guard, free);
    let unheld = arena.formula.guards.and_not(unheld, event.held);
    arena.formula.guards.and(unheld, own)
}

/// Whether the function itself takes the object, or a callee that takes it however it is called: one that takes it as an argument
/// says (`IO_URING_F_UNLOCKED`) knows more of who holds it.
fn always_takes(
    guards: &mut Guards,
    calls: &[CallEvent],
    take: &TakeEvent,
    entered: Guard,
) -> bool {
    let mut calls = calls.iter();
    let called = calls.find(|call| call.call == take.call);
    called.is_none_or(|call| {
        let without = guards.and(call.guard, entered);
        guards.and_not(without, take.guard) == Guard::FALSE
    })
}
