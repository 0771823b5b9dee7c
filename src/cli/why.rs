//! `cassini query why FILE:LINE`: what the last check found at a place, and why it does not report it.
//!
//! In: the findings that the database keeps, those that an explanation covers among them. Out: those that lie at the place or
//! lead through it, each with its explanations.

use std::io::{self, Write};
use std::path::Path;

use anyhow::Context;
use serde_json::Value;

use super::output;
use super::table::{Table, TableFormat};
use crate::finding::Finding;
use crate::report::{Places, text};
use crate::source::Inert;
use crate::store::query::{FunctionRow, Reader};
use crate::triage::Entry;

/// A place that a person has named.
struct Asked<'a> {
    file: &'a str,
    line: u32,
}

impl<'a> Asked<'a> {
    fn parse(text: &'a str) -> anyhow::Result<Self> {
        let (file, line) = text.rsplit_once(':').unwrap_or((text, ""));
        let line = line
            .parse()
            .with_context(|| format!("`{text}` is no FILE:LINE"))?;
        Ok(Asked { file, line })
    }

    /// Whether this is the file that is meant: by its name from here, or by the end of its path.
    fn is_file(&self, file: &str, places: &Places) -> bool {
        let named = self.file.strip_prefix("./").unwrap_or(self.file);
        places.name(file) == named || Path::new(file).ends_with(named)
    }

    /// Whether a finding lies there, or its trace leads through it.
    fn is_met_by(&self, finding: &Finding, places: &Places) -> bool {
        let is_here = |file: &str, line: u32| line == self.line && self.is_file(file, places);
        let mut steps = finding.trace.iter();
        is_here(&finding.file, finding.line) || steps.any(|step| is_here(&step.file, step.line))
    }
}

/// Prints what was found at a place; of a place without findings, what became of its function.
pub(super) fn why(
    reader: &Reader,
    (root, places): (&Path, &Places),
    place: &str,
    format: TableFormat,
) -> anyhow::Result<()> {
    let asked = Asked::parse(place)?;
    let all = reader.entries()?;
    let (here, others): (Vec<&Entry>, Vec<&Entry>) = all
        .iter()
        .partition(|entry| asked.is_met_by(&entry.finding, places));
    if format != TableFormat::Text {
        return table(&here, places).print(format);
    }
    let is_file = |file: &str| asked.is_file(file, places);
    let function = reader.function_before(&is_file, asked.line)?;
    output::write(None, |out| {
        if !here.is_empty() {
            return text::write(out, &here, root, places);
        }
        writeln!(out, "{}: nothing was found here", Inert(place))?;
        let Some(row) = &function else {
            return writeln!(out, "the last check saw no function before this line");
        };
        write_function(out, row, places)?;
        let findings = others.iter().map(|entry| &entry.finding);
        for finding in findings.filter(|finding| is_of(finding, row)) {
            let file = places.name(&finding.file);
            let (file, message) = (Inert(&file), Inert(&finding.message));
            writeln!(out, "  {file}:{}: {message}", finding.line)?;
        }
        Ok(())
    })
}

/// The findings as rows, each with all readings that make it none in one cell.
fn table(entries: &[&Entry], places: &Places) -> Table {
    let names = [
        "id",
        "level",
        "rule",
        "file",
        "line",
        "function",
        "message",
        "not a bug if",
    ];
    let mut table = Table::new(names);
    for entry in entries {
        let finding = &entry.finding;
        let cells: [Value; 8] = [
            finding.fingerprint.as_str().into(),
            finding.level.name().into(),
            finding.rule.as_str().into(),
            places.name(&finding.file).into(),
            finding.line.into(),
            finding.function.as_str().into(),
            finding.message.as_str().into(),
            finding.specification().into(),
        ];
        table.row(cells);
    }
    table
}

fn is_of(finding: &Finding, row: &FunctionRow) -> bool {
    finding.function == row.name.name && finding.file == row.file
}

/// The last function that begins before the place, and what became of it.
fn write_function(out: &mut dyn Write, row: &FunctionRow, places: &Places) -> io::Result<()> {
    let file = places.name(&row.file);
    let file = Inert(&file);
    write!(
        out,
        "the function before it, {} ({file}:{}), ",
        Inert(&row.name.name),
        row.line
    )?;
    let (outcome, reason) = row.told_outcome();
    let reason = Inert(reason.unwrap_or_default());
    match outcome {
        None => writeln!(out, "was not reached: the last check was stopped"),
        Some("analysed") => writeln!(out, "was analysed"),
        Some("no-op") => writeln!(out, "touches no lock, and neither does what it calls"),
        Some("seeded") => writeln!(out, "is a known primitive, and is not analysed"),
        Some("analysed in part") => writeln!(out, "was analysed in part: {reason}"),
        Some("lost") => writeln!(out, "was not read: {reason}"),
        Some(outcome) => writeln!(out, "was not analysed: {outcome}: {reason}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_a_file_and_a_line() {
        let asked = Asked::parse("a/b.c:12").unwrap();
        assert_eq!((asked.file, asked.line), ("a/b.c", 12));
        for wrong in ["b.c", "b.c:", "b.c:x"] {
            assert!(Asked::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_end_of_a_path_names_a_file_by_whole_names() {
        let places = Places::new(Path::new("/t"), Path::new("/t"));
        let is = |asked: &str, file: &str| Asked::parse(asked).unwrap().is_file(file, &places);
        assert!(is("b.c:1", "a/b.c"));
        assert!(is("./a/b.c:1", "a/b.c"));
        assert!(!is("b.c:1", "a/bb.c"));
        assert!(!is("x/b.c:1", "a/b.c"));
    }
}
