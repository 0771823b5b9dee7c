//! Which types are compatible (C11 6.2.7).
//!
//! In: two [`Type`]s as written. Out: whether `__builtin_types_compatible_p` and `_Generic` take them for one.

use std::sync::Arc;

use super::Lowerer;
use super::names::LOOK_LIMIT;
use crate::frontend::declare::Lower;
use crate::frontend::scope::TagKind;
use crate::frontend::types::{Kind, Len, Type};

impl Lowerer<'_> {
    /// `__builtin_types_compatible_p`, qualifiers of the types themselves ignored.
    pub fn compatible(&mut self, a: &Type, b: &Type) -> Lower<bool> {
        // Two enumerations are two types even where one integer type holds both.
        if let (Some(a), Some(b)) = (self.enumeration(a)?, self.enumeration(b)?) {
            return Ok(match (&a, &b) {
                (Kind::Enum(a), Kind::Enum(b)) => Arc::ptr_eq(a, b),
                (Kind::Tag(_, a), Kind::Tag(_, b)) => a == b,
                _ => false,
            });
        }
        let (a, b) = (self.resolve(a)?, self.resolve(b)?);
        Ok(match (&a.kind, &b.kind) {
            (Kind::Void, Kind::Void) => true,
            (Kind::Int(a), Kind::Int(b)) => a == b,
            (Kind::Float(a), Kind::Float(b)) => a == b,
            (Kind::Pointer(a), Kind::Pointer(b)) => a.quals == b.quals && self.compatible(a, b)?,
            (Kind::Array(a, m), Kind::Array(b, n)) => {
                let same = match (m, n) {
                    (Len::Known(m), Len::Known(n)) => m == n,
                    _ => true,
                };
                same && self.compatible(a, b)?
            }
            (Kind::Function(a), Kind::Function(b)) => {
                let (a, b) = (Arc::clone(a), Arc::clone(b));
                if !self.compatible(&a.ret, &b.ret)? {
                    return Ok(false);
                }
                if !a.prototyped || !b.prototyped {
                    return Ok(true);
                }
                if a.params.len() != b.params.len() || a.variadic != b.variadic {
                    return Ok(false);
                }
                for (a, b) in a.params.iter().zip(&b.params) {
                    if !self.compatible(&a.ty, &b.ty)? {
                        return Ok(false);
                    }
                }
                true
            }
            (Kind::Tag(k, a), Kind::Tag(l, b)) => k == l && a == b,
            (Kind::Record(a), Kind::Record(b)) => {
                Arc::ptr_eq(a, b) || (a.tag.is_some() && a.tag == b.tag)
            }
            (Kind::LocalRecord(a), Kind::LocalRecord(b)) => a == b,
            (Kind::Complex(a), Kind::Complex(b)) => self.compatible(a, b)?,
            (Kind::Vector(a, _), Kind::Vector(b, _)) => {
                let (a, b) = (Arc::clone(a), Arc::clone(b));
                self.compatible(&a, &b)?
            }
            _ => false,
        })
    }

    /// The file-scope enumeration that a type is.
    fn enumeration(&mut self, ty: &Type) -> Lower<Option<Kind>> {
        let mut current = ty.clone();
        for _ in 0..LOOK_LIMIT {
            current = match &current.kind {
                Kind::Typedef(name) => match self.typedef_target(name)? {
                    Some(target) => target,
                    None => return Ok(None),
                },
                Kind::Enum(_) | Kind::Tag(TagKind::Enum, _) => return Ok(Some(current.kind)),
                _ => return Ok(None),
            };
        }
        Ok(None)
    }
}
