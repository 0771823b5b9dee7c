//! Bugs of concurrent programs that no sequential order of their threads shows.
//!
//! In: the bodies of a closed program, one with a `main`; or two functions of an open one, with what they call ([`harness`]). Out: failures
//! with their interleavings ([`differ`]), after CBUGS (Joshi, Lahiri, Lal, POPL'12). [`machine`] runs threads on the IR with symbolic data; [`search`] is the paper's
//! FindBug, [`sequential`] its filters (§4), [`differ`] Algorithm 1; [`story`] and [`replay`] show what was found. Knows nothing of C syntax, files and reports.

mod access;
mod atomics;
mod code;
pub mod differ;
mod environment;
mod evaluate;
pub mod failure;
pub mod flow;
pub mod harness;
mod library;
mod locks;
pub mod machine;
mod memory;
pub mod program;
pub mod replay;
pub mod search;
pub mod sequential;
pub mod state;
mod step;
pub mod story;
mod text;
mod threads;
pub mod values;
mod waits;
