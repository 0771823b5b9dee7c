//! A summary as rows: what becomes of each object, and when.
//!
//! In: a [`Summary`] and the machines that it speaks of. Out: one row for each way from state to state, with its condition in words, and what is returned
//! then.

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
pub fn transitions(summary: &Summary, property: &Property) -> Vec<Transition> {
    let words = Words { summary, property };
    let conditions = Conditions::of(summary);
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
                fails: fails(&results),
            });
        }
    }
    found
}

/// Something that is known of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Known {
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
fn known(expr: &IExpr, holds: bool) -> Option<Known> {
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

/// A number below 0, an error or null tells of failure; a number other than 0 of which no more is known, too.
fn fails(results: &[Known]) -> Option<bool> {
    let has = |known| results.contains(&known);
    if has(Known::Negative) || has(Known::Error) || has(Known::Null) {
        return Some(true);
    }
    if has(Known::Positive) || has(Known::Zero) || has(Known::NotNegative) {
        return Some(false);
    }
    if has(Known::NotZero) {
        return Some(true);
    }
    (has(Known::NotNull) || has(Known::NoError)).then_some(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_tell_of_failure_by_the_custom_of_c() {
        assert_eq!(fails(&[Known::Negative]), Some(true));
        assert_eq!(fails(&[Known::NotZero]), Some(true));
        assert_eq!(fails(&[Known::Positive, Known::NotZero]), Some(false));
        assert_eq!(fails(&[Known::Zero]), Some(false));
        assert_eq!(fails(&[Known::Null]), Some(true));
        assert_eq!(fails(&[Known::NotNull]), Some(false));
        assert_eq!(fails(&[]), None);
    }
}
