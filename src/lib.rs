//! Cassini finds bugs in C programs: the Saturn analysis (Xie & Aiken, POPL'05) in Rust.
//!
//! The way of the data is the order of the modules: [`capture`] → [`frontend`] → [`ir`] →
//! [`symbolic`] with [`sat`] → [`summary`] under [`property`] → [`engine`] → [`store`] → [`report`],
//! driven by [`cli`]. See ARCHITECTURE.md.

pub mod capture;
pub mod cli;
pub mod engine;
pub mod finding;
pub mod frontend;
pub mod ir;
pub mod leftovers;
pub mod property;
pub mod report;
pub mod sat;
mod source;
pub mod store;
pub mod summary;
pub mod symbolic;
