//! Watches a compiler that takes long, and ends one that would never end.
//!
//! In: a running process. Out: why it was ended, if it was. A source may include a pipe that nobody writes
//! to, a device without an end, or itself in more ways than there is time for. What a compiler has done is counted,
//! not timed: one that is slow because the machine is busy is left alone.

use std::fs;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, SysconfVar, sysconf};

/// What a compiler may use. The preprocessor needs seconds and some hundred megabytes for the largest of units.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// How often it is looked at.
    pub tick: Duration,
    /// So many times in a row it may be found asleep without having used the processor since.
    pub idle: u32,
    pub cpu: Duration,
    /// Resident bytes.
    pub memory: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            tick: Duration::from_millis(250),
            idle: 40,
            cpu: Duration::from_secs(300),
            memory: (2 << 30).min(total_memory() / 4),
        }
    }
}

/// Why a compiler was ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    Idle,
    Cpu,
    Memory,
}

impl Ended {
    pub(super) fn message(self) -> &'static str {
        match self {
            Ended::Idle => {
                "it waited for something that did not come: a file that it reads is a pipe, a \
                            terminal or a device"
            }
            Ended::Cpu => "it did not come to an end",
            Ended::Memory => "it used too much memory: a file that it reads may have no end",
        }
    }
}

/// What a process and those that it has started have used.
#[derive(Debug, Default)]
struct Usage {
    processes: Vec<i32>,
    /// In ticks of the system's clock.
    cpu: u64,
    memory: u64,
    /// All of them wait for something.
    asleep: bool,
}

/// Watches a process until `done` is closed.
pub(super) fn watch(process: u32, limits: Limits, done: &Receiver<()>) -> Option<Ended> {
    let process = i32::try_from(process).ok()?;
    let per_second = sysconf(SysconfVar::CLK_TCK).ok().flatten();
    let per_second = per_second
        .and_then(|ticks| u64::try_from(ticks).ok())
        .unwrap_or(100);
    let mut idle = 0;
    let mut before = None;
    loop {
        if done.recv_timeout(limits.tick) != Err(RecvTimeoutError::Timeout) {
            return None;
        }
        let Some(usage) = usage(process) else {
            continue;
        };
        idle = match usage.asleep && before == Some(usage.cpu) {
            true => idle + 1,
            false => 0,
        };
        before = Some(usage.cpu);
        let ended = if usage.memory > limits.memory {
            Ended::Memory
        } else if usage.cpu / per_second > limits.cpu.as_secs() {
            Ended::Cpu
        } else if idle >= limits.idle {
            Ended::Idle
        } else {
            continue;
        };
        for process in usage.processes {
            // One that has ended meanwhile needs no more.
            let _ = kill(Pid::from_raw(process), Signal::SIGKILL);
        }
        return Some(ended);
    }
}

/// What a process and all below it have used; `None` where the system does not tell.
fn usage(process: i32) -> Option<Usage> {
    let page = sysconf(SysconfVar::PAGE_SIZE).ok().flatten()?;
    let page = u64::try_from(page).ok()?;
    let mut usage = Usage {
        asleep: true,
        ..Usage::default()
    };
    let mut waiting = vec![process];
    while let Some(process) = waiting.pop() {
        // It may end at any time.
        let Ok(text) = fs::read_to_string(format!("/proc/{process}/stat")) else {
            continue;
        };
        let children =
            fs::read_to_string(format!("/proc/{process}/task/{process}/children")).ok()?;
        // The program's name is in parentheses and may hold any.
        let fields: Vec<&str> = text.rsplit_once(')')?.1.split_ascii_whitespace().collect();
        let number = |index: usize| {
            fields
                .get(index)
                .and_then(|field| field.parse::<u64>().ok())
        };
        usage.processes.push(process);
        usage.asleep &= matches!(fields.first(), Some(&("S" | "T" | "Z")));
        // Its own and that of its children that have ended.
        for index in 11..=14 {
            usage.cpu += number(index)?;
        }
        usage.memory += number(21)? * page;
        let children = children.split_ascii_whitespace();
        waiting.extend(children.filter_map(|child| child.parse::<i32>().ok()));
    }
    (!usage.processes.is_empty()).then_some(usage)
}

/// The machine's memory in bytes; as good as none if it does not tell.
fn total_memory() -> u64 {
    let text = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"));
    let kibibytes = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<u64>().ok());
    kibibytes.map_or(u64::MAX, |kibibytes| kibibytes << 10)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Child, Command, Stdio};
    use std::sync::mpsc::channel;

    fn shell(script: &str) -> Child {
        let mut shell = Command::new("/bin/sh");
        shell
            .args(["-c", script])
            .stdin(Stdio::piped())
            .spawn()
            .unwrap()
    }

    const LIMITS: Limits = Limits {
        tick: Duration::from_millis(20),
        idle: 10,
        cpu: Duration::from_secs(300),
        memory: u64::MAX,
    };

    /// Watches a script that does not end by itself.
    fn ended(script: &str, limits: Limits) -> Option<Ended> {
        let mut child = shell(script);
        let (_open, done) = channel();
        let ended = watch(child.id(), limits, &done);
        assert!(!child.wait().unwrap().success());
        ended
    }

    #[test]
    fn what_waits_for_ever_or_works_for_ever_is_ended_with_its_children() {
        assert_eq!(ended("cat; true", LIMITS), Some(Ended::Idle));
        let limits = Limits {
            cpu: Duration::ZERO,
            ..LIMITS
        };
        assert_eq!(ended("while :; do :; done", limits), Some(Ended::Cpu));
        let limits = Limits {
            memory: 1,
            ..LIMITS
        };
        assert_eq!(ended("sleep 100", limits), Some(Ended::Memory));
    }

    #[test]
    fn what_ends_or_works_is_left_alone() {
        let mut child = shell("for i in 1 2 3 4 5; do sleep 0.05; done; exit 0");
        let (open, done) = channel::<()>();
        let process = child.id();
        let limits = Limits {
            idle: 1000,
            ..LIMITS
        };
        let watched = std::thread::spawn(move || watch(process, limits, &done));
        assert!(child.wait().unwrap().success());
        drop(open);
        assert_eq!(watched.join().unwrap(), None);
    }
}
