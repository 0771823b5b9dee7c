//! Compile commands for a tree that has none.
//!
//! In: the files of the tree. Out: one guessed command for each C file. Include folders are worked
//! out from the `#include`s: a header that is not beside the file that asks for it is looked up among
//! all files of the tree by the end of its path, the nearest one wins, and its folder is searched from
//! then on in that unit. Headers of the system are left to the compiler.

use std::collections::{HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::RwLock;
use rayon::prelude::*;

use super::command::CompileCommand;
use super::tree::{Files, normalise};
use super::{Problem, Tree};

/// Headers of C and POSIX: a tree's own file of that name is some other platform's substitute.
const STANDARD: &str = " aio.h alloca.h arpa/inet.h assert.h complex.h cpio.h ctype.h dirent.h dlfcn.h \
    endian.h errno.h fcntl.h fenv.h float.h fmtmsg.h fnmatch.h ftw.h getopt.h glob.h grp.h iconv.h \
    inttypes.h iso646.h langinfo.h libgen.h limits.h locale.h malloc.h math.h memory.h monetary.h mqueue.h \
    ndbm.h netdb.h net/if.h netinet/in.h netinet/tcp.h nl_types.h poll.h pthread.h pty.h pwd.h regex.h \
    sched.h search.h semaphore.h setjmp.h signal.h spawn.h stdalign.h stdarg.h stdatomic.h stdbool.h \
    stddef.h stdint.h stdio.h stdlib.h stdnoreturn.h string.h strings.h stropts.h sys/cdefs.h sys/epoll.h \
    sys/file.h sys/ioctl.h sys/ipc.h sys/mman.h sys/mount.h sys/msg.h sys/param.h sys/poll.h sys/queue.h \
    sys/resource.h sys/select.h sys/sem.h sys/shm.h sys/socket.h sys/stat.h sys/statvfs.h sys/syscall.h \
    sys/time.h sys/times.h sys/types.h sys/uio.h sys/un.h sys/utsname.h sys/wait.h syslog.h tar.h \
    termios.h tgmath.h threads.h time.h uchar.h ulimit.h unistd.h utime.h utmp.h utmpx.h wchar.h wctype.h \
    wordexp.h ";

/// The commands for the C file at `path`, or those under the folder `path`.
pub(super) fn commands(
    tree: &Tree,
    path: &Path,
    problems: &mut Vec<Problem>,
) -> Vec<CompileCommand> {
    let files = tree.files();
    problems.extend(files.problems.iter().cloned());
    let finder = IncludeFinder::new(files);
    let single = path
        .is_file()
        .then(|| path.canonicalize().unwrap_or_else(|_| path.to_path_buf()));
    let units: Vec<&PathBuf> = match &single {
        Some(file) => vec![file],
        None => files
            .list
            .iter()
            .filter(|file| file.extension().is_some_and(|e| e == "c"))
            .collect(),
    };
    let configured = ["config.h", "config.h.in", "config.h.cmake"]
        .iter()
        .any(|name| finder.has(name));
    let command = |source: &&PathBuf| {
        let mut arguments: Vec<OsString> = vec!["-D_GNU_SOURCE".into()];
        if configured {
            arguments.push("-DHAVE_CONFIG_H".into());
        }
        arguments.extend(
            finder
                .folders(source)
                .into_iter()
                .flat_map(|folder| folder.arguments(tree.root())),
        );
        let relative = source.strip_prefix(tree.root()).unwrap_or(source);
        CompileCommand {
            source: source.to_path_buf(),
            name: tree.name_path(source).shown,
            directory: tree.root().to_path_buf(),
            compiler: "cc".into(),
            arguments,
            spelling: Path::new(".").join(relative).into_os_string(),
            guessed: true,
        }
    };
    units.par_iter().map(command).collect()
}

/// One `#include` of a file.
struct Include {
    name: PathBuf,
    quoted: bool,
}

/// A folder to search for headers.
#[derive(Clone, PartialEq, Eq)]
struct Folder {
    path: PathBuf,
    /// Only for `#include "…"`, so that a file of the tree does not hide one of the system's.
    quoted: bool,
}

impl Folder {
    fn arguments(&self, root: &Path) -> [OsString; 2] {
        let relative = self.path.strip_prefix(root).unwrap_or(&self.path);
        let flag = if self.quoted { "-iquote" } else { "-I" };
        [flag.into(), Path::new(".").join(relative).into_os_string()]
    }
}

/// Finds the files that `#include`s mean.
struct IncludeFinder<'a> {
    all: HashSet<&'a Path>,
    by_name: HashMap<&'a OsStr, Vec<&'a Path>>,
    scanned: RwLock<HashMap<PathBuf, Arc<[Include]>>>,
}

impl<'a> IncludeFinder<'a> {
    fn new(files: &'a Files) -> Self {
        let mut by_name: HashMap<&OsStr, Vec<&Path>> = HashMap::new();
        for file in &files.list {
            by_name
                .entry(file.file_name().unwrap_or_default())
                .or_default()
                .push(file);
        }
        let all = files.list.iter().map(PathBuf::as_path).collect();
        IncludeFinder {
            all,
            by_name,
            scanned: RwLock::default(),
        }
    }

    fn has(&self, name: &str) -> bool {
        self.by_name.contains_key(OsStr::new(name))
    }

    /// The folders that a unit needs to find the headers of the tree that it reaches, in the order in
    /// which it turns out to need them.
    fn folders(&self, source: &Path) -> Vec<Folder> {
        let mut folders = Vec::new();
        let mut seen: HashSet<PathBuf> = HashSet::from([source.to_path_buf()]);
        let mut queue = std::collections::VecDeque::from([source.to_path_buf()]);
        while let Some(file) = queue.pop_front() {
            for include in self.includes(&file).iter() {
                let Some(header) = self.resolve(&file, include, &mut folders) else {
                    continue;
                };
                if seen.insert(header.clone()) {
                    queue.push_back(header);
                }
            }
        }
        folders
    }

    /// The file of the tree that an `#include` in `from` means; a folder needed for that is added.
    fn resolve(
        &self,
        from: &Path,
        include: &Include,
        folders: &mut Vec<Folder>,
    ) -> Option<PathBuf> {
        let here = from.parent().unwrap_or(Path::new("/"));
        let known = |folder: &Path| {
            let path = normalise(&folder.join(&include.name));
            self.all.contains(path.as_path()).then_some(path)
        };
        if include.quoted
            && let Some(header) = known(here)
        {
            return Some(header);
        }
        let reachable = folders
            .iter()
            .filter(|folder| include.quoted || !folder.quoted);
        if let Some(header) = reachable.into_iter().find_map(|folder| known(&folder.path)) {
            return Some(header);
        }
        if !include.quoted && is_standard(&include.name) {
            return None;
        }
        let header = self.nearest(here, &include.name)?;
        let folder = header.ancestors().nth(include.name.components().count())?;
        folders.push(Folder {
            path: folder.to_path_buf(),
            quoted: include.quoted,
        });
        Some(header.to_path_buf())
    }

    /// The file whose path ends in `name` and that shares most of its way with `here`.
    fn nearest(&self, here: &Path, name: &Path) -> Option<&'a Path> {
        let candidates = self
            .by_name
            .get(name.file_name()?)?
            .iter()
            .filter(|file| file.ends_with(name));
        let distance = |file: &Path| {
            let shared = file
                .components()
                .zip(here.components())
                .take_while(|(a, b)| a == b)
                .count();
            (std::cmp::Reverse(shared), file.components().count())
        };
        candidates
            .copied()
            .min_by(|a, b| distance(a).cmp(&distance(b)).then_with(|| a.cmp(b)))
    }

    fn includes(&self, file: &Path) -> Arc<[Include]> {
        if let Some(known) = self.scanned.read().get(file) {
            return known.clone();
        }
        // A file that cannot be read is the preprocessor's to report.
        let includes: Arc<[Include]> =
            std::fs::read(file).map_or_else(|_| Arc::from([]), |text| scan(&text));
        self.scanned
            .write()
            .insert(file.to_path_buf(), includes.clone());
        includes
    }
}

fn is_standard(name: &Path) -> bool {
    name.to_str()
        .is_some_and(|name| STANDARD.contains(&format!(" {name} ")))
}

/// The `#include`s of a file, whatever `#if`s surround them.
fn scan(text: &[u8]) -> Arc<[Include]> {
    let directive = |line: &[u8]| {
        let rest = line
            .trim_ascii_start()
            .strip_prefix(b"#")?
            .trim_ascii_start();
        let rest = rest.strip_prefix(b"include")?;
        let rest = rest
            .strip_prefix(b"_next")
            .unwrap_or(rest)
            .trim_ascii_start();
        let (quoted, end) = match rest.first()? {
            b'"' => (true, b'"'),
            b'<' => (false, b'>'),
            _ => return None,
        };
        let rest = &rest[1..];
        let name = &rest[..memchr::memchr(end, rest)?];
        (!name.is_empty()).then(|| Include {
            name: OsStr::from_bytes(name).into(),
            quoted,
        })
    };
    // Most lines have no `#`, and looking for those that do is much quicker than splitting lines.
    let mut includes = Vec::new();
    for hash in memchr::memchr_iter(b'#', text) {
        let start = memchr::memrchr(b'\n', &text[..hash]).map_or(0, |newline| newline + 1);
        if text[start..hash].trim_ascii().is_empty() {
            let end =
                memchr::memchr(b'\n', &text[hash..]).map_or(text.len(), |length| hash + length);
            includes.extend(directive(&text[hash..end]));
        }
    }
    includes.into()
}
