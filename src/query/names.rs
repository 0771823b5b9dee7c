//! Which functions a name means.
//!
//! In: what a person has typed: a name, `file::name`, a glob, or a part of a name. Out: the functions; or an error that lists several, or suggests
//! the nearest.

use anyhow::bail;

use crate::report::Places;
use crate::store::query::{FunctionRow, Reader, is_glob};

/// Matches told of before the rest is only counted.
const SHOWN: usize = 20;

/// The functions that are meant. A glob means all that match; a part of a name means the function that it completes to.
pub fn functions(reader: &Reader, places: &Places, name: &str) -> anyhow::Result<Vec<FunctionRow>> {
    let exact = reader.functions(name)?;
    if !exact.is_empty() {
        return Ok(exact);
    }
    let mut found = reader.functions_like(name)?;
    if found.is_empty() {
        return Err(unknown(reader, name)?);
    }
    // A function compiled in two ways is two of one place.
    let place = |row: &FunctionRow| (row.name.clone(), row.file.clone(), row.line);
    let mut places_found: Vec<_> = found.iter().map(place).collect();
    places_found.dedup();
    if is_glob(name) || places_found.len() == 1 {
        return Ok(found);
    }
    found.dedup_by_key(|row| place(row));
    let shown = found.iter().take(SHOWN).map(|row| {
        let file = places.name(&row.file);
        format!("{} ({file}:{})", row.name.name, row.line)
    });
    let shown = shown.collect::<Vec<_>>().join(", ");
    let more = match found.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    bail!("there is no function `{name}`; these have it in their names: {shown}{more}");
}

/// The one function that is meant.
pub fn one(reader: &Reader, places: &Places, name: &str) -> anyhow::Result<FunctionRow> {
    let found = functions(reader, places, name)?;
    let mut others = found.iter().skip(1);
    let Some(first) = found.first() else {
        return Err(unknown(reader, name)?);
    };
    let is_other = |row: &&FunctionRow| (&row.file, row.line) != (&first.file, first.line);
    if let Some(other) = others.find(is_other) {
        bail!(
            "there are several functions `{name}`: say {}::{} or {}::{}",
            first.file,
            first.name.name,
            other.file,
            other.name.name
        );
    }
    Ok(first.clone())
}

/// The error for a name that the database does not have.
pub fn unknown(reader: &Reader, name: &str) -> anyhow::Result<anyhow::Error> {
    let similar = reader.similar(name)?;
    let advice = if similar.is_empty() {
        String::new()
    } else {
        format!("; did you mean {}?", similar.join(", "))
    };
    Ok(anyhow::anyhow!(
        "the last check saw no function `{name}`{advice}"
    ))
}
