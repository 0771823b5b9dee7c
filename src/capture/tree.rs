//! Which files belong to the tree that is analysed, and how they are called in reports.
//!
//! In: a file's name as a line marker or a compile command has it. Out: a [`SourceName`]. The files
//! that the tree holds, too, for those who must guess.

use std::collections::HashMap;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::OnceLock;

use ignore::WalkBuilder;
use parking_lot::RwLock;

use super::trust::Foreign;
use super::{Problem, Severity};
use crate::source::{self, read_regular};

/// Folders that hold nothing of the program's own, besides hidden ones.
const SKIPPED_FOLDERS: &[&str] = &[
    "CMakeFiles",
    "autom4te.cache",
    "node_modules",
    "__pycache__",
];

/// The folder under analysis.
#[derive(Debug)]
pub struct Tree {
    /// Absolute, as the user spelled it.
    spelled: PathBuf,
    /// The same with symbolic links resolved.
    canonical: PathBuf,
    /// Answers given, by folder and name: a header's name comes up in every unit.
    known: RwLock<HashMap<PathBuf, HashMap<String, SourceName>>>,
    /// Found when first asked for.
    files: OnceLock<Files>,
    project: OnceLock<Files>,
    foreign: Foreign,
}

/// The files of a tree.
#[derive(Debug, Default)]
pub(super) struct Files {
    /// Absolute canonical paths, sorted.
    pub list: Vec<PathBuf>,
    /// What could not be read.
    pub problems: Vec<Problem>,
}

/// A file as reports name it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SourceName {
    /// Relative to the tree for its own files, absolute for others; `<built-in>` and the like as is.
    pub shown: String,
    /// Belongs to the tree.
    pub own: bool,
}

impl Tree {
    /// The tree at folder `root`.
    pub fn new(root: &Path) -> io::Result<Self> {
        let mut tree = Tree {
            spelled: normalise(&std::path::absolute(root)?),
            canonical: root.canonicalize()?,
            known: RwLock::default(),
            files: OnceLock::new(),
            project: OnceLock::new(),
            foreign: Foreign::default(),
        };
        tree.trust(false);
        Ok(tree)
    }

    /// Says whether what comes with the tree may be run.
    pub(super) fn trust(&mut self, trusted: bool) {
        self.foreign = Foreign::new(trusted);
        self.foreign.add(&self.canonical);
        if let Some(project) = project_root(&self.canonical) {
            self.foreign.add(&project);
        }
    }

    /// A compile_commands.json describes the tree.
    pub(super) fn comes_with(&mut self, database: &Path) {
        self.foreign.add_database(database, &self.canonical);
    }

    /// What came with the tree.
    pub(super) fn foreign(&self) -> &Foreign {
        &self.foreign
    }

    /// The folder, absolute and without symbolic links.
    pub fn root(&self) -> &Path {
        &self.canonical
    }

    /// What `name` is called, in a unit compiled in `directory`. `name` is as a line marker has it,
    /// with the marker's escapes undone.
    pub fn name(&self, directory: &Path, name: &str) -> SourceName {
        if let Some(known) = self
            .known
            .read()
            .get(directory)
            .and_then(|names| names.get(name))
        {
            return known.clone();
        }
        let not_own = |shown: String| SourceName { shown, own: false };
        let answer = match super::standin::shown(name) {
            Some(missing) => not_own(missing),
            None if name.starts_with('<') && name.ends_with('>') => not_own(name.to_owned()),
            None => self.name_path(&directory.join(name)),
        };
        let mut known = self.known.write();
        known
            .entry(directory.to_path_buf())
            .or_default()
            .insert(name.to_owned(), answer.clone());
        answer
    }

    /// What the file at an absolute path is called.
    pub(super) fn name_path(&self, path: &Path) -> SourceName {
        match self.relative(path) {
            Some(relative) => SourceName {
                shown: relative.to_string_lossy().into_owned(),
                own: true,
            },
            None => SourceName {
                shown: normalise(path).to_string_lossy().into_owned(),
                own: false,
            },
        }
    }

    /// All files of the tree but hidden ones and build tools' own.
    pub(super) fn files(&self) -> &Files {
        self.files.get_or_init(|| walk(&self.canonical))
    }

    /// All files of the project that the tree is a part of; those of the tree if it is not.
    pub(super) fn project_files(&self) -> &Files {
        match project_root(&self.canonical) {
            Some(root) => self.project.get_or_init(|| walk(&root)),
            None => self.files(),
        }
    }

    /// The template that a header `name` is made of by a configure script, if the tree has one: its
    /// name and text. Of several, the one nearest to the root.
    pub(super) fn template(&self, name: &Path) -> Option<(String, String)> {
        let base = name.file_name()?.to_str()?;
        let stem = base.strip_suffix(".h")?;
        let names = [
            format!("{base}.in"),
            format!("{base}.cmake"),
            format!("{base}.cmake.in"),
            format!("{base}.in.cmake"),
            format!("{stem}.in.h"),
            format!("{stem}-h.in"),
            format!("{stem}_h.in"),
            format!("{base}in"),
        ];
        let candidates = self.project_files().list.iter().filter(|file| {
            let file = file.file_name().and_then(|file| file.to_str());
            file.is_some_and(|file| names.iter().any(|name| name == file))
        });
        let file = candidates.min_by_key(|file| (file.components().count(), *file))?;
        let text = read_regular(file, source::LIMIT).ok()?;
        Some((
            self.name_path(file).shown,
            String::from_utf8_lossy(&text).into_owned(),
        ))
    }

    /// The path below the tree's root, whichever way links lead there.
    fn relative(&self, path: &Path) -> Option<PathBuf> {
        if let Ok(canonical) = path.canonicalize()
            && let Ok(relative) = canonical.strip_prefix(&self.canonical)
        {
            return Some(relative.to_path_buf());
        }
        // A link that leads out of the tree is still the tree's own, under the link's name.
        let lexical = normalise(path);
        [&self.spelled, &self.canonical]
            .into_iter()
            .find_map(|root| lexical.strip_prefix(root).ok())
            .map(Path::to_path_buf)
    }
}

/// The folder above `folder` that a project starts at, as far as its files tell: the nearest under
/// version control, or else the topmost of the folders next above that a build tool knows.
fn project_root(folder: &Path) -> Option<PathBuf> {
    const BUILD_FILES: &[&str] = &[
        "Makefile",
        "Makefile.am",
        "Kbuild",
        "CMakeLists.txt",
        "meson.build",
        "configure",
        "configure.ac",
    ];
    // A home folder under version control is no project.
    let home = std::env::home_dir();
    let mut above = folder
        .ancestors()
        .take_while(|folder| home.as_deref() != Some(folder));
    if let Some(root) = above.clone().find(|folder| folder.join(".git").exists()) {
        return (root != folder).then(|| root.to_path_buf());
    }
    above.next();
    above
        .take_while(|folder| BUILD_FILES.iter().any(|file| folder.join(file).is_file()))
        .last()
        .map(Path::to_path_buf)
}

/// Finds the files under `root`. Links to folders are not followed, links to files only within the tree
/// and only once, so that no file comes up twice.
fn walk(root: &Path) -> Files {
    let mut files = Files::default();
    let entries = WalkBuilder::new(root)
        .standard_filters(false)
        .hidden(true)
        .filter_entry(|entry| {
            let folder = entry.file_type().is_some_and(|kind| kind.is_dir());
            !(folder
                && SKIPPED_FOLDERS
                    .iter()
                    .any(|name| entry.file_name() == *name))
        })
        .build();
    for entry in entries {
        match entry {
            Ok(entry) if entry.file_type().is_some_and(|kind| kind.is_file()) => {
                files.list.push(entry.into_path());
            }
            Ok(entry) if entry.path_is_symlink() => {
                let target = entry.path().canonicalize();
                files.list.extend(
                    target
                        .into_iter()
                        .filter(|file| file.is_file() && file.starts_with(root)),
                );
            }
            Ok(_) => {}
            Err(error) => files.problems.push(unreadable(&error)),
        }
    }
    files.list.sort();
    files.list.dedup();
    files
        .problems
        .sort_by(|a, b| (&a.place, &a.message).cmp(&(&b.place, &b.message)));
    files
}

/// A folder that could not be read.
fn unreadable(error: &ignore::Error) -> Problem {
    let mut inner = error;
    while let ignore::Error::WithDepth { err, .. } = inner {
        inner = err;
    }
    match inner {
        ignore::Error::WithPath { path, err } => {
            // The inner message repeats the path.
            Problem::about(Severity::Error, path, err.to_string())
        }
        other => Problem::new(Severity::Error, None, other.to_string()),
    }
}

/// `path` without `.` and, as far as its spelling tells, `..`.
pub(super) fn normalise(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir
                if matches!(out.components().next_back(), Some(Component::Normal(_))) =>
            {
                out.pop();
            }
            Component::ParentDir if out.has_root() => {}
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn names_own_files_relative_to_the_tree_and_others_absolutely() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("tree");
        fs::create_dir_all(root.join("a/b")).unwrap();
        fs::write(root.join("a/x.h"), "").unwrap();
        let tree = Tree::new(&root).unwrap();
        let name = tree.name(&root.join("a/b"), "../x.h");
        assert_eq!(
            name,
            SourceName {
                shown: "a/x.h".into(),
                own: true
            }
        );
        let outside = tree.name(&root, "../other/y.h");
        assert!(
            !outside.own && outside.shown.ends_with("/other/y.h"),
            "{outside:?}"
        );
        assert_eq!(tree.name(&root, "<built-in>").shown, "<built-in>");
    }

    #[test]
    fn a_project_starts_where_its_build_files_do() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("p/src/net")).unwrap();
        assert_eq!(project_root(&root.join("p/src/net")), None);
        fs::write(root.join("p/Makefile"), "").unwrap();
        assert_eq!(
            project_root(&root.join("p/src/net")),
            None,
            "src is not known to be built"
        );
        fs::write(root.join("p/src/Makefile"), "").unwrap();
        assert_eq!(project_root(&root.join("p/src/net")), Some(root.join("p")));
        fs::create_dir(root.join("p/src/.git")).unwrap();
        assert_eq!(
            project_root(&root.join("p/src/net")),
            Some(root.join("p/src"))
        );
        assert_eq!(project_root(&root.join("p/src")), None);
    }

    #[cfg(unix)]
    #[test]
    fn a_tree_reached_through_a_link_is_the_same_tree() {
        let folder = tempfile::tempdir().unwrap();
        let real = folder.path().join("real");
        fs::create_dir(&real).unwrap();
        fs::write(real.join("x.c"), "").unwrap();
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&real, &link).unwrap();
        let tree = Tree::new(&link).unwrap();
        for directory in [&real, &link] {
            assert_eq!(
                tree.name(directory, "./x.c"),
                SourceName {
                    shown: "x.c".into(),
                    own: true
                }
            );
        }
    }
}
