//! Backward slices: the steps that bear on whether a target is reached (*Slicing and Dicing*, §2.1).
//!
//! In: a program with its [`Flow`], and targets. Out: the steps from which a target's reachability may depend. A step of the slice takes
//! into it the steps that write what it reads, the branches that decide whether it is reached, the calls that lead
//! to it, and what may keep a thread from getting there: loops that may not end, ends of the execution, and waiting, which takes into the slice
//! all that synchronises by the same objects.

use std::collections::BTreeSet;

use super::effects;
use super::facts::Flow;
use super::points_to::{Object, Objects};
use super::{At, PerStep, call_at, steps};
use crate::concurrency::code::{self, Slot, Step};
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

impl<'r, 'p> Flow<'r, 'p> {
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
        for before in &flow.obstacles[at.code] {
            if flow.leads(*before, at) {
                self.pass(*before);
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
        for at in &flow.obstacles[code] {
            self.pass(*at);
        }
    }

    /// Whether the thread goes on from a step matters.
    fn pass(&mut self, at: At) {
        let flow = self.flow;
        if flow.hinders(at) {
            self.take(at);
        }
        for function in flow.called(at) {
            self.end(function);
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
