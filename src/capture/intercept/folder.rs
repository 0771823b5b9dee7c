//! The capture's own folder: interceptors, and what they note for each other and for the capture.
//!
//! One file for each note, named by the hash of its content and put in place by renaming: parallel
//! compilations lose nothing, and the same call noted twice is one note.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// A compiler call that was seen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Call {
    directory: OsString,
    compiler: OsString,
    /// The words after the compiler, response files expanded.
    pub arguments: Vec<OsString>,
}

impl Call {
    pub fn new(directory: &Path, compiler: &Path, arguments: &[OsString]) -> Call {
        Call {
            directory: directory.into(),
            compiler: compiler.into(),
            arguments: arguments.to_vec(),
        }
    }

    pub fn directory(&self) -> &Path {
        Path::new(&self.directory)
    }

    /// The compiler that does the work, absolute, not its cache.
    pub fn compiler(&self) -> &Path {
        Path::new(&self.compiler)
    }

    /// The compiler and its arguments.
    pub fn words(&self) -> Vec<OsString> {
        let mut words = vec![self.compiler.clone()];
        words.extend_from_slice(&self.arguments);
        words
    }
}

/// Name of a note: the hash of its content, in hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Id(String);

impl Id {
    /// Digits of an id.
    pub const LENGTH: usize = 32;

    pub fn parse(text: &[u8]) -> Option<Id> {
        let digits = text.len() == Id::LENGTH && text.iter().all(u8::is_ascii_hexdigit);
        digits.then(|| Id(String::from_utf8_lossy(text).into_owned()))
    }

    fn of(content: &[u8]) -> Id {
        let mut hex = blake3::hash(content).to_hex().to_string();
        hex.truncate(Id::LENGTH);
        Id(hex)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// How a capture goes about, for its interceptors.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// The folder the build was started in.
    pub start: OsString,
    pub record_only: bool,
    /// When it began, in nanoseconds of the clock.
    pub since: u64,
}

impl Plan {
    pub fn start_time(&self) -> SystemTime {
        UNIX_EPOCH + Duration::from_nanos(self.since)
    }
}

/// A note on calls of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Compilations of C.
    Compilations,
    /// Links put off until what they make is needed.
    Links,
    /// What was linked, archived and copied.
    Events,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Kind::Compilations => "compilations",
            Kind::Links => "links",
            Kind::Events => "events",
        }
    }
}

/// Holds an empty file for each file that a recorded call makes, named by the hash of its path.
const OUTPUTS: &str = "outputs";

/// The folder of one capture.
#[derive(Clone, Debug)]
pub struct Folder {
    path: PathBuf,
}

impl Folder {
    pub fn at(path: impl Into<PathBuf>) -> Folder {
        Folder { path: path.into() }
    }

    pub fn create(path: &Path, plan: &Plan) -> io::Result<Folder> {
        let folder = Folder::at(path);
        let made = [
            folder.interceptors(),
            folder.scratch(),
            path.join(Kind::Compilations.name()),
            path.join(Kind::Links.name()),
            path.join(Kind::Events.name()),
            path.join(OUTPUTS),
        ];
        for made in made {
            fs::create_dir_all(made)?;
        }
        folder.write(&path.join("plan"), plan)?;
        Ok(folder)
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The folder that is first in the build's PATH.
    pub fn interceptors(&self) -> PathBuf {
        self.path.join("bin")
    }

    /// The library that is preloaded into the build's programs.
    pub fn library(&self) -> PathBuf {
        self.path.join("libcapture.so")
    }

    /// Where interceptors keep what they make.
    pub fn scratch(&self) -> PathBuf {
        self.path.join("scratch")
    }

    pub fn plan(&self) -> io::Result<Plan> {
        read(&self.path.join("plan"))
    }

    /// Notes that a compiler was called, whatever for.
    pub fn note_called(&self) -> io::Result<()> {
        let file = self.path.join("called");
        if file.exists() {
            Ok(())
        } else {
            fs::write(file, "")
        }
    }

    pub fn was_called(&self) -> bool {
        self.path.join("called").exists()
    }

    /// Whether a compiler was called, as if none had been from now on.
    pub fn forget_called(&self) -> io::Result<bool> {
        let was_called = self.was_called();
        if was_called {
            fs::remove_file(self.path.join("called"))?;
        }
        Ok(was_called)
    }

    /// Notes that a recorded call makes this file.
    pub fn note_output(&self, file: &Path) -> io::Result<()> {
        let noted = self.output(file);
        if noted.exists() {
            Ok(())
        } else {
            fs::write(noted, "")
        }
    }

    /// Whether a recorded call makes this file.
    pub fn is_output(&self, file: &Path) -> bool {
        self.output(file).exists()
    }

    fn output(&self, file: &Path) -> PathBuf {
        let id = Id::of(file.as_os_str().as_bytes());
        self.path.join(OUTPUTS).join(id.as_str())
    }

    pub fn note<T: Serialize>(&self, kind: Kind, note: &T) -> io::Result<Id> {
        let content = postcard::to_stdvec(note).map_err(io::Error::other)?;
        let id = Id::of(&content);
        self.place(&self.path.join(kind.name()).join(id.as_str()), &content)?;
        Ok(id)
    }

    /// Whether there is a note of this kind and id.
    pub fn has(&self, kind: Kind, id: &Id) -> bool {
        self.path.join(kind.name()).join(id.as_str()).exists()
    }

    pub fn noted<T: DeserializeOwned>(&self, kind: Kind, id: &Id) -> io::Result<T> {
        read(&self.path.join(kind.name()).join(id.as_str()))
    }

    /// All notes of a kind, in the order of their ids.
    pub fn all<T: DeserializeOwned>(&self, kind: Kind) -> io::Result<Vec<(Id, T)>> {
        let entries = fs::read_dir(self.path.join(kind.name()))?;
        let names = entries.map(|entry| Ok(entry?.file_name()));
        let names: Vec<OsString> = names.collect::<io::Result<_>>()?;
        let ids = names.iter().map(|name| Id::parse(name.as_encoded_bytes()));
        let mut ids: Vec<Id> = ids.flatten().collect();
        ids.sort();
        let folder = self.path.join(kind.name());
        let read = |id: Id| Ok((id.clone(), read(&folder.join(id.as_str()))?));
        ids.into_iter().map(read).collect()
    }

    fn write<T: Serialize>(&self, file: &Path, value: &T) -> io::Result<()> {
        let content = postcard::to_stdvec(value).map_err(io::Error::other)?;
        self.place(file, &content)
    }

    /// Writes a file so that no reader ever sees a part of it.
    pub fn place(&self, file: &Path, content: &[u8]) -> io::Result<()> {
        let mut temporary = tempfile::NamedTempFile::new_in(self.scratch())?;
        io::Write::write_all(&mut temporary, content)?;
        temporary.persist(file).map_err(|error| error.error)?;
        Ok(())
    }

    /// A command that finds programs as it would without the interceptors, so that a compiler which
    /// calls another is one call.
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        if let Some(path) = std::env::var_os("PATH") {
            command.env("PATH", self.without_interceptors(&path));
        }
        if let Some(libraries) = std::env::var_os("LD_PRELOAD") {
            match self.without_library(&libraries) {
                others if others.is_empty() => command.env_remove("LD_PRELOAD"),
                others => command.env("LD_PRELOAD", others),
            };
        }
        command
    }

    /// The libraries to preload but ours.
    fn without_library(&self, libraries: &OsStr) -> OsString {
        let ours = self.library();
        let kept: Vec<&[u8]> = libraries
            .as_bytes()
            .split(|&byte| byte == b':' || byte == b' ')
            .filter(|library| !library.is_empty() && *library != ours.as_os_str().as_bytes())
            .collect();
        OsString::from_vec(kept.join(&b':'))
    }

    /// A search path without the interceptors.
    pub fn without_interceptors(&self, path: &OsStr) -> OsString {
        let ours = self.interceptors();
        let kept = std::env::split_paths(path).filter(|folder| *folder != ours);
        std::env::join_paths(kept).unwrap_or_else(|_| path.to_owned())
    }
}

fn read<T: DeserializeOwned>(file: &Path) -> io::Result<T> {
    postcard::from_bytes(&fs::read(file)?).map_err(io::Error::other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_of_many_threads_are_all_there_each_once_and_byte_for_byte() {
        let temporary = tempfile::tempdir().unwrap();
        let plan = Plan {
            start: "/w".into(),
            record_only: true,
            since: 0,
        };
        let folder = Folder::create(temporary.path(), &plan).unwrap();
        let call = |n: u8| {
            let odd = OsStr::from_bytes(&[b'-', b'D', 0xff, b'\n', n]).to_owned();
            Call::new(
                Path::new("/w"),
                Path::new("/usr/bin/cc"),
                &[odd, "a.c".into()],
            )
        };
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let folder = &folder;
                scope.spawn(move || {
                    for n in 0..50 {
                        folder
                            .note(Kind::Compilations, &call(n + thread % 2))
                            .unwrap();
                    }
                });
            }
        });
        let all: Vec<(Id, Call)> = folder.all(Kind::Compilations).unwrap();
        assert_eq!(all.len(), 51);
        assert!((0..51).all(|n| all.iter().any(|(_, other)| *other == call(n))));
        assert_eq!(folder.plan().unwrap(), plan);
    }
}
