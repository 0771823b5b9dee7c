//! Names as the executor's users ask for them.
//!
//! In: locations and values. Out: what the analysed function's own source calls them. Where that is nothing that a reader would find there, what
//! a callee calls them is kept beside it, for display: what a finding is known by, and how sure it is, goes by the function's own names.

use super::super::arena::Arena;
use super::super::region::{Loc, RegionKind, SymbolicOffset};
use super::super::term::Term;
use super::{Named, is_before, is_clear};

impl Arena<'_> {
    /// A location as the source would write it.
    pub fn name_of(&mut self, loc: Loc) -> String {
        let address = self.regions.address(&mut self.formula.terms, loc);
        if let RegionKind::Value { .. } = self.regions.kind(loc.region) {
            return self.name_of_value(address);
        }
        let name = self.namer().lvalue(address);
        if (!is_clear(&name) || is_before(&name)) && !self.names.is_retold(&name) {
            let start = self.region_start(loc);
            let clear = self.namer().clear_lvalue(address, start);
            self.names.retell(&name, clear);
        }
        self.names.preferred(name)
    }

    /// A value as the source would write it.
    pub fn name_of_value(&mut self, value: Term) -> String {
        let name = self.namer().value(value);
        if (!is_clear(&name) || is_before(&name)) && !self.names.is_retold(&name) {
            let clear = self.namer().clear_value(value);
            self.names.retell(&name, clear);
        }
        self.names.preferred(name)
    }

    /// The members and elements by which the source gets from the beginning of a region to a location in it.
    pub fn members_of(&mut self, loc: Loc, what: Named) -> Option<String> {
        let address = self.regions.address(&mut self.formula.terms, loc);
        let start = self.region_start(loc);
        self.namer().members(address, start, what)
    }

    /// The address that a location's region begins at.
    fn region_start(&mut self, loc: Loc) -> Term {
        match self.regions.kind(loc.region) {
            RegionKind::Environment { base } => *base,
            _ => {
                let start = Loc {
                    symbolic: SymbolicOffset::NONE,
                    offset: 0,
                    ..loc
                };
                self.regions.address(&mut self.formula.terms, start)
            }
        }
    }
}
