//! One function's analysis: from its IR body and its callees' summaries to its own summary and the
//! findings in it (paper §3–5).

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::ir::{Body, SymbolName};
use crate::property::Property;
use crate::report::Finding;
use crate::summary::Summary;

/// What bounds one function's analysis. All of it is counted, never timed, and is part of the key
/// under which results are kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Options {
    /// How often a loop's body is executed.
    pub unroll: u32,
    /// Blocks executed, after unrolling and inlining.
    pub max_blocks: u64,
    /// Terms in the arena.
    pub max_terms: u64,
    /// Queries answered by the solver.
    pub max_queries: u64,
    /// A last resort, off unless asked for.
    #[serde(skip)]
    pub time_limit: Option<std::time::Duration>,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            unroll: 2,
            max_blocks: 20_000,
            max_terms: 2_000_000,
            max_queries: 20_000,
            time_limit: None,
        }
    }
}

/// What a call site knows of the function it calls.
#[derive(Clone, Debug)]
pub enum CalleeView {
    /// Not defined in the tree and no seed, or not analysable.
    Unknown,
    /// Touches no object of any machine.
    NoOp,
    Summary(Arc<Summary>),
}

/// What the function at hand may ask about other functions.
pub trait Callees: Sync {
    fn view(&self, name: &SymbolName) -> CalleeView;
    /// The body of a tiny leaf that touches no object of any machine, to be inlined; `None` for all
    /// other functions.
    fn inline_body(&self, name: &SymbolName) -> Option<Arc<Body>>;
}

/// How the analysis of a function ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Outcome {
    Analysed,
    /// Which budget ran out.
    OutOfBudget(String),
    /// The time limit struck: depends on the machine, so the result is not kept.
    OutOfTime,
    /// An error of ours.
    Failed(String),
}

/// Counts of work done, equal on every machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Statistics {
    pub blocks: u64,
    pub terms: u64,
    pub queries: u64,
    pub solver_calls: u64,
}

impl std::ops::AddAssign for Statistics {
    fn add_assign(&mut self, other: Self) {
        self.blocks += other.blocks;
        self.terms += other.terms;
        self.queries += other.queries;
        self.solver_calls += other.solver_calls;
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FunctionResult {
    pub summary: Summary,
    pub findings: Vec<Finding>,
    pub outcome: Outcome,
    pub statistics: Statistics,
}

/// Analyses one function.
pub fn analyse(
    _body: &Body,
    _callees: &dyn Callees,
    _property: &Property,
    _options: &Options,
) -> FunctionResult {
    FunctionResult {
        summary: Summary::default(),
        findings: Vec::new(),
        outcome: Outcome::Analysed,
        statistics: Statistics::default(),
    }
}
