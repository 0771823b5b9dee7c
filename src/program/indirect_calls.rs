//! Calls through members of records: which functions the tree's initialisers and assignments store there.
//!
//! In: for each unit the [`Method`]s that it and its functions store. Out: for a call through a member the functions meant in
//! any of the programs that the caller is linked into: a library's function is analysed once, not once for each program that
//! gives it other functions to call.
//!
//! A member that many functions are stored in says little. Of a few, a caller means those of its own file, if
//! there are any: a driver goes through the record that it has filled itself. A call that closes a circle of calls is left
//! unknown ([`crate::program::link`]): nearly everything would call everything, and a component that is not analysed callees first
//! knows less, not more.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::{FxHashMap, FxHashSet};

use crate::ir::{MemberName, Method, SymbolName};

/// A call through a member that more functions are stored in stays unknown.
const MAX_METHODS: usize = 3;

/// The functions stored in a member, with their definitions, in order; `None` if they are too many, or one has no definition.
type Stored<'a, D> = Option<Vec<(&'a SymbolName, D)>>;

/// What a name is in a unit of a program; `None` if the unit is no part of it, and in it that if nothing defines the name.
pub type Meant<'m, D> = dyn Fn(&SymbolName, u32, u32) -> Option<Option<D>> + 'm;

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

    /// The functions that a call through a member may mean, for a caller in a file that is linked into some programs: at
    /// least one.
    pub fn stored(
        &self,
        member: &'a MemberName,
        (programs, file): (&[u32], &str),
        meant: &Meant<'_, D>,
    ) -> Stored<'a, D> {
        // A function that is compiled in two ways is called in the first.
        let mut all: BTreeMap<&SymbolName, D> = BTreeMap::new();
        for &program in programs {
            let mut known = self.known.borrow_mut();
            let stored = known.entry((member, program));
            let stored = stored.or_insert_with(|| self.of_program(member, program, meant));
            for &(name, definition) in stored.as_ref()? {
                all.entry(name).or_insert(definition);
            }
            if all.len() > MAX_METHODS {
                return None;
            }
        }
        let own = |name: &SymbolName| name.file.as_deref() == Some(file);
        if all.keys().any(|name| own(name)) {
            all.retain(|name, _| own(name));
        }
        (!all.is_empty()).then(|| all.into_iter().collect())
    }

    fn of_program(&self, member: &MemberName, program: u32, meant: &Meant<'_, D>) -> Stored<'a, D> {
        let mut functions: BTreeSet<(&SymbolName, D)> = BTreeSet::new();
        for &(name, unit) in self.methods.get(member).into_iter().flatten() {
            if let Some(definition) = meant(name, unit, program) {
                functions.insert((name, definition?));
            }
            if functions.len() > MAX_METHODS {
                return None;
            }
        }
        Some(functions.into_iter().collect())
    }
}
