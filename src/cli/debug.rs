//! `cassini debug`: every intermediate form of a function, printed.

use anyhow::{Context, bail};
use clap::Subcommand;

use super::{CLEAN, DatabaseArguments, output, query};
use crate::store::query::{Reader, open_bodies};

#[derive(Debug, clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    database: DatabaseArguments,
    #[command(subcommand)]
    form: Form,
}

#[derive(Debug, Subcommand)]
enum Form {
    /// The lowered body: the Saturn language
    Ir {
        /// `name`, or `file::name`
        name: String,
    },
    /// The summary, as `cassini query function`
    Summary {
        /// `name`, or `file::name`
        name: String,
    },
}

pub fn run(arguments: &Arguments) -> anyhow::Result<u8> {
    let folder = arguments.database.folder();
    let reader = Reader::open(&folder)?;
    match &arguments.form {
        Form::Summary { name } => query::function(&reader, name)?,
        Form::Ir { name } => {
            let row = query::single(&reader, name)?;
            let Some(key) = row.body else {
                bail!(
                    "{name} has no body: {}",
                    row.reason.as_deref().unwrap_or("it was not read")
                );
            };
            let body = open_bodies(&folder)?.get(key).with_context(|| {
                format!("the body of {name} is not in the cache; run `cassini check` again")
            })?;
            output::write(None, |out| writeln!(out, "{body:#?}"))?;
        }
    }
    Ok(CLEAN)
}
