//! What several conditions say of one number, in as few words as possible.
//!
//! In: conditions that hold together. Out: the same in words, those about one number as its bounds: `ret == 0` in place of `ret == 0 and ret >= 0`,
//! and `ret > 0` in place of `ret != 0 and ret >= 0`.

use super::constants::place;
use super::words::{Words, is_pointer, signed};
use crate::summary::{IExpr, When};
use crate::symbolic::term::Op;

/// What a condition says of a number.
struct Bounds<'e> {
    of: &'e IExpr,
    width: u16,
    low: i128,
    high: i128,
    without: Vec<i128>,
}

/// Conditions that hold or do not, in words.
pub fn texts(words: &Words<'_>, literals: &[(&IExpr, bool)], now: When) -> Vec<String> {
    let bounds: Vec<Option<Bounds<'_>>> = literals.iter().map(|one| bounds(*one)).collect();
    let about = |at: usize| bounds[at].as_ref().map(|bounds| bounds.of);
    let mut found = Vec::new();
    for at in 0..literals.len() {
        let same = |other: &usize| about(at).is_some() && about(*other) == about(at);
        if (0..at).any(|before| same(&before)) {
            continue;
        }
        let group: Vec<usize> = std::iter::once(at)
            .chain((at + 1..literals.len()).filter(same))
            .collect();
        let bounds: Vec<&Bounds<'_>> = group.iter().flat_map(|&at| &bounds[at]).collect();
        match merged(&bounds) {
            Some(merged) => found.extend(merged.texts(words, now)),
            None => found.extend(group.iter().map(|&at| {
                let (expr, holds) = literals[at];
                words.condition(expr, holds, now)
            })),
        }
    }
    found
}

/// What the conditions say together; `None` for one condition alone, unless zero tells it better, and for those that contradict each other.
fn merged<'e>(group: &[&Bounds<'e>]) -> Option<Bounds<'e>> {
    let (first, rest) = group.split_first()?;
    if rest.is_empty() && !matches!((first.low, first.high), (1, _) | (_, -1)) {
        return None;
    }
    let low = group.iter().map(|one| one.low).max()?;
    let high = group.iter().map(|one| one.high).min()?;
    let mut merged = Bounds {
        of: first.of,
        width: first.width,
        low,
        high,
        without: group.iter().flat_map(|one| one.without.clone()).collect(),
    };
    merged.without.sort_unstable();
    merged.without.dedup();
    // What is left out at an end moves the end.
    for number in merged.without.clone() {
        merged.low += i128::from(number == merged.low);
    }
    for number in merged.without.iter().rev() {
        merged.high -= i128::from(*number == merged.high);
    }
    let (low, high) = (merged.low, merged.high);
    merged
        .without
        .retain(|number| (low..=high).contains(number));
    (low <= high).then_some(merged)
}

impl Bounds<'_> {
    fn texts(&self, words: &Words<'_>, now: When) -> Vec<String> {
        let name = words.compared(self.of, now);
        let number = |value: i128| {
            let value = value.cast_unsigned() & mask(self.width);
            words.number(place(self.of), value, self.width)
        };
        let (least, greatest) = limits(self.width);
        if self.low == self.high {
            return vec![format!("{name} == {}", number(self.low))];
        }
        let mut found = Vec::new();
        match self.low {
            low if low == least => {}
            1 => found.push(format!("{name} > 0")),
            low => found.push(format!("{name} >= {}", number(low))),
        }
        match self.high {
            high if high == greatest => {}
            -1 => found.push(format!("{name} < 0")),
            high => found.push(format!("{name} <= {}", number(high))),
        }
        let without = self.without.iter();
        found.extend(without.map(|other| format!("{name} != {}", number(*other))));
        found
    }
}

/// The bounds that a comparison with a number is.
fn bounds((expr, holds): (&IExpr, bool)) -> Option<Bounds<'_>> {
    let IExpr::Op { op, args, .. } = expr else {
        return None;
    };
    let [left, right] = args.as_slice() else {
        return None;
    };
    let (of, value, width, number_first) = match (left, right) {
        (IExpr::Const { .. }, IExpr::Const { .. }) => return None,
        (IExpr::Const { value, width }, of) => (of, *value, *width, true),
        (of, IExpr::Const { value, width }) => (of, *value, *width, false),
        _ => return None,
    };
    if width <= 1 || width > 64 || is_pointer(of) || is_flags(of) {
        return None;
    }
    let number = signed(value, width);
    let (least, greatest) = limits(width);
    let mut without = Vec::new();
    let (low, high) = match (op, number_first, holds) {
        (Op::Eq, _, true) => (number, number),
        (Op::Eq, _, false) => {
            without.push(number);
            (least, greatest)
        }
        (Op::Slt, true, true) | (Op::Sle, false, false) => (number + 1, greatest),
        (Op::Slt, true, false) | (Op::Sle, false, true) => (least, number),
        (Op::Slt, false, true) | (Op::Sle, true, false) => (least, number - 1),
        (Op::Slt, false, false) | (Op::Sle, true, true) => (number, greatest),
        _ => return None,
    };
    Some(Bounds {
        of,
        width,
        low,
        high,
        without,
    })
}

/// Bits of a word read better as they are tested.
fn is_flags(expr: &IExpr) -> bool {
    matches!(
        expr,
        IExpr::Op {
            op: Op::And | Op::Extract { .. },
            ..
        }
    )
}

fn limits(width: u16) -> (i128, i128) {
    let half = 1i128 << (width - 1);
    (-half, half - 1)
}

fn mask(width: u16) -> u128 {
    (1u128 << width) - 1
}
