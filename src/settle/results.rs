//! Results that a program often leaves untested.
//!
//! In: how often each function compares the results of its callees with null ([`crate::judge::results`]), and the findings about results
//! that are followed without a test. Out: those of the findings that tell nothing new. A result that is followed without a
//! test is a mistake where nearly all others are tested. Where hardly any is, it is how the program deals with a lack of memory. In
//! between, many findings have one cause, the function that returns null, and one of them tells of it. Of a function that returns
//! null at times, for reasons that are not known to be failures (`find` that finds nothing), only the first of these is believed,
//! what nearly all of its callers do (Engler's beliefs), and only where the function asks for what its own caller has passed,
//! or for a number.

use std::collections::BTreeMap;

use crate::finding::{ExplanationKind, Finding, Level};
use crate::judge::record::{Record, with_ids};
use crate::judge::results::{Looked, Unchecked};

/// Untested results from which on they may be the program's way.
const MANY: u32 = 12;
/// Of so many results one is tested, or fewer: no untested one is a mistake.
const ONE_OF: u32 = 3;
/// Of so many results one is untested, or fewer: each untested one is a mistake.
const ALL_BUT_ONE_OF: u32 = 4;
/// The same of a function that is not known to fail: its callers may know when it returns null. A single one is always told.
const ALL_BUT_ONE_OF_BELIEVED: u32 = 10;
/// Tested results of a function that is not known to fail from which on it counts for something that one is not tested.
const EVIDENCE: u32 = 3;

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

/// Whether the program tests the results of a function as if each could be null: nearly all of them are.
fn is_belief(looked: Looked) -> bool {
    let all = looked.tested + looked.untested;
    looked.tested >= EVIDENCE
        && (looked.untested <= 1 || looked.untested * ALL_BUT_ONE_OF_BELIEVED <= all)
}

/// Explains findings about untested results by what the program does with other results of the same function. The first in the order of
/// the source that would be reported tells how many there are, if the program tests some.
pub fn explain(findings: Vec<&mut Finding>, records: &[Option<Record>]) {
    let mut looked: BTreeMap<&str, Looked> = BTreeMap::new();
    let mut unchecked: BTreeMap<(&str, u32), &Unchecked> = BTreeMap::new();
    for (_, record) in with_ids(records) {
        for (callee, here) in &record.facts.results.of {
            let sum = looked.entry(callee).or_default();
            sum.tested += here.tested;
            sum.untested += here.untested;
        }
        for here in &record.facts.results.unchecked {
            unchecked.insert((&here.file, here.line), here);
        }
    }
    let mut by_callee: BTreeMap<&str, Vec<&mut Finding>> = BTreeMap::new();
    for finding in findings {
        let Some(here) = unchecked.get(&(finding.file.as_str(), finding.line)) else {
            continue;
        };
        let callee = here.callee.as_str();
        let known = looked.get(callee).copied().unwrap_or_default();
        if here.fails {
            by_callee.entry(callee).or_default().push(finding);
        } else if is_belief(known) {
            let others = known.tested;
            finding.message += &format!("; {others} results of `{callee}` are tested");
        } else {
            finding.explain_by(ExplanationKind::CalleeSucceeds);
        }
    }
    for (callee, mut findings) in by_callee {
        let known = looked.get(callee).copied().unwrap_or_default();
        let habit = habit(known);
        if habit == Habit::Tests {
            continue;
        }
        findings.retain(|finding| finding.level < Level::Note);
        let more = (habit == Habit::TestsSome).then(|| {
            let others = known.untested - 1;
            format!("; so are {others} more results of `{callee}`")
        });
        tell_once(findings, more, ExplanationKind::OftenUntested);
    }
}

/// Explains findings that have one cause. The first of them in the order of the source is told, and says `more`, if that is given.
pub(super) fn tell_once(
    mut findings: Vec<&mut Finding>,
    more: Option<String>,
    kind: ExplanationKind,
) {
    findings.sort_by(|a, b| (&a.file, a.line).cmp(&(&b.file, b.line)));
    let mut findings = findings.into_iter();
    if let Some(more) = more
        && let Some(first) = findings.next()
    {
        first.message += &more;
    }
    findings.for_each(|finding| finding.explain_by(kind));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_takes_three_tested_results_to_miss_a_test() {
        let of = |tested, untested| is_belief(Looked { tested, untested });
        assert!(of(3, 1));
        assert!(!of(2, 0));
        assert!(!of(17, 2));
        assert!(of(18, 2));
    }

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
