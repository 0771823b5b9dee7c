//! From a model of a query to what a person reads: the steps of one feasible path.
//!
//! In: a model and the execution's log. Out: trace steps. Only operations on the object in question
//! are shown, and those decisions that the query's guard depends on.

use crate::finding::{ACCESSED, TraceStep};
use crate::property::Target;
use crate::symbolic::arena::Arena;
use crate::symbolic::execution::Execution;
use crate::symbolic::guard::{Cond, Guard};
use crate::symbolic::log::{
    AssertEvent, AssertionEvent, BranchEvent, CallEvent, CaseEvent, OpEvent, ReturnEvent, Site,
    SleepEvent, TakeEvent, UseEvent,
};
use crate::symbolic::model::Model;
use crate::symbolic::state::{Object, Status};

/// Steps kept in a summary's row, so that traces through deep call chains stay readable.
const MAX_ROW_STEPS: usize = 12;
const MAX_STEPS: usize = 60;

fn step(site: &Site, depth: u32, message: String) -> TraceStep {
    TraceStep {
        file: site.file.to_string(),
        line: site.line,
        column: site.column,
        function: site.function.to_string(),
        depth,
        message,
    }
}

/// The name of a state of the object's machine.
fn state_name<'a>(arena: &Arena<'a>, object: Object, status: Status) -> &'a str {
    let machine = arena.machine_of(object);
    match status {
        Status::At(state) => machine
            .states
            .get(usize::from(state.0))
            .map_or("unknown", |state| &state.text),
        Status::Error(_) => "in error",
    }
}

fn operation(arena: &Arena<'_>, event: &OpEvent) -> String {
    let from = state_name(arena, event.object, event.from);
    match event.to {
        Some(to) if to == event.from => format!("{}: `{}` stays {from}", event.text, event.name),
        Some(to) => {
            let to = state_name(arena, event.object, to);
            format!("{}: `{}` is now {to}", event.text, event.name)
        }
        None => format!("{}: `{}` is already {from} here", event.text, event.name),
    }
}

fn push_operation(arena: &Arena<'_>, event: &OpEvent, steps: &mut Vec<TraceStep>) {
    push_call(&event.stack, &operation(arena, event), &event.inside, steps);
}

/// A call by way of its call sites, what it does, and what happens inside.
fn push_call(stack: &[Site], message: &str, inside: &[TraceStep], steps: &mut Vec<TraceStep>) {
    for (depth, site) in stack.iter().enumerate() {
        let message = match stack.get(depth + 1) {
            None => message.to_string(),
            Some(next) => format!("calls {}", next.function),
        };
        steps.push(step(site, depth as u32, message));
    }
    let below = stack.len() as u32;
    for inner in inside {
        steps.push(TraceStep {
            depth: inner.depth + below,
            ..inner.clone()
        });
    }
}

/// What a summary keeps of a call, by way of its call sites.
fn way(stack: &[Site], message: &str, inside: &[TraceStep]) -> Vec<TraceStep> {
    let mut steps = Vec::new();
    push_call(stack, message, inside, &mut steps);
    steps.truncate(MAX_ROW_STEPS);
    steps
}

/// The way from a call down to what sleeps.
pub fn sleeping(event: &SleepEvent) -> Vec<TraceStep> {
    let message = format!("{}: may sleep", event.text);
    way(&event.stack, &message, &event.inside)
}

/// The way from a call down to an access, or the access itself.
pub fn accessing(event: &UseEvent) -> Vec<TraceStep> {
    match &event.text {
        Some(text) => way(&event.stack, text, &event.inside),
        None => way(&event.stack, ACCESSED, &[]),
    }
}

/// The way down to where an assertion does not hold.
pub fn asserted(event: &AssertionEvent, text: &str) -> Vec<TraceStep> {
    way(&event.stack, &format!("`{text}` does not hold here"), &[])
}

/// Where a pointer is compared with null.
pub fn compared(site: &Site, name: &str) -> TraceStep {
    step(site, 0, format!("`{name}` {COMPARED}"))
}

/// Where the only pointer to a block is overwritten.
pub fn nulled(site: &Site, name: &str) -> TraceStep {
    let message = format!("the null that is returned overwrites the pointer `{name}`");
    step(site, 0, message)
}

/// Where the address of a variable is returned.
pub fn returned_local(site: &Site, name: &str) -> TraceStep {
    step(site, 0, format!("the address of `{name}` is returned here"))
}

/// What is said of such a place.
pub const COMPARED: &str = "is compared with null here";
/// What is said where a pointer is followed that is the constant null.
pub const MADE_NULL: &str = "is null on this way";
/// How the step at a branch begins.
pub const DECIDED: &str = "the condition is";
/// How it begins where the decision makes a pointer null that is followed later.
pub const MAKES_NULL: &str = "null from here on: the condition is";

/// The decisions of a path up to an event, which so many operations and branches come before.
pub fn decisions(
    execution: &Execution,
    arena: &Arena<'_>,
    model: &Model,
    query: Guard,
    end: (usize, usize),
) -> Vec<TraceStep> {
    let relevant = arena.formula.guards.support(query);
    steps(execution, arena, model, relevant, end, |_, _| false)
}

/// The way from a call down to where it is stated that an object is held.
pub fn asserting(event: &AssertEvent) -> Vec<TraceStep> {
    let message = format!("{}: needs `{}` held", event.text, event.name);
    way(&event.stack, &message, &event.inside)
}

/// The operations on an object along the model's path: what a caller's trace shows of a callee.
pub fn inside(
    execution: &Execution,
    arena: &Arena<'_>,
    model: &Model,
    object: Object,
) -> Vec<TraceStep> {
    let mut steps = Vec::new();
    for event in &execution.log.ops {
        if event.object == object && model.eval_guard(&arena.formula, event.guard) {
            push_operation(arena, event, &mut steps);
            if event.to.is_none() {
                break;
            }
        }
    }
    steps.truncate(MAX_ROW_STEPS);
    steps
}

/// An object being taken, and what happens inside.
pub fn take(event: &TakeEvent) -> Vec<TraceStep> {
    let message = format!("{}: takes `{}`", event.text, event.name);
    way(&event.stack, &message, &event.inside)
}

/// A call whose inside is shown by another function's trace.
pub fn call(event: &CallEvent) -> Vec<TraceStep> {
    let mut steps = Vec::new();
    let message = format!("calls {}", event.callee.name);
    push_call(&event.stack, &message, &[], &mut steps);
    steps
}

/// How an object came to be held: the operations on it from the one at `from` on, up to `until`.
pub fn held(
    execution: &Execution,
    arena: &Arena<'_>,
    model: &Model,
    object: Object,
    query: Guard,
    (from, until): (usize, usize),
) -> Vec<TraceStep> {
    let relevant = arena.formula.guards.support(query);
    let end = (until, usize::MAX);
    steps(execution, arena, model, relevant, end, |index, event| {
        index >= from
            && index < until
            && event.object == object
            && event.to.is_some()
            && model.eval_guard(&arena.formula, event.guard)
    })
}

/// The path to an operation (up to and including the event `last`) or, without one, to the exit.
pub fn path(
    execution: &Execution,
    arena: &Arena<'_>,
    model: &Model,
    object: Object,
    query: Guard,
    last: Option<usize>,
) -> Vec<TraceStep> {
    let relevant = arena.formula.guards.support(query);
    let end = last.unwrap_or(execution.log.ops.len());
    steps(
        execution,
        arena,
        model,
        relevant,
        (end, usize::MAX),
        |index, event| {
            event.object == object
                && (Some(index) == last
                    || event.to.is_some() && model.eval_guard(&arena.formula, event.guard))
        },
    )
}

/// The path up to an event, which so many operations and branches come before.
pub fn path_until(
    execution: &Execution,
    arena: &Arena<'_>,
    model: &Model,
    object: Object,
    query: Guard,
    (operations, branches): (usize, usize),
) -> Vec<TraceStep> {
    let relevant = arena.formula.guards.support(query);
    let end = (operations, branches);
    steps(execution, arena, model, relevant, end, |index, event| {
        event.object == object
            && index < operations
            && event.to.is_some()
            && model.eval_guard(&arena.formula, event.guard)
    })
}

/// The relevant decisions of a path up to an operation, and the operations that are shown.
fn steps(
    execution: &Execution,
    arena: &Arena<'_>,
    model: &Model,
    relevant: &[Cond],
    (end, branches): (usize, usize),
    shown: impl Fn(usize, &OpEvent) -> bool,
) -> Vec<TraceStep> {
    let before = execution.log.branches.iter().take(branches).enumerate();
    let mut before = before.peekable();
    let mut cases = execution.log.cases.iter().peekable();
    let mut steps: Vec<TraceStep> = Vec::new();
    for index in 0..=end {
        // Branches and cases in the order in which execution has come to them.
        loop {
            let (number, order) = match before.peek() {
                Some((number, branch)) => (*number, branch.order),
                None => (branches, usize::MAX),
            };
            let case = cases.next_if(|case| case.order <= index && case.branches <= number);
            let next = match case {
                Some(case) => case_on(arena, model, case, relevant),
                None if order <= index => before
                    .next()
                    .and_then(|(_, branch)| decision_on(arena, model, branch, relevant)),
                None => break,
            };
            if let Some(next) = next.filter(|next| steps.last() != Some(next)) {
                steps.push(next);
            }
        }
        let Some(event) = execution.log.ops.get(index) else {
            break;
        };
        if shown(index, event) {
            push_operation(arena, event, &mut steps);
        }
    }
    if steps.len() > MAX_STEPS {
        let cut = steps.len() - MAX_STEPS;
        steps.drain(..cut);
    }
    steps
}

/// Whether a branch depends on one of these conditions.
fn depends(arena: &Arena<'_>, branch: &BranchEvent, conditions: &[Cond]) -> bool {
    let mut support = arena.formula.guards.support(branch.guard).iter();
    support.any(|condition| conditions.contains(condition))
}

/// The step at a branch of the analysed function itself, if it is on the model's path and depends on one of these conditions.
fn decision_on(
    arena: &Arena<'_>,
    model: &Model,
    branch: &BranchEvent,
    conditions: &[Cond],
) -> Option<TraceStep> {
    let comes = branch.depth == 0
        && depends(arena, branch, conditions)
        && model.eval_guard(&arena.formula, branch.path);
    comes.then(|| decision(arena, model, branch)).flatten()
}

/// The step at a `switch` of the analysed function itself, if the case is on the model's path and chosen by one of these conditions.
fn case_on(
    arena: &Arena<'_>,
    model: &Model,
    case: &CaseEvent,
    conditions: &[Cond],
) -> Option<TraceStep> {
    let guards = &arena.formula.guards;
    let (known, mut asked) = (guards.support(case.path), guards.support(case.guard).iter());
    let comes = case.depth == 0
        && asked.any(|condition| conditions.contains(condition) && !known.contains(condition))
        && model.eval_guard(&arena.formula, case.guard);
    comes.then(|| {
        let message = format!("the `switch` goes on in line {}", case.goes_on);
        step(&case.site, case.depth, message)
    })
}

/// The step at a branch, if the source says how its condition comes out there.
fn decision(arena: &Arena<'_>, model: &Model, branch: &BranchEvent) -> Option<TraceStep> {
    let said = match model.eval_guard(&arena.formula, branch.guard) {
        true => branch.says.then,
        false => branch.says.els,
    };
    let message = format!("{DECIDED} {said}", said = said?);
    Some(step(&branch.site, branch.depth, message))
}

/// Marks the decision at which two ways out part: the last one that both come to, that differs, and that either depends on.
pub fn mark_parting(
    execution: &Execution,
    arena: &Arena<'_>,
    steps: &mut [TraceStep],
    (model, paths): (&Model, Guard),
    (other, others): (&Model, Guard),
) {
    let guards = &arena.formula.guards;
    let (one, two) = (guards.support(paths), guards.support(others));
    let matters = |branch: &BranchEvent| depends(arena, branch, one) || depends(arena, branch, two);
    let comes = |model: &Model, paths: Guard| model.eval_guard(&arena.formula, paths);
    let parts = |branch: &&BranchEvent| {
        branch.depth == 0
            && comes(model, branch.path)
            && comes(other, branch.path)
            && comes(model, branch.guard) != comes(other, branch.guard)
            && matters(branch)
    };
    let parting = execution.log.branches.iter().rev().find(parts);
    let decision = parting.and_then(|branch| decision(arena, model, branch));
    let step = decision.and_then(|decision| steps.iter_mut().rev().find(|step| **step == decision));
    if let Some(step) = step {
        step.message = format!("the two ways out part here: {}", step.message);
    }
}

/// Marks the decisions that make a pointer null: those among so many branches that the choice of the constant depends on.
pub fn mark_null(
    execution: &Execution,
    arena: &Arena<'_>,
    steps: &mut [TraceStep],
    model: &Model,
    (chosen, branches): (Guard, usize),
) {
    let conditions = arena.formula.guards.support(chosen);
    for branch in execution.log.branches.iter().take(branches) {
        let decision = decision_on(arena, model, branch, conditions);
        let step = decision.and_then(|decision| steps.iter_mut().find(|step| **step == decision));
        if let Some(step) = step
            && let Some(said) = step.message.strip_prefix(DECIDED)
        {
            step.message = format!("{MAKES_NULL}{said}");
        }
    }
}

/// The return statement of the analysed function that the model's path takes.
pub fn returns<'e>(
    execution: &'e Execution,
    arena: &Arena<'_>,
    model: &Model,
) -> Option<&'e ReturnEvent> {
    execution
        .log
        .returns
        .iter()
        .find(|event| event.depth == 0 && model.eval_guard(&arena.formula, event.guard))
}

/// The step at a return.
pub fn return_step(
    arena: &Arena<'_>,
    name: &str,
    event: &ReturnEvent,
    object: Object,
    to: &Target,
) -> TraceStep {
    let state = match to {
        Target::State(state) => state_name(arena, object, Status::At(*state)),
        Target::Error(_) => "in error",
    };
    step(
        &event.site,
        0,
        format!("returns here with `{name}` {state}"),
    )
}
