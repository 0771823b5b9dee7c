//! Which programs of a build are looked at, by their names.
//!
//! In: a program's name or path. Out: its [`Tool`], what it does with objects.

use std::ffi::OsStr;

use crate::capture::command::{WRAPPERS, base_name, has};

/// What a program does with objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tool {
    /// Compiles, and links through a linker: `gcc`, `g++`, `gfortran`.
    Driver,
    /// `ld`
    Linker,
    /// `ar`
    Archiver,
    /// Makes a file of another: `objcopy`, `strip`, `cp`, `mv`, `ln`, `install`.
    Copier,
}

/// Drivers, linkers and archivers, which may have a target before them and a version behind.
const DRIVERS: &[&str] = &[
    "cc", "gcc", "clang", "tcc", "c89", "c99", "icc", "icx", "pcc", "c++", "g++", "clang++",
    "icpc", "icpx", "gfortran", "f77", "f95", "flang", "gdc",
];
const LINKERS: &[&str] = &[
    "ld", "ld.bfd", "ld.gold", "ld.lld", "gold", "mold", "ld.mold",
];
const ARCHIVERS: &[&str] = &["ar"];
const OBJECT_COPIERS: &[&str] = &["objcopy", "strip"];

/// Copiers of any file: looked at only when an argument names what a compiler or a linker makes.
pub const FILE_COPIERS: &[&str] = &["cp", "mv", "ln", "install"];

/// All names but those of [`FILE_COPIERS`].
pub fn names() -> impl Iterator<Item = &'static str> {
    [DRIVERS, WRAPPERS, LINKERS, ARCHIVERS, OBJECT_COPIERS]
        .into_iter()
        .flatten()
        .copied()
}

/// What the program of this name, or path, is; none that is looked at otherwise.
pub fn tool(program: &OsStr) -> Option<Tool> {
    let name = base_name(program);
    if has(WRAPPERS, name) {
        return Some(Tool::Driver);
    }
    if has(FILE_COPIERS, name) {
        return Some(Tool::Copier);
    }
    let last = plain(name);
    let lists = [
        (DRIVERS, Tool::Driver),
        (LINKERS, Tool::Linker),
        (ARCHIVERS, Tool::Archiver),
        (OBJECT_COPIERS, Tool::Copier),
    ];
    let found = lists.into_iter().find(|(list, _)| has(list, last));
    found.map(|(_, tool)| tool)
}

/// Whether a program of this name, or path, compiles C or C++ or runs what does.
pub fn is_driver(program: &OsStr) -> bool {
    tool(program) == Some(Tool::Driver)
}

/// The part of a name that says what the program is: `gcc` of `x86_64-linux-gnu-gcc-12`. The library
/// that is preloaded into a build's programs goes by the same rule.
fn plain(name: &[u8]) -> &[u8] {
    let mut parts: Vec<&[u8]> = name.split(|&byte| byte == b'-').collect();
    let is_version = |part: &&[u8]| {
        part.first().is_some_and(u8::is_ascii_digit)
            && part
                .iter()
                .all(|byte| *byte == b'.' || byte.is_ascii_digit())
    };
    if parts.last().is_some_and(is_version) {
        parts.pop();
    }
    parts.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_are_known_by_name() {
        let of = |name: &str| tool(OsStr::new(name));
        for name in [
            "cc",
            "gcc",
            "gcc-12",
            "clang-15",
            "x86_64-linux-gnu-gcc",
            "arm-none-eabi-gcc-10.2",
            "ccache",
            "/usr/bin/tcc",
            "musl-gcc",
            "g++",
            "aarch64-linux-gnu-g++-12",
            "clang++-15",
        ] {
            assert_eq!(of(name), Some(Tool::Driver), "{name}");
        }
        assert_eq!(of("ld.gold"), Some(Tool::Linker));
        assert_eq!(of("x86_64-linux-gnu-ld.bfd"), Some(Tool::Linker));
        assert_eq!(of("gcc-ar"), Some(Tool::Archiver));
        assert_eq!(of("llvm-ar-14"), Some(Tool::Archiver));
        assert_eq!(of("aarch64-linux-gnu-objcopy"), Some(Tool::Copier));
        assert_eq!(of("mv"), Some(Tool::Copier));
        for name in [
            "gcc-nm-12",
            "clang-format",
            "clang-tidy-15",
            "ccmake",
            "makecc",
            "12",
            "-",
            "git-mv",
            "ldd",
        ] {
            assert_eq!(of(name), None, "{name}");
        }
    }
}
