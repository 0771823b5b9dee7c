//! Other explanations of how an object leaves a function, which a programmer would find first.
//!
//! In: the log of an execution, and an object that some exits keep and others do not. Out: the paths that
//! such an explanation covers; no finding rests on them.
//!
//! Most come from the same limit: what is reached through different pointers is taken to be different
//! (DESIGN §5). An angelic reading asks whether all would be well if two of them were one.

use std::collections::{BTreeMap, BTreeSet};

use indexmap::IndexMap;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::property::StateId;
use crate::summary::infer::{Exit, Feasible};
use crate::symbolic::exec::Executor;
use crate::symbolic::guard::{Cond, Guard};
use crate::symbolic::log::{OpEvent, Site, SleepEvent, UnknownCall};
use crate::symbolic::memory::Origin;
use crate::symbolic::region::{Loc, RegionId, RegionKind, SymbolicOffset};
use crate::symbolic::state::{MachineId, Object, State, Status};
use crate::symbolic::term::{Node, Op, Term};

/// Parts of a result that is a choice.
const MAX_PARTS: usize = 64;
/// The greatest value of what is taken for a field of a few bits, with a name for each value.
const MAX_FIELD: u128 = 15;

/// For each object the paths on which an operation that moved it elsewhere was applied to another object: it
/// is one thing, chosen between several, that the function operates on.
#[derive(Default)]
pub struct Elsewhere(FxHashMap<Object, Guard>);

impl Elsewhere {
    /// Looks at all operations at once: the elements of a table, locked one after another, are many
    /// objects at one place.
    pub fn new(exec: &mut Executor<'_>) -> Self {
        let mut places: IndexMap<(MachineId, Vec<Site>), IndexMap<Object, Guard>> = IndexMap::new();
        for event in &exec.log.ops {
            if event.moves() {
                let place = (event.object.machine, event.stack.clone());
                let objects = places.entry(place).or_default();
                let paths = objects.entry(event.object).or_insert(Guard::FALSE);
                *paths = exec.formula.guards.or(*paths, event.guard);
            }
        }
        let mut elsewhere = Elsewhere::default();
        for objects in places.values() {
            // What comes before each object, and what comes after it.
            let mut before = Vec::with_capacity(objects.len());
            let mut all = Guard::FALSE;
            for &paths in objects.values() {
                before.push(all);
                all = exec.formula.guards.or(all, paths);
            }
            let mut after = Guard::FALSE;
            for ((&object, &paths), before) in objects.iter().zip(before).rev() {
                let others = exec.formula.guards.or(before, after);
                let known = elsewhere.0.entry(object).or_insert(Guard::FALSE);
                *known = exec.formula.guards.or(*known, others);
                after = exec.formula.guards.or(after, paths);
            }
        }
        elsewhere
    }

    pub fn than(&self, object: Object) -> Guard {
        self.0.get(&object).copied().unwrap_or(Guard::FALSE)
    }
}

/// The paths on which the function gives back an object that it has not taken and that may be this
/// one: found again in another way, by a number or in a table.
pub fn given_back_as_another(exec: &mut Executor<'_>, object: Object, initial: StateId) -> Guard {
    let mut places: FxHashSet<(Object, &[Site])> = FxHashSet::default();
    for event in &exec.log.ops {
        let other = event.object;
        let releases = event.gives_back(Status::At(initial));
        if other == object || other.machine != object.machine || !releases {
            continue;
        }
        if may_be_one(exec, object.loc, other.loc) {
            places.insert((other, &event.stack));
        }
    }
    let found: Vec<(Object, Status, Guard, Guard, u32)> = exec
        .log
        .ops
        .iter()
        .filter(|event| places.contains(&(event.object, event.stack.as_slice())))
        .map(|event| {
            let OpEvent { guard, touched, .. } = *event;
            (event.object, event.from, guard, touched, event.call)
        })
        .collect();
    let mut untaken = Vec::with_capacity(found.len());
    for (other, from, guard, touched, call) in found {
        // Whoever holds one of the two under another name says nothing of how this one was found on entry.
        let entered = exec.entry_state(other).guard_of(from);
        let mut literals = exec.formula.guards.implied_literals(entered);
        literals.extend(asked_within(exec, other, call));
        literals.sort();
        literals.dedup();
        let guards = &mut exec.formula.guards;
        let paths = guards.and_not(guard, touched);
        untaken.push(guards.restrict(paths, &literals));
    }
    union(exec, untaken)
}

/// What must hold for an object to exist and is asked in the callee only, not before its call: a callee that finds none there
/// is as good as one that does.
fn asked_within(exec: &mut Executor<'_>, object: Object, call: u32) -> Vec<(Cond, bool)> {
    let there = exec.exists(object.loc);
    let calls = &exec.log.calls;
    let Ok(at) = calls.binary_search_by_key(&call, |event| event.call) else {
        return Vec::new();
    };
    let guards = &exec.formula.guards;
    let before = guards.implied(calls[at].guard);
    let needed = guards.implied(there).iter().copied();
    needed.filter(|literal| !before.contains(literal)).collect()
}

/// The paths on which the function gives back an object that it has not taken, after it has taken one that
/// may be this one, and that it does not give back under its own name.
pub fn taken_as_another(exec: &mut Executor<'_>, object: Object, initial: StateId) -> Guard {
    let initial = Status::At(initial);
    let gives = |event: &OpEvent| match event.to {
        Some(_) => event.gives_back(initial),
        None => event.from == initial,
    };
    let events = exec.log.ops.iter().enumerate();
    let found = events.filter(|(_, event)| event.object == object && gives(event));
    let found: Vec<(usize, Guard, Guard)> = found
        .map(|(index, event)| (index, event.guard, event.touched))
        .collect();
    if found.is_empty() {
        return Guard::FALSE;
    }
    let kept = kept_until(exec, object, exec.log.ops.len(), |exec, other| {
        may_be_one(exec, object.loc, other.loc)
    });
    let mut paths = Vec::new();
    for (index, guard, touched) in found {
        let untouched = exec.formula.guards.and_not(guard, touched);
        let before = kept.partition_point(|entry| entry.0 < index);
        let earlier = union(exec, kept[..before].iter().map(|entry| entry.1).collect());
        paths.push(exec.formula.guards.and(untouched, earlier));
    }
    union(exec, paths)
}

/// For each operation that takes an object other than this one, if it is `wanted`: the paths on which none gives it back
/// before the operation `until`.
fn kept_until(
    exec: &mut Executor<'_>,
    object: Object,
    until: usize,
    wanted: impl Fn(&Executor<'_>, Object) -> bool,
) -> Vec<(usize, Guard)> {
    let initial = Status::At(exec.machine_of(object).initial);
    let mut known: FxHashMap<Object, bool> = FxHashMap::default();
    let mut moves = Vec::new();
    for (index, event) in exec.log.ops[..until].iter().enumerate() {
        let other = event.object;
        let back = event.gives_back(initial);
        let candidate = other != object && other.machine == object.machine;
        if candidate
            && (back || event.takes(initial))
            && *known.entry(other).or_insert_with(|| wanted(exec, other))
        {
            moves.push((index, other, back, event.guard));
        }
    }
    let guards = &mut exec.formula.guards;
    let mut given_back: FxHashMap<Object, Guard> = FxHashMap::default();
    let mut kept = Vec::new();
    for (index, other, back, paths) in moves.into_iter().rev() {
        let later = given_back.entry(other).or_default();
        match back {
            true => *later = guards.or(*later, paths),
            false => kept.push((index, guards.and_not(paths, *later))),
        }
    }
    kept.reverse();
    kept
}

/// The paths on which the function holds something before an operation that may be the object under another name:
/// an element of its table by an index that a callee knows from before; what the same list leads to.
fn held_as_another_before(exec: &mut Executor<'_>, object: Object, until: usize) -> Guard {
    let kept = kept_until(exec, object, until, |exec, other| {
        let unknown = |object: Object| object.loc.symbolic != SymbolicOffset::NONE;
        if other.loc.region == object.loc.region {
            return unknown(object) && unknown(other) && other.loc.symbolic != object.loc.symbolic;
        }
        may_be_found_as(exec, object, other)
    });
    union(exec, kept.into_iter().map(|entry| entry.1).collect())
}

/// The paths on which all other objects are as usual on entry. What is wrong with one only where another was
/// held already has another cause: a callee that cannot be called then. One that is asserted to be held, on
/// all ways out, is usually held.
pub fn others_as_usual(
    exec: &mut Executor<'_>,
    exit: Guard,
    object: Object,
    paths: Guard,
) -> Guard {
    if paths == Guard::FALSE {
        return paths;
    }
    let mut usual: Vec<Guard> = Vec::new();
    for (&other, entered) in &exec.entries {
        let machine = exec.machine_of(other);
        // Interrupts are off or on with the lock that is given back.
        if other != object && machine.saved.is_none() {
            usual.push(entered.guard_of(Status::At(machine.initial)));
        }
    }
    let guards = &mut exec.formula.guards;
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

/// The paths on which a failing operation may be one on another object than it seems: what is taken again was
/// given back under another name; what is given back again stands for one that is held to the end.
pub fn meant_for_another(exec: &mut Executor<'_>, exit: Option<&State>, event: usize) -> Guard {
    let failing = &exec.log.ops[event];
    let object = failing.object;
    let machine = exec.machine_of(object);
    let takes = matches!(&failing.rule, Some(rule) if machine.is_about_taking(rule));
    if takes {
        return given_back_as_another(exec, object, machine.initial);
    }
    let before = held_as_another_before(exec, object, event);
    let Some(exit) = exit else {
        return before;
    };
    let mut paths = held(exec, exit);
    paths.retain(|&(other, _)| {
        other != object && other.machine == object.machine && may_be_found_as(exec, object, other)
    });
    let mut paths: Vec<Guard> = paths.into_iter().map(|(_, paths)| paths).collect();
    paths.push(before);
    union(exec, paths)
}

/// Whether two objects may be one, at least one of which the function has found by itself, or by way of the
/// other.
fn may_be_found_as(exec: &Executor<'_>, object: Object, other: Object) -> bool {
    (found_inside(exec, object)
        || found_inside(exec, other)
        || leads_back(exec, object, other)
        || leads_back(exec, other, object))
        && may_be_one(exec, object.loc, other.loc)
}

/// Whether the way to an object goes through the record that another is in: `dev->queue.next->dev` is `dev`.
fn leads_back(exec: &Executor<'_>, object: Object, other: Object) -> bool {
    let way = exec.way_to(object.loc.region);
    let mut before = way.iter().skip(1);
    before.any(|&(region, _)| region == other.loc.region)
}

/// Whether the way to an object begins with something that neither the caller nor a global object told.
fn found_inside(exec: &Executor<'_>, object: Object) -> bool {
    let way = exec.way_to(object.loc.region);
    let Some(&(_, Some(base))) = way.last() else {
        return false;
    };
    let Node::Var(var) = exec.formula.terms.node(base) else {
        return true;
    };
    !matches!(exec.origins.of(*var), Origin::Param(_))
}

/// The paths on which another object leaves the function in another state, or in error: what is amiss there
/// is that. `object` is of a machine whose states are kept beside other objects', as interrupts are with locks.
pub fn left_with_another(exec: &mut Executor<'_>, state: &State, object: Object) -> Guard {
    if !exec.is_saved(object.machine) {
        return Guard::FALSE;
    }
    let mut paths = Vec::new();
    for (&other, tracked) in &state.objects {
        if exec.is_saved(other.machine) {
            continue;
        }
        let entry = exec.entry_state(other);
        for &(status, guard) in &tracked.set {
            let moved = exec.formula.guards.and_not(guard, entry.guard_of(status));
            paths.push(moved);
        }
    }
    union(exec, paths)
}

/// The operation before a point that moved the object last.
fn last_move<'e>(exec: &'e Executor<'_>, object: Object, before: usize) -> Option<&'e OpEvent> {
    let ops = exec.log.ops.get(..before).unwrap_or(&exec.log.ops);
    ops.iter()
        .rfind(|event| event.object == object && event.moves())
}

/// Whether the operation before a point that moved the object last is a callee's, which leaves it alone at
/// other times: when, its summary may not know.
pub fn kept_by_callee_at_times(exec: &Executor<'_>, object: Object, before: usize) -> bool {
    let Some(last) = last_move(exec, object, before) else {
        return false;
    };
    let ops = exec.log.ops.get(..before).unwrap_or(&exec.log.ops);
    let mut of_object = ops.iter().filter(|event| event.object == object);
    let initial = Status::At(exec.machine_of(object).initial);
    let idle = |event: &OpEvent| {
        event.stack == last.stack && event.from == initial && event.to == Some(initial)
    };
    last.source.is_some() && of_object.any(idle)
}

/// Whether on some of these paths a callee leaves the object alone that gives it back on others.
pub fn perhaps_given_back_by_callee(exec: &mut Executor<'_>, object: Object, paths: Guard) -> bool {
    let initial = exec.machine_of(object).initial;
    let back = |from: StateId, to: StateId| from != initial && to == initial;
    let Executor { log, formula, .. } = exec;
    let mut idle = log.ops.iter().filter(|event| {
        event.object == object && event.source.is_some() && event.to == Some(event.from)
    });
    idle.any(|event| {
        let mut same = log
            .ops
            .iter()
            .filter(|other| other.object == object && other.stack == event.stack);
        same.any(|other| other.moves_as(&back)) && !formula.guards.excludes(event.guard, paths)
    })
}

/// Whether on some of these paths a callee gives back another element of the table that an object is in: it may go
/// through the table, further than its summary does.
pub fn another_element_given_back(exec: &mut Executor<'_>, object: Object, paths: Guard) -> bool {
    let Some(class) = exec.class_of(object.loc) else {
        return false;
    };
    let initial = Status::At(exec.machine_of(object).initial);
    let elements = exec.log.ops.iter().filter(|event| {
        let other = event.object;
        let beside = other != object
            && other.machine == object.machine
            && other.loc.region == object.loc.region;
        beside && event.source.is_some() && event.gives_back(initial)
    });
    let elements: Vec<(Object, Guard)> =
        elements.map(|event| (event.object, event.guard)).collect();
    elements.into_iter().any(|(other, there)| {
        !exec.formula.guards.excludes(there, paths)
            && exec.class_of(other.loc).as_ref() == Some(&class)
    })
}

/// Where a part of a result comes from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    /// From memory.
    Kept,
    /// From the caller.
    Passed,
    /// From a callee.
    Called,
}

fn part(exec: &Executor<'_>, term: Term) -> Option<Part> {
    match exec.formula.terms.node(term) {
        Node::Var(var) => Some(match exec.origins.of(*var) {
            Origin::Initial { .. } => Part::Kept,
            Origin::Param(_) => Part::Passed,
            _ => Part::Called,
        }),
        Node::Op {
            op: Op::Sext | Op::Zext,
            args,
        } => part(exec, args[0]),
        // An address that is put together from others.
        Node::Linear { terms, .. } => {
            let mut parts = terms.iter().map(|&(_, summand)| part(exec, summand));
            parts
                .any(|part| part == Some(Part::Kept))
                .then_some(Part::Kept)
        }
        _ => None,
    }
}

/// Whether each of two ways out may be taken with a result that is not by chance one of the other's: what is in memory is
/// neither null nor negative (what is kept in a record is a success, which callers do not take for a failure); what the caller has
/// passed is not 0 and none of the constants that are returned elsewhere (a caller that waits does not ask for a wait of no time);
/// and the one constant that a callee's result is known to be on one of them is no other callee's result.
pub fn returns_no_failure_by_chance(
    exec: &mut Executor<'_>,
    exit: &Exit<'_>,
    ways: [Guard; 2],
    queries: &mut dyn Feasible,
) -> bool {
    let Some(result) = exit.result else {
        return true;
    };
    let (mut parts, mut constants) = (Vec::new(), Vec::new());
    let mut work = vec![result];
    let mut seen = 0;
    while let Some(term) = work.pop() {
        seen += 1;
        match exec.formula.terms.node(term) {
            Node::Op { op: Op::Ite, args } if seen < MAX_PARTS => work.extend(&args[1..]),
            Node::Const(_) => constants.push(term),
            _ => parts.extend(part(exec, term).map(|from| (term, from))),
        }
    }
    let known = ways
        .map(|paths| known_results(exec, &parts, paths))
        .concat();
    let mut failures = Vec::new();
    for &(term, from) in &parts {
        let terms = &mut exec.formula.terms;
        let zero = terms.constant(0, terms.width(term));
        let sum = matches!(terms.node(term), Node::Linear { .. });
        match from {
            Part::Kept if terms.is_pointer(term) || sum => failures.push(terms.eq(term, zero)),
            Part::Kept => failures.push(terms.slt(term, zero)),
            Part::Passed => {
                let others = constants.iter().chain([&zero]);
                failures.extend(others.map(|&constant| terms.eq(term, constant)));
            }
            Part::Called => {
                let others = known.iter().filter(|(other, _)| *other != term);
                failures.extend(others.map(|&(_, constant)| terms.eq(term, constant)));
            }
        }
    }
    let failures: Vec<Guard> = failures
        .into_iter()
        .map(|failure| exec.formula.guard_of(failure))
        .collect();
    ways.into_iter().all(|paths| {
        let mut proper = paths;
        for &failure in &failures {
            proper = exec.formula.guards.and_not(proper, failure);
        }
        still_possible(exec, paths, proper, queries)
    })
}

/// The callees' results, among the parts of this one's, that are one constant on all of these paths, and not 0, with that
/// constant.
fn known_results(
    exec: &mut Executor<'_>,
    parts: &[(Term, Part)],
    paths: Guard,
) -> Vec<(Term, Term)> {
    let support = exec.formula.guards.support(paths).to_vec();
    let mut known = Vec::new();
    for condition in support {
        let asked = exec.formula.cond_term(condition);
        let terms = &mut exec.formula.terms;
        let Node::Op { op: Op::Eq, args } = terms.node(asked) else {
            continue;
        };
        let &[value, number] = &args[..] else {
            continue;
        };
        let Some(number) = terms.as_const(number).filter(|&number| number != 0) else {
            continue;
        };
        let equal = exec.formula.guard_of(asked);
        let others = exec.formula.guards.and_not(paths, equal);
        if others != Guard::FALSE {
            continue;
        }
        let terms = &mut exec.formula.terms;
        for &(term, from) in parts {
            let inner = match terms.node(term) {
                Node::Op {
                    op: Op::Sext | Op::Zext,
                    args,
                } => args[0],
                _ => term,
            };
            if from == Part::Called && (term == value || inner == value) {
                let narrow = terms.width(value);
                let wide = terms.width(term);
                let number = terms.constant(number, narrow);
                let number = terms.sext(number, wide);
                known.push((term, number));
            }
        }
    }
    known
}

/// The paths on which each field of a few bits that the function compares with all values that it can have but one has none but
/// these: a state of two bits with three names is never the fourth.
pub fn with_values_in_use(exec: &mut Executor<'_>, paths: Guard) -> Guard {
    let mut compared: BTreeMap<(Term, u128), BTreeMap<u128, Guard>> = BTreeMap::new();
    let guards = &exec.formula.guards;
    let asked = exec.log.branches.iter().map(|branch| branch.guard);
    let asked = asked.chain([paths]).flat_map(|asked| guards.support(asked));
    let asked: BTreeSet<Cond> = asked.copied().collect();
    for cond in asked {
        let term = exec.formula.cond_term(cond);
        let terms = &exec.formula.terms;
        let Node::Op { op: Op::Eq, args } = terms.node(term) else {
            continue;
        };
        let &[field, number] = &args[..] else {
            continue;
        };
        let greatest = terms.upper_bound(field);
        if let Some(number) = terms.as_const(number)
            && (3..=MAX_FIELD).contains(&greatest)
            && number <= greatest
        {
            let equal = exec.formula.guard_of(term);
            for word in words_of(exec, field) {
                let numbers = compared.entry((word, greatest)).or_default();
                let before = numbers.entry(number).or_insert(Guard::FALSE);
                *before = exec.formula.guards.or(*before, equal);
            }
        }
    }
    let mut proper = paths;
    for ((_, greatest), numbers) in compared {
        if numbers.len() as u128 == greatest {
            let one_of_them = union(exec, numbers.into_values().collect());
            proper = exec.formula.guards.and(proper, one_of_them);
        }
    }
    proper
}

/// What the low bits of a value are taken from, as wide as it may be there: all of which it is chosen from, before it was
/// counted on or its low bits were set.
fn words_of(exec: &Executor<'_>, field: Term) -> BTreeSet<Term> {
    let terms = &exec.formula.terms;
    let (mut words, mut seen) = (BTreeSet::new(), 0);
    let mut work = vec![field];
    while let Some(part) = work.pop() {
        seen += 1;
        match terms.node(part) {
            _ if seen > MAX_PARTS => {}
            Node::Const(_) => {}
            Node::Op { op, args } => match op {
                Op::Extract { lo: 0 } | Op::Zext => work.push(args[0]),
                Op::And if terms.as_const(args[1]).is_some() => work.push(args[0]),
                Op::Ite => work.extend(&args[1..]),
                _ => words.extend([part]),
            },
            Node::Linear { terms, .. } if terms.len() == 1 => work.push(terms[0].1),
            _ => words.extend([part]),
        }
    }
    words
}

/// Whether paths known to be possible are so without those that something else explains, which has to be shown.
pub fn still_possible(
    exec: &mut Executor<'_>,
    paths: Guard,
    unexplained: Guard,
    queries: &mut dyn Feasible,
) -> bool {
    unexplained == paths || queries.model(exec, unexplained).is_some()
}

/// Whether a call that may sleep is the other way to lock what one of two locks of a record is for, after
/// another record's was taken the one way: `s->nonatomic ? mutex_lock(&s->mutex) : spin_lock(&s->lock)` for all `s`
/// of a list. They are all of one kind.
pub fn one_kind_or_the_other(exec: &Executor<'_>, object: Object, sleep: &SleepEvent) -> bool {
    let Some(taken) = last_move(exec, object, sleep.order) else {
        return false;
    };
    let ops = &exec.log.ops;
    let ways = |event: &&OpEvent| event.stack == sleep.stack && event.moves();
    let mut sleeping = ops.iter().filter(ways).map(|event| event.object.loc.region);
    sleeping.any(|record| {
        let instead =
            |event: &OpEvent| event.stack == taken.stack && event.object.loc.region == record;
        record != object.loc.region && ops.iter().any(instead)
    })
}

/// The paths on which the function gives back an object that it has not taken, but that a function of which
/// nothing is known may have taken for it: the object was found only where that function may have put it, or
/// what that function returned decides whether it is given back.
pub fn taken_by_unknown(exec: &mut Executor<'_>, object: Object, initial: StateId) -> Guard {
    let initial = Status::At(initial);
    let way = exec.way_to(object.loc.region);
    let calls = exec.log.unknown_calls.clone();
    let mut paths = Vec::new();
    for index in 0..exec.log.ops.len() {
        let event = &exec.log.ops[index];
        let gives = match event.to {
            Some(to) => to == initial && event.from != initial,
            None => event.from == initial,
        };
        if event.object != object || !gives {
            continue;
        }
        let guard = event.guard;
        let explains = |call: &UnknownCall| {
            // The part of the way that the callee had in its hands.
            let at = way.iter().position(|step| call.reached.contains(&step.0));
            let found_later = |step: &(RegionId, Option<Term>)| {
                step.1.is_some_and(|base| base.index() >= call.terms)
            };
            at.is_some_and(|at| way[..at].iter().any(found_later) || decides(exec, call, guard))
                && !exec.formula.guards.excludes(call.guard, guard)
        };
        if calls.iter().any(explains) {
            paths.push(guard);
        }
    }
    union(exec, paths)
}

/// The paths on which something that leads to the object is handed to a function that is called through a
/// pointer: an operation that may do the rest, as a method that tears an object down.
pub fn given_away(exec: &mut Executor<'_>, object: Object) -> Guard {
    let way = exec.way_to(object.loc.region);
    let leads_there = |region: &RegionId| way.iter().any(|(step, _)| step == region);
    let calls = exec.log.unknown_calls.iter();
    let calls = calls.filter(|call| call.indirect && call.reached.iter().any(leads_there));
    let paths = calls.map(|call| call.guard).collect();
    union(exec, paths)
}

/// The paths that keep an object without what leads to it being handed to a function that is called through a pointer, of
/// which nothing is known, and that is not called on those that give it back: it may be what gives it back.
pub fn not_given_away_instead(
    exec: &mut Executor<'_>,
    object: Object,
    [kept, back]: [Guard; 2],
) -> Guard {
    let way = exec.way_to(object.loc.region);
    let leads_there = |region: &RegionId| way.iter().any(|(step, _)| step == region);
    let Executor { log, formula, .. } = exec;
    let guards = &mut formula.guards;
    let mut proper = kept;
    for call in &log.unknown_calls {
        if call.indirect
            && call.reached.iter().any(leads_there)
            && guards.excludes(call.guard, back)
        {
            proper = guards.and_not(proper, call.guard);
        }
    }
    proper
}

/// Whether it is open how a callee leaves another object of the same kind on paths that give the object back only: the
/// function may hand over the one or the other.
pub fn another_left_open(
    exec: &mut Executor<'_>,
    object: Object,
    [kept, back]: [Guard; 2],
) -> bool {
    let Executor { log, formula, .. } = exec;
    let guards = &mut formula.guards;
    log.ops.iter().any(|event| {
        event.open
            && event.object != object
            && event.object.machine == object.machine
            && !guards.excludes(event.guard, back)
            && guards.excludes(event.guard, kept)
    })
}

/// Whether a call's result is among what decides whether paths are taken.
fn decides(exec: &Executor<'_>, call: &UnknownCall, paths: Guard) -> bool {
    let Some(result) = call.result else {
        return false;
    };
    let formula = &exec.formula;
    let conditions = formula.guards.support(paths).iter();
    let mut terms = conditions.map(|&cond| formula.cond_term(cond));
    terms.any(|term| formula.mentions(term, result))
}

/// The exits on which each object is held that the function has moved; or would be, had it been free on entry.
/// That the pointers to it are valid is not asked for: the function went through them.
pub fn held(exec: &mut Executor<'_>, exit: &State) -> Vec<(Object, Guard)> {
    let mut held = Vec::new();
    for (&object, tracked) in &exit.objects {
        let initial = Status::At(exec.machine_of(object).initial);
        for &(status, paths) in tracked.set.iter().filter(|entry| entry.0 != initial) {
            let guards = &mut exec.formula.guards;
            let moved = match status {
                Status::At(_) => guards.and(paths, tracked.touched),
                Status::Error(_) => paths,
            };
            held.push((object, guards.and(exit.guard, moved)));
        }
    }
    held
}

/// The exits on which the function holds another object of the same kind instead, which it does not where
/// it keeps this one: it hands over one or the other, and the caller knows which by other means.
pub fn another_is_held(
    exec: &mut Executor<'_>,
    held: &[(Object, Guard)],
    object: Object,
    kept: Guard,
) -> Guard {
    let mut paths = Vec::new();
    for &(other, there) in held {
        if other != object
            && other.machine == object.machine
            && exec.formula.guards.excludes(there, kept)
        {
            paths.push(there);
        }
    }
    union(exec, paths)
}

/// Whether two locations are one for some values of the pointers and indices on the way to them.
fn may_be_one(exec: &Executor<'_>, a: Loc, b: Loc) -> bool {
    let known = |loc: Loc| loc.symbolic == SymbolicOffset::NONE;
    let unknown = |loc: Loc| {
        matches!(
            exec.regions.kind(loc.region),
            RegionKind::Environment { .. }
        )
    };
    if known(a) && known(b) {
        // Members of one record are different, and so are different members of two.
        return a.region != b.region && a.offset == b.offset && unknown(a) && unknown(b);
    }
    a.region == b.region || (unknown(a) && unknown(b))
}

fn union(exec: &mut Executor<'_>, paths: Vec<Guard>) -> Guard {
    let guards = &mut exec.formula.guards;
    paths
        .into_iter()
        .fold(Guard::FALSE, |all, path| guards.or(all, path))
}
