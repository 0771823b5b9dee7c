//! CPU time of the analysis, in all, by function, and by filter. Told to people only: no result depends on it.

use std::cmp::Reverse;
use std::time::Duration;

use parking_lot::Mutex;
use serde::Serialize;

use crate::cpu_time::{Meter, thread_time};
use crate::filter::costs::{Cost, Costs, Stage};
use crate::program::FunctionId;

/// CPU time of the analysis: in all, and of each function that was executed.
#[derive(Debug, Default)]
pub struct Timings {
    pub total: Meter,
    functions: Mutex<Vec<(FunctionId, Duration)>>,
    filters: Mutex<Costs>,
}

impl Timings {
    /// Runs `work`, which executes `function`, and takes its time.
    pub fn function<T>(&self, function: FunctionId, work: impl FnOnce() -> T) -> T {
        let start = thread_time();
        let result = work();
        let time = thread_time().saturating_sub(start);
        self.functions.lock().push((function, time));
        result
    }

    /// Takes what the filters of one function have taken.
    pub fn filters(&self, costs: Costs) {
        self.filters.lock().add(costs);
    }

    /// What the filters have taken, stage by stage.
    pub fn of_filters(&self) -> Vec<Row> {
        rows(&self.filters.lock())
    }

    /// The functions that took longest, that one first.
    pub fn slowest(&self, count: usize) -> Vec<(FunctionId, Duration)> {
        let mut functions = self.functions.lock().clone();
        functions.sort_by_key(|&(id, time)| (Reverse(time), id));
        functions.truncate(count);
        functions
    }
}

/// One row for each stage that some function has been through.
fn rows(costs: &Costs) -> Vec<Row> {
    let stages = Stage::ALL.iter().filter_map(|&stage| {
        let costs = costs.through(stage);
        (!costs.is_empty()).then(|| Row::of(stage.name(), &costs))
    });
    stages.collect()
}

/// A stage of the filters over all functions, as ACSpec's Figure 9 has it. Times are CPU seconds.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    pub stage: &'static str,
    pub functions: usize,
    /// Those that were looked at as a whole; in the others each failure is looked at by itself.
    pub whole: usize,
    /// On average over the functions that were looked at as a whole.
    pub predicates: f64,
    pub clauses: f64,
    /// Functions with a failure for which the budget ended before either answer was proved.
    pub out_of_budget: usize,
    pub seconds: f64,
    pub median: f64,
    pub percentile_99: f64,
    pub longest: f64,
}

impl Row {
    fn of(stage: &'static str, costs: &[&Cost]) -> Row {
        let mut times: Vec<f64> = costs.iter().map(|cost| cost.time.as_secs_f64()).collect();
        times.sort_by(f64::total_cmp);
        let covers: Vec<(usize, usize)> = costs.iter().filter_map(|cost| cost.cover).collect();
        let mean = |sum: usize| sum as f64 / covers.len().max(1) as f64;
        let at = |share: usize| times[(times.len() - 1) * share / 100];
        Row {
            stage,
            functions: costs.len(),
            whole: covers.len(),
            predicates: mean(covers.iter().map(|(predicates, _)| predicates).sum()),
            clauses: mean(covers.iter().map(|(_, clauses)| clauses).sum()),
            out_of_budget: costs.iter().filter(|cost| cost.undecided > 0).count(),
            seconds: times.iter().sum(),
            median: at(50),
            percentile_99: at(99),
            longest: at(100),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filter::predicates::Configuration;

    #[test]
    fn rows_are_averages_over_functions() {
        let mut all = Costs::default();
        for (milliseconds, cover, undecided) in
            [(1, Some((2, 1)), 0), (3, Some((4, 1)), 0), (50, None, 2)]
        {
            let mut costs = Costs::default();
            let cost = costs.of(Stage::Inconsistency(Configuration::CONC));
            cost.time = Duration::from_millis(milliseconds);
            cost.cover = cover;
            cost.undecided = undecided;
            all.add(costs);
        }
        let rows = rows(&all);
        assert_eq!(rows.len(), 1);
        let row = &rows[0];
        assert_eq!(
            (row.stage, row.functions, row.whole, row.out_of_budget),
            ("conc", 3, 2, 1)
        );
        assert_eq!((row.predicates, row.clauses), (3.0, 1.0));
        assert_eq!((row.median, row.longest), (0.003, 0.05));
    }
}
