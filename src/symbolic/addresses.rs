//! By which addresses blocks are operated on, and where they begin.
//!
//! In: the operations of callees, each with its location. Out: the addresses by which a summary names a block, each with the paths on which the block is
//! ended by it.

use super::arena::Arena;
use super::guard::Guard;
use super::region::{Loc, SymbolicOffset};
use super::state::Object;

/// Addresses of one block that are told apart.
const MAX_ADDRESSES: usize = 4;

/// An address by which a block is operated on.
#[derive(Clone, Copy, Debug)]
pub struct Operated {
    at: Loc,
    /// The paths on which the block is ended by it.
    ended: Guard,
}

impl Arena<'_> {
    /// Notes that an object is operated on by its address, and that this ends it on some of the paths.
    pub fn note_address(&mut self, object: Object, at: Loc, ended: Guard) {
        if object.loc == at && ended == Guard::FALSE {
            return;
        }
        let known = self.operated_at.entry(object).or_default();
        if let Some(operated) = known.iter_mut().find(|operated| operated.at == at) {
            operated.ended = self.formula.guards.or(operated.ended, ended);
        } else if known.len() < MAX_ADDRESSES {
            known.push(Operated { at, ended });
        }
    }

    /// The address by which an object is named, with all paths; or the addresses by which it is ended, each with its paths, where these are several:
    /// `free(careful ? header - 1 : header)`.
    pub fn addresses_of(&self, object: Object) -> Vec<(Loc, Guard)> {
        let known = self.operated_at.get(&object).map_or(&[][..], Vec::as_slice);
        let ended: Vec<_> = known
            .iter()
            .filter(|operated| operated.ended != Guard::FALSE)
            .map(|operated| (operated.at, operated.ended))
            .collect();
        // What becomes of a block that is made here is one story.
        let made_here =
            self.regions.is_local(object.loc.region) || self.is_owned(object.loc.region);
        if ended.len() > 1 && !made_here {
            return ended;
        }
        let within = known.iter().map(|operated| operated.at);
        let within = within.into_iter().find(|at| *at != object.loc);
        vec![(within.unwrap_or(object.loc), Guard::TRUE)]
    }

    /// How many bytes from the pointer that a call has returned or left the block begins that it leads into, if the call has made the block.
    pub fn beginning(&self, loc: Loc) -> Option<i64> {
        let base = self.regions.base(loc.region)?;
        self.begins_at.get(&base).copied()
    }

    /// Notes where a block begins that a call has made.
    pub fn note_beginning(&mut self, loc: Loc) {
        if loc.symbolic == SymbolicOffset::NONE
            && let Some(base) = self.regions.base(loc.region)
        {
            self.begins_at.entry(base).or_insert(loc.offset);
        }
    }
}
