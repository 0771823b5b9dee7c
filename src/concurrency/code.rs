//! Bodies as lists of steps that touch memory at most once, so that threads can be switched between any two accesses.
//!
//! In: linked bodies. Out: [`Code`] for each. A read of memory within an expression becomes a step of its own in front of
//! the statement (C leaves `x = x + 1` two accesses). A scalar whose address is never taken is a register.

use crate::ir::{
    Arg, Body, Callee, ExprId, ExprKind, LocalId, Pos, Stmt, StmtKind, TermKind, Terminator,
};

/// One step.
pub enum Step<'a> {
    /// Reads memory into the temporary of a `Load` expression.
    Fetch(ExprId),
    Statement(&'a StmtKind),
    /// Moves a call's result from its register to the variable in memory that it is meant for.
    Result(LocalId),
    End(&'a TermKind),
}

/// Where a local is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Slot {
    Register(usize),
    Memory(usize),
}

/// A body as the machine runs it.
pub struct Code<'a> {
    pub body: &'a Body,
    pub steps: Vec<(Step<'a>, Pos)>,
    /// The first step of each block.
    pub starts: Vec<u32>,
    pub slots: Vec<Slot>,
    pub registers: usize,
    /// The locals in memory, with their sizes.
    pub memory: Vec<u64>,
    /// The register that a call's result goes to on its way to memory.
    pub result: usize,
    /// For each step the registers whose values are read later on.
    pub live: Vec<Vec<u64>>,
    /// The steps where several ways come together: after a call, and where a block has several others before it.
    pub joins: Vec<bool>,
}

/// Room for a variable-length array, whose size the body does not tell.
const VARIABLE: u64 = 4096;

impl<'a> Code<'a> {
    pub fn new(body: &'a Body) -> Code<'a> {
        let mut code = Code {
            body,
            steps: Vec::new(),
            starts: Vec::new(),
            slots: Vec::new(),
            registers: 0,
            memory: Vec::new(),
            result: 0,
            live: Vec::new(),
            joins: Vec::new(),
        };
        code.place_locals();
        for block in &body.blocks {
            code.starts.push(index(code.steps.len()));
            for stmt in &block.stmts {
                code.statement(stmt);
            }
            code.end(&block.term);
        }
        code.live = liveness(&code);
        code.joins = joins(&code);
        code
    }

    /// Where control goes on after a jump.
    pub fn start(&self, block: crate::ir::BlockId) -> u32 {
        self.starts.get(block.index()).copied().unwrap_or(0)
    }

    pub fn register(&self, local: LocalId) -> Option<usize> {
        match self.slots.get(local.index()) {
            Some(Slot::Register(register)) => Some(*register),
            _ => None,
        }
    }

    /// The register that an address stands for.
    pub fn register_at(&self, addr: ExprId) -> Option<usize> {
        match self.body.expr(addr).kind {
            ExprKind::AddrLocal(local) => self.register(local),
            _ => None,
        }
    }

    /// Whether others may see what a step does: it touches memory or calls a primitive.
    pub fn counts(&self, step: &Step<'_>, primitive: impl Fn(crate::ir::SymbolId) -> bool) -> bool {
        match step {
            Step::Fetch(_) | Step::Result(_) => true,
            Step::Statement(StmtKind::Store { addr, .. }) => self.register_at(*addr).is_none(),
            Step::Statement(StmtKind::Call(call)) => match call.callee {
                Callee::Direct(symbol) => primitive(symbol),
                Callee::Indirect { .. } => false,
            },
            Step::Statement(kind) => matches!(
                kind,
                StmtKind::Copy { .. } | StmtKind::Zero { .. } | StmtKind::Havoc { .. }
            ),
            Step::End(_) => false,
        }
    }

    fn place_locals(&mut self) {
        let mut taken: Vec<bool> = self.body.locals.iter().map(|l| l.ty.is_none()).collect();
        let pointer = self.body.pointer_size;
        let mut take = |id: ExprId| {
            if let ExprKind::AddrLocal(local) = self.body.expr(id).kind {
                taken[local.index()] = true;
            }
        };
        let fits = |addr: ExprId, size: u64| match self.body.expr(addr).kind {
            ExprKind::AddrLocal(local) => self.body.local(local).size == size,
            _ => true,
        };
        for expr in &self.body.exprs {
            match &expr.kind {
                ExprKind::Load { addr, .. } if fits(*addr, expr.ty.size(pointer)) => {}
                kind => kind.operands().for_each(&mut take),
            }
        }
        let stmts = self.body.blocks.iter().flat_map(|block| &block.stmts);
        for stmt in stmts {
            match &stmt.kind {
                StmtKind::Store { addr, value } => {
                    take(*value);
                    if !fits(*addr, self.body.expr(*value).ty.size(pointer)) {
                        take(*addr);
                    }
                }
                kind => operands(kind).into_iter().for_each(&mut take),
            }
        }
        for block in &self.body.blocks {
            end_operands(&block.term.kind)
                .into_iter()
                .for_each(&mut take);
        }
        for (local, taken) in self.body.locals.iter().zip(taken) {
            self.slots.push(if taken {
                let size = if local.size == 0 {
                    VARIABLE
                } else {
                    local.size
                };
                self.memory.push(size);
                Slot::Memory(self.memory.len() - 1)
            } else {
                self.registers += 1;
                Slot::Register(self.registers - 1)
            });
        }
        self.result = self.registers;
        self.registers += 1;
    }

    fn statement(&mut self, stmt: &'a Stmt) {
        let mut seen = Vec::new();
        if let StmtKind::Store { addr, .. } = stmt.kind
            && self.register_at(addr).is_none()
        {
            self.fetches(addr, stmt.pos, &mut seen);
        }
        match &stmt.kind {
            StmtKind::Store { value, .. } => self.fetches(*value, stmt.pos, &mut seen),
            kind => {
                for operand in operands(kind) {
                    self.fetches(operand, stmt.pos, &mut seen);
                }
            }
        }
        self.steps.push((Step::Statement(&stmt.kind), stmt.pos));
        if let StmtKind::Call(call) = &stmt.kind
            && let Some(dst) = call.dst
            && self.body.local(dst).ty.is_some()
            && self.register(dst).is_none()
        {
            self.steps.push((Step::Result(dst), stmt.pos));
        }
    }

    fn end(&mut self, term: &'a Terminator) {
        let mut seen = Vec::new();
        for operand in end_operands(&term.kind) {
            self.fetches(operand, term.pos, &mut seen);
        }
        self.steps.push((Step::End(&term.kind), term.pos));
    }

    /// The reads of memory that an expression needs, innermost first.
    fn fetches(&mut self, id: ExprId, pos: Pos, seen: &mut Vec<ExprId>) {
        if seen.contains(&id) {
            return;
        }
        let kind = &self.body.expr(id).kind;
        if let ExprKind::Load { addr, .. } = kind {
            if self.register_at(*addr).is_some() {
                return;
            }
            self.fetches(*addr, pos, seen);
            seen.push(id);
            self.steps.push((Step::Fetch(id), pos));
            return;
        }
        for operand in kind.operands() {
            self.fetches(operand, pos, seen);
        }
    }
}

/// The expressions that a statement evaluates.
fn operands(kind: &StmtKind) -> Vec<ExprId> {
    match kind {
        StmtKind::Store { addr, value } => vec![*addr, *value],
        StmtKind::Copy { dst, src, .. } => vec![*dst, *src],
        StmtKind::Zero { dst, .. } | StmtKind::Havoc { dst, .. } => vec![*dst],
        StmtKind::Call(call) => {
            let mut all: Vec<ExprId> = call.args.iter().map(Arg::expr).collect();
            if let Callee::Indirect { function, .. } = call.callee {
                all.push(function);
            }
            all
        }
        StmtKind::Assume(cond) | StmtKind::Assert(cond) => vec![*cond],
        StmtKind::Expose { .. } | StmtKind::ScopeBegin(_) => Vec::new(),
    }
}

fn end_operands(kind: &TermKind) -> Vec<ExprId> {
    match kind {
        TermKind::Branch { cond, .. } => vec![*cond],
        TermKind::Switch { value, .. } => vec![*value],
        TermKind::Return(Some(arg)) => vec![arg.expr()],
        _ => Vec::new(),
    }
}

fn index(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// The expressions that a step evaluates, but for those of its reads of memory.
pub fn operands_of(step: &Step<'_>) -> Vec<ExprId> {
    match step {
        Step::Fetch(_) | Step::Result(_) => Vec::new(),
        Step::Statement(kind) => operands(kind),
        Step::End(kind) => end_operands(kind),
    }
}

/// What a step reads and writes of the registers.
pub fn uses(code: &Code<'_>, step: &Step<'_>) -> (Vec<usize>, Option<usize>) {
    let mut read = Vec::new();
    let mut written = None;
    match step {
        Step::Fetch(id) => {
            if let ExprKind::Load { addr, .. } = code.body.expr(*id).kind {
                registers(code, addr, &mut read);
            }
        }
        Step::Statement(kind) => {
            match kind {
                StmtKind::Store { addr, value } => {
                    registers(code, *value, &mut read);
                    match code.register_at(*addr) {
                        Some(register) => written = Some(register),
                        None => registers(code, *addr, &mut read),
                    }
                }
                kind => {
                    for operand in operands(kind) {
                        registers(code, operand, &mut read);
                    }
                }
            }
            if let StmtKind::Call(call) = kind
                && let Some(dst) = call.dst
            {
                written = Some(code.register(dst).unwrap_or(code.result));
            }
        }
        Step::Result(_) => read.push(code.result),
        Step::End(kind) => {
            for operand in end_operands(kind) {
                registers(code, operand, &mut read);
            }
        }
    }
    (read, written)
}

/// The registers that an expression reads.
pub fn registers(code: &Code<'_>, id: ExprId, read: &mut Vec<usize>) {
    let kind = &code.body.expr(id).kind;
    if let ExprKind::Load { addr, .. } = kind {
        read.extend(code.register_at(*addr));
        return;
    }
    for operand in kind.operands() {
        registers(code, operand, read);
    }
}

/// For each step whether several ways come together there.
fn joins(code: &Code<'_>) -> Vec<bool> {
    let mut before = vec![0u32; code.steps.len() + 1];
    for block in &code.body.blocks {
        for next in block.term.successors() {
            before[code.start(next) as usize] += 1;
        }
    }
    let steps = code.steps.iter().enumerate();
    let calls = steps.filter(|(_, (step, _))| matches!(step, Step::Statement(StmtKind::Call(_))));
    for (at, _) in calls {
        before[at + 1] += 2;
    }
    before.into_iter().map(|ways| ways >= 2).collect()
}

/// For each step the registers that some way on from it reads before it writes them.
fn liveness(code: &Code<'_>) -> Vec<Vec<u64>> {
    let words = code.registers.div_ceil(64);
    let mut live = vec![vec![0u64; words]; code.steps.len() + 1];
    let uses: Vec<(Vec<usize>, Option<usize>)> = code
        .steps
        .iter()
        .map(|(step, _)| uses(code, step))
        .collect();
    let successors = |at: usize| -> Vec<usize> {
        match &code.steps[at].0 {
            Step::End(_) => {
                let block = code.starts.partition_point(|start| *start as usize <= at);
                let block = &code.body.blocks[block.saturating_sub(1)];
                let next = block.term.successors().into_iter();
                next.map(|next| code.start(next) as usize).collect()
            }
            _ => vec![at + 1],
        }
    };
    let mut changed = true;
    while changed {
        changed = false;
        for at in (0..code.steps.len()).rev() {
            let mut now = vec![0u64; words];
            for next in successors(at) {
                for (word, other) in now.iter_mut().zip(&live[next]) {
                    *word |= other;
                }
            }
            let (read, written) = &uses[at];
            if let Some(register) = written {
                now[register / 64] &= !(1 << (register % 64));
            }
            for register in read {
                now[register / 64] |= 1 << (register % 64);
            }
            if now != live[at] {
                live[at] = now;
                changed = true;
            }
        }
    }
    live
}
