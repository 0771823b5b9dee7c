//! Sets of clauses over a few predicates, and their simplification (ACSpec §4.3).
//!
//! In: maximal clauses, one for each combination of the predicates' values that is excluded. Out: few short ones that mean the same.

use std::collections::BTreeSet;

/// A disjunction of literals: the predicates, by number, that have to hold, or not to, for it to hold.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Clause {
    pub holds: u32,
    pub fails: u32,
}

impl Clause {
    /// What excludes one valuation of so many predicates.
    pub fn excluding(valuation: u32, predicates: usize) -> Clause {
        let all = ((1u64 << predicates) - 1) as u32;
        Clause {
            holds: !valuation & all,
            fails: valuation & all,
        }
    }

    /// The number of literals.
    pub fn len(&self) -> u32 {
        self.holds.count_ones() + self.fails.count_ones()
    }

    fn is_tautology(&self) -> bool {
        self.holds & self.fails != 0
    }

    /// What follows from two clauses that differ in whether one predicate holds: both follow from it.
    fn merge(&self, other: &Clause) -> Option<Clause> {
        let opposed = self.holds & other.fails | self.fails & other.holds;
        let merged = Clause {
            holds: self.holds & !opposed,
            fails: self.fails & !opposed,
        };
        let alike =
            merged.holds == other.holds & !opposed && merged.fails == other.fails & !opposed;
        (opposed.count_ones() == 1 && alike).then_some(merged)
    }

    #[cfg(test)]
    fn holds_in(&self, valuation: u32) -> bool {
        self.holds & valuation != 0 || self.fails & !valuation != 0
    }
}

/// Resolution, subsumption and the removal of tautologies, until nothing changes. Of maximal clauses, which speak of the same predicates, only
/// those resolve to no tautology that differ in one; so it goes on from round to round, each with clauses that are shorter by one. Shorter
/// clauses come first.
pub fn normalize(clauses: impl IntoIterator<Item = Clause>) -> Vec<Clause> {
    let mut round: BTreeSet<Clause> = clauses.into_iter().collect();
    round.retain(|clause| !clause.is_tautology());
    let mut all: Vec<Clause> = Vec::new();
    while !round.is_empty() {
        let mut next: BTreeSet<Clause> = BTreeSet::new();
        let mut subsumed: BTreeSet<&Clause> = BTreeSet::new();
        // Which predicates two clauses speak of must be the same: sorted by them, these stand together.
        let mut sorted: Vec<&Clause> = round.iter().collect();
        sorted.sort_by_key(|clause| clause.holds | clause.fails);
        for group in sorted.chunk_by(|a, b| a.holds | a.fails == b.holds | b.fails) {
            for (index, one) in group.iter().enumerate() {
                for other in &group[index + 1..] {
                    if let Some(merged) = one.merge(other) {
                        next.insert(merged);
                        subsumed.extend([*one, *other]);
                    }
                }
            }
        }
        all.extend(
            round
                .iter()
                .filter(|clause| !subsumed.contains(clause))
                .cloned(),
        );
        round = next;
    }
    let mut left = without_implied(all);
    left.sort_by_key(|clause| (clause.len(), clause.holds | clause.fails, clause.holds));
    left
}

/// Clauses without those that are resolvents of others, the longest first. (Resolution alone leaves what follows from the rest.)
fn without_implied(mut clauses: Vec<Clause>) -> Vec<Clause> {
    clauses.sort_by_key(Clause::len);
    for index in (0..clauses.len()).rev() {
        let clause = clauses.remove(index);
        if !follows(&clauses, &clause) {
            clauses.insert(index, clause);
        }
    }
    clauses
}

/// Whether a clause holds wherever the others do.
fn follows(clauses: &[Clause], clause: &Clause) -> bool {
    let used = clauses
        .iter()
        .chain([clause])
        .fold(0, |used, clause| used | clause.holds | clause.fails);
    // The literals of the clause are false: the others must not be all true.
    let free = used & !(clause.holds | clause.fails);
    let mut choice = 0u32;
    loop {
        let valuation = clause.fails | choice;
        let all_hold = clauses
            .iter()
            .all(|other| other.holds & valuation != 0 || other.fails & !valuation != 0);
        if all_hold {
            return false;
        }
        choice = choice.wrapping_sub(free) & free;
        if choice == 0 {
            return true;
        }
    }
}

/// The clauses of at most so many literals (PruneClauses for `k`).
pub fn prune(mut clauses: Vec<Clause>, most: Option<u32>) -> Vec<Clause> {
    if let Some(most) = most {
        clauses.retain(|clause| clause.len() <= most);
    }
    clauses
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const PREDICATES: usize = 4;

    proptest! {
        #[test]
        fn normalised_clauses_mean_the_same(excluded in prop::collection::btree_set(0u32..16, 0..16)) {
            let clauses = excluded.iter().map(|&v| Clause::excluding(v, PREDICATES));
            let normal = normalize(clauses);
            for valuation in 0..16 {
                let holds = normal.iter().all(|clause| clause.holds_in(valuation));
                prop_assert_eq!(holds, !excluded.contains(&valuation));
            }
            for (index, clause) in normal.iter().enumerate() {
                let mut others = normal.clone();
                others.remove(index);
                prop_assert!(!follows(&others, clause));
            }
        }
    }

    #[test]
    fn a_predicate_that_does_not_matter_goes() {
        // (a || b) && (a || !b)
        let clauses = [
            Clause {
                holds: 0b11,
                fails: 0,
            },
            Clause {
                holds: 0b01,
                fails: 0b10,
            },
        ];
        assert_eq!(
            normalize(clauses),
            [Clause {
                holds: 0b01,
                fails: 0
            }]
        );
    }

    #[test]
    fn long_clauses_are_pruned_after_they_are_normalised() {
        let clauses = vec![Clause { holds: 1, fails: 0 }, Clause { holds: 2, fails: 4 }];
        assert_eq!(prune(clauses.clone(), None), clauses);
        assert_eq!(prune(clauses.clone(), Some(1)), clauses[..1]);
    }
}
