//! The nodes that all guards share, each once, and the recursion over them: conjunction.
//!
//! In: edges. Out: edges, in the canonical form: a node's two branches differ, and the one for "false" is
//! never a negated edge; what would be is its negation, behind a negated edge. So a function has one
//! edge, a negation costs nothing, and disjunction needs no recursion of its own.

use std::cell::OnceCell;

use rustc_hash::{FxHashMap, FxHashSet};

use super::{Cond, Facts, Guard};

/// Nodes at which operations give up.
const MAX_NODES: usize = 2_000_000;
/// Lists of nodes that hash alike, at first; a power of two, as later.
const FIRST_HEADS: usize = 1 << 8;

struct Node {
    cond: Cond,
    /// No fewer inner nodes than there are from here on, or the largest number.
    most: u16,
    low: Guard,
    high: Guard,
    /// The next one of those that hash alike; 0 for none.
    next: u32,
}

pub struct Nodes {
    /// The first one is the constant.
    all: Vec<Node>,
    /// By node.
    facts: Vec<OnceCell<Box<Facts>>>,
    /// The first one of those that hash alike; 0 for none.
    heads: Vec<u32>,
    conjunctions: Remembered<Guard>,
    disjoint: Remembered<bool>,
    choices: Remembered<Guard>,
}

impl Default for Nodes {
    fn default() -> Nodes {
        let constant = Node {
            cond: Cond(u16::MAX),
            low: Guard::FALSE,
            high: Guard::FALSE,
            most: 0,
            next: 0,
        };
        Nodes {
            all: vec![constant],
            facts: vec![OnceCell::new()],
            heads: vec![0; FIRST_HEADS],
            conjunctions: Remembered::default(),
            disjoint: Remembered::default(),
            choices: Remembered::default(),
        }
    }
}

const MIX: u64 = 0x9E37_79B9_7F4A_7C15;

/// Fibonacci hashing: the upper half depends on all bits.
fn mixed(a: Guard, b: Guard) -> u64 {
    (u64::from(a.0) << 32 | u64::from(b.0)).wrapping_mul(MIX)
}

impl Nodes {
    fn node(&self, g: Guard) -> &Node {
        &self.all[g.node()]
    }

    /// The first condition that is looked at; above all others for a constant.
    pub fn cond(&self, g: Guard) -> Cond {
        self.node(g).cond
    }

    pub fn facts(&self, g: Guard) -> &Facts {
        self.facts[g.node()].get_or_init(Box::default)
    }

    /// Where it goes on if its condition is false, and if it is true. `None` for a constant.
    pub fn branches(&self, g: Guard) -> Option<(Guard, Guard)> {
        (!g.is_constant()).then(|| {
            let node = self.node(g);
            (
                node.low.negated_if(g.is_negated()),
                node.high.negated_if(g.is_negated()),
            )
        })
    }

    /// The branches at a condition that is not after the guard's own.
    fn branches_at(&self, g: Guard, cond: Cond) -> (Guard, Guard) {
        match self.branches(g) {
            Some(branches) if self.cond(g) == cond => branches,
            _ => (g, g),
        }
    }

    /// `cond ? high : low`, of guards in which only later conditions occur.
    pub fn decide(&mut self, cond: Cond, low: Guard, high: Guard) -> Guard {
        if low == high {
            return low;
        }
        let negate = low.is_negated();
        let (low, high) = (low.negated_if(negate), high.negated_if(negate));
        let mut at = self.heads[self.head(cond, low, high)];
        while at != 0 {
            let node = &self.all[at as usize];
            if (node.cond, node.low, node.high) == (cond, low, high) {
                return Guard(at << 1).negated_if(negate);
            }
            at = node.next;
        }
        if self.all.len() > self.heads.len() {
            self.rehash(self.heads.len() * 4);
        }
        let id = self.all.len() as u32;
        let head = self.head(cond, low, high);
        let most = self.node(low).most.saturating_add(self.node(high).most);
        self.all.push(Node {
            cond,
            low,
            high,
            most: most.saturating_add(1),
            next: std::mem::replace(&mut self.heads[head], id),
        });
        self.facts.push(OnceCell::new());
        Guard(id << 1).negated_if(negate)
    }

    fn decide_within(
        &mut self,
        cond: Cond,
        low: Guard,
        high: Guard,
        left: &mut usize,
    ) -> Option<Guard> {
        let before = self.all.len();
        let decision = self.decide(cond, low, high);
        if self.all.len() > before {
            *left = left.checked_sub(1)?;
            if before >= MAX_NODES {
                return None;
            }
        }
        Some(decision)
    }

    fn head(&self, cond: Cond, low: Guard, high: Guard) -> usize {
        let branches = mixed(low, high);
        let mixed = (branches ^ u64::from(cond.0)).wrapping_mul(MIX);
        (mixed >> 32) as usize & (self.heads.len() - 1)
    }

    fn rehash(&mut self, heads: usize) {
        self.heads = vec![0; heads];
        for id in 1..self.all.len() {
            let Node {
                cond, low, high, ..
            } = self.all[id];
            let head = self.head(cond, low, high);
            self.all[id].next = std::mem::replace(&mut self.heads[head], id as u32);
        }
    }

    /// The conjunction, which may add `left` nodes; `None` if it takes more.
    pub fn and(&mut self, a: Guard, b: Guard, left: &mut usize) -> Option<Guard> {
        if a == Guard::FALSE || b == Guard::FALSE || a == b.negated() {
            return Some(Guard::FALSE);
        }
        if a == Guard::TRUE || a == b {
            return Some(b);
        }
        if b == Guard::TRUE {
            return Some(a);
        }
        let (a, b) = (a.min(b), a.max(b));
        if let Some(known) = self.conjunctions.get((a, b, Guard::FALSE)) {
            return Some(known);
        }
        let cond = self.cond(a).min(self.cond(b));
        let (a_low, a_high) = self.branches_at(a, cond);
        let (b_low, b_high) = self.branches_at(b, cond);
        let low = self.and(a_low, b_low, left)?;
        let high = self.and(a_high, b_high, left)?;
        if (low, high) == (a_low, a_high) || (low, high) == (b_low, b_high) {
            let both = if (low, high) == (a_low, a_high) { a } else { b };
            self.conjunctions.put((a, b, Guard::FALSE), both);
            return Some(both);
        }
        let both = self.decide_within(cond, low, high, left)?;
        self.conjunctions.put((a, b, Guard::FALSE), both);
        Some(both)
    }

    /// `g ? a : b`, which may add `left` nodes; `None` if it takes more.
    pub fn choose(&mut self, g: Guard, a: Guard, b: Guard, left: &mut usize) -> Option<Guard> {
        if g.is_negated() {
            return self.choose(g.negated(), b, a, left);
        }
        if a.is_negated() {
            let negated = self.choose(g, a.negated(), b.negated(), left)?;
            return Some(negated.negated());
        }
        // From here on neither `g` nor `a` is negated.
        if g == Guard::FALSE || a == b {
            return Some(b);
        }
        if a == Guard::FALSE {
            return self.and(g.negated(), b, left);
        }
        if a == g {
            let neither = self.and(g.negated(), b.negated(), left)?;
            return Some(neither.negated());
        }
        // Where `g` does not hold, `g` is FALSE and its negation TRUE.
        if b == Guard::FALSE || b == g {
            return self.and(g, a, left);
        }
        if b == Guard::TRUE || b == g.negated() {
            return Some(self.and(g, a.negated(), left)?.negated());
        }
        if let Some(known) = self.choices.get((g, a, b)) {
            return Some(known);
        }
        let cond = self.cond(g).min(self.cond(a)).min(self.cond(b));
        let (g_low, g_high) = self.branches_at(g, cond);
        let (a_low, a_high) = self.branches_at(a, cond);
        let (b_low, b_high) = self.branches_at(b, cond);
        let low = self.choose(g_low, a_low, b_low, left)?;
        let high = self.choose(g_high, a_high, b_high, left)?;
        let choice = self.decide_within(cond, low, high, left)?;
        self.choices.put((g, a, b), choice);
        Some(choice)
    }

    /// Whether the conjunction is FALSE.
    pub fn disjoint(&mut self, a: Guard, b: Guard) -> bool {
        if a == Guard::FALSE || b == Guard::FALSE || a == b.negated() {
            return true;
        }
        if a == Guard::TRUE || b == Guard::TRUE || a == b {
            return false;
        }
        let (a, b) = (a.min(b), a.max(b));
        if let Some(both) = self.conjunctions.get((a, b, Guard::FALSE)) {
            return both == Guard::FALSE;
        }
        if let Some(known) = self.disjoint.get((a, b, Guard::FALSE)) {
            return known;
        }
        let cond = self.cond(a).min(self.cond(b));
        let (a_low, a_high) = self.branches_at(a, cond);
        let (b_low, b_high) = self.branches_at(b, cond);
        let disjoint = self.disjoint(a_low, b_low) && self.disjoint(a_high, b_high);
        self.disjoint.put((a, b, Guard::FALSE), disjoint);
        disjoint
    }

    /// The guard where the conditions have the values given, ascending by condition.
    pub fn restrict(
        &mut self,
        g: Guard,
        literals: &[(Cond, bool)],
        done: &mut FxHashMap<usize, Guard>,
    ) -> Guard {
        let plain = g.negated_if(g.is_negated());
        let Some((low, high)) = self.branches(plain) else {
            return g;
        };
        let cond = self.cond(plain);
        let later = &literals[literals.partition_point(|literal| literal.0 < cond)..];
        if later.is_empty() {
            return g;
        }
        if let Some(&(_, value)) = later.first().filter(|literal| literal.0 == cond) {
            let branch = if value { high } else { low };
            return self.restrict(branch.negated_if(g.is_negated()), later, done);
        }
        if let Some(&known) = done.get(&g.node()) {
            return known.negated_if(g.is_negated());
        }
        let low = self.restrict(low, later, done);
        let high = self.restrict(high, later, done);
        let restricted = self.decide(cond, low, high);
        done.insert(g.node(), restricted);
        restricted.negated_if(g.is_negated())
    }

    /// Number of inner nodes; where it is more than `enough`, some number that is.
    pub fn size(&self, g: Guard, enough: usize) -> usize {
        let most = self.node(g).most;
        if most <= 1 {
            return usize::from(most);
        }
        let mut seen: FxHashSet<usize> = FxHashSet::default();
        let mut stack = vec![g];
        while let Some(at) = stack.pop() {
            if let Some((low, high)) = self.branches(at)
                && seen.insert(at.node())
            {
                if seen.len() > enough {
                    break;
                }
                stack.extend([low, high]);
            }
        }
        seen.len()
    }

    /// Whether there are more inner nodes than that.
    pub fn is_larger(&self, g: Guard, than: usize) -> bool {
        usize::from(self.node(g).most) > than && self.size(g, than) > than
    }
}

/// Results of an operation, each in the one place that it may take: a newer one displaces an older one. What is
/// forgotten is computed again, so nothing depends on it but time.
struct Remembered<R> {
    places: Vec<(Key, R)>,
    taken: usize,
}

/// The operands. No operation gets as far as here for two constants, so that those mark a free place.
type Key = (Guard, Guard, Guard);

impl<R> Default for Remembered<R> {
    fn default() -> Self {
        Remembered {
            places: Vec::new(),
            taken: 0,
        }
    }
}

impl<R: Copy> Remembered<R> {
    const FIRST: usize = 1 << 8;
    const MOST: usize = 1 << 18;
    const FREE: Key = (Guard::FALSE, Guard::FALSE, Guard::FALSE);

    fn place(&self, (a, b, c): Key) -> usize {
        let mixed = (mixed(a, b) ^ u64::from(c.0)).wrapping_mul(MIX);
        (mixed >> 32) as usize & (self.places.len() - 1)
    }

    fn get(&self, key: Key) -> Option<R> {
        if self.places.is_empty() {
            return None;
        }
        let (known, result) = self.places[self.place(key)];
        (known == key).then_some(result)
    }

    fn put(&mut self, key: Key, result: R) {
        if self.taken * 2 >= self.places.len() && self.places.len() < Self::MOST {
            self.grow(result);
        }
        let place = self.place(key);
        self.taken += usize::from(self.places[place].0 == Self::FREE);
        self.places[place] = (key, result);
    }

    fn grow(&mut self, any: R) {
        let size = (self.places.len() * 4).max(Self::FIRST);
        let old = std::mem::replace(&mut self.places, vec![(Self::FREE, any); size]);
        self.taken = 0;
        for (key, result) in old {
            if key != Self::FREE {
                self.put(key, result);
            }
        }
    }
}
