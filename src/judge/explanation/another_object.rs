//! An operation that seems to be on one object was meant for another one, or two objects are one.
//!
//! In: the log of an execution, an object. Out: the paths that such an explanation covers.
//!
//! Most come from the same limit: what is reached through different pointers is taken to be different. An angelic reading asks
//! whether all would be well if two of them were one.

use indexmap::IndexMap;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::property::{Event, Role, StateId};
use crate::symbolic::arena::Arena;
use crate::symbolic::execution::Execution;
use crate::symbolic::guard::{Cond, Guard};
use crate::symbolic::log::{OpEvent, Site};
use crate::symbolic::origin::Origin;
use crate::symbolic::region::{Loc, RegionKind, SymbolicOffset};
use crate::symbolic::state::{MachineId, Object, State, Status};
use crate::symbolic::term::Node;

/// For each object the paths on which an operation that moved it elsewhere was applied to another object: it
/// is one thing, chosen between several, that the function operates on.
#[derive(Default)]
pub struct Elsewhere(FxHashMap<Object, Guard>);

impl Elsewhere {
    /// Looks at all operations at once: the elements of a table, locked one after another, are many
    /// objects at one place.
    pub fn new(execution: &Execution, arena: &mut Arena<'_>) -> Self {
        let mut places: IndexMap<(MachineId, Vec<Site>), IndexMap<Object, Guard>> = IndexMap::new();
        for event in &execution.log.ops {
            if event.moves() {
                let place = (event.object.machine, event.stack.clone());
                let objects = places.entry(place).or_default();
                let paths = objects.entry(event.object).or_insert(Guard::FALSE);
                *paths = arena.formula.guards.or(*paths, event.guard);
            }
        }
        let mut elsewhere = Elsewhere::default();
        for objects in places.values() {
            // What comes before each object, and what comes after it.
            let mut before = Vec::with_capacity(objects.len());
            let mut all = Guard::FALSE;
            for &paths in objects.values() {
                before.push(all);
                all = arena.formula.guards.or(all, paths);
            }
            let mut after = Guard::FALSE;
            for ((&object, &paths), before) in objects.iter().zip(before).rev() {
                let others = arena.formula.guards.or(before, after);
                let known = elsewhere.0.entry(object).or_insert(Guard::FALSE);
                *known = arena.formula.guards.or(*known, others);
                after = arena.formula.guards.or(after, paths);
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
pub fn given_back_as_another(
    execution: &Execution,
    arena: &mut Arena<'_>,
    object: Object,
    initial: StateId,
) -> Guard {
    let mut places: FxHashSet<(Object, &[Site])> = FxHashSet::default();
    for event in &execution.log.ops {
        let other = event.object;
        let releases = event.gives_back(Status::At(initial));
        if other == object || other.machine != object.machine || !releases {
            continue;
        }
        if may_be_one(arena, object.loc, other.loc) {
            places.insert((other, &event.stack));
        }
    }
    let found: Vec<(Object, Status, Guard, Guard, u32)> = execution
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
    let operations = Operations::of(execution);
    let mut two: FxHashMap<Object, Guard> = FxHashMap::default();
    for (other, from, guard, touched, call) in found {
        let two = match two.get(&other) {
            Some(&known) => known,
            None => {
                let found = known_as_two(&operations, arena, object, other);
                two.insert(other, found);
                found
            }
        };
        // Whoever holds one of the two under another name says nothing of how this one was found on entry.
        let entered = arena.entry_state(other).guard_of(from);
        let mut literals = arena.formula.guards.implied_literals(entered);
        literals.extend(asked_within(execution, arena, other, call));
        literals.sort();
        literals.dedup();
        let guards = &mut arena.formula.guards;
        let paths = guards.and_not(guard, touched);
        let paths = guards.restrict(paths, &literals);
        untaken.push(guards.and_not(paths, two));
    }
    arena.formula.guards.union(untaken)
}

/// What must hold for an object to exist and is asked in the callee only, not before its call: a callee that finds none there
/// is as good as one that does.
fn asked_within(
    execution: &Execution,
    arena: &mut Arena<'_>,
    object: Object,
    call: u32,
) -> Vec<(Cond, bool)> {
    let there = arena.exists(object.loc);
    let calls = &execution.log.calls;
    let Ok(at) = calls.binary_search_by_key(&call, |event| event.call) else {
        return Vec::new();
    };
    let guards = &arena.formula.guards;
    let before = guards.implied(calls[at].guard);
    let needed = guards.implied(there).iter().copied();
    needed.filter(|literal| !before.contains(literal)).collect()
}

/// The paths on which the function gives back an object that it has not taken, after it has taken one that
/// may be this one, and that it does not give back under its own name.
pub fn taken_as_another(
    execution: &Execution,
    arena: &mut Arena<'_>,
    object: Object,
    initial: StateId,
) -> Guard {
    let initial = Status::At(initial);
    let gives = |event: &OpEvent| match event.to {
        Some(_) => event.gives_back(initial),
        None => event.from == initial,
    };
    let events = execution.log.ops.iter().enumerate();
    let found = events.filter(|(_, event)| event.object == object && gives(event));
    let found: Vec<(usize, Guard, Guard)> = found
        .map(|(index, event)| (index, event.guard, event.touched))
        .collect();
    if found.is_empty() {
        return Guard::FALSE;
    }
    let kept = kept_until(
        execution,
        arena,
        object,
        execution.log.ops.len(),
        |arena, other| may_be_one(arena, object.loc, other.loc),
    );
    let mut paths = Vec::new();
    for (index, guard, touched) in found {
        let untouched = arena.formula.guards.and_not(guard, touched);
        let before = kept.partition_point(|entry| entry.0 < index);
        let earlier = arena
            .formula
            .guards
            .union(kept[..before].iter().map(|entry| entry.1));
        paths.push(arena.formula.guards.and(untouched, earlier));
    }
    arena.formula.guards.union(paths)
}

/// For each operation that takes an object other than this one, if it is `wanted`: the paths on which none gives it back
/// before the operation `until`.
fn kept_until(
    execution: &Execution,
    arena: &mut Arena<'_>,
    object: Object,
    until: usize,
    wanted: impl Fn(&mut Arena<'_>, Object) -> bool,
) -> Vec<(usize, Guard)> {
    let initial = Status::At(arena.machine_of(object).initial);
    let mut known: FxHashMap<Object, bool> = FxHashMap::default();
    let mut moves = Vec::new();
    for (index, event) in execution.log.ops[..until].iter().enumerate() {
        let other = event.object;
        let back = event.gives_back(initial);
        let candidate = other != object && other.machine == object.machine;
        let paths = match is_taken_again(arena, event) {
            true => event.touched,
            false if back || event.takes(initial) => event.guard,
            false => continue,
        };
        if candidate && *known.entry(other).or_insert_with(|| wanted(arena, other)) {
            moves.push((index, other, back, paths));
        }
    }
    // Where the two are known to be two, what becomes of the other says nothing of this one.
    let mut given_back: FxHashMap<Object, Guard> = FxHashMap::default();
    let operations = Operations::of(execution);
    let candidates = known.iter().filter(|(_, wanted)| **wanted);
    for (&other, _) in candidates {
        let two = known_as_two(&operations, arena, object, other);
        given_back.insert(other, two);
    }
    let guards = &mut arena.formula.guards;
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

/// Whether an object is taken while the function itself holds it under the same name: it may have been given back under another one.
fn is_taken_again(arena: &Arena<'_>, event: &OpEvent) -> bool {
    let machine = arena.machine_of(event.object);
    let rule = event.rule.as_ref();
    event.touched != Guard::FALSE && rule.is_some_and(|rule| machine.is_about_taking(rule))
}

/// The paths on which the function holds something before an operation that may be the object under another name:
/// an element of its table by an index that a callee knows from before; what the same list leads to. What was taken before the
/// function has given the object back does not count: that was given back with it, if the two are one.
fn held_as_another_before(
    execution: &Execution,
    arena: &mut Arena<'_>,
    object: Object,
    until: usize,
) -> Guard {
    let kept = kept_until(execution, arena, object, until, |arena, other| {
        let unknown = |object: Object| object.loc.symbolic != SymbolicOffset::NONE;
        if other.loc.region != object.loc.region {
            return may_be_found_as(arena, object, other);
        }
        (unknown(object) || unknown(other))
            && other.loc.symbolic != object.loc.symbolic
            && !are_different_members(arena, object.loc, other.loc)
    });
    let initial = Status::At(arena.machine_of(object).initial);
    let guards = &mut arena.formula.guards;
    let mut given_back = Guard::FALSE;
    let mut ops = execution.log.ops[..until].iter().enumerate().rev();
    let mut covered = Vec::with_capacity(kept.len());
    for (taken, paths) in kept.into_iter().rev() {
        for (_, event) in ops.by_ref().take_while(|&(index, _)| index > taken) {
            if event.object == object && event.gives_back(initial) {
                given_back = guards.or(given_back, event.guard);
            }
        }
        covered.push(guards.and_not(paths, given_back));
    }
    arena.formula.guards.union(covered)
}

/// The paths on which a failing operation may be one on another object than it seems: what is taken again was
/// given back under another name; what is given back again stands for one that is held to the end.
pub fn meant_for_another(
    execution: &Execution,
    arena: &mut Arena<'_>,
    exit: Option<&State>,
    event: usize,
) -> Guard {
    let failing = &execution.log.ops[event];
    let object = failing.object;
    let machine = arena.machine_of(object);
    // The object has ended under this very name. That another one of its kind has ended, or lives on, makes the use of this one no better.
    if matches!(failing.from, Status::At(state) if machine.role(state) == Role::Dead) {
        return Guard::FALSE;
    }
    let takes = matches!(&failing.rule, Some(rule) if machine.is_about_taking(rule));
    if takes {
        return given_back_as_another(execution, arena, object, machine.initial);
    }
    let before = held_as_another_before(execution, arena, object, event);
    let Some(exit) = exit else {
        return before;
    };
    let mut paths = held(arena, exit);
    paths.retain(|&(other, _)| {
        other != object && other.machine == object.machine && may_be_found_as(arena, object, other)
    });
    let operations = Operations::of(execution);
    let mut covered = vec![before];
    for (other, paths) in paths {
        let two = known_as_two(&operations, arena, object, other);
        covered.push(arena.formula.guards.and_not(paths, two));
    }
    arena.formula.guards.union(covered)
}

/// The operations of an execution by object, in order.
struct Operations<'e> {
    log: &'e [OpEvent],
    by_object: FxHashMap<Object, Vec<usize>>,
}

impl<'e> Operations<'e> {
    fn of(execution: &'e Execution) -> Self {
        let log = &execution.log.ops;
        let mut by_object: FxHashMap<Object, Vec<usize>> = FxHashMap::default();
        for (index, event) in log.iter().enumerate() {
            by_object.entry(event.object).or_default().push(index);
        }
        Operations { log, by_object }
    }

    /// Those of two objects, in order.
    fn of_two(&self, a: Object, b: Object) -> impl Iterator<Item = &'e OpEvent> {
        let lists = [a, b].map(|object| self.by_object.get(&object));
        let mut both: Vec<usize> = lists.into_iter().flatten().flatten().copied().collect();
        both.sort_unstable();
        let log = self.log;
        both.into_iter().map(move |index| &log[index])
    }
}

/// The paths on which the function itself shows that two objects are two: it takes the one while it holds the other, which would be a
/// mistake if they were one. How they were found on entry says nothing of that.
fn known_as_two(operations: &Operations<'_>, arena: &mut Arena<'_>, a: Object, b: Object) -> Guard {
    let machine = arena.machine_of(a);
    // One that may be taken again tells nothing.
    let again = machine.counts || machine.saved.is_some();
    if again || machine.rule(Event::TakenAgain).is_some() || a.machine != b.machine {
        return Guard::FALSE;
    }
    let initial = Status::At(machine.initial);
    let shared = |held: StateId| {
        machine
            .state_ids()
            .any(|state| machine.takes_again(held, state))
    };
    let mut holds = [Guard::FALSE; 2];
    let mut both = Guard::FALSE;
    for event in operations.of_two(a, b) {
        let this = usize::from(event.object == b);
        let guards = &mut arena.formula.guards;
        if event.gives_back(initial) {
            holds[this] = guards.and_not(holds[this], event.guard);
        } else if event.takes(initial)
            && let Some(Status::At(held)) = event.to
        {
            let at_once = guards.and(event.guard, holds[1 - this]);
            both = guards.or(both, at_once);
            // While it is held by readers another reader may come.
            if !shared(held) {
                holds[this] = guards.or(holds[this], event.guard);
            }
        }
    }
    for condition in arena.formula.guards.support(both).to_vec() {
        let term = arena.formula.cond_term(condition);
        let vars = arena.formula.vars(term);
        let of_entry = vars.iter().any(|&var| {
            let origin = arena.origins.of(var);
            matches!(origin, Origin::State { object, .. } if *object == a || *object == b)
        });
        if of_entry {
            both = arena.formula.guards.for_either(both, condition);
        }
    }
    both
}

/// Whether two objects may be one, at least one of which the function has found by itself, or by way of the
/// other.
fn may_be_found_as(arena: &mut Arena<'_>, object: Object, other: Object) -> bool {
    (found_inside(arena, object)
        || found_inside(arena, other)
        || leads_back(arena, object, other)
        || leads_back(arena, other, object))
        && may_be_one(arena, object.loc, other.loc)
}

/// Whether the way to an object goes through the record that another is in: `dev->queue.next->dev` is `dev`.
fn leads_back(arena: &Arena<'_>, object: Object, other: Object) -> bool {
    let way = arena.access_path(object.loc.region);
    let mut before = way.iter().skip(1);
    before.any(|&(region, _)| region == other.loc.region)
}

/// Whether the way to an object begins with something that neither the caller nor a global object told.
fn found_inside(arena: &Arena<'_>, object: Object) -> bool {
    let way = arena.access_path(object.loc.region);
    let Some(&(_, Some(base))) = way.last() else {
        return false;
    };
    let Node::Var(var) = arena.formula.terms.node(base) else {
        return true;
    };
    !matches!(arena.origins.of(*var), Origin::Param(_))
}

/// The paths on which another object leaves the function in another state, or in error: what is amiss there
/// is that. `object` is of a machine whose states are kept beside other objects', as interrupts are with locks.
pub fn left_with_another(arena: &mut Arena<'_>, state: &State, object: Object) -> Guard {
    if !arena.is_saved(object.machine) {
        return Guard::FALSE;
    }
    let mut paths = Vec::new();
    for (&other, tracked) in &state.objects {
        if arena.is_saved(other.machine) {
            continue;
        }
        let entry = arena.entry_state(other);
        for &(status, guard) in &tracked.set {
            let moved = arena.formula.guards.and_not(guard, entry.guard_of(status));
            paths.push(moved);
        }
    }
    arena.formula.guards.union(paths)
}

/// The exits on which each object is held that the function has moved; or would be, had it been free on entry.
/// That the pointers to it are valid is not asked for: the function went through them.
pub fn held(arena: &mut Arena<'_>, exit: &State) -> Vec<(Object, Guard)> {
    let mut held = Vec::new();
    for (&object, tracked) in &exit.objects {
        let initial = Status::At(arena.machine_of(object).initial);
        for &(status, paths) in tracked.set.iter().filter(|entry| entry.0 != initial) {
            let guards = &mut arena.formula.guards;
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
    arena: &mut Arena<'_>,
    held: &[(Object, Guard)],
    object: Object,
    kept: Guard,
) -> Guard {
    let mut paths = Vec::new();
    for &(other, there) in held {
        if other != object
            && other.machine == object.machine
            && arena.formula.guards.excludes(there, kept)
        {
            paths.push(there);
        }
    }
    arena.formula.guards.union(paths)
}

/// Whether two locations are one for some values of the pointers and indices on the way to them.
fn may_be_one(arena: &mut Arena<'_>, a: Loc, b: Loc) -> bool {
    lie_alike(arena, a, b) && !are_different_members(arena, a, b)
}

/// Whether the source reaches the two as members of different records, or as different members of one: whatever their pointers
/// lead to, a `struct inode.i_lock` is no `struct dentry.d_lock`.
fn are_different_members(arena: &mut Arena<'_>, a: Loc, b: Loc) -> bool {
    let (Some(a), Some(b)) = (arena.class_of(a), arena.class_of(b)) else {
        return false;
    };
    a.is_members() && b.is_members() && a != b
}

fn lie_alike(arena: &Arena<'_>, a: Loc, b: Loc) -> bool {
    let known = |loc: Loc| loc.symbolic == SymbolicOffset::NONE;
    let unknown = |loc: Loc| {
        matches!(
            arena.regions.kind(loc.region),
            RegionKind::Environment { .. }
        )
    };
    if known(a) && known(b) {
        // Members of one record are different, and so are different members of two.
        return a.region != b.region && a.offset == b.offset && unknown(a) && unknown(b);
    }
    a.region == b.region || (unknown(a) && unknown(b))
}
