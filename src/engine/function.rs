//! One function's analysis: from its IR body and its callees' summaries to its own summary and the
//! findings in it (paper §3–5).

use serde::{Deserialize, Serialize};

use super::filtering;
use super::returns::may_return;
use super::timings::Timings;
use crate::finding::ExplanationKind;
use crate::ir::Body;
use crate::judge::excluded;
use crate::judge::findings::Findings;
use crate::judge::guarded;
use crate::judge::lock_order;
use crate::judge::lost_results::{self, LostResults};
use crate::judge::obligation::collect::{self, Finished};
use crate::judge::record::{Facts, FunctionResult, Outcome, Statistics};
use crate::judge::recursive;
use crate::judge::results::{self, Results};
use crate::property::Property;
use crate::sat::oracle::Oracle;
use crate::summary::Summary;
use crate::summary::infer::{self, Exit};
use crate::symbolic::callee::Callees;
use crate::symbolic::exec;
use crate::symbolic::execution::Execution;
use crate::symbolic::limits::Limits;
use crate::symbolic::naming::is_clear;
use crate::symbolic::print::Printer;
use crate::symbolic::state::{State, Status};

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
            max_solver_work: 400_000,
        }
    }
}

/// Analyses one function. One that exceeds the budget is executed again: with one round of each loop, where accesses are checked, and else, twice
/// at most, with cheaper limits, so that callers have a summary, which says that it is partial.
pub fn analyse(
    body: &Body,
    callees: &dyn Callees,
    property: &Property,
    options: &Options,
    timings: &Timings,
) -> FunctionResult {
    let (mut result, repeated) = execute(body, callees, property, options, timings);
    if repeated
        && matches!(result.outcome, Outcome::OutOfBudget(_))
        && property.watches_accesses()
        && let Some(execution) = options.execution.of_one_round()
    {
        let options = Options {
            execution,
            ..options.clone()
        };
        let (mut of_one_round, _) = execute(body, callees, property, &options, timings);
        of_one_round.facts.statistics += result.facts.statistics;
        match of_one_round.outcome {
            Outcome::Analysed => return of_one_round,
            _ => result.facts.statistics = of_one_round.facts.statistics,
        }
    }
    let mut limits = options.execution.cheaper();
    while let Outcome::OutOfBudget(reason) = &result.outcome
        && let Some(less) = limits
    {
        limits = less.cheaper();
        let options = Options {
            execution: less,
            ..options.clone()
        };
        let (mut cheaper, _) = execute(body, callees, property, &options, timings);
        let reduced = Outcome::Reduced(reason.clone());
        result.facts.statistics += cheaper.facts.statistics;
        if cheaper.outcome == Outcome::Analysed && !cheaper.summary.noreturn {
            cheaper.summary.reduce();
            result.summary = cheaper.summary;
            result.outcome = reduced;
        }
    }
    result
}

/// Executes one function within a budget, and judges it; whether a loop was executed more than once.
fn execute(
    body: &Body,
    callees: &dyn Callees,
    property: &Property,
    options: &Options,
    timings: &Timings,
) -> (FunctionResult, bool) {
    let (execution, arena) = exec::execute(body, property, callees, &options.execution);
    let mut oracle = Oracle::new(arena, options.max_solver_work);
    let judged = match &execution.exhausted {
        Some(reason) => Err(reason.clone()),
        None => judge(
            body,
            (property, callees, &options.execution),
            &execution,
            &mut oracle,
            timings,
        ),
    };
    let (mut result, outcome) = match judged {
        Ok(result) => (result, Outcome::Analysed),
        Err(_) if execution.out_of_time => (Judged::default(), Outcome::OutOfTime),
        Err(reason) => (Judged::default(), Outcome::OutOfBudget(reason)),
    };
    let (queries, solver_calls) = oracle.asked();
    result.facts.statistics = Statistics {
        blocks: execution.blocks,
        terms: oracle.formula.terms.len() as u64,
        queries,
        solver_calls,
    };
    let result = FunctionResult {
        summary: result.summary,
        facts: result.facts,
        outcome,
    };
    (result, execution.repeated)
}

/// What is made of an execution.
#[derive(Default)]
struct Judged {
    summary: Summary,
    facts: Facts,
}

/// From a finished execution to the function's summary, its findings, and what other functions must know. The error says
/// which budget has run out.
fn judge(
    body: &Body,
    (property, callees, options): (&Property, &dyn Callees, &Limits),
    execution: &Execution,
    oracle: &mut Oracle<'_>,
    timings: &Timings,
) -> Result<Judged, String> {
    let mut findings = Findings::new(body, property);
    findings.failing_operations(execution, oracle);
    findings.sleeps_in_atomic(execution, oracle);
    findings.calls_without(execution, oracle);
    if property.watches_accesses() {
        findings.null_pointers(execution, oracle);
        findings.failing_assertions(execution, oracle);
        oracle.renew();
    }
    let mut judged = match &execution.exit {
        Some(state) => judge_exit(body, execution, state, &mut findings, oracle)?,
        None => judge_no_exit((body, callees), execution, &findings, oracle)?,
    };
    // Findings that are shown on demand only must not use up the budget for the rest.
    findings.tell_covered(execution, oracle);
    let explained = match oracle.formula.exhausted() {
        None => std::mem::take(&mut findings.explained),
        Some(_) => Vec::new(),
    };
    if property.watches_accesses() {
        let asked = filtering::filter(body, execution, oracle, &mut findings);
        timings.filters(asked.costs);
        judged.summary.fails_when = infer::fails_when(body, execution, oracle, &asked.failures);
        oracle.renew();
        judged.facts.excluded = excluded::collect(execution, oracle);
        findings.explain_consequences();
        judged.facts.results = Results {
            of: results::count(execution, oracle),
            unchecked: std::mem::take(&mut findings.unchecked),
            lost: LostResults {
                made: lost_results::count(execution, oracle),
                lost: std::mem::take(&mut findings.lost_results),
            },
        };
    }
    if options.members {
        judged.facts.accesses = guarded::collect(execution, oracle);
    }
    judged.facts.findings = findings.found;
    let values = findings.values.into_iter().map(|(finding, _)| finding);
    judged.facts.findings.extend(values);
    judged.facts.findings.extend(explained);
    retell(&mut judged.facts, oracle);
    Ok(judged)
}

/// Adds what callees call the objects of findings that the function's own source has no clear name for. What a reader cannot find in the source of
/// either has been less often right.
fn retell(facts: &mut Facts, oracle: &Oracle<'_>) {
    let Facts {
        findings,
        obligations,
        ..
    } = facts;
    let of_obligations = obligations.findings_mut();
    for finding in findings.iter_mut().chain(of_obligations) {
        let name = oracle.names.retold(&finding.object);
        finding.retold = name.map(str::to_owned);
        if finding.retold.is_none() && !is_clear(&finding.object) {
            finding.explain_by(ExplanationKind::NoName);
        }
    }
}

/// Of a function that control comes back from.
fn judge_exit(
    body: &Body,
    execution: &Execution,
    state: &State,
    findings: &mut Findings<'_>,
    oracle: &mut Oracle<'_>,
) -> Result<Judged, String> {
    let exit = Exit::new(oracle, state, execution.result);
    let mut exits = infer::exits(execution, oracle, state);
    findings.ambiguous_exits(execution, oracle, &exit, &mut exits);
    if oracle.watches {
        findings.lost_objects(execution, oracle, &exit);
        findings.not_enlarged(execution, oracle, &exit);
        findings.returned_locals(execution, oracle, &exit, body);
        oracle.renew();
    }
    let lock_order = lock_order::collect(execution, oracle, Some(&exit));
    // To make a summary readable must not use up the budget for findings.
    oracle.reserve_for_findings();
    let mut inferred = infer::infer(execution, oracle, &exit, &exits, parameters(body));
    oracle.release_reserved();
    let takes_pointers = body.takes_pointers || execution.keeps_listed;
    let summary = &mut inferred.summary;
    summary.keeps_from = (body.variadic && takes_pointers).then_some(body.params);
    summary.keeps_listed = !body.variadic && takes_pointers;
    let finished = Finished {
        exit: &exit,
        inferred: &inferred,
        findings,
        after: &[],
    };
    let mut obligations = collect::obligations(execution, oracle, &finished, &exits);
    obligations.assertions = findings.assertions(execution, oracle, &exit);
    let summary = &inferred.summary;
    let recursion = recursive::collect(execution, oracle, Some(&exit), findings, summary);
    within_budget(oracle)?;
    findings.tell_covered_exits(execution, oracle, &exit, &exits);
    Ok(Judged {
        summary: inferred.summary,
        facts: Facts {
            lock_order,
            obligations,
            recursion,
            ..Facts::default()
        },
    })
}

/// Of a function that never returns, as far as it has been executed.
fn judge_no_exit(
    (body, callees): (&Body, &dyn Callees),
    execution: &Execution,
    findings: &Findings<'_>,
    oracle: &mut Oracle<'_>,
) -> Result<Judged, String> {
    // Paths cut off at a loop's limit may come back after all, if a `return` is there for them.
    let noreturn = !execution.cut || !may_return(body, callees);
    let summary = infer::without_exit(execution, oracle, parameters(body), noreturn);
    let lock_order = lock_order::collect(execution, oracle, None);
    let obligations = collect::without_exit(execution, oracle);
    let recursion = recursive::collect(execution, oracle, None, findings, &summary);
    within_budget(oracle)?;
    Ok(Judged {
        summary,
        facts: Facts {
            lock_order,
            obligations,
            recursion,
            ..Facts::default()
        },
    })
}

fn parameters(body: &Body) -> Vec<String> {
    let params = body.locals.iter().take(body.params as usize);
    params.map(|local| local.name.clone()).collect()
}

fn within_budget(oracle: &Oracle<'_>) -> Result<(), String> {
    match oracle.formula.exhausted() {
        Some(limit) => Err(limit.to_string()),
        None => Ok(()),
    }
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
    let (execution, mut arena) = exec::execute(body, property, callees, limits);
    let mut text = String::new();
    // Writing to a string cannot fail.
    if let Some(reason) = &execution.exhausted {
        let _ = writeln!(text, "out of budget: {reason}");
    }
    let Some(exit) = &execution.exit else {
        let _ = writeln!(text, "control does not come back");
        return text;
    };
    let objects: Vec<_> = exit
        .objects
        .iter()
        .map(|(key, tracked)| (*key, tracked.clone()))
        .collect();
    let written = exit
        .memory
        .written(|region| !arena.regions.is_local(region));
    let names: Vec<String> = objects
        .iter()
        .map(|(object, _)| arena.name_of(object.loc))
        .collect();
    let cells: Vec<_> = written
        .into_iter()
        .map(|(loc, size, value)| (arena.name_of(loc), size, value))
        .collect();
    let print = Printer {
        formula: &arena.formula,
        origins: &arena.origins,
    };
    let _ = writeln!(text, "exit when {}", print.guard(exit.guard));
    if let Some(result) = execution.result {
        let _ = writeln!(text, "result {}", print.term(result));
    }
    for (name, size, value) in cells {
        let value = value.map_or("bytes".into(), |value| print.term(value));
        let _ = writeln!(text, "{name} ({size} bytes) = {value}");
    }
    for ((object, tracked), name) in objects.iter().zip(names) {
        let machine = arena.machine_of(*object);
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
