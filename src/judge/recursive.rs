//! What a finished execution says about recursive objects, which their own holder may take again.
//!
//! In: the initialisations in the log, the function's findings about objects that are taken while they are held. Out: what the
//! function initialises as what, for [`crate::settle::recursive`], which decides which of those findings are none.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::findings::Findings;
use crate::finding::Finding;
use crate::property::Event;
use crate::summary::Summary;
use crate::summary::convert::Converter;
use crate::summary::handles::pointers_left;
use crate::summary::infer::Exit;
use crate::symbolic::arena::Arena;
use crate::symbolic::class::Class;
use crate::symbolic::execution::Execution;
use crate::symbolic::guard::Guard;
use crate::symbolic::log::InitEvent;
use crate::symbolic::region::{Loc, RegionId};
use crate::symbolic::state::Object;

/// What an object is initialised as.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Kind {
    Plain,
    Recursive,
    /// As an attribute of one of these classes says.
    As(Vec<Class>),
    Unknown,
}

/// A function initialises an object.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Initialised {
    /// Those that tell most first. None for an object that is known by a variable only.
    pub classes: Vec<Class>,
    pub kind: Kind,
    /// The function's callers know more of it.
    pub handed_on: bool,
    /// File and line of the call.
    pub place: (String, u32),
}

/// A function's finding about an object that is taken while it is held.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Again {
    /// Index into the function's findings.
    pub finding: u32,
    pub classes: Vec<Class>,
    /// The object is the function's own, initialised as this.
    pub own: Option<BTreeSet<Initialised>>,
    /// It comes from a function of which nothing is known, and a callee takes it again.
    pub foreign: bool,
}

/// A function's part in the question which objects are recursive.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recursion {
    pub initialised: BTreeSet<Initialised>,
    pub again: Vec<Again>,
}

impl Recursion {
    /// Whether callers know more of what the function initialises.
    pub fn hands_on(&self) -> bool {
        self.initialised.iter().any(|one| one.handed_on)
    }

    /// Of a function of which nothing is known but that it initialises objects.
    pub fn unknown(place: (String, u32)) -> Recursion {
        let initialised = Initialised {
            classes: Vec::new(),
            kind: Kind::Unknown,
            handed_on: false,
            place,
        };
        Recursion {
            initialised: BTreeSet::from([initialised]),
            again: Vec::new(),
        }
    }
}

/// Collects a function's part; `exit` is none if it never returns. `summary` is what its callers are told.
pub fn collect(
    execution: &Execution,
    arena: &mut Arena<'_>,
    exit: Option<&Exit<'_>>,
    findings: &Findings<'_>,
    summary: &Summary,
) -> Recursion {
    let mut converter = exit.map_or_else(Converter::of_entry, Converter::new);
    let mut left = None;
    let events = &execution.log.initialised;
    let mut recursion = Recursion::default();
    for event in events {
        if arena.regions.is_local(event.loc.region) {
            continue;
        }
        let object = converter.object(arena, event.loc);
        let mut handed_on = summary.initialises.iter().map(|other| Some(&other.object));
        let handed_on = object.is_some() && handed_on.any(|other| other == object.as_ref());
        let classes = classes(arena, &converter, exit, &mut left, event.loc);
        recursion
            .initialised
            .extend(initialised(arena, &converter, event, classes, handed_on));
    }
    for (index, (finding, about)) in (0..).zip(findings.found.iter().zip(&findings.about)) {
        let object = about.object;
        if arena.machine_of(object).rule(Event::TakenAgain) != Some(&finding.rule) {
            continue;
        }
        let own = arena.regions.is_local(object.loc.region).then(|| {
            let own = events.iter().filter(|event| event.loc == object.loc);
            own.flat_map(|event| initialised(arena, &converter, event, Vec::new(), false))
                .collect()
        });
        recursion.again.push(Again {
            finding: index,
            classes: classes(arena, &converter, exit, &mut left, object.loc),
            own,
            foreign: is_foreign(execution, arena, object, finding),
        });
    }
    recursion
}

/// Where the function leaves pointers to a region.
type PointersTo = FxHashMap<RegionId, Vec<Loc>>;

fn pointers_to(arena: &mut Arena<'_>, exit: &Exit<'_>) -> PointersTo {
    let mut pointers = PointersTo::default();
    for (place, pointer) in pointers_left(arena, exit.state) {
        let targets = arena.locations(pointer);
        let regions: BTreeSet<RegionId> = targets.iter().map(|(_, to)| to.region).collect();
        for region in regions {
            pointers.entry(region).or_default().push(place);
        }
    }
    pointers
}

/// An object's classes, those that tell most first. Records of one kind are often initialised differently, as the member that points
/// to them wants it: `struct queue.guard->struct guard.mutex`. `left` is worked out when the first object asks for it.
fn classes(
    arena: &mut Arena<'_>,
    converter: &Converter,
    exit: Option<&Exit<'_>>,
    left: &mut Option<PointersTo>,
    loc: Loc,
) -> Vec<Class> {
    let known = converter.classes(arena, loc);
    let Some(member) = arena.class_of(loc).filter(Class::is_members) else {
        return known;
    };
    let mut pointers: Vec<Loc> = arena.read_from(loc.region).into_iter().collect();
    if let Some(exit) = exit {
        let left = left.get_or_insert_with(|| pointers_to(arena, exit));
        pointers.extend(left.get(&loc.region).into_iter().flatten());
    }
    let mut classes = Vec::new();
    for pointer in pointers {
        let class = arena.class_of(pointer);
        classes.extend(class.map(|class| class.pointing_to_record_of(&member)));
    }
    classes.extend(known);
    classes
}

/// What a call initialises an object as, which may be one thing or the other.
fn initialised(
    arena: &mut Arena<'_>,
    converter: &Converter,
    event: &InitEvent,
    classes: Vec<Class>,
    handed_on: bool,
) -> Vec<Initialised> {
    let site = event.stack.first();
    let place = site.map_or_else(Default::default, |site| (site.file.to_string(), site.line));
    let kinds = kinds(arena, converter, event).into_iter();
    kinds
        .map(|kind| Initialised {
            classes: classes.clone(),
            kind,
            handed_on,
            place: place.clone(),
        })
        .collect()
}

fn kinds(arena: &mut Arena<'_>, converter: &Converter, event: &InitEvent) -> BTreeSet<Kind> {
    let Some(recursive) = event.recursive else {
        return BTreeSet::from([Kind::Unknown]);
    };
    let mut kinds = BTreeSet::new();
    let mut rest = event.guard;
    for &(guard, loc) in &event.kept_in {
        if arena.formula.guards.excludes(rest, guard) {
            continue;
        }
        rest = arena.formula.guards.and_not(rest, guard);
        let classes = kept_by(arena, converter, loc);
        kinds.insert(match classes.is_empty() {
            true => Kind::Unknown,
            false => Kind::As(classes),
        });
    }
    let plain = arena.formula.guards.and_not(rest, recursive);
    let recursive = arena.formula.guards.and(rest, recursive);
    match (recursive != Guard::FALSE, plain != Guard::FALSE) {
        (true, true) => kinds.insert(Kind::Unknown),
        (true, false) => kinds.insert(Kind::Recursive),
        (false, true) => kinds.insert(Kind::Plain),
        (false, false) => false,
    };
    kinds
}

/// The classes of an attribute; none of one that is the function's own, of which an unknown function has written the number.
fn kept_by(arena: &mut Arena<'_>, converter: &Converter, loc: Loc) -> Vec<Class> {
    match arena.regions.is_local(loc.region) {
        true => Vec::new(),
        false => converter.classes(arena, loc),
    }
}

/// Whether an object is found by a pointer from a function of which nothing is known, and the finding is about a callee that takes it again.
fn is_foreign(execution: &Execution, arena: &Arena<'_>, object: Object, finding: &Finding) -> bool {
    let way = arena.access_path(object.loc.region);
    let mut bases = way.into_iter().filter_map(|(_, base)| base);
    let unknown = |base| {
        let mut calls = execution.log.unknown_calls.iter();
        calls.any(|call| call.result == Some(base))
    };
    let in_callee = finding.trace.last().is_some_and(|step| step.depth > 0);
    in_callee && bases.any(unknown)
}
