//! One function after the other: the schedule over the call graph's components ([`schedule`], [`analysis`]), what
//! callers see of a function ([`interface`]), a function's pipeline ([`function`], [`returns`]), and the account of every function ([`ledger`]).
//!
//! In: a linked program, bodies, seeds, stored results. Out: a [`Record`](crate::judge::record::Record) for every function.
//! Results depend on the program and the options, never on the order of work or on what is stored.

pub mod analysis;
pub mod filtering;
pub mod function;
mod interface;
pub mod ledger;
mod returns;
pub mod schedule;
pub mod timings;
