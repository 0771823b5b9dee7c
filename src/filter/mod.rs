//! Who believes a failure: almost-correct specifications (ACSpec, PLDI'13) and angelic ones (CAV'15).
//!
//! In: a frozen execution, its oracle, and the failures that judges have found in it. Out: for each of them the filters that report it,
//! and the specification under which it is none. [`view`] is all that the rest of the folder knows of the execution: locations, checks
//! and the conditions that they hang on.

mod angelic;
mod checks;
mod clauses;
pub mod costs;
mod cover;
pub mod describe;
mod locations;
mod machine;
mod outside;
pub mod predicates;
mod specs;
pub mod verdict;
pub mod view;
mod words;
