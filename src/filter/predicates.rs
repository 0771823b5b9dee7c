//! The predicates that a specification may be made of (ACSpec §4.4).
//!
//! In: a view and which of its checks are asked about. Out: conditions. Assignments are eliminated already: a condition of an execution is
//! one of its inputs and of what callees returned.

use std::collections::BTreeSet;

use super::outside;
use super::view::View;
use crate::sat::oracle::Oracle;
use crate::symbolic::guard::Cond;
use crate::symbolic::origin::Origin;
use crate::symbolic::term::{Node, Op};

/// Which of the two abstractions is made (ACSpec Figure 4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Configuration {
    pub ignore_conditionals: bool,
    pub havoc_returns: bool,
}

impl Configuration {
    pub const CONC: Configuration = Configuration {
        ignore_conditionals: false,
        havoc_returns: false,
    };
    pub const A0: Configuration = Configuration {
        ignore_conditionals: false,
        havoc_returns: true,
    };
    pub const A1: Configuration = Configuration {
        ignore_conditionals: true,
        havoc_returns: false,
    };
    pub const A2: Configuration = Configuration {
        ignore_conditionals: true,
        havoc_returns: true,
    };

    pub fn name(self) -> &'static str {
        match (self.ignore_conditionals, self.havoc_returns) {
            (false, false) => "conc",
            (false, true) => "a0",
            (true, false) => "a1",
            (true, true) => "a2",
        }
    }
}

/// The predicates for some checks of a view, in order.
pub fn predicates(
    view: &View,
    oracle: &mut Oracle<'_>,
    configuration: Configuration,
    checks: &[usize],
) -> Vec<Cond> {
    let mut found: BTreeSet<Cond> = BTreeSet::new();
    for check in checks.iter().map(|&index| &view.checks[index]) {
        let mut own: Vec<Cond> = check.asserted.clone();
        if !configuration.ignore_conditionals {
            own.extend(oracle.formula.guards.support(check.alone));
        }
        own.retain(|condition| !check.exists.contains(condition));
        let answered = own
            .iter()
            .any(|&condition| outside::is_about(oracle, condition));
        if answered && outside::is_free_on(oracle, check.alone) {
            own.retain(|&condition| !outside::is_about(oracle, condition));
        }
        found.extend(own);
    }
    // What is known to go either way is for no caller to say.
    found.retain(|condition| !view.facts.contains(condition) && !is_open(oracle, *condition));
    if configuration.havoc_returns {
        found.retain(|&condition| !of_callee(oracle, condition));
    }
    found.into_iter().collect()
}

/// What a condition is about, as far as a specification can say it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Atom {
    /// An object was in a state on entry.
    State,
    /// A pointer is null.
    Null,
    /// Two pointers are equal.
    Alias,
    /// A number is smaller than another.
    Bound,
    Other,
}

impl Atom {
    pub fn of(oracle: &Oracle<'_>, condition: Cond) -> Atom {
        let terms = &oracle.formula.terms;
        match terms.node(oracle.formula.cond_term(condition)) {
            Node::Var(var) if matches!(oracle.origins.of(*var), Origin::State { .. }) => {
                Atom::State
            }
            Node::Op { op: Op::Eq, args } => {
                let literal = oracle.formula.guards.literal(condition, true);
                match oracle.compared_with_null(literal).is_empty() {
                    false => Atom::Null,
                    true if args.iter().all(|&arg| terms.is_pointer(arg)) => Atom::Alias,
                    true => Atom::Other,
                }
            }
            Node::Op {
                op: Op::Ult | Op::Ule | Op::Slt | Op::Sle,
                ..
            } => Atom::Bound,
            _ => Atom::Other,
        }
    }
}

/// The beginnings of names of functions that return any value (`havoc`): no specification speaks of that.
const NONDETERMINISTIC: [&str; 2] = ["__cassini_nondet", "__VERIFIER_nondet"];

/// Whether a condition is about a value that may be any.
pub fn is_open(oracle: &Oracle<'_>, condition: Cond) -> bool {
    let term = oracle.formula.cond_term(condition);
    let vars = oracle.formula.vars(term).into_iter();
    vars.map(|var| oracle.origins.of(var))
        .any(|origin| match origin {
            Origin::Call { text, .. } => NONDETERMINISTIC.iter().any(|name| text.starts_with(name)),
            _ => false,
        })
}

/// Whether a condition is about what a callee has returned or left.
pub fn of_callee(oracle: &Oracle<'_>, condition: Cond) -> bool {
    let term = oracle.formula.cond_term(condition);
    let vars = oracle.formula.vars(term).into_iter();
    vars.map(|var| oracle.origins.of(var))
        .any(|origin| matches!(origin, Origin::Call { .. } | Origin::Unknown))
}
