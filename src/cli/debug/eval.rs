//! `cassini debug eval`: a program run on the Saturn language.
//!
//! In: a preprocessed unit. Out: what it prints, and its exit status as a shell shows it: 134 when it
//! aborts, 139 when it goes wrong in another way, 124 when it does not end, 125 when it needs what is not
//! modelled.

use std::ffi::OsString;
use std::path::Path;

use anyhow::Context;

use crate::cli::output;
use crate::frontend::whole;
use crate::ir::eval::{Machine, Stop};
use crate::source::Inert;

const NOT_MODELLED: u8 = 125;

pub fn run(file: &Path, steps: u64, compiler: &[OsString]) -> anyhow::Result<u8> {
    let text = std::fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
    let program = whole::program(&text, &file.to_string_lossy(), super::dialect(compiler));
    if let Some(loss) = program.losses.first() {
        let place = format!("{}:{}", loss.file, loss.line);
        anstream::eprintln!("{}: {}", Inert(&place), Inert(&loss.reason.message));
        return Ok(NOT_MODELLED);
    }
    let stop = match Machine::new(&program.functions, &program.objects, steps) {
        Err(stop) => stop,
        Ok(mut machine) => {
            let result = machine.main();
            output::write(None, |out| out.write_all(machine.output()))?;
            match result {
                Ok(status) => return Ok(status.to_le_bytes()[0]),
                Err(stop) => stop,
            }
        }
    };
    anstream::eprintln!("{stop}");
    Ok(match stop {
        Stop::Exit(status) => status.to_le_bytes()[0],
        Stop::Abort => 134,
        Stop::Unknown(_) | Stop::Missing(_) => NOT_MODELLED,
        Stop::Undefined(_) | Stop::Wild(_) => 139,
        Stop::Endless | Stop::Memory => 124,
    })
}
