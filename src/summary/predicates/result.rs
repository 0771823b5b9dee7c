//! Mining P_out: the conditions on a function's result.
//!
//! In: the term that the function returns, and the tests that it has made. Out: candidates on the result: its sign, whether it is
//! null, an error pointer, a parameter or a constant, and whether it has a bit.

use super::{Predicate, Side};
use crate::ir::POINTER_BITS;
use crate::summary::infer::nonzero;
use crate::summary::{IExpr, IObj, Root, Told, When};
use crate::symbolic::arena::Arena;
use crate::symbolic::execution::Execution;
use crate::symbolic::term::{Node, Op, Term, eval, mask};
use crate::symbolic::validity::MAX_ERRNO;

/// From here on error numbers are the kernel's own.
const FIRST_OWN_ERROR: u128 = 512;
const MAX_CONSTANTS: usize = 4;

/// Candidates, those tried first first.
pub(super) fn mine(execution: &Execution, arena: &mut Arena<'_>, result: Term) -> Vec<Predicate> {
    let width = arena.formula.terms.width(result);
    // A number may have passed for a pointer on some paths.
    let pointer = arena.names.is_pointer(result);
    let mut miner = Miner {
        arena,
        result,
        width,
        pointer,
        found: Vec::new(),
    };
    let truth = miner.arena.nonzero(result);
    miner.add(nonzero(returned(), width, pointer), truth);
    if width >= 32 {
        miner.signs();
        miner.error_pointer();
        miner.parameters();
        miner.constants(execution);
        miner.bits();
    }
    miner.found
}

/// The name that callers have for the result.
fn returned() -> IObj {
    IObj {
        root: Root::Return,
        path: Vec::new(),
    }
}

struct Miner<'m, 'a> {
    arena: &'m mut Arena<'a>,
    result: Term,
    width: u16,
    /// The source has the result as a pointer.
    pointer: bool,
    found: Vec<Predicate>,
}

impl Miner<'_, '_> {
    /// A condition as callers see it and as the term that it is in the execution.
    fn add(&mut self, expr: IExpr, term: Term) {
        let guard = self.arena.formula.guard_of(term);
        self.found.push(Predicate {
            side: Side::Output,
            expr,
            guard,
        });
    }

    fn add_comparison(&mut self, op: Op, args: [IExpr; 2], term: Term) {
        let expr = IExpr::Op {
            op,
            width: 1,
            args: args.to_vec(),
        };
        self.add(expr, term);
    }

    fn value(&self) -> IExpr {
        IExpr::Value {
            object: returned(),
            width: self.width,
            when: When::Exit,
            narrow: false,
            pointer: Told(self.pointer),
        }
    }

    fn constant(&self, value: u128) -> IExpr {
        IExpr::Const {
            value,
            width: self.width,
        }
    }

    /// Negative, positive.
    fn signs(&mut self) {
        let terms = &mut self.arena.formula.terms;
        let zero = terms.constant(0, self.width);
        let negative = terms.slt(self.result, zero);
        self.add_comparison(Op::Slt, [self.value(), self.constant(0)], negative);
        let positive = self.arena.formula.terms.slt(zero, self.result);
        self.add_comparison(Op::Slt, [self.constant(0), self.value()], positive);
    }

    /// An error number as a pointer (IS_ERR).
    fn error_pointer(&mut self) {
        if self.width != POINTER_BITS {
            return;
        }
        let last = (1u128 << self.width) - 1 - MAX_ERRNO;
        let terms = &mut self.arena.formula.terms;
        let bound = terms.constant(last, self.width);
        let is_error = terms.ult(bound, self.result);
        self.add_comparison(Op::Ult, [self.constant(last), self.value()], is_error);
    }

    /// One of the parameters, where the function returns it on some path.
    fn parameters(&mut self) {
        let params = self.arena.origins.params().to_vec();
        for (index, param) in params {
            if self.arena.formula.terms.width(param) != self.width
                || !is_choice_of(self.arena, self.result, param, 6)
            {
                continue;
            }
            let same = self.arena.formula.terms.eq(self.result, param);
            let argument = IExpr::Value {
                object: IObj {
                    root: Root::Param(index),
                    path: Vec::new(),
                },
                width: self.width,
                when: When::Entry,
                narrow: false,
                pointer: Told(self.pointer),
            };
            self.add_comparison(Op::Eq, [self.value(), argument], same);
        }
    }

    /// One of the constants that it may be, or that the function compares it with.
    fn constants(&mut self, execution: &Execution) {
        let mut constants = Vec::new();
        positive_constants(self.arena, self.result, &mut constants);
        compared_constants(execution, self.arena, self.result, &mut constants);
        for number in constants.into_iter().take(MAX_CONSTANTS) {
            let terms = &mut self.arena.formula.terms;
            let term = terms.constant(number, self.width);
            let equal = terms.eq(self.result, term);
            self.add_comparison(Op::Eq, [self.value(), self.constant(number)], equal);
        }
    }

    /// A bit that it has.
    fn bits(&mut self) {
        let mut bits = Vec::new();
        bits_set(self.arena, self.result, &mut bits, 6);
        for bit in bits.into_iter().take(MAX_CONSTANTS) {
            let mask = self.arena.formula.terms.constant(bit, self.width);
            let masked = self.arena.formula.terms.and(self.result, mask);
            let set = self.arena.nonzero(masked);
            let masked = IExpr::Op {
                op: Op::And,
                width: self.width,
                args: vec![self.value(), self.constant(bit)],
            };
            self.add(IExpr::is_nonzero(masked, self.width), set);
        }
    }
}

/// The constants that the function itself compares what it returns with, but for 0 and for error numbers that user
/// programs know: those of the kernel's own (`-EIOCBQUEUED`) tell its parts from each other what to do next.
fn compared_constants(
    execution: &Execution,
    arena: &Arena<'_>,
    result: Term,
    found: &mut Vec<u128>,
) {
    let width = arena.formula.terms.width(result);
    let mut parts: Vec<Term> = Vec::new();
    let mut work = vec![(result, 6)];
    while let Some((term, depth)) = work.pop() {
        match arena.formula.terms.node(term) {
            Node::Op { op: Op::Ite, args } if depth > 0 => {
                work.extend(args[1..].iter().map(|&arg| (arg, depth - 1)));
            }
            Node::Op {
                op: Op::Sext | Op::Zext,
                args,
            } => parts.push(args[0]),
            Node::Const(_) => {}
            _ => parts.push(term),
        }
    }
    for branch in execution
        .log
        .branches
        .iter()
        .filter(|branch| branch.depth == 0)
    {
        for &condition in arena.formula.guards.support(branch.guard) {
            let terms = &arena.formula.terms;
            let compared = terms.as_equal_to_const(arena.formula.cond_term(condition));
            if let Some((value, number)) = compared.filter(|(value, _)| parts.contains(value)) {
                let narrow = terms.width(value);
                let number = eval::apply(Op::Sext, width, &[(number, narrow)]);
                let error = number.wrapping_neg() & mask(width);
                if number != 0 && !(1..FIRST_OWN_ERROR).contains(&error) && !found.contains(&number)
                {
                    found.push(number);
                }
            }
        }
    }
}

/// Whether a value is one of the choices of a term.
fn is_choice_of(arena: &Arena<'_>, term: Term, value: Term, depth: u32) -> bool {
    match arena.formula.terms.node(term) {
        _ if term == value => true,
        Node::Op { op: Op::Ite, args } if depth > 0 => {
            is_choice_of(arena, args[1], value, depth - 1)
                || is_choice_of(arena, args[2], value, depth - 1)
        }
        _ => false,
    }
}

/// Positive constants that a result may take. Error numbers are no such: callers tell failure from
/// success, not one failure from another; but -1 is, where the result may also be a value from elsewhere.
fn positive_constants(arena: &Arena<'_>, result: Term, found: &mut Vec<u128>) {
    let minus_one = mask(arena.formula.terms.width(result));
    let (mut none, mut others) = (false, false);
    let mut work = vec![(result, 6)];
    while let Some((term, depth)) = work.pop() {
        match arena.formula.terms.node(term) {
            Node::Const(value) => {
                let negative = value >> (arena.formula.terms.width(term) - 1) == 1;
                if *value != 0 && !negative && !found.contains(value) {
                    found.push(*value);
                }
                none |= *value == minus_one;
            }
            Node::Op { op: Op::Ite, args } if depth > 0 => {
                work.extend([(args[2], depth - 1), (args[1], depth - 1)]);
            }
            _ => others = true,
        }
    }
    if none && others {
        found.push(minus_one);
    }
}

/// Bits that a result has for sure on some path, and others beside: `ret | VM_FAULT_RETRY`.
fn bits_set(arena: &Arena<'_>, term: Term, found: &mut Vec<u128>, depth: u32) {
    let Node::Op { op, args } = arena.formula.terms.node(term) else {
        return;
    };
    match op {
        Op::Ite if depth > 0 => {
            bits_set(arena, args[1], found, depth - 1);
            bits_set(arena, args[2], found, depth - 1);
        }
        Op::Or => {
            let bits = args
                .iter()
                .filter_map(|&arg| arena.formula.terms.as_const(arg));
            let single = bits.filter(|bits| bits.is_power_of_two());
            let new: Vec<u128> = single.filter(|bit| !found.contains(bit)).collect();
            found.extend(new);
        }
        _ => {}
    }
}
