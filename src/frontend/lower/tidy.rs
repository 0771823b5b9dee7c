//! Tidying a lowered body: what cannot be reached goes, straight lines become one block, and every
//! table keeps only what the rest mentions.
//!
//! In: the blocks and tables as built. Out: a [`Body`] whose blocks are in reverse postorder.

use rustc_hash::FxHashSet;

use crate::ir::{
    Arg, Block, BlockId, Body, Call, Callee, Expr, ExprId, ExprKind, LocalId, StmtKind, StringId,
    SymbolId, TermKind,
};

/// Removes unreachable blocks, merges straight lines and drops unused table entries.
pub fn tidy(body: &mut Body) {
    thread_jumps(&mut body.blocks);
    merge_lines(&mut body.blocks);
    reorder(&mut body.blocks);
    compact(body);
}

/// Jumps to an empty block that only jumps on go straight to its target.
fn thread_jumps(blocks: &mut [Block]) {
    let next: Vec<Option<BlockId>> = blocks
        .iter()
        .map(|block| match block.term.kind {
            TermKind::Goto(next) if block.stmts.is_empty() => Some(next),
            _ => None,
        })
        .collect();
    let ends = ends(&next);
    for block in blocks.iter_mut() {
        for target in block.term.successors_mut() {
            *target = ends[target.index()];
        }
        if let TermKind::Branch { then, els, .. } = block.term.kind
            && then == els
        {
            block.term.kind = TermKind::Goto(then);
        }
        if let TermKind::Nondet(list) = &mut block.term.kind {
            list.sort_unstable();
            list.dedup();
        }
    }
}

/// Where following jumps from each block ends: at a block that does more, or, in an empty endless loop,
/// at one of its blocks.
fn ends(next: &[Option<BlockId>]) -> Vec<BlockId> {
    const ON_PATH: BlockId = BlockId(u32::MAX);
    let mut ends: Vec<Option<BlockId>> = vec![None; next.len()];
    let mut path = Vec::new();
    for start in 0..next.len() {
        let mut at = start;
        let end = loop {
            match ends[at] {
                Some(ON_PATH) => break BlockId(at as u32),
                Some(end) => break end,
                None => {}
            }
            ends[at] = Some(ON_PATH);
            path.push(at);
            match next[at] {
                Some(on) => at = on.index(),
                None => break BlockId(at as u32),
            }
        };
        for at in path.drain(..) {
            ends[at] = Some(end);
        }
    }
    let known = |(at, end): (usize, Option<BlockId>)| end.unwrap_or(BlockId(at as u32));
    ends.into_iter().enumerate().map(known).collect()
}

fn reachable(blocks: &[Block]) -> Vec<bool> {
    let mut seen = vec![false; blocks.len()];
    let mut work = vec![BlockId(0)];
    while let Some(id) = work.pop() {
        if !std::mem::replace(&mut seen[id.index()], true) {
            work.extend(blocks[id.index()].term.successors());
        }
    }
    seen
}

/// A block whose only way in is one jump is appended to where the jump was.
fn merge_lines(blocks: &mut [Block]) {
    let seen = reachable(blocks);
    let mut preds = vec![0u32; blocks.len()];
    preds[0] = 1;
    for (block, _) in blocks.iter().zip(&seen).filter(|(_, seen)| **seen) {
        for successor in block.term.successors() {
            preds[successor.index()] += 1;
        }
    }
    for i in 0..blocks.len() {
        while seen[i]
            && let TermKind::Goto(next) = blocks[i].term.kind
            && next.index() != i
            && preds[next.index()] == 1
        {
            let absorbed = &mut blocks[next.index()];
            let mut stmts = std::mem::take(&mut absorbed.stmts);
            let term = absorbed.term.clone();
            // The absorbed block is left behind as unreachable.
            absorbed.term.kind = TermKind::Unreachable;
            preds[next.index()] = 0;
            blocks[i].stmts.append(&mut stmts);
            blocks[i].term = term;
        }
    }
}

/// Keeps the reachable blocks, in reverse postorder.
fn reorder(blocks: &mut Vec<Block>) {
    let mut order = Vec::new();
    let mut seen = vec![false; blocks.len()];
    let mut stack = vec![(BlockId(0), 0usize)];
    seen[0] = true;
    while let Some((id, edge)) = stack.pop() {
        // Later successors first, so that the first ends up nearest in reverse postorder.
        let successors = blocks[id.index()].term.successors();
        match successors.len().checked_sub(edge + 1) {
            Some(at) => {
                stack.push((id, edge + 1));
                let next = successors[at];
                if !std::mem::replace(&mut seen[next.index()], true) {
                    stack.push((next, 0));
                }
            }
            None => order.push(id),
        }
    }
    order.reverse();
    let mut renamed = vec![BlockId(0); blocks.len()];
    for (i, id) in order.iter().enumerate() {
        renamed[id.index()] = BlockId(u32::try_from(i).unwrap_or(u32::MAX));
    }
    let mut kept = Vec::with_capacity(order.len());
    for id in order {
        let mut block = blocks[id.index()].clone();
        for target in block.term.successors_mut() {
            *target = renamed[target.index()];
        }
        kept.push(block);
    }
    *blocks = kept;
}

/// Which entries of a table are used, and where they go.
struct Renaming {
    used: Vec<bool>,
    to: Vec<u32>,
}

impl Renaming {
    fn new(len: usize) -> Renaming {
        Renaming {
            used: vec![false; len],
            to: Vec::new(),
        }
    }

    fn keep<T>(&mut self, table: &mut Vec<T>) {
        let mut next = 0;
        self.to = self
            .used
            .iter()
            .map(|used| {
                let id = next;
                next += u32::from(*used);
                id
            })
            .collect();
        let mut used = self.used.iter();
        table.retain(|_| used.next().copied().unwrap_or(false));
    }
}

/// Every expression that a block mentions directly.
fn roots(block: &mut Block) -> Vec<&mut ExprId> {
    let mut out = Vec::new();
    for stmt in &mut block.stmts {
        match &mut stmt.kind {
            StmtKind::Store { addr, value } => out.extend([addr, value]),
            StmtKind::Copy { dst, src, .. } => out.extend([dst, src]),
            StmtKind::Zero { dst, .. } | StmtKind::Havoc { dst, .. } => out.push(dst),
            StmtKind::Expose { value, .. } => out.push(value),
            StmtKind::Assume(cond) | StmtKind::Assert(cond) => out.push(cond),
            StmtKind::Call(call) => {
                let call: &mut Call = call;
                if let Callee::Indirect { function, .. } = &mut call.callee {
                    out.push(function);
                }
                out.extend(call.args.iter_mut().map(Arg::expr_mut));
            }
            StmtKind::ScopeBegin(_) => {}
        }
    }
    match &mut block.term.kind {
        TermKind::Branch { cond, .. } => out.push(cond),
        TermKind::Switch { value, .. } => out.push(value),
        TermKind::Return(Some(arg)) => out.push(arg.expr_mut()),
        _ => {}
    }
    out
}

fn compact(body: &mut Body) {
    let mut exprs = Renaming::new(body.exprs.len());
    let mut locals = Renaming::new(body.locals.len());
    let mut symbols = Renaming::new(body.symbols.len());
    let mut strings = Renaming::new(body.strings.len());
    let mut names = Renaming::new(body.names.len());
    for used in locals.used.iter_mut().take(body.params as usize) {
        *used = true;
    }
    for block in &mut body.blocks {
        for root in roots(block) {
            exprs.used[root.index()] = true;
        }
        for stmt in &block.stmts {
            if let StmtKind::Call(call) = &stmt.kind {
                if let Callee::Direct(symbol) = call.callee {
                    symbols.used[symbol.index()] = true;
                }
                if let Some(dst) = call.dst {
                    locals.used[dst.index()] = true;
                }
            }
        }
    }
    // Operands precede their users, so one pass backwards finds all that is used.
    for i in (0..body.exprs.len()).rev() {
        if !exprs.used[i] {
            continue;
        }
        let kind = &mut body.exprs[i].kind;
        for operand in kind.operands_mut() {
            exprs.used[operand.index()] = true;
        }
        match *kind {
            ExprKind::AddrLocal(id) => locals.used[id.index()] = true,
            ExprKind::AddrSymbol(id) => symbols.used[id.index()] = true,
            ExprKind::AddrString(id) => strings.used[id.index()] = true,
            ExprKind::Member { name, record, .. } => {
                names.used[name as usize] = true;
                names.used[record as usize] = true;
            }
            ExprKind::Opaque { function, .. } => names.used[function as usize] = true,
            _ => {}
        }
    }
    // A variable that nothing points to is set before it is read: where its storage begins does not matter.
    let pointed_to: FxHashSet<LocalId> = body.pointed_to().into_iter().collect();
    for block in &mut body.blocks {
        block.stmts.retain(|stmt| match stmt.kind {
            StmtKind::ScopeBegin(local) => {
                locals.used[local.index()] && pointed_to.contains(&local)
            }
            _ => true,
        });
    }
    exprs.keep(&mut body.exprs);
    locals.keep(&mut body.locals);
    symbols.keep(&mut body.symbols);
    strings.keep(&mut body.strings);
    names.keep(&mut body.names);
    for Expr { kind, .. } in &mut body.exprs {
        for operand in kind.operands_mut() {
            *operand = ExprId(exprs.to[operand.index()]);
        }
        match kind {
            ExprKind::AddrLocal(id) => *id = LocalId(locals.to[id.index()]),
            ExprKind::AddrSymbol(id) => *id = SymbolId(symbols.to[id.index()]),
            ExprKind::AddrString(id) => *id = StringId(strings.to[id.index()]),
            ExprKind::Member { name, record, .. } => {
                *name = names.to[*name as usize];
                *record = names.to[*record as usize];
            }
            ExprKind::Opaque { function, .. } => *function = names.to[*function as usize],
            _ => {}
        }
    }
    for block in &mut body.blocks {
        for root in roots(block) {
            *root = ExprId(exprs.to[root.index()]);
        }
        for stmt in &mut block.stmts {
            match &mut stmt.kind {
                StmtKind::Call(call) => {
                    if let Callee::Direct(symbol) = &mut call.callee {
                        *symbol = SymbolId(symbols.to[symbol.index()]);
                    }
                    if let Some(dst) = &mut call.dst {
                        *dst = LocalId(locals.to[dst.index()]);
                    }
                }
                StmtKind::ScopeBegin(local) => *local = LocalId(locals.to[local.index()]),
                _ => {}
            }
        }
    }
}
