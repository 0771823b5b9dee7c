//! What functions of a library answer about string literals: how long one is, how two compare.
//!
//! In: the summary of such a function, and the call. Out: the result, where all that it depends on is known; the text of a literal.

use std::cmp::Ordering;

use crate::ir::POINTER_BITS;
use crate::summary::{Comparison, Summary};
use crate::symbolic::callee::CallSite;
use crate::symbolic::exec::{ArgValue, Executor};
use crate::symbolic::guard::Guard;
use crate::symbolic::region::{Loc, RegionKind, SymbolicOffset};
use crate::symbolic::term::Term;

/// Literals that one argument may be.
const MAX_CHOICES: usize = 4;

/// The result, if it is told by literals.
pub(super) fn answer(
    exec: &mut Executor<'_>,
    summary: &Summary,
    site: &CallSite<'_>,
) -> Option<Term> {
    match summary.compares {
        Some(comparison) => compared(exec, comparison, site),
        None => length(exec, summary.length_of?, site),
    }
}

/// The length of a literal.
fn length(exec: &mut Executor<'_>, of: u32, site: &CallSite<'_>) -> Option<Term> {
    let text = text(exec, site, of as usize)?;
    let length = text.iter().position(|&byte| byte == 0)?;
    let width = site.result_width.unwrap_or(POINTER_BITS);
    let terms = &mut exec.arena.formula.terms;
    Some(terms.constant(length as u128, width))
}

/// -1, 0 or 1, as the first argument is before the second one, the same, or behind it; C says no more of the number than its sign.
fn compared(exec: &mut Executor<'_>, comparison: Comparison, site: &CallSite<'_>) -> Option<Term> {
    let width = site.result_width?;
    let most = match comparison.most {
        Some(at) => {
            let most = site.args.get(at as usize)?.value()?;
            usize::try_from(exec.arena.formula.terms.as_const(most)?).ok()?
        }
        None => usize::MAX,
    };
    let [first, second] = [0, 1].map(|at| texts(exec, site, at));
    let (first, second) = (first?, second?);
    let mut result: Option<Term> = None;
    for (on, one) in &first {
        for (also_on, other) in &second {
            let number: i128 = match order(one, other, (most, comparison.folded)) {
                Ordering::Less => -1,
                Ordering::Equal => 0,
                Ordering::Greater => 1,
            };
            let formula = &mut exec.arena.formula;
            let number = formula.terms.constant(number as u128, width);
            let here = formula.guards.and(*on, *also_on);
            result = Some(match result {
                Some(others) => formula.ite_guard(here, number, others),
                None => number,
            });
        }
    }
    result
}

/// How two texts that end with a 0 compare, in no more than so many bytes; `folded`: letters of both cases are alike.
fn order(one: &[u8], other: &[u8], (most, folded): (usize, bool)) -> Ordering {
    let bytes = |text: &[u8]| -> Vec<u8> {
        let text = text.iter().take_while(|&&byte| byte != 0).take(most);
        let letter = |byte: &u8| match folded {
            true => byte.to_ascii_lowercase(),
            false => *byte,
        };
        text.map(letter).collect()
    };
    bytes(one).cmp(&bytes(other))
}

/// The argument, if it is a string literal, with its end.
pub(super) fn text(exec: &mut Executor<'_>, site: &CallSite<'_>, at: usize) -> Option<Vec<u8>> {
    let mut texts = texts(exec, site, at)?;
    match texts.len() {
        1 => texts.pop().map(|(_, text)| text),
        _ => None,
    }
}

/// The literals that an argument is, each with the paths on which it is that one; `None` if it may be anything else.
fn texts(exec: &mut Executor<'_>, site: &CallSite<'_>, at: usize) -> Option<Vec<(Guard, Vec<u8>)>> {
    let Some(&ArgValue::Scalar(value)) = site.args.get(at) else {
        return None;
    };
    let value = exec.arena.resize(value, POINTER_BITS);
    let places = exec.arena.locations(value);
    let may_be_null = exec.arena.null_paths(value) != Guard::FALSE;
    if places.is_empty() || places.len() > MAX_CHOICES || may_be_null {
        return None;
    }
    let literal = |&(on, loc): &(Guard, Loc)| match exec.arena.regions.kind(loc.region) {
        RegionKind::String(bytes) if loc.symbolic == SymbolicOffset::NONE => {
            let rest = bytes.get(usize::try_from(loc.offset).ok()?..)?;
            Some((on, rest.to_vec()))
        }
        _ => None,
    };
    places.iter().map(literal).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_compare_as_c_has_it() {
        let all = usize::MAX;
        for (one, other, how, expected) in [
            (
                &b"abc\0x"[..],
                &b"abc\0y"[..],
                (all, false),
                Ordering::Equal,
            ),
            (b"abc\0", b"abd\0", (all, false), Ordering::Less),
            (b"abcd\0", b"abc\0", (all, false), Ordering::Greater),
            (b"abcd\0", b"abc\0", (3, false), Ordering::Equal),
            (b"ABC\0", b"abc\0", (all, true), Ordering::Equal),
            (b"ABC\0", b"abc\0", (all, false), Ordering::Less),
        ] {
            assert_eq!(
                order(one, other, how),
                expected,
                "{one:?} {other:?} {how:?}"
            );
        }
    }
}
