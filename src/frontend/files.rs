//! The source files of a unit, as its line markers name them.
//!
//! In: names in line markers. Out: what the tree calls those files, and which are its own.

use rustc_hash::FxHashMap;
use xxhash_rust::xxh3::xxh3_64;

use super::dialect::Dialect;
use super::lex;

/// A source file that the unit's line markers name.
#[derive(Clone, Debug)]
pub struct SourceFile {
    /// As the tree names it.
    pub name: String,
    /// One of the tree's own files.
    pub own: bool,
}

/// How files are named and the text is to be read: given by who knows the tree.
pub trait Tree: Sync {
    /// The file for a name in a line marker: relative to the root when it lies under it.
    fn file(&self, marker: &str) -> SourceFile;
    /// What the unit's compiler options make of the language.
    fn dialect(&self) -> Dialect {
        Dialect::default()
    }
}

/// The files of a unit, each named once.
pub struct Files<'a> {
    tree: &'a dyn Tree,
    table: Vec<SourceFile>,
    hashes: Vec<u64>,
    index: FxHashMap<Vec<u8>, u32>,
    hosted: bool,
}

/// Headers that a program has only if it runs under an operating system: C's (C11 4p6) and POSIX's that no kernel has one of its own of.
const HOSTED: [&str; 3] = ["stdio.h", "stdlib.h", "pthread.h"];

/// Headers of C's library, and of POSIX, that a program has only if it runs under an operating system. Kernels have some of these names, too
/// (`linux/string.h`), but none that lies in a folder `include` outside their tree.
const OF_LIBRARY: [&str; 13] = [
    "assert.h",
    "ctype.h",
    "errno.h",
    "fcntl.h",
    "locale.h",
    "math.h",
    "setjmp.h",
    "signal.h",
    "string.h",
    "strings.h",
    "time.h",
    "unistd.h",
    "wchar.h",
];

/// Whether only units of hosted programs include a file.
fn is_hosted(file: &SourceFile) -> bool {
    let mut parts = file.name.rsplit('/');
    let Some(name) = parts.next() else {
        return false;
    };
    let of_library = !file.own && parts.next() == Some("include") && OF_LIBRARY.contains(&name);
    HOSTED.contains(&name) || of_library
}

impl<'a> Files<'a> {
    pub fn new(tree: &'a dyn Tree) -> Self {
        Files {
            tree,
            table: Vec::new(),
            hashes: Vec::new(),
            index: FxHashMap::default(),
            hosted: false,
        }
    }

    /// Index of the file that a marker names.
    pub fn id(&mut self, raw: &[u8]) -> u32 {
        if let Some(&id) = self.index.get(raw) {
            return id;
        }
        let id = self.table.len() as u32;
        let file = self.tree.file(&lex::file_name(raw));
        self.hosted |= is_hosted(&file);
        self.hashes.push(xxh3_64(file.name.as_bytes()));
        self.table.push(file);
        self.index.insert(raw.to_vec(), id);
        id
    }

    /// Index of a file by its marker name if the unit has it.
    pub fn find(&self, raw: &[u8]) -> Option<u32> {
        self.index.get(raw).copied()
    }

    /// Whether the unit includes a header that only hosted programs have.
    pub fn are_hosted(&self) -> bool {
        self.hosted
    }

    /// Whether the file is the unit's main source file, by whatever name.
    pub fn is_main(&self, id: u32) -> bool {
        self.hash(id) == self.hash(0)
    }

    pub fn get(&self, id: u32) -> Option<&SourceFile> {
        self.table.get(id as usize)
    }

    pub(super) fn hash(&self, id: u32) -> u64 {
        self.hashes.get(id as usize).copied().unwrap_or(0)
    }
}
