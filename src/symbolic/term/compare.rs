//! Comparisons.

use smallvec::SmallVec;

use super::{Node, Op, Term, Terms, View, eval, mask};
use crate::ir::POINTER_BITS;

/// How many of the values chosen from may be other than constants, for a comparison.
const MAX_OPEN: usize = 5;
/// Pointers that a choice may be between for a comparison to be taken apart.
const MAX_ARMS: u32 = 5;
/// Members of a record lie within so many bytes.
pub const MAX_MEMBER_OFFSET: u128 = 1 << 20;

impl Terms {
    pub fn eq(&mut self, a: Term, b: Term) -> Term {
        let width = self.width(a);
        debug_assert_eq!(width, self.width(b));
        if a == b {
            return Term::TRUE;
        }
        let (a, b) = if self.as_const(a).is_some() {
            (b, a)
        } else {
            (a, b)
        };
        match (self.as_const(a), self.as_const(b)) {
            (Some(x), Some(y)) => return self.truth(x == y),
            (None, Some(k)) => return self.eq_constant(a, b, k),
            _ => {}
        }
        if self.complementary(a, b) {
            return Term::FALSE;
        }
        if width == 1 {
            return match (self.view(a), self.view(b)) {
                (View::Unary(Op::Not, x), View::Unary(Op::Not, y)) => self.eq(x, y),
                (View::Unary(Op::Not, x), _) => {
                    let same = self.eq(x, b);
                    self.not(same)
                }
                (_, View::Unary(Op::Not, y)) => {
                    let same = self.eq(a, y);
                    self.not(same)
                }
                _ => self.commutative(Op::Eq, 1, a, b),
            };
        }
        let sum = |v| matches!(v, View::Linear | View::Unary(Op::Not, _));
        if sum(self.view(a)) || sum(self.view(b)) {
            return self.eq_sum(a, b);
        }
        self.eq_structure(a, b)
    }

    fn truth(&self, value: bool) -> Term {
        if value { Term::TRUE } else { Term::FALSE }
    }

    /// Two terms that are neither constants nor (both) sums.
    fn eq_structure(&mut self, a: Term, b: Term) -> Term {
        match (self.view(a), self.view(b)) {
            (View::Unary(Op::Zext, x), View::Unary(Op::Zext, y)) => {
                let width = self.width(x).max(self.width(y));
                let (x, y) = (self.zext(x, width), self.zext(y, width));
                return self.eq(x, y);
            }
            (View::Unary(Op::Sext, x), View::Unary(Op::Sext, y)) => {
                let width = self.width(x).max(self.width(y));
                let (x, y) = (self.sext(x, width), self.sext(y, width));
                return self.eq(x, y);
            }
            (View::Binary(Op::Concat, h, l), View::Binary(Op::Concat, i, m))
                if self.width(l) == self.width(m) =>
            {
                let high = self.eq(h, i);
                let low = self.eq(l, m);
                return self.and(high, low);
            }
            _ => {}
        }
        for (x, y) in [(a, b), (b, a)] {
            if let View::Ite(c, p, q) = self.view(x) {
                if p == y {
                    let rest = self.eq(q, y);
                    return self.or(c, rest);
                }
                if q == y {
                    let rest = self.eq(p, y);
                    let not_c = self.not(c);
                    return self.or(not_c, rest);
                }
                // Which pointer a choice of pointers is, each arm tells by itself.
                if self.width(a) == POINTER_BITS && self.is_small_choice(x) {
                    let (p, q) = (self.eq(p, y), self.eq(q, y));
                    return self.ite(c, p, q);
                }
            }
        }
        self.commutative(Op::Eq, 1, a, b)
    }

    pub(super) fn is_small_choice(&self, x: Term) -> bool {
        self.arms(x, MAX_ARMS).is_some()
    }

    /// What is left of a budget of arms. Those of a choice that an arm is a fixed distance from count, too, for they are compared each by itself in turn.
    fn arms(&self, x: Term, left: u32) -> Option<u32> {
        match self.node(x) {
            Node::Op { op: Op::Ite, args } => self.arms(args[2], self.arms(args[1], left)?),
            Node::Linear { terms, .. } => match terms[..] {
                [(1, base)] => self.arms(base, left),
                _ => left.checked_sub(1),
            },
            _ => left.checked_sub(1),
        }
    }

    /// `a == b` where `b` is the constant `k` and `a` is not constant.
    fn eq_constant(&mut self, a: Term, b: Term, k: u128) -> Term {
        let width = self.width(a);
        if width == 1 {
            return if k == 1 { a } else { self.not(a) };
        }
        if self.upper_bound(a) < k {
            return Term::FALSE;
        }
        match self.view(a) {
            View::Linear => return self.eq_sum(a, b),
            View::Unary(Op::Not, x) => {
                let k = self.constant(!k, width);
                return self.eq(x, k);
            }
            View::Unary(op @ (Op::Zext | Op::Sext), x) => {
                let narrow = self.width(x);
                if eval::apply(op, width, &[(k & mask(narrow), narrow)]) != k {
                    return Term::FALSE;
                }
                let k = self.constant(k, narrow);
                return self.eq(x, k);
            }
            View::Binary(Op::Concat, high, low) => {
                let (wh, wl) = (self.width(high), self.width(low));
                let (kh, kl) = (self.constant(k >> wl, wh), self.constant(k, wl));
                let upper = self.eq(high, kh);
                let lower = self.eq(low, kl);
                return self.and(upper, lower);
            }
            View::Binary(Op::And, _, y) => {
                if let Some(m) = self.as_const(y) {
                    if k & !m != 0 {
                        return Term::FALSE;
                    }
                    // A single bit is either set or clear.
                    if k == m && m.is_power_of_two() {
                        let zero = self.constant(0, width);
                        let clear = self.eq(a, zero);
                        return self.not(clear);
                    }
                }
            }
            View::Binary(Op::Or, x, y) => {
                if let Some(m) = self.as_const(y) {
                    if m & !k != 0 {
                        return Term::FALSE;
                    }
                    let others = self.constant(!m, width);
                    let rest = self.and(x, others);
                    let k = self.constant(k & !m, width);
                    return self.eq(rest, k);
                }
            }
            View::Binary(Op::Xor, x, y) => {
                if let Some(m) = self.as_const(y) {
                    let k = self.constant(k ^ m, width);
                    return self.eq(x, k);
                }
            }
            View::Ite(..) => {
                if let Some(pushed) = self.compare_choices(Op::Eq, a, b) {
                    return pushed;
                }
            }
            _ => {}
        }
        self.binary(Op::Eq, 1, a, b)
    }

    /// A comparison of what is chosen with a constant, as a choice between comparisons. What lies beyond the
    /// limits of one push is pushed by the next, so the parts that choices share are remembered.
    fn compare_choices(&mut self, op: Op, a: Term, b: Term) -> Option<Term> {
        if let Some(&known) = self.compared.get(&(op, a, b)) {
            return known;
        }
        let test = &mut |terms: &mut Terms, x| match op {
            Op::Ult => terms.ult(x, b),
            Op::Slt => terms.slt(x, b),
            _ => terms.eq(x, b),
        };
        let pushed = self.push_into_ite(a, MAX_OPEN, test);
        self.compared.insert((op, a, b), pushed);
        pushed
    }

    /// Whether a term is the address of a member of a record, by the pointer to that or to an array of such, or of the
    /// record around a member: none is null. (As a sum `&p->member == 0` would say that `p` is an error number.)
    fn is_member(&self, address: Term) -> bool {
        let Node::Linear { constant, terms } = self.node(address) else {
            return false;
        };
        let offset = u128::from((*constant as i64).unsigned_abs());
        self.width(address) == POINTER_BITS
            && (1..MAX_MEMBER_OFFSET).contains(&offset)
            && terms
                .iter()
                .any(|&(times, base)| times == 1 && self.chooses_pointers(base, MAX_OPEN))
    }

    /// Whether a term is a pointer, or a choice between pointers only.
    fn chooses_pointers(&self, term: Term, depth: usize) -> bool {
        match self.node(term) {
            _ if self.is_pointer(term) => true,
            Node::Op { op: Op::Ite, args } if depth > 0 => args[1..]
                .iter()
                .all(|&arg| self.chooses_pointers(arg, depth - 1)),
            _ => false,
        }
    }

    /// Equality where a side is a sum: everything that both sides share cancels.
    fn eq_sum(&mut self, a: Term, b: Term) -> Term {
        let width = self.width(a);
        for (address, other) in [(a, b), (b, a)] {
            if self.as_const(other) == Some(0) && self.is_member(address) {
                return Term::FALSE;
            }
        }
        let m = mask(width);
        let difference = self.linear(width, 0, &[(1, a), (u128::MAX, b)]);
        let (k, terms) = match self.node(difference) {
            Node::Const(value) => return self.truth(*value == 0),
            Node::Linear { constant, terms } => (*constant, terms.clone()),
            _ => {
                let zero = self.constant(0, width);
                return self.eq_constant(difference, zero, 0);
            }
        };
        // Every multiple of 2^n is one modulo 2^width.
        let twos = terms.iter().map(|&(c, _)| c.trailing_zeros()).min();
        let twos = twos.unwrap_or(0);
        if k & mask(twos as u16) != 0 {
            return Term::FALSE;
        }
        if let [(c, t)] = terms[..] {
            // 2^n·odd·t = -k  iff  t = (-k / 2^n) / odd  in the low width - n bits.
            let low = width - twos as u16;
            let value = (k.wrapping_neg() & m) >> twos;
            let value = value.wrapping_mul(inverse(c >> twos));
            let value = self.constant(value, low);
            // Of a sum too long to be taken apart nothing is cancelled.
            if c == 1 && matches!(self.view(t), View::Linear) {
                return self.binary(Op::Eq, 1, t, value);
            }
            let part = self.extract(t, 0, low);
            return self.eq(part, value);
        }
        // Positive coefficients left, the others negated right, the oldest term left.
        let half = 1u128 << (width - 1);
        let flip = terms.first().is_some_and(|&(c, _)| c > half);
        let sign = if flip { u128::MAX } else { 1 };
        let mut left: SmallVec<[(u128, Term); 4]> = SmallVec::new();
        let mut right: SmallVec<[(u128, Term); 4]> = SmallVec::new();
        for (c, t) in terms {
            let c = c.wrapping_mul(sign) & m;
            if c <= half {
                left.push((c, t));
            } else {
                right.push((c.wrapping_neg() & m, t));
            }
        }
        let left = self.linear(width, 0, &left);
        let right = self.linear(width, k.wrapping_mul(sign).wrapping_neg(), &right);
        if self.as_const(right).is_some() {
            self.binary(Op::Eq, 1, left, right)
        } else {
            self.eq_structure(left, right)
        }
    }

    /// `a <= b`, unsigned.
    pub fn ule(&mut self, a: Term, b: Term) -> Term {
        let greater = self.ult(b, a);
        self.not(greater)
    }

    /// `a <= b`, signed.
    pub fn sle(&mut self, a: Term, b: Term) -> Term {
        let greater = self.slt(b, a);
        self.not(greater)
    }

    /// `a < b`, unsigned.
    pub fn ult(&mut self, a: Term, b: Term) -> Term {
        let width = self.width(a);
        debug_assert_eq!(width, self.width(b));
        if a == b {
            return Term::FALSE;
        }
        if width == 1 {
            let not_a = self.not(a);
            return self.and(not_a, b);
        }
        match (self.as_const(a), self.as_const(b)) {
            (Some(x), Some(y)) => return self.truth(x < y),
            (Some(k), None) => {
                if k == mask(width) {
                    return Term::FALSE;
                }
                // k < b = !(b < k + 1)
                let next = self.constant(k + 1, width);
                let below = self.ult(b, next);
                return self.not(below);
            }
            (None, Some(k)) => return self.ult_constant(a, b, k),
            (None, None) => {}
        }
        match (self.view(a), self.view(b)) {
            (View::Unary(Op::Zext, x), View::Unary(Op::Zext, y)) => {
                let width = self.width(x).max(self.width(y));
                let (x, y) = (self.zext(x, width), self.zext(y, width));
                self.ult(x, y)
            }
            // Sign extension keeps the unsigned order.
            (View::Unary(Op::Sext, x), View::Unary(Op::Sext, y)) => {
                let width = self.width(x).max(self.width(y));
                let (x, y) = (self.sext(x, width), self.sext(y, width));
                self.ult(x, y)
            }
            _ => self.binary(Op::Ult, 1, a, b),
        }
    }

    /// `a < b`, unsigned, where `b` is the constant `k` and `a` is not constant.
    fn ult_constant(&mut self, a: Term, b: Term, k: u128) -> Term {
        let width = self.width(a);
        let half = 1u128 << (width - 1);
        match k {
            0 => return Term::FALSE,
            1 => {
                let zero = self.constant(0, width);
                return self.eq(a, zero);
            }
            _ if k == mask(width) => {
                let greatest = self.eq(a, b);
                return self.not(greatest);
            }
            _ if self.upper_bound(a) < k => return Term::TRUE,
            _ if k == half => {
                let zero = self.constant(0, width);
                let negative = self.slt(a, zero);
                return self.not(negative);
            }
            _ => {}
        }
        match self.view(a) {
            View::Unary(Op::Zext, x) => {
                let narrow = self.width(x);
                let k = self.constant(k, narrow);
                return self.ult(x, k);
            }
            View::Unary(Op::Sext, x) => {
                let narrow = self.width(x);
                let half = 1u128 << (narrow - 1);
                // Values in the gap that the extension leaves part the signs.
                let k = if k < half || k >= mask(width) - (half - 1) {
                    k
                } else {
                    half
                };
                let k = self.constant(k, narrow);
                return self.ult(x, k);
            }
            View::Ite(..) => {
                if let Some(pushed) = self.compare_choices(Op::Ult, a, b) {
                    return pushed;
                }
            }
            _ => {}
        }
        self.binary(Op::Ult, 1, a, b)
    }

    /// `a < b`, signed.
    pub fn slt(&mut self, a: Term, b: Term) -> Term {
        let width = self.width(a);
        debug_assert_eq!(width, self.width(b));
        if a == b {
            return Term::FALSE;
        }
        if width == 1 {
            let not_b = self.not(b);
            return self.and(a, not_b);
        }
        let greatest = mask(width) >> 1;
        match (self.as_const(a), self.as_const(b)) {
            (Some(x), Some(y)) => {
                return self.truth(eval::signed(x, width) < eval::signed(y, width));
            }
            (Some(k), None) => {
                if k == greatest {
                    return Term::FALSE;
                }
                let next = self.constant(k.wrapping_add(1), width);
                let below = self.slt(b, next);
                return self.not(below);
            }
            (None, Some(k)) => return self.slt_constant(a, b, k),
            (None, None) => {}
        }
        if let (View::Unary(Op::Sext, x), View::Unary(Op::Sext, y)) = (self.view(a), self.view(b)) {
            let width = self.width(x).max(self.width(y));
            let (x, y) = (self.sext(x, width), self.sext(y, width));
            return self.slt(x, y);
        }
        if self.upper_bound(a) <= greatest && self.upper_bound(b) <= greatest {
            return self.ult(a, b);
        }
        self.binary(Op::Slt, 1, a, b)
    }

    /// `a < b`, signed, where `b` is the constant `k` and `a` is not constant.
    fn slt_constant(&mut self, a: Term, b: Term, k: u128) -> Term {
        let width = self.width(a);
        let greatest = mask(width) >> 1;
        let least = greatest + 1;
        if k == least {
            return Term::FALSE;
        }
        if k == least + 1 {
            let least = self.constant(least, width);
            return self.eq(a, least);
        }
        if k == greatest {
            let same = self.eq(a, b);
            return self.not(same);
        }
        if self.upper_bound(a) <= greatest {
            return if k <= greatest {
                self.ult(a, b)
            } else {
                Term::FALSE
            };
        }
        match self.view(a) {
            View::Unary(Op::Sext, x) => {
                let narrow = self.width(x);
                let k = eval::signed(k, width);
                let bound = eval::signed(mask(narrow) >> 1, narrow);
                return if k > bound {
                    Term::TRUE
                } else if k < -bound - 1 {
                    Term::FALSE
                } else {
                    let k = self.constant(k as u128, narrow);
                    self.slt(x, k)
                };
            }
            View::Ite(..) => {
                if let Some(pushed) = self.compare_choices(Op::Slt, a, b) {
                    return pushed;
                }
            }
            _ => {}
        }
        self.binary(Op::Slt, 1, a, b)
    }
}

/// The inverse of an odd number modulo 2^128, by Newton's iteration: each step doubles the number of
/// correct low bits, of which an odd number has three to begin with.
fn inverse(odd: u128) -> u128 {
    let mut x = odd;
    for _ in 0..6 {
        x = x.wrapping_mul(2u128.wrapping_sub(odd.wrapping_mul(x)));
    }
    x
}
