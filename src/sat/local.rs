//! A model by small repairs, before anything is bit-blasted: propagation-based local search.
//!
//! In: a part of a query, a model that does not have it hold. Out: values of the part's unknowns under
//! which it does, or nothing, which says nothing. A literal that fails is repaired by handing the value that it
//! ought to have down to one of its unknowns, through operators that can be inverted. What programs branch
//! on is mostly repaired in a step or two.

use std::rc::Rc;

use super::slice::Part;
use crate::symbolic::formula::Formula;
use crate::symbolic::model::{Evaluator, Model};
use crate::symbolic::term::{Node, Op, Term, Var, mask};

/// Repairs of one part.
const REPAIRS: u32 = 24;
/// Operators between a literal and the unknown that is set.
const DEPTH: u32 = 24;

/// Values of the part's unknowns under which all its literals hold.
pub fn repair(f: &Formula, part: &Part, base: &Model) -> Option<Vec<(Var, u128)>> {
    let values = part.vars.iter().map(|&var| (var, base.value(var)));
    let mut model = Model::new(values);
    for turn in 0..REPAIRS {
        let mut evaluator = Evaluator::new(Rc::new(model));
        let failing = part
            .literals
            .iter()
            .find(|&&(cond, value)| evaluator.condition(f, cond) != value);
        let Some(&(cond, value)) = failing else {
            let model = evaluator.model();
            return Some(
                part.vars
                    .iter()
                    .map(|&var| (var, model.value(var)))
                    .collect(),
            );
        };
        let mut repair = Repair {
            f,
            evaluator: &mut evaluator,
            turn,
        };
        let (var, to) = repair.hand_down(f.cond_term(cond), u128::from(value), DEPTH)?;
        model = evaluator.model().with([(var, to)]);
    }
    None
}

struct Repair<'a> {
    f: &'a Formula,
    evaluator: &'a mut Evaluator,
    /// By turns another operand is changed, so that two literals do not undo each other forever.
    turn: u32,
}

impl Repair<'_> {
    /// The unknown to set, and its value, for a term to come to `to` as things are.
    fn hand_down(&mut self, term: Term, to: u128, depth: u32) -> Option<(Var, u128)> {
        let depth = depth.checked_sub(1)?;
        let terms = &self.f.terms;
        let width = terms.width(term);
        let to = to & mask(width);
        match terms.node(term) {
            Node::Var(var) => Some((*var, to)),
            Node::Const(_) | Node::Guard(_) => None,
            Node::Linear {
                constant,
                terms: sum,
            } => {
                let rest = |this: &mut Self, skip: usize| {
                    let others = sum.iter().enumerate().filter(|&(at, _)| at != skip);
                    others.fold(*constant, |total, (_, &(coefficient, part))| {
                        let value = this.evaluator.eval(this.f, part);
                        total.wrapping_add(coefficient.wrapping_mul(value))
                    })
                };
                self.first_of(sum.len(), |this, at| {
                    let (coefficient, part) = sum[at];
                    let rest = rest(this, at);
                    let wanted = to.wrapping_sub(rest) & mask(width);
                    let share = inverse(coefficient)?.wrapping_mul(wanted);
                    this.hand_down(part, share, depth)
                })
            }
            Node::Op { op, args } => match (op, &args[..]) {
                (Op::Not, &[a]) => self.hand_down(a, !to, depth),
                (Op::Ite, &[c, a, b]) => {
                    let holds = self.evaluator.eval(self.f, c) == 1;
                    let (taken, other) = if holds { (a, b) } else { (b, a) };
                    if self.evaluator.eval(self.f, other) == to {
                        return self.hand_down(c, u128::from(!holds), depth);
                    }
                    self.hand_down(taken, to, depth)
                        .or_else(|| self.hand_down(c, u128::from(!holds), depth))
                }
                (Op::Zext, &[a]) => {
                    let fits = to & !mask(terms.width(a)) == 0;
                    fits.then(|| self.hand_down(a, to, depth)).flatten()
                }
                // What does not fit is seen when the literals are looked at again.
                (Op::Sext, &[a]) => self.hand_down(a, to, depth),
                (Op::Extract { lo }, &[a]) => {
                    let field = mask(width).checked_shl(u32::from(*lo)).unwrap_or(0);
                    let old = self.evaluator.eval(self.f, a);
                    let new = to.checked_shl(u32::from(*lo)).unwrap_or(0);
                    self.hand_down(a, old & !field | new, depth)
                }
                (_, &[a, b]) => {
                    let values = [a, b].map(|part| self.evaluator.eval(self.f, part));
                    self.first_of(2, |this, at| {
                        let operands = [a, b].map(|part| this.f.terms.width(part));
                        let value = operand(*op, at, values, to, (width, operands))?;
                        this.hand_down([a, b][at], value, depth)
                    })
                }
                _ => None,
            },
        }
    }

    /// The first alternative that can be had, beginning with another one at each turn.
    fn first_of(
        &mut self,
        count: usize,
        mut try_one: impl FnMut(&mut Self, usize) -> Option<(Var, u128)>,
    ) -> Option<(Var, u128)> {
        let first = self.turn as usize;
        (0..count).find_map(|at| try_one(self, (first + at) % count))
    }
}

/// A value of one operand, by its place, for which the operator comes to `to`.
fn operand(
    op: Op,
    at: usize,
    [a, b]: [u128; 2],
    to: u128,
    (width, operands): (u16, [u16; 2]),
) -> Option<u128> {
    let (own, other) = if at == 0 { (a, b) } else { (b, a) };
    let full = mask(operands[at]);
    match op {
        Op::Eq if to == 1 => Some(other),
        Op::Eq => Some(other.wrapping_add(1)),
        Op::Ult | Op::Slt => {
            // Signed numbers are in the order of unsigned ones that are moved by half the range.
            let half = match op {
                Op::Slt => full / 2 + 1,
                _ => 0,
            };
            let other = other.wrapping_add(half) & full;
            let value = match (at, to) {
                (0, 1) => other.checked_sub(1)?,
                (_, 1) => (other < full).then(|| other + 1)?,
                _ => other,
            };
            Some(value.wrapping_sub(half))
        }
        Op::And if to & !other == 0 => Some(own & !other | to),
        Op::Or if other & !to == 0 => Some(to & !other | own & to & other),
        // A condition is met by one operand, or fails by one.
        Op::And | Op::Or if width == 1 => Some(to),
        Op::Xor => Some(to ^ other),
        Op::Concat if at == 0 => to.checked_shr(u32::from(operands[1])),
        Op::Concat => Some(to & full),
        Op::Shl if at == 0 => to.checked_shr(u32::try_from(other).ok()?),
        Op::Lshr if at == 0 => to.checked_shl(u32::try_from(other).ok()?),
        Op::Mul => Some(inverse(other)?.wrapping_mul(to)),
        _ => None,
    }
}

/// The number by which an odd one gives 1, modulo 2^128 and so modulo all smaller powers.
fn inverse(odd: u128) -> Option<u128> {
    if odd & 1 == 0 {
        return None;
    }
    // Newton's iteration: each step doubles the number of bits that are right.
    let step = |x: u128| x.wrapping_mul(2u128.wrapping_sub(odd.wrapping_mul(x)));
    Some((0..7).fold(odd, |x, _| step(x)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn an_inverse_is_one(number in any::<u128>()) {
            let odd = number | 1;
            prop_assert_eq!(inverse(odd).map(|x| x.wrapping_mul(odd)), Some(1));
            prop_assert_eq!(inverse(odd - 1), None);
        }

        #[test]
        fn an_operand_that_is_found_does(a in any::<u8>(), b in any::<u8>(), to in any::<u8>()) {
            use crate::symbolic::term::eval;
            let (a, b) = (u128::from(a), u128::from(b));
            for (op, width) in [
                (Op::Eq, 1), (Op::Ult, 1), (Op::Slt, 1), (Op::And, 8), (Op::Or, 8), (Op::Xor, 8), (Op::Mul, 8),
            ] {
                let to = u128::from(to) & mask(width);
                for at in 0..2 {
                    let Some(value) = operand(op, at, [a, b], to, (width, [8, 8])) else {
                        continue;
                    };
                    let mut operands = [(a, 8), (b, 8)];
                    operands[at].0 = value & mask(8);
                    prop_assert_eq!(eval::apply(op, width, &operands), to, "{:?} {}", op, at);
                }
            }
        }
    }
}
