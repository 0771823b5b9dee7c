//! How often a function looks at the results of functions that may fail.
//!
//! In: the pointers of an execution that are null where a callee has failed, and the accesses of its log. Out: for each callee the
//! results that are compared with null and those that are followed all the same, for [`crate::settle::results`].

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};

use super::lost_results::LostResults;
use crate::ir::POINTER_BITS;
use crate::symbolic::arena::Arena;
use crate::symbolic::callee::CalledWith;
use crate::symbolic::execution::Execution;
use crate::symbolic::guard::Guard;
use crate::symbolic::log::{Question, UseEvent};
use crate::symbolic::origin::Origin;
use crate::symbolic::term::{Node, Op, Term};

/// Nested choices of a pointer that are looked at.
const MAX_CHOICES: u32 = 8;

/// What a function does with the results of one callee.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Looked {
    pub tested: u32,
    pub untested: u32,
}

/// What a function does with the results of its callees.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Results {
    /// By the callee's name.
    pub of: BTreeMap<String, Looked>,
    /// The findings about results that are not looked at.
    pub unchecked: Vec<Unchecked>,
    pub lost: LostResults,
}

/// A finding about a result that is not looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unchecked {
    pub file: String,
    pub line: u32,
    /// The callee's name.
    pub callee: String,
    /// It is null where the callee has failed; else at times only, for reasons that nobody knows.
    pub fails: bool,
}

/// What a function does with the results of one call.
#[derive(Default)]
struct Seen {
    asked: bool,
    followed: bool,
}

/// Counts the calls whose results a function compares with null, and those whose results it follows only. In each round of a loop a call has
/// another result.
pub fn count(execution: &Execution, arena: &Arena<'_>) -> BTreeMap<String, Looked> {
    let asked_about = asked_about(arena);
    let uses = execution.log.uses.iter();
    let followed: FxHashSet<Term> = uses
        .map(|event| event.base.unwrap_or(event.address))
        .collect();
    // The result of a call in whose place the callee was executed stands for itself.
    let mut calls: BTreeMap<(&str, Result<&str, Term>), Seen> = BTreeMap::new();
    for (&result, callee) in arena.nullable.iter().chain(&arena.null_at_times) {
        let call = call_of(arena, result).ok_or(result);
        let seen = calls.entry((&callee.callee.name, call)).or_default();
        seen.asked |= asked_about.contains(&result) || is_asked(arena, result);
        seen.followed |= followed.contains(&result) && !knows_what_it_asks_for(arena, result);
    }
    let mut found: BTreeMap<String, Looked> = BTreeMap::new();
    for ((callee, _), seen) in calls {
        if seen.asked || seen.followed {
            let looked = found.entry(callee.to_owned()).or_default();
            looked.tested += u32::from(seen.asked);
            looked.untested += u32::from(!seen.asked);
        }
    }
    found
}

/// The pointers that the function compares with null, and each that one of these may be by choice.
fn asked_about(arena: &Arena<'_>) -> FxHashSet<Term> {
    let tested = arena.tested.keys();
    let choices = tested.flat_map(|&pointer| arena.formula.choices(pointer, MAX_CHOICES));
    choices.collect()
}

/// Whether the function itself asks whether a result is null.
pub fn is_asked(arena: &Arena<'_>, result: Term) -> bool {
    let null = arena.null_on.get(&result).copied().unwrap_or_default();
    let mut conditions = arena.formula.guards.support(null).iter();
    arena.tested.contains_key(&result)
        || conditions.any(|condition| arena.own_conditions.contains_key(condition))
}

/// Whether the function has asked another function about the arguments of the call that has returned the pointer of an access, or about the first of
/// them, and comes here by the answer: `if (has(args, 'f')) use(get(args, 'f'))`. A failure to get memory no other function tells.
pub fn is_told_by_another(
    execution: &Execution,
    arena: &Arena<'_>,
    event: &UseEvent,
    paths: Guard,
) -> bool {
    let result = event.base.unwrap_or(event.address);
    let Some(returned) = arena.null_at_times.get(&result) else {
        return false;
    };
    let about_same = |question: &&Question| {
        let asked = &question.called;
        let both = asked.args.len().min(returned.args.len());
        let args = &asked.args[..both];
        let unknown = |arg: &Term| arena.formula.terms.as_const(*arg).is_none();
        asked.callee != returned.callee
            && *args == returned.args[..both]
            && args.iter().any(unknown)
    };
    let on_the_way = arena.formula.unknowns(&[paths]);
    let mut questions = execution.log.questions.iter().filter(about_same);
    questions.any(|question| {
        let mut unknowns = on_the_way.iter();
        unknowns.any(|unknown| question.unknowns.contains(unknown))
    })
}

/// Whether a pointer is what a function has returned that is not known to fail, and nothing that it was called with is an argument of the analysed
/// function itself, or a number; or else something is a pointer that another callee has found for it. What it has made, or read from its own
/// records, it may know to be found: `add(table, key); find(table, key)`; and what a callee has worked out of the one it may know to fit the
/// other: `skip_prefix(path, parent_of(path))`. Of what its callers pass it cannot know that, nor of a number, which comes from outside: an index,
/// an identifier.
pub fn knows_what_it_asks_for(arena: &Arena<'_>, result: Term) -> bool {
    let Some(returned) = arena.null_at_times.get(&result) else {
        return false;
    };
    let args = &returned.args;
    let passed = |&arg: &Term| is_argument(arena, arg) || is_open_number(arena, arg);
    let found = |&arg: &Term| {
        let choices = arena.formula.choices(arg, MAX_CHOICES);
        choices.into_iter().any(|choice| is_found(arena, choice))
    };
    let several = args.len() > 1;
    !args.is_empty() && (!args.iter().any(passed) || several && args.iter().any(found))
}

/// Whether a value is a pointer that a callee has returned or left, or the address of something near what one leads to.
fn is_found(arena: &Arena<'_>, value: Term) -> bool {
    let terms = &arena.formula.terms;
    match terms.node(value) {
        Node::Var(var) => {
            let origin = arena.origins.of(*var);
            terms.width(value) == POINTER_BITS
                && matches!(origin, Origin::Call { .. } | Origin::Unknown)
        }
        Node::Linear { terms, .. } => terms.iter().any(|&(_, part)| is_found(arena, part)),
        _ => false,
    }
}

/// Whether a value is a number, other than a constant or one of several.
fn is_open_number(arena: &Arena<'_>, value: Term) -> bool {
    let terms = &arena.formula.terms;
    if terms.width(value) >= POINTER_BITS {
        return false;
    }
    let constant = |choice: Term| terms.as_const(choice).is_some();
    let chosen = |choice: Term| matches!(terms.node(choice), Node::Op { op: Op::Ite, .. });
    let choices = arena.formula.choices(value, MAX_CHOICES);
    choices.into_iter().any(|it| !constant(it) && !chosen(it))
}

/// Whether a value is an argument of the analysed function, or the address of something near what one leads to.
fn is_argument(arena: &Arena<'_>, value: Term) -> bool {
    match arena.formula.terms.node(value) {
        Node::Var(var) => matches!(arena.origins.of(*var), Origin::Param(_)),
        Node::Op {
            op: Op::Extract { .. } | Op::Zext | Op::Sext,
            args,
        } => is_argument(arena, args[0]),
        Node::Linear { terms, .. } => terms.iter().any(|&(_, part)| is_argument(arena, part)),
        _ => false,
    }
}

/// The function whose result the pointer of an access is, and whether it is null where that one has failed.
pub fn callee_of(arena: &Arena<'_>, event: &UseEvent) -> Option<(String, bool)> {
    let result = event.base.unwrap_or(event.address);
    let of = |results: &FxHashMap<Term, CalledWith>| {
        let called = results.get(&result)?;
        Some(called.callee.name.clone())
    };
    let fails = of(&arena.nullable).map(|callee| (callee, true));
    fails.or_else(|| Some((of(&arena.null_at_times)?, false)))
}

/// The call whose result a pointer is, as the source has it.
pub fn call_of<'a>(arena: &'a Arena<'_>, result: Term) -> Option<&'a str> {
    let Node::Var(var) = *arena.formula.terms.node(result) else {
        return None;
    };
    match arena.origins.of(var) {
        Origin::Call { text, .. } => Some(text),
        _ => None,
    }
}
