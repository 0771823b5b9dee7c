//! What lies in a tree that may come from anywhere, and is not to be run.
//!
//! In: the tree's folder and the compile_commands.json that describes it. Out: whether a path leads into
//! what came with them. The tree is the folder under analysis, the project around it as far as version control
//! or build files tell, and the smallest folder that holds it and the compile_commands.json in use; or the
//! latter's own, if that would be a home folder or more.

use std::path::{Path, PathBuf};

use super::tree::normalise;

/// The folders that came with a tree.
#[derive(Clone, Debug, Default)]
pub(super) struct Foreign {
    trusted: bool,
    /// Absolute, without symbolic links.
    folders: Vec<PathBuf>,
}

impl Foreign {
    /// Nothing is foreign if `trusted`.
    pub(super) fn new(trusted: bool) -> Foreign {
        Foreign {
            trusted,
            folders: Vec::new(),
        }
    }

    pub(super) fn trusted(&self) -> bool {
        self.trusted
    }

    /// Adds a folder with all that lies below it.
    pub(super) fn add(&mut self, folder: &Path) {
        let Ok(folder) = folder.canonicalize() else {
            return;
        };
        // All the system lies below the root: nobody sends that.
        if folder.parent().is_some() && !self.folders.contains(&folder) {
            self.folders.push(folder);
        }
    }

    /// Adds what came with a compile_commands.json that describes the tree at `root`.
    pub(super) fn add_database(&mut self, database: &Path, root: &Path) {
        let Some(folder) = database
            .parent()
            .and_then(|folder| folder.canonicalize().ok())
        else {
            return;
        };
        let common = folder.ancestors().find(|above| root.starts_with(above));
        // A home folder, or what is above, holds more than the tree.
        let home = std::env::home_dir().and_then(|home| home.canonicalize().ok());
        let is_all = |common: &Path| {
            common.parent().is_none() || home.as_ref().is_some_and(|home| home.starts_with(common))
        };
        match common.filter(|common| !is_all(common)) {
            Some(common) => self.add(common),
            None => self.add(&folder),
        }
    }

    /// Whether an absolute path leads into what came with the tree, by its spelling or by links.
    pub(super) fn holds(&self, path: &Path) -> bool {
        if self.trusted {
            return false;
        }
        let spelled = normalise(path);
        let beside = path.parent().and_then(|folder| folder.canonicalize().ok());
        let real = path.canonicalize().ok();
        [Some(spelled), beside, real]
            .into_iter()
            .flatten()
            .any(|path| self.folders.iter().any(|folder| path.starts_with(folder)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn a_path_is_foreign_by_its_spelling_by_its_folder_and_by_its_target() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().canonicalize().unwrap().join(name);
        for name in ["tree", "tools"] {
            fs::create_dir(at(name)).unwrap();
            fs::write(at(name).join("gcc"), "").unwrap();
        }
        symlink(at("tools"), at("tree/in")).unwrap();
        symlink(at("tree"), at("tools/back")).unwrap();
        symlink(at("tree/gcc"), at("tools/linked")).unwrap();
        let mut foreign = Foreign::new(false);
        foreign.add(&at("tree"));
        for path in [
            "tree/gcc",
            "tree/in/gcc",
            "tools/back/gcc",
            "tools/linked",
            "tools/../tree/x",
        ] {
            assert!(foreign.holds(&at(path)), "{path}");
        }
        for path in ["tools/gcc", "tree/../tools/gcc", "tools/gone", "treex/gcc"] {
            assert!(!foreign.holds(&at(path)), "{path}");
        }
        assert!(!Foreign::new(true).holds(&at("tree/gcc")));
    }

    #[test]
    fn a_database_brings_the_folder_that_it_was_found_below() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for name in ["p/src", "p/build", "other"] {
            fs::create_dir_all(root.join(name)).unwrap();
        }
        let foreign = |database: &str, tree: &str| {
            let mut foreign = Foreign::new(false);
            foreign.add_database(&root.join(database), &root.join(tree));
            foreign.folders
        };
        assert_eq!(
            foreign("p/build/compile_commands.json", "p/src"),
            [root.join("p")]
        );
        assert_eq!(
            foreign("p/compile_commands.json", "p/src"),
            [root.join("p")]
        );
        let mut foreign = Foreign::new(false);
        foreign.add(Path::new("/"));
        assert!(!foreign.holds(Path::new("/usr/bin/gcc")));
    }
}
