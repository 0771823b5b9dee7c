//! Bottom-up schedule: each component runs as soon as its callees are done, on all cores, without
//! barriers between levels (paper §6).
//!
//! In: a [`Condensation`] and the work to do for one component. Out: nothing; the work leaves its
//! results where callers find them. Work may rely on the callees' work being over and visible.

use std::sync::atomic::{AtomicU32, Ordering};

use rayon::Scope;

use crate::program::call_graph::Condensation;

/// Runs `work` once for each component, in the current rayon pool. Once `cancel` says so, components
/// that have not started do not start; the answer is whether all have run.
pub fn run<F>(graph: &Condensation, cancel: &(dyn Fn() -> bool + Sync), work: F) -> bool
where
    F: Fn(u32) + Sync,
{
    let plan = Plan {
        graph,
        waiting: graph
            .components
            .iter()
            .map(|component| AtomicU32::new(component.callees))
            .collect(),
        cancel,
        work,
    };
    rayon::scope(|scope| {
        for (id, component) in (0..).zip(&graph.components) {
            if component.callees == 0 {
                plan.start(scope, id);
            }
        }
    });
    !cancel()
}

struct Plan<'g, F> {
    graph: &'g Condensation,
    /// For each component the number of callees that are not done.
    waiting: Vec<AtomicU32>,
    cancel: &'g (dyn Fn() -> bool + Sync),
    work: F,
}

impl<F: Fn(u32) + Sync> Plan<'_, F> {
    fn start<'s>(&'s self, scope: &Scope<'s>, id: u32) {
        scope.spawn(move |scope| {
            if (self.cancel)() {
                return;
            }
            (self.work)(id);
            for &caller in &self.graph.components[id as usize].callers {
                // Release what this component wrote to whoever takes the count to zero.
                if self.waiting[caller as usize].fetch_sub(1, Ordering::AcqRel) == 1 {
                    self.start(scope, caller);
                }
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use std::sync::OnceLock;
    use std::sync::atomic::AtomicBool;

    use proptest::prelude::*;

    use super::*;

    /// Each component's result is a hash of its callees' results.
    fn fingerprints(edges: &[Vec<u32>], jobs: usize) -> Vec<blake3::Hash> {
        let graph = Condensation::new(edges);
        let done: Vec<OnceLock<blake3::Hash>> = edges.iter().map(|_| OnceLock::new()).collect();
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(jobs)
            .build()
            .unwrap();
        let complete = pool.install(|| {
            run(&graph, &|| false, |id| {
                let members = &graph.components[id as usize].members;
                for &member in members {
                    let mut hasher = blake3::Hasher::new();
                    hasher.update(&member.to_le_bytes());
                    for &callee in &edges[member as usize] {
                        match done[callee as usize].get() {
                            Some(hash) => hasher.update(hash.as_bytes()),
                            None => {
                                assert!(members.contains(&callee), "a callee was not done");
                                hasher.update(b"recursive")
                            }
                        };
                    }
                    done[member as usize]
                        .set(hasher.finalize())
                        .expect("run once");
                }
            })
        });
        assert!(complete);
        done.into_iter()
            .map(|hash| hash.into_inner().expect("every component runs"))
            .collect()
    }

    fn graphs() -> impl Strategy<Value = Vec<Vec<u32>>> {
        (1u32..60).prop_flat_map(|nodes| {
            prop::collection::vec(prop::collection::vec(0..nodes, 0..4), nodes as usize)
        })
    }

    proptest! {
        #[test]
        fn one_job_equals_eight(edges in graphs()) {
            prop_assert_eq!(fingerprints(&edges, 1), fingerprints(&edges, 8));
        }
    }

    #[test]
    fn cancelled_components_do_not_start() {
        let graph = Condensation::new(&[vec![1], vec![2], vec![]]);
        let cancel = AtomicBool::new(false);
        let count = AtomicU32::new(0);
        let complete = run(&graph, &|| cancel.load(Ordering::Relaxed), |_| {
            count.fetch_add(1, Ordering::Relaxed);
            cancel.store(true, Ordering::Relaxed);
        });
        assert!(!complete);
        assert_eq!(count.into_inner(), 1);
    }
}
