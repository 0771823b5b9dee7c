//! What an expression or an argument is made of.

use super::{Arg, ExprId, ExprKind};

/// One match for readers and writers: up to three operands, and an iterator (`$each`) over more.
macro_rules! operands {
    ($kind:expr, $none:expr, $each:ident) => {
        match $kind {
            ExprKind::Const(_)
            | ExprKind::Unknown
            | ExprKind::AddrLocal(_)
            | ExprKind::AddrSymbol(_)
            | ExprKind::AddrString(_) => ([None, None, None], $none),
            ExprKind::Opaque { args, .. } => ([None, None, None], args.$each()),
            ExprKind::Load { addr: arg, .. }
            | ExprKind::IsConstant { arg }
            | ExprKind::Unary { arg, .. }
            | ExprKind::Cast { arg }
            | ExprKind::Member { base: arg, .. } => ([Some(arg), None, None], $none),
            ExprKind::Binary {
                lhs: one, rhs: two, ..
            }
            | ExprKind::Compare {
                lhs: one, rhs: two, ..
            }
            | ExprKind::Index {
                base: one,
                index: two,
                ..
            } => ([Some(one), Some(two), None], $none),
            ExprKind::Select { cond, then, els } => ([Some(cond), Some(then), Some(els)], $none),
        }
    };
}

impl ExprKind {
    /// The expressions that this one is made of, in their order.
    pub fn operands(&self) -> impl Iterator<Item = ExprId> {
        let (few, more) = operands!(self, [].iter(), iter);
        few.into_iter().flatten().chain(more).copied()
    }

    /// [`ExprKind::operands`], to be changed.
    pub fn operands_mut(&mut self) -> impl Iterator<Item = &mut ExprId> {
        let (few, more) = operands!(self, [].iter_mut(), iter_mut);
        few.into_iter().flatten().chain(more)
    }
}

impl Arg {
    /// The value, or the record's address.
    pub fn expr(&self) -> ExprId {
        match self {
            Arg::Scalar(expr) | Arg::Record { addr: expr, .. } => *expr,
        }
    }

    /// [`Arg::expr`], to be changed.
    pub fn expr_mut(&mut self) -> &mut ExprId {
        match self {
            Arg::Scalar(expr) | Arg::Record { addr: expr, .. } => expr,
        }
    }
}
