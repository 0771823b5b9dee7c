//! `cassini completions` and `cassini man`: what shells and manual readers know of the command line.
//!
//! In: the definitions that the arguments are parsed by. Out: a script for a shell; manual pages.

use std::path::PathBuf;

use anyhow::Context;
use clap::{Command, CommandFactory};
use clap_complete::Shell;

use super::{CLEAN, output};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
For bash: cassini completions bash > ~/.local/share/bash-completion/completions/cassini
For fish: cassini completions fish > ~/.config/fish/completions/cassini.fish
For zsh:  cassini completions zsh > a file _cassini in a folder of $fpath")]
pub struct Completions {
    #[arg(value_enum)]
    shell: Shell,
}

#[derive(Debug, clap::Args)]
pub struct Man {
    /// Write a page for each command into this folder [default: the first page to standard output]
    folder: Option<PathBuf>,
}

/// All of the command line.
fn command() -> Command {
    super::Arguments::command()
}

pub fn completions(arguments: &Completions) -> anyhow::Result<u8> {
    let mut text = Vec::new();
    clap_complete::generate(arguments.shell, &mut command(), "cassini", &mut text);
    output::write(None, |out| out.write_all(&text))?;
    Ok(CLEAN)
}

pub fn man(arguments: &Man) -> anyhow::Result<u8> {
    let Some(folder) = &arguments.folder else {
        let mut text = Vec::new();
        clap_mangen::Man::new(command()).render(&mut text)?;
        output::write(None, |out| out.write_all(&text))?;
        return Ok(CLEAN);
    };
    let name = folder.display();
    std::fs::create_dir_all(folder).with_context(|| format!("cannot make {name}"))?;
    clap_mangen::generate_to(command(), folder)
        .with_context(|| format!("cannot write to {name}"))?;
    Ok(CLEAN)
}
