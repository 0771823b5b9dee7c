//! What a run says of one function: facts that later stages read, and nothing of how they were found.
//!
//! In: a function's analysis. Out: [`FunctionResult`], which the database keeps; [`Record`], which
//! [`crate::settle`] reads.

use serde::{Deserialize, Serialize};

use super::excluded::OfCallee;
use super::guarded::Accesses;
use super::lock_order::LockOrder;
use super::obligation::Obligations;
use super::recursive::Recursion;
use super::results::Results;
use crate::finding::Finding;
use crate::frontend::LossReason;
use crate::program::FunctionId;
use crate::summary::Summary;

/// Names all that a function's result depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ResultKey(pub [u8; 16]);

/// How the analysis of a function ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Outcome {
    Analysed,
    /// This budget ran out. A cheaper execution ended: there is a summary, see [`Summary::partial`], and nothing else.
    Reduced(String),
    /// Which budget ran out, in the cheaper execution, too.
    OutOfBudget(String),
    /// The time limit struck: depends on the machine, so the result is not kept.
    OutOfTime,
    /// An error of ours.
    Failed(String),
}

impl Outcome {
    pub fn has_summary(&self) -> bool {
        matches!(self, Outcome::Analysed | Outcome::Reduced(_))
    }
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

/// What an analysis finds in one function, but for its summary.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Facts {
    pub findings: Vec<Finding>,
    pub obligations: Obligations,
    pub lock_order: LockOrder,
    pub recursion: Recursion,
    pub results: Results,
    /// Failures of callees that no call of the function's can bring about.
    pub excluded: Vec<OfCallee>,
    /// Empty unless the run looks for what guards members.
    pub accesses: Accesses,
    pub statistics: Statistics,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FunctionResult {
    pub summary: Summary,
    pub facts: Facts,
    pub outcome: Outcome,
}

impl FunctionResult {
    /// What callers see of the function, if it could be analysed.
    pub fn seen(&self) -> Option<&Summary> {
        self.outcome.has_summary().then_some(&self.summary)
    }
}

/// What became of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Disposition {
    Analysed,
    /// Calls nothing that touches an object of any machine; not executed.
    NoOp,
    /// Its summary is given by seed data.
    Seeded,
    /// See [`Outcome::Reduced`].
    Reduced(String),
    OutOfBudget(String),
    Failed(String),
    /// There is no body.
    Lost(LossReason),
}

/// All that a run says of one function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    pub disposition: Disposition,
    /// The key of the stored result, if there is one.
    pub key: Option<ResultKey>,
    pub facts: Facts,
}

/// The records that there are, with the functions that they are of.
pub fn with_ids(records: &[Option<Record>]) -> impl Iterator<Item = (FunctionId, &Record)> {
    let records = (0..).map(FunctionId).zip(records);
    records.filter_map(|(id, record)| Some((id, record.as_ref()?)))
}
