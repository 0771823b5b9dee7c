//! DIFFERROR (CBUGS §3): which failures of a program no sequential version shows on the same input.
//!
//! In: a program and its limits. Out: failures with what the filters say. This is Algorithm 1: a failing trace of P on an
//! input; a failing trace of the filter on the same input takes away all inputs on which the filter fails along that
//! trace, with the filter's own choices fixed (`Determine`). A deterministic filter needs one round for each of its failing
//! paths (Figure 3). After [`ROUNDS`] rounds for one failure its inputs count as left out, and this is told: the quantified
//! fallback is not built. The input is what `main` draws before it makes the first thread, or before
//! `__cassini_inputs_end()`.

use super::failure::{Failure, Kind};
use super::flow::At;
use super::flow::facts::Flow;
use super::machine::Machine;
use super::program::Program;
use super::search::slicing::{self, Round};
use super::search::{Explored, Limits, Next, depth_first, preemptions};
use super::sequential::{self, Filter};
use super::state::State;
use super::values::{Drawn, Value};
use crate::symbolic::model::Model;
use crate::symbolic::term::Term;

/// Inputs that one failure is tried with.
const ROUNDS: usize = 64;
/// The same where functions of an open program are run.
const OPEN_ROUNDS: usize = 8;

/// What a failure is, after the filters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sort {
    /// No sequential version fails on its input.
    Interleaved,
    /// No thread can go on.
    Deadlock,
    /// A program without input fails in a sequential order, too.
    Sequential,
}

/// A failure to be reported.
pub struct Found {
    pub sort: Sort,
    pub failure: Failure,
    pub state: State,
    /// Values of all unknowns of the execution.
    pub model: Model,
    pub inputs: Vec<(Drawn, u128)>,
    /// The filter that let it pass, or that shows the failure in a sequential order.
    pub filter: Filter,
    /// The filter's executions were all looked at.
    pub certain: bool,
}

/// All that is known after the search.
pub struct Outcome {
    pub found: Vec<Found>,
    /// Failures whose inputs fail in a sequential order, too, with the filter that shows it.
    pub left_out: Vec<(Failure, Filter)>,
    pub explored: Explored,
    /// The searches of [`Search::Slices`].
    pub rounds: Vec<Round>,
    /// Inputs that were taken away.
    pub filters: usize,
    pub told: std::collections::BTreeSet<String>,
}

/// What to look for.
#[derive(Clone, Copy, Debug)]
pub struct Question<'t> {
    /// The function that P begins with.
    pub entry: usize,
    /// The one that the filters begin with.
    pub filter_entry: usize,
    pub limits: Limits,
    /// Every failure, not only the first.
    pub all: bool,
    /// All in turn, until one comes to its end, if none is asked for.
    pub search: Option<Search>,
    /// A place that is to be reached, by the steps that may fail there; none for all steps that may fail.
    pub targets: &'t [At],
}

/// How interleavings are searched.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
pub enum Search {
    /// By the number of preemptions
    Preemptions,
    /// Threads and places of preemption are added as a target asks for them (Slicing and Dicing)
    Slices,
    /// Depth first, with dynamic partial-order reduction
    DepthFirst,
}

impl Search {
    pub fn name(self) -> &'static str {
        match self {
            Search::Preemptions => "by preemptions",
            Search::Slices => "slices",
            Search::DepthFirst => "depth first",
        }
    }
}

impl Question<'_> {
    /// The searches to be made, in their order.
    fn searches(&self) -> &[Search] {
        match &self.search {
            Some(search) => std::slice::from_ref(search),
            // The others know no bound of preemptions.
            None if self.limits.preemptions.is_some() => &[Search::Preemptions],
            None => &[Search::Preemptions, Search::Slices, Search::DepthFirst],
        }
    }
}

/// What the filters say of a failure.
enum Verdict {
    Report(Box<Found>),
    LeftOut(Filter),
    /// Its conditions cannot hold together with those that were added since.
    Impossible,
}

/// Looks for failures that only interleavings have.
pub fn differ<'p>(program: &'p Program<'p>, question: Question<'_>) -> (Outcome, Machine<'p>) {
    let mut machine = Machine::new(program);
    let mut found: Vec<Found> = Vec::new();
    let mut left_out: Vec<(Failure, Filter)> = Vec::new();
    let mut filters = 0;
    let mut on_failure = |machine: &mut Machine<'p>, state: &State, failure: &Failure| {
        let is_open = machine.program.open;
        if is_open && (!failure.kind.holds_in_open() || in_one_order(state, failure))
            || found.iter().any(|known| same(&known.failure, failure))
        {
            return Next::Search;
        }
        match judge(machine, question, state, failure, &mut filters) {
            Verdict::Impossible => Next::Search,
            Verdict::LeftOut(filter) => {
                if !left_out.iter().any(|known| same(&known.0, failure)) {
                    left_out.push((failure.clone(), filter));
                }
                Next::Search
            }
            Verdict::Report(report) => {
                let last = report.sort == Sort::Sequential || !question.all;
                found.push(*report);
                if last { Next::End } else { Next::Search }
            }
        }
    };
    let mut rounds = Vec::new();
    let mut explored = Explored::default();
    for search in question.searches() {
        let on_failure = &mut on_failure;
        let (entry, limits) = (question.entry, question.limits);
        explored = match search {
            Search::Preemptions => preemptions::explore(&mut machine, entry, limits, on_failure),
            Search::DepthFirst => depth_first::explore(&mut machine, entry, limits, on_failure),
            Search::Slices => {
                let flow = Flow::new(program);
                let failing = flow.failing();
                let targets = match question.targets {
                    [] => &failing,
                    targets => targets,
                };
                let explored;
                (explored, rounds) =
                    slicing::search(&mut machine, &flow, entry, limits, targets, on_failure);
                explored
            }
        };
        if explored.ended || explored.exhausted {
            break;
        }
    }
    let told = machine.told.clone();
    let outcome = Outcome {
        found,
        left_out,
        explored,
        rounds,
        filters,
        told,
    };
    (outcome, machine)
}

/// The threads in the order in which they ran up to a failure, but for the first.
fn order(state: &State, failure: &Failure) -> Vec<usize> {
    let mut threads: Vec<usize> = state
        .order()
        .into_iter()
        .map(|(thread, _)| thread)
        .collect();
    threads.push(failure.thread);
    threads.retain(|thread| *thread != 0);
    threads.dedup();
    threads
}

/// Whether an execution of two threads has run one of them to its end before the other.
fn in_one_order(state: &State, failure: &Failure) -> bool {
    match order(state, failure).as_slice() {
        [_] => true,
        [first, _] => state.thread(*first).finished,
        _ => false,
    }
}

fn same(a: &Failure, b: &Failure) -> bool {
    a.kind == b.kind && a.code == b.code && a.pos == b.pos
}

fn judge(
    machine: &mut Machine<'_>,
    question: Question<'_>,
    state: &State,
    failure: &Failure,
    filters: &mut usize,
) -> Verdict {
    // Where one thread only finds what the other has done so far, that one's end must be known: it may lead to the same.
    let to_the_end = order(state, failure).len() == 2;
    let path = state.all_conditions();
    let mut last = Filter::AsyncGeneral;
    let mut certain = true;
    let rounds = match machine.program.open {
        true => OPEN_ROUNDS,
        false => ROUNDS,
    };
    for _ in 0..rounds {
        let Some(model) = machine.values.model(&path) else {
            return match *filters {
                0 => Verdict::Impossible,
                _ => Verdict::LeftOut(last),
            };
        };
        let report = |sort, filter, certain| {
            Verdict::Report(Box::new(Found {
                sort,
                failure: failure.clone(),
                state: state.clone(),
                inputs: Vec::new(),
                model: model.clone(),
                filter,
                certain,
            }))
        };
        let inputs = machine.values.inputs();
        let verdict = if failure.kind == Kind::Deadlock {
            Some(report(Sort::Deadlock, Filter::AsyncGeneral, true))
        } else {
            match failing(machine, question, &model, (&mut certain, to_the_end)) {
                // What two functions do in an order that was not looked at to its end is not known.
                None if machine.program.open && !certain => {
                    Some(Verdict::LeftOut(Filter::AsyncGeneral))
                }
                None => Some(report(Sort::Interleaved, Filter::AsyncGeneral, certain)),
                Some((filter, _)) if inputs.is_empty() && machine.program.open => {
                    Some(Verdict::LeftOut(filter))
                }
                Some((filter, _)) if inputs.is_empty() => {
                    Some(report(Sort::Sequential, filter, true))
                }
                Some((filter, inputs)) => {
                    last = filter;
                    *filters += 1;
                    let not = machine.values.formula.terms.not(inputs);
                    machine.values.given.push(not);
                    None
                }
            }
        };
        if let Some(mut verdict) = verdict {
            if let Verdict::Report(found) = &mut verdict {
                found.inputs = inputs
                    .iter()
                    .map(|(drawn, var)| (*drawn, model.value(*var)))
                    .collect();
            }
            return verdict;
        }
    }
    machine.told.insert(format!(
        "a failure was left out after {rounds} inputs on each of which a sequential order fails"
    ));
    Verdict::LeftOut(last)
}

/// A filter that fails on the input of a model, and the inputs on which it fails in the same way.
fn failing(
    machine: &mut Machine<'_>,
    question: Question<'_>,
    model: &Model,
    (certain, to_the_end): (&mut bool, bool),
) -> Option<(Filter, Term)> {
    let given = std::mem::take(&mut machine.values.given);
    for (drawn, var) in machine.values.inputs() {
        let term = Value::Term(machine.values.formula.terms.var_term(var));
        let same = machine.values.is(term, drawn.width, model.value(var));
        machine.values.given.push(same);
    }
    let mut answer = None;
    for filter in [Filter::AsyncAsSync, Filter::AsyncGeneral] {
        let found = sequential::find(machine, question.filter_entry, filter);
        *certain &= found.exhausted && !(to_the_end && found.bounded);
        if let Some((state, _)) = found.failure {
            let path = state.conditions();
            if let Some(model) = machine.values.model(&path) {
                let inputs = machine.values.determined(&path, &model);
                answer = Some((filter, inputs));
                break;
            }
        }
    }
    machine.values.given = given;
    answer
}
