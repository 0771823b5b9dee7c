//! What a finished execution says about the locks under which members of records and global objects are accessed
//! ([`crate::settle::guards`]; Engler et al., *Bugs as Deviant Behavior*, SOSP'01, §5).
//!
//! In: the log, with its accesses to members. Out: each access and each call with the classes of locks that the function itself holds there, and
//! those of its callers that it has given up before; what the arguments of calls lead to, from which it is settled who has made an
//! object and who ends it.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::ir::SymbolName;
use crate::property::Event;
use crate::sat::oracle::Oracle;
use crate::symbolic::arena::Arena;
use crate::symbolic::class::Class;
use crate::symbolic::execution::Execution;
use crate::symbolic::guard::{Cond, Guard};
use crate::symbolic::log::{GivenEvent, MemberEvent, OpEvent};
use crate::symbolic::origin::Origin;
use crate::symbolic::region::{RegionId, RegionKind};
use crate::symbolic::state::{Object, Status};
use crate::symbolic::term::{Node, Op, Term};

/// What one function accesses and calls.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Accesses {
    /// The function was executed to its end: nothing is missing.
    pub known: bool,
    pub members: Vec<Access>,
    pub calls: Vec<Called>,
    /// The objects of which the function initialises a lock: it sets them up.
    pub initialised: BTreeSet<u32>,
}

/// A member of a record, or a global object, is read or written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Access {
    pub member: Class,
    /// As the source writes it.
    pub name: String,
    pub write: bool,
    pub volatile: bool,
    /// It is a pointer.
    pub pointer: bool,
    pub place: Place,
    pub locks: Locks,
    /// Number of calls made before it.
    pub calls: u32,
    /// See [`Called::in_child`].
    pub in_child: bool,
    /// File, line and column.
    pub site: (String, u32, u32),
}

/// A call, of a primitive or another function.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Called {
    pub callee: SymbolName,
    /// What each argument leads to, if that is one place.
    pub arguments: Vec<Option<Place>>,
    pub locks: Locks,
    /// Only a process that `fork` has made comes there: it has one thread.
    pub in_child: bool,
}

/// The object that something lies in: by a number that holds in the function, then those that the pointers to it were read from in turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    pub objects: Vec<u32>,
    pub root: Root,
}

/// Where the outermost of these objects comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Root {
    Param(u32),
    /// The function has it from a call that makes such objects.
    New,
    /// It is a global object, or found through one, or handed out by some other function.
    Other,
}

/// What is known of locks at some point of a function.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Locks {
    /// Held on all paths there, by the function itself.
    pub held: BTreeSet<Class>,
    /// Held on some of them.
    pub partly: BTreeSet<Class>,
    /// Held by callers, but given up before on some path.
    pub dropped: BTreeSet<Class>,
    /// Something is held that has no class.
    pub unclear: bool,
}

/// Objects one behind the other that are followed.
const MAX_CHAIN: usize = 6;
/// Accesses of one function that are kept.
const MAX_ACCESSES: usize = 4000;
/// Functions that make a process with one thread, and return 0 in it.
const FORKING: [&str; 3] = ["fork", "vfork", "_Fork"];

/// Collects what a function accesses and calls.
pub fn collect(execution: &Execution, oracle: &mut Oracle<'_>) -> Accesses {
    let log = &execution.log;
    let mut collector = Collector::default();
    let initialised = log.initialised.iter();
    let initialised = initialised.map(|event| collector.number(event.loc.region));
    let initialised = initialised.collect();
    collector.forks = log.given.iter().any(|event| is_fork(&event.callee.name));
    let mut members = log.members.iter().peekable();
    let mut given = log.given.iter().peekable();
    for index in 0..=log.ops.len() {
        while let Some(event) = members.next_if(|event| event.order <= index) {
            collector.access(oracle, event);
        }
        while let Some(event) = given.next_if(|event| event.order <= index) {
            collector.call(oracle, event);
        }
        if let Some(event) = log.ops.get(index) {
            collector.operation(oracle, event);
        }
    }
    Accesses {
        known: true,
        members: collector.members,
        calls: collector.calls,
        initialised,
    }
}

#[derive(Default)]
struct Collector {
    classes: FxHashMap<Object, Option<Class>>,
    numbers: FxHashMap<RegionId, u32>,
    /// The paths on which the function itself has taken each object, and holds it.
    held: Vec<(Object, Guard)>,
    dropped: BTreeSet<Class>,
    /// The paths that end because a lock is taken that the caller holds, or given up that nobody does.
    failed: Guard,
    known: FxHashMap<(Class, bool, u32, u32), usize>,
    members: Vec<Access>,
    calls: Vec<Called>,
    /// The function makes processes.
    forks: bool,
}

impl Collector {
    fn class(&mut self, arena: &mut Arena<'_>, object: Object) -> Option<Class> {
        let known = self.classes.get(&object).cloned();
        known.unwrap_or_else(|| {
            let class = arena.class_or_choice(object.loc);
            self.classes.insert(object, class.clone());
            class
        })
    }

    fn operation(&mut self, arena: &mut Arena<'_>, event: &OpEvent) {
        let machine = arena.machine_of(event.object);
        let initial = Status::At(machine.initial);
        // Only what excludes other threads has an order.
        if machine.rule(Event::Order).is_none() {
            return;
        }
        let guards = &mut arena.formula.guards;
        if event.to.is_none() {
            self.failed = guards.or(self.failed, event.guard);
            return;
        }
        let entry = self.held.iter_mut().find(|entry| entry.0 == event.object);
        if event.from == initial && event.to != Some(initial) {
            match entry {
                Some(entry) => entry.1 = guards.or(entry.1, event.guard),
                None => self.held.push((event.object, event.guard)),
            }
        } else if event.from != initial && event.to == Some(initial) {
            if let Some(entry) = entry {
                entry.1 = guards.and_not(entry.1, event.guard);
            }
            let theirs = guards.and_not(event.guard, event.touched);
            if theirs != Guard::FALSE
                && let Some(class) = self.class(arena, event.object)
            {
                self.dropped.insert(class);
            }
        }
    }

    fn locks(&mut self, arena: &mut Arena<'_>, paths: Guard) -> Locks {
        let mut locks = Locks {
            dropped: self.dropped.clone(),
            ..Locks::default()
        };
        let possible = arena.formula.guards.and_not(paths, self.failed);
        let paths = match possible {
            Guard::FALSE => paths,
            possible => possible,
        };
        for at in 0..self.held.len() {
            let (object, held) = self.held[at];
            let guards = &mut arena.formula.guards;
            if guards.and(paths, held) == Guard::FALSE {
                continue;
            }
            let always = guards.implies(paths, held);
            match self.class(arena, object) {
                None => locks.unclear = true,
                Some(class) if always => {
                    locks.held.insert(class);
                }
                Some(class) => {
                    locks.partly.insert(class);
                }
            }
        }
        locks
    }

    fn access(&mut self, arena: &mut Arena<'_>, event: &MemberEvent) {
        if self.members.len() >= MAX_ACCESSES {
            return;
        }
        let Some(member) = arena.member_class_of(event.address, event.loc) else {
            return;
        };
        let locks = self.locks(arena, event.guard);
        let (line, column) = (event.site.line, event.site.column);
        let key = (member.clone(), event.how.write, line, column);
        if let Some(&at) = self.known.get(&key) {
            let in_child = self.in_child(arena, event.guard);
            let known = &mut self.members[at];
            known.locks.join(&locks);
            known.in_child &= in_child;
            return;
        }
        let place = self.place(arena, event.loc.region);
        self.known.insert(key, self.members.len());
        self.members.push(Access {
            name: arena.name_of(event.loc),
            member,
            write: event.how.write,
            volatile: event.how.volatile,
            pointer: event.how.pointer,
            place,
            locks,
            calls: event.given as u32,
            in_child: self.in_child(arena, event.guard),
            site: (event.site.file.to_string(), line, column),
        });
    }

    fn call(&mut self, arena: &mut Arena<'_>, event: &GivenEvent) {
        let locks = self.locks(arena, event.guard);
        let arguments = event.arguments.iter();
        let arguments = arguments.map(|loc| Some(self.place(arena, (*loc)?.region)));
        let arguments = arguments.collect();
        self.calls.push(Called {
            callee: event.callee.clone(),
            arguments,
            locks,
            in_child: self.in_child(arena, event.guard),
        });
    }

    /// Whether these paths are those on which `fork` has returned 0.
    fn in_child(&self, arena: &Arena<'_>, paths: Guard) -> bool {
        if !self.forks {
            return false;
        }
        let mut implied = arena.formula.guards.implied(paths).iter();
        implied.any(|&(condition, holds)| holds && is_of_child(arena, condition))
    }

    /// An object's number in the function.
    fn number(&mut self, region: RegionId) -> u32 {
        let next = self.numbers.len() as u32;
        *self.numbers.entry(region).or_insert(next)
    }

    fn place(&mut self, arena: &Arena<'_>, region: RegionId) -> Place {
        let mut objects = Vec::new();
        let mut root = Root::Other;
        let mut at = region;
        for _ in 0..MAX_CHAIN {
            objects.push(self.number(at));
            let RegionKind::Environment { base } = arena.regions.kind(at) else {
                break;
            };
            let Node::Var(var) = arena.formula.terms.node(*base) else {
                break;
            };
            match arena.origins.of(*var) {
                Origin::Param(number) => root = Root::Param(*number),
                Origin::Call { text, .. } => {
                    let name = text.split('(').next().unwrap_or_default();
                    if arena.makes(name) {
                        root = Root::New;
                    }
                }
                Origin::Initial { loc, .. } => {
                    at = loc.region;
                    continue;
                }
                Origin::State { .. } | Origin::Unknown => {}
            }
            break;
        }
        Place { objects, root }
    }
}

fn is_fork(name: &str) -> bool {
    FORKING.contains(&name)
}

/// Whether a condition says that `fork` has returned 0.
fn is_of_child(arena: &Arena<'_>, condition: Cond) -> bool {
    let terms = &arena.formula.terms;
    let Node::Op {
        op: Op::Eq, args, ..
    } = terms.node(arena.formula.cond_term(condition))
    else {
        return false;
    };
    let of_fork = |term: &Term| match terms.node(*term) {
        Node::Var(var) => match arena.origins.of(*var) {
            Origin::Call { text, .. } => is_fork(text.split('(').next().unwrap_or_default()),
            _ => false,
        },
        _ => false,
    };
    let is_zero = |term: &Term| terms.as_const(*term).is_some_and(|value| value == 0);
    args.iter().any(of_fork) && args.iter().any(is_zero)
}

impl Locks {
    /// What is known if execution comes by on either of two ways.
    fn join(&mut self, other: &Locks) {
        let all: BTreeSet<Class> = self.held.union(&other.held).cloned().collect();
        self.held.retain(|class| other.held.contains(class));
        let both = &self.held;
        let partly = all.into_iter().filter(|class| !both.contains(class));
        let partly: Vec<Class> = partly.collect();
        self.partly.extend(partly);
        self.partly.extend(other.partly.iter().cloned());
        self.dropped.extend(other.dropped.iter().cloned());
        self.unclear |= other.unclear;
    }
}
