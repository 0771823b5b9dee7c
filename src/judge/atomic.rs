//! A call may sleep while the function holds what forbids it.
//!
//! In: the sleeping calls of the log. Out: one failure for each object.

use std::collections::BTreeSet;

use super::by_argument;
use super::explanation::{self, Failure, Left, What, callee};
use super::findings::{About, Findings, Place, entered_as_usual, possible_unchanged};
use crate::finding::{ExplanationKind as Kind, Finding};
use crate::property::Event;
use crate::sat::oracle::Oracle;
use crate::summary::trace;
use crate::symbolic::arena::Arena;
use crate::symbolic::execution::Execution;
use crate::symbolic::guard::Guard;
use crate::symbolic::model::Model;
use crate::symbolic::state::{Object, Status};

impl Findings<'_> {
    /// Calls that may sleep while the function holds what forbids it. One for each object.
    pub fn sleeps_in_atomic(&mut self, execution: &Execution, oracle: &mut Oracle<'_>) {
        let mut reported = BTreeSet::new();
        for index in 0..execution.log.sleeps.len() {
            for (object, status, all) in execution.log.sleeps[index].held.clone() {
                let Status::At(state) = status else { continue };
                let rule = oracle.machine_of(object).rule_in(Event::Sleep, state);
                let Some(rule) = rule.map(str::to_owned) else {
                    continue;
                };
                if reported.contains(&object) || self.has_failed(object) {
                    continue;
                }
                let what = What::Asleep;
                let failure = Failure {
                    object,
                    what,
                    exit: None,
                };
                let left = explanation::uncovered(execution, oracle, &failure, all);
                let order = execution.log.sleeps[index].order;
                let (paths, rests_on) =
                    by_argument::without(execution, oracle, object, left.paths, order);
                let usual = entered_as_usual(oracle, object, paths);
                let Some(model) = oracle.model(usual) else {
                    continue;
                };
                let covered = match () {
                    () if !possible_unchanged(execution, oracle, usual) => {
                        Some(Kind::ChangedByCallee)
                    }
                    () if callee::kept_by_callee_at_times(execution, oracle, object, order) => {
                        Some(Kind::KeptAtTimes)
                    }
                    () if callee::one_kind_or_the_other(
                        execution,
                        object,
                        &execution.log.sleeps[index],
                    ) =>
                    {
                        Some(Kind::OneKind)
                    }
                    () => None,
                };
                let finding = self.sleeping(
                    execution,
                    oracle,
                    &rule,
                    (index, object, status),
                    (&model, paths),
                );
                if let Some(kind) = covered {
                    self.explained(finding, &[kind]);
                    continue;
                }
                reported.insert(object);
                let left = Left {
                    object,
                    what,
                    paths: usual,
                    other: None,
                };
                let readings = explanation::readings(execution, oracle, &left, self.body);
                let about = About {
                    rests_on,
                    ..About::of(object)
                };
                self.keep(finding, about, &readings);
            }
        }
    }

    fn sleeping(
        &self,
        execution: &Execution,
        arena: &mut Arena<'_>,
        rule: &str,
        (index, object, status): (usize, Object, Status),
        (model, paths): (&Model, Guard),
    ) -> Option<Finding> {
        let Status::At(state) = status else {
            return None;
        };
        let name = arena.name_of(object.loc);
        let state = arena.machine_of(object).state_text(state).to_string();
        let event = &execution.log.sleeps[index];
        let place = Place::of(event.stack.first()?);
        let until = (event.order, event.branches);
        let mut trace = trace::path_until(execution, arena, model, object, paths, until);
        trace.extend(trace::sleeping(&execution.log.sleeps[index]));
        self.finding(rule, place, &name, &state, trace)
    }
}
