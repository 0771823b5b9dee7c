//! `cassini lsp`: the last check in an editor.
//!
//! In: what to check, as for `check`, and an editor at standard input. Out: its language server, until the editor ends it.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use anyhow::Context;

use super::asked::{Asked, Wanted};
use super::{CLEAN, FAILED, signals};
use crate::lsp::{self, Workspace};
use crate::triage::baseline;

#[derive(Debug, clap::Args)]
pub struct Arguments {
    // Without a path, the folder that the editor has open is checked.
    #[command(flatten)]
    asked: Asked,
}

pub fn run(arguments: Arguments) -> anyhow::Result<u8> {
    let received = signals::end_in_order()?;
    let prepare = |folder: &Path| workspace(&arguments.asked, folder);
    let in_order = lsp::serve(&prepare, &Arc::clone(&received.raised))?;
    Ok(match (received.status(), in_order) {
        (Some(status), _) => status,
        (None, true) => CLEAN,
        (None, false) => FAILED,
    })
}

/// What is to be checked where the editor has this folder open.
fn workspace(asked: &Asked, folder: &Path) -> anyhow::Result<Workspace> {
    let Wanted {
        settings,
        level,
        baseline,
        notices,
    } = asked.wanted(folder)?;
    let known = match baseline {
        None => None,
        Some(file) => {
            let name = file.display().to_string();
            let bytes = fs::read(&file).with_context(|| name.clone())?;
            let known = baseline::read(&bytes);
            Some(known.map_err(|error| anyhow::anyhow!("{name} {error}"))?)
        }
    };
    Ok(Workspace {
        settings,
        level,
        known,
        notices,
    })
}
