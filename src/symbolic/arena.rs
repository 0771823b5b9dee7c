//! The values, places and conditions of an execution.
//!
//! In: the constants, unknowns, locations and conditions that come up while a function is executed and judged. Out:
//! one name for each, and what is known of it: what an unknown stands for, where an address leads, what the source
//! calls a place, in which state an object was on entry. It only grows, and no entry changes, so that judges can use
//! and extend it when the execution itself is finished.

use std::collections::BTreeMap;
use std::ops::Range;

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use super::addresses::Operated;
use super::alias::Chains;
use super::callee::{CalledWith, Callees};
use super::class::Class;
use super::dereference::Locations;
use super::formula::Formula;
use super::guard::{Cond, Guard};
use super::heap::{Heap, Initial};
use super::limits::Precision;
use super::log::Tested;
use super::member::MemberOf;
use super::naming::{Namer, Names};
use super::origin::{Origin, Origins};
use super::region::{FrameId, Loc, NUMBER_BITS, RegionId, RegionKind, Regions, SymbolicOffset};
use super::state::{MachineId, Object, State, Status, Tracked};
use super::term::{Node, Op, Term, Var};
use crate::ir::{LocalId, POINTER_BITS};
use crate::property::{AssertionRule, Key, Machine, Property, Role, StateId};

/// Pointers that are followed back to where they come from.
const MAX_STEPS: usize = 16;

/// The slot that a frame's result is returned through.
const RESULT: LocalId = LocalId(u32::MAX);

pub struct Arena<'a> {
    pub formula: Formula,
    pub regions: Regions,
    pub origins: Origins,
    pub initial: Initial,
    pub names: Names,
    machines: Vec<&'a Machine>,
    machine_ids: FxHashMap<&'a str, MachineId>,
    pub(super) callees: &'a dyn Callees,
    /// The states on entry of the objects that were asked for so far.
    pub(super) entries: BTreeMap<Object, Tracked>,
    /// Objects that are bits of words, see [`Machine::bits`].
    pub(super) bits: Vec<Object>,
    /// The paths on which each call result was made.
    pub(super) made_on: FxHashMap<Term, Guard>,
    /// The paths on which an assertion has failed and execution has gone on.
    pub warned: Guard,
    /// The paths on which a pointer was followed that is null there for certain: nothing is lost behind that.
    pub crashed: Guard,
    /// The paths on which each pointer is dereferenced.
    pub(super) dereferenced: FxHashMap<Term, Guard>,
    pub(super) locations: FxHashMap<Term, Locations>,
    /// Addresses of which not all locations are known: they are too many.
    pub(super) untold: FxHashSet<Term>,
    /// The paths on which an address is null or an error number, where it depends on a condition.
    pub invalid_on: FxHashMap<Term, Guard>,
    /// Those among them on which it is null.
    pub null_on: FxHashMap<Term, Guard>,
    /// What is checked of assertions that the user has written.
    pub(super) assertions: Option<&'a AssertionRule>,
    /// Accesses to memory are checked.
    pub watches: bool,
    /// The machines whose objects are blocks of memory, or named by values.
    pub(super) of_regions: Vec<MachineId>,
    /// There is a machine whose objects are named by values.
    pub follows_values: bool,
    /// By which addresses, within its block, each object was operated on.
    pub(super) operated_at: FxHashMap<Object, Vec<Operated>>,
    /// Pointers to blocks, and numbers of objects, that the function has from a call that made them, with their machines.
    pub owned: FxHashMap<Term, MachineId>,
    /// Numbers that pointers were made of: error numbers, or 0.
    pub(super) error_numbers: FxHashSet<Term>,
    /// The blocks to which leads back what the pointers in them lead to.
    pub leads_back: FxHashSet<RegionId>,
    /// The blocks that a callee has made and returned, and to which it has left pointers where these parameters of the function lead, if that is
    /// anywhere.
    pub left_where_parameters_lead: FxHashMap<RegionId, Vec<u32>>,
    /// The blocks that callees have made, and to which they have left pointers in blocks of memory.
    pub found_in_blocks: FxHashSet<RegionId>,
    /// See [`Arena::apart`].
    pub(super) chains: Chains,
    /// Those of them that the call has left in memory: they are not its result.
    pub left_in_memory: FxHashSet<Term>,
    /// Where calls have left the pointers that they have made.
    pub left_at: FxHashMap<Term, SmallVec<[Loc; 2]>>,
    /// How many bytes from them the blocks begin that these pointers lead into.
    pub(super) begins_at: FxHashMap<Term, i64>,
    /// Pointers that the function itself compares with null.
    pub tested: FxHashMap<Term, Tested>,
    /// The conditions that the analysed function itself tests, and whether it does so other than to end a loop.
    pub own_conditions: FxHashMap<Cond, bool>,
    /// The paths on which each pointer that is null on some was followed, and that end there.
    pub(super) followed_null: FxHashMap<Term, Guard>,
    /// The paths on which it comes to such a test.
    pub tested_on: FxHashMap<Cond, Guard>,
    /// Pointers that callees have made, whose conditions are not among the following yet.
    pub(super) callee_pointers: Vec<Term>,
    /// The conditions on which callees make pointers null.
    pub(super) foreign_conditions: FxHashSet<Cond>,
    /// Those of them on which a callee's result is null that may be so because the callee has got no memory, or the like.
    pub failing_conditions: FxHashSet<Cond>,
    /// The paths on which a call has not made what it makes as a rule, as its result tells, a number: `posix_memalign`, `open`.
    pub made_nothing: Vec<Guard>,
    /// Those that say that a result is null, of functions that never return null.
    pub never_null: FxHashSet<Cond>,
    /// Comparisons that say that a result lies beyond the bounds of what the function returns.
    pub out_of_range: Vec<Term>,
    /// Pointers to the number of the last error, as functions of the library return them.
    pub last_errors: FxHashSet<Term>,
    /// Results that may be null, with the paths on which alone they are.
    pub null_only: Vec<(Term, Guard)>,
    /// Conditions under which a store through a pointer that a block holds has changed where the block's own pointer was read from.
    links: FxHashMap<Cond, Var>,
    /// The first unknown of the call whose effects are applied.
    pub called_at: Var,
    /// Numbers that callees have written to memory without their summaries telling them.
    pub untold_numbers: FxHashSet<Term>,
    /// The unknowns that stand for what each call has returned and written, in the order of the calls.
    pub applied: Vec<Range<Var>>,
    /// The member as which each pointer is read from memory, and the pointers that are read as several: members of a union.
    pub(super) read_as: FxHashMap<Term, String>,
    /// Where a pointer was found that a callee has left in a variable.
    pub(super) found_at: FxHashMap<Term, Loc>,
    /// As which member of which record the source has the pointers at these places.
    pub(super) members_at: FxHashMap<Loc, MemberOf>,
    /// The same of callees.
    pub(super) members_told: FxHashMap<Loc, MemberOf>,
    pub read_as_several: FxHashSet<Term>,
    /// Variables of the function's own whose address is in memory that others know.
    pub(super) exposed: FxHashSet<RegionId>,
    /// Unknown numbers that loops have counted, and that callees have left in memory.
    pub lengths: FxHashSet<Term>,
    /// Results of functions that return null when they fail, and what these leave in memory then; with the call.
    pub nullable: FxHashMap<Term, CalledWith>,
    /// Results that are null at times for reasons of the callee's, and the call.
    pub null_at_times: FxHashMap<Term, CalledWith>,
    /// Parameters that are records: what they lead to has no name for a caller.
    pub given_records: Vec<RegionId>,
    /// Bytes of a pointer in memory, for the function and all that it inlines.
    pub pointer_size: u64,
}

impl<'a> Arena<'a> {
    pub(super) fn new(
        property: &'a Property,
        callees: &'a dyn Callees,
        precision: Precision,
    ) -> Self {
        let machines: Vec<&Machine> = property
            .checkers
            .iter()
            .flat_map(|checker| &checker.machines)
            .collect();
        let machine_ids = machines
            .iter()
            .enumerate()
            .map(|(index, machine)| (machine.name.as_str(), MachineId(index as u16)))
            .collect();
        let of_regions = (0u16..)
            .zip(&machines)
            .filter(|(_, machine)| machine.watches_accesses())
            .map(|(index, _)| MachineId(index))
            .collect();
        let follows_values = machines.iter().any(|machine| machine.key == Key::Value);
        let mut formula = Formula::new();
        formula.guards.be_as_precise(precision);
        Arena {
            formula,
            regions: Regions::new(),
            origins: Origins::default(),
            initial: Initial::default(),
            names: Names::default(),
            machines,
            machine_ids,
            callees,
            entries: BTreeMap::new(),
            bits: Vec::new(),
            made_on: FxHashMap::default(),
            warned: Guard::FALSE,
            crashed: Guard::FALSE,
            dereferenced: FxHashMap::default(),
            locations: FxHashMap::default(),
            untold: FxHashSet::default(),
            invalid_on: FxHashMap::default(),
            null_on: FxHashMap::default(),
            assertions: property.assertions(),
            watches: property.watches_accesses(),
            of_regions,
            follows_values,
            operated_at: FxHashMap::default(),
            owned: FxHashMap::default(),
            error_numbers: FxHashSet::default(),
            leads_back: FxHashSet::default(),
            left_where_parameters_lead: FxHashMap::default(),
            found_in_blocks: FxHashSet::default(),
            chains: Chains::default(),
            left_in_memory: FxHashSet::default(),
            left_at: FxHashMap::default(),
            begins_at: FxHashMap::default(),
            tested: FxHashMap::default(),
            own_conditions: FxHashMap::default(),
            followed_null: FxHashMap::default(),
            tested_on: FxHashMap::default(),
            callee_pointers: Vec::new(),
            foreign_conditions: FxHashSet::default(),
            failing_conditions: FxHashSet::default(),
            made_nothing: Vec::new(),
            never_null: FxHashSet::default(),
            out_of_range: Vec::new(),
            last_errors: FxHashSet::default(),
            null_only: Vec::new(),
            links: FxHashMap::default(),
            called_at: Var(0),
            untold_numbers: FxHashSet::default(),
            applied: Vec::new(),
            read_as: FxHashMap::default(),
            found_at: FxHashMap::default(),
            members_at: FxHashMap::default(),
            members_told: FxHashMap::default(),
            read_as_several: FxHashSet::default(),
            exposed: FxHashSet::default(),
            lengths: FxHashSet::default(),
            nullable: FxHashMap::default(),
            null_at_times: FxHashMap::default(),
            given_records: Vec::new(),
            pointer_size: u64::from(POINTER_BITS / 8),
        }
    }

    pub fn machine(&self, name: &str) -> Option<MachineId> {
        self.machine_ids.get(name).copied()
    }

    pub fn heap(&mut self) -> Heap<'_> {
        Heap {
            formula: &mut self.formula,
            regions: &mut self.regions,
            origins: &mut self.origins,
            initial: &mut self.initial,
        }
    }

    pub fn local(&mut self, frame: FrameId, local: LocalId) -> Loc {
        let region = self.regions.region(RegionKind::Local { frame, local });
        Loc {
            region,
            symbolic: SymbolicOffset::NONE,
            offset: 0,
        }
    }

    /// Where a frame's result is found after it ran.
    pub fn result_slot(&mut self, frame: FrameId) -> Loc {
        self.local(frame, RESULT)
    }

    pub fn unknown(&mut self, width: u16) -> Term {
        self.origins
            .fresh(&mut self.formula.terms, width, Origin::Unknown)
    }

    /// A fresh value for the result of a call in a state.
    pub fn call_result(&mut self, state: &State, width: u16, origin: Origin) -> Term {
        let term = self.origins.fresh(&mut self.formula.terms, width, origin);
        self.made_on.insert(term, state.guard);
        term
    }

    /// Whether a value hangs on nothing but what the world outside the program has answered.
    pub fn is_from_outside(&self, value: Term) -> bool {
        self.is_from(value, Origin::is_outside)
    }

    /// Whether a value hangs on nothing but what calls have returned.
    pub fn is_from_calls(&self, value: Term) -> bool {
        self.is_from(value, |origin| matches!(origin, Origin::Call { .. }))
    }

    /// Whether a value hangs on nothing but what the function was called with, and what lay in memory then.
    pub fn is_from_entry(&self, value: Term) -> bool {
        self.is_from(value, |origin| {
            matches!(origin, Origin::Param(_) | Origin::Initial { .. })
        })
    }

    fn is_from(&self, value: Term, wanted: impl Fn(&Origin) -> bool) -> bool {
        let mut vars = self.formula.vars(value).into_iter().peekable();
        vars.peek().is_some() && vars.all(|var| wanted(self.origins.of(var)))
    }

    /// Whether a value is the number of the last error.
    pub fn is_last_error(&self, value: Term) -> bool {
        let Node::Var(var) = *self.formula.terms.node(value) else {
            return false;
        };
        match self.origins.of(var) {
            Origin::Initial { loc, .. } if loc.offset == 0 => {
                let base = self.regions.base(loc.region);
                base.is_some_and(|base| self.last_errors.contains(&base))
            }
            _ => false,
        }
    }

    /// A fresh unconstrained Boolean as a guard.
    pub fn choice(&mut self) -> Guard {
        let term = self.unknown(1);
        self.formula.guard_of(term)
    }

    /// Notes that a condition decides whether a store through a pointer that a block holds changes where the block's own pointer was read from.
    /// `since`: the first unknown of the step that stores it.
    pub fn decides_link(&mut self, condition: Term, since: Var) {
        let decides = self.formula.guard_of(condition);
        if let Some((condition, _)) = self.formula.guards.as_literal(decides) {
            self.links.insert(condition, since);
        }
    }

    /// Whether a condition is one of those.
    pub fn is_link(&self, condition: Term) -> bool {
        let known = self.formula.known_guard(condition);
        let literal = known.and_then(|paths| self.formula.guards.as_literal(paths));
        literal.is_some_and(|(condition, _)| self.links.contains_key(&condition))
    }

    /// Whether one of them has a part in which paths these are, of those that came up when the pointer to a block was there already.
    pub fn hangs_on_link(&self, paths: Guard, block: RegionId) -> bool {
        if self.links.is_empty() {
            return false;
        }
        let pointer = self.known_since(block);
        let mut support = self.formula.guards.support(paths).iter();
        support.any(|condition| {
            let since = self.links.get(condition);
            since.is_some_and(|&since| pointer.is_none_or(|pointer| pointer < since))
        })
    }

    /// The unknown with which the pointer to a block has come up; none of what was there on entry.
    fn known_since(&self, block: RegionId) -> Option<Var> {
        let mut base = self.regions.base(block);
        for _ in 0..MAX_STEPS {
            let Node::Var(var) = *self.formula.terms.node(base?) else {
                return None;
            };
            match *self.origins.of(var) {
                Origin::Initial { loc, .. } => base = self.regions.base(loc.region),
                Origin::Param(_) => return None,
                _ => return Some(var),
            }
        }
        None
    }

    /// The objects of which something is known, with their states on entry.
    pub fn entries(&self) -> &BTreeMap<Object, Tracked> {
        &self.entries
    }

    /// Notes the state on entry of an object that is first met in a callee, as the callee's summary gives it.
    pub(crate) fn enters_in(&mut self, object: Object, state: StateId) {
        self.entries.entry(object).or_insert_with(|| Tracked {
            set: SmallVec::from_iter([(Status::At(state), Guard::TRUE)]),
            touched: Guard::FALSE,
        });
    }

    /// Whether a value is the result of a call.
    pub fn is_call_result(&self, value: Term) -> bool {
        self.made_on.contains_key(&value)
    }

    /// The object's state on entry to the function: unknown for one of the environment, the machine's
    /// initial state for one in the function's own storage.
    pub fn entry_state(&mut self, object: Object) -> Tracked {
        if let Some(tracked) = self.entries.get(&object) {
            return tracked.clone();
        }
        let machine = self.machines[usize::from(object.machine.0)];
        if machine.bits {
            self.bits.push(object);
        }
        let mut tracked = Tracked {
            set: SmallVec::new(),
            touched: Guard::FALSE,
        };
        let region = object.loc.region;
        // What the program declares is no block of memory, whoever calls, and neither is a stream that was opened.
        let no_block = machine.watches_accesses()
            && (self.regions.is_program(region) || self.is_made_otherwise(region, object.machine));
        if self.regions.is_local(region) || no_block {
            tracked.set.push((Status::At(machine.initial), Guard::TRUE));
            if no_block {
                tracked.touched = Guard::TRUE;
            }
        } else if machine.watches_accesses() {
            let expected = Status::At(machine.expected());
            tracked.set.push((expected, Guard::TRUE));
        } else {
            let mut rest = Guard::TRUE;
            for state in 0..machine.states.len() as u8 {
                let last = usize::from(state) + 1 == machine.states.len();
                let here = if last {
                    Guard::TRUE
                } else {
                    // Others are told by no value, and need no name.
                    let origin = match machine.saved {
                        Some(_) => Origin::State {
                            object,
                            state: StateId(state),
                        },
                        None => Origin::Unknown,
                    };
                    let term = self.origins.fresh(&mut self.formula.terms, 1, origin);
                    self.formula.guard_of(term)
                };
                let guard = self.formula.guards.and(rest, here);
                rest = self.formula.guards.and_not(rest, here);
                tracked.set.push((Status::At(StateId(state)), guard));
            }
        }
        self.entries.insert(object, tracked.clone());
        tracked
    }

    /// The object's state in a state of the execution.
    pub fn now(&mut self, state: &State, object: Object) -> Tracked {
        match state.objects.get(&object) {
            Some(tracked) => tracked.clone(),
            None => self.entry_state(object),
        }
    }

    /// The paths on which a block is in a state in which it is gone.
    pub fn ended_on(&mut self, state: &State, block: RegionId) -> Guard {
        let mut ended = Guard::FALSE;
        for (object, tracked) in &state.objects {
            if object.loc.region != block {
                continue;
            }
            let machine = self.machine_of(*object);
            for &(status, paths) in &tracked.set {
                if matches!(status, Status::At(at) if machine.role(at) == Role::Dead) {
                    ended = self.formula.guards.or(ended, paths);
                }
            }
        }
        ended
    }

    /// A `size_t` as an `int`. What is found in memory or was counted is taken to fit: a program that lets a length overflow has another
    /// defect than those that are looked for behind that. A result may be -1, which tells of a failure.
    pub(super) fn fitting(&mut self, length: Term, choices: u32) -> Term {
        let formula = &mut self.formula;
        if let Node::Op { op: Op::Ite, args } = formula.terms.node(length)
            && choices > 0
        {
            let (condition, then, els) = (args[0], args[1], args[2]);
            let then = self.fitting(then, choices - 1);
            let els = self.fitting(els, choices - 1);
            return self.formula.terms.ite(condition, then, els);
        }
        let known = match *formula.terms.node(length) {
            Node::Var(var) => {
                let on_entry = matches!(self.origins.of(var), Origin::Initial { .. });
                let number = !self.formula.terms.is_pointer(length);
                number && (on_entry || self.lengths.contains(&length))
            }
            _ => false,
        };
        let terms = &mut self.formula.terms;
        match known {
            true => {
                let low = terms.extract(length, 0, NUMBER_BITS - 1);
                terms.zext(low, NUMBER_BITS)
            }
            false => self.resize(length, NUMBER_BITS),
        }
    }

    /// The machine that an object is one of.
    pub fn machine_of(&self, object: Object) -> &'a Machine {
        self.machine_at(object.machine)
    }

    pub fn machine_at(&self, id: MachineId) -> &'a Machine {
        self.machines[usize::from(id.0)]
    }

    /// Whether programs keep the machine's state in a value.
    pub fn is_saved(&self, machine: MachineId) -> bool {
        self.machines[usize::from(machine.0)].saved.is_some()
    }

    pub fn merge(&mut self, left: State, right: State) -> State {
        // Objects that only one side has touched were in their entry state on the other.
        let missing: Vec<Object> = if left.objects.ptr_eq(&right.objects) {
            Vec::new()
        } else {
            left.objects
                .keys()
                .chain(right.objects.keys())
                .filter(|object| !self.entries.contains_key(object))
                .copied()
                .collect()
        };
        for object in missing {
            self.entry_state(object);
        }
        let entries = &self.entries;
        let mut heap = Heap {
            formula: &mut self.formula,
            regions: &mut self.regions,
            origins: &mut self.origins,
            initial: &mut self.initial,
        };
        let mut entry = |_: &mut Formula, object: Object| {
            entries.get(&object).cloned().unwrap_or(Tracked {
                set: SmallVec::new(),
                touched: Guard::FALSE,
            })
        };
        left.merge(right, &mut heap, &mut entry)
    }

    pub(super) fn namer(&mut self) -> Namer<'_> {
        Namer {
            names: &self.names,
            terms: &mut self.formula.terms,
            regions: &mut self.regions,
            origins: &self.origins,
            open: Vec::new(),
            by_callees: false,
        }
    }

    /// Whether the source has a value, or what it is on some paths, as a pointer.
    pub fn is_told_pointer(&self, value: Term, depth: u32) -> bool {
        match self.formula.terms.node(value) {
            _ if self.names.is_pointer(value) || self.formula.terms.is_pointer(value) => true,
            Node::Op { op: Op::Ite, args } if depth > 0 => {
                let mut arms = args[1..].iter();
                arms.any(|&arm| self.is_told_pointer(arm, depth - 1))
            }
            _ => false,
        }
    }

    /// Whether the source keeps a pointer at a location, where a value was stored.
    pub fn keeps_pointer(&mut self, loc: Loc, value: Option<Term>) -> bool {
        let address = self.regions.address(&mut self.formula.terms, loc);
        let depth = 6;
        self.names.keeps_pointer(address)
            || value.is_some_and(|value| self.is_told_pointer(value, depth))
    }

    /// Whether a function's name says that what it returns is new, by the words of some machine.
    pub fn makes(&self, name: &str) -> bool {
        let mut machines = self.machines.iter();
        machines.any(|machine| machine.names.makes(name))
    }

    /// The class of the object at a location.
    pub fn class_of(&mut self, loc: Loc) -> Option<Class> {
        let address = self.regions.address(&mut self.formula.terms, loc);
        let callees = self.callees;
        self.namer()
            .class(address, &|record| callees.is_object_type(record))
    }

    /// The class of the object at a location by the record member that it is, even if the record is a global.
    pub fn member_class(&mut self, loc: Loc) -> Option<Class> {
        let address = self.regions.address(&mut self.formula.terms, loc);
        let callees = self.callees;
        self.namer()
            .member_class(address, &|record| callees.is_object_type(record))
    }

    /// An object's class; for an object without one, the class of all such objects of its machine.
    pub fn class_or_any(&mut self, object: Object) -> Class {
        let class = self.class_of(object.loc);
        class.unwrap_or_else(|| Class::any_of(&self.machine_of(object).name))
    }

    /// The class of the object at a location, be it one of several that an address may lead to.
    pub fn class_or_choice(&mut self, loc: Loc) -> Option<Class> {
        self.class_of(loc).or_else(|| self.class_by_choice(loc))
    }

    /// The class of the member by which the source names the object at a location where an address may lead to it or to others.
    pub fn class_by_choice(&mut self, loc: Loc) -> Option<Class> {
        let address = self.regions.address(&mut self.formula.terms, loc);
        self.names.chosen(address).cloned()
    }

    /// Gives the locations that an address may stand for the class of the member that the source names there.
    pub fn classify_choice(&mut self, address: Term, places: &[(Guard, Loc)]) {
        let callees = self.callees;
        let is_object = |record: &str| callees.is_object_type(record);
        if let Some(class) = self.names.class_of_choice(address, &is_object) {
            for &(_, loc) in places {
                let address = self.regions.address(&mut self.formula.terms, loc);
                self.names.choice(address, &class);
            }
        }
    }
}
