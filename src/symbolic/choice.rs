//! Choices within an address: what a table's element is where the index is one of a few values.
//!
//! In: an address term. Out: the condition of its first choice, and the address under either outcome.
//! `ite(c, a, b) + k` is `a + k` if c holds, else `b + k`; an index that is 1 on some paths and 0 on
//! the others is the widened condition itself.

use rustc_hash::FxHashMap;

use super::arena::Arena;
use super::term::{Node, Op, Term};

/// Terms looked at for a choice.
const MAX_VISITED: u32 = 32;

/// A choice and the places it is to be replaced with.
struct Choice {
    term: Term,
    condition: Term,
    then: Term,
    els: Term,
}

impl Arena<'_> {
    /// Takes the first choice in an address apart: its condition, the address where that holds, and
    /// where it does not.
    pub(super) fn choice_in(&mut self, address: Term) -> Option<(Term, Term, Term)> {
        let mut left = MAX_VISITED;
        let choice = self.find_choice(address, &mut left)?;
        let with = |to: Term| FxHashMap::from_iter([(choice.term, to)]);
        let then = self.replace(address, choice.term, &mut with(choice.then));
        let els = self.replace(address, choice.term, &mut with(choice.els));
        Some((choice.condition, then, els))
    }

    fn find_choice(&mut self, term: Term, left: &mut u32) -> Option<Choice> {
        *left = left.checked_sub(1)?;
        let terms = &mut self.formula.terms;
        match terms.node(term).clone() {
            Node::Const(_) | Node::Var(_) | Node::Guard(_) => None,
            Node::Op { op: Op::Ite, args } => Some(Choice {
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
                Some(Choice {
                    term,
                    condition: args[0],
                    then: terms.op(op, width, &[Term::TRUE]),
                    els: terms.op(op, width, &[Term::FALSE]),
                })
            }
            Node::Op { args, .. } => args.iter().find_map(|&part| self.find_choice(part, left)),
            Node::Linear { terms, .. } => terms
                .iter()
                .find_map(|&(_, part)| self.find_choice(part, left)),
        }
    }

    /// The term with `part` of it replaced. `done` holds what it is replaced with, and the terms made
    /// so far.
    fn replace(&mut self, term: Term, part: Term, done: &mut FxHashMap<Term, Term>) -> Term {
        if let Some(&known) = done.get(&term) {
            return known;
        }
        // Operands precede their users.
        if term < part {
            return term;
        }
        let width = self.formula.terms.width(term);
        let replaced = match self.formula.terms.node(term).clone() {
            Node::Const(_) | Node::Var(_) | Node::Guard(_) => term,
            Node::Op { op, args } => {
                let args: Vec<Term> = args
                    .iter()
                    .map(|&arg| self.replace(arg, part, done))
                    .collect();
                self.formula.terms.op(op, width, &args)
            }
            Node::Linear { constant, terms } => {
                let sum: Vec<(u128, Term)> = terms
                    .iter()
                    .map(|&(coefficient, arg)| (coefficient, self.replace(arg, part, done)))
                    .collect();
                self.formula.terms.linear(width, constant, &sum)
            }
        };
        done.insert(term, replaced);
        replaced
    }
}
