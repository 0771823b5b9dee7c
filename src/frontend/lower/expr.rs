//! Expressions: what each form of C expression evaluates to.
//!
//! In: expression syntax. Out: [`Operand`]s, with calls, assignments and control flow emitted on the
//! way; conditions are in [`super::condition`].

use std::sync::Arc;

use lang_c::ast::{self, BinaryOperator, Expression, UnaryOperator};
use lang_c::span::Node;

use super::condition::Branched;
use super::names::Ordinary;
use super::size::Class;
use super::value::{Operand, Place, Repr, Value};
use super::{Binding, Lowerer, literal};
use crate::frontend::declare::{self, Lower, lost};
use crate::frontend::declared::Entity;
use crate::frontend::types::{IntKind, Kind, Len, Type};
use crate::ir::{ExprId, StmtKind, SymbolKind, SymbolName, Ty, UnOp};

impl Lowerer<'_> {
    /// Evaluates an expression to an lvalue or a value.
    pub fn operand(&mut self, expr: &Node<Expression>) -> Lower<Operand> {
        match &expr.node {
            Expression::Identifier(id) => self.identifier(&id.node.name),
            Expression::Constant(constant) => self.constant_value(&constant.node),
            Expression::StringLiteral(parts) => Ok(self.string_place(&parts.node).into()),
            Expression::GenericSelection(selection) => self.generic(&selection.node),
            Expression::Member(member) => self.member_access(&member.node),
            Expression::Call(call) => {
                if let Some(chosen) = self.chosen(&call.node) {
                    return self.operand(chosen);
                }
                self.at(expr.span);
                Ok(self.call(&call.node, expr, true)?.into())
            }
            Expression::CompoundLiteral(literal) => self.compound_literal(&literal.node),
            Expression::SizeOfTy(of) => {
                let ty = declare::type_name(self, &of.node.0.node)?;
                self.size_value(&ty)
            }
            Expression::SizeOfVal(of) => {
                let ty = self.type_of_expression(&of.node.0)?;
                self.size_value(&ty)
            }
            Expression::AlignOf(of) => {
                let ty = declare::type_name(self, &of.node.0.node)?;
                let align = self.align_of(&ty)?;
                Ok(self.size_constant(align))
            }
            Expression::UnaryOperator(unary) => self.unary(&unary.node, true),
            Expression::Cast(cast) => self.cast(&cast.node),
            Expression::BinaryOperator(binary) => self.binary(&binary.node, expr, true),
            Expression::Conditional(conditional) => Ok(self.conditional(&conditional.node)?.into()),
            Expression::Comma(list) => match list.split_last() {
                Some((last, rest)) => {
                    for expr in rest {
                        self.effect(expr)?;
                    }
                    Ok(self.value(last)?.into())
                }
                None => lost("empty comma expression"),
            },
            Expression::OffsetOf(offset) => self.offset_of(&offset.node),
            Expression::VaArg(arg) => {
                self.effect(&arg.node.va_list)?;
                let ty = declare::type_name(self, &arg.node.type_name.node)?;
                self.b.takes_pointers |= self.leads_to_no_text(&ty)?;
                Ok(self.unknown_value(&ty)?.into())
            }
            Expression::Statement(statement) => {
                Ok(self.statement_expression(&statement.node, true)?.into())
            }
        }
    }

    /// Whether values of a type are pointers, and not to characters.
    fn leads_to_no_text(&mut self, ty: &Type) -> Lower<bool> {
        let Kind::Pointer(to) = self.resolve(ty)?.kind else {
            return Ok(false);
        };
        let to = self.resolve(&to)?.kind;
        Ok(!matches!(
            to,
            Kind::Int(IntKind::Char | IntKind::SChar | IntKind::UChar)
        ))
    }

    /// Evaluates an expression to an rvalue.
    pub fn value(&mut self, expr: &Node<Expression>) -> Lower<Value> {
        let operand = self.operand(expr)?;
        self.rvalue(operand)
    }

    /// An expression that is cast to `void`. Who does that with a variable says that nothing is to be done with what it holds.
    fn discard(&mut self, expr: &Node<Expression>) -> Lower<()> {
        let Expression::Identifier(_) = expr.node else {
            return self.effect(expr);
        };
        let operand = self.operand(expr)?;
        if let Operand::Place(place) = &operand
            && self.b.is_variable(place.addr)
            && matches!(self.class(&place.ty)?, Class::Scalar(_))
            && let Repr::Scalar(value) = self.rvalue(operand)?.repr
        {
            let in_memory = false;
            self.b.stmt(StmtKind::Expose { value, in_memory });
        }
        Ok(())
    }

    /// Evaluates an expression for its effects alone.
    pub fn effect(&mut self, expr: &Node<Expression>) -> Lower<()> {
        match &expr.node {
            Expression::UnaryOperator(unary) => {
                self.unary(&unary.node, false)?;
            }
            Expression::BinaryOperator(binary) => match binary.node.operator.node {
                BinaryOperator::LogicalAnd | BinaryOperator::LogicalOr => {
                    let join = self.b.block();
                    if let Branched::Split(_) = self.branch_on(expr, join, join)? {
                        self.b.switch_to(join);
                    }
                }
                _ => {
                    self.binary(&binary.node, expr, false)?;
                }
            },
            Expression::Call(call) => {
                if let Some(chosen) = self.chosen(&call.node) {
                    return self.effect(chosen);
                }
                self.at(expr.span);
                self.call(&call.node, expr, false)?;
            }
            Expression::Comma(list) => {
                for expr in list.iter() {
                    self.effect(expr)?;
                }
            }
            Expression::Conditional(conditional) => self.conditional_effect(&conditional.node)?,
            Expression::Cast(cast) => {
                let ty = declare::type_name(self, &cast.node.type_name.node)?;
                if matches!(self.class(&ty)?, Class::Void) {
                    self.discard(&cast.node.expression)?;
                } else {
                    self.value(&cast.node.expression)?;
                }
            }
            Expression::Statement(statement) => {
                self.statement_expression(&statement.node, false)?;
            }
            _ => {
                self.operand(expr)?;
            }
        }
        Ok(())
    }

    // ---- primary expressions ----

    fn identifier(&mut self, name: &str) -> Lower<Operand> {
        if let Some(binding) = self.local_binding(name) {
            return Ok(match binding.clone() {
                Binding::Local { id, ty } => {
                    let place = Place::new(self.b.addr_local(id), ty);
                    self.aligned_local(place, name).into()
                }
                Binding::Symbol { id, ty } => {
                    let place = Place::new(self.b.addr_symbol(id), ty);
                    self.aligned_local(place, name).into()
                }
                Binding::Enumerator(value, kind) => {
                    self.b.tell_constant(name, value);
                    let expr = self.b.int(value, kind.ty());
                    Value::scalar_of(expr, Type::int(kind)).into()
                }
                Binding::Constant(value) => value.into(),
                Binding::Typedef(_) => return lost(format!("type name {name} used as a value")),
            });
        }
        let enumerated = self.enumerating.iter().rev().find_map(|t| t.get(name));
        if let Some(value) = enumerated.copied() {
            let long = self.model.long();
            let kinds = [
                IntKind::Int,
                IntKind::UInt,
                long,
                long.unsigned(),
                IntKind::LongLong,
                IntKind::ULongLong,
            ];
            let kind = kinds.into_iter().find(|kind| kind.holds(value));
            let kind = kind.unwrap_or(IntKind::Int128);
            let expr = self.b.int(value, kind.ty());
            return Ok(Value::scalar_of(expr, Type::int(kind)).into());
        }
        match name {
            "__func__" | "__FUNCTION__" | "__PRETTY_FUNCTION__" => {
                let spelling = format!("\"{}\"", self.function);
                return Ok(self.string_place(&[spelling]).into());
            }
            "__cassini_nondet" => {
                let expr = self.b.unknown(Ty::INT);
                return Ok(Value::scalar_of(expr, Type::int(IntKind::Int)).into());
            }
            _ => {}
        }
        match self.ordinary(name)? {
            Some(Ordinary::Enumerator(value, kind)) => {
                self.b.tell_constant(name, value);
                let expr = self.b.int(value, kind.ty());
                Ok(Value::scalar_of(expr, Type::int(kind)).into())
            }
            Some(Ordinary::Entity(entity)) => {
                if let Some(initializer) = &entity.constant
                    && let ast::Initializer::Expression(expr) = &initializer.node
                    && let Class::Scalar(_) = self.class(&entity.ty)?
                {
                    let value = self.at_file_scope(|this| this.value(expr))?;
                    return Ok(self.converted(&value, &entity.ty)?.into());
                }
                Ok(self.entity_place(name, &entity)?.into())
            }
            None => self.undeclared(name),
        }
    }

    /// A name that nothing declares: of a header that was not found.
    fn undeclared(&mut self, name: &str) -> Lower<Operand> {
        Ok(match name {
            // What headers that are not found say of results: those of other systems', most of all.
            "INVALID_SOCKET" | "SOCKET_ERROR" | "INVALID_HANDLE_VALUE" | "EOF" => {
                let expr = self.b.int(-1, IntKind::Long.ty());
                Value::scalar_of(expr, Type::guessed()).into()
            }
            "true" | "false" => {
                let expr = self.b.int(i128::from(name == "true"), IntKind::Bool.ty());
                Value::scalar_of(expr, Type::int(IntKind::Bool)).into()
            }
            "NULL" => {
                let expr = self.b.int(0, Ty::Ptr);
                Value::scalar_of(expr, Type::pointer(Type::void())).into()
            }
            // An unknown number.
            _ => {
                let ty = Type::guessed();
                let kind = SymbolKind::Object {
                    size: self.size_of(&ty)?,
                    thread_local: false,
                };
                let symbol = self.b.symbol(external(name), kind);
                let addr = self.b.addr_symbol(symbol);
                Place::new(addr, ty).into()
            }
        })
    }

    /// The place of a file-scope function or object.
    pub fn entity_place(&mut self, name: &str, entity: &Entity) -> Lower<Place> {
        let symbol_name = SymbolName {
            name: name.to_owned(),
            file: entity.file.clone(),
        };
        let initializer = entity.open_length.clone();
        let initializer = initializer.as_deref().map(|node| &node.node);
        let ty = self.at_file_scope(|this| this.completed(&entity.ty, initializer))?;
        let kind = if matches!(self.resolve(&ty)?.kind, Kind::Function(_)) {
            SymbolKind::Function {
                noreturn: entity.noreturn
                    || super::call::never_returns(name)
                    || self.scope.noreturn(name),
                declared: true,
            }
        } else {
            SymbolKind::Object {
                size: self.size_of(&ty).unwrap_or(0),
                thread_local: entity.thread_local,
            }
        };
        let symbol = self.b.symbol(symbol_name, kind);
        let addr = self.b.addr_symbol(symbol);
        let mut place = Place::new(addr, ty);
        if !entity.aligns.is_empty() {
            place.align =
                self.at_file_scope(|this| this.given_alignment(&place.ty, &entity.aligns))?;
        }
        Ok(place)
    }

    fn constant_value(&mut self, constant: &ast::Constant) -> Lower<Operand> {
        let (expr, ty) = match constant {
            ast::Constant::Integer(integer) => {
                let (value, kind) = literal::integer(integer, &self.model)?;
                if integer.suffix.imaginary {
                    let ty = Type::new(Kind::Complex(Arc::new(Type::int(kind))));
                    return Ok(self.unknown_value(&ty)?.into());
                }
                (self.b.bits(value, kind.ty()), Type::int(kind))
            }
            ast::Constant::Character(raw) => {
                let (value, kind) = literal::character(raw, &self.model);
                (self.b.int(value, kind.ty()), Type::int(kind))
            }
            ast::Constant::Float(float) => {
                let (value, kind) = literal::float(float);
                let ty = Type::new(Kind::Float(kind));
                if float.suffix.imaginary {
                    let ty = Type::new(Kind::Complex(Arc::new(ty)));
                    return Ok(self.unknown_value(&ty)?.into());
                }
                let machine = kind.ty(&self.model);
                let bits = value.and_then(|value| crate::ir::fold::float_bits(value, machine));
                let expr = match bits {
                    Some(bits) => self.b.bits(bits, machine),
                    None => self.b.unknown(machine),
                };
                (expr, ty)
            }
        };
        Ok(Value::scalar_of(expr, ty).into())
    }

    /// A string literal as an array object.
    pub fn string_place(&mut self, parts: &[String]) -> Place {
        let (bytes, kind) = literal::string(parts, &self.model);
        let len = bytes.len() as u64 / u64::from(kind.bits() / 8);
        let string = self.b.string(bytes);
        let addr = self.b.addr_string(string);
        Place::new(addr, Type::array(Type::int(kind), Len::Known(len)))
    }

    /// A value of which nothing is known.
    pub fn unknown_value(&mut self, ty: &Type) -> Lower<Value> {
        match self.class(ty)? {
            Class::Void => Ok(Value::void()),
            Class::Scalar(scalar) => {
                let expr = self.b.unknown(scalar);
                Ok(Value::scalar_of(expr, ty.clone().unqualified()))
            }
            Class::Memory(size) => {
                let name = self.spelling(ty);
                let temporary = self.b.temporary_memory(size, name);
                let addr = self.b.addr_local(temporary);
                self.b.stmt(StmtKind::Havoc { dst: addr, size });
                Ok(Value {
                    ty: ty.clone().unqualified(),
                    repr: Repr::Memory(addr),
                })
            }
            Class::Array | Class::Function => {
                let expr = self.b.unknown(Ty::Ptr);
                Ok(Value::scalar_of(expr, ty.clone().adjusted()))
            }
        }
    }

    fn generic(&mut self, selection: &ast::GenericSelection) -> Lower<Operand> {
        let control = self.type_of_value(&selection.expression)?;
        let mut default = None;
        for association in &selection.associations {
            match &association.node {
                ast::GenericAssociation::Default(expr) => default = Some(expr),
                ast::GenericAssociation::Type(candidate) => {
                    let ty = declare::type_name(self, &candidate.node.type_name.node)?;
                    let quals = self.resolve(&ty)?.quals;
                    if quals == Default::default() && self.compatible(&control, &ty)? {
                        return self.operand(&candidate.node.expression);
                    }
                }
            }
        }
        match default {
            Some(expr) => self.operand(expr),
            None => lost("_Generic without a matching association"),
        }
    }

    /// The type of an expression's value: after lvalue conversion and decay.
    pub fn type_of_value(&mut self, expr: &Node<Expression>) -> Lower<Type> {
        let (ty, _) = self.dry(|this| this.value(expr).map(|value| value.ty));
        Ok(declared(ty?))
    }

    fn compound_literal(&mut self, literal: &ast::CompoundLiteral) -> Lower<Operand> {
        let ty = declare::type_name(self, &literal.type_name.node)?;
        let ty = self.completed_by_list(&ty, &literal.initializer_list)?;
        let addr = if self.static_storage {
            self.static_literal(&ty)?
        } else {
            let local = self.new_local("", &ty)?;
            self.b.addr_local(local)
        };
        self.initialize_list(addr, &ty, &literal.initializer_list)?;
        Ok(Place::new(addr, ty).into())
    }

    /// A compound literal outside of any function is an object of the file.
    fn static_literal(&mut self, ty: &Type) -> Lower<ExprId> {
        self.static_literals += 1;
        let name = format!("{}.literal.{}", self.function, self.static_literals);
        let kind = SymbolKind::Object {
            size: self.size_of(ty).unwrap_or(0),
            thread_local: false,
        };
        let file = self.declaration.places.files.first().cloned();
        let symbol = self.b.symbol(SymbolName { name, file }, kind);
        Ok(self.b.addr_symbol(symbol))
    }

    // ---- sizes ----

    fn size_constant(&mut self, size: u64) -> Operand {
        let expr = self.b.bits(u128::from(size), Ty::SIZE);
        self.as_size(expr).into()
    }

    /// A number of bytes as a `size_t`.
    pub(super) fn as_size(&mut self, expr: ExprId) -> Value {
        let kind = self.model.size;
        Value::scalar_of(self.b.cast(expr, kind.ty()), Type::int(kind))
    }

    fn size_value(&mut self, ty: &Type) -> Lower<Operand> {
        if self.is_variable(ty)? {
            let expr = self.runtime_size(ty)?;
            return Ok(self.as_size(expr).into());
        }
        match self.size_of(ty) {
            Ok(size) => Ok(self.size_constant(size)),
            Err(_) => Ok(self.unknown_value(&Type::int(self.model.size))?.into()),
        }
    }

    /// Whether a type's size is known only at run time.
    pub fn is_variable(&mut self, ty: &Type) -> Lower<bool> {
        let ty = self.resolve(ty)?;
        match &ty.kind {
            Kind::Array(_, Len::Variable(_)) => Ok(true),
            Kind::Array(of, _) => self.is_variable(of),
            _ => Ok(false),
        }
    }

    /// A type's size in bytes, in 64 bits.
    pub fn runtime_size(&mut self, ty: &Type) -> Lower<ExprId> {
        let ty = self.resolve(ty)?;
        if let Kind::Array(of, len) = &ty.kind
            && self.is_variable(&ty)?
        {
            let element = self.runtime_size(of)?;
            let count = match len {
                Len::Variable(local) => self.b.load_local(*local, Ty::SIZE),
                Len::Known(len) => self.b.bits(u128::from(*len), Ty::SIZE),
                _ => return lost("size of an incomplete array"),
            };
            return Ok(self.b.binary(crate::ir::BinOp::Mul, count, element));
        }
        let size = self.size_of(&ty)?;
        Ok(self.b.bits(u128::from(size), Ty::SIZE))
    }

    /// Evaluates a variable array length into a local of its own.
    pub fn variable_length(&mut self, expr: &Node<Expression>) -> Lower<Len> {
        let value = self.value(expr)?;
        let value = self.convert(&value, &Type::int(IntKind::ULong))?;
        let local = self.b.temporary(Ty::SIZE);
        let addr = self.b.addr_local(local);
        self.b.store(addr, value);
        Ok(Len::Variable(local))
    }

    // ---- unary operators ----

    fn unary(&mut self, unary: &ast::UnaryOperatorExpression, used: bool) -> Lower<Operand> {
        let operand = &unary.operand;
        match unary.operator.node {
            UnaryOperator::PostIncrement => self.step(operand, true, true, used),
            UnaryOperator::PostDecrement => self.step(operand, false, true, used),
            UnaryOperator::PreIncrement => self.step(operand, true, false, used),
            UnaryOperator::PreDecrement => self.step(operand, false, false, used),
            UnaryOperator::Address => self.address_of(operand),
            UnaryOperator::Indirection => {
                let inner = self.operand(operand)?;
                let holder = match &inner {
                    Operand::Place(place) => self.holder(place),
                    Operand::Value(_) => None,
                };
                let pointer = self.rvalue(inner)?;
                let mut place = self.dereference(&pointer)?;
                if matches!(self.class(&place.ty)?, Class::Function) {
                    place.holder = holder;
                }
                Ok(place.into())
            }
            UnaryOperator::Negate => {
                let value = self.value(operand)?;
                let expr = match value.repr {
                    Repr::Scalar(expr) => self.b.is_false(expr),
                    _ => self.b.unknown(Ty::INT),
                };
                Ok(Value::scalar_of(expr, Type::int(IntKind::Int)).into())
            }
            UnaryOperator::Plus | UnaryOperator::Minus | UnaryOperator::Complement => {
                let value = self.value(operand)?;
                let value = self.promote(&value)?;
                let Repr::Scalar(expr) = value.repr else {
                    return Ok(self.unknown_value(&value.ty)?.into());
                };
                let expr = match unary.operator.node {
                    UnaryOperator::Minus => self.b.unary(UnOp::Neg, expr),
                    UnaryOperator::Complement if !matches!(self.b.ty(expr), Ty::Float { .. }) => {
                        self.b.unary(UnOp::Not, expr)
                    }
                    _ => expr,
                };
                Ok(Value::scalar_of(expr, value.ty).into())
            }
        }
    }

    fn cast(&mut self, cast: &ast::CastExpression) -> Lower<Operand> {
        let ty = declare::type_name(self, &cast.type_name.node)?;
        if matches!(self.class(&ty)?, Class::Void) {
            self.effect(&cast.expression)?;
            return Ok(Value::void().into());
        }
        let value = self.value(&cast.expression)?;
        if matches!(value.repr, Repr::Scalar(_)) || Self::is_record(&self.resolve(&ty)?) {
            return Ok(self.converted(&value, &ty)?.into());
        }
        match self.class(&ty)? {
            Class::Memory(_) if matches!(value.repr, Repr::Memory(_)) => {
                Ok(self.converted(&value, &ty)?.into())
            }
            _ => Ok(self.unknown_value(&ty)?.into()),
        }
    }
}

/// A name with external linkage.
pub fn external(name: &str) -> SymbolName {
    SymbolName {
        name: name.to_owned(),
        file: None,
    }
}

/// A bit-field's value has its declared type where no arithmetic is done.
pub fn declared(ty: Type) -> Type {
    match ty.kind {
        Kind::Int(kind) => Type {
            kind: Kind::Int(kind.declared()),
            ..ty
        },
        _ => ty,
    }
}
