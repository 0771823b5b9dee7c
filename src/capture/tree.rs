//! Which files belong to the tree that is analysed, and how they are called in reports.
//!
//! In: a file's name as a line marker or a compile command has it. Out: a [`SourceName`]. The files
//! that the tree holds, too, for those who must guess.

use std::collections::{BTreeSet, HashMap};
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, OnceLock};

use ignore::WalkBuilder;
use parking_lot::RwLock;
use rayon::prelude::*;

use super::builds::{Builds, Macros};
use super::template;
use super::trust::Foreign;
use super::{Problem, Scope, Severity};
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
    /// The folders of the tree, without links, that hold what the run is about.
    searched: Vec<PathBuf>,
    /// Answers given, by folder and name: a header's name comes up in every unit.
    known: RwLock<HashMap<PathBuf, HashMap<String, SourceName>>>,
    /// Found when first asked for.
    files: OnceLock<Files>,
    templates: RwLock<HashMap<PathBuf, Option<Arc<Template>>>>,
    project: OnceLock<Files>,
    foreign: Foreign,
    builds: OnceLock<Builds>,
}

/// What a header that is not there is made of.
#[derive(Debug)]
pub(super) struct Template {
    /// A file of the tree, and not only made up.
    pub is_file: bool,
    /// Where the text is from, for a person.
    pub told: String,
    pub text: String,
    /// What the build files define.
    pub settled: Macros,
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
        let canonical = root.canonicalize()?;
        let mut tree = Tree {
            spelled: normalise(&std::path::absolute(root)?),
            searched: vec![canonical.clone()],
            canonical,
            known: RwLock::default(),
            files: OnceLock::new(),
            templates: RwLock::default(),
            project: OnceLock::new(),
            builds: OnceLock::new(),
            foreign: Foreign::default(),
        };
        tree.trust(false);
        Ok(tree)
    }

    /// The tree at the folder that holds all of a run's paths.
    pub(super) fn of(scope: &Scope) -> io::Result<Self> {
        Ok(Tree {
            searched: scope.folders(),
            ..Tree::new(scope.folder())?
        })
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

    /// All files of the folders that the run is about, but hidden ones and build tools' own.
    pub(super) fn files(&self) -> &Files {
        self.files.get_or_init(|| walk(&self.searched))
    }

    /// All files of the project that the tree is a part of; those of the tree if it is not.
    pub(super) fn project_files(&self) -> &Files {
        match project_root(&self.canonical) {
            Some(root) => self.project.get_or_init(|| walk(&[root])),
            None if self.searched != [&*self.canonical] && is_one_program(&self.canonical) => self
                .project
                .get_or_init(|| walk(std::slice::from_ref(&self.canonical))),
            None => self.files(),
        }
    }

    /// Whether [`Tree::files`] would have the file if it is there.
    pub(super) fn is_searched(&self, path: &Path) -> bool {
        self.searched.iter().any(|folder| path.starts_with(folder))
    }

    /// What a header `name` is made of that a configure script makes: its template, if the tree has one. Of
    /// several, one that is not for another system, the one nearest to the root. For a `config.h` without
    /// one: the macros that the tree's files ask for.
    pub(super) fn template(&self, name: &Path) -> Option<Arc<Template>> {
        if let Some(known) = self.templates.read().get(name) {
            return known.clone();
        }
        let found = self.find_template(name).map(Arc::new);
        let mut templates = self.templates.write();
        templates.insert(name.to_path_buf(), found.clone());
        found
    }

    fn find_template(&self, name: &Path) -> Option<Template> {
        let base = name.file_name()?.to_str()?;
        let files = &self.project_files().list;
        let ranked = files.iter().filter_map(|file| {
            let rank = template_rank(file.file_name()?.to_str()?, base)?;
            let foreign = is_foreign(file.strip_prefix(&self.canonical).unwrap_or(file));
            Some((foreign, file.components().count(), rank, file))
        });
        if let Some((.., file)) = ranked.min() {
            let text = read_regular(file, source::LIMIT).ok()?;
            return Some(Template {
                is_file: true,
                told: format!("taken from its template {}", self.name_path(file).shown),
                text: String::from_utf8_lossy(&text).into_owned(),
                settled: self.builds().configuration.clone(),
            });
        }
        let is_configuration = base == "config.h" || base.ends_with("-config.h");
        let mut asked = is_configuration.then(|| asked_macros(files))?;
        let settled = self.builds().configuration.clone();
        asked.extend(settled.keys().cloned());
        (!asked.is_empty()).then(|| Template {
            is_file: false,
            told: format!(
                "it has no template; of the macros that files ask for, {} are decided by this system's headers",
                asked.len()
            ),
            text: template::of_names(asked.iter().map(String::as_str)),
            settled,
        })
    }

    /// What the build files of the project define.
    pub(super) fn builds(&self) -> &Builds {
        self.builds
            .get_or_init(|| Builds::read(&self.project_files().list))
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

/// Whether a file's path, or a part of it, says that the file is for another system, or for none: a folder
/// of examples. `path` is relative to a folder that all who ask have in common.
pub(super) fn is_foreign(path: &Path) -> bool {
    const SYSTEMS: &[&str] = &[
        "win", "win32", "win64", "w32", "wince", "windows", "msvc", "vc", "vcnet", "visualc",
        "nmake", "mingw", "mingw32", "borland", "watcom", "vms", "openvms", "os2", "os400", "mac",
        "macos", "macosx", "osx", "xcode", "darwin", "ios", "android", "dos", "msdos", "djgpp",
        "amiga", "amigaos", "symbian", "beos", "haiku", "riscos", "netware", "solaris", "vxworks",
        "contrib", "example", "examples", "sample", "samples", "test", "tests", "fuzz", "fuzzing",
    ];
    let mut folders = path.parent().into_iter().flat_map(Path::components);
    folders.any(|folder| {
        let name = folder.as_os_str().to_string_lossy().to_lowercase();
        let mut words = name.split(|c: char| !c.is_ascii_alphanumeric());
        words.any(|word| SYSTEMS.contains(&word))
    })
}

/// How well the file `name` serves as the template of the header `base`, the best lowest; `None` if it is none.
fn template_rank(name: &str, base: &str) -> Option<u8> {
    /// Words of a template's name.
    const WORDS: &[&str] = &["in", "cmake", "cmakein", "meson", "autoconf", "template"];
    /// Words that do not belong to the header's name either.
    const SYSTEMS: &[&str] = &["unix", "linux"];
    let stem = base.strip_suffix(".h")?;
    if name == format!("{base}.in") {
        return Some(0);
    }
    if name == format!("{base}in") {
        return Some(1);
    }
    let parts = |text: &str| -> Vec<String> {
        let parts = text.split(['.', '-', '_']);
        parts.map(str::to_lowercase).collect()
    };
    let all = parts(name);
    let kept: Vec<String> = all
        .iter()
        .filter(|part| !WORDS.contains(&part.as_str()) && !SYSTEMS.contains(&part.as_str()))
        .cloned()
        .collect();
    let mut wanted = parts(stem);
    wanted.push("h".to_owned());
    let is_template = all.iter().any(|part| WORDS.contains(&part.as_str()));
    (is_template && kept == wanted).then_some(2)
}

/// The macros that configure scripts decide and that files ask for, in order.
fn asked_macros(files: &[PathBuf]) -> BTreeSet<String> {
    let is_source = |file: &&PathBuf| file.extension().is_some_and(|e| e == "c" || e == "h");
    let files: Vec<&PathBuf> = files.iter().filter(is_source).collect();
    let asked = files.into_par_iter().map(|file| {
        // What cannot be read is the preprocessor's to report.
        let text = read_regular(file, source::LIMIT).unwrap_or_default();
        macros_in_conditions(&String::from_utf8_lossy(&text))
    });
    asked.reduce(BTreeSet::new, |mut a, mut b| {
        a.append(&mut b);
        a
    })
}

fn macros_in_conditions(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let words = ["HAVE_", "LINUX", "UNIX"];
    for (at, _) in words.iter().flat_map(|word| text.match_indices(word)) {
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let start = text[..at].rfind(|c| !is_word(c)).map_or(0, |before| {
            before + text[before..].chars().next().map_or(1, char::len_utf8)
        });
        let end = text[at..]
            .find(|c| !is_word(c))
            .map_or(text.len(), |end| at + end);
        let line = text[..start].rfind('\n').map_or(0, |newline| newline + 1);
        let directive = text[line..start].trim_start().strip_prefix('#');
        if directive.is_some_and(|text| {
            let text = text.trim_start();
            text.starts_with("if") || text.starts_with("elif")
        }) {
            let name = &text[start..end];
            if name.contains("HAVE_") || template::names_this_system(name) {
                found.insert(name.to_owned());
            }
        }
    }
    found
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

/// Whether the folder that holds a run's paths may be taken for that of a program: a home folder or one for
/// temporary files holds much that has nothing to do with them.
fn is_one_program(folder: &Path) -> bool {
    let home = std::env::home_dir();
    let above_home = home.is_some_and(|home| home.starts_with(folder));
    !above_home && !std::env::temp_dir().starts_with(folder)
}

/// Finds the files under folders of which none lies below another. Links to folders are not followed, links
/// to files only within the folder and only once, so that no file comes up twice.
fn walk(roots: &[PathBuf]) -> Files {
    let mut files = Files::default();
    for root in roots {
        walk_folder(root, &mut files);
    }
    files.list.sort();
    files.list.dedup();
    files
        .problems
        .sort_by(|a, b| (&a.place, &a.message).cmp(&(&b.place, &b.message)));
    files
}

fn walk_folder(root: &Path, files: &mut Files) {
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
    fn templates_are_told_by_their_names() {
        for name in [
            "config.h.in",
            "config.hin",
            "config.h.cmake",
            "config.h.cmake.in",
            "config.h.in.cmake",
            "config.in.h",
            "config-h.in",
            "config_h.in",
            "config.h.meson",
            "config-cmake.h.in",
            "cmake_config.h.in",
        ] {
            assert!(template_rank(name, "config.h").is_some(), "{name}");
        }
        for name in [
            "config.h",
            "myconfig.h.in",
            "event-config.h.cmake",
            "config.in",
            "config.c.in",
            "config_linux.h",
        ] {
            assert_eq!(template_rank(name, "config.h"), None, "{name}");
        }
        assert!(template_rank("event-config.h.cmake", "event-config.h").is_some());
        for path in [
            "win32/config.h",
            "src/WIN32-Code/nmake/x.h",
            "app.vc/config.h",
            "a/tests/config.h",
        ] {
            assert!(is_foreign(Path::new(path)), "{path}");
        }
        for path in [
            "config.h",
            "src/window/config.h",
            "include/config.h",
            "src/win32.h",
        ] {
            assert!(!is_foreign(Path::new(path)), "{path}");
        }
        let asked = macros_in_conditions(
            "#if X && HAVE_A\n#  ifdef P_HAVE_B\nint HAVE_C;\n#define HAVE_D\n",
        );
        assert_eq!(Vec::from_iter(asked), ["HAVE_A", "P_HAVE_B"]);
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
