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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct LoopId(u32);

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
}

impl Unrolling {
    pub fn new(body: &Body) -> Self {
        let successors: Vec<Vec<usize>> = body
            .blocks
            .iter()
            .map(|block| block.term.successors().iter().map(|next| next.index()).collect())
            .collect();
        let order = reverse_postorder(&successors);
        let mut places = vec![BlockPlace::default(); successors.len()];
        let mut next_loop = 0;
        // Work list instead of recursion: nesting depth is the input's choice.
        let mut levels: Vec<(Vec<usize>, Option<usize>)> =
            vec![((0..successors.len()).collect(), None)];
        while let Some((members, header)) = levels.pop() {
            for (position, component) in
                ordered_components(&successors, &order, &members, header).into_iter().enumerate()
            {
                let position = position as u32;
                let first = component[0];
                let cyclic = component.len() > 1
                    || (successors[first].contains(&first) && Some(first) != header);
                if !cyclic {
                    places[first].position = position;
                    continue;
                }
                let id = LoopId(next_loop);
                next_loop += 1;
                let head = component.iter().copied().min_by_key(|&block| order[block]);
                for &block in &component {
                    places[block].loops.push((id, position));
                }
                if let Some(head) = head {
                    places[head].header_of = Some(places[head].loops.len() - 1);
                }
                levels.push((component, head));
            }
        }
        Unrolling { places }
    }

    pub fn entry(&self, block: BlockId) -> Instance {
        let loops = self.places[block.index()].loops.len();
        Instance { block, iterations: SmallVec::from_elem(0, loops) }
    }

    /// Follows the edge from an instance to a block.
    pub fn step(&self, from: &Instance, to: BlockId) -> Step {
        let (here, there) = (&self.places[from.block.index()], &self.places[to.index()]);
        let shared =
            here.loops.iter().zip(&there.loops).take_while(|(left, right)| left.0 == right.0);
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
        Step { to: Instance { block: to, iterations }, iteration }
    }

    /// Whether the edge leaves the innermost loop around the instance.
    pub fn leaves_loop(&self, from: BlockId, to: BlockId) -> bool {
        let (here, there) = (&self.places[from.index()], &self.places[to.index()]);
        match here.loops.last() {
            Some(innermost) => !there.loops.iter().any(|outer| outer.0 == innermost.0),
            None => false,
        }
    }

    pub fn has_loops(&self) -> bool {
        self.places.iter().any(|place| !place.loops.is_empty())
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
    let index: FxHashMap<usize, NodeIndex> =
        sorted.iter().enumerate().map(|(node, &block)| (block, NodeIndex::new(node))).collect();
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
