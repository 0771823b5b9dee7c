//! A stored function as the filters see it: what callers and callees have to see to for nothing to fail in it.
//!
//! In: a function of the last run, with its body. Out: text. The function is executed again, on the summaries that its callees have.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, bail};
use parking_lot::Mutex;

use super::constants::constants;
use crate::engine::filtering::{self, Told};
use crate::engine::function::Options;
use crate::ir::Body;
use crate::run::{Pass, passes};
use crate::store::Bodies;
use crate::store::callees::StoredCallees;
use crate::store::query::{FunctionRow, Reader, open_bodies};
use crate::symbolic::callee::Callees;

/// The checkers whose failures go through the filters.
const MEMORY: [&str; 4] = ["heap", "null", "file", "assert"];

/// What the filters say of a function.
pub fn filtered(folder: &Path, row: &FunctionRow, told: Told) -> anyhow::Result<String> {
    let (passes, _) = passes(&MEMORY.map(str::to_owned), true)?;
    let pass = passes.first().context("no checker is in force")?;
    let named = matches!(told, Told::Specification);
    let text = with_callees(folder, row, pass, |body, callees| {
        filtering::describe(body, callees, &pass.property, &Options::default(), told)
    })?;
    if !named {
        return Ok(text);
    }
    let reader = Reader::open(folder)?;
    let root = super::root(&reader, folder)?;
    Ok(constants(&reader, folder, &root, row).in_text(&text))
}

/// What is made of a stored body and of what is known of its callees.
pub fn with_callees(
    folder: &Path,
    row: &FunctionRow,
    pass: &Pass,
    text: impl Fn(&Body, &dyn Callees) -> String,
) -> anyhow::Result<String> {
    let (body, bodies) = body(folder, row)?;
    let callees = StoredCallees {
        reader: Mutex::new(Reader::open(folder)?),
        bodies: &bodies,
        seeds: &pass.seeds,
        function: row.id,
        accesses: pass.property.watches_accesses(),
    };
    Ok(text(&body, &callees))
}

/// The body of a function of the last run.
pub fn body(folder: &Path, row: &FunctionRow) -> anyhow::Result<(Arc<Body>, Bodies)> {
    let name = &row.name.name;
    let Some(key) = row.body else {
        bail!(
            "{name} has no body: {}",
            row.reason.as_deref().unwrap_or("it was not read")
        );
    };
    let bodies = open_bodies(folder)?;
    let body = bodies.get(key).with_context(|| {
        format!("the body of {name} is not in the cache; run `cassini check` again")
    })?;
    Ok((body, bodies))
}
