//! One step of a thread.
//!
//! In: a state and a thread. Out: the state after the step; or why it cannot be taken ([`Stop`]). All that a step reads is
//! read before it changes anything, so that a step with an open condition can be begun again for the other way.

use super::code::Step;
use super::failure::Kind;
use super::machine::{Datum, FEW_ROUNDS, Machine, Run, Stop};
use super::memory::{Byte, Fill};
use super::state::State;
use super::values::Value;
use crate::ir::{Arg, BinOp, Call, Callee, ExprId, ExprKind, StmtKind, TermKind, Ty, fold};

/// Ways that a switch on an open value or a jump to one of several labels may have.
const WAYS: usize = 64;
/// In an open program a condition on unknown values is met so often in one call.
const ROUNDS: u8 = 3;
/// Bytes that are written at once in an open program.
const LARGEST_COPY: u64 = 1 << 16;

impl Machine<'_> {
    /// Takes one step. Those that touch memory or call a primitive are counted.
    pub fn step(&mut self, state: &mut State, thread: usize) -> Run<()> {
        self.begin_step(state, thread);
        let counts = self.counts(state, thread);
        let at = self.at(state, thread);
        let result = self.one_step(state, thread);
        let taken = match result {
            Ok(()) => true,
            Err(Stop::Blocked) => self.open,
            Err(_) => false,
        };
        if let (Some(executed), Some(at), true) = (&mut self.executed, at, taken) {
            executed.set(at);
        }
        if counts && taken {
            state.thread_mut(thread).counted += 1;
        }
        result
    }

    fn counts(&self, state: &State, thread: usize) -> bool {
        let Some(frame) = state.frame(thread) else {
            return false;
        };
        let linked = &self.program.code[frame.code];
        match linked.code.steps.get(frame.at as usize) {
            Some((step, _)) => {
                linked
                    .code
                    .counts(step, |symbol| match linked.symbols[symbol.index()] {
                        super::program::Meaning::Address(addr) => self.program.is_primitive(addr),
                        super::program::Meaning::ThreadLocal(_) => false,
                    })
            }
            None => false,
        }
    }

    fn one_step(&mut self, state: &mut State, thread: usize) -> Run<()> {
        let program = self.program;
        let Some(frame) = state.frame(thread) else {
            return Err(Stop::Finished);
        };
        let code = &program.code[frame.code].code;
        let Some((step, _)) = code.steps.get(frame.at as usize) else {
            return Err(Stop::Finished);
        };
        match step {
            Step::Fetch(id) => self.fetch(state, thread, *id),
            Step::Result(local) => {
                let register = code.result;
                let value = frame.registers[register].unwrap_or(Value::ZERO);
                let (addr, ty) = match (code.slots[local.index()], code.body.local(*local).ty) {
                    (super::code::Slot::Memory(index), Some(ty)) => (frame.memory[index], ty),
                    _ => return Err(Stop::Cut("a result without a place".to_owned())),
                };
                self.store(state, thread, addr, ty, value)?;
                advance(state, thread);
                Ok(())
            }
            Step::Statement(StmtKind::Call(call)) => self.call(state, thread, call),
            Step::Statement(kind) => {
                self.statement(state, thread, kind)?;
                advance(state, thread);
                Ok(())
            }
            Step::End(kind) => self.end(state, thread, kind),
        }
    }

    fn fetch(&mut self, state: &mut State, thread: usize, id: ExprId) -> Run<()> {
        let expr = self.body(state, thread).expr(id);
        let ExprKind::Load { addr, .. } = expr.kind else {
            return Err(Stop::Cut("a read of no memory".to_owned()));
        };
        let addr = self.evaluate(state, thread, addr)?;
        let addr = self.address(state, addr)?;
        let mut value = self.load(state, thread, addr, expr.ty)?;
        if self.reads_anything(state, thread) {
            value = self.draw(state, thread, expr.ty.bits());
        }
        if let Some(frame) = state.thread_mut(thread).frames.last_mut() {
            frame.fetched.push((id, value));
            frame.at += 1;
        }
        Ok(())
    }

    fn place_of(&mut self, state: &mut State, thread: usize, addr: ExprId) -> Run<u64> {
        let addr = self.evaluate(state, thread, addr)?;
        self.address(state, addr)
    }

    fn statement(&mut self, state: &mut State, thread: usize, kind: &StmtKind) -> Run<()> {
        let body = self.body(state, thread);
        match kind {
            StmtKind::Store { addr, value } => {
                let ty = body.expr(*value).ty;
                let value = self.evaluate(state, thread, *value)?;
                let number = state.frame(thread).map_or(0, |frame| frame.code);
                if let Some(register) = self.program.code[number].code.register_at(*addr) {
                    if let Some(frame) = state.thread_mut(thread).frames.last_mut() {
                        frame.registers[register] = Some(value);
                    }
                    return Ok(());
                }
                let addr = self.place_of(state, thread, *addr)?;
                self.store(state, thread, addr, ty, value)
            }
            StmtKind::Copy { dst, src, size } => {
                let dst = self.place_of(state, thread, *dst)?;
                let src = self.place_of(state, thread, *src)?;
                self.copy(state, thread, dst, src, *size)
            }
            StmtKind::Zero { dst, size } => {
                let dst = self.place_of(state, thread, *dst)?;
                self.fill(state, thread, dst, *size, Byte::Known(0))
            }
            StmtKind::Havoc { dst, size } => {
                let dst = self.place_of(state, thread, *dst)?;
                self.fill(state, thread, dst, *size, Byte::Unset)
            }
            StmtKind::Assume(cond) => {
                let ty = body.expr(*cond).ty;
                let value = self.evaluate(state, thread, *cond)?;
                self.assume(state, value, ty)
            }
            StmtKind::Assert(cond) => {
                let ty = body.expr(*cond).ty;
                let value = self.evaluate(state, thread, *cond)?;
                match self.truth(state, value, ty) {
                    true => Ok(()),
                    false => Err(Stop::Failed(Kind::Assertion(String::new()))),
                }
            }
            StmtKind::Expose { .. } | StmtKind::ScopeBegin(_) | StmtKind::Call(_) => Ok(()),
        }
    }

    /// Moves bytes, known or not.
    pub fn copy(
        &mut self,
        state: &mut State,
        thread: usize,
        dst: u64,
        src: u64,
        size: u64,
    ) -> Run<()> {
        if size == 0 {
            return Ok(());
        }
        self.known_size(size)?;
        self.takes(size);
        let from = self.access(state, thread, src, size, false)?;
        let to = self.access(state, thread, dst, size, true)?;
        let bytes: Vec<Byte> = (0..size)
            .map(|at| state.memory.byte(&mut self.values, src + at, from))
            .collect();
        for (addr, byte) in (dst..).zip(bytes) {
            state.memory.set(addr, to, byte);
        }
        Ok(())
    }

    pub fn fill(
        &mut self,
        state: &mut State,
        thread: usize,
        dst: u64,
        size: u64,
        byte: Byte,
    ) -> Run<()> {
        self.known_size(size)?;
        self.takes(size);
        let fill = self.access(state, thread, dst, size, true)?;
        for addr in dst..dst + size {
            state.memory.set(addr, fill, byte);
        }
        Ok(())
    }

    /// In an open program a size that was chosen for an unknown one may be any number.
    fn known_size(&self, size: u64) -> Run<()> {
        match self.program.open && size > LARGEST_COPY {
            true => Err(Stop::Cut("many bytes are written at once".to_owned())),
            false => Ok(()),
        }
    }

    fn call(&mut self, state: &mut State, thread: usize, call: &Call) -> Run<()> {
        let program = self.program;
        let number = state.frame(thread).map_or(0, |frame| frame.code);
        let mut arguments = Vec::with_capacity(call.args.len());
        for arg in &call.args {
            arguments.push(self.datum(state, thread, arg)?);
        }
        let function = match &call.callee {
            Callee::Direct(id) => {
                let meaning = program.code[number].symbols[id.index()];
                self.symbol(state, thread, meaning)
            }
            Callee::Indirect { function, .. } => {
                let function = self.evaluate(state, thread, *function)?;
                if self.program.open && function.known().is_none() {
                    let text = "a function that an unknown pointer leads to changes nothing and gives an unknown value";
                    self.told.insert(text.to_owned());
                    self.returned(state, thread, call, None);
                    return Ok(());
                }
                self.address(state, function)?
            }
        };
        let Some(function) = program.function_at(function) else {
            return Err(Stop::Failed(match function {
                0 => Kind::NullDereference,
                _ => Kind::WildAccess("a call of what is no function"),
            }));
        };
        let name = program.functions[function].name.as_str();
        let has_body = function < program.initialisers.start;
        if !has_body || overrides(name) || program.is_atomic(name) {
            if let Some(result) = self.primitive(state, thread, name, &arguments, call)? {
                self.returned(state, thread, call, result);
            }
            return Ok(());
        }
        if program.open {
            self.has_reference(state, name, &arguments)?;
        }
        let whole = name.starts_with(ATOMIC);
        if whole {
            self.begin_atomic(state, thread)?;
        }
        if let Some(frame) = state.thread_mut(thread).frames.last_mut() {
            frame.at += 1;
            frame.fetched.clear();
        }
        self.enter(state, thread, function, arguments, call.dst)?;
        if let Some(frame) = state.thread_mut(thread).frames.last_mut() {
            frame.atomic = whole;
        }
        Ok(())
    }

    /// Hands on the result of a function without a body, and goes on behind the call.
    fn returned(&mut self, state: &mut State, thread: usize, call: &Call, result: Option<Datum>) {
        advance(state, thread);
        self.hand_over(state, thread, call.dst, result);
    }

    /// Puts a result where the top frame wants it.
    pub fn hand_over(
        &mut self,
        state: &mut State,
        thread: usize,
        dst: Option<crate::ir::LocalId>,
        result: Option<Datum>,
    ) {
        let Some(dst) = dst else { return };
        let program = self.program;
        let Some(number) = state.frame(thread).map(|frame| frame.code) else {
            return;
        };
        let code = &program.code[number].code;
        match result {
            Some(Datum::Record(bytes)) => {
                let super::code::Slot::Memory(index) = code.slots[dst.index()] else {
                    return;
                };
                let base = state.frame(thread).map_or(0, |frame| frame.memory[index]);
                for (addr, byte) in (base..).zip(bytes) {
                    state.memory.set(addr, Fill::Unset, byte);
                }
            }
            scalar => {
                let ty = code.body.local(dst).ty;
                let value = match (scalar, ty) {
                    (Some(Datum::Scalar(value, from)), Some(to)) => {
                        self.values.cast(value, from, to).unwrap_or(value)
                    }
                    (_, Some(to)) => {
                        let value = self.draw(state, thread, to.bits());
                        state.thread_mut(thread).given.push_back(value);
                        value
                    }
                    _ => return,
                };
                let register = code.register(dst).unwrap_or(code.result);
                if let Some(frame) = state.thread_mut(thread).frames.last_mut() {
                    frame.registers[register] = Some(value);
                }
            }
        }
    }

    fn end(&mut self, state: &mut State, thread: usize, kind: &TermKind) -> Run<()> {
        let next = match kind {
            TermKind::Goto(next) => *next,
            TermKind::Branch {
                cond, then, els, ..
            } => {
                let ty = self.body(state, thread).expr(*cond).ty;
                let value = self.evaluate(state, thread, *cond)?;
                self.may_go_round(state, thread, value)?;
                let holds = self.truth(state, value, ty);
                self.goes_round(state, thread, value);
                if holds { *then } else { *els }
            }
            TermKind::Switch {
                value,
                cases,
                default,
            } => {
                let ty = self.body(state, thread).expr(*value).ty;
                let value = self.evaluate(state, thread, *value)?;
                self.may_go_round(state, thread, value)?;
                let case = self.switch(state, value, ty, cases)?;
                self.goes_round(state, thread, value);
                case.unwrap_or(*default)
            }
            TermKind::Nondet(targets) => {
                let way = self.pick(state, thread, targets.len().min(WAYS));
                match targets.get(way) {
                    Some(target) => *target,
                    None => return Err(Stop::Over),
                }
            }
            TermKind::Return(arg) => return self.leave(state, thread, arg.as_ref()),
            TermKind::Unreachable => return Err(Stop::Over),
        };
        let number = state.frame(thread).map_or(0, |frame| frame.code);
        let start = self.program.code[number].code.start(next);
        if let Some(frame) = state.thread_mut(thread).frames.last_mut() {
            frame.at = start;
            frame.fetched.clear();
        }
        Ok(())
    }

    /// In an open program a loop on unknown values is followed for some rounds.
    fn may_go_round(&self, state: &State, thread: usize, value: Value) -> Run<()> {
        let Some(frame) = state.frame(thread).filter(|_| value.known().is_none()) else {
            return Ok(());
        };
        let rounds = frame.rounds.iter().find(|(step, _)| *step == frame.at);
        match rounds {
            Some((_, ROUNDS)) => Err(Stop::Cut(FEW_ROUNDS.to_owned())),
            _ => Ok(()),
        }
    }

    /// Counts it, once it is decided.
    fn goes_round(&self, state: &mut State, thread: usize, value: Value) {
        if !self.program.open || value.known().is_some() {
            return;
        }
        let Some(frame) = state.thread_mut(thread).frames.last_mut() else {
            return;
        };
        let at = frame.at;
        match frame.rounds.iter_mut().find(|(step, _)| *step == at) {
            Some((_, rounds)) => *rounds += 1,
            None => frame.rounds.push((at, 1)),
        }
    }

    /// A number below `count` for an unknown.
    pub fn choose(&mut self, state: &mut State, choice: Value, count: usize) -> Run<usize> {
        for number in 0..count.saturating_sub(1) {
            let same = self.values.is(choice, 8, number as u128);
            if self.decide(state, same) {
                return Ok(number);
            }
        }
        Ok(count.saturating_sub(1))
    }

    fn switch(
        &mut self,
        state: &mut State,
        value: Value,
        ty: Ty,
        cases: &[(i128, i128, crate::ir::BlockId)],
    ) -> Run<Option<crate::ir::BlockId>> {
        if let Value::Bits(bits) = value {
            let number = fold::value(bits, ty);
            let hit = cases
                .iter()
                .find(|case| (case.0..=case.1).contains(&number));
            return Ok(hit.map(|case| case.2));
        }
        use crate::ir::CmpOp::{Ge, Le};
        for (low, high, target) in cases {
            let bound = |number: i128| Value::Bits(fold::truncate(number.cast_unsigned(), ty));
            let above = self.values.compare(Ge, ty, value, bound(*low));
            let below = self.values.compare(Le, ty, value, bound(*high));
            let (Some(above), Some(below)) = (above, below) else {
                return Err(Stop::Cut("a switch on a floating value".to_owned()));
            };
            let both = self
                .values
                .binary(BinOp::And, Ty::INT, above, Ty::INT, below);
            if self.truth(state, both.unwrap_or(Value::ZERO), Ty::INT) {
                return Ok(Some(*target));
            }
        }
        Ok(None)
    }

    /// Returns from the top call.
    fn leave(&mut self, state: &mut State, thread: usize, arg: Option<&Arg>) -> Run<()> {
        let result = match arg {
            Some(arg) => Some(self.datum(state, thread, arg)?),
            None => None,
        };
        if state.thread(thread).frames.len() == 1 && self.ends_program(state, thread) {
            self.last_step(state, thread)?;
        }
        let Some(frame) = state.thread_mut(thread).frames.pop() else {
            return Err(Stop::Finished);
        };
        for base in &frame.memory {
            state.memory.remove(*base);
        }
        if let Some(lowest) = frame.memory.first() {
            state.thread_mut(thread).stack = *lowest;
        }
        if frame.atomic {
            self.end_atomic(state, thread);
        }
        if let Some(once) = frame.once {
            self.once_done(state, once);
        }
        if state.thread(thread).frames.is_empty() {
            if let Some(Datum::Scalar(value, _)) = result {
                state.thread_mut(thread).result = value;
            }
            return Err(Stop::Finished);
        }
        let nothing = Datum::Scalar(Value::ZERO, Ty::SIZE);
        self.hand_over(state, thread, frame.dst, Some(result.unwrap_or(nothing)));
        Ok(())
    }
}

/// How the names of functions begin that run as one atomic section.
pub const ATOMIC: &str = "__VERIFIER_atomic_";

/// Functions whose meaning counts even where the program gives them a body.
pub fn overrides(name: &str) -> bool {
    matches!(
        name,
        "reach_error"
            | "__VERIFIER_error"
            | "__VERIFIER_atomic_begin"
            | "__VERIFIER_atomic_end"
            | "__VERIFIER_assume"
    )
}

/// Goes on with the next step.
pub fn advance(state: &mut State, thread: usize) {
    if let Some(frame) = state.thread_mut(thread).frames.last_mut() {
        frame.at += 1;
        frame.fetched.clear();
    }
}
