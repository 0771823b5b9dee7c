//! `cassini query callers`, `callees`, `path` and `holds`, as text or tables.
//!
//! In: what [`crate::query::calls`] answers. Out: trees, chains of calls, and locks with their holders.

use serde_json::Value;

use crate::cli::output;
use crate::cli::table::{Table, TableFormat};
use crate::query::calls::{Holder, Node};
use crate::report::Places;
use std::collections::BTreeMap;

/// Prints functions below each other, indented by how many calls lie between.
pub(super) fn print_tree(
    nodes: &[Node],
    places: &Places,
    format: TableFormat,
) -> anyhow::Result<()> {
    if format != TableFormat::Text {
        let mut table = Table::new(["depth", "function", "file", "line", "holding"]);
        for node in nodes {
            let place = node.row.as_ref();
            let cells: [Value; 5] = [
                node.depth.into(),
                node.name.name.as_str().into(),
                place.map_or(Value::Null, |row| places.name(&row.file).into()),
                place.map_or(Value::Null, |row| row.line.into()),
                node.held.join(", ").into(),
            ];
            table.row(cells);
        }
        return table.print(format);
    }
    output::write_plain(None, |out| {
        for Node {
            depth,
            name,
            row,
            held,
            again,
        } in nodes
        {
            write!(out, "{}{}  ", "  ".repeat(*depth), name.name)?;
            match row {
                Some(row) => write!(out, "{}:{}", places.name(&row.file), row.line)?,
                None => write!(out, "(not defined in the tree)")?,
            }
            if !held.is_empty() {
                write!(out, "  holding {}", held.join(", "))?;
            }
            writeln!(out, "{}", if *again { "  (see above)" } else { "" })?;
        }
        Ok(())
    })
}

/// Prints locks, each with a function that holds it and the calls from there.
pub(super) fn print_holders(
    found: BTreeMap<String, Holder>,
    places: &Places,
    format: TableFormat,
) -> anyhow::Result<()> {
    let mut table = Table::new(["lock", "held by", "file", "line", "calls"]);
    for (lock, Holder { function, calls }) in found {
        let cells: [Value; 5] = [
            lock.into(),
            function.name.name.as_str().into(),
            places.name(&function.file).into(),
            function.line.into(),
            calls.join(" > ").into(),
        ];
        table.row(cells);
    }
    table.print(format)
}
