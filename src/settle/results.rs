//! Results that a program often leaves untested.
//!
//! In: how often each function compares the results of its callees with null ([`crate::judge::results`]), and the findings about results
//! that are followed without a test. Out: those of the findings that tell nothing new. A result that is followed without a
//! test is a mistake where nearly all others are tested. Where hardly any is, it is how the program deals with a lack of memory. In
//! between, many findings have one cause, the function that returns null, and one of them tells of it.

use std::collections::BTreeMap;

use crate::finding::{ExplanationKind, Finding, Level};
use crate::judge::record::{Record, with_ids};
use crate::judge::results::Looked;

/// Untested results from which on they may be the program's way.
const MANY: u32 = 12;
/// Of so many results one is tested, or fewer: no untested one is a mistake.
const ONE_OF: u32 = 3;
/// Of so many results one is untested, or fewer: each untested one is a mistake.
const ALL_BUT_ONE_OF: u32 = 4;

/// What a program does with the results of one function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Habit {
    Tests,
    TestsSome,
    HardlyTests,
}

fn habit(looked: Looked) -> Habit {
    let all = looked.tested + looked.untested;
    if looked.untested < MANY || looked.untested * ALL_BUT_ONE_OF <= all {
        Habit::Tests
    } else if looked.tested * ONE_OF <= all {
        Habit::HardlyTests
    } else {
        Habit::TestsSome
    }
}

/// Explains findings about untested results by what the program does with other results of the same function. The first in the order of
/// the source that would be reported tells how many there are, if the program tests some.
pub fn explain(findings: Vec<&mut Finding>, records: &[Option<Record>]) {
    let mut looked: BTreeMap<&str, Looked> = BTreeMap::new();
    let mut callees: BTreeMap<(&str, u32), &str> = BTreeMap::new();
    for (_, record) in with_ids(records) {
        for (callee, here) in &record.facts.results.of {
            let sum = looked.entry(callee).or_default();
            sum.tested += here.tested;
            sum.untested += here.untested;
        }
        for (file, line, callee) in &record.facts.results.unchecked {
            callees.insert((file, *line), callee);
        }
    }
    let mut by_callee: BTreeMap<&str, Vec<&mut Finding>> = BTreeMap::new();
    for finding in findings {
        if let Some(callee) = callees.get(&(finding.file.as_str(), finding.line)) {
            by_callee.entry(callee).or_default().push(finding);
        }
    }
    for (callee, mut findings) in by_callee {
        let known = looked.get(callee).copied().unwrap_or_default();
        let habit = habit(known);
        if habit == Habit::Tests {
            continue;
        }
        findings.retain(|finding| finding.level < Level::Note);
        findings.sort_by(|a, b| (&a.file, a.line).cmp(&(&b.file, b.line)));
        let mut findings = findings.into_iter();
        if habit == Habit::TestsSome
            && let Some(first) = findings.next()
        {
            let others = known.untested - 1;
            first.message += &format!("; so are {others} more results of `{callee}`");
        }
        findings.for_each(|finding| finding.explain_by(ExplanationKind::OftenUntested));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_takes_many_untested_results() {
        let of = |tested, untested| habit(Looked { tested, untested });
        assert_eq!(of(0, 11), Habit::Tests);
        assert_eq!(of(36, 12), Habit::Tests);
        assert_eq!(of(35, 12), Habit::TestsSome);
        assert_eq!(of(7, 12), Habit::TestsSome);
        assert_eq!(of(6, 12), Habit::HardlyTests);
    }
}
