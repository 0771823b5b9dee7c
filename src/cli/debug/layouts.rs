//! `cassini debug layouts`: the record types of a unit, for `scripts/layouts`.
//!
//! In: a preprocessed unit. Out: lines of fields between tabs: `type SPELLING SIZE ALIGN`, then for its
//! members `member NAME BIT` or `field NAME BIT WIDTH int|bool`; `constant NAME VALUE`;
//! `failure SPELLING REASON`.

use std::ffi::OsString;
use std::path::Path;

use anyhow::Context;

use crate::cli::{CLEAN, output};
use crate::frontend::whole;

pub fn run(file: &Path, compiler: &[OsString]) -> anyhow::Result<u8> {
    let text = std::fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
    let layouts = whole::layouts(&text, &file.to_string_lossy(), super::dialect(compiler));
    output::write(None, |out| {
        for ty in &layouts.types {
            writeln!(out, "type\t{}\t{}\t{}", ty.spelling, ty.size, ty.align)?;
            for member in &ty.members {
                let (name, bit) = (&member.name, member.bit);
                match member.width {
                    None => writeln!(out, "member\t{name}\t{bit}")?,
                    Some((width, truth)) => {
                        let kind = if truth { "bool" } else { "int" };
                        writeln!(out, "field\t{name}\t{bit}\t{width}\t{kind}")?;
                    }
                }
            }
        }
        for (name, value) in &layouts.constants {
            writeln!(out, "constant\t{name}\t{value}")?;
        }
        for (spelling, reason) in &layouts.failures {
            writeln!(out, "failure\t{spelling}\t{reason}")?;
        }
        Ok(())
    })?;
    Ok(CLEAN)
}
