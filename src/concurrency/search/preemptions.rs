//! FindBug for a program with threads: a search of its interleavings by the number of preemptions.
//!
//! In: an entry and limits. Out: failures, in the order of how many preemptions they need, and what was explored. States
//! are explicit, data symbolic: CBUGS §4 asks for some FindBug under an iterated bound on contexts, and an explicit search
//! shares states that a round-robin sequentialisation guesses anew in each round, at the price of one state for each path
//! condition. A preemption takes the processor from a thread that could go on (iterative context bounding). Each bound
//! begins with the states that the bound before has put aside, so that no state is expanded twice and an empty list
//! proves that all interleavings were explored. Loops that spin end where a state is met again.

use std::rc::Rc;

use rustc_hash::FxHashSet;

use super::{Explored, Limits, Next, until_all_is_visible};
use crate::concurrency::failure::{Failure, Kind};
use crate::concurrency::machine::{Ending, Machine};
use crate::concurrency::state::State;

/// A thread to be run from a state.
struct Deferred {
    state: Rc<State>,
    thread: usize,
}

struct Search<'s, 'p> {
    machine: &'s mut Machine<'p>,
    limits: Limits,
    explored: Explored,
    seen: FxHashSet<(u128, usize)>,
    /// Nodes to be expanded under the bound in force.
    nodes: Vec<(Rc<State>, usize)>,
    later: Vec<Deferred>,
    failed: Vec<(State, Failure)>,
    started_with: u64,
}

/// Searches from the beginning of a function.
pub fn explore<'p>(
    machine: &mut Machine<'p>,
    entry: usize,
    limits: Limits,
    mut on_failure: impl FnMut(&mut Machine<'p>, &State, &Failure) -> Next,
) -> Explored {
    let started_with = machine.spent();
    until_all_is_visible(machine, entry, |machine, state| {
        let mut search = Search {
            machine,
            limits,
            explored: Explored::default(),
            seen: FxHashSet::default(),
            nodes: Vec::new(),
            later: vec![Deferred {
                state: Rc::new(state),
                thread: 0,
            }],
            failed: Vec::new(),
            started_with,
        };
        search.bounds(&mut on_failure);
        search.explored
    })
}

impl<'p> Search<'_, 'p> {
    /// Searches bound by bound.
    fn bounds(&mut self, on_failure: &mut impl FnMut(&mut Machine<'p>, &State, &Failure) -> Next) {
        for bound in 0.. {
            if self.limits.preemptions.is_some_and(|most| bound > most) {
                return;
            }
            let items = std::mem::take(&mut self.later);
            if items.is_empty() {
                self.explored.exhausted = true;
                return;
            }
            for item in items {
                self.run(&item.state, item.thread);
                if !self.drain(on_failure) {
                    return;
                }
            }
            self.explored.complete_to = Some(bound);
        }
    }

    /// Expands all nodes that the bound in force allows; false if the search is to end before.
    fn drain(
        &mut self,
        on_failure: &mut impl FnMut(&mut Machine<'p>, &State, &Failure) -> Next,
    ) -> bool {
        loop {
            if self.machine.changed {
                return false;
            }
            for (state, failure) in std::mem::take(&mut self.failed) {
                if on_failure(self.machine, &state, &failure) == Next::End {
                    self.explored.ended = true;
                    return false;
                }
            }
            let Some((state, last)) = self.nodes.pop() else {
                return true;
            };
            if self.explored.states >= self.limits.states
                || self.machine.spent() - self.started_with >= self.limits.steps
            {
                return false;
            }
            self.expand(&state, last);
        }
    }

    /// Runs a thread from a state: whether it could go on.
    fn run(&mut self, state: &State, thread: usize) -> bool {
        let results = self.machine.transition(state.clone(), thread);
        let could = !results.is_empty();
        for (state, ending) in results {
            self.explored.transitions += 1;
            self.explored.threads = self.explored.threads.max(state.threads.len());
            for thread in state.threads.iter().skip(self.explored.instances.len()) {
                self.explored.instances.push(thread.instance());
            }
            match ending {
                Ending::Ready => {
                    if self.seen.insert((state.hash(self.machine.program), thread)) {
                        self.explored.states += 1;
                        self.nodes.push((Rc::new(state), thread));
                    }
                }
                Ending::Over => {}
                Ending::Failed(failure) => self.failed.push((state, failure)),
                Ending::Cut(why) => {
                    self.explored.cut.insert(why);
                }
            }
        }
        could
    }

    fn expand(&mut self, state: &Rc<State>, last: usize) {
        let live: Vec<usize> = (0..state.threads.len())
            .filter(|thread| !state.thread(*thread).finished)
            .collect();
        if live.is_empty() {
            return;
        }
        if let Some((inside, _)) = state.atomic
            && self.run(state, inside)
        {
            return;
        }
        let alone = !self.machine.takes_part(state, last);
        let (part, rest): (Vec<usize>, Vec<usize>) = live
            .iter()
            .filter(|thread| **thread != last)
            .partition(|thread| self.machine.takes_part(state, **thread));
        let others = part.into_iter();
        if live.contains(&last) && self.run(state, last) {
            if alone {
                return;
            }
            let state = Rc::clone(state);
            self.later.extend(others.map(|thread| Deferred {
                state: Rc::clone(&state),
                thread,
            }));
            return;
        }
        let mut could = false;
        for thread in others {
            could |= self.run(state, thread);
        }
        if !could && !rest.is_empty() {
            let waiting = live.iter().filter(|thread| !rest.contains(thread));
            for thread in waiting {
                let at = self.machine.at(state, *thread);
                self.explored.waited_at.extend(at);
            }
            could = rest.into_iter().any(|thread| self.run(state, thread));
        }
        if !could && self.machine.is_deadlock(state) {
            let blocked = live.first().copied().unwrap_or(0);
            let failure = self.machine.failure(state, blocked, Kind::Deadlock);
            self.failed.push((state.as_ref().clone(), failure));
        }
    }
}
