//! Symbolic execution of a body (paper §2, Figures 2–6).
//!
//! In: a body. Out: its [`Execution`] and the [`Arena`] of what that speaks of, from which summaries, findings and traces are
//! made. Calls are in [`super::call`], the ends of blocks in [`super::control`].

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use rustc_hash::FxHashMap;

use super::arena::Arena;
use super::callee::{CalledWith, Callees};
use super::dereference::Locations;
use super::execution::Execution;
use super::frame::Frame;
use super::guard::Guard;
use super::limits::Limits;
use super::log::{Access, Site};
use super::origin::Origin;
use super::region::FrameId;
use super::state::State;
use super::term::{Term, Var};
use super::unroll::{Instance, LoopId, OrderKey};
use crate::ir::{BlockId, Body, ExprId, ExprKind, LocalId, Pos, RetTy, StmtKind, Ty};
use crate::property::Property;

/// Results of calls that are had again.
#[derive(Default)]
pub(super) struct Repeated {
    /// Those that hang on memory.
    pub of_memory: FxHashMap<CalledWith, Term>,
    /// Those of the world outside the program: no store changes them.
    pub of_world: FxHashMap<CalledWith, Term>,
}

/// One function's symbolic execution, under way.
pub struct Executor<'a> {
    pub arena: Arena<'a>,
    /// What has happened so far.
    pub execution: Execution,
    pub callees: &'a dyn Callees,
    pub limits: &'a Limits,
    /// Call sites that lead to the frame being executed, outermost first.
    pub stack: Vec<Site>,
    /// The values of opaque expressions, by function and arguments.
    pub(super) opaque: FxHashMap<(String, Vec<Term>), Term>,
    /// The results of calls that have them again if they are made again, as far as nothing has changed that.
    pub(super) answers: Repeated,
    /// The paths on which the outermost function that is being inlined was called, and the first unknown made since.
    pub inlining: Option<(Guard, Var)>,
    /// The statement being executed, and the address that it accesses.
    pub(super) site: Option<Site>,
    pub(super) accessed: Option<(ExprId, Term)>,
    /// The outermost loop of the analysed function that is being executed.
    pub(crate) in_loop: Option<LoopId>,
    deadline: Option<Instant>,
    /// The variables of each frame, by its number.
    pub(super) variables: Vec<Vec<Variable>>,
    /// The addresses of variables that functions which may change anything have got within a record.
    pub(super) variables_in_records: BTreeSet<Term>,
    /// [`Body::flags`] of the analysed function.
    pub(super) flags: Vec<LocalId>,
}

/// What is asked of a variable of a frame that calls others.
#[derive(Clone, Copy, Debug)]
pub(super) struct Variable {
    pub size: u64,
    /// The scalar type if it is one.
    pub ty: Option<Ty>,
}

/// A value passed to a function.
#[derive(Clone, Debug)]
pub enum ArgValue {
    /// A pointer, or a number that may name something.
    Scalar(Term),
    /// A number as wide as a pointer, which it is not: it leads nowhere.
    Number(Term),
    Record {
        sources: Locations,
        size: u64,
    },
}

impl ArgValue {
    /// The value, unless it is a record.
    pub fn value(&self) -> Option<Term> {
        match *self {
            ArgValue::Scalar(value) | ArgValue::Number(value) => Some(value),
            ArgValue::Record { .. } => None,
        }
    }
}

/// Executes a function whose callers and memory are unknown.
pub fn execute<'a>(
    body: &Body,
    property: &'a Property,
    callees: &'a dyn Callees,
    limits: &'a Limits,
) -> (Execution, Arena<'a>) {
    let mut executor = Executor {
        arena: Arena::new(property, callees, limits.precision),
        execution: Execution::default(),
        callees,
        limits,
        stack: Vec::new(),
        opaque: FxHashMap::default(),
        answers: Repeated::default(),
        inlining: None,
        site: None,
        accessed: None,
        in_loop: None,
        deadline: limits
            .time_limit
            .and_then(|limit| Instant::now().checked_add(limit)),
        variables: Vec::new(),
        variables_in_records: BTreeSet::new(),
        flags: body.flags(),
    };
    let offsets = &body.spellings.offsets;
    executor.arena.names.offsets(offsets);
    let mut frame = executor.frame(body);
    let state = executor.enter(&frame);
    let exit = executor.run(&mut frame, state);
    let result = exit
        .as_ref()
        .and_then(|state| executor.result(&frame, state));
    let Executor {
        arena,
        mut execution,
        ..
    } = executor;
    execution.exit = exit;
    execution.result = result;
    execution.log.only_late_tests();
    execution.counted = frame.cut.then(|| body.counted_result()).flatten();
    (execution, arena)
}

impl Executor<'_> {
    pub fn frame<'b>(&mut self, body: &'b Body) -> Frame<'b> {
        let id = FrameId(self.variables.len() as u32);
        let variables = body.locals.iter().map(|local| Variable {
            size: local.size,
            ty: local.ty,
        });
        self.variables.push(variables.collect());
        Frame::new(id, body)
    }

    /// Runs a body whose parameters have been written to its frame. The state at its exit, or `None`
    /// when control does not come back.
    pub fn run(&mut self, frame: &mut Frame<'_>, state: State) -> Option<State> {
        let mut pending: BTreeMap<OrderKey, (Instance, State)> = BTreeMap::new();
        let entry = frame.unrolling.entry(BlockId(0));
        pending.insert(frame.unrolling.key(&entry), (entry, state));
        let mut exit: Option<State> = None;
        while let Some((_, (instance, state))) = pending.pop_first() {
            self.execution.blocks += 1;
            if self.over_budget() {
                return None;
            }
            if frame.unrolling.is_header(instance.block) {
                self.execution.repeated |= instance.iterations.iter().any(|&round| round > 0);
                frame
                    .headers
                    .insert((instance.block, instance.iterations.clone()), state.guard);
            }
            self.come_into_loop(frame, &instance, state.guard);
            let mut state = state;
            self.statements(frame, &instance, &mut state);
            if state.guard == Guard::FALSE {
                continue;
            }
            for (target, guard) in self.terminator(frame, &instance, &mut state, &mut exit) {
                if guard == Guard::FALSE {
                    continue;
                }
                let step = frame.unrolling.step(&instance, target);
                if !self.may_go(frame, &instance, &step) {
                    self.execution.cut = true;
                    frame.cut = true;
                    continue;
                }
                let mut next = state.clone();
                next.guard = guard;
                let key = frame.unrolling.key(&step.to);
                let next = match pending.remove(&key) {
                    Some((_, waiting)) => self.arena.merge(waiting, next),
                    None => next,
                };
                pending.insert(key, (step.to, next));
            }
        }
        exit
    }

    fn over_budget(&mut self) -> bool {
        if self.execution.exhausted.is_none() {
            self.arena.formula.reserve_names();
            if self.execution.blocks > self.limits.max_blocks {
                self.execution.exhausted =
                    Some(format!("more than {} blocks", self.limits.max_blocks));
            } else if self.arena.formula.terms.len() as u64 > self.limits.max_terms {
                self.execution.exhausted =
                    Some(format!("more than {} terms", self.limits.max_terms));
            } else if let Some(limit) = self.arena.formula.exhausted() {
                self.execution.exhausted = Some(limit.to_string());
            } else if self
                .deadline
                .is_some_and(|deadline| Instant::now() > deadline)
            {
                self.execution.out_of_time = true;
                self.execution.exhausted = Some("time limit".to_string());
            }
        }
        self.execution.exhausted.is_some()
    }

    fn statements(&mut self, frame: &mut Frame<'_>, instance: &Instance, state: &mut State) {
        let body = frame.body;
        frame.uses = self.execution.log.uses.len();
        for stmt in &body.block(instance.block).stmts {
            self.come_to(frame, stmt.pos);
            if body.may_write_memory(&stmt.kind) {
                self.answers.of_memory.clear();
            }
            match &stmt.kind {
                StmtKind::Store { addr, value } => {
                    let (address, pointer) = self.address(frame, state, *addr);
                    let term = self.eval(frame, state, *value);
                    let ty = body.expr(*value).ty;
                    if ty == Ty::Ptr && self.arena.formula.terms.as_const(term).is_some() {
                        self.arena.names.pointer_kept(address);
                    }
                    let shape = self.arena.shape(ty);
                    self.name_stored(body, *addr, term);
                    self.accessed = Some((*addr, pointer));
                    let pointer = ty == Ty::Ptr;
                    self.note_access(
                        frame,
                        state,
                        address,
                        Access {
                            pointer,
                            ..Access::WRITE
                        },
                    );
                    if self.arena.watches
                        && ty == Ty::Ptr
                        && let ExprKind::Member { .. } = body.expr(*addr).kind
                    {
                        self.arena.note_member_at(address, || body.member_at(*addr));
                    }
                    self.store(state, address, term, shape);
                    if ty == Ty::Ptr {
                        self.note_assigned(frame, state, address, *value);
                    }
                    if frame.guesses {
                        self.assign_guessed(body, state, *addr, address);
                    }
                }
                StmtKind::Copy { dst, src, size } => {
                    let to = self.eval(frame, state, *dst);
                    let from = self.eval(frame, state, *src);
                    self.accessed = None;
                    self.note_access(frame, state, from, Access::READ);
                    self.note_access(frame, state, to, Access::WRITE);
                    self.copy(state, to, from, *size);
                }
                StmtKind::Zero { dst, size } => {
                    let to = self.eval(frame, state, *dst);
                    self.note_access(frame, state, to, Access::WRITE);
                    match self.single(state, to) {
                        Some(loc) => state.memory.zero(loc, *size),
                        None => self.havoc(state, to, *size),
                    }
                }
                StmtKind::Havoc { dst, size } => {
                    let to = self.eval(frame, state, *dst);
                    let places = self.arena.locations(to);
                    self.dereference(state, &places);
                    self.havoc(state, to, *size);
                }
                StmtKind::Expose { value, in_memory } => {
                    self.expose(frame, state, *value, *in_memory);
                }
                StmtKind::Call(call) => {
                    self.call(frame, state, call, stmt.pos);
                    if let (Some(dst), RetTy::Scalar(Ty::Ptr)) = (call.dst, call.ret) {
                        self.note_returned(frame, dst);
                    }
                }
                StmtKind::Assume(cond) => {
                    let guard = self.condition(frame, state, *cond);
                    state.guard = self.arena.formula.guards.and(state.guard, guard);
                }
                StmtKind::Assert(cond) => {
                    let holds = self.condition(frame, state, *cond);
                    let guards = &mut self.arena.formula.guards;
                    let fails = guards.and_not(state.guard, holds);
                    self.arena.warned = guards.or(self.arena.warned, fails);
                }
                // In the first round of a loop it is what it was on entry.
                StmtKind::ScopeBegin(local) => {
                    if instance.iterations.iter().any(|&round| round > 0) {
                        let storage = self.arena.local(frame.id, *local);
                        let size = body.local(*local).size;
                        let mut heap = self.arena.heap();
                        state.memory.havoc(&mut heap, storage, size);
                    }
                }
            }
            if state.guard == Guard::FALSE || self.execution.exhausted.is_some() {
                return;
            }
        }
    }

    /// Names a value after the variable that it is stored in.
    fn name_stored(&mut self, body: &Body, addr: ExprId, value: Term) {
        if self.arena.watches
            && let ExprKind::AddrLocal(local) = body.expr(addr).kind
        {
            let name = &body.local(local).name;
            let arena = &mut self.arena;
            arena.names.variable(&arena.formula.terms, value, name);
        }
    }

    /// Notes where execution is, for what is logged there.
    pub(super) fn come_to(&mut self, frame: &Frame<'_>, pos: Pos) {
        if self.arena.watches || self.limits.members {
            self.site = Some(frame.site(pos));
        }
    }

    /// The state before a body that nothing is known to have called: its parameters are unknown.
    pub fn enter(&mut self, frame: &Frame<'_>) -> State {
        self.arena.pointer_size = u64::from(frame.body.pointer_size);
        let mut state = State::new();
        for (index, local) in frame
            .body
            .locals
            .iter()
            .take(frame.body.params as usize)
            .enumerate()
        {
            let loc = self.arena.local(frame.id, LocalId(index as u32));
            if local.ty.is_none() || !(1..=16).contains(&local.size) {
                self.arena.given_records.push(loc.region);
                continue;
            }
            let origin = Origin::Param(index as u32);
            let shape = self.arena.local_shape(local);
            let value = self
                .arena
                .origins
                .fresh(&mut self.arena.formula.terms, shape.bits, origin);
            self.arena
                .names
                .variable(&self.arena.formula.terms, value, &local.name);
            if local.ty == Some(Ty::Ptr) {
                self.arena.mark_pointer(value, 0);
            }
            state.memory.write_shape(loc, value, shape);
        }
        state
    }

    /// The scalar that a frame's body returned.
    pub fn result(&mut self, frame: &Frame<'_>, state: &State) -> Option<Term> {
        let RetTy::Scalar(ty) = frame.body.ret else {
            return None;
        };
        let slot = self.arena.result_slot(frame.id);
        let value = state.memory.read(
            &mut self.arena.heap(),
            slot,
            u64::from(ty.bits()).div_ceil(8),
        );
        let value = self.arena.resize(value, ty.bits());
        if ty == Ty::Ptr {
            self.arena.names.pointer(value);
        }
        Some(value)
    }
}
