//! A view and what the filters make of it, as text.

use std::fmt::Write;

use super::predicates::Configuration;
use super::verdict::{Filters, Whole};
use super::view::{Location, Side, View};
use super::words;
use crate::sat::oracle::{Oracle, OutOfBudget};
use crate::symbolic::guard::Guard;

const CONFIGURATIONS: [Configuration; 4] = [
    Configuration::CONC,
    Configuration::A0,
    Configuration::A1,
    Configuration::A2,
];

/// Conditions of a guard that are told one by one.
const MAX_CONDITIONS: usize = 8;

/// The view of a function: its locations and checks, and what each filter answers, if clauses may have so many literals.
pub fn view(view: &View, oracle: &mut Oracle<'_>, most: Option<u32>) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = writeln!(text, "locations");
    for location in &view.locations {
        let reach = guard(oracle, location.reach);
        let _ = writeln!(text, "  {} when {reach}", place(location));
    }
    let _ = writeln!(text, "checks");
    for (number, check) in view.checks.iter().enumerate() {
        let line = check.site.line;
        let fails = guard(oracle, check.fails);
        let _ = writeln!(
            text,
            "  {number}: line {line}: {} fails when {fails}",
            check.text
        );
    }
    let mut filters = Filters::new(view, most);
    for configuration in CONFIGURATIONS {
        let _ = writeln!(text, "{}", configuration.name());
        match filters.whole(oracle, configuration) {
            Ok(whole) => text += &inconsistency(view, oracle, &whole),
            Err(OutOfBudget) => text += "  too large to be looked at as a whole\n",
        }
    }
    let _ = writeln!(text, "angelic");
    text += &angelic(view, oracle, &mut filters);
    text
}

/// What callers and callees have to see to for nothing to fail, as far as they can, and what fails all the same.
pub fn specification(view: &View, oracle: &mut Oracle<'_>) -> String {
    let mut filters = Filters::new(view, None);
    let mut text = String::new();
    for (configuration, terms) in [
        (
            Configuration::CONC,
            "in terms of all that the function asks for",
        ),
        (Configuration::A1, "in terms of what is checked alone"),
    ] {
        let _ = writeln!(text, "{}: nothing fails, {terms}, if", configuration.name());
        match filters.whole(oracle, configuration) {
            Ok(whole) => {
                for clauses in &whole.answer.specifications {
                    let told = words::specification(oracle, &whole.predicates, clauses);
                    let _ = writeln!(text, "  {told}");
                }
                text += &failures(view, whole.answer.failures.iter().copied());
            }
            Err(OutOfBudget) => text += "  too large to be looked at as a whole\n",
        }
    }
    let _ = writeln!(text, "angelic: each failure is ruled out if");
    text += &angelic(view, oracle, &mut filters);
    text
}

fn inconsistency(view: &View, oracle: &mut Oracle<'_>, whole: &Whole) -> String {
    let predicates = whole.predicates.iter();
    let predicates: Vec<String> = predicates
        .map(|&predicate| words::condition(oracle, predicate, true))
        .collect();
    let mut text = format!("  predicates: {}\n", predicates.join(", "));
    let correct = words::specification(oracle, &whole.predicates, &whole.correct);
    let _ = writeln!(text, "  weakest precondition: {correct}");
    if whole.answer.inconsistent {
        text += "  it makes code dead\n";
        for clauses in &whole.answer.specifications {
            let told = words::specification(oracle, &whole.predicates, clauses);
            let _ = writeln!(text, "  almost-correct specification: {told}");
        }
    }
    text + &failures(view, whole.answer.failures.iter().copied())
}

fn angelic(view: &View, oracle: &mut Oracle<'_>, filters: &mut Filters<'_>) -> String {
    let Ok(found) = filters.angelic(oracle) else {
        return "  too large to be looked at as a whole\n".to_owned();
    };
    let mut text = String::new();
    for (check, literals) in &found.specification {
        let literals: Vec<String> = literals
            .iter()
            .map(|&(condition, holds)| words::condition(oracle, condition, holds))
            .collect();
        let line = view.checks[*check].site.line;
        let told = format!("  {} (for line {line})\n", literals.join(" || "));
        // The results of two calls may have one name.
        if !text.contains(&told) {
            text += &told;
        }
    }
    text + &failures(view, found.warnings.iter().copied())
}

fn failures(view: &View, failing: impl Iterator<Item = usize>) -> String {
    let mut text = String::new();
    for check in failing.map(|number| &view.checks[number]) {
        let _ = writeln!(text, "  fails: line {}: {}", check.site.line, check.text);
    }
    text
}

fn place(location: &Location) -> String {
    let line = location.site.line;
    match location.side {
        Side::Then => format!("line {line}, if it holds,"),
        Side::Else => format!("line {line}, if not,"),
        Side::Case(block) => format!("line {line}, case at block {block},"),
        Side::Start => format!("line {line}, the beginning,"),
        Side::Asserted => format!("line {line}, where what is asserted there does not hold,"),
        Side::Null => format!("line {line}, if the pointer is null,"),
    }
}

/// A guard by its conditions: all of them, if it is a conjunction.
fn guard(oracle: &mut Oracle<'_>, guard: Guard) -> String {
    match guard {
        Guard::TRUE => return "true".to_owned(),
        Guard::FALSE => return "false".to_owned(),
        _ => {}
    }
    let literals = oracle.formula.guards.implied_literals(guard);
    let cube = oracle.formula.guards.cube(&literals);
    let mut told: Vec<String> = literals
        .iter()
        .take(MAX_CONDITIONS)
        .map(|&(condition, holds)| words::condition(oracle, condition, holds))
        .collect();
    if cube != guard || literals.len() > MAX_CONDITIONS {
        let others =
            oracle.formula.guards.support(guard).len() - literals.len().min(MAX_CONDITIONS);
        told.push(format!("{others} more conditions"));
    }
    told.join(" && ")
}
