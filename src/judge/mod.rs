//! From a finished execution to what is wrong in it, one file for each kind of failure, and to what other functions must
//! know to find what no function shows by itself.
//!
//! In: an execution's log, the exits of its objects, its summary. Out: findings, and facts for [`crate::settle`]
//! ([`record`]).

pub mod assertion;
pub mod atomic;
pub mod by_argument;
pub mod excluded;
mod explanation;
pub mod findings;
pub mod guarded;
mod handed;
pub mod inconsistent_exit;
pub mod leak;
pub mod lock_order;
pub mod lost_results;
mod not_enlarged;
pub mod null;
pub mod obligation;
pub mod observable;
pub mod operation;
pub mod record;
pub mod recursive;
pub mod requirement;
pub mod results;
pub mod returned_local;
