//! What a callee of which nothing is known does to the caller's own variables.
//!
//! In: the arguments of a call. Out: the locals that they point to, made unknown: they are out-parameters
//! (DESIGN §5). But not all of them: a pointer in a record through which the function has come to what it
//! holds stays. An iterator or a cursor is moved while a lock is held, not the table that it walks.

use super::arena::Arena;
use super::callee_writes::Rewrite;
use super::class::Class;
use super::exec::{ArgValue, Executor};
use super::frame::Frame;
use super::origin::Origin;
use super::region::{Loc, RegionId, RegionKind};
use super::state::{Object, State, Status};
use super::term::{Node, Term};
use crate::ir::POINTER_BITS;

/// A local object larger than this that a callee may write is not made unknown as a whole.
const MAX_ESCAPED_SIZE: u64 = 4096;
/// Pointers gone through to an object, at most.
const MAX_WAY: usize = 16;

impl Arena<'_> {
    /// Whether a value tells the state that an object was in on entry.
    pub fn tells_state(&self, value: Term) -> bool {
        let vars = self.formula.vars(value);
        vars.iter()
            .any(|&var| matches!(self.origins.of(var), Origin::State { .. }))
    }

    /// The regions that are gone through to reach one, that one first, each with the pointer that was read
    /// to get there.
    pub fn way_to(&self, region: RegionId) -> Vec<(RegionId, Option<Term>)> {
        let mut way = Vec::new();
        let mut next = Some(region);
        while let Some(region) = next.take()
            && way.len() < MAX_WAY
        {
            let base = match self.regions.kind(region) {
                RegionKind::Environment { base } => Some(*base),
                _ => None,
            };
            way.push((region, base));
            if let Some(Node::Var(var)) = base.map(|base| self.formula.terms.node(base))
                && let Origin::Initial { loc, .. } = self.origins.of(*var)
            {
                next = Some(loc.region);
            }
        }
        way
    }

    /// The class of the pointer that leads to the record that an object is in, if it is read from memory: `global.tree` for
    /// `global.tree->lock`.
    pub fn class_of_pointer(&mut self, object: Object) -> Option<Class> {
        let way = self.way_to(object.loc.region);
        let &(_, base) = way.first()?;
        let Node::Var(var) = *self.formula.terms.node(base?) else {
            return None;
        };
        let Origin::Initial { loc, .. } = *self.origins.of(var) else {
            return None;
        };
        self.class_of(loc)
    }
}

impl Executor<'_> {
    pub(super) fn escape_all(&mut self, frame: &Frame<'_>, state: &mut State, args: &[ArgValue]) {
        for arg in args {
            if let ArgValue::Scalar(value) = arg {
                if self.arena.tells_state(*value) {
                    self.told(state);
                }
                self.escape(frame, state, *value);
            }
        }
    }

    fn told(&mut self, state: &State) {
        self.execution.log.told = self
            .arena
            .formula
            .guards
            .or(self.execution.log.told, state.guard);
    }

    fn escape(&mut self, frame: &Frame<'_>, state: &mut State, address: Term) {
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
                && local.size - offset <= MAX_ESCAPED_SIZE
            {
                let size = local.size - offset;
                let written = state.memory.words(&self.arena.formula.terms, loc, size);
                if written
                    .iter()
                    .any(|&(_, value)| self.arena.tells_state(value))
                {
                    self.told(state);
                }
                let kept = match local.ty {
                    None => self.ways_to_held(state, loc, size),
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
                    self.rewritten(loc, Rewrite { old, new, made });
                }
                for (loc, pointer) in kept {
                    state.memory.write(&self.arena.formula.terms, loc, pointer);
                }
            }
        }
    }

    /// The pointers within these bytes through which the function has reached objects that it holds.
    fn ways_to_held(&mut self, state: &State, loc: Loc, size: u64) -> Vec<(Loc, Term)> {
        let pointers = state.memory.words(&self.arena.formula.terms, loc, size);
        if pointers.is_empty() {
            return pointers;
        }
        let mut ways: Vec<RegionId> = Vec::new();
        for (object, tracked) in &state.objects {
            let initial = Status::At(self.arena.machine_of(*object).initial);
            if tracked.set.iter().any(|&(status, _)| status != initial) {
                let way = self.arena.way_to(object.loc.region);
                ways.extend(way.into_iter().map(|(region, _)| region));
            }
        }
        let mut kept = pointers;
        kept.retain(|&(_, pointer)| {
            let places = self.arena.locations(pointer);
            places.iter().any(|(_, loc)| ways.contains(&loc.region))
        });
        kept
    }
}
