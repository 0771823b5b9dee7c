//! CPU time of the analysis, in all and by function. Told to people only: no result depends on it.

use std::cmp::Reverse;
use std::time::Duration;

use parking_lot::Mutex;

use crate::cpu_time::{Meter, thread_time};
use crate::program::FunctionId;

/// CPU time of the analysis: in all, and of each function that was executed.
#[derive(Debug, Default)]
pub struct Timings {
    pub total: Meter,
    functions: Mutex<Vec<(FunctionId, Duration)>>,
}

impl Timings {
    /// Runs `work`, which executes `function`, and takes its time.
    pub fn function<T>(&self, function: FunctionId, work: impl FnOnce() -> T) -> T {
        let start = thread_time();
        let result = work();
        let time = thread_time().saturating_sub(start);
        self.functions.lock().push((function, time));
        result
    }

    /// The functions that took longest, that one first.
    pub fn slowest(&self, count: usize) -> Vec<(FunctionId, Duration)> {
        let mut functions = self.functions.lock().clone();
        functions.sort_by_key(|&(id, time)| (Reverse(time), id));
        functions.truncate(count);
        functions
    }
}
