//! Which branches decide whether a step is reached, and what may keep a thread from getting there.
//!
//! In: a body. Out: its blocks' control dependences (Ferrante, Ottenstein, Warren), the blocks that each block leads to, and the
//! branches that leave a loop. The last matter as well: a loop that does not end is one that nothing behind it is reached from.

use petgraph::algo::dominators::simple_fast;
use petgraph::algo::tarjan_scc;
use petgraph::graph::{DiGraph, NodeIndex};

use crate::ir::Body;

/// Sets of blocks, by the number of the block that each belongs to.
pub struct Control {
    /// The blocks whose branches a block depends on.
    pub decided_by: Vec<Vec<usize>>,
    /// Whether a block leads to another one, by at least one edge.
    reaches: Vec<Vec<bool>>,
    /// The block ends in a branch out of a loop.
    pub leaves_loop: Vec<bool>,
}

impl Control {
    pub fn new(body: &Body) -> Control {
        let count = body.blocks.len();
        let successors = body.edges();
        let reaches = reachable(&successors);
        let mut control = Control {
            decided_by: vec![Vec::new(); count],
            leaves_loop: vec![false; count],
            reaches,
        };
        for (block, next) in successors.iter().enumerate() {
            control.leaves_loop[block] =
                control.leads(block, block) && next.iter().any(|next| !control.leads(*next, block));
        }
        control.depend(&successors);
        control
    }

    /// Whether control gets from one block to another by at least one edge.
    pub fn leads(&self, from: usize, to: usize) -> bool {
        self.reaches[from][to]
    }

    fn depend(&mut self, successors: &[Vec<usize>]) {
        let count = successors.len();
        let mut reversed: DiGraph<(), ()> = DiGraph::new();
        let nodes: Vec<NodeIndex> = (0..=count).map(|_| reversed.add_node(())).collect();
        let exit = nodes[count];
        for (block, next) in successors.iter().enumerate() {
            for next in next {
                reversed.add_edge(nodes[*next], nodes[block], ());
            }
            // Of a loop without an end any block may be the last one.
            let ends = successors
                .iter()
                .enumerate()
                .any(|(last, next)| next.is_empty() && (last == block || self.leads(block, last)));
            if next.is_empty() || !ends {
                reversed.add_edge(exit, nodes[block], ());
            }
        }
        let dominators = simple_fast(&reversed, exit);
        for (block, next) in successors.iter().enumerate() {
            if next.len() < 2 {
                continue;
            }
            let stop = dominators.immediate_dominator(nodes[block]);
            for next in next {
                let mut at = Some(nodes[*next]);
                while let Some(node) = at.filter(|node| Some(*node) != stop && *node != exit) {
                    let decided = &mut self.decided_by[node.index()];
                    if decided.last() != Some(&block) {
                        decided.push(block);
                    }
                    at = dominators.immediate_dominator(node);
                }
            }
        }
    }
}

/// The transitive closure of the edges, component by component.
fn reachable(successors: &[Vec<usize>]) -> Vec<Vec<bool>> {
    let count = successors.len();
    let mut graph: DiGraph<(), ()> = DiGraph::new();
    let nodes: Vec<NodeIndex> = (0..count).map(|_| graph.add_node(())).collect();
    for (block, next) in successors.iter().enumerate() {
        for next in next {
            graph.add_edge(nodes[block], nodes[*next], ());
        }
    }
    let mut reaches = vec![vec![false; count]; count];
    // Components come with those first that lead to no other one.
    for component in tarjan_scc(&graph) {
        let mut row = vec![false; count];
        for block in &component {
            for next in &successors[block.index()] {
                row[*next] = true;
                for (to, reached) in row.iter_mut().zip(&reaches[*next]) {
                    *to |= *reached;
                }
            }
        }
        for block in component {
            reaches[block.index()] = row.clone();
        }
    }
    reaches
}
