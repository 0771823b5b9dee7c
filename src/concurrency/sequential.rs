//! The sequential versions of a program (CBUGS §4.1 to §4.3): restricted schedules of the same machine.
//!
//! In: an entry, a filter, the conditions that the machine was given. Out: an execution of that version that fails, if there is one.
//! A thread that waits for another one to end lets it run first, as if it had ended itself; one that waits for
//! anything else ends the execution, which has not failed (§4.2, remark: a deadlock is no bug here).

use rustc_hash::FxHashSet;

use super::code::Step;
use super::failure::Failure;
use super::machine::{Ending, FEW_ROUNDS, Machine};
use super::state::State;
use crate::ir::{Callee, StmtKind};

/// Steps before visible ones that a filter may take.
const TRANSITIONS: usize = 30_000;
/// The same where functions of an open program are run, and steps there.
const OPEN_TRANSITIONS: usize = 3_000;
pub const OPEN_STEPS: u64 = 150_000;

/// A sequential version.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Filter {
    /// A new thread runs at once, to its end.
    AsyncAsSync,
    /// A new thread runs once its creator is at its end.
    AsyncAsEvents,
    /// Either.
    AsyncGeneral,
}

impl Filter {
    pub fn name(self) -> &'static str {
        match self {
            Filter::AsyncAsSync => "AsyncAsSync",
            Filter::AsyncAsEvents => "AsyncAsEvents",
            Filter::AsyncGeneral => "AsyncGeneral",
        }
    }
}

/// A state with its schedule: the running thread last, those that wait for it before it.
#[derive(Clone)]
struct Node {
    state: State,
    running: Vec<usize>,
    pending: Vec<usize>,
    /// So many of those at the end of `running` were started at once: what they start runs at once, too.
    at_once: usize,
}

/// What a search of a sequential version has found.
pub struct Sequential {
    pub failure: Option<(State, Failure)>,
    /// Everything was looked at, but for what `bounded` says.
    pub exhausted: bool,
    /// Loops of an open program were followed for some rounds only.
    pub bounded: bool,
}

/// Looks for a failing execution of a sequential version.
pub fn find(machine: &mut Machine<'_>, entry: usize, filter: Filter) -> Sequential {
    machine.sequential = true;
    let changed = machine.changed;
    let found = search(machine, entry, filter);
    machine.changed = changed;
    machine.sequential = false;
    found
}

fn search(machine: &mut Machine<'_>, entry: usize, filter: Filter) -> Sequential {
    let mut found = Sequential {
        failure: None,
        exhausted: true,
        bounded: false,
    };
    let Ok(state) = machine.initial(entry) else {
        return found;
    };
    let mut open = vec![Node {
        state,
        running: vec![0],
        pending: Vec::new(),
        at_once: 0,
    }];
    let mut seen = FxHashSet::default();
    let mut transitions = 0;
    let begun = machine.spent();
    while let Some(mut node) = open.pop() {
        transitions += 1;
        let exceeds = match machine.program.open {
            true => transitions > OPEN_TRANSITIONS || machine.spent() > begun + OPEN_STEPS,
            false => transitions > TRANSITIONS,
        };
        if exceeds {
            found.exhausted = false;
            return found;
        }
        let Some(&thread) = node.running.last() else {
            start_pending(&node, &mut open);
            continue;
        };
        if node.state.thread(thread).finished {
            node.running.pop();
            node.at_once = node.at_once.saturating_sub(1);
            open.push(node);
            continue;
        }
        let known = node.state.threads.len();
        let results = machine.transition(node.state.clone(), thread);
        if results.is_empty() {
            if node.at_once == 0 && waits_for_end(machine, &node.state, thread) {
                start_pending(&node, &mut open);
            }
            continue;
        }
        for (state, ending) in results {
            match ending {
                Ending::Over => {}
                Ending::Cut(why) if why == FEW_ROUNDS => found.bounded = true,
                Ending::Cut(_) => found.exhausted = false,
                Ending::Failed(failure) => {
                    found.failure = Some((state, failure));
                    return found;
                }
                Ending::Ready => {
                    let next = Node {
                        state,
                        running: node.running.clone(),
                        pending: node.pending.clone(),
                        at_once: node.at_once,
                    };
                    let key = (
                        next.state.hash(machine.program),
                        next.running.clone(),
                        next.pending.clone(),
                        next.at_once,
                    );
                    if seen.insert(key) {
                        scheduled(next, known, filter, &mut open);
                    }
                }
            }
        }
    }
    found
}

/// Runs a new thread now or later, as the filter has it.
fn scheduled(node: Node, known: usize, filter: Filter, open: &mut Vec<Node>) {
    if node.state.threads.len() == known {
        open.push(node);
        return;
    }
    if filter != Filter::AsyncAsSync && node.at_once == 0 {
        let mut later = node.clone();
        later.pending.push(known);
        open.push(later);
    }
    if filter != Filter::AsyncAsEvents || node.at_once > 0 {
        let mut now = node;
        now.running.push(known);
        now.at_once += 1;
        open.push(now);
    }
}

/// Lets each of the waiting threads run next.
fn start_pending(node: &Node, open: &mut Vec<Node>) {
    for at in (0..node.pending.len()).rev() {
        let mut next = node.clone();
        let thread = next.pending.remove(at);
        next.running.push(thread);
        open.push(next);
    }
}

/// Whether a thread stands at a call that waits for another one to end.
fn waits_for_end(machine: &Machine<'_>, state: &State, thread: usize) -> bool {
    let Some(frame) = state.frame(thread) else {
        return false;
    };
    let code = &machine.program.code[frame.code].code;
    match code.steps.get(frame.at as usize) {
        Some((Step::Statement(StmtKind::Call(call)), _)) => match &call.callee {
            Callee::Direct(id) => {
                let name = code.body.symbol(*id).name.name.as_str();
                matches!(name, "pthread_join" | "thrd_join")
            }
            Callee::Indirect { .. } => false,
        },
        _ => false,
    }
}
