//! The ledger: what became of every unit, declaration and function (nothing is lost silently).
//!
//! In: the linked program. Out: a [`Reading`] of counts, and with the records of its functions a
//! [`Ledger`]; equal for equal programs and options.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::judge::record::Statistics;
use crate::judge::record::{Disposition, Record};
use crate::program::{Program, Unit};

/// What was read of the tree. Functions are distinct ones, those of the tree's own files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reading {
    pub units: u64,
    /// Further units, which did not preprocess or could not be read.
    pub units_failed: u64,
    /// Bytes of preprocessed text.
    pub bytes: u64,
    /// Declarations in the units' text, each as often as it is there.
    pub declarations: u64,
    /// Declarations that did not parse or lower, each place once.
    pub declarations_lost: u64,
    /// Function definitions in the units' text, each as often as it is there.
    pub definitions: u64,
    pub functions: u64,
    pub parsed: u64,
    pub lowered: u64,
}

impl Reading {
    pub fn new(program: &Program) -> Reading {
        let sum = |count: fn(&Unit) -> u64| program.units.iter().map(count).sum();
        let mut reading = Reading {
            units: program.units.len() as u64,
            units_failed: program.failed.len() as u64,
            bytes: sum(|unit| unit.bytes),
            declarations: sum(|unit| unit.declarations),
            declarations_lost: program.losses.len() as u64,
            definitions: sum(|unit| unit.function_definitions),
            ..Reading::default()
        };
        // A function compiled in several ways counts once, and as read if all of those are.
        let mut own: BTreeMap<_, (bool, bool)> = BTreeMap::new();
        for function in program.functions.iter().filter(|function| function.own) {
            let place = (&function.file, function.line, &function.name);
            let (parsed, lowered) = own.entry(place).or_insert((true, true));
            *parsed &= function.parsed();
            *lowered &= function.body.is_ok();
        }
        reading.functions = own.len() as u64;
        for (parsed, lowered) in own.into_values() {
            reading.parsed += u64::from(parsed);
            reading.lowered += u64::from(lowered);
        }
        reading
    }
}

impl fmt::Display for Reading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} translation units", self.units)?;
        if self.units_failed > 0 {
            write!(f, " ({} more failed)", self.units_failed)?;
        }
        write!(f, ", {} declarations", self.declarations)?;
        if self.declarations_lost > 0 {
            write!(f, " ({} lost)", self.declarations_lost)?;
        }
        write!(f, ", {} function definitions", self.definitions)?;
        let Reading {
            functions,
            parsed,
            lowered,
            ..
        } = *self;
        write!(f, ", {functions} distinct: ")?;
        if lowered == functions {
            return write!(f, "all parsed and lowered");
        }
        let share = |count: u64| {
            // Cut off, not rounded: 100 % is all of them.
            let hundredths = count * 10_000 / functions;
            format!("{}.{:02} %", hundredths / 100, hundredths % 100)
        };
        write!(
            f,
            "{parsed} parsed ({}), {lowered} lowered ({})",
            share(parsed),
            share(lowered)
        )
    }
}

/// What losses with this message have in common: what it quotes, and its numbers, are left out.
pub fn cause(message: &str) -> String {
    let mut out = String::new();
    let mut rest = message.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '`' => {
                rest.by_ref().find(|&c| c == '`');
                out.push('…');
            }
            '0'..='9' => {
                while rest.next_if(char::is_ascii_digit).is_some() {}
                out.push('…');
            }
            _ => out.push(c),
        }
    }
    out
}

/// Counts over one run. Functions are those defined in the tree's own files, each place once.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ledger {
    pub reading: Reading,
    /// Translation units that the user wants left out.
    pub units_excluded: u64,
    pub functions: Functions,
    /// What became of them in further passes, for checkers that are about accesses to memory.
    pub further: Vec<Functions>,
    /// Functions outside the tree's own files that these reach.
    pub functions_reached: u64,
    pub statistics: Statistics,
}

/// What became of the functions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Functions {
    /// Each was to be executed, and not only those that touch an object.
    pub all: bool,
    pub defined: u64,
    /// Those that call others in some programs of the tree than in others: each is analysed several times.
    pub in_several_programs: u64,
    pub analysed: u64,
    pub no_op: u64,
    pub seeded: u64,
    /// A budget ran out, and a cheaper execution told what callers see of them.
    pub in_part: u64,
    pub out_of_budget: u64,
    pub failed: u64,
    /// Not parsed or not lowered.
    pub lost: u64,
    /// The run was stopped before them, or was not to analyse.
    pub unfinished: u64,
}

impl Ledger {
    /// `passes`: what each pass over the functions says of them, and whether it is one over all.
    pub fn new(program: &Program, passes: &[(bool, Vec<Option<Record>>)]) -> Ledger {
        let mut ledger = Ledger {
            reading: Reading::new(program),
            ..Ledger::default()
        };
        let others = program.functions.iter().filter(|function| !function.own);
        let reached = others.filter(|function| function.variant.unwrap_or(0) == 0);
        ledger.functions_reached = reached.count() as u64;
        for (number, (all, records)) in passes.iter().enumerate() {
            for record in records.iter().flatten() {
                ledger.statistics += record.facts.statistics;
            }
            let functions = Functions {
                all: *all,
                ..Functions::new(program, records)
            };
            match number {
                0 => ledger.functions = functions,
                _ => ledger.further.push(functions),
            }
        }
        ledger
    }

    /// Whether a file, declaration of the tree or function was lost to an error or a budget.
    pub fn has_losses(&self) -> bool {
        let mut passes = std::iter::once(&self.functions).chain(&self.further);
        self.reading.units_failed + self.reading.declarations_lost > 0
            || passes.any(Functions::has_losses)
    }
}

impl Functions {
    fn new(program: &Program, records: &[Option<Record>]) -> Functions {
        // A function compiled in several ways counts once, as the worst that became of it.
        let mut own: BTreeMap<_, _> = BTreeMap::new();
        let mut apart: BTreeSet<u32> = BTreeSet::new();
        for (function, record) in program.functions.iter().zip(records) {
            if !function.own {
                continue;
            }
            apart.extend(function.variant.map(|_| function.definition));
            let record = record.as_ref();
            let place = (&function.file, function.line, &function.name);
            let worst = own.entry(place).or_insert(record);
            if rank(record) > rank(*worst) {
                *worst = record;
            }
        }
        let mut functions = Functions {
            in_several_programs: apart.len() as u64,
            ..Functions::default()
        };
        for record in own.into_values() {
            functions.defined += 1;
            *match record.map(|record| &record.disposition) {
                Some(Disposition::Analysed) => &mut functions.analysed,
                Some(Disposition::NoOp) => &mut functions.no_op,
                Some(Disposition::Seeded) => &mut functions.seeded,
                Some(Disposition::Reduced(_)) => &mut functions.in_part,
                Some(Disposition::OutOfBudget(_)) => &mut functions.out_of_budget,
                Some(Disposition::Failed(_)) => &mut functions.failed,
                Some(Disposition::Lost(_)) => &mut functions.lost,
                None => &mut functions.unfinished,
            } += 1;
        }
        functions
    }

    fn has_losses(&self) -> bool {
        self.in_part + self.out_of_budget + self.failed + self.lost > 0
    }

    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Functions {
            analysed, no_op, ..
        } = *self;
        match (self.all, analysed) {
            (true, _) => write!(
                f,
                "\n{analysed} of them were analysed for accesses to memory"
            )?,
            (false, 1) => write!(
                f,
                "\n{analysed} of them touches a lock and was analysed, {no_op} touch none"
            )?,
            (false, _) => write!(
                f,
                "\n{analysed} of them touch a lock and were analysed, {no_op} touch none"
            )?,
        }
        // What is seldom.
        for (count, what) in [
            (self.seeded, "are known primitives"),
            (self.in_part, "analysed in part"),
            (self.out_of_budget, "out of budget"),
            (self.failed, "failed"),
            (self.unfinished, "not reached"),
        ] {
            if count > 0 {
                write!(f, ", {count} {what}")?;
            }
        }
        Ok(())
    }
}

fn rank(record: Option<&Record>) -> u8 {
    match record.map(|record| &record.disposition) {
        Some(Disposition::NoOp) => 0,
        Some(Disposition::Seeded) => 1,
        Some(Disposition::Analysed) => 2,
        Some(Disposition::Reduced(_)) => 3,
        Some(Disposition::OutOfBudget(_)) => 4,
        Some(Disposition::Failed(_)) => 5,
        Some(Disposition::Lost(_)) => 6,
        None => 7,
    }
}

impl fmt::Display for Ledger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Ledger {
            reading, functions, ..
        } = self;
        write!(f, "{} translation units", reading.units)?;
        if reading.units_failed > 0 {
            write!(f, " ({} more failed)", reading.units_failed)?;
        }
        if self.units_excluded > 0 {
            write!(f, " ({} more left out by --exclude)", self.units_excluded)?;
        }
        let lost = reading.functions - reading.lowered;
        write!(f, ", {} functions: ", reading.functions)?;
        match lost {
            0 => f.write_str("all read")?,
            _ => write!(f, "{} read, {lost} lost", reading.lowered)?,
        }
        if reading.declarations_lost > lost {
            let others = reading.declarations_lost - lost;
            write!(f, "; {others} other declarations lost")?;
        }
        functions.write(f)?;
        match functions.in_several_programs {
            0 => Ok(()),
            count => write!(
                f,
                "; {count} of them looked at once for each of the programs that they differ in"
            ),
        }?;
        for functions in &self.further {
            functions.write(f)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_of_one_kind_have_one_cause() {
        assert_eq!(cause("expected `;`, found `x1`"), "expected …, found …");
        assert_eq!(cause("line 12: 3 of 45"), "line …: … of …");
        assert_eq!(cause("unclosed ` quote"), "unclosed …");
    }

    #[test]
    fn only_all_is_a_hundred_per_cent() {
        let shown = |functions, lowered| {
            let reading = Reading {
                functions,
                parsed: functions,
                lowered,
                ..Reading::default()
            };
            reading.to_string()
        };
        assert!(shown(100_000, 100_000).ends_with("all parsed and lowered"));
        assert!(
            shown(100_000, 99_999).ends_with("100000 parsed (100.00 %), 99999 lowered (99.99 %)")
        );
        assert!(shown(0, 0).ends_with("0 distinct: all parsed and lowered"));
    }
}
