//! Compiler built-ins: those with a meaning of their own instead of a call.
//!
//! In: a call by name. Out: its value, or `None` for an ordinary call.

mod atomic;
mod library;
mod memory;
mod number;

use lang_c::ast::{self, Expression};
use lang_c::span::Node;

use self::library::LIBRARY;
pub use self::library::result_type;
use super::Lowerer;
use super::value::{Operand, Repr, Value};
use crate::frontend::declare::{Lower, lost};
use crate::frontend::model::VaList;
use crate::frontend::types::{IntKind, Kind, Type};
use crate::ir::{ExprId, ExprKind, StmtKind, TermKind, Ty};

type Args<'a> = &'a [Node<Expression>];

impl Lowerer<'_> {
    fn int_value(&mut self, value: i128) -> Value {
        let expr = self.b.int(value, Ty::INT);
        Value::scalar_of(expr, Type::int(IntKind::Int))
    }

    pub fn size_of_value(&mut self, value: u128) -> Value {
        let kind = self.model.size;
        let expr = self.b.bits(value, kind.ty());
        Value::scalar_of(expr, Type::int(kind))
    }

    /// The argument whose truth `__builtin_expect` has.
    pub fn expected<'e>(&self, call: &'e ast::CallExpression) -> Option<&'e Node<Expression>> {
        match self.plain_callee(call)? {
            "__builtin_expect" | "__builtin_expect_with_probability" => call.arguments.first(),
            _ => None,
        }
    }

    /// The expression that stands for a whole call: `__builtin_choose_expr`.
    pub fn chosen<'e>(&mut self, call: &'e ast::CallExpression) -> Option<&'e Node<Expression>> {
        if self.plain_callee(call)? != "__builtin_choose_expr" {
            return None;
        }
        let [cond, then, els] = call.arguments.as_slice() else {
            return None;
        };
        let cond = self.fold_constant(cond).ok().flatten();
        match cond.and_then(|cond| self.b.truth(cond)) {
            Some(true) => Some(then),
            _ => Some(els),
        }
    }

    /// A built-in's value; `None` if the name is to be called.
    pub fn builtin(
        &mut self,
        name: &str,
        call: &ast::CallExpression,
        used: bool,
    ) -> Lower<Option<Value>> {
        let args: Args = &call.arguments;
        if let Some(value) = self.memory_builtin(name, args)? {
            return Ok(Some(value));
        }
        if let Some(rest) = name.strip_prefix("__cassini_") {
            return self.encoded(rest, args);
        }
        if let Some(rest) = name.strip_prefix("__sync_") {
            return self.sync(rest, args);
        }
        if let Some(rest) = name
            .strip_prefix("__atomic_")
            .or_else(|| name.strip_prefix("__c11_atomic_"))
        {
            return self.atomic(rest, args);
        }
        let Some(rest) = name.strip_prefix("__builtin_") else {
            return Ok(None);
        };
        if let Some(value) = self.overflow(rest, args)? {
            return Ok(Some(value));
        }
        if let Some(value) = self.bit_count(rest, args)? {
            return Ok(Some(value));
        }
        if let Some(value) = self.float_builtin(rest, args)? {
            return Ok(Some(value));
        }
        Ok(Some(match (rest, args) {
            ("expect" | "expect_with_probability", [value, ..]) => {
                let value = self.value(value)?;
                self.converted(&value, &Type::int(self.model.long()))?
            }
            ("constant_p", [value]) => {
                let known = match self.fold_constant(value)? {
                    Some(expr) => self.b.is_constant(expr),
                    None => self.b.int(0, Ty::INT),
                };
                Value::scalar_of(known, Type::int(IntKind::Int))
            }
            ("unreachable" | "trap" | "abort", _) => {
                if self.dry_runs == 0 {
                    self.b.terminate(TermKind::Unreachable);
                }
                Value::void()
            }
            ("assume", [cond]) => {
                let cond = self.value(cond)?;
                let cond = self.truth_of(&cond);
                self.b.stmt(StmtKind::Assume(cond));
                Value::void()
            }
            ("object_size" | "dynamic_object_size", [_, kind]) => {
                let kind = self.integer_constant(kind).unwrap_or(0);
                let most = if kind & 2 == 0 { u128::MAX } else { 0 };
                self.size_of_value(most)
            }
            (
                "assume_aligned" | "launder" | "speculation_safe_value" | "unpredictable",
                [p, ..],
            ) => self.value(p)?,
            ("prefetch" | "clear_padding" | "cpu_init" | "__clear_cache" | "ia32_pause", args) => {
                for arg in args {
                    self.effect(arg)?;
                }
                Value::void()
            }
            ("classify_type" | "is_constant_evaluated" | "LINE", _) => self.int_value(0),
            ("FUNCTION", []) => {
                let spelling = format!("\"{}\"", self.function);
                let place = self.string_place(&[spelling]);
                self.rvalue(place.into())?
            }
            ("va_start" | "c23_va_start", [list, ..]) => {
                if let Some((dst, size)) = self.argument_list(list)? {
                    self.b.stmt(StmtKind::Havoc { dst, size });
                }
                Value::void()
            }
            ("va_copy", [to, from]) => {
                let (to, from) = (self.argument_list(to)?, self.argument_list(from)?);
                if let (Some((dst, size)), Some((src, _))) = (to, from) {
                    self.b.stmt(StmtKind::Copy { dst, src, size });
                }
                Value::void()
            }
            ("va_end", [list]) => {
                self.effect(list)?;
                Value::void()
            }
            ("strlen", [string]) => {
                let value = self.value(string)?;
                let known = match value.repr {
                    Repr::Scalar(expr) => self.string_length_of(expr),
                    _ => None,
                };
                match known {
                    Some(len) => self.size_of_value(len),
                    None => self.call_values("strlen", &[value], call, used)?,
                }
            }
            ("shuffle" | "shufflevector", [first, ..]) => {
                let value = self.value(first)?;
                self.unknown_value(&value.ty)?
            }
            ("complex", [real, ..]) => {
                let value = self.value(real)?;
                let ty = Type::new(Kind::Complex(std::sync::Arc::new(value.ty)));
                self.unknown_value(&ty)?
            }
            ("alloca" | "alloca_with_align" | "alloca_with_align_and_max", [size, ..]) => {
                let size = self.value(size)?;
                let size = self.converted(&size, &Type::int(self.model.size))?;
                self.call_values("__builtin_alloca", &[size], call, used)?
            }
            (library, args) if LIBRARY.contains(&library) => {
                let mut values = Vec::new();
                for arg in args {
                    values.push(self.value(arg)?);
                }
                self.call_values(library, &values, call, used)?
            }
            _ => return Ok(None),
        }))
    }

    /// Where a `va_list` lies, and its size.
    fn argument_list(&mut self, list: &Node<Expression>) -> Lower<Option<(ExprId, u64)>> {
        let size = match self.model.va_list {
            // An array, or the pointer to it that a parameter is.
            VaList::Array(size) => {
                let list = self.value(list)?;
                return Ok(Some((self.pointer_argument(&list)?, size.into())));
            }
            VaList::Record(size) => size,
            VaList::Pointer => self.model.pointer,
        };
        Ok(match self.operand(list)? {
            Operand::Place(place) => Some((place.addr, size.into())),
            Operand::Value(_) => None,
        })
    }

    /// An ordinary call to a function by another name, shown as written.
    fn call_values(
        &mut self,
        name: &str,
        values: &[Value],
        call: &ast::CallExpression,
        used: bool,
    ) -> Lower<Value> {
        let (callee, signature) = self.named_callee(name)?;
        let text = crate::frontend::lower::text::call(call, 60);
        self.emit_call(callee, &signature, values, used, text)
    }

    /// The length of a string literal at an address.
    pub fn string_length_of(&self, addr: crate::ir::ExprId) -> Option<u128> {
        let ExprKind::AddrString(id) = self.b.kind(addr) else {
            return None;
        };
        let bytes = self.b.strings.get(id.index())?;
        bytes
            .iter()
            .position(|byte| *byte == 0)
            .map(|len| len as u128)
    }

    /// The names that the normaliser puts in place of what the tree has no place for.
    fn encoded(&mut self, name: &str, args: Args) -> Lower<Option<Value>> {
        Ok(Some(match (name, args) {
            ("types_compatible", [a, b]) => {
                let (a, b) = (self.measured_type(a)?, self.measured_type(b)?);
                let same = self.compatible(&a, &b)?;
                self.int_value(i128::from(same))
            }
            ("alignof", [of]) => {
                let align = self.alignment(of)?;
                self.size_of_value(align.into())
            }
            ("least_alignof", [measured]) => {
                let ty = self.measured_type(measured)?;
                let align = self.member_align(&ty)?;
                self.size_of_value(align.into())
            }
            ("goto", [target]) => {
                self.effect(target)?;
                self.computed_goto();
                Value::void()
            }
            ("label", [label]) => {
                if let Expression::StringLiteral(parts) = &label.node {
                    let (mut bytes, _) =
                        crate::frontend::lower::literal::string(&parts.node, &self.model);
                    bytes.pop();
                    self.take_label(&String::from_utf8_lossy(&bytes));
                }
                let expr = self.b.unknown(Ty::Ptr);
                Value::scalar_of(expr, Type::pointer(Type::void()))
            }
            ("convertvector", [value, measured]) => {
                self.effect(value)?;
                let ty = self.measured_type(measured)?;
                self.unknown_value(&ty)?
            }
            ("real" | "imag", [value]) => {
                let value = self.value(value)?;
                let ty = match self.resolve(&value.ty)?.kind {
                    Kind::Complex(of) => of.as_ref().clone(),
                    _ => value.ty,
                };
                self.unknown_value(&ty)?
            }
            _ => return Ok(None),
        }))
    }

    /// The type inside a `sizeof` that only carries it.
    fn measured_type(&mut self, expr: &Node<Expression>) -> Lower<Type> {
        match &expr.node {
            Expression::SizeOfTy(of) => crate::frontend::declare::type_name(self, &of.node.0.node),
            Expression::SizeOfVal(of) => self.type_of_expression(&of.node.0),
            _ => lost("types_compatible without types"),
        }
    }
}
