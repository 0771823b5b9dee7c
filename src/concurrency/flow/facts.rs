//! What is known of a program's steps before it runs.
//!
//! In: a linked program. Out: [`Flow`]: where pointers lead, what steps do, from where functions are entered, what decides whether a
//! step is reached, and what threads share.

use std::collections::BTreeSet;

use super::control::Control;
use super::effects::{self, Effects, Writers};
use super::points_to::{Object, Objects, Passing, PointsTo};
use super::{At, PerStep, call_at, steps};
use crate::concurrency::program::Program;

/// What is known of a program's steps without running them.
pub struct Flow<'r, 'p> {
    pub program: &'r Program<'p>,
    pub points_to: PointsTo<'r, 'p>,
    pub effects: PerStep<Effects>,
    pub writers: Writers,
    pub(super) control: Vec<Control>,
    /// The block of each step.
    pub(super) blocks: PerStep<usize>,
    /// The functions that a step enters.
    pub(super) entered: PerStep<Vec<(usize, Passing)>>,
    /// The steps from which each function is entered.
    pub(super) sites: Vec<Vec<At>>,
    /// For each function the steps from which the thread may not go on, or from which a function is called.
    pub(super) obstacles: Vec<Vec<At>>,
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
            obstacles: Vec::new(),
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
        for code in 0..program.code.len() {
            let all = flow.entered.of(code).map(|(at, _)| at);
            let obstacles = all.filter(|at| flow.hinders(*at) || flow.called(*at).next().is_some());
            flow.obstacles.push(obstacles.collect());
        }
        flow
    }

    /// Whether a function runs once at most in an execution.
    pub(super) fn runs_once(&self, code: usize) -> bool {
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
    pub(super) fn reaches(&self, write: At, read: At) -> bool {
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
    pub(super) fn end_of(&self, code: usize, block: usize) -> At {
        let starts = &self.program.code[code].code;
        let next = starts.starts.get(block + 1).map(|start| *start as usize);
        let step = next.unwrap_or(starts.steps.len()).saturating_sub(1);
        At { code, step }
    }

    /// Whether a thread may get from one step of a function to another one.
    pub(super) fn leads(&self, from: At, to: At) -> bool {
        let block = |at| self.blocks.get(at).copied().unwrap_or(0);
        let (source, target) = (block(from), block(to));
        source == target && from.step < to.step || self.control[from.code].leads(source, target)
    }

    /// Whether the thread may not go on from a step.
    pub(super) fn hinders(&self, at: At) -> bool {
        let block = self.blocks.get(at).copied().unwrap_or(0);
        let leaves = self.control[at.code].leaves_loop[block] && self.end_of(at.code, block) == at;
        leaves
            || self
                .effects
                .get(at)
                .is_some_and(|step| step.waits || step.ends)
    }

    /// The functions that a step enters within its thread.
    pub(super) fn called(&self, at: At) -> impl Iterator<Item = usize> {
        let entered = self.entered.get(at).into_iter().flatten();
        let own = entered.filter(move |_| !self.points_to.starts_thread(at));
        own.map(|(function, _)| *function)
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
