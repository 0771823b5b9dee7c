//! Where execution goes from the end of a block, and when a loop is left.
//!
//! In: a block's terminator and the state there. Out: the next blocks with the guards of their edges, and the events of branches
//! and returns.

use super::callee::CalleeView;
use super::exec::Executor;
use super::formula::Formula;
use super::frame::Frame;
use super::guard::Guard;
use super::log::{BranchEvent, CaseEvent, ReturnEvent};
use super::state::State;
use super::term::Term;
use super::unroll::{Instance, Step};
use crate::ir::{Arg, BlockId, Body, Call, Callee, ExprId, Pos, RetTy, Says, TermKind, Ty};

/// Iterations of a loop whose exit tests all fold to constants.
const MAX_CONCRETE: u32 = 256;
/// The same in a function that depends on unknown values: there every iteration costs, and what it
/// can show the first ones have mostly shown. Where accesses are checked, a small loop runs more often, up to so many blocks in
/// all: what it does to memory counts round by round.
const MAX_CONCRETE_BESIDE_UNKNOWNS: u32 = 4;
const CONCRETE_BLOCKS_BESIDE_UNKNOWNS: u32 = 64;
/// Of larger loops it is not known behind them what the last round did: what comes of it is not worth the time.
const SMALL_LOOP: u32 = 8;
/// Blocks after which folding loops are cut like others.
const CONCRETE_BLOCKS: u64 = 3_000;

impl Executor<'_> {
    /// How often a loop runs whose tests all fold. A program that has made no decision on an unknown
    /// value is being executed exactly, and goes on.
    fn concrete_limit(&self, frame: &Frame<'_>, header: BlockId) -> u32 {
        if self.execution.log.branches.is_empty() {
            return MAX_CONCRETE;
        }
        if !self.arena.watches {
            return MAX_CONCRETE_BESIDE_UNKNOWNS;
        }
        let size = frame.unrolling.loop_size(header).unwrap_or(u32::MAX);
        MAX_CONCRETE_BESIDE_UNKNOWNS.max(CONCRETE_BLOCKS_BESIDE_UNKNOWNS / size.max(1))
    }

    /// Whether execution follows an edge. A small loop that does not go on is left by its header's test, if the header has one: what the last round
    /// did is known behind the loop. (Where accesses are not checked, only by a test that calls nothing: another call of what moves a lock
    /// would say the same of it once more.)
    pub(super) fn may_go(&self, frame: &mut Frame<'_>, from: &Instance, step: &Step) -> bool {
        let last = frame
            .leaving
            .contains(&(from.block, from.iterations.clone()));
        if last && !frame.unrolling.leaves_loop(from.block, step.to.block) {
            return false;
        }
        let header = &step.to;
        match step.iteration {
            Some(iteration) if !self.may_iterate(frame, header, iteration) => {
                let size = frame.unrolling.loop_size(header.block);
                let block = frame.body.block(header.block);
                let mut next = block.term.successors().into_iter();
                let tests = (self.arena.watches || !block.calls())
                    && size.is_some_and(|size| size <= SMALL_LOOP)
                    && next.any(|next| frame.unrolling.leaves_loop(header.block, next));
                if tests {
                    let header = (header.block, header.iterations.clone());
                    frame.leaving.insert(header);
                }
                tests
            }
            _ => true,
        }
    }

    /// Whether a loop goes on: always up to the unrolling limit; beyond it only after an iteration
    /// whose test folded. [`Self::ends_here`] sees to it that such a loop comes to an end.
    fn may_iterate(&self, frame: &Frame<'_>, header: &Instance, iteration: u32) -> bool {
        if iteration < self.limits.unroll {
            return true;
        }
        if iteration >= self.concrete_limit(frame, header.block)
            || self.execution.blocks > CONCRETE_BLOCKS
        {
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
        let body = frame.body;
        let same = |call: &Call| self.has_one_result(body, call);
        let varying = frame.varying.get_or_init(|| body.varying_tests(same));
        if !varying[test.index()] {
            return false;
        }
        let mut first = header.iterations.clone();
        if let Some(last) = first.last_mut() {
            *last = 0;
        }
        let concrete = frame.headers.get(&(header.block, first)) == Some(&guard);
        let ends = if concrete && self.execution.blocks <= CONCRETE_BLOCKS {
            iteration + 1 >= self.concrete_limit(frame, header.block)
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

    /// Whether a call has one result, however often it is made.
    fn has_one_result(&self, body: &Body, call: &Call) -> bool {
        match &call.callee {
            Callee::Direct(symbol) => match self.callees.view(&body.symbol(*symbol).name) {
                CalleeView::Known(effects) => effects.has_one_result(),
                CalleeView::NoOp(_) | CalleeView::Unknown | CalleeView::Lost => false,
            },
            Callee::Indirect { .. } => false,
        }
    }

    /// The targets of a block's end with the guards of the edges.
    pub(super) fn terminator(
        &mut self,
        frame: &mut Frame<'_>,
        instance: &Instance,
        state: &mut State,
        exit: &mut Option<State>,
    ) -> Vec<(BlockId, Guard)> {
        let body = frame.body;
        let term = &body.block(instance.block).term;
        self.come_to(frame, term.pos);
        match &term.kind {
            TermKind::Goto(next) => vec![(*next, state.guard)],
            &TermKind::Branch {
                cond,
                then,
                els,
                says,
            } => match self.test(frame, instance, state, (cond, [then, els], says)) {
                Guard::TRUE => {
                    vec![self.decided(frame, instance, state, (cond, true), [then, els])]
                }
                Guard::FALSE => {
                    vec![self.decided(frame, instance, state, (cond, false), [els, then])]
                }
                guard => {
                    let edges = (instance.block, [then, els]);
                    self.log_branch(frame, state, (guard, says), edges, term.pos);
                    self.note_loop_test(frame, instance, guard, [then, els]);
                    self.split(state, guard, then, els)
                }
            },
            TermKind::Switch {
                value,
                cases,
                default,
            } => {
                let value_term = self.eval(frame, state, *value);
                let ty = body.expr(*value).ty;
                let edges = self.switch(state, value_term, ty, cases, *default);
                self.log_cases(frame, (instance.block, state.guard), &edges, term.pos);
                edges
            }
            TermKind::Nondet(targets) => self.any_of(state, targets),
            TermKind::Return(value) => {
                self.write_result(frame, state, value.as_ref());
                self.leave(frame, state, exit, term.pos);
                Vec::new()
            }
            TermKind::Unreachable => {
                let site = frame.site(term.pos);
                self.end(state, &site);
                Vec::new()
            }
        }
    }

    /// The edge that a folded test takes, or the other one if that leaves a loop that has run often enough.
    fn decided(
        &mut self,
        frame: &mut Frame<'_>,
        instance: &Instance,
        state: &mut State,
        (cond, outcome): (ExprId, bool),
        [taken, other]: [BlockId; 2],
    ) -> (BlockId, Guard) {
        let leaves = frame.unrolling.leaves_loop(instance.block, other)
            && !frame.unrolling.leaves_loop(instance.block, taken);
        if leaves
            && let Some(header) = frame.unrolling.innermost_header(instance)
            && self.ends_here(frame, instance.block, taken, header, state.guard)
        {
            let paths = self.run_to_end(frame, [instance.block, other], state, (cond, !outcome));
            self.note_unfinished(frame, instance, paths);
            return (other, paths);
        }
        (taken, state.guard)
    }

    fn log_branch(
        &mut self,
        frame: &Frame<'_>,
        state: &State,
        (guard, says): (Guard, Says),
        (block, targets): (BlockId, [BlockId; 2]),
        pos: Pos,
    ) {
        self.execution.log.branches.push(BranchEvent {
            path: state.guard,
            guard,
            says,
            block,
            targets,
            site: frame.site(pos),
            depth: self.stack.len() as u32,
            order: self.execution.log.ops.len(),
        });
    }

    /// Logs the cases of a `switch`, if there is more than one that paths take.
    fn log_cases(
        &mut self,
        frame: &Frame<'_>,
        (block, path): (BlockId, Guard),
        edges: &[(BlockId, Guard)],
        pos: Pos,
    ) {
        if !self.arena.watches {
            return;
        }
        let taken = edges.iter().filter(|(_, guard)| *guard != Guard::FALSE);
        if taken.clone().count() < 2 {
            return;
        }
        let log = &mut self.execution.log;
        let (order, branches) = (log.ops.len(), log.branches.len());
        let depth = self.stack.len() as u32;
        log.cases.extend(taken.map(|&(target, guard)| CaseEvent {
            block,
            target,
            path,
            guard,
            goes_on: frame.body.block(target).first_line(),
            site: frame.site(pos),
            depth,
            order,
            branches,
        }));
    }

    /// The edges of a test that goes either way.
    fn split(
        &mut self,
        state: &State,
        guard: Guard,
        then: BlockId,
        els: BlockId,
    ) -> Vec<(BlockId, Guard)> {
        let yes = self.arena.formula.guards.and(state.guard, guard);
        let no = self.arena.formula.guards.and_not(state.guard, guard);
        if then == els {
            return vec![(then, state.guard)];
        }
        vec![(then, yes), (els, no)]
    }

    /// The edges of a choice that nothing is known of.
    fn any_of(&mut self, state: &State, targets: &[BlockId]) -> Vec<(BlockId, Guard)> {
        let mut rest = state.guard;
        let mut edges = Vec::new();
        for (index, target) in targets.iter().enumerate() {
            let last = index + 1 == targets.len();
            let here = if last {
                Guard::TRUE
            } else {
                self.arena.choice()
            };
            edges.push((*target, self.arena.formula.guards.and(rest, here)));
            rest = self.arena.formula.guards.and_not(rest, here);
        }
        edges
    }

    /// Stores what a body returns where its caller looks for it.
    fn write_result(&mut self, frame: &Frame<'_>, state: &mut State, value: Option<&Arg>) {
        let slot = self.arena.result_slot(frame.id);
        match value {
            Some(Arg::Scalar(value)) => {
                let result = self.eval(frame, state, *value);
                if self.stack.is_empty() {
                    self.assume_valid(state, result);
                }
                let bits = match frame.body.ret {
                    RetTy::Scalar(ty) => ty.bits(),
                    _ => self.arena.formula.terms.width(result),
                };
                let result = self.arena.resize(result, bits.next_multiple_of(8));
                state.memory.write(&self.arena.formula.terms, slot, result);
            }
            Some(Arg::Record { addr, size }) => {
                let from = self.eval(frame, state, *addr);
                let sources = self.arena.locations(from);
                self.access(state, from, &sources);
                self.copy_record(state, slot, &sources, *size);
            }
            None => {}
        }
    }

    /// Logs a return, and merges the state there into that of the exit.
    fn leave(&mut self, frame: &Frame<'_>, state: &State, exit: &mut Option<State>, pos: Pos) {
        self.execution.log.returns.push(ReturnEvent {
            guard: state.guard,
            site: frame.site(pos),
            depth: self.stack.len() as u32,
        });
        let here = state.clone();
        *exit = Some(match exit.take() {
            Some(before) => self.arena.merge(before, here),
            None => here,
        });
    }

    fn switch(
        &mut self,
        state: &State,
        value: Term,
        ty: Ty,
        cases: &[(i128, i128, BlockId)],
        default: BlockId,
    ) -> Vec<(BlockId, Guard)> {
        let width = self.arena.formula.terms.width(value);
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
            let terms = &mut self.arena.formula.terms;
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
            let test = self.arena.formula.guard_of(test);
            self.note_conditions(test, true);
            self.note_tested(test, rest);
            let here = self.arena.formula.guards.and(rest, test);
            rest = self.arena.formula.guards.and_not(rest, test);
            add(&mut self.arena.formula, target, here);
        }
        add(&mut self.arena.formula, default, rest);
        edges
    }
}
