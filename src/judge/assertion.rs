//! An assertion that the user has written fails.
//!
//! In: the assertions of the log, with the paths on which they do not hold. Out: one failure for each place. Whether it is worth telling is
//! for the filters to say: most assertions hold if only callers do what they should.

use super::findings::{Failing, Findings, Place};
use crate::finding::TraceStep;
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
            for (depth, site) in (0..).zip(&event.stack) {
                steps.push(TraceStep {
                    file: site.file.to_string(),
                    line: site.line,
                    column: site.column,
                    function: site.function.to_string(),
                    depth,
                    message: match depth + 1 == event.stack.len() as u32 {
                        true => format!("`{text}` does not hold here"),
                        false => "is called here".to_owned(),
                    },
                });
            }
            if let Some(finding) = self.finding(&rules.rule, Place::of(site), text, "", steps) {
                self.keep_value(finding, Failing::Assertion(index));
            }
        }
    }
}
