//! Sums, products, divisions and shifts.

use smallvec::SmallVec;

use super::{Node, Op, Term, Terms, View, mask};

/// A longer sum becomes an opaque operand of the next one, so that a long chain of additions does
/// not take quadratic space.
const MAX_SUMMANDS: usize = 32;

impl Terms {
    /// `constant + Σ coefficient·term` modulo 2^width, all terms of that width.
    pub fn linear(&mut self, width: u16, constant: u128, terms: &[(u128, Term)]) -> Term {
        if width == 1 {
            return self.parity(constant, terms);
        }
        let m = mask(width);
        let mut constant = constant;
        let mut sum: SmallVec<[(u128, Term); 8]> = SmallVec::new();
        for &(coefficient, t) in terms {
            debug_assert_eq!(self.width(t), width);
            match self.node(t) {
                Node::Const(value) => {
                    constant = constant.wrapping_add(coefficient.wrapping_mul(*value));
                }
                Node::Linear { constant: k, terms } if terms.len() <= MAX_SUMMANDS => {
                    constant = constant.wrapping_add(coefficient.wrapping_mul(*k));
                    sum.extend(terms.iter().map(|&(c, t)| (coefficient.wrapping_mul(c), t)));
                }
                // !x = -x - 1
                Node::Op { op: Op::Not, args } => {
                    constant = constant.wrapping_sub(coefficient);
                    sum.push((coefficient.wrapping_neg(), args[0]));
                }
                _ => sum.push((coefficient, t)),
            }
        }
        let constant = constant & m;
        sum.sort_by_key(|&(_, t)| t);
        sum.dedup_by(|later, kept| {
            let same = later.1 == kept.1;
            if same {
                kept.0 = kept.0.wrapping_add(later.0);
            }
            same
        });
        sum.retain(|summand| {
            summand.0 &= m;
            summand.0 != 0
        });
        match sum[..] {
            [] => self.constant(constant, width),
            [(1, t)] if constant == 0 => t,
            [(c, t)] if c == m && constant == m => self.unary(Op::Not, width, t),
            _ => {
                let terms = SmallVec::from_slice(&sum);
                self.intern(Node::Linear { constant, terms }, width)
            }
        }
    }

    /// A sum of width 1: addition is exclusive or.
    fn parity(&mut self, constant: u128, terms: &[(u128, Term)]) -> Term {
        let mut result = self.constant(constant, 1);
        for &(coefficient, t) in terms {
            if coefficient & 1 == 1 {
                result = self.xor(result, t);
            }
        }
        result
    }

    pub fn add(&mut self, a: Term, b: Term) -> Term {
        let width = self.width(a);
        self.linear(width, 0, &[(1, a), (1, b)])
    }

    pub fn sub(&mut self, a: Term, b: Term) -> Term {
        let width = self.width(a);
        self.linear(width, 0, &[(1, a), (u128::MAX, b)])
    }

    pub fn neg(&mut self, a: Term) -> Term {
        let width = self.width(a);
        self.linear(width, 0, &[(u128::MAX, a)])
    }

    pub fn mul(&mut self, a: Term, b: Term) -> Term {
        debug_assert_eq!(self.width(a), self.width(b));
        let width = self.width(a);
        if width == 1 {
            return self.and(a, b);
        }
        if let Some(k) = self.as_const(a) {
            return self.linear(width, 0, &[(k, b)]);
        }
        if let Some(k) = self.as_const(b) {
            return self.linear(width, 0, &[(k, a)]);
        }
        for (x, y) in [(a, b), (b, a)] {
            match self.view(x) {
                View::Unary(Op::Zext, c) if self.width(c) == 1 => {
                    let zero = self.constant(0, width);
                    return self.ite(c, y, zero);
                }
                // (k·x)·y = k·(x·y)
                View::Linear => {
                    if let Some((k, inner)) = self.as_multiple(x) {
                        let product = self.mul(inner, y);
                        return self.linear(width, 0, &[(k, product)]);
                    }
                }
                _ => {}
            }
        }
        self.commutative(Op::Mul, width, a, b)
    }

    /// `(k, x)` if `t` is `k·x` with a single `x` and no constant.
    fn as_multiple(&self, t: Term) -> Option<(u128, Term)> {
        match self.node(t) {
            Node::Linear { constant: 0, terms } => match terms[..] {
                [(k, x)] => Some((k, x)),
                _ => None,
            },
            _ => None,
        }
    }

    pub fn shl(&mut self, a: Term, amount: Term) -> Term {
        debug_assert_eq!(self.width(a), self.width(amount));
        let width = self.width(a);
        if let Some(k) = self.as_const(amount) {
            let factor = if k < u128::from(width) { 1 << k } else { 0 };
            // At width 1 the only amounts are 0 and "everything".
            return self.linear(width, 0, &[(factor, a)]);
        }
        if self.as_const(a) == Some(0) {
            return a;
        }
        self.binary(Op::Shl, width, a, amount)
    }

    pub fn lshr(&mut self, a: Term, amount: Term) -> Term {
        debug_assert_eq!(self.width(a), self.width(amount));
        let width = self.width(a);
        match self.as_const(amount) {
            Some(0) => a,
            Some(k) if k < u128::from(width) => {
                let high = self.extract(a, k as u16, width - k as u16);
                self.zext(high, width)
            }
            Some(_) => self.constant(0, width),
            None if self.as_const(a) == Some(0) => a,
            None => self.binary(Op::Lshr, width, a, amount),
        }
    }

    pub fn ashr(&mut self, a: Term, amount: Term) -> Term {
        debug_assert_eq!(self.width(a), self.width(amount));
        let width = self.width(a);
        match self.as_const(amount) {
            Some(0) => a,
            Some(k) => {
                let k = k.min(u128::from(width) - 1) as u16;
                let high = self.extract(a, k, width - k);
                self.sext(high, width)
            }
            None => match self.as_const(a) {
                Some(v) if v == 0 || v == mask(width) => a,
                _ => self.binary(Op::Ashr, width, a, amount),
            },
        }
    }

    pub fn udiv(&mut self, a: Term, b: Term) -> Term {
        let width = self.width(a);
        if let Some(folded) = self.fold(Op::Udiv, width, a, b) {
            return folded;
        }
        match self.as_const(b) {
            Some(0) => self.constant(u128::MAX, width),
            Some(k) if k.is_power_of_two() => {
                let amount = self.constant(u128::from(k.trailing_zeros()), width);
                self.lshr(a, amount)
            }
            Some(k) if self.upper_bound(a) < k => self.constant(0, width),
            _ => self.binary(Op::Udiv, width, a, b),
        }
    }

    pub fn urem(&mut self, a: Term, b: Term) -> Term {
        let width = self.width(a);
        if let Some(folded) = self.fold(Op::Urem, width, a, b) {
            return folded;
        }
        match self.as_const(b) {
            Some(0) => a,
            Some(k) if k.is_power_of_two() => {
                let low = self.constant(k - 1, width);
                self.and(a, low)
            }
            Some(k) if self.upper_bound(a) < k => a,
            _ => self.binary(Op::Urem, width, a, b),
        }
    }

    pub fn sdiv(&mut self, a: Term, b: Term) -> Term {
        let width = self.width(a);
        if let Some(folded) = self.fold(Op::Sdiv, width, a, b) {
            return folded;
        }
        match self.as_const(b) {
            Some(k) if k == mask(width) => self.neg(a),
            Some(1) => a,
            Some(k) if k != 0 && self.both_non_negative(a, k, width) => self.udiv(a, b),
            _ => self.binary(Op::Sdiv, width, a, b),
        }
    }

    pub fn srem(&mut self, a: Term, b: Term) -> Term {
        let width = self.width(a);
        if let Some(folded) = self.fold(Op::Srem, width, a, b) {
            return folded;
        }
        match self.as_const(b) {
            Some(k) if k == 1 || k == mask(width) => self.constant(0, width),
            Some(0) => a,
            Some(k) if self.both_non_negative(a, k, width) => self.urem(a, b),
            _ => self.binary(Op::Srem, width, a, b),
        }
    }

    fn both_non_negative(&self, a: Term, b: u128, width: u16) -> bool {
        let greatest = mask(width) >> 1;
        b <= greatest && self.upper_bound(a) <= greatest
    }

    /// A number that the unsigned value of `t` never exceeds, from its outermost operators.
    pub fn upper_bound(&self, t: Term) -> u128 {
        self.upper_bound_within(t, 3)
    }

    fn upper_bound_within(&self, t: Term, depth: u8) -> u128 {
        let all = mask(self.width(t));
        match self.view(t) {
            View::Const(value) => value,
            _ if depth == 0 => all,
            View::Unary(Op::Zext, x) => self.upper_bound_within(x, depth - 1),
            View::Binary(Op::And, x, y) => self
                .upper_bound_within(x, depth - 1)
                .min(self.upper_bound_within(y, depth - 1)),
            View::Binary(Op::Urem, x, y) => match self.as_const(y) {
                Some(k) if k > 0 => self.upper_bound_within(x, depth - 1).min(k - 1),
                _ => all,
            },
            View::Binary(Op::Udiv, x, y) => match self.as_const(y) {
                Some(k) if k > 0 => self.upper_bound_within(x, depth - 1) / k,
                _ => all,
            },
            View::Ite(_, x, y) => self
                .upper_bound_within(x, depth - 1)
                .max(self.upper_bound_within(y, depth - 1)),
            _ => all,
        }
    }
}
