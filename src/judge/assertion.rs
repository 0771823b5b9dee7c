//! An assertion that the user has written fails.
//!
//! In: the assertions of the log, with the paths on which they do not hold. Out: one failure for each place. An assertion says that the runs on
//! which it does not hold do not exist; it is certain to fail only where no run that reaches it is left.

use super::findings::{Failing, Findings, Place};
use crate::finding::ExplanationKind;
use crate::sat::oracle::Oracle;
use crate::summary::trace;
use crate::symbolic::execution::Execution;
use crate::symbolic::log::Asserted;

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
                self.keep_value(finding, Failing::Assertion(index));
            }
        }
    }
}
