//! Atomic built-ins, in their sequential meaning.
//!
//! In: `__sync_*`, `__atomic_*` and `__c11_atomic_*` calls. Out: loads and stores.

use super::Args;
use crate::frontend::declare::Lower;
use crate::frontend::lower::Lowerer;
use crate::frontend::lower::build::Way;
use crate::frontend::lower::size::Class;
use crate::frontend::lower::value::{Place, Repr, Value};
use crate::frontend::model::ATOMIC_BEGIN;
use crate::frontend::types::{IntKind, Kind, Type};
use crate::ir::{BinOp, CmpOp, UnOp};

/// The function that ends an atomic section.
const ATOMIC_END: &str = "__cassini_atomic_end";

impl Lowerer<'_> {
    fn operation(name: &str) -> Option<&'static str> {
        ["add", "sub", "and", "or", "xor", "nand"]
            .into_iter()
            .find(|op| *op == name)
    }

    /// Reads, combines and writes: the old or the new value.
    fn fetch_op(&mut self, op: &str, pointer: &Value, with: &Value, new: bool) -> Lower<Value> {
        let mut place = self.pointee(pointer)?;
        place.addr = self.b.stable(place.addr);
        let old = self.rvalue(place.clone().into())?;
        let expr = self.scalar(&old)?;
        let old = Value::scalar_of(self.b.spill(expr), old.ty);
        let resolved = self.resolve(&place.ty)?;
        // Pointers move by bytes.
        let arithmetic = match resolved.kind {
            Kind::Pointer(_) => Type::int(IntKind::Long),
            _ => resolved,
        };
        let left = self.converted(&old, &arithmetic)?;
        let right = self.converted(with, &arithmetic)?;
        let combined = match op {
            "add" => self.arithmetic(BinOp::Add, &left, &right)?,
            "sub" => self.arithmetic(BinOp::Sub, &left, &right)?,
            "and" => self.arithmetic(BinOp::And, &left, &right)?,
            "or" => self.arithmetic(BinOp::Or, &left, &right)?,
            "xor" => self.arithmetic(BinOp::Xor, &left, &right)?,
            _ => {
                let both = self.arithmetic(BinOp::And, &left, &right)?;
                let expr = self.scalar(&both)?;
                Value::scalar_of(self.b.unary(UnOp::Not, expr), both.ty)
            }
        };
        let stored = self.converted(&combined, &place.ty)?;
        self.write(&place, &stored)?;
        Ok(if new { stored } else { old })
    }

    /// Writes `desired` if the place holds `expected`: the flag and the old value.
    fn compare_exchange(
        &mut self,
        pointer: &Value,
        expected: &Value,
        desired: &Value,
    ) -> Lower<(Value, Value)> {
        let mut place = self.pointee(pointer)?;
        place.addr = self.b.stable(place.addr);
        let old = self.rvalue(place.clone().into())?;
        let expr = self.scalar(&old)?;
        let old = Value::scalar_of(self.b.spill(expr), old.ty);
        let expected = self.converted(expected, &place.ty)?;
        let flag = self.comparison(CmpOp::Eq, &old, &expected)?;
        let flag_expr = self.scalar(&flag)?;
        let flag_expr = self.b.spill(flag_expr);
        let (write, join) = (self.b.block(), self.b.block());
        self.b
            .branch(flag_expr, Way::holds(write), Way::fails(join));
        if self.b.reached(write) || self.b.truth(flag_expr).is_none() {
            self.b.switch_to(write);
            self.write(&place, desired)?;
            self.b.goto(join);
        }
        self.b.switch_to(join);
        let flag = Value::scalar_of(flag_expr, Type::int(IntKind::Int));
        Ok((flag, old))
    }

    /// The arguments. Before an atomic section they are evaluated, since what they read is no part of it.
    fn values(&mut self, args: Args) -> Lower<Vec<Value>> {
        let sections = self.model.atomic_sections;
        let values = args.iter().map(|arg| {
            let value = self.value(arg)?;
            Ok(if sections { self.held(value) } else { value })
        });
        values.collect()
    }

    fn exchange(&mut self, pointer: &Value, with: &Value) -> Lower<Value> {
        let place = self.pointee(pointer)?;
        self.exchange_at(place, with)
    }

    /// The one byte that `__atomic_test_and_set` and `__atomic_clear` change, whatever the pointer's type: an `atomic_flag` is a record.
    fn flag(&mut self, pointer: &Value) -> Lower<Place> {
        let mut place = self.pointee(pointer)?;
        place.ty = Type::int(IntKind::Bool);
        Ok(place)
    }

    fn exchange_at(&mut self, mut place: Place, with: &Value) -> Lower<Value> {
        place.addr = self.b.stable(place.addr);
        let old = self.rvalue(place.clone().into())?;
        let old = match old.repr {
            Repr::Scalar(expr) => Value::scalar_of(self.b.spill(expr), old.ty),
            _ => old,
        };
        self.write(&place, with)?;
        Ok(old)
    }

    /// Begins or ends an atomic section, where the model asks for them.
    pub fn atomic_section(&mut self, begins: bool) -> Lower<()> {
        if self.model.atomic_sections {
            let name = if begins { ATOMIC_BEGIN } else { ATOMIC_END };
            self.call_by_name(name, &[])?;
        }
        Ok(())
    }

    pub fn sync(&mut self, name: &str, args: Args) -> Lower<Option<Value>> {
        // Sized forms: `__sync_fetch_and_add_4`.
        let name = name
            .trim_end_matches(|c: char| c.is_ascii_digit())
            .trim_end_matches('_');
        if name == "synchronize" {
            return Ok(Some(Value::void()));
        }
        let values = self.values(args)?;
        self.atomic_section(true)?;
        let value = self.sync_of(name, &values)?;
        self.atomic_section(false)?;
        Ok(value)
    }

    fn sync_of(&mut self, name: &str, values: &[Value]) -> Lower<Option<Value>> {
        let fetch = name.strip_prefix("fetch_and_").and_then(Self::operation);
        let then = name.strip_suffix("_and_fetch").and_then(Self::operation);
        Ok(Some(match (name, values) {
            (_, [pointer, with, ..]) if fetch.or(then).is_some() => {
                let op = fetch.or(then).unwrap_or("add");
                self.fetch_op(op, pointer, with, then.is_some())?
            }
            ("bool_compare_and_swap", [pointer, expected, desired, ..]) => {
                self.compare_exchange(pointer, expected, desired)?.0
            }
            ("val_compare_and_swap", [pointer, expected, desired, ..]) => {
                self.compare_exchange(pointer, expected, desired)?.1
            }
            ("lock_test_and_set", [pointer, with, ..]) => self.exchange(pointer, with)?,
            ("lock_release", [pointer, ..]) => {
                let zero = self.int_value(0);
                let place = self.pointee(pointer)?;
                self.write(&place, &zero)?;
                Value::void()
            }
            _ => return Ok(None),
        }))
    }

    pub fn atomic(&mut self, name: &str, args: Args) -> Lower<Option<Value>> {
        if matches!(name, "thread_fence" | "signal_fence") {
            return Ok(Some(Value::void()));
        }
        if matches!(name, "is_lock_free" | "always_lock_free") {
            return Ok(Some(self.int_value(1)));
        }
        let values = self.values(args)?;
        self.atomic_section(true)?;
        let value = self.atomic_of(name, &values)?;
        self.atomic_section(false)?;
        Ok(value)
    }

    fn atomic_of(&mut self, name: &str, values: &[Value]) -> Lower<Option<Value>> {
        let fetch = name.strip_prefix("fetch_").and_then(Self::operation);
        let then = name.strip_suffix("_fetch").and_then(Self::operation);
        Ok(Some(match (name, values) {
            (_, [pointer, with, ..]) if fetch.or(then).is_some() => {
                let op = fetch.or(then).unwrap_or("add");
                self.fetch_op(op, pointer, with, then.is_some())?
            }
            ("load_n", [pointer, ..]) => {
                let place = self.pointee(pointer)?;
                let value = self.rvalue(place.into())?;
                self.held(value)
            }
            ("load", [pointer, result, _]) => {
                let place = self.pointee(pointer)?;
                let value = self.rvalue(place.into())?;
                let result = self.pointee(result)?;
                self.write(&result, &value)?;
                Value::void()
            }
            ("store_n", [pointer, value, ..]) => {
                let place = self.pointee(pointer)?;
                self.write(&place, value)?;
                Value::void()
            }
            ("store", [pointer, value, ..]) => {
                let value = self.pointee(value)?;
                let value = self.rvalue(value.into())?;
                let place = self.pointee(pointer)?;
                self.write(&place, &value)?;
                Value::void()
            }
            ("exchange_n", [pointer, with, ..]) => self.exchange(pointer, with)?,
            ("exchange", [pointer, with, result, ..]) => {
                let with = self.pointee(with)?;
                let with = self.rvalue(with.into())?;
                let old = self.exchange(pointer, &with)?;
                let result = self.pointee(result)?;
                self.write(&result, &old)?;
                Value::void()
            }
            ("compare_exchange_n" | "compare_exchange", [pointer, expected, desired, ..]) => {
                let seen = self.pointee(expected)?;
                let wanted = self.rvalue(seen.clone().into())?;
                let desired = if name == "compare_exchange" {
                    let place = self.pointee(desired)?;
                    self.rvalue(place.into())?
                } else {
                    desired.clone()
                };
                if !matches!(self.class(&seen.ty)?, Class::Scalar(_)) {
                    let place = self.pointee(pointer)?;
                    self.write(&place, &desired)?;
                    return Ok(Some(self.unknown_int()));
                }
                let (flag, old) = self.compare_exchange(pointer, &wanted, &desired)?;
                // Where it fails, the caller learns what it found.
                self.write(&seen, &old)?;
                flag
            }
            ("test_and_set", [pointer, ..]) => {
                let one = self.int_value(1);
                let flag = self.flag(pointer)?;
                let old = self.exchange_at(flag, &one)?;
                let flag = self.truth_of(&old);
                Value::scalar_of(flag, Type::int(IntKind::Int))
            }
            ("clear", [pointer, ..]) => {
                let zero = self.int_value(0);
                let flag = self.flag(pointer)?;
                self.write(&flag, &zero)?;
                Value::void()
            }
            _ => return Ok(None),
        }))
    }

    /// The value as it is now, whatever changes later.
    pub fn held(&mut self, value: Value) -> Value {
        match value.repr {
            Repr::Scalar(expr) => Value::scalar_of(self.b.spill(expr), value.ty),
            _ => value,
        }
    }
}
