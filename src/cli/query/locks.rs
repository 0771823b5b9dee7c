//! `cassini query lock`, `wrappers` and `requires`: what functions do with locks, and need of them.
//!
//! In: the results of the last check. Out: one row for each thing that a function does with a lock of its callers.

use serde_json::Value;

use super::names;
use crate::cli::table::{Table, TableFormat};
use crate::judge::lock_order::Inner;
use crate::property::Property;
use crate::report::Places;
use crate::report::roles::{Act, Role, roles};
use crate::run::all_rules;
use crate::store::query::{FunctionRow, Reader};

/// The columns of all these tables.
const COLUMNS: [&str; 7] = ["act", "lock", "class", "kind", "function", "file", "line"];

fn row(table: &mut Table, act: &str, role: &Role, function: &FunctionRow, places: &Places) {
    let cells: [Value; 7] = [
        act.into(),
        role.object.as_str().into(),
        role.class.as_str().into(),
        role.machine.as_str().into(),
        function.name.name.as_str().into(),
        places.name(&function.file).into(),
        function.line.into(),
    ];
    table.row(cells);
}

/// Prints the functions that do one of these things with a lock, by function.
pub(super) fn doing(
    reader: &Reader,
    places: &Places,
    wanted: fn(Act) -> bool,
    format: TableFormat,
) -> anyhow::Result<()> {
    let property = all_rules(&[])?;
    let mut table = Table::new(COLUMNS);
    reader.each_result(&mut |function, result| {
        for role in roles(&result.summary, &property) {
            if wanted(role.act) {
                row(&mut table, role.act.name(), &role, function, places);
            }
        }
    })?;
    table.print(format)
}

/// Prints who takes, releases, needs and orders the locks of this name: the class's, or as the source writes it; whole, a part, or a glob.
pub(super) fn lock(
    reader: &Reader,
    places: &Places,
    name: &str,
    format: TableFormat,
) -> anyhow::Result<()> {
    let property: Property = all_rules(&[])?;
    let pattern = names::Pattern::new(name)?;
    let mut table = Table::new(COLUMNS);
    reader.each_result(&mut |function, result| {
        for role in roles(&result.summary, &property) {
            if pattern.matches(&role.class) || pattern.matches(&role.object) {
                row(&mut table, role.act.name(), &role, function, places);
            }
        }
        for nested in &result.facts.lock_order.nested {
            let Inner::Taken { class: inner, .. } = &nested.inner else {
                continue;
            };
            let (outer, inner) = (nested.outer.to_string(), inner.to_string());
            if pattern.matches(&outer) || pattern.matches(&inner) {
                let role = Role {
                    act: Act::Uses,
                    object: nested.inner_name.clone(),
                    class: inner,
                    machine: String::new(),
                };
                let act = format!("takes while holding {outer}");
                row(&mut table, &act, &role, function, places);
            }
        }
    })?;
    if table.is_empty() {
        anyhow::bail!(
            "the last check saw no lock `{name}` that functions share with their callers"
        );
    }
    table.print(format)
}
