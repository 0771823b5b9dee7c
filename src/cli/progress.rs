//! A progress bar on a terminal, nothing elsewhere.

use std::io::IsTerminal;

use indicatif::{ProgressBar, ProgressStyle};
use parking_lot::Mutex;

use super::output::WARNING_LABEL;
use crate::run::Progress;
use crate::source::Inert;

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
        // As wide as the terminal leaves it: a line that wraps cannot be taken away. A template that does
        // not parse leaves the default one.
        let template = "{msg:>10} [{wide_bar}] {pos}/{len} {per_sec} {elapsed_precise}, {eta} left";
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style.progress_chars("=> "));
        }
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
