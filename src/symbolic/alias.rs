//! Aliases that a path has found itself.
//!
//! In: a guard and the object that it is about. Out: the guard without the paths on which the object is an alias of
//! another one that the function operates on. The executor takes objects that are reached by different pointers to be
//! different, with a state each (DESIGN §5). On a path that compares two such pointers and finds them equal (a walk over a list
//! stops at the element at which an earlier walk stopped; an object is looked up again) neither state is right.

use super::arena::Arena;
use super::guard::Guard;
use super::region::Loc;
use super::state::Object;
use super::term::{Node, Op, Term};
use crate::ir::POINTER_BITS;

/// Pointers of two access paths that are compared.
const MAX_CHAIN: usize = 6;
/// Pairs of addresses that one comparison may be about.
const MAX_CHOICES: usize = 32;

impl Arena<'_> {
    /// The guard's paths on which no pointer comparison has found the object to be another of its
    /// machine.
    pub fn apart(&mut self, object: Object, guard: Guard) -> Guard {
        let comparisons = self.pointer_comparisons(guard);
        if comparisons.is_empty() {
            return guard;
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
        let mut guard = guard;
        for (condition, left, right) in comparisons {
            let equal = self.formula.guards.literal(condition, true);
            for (chosen, left, right) in self.choices_of(equal, left, right) {
                let terms = &mut self.formula.terms;
                let (there, back) = (terms.sub(left, right), terms.sub(right, left));
                if same.contains(&there) || same.contains(&back) {
                    guard = self.formula.guards.and_not(guard, chosen);
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
