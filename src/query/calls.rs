//! Who calls whom, and what is held then.
//!
//! In: functions by name, and how far to go. Out: trees, chains of calls, and the locks that are held when a function is entered.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

use anyhow::bail;
use rustc_hash::{FxHashMap, FxHashSet};

use super::names;
use crate::ir::SymbolName;
use crate::report::Places;
use crate::store::query::{FunctionRow, Reader};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    Callers,
    Callees,
}

/// A function in the tree of calls.
#[derive(Clone, Debug)]
pub struct Node {
    pub depth: usize,
    pub name: SymbolName,
    /// `None`: the tree does not define it.
    pub row: Option<FunctionRow>,
    /// What is held during the call between it and the function above.
    pub held: Vec<String>,
    /// It was told of before, with what is below it.
    pub again: bool,
}

/// The functions that call one, or that one calls, so many calls deep.
pub fn tree(
    reader: &Reader,
    places: &Places,
    (name, depth): (&str, usize),
    direction: Direction,
) -> anyhow::Result<Vec<Node>> {
    let _same_state = reader.snapshot()?;
    let mut nodes = Vec::new();
    // A function that is called and not defined has callers.
    let undefined = match direction {
        Direction::Callers if reader.functions(name)?.is_empty() => {
            reader.callers_of_undefined(name)?
        }
        _ => Vec::new(),
    };
    let roots = match undefined.is_empty() {
        true => names::functions(reader, places, name)?,
        false => Vec::new(),
    };
    let symbol = SymbolName {
        name: name.to_owned(),
        file: None,
    };
    for caller in undefined {
        let file = caller
            .place
            .as_ref()
            .map(|(file, _)| format!("{file}::{}", caller.name.name));
        let rows = reader.functions(file.as_deref().unwrap_or(&caller.name.name))?;
        let Some(row) = rows.into_iter().next() else {
            continue;
        };
        let held_then = reader.held_during(&row, &symbol)?;
        add(&mut nodes, &row.name.clone(), Some(&row), (1, held_then));
        walk(reader, &row, (2, depth), direction, &mut nodes)?;
    }
    let several = distinct(&roots) > 1;
    let mut before: Option<(String, u32)> = None;
    for root in &roots {
        let place = (root.file.clone(), root.line);
        if several && before.as_ref() != Some(&place) {
            add(&mut nodes, &root.name, Some(root), (0, Vec::new()));
        }
        before = Some(place);
        walk(reader, root, (1, depth), direction, &mut nodes)?;
    }
    Ok(nodes)
}

fn distinct(rows: &[FunctionRow]) -> usize {
    let places: BTreeSet<(&str, u32)> = rows.iter().map(|row| (&*row.file, row.line)).collect();
    places.len()
}

fn add(
    nodes: &mut Vec<Node>,
    name: &SymbolName,
    row: Option<&FunctionRow>,
    at: (usize, Vec<String>),
) {
    let (depth, held) = at;
    nodes.push(Node {
        depth,
        name: name.clone(),
        row: row.cloned(),
        held,
        again: false,
    });
}

/// Adds what is below a function: depth first, each function's own calls once.
fn walk(
    reader: &Reader,
    root: &FunctionRow,
    (first, last): (usize, usize),
    direction: Direction,
    nodes: &mut Vec<Node>,
) -> anyhow::Result<()> {
    let mut expanded: FxHashSet<u32> = FxHashSet::default();
    expanded.insert(root.id);
    let mut stack = vec![(first, neighbours(reader, root, direction)?.into_iter())];
    if first > last {
        return Ok(());
    }
    while let Some((depth, rest)) = stack.last_mut() {
        let depth = *depth;
        let Some((name, row, held_then)) = rest.next() else {
            stack.pop();
            continue;
        };
        // A function compiled in two ways is two functions of one place.
        let same = |node: &Node| {
            let place = |row: &FunctionRow| (row.file.clone(), row.line);
            node.depth == depth
                && node.name == name
                && node.row.as_ref().map(place) == row.as_ref().map(place)
        };
        if nodes.last().is_some_and(same) {
            continue;
        }
        add(nodes, &name, row.as_ref(), (depth, held_then));
        let Some(row) = row.filter(|_| depth < last) else {
            continue;
        };
        if !expanded.insert(row.id) {
            if let Some(node) = nodes.last_mut() {
                node.again = true;
            }
            continue;
        }
        let next = neighbours(reader, &row, direction)?;
        stack.push((depth + 1, next.into_iter()));
    }
    Ok(())
}

type Neighbours = Vec<(SymbolName, Option<FunctionRow>, Vec<String>)>;

fn neighbours(
    reader: &Reader,
    row: &FunctionRow,
    direction: Direction,
) -> anyhow::Result<Neighbours> {
    let mut found = Vec::new();
    match direction {
        Direction::Callers => {
            for caller in reader.calling(row.id)? {
                let held_then = reader.held_during(&caller, &row.name)?;
                found.push((caller.name.clone(), Some(caller), held_then));
            }
        }
        Direction::Callees => {
            for (name, callee) in reader.called(row.id)? {
                let held_then = reader.held_during(row, &name)?;
                found.push((name, callee, held_then));
            }
        }
    }
    Ok(found)
}

/// The calls between the functions of the tree, for searches that lead far.
struct Graph {
    edges: Vec<(u32, u32)>,
}

impl Graph {
    fn read(reader: &Reader, direction: Direction) -> anyhow::Result<Graph> {
        let mut edges = reader.edges()?;
        if direction == Direction::Callees {
            edges.iter_mut().for_each(|edge| *edge = (edge.1, edge.0));
            edges.sort_unstable();
        }
        Ok(Graph { edges })
    }

    /// The functions next to one.
    fn next(&self, from: u32) -> impl Iterator<Item = u32> {
        let first = self.edges.partition_point(|edge| edge.0 < from);
        let edges = self.edges[first..].iter();
        edges
            .take_while(move |edge| edge.0 == from)
            .map(|edge| edge.1)
    }

    /// From each function that can be reached the one before it on a shortest way, the nearest functions first. The search ends where `last`
    /// says so.
    fn search(
        &self,
        starts: &[FunctionRow],
        last: impl Fn(u32, Option<u32>) -> bool,
    ) -> (Vec<u32>, FxHashMap<u32, Option<u32>>) {
        let mut before: FxHashMap<u32, Option<u32>> = FxHashMap::default();
        let mut order = Vec::new();
        let mut queue: VecDeque<u32> = VecDeque::new();
        for row in starts {
            if before.insert(row.id, None).is_none() {
                queue.push_back(row.id);
            }
        }
        while let Some(id) = queue.pop_front() {
            order.push(id);
            if last(id, before[&id]) {
                break;
            }
            for next in self.next(id) {
                if let Entry::Vacant(place) = before.entry(next) {
                    place.insert(Some(id));
                    queue.push_back(next);
                }
            }
        }
        (order, before)
    }
}

/// The functions on the way to one, that one first.
fn way(
    reader: &Reader,
    before: &FxHashMap<u32, Option<u32>>,
    last: u32,
) -> anyhow::Result<Vec<FunctionRow>> {
    let mut found = Vec::new();
    let mut at = Some(last);
    while let Some(id) = at {
        found.extend(reader.function(id)?);
        at = before.get(&id).copied().flatten();
    }
    Ok(found)
}

/// One shortest chain of calls from one function to another.
pub fn path(
    reader: &Reader,
    places: &Places,
    (from, to): (&str, &str),
) -> anyhow::Result<Vec<Node>> {
    let _same_state = reader.snapshot()?;
    let starts = names::functions(reader, places, from)?;
    // The name may be of a function that the tree only calls.
    let ends: FxHashSet<u32> = reader.functions(to)?.iter().map(|row| row.id).collect();
    let undefined: FxHashMap<u32, SymbolName> = match ends.is_empty() {
        true => reader.calling_undefined(to)?.into_iter().collect(),
        false => FxHashMap::default(),
    };
    if ends.is_empty() && undefined.is_empty() {
        return Err(names::unknown(reader, to)?);
    }
    let is_last = |id: u32, before: Option<u32>| {
        (ends.contains(&id) && before.is_some()) || undefined.contains_key(&id)
    };
    let (order, before) = Graph::read(reader, Direction::Callees)?.search(&starts, is_last);
    let Some(&last) = order.last().filter(|&&id| is_last(id, before[&id])) else {
        bail!("no chain of calls that is known leads from `{from}` to `{to}`");
    };
    let mut chain = way(reader, &before, last)?;
    chain.reverse();
    let mut nodes = Vec::new();
    for (depth, row) in chain.iter().enumerate() {
        let held_then = match depth.checked_sub(1) {
            Some(before) => reader.held_during(&chain[before], &row.name)?,
            None => Vec::new(),
        };
        add(&mut nodes, &row.name, Some(row), (depth, held_then));
    }
    if let (Some(name), Some(caller)) = (undefined.get(&last), chain.last()) {
        let held_then = reader.held_during(caller, name)?;
        add(&mut nodes, name, None, (chain.len(), held_then));
    }
    Ok(nodes)
}

/// A function that holds a lock when it makes a call.
#[derive(Clone, Debug)]
pub struct Holder {
    pub function: FunctionRow,
    /// The calls from it down to the function that was asked about, by name.
    pub calls: Vec<String>,
}

/// Which locks may be held when a function is entered: those that a caller holds whenever it makes the call, and those that are held
/// when that caller is entered.
pub fn holds(
    reader: &Reader,
    places: &Places,
    name: &str,
) -> anyhow::Result<BTreeMap<String, Holder>> {
    let _same_state = reader.snapshot()?;
    let starts = names::functions(reader, places, name)?;
    // From each caller the function that it calls on the way down. The nearest callers come first.
    let graph = Graph::read(reader, Direction::Callers)?;
    let (order, down) = graph.search(&starts, |_, _| false);
    let place: FxHashMap<u32, usize> = order.iter().zip(0..).map(|(id, at)| (*id, at)).collect();
    // For each lock the call that is nearest.
    let mut nearest: BTreeMap<String, (usize, u32, u32)> = BTreeMap::new();
    for (caller, callee, lock) in reader.calls_under_locks()? {
        let Some(&distance) = place.get(&callee) else {
            continue;
        };
        let call = (distance, caller, callee);
        match nearest.get_mut(&lock) {
            Some(known) => *known = call.min(*known),
            None => _ = nearest.insert(lock, call),
        }
    }
    let mut found = BTreeMap::new();
    for (lock, (_, caller, callee)) in nearest {
        let Some(function) = reader.function(caller)? else {
            continue;
        };
        let rows = way(reader, &down, callee)?;
        let rows = std::iter::once(&function).chain(&rows);
        let calls = rows.map(|row| row.name.name.clone()).collect();
        found.insert(lock, Holder { function, calls });
    }
    Ok(found)
}
