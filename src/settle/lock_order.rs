//! Objects that are taken in different orders: findings that no function shows by itself.
//!
//! In: for each function what it takes, or calls, while it holds something else ([`LockOrder`]). Out: findings
//! for classes A and B where one thread may hold an A and wait for a B while another holds a B and
//! waits for an A; and for longer rings.
//!
//! Classes stand for objects, so this is less sure than what is found within a function. No cycle is reported where
//! both orders occur under a common third lock, which the functions or all their callers hold; where one function
//! takes the locks in both orders, so that it must order their instances by something else; or where what is held
//! does not make the other thread wait (two readers).

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::{FxHashMap, FxHashSet};

use crate::finding::{self, ExplanationKind, Finding, TraceStep};
use crate::judge::lock_order::{Inner, LockOrder, Nested, Take};
use crate::judge::record::Record;
use crate::program::{FunctionId, Program};
use crate::property::{Property, States};
use crate::symbolic::class::Class;

/// Calls followed below one that is made with something held.
const MAX_DEPTH: usize = 6;
/// Functions looked at below such a call.
const MAX_BELOW: usize = 256;
/// Classes that such a call is known to take.
const MAX_REACHED: usize = 24;
/// Classes in a ring.
const MAX_RING: usize = 4;
/// Iterations of the fixed point of what all callers of a function hold.
const MAX_ROUNDS: usize = 12;

/// One object taken while another is held: an edge between their classes.
struct Edge<'p> {
    function: FunctionId,
    /// That of all variants of the function.
    definition: u32,
    nested: &'p Nested,
    inner: &'p Class,
    waits_for: States,
    /// What is taken, by its name or its class.
    name: String,
    /// The callee, the functions below it down to the one that takes the object, and how that does.
    below: Vec<FunctionId>,
    take: Option<&'p Take>,
    gates: BTreeSet<&'p Class>,
}

impl Edge<'_> {
    /// The pointer that leads to what is taken, where that is read from memory.
    fn pointer(&self) -> Option<&Class> {
        match self.take {
            Some(take) => take.pointer.as_ref(),
            None => self.nested.pointers[1].as_ref(),
        }
    }

    /// File and line at which what takes the inner object does so, or calls what does.
    fn taken_at(&self) -> (&str, u32) {
        let inside = self.take.and_then(|take| take.trace.first());
        match inside {
            Some(step) => (&step.file, step.line),
            None => (&self.nested.site.0, self.nested.site.1),
        }
    }
}

type Edges<'p> = BTreeMap<(&'p Class, &'p Class), Vec<Edge<'p>>>;

/// The findings for rings of classes.
pub fn settle(
    program: &Program,
    records: &[Option<Record>],
    property: &Property,
) -> Vec<(FunctionId, Finding)> {
    let calls = Calls { program, records };
    let edges = calls.edges();
    let mut contradictions: Vec<Vec<&Edge<'_>>> = Vec::new();
    for (&(a, b), forth) in &edges {
        if a < b
            && let Some(back) = edges.get(&(b, a))
            && let Some(ring) = pair(program, forth, back)
        {
            contradictions.push(ring.to_vec());
        }
    }
    contradictions.extend(rings(program, &edges));
    let mut told = FxHashSet::default();
    let mut findings = Vec::new();
    for ring in one_for_each_cause(contradictions) {
        if let Some(first) = ring.first()
            && let Some(finding) = finding(program, property, &ring)
            && told.insert((finding.file.clone(), finding.line))
        {
            findings.push((first.function, finding));
        }
    }
    findings
}

/// Of the cycles that one acquisition is part of, the first: one wrong acquisition makes a cycle with each lock that
/// is held there. The acquisition that is part of most cycles is taken to be their cause.
fn one_for_each_cause<'e, 'p>(mut rings: Vec<Vec<&'e Edge<'p>>>) -> Vec<Vec<&'e Edge<'p>>> {
    let mut kept = Vec::new();
    while !rings.is_empty() {
        let mut counts: BTreeMap<(&str, u32), usize> = BTreeMap::new();
        for ring in &rings {
            let places: BTreeSet<_> = ring.iter().map(|edge| edge.taken_at()).collect();
            for place in places {
                *counts.entry(place).or_default() += 1;
            }
        }
        let is_at = |ring: &[&Edge<'_>], place| ring.iter().any(|edge| edge.taken_at() == place);
        let most = counts.values().copied().max();
        let cause = counts.iter().find(|(_, count)| Some(**count) == most);
        let Some((&cause, _)) = cause else { break };
        let (same, rest): (Vec<_>, Vec<_>) = rings.into_iter().partition(|ring| is_at(ring, cause));
        kept.extend(
            same.into_iter()
                .min_by_key(|ring| !explanations(ring).is_empty()),
        );
        rings = rest;
    }
    kept
}

struct Calls<'p> {
    program: &'p Program,
    records: &'p [Option<Record>],
}

impl<'p> Calls<'p> {
    fn lock_order(&self, function: FunctionId) -> Option<&'p LockOrder> {
        let record = self.records.get(function.index())?.as_ref()?;
        Some(&record.facts.lock_order)
    }

    fn edges(&self) -> Edges<'p> {
        let mut edges = Edges::new();
        let held = self.held_by_all_callers();
        let mut known: FxHashMap<FunctionId, Below<'p>> = FxHashMap::default();
        for function in self.program.ids() {
            let Some(order) = self.lock_order(function) else {
                continue;
            };
            let definition = self.program.function(function).definition;
            for nested in &order.nested {
                let mut gates: BTreeSet<&Class> = nested.gates.iter().collect();
                gates.extend(held[function.index()].iter().copied());
                match &nested.inner {
                    Inner::Taken { class, waits_for } => {
                        let edge = Edge {
                            function,
                            definition,
                            nested,
                            inner: class,
                            waits_for: *waits_for,
                            name: nested.inner_name.clone(),
                            below: Vec::new(),
                            take: None,
                            gates,
                        };
                        edges.entry((&nested.outer, class)).or_default().push(edge);
                    }
                    Inner::Called(name) => {
                        let callee = self.program.function(function).callee(name);
                        let Some(callee) = callee.and_then(|callee| callee.function) else {
                            continue;
                        };
                        let below = known.entry(callee).or_insert_with(|| self.below(callee));
                        if below.drops.contains(&nested.outer) {
                            continue;
                        }
                        for (path, take) in &below.takes {
                            if take.class == nested.outer || gates.contains(&take.class) {
                                continue;
                            }
                            let edge = Edge {
                                function,
                                definition,
                                nested,
                                inner: &take.class,
                                waits_for: take.waits_for,
                                name: take.class.to_string(),
                                below: path.clone(),
                                take: Some(take),
                                gates: gates.clone(),
                            };
                            let key = (&nested.outer, &take.class);
                            edges.entry(key).or_default().push(edge);
                        }
                    }
                }
            }
        }
        edges
    }

    /// What a function takes, or those that it calls, under names that its callers do not know.
    fn below(&self, start: FunctionId) -> Below<'p> {
        let mut below = Below::default();
        let mut paths: Vec<Vec<FunctionId>> = vec![vec![start]];
        let mut seen = FxHashSet::from_iter([start]);
        let mut at = 0;
        while let Some(path) = paths.get(at).cloned() {
            at += 1;
            let Some(&function) = path.last() else {
                continue;
            };
            if let Some(order) = self.lock_order(function) {
                below.drops.extend(&order.drops);
                for take in &order.takes {
                    let known = below
                        .takes
                        .iter()
                        .any(|(_, other)| other.class == take.class);
                    if !known && below.takes.len() < MAX_REACHED {
                        below.takes.push((path.clone(), take));
                    }
                }
            }
            if path.len() >= MAX_DEPTH {
                continue;
            }
            let callees = self.program.function(function).callees.iter();
            for callee in callees.filter(|callee| callee.called) {
                if let Some(id) = callee.function
                    && paths.len() < MAX_BELOW
                    && seen.insert(id)
                {
                    let mut longer = path.clone();
                    longer.push(id);
                    paths.push(longer);
                }
            }
        }
        below
    }

    /// For each function the classes held at every call of it; none for a function whose address is taken.
    fn held_by_all_callers(&self) -> Vec<BTreeSet<&'p Class>> {
        // `None`: everything, as no caller has been looked at.
        let count = self.program.functions.len();
        let mut held: Vec<Option<BTreeSet<&'p Class>>> = vec![None; count];
        let mut called = vec![false; count];
        let mut open = vec![false; count];
        for function in &self.program.functions {
            for callee in &function.callees {
                if let Some(id) = callee.function {
                    called[id.index()] |= callee.called;
                    open[id.index()] |= callee.taken;
                }
            }
        }
        for index in 0..count {
            if open[index] || !called[index] {
                held[index] = Some(BTreeSet::new());
            }
        }
        for _ in 0..MAX_ROUNDS {
            let mut next: Vec<Option<BTreeSet<&'p Class>>> = vec![None; count];
            for caller in self.program.ids() {
                let Some(outside) = &held[caller.index()] else {
                    continue;
                };
                let under = self.lock_order(caller).map(|order| &order.under);
                for callee in &self.program.function(caller).callees {
                    let Some(id) = callee.function.filter(|id| *id != caller) else {
                        continue;
                    };
                    let here = under.and_then(|under| under.get(&callee.name));
                    let here = here.into_iter().flatten().chain(outside.iter().copied());
                    match &mut next[id.index()] {
                        Some(known) => {
                            if !known.is_empty() {
                                let here: BTreeSet<&Class> = here.collect();
                                known.retain(|class| here.contains(class));
                            }
                        }
                        unknown => *unknown = Some(here.collect()),
                    }
                }
            }
            for index in 0..count {
                if open[index] || !called[index] {
                    next[index] = Some(BTreeSet::new());
                }
            }
            if next == held {
                break;
            }
            held = next;
        }
        held.into_iter().map(Option::unwrap_or_default).collect()
    }
}

/// What lies below a call.
#[derive(Default)]
struct Below<'p> {
    takes: Vec<(Vec<FunctionId>, &'p Take)>,
    drops: BTreeSet<&'p Class>,
}

/// Two edges that contradict each other, the one to report first: that of the direction which fewer
/// functions take.
fn pair<'e, 'p>(
    program: &Program,
    forth: &'e [Edge<'p>],
    back: &'e [Edge<'p>],
) -> Option<[&'e Edge<'p>; 2]> {
    let functions = |edges: &[Edge<'_>]| -> BTreeSet<u32> {
        edges.iter().map(|edge| edge.definition).collect()
    };
    let (forth_in, back_in) = (functions(forth), functions(back));
    // That is about two records: two locks of one record have an order all the same.
    let ordered_otherwise = forth_in
        .intersection(&back_in)
        .any(|&function| !is_one_pair(function, forth, back));
    let is_of_one_record = |edge: &Edge<'_>| edge.nested.of_one_record == Some(true);
    let (rare, usual) = match forth_in.len() <= back_in.len() {
        true => (forth, back),
        false => (back, forth),
    };
    let mut pairs: Vec<[&Edge<'_>; 2]> = Vec::new();
    for first in rare {
        for second in usual {
            let ordered =
                ordered_otherwise && !(is_of_one_record(first) && is_of_one_record(second));
            if !ordered
                && waits(first, second)
                && waits(second, first)
                && !kept_apart(first, second)
                && program.are_together(first.function, second.function)
            {
                pairs.push([first, second]);
            }
        }
    }
    pairs.into_iter().min_by_key(|pair| {
        let calls: usize = pair.iter().map(|edge| edge.below.len()).sum();
        (
            !explanations(pair).is_empty(),
            calls,
            pair[0].nested.site.clone(),
            pair[1].nested.site.clone(),
        )
    })
}

/// Whether a function that takes locks in both orders does so with the same two objects: no order of instances
/// explains that.
fn is_one_pair(function: u32, forth: &[Edge<'_>], back: &[Edge<'_>]) -> bool {
    fn of<'e, 'p>(edges: &'e [Edge<'p>], function: u32) -> impl Iterator<Item = &'e Edge<'p>> {
        edges.iter().filter(move |edge| edge.definition == function)
    }
    of(forth, function).any(|one| {
        let [outer, inner] = one.nested.objects;
        let single = one.nested.outer.is_single() && one.inner.is_single();
        single || of(back, function).any(|other| other.nested.objects == [inner, outer])
    })
}

/// Whether the same third object is held on both ways. Of a class of many it need not be the same, unless
/// it lies beside one that is taken.
fn kept_apart(one: &Edge<'_>, other: &Edge<'_>) -> bool {
    one.gates.intersection(&other.gates).any(|gate| {
        gate.is_single() || gate.is_beside(&one.nested.outer) || gate.is_beside(one.inner)
    })
}

/// Whether what one takes is held by the other so that it waits.
fn waits(one: &Edge<'_>, other: &Edge<'_>) -> bool {
    one.waits_for.contains(other.nested.state)
}

/// Rings of three classes or more, of edges whose direction nothing contradicts.
fn rings<'e, 'p>(program: &Program, edges: &'e Edges<'p>) -> Vec<Vec<&'e Edge<'p>>> {
    let mut next: BTreeMap<&Class, Vec<&Class>> = BTreeMap::new();
    for &(a, b) in edges.keys() {
        if !edges.contains_key(&(b, a)) {
            next.entry(a).or_default().push(b);
        }
    }
    let mut rings = Vec::new();
    let mut told: BTreeSet<BTreeSet<&Class>> = BTreeSet::new();
    for &start in next.keys() {
        let Some(ring) = shortest_ring(&next, start) else {
            continue;
        };
        if !told.insert(ring.iter().copied().collect()) {
            continue;
        }
        let steps: Vec<&[Edge<'_>]> = (0..ring.len())
            .filter_map(|at| edges.get(&(ring[at], ring[(at + 1) % ring.len()])))
            .map(Vec::as_slice)
            .collect();
        rings.extend(witnesses(program, &steps));
    }
    rings
}

/// The shortest way from a class back to itself, if it is short.
fn shortest_ring<'p>(
    next: &BTreeMap<&'p Class, Vec<&'p Class>>,
    start: &'p Class,
) -> Option<Vec<&'p Class>> {
    let mut paths = vec![vec![start]];
    let mut seen = BTreeSet::from([start]);
    let mut at = 0;
    while let Some(path) = paths.get(at).cloned() {
        at += 1;
        for &class in next.get(path.last()?).into_iter().flatten() {
            if class == start {
                return Some(path);
            }
            if path.len() < MAX_RING && seen.insert(class) {
                let mut longer = path.clone();
                longer.push(class);
                paths.push(longer);
            }
        }
    }
    None
}

/// One edge for each step of a cycle, so that each thread waits for the next and no common lock prevents it; the
/// rarest edge first.
fn witnesses<'e, 'p>(program: &Program, steps: &[&'e [Edge<'p>]]) -> Option<Vec<&'e Edge<'p>>> {
    let mut ring: Vec<&Edge<'_>> = Vec::new();
    for &edges in steps {
        ring.push(
            edges
                .iter()
                .min_by_key(|edge| (edge.below.len(), &edge.nested.site))?,
        );
    }
    for at in 0..ring.len() {
        let next = ring[(at + 1) % ring.len()];
        let others = ring.iter().filter(|edge| !std::ptr::eq(**edge, ring[at]));
        let mut others = others;
        let apart = |edge: &&Edge<'_>| {
            kept_apart(ring[at], edge) || !program.are_together(ring[at].function, edge.function)
        };
        if !waits(ring[at], next) || others.any(apart) {
            return None;
        }
    }
    let functions: BTreeSet<u32> = ring.iter().map(|edge| edge.definition).collect();
    if functions.len() < ring.len() {
        return None;
    }
    let rarest = (0..ring.len()).min_by_key(|&at| steps[at].len())?;
    ring.rotate_left(rarest);
    Some(ring)
}

fn finding(program: &Program, property: &Property, ring: &[&Edge<'_>]) -> Option<Finding> {
    let [first, others @ ..] = ring else {
        return None;
    };
    let rule = property.rule(&first.nested.rule)?;
    let function = program.function(first.function);
    let mut trace = steps(program, first);
    for other in others {
        let name = &program.function(other.function).name.name;
        let mut there = steps(program, other);
        if let Some(step) = there.first_mut() {
            step.message = format!("but in {name}, {}", step.message);
        }
        trace.extend(there);
    }
    let held = &shown(&first.nested.outer_name, &first.nested.outer);
    let taken = &shown(&first.name, first.inner);
    let (file, line, column) = first.nested.site.clone();
    let object = format!("{taken} after {held}");
    let mut finding = Finding {
        rule: rule.id.clone(),
        level: rule.level,
        message: rule.message_for(taken, held, &function.name.name),
        file,
        line,
        column,
        function: function.name.name.clone(),
        fingerprint: finding::fingerprint(&rule.id, &function.name, &object, &trace),
        object: taken.clone(),
        explanations: Vec::new(),
        retold: None,
        filtered: None,
        programs: Vec::new(),
        trace,
    };
    for kind in explanations(ring) {
        finding.explain_by(kind);
    }
    Some(finding)
}

/// The readings under which a cycle is none.
fn explanations(ring: &[&Edge<'_>]) -> Vec<ExplanationKind> {
    let mut kinds = Vec::new();
    // What callees take on some of their paths only, they may not take under the conditions of this call.
    if !ring.iter().all(|edge| edge.nested.surely) {
        kinds.push(ExplanationKind::TakenAtTimes);
    }
    if (0..ring.len()).any(|at| is_of_another(ring[at], ring[(at + 1) % ring.len()]))
        || is_between_records(ring)
    {
        kinds.push(ExplanationKind::AnotherRecord);
    }
    kinds
}

/// Whether what one edge takes is found through a global pointer, and what the next one holds through another one, or the
/// other way round: of a record of which there are many (a tree with a lock in it) each global has its own.
fn is_of_another(one: &Edge<'_>, next: &Edge<'_>) -> bool {
    match (one.pointer(), &next.nested.pointers[0]) {
        (Some(taken), Some(held)) => taken != held && (taken.is_single() || held.is_single()),
        _ => false,
    }
}

/// Whether one order is that of two locks of one record, and the other one that of the same two of different records (a parent's
/// and, under it, its child's): for both to wait for each other, the two would have to be one record.
fn is_between_records(ring: &[&Edge<'_>]) -> bool {
    let [one, other] = ring else { return false };
    let of_one = |edge: &Edge<'_>| edge.nested.of_one_record;
    matches!(
        (of_one(one), of_one(other)),
        (Some(true), Some(false)) | (Some(false), Some(true))
    )
}

/// An object as the source writes it, if that is readable, else its class.
fn shown(name: &str, class: &Class) -> String {
    match name.is_empty() || name.contains(['(', '…']) {
        true => class.to_string(),
        false => name.to_string(),
    }
}

/// How an edge comes about.
fn steps(program: &Program, edge: &Edge<'_>) -> Vec<TraceStep> {
    let mut steps = edge.nested.trace.clone();
    let depth = steps.last().map_or(0, |step| step.depth);
    for (at, pair) in edge.below.windows(2).enumerate() {
        let (caller, callee) = (program.function(pair[0]), program.function(pair[1]));
        steps.push(TraceStep {
            file: caller.file.clone(),
            line: caller.line,
            column: 0,
            function: caller.name.name.clone(),
            depth: depth + 1 + at as u32,
            message: format!("which calls {}", callee.name.name),
        });
    }
    if let Some(take) = edge.take {
        let depth = depth + edge.below.len() as u32;
        steps.extend(take.trace.iter().map(|step| TraceStep {
            depth: depth + step.depth,
            ..step.clone()
        }));
    }
    steps
}
