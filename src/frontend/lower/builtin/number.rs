//! Built-ins that compute: checked arithmetic, bits counted, floating constants and comparisons.
//!
//! In: a built-in's name without its prefix. Out: its value, or `None` for an ordinary call.

use lang_c::ast::Expression;

use super::{Args, result_type};
use crate::frontend::declare::{Lower, lost};
use crate::frontend::lower::Lowerer;
use crate::frontend::lower::value::Value;
use crate::frontend::types::{FloatKind, IntKind, Kind, Type};
use crate::ir::{BinOp, CmpOp, ExprId, Ty, fold};

impl Lowerer<'_> {
    /// `__builtin_{add,sub,mul}_overflow` and their typed forms.
    pub fn overflow(&mut self, name: &str, args: Args) -> Lower<Option<Value>> {
        let Some(stem) = name
            .strip_suffix("_overflow")
            .or_else(|| name.strip_suffix("_overflow_p"))
        else {
            return Ok(None);
        };
        let op = if stem.contains("add") {
            BinOp::Add
        } else if stem.contains("sub") {
            BinOp::Sub
        } else if stem.contains("mul") {
            BinOp::Mul
        } else {
            return Ok(None);
        };
        let [a, b, result] = args else {
            return Ok(None);
        };
        let (a, b) = (self.value(a)?, self.value(b)?);
        let result = self.value(result)?;
        let place = if name.ends_with("_p") {
            None
        } else {
            Some(self.dereference(&result)?)
        };
        let target = match &place {
            Some(place) => place.ty.clone(),
            None => result.ty.clone(),
        };
        let kinds = (
            self.resolve(&a.ty)?.kind,
            self.resolve(&b.ty)?.kind,
            self.resolve(&target)?.kind,
        );
        let (Kind::Int(x), Kind::Int(y), Kind::Int(to)) = kinds else {
            return lost("overflow built-in on what is no integer");
        };
        let unsigned = !x.signed() && !y.signed() && op == BinOp::Mul;
        let wide = if unsigned {
            IntKind::UInt128
        } else {
            IntKind::Int128
        };
        let narrow = [x, y, to].iter().all(|kind| kind.bits() <= 64);
        let wide = Type::int(wide);
        let (l, r) = (self.convert(&a, &wide)?, self.convert(&b, &wide)?);
        let exact = self.b.binary(op, l, r);
        let exact = self.b.spill(exact);
        let stored = self.b.cast(exact, to.ty());
        let flag = if narrow {
            let again = self.b.cast(stored, self.b.ty(exact));
            self.b.compare(CmpOp::Ne, again, exact)
        } else {
            let unknown = self.b.unknown(Ty::INT);
            self.b.spill(unknown)
        };
        if let Some(place) = place {
            let value = Value::scalar_of(stored, Type::int(to));
            self.write(&place, &value)?;
        }
        Ok(Some(Value::scalar_of(flag, Type::int(IntKind::Int))))
    }

    /// Bit counting and byte swapping of constants.
    pub fn bit_count(&mut self, name: &str, args: Args) -> Lower<Option<Value>> {
        let stem = name.trim_end_matches('l');
        let counted = matches!(
            stem,
            "ffs" | "clz" | "ctz" | "popcount" | "parity" | "clrsb"
        );
        let swapped = matches!(name, "bswap16" | "bswap32" | "bswap64");
        let [arg] = args else {
            return Ok(None);
        };
        if !counted && !swapped {
            return Ok(None);
        }
        let bits: u16 = match name {
            "bswap16" => 16,
            "bswap32" => 32,
            "bswap64" => 64,
            _ if name.len() > stem.len() => 64,
            _ => 32,
        };
        let Some(expr) = self.fold_constant(arg)? else {
            return Ok(None);
        };
        let Some(value) = self.b.constant(expr) else {
            return Ok(None);
        };
        let ty = Ty::Int {
            bits,
            signed: false,
        };
        let value = crate::ir::fold::truncate(value.cast_unsigned(), ty);
        let width = u32::from(bits);
        let unused = 128 - width;
        let result = match stem {
            "ffs" if value == 0 => 0,
            "ffs" => u128::from(value.trailing_zeros() + 1),
            // Undefined for zero.
            "clz" | "ctz" if value == 0 => return Ok(None),
            "clz" => u128::from(value.leading_zeros() - unused),
            "ctz" => u128::from(value.trailing_zeros()),
            "popcount" => u128::from(value.count_ones()),
            "parity" => u128::from(value.count_ones() % 2),
            "clrsb" => return Ok(None),
            _ => {
                let swapped = value.swap_bytes() >> unused;
                let ty = result_type(&format!("__builtin_{name}"), &self.model);
                let expr = self.b.bits(
                    swapped,
                    Ty::Int {
                        bits,
                        signed: false,
                    },
                );
                return Ok(Some(Value::scalar_of(expr, ty)));
            }
        };
        Ok(Some(self.int_value(result.cast_signed())))
    }

    /// `__builtin_inf` and the comparisons that a NaN does not upset.
    pub fn float_builtin(&mut self, name: &str, args: Args) -> Lower<Option<Value>> {
        let suffixed = |stem: &str| match name.strip_prefix(stem) {
            Some("") => Some(FloatKind::Double),
            Some("f") => Some(FloatKind::Float),
            _ => None,
        };
        let constant = if let Some(kind) = suffixed("inf").or_else(|| suffixed("huge_val")) {
            Some((f64::INFINITY, kind))
        } else if let Some(kind) = suffixed("nan") {
            let plain = matches!(args, [arg] if is_empty_string(&arg.node));
            plain.then_some((f64::NAN, kind))
        } else {
            None
        };
        if let Some((value, kind)) = constant {
            let machine = kind.ty(&self.model);
            let Some(bits) = fold::float_bits(value, machine) else {
                return Ok(None);
            };
            let expr = self.b.bits(bits, machine);
            return Ok(Some(Value::scalar_of(expr, Type::new(Kind::Float(kind)))));
        }
        let ordered: &[CmpOp] = match name {
            "isgreater" => &[CmpOp::Gt],
            "isgreaterequal" => &[CmpOp::Ge],
            "isless" => &[CmpOp::Lt],
            "islessequal" => &[CmpOp::Le],
            "islessgreater" => &[CmpOp::Lt, CmpOp::Gt],
            "isunordered" | "isnan" | "isnanf" | "isinf" | "isinff" | "isfinite" | "finite" => &[],
            _ => return Ok(None),
        };
        let mut values = Vec::new();
        for arg in args {
            let value = self.value(arg)?;
            let Kind::Float(_) = self.resolve(&value.ty)?.kind else {
                let double = Type::new(Kind::Float(FloatKind::Double));
                values.push(self.converted(&value, &double)?);
                continue;
            };
            values.push(value);
        }
        let mut flags = Vec::new();
        match values.as_slice() {
            [a, b] if name.starts_with("is") => {
                let common = self.common_type(&a.ty, &b.ty)?;
                let (x, y) = (self.convert(a, &common)?, self.convert(b, &common)?);
                let (x, y) = (self.b.stable(x), self.b.stable(y));
                flags.extend(ordered.iter().map(|op| self.b.compare(*op, x, y)));
                if ordered.is_empty() {
                    flags.push(self.b.compare(CmpOp::Ne, x, x));
                    flags.push(self.b.compare(CmpOp::Ne, y, y));
                }
            }
            [a] => {
                let x = self.scalar(a)?;
                let x = self.b.stable(x);
                if !matches!(name, "isinf" | "isinff") {
                    flags.push(self.b.compare(CmpOp::Ne, x, x));
                }
                if !matches!(name, "isnan" | "isnanf") {
                    for infinity in [f64::INFINITY, f64::NEG_INFINITY] {
                        let ty = self.b.ty(x);
                        let infinity = match fold::float_bits(infinity, ty) {
                            Some(bits) => self.b.bits(bits, ty),
                            None => self.b.unknown(ty),
                        };
                        flags.push(self.b.compare(CmpOp::Eq, x, infinity));
                    }
                }
            }
            _ => return Ok(None),
        }
        let any = self.any(&flags);
        let any = match name {
            "isfinite" | "finite" => self.b.is_false(any),
            _ => any,
        };
        Ok(Some(Value::scalar_of(any, Type::int(IntKind::Int))))
    }

    /// Whether one of the flags is set.
    fn any(&mut self, flags: &[ExprId]) -> ExprId {
        let mut any = self.b.int(0, Ty::INT);
        for flag in flags {
            any = self.b.binary(BinOp::Or, *flag, any);
        }
        any
    }
}

fn is_empty_string(expr: &Expression) -> bool {
    matches!(expr, Expression::StringLiteral(parts) if parts.node.iter().all(|part| part == "\"\""))
}
