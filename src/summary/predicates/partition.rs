//! Which conditions leave open how an object leaves a function.
//!
//! In: the paths to each exit, and candidates for conditions. Out: a [`Partition`] of the space of conditions, with the parts in which more
//! than one exit is possible. That a run takes an exit is asked once: what the candidates are on that run is kept, and answers for
//! each of them.

use super::{MAX_PREDICATES, Predicate};
use crate::property::StateId;
use crate::sat::oracle::Oracle;
use crate::summary::infer::Move;
use crate::symbolic::guard::Guard;

/// Candidates that are looked at.
const MAX_CANDIDATES: usize = u64::BITS as usize;

/// The candidates that are chosen from, and what they are asked of.
pub struct Chooser<'c, 'o, 'a> {
    candidates: &'c [Predicate],
    oracle: &'o mut Oracle<'a>,
}

/// A candidate, by number, and the value that it is to have.
type Wanted = (usize, bool);

/// The combinations of some conditions under which more than one exit of an entry state is possible.
#[derive(Clone)]
pub struct Partition {
    open: Vec<Open>,
}

#[derive(Clone)]
struct Open {
    /// The part of the space of conditions that this is, in units of 2^-MAX_PREDICATES for each entry
    /// state.
    weight: u64,
    /// Two or more.
    exits: Vec<Exit>,
}

/// A possible way out.
#[derive(Clone)]
struct Exit {
    paths: Guard,
    /// Runs that take it: the values of all candidates, a bit for each.
    runs: Vec<u64>,
    /// The candidates, a bit for each, that are false on no run that takes it; and those that are true on none.
    never: [u64; 2],
}

impl<'c, 'o, 'a> Chooser<'c, 'o, 'a> {
    pub fn new(candidates: &'c [Predicate], oracle: &'o mut Oracle<'a>) -> Self {
        let most = candidates.len().min(MAX_CANDIDATES);
        Chooser {
            candidates: &candidates[..most],
            oracle,
        }
    }

    /// The candidates, by number.
    pub fn numbers(&self) -> std::ops::Range<usize> {
        0..self.candidates.len()
    }

    /// Without any condition.
    pub fn whole(&mut self, moves: &[Move]) -> Partition {
        let mut entries: Vec<StateId> = moves.iter().map(|entry| entry.from).collect();
        entries.dedup();
        let mut partition = Partition { open: Vec::new() };
        for from in entries {
            let of_entry = moves
                .iter()
                .filter(|entry| entry.from == from && !entry.reported);
            let exits = of_entry.filter_map(|entry| self.exit(entry.paths));
            partition.add(1 << MAX_PREDICATES, exits.collect());
        }
        partition
    }

    /// The way out that takes these paths, if some run does.
    fn exit(&mut self, paths: Guard) -> Option<Exit> {
        if paths == Guard::FALSE || !self.oracle.possible(paths) {
            return None;
        }
        let mut runs = Vec::new();
        // The budget may have ended before one was found.
        if let Some(model) = self.oracle.model(paths) {
            let mut values = 0;
            for (number, candidate) in self.candidates.iter().enumerate() {
                let holds = model.eval_guard(&self.oracle.formula, candidate.guard);
                values |= u64::from(holds) << number;
            }
            runs.push(values);
        }
        let never = [0; 2];
        Some(Exit { paths, runs, never })
    }

    /// A way out where a candidate has a value.
    fn narrowed(&mut self, exit: &Exit, (number, value): Wanted) -> Option<Exit> {
        if exit.never[usize::from(value)] >> number & 1 == 1 {
            return None;
        }
        let predicate = self.candidates[number].guard;
        let guards = &mut self.oracle.formula.guards;
        let paths = match value {
            true => guards.and(exit.paths, predicate),
            false => guards.and_not(exit.paths, predicate),
        };
        let has = |run: &u64| (run >> number & 1 == 1) == value;
        let runs: Vec<u64> = exit.runs.iter().copied().filter(has).collect();
        let runs = match runs.is_empty() {
            true => self.exit(paths)?.runs,
            false => runs,
        };
        // What no run does that takes the way out, none does that takes a part of it.
        let never = exit.never;
        Some(Exit { paths, runs, never })
    }

    /// Whether some run takes a way out where a candidate has a value.
    fn is_possible(&mut self, exit: &mut Exit, wanted: Wanted) -> bool {
        let (number, value) = wanted;
        let has = |run: &u64| (run >> number & 1 == 1) == value;
        if exit.runs.iter().any(has) {
            return true;
        }
        let narrowed = self.narrowed(exit, wanted);
        let possible = narrowed.is_some();
        exit.never[usize::from(value)] |= u64::from(!possible) << number;
        exit.runs
            .extend(narrowed.into_iter().flat_map(|one| one.runs));
        possible
    }

    /// The ambiguity with one more condition; `None` as soon as it is clear that it is `bound` or more.
    pub fn ambiguity_with(
        &mut self,
        partition: &mut Partition,
        number: usize,
        bound: u64,
    ) -> Option<u64> {
        let mut ambiguity = 0;
        for open in &mut partition.open {
            let left = [true, false].map(|value| {
                let exits = open.exits.iter_mut();
                let possible = exits.map(|exit| self.is_possible(exit, (number, value)));
                possible.filter(|&possible| possible).count()
            });
            let weight = open.weight_of_side(left[0] == 0 || left[1] == 0);
            ambiguity += weight * left.into_iter().map(pairs).sum::<u64>();
            if ambiguity >= bound {
                return None;
            }
        }
        Some(ambiguity)
    }

    /// With one more condition.
    pub fn refine(&mut self, partition: &Partition, number: usize) -> Partition {
        let mut refined = Partition { open: Vec::new() };
        for open in &partition.open {
            let sides = [true, false].map(|value| {
                let exits = open.exits.iter();
                let narrowed = exits.filter_map(|exit| self.narrowed(exit, (number, value)));
                narrowed.collect::<Vec<Exit>>()
            });
            let weight = open.weight_of_side(sides.iter().any(Vec::is_empty));
            for side in sides {
                refined.add(weight, side);
            }
        }
        refined
    }
}

/// How many pairs so many exits make.
fn pairs(exits: usize) -> u64 {
    let exits = exits as u64;
    exits * exits.saturating_sub(1) / 2
}

impl Open {
    /// A predicate that is the same on all paths here tells nothing.
    fn weight_of_side(&self, same: bool) -> u64 {
        match same {
            true => self.weight,
            false => self.weight / 2,
        }
    }
}

impl Partition {
    fn add(&mut self, weight: u64, exits: Vec<Exit>) {
        if exits.len() > 1 {
            self.open.push(Open { weight, exits });
        }
    }

    /// How much of the space of conditions leaves an exit open, counted once for each two exits that are not told apart there: otherwise a
    /// condition that one exit has at times would take away as much as one that tells it from the others.
    pub fn ambiguity(&self) -> u64 {
        let open = self.open.iter();
        open.map(|open| open.weight * pairs(open.exits.len())).sum()
    }
}
