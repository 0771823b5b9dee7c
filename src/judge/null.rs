//! A pointer is followed where it is null.
//!
//! In: the accesses of the log with the paths on which their pointer is null. Out: one failure for each pointer. An access is looked at
//! only where the code itself gives a reason: it has compared the pointer with null, has stored null, or has the pointer from a function
//! that returns null when it fails.

mod readings;

use rustc_hash::FxHashSet;

use self::readings::readings;
use super::findings::{Failing, Findings, Place};
use super::results::{self, Unchecked};
use crate::finding::{ExplanationKind as Kind, Finding, TraceStep};
use crate::ir::{Body, ExprId, print};
use crate::property::PointerRules;
use crate::sat::oracle::Oracle;
use crate::summary::trace::{self, MADE_NULL};
use crate::symbolic::arena::Arena;
use crate::symbolic::execution::Execution;
use crate::symbolic::guard::{Cond, Guard};
use crate::symbolic::log::{LateTest, Site, Tested, UseEvent};
use crate::symbolic::term::Term;

/// What a null constant is called.
const NULL: &str = "NULL";
/// Failures of one function that are looked at.
const MAX_FAILURES: usize = 32;

/// Why a pointer may be null.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reason {
    /// It is a constant on these paths.
    Constant,
    /// The function has compared it with null.
    Tested,
    /// It is the result of a function that may fail.
    Unchecked,
}

impl Findings<'_> {
    /// Accesses through pointers that are null.
    pub fn null_pointers(&mut self, execution: &Execution, oracle: &mut Oracle<'_>) {
        let Some(rules) = self.property().pointers() else {
            return;
        };
        let mut failed: FxHashSet<Term> = FxHashSet::default();
        let mut told_late: FxHashSet<Term> = FxHashSet::default();
        for test in &execution.log.late_tests {
            let pointer = test.pointer;
            let uses = &execution.log.uses;
            if told_late.contains(&pointer) || !uses.iter().any(|event| follows(event, pointer)) {
                continue;
            }
            let told = self.tested_late(execution, oracle, rules, test);
            // One of several pointers may be a null constant, too.
            if told || uses.iter().any(|event| event.base == Some(pointer)) {
                told_late.insert(pointer);
            }
        }
        let mut looked_at = 0;
        // One pointer may be null for several reasons: it is a constant on some paths, and a result on others.
        let mut told: Vec<(ExprId, &Site)> = Vec::new();
        for (index, event) in execution.log.uses.iter().enumerate() {
            let key = event.base.unwrap_or(event.address);
            let mut pointers = [key, event.address].into_iter();
            if failed.contains(&key) || pointers.any(|pointer| told_late.contains(&pointer)) {
                continue;
            }
            let written = event.expr.zip(event.stack.first());
            if written.is_some_and(|written| told.contains(&written)) {
                continue;
            }
            let null = null_on(oracle, event);
            if null == Guard::FALSE {
                continue;
            }
            looked_at += 1;
            if looked_at > MAX_FAILURES {
                return;
            }
            if self.null_pointer(execution, oracle, rules, (index, event, null)) {
                failed.insert(key);
                told.extend(written);
            }
        }
    }

    /// A pointer that is compared with null after all paths have followed it: the comparison says that it may have been null before.
    fn tested_late(
        &mut self,
        execution: &Execution,
        oracle: &mut Oracle<'_>,
        rules: &PointerRules,
        test: &LateTest,
    ) -> bool {
        let pointer = test.pointer;
        // A callee may have followed it where it had found it not to be null.
        let before = (test.order, test.branches);
        let uses = execution.log.uses.iter().enumerate();
        let mut uses = uses.filter(|(_, event)| {
            follows(event, pointer) && (event.order, event.branches) <= before
        });
        let found = uses.find_map(|(index, event)| {
            let is_null = oracle.null_paths(event.base?);
            let null = oracle.formula.guards.and(event.guard, is_null);
            let model = oracle.model_of_null(null, event.base)?;
            Some((index, event, null, model))
        });
        let Some((index, event, null, model)) = found else {
            return false;
        };
        let name = pointer_name(self.body, oracle, event);
        let before = (event.order, event.branches);
        let mut steps = trace::decisions(execution, oracle, &model, null, before);
        steps.extend(access(event, format!("`{name}` is followed here")));
        steps.push(trace::compared(&test.site, &name));
        let Some(finding) = self.access_finding(&rules.null, event, &name, steps) else {
            return false;
        };
        self.keep_value(finding, Failing::AccessBeforeTest(index));
        true
    }

    /// Whether an access is a failure, which is kept then.
    fn null_pointer(
        &mut self,
        execution: &Execution,
        oracle: &mut Oracle<'_>,
        rules: &PointerRules,
        (index, event, null): (usize, &UseEvent, Guard),
    ) -> bool {
        let paths = null;
        let Some(mut model) = oracle.model_of_null(paths, event.base) else {
            return false;
        };
        let tested = tested(oracle, event);
        let reason = match reason(event, tested.as_ref()) {
            Reason::Constant
                if fails_unasked(oracle, event, paths) || is_unasked_result(oracle, event) =>
            {
                Reason::Unchecked
            }
            reason => reason,
        };
        // The function that has called it looks at its result, or does not: it is told there.
        if reason == Reason::Unchecked && event.of_inlined {
            return false;
        }
        // That a callee's result may be null is inferred from what its summary tells: not where that is open.
        if reason == Reason::Unchecked {
            let known = execution.with_known_effects(&mut oracle.formula.guards, paths);
            if oracle.model_of_null(known, event.base).is_none() {
                return false;
            }
        }
        let (mut paths, mut elsewhere) = (paths, event.tested.is_none());
        elsewhere &= reason == Reason::Tested;
        if let Some(tested) = event.tested.as_ref().filter(|_| reason == Reason::Tested) {
            let after = oracle.formula.guards.and(paths, tested.guard);
            match oracle.model_of_null(after, event.base) {
                Some(found) => (model, paths) = (found, after),
                None => elsewhere = true,
            }
        }
        let rule = match reason {
            Reason::Unchecked => &rules.unchecked,
            Reason::Constant | Reason::Tested => &rules.null,
        };
        let name = pointer_name(self.body, oracle, event);
        let before = (event.order, event.branches);
        let mut steps = trace::decisions(execution, oracle, &model, paths, before);
        if reason == Reason::Constant {
            let chosen = oracle.chosen_null(event.address);
            let decided = (chosen, event.branches);
            trace::mark_null(execution, oracle, &mut steps, &model, decided);
        }
        if let Some(tested) = &tested {
            steps.insert(0, trace::compared(&tested.site, &name));
        }
        let null = match reason {
            Reason::Constant => MADE_NULL,
            Reason::Tested | Reason::Unchecked => "is null here",
        };
        let callee = results::callee_of(oracle, event);
        let result = event.base.filter(|_| reason == Reason::Unchecked);
        let left = result.is_some_and(|result| oracle.left_at.contains_key(&result));
        let made = match &callee {
            Some((callee, _)) if left => Some(format!("which `{callee}` has left there")),
            _ => result
                .and_then(|result| results::call_of(oracle, result))
                .filter(|made| *made != name)
                .map(|made| format!("which `{made}` has returned")),
        };
        let here = followed(event, &name, null, made);
        steps.extend(access(event, here));
        let Some(mut finding) = self.access_finding(rule, event, &name, steps) else {
            return false;
        };
        if elsewhere {
            finding.explain_by(Kind::TestedElsewhere);
        }
        for kind in readings(execution, oracle, self.body, event, reason, paths) {
            finding.explain_by(kind);
        }
        let succeeds = reason == Reason::Unchecked
            && (results::is_told_by_another(execution, oracle, event, paths)
                || results::knows_what_it_asks_for(oracle, event.base.unwrap_or(event.address)));
        if succeeds {
            finding.explain_by(Kind::CalleeSucceeds);
        }
        let who = callee.as_ref().map(|(name, _)| format!("`{name}`"));
        let who = who.unwrap_or_else(|| "the function that returned it".to_owned());
        let told = match left {
            true => format!("{who} may leave null there"),
            false => format!("{who} may return null"),
        };
        finding.message = finding.message.replace("{callee}", &told);
        if reason == Reason::Unchecked
            && !succeeds
            && let Some((callee, fails)) = callee
        {
            self.unchecked.push(Unchecked {
                file: finding.file.clone(),
                line: finding.line,
                callee,
                fails,
            });
        }
        self.keep_value(finding, Failing::Access(index));
        true
    }

    /// A finding about an access, be it the function's own or a callee's.
    fn access_finding(
        &self,
        rule: &str,
        event: &UseEvent,
        name: &str,
        steps: Vec<TraceStep>,
    ) -> Option<Finding> {
        let place = Place::of(event.stack.first()?);
        let mut finding = match &event.text {
            Some(call) => self.call_finding(rule, place, (name, call), steps),
            None => self.finding(rule, place, name, "", steps),
        }?;
        if name == NULL {
            finding.message = match &event.text {
                Some(call) => format!("a null pointer is passed to `{call}`, which follows it"),
                None => "a null pointer is followed here".to_owned(),
            };
        }
        Some(finding)
    }
}

/// Whether an access follows an unknown pointer, or one of several that a pointer may be.
fn follows(event: &UseEvent, pointer: Term) -> bool {
    event
        .base
        .is_some_and(|base| [base, event.address].contains(&pointer))
}

/// The paths on which the pointer of an access is null; of one that the function compares with null only elsewhere, too.
fn null_on(oracle: &mut Oracle<'_>, event: &UseEvent) -> Guard {
    match event.base {
        Some(base) if event.null == Guard::FALSE && oracle.tested.contains_key(&base) => {
            let null = oracle.null_at_start(event.address, base);
            oracle.formula.guards.and(event.guard, null)
        }
        _ => event.null,
    }
}

/// Where the function compares the pointer of an access with null: before it, or else anywhere.
fn tested(oracle: &Oracle<'_>, event: &UseEvent) -> Option<Tested> {
    match event.null {
        Guard::FALSE => event
            .base
            .and_then(|base| oracle.tested.get(&base))
            .cloned(),
        _ => event.tested.clone(),
    }
}

fn reason(event: &UseEvent, tested: Option<&Tested>) -> Reason {
    match (event.base, tested) {
        (None, _) => Reason::Constant,
        (Some(_), Some(_)) => Reason::Tested,
        (Some(_), None) => Reason::Unchecked,
    }
}

/// Whether a pointer is null on these paths because a callee says that it has failed, and the function does not ask.
fn fails_unasked(oracle: &Oracle<'_>, event: &UseEvent, paths: Guard) -> bool {
    let Some(&null) = oracle.invalid_on.get(&event.address) else {
        return false;
    };
    let conditions = oracle.formula.guards.support(null);
    let of_callee = |condition: &Cond| {
        oracle.failing_conditions.contains(condition)
            && !oracle.own_conditions.contains_key(condition)
    };
    let mut of_paths = oracle.formula.guards.support(paths).iter();
    !conditions.is_empty()
        && conditions.iter().all(of_callee)
        && of_paths.any(|condition| conditions.contains(condition))
}

/// Whether a pointer is what a callee returns, which is null at times, and the function does not ask whether it is.
fn is_unasked_result(oracle: &Arena<'_>, event: &UseEvent) -> bool {
    let results = [&oracle.null_at_times, &oracle.nullable];
    results
        .iter()
        .any(|results| results.contains_key(&event.address))
        && !results::is_asked(oracle, event.address)
}

/// The pointer as the source writes it.
fn pointer_name(body: &Body, arena: &mut Arena<'_>, event: &UseEvent) -> String {
    let pointer = event.expr.and_then(|address| body.pointer_of(address));
    if let Some(name) = pointer.and_then(|pointer| print::source_text(body, pointer)) {
        return name;
    }
    match event.base {
        Some(base) => arena.name_of_value(base),
        None if arena.formula.terms.as_const(event.address).is_some() => NULL.to_owned(),
        None => arena.name_of_value(event.address),
    }
}

/// The way to an access, of which the function's own step says so much.
fn access(event: &UseEvent, message: String) -> Vec<TraceStep> {
    let mut steps = trace::accessing(event);
    if let Some(first) = steps.first_mut() {
        first.message = message;
    }
    steps
}

/// What the last step says: the pointer, of which `null` is said, is followed. `made`: which function it comes from.
fn followed(event: &UseEvent, name: &str, null: &str, made: Option<String>) -> String {
    let made = made.map(|made| format!(", {made},"));
    match (&event.text, made) {
        (Some(text), _) if name == NULL => format!("{text}: follows the null pointer"),
        (None, _) if name == NULL => "a null pointer is followed".to_owned(),
        (Some(text), None) => format!("{text}: follows `{name}`, which {null}"),
        (Some(text), Some(made)) => format!("{text}: follows `{name}`{made} and which {null}"),
        (None, made) => format!("`{name}`{} {null}", made.unwrap_or_default()),
    }
}
