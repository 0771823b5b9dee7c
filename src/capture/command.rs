//! A compile command, reduced to what preprocessing needs.
//!
//! In: the words of a compiler's command line. Out: a [`CompileCommand`], or what it compiles instead
//! of C. Outputs, warnings, dependency files and linking are left out, so that two commands that
//! differ only there are equal.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use super::Place;
use super::tree::normalise;

/// How one translation unit is preprocessed.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CompileCommand {
    /// The main source file, absolute.
    pub source: PathBuf,
    /// The source as reports name it: relative to the tree if it lies there.
    pub name: String,
    /// The folder that the command runs in, absolute.
    pub directory: PathBuf,
    /// The compiler as the command names it.
    pub compiler: OsString,
    /// The flags that bear on preprocessing, without the source.
    pub arguments: Vec<OsString>,
    /// The source as the command spells it, which `__FILE__` and the line markers repeat.
    pub spelling: OsString,
    /// Made up for a file of a bare tree, so that what goes wrong may be the guess's fault.
    pub guessed: bool,
    /// Headers that a build would make of templates and that are not there, each with the place that
    /// asks for it.
    pub ungenerated: Vec<(PathBuf, Place)>,
}

/// A command line taken apart.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Parsed {
    pub compiler: OsString,
    pub arguments: Vec<OsString>,
    /// The argument that names the source, if one does.
    pub spelling: Option<OsString>,
    /// Response files that could not be read.
    pub unread: Vec<OsString>,
}

/// Why a command is no translation unit of ours.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Refused {
    /// C++, assembler, a header, …
    NotC,
    /// No word is left that could be a compiler.
    NoCompiler,
}

/// Flags whose value is the next word, and which preprocessing needs.
const KEPT_WITH_VALUE: &[&str] = &[
    "-D",
    "-U",
    "-I",
    "-include",
    "-imacros",
    "-iquote",
    "-isystem",
    "-idirafter",
    "-iprefix",
    "-iwithprefix",
    "-iwithprefixbefore",
    "-isysroot",
    "-imultilib",
    "-x",
    "-arch",
    "-target",
    "--target",
    "-B",
    "-Xpreprocessor",
    "--sysroot",
    "--include",
    "--imacros",
    "--define-macro",
    "--undefine-macro",
    "--include-directory",
    "-iframework",
    "-cxx-isystem",
];

/// Flags whose value is the next word, and which preprocessing does without.
const DROPPED_WITH_VALUE: &[&str] = &[
    "-o",
    "-MF",
    "-MT",
    "-MQ",
    "-MJ",
    "-Xlinker",
    "-Xassembler",
    "-Xclang",
    "-Xanalyzer",
    "-T",
    "-u",
    "-z",
    "-L",
    "-l",
    "-aux-info",
    "-dumpdir",
    "-dumpbase",
    "-dumpbase-ext",
    "--param",
    "-wrapper",
    "-include-pch",
    "-mllvm",
    "-framework",
    "-install_name",
    "-A",
    "--output",
];

/// Beginnings of flags that preprocessing needs.
const KEPT: &[&str] = &[
    "-D",
    "-U",
    "-I",
    "-i",
    "-std",
    "--std",
    "-ansi",
    "-f",
    "-m",
    "-O",
    "-nostd",
    "-x",
    "-pthread",
    "-traditional",
    "-trigraphs",
    "-undef",
    "--sysroot=",
    "--target=",
    "-target=",
    "-specs=",
    "--specs=",
    "-B",
    "-remap",
    "--include=",
    "--define-macro=",
    "--undefine-macro=",
    "--include-directory=",
];

/// Exceptions to [`KEPT`], again by their beginnings: flags that change the shape of the output, write
/// files, or need files that may not be there.
const NOT_KEPT: &[&str] = &[
    "-fplugin",
    "-fdump",
    "-fdiagnostics",
    "-fmessage-length",
    "-fmax-errors",
    "-ferror-limit",
    "-fprofile",
    "-ftest-coverage",
    "-fcolor",
    "-fno-color",
    "-fpch",
    "-fdirectives-only",
    "-fpreprocessed",
    "-fmodule",
    "-fsave",
    "-frandom-seed",
    "-ftrack-macro",
    "-fworking-directory",
    "-fno-working-directory",
    "-flto",
    "-fno-lto",
    "-fdebug",
    "-fsyntax-only",
    "-fverbose-asm",
    "-fuse-ld",
    "-fcallgraph",
    "-foffload",
    "-fcoverage",
    "-fcrash",
    "-fstack-usage",
    "-fanalyzer",
];

/// Programs that run the compiler named after them.
const LAUNCHERS: &[&str] = &["env", "nice", "ionice", "time", "nohup"];

/// Options of those whose value is the next word.
const LAUNCHER_OPTIONS: &[&str] = &["-n", "-u", "-c", "--unset", "--tag"];

/// Compiler caches and distributors: they run the compiler named after them, or stand in for it under
/// its name.
pub(super) const WRAPPERS: &[&str] =
    &["ccache", "sccache", "cachepot", "distcc", "icecc", "gomacc"];

/// Response files may name response files, this deep.
pub(super) const RESPONSE_DEPTH: u32 = 8;

/// Takes a command line apart. `file` is the source as the compile database names it.
pub(super) fn parse(
    words: Vec<OsString>,
    directory: &Path,
    file: &Path,
) -> Result<Parsed, Refused> {
    let mut unread = Vec::new();
    let words = expand_response_files(words, directory, RESPONSE_DEPTH, &mut unread);
    let mut words = skip_launchers(&words).iter();
    let compiler = words.next().ok_or(Refused::NoCompiler)?.clone();

    let source = normalise(&directory.join(file));
    let mut arguments = Vec::new();
    let mut spelling = None;
    // gcc lets `-x` govern the files after it.
    let mut language: Option<OsString> = None;
    let mut source_language = None;
    while let Some(word) = words.next() {
        let bytes = word.as_bytes();
        if bytes.first() != Some(&b'-') || bytes == b"-" {
            if spelling.is_none() && normalise(&directory.join(word)) == source {
                spelling = Some(word.clone());
                source_language = Some(language.clone());
            }
        } else if has(DROPPED_WITH_VALUE, bytes) {
            words.next();
        } else if has(KEPT_WITH_VALUE, bytes) {
            let Some(value) = words.next() else { break };
            if bytes == b"-x" {
                language = Some(value.clone());
            } else {
                arguments.extend([word.clone(), value.clone()]);
            }
        } else if let Some(value) = bytes.strip_prefix(b"-x") {
            language = Some(OsStr::from_bytes(value).to_owned());
        } else if let Some(passed) = bytes.strip_prefix(b"-Wp,") {
            arguments.extend(preprocessor_options(passed));
        } else if begins(KEPT, bytes) && !begins(NOT_KEPT, bytes) {
            arguments.push(word.clone());
        }
    }
    let language = source_language
        .unwrap_or(language)
        .filter(|name| name != "none");
    match language {
        Some(name) if name == "c" => arguments.extend(["-x".into(), "c".into()]),
        Some(name) if name == "cpp-output" => {}
        Some(_) => return Err(Refused::NotC),
        None if is_c_file(file) && !is_cxx_compiler(&compiler) => {}
        None => return Err(Refused::NotC),
    }
    Ok(Parsed {
        compiler,
        arguments,
        spelling,
        unread,
    })
}

/// By its name, a C source file or one already preprocessed.
pub(super) fn is_c_file(file: &Path) -> bool {
    file.extension()
        .is_some_and(|extension| extension == "c" || extension == "i")
}

pub(super) fn is_cxx_compiler(compiler: &OsStr) -> bool {
    base_name(compiler).windows(2).any(|pair| pair == b"++")
}

/// Whether the next word is this flag's value.
pub(super) fn takes_value(flag: &[u8]) -> bool {
    has(KEPT_WITH_VALUE, flag) || has(DROPPED_WITH_VALUE, flag)
}

pub(super) fn has(list: &[&str], word: &[u8]) -> bool {
    list.iter().any(|entry| entry.as_bytes() == word)
}

pub(super) fn begins(list: &[&str], word: &[u8]) -> bool {
    list.iter().any(|entry| word.starts_with(entry.as_bytes()))
}

pub(super) fn base_name(word: &OsStr) -> &[u8] {
    let bytes = word.as_bytes();
    bytes.rsplit(|&byte| byte == b'/').next().unwrap_or(bytes)
}

/// Drops `ccache`, `env A=b`, `nice -n 5`, `libtool --mode=compile --tag=CC` and the like from the front.
pub(super) fn skip_launchers(words: &[OsString]) -> &[OsString] {
    let mut rest = words;
    let mut launched = false;
    while let Some((word, after)) = rest.split_first() {
        let bytes = word.as_bytes();
        let base = base_name(word);
        // A shell may run libtool's script.
        if rest
            .iter()
            .take(2)
            .any(|word| base_name(word).ends_with(b"libtool"))
            && let Some(mode) = rest.iter().position(|word| word == "--mode=compile")
        {
            rest = &rest[mode + 1..];
            launched = true;
            continue;
        }
        let assigns = bytes
            .split(|&byte| byte == b'=')
            .next()
            .filter(|name| name.len() < bytes.len())
            .is_some_and(|name| {
                name.iter()
                    .all(|&byte| byte == b'_' || byte.is_ascii_alphanumeric())
            });
        if has(LAUNCHERS, base) || has(WRAPPERS, base) {
            launched = true;
        } else if launched && has(LAUNCHER_OPTIONS, bytes) {
            rest = after.get(1..).unwrap_or_default();
            continue;
        } else if !(assigns || launched && bytes.starts_with(b"-")) {
            break;
        }
        rest = after;
    }
    rest
}

/// The options handed to the preprocessor by `-Wp,A,B`, without those that write dependency files.
fn preprocessor_options(passed: &[u8]) -> Vec<OsString> {
    let mut kept = Vec::new();
    let mut options = passed.split(|&byte| byte == b',').peekable();
    while let Some(option) = options.next() {
        if has(&["-MD", "-MMD", "-MF", "-MT", "-MQ"], option) {
            options.next_if(|next| !next.starts_with(b"-"));
        } else if begins(&["-D", "-U", "-I", "-i", "-std", "-f", "-undef"], option)
            && !begins(NOT_KEPT, option)
        {
            kept.push(OsStr::from_bytes(option).to_owned());
            if has(KEPT_WITH_VALUE, option) {
                kept.extend(
                    options
                        .next()
                        .map(|value| OsStr::from_bytes(value).to_owned()),
                );
            }
        }
    }
    kept
}

/// Puts the words of each `@file` in its place. A file that cannot be read is named in `unread`.
pub(super) fn expand_response_files(
    words: Vec<OsString>,
    directory: &Path,
    depth: u32,
    unread: &mut Vec<OsString>,
) -> Vec<OsString> {
    let mut out = Vec::with_capacity(words.len());
    for word in words {
        let Some(file) = word.as_bytes().strip_prefix(b"@") else {
            out.push(word);
            continue;
        };
        match std::fs::read(directory.join(OsStr::from_bytes(file))) {
            Ok(text) if depth > 0 => {
                let words = response_words(&text);
                out.extend(expand_response_files(words, directory, depth - 1, unread));
            }
            _ => unread.push(OsStr::from_bytes(file).to_owned()),
        }
    }
    out
}

/// Splits a response file as gcc does: blanks separate, both quotes group, a backslash makes the next
/// byte plain, everywhere. Unlike a shell, `#` and `$` mean nothing and a quote may stay open.
fn response_words(text: &[u8]) -> Vec<OsString> {
    let mut words = Vec::new();
    let mut word: Option<Vec<u8>> = None;
    let mut quote = None;
    let mut bytes = text.iter().copied();
    while let Some(byte) = bytes.next() {
        match (quote, byte) {
            (_, b'\\') => word.get_or_insert_default().extend(bytes.next()),
            (Some(open), _) if byte == open => quote = None,
            (Some(_), _) => word.get_or_insert_default().push(byte),
            (None, b'\'' | b'"') => {
                quote = Some(byte);
                word.get_or_insert_default();
            }
            (None, _) if byte.is_ascii_whitespace() => {
                words.extend(word.take().map(OsString::from_vec));
            }
            (None, _) => word.get_or_insert_default().push(byte),
        }
    }
    words.extend(word.map(OsString::from_vec));
    words
}

/// Drops `-include FILE` and `-imacros FILE`. False if there is none.
pub(super) fn drop_include(arguments: &mut Vec<OsString>, file: &Path) -> bool {
    let is_it = |pair: &[OsString]| {
        has(
            &["-include", "-imacros", "--include", "--imacros"],
            pair[0].as_bytes(),
        ) && Path::new(&pair[1]) == file
    };
    let found = arguments.windows(2).position(is_it);
    if let Some(start) = found {
        arguments.drain(start..start + 2);
    }
    found.is_some()
}

/// The files that `-include` names.
pub(super) fn included(arguments: &[OsString]) -> impl Iterator<Item = &OsStr> {
    let mut words = arguments.iter();
    std::iter::from_fn(move || {
        loop {
            let word = words.next()?.as_bytes();
            if has(&["-include", "--include"], word) {
                return words.next().map(OsString::as_os_str);
            }
            let joined = word.strip_prefix(b"--include=");
            if let Some(name) = joined.or_else(|| word.strip_prefix(b"-include")) {
                return Some(OsStr::from_bytes(name));
            }
            if has(KEPT_WITH_VALUE, word) {
                words.next();
            }
        }
    })
}

/// The flags that bear on what a compiler's types are like.
pub(super) fn target_flags(arguments: &[OsString]) -> Vec<OsString> {
    const KEPT: &[&str] = &[
        "-m",
        "--target=",
        "-fshort-",
        "-fno-short-",
        "-funsigned-char",
        "-fno-unsigned-char",
        "-fsigned-char",
        "-fno-signed-char",
    ];
    let mut out = Vec::new();
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let bytes = word.as_bytes();
        if has(&["-target", "--target", "-arch"], bytes) {
            out.push(word.clone());
            out.extend(words.next().cloned());
        } else if has(KEPT_WITH_VALUE, bytes) {
            words.next();
        } else if begins(KEPT, bytes) {
            out.push(word.clone());
        }
    }
    out
}

/// Drops flags that another compiler than the command's own may not know, and that change no macro
/// that programs commonly ask for.
pub(super) fn portable(arguments: &[OsString]) -> Vec<OsString> {
    const KEPT: &[&str] = &[
        "-m32",
        "-m64",
        "-mx32",
        "-ffreestanding",
        "-fno-builtin",
        "-fopenmp",
        "-fPIC",
        "-fpic",
        "-fPIE",
        "-fpie",
        "-funsigned-char",
        "-fsigned-char",
        "-fshort-wchar",
        "-fshort-enums",
        "-ffast-math",
        "-fms-extensions",
        "-fgnu89-inline",
        "-fplan9-extensions",
        "-fmacro-prefix-map",
        "-ffile-prefix-map",
    ];
    let mut out = Vec::with_capacity(arguments.len());
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let bytes = word.as_bytes();
        if has(&["-target", "-arch", "-B"], bytes) {
            words.next();
        } else if has(KEPT_WITH_VALUE, bytes) {
            out.push(word.clone());
            out.extend(words.next().cloned());
        } else if !begins(
            &["-f", "-m", "--target", "-target", "-specs", "--specs", "-B"],
            bytes,
        ) || begins(KEPT, bytes)
        {
            out.push(word.clone());
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<OsString> {
        line.split_whitespace().map(OsString::from).collect()
    }

    fn parsed(line: &str) -> Parsed {
        parse(words(line), Path::new("/w"), Path::new("a.c")).unwrap()
    }

    #[test]
    fn keeps_what_preprocessing_needs_and_drops_the_rest() {
        let parsed = parsed(
            "gcc -Wp,-MMD,./.a.o.d -Wp,-D_FORTIFY_SOURCE=2 -nostdinc -I inc -Iinc2 -isystem /s -include k.h \
             -DA=1 -D B -UC -std=gnu11 -O2 -g3 -Wall -Werror=return-type -pedantic-errors -fPIC -m64 \
             -fplugin=./p.so -fsyntax-only -MD -MF a.d -MT a.o -save-temps -pipe -pthread -c -o a.o -lfoo x.o a.c",
        );
        assert_eq!(
            parsed.arguments,
            words(
                "-D_FORTIFY_SOURCE=2 -nostdinc -I inc -Iinc2 -isystem /s -include k.h -DA=1 -D B -UC \
                 -std=gnu11 -O2 -fPIC -m64 -pthread"
            )
        );
        assert_eq!(parsed.spelling.as_deref(), Some(OsStr::new("a.c")));
    }

    #[test]
    fn finds_the_compiler_behind_launchers() {
        for line in [
            "ccache gcc -c a.c",
            "env CCACHE_DIR=/x ccache distcc gcc -c a.c",
            "env -i -u CPATH A=b nice -n 5 gcc -c a.c",
            "env A=b /bin/sh ./libtool --silent --mode=compile --tag=CC ccache gcc -c a.c",
            "/bin/sh ../libtool --tag=CC --mode=compile gcc -c a.c",
            "LC_ALL=C gcc -c a.c",
        ] {
            assert_eq!(parsed(line).compiler, "gcc", "{line}");
        }
        assert_eq!(
            parse(words("ccache"), Path::new("/"), Path::new("a.c")),
            Err(Refused::NoCompiler)
        );
    }

    #[test]
    fn only_c_is_c() {
        let kind = |line: &str, file: &str| {
            parse(words(line), Path::new("/w"), Path::new(file)).map(|_| ())
        };
        assert_eq!(kind("gcc -c a.cc", "a.cc"), Err(Refused::NotC));
        assert_eq!(kind("gcc -c a.S", "a.S"), Err(Refused::NotC));
        assert_eq!(kind("g++ -c a.c", "a.c"), Err(Refused::NotC));
        assert_eq!(kind("gcc -x c++ -c a.c", "a.c"), Err(Refused::NotC));
        assert_eq!(kind("gcc -c a.c -x c++", "a.c"), Ok(()));
        assert_eq!(kind("g++ -x c -c a.inc", "a.inc"), Ok(()));
        assert_eq!(kind("gcc -xc -c a.inc", "a.inc"), Ok(()));
        assert_eq!(kind("gcc -c a.i", "a.i"), Ok(()));
    }

    #[test]
    fn the_source_is_found_however_it_is_spelled() {
        for spelled in ["a.c", "./a.c", "../w/a.c", "/w/a.c"] {
            let parsed = parsed(&format!("gcc -c {spelled} b.c"));
            assert_eq!(parsed.spelling.as_deref(), Some(OsStr::new(spelled)));
        }
    }

    #[test]
    fn response_files_are_read_with_gcc_quoting() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("inner"), "-DIN=1").unwrap();
        let text = "-DA=\\\"x\\\" '-DB=a b'\n\"-DC=it's\" -DD=# @inner ''";
        std::fs::write(folder.path().join("flags"), text).unwrap();
        let parsed = parse(
            words("gcc @flags @gone -c a.c"),
            folder.path(),
            Path::new("a.c"),
        )
        .unwrap();
        assert_eq!(
            parsed.arguments,
            ["-DA=\"x\"", "-DB=a b", "-DC=it's", "-DD=#", "-DIN=1"]
        );
        assert_eq!(parsed.unread, ["gone"]);
    }

    #[test]
    fn a_response_file_that_names_itself_ends() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("f"), "-DA @f").unwrap();
        let parsed = parse(words("gcc @f a.c"), folder.path(), Path::new("a.c")).unwrap();
        assert_eq!(parsed.unread, ["f"]);
    }

    #[test]
    fn the_target_is_told_by_few_flags() {
        let flags = words("-m32 -I -m64 -O2 -fshort-enums -fPIC -target arm-linux -DA=-m64");
        assert_eq!(
            target_flags(&flags),
            words("-m32 -fshort-enums -target arm-linux")
        );
    }

    #[test]
    fn a_foreign_compiler_gets_only_what_any_compiler_knows() {
        let flags = words(
            "-mabi=lp64 --target=x -target y -fno-common -I a -DX -m32 -std=c99 -funsigned-char",
        );
        assert_eq!(
            portable(&flags),
            words("-I a -DX -m32 -std=c99 -funsigned-char")
        );
    }
}
