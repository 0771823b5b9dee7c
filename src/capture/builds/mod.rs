//! Macros that a tree's build files define, as far as that can be read without running anything.
//!
//! In: the tree's files for CMake, make, autoconf and meson. Out: [`Builds`]: the definitions for the compiler by
//! folder, and those for the configuration header. Only what is unconditional, or hangs on options whose default
//! the same files give, is taken; of the rest nothing is assumed.

mod cmake;
mod make;
mod script;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::condition;
use crate::source::{self, read_regular};

/// What the build files define.
#[derive(Debug, Default)]
pub(super) struct Builds {
    /// By the folder of the build file: macros and their values.
    folders: BTreeMap<PathBuf, Macros>,
    /// For the configuration header: `AC_DEFINE`, `conf.set`.
    pub configuration: Macros,
    /// The build files that define any.
    pub files: Vec<PathBuf>,
}

/// Macros and their values; `None` for a `-DNAME` without one.
pub(super) type Macros = BTreeMap<String, Option<String>>;

impl Builds {
    /// Reads those of `files` that are build files.
    pub(super) fn read(files: &[PathBuf]) -> Builds {
        let mut builds = Builds::default();
        let mut options = cmake::Variables::of_system();
        let mut sorted: Vec<&PathBuf> = files.iter().collect();
        // A folder above sets what those below it use.
        sorted.sort_by_key(|file| (file.components().count(), *file));
        for file in sorted {
            builds.read_file(file, &mut options);
        }
        builds
    }

    fn read_file(&mut self, file: &Path, options: &mut cmake::Variables) {
        let Some(name) = file.file_name().and_then(|name| name.to_str()) else {
            return;
        };
        let read = || {
            // What cannot be read defines nothing.
            let text = read_regular(file, source::LIMIT).unwrap_or_default();
            String::from_utf8_lossy(&text).into_owned()
        };
        let folder = file.parent().unwrap_or(Path::new("/"));
        let (flags, configuration) = match name {
            "CMakeLists.txt" => (cmake::macros(&read(), options), Macros::new()),
            "Makefile" | "makefile" | "GNUmakefile" | "Makefile.am" => {
                let mut parts = make::macros(&read(), folder);
                let all = parts.remove("").unwrap_or_default();
                // A variable for a part of the program tells of a folder by the part's name, if there is one.
                for (part, macros) in parts {
                    let folder = folder.join(part);
                    if !macros.is_empty() && folder.is_dir() {
                        self.files.push(file.to_path_buf());
                        self.folders.entry(folder).or_default().extend(macros);
                    }
                }
                (all, Macros::new())
            }
            "configure.ac" | "configure.in" => (Macros::new(), script::autoconf(&read())),
            "meson.build" => script::meson(&read()),
            _ => return,
        };
        if !(flags.is_empty() && configuration.is_empty()) {
            self.files.push(file.to_path_buf());
        }
        self.files.dedup();
        let own = self.folders.entry(folder.to_path_buf()).or_default();
        own.extend(flags);
        for (name, value) in configuration {
            self.configuration.entry(name).or_insert(value);
        }
    }

    /// How many macros there are.
    pub(super) fn count(&self) -> usize {
        let flags = self.folders.values().flat_map(BTreeMap::keys);
        let names: std::collections::BTreeSet<&String> =
            flags.chain(self.configuration.keys()).collect();
        names.len()
    }

    /// The definitions for a source file: those of the folders above it, the nearest first.
    pub(super) fn arguments(&self, source: &Path) -> Vec<OsString> {
        let mut all = Macros::new();
        for macros in source.ancestors().filter_map(|f| self.folders.get(f)) {
            for (name, value) in macros {
                all.entry(name.clone()).or_insert_with(|| value.clone());
            }
        }
        let argument = |(name, value): (String, Option<String>)| match value {
            Some(value) => format!("-D{name}={value}").into(),
            None => format!("-D{name}").into(),
        };
        all.into_iter().map(argument).collect()
    }
}

/// Reads `NAME` or `NAME=VALUE`; `None` if the value is not plain, or the macro belongs to a system.
fn definition(text: &str) -> Option<(String, Option<String>)> {
    let (name, value) = match text.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (text, None),
    };
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-.+/:\"()".contains(c);
    let starts_well = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let is_name = starts_well && super::template::is_name(name);
    let usable =
        is_name && condition::is_choice(name) && value.is_none_or(|v| v.chars().all(plain));
    usable.then(|| (name.to_owned(), value.map(str::to_owned)))
}

/// The definitions among words of a command line.
fn definitions<'a>(words: impl Iterator<Item = &'a str>) -> Macros {
    let words = words.filter_map(|word| word.strip_prefix("-D"));
    words.filter_map(definition).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_source_gets_the_definitions_of_the_folders_above_it() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        let files = [
            (
                "CMakeLists.txt",
                "add_definitions(-DA -DB=1 -D_WIN32 -DV=\"${V}\")\n",
            ),
            ("src/CMakeLists.txt", "add_compile_definitions(B=2 C)\n"),
            ("tool/Makefile", "CFLAGS = -O2 -DD -DE=`date`\n"),
            ("configure.ac", "AC_DEFINE([F], [1], [why])\n"),
        ];
        let paths: Vec<PathBuf> = files.iter().map(|(name, _)| root.join(name)).collect();
        for (path, (_, text)) in paths.iter().zip(files) {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let builds = Builds::read(&paths);
        let of = |file: &str| -> Vec<String> {
            let arguments = builds.arguments(&root.join(file)).into_iter();
            arguments.map(|a| a.into_string().unwrap()).collect()
        };
        assert_eq!(of("a.c"), ["-DA", "-DB=1"]);
        assert_eq!(of("src/net/a.c"), ["-DA", "-DB=2", "-DC"]);
        assert_eq!(of("tool/a.c"), ["-DA", "-DB=1", "-DD"]);
        assert_eq!(Vec::from_iter(builds.configuration.keys()), ["F"]);
        assert_eq!(builds.files.len(), 4);
    }
}
