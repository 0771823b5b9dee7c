//! Terms and guards together: which term each named condition stands for.
//!
//! In: terms of width 1, guards. Out: the guard of a term, the term of a guard. A condition and its
//! negation, and comparisons that are each other's negation, share one variable because terms are
//! canonical.

mod settled;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::guard::{Cond, Guard, Guards};
use super::term::{Node, Op, Term, Terms, Var};

/// A guard of more nodes than this is given a name by [`Formula::bound`].
const MAX_GUARD: usize = 400;

/// Conditions in reserve for guards that grow too large, see [`Formula::reserve_names`]: at first, and once some guard has grown too large.
const RESERVED_NAMES: [usize; 2] = [64, 256];

/// Distances from other values, one within the other, that [`Formula::without_others`] looks behind.
const MAX_DISTANCES: u32 = 2;
/// Choices between alternatives that [`Formula::without_others`] looks at.
const MAX_ALTERNATIVES: u32 = 64;

/// Parts of a term that [`Formula::mentions`] looks at.
const MAX_PARTS: usize = 4_000;

/// A limit that was hit. What was built since then means nothing: the function is out of budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exhausted {
    /// Too many named conditions.
    Conditions,
    /// A guard, or all of them together, grew too large.
    GuardSize,
}

impl std::fmt::Display for Exhausted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Exhausted::Conditions => "too many branch conditions",
            Exhausted::GuardSize => "branch conditions too complex",
        })
    }
}

/// The terms and guards of one function's analysis.
#[derive(Default)]
pub struct Formula {
    pub terms: Terms,
    pub guards: Guards,
    /// The term of each condition; never a constant or a negation.
    cond_terms: Vec<Term>,
    guard_of: FxHashMap<Term, Guard>,
    bounded: FxHashMap<Guard, Guard>,
    /// The unknowns of conditions that were asked for.
    vars_of: RefCell<FxHashMap<Cond, Rc<[Var]>>>,
    out_of_conditions: bool,
}

impl Formula {
    pub fn new() -> Formula {
        Formula::default()
    }

    /// Sees to it that there are conditions in reserve which guards that grow too large can be named by. To be called
    /// now and then: an operation on guards that finds none gives up.
    pub fn reserve_names(&mut self) {
        let wanted = RESERVED_NAMES[usize::from(self.guards.has_names())];
        while self.guards.reserved() < wanted {
            let Some((cond, meaning)) = self.guards.reserve() else {
                return;
            };
            let leaf = self.terms.guard_leaf(meaning);
            self.cond_terms.push(leaf);
            let name = self.guards.literal(cond, true);
            self.guard_of.insert(leaf, name);
        }
    }

    /// The same where names have been needed already: terms with many large guards need more.
    fn refill_names(&mut self) {
        if self.guards.has_names() {
            self.reserve_names();
        }
    }

    /// The limit that was hit, if any. To be checked now and then.
    pub fn exhausted(&self) -> Option<Exhausted> {
        if self.out_of_conditions {
            Some(Exhausted::Conditions)
        } else if self.guards.overflowed() {
            Some(Exhausted::GuardSize)
        } else {
            None
        }
    }

    /// The term, of width 1, that a condition stands for.
    pub fn cond_term(&self, cond: Cond) -> Term {
        self.cond_terms[usize::from(cond.0)]
    }

    /// The unknowns that a condition depends on, ascending.
    pub fn vars_of(&self, cond: Cond) -> Rc<[Var]> {
        let mut known = self.vars_of.borrow_mut();
        let vars = known
            .entry(cond)
            .or_insert_with(|| self.vars(self.cond_term(cond)).into());
        Rc::clone(vars)
    }

    /// The unknowns that guards hang on.
    pub fn unknowns(&self, guards: &[Guard]) -> FxHashSet<Var> {
        let conditions = guards.iter().flat_map(|&guard| self.guards.support(guard));
        let mut unknowns = FxHashSet::default();
        for &condition in conditions {
            unknowns.extend(&*self.vars_of(condition));
        }
        unknowns
    }

    /// The unknowns that a term depends on, ascending.
    pub fn vars(&self, term: Term) -> Vec<Var> {
        let mut stack = vec![term];
        let mut seen: FxHashSet<Term> = FxHashSet::default();
        let mut vars = Vec::new();
        while let Some(term) = stack.pop() {
            if !seen.insert(term) {
                continue;
            }
            match self.terms.node(term) {
                Node::Const(_) => {}
                Node::Var(var) => vars.push(*var),
                Node::Op { args, .. } => stack.extend(args),
                Node::Linear { terms, .. } => stack.extend(terms.iter().map(|&(_, part)| part)),
                Node::Guard(guard) => {
                    let conds = self.guards.support(*guard).iter();
                    stack.extend(conds.map(|&cond| self.cond_term(cond)));
                }
            }
        }
        vars.sort_unstable();
        vars
    }

    /// A value, and each that it may be by choice, so many nested choices deep. The conditions of the choices are left out.
    pub fn choices(&self, value: Term, depth: u32) -> Vec<Term> {
        let mut found = vec![value];
        let mut seen = FxHashSet::from_iter([value]);
        let mut left = vec![value];
        for _ in 0..depth {
            let mut arms = Vec::new();
            for value in std::mem::take(&mut left) {
                if let Node::Op { op: Op::Ite, args } = self.terms.node(value) {
                    arms.extend(args[1..].iter().filter(|&&arm| seen.insert(arm)));
                }
            }
            if arms.is_empty() {
                break;
            }
            found.extend(&arms);
            left = arms;
        }
        found
    }

    /// The values that one may be by choice, each with its part of these paths; of more choices than `limit` the last ones stay what they are.
    pub fn alternatives(&mut self, value: Term, paths: Guard, limit: u32) -> Vec<(Guard, Term)> {
        let mut found = Vec::new();
        let mut looked_at = 0;
        // Users before operands: a choice that stands in several others is looked at once, with the paths of all.
        let mut work = BTreeMap::from([(value, paths)]);
        while let Some((value, paths)) = work.pop_last() {
            looked_at += 1;
            match self.terms.node(value) {
                _ if paths == Guard::FALSE => {}
                Node::Op { op: Op::Ite, args } if looked_at < limit => {
                    let (condition, then, els) = (args[0], args[1], args[2]);
                    let chosen = self.guard_of(condition);
                    let arms = [
                        (self.guards.and(paths, chosen), then),
                        (self.guards.and_not(paths, chosen), els),
                    ];
                    for (paths, arm) in arms {
                        let known = work.entry(arm).or_insert(Guard::FALSE);
                        *known = self.guards.or(*known, paths);
                    }
                }
                _ => found.push((paths, value)),
            }
        }
        found
    }

    /// Whether a term is one of these or is made of one, but for its conditions.
    pub fn is_made_of_any(&self, term: Term, parts: &FxHashSet<Term>) -> bool {
        if parts.is_empty() {
            return false;
        }
        let mut seen: FxHashSet<Term> = FxHashSet::default();
        let mut work = vec![term];
        while let Some(term) = work.pop() {
            if parts.contains(&term) {
                return true;
            }
            match self.terms.node(term) {
                Node::Const(_) | Node::Var(_) | Node::Guard(_) => {}
                _ if !seen.insert(term) => {}
                Node::Op { op: Op::Ite, args } => work.extend(&args[1..]),
                Node::Op { args, .. } => work.extend(args),
                Node::Linear { terms, .. } => work.extend(terms.iter().map(|&(_, part)| part)),
            }
        }
        false
    }

    /// Whether a term is made of another. Looks no further than at some thousands of parts.
    pub fn mentions(&self, term: Term, part: Term) -> bool {
        let mut seen: FxHashSet<Term> = FxHashSet::default();
        let mut work = vec![term];
        while let Some(term) = work.pop() {
            if term == part {
                return true;
            }
            // Operands precede their users, but for what the name of a guard stands for.
            let name = matches!(self.terms.node(term), Node::Guard(_));
            if term < part && !name || seen.len() > MAX_PARTS || !seen.insert(term) {
                continue;
            }
            match self.terms.node(term) {
                Node::Op { args, .. } => work.extend(args.iter()),
                Node::Linear { terms, .. } => work.extend(terms.iter().map(|&(_, term)| term)),
                Node::Guard(guard) => {
                    let conditions = self.guards.support(*guard).iter();
                    work.extend(conditions.map(|&cond| self.cond_term(cond)));
                }
                Node::Const(_) | Node::Var(_) => {}
            }
        }
        false
    }

    /// The guard of a term of width 1: Boolean structure becomes structure of the guard, anything
    /// else a named condition.
    pub fn guard_of(&mut self, t: Term) -> Guard {
        debug_assert_eq!(self.terms.width(t), 1);
        let mut stack = vec![t];
        while let Some(&x) = stack.last() {
            if self.guard_of.contains_key(&x) {
                stack.pop();
                continue;
            }
            self.refill_names();
            let pending = stack.len();
            let guard = match self.boolean_parts(x) {
                Some((_, parts)) if !self.parts_known(parts, &mut stack) => None,
                Some((op, parts)) => Some(self.combine(op, parts)),
                None => Some(self.atom(x)),
            };
            if let Some(guard) = guard {
                debug_assert_eq!(pending, stack.len());
                self.guard_of.insert(x, guard);
            }
        }
        self.guard_of.get(&t).copied().unwrap_or(Guard::TRUE)
    }

    /// The operator and operands of Boolean structure, unused operands repeating the first.
    fn boolean_parts(&self, t: Term) -> Option<(Op, [Term; 3])> {
        let Node::Op { op, args } = self.terms.node(t) else {
            return None;
        };
        match (op, &args[..]) {
            (Op::Not, &[a]) => Some((Op::Not, [a, a, a])),
            (Op::And | Op::Or, &[a, b]) => Some((*op, [a, b, a])),
            (Op::Eq, &[a, b]) if self.terms.width(a) == 1 => Some((Op::Eq, [a, b, a])),
            (Op::Ite, &[c, a, b]) => Some((Op::Ite, [c, a, b])),
            _ => None,
        }
    }

    fn parts_known(&self, parts: [Term; 3], stack: &mut Vec<Term>) -> bool {
        let before = stack.len();
        stack.extend(
            parts
                .into_iter()
                .filter(|part| !self.guard_of.contains_key(part)),
        );
        stack.len() == before
    }

    fn combine(&mut self, op: Op, parts: [Term; 3]) -> Guard {
        let [a, b, c] = parts.map(|part| self.guard_of[&part]);
        let combined = match op {
            Op::Not => self.guards.not(a),
            Op::And => self.guards.and(a, b),
            Op::Or => self.guards.or(a, b),
            Op::Eq => {
                let not_b = self.guards.not(b);
                self.guards.ite(a, b, not_b)
            }
            _ => self.guards.ite(a, b, c),
        };
        self.bound(combined)
    }

    fn atom(&mut self, t: Term) -> Guard {
        let known = self.leaf(t).or_else(|| self.settled(t));
        known.unwrap_or_else(|| self.named(t))
    }

    /// The guard of a constant, or of a leaf that stands for a guard.
    fn leaf(&self, t: Term) -> Option<Guard> {
        match self.terms.node(t) {
            Node::Const(0) => Some(Guard::FALSE),
            Node::Const(_) => Some(Guard::TRUE),
            Node::Guard(guard) => Some(*guard),
            _ => None,
        }
    }

    /// A new condition for `t`.
    fn named(&mut self, t: Term) -> Guard {
        match self.guards.fresh_cond() {
            Some(cond) => {
                self.cond_terms.push(t);
                self.guards.literal(cond, true)
            }
            // One condition for several.
            None if self.guards.is_coarse() => {
                let cond = t.index() % usize::from(self.guards.conds());
                self.guards.literal(Cond(cond as u16), true)
            }
            None => {
                self.out_of_conditions = true;
                Guard::TRUE
            }
        }
    }

    /// The term of a guard: a constant, the condition's own term or its negation, else a leaf that
    /// stands for the guard.
    pub fn term_of(&mut self, g: Guard) -> Term {
        match g {
            Guard::FALSE => return Term::FALSE,
            Guard::TRUE => return Term::TRUE,
            _ => {}
        }
        match self.guards.as_literal(g) {
            Some((cond, true)) => self.cond_term(cond),
            Some((cond, false)) => {
                let t = self.cond_term(cond);
                self.terms.not(t)
            }
            None => self.terms.guard_leaf(g),
        }
    }

    /// `g ? a : b`.
    pub fn ite_guard(&mut self, g: Guard, a: Term, b: Term) -> Term {
        if a == b {
            return a;
        }
        self.refill_names();
        let c = self.term_of(g);
        self.terms.ite(c, a, b)
    }

    /// A value on paths that decide which of its alternatives it is.
    pub fn on_paths(&mut self, mut value: Term, paths: Guard) -> Term {
        while let Node::Op { op: Op::Ite, args } = self.terms.node(value) {
            let (condition, then, els) = (args[0], args[1], args[2]);
            let condition = self.guard_of(condition);
            value = if self.guards.implies(paths, condition) {
                then
            } else if self.guards.excludes(paths, condition) {
                els
            } else {
                break;
            };
        }
        value
    }

    /// A value without the alternatives that it has on none of these paths, as far as they are looked at. Those of what it is a fixed
    /// distance from are its alternatives, too: `&p->member` where `p` is a pointer or null.
    pub fn without_others(&mut self, value: Term, paths: Guard) -> Term {
        self.without_others_within(value, paths, MAX_DISTANCES)
    }

    fn without_others_within(&mut self, value: Term, paths: Guard, distances: u32) -> Term {
        self.replace_alternatives(value, paths, &mut |formula, alternative, paths| {
            let width = formula.terms.width(alternative);
            let (constant, base) = match formula.terms.node(alternative) {
                Node::Linear { constant, terms } if distances > 0 => match terms[..] {
                    [(1, base)] => (*constant, base),
                    _ => return alternative,
                },
                _ => return alternative,
            };
            let kept = formula.without_others_within(base, paths, distances - 1);
            formula.terms.linear(width, constant, &[(1, kept)])
        })
    }

    /// A value without the alternatives that it has on none of these paths, and with others in place of the rest of them, each of which is
    /// asked for with its paths. Of too many nested choices one is an alternative itself.
    pub fn replace_alternatives(
        &mut self,
        value: Term,
        paths: Guard,
        other: &mut dyn FnMut(&mut Formula, Term, Guard) -> Term,
    ) -> Term {
        self.alternatives_on(value, paths, other, &mut { MAX_ALTERNATIVES })
    }

    fn alternatives_on(
        &mut self,
        value: Term,
        paths: Guard,
        other: &mut dyn FnMut(&mut Formula, Term, Guard) -> Term,
        left: &mut u32,
    ) -> Term {
        let Node::Op { op: Op::Ite, args } = self.terms.node(value) else {
            return other(self, value, paths);
        };
        let (condition, then, els) = (args[0], args[1], args[2]);
        if *left == 0 {
            return other(self, value, paths);
        }
        *left -= 1;
        let chosen = self.guard_of(condition);
        let yes = self.guards.and(paths, chosen);
        let no = self.guards.and_not(paths, chosen);
        if no == Guard::FALSE {
            return self.alternatives_on(then, yes, other, left);
        }
        if yes == Guard::FALSE {
            return self.alternatives_on(els, no, other, left);
        }
        let kept = (
            self.alternatives_on(then, yes, other, left),
            self.alternatives_on(els, no, other, left),
        );
        match kept == (then, els) {
            true => value,
            false => self.terms.ite(condition, kept.0, kept.1),
        }
    }

    /// The guard of a term of width 1 that has been asked for before.
    pub fn known_guard(&self, t: Term) -> Option<Guard> {
        self.guard_of.get(&t).copied()
    }

    /// The guard itself, or, if it is large, one named condition that stands for it.
    pub fn bound(&mut self, g: Guard) -> Guard {
        if self.guards.size(g) <= MAX_GUARD {
            return g;
        }
        if let Some(&name) = self.bounded.get(&g) {
            return name;
        }
        let leaf = self.terms.guard_leaf(g);
        let name = self.named(leaf);
        let (not_g, not_name) = (self.guards.not(g), self.guards.not(name));
        self.bounded.insert(g, name);
        self.bounded.insert(not_g, not_name);
        name
    }

    /// For `g1` and `g2` that exclude each other: a small `c` with `g1 ⇒ c` and `g2 ⇒ ¬c`, which
    /// chooses between two values that reach a join under `g1` and `g2`.
    pub fn relative(&mut self, g1: Guard, g2: Guard) -> Guard {
        let (first, second) = (
            self.guards.implied_literals(g1),
            self.guards.implied_literals(g2),
        );
        let opposite = first
            .iter()
            .find(|&&(cond, value)| second.binary_search(&(cond, !value)).is_ok());
        if let Some(&(cond, value)) = opposite {
            return self.guards.literal(cond, value);
        }
        // Where the literals common to both fail, neither value is asked for.
        let common: Vec<(Cond, bool)> = first
            .into_iter()
            .filter(|literal| second.binary_search(literal).is_ok())
            .collect();
        self.guards.restrict(g1, &common)
    }
}
