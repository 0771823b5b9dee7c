//! Calls: who is called, with what, and where the result goes.
//!
//! In: call syntax, or a function's name and values. Out: one [`StmtKind::Call`], and no way on behind
//! a function that does not return.

use std::sync::Arc;

use lang_c::ast::{self, Expression};
use lang_c::span::Node;

use super::size::Class;
use super::value::{Operand, Place, Repr, Value};
use super::{Lowerer, text};
use crate::frontend::declare::{Lower, lost};
use crate::frontend::types::{IntKind, Kind, Signature, Type};
use crate::ir::{Arg, Call, Callee, ExprId, RetTy, StmtKind, SymbolKind, TermKind};

/// Columns of a call's text.
const TEXT_LIMIT: usize = 60;

/// Functions known by name never to return.
pub fn never_returns(name: &str) -> bool {
    matches!(
        name,
        "exit"
            | "abort"
            | "_exit"
            | "_Exit"
            | "quick_exit"
            | "panic"
            | "longjmp"
            | "siglongjmp"
            | "_longjmp"
            | "__assert_fail"
            | "__builtin_unreachable"
            | "__builtin_trap"
            | "__builtin_abort"
            | "__builtin_exit"
            | "__builtin_longjmp"
            | "__stack_chk_fail"
    )
}

impl Lowerer<'_> {
    pub fn call(
        &mut self,
        call: &ast::CallExpression,
        expr: &Node<Expression>,
        used: bool,
    ) -> Lower<Value> {
        if let Some(name) = self.plain_callee(call)
            && let Some(value) = self.builtin(name, call, used)?
        {
            return Ok(value);
        }
        let (callee, signature) = self.callee(&call.callee)?;
        let mut values = Vec::with_capacity(call.arguments.len());
        for argument in &call.arguments {
            values.push(self.value(argument)?);
        }
        // As in a compiler the length of a text is a constant.
        if let (Some("strlen"), [argument]) = (self.plain_callee(call), values.as_slice())
            && let Repr::Scalar(text) = argument.repr
            && let Some(length) = self.string_length_of(text)
        {
            return Ok(self.size_of_value(length));
        }
        self.at(expr.span);
        let text = text::call(call, TEXT_LIMIT);
        self.emit_call(callee, &signature, &values, used, text)
    }

    /// The name called, unless it is a variable of the function.
    pub fn plain_callee<'e>(&self, call: &'e ast::CallExpression) -> Option<&'e str> {
        match &call.callee.node {
            Expression::Identifier(id) if self.local_binding(&id.node.name).is_none() => {
                Some(&id.node.name)
            }
            _ => None,
        }
    }

    /// Calls a function by its name, as `cleanup` does.
    pub fn call_by_name(&mut self, name: &str, values: &[Value]) -> Lower<Value> {
        let (callee, signature) = self.named_callee(name)?;
        let shown = match values.first().map(|value| value.repr) {
            Some(Repr::Scalar(addr)) => match self.rooted_local(addr) {
                Some(local) => match self.b.locals.get(local.index()) {
                    Some(local) => format!("{name}(&{})", local.name),
                    None => format!("{name}(...)"),
                },
                None => format!("{name}(...)"),
            },
            _ => format!("{name}()"),
        };
        self.emit_call(callee, &signature, values, false, shown)
    }

    pub fn named_callee(&mut self, name: &str) -> Lower<(Callee, Arc<Signature>)> {
        match self.at_file_scope(|this| this.ordinary(name))? {
            Some(super::names::Ordinary::Entity(entity)) => {
                let place = self.entity_place(name, &entity)?;
                self.callee_of(place.into())
            }
            _ => Ok(self.implicit(name)),
        }
    }

    /// A function that is not declared: external, and what it returns is guessed.
    fn implicit(&mut self, name: &str) -> (Callee, Arc<Signature>) {
        let kind = SymbolKind::Function {
            noreturn: never_returns(name),
            // Names with two underscores are the compiler's own.
            declared: name.starts_with("__"),
        };
        let symbol = self.b.symbol(super::expr::external(name), kind);
        let signature = Signature {
            ret: super::builtin::result_type(name, &self.model),
            params: Vec::new(),
            variadic: true,
            prototyped: false,
            noreturn: false,
        };
        (Callee::Direct(symbol), Arc::new(signature))
    }

    fn callee(&mut self, expr: &Node<Expression>) -> Lower<(Callee, Arc<Signature>)> {
        if let Expression::Identifier(id) = &expr.node {
            let name = &id.node.name;
            if self.local_binding(name).is_none() && self.ordinary(name)?.is_none() {
                return Ok(self.implicit(name));
            }
        }
        let operand = self.operand(expr)?;
        self.callee_of(operand)
    }

    fn callee_of(&mut self, operand: Operand) -> Lower<(Callee, Arc<Signature>)> {
        let holder = match &operand {
            Operand::Place(place) => self.holder(place),
            Operand::Value(_) => None,
        };
        let value = self.rvalue(operand)?;
        let function = self.scalar(&value)?;
        let signature = match self.signature(&value.ty)? {
            Some(signature) => signature,
            // A guess that turned out to be a function.
            None => Arc::new(Signature {
                ret: Type::guessed(),
                params: Vec::new(),
                variadic: true,
                prototyped: false,
                noreturn: false,
            }),
        };
        let callee = match self.function_at(function) {
            Some((id, _)) => Callee::Direct(id),
            None => Callee::Indirect { function, holder },
        };
        Ok((callee, signature))
    }

    /// Converts arguments to the parameters' types; those beyond them are promoted.
    fn arguments(&mut self, signature: &Signature, values: &[Value]) -> Lower<Vec<Arg>> {
        let mut args = Vec::with_capacity(values.len());
        for (i, value) in values.iter().enumerate() {
            let value = match signature.params.get(i) {
                Some(param) => {
                    // A typedef may hide an array or a function.
                    let ty = self.resolve(&param.ty)?.adjusted();
                    self.converted(value, &ty)?
                }
                None => self.promoted_argument(value)?,
            };
            args.push(match value.repr {
                Repr::Scalar(expr) => Arg::Scalar(expr),
                Repr::Memory(addr) => {
                    let size = self.size_of(&value.ty)?;
                    Arg::Record { addr, size }
                }
                Repr::Void => return lost("void argument"),
            });
        }
        Ok(args)
    }

    pub fn emit_call(
        &mut self,
        callee: Callee,
        signature: &Signature,
        values: &[Value],
        used: bool,
        text: String,
    ) -> Lower<Value> {
        let args = self.arguments(signature, values)?;
        let result = signature.ret.clone().unqualified();
        let class = self.class(&result)?;
        let (ret, dst) = match class {
            Class::Scalar(ty) => {
                let dst = used.then(|| self.b.temporary(ty));
                (RetTy::Scalar(ty), dst)
            }
            Class::Memory(size) => {
                let name = self.spelling(&result);
                let dst = used.then(|| self.b.temporary_memory(size, name));
                (RetTy::Record { size }, dst)
            }
            _ => (RetTy::Void, None),
        };
        let ends = match callee {
            Callee::Direct(id) => matches!(
                self.b.symbols.get(id.index()).map(|symbol| &symbol.kind),
                Some(SymbolKind::Function { noreturn: true, .. })
            ),
            Callee::Indirect { .. } => signature.noreturn,
        };
        self.b.stmt(StmtKind::Call(Box::new(Call {
            callee,
            args,
            ret,
            dst,
            text,
        })));
        if ends && self.dry_runs == 0 {
            self.b.terminate(TermKind::Unreachable);
        }
        let Some(dst) = dst else {
            return Ok(Value {
                ty: result,
                repr: Repr::Void,
            });
        };
        Ok(match class {
            Class::Scalar(ty) => {
                let expr = self.b.load_local(dst, ty);
                self.tell_pointer(dst, &result)?;
                Value::scalar_of(expr, result)
            }
            _ => {
                let addr = self.b.addr_local(dst);
                Value {
                    ty: result,
                    repr: Repr::Memory(addr),
                }
            }
        })
    }

    /// Gives a temporary the name of its type.
    fn tell_pointer(&mut self, local: crate::ir::LocalId, ty: &Type) -> Lower<()> {
        let name = self.type_name(ty)?;
        if let Some(local) = self.b.locals.get_mut(local.index()) {
            local.type_name = name;
        }
        Ok(())
    }

    /// A value as a pointer to bytes.
    pub fn pointer_argument(&mut self, value: &Value) -> Lower<ExprId> {
        self.convert(value, &Type::pointer(Type::void()))
    }

    /// The place that a pointer value leads to; `char` where it is a `void *`.
    pub fn pointee(&mut self, value: &Value) -> Lower<Place> {
        let mut place = self.dereference(value)?;
        if matches!(self.class(&place.ty)?, Class::Void) {
            place.ty = Type::int(IntKind::Char);
        }
        let quals = self.resolve(&place.ty)?.quals;
        if quals.volatile {
            // Atomic built-ins take volatile pointers; their accesses are what they say.
            let mut ty = self.resolve(&place.ty)?;
            if !matches!(ty.kind, Kind::Array(..)) {
                ty.quals.volatile = false;
            }
            place.ty = ty;
        }
        Ok(place)
    }
}
