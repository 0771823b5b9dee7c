//! Choices between two values by a condition (if-then-else).

use smallvec::SmallVec;

use super::{Node, Op, Term, Terms, View, mask};

/// How many nested choices an operator is pushed through.
const MAX_CHOICES: usize = 24;

impl Terms {
    /// `c ? a : b`.
    pub fn ite(&mut self, c: Term, a: Term, b: Term) -> Term {
        debug_assert_eq!(self.width(c), 1);
        debug_assert_eq!(self.width(a), self.width(b));
        let width = self.width(a);
        if a == b || c == Term::TRUE {
            return a;
        }
        if c == Term::FALSE {
            return b;
        }
        match self.view(c) {
            View::Unary(Op::Not, x) => return self.ite(x, b, a),
            View::Binary(Op::Eq, x, y) => {
                // (x == y ? y : x) = x
                if (a == y && b == x) || (a == x && b == y) {
                    return b;
                }
                if a == x && self.as_const(y).is_some() {
                    return self.ite(c, y, b);
                }
            }
            _ => {}
        }
        // The same condition again decides an inner choice.
        if let View::Ite(d, x, _) = self.view(a)
            && d == c
        {
            return self.ite(c, x, b);
        }
        if let View::Ite(d, _, y) = self.view(b)
            && d == c
        {
            return self.ite(c, a, y);
        }
        if width == 1 {
            return self.ite_bool(c, a, b);
        }
        let all = mask(width);
        match (self.as_const(a), self.as_const(b)) {
            (Some(1), Some(0)) => return self.zext(c, width),
            (Some(x), Some(0)) if x == all => return self.sext(c, width),
            (Some(0), Some(1)) => {
                let c = self.not(c);
                return self.zext(c, width);
            }
            (Some(0), Some(y)) if y == all => {
                let c = self.not(c);
                return self.sext(c, width);
            }
            _ => {}
        }
        // Arms that recur join their conditions.
        if let View::Ite(d, x, y) = self.view(b) {
            if x == a {
                let either = self.or(c, d);
                return self.ite(either, a, y);
            }
            if y == a {
                let not_d = self.not(d);
                let either = self.or(c, not_d);
                return self.ite(either, a, x);
            }
        }
        if let View::Ite(d, x, y) = self.view(a) {
            if y == b {
                let both = self.and(c, d);
                return self.ite(both, x, b);
            }
            if x == b {
                let not_d = self.not(d);
                let both = self.and(c, not_d);
                return self.ite(both, y, b);
            }
        }
        let args = SmallVec::from_slice(&[c, a, b]);
        self.intern(Node::Op { op: Op::Ite, args }, width)
    }

    fn ite_bool(&mut self, c: Term, a: Term, b: Term) -> Term {
        if a == Term::TRUE || a == c {
            return self.or(c, b);
        }
        if b == Term::FALSE || b == c {
            return self.and(c, a);
        }
        if a == Term::FALSE {
            let not_c = self.not(c);
            return self.and(not_c, b);
        }
        if b == Term::TRUE {
            let not_c = self.not(c);
            return self.or(not_c, a);
        }
        if self.complementary(a, b) {
            return self.eq(c, a);
        }
        let args = SmallVec::from_slice(&[c, a, b]);
        self.intern(Node::Op { op: Op::Ite, args }, 1)
    }

    /// `f` of a tree of choices as the same choices between `f` of its values, if at least one value
    /// is constant and at most `max_open` are not: those are where `f` folds.
    pub(super) fn push_into_ite(
        &mut self,
        t: Term,
        max_open: usize,
        f: &mut dyn FnMut(&mut Terms, Term) -> Term,
    ) -> Option<Term> {
        // Choices breadth first, so that what exceeds the limit is the deepest part.
        let mut choices: SmallVec<[(Term, Term, Term, Term); 8]> = SmallVec::new();
        let mut values: SmallVec<[Term; 8]> = SmallVec::new();
        let mut queue: SmallVec<[Term; 16]> = SmallVec::from_slice(&[t]);
        let (mut next, mut open) = (0, 0);
        while let Some(&x) = queue.get(next) {
            next += 1;
            match self.view(x) {
                View::Ite(c, a, b) if choices.len() < MAX_CHOICES => {
                    choices.push((x, c, a, b));
                    for arm in [a, b] {
                        if !queue.contains(&arm) {
                            queue.push(arm);
                        }
                    }
                }
                view => {
                    if !matches!(view, View::Const(_)) {
                        open += 1;
                        if open > max_open {
                            return None;
                        }
                    }
                    values.push(x);
                }
            }
        }
        if open == values.len() {
            return None;
        }
        let mut done: SmallVec<[(Term, Term); 16]> = SmallVec::new();
        for x in values {
            done.push((x, f(self, x)));
        }
        // Operands precede their users.
        choices.sort_unstable();
        for (x, c, a, b) in choices {
            let of = |arm| done.iter().find(|&&(from, _)| from == arm).map(|d| d.1);
            let (a, b) = (of(a)?, of(b)?);
            let chosen = self.ite(c, a, b);
            done.push((x, chosen));
        }
        done.last().map(|&(_, result)| result)
    }
}
