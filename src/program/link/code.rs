//! What is there to link: the different definitions of functions, by unit and by name.
//!
//! In: the [`UnitIndex`]es of all units. Out: a [`Code`]: definitions in the order of their places in the source,
//! whatever the order in which units were read; for each unit the ones that it has, and for each name its definitions.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::frontend::outline::NameId;
use crate::frontend::{BodyKey, FunctionDef, UnitIndex};
use crate::ir::SymbolName;

/// A definition of a [`Code`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct DefId(pub u32);

impl DefId {
    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}

/// A name that something defines: an index into [`Code::candidates`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct NameIx(pub u32);

pub(super) struct Code<'a> {
    pub units: &'a [UnitIndex],
    /// For each unit a hash of its flags.
    pub flags: &'a [u64],
    pub definitions: Vec<&'a FunctionDef>,
    /// For each unit the definitions that it has.
    pub members: Vec<Vec<DefId>>,
    /// For each definition the units that have it, ascending.
    pub units_of: Vec<Vec<u32>>,
    names: FxHashMap<&'a SymbolName, NameIx>,
    /// The definitions of each name, the one to take first in front: of an own file, with a body.
    candidates: Vec<Vec<DefId>>,
    /// For each unit whether a program starts in it.
    pub mains: Vec<bool>,
    /// For each definition the names of its callees, in their order; `None` for what is not defined here.
    pub callees: Vec<Vec<Option<NameIx>>>,
}

impl<'a> Code<'a> {
    pub(super) fn new(units: &'a [UnitIndex], flags: &'a [u64]) -> Self {
        let (definitions, members) = distinct_definitions(units);
        let mut units_of = vec![Vec::new(); definitions.len()];
        for (unit, members) in (0..).zip(&members) {
            for id in members {
                if units_of[id.index()].last() != Some(&unit) {
                    units_of[id.index()].push(unit);
                }
            }
        }
        let mut names: FxHashMap<&SymbolName, NameIx> = FxHashMap::default();
        let mut candidates: Vec<Vec<DefId>> = Vec::new();
        for (def, id) in definitions.iter().zip(0..) {
            let name = *names.entry(&def.name).or_insert_with(|| {
                candidates.push(Vec::new());
                NameIx(candidates.len() as u32 - 1)
            });
            candidates[name.0 as usize].push(DefId(id));
        }
        for ids in &mut candidates {
            ids.sort_by_key(|id| {
                let def = definitions[id.index()];
                (!def.own, def.body.is_err(), *id)
            });
        }
        let is_main = |id: &DefId| {
            let def: &FunctionDef = definitions[id.index()];
            def.own && def.name.file.is_none() && def.name.name == "main"
        };
        let mains = members.iter().map(|members| members.iter().any(is_main));
        let mains = mains.collect();
        let callees = definitions.iter().map(|def| {
            let callees = def.callees.iter();
            callees.map(|mention| names.get(&mention.name).copied())
        });
        let callees = callees.map(Iterator::collect).collect();
        Code {
            units,
            flags,
            definitions,
            members,
            units_of,
            names,
            candidates,
            mains,
            callees,
        }
    }

    pub(super) fn def(&self, id: DefId) -> &'a FunctionDef {
        self.definitions[id.index()]
    }

    pub(super) fn ids(&self) -> impl Iterator<Item = DefId> + use<> {
        (0..self.definitions.len() as u32).map(DefId)
    }

    pub(super) fn name(&self, name: &SymbolName) -> Option<NameIx> {
        self.names.get(name).copied()
    }

    pub(super) fn candidates(&self, name: NameIx) -> &[DefId] {
        &self.candidates[name.0 as usize]
    }

    /// Whether a unit has the definition.
    pub(super) fn has(&self, unit: u32, id: DefId) -> bool {
        self.units_of[id.index()].binary_search(&unit).is_ok()
    }

    /// The definitions of a name that a unit's pointers fit.
    pub(super) fn fitting(&self, name: NameIx, unit: u32) -> impl Iterator<Item = DefId> {
        let size = self.units[unit as usize].pointer_size;
        let candidates = self.candidates(name).iter().copied();
        candidates.filter(move |&id| self.def(id).pointer_size == size)
    }

    /// Whether a unit has a function from outside the tree, though the tree defines one of that name, too.
    pub(super) fn is_outside(&self, unit: u32, name: &SymbolName) -> bool {
        let outside = &self.units[unit as usize].declared_outside;
        let id = NameId::of(name.name.as_bytes());
        name.file.is_none() && outside.binary_search(&id).is_ok()
    }

    /// Whether calls of a name may mean different functions.
    pub(super) fn is_contested(&self, name: NameIx) -> bool {
        self.candidates(name).len() > 1
    }

    /// Whether the unit is the one that a program starts in.
    pub(super) fn has_main(&self, unit: u32) -> bool {
        self.mains[unit as usize]
    }
}

/// What makes two units' definitions the same function.
#[derive(PartialEq, Eq, Hash)]
struct Identity<'a> {
    name: &'a SymbolName,
    file: &'a str,
    body: Option<BodyKey>,
}

impl<'a> Identity<'a> {
    fn new(def: &'a FunctionDef) -> Self {
        Identity {
            name: &def.name,
            file: &def.file,
            body: def.body.as_ref().ok().copied(),
        }
    }
}

/// A function as the first of its units gives it.
type First<'a> = (&'a FunctionDef, usize);

fn place<'a>(&(def, unit): &First<'a>) -> (&'a str, u32, &'a SymbolName, usize, Option<BodyKey>) {
    let body = def.body.as_ref().ok().copied();
    (&def.file, def.line, &def.name, unit, body)
}

/// All different definitions in the order of their places, and for each unit the ones it has.
fn distinct_definitions(units: &[UnitIndex]) -> (Vec<&FunctionDef>, Vec<Vec<DefId>>) {
    // Units share most definitions: those are looked at once.
    let address = |def: &Arc<FunctionDef>| Arc::as_ptr(def).addr();
    let mut seen = FxHashSet::default();
    let mut shared: Vec<(&Arc<FunctionDef>, usize)> = Vec::new();
    for (unit, index) in units.iter().enumerate() {
        let new = index
            .functions
            .iter()
            .filter(|def| seen.insert(address(def)));
        shared.extend(new.map(|def| (def, unit)));
    }
    // A definition that some unit lowers is not also counted as lost where another unit fails.
    let mut lowered: FxHashMap<(&SymbolName, &str), bool> = FxHashMap::default();
    for (def, _) in &shared {
        *lowered.entry((&def.name, &def.file)).or_default() |= def.body.is_ok();
    }
    shared.retain(|(def, _)| def.body.is_ok() || !lowered[&(&def.name, def.file.as_str())]);
    let mut first: FxHashMap<Identity<'_>, First<'_>> = FxHashMap::default();
    for &(def, unit) in &shared {
        first.entry(Identity::new(def)).or_insert((def, unit));
    }
    let mut definitions: Vec<First<'_>> = first.into_values().collect();
    definitions.sort_by(|a, b| place(a).cmp(&place(b)));
    let ids: FxHashMap<Identity<'_>, DefId> = definitions
        .iter()
        .zip(0..)
        .map(|(&(def, _), id)| (Identity::new(def), DefId(id)))
        .collect();
    let by_address: FxHashMap<usize, DefId> = shared
        .iter()
        .filter_map(|(def, _)| Some((address(def), *ids.get(&Identity::new(def))?)))
        .collect();
    let members = units.iter().map(|unit| {
        let functions = unit.functions.iter();
        functions
            .filter_map(|def| by_address.get(&address(def)).copied())
            .collect()
    });
    let members = members.collect();
    let definitions = definitions.into_iter().map(|(def, _)| def).collect();
    (definitions, members)
}
