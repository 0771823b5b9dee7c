//! How files are named to a person who stands in some folder.
//!
//! In: a file's name as reports have it, relative to the tree. Out: its name from the current folder, as
//! compilers and `grep` print it, so that an editor can follow it.

use std::borrow::Cow;
use std::path::{Component, Path, PathBuf};

/// Names the files of one tree.
#[derive(Clone, Debug)]
pub struct Places {
    /// The tree and the current folder, absolute and without links; `None` where the latter is not known.
    folders: Option<(PathBuf, PathBuf)>,
    /// What stands before the name of each file of the tree, if the current folder is none of the tree's.
    prefix: Option<String>,
}

impl Places {
    /// Names files of the tree at `root` from the folder `here`. Both are absolute and without symbolic links.
    pub fn new(root: &Path, here: &Path) -> Places {
        let prefix = (!here.starts_with(root)).then(|| match from(here, root) {
            folder if folder.ends_with('/') => folder,
            folder => format!("{folder}/"),
        });
        Places {
            folders: Some((root.to_path_buf(), here.to_path_buf())),
            prefix,
        }
    }

    /// Names files of the tree at `root` from the process's current folder.
    pub fn here(root: &Path) -> Places {
        let here = std::env::current_dir().and_then(|here| here.canonicalize());
        let here = here.ok().zip(root.canonicalize().ok());
        match here {
            Some((here, root)) => Places::new(&root, &here),
            None => Places {
                folders: None,
                prefix: None,
            },
        }
    }

    /// The name of a file. One outside the tree has an absolute name, and one that is not there a name in angle
    /// brackets: these stay.
    pub fn name<'a>(&self, file: &'a str) -> Cow<'a, str> {
        match &self.folders {
            Some((root, here)) if !file.starts_with(['/', '<']) && !file.is_empty() => {
                match &self.prefix {
                    _ if root == here => Cow::Borrowed(file),
                    Some(prefix) => format!("{prefix}{file}").into(),
                    None => from(here, &root.join(file)).into(),
                }
            }
            _ => Cow::Borrowed(file),
        }
    }
}

/// The name of `file` from the folder `here`: through the folders above if they have more in common than the
/// file system's root.
pub fn from(here: &Path, file: &Path) -> String {
    let pairs = file.components().zip(here.components());
    let shared = pairs.take_while(|(a, b)| a == b).count();
    if shared <= 1 {
        return file.to_string_lossy().into_owned();
    }
    let up = here.components().skip(shared).map(|_| Component::ParentDir);
    let way: PathBuf = up.chain(file.components().skip(shared)).collect();
    match way.as_os_str().is_empty() {
        true => ".".to_owned(),
        false => way.to_string_lossy().into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_named_from_where_the_user_stands() {
        for (root, here, name) in [
            ("/w/tree", "/w/tree", "src/a.c"),
            ("/w/tree", "/w", "tree/src/a.c"),
            ("/w/tree", "/w/tree/src", "a.c"),
            ("/w/tree", "/w/tree/src/deep/er", "../../a.c"),
            ("/w/tree", "/w/other", "../tree/src/a.c"),
            ("/w/tree", "/home/me", "/w/tree/src/a.c"),
        ] {
            let places = Places::new(Path::new(root), Path::new(here));
            assert_eq!(places.name("src/a.c"), name, "{root} from {here}");
        }
        let places = Places::new(Path::new("/w/tree"), Path::new("/w"));
        for file in ["/usr/include/stdio.h", "<missing>/x.h", "<built-in>"] {
            assert_eq!(places.name(file), file);
        }
        assert_eq!(from(Path::new("/w/t"), Path::new("/w/t")), ".");
    }
}
