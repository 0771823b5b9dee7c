//! Out-parameters of a call whose callee is unknown.
//!
//! In: the arguments of the call, and the state before it. Out: the state in which the caller's own variables that they point to have
//! unknown values (DESIGN §5). One thing stays: in a record, a pointer on the access path to an object that the function holds. A callee
//! moves an iterator or a cursor while a lock is held, but not the table that contains the lock.

use super::arena::Arena;
use super::callee_writes::Rewrite;
use super::exec::{ArgValue, Executor, Variable};
use super::guard::Guard;
use super::memory::Memory;
use super::origin::Origin;
use super::region::{FrameId, Loc, RegionId, RegionKind};
use super::state::{State, Status};
use super::term::{Node, Term};
use crate::ir::{Arg, Body, ExprId, ExprKind, GUESSED_MEMBERS, POINTER_BITS, Ty};

/// A local object larger than this that a callee may write is not made unknown as a whole.
const MAX_OUT_PARAMETER_SIZE: u64 = 4096;
/// Bytes of a number, at most.
const MAX_SCALAR: u64 = 8;

impl Arena<'_> {
    /// Whether a value depends on the state that an object was in on entry.
    pub fn depends_on_entry_state(&self, value: Term) -> bool {
        let vars = self.formula.vars(value);
        vars.iter()
            .any(|&var| matches!(self.origins.of(var), Origin::State { .. }))
    }

    /// Whether something was written to these bytes, or read from them.
    fn is_known(&self, memory: &Memory, loc: Loc, size: u64) -> bool {
        memory.is_written(loc, size) || self.initial.is_read(loc, size)
    }

    /// Whether what was written to a place, or else read from it, is as wide as a pointer.
    fn holds_pointer(&self, memory: &Memory, loc: Loc) -> bool {
        let size = self.shape(Ty::Ptr).bytes;
        match memory.is_written(loc, size) {
            true => memory.shape(&self.formula.terms, loc, size).bits == POINTER_BITS,
            false => self.initial.is_read_whole(loc, size),
        }
    }
}

impl Executor<'_> {
    /// Makes unknown what the arguments of a call point to in the variables of the function that makes it, and in those of one that
    /// this is inlined into.
    pub(super) fn havoc_out_parameters(
        &mut self,
        caller: FrameId,
        state: &mut State,
        args: &[ArgValue],
    ) {
        for arg in args {
            if let Some(value) = arg.value()
                && self.arena.depends_on_entry_state(value)
            {
                self.pass_on_state(state);
            }
            if let ArgValue::Scalar(value) = arg {
                self.havoc_out_parameter(caller, state, *value);
            }
        }
    }

    /// Makes unknown the variables that a function called before may have kept.
    pub(super) fn havoc_variables_in_records(&mut self, caller: FrameId, state: &mut State) {
        for address in self.variables_in_records.clone() {
            self.havoc_variables(caller, state, address);
        }
    }

    /// Notes that an unknown callee gets a value that depends on the state that an object was in on entry.
    fn pass_on_state(&mut self, state: &State) {
        self.execution.log.state_passed_on = self
            .arena
            .formula
            .guards
            .or(self.execution.log.state_passed_on, state.guard);
    }

    /// Makes unknown the variables that an address leads to, and those whose addresses are in these: a callee that gets a table of variables
    /// (the options of a command line, with where the argument of each goes) keeps it, so that further calls may write to them.
    pub(super) fn havoc_out_parameter(
        &mut self,
        caller: FrameId,
        state: &mut State,
        address: Term,
    ) {
        let inner = match self.arena.watches {
            true => self.variables_within(state, address),
            false => Vec::new(),
        };
        self.havoc_variables(caller, state, address);
        for inner in inner {
            self.havoc_variables(caller, state, inner);
            self.variables_in_records.insert(inner);
        }
    }

    /// The addresses of variables that are in the records among the variables that an address leads to.
    fn variables_within(&mut self, state: &State, address: Term) -> Vec<Term> {
        let mut found = Vec::new();
        for &(_, loc) in self.arena.locations(address).iter() {
            let Some(local) = self.variable_at(loc).filter(|local| local.ty.is_none()) else {
                continue;
            };
            let rest = local.size.saturating_sub(loc.offset.unsigned_abs());
            let words = state.memory.words(&self.arena.formula.terms, loc, rest);
            found.extend(words.into_iter().map(|(_, word)| word));
        }
        found.retain(|&word| {
            let places = self.arena.locations(word);
            places
                .iter()
                .any(|&(_, loc)| self.variable_at(loc).is_some())
        });
        found
    }

    /// The variable of a function's own at a location.
    fn variable_at(&self, loc: Loc) -> Option<Variable> {
        let RegionKind::Local { frame, local } = *self.arena.regions.kind(loc.region) else {
            return None;
        };
        let variables = self.variables.get(frame.0 as usize)?;
        variables.get(local.index()).copied()
    }

    /// Makes unknown the variables that an address leads to, from there to their ends.
    pub fn havoc_variables_at(&mut self, state: &mut State, address: Term) {
        self.havoc_variables(FrameId(0), state, address);
    }

    fn havoc_variables(&mut self, caller: FrameId, state: &mut State, address: Term) {
        if self.arena.formula.terms.width(address) != POINTER_BITS {
            return;
        }
        for &(_, loc) in self.arena.locations(address).iter() {
            if let RegionKind::Local {
                frame: owner,
                local: id,
            } = *self.arena.regions.kind(loc.region)
                && let Some(local) = self.variable_at(loc)
                && let Ok(offset) = u64::try_from(loc.offset)
                && offset < local.size
                && local.size - offset <= MAX_OUT_PARAMETER_SIZE
                // Of a record further out a callee is seldom meant to fill in more than the part that it gets.
                && (owner == caller || local.ty.is_some() || self.arena.watches)
            {
                let size = local.size - offset;
                let written = state.memory.words(&self.arena.formula.terms, loc, size);
                if written
                    .iter()
                    .any(|&(_, value)| self.arena.depends_on_entry_state(value))
                {
                    self.pass_on_state(state);
                }
                let kept = match local.ty {
                    None => self.pointers_to_held(state, loc, size),
                    Some(_) => Vec::new(),
                };
                let flag = local.ty.is_some() && loc.offset == 0;
                let flag = flag && owner == FrameId(0) && self.flags.contains(&id);
                let before =
                    flag.then(|| (self.arena.formula.terms.next_var(), state.memory.clone()));
                state.memory.havoc(&mut self.arena.heap(), loc, size);
                if let Some((made, before)) = before {
                    let old = before.read(&mut self.arena.heap(), loc, size);
                    let memory = state.memory.clone();
                    let new = memory.read(&mut self.arena.heap(), loc, size);
                    self.note_callee_write(loc, Rewrite { old, new, made });
                }
                if local.ty == Some(Ty::Ptr) && !self.arena.watches {
                    self.name_left(state, loc, size);
                }
                for (loc, pointer) in kept {
                    state.memory.write(&self.arena.formula.terms, loc, pointer);
                }
                self.havoc_guessed_members(state, loc);
            }
        }
    }

    /// Names what a callee has left in a variable by the variable.
    fn name_left(&mut self, state: &State, variable: Loc, size: u64) {
        let value = state.memory.read(&mut self.arena.heap(), variable, size);
        let Node::Var(var) = *self.arena.formula.terms.node(value) else {
            return;
        };
        let Origin::Initial { loc: left, .. } = *self.arena.origins.of(var) else {
            return;
        };
        let Arena {
            regions,
            formula,
            names,
            ..
        } = &mut self.arena;
        let variable = regions.address(&mut formula.terms, variable);
        let left = regions.address(&mut formula.terms, left);
        names.root_as_at(left, variable);
    }

    /// A variable that is assigned may be a record of which no declaration is known: its members are others then.
    pub(super) fn assign_guessed(
        &mut self,
        body: &Body,
        state: &mut State,
        assigned: ExprId,
        address: Term,
    ) {
        let is_variable = matches!(
            body.expr(assigned).kind,
            ExprKind::AddrLocal(_) | ExprKind::AddrSymbol(_)
        );
        if is_variable && let [(_, variable)] = self.arena.locations(address)[..] {
            self.havoc_guessed_members(state, variable);
        }
    }

    /// Makes unknown the members of an object of which no declaration is known.
    fn havoc_guessed_members(&mut self, state: &mut State, object: Loc) {
        let members = Loc {
            offset: GUESSED_MEMBERS.start as i64,
            ..object
        };
        let size = GUESSED_MEMBERS.end - GUESSED_MEMBERS.start;
        if self.arena.is_known(&state.memory, members, size) {
            state.memory.havoc(&mut self.arena.heap(), members, size);
        }
    }

    /// Makes unknown the pointers and numbers in memory whose address a call is given (`open_it(&record->member)`, or an out-parameter of the
    /// function's own that it passes on): the callee is asked to put another one there.
    pub(super) fn havoc_passed_places(
        &mut self,
        body: &Body,
        state: &mut State,
        written: &[Arg],
        args: &[ArgValue],
    ) {
        for (written, value) in written.iter().zip(args) {
            let (Arg::Scalar(written), ArgValue::Scalar(address)) = (written, value) else {
                continue;
            };
            let of_a_place = matches!(
                body.expr(*written).kind,
                ExprKind::Member { .. } | ExprKind::AddrSymbol(_)
            );
            // Where the source names no member, nothing but the pointer is meant.
            let of_a_place = of_a_place || !self.arena.names.is_record(*address);
            let pointer = self.pointer_in_memory(state, *address);
            if of_a_place && let Some(loc) = pointer {
                let size = self.arena.shape(Ty::Ptr).bytes;
                state.memory.havoc(&mut self.arena.heap(), loc, size);
            } else if let Some(loc) = self.place_in_memory(*address) {
                let size = body.room_at(*written);
                if (1..=MAX_SCALAR).contains(&size) && self.arena.is_known(&state.memory, loc, size)
                {
                    state.memory.havoc(&mut self.arena.heap(), loc, size);
                }
            }
        }
    }

    /// Makes unknown the pointers in memory whose address a call is given and that lead to an object that the function has given
    /// back: the callee is asked to put another one there, and may have taken what that leads to
    /// (`entry = map_locked(s, at, &walk->lock)`, once more).
    pub(super) fn havoc_pointers_to_given_back(&mut self, state: &mut State, args: &[ArgValue]) {
        let shape = self.arena.shape(Ty::Ptr);
        for arg in args {
            let ArgValue::Scalar(address) = arg else {
                continue;
            };
            // Of the address of a record it is not known that its first member is meant.
            let place = self.pointer_in_memory(state, *address);
            let Some(loc) = place.filter(|loc| loc.offset != 0) else {
                continue;
            };
            let pointer = state.memory.read(&mut self.arena.heap(), loc, shape);
            let places = self.arena.locations(pointer);
            let regions: Vec<RegionId> = places.iter().map(|(_, place)| place.region).collect();
            if self.has_given_back(state, &regions) {
                state.memory.havoc(&mut self.arena.heap(), loc, shape.bytes);
            }
        }
    }

    /// The one place in memory that an address leads to, if a pointer is known to be there.
    fn pointer_in_memory(&mut self, state: &State, address: Term) -> Option<Loc> {
        let loc = self.place_in_memory(address)?;
        self.arena.holds_pointer(&state.memory, loc).then_some(loc)
    }

    /// The one place in memory, in nobody's variable, that an address leads to.
    fn place_in_memory(&mut self, address: Term) -> Option<Loc> {
        if self.arena.formula.terms.width(address) != POINTER_BITS {
            return None;
        }
        let [(_, loc)] = self.arena.locations(address)[..] else {
            return None;
        };
        let in_memory = matches!(
            self.arena.regions.kind(loc.region),
            RegionKind::Symbol(_) | RegionKind::Environment { .. }
        );
        in_memory.then_some(loc)
    }

    /// Whether the function has operated on an object in one of these regions, and keeps none of them held.
    fn has_given_back(&mut self, state: &State, regions: &[RegionId]) -> bool {
        let mut operated = false;
        for (object, tracked) in &state.objects {
            let guards = &mut self.arena.formula.guards;
            let touched = guards.and(tracked.touched, state.guard);
            if touched == Guard::FALSE || !regions.contains(&object.loc.region) {
                continue;
            }
            operated = true;
            let initial = Status::At(self.arena.machine_of(*object).initial);
            let guards = &mut self.arena.formula.guards;
            let is_held = |&(status, paths): &(Status, Guard)| {
                let held = matches!(status, Status::At(_)) && status != initial;
                held && !guards.excludes(paths, touched)
            };
            if tracked.set.iter().any(is_held) {
                return false;
            }
        }
        operated
    }

    /// The pointers within these bytes that are on the access paths to objects that the function holds.
    fn pointers_to_held(&mut self, state: &State, loc: Loc, size: u64) -> Vec<(Loc, Term)> {
        let pointers = state.memory.words(&self.arena.formula.terms, loc, size);
        if pointers.is_empty() {
            return pointers;
        }
        let mut on_path: Vec<RegionId> = Vec::new();
        for (object, tracked) in &state.objects {
            let initial = Status::At(self.arena.machine_of(*object).initial);
            if tracked.set.iter().any(|&(status, _)| status != initial) {
                let path = self.arena.access_path(object.loc.region);
                on_path.extend(path.into_iter().map(|(region, _)| region));
            }
        }
        let mut kept = pointers;
        kept.retain(|&(_, pointer)| {
            let places = self.arena.locations(pointer);
            places.iter().any(|(_, loc)| on_path.contains(&loc.region))
        });
        kept
    }
}
