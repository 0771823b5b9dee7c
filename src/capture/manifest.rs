//! What the text of a translation unit came from, so that a later run can tell without preprocessing
//! that it would be the same.
//!
//! In: a unit's command and preprocessed text. Out: a [`Manifest`]: the files that were read with the
//! hashes of their contents; the folders in which a header was looked for, with their names, since a new
//! one may come before the one that was found, or be what a `__has_include` misses; and what stand-ins
//! were made of. A unit whose text depends on more has none. [`Manifests`] compares those of an earlier
//! run with the disk.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};

use super::disk::{self, ContentHash, Disk, File, Memo, bytes_of, path_of};
use super::scan::components;
use super::tree::Template;
use super::{CompileCommand, Preprocessed, Problem, Tree, command, standin};

/// Hash of all that a unit's text depends on besides what lies on the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CommandKey(pub [u8; 32]);

impl CommandKey {
    /// The key of a unit that is read in another way.
    pub fn for_threads(self) -> CommandKey {
        CommandKey(blake3::derive_key(
            "cassini: units with atomic sections",
            &self.0,
        ))
    }
}

/// Number of a [`State`] in an archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct StateId(pub u32);

/// What something on the disk was like.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum State {
    File {
        path: Vec<u8>,
        hash: ContentHash,
        /// What the paths that the file asks for consist of, sorted.
        asked: Vec<Vec<u8>>,
    },
    Folder {
        path: Vec<u8>,
        /// Sorted.
        names: Vec<Vec<u8>>,
    },
    /// The template of a missing header.
    Template {
        header: Vec<u8>,
        hash: Option<ContentHash>,
    },
}

/// What a state is a state of.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Subject {
    File(PathBuf),
    Folder(PathBuf),
    Template(PathBuf),
}

impl State {
    /// The file that it is about.
    pub fn file(&self) -> Option<&Path> {
        match self {
            State::File { path, .. } => Some(path_of(path)),
            State::Folder { .. } | State::Template { .. } => None,
        }
    }

    fn subject(&self) -> Subject {
        match self {
            State::File { path, .. } => Subject::File(path_of(path).into()),
            State::Folder { path, .. } => Subject::Folder(path_of(path).into()),
            State::Template { header, .. } => Subject::Template(path_of(header).into()),
        }
    }
}

/// What a unit's text came from, and what became of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// Sorted.
    states: Vec<StateId>,
    /// Names looked for besides those that the files ask for, sorted.
    asked: Vec<Vec<u8>>,
    /// What had to be mended.
    pub notes: Vec<Problem>,
    /// What the text was read to, in its reader's terms.
    pub outcome: [u8; 32],
}

impl Manifest {
    /// The states of all that the text came from, sorted.
    pub fn states(&self) -> &[StateId] {
        &self.states
    }
}

/// All that is archived.
#[derive(Debug, Default)]
pub struct Archived {
    pub states: Vec<(StateId, State)>,
    pub manifests: Vec<(CommandKey, Manifest)>,
}

/// Where manifests are kept. What is put first is on disk first.
pub trait Archive: Sync {
    fn load(&self) -> Archived;
    fn put_state(&self, id: StateId, state: &State);
    fn put_manifest(&self, key: &CommandKey, manifest: &Manifest);
    fn forget(&self, manifests: &[CommandKey], states: &[StateId]);
}

/// So many manifests are kept whether or not they are in use.
const KEPT: usize = 1000;
/// A folder that differs by more names than this counts as another.
const DIFFERENCES: usize = 64;

/// An archived state, and how it compares with the disk.
#[derive(Debug)]
struct Earlier {
    state: State,
    now: OnceLock<Comparison>,
}

#[derive(Debug)]
enum Comparison {
    Same,
    Changed,
    /// These names came or went.
    Names(Vec<Vec<u8>>),
}

/// The manifests of an earlier run and of this one.
pub struct Manifests<'a> {
    tree: &'a Tree,
    archive: &'a dyn Archive,
    disk: Disk,
    manifests: FxHashMap<CommandKey, Manifest>,
    states: FxHashMap<StateId, Earlier>,
    latest: FxHashMap<Subject, StateId>,
    /// The states that this run has met.
    current: Memo<Subject, StateId>,
    next: AtomicU32,
    watched: Memo<PathBuf, Option<Watched>>,
}

/// Where a folder would be seen to appear or change.
#[derive(Clone, Debug)]
struct Watched {
    folder: StateId,
    /// The name under which it would appear, if it is not there.
    missing: Option<Vec<u8>>,
}

impl<'a> Manifests<'a> {
    /// Those of `archive`, for units of these `commands`.
    pub fn load(tree: &'a Tree, archive: &'a dyn Archive, commands: &[CommandKey]) -> Self {
        let disk = Disk::new();
        let mut archived = archive.load();
        let next = archived.states.iter().map(|(id, _)| id.0 + 1).max();
        forget_old(&mut archived, archive, commands);
        let mut latest = FxHashMap::default();
        for (id, state) in &archived.states {
            latest.insert(state.subject(), *id);
        }
        let earlier = |(id, state)| {
            let now = OnceLock::new();
            (id, Earlier { state, now })
        };
        Manifests {
            tree,
            archive,
            disk,
            manifests: archived.manifests.into_iter().collect(),
            states: archived.states.into_iter().map(earlier).collect(),
            latest,
            current: Memo::default(),
            next: AtomicU32::new(next.unwrap_or(0)),
            watched: Memo::default(),
        }
    }

    /// The manifest of a unit whose text would be the same now.
    pub fn unchanged(&self, key: &CommandKey) -> Option<&Manifest> {
        let manifest = self.manifests.get(key)?;
        let mut different: Vec<&Vec<u8>> = Vec::new();
        for id in &manifest.states {
            match self.compare(self.states.get(id)?) {
                Comparison::Same => {}
                Comparison::Changed => return None,
                Comparison::Names(names) => different.extend(names),
            }
        }
        different.sort_unstable();
        different.dedup();
        let files = manifest.states.iter().filter_map(|id| self.states.get(id));
        let asks = |name: &Vec<u8>| {
            manifest.asked.binary_search(name).is_ok()
                || files.clone().any(|file| match &file.state {
                    State::File { asked, .. } => asked.binary_search(name).is_ok(),
                    _ => false,
                })
        };
        (!different.into_iter().any(asks)).then_some(manifest)
    }

    fn compare<'s>(&self, earlier: &'s Earlier) -> &'s Comparison {
        earlier.now.get_or_init(|| {
            let same = match &earlier.state {
                State::File { path, hash, .. } => {
                    let file = self.disk.file(path_of(path));
                    file.is_some_and(|file| file.hash == *hash)
                }
                State::Template { header, hash } => self.template(path_of(header)) == *hash,
                State::Folder { path, names } => {
                    let Some(folder) = self.disk.folder(path_of(path)) else {
                        return Comparison::Changed;
                    };
                    let now = folder.names.iter().map(|name| name.as_bytes());
                    if now.clone().eq(names.iter().map(Vec::as_slice)) {
                        return Comparison::Same;
                    }
                    let now: FxHashSet<&[u8]> = now.collect();
                    let then: FxHashSet<&[u8]> = names.iter().map(Vec::as_slice).collect();
                    let different = now.symmetric_difference(&then);
                    let different: Vec<Vec<u8>> = different.map(|name| name.to_vec()).collect();
                    if different.len() <= DIFFERENCES {
                        return Comparison::Names(different);
                    }
                    false
                }
            };
            match same {
                true => Comparison::Same,
                false => Comparison::Changed,
            }
        })
    }

    /// Keeps what a unit's text came from; nothing, if it cannot be told. `outcome` is what it was
    /// read to.
    pub fn record(
        &self,
        key: &CommandKey,
        command: &CompileCommand,
        preprocessed: &Preprocessed,
        outcome: [u8; 32],
    ) {
        if let Some((states, asked)) = self.sources(command, preprocessed) {
            let manifest = Manifest {
                states: states.into_iter().collect(),
                asked: asked.into_iter().collect(),
                notes: preprocessed.notes.clone(),
                outcome,
            };
            self.archive.put_manifest(key, &manifest);
        }
    }

    /// The states that a unit's text came from, and the names looked for that no file tells of; `None`
    /// if there is more to it.
    fn sources(
        &self,
        command: &CompileCommand,
        preprocessed: &Preprocessed,
    ) -> Option<(BTreeSet<StateId>, BTreeSet<Vec<u8>>)> {
        let origin = preprocessed.origin.as_ref()?;
        let directory = command.directory.as_path();
        let mut states = BTreeSet::new();
        let mut asked: BTreeSet<Vec<u8>> = BTreeSet::new();
        let entries = entries(&preprocessed.text);
        let mut files: FxHashMap<PathBuf, Arc<File>> = FxHashMap::default();
        let entered = entries.iter().map(|entry| entry.file.as_slice());
        for name in entered.chain([command.spelling.as_bytes()]) {
            if is_made_up(name) {
                continue;
            }
            let path = directory.join(path_of(name));
            if files.contains_key(&path) {
                continue;
            }
            let file = self.disk.file(&path).filter(|file| file.settled)?;
            if file.asks.volatile {
                return None;
            }
            states.insert(self.file(&path, &file));
            files.insert(path, file);
        }

        // Folder parts of what is looked for on the search path, and folders of quoted names.
        let mut parts: FxHashSet<&[u8]> = FxHashSet::default();
        let mut folders: FxHashSet<PathBuf> = FxHashSet::default();
        for (path, file) in &files {
            let beside = path.parent().unwrap_or(directory);
            parts.extend(file.folders.iter().map(Vec::as_slice));
            let quoted = file.quoted_folders.iter();
            folders.extend(quoted.map(|folder| beside.join(path_of(folder))));
        }
        for name in command::included(&origin.arguments) {
            let name = name.as_bytes();
            asked.extend(components(name).map(<[u8]>::to_vec));
            parts.insert(disk::folder_part(name));
            folders.insert(directory.join(path_of(disk::folder_part(name))));
        }
        for header in &origin.missing {
            let name = header.as_os_str().as_bytes();
            asked.extend(components(name).map(<[u8]>::to_vec));
            parts.insert(disk::folder_part(name));
            states.insert(self.template_state(header));
        }
        let search = origin.search.folders.iter();
        let search: Vec<&Path> = search
            .map(PathBuf::as_path)
            .filter(|folder| standin::shown(&folder.to_string_lossy()).is_none())
            .collect();
        for entry in &entries {
            let parent = match entry.parent {
                Some(parent) => entries[parent].file.as_slice(),
                None => command.spelling.as_bytes(),
            };
            let computed = files
                .get(&directory.join(path_of(parent)))
                .is_some_and(|file| file.asks.computed);
            if !computed {
                continue;
            }
            asked.extend(components(&entry.file).map(<[u8]>::to_vec));
            let beside = disk::folder_part(parent);
            let bases = search.iter().map(|folder| folder.as_os_str().as_bytes());
            let rests = bases.chain([beside]).filter_map(|base| {
                let rest = entry.file.strip_prefix(base)?;
                match base {
                    b"" => Some(rest),
                    _ => rest.strip_prefix(b"/"),
                }
            });
            for rest in rests {
                let part = disk::folder_part(rest);
                parts.insert(part);
                folders.insert(directory.join(path_of(beside)).join(path_of(part)));
            }
        }
        for folder in search {
            let folder = directory.join(folder);
            folders.extend(parts.iter().map(|part| folder.join(path_of(part))));
        }
        for folder in folders {
            let watched = self.watch(folder)?;
            states.insert(watched.folder);
            asked.extend(watched.missing);
        }
        Some((states, asked))
    }

    /// The folder to watch for a change of `folder`: itself, or the nearest above it that there is.
    /// `None` if that has changed since the run began.
    fn watch(&self, folder: PathBuf) -> Option<Watched> {
        self.watched.get(folder.clone(), || {
            let mut missing = None;
            for path in folder.ancestors() {
                if let Some(found) = self.disk.folder(path) {
                    if !found.settled {
                        return None;
                    }
                    let state = State::Folder {
                        path: bytes_of(path),
                        names: found.names.iter().cloned().map(bytes_of).collect(),
                    };
                    let folder = self.intern(state);
                    return Some(Watched { folder, missing });
                }
                if let Some(name) = path.file_name() {
                    missing = Some(bytes_of(name));
                }
            }
            None
        })
    }

    fn file(&self, path: &Path, file: &File) -> StateId {
        let subject = Subject::File(path.to_owned());
        self.current.get(subject, || {
            let asked: BTreeSet<&[u8]> = file.asks.names().flat_map(components).collect();
            self.allocate(State::File {
                path: bytes_of(path),
                hash: file.hash,
                asked: asked.into_iter().map(<[u8]>::to_vec).collect(),
            })
        })
    }

    fn template_state(&self, header: &Path) -> StateId {
        self.intern(State::Template {
            header: bytes_of(header),
            hash: self.template(header),
        })
    }

    fn template(&self, header: &Path) -> Option<ContentHash> {
        let template = self.tree.template(header)?;
        let Template {
            told,
            text,
            settled,
            ..
        } = &*template;
        Some(disk::content_hash(
            format!("{told}\0{text}\0{settled:?}").as_bytes(),
        ))
    }

    fn intern(&self, state: State) -> StateId {
        self.current.get(state.subject(), || self.allocate(state))
    }

    /// The state's number, from the archive if it is there.
    fn allocate(&self, state: State) -> StateId {
        let latest = self.latest.get(&state.subject()).copied();
        if let Some(id) = latest
            && self
                .states
                .get(&id)
                .is_some_and(|earlier| earlier.state == state)
        {
            return id;
        }
        let id = StateId(self.next.fetch_add(1, Ordering::Relaxed));
        self.archive.put_state(id, &state);
        id
    }
}

/// Drops what is not in use once that is most of what there is.
fn forget_old(archived: &mut Archived, archive: &dyn Archive, commands: &[CommandKey]) {
    let commands: FxHashSet<&CommandKey> = commands.iter().collect();
    let mut manifests = Vec::new();
    if archived.manifests.len() > KEPT + 4 * commands.len() {
        archived.manifests.retain(|(key, _)| {
            let used = commands.contains(key);
            if !used {
                manifests.push(*key);
            }
            used
        });
    }
    let used = archived.manifests.iter();
    let used: FxHashSet<StateId> = used
        .flat_map(|(_, manifest)| manifest.states.iter().copied())
        .collect();
    let mut states = Vec::new();
    if archived.states.len() > KEPT + 2 * used.len() {
        archived.states.retain(|(id, _)| {
            if !used.contains(id) {
                states.push(*id);
            }
            used.contains(id)
        });
    }
    if !(manifests.is_empty() && states.is_empty()) {
        archive.forget(&manifests, &states);
    }
}

/// Whether a line marker names no file: `<built-in>`, a stand-in.
fn is_made_up(name: &[u8]) -> bool {
    name.starts_with(b"<")
}

/// A file that a line marker says was entered.
#[derive(Debug, PartialEq, Eq)]
struct Entry {
    file: Vec<u8>,
    /// The entry that includes it; `None` for what the source or the command includes.
    parent: Option<usize>,
}

/// The files entered, in order, some again and again.
fn entries(text: &[u8]) -> Vec<Entry> {
    let mut entries = Vec::new();
    let mut open = Vec::new();
    let starts = memchr::memmem::find_iter(text, b"\n# ").map(|at| at + 3);
    let first = text.starts_with(b"# ").then_some(2);
    for start in first.into_iter().chain(starts) {
        match marker(&text[start..]) {
            Some((file, b'1')) => {
                let parent = open.last().copied();
                open.push(entries.len());
                entries.push(Entry { file, parent });
            }
            Some((_, b'2')) => {
                open.pop();
            }
            _ => {}
        }
    }
    entries
}

/// The file and the first flag of a line marker after its `# `, if it has a flag.
fn marker(text: &[u8]) -> Option<(Vec<u8>, u8)> {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let mut rest = text[digits..].strip_prefix(b" \"")?.iter().copied();
    let mut file = Vec::new();
    loop {
        match rest.next()? {
            b'"' => break,
            b'\n' => return None,
            b'\\' => file.push(match rest.next()? {
                b'n' => b'\n',
                byte => byte,
            }),
            byte => file.push(byte),
        }
    }
    match (rest.next(), rest.next()) {
        (Some(b' '), Some(flag)) => Some((file, flag)),
        _ => None,
    }
}

/// The variables that compilers take search paths and behaviour from.
const VARIABLES: &[&str] = &[
    "CPATH",
    "C_INCLUDE_PATH",
    "GCC_EXEC_PREFIX",
    "COMPILER_PATH",
    "SDKROOT",
    "MACOSX_DEPLOYMENT_TARGET",
    "CCC_OVERRIDE_OPTIONS",
    "GCC_COMPARE_DEBUG",
];

/// The environment's part in a unit's text.
pub(super) fn environment() -> Vec<(&'static str, Option<OsString>)> {
    let variable = |&name: &&'static str| (name, std::env::var_os(name));
    VARIABLES.iter().map(variable).collect()
}

/// Flags that make a compiler read what line markers do not name.
const UNTRACKED: &[&str] = &[
    "-imacros",
    "--imacros",
    "-remap",
    "-Xpreprocessor",
    "-specs",
    "--specs",
    "-iprefix",
    "-iwithprefix",
];

/// Whether manifests tell all that a command with these arguments reads.
pub(super) fn is_tracked(arguments: &[OsString]) -> bool {
    let bytes = arguments.iter().map(|argument| OsStr::as_bytes(argument));
    !bytes
        .into_iter()
        .any(|argument| command::begins(UNTRACKED, argument))
}

#[cfg(test)]
mod tests;
