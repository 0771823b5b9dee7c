//! Reading and writing through pointers (paper Figures 5 and 6).
//!
//! In: address terms and a state. Out: the guarded location sets that they stand for, values read, the state
//! after a write.

use std::rc::Rc;

use smallvec::{SmallVec, smallvec};

use super::access::{Accessor, start_of};
use super::arena::Arena;
use super::exec::Executor;
use super::guard::Guard;
use super::heap::Shape;
use super::memory::Memory;
use super::origin::Origin;
use super::region::{Loc, RegionId, RegionKind};
use super::state::State;
use super::term::{Node, Op, Term, Var};
use crate::ir::{Local, POINTER_BITS, Ty};

/// Locations an address may stand for: `(guard, location)`, exclusive, null left out.
pub type Locations = Rc<[(Guard, Loc)]>;

/// Locations of one address beyond this number are dropped.
const MAX_LOCATIONS: usize = 12;
/// Nested choices of a value, and bytes of a block, that are looked at for a pointer which the block holds.
const MAX_CHOICES: u32 = 6;
const MAX_SEARCHED: u64 = 4096;
/// Conditions at which one address is split: n independent ones have 2^n outcomes.
const MAX_SPLITS: u32 = 48;

impl Arena<'_> {
    /// The guarded location set of an address (paper Figure 5). Null is left out, since the pointer is about to be
    /// dereferenced.
    pub fn locations(&mut self, address: Term) -> Locations {
        if let Some(known) = self.locations.get(&address) {
            return known.clone();
        }
        let mut found: Vec<(Guard, Loc)> = Vec::new();
        let mut invalid = Guard::FALSE;
        let mut null = Guard::FALSE;
        let mut work = vec![(Guard::TRUE, address)];
        let mut splits = 0;
        while let Some((guard, term)) = work.pop() {
            if guard == Guard::FALSE {
                continue;
            }
            if found.len() > MAX_LOCATIONS || work.len() > 64 || splits >= MAX_SPLITS {
                self.untold.insert(address);
                continue;
            }
            let choice = self.split_conditional(term);
            match choice {
                Some((condition, then, els)) => {
                    splits += 1;
                    let condition = self.formula.guard_of(condition);
                    work.push((self.formula.guards.and_not(guard, condition), els));
                    work.push((self.formula.guards.and(guard, condition), then));
                }
                None => {
                    if let Some(loc) = self.regions.locate(&self.formula.terms, term) {
                        match found.iter_mut().find(|entry| entry.1 == loc) {
                            Some(entry) => entry.0 = self.formula.guards.or(entry.0, guard),
                            None => found.push((guard, loc)),
                        }
                    } else {
                        invalid = self.formula.guards.or(invalid, guard);
                        if self.formula.terms.as_const(term) == Some(0) {
                            null = self.formula.guards.or(null, guard);
                        }
                    }
                }
            }
        }
        found.sort_by_key(|entry| entry.1);
        let found: Locations = found.into();
        if invalid != Guard::FALSE {
            self.invalid_on.insert(address, invalid);
        }
        if null != Guard::FALSE {
            self.null_on.insert(address, null);
        }
        self.locations.insert(address, found.clone());
        found
    }

    /// Whether an address has places that are not told apart from others: they were too many.
    pub fn has_untold_places(&mut self, address: Term) -> bool {
        self.locations(address);
        self.untold.contains(&address)
    }

    /// Whether pointers have fewer bits in memory than their values.
    pub fn has_narrow_pointers(&self) -> bool {
        self.pointer_size * 8 < u64::from(POINTER_BITS)
    }

    /// How a scalar lies in memory.
    pub fn shape(&self, ty: Ty) -> Shape {
        match ty {
            Ty::Ptr => Shape::pointer(self.pointer_size),
            _ => u64::from(ty.bits()).div_ceil(8).clamp(1, 16).into(),
        }
    }

    /// How a local that is a scalar lies in memory.
    pub(super) fn local_shape(&self, local: &Local) -> Shape {
        match local.ty {
            Some(Ty::Ptr) => self.shape(Ty::Ptr),
            _ => local.size.clamp(1, 16).into(),
        }
    }

    /// Whether a value of this many bytes is one of this many bits.
    pub fn is_whole(&self, size: u64, bits: u16) -> bool {
        let shape = Shape { bytes: size, bits };
        shape == Shape::from(size) || shape == self.shape(Ty::Ptr)
    }

    /// Whether the bytes' value is that on entry.
    pub fn is_initial(&mut self, loc: Loc, size: u64, value: Term) -> bool {
        let bits = self.formula.terms.width(value);
        self.heap().initial(loc, Shape { bytes: size, bits }) == value
    }

    /// What a load would give, if execution went there.
    pub fn peek(&mut self, state: &State, address: Term, ty: Ty) -> Term {
        let locations = self.locations(address);
        self.read_at(state, &locations, ty)
    }

    fn read_at(&mut self, state: &State, locations: &Locations, ty: Ty) -> Term {
        let shape = self.shape(ty);
        let memory = state.memory.clone();
        let mut value: Option<Term> = None;
        for &(guard, loc) in locations.iter().rev() {
            let here = memory.read(&mut self.heap(), loc, shape);
            value = Some(match value {
                Some(other) => self.formula.ite_guard(guard, here, other),
                None => here,
            });
        }
        let value = value.unwrap_or_else(|| self.unknown(shape.bits));
        let value = self.resize(value, ty.bits());
        if ty == Ty::Ptr {
            self.mark_pointer(value, 8);
        }
        value
    }

    /// Whether a value is a part of the unknown that a callee has left behind a pointer that it got.
    fn is_left_by_callee(&self, value: Term) -> bool {
        let unknown = |term: Term| match *self.formula.terms.node(term) {
            Node::Var(var) => Some(self.origins.of(var)),
            _ => None,
        };
        let Some(Origin::Initial { loc, .. }) = unknown(value) else {
            return false;
        };
        let RegionKind::Environment { base } = *self.regions.kind(loc.region) else {
            return false;
        };
        matches!(unknown(base), Some(Origin::Unknown))
    }

    /// Notes where a value is found, if it or one that it is by choice is a pointer that a callee has left there.
    pub fn found(&mut self, value: Term, (address, place): (Term, Option<Loc>)) {
        let choices = match self.formula.terms.width(value) {
            POINTER_BITS => self.formula.choices(value, MAX_CHOICES),
            _ => vec![value],
        };
        for pointer in choices {
            if self.is_left_by_callee(pointer) {
                self.names.left_at(pointer, address);
                if let Some(loc) = place {
                    self.found_at.entry(pointer).or_insert(loc);
                }
            }
        }
    }

    /// What the state holds at a location, if it is of a scalar's size.
    pub fn scalar_at(&mut self, state: &State, loc: Loc, size: u64) -> Option<Term> {
        let scalar = matches!(size, 1 | 2 | 4 | 8);
        let shape = state.memory.shape(&self.formula.terms, loc, size);
        scalar.then(|| state.memory.read(&mut self.heap(), loc, shape))
    }

    /// Marks the leaves of a pointer value as pointers.
    pub fn mark_pointer(&mut self, value: Term, depth: u32) {
        match self.formula.terms.node(value) {
            Node::Op { op: Op::Ite, args } => {
                let (then, els) = (args[1], args[2]);
                if depth > 0 {
                    self.mark_pointer(then, depth - 1);
                    self.mark_pointer(els, depth - 1);
                }
            }
            Node::Const(_) | Node::Linear { .. } => {}
            _ => self.formula.terms.mark_pointer(value),
        }
    }
}

impl Arena<'_> {
    /// Whether a pointer that is stored at a location may take the place of the pointer to the block in which the pointer to the location's
    /// block was found, as in a doubly linked list (`e->prev->next = e->next`): both blocks are records of one kind, and another member of theirs is
    /// read than is written. Where the source names no record (`*e->previous = e->next`), the block must hold what is stored. Not
    /// looked for where memory is not watched.
    pub fn links_back(&mut self, memory: &Memory, loc: Loc, value: Term) -> bool {
        if !self.watches || self.formula.terms.width(value) != POINTER_BITS {
            return false;
        }
        let Some(held) = self.read_from(loc.region) else {
            return false;
        };
        match (self.members_at.get(&loc), self.members_at.get(&held)) {
            (None, _) => self.is_held_by(memory, held.region, value),
            (Some(written), read) => {
                let alike = read.is_some_and(|read| read.record == written.record);
                loc.offset != held.offset && alike
            }
        }
    }

    /// Whether a block holds a pointer, or one that this is by choice.
    fn is_held_by(&mut self, memory: &Memory, block: RegionId, pointer: Term) -> bool {
        let start = start_of(block);
        let written = memory.words(&self.formula.terms, start, MAX_SEARCHED);
        let choices = self.formula.choices(pointer, MAX_CHOICES);
        choices.into_iter().any(|choice| {
            let was_there = self.locations(choice).iter().any(|(_, to)| {
                let from = self.read_from(to.region);
                from.is_some_and(|from| from.region == block)
            });
            was_there || written.iter().any(|&(_, word)| word == choice)
        })
    }
}

impl Executor<'_> {
    /// Notes that execution accesses what an address leads to, and checks that it may.
    pub fn access(&mut self, state: &mut State, address: Term, locations: &Locations) {
        if self.arena.watches {
            let accessed = self.accessed.take();
            let pointer = accessed.map_or(address, |(_, pointer)| pointer);
            let accessor = Accessor::Statement(accessed.map(|(expr, _)| expr));
            self.check_access(state, (pointer, locations), state.guard, accessor);
            // A run that goes on had a pointer that leads somewhere.
            let mut ended = self.assume_accessible(state, address, Guard::TRUE);
            // Nor does a number lead anywhere that is added to null.
            if pointer != address {
                let of_pointer = self.assume_accessible(state, pointer, Guard::TRUE);
                ended = self.arena.formula.guards.or(ended, of_pointer);
            }
            if self.is_invalid_here(state, address) {
                let guards = &mut self.arena.formula.guards;
                self.arena.crashed = guards.or(self.arena.crashed, state.guard);
            }
            if ended != Guard::FALSE {
                let known = self.arena.followed_null.entry(pointer).or_default();
                *known = self.arena.formula.guards.or(*known, ended);
            }
        }
        self.dereference(state, locations);
    }

    /// Notes that execution dereferences a pointer, so that later tests for null fold.
    pub fn dereference(&mut self, state: &mut State, locations: &[(Guard, Loc)]) {
        for &(guard, loc) in locations {
            if let RegionKind::Environment { base } = *self.arena.regions.kind(loc.region)
                && !state.nonnull.contains(&base)
            {
                let paths = self.arena.formula.guards.and(state.guard, guard);
                self.arena.dereferenced_on(loc, paths);
                // Of several pointers each is dereferenced on some of the paths, and perhaps on the others by an access before.
                if locations.len() == 1 || self.arena.is_dereferenced_on(base, state.guard) {
                    state.nonnull.insert(base);
                }
            }
        }
    }

    /// Whether an address leads nowhere on any path to a state.
    fn is_invalid_here(&mut self, state: &State, address: Term) -> bool {
        let invalid = self.arena.invalid_on.get(&address);
        invalid.is_some_and(|&invalid| {
            let guards = &mut self.arena.formula.guards;
            guards.implies(state.guard, invalid)
        })
    }

    /// Ends those of these paths on which an address that is accessed there is invalid, if there are others; which they are.
    pub fn assume_accessible(&mut self, state: &mut State, address: Term, paths: Guard) -> Guard {
        let Some(&invalid) = self.arena.invalid_on.get(&address) else {
            return Guard::FALSE;
        };
        let guards = &mut self.arena.formula.guards;
        let invalid = guards.and(invalid, paths);
        let (ended, valid) = (
            guards.and(state.guard, invalid),
            guards.and_not(state.guard, invalid),
        );
        if valid == Guard::FALSE {
            return Guard::FALSE;
        }
        state.guard = valid;
        ended
    }

    /// The places at which execution certainly accesses an object. The paths on which the address is invalid end here; if
    /// just one place is left, the object is there on all others.
    pub fn certain_places(
        &mut self,
        state: &mut State,
        address: Term,
        places: Vec<(Guard, Loc)>,
    ) -> Vec<(Guard, Loc)> {
        self.assume_accessible(state, address, Guard::TRUE);
        self.dereference(state, &places);
        match places[..] {
            [(_, loc)] => vec![(Guard::TRUE, loc)],
            _ => places,
        }
    }

    /// The one location of an address, if it has just one.
    pub fn single(&mut self, state: &mut State, address: Term) -> Option<Loc> {
        let locations = self.arena.locations(address);
        self.access(state, address, &locations);
        match locations[..] {
            [(_, loc)] => Some(loc),
            _ => None,
        }
    }

    pub fn load(&mut self, state: &mut State, address: Term, ty: Ty) -> Term {
        let locations = self.arena.locations(address);
        self.access(state, address, &locations);
        let value = self.arena.read_at(state, &locations, ty);
        if self.arena.watches {
            let place = match locations[..] {
                [(_, loc)] => Some(loc),
                _ => None,
            };
            self.arena.found(value, (address, place));
        }
        value
    }

    pub fn store(&mut self, state: &mut State, address: Term, value: Term, shape: Shape) {
        let locations = self.arena.locations(address);
        self.access(state, address, &locations);
        let value = self.arena.resize(value, shape.bits);
        if self.arena.watches {
            for &(guard, loc) in locations.iter() {
                let paths = self.arena.formula.guards.and(state.guard, guard);
                self.note_stored(loc, value, paths);
            }
        }
        if let [(_, loc)] = locations[..] {
            state.memory.write_shape(loc, value, shape);
            if self.arena.links_back(&state.memory, loc, value) {
                let since = self.arena.formula.terms.next_var();
                self.relink(state, Guard::TRUE, (loc, value, shape), since);
            }
            self.release_stored_bits(state, Guard::TRUE, loc, shape.bytes);
            return;
        }
        for &(guard, loc) in locations.iter() {
            let memory = state.memory.clone();
            let old = memory.read(&mut self.arena.heap(), loc, shape);
            let new = self.arena.formula.ite_guard(guard, value, old);
            state.memory.write_shape(loc, new, shape);
            if self.arena.links_back(&state.memory, loc, value) {
                let since = self.arena.formula.terms.next_var();
                self.relink(state, guard, (loc, value, shape), since);
            }
            self.release_stored_bits(state, guard, loc, shape.bytes);
        }
    }

    /// Takes a pointer that is stored through a pointer which a block holds to be stored, perhaps, where the pointer to the block
    /// was read from: so a list's element is taken out (`e->next->prev = e->prev`), whose neighbours are otherwise taken to be
    /// different objects. `guard`: the paths on which it is stored there; `since`: the first unknown of the step that stores it.
    pub fn relink(
        &mut self,
        state: &mut State,
        guard: Guard,
        (loc, value, shape): (Loc, Term, Shape),
        since: Var,
    ) {
        if !self.arena.watches || shape.bits != POINTER_BITS {
            return;
        }
        let Some(held) = self.arena.read_from(loc.region) else {
            return;
        };
        let (mut places, left) = self.pointers_to(held.region);
        let written = self.arena.member_of(loc).cloned();
        places.retain(|place| {
            let read = self.arena.member_of(*place);
            let both = written.as_ref().zip(read);
            let apart = both.is_some_and(|(one, other)| one.is_apart(other));
            place.region != loc.region && (!apart || self.is_compared(held.region, *place))
        });
        if places.is_empty() {
            return;
        }
        let same = self.arena.unknown(1);
        self.arena.decides_link(same, since);
        let same = self.arena.formula.guard_of(same);
        let replaced = self.arena.formula.guards.and(guard, same);
        for place in places {
            let memory = state.memory.clone();
            let old = memory.read(&mut self.arena.heap(), place, shape);
            let here = match left {
                Some(pointer) => {
                    let there = self.arena.formula.terms.eq(old, pointer);
                    let there = self.arena.formula.guard_of(there);
                    self.arena.formula.guards.and(replaced, there)
                }
                None => replaced,
            };
            let new = self.arena.formula.ite_guard(here, value, old);
            state.memory.write_shape(place, new, shape);
        }
    }

    /// Whether the function asks if a pointer to a block leads to where a place lies: the head of a list that ends with it, whatever record it is.
    fn is_compared(&mut self, block: RegionId, place: Loc) -> bool {
        let Some(pointer) = self.arena.regions.base(block) else {
            return false;
        };
        let formula = &mut self.arena.formula;
        let head = self
            .arena
            .regions
            .address(&mut formula.terms, start_of(place.region));
        let same = formula.terms.eq(pointer, head);
        // What has not been asked for before the function does not ask for.
        let same = formula.known_guard(same);
        let literal = same.and_then(|same| formula.guards.as_literal(same));
        literal.is_some_and(|(condition, _)| self.arena.own_conditions.contains_key(&condition))
    }

    /// Where the pointer to a block was read from; else where the callee that has made it has left it, and the pointer: on some paths another one may
    /// be there.
    fn pointers_to(&self, block: RegionId) -> (SmallVec<[Loc; 2]>, Option<Term>) {
        let pointer = self.arena.regions.base(block);
        let found = pointer.and_then(|pointer| self.arena.found_at.get(&pointer));
        if let Some(&place) = found {
            return (smallvec![place], pointer);
        }
        if let Some(place) = self.arena.read_from(block) {
            return (smallvec![place], None);
        }
        let places = pointer.and_then(|pointer| self.arena.left_at.get(&pointer));
        (places.cloned().unwrap_or_default(), pointer)
    }

    /// Makes a record one of several, where it is known which they are.
    pub(super) fn copy_record(
        &mut self,
        state: &mut State,
        to: Loc,
        sources: &Locations,
        size: u64,
    ) {
        if let [(_, from)] = sources[..] {
            state.memory.copy(to, from, size);
            return;
        }
        let before = state.memory.clone();
        for &(guard, from) in sources.iter() {
            let mut copied = state.memory.clone();
            copied.copy_from(&before, to, from, size);
            let kept = state.memory.clone();
            state.memory = copied.merge(&mut self.arena.heap(), guard, &kept);
        }
    }

    /// Copies bytes that can be accessed.
    pub fn copy_bytes(&mut self, state: &mut State, to: Loc, from: Loc, size: u64) {
        self.note_copied(state, to, from, size);
        state.memory.copy(to, from, size);
    }

    pub(super) fn copy(&mut self, state: &mut State, to: Term, from: Term, size: u64) {
        if size == 0 {
            return;
        }
        match (self.single(state, to), self.single(state, from)) {
            (Some(to), Some(from)) => self.copy_bytes(state, to, from, size),
            (Some(_), None) if size <= 8 => {
                let value = self.load(
                    state,
                    from,
                    Ty::Int {
                        bits: (size * 8) as u16,
                        signed: false,
                    },
                );
                self.store(state, to, value, size.into());
            }
            _ => {
                // Several sources or targets: each target keeps its old bytes or gets each source's.
                let targets = self.arena.locations(to);
                let sources = self.arena.locations(from);
                let before = state.memory.clone();
                for &(to_guard, to) in targets.iter() {
                    for &(from_guard, from) in sources.iter() {
                        self.note_copied(state, to, from, size);
                        let guard = self.arena.formula.guards.and(to_guard, from_guard);
                        let mut copied: Memory = state.memory.clone();
                        copied.copy_from(&before, to, from, size);
                        let kept = state.memory.clone();
                        state.memory = copied.merge(&mut self.arena.heap(), guard, &kept);
                    }
                }
            }
        }
    }

    pub fn havoc(&mut self, state: &mut State, address: Term, size: u64) {
        let locations = self.arena.locations(address);
        for &(guard, loc) in locations.iter() {
            let kept = state.memory.clone();
            state.memory.havoc(&mut self.arena.heap(), loc, size);
            if guard != Guard::TRUE && locations.len() > 1 {
                state.memory = state
                    .memory
                    .clone()
                    .merge(&mut self.arena.heap(), guard, &kept);
            }
        }
    }
}
