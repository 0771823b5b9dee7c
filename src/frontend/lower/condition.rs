//! Conditions: `?:`, `&&`, `||`, `!` as branches and as values.
//!
//! In: expression syntax. Out: branches to two blocks, or a value: a `Select` where both sides are pure,
//! else a temporary that the arms store to. A constant condition emits nothing.

use lang_c::ast::{self, BinaryOperator, Expression, UnaryOperator};
use lang_c::span::Node;

use super::Lowerer;
use super::build::Way;
use super::size::Class;
use super::value::{Repr, Value};
use crate::frontend::declare::Lower;
use crate::frontend::types::{IntKind, Kind, Type};
use crate::ir::{BlockId, CmpOp, ExprId, Ty};

/// How a branch came out.
#[derive(Clone, Copy, Debug)]
pub enum Branched {
    /// The condition is constant; the current block goes on, nothing was emitted.
    Always(bool),
    /// Control went to the two targets; the block that ends in the one branch, if it was just one.
    Split(Option<BlockId>),
}

impl Lowerer<'_> {
    /// Branches on an expression: to `then` if it is not zero, else to `els`.
    pub fn branch_on(
        &mut self,
        expr: &Node<Expression>,
        then: BlockId,
        els: BlockId,
    ) -> Lower<Branched> {
        self.branch_on_part(expr, Way::holds(then), Way::fails(els))
    }

    /// Branches on a part of a condition.
    fn branch_on_part(&mut self, expr: &Node<Expression>, then: Way, els: Way) -> Lower<Branched> {
        match &expr.node {
            Expression::UnaryOperator(unary)
                if unary.node.operator.node == UnaryOperator::Negate =>
            {
                return Ok(match self.branch_on_part(&unary.node.operand, els, then)? {
                    Branched::Always(truth) => Branched::Always(!truth),
                    split => split,
                });
            }
            Expression::BinaryOperator(binary) => {
                let and = match binary.node.operator.node {
                    BinaryOperator::LogicalAnd => Some(true),
                    BinaryOperator::LogicalOr => Some(false),
                    _ => None,
                };
                if let Some(and) = and {
                    let middle = self.b.block();
                    let open = Way::open(middle);
                    let (yes, no) = if and { (open, els) } else { (then, open) };
                    return match self.branch_on_part(&binary.node.lhs, yes, no)? {
                        Branched::Always(truth) if truth != and => Ok(Branched::Always(truth)),
                        Branched::Always(_) => self.branch_on_part(&binary.node.rhs, then, els),
                        Branched::Split(_) => {
                            self.b.switch_to(middle);
                            self.branch_to_part(&binary.node.rhs, then, els)?;
                            Ok(Branched::Split(None))
                        }
                    };
                }
            }
            Expression::Comma(list) => {
                if let Some((last, rest)) = list.split_last() {
                    for expr in rest {
                        self.effect(expr)?;
                    }
                    return self.branch_on_part(last, then, els);
                }
            }
            Expression::Call(call) => {
                if let Some(arg) = self.expected(&call.node) {
                    return self.branch_on_part(arg, then, els);
                }
                if let Some(chosen) = self.chosen(&call.node) {
                    return self.branch_on_part(chosen, then, els);
                }
            }
            Expression::Conditional(node) if !is_elvis(&node.node.then_expression) => {
                let node = &node.node;
                let (a, b) = (self.b.block(), self.b.block());
                return match self.branch_on_part(&node.condition, Way::open(a), Way::open(b))? {
                    Branched::Always(true) => self.branch_on_part(&node.then_expression, then, els),
                    Branched::Always(false) => {
                        self.branch_on_part(&node.else_expression, then, els)
                    }
                    Branched::Split(_) => {
                        self.b.switch_to(a);
                        self.branch_to_part(&node.then_expression, then, els)?;
                        self.b.switch_to(b);
                        self.branch_to_part(&node.else_expression, then, els)?;
                        Ok(Branched::Split(None))
                    }
                };
            }
            Expression::Identifier(id) if id.node.name == "__cassini_nondet" => {
                self.any_of(then.to, els.to);
                return Ok(Branched::Split(None));
            }
            _ => {}
        }
        let value = self.value(expr)?;
        let cond = match value.repr {
            Repr::Scalar(cond) => cond,
            _ => self.b.unknown(Ty::INT),
        };
        self.at(expr.span);
        Ok(match self.b.truth(cond) {
            Some(truth) => Branched::Always(truth),
            None => Branched::Split(self.b.branch(cond, then, els)),
        })
    }

    /// Like [`Lowerer::branch_on`], with a jump where the condition is constant.
    pub fn branch_to(&mut self, expr: &Node<Expression>, then: BlockId, els: BlockId) -> Lower<()> {
        self.branch_to_part(expr, Way::holds(then), Way::fails(els))
    }

    fn branch_to_part(&mut self, expr: &Node<Expression>, then: Way, els: Way) -> Lower<()> {
        if let Branched::Always(truth) = self.branch_on_part(expr, then, els)? {
            self.b.goto(if truth { then.to } else { els.to });
        }
        Ok(())
    }

    /// `a && b` and `a || b` as a value.
    pub fn logical(
        &mut self,
        and: bool,
        lhs: &Node<Expression>,
        rhs: &Node<Expression>,
    ) -> Lower<Value> {
        let int = Type::int(IntKind::Int);
        let left = self.value(lhs)?;
        let left = self.truth_of(&left);
        if let Some(truth) = self.b.truth(left) {
            if truth != and {
                let expr = self.b.int(i128::from(truth), Ty::INT);
                return Ok(Value::scalar_of(expr, int));
            }
            let right = self.value(rhs)?;
            return Ok(Value::scalar_of(self.truth_of(&right), int));
        }
        let from = self.b.current();
        let second = self.b.block();
        if !self.b.dead() {
            self.b.enter(second);
        }
        self.b.switch_to(second);
        let right = self.value(rhs)?;
        let right = self.truth_of(&right);
        let short = self.b.int(i128::from(!and), Ty::INT);
        let quiet = self.b.current() == second && self.b.blocks[second.index()].stmts.is_empty();
        if quiet && self.b.is_pure(right) {
            self.b.switch_to(from);
            let (then, els) = if and { (right, short) } else { (short, right) };
            return Ok(Value::scalar_of(self.b.select(left, then, els), int));
        }
        let result = self.b.temporary(Ty::INT);
        let addr = self.b.addr_local(result);
        let (skip, join) = (self.b.block(), self.b.block());
        self.b.store(addr, right);
        self.b.goto(join);
        let (then, els) = match and {
            true => (Way::open(second), Way::fails(skip)),
            false => (Way::holds(skip), Way::open(second)),
        };
        self.b.switch_to(from);
        self.b.branch(left, then, els);
        self.b.switch_to(skip);
        self.b.store(addr, short);
        self.b.goto(join);
        self.b.switch_to(join);
        Ok(Value::scalar_of(self.b.load(addr, Ty::INT, false), int))
    }

    /// Whether a value is not zero, as 0 or 1.
    pub fn truth_of(&mut self, value: &Value) -> ExprId {
        match value.repr {
            Repr::Scalar(expr) => self.b.is_true(expr),
            _ => self.b.unknown(Ty::INT),
        }
    }

    pub fn conditional_effect(&mut self, node: &ast::ConditionalExpression) -> Lower<()> {
        if is_elvis(&node.then_expression) {
            self.conditional(node)?;
            return Ok(());
        }
        let (then, els, join) = (self.b.block(), self.b.block(), self.b.block());
        match self.branch_on(&node.condition, then, els)? {
            Branched::Always(true) => return self.effect(&node.then_expression),
            Branched::Always(false) => return self.effect(&node.else_expression),
            Branched::Split(_) => {}
        }
        for (block, arm) in [(then, &node.then_expression), (els, &node.else_expression)] {
            self.b.switch_to(block);
            self.effect(arm)?;
            self.b.goto(join);
        }
        self.b.switch_to(join);
        Ok(())
    }

    pub fn conditional(&mut self, node: &ast::ConditionalExpression) -> Lower<Value> {
        if is_elvis(&node.then_expression) {
            return self.elvis(node);
        }
        let (then, els) = (self.b.block(), self.b.block());
        let split = match self.branch_on(&node.condition, then, els)? {
            Branched::Always(truth) => {
                let (taken, other) = if truth {
                    (&node.then_expression, &node.else_expression)
                } else {
                    (&node.else_expression, &node.then_expression)
                };
                let value = self.value(taken)?;
                let (other, _) = self.dry(|this| this.value(other));
                // An arm that is not taken and has no meaning here does not matter.
                let Ok(other) = other else { return Ok(value) };
                let ty = self.conditional_type(&value, &other)?;
                return self.converted(&value, &ty);
            }
            Branched::Split(block) => block,
        };
        self.b.switch_to(then);
        let a = self.value(&node.then_expression)?;
        let a_end = self.b.current();
        self.b.switch_to(els);
        let b = self.value(&node.else_expression)?;
        let b_end = self.b.current();
        self.joined(split, (then, a_end, a), (els, b_end, b))
    }

    /// `a ?: b`: the condition is the value if it is not zero.
    fn elvis(&mut self, node: &ast::ConditionalExpression) -> Lower<Value> {
        let value = self.value(&node.condition)?;
        let cond = self.scalar(&value)?;
        if let Some(truth) = self.b.truth(cond) {
            let (other, _) = self.dry(|this| this.value(&node.else_expression));
            let ty = match &other {
                Ok(other) => self.conditional_type(&value, other)?,
                Err(_) => value.ty.clone(),
            };
            let value = if truth {
                value
            } else {
                self.value(&node.else_expression)?
            };
            return self.converted(&value, &ty);
        }
        let cond = self.b.spill(cond);
        let (then, els) = (self.b.block(), self.b.block());
        let split = self.b.branch(cond, Way::holds(then), Way::fails(els));
        let a = Value::scalar_of(cond, value.ty);
        self.b.switch_to(els);
        let b = self.value(&node.else_expression)?;
        let b_end = self.b.current();
        self.joined(split, (then, then, a), (els, b_end, b))
    }

    /// Joins the two arms of a conditional: a `Select` if both are pure, else a temporary.
    fn joined(
        &mut self,
        split: Option<BlockId>,
        (then, a_end, a): (BlockId, BlockId, Value),
        (els, b_end, b): (BlockId, BlockId, Value),
    ) -> Lower<Value> {
        let ty = self.conditional_type(&a, &b)?;
        let class = self.class(&ty)?;
        let quiet = |this: &Self, start: BlockId, end: BlockId| {
            start == end && this.b.blocks[start.index()].stmts.is_empty()
        };
        if let (Class::Scalar(_), Some(split)) = (class, split)
            && quiet(self, then, a_end)
            && quiet(self, els, b_end)
        {
            let (x, y) = (self.convert(&a, &ty)?, self.convert(&b, &ty)?);
            if self.b.is_pure(x)
                && self.b.is_pure(y)
                && let Some((cond, first)) = self.b.reopen(split)
            {
                let (x, y) = if first == then { (x, y) } else { (y, x) };
                return Ok(Value::scalar_of(self.b.select(cond, x, y), ty));
            }
        }
        let join = self.b.block();
        // Records are joined by address.
        let held = match class {
            Class::Scalar(scalar) => Some(scalar),
            Class::Memory(_) => Some(Ty::Ptr),
            _ => None,
        };
        let slot = held.map(|ty| {
            let local = self.b.temporary(ty);
            self.b.addr_local(local)
        });
        for (end, value) in [(a_end, a), (b_end, b)] {
            self.b.switch_to(end);
            if let Some(slot) = slot {
                let expr = match class {
                    Class::Memory(size) => self.memory_address(&value, &ty, size)?,
                    _ => self.convert(&value, &ty)?,
                };
                self.b.store(slot, expr);
            }
            self.b.goto(join);
        }
        self.b.switch_to(join);
        let (Some(slot), Some(held)) = (slot, held) else {
            return Ok(Value::void());
        };
        let expr = self.b.load(slot, held, false);
        Ok(match class {
            Class::Memory(_) => Value {
                ty,
                repr: Repr::Memory(expr),
            },
            _ => Value::scalar_of(expr, ty),
        })
    }

    /// The type of `c ? a : b` (C11 6.5.15).
    fn conditional_type(&mut self, a: &Value, b: &Value) -> Lower<Type> {
        let (x, y) = (self.resolve(&a.ty)?, self.resolve(&b.ty)?);
        Ok(match (&x.kind, &y.kind) {
            (Kind::Void, _) | (_, Kind::Void) => Type::void(),
            (Kind::Pointer(p), Kind::Pointer(q)) => {
                if self.is_null_constant(a) {
                    b.ty.clone()
                } else if self.is_null_constant(b) {
                    a.ty.clone()
                } else if matches!(self.resolve(q)?.kind, Kind::Void)
                    && !matches!(self.resolve(p)?.kind, Kind::Void)
                {
                    b.ty.clone()
                } else {
                    a.ty.clone()
                }
            }
            (Kind::Pointer(_), _) => a.ty.clone(),
            (_, Kind::Pointer(_)) => b.ty.clone(),
            (Kind::Int(_) | Kind::Float(_), Kind::Int(_) | Kind::Float(_)) => {
                self.common_type(&x, &y)?
            }
            _ => a.ty.clone(),
        })
    }

    /// A null pointer constant: 0, or 0 cast to `void *`.
    fn is_null_constant(&mut self, value: &Value) -> bool {
        let Repr::Scalar(expr) = value.repr else {
            return false;
        };
        if self.b.constant(expr) != Some(0) {
            return false;
        }
        match self.resolve(&value.ty).map(|ty| ty.kind) {
            Ok(Kind::Pointer(to)) => matches!(to.kind, Kind::Void),
            Ok(Kind::Int(_)) => true,
            _ => false,
        }
    }

    /// Compares two scalars after the usual conversions.
    pub fn compared(&mut self, op: CmpOp, lhs: ExprId, rhs: ExprId) -> Value {
        let expr = self.b.compare(op, lhs, rhs);
        Value::scalar_of(expr, Type::int(IntKind::Int))
    }
}

/// The mark for the left-out operand of `a ?: b`.
pub fn is_elvis(expr: &Node<Expression>) -> bool {
    matches!(&expr.node, Expression::Identifier(id) if id.node.name == "__cassini_elvis")
}
