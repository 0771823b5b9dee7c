//! Bit-precise, path-sensitive symbolic execution (paper §2–3).
//!
//! In: IR bodies, and what is known of callees ([`callee`]). Out: an [`Execution`](execution::Execution), which does not change any more,
//! and the [`Arena`](arena::Arena) of the values, places and conditions that it speaks of. Knows nothing of C syntax.

pub mod access;
mod access_path;
mod addresses;
pub mod alias;
pub mod arena;
mod bit_lock_store;
pub mod call;
pub mod callee;
pub mod callee_writes;
pub mod class;
mod conditional_address;
mod control;
pub mod dereference;
pub mod escape;
pub mod eval;
pub mod exec;
pub mod execution;
mod external_value;
pub mod formula;
pub mod frame;
pub mod given;
pub mod guard;
pub mod heap;
pub mod limits;
pub mod log;
mod loops;
pub mod member;
pub mod memory;
pub mod model;
pub mod naming;
mod null_test;
pub mod origin;
mod out_parameters;
mod perhaps_written;
pub mod print;
pub mod region;
pub mod state;
pub mod term;
mod unfinished;
pub mod unroll;
mod user_assertion;
pub mod validity;
