//! A state of a program with several threads.
//!
//! In: what the machine changes. Out: states that are cheap to copy, and a hash of all that the future depends on: of a
//! frame's registers only those that are read later on.

use std::cell::Cell;
use std::hash::{Hash, Hasher};
use std::rc::Rc;

use imbl::{OrdMap, Vector};
use smallvec::SmallVec;
use xxhash_rust::xxh3::Xxh3;

use super::memory::Memory;
use super::program::Program;
use super::values::Value;
use crate::ir::{ExprId, LocalId, Pos};
use crate::symbolic::term::{Term, Var};

/// A call in progress.
#[derive(Clone)]
pub struct Frame {
    pub code: usize,
    /// The next step.
    pub at: u32,
    /// `None` where nothing was written.
    pub registers: Vec<Option<Value>>,
    /// What the statement at `at` has read so far.
    pub fetched: SmallVec<[(ExprId, Value); 4]>,
    /// Addresses of the locals in memory.
    pub memory: SmallVec<[u64; 4]>,
    /// Where the caller wants the result.
    pub dst: Option<LocalId>,
    /// The whole call is one atomic section.
    pub atomic: bool,
    /// The call initialises an object once, and this is where that is noted.
    pub once: Option<u64>,
    /// In an open program: how often the condition of each step was on unknown values.
    pub rounds: SmallVec<[(u32, u8); 4]>,
}

/// What a thread waits for between the two halves of an operation.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Wait {
    /// In a wait for a condition variable.
    Condition { cond: u64, signalled: bool },
    /// At a barrier that has let so many rounds pass.
    Barrier { barrier: u64, round: u64 },
    /// In a loop that nobody can end, since it reads nothing that others can write.
    Forever,
}

/// How a thread came about.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Birth {
    Main,
    /// `pthread_create`, `thrd_create`: it ends with the process.
    Thread,
    /// `__cassini_async`: it outlives `main`.
    Async,
}

#[derive(Clone)]
pub struct Thread {
    pub frames: Vec<Frame>,
    pub birth: Birth,
    /// The thread that made it; its own number for `main`.
    pub parent: usize,
    /// The function that it begins with.
    pub entry: usize,
    /// So many threads that begin with the same function were made before.
    pub ordinal: usize,
    pub finished: bool,
    /// It stands before a visible step.
    pub started: bool,
    /// The visible step at which the thread stands may be taken.
    pub permit: bool,
    pub result: Value,
    pub wait: Option<Wait>,
    /// The thread for whose end it waits.
    pub joining: Option<usize>,
    pub detached: bool,
    /// The thread that has waited for its end, and how many threads there were then.
    pub joined: Option<(usize, usize)>,
    /// Of several ways to take the next step this one.
    pub picked: Option<usize>,
    /// Unknowns drawn so far.
    pub drawn: u32,
    /// Steps so far at which others may see what it does, for a replay.
    pub counted: u64,
    /// What functions that are not modelled gave, for a replay.
    pub given: Vector<Value>,
    /// Next free addresses of its stack and its part of the heap.
    pub stack: u64,
    pub heap: u64,
    /// Its copies of thread-local objects, by the number of the global.
    pub locals: OrdMap<usize, u64>,
    /// Values of its keys.
    pub keys: OrdMap<u64, Value>,
    /// What it accessed since its last visible step, by words of four bytes.
    pub recent: OrdMap<u64, Access>,
    pub hashes: Hashes,
}

/// Hashes of a thread, once they were asked for.
#[derive(Clone, Default)]
pub struct Hashes {
    /// Of what its future depends on.
    future: Cell<Option<u128>>,
    /// Of what only adds up on the way.
    added: Cell<Option<u128>>,
}

/// A hash that is kept, or made now.
fn kept(hash: &Cell<Option<u128>>, make: impl FnOnce(&mut Xxh3)) -> u128 {
    hash.get().unwrap_or_else(|| {
        let mut hasher = Xxh3::new();
        make(&mut hasher);
        let made = hasher.digest128();
        hash.set(Some(made));
        made
    })
}

impl Thread {
    fn hash_of_future(&self, program: &Program<'_>) -> u128 {
        kept(&self.hashes.future, |hasher| {
            hash_thread(self, program, hasher);
        })
    }

    fn hash_of_added(&self) -> u128 {
        kept(&self.hashes.added, |hasher| {
            for frame in &self.frames {
                frame.rounds.hash(hasher);
            }
            for (word, access) in &self.recent {
                (word, access).hash(hasher);
            }
        })
    }

    pub fn instance(&self) -> super::search::slicing::Instance {
        (self.entry, self.ordinal)
    }
}

/// Locks that a thread holds, and whether nobody else can hold them, too.
pub type Locks = SmallVec<[(u64, bool); 2]>;

/// Accesses to a word.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Access {
    pub written: bool,
    /// So many threads there were at the last one: those that the thread has made since come behind it.
    pub threads: usize,
    /// The locks held at all of them.
    pub locks: Locks,
}

/// Whether two threads that hold these locks cannot be where they hold them at a time.
pub fn excluded(one: &Locks, two: &Locks) -> bool {
    one.iter().any(|(lock, alone)| {
        let other = two.iter().find(|other| other.0 == *lock);
        other.is_some_and(|other| *alone || other.1)
    })
}

/// What is held in both cases.
pub fn common(one: &Locks, two: &Locks) -> Locks {
    let both = one.iter().filter_map(|(lock, alone)| {
        let other = two.iter().find(|other| other.0 == *lock)?;
        Some((*lock, *alone && other.1))
    });
    both.collect()
}

/// An object that threads synchronise by, keyed by its address.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Sync {
    Mutex {
        owner: Option<usize>,
        depth: u32,
        kind: MutexKind,
    },
    ReadWrite {
        writer: Option<usize>,
        readers: Vec<usize>,
    },
    Semaphore {
        count: u64,
    },
    Barrier {
        needed: u64,
        waiting: u64,
        round: u64,
    },
    Once {
        running: Option<usize>,
        done: bool,
    },
    Destroyed,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum MutexKind {
    Normal,
    Recursive,
    ErrorCheck,
}

/// A visible step, or another one that a person wants to see.
#[derive(Clone, Debug)]
pub struct Event {
    pub thread: usize,
    pub code: usize,
    pub step: u32,
    pub pos: Pos,
    /// Calls above it.
    pub depth: usize,
    pub what: What,
}

#[derive(Clone, Debug)]
pub enum What {
    Read {
        addr: u64,
        size: u64,
        value: Value,
    },
    Write {
        addr: u64,
        size: u64,
        value: Value,
    },
    /// A thread was made, of this number.
    Created(usize),
    /// A call of a primitive: as the source has it.
    Call(String),
    Exit,
}

/// The way to a state, last event first.
pub struct Trail {
    pub event: Event,
    pub before: Option<Rc<Trail>>,
    pub length: usize,
}

/// A long way is given up link by link: not by a call for each.
impl Drop for Trail {
    fn drop(&mut self) {
        let mut next = self.before.take();
        while let Some(trail) = next {
            next = Rc::try_unwrap(trail)
                .ok()
                .and_then(|mut trail| trail.before.take());
        }
    }
}

impl Drop for Order {
    fn drop(&mut self) {
        let mut next = self.before.take();
        while let Some(order) = next {
            next = Rc::try_unwrap(order)
                .ok()
                .and_then(|mut order| order.before.take());
        }
    }
}

/// The order of visible steps: the thread, and the number of the step among those that it counts.
pub struct Order {
    pub thread: usize,
    pub step: u64,
    pub before: Option<Rc<Order>>,
}

#[derive(Clone)]
pub struct State {
    pub memory: Memory,
    pub threads: Vec<Rc<Thread>>,
    pub sync: OrdMap<u64, Sync>,
    /// The thread in an atomic section, and how often it has begun one.
    pub atomic: Option<(usize, u32)>,
    /// The path's conditions.
    pub path: Vector<Term>,
    /// Conditions on unknowns that nothing depends on any more: they hold together with the others.
    pub past: Vector<Term>,
    /// Where the unknown pointers lead to that were followed.
    pub bound: OrdMap<Var, u64>,
    /// Unknowns drawn now are inputs.
    pub inputs: bool,
    pub next_key: u64,
    pub trail: Option<Rc<Trail>>,
    pub order: Option<Rc<Order>>,
}

impl State {
    pub fn thread(&self, thread: usize) -> &Thread {
        &self.threads[thread]
    }

    pub fn thread_mut(&mut self, thread: usize) -> &mut Thread {
        let thread = Rc::make_mut(&mut self.threads[thread]);
        thread.hashes = Hashes::default();
        thread
    }

    /// Whether a thread has made another one, or one of those that have made it, after there were so many.
    pub fn made_since(&self, thread: usize, threads: usize, other: usize) -> bool {
        let mut at = other;
        while at != 0 {
            let parent = self.thread(at).parent;
            if parent == thread {
                return at >= threads;
            }
            at = parent;
        }
        false
    }

    /// Whether a thread has begun what it does now, or was made, when another one was known to be at its end.
    pub fn comes_after(&self, thread: usize, ended: usize) -> bool {
        let joined = self.thread(ended).joined;
        joined.is_some_and(|(by, threads)| by == thread || self.made_since(by, threads, thread))
    }

    /// The locks that a thread holds.
    pub fn locks_of(&self, thread: usize) -> Locks {
        let held = self.sync.iter().filter_map(|(addr, sync)| match sync {
            Sync::Mutex { owner, .. } if *owner == Some(thread) => Some((*addr, true)),
            Sync::ReadWrite { writer, readers } => {
                let alone = *writer == Some(thread);
                (alone || readers.contains(&thread)).then_some((*addr, alone))
            }
            _ => None,
        });
        held.collect()
    }

    /// The call that a thread is in.
    pub fn frame(&self, thread: usize) -> Option<&Frame> {
        self.threads[thread].frames.last()
    }

    pub fn record(&mut self, event: Event) {
        let before = self.trail.take();
        let length = before.as_ref().map_or(0, |trail| trail.length) + 1;
        self.trail = Some(Rc::new(Trail {
            event,
            before,
            length,
        }));
    }

    /// The events that led here, first one first.
    pub fn events(&self) -> Vec<Event> {
        let mut events = Vec::new();
        let mut at = self.trail.as_ref();
        while let Some(trail) = at {
            events.push(trail.event.clone());
            at = trail.before.as_ref();
        }
        events.reverse();
        events
    }

    /// The visible steps in their order.
    pub fn order(&self) -> Vec<(usize, u64)> {
        let mut steps = Vec::new();
        let mut at = self.order.as_ref();
        while let Some(order) = at {
            steps.push((order.thread, order.step));
            at = order.before.as_ref();
        }
        steps.reverse();
        steps
    }

    pub fn conditions(&self) -> Vec<Term> {
        self.path.iter().copied().collect()
    }

    /// The path's conditions, and those that nothing depends on any more.
    pub fn all_conditions(&self) -> Vec<Term> {
        self.path.iter().chain(&self.past).copied().collect()
    }

    /// The terms that the future may read.
    pub fn terms(&self, program: &Program<'_>) -> Vec<Term> {
        let mut terms: Vec<Term> = self.memory.terms().collect();
        let mut add = |value: &Value| {
            if let Value::Term(term) = value {
                terms.push(*term);
            }
        };
        for thread in &self.threads {
            add(&thread.result);
            thread.keys.values().for_each(&mut add);
            for frame in &thread.frames {
                let live = program.code[frame.code].code.live.get(frame.at as usize);
                for (index, value) in frame.registers.iter().enumerate() {
                    let read = live.is_some_and(|live| live[index / 64] >> (index % 64) & 1 == 1);
                    if read {
                        value.iter().for_each(&mut add);
                    }
                }
                frame.fetched.iter().for_each(|(_, value)| add(value));
            }
        }
        terms
    }

    /// A hash of all that the future depends on.
    pub fn hash(&self, program: &Program<'_>) -> u128 {
        let mut hasher = Xxh3::new();
        hasher.write_u128(self.hash_but_for_path(program));
        for thread in &self.threads {
            hasher.write_u128(thread.hash_of_added());
        }
        for term in &self.path {
            hasher.write_usize(term.index());
        }
        hasher.digest128()
    }

    /// The same but for the path's conditions and what only adds up on the way ([`join`]).
    pub fn hash_but_for_path(&self, program: &Program<'_>) -> u128 {
        let mut hasher = Xxh3::new();
        hasher.write_u128(self.memory.hash());
        for thread in &self.threads {
            hasher.write_u128(thread.hash_of_future(program));
        }
        for (addr, sync) in &self.sync {
            (addr, sync).hash(&mut hasher);
        }
        (self.atomic, self.inputs, self.next_key).hash(&mut hasher);
        hasher.digest128()
    }
}

/// Adds to a thread what another way to the same state has added up.
pub fn join(thread: &mut Thread, other: &Thread) {
    // Names of unknowns are not given twice.
    thread.drawn = thread.drawn.max(other.drawn);
    for (word, access) in &other.recent {
        match thread.recent.get_mut(word) {
            Some(known) => {
                known.written |= access.written;
                known.threads = known.threads.max(access.threads);
                known.locks = common(&known.locks, &access.locks);
            }
            None => _ = thread.recent.insert(*word, access.clone()),
        }
    }
    for (frame, other) in thread.frames.iter_mut().zip(&other.frames) {
        for &(step, rounds) in &other.rounds {
            match frame.rounds.iter_mut().find(|known| known.0 == step) {
                Some(known) => known.1 = known.1.max(rounds),
                None => frame.rounds.push((step, rounds)),
            }
        }
    }
}

fn hash_thread(thread: &Thread, program: &Program<'_>, hasher: &mut Xxh3) {
    (thread.finished, thread.started, thread.wait).hash(hasher);
    (thread.detached, thread.joined, thread.heap).hash(hasher);
    thread.result.hash(hasher);
    for (key, value) in &thread.keys {
        (key, value).hash(hasher);
    }
    for frame in &thread.frames {
        (frame.code, frame.at, frame.once).hash(hasher);
        let live = program.code[frame.code].code.live.get(frame.at as usize);
        for (index, value) in frame.registers.iter().enumerate() {
            if live.is_some_and(|live| live[index / 64] >> (index % 64) & 1 == 1) {
                (index, value).hash(hasher);
            }
        }
        for (expr, value) in &frame.fetched {
            (expr, value).hash(hasher);
        }
        hasher.write_u8(2);
    }
}
