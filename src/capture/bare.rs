//! Compile commands for a tree that has none.
//!
//! In: the files of the tree. Out: one guessed command for each C file. Include folders are worked
//! out from the `#include`s: a header that is not beside the file that asks for it is looked up among
//! all files of the tree, then of the project around it, by the end of its path; the nearest one wins,
//! and its folder is searched from then on in that unit. Headers of the system are left to the compiler.

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use parking_lot::{Mutex, RwLock};
use rayon::prelude::*;

use super::builds::Builds;
use super::command::CompileCommand;
use super::tree::{Files, is_foreign, normalise};
use super::{Place, Problem, Scope, Severity, Tree};
use crate::source::{self, read_regular};

/// Headers of C and POSIX: a tree's own file of that name is some other platform's substitute.
pub(super) const STANDARD: &str = " aio.h alloca.h arpa/inet.h assert.h complex.h cpio.h ctype.h dirent.h dlfcn.h \
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

/// Further headers of Linux systems, which a tree may well have its own of.
pub(super) const FURTHER: &str = "sys/eventfd.h sys/timerfd.h sys/signalfd.h sys/inotify.h sys/prctl.h \
    sys/random.h sys/sendfile.h sys/xattr.h sys/sysinfo.h sys/personality.h sys/reboot.h sys/swap.h \
    sys/timex.h sys/ptrace.h sys/capability.h sys/fsuid.h sys/klog.h sys/quota.h sys/vfs.h sys/statfs.h \
    sys/sysmacros.h sys/ucontext.h ucontext.h execinfo.h err.h error.h argp.h argz.h byteswap.h crypt.h \
    fstab.h fts.h gnu/libc-version.h ifaddrs.h link.h mntent.h net/ethernet.h net/if_arp.h \
    netinet/ether.h netinet/ip.h netinet/ip6.h netinet/udp.h netpacket/packet.h obstack.h paths.h \
    printf.h resolv.h arpa/nameser.h shadow.h stdio_ext.h sysexits.h ttyent.h utime.h values.h ";

/// The commands for the C files of a run.
pub(super) fn commands(
    tree: &Tree,
    scope: &Scope,
    problems: &mut Vec<Problem>,
) -> Vec<CompileCommand> {
    let files = tree.files();
    problems.extend(files.problems.iter().cloned());
    let finder = IncludeFinder::new(tree);
    let is_source = |file: &&PathBuf| file.extension().is_some_and(|e| e == "c");
    let found = files.list.iter().filter(is_source);
    let mut units: Vec<PathBuf> = found.filter(|file| scope.wants(file)).cloned().collect();
    // A file that the user named is one whatever its name ends in.
    units.extend(scope.files().map(Path::to_path_buf));
    units.sort();
    units.dedup();
    let configuration = Path::new("config.h");
    let configured = finder.has("config.h") || tree.template(configuration).is_some();
    let command = |source: &PathBuf| {
        let mut arguments: Vec<OsString> = vec!["-D_GNU_SOURCE".into()];
        if configured {
            arguments.push("-DHAVE_CONFIG_H".into());
        }
        let reached = finder.reached(source);
        let folders = reached.folders.iter();
        arguments.extend(folders.flat_map(|folder| folder.arguments(tree.root())));
        let relative = source.strip_prefix(tree.root()).unwrap_or(source);
        CompileCommand {
            source: source.clone(),
            name: tree.name_path(source).shown,
            directory: tree.root().to_path_buf(),
            compiler: "cc".into(),
            arguments,
            spelling: Path::new(".").join(relative).into_os_string(),
            guessed: true,
            ungenerated: reached.ungenerated,
            optional: tree.builds().arguments(source),
        }
    };
    let commands = units.par_iter().map(command).collect();
    problems.extend(told(tree.builds(), tree));
    for (name, other) in finder.passed_over.into_inner() {
        let message = format!(
            "{} is made of its template; {other} was not taken for it, as it lies in a folder apart",
            name.display()
        );
        problems.push(Problem::new(Severity::Warning, None, message));
    }
    commands
}

/// What is assumed because of build files.
fn told(builds: &Builds, tree: &Tree) -> Option<Problem> {
    let (count, files) = (builds.count(), &builds.files);
    let first = files.first()?;
    let message = format!(
        "{count} macros are defined as the tree's build files say (files: {}, {} for one)",
        files.len(),
        tree.name_path(first).shown
    );
    Some(Problem::new(Severity::Note, None, message))
}

/// Whether a build would find the header `file` for a file in the folder `here`: in a folder above that, or in
/// one for headers next to these.
fn is_at_hand(file: &Path, name: &Path, here: &Path) -> bool {
    const HEADERS: &[&str] = &[
        "include", "inc", "includes", "headers", "src", "lib", "config", "build",
    ];
    let Some(folder) = file.ancestors().nth(name.components().count()) else {
        return false;
    };
    let is_for_headers = |folder: &Path| {
        let name = folder.file_name().and_then(|name| name.to_str());
        name.is_some_and(|name| HEADERS.contains(&name))
    };
    here.starts_with(folder)
        || is_for_headers(folder) && folder.parent().is_some_and(|above| here.starts_with(above))
}

/// What a path adds to the folders that it shares with `here`.
fn beyond<'a>(file: &'a Path, here: &Path) -> &'a Path {
    let shared = file.ancestors().find(|above| here.starts_with(above));
    shared
        .and_then(|shared| file.strip_prefix(shared).ok())
        .unwrap_or(file)
}

/// One `#include` of a file.
struct Include {
    name: PathBuf,
    quoted: bool,
    /// 1-based.
    line: u32,
    column: u32,
}

/// What a unit's `#include`s come to.
#[derive(Default)]
struct Reached {
    /// The folders needed to find the headers of the tree, in the order in which they turn out to be.
    folders: Vec<Folder>,
    /// Headers that are only there as templates, and where they are first asked for.
    ungenerated: Vec<(PathBuf, Place)>,
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
    tree: &'a Tree,
    own: Index<'a>,
    /// The rest of the project, for what the tree itself does not have.
    project: OnceLock<Index<'a>>,
    scanned: RwLock<HashMap<PathBuf, Arc<[Include]>>>,
    /// Headers made of templates, and files of that name in the tree that were not taken.
    passed_over: Mutex<BTreeSet<(PathBuf, String)>>,
}

/// Files, to be found by the ends of their paths.
struct Index<'a> {
    by_name: HashMap<&'a OsStr, Vec<&'a Path>>,
}

impl<'a> Index<'a> {
    fn new(files: &'a Files) -> Self {
        let mut by_name: HashMap<&OsStr, Vec<&Path>> = HashMap::new();
        for file in &files.list {
            let name = file.file_name().unwrap_or_default();
            by_name.entry(name).or_default().push(file);
        }
        Index { by_name }
    }

    fn named(&self, path: &Path) -> &[&'a Path] {
        let files = path.file_name().and_then(|name| self.by_name.get(name));
        files.map_or(&[], Vec::as_slice)
    }

    /// The file whose path ends in `name` and that shares most of its way with `here`, of those that are wanted.
    fn nearest(
        &self,
        here: &Path,
        name: &Path,
        wanted: impl Fn(&Path) -> bool,
    ) -> Option<&'a Path> {
        let candidates = self
            .named(name)
            .iter()
            .filter(|file| file.ends_with(name) && wanted(file));
        let distance = |file: &Path| {
            let ways = file.components().zip(here.components());
            let shared = ways.take_while(|(a, b)| a == b).count();
            (std::cmp::Reverse(shared), file.components().count())
        };
        candidates
            .copied()
            .min_by(|a, b| distance(a).cmp(&distance(b)).then_with(|| a.cmp(b)))
    }
}

impl<'a> IncludeFinder<'a> {
    fn new(tree: &'a Tree) -> Self {
        IncludeFinder {
            tree,
            own: Index::new(tree.files()),
            project: OnceLock::new(),
            scanned: RwLock::default(),
            passed_over: Mutex::default(),
        }
    }

    fn has(&self, name: &str) -> bool {
        !self.own.named(Path::new(name)).is_empty()
    }

    /// Follows a unit's `#include`s through the files of the tree.
    fn reached(&self, source: &Path) -> Reached {
        let mut reached = Reached::default();
        let mut seen: HashSet<PathBuf> = HashSet::from([source.to_path_buf()]);
        let mut queue = VecDeque::from([source.to_path_buf()]);
        while let Some(file) = queue.pop_front() {
            for include in self.includes(&file).iter() {
                match self.resolve(&file, include, &mut reached.folders) {
                    Some(header) if seen.insert(header.clone()) => queue.push_back(header),
                    Some(_) => {}
                    None if !is_standard(&include.name)
                        && self.tree.template(&include.name).is_some() =>
                    {
                        let known = reached
                            .ungenerated
                            .iter()
                            .any(|(name, _)| *name == include.name);
                        if !known {
                            let file = self.tree.name_path(&file).shown;
                            let (line, column) = (include.line, include.column);
                            let place = Place { file, line, column };
                            reached.ungenerated.push((include.name.clone(), place));
                        }
                    }
                    None => {}
                }
            }
        }
        reached
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
            self.exists(&path).then_some(path)
        };
        if include.quoted
            && let Some(header) = known(here)
        {
            return Some(header);
        }
        let mut reachable = folders
            .iter()
            .filter(|folder| include.quoted || !folder.quoted);
        if let Some(header) = reachable.find_map(|folder| known(&folder.path)) {
            return Some(header);
        }
        if !include.quoted && is_standard(&include.name) {
            return None;
        }
        let project = || {
            self.project
                .get_or_init(|| Index::new(self.tree.project_files()))
        };
        let name = &include.name;
        let find = |wanted: &dyn Fn(&Path) -> bool| {
            // A test's `x.c` that includes `x.c` means another one.
            let wanted = |file: &Path| file != from && wanted(file);
            let header = self.own.nearest(here, name, wanted);
            header.or_else(|| project().nearest(here, name, wanted))
        };
        let template = self.tree.template(name);
        let header = match template.is_some_and(|template| template.is_file) {
            // A build makes the header of its template; one that lies there may be another system's.
            true => {
                let header = find(&|file| is_at_hand(file, name, here));
                let passed_over = match header {
                    Some(_) => None,
                    None => find(&|_| true),
                };
                if let Some(other) = passed_over {
                    let other = self.tree.name_path(other).shown;
                    let mut others = self.passed_over.lock();
                    others.insert((name.clone(), other));
                }
                header
            }
            false => {
                let at_hand = find(&|file| !is_foreign(beyond(file, here)));
                at_hand.or_else(|| find(&|_| true))
            }
        }?;
        let folder = header.ancestors().nth(include.name.components().count())?;
        folders.push(Folder {
            path: folder.to_path_buf(),
            quoted: include.quoted,
        });
        Some(header.to_path_buf())
    }

    fn exists(&self, path: &Path) -> bool {
        match self.tree.is_searched(path) {
            true => self.own.named(path).contains(&path),
            false => path.is_file(),
        }
    }

    fn includes(&self, file: &Path) -> Arc<[Include]> {
        if let Some(known) = self.scanned.read().get(file) {
            return known.clone();
        }
        // A file that cannot be read is the preprocessor's to report.
        let includes: Arc<[Include]> =
            read_regular(file, source::LIMIT).map_or_else(|_| Arc::from([]), |text| scan(&text));
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
    // Few lines have a `#`, and looking for those is much quicker than splitting lines.
    let mut includes = Vec::new();
    let (mut line, mut counted) = (1, 0);
    for hash in memchr::memchr_iter(b'#', text) {
        let start = memchr::memrchr(b'\n', &text[..hash]).map_or(0, |newline| newline + 1);
        if !text[start..hash].trim_ascii().is_empty() {
            continue;
        }
        let end = memchr::memchr(b'\n', &text[hash..]).map_or(text.len(), |length| hash + length);
        if let Some((name, quoted)) = included(&text[hash + 1..end]) {
            line += memchr::memchr_iter(b'\n', &text[counted..hash]).count() as u32;
            counted = hash;
            let at = name.as_ptr() as usize - text[start..].as_ptr() as usize;
            let name = OsStr::from_bytes(name).into();
            includes.push(Include {
                name,
                quoted,
                line,
                column: at as u32,
            });
        }
    }
    includes.into()
}

/// What a directive includes, given what follows its `#`, and whether in quotes.
fn included(directive: &[u8]) -> Option<(&[u8], bool)> {
    let rest = directive.trim_ascii_start().strip_prefix(b"include")?;
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
    (!name.is_empty()).then_some((name, quoted))
}
