//! The programs, shared objects and modules of a tree, and which units each is linked of.
//!
//! In: the links that a build has recorded; where there are none, units with a `main`. Out: [`Images`].
//!
//! Recorded links are done again as a linker does them: objects in their order; of an archive the members that define what is
//! undefined by then, as often as that brings new ones; of several definitions the first, a weak one only if there is no
//! other. A shared object's units come behind the program's own, so that the program's definitions go before the library's.
//! Without a record a program is a guess ([`guess`]).

use std::collections::{BTreeSet, VecDeque};

use rustc_hash::{FxHashMap, FxHashSet};

use super::code::{Code, DefId, NameIx};
use super::symbols::{Sym, Symbols};
use super::{Ambiguities, Ambiguity, guess};
use crate::capture::{Link, LinkInput, LinkKind};
use crate::ir::SymbolName;

/// Definitions in all programs that are put together without a record, each as often as it is in one: what is
/// beyond stays unlinked.
const MAX_GUESSED: usize = 20_000_000;

/// Something that was linked.
pub(super) struct Image {
    /// As a person knows it.
    pub name: String,
    /// Ascending, each once.
    pub units: Vec<u32>,
    /// The definitions of names that have several in the tree.
    pub table: FxHashMap<NameIx, DefId>,
    /// Put together without a record.
    pub guessed: bool,
    /// The images in which what this one lacks is looked for first.
    pub hosts: Vec<u32>,
}

#[derive(Default)]
pub(super) struct Images {
    pub list: Vec<Image>,
    /// Programs for which there was no room.
    pub left_out: usize,
}

impl Images {
    pub(super) fn new(code: &Code<'_>, links: &[Link], ambiguities: &mut Ambiguities) -> Images {
        let mains = &code.mains;
        let mut images = Images::default();
        if links.is_empty() && !mains.contains(&true) {
            return images;
        }
        let symbols = Symbols::new(code);
        let linker = Linker {
            code,
            symbols: &symbols,
            links,
        };
        linker.recorded(&mut images);
        let linked: FxHashSet<u32> = images
            .list
            .iter()
            .flat_map(|image| image.units.iter().copied())
            .collect();
        let mut size = 0;
        for main in (0..code.units.len() as u32).filter(|unit| mains[*unit as usize]) {
            if linked.contains(&main) {
                continue;
            }
            let units = guess::units(code, &symbols, main, ambiguities);
            size += units
                .iter()
                .map(|unit| code.members[*unit as usize].len())
                .sum::<usize>();
            if size > MAX_GUESSED {
                images.left_out += 1;
                continue;
            }
            let name = code.units[main as usize].source.clone();
            images.add(code, name, units, true);
        }
        images
    }

    /// Adds what is linked of these units, in this order.
    fn add(&mut self, code: &Code<'_>, name: String, units: Vec<u32>, guessed: bool) {
        let mut table: FxHashMap<NameIx, (bool, DefId)> = FxHashMap::default();
        for &unit in &units {
            for &id in &code.members[unit as usize] {
                let def = code.def(id);
                let Some(name) = code.name(&def.name).filter(|name| code.is_contested(*name))
                else {
                    continue;
                };
                if def.name.file.is_some() {
                    continue;
                }
                let second = def.weak || !def.own || def.body.is_err();
                let known = table.entry(name).or_insert((second, id));
                if known.0 && !second {
                    *known = (second, id);
                }
            }
        }
        let mut units = units;
        units.sort_unstable();
        units.dedup();
        self.list.push(Image {
            name,
            units,
            table: table
                .into_iter()
                .map(|(name, (_, id))| (name, id))
                .collect(),
            guessed,
            hosts: Vec::new(),
        });
    }
}

/// The units that recorded programs are linked of, and nothing else. Whoever links an archive, a shared object or a module may call what is in there.
pub(super) fn in_programs_alone(links: &[Link]) -> FxHashSet<u32> {
    let units_of = |program: bool| {
        let links = links
            .iter()
            .filter(move |link| (link.kind == LinkKind::Program) == program);
        links
            .flat_map(|link| &link.inputs)
            .filter_map(|input| match *input {
                LinkInput::Unit(unit) => Some(unit as u32),
                LinkInput::Link(_) => None,
            })
    };
    let mut alone: FxHashSet<u32> = units_of(true).collect();
    for unit in units_of(false) {
        alone.remove(&unit);
    }
    alone
}

struct Linker<'a> {
    code: &'a Code<'a>,
    symbols: &'a Symbols,
    links: &'a [Link],
}

/// A link that is being done.
#[derive(Default)]
struct State {
    units: Vec<u32>,
    inside: FxHashSet<u32>,
    defined: FxHashSet<Sym>,
    undefined: BTreeSet<Sym>,
    shared: Vec<usize>,
    archives: Vec<usize>,
    /// Relocatable objects and archives whose parts were taken: each is taken once.
    expanded: FxHashSet<usize>,
}

impl Linker<'_> {
    /// The images of the recorded links: all but archives, and what is a part of another link only.
    fn recorded(&self, images: &mut Images) {
        let inputs = self.links.iter().flat_map(|link| &link.inputs);
        let parts: FxHashSet<usize> = inputs
            .filter_map(|input| match input {
                LinkInput::Link(link) => Some(*link),
                LinkInput::Unit(_) => None,
            })
            .collect();
        for (index, link) in self.links.iter().enumerate() {
            let whole = match link.kind {
                LinkKind::Program | LinkKind::Shared => true,
                LinkKind::Relocatable => !parts.contains(&index),
                LinkKind::Archive => false,
            };
            let units = if whole { self.link(index) } else { Vec::new() };
            if !units.is_empty() {
                images.add(self.code, link.name.clone(), units, false);
            }
        }
        self.find_hosts(images);
    }

    /// What a link takes, in the order in which definitions count.
    fn link(&self, index: usize) -> Vec<u32> {
        let mut state = State::default();
        if self.links[index].kind == LinkKind::Program
            && let Some(main) = self.symbols.function("main")
        {
            // What starts a program calls it.
            state.undefined.insert(main);
        }
        self.inputs(index, &mut state, 0);
        while (0..state.archives.len()).any(|at| self.archive(state.archives[at], &mut state)) {}
        let mut seen = FxHashSet::default();
        let mut shared: VecDeque<usize> = state.shared.iter().copied().collect();
        while let Some(library) = shared.pop_front() {
            if library != index && seen.insert(library) {
                let mut part = State::default();
                self.inputs(library, &mut part, 0);
                while (0..part.archives.len()).any(|at| self.archive(part.archives[at], &mut part))
                {
                }
                shared.extend(part.shared);
                state.units.extend(part.units);
            }
        }
        let mut once = FxHashSet::default();
        state.units.retain(|unit| once.insert(*unit));
        state.units
    }

    fn inputs(&self, index: usize, state: &mut State, depth: usize) {
        if depth > MAX_DEPTH || !state.expanded.insert(index) {
            return;
        }
        for input in &self.links[index].inputs {
            match *input {
                LinkInput::Unit(unit) => self.take(unit as u32, state),
                LinkInput::Link(link) => match self.links[link].kind {
                    LinkKind::Relocatable => self.inputs(link, state, depth + 1),
                    LinkKind::Shared => state.shared.push(link),
                    LinkKind::Archive => {
                        let taken = self.archive(link, state);
                        if !taken && state.units.is_empty() && state.undefined.is_empty() {
                            // Nothing will ask for anything: it is linked as a whole.
                            self.inputs(link, state, depth + 1);
                        }
                        state.archives.push(link);
                    }
                    LinkKind::Program => {}
                },
            }
        }
    }

    /// Takes a unit, if it was not taken before.
    fn take(&self, unit: u32, state: &mut State) {
        if !state.inside.insert(unit) {
            return;
        }
        state.units.push(unit);
        for &(symbol, _) in &self.symbols.provides[unit as usize] {
            state.defined.insert(symbol);
            state.undefined.remove(&symbol);
        }
        for symbol in &self.symbols.needs[unit as usize] {
            if !state.defined.contains(symbol) {
                state.undefined.insert(*symbol);
            }
        }
    }

    /// Takes the members of an archive that are asked for, as often as that brings new ones. Whether there were any.
    fn archive(&self, index: usize, state: &mut State) -> bool {
        let mut members = Vec::new();
        self.members(index, &mut members, (&mut FxHashSet::default(), 0));
        let mut any = false;
        loop {
            let before = state.units.len();
            for &member in &members {
                let mut provided = self.symbols.provides[member as usize].iter();
                if !state.inside.contains(&member)
                    && provided.any(|(symbol, _)| state.undefined.contains(symbol))
                {
                    self.take(member, state);
                }
            }
            if state.units.len() == before {
                return any;
            }
            any = true;
        }
    }

    fn members(
        &self,
        index: usize,
        members: &mut Vec<u32>,
        (seen, depth): (&mut FxHashSet<usize>, usize),
    ) {
        if depth > MAX_DEPTH || !seen.insert(index) {
            return;
        }
        for input in &self.links[index].inputs {
            match *input {
                LinkInput::Unit(unit) => members.push(unit as u32),
                LinkInput::Link(link) => self.members(link, members, (&mut *seen, depth + 1)),
            }
        }
    }

    /// What an image lacks, that one defines which defines most of what it lacks: a kernel for its modules.
    fn find_hosts(&self, images: &mut Images) {
        let mut providers: FxHashMap<Sym, Vec<u32>> = FxHashMap::default();
        for (at, image) in (0u32..).zip(&images.list) {
            let units = image.units.iter();
            for (symbol, _) in units.flat_map(|unit| &self.symbols.provides[*unit as usize]) {
                let images = providers.entry(*symbol).or_default();
                if images.last() != Some(&at) {
                    images.push(at);
                }
            }
        }
        for (at, image) in (0u32..).zip(&mut images.list) {
            let units = image.units.iter();
            let needed = units.flat_map(|unit| &self.symbols.needs[*unit as usize]);
            let needed: FxHashSet<Sym> = needed.copied().collect();
            let mut counts: FxHashMap<u32, usize> = FxHashMap::default();
            for others in needed.iter().filter_map(|symbol| providers.get(symbol)) {
                if others.binary_search(&at).is_err() {
                    others
                        .iter()
                        .for_each(|other| *counts.entry(*other).or_default() += 1);
                }
            }
            let mut counts: Vec<(u32, usize)> = counts.into_iter().collect();
            counts.sort_by_key(|&(other, count)| (std::cmp::Reverse(count), other));
            let hosts = counts.into_iter().take(MAX_HOSTS);
            image.hosts = hosts.map(|(other, _)| other).collect();
        }
    }
}

/// Files that are made of files that are made of files: no build goes so deep, but a file may say so.
const MAX_DEPTH: usize = 64;
/// Images that are asked for what another one lacks.
const MAX_HOSTS: usize = 4;

impl Ambiguities {
    /// Notes that a definition was taken for a unit though others are as near.
    pub(super) fn add(&mut self, code: &Code<'_>, unit: u32, taken: DefId, others: Vec<DefId>) {
        let SymbolName { name, file } = &code.def(taken).name;
        if file.is_some() {
            return;
        }
        let place = |id: DefId| format!("{}:{}", code.def(id).file, code.def(id).line);
        self.0.entry(name.clone()).or_insert_with(|| Ambiguity {
            name: name.clone(),
            caller: code.units[unit as usize].source.clone(),
            taken: place(taken),
            others: others.into_iter().map(place).collect(),
        });
    }
}
