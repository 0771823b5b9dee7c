//! The units that a program is likely made of, where nothing records what was linked.
//!
//! In: the unit of its `main`. Out: that and the units which define what it needs, and what those need; never one with
//! another `main`.
//!
//! What one unit of the tree defines is taken first, until nothing more comes of that: of two units that define one name
//! a program has one, and mostly it is there for something else as well. Then, of several units that define what is still
//! missing, one that can be linked with the rest is taken, the nearest. One cannot be linked if it defines what is
//! defined already, or needs what only another program's `main` unit has.

use std::collections::VecDeque;

use rustc_hash::{FxHashMap, FxHashSet};

use super::Ambiguities;
use super::code::Code;
use super::symbols::{Sym, Symbols};

/// The units of the program that starts in `main`, that first.
pub(super) fn units(
    code: &Code<'_>,
    symbols: &Symbols,
    main: u32,
    ambiguities: &mut Ambiguities,
) -> Vec<u32> {
    let mut guess = Guess {
        code,
        symbols,
        main,
        units: Vec::new(),
        inside: FxHashSet::default(),
        defined: FxHashSet::default(),
        contested: VecDeque::new(),
        foreign: FxHashMap::default(),
    };
    guess.take(main);
    while let Some((symbol, unit)) = guess.contested.pop_front() {
        if !guess.defined.contains(&symbol)
            && let Some(chosen) = guess.choose(symbol, unit, ambiguities)
        {
            guess.take(chosen);
        }
    }
    guess.units
}

struct Guess<'a> {
    code: &'a Code<'a>,
    symbols: &'a Symbols,
    main: u32,
    units: Vec<u32>,
    inside: FxHashSet<u32>,
    defined: FxHashSet<Sym>,
    /// What several units define, with a unit that needs it.
    contested: VecDeque<(Sym, u32)>,
    /// Units that were asked whether they are a part of another program.
    foreign: FxHashMap<u32, bool>,
}

impl Guess<'_> {
    /// Takes a unit, and all units that alone define what it needs.
    fn take(&mut self, unit: u32) {
        let mut work = VecDeque::from([unit]);
        while let Some(unit) = work.pop_front() {
            if !self.inside.insert(unit) {
                continue;
            }
            self.units.push(unit);
            let provided = self.symbols.provides[unit as usize].iter();
            self.defined.extend(provided.map(|(symbol, _)| *symbol));
            for &symbol in &self.symbols.needs[unit as usize] {
                // The C library's function, though the tree has one of that name, too.
                let outside = self.symbols.outside[unit as usize].contains(&symbol);
                if outside || self.defined.contains(&symbol) {
                    continue;
                }
                match self.providers(symbol, unit)[..] {
                    [] => {}
                    [one] => work.push_back(one),
                    _ => self.contested.push_back((symbol, unit)),
                }
            }
        }
    }

    /// The units that may define a symbol for one that needs it.
    fn providers(&self, symbol: Sym, unit: u32) -> Vec<u32> {
        let size = self.code.units[unit as usize].pointer_size;
        let fits = |other: &u32| {
            !self.code.has_main(*other) && self.code.units[*other as usize].pointer_size == size
        };
        let providers = self.symbols.providers[symbol.index()].iter();
        providers.copied().filter(fits).collect()
    }

    /// The unit that most likely defines a symbol for one that needs it.
    fn choose(&mut self, symbol: Sym, unit: u32, ambiguities: &mut Ambiguities) -> Option<u32> {
        let mut units = self.providers(symbol, unit);
        let fitting: Vec<u32> = units.iter().copied().filter(|u| self.fits(*u)).collect();
        if !fitting.is_empty() {
            units = fitting;
        }
        let Some(name) = self.symbols.names[symbol.index()] else {
            let units = units.into_iter();
            return units.min_by_key(|other| (self.code.steps(unit, *other), *other));
        };
        let candidates = self.code.candidates(name).iter().copied();
        let candidates = candidates.filter(|id| units.iter().any(|unit| self.code.has(*unit, *id)));
        let (mut id, _, others) = self.code.nearest(unit, candidates)?;
        if !others.is_empty() {
            // As near to who needs it; perhaps not to where the program starts.
            let equal = std::iter::once(id).chain(others.iter().copied());
            let (nearest, _, others) = self.code.nearest(self.main, equal)?;
            id = nearest;
            if !others.is_empty() {
                ambiguities.add(self.code, unit, id, others);
            }
        }
        let flags = self.code.flags[unit as usize];
        let with = |unit: &&u32| self.code.has(**unit, id);
        let alike = units.iter().filter(with).copied();
        alike.min_by_key(|unit| (self.code.flags[*unit as usize] != flags, *unit))
    }

    /// Whether a unit can be linked with what was taken so far.
    fn fits(&mut self, unit: u32) -> bool {
        let mut provided = self.symbols.provides[unit as usize].iter();
        !provided.any(|(symbol, weak)| !weak && self.defined.contains(symbol))
            && !self.is_foreign(unit)
    }

    /// Whether a unit needs something that only another program's `main` unit defines.
    fn is_foreign(&mut self, unit: u32) -> bool {
        if let Some(known) = self.foreign.get(&unit) {
            return *known;
        }
        let outside = &self.symbols.outside[unit as usize];
        let foreign = self.symbols.needs[unit as usize].iter().any(|symbol| {
            let providers = &self.symbols.providers[symbol.index()];
            !outside.contains(symbol)
                && providers
                    .iter()
                    .all(|other| *other != self.main && self.code.has_main(*other))
        });
        self.foreign.insert(unit, foreign);
        foreign
    }
}
