//! Angelic verification (CAV'15): a failure counts if no acceptable specification of the inputs and callees blocks it.
//!
//! In: a view. Out: the checks that are warned of (Algorithm 1), and the specification that blocks all others. An angelic assertion lies at
//! each place that the code itself reaches where a pointer is null: a specification that says that it never is one is not acceptable.

use std::collections::BTreeSet;

use super::outside;
use super::predicates::{Atom, is_open, of_callee};
use super::view::{Check, View};
use crate::sat::oracle::{Oracle, OutOfBudget};
use crate::symbolic::guard::{Cond, Guard};
use crate::symbolic::model::Model;

/// Failing traces of one function that are blocked.
const MAX_TRACES: usize = 48;

/// What the atoms of a specification may be about (`Vocab.Atoms`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Vocabulary {
    /// Whether two pointers are equal.
    pub aliasing: bool,
    /// The state of an object on entry.
    pub states: bool,
    /// Whether a pointer is null.
    pub null: bool,
    /// Which of two numbers is larger; also whether they are equal, where the check itself asks for that.
    pub bounds: bool,
    /// All of these also of what a callee has returned or left.
    pub callees: bool,
}

impl Vocabulary {
    pub const DEFAULT: Vocabulary = Vocabulary {
        aliasing: true,
        states: true,
        null: true,
        bounds: true,
        callees: true,
    };

    fn has(self, view: &View, oracle: &Oracle<'_>, condition: Cond) -> bool {
        if view.facts.contains(&condition)
            || is_open(oracle, condition)
            || outside::is_about(oracle, condition)
        {
            return false;
        }
        if !self.callees && of_callee(oracle, condition) {
            return false;
        }
        match Atom::of(oracle, condition) {
            Atom::State => self.states,
            Atom::Null => self.null,
            Atom::Alias => self.aliasing,
            Atom::Bound => self.bounds,
            Atom::Other => false,
        }
    }
}

/// A disjunction of conditions that hold, or do not.
pub type Disjunction = Vec<(Cond, bool)>;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Angelic {
    /// The checks whose failure no acceptable specification blocks, by number in the view.
    pub warnings: BTreeSet<usize>,
    /// What blocks the failures of each other check that may fail, by its number.
    pub specification: Vec<(usize, Disjunction)>,
}

/// Algorithm 1.
pub fn verify(
    view: &View,
    oracle: &mut Oracle<'_>,
    vocabulary: Vocabulary,
) -> Result<Angelic, OutOfBudget> {
    let mut found = Angelic {
        warnings: BTreeSet::new(),
        specification: Vec::new(),
    };
    let assertions = angelic_assertions(view, oracle)?;
    let mut blocked = oracle.formula.guards.not(view.axioms);
    let mut traces = 0;
    for (number, check) in view.checks.iter().enumerate() {
        loop {
            let fails = view.failing(check);
            let failing = oracle.formula.guards.and_not(fails, blocked);
            let Some(trace) = oracle.solve(failing)? else {
                break;
            };
            traces += 1;
            if traces > MAX_TRACES {
                return Err(OutOfBudget);
            }
            let explained = explain_error(view, oracle, vocabulary, check, &trace);
            let blocks = oracle.formula.guards.cube(&explained);
            let more = oracle.formula.guards.or(blocked, blocks);
            if explained.is_empty() || !permissive(oracle, &assertions, more)? {
                found.warnings.insert(number);
                break;
            }
            blocked = more;
            let negated = explained
                .into_iter()
                .map(|(condition, holds)| (condition, !holds));
            found.specification.push((number, negated.collect()));
        }
    }
    Ok(found)
}

/// The places where the code itself says that a pointer is null, which some input reaches.
fn angelic_assertions(view: &View, oracle: &mut Oracle<'_>) -> Result<Vec<Guard>, OutOfBudget> {
    // Some input is let in at all.
    let mut assertions = vec![Guard::TRUE];
    for location in view.locations.iter().filter(|location| location.angelic) {
        let reach = oracle.formula.guards.and(location.reach, view.axioms);
        if oracle.solve(reach)?.is_some() {
            assertions.push(reach);
        }
    }
    Ok(assertions)
}

/// Whether each of these places is reached by some input that is not blocked.
fn permissive(
    oracle: &mut Oracle<'_>,
    assertions: &[Guard],
    blocked: Guard,
) -> Result<bool, OutOfBudget> {
    for &reach in assertions {
        let left = oracle.formula.guards.and_not(reach, blocked);
        if oracle.solve(left)?.is_none() {
            return Ok(false);
        }
    }
    Ok(true)
}

/// ExplainError with the Boolean structure MONOMIAL: the literals of one failing trace that the vocabulary has, all of which hold on it. To
/// negate one blocks the trace; to exclude them together blocks it least. Empty if the vocabulary has none.
///
/// Branches that the failure does not hang on are left out first (ControlSlice); assignments to memory are eliminated already.
fn explain_error(
    view: &View,
    oracle: &mut Oracle<'_>,
    vocabulary: Vocabulary,
    check: &Check,
    trace: &Model,
) -> Vec<(Cond, bool)> {
    let failing = check.alone;
    let support = oracle.formula.guards.support(failing).to_vec();
    let mut literals: Vec<(Cond, bool)> = Vec::new();
    for condition in support {
        let holds = oracle.formula.guards.literal(condition, true);
        literals.push((condition, trace.eval_guard(&oracle.formula, holds)));
    }
    let told = |oracle: &Oracle<'_>, condition: Cond| {
        !check.exists.contains(&condition) && vocabulary.has(view, oracle, condition)
    };
    // What the vocabulary lacks is dropped first, what the check itself asks for last.
    let mut order: Vec<Cond> = literals.iter().map(|literal| literal.0).collect();
    order.sort_by_key(|condition| {
        (
            check.asserted.contains(condition),
            told(oracle, *condition),
            *condition,
        )
    });
    for condition in order {
        let fewer: Vec<(Cond, bool)> = literals
            .iter()
            .copied()
            .filter(|literal| literal.0 != condition)
            .collect();
        let guards = &mut oracle.formula.guards;
        let cube = guards.cube(&fewer);
        if guards.implies(cube, failing) {
            literals = fewer;
        }
    }
    // What the check asks for blocks it whatever led there; other atoms are needed only if it asks for none that can be told.
    let of_check = |condition: Cond| {
        let number = vocabulary.bounds && !view.facts.contains(&condition);
        check.asserted.contains(&condition)
            && (told(oracle, condition) || number && !is_open(oracle, condition))
    };
    let asked: Vec<(Cond, bool)> = literals
        .iter()
        .copied()
        .filter(|(condition, _)| of_check(*condition))
        .collect();
    match asked.is_empty() {
        false => asked,
        true => {
            literals.retain(|(condition, _)| told(oracle, *condition));
            literals
        }
    }
}
