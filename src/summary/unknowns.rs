//! Simplifies the unknowns of a summary: an operation on an unknown that occurs nowhere else can have any value, and
//! is itself unknown.
//!
//! In: a summary's result and M. Out: the same values with fewer unknowns. Nothing is lost except comparisons that no
//! number satisfies, and what hangs on more unknowns than callers are told of.

use std::cell::RefCell;

use rustc_hash::{FxHashMap, FxHashSet};

use super::{Choice, IExpr, Summary};
use crate::symbolic::term::Op;

/// Unknowns that the values of a summary's M hang on, with those of its result, at most. Each is a new variable at each call.
const MAX_UNKNOWNS: usize = 16;

/// Names of unknowns that stand for an operation on another one, from here on. They have names of their own because what else of the summary mentions the
/// other one means that.
const OPERATIONS: u32 = 1 << 31;

/// Simplifies all values, and forgets those that are unknown by themselves.
pub fn simplify(summary: &mut Summary) {
    // Each pass leaves fewer operations.
    loop {
        let mentions = Mentions::of(summary);
        let simpler = |value: &Option<IExpr>| mentions.simpler(value.as_ref()?);
        let result = simpler(&summary.result);
        let modified = summary.modified.iter().enumerate();
        let values: Vec<(usize, IExpr)> = modified
            .filter_map(|(index, modified)| Some((index, simpler(&modified.value)?)))
            .collect();
        if result.is_none() && values.is_empty() {
            break;
        }
        summary.result = result.or(summary.result.take());
        for (index, value) in values {
            summary.modified[index].value = Some(value);
        }
    }
    let mentions = Mentions::of(summary).of_unknowns;
    let lone = |value: &IExpr| matches!(value, IExpr::Unknown { id, .. } if mentions[id] == 1);
    summary.result.take_if(|value| lone(value));
    for modified in &mut summary.modified {
        modified.value.take_if(|value| lone(value));
    }
}

/// Forgets the values of M that hang on unknowns of their own when there are many already. What matters most to callers comes first.
pub fn limit(summary: &mut Summary) {
    let unknowns = |value: &Option<IExpr>| -> FxHashSet<u32> {
        let unknowns = value.iter().flat_map(IExpr::unknowns);
        unknowns.map(|(id, _)| id).collect()
    };
    let mut told = unknowns(&summary.result);
    for modified in &mut summary.modified {
        let own = unknowns(&modified.value);
        match own.is_subset(&told) || told.union(&own).count() <= MAX_UNKNOWNS {
            true => told.extend(own),
            false => modified.value = None,
        }
    }
}

/// An unknown that nothing else is said of.
#[derive(Clone, Copy)]
struct Free {
    id: u32,
    choice: Choice,
}

impl Free {
    /// What hangs on another one, too.
    fn with(self, other: Free) -> Free {
        Free {
            choice: self.choice.with(other.choice),
            ..self
        }
    }
}

/// How often a summary's values mention what.
struct Mentions<'a> {
    of_unknowns: FxHashMap<u32, u32>,
    of_operations: FxHashMap<&'a IExpr, u32>,
    /// The lowest name from which on nothing has one.
    free_name: u32,
    /// The name of the operation on an unknown.
    operations: RefCell<FxHashMap<u32, u32>>,
}

impl<'a> Mentions<'a> {
    fn of(summary: &'a Summary) -> Self {
        let mut mentions = Mentions {
            of_unknowns: FxHashMap::default(),
            of_operations: FxHashMap::default(),
            free_name: OPERATIONS,
            operations: RefCell::default(),
        };
        let values = summary.modified.iter().map(|modified| &modified.value);
        for value in values.chain([&summary.result]).flatten() {
            value.each(&mut |part| match part {
                IExpr::Unknown { id, .. } => *mentions.of_unknowns.entry(*id).or_default() += 1,
                IExpr::Op { .. } | IExpr::Linear { .. } if of_unknown(part) => {
                    *mentions.of_operations.entry(part).or_default() += 1;
                }
                _ => {}
            });
        }
        let taken = mentions.of_unknowns.keys().map(|id| id + 1);
        mentions.free_name = taken.fold(OPERATIONS, u32::max);
        mentions
    }

    /// The operation of this width that an unknown occurs in, which is as unknown.
    fn operation(&self, Free { id, choice }: Free, width: u16) -> IExpr {
        let mut operations = self.operations.borrow_mut();
        let next = self.free_name + operations.len() as u32;
        let id = *operations.entry(id).or_insert(next);
        IExpr::Unknown { id, width, choice }
    }

    /// The expression simplified; `None` if it stays as it is.
    fn simpler(&self, expr: &IExpr) -> Option<IExpr> {
        match expr {
            IExpr::Op { op, width, args } => {
                if let Some(free) = self.free_operand(expr, *op, args) {
                    return Some(self.operation(free, *width));
                }
                let args = self.all_simpler(args, |arg| arg)?;
                Some(IExpr::Op {
                    op: *op,
                    width: *width,
                    args: args.collect(),
                })
            }
            IExpr::Linear {
                width,
                constant,
                terms,
            } => {
                let odd = terms.iter().filter(|(coefficient, _)| coefficient % 2 == 1);
                if let Some(free) = odd.filter_map(|(_, part)| self.free(expr, part)).next() {
                    return Some(self.operation(free, *width));
                }
                let parts = self.all_simpler(terms, |(_, part)| part)?;
                let coefficients = terms.iter().map(|(coefficient, _)| *coefficient);
                Some(IExpr::Linear {
                    width: *width,
                    constant: *constant,
                    terms: coefficients.zip(parts).collect(),
                })
            }
            _ => None,
        }
    }

    /// All operands, if one of them can be simplified.
    fn all_simpler<'t, T>(
        &self,
        operands: &'t [T],
        part: impl Fn(&'t T) -> &'t IExpr + 't,
    ) -> Option<impl Iterator<Item = IExpr> + 't> {
        let simpler: Vec<Option<IExpr>> =
            operands.iter().map(|one| self.simpler(part(one))).collect();
        let any = simpler.iter().any(Option::is_some);
        let all = simpler.into_iter().zip(operands);
        any.then(|| all.map(move |(simpler, one)| simpler.unwrap_or_else(|| part(one).clone())))
    }

    /// The unknown by which an operation can have any value.
    fn free_operand(&self, whole: &IExpr, op: Op, args: &[IExpr]) -> Option<Free> {
        let free = |arg: &IExpr| self.free(whole, arg);
        let any = || args.iter().find_map(free);
        match op {
            Op::Not | Op::Xor | Op::Eq | Op::Ult | Op::Slt | Op::Extract { .. } => any(),
            Op::And | Op::Or | Op::Concat => {
                let all: Option<Vec<Free>> = args.iter().map(free).collect();
                all?.into_iter().reduce(Free::with)
            }
            Op::Ite => {
                let [condition, yes, no] = args else {
                    return None;
                };
                match (free(condition), free(yes), free(no)) {
                    (_, Some(yes), Some(no)) => Some(yes.with(no)),
                    (Some(condition), Some(arm), None) | (Some(condition), None, Some(arm)) => {
                        Some(arm.with(condition))
                    }
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// The unknown that an operand is, if it is mentioned in this operation only.
    fn free(&self, whole: &IExpr, operand: &IExpr) -> Option<Free> {
        let IExpr::Unknown { id, choice, .. } = operand else {
            return None;
        };
        let mut inside = 0;
        whole.each(&mut |part| {
            inside += u32::from(matches!(part, IExpr::Unknown { id: other, .. } if other == id));
        });
        let times = self.of_operations.get(whole)?;
        let free = Free {
            id: *id,
            choice: *choice,
        };
        (inside == 1 && *times == self.of_unknowns[id]).then_some(free)
    }
}

/// Whether an operand is unknown.
fn of_unknown(operation: &IExpr) -> bool {
    let unknown = |part: &IExpr| matches!(part, IExpr::Unknown { .. });
    match operation {
        IExpr::Op { args, .. } => args.iter().any(unknown),
        IExpr::Linear { terms, .. } => terms.iter().any(|(_, part)| unknown(part)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::super::{IObj, Modified, Offset, Root, Told, When};
    use super::*;

    fn unknown(id: u32, width: u16) -> IExpr {
        IExpr::Unknown {
            id,
            width,
            choice: Choice::Any,
        }
    }

    fn op(op: Op, args: &[IExpr]) -> IExpr {
        let width = match op {
            Op::Ite => 32,
            _ => 1,
        };
        IExpr::Op {
            op,
            width,
            args: args.to_vec(),
        }
    }

    fn global(name: u32) -> IObj {
        IObj {
            root: Root::Param(name),
            path: vec![Offset::bytes(0)],
        }
    }

    fn value() -> IExpr {
        IExpr::Value {
            object: global(9),
            width: 32,
            when: When::Entry,
            narrow: false,
            pointer: Told(false),
        }
    }

    fn simplified(values: &[IExpr]) -> Vec<Option<IExpr>> {
        let modified = values.iter().zip(0..).map(|(value, index)| Modified {
            object: global(index),
            size: 4,
            value: Some(value.clone()),
            pointer: Told(false),
            null: Default::default(),
            null_with: None,
            only_if: Vec::new(),
            replaced: Default::default(),
        });
        let mut summary = Summary {
            modified: modified.collect(),
            ..Summary::default()
        };
        simplify(&mut summary);
        limit(&mut summary);
        let modified = summary.modified.into_iter();
        modified.map(|modified| modified.value).collect()
    }

    #[test]
    fn a_choice_of_what_nobody_knows_is_unknown() {
        let zero = IExpr::Const {
            value: 0,
            width: 32,
        };
        let tested = op(Op::Eq, &[unknown(1, 32), zero]);
        let both = op(Op::And, &[tested, unknown(2, 1)]);
        let chosen = op(Op::Ite, &[both, unknown(3, 32), value()]);
        assert_eq!(simplified(&[chosen]), [None]);
    }

    #[test]
    fn what_two_values_depend_on_stays() {
        let [one, other] = [3, 4].map(|id| op(Op::Ite, &[unknown(1, 1), unknown(id, 32), value()]));
        let expected = [Some(one.clone()), Some(other.clone())];
        assert_eq!(simplified(&[one, other]), expected);
    }

    #[test]
    fn one_condition_of_two_values_is_one_unknown() {
        let both = op(Op::And, &[unknown(1, 1), unknown(2, 1)]);
        let values = [3, 4].map(|id| op(Op::Ite, &[both.clone(), unknown(id, 32), value()]));
        let expected = [3, 4].map(|id| {
            Some(op(
                Op::Ite,
                &[unknown(OPERATIONS, 1), unknown(id, 32), value()],
            ))
        });
        assert_eq!(simplified(&values), expected);
    }

    #[test]
    fn a_long_conjunction_of_what_nobody_knows_is_unknown() {
        let all = (2..40).fold(unknown(1, 1), |all, id| op(Op::And, &[all, unknown(id, 1)]));
        let chosen = op(Op::Ite, &[all, unknown(50, 32), value()]);
        assert_eq!(simplified(&[chosen]), [None]);
    }

    #[test]
    fn of_many_unknowns_the_first_are_told() {
        // Each of two values hangs on the same condition.
        let values = (0..2 * MAX_UNKNOWNS as u32).map(|index| {
            let chosen = unknown(100 + index, 32);
            op(Op::Ite, &[unknown(index / 2, 1), chosen, value()])
        });
        let values: Vec<IExpr> = values.collect();
        let told = simplified(&values)
            .iter()
            .filter(|value| value.is_some())
            .count();
        // The last one that fits brings no condition of its own.
        assert_eq!(told, MAX_UNKNOWNS * 2 / 3);
    }

    #[test]
    fn one_of_two_constants_is_no_unknown() {
        let constant = |value| IExpr::Const { value, width: 32 };
        let error = op(Op::Ite, &[unknown(1, 1), constant(0), constant(22)]);
        assert_eq!(simplified(std::slice::from_ref(&error)), [Some(error)]);
    }
}
