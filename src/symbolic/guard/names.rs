//! Conditions that stand for guards which have grown too large.
//!
//! In: operands whose conjunction or choice exceeds the size of one diagram. Out: the same of named
//! conditions. A name is exact: the term of its condition is a leaf that holds the guard
//! ([`Guards::reserve`]), so that the solver can look into it. Conditions are made by
//! [`super::super::formula::Formula`], which knows their terms; those for names are therefore kept in
//! reserve.

use rustc_hash::FxHashMap;

use super::super::limits::Precision;
use super::{Cond, Entry, Guard, Guards, MAX_CONDS, MAX_CONDS_CHEAP, MAX_SIZE};

/// Nodes of one diagram beyond which a guard is named where an operation on it would be too large.
const NAMED_SIZE: usize = 100;
/// Nodes of one diagram once a guard was named: a function whose guards exceeded the first bound tends to exceed it
/// again.
const MAX_SIZE_NAMED: usize = 1_000;

/// The same in an execution that is to be cheap.
const MAX_SIZE_CHEAP: usize = 500;
/// The same in one that keeps of a larger guard only a part.
const MAX_SIZE_COARSE: usize = 60;
/// Nodes that operations visit once a guard was named, at which they give up.
const MAX_WORK: usize = 20_000_000;

pub(super) struct Names {
    /// Conditions in reserve, and the guard (an entry without a diagram yet) that each is to stand for.
    reserve: Vec<(Cond, Guard)>,
    /// The condition of each guard that has one.
    known: FxHashMap<usize, Cond>,
    /// Nodes of one diagram at present.
    pub(super) most: usize,
    /// Most conditions.
    pub(super) most_conds: u16,
    /// Nodes visited since a guard was named.
    work: usize,
    /// See [`Precision::Coarse`].
    pub(super) coarse: bool,
}

impl Names {
    /// Counts the work of an operation.
    pub(super) fn spend(&mut self, nodes: usize) {
        if self.most != MAX_SIZE {
            self.work += nodes;
        }
    }

    pub(super) fn spent(&self) -> bool {
        self.work > MAX_WORK
    }
}

impl Default for Names {
    fn default() -> Self {
        Names {
            reserve: Vec::new(),
            known: FxHashMap::default(),
            most: MAX_SIZE,
            most_conds: MAX_CONDS,
            work: 0,
            coarse: false,
        }
    }
}

impl Guards {
    /// Sees to it that guards cost less than usual, where not all has to be told apart.
    pub fn be_as_precise(&mut self, precision: Precision) {
        if precision != Precision::Full {
            self.names.most = MAX_SIZE_CHEAP;
            self.names.most_conds = MAX_CONDS_CHEAP;
        }
        if precision == Precision::Coarse {
            self.names.most = MAX_SIZE_COARSE;
            self.names.coarse = true;
        }
    }

    /// Whether a guard that is too large may be another one.
    pub(in super::super) fn is_coarse(&self) -> bool {
        self.names.coarse
    }

    /// One of two guards that were to be combined, for what would be too large.
    pub(super) fn smaller(&self, a: Guard, b: Guard) -> Guard {
        match self.size(a) <= self.size(b) {
            true => a,
            false => b,
        }
    }

    /// Number of conditions in reserve.
    pub(in super::super) fn reserved(&self) -> usize {
        self.names.reserve.len()
    }

    /// Whether some guard has grown too large, and has a name.
    pub(in super::super) fn has_names(&self) -> bool {
        !self.names.known.is_empty()
    }

    /// Puts a condition in reserve. The guard that it will stand for is known by its place only; `None`
    /// when there are too many conditions.
    pub(in super::super) fn reserve(&mut self) -> Option<(Cond, Guard)> {
        let cond = self.fresh_cond()?;
        let place = Guard((self.entries.len() as u32) << 1);
        self.entries.push(Entry::new(super::CONDITIONS.mk_false()));
        self.names.reserve.push((cond, place));
        Some((cond, place))
    }

    /// The guard, or, if it is large, a condition that stands for it; `None` when none is left.
    fn named(&mut self, g: Guard) -> Option<Guard> {
        if self.size(g) <= NAMED_SIZE {
            return Some(g);
        }
        let cond = match self.names.known.get(&g.index()) {
            Some(&cond) => cond,
            None => {
                let (cond, place) = self.names.reserve.pop()?;
                let meaning = self.bdd(g).clone();
                self.total += meaning.size();
                self.entries[place.index()] = Entry::new(meaning);
                self.names.known.insert(g.index(), cond);
                self.names.most = self.names.most.min(MAX_SIZE_NAMED);
                cond
            }
        };
        Some(self.literal(cond, !g.is_negated()))
    }

    /// The conjunction of two guards, each named if it is large.
    pub(super) fn and_named(&mut self, a: Guard, b: Guard) -> Option<Guard> {
        let (x, y) = (self.named(a)?, self.named(b)?);
        let both = self.try_and(x, y, MAX_SIZE)?;
        self.conjunctions.insert(super::ordered(a, b), both);
        Some(both)
    }

    /// `g ? a : b` of three guards, each named if it is large.
    pub(super) fn ite_named(&mut self, g: Guard, a: Guard, b: Guard) -> Option<Guard> {
        let (x, y, z) = (self.named(g)?, self.named(a)?, self.named(b)?);
        self.try_ite(x, y, z, MAX_SIZE)
    }
}
