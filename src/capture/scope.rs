//! The part of a tree that a run is about.
//!
//! In: the paths that the user named, and globs of what to leave out. Out: the folder that holds all of the
//! paths, which is the tree, and whether a source file is wanted.

use std::io;
use std::path::{Component, Path, PathBuf};

use ignore::gitignore::{Gitignore, GitignoreBuilder};

use super::CaptureError;
use super::tree::normalise;

/// The paths of a run, and their common folder.
#[derive(Clone, Debug)]
pub struct Scope {
    /// Absolute, as the user spelled it.
    folder: PathBuf,
    /// As the user spelled it, or made of what the paths have in common.
    shown: PathBuf,
    /// The paths as the user spelled them.
    named: String,
    /// What was named; none lies below another.
    paths: Vec<Named>,
}

/// A folder or file that the user named.
#[derive(Clone, Debug)]
struct Named {
    /// Absolute, as the user spelled it.
    spelled: PathBuf,
    canonical: PathBuf,
    is_folder: bool,
}

impl Named {
    fn new(path: &Path) -> io::Result<Named> {
        let spelled = std::path::absolute(path)?;
        let metadata = std::fs::metadata(&spelled)?;
        if metadata.is_dir() {
            // Says early, and once, what every later step would stumble over.
            std::fs::read_dir(&spelled)?;
        }
        Ok(Named {
            canonical: spelled.canonicalize()?,
            spelled,
            is_folder: metadata.is_dir(),
        })
    }

    /// The folder, or the file's.
    fn folder(&self) -> &Path {
        parent(&self.spelled, self.is_folder)
    }

    fn canonical_folder(&self) -> &Path {
        parent(&self.canonical, self.is_folder)
    }
}

fn parent(path: &Path, is_folder: bool) -> &Path {
    match path.parent() {
        Some(parent) if !is_folder => parent,
        _ => path,
    }
}

impl Scope {
    /// The scope of the paths that the user named. The error names the path that is not there, or says that
    /// the paths have no folder in common.
    pub fn new(paths: &[PathBuf]) -> Result<Scope, CaptureError> {
        let mut named = Vec::with_capacity(paths.len());
        for path in paths {
            named.push(Named::new(path).map_err(|source| CaptureError::Unreadable {
                path: path.clone(),
                source,
            })?);
        }
        let (folder, shown) = match (&*named, paths) {
            ([only], [path]) => {
                let shown = parent(path, only.is_folder);
                let shown = match shown.as_os_str().is_empty() {
                    true => Path::new("."),
                    false => shown,
                };
                (only.folder().to_path_buf(), shown.to_path_buf())
            }
            _ => common_folder(&named, paths)?,
        };
        named.sort_by(|a, b| a.canonical.cmp(&b.canonical));
        let mut kept: Vec<Named> = Vec::with_capacity(named.len());
        for path in named {
            // Whatever lies below a folder follows it in this order.
            if !kept
                .iter()
                .any(|k| path.canonical.starts_with(&k.canonical))
            {
                kept.push(path);
            }
        }
        let spelled: Vec<String> = paths.iter().map(|p| p.display().to_string()).collect();
        Ok(Scope {
            folder,
            shown,
            named: spelled.join(", "),
            paths: kept,
        })
    }

    /// The folder that holds all of the paths: absolute, as the user spelled it.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The folder as it is told in reports. It is the same for the same arguments.
    pub fn shown(&self) -> &Path {
        &self.shown
    }

    /// The paths as the user spelled them, for a message.
    pub fn named(&self) -> &str {
        &self.named
    }

    /// The one file that the user named, if it is one.
    pub(super) fn file(&self) -> Option<&Path> {
        match &*self.paths {
            [file] if !file.is_folder => Some(&file.spelled),
            _ => None,
        }
    }

    /// The files that the user named.
    pub(super) fn files(&self) -> impl Iterator<Item = &Path> {
        let files = self.paths.iter().filter(|path| !path.is_folder);
        files.map(|file| file.canonical.as_path())
    }

    /// The folders, without links, that hold what the user named.
    pub(super) fn folders(&self) -> Vec<PathBuf> {
        let mut folders: Vec<PathBuf> = Vec::new();
        let mut all: Vec<&Path> = self.paths.iter().map(Named::canonical_folder).collect();
        all.sort_unstable();
        for folder in all {
            if !folders.iter().any(|known| folder.starts_with(known)) {
                folders.push(folder.to_path_buf());
            }
        }
        folders
    }

    /// Whether the source file at an absolute path is one of those, or lies in one of those, that the user named.
    pub(super) fn wants(&self, source: &Path) -> bool {
        let lexically =
            |path: &Named| source.starts_with(&path.spelled) || source.starts_with(&path.canonical);
        if self.paths.iter().any(lexically) {
            return true;
        }
        let Ok(source) = source.canonicalize() else {
            return false;
        };
        let mut paths = self.paths.iter();
        paths.any(|path| source.starts_with(&path.canonical))
    }

    /// The same scope, but all of the folder: for a path that names a database.
    pub(super) fn whole_folder(&self) -> Scope {
        let folder = &self.folder;
        Scope {
            paths: vec![Named {
                canonical: folder.canonicalize().unwrap_or_else(|_| folder.clone()),
                spelled: folder.clone(),
                is_folder: true,
            }],
            ..self.clone()
        }
    }
}

/// What the folders of several paths have in common, absolute and as it is told.
fn common_folder(named: &[Named], paths: &[PathBuf]) -> Result<(PathBuf, PathBuf), CaptureError> {
    let spelled = named.iter().map(|path| normalise(path.folder()));
    let common = spelled.reduce(|a, b| {
        let shared = a.components().zip(b.components());
        let shared = shared.take_while(|(a, b)| a == b);
        shared.map(|(component, _)| component).collect()
    });
    let common = common.unwrap_or_default();
    let is_root = |folder: &Path| {
        let mut components = folder.components();
        !components.any(|component| matches!(component, Component::Normal(_)))
    };
    if is_root(&common) {
        let names: Vec<String> = paths.iter().map(|p| p.display().to_string()).collect();
        return Err(CaptureError::NoCommonFolder(names.join(" and ")));
    }
    let here = std::env::current_dir().unwrap_or_default();
    let relative = paths.iter().all(|path| path.is_relative());
    let shown = match common.strip_prefix(&here) {
        Ok(below) if relative && below.as_os_str().is_empty() => PathBuf::from("."),
        Ok(below) if relative => below.to_path_buf(),
        _ => common.clone(),
    };
    Ok((common, shown))
}

/// Files to leave out, named by globs as in a `.gitignore` in the tree's folder.
#[derive(Clone, Debug)]
pub struct Exclude {
    globs: Gitignore,
}

impl Exclude {
    pub fn new(globs: &[String]) -> Result<Exclude, CaptureError> {
        let mut builder = GitignoreBuilder::new("");
        let bad = |glob: &str, error: ignore::Error| {
            let reason = match error {
                ignore::Error::Glob { err, .. } => err,
                other => other.to_string(),
            };
            let glob = glob.to_owned();
            CaptureError::Glob { glob, reason }
        };
        for glob in globs {
            let line = glob.strip_prefix("./").unwrap_or(glob);
            builder
                .add_line(None, line)
                .map_err(|error| bad(glob, error))?;
        }
        let globs = builder
            .build()
            .map_err(|error| bad(&globs.join(" "), error))?;
        Ok(Exclude { globs })
    }

    /// Whether the file is left out that reports call `shown`. Only files of the tree are.
    pub fn leaves_out(&self, shown: &str) -> bool {
        let path = Path::new(shown);
        !self.globs.is_empty()
            && path.is_relative()
            && self
                .globs
                .matched_path_or_any_parents(path, false)
                .is_ignore()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn tree() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for path in ["src/net", "lib", "tools"] {
            fs::create_dir_all(root.join(path)).unwrap();
        }
        for file in ["src/a.c", "src/net/b.c", "lib/c.c", "lib/d.c", "tools/e.c"] {
            fs::write(root.join(file), "").unwrap();
        }
        (folder, root)
    }

    #[test]
    fn several_paths_have_a_common_folder_and_count_once() {
        let (_guard, root) = tree();
        let paths = ["src", "src/net", "lib/c.c"].map(|path| root.join(path));
        let scope = Scope::new(&paths).unwrap();
        assert_eq!(scope.folder(), root);
        assert_eq!(scope.paths.len(), 2, "src/net lies in src");
        let wanted = |file: &str| scope.wants(&root.join(file));
        assert!(wanted("src/a.c") && wanted("src/net/b.c") && wanted("lib/c.c"));
        assert!(!wanted("lib/d.c") && !wanted("tools/e.c"));
        assert_eq!(scope.folders(), [root.join("lib"), root.join("src")]);
    }

    #[test]
    fn a_path_that_is_not_there_is_named_and_so_is_what_nothing_holds() {
        let (_guard, root) = tree();
        let gone = root.join("gone");
        let error = Scope::new(&[root.join("src"), gone.clone()]).unwrap_err();
        assert!(error.to_string().contains(gone.to_str().unwrap()));
        let error = Scope::new(&[root.join("src"), "/usr".into()]).unwrap_err();
        assert!(matches!(error, CaptureError::NoCommonFolder(_)), "{error}");
    }

    #[test]
    fn globs_are_those_of_a_gitignore() {
        let globs = |globs: &[&str]| {
            let globs: Vec<String> = globs.iter().map(|&glob| glob.to_owned()).collect();
            Exclude::new(&globs).unwrap()
        };
        let exclude = globs(&["tests/", "*.tab.c", "/third_party", "!keep.tab.c"]);
        for out in [
            "tests/a.c",
            "src/tests/deep/a.c",
            "src/parse.tab.c",
            "third_party/z/z.c",
        ] {
            assert!(exclude.leaves_out(out), "{out}");
        }
        for kept in [
            "src/a.c",
            "keep.tab.c",
            "src/third_party/a.c",
            "/usr/tests/a.h",
        ] {
            assert!(!exclude.leaves_out(kept), "{kept}");
        }
        assert!(!globs(&[]).leaves_out("a.c"));
        let error = Exclude::new(&["a{b".to_owned()]).unwrap_err();
        assert!(error.to_string().contains("`a{b`"), "{error}");
    }
}
