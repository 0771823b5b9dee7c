//! What units define for each other, and need of each other: functions and objects, as a linker sees them.

use rustc_hash::{FxHashMap, FxHashSet};

use super::code::{Code, NameIx};
use crate::frontend::outline::NameId;
use crate::ir::SymbolName;

/// A function or an object that some unit defines for others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Sym(u32);

impl Sym {
    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}

#[derive(Default)]
pub(super) struct Symbols {
    by_name: FxHashMap<NameId, Sym>,
    /// For each unit what it defines, and whether another definition goes before that.
    pub provides: Vec<Vec<(Sym, bool)>>,
    /// For each unit what it names and does not define, ascending.
    pub needs: Vec<Vec<Sym>>,
    /// For each unit the functions that it has from outside the tree, though the tree defines some of that name.
    pub outside: Vec<FxHashSet<Sym>>,
    /// The units that define each symbol, ascending.
    pub providers: Vec<Vec<u32>>,
    /// The functions' names.
    pub names: Vec<Option<NameIx>>,
}

impl Symbols {
    pub(super) fn new(code: &Code<'_>) -> Symbols {
        let mut symbols = Symbols::default();
        for unit in 0..code.units.len() as u32 {
            symbols.provided(code, unit);
        }
        let of_definitions: Vec<Vec<Sym>> = code
            .ids()
            .map(|id| {
                let callees = code.def(id).callees.iter();
                callees
                    .filter_map(|mention| symbols.of(&mention.name))
                    .collect()
            })
            .collect();
        for (unit, index) in code.units.iter().enumerate() {
            let own: FxHashSet<Sym> = symbols.provides[unit].iter().map(|(sym, _)| *sym).collect();
            let mut needs: FxHashSet<Sym> = FxHashSet::default();
            for id in &code.members[unit] {
                needs.extend(&of_definitions[id.index()]);
            }
            needs.extend(index.stored.iter().filter_map(|name| symbols.of(name)));
            let objects = index.objects_needed.iter();
            needs.extend(objects.filter_map(|name| symbols.by_name.get(name)));
            let mut needs: Vec<Sym> = needs.into_iter().filter(|sym| !own.contains(sym)).collect();
            needs.sort_unstable();
            symbols.needs.push(needs);
            let outside = index.declared_outside.iter();
            let outside = outside.filter_map(|name| symbols.by_name.get(name).copied());
            symbols.outside.push(outside.collect());
        }
        symbols
    }

    /// The function of this name, if some unit defines it.
    pub(super) fn function(&self, name: &str) -> Option<Sym> {
        self.by_name.get(&NameId::of(name.as_bytes())).copied()
    }

    fn of(&self, name: &SymbolName) -> Option<Sym> {
        match name.file {
            Some(_) => None,
            None => self.function(&name.name),
        }
    }

    fn provided(&mut self, code: &Code<'_>, unit: u32) {
        let index = &code.units[unit as usize];
        let functions = code.members[unit as usize].iter().filter_map(|&id| {
            let def = code.def(id);
            // What a header defines is an inline function, of which some unit has the one that is linked.
            let external = def.own && def.name.file.is_none() && def.file == index.source
                || def.own && def.name.file.is_none() && !def.file.ends_with(".h");
            let name = NameId::of(def.name.name.as_bytes());
            external.then(|| (name, code.name(&def.name), def.weak))
        });
        let objects = index.objects_defined.iter();
        let objects = objects.map(|&name| (name, None, false));
        let mut provides = Vec::new();
        for (name, function, weak) in functions.chain(objects) {
            let count = self.providers.len() as u32;
            let sym = *self.by_name.entry(name).or_insert(Sym(count));
            if sym.0 == count {
                self.providers.push(Vec::new());
                self.names.push(function);
            }
            if self.providers[sym.index()].last() != Some(&unit) {
                self.providers[sym.index()].push(unit);
            }
            provides.push((sym, weak));
        }
        self.provides.push(provides);
    }
}
