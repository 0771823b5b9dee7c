//! Out-parameters of a call whose callee is unknown.
//!
//! In: the arguments of the call, and the state before it. Out: the state in which the caller's own variables that they point to have
//! unknown values (DESIGN §5). One thing stays: in a record, a pointer on the access path to an object that the function holds. A callee
//! moves an iterator or a cursor while a lock is held, but not the table that contains the lock.

use super::arena::Arena;
use super::callee_writes::Rewrite;
use super::exec::{ArgValue, Executor};
use super::frame::Frame;
use super::memory::Memory;
use super::origin::Origin;
use super::region::{Loc, RegionId, RegionKind};
use super::state::{State, Status};
use super::term::Term;
use crate::ir::{Arg, Body, Call, ExprKind, GUESSED_MEMBERS, POINTER_BITS};

/// A local object larger than this that a callee may write is not made unknown as a whole.
const MAX_OUT_PARAMETER_SIZE: u64 = 4096;

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
        let size = u64::from(POINTER_BITS / 8);
        match memory.is_written(loc, size) {
            true => memory.shape(&self.formula.terms, loc, size).bits == POINTER_BITS,
            false => self.initial.is_read_whole(loc, size),
        }
    }
}

impl Executor<'_> {
    /// Makes unknown what the arguments of a call point to in the function's own variables.
    pub(super) fn havoc_out_parameters(
        &mut self,
        frame: &Frame<'_>,
        state: &mut State,
        args: &[ArgValue],
    ) {
        for arg in args {
            if let ArgValue::Scalar(value) = arg {
                if self.arena.depends_on_entry_state(*value) {
                    self.pass_on_state(state);
                }
                self.havoc_out_parameter(frame, state, *value);
            }
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

    pub(super) fn havoc_out_parameter(
        &mut self,
        frame: &Frame<'_>,
        state: &mut State,
        address: Term,
    ) {
        if self.arena.formula.terms.width(address) != POINTER_BITS {
            return;
        }
        for &(_, loc) in self.arena.locations(address).iter() {
            if let RegionKind::Local {
                frame: owner,
                local: id,
            } = *self.arena.regions.kind(loc.region)
                && owner == frame.id
                && let Some(local) = frame.body.locals.get(id.index())
                && let Ok(offset) = u64::try_from(loc.offset)
                && offset < local.size
                && local.size - offset <= MAX_OUT_PARAMETER_SIZE
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
                let flag = local.ty.is_some() && loc.offset == 0 && frame.is_flag(id);
                let before =
                    flag.then(|| (self.arena.formula.terms.next_var(), state.memory.clone()));
                state.memory.havoc(&mut self.arena.heap(), loc, size);
                if let Some((made, before)) = before {
                    let old = before.read(&mut self.arena.heap(), loc, size);
                    let memory = state.memory.clone();
                    let new = memory.read(&mut self.arena.heap(), loc, size);
                    self.note_callee_write(loc, Rewrite { old, new, made });
                }
                for (loc, pointer) in kept {
                    state.memory.write(&self.arena.formula.terms, loc, pointer);
                }
                self.havoc_guessed_members(state, loc);
            }
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

    /// Makes unknown the pointers in memory whose address a call is given (`open_it(&record->member)`): the callee is asked to
    /// put another one there.
    pub(super) fn havoc_passed_places(
        &mut self,
        body: &Body,
        state: &mut State,
        call: &Call,
        args: &[ArgValue],
    ) {
        for (written, value) in call.args.iter().zip(args) {
            let (Arg::Scalar(written), ArgValue::Scalar(address)) = (written, value) else {
                continue;
            };
            let of_a_place = matches!(
                body.expr(*written).kind,
                ExprKind::Member { .. } | ExprKind::AddrSymbol(_)
            );
            if !of_a_place || self.arena.formula.terms.width(*address) != POINTER_BITS {
                continue;
            }
            let [(_, loc)] = self.arena.locations(*address)[..] else {
                continue;
            };
            let in_memory = matches!(
                self.arena.regions.kind(loc.region),
                RegionKind::Symbol(_) | RegionKind::Environment { .. }
            );
            if in_memory && self.arena.holds_pointer(&state.memory, loc) {
                let size = u64::from(POINTER_BITS / 8);
                state.memory.havoc(&mut self.arena.heap(), loc, size);
            }
        }
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
