//! Word-level terms: a hash-consed, constant-folding bit-vector DAG (paper Figure 1, one level up
//! from bits).
//!
//! In: requests to build a term from smaller ones. Out: the simplest equal term that the local
//! rules find. Equal results share one id, an operand's id is always smaller than its user's, and
//! the arena only grows, so a [`Term`] stays valid and may key any table for as long as the arena
//! lives. Nothing here is bit-blasted; that happens in [`crate::sat`], cone by cone.
//!
//! Canonical forms that the rest relies on:
//! * `+`, `-`, unary `-` and `*` by a constant are [`Node::Linear`]; shifts left by a constant too;
//! * `a <= b` is `!(b < a)`, a constant stands right of `<` and `==`, `!=` is `!(==)`;
//! * shifts right by a constant are extractions, extended again;
//! * at width 1, `+` and `^` are `!(==)` and `*` is `&`.

use std::hash::{Hash, Hasher};

use hashbrown::HashTable;
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

use super::guard::Guard;

mod arith;
mod bits;
mod compare;
pub mod eval;
mod ite;
#[cfg(test)]
pub(crate) mod tests;

pub use compare::MAX_MEMBER_OFFSET;

/// Operators over bit-vectors. Comparisons give width 1. Addition, subtraction, negation and
/// multiplication by a constant are not operators: they are canonical linear sums.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Op {
    /// Bitwise complement.
    Not,
    And,
    Or,
    Xor,
    /// Shifts by at least the width give 0 (`Ashr`: all sign bits).
    Shl,
    Lshr,
    Ashr,
    /// Product of two non-constants, modulo 2^width.
    Mul,
    /// Division by 0 gives all ones, remainder by 0 the dividend (SMT-LIB). The signed forms divide
    /// magnitudes and then set the sign, so that a negative number divided by 0 gives 1.
    Udiv,
    Urem,
    Sdiv,
    Srem,
    Eq,
    Ult,
    /// Never a node: built as the negation of `Ult`.
    Ule,
    Slt,
    /// Never a node: built as the negation of `Slt`.
    Sle,
    /// `args[0] ? args[1] : args[2]`, the condition of width 1.
    Ite,
    /// `args[0]` above `args[1]`.
    Concat,
    /// Bits `lo .. lo + width` of the argument.
    Extract {
        lo: u16,
    },
    Zext,
    Sext,
}

/// A term of one [`Terms`] arena. Terms are ordered by creation; operands precede their users.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Term(u32);

impl Term {
    /// The constant 0 of width 1.
    pub const FALSE: Term = Term(0);
    /// The constant 1 of width 1.
    pub const TRUE: Term = Term(1);

    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// An unknown: an input of the analysed function.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Var(pub u32);

/// What a term is made of. Its width is [`Terms::width`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Node {
    /// Reduced modulo 2^width.
    Const(u128),
    Var(Var),
    Op {
        op: Op,
        args: SmallVec<[Term; 3]>,
    },
    /// `constant + Σ coefficient·term` modulo 2^width: coefficients not 0, terms strictly
    /// ascending. Never a lone constant or a lone term with coefficient 1.
    Linear {
        constant: u128,
        terms: SmallVec<[(u128, Term); 2]>,
    },
    /// The truth value of a guard, of width 1.
    Guard(Guard),
}

/// A copy of a node's shape that can be matched on while the arena is changed.
#[derive(Clone, Copy)]
enum View {
    Const(u128),
    Unary(Op, Term),
    Binary(Op, Term, Term),
    Ite(Term, Term, Term),
    Linear,
    Leaf,
}

/// The arena of one function's analysis.
pub struct Terms {
    nodes: Vec<Node>,
    widths: Vec<u16>,
    table: HashTable<u32>,
    vars: Vec<Term>,
    /// Comparisons of choices, see [`Terms::compare_choices`].
    compared: FxHashMap<(Op, Term, Term), Option<Term>>,
    /// Terms that were read as pointers: where an address is a sum, one of these is its base.
    pointers: FxHashSet<Term>,
}

/// All ones in the low `width` bits.
pub fn mask(width: u16) -> u128 {
    if width >= 128 {
        u128::MAX
    } else {
        (1u128 << width) - 1
    }
}

fn hash(node: &Node, width: u16) -> u64 {
    let mut hasher = FxHasher::default();
    node.hash(&mut hasher);
    width.hash(&mut hasher);
    hasher.finish()
}

impl Default for Terms {
    fn default() -> Terms {
        Terms::new()
    }
}

impl Terms {
    pub fn new() -> Terms {
        let mut terms = Terms {
            nodes: Vec::new(),
            widths: Vec::new(),
            table: HashTable::new(),
            vars: Vec::new(),
            compared: FxHashMap::default(),
            pointers: FxHashSet::default(),
        };
        terms.constant(0, 1);
        terms.constant(1, 1);
        terms
    }

    pub fn is_pointer(&self, term: Term) -> bool {
        self.pointers.contains(&term)
    }

    /// Remembers that `term` was read or returned as a pointer.
    pub fn mark_pointer(&mut self, term: Term) {
        self.pointers.insert(term);
    }

    /// Number of nodes, for budgets.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Width in bits, 1 to 128.
    pub fn width(&self, t: Term) -> u16 {
        self.widths[t.index()]
    }

    pub fn node(&self, t: Term) -> &Node {
        &self.nodes[t.index()]
    }

    /// What a sum is made of, but for its constant; of anything else the term itself and its operands.
    pub fn parts(&self, t: Term) -> Vec<Term> {
        match self.node(t) {
            Node::Linear { terms, .. } => terms.iter().map(|&(_, part)| part).collect(),
            Node::Op { args, .. } => std::iter::once(t).chain(args.iter().copied()).collect(),
            _ => vec![t],
        }
    }

    pub fn as_const(&self, t: Term) -> Option<u128> {
        match *self.node(t) {
            Node::Const(value) => Some(value),
            _ => None,
        }
    }

    /// The value that a condition says is a number, and the number, which comes second ([`Self::commutative`]).
    pub fn as_equal_to_const(&self, condition: Term) -> Option<(Term, u128)> {
        let Node::Op { op: Op::Eq, args } = self.node(condition) else {
            return None;
        };
        let &[value, number] = &args[..] else {
            return None;
        };
        Some((value, self.as_const(number)?))
    }

    /// `value` modulo 2^width.
    pub fn constant(&mut self, value: u128, width: u16) -> Term {
        self.intern(Node::Const(value & mask(width)), width)
    }

    pub fn tru(&self) -> Term {
        Term::TRUE
    }

    pub fn fls(&self) -> Term {
        Term::FALSE
    }

    /// A new unknown, and its term.
    pub fn fresh(&mut self, width: u16) -> (Var, Term) {
        let var = Var(self.vars.len() as u32);
        let term = self.intern(Node::Var(var), width);
        self.vars.push(term);
        (var, term)
    }

    /// The unknown that is made next.
    pub fn next_var(&self) -> Var {
        Var(self.vars.len() as u32)
    }

    pub fn var_term(&self, var: Var) -> Term {
        self.vars[var.0 as usize]
    }

    pub fn var_width(&self, var: Var) -> u16 {
        self.width(self.var_term(var))
    }

    /// Number of variables created so far.
    pub fn var_count(&self) -> usize {
        self.vars.len()
    }

    /// The truth value of a guard, unexamined; [`super::formula::Formula::term_of`] resolves
    /// constants and literals first.
    pub(super) fn guard_leaf(&mut self, guard: Guard) -> Term {
        self.intern(Node::Guard(guard), 1)
    }

    /// The terms that `t` is directly built from, in order.
    pub fn operands(&self, t: Term) -> SmallVec<[Term; 4]> {
        match self.node(t) {
            Node::Op { args, .. } => args.iter().copied().collect(),
            Node::Linear { terms, .. } => terms.iter().map(|&(_, t)| t).collect(),
            Node::Const(_) | Node::Var(_) | Node::Guard(_) => SmallVec::new(),
        }
    }

    /// Builds `op` over `args` through the simplifying constructors; `width` is the result's.
    /// Used to rebuild a term with other operands.
    pub fn op(&mut self, op: Op, width: u16, args: &[Term]) -> Term {
        match (op, args) {
            (Op::Not, &[a]) => self.not(a),
            (Op::And, &[a, b]) => self.and(a, b),
            (Op::Or, &[a, b]) => self.or(a, b),
            (Op::Xor, &[a, b]) => self.xor(a, b),
            (Op::Shl, &[a, b]) => self.shl(a, b),
            (Op::Lshr, &[a, b]) => self.lshr(a, b),
            (Op::Ashr, &[a, b]) => self.ashr(a, b),
            (Op::Mul, &[a, b]) => self.mul(a, b),
            (Op::Udiv, &[a, b]) => self.udiv(a, b),
            (Op::Urem, &[a, b]) => self.urem(a, b),
            (Op::Sdiv, &[a, b]) => self.sdiv(a, b),
            (Op::Srem, &[a, b]) => self.srem(a, b),
            (Op::Eq, &[a, b]) => self.eq(a, b),
            (Op::Ult, &[a, b]) => self.ult(a, b),
            (Op::Ule, &[a, b]) => self.ule(a, b),
            (Op::Slt, &[a, b]) => self.slt(a, b),
            (Op::Sle, &[a, b]) => self.sle(a, b),
            (Op::Ite, &[c, a, b]) => self.ite(c, a, b),
            (Op::Concat, &[hi, lo]) => self.concat(hi, lo),
            (Op::Extract { lo }, &[a]) => self.extract(a, lo, width),
            (Op::Zext, &[a]) => self.zext(a, width),
            (Op::Sext, &[a]) => self.sext(a, width),
            _ => {
                debug_assert!(false, "{op:?} over {} operands", args.len());
                self.fresh(width).1
            }
        }
    }

    fn intern(&mut self, node: Node, width: u16) -> Term {
        debug_assert!((1..=128).contains(&width), "width {width}");
        let (nodes, widths) = (&mut self.nodes, &mut self.widths);
        let h = hash(&node, width);
        let same = |&id: &u32| nodes[id as usize] == node && widths[id as usize] == width;
        if let Some(&id) = self.table.find(h, same) {
            return Term(id);
        }
        let id = nodes.len() as u32;
        nodes.push(node);
        widths.push(width);
        self.table
            .insert_unique(h, id, |&id| hash(&nodes[id as usize], widths[id as usize]));
        Term(id)
    }

    fn unary(&mut self, op: Op, width: u16, a: Term) -> Term {
        let args = SmallVec::from_slice(&[a]);
        self.intern(Node::Op { op, args }, width)
    }

    fn binary(&mut self, op: Op, width: u16, a: Term, b: Term) -> Term {
        let args = SmallVec::from_slice(&[a, b]);
        self.intern(Node::Op { op, args }, width)
    }

    /// For commutative operators: a constant last, otherwise in order of creation.
    fn commutative(&mut self, op: Op, width: u16, a: Term, b: Term) -> Term {
        let swap = match (self.as_const(a), self.as_const(b)) {
            (Some(_), None) => true,
            (None, Some(_)) => false,
            _ => b < a,
        };
        let (a, b) = if swap { (b, a) } else { (a, b) };
        self.binary(op, width, a, b)
    }

    /// Folds an operator over two constants.
    fn fold(&mut self, op: Op, width: u16, a: Term, b: Term) -> Option<Term> {
        let (x, y) = (self.as_const(a)?, self.as_const(b)?);
        let args = [(x, self.width(a)), (y, self.width(b))];
        Some(self.constant(eval::apply(op, width, &args), width))
    }

    fn view(&self, t: Term) -> View {
        match self.node(t) {
            Node::Const(value) => View::Const(*value),
            Node::Linear { .. } => View::Linear,
            Node::Var(_) | Node::Guard(_) => View::Leaf,
            Node::Op { op, args } => match args[..] {
                [a] => View::Unary(*op, a),
                [a, b] => View::Binary(*op, a, b),
                [c, a, b] => View::Ite(c, a, b),
                _ => View::Leaf,
            },
        }
    }
}
