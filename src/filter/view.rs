//! One function as the filters see it: the locations that its branches lead to, and its checks, each with the guard under which
//! it is reached and fails. An assertion that fails ends the execution (ACSpec §2.1): no check behind it fails.
//!
//! In: a frozen execution, its oracle, the body for what stands in each block, and failures at the exit. Out: a [`View`].

use rustc_hash::FxHashSet;

use super::checks::{
    failing_callees, given, made, of_assertion, of_operation, of_use, operated_on_what_is_there,
};
use super::locations::Locations;
use super::machine;
use crate::ir::Body;
use crate::sat::oracle::{Oracle, OutOfBudget};
use crate::symbolic::arena::Arena;
use crate::symbolic::execution::Execution;
use crate::symbolic::guard::{Cond, Guard};
use crate::symbolic::log::{Followed, Site, UseEvent};
use crate::symbolic::state::Object;
use crate::symbolic::term::Term;

/// Nodes of a guard beyond which a function is not filtered.
const MAX_GUARD: usize = 4_000;
/// Operations, and accesses, of a function that is looked at as a whole.
const MAX_SMALL: usize = 40;
/// Checks and places of one function that are looked at.
const MAX_EVENTS: usize = 2_000;

/// What is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Event {
    /// An access of the log by its number: the pointer is not null.
    Use(usize),
    /// An operation of the log, by the number of its first row: it is allowed in the object's state.
    Operation(usize),
    /// An assertion of the user's, by its number in the log.
    Assertion(usize),
    /// Something that is so when the function returns, by its number among those handed in.
    Exit(usize),
}

/// A check, which fails on some paths.
#[derive(Clone, Debug)]
pub struct Check {
    pub event: Event,
    /// The last row of the log that belongs to it, and one.
    pub end: usize,
    pub site: Site,
    pub text: String,
    pub fails: Guard,
    /// Those among these paths that end with the failure.
    pub ends: Guard,
    /// Where it fails, be there earlier failures on the way or not.
    pub alone: Guard,
    /// The conditions that the check itself asks for, not the branches that lead to it.
    pub asserted: Vec<Cond>,
    /// What an access has in common with the others that its statement makes.
    pub followed: Vec<Followed>,
    /// The conditions that there is an object that is lost: no specification says that there is none.
    pub exists: Vec<Cond>,
}

/// Where a branch of the source leads.
#[derive(Clone, Debug)]
pub struct Location {
    pub site: Site,
    pub side: Side,
    /// Where it is reached. If an earlier failure always ends the execution before, all of where it would be without: what comes after such a failure is code
    /// that the programmer means to be reached, too.
    pub reach: Guard,
    /// No specification is to make it dead: the branch says itself that a pointer is null, or the user says so.
    pub angelic: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Side {
    /// The condition holds.
    Then,
    /// It does not.
    Else,
    /// A case of a `switch`, by its block.
    Case(u32),
    /// The pointer that is compared with null is null.
    Null,
    /// The function's beginning.
    Start,
    /// What an angelic assertion of the user's asks for does not hold.
    Asserted,
}

/// A failure at the function's end: an object that is lost.
#[derive(Clone, Debug)]
pub struct AtExit {
    pub site: Site,
    pub text: String,
    pub paths: Guard,
    pub object: Object,
}

/// Which checks a view has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope<'e> {
    /// All accesses and operations.
    All,
    /// Those by pointers that the function compares with null, or that may be null for what is known of libraries, and all operations; in a
    /// large function only those about the same objects as these events, and about the pointers that their statements follow.
    Around(&'e [Event]),
}

/// What the checks of a view are about.
struct About {
    /// `None`: everything.
    pointers: Option<FxHashSet<Option<Term>>>,
    objects: Option<FxHashSet<Object>>,
}

impl About {
    fn of(execution: &Execution, scope: Scope<'_>) -> About {
        let log = &execution.log;
        let small = log.ops.len() <= MAX_SMALL && log.uses.len() <= MAX_SMALL;
        let events = match scope {
            Scope::Around(events) if !small => events,
            _ => {
                return About {
                    pointers: None,
                    objects: None,
                };
            }
        };
        // The other pointers that an address may be, and those that it is in other rounds of a loop, are followed by the same statement: a
        // specification that speaks of one of them alone would leave code alive that is come to by the others only.
        let asked = events.iter().filter_map(|event| match event {
            Event::Use(index) => log.uses.get(*index),
            _ => None,
        });
        let asked: FxHashSet<(Followed, Option<&Site>)> =
            asked.flat_map(UseEvent::statement).collect();
        let of_statements = log.uses.iter();
        let of_statements =
            of_statements.filter(|event| event.statement().any(|it| asked.contains(&it)));
        let pointers = of_statements.map(|event| event.base);
        let objects = events.iter().filter_map(|event| match event {
            Event::Operation(index) => Some(log.ops.get(*index)?.object),
            _ => None,
        });
        About {
            pointers: Some(pointers.collect()),
            objects: Some(objects.collect()),
        }
    }

    fn has_pointer(&self, base: Option<Term>) -> bool {
        let pointers = self.pointers.as_ref();
        pointers.is_none_or(|pointers| pointers.contains(&base))
    }

    fn has_object(&self, object: Object) -> bool {
        let objects = self.objects.as_ref();
        objects.is_none_or(|objects| objects.contains(&object))
    }
}

pub struct View {
    /// In the order of the source.
    pub locations: Vec<Location>,
    /// In the order of the execution.
    pub checks: Vec<Check>,
    /// What holds of all inputs.
    pub axioms: Guard,
    /// Conditions that no specification speaks of: a library's function may fail, and another one is known never to return null.
    pub facts: FxHashSet<Cond>,
    /// The paths on which the function returns.
    pub returns: Guard,
    /// What fails earlier was taken off. In a large function it is not, and each failure is looked at by itself.
    pub in_order: bool,
}

/// Where in the log something lies: operations and branches before it, and what comes first between the same two.
pub type Position = (usize, usize, u8);
pub const OF_USE: u8 = 0;
pub const OF_BRANCH: u8 = 1;
pub const OF_OPERATION: u8 = 2;

/// A place that is reached, or a check, before what fails earlier is taken off.
pub enum Part {
    Location(usize, Guard),
    Check(Check),
}

impl View {
    pub fn of(
        body: &Body,
        execution: &Execution,
        oracle: &mut Oracle<'_>,
        at_exit: &[AtExit],
        scope: Scope<'_>,
    ) -> Result<View, OutOfBudget> {
        let mut locations = Locations::default();
        let mut parts: Vec<(Position, Part)> = Vec::new();
        locations.add(body, execution, oracle, &mut parts);
        let about = About::of(execution, scope);
        let (operations, congruent) =
            machine::operations(execution, oracle, &|event| about.has_object(event.object));
        let there = operated_on_what_is_there(&operations, oracle);
        let axioms = oracle.formula.guards.and(congruent, there);
        for operation in operations {
            parts.extend(of_operation(execution, oracle, operation));
        }
        let mut facts = oracle.never_null.clone();
        facts.extend(beyond_range(oracle));
        for (index, event) in execution.log.uses.iter().enumerate() {
            if about.has_pointer(event.base) {
                parts.extend(of_use(oracle, index, event, scope, &mut facts));
            }
        }
        for (index, event) in execution.log.user_assertions.iter().enumerate() {
            parts.extend(of_assertion(index, event));
        }
        for (index, failure) in at_exit.iter().enumerate() {
            // An object that is made only where another callee has failed is made nowhere by a specification that excludes that.
            let made_on = made(execution, failure).map_or(Guard::TRUE, |event| event.guard);
            let before = oracle.formula.guards.support(made_on);
            let failing = failing_callees(oracle, failure.paths).into_iter();
            facts.extend(failing.filter(|condition| !before.contains(condition)));
            let check = Check {
                event: Event::Exit(index),
                end: index + 1,
                site: failure.site.clone(),
                text: failure.text.clone(),
                fails: failure.paths,
                ends: failure.paths,
                alone: failure.paths,
                asserted: Vec::new(),
                followed: Vec::new(),
                exists: given(execution, oracle, failure),
            };
            parts.push(((usize::MAX, usize::MAX, 0), Part::Check(check)));
        }
        if parts.len() > MAX_EVENTS {
            return Err(OutOfBudget);
        }
        parts.sort_by_key(|(position, _)| *position);
        let mut view = View {
            locations: locations.found,
            checks: Vec::new(),
            axioms,
            facts,
            returns: execution
                .exit
                .as_ref()
                .map_or(Guard::FALSE, |exit| exit.guard),
            in_order: false,
        };
        view.in_order = view.run(oracle, parts).is_ok();
        Ok(view)
    }

    /// Takes in the locations and checks, and takes off what comes after a failure.
    fn run(
        &mut self,
        oracle: &mut Oracle<'_>,
        parts: Vec<(Position, Part)>,
    ) -> Result<(), OutOfBudget> {
        // The conditions under which nothing has failed yet; unknown once they have grown too large.
        let mut going_on = Some(Guard::TRUE);
        let mut without_failure = vec![Some(Guard::FALSE); self.locations.len()];
        for (_, part) in parts {
            let guards = &mut oracle.formula.guards;
            match part {
                Part::Location(index, guard) => {
                    let location = &mut self.locations[index];
                    location.reach = guards.or(location.reach, guard);
                    let before = &mut without_failure[index];
                    let here = going_on.and_then(|on| guards.try_and(guard, on, MAX_GUARD));
                    *before = before.and_then(|before| guards.try_or(before, here?, MAX_GUARD));
                }
                Part::Check(mut check) => {
                    let fails = going_on
                        .and_then(|before| guards.try_and(check.fails, before, MAX_GUARD))
                        .and_then(|fails| guards.try_and(fails, self.axioms, MAX_GUARD));
                    check.fails = fails.unwrap_or_default();
                    going_on = going_on.filter(|_| fails.is_some());
                    going_on = going_on.and_then(|before| {
                        guards.try_and(before, guards.not(check.ends), MAX_GUARD)
                    });
                    if check.alone != Guard::FALSE {
                        self.checks.push(check);
                    }
                }
            }
        }
        for (location, before) in self.locations.iter_mut().zip(without_failure) {
            location.reach = match before {
                Some(before) if oracle.possible(before) => before,
                _ => location.reach,
            };
        }
        going_on.map(|_| ()).ok_or(OutOfBudget)
    }

    /// The paths on which a check fails: after what comes before it held, unless each failure is looked at by itself.
    pub fn failing(&self, check: &Check) -> Guard {
        match self.in_order {
            true => check.fails,
            false => check.alone,
        }
    }

    /// The check that a row of the log, or an access, belongs to.
    pub fn check(&self, event: Event) -> Option<usize> {
        self.checks
            .iter()
            .position(|check| match (check.event, event) {
                (Event::Operation(first), Event::Operation(row)) => {
                    (first..check.end).contains(&row)
                }
                (known, asked) => known == asked,
            })
    }
}

/// The conditions that a result lies beyond the bounds of what its function returns.
fn beyond_range(arena: &Arena<'_>) -> Vec<Cond> {
    let formula = &arena.formula;
    let comparisons = arena.out_of_range.iter();
    let paths = comparisons.filter_map(|&comparison| formula.known_guard(comparison));
    let literals = paths.filter_map(|paths| formula.guards.as_literal(paths));
    literals.map(|(condition, _)| condition).collect()
}
