//! Aliases that a path has found itself.
//!
//! In: a guard and the object that it is about. Out: the guard without the paths on which the object is an alias of
//! another one that the function operates on. The executor takes objects that are reached by different pointers to be
//! different, with a state each (DESIGN §5). On a path that compares two such pointers and finds them equal (a walk over a list
//! stops at the element at which an earlier walk stopped; an object is looked up again) neither state is right.

use std::rc::Rc;

use rustc_hash::FxHashSet;

use super::arena::Arena;
use super::guard::{Cond, Guard};
use super::region::Loc;
use super::state::Object;
use super::term::{Node, Op, Term};
use crate::ir::POINTER_BITS;

/// Pointers of two access paths that are compared.
const MAX_CHAIN: usize = 6;
/// Pairs of addresses that one comparison may be about.
const MAX_CHOICES: usize = 32;

/// The paths on which two addresses are equal, and their difference either way.
pub(super) type Compared = (Guard, Term, Term);

impl Arena<'_> {
    /// The guard's paths on which no pointer comparison has found the object to be another of its
    /// machine.
    pub fn apart(&mut self, object: Object, guard: Guard) -> Guard {
        let comparisons = self.pointer_comparisons(guard);
        if comparisons.is_empty() {
            return guard;
        }
        let same = self.differences_from_others(object);
        let mut guard = guard;
        for (condition, left, right) in comparisons {
            for &(chosen, there, back) in self.compared(condition, left, right).iter() {
                if same.contains(&there) || same.contains(&back) {
                    guard = self.formula.guards.and_not(guard, chosen);
                }
            }
        }
        guard
    }

    /// The differences that are 0 where an object is another one of its machine.
    fn differences_from_others(&mut self, object: Object) -> Rc<FxHashSet<Term>> {
        let known = self.entries.len();
        if let Some((objects, same)) = self.differences_of.get(&object)
            && *objects == known
        {
            return Rc::clone(same);
        }
        let others: Vec<Loc> = self
            .entries
            .keys()
            .filter(|other| other.machine == object.machine && **other != object)
            .map(|other| other.loc)
            .collect();
        let mut same: Vec<Term> = Vec::new();
        for other in others {
            self.differences(object.loc, other, &mut same);
        }
        let same = Rc::new(FxHashSet::from_iter(same));
        self.differences_of
            .insert(object, (known, Rc::clone(&same)));
        same
    }

    /// The paths on which a comparison has found two addresses equal, and their difference either way.
    fn compared(&mut self, condition: Cond, left: Term, right: Term) -> Rc<[Compared]> {
        if let Some(known) = self.compared_addresses.get(&condition) {
            return Rc::clone(known);
        }
        let equal = self.formula.guards.literal(condition, true);
        let choices = self.choices_of(equal, left, right).into_iter();
        let terms = &mut self.formula.terms;
        let compared = choices
            .map(|(chosen, left, right)| (chosen, terms.sub(left, right), terms.sub(right, left)));
        let compared: Rc<[Compared]> = compared.collect();
        self.compared_addresses
            .insert(condition, Rc::clone(&compared));
        compared
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
    fn pointer_comparisons(&self, guard: Guard) -> Vec<(Cond, Term, Term)> {
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

    /// The differences that are 0 where the two locations are one: of their addresses, of the places
    /// that the pointers to them were read from, and so on as long as both access paths are alike.
    fn differences(&mut self, mut a: Loc, mut b: Loc, found: &mut Vec<Term>) {
        for _ in 0..MAX_CHAIN {
            let left = self.regions.address(&mut self.formula.terms, a);
            let right = self.regions.address(&mut self.formula.terms, b);
            let difference = self.formula.terms.sub(left, right);
            if self.formula.terms.as_const(difference).is_some() {
                return;
            }
            found.push(difference);
            let alike = (a.offset, a.symbolic) == (b.offset, b.symbolic);
            match (self.read_from(a.region), self.read_from(b.region)) {
                (Some(outer_a), Some(outer_b)) if alike => (a, b) = (outer_a, outer_b),
                _ => return,
            }
        }
    }
}
