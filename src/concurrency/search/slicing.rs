//! Threads and places of preemption, added only as they are needed (Rungta, Mercer: *Slicing and Dicing Bugs in Concurrent Programs*).
//!
//! In: a program and its targets. Out: what [`explore`] finds in a series of restricted searches, and whether the targets are unreachable.
//! An abstraction ([`View`]) has some threads and some shared objects. The underapproximation (§2.2) runs the program
//! with preemptions only of these threads, at accesses to these objects in the slice of the targets; what it finds is real. Where it does
//! not reach the target, the objects in the conditions of the steps of the slice that were not reached are added, and a thread
//! that writes one of them (§2.3).
//!
//! The paper ends when no thread is to be added, and leaves it open whether the target is unreachable then. Here an overapproximation
//! says so: the threads left out are not run, and what they or others may write of the objects left out has any
//! value where it is read. If that does not reach the target, no execution does; if it does, the abstraction grows on, at last to
//! the whole program.

use std::collections::BTreeSet;

use super::preemptions::explore;
use super::{Explored, Limits, Next};
use crate::concurrency::code::Step;
use crate::concurrency::failure::Failure;
use crate::concurrency::flow::facts::Flow;
use crate::concurrency::flow::points_to::{Object, Objects};
use crate::concurrency::flow::slice::Scope;
use crate::concurrency::flow::{At, PerStep, steps};
use crate::concurrency::machine::Machine;
use crate::concurrency::state::State;

/// An overapproximation may have so many times the states of what it is to prove complete.
const OVER: usize = 8;

/// A thread: the function that it begins with, and how many that begin with it were made before.
pub type Instance = (usize, usize);

/// What a search takes into account.
#[derive(Clone, Debug)]
pub struct View {
    /// Accesses at which threads may be switched.
    pub points: PerStep<bool>,
    /// Threads that may be preempted. The others run where none of these can go on, and are not preempted.
    pub threads: BTreeSet<Instance>,
    /// For each of the threads the reads that give any value; in an overapproximation, in which the other threads do not run.
    pub unknown: Option<Vec<(Instance, PerStep<bool>)>>,
}

impl View {
    /// Whether it has more executions than the program.
    pub fn is_over(&self) -> bool {
        self.unknown.is_some()
    }

    /// Whether the thread is one that does not run at all.
    pub fn is_absent(&self, thread: Instance) -> bool {
        self.is_over() && !self.threads.contains(&thread)
    }

    /// Whether a read gives any value.
    pub fn is_unknown(&self, thread: Instance, at: At) -> bool {
        let reads = self.unknown.iter().flatten();
        reads
            .filter(|(of, _)| *of == thread)
            .any(|(_, reads)| reads.is(at))
    }
}

/// One search of the series.
#[derive(Clone, Debug)]
pub struct Round {
    pub threads: usize,
    /// Names of the shared objects at whose accesses threads were switched.
    pub objects: Vec<String>,
    /// It is an overapproximation.
    pub over: bool,
    pub states: usize,
    pub transitions: u64,
}

/// What a search may be restricted to.
struct Abstraction {
    threads: BTreeSet<Instance>,
    objects: Objects,
    /// All shared objects are taken into account.
    whole: bool,
}

struct Slicing<'m, 'f, 'r, 'p> {
    machine: &'m mut Machine<'p>,
    flow: &'f Flow<'r, 'p>,
    /// The slice of the targets, as far as the abstraction has it.
    slice: PerStep<bool>,
    targets: &'f [At],
    /// Objects that more than one thread may reach.
    shared: Objects,
    abstraction: Abstraction,
    /// Threads that were made, in the order of their numbers.
    seen: Vec<Instance>,
    rounds: Vec<Round>,
}

/// Searches for executions that reach a target.
pub fn search<'p>(
    machine: &mut Machine<'p>,
    flow: &Flow<'_, 'p>,
    entry: usize,
    limits: Limits,
    targets: &[At],
    mut on_failure: impl FnMut(&mut Machine<'p>, &State, &Failure) -> Next,
) -> (Explored, Vec<Round>) {
    let mut slicing = Slicing {
        slice: PerStep::new(flow.program, false),
        targets,
        shared: flow.shared(),
        abstraction: Abstraction {
            threads: first_threads(flow, entry, targets),
            objects: Objects::new(),
            whole: false,
        },
        seen: Vec::new(),
        rounds: Vec::new(),
        machine,
        flow,
    };
    let explored = slicing.refine(entry, limits, &mut on_failure);
    slicing.machine.view = None;
    slicing.machine.executed = None;
    (explored, slicing.rounds)
}

/// The thread that the program begins with, and one that runs a target if that one runs none.
fn first_threads(flow: &Flow<'_, '_>, entry: usize, targets: &[At]) -> BTreeSet<Instance> {
    let mut threads = BTreeSet::from([(entry, 0)]);
    let runs_one = |entry: usize| {
        let run = flow.run_by(entry);
        targets.iter().any(|target| run.contains(&target.code))
    };
    if !runs_one(entry) {
        let other = flow.entries.iter().find(|entry| runs_one(**entry));
        threads.extend(other.map(|other| (*other, 0)));
    }
    threads
}

impl<'p> Slicing<'_, '_, '_, 'p> {
    fn refine(
        &mut self,
        entry: usize,
        limits: Limits,
        on_failure: &mut impl FnMut(&mut Machine<'p>, &State, &Failure) -> Next,
    ) -> Explored {
        let mut left = limits;
        let begun = self.machine.spent();
        loop {
            let mut explored = self.under(entry, left, on_failure);
            left.states = left.states.saturating_sub(explored.states);
            left.steps = limits.steps.saturating_sub(self.machine.spent() - begun);
            if explored.ended || !explored.exhausted || self.is_whole() {
                return self.total(explored);
            }
            if self.add_blocked(&explored) || self.add_target() {
                continue;
            }
            let most = Limits {
                states: left.states.min(OVER * explored.states + OVER),
                ..left
            };
            if self.over(entry, most) {
                // What was not reached cannot be.
                explored.exhausted = true;
                return self.total(explored);
            }
            self.add_unknown();
        }
    }

    /// What was explored in all searches together.
    fn total(&self, last: Explored) -> Explored {
        Explored {
            states: self.rounds.iter().map(|round| round.states).sum(),
            transitions: self.rounds.iter().map(|round| round.transitions).sum(),
            ..last
        }
    }

    fn is_whole(&self) -> bool {
        let threads = &self.abstraction.threads;
        self.abstraction.whole && self.seen.iter().all(|thread| threads.contains(thread))
    }

    /// Runs the program with the abstraction's preemptions.
    fn under(
        &mut self,
        entry: usize,
        limits: Limits,
        on_failure: &mut impl FnMut(&mut Machine<'p>, &State, &Failure) -> Next,
    ) -> Explored {
        let abstraction = &self.abstraction;
        let threads = abstraction.threads.iter();
        let scope = Scope {
            threads: threads.map(|thread| self.flow.run_by(thread.0)).collect(),
            objects: (!abstraction.whole).then(|| abstraction.objects.clone()),
        };
        self.slice = self.flow.slice(self.targets, &scope);
        self.machine.view = Some(self.view());
        self.machine.executed = Some(PerStep::new(self.machine.program, false));
        let explored = explore(self.machine, entry, limits, |machine, state, failure| {
            // What is asked about a failure is asked about the whole program.
            let (view, executed) = (machine.view.take(), machine.executed.take());
            let next = on_failure(machine, state, failure);
            (machine.view, machine.executed) = (view, executed);
            next
        });
        self.meet(&explored);
        self.told(&explored, false);
        explored
    }

    /// Notes the threads that were made: whether there are new ones.
    fn meet(&mut self, explored: &Explored) -> bool {
        let before = self.seen.len();
        for thread in &explored.instances {
            if !self.seen.contains(thread) {
                self.seen.push(*thread);
            }
        }
        self.seen.len() > before
    }

    /// Whether no execution reaches a target, as far as the abstraction tells.
    fn over(&mut self, entry: usize, limits: Limits) -> bool {
        let Some(unknown) = self.unknown_reads() else {
            return false;
        };
        let none = unknown.iter().all(|(_, reads)| !reads.any());
        if none && self.left().next().is_none() {
            // The underapproximation left nothing out.
            return true;
        }
        let mut view = self.view();
        view.unknown = Some(unknown);
        self.machine.view = Some(view);
        let mut failed = false;
        let known = self.machine.values.unknown;
        let told = self.machine.told.clone();
        let explored = explore(self.machine, entry, limits, |_, _, _| {
            failed = true;
            Next::End
        });
        self.told(&explored, true);
        let proved = !self.meet(&explored)
            && !failed
            && explored.exhausted
            && explored.cut.is_empty()
            && self.machine.values.unknown == known;
        // What an execution that does not exist has met is of no interest.
        self.machine.values.unknown = known;
        self.machine.told = told;
        proved
    }

    fn told(&mut self, explored: &Explored, over: bool) {
        let program = self.flow.program;
        let names = self.abstraction.objects.iter().map(|object| match object {
            Object::Global(number) => program.globals[*number].name.name.clone(),
            Object::Local(code, _) => format!("a local of {}", program.functions[*code].name),
            Object::Heap(at) => format!("an object made by {}", program.functions[at.code].name),
            Object::Text | Object::Function(_) | Object::Keys | Object::Results => String::new(),
        });
        self.rounds.push(Round {
            threads: self.abstraction.threads.len(),
            objects: names.filter(|name| !name.is_empty()).collect(),
            over,
            states: explored.states,
            transitions: explored.transitions,
        });
    }

    fn view(&self) -> View {
        let mut points = PerStep::new(self.flow.program, false);
        for (at, _) in steps(self.flow.program) {
            let effects = self.flow.effects.get(at);
            let tracked = effects.is_some_and(|step| {
                let mut touched = step.reads.iter().chain(&step.writes);
                touched.any(|object| self.is_tracked(object))
            });
            if tracked && self.slice.is(at) {
                points.set(at);
            }
        }
        View {
            points,
            threads: self.abstraction.threads.clone(),
            unknown: None,
        }
    }

    fn is_tracked(&self, object: &Object) -> bool {
        self.abstraction.whole || self.abstraction.objects.contains(object)
    }

    /// The steps of the slice that a thread may take.
    fn steps_of(&self, thread: Instance) -> Vec<At> {
        let run = self.flow.run_by(thread.0);
        let all = run.iter().flat_map(|code| self.slice.of(*code));
        all.filter(|(_, taken)| **taken).map(|(at, _)| at).collect()
    }

    /// The shared objects that a thread writes or synchronises by; with what is written by the threads that it starts, if it is none of
    /// the abstraction, so that they may not have been met.
    fn written_by(&self, thread: Instance) -> Objects {
        let mut written = Objects::new();
        let run = match self.abstraction.threads.contains(&thread) {
            true => self.flow.run_by(thread.0),
            false => self.flow.started_by(thread.0),
        };
        for step in run.iter().flat_map(|code| self.flow.effects.of(*code)) {
            written.extend(step.1.writes.iter().chain(&step.1.synchronises));
        }
        written.retain(|object| self.shared.contains(object));
        written
    }

    /// Adds the objects that keep steps of the slice from being reached, and the first thread that writes one of those looked at:
    /// whether there was anything to add.
    fn add_blocked(&mut self, explored: &Explored) -> bool {
        let Some(executed) = self.machine.executed.take() else {
            return false;
        };
        let mut branches = BTreeSet::new();
        for thread in &self.abstraction.threads {
            let steps = self.steps_of(*thread).into_iter();
            for at in steps.filter(|at| !executed.is(*at)) {
                branches.extend(self.flow.deciding(at).filter(|at| executed.is(*at)));
            }
        }
        let sources = branches.into_iter().map(|at| self.flow.sources(at));
        let mut blocked: Objects = sources.flatten().collect();
        for at in &explored.waited_at {
            let step = self.flow.effects.get(*at).into_iter();
            blocked.extend(step.flat_map(|step| step.synchronises.iter().copied()));
        }
        blocked.retain(|object| self.shared.contains(object));
        let before = self.abstraction.objects.len();
        self.abstraction.objects.extend(blocked);
        let wanted = self.abstraction.objects.clone();
        self.add_thread(&wanted) || self.abstraction.objects.len() > before
    }

    /// Adds the first thread that may reach a target itself: whether there is one.
    fn add_target(&mut self) -> bool {
        let found = self.left().find(|thread| {
            let run = self.flow.started_by(thread.0);
            self.targets.iter().any(|target| run.contains(&target.code))
        });
        self.abstraction.threads.extend(found);
        found.is_some()
    }

    /// The threads that the abstraction does not have.
    fn left(&self) -> impl Iterator<Item = Instance> {
        let threads = &self.abstraction.threads;
        let seen = self.seen.iter().copied();
        seen.filter(|thread| !threads.contains(thread))
    }

    /// Adds the first thread that writes one of these objects: whether there is one.
    fn add_thread(&mut self, wanted: &Objects) -> bool {
        let found = self
            .left()
            .find(|thread| !self.written_by(*thread).is_disjoint(wanted));
        self.abstraction.threads.extend(found);
        found.is_some()
    }

    /// For each thread of the abstraction the reads of what others write and the abstraction does not have; `None` if there is
    /// one that cannot be given any value.
    fn unknown_reads(&self) -> Option<Vec<(Instance, PerStep<bool>)>> {
        let mut all = Vec::new();
        let absent: Objects = self
            .left()
            .flat_map(|thread| self.written_by(thread))
            .collect();
        for thread in &self.abstraction.threads {
            let unknown = self.unknown_to(*thread);
            let mut reads = PerStep::new(self.flow.program, false);
            for at in self.steps_of(*thread) {
                let Some(step) = self.flow.effects.get(at) else {
                    continue;
                };
                if step.asks && !step.synchronises.is_disjoint(&absent) {
                    return None;
                }
                if step.reads.is_disjoint(&unknown) {
                    continue;
                }
                let code = &self.flow.program.code[at.code].code;
                match code.steps[at.step].0 {
                    Step::Fetch(_) => reads.set(at),
                    _ => return None,
                };
            }
            all.push((*thread, reads));
        }
        Some(all)
    }

    /// What other threads than this one may write that the abstraction does not have.
    fn unknown_to(&self, thread: Instance) -> Objects {
        let others = self.seen.iter().filter(|other| **other != thread);
        let mut unknown: Objects = others.flat_map(|other| self.written_by(*other)).collect();
        unknown.retain(|object| !self.is_tracked(object));
        unknown
    }

    /// Adds what the overapproximation gave any value, and a thread that writes it; all there is if that adds nothing.
    fn add_unknown(&mut self) {
        let before = self.abstraction.objects.len();
        let mut read = Objects::new();
        for thread in self.abstraction.threads.clone() {
            let unknown = self.unknown_to(thread);
            for at in self.steps_of(thread) {
                let step = self.flow.effects.get(at).into_iter();
                read.extend(step.flat_map(|step| step.reads.intersection(&unknown).copied()));
            }
        }
        self.abstraction.objects.extend(&read);
        let added = self.add_thread(&read);
        if !added && self.abstraction.objects.len() == before {
            let next = self.left().next();
            match next {
                Some(thread) => {
                    self.abstraction.threads.insert(thread);
                }
                None => self.abstraction.whole = true,
            }
        }
    }
}
