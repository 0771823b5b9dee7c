//! Calls through members of records: which functions the tree's initialisers and assignments store there.
//!
//! In: for each unit the [`Method`]s that it and its functions store. Out: for a call through a member, in a program, the
//! functions meant.
//!
//! A member that many functions of the program are stored in says little. Of a few, a caller means those of its own file, if
//! there are any: a driver goes through the record that it has filled itself. A call that closes a circle of calls is left
//! unknown ([`crate::program::link`]): nearly everything would call everything, and a component that is not analysed callees first
//! knows less, not more.

use std::cell::RefCell;
use std::collections::BTreeSet;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::ir::{MemberName, Method, SymbolName};

/// A call through a member that more functions are stored in stays unknown.
const MAX_METHODS: usize = 3;

/// The functions stored in a member, with their definitions; `None` if they are too many, or one has no definition.
type Stored<'a, D> = Option<Vec<(&'a SymbolName, D)>>;

/// What is stored in the members of records, over the whole tree. `D` is a definition.
pub struct Tables<'a, D> {
    methods: FxHashMap<&'a MemberName, Vec<(&'a SymbolName, u32)>>,
    seen: FxHashSet<(&'a MemberName, &'a SymbolName, u32)>,
    /// What is stored in each member of the programs that were asked for.
    known: RefCell<FxHashMap<(&'a MemberName, u32), Stored<'a, D>>>,
}

impl<D> Default for Tables<'_, D> {
    fn default() -> Self {
        Tables {
            methods: FxHashMap::default(),
            seen: FxHashSet::default(),
            known: RefCell::default(),
        }
    }
}

impl<'a, D: Copy + Ord> Tables<'a, D> {
    /// Adds what a unit stores.
    pub fn add(&mut self, stored: &'a [Method], unit: u32) {
        for Method { member, function } in stored {
            if self.seen.insert((member, function, unit)) {
                let functions = self.methods.entry(member).or_default();
                functions.push((function, unit));
            }
        }
    }

    /// All functions that are stored, with the units that do so.
    pub fn all(&self) -> impl Iterator<Item = (u32, &'a SymbolName)> {
        let stored = self.methods.values().flatten();
        stored.map(|&(function, unit)| (unit, function))
    }

    /// The functions that a call through a member may mean, for a caller in a file of a program. `meant` tells what a
    /// name is in a unit of that program, `None` if the unit is no part of it.
    pub fn stored(
        &self,
        member: &'a MemberName,
        (program, file): (u32, &str),
        meant: &dyn Fn(&SymbolName, u32) -> Option<Option<D>>,
    ) -> Stored<'a, D> {
        let all = {
            let mut known = self.known.borrow_mut();
            let stored = known.entry((member, program));
            stored
                .or_insert_with(|| self.of_program(member, meant))
                .clone()
        }?;
        let own = |(name, _): &(&SymbolName, D)| name.file.as_deref() == Some(file);
        match all.iter().any(own) {
            true => Some(all.into_iter().filter(own).collect()),
            false => Some(all),
        }
    }

    fn of_program(
        &self,
        member: &MemberName,
        meant: &dyn Fn(&SymbolName, u32) -> Option<Option<D>>,
    ) -> Stored<'a, D> {
        let mut functions: BTreeSet<(&SymbolName, D)> = BTreeSet::new();
        for &(name, unit) in self.methods.get(member)? {
            if let Some(definition) = meant(name, unit) {
                functions.insert((name, definition?));
            }
            if functions.len() > MAX_METHODS {
                return None;
            }
        }
        let mut functions: Vec<(&SymbolName, D)> = functions.into_iter().collect();
        // A function that is compiled in two ways is called in the first.
        functions.dedup_by(|a, b| a.0 == b.0);
        (!functions.is_empty()).then_some(functions)
    }
}
