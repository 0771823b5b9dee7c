//! Files that a command makes of others: `cp`, `mv`, `ln`, `install`, `objcopy`, `strip`.
//!
//! In: the words of its command line. Out: pairs of files, what was copied and where it went.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::capture::command::{base_name, has};

/// A file and what is made of it, both absolute.
pub type Copied = (PathBuf, PathBuf);

/// Options of `cp`, `mv`, `ln` and `install` whose value is the next word.
const WITH_VALUE: &[&str] = &[
    "-m", "--mode", "-o", "--owner", "-g", "--group", "-S", "--suffix",
];

/// Options of `objcopy` whose value is the next word.
const OBJCOPY_WITH_VALUE: &[&str] = &[
    "-I",
    "-O",
    "-F",
    "-B",
    "-j",
    "-R",
    "-N",
    "-L",
    "-K",
    "-G",
    "-W",
    "-b",
    "-i",
    "--add-section",
    "--update-section",
    "--dump-section",
    "--rename-section",
    "--set-section-flags",
    "--redefine-sym",
    "--redefine-syms",
    "--globalize-symbol",
    "--localize-symbol",
    "--keep-symbol",
    "--strip-symbol",
    "--weaken-symbol",
    "--keep-global-symbol",
    "--prefix-symbols",
    "--prefix-sections",
    "--only-section",
    "--remove-section",
    "--add-gnu-debuglink",
    "--set-start",
    "--change-addresses",
    "--keep-section",
];

/// What the program copies.
pub fn parse(program: &OsStr, arguments: &[OsString], directory: &Path) -> Vec<Copied> {
    let name = base_name(program);
    let is_objcopy = name.windows(7).any(|part| part == b"objcopy");
    let is_strip = !is_objcopy && name.windows(5).any(|part| part == b"strip");
    if is_strip {
        return Vec::new();
    }
    let with_value = if is_objcopy {
        OBJCOPY_WITH_VALUE
    } else {
        WITH_VALUE
    };
    let mut operands: Vec<PathBuf> = Vec::new();
    let mut target: Option<PathBuf> = None;
    let mut is_symbolic = false;
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let bytes = word.as_bytes();
        if !is_objcopy && (bytes == b"-t" || bytes == b"--target-directory") {
            target = words.next().map(|word| directory.join(word));
        } else if let Some(joined) = bytes.strip_prefix(b"--target-directory=") {
            target = Some(directory.join(OsStr::from_bytes(joined)));
        } else if has(with_value, bytes) {
            words.next();
        } else if bytes.starts_with(b"-") {
            is_symbolic |=
                bytes == b"--symbolic" || !bytes.starts_with(b"--") && bytes.contains(&b's');
        } else {
            operands.push(directory.join(word));
        }
    }
    // A symbolic link is followed when it is looked at.
    if name == b"ln" && is_symbolic {
        return Vec::new();
    }
    let target = match target.or_else(|| (operands.len() > 1).then(|| operands.pop()).flatten()) {
        Some(target) => target,
        None if name == b"ln" => directory.to_path_buf(),
        None => return Vec::new(),
    };
    let is_folder = !is_objcopy && target.is_dir();
    let copied = operands.into_iter().filter_map(|from| {
        let to = match is_folder {
            true => target.join(from.file_name()?),
            false => target.clone(),
        };
        (from != to).then_some((from, to))
    });
    copied.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_are_known_whatever_way_the_target_is_named() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("d")).unwrap();
        let copied = |line: &str| {
            let words: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
            let copied = parse(&words[0], &words[1..], folder.path());
            let name = |path: &Path| {
                path.strip_prefix(folder.path())
                    .unwrap()
                    .display()
                    .to_string()
            };
            let pairs = copied
                .iter()
                .map(|(from, to)| format!("{}>{}", name(from), name(to)));
            pairs.collect::<Vec<_>>().join(" ")
        };
        assert_eq!(copied("mv -f a.o b.o"), "a.o>b.o");
        assert_eq!(copied("/bin/cp a.o x/b.o d"), "a.o>d/a.o x/b.o>d/b.o");
        assert_eq!(copied("install -m 644 -t d a.a"), "a.a>d/a.a");
        assert_eq!(copied("ln a.so d/b.so"), "a.so>d/b.so");
        assert_eq!(copied("ln -sf a.so b.so"), "");
        assert_eq!(copied("objcopy -j .text a.o b.o"), "a.o>b.o");
        assert_eq!(copied("objcopy --strip-debug a.o"), "");
        assert_eq!(copied("strip a.o b.o"), "");
    }
}
