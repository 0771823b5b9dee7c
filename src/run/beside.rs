//! Runs pairs of functions of an open program beside each other (`race/interleaved`).
//!
//! In: the pairs that [`crate::settle::pairs`] proposes, and bodies. Out: the failures that some interleaving of two functions has and neither order of
//! running them one after the other, on the same input (CBUGS, Algorithm 1; each pair is a harness by itself).

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use super::primitives::primitive;
use crate::capture::{Problem, Severity};
use crate::concurrency::differ::{self, Question, Search};
use crate::concurrency::harness;
use crate::concurrency::program::{Primitive, Program as Linked};
use crate::concurrency::search::Limits;
use crate::concurrency::story;
use crate::engine::analysis::Bodies;
use crate::finding::Finding;
use crate::ir::{Body, SymbolName};
use crate::panics::contained;
use crate::program::{FunctionId, Program};
use crate::property::Property;
use crate::settle::pairs::Pair;
use crate::settle::phases;
use crate::summary::seeds::Seeds;

/// Functions that a pair calls and that are executed; others change nothing.
const FUNCTIONS: usize = 60;
/// States of one pair, and preemptions of its interleavings.
const STATES: usize = 1_000;
const PREEMPTIONS: u32 = 2;
/// Steps of one pair; of all pairs, and so many more for each function of the program: so that the cost grows with the code.
const STEPS: std::ops::RangeInclusive<u64> = 10_000..=100_000;
const STEPS_OF_ALL: u64 = 3_000_000;
const STEPS_FOR_EACH: u64 = 4_000;

/// The tree that the pairs are of.
pub(super) struct Context<'a> {
    pub program: &'a Program,
    pub bodies: &'a dyn Bodies,
    pub property: &'a Property,
    pub seeds: &'a Seeds,
}

/// What became of the pairs.
#[derive(Debug, Default)]
pub(super) struct Beside {
    pub findings: Vec<(FunctionId, Finding)>,
    pub pairs: usize,
    /// Why executions of pairs were not followed to their end, with the number of pairs.
    pub cut: BTreeMap<String, usize>,
}

impl Beside {
    /// What a person should know of what was not looked at.
    pub fn problem(&self) -> Option<Problem> {
        let mut text = format!(
            "{} pairs of functions were run beside each other",
            self.pairs
        );
        for (why, pairs) in &self.cut {
            text.push_str(&format!(
                "; of {pairs} not all was followed to its end: {why}"
            ));
        }
        (self.pairs > 0).then(|| Problem::new(Severity::Note, None, text))
    }
}

/// Runs all pairs. `cancel` says whether to stop early.
pub(super) fn run(
    context: &Context<'_>,
    pairs: &[Pair],
    cancel: &(dyn Fn() -> bool + Sync),
) -> Beside {
    let program = context.program;
    let all = STEPS_OF_ALL + STEPS_FOR_EACH * program.functions.len() as u64;
    let steps = (all / pairs.len().max(1) as u64).clamp(*STEPS.start(), *STEPS.end());
    let limits = Limits {
        states: STATES,
        steps,
        preemptions: Some(PREEMPTIONS),
    };
    let results = pairs.par_iter().map(|pair| match cancel() {
        true => Ran::default(),
        false => contained(|| of_pair(context, pair, limits)).unwrap_or_else(Ran::cut_by),
    });
    let results: Vec<Ran> = results.collect();
    let mut beside = Beside {
        pairs: pairs.len(),
        ..Beside::default()
    };
    let mut told = BTreeSet::new();
    for (pair, ran) in pairs.iter().zip(results) {
        for why in ran.cut {
            *beside.cut.entry(why).or_default() += 1;
        }
        for finding in ran.findings {
            // A place fails in one way or another as the threads happen to run.
            let place = (finding.file.clone(), finding.line);
            if !is_set_up(program, &finding) && told.insert(place) {
                let function = [pair.first, pair.second]
                    .into_iter()
                    .find(|id| program.function(*id).name.name == finding.function);
                beside
                    .findings
                    .push((function.unwrap_or(pair.first), finding));
            }
        }
    }
    beside
}

/// Whether the function that a failure lies in sets up what it works on, by its name: then no other thread knows that yet.
fn is_set_up(program: &Program, finding: &Finding) -> bool {
    let functions = program.functions.iter();
    let before =
        functions.filter(|function| function.file == finding.file && function.line <= finding.line);
    let around = before.max_by_key(|function| function.line);
    around.is_some_and(|function| phases::is_set_up(&function.name.name))
}

/// What became of a pair.
#[derive(Default)]
struct Ran {
    findings: Vec<Finding>,
    /// Why executions were not followed to their end.
    cut: BTreeSet<String>,
}

impl Ran {
    fn cut_by(why: String) -> Ran {
        Ran {
            cut: BTreeSet::from([why]),
            ..Ran::default()
        }
    }
}

fn of_pair(context: &Context<'_>, pair: &Pair, limits: Limits) -> Ran {
    let (loaded, primitives) = closure(context, pair);
    let body = |id: FunctionId| Some(&*loaded.iter().find(|(known, _)| *known == id)?.1);
    let (Some(first), Some(second)) = (body(pair.first), body(pair.second)) else {
        return Ran::cut_by("a function was not read".to_owned());
    };
    let harness = harness::harness(first, second, &pair.parameters);
    let bodies = loaded.iter().map(|(_, body)| &**body).chain([&harness]);
    let linked = Linked::link_open(bodies, &context.program.constants, primitives);
    let Some(entry) = linked.function(harness::NAME) else {
        return Ran::default();
    };
    let question = Question {
        entry,
        filter_entry: entry,
        limits,
        // A mistake fails in several ways.
        all: false,
        search: Some(Search::Preemptions),
        targets: &[],
    };
    let (outcome, mut machine) = differ::differ(&linked, question);
    let mut cut = outcome.explored.cut;
    let bounded = outcome.explored.complete_to < Some(PREEMPTIONS);
    if bounded && !outcome.explored.exhausted && outcome.found.is_empty() {
        cut.insert("there are too many states".to_owned());
    }
    let stories = outcome.found.iter();
    let stories = stories.map(|found| story::story(&mut machine, found).finding());
    Ran {
        findings: stories.collect(),
        cut,
    }
}

/// A function with its body.
type Loaded = (FunctionId, Arc<Body>);

/// The bodies of both functions and of what they call, nearest first, and the primitives of locks among the latter.
fn closure(context: &Context<'_>, pair: &Pair) -> (Vec<Loaded>, FxHashMap<String, Primitive>) {
    let program = context.program;
    let mut primitives = FxHashMap::default();
    let mut seeded = |name: &SymbolName, definition: (Option<&Body>, bool)| {
        let summary = context.seeds.in_place_of(name, definition);
        let primitive = summary.and_then(|summary| primitive(context.property, &summary));
        let is_primitive = primitive.is_some();
        primitives.extend(primitive.map(|primitive| (name.name.clone(), primitive)));
        is_primitive
    };
    let mut found = Vec::new();
    let mut seen: FxHashSet<FunctionId> = FxHashSet::default();
    let mut open = VecDeque::from([pair.first, pair.second]);
    while let Some(id) = open.pop_front() {
        if found.len() >= FUNCTIONS || !seen.insert(id) {
            continue;
        }
        let function = program.function(id);
        let body = function.body.as_ref().ok();
        let body = body.and_then(|key| context.bodies.body(*key).ok());
        if seeded(&function.name, (body.as_deref(), function.own)) {
            continue;
        }
        let Some(body) = body else { continue };
        for callee in &function.callees {
            match callee.function {
                Some(id) => open.push_back(id),
                None => _ = seeded(&callee.name, (None, false)),
            }
        }
        found.push((id, body));
    }
    (found, primitives)
}
