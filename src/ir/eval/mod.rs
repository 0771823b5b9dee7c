//! Runs a program of bodies on concrete values, so that lowering can be compared with a compiler.
//!
//! In: the bodies of a unit's functions and of its objects' initialisers. Out: what the program prints
//! and its exit status, or why it cannot be run. What the IR does not say (the results of `asm`, `long
//! double`) is followed as far as it is only copied; to decide or compute with it stops the machine.

mod library;
mod memory;
mod text;

use std::rc::Rc;

use rustc_hash::FxHashMap;

use self::memory::Memory;
use super::{
    Arg, BlockId, Body, Call, Callee, ExprId, ExprKind, StmtKind, SymbolKind, SymbolName, TermKind,
    Ty, fold,
};

/// Where functions lie: no data is ever there.
const FUNCTIONS: u64 = 1 << 30;
/// Distance between functions.
const STRIDE: u64 = 16;
/// Room for a variable-length array, whose size the body does not tell.
const VARIABLE: u64 = 4096;
/// Calls deeper than this have no end.
const DEPTH: usize = 20_000;
/// Stack that one call of the machine itself may need.
const RED_ZONE: usize = 256 << 10;
const STACK: usize = 16 << 20;

/// Why a program stopped before its `main` returned.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Stop {
    #[error("exited with {0}")]
    Exit(i32),
    #[error("aborted")]
    Abort,
    /// The IR leaves a value open that the program's way depends on.
    #[error("not modelled: {0}")]
    Unknown(&'static str),
    #[error("not modelled: function {0}")]
    Missing(String),
    #[error("undefined behaviour: {0}")]
    Undefined(&'static str),
    #[error("access to {0:#x}, where nothing is")]
    Wild(u64),
    #[error("too many steps")]
    Endless,
    #[error("out of memory")]
    Memory,
}

type Run<T> = Result<T, Stop>;

/// An argument or result.
#[derive(Clone, Debug)]
pub enum Datum {
    Scalar(u128, Ty),
    Record(Vec<u8>),
    /// Of this many bytes.
    Unknown(u64),
}

/// A body with the addresses of what it mentions.
struct Code<'a> {
    body: &'a Body,
    symbols: Vec<u64>,
    strings: Vec<u64>,
    /// Offsets of the locals in the frame.
    locals: Vec<u64>,
    frame: u64,
}

/// A machine with the program's memory.
pub struct Machine<'a> {
    code: Rc<Vec<Code<'a>>>,
    /// By address: the names of all functions, those with a body first.
    functions: Vec<SymbolName>,
    memory: Memory,
    steps: u64,
    depth: usize,
    output: Vec<u8>,
}

/// A function being run.
#[derive(Clone, Copy)]
struct Frame<'m, 'a> {
    code: &'m Code<'a>,
    base: u64,
}

impl<'a> Machine<'a> {
    /// A machine whose objects have been initialised by `objects`, for at most `steps` blocks.
    pub fn new(functions: &'a [Body], objects: &'a [Body], steps: u64) -> Run<Machine<'a>> {
        let mut machine = Machine {
            code: Rc::default(),
            functions: functions.iter().map(|body| body.name.clone()).collect(),
            memory: Memory::new(),
            steps,
            depth: 0,
            output: Vec::new(),
        };
        let bodies: Vec<&Body> = functions.iter().chain(objects).collect();
        let globals = machine.place_objects(&bodies)?;
        let mut numbers: FxHashMap<SymbolName, u64> = FxHashMap::default();
        for (number, name) in (0..).zip(&machine.functions) {
            numbers.entry(name.clone()).or_insert(number);
        }
        let mut code = Vec::new();
        for body in bodies {
            code.push(machine.link(body, &globals, &mut numbers)?);
        }
        let initialisers = code.split_off(functions.len());
        machine.code = Rc::new(code);
        for code in &initialisers {
            machine.run(code, Vec::new())?;
        }
        Ok(machine)
    }

    /// Gives each object that a body mentions its place, large enough for the largest mention.
    fn place_objects(&mut self, bodies: &[&Body]) -> Run<FxHashMap<SymbolName, u64>> {
        let mut sizes: Vec<(&SymbolName, u64)> = Vec::new();
        let mut index: FxHashMap<&SymbolName, usize> = FxHashMap::default();
        for symbol in bodies.iter().flat_map(|body| &body.symbols) {
            if let SymbolKind::Object { size, .. } = symbol.kind {
                let at = *index.entry(&symbol.name).or_insert_with(|| {
                    sizes.push((&symbol.name, 0));
                    sizes.len() - 1
                });
                sizes[at].1 = sizes[at].1.max(size);
            }
        }
        let mut placed = FxHashMap::default();
        for (name, size) in sizes {
            placed.insert(name.clone(), self.memory.allocate(size)?);
        }
        Ok(placed)
    }

    fn link(
        &mut self,
        body: &'a Body,
        globals: &FxHashMap<SymbolName, u64>,
        numbers: &mut FxHashMap<SymbolName, u64>,
    ) -> Run<Code<'a>> {
        let mut symbols = Vec::with_capacity(body.symbols.len());
        for symbol in &body.symbols {
            symbols.push(match symbol.kind {
                SymbolKind::Object { .. } => globals.get(&symbol.name).copied().unwrap_or(0),
                SymbolKind::Function { .. } => {
                    let number = *numbers.entry(symbol.name.clone()).or_insert_with(|| {
                        self.functions.push(symbol.name.clone());
                        self.functions.len() as u64 - 1
                    });
                    FUNCTIONS + number * STRIDE
                }
            });
        }
        let mut strings = Vec::with_capacity(body.strings.len());
        for bytes in &body.strings {
            let at = self.memory.allocate(bytes.len() as u64)?;
            self.memory.write_bytes(at, bytes)?;
            strings.push(at);
        }
        let mut frame = 0u64;
        let mut locals = Vec::with_capacity(body.locals.len());
        for local in &body.locals {
            locals.push(frame);
            let size = if local.size == 0 {
                VARIABLE
            } else {
                local.size
            };
            frame = frame.saturating_add(size).saturating_add(15) & !15;
        }
        Ok(Code {
            body,
            symbols,
            strings,
            locals,
            frame,
        })
    }

    /// What the program printed so far.
    pub fn output(&self) -> &[u8] {
        &self.output
    }

    /// The integer that a pointer is in memory.
    fn word(&self, body: &Body) -> Ty {
        Ty::Int {
            bits: u16::from(body.pointer_size) * 8,
            signed: true,
        }
    }

    /// Runs `main` as a program without arguments: its exit status.
    pub fn main(&mut self) -> Run<i32> {
        let name = self.memory.allocate(8)?;
        let list = self.memory.allocate(16)?;
        self.memory.write(list, u128::from(name), 64)?;
        let arguments = vec![
            Datum::Scalar(1, Ty::INT),
            Datum::Scalar(u128::from(list), Ty::Ptr),
        ];
        match self.call_named("main", arguments) {
            Ok(Some(Datum::Scalar(value, ty))) => Ok(low_int(value, ty)),
            Ok(_) => Ok(0),
            Err(Stop::Exit(status)) => Ok(status),
            Err(stop) => Err(stop),
        }
    }

    /// Calls a function that has a body.
    pub fn call_named(&mut self, name: &str, arguments: Vec<Datum>) -> Run<Option<Datum>> {
        let number = self.functions.iter().position(|known| known.name == name);
        match number {
            Some(number) => self.call_number(number, arguments),
            None => Err(Stop::Missing(name.to_owned())),
        }
    }

    fn call_number(&mut self, number: usize, arguments: Vec<Datum>) -> Run<Option<Datum>> {
        if number >= self.code.len() {
            let Some(name) = self.functions.get(number).map(|name| name.name.clone()) else {
                return Err(Stop::Undefined("call of what is no function"));
            };
            return self.library(&name, &arguments);
        }
        if self.depth >= DEPTH {
            return Err(Stop::Endless);
        }
        self.depth += 1;
        let code = Rc::clone(&self.code);
        let result = stacker::maybe_grow(RED_ZONE, STACK, || self.run(&code[number], arguments));
        self.depth -= 1;
        result
    }

    /// Runs a body in a new frame.
    fn run(&mut self, code: &Code<'a>, arguments: Vec<Datum>) -> Run<Option<Datum>> {
        let base = self.memory.push(code.frame)?;
        let frame = Frame { code, base };
        let params = code.body.params as usize;
        for (slot, argument) in (0..params).zip(arguments) {
            let addr = base + code.locals[slot];
            match code.body.locals[slot].ty {
                Some(ty) => {
                    let size = ty.size(code.body.pointer_size);
                    self.store_datum(addr, argument, Some((ty, size)))?;
                }
                None => self.store_datum(addr, argument, None)?,
            }
        }
        let result = self.blocks(frame);
        self.memory.pop(base);
        result
    }

    fn store_datum(&mut self, addr: u64, datum: Datum, ty: Option<(Ty, u64)>) -> Run<()> {
        match (datum, ty) {
            // An old-style definition's parameters are passed as their promoted types.
            (Datum::Scalar(bits, from), Some((to, size))) => {
                let floats = [from, to].map(|ty| matches!(ty, Ty::Float { .. }));
                let converted = (floats[0] == floats[1]).then(|| fold::cast(bits, from, to));
                let bits = converted.flatten().unwrap_or(bits);
                self.memory.write(addr, bits, size as u16 * 8)
            }
            (Datum::Scalar(bits, from), None) => self.memory.write(addr, bits, from.bits()),
            (Datum::Record(bytes), _) => self.memory.write_bytes(addr, &bytes),
            (Datum::Unknown(size), _) => self.memory.forget(addr, size),
        }
    }

    fn blocks(&mut self, frame: Frame<'_, 'a>) -> Run<Option<Datum>> {
        let mut block = BlockId(0);
        loop {
            let at = frame.code.body.block(block);
            for stmt in &at.stmts {
                self.stmt(frame, &stmt.kind)?;
            }
            self.steps = self.steps.checked_sub(1).ok_or(Stop::Endless)?;
            block = match &at.term.kind {
                TermKind::Goto(next) => *next,
                TermKind::Branch {
                    cond, then, els, ..
                } => {
                    if self.value(frame, *cond)? != 0 {
                        *then
                    } else {
                        *els
                    }
                }
                TermKind::Switch {
                    value,
                    cases,
                    default,
                } => {
                    let ty = frame.code.body.expr(*value).ty;
                    let value = fold::value(self.value(frame, *value)?, ty);
                    let hit = cases.iter().find(|case| (case.0..=case.1).contains(&value));
                    hit.map_or(*default, |case| case.2)
                }
                TermKind::Nondet(targets) => match targets.as_slice() {
                    [only] => *only,
                    _ => return Err(Stop::Unknown("a jump to one of several labels")),
                },
                TermKind::Return(None) => return Ok(None),
                TermKind::Return(Some(arg)) => return self.datum(frame, arg).map(Some),
                TermKind::Unreachable => return Err(Stop::Undefined("unreachable code")),
            };
        }
    }

    /// An argument or result: what is unknown may be passed on.
    fn datum(&mut self, frame: Frame<'_, 'a>, arg: &Arg) -> Run<Datum> {
        match arg {
            Arg::Scalar(expr) => {
                let ty = frame.code.body.expr(*expr).ty;
                Ok(match self.known(frame, *expr)? {
                    Some(bits) => Datum::Scalar(bits, ty),
                    None => Datum::Unknown(u64::from(ty.bits()).div_ceil(8)),
                })
            }
            Arg::Record { addr, size } => {
                let addr = self.address(frame, *addr)?;
                Ok(match self.memory.bytes(addr, *size)? {
                    Some(bytes) => Datum::Record(bytes.to_vec()),
                    None => Datum::Unknown(*size),
                })
            }
        }
    }

    fn stmt(&mut self, frame: Frame<'_, 'a>, kind: &StmtKind) -> Run<()> {
        match kind {
            StmtKind::Store { addr, value } => {
                let body = frame.code.body;
                let size = body.expr(*value).ty.size(body.pointer_size);
                let value = self.known(frame, *value)?;
                let addr = self.address(frame, *addr)?;
                match value {
                    Some(value) => self.memory.write(addr, value, size as u16 * 8),
                    None => self.memory.forget(addr, size),
                }
            }
            StmtKind::Copy { dst, src, size } => {
                let (dst, src) = (self.address(frame, *dst)?, self.address(frame, *src)?);
                self.memory.copy(dst, src, *size)
            }
            StmtKind::Zero { dst, size } => {
                let dst = self.address(frame, *dst)?;
                self.memory.fill(dst, *size, 0)
            }
            StmtKind::Havoc { dst, size } => {
                let dst = self.address(frame, *dst)?;
                self.memory.forget(dst, *size)
            }
            StmtKind::Call(call) => self.call(frame, call),
            StmtKind::Assume(cond) => match self.known(frame, *cond)? {
                Some(0) => Err(Stop::Undefined("an assumption that does not hold")),
                _ => Ok(()),
            },
            StmtKind::Assert(cond) => match self.value(frame, *cond)? {
                0 => Err(Stop::Abort),
                _ => Ok(()),
            },
            StmtKind::Expose { .. } | StmtKind::ScopeBegin(_) => Ok(()),
        }
    }

    fn call(&mut self, frame: Frame<'_, 'a>, call: &Call) -> Run<()> {
        let mut arguments = Vec::with_capacity(call.args.len());
        for arg in &call.args {
            arguments.push(self.datum(frame, arg)?);
        }
        let function = match &call.callee {
            Callee::Direct(id) => frame.code.symbols[id.index()],
            Callee::Indirect { function, .. } => self.address(frame, *function)?,
        };
        let number = function
            .checked_sub(FUNCTIONS)
            .filter(|offset| offset % STRIDE == 0)
            .and_then(|offset| usize::try_from(offset / STRIDE).ok())
            .ok_or(Stop::Undefined("call of what is no function"))?;
        let result = self.call_number(number, arguments)?;
        if let Some(dst) = call.dst {
            let local = frame.code.body.local(dst);
            let addr = frame.base + frame.code.locals[dst.index()];
            match result {
                Some(datum) => {
                    let size = |ty: Ty| (ty, ty.size(frame.code.body.pointer_size));
                    self.store_datum(addr, datum, local.ty.map(size))?;
                }
                None => self.memory.forget(addr, local.size)?,
            }
        }
        Ok(())
    }

    fn address(&mut self, frame: Frame<'_, 'a>, id: ExprId) -> Run<u64> {
        let bits = self.value(frame, id)?;
        Ok(fold::truncate(bits, Ty::SIZE) as u64)
    }

    /// A value that is only passed on, `None` where the IR leaves it open.
    fn known(&mut self, frame: Frame<'_, 'a>, id: ExprId) -> Run<Option<u128>> {
        match self.value(frame, id) {
            Ok(bits) => Ok(Some(bits)),
            Err(Stop::Unknown(_)) => Ok(None),
            Err(stop) => Err(stop),
        }
    }

    /// The bits of an expression's value, truncated to its width.
    fn value(&mut self, frame: Frame<'_, 'a>, id: ExprId) -> Run<u128> {
        let body = frame.code.body;
        let expr = body.expr(id);
        let ty = expr.ty;
        let undefined = |what| Err(Stop::Undefined(what));
        let bits = match &expr.kind {
            ExprKind::Const(bits) => *bits,
            ExprKind::Unknown | ExprKind::Opaque { .. } => return Err(Stop::Unknown("a value")),
            ExprKind::AddrLocal(id) => u128::from(frame.base + frame.code.locals[id.index()]),
            ExprKind::AddrString(id) => u128::from(frame.code.strings[id.index()]),
            ExprKind::AddrSymbol(id) => u128::from(frame.code.symbols[id.index()]),
            ExprKind::Load { addr, .. } => {
                let addr = self.address(frame, *addr)?;
                let bits = self
                    .memory
                    .read(addr, ty.size(body.pointer_size) as u16 * 8)?;
                match ty {
                    // Nothing lies so high that its address is negative in 32 bits, but an error number does.
                    Ty::Ptr => fold::cast(bits, self.word(body), ty).unwrap_or(bits),
                    _ => bits,
                }
            }
            ExprKind::IsConstant { .. } => 0,
            ExprKind::Unary { op, arg } => {
                let arg = self.value(frame, *arg)?;
                fold::unary(*op, arg, ty).ok_or(FLOAT)?
            }
            ExprKind::Binary { op, lhs, rhs } => {
                let (l, r) = (self.value(frame, *lhs)?, self.value(frame, *rhs)?);
                match fold::binary(*op, ty, l, body.expr(*rhs).ty, r) {
                    Some(bits) => bits,
                    None if matches!(ty, Ty::Float { .. }) => return Err(FLOAT),
                    None => return undefined("division by zero or shift by too much"),
                }
            }
            ExprKind::Compare { op, lhs, rhs } => {
                let ty = body.expr(*lhs).ty;
                if ty != body.expr(*rhs).ty {
                    return undefined("comparison of different types");
                }
                let (l, r) = (self.value(frame, *lhs)?, self.value(frame, *rhs)?);
                u128::from(fold::compare(*op, ty, l, r).ok_or(FLOAT)?)
            }
            ExprKind::Cast { arg } => {
                let value = self.value(frame, *arg)?;
                fold::cast(value, body.expr(*arg).ty, ty).ok_or(FLOAT)?
            }
            ExprKind::Member { base, offset, .. } => {
                self.value(frame, *base)?.wrapping_add(u128::from(*offset))
            }
            ExprKind::Index { base, index, scale } => {
                let ty = body.expr(*index).ty;
                if ty.bits() != 64 {
                    return undefined("index that is not 64 bits wide");
                }
                let base = self.value(frame, *base)?;
                let index = fold::value(self.value(frame, *index)?, ty);
                let offset = index.wrapping_mul(i128::from(*scale));
                base.wrapping_add(offset.cast_unsigned())
            }
            ExprKind::Select { cond, then, els } => {
                let taken = self.value(frame, *cond)? != 0;
                self.value(frame, if taken { *then } else { *els })?
            }
        };
        Ok(fold::truncate(bits, ty))
    }
}

const FLOAT: Stop = Stop::Unknown("a floating value of this width");

/// The `int` that a status or character argument is.
fn low_int(bits: u128, ty: Ty) -> i32 {
    fold::value(bits, ty) as i32
}
