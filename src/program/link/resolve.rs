//! What a name means in a unit of an image.
//!
//! In: the tree's definitions and images. Out: for each definition an [`Answer`] for each place where it is linked: the
//! definitions that its calls mean there, those through members of records among them.
//!
//! A unit means its own definition of a name, unless that is weak. Then its image's is meant; then that of an image which
//! gives this one most of what it lacks; then the nearest.

use std::cell::RefCell;
use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};

use super::Ambiguities;
use super::code::{Code, DefId, NameIx};
use super::constants::{self, Constants};
use super::images::Images;
use super::nearest::Distance;
use crate::ir::{FunctionHolder, Methods, SymbolName};
use crate::program::indirect_calls::{Stored, Tables};

/// What a definition calls at some place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Answer {
    /// Sorted by name, each once.
    pub callees: Vec<Callee>,
    /// See [`crate::program::Function::methods`].
    pub methods: BTreeMap<FunctionHolder, Methods>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Callee {
    pub name: SymbolName,
    pub definition: Option<DefId>,
    pub called: bool,
    pub taken: bool,
    pub method: bool,
}

impl Answer {
    /// The definitions that are meant.
    pub(super) fn functions(&self) -> impl Iterator<Item = u32> {
        let callees = self.callees.iter();
        callees.filter_map(|callee| Some(callee.definition?.0))
    }

    /// Makes a function a callee that is called through a pointer.
    fn may_call(&mut self, name: &SymbolName, definition: Option<DefId>) {
        let place = self.callees.binary_search_by(|c| c.name.cmp(name));
        if let Err(place) = place {
            let callee = Callee {
                name: name.clone(),
                definition,
                called: true,
                taken: false,
                method: true,
            };
            self.callees.insert(place, callee);
        }
    }

    /// Makes the functions that are called through a holder callees.
    fn may_call_any(&mut self, holder: &FunctionHolder, stored: &Stored<'_, DefId>) {
        let names = stored.functions.iter().map(|(name, _)| (*name).clone());
        let methods = Methods {
            functions: names.collect(),
            open: stored.open,
        };
        self.methods.insert(holder.clone(), methods);
        for &(name, definition) in &stored.functions {
            self.may_call(name, definition);
        }
    }

    /// Forgets the calls through holders that may mean such a function.
    pub(super) fn drop_methods(&mut self, dropped: &dyn Fn(DefId) -> bool) {
        let is_dropped = |callee: &Callee| callee.method && callee.definition.is_some_and(dropped);
        let names: FxHashSet<SymbolName> = self
            .callees
            .iter()
            .filter(|callee| is_dropped(callee))
            .map(|callee| callee.name.clone())
            .collect();
        if !names.is_empty() {
            self.callees.retain(|callee| !is_dropped(callee));
            let kept = |methods: &Methods| {
                let mut functions = methods.functions.iter();
                !functions.any(|name| names.contains(name))
            };
            self.methods.retain(|_, methods| kept(methods));
        }
    }
}

/// A nearest definition, if there is any, and others that are as near.
type Nearest = Option<(DefId, Distance, Vec<DefId>)>;

pub(super) struct Linker<'a> {
    code: &'a Code<'a>,
    images: &'a Images,
    /// For each unit the images that it is in, ascending; the last of all stands for programs that the tree does not hold.
    places_of: Vec<Vec<u32>>,
    tables: Tables<'a, DefId>,
    constants: &'a Constants,
    nearest: RefCell<FxHashMap<(u32, NameIx), Nearest>>,
    ambiguities: RefCell<Ambiguities>,
}

impl<'a> Linker<'a> {
    pub(super) fn new(
        code: &'a Code<'a>,
        images: &'a Images,
        constants: &'a Constants,
        ambiguities: Ambiguities,
    ) -> Self {
        let mut places_of = vec![Vec::new(); code.units.len()];
        for (place, image) in (0..).zip(&images.list) {
            for &unit in &image.units {
                places_of[unit as usize].push(place);
            }
        }
        let mut linker = Linker {
            code,
            images,
            places_of,
            tables: Tables::default(),
            constants,
            nearest: RefCell::default(),
            ambiguities: RefCell::new(ambiguities),
        };
        let units = 0..code.units.len() as u32;
        let libraries: Vec<u32> = units.filter(|unit| linker.is_library(*unit)).collect();
        let rest = linker.rest();
        for unit in libraries {
            linker.places_of[unit as usize].push(rest);
        }
        for (unit, index) in (0..).zip(code.units) {
            linker.tables.add(&index.methods, unit);
        }
        for id in code.ids() {
            // A header's function that stores something is the same in all units, mostly.
            let units = &code.units_of[id.index()];
            let count = if images.list.is_empty() {
                1
            } else {
                units.len()
            };
            for &unit in units.iter().take(count) {
                linker.tables.add(&code.def(id).methods, unit);
            }
        }
        linker
    }

    /// The place of what is in no image.
    pub(super) fn rest(&self) -> u32 {
        self.images.list.len() as u32
    }

    pub(super) fn into_ambiguities(self) -> Ambiguities {
        self.ambiguities.into_inner()
    }

    /// Whether a unit is to be looked at as a part of a program that the tree does not hold: it is in no image; or all that it is
    /// in are guessed, and none of them has the definition that lies next to the unit, for what the unit calls.
    fn is_library(&self, unit: u32) -> bool {
        let places = &self.places_of[unit as usize];
        if places.is_empty() {
            return true;
        }
        let guessed = |place: &u32| self.images.list[*place as usize].guessed;
        if !places.iter().all(guessed) || self.code.has_main(unit) {
            return false;
        }
        let members = self.code.members[unit as usize].iter();
        let names = members.flat_map(|id| self.code.callees[id.index()].iter().flatten());
        let mut names = names.filter(|name| self.code.is_contested(**name));
        names.any(|&name| {
            let nearest = self.nearest(unit, name);
            let natural = nearest.filter(|(id, distance, others)| {
                let name = &self.code.def(*id).name;
                let of_tree = name.file.is_none() && !self.code.is_outside(unit, name);
                of_tree && distance.is_natural() && others.is_empty()
            });
            natural.is_some_and(|(id, ..)| {
                let mut places = places.iter();
                !places.any(|place| self.meant(unit, name, *place) == Some(id))
            })
        })
    }

    /// The places where a definition is linked, ascending.
    pub(super) fn places(&self, id: DefId) -> Vec<u32> {
        let units = &self.code.units_of[id.index()];
        if self.images.list.is_empty() {
            return vec![self.rest()];
        }
        let mut places: FxHashSet<u32> = FxHashSet::default();
        for unit in units {
            places.extend(&self.places_of[*unit as usize]);
        }
        let mut places: Vec<u32> = places.into_iter().collect();
        places.sort_unstable();
        places
    }

    /// What a definition calls at each of its places, or the one answer that holds at all. A call through a member or variable means
    /// the same at all: what it may mean at any.
    pub(super) fn answers(&self, id: DefId, places: &[u32]) -> Vec<Answer> {
        let contested = || {
            let mut names = self.code.callees[id.index()].iter().flatten();
            names.any(|name| self.code.is_contested(*name))
        };
        let asked = match places.len() > 1 && contested() {
            true => places,
            false => &places[..1],
        };
        let mut answers: Vec<Answer> = asked.iter().map(|place| self.answer(id, *place)).collect();
        let def = self.code.def(id);
        for holder in &def.holders_called {
            if let Some(stored) = self.methods(&def.file, holder, places) {
                for answer in &mut answers {
                    answer.may_call_any(holder, &stored);
                }
            }
        }
        answers
    }

    /// What a definition calls at a place but through members and variables.
    fn answer(&self, id: DefId, place: u32) -> Answer {
        let units = &self.code.units_of[id.index()];
        let mut there = units.iter().filter(|unit| {
            self.places_of[**unit as usize]
                .binary_search(&place)
                .is_ok()
        });
        let Some(&unit) = there.next().or(units.first()) else {
            return Answer::default();
        };
        let def = self.code.def(id);
        let names = &self.code.callees[id.index()];
        let mut callees: Vec<Callee> = def
            .callees
            .iter()
            .zip(names)
            .map(|(mention, name)| Callee {
                name: mention.name.clone(),
                definition: name.and_then(|name| self.meant_told(unit, name, place)),
                called: mention.called,
                taken: mention.taken,
                method: false,
            })
            .collect();
        callees.sort_by(|a, b| a.name.cmp(&b.name));
        callees.dedup_by(|a, b| a.name == b.name);
        let mut answer = Answer {
            callees,
            methods: BTreeMap::new(),
        };
        if def.calls_indirectly {
            for name in constants::functions(def, self.constants) {
                let definition = self.code.name(name);
                if let Some(definition) = definition.and_then(|name| self.meant(unit, name, place))
                {
                    answer.may_call(name, Some(definition));
                }
            }
        }
        answer
    }

    /// The functions that a call through a holder may mean in a file that is linked at some places, if they are known.
    fn methods(
        &self,
        file: &str,
        holder: &'a FunctionHolder,
        places: &[u32],
    ) -> Option<Stored<'a, DefId>> {
        let guessed = |place: u32| {
            let image = self.images.list.get(place as usize);
            image.is_none_or(|image| image.guessed)
        };
        let meant = |name: &SymbolName, unit: u32, place: u32| {
            let places = &self.places_of[unit as usize];
            let there = match places.binary_search(&place) {
                Ok(_) => Some(place),
                Err(_) if place == self.rest() => places.first().copied(),
                // It is in no program that is known; perhaps in this one, if nobody has recorded that.
                Err(_) => places
                    .first()
                    .copied()
                    .filter(|first| guessed(place) && *first == self.rest()),
            };
            let definition = self.code.name(name);
            there.map(|there| definition.and_then(|name| self.meant(unit, name, there)))
        };
        self.tables.stored(holder, (places, file), &meant)
    }

    /// For each definition whether it is stored in an object or a member, in any program.
    pub(super) fn stored(&self) -> Vec<bool> {
        let mut stored = vec![false; self.code.definitions.len()];
        let mut store = |unit: u32, name: &SymbolName| {
            let Some(name) = self.code.name(name) else {
                return;
            };
            let places = &self.places_of[unit as usize];
            let count = if self.code.is_contested(name) {
                places.len()
            } else {
                1
            };
            for &place in places.iter().take(count) {
                if let Some(id) = self.meant(unit, name, place) {
                    stored[id.index()] = true;
                }
            }
        };
        for (unit, index) in (0..).zip(self.code.units) {
            index.stored.iter().for_each(|name| store(unit, name));
        }
        for (unit, name) in self.tables.all() {
            store(unit, name);
        }
        stored
    }

    /// The definition that a name means, which is told if it is a guess.
    fn meant_told(&self, unit: u32, name: NameIx, place: u32) -> Option<DefId> {
        let found = self.linked(unit, name, place);
        if let Found::Nearest = found
            && let Some((id, distance, others)) = self.nearest(unit, name)
            && !others.is_empty()
            && !distance.is_outside()
        {
            self.ambiguities
                .borrow_mut()
                .add(self.code, unit, id, others);
        }
        self.definition(found, unit, name)
    }

    fn meant(&self, unit: u32, name: NameIx, place: u32) -> Option<DefId> {
        let found = self.linked(unit, name, place);
        self.definition(found, unit, name)
    }

    fn definition(&self, found: Found, unit: u32, name: NameIx) -> Option<DefId> {
        match found {
            Found::Linked(id) => Some(id),
            Found::Nearest => self.nearest(unit, name).map(|(id, ..)| id),
            Found::Nothing => None,
        }
    }

    fn linked(&self, unit: u32, name: NameIx, place: u32) -> Found {
        let candidates = self.code.candidates(name);
        let local = candidates.iter().find(|id| self.code.has(unit, **id));
        if let Some(&local) = local.filter(|id| !self.code.def(**id).weak) {
            return Found::Linked(local);
        }
        let mut fitting = self.code.fitting(name, unit);
        let Some(first) = fitting.next() else {
            return local.map_or(Found::Nothing, |id| Found::Linked(*id));
        };
        // A static function of which the unit has lost its own.
        if self.code.def(first).name.file.is_some() || fitting.next().is_none() {
            return Found::Linked(first);
        }
        let size = self.code.units[unit as usize].pointer_size;
        let image = self.images.list.get(place as usize);
        let hosts = image.into_iter().flat_map(|image| &image.hosts);
        let hosts = hosts.filter_map(|host| self.images.list.get(*host as usize));
        for image in image.into_iter().chain(hosts) {
            let meant = image.table.get(&name);
            if let Some(&id) = meant.filter(|id| self.code.def(**id).pointer_size == size) {
                return Found::Linked(id);
            }
        }
        Found::Nearest
    }

    fn nearest(&self, unit: u32, name: NameIx) -> Nearest {
        if let Some(known) = self.nearest.borrow().get(&(unit, name)) {
            return known.clone();
        }
        let nearest = self.code.nearest(unit, self.code.fitting(name, unit));
        self.nearest
            .borrow_mut()
            .insert((unit, name), nearest.clone());
        nearest
    }
}

/// Where a name's meaning comes from.
enum Found {
    Linked(DefId),
    /// Nothing that is linked defines it: the nearest of several is taken.
    Nearest,
    Nothing,
}
