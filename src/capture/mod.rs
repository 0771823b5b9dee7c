//! From a C tree to the compile commands of its translation units, and from those to preprocessed text.
//!
//! In: a path, and optionally a compile_commands.json. Out: a [`Capture`], with one [`CompileCommand`]
//! per translation unit, and a [`Preprocessor`] that runs them. A tree without a database is read as
//! it lies ([`bare`]). The paper (§4) leaves this to the build system; nothing of the analysis is here.

mod bare;
mod branches;
mod builds;
mod command;
mod compile_commands;
mod compiler;
mod complaint;
mod condition;
mod disk;
mod flags;
mod generated;
pub mod hidden;
pub mod intercept;
mod links;
mod manifest;
mod preprocess;
mod problem;
mod response;
mod scan;
mod scope;
mod search;
mod standin;
mod template;
mod tree;
mod trust;
mod watch;

use std::collections::HashSet;
use std::fmt;
use std::path::{Path, PathBuf};

use thiserror::Error;

pub use command::{CompileCommand, harmless};
pub use compiler::NoCompiler;
pub use links::{Link, LinkInput, LinkKind, renumber};
pub use manifest::{Archive, Archived, CommandKey, Manifest, Manifests, State, StateId};
pub use preprocess::{PreprocessError, Preprocessed, Preprocessor, assembly};
pub use problem::{Place, Problem, Severity, distinct};
pub use scope::{Exclude, Scope};
pub use tree::{SourceName, Tree};

/// Where to look for the program.
#[derive(Clone, Debug)]
pub struct Options {
    /// Folders and C files; or one compile_commands.json.
    pub scope: Scope,
    /// Files of the tree that are not to be read as translation units.
    pub exclude: Exclude,
    /// A compile_commands.json to use whatever lies in the tree (`-p`); a folder means the one in it.
    pub compile_commands: Option<PathBuf>,
    /// Runs the compilers and keeps the arguments that come with the tree, whatever they do.
    pub trust_tree: bool,
}

impl Options {
    /// All of a folder or file.
    pub fn of(path: &Path) -> Result<Options, CaptureError> {
        Ok(Options {
            scope: Scope::new(&[path.to_path_buf()])?,
            exclude: Exclude::new(&[])?,
            compile_commands: None,
            trust_tree: false,
        })
    }
}

/// The translation units of a tree.
#[derive(Debug)]
pub struct Capture {
    pub tree: Tree,
    pub origin: Origin,
    /// In the order of the database, or sorted by path. May be empty: that is for the caller to judge.
    pub commands: Vec<CompileCommand>,
    /// So many translation units were left out as [`Options::exclude`] says.
    pub excluded: usize,
    /// What the build links of them, if that is recorded.
    pub links: Vec<Link>,
    /// What was left out or guessed, and why.
    pub problems: Vec<Problem>,
}

impl Capture {
    /// Whether most units are compiled for an operating system, with its C library: those of kernels and firmware are not.
    pub fn is_hosted(&self) -> bool {
        let without =
            |argument: &std::ffi::OsString| argument == "-nostdinc" || argument == "-ffreestanding";
        let commands = self.commands.iter();
        let freestanding = commands.filter(|command| command.arguments.iter().any(without));
        freestanding.count() * 2 <= self.commands.len()
    }
}

/// Where the compile commands came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// This compile_commands.json.
    Database(PathBuf),
    /// Guessed from the files of the tree.
    BareTree,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Database(path) => write!(f, "{}", path.display()),
            Origin::BareTree => write!(f, "the files found (no compile_commands.json)"),
        }
    }
}

/// Why there is nothing to analyse.
#[derive(Debug, Error)]
pub enum CaptureError {
    #[error("{}: {source}", path.display())]
    Unreadable {
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("{0} have no folder in common but the file system's root: check them one at a time")]
    NoCommonFolder(String),
    #[error("{}: a database is checked alone; give the other paths and name it with -p", .0.display())]
    DatabaseAmongPaths(PathBuf),
    #[error("--exclude `{glob}`: {reason}")]
    Glob { glob: String, reason: String },
    /// Only for a database that the user named; one found in the tree is reported and passed over.
    #[error("{0}")]
    Database(Problem),
}

/// Finds the translation units of a program.
pub fn capture(options: &Options) -> Result<Capture, CaptureError> {
    let mut capture = find(options)?;
    let found = capture.commands.len();
    let exclude = &options.exclude;
    let mut kept = 0;
    let numbers = capture.commands.iter().map(|command| {
        let keep = !exclude.leaves_out(&command.name);
        kept += usize::from(keep);
        keep.then(|| kept - 1)
    });
    let numbers: Vec<Option<usize>> = numbers.collect();
    links::renumber(&mut capture.links, &numbers);
    let mut wanted = numbers.iter().map(Option::is_some);
    capture.commands.retain(|_| wanted.next().unwrap_or(false));
    capture.excluded = found - capture.commands.len();
    Ok(capture)
}

fn find(options: &Options) -> Result<Capture, CaptureError> {
    let unreadable = |path: &Path| {
        let path = path.to_path_buf();
        move |source| CaptureError::Unreadable { path, source }
    };
    let is_database = |path: &&Path| path.extension().is_some_and(|e| e == "json");
    let named = options.scope.file().filter(is_database);
    if named.is_none()
        && let Some(database) = options.scope.files().find(is_database)
    {
        return Err(CaptureError::DatabaseAmongPaths(database.to_path_buf()));
    }
    let scope = match named {
        Some(_) => options.scope.whole_folder(),
        None => options.scope.clone(),
    };
    let mut tree = Tree::of(&scope).map_err(unreadable(scope.folder()))?;
    let explicit = match &options.compile_commands {
        Some(file) => Some(std::path::absolute(file).map_err(unreadable(file))?),
        None => named.map(Path::to_path_buf),
    };
    tree.trust(options.trust_tree);
    let mut problems = Vec::new();
    let captured = |tree, origin, commands, problems| Capture {
        tree,
        origin,
        commands,
        excluded: 0,
        links: Vec::new(),
        problems,
    };
    if let Some(file) = explicit {
        let file = if file.is_dir() {
            file.join(compile_commands::FILE_NAME)
        } else {
            file
        };
        tree.comes_with(&file);
        let (commands, objects) = compile_commands::read(&file, &tree, &scope, &mut problems)
            .map_err(CaptureError::Database)?;
        let links = links::read(&file, &tree, &commands, &objects, &mut problems);
        if commands.is_empty() {
            problems.push(nothing_under(&file, &scope));
        }
        let found = captured(tree, Origin::Database(file), commands, problems);
        return Ok(Capture { links, ..found });
    }
    for file in compile_commands::candidates(scope.folder()) {
        match compile_commands::read(&file, &tree, &scope, &mut problems) {
            Ok((commands, _)) if commands.is_empty() => {
                problems.push(nothing_under(&file, &scope));
            }
            Ok((commands, objects)) => {
                let links = links::read(&file, &tree, &commands, &objects, &mut problems);
                tree.comes_with(&file);
                if scope.file().is_none() {
                    problems.extend(left_out(&tree, &scope, &commands));
                }
                let found = captured(tree, Origin::Database(file), commands, problems);
                return Ok(Capture { links, ..found });
            }
            // A broken database above the tree may well be about something else.
            Err(problem) if !file.starts_with(scope.folder()) => {
                problems.push(Problem {
                    severity: Severity::Note,
                    ..problem
                });
            }
            Err(problem) => problems.push(problem),
        }
    }
    let commands = bare::commands(&tree, &scope, &mut problems);
    Ok(captured(tree, Origin::BareTree, commands, problems))
}

/// C files of the tree that a database knows nothing of.
fn left_out(tree: &Tree, scope: &Scope, commands: &[CompileCommand]) -> Option<Problem> {
    let read: HashSet<PathBuf> = commands
        .iter()
        .filter_map(|c| c.source.canonicalize().ok())
        .collect();
    let files = tree
        .files()
        .list
        .iter()
        .filter(|file| file.extension().is_some_and(|e| e == "c") && scope.wants(file));
    let mut left = files.clone().filter(|file| !read.contains(*file));
    let first = left.next()?;
    let message = format!(
        "{} of the {} C files are in no compile command and are not read, {} for one",
        1 + left.count(),
        files.count(),
        tree.name_path(first).shown
    );
    Some(Problem::new(Severity::Note, None, message))
}

fn nothing_under(database: &Path, scope: &Scope) -> Problem {
    let path = scope.file().unwrap_or(scope.folder());
    let message = format!("passed over: it has no C file under {}", path.display());
    Problem::about(Severity::Note, database, message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn options(path: &Path) -> Options {
        Options::of(path).unwrap()
    }

    #[test]
    fn a_path_that_is_not_there_is_named() {
        let error = Options::of(Path::new("/no/such/tree")).unwrap_err();
        assert_eq!(
            error.to_string(),
            "/no/such/tree: No such file or directory (os error 2)"
        );
    }

    #[test]
    fn a_broken_database_in_the_tree_is_reported_and_passed_over_but_one_asked_for_fails() {
        let folder = tempfile::tempdir().unwrap();
        let database = folder.path().join("compile_commands.json");
        fs::write(folder.path().join("a.c"), "").unwrap();
        fs::write(&database, "[{]").unwrap();
        let found = capture(&options(folder.path())).unwrap();
        assert_eq!((found.origin, found.commands.len()), (Origin::BareTree, 1));
        let place = found.problems[0].place.clone().unwrap();
        assert_eq!((place.line, place.column), (1, 3));
        for explicit in [&database, folder.path()] {
            let compile_commands = Some(explicit.to_path_buf());
            let error = capture(&Options {
                compile_commands,
                ..options(folder.path())
            })
            .unwrap_err();
            assert!(
                error
                    .to_string()
                    .contains("compile_commands.json:1:3: error: "),
                "{error}"
            );
        }
    }

    #[test]
    fn a_bare_tree_is_read_in_order_without_hidden_and_generated_folders() {
        let folder = tempfile::tempdir().unwrap();
        for file in [
            "b.c",
            "a/z.c",
            "a/y.h",
            ".git/x.c",
            "CMakeFiles/t.c",
            "a/k.cc",
        ] {
            let file = folder.path().join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, "").unwrap();
        }
        let found = capture(&options(folder.path())).unwrap();
        let names: Vec<_> = found
            .commands
            .iter()
            .map(|command| command.name.as_str())
            .collect();
        assert_eq!(names, ["a/z.c", "b.c"]);
        let single = capture(&options(&folder.path().join("b.c"))).unwrap();
        assert_eq!(single.commands.len(), 1);
        assert_eq!(single.commands[0].name, "b.c");
    }

    #[cfg(unix)]
    #[test]
    fn an_unreadable_folder_is_named_and_the_rest_is_read() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let locked = folder.path().join("locked");
        fs::create_dir(&locked).unwrap();
        fs::write(folder.path().join("a.c"), "").unwrap();
        fs::set_permissions(&locked, fs::Permissions::from_mode(0o0)).unwrap();
        let privileged = fs::read_dir(&locked).is_ok();
        let found = capture(&options(folder.path())).unwrap();
        fs::set_permissions(&locked, fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(found.commands.len(), 1);
        // Permissions do not stop the superuser.
        if !privileged {
            let problem = found.problems[0].to_string();
            assert!(
                problem.contains("/locked: error: Permission denied"),
                "{problem}"
            );
        }
    }
}
