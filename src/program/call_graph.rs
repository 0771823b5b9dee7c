//! The call graph's strongly connected components, callees before callers (paper §6).
//!
//! In: for each function the functions it calls. Out: the condensation, with what the schedule needs
//! of it: each component's members, how many other components it calls, and which call it.

use petgraph::algo::{greedy_feedback_arc_set, kosaraju_scc, toposort};
use petgraph::graph::{DiGraph, EdgeIndex, NodeIndex};
use petgraph::visit::EdgeRef;
use rustc_hash::FxHashMap;

/// Mutually recursive functions; mostly one function alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Component {
    /// Callees before callers, but for a few calls that close the circles.
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
        let (components, component_of) = components(edges);
        let mut condensed: Vec<Component> = components
            .into_iter()
            .map(|members| Component {
                members: callees_first(members, edges),
                recursive: false,
                callees: 0,
                callers: Vec::new(),
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

/// The strongly connected components of the graph whose node `i` calls the nodes `edges[i]`, callees
/// first, each with its members ascending; and each node's component.
pub fn components(edges: &[Vec<u32>]) -> (Vec<Vec<u32>>, Vec<u32>) {
    let mut graph: DiGraph<(), ()> = DiGraph::with_capacity(edges.len(), 0);
    for _ in edges {
        graph.add_node(());
    }
    for (caller, callees) in edges.iter().enumerate() {
        for &callee in callees {
            graph.add_edge(NodeIndex::new(caller), NodeIndex::new(callee as usize), ());
        }
    }
    let mut component_of = vec![0; edges.len()];
    let mut components = Vec::new();
    // Not Tarjan's: petgraph's recurses as deep as the longest chain of calls.
    for (component, members) in (0..).zip(kosaraju_scc(&graph)) {
        let mut members: Vec<u32> = members.iter().map(|n| n.index() as u32).collect();
        members.sort_unstable();
        for &member in &members {
            component_of[member as usize] = component;
        }
        components.push(members);
    }
    (components, component_of)
}

/// The members of a component in an order in which few calls lead forward (Eades, Lin and Smyth's
/// heuristic): a function that is analysed finds most of its callees done.
fn callees_first(members: Vec<u32>, edges: &[Vec<u32>]) -> Vec<u32> {
    if members.len() == 1 {
        return members;
    }
    let mut graph: DiGraph<u32, ()> = DiGraph::new();
    let nodes: FxHashMap<u32, NodeIndex> = members
        .iter()
        .map(|&member| (member, graph.add_node(member)))
        .collect();
    for &caller in &members {
        for callee in &edges[caller as usize] {
            // From callee to caller: the sort gives what edges come from first.
            if let (Some(&to), Some(&from)) = (nodes.get(&caller), nodes.get(callee)) {
                graph.add_edge(from, to, ());
            }
        }
    }
    let mut circular: Vec<EdgeIndex> = greedy_feedback_arc_set(&graph)
        .map(|edge| edge.id())
        .collect();
    // Removing an edge gives its number to the last one.
    circular.sort_unstable_by(|one, other| other.cmp(one));
    for edge in circular {
        graph.remove_edge(edge);
    }
    match toposort(&graph, None) {
        Ok(order) => order.into_iter().map(|node| graph[node]).collect(),
        Err(_) => members,
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
        let mut members = graph.components[of(1)].members.clone();
        members.sort_unstable();
        assert_eq!(members, [1, 2]);
        assert!(graph.components[of(1)].recursive);
        assert!(graph.components[of(3)].recursive);
        assert!(!graph.components[of(0)].recursive && !graph.components[of(4)].recursive);
        assert!(of(3) < of(1) && of(1) < of(0));
        assert_eq!(graph.components[of(3)].callers, [of(1) as u32]);
        assert_eq!(graph.components[of(0)].callees, 1);
    }

    #[test]
    fn members_of_a_circle_stand_behind_their_callees_but_for_one_call() {
        // 4 calls 0 calls 3 calls 1 calls 2, which calls 4 again; 0 calls 1, 1 and 3 call themselves.
        let edges = [vec![3, 1], vec![2, 1], vec![4], vec![1, 3], vec![0]];
        let graph = Condensation::new(&edges);
        let members = &graph.components[0].members;
        assert_eq!(members.len(), 5);
        let place = |of: u32| members.iter().position(|&member| member == of);
        let calls = edges.iter().zip(0u32..).flat_map(|(callees, caller)| {
            let callees = callees.iter().filter(move |&&callee| callee != caller);
            callees.map(move |&callee| (caller, callee))
        });
        let forward = calls.filter(|&(caller, callee)| place(callee) > place(caller));
        assert_eq!(forward.count(), 1);
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
