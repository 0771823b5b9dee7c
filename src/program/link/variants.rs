//! Which programs a function must be analysed apart for: partition refinement.
//!
//! In: for each definition the places where it is linked, and which definitions its calls mean at each. Out: for each
//! definition a class for each of its places. Two places are in one class if and only if all calls mean the same
//! there, and what those call does, too, however deep: what is analysed once for each class is as if it were
//! analysed for each place.

use rustc_hash::FxHashMap;

/// A definition: what it calls where.
#[derive(Clone, Debug, Default)]
pub(super) struct Node {
    /// The images that it is linked into, ascending; never empty.
    pub places: Vec<u32>,
    /// For each place which of `answers` holds there; empty if there is one answer.
    pub direct: Vec<u32>,
    /// The nodes that the calls mean, in an order that all answers share.
    pub answers: Vec<Vec<u32>>,
}

impl Node {
    pub(super) fn answer(&self, at: usize) -> usize {
        self.direct.get(at).map_or(0, |answer| *answer as usize)
    }

    /// The index of a place; of one that the definition is not linked into, that of the first.
    pub(super) fn at(&self, place: u32) -> usize {
        self.places.binary_search(&place).unwrap_or(0)
    }
}

/// For each node the class of each of its places, numbered in their order.
pub(super) fn classes(nodes: &[Node]) -> Vec<Vec<u32>> {
    let mut callers: Vec<Vec<u32>> = vec![Vec::new(); nodes.len()];
    for (caller, node) in (0..).zip(nodes) {
        // What is linked once has one class.
        if node.places.len() > 1 {
            for &callee in node.answers.iter().flatten() {
                callers[callee as usize].push(caller);
            }
        }
    }
    for callers in &mut callers {
        callers.sort_unstable();
        callers.dedup();
    }
    let mut classes: Vec<Vec<u32>> = nodes
        .iter()
        .map(|node| match node.direct.len() {
            0 => vec![0; node.places.len()],
            _ => renumbered(node.direct.iter()),
        })
        .collect();
    let split = |classes: &[u32]| classes.iter().any(|class| *class > 0);
    let mut work: Vec<u32> = Vec::new();
    let mut waits = vec![false; nodes.len()];
    for (node, classes) in classes.iter().enumerate() {
        if split(classes) {
            push(&callers[node], &mut work, &mut waits);
        }
    }
    while let Some(node) = work.pop() {
        waits[node as usize] = false;
        let index = node as usize;
        let signatures = signatures(nodes, &classes, index);
        let refined = renumbered(signatures.iter());
        if refined != classes[index] {
            classes[index] = refined;
            push(&callers[index], &mut work, &mut waits);
        }
    }
    classes
}

fn push(nodes: &[u32], work: &mut Vec<u32>, waits: &mut [bool]) {
    for &node in nodes {
        if !std::mem::replace(&mut waits[node as usize], true) {
            work.push(node);
        }
    }
}

/// For each place of a node its class so far, its answer, and the classes of what its calls mean there.
fn signatures(nodes: &[Node], classes: &[Vec<u32>], index: usize) -> Vec<Vec<u32>> {
    let node = &nodes[index];
    let places = node.places.iter().enumerate();
    let signature = |(at, &place): (usize, &u32)| {
        let answer = node.answer(at);
        let callees = node.answers.get(answer).into_iter().flatten();
        let callees = callees.map(|&callee| {
            let at = nodes[callee as usize].at(place);
            classes[callee as usize][at]
        });
        let so_far = [classes[index][at], answer as u32];
        so_far.into_iter().chain(callees).collect()
    };
    places.map(signature).collect()
}

/// The same classes, numbered as they come.
fn renumbered<T: std::hash::Hash + Eq>(classes: impl Iterator<Item = T>) -> Vec<u32> {
    let mut numbers: FxHashMap<T, u32> = FxHashMap::default();
    let mut number = |class| {
        let next = numbers.len() as u32;
        *numbers.entry(class).or_insert(next)
    };
    classes.map(&mut number).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    const PLACES: u32 = 4;

    /// Nodes that are each linked into some places, with an answer for each place: one that means a node for each of its
    /// calls.
    fn graphs() -> impl Strategy<Value = Vec<Node>> {
        (2u32..9).prop_flat_map(|count| {
            let places = prop::collection::btree_set(0..PLACES, 1..=PLACES as usize);
            let answers =
                prop::collection::vec(prop::collection::vec(0..count, 2), PLACES as usize);
            let node = (places, answers).prop_map(|(places, answers)| {
                let places: Vec<u32> = places.into_iter().collect();
                let mut known: Vec<Vec<u32>> = Vec::new();
                let mut direct = Vec::new();
                for place in &places {
                    // Few different answers, so that some are alike.
                    let answer = &answers[(*place / 2) as usize];
                    let at = known.iter().position(|other| other == answer);
                    direct.push(at.unwrap_or(known.len()) as u32);
                    if at.is_none() {
                        known.push(answer.clone());
                    }
                }
                Node {
                    places,
                    direct,
                    answers: known,
                }
            });
            prop::collection::vec(node, count as usize)
        })
    }

    /// The pairs of a node's places that nothing tells apart: all but those at which the calls mean different nodes, or
    /// mean one that is told apart.
    fn alike(nodes: &[Node]) -> BTreeSet<(u32, u32, u32)> {
        let mut alike = BTreeSet::new();
        for (node, Node { places, .. }) in (0..).zip(nodes) {
            for one in places {
                alike.extend(places.iter().map(|other| (node, *one, *other)));
            }
        }
        let calls = |node: u32, place: u32| {
            let node = &nodes[node as usize];
            &node.answers[node.answer(node.at(place))]
        };
        let linked = |node: u32, place: u32| {
            let node = &nodes[node as usize];
            node.places[node.at(place)]
        };
        loop {
            let same = |&(node, one, other): &(u32, u32, u32)| {
                let mut callees = calls(node, one).iter();
                calls(node, one) == calls(node, other)
                    && callees.all(|&callee| {
                        let pair = (callee, linked(callee, one), linked(callee, other));
                        alike.contains(&pair)
                    })
            };
            let kept: BTreeSet<_> = alike.iter().copied().filter(same).collect();
            if kept == alike {
                return alike;
            }
            alike = kept;
        }
    }

    proptest! {
        #[test]
        fn places_are_in_one_class_if_all_that_is_called_there_is_the_same(nodes in graphs()) {
            let classes = classes(&nodes);
            let alike = alike(&nodes);
            for (node, classes) in (0..).zip(&classes) {
                let places = &nodes[node as usize].places;
                for (one, class) in places.iter().zip(classes) {
                    for (other, other_class) in places.iter().zip(classes) {
                        let same = alike.contains(&(node, *one, *other));
                        prop_assert_eq!(class == other_class, same);
                    }
                }
            }
        }
    }

    #[test]
    fn a_function_differs_where_what_it_calls_does_however_deep() {
        let node = |places: &[u32], direct: &[u32], answers: &[&[u32]]| Node {
            places: places.to_vec(),
            direct: direct.to_vec(),
            answers: answers.iter().map(|answer| answer.to_vec()).collect(),
        };
        // 0 calls 1, which calls 3 in program 7 and 4 in programs 8 and 9; 2 calls nothing.
        let classes = classes(&[
            node(&[7, 8, 9], &[], &[&[1, 2]]),
            node(&[7, 8, 9], &[0, 1, 1], &[&[3], &[4]]),
            node(&[7, 8, 9], &[], &[&[]]),
            node(&[7], &[], &[&[]]),
            node(&[8, 9], &[], &[&[]]),
        ]);
        assert_eq!(classes[0], [0, 1, 1]);
        assert_eq!(classes[1], [0, 1, 1]);
        assert_eq!(classes[2], [0, 0, 0]);
        assert_eq!((&classes[3], &classes[4]), (&vec![0], &vec![0, 0]));
    }
}
