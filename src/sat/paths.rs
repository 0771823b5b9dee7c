//! Paths through a guard's diagram: conjunctions of literals, each enough for the guard to hold.
//!
//! In: a guard's decisions, the value that each condition has so far. Out: the path to TRUE on which the fewest
//! conditions change. What is known to contradict itself is kept here, too.

use rustc_hash::FxHashMap;

use super::slice::Literal;
use crate::symbolic::guard::{Cond, Decision};

/// A path to TRUE, ascending, and how many of its literals differ from the values given.
#[derive(Clone, Debug)]
pub struct Path {
    pub literals: Vec<Literal>,
    pub changes: u32,
}

/// The path of a guard that is not FALSE.
pub fn nearest(decisions: &[Decision], value_of: &mut dyn FnMut(Cond) -> bool) -> Path {
    let mut values: FxHashMap<Cond, bool> = FxHashMap::default();
    // For each node the fewest changes from there to TRUE, the literal to take and where it leads.
    let none = (Cond(0), false);
    let mut steps: Vec<(u32, Literal, usize)> = vec![(u32::MAX, none, 0), (0, none, 1)];
    for decision in decisions {
        let cond = decision.cond;
        let as_is = *values.entry(cond).or_insert_with(|| value_of(cond));
        let edge = |value: bool| if value { decision.high } else { decision.low };
        let keep = steps[edge(as_is)].0;
        let change = steps[edge(!as_is)].0.saturating_add(1);
        let (changes, taken) = match keep <= change {
            true => (keep, as_is),
            false => (change, !as_is),
        };
        steps.push((changes, (cond, taken), edge(taken)));
    }
    let mut at = steps.len() - 1;
    let changes = steps[at].0;
    let mut literals = Vec::new();
    while at > 1 {
        let (_, literal, next) = steps[at];
        literals.push(literal);
        at = next;
    }
    Path { literals, changes }
}

/// Sets of literals, ascending, that were found not to hold together; by their last literals.
#[derive(Default)]
pub struct Conflicts {
    all: FxHashMap<Literal, Vec<Vec<Literal>>>,
}

impl Conflicts {
    pub fn add(&mut self, literals: &[Literal]) {
        if let Some(&last) = literals.last() {
            self.all.entry(last).or_default().push(literals.to_vec());
        }
    }

    /// A conflict among these literals, which ascend.
    pub fn among(&self, literals: &[Literal]) -> Option<&[Literal]> {
        let known = |literal: &Literal| literals.binary_search(literal).is_ok();
        let ending = literals.iter().filter_map(|last| self.all.get(last));
        let found = ending.flatten().find(|conflict| conflict.iter().all(known));
        found.map(|conflict| &conflict[..])
    }
}
