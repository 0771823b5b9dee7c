//! Guards against truth tables over six conditions.

use proptest::prelude::*;

use super::*;
use crate::symbolic::formula::Formula;
use crate::symbolic::model::Model;
use crate::symbolic::term::{Node, Term};

const CONDS: usize = 6;

/// The value under each of the 64 valuations of six conditions.
type Table = u64;

fn column(cond: usize) -> Table {
    (0..64).filter(|v| v >> cond & 1 == 1).map(|v| 1 << v).sum()
}

/// A random pool of guards with their truth tables, literals first.
fn pool(f: &mut Formula, steps: &[(u8, u16, u16)]) -> Vec<(Guard, Table)> {
    let mut pool = vec![(Guard::FALSE, 0), (Guard::TRUE, Table::MAX)];
    for i in 0..CONDS {
        let t = f.terms.fresh(1).1;
        pool.push((f.guard_of(t), column(i)));
    }
    for &(op, a, b) in steps {
        let (a, ta) = pool[usize::from(a) % pool.len()];
        let (b, tb) = pool[usize::from(b) % pool.len()];
        let literal = (Cond(u16::from(op / 16) % CONDS as u16), op & 8 != 0);
        let (c, tc) = pool[2 + usize::from(literal.0.0)];
        let g = &mut f.guards;
        pool.push(match op % 6 {
            0 => (g.and(a, b), ta & tb),
            1 => (g.or(a, b), ta | tb),
            2 => (g.not(a), !ta),
            3 => (g.and_not(a, b), ta & !tb),
            4 => (g.ite(c, a, b), tc & ta | !tc & tb),
            _ => (g.restrict(a, &[literal]), cofactor(ta, literal)),
        });
    }
    pool
}

/// Each valuation gets the value of the one with the literal made true.
fn cofactor(table: Table, (cond, value): (Cond, bool)) -> Table {
    let bit = 1u64 << cond.0;
    (0..64u64)
        .filter(|v| table >> (if value { v | bit } else { v & !bit }) & 1 == 1)
        .map(|v| 1 << v)
        .sum()
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(200)
    })]

    #[test]
    fn guards_are_equal_exactly_when_their_truth_tables_are(
        steps in prop::collection::vec(any::<(u8, u16, u16)>(), 1..60),
    ) {
        let mut f = Formula::new();
        let pool = pool(&mut f, &steps);
        for &(a, ta) in &pool {
            for &(b, tb) in &pool {
                prop_assert_eq!(a == b, ta == tb);
                prop_assert_eq!(f.guards.implies(a, b), ta & !tb == 0);
            }
        }
    }

    #[test]
    fn what_a_guard_tells_of_itself_is_in_its_truth_table(
        steps in prop::collection::vec(any::<(u8, u16, u16)>(), 1..60),
    ) {
        let mut f = Formula::new();
        for (g, table) in pool(&mut f, &steps) {
            for v in 0..64u64 {
                let value = f.guards.eval(g, &mut |cond| v >> cond.0 & 1 == 1);
                prop_assert_eq!(value, table >> v & 1 == 1);
            }
            let conds = (0..CONDS as u16).map(Cond);
            let depends = |c: &Cond| cofactor(table, (*c, true)) != cofactor(table, (*c, false));
            let support: Vec<Cond> = conds.clone().filter(depends).collect();
            prop_assert_eq!(f.guards.support(g), &support[..]);
            let implied: Vec<(Cond, bool)> = conds
                .flat_map(|c| [(c, false), (c, true)])
                .filter(|&(c, value)| {
                    let column = column(usize::from(c.0));
                    table != 0 && table & (if value { !column } else { column }) == 0
                })
                .collect();
            prop_assert_eq!(f.guards.implied_literals(g), implied);
        }
    }

    #[test]
    fn a_relative_guard_tells_two_apart(
        steps in prop::collection::vec(any::<(u8, u16, u16)>(), 1..40),
    ) {
        let mut f = Formula::new();
        let pool = pool(&mut f, &steps);
        for &(a, _) in &pool {
            for &(b, _) in pool.iter().rev().take(8) {
                let other = f.guards.and_not(b, a);
                let c = f.relative(a, other);
                let not_c = f.guards.not(c);
                prop_assert!(f.guards.implies(a, c));
                prop_assert!(f.guards.implies(other, not_c));
                prop_assert!(f.guards.size(c) <= f.guards.size(a).max(1));
            }
        }
    }
}

#[test]
fn a_branch_and_its_join_leave_no_trace() {
    let mut f = Formula::new();
    let (p, c) = (f.terms.fresh(1).1, f.terms.fresh(1).1);
    let (p, c) = (f.guard_of(p), f.guard_of(c));
    let then = f.guards.and(p, c);
    let els = f.guards.and_not(p, c);
    assert_eq!(f.guards.or(then, els), p);
    assert_eq!(f.relative(then, els), c);
}

#[test]
fn conditions_run_out_without_a_panic() {
    let mut f = Formula::new();
    for _ in 0..=MAX_CONDS {
        let t = f.terms.fresh(1).1;
        f.guard_of(t);
    }
    assert_eq!(
        f.exhausted(),
        Some(crate::symbolic::formula::Exhausted::Conditions)
    );
}

/// `x₀y₀ ∨ x₁y₁ ∨ …` in the order in which it has a node for each set of `x`, and the unknowns.
fn exploding(f: &mut Formula) -> (Vec<Term>, Guard) {
    let vars: Vec<Term> = (0..60).map(|_| f.terms.fresh(1).1).collect();
    let conds: Vec<Guard> = vars.iter().map(|&var| f.guard_of(var)).collect();
    let mut large = Guard::FALSE;
    for i in 0..30 {
        let pair = f.guards.and(conds[i], conds[i + 30]);
        large = f.guards.or(large, pair);
    }
    (vars, large)
}

#[test]
fn a_guard_that_explodes_is_named_and_means_the_same() {
    let mut f = Formula::new();
    f.reserve_names();
    let (vars, large) = exploding(&mut f);
    assert_eq!(f.exhausted(), None);
    for pair in 0..30 {
        let without = |with: u64| {
            let values = vars.iter().zip(0..60).map(|(&var, i)| {
                let Node::Var(var) = *f.terms.node(var) else {
                    panic!("not an unknown");
                };
                (var, u128::from(with >> i & 1))
            });
            Model::new(values).eval_guard(&f, large)
        };
        let (x, y) = (1 << pair, 1 << (pair + 30));
        let others = 0x2AAA_AAAA_u64 | 0x1555_5555 << 30;
        assert!(without(others & !x & !y | x | y), "{pair}");
        assert!(!without(others & !x & !y), "{pair}");
    }
}

#[test]
fn a_guard_that_explodes_is_given_up_where_no_name_is_left() {
    let mut f = Formula::new();
    exploding(&mut f);
    assert_eq!(
        f.exhausted(),
        Some(crate::symbolic::formula::Exhausted::GuardSize)
    );
}

#[test]
fn a_cube_is_the_conjunction_of_its_literals() {
    let mut f = Formula::new();
    pool(&mut f, &[]);
    let cubes: [&[(u16, bool)]; 6] = [
        &[],
        &[(3, true)],
        &[(4, false), (1, false)],
        &[(5, true), (0, false), (2, true)],
        &[(2, true), (2, true)],
        &[(2, true), (2, false)],
    ];
    for literals in cubes {
        let literals: Vec<(Cond, bool)> = literals.iter().map(|&(c, v)| (Cond(c), v)).collect();
        let g = &mut f.guards;
        let all = literals.iter().fold(Guard::TRUE, |all, &(cond, value)| {
            let literal = g.literal(cond, value);
            g.and(all, literal)
        });
        assert_eq!(g.cube(&literals), all, "{literals:?}");
    }
}
