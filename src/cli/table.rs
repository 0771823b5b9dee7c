//! Tables, as people and programs read them.
//!
//! In: names of columns, and rows of cells. Out: columns of text side by side, JSON objects, or CSV. What the cells hold is inert in each of them.

use std::fmt::Write as _;
use std::io::{self, Write};

use clap::ValueEnum;
use serde_json::{Map, Value};

use super::output;
use crate::report::json::write_value;
use crate::source::inert;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum TableFormat {
    /// Columns side by side
    #[default]
    Text,
    /// An array of objects
    Json,
    /// Comma-separated values with a line of names, for spreadsheets
    Csv,
}

/// A wider column is not filled up: what follows in its row moves to the right.
const WIDTH: usize = 48;

#[derive(Debug)]
pub struct Table {
    names: Vec<String>,
    rows: Vec<Vec<Value>>,
}

impl Table {
    pub fn new<N: Into<String>>(names: impl IntoIterator<Item = N>) -> Table {
        Table {
            names: names.into_iter().map(Into::into).collect(),
            rows: Vec::new(),
        }
    }

    pub fn row(&mut self, cells: impl IntoIterator<Item = Value>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// Prints the table. As text it has a line of names if it has rows at all; that it has none is said beside it.
    pub fn print(&self, format: TableFormat) -> anyhow::Result<()> {
        if format == TableFormat::Text && self.rows.is_empty() {
            anstream::eprintln!("there are none");
        }
        output::write_inert(|out| match format {
            TableFormat::Text => self.text(out),
            TableFormat::Json => self.json(out),
            TableFormat::Csv => self.csv(out),
        })
    }

    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        if self.rows.is_empty() {
            return Ok(());
        }
        let shown = |cell: String| match inert(&cell).contains('\t') {
            true => inert(&cell).replace('\t', " "),
            false => inert(&cell).into_owned(),
        };
        let rows = self.rows.iter();
        let rows = rows.map(|row| row.iter().map(|value| shown(cell(value))).collect());
        let rows: Vec<Vec<String>> = std::iter::once(self.names.clone()).chain(rows).collect();
        let width = |column: usize| {
            let cells = rows.iter().filter_map(|row| row.get(column));
            let widths = cells.map(|cell| cell.chars().count());
            widths.filter(|width| *width <= WIDTH).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..self.names.len()).map(width).collect();
        for (number, row) in rows.iter().enumerate() {
            let mut line = String::new();
            for (column, (text, width)) in row.iter().zip(&widths).enumerate() {
                // Numbers stand under each other by their last digits.
                let right = number > 0 && self.rows[number - 1][column].is_number();
                match right {
                    true => write!(line, "{text:>width$}  "),
                    false => write!(line, "{text:<width$}  "),
                }
                .unwrap_or_default();
            }
            writeln!(out, "{}", line.trim_end())?;
        }
        Ok(())
    }

    fn json(&self, out: &mut dyn Write) -> io::Result<()> {
        let object = |row: &Vec<Value>| {
            let pairs = self.names.iter().cloned().zip(row.iter().cloned());
            Value::Object(pairs.collect::<Map<String, Value>>())
        };
        let rows: Vec<Value> = self.rows.iter().map(object).collect();
        write_value(out, &rows)
    }

    fn csv(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut writer = csv::Writer::from_writer(out);
        writer.write_record(self.names.iter().map(|name| csv_text(name)))?;
        for row in &self.rows {
            writer.write_record(row.iter().map(|value| match value {
                Value::String(text) => csv_text(text),
                value => cell(value),
            }))?;
        }
        writer.flush()
    }
}

fn cell(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        value => value.to_string(),
    }
}

/// A text that a spreadsheet takes for a text, and not for a formula.
fn csv_text(text: &str) -> String {
    let text = inert(text);
    match text.starts_with(['=', '+', '-', '@', '\t']) {
        true => format!("'{text}"),
        false => text.into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(table: &Table, format: TableFormat) -> String {
        let mut out = Vec::new();
        let written = match format {
            TableFormat::Text => table.text(&mut out),
            TableFormat::Json => table.json(&mut out),
            TableFormat::Csv => table.csv(&mut out),
        };
        written.unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn cells_are_inert_in_every_format() {
        let mut table = Table::new(["name", "count"]);
        table.row(["=cmd(\"x\"),\u{1b}[2J\n".into(), 7.into()]);
        table.row([Value::Null, 120.into()]);
        let text = written(&table, TableFormat::Text);
        let expected = "name                   count\n=cmd(\"x\"),\\u{1b}[2J\\n      7\n";
        assert!(text.starts_with(expected), "{text}");
        let csv = written(&table, TableFormat::Csv);
        assert_eq!(
            csv,
            "name,count\n\"'=cmd(\"\"x\"\"),\\u{1b}[2J\\n\",7\n,120\n"
        );
        let json: Value = serde_json::from_str(&written(&table, TableFormat::Json)).unwrap();
        assert_eq!(json[0]["name"], "=cmd(\"x\"),\u{1b}[2J\n");
        assert_eq!(json[1]["count"], 120);
        assert_eq!(written(&Table::new(["a"]), TableFormat::Text), "");
        assert_eq!(written(&Table::new(["a"]), TableFormat::Csv), "a\n");
    }
}
