//! Symbolic execution of a body (paper §2, Figures 2–6).
//!
//! In: a body and the state before it. Out: the state at its single exit, and a [`Log`] of branches,
//! operations on tracked objects and returns, from which findings and traces are made. Calls are in
//! [`super::call`].

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Instant;

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use super::access::Locations;
use super::callee::Callees;
use super::class::Class;
use super::formula::Formula;
use super::guard::{Guard, Guards};
use super::limits::Limits;
use super::log::{BranchEvent, Log, ReturnEvent, Site};
use super::memory::{Heap, Initial, Origin, Origins};
use super::naming::{Namer, Names};
use super::region::{FrameId, Loc, RegionId, RegionKind, Regions, SymbolicOffset};
use super::state::{MachineId, Object, State, Status, Tracked};
use super::term::{Term, Var};
use super::unchanged::Rewritten;
use super::unroll::{Instance, OrderKey, Unrolling};
use crate::ir::{
    Arg, BlockId, Body, LocalId, POINTER_BITS, Pos, RetTy, Says, StmtKind, SymbolName, TermKind, Ty,
};
use crate::property::{Machine, Property, StateId};

/// Iterations of a loop whose exit tests all fold to constants.
const MAX_CONCRETE: u32 = 256;
/// The same in a function that depends on unknown values: there every iteration costs, and what it
/// can show the first ones have shown.
const MAX_CONCRETE_BESIDE_UNKNOWNS: u32 = 4;
/// Blocks after which folding loops are cut like others.
const CONCRETE_BLOCKS: u64 = 3_000;

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
    pub limits: &'a Limits,
    pub machines: Vec<&'a Machine>,
    /// Objects' states on entry.
    pub entries: BTreeMap<Object, Tracked>,
    /// Call sites that lead to the frame being executed, outermost first.
    pub stack: Vec<Site>,
    /// The paths on which each call result was made.
    pub made_on: FxHashMap<Term, Guard>,
    /// The values of opaque expressions, by function and arguments.
    pub(super) opaque: FxHashMap<(String, Vec<Term>), Term>,
    /// The paths that rest on something in a callee of which it is not known whether it is possible.
    pub unknown_effect: Guard,
    /// The paths on which it is not known how a callee, or one of its callees, has left an object.
    pub open: PathsOf,
    /// The paths on which one of several functions, it is not known which, has operated on an object: that is
    /// for the callers to doubt.
    pub chosen: PathsOf,
    /// Classes of objects that callees have moved without a name for them: the calls down to where, and the paths.
    pub unnamed: BTreeMap<(Class, MachineId), (u8, Guard)>,
    /// The paths on which the outermost function that is being inlined was called, and the first unknown made since.
    pub inlining: Option<(Guard, Var)>,
    /// Objects that are bits of words, see [`Machine::bits`].
    pub(super) bits: Vec<Object>,
    /// What callees may have changed.
    pub(super) rewrites: Vec<Rewritten>,
    /// The paths that went through each pointer.
    pub(super) passed: FxHashMap<Term, Guard>,
    /// The functions called that move some object.
    pub called: BTreeSet<SymbolName>,
    /// Those passed to functions of which nothing is known.
    pub handed_out: BTreeSet<SymbolName>,
    /// Executions cut off at a loop's unrolling limit.
    pub cut: bool,
    /// The budget that ran out.
    pub exhausted: Option<String>,
    /// Parameters that are records: what they lead to has no name for a caller.
    pub given_records: Vec<RegionId>,
    /// It was the time limit.
    pub out_of_time: bool,
    deadline: Option<Instant>,
    pub blocks: u64,
    machine_ids: FxHashMap<&'a str, MachineId>,
    pub(super) locations: FxHashMap<Term, Locations>,
    /// Where an address is null or an error number, as a part of what is chosen there says.
    pub(super) nowhere: FxHashMap<Term, Guard>,
    frames: u32,
    /// Bytes of a pointer in memory, for the function and all that it inlines.
    pub pointer_size: u64,
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
    /// [`Body::flags`].
    flags: OnceCell<Vec<LocalId>>,
    /// [`Body::varying_tests`].
    varying: OnceCell<Vec<bool>>,
}

impl Frame<'_> {
    /// Whether a variable is one of [`Body::flags`].
    pub(super) fn is_flag(&self, local: LocalId) -> bool {
        let flags = self.flags.get_or_init(|| self.body.flags());
        flags.contains(&local)
    }
}

/// Paths, by the object that they are about.
#[derive(Default)]
pub struct PathsOf(FxHashMap<Object, Guard>);

impl PathsOf {
    pub fn of(&self, object: Object) -> Guard {
        self.0.get(&object).copied().unwrap_or_default()
    }

    pub fn add(&mut self, guards: &mut Guards, object: Object, paths: Guard) {
        let known = self.0.entry(object).or_default();
        *known = guards.or(*known, paths);
    }
}

/// A value passed to a function.
#[derive(Clone, Debug)]
pub enum ArgValue {
    Scalar(Term),
    Record { source: Option<Loc>, size: u64 },
}

impl<'a> Executor<'a> {
    pub fn new(property: &'a Property, callees: &'a dyn Callees, limits: &'a Limits) -> Self {
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
        let mut formula = Formula::new();
        if limits.cheap {
            formula.guards.be_cheap();
        }
        Executor {
            formula,
            regions: Regions::new(),
            origins: Origins::default(),
            initial: Initial::default(),
            names: Names::default(),
            log: Log::default(),
            callees,
            limits,
            machines,
            entries: BTreeMap::new(),
            stack: Vec::new(),
            made_on: FxHashMap::default(),
            opaque: FxHashMap::default(),
            unknown_effect: Guard::FALSE,
            open: PathsOf::default(),
            unnamed: BTreeMap::new(),
            inlining: None,
            chosen: PathsOf::default(),
            bits: Vec::new(),
            rewrites: Vec::new(),
            passed: FxHashMap::default(),
            called: BTreeSet::new(),
            handed_out: BTreeSet::new(),
            cut: false,
            exhausted: None,
            given_records: Vec::new(),
            out_of_time: false,
            deadline: limits
                .time_limit
                .and_then(|limit| Instant::now().checked_add(limit)),
            blocks: 0,
            machine_ids,
            locations: FxHashMap::default(),
            nowhere: FxHashMap::default(),
            frames: 0,
            pointer_size: u64::from(POINTER_BITS / 8),
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
            flags: OnceCell::new(),
            varying: OnceCell::new(),
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
        if machine.bits {
            self.bits.push(object);
        }
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
                let here = if last {
                    Guard::TRUE
                } else {
                    // Others are told by no value, and need no name.
                    let origin = match machine.saved {
                        Some(_) => Origin::State {
                            object,
                            state: StateId(state),
                        },
                        None => Origin::Unknown,
                    };
                    let term = self.origins.fresh(&mut self.formula.terms, 1, origin);
                    self.formula.guard_of(term)
                };
                let guard = self.formula.guards.and(rest, here);
                rest = self.formula.guards.and_not(rest, here);
                tracked.set.push((Status::At(StateId(state)), guard));
            }
        }
        self.entries.insert(object, tracked.clone());
        tracked
    }

    /// The object's state in a state of the execution.
    pub fn now(&mut self, state: &State, object: Object) -> Tracked {
        match state.objects.get(&object) {
            Some(tracked) => tracked.clone(),
            None => self.entry_state(object),
        }
    }

    /// The machine that an object is one of.
    pub fn machine_of(&self, object: Object) -> &'a Machine {
        self.machine_at(object.machine)
    }

    pub fn machine_at(&self, id: MachineId) -> &'a Machine {
        self.machines[usize::from(id.0)]
    }

    /// Whether programs keep the machine's state in a value.
    pub fn is_saved(&self, machine: MachineId) -> bool {
        self.machines[usize::from(machine.0)].saved.is_some()
    }

    /// The paths on which one of so many operations was a callee's that left the object held, and may not have been meant to.
    pub fn contested(&mut self, object: Object, until: usize) -> Guard {
        let Executor { log, formula, .. } = self;
        let events = log.ops.iter().take(until);
        let events = events.filter(|event| event.object == object && event.contested);
        events.fold(Guard::FALSE, |paths, event| {
            formula.guards.or(paths, event.guard)
        })
    }

    /// A guard's paths on which what becomes of an object rests on nothing doubtful.
    pub fn with_known_effect(&mut self, object: Object, guard: Guard) -> Guard {
        let open = self.open.of(object);
        let known = self.formula.guards.and_not(guard, open);
        self.formula.guards.and_not(known, self.unknown_effect)
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
            self.formula.reserve_names();
            if self.blocks > self.limits.max_blocks {
                self.exhausted = Some(format!("more than {} blocks", self.limits.max_blocks));
            } else if self.formula.terms.len() as u64 > self.limits.max_terms {
                self.exhausted = Some(format!("more than {} terms", self.limits.max_terms));
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
        if iteration < self.limits.unroll {
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
        // One that folds to the same in every round is no end of a loop.
        let varying = frame.varying.get_or_init(|| frame.body.varying_tests());
        if !varying[test.index()] {
            return false;
        }
        let mut first = header.iterations.clone();
        if let Some(last) = first.last_mut() {
            *last = 0;
        }
        let concrete = frame.headers.get(&(header.block, first)) == Some(&guard);
        let ends = if concrete && self.blocks <= CONCRETE_BLOCKS {
            iteration + 1 >= self.concrete_limit()
        } else if test == header.block {
            iteration >= self.limits.unroll
        } else if taken == header.block {
            iteration + 1 >= self.limits.unroll
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
                    let shape = self.shape(body.expr(*value).ty);
                    self.store(state, address, term, shape);
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
                    let places = self.locations(to);
                    self.went_through(state, &places);
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
            &TermKind::Branch {
                cond,
                then,
                els,
                says,
            } => {
                let guard = self.condition(frame, state, cond);
                let ways = (then, els, says);
                self.branch(frame, instance, state, guard, ways, term.pos)
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
                        if self.stack.is_empty() {
                            self.assume_valid(state, result);
                        }
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

    fn branch(
        &mut self,
        frame: &mut Frame<'_>,
        instance: &Instance,
        state: &State,
        guard: Guard,
        (then, els, says): (BlockId, BlockId, Says),
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
            says,
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

    fn namer(&mut self) -> Namer<'_> {
        Namer {
            names: &self.names,
            terms: &mut self.formula.terms,
            regions: &mut self.regions,
            origins: &self.origins,
            open: Vec::new(),
        }
    }

    /// A location as the source would write it.
    pub fn name_of(&mut self, loc: Loc) -> String {
        let address = self.regions.address(&mut self.formula.terms, loc);
        self.namer().lvalue(address)
    }

    /// The class of the object at a location.
    pub fn class_of(&mut self, loc: Loc) -> Option<Class> {
        let address = self.regions.address(&mut self.formula.terms, loc);
        let callees = self.callees;
        self.namer()
            .class(address, &|record| callees.is_object_type(record))
    }

    /// The class of the member that the object at a location is of some record, be the record a global.
    pub fn member_class(&mut self, loc: Loc) -> Option<Class> {
        let address = self.regions.address(&mut self.formula.terms, loc);
        let callees = self.callees;
        self.namer()
            .member_class(address, &|record| callees.is_object_type(record))
    }

    /// An object's class, or that of all objects of its machine that have none.
    pub fn class_or_any(&mut self, object: Object) -> Class {
        let class = self.class_of(object.loc);
        class.unwrap_or_else(|| Class::any_of(&self.machine_of(object).name))
    }

    /// Whether on some of these paths a callee has moved an object that it has no name for, and that may be this one.
    pub fn perhaps_moved_unnamed(&mut self, object: Object, paths: Guard) -> bool {
        let key = (self.class_or_any(object), object.machine);
        let moved = self.unnamed.get(&key);
        moved.is_some_and(|&(_, moved)| !self.formula.guards.excludes(paths, moved))
    }

    /// Whether on some paths, but not on others, a callee has moved some object of a machine that it has no name for.
    pub fn moves_another_unnamed(&mut self, machine: MachineId, paths: Guard, but: Guard) -> bool {
        let guards = &mut self.formula.guards;
        let mut of_machine = self
            .unnamed
            .iter()
            .filter(|((_, other), _)| *other == machine);
        of_machine
            .any(|(_, &(_, moved))| !guards.excludes(paths, moved) && guards.excludes(but, moved))
    }

    /// Notes that a callee has moved objects that it has no name for.
    pub fn moved_unnamed(
        &mut self,
        (class, machine): (&Class, MachineId),
        calls: u8,
        paths: Guard,
    ) {
        let known = self.unnamed.entry((class.clone(), machine));
        let (least, known) = known.or_insert((calls, Guard::FALSE));
        *least = calls.min(*least);
        *known = self.formula.guards.or(*known, paths);
    }

    /// The class of the object at a location, be it one of several that an address may lead to.
    pub fn class_or_choice(&mut self, loc: Loc) -> Option<Class> {
        self.class_of(loc).or_else(|| {
            let address = self.regions.address(&mut self.formula.terms, loc);
            self.names.chosen(address).cloned()
        })
    }

    /// Gives what an address may lead to the class of the member that the source names there.
    pub fn classify_choice(&mut self, address: Term, places: &[(Guard, Loc)]) {
        let callees = self.callees;
        let is_object = |record: &str| callees.is_object_type(record);
        if let Some(class) = self.names.class_of_choice(address, &is_object) {
            for &(_, loc) in places {
                let address = self.regions.address(&mut self.formula.terms, loc);
                self.names.choice(address, &class);
            }
        }
    }

    /// A value as the source would write it.
    pub fn name_of_value(&mut self, value: Term) -> String {
        self.namer().value(value)
    }

    /// The state before a body that nothing is known to have called: its parameters are unknown.
    pub fn enter(&mut self, frame: &Frame<'_>) -> State {
        self.pointer_size = u64::from(frame.body.pointer_size);
        let mut state = State::new();
        for (index, local) in frame
            .body
            .locals
            .iter()
            .take(frame.body.params as usize)
            .enumerate()
        {
            let loc = self.local(frame.id, LocalId(index as u32));
            if local.ty.is_none() || !(1..=16).contains(&local.size) {
                self.given_records.push(loc.region);
                continue;
            }
            let origin = Origin::Param(index as u32);
            let shape = self.local_shape(local);
            let value = self
                .origins
                .fresh(&mut self.formula.terms, shape.bits, origin);
            self.names.variable(&self.formula.terms, value, &local.name);
            if local.ty == Some(Ty::Ptr) {
                self.mark_pointer(value, 0);
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
        let slot = self.result_slot(frame.id);
        let value = state
            .memory
            .read(&mut self.heap(), slot, u64::from(ty.bits()).div_ceil(8));
        Some(self.resize(value, ty.bits()))
    }
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
