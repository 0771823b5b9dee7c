//! `cassini query guards`, as a table.
//!
//! In: the guards of members from the last `cassini race`. Out: one row for each member, and one below it for each place where its lock is not
//! held.

use anyhow::bail;

use crate::cli::table::{Table, TableFormat};
use crate::report::Places;
use crate::store::query::{Counted, Reader};

/// Prints which lock guards each member whose name has this part.
pub(super) fn print(
    reader: &Reader,
    name: &str,
    places: &Places,
    format: TableFormat,
) -> anyhow::Result<()> {
    if !reader.has_guards()? {
        bail!("no locks of members are known: `cassini race FOLDER` finds them");
    }
    let found = reader.guards(name)?;
    if found.is_empty() {
        bail!(
            "the last `cassini race` saw no member `{name}` that is written, and accessed under a lock"
        );
    }
    let mut table = Table::new([
        "member",
        "lock",
        "functions",
        "accesses",
        "writes",
        "z",
        "without",
    ]);
    for guard in found {
        let all = guard.accesses_with + guard.accesses_without;
        let accesses = reader.accesses_to(&guard.member)?;
        let without = accesses
            .iter()
            .filter(|access| !access.locks.contains(&guard.lock));
        let place = |access: &Counted| {
            let file = places.name(&access.file);
            format!("{} {file}:{}", access.function, access.line)
        };
        let without: Vec<String> = without.map(place).collect();
        table.row([
            guard.member.into(),
            guard.lock.into(),
            format!("{} of {}", guard.with, guard.with + guard.without).into(),
            format!("{} of {all}", guard.accesses_with).into(),
            guard.writes.into(),
            format!("{:.1}", guard.z).into(),
            without.join(", ").into(),
        ]);
    }
    table.print(format)
}
