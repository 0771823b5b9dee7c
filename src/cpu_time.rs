//! CPU time of a stage, summed over the threads that work on it. Told to people only: no result
//! depends on it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use nix::time::{ClockId, clock_gettime};

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

/// CPU time of this thread; zero where the system cannot tell.
pub fn thread_time() -> Duration {
    clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).map_or(Duration::ZERO, Duration::from)
}
