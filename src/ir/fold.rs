//! Arithmetic on constants, as the target machine does it.
//!
//! In: bit patterns with their types. Out: bit patterns, or `None` where the result is undefined
//! (division by zero) or not computed here (long double).

use super::{BinOp, CmpOp, Ty, UnOp};

/// Keeps the type's width.
pub fn truncate(bits: u128, ty: Ty) -> u128 {
    match u32::from(ty.bits()) {
        width @ 0..128 => bits & ((1u128 << width) - 1),
        _ => bits,
    }
}

/// The number a bit pattern stands for. Unsigned 128-bit values beyond `i128` wrap.
pub fn value(bits: u128, ty: Ty) -> i128 {
    let width = u32::from(ty.bits());
    if ty.signed() && (1..128).contains(&width) {
        let shift = 128 - width;
        (bits << shift).cast_signed() >> shift
    } else {
        bits.cast_signed()
    }
}

/// The value of a `float` or `double` pattern.
pub fn float_value(bits: u128, ty: Ty) -> Option<f64> {
    match ty {
        Ty::Float { bits: 64 } => Some(f64::from_bits(u64::try_from(bits).ok()?)),
        Ty::Float { bits: 32 } => Some(f64::from(f32::from_bits(u32::try_from(bits).ok()?))),
        _ => None,
    }
}

/// The pattern of a floating value.
pub fn float_bits(value: f64, ty: Ty) -> Option<u128> {
    match ty {
        Ty::Float { bits: 64 } => Some(u128::from(value.to_bits())),
        #[allow(clippy::cast_possible_truncation)]
        Ty::Float { bits: 32 } => Some(u128::from((value as f32).to_bits())),
        _ => None,
    }
}

pub fn unary(op: UnOp, bits: u128, ty: Ty) -> Option<u128> {
    if let Ty::Float { .. } = ty {
        let value = float_value(bits, ty)?;
        return match op {
            UnOp::Neg => float_bits(-value, ty),
            UnOp::Not => None,
        };
    }
    Some(match op {
        UnOp::Neg => bits.wrapping_neg(),
        UnOp::Not => !bits,
    })
}

pub fn binary(op: BinOp, ty: Ty, l: u128, right: Ty, r: u128) -> Option<u128> {
    if let Ty::Float { .. } = ty {
        let (a, b) = (float_value(l, ty)?, float_value(r, ty)?);
        let result = match op {
            BinOp::Add => a + b,
            BinOp::Sub => a - b,
            BinOp::Mul => a * b,
            BinOp::Div => a / b,
            _ => return None,
        };
        return float_bits(result, ty);
    }
    let (a, b) = (value(l, ty), value(r, ty));
    Some(match op {
        BinOp::Add => l.wrapping_add(r),
        BinOp::Sub => l.wrapping_sub(r),
        BinOp::Mul => l.wrapping_mul(r),
        BinOp::And => l & r,
        BinOp::Or => l | r,
        BinOp::Xor => l ^ r,
        BinOp::Div | BinOp::Rem if r == 0 => return None,
        BinOp::Div if ty.signed() => a.wrapping_div(b).cast_unsigned(),
        BinOp::Div => l / r,
        BinOp::Rem if ty.signed() => a.wrapping_rem(b).cast_unsigned(),
        BinOp::Rem => l % r,
        BinOp::Shl | BinOp::Shr => {
            let count = value(r, right);
            let count = u32::try_from(count).ok()?;
            if count >= u32::from(ty.bits()) {
                return None;
            }
            match op {
                BinOp::Shl => l << count,
                _ if ty.signed() => (a >> count).cast_unsigned(),
                _ => l >> count,
            }
        }
    })
}

pub fn compare(op: CmpOp, ty: Ty, l: u128, r: u128) -> Option<bool> {
    let order = match ty {
        Ty::Float { .. } => {
            let (a, b) = (float_value(l, ty)?, float_value(r, ty)?);
            match a.partial_cmp(&b) {
                Some(order) => order,
                None => return Some(op == CmpOp::Ne),
            }
        }
        _ if ty.signed() => value(l, ty).cmp(&value(r, ty)),
        _ => l.cmp(&r),
    };
    Some(match op {
        CmpOp::Eq => order.is_eq(),
        CmpOp::Ne => order.is_ne(),
        CmpOp::Lt => order.is_lt(),
        CmpOp::Le => order.is_le(),
        CmpOp::Gt => order.is_gt(),
        CmpOp::Ge => order.is_ge(),
    })
}

pub fn cast(bits: u128, from: Ty, to: Ty) -> Option<u128> {
    match (from, to) {
        (Ty::Float { .. }, Ty::Float { .. }) => float_bits(float_value(bits, from)?, to),
        (Ty::Float { .. }, _) => {
            // Beyond the target's range the result is undefined.
            let value = float_value(bits, from)?.trunc();
            let width = i32::from(to.bits());
            let (low, high) = match to.signed() {
                true => (-2f64.powi(width - 1), 2f64.powi(width - 1)),
                false => (0.0, 2f64.powi(width)),
            };
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
            let whole = match to.signed() {
                true => (value as i128).cast_unsigned(),
                false => value as u128,
            };
            (low <= value && value < high).then_some(whole)
        }
        // Rounded once: by way of double, a float could be rounded twice.
        #[allow(clippy::cast_precision_loss)]
        (_, Ty::Float { bits: 32 }) => {
            let number = match from.signed() {
                true => value(bits, from) as f32,
                false => bits as f32,
            };
            Some(u128::from(number.to_bits()))
        }
        #[allow(clippy::cast_precision_loss)]
        (_, Ty::Float { .. }) => {
            let number = match from.signed() {
                true => value(bits, from) as f64,
                false => bits as f64,
            };
            float_bits(number, to)
        }
        _ => Some(value(bits, from).cast_unsigned()),
    }
}
