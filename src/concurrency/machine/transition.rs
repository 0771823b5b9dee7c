//! Transitions: a thread's steps from one visible step to the next.
//!
//! In: a state and a thread. Out: the states that it may come to, each with its [`Ending`].

use std::hash::Hash;

use rustc_hash::{FxHashMap, FxHashSet};
use xxhash_rust::xxh3::Xxh3;

use super::join::Ways;
use super::spin::{ENDLESS, Spin};
use super::{Ending, Machine, Run, Stop};
use crate::concurrency::search::footprint::Touched;
use crate::concurrency::search::slicing::View;
use crate::concurrency::sequential;
use crate::concurrency::state::{Birth, State, Wait};

/// Steps that a thread may take between two visible ones.
const SEGMENT: u64 = 400_000;
/// Steps of one transition where reads give any value: loops on them have many ways.
const OVER: u64 = 4_000;
/// The same in an open program, where nearly all conditions are on unknown values.
const OPEN: u64 = 15_000;

/// Where a thread has come to.
enum At {
    /// It cannot go on now.
    Blocked,
    /// Other ways may come there, too.
    Join,
    End(Ending),
}

/// The states at the end of a transition.
#[derive(Default)]
struct Done {
    states: Vec<(State, Ending)>,
    /// In a closed program those at joins.
    met: FxHashSet<u128>,
    /// One that a way has come back to, of a loop on unknown values.
    repeated: Option<(State, usize)>,
    /// In an open program those from which threads can go on, by what their futures depend on but for the path's conditions.
    ready: FxHashMap<u128, usize>,
}

impl Machine<'_> {
    /// Takes a thread over its visible step and up to the next one, and the threads that it makes up to their first one. No states if
    /// it cannot go on now.
    pub fn transition(&mut self, mut state: State, thread: usize) -> Vec<(State, Ending)> {
        if state.thread(thread).wait == Some(Wait::Forever) {
            return Vec::new();
        }
        let own = state.thread_mut(thread);
        own.permit = own.started;
        own.started = true;
        let mut ways = Ways::new(self.program.open);
        ways.add(state, thread, None);
        let mut done = Done::default();
        let last = self.most_steps().map(|most| self.spent() + most);
        let mut forked = false;
        while let Some((mut state, running)) = ways.next() {
            if last.is_some_and(|last| self.spent() >= last) {
                let why = "many ways from one place to the next".to_owned();
                done.states.push((state, Ending::Cut(why)));
                break;
            }
            self.made = 0;
            let alone = match self.program.open {
                true => ways.is_empty(),
                false => !forked,
            };
            let stop = self.segment(&mut state, running, alone);
            forked |= !self.forks.is_empty();
            for fork in std::mem::take(&mut self.forks) {
                ways.add(fork, running, None);
            }
            match stop {
                At::Blocked => {}
                At::Join if self.program.open => self.add_at_join(&mut ways, state, running),
                At::Join => {
                    self.put_aside(&mut state);
                    match done.met.insert(self.way_hash(&state, running)) {
                        true => ways.add(state, running, None),
                        false => done.repeated = Some((state, running)),
                    }
                }
                At::End(Ending::Ready) => match self.goes_on(&state) {
                    Some(next) => {
                        state.thread_mut(next).started = true;
                        ways.add(state, next, None);
                    }
                    None => self.ready(&mut done, state),
                },
                At::End(ending) => done.states.push((state, ending)),
            }
        }
        if done.states.is_empty()
            && let Some((mut state, running)) = done.repeated
        {
            let ending = self.repeats(&mut state, running, SEGMENT);
            done.states.push((state, ending));
        }
        done.states
    }

    /// A hash of what becomes of a way within a transition.
    fn way_hash(&self, state: &State, thread: usize) -> u128 {
        let own = state.thread(thread);
        let rest = (thread, own.permit, own.picked);
        let mut hasher = Xxh3::new();
        (state.hash(self.program), rest).hash(&mut hasher);
        hasher.digest128()
    }

    /// Adds a state at the end of a transition.
    fn ready(&mut self, done: &mut Done, mut state: State) {
        self.put_aside(&mut state);
        if self.program.open {
            let key = state.hash_but_for_path(self.program);
            let known = done.ready.get(&key);
            if let Some(known) = known.and_then(|index| done.states.get_mut(*index))
                && self.merge(&mut known.0, &state)
            {
                return;
            }
            done.ready.insert(key, done.states.len());
        }
        done.states.push((state, Ending::Ready));
    }

    /// How many steps a transition may have, if that is less than usual.
    fn most_steps(&self) -> Option<u64> {
        let over = self.view.as_ref().is_some_and(View::is_over);
        match (self.program.open, self.sequential) {
            // A whole function may be one transition.
            (true, true) => Some(sequential::OPEN_STEPS),
            (true, false) => Some(OPEN),
            (false, _) => over.then_some(OVER),
        }
    }

    /// A thread whose next steps may be taken at once, since nobody else sees them: it has done nothing yet, or the thread is at its end for
    /// which it waits.
    fn goes_on(&self, state: &State) -> Option<usize> {
        if self.sequential {
            return None;
        }
        let mut threads = 0..state.threads.len();
        threads.find(|thread| {
            let own = state.thread(*thread);
            let joined = own.joining.map(|other| state.thread(other));
            let goes_on = !own.started || joined.is_some_and(|other| other.finished);
            goes_on && !own.finished && self.takes_part(state, *thread)
        })
    }

    /// Takes a thread's steps to the end of the transition, or to where other ways may join this one, if it is not the `only` one.
    fn segment(&mut self, state: &mut State, thread: usize, only: bool) -> At {
        let known = state.threads.len();
        let last = self.spent() + self.most_steps().unwrap_or(SEGMENT);
        let mut first = true;
        let mut spin = Spin::default();
        while self.spent() < last {
            let alone = only && self.forks.is_empty();
            if !alone && !first && self.is_at_join(state, thread) {
                return At::Join;
            }
            first = false;
            self.steps += 1;
            let Err(stop) = self.step(state, thread) else {
                if self.sequential && state.threads.len() > known {
                    // The new thread may run before anything else happens.
                    state.thread_mut(thread).started = false;
                    return At::End(Ending::Ready);
                }
                if !self.program.open && spin.comes_back(self, state, thread) {
                    return At::End(self.repeats(state, thread, spin.steps()));
                }
                continue;
            };
            return match stop {
                Stop::Blocked if state.thread(thread).permit => At::Blocked,
                Stop::Visible | Stop::Blocked => {
                    state.thread_mut(thread).permit = false;
                    At::End(Ending::Ready)
                }
                Stop::Finished => At::End(self.finished(state, thread)),
                Stop::Over => At::End(Ending::Over),
                Stop::Cut(why) => At::End(Ending::Cut(why)),
                Stop::Failed(kind) => At::End(Ending::Failed(self.failure(state, thread, kind))),
            };
        }
        At::End(Ending::Cut(ENDLESS.to_owned()))
    }

    fn finished(&mut self, state: &mut State, thread: usize) -> Ending {
        let own = state.thread_mut(thread);
        own.finished = true;
        own.permit = false;
        self.touch(Touched::Thread(thread));
        own.frames.clear();
        match self.ends_program(state, thread) {
            true => Ending::Over,
            false => Ending::Ready,
        }
    }

    /// Whether the program is at its end once a thread is.
    pub fn ends_program(&self, state: &State, thread: usize) -> bool {
        let mut threads = state.threads.iter();
        let outlived = threads.any(|other| !other.finished && other.birth == Birth::Async);
        thread == 0 && !outlived && !state.thread(0).detached
    }

    /// To be called before a thread ends the program: others may do something before.
    pub fn last_step(&mut self, state: &State, thread: usize) -> Run<()> {
        let mut others = state.threads.iter().enumerate();
        let alone = others.all(|(number, other)| number == thread || other.finished);
        match self.sequential || alone {
            true => Ok(()),
            false => self.visible(state, thread),
        }
    }
}
