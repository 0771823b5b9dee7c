//! Specifications in words of the source.

use super::clauses::Clause;
use crate::sat::oracle::Oracle;
use crate::symbolic::guard::Cond;
use crate::symbolic::naming::is_clear;
use crate::symbolic::origin::Origin;
use crate::symbolic::term::{Node, Op, Term};

/// Clauses beyond this number are not told.
const MAX_CLAUSES: usize = 6;
/// Literals of one clause that are told.
const MAX_LITERALS: u32 = 5;

/// What makes no condition on the inputs.
pub const NOTHING: &str = "true";

/// Clauses joined by `&&`, each of literals joined by `||`.
pub fn specification(oracle: &mut Oracle<'_>, predicates: &[Cond], clauses: &[Clause]) -> String {
    if clauses.is_empty() {
        return NOTHING.to_owned();
    }
    let alone = clauses.len() == 1;
    let mut parts: Vec<String> = Vec::new();
    for clause in clauses {
        let literals = literals(oracle, predicates, clause);
        let text = match literals.len() > 1 && !alone {
            true => format!("({})", literals.join(" || ")),
            false => literals.join(" || "),
        };
        // The results of two calls may have one name.
        if parts.contains(&text) {
            continue;
        }
        if parts.len() == MAX_CLAUSES {
            parts.push("…".to_owned());
            break;
        }
        parts.push(text);
    }
    parts.join(" && ")
}

fn literals(oracle: &mut Oracle<'_>, predicates: &[Cond], clause: &Clause) -> Vec<String> {
    let mut literals = Vec::new();
    if clause.len() == 0 {
        return vec!["false".to_owned()];
    }
    if clause.len() > MAX_LITERALS {
        return vec!["…".to_owned()];
    }
    for (number, &predicate) in predicates.iter().enumerate() {
        let bit = 1u32 << number;
        if clause.holds & bit != 0 {
            literals.push(condition(oracle, predicate, true));
        } else if clause.fails & bit != 0 {
            literals.push(condition(oracle, predicate, false));
        }
    }
    literals
}

/// A condition that holds, or does not.
pub fn condition(oracle: &mut Oracle<'_>, condition: Cond, holds: bool) -> String {
    let term = oracle.formula.cond_term(condition);
    truth(oracle, term, holds)
}

fn truth(oracle: &mut Oracle<'_>, term: Term, holds: bool) -> String {
    match oracle.formula.terms.node(term).clone() {
        Node::Var(var) => match oracle.origins.of(var).clone() {
            Origin::State { object, state } => {
                let machine = oracle.machine_of(object);
                let name = oracle.name_of_block(object.loc.region);
                let is = if holds { "is" } else { "is not" };
                format!("{name} {is} {}", machine.state_text(state))
            }
            _ => negated(oracle.name_of_value(term), holds),
        },
        Node::Op { op: Op::Not, args } => truth(oracle, args[0], !holds),
        Node::Op { op: Op::Eq, args } => {
            let (left, right) = ordered(oracle, args[0], args[1]);
            compared(oracle, left, if holds { "==" } else { "!=" }, right)
        }
        Node::Op {
            op: op @ (Op::Ult | Op::Slt | Op::Ule | Op::Sle),
            args,
        } => {
            let strict = matches!(op, Op::Ult | Op::Slt);
            let sign = match (strict, holds) {
                (true, true) => "<",
                (true, false) => ">=",
                (false, true) => "<=",
                (false, false) => ">",
            };
            compared(oracle, args[0], sign, args[1])
        }
        _ => negated(oracle.name_of_value(term), holds),
    }
}

fn negated(text: String, holds: bool) -> String {
    match (holds, text.contains(' ')) {
        (true, _) => text,
        (false, true) => format!("!({text})"),
        (false, false) => format!("!{text}"),
    }
}

/// The constant comes last.
fn ordered(oracle: &Oracle<'_>, left: Term, right: Term) -> (Term, Term) {
    match oracle.formula.terms.as_const(left).is_some() {
        true => (right, left),
        false => (left, right),
    }
}

fn compared(oracle: &mut Oracle<'_>, left: Term, sign: &str, right: Term) -> String {
    let pointer = oracle.formula.terms.is_pointer(left);
    let left = oracle.name_of_value(left);
    let right = match oracle.formula.terms.as_const(right) {
        Some(0) if pointer => "NULL".to_owned(),
        _ => oracle.name_of_value(right),
    };
    format!("{left} {sign} {right}")
}

/// Whether a reader finds in the source what a specification says.
pub fn is_told(specification: &str) -> bool {
    specification != NOTHING && is_clear(specification)
}
