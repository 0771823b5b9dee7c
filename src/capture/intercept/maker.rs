//! Makes for real what was answered with empty objects, when a build needs it after all.
//!
//! In: the id of a link that was put off. Out: the program or library in its place, linked of what the empty
//! objects stand for, which is compiled now; libraries that it is linked with are made first.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::SystemTime;

use object::read::archive::ArchiveFile;

use super::deferred::{Deferred, LAUNCHER, thin_member};
use super::folder::{Call, Folder, Id, Kind};
use super::invocation::Invocation;
use super::stub;
use super::tools::{self, Tool};
use crate::capture::command::has;

/// Links a program that was put off and becomes it: `words` are its own name and arguments. Comes back
/// only with an error.
pub fn run(folder: &Folder, id: &Id, words: &[OsString]) -> io::Error {
    let program = match ready(folder, id) {
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

/// Makes a library that is about to be loaded.
pub fn load(folder: &Folder, library: &Path) -> io::Result<()> {
    let scratch = tempfile::tempdir_in(folder.scratch())?;
    let mut maker = Maker::new(folder, scratch.path());
    maker.real(library).map(drop)
}

/// Does a link of empty objects for real at once, for those who ask whether it succeeds.
pub fn link_now(folder: &Folder, deferred: &Deferred) -> io::Result<()> {
    link(folder, deferred, Path::new(&deferred.output))
}

/// The linked program or library.
fn ready(folder: &Folder, id: &Id) -> io::Result<PathBuf> {
    let lock = File::create(folder.scratch().join(format!("{}.lock", id.as_str())))?;
    lock.lock()?;
    let deferred: Deferred = folder.noted(Kind::Links, id)?;
    let output = PathBuf::from(&deferred.output);
    let bytes = fs::read(&output)?;
    let is_made = match deferred.is_shared {
        true => !stub::marks(&bytes).contains(id),
        false => memchr::memmem::find(&bytes, LAUNCHER.as_bytes()).is_none(),
    };
    if is_made {
        return Ok(output);
    }
    let made = fs::metadata(&output)?.modified()?;
    // Beside the launcher, which may be running or about to be, until it can take its place at once.
    let beside = tempfile::Builder::new()
        .prefix(".cassini-")
        .tempdir_in(output.parent().unwrap_or(Path::new("/")))?;
    let fresh = beside.path().join("linked");
    link(folder, &deferred, &fresh)?;
    // Whatever was made after the launcher stays newer than it.
    File::options()
        .append(true)
        .open(&fresh)?
        .set_modified(made)?;
    fs::rename(&fresh, &output)?;
    Ok(output)
}

/// Does a link of empty objects for real, to `output`.
fn link(folder: &Folder, deferred: &Deferred, output: &Path) -> io::Result<()> {
    let scratch = tempfile::tempdir_in(folder.scratch())?;
    let mut maker = Maker::new(folder, scratch.path());
    let program = deferred.call.compiler();
    let is_linker = tools::tool(program.as_os_str()) == Some(Tool::Linker);
    let mut arguments = Vec::new();
    for (index, word) in deferred.call.arguments.iter().enumerate() {
        let stubbed = deferred
            .stubbed
            .iter()
            .find(|stubbed| stubbed.argument == index);
        match stubbed {
            Some(stubbed) => {
                let real = maker.real(Path::new(&stubbed.file))?;
                // A library made in its place is found as it was to be.
                match real == [stubbed.file.as_os_str()] {
                    true => arguments.push(word.clone()),
                    false => arguments.extend(real),
                }
            }
            None if is_linker && word == "-Xlinker" => {}
            None => arguments.push(word.clone()),
        }
    }
    // Of several outputs the last one counts.
    arguments.extend([OsStr::new("-o"), output.as_os_str()].map(OsStr::to_owned));
    let directory = deferred.call.directory();
    let since = folder.plan()?.start_time();
    let linked = |arguments: &[OsString]| {
        let mut linker = folder.command(program);
        linker.args(arguments).current_dir(directory);
        linker
    };
    // A list of symbols that the build has written is empty if it was made of empty objects.
    if let Some(all_symbols) = without_written_lists(&arguments, directory, since) {
        let mut linker = linked(&all_symbols);
        let output = linker.stdin(Stdio::null()).output()?;
        if output.status.success() {
            return Ok(());
        }
    }
    done(&mut linked(&arguments))
}

/// The arguments without the lists of symbols that were written since; `None` if there is none.
fn without_written_lists(
    arguments: &[OsString],
    directory: &Path,
    since: SystemTime,
) -> Option<Vec<OsString>> {
    const LISTS: &[&str] = &[
        "--version-script",
        "-version-script",
        "--retain-symbols-file",
        "-retain-symbols-file",
        "--dynamic-list",
        "-dynamic-list",
    ];
    let is_written = |file: &OsStr| {
        let time = directory
            .join(file)
            .metadata()
            .and_then(|data| data.modified());
        time.is_ok_and(|time| time >= since)
    };
    let mut kept: Vec<OsString> = Vec::new();
    let mut is_dropped = false;
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let is_passed = word == "-Xlinker";
        let option = match is_passed {
            true => words.next()?,
            false => word,
        };
        let bytes = option.as_bytes();
        let joined = LISTS
            .iter()
            .find_map(|list| bytes.strip_prefix(list.as_bytes())?.strip_prefix(b"="));
        if joined.is_some_and(|file| is_written(OsStr::from_bytes(file))) {
            is_dropped = true;
            continue;
        }
        let mut rest = words.clone();
        if has(LISTS, bytes)
            && let Some(file) = rest.find(|word| *word != "-Xlinker")
            && is_written(file)
        {
            is_dropped = true;
            words = rest;
            continue;
        }
        kept.extend(is_passed.then(|| word.clone()));
        kept.push(option.clone());
    }
    is_dropped.then_some(kept)
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

/// Makes real objects, archives and libraries of empty ones.
struct Maker<'a> {
    folder: &'a Folder,
    scratch: &'a Path,
    count: usize,
}

impl<'a> Maker<'a> {
    fn new(folder: &'a Folder, scratch: &'a Path) -> Self {
        Maker {
            folder,
            scratch,
            count: 0,
        }
    }

    /// What to link in the place of a file that holds empty objects.
    fn real(&mut self, file: &Path) -> io::Result<Vec<OsString>> {
        let bytes = fs::read(file)?;
        if let Ok(archive) = ArchiveFile::parse(&*bytes) {
            let mut members = Vec::new();
            for member in archive.members() {
                let member = member.map_err(io::Error::other)?;
                let (path, content) = if member.is_thin() {
                    let path = thin_member(file, member.name());
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
        let objects = match stub::is_shared(&bytes) {
            true => vec![self.library(file, &bytes)?],
            false => self.objects(Some(file.to_path_buf()), &bytes)?,
        };
        Ok(objects.into_iter().map(OsString::from).collect())
    }

    /// A library made for real, in its place and in that of `file`, should that be a copy. One that does not tell
    /// how it is linked gives its code to the program.
    fn library(&mut self, file: &Path, bytes: &[u8]) -> io::Result<PathBuf> {
        let ids = stub::marks(bytes);
        let Some(id) = ids.iter().find(|id| self.folder.has(Kind::Links, id)) else {
            return self.archive(&self.compiled(bytes)?);
        };
        let made = ready(self.folder, id)?;
        let content = fs::read(&made)?;
        if stub::marks(&fs::read(file)?).contains(id) {
            let modified = fs::metadata(file)?.modified()?;
            let real = file.canonicalize()?;
            fs::remove_file(&real)?;
            fs::write(&real, content)?;
            fs::set_permissions(&real, fs::metadata(&made)?.permissions())?;
            let written = File::options().append(true).open(&real)?;
            written.set_modified(modified)?;
        }
        Ok(file.to_path_buf())
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
        let source = parsed.compiled().next().ok_or(io::ErrorKind::InvalidData)?;
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
                .command(OsStr::new("ar"))
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
