//! The ledger: what became of every unit, declaration and function (nothing is lost silently).
//!
//! In: the linked program and the records of its functions. Out: a [`Ledger`] of counts, equal for
//! equal programs and options.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

use super::analysis::{Disposition, Record};
use super::function::Statistics;
use super::program::Program;

/// Counts over one run. Functions are those defined in the tree's own files, each place once.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Ledger {
    pub units: u64,
    /// Units that did not preprocess or could not be read.
    pub units_failed: u64,
    pub declarations: u64,
    /// Declarations that did not parse or lower, anywhere in the units' text.
    pub declarations_lost: u64,
    pub functions: Functions,
    /// Functions outside the tree's own files that these reach.
    pub functions_reached: u64,
    pub statistics: Statistics,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Functions {
    pub defined: u64,
    pub parsed: u64,
    pub lowered: u64,
    pub analysed: u64,
    pub no_op: u64,
    pub seeded: u64,
    pub out_of_budget: u64,
    pub failed: u64,
    /// Not parsed or not lowered.
    pub lost: u64,
    /// The run was stopped before them.
    pub unfinished: u64,
}

impl Ledger {
    pub fn new(program: &Program, records: &[Option<Record>], units_failed: u64) -> Ledger {
        let mut ledger = Ledger {
            units: program.units.len() as u64,
            units_failed,
            declarations: program.units.iter().map(|unit| unit.declarations).sum(),
            declarations_lost: program.losses.len() as u64,
            ..Ledger::default()
        };
        // A function compiled in several ways counts once, as the worst that became of it.
        let mut own: BTreeMap<_, _> = BTreeMap::new();
        for (function, record) in program.functions.iter().zip(records) {
            if let Some(record) = record {
                ledger.statistics += record.statistics;
            }
            if !function.own {
                ledger.functions_reached += 1;
                continue;
            }
            let record = record.as_ref();
            let place = (&function.file, function.line, &function.name);
            let entry = own.entry(place).or_insert((function, record));
            if rank(record) > rank(entry.1) {
                *entry = (function, record);
            }
        }
        for (function, record) in own.into_values() {
            let functions = &mut ledger.functions;
            functions.defined += 1;
            functions.parsed += u64::from(function.parsed());
            functions.lowered += u64::from(function.body.is_ok());
            *match record.map(|record| &record.disposition) {
                Some(Disposition::Analysed) => &mut functions.analysed,
                Some(Disposition::NoOp) => &mut functions.no_op,
                Some(Disposition::Seeded) => &mut functions.seeded,
                Some(Disposition::OutOfBudget(_)) => &mut functions.out_of_budget,
                Some(Disposition::Failed(_)) => &mut functions.failed,
                Some(Disposition::Lost(_)) => &mut functions.lost,
                None => &mut functions.unfinished,
            } += 1;
        }
        ledger
    }

    /// Whether a file, declaration of the tree or function was lost to an error or a budget.
    pub fn has_losses(&self) -> bool {
        let functions = &self.functions;
        self.units_failed + self.declarations_lost > 0
            || functions.out_of_budget + functions.failed + functions.lost > 0
    }
}

fn rank(record: Option<&Record>) -> u8 {
    match record.map(|record| &record.disposition) {
        Some(Disposition::NoOp) => 0,
        Some(Disposition::Seeded) => 1,
        Some(Disposition::Analysed) => 2,
        Some(Disposition::OutOfBudget(_)) => 3,
        Some(Disposition::Failed(_)) => 4,
        Some(Disposition::Lost(_)) => 5,
        None => 6,
    }
}

impl fmt::Display for Ledger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let functions = &self.functions;
        write!(f, "{} translation units", self.units)?;
        if self.units_failed > 0 {
            write!(f, " ({} more failed)", self.units_failed)?;
        }
        write!(f, ", {} declarations", self.declarations)?;
        if self.declarations_lost > 0 {
            write!(f, " ({} lost)", self.declarations_lost)?;
        }
        write!(
            f,
            "\n{} functions: {} analysed, {} touch no lock",
            functions.defined, functions.analysed, functions.no_op
        )?;
        for (count, what) in [
            (functions.seeded, "are known primitives"),
            (functions.out_of_budget, "out of budget"),
            (functions.failed, "failed"),
            (functions.lost, "not read"),
            (functions.unfinished, "not reached"),
        ] {
            if count > 0 {
                write!(f, ", {count} {what}")?;
            }
        }
        Ok(())
    }
}
