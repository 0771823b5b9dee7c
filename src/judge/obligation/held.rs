//! The objects that a function returns with and did not hold on entry.
//!
//! In: the exits of an object, the function's summary. Out: obligations for callers, each with the finding that it becomes if nobody
//! discharges it.

use super::collect::Finished;
use super::intent::{
    by_name, failure, for_good, goes_both_ways, intent, lost, on_failure, released,
};
use super::{Intent, Kind, Obligation, OtherHalf, Place, Processor, Restored};
use crate::finding::Finding;
use crate::judge::explanation::{self, Failure, What, callee};
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
use crate::symbolic::state::Status;

/// The exits with an object held that was not on entry.
pub(super) fn held(
    execution: &Execution,
    oracle: &mut Oracle<'_>,
    finished: &Finished<'_>,
    exits: &Exits,
) -> Vec<Obligation> {
    let machine = oracle.machine_of(exits.object);
    let Some(rule) = machine.rule(Event::Exit) else {
        return Vec::new();
    };
    let on_processor = oracle.is_saved(exits.object.machine);
    let returns_pointer = finished.findings.returns_pointer();
    let judge = Judge {
        execution,
        finished,
        exits,
        rule,
        initial: machine.initial,
        on_processor,
        both_ways: !on_processor && goes_both_ways(exits, machine),
        fails: failure(oracle, finished.exit, returns_pointer),
    };
    let kept = judge.kept(oracle);
    kept.into_iter()
        .filter_map(|way| judge.obligation(oracle, &way))
        .collect()
}

/// A way out on which an object is kept.
struct Kept {
    place: Option<Place>,
    state: StateId,
    paths: Guard,
}

/// What the obligations of one object are made from.
struct Judge<'j> {
    execution: &'j Execution,
    finished: &'j Finished<'j>,
    exits: &'j Exits,
    rule: &'j str,
    initial: StateId,
    on_processor: bool,
    /// See [`goes_both_ways`].
    both_ways: bool,
    /// Where the function's result says that it has failed.
    fails: Option<Guard>,
}

impl Judge<'_> {
    /// The ways out that keep the object: rows of the summary, or, of one without a name there, its exits.
    fn kept(&self, oracle: &Oracle<'_>) -> Vec<Kept> {
        let machine = oracle.machine_of(self.exits.object);
        let inferred = self.finished.inferred;
        let is_held = |state: StateId| machine.rule_in(Event::Exit, state).is_some();
        let rows = inferred.summary.rows.iter().zip(&inferred.row_paths);
        let mut named = false;
        let mut kept = Vec::new();
        for (index, (row, (object, paths))) in (0..).zip(rows) {
            if *object != self.exits.object {
                continue;
            }
            named = true;
            let Target::State(state) = row.to else {
                continue;
            };
            if row.from == self.initial && is_held(state) && !row.reported {
                kept.push(Kept {
                    place: Some(Place {
                        kind: Kind::Held,
                        index,
                    }),
                    state,
                    paths: *paths,
                });
            }
        }
        if !named {
            let states = machine.state_ids().filter(|&state| is_held(state));
            kept.extend(states.map(|state| Kept {
                place: None,
                state,
                paths: self.exits.paths(self.initial, state),
            }));
        }
        kept
    }

    fn obligation(&self, oracle: &mut Oracle<'_>, way: &Kept) -> Option<Obligation> {
        let Judge {
            execution,
            finished,
            exits,
            initial,
            ..
        } = *self;
        let exit = finished.exit;
        let failure = Failure {
            object: exits.object,
            what: What::Kept,
            exit: Some(exit.state),
        };
        let all = explanation::uncovered_however_entered(execution, oracle, &failure, way.paths);
        let all = all.paths;
        let usual = explanation::others_as_usual(oracle, exit.state.guard, exits.object, all);
        let unusual = self.on_processor && usual == Guard::FALSE;
        let paths = if unusual { all } else { usual };
        let model = oracle.model(paths)?;
        let source = self.taken_by(oracle, way.state, &model);
        // What a function keeps that is inlined here is its own affair, unless our callers can do something.
        if way.place.is_none() && source.is_some_and(|event| event.stack.len() > 1) {
            return None;
        }
        let inherited = source.and_then(|event| event.obligation(Kind::Held));
        let on_failure = on_failure(execution, oracle, exits, initial, paths, self.fails);
        let mut finding = self.finding(oracle, way.state, (&model, paths))?;
        let left = (exits.object, What::Kept, paths);
        finished.explain(execution, oracle, left, &mut finding);
        let summary = &finished.inferred.summary;
        let row = way.place.map(|place| &summary.rows[place.index as usize]);
        let told = row.is_some_and(|row| row.outcond.iter().any(Option::is_some));
        let machine = oracle.machine_of(exits.object);
        Some(Obligation {
            kind: Kind::Held,
            place: way.place,
            classes: Converter::new(exit).classes(oracle, exits.object.loc),
            inherited,
            other_half: match on_failure {
                true => OtherHalf::OnSuccess,
                false => OtherHalf::Never,
            },
            intent: match self.both_ways {
                true => Intent::Meant,
                false => intent(execution, oracle, exit, exits, told),
            },
            by_name: by_name(machine, Kind::Held, finished.findings.function_name()),
            given_back_otherwise: told && released(execution, exits.object, initial),
            perhaps_discharged: callee::perhaps_given_back_by_callee(
                execution,
                oracle,
                exits.object,
                paths,
            ) || !possible_unchanged(execution, oracle, paths),
            processor: self.on_processor.then(|| Processor {
                unusual,
                restored: self.restored(oracle, paths),
            }),
            instead_of: None,
            contested: None,
            after: finished.after.to_vec(),
            perhaps_taken: false,
            exchanged: false,
            finding,
        })
    }

    /// The operation that has put the object into its state on the model's path.
    fn taken_by(&self, oracle: &Oracle<'_>, state: StateId, model: &Model) -> Option<&OpEvent> {
        self.execution.log.ops.iter().rev().find(|event| {
            let moved = event.to == Some(Status::At(state)) && event.from != Status::At(state);
            let object = event.object == self.exits.object;
            object && moved && model.eval_guard(&oracle.formula, event.guard)
        })
    }

    fn finding(
        &self,
        oracle: &mut Oracle<'_>,
        state: StateId,
        (model, paths): (&Model, Guard),
    ) -> Option<Finding> {
        let (execution, object) = (self.execution, self.exits.object);
        let site = trace::returns(execution, oracle, model).cloned()?;
        let name = oracle.name_of(object.loc);
        let mut steps = trace::path(execution, oracle, model, object, paths, None);
        let target = Target::State(state);
        let mut returns = vec![trace::return_step(oracle, &name, &site, object, &target)];
        if let Some((other, others)) = self.given_back(oracle)
            && let Some(site) = trace::returns(execution, oracle, &other)
        {
            trace::mark_parting(
                execution,
                oracle,
                &mut steps,
                (model, paths),
                (&other, others),
            );
            let target = Target::State(self.initial);
            let mut step = trace::return_step(oracle, &name, site, object, &target);
            step.message = format!("but on another path {}", step.message);
            returns.push(step);
        }
        steps.extend(returns);
        let at = findings::Place::of(&site.site);
        let state = oracle.machine_of(object).state_text(state).to_string();
        let findings = self.finished.findings;
        findings.finding(self.rule, at, &name, &state, steps)
    }

    /// A way out on which the function has taken the object and given it back.
    fn given_back(&self, oracle: &mut Oracle<'_>) -> Option<(std::rc::Rc<Model>, Guard)> {
        let (object, initial) = (self.exits.object, Status::At(self.initial));
        let mut paths = Guard::FALSE;
        for event in &self.execution.log.ops {
            if event.object == object && event.gives_back(initial) {
                paths = oracle.formula.guards.or(paths, event.guard);
            }
        }
        let back = self.exits.paths(self.initial, self.initial);
        let paths = oracle.formula.guards.and(back, paths);
        Some((oracle.model(paths)?, paths))
    }

    fn restored(&self, oracle: &mut Oracle<'_>, paths: Guard) -> Restored {
        let Judge {
            execution,
            finished,
            exits,
            initial,
            ..
        } = *self;
        let mut lost = || {
            lost(
                execution,
                oracle,
                finished.exit,
                exits.object,
                initial,
                paths,
            )
        };
        match finished.findings.returns_record() {
            false if lost() => Restored::Lost,
            _ => match for_good(execution, oracle, exits.object, initial) {
                true => Restored::Never,
                false => Restored::ByCallers,
            },
        }
    }
}
