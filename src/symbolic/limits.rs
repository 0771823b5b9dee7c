//! What bounds the execution of one function. All of it but the time limit is counted, so that what is found
//! depends on the program and the options alone.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Bounds of one execution.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// How often a loop's body is executed.
    pub unroll: u32,
    /// Blocks executed, after unrolling and inlining.
    pub max_blocks: u64,
    /// Terms in the arena.
    pub max_terms: u64,
    /// A last resort, off unless asked for: looked at between blocks.
    #[serde(skip)]
    pub time_limit: Option<Duration>,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            unroll: 2,
            max_blocks: 20_000,
            max_terms: 2_000_000,
            time_limit: None,
        }
    }
}
