//! A call may sleep while the function holds what forbids it.
//!
//! In: the sleeping calls of the log. Out: one failure for each object.

use std::collections::BTreeSet;

use super::by_argument;
use super::explanation::{self, Failure, Left, What, callee};
use super::findings::{About, Findings, Place, entered_as_usual, possible_unchanged};
use crate::finding::{ExplanationKind as Kind, Finding};
use crate::property::Event;
use crate::summary::infer::Feasible;
use crate::summary::trace;
use crate::symbolic::exec::Executor;
use crate::symbolic::guard::Guard;
use crate::symbolic::model::Model;
use crate::symbolic::state::{Object, Status};

impl Findings<'_> {
    /// Calls that may sleep while the function holds what forbids it. One for each object.
    pub fn sleeps_in_atomic(&mut self, exec: &mut Executor<'_>, queries: &mut dyn Feasible) {
        let mut reported = BTreeSet::new();
        for index in 0..exec.log.sleeps.len() {
            for (object, status, all) in exec.log.sleeps[index].held.clone() {
                let Status::At(state) = status else { continue };
                let rule = exec.machine_of(object).rule_in(Event::Sleep, state);
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
                let left = explanation::uncovered(exec, &failure, all);
                let order = exec.log.sleeps[index].order;
                let (paths, rests_on) =
                    by_argument::without(exec, object, left.paths, order, queries);
                let usual = entered_as_usual(exec, object, paths);
                let Some(model) = queries.model(exec, usual) else {
                    continue;
                };
                let covered = match () {
                    () if !possible_unchanged(exec, usual, queries) => Some(Kind::ChangedByCallee),
                    () if callee::kept_by_callee_at_times(exec, object, order) => {
                        Some(Kind::KeptAtTimes)
                    }
                    () if callee::one_kind_or_the_other(exec, object, &exec.log.sleeps[index]) => {
                        Some(Kind::OneKind)
                    }
                    () => None,
                };
                let finding = self.sleeping(exec, &rule, (index, object, status), (&model, paths));
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
                let readings = explanation::readings(exec, &left, self.body, queries);
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
        exec: &mut Executor<'_>,
        rule: &str,
        (index, object, status): (usize, Object, Status),
        (model, paths): (&Model, Guard),
    ) -> Option<Finding> {
        let Status::At(state) = status else {
            return None;
        };
        let name = exec.name_of(object.loc);
        let state = exec.machine_of(object).state_text(state).to_string();
        let event = &exec.log.sleeps[index];
        let place = Place::of(event.stack.first()?);
        let until = (event.order, event.branches);
        let mut trace = trace::path_until(exec, model, object, paths, until);
        trace.extend(trace::sleeping(&exec.log.sleeps[index]));
        self.finding(rule, place, &name, &state, trace)
    }
}
