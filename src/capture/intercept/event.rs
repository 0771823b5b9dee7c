//! What is noted of links, archives and copies, in the order in which they happened.
//!
//! In: what a linker's, an archiver's or a copier's call takes in and makes. Out: an [`Event`], with what it
//! takes to tell later which compilation an input comes from, should it have been renamed or taken out of an
//! archive meanwhile: the marks of empty objects, or the hash of what it held.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use super::archive::{Change, Edit};
use super::copying::Copied;
use super::folder::{Folder, Id, Kind};
use super::link::{self, Link};
use super::stub;
use crate::capture::tree::normalise;

pub type Hash = [u8; 32];

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// Nanoseconds of the clock.
    pub at: u128,
    pub what: What,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum What {
    Link {
        kind: link::Kind,
        output: OsString,
        inputs: Vec<Part>,
    },
    Archive {
        archive: OsString,
        /// Whether it was there before.
        existed: bool,
        edit: Edited,
    },
    Copy {
        from: Part,
        to: OsString,
    },
}

impl What {
    /// The files that something was made of.
    pub fn parts(&self) -> &[Part] {
        match self {
            What::Link { inputs, .. } => inputs,
            What::Archive {
                edit: Edited::Added { parts, .. },
                ..
            } => parts,
            What::Archive { .. } => &[],
            What::Copy { from, .. } => std::slice::from_ref(from),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Edited {
    Added {
        parts: Vec<Part>,
        replaces: bool,
        flattens: bool,
    },
    Deleted(Vec<OsString>),
}

/// A file that something was made of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// Absolute, as named.
    pub path: OsString,
    /// Symbolic links followed, where that is another.
    pub real: Option<OsString>,
    /// Of the content; none of files that the capture knows by their path, and of those of the system.
    pub hash: Option<Hash>,
    /// What the empty objects in it stand for. Of objects only.
    pub marks: Vec<Id>,
}

/// Where files of the system are, which no build makes.
const SYSTEM: &[&str] = &["/usr/lib", "/lib", "/lib64"];

/// A file's path without links in its folder.
pub fn place(path: &Path) -> PathBuf {
    let (folder, name) = (path.parent(), path.file_name());
    match (folder.map(Path::canonicalize), name) {
        (Some(Ok(folder)), Some(name)) => folder.join(name),
        _ => normalise(path),
    }
}

/// Notes a link.
pub fn note_link(folder: &Folder, link: &Link) -> io::Result<()> {
    let inputs = link
        .inputs
        .iter()
        .filter_map(|input| match input.is_source {
            true => Some(Part {
                path: normalise(&input.path).into(),
                real: None,
                hash: None,
                marks: Vec::new(),
            }),
            false => part(folder, &input.path),
        });
    let inputs = inputs.collect();
    let output = place(&link.output);
    folder.note_output(&output)?;
    note(
        folder,
        What::Link {
            kind: link.kind,
            output: output.into(),
            inputs,
        },
    )
}

/// Notes a change of an archive, before it is done.
pub fn note_edit(folder: &Folder, edit: &Edit) -> io::Result<()> {
    let archive = place(&edit.archive);
    folder.note_output(&archive)?;
    let edited = match edit.change {
        Change::Delete => {
            let names = edit.files.iter().map(|file| file.clone().into());
            Edited::Deleted(names.collect())
        }
        Change::Replace | Change::Append => Edited::Added {
            parts: edit.files.iter().filter_map(|file| member(file)).collect(),
            replaces: edit.change == Change::Replace,
            flattens: edit.flattens,
        },
    };
    note(
        folder,
        What::Archive {
            existed: archive.is_file(),
            archive: archive.into(),
            edit: edited,
        },
    )
}

/// Notes a copy, before it is done.
pub fn note_copy(folder: &Folder, (from, to): &Copied) -> io::Result<()> {
    let Some(from) = part(folder, from) else {
        return Ok(());
    };
    let to = place(to);
    note(
        folder,
        What::Copy {
            from,
            to: to.into(),
        },
    )
}

fn note(folder: &Folder, what: What) -> io::Result<()> {
    let at = SystemTime::now().duration_since(UNIX_EPOCH);
    let at = at.map_or(0, |since| since.as_nanos());
    folder.note(Kind::Events, &Event { at, what }).map(drop)
}

/// A file as it is now; `None` if it is not there.
fn part(folder: &Folder, path: &Path) -> Option<Part> {
    let place = place(path);
    let real = place.canonicalize().ok()?;
    let known = folder.is_output(&place) || folder.is_output(&real);
    let is_system = SYSTEM.iter().any(|system| real.starts_with(system));
    // An empty object tells best what it stands for, whatever its name.
    let content = match is_system || known && !is_object(&real) {
        true => None,
        false => fs::read(&real).ok(),
    };
    Some(described(place, real, content))
}

/// A member that is added to an archive: it may be taken out again, so that its content counts.
fn member(path: &Path) -> Option<Part> {
    let place = place(path);
    let real = place.canonicalize().ok()?;
    let content = fs::read(&real).ok()?;
    Some(described(place, real, Some(content)))
}

fn described(place: PathBuf, real: PathBuf, content: Option<Vec<u8>>) -> Part {
    let marks = match &content {
        Some(content) if stub::is_relocatable(content) => stub::marks(content),
        _ => Default::default(),
    };
    Part {
        real: (real != place).then(|| real.into()),
        path: place.into(),
        hash: content.map(|content| *blake3::hash(&content).as_bytes()),
        marks: marks.into_iter().collect(),
    }
}

/// By its name, an object.
fn is_object(path: &Path) -> bool {
    path.extension()
        .is_some_and(|end| end == "o" || end == "lo" || end == "os" || end == "obj")
}
