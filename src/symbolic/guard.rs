//! Guards: Boolean functions of named branch conditions, kept as reduced ordered decision diagrams
//! (paper §3.3), so that equal functions are one id and `c ∨ ¬c` vanishes at a join.
//!
//! In: conditions and connectives. Out: interned [`Guard`]s. What a condition *means* is known only
//! to [`super::formula`]. One manager serves one function's analysis; guards of two managers must
//! not meet.

use std::cell::OnceCell;
use std::hash::{Hash, Hasher};

use biodivine_lib_bdd::{Bdd, BddNode, BddPointer, BddVariable, op_function};
use hashbrown::HashTable;
use rustc_hash::{FxHashMap, FxHasher};

#[cfg(test)]
mod tests;

/// An interned Boolean function: equal ids iff equivalent.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct Guard(u32);

impl Guard {
    pub const FALSE: Guard = Guard(0);
    pub const TRUE: Guard = Guard(1);

    pub fn index(self) -> usize {
        self.0 as usize
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

/// Most conditions that one manager names.
pub const MAX_CONDS: u16 = 2000;
/// Nodes of one diagram at which an operation gives up.
const MAX_SIZE: usize = 20_000;
/// Nodes of all diagrams together (12 bytes each) at which operations give up.
const MAX_TOTAL: usize = 6_000_000;
/// Remembered results at which they are forgotten.
const MAX_MEMO: usize = 1 << 20;

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Connective {
    And,
    Or,
    AndNot,
}

struct Entry {
    bdd: Bdd,
    complement: Option<Guard>,
    support: OnceCell<Box<[Cond]>>,
    implied: OnceCell<Box<[(Cond, bool)]>>,
}

pub struct Guards {
    entries: Vec<Entry>,
    table: HashTable<u32>,
    /// For each condition, the guards "false" and "true".
    literals: Vec<[Guard; 2]>,
    memo: FxHashMap<(Connective, Guard, Guard), Guard>,
    implications: FxHashMap<(Guard, Guard), bool>,
    total: usize,
    overflow: bool,
}

impl Default for Guards {
    fn default() -> Guards {
        Guards::new()
    }
}

fn hash(bdd: &Bdd) -> u64 {
    let mut hasher = FxHasher::default();
    bdd.hash(&mut hasher);
    hasher.finish()
}

/// A diagram from its nodes, children first, the constants left out.
fn diagram(inner: &[BddNode]) -> Option<Bdd> {
    let mut nodes = vec![BddNode::mk_zero(MAX_CONDS), BddNode::mk_one(MAX_CONDS)];
    nodes.extend_from_slice(inner);
    Bdd::from_nodes(&nodes).ok()
}

impl Guards {
    pub fn new() -> Guards {
        let mut guards = Guards {
            entries: Vec::new(),
            table: HashTable::new(),
            literals: Vec::new(),
            memo: FxHashMap::default(),
            implications: FxHashMap::default(),
            total: 0,
            overflow: false,
        };
        let constants = [
            Bdd::from_nodes(&[BddNode::mk_zero(MAX_CONDS)]).ok(),
            diagram(&[]),
        ];
        for bdd in constants.into_iter().flatten() {
            guards.intern(bdd);
        }
        guards.entries[0].complement = Some(Guard::TRUE);
        guards.entries[1].complement = Some(Guard::FALSE);
        guards
    }

    /// Whether an operation gave up for size: its result, and all built from it, mean nothing.
    pub fn overflowed(&self) -> bool {
        self.overflow
    }

    /// Number of conditions named so far.
    pub fn conds(&self) -> u16 {
        self.literals.len() as u16
    }

    /// A new condition; `None` when [`MAX_CONDS`] are named.
    pub fn fresh_cond(&mut self) -> Option<Cond> {
        let index = self.conds();
        if index >= MAX_CONDS {
            return None;
        }
        let variable = BddVariable::from_index(usize::from(index));
        let (zero, one) = (BddPointer::zero(), BddPointer::one());
        let negative = diagram(&[BddNode::mk_node(variable, one, zero)])?;
        let positive = diagram(&[BddNode::mk_node(variable, zero, one)])?;
        let (negative, positive) = (self.intern(negative), self.intern(positive));
        self.entries[negative.index()].complement = Some(positive);
        self.entries[positive.index()].complement = Some(negative);
        self.literals.push([negative, positive]);
        Some(Cond(index))
    }

    pub fn literal(&self, cond: Cond, value: bool) -> Guard {
        self.literals[usize::from(cond.0)][usize::from(value)]
    }

    /// The condition and its value, if the guard is a literal.
    pub fn as_literal(&self, g: Guard) -> Option<(Cond, bool)> {
        let bdd = self.bdd(g);
        if bdd.size() != 3 {
            return None;
        }
        let root = bdd.root_pointer();
        Some((cond_at(bdd, root), bdd.high_link_of(root).is_one()))
    }

    pub fn and(&mut self, a: Guard, b: Guard) -> Guard {
        match (a, b) {
            (Guard::FALSE, _) | (_, Guard::FALSE) => Guard::FALSE,
            (Guard::TRUE, x) | (x, Guard::TRUE) => x,
            _ if a == b => a,
            _ if self.complements(a, b) => Guard::FALSE,
            _ => self.apply(Connective::And, a.min(b), a.max(b)),
        }
    }

    pub fn or(&mut self, a: Guard, b: Guard) -> Guard {
        match (a, b) {
            (Guard::TRUE, _) | (_, Guard::TRUE) => Guard::TRUE,
            (Guard::FALSE, x) | (x, Guard::FALSE) => x,
            _ if a == b => a,
            _ if self.complements(a, b) => Guard::TRUE,
            _ => self.apply(Connective::Or, a.min(b), a.max(b)),
        }
    }

    pub fn not(&mut self, a: Guard) -> Guard {
        if let Some(complement) = self.entries[a.index()].complement {
            return complement;
        }
        let bdd = self.bdd(a).not();
        let complement = self.intern(bdd);
        self.entries[a.index()].complement = Some(complement);
        self.entries[complement.index()].complement = Some(a);
        complement
    }

    /// `a ∧ ¬b`.
    pub fn and_not(&mut self, a: Guard, b: Guard) -> Guard {
        match (a, b) {
            (Guard::FALSE, _) | (_, Guard::TRUE) => Guard::FALSE,
            (_, Guard::FALSE) => a,
            (Guard::TRUE, _) => self.not(b),
            _ if a == b => Guard::FALSE,
            _ if self.complements(a, b) => a,
            _ => self.apply(Connective::AndNot, a, b),
        }
    }

    /// `(g ∧ a) ∨ (¬g ∧ b)`.
    pub fn ite(&mut self, g: Guard, a: Guard, b: Guard) -> Guard {
        if g == Guard::TRUE || a == b {
            return a;
        }
        if g == Guard::FALSE {
            return b;
        }
        let then = self.and(g, a);
        let els = self.and_not(b, g);
        self.or(then, els)
    }

    pub fn implies(&mut self, a: Guard, b: Guard) -> bool {
        if a == Guard::FALSE || b == Guard::TRUE || a == b {
            return true;
        }
        if b == Guard::FALSE || a == Guard::TRUE || self.complements(a, b) {
            return false;
        }
        if let Some(&known) = self.implications.get(&(a, b)) {
            return known;
        }
        let (left, right) = (self.bdd(a), self.bdd(b));
        let meets = Bdd::check_binary_op(usize::MAX, left, right, op_function::and_not);
        let implied = matches!(meets, Some((false, _)));
        if self.implications.len() >= MAX_MEMO {
            self.implications.clear();
        }
        self.implications.insert((a, b), implied);
        implied
    }

    /// Whether no valuation satisfies both.
    pub fn excludes(&mut self, a: Guard, b: Guard) -> bool {
        self.and(a, b) == Guard::FALSE
    }

    fn complements(&self, a: Guard, b: Guard) -> bool {
        self.entries[a.index()].complement == Some(b)
    }

    fn bdd(&self, g: Guard) -> &Bdd {
        &self.entries[g.index()].bdd
    }

    fn apply(&mut self, connective: Connective, a: Guard, b: Guard) -> Guard {
        if let Some(&known) = self.memo.get(&(connective, a, b)) {
            return known;
        }
        let (left, right) = (self.bdd(a), self.bdd(b));
        let result = if self.total > MAX_TOTAL {
            None
        } else {
            match connective {
                Connective::And => {
                    Bdd::binary_op_with_limit(MAX_SIZE, left, right, op_function::and)
                }
                Connective::Or => Bdd::binary_op_with_limit(MAX_SIZE, left, right, op_function::or),
                Connective::AndNot => {
                    Bdd::binary_op_with_limit(MAX_SIZE, left, right, op_function::and_not)
                }
            }
        };
        let Some(bdd) = result else {
            self.overflow = true;
            return Guard::TRUE;
        };
        let guard = self.intern(bdd);
        if self.memo.len() >= MAX_MEMO {
            self.memo.clear();
        }
        self.memo.insert((connective, a, b), guard);
        guard
    }

    /// Finds or adds a diagram. Equivalent diagrams are equal vectors because all come from
    /// [`Bdd::binary_op`] or its complement, which number nodes in the same depth-first order.
    fn intern(&mut self, bdd: Bdd) -> Guard {
        let entries = &mut self.entries;
        let h = hash(&bdd);
        let same = |&id: &u32| entries[id as usize].bdd == bdd;
        if let Some(&id) = self.table.find(h, same) {
            return Guard(id);
        }
        let id = entries.len() as u32;
        self.total += bdd.size();
        entries.push(Entry {
            bdd,
            complement: None,
            support: OnceCell::new(),
            implied: OnceCell::new(),
        });
        self.table
            .insert_unique(h, id, |&id| hash(&entries[id as usize].bdd));
        Guard(id)
    }

    /// Number of inner nodes.
    pub fn size(&self, g: Guard) -> usize {
        self.bdd(g).size().saturating_sub(2)
    }

    /// Number of diagrams interned so far, for budgets.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The inner nodes, children before parents; the last one is the root.
    pub fn decisions(&self, g: Guard) -> impl Iterator<Item = Decision> + '_ {
        decisions(self.bdd(g))
    }

    pub fn diagram(&self, g: Guard) -> Diagram {
        Diagram(self.bdd(g).clone())
    }

    /// The conditions that the guard depends on, ascending.
    pub fn support(&self, g: Guard) -> &[Cond] {
        self.entries[g.index()].support.get_or_init(|| {
            let mut conds: Vec<Cond> = self.decisions(g).map(|d| d.cond).collect();
            conds.sort_unstable();
            conds.dedup();
            conds.into()
        })
    }

    /// The guard where the given conditions have the given values.
    pub fn restrict(&mut self, g: Guard, literals: &[(Cond, bool)]) -> Guard {
        let support = self.support(g);
        let values: Vec<(BddVariable, bool)> = literals
            .iter()
            .filter(|(cond, _)| support.binary_search(cond).is_ok())
            .map(|&(cond, value)| (BddVariable::from_index(usize::from(cond.0)), value))
            .collect();
        if values.is_empty() {
            return g;
        }
        let restricted = self.bdd(g).restrict(&values);
        // Restriction numbers nodes its own way; a binary operation restores the common order.
        let bdd = restricted.and(&restricted);
        self.intern(bdd)
    }

    /// The literals that every satisfying valuation has, by ascending condition. None for FALSE.
    pub fn implied_literals(&self, g: Guard) -> Vec<(Cond, bool)> {
        self.implied(g).to_vec()
    }

    /// Like [`Guards::implied_literals`], borrowed.
    pub fn implied(&self, g: Guard) -> &[(Cond, bool)] {
        self.entries[g.index()]
            .implied
            .get_or_init(|| self.find_implied(g).into())
    }

    /// A literal is implied iff the other edge of all its condition's nodes leads to FALSE and no
    /// edge that leads elsewhere passes the condition by.
    fn find_implied(&self, g: Guard) -> Vec<(Cond, bool)> {
        let support = self.support(g);
        let decisions: Vec<Decision> = self.decisions(g).collect();
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
            at = if value_of(cond_at(bdd, at))? {
                bdd.high_link_of(at)
            } else {
                bdd.low_link_of(at)
            };
        }
        Ok(at.is_one())
    }
}

/// A guard's diagram by itself, for what is of use once: not interned.
pub struct Diagram(Bdd);

impl Diagram {
    /// The conjunction with a clause, of literals ascending by condition; `None` if it takes more than
    /// `size` nodes.
    pub fn and_clause(&self, size: usize, literals: &[(Cond, bool)]) -> Option<Diagram> {
        let zero = BddPointer::zero();
        let mut nodes = Vec::with_capacity(literals.len());
        let mut rest = zero;
        for &(cond, value) in literals.iter().rev() {
            let variable = BddVariable::from_index(usize::from(cond.0));
            let (low, high) = match value {
                true => (rest, BddPointer::one()),
                false => (BddPointer::one(), rest),
            };
            nodes.push(BddNode::mk_node(variable, low, high));
            rest = BddPointer::from_index(nodes.len() + 1);
        }
        let clause = diagram(&nodes)?;
        Bdd::binary_op_with_limit(size, &self.0, &clause, op_function::and).map(Diagram)
    }

    /// The conjunction with what a condition means; `None` if it takes more than `size` nodes.
    pub fn and_meaning(
        &self,
        size: usize,
        guards: &Guards,
        cond: Cond,
        meaning: Guard,
    ) -> Option<Diagram> {
        let name = guards.bdd(guards.literal(cond, true));
        let same = Bdd::binary_op_with_limit(size, name, guards.bdd(meaning), op_function::iff)?;
        Bdd::binary_op_with_limit(size, &self.0, &same, op_function::and).map(Diagram)
    }

    /// As [`Guards::decisions`].
    pub fn decisions(&self) -> impl Iterator<Item = Decision> + '_ {
        decisions(&self.0)
    }

    pub fn is_false(&self) -> bool {
        self.0.is_false()
    }
}

fn decisions(bdd: &Bdd) -> impl Iterator<Item = Decision> + '_ {
    bdd.pointers().skip(2).map(|pointer| Decision {
        cond: cond_at(bdd, pointer),
        low: bdd.low_link_of(pointer).to_index(),
        high: bdd.high_link_of(pointer).to_index(),
    })
}

fn cond_at(bdd: &Bdd, pointer: BddPointer) -> Cond {
    Cond(bdd.var_of(pointer).to_index() as u16)
}
