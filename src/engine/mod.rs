//! The whole program's analysis: call graph, bottom-up schedule, one function at a time (paper §6).

pub mod function;
