//! Satisfiability of guards (paper §2.4), lazily: the guard's diagram proposes a path, a solver says
//! whether the path's conditions can hold at once.
//!
//! In: guards and terms of width 1 of one [`Formula`]. Out: a [`Model`] in which all of them hold, or
//! that there is none, or that the budget was spent. A model is always checked by evaluation before
//! it is given out, so "satisfiable" never rests on the encoding alone.
//!
//! The path proposed is the one nearest to a model that is known. It falls into parts that share no
//! unknown; most of them hold already, and those that do not are small. Where a part has no model, the
//! literals to blame become a clause that no later path of any query runs into.

mod blast;
mod cnf;
mod local;
mod needed;
pub mod oracle;
mod paths;
mod propagate;
mod refine;
mod slice;
mod solver;
#[cfg(test)]
mod tests;

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::symbolic::formula::Formula;
use crate::symbolic::guard::{Cond, Guard, Guards};
use crate::symbolic::model::{Evaluator, Model, Others};
use crate::symbolic::term::{Node, Term, Var};

use paths::{Conflicts, Path};
use slice::{Literal, Part, Slicer};

/// The answer to a query.
#[derive(Clone, Debug)]
pub enum Outcome {
    Sat(Rc<Model>),
    Unsat,
    /// The budget did not suffice, in effort or in clauses.
    Unknown,
}

impl Outcome {
    pub fn is_sat(&self) -> bool {
        matches!(self, Outcome::Sat(_))
    }

    pub fn is_unsat(&self) -> bool {
        matches!(self, Outcome::Unsat)
    }

    pub fn model(self) -> Option<Rc<Model>> {
        match self {
            Outcome::Sat(model) => Some(model),
            _ => None,
        }
    }
}

/// Limits, counted, so that an answer does not depend on the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Clauses that the solver may learn in one run, one for each conflict.
    pub effort: u64,
    /// Clauses at which operators are left unconstrained for good. If a model rests on one of them,
    /// the answer is unknown.
    pub clauses: usize,
    /// Clauses that the solver may be given in a session, runs added up and a conflict counted as
    /// some, and what is charged besides ([`Session::charge`]); later on, only what is known already is used.
    pub work: u64,
}

impl Default for Budget {
    fn default() -> Budget {
        Budget {
            effort: 4_000,
            clauses: 150_000,
            work: u64::MAX,
        }
    }
}

/// How queries were answered: each counts once in `trivial`, `guessed` or `searched`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Queries {
    /// Contradictory, or empty, as they stood.
    pub trivial: u64,
    /// By a model of an earlier query, or a simple one.
    pub guessed: u64,
    /// Path by path.
    pub searched: u64,
    /// Paths tried.
    pub paths: u64,
    /// Parts of paths that a few repairs of a model settled.
    pub repaired: u64,
    /// Runs of the solver.
    pub solved: u64,
    /// What they took, see [`Budget::work`].
    pub work: u64,
    /// Queries that the budget left open.
    pub unknown: u64,
}

impl Queries {
    pub fn total(&self) -> u64 {
        self.trivial + self.guessed + self.searched
    }
}

/// Decides one query by itself.
pub fn satisfiable(f: &mut Formula, guard: Guard, extra: &[Term], budget: &Budget) -> Outcome {
    let mut session = Session::new(*budget);
    session.check(f, &[guard], extra)
}

/// Models kept, from earlier queries and simple ones.
const KEPT_MODELS: usize = 16;
/// Kept models from which a path is sought.
const BASES: usize = 4;
/// Paths that a query tries.
const PATHS: usize = 64;
/// Paths left undecided at which it gives up.
const OPEN_PATHS: u32 = 3;
/// Work, counted as in [`Budget::work`], for which a conflict is made smaller: a smaller one refutes more paths at once, but
/// any refutes the path it was found on.
const BLAME_WORK: u64 = 5_000;
/// Size of a diagram, less the paths that are known to be none, at which a query gives up.
const SEARCHED_SIZE: usize = 3_000;

/// What is known of one part of a path.
#[derive(Clone)]
enum Verdict {
    Sat(Rc<[(Var, u128)]>),
    Unsat,
    Unknown,
}

/// What is found out about a path.
enum Found {
    Model(Model),
    /// These literals of it cannot hold at once.
    Conflict(Vec<Literal>),
    /// Whether these can is not known.
    Open(Vec<Literal>),
}

/// Answers many queries over one formula, which may grow between them. The solver gets one small part
/// at a time and is then forgotten: varisat assigns all variables that it ever met in each model, which
/// costs more than a new start.
pub struct Session {
    budget: Budget,
    /// Work that is kept for later queries.
    reserved: u64,
    pub queries: Queries,
    /// Most recently successful first.
    models: Vec<Evaluator>,
    slicer: Slicer,
    known: FxHashMap<Vec<Literal>, Verdict>,
    conflicts: Conflicts,
}

impl Session {
    pub fn new(budget: Budget) -> Session {
        let simple = [
            Others::Zero,
            Others::Ones,
            Others::Random(2),
            Others::Random(3),
        ];
        Session {
            budget,
            reserved: 0,
            queries: Queries::default(),
            models: simple
                .into_iter()
                .map(|others| Evaluator::new(Rc::new(Model::uniform(others))))
                .collect(),
            slicer: Slicer::default(),
            known: FxHashMap::default(),
            conflicts: Conflicts::default(),
        }
    }

    /// Whether all guards and all terms can hold at once. Must always be given the same formula, grown
    /// at most.
    pub fn check(&mut self, f: &mut Formula, guards: &[Guard], terms: &[Term]) -> Outcome {
        f.reserve_names();
        let mut query = guards
            .iter()
            .fold(Guard::TRUE, |all, &guard| f.guards.and(all, guard));
        for &term in terms {
            let guard = f.guard_of(term);
            query = f.guards.and(query, guard);
        }
        if query == Guard::FALSE {
            self.queries.trivial += 1;
            return Outcome::Unsat;
        }
        let fitting = self.models.iter_mut().position(|m| m.eval_guard(f, query));
        if let Some(i) = fitting {
            self.queries.guessed += 1;
            self.models[..=i].rotate_right(1);
            return Outcome::Sat(self.models[0].model().clone());
        }
        self.queries.searched += 1;
        let outcome = match self.spent() {
            true => Outcome::Unknown,
            false => self.search(f, query),
        };
        if matches!(outcome, Outcome::Unknown) {
            self.queries.unknown += 1;
        }
        outcome
    }

    /// Whether a guard holds in the model that was found last.
    pub fn last_model_has(&mut self, f: &Formula, guard: Guard) -> bool {
        self.models[0].eval_guard(f, guard)
    }

    /// A condition's value in the model that was found last.
    pub fn last_model_says(&mut self, f: &Formula, condition: Cond) -> bool {
        self.models[0].condition(f, condition)
    }

    /// Counts what was done without the solver as work, as so many clauses.
    pub fn charge(&mut self, work: u64) {
        self.queries.work += work;
    }

    fn search(&mut self, f: &mut Formula, query: Guard) -> Outcome {
        let mut rest = query;
        let mut open = 0;
        // Conditions that stand for a guard which is too large to be put in their place.
        let mut opaque: FxHashSet<Cond> = FxHashSet::default();
        for _ in 0..PATHS {
            let Some((base, path)) = self.nearest(f, rest) else {
                return match open {
                    0 => Outcome::Unsat,
                    _ => Outcome::Unknown,
                };
            };
            self.queries.paths += 1;
            if let Some((cond, meaning)) = unexplained(f, &path, &opaque) {
                match explained(&mut f.guards, rest, cond, meaning) {
                    Some(explained) => rest = explained,
                    None => {
                        opaque.insert(cond);
                    }
                }
                continue;
            }
            let refuted = match self.conflicts.among(&path.literals) {
                Some(conflict) => conflict.to_vec(),
                None => match self.follow(f, base, &path) {
                    Found::Model(model) => return self.keep(f, query, model),
                    Found::Conflict(literals) => {
                        self.conflicts.add(&literals);
                        literals
                    }
                    Found::Open(literals) => {
                        open += 1;
                        if open == OPEN_PATHS || self.spent() {
                            break;
                        }
                        literals
                    }
                },
            };
            match without(&mut f.guards, rest, &refuted) {
                Some(smaller) => rest = smaller,
                None => break,
            }
        }
        Outcome::Unknown
    }

    fn keep(&mut self, f: &Formula, query: Guard, model: Model) -> Outcome {
        let model = Rc::new(model);
        let mut evaluator = Evaluator::new(model.clone());
        debug_assert!(evaluator.eval_guard(f, query), "a model that is none");
        self.models.insert(0, evaluator);
        self.models.truncate(KEPT_MODELS);
        Outcome::Sat(model)
    }

    /// The path of a guard that is nearest to a kept model, and that model.
    fn nearest(&mut self, f: &Formula, guard: Guard) -> Option<(usize, Path)> {
        if guard == Guard::FALSE {
            return None;
        }
        let decisions = f.guards.decisions(guard);
        let mut best: Option<(usize, Path)> = None;
        for (i, model) in self.models.iter_mut().enumerate().take(BASES) {
            let path = paths::nearest(&decisions, &mut |cond| model.condition(f, cond));
            if best
                .as_ref()
                .is_none_or(|(_, known)| path.changes < known.changes)
            {
                best = Some((i, path));
            }
        }
        best
    }

    /// Whether the literals of a path can hold at once: where a model does not have it so, changes are
    /// looked for.
    fn follow(&mut self, f: &Formula, base: usize, path: &Path) -> Found {
        let mut changes: Vec<(Var, u128)> = Vec::new();
        let mut open = None;
        for part in self.slicer.parts(f, &path.literals) {
            if part.holds(f, &mut self.models[base]) {
                continue;
            }
            match self.decide(f, &part, base) {
                Verdict::Sat(values) => changes.extend(values.iter()),
                Verdict::Unsat => return Found::Conflict(self.blame(f, part.literals, base)),
                // A part behind it may still have no model.
                Verdict::Unknown => open = open.or(Some(part.literals)),
            }
        }
        match open {
            Some(literals) => Found::Open(literals),
            None => Found::Model(self.models[base].model().with(changes)),
        }
    }

    /// Decides one part, or remembers it.
    fn decide(&mut self, f: &Formula, part: &Part, base: usize) -> Verdict {
        if let Some(verdict) = self.known.get(&part.literals) {
            return verdict.clone();
        }
        let fitting = self.models.iter_mut().position(|m| part.holds(f, m));
        let verdict = match fitting {
            Some(i) => {
                let model = self.models[i].model();
                Verdict::Sat(part.vars.iter().map(|&v| (v, model.value(v))).collect())
            }
            None => match local::repair(f, part, self.models[base].model()) {
                Some(values) => {
                    self.queries.repaired += 1;
                    Verdict::Sat(values.into())
                }
                None if self.spent() => return Verdict::Unknown,
                None => refine::decide(f, part, &self.budget, &mut self.queries),
            },
        };
        self.known.insert(part.literals.clone(), verdict.clone());
        verdict
    }

    /// Sets aside some of the work that is left, or gives it free.
    pub fn reserve(&mut self, work: u64) {
        self.reserved = work;
    }

    /// Leaves so much work for the queries to come, whatever was spent before.
    pub fn renew(&mut self, work: u64) {
        self.budget.work = self.queries.work.saturating_add(work);
    }

    /// Whether the work has come to its end.
    pub fn spent(&self) -> bool {
        self.queries.work + self.reserved >= self.budget.work
    }

    /// Of literals that cannot hold at once, few that already cannot.
    fn blame(&mut self, f: &Formula, mut literals: Vec<Literal>, base: usize) -> Vec<Literal> {
        let limit = self.queries.work.saturating_add(BLAME_WORK);
        let mut size = literals.len() / 2;
        while size > 0 {
            let mut at = 0;
            while at < literals.len() && literals.len() > size {
                if self.queries.work >= limit {
                    return literals;
                }
                let mut fewer = literals.clone();
                fewer.drain(at..(at + size).min(literals.len()));
                let parts = self.slicer.parts(f, &fewer);
                let mut unsat = |part: &Part| matches!(self.decide(f, part, base), Verdict::Unsat);
                match parts.into_iter().find(|part| unsat(part)) {
                    Some(part) => {
                        literals = part.literals;
                        at = 0;
                    }
                    None => at += size,
                }
            }
            size /= 2;
        }
        literals
    }
}

/// A guard less the valuations that have all the literals, unless it grows too large.
fn without(guards: &mut Guards, rest: Guard, literals: &[Literal]) -> Option<Guard> {
    let refuted = guards.cube(literals);
    guards.try_and(rest, guards.not(refuted), SEARCHED_SIZE)
}

/// A guard with what a condition means in the condition's place, unless it grows too large.
fn explained(guards: &mut Guards, rest: Guard, cond: Cond, meaning: Guard) -> Option<Guard> {
    let [then, els] = [true, false].map(|value| guards.restrict(rest, &[(cond, value)]));
    guards.try_ite(meaning, then, els, SEARCHED_SIZE)
}

/// A condition on the path that stands for a guard which was not looked into yet, and that guard.
fn unexplained(f: &Formula, path: &Path, opaque: &FxHashSet<Cond>) -> Option<(Cond, Guard)> {
    let conds = path.literals.iter().map(|&(cond, _)| cond);
    conds
        .filter(|cond| !opaque.contains(cond))
        .find_map(|cond| match f.terms.node(f.cond_term(cond)) {
            Node::Guard(meaning) => Some((cond, *meaning)),
            _ => None,
        })
}
