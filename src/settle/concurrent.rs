//! When functions run: with which locks of their callers, on objects that nobody else knows yet or any more, and beside other threads or not.
//!
//! In: for each function its calls ([`crate::judge::guarded`]). Out: [`Standing`], by fixed points over the call graph. Callers that were not
//! analysed say nothing. A function whose address is taken may be called by anybody, with nothing held.

use std::collections::{BTreeMap, BTreeSet};

use crate::frontend::model::ATOMIC_BEGIN;
use crate::ir::SymbolName;
use crate::judge::guarded::{Accesses, Called, Locks, Place, Root};
use crate::judge::record::Record;
use crate::program::{FunctionId, Program, SetId};
use crate::symbolic::class::Class;

/// Functions of libraries that start a thread, and that wait for one to end.
const STARTING: [&str; 5] = [
    "pthread_create",
    "thrd_create",
    "g_thread_new",
    "g_thread_try_new",
    "kthread_create_on_node",
];
const JOINING: [&str; 3] = ["pthread_join", "thrd_join", "g_thread_join"];
/// Words in the names of functions that end what they are given.
const ENDING: [&str; 6] = ["free", "kfree", "kvfree", "vfree", "zfree", "destroy"];
/// Calls below the beginning of a thread that are near it.
const NEAR_THREAD: usize = 3;
/// Iterations of a fixed point.
const MAX_ROUNDS: usize = 24;

/// What all functions together say of each.
pub struct Standing<'p> {
    program: &'p Program,
    records: &'p [Option<Record>],
    /// Who calls each function, by which of the caller's calls.
    callers: Vec<Vec<(FunctionId, usize)>>,
    /// Anybody may call it.
    open: Vec<bool>,
    /// Only the thread that runs `main` runs it.
    pub of_main: Vec<bool>,
    /// What the threads run that the program starts, by what they begin with: one function for each set of programs that such functions are in.
    of_threads: Vec<(FunctionId, Vec<bool>)>,
    /// A thread that the program starts runs it, a few calls below what it begins with.
    near_threads: Vec<bool>,
    /// What a function does about threads, last.
    effects: Vec<Option<Effect>>,
    /// It runs only while there are no other threads.
    alone: Vec<bool>,
    /// Every caller passes something that nobody else knows yet as this parameter.
    fresh: Vec<Vec<bool>>,
    /// The function ends what it is given as this parameter; or every caller does so afterwards.
    ends: Vec<BTreeSet<u32>>,
    ended: Vec<Vec<bool>>,
    /// The classes that are held whenever the function is called; `None`: nothing is known of its callers.
    held: Vec<Option<BTreeSet<&'p Class>>>,
    /// There may be several threads.
    pub threaded: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Effect {
    Starts,
    Joins,
}

/// Whether a lock is held at some point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Held {
    Yes,
    No,
    Unsure,
}

impl<'p> Standing<'p> {
    pub fn of(program: &'p Program, records: &'p [Option<Record>]) -> Standing<'p> {
        let count = program.functions.len();
        let mut standing = Standing {
            program,
            records,
            callers: vec![Vec::new(); count],
            open: vec![false; count],
            of_main: vec![false; count],
            of_threads: Vec::new(),
            near_threads: vec![false; count],
            effects: vec![None; count],
            alone: vec![false; count],
            fresh: vec![Vec::new(); count],
            ends: vec![BTreeSet::new(); count],
            ended: vec![Vec::new(); count],
            held: vec![None; count],
            threaded: true,
        };
        standing.find_callers();
        standing.find_threads();
        standing.find_ends();
        standing.find_parameters();
        standing.find_held();
        standing
    }

    pub fn accesses(&self, id: FunctionId) -> Option<&'p Accesses> {
        let accesses = &self.records.get(id.index())?.as_ref()?.facts.accesses;
        accesses.known.then_some(accesses)
    }

    fn callee(&self, caller: FunctionId, name: &SymbolName) -> Option<FunctionId> {
        self.program.function(caller).callee(name)?.function
    }

    fn find_callers(&mut self) {
        let mut called = vec![false; self.open.len()];
        for caller in self.program.ids() {
            for callee in &self.program.function(caller).callees {
                if let Some(id) = callee.function {
                    called[id.index()] |= callee.called || callee.method;
                    self.open[id.index()] |= callee.taken && !callee.method;
                }
            }
            let calls = self.accesses(caller).map(|accesses| &accesses.calls);
            for (number, call) in calls.into_iter().flatten().enumerate() {
                if let Some(id) = self.callee(caller, &call.callee)
                    && id != caller
                {
                    self.callers[id.index()].push((caller, number));
                }
            }
        }
        for (open, called) in self.open.iter_mut().zip(called) {
            *open |= !called;
        }
    }

    /// Which functions other threads than that of `main` run, and which run before the first of them is started.
    fn find_threads(&mut self) {
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

    /// Whether there are no other threads after so many calls of a function.
    pub fn is_alone(&self, id: FunctionId, calls: usize) -> bool {
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

    /// The parameters that functions end.
    fn find_ends(&mut self) {
        for _ in 0..MAX_ROUNDS {
            let mut changed = false;
            for id in self.program.ids() {
                let Some(accesses) = self.accesses(id) else {
                    continue;
                };
                let mut ended = Vec::new();
                for call in &accesses.calls {
                    for (_, place) in self.ended_by(id, call) {
                        if let Root::Param(number) = place.root
                            && place.objects.len() == 1
                        {
                            ended.push(number);
                        }
                    }
                }
                for number in ended {
                    changed |= self.ends[id.index()].insert(number);
                }
            }
            if !changed {
                break;
            }
        }
    }

    /// What a call ends of what it is given: what the callee ends, and the last pointer where its name says that it ends something (the pool or cache
    /// that an object is from comes before the object).
    fn ended_by<'c>(
        &'c self,
        caller: FunctionId,
        call: &'c Called,
    ) -> impl Iterator<Item = (u32, &'c Place)> {
        let callee = self.callee(caller, &call.callee);
        let by_name = call
            .callee
            .name
            .split('_')
            .any(|word| ENDING.contains(&word));
        let last = call.arguments.iter().rposition(Option::is_some);
        let last = last.filter(|_| by_name);
        call.arguments
            .iter()
            .enumerate()
            .filter_map(move |(index, place)| {
                let number = u32::try_from(index).ok()?;
                let by_callee =
                    callee.is_some_and(|callee| self.ends[callee.index()].contains(&number));
                let ends = by_callee || last == Some(index);
                place.as_ref().filter(|_| ends).map(|place| (number, place))
            })
    }

    /// Whether a function ends an object, or one that it was found through.
    pub fn is_ended(&self, id: FunctionId, place: &Place) -> bool {
        if let Root::Param(number) = place.root
            && self.ended[id.index()].get(number as usize) == Some(&true)
        {
            return true;
        }
        let Some(accesses) = self.accesses(id) else {
            return false;
        };
        let mut ended = accesses
            .calls
            .iter()
            .flat_map(|call| self.ended_by(id, call));
        ended.any(|(_, ended)| {
            let object = ended.objects.first();
            object.is_some_and(|object| place.objects.contains(object))
        })
    }

    /// Whether nobody else knows an object yet: the function has it new, or sets it up, or all its callers do.
    pub fn is_fresh(&self, id: FunctionId, place: &Place) -> bool {
        let initialised = self.accesses(id).map(|accesses| &accesses.initialised);
        let mut objects = place.objects.iter();
        if initialised.is_some_and(|initialised| objects.any(|object| initialised.contains(object)))
        {
            return true;
        }
        match place.root {
            Root::New => true,
            Root::Param(number) => {
                let fresh = self.fresh[id.index()].get(number as usize);
                fresh.is_some_and(|fresh| *fresh)
            }
            Root::Other => false,
        }
    }

    /// Which parameters are always new, and which are always ended by those who pass them.
    fn find_parameters(&mut self) {
        let mut widths = vec![0; self.open.len()];
        for id in self.program.ids() {
            for &(caller, number) in &self.callers[id.index()] {
                if let Some(call) = self.call(caller, number) {
                    widths[id.index()] = call.arguments.len().max(widths[id.index()]);
                }
            }
            let unknown = self.open[id.index()] || self.callers[id.index()].is_empty();
            let width = if unknown { 0 } else { widths[id.index()] };
            self.fresh[id.index()] = vec![true; width];
            self.ended[id.index()] = vec![true; width];
        }
        for _ in 0..MAX_ROUNDS {
            let fresh =
                self.of_parameters(&self.fresh, |caller, place| self.is_fresh(caller, place));
            let ended =
                self.of_parameters(&self.ended, |caller, place| self.is_ended(caller, place));
            if fresh == self.fresh && ended == self.ended {
                return;
            }
            (self.fresh, self.ended) = (fresh, ended);
        }
        // It has not come to rest: nothing is taken for granted.
        self.fresh.iter_mut().for_each(Vec::clear);
        self.ended.iter_mut().for_each(Vec::clear);
    }

    fn of_parameters(
        &self,
        known: &[Vec<bool>],
        is: impl Fn(FunctionId, &Place) -> bool,
    ) -> Vec<Vec<bool>> {
        let mut next = known.to_vec();
        for (parameters, callers) in next.iter_mut().zip(&self.callers) {
            for (number, parameter) in parameters.iter_mut().enumerate() {
                let mut callers = callers.iter().copied();
                *parameter = *parameter
                    && callers.all(|(caller, at)| {
                        let call = self.call(caller, at);
                        let place = call.and_then(|call| call.arguments.get(number));
                        let place = place.and_then(Option::as_ref);
                        place.is_some_and(|place| is(caller, place))
                    });
            }
        }
        next
    }

    pub fn call(&self, caller: FunctionId, number: usize) -> Option<&'p Called> {
        self.accesses(caller)?.calls.get(number)
    }

    /// Whether a call says nothing about locks: it is made on what nobody else knows yet or any more, or while there are no other threads.
    fn says_nothing(&self, caller: FunctionId, number: usize, call: &Called) -> bool {
        let mut places = call.arguments.iter().flatten();
        let private = |place| self.is_fresh(caller, place) || self.is_ended(caller, place);
        self.is_alone(caller, number)
            || (call.arguments.iter().any(Option::is_some) && places.all(private))
    }

    fn find_held(&mut self) {
        for _ in 0..MAX_ROUNDS {
            let ids = self.program.ids();
            let next: Vec<_> = ids.map(|id| self.held_at_calls(id)).collect();
            if next == self.held {
                return;
            }
            self.held = next;
        }
    }

    fn held_at_calls(&self, id: FunctionId) -> Option<BTreeSet<&'p Class>> {
        if self.open[id.index()] {
            return Some(BTreeSet::new());
        }
        // Where all calls pass what nobody else knows yet, that says nothing of those objects, and still something of others.
        let telling = self.held_at(id, |caller, number, call| {
            !self.says_nothing(caller, number, call)
        });
        telling.or_else(|| self.held_at(id, |caller, number, _| !self.is_alone(caller, number)))
    }

    /// The classes that are held at all calls of a function that count.
    fn held_at(
        &self,
        id: FunctionId,
        counts: impl Fn(FunctionId, usize, &Called) -> bool,
    ) -> Option<BTreeSet<&'p Class>> {
        let mut all: Option<BTreeSet<&'p Class>> = None;
        for &(caller, number) in &self.callers[id.index()] {
            let call = self.call(caller, number);
            let Some(call) = call.filter(|call| counts(caller, number, call)) else {
                continue;
            };
            let Some(outside) = &self.held[caller.index()] else {
                continue;
            };
            if call.locks.unclear {
                continue;
            }
            let outside = outside.iter().copied();
            let kept = outside.filter(|class| !call.locks.dropped.contains(*class));
            let held = call.locks.held.iter().chain(&call.locks.partly);
            let here: BTreeSet<&Class> = held.chain(kept).collect();
            match &mut all {
                Some(known) => known.retain(|class| here.contains(class)),
                None => all = Some(here),
            }
        }
        all
    }

    /// The last of the pointers that a function is given, as far as its callers show.
    pub fn last_pointer(&self, id: FunctionId) -> Option<u32> {
        let calls = self.callers[id.index()].iter();
        let calls = calls.filter_map(|&(caller, number)| self.call(caller, number));
        let last = calls.filter_map(|call| call.arguments.iter().rposition(Option::is_some));
        last.max().and_then(|last| u32::try_from(last).ok())
    }

    /// Who calls a function, by which of their calls.
    pub fn callers(&self, id: FunctionId) -> &[(FunctionId, usize)] {
        &self.callers[id.index()]
    }

    /// Whether no caller is known to hold a lock where it calls the function.
    pub fn is_called_without_locks(&self, id: FunctionId) -> bool {
        let mut calls = self.callers[id.index()].iter();
        calls.all(|&(caller, number)| {
            let held = self.held[caller.index()].as_ref();
            let call = self.call(caller, number);
            held.is_none_or(BTreeSet::is_empty)
                && call.is_none_or(|call| {
                    call.locks.held.is_empty()
                        && call.locks.partly.is_empty()
                        && !call.locks.unclear
                })
        })
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

    /// Whether a lock of this class is held where this is known of the function's own ones.
    pub fn holds(&self, id: FunctionId, locks: &Locks, class: &Class) -> Held {
        if locks.held.contains(class) {
            return Held::Yes;
        }
        if locks.partly.contains(class) || locks.unclear {
            return Held::Unsure;
        }
        match &self.held[id.index()] {
            None => Held::Unsure,
            Some(held) if held.contains(class) && !locks.dropped.contains(class) => Held::Yes,
            Some(_) => Held::No,
        }
    }

    /// The classes that are held: by the function itself, or by all its callers.
    pub fn all_held(&self, id: FunctionId, locks: &'p Locks) -> BTreeSet<&'p Class> {
        let outside = self.held[id.index()].iter().flatten().copied();
        let outside = outside.filter(|class| !locks.dropped.contains(*class));
        locks.held.iter().chain(outside).collect()
    }
}
