//! A summary as rows: what becomes of each object, and when.
//!
//! In: a [`Summary`] and the machines that it speaks of. Out: one row for each way from state to state, with its condition in words, and what is returned
//! then.

use super::constants::Constants;
use super::words::{Words, is_last_before_errors, is_pointer, is_zero};
use super::{Conditions, ends, state_name, target_name};
use crate::property::Property;
use crate::summary::{Cube, IExpr, Root, Summary, When};
use crate::symbolic::term::Op;

/// A way of one object through a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transition {
    pub object: String,
    pub class: Option<String>,
    pub machine: String,
    /// Names of states; after a mistake, `error` and its rule.
    pub before: String,
    pub after: String,
    /// In words of the source; empty if it is always so.
    pub condition: String,
    /// What is known of the result then: `negative`, `not zero`, …
    pub returns: Option<String>,
    /// Whether the result tells callers, by the custom of C, that the function has failed.
    pub fails: Option<bool>,
}

/// All ways of a summary's objects.
pub fn transitions(
    summary: &Summary,
    (property, constants): (&Property, &Constants),
) -> Vec<Transition> {
    let words = Words {
        summary,
        property,
        constants,
    };
    let conditions = Conditions::of(summary);
    let customs = Customs::of(summary);
    let mut found = Vec::new();
    for (index, object) in summary.objects.iter().enumerate() {
        let machine = property.machine(&object.machine);
        for (end, cube) in ends(&conditions, summary, index) {
            let before = state_name(machine, end.from);
            let results = results(&conditions, &cube);
            let told: Vec<&str> = results.iter().map(|result| result.name()).collect();
            found.push(Transition {
                object: words.object(&object.object),
                class: object.class.as_ref().map(ToString::to_string),
                machine: object.machine.clone(),
                after: target_name(machine, &end).unwrap_or_else(|| before.clone()),
                before,
                condition: conditions.text(&words, &cube),
                returns: (!told.is_empty()).then(|| told.join(", ")),
                fails: fails(&results, customs),
            });
        }
    }
    found
}

/// Something that is known of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Known {
    Negative,
    NotNegative,
    Positive,
    Zero,
    NotZero,
    Null,
    NotNull,
    Error,
    NoError,
}

impl Known {
    fn name(self) -> &'static str {
        match self {
            Known::Negative => "negative",
            Known::NotNegative => "not negative",
            Known::Positive => "positive",
            Known::Zero => "zero",
            Known::NotZero => "not zero",
            Known::Null => "null",
            Known::NotNull => "not null",
            Known::Error => "an error",
            Known::NoError => "no error",
        }
    }
}

/// What a combination of conditions says of the result.
fn results(conditions: &Conditions<'_>, cube: &Cube) -> Vec<Known> {
    let wanted = conditions.known.iter().zip(cube);
    let known = wanted.filter_map(|(&(expr, when), wanted)| {
        (when == When::Exit).then_some(())?;
        known(expr, (*wanted)?)
    });
    let mut known: Vec<Known> = known.collect();
    known.sort_unstable();
    known.dedup();
    known
}

/// What a condition says of the result where it holds, or does not.
pub(super) fn known(expr: &IExpr, holds: bool) -> Option<Known> {
    let IExpr::Op { op, args, .. } = expr else {
        return None;
    };
    let [left, right] = args.as_slice() else {
        return None;
    };
    match op {
        Op::Slt if is_result(left) && is_zero(right) => Some(match holds {
            true => Known::Negative,
            false => Known::NotNegative,
        }),
        Op::Slt if is_zero(left) && is_result(right) && holds => Some(Known::Positive),
        Op::Ult if is_last_before_errors(left) && is_result(right) => Some(match holds {
            true => Known::Error,
            false => Known::NoError,
        }),
        Op::Eq if is_result(left) && is_zero(right) => Some(match (is_pointer(left), holds) {
            (true, true) => Known::Null,
            (true, false) => Known::NotNull,
            (false, true) => Known::Zero,
            (false, false) => Known::NotZero,
        }),
        _ => None,
    }
}

fn is_result(expr: &IExpr) -> bool {
    matches!(expr, IExpr::Value { object, .. } if object.root == Root::Return && object.path.is_empty())
}

/// What a function returns on all its paths together, as far as it is known.
#[derive(Clone, Copy, Debug, Default)]
struct Customs {
    /// Nothing but 0 and 1: a truth value, which tells of success or failure only to those who know what is true.
    truth: bool,
    /// A negative number among others, or callers can ask for one: an error number.
    negative: bool,
}

impl Customs {
    fn of(summary: &Summary) -> Customs {
        let mut constants = Vec::new();
        let all = summary
            .result
            .as_ref()
            .is_some_and(|result| leaves(result, &mut constants));
        let is_negative =
            |&(value, width): &(u128, u16)| value >> (width - 1) & 1 == 1 && width > 1;
        let asked = summary.outputs.iter().any(|condition| {
            matches!(known(condition, true), Some(Known::Negative | Known::Error))
        });
        Customs {
            truth: all && !asked && constants.iter().all(|(value, _)| *value <= 1),
            negative: asked || constants.iter().any(is_negative),
        }
    }
}

/// Collects the constants that a value may be, and answers whether it can be nothing else.
fn leaves(value: &IExpr, found: &mut Vec<(u128, u16)>) -> bool {
    match value {
        IExpr::Const { value, width } => {
            found.push((*value, *width));
            true
        }
        IExpr::Op {
            op: Op::Ite, args, ..
        } => {
            let mut all = true;
            for one in args.iter().skip(1) {
                all &= leaves(one, found);
            }
            all
        }
        _ => false,
    }
}

/// A number below 0, an error or null tells of failure. So does a number other than 0 of which no more is known, if the function is known to
/// return error numbers; of other functions it tells nothing, as it may be a truth value.
fn fails(results: &[Known], customs: Customs) -> Option<bool> {
    let has = |known| results.contains(&known);
    if has(Known::Negative) || has(Known::Error) || has(Known::Null) {
        return Some(true);
    }
    if customs.truth {
        return None;
    }
    if has(Known::Positive) || has(Known::Zero) || has(Known::NotNegative) {
        return Some(false);
    }
    if has(Known::NotZero) {
        return customs.negative.then_some(true);
    }
    (has(Known::NotNull) || has(Known::NoError)).then_some(false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summary::Choice;

    #[test]
    fn results_tell_of_failure_by_the_custom_of_c() {
        let of = |results: &[Known], truth, negative| fails(results, Customs { truth, negative });
        for (known, expected) in [
            (Known::Negative, Some(true)),
            (Known::Positive, Some(false)),
            (Known::Zero, Some(false)),
            (Known::Null, Some(true)),
            (Known::NotNull, Some(false)),
            (Known::NotZero, None),
        ] {
            assert_eq!(of(&[known], false, false), expected, "{known:?}");
        }
        assert_eq!(of(&[Known::NotZero], false, true), Some(true));
        assert_eq!(
            of(&[Known::Positive, Known::NotZero], false, true),
            Some(false)
        );
        assert_eq!(of(&[], false, true), None);
        // Of a truth value nobody can tell.
        assert_eq!(of(&[Known::Zero], true, false), None);
        assert_eq!(of(&[Known::NotZero], true, false), None);
    }

    #[test]
    fn a_truth_value_is_told_from_an_error_number() {
        let number = |value: u128| IExpr::Const { value, width: 32 };
        let either = |a: IExpr, b: IExpr| IExpr::Op {
            op: Op::Ite,
            width: 32,
            args: vec![
                IExpr::Unknown {
                    id: 0,
                    width: 1,
                    choice: Choice::Any,
                },
                a,
                b,
            ],
        };
        let of = |result: Option<IExpr>| {
            let summary = Summary {
                result,
                ..Summary::default()
            };
            let customs = Customs::of(&summary);
            (customs.truth, customs.negative)
        };
        let error = number(u128::from(-22_i32 as u32));
        assert_eq!(of(Some(either(number(0), number(1)))), (true, false));
        assert_eq!(of(Some(either(number(0), error))), (false, true));
        assert_eq!(of(Some(either(number(0), number(2)))), (false, false));
        let unknown = IExpr::Unknown {
            id: 1,
            width: 32,
            choice: Choice::Any,
        };
        assert_eq!(of(Some(either(number(1), unknown))), (false, false));
        assert_eq!(of(None), (false, false));
    }
}
