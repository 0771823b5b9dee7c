//! Expressions (paper Figure 4): from the IR to terms, in a state.

use smallvec::SmallVec;

use super::arena::Arena;
use super::exec::Executor;
use super::frame::Frame;
use super::guard::Guard;
use super::heap;
use super::log::Access;
use super::region::{FrameId, Loc, RegionId, RegionKind, SymbolicOffset};
use super::state::State;
use super::term::{Node, Term};
use crate::ir::{
    BinOp, Body, CmpOp, Expr, ExprId, ExprKind, Image, LocalId, POINTER_BITS, SymbolName, Ty, UnOp,
};

impl Arena<'_> {
    pub fn nonzero(&mut self, term: Term) -> Term {
        let terms = &mut self.formula.terms;
        let zero = terms.constant(0, terms.width(term));
        let is_zero = terms.eq(term, zero);
        terms.not(is_zero)
    }

    /// Truncates or zero-extends.
    pub fn resize(&mut self, term: Term, width: u16) -> Term {
        let terms = &mut self.formula.terms;
        match terms.width(term).cmp(&width) {
            std::cmp::Ordering::Equal => term,
            std::cmp::Ordering::Less => terms.zext(term, width),
            std::cmp::Ordering::Greater => terms.extract(term, 0, width),
        }
    }

    /// A function's result as its caller takes it: one that does not know the declaration may take an `int` for something wider.
    pub fn returned_as(&mut self, result: Term, width: u16) -> Term {
        let terms = &mut self.formula.terms;
        match terms.width(result) < width {
            true => terms.sext(result, width),
            false => self.resize(result, width),
        }
    }

    /// The pointer that a number of 32 bits is, where pointers have as many.
    pub fn pointer_of(&mut self, number: Term) -> Term {
        heap::widened(&mut self.formula.terms, number)
    }

    /// The address of a function or an object of static storage, which the code at hand names.
    fn start_of_symbol(&mut self, name: &SymbolName) -> Term {
        let region = self.meet(name);
        self.start_of_region(region)
    }

    /// The region of a function or an object, and what the object holds, with all that this leads to, when it is first met.
    fn meet(&mut self, name: &SymbolName) -> RegionId {
        let callees = self.callees;
        let region = self.regions.region(RegionKind::Symbol(name.clone()));
        let image = self.initial.meet(region, || callees.constant(name));
        let mut open: Vec<&SymbolName> = image.into_iter().flat_map(Image::addresses).collect();
        while let Some(name) = open.pop() {
            let region = self.regions.region(RegionKind::Symbol(name.clone()));
            let image = self.initial.meet(region, || callees.constant(name));
            open.extend(image.into_iter().flat_map(Image::addresses));
        }
        region
    }

    /// The address of a region's first byte.
    fn start_of(&mut self, kind: RegionKind) -> Term {
        let region = self.regions.region(kind);
        self.start_of_region(region)
    }

    fn start_of_region(&mut self, region: RegionId) -> Term {
        let loc = Loc {
            region,
            symbolic: SymbolicOffset::NONE,
            offset: 0,
        };
        self.regions.address(&mut self.formula.terms, loc)
    }
}

/// Nested choices of a length.
const MAX_CHOICES: u32 = 8;
/// The largest mark in the lowest bits of a pointer.
const MOST_MARKS: u64 = 15;

impl Executor<'_> {
    /// The guard under which an expression is not 0.
    pub(super) fn condition(
        &mut self,
        frame: &Frame<'_>,
        state: &mut State,
        cond: ExprId,
    ) -> Guard {
        let term = self.eval(frame, state, cond);
        let truth = self.arena.nonzero(term);
        self.arena.guard_of(state, truth)
    }

    pub fn eval(&mut self, frame: &Frame<'_>, state: &mut State, id: ExprId) -> Term {
        let Expr { kind, ty } = frame.body.expr(id);
        let ty = *ty;
        match kind {
            ExprKind::Const(value) => match ty {
                Ty::Float { bits } => self.arena.unknown(bits),
                _ => self.arena.formula.terms.constant(*value, ty.bits()),
            },
            ExprKind::Unknown => self.arena.unknown(ty.bits()),
            ExprKind::Opaque { function, args } => {
                let name = &frame.body.names[*function as usize];
                self.opaque(frame, state, name, args, ty.bits())
            }
            ExprKind::AddrLocal(local) => self.address_of_local(frame, *local),
            ExprKind::AddrSymbol(symbol) => {
                let name = &frame.body.symbol(*symbol).name;
                let address = self.arena.start_of_symbol(name);
                self.arena.names.root(address, &name.name);
                address
            }
            ExprKind::AddrString(string) => {
                let bytes = frame.body.strings[string.index()].clone();
                self.arena.start_of(RegionKind::String(bytes))
            }
            ExprKind::Member {
                base,
                offset,
                name,
                record,
                ..
            } => {
                let (record, name, offset) = (*record, *name, *offset);
                self.member(frame, state, *base, (record, name, offset)).0
            }
            ExprKind::Index { base, index, scale } => {
                self.element(frame, state, *base, *index, *scale).0
            }
            ExprKind::Load { addr, volatile } => self.read(frame, state, (*addr, *volatile), ty),
            ExprKind::IsConstant { arg } => {
                let arg = self.eval(frame, state, *arg);
                let known = self.arena.formula.terms.as_const(arg).is_some();
                self.arena
                    .formula
                    .terms
                    .constant(u128::from(known), ty.bits())
            }
            ExprKind::Unary { op, arg } => {
                let arg = self.eval(frame, state, *arg);
                self.unary(*op, ty, arg)
            }
            ExprKind::Binary { op, lhs, rhs } => {
                let left = self.eval(frame, state, *lhs);
                let right = self.eval(frame, state, *rhs);
                self.binary(*op, ty, left, right)
            }
            ExprKind::Compare { op, lhs, rhs } => {
                let left = self.eval(frame, state, *lhs);
                let right = self.eval(frame, state, *rhs);
                let operands = frame.body.expr(*lhs).ty;
                let truth = self.compare(*op, operands, left, right);
                self.arena.formula.terms.zext(truth, ty.bits())
            }
            ExprKind::Cast { arg } => {
                let from = frame.body.expr(*arg).ty;
                let value = self.eval(frame, state, *arg);
                let value =
                    match is_length_as_int(from, ty) && self.arena.watches && frame.body.hosted {
                        true => self.arena.fitting(value, MAX_CHOICES),
                        false => self.cast(value, from, ty),
                    };
                if ty == Ty::Ptr {
                    self.arena.mark_pointer(value, 4);
                    // A freestanding program makes pointers of no other numbers (ERR_PTR).
                    if self.arena.watches && !frame.body.hosted {
                        self.arena.note_error_numbers(value);
                    }
                }
                value
            }
            ExprKind::Select { cond, then, els } => {
                let guard = self.condition(frame, state, *cond);
                self.note_conditions(guard, true);
                let then = self.eval(frame, state, *then);
                let els = self.eval(frame, state, *els);
                self.arena.formula.ite_guard(guard, then, els)
            }
        }
    }

    /// A value that is not modelled, the same whenever the arguments are the same.
    fn opaque(
        &mut self,
        frame: &Frame<'_>,
        state: &mut State,
        function: &str,
        args: &[ExprId],
        bits: u16,
    ) -> Term {
        let args: Vec<Term> = args
            .iter()
            .map(|arg| self.eval(frame, state, *arg))
            .collect();
        let key = (function.to_owned(), args);
        match self.opaque.get(&key) {
            Some(&known) => self.arena.resize(known, bits),
            None => {
                let value = self.arena.unknown(bits);
                self.opaque.insert(key, value);
                value
            }
        }
    }

    /// The address that an expression tells, and the pointer that the source gets there from: `p` of `&p->member` and of `&p[i]`.
    pub(super) fn address(
        &mut self,
        frame: &Frame<'_>,
        state: &mut State,
        id: ExprId,
    ) -> (Term, Term) {
        match frame.body.expr(id).kind {
            ExprKind::Member {
                base,
                offset,
                name,
                record,
                ..
            } => self.member(frame, state, base, (record, name, offset)),
            ExprKind::Index { base, index, scale } => {
                self.element(frame, state, base, index, scale)
            }
            _ => {
                let address = self.eval(frame, state, id);
                (address, address)
            }
        }
    }

    /// The value at an address.
    fn read(
        &mut self,
        frame: &Frame<'_>,
        state: &mut State,
        (addr, volatile): (ExprId, bool),
        ty: Ty,
    ) -> Term {
        let (address, pointer) = self.address(frame, state, addr);
        self.accessed = Some((addr, pointer));
        let how = Access {
            write: false,
            volatile,
            pointer: ty == Ty::Ptr,
        };
        self.note_access(frame, state, address, how);
        let value = self.load(state, address, ty);
        // A parameter of an inlined function says nothing to who reads the caller.
        let own = !self.arena.watches || frame.id == FrameId(0);
        if own && let ExprKind::AddrLocal(local) = frame.body.expr(addr).kind {
            self.arena.names.variable(
                &self.arena.formula.terms,
                value,
                &frame.body.local(local).name,
            );
        }
        if self.arena.watches
            && ty == Ty::Ptr
            && let ExprKind::Member { name, .. } = frame.body.expr(addr).kind
        {
            let name = &frame.body.names[name as usize];
            self.arena.note_member(value, name);
            self.arena
                .note_member_at(address, || frame.body.member_at(addr));
        }
        value
    }

    fn address_of_local(&mut self, frame: &Frame<'_>, local: LocalId) -> Term {
        let loc = self.arena.local(frame.id, local);
        let address = self
            .arena
            .regions
            .address(&mut self.arena.formula.terms, loc);
        self.arena
            .names
            .root(address, &frame.body.local(local).name);
        address
    }

    /// The address of a record's member, and the pointer that it is made from.
    fn member(
        &mut self,
        frame: &Frame<'_>,
        state: &mut State,
        base: ExprId,
        (record, name, offset): (u32, u32, u64),
    ) -> (Term, Term) {
        let names = &frame.body.names;
        let (record, name) = (&names[record as usize], &names[name as usize]);
        let first = first_members(frame.body, base);
        let (base, pointer) = self.address(frame, state, base);
        self.arena.names.choice_of(&self.arena.formula.terms, base);
        let terms = &mut self.arena.formula.terms;
        let distance = terms.constant(u128::from(offset), POINTER_BITS);
        let address = terms.add(base, distance);
        self.arena
            .names
            .member(address, base, first, (record, name, offset));
        (address, pointer)
    }

    /// The address of an array's element, and the pointer that it is made from.
    fn element(
        &mut self,
        frame: &Frame<'_>,
        state: &mut State,
        base: ExprId,
        index: ExprId,
        scale: u64,
    ) -> (Term, Term) {
        let first = first_members(frame.body, base);
        let (base, pointer) = self.address(frame, state, base);
        let index = self.eval(frame, state, index);
        let index = self.arena.resize(index, POINTER_BITS);
        let address = self.arena.formula.terms.linear(
            POINTER_BITS,
            0,
            &[(1, base), (u128::from(scale), index)],
        );
        self.arena
            .names
            .element(address, base, first, (index, scale));
        (address, pointer)
    }

    fn cast(&mut self, value: Term, from: Ty, to: Ty) -> Term {
        match (from, to) {
            (Ty::Float { .. }, _) | (_, Ty::Float { .. }) if from != to => {
                self.arena.unknown(to.bits())
            }
            (Ty::Int { bits: 32, .. }, Ty::Ptr) if self.arena.has_narrow_pointers() => {
                self.arena.pointer_of(value)
            }
            _ if to.bits() > from.bits() && from.signed() => {
                self.arena.formula.terms.sext(value, to.bits())
            }
            _ => self.arena.resize(value, to.bits()),
        }
    }

    fn unary(&mut self, op: UnOp, ty: Ty, arg: Term) -> Term {
        match (op, ty) {
            (_, Ty::Float { bits }) => self.arena.unknown(bits),
            (UnOp::Neg, _) => self.negated(arg),
            (UnOp::Not, _) => self.arena.formula.terms.not(arg),
        }
    }

    fn binary(&mut self, op: BinOp, ty: Ty, left: Term, right: Term) -> Term {
        if let Ty::Float { bits } = ty {
            return self.arena.unknown(bits);
        }
        let shift = matches!(op, BinOp::Shl | BinOp::Shr);
        let right = if shift || self.arena.formula.terms.width(right) != ty.bits() {
            self.arena.resize(right, ty.bits())
        } else {
            right
        };
        let left = self.arena.resize(left, ty.bits());
        if op == BinOp::And && ty.bits() == POINTER_BITS {
            for (pointer, mask) in [(left, right), (right, left)] {
                if let Some(rounded) = self.rounded_down(pointer, mask) {
                    return rounded;
                }
            }
        }
        let terms = &mut self.arena.formula.terms;
        match (op, ty.signed()) {
            (BinOp::Add, _) => terms.add(left, right),
            (BinOp::Sub, _) => terms.sub(left, right),
            (BinOp::Mul, _) => terms.mul(left, right),
            (BinOp::Div, true) => terms.sdiv(left, right),
            (BinOp::Div, false) => terms.udiv(left, right),
            (BinOp::Rem, true) => terms.srem(left, right),
            (BinOp::Rem, false) => terms.urem(left, right),
            (BinOp::And, _) => terms.and(left, right),
            (BinOp::Or, _) => terms.or(left, right),
            (BinOp::Xor, _) => terms.xor(left, right),
            (BinOp::Shl, _) => terms.shl(left, right),
            (BinOp::Shr, true) => terms.ashr(left, right),
            (BinOp::Shr, false) => terms.lshr(left, right),
        }
    }

    /// A function that returns `-errno` says that it has failed, by a number that is less than 0: nobody takes the number of an error that there was not.
    fn negated(&mut self, arg: Term) -> Term {
        let is_error = self.arena.is_last_error(arg);
        let terms = &mut self.arena.formula.terms;
        let negated = terms.neg(arg);
        if !is_error {
            return negated;
        }
        let width = terms.width(arg);
        let (zero, one) = (terms.constant(0, width), terms.constant(1, width));
        let minus_one = terms.neg(one);
        let positive = terms.slt(zero, arg);
        terms.ite(positive, negated, minus_one)
    }

    /// `p & mask` of an address as an address in the same block: `p - (p & ~mask)`. Where a constant mask takes away the lowest bits only, which
    /// hold no part of a pointer but a mark on it, it stays another pointer.
    fn rounded_down(&mut self, pointer: Term, mask: Term) -> Option<Term> {
        let Arena {
            formula, regions, ..
        } = &mut self.arena;
        let terms = &mut formula.terms;
        let is_mark = |mask: u128| !(mask as u64) <= MOST_MARKS;
        if terms.as_const(pointer).is_some()
            || terms.as_const(mask).is_some_and(is_mark)
            || !regions.is_address(terms, pointer)
            || regions.is_address(terms, mask)
        {
            return None;
        }
        let rest = terms.not(mask);
        // `(p + ~mask) & mask` is rounded up, as by allocators of aligned blocks: they keep elsewhere what they have to free, so it stays a pointer of its own.
        if let Node::Linear {
            constant,
            terms: sum,
        } = terms.node(pointer)
            && (terms.as_const(rest) == Some(*constant)
                || sum.iter().any(|&(_, term)| term == rest))
        {
            return None;
        }
        let rest = terms.and(pointer, rest);
        Some(terms.sub(pointer, rest))
    }

    fn compare(&mut self, op: CmpOp, ty: Ty, left: Term, right: Term) -> Term {
        if let Ty::Float { .. } = ty {
            return self.arena.unknown(1);
        }
        let width = self.arena.formula.terms.width(left);
        let right = self.arena.resize(right, width);
        let terms = &mut self.arena.formula.terms;
        match (op, ty.signed()) {
            (CmpOp::Eq | CmpOp::Ne, _) => {
                let equal = terms.eq(left, right);
                if op == CmpOp::Eq {
                    equal
                } else {
                    terms.not(equal)
                }
            }
            (CmpOp::Lt, true) => terms.slt(left, right),
            (CmpOp::Le, true) => terms.sle(left, right),
            (CmpOp::Gt, true) => terms.slt(right, left),
            (CmpOp::Ge, true) => terms.sle(right, left),
            (CmpOp::Lt, false) => terms.ult(left, right),
            (CmpOp::Le, false) => terms.ule(left, right),
            (CmpOp::Gt, false) => terms.ult(right, left),
            (CmpOp::Ge, false) => terms.ule(right, left),
        }
    }
}

/// The first members that an address expression names without moving on, outermost first.
pub(super) fn first_members(body: &Body, mut base: ExprId) -> impl Iterator<Item = &str> {
    let mut names: SmallVec<[&str; 2]> = SmallVec::new();
    while let ExprKind::Member {
        base: outer,
        offset: 0,
        name,
        ..
    } = body.expr(base).kind
    {
        names.push(&body.names[name as usize]);
        base = outer;
    }
    names.into_iter().rev()
}

/// Whether a conversion is that of a `size_t` to an `int`.
fn is_length_as_int(from: Ty, to: Ty) -> bool {
    let int = |bits, signed| Ty::Int { bits, signed };
    from == int(64, false) && to == int(32, true)
}
