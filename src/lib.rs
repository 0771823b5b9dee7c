//! Cassini finds bugs in C programs: the Saturn analysis (Xie & Aiken, POPL'05) in Rust.
//!
//! The way of the data is the order of the modules: [`capture`] → [`frontend`] → [`ir`] →
//! [`program`] → [`symbolic`] with [`sat`] → [`summary`] under [`property`] → [`judge`] → [`settle`], scheduled by
//! [`engine`], judged by people in [`triage`], kept by [`store`], shown by [`report`], a whole [`run`], asked by [`query`], [`web`] and [`lsp`],
//! driven by [`cli`]. See ARCHITECTURE.md.

pub mod capture;
pub mod cli;
pub mod concurrency;
mod cpu_time;
pub mod engine;
pub mod filter;
pub mod finding;
pub mod frontend;
pub mod ir;
pub mod judge;
pub mod leftovers;
pub mod lsp;
mod panics;
pub mod program;
pub mod property;
pub mod query;
pub mod report;
pub mod run;
pub mod sat;
pub mod settle;
mod source;
pub mod store;
pub mod summary;
pub mod symbolic;
pub mod triage;
pub mod web;
