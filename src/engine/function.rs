//! One function's analysis: from its IR body and its callees' summaries to its own summary and the
//! findings in it (paper §3–5).

use std::rc::Rc;

use rustc_hash::FxHashMap;

use serde::{Deserialize, Serialize};

use crate::ir::Body;
use crate::judge::findings::Findings;
use crate::judge::lock_order::{self};
use crate::judge::obligation::collect::{self, Finished};
use crate::judge::record::{Facts, FunctionResult, Outcome, Statistics};
use crate::judge::recursive::{self};
use crate::property::Property;
use crate::sat::{self, Budget, Session};
use crate::summary::Summary;
use crate::summary::convert::Converter;
use crate::summary::infer::{self, Exit, Feasible};
use crate::symbolic::callee::Callees;
use crate::symbolic::exec::Executor;
use crate::symbolic::guard::{Cond, Guard};
use crate::symbolic::limits::Limits;
use crate::symbolic::model::Model;
use crate::symbolic::print::Printer;
use crate::symbolic::state::Status;

/// What bounds one function's analysis. All of it is counted, never timed, and is part of the key
/// under which results are kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Options {
    pub execution: Limits,
    /// Clauses given to the solver, see [`Budget::work`].
    pub max_solver_work: u64,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            execution: Limits::default(),
            max_solver_work: 200_000,
        }
    }
}

/// Analyses one function. One that is too much for the budget is executed again for less, for callers to see a summary
/// that says so.
pub fn analyse(
    body: &Body,
    callees: &dyn Callees,
    property: &Property,
    options: &Options,
) -> FunctionResult {
    let first = execute(body, callees, property, options);
    let Outcome::OutOfBudget(reason) = &first.outcome else {
        return first;
    };
    let less = Options {
        execution: options.execution.cheaper(),
        ..options.clone()
    };
    let mut second = execute(body, callees, property, &less);
    let reduced = Outcome::Reduced(reason.clone());
    let mut result = first;
    result.facts.statistics += second.facts.statistics;
    if second.outcome == Outcome::Analysed && !second.summary.noreturn {
        second.summary.reduce();
        result.summary = second.summary;
        result.outcome = reduced;
    }
    result
}

/// Executes one function within a budget.
fn execute(
    body: &Body,
    callees: &dyn Callees,
    property: &Property,
    options: &Options,
) -> FunctionResult {
    let mut exec = Executor::new(property, callees, &options.execution);
    let mut queries = Queries::new(options);
    let mut frame = exec.frame(body);
    let state = exec.enter(&frame);
    let exit = exec.run(&mut frame, state);
    let mut result = FunctionResult {
        summary: Summary::default(),
        facts: Facts::default(),
        outcome: Outcome::Analysed,
    };
    let mut findings = Findings::new(body, property);
    // What is only told on demand costs nobody the rest, whatever it needs.
    let mut exhausted = None;
    if exec.exhausted.is_none() {
        findings.failing_operations(&mut exec, exit.as_ref(), &mut queries);
        findings.sleeps_in_atomic(&mut exec, &mut queries);
        findings.calls_without(&mut exec, exit.as_ref(), &mut queries);
        let params: Vec<String> = body
            .locals
            .iter()
            .take(body.params as usize)
            .map(|local| local.name.clone())
            .collect();
        match exit {
            Some(state) => {
                let value = exec.result(&frame, &state);
                let exit = Exit::new(&mut exec, &state, value);
                let mut exits = infer::exits(&mut exec, &state);
                findings.ambiguous_exits(&mut exec, &exit, &mut exits, &mut queries);
                result.facts.lock_order = lock_order::collect(&mut exec, &exit, &mut queries);
                // What makes a summary readable must not leave nothing for what makes a finding.
                queries.session.reserve(options.max_solver_work / 4);
                let inferred = infer::infer(&mut exec, &exit, &exits, params, &mut queries);
                queries.session.reserve(0);
                queries.forget_open();
                let finished = Finished {
                    exit: &exit,
                    inferred: &inferred,
                    findings: &findings,
                };
                result.facts.obligations =
                    collect::obligations(&mut exec, &finished, &exits, &mut queries);
                result.facts.obligations.assertions =
                    findings.assertions(&mut exec, &exit, &mut queries);
                let converter = Converter::new(&exit);
                result.facts.recursion =
                    recursive::collect(&mut exec, converter, &findings, &inferred.summary);
                result.summary = inferred.summary;
                exhausted = exec.formula.exhausted();
                findings.tell_covered_exits(&mut exec, &exit, &exits, &mut queries);
            }
            None => {
                // Paths cut off at a loop's limit may come back after all.
                result.summary = Summary {
                    params,
                    noreturn: !exec.cut,
                    ..Summary::default()
                };
                let converter = Converter::of_entry();
                result.facts.recursion =
                    recursive::collect(&mut exec, converter, &findings, &result.summary);
                exhausted = exec.formula.exhausted();
            }
        }
    }
    if exec.exhausted.is_none() {
        exec.exhausted = exhausted.map(|limit| limit.to_string());
    }
    if exec.exhausted.is_none() {
        findings.tell_covered(&mut exec, &mut queries);
        result.facts.findings = findings.found;
        if exec.formula.exhausted().is_none() {
            result.facts.findings.append(&mut findings.explained);
        }
    }
    if let Some(reason) = exec.exhausted.take() {
        result.summary = Summary::default();
        result.facts = Facts::default();
        result.outcome = match exec.out_of_time {
            true => Outcome::OutOfTime,
            false => Outcome::OutOfBudget(reason),
        };
    }
    result.facts.statistics = Statistics {
        blocks: exec.blocks,
        terms: exec.formula.terms.len() as u64,
        queries: queries.asked(),
        solver_calls: queries.solver_calls(),
    };
    result
}

/// The execution of one function in words: the guard and the result at its exit, what was written, and
/// the guarded states of each object.
pub fn describe(
    body: &Body,
    callees: &dyn Callees,
    property: &Property,
    limits: &Limits,
) -> String {
    use std::fmt::Write;
    let mut exec = Executor::new(property, callees, limits);
    let mut frame = exec.frame(body);
    let state = exec.enter(&frame);
    let exit = exec.run(&mut frame, state);
    let mut text = String::new();
    // Writing to a string cannot fail.
    if let Some(reason) = &exec.exhausted {
        let _ = writeln!(text, "out of budget: {reason}");
    }
    let Some(exit) = exit else {
        let _ = writeln!(text, "control does not come back");
        return text;
    };
    let result = exec.result(&frame, &exit);
    let objects: Vec<_> = exit
        .objects
        .iter()
        .map(|(key, tracked)| (*key, tracked.clone()))
        .collect();
    let written = exit.memory.written(|region| !exec.regions.is_local(region));
    let names: Vec<String> = objects
        .iter()
        .map(|(object, _)| exec.name_of(object.loc))
        .collect();
    let cells: Vec<_> = written
        .into_iter()
        .map(|(loc, size, value)| (exec.name_of(loc), size, value))
        .collect();
    let print = Printer {
        formula: &exec.formula,
        origins: &exec.origins,
    };
    let _ = writeln!(text, "exit when {}", print.guard(exit.guard));
    if let Some(result) = result {
        let _ = writeln!(text, "result {}", print.term(result));
    }
    for (name, size, value) in cells {
        let value = value.map_or("bytes".into(), |value| print.term(value));
        let _ = writeln!(text, "{name} ({size} bytes) = {value}");
    }
    for ((object, tracked), name) in objects.iter().zip(names) {
        let machine = exec.machine_of(*object);
        let _ = writeln!(text, "{name} ({})", machine.name);
        for (status, guard) in &tracked.set {
            let status = match status {
                Status::At(state) => machine.state_name(*state),
                Status::Error(_) => "error",
            };
            let _ = writeln!(text, "    {status} when {}", print.guard(*guard));
        }
    }
    text
}

/// Clauses learned for one query: what decides a lock's state is simple, or hopeless.
const QUERY_EFFORT: u64 = 100;
const QUERY_CLAUSES: usize = 12_000;

/// Feasibility queries of one function, each guard answered once.
struct Queries {
    known: FxHashMap<Guard, Answer>,
    /// By condition, [`Executor::impossible`].
    impossible: FxHashMap<Cond, Rc<[Guard]>>,
    session: Session,
}

impl Queries {
    fn new(options: &Options) -> Self {
        Queries {
            known: FxHashMap::default(),
            impossible: FxHashMap::default(),
            session: Session::new(Budget {
                effort: QUERY_EFFORT,
                clauses: QUERY_CLAUSES,
                work: options.max_solver_work,
            }),
        }
    }

    /// Questions that were left open may be asked again.
    fn forget_open(&mut self) {
        self.known
            .retain(|_, answer| !matches!(answer, Answer::Unknown));
    }

    fn asked(&self) -> u64 {
        self.session.queries.total()
    }

    fn solver_calls(&self) -> u64 {
        self.session.queries.solved
    }

    fn ask(&mut self, exec: &mut Executor<'_>, guard: Guard) -> Answer {
        if guard == Guard::FALSE {
            return Answer::Impossible;
        }
        if let Some(known) = self.known.get(&guard) {
            return known.clone();
        }
        let mut paths = guard;
        let answer = loop {
            match self.session.check(&mut exec.formula, &[paths], &[]) {
                sat::Outcome::Sat(model) => {
                    let possible = self.without_impossible(exec, paths);
                    if possible == paths {
                        break Answer::Possible(model);
                    }
                    paths = possible;
                }
                sat::Outcome::Unsat => break Answer::Impossible,
                sat::Outcome::Unknown => break Answer::Unknown,
            }
        };
        self.known.insert(guard, answer.clone());
        answer
    }

    /// A guard without the impossible paths of which the model just found has one. There are few such models:
    /// to take all impossible paths out of every guard would cost more.
    fn without_impossible(&mut self, exec: &mut Executor<'_>, guard: Guard) -> Guard {
        let support = exec.formula.guards.support(guard).to_vec();
        support.into_iter().fold(guard, |guard, condition| {
            let impossible = self.impossible.entry(condition);
            let impossible = impossible.or_insert_with(|| exec.impossible(condition).into());
            impossible.iter().fold(guard, |guard, &paths| {
                match self.session.last_model_has(&exec.formula, paths) {
                    true => exec.formula.guards.and_not(guard, paths),
                    false => guard,
                }
            })
        })
    }
}

/// What is known about a guard.
#[derive(Clone)]
enum Answer {
    Possible(Rc<Model>),
    Impossible,
    /// The budget ended first.
    Unknown,
}

impl Feasible for Queries {
    fn model(&mut self, exec: &mut Executor<'_>, guard: Guard) -> Option<Rc<Model>> {
        match self.ask(exec, guard) {
            Answer::Possible(model) => Some(model),
            Answer::Impossible | Answer::Unknown => None,
        }
    }

    fn possible(&mut self, exec: &mut Executor<'_>, guard: Guard) -> bool {
        !matches!(self.ask(exec, guard), Answer::Impossible)
    }
}
