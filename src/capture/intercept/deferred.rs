//! Links of empty objects, for `--record-only`.
//!
//! In: a link that would take in empty objects. Out: in a program's place a launcher, which nothing
//! tells from a program until it is run; in a library's place one that holds no code. When the program is run,
//! or the library is loaded or linked with a program that runs, what the empty objects stand for is compiled and
//! linked as it was to be ([`super::maker`]). So a build that makes tools and uses them has real ones, and what
//! it only delivers costs nothing. Such a link does not fail for want of symbols.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use object::read::archive::ArchiveFile;
use serde::{Deserialize, Serialize};

use super::folder::{Call, Folder, Id, Kind};
use super::invocation::{Invocation, is_machine_flag};
use super::link::{self, Link};
use super::preload::literal;
use super::stub;
use super::tools::{self, Tool};

/// Tells a launcher from the program that replaces it.
pub const LAUNCHER: &str = "CASSINI-LAUNCHER:";

/// A link that was put off.
#[derive(Debug, Serialize, Deserialize)]
pub struct Deferred {
    /// The linker, or the driver, with the arguments in which each input is a word.
    pub call: Call,
    pub output: OsString,
    pub is_shared: bool,
    /// Arguments that bring in empty objects, by their place.
    pub stubbed: Vec<Stubbed>,
}

/// An argument that brings in empty objects.
#[derive(Debug, Serialize, Deserialize)]
pub struct Stubbed {
    pub argument: usize,
    pub file: OsString,
}

impl Deferred {
    /// What is to be put off of a link; `None` if it takes in no empty object.
    pub fn new(directory: &Path, program: &Path, link: &Link) -> Option<Deferred> {
        let inputs = link.inputs.iter().filter(|input| !input.is_source);
        let stubbed = inputs.filter(|input| !marks_below(&input.path).is_empty());
        let with_file = |input: &link::Input| Stubbed {
            argument: input.index,
            file: input.path.clone().into(),
        };
        let stubbed: Vec<Stubbed> = stubbed.map(with_file).collect();
        (!stubbed.is_empty()).then(|| Deferred {
            call: Call::new(directory, program, &link.arguments),
            output: link.output.clone().into(),
            is_shared: link.kind == link::Kind::Shared,
            stubbed,
        })
    }
}

/// Answers a link that takes in empty objects. False if that cannot be done, and the link is to be.
pub fn answer(
    folder: &Folder,
    link: &Link,
    deferred: &Deferred,
    driver: Option<&Invocation>,
) -> io::Result<bool> {
    match link.kind {
        link::Kind::Program => launch(folder, link, deferred, driver),
        link::Kind::Shared => shared(folder, link, deferred),
        link::Kind::Relocatable => relocatable(folder, link, deferred),
        link::Kind::Archive => Ok(false),
    }
}

/// Puts a launcher in a program's place.
fn launch(
    folder: &Folder,
    link: &Link,
    deferred: &Deferred,
    driver: Option<&Invocation>,
) -> io::Result<bool> {
    let id = folder.note(Kind::Links, deferred)?;
    let scratch = tempfile::tempdir_in(folder.scratch())?;
    let source = scratch.path().join("launcher.c");
    fs::write(&source, launcher(folder, &id)?)?;
    let flags = driver.map_or_else(Vec::new, |call| stub::machine(&call.machine_flags()));
    let made = |compiler: &OsStr, flags: &[OsString]| {
        let mut process = folder.command(compiler);
        process.args(flags).args(["-w", "-x", "c", "-o"]);
        process.args([&link.output, &source]);
        process.stdin(Stdio::null()).stdout(Stdio::null());
        let status = process.stderr(Stdio::null()).status();
        status.is_ok_and(|status| status.success())
    };
    let own = driver.is_some() && made(deferred.call.compiler().as_os_str(), &flags);
    Ok(own || made(OsStr::new("cc"), &[]) || made(OsStr::new("gcc"), &[]))
}

/// The C text of a launcher.
fn launcher(folder: &Folder, id: &Id) -> io::Result<String> {
    let program = std::env::current_exe()?;
    Ok(format!(
        "#include <stdio.h>\n#include <stdlib.h>\n#include <unistd.h>\n\
         const char mark[] = \"{LAUNCHER}{id}\";\n\
         int main(int count, char **words) {{\n\
         char **all = calloc(count + 5, sizeof *all);\n\
         if (!all) return 127;\n\
         all[0] = {program}; all[1] = \"{mode}\"; all[2] = {folder}; all[3] = (char *)mark + {skip};\n\
         for (int i = 0; i < count; i++) all[4 + i] = words[i];\n\
         execv(all[0], all);\n\
         perror(all[0]);\n\
         return 127;\n}}\n",
        id = id.as_str(),
        program = literal(program.as_os_str()),
        mode = super::RUN,
        folder = literal(folder.path().as_os_str()),
        skip = LAUNCHER.len(),
    ))
}

/// Makes a library without code that tells how it is linked.
fn shared(folder: &Folder, link: &Link, deferred: &Deferred) -> io::Result<bool> {
    let id = folder.note(Kind::Links, deferred)?;
    let templates = deferred
        .stubbed
        .iter()
        .filter_map(|stubbed| template_of(Path::new(&stubbed.file)));
    let Some(template) = templates.into_iter().next() else {
        return Ok(false);
    };
    let mark = folder.scratch().join(format!("{}.mark.o", id.as_str()));
    stub::write(&template, &id, &mark)?;
    let mut arguments = deferred.call.arguments.clone();
    arguments.push(mark.clone().into());
    if linked(folder, deferred, &arguments, true)? {
        return Ok(true);
    }
    let mut least = least(link, &["-shared"]);
    if let Some(soname) = link.soname() {
        let words = ["-Xlinker", "-soname", "-Xlinker"];
        let words = words.iter().map(|word| OsStr::new(*word));
        least.extend(words.chain([soname]).map(OsStr::to_owned));
    }
    least.push(mark.into());
    linked(folder, deferred, &least, false)
}

/// Makes a relocatable object that holds the marks of all that it would be made of.
fn relocatable(folder: &Folder, link: &Link, deferred: &Deferred) -> io::Result<bool> {
    if linked(folder, deferred, &deferred.call.arguments, true)? {
        return Ok(true);
    }
    let scratch = tempfile::tempdir_in(folder.scratch())?;
    let mut least = least(link, &["-r"]);
    for stubbed in &deferred.stubbed {
        let Some(template) = template_of(Path::new(&stubbed.file)) else {
            continue;
        };
        for id in marks_below(Path::new(&stubbed.file)) {
            let object = scratch.path().join(format!("{}.o", id.as_str()));
            stub::write(&template, &id, &object)?;
            least.push(object.into());
        }
    }
    linked(folder, deferred, &least, false)
}

/// The arguments of a link that only makes a file of the right kind.
fn least(link: &Link, kind: &[&str]) -> Vec<OsString> {
    let is_machine = |word: &&OsString| *word != "-m" && is_machine_flag(word.as_bytes());
    let mut words: Vec<OsString> = link.arguments.iter().filter(is_machine).cloned().collect();
    // A linker's emulation.
    let pairs = link.arguments.windows(2);
    for pair in pairs.filter(|pair| pair[0] == "-m") {
        words.extend_from_slice(pair);
    }
    words.extend(kind.iter().map(OsString::from));
    words.extend(["-nostdlib".into(), "-o".into(), link.output.clone().into()]);
    words
}

/// Runs a link of empty objects. What it says is shown only where it succeeds.
fn linked(
    folder: &Folder,
    deferred: &Deferred,
    arguments: &[OsString],
    shown: bool,
) -> io::Result<bool> {
    let is_linker = tools::tool(deferred.call.compiler().as_os_str()) == Some(Tool::Linker);
    let words = arguments
        .iter()
        .filter(|word| !is_linker || *word != "-Xlinker");
    let mut process = folder.command(deferred.call.compiler());
    process.args(words).current_dir(deferred.call.directory());
    let output = process.stdin(Stdio::null()).output()?;
    if output.status.success() && shown {
        io::stdout().write_all(&output.stdout)?;
        io::stderr().write_all(&output.stderr)?;
    }
    Ok(output.status.success())
}

/// An empty object of the kind that a file holds.
fn template_of(file: &Path) -> Option<Vec<u8>> {
    let bytes = fs::read(file).ok()?;
    // One whose mark is all there is of ours: others hold code, or several marks.
    let is_template = |bytes: &[u8]| stub::is_relocatable(bytes) && stub::marks(bytes).len() == 1;
    if is_template(&bytes) {
        return Some(bytes);
    }
    if let Ok(archive) = ArchiveFile::parse(&*bytes) {
        for member in archive.members().flatten() {
            let content = match member.is_thin() {
                true => fs::read(thin_member(file, member.name())).ok(),
                false => member.data(&*bytes).ok().map(<[u8]>::to_vec),
            };
            if let Some(content) = content.filter(|content| is_template(content)) {
                return Some(content);
            }
        }
    }
    None
}

/// The ids of the empty objects in a file, or in the files that a thin archive names.
pub fn marks_below(file: &Path) -> BTreeSet<Id> {
    let Ok(bytes) = fs::read(file) else {
        return BTreeSet::new();
    };
    let mut ids = stub::marks(&bytes);
    if let Ok(archive) = ArchiveFile::parse(&*bytes) {
        let members = archive.members().flatten();
        for member in members.filter(|member| member.is_thin()) {
            let content = fs::read(thin_member(file, member.name()));
            ids.extend(content.map(|bytes| stub::marks(&bytes)).unwrap_or_default());
        }
    }
    ids
}

/// The file that a thin archive's member is.
pub fn thin_member(archive: &Path, name: &[u8]) -> PathBuf {
    let here = archive.parent().unwrap_or(Path::new("/"));
    here.join(OsStr::from_bytes(name))
}
