//! `memcpy` and its kin with constant sizes.
//!
//! In: a call by name. Out: copies and stores, or `None` for an ordinary call.

use super::Args;
use crate::frontend::declare::Lower;
use crate::frontend::lower::Lowerer;
use crate::frontend::lower::value::Value;
use crate::frontend::types::Type;
use crate::ir::{ExprId, StmtKind, Ty};

impl Lowerer<'_> {
    /// `memcpy` and its kin with constant sizes.
    pub fn memory_builtin(&mut self, name: &str, args: Args) -> Lower<Option<Value>> {
        let plain = name.strip_prefix("__builtin_").unwrap_or(name);
        let [first, second, third, ..] = args else {
            return Ok(None);
        };
        let copies = matches!(
            plain,
            "memcpy"
                | "memmove"
                | "__memcpy"
                | "__memmove"
                | "__memcpy_chk"
                | "__memmove_chk"
                | "___memcpy_chk"
                | "___memmove_chk"
        );
        let sets = matches!(
            plain,
            "memset" | "__memset" | "__memset_chk" | "___memset_chk"
        );
        if !copies && !sets {
            return Ok(None);
        }
        let size = self.fold_constant(third)?;
        let Some(size) = size.and_then(|size| self.b.constant(size)) else {
            return Ok(None);
        };
        let Ok(size) = u64::try_from(size) else {
            return Ok(None);
        };
        let to = self.value(first)?;
        let with = self.value(second)?;
        let dst = self.pointer_argument(&to)?;
        let dst = self.b.stable(dst);
        if copies {
            let src = self.pointer_argument(&with)?;
            if size > 0 {
                self.b.stmt(StmtKind::Copy { dst, src, size });
            }
        } else {
            let byte = self.scalar(&with)?;
            if size > 0 {
                self.set(dst, size, byte);
            }
        }
        Ok(Some(Value::scalar_of(dst, Type::pointer(Type::void()))))
    }

    /// Every byte of an object becomes `byte`; what no one number can say becomes unknown.
    fn set(&mut self, dst: ExprId, size: u64, byte: ExprId) {
        match (self.b.constant(byte), size) {
            (Some(byte), _) if byte & 0xff == 0 => self.b.stmt(StmtKind::Zero { dst, size }),
            (Some(byte), 1 | 2 | 4 | 8) => {
                let pattern = u128::from_le_bytes([byte.to_le_bytes()[0]; 16]);
                let ty = Ty::Int {
                    bits: u16::try_from(8 * size).unwrap_or(64),
                    signed: false,
                };
                let value = self.b.bits(pattern, ty);
                self.b.store(dst, value);
            }
            _ => self.b.stmt(StmtKind::Havoc { dst, size }),
        }
    }
}
