//! Blasting against folding, models against queries, and budgets.

use proptest::prelude::*;

use super::blast::Blaster;
use super::solver::{Answer, Solver};
use super::*;
use crate::symbolic::term::tests::{Step, sample, step, value};

/// With the variables fixed after translation, the clauses allow each term its reference value, and
/// no other.
fn blasts_like_reference(widths: &[u16], steps: &[Step], ks: &[u128], values: &[Vec<u128>]) {
    let s = sample(widths, steps, ks, values);
    for i in 0..s.assignments.len() {
        let mut blaster = Blaster::new(usize::MAX, usize::MAX);
        let mut differs = Vec::new();
        for (t, values) in &s.terms {
            for (n, &bit) in blaster.word_of(&s.formula, *t).iter().enumerate() {
                let expected = values[i] >> n & 1 == 1;
                differs.push(if expected { !bit } else { bit });
            }
        }
        for (&var, &value) in s.vars.iter().zip(&s.assignments[i]) {
            let bits = blaster.var_bits(&s.formula, var).unwrap_or(&[]).to_vec();
            for (n, bit) in bits.into_iter().enumerate() {
                blaster
                    .cnf
                    .clause(&[if value >> n & 1 == 1 { bit } else { !bit }]);
            }
        }
        let (mut solver, mut other) = (Solver::new(), Solver::new());
        blaster.cnf.each(|gate, clause| {
            solver.add_clause(gate, clause);
            other.add_clause(gate, clause);
        });
        solver.observe(&differs);
        assert_eq!(solver.solve(u64::MAX).0, Answer::Sat);
        assert!(differs.iter().all(|&lit| !solver.value(lit)));
        differs.retain(|&lit| lit.as_constant() != Some(false));
        other.add_clause(None, &differs);
        assert_eq!(other.solve(u64::MAX).0, Answer::Unsat);
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(100)
    })]

    #[test]
    fn small_words_blast_like_the_reference(
        steps in prop::collection::vec(step(), 1..30),
        constants in prop::collection::vec(value(), 4),
        values in prop::collection::vec(prop::collection::vec(value(), 9), 2),
    ) {
        blasts_like_reference(&[1, 1, 2, 2, 3, 3, 4, 5, 5], &steps, &constants, &values);
    }

    #[test]
    fn machine_words_blast_like_the_reference(
        steps in prop::collection::vec(step(), 1..8),
        constants in prop::collection::vec(value(), 7),
        values in prop::collection::vec(prop::collection::vec(value(), 9), 1),
    ) {
        blasts_like_reference(&[1, 8, 8, 16, 32, 32, 64, 64, 11], &steps, &constants, &values);
    }

    /// Whatever is answered for free unknowns: a model satisfies the query, and an exhaustive search
    /// over two small unknowns agrees.
    #[test]
    fn answers_agree_with_exhaustive_search(
        steps in prop::collection::vec(step(), 1..25),
        constants in prop::collection::vec(value(), 3),
    ) {
        let all: Vec<Vec<u128>> = (0..64u128).map(|v| vec![v & 7, v >> 3]).collect();
        let mut s = sample(&[3, 3], &steps, &constants, &all);
        // Products and quotients of wide words can outgrow the usual budget.
        let budget = Budget { effort: u64::MAX, clauses: usize::MAX, work: u64::MAX };
        let mut session = Session::new(budget);
        for (t, values) in s.terms.clone() {
            if s.formula.terms.width(t) != 1 {
                continue;
            }
            let possible = values.contains(&1);
            let g = s.formula.guard_of(t);
            let fresh = satisfiable(&mut s.formula, g, &[], &budget);
            for found in [session.check(&mut s.formula, &[g], &[]), session.check(&mut s.formula, &[], &[t]), fresh] {
                match found {
                    Outcome::Sat(model) => {
                        prop_assert!(possible);
                        prop_assert_eq!(model.eval(&s.formula, t), 1);
                        prop_assert!(model.eval_guard(&s.formula, g));
                    }
                    Outcome::Unsat => prop_assert!(!possible),
                    Outcome::Unknown => prop_assert!(false, "unknown"),
                }
            }
        }
    }
}

#[test]
fn correlated_conditions_contradict() {
    let mut f = Formula::new();
    let x = f.terms.fresh(32).1;
    let (three, ten) = (f.terms.constant(3, 32), f.terms.constant(10, 32));
    let (low, high) = (f.terms.slt(x, three), f.terms.slt(ten, x));
    let (low, high) = (f.guard_of(low), f.guard_of(high));
    let both = f.guards.and(low, high);
    assert_ne!(both, Guard::FALSE);
    assert!(satisfiable(&mut f, both, &[], &Budget::default()).is_unsat());
    let mut session = Session::new(Budget::default());
    assert!(session.check(&mut f, &[low, high], &[]).is_unsat());
    let solved = session.queries.solved;
    // The same conflict on another path takes no solver.
    let other = f.terms.fresh(1).1;
    let other = f.guard_of(other);
    assert!(session.check(&mut f, &[low, other, high], &[]).is_unsat());
    assert_eq!(
        (session.queries.searched, session.queries.solved),
        (2, solved)
    );
}

#[test]
fn a_guard_that_was_named_keeps_its_meaning() {
    let mut f = Formula::new();
    let conds: Vec<Guard> = (0..40)
        .map(|_| {
            let t = f.terms.fresh(1).1;
            f.guard_of(t)
        })
        .collect();
    // Pairs far apart in the variable order make a large diagram.
    let mut large = Guard::FALSE;
    for i in 0..9 {
        let pair = f.guards.and(conds[i], conds[i + 20]);
        large = f.guards.or(large, pair);
    }
    assert!(f.guards.size(large) > 400);
    let name = f.bound(large);
    assert_eq!(f.guards.size(name), 1);
    let not_large = f.guards.not(large);
    let negation = f.bound(not_large);
    assert_eq!(f.guards.not(name), negation);
    let contradiction = f.guards.and(name, not_large);
    assert_ne!(contradiction, Guard::FALSE);
    assert!(satisfiable(&mut f, contradiction, &[], &Budget::default()).is_unsat());
    let both = f.guards.and(name, large);
    assert!(satisfiable(&mut f, both, &[], &Budget::default()).is_sat());
}

/// A factorisation too hard for a small budget.
fn hard(f: &mut Formula) -> Vec<Term> {
    let (x, y) = (f.terms.fresh(64).1, f.terms.fresh(64).1);
    let product = f.terms.mul(x, y);
    let prime = f.terms.constant(0x7FFF_FFFF_FFFF_FFE7, 64);
    let limit = f.terms.constant(1 << 32, 64);
    let one = f.terms.constant(1, 64);
    vec![
        f.terms.eq(product, prime),
        f.terms.ult(x, limit),
        f.terms.ult(y, limit),
        f.terms.ult(one, x),
        f.terms.ult(one, y),
    ]
}

#[test]
fn the_effort_budget_stops_the_solver_and_the_session_goes_on() {
    let mut f = Formula::new();
    let query = hard(&mut f);
    let mut session = Session::new(Budget {
        effort: 500,
        ..Budget::default()
    });
    assert!(matches!(
        session.check(&mut f, &[], &query),
        Outcome::Unknown
    ));
    assert_eq!(session.queries.unknown, 1);
    assert!(session.check(&mut f, &[], &query[1..]).is_sat());
}

#[test]
fn the_clause_budget_makes_a_hard_operator_unknown_not_wrong() {
    let mut f = Formula::new();
    let query = hard(&mut f);
    let budget = Budget {
        clauses: 5_000,
        ..Budget::default()
    };
    let mut session = Session::new(budget);
    assert!(matches!(
        session.check(&mut f, &[], &query),
        Outcome::Unknown
    ));
    // What does not depend on the product is still decided.
    let x = f.terms.var_term(Var(0));
    let low = f.terms.constant(5, 64);
    let high = f.terms.constant(9, 64);
    let contradiction = [f.terms.ult(x, low), f.terms.ult(high, x)];
    let query: Vec<Term> = query.into_iter().chain(contradiction).collect();
    assert!(session.check(&mut f, &[], &query).is_unsat());
}

#[test]
fn a_division_that_hardly_matters_is_not_encoded() {
    let mut f = Formula::new();
    let (x, y) = (f.terms.fresh(64).1, f.terms.fresh(64).1);
    let quotient = f.terms.udiv(x, y);
    let seven = f.terms.constant(7, 64);
    let is_seven = f.terms.eq(quotient, seven);
    let query = [f.terms.not(is_seven), f.terms.ult(seven, y)];
    let tight = Budget {
        effort: 500,
        clauses: 10_000,
        ..Budget::default()
    };
    let model = satisfiable(&mut f, Guard::TRUE, &query, &tight).model();
    assert!(model.is_some_and(|m| query.iter().all(|&t| m.eval(&f, t) == 1)));
    // x / y > x needs no encoding either.
    let query = [f.terms.ult(x, quotient), f.terms.ult(seven, y)];
    assert!(satisfiable(&mut f, Guard::TRUE, &query, &tight).is_unsat());
}

#[test]
fn products_of_small_unknowns_are_exact() {
    let mut f = Formula::new();
    let (x, y) = (f.terms.fresh(64).1, f.terms.fresh(64).1);
    let product = f.terms.mul(x, y);
    let (limit, one) = (f.terms.constant(16, 64), f.terms.constant(1, 64));
    let mut query = vec![f.terms.ult(x, limit), f.terms.ult(y, limit)];
    query.extend([f.terms.ult(one, x), f.terms.ult(one, y)]);
    for (value, possible) in [(143, true), (221, false), (225, true)] {
        let k = f.terms.constant(value, 64);
        let test = f.terms.eq(product, k);
        let query: Vec<Term> = query.iter().copied().chain([test]).collect();
        let found = satisfiable(&mut f, Guard::TRUE, &query, &Budget::default());
        assert_eq!(
            (found.is_sat(), found.is_unsat()),
            (possible, !possible),
            "{value}"
        );
    }
}
