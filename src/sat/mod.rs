//! Satisfiability of guards and terms (paper §2.4): the cheap answers first, then a solver over just
//! the bits of the query's cone.
//!
//! In: guards and terms of width 1 of one [`Formula`]. Out: a [`Model`] in which all of them hold, or
//! that there is none, or that the budget was spent. A model is always checked by evaluation before
//! it is given out, so "satisfiable" never rests on the encoding alone.

mod blast;
mod cnf;
pub mod model;
mod solver;
#[cfg(test)]
mod tests;

use rustc_hash::FxHashSet;

use crate::symbolic::formula::Formula;
use crate::symbolic::guard::Guard;
use crate::symbolic::term::{Node, Term, Var};

use blast::Blaster;
pub use model::Model;
use model::{Assignment, Evaluator};
use solver::{Answer, Solver};

/// The answer to a query.
#[derive(Clone, Debug)]
pub enum Outcome {
    Sat(Model),
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

    pub fn model(self) -> Option<Model> {
        match self {
            Outcome::Sat(model) => Some(model),
            _ => None,
        }
    }
}

/// Limits of one query, counted, so that the answer does not depend on the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Bytes of proof that the solver may write; a conflict takes about a hundred.
    pub effort: u64,
    /// Clauses at which operators are left unconstrained. If a model is found to rest on one of
    /// them, the answer is unknown.
    pub clauses: usize,
}

impl Default for Budget {
    fn default() -> Budget {
        Budget {
            effort: 1 << 20,
            clauses: 200_000,
        }
    }
}

/// How queries were answered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Queries {
    /// By a constant among the operands, or by remembering the same query.
    pub trivial: u64,
    /// By a model of an earlier query, or a simple guess.
    pub guessed: u64,
    /// By the solver, with a model.
    pub sat: u64,
    /// By the solver, with none.
    pub unsat: u64,
    pub unknown: u64,
}

impl Queries {
    pub fn total(&self) -> u64 {
        self.trivial + self.guessed + self.sat + self.unsat + self.unknown
    }

    pub fn add(&mut self, other: &Queries) {
        self.trivial += other.trivial;
        self.guessed += other.guessed;
        self.sat += other.sat;
        self.unsat += other.unsat;
        self.unknown += other.unknown;
    }
}

/// Decides one query by itself.
pub fn satisfiable(f: &Formula, guard: Guard, extra: &[Term], budget: &Budget) -> Outcome {
    let mut session = Session::new(*budget);
    session.check(f, &[guard], extra)
}

/// Models kept from earlier queries.
const KEPT_MODELS: usize = 8;
/// Guesses tried where no kept model fits; all zeros and all ones are among them.
const GUESSES: u64 = 4;
/// Solver variables at which a session begins anew: a solver assigns all of them in each model.
const MAX_VARS: usize = 20_000;

/// Guards and terms that are to hold at once, sorted.
type Query = (Box<[Guard]>, Box<[Term]>);

/// Answers many queries over one formula, which may grow between them. Translates a term once, keeps
/// the solver's clauses, and tries the models found so far.
pub struct Session {
    budget: Budget,
    pub queries: Queries,
    /// Most recently successful first.
    models: Vec<Evaluator>,
    guesses: Vec<Evaluator>,
    unsat: FxHashSet<Query>,
    backend: Option<(Blaster, Solver)>,
}

impl Session {
    pub fn new(budget: Budget) -> Session {
        let uniform = [false, true].map(Assignment::Uniform);
        let random = (2..GUESSES).map(Assignment::Random);
        Session {
            budget,
            queries: Queries::default(),
            models: Vec::new(),
            guesses: uniform
                .into_iter()
                .chain(random)
                .map(Evaluator::new)
                .collect(),
            unsat: FxHashSet::default(),
            backend: None,
        }
    }

    /// Whether all guards and all terms can hold at once. Must always be given the same formula, grown
    /// at most.
    pub fn check(&mut self, f: &Formula, guards: &[Guard], terms: &[Term]) -> Outcome {
        let mut guards: Vec<Guard> = guards.to_vec();
        let mut terms: Vec<Term> = terms.to_vec();
        guards.retain(|&g| g != Guard::TRUE);
        terms.retain(|&t| t != Term::TRUE);
        guards.sort_unstable();
        guards.dedup();
        terms.sort_unstable();
        terms.dedup();
        if guards.first() == Some(&Guard::FALSE) || terms.first() == Some(&Term::FALSE) {
            self.queries.trivial += 1;
            return Outcome::Unsat;
        }
        if guards.is_empty() && terms.is_empty() {
            self.queries.trivial += 1;
            return Outcome::Sat(Model::default());
        }
        if let Some(model) = self.guess(f, &guards, &terms) {
            self.queries.guessed += 1;
            return Outcome::Sat(model);
        }
        let key = (guards.into_boxed_slice(), terms.into_boxed_slice());
        if self.unsat.contains(&key) {
            self.queries.trivial += 1;
            return Outcome::Unsat;
        }
        let outcome = self.solve(f, &key.0, &key.1);
        match &outcome {
            Outcome::Sat(_) => self.queries.sat += 1,
            Outcome::Unsat => {
                self.queries.unsat += 1;
                self.unsat.insert(key);
            }
            Outcome::Unknown => self.queries.unknown += 1,
        }
        outcome
    }

    /// A known model or a simple assignment that happens to satisfy the query.
    fn guess(&mut self, f: &Formula, guards: &[Guard], terms: &[Term]) -> Option<Model> {
        if let Some(i) = self
            .models
            .iter_mut()
            .position(|evaluator| holds(evaluator, f, guards, terms))
        {
            self.models[..=i].rotate_right(1);
            let vars = cone(f, guards, terms);
            return Some(self.models[0].assignment().model(&f.terms, vars));
        }
        let found = self
            .guesses
            .iter_mut()
            .find_map(|evaluator| holds(evaluator, f, guards, terms).then_some(evaluator))?;
        let vars = cone(f, guards, terms);
        Some(found.assignment().model(&f.terms, vars))
    }

    fn solve(&mut self, f: &Formula, guards: &[Guard], terms: &[Term]) -> Outcome {
        if let Some((blaster, _)) = &self.backend
            && (blaster.loose() || blaster.cnf.vars() > MAX_VARS)
        {
            self.backend = None;
        }
        let (blaster, solver) = self
            .backend
            .get_or_insert_with(|| (Blaster::new(self.budget.clauses), Solver::new()));
        let mut assumptions = Vec::with_capacity(guards.len() + terms.len());
        for &g in guards {
            assumptions.push(blaster.guard(f, g));
        }
        for &t in terms {
            assumptions.push(blaster.lit(f, t));
        }
        blaster.cnf.drain(|clause| solver.add_clause(clause));
        assumptions.retain(|&l| l.as_constant() != Some(true));
        assumptions.sort_unstable();
        assumptions.dedup();
        let contradictory = assumptions.windows(2).any(|pair| pair[0] == !pair[1]);
        if contradictory || assumptions.iter().any(|l| l.as_constant().is_some()) {
            return Outcome::Unsat;
        }
        match solver.solve(&assumptions, self.budget.effort) {
            Answer::Unsat => Outcome::Unsat,
            Answer::Stopped => {
                self.backend = None;
                Outcome::Unknown
            }
            Answer::Sat => {
                let values = cone(f, guards, terms).into_iter().filter_map(|var| {
                    let bits = blaster.var_bits(f, var)?;
                    let value = bits
                        .iter()
                        .rev()
                        .fold(0u128, |n, &l| n << 1 | u128::from(solver.value(l)));
                    Some((var, value))
                });
                let model = Model::new(values);
                let mut evaluator = Evaluator::new(Assignment::Model(model.clone()));
                if !holds(&mut evaluator, f, guards, terms) {
                    debug_assert!(blaster.loose(), "a model that is none");
                    return Outcome::Unknown;
                }
                self.models.insert(0, evaluator);
                self.models.truncate(KEPT_MODELS);
                Outcome::Sat(model)
            }
        }
    }
}

fn holds(evaluator: &mut Evaluator, f: &Formula, guards: &[Guard], terms: &[Term]) -> bool {
    guards.iter().all(|&g| evaluator.eval_guard(f, g))
        && terms.iter().all(|&t| evaluator.eval(f, t) == 1)
}

/// The variables that the guards and terms depend on, ascending: the paper's slice.
pub fn cone(f: &Formula, guards: &[Guard], terms: &[Term]) -> Vec<Var> {
    let mut seen: FxHashSet<Term> = FxHashSet::default();
    let mut stack: Vec<Term> = terms.to_vec();
    let conditions = |g: Guard| f.guards.support(g).iter().map(|&cond| f.cond_term(cond));
    stack.extend(guards.iter().flat_map(|&g| conditions(g)));
    let mut vars = Vec::new();
    while let Some(t) = stack.pop() {
        if !seen.insert(t) {
            continue;
        }
        match f.terms.node(t) {
            Node::Const(_) => {}
            Node::Var(var) => vars.push(*var),
            Node::Op { args, .. } => stack.extend(args),
            Node::Linear { terms, .. } => stack.extend(terms.iter().map(|&(_, x)| x)),
            Node::Guard(g) => stack.extend(conditions(*g)),
        }
    }
    vars.sort_unstable();
    vars
}
