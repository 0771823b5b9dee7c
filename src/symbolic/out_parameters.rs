//! Out-parameters of a call whose callee is unknown.
//!
//! In: the arguments of the call, and the state before it. Out: the state in which the caller's own variables that they point to have
//! unknown values (DESIGN §5). One thing stays: in a record, a pointer on the access path to an object that the function holds. A callee
//! moves an iterator or a cursor while a lock is held, but not the table that contains the lock.

use super::arena::Arena;
use super::callee_writes::Rewrite;
use super::exec::{ArgValue, Executor};
use super::frame::Frame;
use super::origin::Origin;
use super::region::{Loc, RegionId, RegionKind};
use super::state::{State, Status};
use super::term::Term;
use crate::ir::POINTER_BITS;

/// A local object larger than this that a callee may write is not made unknown as a whole.
const MAX_OUT_PARAMETER_SIZE: u64 = 4096;

impl Arena<'_> {
    /// Whether a value depends on the state that an object was in on entry.
    pub fn depends_on_entry_state(&self, value: Term) -> bool {
        let vars = self.formula.vars(value);
        vars.iter()
            .any(|&var| matches!(self.origins.of(var), Origin::State { .. }))
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

    fn havoc_out_parameter(&mut self, frame: &Frame<'_>, state: &mut State, address: Term) {
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
