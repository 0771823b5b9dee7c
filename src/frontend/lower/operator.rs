//! Binary operators: promotions, the usual arithmetic conversions, pointer arithmetic, comparisons.
//!
//! In: two operands. Out: a value of the C type the operator gives, with every conversion explicit.

use std::sync::Arc;

use lang_c::ast::{self, BinaryOperator, Expression};
use lang_c::span::Node;

use super::Lowerer;
use super::size::Class;
use super::value::{Operand, Place, Repr, Value};
use crate::frontend::declare::{Lower, lost};
use crate::frontend::types::{IntKind, Kind, Type};
use crate::ir::{BinOp, CmpOp, ExprId, ExprKind, Ty, UnOp};

/// Distance between elements of an incomplete type.
const OPAQUE: u64 = 1 << 20;

fn comparison(operator: &BinaryOperator) -> Option<CmpOp> {
    Some(match operator {
        BinaryOperator::Less => CmpOp::Lt,
        BinaryOperator::Greater => CmpOp::Gt,
        BinaryOperator::LessOrEqual => CmpOp::Le,
        BinaryOperator::GreaterOrEqual => CmpOp::Ge,
        BinaryOperator::Equals => CmpOp::Eq,
        BinaryOperator::NotEquals => CmpOp::Ne,
        _ => return None,
    })
}

fn arithmetic(operator: &BinaryOperator) -> Option<BinOp> {
    Some(match operator {
        BinaryOperator::Multiply | BinaryOperator::AssignMultiply => BinOp::Mul,
        BinaryOperator::Divide | BinaryOperator::AssignDivide => BinOp::Div,
        BinaryOperator::Modulo | BinaryOperator::AssignModulo => BinOp::Rem,
        BinaryOperator::Plus | BinaryOperator::AssignPlus => BinOp::Add,
        BinaryOperator::Minus | BinaryOperator::AssignMinus => BinOp::Sub,
        BinaryOperator::ShiftLeft | BinaryOperator::AssignShiftLeft => BinOp::Shl,
        BinaryOperator::ShiftRight | BinaryOperator::AssignShiftRight => BinOp::Shr,
        BinaryOperator::BitwiseAnd | BinaryOperator::AssignBitwiseAnd => BinOp::And,
        BinaryOperator::BitwiseXor | BinaryOperator::AssignBitwiseXor => BinOp::Xor,
        BinaryOperator::BitwiseOr | BinaryOperator::AssignBitwiseOr => BinOp::Or,
        _ => return None,
    })
}

impl Lowerer<'_> {
    pub fn binary(
        &mut self,
        binary: &ast::BinaryOperatorExpression,
        expr: &Node<Expression>,
        used: bool,
    ) -> Lower<Operand> {
        let operator = &binary.operator.node;
        match operator {
            BinaryOperator::Index => return self.subscript(&binary.lhs, &binary.rhs),
            BinaryOperator::LogicalAnd | BinaryOperator::LogicalOr => {
                let and = *operator == BinaryOperator::LogicalAnd;
                return Ok(self.logical(and, &binary.lhs, &binary.rhs)?.into());
            }
            BinaryOperator::Assign => {
                return Ok(self
                    .assign(&binary.lhs, &binary.rhs, expr.span, used)?
                    .into());
            }
            _ => {}
        }
        if let Some(op) = comparison(operator) {
            let lhs = self.value(&binary.lhs)?;
            let rhs = self.value(&binary.rhs)?;
            return Ok(self.comparison(op, &lhs, &rhs)?.into());
        }
        let Some(op) = arithmetic(operator) else {
            return lost("unknown operator");
        };
        match operator {
            BinaryOperator::Multiply
            | BinaryOperator::Divide
            | BinaryOperator::Modulo
            | BinaryOperator::Plus
            | BinaryOperator::Minus
            | BinaryOperator::ShiftLeft
            | BinaryOperator::ShiftRight
            | BinaryOperator::BitwiseAnd
            | BinaryOperator::BitwiseXor
            | BinaryOperator::BitwiseOr => {
                let lhs = self.value(&binary.lhs)?;
                let rhs = self.value(&binary.rhs)?;
                Ok(self.arithmetic(op, &lhs, &rhs)?.into())
            }
            _ => Ok(self
                .assign_with(op, &binary.lhs, &binary.rhs, expr.span, used)?
                .into()),
        }
    }

    fn subscript(&mut self, lhs: &Node<Expression>, rhs: &Node<Expression>) -> Lower<Operand> {
        let base = self.operand(lhs)?;
        let mut holder = None;
        if let Operand::Place(place) = &base {
            holder = place.holder.clone();
            if let Kind::Vector(of, _) = self.resolve(&place.ty)?.kind {
                let addr = place.addr;
                let index = self.value(rhs)?;
                let pointer = Value::scalar_of(addr, Type::new(Kind::Pointer(of)));
                return Ok(self.element(&pointer, &index)?.into());
            }
        }
        let base = self.rvalue(base)?;
        let index = self.value(rhs)?;
        // Of two integers the first is a guess that turned out to be a pointer.
        let is_int = |kind: &Kind| matches!(kind, Kind::Int(_));
        let swapped =
            is_int(&self.resolve(&base.ty)?.kind) && !is_int(&self.resolve(&index.ty)?.kind);
        let (pointer, index) = if swapped {
            (index, base)
        } else {
            (base, index)
        };
        let mut place: Place = self.element(&pointer, &index)?;
        place.holder = holder;
        Ok(place.into())
    }

    /// Integer promotion and array decay have happened; narrow integers become `int`.
    pub fn promote(&mut self, value: &Value) -> Lower<Value> {
        match (self.resolve(&value.ty)?.kind, value.repr) {
            (Kind::Int(kind), Repr::Scalar(expr)) => {
                let promoted = kind.promoted();
                let expr = self.b.cast(expr, promoted.ty());
                Ok(Value::scalar_of(expr, Type::int(promoted)))
            }
            _ => Ok(value.clone()),
        }
    }

    /// The usual arithmetic conversions' type of two resolved types.
    pub fn common_type(&mut self, a: &Type, b: &Type) -> Lower<Type> {
        Ok(match (&a.kind, &b.kind) {
            (Kind::Int(a), Kind::Int(b)) => Type::int(a.common(*b)),
            (Kind::Float(a), Kind::Float(b)) => Type::new(Kind::Float(*a.max(b))),
            (Kind::Complex(_) | Kind::Vector(..), _) | (Kind::Float(_), Kind::Int(_)) => {
                a.clone().unqualified()
            }
            (_, Kind::Complex(_) | Kind::Vector(..)) | (Kind::Int(_), Kind::Float(_)) => {
                b.clone().unqualified()
            }
            _ => return lost(format!("arithmetic on {a} and {b}")),
        })
    }

    pub fn arithmetic(&mut self, op: BinOp, lhs: &Value, rhs: &Value) -> Lower<Value> {
        let (a, b) = (self.resolve(&lhs.ty)?, self.resolve(&rhs.ty)?);
        match (&a.kind, &b.kind) {
            (Kind::Pointer(_), Kind::Pointer(_)) if op == BinOp::Sub => {
                return self.pointer_difference(lhs, rhs);
            }
            (Kind::Pointer(_), Kind::Int(_)) if matches!(op, BinOp::Add | BinOp::Sub) => {
                let expr = self.offset_pointer(lhs, rhs, op == BinOp::Sub)?;
                return Ok(Value::scalar_of(expr, lhs.ty.clone()));
            }
            (Kind::Int(_), Kind::Pointer(_)) if op == BinOp::Add => {
                let expr = self.offset_pointer(rhs, lhs, false)?;
                return Ok(Value::scalar_of(expr, rhs.ty.clone()));
            }
            (Kind::Pointer(_), _) | (_, Kind::Pointer(_)) => {
                return lost("arithmetic on a pointer");
            }
            _ => {}
        }
        if matches!(op, BinOp::Shl | BinOp::Shr)
            && let (Kind::Int(_), Kind::Int(_)) = (&a.kind, &b.kind)
        {
            let (lhs, rhs) = (self.promote(lhs)?, self.promote(rhs)?);
            let (x, y) = (self.scalar(&lhs)?, self.scalar(&rhs)?);
            return Ok(Value::scalar_of(self.b.binary(op, x, y), lhs.ty));
        }
        let common = self.common_type(&a, &b)?;
        let float = matches!(common.kind, Kind::Float(_));
        let bitwise = !matches!(op, BinOp::Add | BinOp::Sub | BinOp::Mul | BinOp::Div);
        if !matches!(self.class(&common)?, Class::Scalar(_)) || (float && bitwise) {
            return self.unknown_value(&common);
        }
        let (x, y) = (self.convert(lhs, &common)?, self.convert(rhs, &common)?);
        Ok(Value::scalar_of(self.b.binary(op, x, y), common))
    }

    pub fn comparison(&mut self, op: CmpOp, lhs: &Value, rhs: &Value) -> Lower<Value> {
        let (a, b) = (self.resolve(&lhs.ty)?, self.resolve(&rhs.ty)?);
        let pointers = matches!(a.kind, Kind::Pointer(_)) || matches!(b.kind, Kind::Pointer(_));
        let common = if pointers {
            Type::pointer(Type::void())
        } else {
            self.common_type(&a, &b)?
        };
        match self.class(&common)? {
            Class::Scalar(_) => {
                let (x, y) = (self.convert(lhs, &common)?, self.convert(rhs, &common)?);
                Ok(self.compared(op, x, y))
            }
            // Complex numbers compare to an int, vectors element by element.
            _ => match common.kind {
                Kind::Vector(..) => self.unknown_value(&common),
                _ => self.unknown_value(&Type::int(IntKind::Int)),
            },
        }
    }

    /// `pointer ± index` in elements.
    pub fn offset_pointer(&mut self, pointer: &Value, index: &Value, minus: bool) -> Lower<ExprId> {
        let base = self.scalar(pointer)?;
        let (base, to) = match self.resolve(&pointer.ty)?.kind {
            Kind::Pointer(to) => (base, to),
            // A guess that turned out to be a pointer.
            _ => (self.b.cast(base, Ty::Ptr), Arc::new(Type::guessed())),
        };
        let kind = match self.resolve(&index.ty)?.kind {
            Kind::Int(kind) => kind,
            _ => IntKind::Long,
        };
        let mut index = self.scalar(index)?;
        if self.model.pointer == 4 {
            index = self.wide_index(index);
        }
        let wide = if kind.promoted().signed() || self.model.pointer == 4 {
            Ty::SSIZE
        } else {
            Ty::SIZE
        };
        let mut index = self.b.cast(index, wide);
        if minus {
            index = self.b.cast(index, Ty::SSIZE);
            index = self.b.unary(UnOp::Neg, index);
        }
        if self.is_variable(&to)? {
            let size = self.runtime_size(&to)?;
            let size = self.b.cast(size, self.b.ty(index));
            let bytes = self.b.binary(BinOp::Mul, index, size);
            return Ok(self.b.index(base, bytes, 1));
        }
        let size = self.size_of(&to).unwrap_or(OPAQUE);
        Ok(self.b.index(base, index, size))
    }

    /// An index where addresses have 32 bits: sums are taken in 64 as well as in 32, which no object can tell apart, so
    /// that neighbours are known as such.
    fn wide_index(&mut self, index: ExprId) -> ExprId {
        if let ExprKind::Binary {
            op: op @ (BinOp::Add | BinOp::Sub),
            lhs,
            rhs,
        } = *self.b.kind(index)
            && self.b.ty(index).bits() == 32
        {
            let (lhs, rhs) = (self.wide_index(lhs), self.wide_index(rhs));
            return self.b.binary(op, lhs, rhs);
        }
        let word = self.b.cast(index, Ty::INT);
        self.b.cast(word, Ty::SSIZE)
    }

    fn pointer_difference(&mut self, lhs: &Value, rhs: &Value) -> Lower<Value> {
        let Kind::Pointer(to) = self.resolve(&lhs.ty)?.kind else {
            return lost("difference of pointers");
        };
        let (x, y) = (self.scalar(lhs)?, self.scalar(rhs)?);
        let (x, y) = (self.b.cast(x, Ty::SSIZE), self.b.cast(y, Ty::SSIZE));
        let bytes = self.b.binary(BinOp::Sub, x, y);
        let size = match self.runtime_size(&to) {
            Ok(size) => size,
            Err(_) => self.b.bits(u128::from(OPAQUE), Ty::SIZE),
        };
        let size = self.b.cast(size, Ty::SSIZE);
        let count = if self.b.constant(size) == Some(0) {
            bytes
        } else {
            self.b.binary(BinOp::Div, bytes, size)
        };
        let kind = self.model.difference;
        let count = self.b.cast(count, kind.ty());
        Ok(Value::scalar_of(count, Type::int(kind)))
    }

    /// The value one, in a scalar's own type: what `++` adds.
    pub fn one(&mut self, ty: &Type) -> Lower<Value> {
        Ok(match self.resolve(ty)?.kind {
            Kind::Float(kind) => {
                let machine = kind.ty(&self.model);
                let expr = match crate::ir::fold::float_bits(1.0, machine) {
                    Some(bits) => self.b.bits(bits, machine),
                    None => self.b.unknown(machine),
                };
                Value::scalar_of(expr, Type::new(Kind::Float(kind)))
            }
            _ => {
                let expr = self.b.int(1, Ty::INT);
                Value::scalar_of(expr, Type::int(IntKind::Int))
            }
        })
    }

    /// Default argument promotions.
    pub fn promoted_argument(&mut self, value: &Value) -> Lower<Value> {
        match self.resolve(&value.ty)?.kind {
            Kind::Float(kind) if kind < crate::frontend::types::FloatKind::Double => {
                let double = Type::new(Kind::Float(crate::frontend::types::FloatKind::Double));
                self.converted(value, &double)
            }
            Kind::Int(kind) => self.converted(value, &Type::int(kind.promoted().declared())),
            _ => Ok(value.clone()),
        }
    }

    /// A pointer to what an array's elements are, for `Type`s that share their parts.
    pub fn element_type(&mut self, ty: &Type) -> Lower<Option<Arc<Type>>> {
        Ok(match self.resolve(ty)?.kind {
            Kind::Array(of, _) => Some(of),
            _ => None,
        })
    }
}
