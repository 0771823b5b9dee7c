//! What a body says of itself.
//!
//! In: a [`Body`]. Out: what it calls, mentions and loops over, without running it.

use std::collections::BTreeSet;

use super::{
    Block, BlockId, Body, Callee, Expr, ExprId, ExprKind, FunctionHolder, Local, LocalId, Mention,
    Pos, StmtKind, Symbol, SymbolId, SymbolKind, SymbolName, TermKind, Terminator,
};

impl Body {
    pub fn expr(&self, id: ExprId) -> &Expr {
        &self.exprs[id.index()]
    }

    /// Whether a statement itself, not a function called in it, may write to memory that a pointer leads to: not if it assigns to a variable.
    pub fn may_write_memory(&self, statement: &StmtKind) -> bool {
        match statement {
            StmtKind::Store { addr, .. } => {
                !matches!(self.expr(*addr).kind, ExprKind::AddrLocal(_))
            }
            StmtKind::Copy { .. } | StmtKind::Zero { .. } | StmtKind::Havoc { .. } => true,
            StmtKind::Expose { .. }
            | StmtKind::Call(_)
            | StmtKind::Assume(_)
            | StmtKind::Assert(_)
            | StmtKind::ScopeBegin(_) => false,
        }
    }

    pub fn block(&self, id: BlockId) -> &Block {
        &self.blocks[id.index()]
    }

    pub fn symbol(&self, id: SymbolId) -> &Symbol {
        &self.symbols[id.index()]
    }

    pub fn local(&self, id: LocalId) -> &Local {
        &self.locals[id.index()]
    }

    pub fn file(&self, pos: Pos) -> &str {
        self.files
            .get(usize::from(pos.file))
            .map_or("", String::as_str)
    }

    /// Small enough to be inlined into its callers: a few blocks and statements, no loop.
    pub fn is_small(&self) -> bool {
        const BLOCKS: usize = 8;
        const STMTS: usize = 40;
        self.blocks.len() <= BLOCKS
            && self.blocks.iter().map(|b| b.stmts.len()).sum::<usize>() <= STMTS
            && !self.has_loop()
    }

    /// The parameters, by their number, through which it calls a function.
    pub fn called_params(&self) -> impl Iterator<Item = usize> {
        let stmts = self.blocks.iter().flat_map(|block| &block.stmts);
        stmts.filter_map(|stmt| {
            let StmtKind::Call(call) = &stmt.kind else {
                return None;
            };
            let Callee::Indirect { function, .. } = call.callee else {
                return None;
            };
            let ExprKind::Load { addr, .. } = self.expr(function).kind else {
                return None;
            };
            match self.expr(addr).kind {
                ExprKind::AddrLocal(local) if local.0 < self.params => Some(local.index()),
                _ => None,
            }
        })
    }

    /// The variables that are set to one constant here and to another there, in order.
    pub fn flags(&self) -> Vec<LocalId> {
        let stmts = self.blocks.iter().flat_map(|block| &block.stmts);
        let constants = stmts.filter_map(|stmt| match stmt.kind {
            StmtKind::Store { addr, value } => {
                match (&self.expr(addr).kind, &self.expr(value).kind) {
                    (&ExprKind::AddrLocal(local), &ExprKind::Const(value)) => Some((local, value)),
                    _ => None,
                }
            }
            _ => None,
        });
        let mut constants: Vec<(LocalId, u128)> = constants.collect();
        constants.sort_unstable();
        constants.dedup();
        let pairs = constants.windows(2);
        let mut flags: Vec<LocalId> = pairs
            .filter(|pair| pair[0].0 == pair[1].0)
            .map(|pair| pair[0].0)
            .collect();
        flags.dedup();
        flags
    }

    /// For each block the numbers of those that control may go to next.
    pub fn edges(&self) -> Vec<Vec<usize>> {
        let blocks = self.blocks.iter().map(|block| block.term.successors());
        blocks
            .map(|next| next.into_iter().map(BlockId::index).collect())
            .collect()
    }

    /// Whether some block can be executed twice.
    fn has_loop(&self) -> bool {
        // Remove blocks without a predecessor until none is left; what remains lies on or behind a loop.
        let mut incoming = vec![0u32; self.blocks.len()];
        for next in self.blocks.iter().flat_map(|block| block.term.successors()) {
            incoming[next.index()] += 1;
        }
        let mut free: Vec<usize> = (0..incoming.len()).filter(|&b| incoming[b] == 0).collect();
        let mut removed = 0;
        while let Some(block) = free.pop() {
            removed += 1;
            for next in self.blocks[block].term.successors() {
                incoming[next.index()] -= 1;
                if incoming[next.index()] == 0 {
                    free.push(next.index());
                }
            }
        }
        removed < self.blocks.len()
    }

    /// Whether control can get from one block to another, without passing `not_by`.
    pub fn leads_to(&self, from: BlockId, to: BlockId, not_by: Option<BlockId>) -> bool {
        let mut seen = vec![false; self.blocks.len()];
        let mut work = vec![from];
        while let Some(block) = work.pop() {
            if block == to {
                return true;
            }
            if Some(block) != not_by && !std::mem::replace(&mut seen[block.index()], true) {
                work.extend(self.block(block).term.successors());
            }
        }
        false
    }

    /// Whether it calls through a pointer.
    pub fn calls_indirectly(&self) -> bool {
        let mut statements = self.blocks.iter().flat_map(|block| &block.stmts);
        statements.any(|stmt| {
            matches!(&stmt.kind, StmtKind::Call(call) if matches!(call.callee, Callee::Indirect { .. }))
        })
    }

    /// The members and variables that functions are called through, sorted.
    pub fn holders_called(&self) -> Vec<FunctionHolder> {
        let statements = self.blocks.iter().flat_map(|block| &block.stmts);
        let holders = statements.filter_map(|stmt| match &stmt.kind {
            StmtKind::Call(call) => match &call.callee {
                Callee::Indirect { holder, .. } => holder.clone(),
                Callee::Direct(_) => None,
            },
            _ => None,
        });
        let holders: BTreeSet<FunctionHolder> = holders.collect();
        holders.into_iter().collect()
    }

    /// The functions that the body names, in order of first mention, each once: whether it calls them, and
    /// whether it takes their address.
    pub fn mentions(&self) -> Vec<Mention> {
        let mut called = vec![false; self.symbols.len()];
        let mut taken = vec![false; self.symbols.len()];
        for expr in &self.exprs {
            if let ExprKind::AddrSymbol(symbol) = expr.kind {
                taken[symbol.index()] = true;
            }
        }
        let statements = self.blocks.iter().flat_map(|block| &block.stmts);
        for stmt in statements {
            if let StmtKind::Call(call) = &stmt.kind
                && let Callee::Direct(symbol) = call.callee
            {
                called[symbol.index()] = true;
            }
        }
        let mut mentions: Vec<Mention> = Vec::new();
        for (index, symbol) in self.symbols.iter().enumerate() {
            let SymbolKind::Function { .. } = symbol.kind else {
                continue;
            };
            match mentions.iter_mut().find(|known| known.name == symbol.name) {
                Some(known) => {
                    known.called |= called[index];
                    known.taken |= taken[index];
                }
                None => mentions.push(Mention {
                    name: symbol.name.clone(),
                    called: called[index],
                    taken: taken[index],
                }),
            }
        }
        mentions
    }

    /// The functions that the body calls or takes the address of (which it may call later), in order of
    /// first mention, each once.
    pub fn direct_callees(&self) -> Vec<&SymbolName> {
        let functions = self
            .symbols
            .iter()
            .filter(|symbol| matches!(symbol.kind, SymbolKind::Function { .. }));
        let mut callees: Vec<&SymbolName> = Vec::new();
        for symbol in functions {
            if !callees.contains(&&symbol.name) {
                callees.push(&symbol.name);
            }
        }
        callees
    }
}

impl Terminator {
    /// The blocks control may go to next.
    pub fn successors(&self) -> Vec<BlockId> {
        match &self.kind {
            TermKind::Goto(next) => vec![*next],
            TermKind::Branch { then, els, .. } => vec![*then, *els],
            TermKind::Switch { cases, default, .. } => {
                cases.iter().map(|case| case.2).chain([*default]).collect()
            }
            TermKind::Nondet(targets) => targets.clone(),
            TermKind::Return(_) | TermKind::Unreachable => Vec::new(),
        }
    }

    pub fn successors_mut(&mut self) -> Vec<&mut BlockId> {
        match &mut self.kind {
            TermKind::Goto(next) => vec![next],
            TermKind::Branch { then, els, .. } => vec![then, els],
            TermKind::Switch { cases, default, .. } => cases
                .iter_mut()
                .map(|case| &mut case.2)
                .chain([default])
                .collect(),
            TermKind::Nondet(targets) => targets.iter_mut().collect(),
            TermKind::Return(_) | TermKind::Unreachable => Vec::new(),
        }
    }
}
