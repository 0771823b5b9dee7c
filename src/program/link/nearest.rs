//! Which of several definitions is meant where nothing records what was linked: the nearest.
//!
//! In: the file of a caller and those of the candidates. Out: a [`Distance`] for each, the least of which is taken; two
//! that are equal are ambiguous.
//!
//! A definition in the caller's folder or below it is near, then one that shares more of the way down. What is there to be
//! tested with (a folder `stubs` that the caller is not in), or for another system (`win32`), comes last.

use super::code::{Code, DefId};

/// Folders of what replaces a part of a program to try the rest, or shows how to use it.
const SUBSTITUTES: &[&str] = &[
    "bench",
    "benchmark",
    "benchmarks",
    "contrib",
    "demo",
    "demos",
    "dummy",
    "example",
    "examples",
    "fake",
    "fuzz",
    "fuzzing",
    "mock",
    "mocks",
    "sample",
    "samples",
    "selftest",
    "selftests",
    "stub",
    "stubs",
    "test",
    "tests",
    "testing",
    "testsuite",
    "unittest",
    "unittests",
];

/// Folders and files of what is for systems other than the one that has a C compiler called `cc` and POSIX headers.
const FOREIGN: &[&str] = &[
    "amiga", "atari", "beos", "cygwin", "djgpp", "dos", "macos9", "mingw", "mingw32", "msdos",
    "netware", "nt", "os2", "riscos", "symbian", "uefi", "vms", "vxworks", "wce", "win", "win32",
    "win64", "wince", "windows",
];

/// How far a definition is from who calls it. The order of the fields is that in which they count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Distance {
    outside: bool,
    without_body: bool,
    substitute: bool,
    foreign: bool,
    /// A definition that any other goes before.
    weak: bool,
    /// Folders up from the caller's to the one that holds both, and down from there.
    up: usize,
    down: usize,
    /// Compiled with other flags than the caller.
    other_flags: bool,
}

impl Distance {
    /// Whether the definition is no part of the tree.
    pub(super) fn is_outside(&self) -> bool {
        self.outside
    }

    /// Whether somebody who reads the caller would look for the definition here.
    pub(super) fn is_natural(&self) -> bool {
        !(self.weak || self.outside || self.without_body || self.substitute || self.foreign)
    }
}

/// The distance of a path from a caller's: what of it replaces something else, is for another system, and how far off it is.
fn between(from: &str, to: &str) -> (bool, bool, usize, usize) {
    let folders = |path: &'_ str| path.matches('/').count();
    let common = {
        let one = from.split('/').take(folders(from));
        let other = to.split('/').take(folders(to));
        one.zip(other).take_while(|(a, b)| a == b).count()
    };
    let rest = to.split('/').skip(common);
    let words = rest.flat_map(|part| part.split(|c: char| !c.is_ascii_alphanumeric()));
    let has = |list: &[&str], word: &str| list.contains(&word.to_ascii_lowercase().as_str());
    let mut folder_names = to.split('/').skip(common).take(folders(to) - common);
    (
        folder_names.any(|name| has(SUBSTITUTES, name)),
        words.clone().any(|word| has(FOREIGN, word)),
        folders(from) - common,
        folders(to) - common,
    )
}

impl Code<'_> {
    /// How far a definition is from a unit.
    pub(super) fn distance(&self, unit: u32, id: DefId) -> Distance {
        let def = self.def(id);
        let source = &self.units[unit as usize].source;
        let units = &self.units_of[id.index()];
        let programs = || units.iter().all(|&other| self.has_main(other));
        let (substitute, foreign, up, down) = between(source, &def.file);
        let flags = self.flags[unit as usize];
        Distance {
            outside: !def.own,
            without_body: def.body.is_err(),
            substitute: substitute || programs(),
            foreign,
            weak: def.weak,
            up,
            down,
            other_flags: !units
                .iter()
                .any(|&other| self.flags[other as usize] == flags),
        }
    }

    /// How far a unit is from another.
    pub(super) fn steps(&self, from: u32, to: u32) -> impl Ord + use<> {
        let source = |unit: u32| self.units[unit as usize].source.as_str();
        between(source(from), source(to))
    }

    /// The nearest of some definitions, and others that are as near but stand elsewhere.
    pub(super) fn nearest(
        &self,
        unit: u32,
        candidates: impl Iterator<Item = DefId>,
    ) -> Option<(DefId, Distance, Vec<DefId>)> {
        let mut found: Vec<(Distance, DefId)> =
            candidates.map(|id| (self.distance(unit, id), id)).collect();
        found.sort();
        let &(distance, first) = found.first()?;
        let place = |id: DefId| (&self.def(id).file, self.def(id).line);
        let equal = found.iter().skip(1);
        let equal = equal.take_while(|(other, _)| *other == distance);
        let others = equal.map(|&(_, id)| id);
        let others = others.filter(|&id| place(id) != place(first)).collect();
        Some((first, distance, others))
    }
}

#[cfg(test)]
mod tests {
    use super::between;

    #[test]
    fn distances_count_folders_and_know_substitutes_and_other_systems() {
        assert_eq!(between("lib/a.c", "lib/b.c"), (false, false, 0, 0));
        assert_eq!(between("lib/a.c", "lib/compat/b.c"), (false, false, 0, 1));
        assert_eq!(between("lib/a.c", "apps/b.c"), (false, false, 1, 1));
        assert_eq!(between("lib/a.c", "tests/b.c"), (true, false, 1, 1));
        // Who is a test itself finds nothing odd about it.
        assert_eq!(between("tests/a.c", "tests/b.c"), (false, false, 0, 0));
        assert_eq!(between("os/a.c", "os/os_win32.c"), (false, true, 0, 0));
        assert_eq!(between("a.c", "window.c"), (false, false, 0, 0));
    }
}
