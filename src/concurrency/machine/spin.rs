//! Loops that spin: a thread comes back to a state that it was in, without a visible step between.
//!
//! In: the states of a thread. Out: whether it goes round, and the words that it reads on the way. What other threads write
//! there ends the loop, so that these words are visible; a loop that reads nothing goes on for ever.

use std::collections::BTreeSet;

use imbl::OrdMap;

use super::{Ending, Machine};
use crate::concurrency::flow::At;
use crate::concurrency::memory::Storage;
use crate::concurrency::search::footprint::Touched;
use crate::concurrency::state::{State, Wait};

/// Why a loop is not followed any further.
pub(super) const ENDLESS: &str = "a loop without an access that other threads can see does not end";
/// Steps of a transition before it is asked whether they repeat.
const BEFORE: u64 = 1 << 11;

/// What a thread's steps are compared with (Brent's algorithm: the state at each power of two with those behind it).
#[derive(Default)]
pub(super) struct Spin {
    steps: u64,
    mark: Option<Mark>,
}

/// A thread's place, and all that the future depends on but for the path's conditions.
struct Mark {
    at: Option<At>,
    calls: usize,
    hash: u128,
}

impl Mark {
    fn new(machine: &Machine<'_>, state: &State, thread: usize) -> Mark {
        Mark {
            at: machine.at(state, thread),
            calls: state.thread(thread).frames.len(),
            hash: state.hash_but_for_path(machine.program),
        }
    }

    fn is(&self, machine: &Machine<'_>, state: &State, thread: usize) -> bool {
        self.at == machine.at(state, thread)
            && self.calls == state.thread(thread).frames.len()
            && self.hash == state.hash_but_for_path(machine.program)
    }
}

impl Spin {
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// To be asked after each step: whether the thread is where it was, in the same state.
    pub fn comes_back(&mut self, machine: &Machine<'_>, state: &State, thread: usize) -> bool {
        self.steps += 1;
        let mark = self.mark.as_ref();
        let same = mark.is_some_and(|mark| mark.is(machine, state, thread));
        if !same && self.steps >= BEFORE && self.steps.is_power_of_two() {
            self.mark = Some(Mark::new(machine, state, thread));
        }
        same
    }
}

impl Machine<'_> {
    /// Ends the transition of a thread that comes back to the state that it is in after so many steps at most: what it reads until then is
    /// visible from now on; if that is nothing, it goes round for ever.
    pub(super) fn repeats(&mut self, state: &mut State, thread: usize, most: u64) -> Ending {
        let words = self.words_of_round(state, thread, most);
        if words.is_empty() {
            if self.sequential || self.view.is_some() {
                // What it reads was not noted.
                return Ending::Cut(ENDLESS.to_owned());
            }
            state.thread_mut(thread).wait = Some(Wait::Forever);
            self.touch(Touched::Thread(thread));
        }
        for word in words {
            if let Some((base, object)) = state.memory.object(word * 4)
                && object.storage != Storage::Constant
            {
                self.make_visible(base, word);
            }
        }
        Ending::Ready
    }

    /// The words that a thread accesses in a round of at most so many steps.
    fn words_of_round(&mut self, state: &State, thread: usize, most: u64) -> BTreeSet<u64> {
        let start = Mark::new(self, state, thread);
        let known = self.forks.len();
        let mut state = state.clone();
        state.thread_mut(thread).recent = OrdMap::new();
        for _ in 0..most {
            self.steps += 1;
            let result = self.step(&mut state, thread);
            // What else is possible in the round is looked at in any case.
            self.forks.truncate(known);
            if result.is_err() || start.is(self, &state, thread) {
                break;
            }
        }
        state.thread(thread).recent.keys().copied().collect()
    }

    /// Whether no thread can ever go on: all of them wait for another one.
    pub fn is_deadlock(&self, state: &State) -> bool {
        let mut threads = state.threads.iter();
        !self.changed && threads.all(|thread| thread.wait != Some(Wait::Forever))
    }
}
