//! The environment ψ with its guard (paper §2.1–2.2), and the merging of two (Figures 3 and 6).
//!
//! In: states at the ends of edges into a block. Out: the state at its start. A tracked object's
//! machine state is held like a pointer's value, as a guarded set.

use imbl::{HashSet, OrdMap, ordmap::DiffItem};
use smallvec::SmallVec;

use super::formula::Formula;
use super::guard::{Guard, Guards};
use super::heap::Heap;
use super::memory::Memory;
use super::region::Loc;
use super::term::Term;
use crate::property::StateId;

/// A machine of the property, an index into the executor's list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MachineId(pub u16);

/// An object under one machine: a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Object {
    pub loc: Loc,
    pub machine: MachineId,
}

/// Where a machine stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Status {
    At(StateId),
    /// The error state, with the event that led there.
    Error(u32),
}

/// An object's machine state on the paths that reach a point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tracked {
    /// Guarded states, each state once; the guards are exclusive and cover all paths.
    pub set: SmallVec<[(Status, Guard); 3]>,
    /// The paths on which the function itself has moved the object.
    pub touched: Guard,
}

impl Tracked {
    /// The guard under which the object is in a state.
    pub fn guard_of(&self, status: Status) -> Guard {
        self.set
            .iter()
            .find(|entry| entry.0 == status)
            .map_or(Guard::FALSE, |entry| entry.1)
    }

    /// The guard under which the object is in the error state.
    pub fn errors(&self, formula: &mut Formula) -> Guard {
        let errors = self
            .set
            .iter()
            .filter(|entry| matches!(entry.0, Status::Error(_)));
        errors.fold(Guard::FALSE, |all, entry| formula.guards.or(all, entry.1))
    }

    /// Adds a guarded state, keeping the set normal.
    pub fn add(&mut self, formula: &mut Formula, status: Status, guard: Guard) {
        if guard == Guard::FALSE {
            return;
        }
        match self.set.iter_mut().find(|entry| entry.0 == status) {
            Some(entry) => entry.1 = formula.guards.or(entry.1, guard),
            None => {
                let at = self.set.partition_point(|entry| entry.0 < status);
                self.set.insert(at, (status, guard));
            }
        }
    }

    fn merge(&self, formula: &mut Formula, guard: Guard, other: &Tracked) -> Tracked {
        let touched = formula.guards.ite(guard, self.touched, other.touched);
        let mut merged = Tracked {
            set: SmallVec::new(),
            touched,
        };
        for &(status, here) in &self.set {
            let there = other.guard_of(status);
            let joined = formula.guards.ite(guard, here, there);
            merged.add(formula, status, joined);
        }
        for &(status, there) in &other.set {
            if self.guard_of(status) == Guard::FALSE {
                let joined = formula.guards.and_not(there, guard);
                merged.add(formula, status, joined);
            }
        }
        merged
    }
}

/// Machine states of the objects that the function has touched so far.
pub type Objects = OrdMap<Object, Tracked>;

#[derive(Clone, Debug)]
pub struct State {
    /// The paths that get here.
    pub guard: Guard,
    pub memory: Memory,
    pub objects: Objects,
    /// Pointers that every path here has dereferenced.
    pub nonnull: HashSet<Term>,
}

impl State {
    pub fn new() -> Self {
        State {
            guard: Guard::TRUE,
            memory: Memory::default(),
            objects: Objects::new(),
            nonnull: HashSet::new(),
        }
    }

    /// Leaves out paths that there are not; whether it has. What is known by mistake must not end all paths: where none would be left, they stay.
    pub fn leave_out(&mut self, guards: &mut Guards, never: Guard) -> bool {
        let left = guards.and_not(self.guard, never);
        if left == Guard::FALSE {
            return false;
        }
        self.guard = left;
        true
    }

    /// MergeEnv. `entry` gives an object's state on entry to the function.
    pub fn merge(
        self,
        other: State,
        heap: &mut Heap<'_>,
        entry: &mut dyn FnMut(&mut Formula, Object) -> Tracked,
    ) -> State {
        if self.guard == Guard::FALSE {
            return other;
        }
        if other.guard == Guard::FALSE {
            return self;
        }
        let choice = heap.formula.relative(self.guard, other.guard);
        let guard = heap.formula.guards.or(self.guard, other.guard);
        let guard = heap.formula.bound(guard);
        let memory = self.memory.merge(heap, choice, &other.memory);
        let mut objects = self.objects.clone();
        if !self.objects.ptr_eq(&other.objects) {
            for item in self.objects.diff(&other.objects) {
                let (object, here, there) = match item {
                    DiffItem::Add(object, there) => {
                        (*object, entry(heap.formula, *object), there.clone())
                    }
                    DiffItem::Remove(object, here) => {
                        (*object, here.clone(), entry(heap.formula, *object))
                    }
                    DiffItem::Update { old, new } => (*old.0, old.1.clone(), new.1.clone()),
                };
                objects.insert(object, here.merge(heap.formula, choice, &there));
            }
        }
        let nonnull = if self.nonnull.ptr_eq(&other.nonnull) {
            self.nonnull
        } else {
            self.nonnull.intersection(other.nonnull)
        };
        State {
            guard,
            memory,
            objects,
            nonnull,
        }
    }
}

impl Default for State {
    fn default() -> Self {
        State::new()
    }
}
