//! Which threads run a function, and when there is only one.
//!
//! In: the calls of all functions. Out: what of the [`Standing`] says so: which functions only the thread of `main` runs, which run while there are
//! no other threads, and which only in a process that `fork` has made.

use std::collections::{BTreeMap, BTreeSet};

use super::{MAX_ROUNDS, Standing};
use crate::frontend::model::ATOMIC_BEGIN;
use crate::judge::guarded::Called;
use crate::program::{FunctionId, SetId};

/// Functions of libraries that start a thread, and that wait for one to end.
const STARTING: [&str; 5] = [
    "pthread_create",
    "thrd_create",
    "g_thread_new",
    "g_thread_try_new",
    "kthread_create_on_node",
];
const JOINING: [&str; 3] = ["pthread_join", "thrd_join", "g_thread_join"];
/// Calls below the beginning of a thread that are near it.
const NEAR_THREAD: usize = 3;

/// What a call does about threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    Starts,
    Joins,
}

impl<'p> Standing<'p> {
    /// Which functions other threads than that of `main` run, and which run before the first of them is started.
    pub(super) fn find_threads(&mut self) {
        let program = self.program;
        let is_main = |id: FunctionId| program.function(id).name.name == "main";
        let Some(_) = program.ids().find(|id| is_main(*id)) else {
            // A library, or a kernel: whatever others may call runs beside itself.
            return;
        };
        let all = || {
            program
                .functions
                .iter()
                .flat_map(|function| &function.callees)
        };
        self.threaded = all().any(|callee| STARTING.contains(&&*callee.name.name));
        let roots = program.ids().filter(|id| {
            let function = program.function(*id);
            !is_main(*id) && (self.open[id.index()] || function.stored)
        });
        let reached = self.reached(roots.collect());
        self.of_main = reached.iter().map(|reached| !reached).collect();
        for _ in 0..MAX_ROUNDS {
            let next: Vec<Option<Effect>> = program.ids().map(|id| self.effect(id, None)).collect();
            if next == self.effects {
                break;
            }
            self.effects = next;
        }
        let started = self.started();
        let mut near = started.clone();
        for _ in 0..=NEAR_THREAD {
            let callees = near.iter().flat_map(|id| &program.function(*id).callees);
            let called = callees.filter(|callee| callee.called);
            let next: BTreeSet<FunctionId> = called.filter_map(|callee| callee.function).collect();
            for id in std::mem::replace(&mut near, next) {
                self.near_threads[id.index()] = true;
            }
        }
        let mut by_programs: BTreeMap<SetId, Vec<FunctionId>> = BTreeMap::new();
        for id in started {
            let programs = program.function(id).images;
            by_programs.entry(programs).or_default().push(id);
        }
        let sets = by_programs.into_values();
        self.of_threads = sets.map(|ids| (ids[0], self.reached(ids))).collect();
        self.alone.clone_from(&self.of_main);
        for _ in 0..MAX_ROUNDS {
            let next: Vec<bool> = program
                .ids()
                .map(|id| {
                    let callers = self.callers[id.index()].iter();
                    let mut callers = callers.copied();
                    self.of_main[id.index()]
                        && callers.all(|(caller, number)| self.is_alone(caller, number))
                })
                .collect();
            if next == self.alone {
                break;
            }
            self.alone = next;
        }
    }

    /// What threads begin with: the functions that are named where a thread is started, or above, where it is started with what callers pass.
    fn started(&self) -> BTreeSet<FunctionId> {
        let callees = |id: FunctionId| self.program.function(id).callees.iter();
        let starts = |id: &FunctionId| {
            callees(*id).any(|callee| STARTING.contains(&callee.name.name.as_str()))
        };
        let mut open: Vec<FunctionId> = self.program.ids().filter(starts).collect();
        let mut seen: BTreeSet<FunctionId> = open.iter().copied().collect();
        let mut started = BTreeSet::new();
        while let Some(id) = open.pop() {
            let named = callees(id).filter(|callee| callee.taken && !callee.method);
            let named: Vec<FunctionId> = named.filter_map(|callee| callee.function).collect();
            if named.is_empty() {
                let callers = self.callers[id.index()].iter();
                open.extend(
                    callers
                        .map(|(caller, _)| *caller)
                        .filter(|id| seen.insert(*id)),
                );
            }
            started.extend(named);
        }
        started
    }

    /// The functions that some functions call, and what those call, with themselves.
    fn reached(&self, mut open: Vec<FunctionId>) -> Vec<bool> {
        let mut reached = vec![false; self.program.functions.len()];
        while let Some(id) = open.pop() {
            if !std::mem::replace(&mut reached[id.index()], true) {
                let callees = self.program.function(id).callees.iter();
                open.extend(callees.filter_map(|callee| callee.function));
            }
        }
        reached
    }

    /// What the calls of a function, or the first of them, did last about threads.
    fn effect(&self, id: FunctionId, first: Option<usize>) -> Option<Effect> {
        let calls = &self.accesses(id)?.calls;
        let calls = &calls[..first.unwrap_or(calls.len()).min(calls.len())];
        calls.iter().rev().find_map(|call| self.effect_of(id, call))
    }

    /// What one of a function's calls does about threads.
    fn effect_of(&self, id: FunctionId, call: &Called) -> Option<Effect> {
        let name = &*call.callee.name;
        match self.callee(id, &call.callee) {
            Some(callee) => self.effects[callee.index()],
            None if STARTING.contains(&name) => Some(Effect::Starts),
            None if JOINING.contains(&name) => Some(Effect::Joins),
            None => None,
        }
    }

    /// The functions that only a process runs which `fork` has made: all their calls are made where it has returned 0, or below such calls.
    pub(super) fn find_children(&mut self) {
        let ids: Vec<FunctionId> = self.program.ids().collect();
        for &id in &ids {
            let called = !self.open[id.index()] && !self.callers[id.index()].is_empty();
            self.in_child[id.index()] = called;
        }
        let mut changed = true;
        while std::mem::take(&mut changed) {
            for &id in &ids {
                let mut callers = self.callers[id.index()].iter();
                if self.in_child[id.index()]
                    && !callers.all(|&(caller, number)| self.is_call_in_child(caller, number))
                {
                    self.in_child[id.index()] = false;
                    changed = true;
                }
            }
        }
    }

    /// Whether there are no other threads after so many calls of a function.
    pub fn is_alone(&self, id: FunctionId, calls: usize) -> bool {
        if self.in_child[id.index()] {
            return true;
        }
        self.of_main[id.index()]
            && match self.effect(id, Some(calls)) {
                Some(Effect::Starts) => false,
                Some(Effect::Joins) => true,
                None => self.alone[id.index()],
            }
    }

    /// Whether a function starts a thread after so many of its calls: what it does before that sets up what the thread works on.
    pub fn starts_after(&self, id: FunctionId, calls: usize) -> bool {
        let mut later = self.calls(id).iter().skip(calls);
        later.any(|call| STARTING.contains(&&*call.callee.name))
    }

    fn calls(&self, id: FunctionId) -> &'p [Called] {
        self.accesses(id)
            .map_or(&[][..], |accesses| &accesses.calls)
    }

    /// Whether only the thread of `main` runs a function, and starts further threads when it has come back from it, whoever calls it: it may well set up
    /// what only those work on.
    pub fn is_set_up(&self, id: FunctionId) -> bool {
        let mut open = vec![id];
        let mut seen = BTreeSet::from([id]);
        while let Some(id) = open.pop() {
            let callers = &self.callers[id.index()];
            if !self.of_main[id.index()] || callers.is_empty() {
                return false;
            }
            for &(caller, number) in callers {
                if !self.starts_later(caller, number) && seen.insert(caller) {
                    open.push(caller);
                }
            }
        }
        true
    }

    /// Whether a function starts a thread, itself or by a callee, after one of its calls.
    fn starts_later(&self, id: FunctionId, number: usize) -> bool {
        let mut later = self.calls(id).iter().skip(number + 1);
        later.any(|call| self.effect_of(id, call) == Some(Effect::Starts))
    }

    /// Whether what a function does after so many of its calls is part of an atomic operation.
    pub fn is_in_atomic_section(&self, id: FunctionId, calls: usize) -> bool {
        let last = calls.checked_sub(1).and_then(|last| self.call(id, last));
        last.is_some_and(|call| call.callee.name == ATOMIC_BEGIN)
    }

    /// Whether a thread runs it that the program starts with a function of its own, a few calls below that: further down it is often some other thread
    /// that comes there.
    pub fn is_near_thread(&self, id: FunctionId) -> bool {
        self.near_threads[id.index()]
    }

    /// Whether two functions may run at a time: some program has both, and a thread that runs one of them, if it is known what threads there are.
    pub fn may_be_beside(&self, one: FunctionId, other: FunctionId) -> bool {
        let together = self.program.are_together(one, other);
        let mut sets = self.of_threads.iter();
        together
            && (self.of_threads.is_empty()
                || sets.any(|(first, reached)| {
                    (reached[one.index()] || reached[other.index()])
                        && self.program.are_in_one_program(&[*first, one, other])
                }))
    }
}
