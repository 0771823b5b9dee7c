//! A depth-first search with dynamic partial-order reduction (Flanagan, Godefroid, POPL'05), each state once.
//!
//! In: an entry and limits. Out: failures as they are met, and what was explored. At a state one thread is run; another one is
//! run as well if a later transition turns out to depend on the one taken here, and nothing orders the two. So that states need to be
//! expanded once only, each keeps what the transitions behind it touch (Yang, Chen, Gopalakrishnan, Kirby: *Efficient stateful
//! dynamic partial order reduction*, SPIN'08): a search that comes there again adds the threads that this asks for to the
//! states on its own way. Where a way comes back to a state on itself, all threads are run at the states between.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::footprint::Footprint;
use super::{Explored, Limits, Next, until_all_is_visible};
use crate::concurrency::failure::{Failure, Kind};
use crate::concurrency::machine::{Ending, Machine};
use crate::concurrency::state::State;

/// For each thread the last transition of each that comes before all that it does now, as a number of those on the way.
type Clock = Vec<usize>;

/// A thread's next transition from a state.
struct Step {
    footprint: Rc<Footprint>,
    results: Vec<(State, Ending)>,
    /// The thread can go on.
    enabled: bool,
}

/// A state on the way that is being followed.
struct Node {
    hash: u128,
    steps: BTreeMap<usize, Step>,
    /// Threads to be run from here.
    chosen: BTreeSet<usize>,
    done: BTreeSet<usize>,
    clocks: Vec<Clock>,
    /// The transition that is being followed: the thread, what it touches, its clock.
    taken: Option<(usize, Rc<Footprint>, Clock)>,
    /// States behind it that are still to be looked at.
    open: Vec<State>,
    behind: Behind,
}

/// What each thread touches in the transitions behind a state.
#[derive(Clone, Default)]
struct Behind(BTreeMap<usize, Rc<Footprint>>);

impl Behind {
    fn add(&mut self, thread: usize, footprint: &Rc<Footprint>) {
        let known = self.0.entry(thread).or_default();
        if !known.covers(footprint) {
            let mut both = known.as_ref().clone();
            both.extend(footprint);
            *known = Rc::new(both);
        }
    }

    fn extend(&mut self, other: &Behind) {
        for (thread, footprint) in &other.0 {
            self.add(*thread, footprint);
        }
    }
}

/// What is known of a state that was met.
enum Known {
    OnTheWay(usize),
    Left(Rc<Behind>),
}

struct Search<'s, 'p> {
    machine: &'s mut Machine<'p>,
    limits: Limits,
    explored: Explored,
    known: FxHashMap<u128, Known>,
    way: Vec<Node>,
    failed: Vec<(State, Failure)>,
    started_with: u64,
    /// Transitions that were compared: each counts as a step.
    compared: u64,
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
            known: FxHashMap::default(),
            way: Vec::new(),
            failed: Vec::new(),
            started_with,
            compared: 0,
        };
        search.enter(state, vec![Vec::new()]);
        search.follow(&mut on_failure);
        search.explored
    })
}

impl<'p> Search<'_, 'p> {
    /// Follows all ways, as long as no words become visible.
    fn follow(&mut self, on_failure: &mut impl FnMut(&mut Machine<'p>, &State, &Failure) -> Next) {
        loop {
            if self.machine.changed {
                return;
            }
            for (state, failure) in std::mem::take(&mut self.failed) {
                if on_failure(self.machine, &state, &failure) == Next::End {
                    self.explored.ended = true;
                    return;
                }
            }
            if self.explored.states >= self.limits.states
                || self.machine.spent() - self.started_with + self.compared >= self.limits.steps
            {
                return;
            }
            let Some(node) = self.way.last_mut() else {
                self.explored.exhausted = true;
                return;
            };
            if let Some(state) = node.open.pop() {
                self.step_to(state);
                continue;
            }
            let next = node.chosen.difference(&node.done).next().copied();
            match next {
                Some(thread) => self.take(thread),
                None => self.leave(),
            }
        }
    }

    /// Runs a thread from the last state of the way.
    fn take(&mut self, thread: usize) {
        let last = self.way.len() - 1;
        let Some(step) = self.way[last].steps.get_mut(&thread) else {
            self.way[last].done.insert(thread);
            return;
        };
        let footprint = Rc::clone(&step.footprint);
        let results = std::mem::take(&mut step.results);
        let clock = self.clock_behind(thread, &footprint);
        self.compared += last as u64;
        let node = &mut self.way[last];
        node.done.insert(thread);
        if ends_an_execution(&results) {
            // Behind the end of an execution nothing asks for the other threads.
            node.chosen.extend(enabled(&node.steps));
        }
        node.behind.add(thread, &footprint);
        node.taken = Some((thread, footprint, clock));
        for (state, ending) in results {
            self.explored.transitions += 1;
            self.explored.threads = self.explored.threads.max(state.threads.len());
            match ending {
                Ending::Ready => self.way[last].open.push(state),
                Ending::Over => {}
                Ending::Failed(failure) => self.failed.push((state, failure)),
                Ending::Cut(why) => {
                    self.explored.cut.insert(why);
                }
            }
        }
    }

    /// The clock of a thread behind a transition from the last state of the way.
    fn clock_behind(&self, thread: usize, footprint: &Footprint) -> Clock {
        let last = self.way.len() - 1;
        let mut clock = self.way[last].clocks[thread].clone();
        for node in self.way[..last].iter().rev() {
            if let Some((other, touched, theirs)) = &node.taken
                && (*other == thread || touched.depends(footprint))
            {
                join(&mut clock, theirs);
            }
        }
        if clock.len() <= thread {
            clock.resize(thread + 1, 0);
        }
        clock[thread] = last + 1;
        clock
    }

    /// Goes to a state behind the transition that is being followed.
    fn step_to(&mut self, state: State) {
        let last = self.way.len() - 1;
        let node = &self.way[last];
        let Some((thread, _, clock)) = &node.taken else {
            return;
        };
        let mut clocks = node.clocks.clone();
        clocks[*thread].clone_from(clock);
        clocks.resize(state.threads.len(), clock.clone());
        self.enter(state, clocks);
    }

    fn enter(&mut self, state: State, clocks: Vec<Clock>) {
        let hash = state.hash(self.machine.program);
        match self.known.get(&hash) {
            None => {}
            Some(Known::OnTheWay(at)) => {
                // What comes behind it is not known yet.
                let at = *at;
                for node in &mut self.way[at..] {
                    node.chosen.extend(enabled(&node.steps));
                    for thread in node.steps.keys() {
                        let unknown = Rc::new(Footprint::everything());
                        node.behind.add(*thread, &unknown);
                    }
                }
                return;
            }
            Some(Known::Left(behind)) => {
                let behind = Rc::clone(behind);
                for (thread, footprint) in &behind.0 {
                    let clock = clocks.get(*thread).cloned().unwrap_or_default();
                    self.choose(*thread, footprint, &clock, true);
                }
                if let Some(node) = self.way.last_mut() {
                    node.behind.extend(&behind);
                }
                return;
            }
        }
        self.explored.states += 1;
        let mut node = Node {
            hash,
            steps: BTreeMap::new(),
            chosen: BTreeSet::new(),
            done: BTreeSet::new(),
            clocks,
            taken: None,
            open: Vec::new(),
            behind: Behind::default(),
        };
        for thread in 0..state.threads.len() {
            if !state.thread(thread).finished {
                let step = self.next(&state, thread);
                self.choose(thread, &step.footprint, &node.clocks[thread], false);
                node.steps.insert(thread, step);
            }
        }
        let last = self.way.last().and_then(|before| before.taken.as_ref());
        let last = last.map(|(thread, ..)| *thread);
        let enabled = enabled(&node.steps);
        let inside = state.atomic.map(|(inside, _)| inside);
        let first = [inside, last].into_iter().flatten();
        let first = first
            .chain(enabled.iter().copied())
            .find(|thread| enabled.contains(thread));
        node.chosen.extend(first);
        if first.is_none() && !node.steps.is_empty() && self.machine.is_deadlock(&state) {
            let blocked = node.steps.keys().next().copied().unwrap_or(0);
            let failure = self.machine.failure(&state, blocked, Kind::Deadlock);
            self.failed.push((state, failure));
        }
        self.known.insert(hash, Known::OnTheWay(self.way.len()));
        self.way.push(node);
    }

    /// A thread's next transition.
    fn next(&mut self, state: &State, thread: usize) -> Step {
        self.machine.footprint = Some(Footprint::default());
        let results = self.machine.transition(state.clone(), thread);
        let mut footprint = self.machine.footprint.take().unwrap_or_default();
        footprint.whole |= ends_an_execution(&results);
        footprint.finish();
        Step {
            footprint: Rc::new(footprint),
            enabled: !results.is_empty(),
            results,
        }
    }

    /// Has a thread run from the states on the way whose transition depends on what it does later, and is not ordered before it: from
    /// the last one of them, or from all if what comes between is not known.
    fn choose(&mut self, thread: usize, footprint: &Footprint, clock: &Clock, all: bool) {
        self.compared += self.way.len() as u64;
        // Threads that took transitions since which come before what the thread does.
        let mut leading = BTreeSet::from([thread]);
        let mut has_moved = all;
        for (at, node) in self.way.iter_mut().enumerate().rev() {
            let Some((other, touched, _)) = &node.taken else {
                continue;
            };
            if clock.get(*other).is_some_and(|last| *last > at) {
                leading.insert(*other);
                has_moved |= *other == thread;
                continue;
            }
            if *other == thread || !touched.depends(footprint) {
                continue;
            }
            let waits = node.steps.get(&thread).is_some_and(|step| !step.enabled);
            if waits && !has_moved {
                // It stood where it stands now, and could not go on: the two have only this order.
                continue;
            }
            let enabled = enabled(&node.steps);
            let leads = |thread: &&usize| leading.contains(*thread);
            if enabled.contains(&thread) {
                node.chosen.insert(thread);
            } else if let Some(leader) = enabled.iter().find(leads) {
                node.chosen.insert(*leader);
            } else {
                node.chosen.extend(enabled);
            }
            if !all {
                return;
            }
        }
    }

    /// Goes back from the last state of the way.
    fn leave(&mut self) {
        let Some(node) = self.way.pop() else { return };
        let behind = Rc::new(node.behind);
        if let Some(before) = self.way.last_mut() {
            before.behind.extend(&behind);
        }
        self.known.insert(node.hash, Known::Left(behind));
    }
}

/// Whether a transition may be the last one.
fn ends_an_execution(results: &[(State, Ending)]) -> bool {
    let mut endings = results.iter().map(|(_, ending)| ending);
    endings.any(|ending| !matches!(ending, Ending::Ready))
}

/// The threads that can go on.
fn enabled(steps: &BTreeMap<usize, Step>) -> Vec<usize> {
    let enabled = steps.iter().filter(|(_, step)| step.enabled);
    enabled.map(|(thread, _)| *thread).collect()
}

fn join(clock: &mut Clock, other: &Clock) {
    if clock.len() < other.len() {
        clock.resize(other.len(), 0);
    }
    for (own, theirs) in clock.iter_mut().zip(other) {
        *own = (*own).max(*theirs);
    }
}
