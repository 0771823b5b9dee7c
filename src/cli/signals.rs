//! Ctrl-C, SIGTERM and SIGHUP: each ends a command in order, with what was done kept, the programs that
//! it runs ended and its temporary folders removed. A second signal ends it at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::time::Duration;

use nix::sys::signal::Signal;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::SignalsInfo;
use signal_hook::iterator::exfiltrator::origin::WithOrigin;
use signal_hook::low_level::siginfo::{Cause, Origin};

use crate::leftovers;

/// What a command may take to end in order. Then it is ended as it is: what is on disk stays sound.
const GRACE: Duration = Duration::from_secs(10);

/// What was received.
#[derive(Debug, Default)]
pub struct Received {
    /// Raised by the first signal.
    pub raised: Arc<AtomicBool>,
    signal: AtomicI32,
}

impl Received {
    /// The exit status that a shell gives a program which a signal ends; `None` if none was received.
    pub fn status(&self) -> Option<u8> {
        match self.signal.load(Ordering::Relaxed) {
            0 => None,
            signal => Some(status(signal)),
        }
    }
}

fn status(signal: i32) -> u8 {
    u8::try_from(128 + signal).unwrap_or(u8::MAX)
}

/// Takes care of signals from now on. The programs that this command runs are asked to end.
pub fn end_in_order() -> anyhow::Result<Arc<Received>> {
    handle(|_| leftovers::stop())
}

/// The same for a command that runs a build, which gets the signals, too.
pub fn pass_on() -> anyhow::Result<Arc<Received>> {
    handle(|origin| {
        // A terminal has sent it to the build already.
        if origin.cause != Cause::Kernel
            && let Ok(signal) = Signal::try_from(origin.signal)
        {
            leftovers::forward(signal);
        }
    })
}

fn handle(first: impl Fn(&Origin) + Send + 'static) -> anyhow::Result<Arc<Received>> {
    let received = Arc::new(Received::default());
    let mut signals = SignalsInfo::<WithOrigin>::new(wanted())?;
    let told = Arc::clone(&received);
    std::thread::Builder::new().spawn(move || {
        for origin in &mut signals {
            if told.raised.swap(true, Ordering::Relaxed) {
                end(origin.signal);
            }
            told.signal.store(origin.signal, Ordering::Relaxed);
            first(&origin);
            let signal = origin.signal;
            std::thread::spawn(move || {
                std::thread::sleep(GRACE);
                end(signal);
            });
        }
    })?;
    Ok(received)
}

fn end(signal: i32) -> ! {
    leftovers::clear();
    std::process::exit(status(signal).into());
}

/// The signals to take care of: not those that this process was started to ignore, as `nohup` does.
fn wanted() -> Vec<i32> {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    let ignored = ignored.unwrap_or(0);
    let mut signals = vec![SIGINT, SIGTERM, SIGHUP];
    signals.retain(|signal| ignored & (1 << (signal - 1)) == 0);
    signals
}
