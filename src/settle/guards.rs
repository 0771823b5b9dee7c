//! Which lock guards which member, and where it is not held (Engler et al., *Bugs as Deviant Behavior*, SOSP'01, §5: statistical beliefs).
//!
//! In: the accesses of all functions ([`crate::judge::guarded`]), and when functions run ([`super::concurrent`]). Out: for each member the lock
//! class that it is most often accessed under, with counts, and findings where it is accessed without.
//!
//! What is counted are functions, not accesses: one that forgets a lock often does so throughout. An access counts neither way if
//! the object is not yet known to others or about to be ended, if there are no other threads, or if it is not known what is held.
//! A member that is read without the lock in a way that the source marks as meant (`READ_ONCE`, an atomic operation) is not guarded by it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use rustc_hash::FxHashSet;

use super::concurrent::{Held, Standing};
use super::pairs::{self, Pair};
use crate::finding::{self, Finding, Level, TraceStep};
use crate::judge::guarded::Access;
use crate::judge::record::Record;
use crate::program::{FunctionId, Program};
use crate::property::{Property, Rule};
use crate::source::Sources;
use crate::symbolic::class::Class;

/// The rule's name.
pub const RULE: &str = "race/unguarded";

/// What the source writes on the line of an access that means to do without a lock.
const MARKS: [&str; 13] = [
    "READ_ONCE",
    "WRITE_ONCE",
    "ACCESS_ONCE",
    "data_race",
    "smp_load_",
    "smp_store_",
    "rcu_",
    "atomic",
    "__sync_",
    "xchg",
    "test_bit",
    "set_bit",
    "clear_bit",
];
/// Of so many accesses one is without the lock by chance, as Engler has it.
const EXPECTED: f64 = 0.9;
/// Functions that have to hold the lock for it to be believed in; and for each function that does not, so many that do.
const FEWEST: usize = 2;
const FOR_EACH: usize = 3;
/// Of a certain finding so many functions hold the lock.
const CERTAIN: usize = 3;
/// Functions that a finding names which hold the lock.
const SHOWN: usize = 3;

/// A member, and the lock that guards it, as the database keeps it.
#[derive(Clone, Debug, PartialEq)]
pub struct Guard {
    pub member: String,
    pub lock: String,
    /// Functions that access it with the lock held, and without.
    pub with: usize,
    pub without: usize,
    /// The same of accesses.
    pub accesses_with: usize,
    pub accesses_without: usize,
    pub writes: usize,
    /// How far the share of accesses under the lock is from what chance would have, in standard deviations.
    pub z: f64,
}

/// One access that counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counted {
    pub member: String,
    pub function: String,
    pub file: String,
    pub line: u32,
    pub write: bool,
    /// The classes that are held there.
    pub locks: Vec<String>,
}

/// What is known of all members.
#[derive(Debug, Default)]
pub struct Guards {
    pub guards: Vec<Guard>,
    pub accesses: Vec<Counted>,
    pub findings: Vec<(FunctionId, Finding)>,
    /// Functions to be run beside each other.
    pub pairs: Vec<Pair>,
}

/// An access by a function.
#[derive(Clone, Copy)]
pub(super) struct At<'p> {
    pub function: FunctionId,
    /// The function's file and line: a file that is compiled several times has its functions once.
    source: (&'p str, u32),
    pub access: &'p Access,
    /// The source says that no lock is meant to be held.
    marked: bool,
}

/// The accesses of one member, by whether one lock is held.
pub(super) struct Split<'m, 'p> {
    lock: &'p Class,
    with: Vec<&'m At<'p>>,
    without: Vec<&'m At<'p>>,
    /// Callers that are not known may hold it: that speaks against the belief, and is no finding.
    by_unseen: Vec<&'m At<'p>>,
}

impl Split<'_, '_> {
    fn functions(list: &[&At<'_>]) -> usize {
        sources(list.iter()).len()
    }

    /// The functions that do not hold it, as far as is known.
    fn against(&self) -> usize {
        sources(self.without.iter().chain(&self.by_unseen)).len()
    }

    /// The functions of a list that only read the member: where they hold the lock, it is there for readers, too.
    fn readers(list: &[&At<'_>]) -> usize {
        let mut writes: BTreeMap<(&str, u32), bool> = BTreeMap::new();
        for at in list {
            *writes.entry(at.source).or_default() |= at.access.write;
        }
        writes.values().filter(|&&writes| !writes).count()
    }

    /// At least half of the functions hold the lock, which belongs to the member.
    pub fn is_believed(&self, member: &Class) -> bool {
        !self.with.is_empty()
            && Self::functions(&self.with) >= self.against()
            && is_near(self.lock, member)
    }

    fn z(&self) -> f64 {
        let (with, without) = (Self::functions(&self.with), self.against());
        let all = (with + without) as f64;
        (with as f64 / all - EXPECTED) / (EXPECTED * (1.0 - EXPECTED) / all).sqrt()
    }
}

/// The functions of some accesses, each once.
fn sources<'l, 'p: 'l>(list: impl Iterator<Item = &'l &'l At<'p>>) -> BTreeSet<(&'p str, u32)> {
    list.map(|at| at.source).collect()
}

/// Finds the guards of all members.
pub fn settle(
    program: &Program,
    records: &[Option<Record>],
    property: &Property,
    root: &Path,
) -> Guards {
    let standing = Standing::of(program, records);
    let mut result = Guards::default();
    let Some(rule) = property.rule(RULE).filter(|_| standing.threaded) else {
        return result;
    };
    let mut sources = Sources::default();
    let members = members(program, &standing, (&mut sources, root));
    result.pairs = pairs::pairs(program, &standing, &members);
    let written = members
        .iter()
        .filter(|(_, accesses)| accesses.iter().any(|at| at.access.write));
    let splits = written.filter_map(|(member, accesses)| {
        let split = best(&standing, accesses)?;
        Some((*member, split))
    });
    let splits: Vec<(&Class, Split<'_, '_>)> = splits.collect();
    let believed = splits
        .iter()
        .filter(|(member, split)| split.is_believed(member));
    let places = Places::of(believed.map(|(_, split)| split));
    let mut told = BTreeSet::new();
    for (member, split) in &splits {
        result.guards.push(guard(member, split));
        let counted = split.with.iter().chain(&split.without);
        result.accesses.extend(counted.map(|at| Counted {
            member: member.to_string(),
            function: program.function(at.function).name.name.clone(),
            file: at.access.site.0.clone(),
            line: at.access.site.1,
            write: at.access.write,
            locks: {
                let held = standing.all_held(at.function, &at.access.locks);
                held.into_iter().map(Class::to_string).collect()
            },
        }));
        let found = findings((program, &standing), rule, split, &places);
        for (source, function, mut finding) in found {
            // Who reads of one member looks at the others that lie there without the same lock, too.
            if finding.level != Level::Note && !told.insert((source, split.lock)) {
                finding.level = Level::Note;
            }
            result.findings.push((function, finding));
        }
    }
    let order = |one: &Counted| {
        (
            one.member.clone(),
            one.file.clone(),
            one.line,
            one.function.clone(),
        )
    };
    result.accesses.sort_by_cached_key(order);
    result
}

/// How many places of each function access what each lock guards.
struct Places<'p>(BTreeMap<((&'p str, u32), &'p Class), usize>);

impl<'p> Places<'p> {
    fn of<'s>(splits: impl Iterator<Item = &'s Split<'s, 'p>>) -> Places<'p>
    where
        'p: 's,
    {
        let mut places = Places(BTreeMap::new());
        for split in splits {
            for at in split.with.iter().chain(&split.without) {
                *places.0.entry((at.source, split.lock)).or_default() += 1;
            }
        }
        places
    }

    /// Whether a function does nothing but read one number, once, of all that the lock guards: it would see the same if it held the lock for the read.
    fn is_lone_read(&self, at: &At<'p>, lock: &'p Class) -> bool {
        let plain = !at.access.write && !at.access.pointer;
        plain
            && self
                .0
                .get(&(at.source, lock))
                .is_none_or(|places| *places == 1)
    }
}

/// The accesses that count, by member.
fn members<'p>(
    program: &'p Program,
    standing: &Standing<'p>,
    (sources, root): (&mut Sources, &Path),
) -> BTreeMap<&'p Class, Vec<At<'p>>> {
    let mut members: BTreeMap<&Class, Vec<At<'_>>> = BTreeMap::new();
    let mut seen = FxHashSet::default();
    for function in program.ids() {
        let Some(accesses) = standing.accesses(function) else {
            continue;
        };
        for access in &accesses.members {
            let counts = !standing.is_fresh(function, &access.place)
                && !standing.is_ended(function, &access.place)
                && !standing.is_by_itself(function, &access.place)
                && !standing.is_alone(function, access.calls as usize)
                && !access.in_child
                && !standing.starts_after(function, access.calls as usize);
            let place = (&access.member, &access.site, access.write);
            if counts && seen.insert(place) {
                let own = program.function(function);
                let line = sources.line(root, &access.site.0, access.site.1);
                let is_marked = |line: &str| MARKS.iter().any(|mark| line.contains(mark));
                members.entry(&access.member).or_default().push(At {
                    function,
                    source: (&own.file, own.line),
                    access,
                    marked: access.volatile
                        || standing.is_in_atomic_section(function, access.calls as usize)
                        || line.is_some_and(is_marked),
                });
            }
        }
    }
    members
}

/// The lock that a member is accessed under most surely.
pub(super) fn best<'m, 'p>(
    standing: &Standing<'p>,
    accesses: &'m [At<'p>],
) -> Option<Split<'m, 'p>> {
    let mut locks: BTreeSet<&Class> = BTreeSet::new();
    for at in accesses {
        locks.extend(standing.all_held(at.function, &at.access.locks));
    }
    let mut best: Option<Split<'m, 'p>> = None;
    for lock in locks {
        let mut split = Split {
            lock,
            with: Vec::new(),
            without: Vec::new(),
            by_unseen: Vec::new(),
        };
        for at in accesses {
            match standing.holds(at.function, &at.access.locks, lock) {
                Held::Yes => split.with.push(at),
                Held::No => split.without.push(at),
                Held::ByUnseen => split.by_unseen.push(at),
                Held::Unsure => {}
            }
        }
        if best.as_ref().is_none_or(|best| split.z() > best.z()) {
            best = Some(split);
        }
    }
    best
}

fn guard(member: &Class, split: &Split<'_, '_>) -> Guard {
    let all = split.with.iter().chain(&split.without);
    Guard {
        member: member.to_string(),
        lock: split.lock.to_string(),
        with: Split::functions(&split.with),
        without: Split::functions(&split.without),
        accesses_with: split.with.len(),
        accesses_without: split.without.len(),
        writes: all.filter(|at| at.access.write).count(),
        z: split.z(),
    }
}

/// The findings where a member is accessed without its lock: one for each function, with its place in the source.
fn findings<'p>(
    (program, standing): (&'p Program, &Standing<'p>),
    rule: &Rule,
    split: &Split<'_, 'p>,
    places: &Places<'p>,
) -> Vec<((&'p str, u32), FunctionId, Finding)> {
    let (with, without) = (
        Split::functions(&split.with),
        Split::functions(&split.without),
    );
    let meant = split.without.iter().any(|at| at.marked);
    let own = split.without.first().is_some_and(|at| {
        // Where the lock is the data's own, one function against all others is enough.
        split.against() == 1 && is_own(split.lock, &at.access.member)
    });
    let believed = with >= FEWEST && (own || with >= FOR_EACH * split.against());
    if without == 0 || !believed || meant {
        return Vec::new();
    }
    let readers = Split::readers(&split.with);
    let mut found = Vec::new();
    let mut told = BTreeSet::new();
    let mut writes_first: Vec<&&At<'_>> = split.without.iter().collect();
    writes_first.sort_by_key(|at| !at.access.write);
    for at in writes_first {
        // One of the two writes, two threads run them, and no other lock keeps them apart.
        let others = split.with.iter().filter(|other| {
            (at.access.write || other.access.write)
                && !standing.may_exclude(
                    (at.function, &at.access.locks),
                    (other.function, &other.access.locks),
                )
                && program.are_together(at.function, other.function)
                && !(standing.of_main[at.function.index()]
                    && standing.of_main[other.function.index()])
        });
        let mut others: Vec<&At<'_>> = others.copied().collect();
        // Each function has one finding for a member.
        if others.is_empty() || !told.insert(at.source) {
            continue;
        }
        others.sort_by_key(|other| !other.access.write);
        let mut functions = BTreeSet::new();
        others.retain(|other| functions.insert(other.source));
        let near = is_near(split.lock, &at.access.member);
        // What is read by itself is the same with the lock: many others have to take it for that.
        let fewest = match places.is_lone_read(at, split.lock) {
            true => FOR_EACH,
            false => FEWEST,
        };
        let certain = (at.access.write || readers >= fewest)
            && (own || with >= CERTAIN && near)
            && !standing.is_set_up(at.function)
            && !standing.may_be_by_itself(at.function, &at.access.place);
        let level = if certain { rule.level } else { Level::Note };
        found.push((
            at.source,
            at.function,
            finding(program, rule, (at, &others), split, level),
        ));
    }
    found
}

/// Whether a lock belongs to what it guards: it is a global, or lies in the same record.
fn is_near(lock: &Class, member: &Class) -> bool {
    let record = |class: &Class| {
        let name = class.to_string();
        name.split_once('.').map(|(record, _)| record.to_owned())
    };
    lock.is_single() || record(lock) == record(member)
}

/// Whether a lock lies in the record that its data lies in, or both are global objects of one file.
fn is_own(lock: &Class, member: &Class) -> bool {
    let place = |class: &Class| {
        let name = class.to_string();
        let divided = name.split_once("::").or(name.split_once('.'));
        divided.map(|(place, _)| place.to_owned())
    };
    lock.is_single() == member.is_single()
        && place(lock).is_some_and(|own| Some(own) == place(member))
}

fn finding(
    program: &Program,
    rule: &Rule,
    (at, others): (&At<'_>, &[&At<'_>]),
    split: &Split<'_, '_>,
    level: Level,
) -> Finding {
    let function = program.function(at.function);
    let lock = split.lock.to_string();
    let does = |at: &At<'_>| if at.access.write { "written" } else { "read" };
    let member = &at.access.member.to_string();
    let step = |at: &At<'_>, message: String| TraceStep {
        file: at.access.site.0.clone(),
        line: at.access.site.1,
        column: at.access.site.2,
        function: program.function(at.function).name.name.clone(),
        depth: 0,
        message,
    };
    let mut trace = vec![step(
        at,
        format!("{member} is {} here, and {lock} is not held", does(at)),
    )];
    for other in others.iter().take(SHOWN) {
        let name = &program.function(other.function).name.name;
        let message = format!("but in {name}, it is {} with {lock} held", does(other));
        trace.push(step(other, message));
    }
    let (with, without) = (
        Split::functions(&split.with),
        Split::functions(&split.without),
    );
    let state = format!(
        "{} without {lock}, which {with} of {} functions hold that access {member}",
        does(at),
        with + without
    );
    let object = match at.access.name.is_empty() || at.access.name.contains(['(', '…']) {
        true => member.clone(),
        false => at.access.name.clone(),
    };
    let (file, line, column) = at.access.site.clone();
    Finding {
        rule: rule.id.clone(),
        level,
        message: rule.message_for(&object, &state, &function.name.name),
        file,
        line,
        column,
        function: function.name.name.clone(),
        fingerprint: finding::fingerprint(&rule.id, &function.name, member, &trace[..1]),
        object,
        explanations: Vec::new(),
        retold: None,
        filtered: None,
        programs: Vec::new(),
        trace,
    }
}
