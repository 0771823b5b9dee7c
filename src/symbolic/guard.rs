//! Guards: Boolean functions of named branch conditions, kept as reduced ordered decision diagrams
//! (paper §3.3), so that equal functions are one id and `c ∨ ¬c` vanishes at a join.
//!
//! In: conditions and connectives. Out: [`Guard`]s. What a condition *means* is known only to
//! [`super::formula`]. One manager serves one function's analysis; guards of two managers must not
//! meet. Diagrams are the library's, each kept once, and one serves a function and its negation.
//! A guard that grows too large is replaced by a condition that stands for it (`names`); it then is
//! the solver that knows what the two have in common, and no longer the diagram.

use std::cell::{Cell, OnceCell};
use std::hash::{Hash, Hasher};
use std::sync::LazyLock;

use biodivine_lib_bdd::{
    Bdd, BddPartialValuation, BddPointer, BddVariable, BddVariableSet, op_function,
};
use hashbrown::HashTable;
use rustc_hash::{FxHashMap, FxHasher};

mod names;
#[cfg(test)]
mod tests;

use names::Names;

/// A Boolean function: equal iff equivalent. The last bit says that it is the negation of the diagram's,
/// which is FALSE where all conditions are: so a function has one name, and a negation costs nothing.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct Guard(u32);

impl Default for Guard {
    fn default() -> Self {
        Guard::FALSE
    }
}

impl Guard {
    pub const FALSE: Guard = Guard(0);
    pub const TRUE: Guard = Guard(1);

    fn index(self) -> usize {
        (self.0 >> 1) as usize
    }

    fn negated(self) -> Guard {
        Guard(self.0 ^ 1)
    }

    fn is_negated(self) -> bool {
        self.0 & 1 == 1
    }

    /// The guard, or its negation.
    pub fn negated_if(self, negate: bool) -> Guard {
        Guard(self.0 ^ u32::from(negate))
    }
}

/// A named condition: a variable of the decision diagrams, ordered by creation.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct Cond(pub u16);

/// One inner node of a guard's diagram, see [`Guards::decisions`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Decision {
    pub cond: Cond,
    /// Where to go if the condition is false: 0 and 1 are the constants, `i + 2` is decision `i`.
    pub low: usize,
    /// Where to go if it is true.
    pub high: usize,
}

/// Most conditions that one manager names; and that one does which is to be cheap, where each costs less.
pub const MAX_CONDS: u16 = 2000;
const MAX_CONDS_CHEAP: u16 = 8000;
/// Nodes of one diagram beyond which an operation names its operands.
const MAX_SIZE: usize = 20_000;
/// Nodes of three diagrams together up to which a choice is made in one pass.
const CHOICE_SIZE: usize = 500;
/// Nodes of all diagrams together (12 bytes each) at which operations give up.
const MAX_TOTAL: usize = 4_000_000;
/// Remembered results at which they are forgotten.
const MAX_MEMO: usize = 1 << 20;
/// Conditions of a guard that is simplified.
const MAX_SIMPLIFIED: usize = 32;

/// Conditions and the values that they have.
type Literals = Box<[(Cond, bool)]>;

struct Entry {
    bdd: Bdd,
    support: OnceCell<Box<[Cond]>>,
    /// The literals that it implies, and those that its negation does.
    implied: [OnceCell<Literals>; 2],
}

impl Entry {
    fn new(bdd: Bdd) -> Entry {
        Entry {
            bdd,
            support: OnceCell::new(),
            implied: Default::default(),
        }
    }
}

pub struct Guards {
    entries: Vec<Entry>,
    table: HashTable<u32>,
    /// For each condition, the guard "true".
    literals: Vec<Guard>,
    conjunctions: FxHashMap<(Guard, Guard), Guard>,
    choices: FxHashMap<(Guard, Guard, Guard), Guard>,
    disjoint: FxHashMap<(Guard, Guard), bool>,
    /// Nodes of all diagrams.
    total: usize,
    overflow: bool,
    /// The conditions that stand for large guards.
    names: Names,
}

impl Default for Guards {
    fn default() -> Guards {
        Guards::new()
    }
}

static CONDITIONS: LazyLock<BddVariableSet> =
    LazyLock::new(|| BddVariableSet::new_anonymous(MAX_CONDS_CHEAP));

fn variable(cond: Cond) -> BddVariable {
    BddVariable::from_index(usize::from(cond.0))
}

fn cond_at(bdd: &Bdd, at: BddPointer) -> Cond {
    Cond(bdd.var_of(at).to_index() as u16)
}

/// The name of a pair of guards of which the order does not matter.
fn ordered(a: Guard, b: Guard) -> (Guard, Guard) {
    (a.min(b), a.max(b))
}

fn hash(bdd: &Bdd) -> u64 {
    let mut hasher = FxHasher::default();
    bdd.hash(&mut hasher);
    hasher.finish()
}

/// Conjunction of what diagrams stand for, negated where a guard is; and its negation.
fn conjunction(
    [not_a, not_b, not_both]: [bool; 3],
) -> impl Fn(Option<bool>, Option<bool>) -> Option<bool> {
    move |a, b| {
        op_function::and(a.map(|a| a != not_a), b.map(|b| b != not_b)).map(|c| c != not_both)
    }
}

impl Guards {
    pub fn new() -> Guards {
        let mut guards = Guards {
            entries: Vec::new(),
            table: HashTable::new(),
            literals: Vec::new(),
            conjunctions: FxHashMap::default(),
            choices: FxHashMap::default(),
            disjoint: FxHashMap::default(),
            total: 0,
            overflow: false,
            names: Names::default(),
        };
        guards.intern(CONDITIONS.mk_false());
        guards
    }

    /// Nodes that guards may still have, all together.
    pub fn room(&self) -> usize {
        MAX_TOTAL.saturating_sub(self.total)
    }

    /// Whether an operation gave up for size: its result, and all built from it, mean nothing.
    pub fn overflowed(&self) -> bool {
        self.overflow
    }

    /// Number of conditions named so far.
    pub fn conds(&self) -> u16 {
        self.literals.len() as u16
    }

    /// A new condition; `None` when too many are named.
    pub fn fresh_cond(&mut self) -> Option<Cond> {
        let index = self.conds();
        if index >= self.names.most_conds {
            return None;
        }
        let literal = self.intern(CONDITIONS.mk_literal(variable(Cond(index)), true));
        self.literals.push(literal);
        Some(Cond(index))
    }

    pub fn literal(&self, cond: Cond, value: bool) -> Guard {
        self.literals[usize::from(cond.0)].negated_if(!value)
    }

    /// The conjunction of literals.
    pub fn cube(&mut self, literals: &[(Cond, bool)]) -> Guard {
        let mut clause = BddPartialValuation::empty();
        let mut negated = true;
        for &(cond, value) in literals {
            match clause.get_value(variable(cond)) {
                Some(known) if known != value => return Guard::FALSE,
                _ => clause.set_value(variable(cond), value),
            }
            negated &= !value;
        }
        let cube = CONDITIONS.mk_conjunctive_clause(&clause);
        let cube = if negated { cube.into_not() } else { cube };
        self.intern(cube).negated_if(negated)
    }

    /// The condition and its value, if the guard is a literal.
    pub fn as_literal(&self, g: Guard) -> Option<(Cond, bool)> {
        let bdd = self.bdd(g);
        (bdd.size() == 3).then(|| (cond_at(bdd, bdd.root_pointer()), !g.is_negated()))
    }

    /// The conjunction; where that is too large, of conditions that stand for what is large of the two.
    pub fn and(&mut self, a: Guard, b: Guard) -> Guard {
        let both = self.try_and(a, b, self.names.most);
        let both = match self.names.coarse {
            true => both.or_else(|| Some(self.smaller(a, b))),
            false => both.or_else(|| self.and_named(a, b)),
        };
        self.or_overflow(both)
    }

    fn or_overflow(&mut self, result: Option<Guard>) -> Guard {
        self.overflow |= result.is_none();
        result.unwrap_or(Guard::TRUE)
    }

    /// All the paths of any of these. Neighbours are joined first: to join each with all before it would cost the size of the whole
    /// each time.
    pub fn union(&mut self, paths: impl IntoIterator<Item = Guard>) -> Guard {
        let mut paths: Vec<Guard> = paths.into_iter().collect();
        while paths.len() > 1 {
            let pairs = paths.chunks(2);
            let joined = pairs.map(|pair| pair.iter().copied().reduce(|a, b| self.or(a, b)));
            paths = joined.flatten().collect();
        }
        paths.first().copied().unwrap_or(Guard::FALSE)
    }

    /// [`Guards::or`], or `None` if that takes more than `most` nodes.
    pub fn try_or(&mut self, a: Guard, b: Guard, most: usize) -> Option<Guard> {
        let neither = self.try_and(a.negated(), b.negated(), most)?;
        Some(neither.negated())
    }

    /// [`Guards::and`], or `None` if that takes more than `most` nodes.
    pub fn try_and(&mut self, a: Guard, b: Guard, most: usize) -> Option<Guard> {
        if a == Guard::FALSE || b == Guard::FALSE || a == b.negated() {
            return Some(Guard::FALSE);
        }
        if a == Guard::TRUE || a == b {
            return Some(b);
        }
        if b == Guard::TRUE {
            return Some(a);
        }
        let (a, b) = ordered(a, b);
        if let Some(&known) = self.conjunctions.get(&(a, b)) {
            return Some(known);
        }
        if self.total > MAX_TOTAL || self.names.spent() {
            return None;
        }
        // Where all conditions are false, a negated guard is TRUE.
        let negated = a.is_negated() && b.is_negated();
        let operation = conjunction([a.is_negated(), b.is_negated(), negated]);
        let bdd = Bdd::binary_op_with_limit(most, self.bdd(a), self.bdd(b), operation);
        let size = bdd.as_ref().map_or(most, Bdd::size);
        self.names.spend(size + self.size(a) + self.size(b));
        let bdd = bdd?;
        let both = self.intern(bdd).negated_if(negated);
        if self.conjunctions.len() >= MAX_MEMO {
            self.conjunctions.clear();
        }
        self.conjunctions.insert((a, b), both);
        // What it is made of adds nothing to it later on: a path meets a condition again and again.
        for part in [a, b] {
            if both != Guard::FALSE && both != part {
                self.conjunctions.insert(ordered(both, part), both);
                let never = ordered(both, part.negated());
                self.conjunctions.insert(never, Guard::FALSE);
            }
        }
        Some(both)
    }

    fn bdd(&self, g: Guard) -> &Bdd {
        &self.entries[g.index()].bdd
    }

    /// Finds or adds a diagram. Equivalent diagrams are equal vectors because all come from
    /// [`Bdd::binary_op`], which numbers nodes in the same depth-first order.
    fn intern(&mut self, bdd: Bdd) -> Guard {
        let entries = &mut self.entries;
        let h = hash(&bdd);
        let same = |&id: &u32| entries[id as usize].bdd == bdd;
        if let Some(&id) = self.table.find(h, same) {
            return Guard(id << 1);
        }
        let id = entries.len() as u32;
        self.total += bdd.size();
        entries.push(Entry::new(bdd));
        self.table
            .insert_unique(h, id, |&id| hash(&entries[id as usize].bdd));
        Guard(id << 1)
    }

    pub fn or(&mut self, a: Guard, b: Guard) -> Guard {
        self.and(a.negated(), b.negated()).negated()
    }

    pub fn not(&self, a: Guard) -> Guard {
        a.negated()
    }

    /// `a ∧ ¬b`.
    pub fn and_not(&mut self, a: Guard, b: Guard) -> Guard {
        self.and(a, b.negated())
    }

    /// `(g ∧ a) ∨ (¬g ∧ b)`.
    pub fn ite(&mut self, g: Guard, a: Guard, b: Guard) -> Guard {
        let choice = self.try_ite(g, a, b, self.names.most);
        let choice = match self.names.coarse {
            true => choice.or_else(|| Some(self.smaller(a, b))),
            false => choice.or_else(|| self.ite_named(g, a, b)),
        };
        self.or_overflow(choice)
    }

    /// [`Guards::ite`], or `None` if that takes more than `most` nodes.
    pub fn try_ite(&mut self, g: Guard, a: Guard, b: Guard, most: usize) -> Option<Guard> {
        if g == Guard::TRUE || a == b {
            return Some(a);
        }
        if g == Guard::FALSE {
            return Some(b);
        }
        if b == Guard::FALSE {
            return self.try_and(g, a, most);
        }
        if a == Guard::FALSE {
            return self.try_and(g.negated(), b, most);
        }
        if self.size(g) + self.size(a) + self.size(b) <= CHOICE_SIZE {
            return Some(self.choice(g, a, b));
        }
        let then = self.try_and(g, a, most)?;
        let els = self.try_and(g.negated(), b, most)?;
        let neither = self.try_and(then.negated(), els.negated(), most)?;
        Some(neither.negated())
    }

    /// [`Guards::ite`] in one pass, for which the library has no limit.
    fn choice(&mut self, g: Guard, a: Guard, b: Guard) -> Guard {
        // So that one choice has one name: its condition is never negated.
        let (g, a, b) = match g.is_negated() {
            true => (g.negated(), b, a),
            false => (g, a, b),
        };
        if let Some(&known) = self.choices.get(&(g, a, b)) {
            return known;
        }
        // Where all conditions are false, so is `g`.
        let (not_a, not_b) = (a.is_negated(), b.is_negated());
        let bdd = Bdd::ternary_op(self.bdd(g), self.bdd(a), self.bdd(b), |g, a, b| {
            let (a, b) = (a.map(|a| a != not_a), b.map(|b| b != not_b));
            let chosen = match g {
                Some(true) => a,
                Some(false) => b,
                None => a.filter(|_| a == b),
            };
            chosen.map(|chosen| chosen != not_b)
        });
        let choice = self.intern(bdd).negated_if(not_b);
        if self.choices.len() >= MAX_MEMO {
            self.choices.clear();
        }
        self.choices.insert((g, a, b), choice);
        choice
    }

    pub fn implies(&mut self, a: Guard, b: Guard) -> bool {
        self.excludes(a, b.negated())
    }

    /// Whether no valuation satisfies both.
    pub fn excludes(&mut self, a: Guard, b: Guard) -> bool {
        if a == Guard::FALSE || b == Guard::FALSE || a == b.negated() {
            return true;
        }
        if a == Guard::TRUE || b == Guard::TRUE || a == b || a.is_negated() && b.is_negated() {
            return false;
        }
        let (a, b) = ordered(a, b);
        if let Some(&both) = self.conjunctions.get(&(a, b)) {
            return both == Guard::FALSE;
        }
        if let Some(&known) = self.disjoint.get(&(a, b)) {
            return known;
        }
        // Once a valuation is found that satisfies both, there is nothing more to look for.
        let meet = Cell::new(false);
        let both = conjunction([a.is_negated(), b.is_negated(), false]);
        let operation = |a, b| match meet.get() {
            true => Some(true),
            false => both(a, b).inspect(|&both| meet.set(both)),
        };
        Bdd::check_binary_op(usize::MAX, self.bdd(a), self.bdd(b), operation);
        if self.disjoint.len() >= MAX_MEMO {
            self.disjoint.clear();
        }
        self.disjoint.insert((a, b), !meet.get());
        !meet.get()
    }

    /// Number of inner nodes.
    pub fn size(&self, g: Guard) -> usize {
        self.bdd(g).size().saturating_sub(2)
    }

    /// The decisions that make the guard up, children before parents; the last one is the root.
    pub fn decisions(&self, g: Guard) -> Vec<Decision> {
        let bdd = self.bdd(g);
        // The diagram's constants change places where the guard is its negation.
        let place = |pointer: BddPointer| match pointer.to_index() {
            constant @ 0..2 => constant ^ usize::from(g.is_negated()),
            inner => inner,
        };
        let inner = bdd.pointers().skip(2).map(|at| Decision {
            cond: cond_at(bdd, at),
            low: place(bdd.low_link_of(at)),
            high: place(bdd.high_link_of(at)),
        });
        inner.collect()
    }

    /// The conditions that the guard depends on, ascending.
    pub fn support(&self, g: Guard) -> &[Cond] {
        let entry = &self.entries[g.index()];
        entry.support.get_or_init(|| {
            let bdd = &entry.bdd;
            let inner = bdd.pointers().skip(2);
            let mut conds: Vec<Cond> = inner.map(|at| cond_at(bdd, at)).collect();
            conds.sort_unstable();
            conds.dedup();
            conds.into()
        })
    }

    /// Where the guard holds for one of the condition's two values, or for the other.
    pub fn for_either(&mut self, g: Guard, condition: Cond) -> Guard {
        let on = self.restrict(g, &[(condition, true)]);
        let off = self.restrict(g, &[(condition, false)]);
        self.or(on, off)
    }

    /// The guard where the given conditions have the given values.
    pub fn restrict(&mut self, g: Guard, literals: &[(Cond, bool)]) -> Guard {
        let support = self.support(g);
        let values: Vec<(BddVariable, bool)> = literals
            .iter()
            .filter(|(cond, _)| support.binary_search(cond).is_ok())
            .map(|&(cond, value)| (variable(cond), value))
            .collect();
        if values.is_empty() {
            return g;
        }
        let restricted = self.bdd(g).restrict(&values);
        // Restriction numbers nodes its own way; a binary operation restores the common order.
        let mut lowest = restricted.root_pointer();
        while !lowest.is_terminal() {
            lowest = restricted.low_link_of(lowest);
        }
        let negated = lowest.is_one();
        let operation = conjunction([false, false, negated]);
        let bdd = Bdd::binary_op(&restricted, &restricted, operation);
        let guard = self.intern(bdd);
        guard.negated_if(negated != g.is_negated())
    }

    /// The paths on which a condition holds, too; all of them where that would be too large a guard.
    pub fn narrowed(&mut self, paths: Guard, condition: Guard) -> Guard {
        let narrowed = self.try_and(paths, condition, self.names.most);
        narrowed.unwrap_or(paths)
    }

    /// A guard that is the same on these paths and has no condition that makes no difference there. A guard of many conditions stays as it is.
    pub fn simplified_on(&mut self, g: Guard, paths: Guard) -> Guard {
        let conditions = self.support(g).to_vec();
        let decided = self.support(paths);
        let apart = conditions
            .iter()
            .all(|one| decided.binary_search(one).is_err());
        // Paths that say nothing of its conditions leave each of them its say.
        if apart || conditions.len() > MAX_SIMPLIFIED {
            return g;
        }
        conditions.into_iter().fold(g, |g, condition| {
            let same = [false, true].into_iter().find_map(|value| {
                let without = self.restrict(g, &[(condition, value)]);
                self.agree_on(g, without, paths).then_some(without)
            });
            same.unwrap_or(g)
        })
    }

    /// Whether two guards are the same on these paths, as far as that can be told.
    fn agree_on(&mut self, a: Guard, b: Guard, paths: Guard) -> bool {
        let mut contained = |one, other| {
            let one = self.try_and(paths, one, self.names.most);
            one.is_some_and(|one| self.implies(one, other))
        };
        a == b || contained(a, b) && contained(b, a)
    }

    /// The literals that every satisfying valuation has, by ascending condition. None for FALSE.
    pub fn implied_literals(&self, g: Guard) -> Vec<(Cond, bool)> {
        self.implied(g).to_vec()
    }

    /// Like [`Guards::implied_literals`], borrowed.
    pub fn implied(&self, g: Guard) -> &[(Cond, bool)] {
        let implied = &self.entries[g.index()].implied[usize::from(g.is_negated())];
        implied.get_or_init(|| self.find_implied(g).into())
    }

    /// A literal is implied iff the other edge of all its condition's nodes leads to FALSE and no
    /// edge that leads elsewhere passes the condition by.
    fn find_implied(&self, g: Guard) -> Vec<(Cond, bool)> {
        let support = self.support(g);
        let decisions = self.decisions(g);
        let Some(root) = decisions.last() else {
            return Vec::new();
        };
        let rank = |cond: Cond| support.partition_point(|&c| c < cond);
        let level = |target: usize| match target {
            1 => support.len(),
            i => rank(decisions[i - 2].cond),
        };
        // passed[i] - … counts, as a running sum, the edges that pass condition i by.
        let mut passed = vec![0i64; support.len() + 1];
        let mut possible = vec![[false; 2]; support.len()];
        let mut pass = |from: usize, to: usize| {
            if from < to {
                passed[from] += 1;
                passed[to] -= 1;
            }
        };
        pass(0, rank(root.cond));
        for d in &decisions {
            let at = rank(d.cond);
            for (value, target) in [(false, d.low), (true, d.high)] {
                if target != 0 {
                    possible[at][usize::from(value)] = true;
                    pass(at + 1, level(target));
                }
            }
        }
        let mut passing = 0;
        let mut implied = Vec::new();
        for (i, &cond) in support.iter().enumerate() {
            passing += passed[i];
            if passing == 0 && possible[i][0] != possible[i][1] {
                implied.push((cond, possible[i][1]));
            }
        }
        implied
    }

    /// The guard's value where each condition has the value that `value_of` gives it.
    pub fn eval(&self, g: Guard, value_of: &mut dyn FnMut(Cond) -> bool) -> bool {
        let walked: Result<bool, std::convert::Infallible> =
            self.try_eval(g, &mut |cond| Ok(value_of(cond)));
        match walked {
            Ok(value) => value,
        }
    }

    /// Like [`Guards::eval`], stopping at the first condition whose value is not to be had.
    pub fn try_eval<E>(
        &self,
        g: Guard,
        value_of: &mut dyn FnMut(Cond) -> Result<bool, E>,
    ) -> Result<bool, E> {
        let bdd = self.bdd(g);
        let mut at = bdd.root_pointer();
        while !at.is_terminal() {
            at = match value_of(cond_at(bdd, at))? {
                true => bdd.high_link_of(at),
                false => bdd.low_link_of(at),
            };
        }
        Ok(at.is_one() != g.is_negated())
    }
}
