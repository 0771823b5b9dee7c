//! A value is not what it may be as far as the analysis knows: a result, a field of a few bits.
//!
//! In: the paths to a failure. Out: whether it rests on such a value.

use std::collections::{BTreeMap, BTreeSet};

use crate::ir::POINTER_BITS;
use crate::sat::oracle::Oracle;
use crate::summary::infer::Exit;
use crate::symbolic::arena::Arena;
use crate::symbolic::execution::Execution;
use crate::symbolic::guard::{Cond, Guard};
use crate::symbolic::origin::Origin;
use crate::symbolic::term::{Node, Op, Term, Terms};
use crate::symbolic::validity::LAST_POINTER;

/// Parts of a result that is a choice.
const MAX_PARTS: usize = 64;
/// The greatest value of what is taken for a field of a few bits, with a name for each value.
const MAX_FIELD: u128 = 15;

/// Where a part of a result comes from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    /// From memory.
    Kept,
    /// From the caller.
    Passed,
    /// From a callee.
    Called,
}

fn part(arena: &Arena<'_>, term: Term) -> Option<Part> {
    match arena.formula.terms.node(term) {
        Node::Var(var) => Some(match arena.origins.of(*var) {
            Origin::Initial { .. } => Part::Kept,
            Origin::Param(_) => Part::Passed,
            _ => Part::Called,
        }),
        Node::Op {
            op: Op::Sext | Op::Zext,
            args,
        } => part(arena, args[0]),
        // An address that is put together from others.
        Node::Linear { terms, .. } => {
            let mut parts = terms.iter().map(|&(_, summand)| part(arena, summand));
            parts
                .any(|part| part == Some(Part::Kept))
                .then_some(Part::Kept)
        }
        _ => None,
    }
}

/// Whether each of two ways out may be taken with a result that is not by chance one of the other's: what is in memory is
/// neither null nor negative (what is kept in a record is a success, which callers do not take for a failure); what the caller has
/// passed is not 0 and none of the constants that are returned elsewhere (a caller that waits does not ask for a wait of no time);
/// the one constant that a callee's result is known to be on one of them is no other callee's result; and a callee's number that
/// is returned as a pointer, where elsewhere a pointer is (`return ERR_PTR(error)`), is an error number or 0, and not by chance
/// the pointer.
pub fn returns_no_failure_by_chance(
    oracle: &mut Oracle<'_>,
    exit: &Exit<'_>,
    ways: [Guard; 2],
) -> bool {
    let Some(result) = exit.result else {
        return true;
    };
    let (mut parts, mut constants) = (Vec::new(), Vec::new());
    let mut work = vec![result];
    let mut seen = 0;
    while let Some(term) = work.pop() {
        seen += 1;
        match oracle.formula.terms.node(term) {
            Node::Op { op: Op::Ite, args } if seen < MAX_PARTS => work.extend(&args[1..]),
            Node::Const(_) => constants.push(term),
            _ => parts.extend(part(oracle, term).map(|from| (term, from))),
        }
    }
    let known = ways
        .map(|paths| known_results(oracle, &parts, paths))
        .concat();
    let mixed = returns_numbers_as_pointers(oracle, result, &parts);
    let mut failures = Vec::new();
    for &(term, from) in &parts {
        let terms = &mut oracle.formula.terms;
        if mixed && from == Part::Called && is_number(terms, term) {
            let (null, last) = (
                terms.constant(0, POINTER_BITS),
                terms.constant(LAST_POINTER, POINTER_BITS),
            );
            let (is_null, is_error) = (terms.eq(term, null), terms.ult(last, term));
            let (not_null, no_error) = (terms.not(is_null), terms.not(is_error));
            failures.push(terms.and(not_null, no_error));
        }
        let zero = terms.constant(0, terms.width(term));
        let sum = matches!(terms.node(term), Node::Linear { .. });
        match from {
            Part::Kept if terms.is_pointer(term) || sum => failures.push(terms.eq(term, zero)),
            Part::Kept => failures.push(terms.slt(term, zero)),
            Part::Passed => {
                let others = constants.iter().chain([&zero]);
                failures.extend(others.map(|&constant| terms.eq(term, constant)));
            }
            Part::Called => {
                let others = known.iter().filter(|(other, _)| *other != term);
                failures.extend(others.map(|&(_, constant)| terms.eq(term, constant)));
            }
        }
    }
    let failures: Vec<Guard> = failures
        .into_iter()
        .map(|failure| oracle.formula.guard_of(failure))
        .collect();
    ways.into_iter().all(|paths| {
        let mut proper = paths;
        for &failure in &failures {
            proper = oracle.formula.guards.and_not(proper, failure);
        }
        still_possible(oracle, paths, proper)
    })
}

/// Whether a result is a pointer on some paths, and a number that was made one on others.
fn returns_numbers_as_pointers(arena: &Arena<'_>, result: Term, parts: &[(Term, Part)]) -> bool {
    let terms = &arena.formula.terms;
    arena.names.is_pointer(result)
        && terms.width(result) == POINTER_BITS
        && parts.iter().any(|&(term, _)| is_number(terms, term))
        && parts.iter().any(|&(term, _)| !is_number(terms, term))
}

/// Whether a term is a number of fewer bits, made as wide as it is.
fn is_number(terms: &Terms, term: Term) -> bool {
    matches!(
        terms.node(term),
        Node::Op {
            op: Op::Sext | Op::Zext,
            ..
        }
    )
}

/// The callees' results, among the parts of this one's, that are one constant on all of these paths, and not 0, with that
/// constant.
fn known_results(arena: &mut Arena<'_>, parts: &[(Term, Part)], paths: Guard) -> Vec<(Term, Term)> {
    let support = arena.formula.guards.support(paths).to_vec();
    let mut known = Vec::new();
    for condition in support {
        let asked = arena.formula.cond_term(condition);
        let terms = &mut arena.formula.terms;
        let compared = terms.as_equal_to_const(asked);
        let Some((value, number)) = compared.filter(|&(_, number)| number != 0) else {
            continue;
        };
        let equal = arena.formula.guard_of(asked);
        let others = arena.formula.guards.and_not(paths, equal);
        if others != Guard::FALSE {
            continue;
        }
        let terms = &mut arena.formula.terms;
        for &(term, from) in parts {
            let inner = match terms.node(term) {
                Node::Op {
                    op: Op::Sext | Op::Zext,
                    args,
                } => args[0],
                _ => term,
            };
            if from == Part::Called && (term == value || inner == value) {
                let narrow = terms.width(value);
                let wide = terms.width(term);
                let number = terms.constant(number, narrow);
                let number = terms.sext(number, wide);
                known.push((term, number));
            }
        }
    }
    known
}

/// The paths on which each field of a few bits that the function compares with all values that it can have but one has none but
/// these: a state of two bits with three names is never the fourth.
pub fn with_values_in_use(execution: &Execution, arena: &mut Arena<'_>, paths: Guard) -> Guard {
    let mut compared: BTreeMap<(Term, u128), BTreeMap<u128, Guard>> = BTreeMap::new();
    let guards = &arena.formula.guards;
    let asked = execution.log.branches.iter().map(|branch| branch.guard);
    let asked = asked.chain([paths]).flat_map(|asked| guards.support(asked));
    let asked: BTreeSet<Cond> = asked.copied().collect();
    for cond in asked {
        let term = arena.formula.cond_term(cond);
        let terms = &arena.formula.terms;
        let Some((field, number)) = terms.as_equal_to_const(term) else {
            continue;
        };
        let greatest = terms.upper_bound(field);
        if (3..=MAX_FIELD).contains(&greatest) && number <= greatest {
            let equal = arena.formula.guard_of(term);
            for word in words_of(arena, field) {
                let numbers = compared.entry((word, greatest)).or_default();
                let before = numbers.entry(number).or_insert(Guard::FALSE);
                *before = arena.formula.guards.or(*before, equal);
            }
        }
    }
    let mut proper = paths;
    for ((_, greatest), numbers) in compared {
        if numbers.len() as u128 == greatest {
            let one_of_them = arena.formula.guards.union(numbers.into_values());
            proper = arena.formula.guards.and(proper, one_of_them);
        }
    }
    proper
}

/// What the low bits of a value are taken from, as wide as it may be there: all of which it is chosen from, before it was
/// counted on or its low bits were set.
fn words_of(arena: &Arena<'_>, field: Term) -> BTreeSet<Term> {
    let terms = &arena.formula.terms;
    let (mut words, mut seen) = (BTreeSet::new(), 0);
    let mut work = vec![field];
    while let Some(part) = work.pop() {
        seen += 1;
        match terms.node(part) {
            _ if seen > MAX_PARTS => {}
            Node::Const(_) => {}
            Node::Op { op, args } => match op {
                Op::Extract { lo: 0 } | Op::Zext => work.push(args[0]),
                Op::And if terms.as_const(args[1]).is_some() => work.push(args[0]),
                Op::Ite => work.extend(&args[1..]),
                _ => words.extend([part]),
            },
            Node::Linear { terms, .. } if terms.len() == 1 => work.push(terms[0].1),
            _ => words.extend([part]),
        }
    }
    words
}

/// Whether paths known to be possible are so without those that something else explains, which has to be shown.
pub fn still_possible(oracle: &mut Oracle<'_>, paths: Guard, unexplained: Guard) -> bool {
    unexplained == paths || oracle.model(unexplained).is_some()
}
