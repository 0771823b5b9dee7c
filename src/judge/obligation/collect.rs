//! What a finished execution says about obligations ([`crate::judge::obligation`]).
//!
//! In: the log, the exits of each object, the summary with the paths of its rows. Out: the function's
//! obligations, each with the finding that it becomes if nobody discharges it, and what it does with its callees'.

use std::collections::BTreeSet;

use super::intent::{
    by_name, failure, for_good, goes_both_ways, intent, lost, on_failure, released,
};
use crate::ir::SymbolName;
use crate::judge::by_argument::Tested;
use crate::judge::explanation::{self, Failure, What, another_object, callee};
use crate::judge::findings::{self, About, Findings, possible_unchanged};
use crate::judge::obligation::{
    Ambiguous, Conditional, HandOver, Intent, Kind, Obligation, Obligations, Place, Use,
};
use crate::property::{Event, Machine, Role, StateId, Target};
use crate::sat::oracle::Oracle;
use crate::summary::convert::Converter;
use crate::summary::infer::{Exit, Exits, Inferred};
use crate::summary::{Summary, trace};
use crate::symbolic::arena::Arena;
use crate::symbolic::class::Class;
use crate::symbolic::execution::Execution;
use crate::symbolic::guard::Guard;
use crate::symbolic::log::OpEvent;
use crate::symbolic::state::{Object, Status};

/// A function that has been executed and summarised.
pub struct Finished<'f> {
    pub exit: &'f Exit<'f>,
    pub inferred: &'f Inferred,
    pub findings: &'f Findings<'f>,
}

/// Collects a function's obligations of the objects that leave it so.
pub fn obligations(
    execution: &Execution,
    oracle: &mut Oracle<'_>,
    finished: &Finished<'_>,
    exits: &[Exits],
) -> Obligations {
    let findings = finished.findings;
    let Inferred { summary, row_paths } = finished.inferred;
    let mut obligations = Obligations::default();
    // What follows from a mistake that is reported is not another; but one that shows only where the caller holds
    // the object may be that nobody does.
    let mut about = findings.about.iter();
    let counting = about.all(|about| about.held_on_entry || about.is_conditional());
    for object in exits {
        // What a record leads to that is passed by value: who uses the function knows.
        let region = object.object.loc.region;
        let way = oracle.way_to(region);
        let given = way
            .last()
            .is_some_and(|step| oracle.given_records.contains(&step.0));
        let unnameable = oracle.regions.is_local(region) || given;
        let failed = findings.has_failed(object.object);
        let instead_of = findings.of_held_on_entry(object.object);
        let contested = findings.of_contested(object.object);
        if !counting || unnameable || failed && instead_of.is_none() && contested.is_none() {
            continue;
        }
        if !failed || contested.is_some() {
            let kept = kept(execution, oracle, finished, object).into_iter();
            let kept = kept.map(|obligation| Obligation {
                contested,
                ..obligation
            });
            obligations.own.extend(kept);
        }
        let needed = needed(execution, oracle, finished, object);
        obligations.own.extend(needed.map(|obligation| Obligation {
            instead_of,
            contested,
            ..obligation
        }));
    }
    obligations.hands_over = hands_over(oracle, exits, summary, row_paths);
    uses(
        execution,
        oracle,
        exits,
        summary,
        row_paths,
        &mut obligations,
    );
    obligations.calls = execution.called.clone();
    obligations.handed_out = execution.handed_out.clone();
    obligations.ambiguous = ambiguous(oracle, finished, exits);
    let about = (0..).zip(&findings.about);
    let conditional = about.filter(|(_, about)| !about.rests_on.is_empty());
    obligations.conditional = conditional
        .map(|(finding, about)| Conditional {
            finding,
            on: about.rests_on.clone(),
        })
        .collect();
    obligations.raised = raised(execution, oracle, summary, row_paths);
    obligations
}

/// The objects that the function leaves in another state than it finds them in, be there a name for them or not.
fn hands_over(
    arena: &mut Arena<'_>,
    exits: &[Exits],
    summary: &Summary,
    rows: &[(Object, Guard)],
) -> BTreeSet<HandOver> {
    let mut all = BTreeSet::new();
    for (index, object) in (0..).zip(&summary.objects) {
        let rows = summary.rows.iter().filter(|row| row.object == index);
        let moves: Vec<_> = rows.map(|row| (row.from, &row.to)).collect();
        if let Some(class) = &object.class
            && let Some(machine) = arena.machine(&object.machine)
        {
            let machine = arena.machine_at(machine);
            all.extend(halves(machine, &moves, class));
        }
    }
    for exits in exits {
        let object = exits.object;
        let has_row = rows.iter().any(|(other, _)| *other == object);
        if has_row || arena.regions.is_local(object.loc.region) {
            continue;
        }
        let machine = arena.machine_of(object);
        let moves = exits.moves.iter();
        let moves: Vec<_> = moves.map(|entry| (entry.from, &entry.to)).collect();
        let mut moved = moves.iter();
        if moved.any(|&(from, to)| *to != Target::State(from))
            && let Some(class) = arena.class_of(object.loc)
        {
            all.extend(halves(machine, &moves, &class));
        }
    }
    all
}

/// The halves of a hand-over that an object's moves are.
fn halves(machine: &Machine, moves: &[(StateId, &Target)], class: &Class) -> BTreeSet<HandOver> {
    let halves = moves.iter().filter_map(|&(from, to)| {
        let kind = half(machine, from, to)?;
        Some(HandOver {
            kind,
            class: class.clone(),
            at_times: moves.contains(&(from, &Target::State(from))),
        })
    });
    halves.collect()
}

/// Which half of a hand-over a move is.
pub(super) fn half(machine: &Machine, from: StateId, to: &Target) -> Option<Kind> {
    let Target::State(to) = *to else { return None };
    let is_held = |state| machine.role(state) == Role::Held;
    match (is_held(from), is_held(to)) {
        (false, true) if from == machine.initial => Some(Kind::Held),
        (true, false) if to == machine.initial => Some(Kind::Required),
        _ => None,
    }
}

/// What the findings are about that other functions may explain.
fn ambiguous(arena: &mut Arena<'_>, finished: &Finished<'_>, exits: &[Exits]) -> Vec<Ambiguous> {
    let findings = finished.findings;
    let about = (0..).zip(findings.found.iter().zip(&findings.about));
    let about = about.filter_map(|(index, (finding, about))| {
        let About {
            object, contested, ..
        } = *about;
        let machine = arena.machine_of(object);
        let is_of_exits = machine.rule(Event::ExitsDiffer) == Some(&finding.rule);
        let again = machine.is_about_taking(&finding.rule);
        if !is_of_exits && !again && !machine.counts {
            return None;
        }
        Some(Ambiguous {
            finding: index,
            class: arena.class_of(object.loc),
            counts: machine.counts,
            exits: is_of_exits,
            again,
            keeps: contested_places(arena, (finished, index), exits),
            for_release_only: contested == Some(Tested::ForRelease),
        })
    });
    about.collect()
}

/// The rows of the objects that a finding tells to be kept as an argument says, as places.
fn contested_places(
    arena: &mut Arena<'_>,
    (finished, finding): (&Finished<'_>, u32),
    exits: &[Exits],
) -> Vec<Place> {
    let Inferred { summary, row_paths } = finished.inferred;
    let told = finished.findings.contested.iter();
    let told: Vec<Object> = told
        .filter(|(_, other)| *other == finding)
        .map(|(object, _)| *object)
        .collect();
    let rows = (0..).zip(summary.rows.iter().zip(row_paths));
    let rows = rows.filter(|(_, (row, (object, paths)))| {
        let exits = exits.iter().find(|exits| exits.object == *object);
        let own = exits.and_then(|exits| exits.contested);
        row.contested
            && told.contains(object)
            && own.is_some_and(|own| {
                own.from == row.from && !arena.formula.guards.excludes(own.paths, *paths)
            })
    });
    let place = |(index, _)| Place {
        kind: Kind::Held,
        index,
    };
    rows.map(place).collect()
}

/// Where callers find an object that must be held on entry, if they have a name for it.
fn needed_place(summary: &Summary, rows: &[(Object, Guard)], object: Object) -> Option<Place> {
    let row = rows.iter().position(|(other, _)| *other == object)?;
    Some(Place {
        kind: Kind::Required,
        index: summary.rows[row].object,
    })
}

/// The semaphores that the function raises and never lowers.
fn raised(
    execution: &Execution,
    arena: &mut Arena<'_>,
    summary: &Summary,
    rows: &[(Object, Guard)],
) -> BTreeSet<(Class, Option<Place>)> {
    let of_semaphores = |event: &&OpEvent| arena.machine_of(event.object).counts;
    let (mut raised, mut lowered) = (BTreeSet::new(), BTreeSet::new());
    for event in execution.log.ops.iter().filter(of_semaphores) {
        let initial = Status::At(arena.machine_of(event.object).initial);
        if event.takes(initial) {
            lowered.insert(event.object);
        } else if event.to == Some(initial) && event.primitive && event.stack.len() == 1 {
            raised.insert(event.object);
        }
    }
    let raised = raised.difference(&lowered).filter_map(|object| {
        let place = needed_place(summary, rows, *object);
        Some((arena.class_of(object.loc)?, place))
    });
    raised.collect()
}

/// The exits with an object held that was not on entry.
fn kept(
    execution: &Execution,
    oracle: &mut Oracle<'_>,
    finished: &Finished<'_>,
    exits: &Exits,
) -> Vec<Obligation> {
    let Finished {
        exit,
        inferred,
        findings,
    } = finished;
    let (summary, rows) = (&inferred.summary, &inferred.row_paths);
    let mut obligations = Vec::new();
    let machine = oracle.machine_of(exits.object);
    let Some(rule) = machine.rule(Event::Exit).map(str::to_owned) else {
        return obligations;
    };
    let initial = machine.initial;
    let ambient = oracle.is_saved(exits.object.machine);
    let mut exits_kept: Vec<(Option<Place>, StateId, Guard)> = Vec::new();
    for (index, (row, (object, paths))) in summary.rows.iter().zip(rows).enumerate() {
        let Target::State(to) = row.to else { continue };
        let held = machine.rule_in(Event::Exit, to).is_some();
        if *object == exits.object && row.from == initial && held && !row.reported {
            let place = Place {
                kind: Kind::Held,
                index: index as u32,
            };
            exits_kept.push((Some(place), to, *paths));
        }
    }
    let named = rows.iter().any(|(object, _)| *object == exits.object);
    if !named {
        let states = machine.state_ids();
        let states = states.filter(|&state| machine.rule_in(Event::Exit, state).is_some());
        exits_kept.extend(states.map(|to| (None, to, exits.paths(initial, to))));
    }
    let fails = failure(oracle, exit, findings.returns_pointer());
    let both_ways = !ambient && goes_both_ways(exits, machine);
    for (place, to, paths) in exits_kept {
        let failure = Failure {
            object: exits.object,
            what: What::Kept,
            exit: Some(exit.state),
        };
        let all = explanation::uncovered_however_entered(execution, oracle, &failure, paths).paths;
        let usual = explanation::others_as_usual(oracle, exit.state.guard, exits.object, all);
        let unusual = ambient && usual == Guard::FALSE;
        let paths = if unusual { all } else { usual };
        if paths == Guard::FALSE {
            continue;
        }
        let Some(model) = oracle.model(paths) else {
            continue;
        };
        let Some(site) = trace::returns(execution, oracle, &model).cloned() else {
            continue;
        };
        let name = oracle.name_of(exits.object.loc);
        let mut trace = trace::path(execution, oracle, &model, exits.object, paths, None);
        trace.push(trace::return_step(
            oracle,
            &name,
            &site,
            exits.object,
            &Target::State(to),
        ));
        let source = execution.log.ops.iter().rev().find(|event| {
            let moved = event.to == Some(Status::At(to)) && event.from != Status::At(to);
            event.object == exits.object && moved && model.eval_guard(&oracle.formula, event.guard)
        });
        // What a function keeps that is inlined here is its own affair, unless our callers can do something.
        if place.is_none() && source.is_some_and(|event| event.stack.len() > 1) {
            continue;
        }
        let inherited = source.and_then(|event| event.obligation(Kind::Held));
        let on_failure = on_failure(execution, oracle, exits, initial, paths, fails);
        let at = findings::Place::of(&site.site);
        let state = machine.state_text(to).to_string();
        if let Some(finding) = findings.finding(&rule, at, &name, &state, trace) {
            let row = place.map(|place| &summary.rows[place.index as usize]);
            let told = row.is_some_and(|row| row.outcond.iter().any(Option::is_some));
            obligations.push(Obligation {
                kind: Kind::Held,
                place,
                classes: Converter::new(exit).classes(oracle, exits.object.loc),
                inherited,
                on_failure,
                both_halves: on_failure,
                intent: match both_ways {
                    true => Intent::Meant,
                    false => intent(execution, oracle, exit, exits, told),
                },
                by_name: by_name(machine, Kind::Held, findings.function_name()),
                given_back_otherwise: told && released(execution, exits.object, initial),
                perhaps_discharged: callee::perhaps_given_back_by_callee(
                    execution,
                    oracle,
                    exits.object,
                    paths,
                ) || !possible_unchanged(execution, oracle, paths),
                unusual,
                ambient,
                lost: ambient
                    && !findings.returns_record()
                    && lost(execution, oracle, exit, exits.object, initial, paths),
                for_good: ambient && for_good(execution, oracle, exits.object, initial),
                instead_of: None,
                contested: None,
                finding,
            });
        }
    }
    obligations
}

/// The objects that the function gives back and has not taken.
fn needed(
    execution: &Execution,
    oracle: &mut Oracle<'_>,
    finished: &Finished<'_>,
    exits: &Exits,
) -> Option<Obligation> {
    let Finished {
        exit,
        inferred,
        findings,
    } = finished;
    let machine = oracle.machine_of(exits.object);
    let rule = machine.rule_in(Event::Release, machine.initial)?.to_owned();
    let initial = machine.initial;
    let given_back = exits
        .moves
        .iter()
        .any(|entry| entry.from != initial && entry.to == Target::State(initial));
    if !given_back {
        return None;
    }
    let perhaps_discharged = moved_by_callee(execution, exits.object, |from, to| {
        from == initial && to != initial
    });
    let place = needed_place(&inferred.summary, &inferred.row_paths, exits.object);
    let mut own = execution.log.ops.iter().filter(|event| event.primitive);
    let takes = own.any(|event| event.object == exits.object && event.takes(Status::At(initial)));
    let failure = Failure {
        object: exits.object,
        what: What::Unheld,
        exit: Some(exit.state),
    };
    for index in 0..execution.log.ops.len() {
        let event = &execution.log.ops[index];
        let release = event.object == exits.object
            && event.from == Status::At(initial)
            && event.to.is_none()
            && event.rule.is_some();
        if !release {
            continue;
        }
        let untouched = oracle.formula.guards.and_not(event.guard, event.touched);
        let untouched = explanation::uncovered(execution, oracle, &failure, untouched).paths;
        if untouched == Guard::FALSE {
            continue;
        }
        let Some(model) = oracle.model(untouched) else {
            continue;
        };
        let perhaps_discharged =
            perhaps_discharged || execution.perhaps_moved_unnamed(oracle, exits.object, untouched);
        let event = &execution.log.ops[index];
        let (name, inherited) = (event.name.clone(), event.obligation(Kind::Required));
        let at = findings::Place::of(event.stack.first()?);
        let trace = trace::path(
            execution,
            oracle,
            &model,
            exits.object,
            untouched,
            Some(index),
        );
        let state = machine.state_text(initial).to_string();
        return Some(Obligation {
            kind: Kind::Required,
            place,
            classes: Converter::new(exit).classes(oracle, exits.object.loc),
            inherited,
            on_failure: false,
            both_halves: takes,
            intent: match goes_both_ways(exits, machine) {
                true => Intent::Meant,
                false => Intent::Nothing,
            },
            by_name: by_name(machine, Kind::Required, findings.function_name()),
            given_back_otherwise: false,
            perhaps_discharged: perhaps_discharged
                || !possible_unchanged(execution, oracle, untouched),
            unusual: false,
            ambient: false,
            for_good: false,
            lost: false,
            instead_of: None,
            contested: None,
            finding: findings.finding(&rule, at, &name, &state, trace)?,
        });
    }
    None
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

/// What becomes of callees' obligations.
fn uses(
    execution: &Execution,
    arena: &mut Arena<'_>,
    exits: &[Exits],
    summary: &Summary,
    rows: &[(Object, Guard)],
    obligations: &mut Obligations,
) {
    for index in 0..execution.log.ops.len() {
        let event = execution.log.ops[index].clone();
        // On paths that are cut off nothing is said of what follows.
        if !exits.iter().any(|exit| exit.object == event.object) {
            continue;
        }
        let initial = Status::At(arena.machine_of(event.object).initial);
        let kept = event.takes(initial);
        let needed = event.gives_back(initial);
        let undischarged = event.from == initial && event.to.is_none();
        if kept && let Some(obligation) = event.obligation(Kind::Held) {
            // What it took after it had given it up is its caller's again.
            let entries = arena.entry_state(event.object);
            let entered = entries.guard_of(initial);
            let mut found = arena.formula.guards.excludes(event.guard, entered);
            if found {
                obligations
                    .uses
                    .insert((obligation.clone(), Use::Discharged));
            }
            for later in &execution.log.ops[index + 1..] {
                let released = later.object == event.object
                    && later.to == Some(initial)
                    && Some(later.from) == event.to;
                if released && !arena.formula.guards.excludes(event.guard, later.guard) {
                    obligations
                        .uses
                        .insert((obligation.clone(), Use::Discharged));
                    found = true;
                    break;
                }
            }
            for (at, (row, (object, paths))) in summary.rows.iter().zip(rows).enumerate() {
                let held = *object == event.object
                    && Status::At(row.from) == initial
                    && matches!(row.to, Target::State(to) if Status::At(to) != initial);
                if held && !arena.formula.guards.excludes(event.guard, *paths) {
                    let place = Place {
                        kind: Kind::Held,
                        index: at as u32,
                    };
                    obligations
                        .uses
                        .insert((obligation.clone(), Use::PassedOn(place)));
                    found = true;
                }
            }
            if !found && !arena.regions.is_local(event.object.loc.region) {
                obligations.uses.insert((obligation, Use::Left));
            }
        } else if (needed || undischarged)
            && let Some(obligation) = event.obligation(Kind::Required)
        {
            let untouched = arena.formula.guards.and_not(event.guard, event.touched);
            let machine = arena.machine_of(event.object);
            let taken =
                another_object::taken_as_another(execution, arena, event.object, machine.initial);
            let taken = arena.formula.guards.and(untouched, taken);
            let touched = event.touched != Guard::FALSE;
            if needed && touched || taken != Guard::FALSE {
                obligations
                    .uses
                    .insert((obligation.clone(), Use::Discharged));
            } else if touched {
                // It has given the object back already.
                obligations.uses.insert((obligation.clone(), Use::Left));
            }
            if untouched != Guard::FALSE {
                let usage = match needed_place(summary, rows, event.object) {
                    Some(place) => Use::PassedOn(place),
                    None if !machine.counts => Use::Unnamed,
                    None => continue,
                };
                obligations.uses.insert((obligation, usage));
            }
        }
    }
}

impl OpEvent {
    /// The callee's obligation that this operation is, if it is one of a callee's.
    pub(in crate::judge) fn obligation(
        &self,
        kind: Kind,
    ) -> Option<crate::judge::obligation::CalleeObligation> {
        let source = self.source.as_ref()?;
        let index = match kind {
            Kind::Held => source.row,
            Kind::Required => source.object,
        };
        Some((SymbolName::clone(&source.callee), Place { kind, index }))
    }
}
