//! Expressions of a body: hash-consed, folded as they are built.
//!
//! In: operators and operands. Out: entries of the body's table of expressions, each once, and what is known of each
//! without running it.

use super::{Builder, narrow};
use crate::ir::fold;
use crate::ir::{
    BinOp, CmpOp, Expr, ExprId, ExprKind, LocalId, Step, StringId, SymbolId, SymbolName, Ty, UnOp,
};

/// Where a member lies in its record.
#[derive(Clone, Copy)]
pub struct Extent {
    /// Bytes from the beginning of the record.
    pub offset: u64,
    /// In bytes; 0 where that is not known.
    pub size: u64,
    /// Other members may have the same bytes.
    pub overlaps: bool,
}

impl Extent {
    /// A member of unknown size, on its own.
    pub fn at(offset: u64) -> Extent {
        Extent {
            offset,
            size: 0,
            overlaps: false,
        }
    }
}

/// What is known of an expression without running it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Nature {
    /// Cannot fault, has one value wherever it is evaluated between two statements.
    pure: bool,
    /// Evaluating it twice gives one value (no volatile read, no unknown).
    stable: bool,
}

impl Builder {
    fn expr(&mut self, kind: ExprKind, ty: Ty) -> ExprId {
        let expr = Expr { kind, ty };
        // Each evaluation of these is its own.
        let unique = matches!(
            expr.kind,
            ExprKind::Unknown | ExprKind::Load { volatile: true, .. }
        );
        if !unique && let Some(id) = self.cons.get(&expr) {
            return *id;
        }
        let id = ExprId(narrow(self.exprs.len()));
        self.natures.push(self.nature(&expr));
        if !unique {
            self.cons.insert(expr.clone(), id);
        }
        self.exprs.push(expr);
        id
    }

    fn nature(&self, expr: &Expr) -> Nature {
        let of_operands = |kind: &ExprKind| Nature {
            pure: kind.operands().all(|id| self.natures[id.index()].pure),
            stable: kind.operands().all(|id| self.natures[id.index()].stable),
        };
        match &expr.kind {
            ExprKind::Unknown => Nature {
                pure: true,
                stable: false,
            },
            ExprKind::Load { addr, volatile } => Nature {
                pure: !volatile && self.is_object(*addr),
                stable: !volatile && of_operands(&expr.kind).stable,
            },
            ExprKind::Binary { op, rhs, .. } => {
                let both = of_operands(&expr.kind);
                let divides = matches!(op, BinOp::Div | BinOp::Rem);
                let safe = !divides || self.constant(*rhs).is_some_and(|value| value != 0);
                Nature {
                    pure: both.pure && safe,
                    ..both
                }
            }
            kind => of_operands(kind),
        }
    }

    /// Whether this is the address of a variable or of a member of one.
    pub fn is_object(&self, addr: ExprId) -> bool {
        match &self.exprs[addr.index()].kind {
            ExprKind::AddrLocal(_) | ExprKind::AddrSymbol(_) => true,
            ExprKind::Member { base, .. } => self.is_object(*base),
            _ => false,
        }
    }

    /// Whether evaluating it cannot fault or have an effect.
    pub fn is_pure(&self, id: ExprId) -> bool {
        self.natures[id.index()].pure
    }

    /// Whether it may be evaluated twice.
    pub fn is_stable(&self, id: ExprId) -> bool {
        self.natures[id.index()].stable
    }

    pub fn ty(&self, id: ExprId) -> Ty {
        self.exprs[id.index()].ty
    }

    pub fn kind(&self, id: ExprId) -> &ExprKind {
        &self.exprs[id.index()].kind
    }

    pub fn bits_of(&self, id: ExprId) -> Option<u128> {
        match self.exprs[id.index()].kind {
            ExprKind::Const(bits) => Some(bits),
            _ => None,
        }
    }

    /// The value of an integer or pointer constant, by its type's sign.
    pub fn constant(&self, id: ExprId) -> Option<i128> {
        let bits = self.bits_of(id)?;
        match self.ty(id) {
            Ty::Float { .. } => None,
            ty => Some(fold::value(bits, ty)),
        }
    }

    /// The truth of a constant of any scalar type.
    pub fn truth(&self, id: ExprId) -> Option<bool> {
        match self.ty(id) {
            Ty::Float { .. } => fold::float_value(self.bits_of(id)?, self.ty(id)).map(|v| v != 0.0),
            _ => match self.kind(id) {
                ExprKind::AddrLocal(_) | ExprKind::AddrString(_) => Some(true),
                ExprKind::Member { base, .. } if self.is_local(*base) => Some(true),
                _ => self.bits_of(id).map(|bits| bits != 0),
            },
        }
    }

    fn is_local(&self, addr: ExprId) -> bool {
        match self.kind(addr) {
            ExprKind::AddrLocal(_) => true,
            ExprKind::Member { base, .. } => self.is_local(*base),
            _ => false,
        }
    }

    pub fn bits(&mut self, bits: u128, ty: Ty) -> ExprId {
        self.expr(ExprKind::Const(fold::truncate(bits, ty)), ty)
    }

    pub fn int(&mut self, value: i128, ty: Ty) -> ExprId {
        self.bits(value.cast_unsigned(), ty)
    }

    pub fn unknown(&mut self, ty: Ty) -> ExprId {
        self.expr(ExprKind::Unknown, ty)
    }

    /// What `function` makes of the arguments, whatever that is.
    pub fn opaque(&mut self, function: &str, args: Vec<ExprId>, ty: Ty) -> ExprId {
        let function = self.name(function);
        self.expr(ExprKind::Opaque { function, args }, ty)
    }

    pub fn addr_local(&mut self, id: LocalId) -> ExprId {
        self.expr(ExprKind::AddrLocal(id), Ty::Ptr)
    }

    pub fn addr_symbol(&mut self, id: SymbolId) -> ExprId {
        self.expr(ExprKind::AddrSymbol(id), Ty::Ptr)
    }

    pub fn addr_string(&mut self, id: StringId) -> ExprId {
        self.expr(ExprKind::AddrString(id), Ty::Ptr)
    }

    pub fn load(&mut self, addr: ExprId, ty: Ty, volatile: bool) -> ExprId {
        self.expr(ExprKind::Load { addr, volatile }, ty)
    }

    pub fn load_local(&mut self, id: LocalId, ty: Ty) -> ExprId {
        let addr = self.addr_local(id);
        self.load(addr, ty, false)
    }

    /// Whether an address is that of a variable of the function's own, other than a parameter.
    pub fn is_variable(&self, addr: ExprId) -> bool {
        match self.kind(addr) {
            ExprKind::AddrLocal(local) => local.0 >= self.params,
            _ => false,
        }
    }

    /// Whether a value is a known constant.
    pub fn is_constant(&mut self, arg: ExprId) -> ExprId {
        match self.kind(arg) {
            ExprKind::Const(_) | ExprKind::AddrString(_) => self.bits(1, Ty::INT),
            _ if self.is_made_of_numbers_given(arg) => {
                self.expr(ExprKind::IsConstant { arg }, Ty::INT)
            }
            _ => self.bits(0, Ty::INT),
        }
    }

    /// Whether a value depends on parameters that are numbers, and on nothing else. (Pointers are asked for to treat null
    /// in another way that comes to the same.)
    fn is_made_of_numbers_given(&self, id: ExprId) -> bool {
        match self.kind(id) {
            ExprKind::Const(_) => true,
            ExprKind::Load { addr, volatile } => match self.kind(*addr) {
                ExprKind::AddrLocal(local) => {
                    let number = matches!(self.ty(id), Ty::Int { .. });
                    number && local.0 < self.params && !volatile
                }
                _ => false,
            },
            ExprKind::Cast { arg } | ExprKind::Unary { arg, .. } => {
                self.is_made_of_numbers_given(*arg)
            }
            ExprKind::Binary { lhs, rhs, .. } | ExprKind::Compare { lhs, rhs, .. } => {
                self.is_made_of_numbers_given(*lhs) && self.is_made_of_numbers_given(*rhs)
            }
            _ => false,
        }
    }

    pub fn unary(&mut self, op: UnOp, arg: ExprId) -> ExprId {
        let ty = self.ty(arg);
        if let Some(bits) = self.bits_of(arg)
            && let Some(folded) = fold::unary(op, bits, ty)
        {
            return self.bits(folded, ty);
        }
        self.expr(ExprKind::Unary { op, arg }, ty)
    }

    pub fn binary(&mut self, op: BinOp, lhs: ExprId, rhs: ExprId) -> ExprId {
        let ty = self.ty(lhs);
        if let (Some(l), Some(r)) = (self.bits_of(lhs), self.bits_of(rhs))
            && let Some(folded) = fold::binary(op, ty, l, self.ty(rhs), r)
        {
            return self.bits(folded, ty);
        }
        if !matches!(ty, Ty::Float { .. }) {
            let right = self.bits_of(rhs);
            let neutral = match op {
                BinOp::Add | BinOp::Sub | BinOp::Or | BinOp::Xor | BinOp::Shl | BinOp::Shr => {
                    right == Some(0)
                }
                BinOp::Mul | BinOp::Div => right == Some(1),
                BinOp::And => right == Some(fold::truncate(u128::MAX, ty)),
                BinOp::Rem => false,
            };
            if neutral {
                return lhs;
            }
        }
        self.expr(ExprKind::Binary { op, lhs, rhs }, ty)
    }

    pub fn compare(&mut self, op: CmpOp, lhs: ExprId, rhs: ExprId) -> ExprId {
        if let (Some(l), Some(r)) = (self.bits_of(lhs), self.bits_of(rhs))
            && let Some(folded) = fold::compare(op, self.ty(lhs), l, r)
        {
            return self.int(i128::from(folded), Ty::INT);
        }
        // The address of a local or string is no null.
        if self.bits_of(rhs) == Some(0)
            && self.ty(lhs) == Ty::Ptr
            && self.truth(lhs) == Some(true)
            && matches!(op, CmpOp::Eq | CmpOp::Ne)
        {
            return self.int(i128::from(op == CmpOp::Ne), Ty::INT);
        }
        // A pointer compared as a number, which is as wide.
        if self.pointer_size == 4
            && let ExprKind::Cast { arg } = *self.kind(lhs)
            && self.ty(arg) == Ty::Ptr
            && !self.ty(lhs).signed()
            && self.ty(lhs).bits() == 32
            && self.bits_of(rhs).is_some()
        {
            let rhs = self.cast(rhs, Ty::Ptr);
            return self.compare(op, arg, rhs);
        }
        self.expr(ExprKind::Compare { op, lhs, rhs }, Ty::INT)
    }

    /// Without the widening conversions that keep zero apart from all else.
    pub(super) fn unwidened(&self, mut arg: ExprId) -> ExprId {
        while let ExprKind::Cast { arg: inner } = *self.kind(arg) {
            let (from, to) = (self.ty(inner), self.ty(arg));
            let float = matches!(from, Ty::Float { .. }) || matches!(to, Ty::Float { .. });
            if float || from.bits() > to.bits() {
                break;
            }
            arg = inner;
        }
        arg
    }

    /// 0 or 1 as `int`: whether the scalar is not zero.
    pub fn is_true(&mut self, arg: ExprId) -> ExprId {
        let arg = self.unwidened(arg);
        if let Some(truth) = self.truth(arg) {
            return self.int(i128::from(truth), Ty::INT);
        }
        if matches!(self.kind(arg), ExprKind::Compare { .. }) {
            return arg;
        }
        let ty = self.ty(arg);
        let zero = self.bits(0, ty);
        self.compare(CmpOp::Ne, arg, zero)
    }

    /// 0 or 1 as `int`: whether the scalar is zero.
    pub fn is_false(&mut self, arg: ExprId) -> ExprId {
        let arg = self.unwidened(arg);
        if let Some(truth) = self.truth(arg) {
            return self.int(i128::from(!truth), Ty::INT);
        }
        if let ExprKind::Compare { op, lhs, rhs } = *self.kind(arg)
            && !matches!(self.ty(lhs), Ty::Float { .. })
        {
            let op = match op {
                CmpOp::Eq => CmpOp::Ne,
                CmpOp::Ne => CmpOp::Eq,
                CmpOp::Lt => CmpOp::Ge,
                CmpOp::Le => CmpOp::Gt,
                CmpOp::Gt => CmpOp::Le,
                CmpOp::Ge => CmpOp::Lt,
            };
            return self.compare(op, lhs, rhs);
        }
        let ty = self.ty(arg);
        let zero = self.bits(0, ty);
        self.compare(CmpOp::Eq, arg, zero)
    }

    /// Converts to another scalar type. Conversions to `_Bool` go through [`Builder::is_true`].
    pub fn cast(&mut self, arg: ExprId, to: Ty) -> ExprId {
        let from = self.ty(arg);
        if from == to {
            return arg;
        }
        if self.pointer_size == 4
            && to == Ty::Ptr
            && matches!(from, Ty::Int { .. })
            && from != Ty::INT
        {
            let number = self.cast(arg, Ty::INT);
            return self.cast(number, to);
        }
        if self.pointer_size == 4
            && to == Ty::Ptr
            && let Some(pointer) = self.pointer_behind(arg)
        {
            return pointer;
        }
        if let Some(bits) = self.bits_of(arg)
            && let Some(folded) = fold::cast(bits, from, to)
        {
            return self.bits(folded, to);
        }
        // A cast back undoes a cast to a type that is no narrower.
        if let ExprKind::Cast { arg: inner } = *self.kind(arg)
            && self.ty(inner) == to
            && from.bits() >= to.bits()
            && !matches!(from, Ty::Float { .. })
            && !matches!(to, Ty::Float { .. })
        {
            return inner;
        }
        self.expr(ExprKind::Cast { arg }, to)
    }

    /// The pointer that was cast to a number, if no bit of it was lost on the way.
    fn pointer_behind(&self, mut number: ExprId) -> Option<ExprId> {
        while let ExprKind::Cast { arg } = *self.kind(number)
            && self.ty(number).bits() >= 32
        {
            number = arg;
            if self.ty(number) == Ty::Ptr {
                return Some(number);
            }
        }
        None
    }

    /// The member `name` of the record at `base`, of type `record`.
    pub fn member(
        &mut self,
        base: ExprId,
        Extent {
            offset,
            size,
            overlaps,
        }: Extent,
        record: &str,
        name: &str,
    ) -> ExprId {
        if let Some(bits) = self.bits_of(base) {
            return self.bits(bits.wrapping_add(u128::from(offset)), Ty::Ptr);
        }
        let kind = ExprKind::Member {
            base,
            offset,
            name: self.name(name),
            record: self.name(record),
            size,
            overlaps,
        };
        self.expr(kind, Ty::Ptr)
    }

    /// The object that an address of known offset lies in, and the members that lead there, outermost first.
    pub fn way_to(&self, address: ExprId) -> Option<(SymbolName, Vec<Step>)> {
        // Bytes that each step adds, innermost first, and the member if it is one.
        let mut steps = Vec::new();
        let mut at = address;
        let object = loop {
            at = match *self.kind(at) {
                ExprKind::AddrSymbol(symbol) => break self.symbols.get(symbol.index())?,
                ExprKind::Member {
                    base,
                    offset,
                    name,
                    record,
                    ..
                } => {
                    let word = |index: u32| self.names.get(index as usize).cloned();
                    steps.push((offset, Some((word(record)?, word(name)?))));
                    base
                }
                ExprKind::Index { base, index, scale } => {
                    let index = u64::try_from(self.constant(index)?).ok()?;
                    steps.push((index.checked_mul(scale)?, None));
                    base
                }
                _ => return None,
            };
        };
        let mut at = 0u64;
        let mut way = Vec::new();
        for (offset, member) in steps.into_iter().rev() {
            way.extend(member.map(|member| Step { at, member, offset }));
            at = at.checked_add(offset)?;
        }
        Some((object.name.clone(), way))
    }

    pub fn index(&mut self, base: ExprId, index: ExprId, scale: u64) -> ExprId {
        if let (Some(base), Some(index)) = (self.bits_of(base), self.constant(index)) {
            let offset = index.wrapping_mul(i128::from(scale));
            return self.bits(base.wrapping_add(offset.cast_unsigned()), Ty::Ptr);
        }
        let zero = self.bits_of(index) == Some(0);
        if zero
            && !matches!(
                self.kind(base),
                ExprKind::AddrLocal(_) | ExprKind::AddrSymbol(_)
            )
        {
            return base;
        }
        self.expr(ExprKind::Index { base, index, scale }, Ty::Ptr)
    }

    pub fn select(&mut self, cond: ExprId, then: ExprId, els: ExprId) -> ExprId {
        match self.truth(cond) {
            Some(true) => return then,
            Some(false) => return els,
            None => {}
        }
        if then == els && self.is_stable(then) {
            return then;
        }
        let ty = self.ty(then);
        if ty == Ty::INT && self.constant(then) == Some(1) && self.constant(els) == Some(0) {
            return self.is_true(cond);
        }
        self.expr(ExprKind::Select { cond, then, els }, ty)
    }
}
