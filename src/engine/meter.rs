//! CPU time of a stage, summed over the threads that work on it. Told to people only: no result
//! depends on it.

use std::cmp::Reverse;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use nix::time::{ClockId, clock_gettime};
use parking_lot::Mutex;

use super::program::FunctionId;

#[derive(Debug, Default)]
pub struct Meter {
    nanoseconds: AtomicU64,
}

impl Meter {
    /// Runs `work` on this thread and adds its CPU time.
    pub fn measure<T>(&self, work: impl FnOnce() -> T) -> T {
        let start = thread_time();
        let result = work();
        self.add(thread_time().saturating_sub(start));
        result
    }

    pub fn add(&self, time: Duration) {
        let nanoseconds = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        self.nanoseconds.fetch_add(nanoseconds, Ordering::Relaxed);
    }

    pub fn total(&self) -> Duration {
        Duration::from_nanos(self.nanoseconds.load(Ordering::Relaxed))
    }
}

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

/// CPU time of this thread; zero where the system cannot tell.
fn thread_time() -> Duration {
    clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).map_or(Duration::ZERO, Duration::from)
}
