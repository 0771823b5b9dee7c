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
    /// A second execution, of a function for which the budget of the first was too small: guards are named as soon as they
    /// are more than small, and what callees write is unknown.
    pub cheap: bool,
    /// A last resort, off unless asked for: looked at between blocks.
    #[serde(skip)]
    pub time_limit: Option<Duration>,
}

impl Limits {
    /// What bounds a second execution.
    pub fn cheaper(&self) -> Limits {
        Limits {
            unroll: 1,
            cheap: true,
            ..self.clone()
        }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            unroll: 2,
            max_blocks: 20_000,
            max_terms: 2_000_000,
            cheap: false,
            time_limit: None,
        }
    }
}
