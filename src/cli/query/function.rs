//! `cassini query function`: what is known of a function.
//!
//! In: a name, and the database. Out: for each function of that name its summary in words of the source, what was found in it, who calls it and what it
//! calls; as text, or one table row for each thing that is said.

use std::io::{self, Write};
use std::path::Path;

use serde_json::Value;

use crate::cli::output;
use crate::cli::table::{Table, TableFormat};
use crate::property::Property;
use crate::query;
use crate::query::constants::{MAX_FUNCTIONS, constants};
use crate::report::summary::constants::{Constants, NO_CONSTANTS};
use crate::report::summary::{self, Extent};
use crate::report::{Places, place};
use crate::run::load_property;
use crate::source::Inert;
use crate::store::query::{FoundIn, FunctionRow, Neighbour, Reader};
use crate::summary::Summary;

/// Callers, callees and findings that are named; `--full` names all.
const NAMED: usize = 8;
/// Programs that are named of those that a function is in.
const PROGRAMS: usize = 3;

/// What is known of one function.
struct Known {
    row: FunctionRow,
    /// Its callers go by what is known of it beforehand.
    seeded: bool,
    /// Of locks, and of memory and files.
    summaries: [Option<Summary>; 2],
    findings: Vec<FoundIn>,
    callers: Vec<Neighbour>,
    callees: Vec<Neighbour>,
    /// Names for numbers.
    constants: Constants,
}

impl Known {
    fn read(
        reader: &Reader,
        row: FunctionRow,
        summary: Option<Summary>,
        seeded: bool,
        (folder, root, named): (&Path, &Path, bool),
    ) -> anyhow::Result<Known> {
        Ok(Known {
            summaries: [summary, query::memory_of(reader, &row)?],
            findings: reader.found_in(&row)?,
            callers: reader.callers(row.id)?,
            callees: reader.callees(row.id)?,
            constants: match named {
                true => constants(reader, folder, root, &row),
                false => Constants::default(),
            },
            seeded,
            row,
        })
    }

    /// What there is to say of locks, memory and files. What the pass for locks says of a function that it was not done with is nothing.
    fn told(&self) -> Vec<&Summary> {
        let [locks, memory] = &self.summaries;
        let outcome = self.row.outcome.as_deref();
        let has_locks = matches!(outcome, Some("seeded" | "analysed" | "analysed in part"));
        let locks = locks.as_ref().filter(|_| has_locks);
        locks.into_iter().chain(memory).collect()
    }
}

/// Prints what is known of all functions of that name.
pub(in crate::cli) fn function(
    (reader, folder): (&Reader, &Path),
    places: &Places,
    name: &str,
    (extent, format): (Extent, TableFormat),
) -> anyhow::Result<()> {
    let root = query::root(reader, folder)?;
    let (property, seeds, _) = load_property(&[])?;
    let rows = reader.functions(name)?;
    if rows.is_empty()
        && let Some(seed) = seeds.get(name)
    {
        if format != TableFormat::Text {
            let mut table = table();
            facts(
                &mut table,
                &[Value::from(name), Value::Null, Value::Null],
                &[&seed.summary],
                (&property, &NO_CONSTANTS),
            );
            return table.print(format);
        }
        return output::write_plain(None, |out| {
            writeln!(out, "{name}  (known primitive)")?;
            summary::write(out, &[&seed.summary], (&property, &NO_CONSTANTS), extent)
        });
    }
    let rows = match rows.is_empty() {
        true => query::names::functions(reader, places, name)?,
        false => rows,
    };
    let _same_state = reader.snapshot()?;
    let mut shown = Vec::new();
    for row in rows {
        let summary = query::summary_of(reader, &row, &seeds)?;
        shown.push((row, summary));
    }
    query::merge_variants(&mut shown);
    let named = shown.len() <= MAX_FUNCTIONS;
    let known = shown.into_iter().map(|(row, summary)| {
        let seeded = query::seed_of(reader, &row, &seeds).is_some();
        Known::read(reader, row, summary, seeded, (folder, &root, named))
    });
    let known = known.collect::<anyhow::Result<Vec<Known>>>()?;
    if format != TableFormat::Text {
        let mut table = table();
        for known in &known {
            rows_of(&mut table, known, places, &property);
        }
        return table.print(format);
    }
    output::write_plain(None, |out| {
        for known in &known {
            write_heading(out, known, places, extent)?;
            let told = known.told();
            if !told.is_empty() {
                summary::write(out, &told, (&property, &known.constants), extent)?;
            }
            write_findings(out, known, places, extent)?;
            write_names(out, "called by", &known.callers, extent)?;
            write_names(out, "calls", &known.callees, extent)?;
        }
        Ok(())
    })
}

/// Where a function is, and what became of it.
fn write_heading(
    out: &mut dyn Write,
    known: &Known,
    places: &Places,
    extent: Extent,
) -> io::Result<()> {
    let row = &known.row;
    let file = places.name(&row.file);
    write!(out, "{}  {}:{}", row.name.name, Inert(&file), row.line)?;
    if !row.programs.is_empty() {
        let most = match extent {
            Extent::Short if row.programs.len() > PROGRAMS + 1 => PROGRAMS,
            _ => row.programs.len(),
        };
        write!(out, "  in {}", Inert(&row.programs[..most].join(", ")))?;
        if most < row.programs.len() {
            write!(out, " and {} more programs", row.programs.len() - most)?;
        }
    }
    let (outcome, reason) = row.told_outcome();
    let reason = reason.unwrap_or_default();
    let is_no_op = row.outcome.as_deref() == Some("no-op") && known.summaries[1].is_none();
    match outcome {
        None => writeln!(out, "  (not reached: the last check was stopped before it)"),
        Some("no-op" | "analysed") if is_no_op => {
            writeln!(out, "  (touches no lock: the no-op summary)")
        }
        Some("seeded") => writeln!(out, "  (known primitive)"),
        Some("analysed") if known.seeded => {
            writeln!(out, "  (known primitive; its body was checked, too)")
        }
        Some("analysed") => writeln!(out),
        Some("analysed in part") => writeln!(out, "  (analysed in part: {reason})"),
        Some("lost") => writeln!(out, "  (not read: {reason})"),
        Some(outcome) => writeln!(out, "  ({outcome}: {reason})"),
    }
}

fn write_findings(
    out: &mut dyn Write,
    known: &Known,
    places: &Places,
    extent: Extent,
) -> io::Result<()> {
    let most = cut(known.findings.len(), extent);
    for (at, found) in known.findings.iter().take(most).enumerate() {
        let verb = if at == 0 { "findings" } else { "" };
        let place = place(&places.name(&found.file), found.line, 0);
        let (level, rule) = (&found.level, &found.rule);
        writeln!(
            out,
            "  {verb:<9} {level}: {} [{rule}] {}",
            Inert(&found.message),
            Inert(&place)
        )?;
    }
    write_rest(out, known.findings.len() - most)
}

/// Names of functions in one line, each once.
fn write_names(
    out: &mut dyn Write,
    verb: &str,
    functions: &[Neighbour],
    extent: Extent,
) -> io::Result<()> {
    let mut names: Vec<&str> = functions.iter().map(|one| &*one.name.name).collect();
    names.dedup();
    if names.is_empty() {
        return Ok(());
    }
    let most = cut(names.len(), extent);
    let rest = match names.len() - most {
        0 => String::new(),
        rest => format!(" and {rest} more (--full)"),
    };
    writeln!(out, "  {verb:<9} {}{rest}", names[..most].join(", "))
}

/// How many of a list are shown.
fn cut(count: usize, extent: Extent) -> usize {
    match extent {
        Extent::Short if count > NAMED + 1 => NAMED,
        _ => count,
    }
}

fn write_rest(out: &mut dyn Write, rest: usize) -> io::Result<()> {
    match rest {
        0 => Ok(()),
        rest => writeln!(out, "  {:<9} … and {rest} more (--full)", ""),
    }
}

fn table() -> Table {
    Table::new([
        "function", "file", "line", "what", "text", "kind", "before", "after", "when",
    ])
}

/// A row for each thing that is said of a function.
fn rows_of(table: &mut Table, known: &Known, places: &Places, property: &Property) {
    let row = &known.row;
    let named: [Value; 3] = [
        row.name.name.as_str().into(),
        places.name(&row.file).into(),
        row.line.into(),
    ];
    let said = |table: &mut Table, what: &str, text: &str, kind: &str| {
        let kind = if kind.is_empty() {
            Value::Null
        } else {
            kind.into()
        };
        let cells = [
            what.into(),
            text.into(),
            kind,
            Value::Null,
            Value::Null,
            Value::Null,
        ];
        table.row(named.iter().cloned().chain(cells));
    };
    let outcome = row.outcome.as_deref().unwrap_or("not reached");
    said(table, "outcome", outcome, "");
    facts(table, &named, &known.told(), (property, &known.constants));
    for found in &known.findings {
        said(table, &found.level, &found.message, &found.rule);
    }
    for (what, functions) in [("called by", &known.callers), ("calls", &known.callees)] {
        for function in functions {
            said(table, what, &function.name.name, "");
        }
    }
}

/// A row for each thing that the summaries say.
fn facts(
    table: &mut Table,
    named: &[Value; 3],
    summaries: &[&Summary],
    words: (&Property, &Constants),
) {
    for summary in summaries {
        for way in summary::transitions(summary, words) {
            let cells: [Value; 6] = [
                "becomes".into(),
                way.object.into(),
                way.machine.into(),
                way.before.into(),
                way.after.into(),
                way.condition.into(),
            ];
            table.row(named.iter().cloned().chain(cells));
        }
    }
    for (what, text) in summary::effects(summaries, words) {
        let cells = [
            what.into(),
            text.into(),
            Value::Null,
            Value::Null,
            Value::Null,
            Value::Null,
        ];
        table.row(named.iter().cloned().chain(cells));
    }
}
