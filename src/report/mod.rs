//! Findings: what they hold and how they are shown.
//!
//! In: findings of functions. Out: [`text`] as a good compiler writes it, [`json`] in the shape of the
//! command-line contract, and [`summary`] tables in the terms of the paper's Figure 8.

pub mod json;
mod locate;
pub mod summary;
pub mod text;

pub(crate) use locate::Sources;

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::ir::SymbolName;

/// How sure and how grave, as the rule's measured precision has earned.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    clap::ValueEnum,
)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    Error,
    Warning,
    Note,
}

/// One step on the way to a failure.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct TraceStep {
    pub file: String,
    /// 1-based; 0 when unknown.
    pub line: u32,
    /// 1-based; 0 when unknown.
    pub column: u32,
    /// The function the step is in.
    pub function: String,
    /// How many calls below the reported function the step lies.
    pub depth: u32,
    pub message: String,
}

/// One failure, as a person reads it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// `lock/double-lock`.
    pub rule: String,
    pub level: Level,
    pub message: String,
    pub file: String,
    pub line: u32,
    pub column: u32,
    pub function: String,
    /// The object as the programmer would write it: `dev->lock`.
    pub object: String,
    /// Stable under edits elsewhere: rule, function, object path and shape of the trace.
    pub fingerprint: String,
    /// What would make the report wrong, if the analysis knows: `not a bug if flag == 0`.
    pub specification: Option<String>,
    pub trace: Vec<TraceStep>,
}

/// What a finding is known by in other runs: stable under edits elsewhere.
pub fn fingerprint(rule: &str, function: &SymbolName, object: &str, trace: &[TraceStep]) -> String {
    let mut hash = blake3::Hasher::new();
    let mut part = |text: &str| {
        hash.update(text.as_bytes());
        hash.update(b"\0");
    };
    part(rule);
    part(&function.to_string());
    part(object);
    for step in trace {
        part(&step.function);
        part(&step.message);
    }
    hash.finalize().to_hex()[..16].to_string()
}

/// Puts findings in the order in which they are shown (file, line, rule), each once, with columns that
/// point at the operation where the source can be read. `root` is the folder that their files are
/// relative to.
pub fn arrange(mut findings: Vec<Finding>, root: &Path) -> Vec<Finding> {
    locate::complete(&mut findings, root);
    fn order(finding: &Finding) -> (&str, u32, &str, u32, &str) {
        let Finding {
            file,
            line,
            rule,
            column,
            fingerprint,
            ..
        } = finding;
        (file, *line, rule, *column, fingerprint)
    }
    findings.sort_by(|a, b| order(a).cmp(&order(b)));
    // A function compiled in two ways has its findings twice.
    let mut seen = rustc_hash::FxHashSet::default();
    findings.retain(|finding| seen.insert(finding.fingerprint.clone()));
    findings
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

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
            specification: Some("flag == 0".into()),
            trace: vec![
                step(1, "probe", 0, "spin_lock(&dev->lock) locks dev->lock"),
                step(line, "probe", 0, "calls reset(dev)"),
                step(7, "reset", 1, "spin_lock(&d->lock) locks it again"),
            ],
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
