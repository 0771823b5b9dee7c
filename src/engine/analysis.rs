//! The analysis of a whole program: for each component of the call graph, decide what its functions
//! are (seeded, lost, no-op), take stored results where nothing they depend on has changed, analyse
//! the rest (paper §6). Where seed data stands for a function, its callers go by that; what it does itself is checked all
//! the same, unless it is a primitive of some lock's.
//!
//! In: a linked [`Program`], bodies, seeds, property, stored results. Out: a [`Record`] for every
//! function, equal whatever the number of threads and whatever was stored.

mod callees;

use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;
use rustc_hash::FxHashMap;
use serde::Serialize;

use self::callees::{Caller, Provisional};
use crate::engine::function::{self, Options};
use crate::engine::interface::{self, Demand, Interface};
use crate::engine::schedule;
use crate::engine::timings::Timings;
use crate::frontend::BodyKey;
use crate::ir::{Body, SymbolName};
use crate::judge::lock_order::LockOrder;
use crate::judge::obligation::Obligations;
use crate::judge::record::{Disposition, Facts, FunctionResult, Outcome, Record, ResultKey};
use crate::judge::recursive::Recursion;
use crate::panics::contained;
use crate::program::call_graph::Condensation;
use crate::program::{CalleeRef, Function, FunctionId, Program};
use crate::property::{Key, Property};
use crate::summary::Summary;
use crate::summary::seeds::Seeds;
use crate::symbolic::callee::INLINE_DEPTH;

/// Where lowered bodies are kept.
pub trait Bodies: Sync {
    /// The error is one line for a person.
    fn body(&self, key: BodyKey) -> Result<Arc<Body>, String>;
}

/// A function's result but for its summary, which is read only where a caller is executed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredResult {
    /// Hash of the summary.
    pub identity: blake3::Hash,
    /// A call moves an object of some machine.
    pub active: bool,
    pub facts: Facts,
    pub outcome: Outcome,
}

impl StoredResult {
    /// Whether callers know more of what the function initialises.
    fn hands_on(&self) -> bool {
        self.outcome == Outcome::Analysed && self.facts.recursion.hands_on()
    }

    pub fn split(result: FunctionResult) -> (StoredResult, Summary) {
        let stored = StoredResult {
            identity: interface::identity(&result.summary),
            active: !result.summary.is_noop(),
            facts: result.facts,
            outcome: result.outcome,
        };
        (stored, result.summary)
    }
}

/// Where results are kept from run to run.
pub trait Results: Sync {
    fn get(&self, key: ResultKey) -> Option<StoredResult>;
    fn summary(&self, key: ResultKey) -> Option<Summary>;
    fn put(&self, key: ResultKey, result: &StoredResult, summary: &Summary);
    /// Called once for each function, when it is done.
    fn finished(&self, id: FunctionId, record: &Record);
}

/// What the analysis reads.
pub struct Inputs<'a> {
    pub program: &'a Program,
    pub bodies: &'a dyn Bodies,
    pub seeds: &'a Seeds,
    pub results: &'a dyn Results,
    pub property: &'a Property,
    pub options: &'a Options,
    /// Asked whether to stop early.
    pub cancel: &'a (dyn Fn() -> bool + Sync),
    /// Takes the time.
    pub timings: &'a Timings,
}

/// Analyses the program bottom-up in the current rayon pool. A function that was not reached before
/// `cancel` said so has no record.
pub fn analyse(inputs: &Inputs<'_>) -> Vec<Option<Record>> {
    let run = Run::new(inputs);
    let graph = Condensation::new(&run.edges());
    schedule::run(&graph, inputs.cancel, |component| {
        let members = &graph.components[component as usize].members;
        let members: Vec<FunctionId> = members.iter().copied().map(FunctionId).collect();
        inputs.timings.total.measure(|| run.component(&members));
        run.let_go(&members);
    });
    run.done
        .into_iter()
        .map(|done| done.into_inner().map(|done| done.record))
        .collect()
}

struct Done {
    /// What callers see, unless seed data stands for the function ([`Run::seen`]).
    interface: Option<Interface>,
    record: Record,
}

/// How often a recursive function is analysed at most.
const MAX_PASSES: usize = 3;

struct Run<'a> {
    inputs: &'a Inputs<'a>,
    /// Hash of what all results depend on: build, options, property, seeds.
    basis: blake3::Hash,
    /// Functions that are called and not defined.
    externals: FxHashMap<&'a SymbolName, Interface>,
    external: Interface,
    /// What callers see of the functions that seed data stands for.
    seeded: FxHashMap<FunctionId, Seeded>,
    done: Vec<OnceLock<Done>>,
    demand: Demand,
    /// Results of functions that have several variants: most variants have the same result.
    twins: Mutex<FxHashMap<ResultKey, Twin>>,
}

/// A function that seed data stands for.
struct Seeded {
    interface: Interface,
    /// It is a lock's primitive, or the library's, or its definition was not read: nothing is to be found in it.
    opaque: bool,
}

/// A result, with its summary.
type Twin = (StoredResult, Arc<Summary>);

impl<'a> Run<'a> {
    fn new(inputs: &'a Inputs<'a>) -> Self {
        let mut externals = FxHashMap::default();
        for callee in inputs.program.functions.iter().flat_map(|f| &f.callees) {
            if callee.function.is_none() {
                externals.entry(&callee.name).or_insert_with(|| {
                    let seed = inputs.seeds.summary(&callee.name, None);
                    seed.map_or_else(Interface::external, Interface::primitive)
                });
            }
        }
        Run {
            inputs,
            basis: hash(&[
                env!("CASSINI_BUILD").as_bytes(),
                &encode(inputs.options),
                &encode(inputs.property),
                &encode(inputs.seeds),
            ]),
            externals,
            external: Interface::external(),
            seeded: seeded(inputs),
            done: inputs
                .program
                .functions
                .iter()
                .map(|_| OnceLock::new())
                .collect(),
            demand: Demand::new(&inputs.program.functions),
            twins: Mutex::default(),
        }
    }

    fn function(&self, id: FunctionId) -> &'a Function {
        self.inputs.program.function(id)
    }

    /// For each function those that it depends on; on none that seed data stands for. (What `printk` calls in turn would tie
    /// half of Linux into one circle.)
    fn edges(&self) -> Vec<Vec<u32>> {
        let mut edges = self.inputs.program.edges();
        for callees in &mut edges {
            callees.retain(|&callee| !self.seeded.contains_key(&FunctionId(callee)));
        }
        edges
    }

    /// What is known of a callee; `None` for one of the component at hand.
    fn interface(&self, callee: &CalleeRef) -> Option<&Interface> {
        match callee.function {
            Some(id) => self.seen(id),
            None => Some(self.externals.get(&callee.name).unwrap_or(&self.external)),
        }
    }

    /// What callers see of a function of the program; `None` before it is done.
    fn seen(&self, id: FunctionId) -> Option<&Interface> {
        match self.seeded.get(&id) {
            Some(seeded) => Some(&seeded.interface),
            None => self.done[id.index()].get()?.interface.as_ref(),
        }
    }

    /// Finishes all members of a component, whose callees are done.
    fn component(&self, members: &[FunctionId]) {
        let mut open = Vec::new();
        for &id in members {
            match (self.seeded.get(&id), &self.function(id).body) {
                (Some(seeded), _) if seeded.opaque => self.finish(id, None, Disposition::Seeded),
                (_, Err(reason)) => {
                    let disposition = Disposition::Lost(reason.clone());
                    self.finish(id, Some(Interface::lost()), disposition);
                }
                (_, Ok(body)) => open.push((id, *body)),
            }
        }
        let touches =
            self.inputs.property.watches_accesses() || self.any_callee(&open, Interface::is_active);
        let members = self.inputs.options.execution.members;
        if !touches && !members && !self.any_callee(&open, Interface::initialises) {
            for &(id, body) in &open {
                self.finish(id, Some(self.noop(id, body)), Disposition::NoOp);
            }
            return;
        }
        let keys = self.keys(&open);
        let mut functions = open.iter().map(|&(id, _)| self.function(id));
        let several = functions.any(|function| function.variant.is_some());
        if several && let Some(twins) = self.twins(&keys) {
            for ((&(id, _), key), (result, summary)) in open.iter().zip(keys).zip(twins) {
                self.finish_result((id, touches), Some(key), result, Some(summary));
            }
            return;
        }
        let stored: Option<Vec<StoredResult>> = keys
            .iter()
            .map(|&key| self.inputs.results.get(key))
            .collect();
        if let Some(stored) = stored {
            for ((&(id, _), key), result) in open.iter().zip(keys).zip(stored) {
                self.finish_result((id, touches), Some(key), result, None);
            }
            return;
        }
        let results = self.execute(&open);
        // A half-finished component has no place in the database.
        let timely = results.iter().all(|r| r.outcome != Outcome::OutOfTime);
        for ((&(id, _), key), result) in open.iter().zip(keys).zip(results) {
            let (result, summary) = StoredResult::split(result);
            if timely {
                self.inputs.results.put(key, &result, &summary);
            }
            let summary = Arc::new(summary);
            if timely && several {
                let twin = (result.clone(), Arc::clone(&summary));
                self.twins.lock().insert(key, twin);
            }
            let key = timely.then_some(key);
            self.finish_result((id, touches), key, result, Some(summary));
        }
    }

    /// Whether something is true of a function that one of these calls.
    fn any_callee(
        &self,
        members: &[(FunctionId, BodyKey)],
        is: impl Fn(&Interface) -> bool,
    ) -> bool {
        members.iter().any(|&(id, _)| {
            let callees = self.function(id).callees.iter();
            callees.filter_map(|callee| self.interface(callee)).any(&is)
        })
    }

    /// The results of other variants of a component's functions, if these variants depend on nothing else.
    fn twins(&self, keys: &[ResultKey]) -> Option<Vec<Twin>> {
        let twins = self.twins.lock();
        keys.iter().map(|key| twins.get(key).cloned()).collect()
    }

    /// Frees the summaries that nobody asks for now that these functions are done.
    fn let_go(&self, members: &[FunctionId]) {
        for &id in members {
            self.demand.done(id, self.function(id), |id| self.seen(id));
        }
    }

    /// What callers see of a function that touches no object of any machine.
    fn noop(&self, id: FunctionId, body: BodyKey) -> Interface {
        let mut interface = Interface::noop(&self.function(id).results);
        if let Some((depth, identity)) = self.inlining(id, body) {
            interface.identity = identity;
            interface.inline_depth = Some(depth);
        }
        interface
    }

    /// What callers see of an analysed function.
    fn analysed(
        &self,
        id: FunctionId,
        key: Option<ResultKey>,
        result: &StoredResult,
        summary: Option<Arc<Summary>>,
    ) -> Interface {
        let mut interface = Interface::analysed(result, key, summary);
        if let Ok(body) = self.function(id).body
            && let Some((depth, identity)) = self.inlining(id, body)
        {
            interface.identity = hash(&[interface.identity.as_bytes(), identity.as_bytes()]);
            interface.inline_depth = Some(depth);
        }
        interface
    }

    /// How many calls deep a function may be inlined, and a hash of the bodies that come with it;
    /// `None` if it may not.
    fn inlining(&self, id: FunctionId, body: BodyKey) -> Option<(u8, blake3::Hash)> {
        if !self.function(id).small {
            return None;
        }
        let mut hasher = blake3::Hasher::new();
        hasher.update(b"inline").update(&body.0);
        self.hash_constants(id, &mut hasher);
        let mut depth = 0;
        for callee in &self.function(id).callees {
            // Members of the same component forbid inlining, and so do callees that must be applied by
            // summary, unless a record is returned, whose contents (a guard's pointer to its lock) no summary tells.
            // A call of anything else that is too large, or not defined, stays a call.
            let interface = self.interface(callee)?;
            match interface.inline_depth {
                _ if interface.primitive => {}
                Some(below) if below < INLINE_DEPTH => depth = depth.max(below + 1),
                _ if interface.is_plain() || self.function(id).returns_record => {}
                _ => return None,
            }
            hasher.update(interface.identity.as_bytes());
        }
        Some((depth, hasher.finalize()))
    }

    /// Adds what the constant objects hold that a function names.
    fn hash_constants(&self, id: FunctionId, hasher: &mut blake3::Hasher) {
        let constants = &self.inputs.program.constants;
        for name in &self.function(id).constants {
            hasher.update(&encode(&(name, constants.get(name))));
        }
    }

    /// The keys of the results of a component's functions.
    fn keys(&self, members: &[(FunctionId, BodyKey)]) -> Vec<ResultKey> {
        let mut hasher = blake3::Hasher::new();
        hasher.update(self.basis.as_bytes());
        for (id, body) in members {
            hasher.update(&body.0);
            self.hash_constants(*id, &mut hasher);
            hasher.update(&encode(&self.function(*id).methods));
            for callee in &self.function(*id).callees {
                hasher.update(&encode(&callee.name));
                match self.interface(callee) {
                    Some(interface) => hasher.update(interface.identity.as_bytes()),
                    None => {
                        let position = members.iter().position(|m| Some(m.0) == callee.function);
                        hasher.update(&encode(&position))
                    }
                };
            }
        }
        let all = hasher.finalize();
        (0u32..)
            .zip(members)
            .map(|(position, _)| {
                let hash = hash(&[all.as_bytes(), &position.to_le_bytes()]);
                let mut key = [0; 16];
                key.copy_from_slice(&hash.as_bytes()[..16]);
                ResultKey(key)
            })
            .collect()
    }

    /// Analyses a component's functions. Those that are recursive are analysed again as long as a callee's
    /// summary is not the one that they have seen, but not for ever: a summary may grow each time. A
    /// member that has no summary yet has an unknown result for the others, and no effect: which arguments recursive functions
    /// keep is a least fixed point. An argument that one of them stores somewhere counts as kept, for it may be stored further down, too. If the arguments
    /// that a member keeps have changed in the last pass but one, it is taken to keep all in the last.
    fn execute(&self, members: &[(FunctionId, BodyKey)]) -> Vec<FunctionResult> {
        let position: FxHashMap<FunctionId, usize> =
            (0..).zip(members).map(|(i, &(id, _))| (id, i)).collect();
        let mut callers = vec![Vec::new(); members.len()];
        for (caller, &(id, _)) in members.iter().enumerate() {
            for callee in &self.function(id).callees {
                if let Some(&callee) = callee.function.and_then(|id| position.get(&id)) {
                    callers[callee].push(caller);
                }
            }
        }
        let mut provisional = Provisional::default();
        let mut results: Vec<Option<FunctionResult>> = members.iter().map(|_| None).collect();
        let mut stale = vec![true; members.len()];
        let mut growing = Vec::new();
        for pass in 0..MAX_PASSES {
            if !stale.contains(&true) {
                break;
            }
            for id in growing.drain(..).filter(|_| pass + 1 == MAX_PASSES) {
                if let Some(Some(summary)) = provisional.get_mut(&id) {
                    Arc::make_mut(summary).keep_all();
                }
            }
            for (index, &(id, body)) in members.iter().enumerate() {
                if !std::mem::take(&mut stale[index]) {
                    continue;
                }
                let result = self.execute_one(id, body, &provisional);
                let before = results[index].as_ref().and_then(FunctionResult::seen);
                let settled = match (before, result.seen()) {
                    (Some(before), Some(after)) => {
                        growing.extend((!before.keeps_like(after)).then_some(id));
                        before.acts_like(after)
                    }
                    (before, after) => before.is_none() && after.is_none(),
                };
                let mut seen = result.seen().cloned();
                seen.iter_mut().for_each(Summary::keep_stored);
                provisional.insert(id, seen.map(Arc::new));
                if !settled {
                    callers[index]
                        .iter()
                        .for_each(|&caller| stale[caller] = true);
                }
                results[index] = Some(result);
            }
        }
        results.into_iter().flatten().collect()
    }

    fn execute_one(
        &self,
        id: FunctionId,
        body: BodyKey,
        provisional: &Provisional,
    ) -> FunctionResult {
        let work = || {
            let body = self.inputs.bodies.body(body)?;
            let callees = Caller {
                run: self,
                function: self.function(id),
                provisional,
            };
            let Inputs {
                property,
                options,
                timings,
                ..
            } = self.inputs;
            Ok(function::analyse(
                &body, &callees, property, options, timings,
            ))
        };
        let timings = self.inputs.timings;
        timings
            .function(id, || contained(work))
            .and_then(|result| result)
            .unwrap_or_else(|message| FunctionResult {
                summary: Summary::default(),
                facts: Facts::default(),
                outcome: Outcome::Failed(message),
            })
    }

    fn finish(&self, id: FunctionId, interface: Option<Interface>, disposition: Disposition) {
        let record = Record {
            disposition,
            key: None,
            facts: Facts::default(),
        };
        self.finish_with(id, interface, record);
    }

    /// `touches`: some callee touches an object. A function that only initialises some is a no-op to its callers, unless they
    /// know more of what it initialises.
    fn finish_result(
        &self,
        (id, touches): (FunctionId, bool),
        key: Option<ResultKey>,
        result: StoredResult,
        summary: Option<Arc<Summary>>,
    ) {
        let interface = match self.function(id).body {
            _ if self.seeded.contains_key(&id) => None,
            Ok(body) if !touches && !result.hands_on() => Some(self.noop(id, body)),
            _ => Some(self.analysed(id, key, &result, summary)),
        };
        let mut facts = result.facts;
        if result.outcome != Outcome::Analysed {
            facts.recursion = self.unknown_recursion(id);
        }
        if !touches {
            facts.obligations = Obligations::default();
            facts.lock_order = LockOrder::default();
        }
        let disposition = match result.outcome {
            Outcome::Analysed if !touches => Disposition::NoOp,
            Outcome::Analysed => Disposition::Analysed,
            Outcome::Reduced(what) => Disposition::Reduced(what),
            Outcome::OutOfBudget(what) => Disposition::OutOfBudget(what),
            Outcome::OutOfTime => Disposition::OutOfBudget("time limit".to_owned()),
            Outcome::Failed(why) => Disposition::Failed(why),
        };
        let record = Record {
            disposition,
            key,
            facts,
        };
        self.finish_with(id, interface, record);
    }

    /// What is known of the objects that a function initialises which could not be analysed.
    fn unknown_recursion(&self, id: FunctionId) -> Recursion {
        let function = self.function(id);
        let mut callees = function
            .callees
            .iter()
            .filter_map(|callee| self.interface(callee));
        match callees.any(Interface::initialises) {
            true => Recursion::unknown((function.file.clone(), function.line)),
            false => Recursion::default(),
        }
    }

    fn finish_with(&self, id: FunctionId, interface: Option<Interface>, record: Record) {
        self.inputs.results.finished(id, &record);
        // A component runs once, so the cell is empty.
        let _ = self.done[id.index()].set(Done { interface, record });
    }
}

/// The functions that seed data stands for.
fn seeded(inputs: &Inputs<'_>) -> FxHashMap<FunctionId, Seeded> {
    let Inputs { program, seeds, .. } = inputs;
    let mut seeded = FxHashMap::default();
    for id in program.ids() {
        let function = program.function(id);
        if seeds.get(&function.name.name).is_none() {
            continue;
        }
        let body = match function.body {
            Ok(key) => match inputs.bodies.body(key) {
                Ok(body) => Some(body),
                Err(_) => continue,
            },
            Err(_) => None,
        };
        let definition = (body.as_deref(), function.own);
        if let Some(summary) = seeds.in_place_of(&function.name, definition) {
            let opaque = body.is_none() || !function.own || moves_lock(inputs.property, &summary);
            let interface = Interface::primitive(summary);
            seeded.insert(id, Seeded { interface, opaque });
        }
    }
    seeded
}

/// Whether the function is a primitive of a lock's, or of another object that lies at a place and holds its own state.
fn moves_lock(property: &Property, summary: &Summary) -> bool {
    summary.objects.iter().any(|object| {
        let mut machines = property.machines();
        let machine = machines.find(|machine| machine.name == object.machine);
        machine.is_some_and(|machine| machine.key == Key::Location)
    })
}

pub(super) fn hash(parts: &[&[u8]]) -> blake3::Hash {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    hasher.finalize()
}

/// The bytes of a value, for hashing.
pub(super) fn encode<T: Serialize>(value: &T) -> Vec<u8> {
    // Only unsized sequences and failing writers are errors; these values have neither.
    postcard::to_stdvec(value).unwrap_or_default()
}

#[cfg(test)]
mod tests;
