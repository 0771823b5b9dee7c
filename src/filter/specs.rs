//! Almost-correct specifications (ACSpec Definition 4, Algorithms 1 and 2): the cover of the weakest precondition, weakened as little as
//! it takes to leave no code dead.
//!
//! In: a [`Cover`]. Out: the specifications with the fewest failures, and those failures.

use std::collections::BTreeSet;

use rustc_hash::FxHashSet;

use super::clauses::{self, Clause};
use super::cover::Cover;
use crate::sat::oracle::OutOfBudget;

/// Sets of clauses that are looked at.
const MAX_VISITED: usize = 20_000;

/// What Algorithm 1 answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inconsistency {
    /// The weakest precondition makes code dead: the warnings are of high confidence.
    pub inconsistent: bool,
    /// The checks that fail under some almost-correct specification, by number in the view.
    pub failures: BTreeSet<usize>,
    /// The almost-correct specifications.
    pub specifications: Vec<Vec<Clause>>,
}

/// The clauses of a cover that are left out, by the number of the valuation that each excludes.
type Dropped = BTreeSet<usize>;

/// `FindAbstractSIBs` for the predicates of a cover; `most`: the literals that clauses may have (`k`).
pub fn find(cover: &Cover, most: Option<u32>) -> Result<Inconsistency, OutOfBudget> {
    let none = Dropped::new();
    let inconsistent = !dead(cover, &none).is_empty();
    let found = match inconsistent {
        true => almost_correct(cover)?,
        false => vec![none],
    };
    let mut failures = BTreeSet::new();
    let mut specifications: Vec<Vec<Clause>> = Vec::new();
    for dropped in &found {
        let specification = specification(cover, dropped, most);
        failures.extend(failures_under(cover, &specification));
        if !specifications.contains(&specification) {
            specifications.push(specification);
        }
    }
    Ok(Inconsistency {
        inconsistent,
        failures,
        specifications,
    })
}

/// `FindAlmostCorrectSpecs`: the smallest weakenings without dead code, of those that let the fewest checks fail.
fn almost_correct(cover: &Cover) -> Result<Vec<Dropped>, OutOfBudget> {
    let clauses: Vec<usize> = useful(cover);
    let mut frontier: Vec<Dropped> = vec![Dropped::new()];
    let mut visited: FxHashSet<Dropped> = FxHashSet::default();
    let mut found: Vec<Dropped> = Vec::new();
    let mut least = usize::MAX;
    while let Some(dropped) = frontier.pop() {
        for &clause in clauses.iter().filter(|&clause| !dropped.contains(clause)) {
            let mut weaker = dropped.clone();
            weaker.insert(clause);
            if !visited.insert(weaker.clone()) {
                continue;
            }
            if visited.len() > MAX_VISITED {
                return Err(OutOfBudget);
            }
            let failing = fail(cover, &weaker).len();
            if failing > least {
                continue;
            }
            if !dead(cover, &weaker).is_empty() {
                frontier.push(weaker);
            } else if failing == least {
                found.push(weaker);
            } else {
                least = failing;
                found = vec![weaker];
            }
        }
    }
    // One that is weaker than another is none (Definition 4, condition 4).
    let minimal = |one: &Dropped| {
        !found
            .iter()
            .any(|other| other != one && other.is_subset(one))
    };
    Ok(found.iter().filter(|one| minimal(one)).cloned().collect())
}

/// The clauses without which more code is reached. To drop another one weakens a specification for nothing.
fn useful(cover: &Cover) -> Vec<usize> {
    let dead = dead(cover, &Dropped::new());
    let reaches_dead = |at: &usize| {
        let mut reached = cover.cubes[*at].reaches.iter();
        reached.any(|location| dead.contains(location))
    };
    let excluded = (0..cover.cubes.len()).filter(|&at| !cover.cubes[at].fails.is_empty());
    excluded.filter(reaches_dead).collect()
}

/// The locations that some input reaches, but none that the specification lets in.
fn dead(cover: &Cover, dropped: &Dropped) -> BTreeSet<usize> {
    let mut dead: BTreeSet<usize> = cover.alive.iter().copied().collect();
    for (at, cube) in cover.cubes.iter().enumerate() {
        if cube.fails.is_empty() || dropped.contains(&at) {
            cube.reaches.iter().for_each(|location| {
                dead.remove(location);
            });
        }
    }
    dead
}

/// The checks that may fail under the specification.
fn fail(cover: &Cover, dropped: &Dropped) -> BTreeSet<usize> {
    let cubes = dropped.iter().map(|&at| &cover.cubes[at]);
    cubes.flat_map(|cube| cube.fails.iter().copied()).collect()
}

/// `PruneClauses(Normalize(C))`. Valuations that no input has are nobody's business: they make clauses shorter.
fn specification(cover: &Cover, dropped: &Dropped, most: Option<u32>) -> Vec<Clause> {
    let predicates = cover.predicates.len();
    let feasible: BTreeSet<u32> = cover.cubes.iter().map(|cube| cube.valuation).collect();
    let let_in = |at: usize| cover.cubes[at].fails.is_empty() || dropped.contains(&at);
    let allowed: Vec<u32> = (0..cover.cubes.len())
        .filter(|&at| let_in(at))
        .map(|at| cover.cubes[at].valuation)
        .collect();
    let excluded = cover
        .cubes
        .iter()
        .enumerate()
        .filter(|(at, _)| !let_in(*at));
    let maximal = excluded.map(|(_, cube)| Clause::excluding(cube.valuation, predicates));
    let impossible = (0..1u32 << predicates).filter(|valuation| !feasible.contains(valuation));
    let impossible = impossible.map(|valuation| Clause::excluding(valuation, predicates));
    // With what is impossible excluded, too, clauses resolve to shorter ones; what says nothing but that is left out.
    let normal = clauses::normalize(maximal.chain(impossible));
    let says_more = |clause: &Clause| {
        cover.cubes.iter().any(|cube| {
            let excludes =
                cube.valuation & clause.holds == 0 && !cube.valuation & clause.fails == 0;
            excludes && !allowed.contains(&cube.valuation)
        })
    };
    let normal = normal.into_iter().filter(says_more).collect();
    clauses::prune(normal, most)
}

/// The weakest precondition in terms of the predicates: no check fails.
pub fn correct(cover: &Cover) -> Vec<Clause> {
    specification(cover, &Dropped::new(), None)
}

/// The checks that may fail for what a specification lets in: clauses may have been pruned.
fn failures_under(cover: &Cover, specification: &[Clause]) -> BTreeSet<usize> {
    let let_in = cover.cubes.iter().filter(|cube| {
        specification
            .iter()
            .all(|clause| cube.valuation & clause.holds != 0 || !cube.valuation & clause.fails != 0)
    });
    let_in.flat_map(|cube| cube.fails.iter().copied()).collect()
}

#[cfg(test)]
mod tests {
    use super::super::cover::Cube;
    use super::*;

    /// Predicates by number, cubes as valuation, failures, locations.
    fn cover(predicates: usize, cubes: &[(u32, &[usize], &[usize])]) -> Cover {
        let cubes: Vec<Cube> = cubes
            .iter()
            .map(|(valuation, fails, reaches)| Cube {
                valuation: *valuation,
                fails: fails.to_vec(),
                reaches: reaches.to_vec(),
            })
            .collect();
        let alive: BTreeSet<usize> = cubes.iter().flat_map(|cube| cube.reaches.clone()).collect();
        Cover {
            predicates: (0..predicates as u16)
                .map(crate::symbolic::guard::Cond)
                .collect(),
            cubes,
            alive: alive.into_iter().collect(),
        }
    }

    #[test]
    fn what_can_be_specified_away_without_dead_code_is_no_failure() {
        // if (c) *x: c is 1, x != 0 is 2.
        let cover = cover(
            2,
            &[
                (0, &[], &[1]),
                (1, &[0], &[0]),
                (2, &[], &[1]),
                (3, &[], &[0]),
            ],
        );
        let found = find(&cover, None).unwrap();
        assert!(!found.inconsistent);
        assert!(found.failures.is_empty());
        assert_eq!(found.specifications, [vec![Clause { holds: 2, fails: 1 }]]);
        // The only clause has two literals.
        assert_eq!(find(&cover, Some(1)).unwrap().failures, [0].into());
    }

    #[test]
    fn a_check_behind_a_test_for_what_it_forbids_fails() {
        // if (x) …; *x: x != 0 is 1.
        let cover = cover(1, &[(0, &[0], &[1]), (1, &[], &[0])]);
        let found = find(&cover, None).unwrap();
        assert!(found.inconsistent);
        assert_eq!(found.failures, [0].into());
        assert_eq!(found.specifications, [vec![]]);
    }

    #[test]
    fn the_fewest_failures_are_taken() {
        // Two ways to reach location 1: with one failure, or with two.
        let cover = cover(
            2,
            &[
                (0, &[], &[0]),
                (1, &[0, 1], &[1]),
                (2, &[1], &[1]),
                (3, &[], &[0]),
            ],
        );
        let found = find(&cover, None).unwrap();
        assert_eq!(found.failures, [1].into());
        assert_eq!(found.specifications, [vec![Clause { holds: 2, fails: 1 }]]);
    }
}
