//! What a finished execution says about obligations ([`crate::judge::obligation`]).
//!
//! In: the log, the exits of each object, the summary with the paths of its rows. Out: the function's
//! obligations, each with the finding that it becomes if nobody discharges it, and what it does with its callees'.

use std::collections::BTreeSet;

use super::intent::by_name;
use super::{held, required, uses};
use crate::finding::Finding;
use crate::ir::SymbolName;
use crate::judge::by_argument::Tested;
use crate::judge::explanation::{self, Left, What, gives_back};
use crate::judge::findings::Findings;
use crate::judge::obligation::{
    Ambiguous, Conditional, HandOver, Kind, Obligation, Obligations, Place,
};
use crate::property::{Event, Machine, Role, StateId, Target};
use crate::sat::oracle::Oracle;
use crate::summary::Summary;
use crate::summary::infer::{Exit, Exits, Inferred};
use crate::symbolic::arena::Arena;
use crate::symbolic::class::Class;
use crate::symbolic::execution::Execution;
use crate::symbolic::guard::Guard;
use crate::symbolic::log::OpEvent;
use crate::symbolic::region::Loc;
use crate::symbolic::state::{Object, Status};

/// A function that has been executed and summarised.
#[derive(Clone, Copy)]
pub struct Finished<'f> {
    pub exit: &'f Exit<'f>,
    pub inferred: &'f Inferred,
    pub findings: &'f Findings<'f>,
    /// The findings, by their numbers, that an obligation may follow from.
    pub after: &'f [u32],
}

impl Finished<'_> {
    /// Adds to an obligation's finding what makes it less than certain, if there are others that it may follow from: a function
    /// that was taken for wrong in one way may be misunderstood in others.
    pub(super) fn explain(
        &self,
        execution: &Execution,
        oracle: &mut Oracle<'_>,
        (object, what, paths): (Object, What, Guard),
        finding: &mut Finding,
    ) {
        if !self.after.is_empty() {
            let left = Left {
                object,
                what,
                paths,
                other: None,
            };
            let readings = explanation::readings(execution, oracle, &left, self.findings.body);
            readings.iter().for_each(|kind| finding.explain_by(*kind));
        }
    }
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
    let about = (0..).zip(&findings.about);
    let mistakes = about.filter(|(_, about)| !about.held_on_entry && !about.is_conditional());
    let after: Vec<u32> = mistakes.map(|(finding, _)| finding).collect();
    let mut locs = Vec::new();
    for object in exits {
        // What a record leads to that is passed by value: who uses the function knows.
        let region = object.object.loc.region;
        let way = oracle.access_path(region);
        let given = way
            .last()
            .is_some_and(|step| oracle.given_records.contains(&step.0));
        let unnameable = oracle.regions.is_local(region) || given;
        let failed = findings.has_failed(object.object);
        let instead_of = findings.of_held_on_entry(object.object);
        let contested = findings.of_contested(object.object);
        let by_operation = failed && findings.has_failing_operation_on(oracle, object.object);
        let told = instead_of.is_some() || contested.is_some() || by_operation;
        if unnameable || failed && !told {
            continue;
        }
        let finished = Finished {
            after: &after,
            ..*finished
        };
        if !failed || contested.is_some() || by_operation && instead_of.is_none() {
            let held = held::held(execution, oracle, &finished, object).into_iter();
            obligations.own.extend(held.map(|obligation| Obligation {
                contested,
                ..obligation
            }));
        }
        let required = required::required(execution, oracle, &finished, object);
        obligations
            .own
            .extend(required.map(|obligation| Obligation {
                instead_of,
                contested,
                ..obligation
            }));
        locs.resize(obligations.own.len(), object.object.loc);
    }
    mark_exchanged(&mut obligations.own, &locs);
    obligations.hands_over = hands_over(execution, oracle, exits, finished.inferred);
    obligations.gives_back = given_back(execution, oracle, exits);
    obligations.uses = uses::uses(execution, oracle, Some((finished, exits)));
    obligations.calls = execution.called.clone();
    obligations.handed_out = execution.handed_out.clone();
    obligations.ambiguous = ambiguous(execution, oracle, finished, exits);
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

/// What a function that never returns does with its callees' obligations: it has none of its own.
pub fn without_exit(execution: &Execution, oracle: &mut Oracle<'_>) -> Obligations {
    Obligations {
        uses: uses::uses(execution, oracle, None),
        calls: execution.called.clone(),
        handed_out: execution.handed_out.clone(),
        ..Obligations::default()
    }
}

/// Marks the obligations for members of a record of which another member is left the other way round. `locs`: where their objects lie.
fn mark_exchanged(obligations: &mut [Obligation], locs: &[Loc]) {
    let kinds: Vec<Kind> = obligations.iter().map(|own| own.kind).collect();
    for (index, obligation) in obligations.iter_mut().enumerate() {
        let (kind, loc) = (obligation.kind, locs[index]);
        let mut others = kinds.iter().zip(locs);
        obligation.exchanged = others.any(|(other, there)| {
            *other == kind.other_half() && there.region == loc.region && *there != loc
        });
    }
}

/// The objects that the function leaves in another state than it finds them in, be there a name for them or not.
fn hands_over(
    execution: &Execution,
    arena: &mut Arena<'_>,
    exits: &[Exits],
    inferred: &Inferred,
) -> BTreeSet<HandOver> {
    let Inferred { summary, row_paths } = inferred;
    let mut all = BTreeSet::new();
    let only = summary.does_nothing_else() && execution.calls_nothing_else();
    for (index, object) in (0..).zip(&summary.objects) {
        let rows = summary.rows.iter().filter(|row| row.object == index);
        let moves: Vec<_> = rows.map(|row| (row.from, &row.to)).collect();
        if let Some(class) = &object.class
            && let Some(machine) = arena.machine(&object.machine)
        {
            let machine = arena.machine_at(machine);
            all.extend(halves(machine, &moves, class, only));
        }
    }
    for exits in exits {
        let object = exits.object;
        let has_row = row_paths.iter().any(|(other, _)| *other == object);
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
            all.extend(halves(machine, &moves, &class, false));
        }
    }
    all
}

/// The classes of the objects that the function itself takes, and gives back on all its ways out.
fn given_back(execution: &Execution, arena: &mut Arena<'_>, exits: &[Exits]) -> BTreeSet<Class> {
    let mut all = BTreeSet::new();
    for exits in exits {
        let initial = arena.machine_of(exits.object).initial;
        let mut own = execution.log.ops.iter().filter(|event| event.primitive);
        let takes =
            own.any(|event| event.object == exits.object && event.takes(Status::At(initial)));
        let mut entered_free = exits.moves.iter().filter(|entry| entry.from == initial);
        if takes && entered_free.all(|entry| entry.to == Target::State(initial)) {
            all.extend(arena.class_of(exits.object.loc));
        }
    }
    all
}

/// The halves of a hand-over that an object's moves are.
fn halves(
    machine: &Machine,
    moves: &[(StateId, &Target)],
    class: &Class,
    only: bool,
) -> BTreeSet<HandOver> {
    let halves = moves.iter().filter_map(|&(from, to)| {
        let kind = half(machine, from, to)?;
        let at_times = moves.contains(&(from, &Target::State(from)));
        Some(HandOver {
            kind,
            class: class.clone(),
            at_times,
            only,
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
fn ambiguous(
    execution: &Execution,
    arena: &mut Arena<'_>,
    finished: &Finished<'_>,
    exits: &[Exits],
) -> Vec<Ambiguous> {
    let findings = finished.findings;
    let about = (0..).zip(findings.found.iter().zip(&findings.about));
    let about = about.filter_map(|(index, (finding, about))| {
        let (object, contested) = (about.object, about.contested);
        let machine = arena.machine_of(object);
        let is_of_exits = machine.rule(Event::ExitsDiffer) == Some(&finding.rule);
        let again = machine.is_about_taking(&finding.rule);
        if !is_of_exits && !again && !machine.counts {
            return None;
        }
        let one_half = is_of_exits && !about.held_on_entry && !gives_back(execution, arena, object);
        let name = findings.function_name();
        Some(Ambiguous {
            finding: index,
            one_half: one_half.then(|| by_name(machine, Kind::Held, name)),
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
pub(super) fn needed_place(
    summary: &Summary,
    rows: &[(Object, Guard)],
    object: Object,
) -> Option<Place> {
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
