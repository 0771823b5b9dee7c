//! Deciding one part of a query, the expensive operators last.
//!
//! In: a part. Out: values for its unknowns, or that there are none. Wide products and divisions are
//! first left unconstrained but for a few cheap facts. If there is no model even so, there is none.
//! A model is checked; where it fails, the operators get what they come to for the operands that the
//! model chose, which a few rounds mostly settle, since a path seldom hangs on such a result. Only
//! then are they encoded.

use std::rc::Rc;

use super::blast::Blaster;
use super::cnf::Lit;
use super::slice::Part;
use super::solver::{Answer, Solver};
use super::{Budget, Queries, Verdict};
use crate::symbolic::formula::Formula;
use crate::symbolic::model::{Evaluator, Model};
use crate::symbolic::term::{Node, Term, Var, eval};

/// Clauses beyond which an operator is left unconstrained at first.
const EXPENSIVE: usize = 600;
/// How often operators are corrected before they are encoded.
const MAX_REFINEMENTS: usize = 4;

/// What a conflict costs, in clauses to be read.
const CONFLICT: u64 = 30;

/// Decides a part; what that takes is counted in `queries`.
pub fn decide(f: &Formula, part: &Part, budget: &Budget, queries: &mut Queries) -> Verdict {
    let mut light = Attempt::new(f, part, Blaster::new(budget.clauses, EXPENSIVE));
    let verdict = light.correct(f, part, budget, queries);
    // What is too much by itself is not less with the rest.
    let settled = light.blaster.loose().is_empty() || light.blaster.is_full();
    if !matches!(verdict, Verdict::Unknown) || settled {
        return verdict;
    }
    let full = Attempt::new(f, part, Blaster::new(budget.clauses, usize::MAX));
    let (answer, solver) = full.run(f, &[], budget, queries);
    match answer {
        Answer::Unsat => Verdict::Unsat,
        Answer::Stopped => Verdict::Unknown,
        Answer::Sat => full.checked_model(f, part, &solver),
    }
}

struct Attempt {
    blaster: Blaster,
    /// Results that the operators left unconstrained have for some operands.
    lemmas: Vec<Vec<Lit>>,
}

/// An operator that was left unconstrained, with operands that a model chose and the right result.
struct Correction {
    operands: Vec<Lit>,
    result: Vec<Lit>,
}

impl Attempt {
    fn new(f: &Formula, part: &Part, mut blaster: Blaster) -> Attempt {
        for &(cond, value) in &part.literals {
            blaster.require(f, f.cond_term(cond), value);
        }
        Attempt {
            blaster,
            lemmas: Vec::new(),
        }
    }

    /// Runs a new solver over the clauses, with some literals fixed.
    fn run(
        &self,
        f: &Formula,
        fixed: &[Lit],
        budget: &Budget,
        queries: &mut Queries,
    ) -> (Answer, Solver) {
        let mut solver = Solver::new();
        self.blaster
            .cnf
            .each(|gate, clause| solver.add_clause(gate, clause));
        for clause in &self.lemmas {
            solver.add_clause(None, clause);
        }
        for &lit in fixed {
            solver.add_clause(None, &[lit]);
        }
        // Where a model fails, it is the operands of these that are asked for.
        for &operator in self.blaster.loose() {
            if let Node::Op { args, .. } = f.terms.node(operator) {
                args.iter()
                    .for_each(|&arg| solver.observe(&self.blaster.word(f, arg)));
            }
        }
        let (answer, learned) = solver.solve(budget.effort);
        queries.solved += 1;
        queries.work += self.blaster.cnf.clauses() as u64 + CONFLICT * learned;
        (answer, solver)
    }

    fn correct(
        &mut self,
        f: &Formula,
        part: &Part,
        budget: &Budget,
        queries: &mut Queries,
    ) -> Verdict {
        for _ in 0..MAX_REFINEMENTS {
            let (answer, solver) = self.run(f, &[], budget, queries);
            match answer {
                Answer::Unsat => return Verdict::Unsat,
                Answer::Stopped => return Verdict::Unknown,
                Answer::Sat => {}
            }
            let verdict = self.checked_model(f, part, &solver);
            let loose = self.blaster.loose();
            // A part that is too big seldom comes to a model in more rounds, and each is dear.
            let hopeless = loose.is_empty() || self.blaster.is_full();
            if matches!(verdict, Verdict::Sat(_)) || hopeless {
                return verdict;
            }
            let corrections: Vec<Correction> = loose
                .iter()
                .filter_map(|&t| self.correction(f, t, &solver))
                .collect();
            let fixed: Vec<Lit> = corrections
                .iter()
                .flat_map(|c| c.operands.iter().chain(&c.result).copied())
                .filter(|l| l.as_constant() != Some(true))
                .collect();
            let possible = fixed.iter().all(|l| l.as_constant().is_none());
            if possible && let (Answer::Sat, solver) = self.run(f, &fixed, budget, queries) {
                let verdict = self.checked_model(f, part, &solver);
                if matches!(verdict, Verdict::Sat(_)) {
                    return verdict;
                }
            }
            for correction in corrections {
                for bit in correction.result {
                    let mut clause: Vec<Lit> = correction.operands.iter().map(|&l| !l).collect();
                    clause.push(bit);
                    clause.retain(|l| l.as_constant() != Some(false));
                    if !clause.iter().any(|l| l.as_constant() == Some(true)) {
                        self.lemmas.push(clause);
                    }
                }
            }
        }
        Verdict::Unknown
    }

    /// Literals that state the operands' values in the model, and the result's true value.
    fn correction(&self, f: &Formula, t: Term, solver: &Solver) -> Option<Correction> {
        let Node::Op { op, args } = f.terms.node(t) else {
            return None;
        };
        let mut operands = Vec::new();
        let mut values = Vec::new();
        for &arg in args {
            let word = self.blaster.word(f, arg);
            let stated = word.iter().map(|&l| if solver.value(l) { l } else { !l });
            operands.extend(stated);
            values.push((number(&word, solver), f.terms.width(arg)));
        }
        let value = eval::apply(*op, f.terms.width(t), &values);
        let word = self.blaster.word(f, t);
        let bit = |(i, &l): (usize, &Lit)| if value >> i & 1 == 1 { l } else { !l };
        Some(Correction {
            operands,
            result: word.iter().enumerate().map(bit).collect(),
        })
    }

    /// The solver's model, if the part holds under it.
    fn checked_model(&self, f: &Formula, part: &Part, solver: &Solver) -> Verdict {
        let value = |&var: &Var| {
            let bits = self.blaster.var_bits(f, var).unwrap_or(&[]);
            (var, number(bits, solver))
        };
        let mut model = Rc::new(Model::new(part.vars.iter().map(value)));
        // The solver's values for gates need not be those that follow from their inputs.
        for &(var, term) in self.blaster.substituted() {
            let value = Evaluator::new(model.clone()).eval(f, term);
            model = Rc::new(model.with([(var, value)]));
        }
        let values: Vec<(Var, u128)> = part.vars.iter().map(|&v| (v, model.value(v))).collect();
        if part.holds(f, &mut Evaluator::new(model)) {
            Verdict::Sat(values.into())
        } else {
            debug_assert!(!self.blaster.loose().is_empty(), "a model that is none");
            Verdict::Unknown
        }
    }
}

fn number(bits: &[Lit], solver: &Solver) -> u128 {
    let bits = bits.iter().rev().map(|&lit| solver.value(lit));
    bits.fold(0, |n, bit| n << 1 | u128::from(bit))
}
