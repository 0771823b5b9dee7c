//! The predicate cover (ACSpec §4.1), by ALL-SAT over the valuations of the predicates.
//!
//! In: a view, predicates. Out: for each valuation that some input has, which checks may fail and which locations are reached. As
//! valuations divide all inputs among them, `Dead` and `Fail` of a specification are read off those that it lets in (Theorem 1).

use super::view::View;
use crate::sat::oracle::{Oracle, OutOfBudget};
use crate::symbolic::guard::{Cond, Guard};

/// Predicates beyond which the cover is not made.
pub const MAX_PREDICATES: usize = 8;
/// Valuations that some input has.
const MAX_CUBES: usize = 256;
/// Locations and checks that are asked about, for each valuation.
const MAX_QUESTIONS: usize = 6_000;

/// The inputs of one valuation.
#[derive(Clone, Debug)]
pub struct Cube {
    /// The predicates that hold, by number.
    pub valuation: u32,
    /// The checks that fail for one of them, by number in the view.
    pub fails: Vec<usize>,
    /// The locations that one of them reaches.
    pub reaches: Vec<usize>,
}

pub struct Cover {
    pub predicates: Vec<Cond>,
    pub cubes: Vec<Cube>,
    /// Locations that some input reaches.
    pub alive: Vec<usize>,
}

impl Cover {
    /// Of some of the view's checks, for some inputs.
    pub fn of(
        view: &View,
        oracle: &mut Oracle<'_>,
        (inputs, predicates): (Guard, Vec<Cond>),
        checks: &[usize],
    ) -> Result<Cover, OutOfBudget> {
        if predicates.len() > MAX_PREDICATES {
            return Err(OutOfBudget);
        }
        let mut valuations = vec![(0u32, inputs)];
        for (number, &predicate) in predicates.iter().enumerate() {
            let mut next = Vec::new();
            for (valuation, guard) in valuations {
                for holds in [false, true] {
                    let literal = oracle.formula.guards.literal(predicate, holds);
                    let guard = oracle.formula.guards.and(guard, literal);
                    if oracle.solve(guard)?.is_some() {
                        next.push((valuation | u32::from(holds) << number, guard));
                    }
                }
            }
            if next.len() > MAX_CUBES {
                return Err(OutOfBudget);
            }
            valuations = next;
        }
        let questions = valuations.len() * (view.locations.len() + checks.len());
        if questions > MAX_QUESTIONS {
            return Err(OutOfBudget);
        }
        let mut cubes = Vec::new();
        for (valuation, guard) in valuations {
            cubes.push(Cube {
                valuation,
                fails: possible(
                    oracle,
                    guard,
                    checks.iter().map(|&at| (at, view.checks[at].fails)),
                )?,
                reaches: possible(
                    oracle,
                    guard,
                    view.locations
                        .iter()
                        .map(|location| location.reach)
                        .enumerate(),
                )?,
            });
        }
        let mut alive: Vec<usize> = cubes.iter().flat_map(|cube| cube.reaches.clone()).collect();
        alive.sort_unstable();
        alive.dedup();
        Ok(Cover {
            predicates,
            cubes,
            alive,
        })
    }
}

/// Which of some guards are possible within another.
fn possible(
    oracle: &mut Oracle<'_>,
    within: Guard,
    guards: impl Iterator<Item = (usize, Guard)>,
) -> Result<Vec<usize>, OutOfBudget> {
    let mut found = Vec::new();
    for (index, guard) in guards {
        let both = oracle.formula.guards.and(within, guard);
        if oracle.solve(both)?.is_some() {
            found.push(index);
        }
    }
    Ok(found)
}
