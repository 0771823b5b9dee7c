//! An assertion that the user has written fails.
//!
//! In: the assertions of the log, with the paths on which they do not hold. Out: one failure for each place. Whether it is worth telling is
//! for the filters to say: most assertions hold if only callers do what they should.

use super::findings::{Failing, Findings, Place};
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
            let paths = oracle
                .formula
                .guards
                .and_not(event.guard, execution.unknown_effect);
            let (Some(model), Some(site)) = (oracle.model(paths), event.stack.first()) else {
                continue;
            };
            let before = (event.order, event.branches);
            let mut steps = trace::decisions(execution, oracle, &model, paths, before);
            let text = event.text.as_deref().unwrap_or("assertion");
            steps.extend(trace::asserted(event, text));
            if let Some(finding) = self.finding(&rules.rule, Place::of(site), text, "", steps) {
                self.keep_value(finding, Failing::Assertion(index));
            }
        }
    }
}
