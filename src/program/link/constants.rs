//! The objects of static storage that keep what their initialisers give them.
//!
//! In: the objects of all units, and what functions do with them. Out: for each object that functions get to, and that none
//! changes, what it holds. Units that give one object different contents make it unknown.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};

use super::code::Code;
use crate::frontend::outline::NameId;
use crate::frontend::{FunctionDef, StaticObject};
use crate::ir::{Image, SymbolName};

/// What each of these objects holds.
pub(super) type Constants = BTreeMap<SymbolName, Image>;

pub(super) fn constants(code: &Code<'_>) -> Constants {
    let uses = || code.definitions.iter().flat_map(|def| &def.objects);
    let changed: FxHashSet<&SymbolName> = uses()
        .filter(|object| object.changed)
        .map(|object| &object.name)
        .collect();
    let units = code.units.iter();
    let taken: FxHashSet<NameId> = units
        .flat_map(|unit| &unit.objects_taken)
        .copied()
        .collect();
    // Without a `main` the tree is a part of a program: the rest may change what is not `static`.
    let whole = code.mains.contains(&true);
    let is_changed = |object: &StaticObject| {
        let external = object.name.file.is_none();
        let elsewhere = !whole || taken.contains(&NameId::of(object.name.name.as_bytes()));
        changed.contains(&object.name) || external && elsewhere
    };
    let of_units = code.units.iter().flat_map(|unit| &unit.objects);
    let of_functions = code.definitions.iter().flat_map(|def| &def.statics);
    let mut found: FxHashMap<&SymbolName, Option<&Image>> = FxHashMap::default();
    for object in of_units.chain(of_functions) {
        let image = (object.constant || !is_changed(object)).then_some(&object.image);
        let known = found.entry(&object.name).or_insert(image);
        if *known != image {
            *known = None;
        }
    }
    let known = |name: &SymbolName| found.get(name).copied().flatten();
    let named = closure(uses().map(|object| &object.name), &known);
    let named = named.into_iter();
    named
        .map(|(name, image)| (name.clone(), image.clone()))
        .collect()
}

/// Those that a definition names, and those that they lead to.
pub(super) fn named(def: &FunctionDef, constants: &Constants) -> Vec<SymbolName> {
    let objects = def.objects.iter().map(|object| &object.name);
    let named = closure(objects, &|name| constants.get(name));
    named.into_keys().cloned().collect()
}

/// What the constants that a definition names hold the addresses of, but for other constants: the functions that it may call
/// through them, and objects.
pub(super) fn functions<'a>(def: &'a FunctionDef, constants: &'a Constants) -> Vec<&'a SymbolName> {
    let objects = def.objects.iter().map(|object| &object.name);
    let named = closure(objects, &|name| constants.get(name));
    let mut functions: Vec<&SymbolName> =
        named.values().flat_map(|image| image.addresses()).collect();
    functions.retain(|name| !named.contains_key(name));
    functions.sort();
    functions.dedup();
    functions
}

/// The constants of these names, and those whose addresses they hold.
fn closure<'a>(
    names: impl Iterator<Item = &'a SymbolName>,
    known: &dyn Fn(&SymbolName) -> Option<&'a Image>,
) -> BTreeMap<&'a SymbolName, &'a Image> {
    let mut found = BTreeMap::new();
    let mut open: Vec<&SymbolName> = names.collect();
    while let Some(name) = open.pop() {
        if !found.contains_key(name)
            && let Some(image) = known(name)
        {
            found.insert(name, image);
            open.extend(image.addresses());
        }
    }
    found
}
