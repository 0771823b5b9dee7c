//! Satisfiability of guards and terms (paper §2.4): the cheap answers first, then a solver over just
//! the bits of the query's cone.
//!
//! In: guards and terms of width 1 of one [`Formula`]. Out: a [`Model`] in which all of them hold, or
//! that there is none, or that the budget was spent. A model is always checked by evaluation before
//! it is given out, so "satisfiable" never rests on the encoding alone.

mod blast;
mod cnf;
pub mod model;
mod refine;
mod slice;
mod solver;
#[cfg(test)]
mod tests;

use std::rc::Rc;

use rustc_hash::FxHashMap;

use crate::symbolic::formula::Formula;
use crate::symbolic::guard::Guard;
use crate::symbolic::term::{Term, Var};

pub use model::Model;
use model::{Assignment, Evaluator};
use slice::{Constraint, Part, Slicer};

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
    /// Clauses that the solver may learn in one run, one for each conflict.
    pub effort: u64,
    /// Clauses at which operators are left unconstrained for good. If a model rests on one of them,
    /// the answer is unknown.
    pub clauses: usize,
}

impl Default for Budget {
    fn default() -> Budget {
        Budget {
            effort: 4_000,
            clauses: 150_000,
        }
    }
}

/// How queries were answered: each counts once in `trivial`, `guessed` or `divided`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Queries {
    /// Contradictory, or empty, as they stood.
    pub trivial: u64,
    /// By a model of an earlier query, or a simple assignment.
    pub guessed: u64,
    /// Part by part, each part remembered, guessed or given to the solver.
    pub divided: u64,
    /// Runs of the solver.
    pub solved: u64,
    /// Queries that the budget left open.
    pub unknown: u64,
}

impl Queries {
    pub fn total(&self) -> u64 {
        self.trivial + self.guessed + self.divided
    }

    pub fn add(&mut self, other: &Queries) {
        self.trivial += other.trivial;
        self.guessed += other.guessed;
        self.divided += other.divided;
        self.solved += other.solved;
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
/// Simple assignments that are tried as well; all zeros and all ones are among them.
const GUESSES: u64 = 4;

/// What is known of one part of a query.
#[derive(Clone)]
enum Verdict {
    Sat(Rc<[(Var, u128)]>),
    Unsat,
    Unknown,
}

/// Answers many queries over one formula, which may grow between them. A query is cut into parts
/// that share no unknown; parts are remembered, and the models found so far are tried on them before
/// the solver is. The solver gets one small part at a time and is then forgotten: varisat assigns all
/// variables that it ever met in each model, which costs more than a new start.
pub struct Session {
    budget: Budget,
    pub queries: Queries,
    /// Most recently successful first.
    models: Vec<Evaluator>,
    slicer: Slicer,
    known: FxHashMap<Vec<Constraint>, Verdict>,
}

impl Session {
    pub fn new(budget: Budget) -> Session {
        let uniform = [false, true].map(Assignment::Uniform);
        let random = (2..GUESSES).map(Assignment::Random);
        Session {
            budget,
            queries: Queries::default(),
            models: uniform
                .into_iter()
                .chain(random)
                .map(Evaluator::new)
                .collect(),
            slicer: Slicer::default(),
            known: FxHashMap::default(),
        }
    }

    /// Whether all guards and all terms can hold at once. Must always be given the same formula, grown
    /// at most.
    pub fn check(&mut self, f: &Formula, guards: &[Guard], terms: &[Term]) -> Outcome {
        let Some(conjuncts) = slice::conjuncts(f, guards, terms) else {
            self.queries.trivial += 1;
            return Outcome::Unsat;
        };
        if conjuncts.is_empty() {
            self.queries.trivial += 1;
            return Outcome::Sat(Model::default());
        }
        let parts = self.slicer.parts(f, &conjuncts);
        if let Some(i) = self.fitting_model(f, &conjuncts) {
            self.queries.guessed += 1;
            let assignment = self.models[i].assignment();
            let values = parts
                .iter()
                .flat_map(|p| assignment.values(&f.terms, &p.vars));
            let model = Model::new(values);
            self.models[..=i].rotate_right(1);
            return Outcome::Sat(model);
        }
        self.check_parts(f, parts)
    }

    fn check_parts(&mut self, f: &Formula, parts: Vec<Part>) -> Outcome {
        self.queries.divided += 1;
        let known = |part: &Part| matches!(self.known.get(&part.constraints), Some(Verdict::Unsat));
        if parts.iter().any(known) {
            return Outcome::Unsat;
        }
        let mut values: Vec<(Var, u128)> = Vec::new();
        let mut unknown = false;
        for part in parts {
            match self.decide(f, part) {
                Verdict::Sat(found) => values.extend(found.iter()),
                Verdict::Unsat => return Outcome::Unsat,
                Verdict::Unknown => unknown = true,
            }
        }
        if unknown {
            self.queries.unknown += 1;
            return Outcome::Unknown;
        }
        let model = Model::new(values);
        self.models
            .insert(0, Evaluator::new(Assignment::Model(model.clone())));
        self.models.truncate(KEPT_MODELS);
        Outcome::Sat(model)
    }

    /// A kept model or simple assignment that happens to satisfy the constraints.
    fn fitting_model(&mut self, f: &Formula, constraints: &[Constraint]) -> Option<usize> {
        self.models
            .iter_mut()
            .position(|evaluator| satisfies_all(evaluator, f, constraints))
    }

    /// Decides one part, or remembers it.
    fn decide(&mut self, f: &Formula, part: Part) -> Verdict {
        if let Some(verdict) = self.known.get(&part.constraints) {
            return verdict.clone();
        }
        let verdict = match self.fitting_model(f, &part.constraints) {
            Some(i) => {
                let assignment = self.models[i].assignment();
                Verdict::Sat(assignment.values(&f.terms, &part.vars).into())
            }
            None => refine::decide(f, &part, &self.budget, &mut self.queries.solved),
        };
        self.known.insert(part.constraints, verdict.clone());
        verdict
    }
}

fn satisfies_all(evaluator: &mut Evaluator, f: &Formula, constraints: &[Constraint]) -> bool {
    constraints.iter().all(|&c| evaluator.satisfies(f, c))
}
