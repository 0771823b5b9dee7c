//! What each operator computes on concrete values. Constant folding and models both use it.

use super::{Op, mask};

/// Sign bit of a value of this width.
fn negative(value: u128, width: u16) -> bool {
    width > 0 && (value >> (width - 1)) & 1 == 1
}

/// Two's complement value.
pub fn signed(value: u128, width: u16) -> i128 {
    if negative(value, width) {
        (value | !mask(width)) as i128
    } else {
        value as i128
    }
}

fn magnitude(value: u128, width: u16) -> u128 {
    if negative(value, width) {
        value.wrapping_neg() & mask(width)
    } else {
        value
    }
}

/// The result, reduced to `width`, of an operator over `(value, width)` operands that are reduced to
/// theirs. A wrong number of operands gives 0.
pub fn apply(op: Op, width: u16, args: &[(u128, u16)]) -> u128 {
    let result = match *args {
        [(a, wa)] => unary(op, a, wa),
        [(a, wa), (b, wb)] => binary(op, a, wa, b, wb),
        [(c, _), (a, _), (b, _)] if op == Op::Ite => {
            if c == 1 {
                a
            } else {
                b
            }
        }
        _ => 0,
    };
    result & mask(width)
}

fn unary(op: Op, a: u128, width: u16) -> u128 {
    match op {
        Op::Not => !a,
        Op::Extract { lo } => a.checked_shr(u32::from(lo)).unwrap_or(0),
        Op::Zext => a,
        Op::Sext => signed(a, width) as u128,
        _ => 0,
    }
}

fn binary(op: Op, a: u128, w: u16, b: u128, wb: u16) -> u128 {
    // Amounts at or beyond the width shift everything out.
    let amount = if b < u128::from(w) { b as u32 } else { 128 };
    match op {
        Op::And => a & b,
        Op::Or => a | b,
        Op::Xor => a ^ b,
        Op::Shl => a.checked_shl(amount).unwrap_or(0),
        Op::Lshr => a.checked_shr(amount).unwrap_or(0),
        Op::Ashr => (signed(a, w) >> amount.min(127)) as u128,
        Op::Mul => a.wrapping_mul(b),
        Op::Udiv => a.checked_div(b).unwrap_or(u128::MAX),
        Op::Urem => a.checked_rem(b).unwrap_or(a),
        Op::Sdiv => {
            let quotient = magnitude(a, w)
                .checked_div(magnitude(b, w))
                .unwrap_or(u128::MAX);
            if negative(a, w) != negative(b, w) {
                quotient.wrapping_neg()
            } else {
                quotient
            }
        }
        Op::Srem => {
            let remainder = magnitude(a, w)
                .checked_rem(magnitude(b, w))
                .unwrap_or(magnitude(a, w));
            if negative(a, w) {
                remainder.wrapping_neg()
            } else {
                remainder
            }
        }
        Op::Eq => u128::from(a == b),
        Op::Ult => u128::from(a < b),
        Op::Ule => u128::from(a <= b),
        Op::Slt => u128::from(signed(a, w) < signed(b, w)),
        Op::Sle => u128::from(signed(a, w) <= signed(b, w)),
        Op::Concat => a.checked_shl(u32::from(wb)).unwrap_or(0) | b,
        _ => 0,
    }
}
