//! Which two functions are worth running beside each other: entry points that share data (DESIGN §7; CBUGS, where a person writes such harnesses).
//!
//! In: the accesses that count ([`super::guards`]), and when functions run ([`super::concurrent`]). Out: pairs of functions that threads may call
//! at a time, of which one writes what the other accesses, with the parameters by which both get it.
//!
//! An entry point is a function that no caller holds a lock for, at an access or a few calls above it: what lies nearer is looked at more
//! thoroughly, what lies further away has the tests that callers make.
//! Data is taken to be shared if at least half of the functions that access it hold a lock of the same record, or a global one; or if it is a global object that a
//! thread of the program's own accesses, a few calls below its beginning.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashSet;

use super::concurrent::Standing;
use super::guards::{self, At};
use super::phases;
use crate::judge::guarded::{Place, Root};
use crate::program::{FunctionId, Program};
use crate::symbolic::class::Class;

/// Calls between an entry point and an access.
const DEPTH: usize = 3;
/// Calls that are gone up further, if locks are held there.
const DEPTH_UNDER_LOCKS: usize = 6;
/// Entry points that one access is looked at from.
const ENTRIES: usize = 8;
/// Entry points that are combined for one member.
const COMBINED: usize = 32;
/// Pairs of a tree.
const PAIRS: usize = 2_000;

/// Two functions to be run beside each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pair {
    pub first: FunctionId,
    pub second: FunctionId,
    /// Parameters, by their numbers, that are one object.
    pub parameters: Vec<(u32, u32)>,
    /// What one writes and the other accesses.
    pub members: Vec<String>,
    /// Some of these are accessed without a common lock.
    pub unguarded: bool,
    /// Some of these are pointers: without one it is hard to fail.
    pub pointers: bool,
}

/// How an entry point comes to an access.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    function: FunctionId,
    /// The parameter that leads to the object, and over how many others; `None`: it is found otherwise.
    way: Option<(u32, usize)>,
}

/// An access as seen from an entry point.
struct Reached<'m, 'p> {
    entry: Entry,
    at: &'m At<'p>,
    /// The classes that are held there.
    held: &'m BTreeSet<&'p Class>,
}

/// Proposes pairs, those first that share most without a lock.
pub(super) fn pairs<'p>(
    program: &'p Program,
    standing: &Standing<'p>,
    members: &BTreeMap<&'p Class, Vec<At<'p>>>,
) -> Vec<Pair> {
    let mut pairs: BTreeMap<(FunctionId, FunctionId), Pair> = BTreeMap::new();
    for (member, accesses) in members {
        let written = accesses.iter().any(|at| at.access.write);
        if !written || !is_shared(standing, member, accesses) {
            continue;
        }
        let held: Vec<BTreeSet<&Class>> = accesses
            .iter()
            .map(|at| standing.all_held(at.function, &at.access.locks))
            .collect();
        let reached = reached(program, standing, accesses, &held);
        let mut entries: Vec<FunctionId> = reached.iter().map(|one| one.entry.function).collect();
        entries.dedup();
        if entries.len() > COMBINED {
            continue;
        }
        let name = member.to_string();
        for one in &reached {
            for other in &reached {
                let (first, second) = (one.entry, other.entry);
                let ordered = first.function <= second.function;
                let writes = one.at.access.write || other.at.access.write;
                if ordered
                    && writes
                    && may_be_beside(standing, first, second)
                    && !is_apart(program, first, second)
                {
                    add(&mut pairs, &name, (one, other));
                }
            }
        }
    }
    let mut pairs: Vec<Pair> = pairs.into_values().collect();
    // The variants of a function are one.
    let definition = |id: FunctionId| program.function(id).definition;
    let mut seen = FxHashSet::default();
    pairs.retain(|pair| {
        pair.pointers && seen.insert((definition(pair.first), definition(pair.second)))
    });
    pairs.sort_by_key(|pair| (!pair.unguarded, usize::MAX - pair.members.len()));
    pairs.truncate(PAIRS);
    pairs
}

fn is_shared(standing: &Standing<'_>, member: &Class, accesses: &[At<'_>]) -> bool {
    let of_thread = |at: &At<'_>| standing.is_near_thread(at.function);
    let global = member.is_single() && accesses.iter().any(of_thread);
    global || guards::best(standing, accesses).is_some_and(|split| split.is_believed(member))
}

fn may_be_beside(standing: &Standing<'_>, first: Entry, second: Entry) -> bool {
    let of_main = |entry: Entry| standing.of_main[entry.function.index()];
    let same_object = match (first.way, second.way) {
        (None, None) => true,
        (Some((_, one)), Some((_, other))) => one == other,
        _ => false,
    };
    same_object
        && !(of_main(first) && of_main(second))
        && standing.may_be_beside(first.function, second.function)
}

/// Whether one of two is over when the other runs: a function that sets up what is global runs before all others, and one that tears an object down
/// runs once for it.
fn is_apart(program: &Program, first: Entry, second: Entry) -> bool {
    let name = |entry: Entry| program.function(entry.function).name.name.as_str();
    let before_all = |entry: Entry| entry.way.is_none() && phases::initialises(name(entry));
    let torn_down = first.function == second.function && phases::tears_down(name(first));
    torn_down || before_all(first) || before_all(second)
}

fn add(
    pairs: &mut BTreeMap<(FunctionId, FunctionId), Pair>,
    member: &str,
    (one, other): (&Reached<'_, '_>, &Reached<'_, '_>),
) {
    let (first, second) = (one.entry, other.entry);
    let pair = pairs
        .entry((first.function, second.function))
        .or_insert_with(|| Pair {
            first: first.function,
            second: second.function,
            parameters: Vec::new(),
            members: Vec::new(),
            unguarded: false,
            pointers: false,
        });
    pair.pointers |= one.at.access.pointer;
    if let (Some((from, _)), Some((to, _))) = (first.way, second.way) {
        let known = pair.parameters.iter();
        let mut known = known.filter(|(first, second)| *first == from || *second == to);
        if known.next().is_none() {
            pair.parameters.push((from, to));
        }
    }
    // One member is looked at after the other.
    if pair.members.last().is_none_or(|last| last != member) {
        pair.members.push(member.to_owned());
    }
    pair.unguarded |= one.held.is_disjoint(other.held);
}

/// The accesses, as seen from each entry point that leads to them.
fn reached<'m, 'p>(
    program: &'p Program,
    standing: &Standing<'p>,
    accesses: &'m [At<'p>],
    held: &'m [BTreeSet<&'p Class>],
) -> Vec<Reached<'m, 'p>> {
    let mut all = Vec::new();
    for (at, held) in accesses.iter().zip(held) {
        let found = entries(program, standing, at.function, &at.access.place).into_iter();
        all.extend(found.map(|entry| Reached { entry, at, held }));
    }
    all.sort_by_key(|one| one.entry);
    all
}

/// The entry points above a function, with how they come to an object that it accesses.
fn entries(
    program: &Program,
    standing: &Standing<'_>,
    function: FunctionId,
    place: &Place,
) -> BTreeSet<Entry> {
    let way = match place.root {
        Root::Param(number) => Some((number, place.objects.len())),
        Root::New | Root::Other => None,
    };
    let mut found = BTreeSet::new();
    let mut seen = FxHashSet::default();
    let mut open = vec![(Entry { function, way }, 0)];
    while let Some((entry, depth)) = open.pop() {
        let id = entry.function;
        if found.len() >= ENTRIES || !seen.insert((id, entry.way)) {
            continue;
        }
        let free = standing.is_called_without_locks(id);
        let deepest = if free { DEPTH } else { DEPTH_UNDER_LOCKS };
        let callers = standing.callers(id).iter();
        let callers = callers.filter(|&&(caller, number)| {
            program.function(caller).name.name != "main"
                && !standing.is_call_in_child(caller, number)
        });
        let mut above = Vec::new();
        for &(caller, number) in callers.filter(|_| depth < deepest) {
            let way = entry.way.and_then(|(parameter, objects)| {
                let call = standing.call(caller, number)?;
                let place = call.arguments.get(parameter as usize)?.as_ref()?;
                match place.root {
                    Root::Param(number) => Some((number, objects + place.objects.len() - 1)),
                    Root::New | Root::Other => None,
                }
            });
            let entry = Entry {
                function: caller,
                way,
            };
            above.push((entry, depth + 1));
        }
        if free {
            found.insert(entry);
        }
        open.extend(above);
    }
    found
}
