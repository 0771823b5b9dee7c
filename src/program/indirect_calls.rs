//! Calls through members of records and variables: which functions the tree's initialisers and assignments store there.
//!
//! In: for each unit the [`Method`]s that it and its functions store. Out: for a call through a member or variable the functions meant in
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

use crate::ir::{FunctionHolder, Method, SymbolName};

/// A call through a member or variable that more functions are stored in stays unknown.
const MAX_METHODS: usize = 3;

/// What is stored in a member or variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored<'a, D> {
    /// The functions with their definitions, if they have any, in order.
    pub functions: Vec<(&'a SymbolName, Option<D>)>,
    /// Something else is stored there, too.
    pub open: bool,
}

/// What a name is in a unit of a program; `None` if the unit is no part of it, and in it that if nothing defines the name.
pub type Meant<'m, D> = dyn Fn(&SymbolName, u32, u32) -> Option<Option<D>> + 'm;

/// What is known of one; `None`: too much is stored there.
type Known<'a, D> = Option<Stored<'a, D>>;

/// What is stored in the members of records and in variables, over the whole tree. `D` is a definition.
pub struct Tables<'a, D> {
    methods: FxHashMap<&'a FunctionHolder, Vec<(Option<&'a SymbolName>, u32)>>,
    seen: FxHashSet<(&'a Method, u32)>,
    /// What is stored in each of the programs that were asked for; `None` if that is too much.
    known: RefCell<FxHashMap<(&'a FunctionHolder, u32), Known<'a, D>>>,
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
        for method in stored {
            if self.seen.insert((method, unit)) {
                let functions = self.methods.entry(&method.holder).or_default();
                functions.push((method.function.as_ref(), unit));
            }
        }
    }

    /// All functions that are stored, with the units that do so.
    pub fn all(&self) -> impl Iterator<Item = (u32, &'a SymbolName)> {
        let stored = self.methods.values().flatten();
        stored.filter_map(|&(function, unit)| Some((unit, function?)))
    }

    /// The functions that a call may mean, for a caller in a file that is linked into some programs: at least one.
    pub fn stored(
        &self,
        holder: &'a FunctionHolder,
        (programs, file): (&[u32], &str),
        meant: &Meant<'_, D>,
    ) -> Option<Stored<'a, D>> {
        // A function that is compiled in two ways is called in the first.
        let mut all: BTreeMap<&SymbolName, Option<D>> = BTreeMap::new();
        let mut open = false;
        for &program in programs {
            let mut known = self.known.borrow_mut();
            let stored = known.entry((holder, program));
            let stored = stored.or_insert_with(|| self.of_program(holder, program, meant));
            let stored = stored.as_ref()?;
            for &(name, definition) in &stored.functions {
                all.entry(name).or_insert(definition);
            }
            open |= stored.open;
            if all.len() > MAX_METHODS {
                return None;
            }
        }
        let own = |name: &SymbolName| name.file.as_deref() == Some(file);
        if all.keys().any(|name| own(name)) {
            all.retain(|name, _| own(name));
        }
        let functions: Vec<_> = all.into_iter().collect();
        (!functions.is_empty()).then_some(Stored { functions, open })
    }

    fn of_program(
        &self,
        holder: &FunctionHolder,
        program: u32,
        meant: &Meant<'_, D>,
    ) -> Option<Stored<'a, D>> {
        let mut functions: BTreeSet<(&SymbolName, Option<D>)> = BTreeSet::new();
        let mut open = false;
        for &(name, unit) in self.methods.get(holder).into_iter().flatten() {
            match name {
                Some(name) => {
                    let definition = meant(name, unit, program);
                    functions.extend(definition.map(|definition| (name, definition)));
                }
                None => open = true,
            }
            if functions.len() > MAX_METHODS {
                return None;
            }
        }
        let functions = functions.into_iter().collect();
        Some(Stored { functions, open })
    }
}
