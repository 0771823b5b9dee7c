//! Gates as clauses: literals, Tseitin's encoding with constant folding and sharing, words of bits.
//!
//! In: gates over literals. Out: literals that equal the gates' outputs in every model of the
//! clauses collected here. Knows nothing of terms or solvers.

use std::ops::Not;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// A propositional literal. Variable 0 is reserved for the constants.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Lit(u32);

impl Lit {
    pub const TRUE: Lit = Lit(0);
    pub const FALSE: Lit = Lit(1);

    pub fn var(self) -> usize {
        (self.0 >> 1) as usize
    }

    pub fn negated(self) -> bool {
        self.0 & 1 == 1
    }

    /// A number of its own, the negation's next to it.
    pub fn index(self) -> usize {
        self.0 as usize
    }

    pub fn constant(value: bool) -> Lit {
        if value { Lit::TRUE } else { Lit::FALSE }
    }

    pub fn as_constant(self) -> Option<bool> {
        match self {
            Lit::TRUE => Some(true),
            Lit::FALSE => Some(false),
            _ => None,
        }
    }

    fn flip_if(self, flip: bool) -> Lit {
        Lit(self.0 ^ u32::from(flip))
    }
}

impl Not for Lit {
    type Output = Lit;
    fn not(self) -> Lit {
        Lit(self.0 ^ 1)
    }
}

/// Bits, least significant first.
pub type Word = SmallVec<[Lit; 64]>;

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Gate {
    And,
    Xor,
    Mux,
    Sum,
    Majority,
}

/// Clauses, and the gates that they define.
pub struct Cnf {
    vars: u32,
    literals: Vec<Lit>,
    /// Where in `literals` each clause ends.
    ends: Vec<u32>,
    /// For each clause the variable of the gate that it defines; 0 if it is required.
    defined: Vec<u32>,
    /// The gate that is being defined.
    defining: u32,
    gates: FxHashMap<(Gate, Lit, Lit, Lit), Lit>,
}

impl Default for Cnf {
    fn default() -> Cnf {
        Cnf::new()
    }
}

impl Cnf {
    pub fn new() -> Cnf {
        Cnf {
            vars: 1,
            literals: Vec::new(),
            ends: Vec::new(),
            defined: Vec::new(),
            defining: 0,
            gates: FxHashMap::default(),
        }
    }

    /// Number of clauses.
    pub fn clauses(&self) -> usize {
        self.ends.len()
    }

    /// Shows all clauses, in the order in which they were made, with the variable of the gate that each defines, if it does. A gate's
    /// clauses stand together.
    pub fn each(&self, mut show: impl FnMut(Option<usize>, &[Lit])) {
        let mut start = 0;
        for (&end, &defined) in self.ends.iter().zip(&self.defined) {
            let gate = (defined != 0).then_some(defined as usize);
            show(gate, &self.literals[start..end as usize]);
            start = end as usize;
        }
    }

    pub fn fresh(&mut self) -> Lit {
        let lit = Lit(self.vars << 1);
        self.vars += 1;
        lit
    }

    pub fn fresh_word(&mut self, width: usize) -> Word {
        (0..width).map(|_| self.fresh()).collect()
    }

    /// Requires one of the literals.
    pub fn clause(&mut self, literals: &[Lit]) {
        if literals.contains(&Lit::TRUE) {
            return;
        }
        let present = literals.iter().filter(|&&l| l != Lit::FALSE);
        self.literals.extend(present);
        self.ends.push(self.literals.len() as u32);
        self.defined.push(self.defining);
    }

    /// A new gate's output; `define` adds the clauses that say what it is.
    fn output(&mut self, define: impl FnOnce(&mut Cnf, Lit)) -> Lit {
        let out = self.fresh();
        self.defining = out.var() as u32;
        define(self, out);
        self.defining = 0;
        out
    }

    fn gate(&mut self, key: (Gate, Lit, Lit, Lit), define: impl FnOnce(&mut Cnf, Lit)) -> Lit {
        if let Some(&out) = self.gates.get(&key) {
            return out;
        }
        let out = self.output(define);
        self.gates.insert(key, out);
        out
    }

    pub fn and(&mut self, a: Lit, b: Lit) -> Lit {
        if a == Lit::FALSE || b == Lit::FALSE || a == !b {
            return Lit::FALSE;
        }
        if a == Lit::TRUE || a == b {
            return b;
        }
        if b == Lit::TRUE {
            return a;
        }
        let (a, b) = (a.min(b), a.max(b));
        self.gate((Gate::And, a, b, Lit::TRUE), |cnf, out| {
            cnf.clause(&[!out, a]);
            cnf.clause(&[!out, b]);
            cnf.clause(&[out, !a, !b]);
        })
    }

    pub fn or(&mut self, a: Lit, b: Lit) -> Lit {
        !self.and(!a, !b)
    }

    /// Conjunction of any number, in one gate.
    pub fn all(&mut self, literals: &[Lit]) -> Lit {
        let mut inputs: SmallVec<[Lit; 64]> = SmallVec::from_slice(literals);
        inputs.sort_unstable();
        inputs.dedup();
        inputs.retain(|l| *l != Lit::TRUE);
        // A literal and its complement are neighbours.
        if inputs.contains(&Lit::FALSE) || inputs.windows(2).any(|w| w[0] == !w[1]) {
            return Lit::FALSE;
        }
        match inputs[..] {
            [] => return Lit::TRUE,
            [a] => return a,
            [a, b] => return self.and(a, b),
            _ => {}
        }
        self.output(|cnf, out| {
            for &input in &inputs {
                cnf.clause(&[!out, input]);
            }
            for input in &mut inputs {
                *input = !*input;
            }
            inputs.push(out);
            cnf.clause(&inputs);
        })
    }

    pub fn any(&mut self, literals: &[Lit]) -> Lit {
        let inverted: Word = literals.iter().map(|&l| !l).collect();
        !self.all(&inverted)
    }

    pub fn xor(&mut self, a: Lit, b: Lit) -> Lit {
        if let Some(value) = a.as_constant() {
            return b.flip_if(value);
        }
        if let Some(value) = b.as_constant() {
            return a.flip_if(value);
        }
        let flip = a.negated() != b.negated();
        let (a, b) = (a.flip_if(a.negated()), b.flip_if(b.negated()));
        if a == b {
            return Lit::constant(flip);
        }
        let (a, b) = (a.min(b), a.max(b));
        let out = self.gate((Gate::Xor, a, b, Lit::TRUE), |cnf, out| {
            cnf.clause(&[!out, a, b]);
            cnf.clause(&[!out, !a, !b]);
            cnf.clause(&[out, !a, b]);
            cnf.clause(&[out, a, !b]);
        });
        out.flip_if(flip)
    }

    /// `c ? a : b`.
    pub fn mux(&mut self, c: Lit, a: Lit, b: Lit) -> Lit {
        if a == b || c == Lit::TRUE {
            return a;
        }
        if c == Lit::FALSE {
            return b;
        }
        if a == Lit::TRUE || a == c {
            return self.or(c, b);
        }
        if a == Lit::FALSE || a == !c {
            return self.and(!c, b);
        }
        if b == Lit::FALSE || b == c {
            return self.and(c, a);
        }
        if b == Lit::TRUE || b == !c {
            return self.or(!c, a);
        }
        if a == !b {
            return self.xor(c, b);
        }
        let (c, a, b) = if c.negated() { (!c, b, a) } else { (c, a, b) };
        let flip = a.negated();
        let (a, b) = (a.flip_if(flip), b.flip_if(flip));
        let out = self.gate((Gate::Mux, c, a, b), |cnf, out| {
            cnf.clause(&[!c, !a, out]);
            cnf.clause(&[!c, a, !out]);
            cnf.clause(&[c, !b, out]);
            cnf.clause(&[c, b, !out]);
            // Implied; they let equal arms propagate before the choice is known.
            cnf.clause(&[!a, !b, out]);
            cnf.clause(&[a, b, !out]);
        });
        out.flip_if(flip)
    }

    /// Exclusive or of three.
    fn sum(&mut self, a: Lit, b: Lit, c: Lit) -> Lit {
        let mut inputs = [a, b, c];
        let mut flip = false;
        for input in &mut inputs {
            flip ^= input.negated();
            *input = input.flip_if(input.negated());
        }
        inputs.sort_unstable();
        let [a, b, c] = inputs;
        // The constant sorts first, equal inputs are neighbours.
        let out = if a == Lit::TRUE {
            !self.xor(b, c)
        } else if a == b {
            c
        } else if b == c {
            a
        } else {
            self.gate((Gate::Sum, a, b, c), |cnf, out| {
                for i in 0..8u32 {
                    let bit = |n: u32| (i >> n) & 1 == 1;
                    let odd = i.count_ones() % 2 == 1;
                    cnf.clause(&[
                        a.flip_if(bit(0)),
                        b.flip_if(bit(1)),
                        c.flip_if(bit(2)),
                        out.flip_if(!odd),
                    ]);
                }
            })
        };
        out.flip_if(flip)
    }

    /// At least two of three.
    fn majority(&mut self, a: Lit, b: Lit, c: Lit) -> Lit {
        let mut inputs = [a, b, c];
        inputs.sort_unstable();
        let [a, b, c] = inputs;
        if a == Lit::TRUE {
            // Also (TRUE, FALSE, c): the disjunction is c.
            return self.or(b, c);
        }
        if a == Lit::FALSE {
            return self.and(b, c);
        }
        if a == b || b == !c {
            return a;
        }
        if b == c || a == !b {
            return if b == c { b } else { c };
        }
        self.gate((Gate::Majority, a, b, c), |cnf, out| {
            for (x, y) in [(a, b), (a, c), (b, c)] {
                cnf.clause(&[!x, !y, out]);
                cnf.clause(&[x, y, !out]);
            }
        })
    }

    /// `width` may exceed that of `value`: a double-width product starts as 0.
    pub fn constant_word(&self, value: u128, width: usize) -> Word {
        (0..width as u32)
            .map(|i| Lit::constant(value.checked_shr(i).unwrap_or(0) & 1 == 1))
            .collect()
    }

    /// `a + b + carry` and the carry out.
    pub fn add(&mut self, a: &[Lit], b: &[Lit], carry: Lit) -> (Word, Lit) {
        let mut carry = carry;
        let sum = a
            .iter()
            .zip(b)
            .map(|(&x, &y)| {
                let out = self.sum(x, y, carry);
                carry = self.majority(x, y, carry);
                out
            })
            .collect();
        (sum, carry)
    }

    /// `negative ? -a : a`.
    pub fn negate_if(&mut self, negative: Lit, a: &[Lit]) -> Word {
        let flipped: Word = a.iter().map(|&x| self.xor(x, negative)).collect();
        let zero = self.constant_word(0, a.len());
        self.add(&flipped, &zero, negative).0
    }

    /// The low `width` bits of `a · b`.
    pub fn multiply(&mut self, a: &[Lit], b: &[Lit], width: usize) -> Word {
        // Rows are saved by the factor with more bits known to be 0.
        let zeros = |word: &[Lit]| word.iter().filter(|&&l| l == Lit::FALSE).count();
        let (a, b) = if zeros(a) > zeros(b) { (b, a) } else { (a, b) };
        let mut product = self.constant_word(0, width);
        for (i, &bit) in b.iter().enumerate().take(width) {
            if bit == Lit::FALSE {
                continue;
            }
            let row: Word = (0..width - i)
                .map(|j| match a.get(j) {
                    Some(&x) => self.and(x, bit),
                    None => Lit::FALSE,
                })
                .collect();
            let (upper, _) = self.add(&product[i..], &row, Lit::FALSE);
            product.truncate(i);
            product.extend(upper);
        }
        product
    }

    /// Unsigned quotient and remainder, with the values of SMT-LIB for division by 0.
    pub fn divide(&mut self, a: &[Lit], b: &[Lit]) -> (Word, Word) {
        let width = a.len();
        let (quotient, rest) = (self.fresh_word(width), self.fresh_word(width));
        let defined = self.any(b);
        // Where b ≠ 0: quotient·b + rest = a without overflow, and rest < b.
        let product = self.multiply(&quotient, b, 2 * width);
        let (sum, carry) = self.add(&product[..width], &rest, Lit::FALSE);
        let mut facts: SmallVec<[Lit; 64]> = product[width..].iter().map(|&l| !l).collect();
        facts.push(!carry);
        facts.push(self.less(&rest, b));
        for (&x, &y) in sum.iter().zip(a) {
            facts.push(!self.xor(x, y));
        }
        for fact in facts {
            self.clause(&[!defined, fact]);
        }
        for i in 0..width {
            self.clause(&[defined, quotient[i]]);
            self.clause(&[defined, !rest[i], a[i]]);
            self.clause(&[defined, rest[i], !a[i]]);
        }
        (quotient, rest)
    }

    /// `a < b`, unsigned.
    pub fn less(&mut self, a: &[Lit], b: &[Lit]) -> Lit {
        let mut less = Lit::FALSE;
        for (&x, &y) in a.iter().zip(b) {
            less = self.majority(!x, y, less);
        }
        less
    }

    pub fn equal(&mut self, a: &[Lit], b: &[Lit]) -> Lit {
        let same: Word = a.iter().zip(b).map(|(&x, &y)| !self.xor(x, y)).collect();
        self.all(&same)
    }

    pub fn choose(&mut self, c: Lit, a: &[Lit], b: &[Lit]) -> Word {
        a.iter().zip(b).map(|(&x, &y)| self.mux(c, x, y)).collect()
    }

    /// `a` moved by a variable amount towards the most (`up`) or least significant bit, `fill` moving
    /// in.
    pub fn shift(&mut self, a: &[Lit], amount: &[Lit], up: bool, fill: Lit) -> Word {
        let width = a.len();
        let mut word = Word::from_slice(a);
        for (k, &bit) in amount.iter().enumerate() {
            let by = if k < 16 { 1usize << k } else { width };
            if by >= width {
                let beyond = self.any(&amount[k..]);
                let filled: Word = (0..width).map(|_| fill).collect();
                return self.choose(beyond, &filled, &word);
            }
            let moved: Word = (0..width)
                .map(|i| {
                    let from = if up { i.checked_sub(by) } else { Some(i + by) };
                    from.and_then(|i| word.get(i)).copied().unwrap_or(fill)
                })
                .collect();
            word = self.choose(bit, &moved, &word);
        }
        word
    }
}
