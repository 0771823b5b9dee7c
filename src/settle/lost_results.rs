//! Results that a program hardly ever frees.
//!
//! In: how often each function calls others that make what somebody has to end, and the findings about results that are never ended
//! ([`crate::judge::lost_results`]). Out: those of the findings that tell nothing new. Where most results of a function are
//! lost, all these findings have one cause: the function hands out what its callers do not know to be theirs. One of them tells of it.

use std::collections::BTreeMap;

use super::results::tell_once;
use crate::finding::{ExplanationKind, Finding, Level};
use crate::judge::lost_results::LostResult;
use crate::judge::record::{Record, with_ids};

/// Lost results from which on they may be the program's way.
const MANY: usize = 12;
/// Of so many results one is lost, or more: that is the program's way.
const ONE_OF: usize = 2;

/// Explains findings about lost results by what the program does with other results of the same function. The first in the order of the
/// source that would be reported tells how many there are.
pub fn explain(findings: Vec<&mut Finding>, records: &[Option<Record>]) {
    let mut made: BTreeMap<&str, usize> = BTreeMap::new();
    let mut lost: BTreeMap<(&str, &str, u32), &LostResult> = BTreeMap::new();
    for (_, record) in with_ids(records) {
        let here = &record.facts.results.lost;
        for (callee, calls) in &here.made {
            *made.entry(callee).or_default() += *calls as usize;
        }
        for result in &here.lost {
            lost.insert((&result.rule, &result.file, result.line), result);
        }
    }
    let mut by_callee: BTreeMap<&str, Vec<&mut Finding>> = BTreeMap::new();
    for finding in findings {
        let place = (finding.rule.as_str(), finding.file.as_str(), finding.line);
        if let Some(here) = lost.get(&place) {
            by_callee.entry(&here.callee).or_default().push(finding);
        }
    }
    for (callee, mut findings) in by_callee {
        findings.retain(|finding| finding.level < Level::Note);
        let known = made.get(callee).copied().unwrap_or_default();
        if findings.len() < MANY || findings.len() * ONE_OF < known {
            continue;
        }
        let others = findings.len() - 1;
        let more = format!("; nor are {others} more results of `{callee}`");
        tell_once(findings, Some(more), ExplanationKind::OftenLost);
    }
}
