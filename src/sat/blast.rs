//! Bit-blasting: the cone of a term or guard as gates (paper §2.3: "Boolean constraint encoding").
//!
//! In: terms and guards of one formula. Out: literals for their bits. Each is translated once for
//! as long as the blaster lives; nothing outside the cones asked for is ever looked at.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::cnf::{Cnf, Lit, Word};
use crate::symbolic::formula::Formula;
use crate::symbolic::guard::Guard;
use crate::symbolic::term::{Node, Op, Term, Var};

/// Translates terms of one formula.
pub struct Blaster {
    pub cnf: Cnf,
    /// Clauses at which further operators are left unconstrained.
    limit: usize,
    /// Clauses for which a single operator is.
    expensive: usize,
    loose: Vec<Term>,
    full: bool,
    /// Where a term's bits begin in `bits`.
    words: FxHashMap<Term, u32>,
    bits: Vec<Lit>,
    guards: FxHashMap<Guard, Lit>,
    divisions: FxHashMap<(bool, Term, Term), (Word, Word)>,
    vars: FxHashMap<Var, Term>,
    /// Variables that were given the bits of another term, in that order.
    substituted: Vec<(Var, Term)>,
}

impl Blaster {
    pub fn new(limit: usize, expensive: usize) -> Blaster {
        Blaster {
            cnf: Cnf::new(),
            limit,
            expensive,
            loose: Vec::new(),
            full: false,
            words: FxHashMap::default(),
            bits: Vec::new(),
            guards: FxHashMap::default(),
            divisions: FxHashMap::default(),
            vars: FxHashMap::default(),
            substituted: Vec::new(),
        }
    }

    /// The terms that were left unconstrained, operands first: a model must then be checked, while
    /// "no model" still holds.
    pub fn loose(&self) -> &[Term] {
        &self.loose
    }

    /// Variables that have the bits of another term: that one's value is theirs. A term has only variables before its own.
    pub fn substituted(&self) -> &[(Var, Term)] {
        &self.substituted
    }

    /// Whether the limit left operators unconstrained.
    pub fn is_full(&self) -> bool {
        self.full
    }

    /// Requires a term of width 1 to have a value. What that fixes becomes constant in all that is
    /// translated later.
    pub fn require(&mut self, f: &Formula, t: Term, value: bool) {
        if !(value && self.substitute(f, t)) {
            self.fix(f, t, value);
        }
    }

    fn fix(&mut self, f: &Formula, t: Term, value: bool) {
        let lit = self.lit(f, t);
        self.cnf.clause(&[if value { lit } else { !lit }]);
        if let Some(bit) = self
            .words
            .get(&t)
            .and_then(|&i| self.bits.get_mut(i as usize))
        {
            *bit = Lit::constant(value);
        }
    }

    /// Requires `x == y` by giving a variable that is not translated yet the bits of the other side.
    fn substitute(&mut self, f: &Formula, t: Term) -> bool {
        let Node::Op { op: Op::Eq, args } = f.terms.node(t) else {
            return false;
        };
        let &[a, b] = &args[..] else { return false };
        for (x, y) in [(a, b), (b, a)] {
            let &Node::Var(var) = f.terms.node(x) else {
                continue;
            };
            self.translate(f, y);
            // It may occur on the other side.
            if self.words.contains_key(&x) {
                continue;
            }
            let word = self.word(f, y);
            self.vars.insert(var, x);
            self.substituted.push((var, y));
            self.define(x, &word);
            self.define(t, &[Lit::TRUE]);
            return true;
        }
        false
    }

    fn define(&mut self, t: Term, word: &[Lit]) {
        self.words.insert(t, self.bits.len() as u32);
        self.bits.extend_from_slice(word);
    }

    /// The literal of a term of width 1.
    fn lit(&mut self, f: &Formula, t: Term) -> Lit {
        self.translate(f, t);
        self.bit(f, t)
    }

    /// The literals of a term's bits.
    #[cfg(test)]
    pub fn word_of(&mut self, f: &Formula, t: Term) -> Word {
        self.translate(f, t);
        self.word(f, t)
    }

    /// The literals of a variable's bits, if it was met.
    pub fn var_bits(&self, f: &Formula, var: Var) -> Option<&[Lit]> {
        let t = *self.vars.get(&var)?;
        let start = *self.words.get(&t)? as usize;
        self.bits.get(start..start + usize::from(f.terms.width(t)))
    }

    fn translate(&mut self, f: &Formula, t: Term) {
        if self.words.contains_key(&t) {
            return;
        }
        let mut stack = vec![t];
        while let Some(&x) = stack.last() {
            if self.words.contains_key(&x) {
                stack.pop();
                continue;
            }
            let before = stack.len();
            let missing = |x: &Term| !self.words.contains_key(x);
            match f.terms.node(x) {
                Node::Const(_) | Node::Var(_) => {}
                Node::Op { args, .. } => stack.extend(args.iter().copied().filter(missing)),
                Node::Linear { terms, .. } => {
                    stack.extend(terms.iter().map(|&(_, x)| x).filter(missing));
                }
                Node::Guard(g) => {
                    let conds = f.guards.support(*g).iter();
                    stack.extend(conds.map(|&c| f.cond_term(c)).filter(missing));
                }
            }
            if stack.len() == before {
                let word = self.build(f, x);
                debug_assert_eq!(word.len(), usize::from(f.terms.width(x)));
                self.define(x, &word);
                stack.pop();
            }
        }
    }

    /// The bits of a term that was translated.
    pub fn word(&self, f: &Formula, t: Term) -> Word {
        let width = usize::from(f.terms.width(t));
        let start = self.words.get(&t).map_or(0, |&start| start as usize);
        Word::from_slice(self.bits.get(start..start + width).unwrap_or(&[]))
    }

    fn bit(&self, f: &Formula, t: Term) -> Lit {
        self.word(f, t).first().copied().unwrap_or(Lit::TRUE)
    }

    /// A guard whose conditions are translated: one multiplexer for each decision.
    fn guard_gates(&mut self, f: &Formula, g: Guard) -> Lit {
        if let Some(&lit) = self.guards.get(&g) {
            return lit;
        }
        let mut gates: SmallVec<[Lit; 64]> = SmallVec::from_slice(&[Lit::FALSE, Lit::TRUE]);
        for decision in f.guards.decisions(g) {
            let cond = self.bit(f, f.cond_term(decision.cond));
            let (low, high) = (gates[decision.low], gates[decision.high]);
            let gate = self.cnf.mux(cond, high, low);
            gates.push(gate);
        }
        let lit = match g {
            Guard::FALSE => Lit::FALSE,
            _ => gates.last().copied().unwrap_or(Lit::TRUE),
        };
        self.guards.insert(g, lit);
        lit
    }

    /// The bits of a term whose operands are translated.
    fn build(&mut self, f: &Formula, t: Term) -> Word {
        let width = usize::from(f.terms.width(t));
        let cost = cost(f, t);
        let full = self.cnf.clauses().saturating_add(cost) > self.limit;
        if cost > self.expensive || full {
            self.full |= full;
            self.loose.push(t);
            return self.unconstrained(f, t);
        }
        match f.terms.node(t) {
            Node::Const(value) => self.cnf.constant_word(*value, width),
            Node::Var(var) => {
                self.vars.insert(*var, t);
                self.cnf.fresh_word(width)
            }
            Node::Guard(g) => SmallVec::from_slice(&[self.guard_gates(f, *g)]),
            Node::Linear { constant, terms } => {
                let mut sum = self.cnf.constant_word(*constant, width);
                for &(coefficient, x) in terms {
                    let word = self.word(f, x);
                    sum = self.add_multiple(sum, &word, coefficient);
                }
                sum
            }
            Node::Op { op, args } => match args[..] {
                [a] => self.unary(f, *op, a, width),
                [a, b] => self.binary(f, *op, a, b, width),
                [c, a, b] => {
                    let (c, a, b) = (self.bit(f, c), self.word(f, a), self.word(f, b));
                    self.cnf.choose(c, &a, &b)
                }
                _ => self.cnf.fresh_word(width),
            },
        }
    }

    /// Any value, but for facts about products and divisions that are cheap to state.
    fn unconstrained(&mut self, f: &Formula, t: Term) -> Word {
        let result = self.cnf.fresh_word(usize::from(f.terms.width(t)));
        let Node::Op { op, args } = f.terms.node(t) else {
            return result;
        };
        let &[a, b] = &args[..] else { return result };
        let (a, b) = (self.word(f, a), self.word(f, b));
        let cnf = &mut self.cnf;
        let (some_a, some_b) = (cnf.any(&a), cnf.any(&b));
        match op {
            Op::Mul => {
                let some = cnf.any(&result);
                cnf.clause(&[!some, some_a]);
                cnf.clause(&[!some, some_b]);
            }
            Op::Udiv | Op::Urem => {
                let above = cnf.less(&a, &result);
                cnf.clause(&[!some_b, !above]);
                let fits = cnf.less(&a, &b);
                if *op == Op::Urem {
                    let below = cnf.less(&result, &b);
                    cnf.clause(&[!some_b, below]);
                    let same = cnf.equal(&result, &a);
                    cnf.clause(&[!fits, same]);
                } else {
                    let some = cnf.any(&result);
                    cnf.clause(&[!fits, !some]);
                    cnf.clause(&[fits, some]);
                }
            }
            _ => {}
        }
        result
    }

    /// `sum + coefficient·word`, one addition or subtraction for each digit of the coefficient's
    /// non-adjacent form, which has the fewest digits that are not 0.
    fn add_multiple(&mut self, mut sum: Word, word: &[Lit], coefficient: u128) -> Word {
        let width = word.len();
        let mut rest = coefficient;
        for shift in 0..width {
            if rest & 1 == 1 {
                let negative = rest & 3 == 3;
                let addend: Word = word[..width - shift]
                    .iter()
                    .map(|&l| if negative { !l } else { l })
                    .collect();
                // -x = !x + 1
                let carry = Lit::constant(negative);
                let (upper, _) = self.cnf.add(&sum[shift..], &addend, carry);
                sum.truncate(shift);
                sum.extend(upper);
                rest = if negative {
                    // Adding 1 carries out of the top at most once.
                    match rest.checked_add(1) {
                        Some(next) => next >> 1,
                        None => 1 << 127,
                    }
                } else {
                    rest >> 1
                };
            } else {
                rest >>= 1;
            }
        }
        sum
    }

    fn unary(&mut self, f: &Formula, op: Op, a: Term, width: usize) -> Word {
        let a = self.word(f, a);
        match op {
            Op::Not => a.iter().map(|&l| !l).collect(),
            Op::Extract { lo } => a
                .iter()
                .skip(usize::from(lo))
                .take(width)
                .copied()
                .collect(),
            _ => {
                let sign = a.last().copied().unwrap_or(Lit::FALSE);
                let fill = if op == Op::Sext { sign } else { Lit::FALSE };
                (0..width)
                    .map(|i| a.get(i).copied().unwrap_or(fill))
                    .collect()
            }
        }
    }

    fn binary(&mut self, f: &Formula, op: Op, s: Term, t: Term, width: usize) -> Word {
        let (a, b) = (self.word(f, s), self.word(f, t));
        let cnf = &mut self.cnf;
        let single = |lit: Lit| -> Word { SmallVec::from_slice(&[lit]) };
        let sign_fill = a.last().copied().unwrap_or(Lit::FALSE);
        match op {
            Op::And => a.iter().zip(&b).map(|(&x, &y)| cnf.and(x, y)).collect(),
            Op::Or => a.iter().zip(&b).map(|(&x, &y)| cnf.or(x, y)).collect(),
            Op::Xor => a.iter().zip(&b).map(|(&x, &y)| cnf.xor(x, y)).collect(),
            Op::Shl => cnf.shift(&a, &b, true, Lit::FALSE),
            Op::Lshr => cnf.shift(&a, &b, false, Lit::FALSE),
            Op::Ashr => cnf.shift(&a, &b, false, sign_fill),
            Op::Mul => cnf.multiply(&a, &b, width),
            Op::Udiv => self.division(false, (s, t), &a, &b).0,
            Op::Urem => self.division(false, (s, t), &a, &b).1,
            Op::Sdiv => self.division(true, (s, t), &a, &b).0,
            Op::Srem => self.division(true, (s, t), &a, &b).1,
            Op::Eq => single(cnf.equal(&a, &b)),
            Op::Ult => single(cnf.less(&a, &b)),
            Op::Ule => single(!cnf.less(&b, &a)),
            Op::Slt => single(signed_less(cnf, &a, &b)),
            Op::Sle => single(!signed_less(cnf, &b, &a)),
            Op::Concat => b.iter().chain(&a).copied().collect(),
            Op::Not | Op::Ite | Op::Extract { .. } | Op::Zext | Op::Sext => cnf.fresh_word(width),
        }
    }

    /// Quotient and remainder, which share their gates.
    fn division(
        &mut self,
        signed: bool,
        operands: (Term, Term),
        a: &[Lit],
        b: &[Lit],
    ) -> (Word, Word) {
        let key = (signed, operands.0, operands.1);
        if let Some(known) = self.divisions.get(&key) {
            return known.clone();
        }
        let cnf = &mut self.cnf;
        let result = if signed {
            let sign = |word: &[Lit]| word.last().copied().unwrap_or(Lit::FALSE);
            let (sign_a, sign_b) = (sign(a), sign(b));
            let (x, y) = (cnf.negate_if(sign_a, a), cnf.negate_if(sign_b, b));
            let (quotient, rest) = cnf.divide(&x, &y);
            let differ = cnf.xor(sign_a, sign_b);
            (
                cnf.negate_if(differ, &quotient),
                cnf.negate_if(sign_a, &rest),
            )
        } else {
            cnf.divide(a, b)
        };
        self.divisions.insert(key, result.clone());
        result
    }
}

fn signed_less(cnf: &mut Cnf, a: &[Lit], b: &[Lit]) -> Lit {
    // Flipping the signs turns signed into unsigned order.
    let flip = |word: &[Lit]| -> Word {
        let mut word = Word::from_slice(word);
        if let Some(sign) = word.last_mut() {
            *sign = !*sign;
        }
        word
    };
    cnf.less(&flip(a), &flip(b))
}

/// Roughly the clauses that an operator takes, for the limit.
fn cost(f: &Formula, t: Term) -> usize {
    let Node::Op { op, args } = f.terms.node(t) else {
        return 0;
    };
    let Some(&first) = args.first() else { return 0 };
    let width = usize::from(f.terms.width(first));
    // Bits that may be set: a factor that was widened, or a constant, makes few rows.
    let bits = |t: Term| match f.terms.as_const(t) {
        Some(value) => value.count_ones() as usize,
        None => 128 - f.terms.upper_bound(t).leading_zeros() as usize,
    };
    match (op, &args[..]) {
        (Op::Mul, &[a, b]) => 9 * bits(a) * bits(b),
        (Op::Udiv | Op::Urem | Op::Sdiv | Op::Srem, &[_, b]) => 18 * width * bits(b),
        _ => 6 * width,
    }
}
