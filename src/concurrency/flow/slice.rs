//! Backward slices: the steps that bear on whether a target is reached (*Slicing and Dicing*, §2.1).
//!
//! In: a program with its [`Flow`], and targets. Out: the steps from which a target's reachability may depend. A step of the slice takes
//! into it the steps that write what it reads, the branches that decide whether it is reached, the calls that lead
//! to it, and what may keep a thread from getting there: loops that may not end, ends of the execution, and waiting, which takes into the slice
//! all that synchronises by the same objects.

use std::collections::BTreeSet;

use super::control::Control;
use super::effects::{self, Effects, Writers};
use super::points_to::{Object, Objects, Passing, PointsTo};
use super::{At, PerStep, call_at, steps};
use crate::concurrency::code::{self, Slot, Step};
use crate::concurrency::program::Program;
use crate::ir::{Arg, Callee, ExprId, StmtKind, TermKind};

/// What a slice follows from one step to another through memory.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    /// For each of some threads the functions that it may run: what it writes itself is followed.
    pub threads: Vec<BTreeSet<usize>>,
    /// These objects are followed from thread to thread; `None` for all.
    pub objects: Option<Objects>,
}

impl Scope {
    fn follows(&self, object: Object, write: At, read: At) -> bool {
        let all = self.objects.as_ref();
        all.is_none_or(|objects| objects.contains(&object))
            || self
                .threads
                .iter()
                .any(|run| run.contains(&write.code) && run.contains(&read.code))
    }
}

/// What is known of a program's steps without running them.
pub struct Flow<'r, 'p> {
    pub program: &'r Program<'p>,
    pub points_to: PointsTo<'r, 'p>,
    pub effects: PerStep<Effects>,
    pub writers: Writers,
    control: Vec<Control>,
    /// The block of each step.
    blocks: PerStep<usize>,
    /// The functions that a step enters.
    entered: PerStep<Vec<(usize, Passing)>>,
    /// The steps from which each function is entered.
    sites: Vec<Vec<At>>,
    /// Functions that threads begin with.
    pub entries: BTreeSet<usize>,
}

impl<'r, 'p> Flow<'r, 'p> {
    pub fn new(program: &'r Program<'p>) -> Flow<'r, 'p> {
        let points_to = PointsTo::new(program);
        let effects = effects::effects(program, &points_to);
        let writers = effects::writers(program, &effects);
        let mut flow = Flow {
            program,
            writers,
            effects,
            control: Vec::new(),
            blocks: PerStep::new(program, 0),
            entered: PerStep::new(program, Vec::new()),
            sites: vec![Vec::new(); program.code.len()],
            entries: BTreeSet::new(),
            points_to,
        };
        for linked in &program.code {
            flow.control.push(Control::new(linked.code.body));
        }
        for (at, _) in steps(program) {
            let starts = &program.code[at.code].code.starts;
            let block = starts.partition_point(|start| *start as usize <= at.step);
            if let Some(place) = flow.blocks.get_mut(at) {
                *place = block.saturating_sub(1);
            }
            let entered = flow.points_to.entered(at);
            for (function, _) in &entered {
                flow.sites[*function].push(at);
                if flow.points_to.starts_thread(at) {
                    flow.entries.insert(*function);
                }
            }
            if let Some(place) = flow.entered.get_mut(at) {
                *place = entered;
            }
        }
        flow
    }

    /// Whether a function runs once at most in an execution.
    fn runs_once(&self, code: usize) -> bool {
        let mut at = code;
        for _ in 0..self.sites.len() {
            match self.sites[at][..] {
                [] => return true,
                [site] if !self.leads(site, site) => at = site.code,
                _ => return false,
            }
        }
        false
    }

    /// Whether what a step writes may be there where another one reads it.
    fn reaches(&self, write: At, read: At) -> bool {
        write.code != read.code || self.leads(write, read) || !self.runs_once(write.code)
    }

    /// The functions that a thread may run which begins with one.
    pub fn run_by(&self, entry: usize) -> BTreeSet<usize> {
        self.entered_from(entry, false)
    }

    /// The functions that a thread may run, or the threads that it starts, and so on.
    pub fn started_by(&self, entry: usize) -> BTreeSet<usize> {
        self.entered_from(entry, true)
    }

    fn entered_from(&self, entry: usize, with_threads: bool) -> BTreeSet<usize> {
        let mut found = BTreeSet::from([entry]);
        let mut open = vec![entry];
        while let Some(code) = open.pop() {
            for (at, entered) in self.entered.of(code) {
                if !with_threads && self.points_to.starts_thread(at) {
                    continue;
                }
                for (function, _) in entered {
                    if found.insert(*function) {
                        open.push(*function);
                    }
                }
            }
        }
        found
    }

    /// The branches that decide whether a step is reached within its function.
    pub fn deciding(&self, at: At) -> impl Iterator<Item = At> {
        let block = self.blocks.get(at).copied().unwrap_or(0);
        let decided = self.control[at.code].decided_by.get(block);
        decided
            .into_iter()
            .flatten()
            .map(move |block| self.end_of(at.code, *block))
    }

    /// The last step of a block.
    fn end_of(&self, code: usize, block: usize) -> At {
        let starts = &self.program.code[code].code;
        let next = starts.starts.get(block + 1).map(|start| *start as usize);
        let step = next.unwrap_or(starts.steps.len()).saturating_sub(1);
        At { code, step }
    }

    /// Whether a thread may get from one step of a function to another one.
    fn leads(&self, from: At, to: At) -> bool {
        let block = |at| self.blocks.get(at).copied().unwrap_or(0);
        let (source, target) = (block(from), block(to));
        source == target && from.step < to.step || self.control[from.code].leads(source, target)
    }

    /// Whether the thread may not go on from a step.
    fn hinders(&self, at: At) -> bool {
        let block = self.blocks.get(at).copied().unwrap_or(0);
        let leaves = self.control[at.code].leaves_loop[block] && self.end_of(at.code, block) == at;
        leaves
            || self
                .effects
                .get(at)
                .is_some_and(|step| step.waits || step.ends)
    }

    /// The objects that the values of a step's operands are read from, within its thread: through registers, parameters
    /// and results.
    pub fn sources(&self, at: At) -> BTreeSet<Object> {
        let mut slice = Slicer::new(self);
        slice.through_memory = false;
        slice.operands(at);
        slice.run();
        let read = slice.taken.iter().filter_map(|at| self.effects.get(*at));
        read.flat_map(|step| step.reads.iter().copied()).collect()
    }

    /// The backward slice of these steps.
    pub fn slice(&self, targets: &[At], scope: &Scope) -> PerStep<bool> {
        let mut slicer = Slicer::new(self);
        slicer.scope = scope.clone();
        for target in targets {
            slicer.take(*target);
            slicer.operands(*target);
        }
        slicer.run();
        slicer.slice
    }

    /// Objects that more than one thread may reach: those of static storage, what threads are given, and what these lead to.
    pub fn shared(&self) -> Objects {
        let globals = self.program.globals.iter().enumerate();
        let mut shared: Objects = globals
            .filter(|(_, global)| !global.thread_local)
            .map(|(number, _)| Object::Global(number))
            .collect();
        for (at, _) in steps(self.program) {
            if !self.points_to.starts_thread(at) {
                continue;
            }
            let Some(call) = call_at(self.program, at) else {
                continue;
            };
            let entered = self.entered.get(at).into_iter().flatten();
            for (arg, _) in entered.flat_map(|(_, passing)| passing) {
                shared.extend(self.points_to.argument(at.code, call, *arg));
            }
        }
        shared.insert(Object::Results);
        loop {
            let before = shared.len();
            shared.extend(self.points_to.contents(&shared));
            if shared.len() == before {
                return shared;
            }
        }
    }

    /// The steps that fail, or may fail.
    pub fn failing(&self) -> Vec<At> {
        let all = steps(self.program).map(|(at, _)| at);
        all.filter(|at| self.effects.get(*at).is_some_and(|step| step.fails))
            .collect()
    }
}

struct Slicer<'f, 'r, 'p> {
    flow: &'f Flow<'r, 'p>,
    slice: PerStep<bool>,
    taken: Vec<At>,
    open: Vec<At>,
    registers: BTreeSet<(usize, usize)>,
    /// Objects that steps read; with the step where it matters which one does.
    objects: BTreeSet<(Object, Option<At>)>,
    synchronised: BTreeSet<Object>,
    /// Functions whose results matter.
    results: BTreeSet<usize>,
    /// Functions whose end matters.
    ended: BTreeSet<usize>,
    scope: Scope,
    /// Values are followed through memory, and what decides whether steps are reached is taken in.
    through_memory: bool,
}

impl<'f, 'r, 'p> Slicer<'f, 'r, 'p> {
    fn new(flow: &'f Flow<'r, 'p>) -> Slicer<'f, 'r, 'p> {
        Slicer {
            flow,
            slice: PerStep::new(flow.program, false),
            taken: Vec::new(),
            open: Vec::new(),
            registers: BTreeSet::new(),
            objects: BTreeSet::new(),
            synchronised: BTreeSet::new(),
            results: BTreeSet::new(),
            ended: BTreeSet::new(),
            scope: Scope::default(),
            through_memory: true,
        }
    }

    fn take(&mut self, at: At) {
        if self.slice.set(at) {
            self.taken.push(at);
            self.open.push(at);
        }
    }

    fn run(&mut self) {
        while let Some(at) = self.open.pop() {
            self.data(at);
            if self.through_memory {
                self.reached(at);
            }
        }
    }

    /// What the value or effect of a step depends on.
    fn data(&mut self, at: At) {
        let flow = self.flow;
        let Some(effects) = flow.effects.get(at) else {
            return;
        };
        let linked = &flow.program.code[at.code].code;
        let call = call_at(flow.program, at);
        match call {
            // Of a call of a function the arguments matter that the function's parameters bring to something.
            Some(call) if !effects.primitive => {
                if let Callee::Indirect { function, .. } = call.callee {
                    self.expression(at, function);
                }
            }
            _ => self.operands(at),
        }
        if let Some(dst) = call.and_then(|call| call.dst) {
            let register = linked.register(dst).unwrap_or(linked.result);
            if self.registers.contains(&(at.code, register)) {
                let entered = flow.entered.get(at).into_iter().flatten();
                for (function, _) in entered {
                    self.result(*function);
                }
            }
        }
        if self.through_memory {
            for object in &effects.reads {
                self.object(*object, at);
            }
        }
    }

    /// What decides whether a step is reached.
    fn reached(&mut self, at: At) {
        let flow = self.flow;
        for branch in flow.deciding(at) {
            self.take(branch);
        }
        for site in &flow.sites[at.code] {
            self.take(*site);
        }
        let steps = 0..flow.program.code[at.code].code.steps.len();
        for step in steps {
            let before = At { step, ..at };
            let entered = flow.entered.get(before).is_some_and(|all| !all.is_empty());
            if !entered && !flow.hinders(before) || !flow.leads(before, at) {
                continue;
            }
            if flow.hinders(before) {
                self.take(before);
            }
            if entered && !flow.points_to.starts_thread(before) {
                for (function, _) in flow.entered.get(before).into_iter().flatten() {
                    self.end(*function);
                }
            }
        }
        if flow.effects.get(at).is_some_and(|step| step.waits) {
            self.waiting(at);
        }
    }

    /// A thread may have to wait at this step for what others do.
    fn waiting(&mut self, at: At) {
        let flow = self.flow;
        let Some(effects) = flow.effects.get(at) else {
            return;
        };
        if effects.reads.contains(&Object::Results) {
            for entry in flow.entries.clone() {
                self.end(entry);
            }
            return;
        }
        if flow.points_to.starts_thread(at) {
            return;
        }
        let new = effects.synchronises.iter().copied();
        let new: Vec<Object> = new
            .filter(|object| self.synchronised.insert(*object))
            .collect();
        if new.is_empty() {
            return;
        }
        for (other, _) in steps(flow.program) {
            let shares = flow.effects.get(other).is_some_and(|step| {
                step.waits && new.iter().any(|object| step.synchronises.contains(object))
            });
            if shares {
                self.take(other);
            }
        }
    }

    /// Whether a call of a function comes back matters.
    fn end(&mut self, code: usize) {
        if !self.ended.insert(code) {
            return;
        }
        let flow = self.flow;
        for (at, entered) in flow.entered.of(code) {
            if flow.hinders(at) {
                self.take(at);
            }
            if !flow.points_to.starts_thread(at) {
                for (function, _) in entered {
                    self.end(*function);
                }
            }
        }
    }

    fn result(&mut self, code: usize) {
        if !self.results.insert(code) {
            return;
        }
        let linked = &self.flow.program.code[code].code;
        for (step, (kind, _)) in linked.steps.iter().enumerate() {
            if matches!(kind, Step::End(TermKind::Return(Some(_)))) {
                self.take(At { code, step });
            }
        }
    }

    /// What writes an object that a step reads.
    fn object(&mut self, object: Object, reader: At) {
        let flow = self.flow;
        let alike = self.scope.objects.is_none() && !flow.runs_once(reader.code);
        let once = (!alike).then_some(reader);
        if !self.objects.insert((object, once)) {
            return;
        }
        for writer in flow.writers.objects.get(&object).into_iter().flatten() {
            if flow.reaches(*writer, reader) && self.scope.follows(object, *writer, reader) {
                self.take(*writer);
            }
        }
        match object {
            Object::Results => {
                for entry in flow.entries.clone() {
                    self.result(entry);
                }
            }
            Object::Local(code, index) => self.parameter(code, Slot::Memory(index)),
            _ => {}
        }
    }

    fn operands(&mut self, at: At) {
        let flow = self.flow;
        let linked = &flow.program.code[at.code].code;
        let Some((step, _)) = linked.steps.get(at.step) else {
            return;
        };
        for expr in code::operands_of(step) {
            self.expression(at, expr);
        }
        match step {
            Step::Fetch(id) => {
                if let crate::ir::ExprKind::Load { addr, .. } = linked.body.expr(*id).kind {
                    self.expression(at, addr);
                }
            }
            Step::Result(_) => self.register(at.code, linked.result),
            Step::Statement(StmtKind::Call(call)) => {
                for arg in &call.args {
                    self.argument(at, arg);
                }
            }
            _ => {}
        }
    }

    fn argument(&mut self, at: At, arg: &Arg) {
        self.expression(at, arg.expr());
        if let (Arg::Record { addr, .. }, true) = (arg, self.through_memory) {
            for object in self.flow.points_to.pointers(at.code, *addr) {
                self.object(object, at);
            }
        }
    }

    /// What the value of an expression of a step depends on: registers, and the reads of memory in front of the step.
    fn expression(&mut self, at: At, expr: ExprId) {
        let flow = self.flow;
        let linked = &flow.program.code[at.code].code;
        let mut registers = Vec::new();
        code::registers(linked, expr, &mut registers);
        for register in registers {
            self.register(at.code, register);
        }
        let mut loads = Vec::new();
        effects::loads(flow.program, at.code, expr, &mut loads);
        for step in (0..at.step).rev() {
            let Step::Fetch(id) = linked.steps[step].0 else {
                break;
            };
            if loads.contains(&id) {
                self.take(At { step, ..at });
            }
        }
    }

    fn register(&mut self, code: usize, register: usize) {
        if !self.registers.insert((code, register)) {
            return;
        }
        let flow = self.flow;
        let writers = flow.writers.registers.get(&(code, register));
        for writer in writers.into_iter().flatten() {
            self.take(*writer);
            // It may have been taken before its result mattered.
            self.data(*writer);
        }
        self.parameter(code, Slot::Register(register));
    }

    /// What is passed as a parameter, if a local is one.
    fn parameter(&mut self, code: usize, slot: Slot) {
        let flow = self.flow;
        let linked = &flow.program.code[code].code;
        let params = &linked.slots[..linked.body.params as usize];
        let Some(number) = params.iter().position(|param| *param == slot) else {
            return;
        };
        for site in &flow.sites[code] {
            let Some(call) = call_at(flow.program, *site) else {
                continue;
            };
            let entered = flow.entered.get(*site).into_iter().flatten();
            for (_, passing) in entered.filter(|(function, _)| *function == code) {
                let passed = passing.iter().filter(|(_, param)| *param == number);
                for arg in passed.filter_map(|(arg, _)| call.args.get(*arg)) {
                    self.argument(*site, arg);
                }
            }
            if self.through_memory {
                self.take(*site);
            }
        }
    }
}
