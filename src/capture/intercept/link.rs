//! What one call of a linker, or of a driver that links, takes in and makes.
//!
//! In: the words of its command line, response files expanded. Out: a [`Link`]: what kind of file it
//! makes, where, and the files it takes in, in link order. `-lNAME` is looked up where the command itself
//! says where; nothing is run.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::invocation::{self, Invocation, Step};
use crate::capture::command::{RESPONSE_DEPTH, begins, expand_response_files, has, takes_value};

/// What a link makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    Program,
    Shared,
    Relocatable,
    Archive,
}

/// A call that links.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    pub kind: Kind,
    /// Absolute.
    pub output: PathBuf,
    /// The arguments with `-Wl,A,B` in parts and `-l NAME` in one word, so that each input is a word.
    pub arguments: Vec<OsString>,
    pub inputs: Vec<Input>,
}

/// A file that is linked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// Its place in [`Link::arguments`].
    pub index: usize,
    /// Absolute. It is there, or was named by the command itself.
    pub path: PathBuf,
    /// A source that the same command compiles.
    pub is_source: bool,
}

/// Linker options whose value is the next word.
const WITH_VALUE: &[&str] = &[
    "-o",
    "--output",
    "-A",
    "--architecture",
    "-a",
    "-b",
    "--format",
    "-c",
    "--mri-script",
    "-e",
    "--entry",
    "-f",
    "--auxiliary",
    "-F",
    "--filter",
    "-G",
    "--gpsize",
    "-h",
    "-soname",
    "--soname",
    "-I",
    "--dynamic-linker",
    "-dynamic-linker",
    "-L",
    "--library-path",
    "-l",
    "--library",
    "-m",
    "-Map",
    "--Map",
    "--oformat",
    "-R",
    "--just-symbols",
    "-T",
    "--script",
    "--default-script",
    "-dT",
    "-Tbss",
    "-Tdata",
    "-Ttext",
    "-Ttext-segment",
    "-Trodata-segment",
    "-Tldata-segment",
    "-u",
    "--undefined",
    "--require-defined",
    "-y",
    "--trace-symbol",
    "-Y",
    "-z",
    "--defsym",
    "-defsym",
    "--version-script",
    "-version-script",
    "--dynamic-list",
    "--export-dynamic-symbol",
    "--export-dynamic-symbol-list",
    "-plugin",
    "--plugin",
    "-plugin-opt",
    "--plugin-opt",
    "-rpath",
    "--rpath",
    "-rpath-link",
    "--rpath-link",
    "--retain-symbols-file",
    "-retain-symbols-file",
    "--sort-section",
    "--wrap",
    "-wrap",
    "-init",
    "-fini",
    "--exclude-libs",
    "--unresolved-symbols",
    "--hash-style",
    "-assert",
    "--section-start",
    "--task-link",
    "--out-implib",
    "--dependency-file",
    "--exclude-modules-for-implib",
    "-O",
];

const RELOCATABLE: &[&str] = &["-r", "-i", "--relocatable", "-Ur"];
const SHARED: &[&str] = &[
    "-shared",
    "--shared",
    "-Bshareable",
    "-dynamiclib",
    "-bundle",
    "-dylib",
];
const STATIC: &[&str] = &["-static", "--static", "-Bstatic", "-dn", "-non_shared"];
const DYNAMIC: &[&str] = &["-Bdynamic", "-dy", "-call_shared"];

impl Link {
    /// The link that a driver's call ends in, if it does.
    pub fn of_driver(call: &Invocation, directory: &Path) -> Option<Link> {
        if call.step != Step::Link || call.inputs.is_empty() {
            return None;
        }
        let mut reader = Reader::new(directory);
        let mut words = call.arguments.iter().enumerate();
        while let Some((index, word)) = words.next() {
            let bytes = word.as_bytes();
            if let Some(input) = call.inputs.iter().find(|input| input.index == index) {
                let is_source = input.kind != invocation::Kind::Linked;
                reader.file(word, is_source);
            } else if bytes == b"-Xlinker" {
                words
                    .next()
                    .into_iter()
                    .for_each(|(_, word)| reader.passed(word));
            } else if let Some(passed) = bytes.strip_prefix(b"-Wl,") {
                let parts = passed.split(|&byte| byte == b',');
                parts.for_each(|part| reader.passed(OsStr::from_bytes(part)));
            } else if takes_value(bytes) {
                let value = words.next().map(|(_, value)| value.as_os_str());
                reader.option(bytes, value, false);
            } else {
                reader.option(bytes, None, false);
            }
        }
        reader.search_environment();
        Some(reader.link())
    }

    /// A linker's own call; `None` if it links nothing.
    pub fn of_linker(arguments: &[OsString], directory: &Path) -> Option<Link> {
        let mut unread = Vec::new();
        let arguments =
            expand_response_files(arguments.to_vec(), directory, RESPONSE_DEPTH, &mut unread);
        let mut reader = Reader::new(directory);
        let mut words = arguments.iter();
        while let Some(word) = words.next() {
            let bytes = word.as_bytes();
            if !bytes.starts_with(b"-") {
                reader.file(word, false);
            } else if has(WITH_VALUE, bytes) {
                reader.option(bytes, words.next().map(OsString::as_os_str), false);
            } else {
                reader.option(bytes, None, false);
            }
        }
        let link = reader.link();
        (!link.inputs.is_empty()).then_some(link)
    }

    /// Whether the output is a file of its own, not `/dev/null` or the standard output.
    pub fn makes_file(&self) -> bool {
        !self.output.ends_with("-") && !self.output.starts_with("/dev")
    }

    /// The name that programs linked with this library ask for.
    pub fn soname(&self) -> Option<&OsStr> {
        const NAMES: &[&str] = &["-soname", "--soname", "-h"];
        let words: Vec<&OsString> = self
            .arguments
            .iter()
            .filter(|word| *word != "-Xlinker")
            .collect();
        words.iter().enumerate().find_map(|(index, word)| {
            let bytes = word.as_bytes();
            if has(NAMES, bytes) {
                return words.get(index + 1).map(|word| word.as_os_str());
            }
            let joined = bytes.strip_prefix(b"-soname=");
            let joined = joined.or_else(|| bytes.strip_prefix(b"--soname="));
            joined.map(OsStr::from_bytes)
        })
    }
}

/// A `-l` that is yet to be looked up.
struct Library {
    index: usize,
    name: OsString,
    is_static: bool,
}

/// Reads a link's words one by one.
struct Reader<'a> {
    directory: &'a Path,
    link: Link,
    libraries: Vec<Library>,
    folders: Vec<PathBuf>,
    is_static: bool,
    /// An option handed to the linker whose value is handed over after it.
    pending: Option<OsString>,
}

impl<'a> Reader<'a> {
    fn new(directory: &'a Path) -> Self {
        Reader {
            directory,
            link: Link {
                kind: Kind::Program,
                output: directory.join("a.out"),
                arguments: Vec::new(),
                inputs: Vec::new(),
            },
            libraries: Vec::new(),
            folders: Vec::new(),
            is_static: false,
            pending: None,
        }
    }

    fn file(&mut self, word: &OsStr, is_source: bool) {
        self.link.inputs.push(Input {
            index: self.link.arguments.len(),
            path: self.directory.join(word),
            is_source,
        });
        self.link.arguments.push(word.to_owned());
    }

    /// A word that a driver hands to the linker.
    fn passed(&mut self, word: &OsStr) {
        let bytes = word.as_bytes();
        if let Some(option) = self.pending.take() {
            self.option(option.as_bytes(), Some(word), true);
        } else if has(WITH_VALUE, bytes) {
            self.pending = Some(word.to_owned());
        } else if bytes.starts_with(b"-") {
            self.option(bytes, None, true);
        } else {
            self.file(word, false);
        }
    }

    /// An option with the word that is its value.
    fn option(&mut self, option: &[u8], value: Option<&OsStr>, is_passed: bool) {
        let joined = |flags: &[&str]| {
            let mut beginnings = flags.iter();
            beginnings.find_map(|flag| option.strip_prefix(flag.as_bytes()))
        };
        let kind = |list: &[&str]| has(list, option);
        if kind(RELOCATABLE) {
            self.link.kind = Kind::Relocatable;
        } else if kind(SHARED) {
            if self.link.kind != Kind::Relocatable {
                self.link.kind = Kind::Shared;
            }
        } else if kind(STATIC) {
            self.is_static = true;
        } else if kind(DYNAMIC) {
            self.is_static = false;
        }
        match (option, value) {
            (b"-o" | b"--output", Some(value)) => self.link.output = self.directory.join(value),
            (b"-L" | b"--library-path", Some(value)) => {
                self.folders.push(self.directory.join(value));
            }
            (b"-l" | b"--library", Some(value)) => return self.library(value),
            (_, None) => {
                if let Some(name) = joined(&["--library="]) {
                    return self.library(OsStr::from_bytes(name));
                }
                if let Some(name) = joined(&["-l"]).filter(|name| !name.is_empty()) {
                    return self.library(OsStr::from_bytes(name));
                }
                if let Some(folder) = joined(&["--library-path=", "-L"]) {
                    self.folders
                        .push(self.directory.join(OsStr::from_bytes(folder)));
                } else if let Some(output) = joined(&["--output=", "-o"])
                    && !begins(&["-oformat", "-omagic"], option)
                {
                    self.link.output = self.directory.join(OsStr::from_bytes(output));
                }
            }
            _ => {}
        }
        let words = [Some(OsStr::from_bytes(option)), value];
        for word in words.into_iter().flatten() {
            if is_passed {
                self.link.arguments.push("-Xlinker".into());
            }
            self.link.arguments.push(word.to_owned());
        }
    }

    fn library(&mut self, name: &OsStr) {
        self.libraries.push(Library {
            index: self.link.arguments.len(),
            name: name.to_owned(),
            is_static: self.is_static,
        });
        let mut word = OsString::from("-l");
        word.push(name);
        self.link.arguments.push(word);
    }

    /// gcc and clang look there, too.
    fn search_environment(&mut self) {
        if let Some(paths) = std::env::var_os("LIBRARY_PATH") {
            let folders = std::env::split_paths(&paths).filter(|path| path.as_os_str() != "");
            let folders = folders.map(|path| self.directory.join(path));
            self.folders.extend(folders);
        }
    }

    fn link(mut self) -> Link {
        // A static link takes archives wherever the option stands.
        let all_static = self.is_static && self.link.arguments.iter().any(|word| word == "-static");
        for library in std::mem::take(&mut self.libraries) {
            if let Some(path) = self.find(&library.name, library.is_static || all_static) {
                self.link.inputs.push(Input {
                    index: library.index,
                    path,
                    is_source: false,
                });
            }
        }
        self.link.inputs.sort_by_key(|input| input.index);
        self.link
    }

    /// The file that `-lNAME` means.
    fn find(&self, name: &OsStr, is_static: bool) -> Option<PathBuf> {
        let names = match name.as_bytes().strip_prefix(b":") {
            Some(exact) => vec![OsStr::from_bytes(exact).to_owned()],
            None => {
                let ends: &[&str] = if is_static { &["a"] } else { &["so", "a"] };
                let named = |end: &&str| {
                    OsString::from_iter([OsStr::new("lib"), name, ".".as_ref(), end.as_ref()])
                };
                ends.iter().map(named).collect()
            }
        };
        let mut candidates = self
            .folders
            .iter()
            .flat_map(|folder| names.iter().map(move |name| folder.join(name)));
        candidates.find(|file| file.is_file())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn words(line: &str) -> Vec<OsString> {
        line.split_whitespace().map(OsString::from).collect()
    }

    fn driver(line: &str, directory: &Path) -> Option<Link> {
        let call = Invocation::parse(&words(line), directory).unwrap();
        Link::of_driver(&call, directory)
    }

    fn inputs(link: &Link, directory: &Path) -> Vec<String> {
        let name = |input: &Input| {
            let path = input.path.strip_prefix(directory).unwrap_or(&input.path);
            path.display().to_string()
        };
        link.inputs.iter().map(name).collect()
    }

    #[test]
    fn the_kind_is_known_in_each_way_of_asking() {
        let here = Path::new("/w");
        for (line, kind) in [
            ("cc a.o -o p", Kind::Program),
            ("g++ -pie a.o", Kind::Program),
            ("cc -shared a.o -o l.so", Kind::Shared),
            ("cc -Wl,-shared a.o", Kind::Shared),
            ("cc -r a.o b.o -o c.o", Kind::Relocatable),
            ("cc -nostdlib -Wl,-r,-d a.o", Kind::Relocatable),
            ("cc -Xlinker --relocatable a.o", Kind::Relocatable),
        ] {
            assert_eq!(driver(line, here).unwrap().kind, kind, "{line}");
        }
        for line in [
            "cc -c a.c",
            "cc -E a.c",
            "cc --version",
            "cc -x c-header a.h",
            "cc a.h",
        ] {
            assert_eq!(driver(line, here), None, "{line}");
        }
        let of = |line: &str| Link::of_linker(&words(line), here);
        assert_eq!(
            of("-m elf_i386 -r -o b.o a.o").unwrap().kind,
            Kind::Relocatable
        );
        assert_eq!(of("-shared -soname x a.o").unwrap().kind, Kind::Shared);
        assert_eq!(of("-T a.lds -o p a.o").unwrap().output, Path::new("/w/p"));
        assert_eq!(of("--version"), None);
    }

    #[test]
    fn inputs_are_in_link_order_and_libraries_are_looked_up() {
        let folder = tempfile::tempdir().unwrap();
        let here = folder.path();
        for file in [
            "lib/libone.a",
            "lib/libone.so",
            "lib/libtwo.a",
            "other/libfour.so.9",
        ] {
            let path = here.join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        let of = |line: &str| inputs(&driver(line, here).unwrap(), here);
        let line = "cc -o p a.o -lone -Wl,--whole-archive,x.a,-ltwo,--no-whole-archive -Wl,-soname,name.o \
                    -Wl,-rpath -Wl,dir -Llib main.c -Wl,-Bstatic -l one -lm -Lother -l:libfour.so.9";
        assert_eq!(
            of(line),
            [
                "a.o",
                "lib/libone.so",
                "x.a",
                "lib/libtwo.a",
                "main.c",
                "lib/libone.a",
                "other/libfour.so.9"
            ]
        );
        assert_eq!(of("cc -static b.o -lone -L lib"), ["b.o", "lib/libone.a"]);
        let line = "cc -shared -Wl,-h,libx.so.1 a.o";
        assert_eq!(
            driver(line, here).unwrap().soname(),
            Some(OsStr::new("libx.so.1"))
        );
        let linker = words("-o p --start-group a.o -L lib -lone --end-group -soname=s");
        let linker = Link::of_linker(&linker, here).unwrap();
        assert_eq!(inputs(&linker, here), ["a.o", "lib/libone.so"]);
        assert_eq!(linker.soname(), Some(OsStr::new("s")));
    }

    #[test]
    fn each_input_is_a_word_and_the_link_is_the_same() {
        let line = "cc -Wl,-z,now,a.o -Xlinker -Map -Xlinker b.o -l m -o p c.o";
        let link = driver(line, Path::new("/w")).unwrap();
        let expected = "-Xlinker -z -Xlinker now a.o -Xlinker -Map -Xlinker b.o -lm -o p c.o";
        assert_eq!(link.arguments, words(expected));
        assert_eq!(inputs(&link, Path::new("/w")), ["a.o", "c.o"]);
    }
}
