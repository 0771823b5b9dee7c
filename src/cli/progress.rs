//! A progress bar on a terminal, nothing elsewhere.

use std::collections::VecDeque;
use std::fmt::Write;
use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::style::ProgressTracker;
use indicatif::{ProgressBar, ProgressState, ProgressStyle};
use parking_lot::Mutex;

use super::output::WARNING_LABEL;
use crate::run::Progress;
use crate::source::Inert;

/// As wide as the terminal leaves it: a line that wraps cannot be taken away.
const TEMPLATE: &str = "{msg:>16} [{wide_bar}] {pos}/{len}, {rate}, {elapsed_precise}, {left}";
/// The rate is that of the last while: the functions that come last, which call others, take longest.
const WHILE: Duration = Duration::from_secs(8);
/// The elapsed time goes on where no step is done.
const TICK: Duration = Duration::from_millis(500);

pub struct Bar {
    /// The stage's bar; `None` where none is shown or no stage has begun.
    bar: Mutex<Option<ProgressBar>>,
    shown: bool,
}

impl Bar {
    pub fn new(wanted: bool) -> Self {
        Bar {
            bar: Mutex::new(None),
            shown: wanted && std::io::stderr().is_terminal(),
        }
    }

    /// Takes the bar away.
    pub fn finish(&self) {
        if let Some(bar) = self.bar.lock().take() {
            bar.finish_and_clear();
        }
    }
}

impl Progress for Bar {
    fn stage(&self, name: &'static str, total: u64) {
        self.finish();
        if !self.shown {
            return;
        }
        let bar = ProgressBar::new(total).with_message(name);
        // A template that does not parse leaves the default one.
        if let Ok(style) = ProgressStyle::with_template(TEMPLATE) {
            let style = style
                .with_key("rate", Rate::of(Told::Rate))
                .with_key("left", Rate::of(Told::Left));
            bar.set_style(style.progress_chars("=> "));
        }
        bar.enable_steady_tick(TICK);
        *self.bar.lock() = Some(bar);
    }

    fn step(&self) {
        if !self.shown {
            return;
        }
        if let Some(bar) = &*self.bar.lock() {
            bar.inc(1);
        }
    }

    fn notice(&self, text: &str) {
        let print = || anstream::eprintln!("{WARNING_LABEL}: {}", Inert(text));
        match &*self.bar.lock() {
            Some(bar) => bar.suspend(print),
            None => print(),
        }
    }
}

/// What is told of the rate.
#[derive(Clone, Copy)]
enum Told {
    Rate,
    Left,
}

/// Steps in a second, over the last while, and how long the rest takes at that rate.
#[derive(Clone)]
struct Rate {
    told: Told,
    /// How many steps were done when, the latest last; the first is as old as the rate looks back.
    done: VecDeque<(Instant, u64)>,
}

impl Rate {
    fn of(told: Told) -> Rate {
        Rate {
            told,
            done: VecDeque::new(),
        }
    }

    fn add(&mut self, now: Instant, steps: u64) {
        let old = |at: &(Instant, u64)| now.duration_since(at.0) > WHILE;
        while self.done.get(1).is_some_and(old) {
            self.done.pop_front();
        }
        // A few in each second are enough.
        let recent = |at: &(Instant, u64)| now.duration_since(at.0) < TICK / 2;
        if self.done.len() < 2 || !self.done.back().is_some_and(recent) {
            self.done.push_back((now, steps));
        }
    }

    fn per_second(&self, now: Instant, steps: u64) -> Option<f64> {
        let (since, before) = self.done.front()?;
        let seconds = now.duration_since(*since).as_secs_f64();
        let steps = u32::try_from(steps.saturating_sub(*before)).ok()?;
        (seconds > 0.2 && steps > 0).then(|| f64::from(steps) / seconds)
    }

    fn text(&self, now: Instant, steps: u64, total: u64) -> String {
        let rate = self.per_second(now, steps);
        let rest = u32::try_from(total.saturating_sub(steps)).unwrap_or(u32::MAX);
        match (self.told, rate) {
            (Told::Rate, None) => "-/s".to_owned(),
            (Told::Rate, Some(rate)) if rate < 10.0 => format!("{rate:.1}/s"),
            (Told::Rate, Some(rate)) => format!("{rate:.0}/s"),
            (Told::Left, None) => "time left unknown".to_owned(),
            (Told::Left, Some(rate)) => left(f64::from(rest) / rate),
        }
    }
}

/// `40 s left`, `3 min left`
fn left(seconds: f64) -> String {
    match seconds {
        ..90.0 => format!("{seconds:.0} s left"),
        ..5400.0 => format!("{:.0} min left", seconds / 60.0),
        _ => format!("{:.1} h left", seconds / 3600.0),
    }
}

impl ProgressTracker for Rate {
    fn clone_box(&self) -> Box<dyn ProgressTracker> {
        Box::new(self.clone())
    }

    fn tick(&mut self, state: &ProgressState, now: Instant) {
        self.add(now, state.pos());
    }

    fn reset(&mut self, _: &ProgressState, _: Instant) {
        self.done.clear();
    }

    fn write(&self, state: &ProgressState, out: &mut dyn Write) {
        let total = state.len().unwrap_or(state.pos());
        // Where it cannot be written there is nothing to be told.
        let _ = out.write_str(&self.text(Instant::now(), state.pos(), total));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_is_that_of_the_last_while() {
        let start = Instant::now();
        let mut rate = Rate::of(Told::Rate);
        let mut time_left = Rate::of(Told::Left);
        assert_eq!(rate.text(start, 0, 2_000), "-/s");
        assert_eq!(time_left.text(start, 0, 2_000), "time left unknown");
        // A thousand at once, then ten in each second.
        for second in 0..=60u64 {
            let now = start + Duration::from_secs(second);
            let steps = if second == 0 { 0 } else { 990 + 10 * second };
            rate.add(now, steps);
            time_left.add(now, steps);
        }
        let now = start + Duration::from_secs(60);
        assert_eq!(rate.text(now, 1_590, 2_000), "10/s");
        assert_eq!(time_left.text(now, 1_590, 2_000), "41 s left");
        assert_eq!(left(300.0), "5 min left");
        assert_eq!(left(7200.0), "2.0 h left");
    }
}
