//! For tests: runs bodies on concrete values, so that lowering can be compared with a compiler.
//!
//! In: bodies of functions and of objects' initialisers. Out: what a function returns. Memory is one
//! flat array of bytes; an access outside it, an unknown value or too many steps end the test.

use rustc_hash::FxHashMap;

use super::{
    Arg, BinOp, Body, Callee, CmpOp, Expr, ExprId, ExprKind, StmtKind, SymbolKind, SymbolName,
    TermKind, Ty, UnOp,
};

const BASE: u64 = 0x1_0000;
const FUNCTIONS: u64 = 1 << 40;
const STEPS: u64 = 10_000_000;
/// Room for a variable-length array.
const VARIABLE: u64 = 4096;

/// A machine with the program's memory.
pub struct Machine<'a> {
    bodies: FxHashMap<String, &'a Body>,
    names: Vec<String>,
    memory: Vec<u8>,
    globals: FxHashMap<SymbolName, u64>,
    steps: u64,
}

struct Frame<'a> {
    body: &'a Body,
    locals: Vec<u64>,
    strings: Vec<u64>,
}

impl<'a> Machine<'a> {
    /// A machine whose objects have been initialised by `objects`.
    pub fn new(functions: &'a [Body], objects: &'a [Body]) -> Machine<'a> {
        let mut machine = Machine {
            bodies: functions.iter().map(|b| (b.name.name.clone(), b)).collect(),
            names: Vec::new(),
            memory: Vec::new(),
            globals: FxHashMap::default(),
            steps: 0,
        };
        for object in objects {
            machine.run(object, Vec::new());
        }
        machine
    }

    fn allocate(&mut self, size: u64) -> u64 {
        let at = self.memory.len().next_multiple_of(16);
        self.memory.resize(at + size as usize + 16, 0);
        BASE + at as u64
    }

    fn slice(&mut self, addr: u64, size: u64) -> &mut [u8] {
        let at = addr.checked_sub(BASE).expect("wild address") as usize;
        &mut self.memory[at..at + size as usize]
    }

    fn read(&mut self, addr: u64, bits: u16) -> u128 {
        let mut bytes = [0; 16];
        let size = usize::from(bits.div_ceil(8));
        bytes[..size].copy_from_slice(self.slice(addr, size as u64));
        u128::from_le_bytes(bytes)
    }

    fn write(&mut self, addr: u64, value: u128, bits: u16) {
        let size = usize::from(bits.div_ceil(8));
        self.slice(addr, size as u64)
            .copy_from_slice(&value.to_le_bytes()[..size]);
    }

    fn copy(&mut self, dst: u64, src: u64, size: u64) {
        let bytes = self.slice(src, size).to_vec();
        self.slice(dst, size).copy_from_slice(&bytes);
    }

    /// Calls a function with scalar arguments.
    pub fn call(&mut self, name: &str, args: &[u128]) -> u128 {
        let body = self.bodies[name];
        let args = args.iter().map(|value| Ok(*value)).collect();
        self.run(body, args).unwrap_or(0)
    }

    /// Runs a body; arguments are scalars or addresses of records.
    fn run(&mut self, body: &'a Body, args: Vec<Result<u128, (u64, u64)>>) -> Option<u128> {
        let locals = body
            .locals
            .iter()
            .map(|local| {
                self.allocate(if local.size == 0 {
                    VARIABLE
                } else {
                    local.size
                })
            })
            .collect();
        let strings = body.strings.iter().map(|bytes| {
            let at = self.allocate(bytes.len() as u64);
            self.slice(at, bytes.len() as u64).copy_from_slice(bytes);
            at
        });
        let strings = strings.collect();
        let frame = Frame {
            body,
            locals,
            strings,
        };
        for (i, arg) in args.into_iter().enumerate().take(body.params as usize) {
            match arg {
                Ok(value) => {
                    let bits = body.locals[i].ty.map_or(64, Ty::bits);
                    self.write(frame.locals[i], value, bits);
                }
                Err((addr, size)) => self.copy(frame.locals[i], addr, size),
            }
        }
        let mut block = 0;
        loop {
            for stmt in &body.blocks[block].stmts {
                self.stmt(&frame, &stmt.kind);
            }
            self.steps += 1;
            assert!(self.steps < STEPS, "no end in {}", body.name);
            block = match &body.blocks[block].term.kind {
                TermKind::Goto(next) => next.index(),
                TermKind::Branch { cond, then, els } => {
                    if self.value(&frame, *cond) != 0 {
                        then.index()
                    } else {
                        els.index()
                    }
                }
                TermKind::Switch {
                    value,
                    cases,
                    default,
                } => {
                    let ty = body.expr(*value).ty;
                    let value = signed(self.value(&frame, *value), ty);
                    let hit = cases.iter().find(|case| (case.0..=case.1).contains(&value));
                    hit.map_or(*default, |case| case.2).index()
                }
                TermKind::Nondet(targets) => targets[0].index(),
                TermKind::Return(None) => return None,
                TermKind::Return(Some(Arg::Scalar(expr))) => {
                    return Some(self.value(&frame, *expr));
                }
                TermKind::Return(Some(Arg::Record { addr, .. })) => {
                    return Some(self.value(&frame, *addr));
                }
                TermKind::Unreachable => panic!("unreachable in {}", body.name),
            };
        }
    }

    fn stmt(&mut self, frame: &Frame<'a>, kind: &StmtKind) {
        match kind {
            StmtKind::Store { addr, value } => {
                let bits = frame.body.expr(*value).ty.bits();
                let (addr, value) = (self.address(frame, *addr), self.value(frame, *value));
                self.write(addr, value, bits);
            }
            StmtKind::Copy { dst, src, size } => {
                let (dst, src) = (self.address(frame, *dst), self.address(frame, *src));
                self.copy(dst, src, *size);
            }
            StmtKind::Zero { dst, size } => {
                let dst = self.address(frame, *dst);
                self.slice(dst, *size).fill(0);
            }
            StmtKind::Havoc { dst, size } => {
                let dst = self.address(frame, *dst);
                self.slice(dst, *size).fill(0xa5);
            }
            StmtKind::Call(call) => {
                let args = call.args.iter().map(|arg| match arg {
                    Arg::Scalar(expr) => Ok(self.value(frame, *expr)),
                    Arg::Record { addr, size } => Err((self.address(frame, *addr), *size)),
                });
                let args: Vec<_> = args.collect();
                let name = match &call.callee {
                    Callee::Direct(id) => frame.body.symbol(*id).name.name.clone(),
                    Callee::Indirect { function, .. } => {
                        let addr = self.address(frame, *function);
                        self.names[(addr - FUNCTIONS) as usize / 16].clone()
                    }
                };
                let body = *self
                    .bodies
                    .get(&name)
                    .unwrap_or_else(|| panic!("call of {name}"));
                let result = self.run(body, args);
                if let (Some(dst), Some(result)) = (call.dst, result) {
                    let local = frame.body.local(dst);
                    let to = frame.locals[dst.index()];
                    match local.ty {
                        Some(ty) => self.write(to, result, ty.bits()),
                        None => self.copy(to, result as u64, local.size),
                    }
                }
            }
            StmtKind::Assume(cond) | StmtKind::Assert(cond) => {
                assert_ne!(self.value(frame, *cond), 0);
            }
            StmtKind::ScopeEnd(_) => {}
        }
    }

    fn address(&mut self, frame: &Frame<'a>, id: ExprId) -> u64 {
        self.value(frame, id) as u64
    }

    /// The bits of an expression's value, truncated to its width.
    fn value(&mut self, frame: &Frame<'a>, id: ExprId) -> u128 {
        let Expr { kind, ty } = frame.body.expr(id).clone();
        let bits = match kind {
            ExprKind::Const(bits) => bits,
            ExprKind::Unknown => panic!("unknown value in {}", frame.body.name),
            ExprKind::AddrLocal(id) => u128::from(frame.locals[id.index()]),
            ExprKind::AddrString(id) => u128::from(frame.strings[id.index()]),
            ExprKind::AddrSymbol(id) => {
                let symbol = frame.body.symbol(id).clone();
                match symbol.kind {
                    SymbolKind::Function { .. } => {
                        let known = self.names.iter().position(|name| *name == symbol.name.name);
                        let index = known.unwrap_or_else(|| {
                            self.names.push(symbol.name.name);
                            self.names.len() - 1
                        });
                        u128::from(FUNCTIONS) + index as u128 * 16
                    }
                    SymbolKind::Object { size, .. } => match self.globals.get(&symbol.name) {
                        Some(addr) => u128::from(*addr),
                        None => {
                            let addr = self.allocate(size);
                            self.globals.insert(symbol.name, addr);
                            u128::from(addr)
                        }
                    },
                }
            }
            ExprKind::Load { addr, .. } => {
                let addr = self.address(frame, addr);
                self.read(addr, ty.bits())
            }
            ExprKind::Unary { op, arg } => {
                let arg = self.value(frame, arg);
                match (op, ty) {
                    (UnOp::Neg, Ty::Float { .. }) => from_float(-float(arg, ty), ty),
                    (UnOp::Neg, _) => arg.wrapping_neg(),
                    (UnOp::Not, _) => !arg,
                }
            }
            ExprKind::Binary { op, lhs, rhs } => {
                let right = frame.body.expr(rhs).ty;
                let (l, r) = (self.value(frame, lhs), self.value(frame, rhs));
                binary(op, ty, l, signed(r, right))
            }
            ExprKind::Compare { op, lhs, rhs } => {
                let ty = frame.body.expr(lhs).ty;
                assert_eq!(ty, frame.body.expr(rhs).ty, "operands of a comparison");
                let (l, r) = (self.value(frame, lhs), self.value(frame, rhs));
                u128::from(compare(op, ty, l, r))
            }
            ExprKind::Cast { arg } => {
                let from = frame.body.expr(arg).ty;
                let value = self.value(frame, arg);
                match (from, ty) {
                    (Ty::Float { .. }, Ty::Float { .. }) => from_float(float(value, from), ty),
                    (Ty::Float { .. }, _) => float(value, from) as i128 as u128,
                    (_, Ty::Float { .. }) => from_float(signed(value, from) as f64, ty),
                    _ => signed(value, from) as u128,
                }
            }
            ExprKind::Member { base, offset, .. } => self.value(frame, base) + u128::from(offset),
            ExprKind::Index { base, index, scale } => {
                let ty = frame.body.expr(index).ty;
                assert_eq!(ty.bits(), 64, "width of an index");
                let index = signed(self.value(frame, index), ty);
                let base = self.value(frame, base);
                base.wrapping_add((index * i128::from(scale)) as u128)
            }
            ExprKind::Select { cond, then, els } => {
                if self.value(frame, cond) != 0 {
                    self.value(frame, then)
                } else {
                    self.value(frame, els)
                }
            }
        };
        match ty.bits() {
            128.. => bits,
            width => bits & ((1 << width) - 1),
        }
    }
}

fn signed(bits: u128, ty: Ty) -> i128 {
    match (ty.signed(), ty.bits()) {
        (true, width @ 1..128) => ((bits << (128 - width)) as i128) >> (128 - width),
        _ => bits as i128,
    }
}

fn float(bits: u128, ty: Ty) -> f64 {
    match ty.bits() {
        32 => f64::from(f32::from_bits(bits as u32)),
        64 => f64::from_bits(bits as u64),
        other => panic!("float of {other} bits"),
    }
}

fn from_float(value: f64, ty: Ty) -> u128 {
    match ty.bits() {
        32 => u128::from((value as f32).to_bits()),
        _ => u128::from(value.to_bits()),
    }
}

fn binary(op: BinOp, ty: Ty, l: u128, right: i128) -> u128 {
    let r = right as u128;
    if let Ty::Float { .. } = ty {
        let (a, b) = (float(l, ty), float(r, ty));
        return from_float(
            match op {
                BinOp::Add => a + b,
                BinOp::Sub => a - b,
                BinOp::Mul => a * b,
                BinOp::Div => a / b,
                _ => panic!("operator on floats"),
            },
            ty,
        );
    }
    let a = signed(l, ty);
    match op {
        BinOp::Add => l.wrapping_add(r),
        BinOp::Sub => l.wrapping_sub(r),
        BinOp::Mul => l.wrapping_mul(r),
        BinOp::Div if ty.signed() => (a / right) as u128,
        BinOp::Div => l / r,
        BinOp::Rem if ty.signed() => (a % right) as u128,
        BinOp::Rem => l % r,
        BinOp::And => l & r,
        BinOp::Or => l | r,
        BinOp::Xor => l ^ r,
        BinOp::Shl => l << right,
        BinOp::Shr if ty.signed() => (a >> right) as u128,
        BinOp::Shr => l >> right,
    }
}

fn compare(op: CmpOp, ty: Ty, l: u128, r: u128) -> bool {
    let order = match ty {
        Ty::Float { .. } => float(l, ty).partial_cmp(&float(r, ty)).expect("NaN"),
        _ if ty.signed() => signed(l, ty).cmp(&signed(r, ty)),
        _ => l.cmp(&r),
    };
    match op {
        CmpOp::Eq => order.is_eq(),
        CmpOp::Ne => order.is_ne(),
        CmpOp::Lt => order.is_lt(),
        CmpOp::Le => order.is_le(),
        CmpOp::Gt => order.is_gt(),
        CmpOp::Ge => order.is_ge(),
    }
}
