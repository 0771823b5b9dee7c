//! Comparisons of a choice with a constant, where the same comparisons of the alternatives have guards.
//!
//! In: a term of width 1. Out: the choice between those guards, so that the comparison needs no condition of its own, of which only the solver would know
//! what it has to do with theirs: of `return rc == 0 && err ? err : rc;`, what the result says of `rc` and `err`, both of which the function has tested.

use super::Formula;
use crate::symbolic::guard::Guard;
use crate::symbolic::term::{Node, Op, Term};

/// Choices one within the other that are looked at.
const MAX_NESTED: u32 = 4;
/// Nodes of the guard; a larger one is worth a condition.
const MAX_SIZE: usize = 100;

impl Formula {
    /// The guard of such a comparison.
    pub(super) fn settled(&mut self, comparison: Term) -> Option<Guard> {
        self.settled_within(comparison, MAX_NESTED)
    }

    fn settled_within(&mut self, comparison: Term, nested: u32) -> Option<Guard> {
        if let Some(known) = self.known_guard(comparison) {
            return Some(known);
        }
        if nested == 0 {
            return None;
        }
        let &Node::Op { op, ref args } = self.terms.node(comparison) else {
            return self.leaf(comparison);
        };
        if let (Op::Not, &[inner]) = (op, &args[..]) {
            let inner = self.settled_within(inner, nested)?;
            return Some(self.guards.not(inner));
        }
        let &[value, bound] = &args[..] else {
            return None;
        };
        self.terms.as_const(bound)?;
        let &Node::Op {
            op: Op::Ite,
            args: ref choice,
        } = self.terms.node(value)
        else {
            return None;
        };
        let &[condition, then, els] = &choice[..] else {
            return None;
        };
        let condition = self
            .known_guard(condition)
            .or_else(|| self.leaf(condition))?;
        let mut compare = |value| match op {
            Op::Eq => Some(self.terms.eq(value, bound)),
            Op::Slt => Some(self.terms.slt(value, bound)),
            Op::Ult => Some(self.terms.ult(value, bound)),
            _ => None,
        };
        let (then, els) = (compare(then)?, compare(els)?);
        let then = self.settled_within(then, nested - 1)?;
        let els = self.settled_within(els, nested - 1)?;
        self.guards.try_ite(condition, then, els, MAX_SIZE)
    }
}
