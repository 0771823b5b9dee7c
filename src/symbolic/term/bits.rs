//! Bitwise connectives, and taking words apart and together. At width 1 these are the Boolean
//! connectives.

use super::{Op, Term, Terms, View, mask};

impl Terms {
    pub fn not(&mut self, a: Term) -> Term {
        let width = self.width(a);
        match self.view(a) {
            View::Const(value) => self.constant(!value, width),
            View::Unary(Op::Not, x) => x,
            // Sums absorb complements, see `linear`.
            View::Linear => self.linear(width, u128::MAX, &[(u128::MAX, a)]),
            _ => self.unary(Op::Not, width, a),
        }
    }

    /// Whether one is the complement of the other, as far as their shapes tell.
    pub(super) fn complementary(&self, a: Term, b: Term) -> bool {
        matches!(self.view(a), View::Unary(Op::Not, x) if x == b)
            || matches!(self.view(b), View::Unary(Op::Not, x) if x == a)
    }

    /// A constant operand, if there is one, second.
    fn constant_last(&self, a: Term, b: Term) -> (Term, Term) {
        if self.as_const(a).is_some() {
            (b, a)
        } else {
            (a, b)
        }
    }

    pub fn and(&mut self, a: Term, b: Term) -> Term {
        debug_assert_eq!(self.width(a), self.width(b));
        let width = self.width(a);
        if let Some(folded) = self.fold(Op::And, width, a, b) {
            return folded;
        }
        let (a, b) = self.constant_last(a, b);
        match self.as_const(b) {
            Some(0) => return b,
            Some(k) if k == mask(width) => return a,
            Some(k) => return self.and_constant(a, b, k),
            None => {}
        }
        if a == b {
            return a;
        }
        if self.complementary(a, b) {
            return self.constant(0, width);
        }
        for (x, y) in [(a, b), (b, a)] {
            match self.view(y) {
                // x & (x & z), x & (x | z)
                View::Binary(Op::And, p, q) if p == x || q == x => return y,
                View::Binary(Op::Or, p, q) if p == x || q == x => return x,
                // x & (!x | z) = x & z
                View::Binary(Op::Or, p, q) if self.complementary(x, p) => return self.and(x, q),
                View::Binary(Op::Or, p, q) if self.complementary(x, q) => return self.and(x, p),
                View::Binary(Op::And, p, q)
                    if self.complementary(x, p) || self.complementary(x, q) =>
                {
                    return self.constant(0, width);
                }
                _ => {}
            }
        }
        self.commutative(Op::And, width, a, b)
    }

    /// `a & b` where `b` is the constant `k`, neither 0 nor all ones.
    fn and_constant(&mut self, a: Term, b: Term, k: u128) -> Term {
        let width = self.width(a);
        match self.view(a) {
            View::Binary(Op::And, x, y) => {
                if let Some(inner) = self.as_const(y) {
                    let both = self.constant(k & inner, width);
                    return self.and(x, both);
                }
            }
            // A bit that none of the choices changes: `(flags & ~FS or flags) & WAIT`.
            View::Ite(_, p, q) if k.is_power_of_two() && self.is_small_choice(a) => {
                let (p, q) = (self.and(p, b), self.and(q, b));
                if p == q {
                    return p;
                }
            }
            // (x | c) & k = (x & (k & !c)) | (c & k)
            View::Binary(Op::Or, x, y) => {
                if let Some(set) = self.as_const(y) {
                    let keep = self.constant(k & !set, width);
                    let kept = self.and(x, keep);
                    let set = self.constant(k & set, width);
                    return self.or(kept, set);
                }
            }
            View::Unary(Op::Zext, x) => {
                let narrow = self.width(x);
                let k = self.constant(k, narrow);
                let low = self.and(x, k);
                return self.zext(low, width);
            }
            View::Binary(Op::Concat, high, low) => return self.by_halves(Op::And, high, low, k),
            View::Ite(..) => {
                if let Some(pushed) = self.push_into_ite(a, 1, &mut |terms, x| terms.and(x, b)) {
                    return pushed;
                }
            }
            _ => {}
        }
        self.binary(Op::And, width, a, b)
    }

    /// A bitwise operator with the constant `k`, applied to both parts of a concatenation.
    fn by_halves(&mut self, op: Op, high: Term, low: Term, k: u128) -> Term {
        let (wh, wl) = (self.width(high), self.width(low));
        let (kh, kl) = (self.constant(k >> wl, wh), self.constant(k, wl));
        let high = self.op(op, wh, &[high, kh]);
        let low = self.op(op, wl, &[low, kl]);
        self.concat(high, low)
    }

    pub fn or(&mut self, a: Term, b: Term) -> Term {
        debug_assert_eq!(self.width(a), self.width(b));
        let width = self.width(a);
        if let Some(folded) = self.fold(Op::Or, width, a, b) {
            return folded;
        }
        let (a, b) = self.constant_last(a, b);
        match self.as_const(b) {
            Some(0) => return a,
            Some(k) if k == mask(width) => return b,
            Some(k) => return self.or_constant(a, b, k),
            None => {}
        }
        if a == b {
            return a;
        }
        if self.complementary(a, b) {
            return self.constant(u128::MAX, width);
        }
        for (x, y) in [(a, b), (b, a)] {
            match self.view(y) {
                View::Binary(Op::Or, p, q) if p == x || q == x => return y,
                View::Binary(Op::And, p, q) if p == x || q == x => return x,
                // x | (!x & z) = x | z
                View::Binary(Op::And, p, q) if self.complementary(x, p) => return self.or(x, q),
                View::Binary(Op::And, p, q) if self.complementary(x, q) => return self.or(x, p),
                View::Binary(Op::Or, p, q)
                    if self.complementary(x, p) || self.complementary(x, q) =>
                {
                    return self.constant(u128::MAX, width);
                }
                _ => {}
            }
        }
        self.commutative(Op::Or, width, a, b)
    }

    /// `a | b` where `b` is the constant `k`, neither 0 nor all ones.
    fn or_constant(&mut self, a: Term, b: Term, k: u128) -> Term {
        let width = self.width(a);
        match self.view(a) {
            View::Binary(Op::Or, x, y) => {
                if let Some(inner) = self.as_const(y) {
                    let both = self.constant(k | inner, width);
                    return self.or(x, both);
                }
            }
            // (x & m) | k = (x & (m & !k)) | k
            View::Binary(Op::And, x, y) => {
                if let Some(m) = self.as_const(y).filter(|m| m & k != 0) {
                    let keep = self.constant(m & !k, width);
                    let kept = self.and(x, keep);
                    return self.or(kept, b);
                }
            }
            View::Binary(Op::Concat, high, low) => return self.by_halves(Op::Or, high, low, k),
            View::Ite(..) => {
                if let Some(pushed) = self.push_into_ite(a, 1, &mut |terms, x| terms.or(x, b)) {
                    return pushed;
                }
            }
            _ => {}
        }
        self.binary(Op::Or, width, a, b)
    }

    pub fn xor(&mut self, a: Term, b: Term) -> Term {
        debug_assert_eq!(self.width(a), self.width(b));
        let width = self.width(a);
        if width == 1 {
            let same = self.eq(a, b);
            return self.not(same);
        }
        if let Some(folded) = self.fold(Op::Xor, width, a, b) {
            return folded;
        }
        if a == b {
            return self.constant(0, width);
        }
        if self.complementary(a, b) {
            return self.constant(u128::MAX, width);
        }
        let (a, b) = self.constant_last(a, b);
        match (self.as_const(b), self.view(a)) {
            (Some(0), _) => a,
            (Some(k), _) if k == mask(width) => self.not(a),
            (Some(k), View::Binary(Op::Xor, x, y)) if self.as_const(y).is_some() => {
                let inner = self.as_const(y).unwrap_or(0);
                let both = self.constant(k ^ inner, width);
                self.xor(x, both)
            }
            _ => self.commutative(Op::Xor, width, a, b),
        }
    }

    /// Bits `lo .. lo + width` of `t`.
    pub fn extract(&mut self, t: Term, lo: u16, width: u16) -> Term {
        let whole = self.width(t);
        debug_assert!(lo + width <= whole, "extract {lo}+{width} of {whole}");
        if lo == 0 && width == whole {
            return t;
        }
        match self.view(t) {
            View::Const(value) => return self.constant(value >> lo, width),
            View::Unary(Op::Extract { lo: inner }, x) => return self.extract(x, inner + lo, width),
            View::Unary(op @ (Op::Zext | Op::Sext), x) => {
                let narrow = self.width(x);
                if lo + width <= narrow {
                    return self.extract(x, lo, width);
                }
                if lo < narrow {
                    let part = self.extract(x, lo, narrow - lo);
                    return self.op(op, width, &[part]);
                }
                if op == Op::Zext {
                    return self.constant(0, width);
                }
                let sign = self.extract(x, narrow - 1, 1);
                return self.sext(sign, width);
            }
            View::Binary(Op::Concat, high, low) => {
                let split = self.width(low);
                if lo >= split {
                    return self.extract(high, lo - split, width);
                }
                if lo + width <= split {
                    return self.extract(low, lo, width);
                }
                let upper = self.extract(high, 0, lo + width - split);
                let lower = self.extract(low, lo, split - lo);
                return self.concat(upper, lower);
            }
            View::Unary(Op::Not, x) => {
                let part = self.extract(x, lo, width);
                return self.not(part);
            }
            View::Binary(op @ (Op::And | Op::Or | Op::Xor), x, y) if self.as_const(y).is_some() => {
                let x = self.extract(x, lo, width);
                let y = self.extract(y, lo, width);
                return self.op(op, width, &[x, y]);
            }
            View::Ite(..) => {
                let part = &mut |terms: &mut Terms, x| terms.extract(x, lo, width);
                if let Some(pushed) = self.push_into_ite(t, 1, part) {
                    return pushed;
                }
            }
            View::Linear if lo == 0 => {
                if let Some(sum) = self.truncate_sum(t, width) {
                    return sum;
                }
            }
            _ => {}
        }
        self.unary(Op::Extract { lo }, width, t)
    }

    /// The low bits of a sum are the sum of the low bits; worth it where every summand was widened.
    fn truncate_sum(&mut self, t: Term, width: u16) -> Option<Term> {
        let super::Node::Linear { constant, terms } = self.node(t) else {
            return None;
        };
        let widened = |&(_, x): &(u128, Term)| matches!(self.view(x), View::Unary(Op::Zext | Op::Sext, y) if self.width(y) <= width);
        if !terms.iter().all(widened) {
            return None;
        }
        let (constant, mut terms) = (*constant, terms.clone());
        for (_, x) in &mut terms {
            *x = self.extract(*x, 0, width);
        }
        Some(self.linear(width, constant, &terms))
    }

    /// `hi` above `lo`.
    pub fn concat(&mut self, hi: Term, lo: Term) -> Term {
        let width = self.width(hi) + self.width(lo);
        if let Some(joined) = self.adjoin(hi, lo) {
            return joined;
        }
        match (self.view(hi), self.view(lo)) {
            (View::Const(0), _) => return self.zext(lo, width),
            (View::Unary(Op::Zext, x), _) => {
                let low = self.concat(x, lo);
                return self.zext(low, width);
            }
            // Nested to the right, so that neighbours meet.
            (View::Binary(Op::Concat, x, y), _) => {
                let low = self.concat(y, lo);
                return self.concat(x, low);
            }
            (_, View::Binary(Op::Concat, x, y)) => {
                if let Some(high) = self.adjoin(hi, x) {
                    return self.concat(high, y);
                }
            }
            _ => {}
        }
        self.binary(Op::Concat, width, hi, lo)
    }

    /// Joins two constants, or two neighbouring parts of one word.
    fn adjoin(&mut self, hi: Term, lo: Term) -> Option<Term> {
        let (wh, wl) = (self.width(hi), self.width(lo));
        match (self.view(hi), self.view(lo)) {
            (View::Const(_), View::Const(_)) => self.fold(Op::Concat, wh + wl, hi, lo),
            (View::Unary(Op::Extract { lo: at }, x), View::Unary(Op::Extract { lo: from }, y))
                if x == y && at == from + wl =>
            {
                Some(self.extract(x, from, wh + wl))
            }
            _ => None,
        }
    }

    /// Zero extension to `width`; a narrower `width` truncates.
    pub fn zext(&mut self, t: Term, width: u16) -> Term {
        let narrow = self.width(t);
        if width <= narrow {
            debug_assert_eq!(width, narrow, "zext narrows");
            return self.extract(t, 0, width);
        }
        match self.view(t) {
            View::Const(value) => self.constant(value, width),
            View::Unary(Op::Zext, x) => self.zext(x, width),
            View::Ite(..) => {
                let wide = &mut |terms: &mut Terms, x| terms.zext(x, width);
                match self.push_into_ite(t, 1, wide) {
                    Some(pushed) => pushed,
                    None => self.unary(Op::Zext, width, t),
                }
            }
            _ => self.unary(Op::Zext, width, t),
        }
    }

    /// Sign extension to `width`; a narrower `width` truncates.
    pub fn sext(&mut self, t: Term, width: u16) -> Term {
        let narrow = self.width(t);
        if width <= narrow {
            debug_assert_eq!(width, narrow, "sext narrows");
            return self.extract(t, 0, width);
        }
        match self.view(t) {
            View::Const(value) => self.constant(super::eval::signed(value, narrow) as u128, width),
            View::Unary(Op::Sext, x) => self.sext(x, width),
            View::Unary(Op::Zext, x) => self.zext(x, width),
            View::Ite(..) => {
                let wide = &mut |terms: &mut Terms, x| terms.sext(x, width);
                match self.push_into_ite(t, 1, wide) {
                    Some(pushed) => pushed,
                    None => self.unary(Op::Sext, width, t),
                }
            }
            _ => self.unary(Op::Sext, width, t),
        }
    }
}
