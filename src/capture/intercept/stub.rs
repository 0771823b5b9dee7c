//! Empty objects in the place of compiled ones, for `--record-only`.
//!
//! In: a compilation that was noted. Out: an object of the right machine that holds nothing but a mark
//! with the note's id, and the dependency file that the compilation would have written. The mark goes
//! wherever linkers and archivers carry the object, so that whatever was made of it can be traced back.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use super::folder::{Folder, Id};
use super::invocation::{Input, Invocation, quoted};
use crate::capture::command::{begins, has, takes_value};

pub const MARK: &[u8] = b"CASSINI-STUB:";

/// Flags without which an object is of another machine.
const MACHINE: &[&str] = &[
    "-m16",
    "-m32",
    "-m64",
    "-mx32",
    "-mabi=",
    "-mlittle-endian",
    "-mbig-endian",
    "-EL",
    "-EB",
    "--target=",
];

/// The empty object for a compiler with these flags, made when it is first asked for.
pub fn template(folder: &Folder, compiler: &Path, call: &Invocation) -> io::Result<Vec<u8>> {
    let flags = call.machine_flags();
    let mut hasher = blake3::Hasher::new();
    for word in flags
        .iter()
        .map(OsString::as_os_str)
        .chain([compiler.as_os_str()])
    {
        hasher.update(word.as_bytes());
        hasher.update(&[0]);
    }
    let file = folder
        .scratch()
        .join(format!("{}.o", hasher.finalize().to_hex()));
    if let Ok(object) = fs::read(&file) {
        return Ok(object);
    }
    let source = format!(
        "__asm__(\".section .cassini_stub,\\\"\\\"\\n\\t.ascii \\\"{}{}\\\"\\n\\t.text\\n\");\n",
        String::from_utf8_lossy(MARK),
        "0".repeat(Id::LENGTH)
    );
    let scratch = tempfile::tempdir_in(folder.scratch())?;
    let (input, output) = (scratch.path().join("stub.c"), scratch.path().join("stub.o"));
    fs::write(&input, source)?;
    let compile = |flags: &[OsString]| {
        let mut process = folder.command(compiler);
        process
            .args(flags)
            .args(["-w", "-c", "-o"])
            .args([&output, &input]);
        process.current_dir(scratch.path());
        process
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        process.status().is_ok_and(|status| status.success())
    };
    // Some flags only go with others.
    if !compile(&flags) && !compile(&machine(&flags)) {
        return Err(io::Error::other("cannot compile an empty file"));
    }
    let object = fs::read(&output)?;
    if marks(&object).len() != 1 {
        return Err(io::Error::other("an empty object does not hold its mark"));
    }
    folder.place(&file, &object)?;
    Ok(object)
}

/// Those of a call's machine flags without which its object would be of another machine.
pub fn machine(flags: &[OsString]) -> Vec<OsString> {
    let is_machine = |flag: &&OsString| begins(MACHINE, flag.as_bytes());
    flags.iter().filter(is_machine).cloned().collect()
}

/// Writes the empty object that stands for the call `id`.
pub fn write(template: &[u8], id: &Id, object: &Path) -> io::Result<()> {
    let mut bytes = template.to_vec();
    if let Some(start) = memchr::memmem::find(&bytes, MARK) {
        let start = start + MARK.len();
        if let Some(place) = bytes.get_mut(start..start + Id::LENGTH) {
            place.copy_from_slice(id.as_str().as_bytes());
        }
    }
    fs::write(object, bytes)
}

/// Writes empty files for what else the compilation would have left beside its object.
pub fn write_others(call: &Invocation, source: &Input, directory: &Path) -> io::Result<()> {
    const OTHERS: &[(&str, &str)] = &[
        ("-gsplit-dwarf", "dwo"),
        ("--coverage", "gcno"),
        ("-coverage", "gcno"),
        ("-ftest-coverage", "gcno"),
        ("-fstack-usage", "su"),
        ("-fcallgraph-info", "ci"),
    ];
    let object = directory.join(call.object(source));
    for (flag, end) in OTHERS {
        let is_it = |word: &OsString| word.as_bytes().starts_with(flag.as_bytes());
        if call.arguments.iter().any(is_it) {
            fs::write(object.with_extension(end), "")?;
        }
    }
    Ok(())
}

/// Whether this is an ELF object that is yet to be linked.
pub fn is_relocatable(bytes: &[u8]) -> bool {
    elf_type(bytes) == Some(1)
}

/// Whether this is an ELF shared object.
pub fn is_shared(bytes: &[u8]) -> bool {
    elf_type(bytes) == Some(3)
}

/// The low byte of an ELF file's type, which comes first or second as the file's byte order is.
fn elf_type(bytes: &[u8]) -> Option<u8> {
    let is_big_endian = bytes.get(5) == Some(&2);
    let place = if is_big_endian { 17 } else { 16 };
    bytes
        .starts_with(b"\x7fELF")
        .then(|| bytes.get(place).copied())?
}

/// The ids marked in an object, an archive, or whatever was made of those.
pub fn marks(bytes: &[u8]) -> BTreeSet<Id> {
    memchr::memmem::find_iter(bytes, MARK)
        .filter_map(|start| Id::parse(bytes.get(start + MARK.len()..)?.get(..Id::LENGTH)?))
        .collect()
}

/// Writes the dependency file that compiling `source` would have left, with the source alone.
pub fn write_dependencies(call: &Invocation, source: &Input, directory: &Path) -> io::Result<()> {
    let Some(dependencies) = &call.dependencies else {
        return Ok(());
    };
    let object = call.object(source);
    let file: PathBuf = dependencies
        .file
        .clone()
        .unwrap_or_else(|| object.with_extension("d"));
    let targets = if dependencies.targets.is_empty() {
        quoted(object.as_os_str().as_bytes())
    } else {
        dependencies.targets.join(&b' ')
    };
    let prerequisite = quoted(call.spelling(source).as_bytes());
    let mut rule = [targets, prerequisite].join(&b": "[..]);
    rule.push(b'\n');
    fs::write(directory.join(file), rule)
}

/// The arguments to compile `source` alone to `object`, leaving dependency files as they are.
pub fn compile_arguments(call: &Invocation, source: &Input, object: &Path) -> Vec<OsString> {
    const WITH_VALUE: &[&str] = &["-o", "--output", "-MF", "-MT", "-MQ", "-MJ"];
    const ALONE: &[&str] = &["-MD", "-MMD", "-MP", "-MG"];
    const JOINED: &[&str] = &["-o", "-MF", "-MT", "-MQ", "-Wp,-MD", "-Wp,-MMD"];
    let mut arguments = Vec::new();
    let words = call.arguments_for(source);
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let bytes = word.as_bytes();
        let value = if takes_value(bytes) {
            words.next()
        } else {
            None
        };
        let dropped =
            has(WITH_VALUE, bytes) || has(ALONE, bytes) || value.is_none() && begins(JOINED, bytes);
        if !dropped {
            arguments.push(word.clone());
            arguments.extend(value.cloned());
        }
    }
    arguments.extend([OsStr::new("-o"), object.as_os_str()].map(OsStr::to_owned));
    arguments
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(line: &str) -> Invocation {
        let words: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
        Invocation::parse(&words, Path::new("/w")).unwrap()
    }

    #[test]
    fn a_mark_is_found_again_in_whatever_holds_it() {
        let template = [b"\x7fELF", MARK, &[b'0'; Id::LENGTH], b"tail"].concat();
        let id = Id::parse(&[b'a'; Id::LENGTH]).unwrap();
        let file = tempfile::NamedTempFile::new().unwrap();
        write(&template, &id, file.path()).unwrap();
        let object = fs::read(file.path()).unwrap();
        assert_eq!(object.len(), template.len());
        let archive = [b"!<arch>", &object[..], &object[..], MARK, b"not an id"].concat();
        assert_eq!(marks(&archive), BTreeSet::from([id]));
    }

    #[test]
    fn the_dependency_file_names_the_source() {
        let folder = tempfile::tempdir().unwrap();
        let written = |line: &str, file: &str| {
            let call = call(line);
            let source = call.sources().next().unwrap().clone();
            write_dependencies(&call, &source, folder.path()).unwrap();
            fs::read_to_string(folder.path().join(file)).unwrap()
        };
        assert_eq!(written("cc -MD -c x/a.c -o o.o", "o.d"), "o.o: x/a.c\n");
        assert_eq!(written("cc -MMD -c x/a.c", "a.d"), "a.o: x/a.c\n");
        let line = "cc -Wp,-MMD,.a.o.d -c a#.c -o a.o";
        assert_eq!(written(line, ".a.o.d"), "a.o: a\\#.c\n");
        let line = "cc -MD -MF f.d -MT one -MQ t$ -c a.c -o a.o";
        assert_eq!(written(line, "f.d"), "one t$$: a.c\n");
    }

    #[test]
    fn compiling_for_real_writes_the_object_alone() {
        let call = call("cc -MD -MF a.d -Wp,-MMD,b.d -DX -D -MD -c a.c -oa.o -O2");
        let source = call.sources().next().unwrap();
        let arguments = compile_arguments(&call, source, Path::new("/s/1.o"));
        assert_eq!(
            arguments,
            ["-DX", "-D", "-MD", "-c", "a.c", "-O2", "-o", "/s/1.o"]
        );
    }
}
