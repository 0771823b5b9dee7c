//! When functions run: with which locks of their callers, on objects that nobody else knows yet or any more, and beside other threads or not.
//!
//! In: for each function its calls ([`crate::judge::guarded`]). Out: [`Standing`], by fixed points over the call graph. Callers that were not
//! analysed say nothing. A function whose address is taken may be called by anybody, with nothing held; one that is stored in a table
//! for others to call may be called with locks held that these can take.

mod objects;
mod threads;

use std::collections::{BTreeMap, BTreeSet};

use self::threads::Effect;
use crate::ir::SymbolName;
use crate::judge::guarded::{Accesses, Called, Locks};
use crate::judge::record::Record;
use crate::program::{FunctionId, Program};
use crate::settle::phases;
use crate::symbolic::class::Class;

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
    /// It is stored in a table, and none of the callers that find it there is known.
    unseen: Vec<bool>,
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
    /// It runs only in a process that `fork` has made.
    in_child: Vec<bool>,
    /// The objects of which a function initialises a lock, by their numbers.
    initialised: Vec<BTreeSet<u32>>,
    /// Every caller passes something that nobody else knows yet as this parameter.
    fresh: Vec<Vec<bool>>,
    /// The function ends what it is given as this parameter; or every caller does so afterwards.
    ends: Vec<BTreeSet<u32>>,
    ended: Vec<Vec<bool>>,
    /// The classes that are held whenever the function is called; `None`: nothing is known of its callers.
    held: AtCalls<'p>,
    /// The same of the callers that are known: those that find the function in a table may hold other locks.
    held_by_seen: AtCalls<'p>,
    /// The classes that the functions of each file hold at some place of their own.
    taken_in: BTreeMap<&'p str, BTreeSet<&'p Class>>,
    /// There may be several threads.
    pub threaded: bool,
}

/// For each function the classes that are held at all its calls.
type AtCalls<'p> = Vec<Option<BTreeSet<&'p Class>>>;

/// Whether a lock is held at some point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Held {
    Yes,
    No,
    /// Callers that are not known may hold it.
    ByUnseen,
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
            unseen: vec![false; count],
            of_main: vec![false; count],
            of_threads: Vec::new(),
            near_threads: vec![false; count],
            effects: vec![None; count],
            alone: vec![false; count],
            in_child: vec![false; count],
            initialised: vec![BTreeSet::new(); count],
            fresh: vec![Vec::new(); count],
            ends: vec![BTreeSet::new(); count],
            ended: vec![Vec::new(); count],
            held: vec![None; count],
            held_by_seen: vec![None; count],
            taken_in: BTreeMap::new(),
            threaded: true,
        };
        standing.find_callers();
        standing.find_taken();
        standing.find_threads();
        standing.find_children();
        standing.find_initialised();
        standing.find_ends();
        standing.find_parameters();
        standing.held = standing.at_calls(false);
        standing.held_by_seen = standing.at_calls(true);
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
        for id in self.program.ids() {
            let index = id.index();
            let by_table = self.program.function(id).stored;
            self.unseen[index] = !called[index] && !self.open[index] && by_table;
            self.open[index] |= !called[index];
        }
    }

    /// What a function knows to be held at each of its accesses and calls.
    fn locks(&self, id: FunctionId) -> impl Iterator<Item = &'p Locks> {
        let accesses = self.accesses(id).into_iter();
        accesses.flat_map(|accesses| {
            let calls = accesses.calls.iter().map(|call| &call.locks);
            let members = accesses.members.iter().map(|access| &access.locks);
            calls.chain(members)
        })
    }

    fn find_taken(&mut self) {
        for id in self.program.ids() {
            let file = &self.program.function(id).file;
            let locks = self.locks(id);
            let classes = locks.flat_map(|locks| locks.held.iter().chain(&locks.partly));
            let classes: Vec<&Class> = classes.collect();
            self.taken_in.entry(file).or_default().extend(classes);
        }
    }

    /// Whether callers that find the function in a table may hold a lock: it is a global object of the whole program, or no function of the same
    /// file takes it. A lock that the file takes itself is not held where others call into the file.
    fn may_be_held_outside(&self, id: FunctionId, class: &Class) -> bool {
        let everywhere = class.is_single() && !class.to_string().contains("::");
        let own = self.taken_in.get(&*self.program.function(id).file);
        everywhere || own.is_none_or(|own| !own.contains(class))
    }

    pub fn call(&self, caller: FunctionId, number: usize) -> Option<&'p Called> {
        self.accesses(caller)?.calls.get(number)
    }

    /// Whether a call says nothing about locks: it is made on what nobody else knows yet or any more, or while there are no other threads. That a
    /// function sets something up, or tears it down, its name may say alone.
    fn says_nothing(&self, caller: FunctionId, number: usize, call: &Called) -> bool {
        let mut places = call.arguments.iter().flatten();
        let private = |place| {
            self.is_fresh(caller, place)
                || self.is_ended(caller, place)
                || self.is_by_itself(caller, place)
        };
        let told = call.arguments.iter().any(Option::is_some);
        self.is_alone(caller, number)
            || call.in_child
            || match told {
                true => places.all(private),
                false => phases::is_set_up(&self.program.function(caller).name.name),
            }
    }

    /// The classes that are held at all calls of each function. `seen`: of the functions that are called only by a table nothing is known.
    fn at_calls(&self, seen: bool) -> AtCalls<'p> {
        let mut known = vec![None; self.open.len()];
        for _ in 0..MAX_ROUNDS {
            let next = self.program.ids().map(|id| match id.index() {
                at if seen && self.unseen[at] => None,
                at if self.open[at] => Some(BTreeSet::new()),
                _ => self.held_at_calls(id, &known),
            });
            let next = next.collect();
            if next == known {
                break;
            }
            known = next;
        }
        known
    }

    fn held_at_calls(&self, id: FunctionId, known: &AtCalls<'p>) -> Option<BTreeSet<&'p Class>> {
        // Where all calls pass what nobody else knows yet, that says nothing of those objects, and still something of others.
        let telling = self.held_at(id, known, |caller, number, call| {
            !self.says_nothing(caller, number, call)
        });
        telling.or_else(|| {
            self.held_at(id, known, |caller, number, _| {
                !self.is_alone(caller, number)
            })
        })
    }

    /// The classes that are held at all calls of a function that count.
    fn held_at(
        &self,
        id: FunctionId,
        known: &AtCalls<'p>,
        counts: impl Fn(FunctionId, usize, &Called) -> bool,
    ) -> Option<BTreeSet<&'p Class>> {
        let mut all: Option<BTreeSet<&'p Class>> = None;
        for &(caller, number) in &self.callers[id.index()] {
            let call = self.call(caller, number);
            let Some(call) = call.filter(|call| counts(caller, number, call)) else {
                continue;
            };
            let Some(outside) = &known[caller.index()] else {
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

    /// Who calls a function, by which of their calls.
    pub fn callers(&self, id: FunctionId) -> &[(FunctionId, usize)] {
        &self.callers[id.index()]
    }

    /// Whether a call of this function is made in a process that `fork` has made, which has one thread.
    pub fn is_call_in_child(&self, caller: FunctionId, number: usize) -> bool {
        let call = self.call(caller, number);
        self.in_child[caller.index()] || call.is_some_and(|call| call.in_child)
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

    /// Whether a lock of this class is held where this is known of the function's own ones.
    pub fn holds(&self, id: FunctionId, locks: &Locks, class: &Class) -> Held {
        if locks.held.contains(class) {
            return Held::Yes;
        }
        if locks.partly.contains(class) || locks.unclear {
            return Held::Unsure;
        }
        let is_held = |held: &BTreeSet<&Class>| held.contains(class);
        let dropped = locks.dropped.contains(class);
        match &self.held[id.index()] {
            None => Held::Unsure,
            Some(held) if is_held(held) && !dropped => Held::Yes,
            // Who is not known may hold it.
            Some(_)
                if !dropped
                    && self.held_by_seen[id.index()].as_ref().is_none_or(is_held)
                    && self.may_be_held_outside(id, class) =>
            {
                Held::ByUnseen
            }
            Some(_) => Held::No,
        }
    }

    /// The classes that are held: by the function itself, or by all its callers.
    pub fn all_held(&self, id: FunctionId, locks: &'p Locks) -> BTreeSet<&'p Class> {
        let outside = self.held[id.index()].iter().flatten().copied();
        let outside = outside.filter(|class| !locks.dropped.contains(*class));
        locks.held.iter().chain(outside).collect()
    }

    /// Whether a lock may be held at both of two places: by the functions themselves, or by callers.
    pub fn may_exclude(
        &self,
        (one, locks): (FunctionId, &'p Locks),
        (other, theirs): (FunctionId, &'p Locks),
    ) -> bool {
        let perhaps = |id, locks: &'p Locks| {
            let mut held = self.all_held(id, locks);
            held.extend(&locks.partly);
            held
        };
        let held = perhaps(one, locks);
        // What callers hold of whom nothing is known may be any of these.
        let unknown = self.held[other.index()].is_none();
        !held.is_empty() && (unknown || !held.is_disjoint(&perhaps(other, theirs)))
    }
}
