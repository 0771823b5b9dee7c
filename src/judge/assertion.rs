//! An assertion that the user has written fails.
//!
//! In: the assertions of the log, with the paths on which they do not hold. Out: one failure for each place. An assertion says that the runs on
//! which it does not hold do not exist; it is certain to fail only where no run that reaches it is left.

use super::findings::{Failing, Findings, Place};
use crate::finding::ExplanationKind;
use crate::sat::oracle::Oracle;
use crate::summary::trace;
use crate::symbolic::execution::Execution;
use crate::symbolic::guard::Guard;
use crate::symbolic::log::{Asserted, AssertionEvent};

/// Assertions of one function that are looked at.
const MAX_FAILURES: usize = 32;

impl Findings<'_> {
    /// Assertions that can fail.
    pub fn failing_assertions(&mut self, execution: &Execution, oracle: &mut Oracle<'_>) {
        let Some(rules) = self.property().assertions() else {
            return;
        };
        let events = execution.log.user_assertions.iter().enumerate();
        let plain = events.filter(|(_, event)| event.kind == Asserted::Plain);
        for (index, event) in plain.take(MAX_FAILURES) {
            let guards = &mut oracle.formula.guards;
            let paths = execution.with_known_effects(guards, event.guard);
            let (Some(model), Some(site)) = (oracle.model(paths), event.stack.first()) else {
                continue;
            };
            let before = (event.order, event.branches);
            let mut steps = trace::decisions(execution, oracle, &model, paths, before);
            let holds = oracle.formula.guards.and_not(event.reached, event.guard);
            let may_hold = oracle.possible(holds);
            let text = event.text.as_deref().unwrap_or("assertion");
            steps.extend(trace::asserted(event, text));
            if let Some(mut finding) = self.finding(&rules.rule, Place::of(site), text, "", steps) {
                // Who asserts says that there are no other runs.
                if may_hold {
                    finding.explain_by(ExplanationKind::Asserted);
                }
                if perhaps_changed(execution, oracle, event, paths) {
                    finding.explain_by(ExplanationKind::ChangedByCallee);
                }
                self.keep_value(finding, Failing::Assertion(index));
            }
        }
    }
}

/// Whether on all these paths a callee may have changed what the assertion asks for, where that was known not to hold.
fn perhaps_changed(
    execution: &Execution,
    oracle: &mut Oracle<'_>,
    event: &AssertionEvent,
    paths: Guard,
) -> bool {
    let mut literals = oracle.formula.guards.implied_literals(paths);
    literals.retain(|(condition, _)| event.asked.contains(condition));
    literals.into_iter().any(|(condition, holds)| {
        let known = oracle.formula.guards.literal(condition, holds);
        let values = oracle.formula.unknowns(&[known]);
        values.iter().any(|&value| {
            let place = oracle.place_of(value);
            place.is_some_and(|place| {
                execution.perhaps_written(oracle, (place, Some(known)), event.before, paths)
            })
        })
    })
}
