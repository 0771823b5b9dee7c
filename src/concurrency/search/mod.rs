//! FindBug for a program with threads (CBUGS §4): searches of its interleavings.
//!
//! In: a machine, an entry and [`Limits`]. Out: failures, and what was [`Explored`]. [`preemptions`] goes by the number of preemptions,
//! [`depth_first`] leaves out orders that make no difference, [`slicing`] adds threads and places of preemption as they are needed.

pub mod depth_first;
pub mod footprint;
pub mod preemptions;
pub mod slicing;

use std::collections::BTreeSet;

use super::flow::At;
use super::machine::Machine;
use super::state::State;
use slicing::Instance;

/// Counted limits of one search.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// States before visible steps.
    pub states: usize,
    /// Steps of threads.
    pub steps: u64,
    /// Preemptions; `None` for all.
    pub preemptions: Option<u32>,
}

/// What was explored.
#[derive(Clone, Debug, Default)]
pub struct Explored {
    /// In the last search, the one that knew all visible words.
    pub states: usize,
    pub transitions: u64,
    /// Most threads at a time.
    pub threads: usize,
    /// All executions with so many preemptions were explored.
    pub complete_to: Option<u32>,
    /// All executions were, but for those that `cut` names.
    pub exhausted: bool,
    /// Executions that were not followed to their end, and why.
    pub cut: BTreeSet<String>,
    pub searches: usize,
    /// A failure was met behind which nothing was to be looked for.
    pub ended: bool,
    /// The threads that were made, in the order of their numbers.
    pub instances: Vec<Instance>,
    /// Where threads that may be preempted stood when none of them could go on.
    pub waited_at: BTreeSet<At>,
}

/// What to do after a failure.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Next {
    Search,
    End,
}

/// Searches from the beginning of a function, again whenever words have become visible on the way ([`Machine::changed`]): what was
/// explored by the search that knew them all.
fn until_all_is_visible<'p>(
    machine: &mut Machine<'p>,
    entry: usize,
    mut search: impl FnMut(&mut Machine<'p>, State) -> Explored,
) -> Explored {
    for searches in 1.. {
        machine.changed = false;
        let mut explored = match machine.initial(entry) {
            Ok(state) => search(machine, state),
            Err(stop) => {
                let mut explored = Explored::default();
                let text = format!("before the program begins: {stop:?}");
                explored.cut.insert(text);
                explored
            }
        };
        if !machine.changed || explored.ended {
            explored.searches = searches;
            return explored;
        }
    }
    Explored::default()
}
