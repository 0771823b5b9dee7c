//! Models: values of the unknowns, and what terms and guards come to under them.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::formula::Formula;
use super::guard::{Cond, Guard};
use super::term::{Node, Op, Term, Var, eval, mask};

/// The values of the unknowns that a model does not mention.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Others {
    #[default]
    Zero,
    /// Every bit is set.
    Ones,
    /// Numbers that depend on the seed and the variable only; some small, some large.
    Random(u64),
}

/// Values for the unknowns, beyond their width to be cut off.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Model {
    values: FxHashMap<Var, u128>,
    others: Others,
}

impl Model {
    pub fn new(values: impl IntoIterator<Item = (Var, u128)>) -> Model {
        Model {
            values: values.into_iter().collect(),
            others: Others::Zero,
        }
    }

    /// A model that mentions no unknown.
    pub fn uniform(others: Others) -> Model {
        Model {
            values: FxHashMap::default(),
            others,
        }
    }

    /// This model with other values for some unknowns.
    pub fn with(&self, values: impl IntoIterator<Item = (Var, u128)>) -> Model {
        let mut changed = self.clone();
        changed.values.extend(values);
        changed
    }

    pub fn value(&self, var: Var) -> u128 {
        match (self.values.get(&var), self.others) {
            (Some(&value), _) => value,
            (None, Others::Zero) => 0,
            (None, Others::Ones) => u128::MAX,
            (None, Others::Random(seed)) => pseudo_random(seed, var),
        }
    }

    pub fn eval(&self, f: &Formula, t: Term) -> u128 {
        Evaluator::new(Rc::new(self.clone())).eval(f, t)
    }

    pub fn eval_guard(&self, f: &Formula, g: Guard) -> bool {
        Evaluator::new(Rc::new(self.clone())).eval_guard(f, g)
    }
}

/// SplitMix64 over seed and variable; a third each of tiny, small negative and arbitrary numbers,
/// since those are what programs compare with.
fn pseudo_random(seed: u64, var: Var) -> u128 {
    let mut state = seed ^ (u64::from(var.0) + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mut next = || {
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    };
    let (kind, low, high) = (next() % 3, next(), next());
    match kind {
        0 => u128::from(low % 4),
        1 => u128::from(low % 64 + 1).wrapping_neg(),
        _ => u128::from(high) << 64 | u128::from(low),
    }
}

/// Evaluates terms under one model and remembers what it found, so that asking about the next
/// term of the same formula costs only what is new. Must stay with one formula.
#[derive(Clone, Debug)]
pub struct Evaluator {
    model: Rc<Model>,
    known: FxHashMap<Term, u128>,
}

impl Evaluator {
    pub fn new(model: Rc<Model>) -> Evaluator {
        Evaluator {
            model,
            known: FxHashMap::default(),
        }
    }

    pub fn model(&self) -> &Rc<Model> {
        &self.model
    }

    pub fn condition(&mut self, f: &Formula, cond: Cond) -> bool {
        self.eval(f, f.cond_term(cond)) == 1
    }

    pub fn eval_guard(&mut self, f: &Formula, g: Guard) -> bool {
        f.guards.eval(g, &mut |cond| self.condition(f, cond))
    }

    pub fn eval(&mut self, f: &Formula, t: Term) -> u128 {
        if let Some(value) = self.peek(f, t) {
            return value;
        }
        let mut stack = vec![t];
        let mut value = 0;
        while let Some(&x) = stack.last() {
            match self.step(f, x) {
                Ok(result) => {
                    self.known.insert(x, result);
                    value = result;
                    stack.pop();
                }
                Err(missing) => stack.push(missing),
            }
        }
        value
    }

    /// The value if it takes no computing.
    fn peek(&self, f: &Formula, t: Term) -> Option<u128> {
        match f.terms.node(t) {
            Node::Const(value) => Some(*value),
            Node::Var(var) => Some(self.model.value(*var) & mask(f.terms.width(t))),
            _ => self.known.get(&t).copied(),
        }
    }

    fn need(&self, f: &Formula, t: Term) -> Result<u128, Term> {
        self.peek(f, t).ok_or(t)
    }

    /// The value from those of the operands, or an operand that is needed first.
    fn step(&self, f: &Formula, t: Term) -> Result<u128, Term> {
        let terms = &f.terms;
        let width = terms.width(t);
        match terms.node(t) {
            Node::Const(_) | Node::Var(_) => self.need(f, t),
            Node::Guard(g) => {
                let value = f.guards.try_eval(*g, &mut |cond| {
                    self.need(f, f.cond_term(cond)).map(|value| value == 1)
                })?;
                Ok(u128::from(value))
            }
            Node::Linear { constant, terms } => {
                let mut sum = *constant;
                for &(coefficient, x) in terms {
                    sum = sum.wrapping_add(coefficient.wrapping_mul(self.need(f, x)?));
                }
                Ok(sum & mask(width))
            }
            Node::Op { op, args } => match (op, &args[..]) {
                (Op::Ite, &[c, a, b]) => self.need(f, if self.need(f, c)? == 1 { a } else { b }),
                (Op::And, &[a, b]) => match self.need(f, a)? {
                    0 => Ok(0),
                    x => Ok(x & self.need(f, b)?),
                },
                (_, &[a]) => Ok(eval::apply(
                    *op,
                    width,
                    &[(self.need(f, a)?, terms.width(a))],
                )),
                (_, &[a, b]) => {
                    let operands = [
                        (self.need(f, a)?, terms.width(a)),
                        (self.need(f, b)?, terms.width(b)),
                    ];
                    Ok(eval::apply(*op, width, &operands))
                }
                _ => Ok(0),
            },
        }
    }
}
