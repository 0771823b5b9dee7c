//! A block that cannot be enlarged is lost where the null that is returned takes the place of the only pointer to it:
//! `p->text = realloc(p->text, more); if (!p->text) return -1;`.
//!
//! In: the operations of primitives, and the exit's state. Out: one failure for each call. That no other pointer leads to the block is taken from the
//! function itself, which would free it by the pointer that it overwrites.

use super::findings::{Failing, Findings, Place};
use super::leak::last_step;
use crate::finding::TraceStep;
use crate::property::{Event, Role};
use crate::sat::oracle::Oracle;
use crate::summary::elsewhere::known_elsewhere;
use crate::summary::infer::Exit;
use crate::summary::trace;
use crate::symbolic::execution::Execution;
use crate::symbolic::guard::Guard;
use crate::symbolic::heap::Shape;
use crate::symbolic::log::OpEvent;
use crate::symbolic::region::Loc;
use crate::symbolic::state::Status;
use crate::symbolic::term::Term;

impl Findings<'_> {
    /// Blocks of others that the function loses where it cannot enlarge them.
    pub fn not_enlarged(
        &mut self,
        execution: &Execution,
        oracle: &mut Oracle<'_>,
        exit: &Exit<'_>,
    ) {
        let mut known = None;
        for event in &execution.log.ops {
            let Some((result, holder)) = enlarged(execution, oracle, event) else {
                continue;
            };
            let paths = lost_on(execution, oracle, exit, (event, result, holder));
            if paths == Guard::FALSE {
                continue;
            }
            let known = known.get_or_insert_with(|| {
                known_elsewhere(execution, oracle, exit, &execution.log.escapes)
            });
            let elsewhere = known.get(&event.object.loc.region).copied();
            let paths = oracle
                .formula
                .guards
                .and_not(paths, elsewhere.unwrap_or_default());
            let Some(model) = oracle.model(paths) else {
                continue;
            };
            let machine = oracle.machine_of(event.object);
            let state = machine.expected();
            let Some(rule) = machine.rule_in(Event::Lost, state) else {
                continue;
            };
            let Some(site) = event.stack.first() else {
                continue;
            };
            let text = machine.state_text(state).to_owned();
            let name = oracle.name_of_block(event.object.loc.region);
            let mut steps = trace::path(execution, oracle, &model, event.object, paths, None);
            let at_call = |step: &TraceStep| (step.line, step.column) == (site.line, site.column);
            let call = steps.iter().rposition(at_call);
            let behind = call.map_or(steps.len(), |call| call + 1);
            steps.insert(behind, trace::nulled(site, &name));
            steps.extend(last_step(
                execution,
                oracle,
                &model,
                (event.object, state),
                &name,
            ));
            let place = Place::of(site);
            if let Some(finding) = self.finding(rule, place, &name, &text, steps) {
                self.keep_value(finding, Failing::Otherwise);
            }
        }
    }
}

/// The result of a primitive that ends a block and makes another one of it, and the place in memory that the function has found the block by.
fn enlarged(execution: &Execution, oracle: &Oracle<'_>, event: &OpEvent) -> Option<(Term, Loc)> {
    let role = |event: &OpEvent| match event.to {
        Some(Status::At(to)) if event.moves() => Some(oracle.machine_of(event.object).role(to)),
        _ => None,
    };
    let own = event.primitive && event.stack.len() == 1;
    let region = event.object.loc.region;
    if !own || role(event) != Some(Role::Dead) || oracle.is_owned(region) {
        return None;
    }
    let holder = oracle.initial_place(oracle.regions.base(region)?)?;
    let mut others = execution.log.ops_of_call(event.call).iter();
    let made = others.find(|other| {
        other.stack == event.stack
            && other.object.machine == event.object.machine
            && role(other) == Some(Role::Held)
    })?;
    Some((oracle.regions.base(made.object.loc.region)?, holder))
}

/// The paths on which the call has returned null, and null lies where the pointer to the block has been when the function returns.
fn lost_on(
    execution: &Execution,
    oracle: &mut Oracle<'_>,
    exit: &Exit<'_>,
    (event, result, holder): (&OpEvent, Term, Loc),
) -> Guard {
    let of_call = execution.log.ops_of_call(event.call).iter();
    let left_alone = of_call.filter(|other| other.object == event.object && !other.moves());
    let left_alone: Vec<Guard> = left_alone.map(|other| other.guard).collect();
    let failed = oracle.null_paths(result);
    let exists = oracle.exists(event.object.loc);
    let shape = Shape::pointer(oracle.pointer_size);
    let now = exit.state.memory.read(&mut oracle.heap(), holder, shape);
    let nulled = oracle.null_paths(now);
    let ended = oracle.ended_on(exit.state, event.object.loc.region);
    let guards = &mut oracle.formula.guards;
    let mut paths = guards.union(left_alone);
    for part in [exit.state.guard, failed, exists, nulled] {
        paths = guards.and(paths, part);
    }
    paths = guards.and_not(paths, ended);
    oracle.on_valid_pointers(exit.state, paths)
}
