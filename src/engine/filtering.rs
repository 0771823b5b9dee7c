//! The findings of one function through the filters.
//!
//! In: what judges have found, with where it lies. Out: the same findings, each with what the filters say of it; and the paths on which the function
//! fails so. A finding whose check the view does not have is left as it is.

use super::function::Options;
use crate::filter::costs::{Costs, Stage};
use crate::filter::describe;
use crate::filter::verdict::Filters;
use crate::filter::view::{AtExit, Event, Scope, View};
use crate::finding::{Finding, Level};
use crate::ir::Body;
use crate::judge::findings::{Failing, Findings};
use crate::property::Property;
use crate::sat::oracle::Oracle;
use crate::symbolic::callee::Callees;
use crate::symbolic::exec;
use crate::symbolic::execution::Execution;
use crate::symbolic::guard::Guard;

/// What is known of a function's findings once the filters have been asked.
#[derive(Default)]
pub struct Asked {
    /// What that has taken.
    pub costs: Costs,
    /// The findings by their numbers, each with its failing paths, if it is callers who may see to it that they are not taken.
    pub failures: Vec<(u32, Guard)>,
}

/// Asks the filters about each finding of a function.
pub fn filter(
    body: &Body,
    execution: &Execution,
    oracle: &mut Oracle<'_>,
    findings: &mut Findings<'_>,
) -> Asked {
    let mut at_exit: Vec<AtExit> = Vec::new();
    let mut events: Vec<(Option<u32>, &mut Finding, Event)> = Vec::new();
    for (number, (finding, at)) in (0..).zip(findings.failing()) {
        let whoever_calls = matches!(at, Failing::AccessBeforeTest(_));
        let event = match at {
            Failing::Access(index) | Failing::AccessBeforeTest(index) => Event::Use(index),
            Failing::Operation(index) => Event::Operation(index),
            Failing::Assertion(index) => Event::Assertion(index),
            Failing::AtExit { site, objects } => {
                let first = at_exit.len();
                at_exit.extend(objects.into_iter().map(|(object, paths)| AtExit {
                    site: site.clone(),
                    text: finding.message.clone(),
                    paths,
                    object,
                }));
                Event::Exit(first)
            }
            Failing::Otherwise => continue,
        };
        let number = (!whoever_calls).then_some(number);
        events.push((number, finding, event));
    }
    let mut asked = Asked::default();
    let costs = &mut asked.costs;
    if events.is_empty() {
        return asked;
    }
    let around: Vec<Event> = events.iter().map(|(.., event)| *event).collect();
    let view = || View::of(body, execution, oracle, &at_exit, Scope::Around(&around));
    let Ok(view) = costs.measure(Stage::View, view) else {
        costs.of(Stage::View).undecided = events.len();
        return asked;
    };
    let mut filters = Filters::new(&view, None);
    for (number, finding, event) in events {
        // What is not proved for lack of work counts as excluded, so that no failure may take it from the next.
        if let Some(check) = view.check(event) {
            oracle.renew();
            finding.filtered = Some(filters.of(oracle, check));
            let number = number.filter(|_| finding.level < Level::Explained);
            asked
                .failures
                .extend(number.map(|number| (number, view.checks[check].alone)));
        }
    }
    costs.add(filters.costs);
    asked
}

/// What is told of a function's view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Told {
    /// Locations, checks, and the answers of all filters, with clauses of so many literals at most.
    View(Option<u32>),
    /// The specifications, and what fails all the same.
    Specification,
}

/// A function as the filters see it, with all its accesses checked.
pub fn describe(
    body: &Body,
    callees: &dyn Callees,
    property: &Property,
    options: &Options,
    told: Told,
) -> String {
    let (execution, arena) = exec::execute(body, property, callees, &options.execution);
    if let Some(reason) = &execution.exhausted {
        return format!("out of budget: {reason}\n");
    }
    let mut oracle = Oracle::new(arena, options.max_solver_work);
    oracle.names.prefer_retold = true;
    let Ok(view) = View::of(body, &execution, &mut oracle, &[], Scope::All) else {
        return "out of budget: the conditions of its locations and checks are too complex\n"
            .to_owned();
    };
    match told {
        Told::View(most) => describe::view(&view, &mut oracle, most),
        Told::Specification => describe::specification(&view, &mut oracle),
    }
}
