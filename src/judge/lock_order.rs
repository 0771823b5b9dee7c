//! What a finished execution says about the order in which objects are taken ([`crate::settle::lock_order`]).
//!
//! In: the log, and the exit, for what has a name to callers. Out: which classes are taken, and called
//! for, while the function itself holds an object of another class.
//!
//! What a callee takes under a name that its caller knows comes back as an operation of the caller, with
//! the callee's conditions. What it takes beyond that is left to [`crate::settle::lock_order`], by the callee's name.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};

use crate::finding::TraceStep;
use crate::ir::{POINTER_BITS, SymbolName};
use crate::property::{Event, StateId, States};
use crate::sat::oracle::Oracle;
use crate::summary::convert::Converter;
use crate::summary::infer::Exit;
use crate::summary::trace;
use crate::symbolic::arena::Arena;
use crate::symbolic::class::Class;
use crate::symbolic::execution::Execution;
use crate::symbolic::guard::Guard;
use crate::symbolic::log::{CallEvent, Site, TakeEvent};
use crate::symbolic::model::Model;
use crate::symbolic::origin::Origin;
use crate::symbolic::region::RegionKind;
use crate::symbolic::state::{Object, Status};
use crate::symbolic::term::Node;
use crate::symbolic::validity::LAST_POINTER;

/// A function's part in the order of objects.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LockOrder {
    pub nested: Vec<Nested>,
    /// What the function takes that its callers know no name for.
    pub takes: Vec<Take>,
    /// What the function holds whenever it calls another.
    pub under: BTreeMap<SymbolName, BTreeSet<Class>>,
    /// What it holds at one of the calls at least.
    pub under_at_times: BTreeMap<SymbolName, BTreeSet<Class>>,
    /// What it gives up that its caller holds.
    pub drops: BTreeSet<Class>,
}

/// Something is taken, or called for, while something else is held.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Nested {
    pub rule: String,
    pub outer: Class,
    /// As the source writes it.
    pub outer_name: String,
    /// How it is held.
    pub state: StateId,
    /// Which of the function's objects the outer and the inner one are; for a call, none.
    pub objects: [Option<u32>; 2],
    /// Whether the two are members of one record; `None` for a call.
    pub of_one_record: Option<bool>,
    pub inner: Inner,
    /// The pointers that lead to the outer and the inner one, where they are read from memory.
    pub pointers: [Option<Class>; 2],
    /// As the source writes it; empty for a call.
    pub inner_name: String,
    /// The function takes both whenever it comes there: itself, or by way of callees that do so on all their paths.
    pub surely: bool,
    /// What else is held.
    pub gates: BTreeSet<Class>,
    /// File, line and column of the inner operation.
    pub site: (String, u32, u32),
    /// One way there.
    pub trace: Vec<TraceStep>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Inner {
    Taken {
        class: Class,
        /// The states in which another holder is waited for.
        waits_for: States,
    },
    /// A call: whatever the callee takes that its callers know no name for.
    Called(SymbolName),
}

/// An object is taken.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Take {
    pub class: Class,
    /// As the source writes it.
    pub name: String,
    /// The pointer that leads to it, where that is read from memory.
    pub pointer: Option<Class>,
    pub waits_for: States,
    pub trace: Vec<TraceStep>,
}

/// Pairs beyond this number are left out.
const MAX_NESTED: usize = 96;
/// Classes that a function is known to take itself.
const MAX_TAKES: usize = 24;
/// Queries for one function.
const MAX_QUERIES: u32 = 64;

/// An object that the function has taken and not given back.
#[derive(Clone, Copy)]
struct Holding {
    object: Object,
    state: StateId,
    /// The paths on which it is held so.
    paths: Guard,
    /// The operation that took it.
    since: usize,
}

/// Something that the function takes, or a call for whatever the callee takes.
struct Acquisition<'e> {
    inner: Inner,
    paths: Guard,
    site: &'e Site,
    call: u32,
    order: usize,
    /// As the source writes it; empty for a call.
    name: &'e str,
    /// None for a call.
    object: Option<Object>,
    /// Whenever the function comes there: by itself, or by a callee on all its paths.
    surely: bool,
    steps: &'e dyn Fn() -> Vec<TraceStep>,
}

/// What matters here of an operation.
struct Step {
    object: Object,
    guard: Guard,
    touched: Guard,
    from: Status,
    to: Option<Status>,
}

/// Collects a function's part in the order of objects. `exit`: none if it never returns.
pub fn collect(
    execution: &Execution,
    oracle: &mut Oracle<'_>,
    exit: Option<&Exit<'_>>,
) -> LockOrder {
    if execution.log.takes.is_empty() && execution.log.calls.is_empty() {
        return LockOrder::default();
    }
    let mut collector = Collector {
        classes: FxHashMap::default(),
        numbers: FxHashMap::default(),
        models: Vec::new(),
        asked: 0,
        holdings: Vec::new(),
        held_before: Vec::new(),
        found: FxHashSet::default(),
        lock_order: LockOrder::default(),
        called: BTreeMap::new(),
        called_at_times: BTreeMap::new(),
    };
    let mut taken = execution.log.takes.iter().peekable();
    let mut called = execution.log.calls.iter().peekable();
    for index in 0..=execution.log.ops.len() {
        while let Some(event) = taken.next_if(|event| event.order <= index) {
            collector.take(execution, oracle, event, exit);
        }
        while let Some(event) = called.next_if(|event| event.order <= index) {
            collector.call(execution, oracle, event);
        }
        collector.operation(execution, oracle, index);
    }
    let some = |called: BTreeMap<SymbolName, BTreeSet<Class>>| {
        let called = called.into_iter();
        called.filter(|(_, classes)| !classes.is_empty()).collect()
    };
    collector.lock_order.under = some(collector.called);
    collector.lock_order.under_at_times = some(collector.called_at_times);
    collector.lock_order
}

struct Collector {
    classes: FxHashMap<Object, Option<Class>>,
    numbers: FxHashMap<Object, u32>,
    /// Executions that are known to be possible.
    models: Vec<Rc<Model>>,
    asked: u32,
    holdings: Vec<Holding>,
    /// The paths that end because an object is taken that the caller holds.
    held_before: Vec<(Object, Guard)>,
    found: FxHashSet<(Class, StateId, Inner)>,
    lock_order: LockOrder,
    /// What is held at every call of a function so far.
    called: BTreeMap<SymbolName, BTreeSet<Class>>,
    called_at_times: BTreeMap<SymbolName, BTreeSet<Class>>,
}

impl Collector {
    fn class(&mut self, arena: &mut Arena<'_>, object: Object) -> Option<Class> {
        if let Some(known) = self.classes.get(&object) {
            return known.clone();
        }
        let class = match is_fresh(arena, object) {
            true => None,
            false => arena.class_or_choice(object.loc),
        };
        self.classes.insert(object, class.clone());
        class
    }

    /// An object's number in the function.
    fn number(&mut self, object: Object) -> u32 {
        let next = self.numbers.len() as u32;
        *self.numbers.entry(object).or_insert(next)
    }

    /// An execution that takes these paths.
    fn model(&mut self, oracle: &mut Oracle<'_>, paths: Guard) -> Option<Rc<Model>> {
        let known = |model: &&Rc<Model>| model.eval_guard(&oracle.formula, paths);
        if let Some(model) = self.models.iter().find(known) {
            return Some(model.clone());
        }
        if self.asked >= MAX_QUERIES {
            return None;
        }
        self.asked += 1;
        let model = oracle.model(paths)?;
        self.models.push(model.clone());
        Some(model)
    }

    fn take(
        &mut self,
        execution: &Execution,
        oracle: &mut Oracle<'_>,
        event: &TakeEvent,
        exit: Option<&Exit<'_>>,
    ) {
        let Some(class) = self.class(oracle, event.object) else {
            return;
        };
        let inner = Inner::Taken {
            class: class.clone(),
            waits_for: event.waits_for,
        };
        if let Some(site) = event.stack.first() {
            let acquisition = Acquisition {
                inner,
                paths: event.guard,
                site,
                call: event.call,
                order: event.order,
                name: &event.name,
                object: Some(event.object),
                surely: event.always,
                steps: &|| trace::take(event),
            };
            self.nest(execution, oracle, &acquisition);
        }
        let takes = &self.lock_order.takes;
        let known = takes.iter().any(|take| take.class == class);
        let mut converter = exit.map_or_else(Converter::of_entry, Converter::new);
        if known || takes.len() >= MAX_TAKES || converter.object(oracle, event.object.loc).is_some()
        {
            return;
        }
        let paths = execution.with_known_effect(oracle, event.object, event.guard);
        if paths != Guard::FALSE && self.model(oracle, paths).is_some() {
            self.lock_order.takes.push(Take {
                class,
                pointer: oracle.class_of_pointer(event.object),
                name: event.name.clone(),
                waits_for: event.waits_for,
                trace: trace::take(event),
            });
        }
    }

    fn call(&mut self, execution: &Execution, oracle: &mut Oracle<'_>, event: &CallEvent) {
        let inner = Inner::Called(SymbolName::clone(&event.callee));
        if let Some(site) = event.stack.first().filter(|_| !event.inlined) {
            let acquisition = Acquisition {
                inner,
                paths: event.guard,
                site,
                call: event.call,
                order: event.order,
                name: "",
                object: None,
                surely: false,
                steps: &|| trace::call(event),
            };
            self.nest(execution, oracle, &acquisition);
        }
        let held = self.held_on(oracle, event.guard, None);
        let callee = SymbolName::clone(&event.callee);
        let at_times = self.called_at_times.entry(callee.clone()).or_default();
        at_times.extend(held.iter().cloned());
        self.called
            .entry(callee)
            .and_modify(|known| known.retain(|class| held.contains(class)))
            .or_insert(held);
    }

    /// The classes of what is held on all of these paths.
    fn held_on(
        &mut self,
        arena: &mut Arena<'_>,
        paths: Guard,
        but: Option<Object>,
    ) -> BTreeSet<Class> {
        let mut objects: Vec<(Object, Guard)> = Vec::new();
        for holding in &self.holdings {
            match objects.iter_mut().find(|entry| entry.0 == holding.object) {
                Some(entry) => entry.1 = arena.formula.guards.or(entry.1, holding.paths),
                None => objects.push((holding.object, holding.paths)),
            }
        }
        for (object, held) in &mut objects {
            let before = self.held_before.iter().filter(|entry| entry.0 == *object);
            for (_, paths) in before {
                *held = arena.formula.guards.or(*held, *paths);
            }
        }
        let mut classes = BTreeSet::new();
        for (object, held) in objects {
            if Some(object) != but && arena.formula.guards.implies(paths, held) {
                classes.extend(self.class(arena, object));
            }
        }
        classes
    }

    /// Notes what else is held where something is taken.
    fn nest(
        &mut self,
        execution: &Execution,
        oracle: &mut Oracle<'_>,
        acquisition: &Acquisition<'_>,
    ) {
        for at in 0..self.holdings.len() {
            let holding = self.holdings[at];
            if self.lock_order.nested.len() >= MAX_NESTED {
                return;
            }
            let Some(outer) = self.class(oracle, holding.object) else {
                continue;
            };
            let Acquisition { call, order, .. } = *acquisition;
            let inner = &acquisition.inner;
            if matches!(inner, Inner::Taken { class, .. } if *class == outer)
                || self.found.contains(&(outer, holding.state, inner.clone()))
                || operates_on(execution, holding.object, call, order)
            {
                continue;
            }
            let both = paths_of_both(execution, oracle, &holding, acquisition);
            let span = (holding.since, order);
            if both == Guard::FALSE || !is_given_back(execution, oracle, holding.object, both, span)
            {
                continue;
            }
            let nested = self.nested(execution, oracle, &holding, acquisition, both);
            self.lock_order.nested.extend(nested);
        }
    }

    /// What is taken while something is held, with one of the executions in which it is; `None` if none is found.
    fn nested(
        &mut self,
        execution: &Execution,
        oracle: &mut Oracle<'_>,
        holding: &Holding,
        acquisition: &Acquisition<'_>,
        both: Guard,
    ) -> Option<Nested> {
        let Holding {
            object,
            state,
            since,
            ..
        } = *holding;
        let model = self.model(oracle, both)?;
        let outer = self.class(oracle, object)?;
        let inner = acquisition.inner.clone();
        self.found.insert((outer.clone(), state, inner.clone()));
        let span = (since, acquisition.order);
        let mut trace = trace::held(execution, oracle, &model, object, both, span);
        trace.extend((acquisition.steps)());
        let pair = [Some(object), acquisition.object];
        let objects = pair.map(|object| Some(self.number(object?)));
        let pointers = pair.map(|object| object.and_then(|object| oracle.class_of_pointer(object)));
        let mut gates = self.held_on(oracle, both, Some(object));
        gates.remove(&outer);
        let rule = oracle.machine_of(object).rule(Event::Order)?.to_owned();
        let since = &execution.log.ops[since];
        let held_surely = since.source.is_none() || !since.open;
        let site = acquisition.site;
        Some(Nested {
            rule,
            site: (site.file.to_string(), site.line, site.column),
            outer,
            outer_name: oracle.name_of(object.loc),
            state,
            objects,
            of_one_record: acquisition
                .object
                .map(|inner| inner.loc.region == object.loc.region),
            pointers,
            inner,
            inner_name: acquisition.name.to_string(),
            surely: acquisition.surely && held_surely,
            gates,
            trace,
        })
    }

    /// What is held after an operation.
    fn operation(&mut self, execution: &Execution, arena: &mut Arena<'_>, index: usize) {
        let Some(event) = execution.log.ops.get(index) else {
            return;
        };
        let event = Step {
            object: event.object,
            guard: event.guard,
            touched: event.touched,
            from: event.from,
            to: event.to,
        };
        let initial = arena.machine_of(event.object).initial;
        let Some(Status::At(to)) = event.to else {
            if event.from != Status::At(initial) {
                self.held_before.push((event.object, event.guard));
            }
            return;
        };
        if arena.machine_of(event.object).rule(Event::Order).is_none() {
            return;
        }
        let mut taken = Vec::new();
        if event.from == Status::At(initial) {
            taken.push((event.guard, index));
        } else if to == initial {
            let theirs = arena.formula.guards.and_not(event.guard, event.touched);
            if theirs != Guard::FALSE
                && let Some(class) = self.class(arena, event.object)
            {
                self.lock_order.drops.insert(class);
            }
        }
        for holding in &mut self.holdings {
            if holding.object == event.object && Status::At(holding.state) == event.from {
                let moved = arena.formula.guards.and(holding.paths, event.guard);
                if moved != Guard::FALSE {
                    taken.push((moved, holding.since));
                    holding.paths = arena.formula.guards.and_not(holding.paths, event.guard);
                }
            }
        }
        let taken = taken.into_iter().filter(|_| to != initial);
        for (paths, since) in taken {
            let same = |holding: &&mut Holding| {
                (holding.object, holding.state, holding.since) == (event.object, to, since)
            };
            match self.holdings.iter_mut().find(same) {
                Some(known) => known.paths = arena.formula.guards.or(known.paths, paths),
                None => self.holdings.push(Holding {
                    object: event.object,
                    state: to,
                    paths,
                    since,
                }),
            }
        }
        self.holdings
            .retain(|holding| holding.paths != Guard::FALSE);
    }
}

/// The paths on which something is taken while an object is held.
fn paths_of_both(
    execution: &Execution,
    arena: &mut Arena<'_>,
    holding: &Holding,
    acquisition: &Acquisition<'_>,
) -> Guard {
    let paths = (holding.paths, acquisition.paths);
    let mut both = arena.formula.guards.and(paths.0, paths.1);
    // Where a pointer is null there is nothing to hold or to take.
    for object in [Some(holding.object), acquisition.object]
        .into_iter()
        .flatten()
    {
        let exists = is_there(arena, object);
        both = arena.formula.guards.and(both, exists);
    }
    execution.with_known_effect(arena, holding.object, both)
}

/// Whether a call operates on the object itself: it may give it up before it takes another.
fn operates_on(execution: &Execution, object: Object, call: u32, order: usize) -> bool {
    let ops = execution.log.ops[order..].iter();
    let mut within = ops.take_while(|event| event.call == call);
    within.any(|event| event.object == object)
}

/// Whether what is held is believed to be: the function has taken it itself, or gives back on some of the
/// paths what a callee has left held. (That a callee leaves something held which nobody gives back is mostly
/// said of one object that the callee knew by two names.)
fn is_given_back(
    execution: &Execution,
    arena: &mut Arena<'_>,
    object: Object,
    paths: Guard,
    (since, order): (usize, usize),
) -> bool {
    if execution.log.ops[since].source.is_none() {
        return true;
    }
    let initial = Status::At(arena.machine_of(object).initial);
    let later = order.max(since + 1)..execution.log.ops.len();
    later.into_iter().any(|index| {
        let event = &execution.log.ops[index];
        let back = event.object == object && event.gives_back(initial);
        let guard = event.guard;
        back && !arena.formula.guards.excludes(guard, paths)
    })
}

/// The paths on which a pointer leads to the object, rather than nowhere.
fn is_there(arena: &mut Arena<'_>, object: Object) -> Guard {
    let exists = arena.exists(object.loc);
    let RegionKind::Environment { base } = *arena.regions.kind(object.loc.region) else {
        return exists;
    };
    let terms = &mut arena.formula.terms;
    let address = arena.regions.address(terms, object.loc);
    let null = terms.constant(0, POINTER_BITS);
    let nowhere = terms.eq(address, null);
    let last = terms.constant(LAST_POINTER, POINTER_BITS);
    let valid = terms.ule(base, last);
    let (nowhere, valid) = (
        arena.formula.guard_of(nowhere),
        arena.formula.guard_of(valid),
    );
    let exists = arena.formula.guards.and(exists, valid);
    arena.formula.guards.and_not(exists, nowhere)
}

/// Whether the function itself has just made the object, so that nobody else can wait for it.
fn is_fresh(arena: &Arena<'_>, object: Object) -> bool {
    let RegionKind::Environment { base } = arena.regions.kind(object.loc.region) else {
        return arena.regions.is_local(object.loc.region);
    };
    let Node::Var(var) = arena.formula.terms.node(*base) else {
        return false;
    };
    match arena.origins.of(*var) {
        Origin::Call { text, .. } => {
            let name = text.split('(').next().unwrap_or_default();
            arena.machine_of(object).names.makes(name)
        }
        _ => false,
    }
}
