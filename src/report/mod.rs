//! Findings: what they hold and how they are shown.
//!
//! In: findings of functions. Out: text and JSON in the shape of the command-line contract.

use serde::{Deserialize, Serialize};

/// How sure and how grave, as the rule's measured precision has earned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
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
