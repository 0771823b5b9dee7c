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
    pub precision: Precision,
    /// Accesses to members and globals are logged, with the calls around them, for what guards them.
    pub members: bool,
    /// A last resort, off unless asked for: looked at between blocks.
    #[serde(skip)]
    pub time_limit: Option<Duration>,
}

/// What an execution tells apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Precision {
    Full,
    /// Guards are named as soon as they are more than small, and what callees write is unknown.
    Reduced,
    /// Of a guard that is too large only a part is kept, so that paths are taken to be possible that are not.
    Coarse,
}

impl Limits {
    /// The same with one round of each loop: what is found then is as sure as before, and less of it.
    pub fn of_one_round(&self) -> Option<Limits> {
        (self.unroll > 1).then(|| Limits {
            unroll: 1,
            ..self.clone()
        })
    }

    /// What bounds the next execution of a function for which this budget was too small; `None`: there is none.
    pub fn cheaper(&self) -> Option<Limits> {
        let precision = match self.precision {
            Precision::Full => Precision::Reduced,
            Precision::Reduced => Precision::Coarse,
            Precision::Coarse => return None,
        };
        Some(Limits {
            unroll: 1,
            precision,
            ..self.clone()
        })
    }
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            unroll: 2,
            max_blocks: 20_000,
            max_terms: 2_000_000,
            precision: Precision::Full,
            members: false,
            time_limit: None,
        }
    }
}
