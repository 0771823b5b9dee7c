//! The whole program's analysis: link the units ([`program`]), condense the call graph
//! ([`callgraph`]), run bottom-up on all cores ([`schedule`]), one function at a time
//! ([`analysis`], [`function`]), and account for every function ([`ledger`]). [`run`] is all of it, from
//! a tree on disk to its findings.
//!
//! Results depend on the program and the options, never on the order of work or on what is stored.

pub mod analysis;
mod annotations;
mod assertions;
pub mod callgraph;
mod claims;
mod contain;
pub mod contested;
pub mod custody;
mod doubt;
mod face;
pub mod findings;
pub mod function;
pub mod ledger;
mod link;
pub mod meter;
mod methods;
mod nesting;
pub mod order;
pub mod program;
mod reading;
pub mod recursion;
pub mod run;
pub mod schedule;
mod settlement;
