//! What the filters cost, as ACSpec's Figure 9 tells it: predicates, clauses and time, by configuration. No result depends on it.
//!
//! In: what the filters of a function do. Out: what each of their stages has taken.

use std::time::Duration;

use super::predicates::Configuration;
use crate::cpu_time::thread_time;

/// A stage of the filters of one function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The function's locations and checks.
    View,
    Inconsistency(Configuration),
    Angelic,
}

impl Stage {
    pub const ALL: [Stage; 6] = [
        Stage::View,
        Stage::Inconsistency(Configuration::CONC),
        Stage::Inconsistency(Configuration::A0),
        Stage::Inconsistency(Configuration::A1),
        Stage::Inconsistency(Configuration::A2),
        Stage::Angelic,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Stage::View => "view",
            Stage::Inconsistency(configuration) => configuration.name(),
            Stage::Angelic => "angelic",
        }
    }
}

/// What one stage has taken for one function.
#[derive(Clone, Copy, Debug)]
pub struct Cost {
    pub stage: Stage,
    pub time: Duration,
    /// Predicates and clauses of the cover, if the function was looked at as a whole.
    pub cover: Option<(usize, usize)>,
    /// Failures for which the budget ended before either answer was proved.
    pub undecided: usize,
}

impl Cost {
    fn new(stage: Stage) -> Cost {
        Cost {
            stage,
            time: Duration::ZERO,
            cover: None,
            undecided: 0,
        }
    }
}

/// What the filters of one function have taken.
#[derive(Clone, Debug, Default)]
pub struct Costs(Vec<Cost>);

impl Costs {
    /// Runs a part of a stage and adds its CPU time.
    pub fn measure<T>(&mut self, stage: Stage, work: impl FnOnce() -> T) -> T {
        let start = thread_time();
        let result = work();
        self.of(stage).time += thread_time().saturating_sub(start);
        result
    }

    /// What a stage has taken so far.
    pub fn of(&mut self, stage: Stage) -> &mut Cost {
        let known = self.0.iter().position(|cost| cost.stage == stage);
        let index = known.unwrap_or_else(|| {
            self.0.push(Cost::new(stage));
            self.0.len() - 1
        });
        &mut self.0[index]
    }

    pub fn add(&mut self, other: Costs) {
        self.0.extend(other.0);
    }

    /// What one stage has taken in each function that has been through it.
    pub fn through(&self, stage: Stage) -> Vec<&Cost> {
        self.0.iter().filter(|cost| cost.stage == stage).collect()
    }
}
