//! Bit-precise, path-sensitive symbolic execution (paper §2–3).
//!
//! In: IR bodies, and what is known of callees ([`callee`]). Out: the entry and exit states of a function, and the events
//! on the way. Knows nothing of C syntax.

pub mod access;
pub mod alias;
pub mod call;
pub mod callee;
mod choice;
pub mod class;
mod escape;
pub mod eval;
pub mod exec;
pub mod formula;
pub mod guard;
pub mod limits;
pub mod log;
pub mod memory;
pub mod model;
pub mod naming;
mod overwritten;
pub mod print;
mod received;
pub mod region;
pub mod state;
pub mod term;
pub mod unchanged;
pub mod unroll;
pub mod validity;
