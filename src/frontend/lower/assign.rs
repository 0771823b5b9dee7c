//! Assignments: `=`, `op=`, `++`, `--`.
//!
//! In: the two sides. Out: stores, and the value of the assignment where it is used.

use lang_c::ast::Expression;
use lang_c::span::{Node, Span};

use super::Lowerer;
use super::size::Class;
use super::value::{Operand, Place, Repr, Value};
use crate::frontend::declare::{Lower, lost};
use crate::ir::BinOp;

impl Lowerer<'_> {
    fn place(&mut self, expr: &Node<Expression>) -> Lower<Place> {
        match self.operand(expr)? {
            Operand::Place(place) => Ok(place),
            Operand::Value(value) => match value.repr {
                Repr::Memory(addr) => Ok(Place::new(addr, value.ty)),
                _ => lost("assignment to a value"),
            },
        }
    }

    pub fn assign(
        &mut self,
        lhs: &Node<Expression>,
        rhs: &Node<Expression>,
        span: Span,
        used: bool,
    ) -> Lower<Value> {
        let value = self.value(rhs)?;
        let mut place = self.place(lhs)?;
        self.at(span);
        if !used {
            self.write(&place, &value)?;
            return Ok(Value::void());
        }
        self.hold(&mut place);
        self.write_used(&place, &value)
    }

    /// Writes, and gives what a read of the place would: kept in a temporary, since what the value
    /// was computed from may just have been overwritten.
    fn write_used(&mut self, place: &Place, value: &Value) -> Lower<Value> {
        if !matches!(self.class(&place.ty)?, Class::Scalar(_)) {
            self.write(place, value)?;
            return self.written(place, value);
        }
        let expr = self.convert(value, &place.ty)?;
        let direct = place.bits.is_none() && self.b.is_object(place.addr);
        let quals = self.resolve(&place.ty)?.quals;
        let ty = place.ty.clone().unqualified();
        if direct && !quals.volatile && !quals.atomic && self.b.constant(expr).is_none() {
            self.b.store(place.addr, expr);
            return self.rvalue(place.clone().into());
        }
        let held = Value::scalar_of(self.b.spill(expr), ty);
        self.write(place, &held)?;
        self.written(place, &held)
    }

    /// Makes a place's address safe to be used twice.
    fn hold(&mut self, place: &mut Place) {
        place.addr = self.b.stable(place.addr);
    }

    pub fn assign_with(
        &mut self,
        op: BinOp,
        lhs: &Node<Expression>,
        rhs: &Node<Expression>,
        span: Span,
        used: bool,
    ) -> Lower<Value> {
        let value = self.value(rhs)?;
        let mut place = self.place(lhs)?;
        self.at(span);
        self.hold(&mut place);
        let atomic = self.resolve(&place.ty)?.quals.atomic;
        let value = if atomic { self.held(value) } else { value };
        if atomic {
            self.atomic_section(true)?;
        }
        let old = self.rvalue(place.clone().into())?;
        let new = self.arithmetic(op, &old, &value)?;
        let result = match used {
            true => self.write_used(&place, &new)?,
            false => {
                self.write(&place, &new)?;
                Value::void()
            }
        };
        if atomic {
            self.atomic_section(false)?;
        }
        Ok(result)
    }

    /// `++` and `--`.
    pub fn step(
        &mut self,
        operand: &Node<Expression>,
        up: bool,
        post: bool,
        used: bool,
    ) -> Lower<Operand> {
        let mut place = self.place(operand)?;
        self.at(operand.span);
        self.hold(&mut place);
        let atomic = self.resolve(&place.ty)?.quals.atomic;
        if atomic {
            self.atomic_section(true)?;
        }
        let mut old = self.rvalue(place.clone().into())?;
        if post
            && used
            && let Repr::Scalar(expr) = old.repr
        {
            old.repr = Repr::Scalar(self.b.spill(expr));
        }
        let one = self.one(&place.ty)?;
        let op = if up { BinOp::Add } else { BinOp::Sub };
        let new = self.arithmetic(op, &old, &one)?;
        let result = match used && !post {
            true => self.write_used(&place, &new)?,
            false => {
                self.write(&place, &new)?;
                old
            }
        };
        if atomic {
            self.atomic_section(false)?;
        }
        Ok(result.into())
    }
}
