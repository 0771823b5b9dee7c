//! `cassini serve`: the last check on a local web page.
//!
//! In: the database and an address. Out: the page's address; then the server runs until it is stopped.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use anyhow::Context;

use super::output::{self, WARNING_LABEL};
use super::{CLEAN, DatabaseArguments, report};
use crate::finding::Level;
use crate::store::query::Reader;
use crate::web::Server;

/// The port where none is named; another one if it is in use.
const PORT: u16 = 4711;

#[derive(Debug, clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    database: DatabaseArguments,
    /// The tree, or its database's folder [default: as for --db]
    path: Option<PathBuf>,
    /// Where to listen; port 0 is any that is free [default: 127.0.0.1:4711, or any free port]
    #[arg(long, value_name = "ADDR:PORT")]
    listen: Option<SocketAddr>,
    /// List findings from this level on [default: the tree's, or warning]
    #[arg(long, value_enum)]
    level: Option<Level>,
}

pub fn run(arguments: &Arguments) -> anyhow::Result<u8> {
    let folder = match &arguments.path {
        Some(path) => crate::store::find::named_folder(path),
        None => arguments.database.folder()?,
    };
    let root = crate::query::root(&Reader::open(&folder)?, &folder)?;
    let level = report::level(arguments.level, &root)?;
    let server = match arguments.listen {
        Some(address) => Server::open(&folder, address, level)?,
        None => {
            let at = |port| SocketAddr::from((Ipv4Addr::LOCALHOST, port));
            Server::open(&folder, at(PORT), level)
                .or_else(|_| Server::open(&folder, at(0), level))?
        }
    };
    if arguments
        .listen
        .is_some_and(|address| !address.ip().is_loopback())
    {
        anstream::eprintln!(
            "{WARNING_LABEL}: everybody who reaches this address can read the findings and the source around them"
        );
    }
    let (plain, with_token) = server.addresses()?;
    output::write(None, |out| {
        writeln!(out, "{with_token}")?;
        writeln!(
            out,
            "Open this address in a browser; {plain} alone shows everything and takes no verdicts. Ctrl-C ends the server."
        )
    })?;
    server.run().context("the server has ended")?;
    Ok(CLEAN)
}
