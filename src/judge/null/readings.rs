//! The readings under which a pointer is not null where it is followed.
//!
//! In: the access, why its pointer may be null, and the paths on which it is. Out: what it rests on that it is: what callees do, how loops end, what
//! nobody asks for.

use std::ops::Range;

use super::{Reason, tested};
use crate::finding::ExplanationKind as Kind;
use crate::ir::{Arg, Body, ExprKind, StmtKind, Ty};
use crate::judge::explanation::callee;
use crate::sat::oracle::Oracle;
use crate::symbolic::arena::Arena;
use crate::symbolic::execution::Execution;
use crate::symbolic::guard::{Cond, Guard};
use crate::symbolic::log::{Site, UseEvent};
use crate::symbolic::origin::Origin;
use crate::symbolic::term::Var;

/// The readings under which the pointer is not null.
pub(super) fn readings(
    execution: &Execution,
    oracle: &mut Oracle<'_>,
    body: &Body,
    event: &UseEvent,
    reason: Reason,
    paths: Guard,
) -> Vec<Kind> {
    let mut kinds = Vec::new();
    let plain = tested(oracle, event).is_some_and(|tested| tested.plain);
    // A test behind the access says that it may be null here, whatever made it so.
    let mut late_tests = execution.log.late_tests.iter();
    let tested_late = late_tests.any(|test| test.pointer == event.address);
    let rests_on = match reason {
        Reason::Constant if !tested_late => {
            RestsOn::of_constant(execution, oracle, body, event, paths)
        }
        Reason::Tested if !tested_late => RestsOn {
            ends_loop: !plain,
            ..RestsOn::default()
        },
        Reason::Unchecked if !tested_late => RestsOn {
            unasked: rests_on_unasked(oracle, event, paths),
            ..RestsOn::default()
        },
        _ => RestsOn::default(),
    };
    // Another method need not follow it.
    if rests_on.foreign || event.by_method {
        kinds.push(Kind::CalleeSucceeds);
    }
    if rests_on.unasked {
        kinds.push(Kind::NeverNull);
    }
    if rests_on.ends_loop && !is_found_null(body, event) {
        kinds.push(Kind::SearchSucceeds);
    }
    if !possibly_null_unchanged(execution, oracle, event, paths)
        || perhaps_set_by_callee(execution, oracle, event, paths)
        || perhaps_set_where_null(execution, oracle, event, paths)
    {
        kinds.push(Kind::ChangedByCallee);
    }
    if event
        .base
        .is_some_and(|base| oracle.read_as_several.contains(&base))
    {
        kinds.push(Kind::AnotherMember);
    }
    if decided_by_end(execution, oracle, event, paths)
        || reason == Reason::Unchecked && asks_for_more_of_call(oracle, event, paths)
        || callee::rests_on_untold(oracle, paths)
    {
        kinds.push(Kind::CalleeOutcome);
    }
    let warned = oracle.warned;
    // What a failed assertion tells is no mistake; but a null pointer that the source itself hands to the call is none of what it tells.
    let fails_anyhow =
        !is_written_null(body, event) && ends_program(execution, oracle, event, paths);
    if fails_anyhow || oracle.formula.guards.implies(paths, warned) {
        kinds.push(Kind::AfterWarning);
    }
    kinds
}

/// Whether the pointer may be null on these paths even if callees change nothing of what decides that.
fn possibly_null_unchanged(
    execution: &Execution,
    oracle: &mut Oracle<'_>,
    event: &UseEvent,
    paths: Guard,
) -> bool {
    let unchanged = execution.unchanged(oracle, paths);
    unchanged == paths || oracle.model_of_null(unchanged, event.base).is_some()
}

/// Whether the access comes only behind a test that has found the pointer null.
fn is_found_null(body: &Body, event: &UseEvent) -> bool {
    let pointer = event.expr.and_then(|address| body.pointer_of(address));
    let here = event.stack.first();
    let found = here.zip(pointer);
    found.is_some_and(|(here, pointer)| body.is_found_null(pointer, |pos| here.is_at(pos)))
}

/// What it rests on that a null pointer is followed.
#[derive(Default)]
struct RestsOn {
    /// Something that the function itself does not ask for.
    foreign: bool,
    /// That a pointer is null which nobody compares with null.
    unasked: bool,
    /// That a loop ends.
    ends_loop: bool,
}

impl RestsOn {
    /// Of a null constant: what these paths rest on, unless all that follow it in the same statement rest on less.
    fn of_constant(
        execution: &Execution,
        oracle: &mut Oracle<'_>,
        body: &Body,
        event: &UseEvent,
        paths: Guard,
    ) -> RestsOn {
        let to_call = leading_to_written_null(execution, oracle, body, event);
        let rests_on = RestsOn::of_paths(oracle, &to_call, paths);
        if !rests_on.foreign {
            return rests_on;
        }
        let all = null_in_statement(execution, oracle, event);
        let of_all = RestsOn::of_paths(oracle, &to_call, all);
        match of_all.foreign {
            true => rests_on,
            false => of_all,
        }
    }

    /// `to_call`: the conditions that lead to the call which follows it.
    fn of_paths(oracle: &mut Oracle<'_>, to_call: &[Cond], paths: Guard) -> RestsOn {
        let mut rests_on = RestsOn::default();
        for condition in oracle.formula.guards.support(paths).to_vec() {
            let term = oracle.formula.cond_term(condition);
            // What the world outside the program answers, it may answer to any call.
            if to_call.contains(&condition)
                || is_asked_on(oracle, condition, paths)
                || oracle.is_from_outside(term)
            {
                continue;
            }
            rests_on.foreign |= oracle.is_foreign(condition);
            rests_on.unasked |= is_unasked(oracle, condition);
            match oracle.own_conditions.get(&condition) {
                Some(plain) => rests_on.ends_loop |= !plain,
                None => rests_on.foreign = true,
            }
        }
        rests_on
    }
}

/// Whether a result is null only where some other pointer is that nobody compares with null: `find(of)`, which returns null for null. Or where a
/// number is one that the function does not ask for, which it was called with or has found there: `state_of(nodes)`, which returns null
/// for none.
fn rests_on_unasked(oracle: &mut Oracle<'_>, event: &UseEvent, paths: Guard) -> bool {
    let only = match event.base {
        Some(base) => {
            let mut known = oracle.null_only.iter();
            known
                .find(|(result, _)| *result == base)
                .map(|known| known.1)
        }
        None => Some(oracle.chosen_null(event.address)),
    };
    let conditions = only.map(|only| oracle.formula.guards.support(only).to_vec());
    conditions.into_iter().flatten().any(|condition| {
        let null = oracle.formula.guards.literal(condition, true);
        let valid = oracle.formula.guards.and_not(paths, null);
        // That a function has failed which a callee calls is what callers have to look for.
        let of_call = oracle.is_from_calls(oracle.formula.cond_term(condition));
        !of_call
            && (is_unasked(oracle, condition) || is_unasked_number(oracle, condition))
            && !oracle.possible_for_nulls(valid, event.base.as_slice())
    })
}

/// The paths on which some access that one statement makes follows a null constant: a callee that is executed in place of its call may do so on
/// each of its ways.
fn null_in_statement(execution: &Execution, oracle: &mut Oracle<'_>, event: &UseEvent) -> Guard {
    let alike = |other: &&UseEvent| {
        let mut followed = other.statement();
        other.base.is_none() && followed.any(|it| event.statement().any(|own| own == it))
    };
    let uses = execution.log.uses.iter().filter(alike);
    let null: Vec<Guard> = uses.map(|other| other.null).collect();
    oracle.formula.guards.union(null)
}

/// The conditions that lead to the call to which the source itself hands a null constant, if the access is made in it: whatever leads to the
/// call leads to that.
fn leading_to_written_null(
    execution: &Execution,
    oracle: &mut Oracle<'_>,
    body: &Body,
    event: &UseEvent,
) -> Vec<Cond> {
    let mut conditions = Vec::new();
    let mut add = |paths: Guard| {
        conditions.extend_from_slice(oracle.formula.guards.support(paths));
    };
    if is_written_null(body, event) {
        let uses = execution.log.uses.iter();
        // In each round of a loop other conditions lead there.
        let here = uses.filter(|other| other.stack == event.stack);
        here.filter_map(|other| other.called_on).for_each(add);
    } else if is_handed_to_inlined(body, event) {
        event.called_on.into_iter().for_each(&mut add);
        let before = execution.log.branches.iter().take(event.branches);
        for branch in before.filter(|branch| branch.depth == 0) {
            add(branch.path);
            add(branch.guard);
        }
    }
    conditions
}

/// Whether the access is made in a callee whose body is executed in place of the call, and an argument of the call is a null constant in
/// the source.
fn is_handed_to_inlined(body: &Body, event: &UseEvent) -> bool {
    let [call, .., _] = &event.stack[..] else {
        return false;
    };
    let is_null = |arg: &Arg| match *arg {
        Arg::Scalar(arg) => {
            let arg = body.expr(arg);
            arg.ty == Ty::Ptr && arg.kind == ExprKind::Const(0)
        }
        Arg::Record { .. } => false,
    };
    let stmts = body.blocks.iter().flat_map(|block| &block.stmts);
    let mut here = stmts.filter(|stmt| call.is_at(stmt.pos));
    here.any(|stmt| match &stmt.kind {
        StmtKind::Call(call) => call.args.iter().any(is_null),
        _ => false,
    })
}

/// Whether the pointer is an argument that is a null constant in the source.
fn is_written_null(body: &Body, event: &UseEvent) -> bool {
    event.text.is_some()
        && event
            .expr
            .is_some_and(|argument| body.expr(argument).kind == ExprKind::Const(0))
}

/// Whether the pointer lies in memory, and on all these paths a function was called before whose analysis is missing or was cut short: what
/// that one writes is not known.
fn perhaps_set_by_callee(
    execution: &Execution,
    oracle: &mut Oracle<'_>,
    event: &UseEvent,
    paths: Guard,
) -> bool {
    let place = event.base.and_then(|base| oracle.initial_place(base));
    if place.is_none() {
        return false;
    }
    let calls = execution.log.lost_calls.iter();
    let before = calls.filter(|(_, order)| *order <= event.order);
    let guards = &mut oracle.formula.guards;
    let called = before.fold(Guard::FALSE, |all, (call, _)| guards.or(all, *call));
    guards.implies(paths, called)
}

/// Whether on all these paths a callee that may have set the pointer was called where it was known to be null: `if (!s->text) make_text(s);`.
fn perhaps_set_where_null(
    execution: &Execution,
    oracle: &mut Oracle<'_>,
    event: &UseEvent,
    paths: Guard,
) -> bool {
    let Some(base) = event.base else {
        return false;
    };
    let null = oracle.null_paths(base);
    oracle.initial_place(base).is_some_and(|place| {
        execution.perhaps_written(oracle, (place, Some(null)), event.before, paths)
    })
}

/// Whether the function itself asks, on paths that have these before them or behind them, for a condition by which a callee has made a pointer
/// null: then no callee sees to it that it is not.
fn is_asked_on(oracle: &mut Oracle<'_>, condition: Cond, paths: Guard) -> bool {
    let Some(&tested) = oracle.tested_on.get(&condition) else {
        return false;
    };
    if !oracle.is_foreign(condition) {
        return false;
    }
    // What comes behind the access is not come to where the pointer is null: it was followed.
    let guards = &mut oracle.formula.guards;
    let either = guards.for_either(paths, condition);
    !guards.excludes(either, tested)
}

/// Whether a function that ends the program on some of its paths, or one that a pointer names and that may be any, was called because the pointer is
/// null: `if (!p) (*out_of_memory)();`. There may be further reasons: `if (!p || !*p) (*out_of_memory)();`.
fn decided_by_end(
    execution: &Execution,
    oracle: &mut Oracle<'_>,
    event: &UseEvent,
    paths: Guard,
) -> bool {
    let null = oracle.null_paths(event.base.unwrap_or(event.address));
    // Nobody calls a function because a constant is null.
    if null == Guard::TRUE {
        return false;
    }
    let guards = &mut oracle.formula.guards;
    let is_null = guards.as_literal(null).map(|(condition, _)| condition);
    let may_end = execution.log.may_end.iter().map(|call| call.guard);
    let mut calls = may_end.chain(execution.log.calls_of_any(event.before));
    calls.any(|call| {
        let because = guards.implies(call, null)
            || is_null.is_some_and(|condition| {
                let either = guards.for_either(paths, condition);
                !guards.implies(either, call)
            });
        because && guards.implies(paths, call)
    })
}

/// Whether the function comes here by what it has asked of something else that the same call has written which has made the pointer:
/// `items = read_items(&count); for (i = 0; i < count; i++) use(items[i]);`. How the two go together the summary does not tell.
fn asks_for_more_of_call(oracle: &Oracle<'_>, event: &UseEvent, paths: Guard) -> bool {
    let pointer = oracle.formula.vars(event.base.unwrap_or(event.address));
    let made = |unknowns: &&Range<Var>| pointer.iter().any(|var| unknowns.contains(var));
    let Some(unknowns) = oracle.applied.iter().find(made) else {
        return false;
    };
    let result = |var: &Var| matches!(oracle.origins.of(*var), Origin::Call { answer: 0, .. });
    let more = |var: &Var| unknowns.contains(var) && !pointer.contains(var) && !result(var);
    let mut conditions = oracle.formula.guards.support(paths).iter();
    conditions.any(|condition| {
        oracle.own_conditions.contains_key(condition)
            && oracle.formula.vars_of(*condition).iter().any(more)
    })
}

/// Whether the access is made in a call behind which the same statement ends the program: a failed assertion that tells what it knows.
fn ends_program(
    execution: &Execution,
    oracle: &mut Oracle<'_>,
    event: &UseEvent,
    paths: Guard,
) -> bool {
    let Some(site) = event.stack.first().filter(|_| is_in_callee(event)) else {
        return false;
    };
    let guards = &mut oracle.formula.guards;
    let place = |site: &Site| (site.file.clone(), site.line);
    let mut ends = execution.log.ends.iter();
    ends.any(|end| place(&end.site) == place(site) && guards.implies(paths, end.guard))
}

fn is_in_callee(event: &UseEvent) -> bool {
    event.text.is_some() || event.stack.len() > 1
}

/// Whether a condition says that a number of the caller's is one that the function does not itself ask for.
fn is_unasked_number(arena: &Arena<'_>, condition: Cond) -> bool {
    let terms = &arena.formula.terms;
    let compared = terms.as_equal_to_const(arena.formula.cond_term(condition));
    compared.is_some_and(|(number, _)| {
        !terms.is_pointer(number)
            && arena.is_from_entry(number)
            && !arena.own_conditions.contains_key(&condition)
    })
}

/// Whether a condition says that an unknown pointer is null which the function does not itself compare with null: it is compared with
/// a variable that happens to be null.
fn is_unasked(arena: &Arena<'_>, condition: Cond) -> bool {
    let terms = &arena.formula.terms;
    let compared = terms.as_equal_to_const(arena.formula.cond_term(condition));
    compared.is_some_and(|(pointer, number)| {
        number == 0
            && terms.is_pointer(pointer)
            && !arena.tested.contains_key(&pointer)
            // What the world outside the program answers may be either.
            && !arena.is_from_outside(pointer)
    })
}
