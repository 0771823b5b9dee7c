//! What changes from one round of a loop to the next.
//!
//! In: a body. Out: the tests whose outcome may be another in each round, because what they read depends on its
//! own value in the round before (`i = i + 1`) or is not the function's own alone. The result of a call that is
//! made again in the same way is none of these. How variables are set, and whether the function returns what its loops count.

use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::EdgeRef;

use super::{
    Arg, BinOp, BlockId, Body, Call, Callee, ExprId, ExprKind, LocalId, RetTy, StmtKind, TermKind,
    Ty,
};

/// How a statement sets a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// It adds a constant to a number, or takes one from it (`i++`, `n -= 2`).
    Counts {
        up: bool,
    },
    /// It adds so many bytes to a pointer (`p++`).
    Steps(i64),
    Other,
}

/// What a function returns whose result hangs on how often a loop runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counted {
    Number,
    /// What a comparison with such a number says.
    Truth,
}

impl Body {
    /// For each block, whether what it ends with may decide otherwise in each round of a loop. `same`: the calls that have one result always.
    pub fn varying_tests(&self, same: impl Fn(&Call) -> bool) -> Vec<bool> {
        let varies = self.varying_locals(same);
        let test = |value: ExprId| {
            let mut found = false;
            self.each_read(value, &mut |read| {
                found |= read.is_none_or(|local| varies[local.index()]);
            });
            found
        };
        let blocks = self.blocks.iter();
        let tests = blocks.map(|block| match &block.term.kind {
            TermKind::Branch { cond, .. } => test(*cond),
            TermKind::Switch { value, .. } => test(*value),
            _ => false,
        });
        tests.collect()
    }

    fn varying_locals(&self, same: impl Fn(&Call) -> bool) -> Vec<bool> {
        let mut varies = vec![false; self.locals.len()];
        let mut graph: DiGraph<(), ()> = DiGraph::new();
        let nodes: Vec<NodeIndex> = self.locals.iter().map(|_| graph.add_node(())).collect();
        let mut depends = |local: LocalId, value: ExprId| {
            self.each_read(value, &mut |read| match read {
                Some(other) => {
                    graph.update_edge(nodes[local.index()], nodes[other.index()], ());
                }
                None => varies[local.index()] = true,
            });
        };
        for stmt in self.blocks.iter().flat_map(|block| &block.stmts) {
            match &stmt.kind {
                StmtKind::Store { addr, value } => {
                    if let ExprKind::AddrLocal(local) = self.expr(*addr).kind {
                        depends(local, *value);
                    }
                }
                StmtKind::Call(call) if same(call) => {}
                StmtKind::Call(call) => {
                    let Some(dst) = call.dst else { continue };
                    if let Callee::Indirect { function, .. } = &call.callee {
                        depends(dst, *function);
                    }
                    for arg in &call.args {
                        depends(dst, arg.expr());
                    }
                }
                _ => {}
            }
        }
        for local in self.pointed_to() {
            varies[local.index()] = true;
        }
        // Those that others depend on come first.
        for component in kosaraju_scc(&graph) {
            let mut edges = component.iter().flat_map(|&node| graph.neighbors(node));
            let circle = component.len() > 1 || edges.any(|other| component.contains(&other));
            let known = |node: &NodeIndex| {
                let mut others = graph.neighbors(*node);
                varies[node.index()] || others.any(|other| varies[other.index()])
            };
            let changes = circle || component.iter().any(known);
            for node in component {
                varies[node.index()] = changes;
            }
        }
        varies
    }

    /// Whether the function returns a number that rounds of a loop count (`n++`, `s++`), or what depends on it.
    pub fn counted_result(&self) -> Option<Counted> {
        if !matches!(self.ret, RetTy::Scalar(Ty::Int { .. })) {
            return None;
        }
        let counted = self.counted_locals();
        let returned = self
            .blocks
            .iter()
            .filter_map(|block| match &block.term.kind {
                TermKind::Return(Some(Arg::Scalar(value))) => Some(*value),
                _ => None,
            });
        let returned = returned.filter(|&value| {
            let mut found = false;
            self.each_read(value, &mut |read| {
                found |= read.is_some_and(|local| counted[local.index()]);
            });
            found
        });
        let kinds = returned.map(|value| match self.is_comparison(value) {
            true => Counted::Truth,
            false => Counted::Number,
        });
        kinds.reduce(|one, other| if one == other { one } else { Counted::Number })
    }

    fn is_comparison(&self, value: ExprId) -> bool {
        match self.expr(value).kind {
            ExprKind::Compare { .. } => true,
            ExprKind::Cast { arg } => self.is_comparison(arg),
            _ => false,
        }
    }

    /// The variables that depend by assignments on one that a round makes by arithmetic from what it was in the round before.
    fn counted_locals(&self) -> Vec<bool> {
        let mut graph: DiGraph<(), bool> = DiGraph::new();
        let nodes: Vec<NodeIndex> = self.locals.iter().map(|_| graph.add_node(())).collect();
        for stmt in self.blocks.iter().flat_map(|block| &block.stmts) {
            let StmtKind::Store { addr, value } = &stmt.kind else {
                continue;
            };
            let ExprKind::AddrLocal(local) = self.expr(*addr).kind else {
                continue;
            };
            let arithmetic = self.is_arithmetic(*value);
            self.each_read(*value, &mut |read| {
                if let Some(other) = read {
                    let (from, to) = (nodes[local.index()], nodes[other.index()]);
                    let known = graph.find_edge(from, to).map(|edge| graph[edge]);
                    graph.update_edge(from, to, arithmetic || known.unwrap_or(false));
                }
            });
        }
        let mut counted = vec![false; self.locals.len()];
        // Those that others depend on come first.
        for component in kosaraju_scc(&graph) {
            let mut counts = false;
            for &node in &component {
                for edge in graph.edges(node) {
                    counts |= counted[edge.target().index()];
                    counts |= *edge.weight() && component.contains(&edge.target());
                }
            }
            for node in component {
                counted[node.index()] = counts;
            }
        }
        counted
    }

    /// Whether a value is another number than those that it is made from.
    fn is_arithmetic(&self, value: ExprId) -> bool {
        match self.expr(value).kind {
            ExprKind::Cast { arg } => self.is_arithmetic(arg),
            ExprKind::Binary { op, .. } => {
                matches!(op, BinOp::Add | BinOp::Sub | BinOp::Mul | BinOp::Shl)
            }
            ExprKind::Index { .. } => true,
            ExprKind::Select { then, els, .. } => {
                self.is_arithmetic(then) || self.is_arithmetic(els)
            }
            _ => false,
        }
    }

    /// How each store and each result of a call sets which variable, in which block; not what others set that have a variable's address
    /// ([`Self::pointed_to`]).
    pub fn changes(&self) -> Vec<(BlockId, LocalId, Change)> {
        let mut changes = Vec::new();
        for (block, content) in (0..).map(BlockId).zip(&self.blocks) {
            for stmt in &content.stmts {
                let set = match &stmt.kind {
                    StmtKind::Store { addr, value } => match self.expr(*addr).kind {
                        ExprKind::AddrLocal(local) => Some((local, self.change(local, *value))),
                        _ => None,
                    },
                    StmtKind::Call(call) => call.dst.map(|dst| (dst, Change::Other)),
                    _ => None,
                };
                changes.extend(set.map(|(local, change)| (block, local, change)));
            }
        }
        changes
    }

    fn change(&self, local: LocalId, value: ExprId) -> Change {
        let constant = |id: ExprId| match self.expr(id).kind {
            ExprKind::Const(value) => Some(value),
            _ => None,
        };
        match self.expr(value).kind {
            ExprKind::Cast { arg } => self.change(local, arg),
            ExprKind::Binary {
                op: op @ (BinOp::Add | BinOp::Sub),
                lhs,
                rhs,
            } if self.is_value_of(local, lhs) => {
                let Some(step) = constant(rhs) else {
                    return Change::Other;
                };
                let bits = self.expr(rhs).ty.bits();
                let negative = bits
                    .checked_sub(1)
                    .is_some_and(|sign| step >> sign & 1 == 1);
                Change::Counts {
                    up: (op == BinOp::Add) != negative,
                }
            }
            ExprKind::Index { base, index, scale } if self.is_value_of(local, base) => {
                let steps = constant(index).map(|index| index as i64);
                let bytes = steps.and_then(|steps| steps.checked_mul(i64::try_from(scale).ok()?));
                bytes.map_or(Change::Other, Change::Steps)
            }
            _ => Change::Other,
        }
    }

    /// Whether an expression is what a variable holds, perhaps in another width.
    fn is_value_of(&self, local: LocalId, value: ExprId) -> bool {
        match self.expr(value).kind {
            ExprKind::Cast { arg } => self.is_value_of(local, arg),
            ExprKind::Load { addr, .. } => {
                matches!(self.expr(addr).kind, ExprKind::AddrLocal(read) if read == local)
            }
            _ => false,
        }
    }

    /// The variables whose address goes elsewhere than to a load or a store.
    pub fn pointed_to(&self) -> Vec<LocalId> {
        let mut used: Vec<ExprId> = Vec::new();
        for expr in &self.exprs {
            if !matches!(expr.kind, ExprKind::Load { .. }) {
                used.extend(expr.kind.operands());
            }
        }
        for stmt in self.blocks.iter().flat_map(|block| &block.stmts) {
            match &stmt.kind {
                StmtKind::Store { value, .. } => used.push(*value),
                StmtKind::Copy { dst, src, .. } => used.extend([*dst, *src]),
                StmtKind::Zero { dst, .. } | StmtKind::Havoc { dst, .. } => used.push(*dst),
                StmtKind::Call(call) => used.extend(call.args.iter().map(Arg::expr)),
                StmtKind::Expose { .. }
                | StmtKind::Assume(_)
                | StmtKind::Assert(_)
                | StmtKind::ScopeBegin(_) => {}
            }
        }
        let locals = used.into_iter().filter_map(|id| match self.expr(id).kind {
            ExprKind::AddrLocal(local) => Some(local),
            _ => None,
        });
        locals.collect()
    }

    /// Visits the variables that an expression reads; `None` for memory that is not a variable's.
    fn each_read(&self, value: ExprId, visit: &mut impl FnMut(Option<LocalId>)) {
        let mut work = vec![value];
        while let Some(id) = work.pop() {
            match &self.expr(id).kind {
                ExprKind::Load { addr, .. } => match self.expr(*addr).kind {
                    ExprKind::AddrLocal(local) => visit(Some(local)),
                    _ => visit(None),
                },
                ExprKind::Unknown => visit(None),
                kind => work.extend(kind.operands()),
            }
        }
    }
}
