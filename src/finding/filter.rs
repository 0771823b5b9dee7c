//! The filters that a failure passes, by how much they ask for before they believe it.

use serde::{Deserialize, Serialize};

/// A reading of what the analysis does not know: which inputs and which answers of callees are taken to be possible. From the strictest,
/// under which the fewest failures are reported, to the one under which all are.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    clap::ValueEnum,
)]
#[serde(rename_all = "lowercase")]
pub enum Filter {
    /// Whatever makes the failure impossible, in terms of all that the function asks for, makes some of its code dead.
    Conc,
    /// The same, in terms of what is checked alone: branches are left open.
    A1,
    /// The same, in terms of inputs alone: what callees return is open, too.
    A2,
    /// No acceptable specification of the inputs and callees makes the failure impossible.
    Angelic,
    /// The failure is possible for some inputs and answers.
    Demonic,
}

/// The rules for which another filter than [`Filter::Conc`] is in force by default.
/// Measured (docs/filters.md): conditions that go together seldom excuse what is wrong with the order of operations, and
/// often a pointer that is null or an object that is lost.
const IN_FORCE: [(&str, Filter); 5] = [
    ("null/unchecked-result", Filter::A1),
    ("heap/use-after-free", Filter::A1),
    ("heap/double-free", Filter::A1),
    ("file/use-after-close", Filter::A1),
    ("file/double-close", Filter::A1),
];

impl Filter {
    /// All of them, the strictest first.
    pub const ALL: [Filter; 5] = [
        Filter::Conc,
        Filter::A1,
        Filter::A2,
        Filter::Angelic,
        Filter::Demonic,
    ];

    /// The filter that is in force for a rule if none is asked for.
    pub fn in_force_for(rule: &str) -> Filter {
        let known = IN_FORCE.iter().find(|(known, _)| *known == rule);
        known.map_or(Filter::Conc, |(_, filter)| *filter)
    }

    /// The name that the command line and the report have for it.
    pub fn name(self) -> &'static str {
        match self {
            Filter::Conc => "conc",
            Filter::A1 => "a1",
            Filter::A2 => "a2",
            Filter::Angelic => "angelic",
            Filter::Demonic => "demonic",
        }
    }
}

/// What the filters say of a failure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Filtered {
    /// Those that report it, the strictest first. The demonic one is always among them.
    pub reported_by: Vec<Filter>,
    /// What makes it impossible, in words of the source, if a filter found that.
    pub specification: Option<String>,
}

impl Filtered {
    /// The strictest filter that reports it.
    pub fn strictest(&self) -> Filter {
        let strictest = self.reported_by.iter().min();
        strictest.copied().unwrap_or(Filter::Demonic)
    }

    /// Whether a filter reports it, or a stricter one of the same kind: what is inconsistent in terms of all predicates is so in terms of
    /// fewer.
    pub fn passes(&self, filter: Filter) -> bool {
        let inconsistent = |filter: Filter| filter <= Filter::A2;
        self.reported_by.iter().any(|&by| match filter {
            Filter::Demonic => true,
            Filter::Angelic => by == Filter::Angelic,
            _ => inconsistent(by) && by <= filter,
        })
    }
}
