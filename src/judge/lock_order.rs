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
use crate::summary::convert::Converter;
use crate::summary::infer::{Exit, Feasible};
use crate::summary::trace;
use crate::symbolic::class::Class;
use crate::symbolic::exec::Executor;
use crate::symbolic::guard::Guard;
use crate::symbolic::log::{CallEvent, Site, TakeEvent};
use crate::symbolic::memory::Origin;
use crate::symbolic::model::Model;
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
struct Holding {
    object: Object,
    state: StateId,
    /// The paths on which it is held so.
    paths: Guard,
    /// The operation that took it.
    since: usize,
}

/// What is taken while something is held.
#[derive(Default)]
struct Taken<'e> {
    name: &'e str,
    /// None for a call, which takes who knows what.
    object: Option<Object>,
    /// Whenever the function comes there: by itself, or by a callee on all its paths.
    surely: bool,
}

/// What matters here of an operation.
struct Step {
    object: Object,
    guard: Guard,
    touched: Guard,
    from: Status,
    to: Option<Status>,
}

/// Collects a function's part in the order of objects.
pub fn collect(exec: &mut Executor<'_>, exit: &Exit<'_>, queries: &mut dyn Feasible) -> LockOrder {
    if exec.log.takes.is_empty() && exec.log.calls.is_empty() {
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
    };
    let (takes, calls) = (
        std::mem::take(&mut exec.log.takes),
        std::mem::take(&mut exec.log.calls),
    );
    let (mut taken, mut called) = (takes.iter().peekable(), calls.iter().peekable());
    for index in 0..=exec.log.ops.len() {
        while let Some(event) = taken.next_if(|event| event.order <= index) {
            collector.take(exec, event, exit, queries);
        }
        while let Some(event) = called.next_if(|event| event.order <= index) {
            collector.call(exec, event, queries);
        }
        collector.operation(exec, index);
    }
    (exec.log.takes, exec.log.calls) = (takes, calls);
    let under = collector.called.into_iter();
    collector.lock_order.under = under.filter(|(_, classes)| !classes.is_empty()).collect();
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
}

impl Collector {
    fn class(&mut self, exec: &mut Executor<'_>, object: Object) -> Option<Class> {
        if let Some(known) = self.classes.get(&object) {
            return known.clone();
        }
        let class = match is_fresh(exec, object) {
            true => None,
            false => exec.class_or_choice(object.loc),
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
    fn model(
        &mut self,
        exec: &mut Executor<'_>,
        paths: Guard,
        queries: &mut dyn Feasible,
    ) -> Option<Rc<Model>> {
        let known = |model: &&Rc<Model>| model.eval_guard(&exec.formula, paths);
        if let Some(model) = self.models.iter().find(known) {
            return Some(model.clone());
        }
        if self.asked >= MAX_QUERIES {
            return None;
        }
        self.asked += 1;
        let model = queries.model(exec, paths)?;
        self.models.push(model.clone());
        Some(model)
    }

    fn take(
        &mut self,
        exec: &mut Executor<'_>,
        event: &TakeEvent,
        exit: &Exit<'_>,
        queries: &mut dyn Feasible,
    ) {
        let Some(class) = self.class(exec, event.object) else {
            return;
        };
        let inner = Inner::Taken {
            class: class.clone(),
            waits_for: event.waits_for,
        };
        let steps = || trace::take(event);
        if let Some(site) = event.stack.first() {
            let at = (site, event.call, event.order);
            let taken = Taken {
                name: &event.name,
                object: Some(event.object),
                surely: event.always,
            };
            self.nest(exec, inner, event.guard, at, taken, &steps, queries);
        }
        let takes = &self.lock_order.takes;
        let known = takes.iter().any(|take| take.class == class);
        let mut converter = Converter::new(exit);
        if known || takes.len() >= MAX_TAKES || converter.object(exec, event.object.loc).is_some() {
            return;
        }
        let paths = exec.with_known_effect(event.object, event.guard);
        if paths != Guard::FALSE && self.model(exec, paths, queries).is_some() {
            self.lock_order.takes.push(Take {
                class,
                pointer: exec.class_of_pointer(event.object),
                name: event.name.clone(),
                waits_for: event.waits_for,
                trace: trace::take(event),
            });
        }
    }

    fn call(&mut self, exec: &mut Executor<'_>, event: &CallEvent, queries: &mut dyn Feasible) {
        let inner = Inner::Called(SymbolName::clone(&event.callee));
        let steps = || trace::call(event);
        if let Some(site) = event.stack.first().filter(|_| !event.inlined) {
            let at = (site, event.call, event.order);
            let taken = Taken::default();
            self.nest(exec, inner, event.guard, at, taken, &steps, queries);
        }
        let held = self.held_on(exec, event.guard, None);
        self.called
            .entry(SymbolName::clone(&event.callee))
            .and_modify(|known| known.retain(|class| held.contains(class)))
            .or_insert(held);
    }

    /// The classes of what is held on all of these paths.
    fn held_on(
        &mut self,
        exec: &mut Executor<'_>,
        paths: Guard,
        but: Option<Object>,
    ) -> BTreeSet<Class> {
        let mut objects: Vec<(Object, Guard)> = Vec::new();
        for holding in &self.holdings {
            match objects.iter_mut().find(|entry| entry.0 == holding.object) {
                Some(entry) => entry.1 = exec.formula.guards.or(entry.1, holding.paths),
                None => objects.push((holding.object, holding.paths)),
            }
        }
        for (object, held) in &mut objects {
            let before = self.held_before.iter().filter(|entry| entry.0 == *object);
            for (_, paths) in before {
                *held = exec.formula.guards.or(*held, *paths);
            }
        }
        let mut classes = BTreeSet::new();
        for (object, held) in objects {
            if Some(object) != but && exec.formula.guards.implies(paths, held) {
                classes.extend(self.class(exec, object));
            }
        }
        classes
    }

    /// Notes what happens on some paths while other objects are held.
    #[allow(clippy::too_many_arguments)]
    fn nest(
        &mut self,
        exec: &mut Executor<'_>,
        inner: Inner,
        paths: Guard,
        (site, call, order): (&Site, u32, usize),
        taken: Taken<'_>,
        steps: &dyn Fn() -> Vec<TraceStep>,
        queries: &mut dyn Feasible,
    ) {
        for at in 0..self.holdings.len() {
            let Holding {
                object,
                state,
                paths: held,
                since,
            } = self.holdings[at];
            if self.lock_order.nested.len() >= MAX_NESTED {
                return;
            }
            let Some(outer) = self.class(exec, object) else {
                continue;
            };
            if matches!(&inner, Inner::Taken { class, .. } if *class == outer)
                || self.found.contains(&(outer.clone(), state, inner.clone()))
                || operates_on(exec, object, call, order)
            {
                continue;
            }
            let both = exec.formula.guards.and(held, paths);
            // Where a pointer is null there is nothing to hold or to take.
            let mut both = both;
            for object in [Some(object), taken.object].into_iter().flatten() {
                let exists = is_there(exec, object);
                both = exec.formula.guards.and(both, exists);
            }
            let both = exec.with_known_effect(object, both);
            if both == Guard::FALSE {
                continue;
            }
            if !is_given_back(exec, object, both, (since, order)) {
                continue;
            }
            let Some(model) = self.model(exec, both, queries) else {
                continue;
            };
            self.found.insert((outer.clone(), state, inner.clone()));
            let mut trace = trace::held(exec, &model, object, both, (since, order));
            trace.extend(steps());
            let objects = [Some(object), taken.object].map(|object| Some(self.number(object?)));
            let pointers = [Some(object), taken.object]
                .map(|object| object.and_then(|object| exec.class_of_pointer(object)));
            let mut gates = self.held_on(exec, both, Some(object));
            gates.remove(&outer);
            let Some(rule) = exec
                .machine_of(object)
                .rule(Event::Order)
                .map(str::to_owned)
            else {
                continue;
            };
            let since = &exec.log.ops[since];
            let held_surely = since.source.is_none() || !since.open;
            self.lock_order.nested.push(Nested {
                rule,
                site: (site.file.to_string(), site.line, site.column),
                outer,
                outer_name: exec.name_of(object.loc),
                state,
                objects,
                pointers,
                inner: inner.clone(),
                inner_name: taken.name.to_string(),
                surely: taken.surely && held_surely,
                gates,
                trace,
            });
        }
    }

    /// What is held after an operation.
    fn operation(&mut self, exec: &mut Executor<'_>, index: usize) {
        let Some(event) = exec.log.ops.get(index) else {
            return;
        };
        let event = Step {
            object: event.object,
            guard: event.guard,
            touched: event.touched,
            from: event.from,
            to: event.to,
        };
        let initial = exec.machine_of(event.object).initial;
        let Some(Status::At(to)) = event.to else {
            if event.from != Status::At(initial) {
                self.held_before.push((event.object, event.guard));
            }
            return;
        };
        if exec.machine_of(event.object).rule(Event::Order).is_none() {
            return;
        }
        let mut taken = Vec::new();
        if event.from == Status::At(initial) {
            taken.push((event.guard, index));
        } else if to == initial {
            let theirs = exec.formula.guards.and_not(event.guard, event.touched);
            if theirs != Guard::FALSE
                && let Some(class) = self.class(exec, event.object)
            {
                self.lock_order.drops.insert(class);
            }
        }
        for holding in &mut self.holdings {
            if holding.object == event.object && Status::At(holding.state) == event.from {
                let moved = exec.formula.guards.and(holding.paths, event.guard);
                if moved != Guard::FALSE {
                    taken.push((moved, holding.since));
                    holding.paths = exec.formula.guards.and_not(holding.paths, event.guard);
                }
            }
        }
        let taken = taken.into_iter().filter(|_| to != initial);
        for (paths, since) in taken {
            let same = |holding: &&mut Holding| {
                (holding.object, holding.state, holding.since) == (event.object, to, since)
            };
            match self.holdings.iter_mut().find(same) {
                Some(known) => known.paths = exec.formula.guards.or(known.paths, paths),
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

/// Whether a call operates on the object itself: it may give it up before it takes another.
fn operates_on(exec: &Executor<'_>, object: Object, call: u32, order: usize) -> bool {
    let ops = exec.log.ops[order..].iter();
    let mut within = ops.take_while(|event| event.call == call);
    within.any(|event| event.object == object)
}

/// Whether what is held is believed to be: the function has taken it itself, or gives back on some of the
/// paths what a callee has left held. (That a callee leaves something held which nobody gives back is mostly
/// said of one object that the callee knew by two names.)
fn is_given_back(
    exec: &mut Executor<'_>,
    object: Object,
    paths: Guard,
    (since, order): (usize, usize),
) -> bool {
    if exec.log.ops[since].source.is_none() {
        return true;
    }
    let initial = Status::At(exec.machine_of(object).initial);
    let later = order.max(since + 1)..exec.log.ops.len();
    later.into_iter().any(|index| {
        let event = &exec.log.ops[index];
        let back = event.object == object && event.gives_back(initial);
        let guard = event.guard;
        back && !exec.formula.guards.excludes(guard, paths)
    })
}

/// The paths on which a pointer leads to the object, rather than nowhere.
fn is_there(exec: &mut Executor<'_>, object: Object) -> Guard {
    let exists = exec.exists(object.loc);
    let RegionKind::Environment { base } = *exec.regions.kind(object.loc.region) else {
        return exists;
    };
    let terms = &mut exec.formula.terms;
    let address = exec.regions.address(terms, object.loc);
    let null = terms.constant(0, POINTER_BITS);
    let nowhere = terms.eq(address, null);
    let last = terms.constant(LAST_POINTER, POINTER_BITS);
    let valid = terms.ule(base, last);
    let (nowhere, valid) = (exec.formula.guard_of(nowhere), exec.formula.guard_of(valid));
    let exists = exec.formula.guards.and(exists, valid);
    exec.formula.guards.and_not(exists, nowhere)
}

/// Whether the function itself has just made the object, so that nobody else can wait for it.
fn is_fresh(exec: &Executor<'_>, object: Object) -> bool {
    let RegionKind::Environment { base } = exec.regions.kind(object.loc.region) else {
        return exec.regions.is_local(object.loc.region);
    };
    let Node::Var(var) = exec.formula.terms.node(*base) else {
        return false;
    };
    match exec.origins.of(*var) {
        Origin::Call { text } => {
            let name = text.split('(').next().unwrap_or_default();
            name.split('_').any(makes)
        }
        _ => false,
    }
}

/// Whether a word in a function's name says that it makes something new.
fn makes(word: &str) -> bool {
    word.ends_with("alloc") || matches!(word, "create" | "new" | "dup" | "clone")
}
