//! The value of an expression.
//!
//! In: a state, a thread and an expression whose reads of memory are done ([`super::code`]). Out: a value; [`Stop::Failed`] for a division by zero.

use super::code::Slot;
use super::failure::Kind;
use super::machine::{Machine, Run, Stop};
use super::state::State;
use super::values::Value;
use crate::ir::{BinOp, CmpOp, ExprId, ExprKind, Ty, fold};

impl Machine<'_> {
    /// The value of an expression, whose reads of memory are in the frame's temporaries.
    pub fn evaluate(&mut self, state: &mut State, thread: usize, id: ExprId) -> Run<Value> {
        let body = self.body(state, thread);
        let expr = body.expr(id);
        let ty = expr.ty;
        let linked = state.frame(thread).map_or(0, |frame| frame.code);
        let linked = &self.program.code[linked];
        let value = match &expr.kind {
            ExprKind::Const(bits) => Some(Value::Bits(fold::truncate(*bits, ty))),
            ExprKind::Unknown | ExprKind::Opaque { .. } => None,
            ExprKind::AddrLocal(local) => match linked.code.slots[local.index()] {
                Slot::Memory(index) => {
                    let addr = state.frame(thread).map_or(0, |frame| frame.memory[index]);
                    Some(Value::Bits(u128::from(addr)))
                }
                Slot::Register(_) => None,
            },
            ExprKind::AddrString(id) => Some(Value::Bits(u128::from(linked.strings[id.index()]))),
            ExprKind::AddrSymbol(id) => {
                let addr = self.symbol(state, thread, linked.symbols[id.index()]);
                Some(Value::Bits(u128::from(addr)))
            }
            ExprKind::Load { addr, .. } => match linked.code.register_at(*addr) {
                Some(register) => self.register(state, thread, register, ty),
                None => {
                    let fetched = state.frame(thread).map(|frame| &frame.fetched);
                    let known = fetched.and_then(|all| all.iter().rev().find(|one| one.0 == id));
                    known.map(|one| one.1)
                }
            },
            ExprKind::IsConstant { .. } => Some(Value::ZERO),
            ExprKind::Unary { op, arg } => {
                let arg = self.evaluate(state, thread, *arg)?;
                self.values.unary(*op, arg, ty)
            }
            ExprKind::Binary { op, lhs, rhs } => {
                let l = self.evaluate(state, thread, *lhs)?;
                let r = self.evaluate(state, thread, *rhs)?;
                let right = body.expr(*rhs).ty;
                self.divisor(state, *op, ty, r)?;
                self.values.binary(*op, ty, l, right, r)
            }
            ExprKind::Compare { op, lhs, rhs } => {
                let of = body.expr(*lhs).ty;
                let l = self.evaluate(state, thread, *lhs)?;
                let r = self.evaluate(state, thread, *rhs)?;
                match op {
                    CmpOp::Eq | CmpOp::Ne
                        if self.program.open && self.cannot_be_equal(state, l, r) =>
                    {
                        Some(Value::Bits(u128::from(*op == CmpOp::Ne)))
                    }
                    _ => self.values.compare(*op, of, l, r),
                }
            }
            ExprKind::Cast { arg } => {
                let value = self.evaluate(state, thread, *arg)?;
                self.values.cast(value, body.expr(*arg).ty, ty)
            }
            ExprKind::Member { base, offset, .. } => {
                let base = self.evaluate(state, thread, *base)?;
                Some(self.values.displaced(base, Value::ZERO, 0, *offset))
            }
            ExprKind::Index { base, index, scale } => {
                let from = body.expr(*index).ty;
                let mut base = self.evaluate(state, thread, *base)?;
                let index = self.evaluate(state, thread, *index)?;
                if self.program.open && index.known().is_none() {
                    // Which of the two is the pointer could not be told from the sum.
                    base = self.followed(state, base)?;
                }
                let index = self.values.cast(index, from, Ty::SSIZE).unwrap_or(index);
                Some(self.values.displaced(base, index, *scale, 0))
            }
            ExprKind::Select { cond, then, els } => {
                let of = body.expr(*cond).ty;
                let cond = self.evaluate(state, thread, *cond)?;
                let then = self.evaluate(state, thread, *then)?;
                let els = self.evaluate(state, thread, *els)?;
                Some(self.values.select(cond, of, then, els, ty))
            }
        };
        Ok(match value {
            Some(value) => value,
            None => self.draw(state, thread, ty.bits()),
        })
    }

    fn register(
        &mut self,
        state: &mut State,
        thread: usize,
        register: usize,
        ty: Ty,
    ) -> Option<Value> {
        let known = state
            .frame(thread)
            .and_then(|frame| frame.registers[register]);
        let value = match known {
            Some(Value::Bits(bits)) => Value::Bits(fold::truncate(bits, ty)),
            Some(value) => value,
            None => {
                let value = self.draw(state, thread, ty.bits());
                if let Some(frame) = state.thread_mut(thread).frames.last_mut() {
                    frame.registers[register] = Some(value);
                }
                value
            }
        };
        Some(value)
    }

    /// Division by zero.
    fn divisor(&mut self, state: &mut State, op: BinOp, ty: Ty, r: Value) -> Run<()> {
        let divides = matches!(op, BinOp::Div | BinOp::Rem) && !matches!(ty, Ty::Float { .. });
        // What an open program divides by is taken to be right unless it is known.
        if divides && self.program.open && r.known().is_none() {
            return Ok(());
        }
        if divides && !self.truth(state, r, ty) {
            return Err(Stop::Failed(Kind::Arithmetic("a division by zero")));
        }
        Ok(())
    }
}
