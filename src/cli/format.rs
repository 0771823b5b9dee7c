//! The formats of reports, for `check` and `report`.
//!
//! In: what a report is made of. Out: the report, on standard output or in a file.

use std::path::Path;

use clap::ValueEnum;

use super::output;
use crate::report::{Contents, html, json, markdown, sarif, text};

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For a terminal
    Text,
    /// One object with everything, for scripts and as a baseline
    Json,
    /// SARIF 2.1.0, for code hosts, editors and other analysers' tools, and as a baseline
    Sarif,
    /// One page with the source and the paths in it, for a browser
    Html,
    /// For a comment on a change, or a wiki
    Markdown,
}

/// Writes a report to a file, or to standard output without one.
pub fn write(format: Format, file: Option<&Path>, contents: &Contents<'_>) -> anyhow::Result<()> {
    output::write(file, |out| match format {
        Format::Text => text::write_report(out, contents),
        Format::Json => json::write(out, contents),
        Format::Sarif => sarif::write(out, contents),
        Format::Html => html::write(out, contents),
        Format::Markdown => markdown::write(out, contents),
    })
}
