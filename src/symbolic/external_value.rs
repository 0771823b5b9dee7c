//! Values from outside the function.
//!
//! In: a term. Out: the paths on which its value comes from outside: it was passed as an argument, read from memory or returned by a
//! call. A constant, the entry state of an object and a test's outcome are the function's own, and so is a variable that it
//! never set. (A variable that was set on some paths may be used on just these.)

use super::arena::Arena;
use super::guard::Guard;
use super::origin::Origin;
use super::term::{Node, Op, Term};

/// Terms looked at.
const MAX_VISITED: u32 = 64;

impl Arena<'_> {
    /// The paths on which a value comes from outside the function.
    pub fn comes_from_outside(&mut self, term: Term) -> Guard {
        let mut value = term;
        while let Node::Op {
            op: Op::Zext | Op::Sext,
            args,
        } = self.formula.terms.node(value)
        {
            value = args[0];
        }
        if let Node::Var(var) = self.formula.terms.node(value)
            && let Origin::Initial { loc, .. } = self.origins.of(*var)
            && self.regions.is_local(loc.region)
        {
            return Guard::FALSE;
        }
        let mut left = MAX_VISITED;
        self.outside_within(term, &mut left)
    }

    fn outside_within(&mut self, term: Term, left: &mut u32) -> Guard {
        let Some(rest) = left.checked_sub(1) else {
            return Guard::TRUE;
        };
        *left = rest;
        match self.formula.terms.node(term).clone() {
            Node::Const(_) | Node::Guard(_) => Guard::FALSE,
            Node::Var(var) => match self.origins.of(var) {
                Origin::State { .. } => Guard::FALSE,
                _ => Guard::TRUE,
            },
            Node::Op { op: Op::Ite, args } => {
                let then = self.outside_within(args[1], left);
                let els = self.outside_within(args[2], left);
                if then == els {
                    return then;
                }
                let condition = self.formula.guard_of(args[0]);
                self.formula.guards.ite(condition, then, els)
            }
            // A test's outcome as a number.
            Node::Op {
                op: Op::Zext | Op::Sext,
                args,
            } if self.formula.terms.width(args[0]) == 1 => Guard::FALSE,
            Node::Op { args, .. } => self.any_outside(args.iter().copied(), left),
            Node::Linear { terms, .. } => {
                self.any_outside(terms.iter().map(|&(_, part)| part), left)
            }
        }
    }

    fn any_outside(&mut self, parts: impl Iterator<Item = Term>, left: &mut u32) -> Guard {
        let mut any = Guard::FALSE;
        for part in parts {
            let here = self.outside_within(part, left);
            any = self.formula.guards.or(any, here);
        }
        any
    }
}
