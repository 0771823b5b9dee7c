//! Values that the function was given.
//!
//! In: a term. Out: the paths on which it is something that others made: what the function was passed,
//! found in memory or got from a call. What it made itself is its own, and so is a variable
//! that it never set on any path. (One that it set on some paths may be used on just these.)

use super::arena::Arena;
use super::guard::Guard;
use super::origin::Origin;
use super::term::{Node, Op, Term};

/// Terms looked at.
const MAX_VISITED: u32 = 64;

impl Arena<'_> {
    pub fn received(&mut self, term: Term) -> Guard {
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
        self.received_within(term, &mut left)
    }

    fn received_within(&mut self, term: Term, left: &mut u32) -> Guard {
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
                let then = self.received_within(args[1], left);
                let els = self.received_within(args[2], left);
                if then == els {
                    return then;
                }
                let condition = self.formula.guard_of(args[0]);
                self.formula.guards.ite(condition, then, els)
            }
            // A condition widened: which way it goes is the function's own affair.
            Node::Op {
                op: Op::Zext | Op::Sext,
                args,
            } if self.formula.terms.width(args[0]) == 1 => Guard::FALSE,
            Node::Op { args, .. } => self.any_received(args.iter().copied(), left),
            Node::Linear { terms, .. } => {
                self.any_received(terms.iter().map(|&(_, part)| part), left)
            }
        }
    }

    fn any_received(&mut self, parts: impl Iterator<Item = Term>, left: &mut u32) -> Guard {
        let mut any = Guard::FALSE;
        for part in parts {
            let here = self.received_within(part, left);
            any = self.formula.guards.or(any, here);
        }
        any
    }
}
