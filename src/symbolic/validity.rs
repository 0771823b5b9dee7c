//! Which pointers are valid: a path that dereferences a pointer has one that is neither null nor an error number. An object
//! exists where the pointers on its access path are valid and the call that returned the first was made.
//!
//! In: the pointers that a path has dereferenced, and guards. Out: the guards without the paths on which such a pointer is
//! invalid, and the guard under which an object exists.

use super::arena::Arena;
use super::exec::Executor;
use super::guard::{Cond, Guard};
use super::origin::Origin;
use super::region::{Loc, NUMBER_BITS, RegionKind};
use super::state::State;
use super::term::{MAX_MEMBER_OFFSET, Node, Op, Term};
use crate::ir::{FIRST_POINTER, POINTER_BITS};

/// Choices one within the other that a pointer is made of, as far as they are looked at.
const MAX_CHOICES: u32 = 8;
/// Pointers followed back from an object to the call that returned the first.
const MAX_POINTER_CHAIN: usize = 8;
/// Results from the negative of this on are error numbers, as values and as pointers (IS_ERR).
pub const MAX_ERRNO: u128 = 4095;
/// Addresses above this are error numbers (IS_ERR), not pointers.
pub const LAST_POINTER: u128 = u64::MAX as u128 - MAX_ERRNO;
/// The standard streams have the numbers up to this one: they are open from the start, and nobody need close them.
const LAST_STREAM: u128 = 2;

/// Whether no object has this address: none lies in the first page or where error numbers do, even seen from
/// a member of it: `&p->member == 0` is `p == -offset`.
pub fn is_invalid(address: u64) -> bool {
    !(FIRST_POINTER..=LAST_POINTER - MAX_MEMBER_OFFSET).contains(&u128::from(address))
}

impl Arena<'_> {
    /// The guard under which the object that a location names exists: its pointer is not null, and the
    /// call that it came from was made. A number that names one is no failure.
    pub fn exists(&mut self, loc: Loc) -> Guard {
        if let RegionKind::Value { of } = *self.regions.kind(loc.region) {
            let terms = &mut self.formula.terms;
            let last = terms.constant(LAST_STREAM, NUMBER_BITS);
            let given = terms.slt(last, of);
            return self.formula.guard_of(given);
        }
        let RegionKind::Environment { mut base } = *self.regions.kind(loc.region) else {
            return Guard::TRUE;
        };
        let there = self.nonzero(base);
        let mut exists = self.formula.guard_of(there);
        for _ in 0..MAX_POINTER_CHAIN {
            if let Some(&made) = self.made_on.get(&base) {
                return self.formula.guards.and(exists, made);
            }
            let Some(pointer) = self.found_at(base) else {
                break;
            };
            let RegionKind::Environment { base: outer } = *self.regions.kind(pointer.region) else {
                break;
            };
            base = outer;
            let there = self.nonzero(base);
            let there = self.formula.guard_of(there);
            exists = self.formula.guards.and(exists, there);
        }
        exists
    }

    /// Whether every path to a state has dereferenced the pointer to the object.
    pub fn surely_exists(&self, state: &State, loc: Loc) -> bool {
        match self.regions.kind(loc.region) {
            RegionKind::Environment { base } => state.nonnull.contains(base),
            RegionKind::Value { .. } => false,
            _ => true,
        }
    }

    /// The guard of a condition in a state: pointers that every path here has dereferenced are neither null
    /// nor error numbers (IS_ERR).
    pub fn guard_of(&mut self, state: &State, truth: Term) -> Guard {
        let guard = self.formula.guard_of(truth);
        self.with_valid_pointers(state, guard)
    }

    /// A guard, simplified by what is known of the pointers that every path to the state has dereferenced.
    fn with_valid_pointers(&mut self, state: &State, guard: Guard) -> Guard {
        let known = self.valid_pointers(state, guard);
        match known.is_empty() {
            true => guard,
            false => self.formula.guards.restrict(guard, &known),
        }
    }

    /// The guard's paths on which the pointers that every path to the state has dereferenced are valid.
    pub fn on_valid_pointers(&mut self, state: &State, guard: Guard) -> Guard {
        let known = self.valid_pointers(state, guard);
        let guards = &mut self.formula.guards;
        // Put together from the last condition on, the literals cost a node each.
        let all = known
            .into_iter()
            .rev()
            .fold(Guard::TRUE, |all, (condition, value)| {
                let literal = guards.literal(condition, value);
                guards.and(literal, all)
            });
        guards.and(guard, all)
    }

    /// Paths that cannot be executed where a condition has this value: they dereference a pointer that is invalid
    /// then, or have made a pointer of a number that is neither 0 nor an error number. Where paths merge, a state loses which pointers each
    /// of them has dereferenced; the arena keeps it.
    pub fn impossible(&mut self, condition: Cond, value: bool) -> Vec<Guard> {
        let mut impossible = Vec::new();
        if let Some((Some(address), valid)) = self.pointer_test(condition)
            && valid != value
        {
            let invalid = self.formula.guards.literal(condition, value);
            let bases = self.bases(address);
            let dereferenced: Vec<Guard> = bases
                .filter_map(|base| self.dereferenced.get(&base).copied())
                .collect();
            let guards = &mut self.formula.guards;
            impossible.extend(
                dereferenced
                    .into_iter()
                    .map(|paths| guards.and(paths, invalid)),
            );
            if self.watches {
                impossible.extend(self.impossible_choices(address, invalid));
            }
        }
        if let Some(number) = self.not_negative(condition, value) {
            let number = self.nonzero(number);
            let number = self.formula.guard_of(number);
            let not_negative = self.formula.guards.literal(condition, false);
            impossible.push(self.formula.guards.and(number, not_negative));
        }
        if !value {
            return impossible;
        }
        impossible.extend(self.begins_at_null(condition));
        if self.watches {
            impossible.extend(self.impossible_equality(condition));
        }
        if let Some(number) = self.error_test(condition) {
            let terms = &mut self.formula.terms;
            let width = terms.width(number);
            let zero = terms.constant(0, width);
            // A pointer is not negative; a number that is made one is an error number, or 0.
            let other = match width == POINTER_BITS {
                true => terms.slt(number, zero),
                false => {
                    let none = terms.eq(number, zero);
                    terms.not(none)
                }
            };
            let other = self.formula.guard_of(other);
            let no_error = self.formula.guards.literal(condition, true);
            impossible.push(self.formula.guards.and(other, no_error));
        }
        impossible
    }

    /// The paths on which an address is null, or otherwise `invalid`, which is, on these paths, a pointer that they dereference.
    fn impossible_choices(&mut self, address: Term, invalid: Guard) -> Vec<Guard> {
        let mut impossible = Vec::new();
        if !matches!(
            self.formula.terms.node(address),
            Node::Op { op: Op::Ite, .. }
        ) {
            return impossible;
        }
        for &(chosen, loc) in &*self.locations(address) {
            let RegionKind::Environment { base } = *self.regions.kind(loc.region) else {
                continue;
            };
            let Some(&dereferenced) = self.dereferenced.get(&base) else {
                continue;
            };
            let guards = &mut self.formula.guards;
            let paths = guards.and(dereferenced, chosen);
            impossible.push(guards.and(paths, invalid));
        }
        impossible
    }

    /// The two values that a condition says are equal.
    fn equated(&self, condition: Cond) -> Option<(Term, Term)> {
        let Node::Op { op: Op::Eq, args } =
            self.formula.terms.node(self.formula.cond_term(condition))
        else {
            return None;
        };
        Some((*args.first()?, *args.get(1)?))
    }

    /// The paths on which a condition says that a record around a member begins at null: `container_of(p, …) == q`, where `q` is null by choice.
    fn begins_at_null(&mut self, condition: Cond) -> Option<Guard> {
        let (left, right) = self.equated(condition)?;
        let terms = &self.formula.terms;
        let other = match (terms.is_pointer(left), terms.is_pointer(right)) {
            (true, _) => right,
            (_, true) => left,
            _ => return None,
        };
        // `p - offset == q` is `p == q + offset`.
        let Node::Linear { constant, terms } = terms.node(other) else {
            return None;
        };
        let (&[(1, chosen)], 1..MAX_MEMBER_OFFSET) = (&terms[..], *constant) else {
            return None;
        };
        let mut paths = Guard::FALSE;
        for (here, value) in self.formula.alternatives(chosen, Guard::TRUE, MAX_CHOICES) {
            if self.formula.terms.as_const(value) == Some(0) {
                paths = self.formula.guards.or(paths, here);
            }
        }
        let equal = self.formula.guards.literal(condition, true);
        Some(self.formula.guards.and(paths, equal))
    }

    /// The paths on which a condition says that a block which has just been made lies where something else does.
    fn impossible_equality(&mut self, condition: Cond) -> Option<Guard> {
        let (left, right) = self.equated(condition)?;
        // What is equal to null, or to `MAP_FAILED`, is no block: the call that should have made it has failed.
        let none = self.is_invalid_constant(left) || self.is_invalid_constant(right);
        let pointers = self.formula.terms.width(left) == POINTER_BITS;
        if self.owned.is_empty() || !pointers || none {
            return None;
        }
        let mut paths = Guard::FALSE;
        for (one, other) in [(left, right), (right, left)] {
            let others = self.locations(other);
            for &(chosen, loc) in &*self.locations(one) {
                let elsewhere = others.iter().all(|(_, other)| other.region != loc.region);
                if self.is_owned(loc.region) && elsewhere {
                    paths = self.formula.guards.or(paths, chosen);
                }
            }
        }
        let equal = self.formula.guards.literal(condition, true);
        Some(self.formula.guards.and(paths, equal))
    }

    /// Notes that a pointer is made of a number, be it by choice, which is an error number or 0.
    pub(super) fn note_error_numbers(&mut self, pointer: Term) {
        for value in self.formula.choices(pointer, MAX_CHOICES) {
            if let Node::Op { op: Op::Sext, args } = self.formula.terms.node(value)
                && self.formula.terms.width(args[0]) == NUMBER_BITS
            {
                let numbers = self.formula.choices(args[0], MAX_CHOICES);
                self.error_numbers.extend(numbers);
            }
        }
    }

    /// The number that a condition says is not negative, of which a pointer is made.
    fn not_negative(&self, condition: Cond, value: bool) -> Option<Term> {
        let Node::Op { op: Op::Slt, args } =
            self.formula.terms.node(self.formula.cond_term(condition))
        else {
            return None;
        };
        let (number, bound) = (*args.first()?, self.formula.terms.as_const(*args.get(1)?)?);
        (!value && bound == 0 && self.error_numbers.contains(&number)).then_some(number)
    }

    /// The number that a condition says is no error number: `!IS_ERR(ERR_PTR(number))`.
    fn error_test(&self, condition: Cond) -> Option<Term> {
        let terms = &self.formula.terms;
        let Node::Op { op: Op::Ult, args } = terms.node(self.formula.cond_term(condition)) else {
            return None;
        };
        let (number, bound) = (*args.first()?, terms.as_const(*args.get(1)?)?);
        let width = terms.width(number);
        let errors = (32..=POINTER_BITS).contains(&width);
        (errors && bound == (1u128 << width) - MAX_ERRNO).then_some(number)
    }

    /// Whether execution has dereferenced an unknown pointer on all of some paths.
    pub fn is_dereferenced_on(&mut self, base: Term, paths: Guard) -> bool {
        let dereferenced = self.dereferenced.get(&base).copied().unwrap_or_default();
        self.formula.guards.implies(paths, dereferenced)
    }

    /// Notes that these paths dereference the pointer to a location, and so the pointers that this one was found through:
    /// whoever has the value of `p->next` has read it from what `p` leads to, perhaps in a callee.
    pub fn dereferenced_on(&mut self, loc: Loc, paths: Guard) {
        let mut loc = Some(loc);
        for _ in 0..MAX_POINTER_CHAIN {
            let Some(base) = loc.and_then(|loc| self.base_of(loc)) else {
                break;
            };
            let before = self.dereferenced.get(&base).copied().unwrap_or_default();
            let after = self.formula.guards.or(before, paths);
            if after == before {
                break;
            }
            self.dereferenced.insert(base, after);
            loc = self.found_at(base);
        }
    }

    /// Notes that these paths have the pointer to a location, and so dereference those that it was found through.
    pub fn reached_on(&mut self, loc: Loc, paths: Guard) {
        if let Some(outer) = self.base_of(loc).and_then(|base| self.found_at(base)) {
            self.dereferenced_on(outer, paths);
        }
    }

    /// The unknown pointer that leads to a location.
    fn base_of(&self, loc: Loc) -> Option<Term> {
        match *self.regions.kind(loc.region) {
            RegionKind::Environment { base } => Some(base),
            _ => None,
        }
    }

    /// Where a pointer was found that is an unknown of the state on entry.
    pub(super) fn found_at(&self, pointer: Term) -> Option<Loc> {
        let Node::Var(var) = *self.formula.terms.node(pointer) else {
            return None;
        };
        match self.origins.of(var) {
            Origin::Initial { loc, .. } => Some(*loc),
            _ => None,
        }
    }

    /// Whether a condition with this outcome says that a pointer in memory is valid which the function dereferences on some
    /// path. (Of a parameter that would say more: callers pass null where there is nothing to do.)
    pub fn allows_dereference(&self, condition: Cond, holds: bool) -> bool {
        let in_memory = |base: &Term| self.found_at(*base).is_some();
        match self.pointer_test(condition) {
            Some((Some(address), value)) if value == holds => self
                .bases(address)
                .any(|base| self.dereferenced.contains_key(&base) && in_memory(&base)),
            _ => false,
        }
    }

    /// The unknown pointers that a guard's conditions compare with null.
    pub fn compared_with_null(&self, guard: Guard) -> Vec<Term> {
        let conditions = self.formula.guards.support(guard).iter();
        let compared = conditions.filter_map(|&condition| {
            let terms = &self.formula.terms;
            let (pointer, number) = terms.as_equal_to_const(self.formula.cond_term(condition))?;
            (number == 0 && terms.width(pointer) == POINTER_BITS).then_some(pointer)
        });
        compared.collect()
    }

    /// The outcomes of a guard's conditions where the pointers that every path to the state has dereferenced are
    /// valid, and those into an object of the program's.
    fn valid_pointers(&self, state: &State, guard: Guard) -> Vec<(Cond, bool)> {
        let valid = |address: Term| {
            self.is_within_object(address)
                || self
                    .bases(address)
                    .any(|base| state.nonnull.contains(&base))
        };
        let support = self.formula.guards.support(guard);
        support
            .iter()
            .filter_map(|&condition| {
                let (address, value) = self.pointer_test(condition)?;
                address.is_none_or(valid).then_some((condition, value))
            })
            .collect()
    }

    /// Whether a value is a constant that is no object's address: null, `MAP_FAILED`, an error number.
    fn is_invalid_constant(&self, value: Term) -> bool {
        let constant = self.formula.terms.as_const(value);
        constant.is_some_and(|address| is_invalid(address as u64))
    }

    /// Whether an address is that of an object of the program's plus an unknown number (`&table[i]`).
    fn is_within_object(&self, address: Term) -> bool {
        match self.formula.terms.node(address) {
            Node::Linear { constant, .. } => self.regions.region_of(*constant as u64).is_some(),
            _ => false,
        }
    }

    /// The pointers of which one is valid if an address is: the address itself, or that of the record or the array that it lies
    /// in.
    fn bases(&self, address: Term) -> impl Iterator<Item = Term> {
        let sum = match self.formula.terms.node(address) {
            Node::Linear { terms, .. } => &terms[..],
            _ => &[],
        };
        let parts = sum.iter().filter(|(coefficient, _)| *coefficient == 1);
        std::iter::once(address).chain(parts.map(|&(_, term)| term))
    }

    /// The address that a condition tests for null or an error number, and what the condition comes to if
    /// the address is valid; no address if no pointer at all can fulfil it.
    fn pointer_test(&self, condition: Cond) -> Option<(Option<Term>, bool)> {
        let Node::Op { op, args } = self.formula.terms.node(self.formula.cond_term(condition))
        else {
            return None;
        };
        let (left, right) = (*args.first()?, *args.get(1)?);
        let constant = |term: Term| self.formula.terms.as_const(term);
        let invalid = |term: Term| self.is_invalid_constant(term);
        // `container_of(p, …) == 0` is `p == offset`. (Smaller numbers mark the ends of lists and the like.)
        let offset = |term: Term| {
            constant(term)
                .is_some_and(|value| (24..MAX_MEMBER_OFFSET).contains(&value) && value % 8 == 0)
        };
        let pointer = |term: Term| self.formula.terms.is_pointer(term);
        // `&table[i] == 0` is `i == -&table`.
        let from_object = |term: Term| {
            constant(term).is_some_and(|value| {
                let address = (value as u64).wrapping_neg();
                self.regions.region_of(address).is_some()
            })
        };
        match op {
            Op::Eq if from_object(left) || from_object(right) => Some((None, false)),
            Op::Eq if offset(left) && pointer(right) => Some((None, false)),
            Op::Eq if offset(right) && pointer(left) => Some((None, false)),
            Op::Eq if invalid(left) => Some((Some(right), false)),
            Op::Eq if invalid(right) => Some((Some(left), false)),
            Op::Ult | Op::Ule if constant(left) >= Some(LAST_POINTER) => Some((Some(right), false)),
            Op::Ult | Op::Ule if constant(right) > Some(LAST_POINTER) => Some((Some(left), true)),
            // `p < 0`, as if numbers and pointers shared a type: pointers are taken to be positive.
            Op::Slt
                if constant(right).is_some_and(|bound| bound as i64 <= FIRST_POINTER as i64) =>
            {
                Some((Some(left), false))
            }
            _ => None,
        }
    }
}

impl Executor<'_> {
    /// A pointer that this path has dereferenced is neither null nor an error number. Assumed of a result,
    /// this decides the tests that callers make of it.
    pub(super) fn assume_valid(&mut self, state: &mut State, pointer: Term) {
        if self.arena.formula.terms.width(pointer) != POINTER_BITS {
            return;
        }
        // On the other paths it is a null constant.
        let (chosen, base) = match self.arena.locations(pointer)[..] {
            [(chosen, loc)] => match *self.arena.regions.kind(loc.region) {
                RegionKind::Environment { base } => (chosen, base),
                _ => return,
            },
            _ => return,
        };
        if !state.nonnull.contains(&base) {
            return;
        }
        let terms = &mut self.arena.formula.terms;
        let zero = terms.constant(0, POINTER_BITS);
        let last = terms.constant(LAST_POINTER, POINTER_BITS);
        let null = terms.eq(pointer, zero);
        let error = terms.ult(last, pointer);
        let invalid = terms.or(null, error);
        let invalid = self.arena.formula.guard_of(invalid);
        let invalid = self.arena.formula.guards.and(invalid, chosen);
        state.guard = self.arena.formula.guards.and_not(state.guard, invalid);
    }
}
