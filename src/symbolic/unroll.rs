//! Loop structure and the order of execution (paper §2.2: loops are unrolled by removing back edges).
//!
//! In: a body's control-flow graph. Out: for each block its place in the loop forest, from which an
//! [`Instance`], a block with the iteration of each loop around it, gets a key; keys in ascending
//! order are a topological order of the (infinite) unrolled graph. Unrolling thus needs no copies of
//! blocks: the executor follows keys, and decides at each back edge whether to go on.
//!
//! A loop is a strongly connected component; its header is the member reached first depth-first, its
//! back edges those from members to the header. Removing them and recurring into the component also
//! covers irreducible graphs.

use petgraph::algo::tarjan_scc;
use petgraph::graph::{DiGraph, NodeIndex};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::ir::{BlockId, Body};

/// Identifies a loop within a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LoopId(u32);

#[derive(Clone, Debug, Default)]
struct BlockPlace {
    /// The enclosing loops, outermost first, each with its position in the level around it.
    loops: SmallVec<[(LoopId, u32); 4]>,
    /// Position within the innermost level.
    position: u32,
    /// Number of enclosing loops, counted from outside, whose header this block is; at most one.
    header_of: Option<usize>,
}

/// A block in particular iterations of the loops around it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instance {
    pub block: BlockId,
    /// One for each enclosing loop, outermost first, from 0.
    pub iterations: SmallVec<[u32; 4]>,
}

/// Sorts instances in topological order.
pub type OrderKey = SmallVec<[u32; 8]>;

/// A step along an edge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    pub to: Instance,
    /// The loop iteration that begins, if the edge is a back edge (from 1).
    pub iteration: Option<u32>,
}

#[derive(Debug)]
pub struct Unrolling {
    places: Vec<BlockPlace>,
    /// The header of each loop, and how many blocks it has.
    headers: Vec<BlockId>,
    sizes: Vec<u32>,
}

impl Unrolling {
    pub fn new(body: &Body) -> Self {
        let successors = body.edges();
        let order = reverse_postorder(&successors);
        let mut places = vec![BlockPlace::default(); successors.len()];
        let mut headers = Vec::new();
        let mut sizes = Vec::new();
        // Work list instead of recursion: nesting depth is the input's choice.
        let mut levels: Vec<(Vec<usize>, Option<usize>)> =
            vec![((0..successors.len()).collect(), None)];
        while let Some((members, header)) = levels.pop() {
            for (position, component) in ordered_components(&successors, &order, &members, header)
                .into_iter()
                .enumerate()
            {
                let position = position as u32;
                let first = component[0];
                let cyclic = component.len() > 1
                    || (successors[first].contains(&first) && Some(first) != header);
                if !cyclic {
                    places[first].position = position;
                    continue;
                }
                let id = LoopId(headers.len() as u32);
                let head = component
                    .iter()
                    .copied()
                    .min_by_key(|&block| order[block])
                    .unwrap_or(first);
                headers.push(BlockId(head as u32));
                sizes.push(component.len() as u32);
                for &block in &component {
                    places[block].loops.push((id, position));
                }
                places[head].header_of = Some(places[head].loops.len() - 1);
                levels.push((component, Some(head)));
            }
        }
        Unrolling {
            places,
            headers,
            sizes,
        }
    }

    pub fn entry(&self, block: BlockId) -> Instance {
        let loops = self.places[block.index()].loops.len();
        Instance {
            block,
            iterations: SmallVec::from_elem(0, loops),
        }
    }

    /// Follows the edge from an instance to a block.
    pub fn step(&self, from: &Instance, to: BlockId) -> Step {
        let (here, there) = (&self.places[from.block.index()], &self.places[to.index()]);
        let shared = here
            .loops
            .iter()
            .zip(&there.loops)
            .take_while(|(left, right)| left.0 == right.0);
        let shared = shared.count();
        let mut iterations: SmallVec<[u32; 4]> = from.iterations[..shared].into();
        let mut iteration = None;
        if let Some(level) = there.header_of
            && level < shared
        {
            iterations[level] += 1;
            iteration = Some(iterations[level]);
            for inner in &mut iterations[level + 1..] {
                *inner = 0;
            }
        }
        iterations.resize(there.loops.len(), 0);
        Step {
            to: Instance {
                block: to,
                iterations,
            },
            iteration,
        }
    }

    /// Whether the edge leaves the innermost loop around the instance.
    pub fn leaves_loop(&self, from: BlockId, to: BlockId) -> bool {
        let (here, there) = (&self.places[from.index()], &self.places[to.index()]);
        match here.loops.last() {
            Some(innermost) => !there.loops.iter().any(|outer| outer.0 == innermost.0),
            None => false,
        }
    }

    /// The header of the innermost loop around an instance, in the same iteration.
    pub fn innermost_header(&self, instance: &Instance) -> Option<Instance> {
        let innermost = self.places[instance.block.index()].loops.last()?.0;
        let block = self.headers[innermost.0 as usize];
        Some(Instance {
            block,
            iterations: instance.iterations.clone(),
        })
    }

    /// How many blocks the innermost loop around a block has.
    pub fn loop_size(&self, block: BlockId) -> Option<u32> {
        let innermost = self.places[block.index()].loops.last()?.0;
        Some(self.sizes[innermost.0 as usize])
    }

    /// The outermost loop around a block.
    pub fn outermost(&self, block: BlockId) -> Option<LoopId> {
        self.places[block.index()]
            .loops
            .first()
            .map(|outer| outer.0)
    }

    /// Whether a block begins the rounds of a loop.
    pub fn begins(&self, block: BlockId, round: LoopId) -> bool {
        self.headers[round.0 as usize] == block
    }

    /// The outermost loops that are left for a block.
    pub fn left_for<'b>(
        &'b self,
        body: &'b Body,
        to: BlockId,
    ) -> impl Iterator<Item = LoopId> + 'b {
        let outside = self.outermost(to);
        let blocks = (0..).map(BlockId).zip(&body.blocks);
        let leave = blocks.filter(move |(_, block)| block.term.successors().contains(&to));
        let left = leave.filter_map(|(block, _)| self.outermost(block));
        left.filter(move |left| Some(*left) != outside)
    }

    /// Whether a way leads from a block into a loop.
    pub fn leads_into(&self, body: &Body, from: BlockId, into: LoopId) -> bool {
        body.leads_to(from, self.headers[into.0 as usize], None)
    }

    /// Whether the block starts the iterations of a loop.
    pub fn is_header(&self, block: BlockId) -> bool {
        self.places[block.index()].header_of.is_some()
    }

    pub fn key(&self, instance: &Instance) -> OrderKey {
        let place = &self.places[instance.block.index()];
        let mut key = OrderKey::new();
        for (level, iteration) in place.loops.iter().zip(&instance.iterations) {
            key.push(level.1);
            key.push(*iteration);
        }
        key.push(place.position);
        key
    }
}

/// Number of each block in reverse postorder; unreachable blocks come last.
fn reverse_postorder(successors: &[Vec<usize>]) -> Vec<usize> {
    let mut number = vec![usize::MAX; successors.len()];
    let mut seen = vec![false; successors.len()];
    let mut post = Vec::new();
    let mut stack = Vec::new();
    if !successors.is_empty() {
        seen[0] = true;
        stack.push((0, 0));
    }
    while let Some(&mut (block, ref mut edge)) = stack.last_mut() {
        match successors[block].get(*edge) {
            Some(&next) => {
                *edge += 1;
                if !std::mem::replace(&mut seen[next], true) {
                    stack.push((next, 0));
                }
            }
            None => {
                post.push(block);
                stack.pop();
            }
        }
    }
    for (index, block) in post.into_iter().rev().enumerate() {
        number[block] = index;
    }
    number
}

/// The strongly connected components among `members` without the edges into `header`, in
/// topological order; members and components are ordered by reverse postorder where the graph leaves
/// a choice.
fn ordered_components(
    successors: &[Vec<usize>],
    order: &[usize],
    members: &[usize],
    header: Option<usize>,
) -> Vec<Vec<usize>> {
    let mut sorted = members.to_vec();
    sorted.sort_by_key(|&block| (order[block], block));
    let index: FxHashMap<usize, NodeIndex> = sorted
        .iter()
        .enumerate()
        .map(|(node, &block)| (block, NodeIndex::new(node)))
        .collect();
    let mut graph = DiGraph::<usize, ()>::with_capacity(sorted.len(), sorted.len() * 2);
    for &block in &sorted {
        graph.add_node(block);
    }
    for &block in &sorted {
        for next in &successors[block] {
            if Some(*next) != header
                && let Some(&target) = index.get(next)
            {
                graph.add_edge(index[&block], target, ());
            }
        }
    }
    // Tarjan's algorithm gives reverse topological order.
    let mut components: Vec<Vec<usize>> = tarjan_scc(&graph)
        .into_iter()
        .map(|component| component.into_iter().map(|node| graph[node]).collect())
        .collect();
    components.reverse();
    components
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::{Block, Pos, RetTy, SymbolName, TermKind, Terminator};

    fn body(successors: &[&[u32]]) -> Body {
        let block = |next: &&[u32]| Block {
            stmts: Vec::new(),
            term: Terminator {
                kind: TermKind::Nondet(next.iter().map(|&block| BlockId(block)).collect()),
                pos: Pos::default(),
            },
        };
        Body {
            name: SymbolName {
                name: "f".into(),
                file: None,
            },
            pos: Pos::default(),
            end_line: 0,
            params: 0,
            variadic: false,
            takes_pointers: false,
            ret: RetTy::Void,
            pointer_size: 8,
            hosted: false,
            spellings: crate::ir::Spellings::default(),
            locals: Vec::new(),
            symbols: Vec::new(),
            strings: Vec::new(),
            names: Vec::new(),
            files: Vec::new(),
            exprs: Vec::new(),
            blocks: successors.iter().map(block).collect(),
        }
    }

    /// All instances reachable with fewer than `limit` iterations, in key order; checks that every
    /// edge ascends.
    fn unrolled(body: &Body, limit: u32) -> Vec<Instance> {
        let unrolling = Unrolling::new(body);
        let mut seen = std::collections::BTreeMap::new();
        let entry = unrolling.entry(BlockId(0));
        let mut work = vec![entry.clone()];
        seen.insert(unrolling.key(&entry), entry);
        while let Some(instance) = work.pop() {
            for next in body.block(instance.block).term.successors() {
                let step = unrolling.step(&instance, next);
                if step.iteration.is_some_and(|iteration| iteration >= limit) {
                    continue;
                }
                let key = unrolling.key(&step.to);
                assert!(
                    key > unrolling.key(&instance),
                    "{instance:?} -> {:?}",
                    step.to
                );
                if let Some(known) = seen.insert(key, step.to.clone()) {
                    assert_eq!(known, step.to);
                } else {
                    work.push(step.to);
                }
            }
        }
        seen.into_values().collect()
    }

    fn blocks(instances: &[Instance]) -> Vec<u32> {
        instances.iter().map(|instance| instance.block.0).collect()
    }

    #[test]
    fn a_loop_runs_as_often_as_the_limit_says() {
        let body = body(&[&[1], &[2, 3], &[1], &[]]);
        assert_eq!(blocks(&unrolled(&body, 2)), [0, 1, 2, 1, 2, 3]);
    }

    #[test]
    fn inner_loops_start_again_in_each_iteration_of_the_outer_one() {
        let body = body(&[&[1], &[2, 4], &[3], &[2, 1], &[]]);
        let once = [1, 2, 3, 2, 3];
        let mut expected = vec![0];
        expected.extend(once);
        expected.extend(once);
        expected.push(4);
        assert_eq!(blocks(&unrolled(&body, 2)), expected);
    }

    #[test]
    fn a_loop_entered_in_two_places_is_unrolled_too() {
        let body = body(&[&[1, 2], &[2], &[1, 3], &[]]);
        assert_eq!(unrolled(&body, 2).len(), 6);
    }

    #[test]
    fn a_block_may_be_a_loop_by_itself() {
        let body = body(&[&[0, 1], &[]]);
        assert_eq!(blocks(&unrolled(&body, 3)), [0, 0, 0, 1]);
    }
}
