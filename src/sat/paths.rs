//! Paths through a guard's diagram: conjunctions of literals, each enough for the guard to hold.
//!
//! In: a guard, the value that each condition has so far. Out: the path to TRUE on which the fewest
//! conditions change. What is known to contradict itself is kept here, too.

use rustc_hash::FxHashMap;

use super::slice::Literal;
use crate::symbolic::formula::Formula;
use crate::symbolic::guard::{Cond, Guard, Guards};

/// A path to TRUE, ascending, and how many of its literals differ from the values given.
#[derive(Clone, Debug)]
pub struct Path {
    pub literals: Vec<Literal>,
    pub changes: u32,
}

/// `None` for FALSE.
pub fn nearest(
    guards: &Guards,
    g: Guard,
    value_of: &mut dyn FnMut(Cond) -> bool,
) -> Option<Path> {
    let support = guards.support(g);
    let values: Vec<bool> = support.iter().map(|&cond| value_of(cond)).collect();
    let value = |cond| {
        let at = support.binary_search(&cond);
        at.ok().and_then(|at| values.get(at).copied()).unwrap_or(false)
    };
    // For each node the fewest changes from there to TRUE, the literal to take and where it leads.
    let mut steps: Vec<(u32, Literal, usize)> = vec![
        (u32::MAX, (Cond(0), false), 0),
        (0, (Cond(0), false), 1),
    ];
    for decision in guards.decisions(g) {
        let as_is = value(decision.cond);
        let edge = |value: bool| if value { decision.high } else { decision.low };
        let (keep, change) = (steps[edge(as_is)].0, steps[edge(!as_is)].0.saturating_add(1));
        let (changes, taken) = if keep <= change { (keep, as_is) } else { (change, !as_is) };
        steps.push((changes, (decision.cond, taken), edge(taken)));
    }
    let mut at = match g {
        Guard::FALSE => 0,
        Guard::TRUE => 1,
        _ => steps.len() - 1,
    };
    let changes = steps[at].0;
    if changes == u32::MAX {
        return None;
    }
    let mut literals = Vec::new();
    while at > 1 {
        let (_, literal, next) = steps[at];
        literals.push(literal);
        at = next;
    }
    Some(Path { literals, changes })
}

/// Literals that were found not to hold together.
struct Conflict {
    literals: Vec<Literal>,
    /// That they do not.
    clause: Guard,
}

/// Conflicts found so far, by their last literals.
#[derive(Default)]
pub struct Conflicts {
    all: FxHashMap<Literal, Vec<Conflict>>,
}

impl Conflicts {
    pub fn add(&mut self, f: &mut Formula, literals: Vec<Literal>) -> Guard {
        let clause = clause(f, &literals);
        if let Some(&last) = literals.last() {
            let conflict = Conflict { literals, clause };
            self.all.entry(last).or_default().push(conflict);
        }
        clause
    }

    /// The clause of a conflict among these literals, which ascend.
    pub fn among(&self, literals: &[Literal]) -> Option<Guard> {
        let known = |literal: &Literal| literals.binary_search(literal).is_ok();
        let ending = literals.iter().filter_map(|last| self.all.get(last));
        let found = ending
            .flatten()
            .find(|conflict| conflict.literals.iter().all(known));
        found.map(|conflict| conflict.clause)
    }
}

/// That not all of the literals hold.
pub fn clause(f: &mut Formula, literals: &[Literal]) -> Guard {
    literals.iter().rev().fold(Guard::FALSE, |clause, &(cond, value)| {
        let other = f.guards.literal(cond, !value);
        f.guards.or(other, clause)
    })
}
