//! How findings are shown.
//!
//! In: findings of functions. Out: [`text`] as a good compiler writes it, [`json`] in the shape of the
//! command-line contract, and [`summary`]: what a function does, in words of its source.

pub mod json;
mod locate;
mod places;
pub mod summary;
pub mod text;

pub use places::{Places, from};

use std::path::Path;

use rustc_hash::FxHashMap;

use crate::finding::{Finding, Level};

/// Puts findings in the order in which they are shown (file, line, rule), each once, with columns that
/// point at the operation where the source can be read. `root` is the folder that their files are
/// relative to.
pub fn arrange(mut findings: Vec<Finding>, root: &Path) -> Vec<Finding> {
    locate::complete(&mut findings, root);
    fn order(finding: &Finding) -> (&str, u32, &str, u32, &str, Level) {
        let Finding {
            file,
            line,
            rule,
            column,
            fingerprint,
            level,
            ..
        } = finding;
        // Of one that is found twice the gravest.
        (file, *line, rule, *column, fingerprint, *level)
    }
    findings.sort_by(|a, b| order(a).cmp(&order(b)));
    // A function compiled in two ways has its findings twice.
    let mut seen: FxHashMap<String, usize> = FxHashMap::default();
    let mut once: Vec<Finding> = Vec::with_capacity(findings.len());
    for finding in findings {
        match seen.get(&finding.fingerprint) {
            Some(&at) => also_in(&mut once[at].programs, finding.programs),
            None => {
                seen.insert(finding.fingerprint.clone(), once.len());
                once.push(finding);
            }
        }
    }
    once
}

/// Adds the programs that a finding is in, too: if either is in all, it is in all.
fn also_in(programs: &mut Vec<String>, others: Vec<String>) {
    if others.is_empty() {
        programs.clear();
    } else if !programs.is_empty() {
        programs.extend(others);
        programs.sort_unstable();
        programs.dedup();
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::finding::{Explanation, ExplanationKind, TraceStep};

    pub(crate) fn finding(file: &str, line: u32, fingerprint: &str) -> Finding {
        let step = |line, function: &str, depth, message: &str| TraceStep {
            file: file.into(),
            line,
            column: 0,
            function: function.into(),
            depth,
            message: message.into(),
        };
        Finding {
            rule: "lock/double-lock".into(),
            level: Level::Error,
            message: "dev->lock is locked twice".into(),
            file: file.into(),
            line,
            column: 0,
            function: "probe".into(),
            object: "dev->lock".into(),
            fingerprint: fingerprint.into(),
            explanations: vec![Explanation {
                kind: ExplanationKind::UnusedValue,
                text: "flag == 0".into(),
            }],
            trace: vec![
                step(1, "probe", 0, "spin_lock(&dev->lock) locks dev->lock"),
                step(line, "probe", 0, "calls reset(dev)"),
                step(7, "reset", 1, "spin_lock(&d->lock) locks it again"),
            ],
            filtered: None,
            programs: Vec::new(),
        }
    }

    #[test]
    fn findings_are_sorted_by_place_and_shown_once() {
        let findings = vec![
            finding("b.c", 1, "3"),
            finding("a.c", 9, "2"),
            finding("a.c", 2, "1"),
            finding("a.c", 9, "2"),
        ];
        let arranged = arrange(findings, Path::new("/nonexistent"));
        let places: Vec<_> = arranged.iter().map(|f| (f.file.as_str(), f.line)).collect();
        assert_eq!(places, [("a.c", 2), ("a.c", 9), ("b.c", 1)]);
    }
}
