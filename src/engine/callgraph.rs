//! The call graph's strongly connected components, callees before callers (paper §6).
//!
//! In: for each function the functions it calls. Out: the condensation, with what the schedule needs
//! of it: each component's members, how many other components it calls, and which call it.

use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};

/// Mutually recursive functions; mostly one function alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Component {
    /// Ascending.
    pub members: Vec<u32>,
    /// A member calls a member.
    pub recursive: bool,
    /// Number of other components that members call.
    pub callees: u32,
    /// Other components whose members call this one's, ascending.
    pub callers: Vec<u32>,
}

/// The condensed call graph; a component's callees stand before it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Condensation {
    pub components: Vec<Component>,
}

impl Condensation {
    /// Of the graph whose node `i` calls the nodes `edges[i]`.
    pub fn new(edges: &[Vec<u32>]) -> Self {
        let mut graph: DiGraph<(), ()> = DiGraph::with_capacity(edges.len(), 0);
        for _ in edges {
            graph.add_node(());
        }
        for (caller, callees) in edges.iter().enumerate() {
            for &callee in callees {
                graph.add_edge(NodeIndex::new(caller), NodeIndex::new(callee as usize), ());
            }
        }
        // Not Tarjan's: petgraph's recurses as deep as the longest chain of calls.
        let components = kosaraju_scc(&graph);
        let mut component_of = vec![0u32; edges.len()];
        for (component, members) in components.iter().enumerate() {
            for member in members {
                component_of[member.index()] = component as u32;
            }
        }
        let mut condensed: Vec<Component> = components
            .into_iter()
            .map(|members| {
                let mut members: Vec<u32> = members.iter().map(|n| n.index() as u32).collect();
                members.sort_unstable();
                Component {
                    members,
                    recursive: false,
                    callees: 0,
                    callers: Vec::new(),
                }
            })
            .collect();
        for component in 0..condensed.len() {
            let mut callees: Vec<u32> = condensed[component]
                .members
                .iter()
                .flat_map(|&member| &edges[member as usize])
                .map(|&callee| component_of[callee as usize])
                .collect();
            callees.sort_unstable();
            callees.dedup();
            for callee in callees {
                if callee as usize == component {
                    condensed[component].recursive = true;
                } else {
                    condensed[component].callees += 1;
                    condensed[callee as usize].callers.push(component as u32);
                }
            }
        }
        Condensation {
            components: condensed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recursion_is_one_component_and_callees_come_first() {
        // 0 → 1 ⇄ 2 → 3, 3 → 3, 4 alone.
        let graph = Condensation::new(&[vec![1], vec![2], vec![1, 3], vec![3], vec![]]);
        let of = |node| {
            graph
                .components
                .iter()
                .position(|c| c.members.contains(&node))
                .unwrap()
        };
        assert_eq!(graph.components[of(1)].members, [1, 2]);
        assert!(graph.components[of(1)].recursive);
        assert!(graph.components[of(3)].recursive);
        assert!(!graph.components[of(0)].recursive && !graph.components[of(4)].recursive);
        assert!(of(3) < of(1) && of(1) < of(0));
        assert_eq!(graph.components[of(3)].callers, [of(1) as u32]);
        assert_eq!(graph.components[of(0)].callees, 1);
    }

    #[test]
    fn a_long_chain_of_calls_needs_no_stack() {
        let length = 200_000;
        let edges: Vec<Vec<u32>> = (0..length)
            .map(|i| if i + 1 < length { vec![i + 1] } else { vec![] })
            .collect();
        assert_eq!(Condensation::new(&edges).components.len(), length as usize);
    }
}
