//! Programs whose linking is put off until they are run, for `--record-only`.
//!
//! In: a link that would take in empty objects. Out: in the program's place a launcher, which nothing
//! tells from a program until it is run. Then what the empty objects stand for is compiled, the program
//! is linked as it was to be, and it runs. So a build that makes tools and uses them has real ones, and
//! what it only delivers costs nothing.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use object::read::archive::ArchiveFile;
use serde::{Deserialize, Serialize};

use super::folder::{Call, Folder, Id, Kind};
use super::invocation::{self, Invocation};
use super::stub;

/// Tells a launcher from the program that replaces it.
const MARK: &str = "CASSINI-LAUNCHER:";

/// A link that was put off.
#[derive(Debug, Serialize, Deserialize)]
struct Link {
    call: Call,
    /// Arguments that bring in empty objects, by their place.
    stubbed: Vec<Stubbed>,
}

/// An argument that brings in empty objects.
#[derive(Debug, Serialize, Deserialize)]
struct Stubbed {
    argument: usize,
    file: OsString,
}

/// Answers a link with a launcher if it takes in empty objects; false if it does not, or no launcher
/// can be made, and the link is to be done.
pub fn put_off(folder: &Folder, call: &Call, link: &Invocation) -> io::Result<bool> {
    let stubbed = stubbed(link, call.directory());
    if stubbed.is_empty() {
        return Ok(false);
    }
    let id = folder.note(
        Kind::Links,
        &Link {
            call: call.clone(),
            stubbed,
        },
    )?;
    let scratch = tempfile::tempdir_in(folder.scratch())?;
    let source = scratch.path().join("launcher.c");
    fs::write(&source, launcher(folder, &id)?)?;
    let output = output(link, call.directory());
    let made = folder
        .command(call.compiler())
        .args(stub::machine(&link.machine_flags()))
        .args(["-w", "-o"])
        .args([&output, &source])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    Ok(made.is_ok_and(|status| status.success()))
}

fn output(link: &Invocation, directory: &Path) -> PathBuf {
    directory.join(link.output.as_deref().unwrap_or(Path::new("a.out")))
}

/// The C text of a launcher.
fn launcher(folder: &Folder, id: &Id) -> io::Result<String> {
    let program = std::env::current_exe()?;
    let literal = |word: &OsStr| {
        let bytes = word.as_bytes().iter();
        let digits: String = bytes.map(|byte| format!("\\{byte:03o}")).collect();
        format!("\"{digits}\"")
    };
    Ok(format!(
        "#include <stdio.h>\n#include <stdlib.h>\n#include <unistd.h>\n\
         const char mark[] = \"{MARK}{id}\";\n\
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
        skip = MARK.len(),
    ))
}

/// The arguments of a link that bring in empty objects.
fn stubbed(link: &Invocation, directory: &Path) -> Vec<Stubbed> {
    let objects = link
        .inputs
        .iter()
        .filter(|input| input.kind == invocation::Kind::Linked);
    let mut files: Vec<(usize, PathBuf)> = objects
        .map(|input| (input.index, directory.join(link.spelling(input))))
        .collect();
    files.extend(libraries(&link.arguments, directory));
    files.sort();
    let stubbed = files
        .into_iter()
        .filter(|(_, file)| !marks_below(file).is_empty());
    let with_file = |(argument, file): (usize, PathBuf)| Stubbed {
        argument,
        file: file.into(),
    };
    stubbed.map(with_file).collect()
}

/// The files that `-lNAME` means, where the command itself says where to look; the place is that of
/// the last word.
fn libraries(arguments: &[OsString], directory: &Path) -> Vec<(usize, PathBuf)> {
    let values = |flag: &'static [u8]| {
        arguments
            .iter()
            .enumerate()
            .filter_map(
                move |(index, word)| match word.as_bytes().strip_prefix(flag)? {
                    b"" => Some((index + 1, arguments.get(index + 1)?.as_os_str())),
                    joined => Some((index, OsStr::from_bytes(joined))),
                },
            )
    };
    let folders: Vec<PathBuf> = values(b"-L")
        .map(|(_, folder)| directory.join(folder))
        .collect();
    let file = |name: &OsStr| {
        let names = match name.as_bytes().strip_prefix(b":") {
            Some(exact) => vec![OsStr::from_bytes(exact).to_owned()],
            None => ["so", "a"]
                .map(|end| {
                    OsString::from_iter([OsStr::new("lib"), name, OsStr::new("."), OsStr::new(end)])
                })
                .to_vec(),
        };
        let candidates = folders
            .iter()
            .flat_map(|folder| names.iter().map(move |name| folder.join(name)));
        candidates.into_iter().find(|file| file.is_file())
    };
    values(b"-l")
        .filter_map(|(index, name)| Some((index, file(name)?)))
        .collect()
}

/// The ids of the empty objects in a file, or in the files that a thin archive names.
fn marks_below(file: &Path) -> BTreeSet<Id> {
    let Ok(bytes) = fs::read(file) else {
        return BTreeSet::new();
    };
    let mut ids = stub::marks(&bytes);
    for member in thin_members(&bytes, file) {
        ids.extend(
            fs::read(member)
                .map(|bytes| stub::marks(&bytes))
                .unwrap_or_default(),
        );
    }
    ids
}

fn thin_members(bytes: &[u8], file: &Path) -> Vec<PathBuf> {
    let Ok(archive) = ArchiveFile::parse(bytes) else {
        return Vec::new();
    };
    let here = file.parent().unwrap_or(Path::new("/"));
    let members = archive
        .members()
        .flatten()
        .filter(|member| member.is_thin());
    members
        .map(|member| here.join(OsStr::from_bytes(member.name())))
        .collect()
}

/// Links a program that was put off and becomes it: `words` are its own name and arguments. Comes back
/// only with an error.
pub fn run(folder: &Folder, id: &Id, words: &[OsString]) -> io::Error {
    let ready = ready(folder, id);
    let program = match ready {
        Ok(program) => program,
        Err(error) => return error,
    };
    let (name, arguments) = words
        .split_first()
        .map_or((program.as_os_str(), words), |(name, rest)| {
            (name.as_os_str(), rest)
        });
    use std::os::unix::process::CommandExt;
    Command::new(&program).arg0(name).args(arguments).exec()
}

/// The linked program.
fn ready(folder: &Folder, id: &Id) -> io::Result<PathBuf> {
    let lock = File::create(folder.scratch().join(format!("{}.lock", id.as_str())))?;
    lock.lock()?;
    let link: Link = folder.noted(Kind::Links, id)?;
    let directory = link.call.directory();
    let parsed =
        Invocation::parse(&link.call.words(), directory).ok_or(io::ErrorKind::InvalidData)?;
    let output = output(&parsed, directory);
    if !is_launcher(&output)? {
        return Ok(output);
    }
    let made = fs::metadata(&output)?.modified()?;
    let scratch = tempfile::tempdir_in(folder.scratch())?;
    let mut maker = Maker {
        folder,
        scratch: scratch.path(),
        count: 0,
    };
    let mut arguments = Vec::new();
    for (index, word) in parsed.arguments.iter().enumerate() {
        match link
            .stubbed
            .iter()
            .find(|stubbed| stubbed.argument == index)
        {
            Some(stubbed) => {
                // `-l NAME` in two words.
                if arguments.last().is_some_and(|last| last == "-l") {
                    arguments.pop();
                }
                arguments.extend(maker.real(Path::new(&stubbed.file))?);
            }
            None => arguments.push(word.clone()),
        }
    }
    // Not over the launcher itself, which may be running.
    fs::remove_file(&output)?;
    done(
        folder
            .command(link.call.compiler())
            .args(&arguments)
            .current_dir(directory),
    )?;
    // Whatever was made after the launcher stays newer than it.
    File::options()
        .append(true)
        .open(&output)?
        .set_modified(made)?;
    Ok(output)
}

fn is_launcher(program: &Path) -> io::Result<bool> {
    Ok(memchr::memmem::find(&fs::read(program)?, MARK.as_bytes()).is_some())
}

/// Runs a tool whose success is needed.
fn done(tool: &mut Command) -> io::Result<()> {
    // Standard output is the program's that is to be run.
    let status = tool.stdin(Stdio::null()).stdout(io::stderr()).status()?;
    if status.success() {
        return Ok(());
    }
    let name = tool.get_program().display();
    Err(io::Error::other(format!("{name} failed: {status}")))
}

/// Makes real objects and archives of empty ones.
struct Maker<'a> {
    folder: &'a Folder,
    scratch: &'a Path,
    count: usize,
}

impl Maker<'_> {
    /// What to link in the place of a file that holds empty objects.
    fn real(&mut self, file: &Path) -> io::Result<Vec<OsString>> {
        let bytes = fs::read(file)?;
        if let Ok(archive) = ArchiveFile::parse(&*bytes) {
            let here = file.parent().unwrap_or(Path::new("/"));
            let mut members = Vec::new();
            for member in archive.members() {
                let member = member.map_err(io::Error::other)?;
                let (path, content) = if member.is_thin() {
                    let path = here.join(OsStr::from_bytes(member.name()));
                    let content = fs::read(&path)?;
                    (Some(path), content)
                } else {
                    (
                        None,
                        member.data(&*bytes).map_err(io::Error::other)?.to_vec(),
                    )
                };
                members.extend(self.objects(path, &content)?);
            }
            return Ok(vec![self.archive(&members)?.into()]);
        }
        let objects = match is_shared(&bytes) {
            // Its code goes into the program.
            true => vec![self.archive(&self.compiled(&bytes)?)?],
            false => self.objects(Some(file.to_path_buf()), &bytes)?,
        };
        Ok(objects.into_iter().map(OsString::from).collect())
    }

    /// An object, and those that it holds empty. The empty parts of it do no harm.
    fn objects(&mut self, path: Option<PathBuf>, content: &[u8]) -> io::Result<Vec<PathBuf>> {
        let path = match path {
            Some(path) => path,
            None => {
                let path = self.fresh("member.o");
                fs::write(&path, content)?;
                path
            }
        };
        let mut objects = vec![path];
        objects.extend(self.compiled(content)?);
        Ok(objects)
    }

    /// The real objects of the marks in `content`.
    fn compiled(&self, content: &[u8]) -> io::Result<Vec<PathBuf>> {
        stub::marks(content)
            .iter()
            .map(|id| self.object(id))
            .collect()
    }

    fn object(&self, id: &Id) -> io::Result<PathBuf> {
        let object = self.folder.scratch().join(format!("{}.o", id.as_str()));
        if object.exists() {
            return Ok(object);
        }
        let call: Call = self.folder.noted(Kind::Compilations, id)?;
        let parsed =
            Invocation::parse(&call.words(), call.directory()).ok_or(io::ErrorKind::InvalidData)?;
        let source = parsed.sources().next().ok_or(io::ErrorKind::InvalidData)?;
        let made = self.scratch.join("made.o");
        let arguments = stub::compile_arguments(&parsed, source, &made);
        let mut compiler = self.folder.command(call.compiler());
        done(compiler.args(&arguments).current_dir(call.directory()))?;
        fs::rename(&made, &object)?;
        Ok(object)
    }

    fn archive(&mut self, members: &[PathBuf]) -> io::Result<PathBuf> {
        let archive = self.fresh("library.a");
        // `q`, not `r`: members of one name are all kept.
        done(
            self.folder
                .command("ar")
                .arg("qcs")
                .arg(&archive)
                .args(members),
        )?;
        Ok(archive)
    }

    fn fresh(&mut self, name: &str) -> PathBuf {
        self.count += 1;
        self.scratch.join(format!("{}-{name}", self.count))
    }
}

/// Whether this is an ELF shared object.
fn is_shared(bytes: &[u8]) -> bool {
    const ET_DYN: u8 = 3;
    // The type's low byte comes first or second as the file's byte order is.
    let big_endian = bytes.get(5) == Some(&2);
    bytes.starts_with(b"\x7fELF") && bytes.get(if big_endian { 17 } else { 16 }) == Some(&ET_DYN)
}
