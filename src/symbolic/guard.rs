//! Guards: Boolean functions of named branch conditions, kept as reduced ordered decision diagrams
//! (paper §3.3), so that equal functions are one id and `c ∨ ¬c` vanishes at a join.
//!
//! In: conditions and connectives. Out: [`Guard`]s. What a condition *means* is known only to
//! [`super::formula`]. One manager serves one function's analysis; guards of two managers must not
//! meet. All diagrams of a manager share their nodes: guards along a path differ by a condition or two,
//! and what they have in common is neither kept nor computed twice.

use std::cell::OnceCell;

use rustc_hash::{FxHashMap, FxHashSet};

mod nodes;
#[cfg(test)]
mod tests;

use nodes::Nodes;

/// A Boolean function, an edge to a node of the shared diagrams: equal iff equivalent. The last bit
/// says that the function is the negation of the node's.
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

    fn node(self) -> usize {
        (self.0 >> 1) as usize
    }

    fn negated(self) -> Guard {
        Guard(self.0 ^ 1)
    }

    fn is_negated(self) -> bool {
        self.0 & 1 == 1
    }

    fn negated_if(self, negate: bool) -> Guard {
        Guard(self.0 ^ u32::from(negate))
    }

    fn is_constant(self) -> bool {
        self.node() == 0
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
/// Nodes that one operation may add.
const MAX_ADDED: usize = 20_000;

/// Conditions and the values that they have.
type Literals = Box<[(Cond, bool)]>;

/// What was found out about the function of a node.
#[derive(Default)]
struct Facts {
    support: OnceCell<Box<[Cond]>>,
    /// The literals that it implies, and those that its negation does.
    implied: [OnceCell<Literals>; 2],
}

#[derive(Default)]
pub struct Guards {
    nodes: Nodes,
    /// For each condition, the guard "true".
    literals: Vec<Guard>,
    overflow: bool,
}

impl Guards {
    pub fn new() -> Guards {
        Guards::default()
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
        let cond = Cond(index);
        self.literals
            .push(self.nodes.decide(cond, Guard::FALSE, Guard::TRUE));
        Some(cond)
    }

    pub fn literal(&self, cond: Cond, value: bool) -> Guard {
        self.literals[usize::from(cond.0)].negated_if(!value)
    }

    /// The condition and its value, if the guard is a literal.
    pub fn as_literal(&self, g: Guard) -> Option<(Cond, bool)> {
        let (low, high) = self.nodes.branches(g)?;
        let literal = low.is_constant() && high.is_constant();
        literal.then(|| (self.nodes.cond(g), high == Guard::TRUE))
    }

    pub fn and(&mut self, a: Guard, b: Guard) -> Guard {
        let both = self.try_and(a, b, MAX_ADDED);
        self.or_overflow(both)
    }

    fn or_overflow(&mut self, result: Option<Guard>) -> Guard {
        self.overflow |= result.is_none();
        result.unwrap_or(Guard::TRUE)
    }

    /// [`Guards::and`], or `None` if it takes more than `added` nodes.
    pub fn try_and(&mut self, a: Guard, b: Guard, mut added: usize) -> Option<Guard> {
        self.nodes.and(a, b, &mut added)
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
        let choice = self.try_ite(g, a, b, MAX_ADDED);
        self.or_overflow(choice)
    }

    /// [`Guards::ite`], or `None` if it takes more than `added` nodes.
    pub fn try_ite(&mut self, g: Guard, a: Guard, b: Guard, mut added: usize) -> Option<Guard> {
        self.nodes.choose(g, a, b, &mut added)
    }

    pub fn implies(&mut self, a: Guard, b: Guard) -> bool {
        self.nodes.disjoint(a, b.negated())
    }

    /// Whether no valuation satisfies both.
    pub fn excludes(&mut self, a: Guard, b: Guard) -> bool {
        self.nodes.disjoint(a, b)
    }

    /// Number of inner nodes.
    pub fn size(&self, g: Guard) -> usize {
        self.nodes.size(g, usize::MAX)
    }

    /// Whether there are more inner nodes than that.
    pub fn is_larger(&self, g: Guard, than: usize) -> bool {
        self.nodes.is_larger(g, than)
    }

    /// The decisions that make the guard up, children before parents; the last one is the root.
    pub fn decisions(&self, g: Guard) -> Vec<Decision> {
        let mut decisions: Vec<Decision> = Vec::new();
        let mut places: FxHashMap<Guard, usize> =
            FxHashMap::from_iter([(Guard::FALSE, 0), (Guard::TRUE, 1)]);
        let mut stack = vec![g];
        while let Some(&at) = stack.last() {
            let Some((low, high)) = self.nodes.branches(at) else {
                break;
            };
            if places.contains_key(&at) {
                stack.pop();
                continue;
            }
            match (places.get(&low), places.get(&high)) {
                (Some(&low), Some(&high)) => {
                    let cond = self.nodes.cond(at);
                    places.insert(at, decisions.len() + 2);
                    decisions.push(Decision { cond, low, high });
                    stack.pop();
                }
                (None, _) => stack.push(low),
                (_, None) => stack.push(high),
            }
        }
        decisions
    }

    /// The conditions that the guard depends on, ascending.
    pub fn support(&self, g: Guard) -> &[Cond] {
        self.nodes.facts(g).support.get_or_init(|| {
            let mut seen: FxHashSet<usize> = FxHashSet::default();
            let mut stack = vec![g];
            let mut conds = Vec::new();
            while let Some(at) = stack.pop() {
                if let Some((low, high)) = self.nodes.branches(at)
                    && seen.insert(at.node())
                {
                    conds.push(self.nodes.cond(at));
                    stack.extend([low, high]);
                }
            }
            conds.sort_unstable();
            conds.dedup();
            conds.into()
        })
    }

    /// The guard where the given conditions have the given values.
    pub fn restrict(&mut self, g: Guard, literals: &[(Cond, bool)]) -> Guard {
        let mut literals = literals.to_vec();
        literals.sort_unstable();
        self.nodes.restrict(g, &literals, &mut FxHashMap::default())
    }

    /// The literals that every satisfying valuation has, by ascending condition. None for FALSE.
    pub fn implied_literals(&self, g: Guard) -> Vec<(Cond, bool)> {
        self.implied(g).to_vec()
    }

    /// Like [`Guards::implied_literals`], borrowed.
    pub fn implied(&self, g: Guard) -> &[(Cond, bool)] {
        self.nodes.facts(g).implied[usize::from(g.is_negated())]
            .get_or_init(|| self.find_implied(g).into())
    }

    fn find_implied(&self, g: Guard) -> Vec<(Cond, bool)> {
        let mut implied = Vec::new();
        let mut rest = g;
        while let Some((low, high)) = self.nodes.branches(rest) {
            let cond = self.nodes.cond(rest);
            rest = match (low, high) {
                (Guard::FALSE, _) => {
                    implied.push((cond, true));
                    high
                }
                (_, Guard::FALSE) => {
                    implied.push((cond, false));
                    low
                }
                _ if rest == g => return self.implied_by_branches(g),
                _ => {
                    implied.extend_from_slice(self.implied(rest));
                    break;
                }
            };
        }
        implied
    }

    /// A literal is implied iff the other edge of all its condition's nodes leads to FALSE and no
    /// edge that leads elsewhere passes the condition by.
    fn implied_by_branches(&self, g: Guard) -> Vec<(Cond, bool)> {
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
        let mut at = g;
        while let Some((low, high)) = self.nodes.branches(at) {
            at = match value_of(self.nodes.cond(at))? {
                true => high,
                false => low,
            };
        }
        Ok(at == Guard::TRUE)
    }
}
