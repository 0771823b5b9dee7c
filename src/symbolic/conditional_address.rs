//! Addresses that depend on a condition: an element of a table whose index is one of a few values.
//!
//! In: an address term. Out: the first condition that it depends on, and the address under either outcome.
//! `ite(c, a, b) + k` is `a + k` if c holds, else `b + k`. An index that is 1 on some paths and 0 on
//! the others is such a condition, widened to a number.

use rustc_hash::FxHashMap;

use super::arena::Arena;
use super::term::{Node, Op, Term};

/// Terms searched for a condition.
const MAX_VISITED: u32 = 32;
/// Terms that are made again for one outcome of a condition. What more depends on it is no index that is one of a few values, but something computed from
/// such: in a cipher each round's index depends on all rounds before.
const MAX_REPLACED: usize = 512;

/// A part of an address that depends on a condition, and its value under either outcome.
struct Conditional {
    term: Term,
    condition: Term,
    then: Term,
    els: Term,
}

impl Arena<'_> {
    /// Splits an address at the first condition in it: the condition, the address where it holds, and
    /// the address where it does not.
    pub(super) fn split_conditional(&mut self, address: Term) -> Option<(Term, Term, Term)> {
        let mut left = MAX_VISITED;
        let conditional = self.find_condition(address, &mut left)?;
        let with = |to: Term| FxHashMap::from_iter([(conditional.term, to)]);
        let then = self.replace(address, conditional.term, &mut with(conditional.then))?;
        let els = self.replace(address, conditional.term, &mut with(conditional.els))?;
        Some((conditional.condition, then, els))
    }

    fn find_condition(&mut self, term: Term, left: &mut u32) -> Option<Conditional> {
        *left = left.checked_sub(1)?;
        let terms = &mut self.formula.terms;
        match terms.node(term).clone() {
            Node::Const(_) | Node::Var(_) | Node::Guard(_) => None,
            Node::Op { op: Op::Ite, args } => Some(Conditional {
                term,
                condition: args[0],
                then: args[1],
                els: args[2],
            }),
            Node::Op {
                op: op @ (Op::Zext | Op::Sext),
                args,
            } if terms.width(args[0]) == 1 => {
                let width = terms.width(term);
                Some(Conditional {
                    term,
                    condition: args[0],
                    then: terms.op(op, width, &[Term::TRUE]),
                    els: terms.op(op, width, &[Term::FALSE]),
                })
            }
            Node::Op { args, .. } => args
                .iter()
                .find_map(|&part| self.find_condition(part, left)),
            Node::Linear { terms, .. } => terms
                .iter()
                .find_map(|&(_, part)| self.find_condition(part, left)),
        }
    }

    /// The term with `part` of it replaced; `None` if that is too much work. `done` holds what it is replaced with, and the terms made
    /// so far.
    fn replace(
        &mut self,
        term: Term,
        part: Term,
        done: &mut FxHashMap<Term, Term>,
    ) -> Option<Term> {
        if let Some(&known) = done.get(&term) {
            return Some(known);
        }
        // Operands precede their users.
        if term < part {
            return Some(term);
        }
        if done.len() > MAX_REPLACED {
            return None;
        }
        let width = self.formula.terms.width(term);
        let replaced = match self.formula.terms.node(term).clone() {
            Node::Const(_) | Node::Var(_) | Node::Guard(_) => term,
            Node::Op { op, args } => {
                let args = args
                    .iter()
                    .map(|&arg| self.replace(arg, part, done))
                    .collect::<Option<Vec<Term>>>()?;
                self.formula.terms.op(op, width, &args)
            }
            Node::Linear { constant, terms } => {
                let sum: Option<Vec<(u128, Term)>> = terms
                    .iter()
                    .map(|&(coefficient, arg)| Some((coefficient, self.replace(arg, part, done)?)))
                    .collect();
                self.formula.terms.linear(width, constant, &sum?)
            }
        };
        done.insert(term, replaced);
        Some(replaced)
    }
}
