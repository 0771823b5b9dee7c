//! The machine: takes a thread from one visible step to the next.
//!
//! In: a state and a thread. Out: the states it can be in before its next visible step, with how each ended
//! ([`Ending`]). Accesses are sequentially consistent, whatever order an atomic operation asks for.
//!
//! Which accesses are visible is found out on the way: a word is visible once two threads were seen to access it, one of
//! them writing, in steps that nothing orders (the segments behind the last visible step of each), or once a thread spins on it ([`spin`]). Until then accesses
//! to it need no switch of threads: if there is such a pair at all, one of the explored orders shows it. The explorer
//! starts again when a word becomes visible.

mod choices;
mod join;
mod project;
mod spin;
mod transition;

use std::rc::Rc;

use imbl::{OrdMap, Vector};
use rustc_hash::{FxHashMap, FxHashSet};

use super::failure::{Failure, Kind};
use super::flow::{At, PerStep};
use super::memory::{Fill, Memory, Storage};
use super::program::{Meaning, Program};
use super::search::footprint::{Footprint, Touched};
use super::search::slicing::{Instance, View};
use super::state::{Birth, Event, Frame, Hashes, State, Thread, What};
use super::values::{Value, Values};
use crate::ir::{Arg, Pos, Ty};

/// Calls deeper than this have no end.
const DEPTH: usize = 500;
/// Addresses that one access may have.
const ADDRESSES: usize = 16;
/// Bytes that are copied, or terms that are looked at, in the time that one step takes.
const THINGS_OF_STEP: u64 = 8;

/// Why a loop of an open program is not followed any further: what is looked at is what happens in a few rounds.
pub const FEW_ROUNDS: &str = "a loop on unknown values";
/// Most threads of a program.
const THREADS: usize = 64;

/// Why a thread stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// Before a visible step.
    Visible,
    /// It must wait for another thread.
    Blocked,
    /// The thread is at its end.
    Finished,
    /// The program is at its end, or the execution is of no interest: an assumption does not hold.
    Over,
    Failed(Kind),
    /// The execution is not followed any further, and why.
    Cut(String),
}

pub type Run<T> = Result<T, Stop>;

/// How a transition ended.
#[derive(Clone, Debug)]
pub enum Ending {
    /// The thread stands before a visible step, or is finished.
    Ready,
    Over,
    Failed(Failure),
    Cut(String),
}

/// An argument or result of a call.
#[derive(Clone, Debug)]
pub enum Datum {
    Scalar(Value, Ty),
    Record(Vec<super::memory::Byte>),
}

pub struct Machine<'p> {
    pub program: &'p Program<'p>,
    pub values: Values,
    /// Words of four bytes at which threads are switched.
    pub visible_words: FxHashSet<u64>,
    pub visible_objects: FxHashSet<u64>,
    pub visible_count: FxHashMap<u64, usize>,
    /// Mutexes that someone only tries to lock: their release is visible.
    pub tried: FxHashSet<u64>,
    /// What is visible has changed.
    pub changed: bool,
    /// Nothing but primitives is visible, and only one thread runs at a time.
    pub sequential: bool,
    forks: Vec<State>,
    /// Threads made by the transition being taken.
    pub made: usize,
    /// The thread whose step is being taken, and whether it had a permit when the step began.
    stepping: (usize, bool),
    /// The state before the step being taken drew an unknown.
    before: Option<State>,
    /// The step being taken has had its visible access: further ones belong to it.
    pub open: bool,
    /// The last access was a visible one.
    pub shown: bool,
    /// External functions that are not modelled, and other things that bound what was explored.
    pub told: std::collections::BTreeSet<String>,
    steps: u64,
    /// What the search is restricted to.
    pub view: Option<View>,
    /// The steps that were taken, if that is asked for.
    pub executed: Option<PerStep<bool>>,
    /// What the transition being taken touches, if that is asked for.
    pub footprint: Option<Footprint>,
}

impl<'p> Machine<'p> {
    pub fn new(program: &'p Program<'p>) -> Machine<'p> {
        Machine {
            program,
            values: Values::new(program.pointer),
            visible_words: FxHashSet::default(),
            visible_objects: FxHashSet::default(),
            visible_count: FxHashMap::default(),
            tried: FxHashSet::default(),
            changed: false,
            sequential: false,
            forks: Vec::new(),
            made: 0,
            stepping: (0, false),
            before: None,
            open: false,
            shown: false,
            told: std::collections::BTreeSet::new(),
            steps: 0,
            view: None,
            executed: None,
            footprint: None,
        }
    }

    /// What was done so far, in steps. In an open program nearly all conditions are on unknown values, and most of the work is the solver's.
    pub fn spent(&self) -> u64 {
        match self.program.open {
            true => self.steps + self.values.effort(),
            false => self.steps,
        }
    }

    /// Counts what takes as long as a step for every few of so many things.
    pub fn takes(&mut self, things: u64) {
        if self.program.open {
            self.steps += things / THINGS_OF_STEP;
        }
    }

    /// The state before a function runs, with all objects initialised.
    pub fn initial(&mut self, entry: usize) -> Run<State> {
        let mut state = State {
            memory: Memory::new(),
            threads: Vec::new(),
            sync: OrdMap::new(),
            atomic: None,
            path: Vector::new(),
            past: Vector::new(),
            bound: OrdMap::new(),
            inputs: true,
            next_key: 1,
            trail: None,
            order: None,
        };
        for global in &self.program.globals {
            let fill = match self.program.open && global.image.is_none() {
                true => Fill::Environment,
                false => Fill::Zero,
            };
            let (base, size) = (global.base, global.size);
            if !state.memory.place(base, size, Storage::Static, fill) {
                return Err(Stop::Cut(format!("{} is too large", global.name)));
            }
            for (offset, (bytes, bits)) in global.image.iter().flatten() {
                let value = Value::Bits(*bits);
                let at = base + offset;
                state
                    .memory
                    .write(&mut self.values, at, fill, *bytes, value);
            }
        }
        for (base, bytes) in &self.program.strings {
            state
                .memory
                .place(*base, bytes.len() as u64, Storage::Constant, Fill::Zero);
            for (addr, byte) in (*base..).zip(bytes) {
                state
                    .memory
                    .set(addr, Fill::Zero, super::memory::Byte::Known(*byte));
            }
        }
        for number in self.program.initialisers.clone() {
            state.threads.push(Rc::new(self.thread(0, Birth::Main, 0)));
            self.enter(&mut state, 0, number, Vec::new(), None)?;
            self.finish_segment(&mut state)?;
            state.threads.clear();
        }
        let first = self.thread(0, Birth::Main, entry);
        state.threads.push(Rc::new(first));
        self.thread_locals(&mut state, 0);
        let arguments = self.main_arguments(&mut state, entry);
        self.enter(&mut state, 0, entry, arguments, None)?;
        Ok(state)
    }

    /// Runs an initialiser, which has no visible step.
    fn finish_segment(&mut self, state: &mut State) -> Run<()> {
        loop {
            match self.step(state, 0) {
                Ok(()) => {}
                Err(Stop::Finished) => return Ok(()),
                Err(stop) => return Err(stop),
            }
        }
    }

    /// A program's name and no arguments.
    fn main_arguments(&mut self, state: &mut State, entry: usize) -> Vec<Datum> {
        if self.program.code[entry].code.body.params < 2 {
            return Vec::new();
        }
        let name = self.program.end;
        let list = name + Memory::room(8);
        state.memory.place(name, 8, Storage::Static, Fill::Zero);
        state.memory.place(list, 16, Storage::Static, Fill::Zero);
        let pointer = u64::from(self.program.pointer);
        let value = Value::Bits(u128::from(name));
        state
            .memory
            .write(&mut self.values, list, Fill::Zero, pointer, value);
        vec![
            Datum::Scalar(Value::Bits(1), Ty::INT),
            Datum::Scalar(Value::Bits(u128::from(list)), Ty::Ptr),
        ]
    }

    fn thread(&self, number: usize, birth: Birth, entry: usize) -> Thread {
        let shift = if self.program.pointer == 8 { 34 } else { 22 };
        let first: u64 = if self.program.pointer == 8 {
            1 << 40
        } else {
            1 << 26
        };
        let base = first + (2 * number as u64) * (1 << shift);
        Thread {
            frames: Vec::new(),
            birth,
            parent: number,
            entry,
            ordinal: 0,
            finished: false,
            started: false,
            permit: false,
            result: Value::ZERO,
            wait: None,
            joining: None,
            detached: false,
            joined: None,
            picked: None,
            drawn: 0,
            counted: 0,
            given: Vector::new(),
            stack: base,
            heap: base + (1 << shift),
            locals: OrdMap::new(),
            keys: OrdMap::new(),
            recent: OrdMap::new(),
            hashes: Hashes::default(),
        }
    }

    /// Gives a thread its own copies of thread-local objects.
    fn thread_locals(&mut self, state: &mut State, thread: usize) {
        for (number, global) in self.program.globals.iter().enumerate() {
            if !global.thread_local {
                continue;
            }
            let base = state.thread(thread).stack;
            state.thread_mut(thread).stack += Memory::room(global.size);
            let fill = Fill::Zero;
            state.memory.place(base, global.size, Storage::Static, fill);
            for offset in 0..global.size {
                let byte = state
                    .memory
                    .byte(&mut self.values, global.base + offset, fill);
                state.memory.set(base + offset, fill, byte);
            }
            state.thread_mut(thread).locals.insert(number, base);
        }
    }

    /// A new thread that is going to call a function with one argument: its number.
    pub fn create(
        &mut self,
        state: &mut State,
        parent: usize,
        birth: Birth,
        function: usize,
        arguments: Vec<Datum>,
    ) -> Run<usize> {
        let number = state.threads.len();
        if number >= THREADS {
            return Err(Stop::Cut(format!("more than {THREADS} threads")));
        }
        if function >= self.program.initialisers.start {
            let name = &self.program.functions[function].name;
            return Err(Stop::Cut(format!(
                "a thread runs {name}, which has no body"
            )));
        }
        let mut new = self.thread(number, birth, function);
        let earlier = state.threads.iter();
        new.parent = parent;
        new.ordinal = earlier.filter(|other| other.entry == function).count();
        let absent = self
            .view
            .as_ref()
            .is_some_and(|view| view.is_absent(new.instance()));
        state.threads.push(Rc::new(new));
        state.inputs = false;
        if absent {
            let result = self.draw(state, number, u16::from(self.program.pointer) * 8);
            let own = state.thread_mut(number);
            own.finished = true;
            own.result = result;
            return Ok(number);
        }
        self.thread_locals(state, number);
        self.enter(state, number, function, arguments, None)?;
        Ok(number)
    }

    /// Notes what the transition being taken touches.
    pub fn touch(&mut self, touched: Touched) {
        if let Some(footprint) = &mut self.footprint {
            footprint.touch(touched);
        }
    }

    /// Whether a thread may be preempted, and may preempt others.
    pub fn takes_part(&self, state: &State, thread: usize) -> bool {
        let instance = state.thread(thread).instance();
        self.view
            .as_ref()
            .is_none_or(|view| view.threads.contains(&instance))
    }

    /// Where a thread stands.
    pub fn at(&self, state: &State, thread: usize) -> Option<At> {
        let frame = state.frame(thread)?;
        Some(At {
            code: frame.code,
            step: frame.at as usize,
        })
    }

    /// Whether threads may be switched at an access.
    pub fn is_point(&self, state: &State, thread: usize) -> bool {
        let Some(view) = &self.view else { return true };
        self.at(state, thread).is_some_and(|at| view.points.is(at))
    }

    /// Whether what a thread reads here has any value.
    pub fn reads_anything(&self, state: &State, thread: usize) -> bool {
        let Some(view) = self.view.as_ref().filter(|view| view.is_over()) else {
            return false;
        };
        let instance: Instance = state.thread(thread).instance();
        self.at(state, thread)
            .is_some_and(|at| view.is_unknown(instance, at))
    }

    /// A failure where a thread stands.
    pub fn failure(&self, state: &State, thread: usize, kind: Kind) -> Failure {
        let (code, pos) = self.place(state, thread);
        Failure {
            kind,
            thread,
            code,
            pos,
        }
    }

    /// The step that a thread is at.
    pub fn place(&self, state: &State, thread: usize) -> (usize, Pos) {
        let Some(frame) = state.frame(thread) else {
            return (0, Pos::default());
        };
        let steps = &self.program.code[frame.code].code.steps;
        let pos = steps
            .get(frame.at as usize)
            .map_or(Pos::default(), |step| step.1);
        (frame.code, pos)
    }

    /// The call that a thread stands at, as the source has it.
    pub fn call_text(&self, state: &State, thread: usize) -> Option<&'p str> {
        let frame = state.frame(thread)?;
        match self.program.code[frame.code]
            .code
            .steps
            .get(frame.at as usize)?
        {
            (super::code::Step::Statement(crate::ir::StmtKind::Call(call)), _) => Some(&call.text),
            _ => None,
        }
    }

    pub fn event(&self, state: &mut State, thread: usize, what: What) {
        let (code, pos) = self.place(state, thread);
        let depth = state.thread(thread).frames.len();
        let step = state.frame(thread).map_or(0, |frame| frame.at);
        state.record(Event {
            thread,
            code,
            step,
            pos,
            depth,
            what,
        });
    }

    /// To be called before each step.
    pub fn begin_step(&mut self, state: &State, thread: usize) {
        self.stepping = (thread, state.thread(thread).permit);
        self.open = false;
        self.before = None;
    }

    /// Stops before a visible step, unless the thread may take it now.
    pub fn visible(&mut self, state: &State, thread: usize) -> Run<()> {
        let inside = state.atomic.is_some_and(|(inside, _)| inside == thread);
        match inside || self.open || state.thread(thread).permit {
            true => Ok(()),
            false => Err(Stop::Visible),
        }
    }

    /// The visible step is taken.
    pub fn taken(&mut self, state: &mut State, thread: usize) {
        if state.atomic.is_some_and(|(inside, _)| inside == thread) || self.open {
            return;
        }
        self.open = true;
        let own = state.thread_mut(thread);
        own.permit = false;
        own.recent = OrdMap::new();
        let order = super::state::Order {
            thread,
            step: own.counted + 1,
            before: state.order.take(),
        };
        state.order = Some(Rc::new(order));
    }

    // ---- calls ----

    /// Puts a call of a function with a body on a thread's stack.
    pub fn enter(
        &mut self,
        state: &mut State,
        thread: usize,
        number: usize,
        arguments: Vec<Datum>,
        dst: Option<crate::ir::LocalId>,
    ) -> Run<()> {
        if state.thread(thread).frames.len() >= DEPTH {
            return Err(Stop::Cut(format!("more than {DEPTH} calls deep")));
        }
        let program = self.program;
        let code = &program.code[number].code;
        let mut frame = Frame {
            code: number,
            at: 0,
            registers: vec![None; code.registers],
            fetched: Default::default(),
            memory: Default::default(),
            dst,
            atomic: false,
            once: None,
            rounds: Default::default(),
        };
        for size in &code.memory {
            let base = self.allocate(state, thread, *size, Storage::Stack, Fill::Unset)?;
            frame.memory.push(base);
        }
        let params = code.body.params as usize;
        for ((local, slot), argument) in code
            .body
            .locals
            .iter()
            .zip(&code.slots)
            .take(params)
            .zip(arguments)
        {
            match (slot, argument) {
                (super::code::Slot::Register(register), Datum::Scalar(value, from)) => {
                    let to = local.ty.unwrap_or(from);
                    frame.registers[*register] = Some(self.passed(value, from, to));
                }
                (super::code::Slot::Memory(index), Datum::Scalar(value, from)) => {
                    let to = local.ty.unwrap_or(from);
                    let value = self.passed(value, from, to);
                    let size = to.size(program.pointer);
                    state.memory.write(
                        &mut self.values,
                        frame.memory[*index],
                        Fill::Unset,
                        size,
                        value,
                    );
                }
                (super::code::Slot::Memory(index), Datum::Record(bytes)) => {
                    for (addr, byte) in (frame.memory[*index]..).zip(bytes) {
                        state.memory.set(addr, Fill::Unset, byte);
                    }
                }
                (super::code::Slot::Register(_), Datum::Record(_)) => {}
            }
        }
        state.thread_mut(thread).frames.push(frame);
        Ok(())
    }

    /// An argument as its parameter's type: an old-style definition's are passed as their promoted types.
    fn passed(&mut self, value: Value, from: Ty, to: Ty) -> Value {
        let floats = [from, to].map(|ty| matches!(ty, Ty::Float { .. }));
        if floats[0] != floats[1] {
            return value;
        }
        self.values.cast(value, from, to).unwrap_or(value)
    }

    /// The address of a symbol for a thread.
    pub fn symbol(&self, state: &State, thread: usize, meaning: Meaning) -> u64 {
        match meaning {
            Meaning::Address(addr) => addr,
            Meaning::ThreadLocal(number) => {
                let own = state.thread(thread).locals.get(&number);
                own.copied().unwrap_or(self.program.globals[number].base)
            }
        }
    }

    /// An argument's value.
    pub fn datum(&mut self, state: &mut State, thread: usize, arg: &Arg) -> Run<Datum> {
        match arg {
            Arg::Scalar(expr) => {
                let ty = self.body(state, thread).expr(*expr).ty;
                Ok(Datum::Scalar(self.evaluate(state, thread, *expr)?, ty))
            }
            Arg::Record { addr, size } => {
                let addr = self.evaluate(state, thread, *addr)?;
                let addr = self.address(state, addr)?;
                let fill = self.access(state, thread, addr, *size, false)?;
                let values = &mut self.values;
                let bytes = (0..*size).map(|offset| state.memory.byte(values, addr + offset, fill));
                Ok(Datum::Record(bytes.collect()))
            }
        }
    }

    pub fn body(&self, state: &State, thread: usize) -> &'p crate::ir::Body {
        let number = state.frame(thread).map_or(0, |frame| frame.code);
        self.program.code[number].code.body
    }
}
