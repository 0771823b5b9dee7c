//! `cassini query lock`, `wrappers` and `requires`, as tables.
//!
//! In: what [`crate::query::locks`] answers. Out: one row for each thing that a function does with a lock.

use serde_json::Value;

use crate::cli::table::{Table, TableFormat};
use crate::query::locks::Doing;
use crate::report::Places;

/// Prints what functions do with locks.
pub(super) fn print(found: &[Doing], places: &Places, format: TableFormat) -> anyhow::Result<()> {
    let mut table = Table::new(["act", "lock", "class", "kind", "function", "file", "line"]);
    for doing in found {
        let function = &doing.function;
        let cells: [Value; 7] = [
            doing.act().into(),
            doing.role.object.as_str().into(),
            doing.role.class.as_str().into(),
            doing.role.machine.as_str().into(),
            function.name.as_str().into(),
            places.name(&function.file).into(),
            function.line.into(),
        ];
        table.row(cells);
    }
    table.print(format)
}
