//! Symbolic execution of a body (paper §2, Figures 2–6).
//!
//! In: a body and the state before it. Out: the state at its single exit, and a [`Log`] of branches,
//! operations on tracked objects and returns, from which findings and traces are made. Calls are in
//! [`super::call`].

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use super::formula::Formula;
use super::guard::Guard;
use super::log::{BranchEvent, Log, ReturnEvent, Site};
use super::memory::{Heap, Initial, Memory, Origin, Origins};
use super::naming::{Namer, Names};
use super::region::{FrameId, Loc, RegionKind, Regions, SymbolicOffset};
use super::state::{MachineId, Object, State, Status, Tracked};
use super::term::{Node, Op, Term};
use super::unroll::{Instance, OrderKey, Unrolling};
use crate::engine::function::{Callees, Options};
use crate::ir::{
    Arg, BinOp, BlockId, Body, CmpOp, Expr, ExprId, ExprKind, LocalId, POINTER_BITS, Pos, RetTy,
    StmtKind, TermKind, Ty, UnOp,
};
use crate::property::{Machine, Property, StateId};

/// Locations an address may stand for: `(guard, location)`, exclusive, null left out.
pub type Locations = Rc<[(Guard, Loc)]>;

/// More choices than this for one address are dropped.
const MAX_LOCATIONS: usize = 12;
/// Pointers followed back from an object to the call that gave the first.
const MAX_BIRTH_CHAIN: usize = 8;
/// Iterations of a loop whose exit tests all fold to constants.
const MAX_CONCRETE: u32 = 256;
/// The same in a function that depends on unknown values: there every iteration costs, and what it
/// can show the first ones have shown.
const MAX_CONCRETE_BESIDE_UNKNOWNS: u32 = 8;
/// Blocks after which folding loops are cut like others.
const CONCRETE_BLOCKS: u64 = 3_000;

/// Addresses above this are error numbers (IS_ERR), not pointers.
const LAST_POINTER: u128 = u64::MAX as u128 - 4095;
/// Addresses below this are null or members of a record at null.
const FIRST_POINTER: u128 = 4096;
/// `&p->member == 0` is `p == -offset`: such addresses hold no record either.
const MAX_MEMBER_OFFSET: u128 = 1 << 20;

/// The slot that a frame's result is returned through.
const RESULT: LocalId = LocalId(u32::MAX);

/// One function's symbolic execution.
pub struct Executor<'a> {
    pub formula: Formula,
    pub regions: Regions,
    pub origins: Origins,
    pub initial: Initial,
    pub names: Names,
    pub log: Log,
    pub callees: &'a dyn Callees,
    pub options: &'a Options,
    pub machines: Vec<&'a Machine>,
    /// Objects' states on entry.
    pub entries: BTreeMap<Object, Tracked>,
    /// Call sites that lead to the frame being executed, outermost first.
    pub stack: Vec<Site>,
    /// The paths on which each call result was made.
    pub made_on: FxHashMap<Term, Guard>,
    /// Executions cut off at a loop's unrolling limit.
    pub cut: bool,
    /// The budget that ran out.
    pub exhausted: Option<String>,
    /// It was the time limit.
    pub out_of_time: bool,
    deadline: Option<Instant>,
    pub blocks: u64,
    machine_ids: FxHashMap<&'a str, MachineId>,
    locations: FxHashMap<Term, Locations>,
    frames: u32,
}

/// A body being executed.
pub struct Frame<'b> {
    pub id: FrameId,
    pub body: &'b Body,
    name: Arc<str>,
    files: Vec<Arc<str>>,
    unrolling: Unrolling,
    /// Loops (by header instance) with an exit test that folded to "stay".
    folded: FxHashSet<(BlockId, SmallVec<[u32; 4]>)>,
    /// The guard with which each loop iteration began.
    headers: FxHashMap<(BlockId, SmallVec<[u32; 4]>), Guard>,
}

/// A value passed to a function.
#[derive(Clone, Debug)]
pub enum ArgValue {
    Scalar(Term),
    Record { source: Option<Loc>, size: u64 },
}

impl<'a> Executor<'a> {
    pub fn new(property: &'a Property, callees: &'a dyn Callees, options: &'a Options) -> Self {
        let machines: Vec<&Machine> = property
            .checkers
            .iter()
            .flat_map(|checker| &checker.machines)
            .collect();
        let machine_ids = machines
            .iter()
            .enumerate()
            .map(|(index, machine)| (machine.name.as_str(), MachineId(index as u16)))
            .collect();
        Executor {
            formula: Formula::new(),
            regions: Regions::new(),
            origins: Origins::default(),
            initial: Initial::default(),
            names: Names::default(),
            log: Log::default(),
            callees,
            options,
            machines,
            entries: BTreeMap::new(),
            stack: Vec::new(),
            made_on: FxHashMap::default(),
            cut: false,
            exhausted: None,
            out_of_time: false,
            deadline: options
                .time_limit
                .and_then(|limit| Instant::now().checked_add(limit)),
            blocks: 0,
            machine_ids,
            locations: FxHashMap::default(),
            frames: 0,
        }
    }

    pub fn machine(&self, name: &str) -> Option<MachineId> {
        self.machine_ids.get(name).copied()
    }

    pub fn heap(&mut self) -> Heap<'_> {
        Heap {
            formula: &mut self.formula,
            regions: &mut self.regions,
            origins: &mut self.origins,
            initial: &mut self.initial,
        }
    }

    pub fn frame<'b>(&mut self, body: &'b Body) -> Frame<'b> {
        let id = FrameId(self.frames);
        self.frames += 1;
        Frame {
            id,
            body,
            name: body.name.name.as_str().into(),
            files: body.files.iter().map(|file| file.as_str().into()).collect(),
            unrolling: Unrolling::new(body),
            folded: FxHashSet::default(),
            headers: FxHashMap::default(),
        }
    }

    pub fn local(&mut self, frame: FrameId, local: LocalId) -> Loc {
        let region = self.regions.region(RegionKind::Local { frame, local });
        Loc {
            region,
            symbolic: SymbolicOffset::NONE,
            offset: 0,
        }
    }

    /// Where a frame's result is found after it ran.
    pub fn result_slot(&mut self, frame: FrameId) -> Loc {
        self.local(frame, RESULT)
    }

    pub fn unknown(&mut self, width: u16) -> Term {
        self.origins
            .fresh(&mut self.formula.terms, width, Origin::Unknown)
    }

    /// A fresh value for what a call gave back in a state.
    pub fn call_result(&mut self, state: &State, width: u16, origin: Origin) -> Term {
        let term = self.origins.fresh(&mut self.formula.terms, width, origin);
        self.made_on.insert(term, state.guard);
        term
    }

    /// A fresh unconstrained Boolean as a guard.
    pub fn choice(&mut self) -> Guard {
        let term = self.unknown(1);
        self.formula.guard_of(term)
    }

    /// The object's state on entry to the function: unknown for one of the environment, the machine's
    /// initial state for one in the function's own storage.
    pub fn entry_state(&mut self, object: Object) -> Tracked {
        if let Some(tracked) = self.entries.get(&object) {
            return tracked.clone();
        }
        let machine = self.machines[usize::from(object.machine.0)];
        let mut tracked = Tracked {
            set: SmallVec::new(),
            touched: Guard::FALSE,
        };
        if self.regions.is_local(object.loc.region) {
            tracked.set.push((Status::At(machine.initial), Guard::TRUE));
        } else {
            let mut rest = Guard::TRUE;
            for state in 0..machine.states.len() as u8 {
                let last = usize::from(state) + 1 == machine.states.len();
                let here = if last { Guard::TRUE } else { self.choice() };
                let guard = self.formula.guards.and(rest, here);
                rest = self.formula.guards.and_not(rest, here);
                tracked.set.push((Status::At(StateId(state)), guard));
            }
        }
        self.entries.insert(object, tracked.clone());
        tracked
    }

    pub fn merge(&mut self, left: State, right: State) -> State {
        // Objects that only one side has touched were in their entry state on the other.
        let missing: Vec<Object> = if left.objects.ptr_eq(&right.objects) {
            Vec::new()
        } else {
            left.objects
                .keys()
                .chain(right.objects.keys())
                .filter(|object| !self.entries.contains_key(object))
                .copied()
                .collect()
        };
        for object in missing {
            self.entry_state(object);
        }
        let entries = &self.entries;
        let mut heap = Heap {
            formula: &mut self.formula,
            regions: &mut self.regions,
            origins: &mut self.origins,
            initial: &mut self.initial,
        };
        let mut entry = |_: &mut Formula, object: Object| {
            entries.get(&object).cloned().unwrap_or(Tracked {
                set: SmallVec::new(),
                touched: Guard::FALSE,
            })
        };
        left.merge(right, &mut heap, &mut entry)
    }

    /// Runs a body whose parameters have been written to its frame. The state at its exit, or `None`
    /// when control does not come back.
    pub fn run(&mut self, frame: &mut Frame<'_>, state: State) -> Option<State> {
        let mut pending: BTreeMap<OrderKey, (Instance, State)> = BTreeMap::new();
        let entry = frame.unrolling.entry(BlockId(0));
        pending.insert(frame.unrolling.key(&entry), (entry, state));
        let mut exit: Option<State> = None;
        while let Some((_, (instance, state))) = pending.pop_first() {
            self.blocks += 1;
            if self.over_budget() {
                return None;
            }
            if frame.unrolling.is_header(instance.block) {
                frame
                    .headers
                    .insert((instance.block, instance.iterations.clone()), state.guard);
            }
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
                if let Some(iteration) = step.iteration
                    && !self.may_iterate(frame, &step.to, iteration)
                {
                    self.cut = true;
                    continue;
                }
                let mut next = state.clone();
                next.guard = guard;
                let key = frame.unrolling.key(&step.to);
                let next = match pending.remove(&key) {
                    Some((_, waiting)) => self.merge(waiting, next),
                    None => next,
                };
                pending.insert(key, (step.to, next));
            }
        }
        exit
    }

    fn over_budget(&mut self) -> bool {
        if self.exhausted.is_none() {
            if self.blocks > self.options.max_blocks {
                self.exhausted = Some(format!("more than {} blocks", self.options.max_blocks));
            } else if self.formula.terms.len() as u64 > self.options.max_terms {
                self.exhausted = Some(format!("more than {} terms", self.options.max_terms));
            } else if let Some(limit) = self.formula.exhausted() {
                self.exhausted = Some(limit.to_string());
            } else if self
                .deadline
                .is_some_and(|deadline| Instant::now() > deadline)
            {
                self.out_of_time = true;
                self.exhausted = Some("time limit".to_string());
            }
        }
        self.exhausted.is_some()
    }

    /// How often a loop runs whose tests all fold. A program that has made no decision on an unknown
    /// value is being executed exactly, and goes on.
    fn concrete_limit(&self) -> u32 {
        match self.log.branches.is_empty() {
            true => MAX_CONCRETE,
            false => MAX_CONCRETE_BESIDE_UNKNOWNS,
        }
    }

    /// Whether a loop goes on: always up to the unrolling limit; beyond it only after an iteration
    /// whose test folded. [`Self::ends_here`] sees to it that such a loop comes to an end.
    fn may_iterate(&self, frame: &Frame<'_>, header: &Instance, iteration: u32) -> bool {
        if iteration < self.options.unroll {
            return true;
        }
        if iteration >= self.concrete_limit() || self.blocks > CONCRETE_BLOCKS {
            return false;
        }
        let mut before = header.iterations.clone();
        if let Some(last) = before.last_mut() {
            *last -= 1;
        }
        frame.folded.contains(&(header.block, before))
    }

    /// Whether to leave a loop at a test that folds to going on, rather than lose what follows it.
    /// A loop that is concrete, no path having left it, is executed to its end, within bounds. Another
    /// one (a search through a table of constant size) is left at its own test, the header's or the
    /// latch's, once it has been unrolled: as if it had come to its end.
    fn ends_here(
        &self,
        frame: &mut Frame<'_>,
        test: BlockId,
        taken: BlockId,
        header: Instance,
        guard: Guard,
    ) -> bool {
        let Some(&iteration) = header.iterations.last() else {
            return false;
        };
        let mut first = header.iterations.clone();
        if let Some(last) = first.last_mut() {
            *last = 0;
        }
        let concrete = frame.headers.get(&(header.block, first)) == Some(&guard);
        let ends = if concrete && self.blocks <= CONCRETE_BLOCKS {
            iteration + 1 >= self.concrete_limit()
        } else if test == header.block {
            iteration >= self.options.unroll
        } else if taken == header.block {
            iteration + 1 >= self.options.unroll
        } else {
            return false;
        };
        if !ends {
            frame.folded.insert((header.block, header.iterations));
        }
        ends
    }

    fn statements(&mut self, frame: &mut Frame<'_>, instance: &Instance, state: &mut State) {
        let body = frame.body;
        for stmt in &body.block(instance.block).stmts {
            match &stmt.kind {
                StmtKind::Store { addr, value } => {
                    let address = self.eval(frame, state, *addr);
                    let term = self.eval(frame, state, *value);
                    let bytes = u64::from(body.expr(*value).ty.bits()).div_ceil(8);
                    self.store(state, address, term, bytes);
                }
                StmtKind::Copy { dst, src, size } => {
                    let to = self.eval(frame, state, *dst);
                    let from = self.eval(frame, state, *src);
                    self.copy(state, to, from, *size);
                }
                StmtKind::Zero { dst, size } => {
                    let to = self.eval(frame, state, *dst);
                    match self.single(state, to) {
                        Some(loc) => state.memory.zero(loc, *size),
                        None => self.havoc(state, to, *size),
                    }
                }
                StmtKind::Havoc { dst, size } => {
                    let to = self.eval(frame, state, *dst);
                    self.havoc(state, to, *size);
                }
                StmtKind::Call(call) => self.call(frame, state, call, stmt.pos),
                StmtKind::Assume(cond) => {
                    let guard = self.condition(frame, state, *cond);
                    state.guard = self.formula.guards.and(state.guard, guard);
                }
                StmtKind::Assert(_) => {}
                StmtKind::ScopeEnd(_) => {}
            }
            if state.guard == Guard::FALSE || self.exhausted.is_some() {
                return;
            }
        }
    }

    /// The targets of a block's end with the guards of the edges.
    fn terminator(
        &mut self,
        frame: &mut Frame<'_>,
        instance: &Instance,
        state: &mut State,
        exit: &mut Option<State>,
    ) -> Vec<(BlockId, Guard)> {
        let body = frame.body;
        let term = &body.block(instance.block).term;
        match &term.kind {
            TermKind::Goto(next) => vec![(*next, state.guard)],
            TermKind::Branch { cond, then, els } => {
                let guard = self.condition(frame, state, *cond);
                self.branch(frame, instance, state, guard, (*then, *els), term.pos)
            }
            TermKind::Switch {
                value,
                cases,
                default,
            } => {
                let value_term = self.eval(frame, state, *value);
                let ty = body.expr(*value).ty;
                self.switch(state, value_term, ty, cases, *default)
            }
            TermKind::Nondet(targets) => {
                let mut rest = state.guard;
                let mut edges = Vec::new();
                for (index, target) in targets.iter().enumerate() {
                    let last = index + 1 == targets.len();
                    let here = if last { Guard::TRUE } else { self.choice() };
                    edges.push((*target, self.formula.guards.and(rest, here)));
                    rest = self.formula.guards.and_not(rest, here);
                }
                edges
            }
            TermKind::Return(value) => {
                let slot = self.result_slot(frame.id);
                match value {
                    Some(Arg::Scalar(value)) => {
                        let result = self.eval(frame, state, *value);
                        self.assume_valid(state, result);
                        let bits = match body.ret {
                            RetTy::Scalar(ty) => ty.bits(),
                            _ => self.formula.terms.width(result),
                        };
                        let result = self.resize(result, bits.next_multiple_of(8));
                        state.memory.write(&self.formula.terms, slot, result);
                    }
                    Some(Arg::Record { addr, size }) => {
                        let from = self.eval(frame, state, *addr);
                        if let Some(from) = self.single(state, from) {
                            state.memory.copy(slot, from, *size);
                        }
                    }
                    None => {}
                }
                let site = frame.site(term.pos);
                self.log.returns.push(ReturnEvent {
                    guard: state.guard,
                    site,
                    depth: self.stack.len() as u32,
                });
                let here = state.clone();
                *exit = Some(match exit.take() {
                    Some(before) => self.merge(before, here),
                    None => here,
                });
                Vec::new()
            }
            TermKind::Unreachable => Vec::new(),
        }
    }

    /// The guard under which the object that a location names exists: its pointer is not null, and the
    /// call that it came from was made.
    pub fn exists(&mut self, loc: Loc) -> Guard {
        let RegionKind::Environment { mut base } = *self.regions.kind(loc.region) else {
            return Guard::TRUE;
        };
        let there = self.nonzero(base);
        let mut exists = self.formula.guard_of(there);
        for _ in 0..MAX_BIRTH_CHAIN {
            if let Some(&made) = self.made_on.get(&base) {
                return self.formula.guards.and(exists, made);
            }
            let Node::Var(var) = *self.formula.terms.node(base) else {
                break;
            };
            let Origin::Initial { loc: pointer, .. } = *self.origins.of(var) else {
                break;
            };
            let RegionKind::Environment { base: outer } = *self.regions.kind(pointer.region) else {
                break;
            };
            base = outer;
            let there = self.nonzero(base);
            let there = self.formula.guard_of(there);
            exists = self.formula.guards.and(exists, there);
        }
        exists
    }

    /// Whether every path to a state went through the pointer to the object.
    pub fn surely_exists(&self, state: &State, loc: Loc) -> bool {
        match self.regions.kind(loc.region) {
            RegionKind::Environment { base } => state.nonnull.contains(base),
            _ => true,
        }
    }

    /// A pointer that this path went through is neither null nor an error number. Said of a result,
    /// this tells the caller what its tests will find.
    fn assume_valid(&mut self, state: &mut State, pointer: Term) {
        if self.formula.terms.width(pointer) != POINTER_BITS {
            return;
        }
        let base = match self.locations(pointer)[..] {
            [(_, loc)] => match *self.regions.kind(loc.region) {
                RegionKind::Environment { base } => base,
                _ => return,
            },
            _ => return,
        };
        if !state.nonnull.contains(&base) {
            return;
        }
        let terms = &mut self.formula.terms;
        let zero = terms.constant(0, POINTER_BITS);
        let last = terms.constant(LAST_POINTER, POINTER_BITS);
        let null = terms.eq(pointer, zero);
        let error = terms.ult(last, pointer);
        let invalid = terms.or(null, error);
        let invalid = self.formula.guard_of(invalid);
        state.guard = self.formula.guards.and_not(state.guard, invalid);
    }

    fn branch(
        &mut self,
        frame: &mut Frame<'_>,
        instance: &Instance,
        state: &State,
        guard: Guard,
        (then, els): (BlockId, BlockId),
        pos: Pos,
    ) -> Vec<(BlockId, Guard)> {
        if guard == Guard::TRUE || guard == Guard::FALSE {
            let (taken, other) = if guard == Guard::TRUE {
                (then, els)
            } else {
                (els, then)
            };
            let leaves = frame.unrolling.leaves_loop(instance.block, other)
                && !frame.unrolling.leaves_loop(instance.block, taken);
            if leaves
                && let Some(header) = frame.unrolling.innermost_header(instance)
                && self.ends_here(frame, instance.block, taken, header, state.guard)
            {
                return vec![(other, state.guard)];
            }
            return vec![(taken, state.guard)];
        }
        let yes = self.formula.guards.and(state.guard, guard);
        let no = self.formula.guards.and_not(state.guard, guard);
        let site = frame.site(pos);
        self.log.branches.push(BranchEvent {
            path: state.guard,
            guard,
            site,
            depth: self.stack.len() as u32,
            order: self.log.ops.len(),
        });
        if then == els {
            return vec![(then, state.guard)];
        }
        vec![(then, yes), (els, no)]
    }

    fn switch(
        &mut self,
        state: &State,
        value: Term,
        ty: Ty,
        cases: &[(i128, i128, BlockId)],
        default: BlockId,
    ) -> Vec<(BlockId, Guard)> {
        let width = self.formula.terms.width(value);
        let mut rest = state.guard;
        let mut edges: Vec<(BlockId, Guard)> = Vec::new();
        let mut add = |formula: &mut Formula, target: BlockId, guard: Guard| match edges
            .iter_mut()
            .find(|edge| edge.0 == target)
        {
            Some(edge) => edge.1 = formula.guards.or(edge.1, guard),
            None => edges.push((target, guard)),
        };
        for &(low, high, target) in cases {
            let terms = &mut self.formula.terms;
            let low_term = terms.constant(low as u128, width);
            let test = if low == high {
                terms.eq(value, low_term)
            } else {
                let high_term = terms.constant(high as u128, width);
                let (above, below) = if ty.signed() {
                    (terms.sle(low_term, value), terms.sle(value, high_term))
                } else {
                    (terms.ule(low_term, value), terms.ule(value, high_term))
                };
                terms.and(above, below)
            };
            let test = self.formula.guard_of(test);
            let here = self.formula.guards.and(rest, test);
            rest = self.formula.guards.and_not(rest, test);
            add(&mut self.formula, target, here);
        }
        add(&mut self.formula, default, rest);
        edges
    }

    /// The guard under which an expression is not 0.
    fn condition(&mut self, frame: &Frame<'_>, state: &mut State, cond: ExprId) -> Guard {
        let term = self.eval(frame, state, cond);
        let truth = self.nonzero(term);
        self.guard_of(state, truth)
    }

    /// The guard of a condition in a state: pointers that every path here went through are neither null
    /// nor error numbers (IS_ERR).
    pub fn guard_of(&mut self, state: &State, truth: Term) -> Guard {
        let guard = self.formula.guard_of(truth);
        self.with_valid_pointers(state, guard)
    }

    /// A guard with what is known of the pointers that every path to the state went through.
    pub fn with_valid_pointers(&mut self, state: &State, guard: Guard) -> Guard {
        if state.nonnull.is_empty() {
            return guard;
        }
        // A valid pointer, or the address of a member or element of what it points to.
        let valid = |address: &Term| {
            let is_base = |term: &Term| state.nonnull.contains(term);
            is_base(address)
                || matches!(
                    self.formula.terms.node(*address),
                    Node::Linear { terms, .. }
                        if terms.iter().any(|(coefficient, term)| *coefficient == 1 && is_base(term))
                )
        };
        // No object lies in the first page or where error numbers do, even seen from a member of it.
        let nowhere = |term: Term| {
            self.formula.terms.as_const(term).is_some_and(|value| {
                !(FIRST_POINTER..=LAST_POINTER - MAX_MEMBER_OFFSET).contains(&value)
            })
        };
        let constant = |term: Term| self.formula.terms.as_const(term);
        let known: Vec<_> = self
            .formula
            .guards
            .support(guard)
            .iter()
            .filter_map(|&condition| {
                let Node::Op { op, args } =
                    self.formula.terms.node(self.formula.cond_term(condition))
                else {
                    return None;
                };
                let (left, right) = (*args.first()?, *args.get(1)?);
                let value = match op {
                    Op::Eq if nowhere(left) && valid(&right) => false,
                    Op::Eq if nowhere(right) && valid(&left) => false,
                    Op::Ult | Op::Ule if valid(&right) && constant(left)? >= LAST_POINTER => false,
                    Op::Ult | Op::Ule if valid(&left) && constant(right)? > LAST_POINTER => true,
                    _ => return None,
                };
                Some((condition, value))
            })
            .collect();
        match known.is_empty() {
            true => guard,
            false => self.formula.guards.restrict(guard, &known),
        }
    }

    pub fn nonzero(&mut self, term: Term) -> Term {
        let terms = &mut self.formula.terms;
        let zero = terms.constant(0, terms.width(term));
        let is_zero = terms.eq(term, zero);
        terms.not(is_zero)
    }

    /// Truncates or zero-extends.
    pub fn resize(&mut self, term: Term, width: u16) -> Term {
        let terms = &mut self.formula.terms;
        match terms.width(term).cmp(&width) {
            std::cmp::Ordering::Equal => term,
            std::cmp::Ordering::Less => terms.zext(term, width),
            std::cmp::Ordering::Greater => terms.extract(term, 0, width),
        }
    }

    pub fn eval(&mut self, frame: &Frame<'_>, state: &mut State, id: ExprId) -> Term {
        let Expr { kind, ty } = frame.body.expr(id);
        let ty = *ty;
        match kind {
            ExprKind::Const(value) => match ty {
                Ty::Float { bits } => self.unknown(bits),
                _ => self.formula.terms.constant(*value, ty.bits()),
            },
            ExprKind::Unknown => self.unknown(ty.bits()),
            ExprKind::AddrLocal(local) => {
                let loc = self.local(frame.id, *local);
                let address = self.regions.address(&mut self.formula.terms, loc);
                self.names.root(address, &frame.body.local(*local).name);
                address
            }
            ExprKind::AddrSymbol(symbol) => {
                let name = &frame.body.symbol(*symbol).name;
                let region = self.regions.region(RegionKind::Symbol(name.clone()));
                let loc = Loc {
                    region,
                    symbolic: SymbolicOffset::NONE,
                    offset: 0,
                };
                let address = self.regions.address(&mut self.formula.terms, loc);
                self.names.root(address, &name.name);
                address
            }
            ExprKind::AddrString(string) => {
                let bytes = frame.body.strings[string.index()].clone();
                let region = self.regions.region(RegionKind::String(bytes));
                let loc = Loc {
                    region,
                    symbolic: SymbolicOffset::NONE,
                    offset: 0,
                };
                self.regions.address(&mut self.formula.terms, loc)
            }
            ExprKind::Load { addr, .. } => {
                let address = self.eval(frame, state, *addr);
                let value = self.load(state, address, ty);
                if let ExprKind::AddrLocal(local) = frame.body.expr(*addr).kind {
                    self.names
                        .variable(&self.formula.terms, value, &frame.body.local(local).name);
                }
                value
            }
            ExprKind::Unary { op, arg } => {
                let arg = self.eval(frame, state, *arg);
                match (op, ty) {
                    (_, Ty::Float { bits }) => self.unknown(bits),
                    (UnOp::Neg, _) => self.formula.terms.neg(arg),
                    (UnOp::Not, _) => self.formula.terms.not(arg),
                }
            }
            ExprKind::Binary { op, lhs, rhs } => {
                let left = self.eval(frame, state, *lhs);
                let right = self.eval(frame, state, *rhs);
                self.binary(*op, ty, left, right)
            }
            ExprKind::Compare { op, lhs, rhs } => {
                let left = self.eval(frame, state, *lhs);
                let right = self.eval(frame, state, *rhs);
                let operands = frame.body.expr(*lhs).ty;
                let truth = self.compare(*op, operands, left, right);
                self.formula.terms.zext(truth, ty.bits())
            }
            ExprKind::Cast { arg } => {
                let from = frame.body.expr(*arg).ty;
                let value = self.eval(frame, state, *arg);
                match (from, ty) {
                    (Ty::Float { .. }, _) | (_, Ty::Float { .. }) if from != ty => {
                        self.unknown(ty.bits())
                    }
                    _ if ty.bits() > from.bits() && from.signed() => {
                        self.formula.terms.sext(value, ty.bits())
                    }
                    _ => self.resize(value, ty.bits()),
                }
            }
            ExprKind::Member { base, offset, name } => {
                let first = first_members(frame.body, *base);
                let base = self.eval(frame, state, *base);
                let terms = &mut self.formula.terms;
                let distance = terms.constant(u128::from(*offset), POINTER_BITS);
                let address = terms.add(base, distance);
                self.names
                    .member(address, base, first, &frame.body.names[*name as usize]);
                address
            }
            ExprKind::Index { base, index, scale } => {
                let first = first_members(frame.body, *base);
                let base = self.eval(frame, state, *base);
                let index = self.eval(frame, state, *index);
                let index = self.resize(index, POINTER_BITS);
                let address = self.formula.terms.linear(
                    POINTER_BITS,
                    0,
                    &[(1, base), (u128::from(*scale), index)],
                );
                self.names.element(address, base, first, index);
                address
            }
            ExprKind::Select { cond, then, els } => {
                let guard = self.condition(frame, state, *cond);
                let then = self.eval(frame, state, *then);
                let els = self.eval(frame, state, *els);
                self.formula.ite_guard(guard, then, els)
            }
        }
    }

    fn binary(&mut self, op: BinOp, ty: Ty, left: Term, right: Term) -> Term {
        if let Ty::Float { bits } = ty {
            return self.unknown(bits);
        }
        let shift = matches!(op, BinOp::Shl | BinOp::Shr);
        let right = if shift || self.formula.terms.width(right) != ty.bits() {
            self.resize(right, ty.bits())
        } else {
            right
        };
        let left = self.resize(left, ty.bits());
        let terms = &mut self.formula.terms;
        match (op, ty.signed()) {
            (BinOp::Add, _) => terms.add(left, right),
            (BinOp::Sub, _) => terms.sub(left, right),
            (BinOp::Mul, _) => terms.mul(left, right),
            (BinOp::Div, true) => terms.sdiv(left, right),
            (BinOp::Div, false) => terms.udiv(left, right),
            (BinOp::Rem, true) => terms.srem(left, right),
            (BinOp::Rem, false) => terms.urem(left, right),
            (BinOp::And, _) => terms.and(left, right),
            (BinOp::Or, _) => terms.or(left, right),
            (BinOp::Xor, _) => terms.xor(left, right),
            (BinOp::Shl, _) => terms.shl(left, right),
            (BinOp::Shr, true) => terms.ashr(left, right),
            (BinOp::Shr, false) => terms.lshr(left, right),
        }
    }

    fn compare(&mut self, op: CmpOp, ty: Ty, left: Term, right: Term) -> Term {
        if let Ty::Float { .. } = ty {
            return self.unknown(1);
        }
        let width = self.formula.terms.width(left);
        let right = self.resize(right, width);
        let terms = &mut self.formula.terms;
        match (op, ty.signed()) {
            (CmpOp::Eq | CmpOp::Ne, _) => {
                let equal = terms.eq(left, right);
                if op == CmpOp::Eq {
                    equal
                } else {
                    terms.not(equal)
                }
            }
            (CmpOp::Lt, true) => terms.slt(left, right),
            (CmpOp::Le, true) => terms.sle(left, right),
            (CmpOp::Gt, true) => terms.slt(right, left),
            (CmpOp::Ge, true) => terms.sle(right, left),
            (CmpOp::Lt, false) => terms.ult(left, right),
            (CmpOp::Le, false) => terms.ule(left, right),
            (CmpOp::Gt, false) => terms.ult(right, left),
            (CmpOp::Ge, false) => terms.ule(right, left),
        }
    }

    /// The guarded location set of an address (paper Figure 5), null left out: whoever asks is about
    /// to go through the pointer.
    pub fn locations(&mut self, address: Term) -> Locations {
        if let Some(known) = self.locations.get(&address) {
            return known.clone();
        }
        let mut found: Vec<(Guard, Loc)> = Vec::new();
        let mut work = vec![(Guard::TRUE, address)];
        while let Some((guard, term)) = work.pop() {
            if guard == Guard::FALSE || found.len() > MAX_LOCATIONS || work.len() > 64 {
                continue;
            }
            match self.choice_in(term) {
                Some((condition, then, els)) => {
                    let condition = self.formula.guard_of(condition);
                    work.push((self.formula.guards.and_not(guard, condition), els));
                    work.push((self.formula.guards.and(guard, condition), then));
                }
                None => {
                    if let Some(loc) = self.regions.locate(&self.formula.terms, term) {
                        match found.iter_mut().find(|entry| entry.1 == loc) {
                            Some(entry) => entry.0 = self.formula.guards.or(entry.0, guard),
                            None => found.push((guard, loc)),
                        }
                    }
                }
            }
        }
        found.sort_by_key(|entry| entry.1);
        let found: Locations = found.into();
        self.locations.insert(address, found.clone());
        found
    }

    /// Notes that execution goes through a pointer, so that later tests for null fold.
    pub fn went_through(&mut self, state: &mut State, locations: &Locations) {
        if let [(_, loc)] = locations[..]
            && let RegionKind::Environment { base } = *self.regions.kind(loc.region)
        {
            state.nonnull.insert(base);
        }
    }

    /// The places of an object that execution certainly goes to. If there is just one, it is there on all
    /// paths that go on.
    pub fn gone_through(
        &mut self,
        state: &mut State,
        places: Vec<(Guard, Loc)>,
    ) -> Vec<(Guard, Loc)> {
        match places[..] {
            [(_, loc)] => {
                self.went_through(state, &places.into());
                vec![(Guard::TRUE, loc)]
            }
            _ => places,
        }
    }

    /// The one location of an address, if it has just one.
    pub fn single(&mut self, state: &mut State, address: Term) -> Option<Loc> {
        let locations = self.locations(address);
        self.went_through(state, &locations);
        match locations[..] {
            [(_, loc)] => Some(loc),
            _ => None,
        }
    }

    pub fn load(&mut self, state: &mut State, address: Term, ty: Ty) -> Term {
        let locations = self.locations(address);
        self.went_through(state, &locations);
        let bytes = u64::from(ty.bits()).div_ceil(8).clamp(1, 16);
        let memory = state.memory.clone();
        let mut value: Option<Term> = None;
        for &(guard, loc) in locations.iter().rev() {
            let here = memory.read(&mut self.heap(), loc, bytes);
            value = Some(match value {
                Some(other) => self.formula.ite_guard(guard, here, other),
                None => here,
            });
        }
        let value = value.unwrap_or_else(|| self.unknown((bytes * 8) as u16));
        let value = self.resize(value, ty.bits());
        if ty == Ty::Ptr {
            self.mark_pointer(value, 8);
        }
        value
    }

    /// Marks the leaves of a pointer value as pointers.
    pub fn mark_pointer(&mut self, value: Term, depth: u32) {
        match self.formula.terms.node(value) {
            Node::Op { op: Op::Ite, args } => {
                let (then, els) = (args[1], args[2]);
                if depth > 0 {
                    self.mark_pointer(then, depth - 1);
                    self.mark_pointer(els, depth - 1);
                }
            }
            Node::Const(_) | Node::Linear { .. } => {}
            _ => self.regions.mark_pointer(value),
        }
    }

    pub fn store(&mut self, state: &mut State, address: Term, value: Term, bytes: u64) {
        let locations = self.locations(address);
        self.went_through(state, &locations);
        let value = self.resize(value, (bytes * 8) as u16);
        if let [(_, loc)] = locations[..] {
            state.memory.write(&self.formula.terms, loc, value);
            return;
        }
        for &(guard, loc) in locations.iter() {
            let memory = state.memory.clone();
            let old = memory.read(&mut self.heap(), loc, bytes);
            let new = self.formula.ite_guard(guard, value, old);
            state.memory.write(&self.formula.terms, loc, new);
        }
    }

    fn copy(&mut self, state: &mut State, to: Term, from: Term, size: u64) {
        if size == 0 {
            return;
        }
        match (self.single(state, to), self.single(state, from)) {
            (Some(to), Some(from)) => state.memory.copy(to, from, size),
            (Some(_), None) if size <= 8 => {
                let value = self.load(
                    state,
                    from,
                    Ty::Int {
                        bits: (size * 8) as u16,
                        signed: false,
                    },
                );
                self.store(state, to, value, size);
            }
            _ => {
                // Several sources or targets: each target keeps its old bytes or gets each source's.
                let targets = self.locations(to);
                let sources = self.locations(from);
                let before = state.memory.clone();
                for &(to_guard, to) in targets.iter() {
                    for &(from_guard, from) in sources.iter() {
                        let guard = self.formula.guards.and(to_guard, from_guard);
                        let mut copied: Memory = state.memory.clone();
                        copied.copy_from(&before, to, from, size);
                        let kept = state.memory.clone();
                        state.memory = copied.merge(&mut self.heap(), guard, &kept);
                    }
                }
            }
        }
    }

    pub fn havoc(&mut self, state: &mut State, address: Term, size: u64) {
        let locations = self.locations(address);
        for &(guard, loc) in locations.iter() {
            let kept = state.memory.clone();
            state.memory.havoc(&mut self.heap(), loc, size);
            if guard != Guard::TRUE && locations.len() > 1 {
                state.memory = state.memory.clone().merge(&mut self.heap(), guard, &kept);
            }
        }
    }

    /// A location as the source would write it.
    pub fn name_of(&mut self, loc: Loc) -> String {
        let address = self.regions.address(&mut self.formula.terms, loc);
        let mut namer = Namer {
            names: &self.names,
            terms: &mut self.formula.terms,
            regions: &mut self.regions,
            origins: &self.origins,
        };
        namer.lvalue(address)
    }

    /// A value as the source would write it.
    pub fn name_of_value(&mut self, value: Term) -> String {
        let mut namer = Namer {
            names: &self.names,
            terms: &mut self.formula.terms,
            regions: &mut self.regions,
            origins: &self.origins,
        };
        namer.value(value)
    }

    /// The state before a body that nothing is known to have called: its parameters are unknown.
    pub fn enter(&mut self, frame: &Frame<'_>) -> State {
        let mut state = State::new();
        for (index, local) in frame
            .body
            .locals
            .iter()
            .take(frame.body.params as usize)
            .enumerate()
        {
            if local.ty.is_none() || !(1..=16).contains(&local.size) {
                continue;
            }
            let loc = self.local(frame.id, LocalId(index as u32));
            let origin = Origin::Param(index as u32);
            let value =
                self.origins
                    .fresh(&mut self.formula.terms, (local.size * 8) as u16, origin);
            self.names.variable(&self.formula.terms, value, &local.name);
            if local.ty == Some(Ty::Ptr) {
                self.mark_pointer(value, 0);
            }
            state.memory.write(&self.formula.terms, loc, value);
        }
        state
    }

    /// The scalar that a frame's body returned.
    pub fn result(&mut self, frame: &Frame<'_>, state: &State) -> Option<Term> {
        let RetTy::Scalar(ty) = frame.body.ret else {
            return None;
        };
        let slot = self.result_slot(frame.id);
        let value = state
            .memory
            .read(&mut self.heap(), slot, u64::from(ty.bits()).div_ceil(8));
        Some(self.resize(value, ty.bits()))
    }
}

/// The first members that an address expression names without moving on, outermost first.
fn first_members(body: &Body, mut base: ExprId) -> impl Iterator<Item = &str> {
    let mut names: SmallVec<[&str; 2]> = SmallVec::new();
    while let ExprKind::Member {
        base: outer,
        offset: 0,
        name,
    } = body.expr(base).kind
    {
        names.push(&body.names[name as usize]);
        base = outer;
    }
    names.into_iter().rev()
}

impl Frame<'_> {
    pub fn site(&self, pos: Pos) -> Site {
        let file = self.files.get(usize::from(pos.file)).unwrap_or(&self.name);
        Site {
            file: file.clone(),
            line: pos.line,
            column: u32::from(pos.column),
            function: self.name.clone(),
        }
    }
}
