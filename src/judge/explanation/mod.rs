//! One pipeline of explanations: which readings of what the analysis does not know make a failure go away.
//!
//! In: a failure: an object, what is wrong with it ([`What`]), the paths to it. Out: the paths that no explanation covers, with the
//! kinds of those that cover the others ([`uncovered`]); of what is left, the readings under which it is none all the same
//! ([`readings`]). A failure's level follows from their kinds alone ([`Kind::level`](crate::finding::ExplanationKind::level)).

pub mod another_object;
pub mod callee;
mod ended;
pub mod value;
pub mod variable;

use self::callee::Unknown;
use self::ended::{has_ended, is_counted, perhaps_ended_before, written_by_callee};
use crate::finding::ExplanationKind as Kind;
use crate::ir::Body;
use crate::sat::oracle::Oracle;
use crate::summary::infer::Exit;
use crate::symbolic::arena::Arena;
use crate::symbolic::execution::Execution;
use crate::symbolic::guard::Guard;
use crate::symbolic::log::OpEvent;
use crate::symbolic::region::RegionId;
use crate::symbolic::state::{Object, State, Status};

/// What is wrong with an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// An operation of the log fails in a state that the function has put the object into.
    Operation(usize),
    /// The function returns with the object held, which was not on entry.
    Kept,
    /// The function returns with the object free, which was held on entry.
    GivenUp,
    /// The function gives the object back without having taken it.
    Unheld,
    /// A call needs the object held, where it is not.
    Needed,
    /// A call may sleep, where the object is held.
    Asleep,
}

/// A failure, as far as explanations ask.
#[derive(Clone, Copy)]
pub struct Failure<'s> {
    pub object: Object,
    pub what: What,
    /// The state in which the function returns, if it does.
    pub exit: Option<&'s State>,
}

/// Paths to a failure that no explanation covers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Uncovered {
    pub paths: Guard,
    /// What covers other paths to it.
    pub covered_by: Vec<Kind>,
}

impl Uncovered {
    /// Goes on with the paths that one more explanation leaves.
    pub fn but(&mut self, kind: Kind, left: Guard) {
        if left != self.paths {
            self.covered_by.push(kind);
            self.paths = left;
        }
    }
}

/// The paths of `paths` that an explanation does not cover.
type Cover = fn(&Execution, &mut Arena<'_>, &Failure<'_>, Guard) -> Guard;

/// The explanations that cover paths, in the order in which they are asked for.
const COVERS: &[(Kind, Cover)] = &[
    (Kind::AnotherName, under_no_other_name),
    (Kind::TakenByUnknown, not_taken_by_unknown),
    (Kind::LeftWithAnother, not_with_another),
    (Kind::UnknownEffect, known_effect),
    (Kind::OthersHeld, with_others_as_usual),
    // The more conditions the paths depend on, the more comparisons are among them.
    (Kind::FoundEqual, not_found_equal),
];

/// The paths that no explanation covers.
pub fn uncovered(
    execution: &Execution,
    arena: &mut Arena<'_>,
    failure: &Failure<'_>,
    paths: Guard,
) -> Uncovered {
    without(execution, arena, failure, paths, COVERS.iter())
}

/// The paths that no explanation covers, one of them not being asked for.
pub fn uncovered_but(
    execution: &Execution,
    arena: &mut Arena<'_>,
    failure: &Failure<'_>,
    paths: Guard,
    but: Option<Kind>,
) -> Uncovered {
    let covers = COVERS.iter().filter(|(kind, _)| Some(*kind) != but);
    without(execution, arena, failure, paths, covers)
}

/// The paths that no explanation covers, be other objects held on entry or not.
pub fn uncovered_however_entered(
    execution: &Execution,
    arena: &mut Arena<'_>,
    failure: &Failure<'_>,
    paths: Guard,
) -> Uncovered {
    uncovered_but(execution, arena, failure, paths, Some(Kind::OthersHeld))
}

fn without<'c>(
    execution: &Execution,
    arena: &mut Arena<'_>,
    failure: &Failure<'_>,
    paths: Guard,
    covers: impl Iterator<Item = &'c (Kind, Cover)>,
) -> Uncovered {
    let mut left = Uncovered {
        paths,
        covered_by: Vec::new(),
    };
    for (kind, cover) in covers {
        if left.paths == Guard::FALSE {
            break;
        }
        let rest = cover(execution, arena, failure, left.paths);
        left.but(*kind, rest);
    }
    left
}

fn with_others_as_usual(
    _: &Execution,
    arena: &mut Arena<'_>,
    failure: &Failure<'_>,
    paths: Guard,
) -> Guard {
    match failure.what {
        What::Asleep => paths,
        What::Operation(_) | What::Kept | What::GivenUp | What::Unheld | What::Needed => {
            let exit = failure.exit.map_or(Guard::TRUE, |exit| exit.guard);
            others_as_usual(arena, exit, failure.object, paths)
        }
    }
}

fn not_found_equal(
    _: &Execution,
    arena: &mut Arena<'_>,
    failure: &Failure<'_>,
    paths: Guard,
) -> Guard {
    match failure.what {
        // What is left as it is, is left so under both names.
        What::Kept | What::GivenUp => paths,
        What::Operation(_) | What::Unheld | What::Needed | What::Asleep => {
            arena.apart(failure.object, paths)
        }
    }
}

fn under_no_other_name(
    execution: &Execution,
    arena: &mut Arena<'_>,
    failure: &Failure<'_>,
    paths: Guard,
) -> Guard {
    let Failure { object, what, exit } = *failure;
    // A block that the function has made has no name but those that it has given it.
    if arena.is_owned(object.loc.region) {
        return paths;
    }
    let initial = arena.machine_of(object).initial;
    let other = match what {
        What::Operation(event) => another_object::meant_for_another(execution, arena, exit, event),
        What::Kept => another_object::given_back_as_another(execution, arena, object, initial),
        What::GivenUp | What::Unheld => {
            another_object::taken_as_another(execution, arena, object, initial)
        }
        What::Needed | What::Asleep => return paths,
    };
    arena.formula.guards.and_not(paths, other)
}

fn not_taken_by_unknown(
    execution: &Execution,
    arena: &mut Arena<'_>,
    failure: &Failure<'_>,
    paths: Guard,
) -> Guard {
    match failure.what {
        What::GivenUp | What::Unheld => {
            let taken = callee::taken_by_unknown(execution, arena, failure.object, Unknown::Any);
            arena.formula.guards.and_not(paths, taken)
        }
        What::Operation(event) => {
            let object = failure.object;
            let taken = callee::taken_again_by_unknown(execution, arena, object, event);
            arena.formula.guards.and_not(paths, taken)
        }
        What::Kept | What::Needed | What::Asleep => paths,
    }
}

fn not_with_another(
    _: &Execution,
    arena: &mut Arena<'_>,
    failure: &Failure<'_>,
    paths: Guard,
) -> Guard {
    match (failure.what, failure.exit) {
        (What::Kept | What::GivenUp, Some(exit)) => {
            let with = another_object::left_with_another(arena, exit, failure.object);
            arena.formula.guards.and_not(paths, with)
        }
        _ => paths,
    }
}

fn known_effect(
    execution: &Execution,
    arena: &mut Arena<'_>,
    failure: &Failure<'_>,
    paths: Guard,
) -> Guard {
    if has_ended(execution, arena, failure.object, failure.what, paths) {
        return paths;
    }
    let known = execution.with_known_effect(arena, failure.object, paths);
    let object = failure.object;
    let given = match failure.what {
        What::Kept => execution.given_to_unknown(arena, object, None),
        What::Operation(event)
            if execution.log.ops[event].from != Status::At(arena.machine_of(object).initial) =>
        {
            execution.given_to_unknown(arena, object, Some(event))
        }
        _ => return known,
    };
    arena.formula.guards.and_not(known, given)
}

/// The paths on which all other objects are as usual on entry. What is wrong with one only where another was
/// held already has another cause: a callee that cannot be called then. One that is asserted to be held, on
/// all ways out, is usually held.
pub fn others_as_usual(arena: &mut Arena<'_>, exit: Guard, object: Object, paths: Guard) -> Guard {
    if paths == Guard::FALSE {
        return paths;
    }
    let exit = arena.formula.guards.and_not(exit, arena.warned);
    let mut usual: Vec<Guard> = Vec::new();
    for (&other, entered) in arena.entries() {
        let machine = arena.machine_of(other);
        // Interrupts are off or on with the lock that is given back.
        if other != object && machine.saved.is_none() {
            usual.push(entered.guard_of(Status::At(machine.initial)));
        }
    }
    let guards = &mut arena.formula.guards;
    usual.retain(|&usual| !guards.excludes(exit, usual));
    let literals: Vec<_> = usual
        .iter()
        .filter_map(|&usual| guards.as_literal(usual))
        .collect();
    usual.retain(|&usual| guards.as_literal(usual).is_none());
    let literals = guards.cube(&literals);
    let paths = guards.and(paths, literals);
    usual
        .into_iter()
        .fold(paths, |paths, usual| guards.and(paths, usual))
}

/// What is left of a failure: paths that no explanation covers, and a model has been found of.
pub struct Left<'s> {
    pub object: Object,
    pub what: What,
    pub paths: Guard,
    /// Of two ways out that callers cannot tell apart: the other one, with the state at the function's end.
    pub other: Option<(Guard, &'s Exit<'s>)>,
}

/// A reading that leaves the failure possible, but less certain.
type Reading = fn(&Execution, &mut Oracle<'_>, &Left<'_>) -> bool;

/// What makes a failure less than certain, in the order in which it is told.
const READINGS: &[(Kind, Reading)] = &[
    (Kind::OtherHalf, gives_up_only),
    (Kind::PerhapsNew, is_perhaps_new),
    (Kind::CalleeOutcome, depends_on_outcomes),
    (Kind::CalleeOutcome, depends_on_untold),
    (Kind::ResultByChance, has_result_by_chance),
    (Kind::AnotherElement, another_element_given_back),
    (Kind::GivenBackByCallee, perhaps_given_back_by_callee),
    (Kind::UnnamedByCallee, moves_another_unnamed),
    (Kind::AnotherUnknown, another_left_open),
    (Kind::AfterWarning, after_assertion),
    (Kind::ReplacedByCallee, replaced_by_callee),
    (Kind::ReplacedByCallee, written_by_callee),
    (Kind::ReplacedByLink, replaced_by_link),
    (Kind::AnotherMember, is_of_union),
    (Kind::Counted, is_counted),
];

/// The readings under which what is left of a failure in a function's body is none.
pub fn readings(
    execution: &Execution,
    oracle: &mut Oracle<'_>,
    left: &Left<'_>,
    body: &Body,
) -> Vec<Kind> {
    let applies = READINGS
        .iter()
        .filter(|(_, reading)| reading(execution, oracle, left));
    let mut kinds: Vec<Kind> = applies.map(|(kind, _)| *kind).collect();
    kinds.dedup();
    kinds.extend(unlikely_value(execution, oracle, left, body));
    // What callees do to a lock matters up to the failure, since they may take it again. A block that has ended stays so.
    if oracle.machine_of(left.object).watches_accesses() {
        let guards = &mut oracle.formula.guards;
        variable::without_ruled_out(execution, guards, left, (body, &mut kinds));
    }
    kinds
}

/// Whether what is found held is given up: what is kept and never given back is for others to explain
/// ([`crate::settle`]), who may be seen to have the other half or not.
fn gives_up_only(_: &Execution, _: &mut Oracle<'_>, left: &Left<'_>) -> bool {
    left.what == What::GivenUp
}

/// Whether the function gives an object back on some path.
pub fn gives_back(execution: &Execution, arena: &Arena<'_>, object: Object) -> bool {
    let initial = Status::At(arena.machine_of(object).initial);
    let mut events = execution.log.ops.iter();
    events.any(|event| event.object == object && event.gives_back(initial))
}

/// Whether the function has the object from a call: if that has made it, nobody else knows of it yet.
fn is_perhaps_new(_: &Execution, oracle: &mut Oracle<'_>, left: &Left<'_>) -> bool {
    let way = oracle.access_path(left.object.loc.region);
    let mut bases = way.into_iter().filter_map(|(_, base)| base);
    left.what == What::Needed && bases.any(|base| oracle.is_call_result(base))
}

/// Whether it depends on how a callee has ended what becomes of an object: its summary, if it has one, may know less of that
/// than its source.
fn depends_on_outcomes(execution: &Execution, oracle: &mut Oracle<'_>, left: &Left<'_>) -> bool {
    if has_ended(execution, oracle, left.object, left.what, left.paths) {
        return false;
    }
    let other = left.other.map(|(paths, _)| paths);
    let mut ways = [left.paths].into_iter().chain(other);
    ways.any(|paths| callee::decides_outcome(execution, oracle, left.object, paths))
}

/// Whether a block is in the state that it fails in only where a number is one thing and not another which a callee has written without
/// its summary telling it, and for which the function does not ask itself: `if (setup(p)) { close(fd); release(p); }`, where `release`
/// closes `p->fd` if a flag is set that `setup` clears.
fn depends_on_untold(_: &Execution, oracle: &mut Oracle<'_>, left: &Left<'_>) -> bool {
    oracle.machine_of(left.object).watches_accesses() && callee::rests_on_untold(oracle, left.paths)
}

fn has_result_by_chance(_: &Execution, oracle: &mut Oracle<'_>, left: &Left<'_>) -> bool {
    left.other.is_some_and(|(other, exit)| {
        !value::returns_no_failure_by_chance(oracle, exit, [left.paths, other])
    })
}

/// Whether the pointer to a block that fails is read from what a callee may have changed since the block's state was ended: it may
/// have put another pointer there.
fn replaced_by_callee(execution: &Execution, oracle: &mut Oracle<'_>, left: &Left<'_>) -> bool {
    let What::Operation(failing) = left.what else {
        return false;
    };
    if !oracle.machine_of(left.object).watches_accesses() {
        return false;
    }
    let ops = &execution.log.ops;
    let ended = |event: &&OpEvent| event.object == left.object && event.moves();
    let Some(at) = ops[..failing].iter().rposition(|event| ended(&event)) else {
        return false;
    };
    // What else a callee does may come after that; a primitive does nothing else.
    let of_call = |event: &OpEvent| event.call == ops[at].call;
    let since = match ops[at].primitive {
        true => at + 1,
        false => ops.iter().position(of_call).unwrap_or(failing),
    };
    let way = oracle.access_path(left.object.loc.region);
    let containers: Vec<RegionId> = way.iter().skip(1).map(|(region, _)| *region).collect();
    // A callee that got the block and what its pointer was read from may have taken it out there before (`rb_erase(node, root)`), in a loop that
    // comes to another one then. What stands behind the end uses the same pointer. A callee of which nothing is known needs the block alone, which may
    // lead back (`list_del(node)`).
    let place = |event: &OpEvent| event.stack.first().map(|site| (site.line, site.column));
    let comes_again = place(&ops[failing]) <= place(&ops[at]);
    let disturbed = &execution.log.disturbed;
    let block = left.object.loc.region;
    let got_block = |call: u32| {
        let mut events = disturbed.iter();
        events.any(|event| event.call == call && event.region == block)
    };
    disturbed.iter().any(|event| {
        let after = (since..=failing).contains(&event.order);
        let before = comes_again && event.order < since;
        let replaces = match containers.contains(&event.region) {
            true => after || before && got_block(event.call),
            false => before && event.open && event.region == block,
        };
        replaces && !oracle.formula.guards.excludes(event.guard, left.paths)
    })
}

/// Whether the failure is possible only if a store through a pointer that a block holds has left a place alone from which the
/// pointer to the block was read before.
fn replaced_by_link(_: &Execution, oracle: &mut Oracle<'_>, left: &Left<'_>) -> bool {
    let block = left.object.loc.region;
    matches!(left.what, What::Operation(_)) && oracle.hangs_on_link(left.paths, block)
}

/// Whether the pointer to a block that fails is read from memory as several members of a union.
fn is_of_union(_: &Execution, oracle: &mut Oracle<'_>, left: &Left<'_>) -> bool {
    let base = oracle.regions.base(left.object.loc.region);
    let several = base.is_some_and(|base| oracle.read_as_several.contains(&base));
    several && matches!(left.what, What::Operation(_))
}

fn another_element_given_back(
    execution: &Execution,
    oracle: &mut Oracle<'_>,
    left: &Left<'_>,
) -> bool {
    left.other.is_some()
        && callee::another_element_given_back(execution, oracle, left.object, left.paths)
}

fn perhaps_given_back_by_callee(
    execution: &Execution,
    oracle: &mut Oracle<'_>,
    left: &Left<'_>,
) -> bool {
    left.other.is_some()
        && callee::perhaps_given_back_by_callee(execution, oracle, left.object, left.paths)
}

fn moves_another_unnamed(execution: &Execution, oracle: &mut Oracle<'_>, left: &Left<'_>) -> bool {
    left.other.is_some_and(|(other, _)| {
        execution.moves_another_unnamed(oracle, left.object.machine, other, left.paths)
    })
}

fn another_left_open(execution: &Execution, oracle: &mut Oracle<'_>, left: &Left<'_>) -> bool {
    left.other.is_some_and(|(other, _)| {
        callee::another_left_open(execution, oracle, left.object, [left.paths, other])
    })
}

/// Whether the failure is possible only where an assertion on the way does not hold.
fn after_assertion(execution: &Execution, oracle: &mut Oracle<'_>, left: &Left<'_>) -> bool {
    only_after_warning(execution, oracle, left) || perhaps_ended_before(execution, oracle, left)
}

/// Whether an assertion has failed on all paths to the failure, and what fails is not there for that case alone.
fn only_after_warning(execution: &Execution, oracle: &mut Oracle<'_>, left: &Left<'_>) -> bool {
    let warned = oracle.warned;
    let handles_it = match left.what {
        What::Kept | What::GivenUp => true,
        What::Operation(event) => {
            let reached = paths_of_call(execution, oracle, event);
            oracle.formula.guards.implies(reached, warned)
        }
        What::Unheld | What::Needed | What::Asleep => false,
    };
    if handles_it {
        return false;
    }
    let without = oracle.formula.guards.and_not(left.paths, warned);
    !value::still_possible(oracle, left.paths, without)
}

/// The paths on which the call is made that an operation of the log is part of.
fn paths_of_call(execution: &Execution, arena: &mut Arena<'_>, event: usize) -> Guard {
    let of = &execution.log.ops[event];
    let parts = execution.log.ops_of_call(of.call).iter();
    let parts = parts.filter(|part| part.object == of.object);
    arena.formula.guards.union(parts.map(|part| part.guard))
}

/// The first reading of values under which the paths are not taken: no function that is called through a pointer does the rest;
/// no callee has changed a flag of the function's; no field has its one value that it is not compared with. They are taken
/// together.
fn unlikely_value(
    execution: &Execution,
    oracle: &mut Oracle<'_>,
    left: &Left<'_>,
    body: &Body,
) -> Option<Kind> {
    let mut paths = left.paths;
    let mut leaves_none = |oracle: &mut Oracle<'_>, proper: Guard| {
        let known = std::mem::replace(&mut paths, proper);
        !value::still_possible(oracle, known, proper)
    };
    let mut proper = left.paths;
    if let Some((other, _)) = left.other {
        proper = callee::not_given_away_instead(execution, oracle, left.object, [proper, other]);
        if leaves_none(oracle, proper) {
            return Some(Kind::GivenBackByCallee);
        }
    }
    proper = execution.with_flags_unchanged(oracle, proper, body);
    if leaves_none(oracle, proper) {
        return Some(Kind::FlagChanged);
    }
    proper = value::with_values_in_use(execution, oracle, proper);
    leaves_none(oracle, proper).then_some(Kind::UnusedValue)
}
