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
use crate::symbolic::class::Class;

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

/// What each function holds whenever it calls another one, read once.
#[derive(Debug, Default)]
pub struct Held {
    known: FxHashMap<u32, BTreeMap<SymbolName, BTreeSet<Class>>>,
}

impl Held {
    pub fn during(
        &mut self,
        reader: &Reader,
        caller: &FunctionRow,
        callee: &SymbolName,
    ) -> anyhow::Result<Vec<String>> {
        let under = match self.known.entry(caller.id) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) => {
                let result = caller.result.map(|key| reader.result(key)).transpose()?;
                let under = result.flatten().map(|result| result.facts.lock_order.under);
                place.insert(under.unwrap_or_default())
            }
        };
        let classes = under.get(callee).into_iter().flatten();
        Ok(classes.map(ToString::to_string).collect())
    }
}

/// The functions that call one, or that one calls, so many calls deep.
pub fn tree(
    reader: &Reader,
    places: &Places,
    (name, depth): (&str, usize),
    direction: Direction,
) -> anyhow::Result<Vec<Node>> {
    let mut nodes = Vec::new();
    let mut held = Held::default();
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
        let held_then = held.during(reader, &row, &symbol)?;
        add(&mut nodes, &row.name.clone(), Some(&row), (1, held_then));
        walk(reader, &row, (2, depth), direction, (&mut nodes, &mut held))?;
    }
    let several = distinct(&roots) > 1;
    let mut before: Option<(String, u32)> = None;
    for root in &roots {
        let place = (root.file.clone(), root.line);
        if several && before.as_ref() != Some(&place) {
            add(&mut nodes, &root.name, Some(root), (0, Vec::new()));
        }
        before = Some(place);
        walk(reader, root, (1, depth), direction, (&mut nodes, &mut held))?;
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
    (nodes, held): (&mut Vec<Node>, &mut Held),
) -> anyhow::Result<()> {
    let mut expanded: FxHashSet<u32> = FxHashSet::default();
    expanded.insert(root.id);
    let mut stack = vec![(
        first,
        neighbours(reader, root, direction, held)?.into_iter(),
    )];
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
        let next = neighbours(reader, &row, direction, held)?;
        stack.push((depth + 1, next.into_iter()));
    }
    Ok(())
}

type Neighbours = Vec<(SymbolName, Option<FunctionRow>, Vec<String>)>;

fn neighbours(
    reader: &Reader,
    row: &FunctionRow,
    direction: Direction,
    held: &mut Held,
) -> anyhow::Result<Neighbours> {
    let mut found = Vec::new();
    match direction {
        Direction::Callers => {
            for caller in reader.calling(row.id)? {
                let held_then = held.during(reader, &caller, &row.name)?;
                found.push((caller.name.clone(), Some(caller), held_then));
            }
        }
        Direction::Callees => {
            for (name, callee) in reader.called(row.id)? {
                let held_then = held.during(reader, row, &name)?;
                found.push((name, callee, held_then));
            }
        }
    }
    Ok(found)
}

/// One shortest chain of calls from one function to another.
pub fn path(
    reader: &Reader,
    places: &Places,
    (from, to): (&str, &str),
) -> anyhow::Result<Vec<Node>> {
    let starts = names::functions(reader, places, from)?;
    let mut ways: FxHashMap<u32, (FunctionRow, Option<u32>)> = FxHashMap::default();
    let mut queue: VecDeque<u32> = VecDeque::new();
    // The name may be of a function that the tree only calls.
    let ends: FxHashSet<u32> = reader.functions(to)?.iter().map(|row| row.id).collect();
    if ends.is_empty() && reader.callers_of_undefined(to)?.is_empty() {
        return Err(names::unknown(reader, to)?);
    }
    for row in starts {
        queue.push_back(row.id);
        ways.insert(row.id, (row, None));
    }
    let mut found: Option<(u32, Option<SymbolName>)> = None;
    'search: while let Some(id) = queue.pop_front() {
        if ends.contains(&id) && ways[&id].1.is_some() {
            found = Some((id, None));
            break;
        }
        for (name, row) in reader.called(id)? {
            match row {
                Some(row) if !ways.contains_key(&row.id) => {
                    queue.push_back(row.id);
                    ways.insert(row.id, (row, Some(id)));
                }
                None if ends.is_empty() && name.name == to => {
                    found = Some((id, Some(name)));
                    break 'search;
                }
                _ => {}
            }
        }
    }
    let Some((mut at, last)) = found else {
        bail!("no chain of calls that is known leads from `{from}` to `{to}`");
    };
    let mut chain: Vec<FunctionRow> = Vec::new();
    loop {
        let (row, before) = &ways[&at];
        chain.push(row.clone());
        match before {
            Some(before) => at = *before,
            None => break,
        }
    }
    chain.reverse();
    let mut held = Held::default();
    let mut nodes = Vec::new();
    for (depth, row) in chain.iter().enumerate() {
        let held_then = match depth.checked_sub(1) {
            Some(before) => held.during(reader, &chain[before], &row.name)?,
            None => Vec::new(),
        };
        add(&mut nodes, &row.name, Some(row), (depth, held_then));
    }
    if let (Some(name), Some(caller)) = (last, chain.last()) {
        let held_then = held.during(reader, caller, &name)?;
        add(&mut nodes, &name, None, (chain.len(), held_then));
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
    let starts = names::functions(reader, places, name)?;
    let mut held = Held::default();
    // The nearest callers first, each with the calls that lead down from it.
    let mut queue: VecDeque<(FunctionRow, Vec<String>)> = VecDeque::new();
    let mut seen: FxHashSet<u32> = FxHashSet::default();
    for row in starts {
        seen.insert(row.id);
        let way = vec![row.name.name.clone()];
        queue.push_back((row, way));
    }
    let mut found: BTreeMap<String, Holder> = BTreeMap::new();
    while let Some((row, way)) = queue.pop_front() {
        for caller in reader.calling(row.id)? {
            let mut longer = vec![caller.name.name.clone()];
            longer.extend(way.iter().cloned());
            for lock in held.during(reader, &caller, &row.name)? {
                found.entry(lock).or_insert_with(|| Holder {
                    function: caller.clone(),
                    calls: longer.clone(),
                });
            }
            if seen.insert(caller.id) {
                queue.push_back((caller, longer));
            }
        }
    }
    Ok(found)
}
