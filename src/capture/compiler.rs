//! Which compilers are run, and in which environment.
//!
//! In: a compiler as a command names it. Out: the program to run, or the one that stands in for it. A command
//! comes from a tree that is not trusted, so only what has the name of a C compiler is run, found by its name in
//! the user's search path or by a path that leads out of the tree. The environment is the user's, without what
//! would make a compiler look for programs or write files in the folder that it runs in, which is the tree's.

use std::collections::{BTreeMap, HashMap};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use parking_lot::Mutex;
use thiserror::Error;

use super::command::{CompileCommand, base_name, has};
use super::trust::Foreign;
use super::{Problem, Severity};

/// Compilers to fall back on, best first.
const FALLBACKS: &[&str] = &["cc", "gcc", "clang"];

/// Names of programs that preprocess C, which may have a target before them and a version behind.
const COMPILERS: &[&str] = &[
    "cc", "gcc", "clang", "tcc", "c89", "c99", "c11", "c17", "icc", "icx", "pcc", "lcc", "nvc",
    "pgcc", "armclang", "emcc", "zapcc", "c++", "g++", "clang++", "icpc", "icpx", "em++",
];

/// What may follow a compiler's version: the threads of MinGW's.
const VARIANTS: &[&str] = &["win32", "posix"];

/// There is nothing to preprocess with.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("no C compiler found; looked for {} in PATH", .0.join(", "))]
pub struct NoCompiler(Vec<String>);

/// A compiler that can be run.
#[derive(Clone, Debug)]
pub(super) struct Compiler {
    pub program: PathBuf,
    /// It is of another kind than the command's own, and may not know its flags.
    pub foreign: bool,
    /// Why it is not the command's own.
    instead: Option<Refused>,
}

/// Why a command's compiler is not run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Refused {
    NotInstalled,
    /// It came with the tree.
    InTree,
    /// By its name it is something else.
    NoCompiler,
}

/// The compilers of a run.
#[derive(Debug)]
pub(super) struct Compilers {
    foreign: Foreign,
    /// Folders to look for programs in.
    path: Vec<PathBuf>,
    /// Folders of the search path that came with the tree.
    passed_over: Vec<PathBuf>,
    /// What differs from the user's environment; `None`: not there.
    environment: Vec<(&'static str, Option<OsString>)>,
    /// What a command's compiler came to, by its folder (for a relative path) and name.
    found: Mutex<HashMap<(PathBuf, OsString), Option<Compiler>>>,
}

impl Compilers {
    /// Looks for programs in `path`, as `PATH` has it.
    pub(super) fn new(foreign: &Foreign, path: &OsStr) -> Compilers {
        let folders = std::env::split_paths(path).filter(|folder| folder.is_absolute());
        let (passed_over, path) = folders.partition(|folder| foreign.holds(&folder.join("cc")));
        let mut compilers = Compilers {
            foreign: foreign.clone(),
            path,
            passed_over,
            environment: Vec::new(),
            found: Mutex::default(),
        };
        if !foreign.trusted() {
            compilers.environment = compilers.harmless_environment();
        }
        compilers
    }

    /// A program to be run with what the environment is to be.
    pub(super) fn process(&self, program: &Path) -> Command {
        let mut process = Command::new(program);
        for (name, value) in &self.environment {
            match value {
                Some(value) => process.env(name, value),
                None => process.env_remove(name),
            };
        }
        // Messages are read.
        process.env("LC_ALL", "C");
        process
    }

    /// The compiler to run a command with.
    pub(super) fn of(&self, command: &CompileCommand) -> Result<Compiler, NoCompiler> {
        let key = (command.directory.clone(), command.compiler.clone());
        let mut found = self.found.lock();
        let found = found.entry(key).or_insert_with(|| self.choose(command));
        found.clone().ok_or_else(|| {
            let mut names = vec![command.compiler.to_string_lossy().into_owned()];
            names.extend(FALLBACKS.iter().map(|name| (*name).to_owned()));
            names.dedup();
            NoCompiler(names)
        })
    }

    fn choose(&self, command: &CompileCommand) -> Option<Compiler> {
        let refused = match self.own(&command.directory, &command.compiler) {
            Ok(program) => {
                return Some(Compiler {
                    program,
                    foreign: false,
                    instead: None,
                });
            }
            Err(refused) => refused,
        };
        let instead = Some(refused);
        // What a tree brings along is as a rule a copy of what is installed, or runs it.
        let name = OsStr::from_bytes(base_name(&command.compiler));
        if refused == Refused::InTree
            && let Some(program) = self.named(name)
        {
            return Some(Compiler {
                program,
                foreign: false,
                instead,
            });
        }
        let mut fallbacks = FALLBACKS.iter().map(OsStr::new);
        Some(Compiler {
            program: fallbacks.find_map(|name| self.named(name))?,
            foreign: !command.guessed,
            instead: instead.filter(|_| !command.guessed),
        })
    }

    /// A command's own compiler.
    fn own(&self, directory: &Path, name: &OsStr) -> Result<PathBuf, Refused> {
        let by_path = name.as_bytes().contains(&b'/');
        let path = directory.join(name);
        let program = match by_path {
            true => Some(path.clone()).filter(|file| runs(file)),
            false => self.named(name),
        };
        let known = self.foreign.trusted() || is_compiler(name);
        match program {
            Some(_) if by_path && self.foreign.holds(&path) => Err(Refused::InTree),
            Some(_) if !known => Err(Refused::NoCompiler),
            Some(program) if self.foreign.trusted() => Ok(program),
            // Not by way of the tree's links, which lead elsewhere tomorrow.
            Some(program) => Ok(straight(&program)),
            None if !by_path && known && self.is_passed_over(name) => Err(Refused::InTree),
            None => Err(Refused::NotInstalled),
        }
    }

    /// A program in the search path.
    fn named(&self, name: &OsStr) -> Option<PathBuf> {
        if name.is_empty() || name.as_bytes().contains(&b'/') {
            return None;
        }
        let mut files = self.path.iter().map(|folder| folder.join(name));
        files.find(|file| runs(file) && !self.foreign.holds(file))
    }

    fn is_passed_over(&self, name: &OsStr) -> bool {
        let mut files = self.passed_over.iter().map(|folder| folder.join(name));
        files.any(|file| runs(&file))
    }

    /// Says which compilers of `commands` are replaced by another, and fails if there is none for any of
    /// them.
    pub(super) fn check<'c>(
        &self,
        commands: impl Iterator<Item = &'c CompileCommand>,
    ) -> Result<Vec<Problem>, NoCompiler> {
        let mut replaced: BTreeMap<(&OsStr, Refused, PathBuf), usize> = BTreeMap::new();
        let mut missing = None;
        let mut usable = false;
        for command in commands {
            match self.of(command) {
                Ok(compiler) => {
                    usable = true;
                    if let Some(why) = compiler.instead {
                        let key = (command.compiler.as_os_str(), why, compiler.program);
                        *replaced.entry(key).or_default() += 1;
                    }
                }
                Err(error) => missing = Some(error),
            }
        }
        match missing {
            Some(error) if !usable => Err(error),
            _ => Ok(replaced
                .into_iter()
                .map(|((own, why, other), count)| notice(own, why, &other, count))
                .collect()),
        }
    }

    /// What is to be changed in the user's environment.
    fn harmless_environment(&self) -> Vec<(&'static str, Option<OsString>)> {
        // A compiler that is a link to ccache would write to the cache.
        let mut changed = vec![("CCACHE_DISABLE", Some("1".into()))];
        let path = std::env::join_paths(&self.path).unwrap_or_default();
        changed.push(("PATH", Some(path)));
        changed.extend(WRITING.iter().map(|&name| (name, None)));
        for &name in FOLDERS {
            let Some(value) = std::env::var_os(name) else {
                continue;
            };
            let kept = self.harmless_folders(&value, name.starts_with("LD_P"));
            changed.push((name, Some(kept).filter(|kept| !kept.is_empty())));
        }
        changed
    }

    /// Those of the folders, or files, that do not depend on the folder a program runs in and are not the
    /// tree's. What is preloaded may be named, and is looked for in the others.
    fn harmless_folders(&self, value: &OsStr, preload: bool) -> OsString {
        let entries = value
            .as_bytes()
            .split(|&byte| byte == b':' || preload && byte == b' ');
        let kept = entries.filter(|entry| {
            let path = Path::new(OsStr::from_bytes(entry));
            let by_name = preload && !entry.is_empty() && !entry.contains(&b'/');
            by_name || path.is_absolute() && !self.foreign.holds(&path.join("x"))
        });
        let kept: Vec<&[u8]> = kept.collect();
        OsString::from_vec(kept.join(&b':'))
    }
}

/// Variables with folders that programs and libraries are taken from. An entry that is empty or relative
/// means the folder that the compiler runs in.
const FOLDERS: &[&str] = &[
    "LD_LIBRARY_PATH",
    "LD_PRELOAD",
    "LD_AUDIT",
    "GCONV_PATH",
    "COMPILER_PATH",
    "GCC_EXEC_PREFIX",
];

/// Variables that make compilers write files.
const WRITING: &[&str] = &[
    "DEPENDENCIES_OUTPUT",
    "SUNPRO_DEPENDENCIES",
    "CC_PRINT_OPTIONS",
    "CC_PRINT_OPTIONS_FILE",
    "CC_PRINT_HEADERS",
    "CC_PRINT_HEADERS_FILE",
    "CC_LOG_DIAGNOSTICS",
    "CC_LOG_DIAGNOSTICS_FILE",
    "CC_PRINT_PROC_STAT",
    "CC_PRINT_PROC_STAT_FILE",
];

fn notice(own: &OsStr, why: Refused, other: &Path, count: usize) -> Problem {
    let (own, other) = (own.display(), other.display());
    let (severity, reason, remedy) = match why {
        Refused::NotInstalled => (Severity::Note, "is not installed", ""),
        Refused::InTree => (
            Severity::Warning,
            "came with the tree and is not run",
            "; --trust-tree runs it",
        ),
        Refused::NoCompiler => (
            Severity::Warning,
            "has not the name of a C compiler and is not run",
            "; --trust-tree runs it",
        ),
    };
    let message =
        format!("{own} {reason}; {other} preprocesses in its place (units: {count}){remedy}");
    Problem::new(severity, None, message)
}

/// A program's path without symbolic links but for the last, which some programs go by.
fn straight(program: &Path) -> PathBuf {
    let folder = program
        .parent()
        .and_then(|folder| folder.canonicalize().ok());
    match (folder, program.file_name()) {
        (Some(folder), Some(name)) => folder.join(name),
        _ => program.to_owned(),
    }
}

fn runs(file: &Path) -> bool {
    file.metadata()
        .is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
}

/// Whether a program of this name, or path, is a C compiler.
fn is_compiler(program: &OsStr) -> bool {
    let is_version = |part: &[u8]| {
        part.first().is_some_and(u8::is_ascii_digit)
            && part
                .iter()
                .all(|byte| *byte == b'.' || byte.is_ascii_digit())
    };
    let mut parts: Vec<&[u8]> = base_name(program).split(|&byte| byte == b'-').collect();
    if parts.len() > 1 && parts.last().is_some_and(|last| has(VARIANTS, last)) {
        parts.pop();
    }
    if parts.len() > 1 && parts.last().is_some_and(|last| is_version(last)) {
        parts.pop();
    }
    parts.last().is_some_and(|last| has(COMPILERS, last))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;
    use tempfile::TempDir;

    fn program(path: &Path) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "#!/bin/sh\n").unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// A tree and folders beside it, with programs.
    fn folder(programs: &[&str]) -> TempDir {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("tree")).unwrap();
        for name in programs {
            program(&folder.path().join(name));
        }
        folder
    }

    fn compilers(folder: &TempDir, path: &[&str]) -> Compilers {
        let mut foreign = Foreign::new(false);
        foreign.add(&folder.path().join("tree"));
        let path = path.iter().map(|part| match *part {
            "" | "." => PathBuf::from(part),
            part => folder.path().join(part),
        });
        Compilers::new(&foreign, &std::env::join_paths(path).unwrap())
    }

    #[test]
    fn compilers_are_known_by_name() {
        for name in [
            "cc",
            "gcc",
            "gcc-12",
            "clang-15",
            "x86_64-linux-gnu-gcc",
            "arm-none-eabi-gcc-10.2",
            "/usr/bin/tcc",
            "musl-gcc",
            "x86_64-w64-mingw32-gcc-12-win32",
            "g++",
            "afl-clang",
        ] {
            assert!(is_compiler(OsStr::new(name)), "{name}");
        }
        for name in [
            "sh",
            "python3",
            "gcc-ar",
            "clang-format",
            "ccache",
            "env",
            "busybox",
            "12",
            "-",
            "",
            "make",
            "clang-tidy-15",
            "gcc.py",
            "win32",
        ] {
            assert!(!is_compiler(OsStr::new(name)), "{name}");
        }
    }

    #[test]
    fn a_compiler_is_taken_by_name_or_by_a_path_out_of_the_tree() {
        let folder = folder(&[
            "bin/gcc",
            "bin/python3",
            "opt/clang",
            "tree/gcc",
            "tree/bin/icc",
            "bin/cc",
        ]);
        let at = |name: &str| folder.path().canonicalize().unwrap().join(name);
        symlink(at("opt"), at("tree/opt")).unwrap();
        symlink(at("opt/clang"), at("tree/clang")).unwrap();
        let compilers = compilers(&folder, &["", ".", "tree/bin", "bin"]);
        let own = |name: &str| compilers.own(&at("tree"), OsStr::new(name));
        assert_eq!(own("gcc").unwrap(), at("bin/gcc"));
        assert_eq!(
            own(at("opt/clang").to_str().unwrap()).unwrap(),
            at("opt/clang")
        );
        assert_eq!(own("../opt/clang").unwrap(), at("opt/clang"));
        for inside in ["./gcc", "opt/clang", "./clang", "../tree/gcc", "icc"] {
            assert_eq!(own(inside).unwrap_err(), Refused::InTree, "{inside}");
        }
        assert_eq!(own("python3").unwrap_err(), Refused::NoCompiler);
        for gone in ["../opt/gcc", "tcc", "", "xlc"] {
            assert_eq!(own(gone).unwrap_err(), Refused::NotInstalled, "{gone}");
        }
    }

    #[test]
    fn folders_in_the_environment_are_those_outside_the_tree() {
        let folder = folder(&[]);
        let compilers = compilers(&folder, &[]);
        let tree = folder.path().join("tree/lib");
        let value = format!("/opt/lib:lib::.:{}:/usr/lib", tree.display());
        let kept = compilers.harmless_folders(OsStr::new(&value), false);
        assert_eq!(kept, "/opt/lib:/usr/lib");
        let kept = compilers.harmless_folders(OsStr::new("a.so ./b.so:/c.so"), true);
        assert_eq!(kept, "a.so:/c.so");
    }
}
