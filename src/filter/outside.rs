//! What the world outside the program answers: a random number, a byte of a file, a variable of the environment.
//!
//! In: conditions and the paths on which a check fails. Out: whether a specification may speak of those conditions. The world answers as it likes, so that
//! neither callers nor callees can promise an answer; but whoever asks the same twice may count on the same answer, as of `getenv("HOME")`.

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::sat::oracle::Oracle;
use crate::symbolic::guard::{Cond, Guard};
use crate::symbolic::origin::Origin;
use crate::symbolic::term::Term;

/// Whether a condition is about such answers alone. What compares one with something else is for a specification to say: `fwrite(…) == read`.
pub fn is_about(oracle: &Oracle<'_>, condition: Cond) -> bool {
    oracle.is_from_outside(oracle.formula.cond_term(condition))
}

/// Whether some of these paths are taken if calls that read alike get the same answer: then the answers are free on them.
pub fn is_free_on(oracle: &mut Oracle<'_>, paths: Guard) -> bool {
    let conditions = oracle.formula.guards.support(paths).to_vec();
    let mut firsts: BTreeMap<(Rc<str>, u32, u16), Term> = BTreeMap::new();
    let mut alike = paths;
    for condition in conditions {
        for &var in &*oracle.formula.vars_of(condition) {
            let Origin::Call {
                text,
                answer,
                outside: true,
            } = oracle.origins.of(var).clone()
            else {
                continue;
            };
            let value = oracle.formula.terms.var_term(var);
            let key = (text, answer, oracle.formula.terms.width(value));
            let first = *firsts.entry(key).or_insert(value);
            if first != value {
                let same = oracle.formula.terms.eq(first, value);
                let same = oracle.formula.guard_of(same);
                alike = oracle.formula.guards.and(alike, same);
            }
        }
    }
    matches!(oracle.solve(alike), Ok(Some(_)))
}
