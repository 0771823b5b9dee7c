//! Where a body follows a pointer.
//!
//! In: an expression for a pointer and two blocks. Out: whether control reads or writes what the pointer leads to on the way from one
//! to the other.

use std::borrow::Cow;

use super::{Arg, Block, BlockId, Body, Callee, ExprId, ExprKind, Stmt, StmtKind, TermKind};

/// Blocks that are looked at.
const MAX_BLOCKS: usize = 64;

impl Body {
    /// The pointer that an address is made from, which is read somewhere: `p` of `&p->member`.
    pub fn pointer_of(&self, address: ExprId) -> Option<ExprId> {
        let base = self.base_of(address);
        matches!(self.expr(base).kind, ExprKind::Load { .. }).then_some(base)
    }

    /// What an address is a member or an element of.
    fn base_of(&self, mut address: ExprId) -> ExprId {
        while let ExprKind::Member { base, .. }
        | ExprKind::Index { base, .. }
        | ExprKind::Cast { arg: base } = self.expr(address).kind
        {
            address = base;
        }
        address
    }

    /// The record that what lies at an address is a member of, and the member, as the source names them; a record without a name by the member of
    /// another that it is: `struct node.link`. `None` if it has neither, and of a union's member, which may be another one.
    pub fn member_at(&self, address: ExprId) -> Option<(Cow<'_, str>, &str)> {
        let ExprKind::Member {
            base,
            record,
            name,
            overlaps: false,
            ..
        } = self.expr(address).kind
        else {
            return None;
        };
        let [record, name] = [record, name].map(|at| self.names[at as usize].as_str());
        match record {
            "" => {
                let (outer, member) = self.member_at(base)?;
                Some((format!("{outer}.{member}").into(), name))
            }
            _ => Some((record.into(), name)),
        }
    }

    /// The bytes from an address to the end of the member that it lies in; 0 where that is not known. Elements of unknown index are taken for the first.
    pub fn room_at(&self, address: ExprId) -> u64 {
        match self.expr(address).kind {
            ExprKind::Cast { arg } => self.room_at(arg),
            ExprKind::Member { size, .. } => size,
            ExprKind::Index { base, index, scale } => {
                let room = self.room_at(base);
                match self.expr(index).kind {
                    ExprKind::Const(index) => {
                        let before = u64::try_from(index).unwrap_or(0).saturating_mul(scale);
                        room.saturating_sub(before)
                    }
                    _ => room,
                }
            }
            _ => 0,
        }
    }

    /// Whether control follows a pointer on some way from one block, before it comes to the other one or the variable that the
    /// pointer lies in is assigned to.
    pub fn follows_between(&self, from: BlockId, to: BlockId, pointer: ExprId) -> bool {
        self.is_between(from, to, |block| self.follows_in(block, pointer))
    }

    /// Whether control reads a pointer, or what it is a member of, on some way from one block, be it to follow it or to hand it on, before it comes to the
    /// other one or the variable that the pointer lies in is assigned to.
    pub fn mentions_between(&self, from: BlockId, to: BlockId, pointer: ExprId) -> bool {
        self.is_between(from, to, |block| self.mentions_in(block, pointer))
    }

    /// Whether the condition that a block ends in follows a pointer itself: `(p != NULL) & (p->count == 0)`.
    pub fn condition_follows(&self, block: BlockId, pointer: ExprId) -> bool {
        match self.block(block).term.kind {
            TermKind::Branch { cond, .. } => self.reads_by(cond, pointer),
            _ => false,
        }
    }

    /// Whether a block on some way from one block to another one has what is looked for; `Some(false)`: no block behind this one has.
    fn is_between(&self, from: BlockId, to: BlockId, has: impl Fn(&Block) -> Option<bool>) -> bool {
        let mut seen = vec![false; self.blocks.len()];
        let mut work = vec![from];
        let mut looked_at = 0;
        while let Some(block) = work.pop() {
            if block == to || std::mem::replace(&mut seen[block.index()], true) {
                continue;
            }
            looked_at += 1;
            match has(self.block(block)) {
                Some(true) => return true,
                None if looked_at < MAX_BLOCKS => work.extend(self.block(block).term.successors()),
                _ => {}
            }
        }
        false
    }

    /// Whether the constant null that is assigned to a variable comes to the end of a block on some way, on which the variable is neither assigned to
    /// again nor followed.
    pub fn null_may_reach(&self, to: BlockId, variable: ExprId) -> bool {
        let mut seen = vec![false; self.blocks.len()];
        let assigns_null = |block: &Block| {
            let mut assignments = block.stmts.iter().rev();
            let last = assignments.find(|stmt| self.assigns(stmt, variable));
            last.is_some_and(|stmt| match stmt.kind {
                StmtKind::Store { value, .. } => {
                    matches!(self.expr(value).kind, ExprKind::Const(0))
                }
                _ => false,
            })
        };
        let from = self.blocks.iter().filter(|block| assigns_null(block));
        let mut work: Vec<BlockId> = from.flat_map(|block| block.term.successors()).collect();
        while let Some(block) = work.pop() {
            if std::mem::replace(&mut seen[block.index()], true)
                || self.follows_in(self.block(block), variable).is_some()
            {
                continue;
            }
            if block == to {
                return true;
            }
            work.extend(self.block(block).term.successors());
        }
        false
    }

    /// Whether a statement assigns to the variable that a pointer is read from.
    pub(super) fn assigns(&self, stmt: &Stmt, pointer: ExprId) -> bool {
        match &stmt.kind {
            StmtKind::Store { addr, .. } => self.is_place_of(*addr, pointer),
            StmtKind::Call(call) => match self.expr(pointer).kind {
                ExprKind::Load { addr, .. } => match self.expr(addr).kind {
                    ExprKind::AddrLocal(local) => call.dst == Some(local),
                    _ => false,
                },
                _ => false,
            },
            _ => false,
        }
    }

    /// Whether a block follows a pointer; `Some(false)`: it assigns to the pointer's variable before.
    fn follows_in(&self, block: &Block, pointer: ExprId) -> Option<bool> {
        let leads = |address: ExprId| self.is_based_on(address, pointer);
        let reads = |value: ExprId| self.reads_by(value, pointer);
        self.uses_in(block, pointer, |place| leads(place) || reads(place), reads)
    }

    /// Whether a block reads a pointer or what it is a member of; `Some(false)`: it assigns to the pointer's variable before.
    fn mentions_in(&self, block: &Block, pointer: ExprId) -> Option<bool> {
        let holder = match self.expr(pointer).kind {
            ExprKind::Load { addr, .. } => self.base_of(addr),
            _ => self.base_of(pointer),
        };
        let mentions = |value: ExprId| self.has_part(value, holder);
        self.uses_in(block, pointer, mentions, mentions)
    }

    /// Whether a block uses a pointer as the address of what a statement reads or writes (`place`), or in a value; `Some(false)`: it assigns to the pointer's
    /// variable before.
    fn uses_in(
        &self,
        block: &Block,
        pointer: ExprId,
        place: impl Fn(ExprId) -> bool,
        value: impl Fn(ExprId) -> bool,
    ) -> Option<bool> {
        for stmt in &block.stmts {
            let used = match &stmt.kind {
                StmtKind::Store { addr, value: new } => place(*addr) || value(*new),
                StmtKind::Copy { dst, src, .. } => place(*dst) || place(*src),
                StmtKind::Zero { dst, .. } | StmtKind::Havoc { dst, .. } => place(*dst),
                StmtKind::Expose { value: given, .. }
                | StmtKind::Assume(given)
                | StmtKind::Assert(given) => value(*given),
                StmtKind::Call(call) => {
                    let by_pointer = match call.callee {
                        Callee::Indirect { function, .. } => value(function),
                        Callee::Direct(_) => false,
                    };
                    by_pointer || call.args.iter().any(|arg| value(arg.expr()))
                }
                StmtKind::ScopeBegin(_) => false,
            };
            if used {
                return Some(true);
            }
            if self.assigns(stmt, pointer) {
                return Some(false);
            }
        }
        let last = match &block.term.kind {
            TermKind::Branch { cond: value, .. } | TermKind::Switch { value, .. } => Some(*value),
            TermKind::Return(value) => value.as_ref().map(Arg::expr),
            _ => None,
        };
        last.filter(|&last| value(last)).map(|_| true)
    }

    /// Whether an expression is another one or has it as a part.
    fn has_part(&self, id: ExprId, wanted: ExprId) -> bool {
        let mut parts = self.expr(id).kind.operands();
        self.is_alike(id, wanted) || parts.any(|part| self.has_part(part, wanted))
    }

    /// Whether evaluating an expression reads what a pointer leads to.
    fn reads_by(&self, id: ExprId, pointer: ExprId) -> bool {
        let kind = &self.expr(id).kind;
        let here = match kind {
            ExprKind::Load { addr, .. } => self.is_based_on(*addr, pointer),
            _ => false,
        };
        here || kind.operands().any(|part| self.reads_by(part, pointer))
    }

    /// Whether an address is a pointer, or that of a member or an element of what it leads to.
    fn is_based_on(&self, address: ExprId, pointer: ExprId) -> bool {
        match self.expr(address).kind {
            _ if self.is_alike(address, pointer) => true,
            ExprKind::Member { base, .. } | ExprKind::Index { base, .. } => {
                self.is_based_on(base, pointer)
            }
            ExprKind::Cast { arg } => self.is_based_on(arg, pointer),
            _ => false,
        }
    }

    /// Whether a pointer is read from this address.
    fn is_place_of(&self, address: ExprId, pointer: ExprId) -> bool {
        match self.expr(pointer).kind {
            ExprKind::Load { addr, .. } => self.is_alike(addr, address),
            _ => false,
        }
    }

    /// Whether two expressions are written alike, of variables, members and elements.
    pub(super) fn is_alike(&self, one: ExprId, other: ExprId) -> bool {
        if one == other {
            return true;
        }
        match (&self.expr(one).kind, &self.expr(other).kind) {
            (ExprKind::Const(one), ExprKind::Const(other)) => one == other,
            (ExprKind::AddrLocal(one), ExprKind::AddrLocal(other)) => one == other,
            (ExprKind::AddrSymbol(one), ExprKind::AddrSymbol(other)) => one == other,
            (ExprKind::Load { addr: one, .. }, ExprKind::Load { addr: other, .. })
            | (ExprKind::Cast { arg: one }, ExprKind::Cast { arg: other }) => {
                self.is_alike(*one, *other)
            }
            (
                ExprKind::Member {
                    base: one,
                    offset: from,
                    ..
                },
                ExprKind::Member {
                    base: other,
                    offset: to,
                    ..
                },
            ) => from == to && self.is_alike(*one, *other),
            (
                ExprKind::Index {
                    base: one,
                    index: from,
                    scale,
                },
                ExprKind::Index {
                    base: other,
                    index: to,
                    scale: other_scale,
                },
            ) => scale == other_scale && self.is_alike(*one, *other) && self.is_alike(*from, *to),
            _ => false,
        }
    }
}
