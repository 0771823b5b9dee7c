//! What a body compares with null, and where it follows a pointer that it has just found null.
//!
//! In: a condition, or the expression for a pointer that is followed. Out: the pointers that the condition compares; whether each way to the
//! access comes from a test that has found the pointer null.

use super::{BinOp, BlockId, Body, CmpOp, ExprId, ExprKind, Pos, TermKind, Ty};

impl Body {
    /// The pointers that a condition compares with null, each with whether the condition holds if it is null.
    pub fn compared_with_null(&self, condition: ExprId) -> Vec<(ExprId, bool)> {
        let is_zero = |id: ExprId| matches!(self.expr(id).kind, ExprKind::Const(0));
        let is_pointer = |id: ExprId| self.expr(id).ty == Ty::Ptr && !is_zero(id);
        let is_comparison = |id: ExprId| matches!(self.expr(id).kind, ExprKind::Compare { .. });
        let mut found = Vec::new();
        let mut work = vec![(condition, false)];
        while let Some((id, if_null)) = work.pop() {
            match self.expr(id).kind {
                _ if is_pointer(id) => found.push((id, if_null)),
                ExprKind::Compare { op, lhs, rhs } if is_zero(lhs) || is_zero(rhs) => {
                    let part = if is_zero(rhs) { lhs } else { rhs };
                    match op {
                        CmpOp::Eq => work.push((part, !if_null)),
                        CmpOp::Ne => work.push((part, if_null)),
                        _ => {}
                    }
                }
                ExprKind::Binary {
                    op: BinOp::And | BinOp::Or,
                    lhs,
                    rhs,
                } => {
                    let parts = [lhs, rhs].into_iter().filter(|&part| is_comparison(part));
                    work.extend(parts.map(|part| (part, if_null)));
                }
                ExprKind::Cast { arg } => work.push((arg, if_null)),
                _ => {}
            }
        }
        found
    }

    /// Whether each way to the statements at a place comes from a test that has found a pointer null, which is not assigned to in between:
    /// `if (!p) { warn(p->name); break; }`.
    pub fn is_found_null(&self, pointer: ExprId, place: impl Fn(Pos) -> bool) -> bool {
        let all = || (0..self.blocks.len() as u32).map(BlockId);
        let here = all().filter(|&id| {
            let block = self.block(id);
            block.stmts.iter().any(|stmt| place(stmt.pos)) || place(block.term.pos)
        });
        let here: Vec<BlockId> = here.collect();
        let comes_from = |side: BlockId| {
            here.iter().all(|&block| {
                let around = block != side && self.leads_to(BlockId(0), block, Some(side));
                !around && !self.assigns_between(side, block, pointer, &place)
            })
        };
        let mut tests = all();
        !here.is_empty()
            && tests.any(|test| {
                self.null_side(test, pointer).is_some_and(|side| {
                    let leads_there =
                        |block: BlockId| self.block(block).term.successors().contains(&side);
                    all().filter(|&block| leads_there(block)).eq([test]) && comes_from(side)
                })
            })
    }

    /// Where control goes from a block that ends in a test of just this pointer if that is null.
    fn null_side(&self, test: BlockId, pointer: ExprId) -> Option<BlockId> {
        let TermKind::Branch {
            cond, then, els, ..
        } = self.block(test).term.kind
        else {
            return None;
        };
        if matches!(self.expr(cond).kind, ExprKind::Binary { .. }) {
            return None;
        }
        let &[(compared, if_null)] = &self.compared_with_null(cond)[..] else {
            return None;
        };
        let side = if if_null { then } else { els };
        (self.is_alike(compared, pointer) && then != els).then_some(side)
    }

    /// Whether a pointer's variable may be assigned to on the way from the beginning of one block to the statements at a place in another.
    fn assigns_between(
        &self,
        from: BlockId,
        to: BlockId,
        pointer: ExprId,
        place: impl Fn(Pos) -> bool,
    ) -> bool {
        let mut seen = vec![false; self.blocks.len()];
        let mut work = vec![from];
        while let Some(id) = work.pop() {
            if std::mem::replace(&mut seen[id.index()], true) {
                continue;
            }
            let block = self.block(id);
            let before = block
                .stmts
                .iter()
                .take_while(|stmt| id != to || !place(stmt.pos));
            if before.clone().any(|stmt| self.assigns(stmt, pointer)) {
                return true;
            }
            if id != to {
                work.extend(block.term.successors());
            }
        }
        false
    }
}
