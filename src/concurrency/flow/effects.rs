//! What each step reads and writes.
//!
//! In: a program, and where its pointers lead. Out: for each step its [`Effects`], and for each object and register the steps that
//! write it.

use std::collections::BTreeMap;

use super::points_to::{Object, Objects, PointsTo};
use super::{At, PerStep, steps};
use crate::concurrency::code::{self, Step};
use crate::concurrency::library;
use crate::concurrency::program::{Meaning, Program};
use crate::ir::{Arg, Call, ExprId, ExprKind, StmtKind, TermKind};

/// What a step may do.
#[derive(Clone, Debug, Default)]
pub struct Effects {
    pub reads: Objects,
    pub writes: Objects,
    /// Objects that threads synchronise by, if the step does.
    pub synchronises: Objects,
    /// It may make a thread wait, or let one go on.
    pub waits: bool,
    /// Its result tells what others do with these objects at the time.
    pub asks: bool,
    /// Behind it the execution may be at its end.
    pub ends: bool,
    /// It fails, or may fail for its operands' values.
    pub fails: bool,
    /// The machine itself executes the call.
    pub primitive: bool,
}

/// Where something is written.
#[derive(Debug, Default)]
pub struct Writers {
    pub objects: BTreeMap<Object, Vec<At>>,
    pub registers: BTreeMap<(usize, usize), Vec<At>>,
}

pub fn effects(program: &Program<'_>, points_to: &PointsTo<'_, '_>) -> PerStep<Effects> {
    let mut all = PerStep::new(program, Effects::default());
    for (at, step) in steps(program) {
        if let Some(effects) = all.get_mut(at) {
            *effects = of_step(program, points_to, at, step);
        }
    }
    all
}

pub fn writers(program: &Program<'_>, effects: &PerStep<Effects>) -> Writers {
    let mut writers = Writers::default();
    for (at, step) in steps(program) {
        for object in effects.get(at).into_iter().flat_map(|step| &step.writes) {
            writers.objects.entry(*object).or_default().push(at);
        }
        let linked = &program.code[at.code].code;
        if let (_, Some(register)) = code::uses(linked, step) {
            let key = (at.code, register);
            writers.registers.entry(key).or_default().push(at);
        }
    }
    writers
}

/// The loads from memory in an expression.
pub fn loads(program: &Program<'_>, code: usize, expr: ExprId, found: &mut Vec<ExprId>) {
    let linked = &program.code[code].code;
    let kind = &linked.body.expr(expr).kind;
    if let ExprKind::Load { addr, .. } = kind {
        if linked.register_at(*addr).is_none() {
            found.push(expr);
        }
        return;
    }
    for operand in kind.operands() {
        loads(program, code, operand, found);
    }
}

fn of_step(
    program: &Program<'_>,
    points_to: &PointsTo<'_, '_>,
    at: At,
    step: &Step<'_>,
) -> Effects {
    let linked = &program.code[at.code].code;
    let mut effects = Effects::default();
    let place = |effects: &mut Effects, addr: ExprId| {
        effects.fails |= !is_sure(program, at.code, addr);
        points_to.pointers(at.code, addr)
    };
    match step {
        Step::Fetch(id) => {
            if let ExprKind::Load { addr, .. } = linked.body.expr(*id).kind {
                effects.reads = place(&mut effects, addr);
            }
        }
        Step::Result(local) => {
            if let code::Slot::Memory(index) = linked.slots[local.index()] {
                effects.writes.insert(Object::Local(at.code, index));
            }
        }
        Step::Statement(StmtKind::Store { addr, .. }) => {
            if linked.register_at(*addr).is_none() {
                effects.writes = place(&mut effects, *addr);
            }
        }
        Step::Statement(StmtKind::Copy { dst, src, .. }) => {
            effects.reads = place(&mut effects, *src);
            effects.writes = place(&mut effects, *dst);
        }
        Step::Statement(StmtKind::Zero { dst, .. } | StmtKind::Havoc { dst, .. }) => {
            effects.writes = place(&mut effects, *dst);
        }
        Step::Statement(StmtKind::Call(call)) => {
            for arg in &call.args {
                if let Arg::Record { addr, .. } = arg {
                    let read = place(&mut effects, *addr);
                    effects.reads.extend(read);
                }
            }
            of_call(program, points_to, at, call, &mut effects);
        }
        Step::Statement(StmtKind::Assert(_)) => effects.fails = true,
        Step::Statement(StmtKind::Assume(_)) => effects.ends = true,
        Step::Statement(StmtKind::Expose { .. } | StmtKind::ScopeBegin(_)) => {}
        Step::End(TermKind::Return(Some(Arg::Record { addr, .. }))) => {
            effects.reads = place(&mut effects, *addr);
        }
        Step::End(TermKind::Unreachable) => effects.ends = true,
        Step::End(_) => {}
    }
    effects.fails |= divides(program, at.code, step);
    effects
}

fn of_call(
    program: &Program<'_>,
    points_to: &PointsTo<'_, '_>,
    at: At,
    call: &Call,
    effects: &mut Effects,
) {
    let Some(name) = points_to.primitive(at.code, call) else {
        // A call of a null pointer fails.
        effects.fails |= matches!(call.callee, crate::ir::Callee::Indirect { .. });
        return;
    };
    effects.primitive = true;
    let plain = name.strip_prefix("__builtin_").unwrap_or(name);
    if library::does_nothing(name) {
        return;
    }
    let argument = |number| points_to.argument(at.code, call, number);
    match plain {
        "memcpy" | "memmove" | "mempcpy" | "strcpy" | "strncpy" | "strcat" => {
            effects.writes = argument(0);
            effects.reads = argument(1);
            if plain == "strcat" {
                effects.reads.extend(argument(0));
            }
            effects.fails = true;
        }
        "memset" | "bzero" | "free" => {
            effects.writes = argument(0);
            effects.fails = true;
        }
        "realloc" => {
            effects.writes = argument(0);
            effects.reads = argument(0);
            effects.fails = true;
        }
        "posix_memalign" => effects.writes = argument(0),
        "strlen" | "strcmp" | "strncmp" | "strdup" | "strchr" | "memcmp" | "atoi" | "atol" => {
            effects.reads = argument(0);
            effects.reads.extend(argument(1));
            effects.fails = true;
        }
        "malloc" | "calloc" | "valloc" | "xmalloc" | "alloca" | "aligned_alloc" | "memalign" => {}
        "pthread_setspecific" | "tss_set" => {
            effects.writes.insert(Object::Keys);
        }
        "pthread_getspecific" | "tss_get" => {
            effects.reads.insert(Object::Keys);
        }
        "__assert_fail" | "__assert" | "__assert_rtn" | "reach_error" | "__VERIFIER_error"
        | "__VERIFIER_assert" | "__cassini_assert" | "assert" => {
            effects.fails = true;
            effects.ends = true;
        }
        "abort" | "exit" | "_exit" | "_Exit" | "quick_exit" | "__VERIFIER_assume"
        | "__cassini_assume" => {
            effects.fails = plain == "abort";
            effects.ends = true;
        }
        _ if plain.contains("nondet") => {}
        _ if library::synchronises(name) => {
            effects.waits = true;
            effects.asks = ["try", "timed", "getvalue"]
                .iter()
                .any(|part| plain.contains(part));
            let args = call.args.iter().map(Arg::expr);
            effects.fails = library::can_be_misused(plain)
                || args.into_iter().any(|arg| !is_sure(program, at.code, arg));
            effects.synchronises = (0..call.args.len()).flat_map(argument).collect();
            let stored: &[usize] = match plain {
                "pthread_create"
                | "thrd_create"
                | "pthread_key_create"
                | "tss_create"
                | "pthread_mutexattr_settype"
                | "pthread_mutexattr_init" => &[0],
                "pthread_join" | "thrd_join" | "sem_getvalue" => &[1],
                _ => &[],
            };
            for number in stored {
                effects.writes.extend(argument(*number));
            }
            if matches!(plain, "pthread_join" | "thrd_join") {
                effects.reads.insert(Object::Results);
            }
            if plain == "pthread_exit" || plain == "thrd_exit" {
                effects.writes.insert(Object::Results);
                effects.ends = true;
            }
        }
        _ => {}
    }
}

/// Whether an address is that of a variable, or of a constant place in one, or none at all.
fn is_sure(program: &Program<'_>, code: usize, addr: ExprId) -> bool {
    let body = program.code[code].code.body;
    match body.expr(addr).kind {
        ExprKind::Const(_) => true,
        _ => constant_place(program, code, addr).is_some_and(|(size, offset)| offset < size),
    }
}

/// The size of a variable, and how far into it an address leads, if that is constant.
fn constant_place(program: &Program<'_>, code: usize, addr: ExprId) -> Option<(u64, u64)> {
    let linked = &program.code[code];
    let body = linked.code.body;
    match body.expr(addr).kind {
        ExprKind::AddrLocal(local) => Some((body.local(local).size, 0)),
        ExprKind::AddrString(id) => Some((body.strings[id.index()].len() as u64, 0)),
        ExprKind::AddrSymbol(symbol) => match linked.symbols[symbol.index()] {
            Meaning::ThreadLocal(number) => Some((program.globals[number].size, 0)),
            Meaning::Address(addr) => match program.global_at(addr) {
                Some((global, offset)) => Some((global.size, offset)),
                None => program.function_at(addr).map(|_| (1, 0)),
            },
        },
        ExprKind::Cast { arg } => constant_place(program, code, arg),
        ExprKind::Member { base, offset, .. } => {
            let (size, at) = constant_place(program, code, base)?;
            Some((size, at.checked_add(offset)?))
        }
        ExprKind::Index { base, index, scale } => {
            let ExprKind::Const(index) = body.expr(index).kind else {
                return None;
            };
            let (size, at) = constant_place(program, code, base)?;
            let offset = u64::try_from(index).ok()?.checked_mul(scale)?;
            Some((size, at.checked_add(offset)?))
        }
        _ => None,
    }
}

/// Whether a step divides by what may be zero.
fn divides(program: &Program<'_>, code: usize, step: &Step<'_>) -> bool {
    use crate::ir::{BinOp, Ty};
    let body = program.code[code].code.body;
    let mut open = code::operands_of(step);
    while let Some(id) = open.pop() {
        let expr = body.expr(id);
        if let ExprKind::Binary {
            op: BinOp::Div | BinOp::Rem,
            rhs,
            ..
        } = expr.kind
            && !matches!(expr.ty, Ty::Float { .. })
            && !matches!(body.expr(rhs).kind, ExprKind::Const(bits) if bits != 0)
        {
            return true;
        }
        if !matches!(expr.kind, ExprKind::Load { .. }) {
            open.extend(expr.kind.operands());
        }
    }
    false
}
