//! Properties as data: finite state machines over interface objects (paper §5), loaded from
//! `checkers/*.toml`.
//!
//! In: checker files. Out: [`Checker`]s with machines, operations and rules, checked at load.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::report::Level;

/// A state of a machine, an index into [`Machine::states`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct StateId(pub u8);

/// Where an operation leads.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Target {
    State(StateId),
    /// The error state, with the id of the rule that names the mistake; `None` when the mistake is
    /// recorded in summaries but not reported (a trylock on a lock already held).
    Error(Option<String>),
}

/// One finite state machine: a kind of lock.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    /// Unique over all checkers: `spin`, `rwlock`, `semaphore`.
    pub name: String,
    pub states: Vec<String>,
    /// The state of an object that the function itself creates.
    pub initial: StateId,
    /// For each operation the target from each state, in the order of `states`.
    pub operations: BTreeMap<String, Vec<Target>>,
    /// The rule for exits in different states without an observable difference (Type B), if any.
    pub inconsistent_exit: Option<String>,
}

/// A rule of a checker; its documentation is the manual page shown by `cassini explain`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rule {
    pub id: String,
    pub level: Level,
    /// One line, with `{object}`, `{state}` and `{function}` filled in.
    pub message: String,
    /// The manual page, Markdown: what it does, why it is bad, example, what it does not see.
    pub explanation: String,
}

/// One checker file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checker {
    pub name: String,
    pub machines: Vec<Machine>,
    pub rules: Vec<Rule>,
}

/// All checkers of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Property {
    pub checkers: Vec<Checker>,
}

impl Property {
    /// The machine of this name.
    pub fn machine(&self, name: &str) -> Option<&Machine> {
        self.checkers
            .iter()
            .flat_map(|checker| &checker.machines)
            .find(|machine| machine.name == name)
    }

    /// The rule of this id.
    pub fn rule(&self, id: &str) -> Option<&Rule> {
        self.checkers
            .iter()
            .flat_map(|checker| &checker.rules)
            .find(|rule| rule.id == id)
    }
}
