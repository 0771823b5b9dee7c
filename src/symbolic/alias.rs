//! Aliases that a path has found itself.
//!
//! In: a guard and the object that it is about. Out: the guard without the paths on which the object is an alias of
//! another one that the function operates on. The executor takes objects that are reached by different pointers to be
//! different, with a state each (DESIGN §5). On a path that compares two such pointers and finds them equal (a walk over a list
//! stops at the element at which an earlier walk stopped; an object is looked up again) neither state is right.

use std::collections::BTreeSet;

use rustc_hash::{FxHashMap, FxHashSet};

use super::arena::Arena;
use super::guard::Guard;
use super::region::{Loc, SymbolicOffset};
use super::state::{MachineId, Object};
use super::term::{Node, Op, Term};
use crate::ir::POINTER_BITS;

/// Pointers of two access paths that are compared.
const MAX_CHAIN: usize = 6;
/// Pairs of addresses that one comparison may be about.
const MAX_CHOICES: usize = 32;

/// The objects that the function operates on, by how they are found.
#[derive(Debug, Default)]
pub struct Chains {
    /// The number of objects.
    entries: usize,
    by_base: FxHashMap<Step, Vec<(Loc, Loc)>>,
}

/// A step of an access path: the object's machine, the number of steps from the object, and the base of the region there. By it are found the
/// objects, each with where it, or the pointer to it, lies there.
type Step = (MachineId, usize, Option<Term>);

impl Chains {
    fn of(arena: &Arena<'_>) -> Self {
        let mut chains = Chains {
            entries: arena.entries.len(),
            by_base: FxHashMap::default(),
        };
        for object in arena.entries.keys() {
            for (level, at) in arena.outwards(object.loc).take(MAX_CHAIN).enumerate() {
                let key = (object.machine, level, arena.regions.base(at.region));
                chains
                    .by_base
                    .entry(key)
                    .or_default()
                    .push((object.loc, at));
            }
        }
        chains
    }
}

impl Arena<'_> {
    /// The guard's paths on which no pointer comparison has found the object to be another of its
    /// machine.
    pub fn apart(&mut self, object: Object, guard: Guard) -> Guard {
        // For each difference of two addresses that a comparison finds to be 0, the paths on which it does.
        let mut found_equal: FxHashMap<Term, Vec<Guard>> = FxHashMap::default();
        for (condition, left, right) in self.pointer_comparisons(guard) {
            let equal = self.formula.guards.literal(condition, true);
            for (chosen, left, right) in self.choices_of(equal, left, right) {
                let terms = &mut self.formula.terms;
                for difference in [terms.sub(left, right), terms.sub(right, left)] {
                    found_equal.entry(difference).or_default().push(chosen);
                }
            }
        }
        if found_equal.is_empty() {
            return guard;
        }
        let parts: FxHashSet<Term> = found_equal
            .keys()
            .flat_map(|&difference| self.formula.terms.parts(difference))
            .collect();
        let others = self.perhaps_equal(object, &parts);
        let mut guard = guard;
        for other in others {
            for difference in self.differences(object.loc, other, &parts) {
                for &equal in found_equal.get(&difference).into_iter().flatten() {
                    guard = self.formula.guards.and_not(guard, equal);
                }
            }
        }
        guard
    }

    /// Two addresses, of which either may be chosen by a condition (the element at which one of several ways out of a
    /// loop has stopped), as pairs of single ones, each with its part of the paths.
    fn choices_of(&mut self, paths: Guard, left: Term, right: Term) -> Vec<(Guard, Term, Term)> {
        let mut single = Vec::new();
        let mut open = vec![(paths, left, right)];
        while let Some((paths, left, right)) = open.pop() {
            let (condition, pairs) = match (self.split(left), self.split(right)) {
                (Some((condition, [yes, no])), _) => (condition, [(yes, right), (no, right)]),
                (None, Some((condition, [yes, no]))) => (condition, [(left, yes), (left, no)]),
                (None, None) => {
                    single.push((paths, left, right));
                    continue;
                }
            };
            if open.len() + single.len() >= MAX_CHOICES {
                continue;
            }
            let yes = self.formula.guard_of(condition);
            let guards = &mut self.formula.guards;
            let (taken, left_out) = (guards.and(paths, yes), guards.and_not(paths, yes));
            open.extend([
                (left_out, pairs[1].0, pairs[1].1),
                (taken, pairs[0].0, pairs[0].1),
            ]);
            open.retain(|choice| choice.0 != Guard::FALSE);
        }
        single
    }

    /// The condition that chooses an address, and both choices: of `c ? p : q`, or of something near it.
    fn split(&mut self, address: Term) -> Option<(Term, [Term; 2])> {
        let terms = &mut self.formula.terms;
        let (distance, at) = match terms.node(address) {
            Node::Linear {
                constant,
                terms: sum,
            } => match sum[..] {
                [(1, at)] => (*constant, at),
                _ => return None,
            },
            _ => (0, address),
        };
        let Node::Op { op: Op::Ite, args } = terms.node(at) else {
            return None;
        };
        let [condition, yes, no] = args[..] else {
            return None;
        };
        let both = [yes, no].map(|at| terms.linear(POINTER_BITS, distance, &[(1, at)]));
        Some((condition, both))
    }

    /// The equalities between unknown addresses that a guard depends on.
    fn pointer_comparisons(&self, guard: Guard) -> Vec<(super::guard::Cond, Term, Term)> {
        let terms = &self.formula.terms;
        let unknown = |term: Term| terms.as_const(term).is_none();
        self.formula
            .guards
            .support(guard)
            .iter()
            .filter_map(
                |&condition| match terms.node(self.formula.cond_term(condition)) {
                    Node::Op { op: Op::Eq, args } => {
                        let (left, right) = (*args.first()?, *args.get(1)?);
                        let pointers = terms.width(left) == POINTER_BITS;
                        (pointers && unknown(left) && unknown(right))
                            .then_some((condition, left, right))
                    }
                    _ => None,
                },
            )
            .collect()
    }

    /// The other objects of the machine that [`Self::differences`] finds one of for an object.
    fn perhaps_equal(&mut self, object: Object, parts: &FxHashSet<Term>) -> BTreeSet<Loc> {
        if self.chains.entries != self.entries.len() {
            self.chains = Chains::of(self);
        }
        let mut others: BTreeSet<Loc> = BTreeSet::new();
        for (level, at) in self.outwards(object.loc).take(MAX_CHAIN).enumerate() {
            let base = self.regions.base(at.region);
            let mut wanted: Vec<(Option<Term>, bool)> = Vec::new();
            if base.is_none_or(|base| parts.contains(&base)) {
                wanted.extend(parts.iter().map(|&part| (Some(part), false)));
            }
            if base.is_some_and(|base| parts.contains(&base)) {
                wanted.push((None, false));
            }
            // Elements of one table.
            wanted.push((base, at.symbolic == SymbolicOffset::NONE));
            for (base, only_elements) in wanted {
                let found = self.chains.by_base.get(&(object.machine, level, base));
                let found = found.into_iter().flatten();
                let found =
                    found.filter(|(_, at)| !only_elements || at.symbolic != SymbolicOffset::NONE);
                others.extend(found.map(|(other, _)| *other));
            }
        }
        others.remove(&object.loc);
        others
    }

    /// The differences that are 0 where the two locations are one: of their addresses, of the places
    /// that the pointers to them were read from, and so on as long as both access paths are alike. Only those that may be made of these parts: there
    /// are as many pairs as the square of the objects.
    fn differences(&mut self, mut a: Loc, mut b: Loc, parts: &FxHashSet<Term>) -> Vec<Term> {
        let mut found = Vec::new();
        for _ in 0..MAX_CHAIN {
            let bases = [a, b].map(|loc| self.regions.base(loc.region));
            let known = |base: &Term| parts.contains(base);
            let by_offset = bases[0] == bases[1] && a.symbolic != b.symbolic;
            if by_offset || bases[0] != bases[1] && bases.iter().flatten().all(known) {
                let left = self.regions.address(&mut self.formula.terms, a);
                let right = self.regions.address(&mut self.formula.terms, b);
                found.push(self.formula.terms.sub(left, right));
            } else if bases[0] == bases[1] {
                break;
            }
            let alike = (a.offset, a.symbolic) == (b.offset, b.symbolic);
            match (self.read_from(a.region), self.read_from(b.region)) {
                (Some(outer_a), Some(outer_b)) if alike => (a, b) = (outer_a, outer_b),
                _ => break,
            }
        }
        found
    }
}
