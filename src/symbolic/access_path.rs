//! Access paths: the pointers that are dereferenced to get to an object.
//!
//! In: a region, an object, a location. Out: the pointers that lead there, each read from the region that the next one leads to.

use super::access::start_of;
use super::arena::Arena;
use super::class::Class;
use super::region::{Loc, RegionId};
use super::state::Object;
use super::term::Term;

/// Pointers of one access path, at most.
const MAX_PATH: usize = 16;

impl Arena<'_> {
    /// The regions on the access path to one, from that one outwards, each with the pointer that leads to it.
    pub fn access_path(&self, region: RegionId) -> Vec<(RegionId, Option<Term>)> {
        let path = self.outwards(start_of(region)).take(MAX_PATH);
        path.map(|loc| (loc.region, self.regions.base(loc.region)))
            .collect()
    }

    /// A location, where the pointer to its region was read from, and so on; for ever, if the path comes back to where it was.
    pub fn outwards(&self, loc: Loc) -> impl Iterator<Item = Loc> {
        std::iter::successors(Some(loc), |loc| self.read_from(loc.region))
    }

    /// The location in memory that the pointer to a region was read from; `None` for globals and locals, and where the
    /// pointer is a parameter or a call's result.
    pub fn read_from(&self, region: RegionId) -> Option<Loc> {
        self.found_at(self.regions.base(region)?)
    }

    /// The class of the pointer that leads to the record that an object is in, if it is read from memory: `global.tree` for
    /// `global.tree->lock`.
    pub fn class_of_pointer(&mut self, object: Object) -> Option<Class> {
        let pointer = self.read_from(object.loc.region)?;
        self.class_of(pointer)
    }
}
