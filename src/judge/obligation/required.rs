//! The objects that a function gives back and has not taken.
//!
//! In: the operations on an object, the function's summary. Out: the obligation for callers to hold it, with the finding that it
//! becomes if none does.

use std::rc::Rc;

use super::collect::{Finished, needed_place};
use super::intent::{by_name, goes_both_ways};
use super::{Intent, Kind, Obligation, OtherHalf};
use crate::finding::{ExplanationKind, Finding};
use crate::judge::explanation::callee::{self, Unknown};
use crate::judge::explanation::{self, Failure, What};
use crate::judge::findings::{self, possible_unchanged};
use crate::property::{Event, StateId, Target};
use crate::sat::oracle::Oracle;
use crate::summary::convert::Converter;
use crate::summary::infer::Exits;
use crate::summary::trace;
use crate::symbolic::execution::Execution;
use crate::symbolic::guard::Guard;
use crate::symbolic::log::OpEvent;
use crate::symbolic::model::Model;
use crate::symbolic::state::{Object, Status};

/// The first operation that gives the object back though the function has not taken it, as an obligation.
pub(super) fn required(
    execution: &Execution,
    oracle: &mut Oracle<'_>,
    finished: &Finished<'_>,
    exits: &Exits,
) -> Option<Obligation> {
    let machine = oracle.machine_of(exits.object);
    let initial = machine.initial;
    let rule = machine.rule_in(Event::Release, initial)?;
    let mut moves = exits.moves.iter();
    if !moves.any(|entry| entry.from != initial && entry.to == Target::State(initial)) {
        return None;
    }
    let Release {
        index,
        paths,
        model,
        perhaps_taken,
    } = release(execution, oracle, finished, exits.object)?;
    let mut own = execution.log.ops.iter().filter(|event| event.primitive);
    let takes = own.any(|event| event.object == exits.object && event.takes(Status::At(initial)));
    let taken_by_callee = moved_by_callee(execution, exits.object, |from, to| {
        from == initial && to != initial
    });
    let inferred = finished.inferred;
    Some(Obligation {
        kind: Kind::Required,
        place: needed_place(&inferred.summary, &inferred.row_paths, exits.object),
        classes: Converter::new(finished.exit).classes(oracle, exits.object.loc),
        inherited: execution.log.ops[index].obligation(Kind::Required),
        other_half: match takes {
            true => OtherHalf::AtTimes,
            false => OtherHalf::Never,
        },
        intent: match goes_both_ways(exits, machine) {
            true => Intent::Meant,
            false => Intent::Nothing,
        },
        by_name: by_name(machine, Kind::Required, finished.findings.function_name()),
        given_back_otherwise: false,
        perhaps_discharged: taken_by_callee
            || execution.perhaps_moved_unnamed(oracle, exits.object, paths)
            || !possible_unchanged(execution, oracle, paths),
        processor: None,
        instead_of: None,
        contested: None,
        after: finished.after.to_vec(),
        perhaps_taken,
        exchanged: false,
        finding: finding(execution, oracle, finished, (rule, index), (&*model, paths))?,
    })
}

/// A release of an object that the function has not taken.
struct Release {
    /// Among the operations.
    index: usize,
    /// Where nothing explains it.
    paths: Guard,
    /// One of them.
    model: Rc<Model>,
    /// Only a function of which nothing is known may have taken the object.
    perhaps_taken: bool,
}

/// The first release of an object that the function has not taken, nor, if there is one, an unknown function.
fn release(
    execution: &Execution,
    oracle: &mut Oracle<'_>,
    finished: &Finished<'_>,
    object: Object,
) -> Option<Release> {
    let initial = Status::At(oracle.machine_of(object).initial);
    let failure = Failure {
        object,
        what: What::Unheld,
        exit: Some(finished.exit.state),
    };
    let ops = execution.log.ops.iter().enumerate();
    let releases = ops.filter(|(_, event)| {
        let fails = event.to.is_none() && event.rule.is_some();
        event.object == object && event.from == initial && fails
    });
    let releases: Vec<(usize, &OpEvent)> = releases.collect();
    let mut first = |but: Option<ExplanationKind>| {
        releases.iter().find_map(|&(index, event)| {
            let untouched = oracle.formula.guards.and_not(event.guard, event.touched);
            let left = explanation::uncovered_but(execution, oracle, &failure, untouched, but);
            let mut paths = left.paths;
            if but.is_some() && paths != Guard::FALSE {
                let said = callee::taken_by_unknown(execution, oracle, object, Unknown::Said);
                paths = oracle.formula.guards.and_not(paths, said);
            }
            Some(Release {
                index,
                paths,
                model: oracle.model(paths)?,
                perhaps_taken: but.is_some(),
            })
        })
    };
    first(None).or_else(|| first(Some(ExplanationKind::TakenByUnknown)))
}

fn finding(
    execution: &Execution,
    oracle: &mut Oracle<'_>,
    finished: &Finished<'_>,
    (rule, index): (&str, usize),
    (model, paths): (&Model, Guard),
) -> Option<Finding> {
    let event = &execution.log.ops[index];
    let at = findings::Place::of(event.stack.first()?);
    let steps = trace::path(execution, oracle, model, event.object, paths, Some(index));
    let machine = oracle.machine_of(event.object);
    let state = machine.state_text(machine.initial).to_string();
    let findings = finished.findings;
    let mut finding = findings.finding(rule, at, &event.name, &state, steps)?;
    let left = (event.object, What::Unheld, paths);
    finished.explain(execution, oracle, left, &mut finding);
    Some(finding)
}

/// Whether a callee has the other half on some paths. On which, its summary may have lost.
fn moved_by_callee(
    execution: &Execution,
    object: Object,
    half: impl Fn(StateId, StateId) -> bool,
) -> bool {
    execution
        .log
        .ops
        .iter()
        .any(|event| event.object == object && event.source.is_some() && event.moves_as(&half))
}
